"""Honest answers changed at random: nothing false is accepted, and nothing makes a checker stumble."""

import sys
from collections import Counter
from pathlib import Path

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
