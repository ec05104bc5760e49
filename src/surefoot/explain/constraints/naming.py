"""Features by name: found among the names of a table, or refused."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from surefoot.exceptions import ProblemError, StructureError
from surefoot.model.dag import feature_index


def position(feature: Any, names: Sequence[Any], what: str) -> int:
    """Position of a feature; files and rules write names that are numbers as text.

    Examples
    --------
    >>> position("income", ["age", "income"], "rules"), position("7", [3, 7], "rules")
    (1, 1)
    """
    if isinstance(feature, str) and feature not in names:
        written = [name for name in names if str(name) == feature]
        feature = written[0] if len(written) == 1 else feature
    try:
        return feature_index(feature, names)
    except StructureError as error:
        raise ProblemError(f"{what}: {error}") from None


def positions(features: Iterable[Any], names: Sequence[Any], what: str) -> tuple[int, ...]:
    """Positions of features, each once."""
    if isinstance(features, str):
        raise ProblemError(f"{what} must be a list of features, not {features!r}")
    return tuple(dict.fromkeys(position(feature, names, what) for feature in features))
