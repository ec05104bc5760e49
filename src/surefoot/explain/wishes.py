"""Wishes: what a user says about features, by position, and the domain that follows for one factual."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from surefoot.exceptions import ProblemError, StructureError
from surefoot.explain.actions import FREE, Action, Actions, Link
from surefoot.explain.categories import Category, refuse_for_number
from surefoot.explain.grammar import parse_rule
from surefoot.explain.rules import Rule, rounded_down, rounded_up
from surefoot.model.dag import feature_index
from surefoot.waist.choice import Choice
from surefoot.waist.domain import Domain, Row, ValueSet

Array = NDArray[np.float64]

DATA = "data"
ROUNDING = 1e-9  # of the sizes that are added
MOST_LISTED = 1000  # whole numbers that are listed one by one where today's value lies apart from them
MOST_STEPS = 10_000  # values that a step may lead to
MAY = {"immutable": "stay", "increasing": "rise", "decreasing": "fall"}
KINDS = {may: kind for kind, may in MAY.items()}
OPENED = {"stay": "change", "rise": "fall", "fall": "rise"}  # what becomes possible without the wish
SAID = {"stay": "must not change", "rise": "may only rise", "fall": "may only fall"}


@dataclass(frozen=True, eq=False)
class Wishes:
    """What is said about features, by position: bounds, actions and rules.

    Parameters
    ----------
    names : tuple
        Of the features.
    low, high : arrays of shape (n,)
        Bounds; infinite ends are open.
    actions : tuple of Action
        One for each feature.
    observed : tuple of int
        The features whose bounds are only the range seen in training: they give way to the ends of an
        action, and to today's value.
    rules : tuple of Rule
        Links are among them.
    categories : tuple of Category
        The features that are no numbers.
    whole : tuple of int
        Numbers that were whole in every training row: they stay whole, unless an action says otherwise.

    Examples
    --------
    >>> wishes = Wishes.by_name(["age", "income"], immutable=["age"], increasing=["income"])
    >>> domain = wishes.domain([30.0, 2.0])
    >>> domain.low, domain.high
    (array([30.,  2.]), array([30., inf]))
    >>> wishes.declared()["actions"]
    {'age': {'may': 'stay'}, 'income': {'may': 'rise'}}
    """

    names: tuple[Any, ...]
    low: Array
    high: Array
    actions: tuple[Action, ...]
    observed: tuple[int, ...] = ()
    rules: tuple[Rule, ...] = ()
    categories: tuple[Category, ...] = ()
    whole: tuple[int, ...] = ()

    @classmethod
    def by_name(
        cls,
        names: Sequence[Any],
        *,
        actions: Actions | None = None,
        bounds: Mapping[Any, Any] | str | None = None,
        observed_range: ArrayLike | None = None,
        categories: Sequence[Category] = (),
        whole: Sequence[int] = (),
        **kinds: Iterable[Any],
    ) -> Wishes:
        """Read what a user says by feature name; unknown names and contradictions are refused.

        ``bounds`` is None, ``"data"`` (the ``observed_range`` of every feature), or a mapping from
        features to (low, high) or ``"data"``; ``kinds`` are lists of features that are ``immutable``,
        ``increasing`` or ``decreasing``.
        """
        named = {category.feature: category for category in categories}
        low, high, observed = _bounds(bounds, names, observed_range, named)
        said = Actions() if actions is None else actions
        found = [FREE] * len(names)
        for feature, action in said.features.items():
            i = _position(feature, names, "actions")
            if found[i] is not FREE:
                raise ProblemError(f"{names[i]!r} has two actions")
            found[i] = action if isinstance(action, Action) else Action(action)  # type: ignore[arg-type]
        for kind, features in kinds.items():
            for i in _positions(features, names, kind):
                found[i] = _narrowed(found[i], kind, names[i])
        for i, action in enumerate(found):
            if i in named:
                named[i].checked(action)
            else:
                refuse_for_number(names[i], action)
        rules = _rules(said, names, named)
        return cls(
            tuple(names),
            low,
            high,
            tuple(found),
            observed,
            rules,
            tuple(categories),
            tuple(whole),
        )

    @cached_property
    def numbers(self) -> tuple[int, ...]:
        """Positions of the features that are numbers."""
        taken = {category.feature for category in self.categories}
        return tuple(i for i in range(len(self.names)) if i not in taken)

    @property
    def kept(self) -> tuple[int, ...]:
        """The numbers that are declared to stay, counted among the numbers."""
        return tuple(k for k, i in enumerate(self.numbers) if self.actions[i].may == "stay")

    def choices(self, state: Sequence[int]) -> tuple[Choice, ...]:
        """Where the categories may go from a state, and what that costs."""
        pairs = zip(self.categories, state, strict=True)
        return tuple(category.choice(self.actions[category.feature], today) for category, today in pairs)

    def domain(self, factual: ArrayLike) -> Domain:
        """Where the numbers of a counterfactual may lie, given the factual's; contradictions are named."""
        numbers = list(self.numbers)
        x0 = np.zeros(len(self.names))
        x0[numbers] = np.asarray(factual, dtype=float)
        low, high = self.low.copy(), self.high.copy()
        seen = list(self.observed)
        low[seen], high[seen] = np.minimum(low[seen], x0[seen]), np.maximum(high[seen], x0[seen])
        sets = []
        for k, i in enumerate(numbers):
            if i in self._said or i in self.whole:
                low[i], high[i], allowed = self._feature(i, float(x0[i]), float(low[i]), float(high[i]))
                sets += [replace(one, feature=k) for one in allowed]
        return Domain(low[numbers], high[numbers], self._rows(x0, low, high), tuple(sets))

    def declared(self) -> dict[str, Any]:
        """What was said, in plain values: for printing."""
        actions = {
            str(self.names[i]): {name: _plain(value) for name, value in self.actions[i].given().items()}
            for i in self._said
        }
        whole = [
            str(self.names[i]) for i in self.whole if self.actions[i].whole is None and self._is_whole(i)
        ]
        found = {"bounds": self._declared_bounds(), "actions": actions}
        return {**found, "whole": whole} if whole else found

    def _is_whole(self, i: int) -> bool:
        """Whether a feature takes whole numbers: because an action says so, or the training data were."""
        action = self.actions[i]
        if action.whole is None:
            listed = action.values is not None or action.step is not None
            return i in self.whole and not listed and action.may != "stay"
        return action.whole

    def one_relaxed(self) -> Iterator[tuple[str, Wishes]]:
        """What could be given up for a single feature or rule, in words, and what is left then.

        Nothing that concerns a protected feature, here and in the others.
        """
        for may in OPENED:
            for i in self._with_may(may):
                yield f"{self.names[i]!r} may {OPENED[may]}", self._acting({i: {"may": "change"}})
        for i in self._given_up(self._bounded()):
            ends = f"{self.low[i]:g} to {self.high[i]:g}"
            yield f"{self.names[i]!r} may leave its bounds {ends}", self._unbounded([i])
        for i in self._given_up(range(len(self.actions))):
            action = self.actions[i]
            lifts = [*_limits_relaxed(action)]
            if action.whole is None and self._is_whole(i):
                lifts.append(("take any number", {"whole": False}))
            for phrase, lifted in lifts:
                yield f"{self.names[i]!r} may {phrase}", self._acting({i: lifted})
        for rule in self.rules:
            if not self._guards(rule):
                left = tuple(other for other in self.rules if other is not rule)
                yield f"the rule {rule.name!r} is lifted", replace(self, rules=left)

    def kinds_relaxed(self) -> Iterator[tuple[str, Wishes]]:
        """The same for all wishes of a kind."""
        some = " that are not protected" if self._protected else ""
        for may, kind in KINDS.items():
            features = self._with_may(may)
            if len(features) > 1:
                phrase = f"all {kind} features{some} may {OPENED[may]}"
                yield phrase, self._acting({i: {"may": "change"} for i in features})
        bounded, observed = self._given_up(self._bounded()), self._given_up(self.observed)
        if len(bounded) > 1:
            yield f"features{some} may leave their bounds", self._unbounded(bounded)
        if observed:
            yield f"features{some} may leave the range seen in training", self._unbounded(observed)
        guards = tuple(rule for rule in self.rules if self._guards(rule))
        if len(self.rules) - len(guards) > 1:
            yield f"all rules{some and ' over features' + some} are lifted", replace(self, rules=guards)

    def all_relaxed(self) -> Iterator[tuple[str, Wishes]]:
        """Nothing is left, but what concerns protected features."""
        kept = self._protected
        free = self._unbounded([i for i in range(len(self.names)) if i not in kept])
        left = replace(
            free,
            actions=tuple(action if action.protected else FREE for action in self.actions),
            observed=tuple(i for i in self.observed if i in kept),
            rules=tuple(rule for rule in self.rules if self._guards(rule)),
            whole=tuple(i for i in self.whole if i in kept),
        )
        yield f"every restriction{' of features that are not protected' if kept else ''} is lifted", left

    @cached_property
    def _protected(self) -> frozenset[int]:
        return frozenset(i for i, action in enumerate(self.actions) if action.protected)

    def _given_up(self, features: Iterable[int]) -> list[int]:
        """The features about which a wish may be given up."""
        return [i for i in features if i not in self._protected]

    def _guards(self, rule: Rule) -> bool:
        """Whether a rule concerns a protected feature."""
        named = (*rule.coefficients, *rule.now)
        return any(_position(name, self.names, "rules") in self._protected for name in named)

    @cached_property
    def _said(self) -> tuple[int, ...]:
        return tuple(i for i, action in enumerate(self.actions) if action != FREE)

    def _with_may(self, may: str) -> list[int]:
        return self._given_up(i for i, action in enumerate(self.actions) if action.may == may)

    def _acting(self, changes: Mapping[int, Mapping[str, Any]]) -> Wishes:
        """The same wishes with other fields in the actions of some features."""
        actions = tuple(
            replace(action, **changes[i]) if i in changes else action for i, action in enumerate(self.actions)
        )
        return replace(self, actions=actions)

    def _bounded(self) -> list[int]:
        bounded = np.flatnonzero(np.isfinite(self.low) | np.isfinite(self.high)).tolist()
        return [i for i in bounded if i not in self.observed]

    def _unbounded(self, features: list[int]) -> Wishes:
        low, high = self.low.copy(), self.high.copy()
        low[features], high[features] = -np.inf, np.inf
        return replace(self, low=low, high=high)

    def _feature(self, i: int, x: float, low: float, high: float) -> tuple[float, float, list[ValueSet]]:
        """Ends of one feature, and its set of values if it has one."""
        name, action = self.names[i], self.actions[i]
        low, high = self._own_ends(i, x, low, high)
        if low > high:
            raise ProblemError(
                f"action and bounds of {name!r} exclude each other: at least {low:g} and at most {high:g}"
            )
        low, high = _one_way(action.may, x, low, high, name)
        if action.step is not None:
            listed: tuple[float, ...] | None = _steps(action, x, low, high, name)
        elif self._is_whole(i) or action.values is not None:
            listed = _values(action, x)
        else:
            return low, high, []
        if listed == () and low <= x <= high:
            return (*_one_way("stay", x, low, high, name), [])
        allowed = ValueSet(i, listed, x)
        least, most = allowed.at_least(low), allowed.at_most(high)
        if not least <= most:
            raise ProblemError(f"no allowed value of {name!r} lies within its bounds {low:g} to {high:g}")
        return least, most, [allowed]

    def _own_ends(self, i: int, x: float, low: float, high: float) -> tuple[float, float]:
        """The ends of an action within the bounds; the range seen in training gives way to them."""
        action, seen = self.actions[i], i in self.observed
        if action.low is not None:
            own = min(float(action.low), x)
            low = own if seen else max(low, own)
        if action.high is not None:
            own = max(float(action.high), x)
            high = own if seen else min(high, own)
        if action.most is not None:
            most = Fraction(float(action.most))
            low, high = max(low, rounded_up(Fraction(x) - most)), min(high, rounded_down(Fraction(x) + most))
        return low, high

    def _rows(self, x0: Array, low: Array, high: Array) -> tuple[Row, ...]:
        """The rules for one factual; one that the ends of its features already exclude is named."""
        rows = []
        for rule in self.rules:
            a = _coefficients(rule.coefficients, self.names, rule)
            today = {name: float(x0[_position(name, self.names, "rules")]) for name in rule.now}
            row = Row(a[list(self.numbers)], *rule.ends(today), rule.name)
            if _excluded(row, low[list(self.numbers)], high[list(self.numbers)]):
                raise ProblemError(f"the rule {rule.name!r} contradicts what its features may be")
            rows.append(row)
        return tuple(rows)

    def _declared_bounds(self) -> Any:
        if len(self.observed) == len(self.numbers):
            return DATA
        bounds: dict[str, Any] = {
            str(self.names[i]): [_open(self.low[i]), _open(self.high[i])] for i in self._bounded()
        }
        bounds |= {str(self.names[i]): DATA for i in self.observed}
        return bounds or None


