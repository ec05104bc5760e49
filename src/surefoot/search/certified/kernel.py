"""The compiled form of the search's innermost loops, where there is one: see kernel.c.

It is compiled when the package is installed, if a C compiler is at hand, and nothing but speed depends on it.
"""

from __future__ import annotations

import ctypes
import os
import sys
from pathlib import Path
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

VERSION = 1  # of what its functions take
SUFFIX = {"win32": ".dll", "darwin": ".dylib"}.get(sys.platform, ".so")
SWITCH = "SUREFOOT_KERNEL"  # set to "off" in the environment, Python's own functions are used
SMALL = 32  # coordinates up to which the loops over them take less time than numpy


def load(path: Path) -> ctypes.CDLL | None:
    """The library, unless there is none for this machine, or an older one."""
    if os.environ.get(SWITCH) == "off":
        return None
    try:
        library = ctypes.CDLL(str(path))
        return library if library.kernel_version() == VERSION else None
    except (OSError, AttributeError):
        return None


LIBRARY = load(Path(__file__).with_name(f"libkernel{SUFFIX}"))


def _fields(kind: type, *names: str) -> list[tuple[str, type]]:
    return [(name, kind) for name in names]


def state() -> str:
    """In words, whether the loops are compiled, and what to do where they are not."""
    if LIBRARY is not None:
        return "the certified search needs no solver; its inner loops are compiled"
    if os.environ.get(SWITCH) == "off":
        return f"the certified search needs no solver; its inner loops are in Python, since {SWITCH} is off"
    return (
        "the certified search needs no solver; its inner loops are in Python: with a C compiler, "
        "install surefoot again (pip install --force-reinstall --no-cache-dir) to make it faster"
    )


class StackSettings(ctypes.Structure):
    """The constants of `stacks`."""

    _fields_: ClassVar[list[tuple[str, type]]] = [
        *_fields(ctypes.c_int, "steps", "more_steps", "tries"),
        *_fields(ctypes.c_double, "largest", "huge", "safety", "first", "shrink", "slower", "least", "inner"),
        *_fields(ctypes.c_double, "ridge", "more"),
    ]


class PeakSettings(ctypes.Structure):
    """The constants of `peak` and `frame`."""

    _fields_: ClassVar[list[tuple[str, type]]] = [
        *_fields(ctypes.c_double, "excluded", "doubtful", "outside_ends", "far", "outside_ball", "thin"),
        *_fields(ctypes.c_int, "rounds", "orthants", "tangents"),
    ]


class Posed(ctypes.Structure):
    """What the peaks of a majorant between many ends have in common; it holds on to its arrays."""

    _fields_: ClassVar[list[tuple[str, type]]] = [
        *_fields(ctypes.c_int, "n", "m", "k", "norm"),
        *_fields(ctypes.c_void_p, "slopes", "inverse", "half", "columns", "apart", "contrast"),
        *_fields(ctypes.c_void_p, "given", "out"),
        *_fields(ctypes.c_double, "round_weight"),
    ]

    def __init__(self, *values: float) -> None:
        super().__init__(*values)
        self.held: dict[str, Array] = {}
        self.pointer = ctypes.c_void_p(ctypes.addressof(self))  # byref would be a cycle

    def hold(self, **arrays: Array) -> None:
        """Point to arrays, which stay where they are for as long as this lives."""
        for name, array in arrays.items():
            self.held[name] = np.ascontiguousarray(array, dtype=float)
            setattr(self, name, self.held[name].ctypes.data)


def pointer(array: NDArray[np.generic]) -> ctypes.c_void_p:
    """Where a contiguous array begins."""
    assert array.flags.c_contiguous
    return ctypes.c_void_p(array.ctypes.data)
