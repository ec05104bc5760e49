"""Calibration: one temperature for all classes and one shift for each make probabilities honest."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import optimize

from surefoot.exceptions import DataError

Array = NDArray[np.float64]

SMALLEST_SLOPE = (
    1e-3  # in units of the typical log-odds; a model that knows nothing is flattened, not reversed
)
FARTHEST = 1e6  # differences of log densities beyond this are all the same
FAR = 10.0  # times the typical log-odds; every temperature that suits the others is certain beyond


@dataclass(frozen=True)
class Calibration:
    """log h_c / T + shift_c: log-odds are divided by T and shifted; every quadratic stays one.

    Parameters
    ----------
    temperature : float
        T > 0. Above one, the classifier was overconfident.
    shifts : tuple of float
        One for each class, the first zero.

    Examples
    --------
    >>> Calibration(2.0, (0.0, 0.5))([[-3.0, -1.0]])
    array([[-1.5,  0. ]])
    """

    temperature: float
    shifts: tuple[float, ...]

    def __post_init__(self) -> None:
        shifts = tuple(float(shift) for shift in self.shifts)
        object.__setattr__(self, "shifts", shifts)
        if not (np.isfinite([self.temperature, *shifts]).all() and self.temperature > 0):
            raise DataError(f"a temperature must be positive and shifts finite: {self!r}")
        if not shifts or shifts[0] != 0:
            raise DataError(f"the first shift must be zero: {self!r}")

    def __call__(self, joint_log: ArrayLike) -> Array:
        """Calibrated log h_c, up to a term that is the same for all classes."""
        return np.asarray(np.asarray(joint_log, dtype=float) / self.temperature + np.array(self.shifts))


def fit_calibration(
    joint_log: ArrayLike, codes: NDArray[np.intp], weights: Array | None = None
) -> Calibration:
    """Minimise the log loss of held-out rows over 1/T and the shifts, which is convex.

    A penalty, ``((1/T - 1)^2 + sum of squared shifts) / 2`` in units of one row's log loss, keeps the answer
    finite where the classes separate perfectly, and hardly matters elsewhere. It is zero for an uncalibrated
    model, so that the log loss of these rows, the far ones brought in, never rises.

    Log-odds more than ten times the typical ones are brought in to that. Otherwise a single row in a thousand
    that lies far from all others, on the wrong side, would flatten the probabilities of all of them.

    Parameters
    ----------
    joint_log : array of shape (rows, n_classes)
        log h_c of rows that the model was not fitted on.
    codes : array of shape (rows,)
        Class of each row.
    weights : array of shape (rows,), optional
    """
    joint = np.asarray(joint_log, dtype=float)
    w = np.ones(len(joint)) if weights is None else np.asarray(weights, dtype=float)
    with np.errstate(over="ignore"):
        gaps = np.maximum(joint - joint.max(axis=1, keepdims=True), -FARTHEST)
    unit = max(1.0, float(np.median(-gaps.min(axis=1), axis=0)))  # so that both kinds of unknowns are alike
    loss = _Loss(np.maximum(gaps / unit, -FAR).T, codes, w, unit)
    k = joint.shape[1]
    result = optimize.minimize(
        loss,
        np.array([unit, *np.zeros(k)]),
        jac=True,
        method="L-BFGS-B",
        bounds=[(SMALLEST_SLOPE, None), *[(None, None)] * k],
        options={"ftol": 1e-13, "gtol": 1e-9, "maxiter": 500},
    )
    slope, shifts = result.x[0] / unit, result.x[1:] - result.x[1]
    return Calibration(float(1.0 / slope), tuple(shifts.tolist()))


class _Loss:
    """Mean log loss and its gradient in (slope times unit, shifts).

    A line of an array is a class: sums over few classes are ten times as fast that way, and so is the softmax
    without SciPy.
    """

    def __init__(self, gaps: Array, codes: NDArray[np.intp], weights: Array, unit: float) -> None:
        self.gaps, self.weights, self.unit = np.ascontiguousarray(gaps), weights, unit
        self.own = np.zeros(gaps.shape)
        self.own[codes, np.arange(gaps.shape[1])] = 1.0

    def __call__(self, unknowns: Array) -> tuple[float, Array]:
        slope, shifts = unknowns[0], unknowns[1:]
        scores = slope * self.gaps + shifts[:, None]
        scores -= scores.max(axis=0)
        p = np.exp(scores)
        total = p.sum(axis=0)
        pull = self.weights * (p / total - self.own)
        departure = (slope / self.unit - 1.0) / self.unit
        value = -float(self.weights @ ((self.own * scores).sum(axis=0) - np.log(total)))
        value += 0.5 * (slope / self.unit - 1.0) ** 2 + 0.5 * float(shifts @ shifts)
        gradient = np.array([np.sum(pull * self.gaps) + departure, *(pull.sum(axis=1) + shifts)])
        return value / self.weights.sum(), gradient / self.weights.sum()
