"""Region: everything around an answer that is enough as well, in the features' own units."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from surefoot.days import as_date, as_days, date_text
from surefoot.exceptions import DataError
from surefoot.formats import in_a_row, in_list, named_value, one_line, value_text
from surefoot.plain import end, entries, finite, label, plain, sequence

NUMBER_KEYS = ("feature", "low", "high", "proven")
KEYS = ("numbers", "categories", "not_enough")


@dataclass(frozen=True)
class Interval:
    """Between which values a number is enough.

    Parameters
    ----------
    feature : name
    low, high : float
        What is stated. Infinite on a side that is open: there the data or what is allowed ends, not what is
        enough. Else the proven end, or one inside of it that has fewer decimals.
    proven : (float, float)
        The finite ends up to which it is proven.
    """

    feature: Any
    low: float
    high: float
    proven: tuple[float, float]

    def __post_init__(self) -> None:
        least, most = self.proven
        if not (math.isfinite(least) and math.isfinite(most) and least <= most):
            raise DataError(f"the proven ends of {self.feature!r} must be finite, the lower one first")
        low, high = max(self.low, least), min(self.high, most)
        if not low <= high or self.low not in (low, -math.inf) or self.high not in (high, math.inf):
            raise DataError(f"an end of {self.feature!r} is neither proven nor open")

    def words(self, is_date: bool = False) -> str:
        """As part of a sentence."""
        form = date_text if is_date else value_text
        name, low, high = in_list(self.feature), form(self.low), form(self.high)
        if self.low == -math.inf:
            return f"any {name}" if self.high == math.inf else f"{name} of at most {high}"
        if self.high == math.inf:
            return f"{name} of at least {low}"
        return f"{name} of exactly {low}" if self.low == self.high else f"{name} of {low} to {high}"


@dataclass(frozen=True)
class NotEnough:
    """A value just outside of what is enough, the other features being as in the answer.

    Parameters
    ----------
    feature : name
    value : number or category
    decision : label
        What is decided then.
    stays : bool
        Whether that is what was decided before.
    """

    feature: Any
    value: Any
    decision: Any
    stays: bool

    def words(self, is_date: bool = False) -> str:
        """As a sentence."""
        name, value = in_list(self.feature), named_value(date_text(self.value) if is_date else self.value)
        return one_line(
            f"With {name} {value} instead the decision {'stays' if self.stays else 'is'} {self.decision}."
        )


@dataclass(frozen=True, eq=False, repr=False)
class Region:
    """Every combination of values in it keeps the decision; proven.

    Features that are not named in it are as in the answer.

    Parameters
    ----------
    answer : dict
        The answer by feature.
    numbers : tuple of Interval
        Of the numbers that change.
    categories : dict of feature -> values
        Of the categories that change: every value that is enough.
    proofs : list
        For each combination of the categories' values a list with a proof for each requirement.
    example : NotEnough or None
        What is not enough.
    """

    answer: Mapping[Any, Any]
    numbers: tuple[Interval, ...]
    categories: Mapping[Any, tuple[Any, ...]] = field(default_factory=dict)
    proofs: Any = ()
    example: NotEnough | None = None

    @property
    def table(self) -> pd.DataFrame:
        """One line for each number or date that changes: feature, low and high, infinite where open."""
        columns = {"feature": pd.Series([one.feature for one in self.numbers], dtype=object)}
        dates = [self._is_date(one.feature) for one in self.numbers]
        for side in ("low", "high"):
            ends = [getattr(one, side) for one in self.numbers]
            shown = [as_date(x) if is_date else x for x, is_date in zip(ends, dates, strict=True)]
            columns[side] = pd.Series(shown, dtype=object if any(dates) else float)
        return pd.DataFrame(columns)

    @property
    def words(self) -> str:
        """Read aloud: "income of at least 1,900 and debt of at most 400"."""
        parts = [f"{in_list(name)} {_one_of(values)}" for name, values in self.categories.items()]
        parts += [one.words(self._is_date(one.feature)) for one in self.numbers]
        if not parts:
            return "nothing has to change"
        return one_line(in_a_row(parts))

    @property
    def not_enough(self) -> str:
        """A value just outside, as a sentence; "" where none was found."""
        shown = self.example
        return "" if shown is None else shown.words(self._is_date(shown.feature))

    def _is_date(self, feature: Any) -> bool:
        return isinstance(self.answer.get(feature), dt.date)

    def contains(self, row: Any) -> bool:
        """Whether a row is in it: features that are not named here must be as in the answer.

        Parameters
        ----------
        row : Series, dict or sequence
            All features in their order; by name, those that are left out count as in the answer.
        """
        intervals = {one.feature: one.proven for one in self.numbers}
        return all(
            self._allows(name, value, intervals.get(name)) for name, value in self._by_name(row).items()
        )

    def _allows(self, name: Any, value: Any, ends: tuple[float, float] | None) -> bool:
        """Whether a value of one feature is in it: between the ends, or one of those that are enough."""
        is_date = self._is_date(name)
        value = as_days(value) if is_date else value
        if ends is not None:
            return _is_between(value, *ends)
        enough = self.categories.get(name, (self.answer[name],))
        return any(_same(value, as_days(other) if is_date else other) for other in enough)

    def _by_name(self, row: Any) -> dict[Any, Any]:
        if isinstance(row, pd.DataFrame):
            if len(row) != 1:
                raise DataError(f"contains takes one row, not {len(row)}")
            row = row.iloc[0]
        if isinstance(row, pd.Series | Mapping):
            found = dict(row.items())
            strange = [name for name in found if name not in self.answer]
            if strange:
                raise DataError(f"there is no feature {strange[0]!r}")
            return found
        values = list(np.ravel(np.asarray(row, dtype=object)))
        if len(values) != len(self.answer):
            raise DataError(f"the row has {len(values)} values, but there are {len(self.answer)} features")
        return dict(zip(self.answer, values, strict=True))

    def to_dict(self) -> dict[str, Any]:
        """What it claims, in plain values; the proofs are in the certificate."""
        numbers = [{name: plain(getattr(one, name)) for name in NUMBER_KEYS} for one in self.numbers]
        categories = [
            {"feature": plain(name), "values": [plain(v) for v in values]}
            for name, values in self.categories.items()
        ]
        shown = self.example and {
            name: plain(getattr(self.example, name)) for name in ("feature", "value", "decision")
        }
        return {"numbers": numbers, "categories": categories, "not_enough": shown}

    @classmethod
    def from_dict(cls, values: Any, proofs: Any, answer: Mapping[Any, Any], decided: Any) -> Region:
        """Read what `to_dict` gave, for an answer to a row that was decided so."""
        found = entries(values, "what is enough", KEYS)
        numbers = tuple(_interval(entry) for entry in sequence(found["numbers"], "numbers"))
        categories = {}
        for value in sequence(found["categories"], "categories"):
            entry = entries(value, "a category of what is enough", ("feature", "values"))
            listed = sequence(entry["values"], "values")
            categories[label(entry["feature"], "feature")] = tuple(label(v, "a value") for v in listed)
        named = [one.feature for one in numbers] + list(categories)
        if len(set(named)) < len(named) or not set(named) <= set(answer):
            raise DataError("what is enough names a feature twice, or one that is not there")
        return cls(answer, numbers, categories, proofs, _example(found["not_enough"], decided))

    def __repr__(self) -> str:
        return f"<Region: {self.words}>"

    def __str__(self) -> str:
        return self.words


def _interval(values: Any) -> Interval:
    entry = entries(values, "a number of what is enough", NUMBER_KEYS)
    least, most = sequence(entry["proven"], "proven", 2)
    return Interval(
        label(entry["feature"], "feature"),
        end(entry["low"], "low"),
        end(entry["high"], "high"),
        (finite(least, "proven"), finite(most, "proven")),
    )


def _example(values: Any, decided: Any) -> NotEnough | None:
    if values is None:
        return None
    entry = entries(values, "what is not enough", ("feature", "value", "decision"))
    found = label(entry["decision"], "decision")
    return NotEnough(
        label(entry["feature"], "feature"), label(entry["value"], "value"), found, found == decided
    )


def _one_of(values: tuple[Any, ...]) -> str:
    texts = [named_value(value) for value in values]
    return " or ".join([", ".join(texts[:-1]), texts[-1]] if len(texts) > 1 else texts)


def _is_between(value: Any, low: float, high: float) -> bool:
    try:
        return low <= float(value) <= high
    except (TypeError, ValueError):
        return False


def _same(value: Any, other: Any) -> bool:
    try:
        return bool(value == other)
    except (TypeError, ValueError):
        return False
