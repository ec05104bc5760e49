"""Rung: the settings that may give way where there is no answer."""

from __future__ import annotations

from typing import NamedTuple


class Rung(NamedTuple):
    """The settings that may give way.

    Parameters
    ----------
    at_most : int or None
        How many features change at most.
    plausible, budget : bool
        Whether what is asked for in these holds; if not, nothing is asked for.
    """

    at_most: int | None
    plausible: bool = True
    budget: bool = True
