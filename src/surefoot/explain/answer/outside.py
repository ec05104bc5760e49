"""What is not enough: a value just outside of a region at which the decision is not the target."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefoot.explain.answer.decimals import rounded_outwards, short_between
from surefoot.explain.answer.region import NotEnough
from surefoot.explain.ask.row import class_position
from surefoot.model.classifier import ConditionalGaussianNetworkClassifier
from surefoot.problem.mixed import State
from surefoot.problem.quadratic import Quadratic
from surefoot.problem.question import Question

Array = NDArray[np.float64]

# How far beyond the boundary a value may lie to be a shorter decimal: a share of the way from the answer. Ten
# times as much would make the boundary felt no more; a tenth would take a digit more.
BEYOND = 0.1


def not_enough(
    clf: ConditionalGaussianNetworkClassifier,
    question: Question,
    point: Array,
    state: State,
    ends: Mapping[int, tuple[float, float]],
    decimals: Mapping[int, int],
) -> NotEnough | None:
    """The nearest value of one changed feature, outside of its interval, at which another class is decided.

    Features whose value of today is outside come first: of one that can stay, nobody asks how far it may go.

    Parameters
    ----------
    clf : ConditionalGaussianNetworkClassifier
    question : Question
    point, state
        The answer.
    ends : dict of number -> (low, high)
        The intervals of what is enough, in the features' own units.
    decimals : dict of number -> int
        How many decimals a value may have, where there is such a value.
    """
    unit = question.warped  # numbers on their scales, where distances are comparable
    found: list[tuple[bool, float, int, float, Any]] = []
    deviations = _deviations(clf, question)
    for j, (low, high) in ends.items():
        for value in _beyond(clf, question, point, state, j, (low, high), decimals.get(j)):
            tried = point.copy()
            tried[j] = value
            decided = _decided(clf, tried, state)
            if decided != question.target:
                away = abs(float(unit(tried)[j] - unit(point)[j])) / deviations[j]
                can_stay = low <= question.factual[j] <= high
                found.append((can_stay, away, j, value, decided))
    if found:
        _, _, j, value, decided = min(found, key=lambda one: one[:2])
        return NotEnough(question.number_names[j], value, decided, decided == question.factual_class)
    return _category(clf, question, point, state)


def _deviations(clf: ConditionalGaussianNetworkClassifier, question: Question) -> Array:
    network = clf.network(question.factual_class, question.state)
    return np.sqrt(np.diag(network.covariance))


def _decided(clf: ConditionalGaussianNetworkClassifier, numbers: Array, state: State) -> Any:
    return clf.classes_.tolist()[class_position(clf, numbers, state)]


def _beyond(
    clf: ConditionalGaussianNetworkClassifier,
    question: Question,
    point: Array,
    state: State,
    j: int,
    ends: tuple[float, float],
    most: int | None,
) -> Iterator[float]:
    """Values of one number a little beyond the places where the decision changes, one on each side."""
    z, k = question.warped(point), question.numbers[j]
    lines = [
        _line(clf.decision(question.target, rival).at(state), z, j)
        for rival in clf.classes_.tolist()
        if rival != question.target
    ]
    own = question.warps[j].inverse if question.warps else float
    scaled = question.warps[j].exactly if question.warps else float
    one = next((one for one in question.domain.sets if one.feature == j), None)
    bounds = (question.domain.low[j], question.domain.high[j])
    for sign, end, bound, seen in zip((-1, 1), ends, bounds, clf.feature_range_[:, k], strict=True):
        inside = sign * (scaled(end) - z[j])
        crossing = min((c for line in lines for c in _crossings(line, sign) if c >= inside), default=math.inf)
        edge = float(own(z[j] + sign * crossing)) if crossing < math.inf else math.inf
        if not math.isfinite(edge):
            continue
        farther = edge + BEYOND * (edge - point[j])
        last = sign * max(
            sign * seen, sign * bound if math.isfinite(bound) else -math.inf, sign * question.factual[j]
        )
        if one is not None:
            value = one.at_most(_next(edge, -1)) if sign < 0 else one.at_least(_next(edge, 1))
        else:
            value = rounded_outwards(short_between(_next(edge, sign), farther), sign, most)
        if sign * value > sign * end and sign * value <= sign * last:
            yield float(value)


def _next(value: float, sign: int) -> float:
    return math.nextafter(value, sign * math.inf)


def _line(H: Quadratic, z: Array, j: int) -> tuple[float, float, float]:
    """H along one coordinate: a t^2 + b t + c."""
    return float(H.matrix[j, j]), float(H.gradient(z)[j]), float(H(z))


def _crossings(line: tuple[float, float, float], sign: int) -> list[float]:
    """Steps in a direction after which a quadratic falls below zero."""
    a, b, c = line
    b *= sign
    if abs(a) < 1e-300:
        return [-c / b] if b < 0 else []
    root = b * b - 4 * a * c
    if root < 0:
        return []
    # The form that does not cancel.
    q = -0.5 * (b + math.copysign(math.sqrt(root), b))
    roots = [q / a, *([c / q] if q else [])]
    return [t for t in roots if t > 0 and 2 * a * t + b < 0]


def _category(
    clf: ConditionalGaussianNetworkClassifier, question: Question, point: Array, state: State
) -> NotEnough | None:
    """Today's value of a category that changes, where the decision is not the target with it."""
    for k, choice in enumerate(question.choices):
        if state[k] == choice.today:
            continue
        tried = (*state[:k], choice.today, *state[k + 1 :])
        decided = _decided(clf, point, tried)
        if decided != question.target:
            name = question.features[choice.feature]
            return NotEnough(name, choice.values[choice.today], decided, decided == question.factual_class)
    return None
