"""From an answer to an Explanation: labels, probabilities, and what the network expects."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefoot.explain.answer.bound_recheck import LARGE, is_doubtful, rechecked
from surefoot.explain.ask.refits import RefittedModels
from surefoot.explain.ask.refusal import Refusal
from surefoot.explain.result.cautions import model_cautions
from surefoot.explain.result.context import Context
from surefoot.explain.result.explanation import Explanation
from surefoot.explain.result.model_share import ModelShare, fresh_share, kept_share
from surefoot.explain.result.words import miss_words
from surefoot.formats import share
from surefoot.model.classifier import ConditionalGaussianNetworkClassifier as Classifier
from surefoot.model.content import classifier_content
from surefoot.model.decision import numbers_network
from surefoot.model.mixed import MixedNetwork, Network, log_density
from surefoot.problem.answer import Answer
from surefoot.problem.family import Family
from surefoot.problem.mixed import State
from surefoot.problem.question import Question
from surefoot.problem.requirements import Decision, Odds
from surefoot.proof.worst_case import coverage, worst_perturbation
from surefoot.status import Status

Array = NDArray[np.float64]

MISSED = 1e-8  # of the scores: what rounding does to them is less
LOWEST = Fraction(-(10**300))  # scores so far below the highest are as good as this


def assembled(
    clf: Classifier,
    question: Question,
    problem: Family,
    answer: Answer,
    *,
    refits: RefittedModels | None,
    seconds: float,
    made_by: Any,
    **known: Any,
) -> Explanation:
    """The Explanation of one row, from its question, the problem that this poses, and the answer to it.

    Fresh ``refits`` judge the answer. ``seconds`` are left for all of it; ``made_by`` and ``known`` are what
    only the explainer knows: itself, ``tol``, ``method``, ``row``.
    """
    if not answer.state and question.state:
        answer = replace(answer, state=question.state)
    scores = _scores_of(clf, question, answer)
    is_certified = known["method"] == "certified"
    if is_certified:  # points of the other methods may miss by a tolerance
        answer = _judged_by_scores(clf, question, answer, scores)
    distance = np.inf if answer.point is None else _distance(question, problem, answer)
    if answer.lower_bound > distance:
        answer = replace(answer, lower_bound=distance)
    others, unit = () if refits is None else refits.searched, problem.metric.unit
    if is_certified and is_doubtful(question, answer, distance, unit, scores):
        answer = rechecked(question, answer, (clf, *others), seconds)
    if distance not in (0, np.inf):
        safe = _made_safe(clf, question, problem, seconds)
        answer = replace(answer, advice=safe) if safe else answer
    violation = _violation(clf, question, answer, scores)
    context = Context(
        distance=distance,
        gap=_gap(distance, answer.lower_bound),
        coverage=0.0 if answer.point is None else coverage(answer.radius, question.budget_radius),
        violation=violation,
        early_stop=bool(distance > 0 and 0 < violation <= known["tol"]),
        unit=unit,
        parents=clf.dag_.parents,
        **_probabilities(clf, question, answer, scores),
        **_expectations(clf, question, answer),
        cautions=model_cautions(clf, question, answer, unit),
        model_share=_model_share(clf, refits, question, answer),
        **known,
    )
    return Explanation(question, answer, context, others, made_by=made_by)


def _scores_of(clf: Classifier, question: Question, answer: Answer) -> Array:
    """The classes' scores at the factual and, where there is a point, there and at its worst perturbation.

    All of them on the scales, on which perturbations are added.
    """
    points, states = [question.warped(question.factual)], [question.state]
    if answer.point is not None:
        there = question.warped(answer.point)
        points += [there, there if answer.worst is None else there + answer.worst]
        states += [answer.state] * 2
    return _precise_scores(clf, points, states)


def _precise_scores(clf: Classifier, points: list[Array], states: list[State]) -> Array:
    """The classes' scores at points on the scales, exactly where rounding would show."""
    scores = np.asarray(clf.scaled_scores(np.array(points), _codes(states)))
    if not LARGE < np.abs(scores).max() < np.inf:
        return scores
    return _exact_scores(clf, points, states)


def _exact_scores(clf: Classifier, points: list[Array], states: list[State]) -> Array:
    """The scores less the highest of each row, as the checker computes them: with whole numbers."""
    from surefoot.proof import exact

    model = exact.read_model(classifier_content(clf))
    heat = Fraction(model.temperature)
    found = []
    for point, state in zip(points, states, strict=True):
        scores = [twice.half() / heat for twice in model.twice_scores(point.tolist(), tuple(state))]
        found.append([float(max(score - max(scores), LOWEST)) for score in scores])
    return np.array(found)


def _judged_by_scores(clf: Classifier, question: Question, answer: Answer, scores: Array) -> Answer:
    """The answer without its point where the classes' scores say that it misses the target.

    The search adds up quadratics; extremely far from the data rounding leaves nothing of their values.
    """
    if answer.point is None:
        return answer
    there = scores[1]
    if _lacking(clf, question, there) <= MISSED * max(1.0, float(np.abs(there).max())):
        return answer
    certificate = answer.certificate and {**answer.certificate, "robustness": None, "worst": None}
    return Answer(
        status=Status.PRECISION_LIMIT.without_point,
        lower_bound=answer.lower_bound,
        state=question.state,
        certificate=certificate,
        backend=answer.backend,
        seconds=answer.seconds,
    )


def _lacking(clf: Classifier, question: Question, scores: Array) -> float:
    """By how much the target's score misses what it needs; negative where it does not.

    Against some rival, or against all of them together.
    """
    known = dict(zip(clf.classes_.tolist(), scores.tolist(), strict=True))
    lacking = [float(r.needed - (known[r.target] - known[r.rival])) for r in _deciding(question)]
    return float(np.logaddexp.reduce(lacking)) if question.against == "all" else max(lacking)


