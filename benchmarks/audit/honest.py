"""Honest answers before the checker: how many are accepted, and how long checking takes.

Three data sets, all norms, both directions, budgets 0 to 0.25, with and without a domain; and random
networks with random requests (whole numbers, kept features, budgets by feature). Times by leaves.

usage: python benchmarks/run.py honest       (HONEST=2000 and RANDOM=1000 in the environment)
"""

import json
import os
import time

import numpy as np
import pandas as pd

from benchmarks.asking import CounterfactualExplainer
from surefoot import (
    Action,
    Actions,
    ConditionalGaussianNetworkClassifier,
    Explanation,
    datasets,
)
from surefoot.exceptions import ProblemError
from surefoot.model.content import classifier_content
from surefoot.proof import exact

COLUMNS = [
    "answers", "features", "leaves", "count", "accepted", "not finished", "median ms",
    "median ms a leaf", "most ms",
]  # fmt: skip
HONEST, RANDOM = int(os.environ.get("HONEST", 2000)), int(os.environ.get("RANDOM", 1000))
LOADERS = {
    "Banknote": datasets.load_banknote, "Pima": datasets.load_pima, "Ionosphere": datasets.load_ionosphere,
}  # fmt: skip
BUDGETS, NORMS = (0.0, 0.01, 0.05, 0.25), (np.inf, 2, 1)
FOUND = ["features", "leaves", "finished", "ms", "accepted"]
LEAVES = ((1, 2), (3, 10), (11, 100), (101, 10**6))


def data_set_answers(name, count):
    """Random rows of one data set with random settings."""
    rng, data = np.random.default_rng([1, len(name)]), LOADERS[name]()
    models = {s: ConditionalGaussianNetworkClassifier(s).fit(data.X, data.y) for s in ("tan", "naive")}
    for _ in range(count):
        clf = models[rng.choice(["tan", "naive"])]
        kept = [c for c in data.X.columns if rng.random() < 0.1] if rng.random() < 0.3 else []
        explainer = CounterfactualExplainer(
            clf,
            budget=float(rng.choice(BUDGETS)),
            norm=NORMS[rng.integers(3)],
            bounds=["data", None][rng.integers(2)],
            immutable=kept,
            whole=False,
            time_limit=2.0,
        )
        row = data.X.iloc[rng.integers(len(data.X))]
        yield clf, explainer.explain(row, target=int(rng.integers(2)), on_failure="return")


def random_answers(count):
    """Random networks with up to six features, and random requests."""
    for seed in range(count):
        rng = np.random.default_rng([2, seed])
        n = int(rng.integers(1, 7))
        data = datasets.synthetic(80, n, edge_density=0.5, class_separation=2.0, random_state=seed)
        clf = ConditionalGaussianNetworkClassifier(["tan", "naive"][rng.integers(2)]).fit(data.X, data.y)
        names = list(data.X.columns)
        whole = {c: Action(whole=True) for c in names if rng.random() < 0.2}
        budget = float(rng.choice(BUDGETS))
        if rng.random() < 0.2:
            budget = {c: (0.02, 0.1) for c in names if rng.random() < 0.5} or budget
        row = data.X.iloc[rng.integers(len(data.X))]
        try:
            explainer = CounterfactualExplainer(
                clf,
                budget=budget,
                norm=NORMS[rng.integers(3)],
                bounds=["data", None][rng.integers(2)],
                whitening=["cholesky", "dag", "zca"][rng.integers(3)],
                actions=Actions(whole),
                immutable=[c for c in names if c not in whole and rng.random() < 0.1],
                time_limit=2.0,
            )
            yield clf, explainer.explain(row, on_failure="return")
        except ProblemError:
            continue


def checked(clf, e):
    """The checker's verdict on the file, and its time."""
    model = json.loads(json.dumps(classifier_content(clf)))
    document = json.loads(Explanation.from_json(e.to_json()).to_json())
    found = {"features": len(e.factual), "leaves": json.dumps(document["certificate"]).count('"level"')}
    found["finished"] = str(e.status) in ("optimal", "already_target", "infeasible")
    start = time.process_time()
    claims = exact.check([model], document)
    found["ms"] = 1e3 * (time.process_time() - start)
    refused = [claim for claim in claims if claim.verdict != exact.HOLDS]
    found["accepted"] = not refused
    if refused:
        print(e.status, e.row, [tuple(claim) for claim in refused], flush=True)
    return found


def rows():
    sources = [(name, data_set_answers(name, HONEST // 3)) for name in LOADERS]
    sources.append(("random", random_answers(RANDOM)))
    for name, answers in sources:
        table = pd.DataFrame([checked(clf, e) for clf, e in answers], columns=FOUND)
        for low, high in LEAVES:
            part = table[(table["leaves"] >= low) & (table["leaves"] <= high)]
            if len(part):
                yield summary(name, f"{low} to {high}" if high < 10**6 else f"{low} and more", part)


def summary(name, leaves, part):
    return {
        "answers": name,
        "features": "/".join(map(str, sorted({part["features"].min(), part["features"].max()}))),
        "leaves": leaves,
        "count": len(part),
        "accepted": int(part["accepted"].sum()),
        "not finished": int((~part["finished"]).sum()),
        "median ms": f"{part['ms'].median():.1f}",
        "median ms a leaf": f"{(part['ms'] / part['leaves']).median():.2f}",
        "most ms": f"{part['ms'].max():.0f}",
    }
