"""The first thing a newcomer sees: real bank notes classified and one of them explained, in words."""

from __future__ import annotations

from sklearn.model_selection import cross_val_score

from surefoot.classifier import ConditionalGaussianNetworkClassifier
from surefoot.datasets import Dataset, load_banknote
from surefoot.exceptions import BackendMissingError
from surefoot.explainer import CounterfactualExplainer


def demo_text() -> str:
    """Fit Banknote with three structures, say what was learned and explain one note."""
    bank = load_banknote()
    clf = ConditionalGaussianNetworkClassifier(structure="tan").fit(bank.X, bank.y)
    parts = [
        _data_text(bank),
        _structure_text(bank),
        _model_text(clf, bank),
        _note_text(clf, bank),
        _counterfactual_text(clf, bank),
        NEXT,
    ]
    return "\n\n".join(parts)


BUDGET = 0.05

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
    lines = ["What 'tan' learned: the value expected of each feature, ± its standard deviation:"]
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


def _counterfactual_text(clf: ConditionalGaussianNetworkClassifier, bank: Dataset) -> str:
    """The smallest change that turns the first note around, robustly."""
    try:
        found = CounterfactualExplainer(clf, budget=BUDGET).explain(bank.X.iloc[0], target=1)
    except BackendMissingError as error:
        return f"To see what would have to change, {error}."
    lines = [
        "What is the smallest change after which it would be taken to be forged, even when every",
        f"(whitened) coordinate of the change lands up to {BUDGET:g} standard deviations off?",
    ]
    for _, row in found.changes().iterrows():
        size = row["in standard deviations"]
        move = f"{row['from']:8.2f} -> {row['to']:6.2f}   ({size:+.2f} standard deviations)"
        lines.append(f"  {row['feature']:<9} {move}")
    sure = f"{found.coverage:.1%} of that radius is proven to keep the new verdict"
    lines.append(f"Distance {found.distance:.3f}, proven to be at least {found.lower_bound:.3f}; {sure}.")
    return "\n".join(lines)
