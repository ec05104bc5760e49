"""Letter: what a person is told, as plain text in order; HTML and text print the same one."""

from __future__ import annotations

import datetime
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from numbers import Integral
from typing import Any

from surefoot.days import as_days
from surefoot.exceptions import DataError, ProblemError
from surefoot.explain.answer.region import Region
from surefoot.explain.result.broken import broken_rules
from surefoot.explain.result.explanation import Explanation
from surefoot.formats import one_line
from surefoot.model.classifier import ConditionalGaussianNetworkClassifier
from surefoot.problem.question import Question
from surefoot.status import Status
from surefoot.table.rare import RARE
from surefoot.ui.letters.exactness import exactness, unstable_words
from surefoot.ui.letters.language import harmless, mark
from surefoot.ui.letters.rules import broken_lines, rule_lines
from surefoot.ui.letters.slots import LINES, Template
from surefoot.ui.letters.ways import Way, found_ways, ways_of
from surefoot.ui.letters.why import Line, reason_lines, reasons_of
from surefoot.ui.letters.writer import Writer, estimated_by, is_missing

# Details that a letter lists with their values; of more it says how many. Ten times as many fit on no page.
MOST_DETAILS = 30
# Missing details that are named beside the decision. Ten times as many would hide it.
MOST_MISSING = 6
# How a search ends that says nothing about the person: not even that something was looked for.
FAILED = (Status.FAILED, Status.UNBOUNDED)

UNMET = mark("Your details do not meet this rule today: {rules}.")
ALL_UNMET = mark("Your details do not meet these rules today: {rules}.")
MET = mark("What is stated above meets this, too.")
NO_MATTER = mark("This does not change the decision: the rule is only for changes that we suggest.")
OTHER_RECORD = mark(
    "Our records have another decision, {recorded}: this letter is about what our automatic procedure "
    "decides."
)
NOT_MET = mark("{rule} (your details do not meet this today)")
CLOSE = mark("It is close: small errors in your details could change it.")


@dataclass(frozen=True)
class Slot:
    """Something that only the sender can say: what it is, and the text; "" where that is missing."""

    name: str
    about: str
    text: str


@dataclass(frozen=True)
class Part:
    """A part of a letter: a heading, and what stands below it, in this order."""

    heading: str
    paragraphs: tuple[str, ...] = ()
    reasons: tuple[Line, ...] = ()
    ways: tuple[Way, ...] = ()
    items: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    slots: tuple[Slot, ...] = ()
    small: bool = False


