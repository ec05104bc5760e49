"""An audit as one page: the answer, groups, what stands in the way, the method, what it does not show."""

from __future__ import annotations

import base64
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from surefoot.explain.population.audit import Audit
from surefoot.explain.result.words import allowed_words, kept_words, preset_words, question_words
from surefoot.formats import in_a_row, number, one_line
from surefoot.model.classifier import ConditionalGaussianNetworkClassifier
from surefoot.ui.plots.audit import plot_costs, plot_shares
from surefoot.ui.report.audit_words import answer_of, cost_words, group_lines, marked_names
from surefoot.ui.report.model import model_facts, model_kind
from surefoot.ui.report.pictures import Picture, drawn
from surefoot.ui.report.templates import rendered

# Lines of a count on the page; the file has all of them. Ten times as many would hide the first ones.
MOST_COUNTED = 12
# Groups that have a column in a count, those with most rows; the file has all. Ten times larger, and no
# screen or sheet is wide enough.
MOST_GROUPS = 8
SHARES = "Of those asked, for how many it is proven that no allowed change is enough; lines are intervals."
COSTS = (
    "What a change costs those asked. In the grey band: no way, or none known. A dot without a line: too few "
    "for an interval, or one without width."
)


@dataclass(frozen=True)
class Count:
    """What was counted: a line for each thing, with its rows, and its share in all rows and each group."""

    title: str
    what: str
    of: str
    heads: tuple[str, ...]
    lines: tuple[tuple[str, ...], ...]
    more: int
    file: str
    link: str


# By their names in an audit: title, what is counted, of which rows, and the column with their number.
COUNTS = {
    "blame": ("What stands in the way", "restriction", "of those without a way", "none"),
    "changes": ("What changes", "feature", "of the changes found", "found"),
    "reasons": ("Principal reasons for the decision", "feature", "of those asked", "asked"),
    "cautions": ("Cautions", "caution", "of those asked", "asked"),
}


def audit_page(audit: Audit, title: str = "", worded: Callable[[str], str] = str) -> str:
    """The page, as `write_report` writes it; hints that name arguments can be worded for other readers."""
    clf = audit.explainer.classifier
    return rendered(
        "audit.html",
        title=title or f"Who can be decided {audit.target}, and at what cost? {len(audit.frame):,} rows",
        **_figures(audit, worded),
        pictures=_pictures(audit),
        counts=[_count(audit, name) for name in COUNTS if len(getattr(audit, name))],
        groups_link=_link(audit, "groups"),
        method=_method(audit, clf),
        question=_question(audit),
        cap=number(audit.cases.cap),
        audit=audit,
    )


def audit_fragment(audit: Audit) -> str:
    """What a notebook shows: the answer and the table of groups."""
    return rendered("audit_fragment.html", **_figures(audit), level=f"{100 * audit.ci:g}")


def _figures(audit: Audit, worded: Callable[[str], str] = str) -> dict[str, Any]:
    lines = group_lines(audit, "all rows")
    by = in_a_row(list(map(str, audit.groups.names))) if audit.is_grouped else ""
    return {
        "answer": answer_of(audit),
        "lines": lines,
        "by": by,
        "notes": [worded(note) for note in audit.notes],
    }


def _pictures(audit: Audit) -> list[Picture] | None:
    if not audit.overall["asked"]:
        return []
    return drawn([(lambda: plot_shares(audit), SHARES), (lambda: plot_costs(audit), COSTS)])


def _count(audit: Audit, name: str) -> Count:
    """What was counted, in all rows and in the largest groups; the file has every line."""
    title, what, of, base = COUNTS[name]
    table, figures = getattr(audit, name), audit.by_group
    total = table.groupby(what, sort=False)["rows"].sum().sort_values(ascending=False, kind="stable")
    largest = figures[base].sort_values(ascending=False, kind="stable").index[:MOST_GROUPS]
    shown = figures[:0]
    if audit.is_grouped:
        shown = figures.loc[figures.index.isin(largest) & (figures[base] > 0)]
    parts = {key: table.loc[[key]].set_index(what)["share"] for key in shown.index if key in table.index}
    every = [parts.get(key, {}) for key in shown.index]
    lines = tuple(
        (
            _word(name, one),
            f"{rows:,}",
            _percent(rows / audit.overall[base]),
            *(_percent(part.get(one, 0.0)) for part in every),
        )
        for one, rows in total[:MOST_COUNTED].items()
    )
    heads = (what, "rows", "all", *marked_names(shown))
    left = max(len(total) - MOST_COUNTED, 0)
    return Count(title, what, of, heads, lines, left, f"{name}.csv", _link(audit, name))


def _percent(part: float) -> str:
    """A share of a count; a dash for nothing."""
    return "-" if part == 0 else f"{max(100 * part, 1):.0f} %"


def _word(name: str, what: Any) -> str:
    return str(what).replace("_", " ") if name == "cautions" else one_line(str(what))


def _link(audit: Audit, which: str) -> str:
    """A table as a file that the page holds itself."""
    text = audit.to_csv(which=which) or ""
    return "data:text/csv;charset=utf-8;base64," + base64.b64encode(text.encode("utf-8")).decode("ascii")


def _method(audit: Audit, clf: ConditionalGaussianNetworkClassifier) -> list[tuple[str, str]]:
    """The statement of method: model, data and versions."""
    explainer = audit.explainer
    facts = {name: text for name, text in model_facts(clf) if name in ("classes", "trained on")}
    kind = model_kind(clf) if not hasattr(clf, "scores_") else "an adopted linear or quadratic model"
    return [
        ("model", f"{kind}; trained on {facts['trained on']}; classes {facts['classes']}"),
        ("rows", f"{len(audit.frame):,}, of which {audit.overall['asked']:,} were asked"),
        ("method", f"{explainer.method}, gap {100 * explainer.options.gap:g} %"),
        ("time for a row", f"{explainer.options.time_limit:g} s at most"),
        ("intervals", f"{100 * audit.ci:g} %: Clopper and Pearson for shares, bootstrap for medians"),
        *((f"fingerprint of {name}", text) for name, text in list(audit.about.items())[:4]),
        ("versions", ", ".join(f"{name} {text}" for name, text in list(audit.about.items())[4:])),
    ]


def _question(audit: Audit) -> dict[str, Any]:
    """What was asked of a row, in words."""
    question = audit.question
    if question is None:
        return {"words": "", "costs": "", "allowed": (), "more": ()}
    more = (preset_words(question), kept_words(question))
    return {
        "words": question_words(question),
        "costs": cost_words(question),
        "allowed": allowed_words(question),
        "more": [line for line in more if line],
    }
