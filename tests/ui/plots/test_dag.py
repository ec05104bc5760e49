import matplotlib.pyplot as plt
import pytest

from surefoot import ConditionalGaussianNetworkClassifier, Dag
from surefoot.exceptions import MissingDependencyError
from surefoot.ui.plots.dag import plot_dag
from tests.thinning import only

DRAWN = [(name, of) for name in ("banknote", "pima", "ionosphere") for of in ("naive", "tan", "ban")]
FEW = [("banknote", "ban"), ("pima", "tan"), ("ionosphere", "naive")]


@pytest.mark.parametrize(("name", "structure"), only(FEW, DRAWN))
def test_every_feature_and_edge_is_drawn(bundled, structure, name):
    data = bundled[name]
    clf = ConditionalGaussianNetworkClassifier(structure).fit(data.X, data.y)
    ax = clf.plot_dag()
    ax.figure.canvas.draw()
    texts = [text.get_text() for text in ax.texts]
    assert sorted(t for t in texts if t) == sorted([*data.feature_names, "class"])
    arrows = [text.arrow_patch for text in ax.texts if getattr(text, "arrow_patch", None) is not None]
    dashed = [a for a in arrows if a.get_linestyle() not in ("-", "solid")]
    assert len(dashed) == len(data.feature_names)
    assert len(arrows) - len(dashed) == clf.dag_.n_edges


@pytest.mark.parametrize(("name", "structure"), only(FEW, DRAWN))
def test_no_two_nodes_overlap(bundled, structure, name):
    data = bundled[name]
    ax = ConditionalGaussianNetworkClassifier(structure).fit(data.X, data.y).plot_dag()
    ax.figure.canvas.draw()
    boxes = [text.get_bbox_patch().get_window_extent() for text in ax.texts if text.get_text()]
    for i, box in enumerate(boxes):
        assert not any(box.overlaps(other) for other in boxes[i + 1 :])


def test_given_axes_are_used():
    _, ax = plt.subplots()
    assert plot_dag(Dag([(), (0,)]), ["a", "b"], ax=ax) is ax


@pytest.mark.usefixtures("_no_matplotlib")
def test_without_matplotlib():
    with pytest.raises(MissingDependencyError, match=r"pip install 'surefoot\[plots\]'"):
        plot_dag(Dag.empty(2), ["a", "b"])


def test_long_names_are_shortened():
    ax = plot_dag(Dag([(), (0,)]), ["a" * 200, "b"])
    assert max(len(text.get_text()) for text in ax.texts) <= 28
    assert ax.figure.get_figwidth() < 10


def test_names_are_not_taken_for_mathematics():
    names = ["$a_1", "$x^{2$"]
    ax = plot_dag(Dag([(), (0,)]), names)
    ax.figure.canvas.draw()
    shown = {text.get_text(): text for text in ax.texts}
    assert [shown[name].get_parse_math() for name in names] == [False, False]


def test_categories_look_different():
    ax = plot_dag(Dag([(), (0,), (0,)]), ["housing", "income", "car"], categories=(0, 2))
    boxes = {text.get_text(): text.get_bbox_patch() for text in ax.texts if text.get_text()}
    shapes = {name: type(box.get_boxstyle()).__name__ for name, box in boxes.items()}
    assert shapes == {"housing": "Square", "income": "Round", "car": "Square", "class": "Circle"}
    assert boxes["housing"].get_facecolor() == boxes["car"].get_facecolor() != boxes["income"].get_facecolor()
    legend = [text.get_text() for text in ax.get_legend().get_texts()]
    assert legend == ["depends on the feature", "depends on the class", "category", "number"]


def test_without_categories_the_legend_does_not_speak_of_them():
    ax = plot_dag(Dag([(), (0,)]), ["a", "b"])
    assert "category" not in [text.get_text() for text in ax.get_legend().get_texts()]
    ax = plot_dag(Dag([(), (0,)]), ["a", "b"], categories=(0, 1))
    assert "number" not in [text.get_text() for text in ax.get_legend().get_texts()]
