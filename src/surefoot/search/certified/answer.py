"""The certified search from a problem to an answer: a point, its bound, and what proves both."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefoot.search.certified.adversary import Harm, deepened, harm
from surefoot.search.certified.proof import proof_of
from surefoot.search.certified.search import Round, Search
from surefoot.search.certified.space import Space, around, whitened
from surefoot.status import Status
from surefoot.threads import one_blas_thread
from surefoot.waist.problem import RobustProblem

Array = NDArray[np.float64]

GRACE = 0.5  # seconds that the proof of robustness may take after the time limit


@dataclass(frozen=True, eq=False)
class CertifiedAnswer:
    """What the certified search found.

    Parameters
    ----------
    status : Status
    point : array or None
        The counterfactual.
    lower_bound : float
        Proven: no robust counterfactual is closer (infinite where none exists).
    radius : float
        Proven: every perturbation within it keeps the decision; at least the budget unless time was up.
    perturbation : array
        The worst one found within the budget.
    rounds : tuple of Round
        One per improvement of point or bound.
    certificate : dict
        Plain numbers that prove bound and radius; `surefoot.verify` reads them.
    """

    status: Status
    point: Array | None
    lower_bound: float
    radius: float
    perturbation: Array | None
    rounds: tuple[Round, ...]
    certificate: dict[str, Any]


def certified_search(problem: RobustProblem, gap: float, time_limit: float) -> CertifiedAnswer:
    """Nearest robust counterfactual with a proof, up to a relative gap.

    Parameters
    ----------
    problem : RobustProblem
    gap : float
        Relative, between the distance of the point and the proven bound.
    time_limit : float
        Seconds; then the best point and bound so far are returned.
    """
    with one_blas_thread():
        return _searched(problem, gap, time_limit)


def _searched(problem: RobustProblem, gap: float, time_limit: float) -> CertifiedAnswer:
    deadline = time.perf_counter() + time_limit
    search = Search(whitened(problem), gap, deadline)
    robust = None
    try:
        status = search.run()
        while search.best is not None:
            robust = _prove_robust(
                problem, search.space, search.best, max(deadline, time.perf_counter() + GRACE)
            )
            if robust.breach is None:
                break
            search.discard(*robust.breach)
            robust = None
            status = search.run()
    except KeyboardInterrupt:
        status = Status.INTERRUPTED if search.best is not None else Status.INTERRUPTED.without_point
    return _answer(problem, search, status, robust)


@dataclass(frozen=True, eq=False)
class _Robustness:
    """Proven radius with one proof per rival, or the perturbation that breaks the point."""

    radius: float
    proofs: list[dict[str, Any] | None]
    worst: Array | None
    breach: tuple[int, Array] | None = None


def _prove_robust(problem: RobustProblem, space: Space, u: Array, deadline: float) -> _Robustness:
    """Exact adversaries prove themselves (corners, spheres); otherwise a tree refutes every breach."""
    found = [harm(H, u, space.norm, space.budget) for H in space.margins]
    worst = min(found, key=lambda h: h.value)
    proofs: list[dict[str, Any] | None] = []
    for r, (H, h) in enumerate(zip(space.margins, found, strict=True)):
        if h.value < 0:
            return _Robustness(0.0, [], h.perturbation, (r, h.perturbation))
        if h.exact:
            proofs.append(None)
            continue
        breaker = Search(around(problem, H, u), 1e-6, deadline)
        if not breaker.refute(space.budget):
            if breaker.best is None:
                return _Robustness(0.0, [], worst.perturbation)
            v = deepened(H, u, breaker.best, space.norm, space.budget)
            return _Robustness(0.0, [], v, (r, v))
        proofs.append(proof_of(breaker))
    return _Robustness(_radius(space, u, found), proofs, worst.perturbation)


def _radius(space: Space, u: Array, found: list[Harm]) -> float:
    """The budget, or more where the point has room to spare and exact adversaries say so."""
    low = space.budget
    slack = min(h.value for h in found)
    if not all(h.exact for h in found) or slack < 0.05 * space.slope * max(low, 1e-3 * space.size(u)):
        return low

    def holds(radius: float) -> bool:
        wider = [harm(H, u, space.norm, radius) for H in space.margins]
        return all(h.exact and h.value >= 0 for h in wider)

    high = max(2 * low, 1e-3 * space.size(u), 1e-6)
    while holds(high) and high < 1e6:
        low, high = high, 2 * high
    for _ in range(40):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low


def _answer(
    problem: RobustProblem, search: Search, status: Status, robust: _Robustness | None
) -> CertifiedAnswer:
    u = search.best
    search.record(search.bound)
    bound = np.inf if status is Status.INFEASIBLE else search.bound
    certificate: dict[str, Any] = {"bound": proof_of(search)}
    if u is None or robust is None:
        point = None if u is None else search.space.x(u)
        return CertifiedAnswer(status, point, bound, 0.0, None, tuple(search.rounds), certificate)
    if robust.radius < problem.budget and status is Status.OPTIMAL:
        status = Status.TIME_LIMIT  # the bound is proven, the robustness is not
    certificate["robustness"] = {"radius": robust.radius, "rivals": robust.proofs}
    perturbation = None if robust.worst is None else problem.whitening.inverse @ robust.worst
    return CertifiedAnswer(
        status, search.space.x(u), bound, robust.radius, perturbation, tuple(search.rounds), certificate
    )
