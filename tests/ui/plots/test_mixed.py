"""Pictures of tables with categories, whole numbers and curved scales."""

import numpy as np
import pytest

from surefoot import ConditionalGaussianNetworkClassifier, datasets, plots
from surefoot.exceptions import DataError
from surefoot.ui.plots.section import feature_section, whitened_section
from surefoot.ui.plots.style import CHOSEN
from tests.asking import CounterfactualExplainer
from tests.ui.mixed import FLAT, refused_rows, toy_explainer, toy_model, toy_table

MARGINALS = ["gaussian", "power"]


@pytest.fixture(scope="module", params=MARGINALS)
def drawn(request):
    clf = toy_model(request.param)
    return toy_explainer(clf).explain(refused_rows(clf).iloc[0], "yes"), clf


def drawn_texts(ax):
    ax.figure.canvas.draw()
    return [text.get_text() for text in ax.texts]


def test_changes_show_categories_first_by_name_and_price(drawn):
    e, _ = drawn
    ax = plots.plot_changes(e)
    assert ax.get_yticklabels()[0].get_text() == "housing"
    bar = ax.patches[0]
    assert bar.get_width() == pytest.approx(0.1)
    assert bar.get_facecolor()[:3] == pytest.approx([int(CHOSEN[k : k + 2], 16) / 255 for k in (1, 3, 5)])
    text = next(text for text in drawn_texts(ax) if "rent" in text)
    assert text.endswith("ty centre")
    assert len(FLAT) > len(text.splitlines()[1])  # long names are shortened
    assert "of a category: its price" in ax.get_xlabel()
    assert "category changes" in [text.get_text() for text in ax.get_legend().get_texts()]


def test_changes_write_whole_numbers_as_such(drawn):
    e, _ = drawn
    expected = f"{e.factual['cards']:.0f} → {e.counterfactual['cards']:.0f}"
    assert e.factual["cards"] != e.counterfactual["cards"]
    assert expected in drawn_texts(plots.plot_changes(e))


def test_changes_count_what_stays(drawn):
    assert "1 feature stays as it is" in plots.plot_changes(drawn[0]).get_xlabel()  # member


def test_batch():
    clf = toy_model()
    batch = toy_explainer(clf).explain_batch(refused_rows(clf, 8), "yes", progress=False)
    ax = plots.plot_feature_shares(batch)
    names = [label.get_text() for label in ax.get_yticklabels()]
    assert "member" not in names
    assert "1 feature changes in no row" in ax.get_xlabel()
    rows = np.mean([e.factual["housing"] != e.counterfactual["housing"] for e in batch])
    assert drawn_texts(ax)[names.index("housing")] == f"{100 * rows:.0f} %"
    assert ax.patches[names.index("housing")].get_width() == pytest.approx(0.1)
    assert "prices of changed categories" in plots.plot_distances(batch).get_xlabel()
    plots.plot_coverage(batch).figure.canvas.draw()


def test_bars_of_a_batch_are_about_the_rows_that_change():
    clf = toy_model()
    batch = toy_explainer(clf, housing=3.0, norm=1).explain_batch(refused_rows(clf, 8), "yes", progress=False)
    ax = plots.plot_feature_shares(batch)
    names = [label.get_text() for label in ax.get_yticklabels()]
    shares = [float(text.removesuffix(" %")) for text in drawn_texts(ax)[: len(names)]]
    assert shares == sorted(shares, reverse=True)
    few = [name for name, share in zip(names, shares, strict=True) if 0 < share < 50 and name != "housing"]
    for name in few:  # over all rows the median would be 0
        moves = np.array([abs(e.counterfactual[name] - e.factual[name]) / e.unit[name] for e in batch])
        drawn = ax.patches[names.index(name)].get_width()
        assert drawn == pytest.approx(np.median(moves[moves > 0]))
    assert few


@pytest.mark.parametrize("cut", [feature_section, whitened_section])
def test_planes_hold_the_categories_of_the_counterfactual(drawn, cut, rng):
    e, clf = drawn
    section = cut(e, clf)
    assert section.projected
    t = section.center + 0.1 * rng.normal(size=(5, 2))
    z = section.points(t)
    x = np.array([e.question.unwarped_values(row) for row in z])
    rows = clf.schema_.decode(x, np.tile(e.answer.state, (5, 1)))
    log_proba = clf.predict_log_proba(rows)
    level = np.log(0.98 / 0.02)
    assert section.margin(t) == pytest.approx(log_proba[:, 1] - log_proba[:, 0] - level, abs=1e-6)


