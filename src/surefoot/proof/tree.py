"""Check a tree of refuted pieces: what distance it proves, from its numbers alone.

Written apart from the search that makes such trees, so that a mistake there is found here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from surefoot.waist.geometry import dual_exponent, lp_norm
from surefoot.waist.quadratic import Quadratic

Array = NDArray[np.float64]
Cut = tuple[int, float, float]  # direction, low, high

ROUNDING = 1e-15


@dataclass(frozen=True, eq=False)
class Setting:
    """{u : ||u||_p <= L, margins[r](u + v) >= 0 for ||v||_p <= budget, low <= features u <= high}.

    Parameters
    ----------
    margins : tuple of Quadratic
        Functions of the whitened u.
    features : array of shape (n, n)
        Rows that give the features' changes from u.
    norm, budget : float
    low, high : arrays of shape (n,)
        Domain of these changes.
    """

    margins: tuple[Quadratic, ...]
    features: Array
    norm: float
    budget: float
    low: Array
    high: Array

    def farthest(self) -> float:
        """A distance beyond which the domain holds nothing."""
        ends = np.maximum(np.abs(self.low), np.abs(self.high))
        if not np.isfinite(ends).all():
            return np.inf
        return float(lp_norm(np.abs(np.linalg.inv(self.features)) @ ends, self.norm))


def proven_bound(setting: Setting, proof: dict[str, Any]) -> float:
    """The distance within which the tree proves that nothing lies; 0 if it proves nothing.

    Raises KeyError, TypeError, ValueError or IndexError where the proof is not even well formed.
    """
    n = len(setting.features)
    listed = np.array(proof["directions"], dtype=float).reshape(-1, n)
    reader = _Reader(
        setting,
        np.vstack([np.eye(n), setting.features, listed]),
        [(int(r), np.array(v, dtype=float)) for r, v in proof["scenarios"]],
        [(int(i), int(j)) for i, j in proof["cross"]],
    )
    if any(not (0 <= i < n and 0 <= j < n and i != j) for i, j in reader.cross):
        return 0.0
    for r, v in reader.scenarios:
        if not 0 <= r < len(setting.margins):
            return 0.0
        if v.shape != (n,) or float(lp_norm(v, setting.norm)) > setting.budget * (1 + 1e-9):
            return 0.0  # a scenario outside the ball constrains nobody
    return reader.bound(proof["tree"], [])


@dataclass(frozen=True, eq=False)
class _Reader:
    setting: Setting
    directions: Array
    scenarios: list[tuple[int, Array]]
    cross: list[tuple[int, int]]

    def bound(self, node: dict[str, Any] | None, path: list[Cut]) -> float:
        """Both halves of every cut must be proven; a piece counts for what its multipliers show."""
        if node is None:
            return 0.0
        if "cut" in node:
            k, place = int(node["cut"][0]), float(node["cut"][1])
            if not 0 <= k < len(self.directions):
                return 0.0
            below = self.bound(node["below"], [*path, (k, -np.inf, place)])
            return min(below, self.bound(node["above"], [*path, (k, place, np.inf)]))
        return float(node["bound"]) if self._empty(node, path[: int(node["depth"])]) else 0.0

    def _empty(self, leaf: dict[str, Any], path: list[Cut]) -> bool:
        """Whether the weighted sum of the piece's constraints is negative everywhere on it."""
        level, bound = float(leaf["level"]), float(leaf["bound"])
        if not 0 <= bound <= level:
            return False
        low, high = self._ranges(level, path)
        if (low > high + 1e-12 * (np.abs(low) + np.abs(high))).any():
            return True  # nothing is left of the piece within this level
        corners = [(int(i), float(end)) for i, end in leaf["corners"]]
        if corners and (bound < level or not self._monotone(corners, level, path, low, high)):
            return False
        total = _Sum(self.directions.shape[1])
        if not (
            self._add_norm(total, leaf, bound, [i for i, _ in corners])
            and self._add_slabs(total, leaf["slabs"], low, high)
            and self._add_margins(total, leaf["margins"])
        ):
            return False
        origin, basis = self._subspace(corners)
        return total.negative_on(origin, basis)

    def _ranges(self, level: float, path: list[Cut]) -> tuple[Array, Array]:
        """What level, domain and cuts say about every direction."""
        n = self.directions.shape[1]
        reach = level * np.asarray(lp_norm(self.directions, dual_exponent(self.setting.norm)))
        low, high = -reach, reach.copy()
        low[n : 2 * n] = np.maximum(low[n : 2 * n], self.setting.low)
        high[n : 2 * n] = np.minimum(high[n : 2 * n], self.setting.high)
        for k, a, b in path:
            low[k], high[k] = max(low[k], a), min(high[k], b)
        return low, high

    def _add_norm(self, total: _Sum, leaf: dict[str, Any], bound: float, fixed: list[int]) -> bool:
        """(bound^2 - u_i^2), or bound^2 - u'Au with |A_ij| <= A_ii: both at least 0 within the bound."""
        weights, cross = np.array(leaf["norm"], dtype=float), np.array(leaf["cross"], dtype=float)
        n = self.directions.shape[1]
        if not weights.size:
            return not cross.size
        if (weights < 0).any() or not np.isfinite(bound):
            return False
        if self.setting.norm == np.inf:
            free = [i for i in range(n) if i not in fixed]
            total.add(-np.diag(np.bincount(free, weights, n + 1).astype(float)))
            total.constant(float(weights.sum()) * bound**2)
            return len(weights) == len(free) and not cross.size
        if len(weights) != 1 or len(cross) > (len(self.cross) if self.setting.norm == 1 else 0):
            return False
        if (np.abs(cross) > weights).any():
            return False
        total.add(-weights[0] * np.diag(np.append(np.ones(n), 0.0)))
        total.constant(float(weights[0]) * bound**2)
        for (i, j), x in zip(self.cross[: len(cross)], cross, strict=True):
            terms = np.zeros_like(total.matrix)
            terms[i, j] = terms[j, i] = -x
            total.add(terms)
        return len({frozenset(pair) for pair in self.cross}) == len(self.cross)

    def _add_slabs(self, total: _Sum, slabs: list[Any], low: Array, high: Array) -> bool:
        for k, x in ((int(k), float(x)) for k, x in slabs):
            if not x >= 0 or not 0 <= k < len(self.directions):
                return False
            d = self.directions[k]
            below = (d, -low[k]) if np.isfinite(low[k]) else (0 * d, 1.0)
            above = (-d, high[k]) if np.isfinite(high[k]) else (0 * d, 1.0)
            total.product(x, below, above)
        return True

    def _add_margins(self, total: _Sum, margins: list[Any]) -> bool:
        for s, x in ((int(s), float(x)) for s, x in margins):
            if not x >= 0 or s < 0:
                return False
            r, v = self.scenarios[s]
            total.quadratic(x, self.setting.margins[r], v)
        return True

    def _monotone(
        self, corners: list[tuple[int, float]], level: float, path: list[Cut], low: Array, high: Array
    ) -> bool:
        """Whether moving each coordinate to its end keeps a point in the piece and lowers no margin."""
        n = self.directions.shape[1]
        if self.setting.norm != np.inf or not np.isfinite(level):
            return False
        reach = level * np.abs(self.directions).sum(axis=1)
        told = np.zeros(len(self.directions), dtype=bool)
        told[n : 2 * n] = (self.setting.low > -reach[n : 2 * n]) | (self.setting.high < reach[n : 2 * n])
        told[[k for k, _, _ in path if k >= n]] = True
        a, b = low[:n].copy(), high[:n].copy()
        for i, end in corners:
            if not 0 <= i < n or self.directions[told, i].any() or end not in (a[i], b[i]):
                return False
            up = end == b[i]
            for H in self.setting.margins:
                slope = float(H.gradient(0.5 * (a + b))[i])
                spread = 2 * float(np.abs(H.matrix[i]) @ (0.5 * (b - a) + self.setting.budget))
                room = 1e-12 * (abs(slope) + spread)
                if (slope if up else -slope) < spread - room:
                    return False
            a[i] = b[i] = end
        return True

    def _subspace(self, corners: list[tuple[int, float]]) -> tuple[Array, Array]:
        """All u in which features that may not move and corners have their values."""
        n = self.directions.shape[1]
        still = self.setting.low == self.setting.high
        rows = np.vstack([self.setting.features[still], np.eye(n)[[i for i, _ in corners]]])
        values = np.concatenate([self.setting.low[still], [end for _, end in corners]])
        if not len(rows):
            return np.zeros(n), np.eye(n)
        return np.asarray(np.linalg.lstsq(rows, values, rcond=None)[0]), linalg.null_space(rows)


