"""What became of each row of an audit, and the figures of a group of them."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from surefoot.explain.population.columns import valid
from surefoot.explain.population.intervals import quantile, quantile_interval, share_interval
from surefoot.explain.population.row_job import BLAMED, PRINCIPAL
from surefoot.status import Status

Array = NDArray[np.float64]

ACCEPTED, UNREAD, FOUND, NONE, UNDECIDED = "accepted", "unread", "found", "none", "undecided"
COLUMNS = (
    "rows", "asked", "found", "none", "undecided", "none_share", "none_share_low", "none_share_high",
    "cost_median", "cost_median_low", "cost_median_high", "cost_90", "burden", "blamed",
)  # fmt: skip
COUNTS = COLUMNS[:5]
NO_SINGLE, UNASKED = "no single restriction", "not looked for"
MIDDLE, FAR = 0.5, 0.9
# Restrictions that the column `blamed` names. Ten times larger, and a cell of it fills a page.
MOST_BLAMED = 3


@dataclass(frozen=True, eq=False)
class Cases:
    """Each row: how it ended, between which ends its cost is proven to lie, and what was said of it.

    Parameters
    ----------
    kind : array of str
        ``accepted`` (decided as the target), ``unread`` (no row that the model can decide), ``found``,
        ``none`` (proven), ``undecided``.
    low, high : arrays
        Infinite where it is proven that there is none.
    blamed, changed, principal, cautions : sequences of tuples
        Restrictions in the way; features that change, and those of the principal reasons; codes.
    """

    kind: NDArray[Any]
    low: Array
    high: Array
    blamed: Sequence[tuple[Any, ...]]
    changed: Sequence[tuple[Any, ...]]
    principal: Sequence[tuple[Any, ...]]
    cautions: Sequence[tuple[Any, ...]]

    @property
    def asked(self) -> NDArray[np.bool_]:
        """Which rows are not decided as the target."""
        return np.isin(self.kind, (FOUND, NONE, UNDECIDED))

    @property
    def cap(self) -> float:
        """The cost below which nine in ten of those stay who have a way: `burden` counts up to it."""
        return quantile(self.high[self.kind == FOUND], FAR)

    def figures(self, rows: NDArray[np.intp], ci: float, cap: float) -> dict[str, Any]:
        """The figures of some rows, by `COLUMNS`."""
        kind = self.kind[rows]
        asked = rows[self.asked[rows]]
        counts = {name: int(np.sum(kind == name)) for name in (FOUND, NONE, UNDECIDED)}
        none, n = counts[NONE], len(asked)
        low, high = self.low[asked], self.high[asked]
        values: list[float] = [len(rows), n, *counts.values()]
        values += [none / n if n else math.nan, *share_interval(none, none + counts[UNDECIDED], n, ci)]
        values += [quantile(high, MIDDLE), *quantile_interval(low, high, MIDDLE, ci), quantile(high, FAR)]
        burden = float(np.mean(np.minimum(high, cap))) if n and not math.isnan(cap) else math.nan
        return dict(zip(COLUMNS, [*values, burden, self._most_blamed(rows)], strict=True))

    def _most_blamed(self, rows: NDArray[np.intp]) -> str:
        counted = self.counted("blamed", rows)[:MOST_BLAMED]
        return "; ".join(f"{what} ({count})" for what, count in counted)

    def counted(self, what: str, rows: NDArray[np.intp]) -> list[tuple[Any, int]]:
        """In how many of these rows each of something is, the most frequent first."""
        every = getattr(self, what)
        found = Counter(one for row in rows for one in every[row])
        return sorted(found.items(), key=lambda pair: (-pair[1], str(pair[0])))


def cases_of(table: pd.DataFrame, accepted: Iterable[bool], features: Sequence[Any], otherwise: str) -> Cases:
    """What became of each row, from its line of the table.

    Parameters
    ----------
    table : DataFrame
        With the columns `SEVERAL`.
    accepted : iterable of bool
        Which rows are decided as the target.
    features : sequence
        Names of the features.
    otherwise : str
        What is blamed where no restriction is in the way by itself.
    """
    statuses = [Status(status) for status in table["status"]]
    kinds = [_kind(status, there) for status, there in zip(statuses, accepted, strict=True)]
    kind = np.array(kinds, dtype=object)
    high = np.where(kind == FOUND, table["distance"].to_numpy(float), math.inf)
    bounds = np.maximum(np.nan_to_num(table["lower_bound"].to_numpy(float), nan=0.0, posinf=math.inf), 0.0)
    finished = np.array([status is Status.OPTIMAL for status in statuses])
    low = np.where(kind == NONE, math.inf, np.where(finished, high, np.minimum(bounds, high)))
    several = [tuple(json.loads(one)) or (otherwise,) for one in table[BLAMED]]
    blamed = [what if which == NONE else () for what, which in zip(several, kinds, strict=True)]
    changed = _changed(table, features, kind == FOUND)
    asked = np.isin(kind, (FOUND, NONE, UNDECIDED))
    against = [tuple(features[j] for j in json.loads(one)) for one in table[PRINCIPAL]]
    principal = [what if was else () for what, was in zip(against, asked, strict=True)]
    codes = table["cautions"].fillna("")
    cautions = [tuple(c.split()) if was else () for c, was in zip(codes, asked, strict=True)]
    return Cases(kind, low, high, blamed, changed, principal, cautions)


def _kind(status: Status, accepted: bool) -> str:
    if accepted or status is Status.ALREADY_TARGET:
        return ACCEPTED
    if status is Status.INVALID:
        return UNREAD
    if status is Status.INFEASIBLE:
        return NONE
    return FOUND if status.has_point else UNDECIDED


def _changed(table: pd.DataFrame, features: Any, found: NDArray[np.bool_]) -> list[tuple[Any, ...]]:
    """Which features each counterfactual changes; one that was missing and filled in has not changed."""
    differs = {}
    for name in features:
        before, after = table[valid(f"factual: {name}")], table[valid(f"counterfactual: {name}")]
        differs[name] = (before.notna() & after.notna() & (before != after).fillna(False)).to_numpy(bool)
    return [tuple(n for n in features if differs[n][k]) if found[k] else () for k in range(len(table))]
