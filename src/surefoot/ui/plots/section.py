"""A plane through the counterfactual, and what it cuts out of balls, densities and margins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from surefoot.exceptions import DataError
from surefoot.explain.result.explanation import Explanation
from surefoot.formats import listed
from surefoot.model.classifier import ConditionalGaussianNetworkClassifier
from surefoot.model.dag import feature_index
from surefoot.model.network import LinearGaussianNetwork
from surefoot.problem.geometry import Ball, Whitening, lp_norm
from surefoot.problem.mixed import State
from surefoot.problem.quadratic import Quadratic
from surefoot.problem.question import Question
from surefoot.problem.requirements import Decision
from surefoot.problem.robust_problem import log_odds
from surefoot.problem.warp import IDENTITY, Warp
from surefoot.ui.plots.style import NEGLIGIBLE, found_point, shortened
from surefoot.ui.plots.values import Values

Array = NDArray[np.float64]
ROUNDING = 1e-6  # of the distance
AROUND = np.linspace(0.0, 2 * np.pi, 361)
CIRCLE = np.column_stack([np.cos(AROUND), np.sin(AROUND)])


@dataclass(frozen=True, eq=False)
class Section:
    """The plane z(t) = point + basis (t - center), t being the two coordinates that are drawn.

    It lies in the space of the numbers, on the scales on which distances are measured; the categories are
    those of the counterfactual.

    Parameters
    ----------
    explanation : Explanation
    classifier : ConditionalGaussianNetworkClassifier
    basis : array of shape (n, 2)
        Directions in the space of the numbers.
    center, factual : arrays of shape (2,)
        Coordinates of the counterfactual, and of the factual's projection.
    projected : bool
        Whether the factual lies outside of the plane, by more than searches leave as rounding.
    labels : pair of str
        Of the two axes.
    scales : pair of Warp
        Of the two axes: the identity where they are in units of their own.
    features : pair of int, optional
        Positions of the features that are the axes.
    """

    explanation: Explanation
    classifier: ConditionalGaussianNetworkClassifier
    basis: Array
    center: Array
    factual: Array
    projected: bool
    labels: tuple[str, str]
    scales: tuple[Warp, Warp] = (IDENTITY, IDENTITY)
    features: tuple[int, int] | None = None

    def points(self, t: Array) -> Array:
        """The points at coordinates t, row by row."""
        return np.asarray(found_point(self.explanation) + (t - self.center) @ self.basis.T)

    def restricted(self, H: Quadratic) -> Quadratic:
        """H as a function of t."""
        return H.in_coordinates(self.basis, found_point(self.explanation)).shifted(-self.center)

    def margin(self, t: Array) -> Array:
        """Min over rivals of H_r - tau' at coordinates t, or all of them together: zero on the boundary."""
        e, clf = self.explanation, self.classifier
        rivals = [label for label in clf.classes_.tolist() if label != e.target]
        margins = [self.restricted(clf.decision(e.target, r).at(e.answer.state)) for r in rivals]
        values = np.array([np.asarray(H(t)) for H in margins])
        if _question(e).against == "all":
            return np.asarray(-np.logaddexp.reduce(-values, axis=0) - _level(e))
        return np.asarray(values.min(axis=0) - _level(e))

    def ellipse(self, label: Any, deviations: float) -> Array:
        """Outline of a class's density within the plane, that many standard deviations from its peak."""
        network = class_network(self.classifier, label, self.explanation.answer.state)
        log_density = self.restricted(network.log_density_quadratic())
        P = -2 * log_density.matrix
        peak = log_density.center + np.linalg.solve(P, log_density.vector)
        return np.asarray(peak + deviations * np.linalg.solve(np.linalg.cholesky(P).T, CIRCLE.T).T)

    def possible(self) -> tuple[Array, Array]:
        """Between which coordinates values are possible: those of the data and of both points.

        Without end where the axes are not features.
        """
        if self.features is None:
            return np.full(2, -np.inf), np.full(2, np.inf)
        seen = self.classifier.feature_range_[:, list(self.features)]
        ends = [np.array([s.exactly(x) for s, x in zip(self.scales, e, strict=True)]) for e in seen]
        shown = np.vstack([*ends, self.center, self.factual])
        return shown.min(axis=0), shown.max(axis=0)

    def ball(self) -> Array:
        """Outline of the cut of the ball of errors around the counterfactual."""
        return self.center + ball_outline(self._errors, self.basis)

    @cached_property
    def _errors(self) -> Ball:
        return _question(self.explanation).ball(self.classifier)

    @property
    def distance_radius(self) -> float:
        """What the numbers have of the distance: all of it but the price of the categories."""
        distance = self.explanation.distance
        rest = distance - Values(self.explanation).total_price
        return rest if rest > ROUNDING * distance else 0.0

    def distance_ball(self) -> Array:
        """Outline of the cut of {z : ||M (z - factual)||_p <= distance}; only in whitened coordinates.

        The coordinates that are not drawn use up their share of the distance: nothing for p = infinity.
        """
        if _question(self.explanation).prices is not None:
            raise DataError("the distance is a cost: in whitened coordinates it has no ball")
        M, p = explained_whitening(self.explanation, self.classifier), self.explanation.norm
        rest = lp_norm(M.apply(self.points(self.factual[None])[0] - _start(self.explanation)), p)
        radius = self.distance_radius
        if p != np.inf:
            radius = max(radius**p - rest**p, 0.0) ** (1 / p)
        return np.asarray(self.factual + radius * unit_outline(np.eye(2), p))