def _bounds(
    bounds: Any,
    names: Sequence[Any],
    observed_range: ArrayLike | None,
    categories: Mapping[int, Category],
) -> tuple[Array, Array, tuple[int, ...]]:
    low, high = np.full(len(names), -np.inf), np.full(len(names), np.inf)
    every = [name for i, name in enumerate(names) if i not in categories]
    given = dict.fromkeys(every, DATA) if isinstance(bounds, str) else dict(bounds or {})
    observed = []
    for feature, ends in given.items():
        i = _position(feature, names, "bounds")
        if i in categories:
            raise ProblemError(f"{names[i]!r} is a category and has no bounds; see Action(values=...)")
        if isinstance(ends, str) and ends == DATA:
            if observed_range is not None:
                low[i], high[i] = np.asarray(observed_range, dtype=float)[:, i]
            observed.append(i)
        else:
            low[i], high[i] = _interval(feature, ends)
    return low, high, tuple(sorted(observed))


def _narrowed(action: Action, kind: str, name: Any) -> Action:
    """The action with what a list of features adds to it."""
    may = MAY[kind]
    if action.may not in ("change", may):
        raise ProblemError(f"{name!r} {SAID[action.may]}, and is listed as {kind} as well; choose one")
    return replace(action, may=may)  # type: ignore[arg-type]