@dataclass(frozen=True)
class Letter:
    """A letter to one person.

    Parameters
    ----------
    language : str
    title : str
    kind : str
        found, there, none, not_found or invalid.
    head : tuple of (str, str)
        Date, for whom, reference: a heading and its text.
    sender, contact : Slot
    decision : str
        The first sentence.
    parts : tuple of Part
    signature : str
        What stands below the line for the signature; "" for none.
    valid_until : Slot
        Beside the signature.
    words : dict
        What else is printed: contact, sender.
    """

    language: str
    title: str
    kind: str
    head: tuple[tuple[str, str], ...]
    sender: Slot
    contact: Slot
    decision: str
    parts: tuple[Part, ...]
    signature: str
    valid_until: Slot
    words: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Request:
    """What a letter is made from.

    Parameters
    ----------
    answers : sequence of Explanation
        About one row, the nearest first.
    classifier : ConditionalGaussianNetworkClassifier
    writer : Writer
    template : Template
    day : date
    to : str
        For whom.
    reference : str
        "" for the name of the row, or its place.
    recorded : label, optional
        What was decided by what is on record.
    """

    answers: Sequence[Explanation]
    classifier: ConditionalGaussianNetworkClassifier
    writer: Writer
    template: Template
    day: datetime.date
    to: str = ""
    reference: str = ""
    recorded: Any = None

    @property
    def first(self) -> Explanation:
        """The nearest answer, or word that there is none."""
        return self.answers[0]

    @property
    def kind(self) -> str:
        """Which letter it is."""
        e = self.first
        if e.status is Status.INVALID:
            return "invalid"
        if self.decided == e.target:
            return "there"
        if e.counterfactual is not None and e.changed:
            return "found"
        return "none" if e.status is Status.INFEASIBLE else "not_found"

    @property
    def decided(self) -> Any:
        """What was decided: the target where it is reached as asked for, else another class."""
        e = self.first
        if e.status is Status.ALREADY_TARGET:
            return e.target
        if e.factual_class == e.target and e.threshold > 0.5:
            return next(c for c in self.classifier.classes_.tolist() if c != e.target)
        return e.factual_class

    @property
    def found(self) -> list[tuple[Explanation, Region]]:
        """The ways that the letter shows, each with what is enough."""
        if self.kind != "found":
            return []
        return found_ways(self.answers, self.classifier, self.writer.labels)

    @property
    def other_record(self) -> Any:
        """The decision on record where that is another one, as the classes have it; None where it is not."""
        recorded = self.recorded
        if self.kind == "invalid" or is_missing(recorded) or is_same(recorded, self.decided):
            return None
        return next((c for c in self.classifier.classes_.tolist() if is_same(recorded, c)), recorded)

    @property
    def states_reasons(self) -> bool:
        """Whether the letter says why."""
        return self.kind not in ("there", "invalid")

    def slot(self, name: str) -> Slot:
        """A slot with what the sender filled in."""
        text = self.writer.labels.slots.get(name, "")
        lines = [one_paragraph(line) for line in text.splitlines() if line.strip()]
        return Slot(name, "", "\n".join(lines))


def is_same(recorded: Any, decided: Any) -> bool:
    """Whether two decisions are the same, be they written as texts or numbers.

    Examples
    --------
    >>> is_same(" good ", "good"), is_same(1.0, "1"), is_same("1", "good")
    (True, True, False)
    """
    texts = str(recorded).strip(), str(decided).strip()
    try:
        return texts[0] == texts[1] or float(texts[0]) == float(texts[1])
    except ValueError:
        return False


def one_paragraph(text: str) -> str:
    """A text of the sender's on one line, in full."""
    return " ".join(one_line(text).split())


def letter_of(request: Request) -> Letter:
    """Put explanations of one row into a letter."""
    for e in request.answers:
        if e.model != request.classifier.fingerprint_:
            raise DataError("the explanation is about another classifier: its letter would be wrong")
    writer, kind = request.writer, request.kind
    parts = [
        *person_parts(request),
        *([_promise(request)] if kind in ("found", "there") else []),
        _data(request),
        _rights(request),
        *([] if kind == "invalid" else [_check(request)]),
    ]
    return Letter(
        language=writer.language.code,
        title=_title(kind, writer),
        kind=kind,
        head=_head(request),
        sender=request.slot("sender"),
        contact=request.slot("contact"),
        decision=decision_words(request) + _purpose(request),
        parts=tuple(parts),
        signature=writer.say("Signature of the sender. Without it this letter is information, not a promise.")
        if kind == "found"
        else "",
        valid_until=Slot(
            "valid_until", writer.say("Valid, if signed, until"), request.slot("valid_until").text
        ),
        words={"contact": writer.say("Contact"), "sender": writer.say("From")},
    )


def person_parts(request: Request) -> tuple[Part, ...]:
    """What the person asks first: why, what would change it, and how exact that has to be."""
    kind, e = request.kind, request.first
    if e.status in FAILED:
        raise ProblemError(f"there is nothing to tell the person: {e.status.sentence} {e.advice}".strip())
    found = request.found
    why = _why(request, found) if request.states_reasons else None
    reached = _reached(request, found) if kind == "found" else ()
    middle = {"none": _blocked, "not_found": _not_found, "invalid": _invalid}.get(kind)
    return (*([why] if why else []), *reached, *([middle(request)] if middle else []))


