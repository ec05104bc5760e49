"""Disjunctions of one row: what ends and choices leave of their ways."""

from __future__ import annotations

from collections.abc import Sequence

from surefoot.explain.constraints.constraint import Place
from surefoot.problem.either import Either, Way


def possible_ways(ways: Sequence[Way], place: Place, name: str) -> tuple[Either, ...]:
    """A disjunction of the ways that are possible; none where every point takes one of them anyway."""
    if any(_is_certain(way, place) for way in ways):
        return ()
    possible = [way for way in ways if _is_possible(way, place)]
    return (Either(tuple(possible or ways), name),)


def _is_certain(way: Way, place: Place) -> bool:
    """Whether every point of the domain takes a way."""
    low, high, choices = place.domain.low, place.domain.high, place.choices
    return all(
        row.feature is not None and row.low <= low[row.feature] and row.high >= high[row.feature]
        for row in way.rows
    ) and all(set(choices[k].allowed) <= codes for k, codes in way.values.items())


def _is_possible(way: Way, place: Place) -> bool:
    """Whether ends and choices leave anything of a way."""
    low, high, choices = place.domain.low, place.domain.high, place.choices
    return all(
        row.feature is None or (row.low <= high[row.feature] and row.high >= low[row.feature])
        for row in way.rows
    ) and all(codes & set(choices[k].allowed) for k, codes in way.values.items())
