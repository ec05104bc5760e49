"""Piecewise McCormick envelopes of products, with as few binaries as the signs allow.

A product whose coefficient is positive in a "greater than" row only needs an upper envelope, one whose
coefficient is negative only a lower one: the other half can never be tight. Lower envelopes of squares
are tangents, valid everywhere, so they need no binaries at all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from surefoot.search.paper.program import Index, ProgramBuilder

Array = NDArray[np.float64]
Pair = tuple[int, int]


def add_products(
    builder: ProgramBuilder, x: Index, grids: Sequence[Array], coefficients: Mapping[Pair, float]
) -> dict[Pair, int]:
    """Variables z_jk ~ x_j x_k for every pair with a coefficient.

    Parameters
    ----------
    builder : ProgramBuilder
    x : positions of the variables
    grids : for each variable, the ends of its segments
    coefficients : {(j, k): coefficient of x_j x_k in a row that reads "... >= something"}, j <= k

    Returns
    -------
    dict
        Position of z_jk for every pair.
    """
    cells = {j: None for (j, k), c in coefficients.items() if j != k or c > 0}
    segments = {j: _Segments(builder, int(x[j]), grids[j]) for j in cells}
    products = {}
    for (j, k), coefficient in coefficients.items():
        z = int(builder.variables(1, -np.inf, np.inf)[0])
        products[j, k] = z
        if j != k:
            segments[j].bound_product(builder, z, int(x[k]), grids[k][[0, -1]], upper=coefficient > 0)
        elif coefficient > 0:
            segments[j].bound_square_above(builder, z)
        else:
            _tangents(builder, z, int(x[j]), grids[j])
    return products


class _Segments:
    """Exactly one segment of a variable is active: binaries that add up to one.

    With x = sum_r (a_r s_r + d_r), 0 <= d_r <= width s_r, the position within the active segment is
    known without a big M (the convex-hull form of the paper's disjunction).
    """

    def __init__(self, builder: ProgramBuilder, x: int, grid: Array) -> None:
        self.x, self.grid = x, grid
        self.starts, self.widths = grid[:-1], np.diff(grid)
        m = len(self.starts)
        self.active = builder.variables(m, 0.0, 1.0, integer=m > 1)
        self.inside = builder.variables(m, 0.0, np.inf)
        builder.linear(np.ones((1, m)), self.active, 1.0, 1.0)
        builder.linear(
            np.hstack([np.eye(m), -np.diag(self.widths)]),
            np.concatenate([self.inside, self.active]),
            -np.inf,
            0.0,
        )
        builder.linear(
            np.concatenate([[1.0], -self.starts, -np.ones(m)])[None],
            np.concatenate([[x], self.active, self.inside]),
            0.0,
            0.0,
        )

    def bound_square_above(self, builder: ProgramBuilder, z: int) -> None:
        """Z <= secant of the active segment: a^2 s + (a + b) d, the segment used on both sides."""
        slopes = self.grid[:-1] + self.grid[1:]
        row = np.concatenate([[1.0], -(self.starts**2), -slopes])
        builder.linear(row[None], np.concatenate([[z], self.active, self.inside]), -np.inf, 0.0)

    def bound_product(self, builder: ProgramBuilder, z: int, y: int, ends: Array, upper: bool) -> None:
        """McCormick's inequalities for x y, x in the active segment and y between ``ends``.

        y is split among the segments (y_r between low s_r and high s_r), so x y = sum a_r y_r + d_r y_r
        and only d_r y_r, which is small, has to be enclosed.
        """
        low, high = ends
        m = len(self.starts)
        part = builder.variables(m, -np.inf, np.inf)
        columns = np.concatenate([part, self.active])
        builder.linear(np.hstack([np.eye(m), -low * np.eye(m)]), columns, 0.0, np.inf)
        builder.linear(np.hstack([np.eye(m), -high * np.eye(m)]), columns, -np.inf, 0.0)
        builder.linear(np.append(np.ones(m), -1.0)[None], np.append(part, y), 0.0, 0.0)
        everything = np.concatenate([[z], part, self.active, self.inside])
        w = self.widths
        zero, one = np.zeros(m), np.ones(m)
        if upper:  # d y <= high d  and  d y <= low d + width (y - low)
            rows = [(self.starts, zero, high * one), (self.starts + w, -low * w, low * one)]
        else:  # d y >= low d  and  d y >= high d + width (y - high)
            rows = [(self.starts, zero, low * one), (self.starts + w, -high * w, high * one)]
        for on_part, on_active, on_inside in rows:
            row = np.concatenate([[1.0], -on_part, -on_active, -on_inside])[None]
            builder.linear(row, everything, *((-np.inf, 0.0) if upper else (0.0, np.inf)))


def _tangents(builder: ProgramBuilder, z: int, x: int, grid: Array) -> None:
    """Z >= tangents of x^2 at all ends of segments."""
    rows = np.column_stack([np.ones(len(grid)), -2 * grid])
    builder.linear(rows, np.array([z, x]), -(grid**2), np.inf)
