"""Three hundred requests of every kind: seeded, so that two versions of surefoot can be asked the same."""

from dataclasses import replace

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from surefoot import Actions, ConditionalGaussianNetworkClassifier, datasets
from tests.random_actions import FIRST, priced, random_actions

COUNT = 300
KINDS = ("explain", "explain", "explain", "explain", "alternatives", "batch", "trade_off", "infeasible")


def tables():
    """Name -> (X, y): numbers, whole numbers, categories, several classes."""
    found = {
        "banknote": datasets.load_banknote(),
        "pima": datasets.load_pima(),
        "german": datasets.load_german_credit(),
    }
    known = {name: (data.X, data.y) for name, data in found.items()}
    for name, load in (("iris", load_iris), ("wine", load_wine), ("wdbc", load_breast_cancer)):
        data = load(as_frame=True)
        labels = data.target.map(dict(enumerate(map(str, data.target_names))))
        known[name] = data.data.iloc[:, :8], labels
    return known


def models(known):
    """Name -> (table, fitted model): networks of all kinds, curved scales, calibration, an adopted model."""
    made = {}
    for name, (X, y) in known.items():
        for structure in ("naive", "tan"):
            made[f"{name} {structure}"] = name, ConditionalGaussianNetworkClassifier(structure).fit(X, y)
    curved = ConditionalGaussianNetworkClassifier("naive", marginals="power", calibration="temperature")
    made["pima curved"] = "pima", curved.fit(*known["pima"])
    X, y = known["wdbc"]
    made["wdbc logistic"] = "wdbc", make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y)
    return made


def drawn(seed, known, made):
    """A request: its kind, the model's name, the explainer's arguments, rows, target."""
    rng = np.random.default_rng([20261118, seed])
    kind = str(rng.choice(KINDS))
    name = str(rng.choice(list(made)))
    table, model = made[name]
    X, y = known[table]
    categories = getattr(model, "categories_", {})
    numbers = [str(n) for n in X if n not in categories]
    settings = _settings(rng, name, X, y, numbers)
    if rng.random() < 0.6:
        settings["actions"] = _actions(rng, X, categories, settings)
    if kind == "infeasible":
        held = [str(n) for n in X if rng.random() < 0.95]
        settings["immutable"] = [n for n in held if n not in settings.get("actions", Actions()).features]
    rows = X.iloc[rng.choice(len(X), 4 if kind == "batch" else 1, replace=False)]
    labels = sorted(set(y))
    others = [label for label in labels if label != model.predict(rows)[0]]
    some = labels if rng.random() < 0.1 else others
    target = some[int(rng.integers(len(some)))]
    return kind, name, settings, rows, target


def _settings(rng, name, X, y, numbers):
    settings = {
        "norm": [np.inf, 1, 2][int(rng.integers(3))],
        "budget": float(rng.choice([0.0, 0.02, 0.05])),
        "threshold": 0.5 if "logistic" in name else float(rng.choice([0.5, 0.5, 0.7])),
        "whitening": str(rng.choice(["cholesky", "dag", "zca"])),
        "gap": 0.02,
        "time_limit": 20.0,
    }
    if "logistic" in name:
        settings["data"] = X, y
    if rng.random() < 0.15 and "curved" not in name:
        settings["budget"] = {n: float(np.round(0.05 * X[n].std(), 3)) for n in numbers[:2]}
    if rng.random() < 0.2:
        settings["plausible"] = float(rng.choice([0.05, 0.2]))
    elif rng.random() < 0.1 and "curved" not in name:
        settings["plausible"] = ("conditional", 2.0)
    if rng.random() < 0.15:
        settings["bounds"] = None
    if rng.random() < 0.15:
        settings["distance"] = "cost"
    if rng.random() < 0.05 and "logistic" not in name:
        settings |= {"models": 2, "data": (X, y)}
    if rng.random() < 0.2:
        settings |= {"increasing": numbers[:1], "decreasing": numbers[1:2], "noise_on": "all"}
    return settings


def _actions(rng, X, categories, settings):
    actions = random_actions(rng, pd.DataFrame(X), categories, FIRST)
    if settings.get("distance") == "cost":
        actions = priced(rng, actions, [n for n in X if n not in categories])
    named = {*settings.get("increasing", ()), *settings.get("decreasing", ())}
    features = {n: action for n, action in actions.features.items() if n not in named}
    return replace(actions, features=features)