def _title(kind: str, writer: Writer) -> str:
    if kind == "there":
        return writer.say("The decision in your case")
    if kind == "invalid":
        return writer.say("We need more details from you")
    if kind in ("none", "not_found"):
        return writer.say("The decision in your case, and why")
    return writer.say("The decision in your case, and what would change it")


def _head(request: Request) -> tuple[tuple[str, str], ...]:
    writer, reference = request.writer, _reference(request)
    name = harmless(request.to) if request.to else ""
    found = [(writer.say("Date"), writer.language.date(request.day))]
    found += [(writer.say("For"), name)] if name else []
    return (*found, *([(writer.say("Reference"), reference)] if reference else []))


def _reference(request: Request) -> str:
    """What the sender finds the case by; a row without a name has its place, which is said to be one."""
    row = request.first.row
    if request.reference or isinstance(row, str):
        return harmless(request.reference or row)
    if isinstance(row, Integral):
        return request.writer.say("row {number} of the table", number=row)
    return "" if is_missing(row) else harmless(row)


def decision_words(request: Request) -> str:
    """What was decided, and from which details that were missing."""
    return " ".join([_decided(request), *_estimated(request)])


def _estimated(request: Request) -> list[str]:
    """That details were missing and were estimated, and what to do about it."""
    writer, e = request.writer, request.first
    names = [writer.name(name) for name in e.factual.index if str(name) in writer.estimated]
    if not names or request.kind == "invalid":
        return []
    shown, more = names[:MOST_MISSING], len(names) - MOST_MISSING
    if more > 0:
        shown.append(writer.say("{count} more", count=writer.language.number(more)))
    listed = writer.language.all_of(shown)
    said = writer.say("Missing details were estimated: {names}. Please send them to us.", names=listed)
    return [said, writer.say("With the true values the decision may be different.")]


def _decided(request: Request) -> str:
    """What was decided."""
    writer, kind, e = request.writer, request.kind, request.first
    if kind == "invalid":
        return writer.say("Your case could not be looked at, because details are missing or cannot be read.")
    said = writer.say("The decision in your case is {decision}.", decision=writer.decision(request.decided))
    if (recorded := request.other_record) is not None:
        said += " " + writer.say(OTHER_RECORD, recorded=writer.decision(recorded))
    if kind != "there":
        return said
    if unmet := _unmet(request):
        return " ".join([said, writer.say("For this decision nothing has to change."), *unmet])
    # A row that breaks a rule, be it one that is not named here, is asked about for that reason.
    is_close = e.status is not Status.ALREADY_TARGET and not broken_rules(e.question)
    return " ".join([said, writer.say("Nothing has to change."), *([writer.say(CLOSE)] if is_close else [])])


def _purpose(request: Request) -> str:
    """What the letter is about, beyond the decision."""
    writer, wanted = request.writer, request.writer.decision(request.first.target)
    if request.kind == "found":
        return " " + writer.say(
            "This letter says why, and what would lead to the decision {wanted}.", wanted=wanted
        )
    return f" {writer.say('This letter says why.')}" if request.kind in ("none", "not_found") else ""


def _why(request: Request, found: Sequence[tuple[Explanation, Region]]) -> Part | None:
    writer = request.writer
    reasons = reasons_of(request.first, request.classifier)
    regions, question = [region for _, region in found], request.first.question
    lines = reason_lines(reasons, writer, request.classifier, regions, question)
    if not lines:
        return None
    wanted = writer.decision(request.first.target)
    intro = writer.say("These details counted most against the decision {wanted}:", wanted=wanted)
    return Part(writer.say("Why"), (intro,), reasons=lines)


