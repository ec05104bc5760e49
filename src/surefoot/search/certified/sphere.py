"""p = 2 without a domain: the whole robust problem is a search over one number (S-lemma)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from surefoot.problem.quadratic import Quadratic

Array = NDArray[np.float64]

GRID = 48
ZOOMS = 3
HALVINGS = 50


def nearest_robust(H: Quadratic, budget: float, above: float) -> Array | None:
    """Nearest u with H(u + v) >= above for all ||v||_2 <= budget; None if there is none.

    In the eigenbasis of Q = diag(d), and with g for q, that holds exactly if for some lam >= -min(d, 0)

        sum_i [d_i lam y_i^2 + g_i lam y_i - g_i^2 / 4] / (d_i + lam) + r - lam budget^2 >= above.

    For a fixed lam the nearest y solves one secular equation, and lam is
    found on a grid that zooms in; the convex-concave steps that start there do the last digits.
    """
    if not H.n_features:  # a table of categories alone: the only point is the one that there is
        return np.zeros(0) if H.constant >= above else None
    d, vectors = np.linalg.eigh(H.matrix)
    g = vectors.T @ H.vector
    r = H.constant - above
    if budget == 0:
        y = _nearest(d[None], g[None], np.array([r]))
        return vectors @ y[0] if np.isfinite(y).all() else None
    floor = max(0.0, -float(d[0]))
    scale = float(np.linalg.norm(g)) / budget + float(np.abs(d).max())
    exponents = np.linspace(-9, 4, 2 * GRID)
    best, best_size = None, np.inf
    for _ in range(ZOOMS):
        lam = floor + scale * 10**exponents
        over = d + lam[:, None]
        constant = r - lam * budget**2 - (g**2 / (4 * over)).sum(axis=1)
        y = _nearest(d * lam[:, None] / over, g * lam[:, None] / over, constant)
        sizes = np.where(np.isfinite(y).all(axis=1), np.linalg.norm(y, axis=1), np.inf)
        k = int(sizes.argmin())
        if sizes[k] < best_size:
            best, best_size = y[k], float(sizes[k])
        width = exponents[1] - exponents[0]
        exponents = np.linspace(exponents[k] - 1.5 * width, exponents[k] + 1.5 * width, GRID)
    return None if best is None else vectors @ best


def _nearest(A: Array, b: Array, c: Array) -> Array:
    """For each row: the y nearest to zero with sum A y^2 + b y + c >= 0; not a number where there is none.

    y = mu b / (2 (1 - mu A)) with the least mu that satisfies the constraint (a secular equation).
    """
    top = A.max(axis=1)
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        limit = np.where(top > 0, 1 / top, np.inf)

        def solution(mu: Array) -> Array:
            return np.asarray(mu[:, None] * b / (2 * (1 - mu[:, None] * A)))

        def holds(mu: Array) -> NDArray[np.bool_]:
            y = solution(mu)
            return np.asarray((A * y**2 + b * y).sum(axis=1) + c >= 0)

        low = np.zeros(len(c))
        high = np.where(np.isfinite(limit), limit * (1 - 1e-13), 1e12 / np.abs(A).max(axis=1).clip(1e-12))
        reached = holds(high)
        for _ in range(HALVINGS):
            middle = 0.5 * (low + high)
            good = holds(middle)
            low, high = np.where(good, low, middle), np.where(good, middle, high)
        y = np.where((c >= 0)[:, None], 0.0, solution(high))
        missing = -((A * y**2 + b * y).sum(axis=1) + c)
        hard = ~reached & (top > 0)  # b has no part along the top eigenvector, which supplies what is missing
        extra = np.sqrt(np.maximum(missing, 0.0) / np.where(top > 0, top, 1.0))
        rows = np.flatnonzero(hard)
        k = A[rows].argmax(axis=1)
        y[rows, k] += np.copysign(extra[rows], b[rows, k])
    y[~reached & ~hard & (c < 0)] = np.nan
    return y
