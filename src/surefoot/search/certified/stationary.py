"""Multipliers of a local optimum: where the bound is exact they prove it at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from surefoot.search.certified.interior import Multipliers, refutes
from surefoot.search.certified.lagrangian import Lagrangian
from surefoot.search.certified.local import Step
from surefoot.search.certified.region import Piece

Array = NDArray[np.float64]

BLENDS = (1e-4, 1e-2, 0.1)  # shares of safely concave multipliers mixed in, until F is concave


def at_once(form: Lagrangian, x: Array, safe: Array) -> Multipliers | None:
    """Refute a region with given multipliers, or None where they do not."""
    for share in BLENDS:
        mixed = (1 - share) * x + share * safe
        value = refutes(form, mixed)
        if value is not None:
            n = form.left.shape[1] - 1
            return Multipliers(mixed, value, True, np.zeros(n), np.zeros((n, n)), 0)
    return None


def stationary_multipliers(
    step: Step, active: list[int], part: Piece, form: Lagrangian, scenarios: list[int]
) -> Array | None:
    """The Lagrangian's multipliers in which a local optimum is stationary.

    The convex program's dual variables belong to t >= |u_i|; the Lagrangian squares: (t^2 - u_i^2) has
    the slope 2t at its end, a slab's product its width. None where no margin has a price.
    """
    space, size = part.space, max(part.space.size(step.u), 1e-300)
    price = dict(zip(active, np.maximum(step.margins, 0.0), strict=True))
    margins = np.array([price.get(s, 0.0) for s in scenarios])
    if margins.sum() <= 0:
        return None
    x = np.zeros(form.size)
    cross = form.n_norm + form.n_cross
    if space.norm == 1:
        s = np.clip(step.subgradient if part.scales is None else step.subgradient / part.scales, -1.0, 1.0)
        if not part.rays:
            x[: form.n_norm] = 1.0 / (2 * size)
            x[form.n_norm : cross] = [s[i] * s[j] / (2 * size) for i, j in space.cross[: form.n_cross]]
    elif space.norm == np.inf:
        widths = np.full(space.n, 2.0) if space.prices is None else space.prices.width
        x[: form.n_norm] = np.maximum(step.norm[part.free], 0.0) / (widths[part.free] * size)
    elif not part.rays:
        x[: form.n_norm] = np.maximum(step.norm, 0.0) / (2 * size)
    stated = part.stated
    width = (part.high - part.low)[stated]
    wide = width > 1e-9 * size * space.reach[stated]
    slabs = np.maximum(step.domain[stated], 0.0) / np.where(wide, width, np.inf)
    x[cross : cross + len(stated)] = slabs * space.grains[stated] ** 2
    for low, high in [ends for _, ends in part.ray_ends[:1]]:  # the first is the norm's subgradient
        x[cross + len(stated)] = 1.0 / ((high - low) / part.level * size)
    x[form.margins] = margins
    return np.asarray(x / margins.sum())
