"""Progress bars: on a terminal, and only where something takes longer than a second."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from tqdm import tqdm

T = TypeVar("T")

PATIENCE = 1.0  # seconds before anything is shown; with ten times as many people would think that it hangs


def stepped(steps: Iterable[T], what: str, unit: str, total: int | None = None) -> Iterable[T]:
    """The same steps, with a bar on stderr that goes away at the end."""
    found: Iterable[T] = _bar(steps, what, unit, total)
    return found


@contextmanager
def bar(what: str, unit: str, total: int | None = None) -> Iterator[tqdm[Any]]:
    """A bar on stderr for steps that are counted by ``update``; it goes away at the end."""
    with _bar(None, what, unit, total) as shown:
        yield shown


def _bar(steps: Iterable[T] | None, what: str, unit: str, total: int | None) -> tqdm[T]:
    from tqdm.auto import tqdm  # most programs never wait

    return tqdm(steps, desc=what, unit=unit, total=total, delay=PATIENCE, disable=None, leave=False)
