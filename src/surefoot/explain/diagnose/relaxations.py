"""Constraints one by one: what each of them says, and what is left when it is given up."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from surefoot.days import date_text
from surefoot.explain.constraints.constraint_set import ConstraintSet
from surefoot.explain.constraints.feature import LIFTED, WORDS
from surefoot.formats import exact

UNSAID = "unsaid"  # that a number stays whole, as it was in training
OVER_SEVERAL = "over several"
LOW, HIGH = "low bound", "high bound"
ORDER = (UNSAID, *reversed(WORDS), LOW, HIGH, "may", OVER_SEVERAL)  # those that say least come first


@dataclass(frozen=True)
class Relaxation:
    """One constraint that can be given up."""

    kind: str  # a field of an action, a bound, or what is over several features
    place: int  # which of them: the position of the feature, or among the constraints over several
    words: str  # what it says
    lifted: str  # what becomes possible without it
    proposed: bool = True  # whether a message may propose it: not where it guards a protected feature


def relaxations(constraints: ConstraintSet, factual: ArrayLike = ()) -> tuple[Relaxation, ...]:
    """All constraints that can be given up; those that say most come last.

    An end that today's numbers are beyond allows them, and its words say so.

    Examples
    --------
    >>> [one.words for one in relaxations(ConstraintSet.by_name(["age", "income"], immutable=["age"]))]
    ["'age' must not change"]
    """
    today = dict(zip(constraints.numbers, np.asarray(factual, dtype=float).tolist(), strict=False))
    every = range(len(constraints.names))
    features = [one for i in every for one in _of_feature(constraints, i, today.get(i, math.nan))]
    several = sorted(_over_several(constraints), key=lambda one: constraints.over_several[one.place].says)
    return tuple(sorted([*features, *_of_bounds(constraints), *several], key=lambda p: ORDER.index(p.kind)))


def _of_feature(constraints: ConstraintSet, i: int, today: float) -> Iterator[Relaxation]:
    """What the action of a feature says, and that it stays whole where nothing was said about that."""
    action, name = constraints.actions[i], repr(constraints.names[i])
    is_date = i in constraints.dates
    if i in constraints.numbers and action.whole is None and constraints.is_whole(i) and not is_date:
        words = f"{name} stays a whole number, as in the training data"
        yield Relaxation(UNSAID, i, words, f"{name} may take any number", not action.protected)
    for field, words, lifted in action.relaxations(today, is_date):
        yield Relaxation(field, i, f"{name} {words}", f"{name} may {lifted}", not action.protected)


def _of_bounds(constraints: ConstraintSet) -> Iterator[Relaxation]:
    for i in constraints.bounded():
        name, open_to = repr(constraints.names[i]), not constraints.actions[i].protected
        form = date_text if i in constraints.dates else exact
        low, high = form(float(constraints.low[i])), form(float(constraints.high[i]))
        if constraints.low[i] > -math.inf:
            yield Relaxation(LOW, i, f"{name} is at least {low}", f"{name} may be less than {low}", open_to)
        if constraints.high[i] < math.inf:
            yield Relaxation(HIGH, i, f"{name} is at most {high}", f"{name} may be more than {high}", open_to)


def _over_several(constraints: ConstraintSet) -> Iterator[Relaxation]:
    for k, one in enumerate(constraints.over_several):
        guarded = any(constraints.actions[i].protected for i in one.concerned(constraints))
        yield Relaxation(OVER_SEVERAL, k, *one.relaxation(), not guarded)


def without(constraints: ConstraintSet, given_up: Iterable[Relaxation]) -> ConstraintSet:
    """The constraints that are left."""
    places: dict[str, list[int]] = {kind: [] for kind in ORDER}
    for one in given_up:
        places[one.kind].append(one.place)
    actions, low, high = list(constraints.actions), constraints.low.copy(), constraints.high.copy()
    low[places[LOW]], high[places[HIGH]] = -math.inf, math.inf
    for kind in (UNSAID, "may", *WORDS):
        field = "whole" if kind == UNSAID else kind
        lifted: Any = LIFTED.get(field)
        for i in places[kind]:
            actions[i] = replace(actions[i], **{field: lifted})
    left = [one for k, one in enumerate(constraints.over_several) if k not in places[OVER_SEVERAL]]
    return replace(constraints, actions=tuple(actions), low=low, high=high, over_several=tuple(left))


def beyond_training(constraints: ConstraintSet) -> ConstraintSet:
    """The same constraints without the range seen in training.

    Protected features keep theirs, and so do those whose steps have no other ends.
    """
    low, high = constraints.low.copy(), constraints.high.copy()
    actions = {i: constraints.actions[i] for i in constraints.observed}
    needed = {i for i, one in actions.items() if one.step is not None and one.most is None}
    free = [i for i, one in actions.items() if not one.protected and i not in needed]
    low[free], high[free] = -np.inf, np.inf
    left = tuple(i for i in constraints.observed if i not in free)
    return replace(constraints, low=low, high=high, observed=left)