class _Sum:
    """A quadratic function of u as a symmetric matrix in (u, 1), with the absolute sizes of its terms."""

    def __init__(self, n: int) -> None:
        self.matrix = np.zeros((n + 1, n + 1))
        self.sizes = np.zeros((n + 1, n + 1))

    def add(self, terms: Array) -> None:
        """Add a quadratic function given as a matrix."""
        self.matrix += terms
        self.sizes += np.abs(terms)

    def constant(self, value: float) -> None:
        """Add a number."""
        self.matrix[-1, -1] += value
        self.sizes[-1, -1] += abs(value)

    def product(self, x: float, one: tuple[Array, float], other: tuple[Array, float]) -> None:
        """Add x times the product of two affine functions."""
        f, g = np.append(*one), np.append(*other)
        self.add(0.5 * x * (np.outer(f, g) + np.outer(g, f)))

    def quadratic(self, x: float, H: Quadratic, shift: Array) -> None:
        """Add x H(u + shift)."""
        slope = 0.5 * x * H.gradient(shift)
        terms = np.zeros_like(self.matrix)
        terms[:-1, :-1], terms[:-1, -1], terms[-1, :-1] = x * H.matrix, slope, slope
        self.add(terms)
        self.constant(x * float(H(shift)))

    def negative_on(self, origin: Array, basis: Array) -> bool:
        """Whether the function is below zero for every u = origin + basis z, with room for all rounding.

        Rounding changes no entry by more than a share of the terms' sizes, hence no eigenvalue by more
        than a row's sum of these: what is left after taking that off the diagonal must be definite.
        """
        T = np.zeros((len(origin) + 1, basis.shape[1] + 1))
        T[:-1, :-1], T[:-1, -1], T[-1, -1] = basis, origin, 1.0
        M = -(T.T @ self.matrix @ T)
        noise = ROUNDING * (np.abs(T).T @ self.sizes @ np.abs(T)).sum(axis=1)
        scale = 1 / np.sqrt(np.maximum(np.abs(M.diagonal()), 1e-300))
        try:
            linalg.cholesky(scale[:, None] * (M - np.diag(noise)) * scale)
        except linalg.LinAlgError:
            return False
        return True
