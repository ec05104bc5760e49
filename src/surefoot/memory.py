"""Memory: blocks that make many small things, none of which can be let go before the block ends."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def no_collection() -> Iterator[None]:
    """Look for no unreachable cycles while the block runs: there are none among what it makes.

    A tree of ten thousand nodes is enough for Python to walk over all that a process has loaded, more than
    once, which takes longer than making the tree.
    """
    before = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if before:
            gc.enable()
