"""Sender: what the sender of a letter should know before it is posted, and the person is not told."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Any

from surefoot.days import as_days
from surefoot.explain.answer.decimals import count_decimals
from surefoot.explain.answer.region import Interval, Region
from surefoot.explain.result.explanation import Explanation
from surefoot.explain.result.reasons import PRINCIPAL
from surefoot.formats import first_names, one_line
from surefoot.ui.letters.content import Request
from surefoot.ui.letters.language import harmless
from surefoot.ui.letters.rules import guarded
from surefoot.ui.letters.ways import found_ways, needed
from surefoot.ui.letters.why import reasons_of
from surefoot.ui.letters.writer import is_missing

NO_LIMITS = (
    "No limits were given: beyond what the preset keeps, letters may advise any change, also one that sounds "
    "worse or that nobody chooses freely. `surefoot actions MODEL.json` writes a file in which you say what "
    "people can change, for --actions."
)
REVIEW = "Review what letters advise before you send them."
NO_NAMES = (
    "No --id: the reference of a letter is the place of its row in the table, counted from 0. It is nobody's "
    "customer number."
)
MOST_ROWS = 12  # named in one line; ten times as many fill a screen, and the index names them all


def notes_of(request: Request) -> tuple[str, ...]:
    """What the sender of one letter should know."""
    found = _found(request)
    return (
        *_other_decision(request),
        *_protected(request, found),
        *(note for e, region in found for note in _decimals(request, e, region)),
    )


def advice_of(request: Request) -> tuple[str, ...]:
    """What a letter advises, without numbers, so that the same advice in many letters is the same text."""
    found = _found(request)
    listed = (_advised(e, region, name) for e, region in found for name in needed(e, region))
    return tuple(dict.fromkeys(listed))


def by_note(notes: Iterable[tuple[str, Iterable[str]]]) -> Iterator[str]:
    """Notes on many letters, each once, with the rows that it is about.

    Examples
    --------
    >>> list(by_note([("row 3", ["Look."]), ("row 5", ["Look."])]))
    ['row 3, row 5: Look.']
    """
    rows: dict[str, list[str]] = {}
    for row, said in notes:
        for note in said:
            rows.setdefault(note, []).append(row)
    for note, names in rows.items():
        index = " (the index names them)" if len(names) > MOST_ROWS else ""
        yield f"{first_names(names, MOST_ROWS)}{index}: {note}"


def _found(request: Request) -> list[tuple[Explanation, Region]]:
    if request.kind != "found":
        return []
    return found_ways(request.answers, request.classifier, request.writer.labels)


def _other_decision(request: Request) -> Iterator[str]:
    """That the table records another decision than the letter states."""
    recorded = request.recorded
    if request.kind == "invalid" or is_missing(recorded) or _is_same(recorded, request.decided):
        return
    yield one_line(
        f"The table records the decision {harmless(recorded)}, but the letter states "
        f"{harmless(request.decided)}, which is what the model decides."
    )


def _is_same(recorded: Any, decided: Any) -> bool:
    """Whether two decisions are the same, be they written as texts or numbers."""
    texts = str(recorded).strip(), str(decided).strip()
    try:
        return texts[0] == texts[1] or float(texts[0]) == float(texts[1])
    except ValueError:
        return False


def _protected(request: Request, found: list[tuple[Explanation, Region]]) -> Iterator[str]:
    """Which reasons and ways name a feature that may be protected by law."""
    e, clf = request.first, request.classifier
    why = guarded(e, clf)
    stated = reasons_of(e, clf).principal(PRINCIPAL)["feature"] if request.states_reasons else ()
    changed = dict.fromkeys(name for way in found for name in needed(*way))
    for what, names in (("A reason names", stated), ("A way changes", changed)):
        for name in names:
            if name in why:
                yield f"{what} {harmless(name)}, which may be protected by law: {why[name]}."


def _decimals(request: Request, e: Explanation, region: Region) -> Iterator[str]:
    """Which limits need more decimals than their label asks for."""
    labelled = request.writer.labels.decimals
    for one in region.numbers:
        most = labelled.get(str(one.feature))
        if most is None or one.feature not in needed(e, region):
            continue
        longer = [x for x in (one.low, one.high) if math.isfinite(x) and count_decimals(x) > most]
        if longer:
            values = " and ".join(f"{x!r}" for x in longer)
            yield (
                f"Limits of {harmless(one.feature)} have more than the {most} decimals of its label, as no "
                f"others are proven: {values}."
            )


def _advised(e: Explanation, region: Region, name: Any) -> str:
    if name in region.categories:
        values = " or ".join(harmless(value) for value in region.categories[name])
        return f"{harmless(name)}: {values}"
    one = next(one for one in region.numbers if one.feature == name)
    return f"{harmless(name)}: {_direction(one, float(as_days(e.factual[name])))}"


def _direction(one: Interval, today: float) -> str:
    return "more" if one.proven[0] > today else "less"
