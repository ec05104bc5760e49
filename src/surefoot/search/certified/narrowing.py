"""The part of a space that belongs to a choice: kept features, and ends that cuts gave to others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from surefoot.search.certified.changes import Choice, End
from surefoot.search.certified.space import Space, decided_rows

Array = NDArray[np.float64]


def ends(space: Space, choices: Sequence[Choice]) -> tuple[Array, Array]:
    """Between which ends the features' changes lie in each choice, as rows."""
    own, N = slice(space.n, 2 * space.n), len(choices)
    low, high = np.tile(space.low[own], (N, 1)), np.tile(space.high[own], (N, 1))
    kept = np.ones((N, space.n), dtype=bool)
    sizes = [len(choice.free) for choice in choices]
    kept[np.repeat(np.arange(N), sizes), [j for choice in choices for j in choice.free]] = False
    kept[:, sorted(choices[0].limits.fixed) if choices else []] = False
    low[kept] = high[kept] = 0.0
    for i, choice in enumerate(choices):
        for end, cuts in ((low, choice.low), (high, choice.high)):
            for j, cut in cuts.items():
                end[i, j] = cut.at
    return low, high


def narrowed(space: Space, choice: Choice, pins: Mapping[int, float] | None = None) -> Space:
    """The space of a choice, with some further features at given changes.

    Its directions are the same; its problem has the narrower domain, into which its points are put to the
    last digit. Sets of values are left where there is something to choose.
    """
    problem = space.problem
    assert problem is not None
    domain, today = problem.domain, problem.factual
    low, high = domain.low.copy(), domain.high.copy()
    for j in choice.kept:
        low[j] = high[j] = today[j]
    held = {j: End(at, -1) for j, at in (pins or {}).items()}
    for end, cuts in ((low, {**choice.low, **held}), (high, {**choice.high, **held})):
        for j, cut in cuts.items():
            end[j] = _value(space, j, cut.at)
    n = space.n
    ends_ = space.low.copy(), space.high.copy()
    ends_[0][n : 2 * n], ends_[1][n : 2 * n] = low - today, high - today
    sets = {k: entry for k, entry in space.sets.items() if low[k - n] < high[k - n]}
    inner = replace(problem, domain=replace(domain, low=low, high=high))
    decided = 2 * n + decided_rows(inner.domain)
    ends_[0][decided], ends_[1][decided] = -np.inf, np.inf
    found = replace(space, low=ends_[0], high=ends_[1], sets=sets, problem=inner)
    found.__dict__["farthest"] = space.farthest  # what checkers ask is about the whole domain
    return found


def _value(space: Space, j: int, change: float) -> float:
    """The value of a feature after a change: an allowed one to the last digit."""
    assert space.problem is not None
    value = float(space.problem.factual[j]) + change
    return space.sets[space.n + j][0].nearest(value) if space.n + j in space.sets else value
