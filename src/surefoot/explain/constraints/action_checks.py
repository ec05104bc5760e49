"""Actions held against a table: which rows break which end, set of values or rule as they are today.

Of an if-then rule it is known today what does not move: nothing rises, falls or changes, everything stays.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from surefoot.exceptions import DataError
from surefoot.explain.constraints.actions import Action, Actions, When
from surefoot.explain.constraints.categories import same_value
from surefoot.explain.constraints.grammar import Condition, Moves, parse_condition
from surefoot.explain.constraints.rules import Rule
from surefoot.formats import exact
from surefoot.problem.row import Row

Array = NDArray[np.float64]
CLOSE = 1e-9  # of the terms' sizes: within it a rule is looked at exactly


class Broken(NamedTuple):
    """A wish that a row breaks."""

    row: int
    feature: Any
    wish: str
    value: Any


def broken(actions: Actions, frame: Any) -> pd.DataFrame:
    """What the rows of a table break, in their order; a hole breaks nothing."""
    if not isinstance(frame, pd.DataFrame):
        raise DataError(f"a DataFrame is needed, not {type(frame).__name__}")
    found: list[Broken] = []
    for name, action in actions.features.items():
        if isinstance(action, Action):
            found += _by_action(name, action, _column(frame, name, "actions"))
    for rule in actions.rules:
        if isinstance(rule, Rule):
            sums = _broken_sums(rule, frame, f"the rule {rule.name!r}")
            found += [Broken(k, None, rule.name, total) for k, total in sums.items()]
    for one in actions.when:
        found += _by_when(When(*one), frame)
    found.sort(key=lambda one: one.row)
    table = pd.DataFrame(found, columns=list(Broken._fields), dtype=object)
    table["row"] = [frame.index[one.row] for one in found]
    return table


def _by_action(name: Any, action: Action, column: pd.Series) -> Iterator[Broken]:
    given, here = action.given(), column.notna().to_numpy()
    if {"low", "high", "whole"} & set(given):
        x = _numbers(column, name)
        limits = {
            f"at least {exact(given.get('low', 0))}": x < given.get("low", -math.inf),
            f"at most {exact(given.get('high', 0))}": x > given.get("high", math.inf),
            "whole numbers only": np.mod(x, 1) != 0 if action.whole else np.zeros(len(x), dtype=bool),
        }
        for wish, wrong in limits.items():
            for k in np.flatnonzero(wrong & here).tolist():
                yield Broken(k, name, wish, column.iloc[k])
    known = given.get("values")
    if known is not None:
        wish = f"only the values {', '.join(str(v) for v in known)}"
        for k in np.flatnonzero(here).tolist():
            if not any(same_value(one, column.iloc[k]) for one in known):
                yield Broken(k, name, wish, column.iloc[k])


def _by_when(rule: When, frame: pd.DataFrame) -> Iterator[Broken]:
    """Rows for which the condition holds today and the consequence does not."""
    first, then = (_holding(parse_condition(text), frame, repr(rule.name)) for text in rule)
    for k in np.flatnonzero((first == HOLDS) & (then == FAILS)).tolist():
        yield Broken(k, None, rule.name, None)


HOLDS, FAILS, UNKNOWN = 1, 0, -1


def _holding(condition: Condition, frame: pd.DataFrame, what: str) -> NDArray[np.int_]:
    """Whether a condition holds for each row as it is; unknown where there is a hole."""
    if isinstance(condition, Rule):
        names = [*condition.coefficients, *condition.now]
        complete = _columns(frame, names, what).notna().all(axis=1).to_numpy()
        found = np.full(len(frame), HOLDS)
        found[list(_broken_sums(condition, frame, what))] = FAILS
        return np.where(complete, found, UNKNOWN)
    column = _column(frame, condition.feature, what)
    if isinstance(condition, Moves):
        return np.full(len(frame), HOLDS if condition.how == "stays" else FAILS)
    same = [HOLDS if same_value(value, condition.value) else FAILS for value in column.tolist()]
    return np.where(column.notna().to_numpy(), np.array(same, dtype=int), UNKNOWN)


def _columns(frame: pd.DataFrame, names: list[Any], what: str) -> pd.DataFrame:
    """Some columns of a table by name."""
    return pd.concat([_column(frame, name, what) for name in dict.fromkeys(names)], axis=1)


def _broken_sums(rule: Rule, frame: pd.DataFrame, what: str) -> dict[int, float]:
    """Rows that break a rule, today's values in the place of ``.now``; close ones are added up exactly."""
    names = [*dict.fromkeys([*rule.coefficients, *rule.now])]
    x = np.column_stack([_numbers(_column(frame, name, what), name) for name in names])
    parts: tuple[Mapping[Any, float], ...] = (rule.coefficients, rule.now)
    each = np.array([[float(part.get(name, 0)) for name in names] for part in parts])
    low, high = rule.ends(dict.fromkeys(names, 0.0))
    with np.errstate(invalid="ignore"):
        values, room = x @ each.sum(axis=0), CLOSE * (np.abs(x) @ np.abs(each).sum(axis=0))
    inside, found = (values >= low + room) & (values <= high - room), {}
    for k in np.flatnonzero(~inside & np.isfinite(values)).tolist():
        terms = np.concatenate([x[k, [names.index(name) for name in part]] for part in parts])
        coefficients = np.array([float(v) for part in parts for v in part.values()])
        if not Row(coefficients, low, high, rule.name).contains(terms):
            pairs = zip(coefficients.tolist(), terms.tolist(), strict=True)
            found[k] = float(sum(Fraction(c) * Fraction(v) for c, v in pairs))
    return found


def _column(frame: pd.DataFrame, name: Any, what: str) -> pd.Series:
    found = [k for k, column in enumerate(frame.columns) if column == name or str(column) == name]
    if len(found) != 1:
        raise DataError(f"{what}: the table has {'no' if not found else 'more than one'} column {name!r}")
    return frame.iloc[:, found[0]]


def _numbers(column: pd.Series, name: Any) -> Array:
    """A column as numbers, nan for holes."""
    read = pd.to_numeric(column, errors="coerce").to_numpy(dtype=float, na_value=np.nan)
    wrong = np.flatnonzero(np.isnan(read) & column.notna().to_numpy())
    if wrong.size:
        k = int(wrong[0])
        raise DataError(f"{name!r} must be a number, not {column.iloc[k]!r:.60} (row {column.index[k]!r})")
    return np.asarray(read)
