"""The products of affine functions that a leaf of a proof names, added up in floating point.

An affine function of u is a row over (u, 1), one of the features a row over (z, 1). Every one that the leaf
states itself is shown not to be negative on the piece; what is too close for that is decided exactly.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from surefoot.proof.exact import Form, Piece, sloped
from surefoot.proof.rounding import TINY, Array, Rounded, given, share, stacked


class UndecidedError(Exception):
    """Floating point cannot tell, or the leaf is not plain; the exact checker decides."""


class Slope(NamedTuple):
    """``constant + sum slopes_k u_(indices_k)``; with its entry in the file if it has to be shown."""

    constant: float
    indices: list[int]
    slopes: list[float]
    entry: list[Any] | None


class Products:
    """A sum of weights times products of two affine functions.

    Functions have numbers: first the entries of u and the constant 1, then functions of u in the order in
    which they appear. Functions of z are counted down from -1.

    Parameters
    ----------
    base : Rounded
        The matrix that maps (z, 1) to (u, 1).
    piece : Piece
    end : callable
        Gives the row over (z, 1) of an affine function that an end of the domain shows.
    """

    def __init__(self, base: Rounded, piece: Piece, end: Callable[[list[Any]], Array]) -> None:
        self.base, self.piece, self._end, self.size = base, piece, end, len(base.value) - 1
        self._weights: list[float] = []
        self._pairs: list[tuple[int, int]] = []
        self._slopes: list[Slope] = []
        self._rows: list[Array] = []
        self._splits: dict[int, int] = {}
        self._of_norm = given(np.zeros_like(base.value))

    def add(self, weight: float, one: int, other: int) -> None:
        """A weight times the product of two functions."""
        self._weights.append(weight)
        self._pairs.append((one, other))

    def add_norm(self, weights: list[Any], cross: list[Any]) -> None:
        """The distance is at most the level; see `norm_terms` of the exact checker."""
        if not weights and not cross:
            return
        setting, level = self.piece.proof.setting, self.piece.level
        largest = setting.norm == math.inf
        demand(level < math.inf and len(weights) == (self.size if largest else 1))
        demand(not cross or setting.norm == 1)
        checked = [checked_weight(w) for w in weights]
        value = np.diag([*(-w for w in (checked if largest else checked * self.size)), 0.0])
        if cross:
            self._set_cross(value, cross, checked[0])
        reach = given([float(setting.reach(i, level) if largest else level) for i in range(len(checked))], 1)
        constant, found = given(checked) @ (reach * reach), given(value)
        found.value[-1, -1], found.size[-1, -1] = constant.value, constant.size
        self._of_norm = Rounded(found.value, found.size, constant.roundings)

    def _set_cross(self, value: Array, cross: list[Any], limit: float) -> None:
        """Write -2 x into the matrix of the norm for every pair of ``cross``."""
        demand({*map(type, cross)} == {list} and {*map(len, cross)} == {3})
        rows, columns, weights = zip(*cross, strict=True)
        demand({*map(type, rows)} == {*map(type, columns)} == {int} and {*map(type, weights)} == {float})
        demand(min(rows) >= 0 and max(columns) < self.size)
        demand(len({*zip(rows, columns, strict=True)}) == len(cross))
        i, j, x = np.array(rows), np.array(columns), np.array(weights)
        demand(bool((i < j).all() and (np.abs(x) <= limit).all()))
        value[i, j] = -2 * x

    def number(self, entry: Any) -> int:
        """The number of an affine function as the file writes it."""
        kind = filled(entry)[0]
        if kind == "a":
            return self._sloped(entry)
        if kind == "1" and len(entry) == 1:
            return self.size
        if kind == "c" and len(entry) == 2:
            return self._split(entry[1])
        return self.of_z(self._end(entry))

    def of_z(self, row: Array) -> int:
        """The number of a row over (z, 1), each of its entries rounded once."""
        self._rows.append(row)
        return -len(self._rows)

    def _of_u(self, slope: Slope) -> int:
        self._slopes.append(slope)
        return self.size + len(self._slopes)

    def _split(self, k: Any) -> int:
        demand(type(k) is int and 0 <= k < len(self.piece.path))
        if k not in self._splits:
            form = self.piece.path[k].form
            entries = rounded_entries(form)
            if form.space == "z":
                self._splits[k] = self.of_z(as_row(entries, self.size))
            else:
                constant = entries.pop(self.size, 0.0)
                self._splits[k] = self._of_u(Slope(constant, [*entries], [*entries.values()], None))
        return self._splits[k]

    def _sloped(self, entry: list[Any]) -> int:
        _, constant, listed = entry
        indices, slopes = [], []
        for pair in filled(listed):
            i, y = filled(pair)
            demand(type(i) is int and 0 <= i < self.size)
            indices.append(i)
            slopes.append(double(y))
        demand(len(indices) < 2 or len({*indices}) == len(indices))
        return self._of_u(Slope(double(constant), indices, slopes, entry))

    def matrix(self) -> Rounded:
        """The matrix of the sum in (z, 1); raises where a function cannot be shown not to be negative."""
        table = self._table()
        self._show_not_negative(table[self.size + 1 :])
        functions, inner = given(table, 1), self._of_norm
        pairs, weights = np.array(self._pairs, dtype=np.intp).reshape(-1, 2), np.array(self._weights)
        mixed = (pairs < 0).any(axis=1)
        if not mixed.all():
            inner = inner + _added(functions, pairs[~mixed], weights[~mixed])
        total = self.base.transposed @ (inner @ self.base)
        if mixed.any():
            every = stacked([functions @ self.base, given(self._rows, 1)])
            numbers = np.where(pairs < 0, len(table) - 1 - pairs, pairs)
            total = total + _added(every, numbers[mixed], weights[mixed])
        return given(0.5) * (total + total.transposed)

    def _table(self) -> Array:
        """Functions of u as rows over (u, 1)."""
        slopes, start = self._slopes, self.size + 1
        table = np.eye(start + len(slopes), start)
        if slopes:
            which = np.repeat(np.arange(start, len(table)), [len(slope.indices) for slope in slopes])
            indices = [i for slope in slopes for i in slope.indices]
            table[which, indices] = [y for slope in slopes for y in slope.slopes]
            table[start:, -1] = [slope.constant for slope in slopes]
        return table

    def _show_not_negative(self, table: Array) -> None:
        """Show that no function of u is negative on the piece; what is close is decided exactly."""
        if not len(table):
            return
        setting, ends = self.piece.proof.setting, [self.piece.ends(i) for i in range(self.size)]
        low, high = (np.array([float(end[side]) for end in ends]) for side in (0, 1))
        if setting.half is not None:  # the ends were rounded
            low, high = np.nextafter(low, -math.inf), np.nextafter(high, math.inf)
        shown = above_by_ends(table, low, high)
        if setting.norm != math.inf:
            shown |= above_by_dual_norm(table, self.piece.level, setting.norm)
        for k in np.flatnonzero(~shown):
            entry = self._slopes[k].entry
            if entry is not None:  # a split needs no proof
                sloped(self.piece, entry)


def _added(functions: Rounded, pairs: NDArray[np.intp], weights: Array) -> Rounded:
    """The sum of weights times products of two rows; its symmetric part is meant."""
    one, other = functions.take(pairs[:, 0]), functions.take(pairs[:, 1])
    return one.transposed @ (given(weights[:, None]) * other)


def above_by_ends(table: Array, low: Array, high: Array) -> NDArray[np.bool_]:
    """Where ``c + y'u >= 0`` for all u between the ends is certain; rows of the table are (y, c)."""
    y, c = table[:, :-1], table[:, -1]
    least = np.where(y == 0, 0.0, y * np.where(y > 0, low, high))
    need, size = -least.sum(axis=1), np.abs(c) + np.abs(least).sum(axis=1)
    certain = c - need > share(table.shape[1] + 1) * size + TINY
    # A single product is off by half a unit in its last place, and by nothing if its factor is 1.
    alone, one = (y != 0).sum(axis=1) == 1, np.abs(y).max(axis=1, initial=0.0) == 1
    close = (one & (c >= need)) | (c >= np.nextafter(need, math.inf))
    return np.asarray(certain | (alone & close))


