"""The products of affine functions that a leaf of a proof names, added up in floating point.

An affine function of u is a row over (u, 1), one of the features a row over (z, 1). Every one that the leaf
states itself is shown not to be negative on the piece; what is too close for that is decided exactly.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from surefoot.proof.exact import Form, Piece, sloped, split_form
from surefoot.proof.rounding import TINY, Array, Rounded, given, share, stacked


class UndecidedError(Exception):
    """Floating point cannot tell, or the leaf is not plain; the exact checker decides."""


class Slope(NamedTuple):
    """``constant + sum slopes_k u_(indices_k)``; with its entry in the file if it has to be shown."""

    constant: float
    indices: Sequence[int]
    slopes: Sequence[float]
    entry: list[Any] | None


class Products:
    """A sum of weights times products of two affine functions.

    Functions have numbers: 0 is the constant 1, functions of u follow in the order in which they appear, and
    functions of z are counted down from -1. Of z only what moves on the piece is kept.

    Parameters
    ----------
    base : Rounded
        The matrix that maps (z, 1) to (u, 1).
    piece : Piece
    end : callable
        Gives the row over (z, 1) of an affine function that an end of the domain shows.
    """

    def __init__(self, base: Rounded, piece: Piece, end: Callable[[list[Any]], Array]) -> None:
        self.piece, self._end, self.size = piece, end, len(base.value) - 1
        self.keep = np.array([*piece.moving, self.size])  # of the coordinates (z, 1)
        self.base = base.take(np.s_[:, self.keep])
        self._weights: list[float] = []
        self._pairs: list[tuple[int, int]] = []
        self._slopes: list[Slope] = []
        self._rows: list[Array] = []
        self._splits: dict[int, int] = {}
        self._of_norm = given(np.zeros((self.size + 1, self.size + 1)))

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
        self._of_norm = self._cube(checked) if largest else self._sphere(checked[0], cross)

    def _cube(self, weights: list[float]) -> Rounded:
        """Weights times ``(u_i - low)(high - u_i)`` with the ends of the level; over D_ii^2 with prices."""
        setting, n = self.piece.proof.setting, self.size
        low, high = (given(end, 1) for end in self._level_ends())
        scale, edge = given(weights), given(np.zeros(n))
        if setting.prices is not None:
            diagonal = np.diag(setting.metric)
            scale = scale * given(1 / (diagonal * diagonal), 2)
            edge = scale * (low + high)
        corner = -(scale @ (low * high))
        found = given(np.diag([*-scale.value, float(corner.value)]))
        found.size[range(n), range(n)], found.size[n, n] = scale.size, corner.size
        found.value[:n, n], found.size[:n, n] = edge.value, edge.size
        return Rounded(found.value, found.size, max(edge.roundings, corner.roundings))

    def _level_ends(self) -> tuple[Array, Array]:
        """Between which ends the level keeps the entries of u, each rounded once."""
        setting, level = self.piece.proof.setting, self.piece.level
        if setting.prices is not None:
            up, down = np.array(setting.prices).T
            return -level / down, level / up
        if setting.half is not None:
            reach = np.array([float(setting.ends(i, level)[1]) for i in range(self.size)])
        else:
            reach = np.full(self.size, level)
        return -reach, reach

    def _sphere(self, weight: float, cross: list[Any]) -> Rounded:
        """The weight of the norms 1 and 2, and ``cross``, with every u_i times its rate."""
        value = np.diag([*[-weight] * self.size, 0.0])
        if cross:
            self._set_cross(value, cross, weight)
        rates = np.array([*(self.piece.rate(i) for i in range(self.size)), 1.0])
        found, level = given(value) * given(np.outer(rates, rates), 1), given(self.piece.level)
        corner = given(weight) * (level * level)
        found.value[-1, -1], found.size[-1, -1] = corner.value, corner.size
        return Rounded(found.value, found.size, max(found.roundings, corner.roundings))

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
            return 0
        if kind == "c" and len(entry) == 2:
            return self._split(entry[1])
        if kind == "c":
            return self.of_z(as_row(rounded_entries(split_form(self.piece, entry)), self.size))
        return self.of_z(self._end(entry))

    def of_z(self, row: Array) -> int:
        """The number of a row over (z, 1), each of its entries rounded once."""
        self._rows.append(row)
        return -len(self._rows)

    def _of_u(self, slope: Slope) -> int:
        self._slopes.append(slope)
        return len(self._slopes)

    def _split(self, k: Any) -> int:
        demand(type(k) is int and 0 <= k < len(self.piece.path))
        if k not in self._splits:
            form = self.piece.path[k].form
            if form is None:
                raise UndecidedError
            entries = rounded_entries(form)
            if form.space == "z":
                self._splits[k] = self.of_z(as_row(entries, self.size))
            else:
                constant = entries.pop(self.size, 0.0)
                self._splits[k] = self._of_u(Slope(constant, [*entries], [*entries.values()], None))
        return self._splits[k]

    def _sloped(self, entry: list[Any]) -> int:
        _, constant, listed = entry
        demand({*map(type, filled(listed))} == {list} and {*map(len, listed)} == {2})
        indices, slopes = zip(*listed, strict=True)
        demand({*map(type, indices)} == {int} and {*map(type, slopes)} == {float})
        demand(min(indices) >= 0 and max(indices) < self.size and len({*indices}) == len(indices))
        demand(all(map(math.isfinite, slopes)))
        return self._of_u(Slope(double(constant), indices, slopes, entry))

    def matrix(self) -> Rounded:
        """The matrix of the sum in (z, 1); raises where a function cannot be shown not to be negative."""
        table = self._table()
        self._show_not_negative(table)
        total = self.base.transposed @ (self._of_norm @ self.base)
        if self._pairs:
            pairs, weights = np.array(self._pairs, dtype=np.intp), np.array(self._weights)
            numbers = np.where(pairs < 0, len(table) - pairs, pairs)
            total = total + _added(self._functions(table), numbers, weights)
        return given(0.5) * (total + total.transposed)

    def _functions(self, table: Array) -> Rounded:
        """All functions as rows over (z, 1)."""
        found = [given(np.eye(1, len(self.keep), len(self.keep) - 1))]
        if len(table):
            found.append(given(table, 1) @ self.base)
        if self._rows:
            found.append(given(np.array(self._rows)[:, self.keep], 1))
        return stacked(found)

    def _table(self) -> Array:
        """Functions of u as rows over (u, 1)."""
        slopes = self._slopes
        table = np.zeros((len(slopes), self.size + 1))
        if slopes:
            which = np.repeat(np.arange(len(table)), [len(slope.indices) for slope in slopes])
            indices = [i for slope in slopes for i in slope.indices]
            table[which, indices] = [y for slope in slopes for y in slope.slopes]
            table[:, -1] = [slope.constant for slope in slopes]
        return table

    def _show_not_negative(self, table: Array) -> None:
        """Show that no function of u is negative on the piece; what is close is decided exactly."""
        if not len(table):
            return
        setting, (low, high) = self.piece.proof.setting, self._level_ends()
        for i, (least, most) in self.piece.cut_ends.items():
            low[i], high[i] = float(least), float(most)
        if setting.half is not None or setting.prices is not None:  # the ends were rounded
            low, high = np.nextafter(low, -math.inf), np.nextafter(high, math.inf)
        shown = above_by_ends(table, low, high)
        if setting.norm != math.inf:
            shown |= above_by_dual_norm(self._shared(table), self.piece.level, setting.norm)
        for k in np.flatnonzero(~shown):
            entry = self._slopes[k].entry
            if entry is not None:  # a split needs no proof
                sloped(self.piece, entry)

    def _shared(self, table: Array) -> Array:
        """Slopes that are not too small where u_i times its price takes the place of u_i.

        Only a fall of u_i makes y_i u_i negative where y_i > 0, only a rise where y_i < 0.
        """
        setting = self.piece.proof.setting
        if setting.prices is None:
            return table
        up, down = np.nextafter(1 / np.array(setting.prices).T, math.inf)
        shares = np.where(table[:, :-1] > 0, down, up)
        slopes = np.nextafter(np.abs(table[:, :-1]) * shares, math.inf)
        return np.column_stack([np.where(table[:, :-1] == 0, 0.0, slopes), table[:, -1]])


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