def feature_section(
    explanation: Explanation,
    classifier: ConditionalGaussianNetworkClassifier,
    features: Sequence[Any] | None = None,
) -> Section:
    """The plane along two features; default: the two numbers that change most."""
    step = _step(explanation, classifier)
    question, sizes = _question(explanation), step / explanation.context.unit
    names = question.number_names
    pair = _two_largest(sizes) if features is None else number_pair(features, classifier)
    end, start = found_point(explanation), _start(explanation)
    scales = [question.warps[j] if question.warps else IDENTITY for j in pair]
    return Section(
        explanation,
        classifier,
        basis=np.eye(len(names))[:, pair],
        center=end[pair],
        factual=start[pair],
        projected=_outside(explanation, np.delete(sizes, pair)),
        labels=(shortened(names[pair[0]]), shortened(names[pair[1]])),
        scales=(scales[0], scales[1]),
        features=(question.numbers[pair[0]], question.numbers[pair[1]]),
    )


def whitened_section(
    explanation: Explanation,
    classifier: ConditionalGaussianNetworkClassifier,
    coordinates: Sequence[int] | None = None,
) -> Section:
    """The plane along two whitened coordinates u = M (z - factual); default: the two that move most."""
    step = _step(explanation, classifier)
    whitening = explained_whitening(explanation, classifier)
    u, names = whitening.apply(step), _question(explanation).number_names
    pair = list(feature_pair(sorted(_two_largest(u)) if coordinates is None else coordinates, range(u.size)))
    share = np.abs(whitening.matrix[pair]) * explanation.context.unit
    mostly = [shortened(names[j]) for j in share.argmax(axis=1)]
    first, second = (
        f"whitened coordinate {k}\n(mostly {name})" for k, name in zip(pair, mostly, strict=True)
    )
    return Section(
        explanation,
        classifier,
        basis=whitening.inverse[:, pair],
        center=u[pair],
        factual=np.zeros(2),
        projected=_outside(explanation, np.delete(u, pair)),
        labels=(first, second),
    )


def unit_outline(A: Array, p: float) -> Array:
    """Points s on {s : ||A s||_p = 1} in order, the corners among them; A has two columns.

    Directions are spread evenly in coordinates in which the set for p = 2 is a circle, whatever the
    units of the two axes are.
    """
    s = _directions(A, p)
    return np.asarray(s / np.asarray(lp_norm(s @ A.T, p))[:, None])


def ball_outline(ball: Ball, basis: Array) -> Array:
    """Points s on the edge of {s : basis s lies in the ball}, in order.

    Where the plane moves features that land exactly, only a segment or a point is left of it.
    """
    held = basis[~ball.noisy]
    free = linalg.null_space(held) if held.any() else np.eye(2)
    if ball.is_point or not free.size:
        return np.zeros((1, 2))
    if free.shape[1] == 1:
        s = np.vstack([free.T, -free.T])
    else:
        A = ball.matrix @ basis[ball.noisy]
        middle = (ball.matrix @ ball.centre[ball.noisy])[:, None]
        inside = np.abs(middle[:, 0]) < 1
        rows = np.vstack([A, A[inside] / (1 + middle[inside]), A[inside] / (1 - middle[inside])])
        s = _directions(rows if middle.any() else A, ball.norm)
    sizes = np.asarray(ball.size(np.where(ball.noisy, s @ basis.T, 0.0)))
    return np.asarray(ball.radius * s / sizes[:, None])


