"""Why a decision was taken: the principal reasons, each as a line."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from surefoot.days import as_date, as_days
from surefoot.explain.answer.region import Region
from surefoot.explain.constraints.document import read_actions, read_preset
from surefoot.explain.result.broken import is_forbidden
from surefoot.explain.result.explanation import Explanation
from surefoot.explain.result.reasons import PRINCIPAL, Reason, Reasons, reasons_of_row
from surefoot.model.classifier import ConditionalGaussianNetworkClassifier
from surefoot.problem.question import Question
from surefoot.ui.letters.writer import Writer, is_missing

# Share of the wanted class from which on a value is not called rare there. Ten times larger, all would be.
COMMON = 0.3


@dataclass(frozen=True)
class Line:
    """One reason: a name with its value, and what is usual."""

    fact: str
    usual: str


def reasons_of(e: Explanation, classifier: Any) -> Reasons:
    """Those that came with the explanation, or else computed by its classifier."""
    if e.stated_reasons is not None or e.made_by is not None:
        return e.reasons
    return reasons_of_row(classifier, e.factual, e.target, kept_features(e))


def kept_features(e: Explanation) -> tuple[Any, ...]:
    """The features that must stay as they are."""
    if not isinstance(e.question, Question):
        return ()
    declared = e.question.declared
    stays = {
        name for name, one in read_actions(declared).features.items() if getattr(one, "may", "") == "stay"
    }
    stays |= set(read_preset(declared).kept)
    return tuple(name for name in e.question.features if str(name) in stays)


def reason_lines(
    reasons: Reasons,
    writer: Writer,
    clf: ConditionalGaussianNetworkClassifier,
    ways: Sequence[Region] = (),
    question: Any = None,
) -> tuple[Line, ...]:
    """The principal reasons, the weightiest first: at most four, none that speaks for the person.

    What is usual is not named where it would seem to lead the wrong way: where a way moves a number away from
    it, or a rule of the question forbids it.
    """
    dates = {name for name, is_date in zip(clf.schema_.names, clf.schema_.dates, strict=True) if is_date}
    by_name = {one.feature: _with_dates(one) if one.feature in dates else one for one in reasons.each}
    names: Iterable[Any] = reasons.principal(PRINCIPAL)["feature"]
    chosen, wanted = [by_name[name] for name in names], writer.decision(reasons.wanted)
    usual = {one.feature for one in _pointing_to_the_usual(reasons, chosen, clf)}
    return tuple(
        _line(one, wanted, one.feature in clf.categories_, writer)
        if one.feature in usual
        and not _leads_away(one, ways)
        and not is_forbidden(question, one.feature, one.usual)
        else Line(_fact(one, writer), _together(one, writer))
        for one in chosen
    )


def _pointing_to_the_usual(
    reasons: Reasons, chosen: Sequence[Reason], clf: ConditionalGaussianNetworkClassifier
) -> list[Reason]:
    """The reasons whose usual value, in the place of today's, would not speak against the person even more.

    A low rent beside a low income may count against somebody whom a usual rent would not help.
    """
    known = [one for one in chosen if not is_missing(one.value) and not is_missing(one.usual)]
    today = {one.feature: one.value for one in reasons.each}
    rows = [today, *({**today, one.feature: one.usual} for one in known)]
    scores = clf.class_scores(*clf.schema_.encode(pd.DataFrame(rows, columns=list(clf.feature_labels_))))
    other, decided = (clf.classes_.tolist().index(label) for label in (reasons.other, reasons.decided))
    odds = scores[:, other] - scores[:, decided]
    return [one for one, then in zip(known, odds[1:], strict=True) if then >= odds[0]]


def _leads_away(reason: Reason, ways: Sequence[Region]) -> bool:
    """Whether a way asks for less of a number of which more is usual, or for more where less is."""
    asked = [one.proven for region in ways for one in region.numbers if one.feature == reason.feature]
    if not asked:
        return False
    today, usual = float(as_days(reason.value)), float(as_days(reason.usual))
    return any(low > today > usual or high < today < usual for low, high in asked)


def _with_dates(reason: Reason) -> Reason:
    """A reason whose values are dates, which files hold as text."""
    value, usual = (as_date(as_days(text)) for text in (reason.value, reason.usual))
    return replace(reason, value=value, usual=usual)


def _line(reason: Reason, wanted: str, is_category: bool, writer: Writer) -> Line:
    return Line(_fact(reason, writer), _usual(reason, wanted, is_category, writer))


def _fact(reason: Reason, writer: Writer) -> str:
    known = {"name": writer.name(reason.feature), "value": writer.own(reason.feature, reason.value)}
    if str(reason.feature) in writer.estimated:
        return writer.say("{name}: {value} (was missing, and was estimated)", **known)
    return writer.say("{name}: {value}", **known)


def _together(reason: Reason, writer: Writer) -> str:
    if is_missing(reason.value):
        return ""
    return writer.say("Together with your other details, this counted against you.")


def _usual(reason: Reason, wanted: str, is_category: bool, writer: Writer) -> str:
    if is_missing(reason.value) or math.isnan(reason.share):
        return ""
    known = {"wanted": wanted, "usual": writer.about(reason.feature, reason.usual)}
    if reason.share >= COMMON and reason.value == reason.usual:
        return writer.say(
            "This is usual in earlier cases of {wanted}, too, but together with your other details it "
            "counted against you.",
            **known,
        )
    if reason.share >= COMMON:
        return writer.say(
            "Usual in earlier cases of {wanted}: {usual}. Together with your other details, this counted "
            "against you.",
            **known,
        )
    known["few"] = _few(reason.share, writer)
    if is_category:
        return writer.say("Usual in earlier cases of {wanted}: {usual}; {few} had the same as you.", **known)
    if isinstance(reason.value, dt.date):
        return _of_days(reason, known, writer)
    if reason.value > reason.usual:
        return writer.say("Usual in earlier cases of {wanted}: {usual}; {few} had as much or more.", **known)
    return writer.say("Usual in earlier cases of {wanted}: {usual}; {few} had as little or less.", **known)


def _of_days(reason: Reason, known: dict[str, str], writer: Writer) -> str:
    if reason.value > reason.usual:
        return writer.say(
            "Usual in earlier cases of {wanted}: {usual}; {few} had a day as late or later.", **known
        )
    return writer.say(
        "Usual in earlier cases of {wanted}: {usual}; {few} had a day as early or earlier.", **known
    )


def _few(share: float, writer: Writer) -> str:
    if share < 0.01:
        return writer.say("fewer than 1 of 100")
    return writer.say("only {count} of 100", count=writer.language.number(math.floor(100 * share + 0.5)))
