"""Action: what may happen to one feature."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from surefoot.days import Day, as_day, date_text
from surefoot.exceptions import ProblemError
from surefoot.explain.constraints.arithmetic import check_ends, is_number
from surefoot.explain.constraints.category import Category, check_moves, move_words, same_value
from surefoot.explain.constraints.constraint import Broken, numbers_of, shown_entry
from surefoot.explain.constraints.prices import check_cost, check_prices, price_words
from surefoot.formats import exact, first_names, suggestion
from surefoot.plain import refuse_huge

if TYPE_CHECKING:
    import pandas as pd

May = Literal["change", "stay", "rise", "fall"]
SAID = {"stay": "must not change", "rise": "may only rise", "fall": "may only fall"}
OPENED = {"stay": "change", "rise": "fall", "fall": "rise"}  # what becomes possible without it
# What a field says in an answer (where one phrase does for all values), what it says in a conflict, and what
# becomes possible without it. Those at the end say least: they are the first to be left out of a conflict.
WORDS = {
    "moves": ("", "moves only where its action says", "move elsewhere"),
    "high": ("", "is at most {}", "be more than {}"),
    "low": ("", "is at least {}", "be less than {}"),
    "most": ("changes by {} at most", "changes by at most {}", "change by more than {}"),
    "least": (
        "changes by {} at least, or not at all",
        "changes by at least {}, or not at all",
        "change by less than {}",
    ),
    "step": ("changes in steps of {}", "changes in steps of {}", "change by other amounts than steps of {}"),
    "values": ("", "takes only the values {}", "take other values"),
    "whole": ("", "takes whole numbers only", "take any number"),
}
INFINITE = (-math.inf, math.inf)
BY_VALUE = ("moves", "cost")  # fields that may be tables
TRUTHS = ("whole", "protected")


@dataclass(frozen=True)
class Action:
    """What may happen to one feature.

    Today's value is always allowed, whatever the other fields say.

    Parameters
    ----------
    may : {"change", "stay", "rise", "fall"}, default="change"
    low, high : float, optional
        Ends. Where today's value lies beyond an end, it is allowed as well; if the feature takes neither
        whole numbers nor listed values, so is everything between the two.
    most : float, optional
        Largest change from today, up and down.
    step : float, optional
        Changes are multiples of it. The feature needs ends then: its own, ``most``, or bounds.
    whole : bool, optional
        Whether the feature takes whole numbers only.
    values : list, optional
        The only values that it takes.
    moves : dict, optional
        Where a category may go: today's value -> list of values. From a value that is not named it may not
        go anywhere.
    cost : float, pair (up, down) or dict, optional
        Of a category: the price of a change, which is added to the distance, one for all values or by
        value; values that are not named cost 1. Of a number: the price of a change by one standard
        deviation, up and down, with ``distance="cost"``; a number that has none costs 1.
    protected : bool, default=False
        Whether no message may propose to change more of the feature, where there is no answer.
    least : float, optional
        Smallest change that is worthwhile: a number keeps today's value or changes by at least so much.

    Examples
    --------
    >>> Action("rise", high=5_000)
    Action(may='rise', high=5000)
    """

    may: May = "change"
    low: float | None = None
    high: float | None = None
    most: float | None = None
    step: float | None = None
    whole: bool | None = None
    values: Sequence[Any] | None = None
    moves: Mapping[Any, Sequence[Any]] | None = None
    cost: Any = None
    protected: bool = False
    least: float | None = None

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            refuse_huge(name, value, ProblemError)
        if not isinstance(self.may, str) or self.may not in get_args(May):
            hint = suggestion(str(self.may), get_args(May))
            raise ProblemError(
                f"a feature may 'change', 'stay', 'rise' or 'fall'; {self.may!r} is none of these{hint}"
            )
        if self.whole is not None and not isinstance(self.whole, bool):
            raise ProblemError(f"whole must be True, False or None, not {self.whole!r}")
        if not isinstance(self.protected, bool):
            raise ProblemError(f"protected must be True or False, not {self.protected!r}")
        self._count_days()
        check_ends(self.low, self.high, "of an action")
        self._check_change()
        self._check_values()
        check_moves(self.moves)
        check_cost(self.cost)

    def _count_days(self) -> None:
        """Dates become days since 1970-01-01, which is what they are as features, and durations days."""
        for name in ("low", "high"):
            object.__setattr__(self, name, as_day(getattr(self, name)))
        for name in ("most", "least", "step"):
            size = getattr(self, name)
            if isinstance(size, dt.timedelta):
                object.__setattr__(self, name, size / dt.timedelta(days=1))
        if isinstance(self.values, list | tuple) and any(isinstance(v, dt.date) for v in self.values):
            object.__setattr__(self, "values", [as_day(value) for value in self.values])

    def dated(self) -> Action:
        """The same about a feature that is a date: text such as 2024-03-01 among its values means one."""
        if self.values is None:
            return self
        return replace(self, values=[as_day(value) for value in self.values])

    def _check_change(self) -> None:
        for name in ("most", "least", "step"):
            size = getattr(self, name)
            if size is not None and not (is_number(size) and 0 < size < math.inf):
                raise ProblemError(f"{name} must be a finite number above 0, not {size!r}")
        if self.step is not None and (self.whole or self.values is not None):
            raise ProblemError("give one of step, whole and values, not two of them")

    def _check_values(self) -> None:
        if self.values is None:
            return
        if isinstance(self.values, str) or not isinstance(self.values, Iterable):
            raise ProblemError(f"values must be a list, not {self.values!r}")
        if not isinstance(self.values, list | tuple):
            object.__setattr__(self, "values", tuple(self.values))
        if not self.values:
            raise ProblemError("values must name at least one")
        named = [value for value in self.values if isinstance(value, str | bool | np.bool_)]
        if not named and not all(is_number(value) and math.isfinite(value) for value in self.values):
            raise ProblemError(f"values must be finite numbers, not {list(self.values)!r}")
        if self.whole:
            raise ProblemError("give one of whole and values, not both")

    @classmethod
    def read(cls, entry: Any) -> Action:
        """From a word or a table, as files hold it; whatever is wrong is refused in one line."""
        if isinstance(entry, str):
            return cls(entry)  # type: ignore[arg-type]
        if not isinstance(entry, Mapping):
            raise ProblemError(f"must be a word or a table, not {shown_entry(entry)}")
        for name in entry:
            if name not in FIELDS:
                pointed = "; put a name with a point in quotes" if isinstance(entry[name], dict | str) else ""
                hint = suggestion(name, FIELDS) or pointed
                raise ProblemError(f"{name!r:.60} is unknown; there are {', '.join(FIELDS)}{hint}")
        return cls(**{name: _field(name, value) for name, value in entry.items()})

    def given(self) -> dict[str, Any]:
        """The fields that say something."""
        return {f.name: getattr(self, f.name) for f in fields(self) if getattr(self, f.name) != f.default}

    def phrases(self, is_category: bool, is_date: bool = False) -> list[str]:
        """What it says of a feature besides the direction, as answers state it."""
        lines = [] if self.low is None and self.high is None else [between(self.low, self.high, is_date)]
        for field, (said, _, _) in WORDS.items():
            if said and getattr(self, field) is not None:
                lines.append(said.format(_size(getattr(self, field), is_date)))
        if self.whole:
            lines.append(value_words(None, is_date))
        if self.values is not None:
            lines.append(value_words(tuple(self.values), is_date))
        lines += move_words(self.moves)
        return lines if self.cost is None else [*lines, price_words(self.cost, is_category)]

    def relaxations(self, today: float, is_date: bool = False) -> Iterator[tuple[str, str, str]]:
        """Each field that can be given up, what it says, and what becomes possible without it."""
        if self.may != "change":
            yield "may", SAID[self.may], OPENED[self.may]
        for field, (_, words, lifted) in WORDS.items():
            value = getattr(self, field)
            if value is None or value is False or value in INFINITE:
                continue
            size = _said_size(field, value, is_date)
            beyond = (field == "low" and today < value) or (field == "high" and today > value)
            suffix = ", or as it is" if beyond else ""
            yield field, words.format(size) + suffix, lifted.format(size)

    def broken(self, name: Any, column: pd.Series) -> Iterator[Broken]:
        """The rows of a table that are beyond its ends, or have other values, as they are today."""
        here = column.notna().to_numpy()
        if self.low is not None or self.high is not None or self.whole is not None:
            for wish, wrong in self._beyond(numbers_of(column, name)):
                for k in np.flatnonzero(wrong & here).tolist():
                    yield Broken(k, name, wish, column.iloc[k])
        if self.values is not None:
            wish = f"only the values {', '.join(str(v) for v in self.values)}"
            days = any(isinstance(value, Day) for value in self.values)
            cells = numbers_of(column, name).tolist() if days else column.tolist()
            for k in np.flatnonzero(here).tolist():
                if not any(same_value(one, cells[k]) for one in self.values):
                    yield Broken(k, name, wish, column.iloc[k])

    def _beyond(self, x: Any) -> Iterator[tuple[str, Any]]:
        """Which numbers are beyond an end, or not whole."""
        if self.low is not None:
            yield f"at least {_value_text(self.low)}", x < self.low
        if self.high is not None:
            yield f"at most {_value_text(self.high)}", x > self.high
        if self.whole:
            yield "whole numbers only", np.mod(x, 1) != 0

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Action) and _as_lists(self.given()) == _as_lists(other.given())

    def __hash__(self) -> int:
        return hash((self.may, *self.given()))

    def __repr__(self) -> str:
        return f"Action({', '.join(f'{name}={value!r}' for name, value in self.given().items())})"


FREE = Action()  # of a feature about which nothing is said
FIELDS = ("may", "low", "high", "most", "least", "step", "whole", "values", "moves", "cost", "protected")
FOR_NUMBERS = ("low", "high", "most", "least", "step", "whole")
LIFTED: dict[str, Any] = {"may": "change", "whole": False}  # a field that is given up; None otherwise


def check_action(action: Action, name: Any, category: Category | None, is_date: bool = False) -> None:
    """Refuse what an action cannot say about a number, a date, or a category."""
    said = (action.low, action.high, *(action.given().get("values") or ()))
    day = next((value for value in said if isinstance(value, Day)), None)
    if day is not None and not is_date:
        raise ProblemError(f"{name!r} is a {'number' if category is None else 'category'}, {day} is a date")
    if category is None:
        if action.moves is not None:
            raise ProblemError(f"{name!r} is a number; moves is for categories")
        wrong = [v for v in action.values or () if isinstance(v, str | bool)]  # noqa: PD011
        if wrong:
            what = "dates such as 2024-03-01" if is_date else "finite numbers"
            raise ProblemError(f"values of {name!r} must be {what}, not {wrong[0]!r}")
    else:
        for one in FOR_NUMBERS:
            if getattr(action, one) is not None:
                raise ProblemError(f"{name!r} is a category; {one} is for numbers")
        if action.may in ("rise", "fall") and not category.ordered:
            raise ProblemError(
                f"{name!r} has no order, so it cannot {action.may}; declare one with ordered={{...}} "
                "when the model is made, or in its OrdinalEncoder"
            )
    check_prices(action.cost, name, category is not None)
    if category is not None:
        category.check(action)


def value_words(values: tuple[Any, ...] | None, is_date: bool = False) -> str:
    """That a feature takes only some values; None for whole numbers, or whole days."""
    if values is None:
        return f"takes whole {'days' if is_date else 'numbers'} only, or stays as it is"
    named = first_names([*map(date_text if is_date else _value_text, values)])
    return f"takes only the value{'s' if len(values) > 1 else ''} {named}, or stays as it is"


def _value_text(value: Any) -> str:
    return str(value) if isinstance(value, str | bool | Day) else exact(value)


def _size(value: float, is_date: bool) -> str:
    """How much a feature changes."""
    days = "" if not is_date else " day" if value == 1 else " days"
    return f"{exact(value)}{days}"


def _said_size(field: str, value: Any, is_date: bool) -> str:
    """What a field says, as a conflict names it."""
    if field == "moves":
        return ""
    if field in ("most", "least", "step"):
        return _size(value, is_date)
    form = date_text if is_date and field != "whole" else _value_text
    return ", ".join(map(form, value if field == "values" else [value]))


def between(low: Any, high: Any, is_date: bool = False) -> str:
    """Two ends in words."""
    form = date_text if is_date else exact
    least, most = (None if end is None or end in INFINITE else form(end) for end in (low, high))
    if least is None:
        return "any number" if most is None else f"at most {most}"
    return f"at least {least}" if most is None else f"from {least} to {most}"


def _field(name: str, value: Any) -> Any:
    """A field of an action; tables by value may be lists of pairs, for values that are not text."""
    pairs = isinstance(value, list) and value and all(isinstance(p, list) and len(p) == 2 for p in value)
    if name in BY_VALUE and pairs:
        if any(isinstance(key, list | dict) for key, _ in value):
            raise ProblemError(f"the values that {name} names must be text or numbers")
        return dict(value)
    if name == "values" and isinstance(value, dict):
        raise ProblemError(f"values must be a list, not {shown_entry(value)}")
    if name in TRUTHS and not isinstance(value, bool):
        raise ProblemError(f"{name} must be true or false, not {shown_entry(value)}")
    return value


def _as_lists(value: Any) -> Any:
    """The same value with lists in the place of tuples."""
    if isinstance(value, Mapping):
        return {name: _as_lists(entry) for name, entry in value.items()}
    return [_as_lists(entry) for entry in value] if isinstance(value, list | tuple) else value
