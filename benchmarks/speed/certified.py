"""The certified search against Gurobi and SCIP on the paper's QCQP, as printed: same rows, gap 1 %, one run.

usage: python benchmarks/run.py certified      (p = infinity, whole space; ours on one thread; a few rows
                                                must do where a run of theirs may take a minute)
"""

import warnings

import numpy as np

from benchmarks.asking import CounterfactualExplainer
from benchmarks.speed.paper_methods import AS_PRINTED, STRUCTURES
from surefoot import ConditionalGaussianNetworkClassifier, datasets, verify

COLUMNS = [
    "data", "structure", "direction", "budget", "runs", "certified, gap 1 % (median s)", "Gurobi (median s)",
    "Gurobi runs", "Gurobi timeouts", "SCIP (median s)", "SCIP runs", "SCIP timeouts", "Gurobi : certified",
    "SCIP : certified", "largest excess over their points", "certified, gap 0.1 % (median s)", "(most)",
    "largest gap", "least coverage", "verified", "gap 0.01 % reached",
]  # fmt: skip
KEY = COLUMNS[:4]
LIMIT = 60.0
DATA = {"Banknote": "load_banknote", "Pima": "load_pima", "Ionosphere": "load_ionosphere"}
SLOW = {("Ionosphere", "TAN"), ("Ionosphere", "BAN, 2 parents")}


def factuals(clf, data, origin, count, seed=0):
    """Rows that are classified as the class to start from, drawn with a seed."""
    rows = np.flatnonzero(clf.predict(data.X) == origin)
    return data.X.iloc[np.sort(np.random.default_rng(seed).choice(rows, count, replace=False))]


def run(clf, rows, target, **settings):
    explainer = CounterfactualExplainer(clf, bounds=None, whole=False, time_limit=LIMIT, **settings)
    with AS_PRINTED:
        return [explainer.explain(row, target, on_failure="return") for _, row in rows.iterrows()]


def seconds(found):
    return float(np.median([min(e.seconds, LIMIT) for e in found])) if found else np.nan


def excess(found, others):
    """How much longer ours is than another method's, at worst; points that are not robust do not count."""
    pairs = [(e, o) for e, o in zip(found, others, strict=False) if o.coverage > 0.98]
    return max((e.distance / o.distance - 1 for e, o in pairs), default=np.nan)


def measured(clf, data, target, budget, slow):
    chosen = factuals(clf, data, 1 - target, 25)
    few = 2 if slow else 25
    settings = {"budget": budget}
    rough = run(clf, chosen, target, gap=0.01, **settings)
    gurobi = run(clf, chosen.iloc[:few], target, method="qcqp", backend="gurobi", **settings)
    scip = run(clf, chosen.iloc[: 0 if slow else 5], target, method="qcqp", backend="scip", **settings)
    fine = run(clf, chosen, target, **settings)
    finest = run(clf, chosen.iloc[: 8 if slow else 25], target, gap=1e-4, **settings)
    return [
        len(rough), f"{seconds(rough):.4f}", f"{seconds(gurobi):.4f}", len(gurobi),
        sum(e.status != "optimal" for e in gurobi), f"{seconds(scip):.4f}", len(scip),
        sum(e.status != "optimal" for e in scip),
        f"{seconds(gurobi) / seconds(rough[:few]):.1f}", f"{seconds(scip) / seconds(rough[:5]):.1f}",
        f"{np.nanmax([excess(fine, gurobi), excess(fine, scip), -1]):.3%}",
        f"{seconds(fine):.4f}", f"{max(e.seconds for e in fine):.2f}", f"{max(e.gap for e in fine):.2e}",
        f"{min(e.coverage for e in fine):.0%}",
        f"{sum(verify(e, clf).ok for e in rough + fine)}/{2 * len(fine)}",
        f"{sum(e.gap <= 1e-4 for e in finest)}/{len(finest)}",
    ]  # fmt: skip


def models():
    """Data set, structure, what loads the one and shapes the other, and the fitted classifier."""
    for title, load in DATA.items():
        data = getattr(datasets, load)()
        for name, shape in STRUCTURES.items():
            if title == "Banknote" and name == "BAN, 2 parents":
                continue  # no feature has more than two parents there anyway
            clf = ConditionalGaussianNetworkClassifier(**shape).fit(data.X, data.y)
            if title == "Ionosphere" and name == "BAN" and max(map(len, clf.dag_.parents)) <= 2:
                continue
            yield title, name, load, shape, clf


def rows(done=()):
    warnings.simplefilter("error")
    for title, name, load, _, clf in models():
        data = getattr(datasets, load)()
        for target in (1, 0):
            for budget in (0.01, 0.05):
                head = [title, name, f"{1 - target} -> {target}", budget]
                if tuple(map(str, head)) in done:
                    continue
                found = measured(clf, data, target, budget, (title, name) in SLOW)
                yield dict(zip(COLUMNS, head + found, strict=True))


def plot(frame, path):
    """Median seconds of the three, row by row, on a logarithmic axis."""
    import matplotlib.pyplot as plt

    labels = [f"{d} {s}, {w}, {b}" for d, s, w, b in frame[COLUMNS[:4]].itertuples(index=False)]
    place = np.arange(len(frame))[::-1]
    figure, ax = plt.subplots(figsize=(8, 0.24 * len(frame) + 1.4), layout="constrained")
    for column, marker, label in (
        (COLUMNS[5], "o", "certified (one thread)"),
        (COLUMNS[6], "s", "Gurobi, the paper's QCQP"),
        (COLUMNS[9], "^", "SCIP, the paper's QCQP"),
    ):
        ax.plot(frame[column].astype(float), place, marker, label=label, markersize=5)
    ax.axvline(LIMIT, color="0.6", linewidth=0.8, linestyle="--")
    ax.set(xscale="log", xlabel="median seconds per explanation, gap 1 % (dashed: stopped at 60 s)")
    ax.set_yticks(place, labels, fontsize=7)
    ax.grid(axis="x", color="0.9")
    ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=3, frameon=False, fontsize=8)
    figure.savefig(path, dpi=150)
