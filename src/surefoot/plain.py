"""Plain values as JSON has them: made from ours, and read back strictly."""

from __future__ import annotations

import json
import math
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from numbers import Integral
from typing import Any, TypeVar

import numpy as np

from surefoot.exceptions import DataError
from surefoot.memory import no_collection

T = TypeVar("T")

DEEPEST = 400  # levels of lists and objects that a file may have
LARGEST_LABEL = 2**64  # labels are numbers of numpy
INFINITIES = {"inf": math.inf, "-inf": -math.inf}


def plain(value: Any) -> Any:
    """Make plain values: infinite numbers become words, not-a-number becomes None.

    Examples
    --------
    >>> plain((np.float64(2.5), np.inf, float("nan"), {"a": np.arange(2)}))
    [2.5, 'inf', None, {'a': [0, 1]}]
    """
    kind = type(value)
    if (
        kind is str
        or kind is int
        or kind is bool
        or value is None
        or (kind is float and math.isfinite(value))
    ):
        return value
    if kind is list or isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    if isinstance(value, float):
        return None if math.isnan(value) else value if math.isfinite(value) else f"{value:f}"
    if isinstance(value, Mapping):
        return {str(name): plain(item) for name, item in value.items()}
    if isinstance(value, int):
        return int(value)
    # A status is text too; dates and the like name rows.
    return value.isoformat() if hasattr(value, "isoformat") else str(value)


def parsed(text: str | bytes) -> Any:
    """The values of a JSON text; constants that JSON does not have and repeated keys are refused."""
    with no_collection():
        try:
            return json.loads(text, parse_constant=_no_constant, object_pairs_hook=_without_repetition)
        except RecursionError:
            raise DataError("it is nested too deeply") from None
        except ValueError as error:
            raise DataError(str(error)) from None


def _no_constant(name: str) -> float:
    raise DataError(f"{name} is not a number of JSON")


def _without_repetition(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) < len(pairs):
        times = Counter(name for name, _ in pairs)
        twice = next(name for name, count in times.items() if count > 1)
        raise DataError(f"the key {shown(twice)} is given twice")
    return values


def entries(
    values: Any, what: str, required: Iterable[str], optional: Iterable[str] = ()
) -> Mapping[str, Any]:
    """An object with exactly these keys; missing and unknown ones are named."""
    if not isinstance(values, Mapping):
        raise DataError(f"{what} must be an object, not {shown(values)}")
    needed = list(required)
    missing = [name for name in needed if name not in values]
    unknown = [name for name in values if name not in needed and name not in optional]
    if missing:
        raise DataError(f"{what} lacks {missing[0]!r}")
    if unknown:
        raise DataError(f"{what} has an unknown key {shown(unknown[0])}")
    return values


def number(value: Any, what: str) -> float:
    """A number that may be infinite, or nan where the file says null."""
    if value is None:
        return math.nan
    if isinstance(value, str) and value in INFINITIES:
        return INFINITIES[value]
    return finite(value, what)


def finite(value: Any, what: str) -> float:
    """A finite number; a truth value is none."""
    try:
        found = math.nan if isinstance(value, bool) or not isinstance(value, int | float) else float(value)
    except OverflowError:
        found = math.inf
    if not math.isfinite(found):
        raise DataError(f"{what} must be a number, not {shown(value)}")
    return found


def end(value: Any, what: str) -> float:
    """A number that may be infinite, but must exist."""
    if value is None:
        raise DataError(f"{what} must be a number, not null")
    return number(value, what)


def position(value: Any, what: str, count: int) -> int:
    """An integer from 0 up to a count."""
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < count:
        raise DataError(f"{what} must be an integer from 0 to {count - 1}, not {shown(value)}")
    return value


def truth(value: Any, what: str) -> bool:
    """True or false."""
    if not isinstance(value, bool):
        raise DataError(f"{what} must be true or false, not {shown(value)}")
    return value


def text(value: Any, what: str) -> str:
    """Text that can be written as UTF-8."""
    try:
        if isinstance(value, str):
            value.encode("utf-8")
            return value
    except UnicodeEncodeError:  # half of a pair
        pass
    raise DataError(f"{what} must be text, not {shown(value)}")


def label(value: Any, what: str) -> Any:
    """A label: text, a finite number or a truth value."""
    if isinstance(value, int):
        if abs(value) >= LARGEST_LABEL:
            raise DataError(f"{what} is too large a number")
        return value
    return finite(value, what) if isinstance(value, float) else text(value, what)


def sequence(value: Any, what: str, length: int | None = None) -> list[Any]:
    """A list, of a given length."""
    if not isinstance(value, list) or length not in (None, len(value)):
        wanted = "a list" if length is None else f"a list of {length} entries"
        raise DataError(f"{what} must be {wanted}, not {shown(value)}")
    return value


def each(
    read: Callable[[Any, str], T], values: Any, what: str, length: int | None = None, one: str = ""
) -> list[T]:
    """What is read of each entry of a list; ``one`` is what an entry is called."""
    return [read(value, one or what) for value in sequence(values, what, length)]


def shallow(value: Any, what: str) -> Any:
    """The value as it is, unless it is nested too deeply to be written again."""
    level = [value]
    for _ in range(DEEPEST):
        level = [
            item
            for part in level
            if isinstance(part, dict | list)
            for item in (part.values() if isinstance(part, dict) else part)
        ]
        if not level:
            return value
    raise DataError(f"{what} is nested too deeply")


def shown(value: Any) -> str:
    """A value in a message: short, and on one line."""
    if isinstance(value, Mapping):
        return "an object"
    if isinstance(value, list):
        return f"a list of {len(value)} entries"
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= LARGEST_LABEL:
        return "a huge integer"
    found = json.dumps(value) if value is None or isinstance(value, bool) else ascii(value)
    return found if len(found) <= 60 else f"{found[:57]}..."


def refuse_huge(name: str, value: Any, error: type[Exception]) -> None:
    """Refuse a number that no double holds, also in a pair, a list or a dict; nothing else is asked."""
    if isinstance(value, Mapping):
        value = tuple(value.values())
    if isinstance(value, list | tuple):
        for entry in value:
            refuse_huge(name, entry, error)
    elif isinstance(value, Integral) and abs(int(value)) > sys.float_info.max:
        raise error(f"{name} holds a number of more than 300 digits, which cannot be calculated with")
