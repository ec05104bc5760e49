"""Many choices refuted at once: by a bound that does without the limits."""

from __future__ import annotations

from collections.abc import Sequence

from surefoot.search.certified.clock import Clock
from surefoot.search.certified.interior import minimise
from surefoot.search.certified.proof import leaf_of
from surefoot.search.certified.region import Region, Scenario, piece
from surefoot.search.certified.rows import first_multipliers, lagrangian
from surefoot.search.certified.space import Space

VAGUE = 0.3  # how exactly a bound is computed that does not refute, relative to itself


def refuted_at_once(space: Space, level: float, scenarios: Sequence[Scenario], clock: Clock) -> Region | None:
    """The region of all points within a level, if one leaf refutes it; else None."""
    region = Region(scenarios=list(range(len(scenarios))))
    part = piece(space, region, level, use_corners=True)
    form = lagrangian(part, scenarios)
    x = None if part.empty or form.left.shape[1] == 1 else first_multipliers(part, form)
    if x is None:
        return None
    found = minimise(form, x, VAGUE, 0.0, clock)
    if not found.refuted:
        return None
    region.leaf, region.bound = leaf_of(part, form, found, level, scenarios), level
    return region
