"""The paper's Algorithm 1: candidates from a master, perturbations from an adversary, in turn."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from surefoot.problem.answer import Round
from surefoot.problem.robust_problem import RobustProblem
from surefoot.search.paper.formulations.formulation import AdversaryAnswer, Formulation, MasterAnswer
from surefoot.status import Status

Array = NDArray[np.float64]

STUCK = 10  # equal rounds after which another one will not help; segments that shrink need some


def cutting_set(
    problem: RobustProblem,
    formulation: Formulation,
    *,
    tol: float = 1e-3,
    time_limit: float = 3600.0,
    max_iterations: int = 200,
) -> Iterator[Round]:
    """Alternate master and adversary until the violation is at most ``tol``.

    Yields a record after every round; the last one carries the status. Whoever stops listening, or
    interrupts, still holds the rounds that were finished.
    """
    deadline = time.perf_counter() + time_limit
    scenarios: list[Array] = [np.zeros(problem.n_features)]
    previous: Array | None = None
    bound, same = 0.0, 1
    for number in range(1, max_iterations + 1):
        master = formulation.master(scenarios, previous, number, deadline - time.perf_counter())
        bound = max(bound, master.lower_bound)
        candidate = master.candidate
        if candidate is None or master.status is not Status.OPTIMAL:
            # Out of time or interrupted: whoever waits wants the point now, not another solve.
            yield _round(problem, master, None, bound, master.status)
            return
        adversary = formulation.adversary(candidate, deadline - time.perf_counter())
        repeated = previous is not None and np.array_equal(candidate, previous)
        same = same + 1 if repeated and np.array_equal(adversary.perturbation, scenarios[-1]) else 1
        if same == STUCK and adversary.violation > tol:
            message = "the solver's point violates a scenario that it was given by more than the tolerance"
            adversary = replace(adversary, status=Status.FAILED, message=message)
        status = _status(adversary.status, adversary.violation <= tol)
        if status is None and number == max_iterations:
            status = Status.ITERATION_LIMIT
        yield _round(problem, master, adversary, bound, status)
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


def _round(
    problem: RobustProblem,
    master: MasterAnswer,
    adversary: AdversaryAnswer | None,
    bound: float,
    status: Status | None,
) -> Round:
    words = [f"master: {master.message}"] if adversary else [master.message]
    return Round(
        distance=np.inf if master.candidate is None else problem.distance(master.candidate),
        lower_bound=bound,
        violation=adversary.violation if adversary else np.inf,
        perturbation=adversary.perturbation if adversary else None,
        master_seconds=master.seconds,
        adversary_seconds=adversary.seconds if adversary else 0.0,
        candidate=master.candidate,
        status=status,
        message="; ".join([*words, f"adversary: {adversary.message}"] if adversary else words),
    )
