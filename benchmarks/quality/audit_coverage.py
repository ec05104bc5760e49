"""Do the intervals of an audit cover what they should?

A population of ROWS rows (a bundled table, resampled with noise) is audited once: its shares and medians, of
everybody and of each group, are the truth. Then SAMPLES samples of SIZE rows are drawn from it, each is
audited with the same answers, and it is counted how often the 95 % interval holds the truth: "of 100" for the
first hundred samples, "of all" for SAMPLES. "asked" is the mean number of rows asked in a sample. Shares have
Clopper and Pearson's interval, which covers at least as often as it says; medians a bootstrap interval, which
may cover a little less often in small groups, and more often where many costs are the same ("ties": the share
of rows asked with the most frequent cost).

usage: python benchmarks/run.py audit_coverage
       (ROWS=1500, SAMPLES=1000, SIZE=1000 in the environment)
"""

import os
from dataclasses import replace

import numpy as np
import pandas as pd

from benchmarks import cpu_clock  # noqa: F401
from surefoot import ConditionalGaussianNetworkClassifier, CounterfactualExplainer, datasets
from surefoot.explain.population.cases import Cases

COLUMNS = ["table", "group", "figure", "truth", "asked", "ties", "of 100", "of all", "mean width"]
ROWS, SAMPLES = int(os.environ.get("ROWS", 1500)), int(os.environ.get("SAMPLES", 1000))
SIZE = int(os.environ.get("SIZE", 1000))
FIGURES = ("none_share", "cost_median")


def resampled(X, rng):
    """Rows drawn with replacement; numbers miss by a tenth of their spread, within the range of the data."""
    drawn = X.iloc[rng.integers(len(X), size=ROWS)].reset_index(drop=True)
    for name in drawn.select_dtypes("number"):
        column = X[name]
        noise = rng.normal(0, 0.1 * column.std(), ROWS)
        whole = (column % 1 == 0).all()
        moved = (drawn[name] + noise).clip(column.min(), column.max())
        drawn[name] = moved.round() if whole else moved
    return drawn


def pima(rng):
    data = datasets.load_pima()
    clf = ConditionalGaussianNetworkClassifier("tan").fit(data.X, data.y)
    given = {"immutable": ["age", "preg", "plas"], "decreasing": ["mass"], "at_most": 2}
    explainer = CounterfactualExplainer(clf, diagnose=False, whole=False, **given)
    return explainer, resampled(data.X, rng), 0, {"age": [30]}


def german(rng):
    data = datasets.load_german_credit()
    clf = ConditionalGaussianNetworkClassifier("tan").fit(data.X, data.y)
    kept = ["credit_amount", "duration_months", "checking_account", "purpose", "housing", "property"]
    explainer = CounterfactualExplainer(clf, diagnose=False, immutable=kept)
    rows = resampled(data.X, rng)
    return explainer, rows, "good", rows["personal_status"].str.split(" ").str[0].rename("sex")


def sample(audit, drawn):
    """The audit of some of its rows, with the answers that are known."""
    cases = audit.cases
    parts = {name: [getattr(cases, name)[k] for k in drawn] for name in ("blamed", "changed")}
    parts |= {name: [()] * len(drawn) for name in ("principal", "cautions")}
    chosen = Cases(cases.kind[drawn], cases.low[drawn], cases.high[drawn], **parts)
    labels = audit.groups.labels.iloc[drawn].reset_index(drop=True)
    return replace(
        audit,
        frame=audit.frame.iloc[drawn],
        cases=chosen,
        groups=replace(audit.groups, labels=labels),
        explained=audit.explained.iloc[drawn],
    )


def figures(audit):
    """The figures of everybody and of each group, by name."""
    return {"all": audit.overall} | {str(key): line for key, line in audit.by_group.iterrows()}


def rows():
    for name, population in (("Pima", pima), ("German credit", german)):
        rng = np.random.default_rng(0)
        explainer, frame, target, by = population(rng)
        audit = explainer.audit(frame, target, by=by, n_jobs=-1, progress=False)
        truth, ties = figures(audit), tied(audit)
        drawn = [sample(audit, rng.integers(ROWS, size=SIZE)) for _ in range(SAMPLES)]
        found = [figures(one) for one in drawn]
        for group, known in truth.items():
            for figure in FIGURES:
                yield line(name, group, figure, known, [one.get(group) for one in found], ties[group])


def tied(audit):
    """How many of those asked have the most frequent cost, by group."""
    every = {str(key[0]): rows for key, rows in audit.groups.places().items()}
    every["all"] = np.arange(len(audit.frame))
    asked = {key: audit.cases.high[rows[audit.cases.asked[rows]]] for key, rows in every.items()}
    return {key: pd.Series(costs).value_counts(normalize=True).iloc[0] for key, costs in asked.items()}


def line(table, group, figure, truth, found, ties):
    """How often the intervals of one figure hold its truth."""
    found = [one for one in found if one is not None]
    ends = np.array([[one[f"{figure}_low"], one[f"{figure}_high"]] for one in found], dtype=float)
    value = float(truth[figure])
    holds = (ends[:, 0] <= value) & (value <= ends[:, 1])
    widths = ends[np.isfinite(ends).all(axis=1)] @ [-1, 1]
    return {
        "table": table,
        "group": group,
        "figure": figure,
        "truth": f"{value:.3f}",
        "asked": f"{np.mean([one['asked'] for one in found]):.0f}",
        "ties": f"{ties:.0%}",
        "of 100": int(holds[:100].sum()),
        "of all": f"{holds.mean():.1%}",
        "mean width": f"{widths.mean():.3f}",
    }
