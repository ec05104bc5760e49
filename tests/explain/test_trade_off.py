import numpy as np
import pytest

from surefoot import ConditionalGaussianNetworkClassifier, CounterfactualExplainer, datasets
from surefoot.exceptions import DataError, ProblemError
from surefoot.explain.trade_off import trade_off

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


def test_other_things_are_refused(found):
    bank, explainer, _ = found
    with pytest.raises(ProblemError, match="not 'norm'"):
        trade_off(explainer, bank.X.iloc[0], 1, {"norm": [1, 2]})
