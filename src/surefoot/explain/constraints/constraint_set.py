"""ConstraintSet: all that a user asks of features, by position, and what it means for one row."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from surefoot.days import as_days
from surefoot.exceptions import ProblemError
from surefoot.explain.constraints.actions import Actions
from surefoot.explain.constraints.category import Category
from surefoot.explain.constraints.constraint import Constraint, Ends, Features, Place, Today
from surefoot.explain.constraints.feature import FREE, SAID, Action, check_action
from surefoot.explain.constraints.if_then import GAP
from surefoot.explain.constraints.kinds import KINDS
from surefoot.explain.constraints.linear import as_plain
from surefoot.explain.constraints.naming import position, positions
from surefoot.explain.constraints.number import Number, worthwhile
from surefoot.explain.constraints.presolve import held, joined
from surefoot.explain.constraints.prices import check_prices, up_and_down
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
class ConstraintSet:
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
    over_several : tuple of Constraint
        In the order of their kinds.
    categories : tuple of Category
        The features that are no numbers.
    whole : tuple of int
        Numbers that were whole in every training row: they stay whole, unless an action says otherwise.
    gaps : array of shape (n,), optional
        How far beyond an end each number counts as beyond it in an if-then rule. Default: a millionth.

    Examples
    --------
    >>> constraints = ConstraintSet.by_name(["age", "income"], immutable=["age"], increasing=["income"])
    >>> domain = constraints.domain([30.0, 2.0])
    >>> domain.low, domain.high
    (array([30.,  2.]), array([30., inf]))
    >>> constraints.declared()["actions"]
    {'age': {'may': 'stay'}, 'income': {'may': 'rise'}}
    """

    names: tuple[Any, ...]
    low: Array
    high: Array
    actions: tuple[Action, ...]
    observed: tuple[int, ...] = ()
    over_several: tuple[Constraint, ...] = ()
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
    ) -> ConstraintSet:
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
            said.over_several,
            categories=tuple(categories),
            whole=tuple(whole),
            gaps=_gaps(names, observed_range, gaps),
        )
        found._check(named)
        return found

    def _check(self, categories: Mapping[int, Category]) -> None:
        """Refuse what names something that does not exist, or asks of a feature what it cannot do."""
        for i, action in enumerate(self.actions):
            known = categories.get(i)
            check_action(action, self.names[i], known is not None, known is not None and known.ordered)
            check_prices(action.cost, self.names[i], known is not None)
            if known is not None:
                known.check(action)
        for one in self.over_several:
            one.check(self.features)

    @cached_property
    def features(self) -> Features:
        """The features, for constraints that name them."""
        return Features(self.names, {category.feature: category for category in self.categories})

    @property
    def numbers(self) -> tuple[int, ...]:
        """Positions of the features that are numbers."""
        return tuple(self.features.numbers)

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
        today = self._today(factual, state)
        place = Place(today.names, today.categories, today.now, today.codes, self.gaps, domain, choices)
        found = (*self._worthwhile(place), *(e for one in self.over_several for e in one.disjunctions(place)))
        limits = (limit for one in self.over_several for limit in one.limits(place))
        return Allowed(domain, choices, found, tuple(limits))

    def _today(self, factual: ArrayLike, state: State = ()) -> Today:
        """A row's values by feature."""
        values, categories = np.zeros(len(self.names)), self.features.categories
        values[list(self.numbers)] = np.asarray(factual, dtype=float)
        codes = dict(zip(categories, state, strict=bool(state)))
        return Today(self.names, categories, values, codes)

    def _worthwhile(self, place: Place) -> Iterable[Either]:
        """Numbers that change by some amount at least, or not at all."""
        for k, i in enumerate(self.numbers):
            least = self.actions[i].least
            if least is not None:
                yield from worthwhile(self.names[i], k, float(place.now[i]), least, place)

    def choices(self, state: Sequence[int]) -> tuple[Choice, ...]:
        """Where the categories may go from a state, and what that costs."""
        pairs = zip(self.categories, state, strict=True)
        return tuple(category.choice(self.actions[category.feature], today) for category, today in pairs)

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
        rows = joined(self._rows(today, Ends(x0, low, high)))
        return Domain(*held(low[numbers], high[numbers], rows), tuple(sets))

    def _rows(self, today: Today, ends: Ends) -> tuple[Row, ...]:
        """Linear rows, once each kind has narrowed the ends by what leaves no choice."""
        found: list[Row] = []
        for kind in KINDS:
            own = [one for one in self.over_several if type(one) is kind]
            left = kind.presolve(own, self.features, ends)
            found += [row for one in left for row in one.rows(today)]
        return tuple(found)

    def declared(self) -> dict[str, Any]:
        """What was said, in plain values: for printing, and to compare with what was searched."""
        found: dict[str, Any] = {"bounds": self._declared_bounds(), "actions": self._declared_actions()}
        whole = [i for i in self.whole if self.actions[i].whole is None and self.is_whole(i)]
        more: dict[str, Any] = {"whole": [str(self.names[i]) for i in whole]}
        for kind in KINDS:
            more[kind.document_key] = [one.plain() for one in self.over_several if type(one) is kind]
        more["gaps"] = self._declared_gaps()
        return found | {name: entry for name, entry in more.items() if entry}

    def _declared_actions(self) -> dict[str, Any]:
        return {
            str(self.names[i]): {name: as_plain(value) for name, value in self.actions[i].given().items()}
            for i in self._said
        }

    def _declared_gaps(self) -> dict[str, float]:
        """Of the numbers of which it matters when they are beyond an end."""
        strict = (one for one in self.over_several if one.is_strict)
        named = {i for one in strict for i in one.concerned(self.features)}
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

    def _declared_bounds(self) -> Any:
        if len(self.observed) == len(self.numbers):
            return DATA
        bounds: dict[str, Any] = {
            str(self.names[i]): [_open(self.low[i]), _open(self.high[i])] for i in self.bounded()
        }
        bounds |= {str(self.names[i]): DATA for i in self.observed}
        return bounds or None


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
        low, high = map(as_days, ends)
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
