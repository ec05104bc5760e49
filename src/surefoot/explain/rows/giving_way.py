"""Settings of a preset give way before a person is told that there is no answer."""

from __future__ import annotations

import math
from collections.abc import Callable, Generator
from dataclasses import replace
from typing import NamedTuple, cast

from surefoot.explain.ask.rung import Rung
from surefoot.explain.result.explanation import Explanation
from surefoot.explain.rows.fewer import with_fewer_ruled_out
from surefoot.status import Status

# Share of the time that is left, for settings that may give way. With a tenth of it rows that take long are
# cut short for nothing; with all of it nothing is left for what comes after.
SHARE = 0.75
# The same for each number of changes that is tried once there is an answer. Ten times as much would use up
# all the time for a smaller number; a tenth would settle fewer.
NARROW = 0.1
# With a gap up to this, an answer that was cut short gets the time that is left. Where features go together,
# larger gaps did not shrink in five times the time: ten times larger, and all such rows take all of it.
WITHIN_REACH = 0.2
STAYS = (Status.INVALID, Status.INTERRUPTED_NO_POINT, Status.FAILED)  # other settings would not help


class Step(NamedTuple):
    """What to ask with next.

    Parameters
    ----------
    rung : Rung
    final : bool
        Whether nothing gives way after it: only then it is worth saying why there is no answer.
    share : float
        Of the time that is left.
    """

    rung: Rung
    final: bool
    share: float = SHARE


Ladder = Generator[Step, Explanation, None]
Few = Callable[[Explanation], int | None]


def ladder(first: Rung, free: frozenset[str], few: Few) -> Ladder:
    """The settings to ask with, one after the other; the explanation of each is sent back.

    The number of changes gives way first: without a limit there is an answer or there is none, and if there
    is, the smallest number of changes that is enough is looked for. Then plausibility, then the budget.

    Parameters
    ----------
    first : Rung
    free : frozenset of str
        The settings that come from the preset, and ask for something.
    few : callable
        From an answer to about how many changes seem to be enough; None where nothing is known.
    """
    stages = [first]
    for name in ("plausible", "budget"):
        if name in free:
            stages.append(stages[-1]._replace(**{name: False}))
    limited = "at_most" in free
    for stage in stages:
        last = stage is stages[-1]
        found = yield Step(stage, last and not limited)
        if limited and _gives_way(found):
            found = yield Step(stage._replace(at_most=None), last)
            if found.answer.point is not None:
                yield from _fewest(stage, found, few(found))
        if not _gives_way(found):
            return


