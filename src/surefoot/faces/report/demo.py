"""The first thing a newcomer sees: real bank notes classified and one of them explained, in words."""

from __future__ import annotations

from sklearn.model_selection import cross_val_score

from surefoot.datasets import Dataset, load_banknote
from surefoot.explain.explainer import CounterfactualExplainer
from surefoot.faces.report.page import write_report
from surefoot.model.classifier import ConditionalGaussianNetworkClassifier


def demo(report: str) -> str:
    """Fit Banknote with three structures, say what was learned, explain one note and write its report."""
    bank = load_banknote()
    names = bank.y.map(dict(enumerate(bank.class_names)))
    clf = ConditionalGaussianNetworkClassifier(structure="tan").fit(bank.X, names)
    explanation = CounterfactualExplainer(clf, budget=BUDGET).explain(bank.X.iloc[0], target="forged")
    write_report(explanation, report, clf, title=TITLE)
    parts = [
        _data_text(bank),
        _structure_text(bank),
        _model_text(clf, bank),
        _note_text(clf, bank),
        QUESTION,
        str(explanation),
        NEXT,
    ]
    return "\n\n".join(parts)


BUDGET = 0.05

TITLE = "What would have to change for this bank note to be taken for forged"

QUESTION = f"""What is the smallest change after which it would be taken for forged, even if every
whitened coordinate of the change misses by up to {BUDGET:g} standard deviations?"""

NEXT = """Try it on your own table:
  surefoot fit DATA.csv --label COLUMN --output model.json
  surefoot explain model.json DATA.csv --row 0 --budget 0.05 --html report.html"""


def _data_text(bank: Dataset) -> str:
    counts = bank.y.value_counts().sort_index()
    classes = ", ".join(f"{n} {name}" for n, name in zip(counts, bank.class_names, strict=True))
    notes = f"{len(bank.X)} photographed bank notes ({classes})"
    return f"{bank.title}: {notes}, {bank.X.shape[1]} measurements each."


def _structure_text(bank: Dataset) -> str:
    lines = ["How often is a note it has never seen classified correctly (5-fold cross-validation)?"]
    for structure, meaning in (
        ("naive", "features taken as independent"),
        ("tan", "each feature may depend on one other"),
        ("ban", "features may depend on several others"),
    ):
        clf = ConditionalGaussianNetworkClassifier(structure=structure)
        score = cross_val_score(clf, bank.X, bank.y, cv=5).mean()
        lines.append(f"  {structure:<6} {score:6.1%}   {meaning}")
    return "\n".join(lines)


def _model_text(clf: ConditionalGaussianNetworkClassifier, bank: Dataset) -> str:
    """The learned equations, one line per dependent feature and class."""
    lines = ["What 'tan' learned: the value expected of each feature, ± its standard deviation:"]
    for child, parents in enumerate(clf.dag_.parents):
        for c, name in enumerate(clf.classes_):
            terms = "".join(f" {clf.weights_[c, child, j]:+.2f} x {bank.feature_names[j]}" for j in parents)
            spread = clf.variances_[c, child] ** 0.5
            equation = f"{clf.intercepts_[c, child]:+.2f}{terms}"
            lines.append(f"  {name:<8} {bank.feature_names[child]:<9} = {equation:<24} ± {spread:.2f}")
    return "\n".join(lines)


def _note_text(clf: ConditionalGaussianNetworkClassifier, bank: Dataset) -> str:
    note = bank.X.iloc[[0]]
    probability = clf.predict_proba(note)[0]
    best = int(probability.argmax())
    values = ", ".join(f"{name} {value:g}" for name, value in note.iloc[0].items())
    verdict = f"{clf.classes_[best]}, with probability {probability[best]:.4f}"
    return f"The first note ({values})\nis taken to be {verdict}."
