"""Constraints in documents: read strictly, from what `ConstraintSet.declared` gives."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from numpy.typing import ArrayLike

from surefoot.exceptions import DataError
from surefoot.explain.constraints.actions import Actions
from surefoot.explain.constraints.category import Category
from surefoot.explain.constraints.constraint_set import DATA, ConstraintSet
from surefoot.explain.constraints.feature import Action
from surefoot.explain.constraints.kinds import KINDS
from surefoot.plain import INFINITIES, entries, finite, sequence, shown, text

LISTS = tuple(kind.document_key for kind in KINDS)
KEYS = (
    "bounds",
    "actions",
    "whole",
    "dates",
    "units",
    "written",
    "imputed",
    *LISTS,
    "gaps",
    "plausible",
    "keeping",
    "preset",
)


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
    for key in ("units", "written"):
        for name, said in _object(values.get(key, {}), key).items():
            feature_named(name, names)
            text(said, key)
    for name in read_preset(values).kept:
        feature_named(name, names)
    said = read_actions(values)
    listed = [feature_named(name, names) for name in sequence(values.get("whole", []), "whole")]
    return ConstraintSet.by_name(
        names,
        actions=replace(said, features={feature_named(name, names): a for name, a in said.features.items()}),
        bounds=_bounds(values.get("bounds"), names),
        observed_range=observed_range,
        categories=categories,
        whole=[names.index(name) for name in listed],
        dates=[names.index(feature_named(name, names)) for name in values.get("dates", [])],
        gaps=_gaps(values["gaps"]) if "gaps" in values else None,
    )


class Preset(NamedTuple):
    """Which preset a question was asked with.

    Parameters
    ----------
    name : str
    given : tuple of str
        Arguments that the user gave in the place of the preset's.
    kept : tuple of str
        Features that stay because a person cannot change them.
    """

    name: str = ""
    given: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()

    def declared(self) -> dict[str, Any]:
        """As a question declares it; nothing where there is none."""
        if not self.name:
            return {}
        return {"preset": {"name": self.name, "given": list(self.given), "kept": list(self.kept)}}


NO_PRESET = Preset()


def read_preset(values: Mapping[str, Any]) -> Preset:
    """The preset that a question declares; one without a name where it declares none."""
    if "preset" not in values:
        return NO_PRESET
    entry = entries(values["preset"], "the preset", Preset._fields)
    lists = ([text(v, "the preset") for v in sequence(entry[k], "the preset")] for k in ("given", "kept"))
    return Preset(text(entry["name"], "the preset"), *map(tuple, lists))


def read_actions(values: Mapping[str, Any]) -> Actions:
    """What features may do, by their names in the document, and the constraints over several of them."""
    found = {}
    for name, entry in _object(values.get("actions") or {}, "actions").items():
        given = dict(_object(entry, "action"))
        given |= {end: INFINITIES[given[end]] for end in ("low", "high") if _is_infinite(given.get(end))}
        found[name] = Action.read(given)
    over_several = [
        kind.from_document(entry)
        for kind in KINDS
        for entry in sequence(values.get(kind.document_key) or [], kind.document_key)
    ]
    return Actions(found, constraints=over_several)


def _is_infinite(value: Any) -> bool:
    return isinstance(value, str) and value in INFINITIES


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
        raise DataError(f"the declared constraints name {shown(name)}, which is not a feature")
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
    stated, open_ends = sequence(ends, "the bounds of a feature", 2), (-math.inf, math.inf)
    return tuple(far if v is None else finite(v, "a bound") for v, far in zip(stated, open_ends, strict=True))
