"""What the person concerned is told, as the first part of a report: why, what is enough, how exact."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import dataclass, replace

from surefoot.exceptions import SurefootError
from surefoot.explain.result.explanation import Explanation
from surefoot.model.classifier import ConditionalGaussianNetworkClassifier
from surefoot.ui.letters.content import Part, Request, decision_words, person_parts
from surefoot.ui.letters.labels import OwnNames, own_units
from surefoot.ui.letters.language import language
from surefoot.ui.letters.sender import notes_of
from surefoot.ui.letters.slots import template
from surefoot.ui.letters.writer import Writer, estimated_by, written_by

MARGIN = (
    "The limits above are those of what is enough if it is carried out exactly. The values below lie within "
    "them, with a margin for errors: that is why they differ."
)


@dataclass(frozen=True)
class Person:
    """The decision, the parts below it, and why the analyst reads other numbers; "" where that is not so.

    What a sender of letters should know is for the analyst.
    """

    decision: str
    parts: tuple[Part, ...]
    margin: str = ""
    notes: tuple[str, ...] = ()


def person_of(
    answers: Sequence[Explanation], classifier: ConditionalGaussianNetworkClassifier | None = None
) -> Person | None:
    """What a letter says first, in the names of the data; None where the classifier is not there to ask."""
    maker = answers[0].made_by
    clf = maker.classifier if classifier is None and maker is not None else classifier
    if clf is None or any(e.model != clf.fingerprint_ for e in answers):
        return None
    # Copies: what is enough is worked out for the page, and does not find its way into the files.
    copies = [replace(e) for e in answers]
    day = datetime.date.min  # a letter's; no part that is shown here has one
    request = Request(
        copies,
        clf,
        Writer(language("en"), OwnNames(own_units(clf)), written_by(copies[0]), estimated_by(copies[0])),
        template("neutral"),
        day,
    )
    try:
        parts = person_parts(request)
        is_wider = copies[0].asks_for_robustness and any(_has_limits(e) for e in copies)
        margin = MARGIN if is_wider else ""
        return Person(decision_words(request), parts, margin, notes_of(request))
    except SurefootError:  # for instance refits that a file only names
        return None


def _has_limits(e: Explanation) -> bool:
    """Whether what is enough is a range of a number: a category has no margin."""
    return e.region is not None and bool(e.region.numbers)
