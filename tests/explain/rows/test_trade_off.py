import html

import numpy as np
import pytest

from surefoot import ConditionalGaussianNetworkClassifier, datasets, verify, write_report
from surefoot.exceptions import DataError
from surefoot.explain.rows.trade_off import TradeOff
from surefoot.ui.report.costs import _more, curves_of
from tests.asking import CounterfactualExplainer

pytest.importorskip("matplotlib").use("Agg")


@pytest.fixture(scope="module")
def found():
    bank = datasets.load_banknote()
    clf = ConditionalGaussianNetworkClassifier("tan").fit(bank.X, bank.y)
    explainer = CounterfactualExplainer(clf, budget=0.02, data=(bank.X, bank.y))
    asked = {"budget": (0.0, 0.1), "plausible": (None, 0.5, 0.99), "models": (None, 4)}
    return bank, explainer, explainer.trade_off(bank.X.iloc[0], 1, **asked)


def test_more_of_anything_costs_more(found):
    _, _, result = found
    for _, lines in result.table.groupby("asked"):
        assert (np.diff(lines["distance"].to_numpy()) >= -1e-3 * lines["distance"].iloc[0]).all()
    assert (result.table["lower_bound"] <= result.table["distance"]).all()


def test_each_point_is_the_answer_of_that_question(found):
    bank, explainer, result = found
    alone = explainer.copy(plausible=0.5).explain(bank.X.iloc[0], 1)
    line = result.table[(result.table["asked"] == "plausible") & (result.table["value"] == 0.5)].iloc[0]
    assert line["distance"] == alone.distance


def test_each_point_has_its_own_proof(found):
    _, explainer, result = found
    assert len(result.explanations) == len(result.table)
    for e, distance in zip(result.explanations, result.table["distance"], strict=True):
        assert e.distance == distance
        assert verify(e, explainer.classifier).ok


def test_the_page_says_what_each_thing_costs(found, tmp_path):
    _, _, result = found
    page = write_report(result, tmp_path / "costs.html").read_text()
    first, typical, refits = curves_of(result)
    distances = result.table["distance"].to_numpy()
    more = 100 * (distances[1] / distances[0] - 1)
    assert first.sentence == (
        f"To withstand errors of up to 0.1 takes {more:.1f} % more distance than to withstand no error."
    )
    assert [cost.asked for cost in typical.costs][1:] == [
        "as typical as 50 % of its rows",
        "as typical as 99 % of its rows",
    ]
    assert refits.refitted
    assert not first.refitted
    assert page.count(">refits agree<") == 1
    assert "What more safety costs row 0, to be decided 1" in page
    assert page.count("<figure") == 1


def test_where_there_is_no_answer_the_page_says_why(found, tmp_path):
    bank, explainer, _ = found
    result = explainer.trade_off(bank.X.iloc[0], 1, budget=(0.0, 9.0), plausible=())
    (curve,) = curves_of(result)
    assert (curve.costs[1].distance, curve.costs[1].more) == ("no answer", "-")
    assert curve.costs[1].remark
    assert curve.sentence == ""
    assert curve.costs[1].remark in html.unescape(write_report(result, tmp_path / "none.html").read_text())


def test_a_page_about_nothing_is_refused(found, tmp_path):
    empty = TradeOff(found[2].table.iloc[:0], ())
    with pytest.raises(DataError, match="no question was asked"):
        write_report(empty, tmp_path / "nothing.html")


def test_the_plot_has_a_panel_for_each(found):
    axes = found[2].plot()
    assert len(axes) == 3
    assert all(ax.get_ylim()[0] == 0 for ax in axes)
    assert "distance" in axes[0].get_ylabel()
    with pytest.raises(DataError, match="needs 3 axes"):
        found[2].plot(axes=axes[:2])


def test_it_prints_as_a_table(found):
    assert "plausible" in str(found[2])
    assert "<table" in found[2]._repr_html_()


def test_small_costs_are_not_rounded_away():
    assert [_more(d, 0.7021) for d in (0.7056, 0.7021, 0.7020999, 0.9, 0.69)] == [
        "+0.5 %",
        "0 %",
        "0 %",
        "+28 %",
        "-1.7 %",
    ]
