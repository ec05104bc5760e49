"""The warp under which a column is most probable."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import optimize

from surefoot.problem.warp import IDENTITY, Warp

__all__ = ["IDENTITY", "Warp", "fit_warp"]

Array = NDArray[np.float64]

LOWEST_POWER, HIGHEST_POWER = -3.0, 5.0  # symmetric about 1, the identity
POWER_STEP = 0.5  # of the grid on which the search for the best power starts
VARIANCE_FLOOR = 1e-8  # share of the overall variance; keeps classes in which a column is constant finite
LARGEST_SAMPLE = 20_000  # rows that a power is fitted to


def fit_warp(
    column: ArrayLike,
    codes: NDArray[np.intp],
    n_classes: int,
    weights: Array | None = None,
    choose: bool = False,
) -> Warp:
    """The warp under which the column is most probable, as a Gaussian for each class.

    The power maximises ``sum_c -n_c / 2 log var_c(z) + sum log(dz/dx)``. Two origins are tried, zero and the
    column's median, both in standard deviations, so that neither units nor columns far from zero (years)
    matter.

    Parameters
    ----------
    column : array of shape (rows,)
        Values; missing ones (nan) are left out.
    codes : array of shape (rows,)
        Class of each row.
    n_classes : int
    weights : array of shape (rows,), optional
    choose : bool
        Take the identity unless the gain in log likelihood is worth a parameter: log(n) / 2, as in the
        Bayesian information criterion. Without this, only columns of fewer than three values stay as they
        are.
    """
    x, c, w = _usable_rows(np.asarray(column, dtype=float), codes, weights)
    if len(np.unique(x[:1000])) < 3 and len(np.unique(x)) < 3:
        return IDENTITY
    rows = slice(None, None, -(-len(x) // LARGEST_SAMPLE))
    likelihood = _Likelihood(x[rows], c[rows], w[rows], n_classes)
    spread = _rounded(likelihood.deviation())
    origins = (0.0, _rounded(float(np.median(x))))
    found = [_best_power(likelihood, Warp(1.0, shift, spread)) for shift in origins]
    warp, value = max(found, key=lambda pair: pair[1])
    if choose and value - likelihood(IDENTITY) < 0.5 * np.log(max(w.sum(), 1.0)):
        return IDENTITY
    return warp


class _Likelihood:
    """Log likelihood of a warp for one column; without terms that do not depend on the warp."""

    def __init__(self, x: Array, codes: NDArray[np.intp], weights: Array, n_classes: int) -> None:
        self.x, self.codes, self.weights, self.n_classes = x, codes, weights, n_classes
        self.totals = np.bincount(codes, weights, n_classes)

    def deviation(self) -> float:
        """Standard deviation of the column."""
        return float(np.sqrt(np.cov(self.x, aweights=self.weights, ddof=0)))

    def __call__(self, warp: Warp) -> float:
        z = warp(self.x)
        centred = z - np.average(z, weights=self.weights)
        floor = VARIANCE_FLOOR * np.average(centred**2, weights=self.weights)
        variances = np.maximum(self._class_variances(centred), floor)
        if not (np.isfinite(variances).all() and floor > 0):
            return -np.inf
        return float(self.weights @ warp.log_slope(self.x) - 0.5 * self.totals @ np.log(variances))

    def _class_variances(self, z: Array) -> Array:
        counts = np.where(self.totals > 0, self.totals, 1.0)
        means = np.bincount(self.codes, self.weights * z, self.n_classes) / counts
        squares = self.weights * (z - means[self.codes]) ** 2
        return np.asarray(np.bincount(self.codes, squares, self.n_classes) / counts)


def _best_power(likelihood: Callable[[Warp], float], frame: Warp) -> tuple[Warp, float]:
    """The likeliest power for a given shift and scale: best of a grid, then refined between neighbours."""

    def loss(power: float) -> float:
        return -likelihood(Warp(power, frame.shift, frame.scale))

    grid = np.arange(LOWEST_POWER, HIGHEST_POWER + POWER_STEP / 2, POWER_STEP)
    start = float(grid[np.argmin([loss(power) for power in grid])])
    ends = (max(start - POWER_STEP, LOWEST_POWER), min(start + POWER_STEP, HIGHEST_POWER))
    refined = optimize.minimize_scalar(loss, bounds=ends, method="bounded", options={"xatol": 1e-3})
    # Three decimals are more than the data know, and can be read.
    power = round(float(min(refined.x, start, key=loss)), 3)
    return Warp(power, frame.shift, frame.scale), -loss(power)


def _usable_rows(
    x: Array, codes: NDArray[np.intp], weights: Array | None
) -> tuple[Array, NDArray[np.intp], Array]:
    w = np.ones(len(x)) if weights is None else np.asarray(weights, dtype=float)
    rows = np.isfinite(x) & (w > 0)
    return x[rows], np.asarray(codes)[rows], w[rows]


def _rounded(value: float) -> float:
    """Three significant digits: where a warp begins need not be known better."""
    return float(f"{value:.2e}")
