"""Why there is no answer: wishes that exclude each other, none of which can be left out, and ways out."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from surefoot.explain.constraints.constraint_set import ConstraintSet
from surefoot.explain.diagnose.feasibility_oracle import Judge, Noise, Verdict
from surefoot.explain.diagnose.relaxations import Part, beyond_training, parts
from surefoot.problem.family import Family
from surefoot.problem.question import Question
from surefoot.problem.robust_problem import RobustProblem

__all__ = ["Diagnosis", "Noise", "diagnosed"]

PATIENCE = 5.0  # seconds for all questions together
ENOUGH = 3  # ways out that are named
TOGETHER = 3  # wishes that are given up together, at most
Parts = tuple[Part, ...]


class Diagnosis(NamedTuple):
    """Why there is no answer.

    Parameters
    ----------
    conflict : tuple of str
        ConstraintSet that leave nothing together, in words; without any one of them something would be left.
    advice : str
        The same as sentences, and what could be given up, the cheapest first.
    """

    conflict: tuple[str, ...] = ()
    advice: str = ""


def diagnosed(
    problem: RobustProblem | Family,
    question: Question,
    wishes: ConstraintSet,
    time_limit: float,
    noise: Noise | None = None,
) -> Diagnosis:
    """Say which wishes stand in the way of an answer, and what could be given up.

    Parameters
    ----------
    problem : RobustProblem or Family
    question : Question
    wishes : ConstraintSet
    time_limit : float
        Seconds that are left.
    noise : Noise, optional
    """
    judge = Judge(problem, question, wishes, min(PATIENCE, max(time_limit, 0.0)), noise)
    every = parts(wishes, question.factual)
    alone = judge.excludes_itself().is_infeasible
    found = _Filter(judge.excludes_itself if alone else judge.verdict, every)
    conflict = found.irreducible(())
    words = tuple(part.wish for part in conflict)
    if not conflict:
        return Diagnosis((), _without_wishes(judge, question.target))
    blocking = set(conflict)
    idle = [part for part in every if part not in blocking]
    alone = alone or judge.is_inconsistent(idle)
    blamed = _training_matters(judge, idle, alone)
    said = _conflict_words(words, alone, blamed, question.target, found.is_certain)
    return Diagnosis(words, f"{said} {_ways_out(judge, every, conflict)}".strip())


class _Filter:
    """Finds constraints none of which can be left out.

    Parameters
    ----------
    judged : callable from given up wishes to a Verdict
    every : sequence of Part
    """

    def __init__(self, judged: Callable[[Sequence[Part]], Verdict], every: Sequence[Part]) -> None:
        self.judged, self.every = judged, tuple(every)
        self.is_certain = True

    def irreducible(self, gone: Sequence[Part]) -> tuple[Part, ...]:
        """Constraints that leave nothing together, when some are gone already and the rest leave nothing."""
        kept = self._kept(list(gone), [part for part in self.every if part not in gone])
        return self._again(kept)

    def _kept(self, gone: list[Part], some: list[Part]) -> list[Part]:
        """Those of some wishes that must stay: all are dropped at once, or else one half after the other.

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

    def _again(self, kept: list[Part]) -> tuple[Part, ...]:
        """Each wish left out by itself once more: one that went later may have made another idle."""
        left = dict.fromkeys(kept)
        for part in kept:
            verdict = self.judged([other for other in self.every if other is part or other not in left])
            if verdict.is_infeasible:
                del left[part]
            self.is_certain &= verdict.decided
        return tuple(left)


def _training_matters(judge: Judge, idle: Sequence[Part], alone: bool) -> bool:
    """Whether the same wishes leave something beyond the range seen in training."""
    if not judge.wishes.observed:
        return False
    beyond = _beyond(judge)
    return not beyond.is_inconsistent(idle) if alone else beyond.verdict(idle).distance < math.inf


def _beyond(judge: Judge) -> Judge:
    """A judge of the same wishes without the range seen in training."""
    wishes = beyond_training(judge.wishes)
    return Judge(judge.problem, judge.question, wishes, judge.seconds_left, judge.noise)


def _without_wishes(judge: Judge, target: Any) -> str:
    """What to say where no wish is to blame."""
    if not judge.wishes.observed:
        return f"Even without any restriction no change leads to {_shown(target)}."
    here = f"Within the range seen in training no change leads to {_shown(target)}, whatever else is allowed."
    beyond = _beyond(judge)
    if beyond.verdict().distance < math.inf:
        return f"{here} There is one if features may leave the range seen in training."
    if beyond.verdict(parts(beyond.wishes)).distance < math.inf:
        return f"{here} There is one if every restriction is lifted."
    return here


def _conflict_words(words: Sequence[str], alone: bool, blamed: bool, target: Any, certain: bool) -> str:
    listed = "; ".join(words)
    if not certain:
        listed += " (perhaps not all of these: the time was over)"
    within = " within the range seen in training" if blamed else ""
    if not alone:
        return f"In the way of {_shown(target)}{within}: {listed}."
    what = "These exclude each other" if len(words) > 1 else "This cannot be met"
    return f"{what}{within}: {listed}."


def _shown(target: Any) -> str:
    """A class in a sentence: words in quotes, numbers as they are."""
    return f'"{target}"' if isinstance(target, str) else str(target)


def _ways_out(judge: Judge, every: Sequence[Part], conflict: Sequence[Part]) -> str:
    """What could be given up: as few wishes as possible, those with the nearest answer first."""
    found = []
    for level in _levels(judge, every, conflict):
        found = sorted(level, key=lambda pair: pair[0])[:ENOUGH]
        if found:
            break
    phrases = [" and ".join(part.lifted for part in given_up) for _, given_up in found]
    if not phrases:
        return _last_resort(judge, every)
    return f"There is one if {', or if '.join(phrases)}."


def _levels(
    judge: Judge, every: Sequence[Part], conflict: Sequence[Part]
) -> Iterator[list[tuple[float, Parts]]]:
    """For one wish, then two, then three: which of them, given up, leave an answer, and how near it is."""
    tried: list[Parts] = [(part,) for part in conflict if part.proposed]
    for _ in range(TOGETHER):
        judged = judge.nearest if len(tried) > 1 else judge.verdict  # one by itself is compared with nothing
        verdicts = [(judged(given_up), given_up) for given_up in tried]
        yield [(verdict.distance, one) for verdict, one in verdicts if verdict.distance < math.inf]
        tried = _extended(judge, every, [one for verdict, one in verdicts if verdict.is_infeasible])


def _extended(judge: Judge, every: Sequence[Part], tried: list[Parts]) -> list[Parts]:
    """Sets of wishes with one more each, from a conflict that is left when they are gone."""
    found: dict[frozenset[Part], Parts] = {}
    for given_up in tried:
        if judge.seconds_left <= 0:
            break
        for part in _Filter(judge.verdict, every).irreducible(given_up):
            if part.proposed:
                found.setdefault(frozenset((*given_up, part)), (*given_up, part))
    return list(found.values())


def _last_resort(judge: Judge, every: Sequence[Part]) -> str:
    """Whether all that may be given up would help, where no few wishes would."""
    some = "" if all(part.proposed for part in every) else " that concerns no protected feature"
    gone = [part for part in every if part.proposed]
    if gone and judge.verdict(gone).distance < math.inf:
        return f"There is one if every wish{some} is given up."
    if judge.wishes.observed and _beyond(judge).verdict().distance < math.inf:
        return "There is one if features may leave the range seen in training."
    return ""
