"""Constraints in documents: read strictly, from what `ConstraintSet.declared` gives."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from numpy.typing import ArrayLike

from surefoot.exceptions import DataError
from surefoot.explain.constraints.actions import Actions
from surefoot.explain.constraints.category import Category
from surefoot.explain.constraints.constraint import Constraint
from surefoot.explain.constraints.constraint_set import DATA, ConstraintSet
from surefoot.explain.constraints.feature import Action
from surefoot.explain.constraints.kinds import KINDS
from surefoot.plain import entries, finite, sequence, shown

KINDS_OF_LISTS = tuple(kind.document_key for kind in KINDS)
KEYS = ("bounds", "actions", "whole", "dates", "imputed", *KINDS_OF_LISTS, "gaps", "plausible", "keeping")
INFINITE = {"inf": math.inf, "-inf": -math.inf}  # JSON has no infinite numbers


def read_constraints(
    values: Any,
    names: tuple[Any, ...],
    observed_range: ArrayLike | None = None,
    categories: Sequence[Category] = (),
) -> ConstraintSet:
    """Read what `ConstraintSet.declared` gave."""
    entries(values, "declared", (), KEYS)
    for key in ("imputed", "dates"):
        for name in sequence(values.get(key, []), key):
            feature_named(name, names)
    named = {feature_named(name, names): action for name, action in read_actions(values).items()}
    listed = [feature_named(name, names) for name in sequence(values.get("whole", []), "whole")]
    return ConstraintSet.by_name(
        names,
        actions=Actions(named, constraints=read_over_several(values)),
        bounds=_bounds(values.get("bounds"), names),
        observed_range=observed_range,
        categories=categories,
        whole=[names.index(name) for name in listed],
        gaps=_gaps(values["gaps"]) if "gaps" in values else None,
    )


def read_actions(values: Mapping[str, Any]) -> dict[str, Action]:
    """The actions of features, by name."""
    found = {}
    for name, entry in _object(values.get("actions") or {}, "actions").items():
        ends = {end: INFINITE.get(entry[end], entry[end]) for end in ("low", "high") if _is_word(entry, end)}
        found[name] = Action.read({**_object(entry, "action"), **ends})
    return found


def _is_word(entry: Any, end: str) -> bool:
    return isinstance(entry, Mapping) and isinstance(entry.get(end), str)


def read_over_several(values: Mapping[str, Any]) -> list[Constraint]:
    """The constraints over several features, in the order of their kinds."""
    return [
        kind.from_document(entry)
        for kind in KINDS
        for entry in sequence(values.get(kind.document_key) or [], kind.document_key)
    ]


def _gaps(values: Any) -> dict[str, float]:
    found = {name: finite(gap, "a gap") for name, gap in _object(values, "gaps").items()}
    if not all(gap > 0 for gap in found.values()):
        raise DataError("a gap must be above 0")
    return found


def _object(value: Any, what: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise DataError(f"the declared {what} must be an object, not {shown(value)}")
    return value


def feature_named(name: Any, names: tuple[Any, ...]) -> Any:
    """The feature that a file calls by a name."""
    found = [feature for feature in names if str(feature) == name]
    if len(found) != 1:
        raise DataError(f"the declared wishes name {shown(name)}, which is not a feature")
    return found[0]


def _bounds(values: Any, names: tuple[Any, ...]) -> Any:
    if values is None or values == DATA:
        return values
    if not isinstance(values, Mapping):
        raise DataError(f"the declared bounds must be null, 'data' or an object, not {shown(values)}")
    return {feature_named(name, names): _interval(ends) for name, ends in values.items()}


def _interval(ends: Any) -> Any:
    if ends == DATA:
        return DATA
    low, high = sequence(ends, "the bounds of a feature", 2)
    return (
        -math.inf if low is None else finite(low, "a bound"),
        math.inf if high is None else finite(high, "a bound"),
    )
