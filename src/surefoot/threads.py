"""One BLAS thread: matrices are small, batches use the cores, and results must not depend on their number."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

import numpy as np
from threadpoolctl import ThreadpoolController


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Hold BLAS to one thread for as long as the block runs."""
    with _controller().limit(limits=1, user_api="blas"):
        yield


@cache
def _controller() -> ThreadpoolController:
    """Finding the libraries takes milliseconds, so it is done once; numpy has loaded them by now."""
    np.linalg.inv(np.eye(1))
    return ThreadpoolController()
