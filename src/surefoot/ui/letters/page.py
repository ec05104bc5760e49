"""Letters as files: HTML that prints on one page, or plain text."""

from __future__ import annotations

import datetime
import os
import textwrap
import warnings
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from surefoot.exceptions import DataError, ProblemError, SurefootWarning
from surefoot.explain.result.batch import Explanations
from surefoot.explain.result.explanation import Explanation
from surefoot.files import write_whole
from surefoot.formats import NO_BREAK
from surefoot.model.adoption import adopt
from surefoot.model.classifier import ConditionalGaussianNetworkClassifier
from surefoot.ui.letters.content import Letter, Part, Request, Slot, letter_of
from surefoot.ui.letters.labels import read_labels
from surefoot.ui.letters.language import language as language_of
from surefoot.ui.letters.sender import notes_of
from surefoot.ui.letters.size import size_of
from surefoot.ui.letters.slots import template as template_of
from surefoot.ui.letters.writer import Writer, estimated_by, written_by
from surefoot.ui.templates import environment

WIDTH = 76  # characters of a line of text; ten times as many would not be wrapped at all
BLANK = "_" * 30
TEXT = ".txt"
ENDINGS = ("", ".html", ".htm", TEXT)


def refuse_ending(path: Path) -> None:
    """Refuse a name that promises something else than HTML or text."""
    if path.suffix.lower() not in ENDINGS:
        raise ProblemError(
            f"{path}: letters are HTML (.html) or plain text (.txt); a browser prints HTML into a PDF"
        )


def write_letter(
    explanation: Explanation | Iterable[Explanation],
    path: str | os.PathLike[str],
    classifier: Any,
    *,
    language: str = "en",
    template: str = "neutral",
    labels: Any = None,
    date: datetime.date | None = None,
    to: str = "",
    reference: str = "",
    recorded: Any = None,
) -> Path:
    """Write a letter to the person whom a decision is about: one page, in plain words.

    It says what was decided and why, what would change it, how exact that has to be, what it does not
    promise, which data were used, and how to check it. Where there is no answer, it says so: that nothing
    has to change, that no allowed change leads there and which rules stand in the way, that none was found
    in time, or which details are missing.

    Parameters
    ----------
    explanation : Explanation, or several about one row
        Up to three answers of `CounterfactualExplainer.alternatives` stand side by side.
    path : path
        HTML; plain text if it ends with ``.txt``.
    classifier : fitted classifier
        The one that was explained.
    language : str, default="en"
        ``"en"`` or ``"de"``.
    template : {"neutral", "us", "eu"}
        Which slots for rights and addresses the letter shows. No template claims to be what a law asks for.
    labels : path or dict, optional
        What features, values and decisions are called, and what the sender fills in: a file as
        ``surefoot labels`` writes it.
    date : date, optional
        Default: today.
    to : str
        For whom.
    reference : str
        What the sender finds the case by. Default: the name of the row; of a row that has a number and no
        name, its place: "row 3 of the table".
    recorded : label, optional
        The decision that is on record, if there is one. A letter states what the model decides, and where the
        record has another decision, it says so.

    Warns
    -----
    SurefootWarning
        Of what the sender should know and the letter does not say: another decision is on record, a reason
        names a feature that may be protected by law, or a limit has more decimals than its label.

    Returns
    -------
    Path
        Where the letter is.

    Examples
    --------
    >>> from surefoot import ConditionalGaussianNetworkClassifier, CounterfactualExplainer
    >>> from surefoot import datasets, write_letter
    >>> bank = datasets.load_banknote()
    >>> clf = ConditionalGaussianNetworkClassifier().fit(bank.X, bank.y)
    >>> answers = CounterfactualExplainer(clf).alternatives(bank.X.iloc[0], n=2)
    >>> write_letter(answers, "letter.html", clf)  # doctest: +SKIP
    """
    target = Path(path)
    refuse_ending(target)
    request = letter_request(
        explanation, classifier, language=language, template=template, labels=labels, date=date, to=to
    )
    request = replace(request, reference=str(reference), recorded=recorded)
    write_whole(target, rendered(letter_of(request), target.suffix.lower() == TEXT))
    for note in notes_of(request):
        warnings.warn(note, SurefootWarning, stacklevel=2)
    return target


