import matplotlib.pyplot as plt
import numpy as np
import pytest

from surefoot import ConditionalGaussianNetworkClassifier
from surefoot.exceptions import DataError, StructureError
from surefoot.ui.plots import plot_plane, plot_whitened_plane
from surefoot.ui.plots.section import feature_section, unit_outline, whitened_section
from tests.asking import CounterfactualExplainer
from tests.edited import edited
from tests.thinning import every

NORMS = [np.inf, 2, 1]
PLANES = [(plot_plane, feature_section), (plot_whitened_plane, whitened_section)]
TABLES = ("banknote", "ionosphere", "awkward")
ALL = [(norm, name, *plane) for norm in NORMS for name in TABLES for plane in PLANES]
both = pytest.mark.parametrize(("plot", "cut"), PLANES, ids=["features", "whitened"])


def line(ax, words):
    return next(line for line in ax.lines if words in line.get_label())


def coordinates(ax, words):
    return np.column_stack(line(ax, words).get_data())


def boundary(ax):
    sets = [c for c in ax.collections if hasattr(c, "levels") and len(c.levels) == 1]
    return np.vstack([path.vertices for path in sets[0].get_paths()]) if sets else np.empty((0, 2))


def whitening(explanation, clf):
    return clf.networks_[clf.classes_.tolist().index(explanation.factual_class)].whitening()


@pytest.mark.parametrize(("norm", "name", "plot", "cut"), every(5, ALL))
def test_points_lie_where_they_are(explain, classifiers, plot, cut, name, norm):
    explanation, clf = explain(name, norm), classifiers[name]
    ax = plot(explanation, clf)
    ax.figure.canvas.draw()
    section = cut(explanation, clf)
    found, start = coordinates(ax, "counterfactual"), coordinates(ax, "factual")
    assert section.points(found)[0] == pytest.approx(explanation.counterfactual.to_numpy())
    hollow = line(ax, "factual").get_markerfacecolor() == "white"
    assert hollow == section.projected == ("projected" in line(ax, "factual").get_label())
    off = np.abs((section.points(start)[0] - explanation.factual) / explanation.unit).max()
    assert (off > 0.002) == section.projected
    for (x, y), box in ((found[0], ax.get_window_extent()), (start[0], ax.get_window_extent())):
        assert box.contains(*ax.transData.transform((x, y)))


@pytest.mark.parametrize(("norm", "name", "plot", "cut"), every(5, ALL))
def test_every_point_of_the_ball_has_the_budget_as_its_norm(explain, classifiers, plot, cut, name, norm):
    explanation, clf = explain(name, norm), classifiers[name]
    ax = plot(explanation, clf)
    points = cut(explanation, clf).points(coordinates(ax, "uncertainty ball"))
    sizes = whitening(explanation, clf).distance(points, explanation.counterfactual.to_numpy(), norm)
    assert sizes == pytest.approx(np.full(len(points), explanation.budget))


@both
@pytest.mark.parametrize("name", ["banknote", "ionosphere"])
def test_the_boundary_has_no_margin(explain, classifiers, plot, cut, name):
    explanation, clf = explain(name), classifiers[name]
    section = cut(explanation, clf)
    vertices = boundary(plot(explanation, clf))
    assert len(vertices) > 20
    scale = np.abs(section.margin(np.array([section.factual]))).max()
    H = clf.decision_quadratic(explanation.target, explanation.factual_class)
    assert np.abs(H(section.points(vertices))).max() < 0.02 * scale


@pytest.mark.parametrize("norm", NORMS)
def test_with_two_features_the_enlarged_ball_touches_the_boundary(bundled, norm):
    data = bundled["banknote"]
    X = data.X[["variance", "skewness"]]
    clf = ConditionalGaussianNetworkClassifier().fit(X, data.y)
    explanation = CounterfactualExplainer(clf, budget=0.05, norm=norm, gap=1e-5).explain(X.iloc[0], target=1)
    for plot, cut in PLANES:
        ax = plot(explanation, clf)
        (inset,) = ax.child_axes
        margins = cut(explanation, clf).margin(coordinates(inset, "uncertainty ball"))
        assert margins.min() == pytest.approx(0, abs=2e-3)
        assert len(boundary(inset)) > 10
        assert line(ax, "factual").get_label() == "factual"


@both
def test_no_budget_no_ball(explain, classifiers, plot, cut):
    ax = plot(explain("banknote", budget=0.0), classifiers["banknote"])
    ax.figure.canvas.draw()
    assert not any("uncertainty" in line.get_label() for line in ax.lines)
    assert ax.child_axes == []


@both
def test_a_large_ball_is_not_enlarged(explain, classifiers, plot, cut):
    ax = plot(explain("banknote", budget=0.6), classifiers["banknote"])
    assert ax.child_axes == []
    assert line(ax, "uncertainty ball")


