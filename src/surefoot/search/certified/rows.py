"""The rows of a region's Lagrangian: what is known to be non-negative in it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dpotrf

from surefoot.search.certified.lagrangian import Indices, Lagrangian
from surefoot.search.certified.region import Piece, Scenario

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]


class Rows(NamedTuple):
    """Products of two affine functions of u: slopes and, last, the offset, a row for each."""

    left: Array
    right: Array


def lagrangian(part: Piece, scenarios: Sequence[Scenario]) -> Lagrangian:
    """Weighted sum of everything that is known to be non-negative in the region.

    Rows in this order: norm (and for p = 1 its cross terms), slabs, rays, pairs, wedges, gaps, margins.
    """
    space = part.space
    norm, n_norm = _norm(part)
    blocks = [norm]
    blocks += [_slabs(part)] if len(part.stated) else []
    blocks += [_rays(part)] if part.rays else []
    blocks += [_pairs(part)] if part.pairs else []
    blocks += [_wedges(part)] if part.wedges else []
    blocks += [_gaps(part)] if part.gaps else []
    left, right = (np.concatenate(side) for side in zip(*blocks, _margins(part, scenarios), strict=True))
    kind = np.full(len(left), -1)
    rivals = sorted({r for r, _ in scenarios})
    kind[len(left) - len(scenarios) :] = [rivals.index(r) for r, _ in scenarios]
    curvatures = space.curvatures[rivals]
    round_ = bool(n_norm) and space.norm != np.inf
    scales = np.ones(space.n) if part.scales is None else part.scales
    if round_:
        kind[0] = len(curvatures)
        curvatures = np.concatenate([curvatures, -np.diag(scales**2)[None]])
    if part.basis is not None:
        curvatures = part.basis.T @ curvatures @ part.basis
        left, right = _substituted(left, part), _substituted(right, part)
        centre = scales * part.origin
        right[0, -1] -= float(centre @ centre) if round_ else 0.0
    n_cross = len(norm.left) - 1 if round_ else 0
    return Lagrangian(left, right, curvatures, kind, len(scenarios), n_norm, n_cross)


def _substituted(rows: Array, part: Piece) -> Array:
    """Affine functions of u as affine functions of z."""
    return _affine(part.reduced(rows[:, :-1]), rows[:, :-1] @ part.origin + rows[:, -1])


def _norm(part: Piece) -> tuple[Rows, int]:
    """P = infinity: (L - u_i)(L + u_i); else L^2 - u'u, and for p = 1 the cross terms u_i (-2 u_j).

    Where prices differ up and down each L has its own, and each u_i the price of its side. Also how many
    rows carry a multiplier of the norm.
    """
    n, level = part.space.n, part.level
    if not np.isfinite(level):
        return Rows(np.zeros((0, n + 1)), np.zeros((0, n + 1))), 0
    eye = np.eye(n, n + 1)
    if part.space.norm == np.inf:
        (below, above), free = part.space.level_ends(level), part.free
        left, right = -eye[free], eye[free]
        left[:, -1], right[:, -1] = above[free], -below[free]
        return Rows(left, right), len(free)
    eye = eye if part.scales is None else part.scales[:, None] * eye
    one = np.zeros((1, n + 1))
    one[0, -1] = 1.0
    i, j = np.array(part.cross, dtype=np.intp).reshape(-1, 2).T
    return Rows(np.concatenate([one, eye[i]]), np.concatenate([level**2 * one, -2 * eye[j]])), 1


def _slabs(part: Piece) -> Rows:
    """(d_k'u - low_k)(high_k - d_k'u)."""
    return Rows(_sides(part, part.stated, above=False), _sides(part, part.stated, above=True))


def _rays(part: Piece) -> Rows:
    """(y'u - least)(most - y'u)."""
    slopes, ends = np.array(part.rays), np.array([ends for _, ends in part.ray_ends])
    return Rows(_affine(slopes, -ends[:, 0]), _affine(-slopes, ends[:, 1]))


def _pairs(part: Piece) -> Rows:
    """Products of two directions' distances from one end each."""
    i, above_i, j, above_j = (np.array(entries) for entries in zip(*part.pairs, strict=True))
    return Rows(_sides(part, i, above_i), _sides(part, j, above_j))


