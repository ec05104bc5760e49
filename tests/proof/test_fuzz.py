"""Honest answers changed at random: nothing false is accepted, and nothing makes the checker stumble."""

import copy
import importlib
from collections import Counter

import numpy as np
import pytest

from surefoot.proof import exact
from surefoot.status import Status
from tests.thinning import only

forgeries = pytest.importorskip("benchmarks.audit.forgeries")
changes, judge = (
    importlib.import_module(f"benchmarks.audit.forging.{name}") for name in ("changes", "judge")
)

EACH = 15  # of every kind
TRIED = [(kind, each) for kind in forgeries.KINDS for each in (5, EACH)]


def outcomes(kind, each=EACH):
    number = list(forgeries.KINDS).index(kind)
    return [forgeries.tried([number, k], kind, small=True) for k in range(each)]


@pytest.mark.parametrize(("kind", "each"), only([(kind, 5) for kind in forgeries.KINDS], TRIED))
def test_changed_files(kind, each):
    wrong = [found for found in outcomes(kind, each) if found[0] in ("forged", "crash")]
    assert not wrong


def test_the_judge_finds_what_careless_checkers_accept(monkeypatch):
    """With a definiteness test that always says yes, forgeries pass, and the judge names them."""
    monkeypatch.setattr(exact, "definite", lambda _: True)
    found = Counter()
    for kind in ("a higher bound", "a larger radius", "infeasible", "another question"):
        found += Counter(outcome for outcome, _ in outcomes(kind))
    assert found["forged"] >= 3
    assert not found["crash"]


def test_the_judge_asks_a_changed_question_anew():
    """A milder question keeps the bound of the stricter one; no point that was known shows that."""
    honest = next(h for h in forgeries.pool(small=True) if h.name == "banknote 2 0.0")
    e, rng = copy.deepcopy(honest.document), np.random.default_rng(0)
    e["threshold"] = e["question"]["requirements"][0]["threshold"] = 0.3
    changes.follow(honest.facts, e)
    meaning = judge.Meaning(honest.facts, e)
    assert not list(judge.of_the_bound(meaning, rng, honest.points))
    assert judge.forged(honest, e, rng) == ["asked anew, there is a nearer point"]
    answer, point = judge.asked_anew(honest, e)
    e["lower_bound"], e["counterfactual"]["values"] = answer.lower_bound, point[0].tolist()
    e["certificate"]["worst"] = None
    e |= {"worst_probability": None, "violation": "inf"}
    changes.follow(honest.facts, e)
    assert judge.forged(honest, e, rng) == []


@pytest.mark.parametrize("name", ["curved 2", "logistic", "decision", "calibrated", "two models",
                                  "categories, power, 2", "two models of categories"])  # fmt: skip
def test_the_judge_computes_what_honest_files_say(name):
    """Of every kind of model: nothing is wrong with a file, and every number of it is computed again."""
    honest = next(h for h in forgeries.pool(small=True) if h.name == name)
    e = copy.deepcopy(honest.document)
    assert judge.forged(honest, e, np.random.default_rng(0)) == []
    for key in ("probability", "factual_probability", "distance", "violation", "density_percentile"):
        e[key] = 7.0
    for key in ("expected_after", "z_score"):
        e[key]["values"] = [7.0] * len(e[key]["values"])
    assert len(judge.forged(honest, e, np.random.default_rng(0))) >= 6
    changes.follow(honest.facts, e)
    assert judge.forged(honest, e, np.random.default_rng(0)) == []
    assert forgeries.verdict(honest.contents, e) == "accepted"


def test_the_judge_knows_when_nothing_is_allowed():
    """An either without ways, and norms of distance and ball that differ: the package asks neither."""
    honest = next(h for h in forgeries.pool(small=True) if h.name == "banknote 2 0.05")
    e = copy.deepcopy(honest.document)
    e["question"]["distance"]["norm"] = 1
    answer, point = judge.asked_anew(honest, e)
    assert answer.status is Status.OPTIMAL
    assert judge.Meaning(honest.facts, e).satisfied(*point, np.random.default_rng(0), 1e-6)
    e["question"]["domain"]["eithers"] = [{"name": "", "ways": []}]
    answer, point = judge.asked_anew(honest, e)
    assert answer.status is Status.INFEASIBLE
    assert point is None