def _made_safe(
    clf: Classifier,
    question: Question,
    problem: Family,
    seconds: float,
) -> str:
    """That the row has the target already, but not safely; "" where it has not."""
    here = problem.here
    if here.margin(here.factual) < 0 or not question.allows(question.factual, question.state):
        return ""
    d = worst_perturbation(here, here.factual, time_limit=min(1.0, max(seconds, 0.0))).perturbation
    labels, rows = clf.classes_.tolist(), [question.factual, question.perturbed(question.factual, d)]
    scores = np.asarray(clf.class_scores(np.array(rows), _codes([question.state] * 2)))
    chances = _judged(scores, labels.index(question.target))
    chance, lower = "", "can undo that"
    if clf.has_probability:
        now, worst = (share(p) for _, p in chances)
        chance, lower = f" ({now})", f"can lower that to {worst}"
    already = f"The row has the target already{chance}, but {miss_words(question)} {lower}"
    return f"{already}; this small change makes it safe."


def _model_share(
    clf: Classifier, refits: RefittedModels | None, question: Question, answer: Answer
) -> ModelShare | None:
    """How many refits come to the target's side: fresh ones, else those that the model keeps."""
    if answer.point is None:
        return None
    there = question.warped(answer.point)
    if refits is not None and refits.fresh:
        among_all = question.against == "all"
        return fresh_share(refits, _deciding(question), there, answer.state, among_all)
    agree = [
        _lacking(refit, question, _precise_scores(refit, [there], [answer.state])[0]) <= 0
        for refit in clf.refits_
    ]
    seen = set(() if refits is None else refits.searched)
    return kept_share(agree, [refit in seen for refit in clf.refits_])


def _distance(question: Question, problem: Family, answer: Answer) -> float:
    """The distance of the numbers plus the price of the categories."""
    assert answer.point is not None
    price = sum(choice.prices[v] for choice, v in zip(question.choices, answer.state, strict=True))
    return float(price) + problem.metric.distance(question.warped(answer.point), problem.factual)


def refused(clf: Classifier, refusal: Refusal, answer: Answer, **known: Any) -> Explanation:
    """The Explanation of a row about which nothing can be asked; what it holds is kept."""
    unit = np.full(clf.schema_.n_numbers, np.nan)
    return Explanation(refusal, answer, Context(unit=unit, parents=clf.dag_.parents, **known))


def _violation(clf: Classifier, question: Question, answer: Answer, scores: Array) -> float:
    """How much the worst perturbation known violates the odds; infinite where none is known.

    By the classes' own scores: in the quadratics of features that hardly differ large terms cancel.
    """
    if answer.point is None or answer.worst is None:
        return np.inf
    return _lacking(clf, question, scores[2])


def _deciding(question: Question) -> list[Odds | Decision]:
    """What is required of the explained model's decision."""
    return [r for r in question.requirements if isinstance(r, Odds | Decision) and r.model == 0]


def _probabilities(clf: Classifier, question: Question, answer: Answer, scores: Array) -> dict[str, Any]:
    """P(target) at the factual, the counterfactual and its worst perturbation; and the decision."""
    labels = clf.classes_.tolist()
    judged = _judged(scores, labels.index(question.target))
    here, *there = (p if clf.has_probability else np.nan for _, p in judged)
    probability, worst = (np.nan, np.nan) if answer.point is None else there
    return {
        "factual_probability": here,
        "probability": probability,
        "worst_probability": np.nan if answer.worst is None else worst,
        "decision": None if answer.point is None else labels[judged[1][0]],
    }


def _expectations(clf: Classifier, question: Question, answer: Answer) -> dict[str, Any]:
    """What the network expects given the parents, before in the factual class and after in the target."""
    labels = clf.classes_.tolist()
    here, t = labels.index(question.factual_class), labels.index(question.target)
    before, chances = _expected(clf.networks_[here], question.warped(question.factual), question.state)
    found = {"expected_before": question.unwarped_values(before), "chance_before": chances}
    if answer.point is None:
        return found
    z, there = question.warped(answer.point), clf.networks_[t]
    after, chances = _expected(there, z, answer.state)
    density = log_density(there, z[None], np.array([answer.state], dtype=np.intp))[0]
    return found | {
        "expected_after": question.unwarped_values(after),
        "chance_after": chances,
        "z_score": (z - after) / np.sqrt(numbers_network(there, answer.state).variances),
        "density_percentile": float(np.interp(density, clf.density_percentiles_[t], np.arange(101.0))),
    }


def _expected(network: Network, z: Array, state: State) -> tuple[Array, Array]:
    """Expected numbers, and how probable each category's value is, given the parents."""
    if not isinstance(network, MixedNetwork):
        return network.expected(z), np.zeros(0)
    numbers, chances = network.expected(z[None], np.array([state], dtype=np.intp))
    return numbers[0], chances[0]


def _judged(scores: Array, t: int) -> list[tuple[int, float]]:
    """The position of the class predicted at each point, and P(target)."""
    best = scores.argmax(axis=1)
    # Not SciPy's logsumexp, which does the same: it took a fifth of the time of assembling an explanation.
    weights = np.exp(scores - scores[np.arange(len(scores)), best, None])
    return list(zip(best.tolist(), (weights[:, t] / weights.sum(axis=1)).tolist(), strict=True))


def _codes(states: list[State]) -> NDArray[np.intp]:
    return np.array(states, dtype=np.intp).reshape(len(states), -1)


def _gap(distance: float, bound: float) -> float:
    if distance == 0:
        return 0.0
    return (distance - bound) / distance if distance < np.inf else np.inf
