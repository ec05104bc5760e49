"""The paper's Algorithm 1: candidates from a master, perturbations from an adversary, in turn."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from surefoot.search.paper.formulations.formulation import Formulation
from surefoot.status import Status
from surefoot.waist.problem import RobustProblem

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Iteration:
    """One round of the cutting-set procedure.

    Parameters
    ----------
    number : int
        Counted from 1.
    status : Status or None
        Why the search ends with this round; None when it goes on.
    candidate : array or None
        The master's point.
    distance : float
        Its distance from the factual.
    lower_bound : float
        Proven by the master: no point that satisfies the scenarios is closer.
    perturbation : array or None
        What the adversary found.
    violation : float
        The paper's phi, evaluated on the true H.
    master_seconds, adversary_seconds : float
    message : str
    """

    number: int
    status: Status | None
    candidate: Array | None
    distance: float
    lower_bound: float
    perturbation: Array | None
    violation: float
    master_seconds: float
    adversary_seconds: float
    message: str = ""


def cutting_set(
    problem: RobustProblem,
    formulation: Formulation,
    *,
    tol: float = 1e-3,
    time_limit: float = 3600.0,
    max_iterations: int = 200,
) -> Iterator[Iteration]:
    """Alternate master and adversary until the violation is at most ``tol``.

    Yields a record after every round; the last one carries the status. Whoever stops listening, or
    interrupts, still holds the rounds that were finished.
    """
    deadline = time.perf_counter() + time_limit
    scenarios: list[Array] = [np.zeros(problem.n_features)]
    previous: Array | None = None
    bound = 0.0
    for number in range(1, max_iterations + 1):
        master = formulation.master(scenarios, previous, number, deadline - time.perf_counter())
        bound = max(bound, master.lower_bound)
        candidate = master.candidate
        if candidate is None or master.status is not Status.OPTIMAL:
            # Out of time or interrupted: whoever waits wants the point now, not another solve.
            distance = np.inf if candidate is None else problem.distance(candidate)
            yield Iteration(
                number,
                master.status,
                candidate,
                distance,
                bound,
                None,
                np.inf,
                master.seconds,
                0.0,
                master.message,
            )
            return
        adversary = formulation.adversary(candidate, deadline - time.perf_counter())
        status = _status(adversary.status, adversary.violation <= tol)
        if status is None and number == max_iterations:
            status = Status.ITERATION_LIMIT
        yield Iteration(
            number,
            status,
            candidate,
            problem.distance(candidate),
            bound,
            adversary.perturbation,
            adversary.violation,
            master.seconds,
            adversary.seconds,
            f"master: {master.message}; adversary: {adversary.message}",
        )
        if status is not None:
            return
        scenarios.append(adversary.perturbation)
        previous = candidate


def _status(adversary: Status, robust: bool) -> Status | None:
    """None while the search must go on."""
    if adversary.is_cut_short:
        return adversary.with_point
    if adversary is not Status.OPTIMAL:
        return Status.FAILED
    return Status.OPTIMAL if robust else None
