"""The class that is wanted: of one row, or of each row of a table."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from surefoot.exceptions import ProblemError
from surefoot.formats import suggestion


def chosen_target(target: Any, labels: list[Any], factual_class: int) -> Any:
    """The label that is wanted; with two classes it may be left out: the other one."""
    if target is None and len(labels) == 2:
        return labels[1 - factual_class]
    if target is None:
        raise ProblemError(f"with more than two classes a target is needed; the classes are {labels}")
    found = [label for label in labels if np.ndim(target) == 0 and _same(label, target)]
    if not found:
        raise ProblemError(
            f"unknown target {target!r}; the classes are {labels}{suggestion(str(target), labels)}"
        )
    return found[0]


def several_targets(target: Any, labels: list[Any]) -> tuple[Any, ...]:
    """The labels of which the nearest is wanted; one alone where no list is given."""
    if not _is_list(target):
        return (target,)
    found = [chosen_target(one, labels, 0) for one in target]
    if not found:
        raise ProblemError(f"target is an empty list; the classes are {labels}")
    twice = [one for k, one in enumerate(found) if one in found[:k]]
    if twice:
        raise ProblemError(f"target names {twice[0]!r} twice")
    return tuple(found)


def _is_list(target: Any) -> bool:
    return isinstance(target, list | tuple | np.ndarray | pd.Series | pd.Index) and np.ndim(target) > 0


def each_target(target: Any, rows: Any, n_rows: int, labels: list[Any]) -> list[Any]:
    """One target for each row, or a list of which the nearest is wanted.

    Labels that do not exist are refused before anything is searched.
    """
    if (
        isinstance(target, pd.Series)
        and isinstance(rows, pd.DataFrame)
        and not target.index.equals(rows.index)
    ):
        raise ProblemError("the targets have another index than the rows")
    each = isinstance(target, list) or _is_list(target)
    targets = list(target) if each else [target] * n_rows
    if len(targets) != n_rows:
        raise ProblemError(f"there are {len(targets)} targets for {n_rows} rows")
    for wanted in targets if each else [target]:
        for one in several_targets(wanted, labels):
            chosen_target(one, labels, 0)
    return targets


def _same(label: Any, target: Any) -> bool:
    """Whether two labels are equal; a missing one is equal to none."""
    return target is not pd.NA and bool(label == target)
