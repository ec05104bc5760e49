"""Wishes: what a user says about features, by position, and what is allowed then for one factual."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from surefoot.exceptions import ProblemError
from surefoot.explain.constraints.actions import FREE, Action, Actions, AtMost, Link, When
from surefoot.explain.constraints.categories import Category, check_number
from surefoot.explain.constraints.conditions import GAP, Place, check_rule, check_when, either, features_of
from surefoot.explain.constraints.grammar import rule_entry
from surefoot.explain.constraints.naming import position, positions
from surefoot.explain.constraints.numeric_domain import SAID, Number
from surefoot.explain.constraints.presolve import held, joined
from surefoot.explain.constraints.rules import Rule, check_size
from surefoot.problem.choice import Choice
from surefoot.problem.domain import Domain
from surefoot.problem.either import Either, Limit
from surefoot.problem.mixed import State
from surefoot.problem.row import Row

Array = NDArray[np.float64]

DATA = "data"
MAY = {"immutable": "stay", "increasing": "rise", "decreasing": "fall"}


class Allowed(NamedTuple):
    """What is allowed for one row.

    Parameters
    ----------
    domain : Domain
        Of the numbers.
    choices : tuple of Choice
        Of the categories.
    eithers : tuple of Either
    limits : tuple of Limit
    """

    domain: Domain
    choices: tuple[Choice, ...]
    eithers: tuple[Either, ...]
    limits: tuple[Limit, ...]


@dataclass(frozen=True, eq=False)
class Wishes:
    """What is said about features, by position: bounds, actions, rules and limits.

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
    links : tuple of Link
    when : tuple of When
    limits : tuple of AtMost
    categories : tuple of Category
        The features that are no numbers.
    whole : tuple of int
        Numbers that were whole in every training row: they stay whole, unless an action says otherwise.
    gaps : array of shape (n,), optional
        How far beyond an end each number counts as beyond it in an if-then rule. Default: a millionth.

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
    links: tuple[Link, ...] = ()
    when: tuple[When, ...] = ()
    limits: tuple[AtMost, ...] = ()
    categories: tuple[Category, ...] = ()
    whole: tuple[int, ...] = ()
    gaps: Array = None  # type: ignore[assignment]  # replaced by millionths when left out

    def __post_init__(self) -> None:
        if self.gaps is None:
            object.__setattr__(self, "gaps", np.full(len(self.names), GAP))

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
        gaps: Mapping[Any, float] | None = None,
        **kinds: Iterable[Any],
    ) -> Wishes:
        """Read what a user says by feature name; unknown names and contradictions are refused.

        ``bounds`` is None, ``"data"`` (the ``observed_range`` of every feature), or a mapping from
        features to (low, high) or ``"data"``; ``kinds`` are lists of features that are ``immutable``,
        ``increasing`` or ``decreasing``. ``gaps`` takes the place of what the ``observed_range`` says.
        """
        named = {category.feature: category for category in categories}
        low, high, observed = _bounds(bounds, names, observed_range, named)
        said = Actions() if actions is None else actions
        found = cls(
            tuple(names),
            low,
            high,
            _actions(said, names, kinds),
            observed,
            rules=tuple(said.rules),  # type: ignore[arg-type]
            links=tuple(Link(*link) for link in said.links),
            when=tuple(When(*rule) for rule in said.when),
            limits=said.limits,
            categories=tuple(categories),
            whole=tuple(whole),
            gaps=_gaps(names, observed_range, gaps),
        )
        found._check(named)
        return found

    def _check(self, categories: Mapping[int, Category]) -> None:
        """Refuse what names something that does not exist, or asks of a feature what it cannot do."""
        for i, action in enumerate(self.actions):
            if i in categories:
                categories[i].checked(action)
            else:
                check_number(self.names[i], action)
            for price in _listed_prices(action.cost):
                check_size(price, f"a price of {self.names[i]!r}")
        for rule in self.linear:
            check_rule(rule, self.names, categories, f"the rule {rule.name!r}")
        for one in self.when:
            check_when(one, self.names, categories)
        for limit in self.limits:
            places = positions(limit.features or (), self.names, "at_most_of")
            if len(places) < len(limit.features or ()):
                raise ProblemError(f"at_most_of names a feature twice: {limit.name}")

    @cached_property
    def numbers(self) -> tuple[int, ...]:
        """Positions of the features that are numbers."""
        taken = {category.feature for category in self.categories}
        return tuple(i for i in range(len(self.names)) if i not in taken)

    @property
    def kept(self) -> tuple[int, ...]:
        """The numbers that are declared to stay, counted among the numbers."""
        return tuple(k for k, i in enumerate(self.numbers) if self.actions[i].may == "stay")

    @cached_property
    def linear(self) -> tuple[Rule, ...]:
        """Rules, and links as rules."""
        return (*self.rules, *(link.rule() for link in self.links))

    @cached_property
    def prices(self) -> tuple[tuple[float, float], ...]:
        """What a change of each number by a standard deviation costs, up and down."""
        return tuple(_prices(self.actions[i].cost) for i in self.numbers)

    @property
    def priced(self) -> tuple[Any, ...]:
        """Names of the numbers that have a price of their own."""
        return tuple(self.names[i] for i in self.numbers if self.actions[i].cost is not None)

    def unpriced(self) -> Wishes:
        """The same without prices of numbers."""
        numbers = set(self.numbers)
        actions = (replace(a, cost=None) if i in numbers else a for i, a in enumerate(self.actions))
        return replace(self, actions=tuple(actions))

    def allowed(self, factual: ArrayLike, state: State = ()) -> Allowed:
        """What is allowed for a row; contradictions are named."""
        domain, choices = self.domain(factual), self.choices(state)
        place = self._place(factual, state, domain, choices)
        found = (either(rule, place) for rule in self.when)
        eithers = tuple(one for one in found if one is not None)
        return Allowed(domain, choices, eithers, self._limits(factual, domain, choices))

    def choices(self, state: Sequence[int]) -> tuple[Choice, ...]:
        """Where the categories may go from a state, and what that costs."""
        pairs = zip(self.categories, state, strict=True)
        return tuple(category.choice(self.actions[category.feature], today) for category, today in pairs)

    def domain(self, factual: ArrayLike) -> Domain:
        """Where the numbers of a counterfactual may lie, given the factual's; contradictions are named."""
        numbers, x0 = list(self.numbers), self._by_feature(factual)
        low, high = self.low.copy(), self.high.copy()
        seen = list(self.observed)
        low[seen], high[seen] = np.minimum(low[seen], x0[seen]), np.maximum(high[seen], x0[seen])
        sets = []
        for k, i in enumerate(numbers):
            if i in self._said or i in self.whole:
                known = Number(k, self.names[i], float(x0[i]), self.is_whole(i), i in self.observed)
                low[i], high[i], values = known.ends(self.actions[i], float(low[i]), float(high[i]))
                sets += values
        kept = self._hold_linked(x0, low, high)
        rules = (*self.rules, *(link.rule() for k, link in enumerate(self.links) if k not in kept))
        rows = joined(self._rows(x0, rules))
        return Domain(*held(low[numbers], high[numbers], rows), tuple(sets))

    def _hold_linked(self, x0: Array, low: Array, high: Array) -> set[int]:
        """Keep what is linked to a feature that stays as it is; the links that say no more then.

        A value that cannot change is far easier to search and to prove with than an equation.
        """
        pairs = {
            k: [position(name, self.names, "links") for name in (link.feature, link.leader)]
            for k, link in enumerate(self.links)
            if link.factor
        }
        held: set[int] = set()
        while True:
            stays = (low == x0) & (high == x0)
            fresh = {k for k, pair in pairs.items() if k not in held and stays[pair].any()}
            fresh = {k for k in fresh if all(low[i] <= x0[i] <= high[i] for i in pairs[k])}
            if not fresh:
                return held
            held |= fresh
            for k in fresh:
                low[pairs[k]] = high[pairs[k]] = x0[pairs[k]]

    def _by_feature(self, factual: ArrayLike) -> Array:
        x0 = np.zeros(len(self.names))
        x0[list(self.numbers)] = np.asarray(factual, dtype=float)
        return x0

    def _place(self, factual: ArrayLike, state: State, domain: Domain, choices: tuple[Choice, ...]) -> Place:
        categories = {category.feature: category for category in self.categories}
        codes = dict(zip(categories, state, strict=True))
        return Place(self.names, self._by_feature(factual), categories, codes, self.gaps, domain, choices)

    def _limits(self, factual: ArrayLike, domain: Domain, choices: tuple[Choice, ...]) -> tuple[Limit, ...]:
        """Limits over the features that can change at all; one that all of them meet is left out."""
        x0, found = np.asarray(factual, dtype=float), []
        moves = (domain.low < x0) | (domain.high > x0)
        for limit in self.limits:
            named = self._limited(limit)
            numbers = [k for k, i in enumerate(self.numbers) if i in named and moves[k]]
            categories = [k for k, c in enumerate(choices) if c.feature in named and c.is_open]
            if limit.most < len(numbers) + len(categories):
                today = tuple(x0[numbers].tolist())
                found.append(Limit(limit.most, tuple(numbers), today, tuple(categories), limit.name))
        return tuple(found)

    def _limited(self, limit: AtMost) -> frozenset[int]:
        if limit.features is None:
            return frozenset(range(len(self.names)))
        return frozenset(positions(limit.features, self.names, "at_most_of"))

    def declared(self) -> dict[str, Any]:
        """What was said, in plain values: for printing, and to compare with what was searched."""
        found: dict[str, Any] = {"bounds": self._declared_bounds(), "actions": self._declared_actions()}
        more = {
            "whole": [
                str(self.names[i]) for i in self.whole if self.actions[i].whole is None and self.is_whole(i)
            ],
            "rules": [_plain(rule_entry(_with_finite_ends(rule))) for rule in self.rules],
            "links": [[str(link.feature), str(link.leader), float(link.factor)] for link in self.links],
            "when": [[*rule] for rule in self.when],
            "at_most": [
                [int(limit.most), None if limit.features is None else [str(name) for name in limit.features]]
                for limit in self.limits
            ],
            "gaps": self._declared_gaps(),
        }
        return found | {name: entry for name, entry in more.items() if entry}

    def _declared_actions(self) -> dict[str, Any]:
        return {
            str(self.names[i]): {name: _plain(value) for name, value in self.actions[i].given().items()}
            for i in self._said
        }

    def _declared_gaps(self) -> dict[str, float]:
        """Of the numbers about which an if-then rule says something."""
        named = {i for rule in self.when for i in features_of(rule, self.names)}
        return {str(self.names[i]): float(self.gaps[i]) for i in self.numbers if i in named}

    def is_whole(self, i: int) -> bool:
        """Whether a feature takes whole numbers: because an action says so, or the training data were."""
        action = self.actions[i]
        if action.whole is None:
            listed = action.values is not None or action.step is not None
            return i in self.whole and not listed and action.may != "stay"
        return action.whole

    @cached_property
    def _said(self) -> tuple[int, ...]:
        return tuple(i for i, action in enumerate(self.actions) if action != FREE)

    def bounded(self) -> list[int]:
        """The features that have bounds of their own."""
        bounded = np.flatnonzero(np.isfinite(self.low) | np.isfinite(self.high)).tolist()
        return [i for i in bounded if i not in self.observed]

    def _rows(self, x0: Array, rules: Sequence[Rule]) -> tuple[Row, ...]:
        """Rules for one factual."""
        rows = []
        for rule in rules:
            a = np.zeros(len(self.names))
            for name, coefficient in rule.coefficients.items():
                a[position(name, self.names, "rules")] += float(coefficient)
            named = (*rule.coefficients, *rule.now)
            today = {name: float(x0[position(name, self.names, "rules")]) for name in named}
            rows.append(Row(a[list(self.numbers)], *rule.ends(today), rule.name))
        return tuple(rows)

    def _declared_bounds(self) -> Any:
        if len(self.observed) == len(self.numbers):
            return DATA
        bounds: dict[str, Any] = {
            str(self.names[i]): [_open(self.low[i]), _open(self.high[i])] for i in self.bounded()
        }
        bounds |= {str(self.names[i]): DATA for i in self.observed}
        return bounds or None


