"""The report: one self-contained HTML page for an answer, several, or a batch; opens offline, prints."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from surefoot.exceptions import DataError
from surefoot.explain.population.audit import Audit
from surefoot.explain.result.batch import Explanations
from surefoot.explain.result.explanation import Explanation
from surefoot.explain.rows.trade_off import TradeOff
from surefoot.files import write_whole
from surefoot.model.adoption import adopt
from surefoot.model.classifier import ConditionalGaussianNetworkClassifier
from surefoot.problem.question import Question
from surefoot.status import Status
from surefoot.ui.report.audit_page import audit_page
from surefoot.ui.report.batch_words import batch_answer, counted_cautions, counted_reasons, why_none
from surefoot.ui.report.costs import curves_of, headline_of, shared_constraints
from surefoot.ui.report.person import person_of
from surefoot.ui.report.pictures import batch_pictures, case_pictures, trade_off_pictures
from surefoot.ui.report.summary import Summary, overview_of, presets_of, summary_of
from surefoot.ui.report.templates import rendered

# Rows that a page shows one after the other. Ten times larger, and it prints on hundreds of sheets.
MOST_OPEN = 100


def write_report(
    explanations: Explanation | Iterable[Explanation] | TradeOff | Audit,
    path: str | os.PathLike[str],
    classifier: Any = None,
    *,
    title: str = "",
) -> Path:
    """Write one HTML page: of an explanation with its pictures, of several answers about a row, or of rows.

    Of a `TradeOff` the page shows what more safety costs one row; of an `Audit` who has no way, and what a
    way costs whom, with a statement of method.

    The page holds everything it needs: no script, nothing from outside. Whatever is in the data is shown
    as text. Pictures need matplotlib (``pip install 'surefoot[plots]'``); without it the page says so.

    Parameters
    ----------
    explanations : Explanation, iterable of them, TradeOff or Audit
    path : str or path
        Where to write.
    classifier : ConditionalGaussianNetworkClassifier, or what `adopt` takes, optional
        The one that was explained; with it a page about one explanation also
        shows the graph and the plane of the change.
    title : str
        Heading of the page. Default: what it is about.

    Returns
    -------
    Path
        Where the page is.
    """
    target = Path(path)
    write_whole(target, report_page(explanations, classifier, title=title))
    return target


def report_page(
    explanations: Explanation | Iterable[Explanation] | TradeOff | Audit,
    classifier: Any = None,
    *,
    title: str = "",
) -> str:
    """The page itself, as `write_report` writes it."""
    if isinstance(explanations, Audit):
        return audit_page(explanations, title)
    if isinstance(explanations, TradeOff):
        return _costs(explanations, title)
    if isinstance(explanations, Explanation):
        return _single(explanations, None if classifier is None else adopt(classifier), title)
    batch = Explanations(explanations)
    if not batch:
        raise DataError("there are no explanations to report")
    if not batch.about_one_row:
        return _batch(batch, title)
    return _several(batch, None if classifier is None else adopt(classifier), title)


def _single(e: Explanation, classifier: ConditionalGaussianNetworkClassifier | None, title: str) -> str:
    return rendered(
        "single.html",
        title=title or f"What would have to change for {_who(e)} to be decided {e.target}",
        person=person_of([e], classifier),
        case=summary_of(e),
        pictures=case_pictures(e, classifier),
        **_kinds([e]),
    )


def _who(e: Explanation) -> str:
    return "this row" if e.row is None else f"row {e.row}"


@dataclass(frozen=True)
class Alternative:
    """One of several answers about a row, and what it had to keep to beyond what the first one had."""

    summary: Summary
    besides: tuple[str, ...]


def _several(batch: Explanations, classifier: ConditionalGaussianNetworkClassifier | None, title: str) -> str:
    summaries = [summary_of(e) for e in batch]
    first = summaries[0].allowed
    cases = [Alternative(s, tuple(line for line in s.allowed if line not in first)) for s in summaries]
    return rendered(
        "several.html",
        title=title or f"{len(batch)} ways for {_who(batch[0])} to be decided {batch[0].target}",
        person=person_of(batch, classifier),
        cases=cases,
        **_kinds(batch),
    )


def _costs(found: TradeOff, title: str) -> str:
    if not found.explanations:
        raise DataError("there is nothing to report: no question was asked")
    first = found.explanations[0]
    return rendered(
        "trade_off.html",
        title=title or f"What more safety costs {_who(first)}, to be decided {first.target}",
        headline=headline_of(found),
        curves=curves_of(found),
        pictures=trade_off_pictures(found),
        allowed=shared_constraints(found),
        **_kinds(found.explanations),
    )


def _batch(batch: Explanations, title: str) -> str:
    return rendered(
        "batch.html",
        title=title or f"What would have to change: {len(batch):,} rows",
        overview=overview_of(batch),
        presets=presets_of(batch),
        pictures=batch_pictures(batch),
        there=[str(e.row) for e in batch if e.status is Status.ALREADY_TARGET],
        n_cases=sum(e.status is not Status.ALREADY_TARGET for e in batch),
        most_open=MOST_OPEN,
        answer=batch_answer(batch),
        why=why_none(batch),
        conflicts=any(e.conflict for e in batch),
        reasons=counted_reasons(batch),
        cautions=counted_cautions(batch),
        # One at a time: a page may hold thousands.
        cases=(summary_of(e) for e in batch if e.status is not Status.ALREADY_TARGET),
        **_kinds(batch),
    )


def _kinds(batch: Iterable[Explanation]) -> dict[str, bool]:
    """What a page has to explain beyond plain numbers: categories, curved scales, and several classes."""
    asked = [e.question for e in batch if isinstance(e.question, Question)]
    return {
        "mixed": any(q.choices for q in asked),
        "curved": any(q.warps for q in asked),
        "several": any(len(q.rivals) > 1 for q in asked),
    }