def above_by_dual_norm(table: Array, level: float, norm: float) -> NDArray[np.bool_]:
    """Where ``c >= level times the dual norm of y`` is certain, for the norms 1 and 2."""
    y, c = np.abs(table[:, :-1]), table[:, -1]
    largest = y.max(axis=1, initial=0.0)
    if norm == 1:
        return np.asarray((c >= np.nextafter(level * largest, math.inf)) | ((largest == 1) & (c >= level)))
    length = largest * np.sqrt(((y / largest[:, None]) ** 2).sum(axis=1))
    return np.asarray(c >= level * length * (1 + share(table.shape[1] + 8)) + TINY)


def rounded_entries(form: Form) -> dict[int, float]:
    """The numbers of an affine function by their coordinate, each rounded once."""
    return {i: w / (1 << form.shift) for i, w in form.entries}


def as_row(entries: dict[int, float], size: int) -> Array:
    """An affine function as a row over (z, 1)."""
    row = np.zeros(size + 1)
    row[[*entries]] = [*entries.values()]
    return row


def demand(condition: bool) -> None:
    """Go on only if this is so."""
    if not condition:
        raise UndecidedError


def filled(value: Any) -> list[Any]:
    """A list that is not empty."""
    if type(value) is not list or not value:
        raise UndecidedError
    return value


def double(value: Any) -> float:
    """A finite double."""
    if type(value) is not float or not -math.inf < value < math.inf:
        raise UndecidedError
    return value


def checked_weight(value: Any) -> float:
    """A finite double that is not negative."""
    if type(value) is not float or not 0 <= value < math.inf:
        raise UndecidedError
    return value
