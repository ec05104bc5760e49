"""Actions: what a person may change, feature by feature, and rules over several features."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from numbers import Real
from typing import Any, Literal, get_args

from surefoot.exceptions import ProblemError

May = Literal["change", "stay", "rise", "fall"]

LATER = ("most", "step", "protected")
LATER_RULES = ("when", "at_most", "at_most_of", "links")


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
        Largest change from today. Not supported yet.
    step : float, optional
        Changes are multiples of it. Not supported yet.
    whole : bool, optional
        Whether the feature takes whole numbers only.
    values : list, optional
        The only values that it takes.
    moves : dict, optional
        Where a category may go: today's value -> list of values. From a value that is not named it may not
        go anywhere.
    cost : float or dict, optional
        The price of a change of category, which is added to the distance: one for all values, or by value.
        Values that are not named cost 1. Prices of numbers are not supported yet.
    protected : bool, default=False
        Never proposed as a way out. Not supported yet.

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

    def __post_init__(self) -> None:
        if not isinstance(self.may, str) or self.may not in get_args(May):
            raise ProblemError(
                f"a feature may 'change', 'stay', 'rise' or 'fall'; {self.may!r} is none of these"
            )
        for name in LATER:
            if getattr(self, name) is not None and getattr(self, name) is not False:
                raise ProblemError(f"Action({name}=...) is not supported yet")
        if not (self.whole is None or isinstance(self.whole, bool)):
            raise ProblemError(f"whole must be True, False or None, not {self.whole!r}")
        _check_ends(self.low, self.high, "of an action")
        self._check_values()
        self._check_moves()

    def _check_moves(self) -> None:
        if self.moves is not None and not (
            isinstance(self.moves, Mapping)
            and all(isinstance(to, list | tuple) for to in self.moves.values())
        ):
            raise ProblemError(f"moves must be a dict of value -> list of values, not {self.moves!r}")
        prices = self.cost.values() if isinstance(self.cost, Mapping) else [self.cost]
        for price in prices if self.cost is not None else ():
            if not (_is_number(price) and 0 <= price < math.inf):
                raise ProblemError(f"a price must be a finite number of at least 0, not {price!r}")

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
        if not named and not all(_is_number(value) and math.isfinite(value) for value in self.values):
            raise ProblemError(f"values must be finite numbers, not {list(self.values)!r}")
        if self.whole:
            raise ProblemError("give either whole=True or values, not both")

    def given(self) -> dict[str, Any]:
        """The fields that say something."""
        return {f.name: getattr(self, f.name) for f in fields(self) if getattr(self, f.name) != f.default}

    def __repr__(self) -> str:
        return f"Action({', '.join(f'{name}={value!r}' for name, value in self.given().items())})"


@dataclass(frozen=True)
class Rule:
    """low <= sum of coefficient * feature <= high.

    Parameters
    ----------
    coefficients : dict
        Of the features, by name.
    low, high : float, optional
        An end that is left out is open.
    name : str
        How messages call the rule. Default: the rule itself.

    Examples
    --------
    >>> Rule({"rent": 1, "loan": 1, "income": -0.4}, high=0).name
    'rent + loan - 0.4 income <= 0'
    """

    coefficients: Mapping[Any, float]
    low: float | None = None
    high: float | None = None
    name: str = ""

    def __post_init__(self) -> None:
        if not isinstance(self.coefficients, Mapping) or not self.coefficients:
            raise ProblemError(f"a rule needs a dict of feature -> coefficient, not {self.coefficients!r}")
        if not all(_is_number(a) and math.isfinite(a) for a in self.coefficients.values()):
            raise ProblemError(f"the coefficients of a rule must be finite numbers: {self.coefficients!r}")
        if not any(self.coefficients.values()):
            raise ProblemError("a rule needs a coefficient that is not zero")
        _check_ends(self.low, self.high, "of a rule")
        if self.low is None and self.high is None:
            raise ProblemError("a rule needs an end: low or high")
        if not self.name:
            ends = -math.inf if self.low is None else self.low, math.inf if self.high is None else self.high
            object.__setattr__(self, "name", rule_text(self.coefficients, *ends))


def rule_text(coefficients: Mapping[Any, float], low: float, high: float) -> str:
    """A rule in words: what `Rule` is called by default."""
    terms = [_term(a, str(name)) for name, a in coefficients.items() if a]
    text = "".join(terms).removeprefix(" + ").removeprefix(" ")
    if low == high:
        return f"{text} = {low:g}"
    start = f"{low:g} <= " if low > -math.inf and high < math.inf else ""
    return f"{start}{text} <= {high:g}" if high < math.inf else f"{text} >= {low:g}"


def _term(a: float, name: str) -> str:
    size = "" if abs(a) == 1 else f"{abs(a):g} "
    return f" {'-' if a < 0 else '+'} {size}{name}"


@dataclass(frozen=True)
class Actions:
    """What may happen to each feature, and rules over several of them.

    Parameters
    ----------
    features : dict
        Feature -> `Action`, or one of the words ``"stay"``, ``"rise"``, ``"fall"``, ``"change"``. Features
        that are not named may change.
    rules : list of Rule
        Linear rules that an answer must satisfy.
    when, at_most, at_most_of, links : optional
        Not supported yet.

    Examples
    --------
    >>> actions = Actions({"age": "stay", "cards": Action("fall", low=0, whole=True)})
    >>> actions.features["age"]
    Action(may='stay')
    """

    features: Mapping[Any, Action | str] = field(default_factory=dict)
    rules: Sequence[Rule] = ()
    when: Any = None
    at_most: Any = None
    at_most_of: Any = None
    links: Any = None

    def __post_init__(self) -> None:
        for name in LATER_RULES:
            if getattr(self, name) is not None:
                raise ProblemError(f"Actions({name}=...) is not supported yet")
        if not isinstance(self.features, Mapping):
            raise ProblemError(f"actions must be a dict of feature -> action, not {self.features!r}")
        read = {name: _action(name, value) for name, value in self.features.items()}
        object.__setattr__(self, "features", read)
        if isinstance(self.rules, str | Rule) or not all(isinstance(rule, Rule) for rule in self.rules):
            raise ProblemError("rules must be a list of surefoot.Rule")
        object.__setattr__(self, "rules", tuple(self.rules))


def _action(name: Any, value: Any) -> Action:
    if isinstance(value, Action):
        return value
    if not isinstance(value, str):
        raise ProblemError(f"the action of {name!r} must be an Action or a word, not {value!r}")
    try:
        return Action(value)  # type: ignore[arg-type]
    except ProblemError as error:
        raise ProblemError(f"{name!r}: {error}") from None


def _check_ends(low: Any, high: Any, what: str) -> None:
    for end in (low, high):
        if end is not None and not (_is_number(end) and not math.isnan(end)):
            raise ProblemError(f"the ends {what} must be numbers or None, not {end!r}")
    if low is not None and high is not None and low > high:
        raise ProblemError(f"the ends {what} exclude each other: at least {low:g} and at most {high:g}")


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


FREE = Action()  # of a feature about which nothing is said
