"""Sums of products in floating point with a proven bound on their rounding, and definiteness from them.

An entry that is computed by additions and multiplications is the sum of its terms, each times a few factors
(1 + d) with abs(d) <= 2^-53: as many as there are roundings on its way. If no term is rounded more than k
times, the entry is off by at most ``k 2^-53 / (1 - k 2^-53)`` times the sum of the terms' absolute values,
whatever the order of the sums, with or without fused multiplication (Higham, Accuracy and Stability of
Numerical Algorithms, lemma 3.1). `Rounded` carries that sum, computed in the same way, and k.

A product below the range of doubles loses at most 2^-1022, even on a processor that flushes such numbers to
zero. Every sum of absolute values is enlarged by `TINY`, 2^-53 of which is more than all of them together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import lapack

Array = NDArray[np.float64]

UNIT = 2.0**-53  # the relative error of one rounding
TINY = 1e-270  # a floor under every size, against underflow
HUGE = 1e290  # a size above this may have overflowed
MOST = 2**20  # roundings; with more, the error is not bounded here


@dataclass(frozen=True, eq=False, slots=True)
class Rounded:
    """Numbers that were computed, and how far they may be off.

    Parameters
    ----------
    value : array
        What was computed.
    size : array
        The sum of the absolute values of its terms, computed in the same way, and at least `TINY`.
    roundings : int
        No term of any entry was rounded more often.
    """

    value: Array
    size: Array
    roundings: int

    def error(self) -> Array:
        """A bound on the distance of each number from the exact one; infinite where there is none."""
        bounded = self.roundings <= MOST and bool((self.size < HUGE).all())  # not for not-a-number
        return self.size * share(self.roundings) if bounded else np.full_like(self.size, np.inf)

    def take(self, index: Any) -> Rounded:
        """The entries at an index, as numpy understands it."""
        return Rounded(self.value[index], self.size[index], self.roundings)

    @property
    def transposed(self) -> Rounded:
        """Rows as columns."""
        return Rounded(self.value.T, self.size.T, self.roundings)

    def __neg__(self) -> Rounded:
        return Rounded(-self.value, self.size, self.roundings)

    def __add__(self, other: Rounded) -> Rounded:
        rounded = max(self.roundings, other.roundings) + 1
        return Rounded(self.value + other.value, self.size + other.size, rounded)

    def __sub__(self, other: Rounded) -> Rounded:
        return self + -other

    def __mul__(self, other: Rounded) -> Rounded:
        rounded = self.roundings + other.roundings + 1
        return Rounded(self.value * other.value, self.size * other.size + TINY, rounded)

    def __matmul__(self, other: Rounded) -> Rounded:
        rounded = self.roundings + other.roundings + self.value.shape[-1] + 1
        return Rounded(self.value @ other.value, self.size @ other.size + TINY, rounded)


def gradual_underflow() -> bool:
    """Whether numbers below 2^-1022 are kept; libraries exist that tell the processor to drop them."""
    smallest = np.array([2.0**-1074, 2.0**-600])
    return bool((smallest * [1.0, 2.0**-450] > 0).all())


def share(roundings: int) -> float:
    """The error of a sum as a share of its size; twice what the lemma says, as the size is rounded too."""
    return 2 * UNIT * (roundings + 1)


def given(numbers: ArrayLike, roundings: int = 0) -> Rounded:
    """Numbers that are exact, or that are exact but for a few roundings of the whole number."""
    value = np.asarray(numbers, dtype=np.float64)
    return Rounded(value, np.abs(value) + TINY, roundings)


def stacked(parts: Sequence[Rounded]) -> Rounded:
    """Rows one below the other."""
    return Rounded(
        np.concatenate([part.value for part in parts]),
        np.concatenate([part.size for part in parts]),
        max(part.roundings for part in parts),
    )


def listed(rows: Sequence[Rounded]) -> Rounded:
    """Lists of numbers as rows of a matrix."""
    return Rounded(
        np.array([row.value for row in rows]),
        np.array([row.size for row in rows]),
        max(row.roundings for row in rows),
    )


def joined(numbers: Rounded, number: Rounded) -> Rounded:
    """A list of numbers, and one more."""
    return Rounded(
        np.append(numbers.value, number.value),
        np.append(numbers.size, number.size),
        max(numbers.roundings, number.roundings),
    )


def bordered(block: Rounded, line: Rounded) -> Rounded:
    """A symmetric matrix with one more row, which is also its last column."""
    value, size = (np.empty((len(line.value), len(line.value))) for _ in range(2))
    for found, inner, last in ((value, block.value, line.value), (size, block.size, line.size)):
        found[:-1, :-1] = inner
        found[-1] = found[:, -1] = last
    return Rounded(value, size, max(block.roundings, line.roundings))


def positive_definite(matrix: Rounded) -> bool:
    """Whether a symmetric matrix is positive definite; False also where floating point cannot tell.

    R'R is semidefinite for any R. So a matrix is positive definite if what remains of it after taking
    off R'R has a diagonal that exceeds the rest of each row. LAPACK only proposes R: it factors the matrix
    less all rounding on the diagonal (Rump, Verification of positive definiteness, 2006).
    """
    n = len(matrix.value)
    diagonal = matrix.value.diagonal()
    if not (diagonal > TINY).all():
        return False
    half = np.frexp(diagonal)[1] // -2
    power = half[:, None] + half
    # A power of two changes no digit; what underflows is less than TINY.
    a = np.ldexp(matrix.value, power)
    error = np.ldexp(matrix.error(), power) + TINY
    room = 1.5 * error.sum(axis=1) + 8 * n * share(n)
    factor, failed = lapack.dpotrf(a - np.diag(room))
    if failed:
        return False
    rest, size = a - factor.T @ factor, np.abs(factor)
    largest = np.abs(rest) + error + share(len(factor) + 1) * (size.T @ size + np.abs(a))
    return bool((2 * rest.diagonal() > 1.001 * largest.sum(axis=1)).all())