def _reached(request: Request, found: Sequence[tuple[Explanation, Region]]) -> tuple[Part, ...]:
    """What would change the decision, and how exact it has to be."""
    writer, e = request.writer, request.first
    ways, wanted = ways_of(found, writer), writer.decision(e.target)
    if len(ways) > 1:
        intro = writer.say(
            "Each of these ways leads to the decision {wanted}. Choose one: everything in it has to be as "
            "stated, and all your other details stay as they are.",
            wanted=wanted,
        )
    else:
        intro = writer.say(
            "This leads to the decision {wanted}. Everything in it has to be as stated, and all your other "
            "details stay as they are.",
            wanted=wanted,
        )
    after = [*_unmet(request), *unstable_words([e for e, _ in found], writer)]
    change = Part(writer.say("What would change the decision"), (intro,), ways=ways, after=tuple(after))
    return change, Part(writer.say("How exact it has to be"), exactness(found, request.classifier, writer))


def _unmet(request: Request, named: Sequence[str] = ()) -> list[str]:
    """Rules that today's details do not meet: they have to be met, too. Those named already are left out."""
    writer = request.writer
    broken = broken_lines(request.first, request.classifier, writer)
    rules = [rule for rule in broken if rule not in named]
    if not rules:
        return []
    said = writer.say(UNMET if len(rules) == 1 else ALL_UNMET, rules="; ".join(rules))
    more = {"found": MET, "there": NO_MATTER}.get(request.kind, "")
    return [f"{said} {writer.say(more)}" if more else said]


def _blocked(request: Request) -> Part:
    """Which rules stand in the way, where it is proven that nothing allowed leads to the decision."""
    writer, e = request.writer, request.first
    lines, left_out = rule_lines(e, request.classifier, writer)
    wanted = writer.decision(e.target)
    paragraphs = [_none_words(e, wanted, writer)]
    if lines:
        paragraphs.append(writer.say("These rules stand in the way, taken together:"))
    broken = broken_lines(e, request.classifier, writer)
    items = [writer.say(NOT_MET, rule=rule) if rule in broken else rule for rule in lines]
    after = _unmet(request, lines)
    if left_out:
        after.append(
            writer.say(
                "Some details about you are protected. We never suggest changing them, and do not list them "
                "here."
            )
        )
    if isinstance(e.question, Question) and e.question.declared.get("bounds") == "data":
        after.append(writer.say("Only values that are known from earlier cases were considered."))
    after.append(writer.say("If you think that one of the rules does not fit your case, tell us."))
    heading = writer.say("Why no change is suggested")
    return Part(heading, tuple(paragraphs), items=tuple(items), after=tuple(after))


def _none_words(e: Explanation, wanted: str, writer: Writer) -> str:
    """That nothing allowed leads to the decision; or nothing that is as sure as the sender asked for."""
    asked = e.question
    declared = asked.declared if isinstance(asked, Question) else {}
    is_strict = e.asks_for_robustness or e.threshold > 0.5 or len(asked.models) > 1 or "plausible" in declared
    if is_strict:
        return writer.say(
            "No change that is allowed leads to the decision {wanted} as surely as we ask for: small errors "
            "must not undo it, for instance. This is proven, not only tried.",
            wanted=wanted,
        )
    return writer.say(
        "No change that is allowed leads to the decision {wanted}. This is proven, not only tried.",
        wanted=wanted,
    )


def _not_found(request: Request) -> Part:
    writer, e = request.writer, request.first
    wanted = writer.decision(e.target)
    if e.status.is_cut_short and e.status is not Status.INTERRUPTED_NO_POINT:
        tried = writer.say(
            "We looked for a change that leads to the decision {wanted}, and found none in the time that was "
            "available.",
            wanted=wanted,
        )
    else:
        tried = writer.say(
            "We looked for a change that leads to the decision {wanted}, and found none.", wanted=wanted
        )
    open_ = writer.say("This does not mean that there is none. Ask us to look again.")
    return Part(writer.say("Why no change is suggested"), (tried, open_), after=tuple(_unmet(request)))


