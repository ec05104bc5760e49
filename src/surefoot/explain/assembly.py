"""From an answer to an Explanation: labels, probabilities, and whether the change hangs together."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefoot.explain.explanation import Context, Explanation, Refusal
from surefoot.model.classifier import ConditionalGaussianNetworkClassifier
from surefoot.proof.worst_case import coverage
from surefoot.waist.answer import Answer
from surefoot.waist.problem import RobustProblem
from surefoot.waist.question import Odds, Question

Array = NDArray[np.float64]


def class_position(clf: ConditionalGaussianNetworkClassifier, factual: Array) -> int:
    """Position of the class that is predicted for a checked row."""
    return int(np.argmax(_joint(clf, factual[None])[0]))


def assembled(
    clf: ConditionalGaussianNetworkClassifier,
    question: Question,
    problem: RobustProblem,
    answer: Answer,
    **known: Any,
) -> Explanation:
    """The Explanation of one row.

    Parameters
    ----------
    clf : ConditionalGaussianNetworkClassifier
    question : Question
    problem : RobustProblem
        Of that question.
    answer : Answer
    **known
        What only the explainer knows: ``tol``, ``method``, ``row``.
    """
    point = answer.point
    distance = np.inf if point is None else problem.distance(point)
    answer = replace(answer, lower_bound=min(answer.lower_bound, distance))
    violation = _violation(question, problem, answer)
    context = Context(
        distance=distance,
        gap=_gap(distance, answer.lower_bound),
        coverage=0.0 if point is None else coverage(answer.radius, problem.budget),
        violation=violation,
        early_stop=bool(distance > 0 and 0 < violation <= known["tol"]),
        unit=problem.unit,
        parents=clf.dag_.parents,
        **_probabilities(clf, question, answer),
        **_expectations(clf, question, point),
        **known,
    )
    return Explanation(question, answer, context)


def refused(
    clf: ConditionalGaussianNetworkClassifier, refusal: Refusal, answer: Answer, **known: Any
) -> Explanation:
    """The Explanation of a row about which nothing can be asked; what it holds is kept."""
    context = Context(
        factual_probability=np.nan,
        probability=np.nan,
        worst_probability=np.nan,
        distance=np.inf,
        gap=np.inf,
        coverage=0.0,
        violation=np.inf,
        early_stop=False,
        decision=None,
        unit=np.full(len(refusal.features), np.nan),
        parents=clf.dag_.parents,
        **known,
    )
    return Explanation(refusal, answer, context)


def _violation(question: Question, problem: RobustProblem, answer: Answer) -> float:
    """How much the worst perturbation known violates the odds; infinite where none is known."""
    if answer.point is None or answer.worst is None:
        return np.inf
    there = answer.point + answer.worst
    asked = zip(question.requirements, problem.requirements, strict=True)
    return max(-float(posed.margin(there)) for kind, posed in asked if isinstance(kind, Odds))


def _probabilities(
    clf: ConditionalGaussianNetworkClassifier, question: Question, answer: Answer
) -> dict[str, Any]:
    """P(target) at the factual, the counterfactual and its worst perturbation; and the decision."""
    point, labels = answer.point, clf.classes_.tolist()
    worst = None if point is None or answer.worst is None else point + answer.worst
    judged = _judged(clf, [question.factual, point, worst], labels.index(question.target))
    (_, before), (decision, after), (_, at_worst) = judged
    return {
        "factual_probability": before,
        "probability": after,
        "worst_probability": at_worst,
        "decision": None if point is None else labels[decision],
    }


def _expectations(
    clf: ConditionalGaussianNetworkClassifier, question: Question, point: Array | None
) -> dict[str, Any]:
    """What the network expects given the parents, before in the factual class and after in the target."""
    labels = clf.classes_.tolist()
    here, t = labels.index(question.factual_class), labels.index(question.target)
    found: dict[str, Any] = {"expected_before": clf.networks_[here].expected(question.factual)}
    if point is not None:
        there = clf.networks_[t]
        expected = there.expected(point)
        found["expected_after"] = expected
        found["z_score"] = (point - expected) / np.sqrt(there.variances)
        density, table = there.log_density(point[None])[0], clf.density_percentiles_[t]
        found["density_percentile"] = float(np.interp(density, table, np.arange(101.0)))
    return found


def _judged(
    clf: ConditionalGaussianNetworkClassifier, points: list[Array | None], t: int
) -> list[tuple[int, float]]:
    """The position of the class predicted at each point, and P(target); not a number where there is none."""
    joint = _joint(clf, np.array([p for p in points if p is not None]))
    best = joint.argmax(axis=1)
    # Not SciPy's logsumexp, which does the same: it took a fifth of the time of assembling an explanation.
    weights = np.exp(joint - joint[np.arange(len(joint)), best, None])
    judged = list(zip(best.tolist(), (weights[:, t] / weights.sum(axis=1)).tolist(), strict=True))
    return [(-1, np.nan) if p is None else judged.pop(0) for p in points]


def _joint(clf: ConditionalGaussianNetworkClassifier, points: Array) -> Array:
    """Joint log densities of checked rows; scikit-learn's validation costs more than the search."""
    densities = [network.log_density(points) for network in clf.networks_]
    return np.asarray(np.column_stack(densities) + np.log(clf.class_prior_))


def _gap(distance: float, bound: float) -> float:
    if distance == 0:
        return 0.0
    return (distance - bound) / distance if distance < np.inf else np.inf
