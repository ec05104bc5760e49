"""Bounds of a trade-off are inherited exactly where a question asks for more than another."""

from dataclasses import replace

import numpy as np
import pytest

from surefoot import ConditionalGaussianNetworkClassifier, Status
from surefoot.explain.rows import trade_off as trading
from surefoot.ui.report.costs import curves_of, headline_of
from tests.asking import CounterfactualExplainer


@pytest.fixture(scope="module")
def bank(bundled):
    return bundled["banknote"]


@pytest.fixture(scope="module")
def clf(bank):
    return ConditionalGaussianNetworkClassifier("naive").fit(bank.X, bank.y)


def answered(e, bound, status=None):
    return replace(e, answer=replace(e.answer, lower_bound=bound, status=status or e.status))


def test_bounds_never_fall_with_the_budget(clf, bank):
    explainer = CounterfactualExplainer(clf)
    found = explainer.trade_off(bank.X.iloc[0], 1, budget=(0.0, 0.05, 0.2), plausible=())
    first, second, third = found.explanations
    weak = [first, answered(second, 0.1 * second.lower_bound, Status.TIME_LIMIT), third]
    assert weak[1].lower_bound < first.lower_bound
    assert trading._bounds(weak) == [first.lower_bound, first.lower_bound, third.lower_bound]
    assert trading._bounds(weak[::-1]) == [third.lower_bound, first.lower_bound, first.lower_bound]
    assert (np.diff(found.table["lower_bound"]) >= 0).all()


def test_solvers_bounds_are_not_called_proven(clf, bank):
    found = CounterfactualExplainer(clf).trade_off(bank.X.iloc[0], 1, budget=(0.0, 0.05), plausible=())
    assert headline_of(found).endswith("smallest change for a question of its own, proven.")
    solvers = [replace(e, context=replace(e.context, method="qcqp")) for e in found.explanations]
    assert np.isnan(trading._bounds(solvers)).all()
    word = trading.TradeOff(found.table.assign(lower_bound=np.nan), tuple(solvers))
    assert "What is proven is in the column that says so." in headline_of(word)
    assert [cost.bound for cost in curves_of(word)[0].costs] == ["-", "-"]
    cut = trading.TradeOff(
        found.table, (found.explanations[0], answered(found.explanations[1], 0.0, Status.TIME_LIMIT))
    )
    assert "best change found" in headline_of(cut)


def test_no_answer_is_proven_or_not_found(clf, bank):
    found = CounterfactualExplainer(clf).trade_off(bank.X.iloc[0], 1, budget=(0.0,), plausible=())
    for bound, said in ((np.inf, "no answer"), (1.0, "no answer found")):
        table = found.table.assign(distance=np.inf, lower_bound=bound)
        assert curves_of(trading.TradeOff(table, found.explanations))[0].costs[0].distance == said