def _invalid(request: Request) -> Part:
    """Which details are missing, and which cannot be read."""
    writer, e = request.writer, request.first
    missing = [name for name, value in e.factual.items() if is_missing(value)]
    strange = [name for name, value in e.factual.items() if _is_strange(request.classifier, name, value)]
    items = [writer.say("{name}: missing", name=writer.name(name)) for name in missing]
    items += [writer.say("{name}: cannot be read", name=writer.name(name)) for name in strange]
    if not items and _is_readable(request.classifier, e.factual):
        raise ProblemError(f"there is nothing to tell the person: the request is invalid. {e.advice}")
    shown = items[:MOST_DETAILS]
    more = len(items) - len(shown)
    after = [writer.say("and {count} more", count=writer.language.number(more))] if more else []
    after.append(writer.say("Please send us what is missing or wrong; then we can decide."))
    about = writer.say("This is about:") if items else writer.say("We cannot say which ones; please ask us.")
    return Part(writer.say("What we need"), (about,), items=tuple(shown), after=tuple(after))


def _is_readable(clf: ConditionalGaussianNetworkClassifier, row: Any) -> bool:
    """Whether nothing is wrong with the row: then it is the sender's request that is."""
    try:
        clf.schema_.encode_row(list(row))
    except DataError:
        return False
    return True


def _is_strange(clf: ConditionalGaussianNetworkClassifier, name: Any, value: Any) -> bool:
    """Whether a value is there but is none that the classifier knows."""
    if is_missing(value):
        return False
    if name in clf.categories_:
        known = clf.categories_[name]
        return RARE not in known and not any(value == other or str(value) == str(other) for other in known)
    try:
        return not math.isfinite(float(as_days(value)))
    except (TypeError, ValueError, OverflowError):
        return True


def _promise(request: Request) -> Part:
    writer = request.writer
    day = writer.language.date(request.day)
    lines = [
        writer.say(
            "This letter describes how cases are decided on {date}. The way of deciding may change, and then "
            "what is enough may change, too.",
            date=day,
        ),
        writer.say(
            "What you change may have other effects on you, which this letter does not look at, and it may "
            "change other details, too: then ask again. Only real changes count; untrue details do not help."
        ),
    ]
    return Part(
        writer.say("What this letter does not promise"),
        tuple(lines if request.kind != "there" else lines[:1]),
    )


def _data(request: Request) -> Part:
    writer, e = request.writer, request.first
    names = list(e.factual.index)
    filled = estimated_by(e)
    details = [_detail(writer, name, e.factual[name], str(name) in filled) for name in names[:MOST_DETAILS]]
    more = len(names) - len(details)
    if more > 0:
        details.append(writer.say("and {count} more", count=writer.language.number(more)))
    correction, sources = request.slot("correction"), request.slot("sources")
    return Part(
        writer.say("Which data we have") if request.kind == "invalid" else writer.say("Which data were used"),
        ("; ".join(details) + ".",),
        slots=(
            Slot("correction", writer.say("Is something wrong? To have it corrected"), correction.text),
            Slot("sources", writer.say("The data come from"), sources.text),
        ),
        small=True,
    )


def _detail(writer: Writer, name: Any, value: Any, filled: bool) -> str:
    is_number = isinstance(value, float)
    shown = writer.own(name, value) if value == RARE or is_number else writer.value(name, value)
    known = {"name": writer.name(name), "value": shown}
    if filled:
        return writer.say("{name}: {value} (was missing, and was estimated)", **known)
    return writer.say("{name}: {value}", **known)


def _rights(request: Request) -> Part:
    writer = request.writer
    slots = [Slot(name, writer.say(LINES[name]), request.slot(name).text) for name in request.template.slots]
    return Part(writer.say("Your rights and whom to ask"), slots=tuple(slots), small=True)


def _check(request: Request) -> Part:
    writer, e = request.writer, request.first
    text = writer.say(
        "Mark of the rules that decided (fingerprint of the model): {model}. Whoever has the model and the "
        "file that belongs to this letter can check what it says about changes with the program surefoot: "
        "surefoot verify MODEL FILE.",
        model=harmless(e.model),
    )
    return Part(writer.say("How to check this letter"), (text,), small=True)
