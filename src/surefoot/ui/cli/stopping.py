"""A run that is stopped: its workers end first, one line says what is kept, and it ends as it was told to."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.util import Finalize
from typing import Any

from surefoot.ui.cli.main import INTERRUPTED, say


def stopped(kept: str, terminated: list[int]) -> int:
    """Say what is kept; a process that somebody ended ends by the same signal."""
    say(kept)
    if terminated:
        # After all that multiprocessing clears away at exit (its own have priority 0 and more): semaphores
        # that workers shared would be left, and their keeper would complain of them.
        Finalize(None, _end_by, terminated[:1], exitpriority=-1)
    return INTERRUPTED


def _end_by(number: int) -> None:
    signal.signal(number, signal.SIG_DFL)
    signal.raise_signal(number)


@contextmanager
def termination_as_interrupt(kept: str) -> Iterator[list[int]]:
    """Take SIGTERM like Ctrl-C, so that workers end first; the list has an entry for each one that came.

    Where Ctrl-C is ignored, as in the background of a shell, nothing waits for the search to return.
    """
    terminated: list[int] = []
    if threading.current_thread() is not threading.main_thread():
        yield terminated
        return

    def interrupt(number: int, frame: Any) -> None:
        terminated.append(number)
        as_interrupt = signal.getsignal(signal.SIGINT)
        if callable(as_interrupt):
            as_interrupt(number, frame)
        else:
            raise SystemExit(stopped(kept, terminated))

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield terminated
    finally:
        signal.signal(signal.SIGTERM, before)