def _wedges(part: Piece) -> Rows:
    """A direction's distance from one end times L - y'u, with y a slope of the norm."""
    k, above, slopes = (np.array(entries) for entries in zip(*part.wedges, strict=True))
    return Rows(_sides(part, k, above), _affine(-slopes, np.full(len(k), part.level)))


def _gaps(part: Piece) -> Rows:
    """(d_k'u - a)(d_k'u - b): nothing lies between the two."""
    k, ends = [k for k, _ in part.gaps], np.array([ends for _, ends in part.gaps])
    slopes, ends = part.space.directions[k] / _grains(part, k), ends / _grains(part, k)
    return Rows(_affine(slopes, -ends[:, 0]), _affine(slopes, -ends[:, 1]))


def _margins(part: Piece, scenarios: Sequence[Scenario]) -> Rows:
    """The affine part of H_r(u + v), expanded around the piece's origin, times the constant 1."""
    rivals, at = np.array([r for r, _ in scenarios]), np.array([v for _, v in scenarios]) + part.origin
    slopes, values = np.empty(at.shape), np.empty(len(at))
    for r in set(rivals.tolist()):
        own, H = rivals == r, part.space.margins[r]
        slopes[own], values[own] = H.gradient(at[own]), H(at[own])
    one = _affine(np.zeros(at.shape), np.ones(len(at)))
    return Rows(one, _affine(slopes, values - slopes @ part.origin))


def _sides(part: Piece, k: Indices, above: Mask | bool) -> Array:
    """d_k'u - low_k or, above, high_k - d_k'u, divided by its grain; an open side is the constant 1."""
    ends = np.where(above, part.high[k], -part.low[k])
    rows = _affine(np.where(above, -1.0, 1.0)[..., None] * part.space.directions[k], ends)
    rows /= _grains(part, k)
    rows[~np.isfinite(ends)] = np.append(np.zeros(part.space.n), 1.0)
    return rows


def _grains(part: Piece, k: Indices | list[int]) -> Array:
    return np.asarray(part.space.grains[k][:, None])


def _affine(slopes: Array, constants: Array) -> Array:
    """Affine functions of u, a row for each."""
    rows = np.empty((len(slopes), slopes.shape[1] + 1))
    rows[:, :-1], rows[:, -1] = slopes, constants
    return rows


def first_multipliers(part: Piece, form: Lagrangian) -> Array | None:
    """Multipliers with which the Lagrangian is concave; None if none were found."""
    steepest = float(np.abs(form.right[form.margins, :-1]).max(initial=0.0)) / part.level
    size = max(2 * part.space.most_convex, 0.1 * steepest, 1e-12)
    x = np.full(form.size, 0.05 * size)
    x[: form.n_norm] = size
    x[1 : 1 + form.n_cross] = 0.0
    x[form.margins] = 1.0 / form.n_margins
    movable = slice(0, form.n_norm) if form.n_norm else slice(0, form.margins.start)
    rivals = form.kind[form.margins]
    counts = np.bincount(rivals)
    mixtures = [x[form.margins].copy()]
    if not form.n_norm:  # with hundreds of scenarios this is not done anew for each try
        mixtures = [(weights / counts)[rivals] for weights in _mixtures(len(counts))]
        mixtures = [shares / shares.sum() for shares in mixtures]
    for _ in range(40 if form.n_norm or form.margins.start else 1):
        for shares in mixtures:
            x[form.margins] = shares
            if dpotrf(-form.matrix(x)[:-1, :-1], lower=1)[1] == 0:
                return x
        x[movable] *= 4.0
    return None


def _mixtures(n_rivals: int) -> list[Array]:
    """Weights of the rivals among which some may make the sum of their margins concave."""
    mixtures = [np.full(n_rivals, 1.0 / n_rivals)]
    for r in range(n_rivals):
        for share in (0.2, 0.4, 0.6, 0.8, 0.95, 0.999) if n_rivals > 1 else ():
            rest = np.full(n_rivals, (1 - share) / (n_rivals - 1))
            rest[r] = share
            mixtures.append(rest)
    return mixtures
