"""Choices refuted side by side: in stacks of those in which as many features move."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from surefoot.search.certified.changes import Choice
from surefoot.search.certified.clock import Clock
from surefoot.search.certified.grafting import Member, Together
from surefoot.search.certified.narrowing import ends
from surefoot.search.certified.promise import crossings
from surefoot.search.certified.settling import Open
from surefoot.search.certified.slices import Boxes, Slices

MOST_FREE = 8  # features that move in a slice of a stack; with more, each is searched by itself


def refuted_side_by_side(slices: Slices, choices: Sequence[Choice], clock: Clock) -> list[Open]:
    """Refute choices in stacks of those with as many moving features; those that are left."""
    left = []
    low, high = ends(slices.space, choices)
    sizes = (low < high).sum(axis=1)
    for size in np.unique(sizes):
        clock.check()
        some = np.flatnonzero(sizes == size)
        own = [choices[i] for i in some.tolist()]
        if size > MOST_FREE:
            nothing = np.zeros(slices.space.n)
            left += [
                Open(math.inf, choice, nothing, nothing, nothing, low[i], high[i])
                for i, choice in zip(some, own, strict=True)
            ]
            continue
        attempt = slices.refute(Boxes.between(slices.space, low[some], high[some]))
        gone = np.flatnonzero(attempt.refuted)
        weights, signs = ([entries[i] for i in gone] for entries in (attempt.weights, attempt.signs))
        width = attempt.boxes.touched.shape[1]
        stack = Together(slices, weights, signs, [own[i] for i in gone], width)
        for number, choice in enumerate(stack.choices):
            choice.proven(slices.level, Member(stack, number))
        rest = np.flatnonzero(~attempt.refuted)
        near, far = crossings(attempt, rest)
        left += [
            Open(
                float(far[place]),
                own[i],
                attempt.changes[i],
                attempt.spread[i],
                near[place],
                low[some[i]],
                high[some[i]],
            )
            for place, i in enumerate(rest.tolist())
        ]
    return left