@pytest.mark.parametrize("draw", [plots.plot_plane, plots.plot_whitened_plane])
def test_planes_are_drawn(drawn, draw):
    ax = draw(*drawn)
    ax.figure.canvas.draw()
    assert "factual (projected)" in [text.get_text() for text in ax.get_legend().get_texts()]


def test_the_distance_ball_is_what_the_prices_leave(drawn):
    e, clf = drawn
    section = whitened_section(e, clf)
    assert section.distance_radius == pytest.approx(e.distance - 0.1)
    outline = section.distance_ball()
    assert np.abs(outline - section.factual).max() == pytest.approx(e.distance - 0.1)


def test_ticks_are_in_own_units_on_a_curved_scale():
    clf = toy_model("power")
    e = toy_explainer(clf).explain(refused_rows(clf).iloc[0], "yes")
    ax = plots.plot_plane(e, clf, features=["income", "years"])
    warp = clf.warps_[0]
    ticks = dict(zip(ax.get_xticks(), [label.get_text() for label in ax.get_xticklabels()], strict=True))
    assert len(ticks) > 2
    for place, text in ticks.items():
        assert warp.inverse(place) == pytest.approx(float(text.replace(",", "")))


@pytest.mark.parametrize("features", [("housing", "income"), ("income", "member"), (0, 1)])
def test_categories_are_no_axes(drawn, features):
    e, clf = drawn
    words = "is a category; a picture of two features needs two numbers: 'income', 'cards', 'years'"
    with pytest.raises(DataError, match=words):
        plots.plot_plane(e, clf, features=features)
    with pytest.raises(DataError, match=words):
        plots.plot_surface(clf, "yes", features=features)


def test_positions_count_all_features(drawn):
    assert plots.plot_plane(*drawn, features=(1, 4)).get_xlabel() == "income"


def test_too_few_numbers():
    X, y = toy_table()
    few = X[["housing", "member", "income"]]
    clf = ConditionalGaussianNetworkClassifier().fit(few, y)
    row = few[clf.predict(few) == "no"].iloc[0]
    e = CounterfactualExplainer(clf).explain(row, "yes")
    with pytest.raises(DataError, match="a plane needs two numbers; this table has 1"):
        plots.plot_plane(e, clf)
    with pytest.raises(DataError, match="a surface needs two numbers; this table has 1"):
        plots.plot_surface(clf, "yes")


@pytest.mark.parametrize("marginals", MARGINALS)
def test_surface(marginals):
    clf, row = toy_model(marginals), toy_table()[0].iloc[3]
    ax = plots.plot_surface(clf, "yes")
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("income", "cards")
    plots.plot_surface(clf, "yes", features=("years", "income"), at=row).figure.canvas.draw()
    with pytest.raises(DataError, match="no value"):
        plots.plot_surface(clf, "yes", at={**row, "housing": "tent"})


def test_the_trace_and_the_graph(drawn):
    e, clf = drawn
    upper, _ = plots.plot_trace(e)
    upper.figure.canvas.draw()
    assert upper.lines[0].get_ydata().tolist() == [r.distance for r in e.iterations]
    drawn = drawn_texts(clf.plot_dag())
    assert sorted(text for text in drawn if text) == sorted([*clf.feature_labels_, "class"])


def test_german_credit():
    data = datasets.load_german_credit()
    clf = ConditionalGaussianNetworkClassifier("tan", marginals="auto").fit(data.X, data.y)
    e = CounterfactualExplainer(clf, budget=0.05, whole=False).explain(data.X.iloc[1], "good")
    changes = plots.plot_changes(e)
    pair = ["credit_amount", "duration_months"]
    plane, surface = plots.plot_plane(e, clf, features=pair), plots.plot_surface(clf, "good")
    for ax in (changes, plane, surface):
        ax.figure.canvas.draw()
    assert [label.get_text() for label in changes.get_yticklabels()] == list(e.changed)
    assert [plane.get_xlabel(), plane.get_ylabel()] == pair
    assert "counterfactual" in [text.get_text() for text in plane.get_legend().get_texts()]
    assert [surface.get_xlabel(), surface.get_ylabel()] == pair[::-1]  # the first two numbers
