"""Warp: a monotone map of one number, the same in all classes, after which it is closer to Gaussian."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, localcontext
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from surefoot.exceptions import DataError

Array = NDArray[np.float64]

SMALLEST_POWER = 1e-20  # closer to zero the power is a logarithm to all digits
DIGITS = Context(prec=80, Emax=MAX_EMAX, Emin=MIN_EMIN, traps=[])  # what overflows is infinite


@dataclass(frozen=True)
class Warp:
    """z = psi((x - shift) / scale), psi of Yeo and Johnson (2000); without a power, z = x.

    psi(u) = ((1 + u)^p - 1) / p for u >= 0 and psi(u) = -((1 - u)^(2 - p) - 1) / (2 - p) below, with
    logarithms where an exponent is zero. It rises everywhere and has slope one at zero.

    Parameters
    ----------
    power : float or None
        p. None is the identity, exactly.
    shift, scale : float
        The scale is positive.

    Examples
    --------
    >>> warp = Warp(0.0, scale=1000.0)
    >>> float(warp(np.expm1(2.0) * 1000.0))
    2.0
    >>> warp.range, Warp(-0.5).range
    ((-inf, inf), (-inf, 2.0))
    """

    power: float | None = None
    shift: float = 0.0
    scale: float = 1.0

    def __post_init__(self) -> None:
        numbers = [self.shift, self.scale, 0.0 if self.power is None else self.power]
        if not (np.isfinite(numbers).all() and self.scale > 0):
            raise DataError(f"power, shift and scale of a warp must be finite, the scale positive: {self!r}")

    @property
    def is_identity(self) -> bool:
        """Whether z = x."""
        return self.power is None

    @property
    def range(self) -> tuple[float, float]:
        """The open interval of all z; bounded above if the power is negative, below if it exceeds two."""
        if self.power is None:
            return (-np.inf, np.inf)
        low = -1.0 / (self.power - 2.0) if self.power > 2 else -np.inf
        return (low, -1.0 / self.power if self.power < 0 else np.inf)

    def __call__(self, x: ArrayLike) -> Array:
        """Map every x to z."""
        x_ = np.asarray(x, dtype=float)
        if self.power is None:
            return x_
        u = (x_ - self.shift) / self.scale
        exponent, length = self._exponents(u), np.log1p(np.abs(u))
        with np.errstate(over="ignore", invalid="ignore"):
            size = np.where(_is_zero(exponent), length, np.expm1(exponent * length) / _divisor(exponent))
        return np.asarray(np.copysign(size, u))[()]

    def exactly(self, x: float) -> float:
        """The double nearest to z: what proofs are about, and the same on every machine."""
        if self.power is None:
            return float(x)
        if not np.isfinite(x):
            return float(self(x))
        return _nearest(self.power, self.shift, self.scale, float(x))

    def inverse(self, z: ArrayLike) -> Array:
        """Map every z back to x; infinite at the ends of `range` and beyond."""
        z_ = np.asarray(z, dtype=float)
        if self.power is None:
            return z_
        exponent, size = self._exponents(z_), np.abs(z_)
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            length = np.log1p(np.maximum(exponent * size, -1.0)) / _divisor(exponent)
            u = np.expm1(np.where(_is_zero(exponent), size, length))
        return np.asarray(self.shift + self.scale * np.copysign(u, z_))[()]

    def log_slope(self, x: ArrayLike) -> Array:
        """log(dz/dx) at every x."""
        x_ = np.asarray(x, dtype=float)
        if self.power is None:
            return np.zeros_like(x_)[()]
        u = (x_ - self.shift) / self.scale
        return np.asarray((self._exponents(u) - 1.0) * np.log1p(np.abs(u)) - np.log(self.scale))[()]

    def slope(self, x: ArrayLike) -> Array:
        """dz/dx at every x."""
        with np.errstate(over="ignore", under="ignore"):
            return np.asarray(np.exp(self.log_slope(x)))[()]

    def _exponents(self, signed: Array) -> Array:
        """Exponent p on the side of positive values, 2 - p on the other, where psi is the mirror image."""
        assert self.power is not None
        return np.where(signed < 0, 2.0 - self.power, self.power)


IDENTITY = Warp()


@lru_cache(maxsize=100_000)
def _nearest(power: float, shift: float, scale: float, x: float) -> float:
    """psi((x - shift) / scale) computed with 80 digits and rounded once."""
    with localcontext(DIGITS):
        u = (Decimal(x) - Decimal(shift)) / Decimal(scale)
        exponent = Decimal(power) if u >= 0 else 2 - Decimal(power)
        size = (1 + abs(u)).ln()
        if abs(exponent) >= Decimal(SMALLEST_POWER):
            size = ((exponent * size).exp() - 1) / exponent
        return float(size if u >= 0 else -size)


def _is_zero(exponent: Array) -> NDArray[np.bool_]:
    return np.asarray(np.abs(exponent) < SMALLEST_POWER)


def _divisor(exponent: Array) -> Array:
    return np.where(_is_zero(exponent), 1.0, exponent)
