"""Points within ways of the eithers: local searches in smaller spaces, way after way."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from itertools import islice, product

import numpy as np
from numpy.typing import NDArray

from surefoot.problem.narrowing import Taken, narrowed
from surefoot.search.certified.local import Step
from surefoot.search.certified.points import Points
from surefoot.search.certified.space import Space

Array = NDArray[np.float64]

MOST_LOOKS = 12  # local searches that one start may lead to
MOST_COMBINATIONS = 10_000  # of ways that are ranked


class Ways:
    """Looks for points that take a way of every either.

    A local search that ends where an either has no way goes on in the nearest of its ways, and where that
    leads nowhere in the next.

    Parameters
    ----------
    points : Points
    """

    def __init__(self, points: Points) -> None:
        self.points, self.whole = points, points.space
        self.optima: dict[frozenset[tuple[int, int]], tuple[Step, list[int]]] = {}
        self._spaces: dict[frozenset[tuple[int, int]], Space | None] = {}
        self._looks = 0

    def seen(self, taken: Taken) -> bool:
        """Whether a search began in these ways."""
        return frozenset(taken.items()) in self._spaces

    def space(self, taken: Taken) -> Space | None:
        """The space of some ways; None where they exclude each other."""
        key = frozenset(taken.items())
        if key not in self._spaces:
            self._spaces[key] = within(self.whole, taken)
        return self._spaces[key]

    def nearest(self, u: Array) -> list[Taken]:
        """Combinations of a way for each either, those that a point misses least first."""
        along, reach = self.whole.directions @ u, self.whole.reach
        ranked = islice(
            product(*(fork.nearest(along, reach) for fork in self.whole.forks)), MOST_COMBINATIONS
        )
        found = sorted(ranked, key=lambda ways: sum(max(missed, 0.0) for missed, _ in ways))
        return [{e: way for e, (_, way) in enumerate(ways)} for ways in found[:MOST_LOOKS]]

    def start(self, taken: Taken, otherwise: Array) -> Array:
        """A local optimum of most of some ways, where one is known."""
        known = [key for key in self.optima if key and key <= taken.items()]
        return self.optima[max(known, key=len)][0].u if known else otherwise

    def improve_from(self, u: Array, active: list[int], taken: Taken) -> None:
        """Local searches from u within some ways; with sets of values, u says which values to try."""
        self._looks = 0
        if not (self.whole.sets and self.seen(taken)):
            self._look(u, active, taken)
        else:
            self._settle(self.whole, u, active, taken)

    def _look(self, u: Array, active: list[int], taken: Taken) -> bool:
        """Search within some ways; whether that came as near as can be expected from here."""
        space = self.space(taken)
        self._looks += 1
        if space is None or self._looks > MOST_LOOKS:
            return False
        end = self._descend(space, u, active, taken)
        if end is None:
            return False
        along = self.whole.directions @ end
        open_ = self._missed(space, end)
        if not open_:
            return self._settle(space, end, active, taken)
        e = max(open_, key=lambda e: self.whole.forks[e].nearest(along, self.whole.reach)[0])
        ways = self.whole.forks[e].nearest(along, self.whole.reach)
        return any(self._look(end, active, {**taken, e: way}) for _, way in ways)

    def _descend(self, space: Space, u: Array, active: list[int], taken: Taken) -> Array | None:
        """The end of a local search in which sets of values do not count."""
        points = self.points
        known = points.local_optimum
        with points.inside(space):
            end = points.descend(space.into_domain(u), active)
        if taken:
            points.local_optimum = known  # what refutes the whole at once belongs to the whole
        if points.last is not None:
            self.optima[frozenset(taken.items())] = points.last
        return end

    def _missed(self, space: Space, u: Array) -> list[int]:
        """The eithers of which a point takes no way, to the last digit."""
        assert self.whole.problem is not None
        x = space.x(u)
        eithers = self.whole.problem.domain.eithers
        return [e for e, either in enumerate(eithers) if not either.contains(x)]

    def _settle(self, space: Space, u: Array, active: list[int], taken: Taken) -> bool:
        """Put features on allowed values, within the ways that u takes; whether there is a point as near."""
        points = self.points
        if space.sets and points.dives:
            along = space.directions @ u
            ways = {f.number: f.nearest(along, space.reach)[0][1] for f in space.forks}
            inner = self.space({**ways, **taken})
            if inner is not None:
                with points.inside(inner):
                    points.dive(u, active)
        return points.distance <= (1 + points.gap) * space.size(u)


def within(space: Space, taken: Taken, kept: Collection[int] = ()) -> Space | None:
    """The part of a space in which some ways are taken and some features are kept; None if it is empty.

    Its directions are the same; its problem has the narrower domain, into which its points are put to the
    last digit.
    """
    problem = space.problem
    assert problem is not None
    domain = narrowed(problem.domain, problem.factual, taken, kept)
    if domain is None:
        return None
    n, low, high = space.n, space.low.copy(), space.high.copy()
    low[n : 2 * n], high[n : 2 * n] = domain.low - problem.factual, domain.high - problem.factual
    for e, way in taken.items():
        for k, least, most in space.forks[e].ways[way]:
            if k >= 2 * n:
                low[k], high[k] = max(low[k], least), min(high[k], most)
    if (low > high).any():
        return None
    return replace(space, low=low, high=high, problem=replace(problem, domain=domain))
