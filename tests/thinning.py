"""What `make test` tries of many parameters; `make test-slow` tries the others."""

import itertools

import pytest


def only(kept, values):
    """All values, those that are not kept marked as slow."""
    values = list(values)
    assert all(value in values for value in kept)
    return [value if value in kept else _slow(value) for value in values]


def every(n, values):
    """All values, but for every n-th marked as slow."""
    return [_slow(value) if k % n else value for k, value in enumerate(values)]


def covering(*factors):
    """All combinations, but for a few marked as slow; in those few each value of each factor occurs.

    >>> [each for each in covering("ab", [1, 2, 3]) if type(each) is tuple]
    [('a', 1), ('a', 2), ('b', 3)]
    """
    places = [range(len(factor)) for factor in factors]
    longest = max(map(len, factors))
    kept = {tuple((k + j) % len(place) for j, place in enumerate(places)) for k in range(longest)}
    return [
        values if place in kept else _slow(values)
        for place, values in zip(itertools.product(*places), itertools.product(*factors), strict=True)
    ]


def _slow(value):
    values = value if isinstance(value, tuple) else (value,)
    return pytest.param(*values, marks=pytest.mark.slow)
