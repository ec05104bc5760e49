"""ConstraintSet: all constraints of a user, by position, and what they mean for one row."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from surefoot.days import Day, as_day
from surefoot.exceptions import ProblemError
from surefoot.explain.constraints.actions import Actions
from surefoot.explain.constraints.arithmetic import open_ends
from surefoot.explain.constraints.category import Category
from surefoot.explain.constraints.constraint import Constraint, Features, Place, Today
from surefoot.explain.constraints.feature import FREE, SAID, Action, May, check_action
from surefoot.explain.constraints.if_then import GAP
from surefoot.explain.constraints.kinds import KINDS
from surefoot.explain.constraints.linear import as_plain
from surefoot.explain.constraints.number import Number, worthwhile
from surefoot.explain.constraints.presolve import held, joined
from surefoot.explain.constraints.prices import up_and_down
from surefoot.problem.choice import Choice
from surefoot.problem.domain import Domain
from surefoot.problem.either import Either, Limit
from surefoot.problem.mixed import State
from surefoot.problem.row import Row

Array = NDArray[np.float64]

DATA = "data"
MAY: dict[str, May] = {"immutable": "stay", "increasing": "rise", "decreasing": "fall"}


class Allowed(NamedTuple):
    """What is allowed for one row: a domain of its numbers, choices of its categories, what joins both."""

    domain: Domain
    choices: tuple[Choice, ...]
    eithers: tuple[Either, ...]
    limits: tuple[Limit, ...]


@dataclass(frozen=True, eq=False)
class ConstraintSet(Features):
    """What is said about features, by position: bounds, actions, and constraints over several of them.

    Examples
    --------
    >>> constraints = ConstraintSet.by_name(["age", "income"], immutable=["age"], increasing=["income"])
    >>> domain = constraints.domain([30.0, 2.0])
    >>> domain.low, domain.high
    (array([30.,  2.]), array([30., inf]))
    >>> constraints.declared()["actions"]
    {'age': {'may': 'stay'}, 'income': {'may': 'rise'}}
    """

    low: Array  # bounds; infinite ends are open
    high: Array
    actions: tuple[Action, ...]  # one for each feature
    # Features whose bounds are only the range seen in training: it gives way to the ends of an action, and
    # to today's value.
    observed: tuple[int, ...]
    over_several: tuple[Constraint, ...]  # in the order of their kinds
    whole: tuple[int, ...]  # whole in every training row: they stay so, unless an action says otherwise
    gaps: Array  # how far beyond an end each number counts as beyond it in an if-then rule

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
        dates: Sequence[int] = (),
        gaps: Mapping[Any, float] | None = None,
        **kinds: Iterable[Any],
    ) -> ConstraintSet:
        """Read what a user says by feature name; unknown names and contradictions are refused.

        ``bounds`` is None, ``"data"`` (the ``observed_range`` of every feature), or a mapping from
        features to (low, high) or ``"data"``; ``kinds`` are lists of features that are ``immutable``,
        ``increasing`` or ``decreasing``. ``gaps`` takes the place of what the ``observed_range`` says.
        """
        own = {category.feature: category for category in categories}
        features = Features(tuple(names), own, dates=tuple(dates))
        low, high, observed = _bounds(bounds, features, observed_range)
        said = Actions() if actions is None else actions
        found = cls(
            names=features.names,
            categories=features.categories,
            low=low,
            high=high,
            actions=_actions(said, features, kinds),
            observed=observed,
            over_several=said.over_several,
            whole=tuple(whole),
            gaps=_gaps(features, observed_range, gaps),
            dates=features.dates,
        )
        for i, action in enumerate(found.actions):
            check_action(action, names[i], features.categories.get(i), i in features.dates)
        for one in found.over_several:
            one.check(found)
        return found

    @property
    def kept(self) -> tuple[int, ...]:
        """The numbers that are declared to stay, counted among the numbers."""
        return tuple(k for k, i in enumerate(self.numbers) if self.actions[i].may == "stay")

    @cached_property
    def prices(self) -> tuple[tuple[float, float], ...]:
        """What a change of each number by a standard deviation costs, up and down."""
        return tuple(up_and_down(self.actions[i].cost) for i in self.numbers)

    @property
    def priced(self) -> tuple[Any, ...]:
        """Names of the numbers that have a price of their own."""
        return tuple(self.names[i] for i in self.numbers if self.actions[i].cost is not None)

    def unpriced(self) -> ConstraintSet:
        """The same without prices of numbers."""
        numbers = set(self.numbers)
        actions = (replace(a, cost=None) if i in numbers else a for i, a in enumerate(self.actions))
        return replace(self, actions=tuple(actions))

    def allowed(self, factual: ArrayLike, state: State = ()) -> Allowed:
        """What is allowed for a row; contradictions are named."""
        domain, choices = self.domain(factual), self.choices(state)
        if not self.over_several and not self._least:
            return Allowed(domain, choices, (), ())
        today = self._today(factual, state)
        place = Place(today.names, today.categories, today.now, today.codes, self.gaps, domain, choices)
        eithers = [either for i, least in self._least.items() for either in worthwhile(least, i, place)]
        eithers += [either for one in self.over_several for either in one.disjunctions(place)]
        limits = [limit for one in self.over_several for limit in one.limits(place)]
        return Allowed(domain, choices, tuple(eithers), tuple(limits))

    def _today(self, factual: ArrayLike, state: State = ()) -> Today:
        """A row's values by feature."""
        values, codes = np.zeros(len(self.names)), zip(self.categories, state, strict=bool(state))
        values[self.numbers] = np.asarray(factual, dtype=float)
        return Today(self.names, self.categories, values, dict(codes))

    def choices(self, state: Sequence[int]) -> tuple[Choice, ...]:
        """Where the categories may go from a state, and what that costs."""
        pairs = zip(self.categories.items(), state, strict=True)
        return tuple(category.choice(self.actions[i], today) for (i, category), today in pairs)

    def domain(self, factual: ArrayLike) -> Domain:
        """Where the numbers of a counterfactual may lie, given the factual's; contradictions are named."""
        today, numbers = self._today(factual), list(self.numbers)
        x0, low, high = today.now, self.low.copy(), self.high.copy()
        seen = list(self.observed)
        low[seen], high[seen] = np.minimum(low[seen], x0[seen]), np.maximum(high[seen], x0[seen])
        sets = []
        for k, i in enumerate(numbers):
            if i in self._said or i in self.whole:
                known = Number(k, self.names[i], float(x0[i]), self.is_whole(i), i in self.observed)
                low[i], high[i], values = known.ends(self.actions[i], float(low[i]), float(high[i]))
                sets += values
        rows: list[Row] = []
        for kind, own in self._kinds:
            left = kind.presolve(own, today, low, high)
            rows += [row for one in left for row in one.rows(today)]
        return Domain(*held(low[numbers], high[numbers], joined(rows)), tuple(sets))

    @cached_property
    def _kinds(self) -> list[tuple[type[Constraint], list[Any]]]:
        """The kinds of which there are constraints, in their order, with these."""
        return [(kind, own) for kind in KINDS if (own := self.of_kind(kind))]

    def of_kind(self, kind: type[Constraint]) -> list[Any]:
        """The constraints of one kind."""
        return [one for one in self.over_several if type(one) is kind]

    def declared(self) -> dict[str, Any]:
        """What was said, in plain values: for printing, and to compare with what was searched."""
        names = [str(name) for name in self.names]
        strict = (one for one in self.over_several if one.is_strict)
        compared = {i for one in strict for i in one.concerned(self)}
        actions = {names[i]: {k: as_plain(v) for k, v in self.actions[i].given().items()} for i in self._said}
        more: dict[str, Any] = {
            "whole": [names[i] for i in self.whole if self.actions[i].whole is None and self.is_whole(i)],
            **{kind.document_key: [one.plain() for one in self.of_kind(kind)] for kind in KINDS},
            "gaps": {names[i]: float(self.gaps[i]) for i in self.numbers if i in compared},
        }
        found = {"bounds": self._declared_bounds(), "actions": actions}
        return found | {name: entry for name, entry in more.items() if entry}

    def is_whole(self, i: int) -> bool:
        """Whether a feature takes whole numbers: because an action says so, or the training data were."""
        action = self.actions[i]
        if action.whole is None:
            listed = action.values is not None or action.step is not None
            return i in self.whole and not listed and action.may != "stay"
        return action.whole

    @cached_property
    def _least(self) -> dict[int, float]:
        """The smallest worthwhile change of each number that has one."""
        found = {i: self.actions[i].least for i in self.numbers}
        return {i: least for i, least in found.items() if least is not None}

    @cached_property
    def _said(self) -> tuple[int, ...]:
        return tuple(i for i, action in enumerate(self.actions) if action != FREE)

    def bounded(self) -> list[int]:
        """The features that have bounds of their own."""
        bounded = np.flatnonzero(np.isfinite(self.low) | np.isfinite(self.high)).tolist()
        return [i for i in bounded if i not in self.observed]

    def _declared_bounds(self) -> Any:
        if len(self.observed) == len(self.numbers):
            return DATA
        bounds: dict[str, Any] = {
            str(self.names[i]): [_open(self.low[i]), _open(self.high[i])] for i in self.bounded()
        }
        bounds |= {str(self.names[i]): DATA for i in self.observed}
        return bounds or None


