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
from surefoot.explain.explanation import Explanation
from surefoot.faces.plots.style import NEGLIGIBLE, found_point, shortened
from surefoot.model.classifier import ConditionalGaussianNetworkClassifier
from surefoot.model.dag import feature_index
from surefoot.model.network import LinearGaussianNetwork
from surefoot.waist.geometry import Ball, Whitening, lp_norm
from surefoot.waist.quadratic import Quadratic
from surefoot.waist.question import Question

Array = NDArray[np.float64]
AROUND = np.linspace(0.0, 2 * np.pi, 361)
CIRCLE = np.column_stack([np.cos(AROUND), np.sin(AROUND)])


@dataclass(frozen=True, eq=False)
class Section:
    """The plane x(t) = point + basis (t - center), t being the two coordinates that are drawn.

    Parameters
    ----------
    explanation : Explanation
    classifier : ConditionalGaussianNetworkClassifier
    basis : array of shape (n, 2)
        Directions in feature space.
    center, factual : arrays of shape (2,)
        Coordinates of the counterfactual, and of the factual's projection.
    projected : bool
        Whether the factual lies outside of the plane, by more than searches leave as rounding.
    labels : pair of str
        Of the two axes.
    """

    explanation: Explanation
    classifier: ConditionalGaussianNetworkClassifier
    basis: Array
    center: Array
    factual: Array
    projected: bool
    labels: tuple[str, str]

    def points(self, t: Array) -> Array:
        """The points of feature space at coordinates t, row by row."""
        return np.asarray(found_point(self.explanation) + (t - self.center) @ self.basis.T)

    def restricted(self, H: Quadratic) -> Quadratic:
        """H as a function of t."""
        return H.in_coordinates(self.basis, found_point(self.explanation)).shifted(-self.center)

    def margin(self, t: Array) -> Array:
        """Min over rivals of H_r - tau' at coordinates t: zero on the decision boundary."""
        target, tau = self.explanation.target, self.explanation.threshold
        rivals = [label for label in self.classifier.classes_.tolist() if label != target]
        margins = [self.restricted(self.classifier.decision_quadratic(target, r)) for r in rivals]
        values = np.array([np.asarray(H(t)) for H in margins])
        return np.asarray(values.min(axis=0) - (np.log(tau) - np.log1p(-tau)))

    def ellipse(self, label: Any, deviations: float) -> Array:
        """Outline of a class's density within the plane, that many standard deviations from its peak."""
        log_density = self.restricted(class_network(self.classifier, label).log_density_quadratic())
        P = -2 * log_density.matrix
        peak = log_density.center + np.linalg.solve(P, log_density.vector)
        return np.asarray(peak + deviations * np.linalg.solve(np.linalg.cholesky(P).T, CIRCLE.T).T)

    def ball(self) -> Array:
        """Outline of the cut of the ball of errors around the counterfactual."""
        return self.center + ball_outline(self._errors, self.basis)

    @cached_property
    def _errors(self) -> Ball:
        question = self.explanation.question
        if not isinstance(question, Question):
            raise DataError("the request was invalid, so there is no ball to draw")
        return question.problem(self.classifier).ball

    def distance_ball(self) -> Array:
        """Outline of the cut of {x : ||M (x - factual)||_p <= distance}; only in whitened coordinates.

        The coordinates that are not drawn use up their share of the distance: nothing for p = infinity.
        """
        M, p = explained_whitening(self.explanation, self.classifier), self.explanation.norm
        rest = lp_norm(M.apply(self.points(self.factual[None])[0] - self.explanation.factual.to_numpy()), p)
        radius = self.explanation.distance
        if p != np.inf:
            radius = max(radius**p - rest**p, 0.0) ** (1 / p)
        return np.asarray(self.factual + radius * unit_outline(np.eye(2), p))


def feature_section(
    explanation: Explanation,
    classifier: ConditionalGaussianNetworkClassifier,
    features: Sequence[Any] | None = None,
) -> Section:
    """The plane along two features; default: the two that change most."""
    step = _step(explanation, classifier)
    names = classifier.feature_labels_
    chosen = _two_largest(step / explanation.unit.to_numpy()) if features is None else features
    pair = list(feature_pair(chosen, names))
    end, start = found_point(explanation), explanation.factual.to_numpy(dtype=float)
    outside = np.delete(step / explanation.unit.to_numpy(), pair)
    return Section(
        explanation,
        classifier,
        basis=np.eye(len(names))[:, pair],
        center=end[pair],
        factual=start[pair],
        projected=bool((np.abs(outside) >= NEGLIGIBLE).any()),
        labels=(shortened(names[pair[0]]), shortened(names[pair[1]])),
    )


def whitened_section(
    explanation: Explanation,
    classifier: ConditionalGaussianNetworkClassifier,
    coordinates: Sequence[int] | None = None,
) -> Section:
    """The plane along two whitened coordinates u = M (x - factual); default: the two that move most."""
    step = _step(explanation, classifier)
    whitening = explained_whitening(explanation, classifier)
    u = whitening.apply(step)
    pair = list(feature_pair(sorted(_two_largest(u)) if coordinates is None else coordinates, range(u.size)))
    share = np.abs(whitening.matrix[pair]) * explanation.unit.to_numpy()
    mostly = [shortened(classifier.feature_labels_[j]) for j in share.argmax(axis=1)]
    first, second = (
        f"whitened coordinate {k}\n(mostly {name})" for k, name in zip(pair, mostly, strict=True)
    )
    return Section(
        explanation,
        classifier,
        basis=whitening.inverse[:, pair],
        center=u[pair],
        factual=np.zeros(2),
        projected=bool((np.abs(np.delete(u, pair)) >= NEGLIGIBLE).any()),
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


def class_network(classifier: ConditionalGaussianNetworkClassifier, label: Any) -> LinearGaussianNetwork:
    """The density of the class with that label."""
    labels = classifier.classes_.tolist()
    if label not in labels:
        raise DataError(f"the explanation is about class {label!r}, the classifier knows only {labels}")
    network: LinearGaussianNetwork = classifier.networks_[labels.index(label)]
    return network


def explained_whitening(
    explanation: Explanation, classifier: ConditionalGaussianNetworkClassifier
) -> Whitening:
    """The whitening in which the explanation measured distances."""
    return class_network(classifier, explanation.factual_class).whitening(explanation.whitening)  # type: ignore[arg-type]


def _step(explanation: Explanation, classifier: ConditionalGaussianNetworkClassifier) -> Array:
    """Counterfactual minus factual, of features that must be the classifier's own."""
    end = found_point(explanation)
    if list(explanation.factual.index) != list(classifier.feature_labels_):
        raise DataError("explanation and classifier do not have the same features")
    return np.asarray(end - explanation.factual.to_numpy(dtype=float))


def _two_largest(sizes: Array) -> list[int]:
    """Positions of the two largest in absolute value, the earlier one first where they are equal."""
    return [int(k) for k in np.argsort(-np.abs(sizes), kind="stable")[:2]]
