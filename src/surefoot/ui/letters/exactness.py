"""How exact a change has to be, and how firmly it stands, in the words of a letter."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from surefoot.explain.answer.region import Region
from surefoot.explain.result.cautions import HALF
from surefoot.explain.result.explanation import Explanation
from surefoot.ui.letters.language import mark
from surefoot.ui.letters.ways import needed, not_enough_words
from surefoot.ui.letters.writer import Writer

INSIDE = mark("Every value that is stated is enough, in any combination.")
INSIDE_ONE_WAY = mark("Every value that is stated is enough, in any combination within one way.")
LIMITS = mark(
    "Limits count exactly as printed: a value at a limit is enough, and no margin has to be added to it."
)
OUTSIDE = mark("Other values may or may not be enough; nothing is said about them here.")
OPEN = mark(
    "Where only one limit is stated, this holds as far as values are allowed and known from earlier cases."
)
SHAKY = mark(
    "This is less certain than usual: small changes in the way we decide could undo it. Ask us again before "
    "you rely on it."
)
SHAKY_WAYS = mark(
    "Less certain than the rest: {ways}. Small changes in the way we decide could undo it. Ask us again "
    "before you rely on it."
)


def exactness(
    found: Sequence[tuple[Explanation, Region]], classifier: Any, writer: Writer
) -> tuple[str, ...]:
    """What is enough to the last digit, what is not said, and a value that is not enough."""
    several, ends = len(found) > 1, _ends(found)
    said = [
        INSIDE_ONE_WAY if several else INSIDE,
        *([LIMITS] if any(map(math.isfinite, ends)) else []),
        OUTSIDE,
        *([OPEN] if any(map(math.isinf, ends)) else []),
    ]
    example = not_enough_words(*found[0], classifier, writer)
    if example and several:
        example = writer.say("In way 1: {sentence}", sentence=example)
    return (" ".join(map(writer.say, said)), *([example] if example else []))


def _ends(found: Sequence[tuple[Explanation, Region]]) -> list[float]:
    """Of all ranges that are stated; infinite where the data or what is allowed ends one."""
    stated = [one for e, region in found for one in region.numbers if one.feature in needed(e, region)]
    return [end for one in stated for end in (one.low, one.high)]


def unstable_words(answers: Sequence[Explanation], writer: Writer) -> list[str]:
    """That most refits of the model undo an answer; nothing where that is not so, or nobody knows."""
    shaky = [k for k, e in enumerate(answers, start=1) if e.model_share and e.model_share.share < HALF]
    if not shaky:
        return []
    if len(shaky) == len(answers):
        return [writer.say(SHAKY)]
    ways = writer.language.all_of([writer.say("way {number}", number=k) for k in shaky])
    return [writer.say(SHAKY_WAYS, ways=ways)]
