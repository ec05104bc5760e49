"""Actions: what a person may change, feature by feature, and rules over several features."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from numbers import Integral
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

from surefoot.exceptions import ProblemError
from surefoot.explain.constraints.grammar import parse_condition, parse_rule
from surefoot.explain.constraints.rules import Rule, check_ends, is_number
from surefoot.formats import suggestion

if TYPE_CHECKING:
    from os import PathLike

    import pandas as pd

__all__ = ["FREE", "Action", "Actions", "AtMost", "Link", "May", "Rule", "When"]

May = Literal["change", "stay", "rise", "fall"]


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
            hint = suggestion(str(self.may), get_args(May))
            raise ProblemError(
                f"a feature may 'change', 'stay', 'rise' or 'fall'; {self.may!r} is none of these{hint}"
            )
        if not (self.whole is None or isinstance(self.whole, bool)):
            raise ProblemError(f"whole must be True, False or None, not {self.whole!r}")
        if not isinstance(self.protected, bool):
            raise ProblemError(f"protected must be True or False, not {self.protected!r}")
        check_ends(self.low, self.high, "of an action")
        self._check_change()
        self._check_values()
        self._check_moves()
        self._check_cost()

    def _check_change(self) -> None:
        for name in ("most", "step"):
            size = getattr(self, name)
            if size is not None and not (is_number(size) and 0 < size < math.inf):
                raise ProblemError(f"{name} must be a finite number above 0, not {size!r}")
        if self.step is not None and (self.whole or self.values is not None):
            raise ProblemError("give one of step, whole and values, not two of them")

    def _check_moves(self) -> None:
        if self.moves is not None and not (
            isinstance(self.moves, Mapping)
            and all(isinstance(to, list | tuple) for to in self.moves.values())
        ):
            raise ProblemError(f"moves must be a dict of value -> list of values, not {self.moves!r}")

    def _check_cost(self) -> None:
        cost = self.cost
        if isinstance(cost, list | tuple) and len(cost) != 2:
            raise ProblemError(f"cost must be a number, a pair (up, down) or a dict, not {cost!r:.80}")
        prices = cost.values() if isinstance(cost, Mapping) else cost
        for price in prices if isinstance(cost, Mapping | list | tuple) else [cost]:
            if price is not None and not (is_number(price) and 0 <= price < math.inf):
                raise ProblemError(f"a price must be a finite number of at least 0, not {price!r:.80}")

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

    def given(self) -> dict[str, Any]:
        """The fields that say something."""
        return {f.name: getattr(self, f.name) for f in fields(self) if getattr(self, f.name) != f.default}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Action) and _as_lists(self.given()) == _as_lists(other.given())

    def __hash__(self) -> int:
        return hash((self.may, *self.given()))

    def __repr__(self) -> str:
        return f"Action({', '.join(f'{name}={value!r}' for name, value in self.given().items())})"


class Link(NamedTuple):
    """A feature that changes by a factor of the change of another.

    Parameters
    ----------
    feature : str
    leader : str
    factor : float
    """

    feature: Any
    leader: Any
    factor: float

    @property
    def name(self) -> str:
        """In words."""
        return f"{self.feature} changes by {self.factor:g} times the change of {self.leader}"

    def rule(self) -> Rule:
        """The equation between both, with today's values."""
        terms = {self.feature: 1.0, self.leader: -float(self.factor)}
        return Rule(terms, 0.0, 0.0, self.name, {name: -a for name, a in terms.items()})


class When(NamedTuple):
    """An if-then rule, both parts as text.

    Parameters
    ----------
    condition : str
    consequence : str
    """

    condition: str
    consequence: str

    @property
    def name(self) -> str:
        """In words."""
        return f"if {self.condition.strip()}, then {self.consequence.strip()}"


class AtMost(NamedTuple):
    """A limit on how many features change.

    Parameters
    ----------
    most : int
    features : tuple, optional
        None for all features.
    """

    most: int
    features: tuple[Any, ...] | None = None

    @property
    def name(self) -> str:
        """In words."""
        verb = "changes" if self.most == 1 else "change"
        if self.features is None:
            return f"at most {self.most} feature{'' if self.most == 1 else 's'} {verb}"
        return f"at most {self.most} of {', '.join(str(name) for name in self.features)} {verb}"


