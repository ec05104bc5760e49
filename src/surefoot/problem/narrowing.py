"""Narrower domains: those in which some ways are taken and some features are kept."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from surefoot.exceptions import ProblemError
from surefoot.problem.domain import Domain

Array = NDArray[np.float64]
Taken = Mapping[int, int]  # either, by its place in the domain -> the way taken


def narrowed(domain: Domain, factual: Array, taken: Taken, kept: Collection[int] = ()) -> Domain | None:
    """The part of a domain in which some ways are taken and some features are kept; None if it is empty."""
    low, high, rows = domain.low.copy(), domain.high.copy(), list(domain.rows)
    for row in (row for e, way in taken.items() for row in domain.eithers[e].ways[way].rows):
        j = row.feature
        if j is None:
            rows.append(row)
        else:
            low[j], high[j] = max(low[j], row.low), min(high[j], row.high)
    for j in kept:
        low[j], high[j] = max(low[j], factual[j]), min(high[j], factual[j])
    try:
        return replace(domain, low=low, high=high, rows=tuple(rows))
    except ProblemError:  # ends that exclude each other, or no allowed value between them
        return None