def _fewest(stage: Rung, known: Explanation, few: int | None) -> Ladder:
    """The smallest number of changes with an answer that withstands as much as the known one.

    What seems to be enough comes first. Then from below as long as it is proven that there is none: few
    changes are soon excluded. Then one less than is enough, if what seemed to be was, or else by halving.
    What is left of the time is for an answer that was cut short on the way, but nearly proven.
    """
    assert stage.at_most is not None
    first = too_few = stage.at_most
    enough, rising, best = len(known.changed), True, known
    near = False
    if few is not None and first < few < enough:
        found = yield Step(stage._replace(at_most=few), False, NARROW)
        near = _withstands_as_much(found, known)
        enough, best = (len(found.changed), found) if near else (enough, best)
        too_few = few if found.status is Status.INFEASIBLE else too_few
    while enough - too_few > 1:
        middle = enough - 1 if near else (too_few + enough) // 2
        tried = min(too_few + max((too_few - first) // 2, 1), middle) if rising else middle
        found = yield Step(stage._replace(at_most=tried), False, NARROW)
        if _withstands_as_much(found, known):
            enough, best = len(found.changed), found
        else:
            too_few = tried
        rising = rising and found.status is Status.INFEASIBLE
    if best.status is Status.TIME_LIMIT and best.gap <= WITHIN_REACH:
        yield Step(stage._replace(at_most=enough), False, 1.0)


def _gives_way(found: Explanation) -> bool:
    return found.answer.point is None and found.status not in STAYS


def _withstands_as_much(found: Explanation, known: Explanation) -> bool:
    """Whether there is a point, and as much of the budget is proven as for another."""
    return found.answer.point is not None and found.coverage >= min(known.coverage, 1.0)


def _replaces(found: Explanation, known: Explanation) -> bool:
    """Whether an answer is one with fewer changes, or proven more closely with as many."""
    if not _withstands_as_much(found, known):
        return False
    return len(found.changed) < len(known.changed) or found.gap < known.gap


class Climb:
    """One row on its way down the ladder: what to ask next, and the explanation that counts in the end.

    Parameters
    ----------
    first : Rung
    free : frozenset of str
        The settings that come from the preset, and ask for something.
    few : callable, optional
        From an answer to about how many changes seem to be enough; by default nothing is known.
    limit : float, default=inf
        Seconds for all steps. After them a row that has an answer keeps it.
    """

    def __init__(
        self, first: Rung, free: frozenset[str], few: Few = lambda _: None, limit: float = math.inf
    ) -> None:
        self.first, self.limit, self._ladder = first, limit, ladder(first, free, few)
        self.step, self.goes_on = next(self._ladder), True
        self.reached = first
        self.found: Explanation | None = None
        self.tried: list[tuple[Rung, Explanation]] = []
        self.searched, self.lasted = 0.0, 0.0

    def send(self, found: Explanation) -> None:
        """Take the explanation of this step; go on to the next step, or stop."""
        self.searched += found.answer.search_seconds
        self.lasted = found.answer.seconds  # of all steps until now
        best = self.found
        if best is None or best.answer.point is None or _replaces(found, best):
            self.reached, self.found = self.step.rung, found
            best = found
        self.tried.append((self.step.rung, found))
        if best.answer.point is not None and self.lasted >= self.limit:
            self.goes_on = False
            return
        try:
            self.step = self._ladder.send(found)
        except StopIteration:
            self.goes_on = False

    def share(self, seconds: float) -> float:
        """How much of the time that is left is for the step."""
        return seconds if self.step.final else self.step.share * seconds

    @property
    def explanation(self) -> Explanation:
        """The final explanation, which says what gave way."""
        found = self.found
        assert found is not None
        if len(self.tried) == 1:
            return found
        answer = replace(found.answer, seconds=self.lasted, search_seconds=self.searched)
        if self.reached != self.first and answer.point is not None:
            answer = replace(answer, advice=f"{self._gave_way(len(found.changed))} {answer.advice}".strip())
            if excluded := self._excluded:
                found = with_fewer_ruled_out(replace(found, answer=answer), excluded[max(excluded)])
                answer = found.answer
        return replace(found, answer=answer)

    @property
    def _excluded(self) -> dict[int, Explanation]:
        """What was found of numbers of changes that are proven not to be enough, with all else as in the end.

        The paper's methods prove nothing: they have their solver's word.
        """
        same = self.reached._replace(at_most=None)
        return {
            rung.at_most: found
            for rung, found in self.tried
            if rung.at_most is not None
            and rung._replace(at_most=None) == same
            and found.status is Status.INFEASIBLE
            and found.method == "certified"
        }

    def _gave_way(self, changed: int) -> str:
        """What gave way for an answer with so many changes, in sentences."""
        found = []
        if self.reached.at_most != self.first.at_most:
            found.append(self._number_of_changes(changed))
        if self.reached.plausible != self.first.plausible:
            found.append("No answer as typical of the target as the preset asks for was found.")
        if self.reached.budget != self.first.budget:
            found.append(
                "No answer that may be carried out slightly wrong was found: do exactly what it says."
            )
        return " ".join(found)

    def _number_of_changes(self, needed: int) -> str:
        """How many features have to change; proven where one less was excluded."""
        excluded, first = self._excluded, self.first.at_most
        if not excluded:
            return f"No answer with at most {first} changed features was found; this one changes {needed}."
        few, least = f"{first} changed features are not enough", max(excluded) + 1
        if needed == least:
            return f"{few}: {needed} are needed, and this is proven."
        more = f"at least {least} are needed, and " if least > cast(int, first) + 1 else ""
        return f"{few}; {more}{needed} are the fewest that were found in time."