@dataclass(frozen=True)
class Actions:
    """What may happen to each feature, and rules over several of them.

    Parameters
    ----------
    features : dict
        Feature -> `Action`, or one of the words ``"stay"``, ``"rise"``, ``"fall"``, ``"change"``. Features
        that are not named may change.
    rules : list of str or Rule
        Linear rules that an answer must satisfy, as text or as `Rule`: ``"rent + loan <= 0.4 * income"``.
        Names that are no plain words stand in backticks; ``income.now`` is today's value.
    when : list of (condition, consequence), optional
        If-then rules: where the condition holds, so does the consequence. Each is a text:
        ``"schooling rises"``, ``falls``, ``changes`` or ``stays``; ``"housing is own"``; or a rule,
        ``"age >= age.now + 2"``. On a number that takes any value, what lies beyond an end begins a
        millionth of its training range away from it, so that no rounding blurs on which side a value is.
    at_most : int, optional
        How many features change at most, categories included.
    at_most_of : list of (count, features), optional
        The same for some of the features.
    links : list of (feature, leader, factor), optional
        The feature changes by the factor times the change of the leader.

    Examples
    --------
    >>> actions = Actions(
    ...     {"age": "stay", "cards": Action("fall", low=0, whole=True)}, rules=["rent <= 0.4 * income"]
    ... )
    >>> actions.features["age"]
    Action(may='stay')
    >>> actions.rules[0].coefficients
    {'rent': 1.0, 'income': -0.4}
    """

    features: Mapping[Any, Action | str] = field(default_factory=dict)
    rules: Sequence[Rule | str] = ()
    when: Sequence[tuple[str, str]] = ()
    at_most: int | None = None
    at_most_of: Sequence[tuple[int, Sequence[Any]]] = ()
    links: Sequence[tuple[Any, Any, float]] = ()

    def __post_init__(self) -> None:
        if not isinstance(self.features, Mapping):
            raise ProblemError(f"actions must be a dict of feature -> action, not {self.features!r}")
        read = {name: _action(name, value) for name, value in self.features.items()}
        object.__setattr__(self, "features", read)
        for name, make in (("rules", _rule), ("links", _link), ("when", _when), ("at_most_of", _at_most_of)):
            given = getattr(self, name)
            if not isinstance(given, list | tuple) or isinstance(given, Link | When | AtMost):
                raise ProblemError(f"{name} must be a list, not {given!r:.80}")
            object.__setattr__(self, name, tuple(make(entry) for entry in given))
        if self.at_most is not None:
            _check_count(self.at_most, "at_most")

    @property
    def limits(self) -> tuple[AtMost, ...]:
        """``at_most`` and ``at_most_of`` together."""
        every = () if self.at_most is None else (AtMost(self.at_most),)
        return (*every, *(AtMost(count, tuple(features)) for count, features in self.at_most_of))

    @classmethod
    def from_toml(cls, source: str | PathLike[str]) -> Actions:
        r"""Read actions from a TOML file, or from a text that `to_toml` gave.

        Parameters
        ----------
        source : path or str
            Text with a line break is TOML itself.

        Examples
        --------
        >>> Actions.from_toml('[features]\nincome = { may = "rise", most = 2000 }').features
        {'income': Action(may='rise', most=2000)}
        """
        from surefoot.explain.constraints.file import read_toml

        return read_toml(source)

    def to_toml(self) -> str:
        """The actions as the text of a TOML file."""
        from surefoot.explain.constraints.file import toml_text

        return toml_text(self)

    @staticmethod
    def template(classifier: Any) -> str:
        """A commented TOML file with every feature of a fitted classifier, its kind and range or values."""
        from surefoot.explain.constraints.file import template_text

        return template_text(classifier)

    def check(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Which rows of a table break which end, set of values, rule or if-then rule as they are today.

        Returns
        -------
        DataFrame
            One line for each: ``row``, ``feature`` (None for a rule), ``wish`` in words and the ``value``
            that breaks it (of a rule: the sum that it compares with its ends; of an if-then rule: None).
        """
        from surefoot.explain.constraints.action_checks import broken

        return broken(self, frame)


def _rule(entry: Any) -> Rule:
    if isinstance(entry, Rule):
        return entry
    if not isinstance(entry, str):
        raise ProblemError(f"a rule must be text or a surefoot.Rule, not {entry!r:.80}")
    return parse_rule(entry)


def _when(entry: Any) -> When:
    if not isinstance(entry, list | tuple) or len(entry) != 2:
        raise ProblemError(f"an if-then rule must be (condition, consequence), not {entry!r:.80}")
    for text in entry:
        parse_condition(text)
    return When(*entry)


def _at_most_of(entry: Any) -> AtMost:
    if not isinstance(entry, list | tuple) or len(entry) != 2 or not isinstance(entry[1], list | tuple):
        raise ProblemError(f"at_most_of must list pairs (count, features), not {entry!r:.80}")
    count, features = entry
    _check_count(count, "a count of at_most_of")
    wrong = [name for name in features if not isinstance(name, str | Integral)]
    if wrong or not features:
        raise ProblemError(f"at_most_of must name features, not {wrong[0] if wrong else features!r:.60}")
    twice = [name for name, times in Counter[Any](features).items() if times > 1]
    if twice:
        raise ProblemError(f"at_most_of names {twice[0]!r} twice")
    return AtMost(count, tuple(features))


def _check_count(count: Any, what: str) -> None:
    if not isinstance(count, Integral) or isinstance(count, bool) or count < 1:
        raise ProblemError(f"{what} must be a positive integer, not {count!r:.60}")


def _link(entry: Any) -> Link:
    if not isinstance(entry, list | tuple) or len(entry) != 3:
        raise ProblemError(f"a link must be (feature, leader, factor), not {entry!r:.80}")
    found = Link(*entry)
    if not is_number(found.factor) or not math.isfinite(found.factor):
        raise ProblemError(f"the factor of a link must be a finite number, not {found.factor!r:.80}")
    wrong = [name for name in found[:2] if not isinstance(name, str | Integral)]
    if wrong:
        raise ProblemError(f"a link is between features by name, not {wrong[0]!r:.60}")
    if found.feature == found.leader:
        raise ProblemError(f"{found.feature!r} is linked to itself")
    return found


def _as_lists(value: Any) -> Any:
    """The same value with lists in the place of tuples."""
    if isinstance(value, Mapping):
        return {name: _as_lists(entry) for name, entry in value.items()}
    return [_as_lists(entry) for entry in value] if isinstance(value, list | tuple) else value


def _action(name: Any, value: Any) -> Action:
    if isinstance(value, Action):
        return value
    if not isinstance(value, str):
        raise ProblemError(f"the action of {name!r} must be an Action or a word, not {value!r}")
    try:
        return Action(value)  # type: ignore[arg-type]
    except ProblemError as error:
        raise ProblemError(f"{name!r}: {error}") from None


FREE = Action()  # of a feature about which nothing is said
