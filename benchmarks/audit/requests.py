"""Random requests with fixed, rising, falling and bounded features: how often is one of them violated?

usage: python benchmarks/run.py requests      (2,000 requests over three data sets and three methods)
"""

from collections import Counter

import numpy as np

from benchmarks.asking import CounterfactualExplainer
from surefoot import ConditionalGaussianNetworkClassifier, datasets
from surefoot.exceptions import ProblemError

COLUMNS = [
    "data", "method", "requests", "with a counterfactual", "infeasible", "of these with a way out named",
    "refused (contradiction named)", "out of time", "violated",
]  # fmt: skip
KEY = COLUMNS[:2]
LOADERS = {
    "Banknote": datasets.load_banknote, "Pima": datasets.load_pima, "Ionosphere": datasets.load_ionosphere,
}  # fmt: skip
SHARES = {"certified": 366, "qcqp": 200, "milp": 101}  # of each data set
LIMITS = {"certified": 5.0, "qcqp": 1.5, "milp": 1.0}


def random_request(rng, data):
    """What a user might say about features: each in one of five ways, or not at all."""
    names = list(data.X.columns)
    kinds = rng.choice(
        ["free", "immutable", "increasing", "decreasing", "bounded"],
        len(names),
        p=[0.5, 0.1, 0.12, 0.12, 0.16],
    )
    said = {
        kind: [n for n, k in zip(names, kinds, strict=True) if k == kind]
        for kind in ("immutable", "increasing", "decreasing")
    }
    bounds = {}
    for name, kind in zip(names, kinds, strict=True):
        if kind == "bounded":
            low, high = np.sort(data.X[name].sample(2, random_state=rng.integers(2**32)))
            bounds[name] = (float(low), float(high) + 1e-6)
    return {**said, "bounds": bounds or ["data", None][rng.integers(2)]}


def broken(e, request, slack=1e-9):
    """Whether a counterfactual does what it was told not to; up to rounding."""
    x, x0 = e.counterfactual, e.factual
    bounds = request["bounds"] if isinstance(request["bounds"], dict) else {}
    tol = slack * np.maximum(1.0, np.abs(x))
    return (
        any(x[name] != x0[name] for name in request["immutable"])
        or any(x[name] < x0[name] - tol[name] for name in request["increasing"])
        or any(x[name] > x0[name] + tol[name] for name in request["decreasing"])
        or any(not low - tol[n] <= x[n] <= high + tol[n] for n, (low, high) in bounds.items())
        or bool((x < e.low - tol).any() or (x > e.high + tol).any())
    )


def asked(clf, data, method, rng):
    """The outcome of one random request, in a word."""
    request = random_request(rng, data)
    budget, norm = (
        rng.choice([0.0, 0.01, 0.05]),
        rng.choice([np.inf, 1.0] if method == "milp" else [np.inf, 2.0, 1.0]),
    )
    row = data.X.iloc[rng.integers(len(data.X))]
    try:
        explainer = CounterfactualExplainer(
            clf, method=method, budget=budget, norm=norm, whole=False, time_limit=LIMITS[method], **request
        )
        e = explainer.explain(row, on_failure="return")
    except ProblemError:
        return "refused"
    if e.counterfactual is not None:
        return "violated" if broken(e, request) else "kept"
    if e.status == "infeasible":
        return "named" if "There is one if" in e.advice else "infeasible"
    return "out of time"


def rows(done=()):
    for name, load in LOADERS.items():
        data = load()
        clf = ConditionalGaussianNetworkClassifier("tan").fit(data.X, data.y)
        for method, share in SHARES.items():
            if (name, method) in done:
                continue
            rng = np.random.default_rng([7, len(name), len(method)])
            counts = Counter(asked(clf, data, method, rng) for _ in range(share))
            yield {
                "data": name,
                "method": method,
                "requests": share,
                "with a counterfactual": counts["kept"] + counts["violated"],
                "infeasible": counts["infeasible"] + counts["named"],
                "of these with a way out named": counts["named"],
                "refused (contradiction named)": counts["refused"],
                "out of time": counts["out of time"],
                "violated": counts["violated"],
            }
