"""Why a search stopped: every member carries a sentence."""

from __future__ import annotations

from enum import StrEnum


class Status(StrEnum):
    """Reason for stopping; ``status.sentence`` says it in words."""

    OPTIMAL = "optimal"
    ALREADY_TARGET = "already_target"
    TIME_LIMIT = "time_limit"
    TIME_LIMIT_NO_POINT = "time_limit_no_point"
    ITERATION_LIMIT = "iteration_limit"
    ITERATION_LIMIT_NO_POINT = "iteration_limit_no_point"
    INTERRUPTED = "interrupted"
    INTERRUPTED_NO_POINT = "interrupted_no_point"
    PRECISION_LIMIT = "precision_limit"
    PRECISION_LIMIT_NO_POINT = "precision_limit_no_point"
    BOUND_LIMIT = "bound_limit"
    BOUND_LIMIT_NO_POINT = "bound_limit_no_point"
    INFEASIBLE = "infeasible"
    UNDECIDED = "undecided"
    UNBOUNDED = "unbounded"
    INVALID = "invalid"
    FAILED = "failed"

    @property
    def sentence(self) -> str:
        """What happened, for a person."""
        return _SENTENCES[self]

    @property
    def has_point(self) -> bool:
        """Whether a search that ended like this holds a point."""
        return self in _WITH_POINT

    @property
    def without_point(self) -> Status:
        """What it is called when a search that was cut short holds no point."""
        return _CUT_SHORT.get(self, self)

    @property
    def with_point(self) -> Status:
        """What it is called when a search that was cut short does hold one."""
        return _WITHOUT_POINT.get(self, self)

    @property
    def is_cut_short(self) -> bool:
        """Whether the search stopped before it was finished, with or without a point."""
        return self.with_point in _CUT_SHORT


_SENTENCES = {
    Status.OPTIMAL: "The search finished: no smaller change is enough, up to the stated gap.",
    Status.ALREADY_TARGET: "The row already has the target.",
    Status.TIME_LIMIT: "The time limit was reached; this is the best counterfactual found by then.",
    Status.TIME_LIMIT_NO_POINT: "The time limit was reached before any counterfactual was found.",
    Status.ITERATION_LIMIT: "The iteration limit was reached before the counterfactual was robust.",
    Status.ITERATION_LIMIT_NO_POINT: "The iteration limit was reached before any counterfactual was found.",
    Status.INTERRUPTED: "The search was interrupted; this is the best counterfactual found by then.",
    Status.INTERRUPTED_NO_POINT: "The search was interrupted before any counterfactual was found.",
    Status.PRECISION_LIMIT: (
        "Rounding errors stopped the search; this is the best counterfactual found by then."
    ),
    Status.PRECISION_LIMIT_NO_POINT: (
        "Rounding errors stopped the search before any counterfactual was found."
    ),
    Status.BOUND_LIMIT: "The bound cannot be raised any further; this is the best counterfactual found.",
    Status.BOUND_LIMIT_NO_POINT: "The bound cannot be raised any further; no counterfactual was found.",
    Status.INFEASIBLE: "No allowed change leads to the target.",
    Status.UNDECIDED: "No counterfactual was found, but it was not proved that there is none.",
    Status.UNBOUNDED: "The solver reported an unbounded problem: the model or the domain is degenerate.",
    Status.INVALID: "The request is invalid.",
    Status.FAILED: "The search failed; its result cannot be used.",
}

_WITH_POINT = {
    Status.OPTIMAL,
    Status.ALREADY_TARGET,
    Status.TIME_LIMIT,
    Status.ITERATION_LIMIT,
    Status.INTERRUPTED,
    Status.PRECISION_LIMIT,
    Status.BOUND_LIMIT,
}

_CUT_SHORT = {
    Status.TIME_LIMIT: Status.TIME_LIMIT_NO_POINT,
    Status.ITERATION_LIMIT: Status.ITERATION_LIMIT_NO_POINT,
    Status.INTERRUPTED: Status.INTERRUPTED_NO_POINT,
    Status.PRECISION_LIMIT: Status.PRECISION_LIMIT_NO_POINT,
    Status.BOUND_LIMIT: Status.BOUND_LIMIT_NO_POINT,
}
_WITHOUT_POINT = {empty: status for status, empty in _CUT_SHORT.items()}
