"""Questions that once ran to the limit, or past it: how long they take, and what they answer.

Each is asked in a process of its own, with the code here and, where BEFORE names the `src` of another
checkout, with that too. Seconds are wall clock, from the question to the answer; "over" is what an answer
took beyond its limit.

usage: [BEFORE=/elsewhere/src] python benchmarks/run.py [--resume] hangs      (LIMIT=10 in the environment)
"""

import inspect
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

COLUMNS = ["question", "norm", "code", "limit", "seconds", "over", "status", "distance", "gap", "coverage"]
KEY = COLUMNS[:3]
LIMIT = float(os.environ.get("LIMIT", 10))
HERE = str(Path(__file__).parents[2] / "src")
CODES = {name: path for name, path in (("before", os.environ.get("BEFORE")), ("now", HERE)) if path}


def credit():
    """The seven numbers of German credit and sex as 0 or 1."""
    from surefoot import datasets

    data = datasets.load_german_credit()
    numbers = data.X.select_dtypes("number").astype(float)
    sex = data.X["personal_status"].str.startswith("woman").astype(float)
    return numbers.assign(sex=sex).to_numpy(), (data.y == "good").to_numpy(dtype=int), [*numbers, "sex"]


def pima():
    from surefoot import datasets

    data = datasets.load_pima()
    return data.X.to_numpy(dtype=float), data.y.to_numpy(), list(data.X)


def far():
    """Pima with one row that is a million standard deviations off in one value."""
    X, y, names = pima()
    return np.vstack([X, X[0] + np.eye(len(names))[1] * 1e6 * X[:, 1].std()]), np.append(y, y[0]), names


def wide():
    """300 columns and 40 rows."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 20)
    X = rng.normal(size=(40, 300)) + 0.5 * y[:, None]
    return X, y, [f"x{j}" for j in range(300)]


def linear():
    """Two classes with one covariance in 58 dimensions: the decision is linear."""
    rng = np.random.default_rng(1)
    n = 58
    y = np.repeat([0, 1], 300)
    X = rng.normal(size=(600, n)) @ (np.eye(n) + 0.1 * rng.normal(size=(n, n))) + 0.4 * y[:, None]
    return X, y, [f"x{j}" for j in range(n)]


def ionosphere():
    from surefoot import datasets

    data = datasets.load_ionosphere()
    return data.X.to_numpy(dtype=float), data.y.to_numpy(), list(data.X)


# Table, row, norms, settings of the explainer; the far row is judged by a model that never saw it.
QUESTIONS = {
    "German credit, a radius that touches": (
        credit,
        736,
        ["inf"],
        {"budget": 0.25, "immutable": ["age", "sex"]},
    ),
    "a far factual, open": (far, -1, ["inf", "2", "1"], {"budget": 0.05, "bounds": None}),
    "a far factual, within the data": (far, -1, ["inf", "2", "1"], {"budget": 0.05}),
    "300 columns, 40 rows": (wide, 0, ["inf", "2", "1"], {"budget": 0.05}),
    "a linear decision in 58 dimensions": (linear, 0, ["1"], {"budget": 0.05}),
    "a linear decision in 58 dimensions, open": (linear, 0, ["1"], {"budget": 0.05, "bounds": None}),
    "Ionosphere with 0.05 s": (ionosphere, 0, ["1", "2", "inf"], {"budget": 0.05, "time_limit": 0.05}),
}


def rows(done=()):
    for question, (table, row, norms, settings) in QUESTIONS.items():
        with tempfile.TemporaryDirectory() as folder:
            X, y, names = table()
            np.savez(Path(folder) / "table.npz", X=X, y=y, names=np.array(names))
            for norm in norms:
                for code, source in CODES.items():
                    if (question, norm, code) not in done:
                        asked = {"row": row, "norm": norm, "linear": table is linear, **settings}
                        yield {
                            "question": question,
                            "norm": norm,
                            "code": code,
                            **answered(folder, asked, source),
                        }


def answered(folder, asked, source):
    asked.setdefault("time_limit", LIMIT)
    child = subprocess.run(
        [sys.executable, __file__, folder, json.dumps(asked)],
        env={**os.environ, "PYTHONPATH": source, "OPENBLAS_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=3600,
    )
    if child.returncode:
        return {"limit": asked["time_limit"], "status": child.stderr.strip().splitlines()[-1][:100]}
    return json.loads(child.stdout)


def ask(folder, row, norm, time_limit, linear, **settings):
    """In the child: fit, explain once to load everything, then the question itself."""
    import pandas as pd

    from surefoot import ConditionalGaussianNetworkClassifier, CounterfactualExplainer

    with np.load(Path(folder) / "table.npz") as table:
        X, y = pd.DataFrame(table["X"], columns=table["names"]), table["y"]
    fit = len(X) - 1 if row == -1 else len(X)
    clf = ConditionalGaussianNetworkClassifier("tan")
    if linear:
        from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

        clf = LinearDiscriminantAnalysis(solver="lsqr", store_covariance=True)
    clf.fit(X.iloc[:fit], y[:fit])
    settings["norm"] = float(norm)
    known = inspect.signature(CounterfactualExplainer).parameters  # the older code knows fewer
    named = {"whole": False, "preset": "paper", "bounds": "data"}
    settings |= {name: value for name, value in named.items() if name in known}
    if linear:
        settings["data"] = X.iloc[:fit], y[:fit]
    warm = CounterfactualExplainer(clf, time_limit=1.0, **{**settings, "budget": 0.0})
    warm.explain(X.iloc[1], on_failure="return")
    explainer = CounterfactualExplainer(clf, time_limit=time_limit, **settings)
    start = time.perf_counter()
    e = explainer.explain(X.iloc[row], on_failure="return")
    seconds = time.perf_counter() - start
    return {
        "limit": time_limit,
        "seconds": round(seconds, 3),
        "over": round(max(0.0, seconds - time_limit), 2),
        "status": str(e.status),
        "distance": f"{e.distance:.6g}",
        "gap": f"{e.gap:.2e}",
        "coverage": f"{e.coverage:.3g}",
    }


if __name__ == "__main__":
    print(json.dumps(ask(sys.argv[1], **json.loads(sys.argv[2]))))