def _limits_relaxed(action: Action) -> Iterator[tuple[str, dict[str, Any]]]:
    """What an action says besides the direction, each given up by itself."""
    if action.low is not None or action.high is not None:
        yield "leave the ends of its action", {"low": None, "high": None}
    if action.most is not None:
        yield f"change by more than {action.most:g}", {"most": None}
    if action.step is not None:
        yield f"change by other amounts than steps of {action.step:g}", {"step": None}
    if action.whole:
        yield "take any number", {"whole": None}
    if action.values is not None:
        yield "take other values", {"values": None}


def _values(action: Action, x: float) -> tuple[float, ...] | None:
    """The values within an action's own ends; None for whole numbers that the ends hold together."""
    low = -math.inf if action.low is None else float(action.low)
    high = math.inf if action.high is None else float(action.high)
    if action.values is not None:
        return tuple(sorted({float(v) for v in action.values if low <= v <= high}))
    if low <= x <= high or high - low > MOST_LISTED:
        return None
    return tuple(float(v) for v in range(math.ceil(low), math.floor(high) + 1))


def _steps(action: Action, x: float, low: float, high: float, name: Any) -> tuple[float, ...]:
    """Today's value and steps up and down within the ends, as they are written: 0.1 and 0.2 make 0.3."""
    if not (math.isfinite(low) and math.isfinite(high)):
        raise ProblemError(f"the step of {name!r} needs ends: give low and high, most, or bounds")
    start, step = (Fraction(repr(v)) for v in (x, float(action.step or 1)))
    first, last = math.ceil((Fraction(low) - start) / step), math.floor((Fraction(high) - start) / step)
    if last - first >= MOST_STEPS:
        raise ProblemError(
            f"the step of {name!r} leads to more than {MOST_STEPS:,} values from {low:g} to {high:g}; "
            "make it larger, or the ends narrower"
        )
    found = {float(start + k * step) for k in range(first - 1, last + 2)}  # rounding may let one more in
    own = max(low, -math.inf if action.low is None else action.low)
    end = min(high, math.inf if action.high is None else action.high)
    return tuple(sorted(v for v in found if own <= v <= end))