def _listed_prices(cost: Any) -> list[float]:
    """All prices that an action names."""
    listed = (
        cost.values() if isinstance(cost, Mapping) else cost if isinstance(cost, list | tuple) else [cost]
    )
    return [float(price) for price in listed if price is not None]


def _actions(said: Actions, names: Sequence[Any], kinds: Mapping[str, Iterable[Any]]) -> tuple[Action, ...]:
    """An action for each feature, with what lists of features add to it."""
    found = [FREE] * len(names)
    for feature, action in said.features.items():
        i = position(feature, names, "actions")
        if found[i] is not FREE:
            raise ProblemError(f"{names[i]!r} has two actions")
        found[i] = action if isinstance(action, Action) else Action(action)  # type: ignore[arg-type]
    for kind, features in kinds.items():
        for i in positions(features, names, kind):
            found[i] = _narrowed(found[i], kind, names[i])
    return tuple(found)


def _gaps(names: Sequence[Any], observed_range: ArrayLike | None, given: Mapping[Any, float] | None) -> Array:
    """A millionth of each number's range; of one where it is not known."""
    found = np.full(len(names), GAP)
    if given is None and observed_range is not None:
        low, high = np.asarray(observed_range, dtype=float)
        with np.errstate(invalid="ignore", over="ignore"):
            wide = GAP * (high - low)
        known = np.isfinite(wide) & (wide > 0)
        found[known] = wide[known]
    for name, gap in (given or {}).items():
        found[position(name, names, "gaps")] = gap
    return found


def _prices(cost: Any) -> tuple[float, float]:
    up, down = cost if isinstance(cost, list | tuple) else (cost, cost)
    return (1.0 if up is None else float(up), 1.0 if down is None else float(down))


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
        i = position(feature, names, "bounds")
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


def _with_finite_ends(rule: Rule) -> Rule:
    """The same rule; an end that is infinite is none."""
    low, high = (None if end is None or math.isinf(end) else end for end in (rule.low, rule.high))
    return rule if (low, high) == (rule.low, rule.high) else replace(rule, low=low, high=high)


def _open(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def _plain(value: Any) -> Any:
    if isinstance(value, str | bool):
        return value
    if isinstance(value, Mapping):
        return {str(name): _plain(entry) for name, entry in value.items()}
    return [_plain(v) for v in value] if isinstance(value, Iterable) else float(value)
