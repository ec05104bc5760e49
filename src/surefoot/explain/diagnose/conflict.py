"""Why there is no answer: constraints that exclude each other, each of which is needed, and ways out."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from surefoot.explain.diagnose.feasibility_oracle import FeasibilityOracle, Verdict
from surefoot.explain.diagnose.relaxations import Relaxation, beyond_training, relaxations

ENOUGH = 3  # ways out that are named
TOGETHER = 3  # constraints that are given up together, at most
Relaxations = tuple[Relaxation, ...]


class Diagnosis(NamedTuple):
    """Why there is no answer."""

    conflict: tuple[str, ...]  # in words; without any one of these constraints something would be left
    advice: str  # the same as sentences, and what could be given up, the cheapest first


def diagnosed(oracle: FeasibilityOracle) -> Diagnosis:
    """Say which constraints stand in the way of an answer, and what could be given up."""
    question = oracle.question
    every = relaxations(oracle.constraints, question.factual)
    alone = oracle.excludes_itself().is_infeasible
    found = _Filter(oracle.excludes_itself if alone else oracle.verdict, every)
    conflict = found.irreducible(())
    if not conflict:
        return Diagnosis((), _without_constraints(oracle))
    blocking = set(conflict)
    idle = [one for one in every if one not in blocking]
    alone = alone or oracle.is_inconsistent(idle)
    said = "; ".join(one.words for one in conflict)
    if not found.is_certain:
        said += " (perhaps not all of these: the time was over, or not everything could be decided)"
    if not alone:
        start = f"In the way of {shown(question.target)}"
    else:
        start = "These exclude each other" if len(conflict) > 1 else "This cannot be met"
    if _training_matters(oracle, idle, alone):
        start += " within the range seen in training"
    advice = f"{start}: {said}. {_ways_out(oracle, every, conflict)}".strip()
    return Diagnosis(tuple(one.words for one in conflict), advice)


class _Filter:
    """A deletion filter: it drops constraints until those that are left are an irreducible conflict.

    Together they leave no answer; without any one of them there would be some.
    """

    def __init__(self, judged: Callable[[Sequence[Relaxation]], Verdict], every: Relaxations) -> None:
        self.judged, self.every = judged, every  # a verdict on constraints that are given up
        self.is_certain = True

    def irreducible(self, gone: Relaxations) -> Relaxations:
        """A conflict among the constraints that are left once some are given up."""
        kept = self._kept(list(gone), [one for one in self.every if one not in gone])
        left = dict.fromkeys(kept)
        for one in kept:  # each by itself once more: one that went later may have made another idle
            verdict = self.judged([other for other in self.every if other is one or other not in left])
            if verdict.is_infeasible:
                del left[one]
            self.is_certain &= verdict.decided
        return tuple(left)

    def _kept(self, gone: list[Relaxation], some: list[Relaxation]) -> list[Relaxation]:
        """The constraints that must stay: all are dropped at once if possible, or else half after half.

        What is dropped is added to ``gone``: at any time it is certain that the others leave nothing.
        """
        if not some:
            return []
        if self.judged([*gone, *some]).is_infeasible:
            gone += some
            return []
        if len(some) == 1:
            return some
        half = len(some) // 2
        return [*self._kept(gone, some[:half]), *self._kept(gone, some[half:])]


def _training_matters(oracle: FeasibilityOracle, idle: Sequence[Relaxation], alone: bool) -> bool:
    """Whether the same constraints leave something beyond the range seen in training."""
    if not oracle.constraints.observed:
        return False
    beyond = _beyond(oracle)
    return not beyond.is_inconsistent(idle) if alone else beyond.verdict(idle).distance < math.inf


def _beyond(oracle: FeasibilityOracle) -> FeasibilityOracle:
    """An oracle for the same constraints without the range seen in training."""
    return oracle.under(beyond_training(oracle.constraints))


def _without_constraints(oracle: FeasibilityOracle) -> str:
    """What to say where no constraint is to blame."""
    target = shown(oracle.question.target)
    if not oracle.constraints.observed:
        return f"Even without any restriction no change leads to {target}."
    here = f"Within the range seen in training no change leads to {target}, whatever else is allowed."
    beyond = _beyond(oracle)
    if beyond.verdict().distance < math.inf:
        return f"{here} There is one if features may leave the range seen in training."
    if beyond.verdict(relaxations(beyond.constraints)).distance < math.inf:
        return f"{here} There is one if every restriction is lifted."
    return here


def shown(target: Any) -> str:
    """A class in a sentence: words in quotes, numbers as they are."""
    return f'"{target}"' if isinstance(target, str) else str(target)


def _ways_out(oracle: FeasibilityOracle, every: Relaxations, conflict: Relaxations) -> str:
    """What could be given up: as few constraints as possible, those with the nearest answer first."""
    found = next(filter(None, _levels(oracle, every, conflict)), None)
    if found is None:
        return _last_resort(oracle, every)
    nearest = sorted(found, key=lambda pair: pair[0])[:ENOUGH]
    phrases = [" and ".join(one.lifted for one in given_up) for _, given_up in nearest]
    return f"There is one if {', or if '.join(phrases)}."


def _levels(
    oracle: FeasibilityOracle, every: Relaxations, conflict: Relaxations
) -> Iterator[list[tuple[float, Relaxations]]]:
    """For one constraint, then two, then three: which of them, given up, leave an answer, and how near."""
    tried: list[Relaxations] = [(one,) for one in conflict if one.proposed]
    for _ in range(TOGETHER):
        judged = oracle.nearest if len(tried) > 1 else oracle.verdict  # one alone is compared with nothing
        verdicts = [(judged(given_up), given_up) for given_up in tried]
        yield [(verdict.distance, one) for verdict, one in verdicts if verdict.distance < math.inf]
        tried = _extended(oracle, every, [one for verdict, one in verdicts if verdict.is_infeasible])


def _extended(oracle: FeasibilityOracle, every: Relaxations, tried: list[Relaxations]) -> list[Relaxations]:
    """Sets of constraints with one more each, from a conflict that is left when they are gone."""
    found: dict[frozenset[Relaxation], Relaxations] = {}
    for given_up in tried:
        if oracle.seconds_left <= 0:
            break
        for one in _Filter(oracle.verdict, every).irreducible(given_up):
            if one.proposed:
                found.setdefault(frozenset((*given_up, one)), (*given_up, one))
    return list(found.values())


def _last_resort(oracle: FeasibilityOracle, every: Relaxations) -> str:
    """Whether giving up everything that may be given up would help, where a few constraints do not."""
    some = "" if all(one.proposed for one in every) else " that concerns no protected feature"
    gone = [one for one in every if one.proposed]
    if gone and oracle.verdict(gone).distance < math.inf:
        return f"There is one if every constraint{some} is given up."
    if oracle.constraints.observed and _beyond(oracle).verdict().distance < math.inf:
        return "There is one if features may leave the range seen in training."
    return ""
