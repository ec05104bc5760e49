"""A sign of life on a terminal while a search takes longer than a second."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

PATIENCE = 1.0  # seconds before anything is shown
STEP = 0.2
FRAMES = "|/-\\"


@contextmanager
def alive(what: str = "searching", stream: TextIO | None = None) -> Iterator[None]:
    """Show a line with the seconds, and remove it at the end; only on a terminal.

    Parameters
    ----------
    what : str
        What is being done.
    stream : text stream, optional
        Default: stderr.
    """
    terminal = sys.stderr if stream is None else stream
    if terminal is None or not terminal.isatty():
        yield
        return
    done = threading.Event()
    thread = threading.Thread(target=_show, args=(what, terminal, done), daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def _show(what: str, terminal: TextIO, done: threading.Event) -> None:
    start, line = time.perf_counter(), ""
    wait = PATIENCE
    while not done.wait(wait):
        seconds = time.perf_counter() - start
        line = f"{FRAMES[int(seconds / STEP) % len(FRAMES)]} {what}, {seconds:.0f} s"
        terminal.write(f"\r{line}")
        terminal.flush()
        wait = STEP
    if line:
        terminal.write("\r" + " " * len(line) + "\r")
        terminal.flush()
