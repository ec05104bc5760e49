"""Action: what may happen to one feature."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

import numpy as np

from surefoot.days import as_days, date_text
from surefoot.exceptions import ProblemError
from surefoot.explain.constraints.arithmetic import check_ends, is_number
from surefoot.explain.constraints.category import check_moves, move_words, same_value
from surefoot.explain.constraints.constraint import Broken, numbers_of
from surefoot.explain.constraints.prices import check_cost, price_words
from surefoot.formats import exact, first_names, suggestion
from surefoot.plain import refuse_huge

if TYPE_CHECKING:
    import pandas as pd

May = Literal["change", "stay", "rise", "fall"]
SAID = {"stay": "must not change", "rise": "may only rise", "fall": "may only fall"}
OPENED = {"stay": "change", "rise": "fall", "fall": "rise"}  # what becomes possible without it
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
        if not (self.whole is None or isinstance(self.whole, bool)):
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
        """Ends that are dates become days since 1970-01-01, which is what dates are as features."""
        for name in ("low", "high"):
            end = getattr(self, name)
            if isinstance(end, str | dt.date) and isinstance(as_days(end), float):
                object.__setattr__(self, name, int(as_days(end)))

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
        named = [value for value in self.values if isinstance(value, str | bool)]
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
            raise ProblemError(f"must be a word or a table, not {_shown(entry)}")
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
        """What it says of a feature beside the direction, as answers say it."""
        lines = []
        if self.low is not None or self.high is not None:
            lines.append(between(self.low, self.high, is_date))
        if self.most is not None:
            lines.append(f"changes by {exact(self.most)} at most")
        if self.least is not None:
            lines.append(f"changes by {exact(self.least)} at least, or not at all")
        if self.step is not None:
            lines.append(f"changes in steps of {exact(self.step)}")
        if self.whole:
            lines.append(value_words(None))
        if self.values is not None:
            lines.append(value_words(tuple(map(date_text, self.values) if is_date else self.values)))
        lines += move_words(self.moves)
        return lines if self.cost is None else [*lines, price_words(self.cost, is_category)]

    def relaxations(self, today: float) -> Iterator[Relaxation]:
        """What can be given up of it: what it says, and what becomes possible without it."""
        if self.may != "change":
            yield Relaxation("may", SAID[self.may], OPENED[self.may])
        if self.low is not None and self.low > -math.inf:
            stays = ", or as it is" if today < self.low else ""
            yield Relaxation(
                "low", f"is at least {exact(self.low)}{stays}", f"be less than {exact(self.low)}"
            )
        if self.high is not None and self.high < math.inf:
            stays = ", or as it is" if today > self.high else ""
            yield Relaxation(
                "high", f"is at most {exact(self.high)}{stays}", f"be more than {exact(self.high)}"
            )
        if self.most is not None:
            size = exact(self.most)
            yield Relaxation("most", f"changes by at most {size}", f"change by more than {size}")
        if self.least is not None:
            size = exact(self.least)
            yield Relaxation(
                "least", f"changes by at least {size}, or not at all", f"change by less than {size}"
            )
        if self.step is not None:
            step = f"steps of {exact(self.step)}"
            yield Relaxation("step", f"changes in {step}", f"change by other amounts than {step}")
        if self.whole:
            yield Relaxation("whole", "takes whole numbers only", "take any number")
        if self.values is not None:
            named = ", ".join(str(v) if isinstance(v, str | bool) else exact(v) for v in self.values)
            yield Relaxation("values", f"takes only the values {named}", "take other values")
        if self.moves is not None:
            yield Relaxation("moves", "moves only where its action says", "move elsewhere")

    def broken(self, name: Any, column: pd.Series) -> Iterator[Broken]:
        """The rows of a table that are beyond its ends, or have other values, as they are today."""
        here = column.notna().to_numpy()
        if self.low is not None or self.high is not None or self.whole is not None:
            for wish, wrong in self._beyond(numbers_of(column, name)):
                for k in np.flatnonzero(wrong & here).tolist():
                    yield Broken(k, name, wish, column.iloc[k])
        if self.values is not None:
            wish = f"only the values {', '.join(str(v) for v in self.values)}"
            for k in np.flatnonzero(here).tolist():
                if not any(same_value(one, column.iloc[k]) for one in self.values):
                    yield Broken(k, name, wish, column.iloc[k])

    def _beyond(self, x: Any) -> Iterator[tuple[str, Any]]:
        """Which numbers are beyond an end, or not whole."""
        if self.low is not None:
            yield f"at least {exact(self.low)}", x < self.low
        if self.high is not None:
            yield f"at most {exact(self.high)}", x > self.high
        if self.whole:
            yield "whole numbers only", np.mod(x, 1) != 0

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Action) and _as_lists(self.given()) == _as_lists(other.given())

    def __hash__(self) -> int:
        return hash((self.may, *self.given()))

    def __repr__(self) -> str:
        return f"Action({', '.join(f'{name}={value!r}' for name, value in self.given().items())})"


class Relaxation(NamedTuple):
    """A field of an action that can be given up: what it says, and what becomes possible without it."""

    field: str
    wish: str
    lifted: str


FREE = Action()  # of a feature about which nothing is said
FIELDS = ("may", "low", "high", "most", "least", "step", "whole", "values", "moves", "cost", "protected")
FOR_NUMBERS = ("low", "high", "most", "least", "step", "whole")
# What an action says when a field is given up: nothing of the kind, but that a number need not be whole.
LIFTED: dict[str, Any] = {**dict.fromkeys(FIELDS), "may": "change", "whole": False}
# Those that say least come first: they are the first to be left out where something stands in the way.
RELAXED = ("whole", "values", "step", "least", "most", "low", "high", "moves")


def check_action(action: Action, name: Any, is_category: bool, ordered: bool) -> None:
    """Refuse what an action cannot say about a number, or about a category."""
    if not is_category:
        if action.moves is not None:
            raise ProblemError(f"{name!r} is a number; moves is for categories")
        wrong = [v for v in action.values or () if isinstance(v, str | bool)]  # noqa: PD011
        if wrong:
            raise ProblemError(f"values of {name!r} must be finite numbers, not {wrong[0]!r}")
        return
    for one in FOR_NUMBERS:
        if getattr(action, one) is not None:
            raise ProblemError(f"{name!r} is a category; {one} is for numbers")
    if action.may in ("rise", "fall") and not ordered:
        raise ProblemError(
            f"{name!r} has no order, so it cannot {action.may}; declare one with ordered={{...}} "
            "when the model is made, or in its OrdinalEncoder"
        )


def value_words(values: tuple[Any, ...] | None) -> str:
    """That a feature takes only some values; None for whole numbers."""
    if values is None:
        return "takes whole numbers only, or stays as it is"
    named = first_names([str(v) if isinstance(v, str | bool) else exact(v) for v in values])
    return f"takes only the value{'s' if len(values) > 1 else ''} {named}, or stays as it is"


def between(low: Any, high: Any, is_date: bool = False) -> str:
    """From one end to another."""
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
        raise ProblemError(f"values must be a list, not {_shown(value)}")
    if name in TRUTHS and not isinstance(value, bool):
        raise ProblemError(f"{name} must be true or false, not {_shown(value)}")
    return value


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return "a table"
    return "a list" if isinstance(value, list) else f"{value!r:.60}"


def _as_lists(value: Any) -> Any:
    """The same value with lists in the place of tuples."""
    if isinstance(value, Mapping):
        return {name: _as_lists(entry) for name, entry in value.items()}
    return [_as_lists(entry) for entry in value] if isinstance(value, list | tuple) else value
