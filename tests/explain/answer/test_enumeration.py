"""Small random requests against full enumeration; `benchmarks/audit/enumeration.py` runs thousands."""

import pytest

from surefoot import Action, Actions, ConditionalGaussianNetworkClassifier, datasets
from tests.asking import CounterfactualExplainer
from tests.enumeration import fault, judged, nearest, saved
from tests.thinning import only

FOUND = (196, 413, 488)  # seeds of requests that ended in an exception
STOPPED = (217, 582, 1680, 1862, 4638)  # and of those that rounding was said to have stopped
PARTS = [range(8), [*range(8, 40), *FOUND, *STOPPED]]


@pytest.mark.parametrize("seeds", only([PARTS[0]], PARTS))
def test_random_requests_agree_with_enumeration(seeds, tmp_path):
    found = {seed: judged(seed, tmp_path) for seed in seeds}
    assert {seed: wrong for seed, (_, wrong) in found.items() if wrong} == {}
    statuses = [status for status, _ in found.values()]
    assert set(statuses) <= {"optimal", "infeasible"}
    assert min(statuses.count("optimal"), statuses.count("infeasible")) > len(seeds) // 6


@pytest.mark.parametrize("norm", [1, 2, float("inf")])
def test_a_value_alone_on_its_list_that_rounding_puts_beside_its_own_interval(norm, tmp_path):
    bank = datasets.load_banknote()
    clf = ConditionalGaussianNetworkClassifier("tan").fit(bank.X, bank.y)
    alone = {"variance": 3.24, "skewness": 6.63, "curtosis": -0.36, "entropy": -0.76}
    actions = Actions(
        {name: Action(values=[value]) for name, value in alone.items()},
        when=[("variance changes", "skewness changes")],
    )
    settings = {"norm": norm, "threshold": 0.5, "budget": 0.0}
    row = bank.X.iloc[1176]
    e = CounterfactualExplainer(clf, actions=actions, norm=norm).explain(row)
    target = e.target
    assert e.status == "optimal"
    assert fault(e, *nearest(saved(clf, tmp_path), row, target, actions, settings)) == ""
