"""Honest answers changed at random: nothing false is accepted, and nothing makes a checker stumble."""

import copy
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from surefoot.proof import exact, fast, pieces

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))
forgeries = pytest.importorskip("forgeries")

EACH = 15  # of every kind


def outcomes(kind):
    number = list(forgeries.KINDS).index(kind)
    return [forgeries.tried([number, k], kind, small=True) for k in range(EACH)]


@pytest.mark.parametrize("kind", forgeries.KINDS)
def test_changed_files(kind):
    wrong = [found for found in outcomes(kind) if found[0] in ("forged", "differ", "crash")]
    assert not wrong


def test_the_judge_finds_what_careless_checkers_accept(monkeypatch):
    """With a definiteness test that always says yes, forgeries pass, and the judge names them."""
    for module, name in ((exact, "definite"), (pieces, "positive_definite"), (fast, "positive_definite")):
        monkeypatch.setattr(module, name, lambda _: True)
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
    forgeries.follow(honest.facts, e)
    meaning = forgeries.Meaning(honest.facts, e)
    assert not list(forgeries._of_the_bound(meaning, rng, honest.points))
    assert forgeries.forged(honest, e, rng) == ["asked anew, there is a nearer point"]
    answer = forgeries.asked_anew(honest, e)
    e["lower_bound"], e["counterfactual"]["values"] = answer.lower_bound, answer.point.tolist()
    e["certificate"]["worst"] = None
    e |= {"worst_probability": None, "violation": "inf"}
    forgeries.follow(honest.facts, e)
    assert forgeries.forged(honest, e, rng) == []
