"""Re-check an explanation from its numbers alone; nothing here is shared with the searches.

What an explanation claims about its point is recomputed from the classifier. What it claims about all
points, that none is nearer and that no small perturbation undoes it, is proved by its certificate: a tree
that cuts space into pieces, and for each piece a weighted sum of constraints that is negative everywhere.
Checking one piece is one Cholesky factorisation.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from surefoot.exceptions import DataError, ProblemError
from surefoot.explain.explanation import Explanation
from surefoot.model.adoption import adopt
from surefoot.model.classifier import ConditionalGaussianNetworkClassifier
from surefoot.proof.tree import Setting, proven_bound
from surefoot.proof.worst_case import coverage, holds_everywhere, lowest_in_ball
from surefoot.status import Status
from surefoot.waist.problem import Domain, RobustProblem

Array = NDArray[np.float64]

ROUNDING = 1e-9
UNREADABLE = (
    KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError, RecursionError,
)  # fmt: skip


@dataclass(frozen=True)
class Claim:
    """One claim of an explanation, whether it holds, and why (not)."""

    name: str
    holds: bool
    reason: str


@dataclass(frozen=True)
class Verification:
    """All claims of an explanation; true as a whole if every one holds.

    Parameters
    ----------
    claims : tuple of Claim
    """

    claims: tuple[Claim, ...]

    @property
    def ok(self) -> bool:
        """Whether every claim holds."""
        return all(claim.holds for claim in self.claims)

    @property
    def failures(self) -> tuple[Claim, ...]:
        """The claims that do not hold."""
        return tuple(claim for claim in self.claims if not claim.holds)

    def __bool__(self) -> bool:
        return self.ok

    def __str__(self) -> str:
        lines = [f"{'holds' if c.holds else 'FAILS':<6} {c.name}: {c.reason}" for c in self.claims]
        return "\n".join(lines)


def verify(explanation: Explanation, classifier: Any) -> Verification:
    """Check every claim of an explanation against the classifier it is about.

    Parameters
    ----------
    explanation : Explanation
    classifier : ConditionalGaussianNetworkClassifier, or what `adopt` takes
        The one that was explained.

    Examples
    --------
    >>> from surefoot import ConditionalGaussianNetworkClassifier, CounterfactualExplainer, datasets, verify
    >>> bank = datasets.load_banknote()
    >>> clf = ConditionalGaussianNetworkClassifier().fit(bank.X, bank.y)
    >>> explanation = CounterfactualExplainer(clf, budget=0.05).explain(bank.X.iloc[0], target=1)
    >>> verify(explanation, clf).ok
    True
    """
    classifier = adopt(classifier)
    if explanation.status is Status.REFUSED:
        return Verification((Claim("nothing", True, "the question was refused, so nothing is claimed"),))
    same = Claim("model", explanation.model == classifier.fingerprint_, "the fingerprints are compared")
    try:
        problem = _problem(explanation, classifier)
    except (ProblemError, DataError, KeyError, ValueError) as error:
        return Verification((same, Claim("question", False, f"it does not fit the model: {error}")))
    checks: list[Callable[[Explanation, RobustProblem], Claim]]
    if explanation.counterfactual is None:
        checks = [_lower_bound]
    else:
        checks = [_distance, _domain, _validity, _robustness, _lower_bound, _gap]
    claims = [same, _probabilities(explanation, classifier, problem)]
    return Verification((*claims, *(_checked(check, explanation, problem) for check in checks)))


def _checked(
    check: Callable[[Explanation, RobustProblem], Claim], e: Explanation, problem: RobustProblem
) -> Claim:
    """The claim, which fails if the certificate cannot even be read."""
    try:
        return check(e, problem)
    except UNREADABLE as error:
        reason = f"the certificate cannot be read ({type(error).__name__}: {error})"
        return Claim(check.__name__.strip("_").replace("_", " "), False, reason)


def _problem(e: Explanation, classifier: ConditionalGaussianNetworkClassifier) -> RobustProblem:
    """The question, put together again from the explanation and the classifier."""
    names = list(classifier.feature_labels_)
    given = [part for part in (e.factual, e.counterfactual, e.low, e.high, e.unit) if part is not None]
    if any(list(part.index) != names for part in given):
        raise ProblemError("the features have other names")
    labels = classifier.classes_.tolist()
    if e.target not in labels or e.factual_class not in labels:
        raise ProblemError(f"the classes are {labels}")
    return RobustProblem(
        factual=e.factual.to_numpy(),
        margins=tuple(classifier.decision_quadratic(e.target, c) for c in labels if c != e.target),
        whitening=classifier.networks_[labels.index(e.factual_class)].whitening(e.whitening),
        norm=e.norm,
        budget=e.budget,
        threshold=e.threshold,
        domain=Domain(e.low.to_numpy(), e.high.to_numpy()),
    )


def _probabilities(
    e: Explanation, classifier: ConditionalGaussianNetworkClassifier, problem: RobustProblem
) -> Claim:
    """Predicted class of the factual, and P(target) at the factual and at the counterfactual."""
    points = [problem.factual] + ([] if e.counterfactual is None else [e.counterfactual.to_numpy()])
    table: Any = np.array(points)
    if hasattr(classifier, "feature_names_in_"):
        table = pd.DataFrame(table, columns=classifier.feature_names_in_)
    shares = classifier.predict_proba(table)[:, classifier.classes_.tolist().index(e.target)]
    predicted = classifier.predict(table[:1]).tolist()[0]
    claimed = [e.factual_probability, e.probability][: len(points)]
    right = bool(np.allclose(shares, claimed, rtol=1e-9, atol=1e-9)) and predicted == e.factual_class
    found = ", ".join(f"{share:.6g}" for share in shares)
    return Claim("probabilities", right, f"the classifier says {predicted!r} and P(target) = {found}")


def _distance(e: Explanation, problem: RobustProblem) -> Claim:
    assert e.counterfactual is not None
    found = problem.distance(e.counterfactual.to_numpy())
    right = abs(found - e.distance) <= ROUNDING * max(1.0, found)
    return Claim("distance", right, f"claimed {e.distance:.9g}, found {found:.9g}")


def _domain(e: Explanation, problem: RobustProblem) -> Claim:
    assert e.counterfactual is not None
    point = e.counterfactual.to_numpy()
    slack = 0.0 if e.method == "certified" else ROUNDING * problem.unit
    inside = bool(((point >= e.low - slack) & (point <= e.high + slack)).all())
    outside = ~((point >= e.low) & (point <= e.high))
    out = [str(name) for name in e.low.index[outside]]
    return Claim("domain", inside, "every feature is inside" if inside else f"outside: {', '.join(out)}")


def _validity(e: Explanation, problem: RobustProblem) -> Claim:
    assert e.counterfactual is not None
    margin = problem.margin(e.counterfactual.to_numpy())
    exact = e.method == "certified" or e.status is Status.ALREADY_TARGET
    slack = 0.0 if exact else 1e-3  # the paper's epsilon
    return Claim("validity", margin >= -slack, f"log-odds above the threshold by {margin:.6g}")


def _robustness(e: Explanation, problem: RobustProblem) -> Claim:
    """No perturbation within the certified radius undoes the decision, and the coverage follows from it."""
    assert e.counterfactual is not None
    follows = abs(coverage(e.certified_radius, e.budget) - e.coverage) <= ROUNDING
    if not (e.certified_radius >= 0 and follows):
        return Claim("robustness", False, f"coverage {e.coverage:g} does not follow from the radius")
    proofs = (e.certificate or {}).get("robustness")
    if e.method == "certified" and e.status is Status.OPTIMAL and proofs is None:
        return Claim("robustness", False, "the certificate says nothing about it")
    if e.method == "certified" and e.status is Status.OPTIMAL and not e.violation <= 0:
        return Claim("robustness", False, f"violated by {e.violation:g}")
    if proofs is not None and not e.certified_radius <= proofs["radius"] * (1 + ROUNDING):
        return Claim("robustness", False, f"radius {e.certified_radius:g}, proven {proofs['radius']:g}")
    excess = _worst(e, problem, (proofs or {}).get("rivals") or [None] * len(problem.margins))
    worst = "nothing undoes it" if excess <= 0 else f"a perturbation may violate it by {excess:.3g}"
    return Claim("robustness", excess <= 0, f"within {e.certified_radius:g} {worst}")


def _worst(e: Explanation, problem: RobustProblem, proofs: list[Any]) -> float:
    """Proven upper bound of the violation within the certified radius."""
    assert e.counterfactual is not None
    point, radius = e.counterfactual.to_numpy(), e.certified_radius
    if radius == 0:
        return -problem.margin(point)
    if radius == np.inf:
        return 0.0 if holds_everywhere(problem) else np.inf
    found = -np.inf
    for r, (H, proof) in enumerate(zip(problem.margins, proofs, strict=True)):
        if proof is not None and proven_bound(_breaches(problem, point, r), proof) >= radius * (1 - 1e-12):
            continue
        around = H.in_coordinates(problem.whitening.inverse, point)
        _, _, lowest = lowest_in_ball(around, problem.norm, radius)
        found = max(found, problem.log_odds_threshold - lowest)
    return found if found > ROUNDING * _scale(problem, point) else 0.0


def _scale(problem: RobustProblem, point: Array) -> float:
    """Size of the numbers that are added up to a log-odds, for judging rounding."""
    return max(
        1.0, *(abs(H.constant) + float(np.abs(H.vector * (point - H.center)).sum()) for H in problem.margins)
    )


def _breaches(problem: RobustProblem, point: Array, rival: int) -> Setting:
    """Perturbations of the point that undo its margin over one rival."""
    B, n = problem.whitening.inverse, problem.n_features
    H = problem.margins[rival].in_coordinates(B, point) - problem.log_odds_threshold
    return Setting((-H,), B, problem.norm, 0.0, np.full(n, -np.inf), np.full(n, np.inf))


def _lower_bound(e: Explanation, problem: RobustProblem) -> Claim:
    """The lower bound, or that there is no counterfactual at all."""
    name = "lower bound"
    if e.lower_bound == 0 and e.status is not Status.INFEASIBLE:
        return Claim(name, True, "zero needs no proof")
    proof = (e.certificate or {}).get("bound")
    if proof is None:
        return Claim(name, False, "no certificate comes with it: the bound is the solver's word")
    B = problem.whitening.inverse
    tau = problem.log_odds_threshold
    setting = Setting(
        tuple(H.in_coordinates(B, problem.factual) - tau for H in problem.margins),
        B,
        problem.norm,
        float(problem.budget),
        problem.domain.low - problem.factual,
        problem.domain.high - problem.factual,
    )
    proven = proven_bound(setting, proof)
    if e.status is Status.INFEASIBLE:
        nowhere = proven >= setting.farthest() and e.lower_bound == np.inf
        reason = f"nothing within {proven:.9g}, the domain reaches to {setting.farthest():.9g}"
        return Claim(name, nowhere, reason)
    holds = 0 <= e.lower_bound <= proven * (1 + 1e-12)
    return Claim(name, holds, f"claimed {e.lower_bound:.9g}, proven {proven:.9g}")


def _gap(e: Explanation, problem: RobustProblem) -> Claim:
    del problem
    expected = 0.0 if e.distance == 0 else (e.distance - e.lower_bound) / e.distance
    right = abs(expected - e.gap) <= ROUNDING and e.lower_bound <= e.distance * (1 + ROUNDING)
    return Claim("gap", right, f"claimed {e.gap:.3g}, follows {expected:.3g}")