def _actions(said: Actions, features: Features, lists: Mapping[str, Iterable[Any]]) -> tuple[Action, ...]:
    """An action for each feature, with what lists of features add to it."""
    names = features.names
    found = [FREE] * len(names)
    for feature, action in said.features.items():
        i = features.position(feature, "actions")
        if found[i] is not FREE:
            raise ProblemError(f"{names[i]!r} has two actions")
        found[i] = action if isinstance(action, Action) else Action(action)  # type: ignore[arg-type]
        found[i] = found[i].dated() if i in features.dates else found[i]
    for kind, listed in lists.items():
        if isinstance(listed, str):
            raise ProblemError(f"{kind} must be a list of features, not {listed!r}")
        for i in [features.position(feature, kind) for feature in listed]:
            if found[i].may not in ("change", MAY[kind]):
                already = f"{names[i]!r} {SAID[found[i].may]}"
                raise ProblemError(f"{already}, and is listed as {kind} as well; choose one")
            found[i] = replace(found[i], may=MAY[kind])
    return tuple(found)


def _gaps(features: Features, observed_range: ArrayLike | None, given: Mapping[Any, float] | None) -> Array:
    """A millionth of each number's range, or of 1 where the range is not known."""
    found = np.full(len(features.names), GAP)
    if given is None and observed_range is not None:
        low, high = np.asarray(observed_range, dtype=float)
        with np.errstate(invalid="ignore", over="ignore"):
            wide = GAP * (high - low)
        known = np.isfinite(wide) & (wide > 0)
        found[known] = wide[known]
    for name, gap in (given or {}).items():
        found[features.position(name, "gaps")] = gap
    return found