@pytest.mark.parametrize(
    ("norm", "name", "plot", "cut"), every(5, [one for one in ALL if "awkward" not in one])
)
def test_the_enlargement_stays_clear_of_the_points(explain, classifiers, plot, cut, name, norm):
    ax = plot(explain(name, norm), classifiers[name])
    ax.figure.canvas.draw()
    (inset,) = ax.child_axes
    for point in ("counterfactual", "factual"):
        place = ax.transData.transform(coordinates(ax, point)[0])
        assert not inset.get_window_extent().contains(*place)


@both
def test_legend_lies_below_and_takes_names_literally(explain, classifiers, plot, cut):
    ax = plot(explain("awkward"), classifiers["awkward"])
    ax.figure.canvas.draw()
    legend = ax.get_legend()
    assert legend.get_window_extent().y1 < ax.xaxis.label.get_window_extent().y0
    assert any("_true$" in text.get_text() for text in legend.get_texts())
    assert not any(text.get_parse_math() for text in [*legend.get_texts(), ax.xaxis.label, ax.yaxis.label])


@both
def test_side_by_side_legends_do_not_squeeze_the_axes(explain, classifiers, plot, cut):
    figure, axes = plt.subplots(1, 2, figsize=(10, 6), layout="constrained")
    for ax in axes:
        plot(explain("awkward"), classifiers["awkward"], ax=ax)
    figure.canvas.draw()
    first, second = (ax.get_legend().get_window_extent() for ax in axes)
    assert not first.overlaps(second)
    assert all(ax.get_window_extent().width > 0.25 * figure.bbox.width for ax in axes)


@both
def test_given_axes_are_used(explain, classifiers, plot, cut):
    _, ax = plt.subplots()
    assert plot(explain("banknote"), classifiers["banknote"], ax=ax) is ax


@both
def test_a_failed_search_cannot_be_drawn(failed, classifiers, plot, cut):
    with pytest.raises(DataError, match="no counterfactual to draw"):
        plot(failed, classifiers["banknote"])


@both
def test_a_factual_that_needs_no_change(explain, classifiers, plot, cut):
    explanation = explain("banknote")
    still = edited(explanation, counterfactual=explanation.factual, distance=0.0)
    ax = plot(still, classifiers["banknote"])
    ax.figure.canvas.draw()
    assert not any(getattr(text, "arrow_patch", None) for text in ax.texts)


@both
def test_another_classifier_is_refused(explain, classifiers, plot, cut):
    with pytest.raises(DataError, match="same features"):
        plot(explain("banknote"), classifiers["awkward"])
    unknown = edited(explain("banknote"), factual_class="z")
    with pytest.raises(DataError, match="about class 'z'"):
        plot(unknown, classifiers["banknote"])


@both
@pytest.mark.parametrize("pair", [(0,), (1, 1), "ab"])
def test_two_different_directions_are_needed(explain, classifiers, plot, cut, pair):
    option = {"features": pair} if plot is plot_plane else {"coordinates": pair}
    with pytest.raises(DataError, match="two"):
        plot(explain("banknote"), classifiers["banknote"], **option)


def test_features_by_name_or_position(explain, classifiers):
    ax = plot_plane(explain("banknote"), classifiers["banknote"], features=["entropy", 0])
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("entropy", "variance")
    with pytest.raises(StructureError, match="unknown feature 'size'"):
        plot_plane(explain("banknote"), classifiers["banknote"], features=["size", 0])


def test_default_features_change_most(explain, classifiers):
    explanation = explain("ionosphere")
    ax = plot_plane(explanation, classifiers["ionosphere"])
    assert [ax.get_xlabel(), ax.get_ylabel()] == explanation.changes()["feature"].head(2).tolist()


def test_several_rivals_share_one_boundary():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 2)) + np.repeat([[0, 0], [3, 0], [0, 3]], 40, axis=0)
    clf = ConditionalGaussianNetworkClassifier("naive").fit(X, np.repeat(["a", "b", "c"], 40))
    explanation = CounterfactualExplainer(clf, budget=0.05).explain([0.0, 2.5], target="b")
    ax = plot_plane(explanation, clf)
    joint = clf.predict_joint_log_proba(boundary(ax))
    assert joint[:, 1] - np.maximum(joint[:, 0], joint[:, 2]) == pytest.approx(np.zeros(len(joint)), abs=0.01)


@pytest.mark.parametrize("name", ["banknote", "ionosphere"])
@pytest.mark.parametrize("norm", NORMS)
def test_the_distance_ball_is_as_far_as_the_counterfactual(explain, classifiers, name, norm):
    explanation, clf = explain(name, norm), classifiers[name]
    ax = plot_whitened_plane(explanation, clf)
    points = whitened_section(explanation, clf).points(coordinates(ax, "distance ball"))
    sizes = whitening(explanation, clf).distance(points, explanation.factual.to_numpy(), norm)
    assert sizes == pytest.approx(np.full(len(points), explanation.distance))


