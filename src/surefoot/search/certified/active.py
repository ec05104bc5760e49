"""Many requirements, of which few decide: each enters the search when a point violates it.

A bound that is proved with some of the requirements holds with all of them, and a point that satisfies all
is what was asked for. So refits of a model, fifty or more, cost little more than those that matter.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefoot.problem.answer import Answer
from surefoot.problem.geometry import dual_exponent, lp_norm
from surefoot.problem.robust_problem import RobustProblem
from surefoot.search.certified.clock import Clock, OutOfTimeError
from surefoot.search.certified.robustness import worst_margins
from surefoot.search.certified.search import Search
from surefoot.search.certified.space import whitened

Array = NDArray[np.float64]
Searched = Callable[[RobustProblem, float, Clock, RobustProblem], Answer]

FIRST = 2  # requirements to begin with
AT_ONCE = 2  # of those that a point violates, the worst enter


def searched_by_need(
    problem: RobustProblem, gap: float, clock: Clock, judged: RobustProblem, searched: Searched
) -> tuple[Answer, list[int], Array | None]:
    """The answer with those requirements alone that turned out to matter, which these are, and a point.

    The point satisfies all requirements and is a good one, but nothing is proved about it: it is for those
    who run out of time.
    """
    active, spare = _that_matter(problem, gap, clock, judged)
    while True:
        found = searched(only(problem, active), gap, clock, only(judged, active))
        if found.point is None or clock.left <= 0:
            return found, active, spare
        violated = _violated(judged, found.point, active)
        if not violated:
            return found, active, spare
        active = sorted({*active, *violated[:AT_ONCE]})


def _that_matter(
    problem: RobustProblem, gap: float, clock: Clock, judged: RobustProblem
) -> tuple[list[int], Array | None]:
    """Requirements that near points violate until one satisfies all; and that point."""
    active = _hardest(problem)
    try:
        while True:
            point = _near_point(only(problem, active), gap, clock)
            if point is None:
                return active, None
            violated = _violated(judged, point, active)
            if not violated:
                return active, point
            active = sorted({*active, *violated[:AT_ONCE]})
    except OutOfTimeError:
        return active, None


def _near_point(problem: RobustProblem, gap: float, clock: Clock) -> Array | None:
    """A good point by local steps alone."""
    search = Search(whitened(problem), gap, clock)
    scenarios = search.root.scenarios
    search.points.improve_from(search.points.begin(scenarios, search.level, None), scenarios)
    return search.points.point


def only(problem: RobustProblem, active: Sequence[int]) -> RobustProblem:
    """The problem with some of its requirements."""
    return replace(problem, requirements=tuple(problem.requirements[r] for r in active))


def renumbered(proof: dict[str, Any] | None, active: Sequence[int]) -> dict[str, Any] | None:
    """A proof about some of the requirements with the numbers that they have among all."""
    return None if proof is None else {**proof, "tree": _renumbered(proof["tree"], active)}


def _renumbered(node: Any, active: Sequence[int]) -> Any:
    if not isinstance(node, dict):
        return node
    if "requirements" in node:
        return {**node, "requirements": [[w, active[r], s] for w, r, s in node["requirements"]]}
    return {
        key: [_renumbered(child, active) for child in value] if key == "ways" else _renumbered(value, active)
        for key, value in node.items()
    }


def _hardest(problem: RobustProblem) -> list[int]:
    """The requirements that lack most at the factual, measured by the way to where they hold."""
    B, dual = problem.metric.inverse, dual_exponent(problem.norm)
    slopes = [float(lp_norm(g.gradient(problem.factual) @ B, dual)) for g in problem.margins]
    lacking = [
        -float(g(problem.factual)) / max(slope, 1e-300)
        for g, slope in zip(problem.margins, slopes, strict=True)
    ]
    return sorted(int(r) for r in np.argsort(lacking)[-FIRST:])


def _violated(problem: RobustProblem, point: Array, active: Sequence[int]) -> list[int]:
    """The requirements that do not hold around a point, the worst first."""
    margins = worst_margins(problem, point)
    return [int(r) for r in np.argsort(margins) if margins[r] < 0 and int(r) not in active]