def _one_way(may: str, x: float, low: float, high: float, name: Any) -> tuple[float, float]:
    """Ends of a feature that stays, rises or falls."""
    below = may in ("stay", "fall") and x < low
    above = may in ("stay", "rise") and x > high
    if below or above:
        raise ProblemError(
            f"{name!r} {SAID[may]}, but its value {x:g} lies outside its bounds {low:g} to {high:g}"
        )
    least = max(low, x) if may in ("stay", "rise") else low
    most = min(high, x) if may in ("stay", "fall") else high
    return least, most


def _excluded(row: Row, low: Array, high: Array) -> bool:
    """Whether no point between the ends satisfies a row, by more than rounding errors."""
    j = row.coefficients != 0
    ends = np.array([row.coefficients[j] * low[j], row.coefficients[j] * high[j]])
    least, most = float(ends.min(axis=0).sum()), float(ends.max(axis=0).sum())
    size = float(np.abs(ends[np.isfinite(ends)]).sum())
    return most < row.low - ROUNDING * size or least > row.high + ROUNDING * size


def _rules(said: Actions, names: Sequence[Any], categories: Mapping[int, Category]) -> tuple[Rule, ...]:
    """Rules and links; those that name something else than numbers are refused."""
    rules = [rule if isinstance(rule, Rule) else parse_rule(rule) for rule in said.rules]
    rules += [Link(*link).rule() for link in said.links]
    for rule in rules:
        used = np.flatnonzero(_coefficients(rule.coefficients, names, rule)).tolist()
        used += np.flatnonzero(_coefficients(rule.now, names, rule)).tolist()
        wrong = [str(names[i]) for i in used if i in categories]
        if wrong:
            raise ProblemError(f"the rule {rule.name!r} adds up {wrong[0]!r}, which is a category")
    return tuple(rules)


