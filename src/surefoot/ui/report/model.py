"""A fitted classifier in words: plain text and a small HTML table."""

from __future__ import annotations

from html import escape
from textwrap import TextWrapper
from typing import TYPE_CHECKING, Any

from surefoot.formats import first_parts, one_line

if TYPE_CHECKING:
    from surefoot.model.classifier import ConditionalGaussianNetworkClassifier

SHOWN_EDGES = 12
WIDTH = 80  # of a line of text

MEANINGS = {
    "naive": "naive Bayes: given the class, no feature depends on another",
    "tan": "tree (TAN): given the class, each feature depends on at most one other",
    "ban": "sparse graph (BAN) learned by NOTEARS",
    "given": "graph given by the user",
}
MIXED_BAN = "sparse graph (BAN) learned by greedy search"  # see model/structure/greedy.py


def model_text(clf: ConditionalGaussianNetworkClassifier) -> str:
    """What was learned, a few lines."""
    return "\n".join([model_kind(clf), *(_fact_text(*fact) for fact in model_facts(clf))])


def _fact_text(heading: str, text: str) -> str:
    """A heading and its text, which goes on below where it is long; names are not cut."""
    wrap = TextWrapper(WIDTH, break_long_words=False, break_on_hyphens=False, subsequent_indent=" " * 12)
    return wrap.fill(f"{heading:>10}  {text}")


def model_html(clf: ConditionalGaussianNetworkClassifier) -> str:
    """The same as a table; whatever is in names and labels is escaped."""
    rows = "".join(
        f"<tr><th style='text-align:left'>{escape(label)}</th>"
        f"<td style='text-align:left'>{escape(value)}</td></tr>"
        for label, value in model_facts(clf)
    )
    caption = escape(_meaning(clf))
    return f"<table><caption style='text-align:left'>{caption}</caption><tbody>{rows}</tbody></table>"


def model_kind(clf: ConditionalGaussianNetworkClassifier) -> str:
    """What kind of model it is, in words."""
    return f"Conditional Gaussian network, {_meaning(clf)}"


def _meaning(clf: ConditionalGaussianNetworkClassifier) -> str:
    method = clf.structure_report_.method
    return MIXED_BAN if method == "ban" and clf.schema_.n_categories else MEANINGS[method]


def model_facts(clf: ConditionalGaussianNetworkClassifier) -> list[tuple[str, str]]:
    """Pairs of a heading and its text."""
    classes = ", ".join(
        f"{label} ({prior:.1%})" for label, prior in zip(clf.classes_.tolist(), clf.class_prior_, strict=True)
    )
    facts = [
        ("classes", classes),
        ("trained on", f"{_rows(clf)}, {_features(clf)}"),
        ("edges", edge_text(clf)),
    ]
    facts += [(heading, text) for heading, text in _particulars(clf) if text]
    report = clf.structure_report_
    if report.method == "ban":
        state = "converged" if report.converged else "did not converge"
        facts.append(
            ("search", f"{state} after {report.n_iter} iterations, objective {report.objective:.6g}")
        )
    return [(heading, one_line(text)) for heading, text in facts]


def _features(clf: ConditionalGaussianNetworkClassifier) -> str:
    n, k = clf.schema_.n_numbers, clf.schema_.n_categories
    if not k:
        return f"{n} features"
    numbers = "1 number" if n == 1 else f"{n} numbers"
    return f"{n + k} features ({numbers}, {'1 category' if k == 1 else f'{k} categories'})"


def _particulars(clf: ConditionalGaussianNetworkClassifier) -> list[tuple[str, str]]:
    """What a model of plain numbers does not have."""
    names = [clf.schema_.names[j] for j in clf.schema_.numbers]
    pairs = zip(names, clf.warps_, strict=True)
    powers = [f"{name} (power {warp.power:g})" for name, warp in pairs if not warp.is_identity]
    sizes = [f"{name} ({len(values)} values)" for name, values in clf.categories_.items()]
    calibration = "" if clf.calibration_ is None else f"temperature {clf.calibration_.temperature:.3g}"
    return [
        ("categories", first_parts(sizes, SHOWN_EDGES)),
        ("holes", getattr(clf, "completion_", None) or ""),
        ("warped", first_parts(powers, SHOWN_EDGES)),
        ("shrinkage", f"{clf.shrinkage_:.0%} of the average covariance" if clf.shrinkage_ else ""),
        ("calibrated", calibration),
        (
            "refits",
            f"{len(clf.refits_)} kept" if clf.refits_ else "",
        ),
    ]


def _rows(clf: ConditionalGaussianNetworkClassifier) -> str:
    # A fit needs two rows of each class; an adopted classifier that never said how many it saw has one.
    return f"{clf.n_rows_:,} rows" if clf.n_rows_ > len(clf.classes_) else "rows that were not counted"


def edge_text(clf: ConditionalGaussianNetworkClassifier) -> str:
    """The graph as 'parent -> child' pairs, the first few of them."""
    names: tuple[Any, ...] = clf.feature_labels_
    edges = [f"{names[parent]} -> {names[child]}" for parent, child in clf.dag_.edges]
    if not edges:
        return "none"
    return f"{len(edges)}: {first_parts(edges, SHOWN_EDGES)}"
