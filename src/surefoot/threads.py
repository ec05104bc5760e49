"""One BLAS thread: matrices are small, batches use the cores, and results must not depend on their number."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import numpy as np
from scipy import linalg
from threadpoolctl import ThreadpoolController


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Hold BLAS to one thread for as long as the block runs."""
    # By hand: threadpoolctl's own block reports on every library each time, which shows in short searches.
    before = [(library, library.num_threads) for library in _libraries()]
    held = [(library, number) for library, number in before if number != 1]
    for library, _ in held:
        library.set_num_threads(1)
    try:
        yield
    finally:
        for library, number in held:
            library.set_num_threads(number)


@cache
def _libraries() -> tuple[Any, ...]:
    """Finding the libraries takes milliseconds, so it is done once they are loaded: numpy's and scipy's."""
    linalg.inv(np.eye(1))
    return tuple(ThreadpoolController().select(user_api="blas").lib_controllers)