def _coefficients(numbers: Mapping[Any, float], names: Sequence[Any], rule: Rule) -> Array:
    a = np.zeros(len(names))
    for feature, coefficient in numbers.items():
        a[_position(feature, names, f"the rule {rule.name!r}")] += float(coefficient)
    return a


def _position(feature: Any, names: Sequence[Any], what: str) -> int:
    """Position of a feature; files and rules write names that are numbers as text."""
    if isinstance(feature, str) and feature not in names:
        written = [name for name in names if str(name) == feature]
        feature = written[0] if len(written) == 1 else feature
    try:
        return feature_index(feature, names)
    except StructureError as error:
        raise ProblemError(f"{what}: {error}") from None


def _positions(features: Iterable[Any], names: Sequence[Any], what: str) -> tuple[int, ...]:
    if isinstance(features, str):
        raise ProblemError(f"{what} must be a list of features, not {features!r}")
    return tuple(dict.fromkeys(_position(feature, names, what) for feature in features))


def _interval(feature: Any, ends: Any) -> tuple[float, float]:
    try:
        low, high = ends
        pair = -np.inf if low is None else float(low), np.inf if high is None else float(high)
    except (TypeError, ValueError):
        raise ProblemError(f"bounds of {feature!r} must be a pair (low, high), not {ends!r}") from None
    if np.isnan(pair).any():
        raise ProblemError(f"bounds of {feature!r} must be numbers or None, not {ends!r}")
    if pair[0] > pair[1] or pair[0] == np.inf or pair[1] == -np.inf:
        raise ProblemError(f"bounds of {feature!r} are empty: {pair[0]:g} to {pair[1]:g}")
    return pair


def _open(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def _plain(value: Any) -> Any:
    if isinstance(value, str | bool):
        return value
    if isinstance(value, Mapping):
        return {str(name): _plain(entry) for name, entry in value.items()}
    return [_plain(v) for v in value] if isinstance(value, Iterable) else float(value)
