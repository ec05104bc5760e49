"""Python's collector of unreachable cycles, paused for blocks that make many small things at once."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def no_collection() -> Iterator[None]:
    """Turn the collector of unreachable cycles off while the block runs; parsing and searches make none.

    A tree of ten thousand nodes is enough for Python to walk over all that a process has loaded, more than
    once, which takes longer than making the tree.

    The switch belongs to the whole process. Blocks may be inside each other and run in several threads: the
    first one to start is the one that turns the collector on again, so that it is never left off.
    """
    before = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if before:
            gc.enable()
