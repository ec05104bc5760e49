"""A feasible point from a few rays: crude, but it bounds the search and costs microseconds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from surefoot.problem.geometry import dual_exponent, lp_norm
from surefoot.problem.quadratic import Quadratic
from surefoot.problem.robust_problem import Requirement, RobustProblem
from surefoot.search.paper.landing import landed

Array = NDArray[np.float64]

STRETCHES = (1.0, 1.02, 1.1, 1.3, 1.7, 2.5, 4.0)  # of a step, where values are rounded and may fall short
TRIES = 3  # to land a point in rows


def ray_point(
    problem: RobustProblem,
    scenarios: Sequence[Array],
    towards: Array | None = None,
    above: float = 0.0,
) -> Array | None:
    """A point of the domain whose margin is at least ``above`` in all scenarios, the closest on some rays.

    Along a ray every scenario is a quadratic in one variable, so the first step that satisfies all of
    them lies just behind a root. ``towards`` adds the ray through a point that nearly does.
    """
    rays = _Rays.of(problem, scenarios, above)
    best, nearest = None, np.inf
    for direction in rays.directions(towards):
        step = rays.first_step(direction)
        if step is None or (problem.domain.is_box and step >= nearest):
            continue
        for point, distance in rays.points(direction, step, nearest):
            best, nearest = point, distance
    return best


def reach(problem: RobustProblem, distance: float) -> Array:
    """Largest absolute change of each feature within ``distance`` of the factual."""
    return distance * np.asarray(lp_norm(problem.metric.inverse, dual_exponent(problem.norm)))


def seen_by(requirement: Requirement, scenarios: Sequence[Array]) -> Array:
    """The scenarios that a requirement must meet: all of them, or the point itself."""
    stack = np.array(scenarios)
    return stack if requirement.robust else np.zeros((1, stack.shape[1]))


def peak(G: Quadratic) -> Array:
    """Stationary point of a quadratic around its centre, where the target class is often most likely."""
    return np.asarray(np.linalg.lstsq(-2 * G.matrix, G.vector, rcond=1e-10)[0])


@dataclass(frozen=True, eq=False)
class _Rays:
    """Rays from the factual; from the point of the domain next to it where there are rows or sets."""

    problem: RobustProblem
    scenarios: Sequence[Array]
    above: float
    start: Array
    lines: list[tuple[Array, Array, Array]]  # each requirement's matrix, and slopes and values at the start
    linear: tuple[Array, Array, Array]

    @classmethod
    def of(cls, problem: RobustProblem, scenarios: Sequence[Array], above: float) -> _Rays:
        """The rays of a problem that withstand the scenarios by so much."""
        domain = problem.domain
        start = problem.factual if domain.is_box else landed(problem, problem.factual)
        lines = []
        for requirement in problem.requirements:
            H, points = requirement.margin, start + seen_by(requirement, scenarios)
            lines.append((H.matrix, H.gradient(points), np.asarray(H(points)) - above))
        return cls(problem, scenarios, above, start, lines, domain.linear())

    def directions(self, towards: Array | None) -> Iterator[Array]:
        """Directions in feature space of unit distance that respect one-sided ends and rows at the start."""
        problem, start = self.problem, self.start
        B = problem.metric.inverse
        at_low, at_high = start <= problem.domain.low, start >= problem.domain.high
        for ray in self._aims(towards):
            step = B @ ray
            step = np.where((at_low & (step < 0)) | (at_high & (step > 0)), 0.0, step)
            step = self._along_rows(step)
            size = lp_norm(problem.whitening.apply(step), problem.norm)
            if size > 1e-12:
                yield step / size

    def _aims(self, towards: Array | None) -> list[Array]:
        problem, n = self.problem, self.problem.n_features
        rays = [*np.eye(n), *-np.eye(n)]
        if towards is not None:
            rays.append(problem.whitening.apply(towards - self.start))
        for H in problem.margins:
            G = H.in_coordinates(problem.metric.inverse, self.start)
            rays += [G.vector, np.sign(G.vector), peak(G)]
            eigenvectors = np.linalg.eigh(G.matrix)[1].T
            rays += [*eigenvectors, *-eigenvectors, *np.sign(eigenvectors), *-np.sign(eigenvectors)]
            rays += [np.sign(peak(G))]
        return rays

    def _along_rows(self, step: Array) -> Array:
        """The step without what would leave a row at whose end the start lies."""
        left = []
        for row in self.problem.domain.rows:
            a, slack = row.coefficients, 1e-9 * float(np.abs(row.coefficients) @ np.abs(self.start))
            value, slope = float(a @ self.start), float(a @ step)
            if (slope > 0 and value >= row.high - slack) or (slope < 0 and value <= row.low + slack):
                left.append(a)
        if not left:
            return step
        unit = np.where(step == 0, 0.0, self.problem.unit)
        excess = np.linalg.lstsq(np.array(left) * unit, np.array(left) @ step, rcond=1e-12)[0]
        return np.asarray(step - unit * excess)

    def first_step(self, direction: Array) -> float | None:
        """The shortest step along a direction that satisfies all scenarios; None if there is none."""
        coefficients = [
            np.vstack([np.full(len(values), direction @ Q @ direction), slopes @ direction, values])
            for Q, slopes, values in self.lines
        ]
        a, b, c = np.hstack(coefficients)
        steps = np.append(_roots(a, b, c) * (1 + 1e-9) + 1e-12, 0.0)
        steps = np.sort(steps[(steps >= 0) & (steps <= self._longest_step(direction))])
        values = a[:, None] * steps**2 + b[:, None] * steps + c[:, None]
        good = np.flatnonzero((values >= 0).all(axis=0))
        return float(steps[good[0]]) if good.size else None

    def _longest_step(self, direction: Array) -> float:
        """How far the ends and rows of the domain let a ray go."""
        A, low, high = self.linear
        slopes, values = A @ direction, A @ self.start
        slopes = np.where(np.abs(slopes) <= 1e-12 * (np.abs(A) @ np.abs(direction)), 0.0, slopes)
        with np.errstate(divide="ignore", invalid="ignore"):
            room = np.where(slopes > 0, (high - values) / slopes, (low - values) / slopes)
        return float(np.min(np.where(slopes == 0, np.inf, room)))

    def points(self, direction: Array, step: float, nearest: float) -> Iterator[tuple[Array, float]]:
        """Points of the domain on a ray, each nearer than what was known, and their distances."""
        domain = self.problem.domain
        if not domain.is_box:
            yield from self._allowed_points(step * direction, nearest)
            return
        point = self.start + step * direction
        # A factual outside its bounds is not always led back inside.
        if domain.within(point, 1e-9 * np.maximum(1.0, np.abs(point))):
            yield point, step

    def _allowed_points(self, change: Array, nearest: float) -> Iterator[tuple[Array, float]]:
        """The first of a ray's points that still satisfies everything on allowed values and in all rows."""
        problem = self.problem
        for stretch in STRETCHES if change.any() else (1.0,):
            aim = self.start + stretch * change
            if problem.distance(problem.domain.clipped(aim)) > 1.2 * nearest:
                return
            point = landed(problem, aim, TRIES)
            distance, worst = problem.distance(point), problem.violation(point, self.scenarios).max()
            if distance < nearest and worst <= -self.above and problem.domain.contains(point):
                yield point, distance
                return


def _roots(a: Array, b: Array, c: Array) -> Array:
    """All real roots of a s^2 + b s + c, without cancellation."""
    with np.errstate(divide="ignore", invalid="ignore"):
        root = np.sqrt(b * b - 4 * a * c)
        half = -0.5 * (b + np.copysign(root, b))
        roots = np.concatenate([half / a, c / half, -c / b])
    return np.asarray(roots[np.isfinite(roots)])