def _bounds(
    bounds: Any, features: Features, observed_range: ArrayLike | None
) -> tuple[Array, Array, tuple[int, ...]]:
    """Both ends of each feature, and the features whose ends are the range seen in training."""
    names, observed = features.names, []
    low, high = np.full(len(names), -np.inf), np.full(len(names), np.inf)
    every = dict.fromkeys((names[i] for i in features.numbers), DATA)
    for feature, ends in (every if isinstance(bounds, str) else dict(bounds or {})).items():
        i = features.position(feature, "bounds")
        if i in features.categories:
            raise ProblemError(f"{names[i]!r} is a category and has no bounds; see Action(values=...)")
        if isinstance(ends, str) and ends == DATA:
            if observed_range is not None:
                low[i], high[i] = np.asarray(observed_range, dtype=float)[:, i]
            observed.append(i)
        else:
            low[i], high[i] = _interval(feature, ends, i in features.dates)
    return low, high, tuple(sorted(observed))


def _interval(feature: Any, ends: Any, is_date: bool) -> tuple[float, float]:
    try:
        low, high = map(as_day, ends)
        pair = open_ends(low, high)
    except (TypeError, ValueError):
        raise ProblemError(f"bounds of {feature!r} must be a pair (low, high), not {ends!r}") from None
    dates = [end for end in (low, high) if isinstance(end, Day)]
    if dates and not is_date:
        raise ProblemError(f"bounds of {feature!r}: it is a number, {dates[0]} is a date")
    if np.isnan(pair).any():
        raise ProblemError(f"bounds of {feature!r} must be numbers or None, not {ends!r}")
    if pair[0] > pair[1] or pair[0] == np.inf or pair[1] == -np.inf:
        raise ProblemError(f"bounds of {feature!r} are empty: {pair[0]:g} to {pair[1]:g}")
    return pair


def _open(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
