"""Products of a distance from an end of the domain and one from a tangent of the norm's ball."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from surefoot.search.certified.interior import Multipliers
from surefoot.search.certified.region import Piece, Wedge
from surefoot.search.certified.space import Space

Array = NDArray[np.float64]

TOLERANCE = 1e-3  # share of what the two distances can be; less negative products are left out
INSIDE = 1 - 1e-12  # slopes are so much flatter, or rounding would make them steeper than the norm


def violated_wedges(part: Piece, found: Multipliers, most: int) -> frozenset[Wedge]:
    """The products (end - d'u)(L - y'u) that the relaxed solution makes most negative (p = 1 and 2).

    The relaxed solution is a mixture of points. The mean of (end - d'u) u is a vector g, and the mean of the
    product is lowest for the y that grows fastest along it: L times the mean of (end - d'u) less the norm
    of g. Where a point of the mixture leaves the domain, this is negative.
    """
    space, level, u = part.space, part.level, part.lifted(found.z)
    if not np.isfinite(level):
        return frozenset()
    basis = np.eye(space.n) if part.basis is None else part.basis
    spread = basis @ found.spread @ basis.T
    wedges = []
    for k in part.stated:
        d, width = space.directions[k], float(part.high[k] - part.low[k])
        for above, end in ((False, part.low[k]), (True, part.high[k])):
            sign = -1.0 if above else 1.0
            distance = sign * float(d @ u - end)
            g = distance * u + sign * (spread @ d)
            value = (level * distance - space.size(g)) / max(level * width, 1e-300)
            if value < -TOLERANCE:
                wedges.append((value, Wedge(int(k), above, tuple((INSIDE * slope(space, g)).tolist()))))
    wedges.sort(key=lambda entry: entry[0])
    return frozenset(wedge for _, wedge in wedges[:most])


def slope(space: Space, g: Array) -> Array:
    """A slope of the norm at g, for p = 1 and 2: y'u is nowhere above the norm of u, and y'g is that of g."""
    if space.prices is not None:
        return space.prices.slope(g)
    return np.sign(g) if space.norm == 1 else np.asarray(g / max(space.size(g), 1e-300))
