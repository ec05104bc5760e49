"""Regions as they are written at the command line."""

from __future__ import annotations

from typing import Any

from surefoot.days import as_days
from surefoot.exceptions import ProblemError
from surefoot.formats import suggestion
from surefoot.model.classifier import ConditionalGaussianNetworkClassifier


def read_region(texts: list[str], clf: ConditionalGaussianNetworkClassifier) -> dict[Any, Any]:
    """What each ``FEATURE=VALUES`` says, by feature."""
    names = {str(name): name for name in clf.feature_labels_}
    found: dict[Any, Any] = {}
    for text in texts:
        fitting = [name for name in names if text.startswith(f"{name}=")]
        if not fitting:
            given = text.partition("=")[0]
            wrong = "" if given in names else f"; {given!r} is no feature{suggestion(given, names)}"
            raise ProblemError(f"--region {text}: write FEATURE=VALUES{wrong}")
        name = max(fitting, key=len)  # names may hold the sign
        if names[name] in found:
            raise ProblemError(f"--region names {name!r} twice")
        found[names[name]] = _values(text[len(name) + 1 :], names[name], clf)
    return found


def _values(text: str, feature: Any, clf: ConditionalGaussianNetworkClassifier) -> Any:
    """Values of a category, numbers, or both ends of one."""
    known = clf.categories_.get(feature)
    if known is not None:
        return text if text in map(str, known) else text.split(",")
    if ":" in text:
        low, _, high = text.partition(":")
        return tuple(None if not end.strip() else _number(feature, end) for end in (low, high))
    return [_number(feature, part) for part in text.split(",")]


def _number(feature: Any, text: str) -> float:
    try:
        return float(as_days(text))
    except ValueError:
        raise ProblemError(f"--region {feature}: {text!r} is not a number") from None