def test_whitened_contours_of_the_factual_class_are_circles(explain, classifiers):
    section = whitened_section(explain("ionosphere"), classifiers["ionosphere"])
    outline = section.ellipse(section.explanation.factual_class, 2.0)
    middle = (outline.min(axis=0) + outline.max(axis=0)) / 2
    assert np.linalg.norm(outline - middle, axis=1) == pytest.approx(np.full(len(outline), 2.0), rel=1e-4)


def test_contours_are_those_of_the_density(explain, classifiers):
    explanation, clf = explain("banknote"), classifiers["banknote"]
    section = feature_section(explanation, clf)
    log_density = clf.networks_[1].log_density
    levels = [log_density(section.points(section.ellipse(1, k))) for k in (1e-9, 1.0, 3.0)]
    assert all(np.ptp(values) < 1e-8 for values in levels)
    assert levels[0][0] - levels[1][0] == pytest.approx(0.5)
    assert levels[0][0] - levels[2][0] == pytest.approx(4.5)


def test_whitened_labels_name_the_main_feature(explain, classifiers):
    ax = plot_whitened_plane(explain("banknote"), classifiers["banknote"], coordinates=(0, 3))
    assert ax.get_xlabel() == "whitened coordinate 0\n(mostly variance)"
    assert ax.get_ylabel() == "whitened coordinate 3\n(mostly entropy)"


@pytest.mark.parametrize(("norm", "corners"), [(np.inf, 4), (1, 4)])
def test_outlines_have_their_corners(norm, corners):
    outline = unit_outline(np.eye(2), norm)
    expected = [[1, 1], [-1, 1], [-1, -1], [1, -1]] if norm == np.inf else [[1, 0], [0, 1], [-1, 0], [0, -1]]
    assert len(expected) == corners
    for corner in expected:
        assert np.abs(outline - corner).max(axis=1).min() < 1e-12


def test_an_outline_does_not_mind_units(rng):
    A = rng.normal(size=(6, 2)) * [1e-9, 1e6]
    for norm in NORMS:
        outline = unit_outline(A, norm)
        assert np.linalg.norm(A @ outline.T, ord=norm, axis=0) == pytest.approx(np.ones(len(outline)))
        scaled = outline / np.abs(outline).max(axis=0)
        assert np.linalg.norm(np.diff(scaled, axis=0), axis=1).max() < 0.1


@pytest.mark.parametrize("draw", [plot_plane, plot_whitened_plane])
@pytest.mark.parametrize("data", ["banknote", "ionosphere"])
def test_the_enlargement_lies_within_the_figure(explain, classifiers, draw, data):
    ax = draw(explain(data), classifiers[data])
    ax.figure.canvas.draw()
    for inset in ax.child_axes:
        assert inset.get_tightbbox().x1 <= ax.figure.bbox.x1


@both
def test_features_that_land_exactly_have_no_part_in_the_ball(classifiers, bundled, plot, cut):
    clf, row = classifiers["banknote"], bundled["banknote"].X.iloc[0]
    explanation = CounterfactualExplainer(clf, budget=0.05, immutable=["entropy"]).explain(row, target=1)
    section = cut(explanation, clf)
    ball = explanation.question.problem(clf).ball
    found = section.points(section.ball()) - explanation.counterfactual.to_numpy()
    assert np.abs(found[:, 3]).max() < 1e-12
    found[:, 3] = 0.0
    assert np.asarray(ball.size(found)) == pytest.approx(np.full(len(found), 0.05))
    plot(explanation, clf).figure.canvas.draw()


def test_a_plane_along_an_exact_feature_cuts_out_a_segment(classifiers, bundled):
    clf, row = classifiers["banknote"], bundled["banknote"].X.iloc[0]
    explanation = CounterfactualExplainer(clf, budget=0.05, immutable=["entropy"]).explain(row, target=1)
    outline = feature_section(explanation, clf, ["variance", "entropy"]).ball()
    assert len(outline) == 2
    assert outline[0, 1] == outline[1, 1] == row["entropy"]
    assert outline[0, 0] != outline[1, 0]
    plot_plane(explanation, clf, features=["variance", "entropy"]).figure.canvas.draw()


def test_a_budget_by_feature_is_a_rectangle(classifiers, bundled):
    clf, row = classifiers["banknote"], bundled["banknote"].X.iloc[0]
    budget = {"variance": 0.2, "skewness": (0.1, 0.3)}
    explanation = CounterfactualExplainer(clf, budget=budget).explain(row, target=1)
    section = feature_section(explanation, clf, ["variance", "skewness"])
    outline = section.ball() - section.center
    assert outline.min(axis=0) == pytest.approx([-0.2, -0.1])
    assert outline.max(axis=0) == pytest.approx([0.2, 0.3])
    for corner in ([0.2, 0.3], [-0.2, 0.3], [-0.2, -0.1], [0.2, -0.1]):
        assert np.abs(outline - corner).max(axis=1).min() < 1e-12
    ax = plot_plane(explanation, clf, features=["variance", "skewness"])
    assert "budget by feature" in line(ax, "uncertainty ball").get_label()
