"""How long a letter is on paper, and how small it has to be printed to stay on one page."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from surefoot.ui.letters.content import Letter, Part
    from surefoot.ui.letters.ways import Way

WIDTH = 95  # characters of a line in the normal size; ten times as many, and every letter would seem short
HEADING = 1.8  # lines that a heading takes; ten times as many, and every letter would be printed small
SMALL = 0.85  # of a line, in parts that are printed small; ten times as many would be more than a line
COLUMNS = 3  # of a long way; ten times as many would be columns of two letters
# Lines up to which a letter is printed in each size. A page holds about a tenth more: fonts differ. Ten times
# as many, and long letters would need a second page.
SIZES = (("", 58.0), ("long", 72.0), ("longer", math.inf))


def size_of(letter: Letter) -> str:
    """The name of the size in which it is printed; "" for the normal one."""
    lines = _lines(letter.title) + _lines(letter.decision) + HEADING + sum(map(_part, letter.parts))
    lines += max(letter.sender.text.count("\n") + 1 + _lines(letter.contact.text), len(letter.head))
    lines += 3 * bool(letter.signature)
    return next(name for name, most in SIZES if lines <= most)


def _part(part: Part) -> float:
    texts = [*part.paragraphs, *part.items, *part.after, *(f"{r.fact} {r.usual}" for r in part.reasons)]
    slots = "  ".join(f"{slot.about}: {slot.text or '_' * 20}" for slot in part.slots)
    lines = sum(map(_lines, texts)) + (_lines(slots) if slots else 0)
    ways = max((_way(way, WIDTH // len(part.ways)) for way in part.ways), default=0)
    return HEADING + ways + (SMALL * lines if part.small else lines)


def _way(way: Way, width: int) -> float:
    columns = COLUMNS if way.is_long else 1
    width //= columns
    needed = (_lines(one.name, width) + _lines(f"{one.enough} {one.today}", width) for one in way.needed)
    return bool(way.title) + sum(needed) / columns + 1


def _lines(text: str, width: int = WIDTH) -> int:
    return math.ceil((len(text) + 1) / width)
