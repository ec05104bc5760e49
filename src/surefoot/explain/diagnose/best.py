"""Where there is no answer: the highest probability of the target that any allowed change reaches.

What decides is the requirement: the probability against the strongest rival, under each model that the
question names, at the worst error within the budget. An answer with the threshold tau exists exactly where
that reaches tau; so proofs that none exists with a lower threshold bound it from above.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, NamedTuple

from scipy.special import expit

from surefoot.explain.diagnose.bisection import NONE, answered, narrowed
from surefoot.problem.answer import Answer
from surefoot.problem.family import Family
from surefoot.problem.question import Question
from surefoot.problem.requirements import Odds
from surefoot.problem.robust_problem import RobustProblem, log_odds
from surefoot.search.certified import is_robust
from surefoot.search.certified.clock import Clock
from surefoot.search.certified.robustness import worst_margins

# Two probabilities are close enough if they differ by less than CLOSE and by less than CLOSE_RATIO of the
# larger one, or by less than FINEST. Ten times smaller, and the searches take all of their time.
CLOSE, CLOSE_RATIO, FINEST = 0.002, 0.02, 1e-4
# Below it nobody asks how high a probability is. Ten times higher, and rare classes would have no answer.
LOWEST = 1e-6
# Seconds for all searches together. Ten times longer, and a batch with many rows without an answer would
# take that much longer; the interval is rarely narrower for it.
PATIENCE = 3.0
ONE_PROOF = 0.2  # seconds for the proof that a point withstands more than it was asked for
INSIDE = 1e-3  # log-odds below the worst error found, at which that proof is tried


class Best(NamedTuple):
    """The highest probability that any allowed change reaches.

    Parameters
    ----------
    probability : float
        Some allowed change reaches it.
    bound : float
        None reaches this one; proven.
    proof : dict or None
        What proves the bound, as a certificate has it; None where the certificate of the question does.
    """

    probability: float
    bound: float
    proof: dict[str, Any] | None


def best_probability(problem: Family, question: Question, time_limit: float) -> Best | None:
    """The highest probability of the target that any allowed change reaches, with a proven bound.

    None where constraints, or other requirements, leave nothing at any probability; where time ran out; where
    the model has no probabilities; and where the threshold is one among all classes: lowering the odds
    against each rival would not lower that.

    Parameters
    ----------
    problem : Family
        Of the question.
    question : Question
        Proved to be without an answer.
    time_limit : float
        Seconds.
    """
    if math.isnan(question.threshold) or not question.threshold > LOWEST or question.against == "all":
        return None
    search = _Search(problem, question, Clock(min(PATIENCE, time_limit)))
    first = search.reaches(log_odds(LOWEST))
    if first is None:
        return None
    if first == NONE:
        return search.tiny()
    asked = min(r.threshold for r in search.odds.values())
    low, _ = narrowed(first, log_odds(asked), search.reaches, _is_close)
    bound, proof = search.proven if search.proven is not None else (asked, None)
    return Best(min(_probability(low), bound), bound, proof)


class _Search:
    """Searches with other thresholds; log-odds in, log-odds out."""

    def __init__(self, problem: Family, question: Question, clock: Clock) -> None:
        self.problem, self.question, self.clock = problem, question, clock
        self.odds = {
            r: asked
            for r, asked in enumerate(question.requirements)
            if isinstance(asked, Odds) and asked.target == question.target
        }
        self.proven: tuple[float, dict[str, Any] | None] | None = None

    def reaches(self, value: float) -> float | None:
        """Log-odds of at least the value that some allowed change reaches; ``NONE`` where none does."""
        threshold = _probability(value)
        posed = self._posed(threshold)
        question, here = self.question, posed.here
        allowed = question.allows(question.factual, question.state) and here.margin(here.factual) >= 0
        if allowed and is_robust(here, here.factual, min(ONE_PROOF, max(self.clock.left, 0.0))):
            return max(value, self._reached(here, here.factual, threshold))
        found = answered(posed, self.clock)
        if found is None:
            return None
        if found.point is None:
            self.proven = threshold, _proof(found)
            return NONE
        at = posed.problem(found.state or None)
        return max(value, self._reached(at, found.point, threshold))

    def tiny(self) -> Best | None:
        """Where nothing reaches ``LOWEST``: today's probability, if today's row is allowed; else nothing."""
        question, here = self.question, self.problem.here
        others = len(question.requirements) - len(self.odds)
        if others or not question.allows(question.factual, question.state):
            return None
        assert self.proven is not None
        margins = worst_margins(here, here.factual)
        today = min(float(margins[r]) / here.requirements[r].heat + o.needed for r, o in self.odds.items())
        return Best(min(_probability(today), self.proven[0]), *self.proven)

    def _posed(self, threshold: float) -> Family:
        """The problem with another threshold."""
        changed = list(self.problem.requirements)
        for r, asked in self.odds.items():
            lower = changed[r].heat * (asked.needed - log_odds(threshold))
            changed[r] = replace(changed[r], margin=changed[r].margin.shifted(lower))
        return replace(self.problem, requirements=tuple(changed), _bases={})

    def _reached(self, at: RobustProblem, point: Any, threshold: float) -> float:
        """The log-odds that a point of a problem keeps at its worst error, or the threshold's."""
        margins = worst_margins(at, point)
        more = min(float(margins[r]) / at.requirements[r].heat for r in self.odds)
        if at.ball.is_point:
            return log_odds(threshold) + more
        value = log_odds(threshold) + more - INSIDE
        if more <= INSIDE or not self._withstands(at, point, more - INSIDE):
            return log_odds(threshold)
        return value

    def _withstands(self, at: RobustProblem, point: Any, more: float) -> bool:
        """Whether it is proven that a point keeps so much more than the threshold on the whole ball."""
        changed = [
            replace(r, margin=r.margin + -more * r.heat) if k in self.odds else r
            for k, r in enumerate(at.requirements)
        ]
        higher = replace(at, requirements=tuple(changed))
        return is_robust(higher, point, min(ONE_PROOF, max(self.clock.left, 0.0)))


def _proof(found: Answer) -> dict[str, Any] | None:
    """What proves that there is nothing: of the numbers, or of all states of the categories."""
    assert found.certificate is not None
    kept: dict[str, Any] | None = found.certificate["states"] or found.certificate["bound"]
    return kept


def _probability(value: float) -> float:
    return float(expit(value))  # whatever its size


def _is_close(low: float, high: float) -> bool:
    """Whether two log-odds are close enough."""
    a, b = _probability(low), _probability(high)
    return b - a <= max(min(CLOSE, CLOSE_RATIO * b), FINEST)
