"""A deadline that every phase of a search looks at."""

from __future__ import annotations

import time


class OutOfTimeError(Exception):
    """The deadline has passed."""


class Clock:
    """Seconds until a deadline.

    Parameters
    ----------
    seconds : float
        From now.
    """

    def __init__(self, seconds: float) -> None:
        self.start = time.perf_counter()
        self.deadline = self.start + seconds

    @property
    def spent(self) -> float:
        """Seconds since the start."""
        return time.perf_counter() - self.start

    @property
    def left(self) -> float:
        """Seconds left; negative when the deadline has passed."""
        return self.deadline - time.perf_counter()

    def check(self) -> None:
        """Raise when the deadline has passed."""
        if self.left < 0:
            raise OutOfTimeError