def _directions(A: Array, p: float) -> Array:
    """Directions s all around, among them those in which ||A s||_p has a kink."""
    R = np.linalg.qr(A)[1]
    rows = np.linalg.solve(R.T, A.T).T
    angles = np.sort(np.concatenate([AROUND, _corner_angles(rows, p)]))
    return np.asarray(np.linalg.solve(R, np.array([np.cos(angles), np.sin(angles)])).T)


def _corner_angles(rows: Array, p: float) -> Array:
    """Directions in which ||rows s||_p has a kink: a row vanishes (p = 1), or two are equal (infinity)."""
    if p == 2:
        return np.zeros(0)
    if p == np.inf:
        first, second = np.triu_indices(len(rows), 1)
        rows = np.vstack([rows[first] - rows[second], rows[first] + rows[second]])
    angles = np.arctan2(rows[:, 0], -rows[:, 1])
    return np.concatenate([angles, angles + np.pi]) % (2 * np.pi)


def feature_pair(features: Sequence[Any], names: Sequence[Any]) -> tuple[int, int]:
    """Two different positions from names or positions."""
    if isinstance(features, str) or len(features) != 2:
        raise DataError(f"a plane needs two features or coordinates, not {features!r}")
    i, j = (feature_index(feature, names) for feature in features)
    if i == j:
        raise DataError(f"a plane needs two different features or coordinates, not {features!r}")
    return i, j


def number_pair(features: Sequence[Any], classifier: ConditionalGaussianNetworkClassifier) -> list[int]:
    """Positions among the numbers of two features, which must not be categories."""
    schema, names = classifier.schema_, classifier.feature_labels_
    pair = feature_pair(features, names)
    wrong = [names[j] for j in pair if j in schema.categories]
    if wrong:
        known = listed([names[j] for j in schema.numbers])
        raise DataError(f"{wrong[0]!r} is a category; a picture of two features needs two numbers: {known}")
    return [schema.numbers.index(j) for j in pair]


def class_network(
    classifier: ConditionalGaussianNetworkClassifier, label: Any, state: State = ()
) -> LinearGaussianNetwork:
    """The density of the numbers in the class with that label, given the categories."""
    labels = classifier.classes_.tolist()
    if label not in labels:
        raise DataError(f"the explanation is about class {label!r}, the classifier knows only {labels}")
    return classifier.network(label, state)


def explained_whitening(
    explanation: Explanation, classifier: ConditionalGaussianNetworkClassifier
) -> Whitening:
    """The whitening in which the explanation measured distances."""
    question = _question(explanation)
    class_network(classifier, question.factual_class, question.state)  # refuses a class that is not there
    return question.coordinates(classifier)


def _question(explanation: Explanation) -> Question:
    if not isinstance(explanation.question, Question):
        raise DataError("the request was invalid, so there is nothing to draw")
    return explanation.question


def _level(explanation: Explanation) -> float:
    """The log-odds, or the decision value, that were asked for."""
    values = [r.value for r in _question(explanation).requirements if isinstance(r, Decision)]
    return values[0] if values else log_odds(explanation.threshold)


def _start(explanation: Explanation) -> Array:
    """The numbers of the factual, on the scales on which distances are measured."""
    question = _question(explanation)
    return question.warped(question.factual)


def _step(explanation: Explanation, classifier: ConditionalGaussianNetworkClassifier) -> Array:
    """Counterfactual minus factual, of features that must be the classifier's own."""
    end = found_point(explanation)
    if list(explanation.factual.index) != list(classifier.feature_labels_):
        raise DataError("explanation and classifier do not have the same features")
    if len(end) < 2:
        raise DataError(f"a plane needs two numbers; this table has {len(end)}")
    return np.asarray(end - _start(explanation))


def _outside(explanation: Explanation, steps: Array) -> bool:
    """Whether the factual lies outside of a plane: by coordinates that are not drawn, or a category."""
    return bool((np.abs(steps) >= NEGLIGIBLE).any()) or bool(Values(explanation).moved_categories)


def _two_largest(sizes: Array) -> list[int]:
    """Positions of the two largest in absolute value, the earlier one first where they are equal."""
    return [int(k) for k in np.argsort(-np.abs(sizes), kind="stable")[:2]]