def letter_request(
    explanation: Explanation | Iterable[Explanation],
    classifier: Any,
    *,
    language: str,
    template: str,
    labels: Any,
    date: datetime.date | None = None,
    to: str = "",
) -> Request:
    """What a letter is made from, checked."""
    answers = [explanation] if isinstance(explanation, Explanation) else list(Explanations(explanation))
    if not answers:
        raise DataError("there is no explanation to write a letter about")
    if len(answers) > 1 and not Explanations(answers).about_one_row:
        raise DataError("a letter is about one person: these explanations are about several rows")
    day = datetime.date.today() if date is None else date
    if not isinstance(day, datetime.date):
        raise ProblemError(f"date must be a datetime.date, not {date!r:.60}")
    clf = _explained(answers[0], classifier)
    known = written_by(answers[0]), estimated_by(answers[0])
    writer = Writer(language_of(language), read_labels(labels, clf), *known)
    return Request(answers, clf, writer, template_of(template), day, str(to))


def _explained(e: Explanation, classifier: Any) -> ConditionalGaussianNetworkClassifier:
    """The classifier in the form in which it was explained; others are adopted, which may need their data."""
    if e.made_by is not None and not isinstance(classifier, ConditionalGaussianNetworkClassifier):
        found: ConditionalGaussianNetworkClassifier = e.made_by.classifier
        return found
    return adopt(classifier)


def rendered(letter: Letter, as_text: bool) -> str:
    """The letter as HTML or as plain text."""
    if as_text:
        return text_of(letter)
    return page("letter.html", letter=letter, size=size_of(letter))


def text_of(letter: Letter) -> str:
    """The letter as plain text."""
    blocks = [_slot(letter.sender, letter.words["sender"])]
    blocks.append("\n".join(f"{name}: {text}" for name, text in letter.head))
    blocks.append(_slot(letter.contact, letter.words["contact"]))
    blocks.append(f"{letter.title}\n{'=' * len(letter.title)}")
    blocks.append(_wrapped(letter.decision))
    blocks += [_part(part) for part in letter.parts]
    if letter.signature:
        blocks.append(_slot(letter.valid_until, letter.valid_until.about))
        blocks.append(f"{BLANK}\n{_wrapped(letter.signature)}")
    return "\n\n".join(blocks).replace(NO_BREAK, " ") + "\n"


def _part(part: Part) -> str:
    lines = [part.heading, "-" * len(part.heading), *map(_wrapped, part.paragraphs)]
    for reason in part.reasons:
        lines += [_item(reason.fact), *([_wrapped(reason.usual, "  ")] if reason.usual else [])]
    for way in part.ways:
        lines += ["", way.title] if way.title else []
        for one in way.needed:
            lines.append(_item(f"{one.name}: {one.enough} ({one.today})"))
    lines += [_item(item) for item in part.items]
    lines += [""] if part.ways and part.after else []
    lines += [*map(_wrapped, part.after), *(_slot(slot, slot.about) for slot in part.slots)]
    return "\n".join(lines)


def _item(text: str) -> str:
    return _wrapped(f"- {text}", "  ", first="")


def _slot(slot: Slot, about: str) -> str:
    return _wrapped(f"{about}: {slot.text.replace(chr(10), ', ') or BLANK}")


def _wrapped(text: str, indent: str = "", first: str | None = None) -> str:
    return textwrap.fill(
        text,
        WIDTH,
        initial_indent=indent if first is None else first,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )


def page(name: str, **values: Any) -> str:
    """Fill a template of this folder."""
    return environment("surefoot.ui.letters").get_template(name).render(**values)
