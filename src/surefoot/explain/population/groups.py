"""Who belongs together: groups by columns, by bands of a number, and by what comes beside the table."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd

from surefoot.exceptions import ProblemError
from surefoot.explain.constraints.arithmetic import is_number
from surefoot.formats import exact, listed, one_line, suggestion

# What the group of those without a value is called.
MISSING = "missing"
EVERYBODY = "everybody"
# Groups of one audit. Ten times larger, and a table of groups is as long as the table of rows.
MOST = 500


@dataclass(frozen=True, eq=False)
class Groups:
    """The group of each row.

    Parameters
    ----------
    labels : DataFrame
        A column for each thing that rows are grouped by, a line for each row.
    orders : tuple of tuples
        The values of each column, in the order in which groups are shown.
    notes : tuple of str
        What there is to say about them.
    """

    labels: pd.DataFrame
    orders: tuple[tuple[Any, ...], ...]
    notes: tuple[str, ...] = ()

    @property
    def names(self) -> list[Any]:
        """What rows are grouped by."""
        return list(self.labels.columns)

    @property
    def alone(self) -> list[Groups]:
        """The groups by each column alone, where there are several."""
        several = self.names if len(self.names) > 1 else []
        return [Groups(self.labels.iloc[:, [k]], self.orders[k : k + 1]) for k in range(len(several))]

    def places(self) -> dict[tuple[Any, ...], np.ndarray]:
        """The rows of each group that occurs, by its values, in order."""
        ranks = [{value: k for k, value in enumerate(order)} for order in self.orders]
        columns = [self.labels.iloc[:, k].tolist() for k in range(self.labels.shape[1])]
        found: dict[tuple[Any, ...], list[int]] = {}
        for place, key in enumerate(zip(*columns, strict=True)):
            found.setdefault(key, []).append(place)
        ordered = sorted(found, key=lambda key: [ranks[k][value] for k, value in enumerate(key)])
        return {key: np.array(found[key], dtype=np.intp) for key in ordered}

    def index(self, keys: Sequence[tuple[Any, ...]]) -> pd.Index:
        """Groups as the index of a frame: with several columns, of several levels."""
        if len(self.names) == 1:
            return pd.Index([key[0] for key in keys], name=self.names[0], dtype=object, tupleize_cols=False)
        return pd.MultiIndex.from_tuples(keys, names=self.names)


def grouped(frame: pd.DataFrame, by: Any) -> Groups:
    """The groups that ``by`` asks for; see `CounterfactualExplainer.audit`."""
    asked = list(_each(by))
    if not asked:
        everybody = pd.DataFrame({"group": pd.Series([EVERYBODY] * len(frame), dtype=object)})
        return Groups(everybody, ((EVERYBODY,),))
    columns, orders, notes = {}, [], []
    for what in asked:
        name, values, edges = _column(frame, what)
        if name in columns:
            raise ProblemError(f"by: {name!r} is given twice")
        labels, order = (_as_they_are if edges is None else _banded)(name, values, edges)
        holes = labels.count(None)
        columns[name] = pd.Series([_called(order) if v is None else v for v in labels], dtype=object)
        if holes:
            notes.append(f"{_rows(holes)} without a value of {name!r}: the group {_called(order)!r}")
        orders.append((*order, _called(order)) if holes else order)
    found = Groups(pd.DataFrame(columns), tuple(orders), tuple(one_line(note) for note in notes))
    if len(found.places()) > MOST:
        raise ProblemError(
            f"by {listed([str(name) for name in columns])} makes {len(found.places()):,} groups, and {MOST} "
            "are the most; numbers are grouped by bands: by={'age': [25, 40, 60]}"
        )
    return found


def _each(by: Any) -> Iterator[Any]:
    """Names, pairs of a name and the ends of its bands, and columns that are given themselves."""
    if by is None:
        return
    if isinstance(by, Mapping):
        yield from by.items()
    elif isinstance(by, list | tuple):
        for one in by:
            yield from _each(one) if isinstance(one, Mapping) else [one]
    elif isinstance(by, pd.DataFrame):
        yield from (by[name] for name in by.columns)
    else:
        yield by


def _column(frame: pd.DataFrame, what: Any) -> tuple[Any, list[Any], Any]:
    """The name, the values and the ends of the bands of one thing that rows are grouped by."""
    edges = None
    if isinstance(what, tuple):
        what, edges = what
        if isinstance(edges, pd.Series | np.ndarray | pd.Categorical):  # values, and what they are called
            return what, _of_rows(what, edges, frame), None
    if isinstance(what, pd.Series):
        return "group" if what.name is None else what.name, _of_rows(what.name, what, frame), edges
    if isinstance(what, np.ndarray | pd.Index | pd.Categorical):
        return "group", _of_rows("group", what, frame), edges
    if np.ndim(what) or what not in frame.columns:
        hint = suggestion(str(what), frame.columns) or f"; columns: {listed(list(map(str, frame.columns)))}"
        raise ProblemError(f"by: the table has no column {what!r}{hint}")
    column = frame[what]
    if isinstance(column, pd.DataFrame):
        raise ProblemError(f"by: column name {what!r} occurs more than once")
    return what, column.tolist(), edges


def _of_rows(name: Any, values: Any, frame: pd.DataFrame) -> list[Any]:
    """Values that come beside the table, one for each of its rows."""
    if np.ndim(values) != 1 or len(values) != len(frame):
        raise ProblemError(f"by {name!r}: {len(values):,} values for {len(frame):,} rows")
    if isinstance(values, pd.Series) and not values.index.equals(frame.index):
        raise ProblemError(f"by {name!r}: the values have another index than the rows")
    return list(pd.Series(values).tolist())


def _as_they_are(_: Any, values: list[Any], __: Any) -> tuple[list[Any], tuple[Any, ...]]:
    """Each value is a group; numbers in their order, text in that of the alphabet."""
    labels = [None if _is_hole(value) else _plain(value) for value in values]
    known = {value for value in labels if value is not None}
    return labels, tuple(sorted(known, key=lambda v: (not is_number(v), v if is_number(v) else 0, str(v))))


def _banded(name: Any, values: list[Any], edges: Any) -> tuple[list[Any], tuple[Any, ...]]:
    """Bands between ends: each holds its lower end and not its upper one."""
    ends = _ends(name, edges)
    said = list(map(exact, ends))
    words = [f"below {said[0]}", *(f"{a} to below {b}" for a, b in pairwise(said)), f"{said[-1]} and above"]
    labels: list[Any] = []
    for value in values:
        number = math.nan if _is_hole(value) else _number(name, value)
        labels.append(None if math.isnan(number) else words[int(np.searchsorted(ends, number, "right"))])
    return labels, tuple(words)


def _ends(name: Any, edges: Any) -> list[float]:
    found = list(edges) if isinstance(edges, Sequence) and not isinstance(edges, str) else [edges]
    bad = next((e for e in found if not (is_number(e) and math.isfinite(e))), None)
    if bad is not None or not found:
        raise ProblemError(f"by {name!r}: the ends of bands must be numbers, not {bad if found else edges!r}")
    if any(b <= a for a, b in pairwise(found)):
        raise ProblemError(f"by {name!r}: the ends of bands must rise, not {found!r}")
    return [float(e) for e in found]


def _number(name: Any, value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise ProblemError(f"by {name!r}: bands are for numbers, and {value!r} is none") from None


def _called(order: tuple[Any, ...]) -> str:
    """The name of the group without a value; another one where a value is called so."""
    return MISSING if MISSING not in order else f"{MISSING} (no value)"


def _is_hole(value: Any) -> bool:
    return np.ndim(value) == 0 and bool(pd.isna(value))


def _plain(value: Any) -> Any:
    """A value as Python has it; text for what cannot be the name of a group."""
    value = value.item() if isinstance(value, np.generic) else value
    return value if isinstance(value, str | bool | int | float) else str(value)


def _rows(count: int) -> str:
    return "1 row" if count == 1 else f"{count:,} rows"
