"""From what a search found to an Explanation: labels, probabilities, and whether it hangs together."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from surefoot.explain.explanation import Explanation, IterationRecord
from surefoot.explain.methods import Found
from surefoot.explain.rows import as_numbers
from surefoot.model.classifier import ConditionalGaussianNetworkClassifier
from surefoot.proof.worst_case import coverage
from surefoot.search.paper.cutting_set import Iteration
from surefoot.waist.problem import RobustProblem

Array = NDArray[np.float64]


def class_position(clf: ConditionalGaussianNetworkClassifier, factual: Array) -> int:
    """Position of the class that is predicted for a checked row."""
    return int(np.argmax(_joint(clf, factual[None])[0]))


def assembled(
    clf: ConditionalGaussianNetworkClassifier,
    problem: RobustProblem,
    target: Any,
    found: Found,
    **rest: Any,
) -> Explanation:
    """The Explanation of one row; ``rest`` is what only the explainer knows (method, tol, names, row).

    Parameters
    ----------
    clf : ConditionalGaussianNetworkClassifier
    problem : RobustProblem
    target : label
    found : Found
    **rest
        ``names`` (an Index), ``tol``, ``method``, ``model``, ``row``.
    """
    names, tol = rest.pop("names"), rest.pop("tol")
    point, worst = found.point, found.worst
    worst_point = None if point is None or worst is None else point + worst.perturbation
    distance = np.inf if point is None else problem.distance(point)
    bound = min(found.lower_bound, distance)
    violation = np.inf if worst is None else worst.violation
    labels = clf.classes_.tolist()
    t = labels.index(target)
    (c, before), (end, after), (_, at_worst) = _judged(clf, [problem.factual, point, worst_point], t)
    decision = None if point is None else labels[end]
    return Explanation(
        status=found.status,
        message=found.status.sentence + (f" ({found.message})" if found.message else ""),
        factual=pd.Series(problem.factual, names),
        counterfactual=None if point is None else pd.Series(point, names),
        factual_class=labels[c],
        target=target,
        decision=decision,
        factual_probability=before,
        probability=after,
        worst_probability=at_worst,
        distance=distance,
        lower_bound=bound,
        gap=_gap(distance, bound),
        budget=float(problem.budget),
        norm=problem.norm,
        whitening=problem.whitening.kind,
        threshold=float(problem.threshold),
        certified_radius=found.radius,
        coverage=0.0 if point is None else coverage(found.radius, problem.budget),
        violation=violation,
        early_stop=bool(distance > 0 and 0 < violation <= tol),
        unit=pd.Series(problem.unit, names),
        low=pd.Series(problem.domain.low, names),
        high=pd.Series(problem.domain.high, names),
        iterations=tuple(_record(r) for r in found.rounds),
        seconds=found.seconds,
        backend=found.backend,
        certificate=found.certificate,
        **_in_context(clf, problem.factual, point, (c, t), names),
        **rest,
    )


def refused(
    clf: ConditionalGaussianNetworkClassifier, values: list[Any], found: Found, **known: Any
) -> Explanation:
    """The Explanation of a row about which nothing can be asked; what it holds is kept."""
    names = known.pop("names")
    numbers = as_numbers(values)
    unknown = pd.Series(np.full(len(names), np.nan), names)
    return Explanation(
        status=found.status,
        message=f"{found.status.sentence} ({found.message})",
        factual=pd.Series(numbers, names),
        counterfactual=None,
        factual_class=None,
        factual_probability=np.nan,
        probability=np.nan,
        worst_probability=np.nan,
        distance=np.inf,
        lower_bound=0.0,
        gap=np.inf,
        certified_radius=0.0,
        coverage=0.0,
        violation=np.inf,
        early_stop=False,
        unit=unknown,
        low=unknown,
        high=unknown,
        iterations=(),
        seconds=found.seconds,
        backend=found.backend,
        parents=clf.dag_.parents,
        **known,
    )


def _in_context(
    clf: ConditionalGaussianNetworkClassifier,
    factual: Array,
    point: Array | None,
    classes: tuple[int, int],
    names: pd.Index,
) -> dict[str, Any]:
    """What the network expects given the parents, before in the factual class and after in the target."""
    here, there = (clf.networks_[c] for c in classes)
    context: dict[str, Any] = {
        "parents": clf.dag_.parents,
        "expected_before": pd.Series(here.expected(factual), names),
    }
    if point is not None:
        expected = there.expected(point)
        context["expected_after"] = pd.Series(expected, names)
        context["z_score"] = pd.Series((point - expected) / np.sqrt(there.variances), names)
        density, table = there.log_density(point[None])[0], clf.density_percentiles_[classes[1]]
        context["density_percentile"] = float(np.interp(density, table, np.arange(101.0)))
    return context


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


def _record(r: Iteration) -> IterationRecord:
    perturbation = None if r.perturbation is None else tuple(float(v) for v in r.perturbation)
    return IterationRecord(
        r.distance, r.lower_bound, r.violation, perturbation, r.master_seconds, r.adversary_seconds
    )
