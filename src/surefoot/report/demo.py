"""The first thing a newcomer sees: a classifier fitted to real bank notes, in words."""

from __future__ import annotations

from sklearn.model_selection import cross_val_score

from surefoot.classifier import ConditionalGaussianNetworkClassifier
from surefoot.datasets import Dataset, load_banknote


def demo_text() -> str:
    """Fit Banknote with three structures and say what was learned."""
    bank = load_banknote()
    clf = ConditionalGaussianNetworkClassifier(structure="tan").fit(bank.X, bank.y)
    return "\n\n".join(
        [_data_text(bank), _structure_text(bank), _model_text(clf, bank), _note_text(clf, bank), NEXT]
    )


NEXT = """Try it on your own table:
  surefoot fit DATA.csv --label COLUMN --output model.json"""


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
    lines = ["What 'tan' learned, class by class (what is expected of a feature, give or take):"]
    for child, parents in enumerate(clf.dag_.parents):
        for c, name in enumerate(bank.class_names):
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
    verdict = f"{bank.class_names[best]}, with probability {probability[best]:.4f}"
    return f"The first note ({values})\nis taken to be {verdict}."
