"""Presets: named bundles of defaults."""

from __future__ import annotations

import math
from collections.abc import Mapping
from enum import Enum
from types import MappingProxyType
from typing import Any

from surefoot.exceptions import ProblemError
from surefoot.formats import suggestion

PRACTICAL, PAPER = "practical", "paper"


class Unset(Enum):
    """The value of an argument that was not given: the preset decides."""

    PRESET = "as the preset says"

    def __repr__(self) -> str:
        return "PRESET"


PRESET = Unset.PRESET

# `keep_personal`: features that a person cannot change stay (`Actions.proposed`). A gap of None is the
# method's own.
PRESETS: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {
        PRACTICAL: MappingProxyType(
            {
                "budget": 0.05,
                "norm": 1,
                "whitening": "dag",
                "distance": "mahalanobis",
                "bounds": "data",
                "noise_on": "changeable",
                "whole": None,
                "plausible": None,
                "at_most": 3,
                "printable": True,
                "gap": 0.01,
                "keep_personal": True,
            }
        ),
        PAPER: MappingProxyType(
            {
                "budget": 0.0,
                "norm": math.inf,
                "whitening": "cholesky",
                "distance": "mahalanobis",
                "bounds": None,
                "noise_on": "all",
                "whole": False,
                "plausible": None,
                "at_most": None,
                "printable": False,
                "gap": None,
                "keep_personal": False,
            }
        ),
    }
)


def settled(preset: Any, given: Mapping[str, Any]) -> dict[str, Any]:
    """The preset's values where nothing was given, and what was given in all other places.

    Examples
    --------
    >>> found = settled("paper", {"norm": 2, "budget": PRESET})
    >>> found["norm"], found["budget"]
    (2, 0.0)
    """
    if not isinstance(preset, str) or preset not in PRESETS:
        hint = suggestion(str(preset), PRESETS)
        raise ProblemError(f"preset must be 'practical' or 'paper', not {preset!r}{hint}")
    return {**PRESETS[preset], **{name: value for name, value in given.items() if value is not PRESET}}
