"""Persons of a region and what they may do, as documents that the checker reads.

The form is defined in ``docs/certificate.md``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from surefoot.days import as_days
from surefoot.exceptions import ProblemError
from surefoot.explain.constraints.arithmetic import is_number, open_ends
from surefoot.explain.constraints.category import Category
from surefoot.explain.constraints.constraint import Constraint
from surefoot.explain.constraints.constraint_set import ConstraintSet
from surefoot.explain.constraints.linear import Rule
from surefoot.explain.constraints.number import MOST_LISTED
from surefoot.explain.population.nobody import WHOLE
from surefoot.formats import exact
from surefoot.model.classifier import ConditionalGaussianNetworkClassifier
from surefoot.plain import plain


def region_document(
    region: Mapping[Any, Any], clf: ConditionalGaussianNetworkClassifier, constraints: ConstraintSet
) -> tuple[list[Any], list[int]]:
    """The persons that a user names, and the features that are named.

    Features that are left out may be anything that was seen in training.
    """
    if not isinstance(region, Mapping):
        raise ProblemError(f"a region must be a dict of feature -> values, not {region!r:.80}")
    said: dict[int, Any] = {}
    for name, value in region.items():
        i = constraints.position(name, "region")
        if i in said:
            raise ProblemError(f"the region names {constraints.names[i]!r} twice")
        said[i] = value
    seen = clf.feature_range_
    found = []
    for i, name in enumerate(constraints.names):
        if i in constraints.categories:
            found.append({"among": _values(constraints.categories[i], said.get(i))})
        else:
            given = said.get(i, (None, None))
            found.append(_number(name, given, seen[:, i].tolist(), i in constraints.whole))
    return found, sorted(said)


def _number(name: Any, given: Any, seen: list[float], whole: bool) -> dict[str, Any]:
    """The ends of a number, and its values if they are listed."""
    if isinstance(given, tuple):
        low, high = _ends(name, given, seen)
        return {"low": plain(low), "high": plain(high), "values": WHOLE if whole else None}
    listed = given if isinstance(given, list | set | frozenset) else [given]
    values = sorted({_finite(name, value) for value in listed})
    if not values:
        raise ProblemError(f"the region lists no value of {name!r}")
    odd = [v for v in values if whole and not v.is_integer()]
    if odd:
        raise ProblemError(f"{name!r} takes whole numbers, but the region has {exact(odd[0])}")
    return {"low": values[0], "high": values[-1], "values": values}


def _ends(name: Any, given: tuple[Any, ...], seen: list[float]) -> tuple[float, float]:
    """Both ends; None is the end of what was seen in training, an infinite one is open."""
    if len(given) != 2:
        raise ProblemError(f"the region of {name!r} must be a pair (low, high), not {given!r:.80}")
    low, high = (
        end if given_end is None else _finite(name, given_end, infinite=True)
        for given_end, end in zip(given, seen, strict=True)
    )
    if low <= high and low < math.inf and high > -math.inf:
        return low, high
    beyond = " (where the training data end)" if None in given else ""
    raise ProblemError(f"the region of {name!r} is empty: {exact(low)} to {exact(high)}{beyond}")


def _finite(name: Any, value: Any, infinite: bool = False) -> float:
    days = as_days(value)
    if not is_number(days) or math.isnan(days) or (math.isinf(days) and not infinite):
        raise ProblemError(f"the region of {name!r} must hold numbers, not {value!r:.60}")
    return float(days)


def _values(category: Category, given: Any) -> list[Any]:
    """The values that a region names, in the model's order; all of them where it names none."""
    if given is None:
        return list(category.values)
    listed = given if isinstance(given, list | tuple | set | frozenset) else [given]
    if not listed:
        raise ProblemError(f"the region lists no value of {category.name!r}")
    codes = sorted({category.code(value) for value in listed})
    return [category.values[code] for code in codes]


def declared_document(constraints: ConstraintSet, curved: frozenset[int]) -> dict[str, Any]:
    """What persons may do, in plain values: constraints on single features, linear rules, and limits.

    Rules over numbers on curved scales are left out, and so are if-then rules: without them more is allowed.
    """
    sums = [_sum(rule, constraints) for one in constraints.over_several for rule in one.rules()]
    limits = [(one.most_changes(), one) for one in constraints.over_several]
    return {
        "features": [
            {"moves": _moves(constraints, i)} if i in constraints.categories else _move(constraints, i)
            for i in range(len(constraints.names))
        ],
        "rows": [row for row in sums if not any(row["coefficients"][k] for k in curved)],
        "limits": [
            {"count": most, "features": _features(one, constraints)}
            for most, one in limits
            if most is not None
        ],
    }


def left_out(constraints: ConstraintSet) -> list[str]:
    """The constraints that no proof about a region takes into account, in words."""
    every = constraints.over_several
    return [str(one.name) for one in every if not one.rules() and one.most_changes() is None]


def _move(constraints: ConstraintSet, i: int) -> dict[str, Any]:
    """What a number may do; the range seen in training gives way to an action, and to today's value."""
    action, observed = constraints.actions[i], i in constraints.observed
    bounds = float(constraints.low[i]), float(constraints.high[i])
    soft = bounds if observed else (-math.inf, math.inf)
    said = zip((action.low, action.high), soft, strict=True)
    low, high = open_ends(action.low, action.high)
    values: Any = WHOLE if constraints.is_whole(i) else None
    if values == WHOLE and high - low <= MOST_LISTED:  # nothing between these ends and a value beyond them
        values = [float(v) for v in range(math.ceil(low), math.floor(high) + 1)]
    if action.values is not None:
        values = sorted({float(v) for v in action.values if low <= float(v) <= high})
    found = {
        "may": action.may,
        "bounds": (-math.inf, math.inf) if observed else bounds,
        "ends": [end if own is None else float(own) for own, end in said],
        "most": _size(action.most),
        "least": _size(action.least),
        "step": _size(action.step),
        "values": values,
    }
    return dict(plain(found))


def _size(value: float | None) -> float | None:
    return None if value is None else float(value)


def _moves(constraints: ConstraintSet, i: int) -> list[list[Any]]:
    """Where a category may go from each of its values."""
    category, action = constraints.categories[i], constraints.actions[i]
    choices = [category.choice(action, code) for code in range(len(category.values))]
    return [
        [category.values[code] for code in sorted(choice.allowed) if code != choice.today]
        for choice in choices
    ]


def _sum(rule: Rule, constraints: ConstraintSet) -> dict[str, Any]:
    """A linear rule over what persons become and what they are."""
    parts = []
    for terms in (rule.coefficients, rule.now):
        by_feature = dict.fromkeys(constraints.numbers, 0.0)
        for name, a in terms.items():
            by_feature[constraints.position(name, "rules")] += float(a)
        parts.append(list(by_feature.values()))
    low, high = open_ends(rule.low, rule.high)
    ends = {"low": plain(low), "high": plain(high), "name": rule.name}
    return {"coefficients": parts[0], "now": parts[1], **ends}


def _features(limit: Constraint, constraints: ConstraintSet) -> list[int]:
    return sorted(limit.concerned(constraints)) or list(range(len(constraints.names)))
