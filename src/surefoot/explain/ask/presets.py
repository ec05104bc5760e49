"""Presets: named bundles of defaults, and how those of a preset give way before there is no answer."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import replace
from enum import Enum
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from surefoot.exceptions import ProblemError
from surefoot.explain.result.explanation import Explanation
from surefoot.formats import number, suggestion
from surefoot.status import Status

PRACTICAL, PAPER = "practical", "paper"


class Unset(Enum):
    """What an argument has that was not given: the preset decides."""

    PRESET = "as the preset says"

    def __repr__(self) -> str:
        return "PRESET"


PRESET = Unset.PRESET

# What each preset means. `keep_personal`: features that a person cannot change stay (`Actions.proposed`).
PRESETS: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {
        PRACTICAL: MappingProxyType(
            {
                "budget": 0.05,
                "norm": 1,
                "whitening": "dag",
                "distance": "mahalanobis",
                "bounds": "data",
                "noise_on": "changeable",
                "whole": None,
                "plausible": None,
                "at_most": 3,
                "printable": True,
                "gap": 0.01,
                "keep_personal": True,
            }
        ),
        PAPER: MappingProxyType(
            {
                "budget": 0.0,
                "norm": np.inf,
                "whitening": "cholesky",
                "distance": "mahalanobis",
                "bounds": None,
                "noise_on": "all",
                "whole": False,
                "plausible": None,
                "at_most": None,
                "printable": False,
                "gap": None,
                "keep_personal": False,
            }
        ),
    }
)


def settled(preset: Any, given: Mapping[str, Any]) -> dict[str, Any]:
    """The preset's values where nothing was given, and what was given in all other places.

    Examples
    --------
    >>> settled("paper", {"norm": 2, "budget": PRESET})["norm"], settled("paper", {"budget": PRESET})["budget"]
    (2, 0.0)
    """
    if not isinstance(preset, str) or preset not in PRESETS:
        hint = suggestion(str(preset), PRESETS)
        raise ProblemError(f"preset must be 'practical' or 'paper', not {preset!r}{hint}")
    return {**PRESETS[preset], **{name: value for name, value in given.items() if value is not PRESET}}


class Rung(NamedTuple):
    """The settings that may come from a preset and give way.

    Parameters
    ----------
    at_most : int or None
    plausible : Any
    budget : Any
    final : bool
        Whether nothing gives way after this: only then it is worth saying why there is no answer.
    """

    at_most: int | None
    plausible: Any
    budget: Any
    final: bool = True


Ladder = Generator[Rung, Explanation, None]


def ladder(first: Rung, free: frozenset[str]) -> Ladder:
    """The settings to ask with, one after the other, each sent the explanation that came of it.

    The number of changes gives way first: without a limit there is an answer or there is none, and if there
    is, the smallest number of changes that is enough is found. Then plausibility, then the budget. The last
    explanation counts.

    Parameters
    ----------
    first : Rung
    free : frozenset of str
        The names of settings that come from the preset.
    """
    stages = [first]
    for name, nothing in (("plausible", None), ("budget", 0.0)):
        if name in free and getattr(first, name) != nothing:
            stages.append(stages[-1]._replace(**{name: nothing}))
    for stage in stages:
        last = stage is stages[-1]
        if "at_most" not in free or stage.at_most is None:
            found = yield stage._replace(final=last)
            if not _gives_way(found):
                return
            continue
        found = yield stage._replace(final=False)
        if not _gives_way(found):
            return
        found = yield stage._replace(at_most=None, final=last)
        if found.answer.point is not None:
            yield from _fewest(stage, len(found.changes()))
            return
        if not _gives_way(found):
            return


def _fewest(stage: Rung, enough: int) -> Ladder:
    """Ever more changes until there is an answer; with ``enough`` there is one."""
    assert stage.at_most is not None
    for most in range(stage.at_most + 1, enough + 1):
        found = yield stage._replace(at_most=most, final=False)
        if found.answer.point is not None:
            return


def _gives_way(found: Explanation) -> bool:
    return found.status is Status.INFEASIBLE


class Climb:
    """One row on its way down the ladder: what to ask next, and the explanation that counts in the end.

    Parameters
    ----------
    first : Rung
    free : frozenset of str
        The names of settings that come from the preset.
    """

    def __init__(self, first: Rung, free: frozenset[str]) -> None:
        self.first, self._ladder = first, ladder(first, free)
        self.rung, self.goes_on = next(self._ladder), True
        self.found: Explanation | None = None
        self.reached, self.searched = self.rung, 0.0

    def send(self, found: Explanation) -> None:
        """Take the explanation that came of the rung; go on to the next, or stop."""
        self.searched += found.answer.search_seconds
        if found.answer.point is not None or self.found is None or self.found.answer.point is None:
            self.found, self.reached = found, self.rung
        try:
            self.rung = self._ladder.send(found)
        except StopIteration:
            self.goes_on = False

    @property
    def explanation(self) -> Explanation:
        """The one that counts, with what gave way."""
        assert self.found is not None
        answer, words = self.found.answer, gave_way_words(self.first, self.reached)
        if words and answer.point is not None:
            answer = replace(answer, advice=f"{words} {answer.advice}".strip())
        return replace(self.found, answer=replace(answer, search_seconds=self.searched))


def gave_way_words(first: Rung, last: Rung) -> str:
    """What of the preset gave way, in sentences; "" where nothing did."""
    found = []
    if last.at_most != first.at_most and last.at_most is not None:
        found.append(
            f"{first.at_most} changed features are not enough; {last.at_most} are the fewest that are."
        )
    if last.plausible != first.plausible:
        found.append("No answer is as typical of the target as the preset asks for; this one need not be.")
    if last.budget != first.budget:
        found.append(
            f"No answer withstands an error of {number(first.budget)} standard deviations, as the preset asks "
            "for: this one has to be carried out exactly."
        )
    return " ".join(found)
