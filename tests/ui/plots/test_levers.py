import matplotlib.pyplot as plt
import pytest

from surefoot import ConditionalGaussianNetworkClassifier, datasets, plots
from surefoot.exceptions import DataError
from surefoot.ui.plots.levers import noticeable
from tests.asking import CounterfactualExplainer


@pytest.fixture(scope="module")
def bank():
    data = datasets.load_banknote()
    return data, ConditionalGaussianNetworkClassifier("tan").fit(data.X, data.y)


def asked(bank, **settings):
    data, clf = bank
    return CounterfactualExplainer(clf, whitening="dag", **{"norm": 1, **settings}).explain(data.X.iloc[0], 1)


def boxes(ax):
    return {text.get_text().split("\n")[0]: text for text in ax.texts if text.get_text()}


def colours(ax):
    return {name: text.get_bbox_patch().get_facecolor() for name, text in boxes(ax).items()}


def test_levers_stand_out_and_arrows_lead_to_what_follows(bank):
    e = asked(bank)
    ax = plots.plot_levers(e)
    ax.figure.canvas.draw()
    found, left_out = noticeable(e)
    assert found.following
    assert not left_out
    assert set(boxes(ax)) == {*found.pulled, *found.following}
    shades = colours(ax)
    assert len({shades[name] for name in found.pulled}) == 1
    assert {shades[name] for name in found.pulled}.isdisjoint({shades[name] for name in found.following})
    assert all(("pull" in text.get_text()) == (name in found.pulled) for name, text in boxes(ax).items())
    arrows = [text for text in ax.texts if getattr(text, "arrow_patch", None) is not None]
    assert len(arrows) == sum(map(len, e.parents))  # all features of this row move


def test_boxes_do_not_overlap(bank):
    ax = plots.plot_levers(asked(bank))
    ax.figure.canvas.draw()
    extents = [text.get_bbox_patch().get_window_extent() for text in boxes(ax).values()]
    for i, extent in enumerate(extents):
        assert not any(extent.overlaps(other) for other in extents[i + 1 :])


def test_the_legend_fits_into_the_figure(bank):
    ax = plots.plot_levers(asked(bank, immutable=["entropy"]))
    ax.figure.canvas.draw()
    assert ax.get_legend().get_window_extent().x0 >= 0
    assert ax.get_legend().get_window_extent().x1 <= ax.figure.bbox.width


def test_a_feature_that_must_stay_is_held(bank):
    e = asked(bank, immutable=["entropy"])
    assert "entropy" in e.levers().pulled
    texts = boxes(plots.plot_levers(e))
    assert "stays" in texts["entropy"].get_text()
    assert texts["entropy"].get_bbox_patch().get_linestyle() == "--"
    assert "What stays, though the network expects it to follow: entropy at -0.44699." in str(e)


def test_changes_that_nobody_would_notice_are_counted(bundled):
    data = bundled["ionosphere"]
    clf = ConditionalGaussianNetworkClassifier("tan").fit(data.X, data.y)
    e = CounterfactualExplainer(clf, norm=1, whitening="dag", gap=0.05).explain(data.X.iloc[1], 1)
    found, left_out = noticeable(e)
    assert left_out > 0
    assert len(found.pulled) + len(found.following) + left_out == len({*e.levers().pulled, *e.changed})
    ax = plots.plot_levers(e)
    assert ax.get_title() == f"{left_out} more features change by less than 0.005 standard deviations"
    assert set(boxes(ax)) == {*found.pulled, *found.following}


def test_a_category_is_a_lever():
    data = datasets.load_german_credit()
    clf = ConditionalGaussianNetworkClassifier("tan").fit(data.X, data.y)
    e = CounterfactualExplainer(clf, norm=1, whitening="dag").explain(data.X.iloc[11], "good")
    changed = [name for name in e.levers().pulled if isinstance(e.counterfactual[name], str)]
    assert changed
    texts = boxes(plots.plot_levers(e))
    for name in changed:
        assert f"→ {e.counterfactual[name]}" in texts[name].get_text()
        assert f"change {name} to {e.counterfactual[name]}" in str(e)


def test_given_axes_are_used(bank):
    _, ax = plt.subplots()
    assert plots.plot_levers(asked(bank), ax=ax) is ax


def test_other_distances_have_no_levers(bank):
    data, clf = bank
    with pytest.raises(DataError, match="along the graph"):
        plots.plot_levers(CounterfactualExplainer(clf).explain(data.X.iloc[0], 1))
