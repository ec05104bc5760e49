"""The first thing a newcomer sees: a loan that was refused, and the smallest change that reverses it."""

from __future__ import annotations

import textwrap
from typing import Any

import pandas as pd

from surefoot.datasets import Dataset, load_german_credit
from surefoot.explain.constraints.actions import Action, Actions
from surefoot.explain.explainer import CounterfactualExplainer
from surefoot.formats import share, wrapped
from surefoot.model.classifier import ConditionalGaussianNetworkClassifier
from surefoot.model.diagnosis import diagnose
from surefoot.ui.report.page import write_report

ROW = 11
WIDTH = 79
BUDGET = 0.05
# What surefoot.select chooses for this table; that takes a minute, so it is not done again here.
SETTINGS: dict[str, Any] = {"structure": "naive", "marginals": "auto", "calibration": "temperature"}
MAY_CHANGE = {
    "duration_months": Action(),
    "credit_amount": Action(),
    "checking_account": Action(values=["0 to 200 DM", "200 DM or more"]),
    "savings": Action(values=["100 to 500 DM", "500 to 1000 DM"]),
    "other_debtors": Action(values=["co-applicant", "guarantor"]),
}
TITLE = "What would have to change for this loan to be granted"
QUESTION = (
    "What is the smallest change after which the loan would be granted, even if amount and duration then "
    f"differ by up to {BUDGET:g} standard deviations? Age, personal status and all else that an applicant "
    "cannot change now must stay. Numbers stay whole; accounts, savings and guarantors take values that an "
    "applicant can reach."
)
HOW_GOOD = "How well does the model predict applicants that it has not seen?"
NEXT = """Try it on your own table:
  surefoot fit DATA.csv --label COLUMN --output model.json
  surefoot explain model.json DATA.csv --row 0 --html report.html"""


def demo(report: str) -> str:
    """Fit German Credit, say how good the model is, explain one refused loan and write its report."""
    german = load_german_credit()
    clf = ConditionalGaussianNetworkClassifier(**SETTINGS).fit(german.X, german.y)
    actions = Actions({name: MAY_CHANGE.get(name, "stay") for name in german.feature_names})
    explainer = CounterfactualExplainer(clf, budget=BUDGET, actions=actions)
    explanation = explainer.explain(german.X.iloc[ROW], target="good")
    write_report(explanation, report, clf, title=TITLE)
    parts = [
        textwrap.fill(_data_text(german), WIDTH),
        wrapped(f"{HOW_GOOD}\n{diagnose(clf, german.X, german.y)}", WIDTH),
        textwrap.fill(_applicant_text(clf, german.X), WIDTH),
        textwrap.fill(QUESTION, WIDTH),
        wrapped(str(explanation), WIDTH),
        NEXT,
    ]
    return "\n\n".join(parts)


def _data_text(german: Dataset) -> str:
    counts = german.y.value_counts()
    numbers = german.X.select_dtypes("number").shape[1]
    classes = ", ".join(f"{counts[name]} {name}" for name in german.class_names)
    people = f"{len(german.X):,} people who applied for a loan ({classes} risks)"
    return f"{german.title}: {people}, {numbers} numbers and {german.X.shape[1] - numbers} categories each."


def _applicant_text(clf: ConditionalGaussianNetworkClassifier, X: pd.DataFrame) -> str:
    row = X.iloc[ROW]
    chance = clf.predict_proba(X.iloc[[ROW]])[0, list(clf.classes_).index("good")]
    loan = f"{row['credit_amount']:,} DM over {row['duration_months']} months"
    means = f"checking account {row['checking_account']}, savings {row['savings']}"
    person = f"{row['age']} years, {row['personal_status']}, {means}"
    verdict = f"is refused: the probability of a good risk is {share(chance)}"
    return f"The applicant in row {ROW} ({person}) asks for {loan} and {verdict}."
