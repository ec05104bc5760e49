"""Answers worth acting on: how typical they are, and whether they survive another model of the same data.

Each table is split in half. The search works with models of one half. Judges are 100 fresh bootstrap refits
of that half and, in columns of their own, what is fitted to the other half: the density of the target class
(kernel density, as the share of its rows that are less typical; 10-LOF, where 1 is ordinary and more is odd;
the share that an isolation forest calls ordinary), logistic regression, random forest, gradient boosting.
Medians over the rows, but for shares. Distances are Mahalanobis, norm inf; budget 0.05, gap 1 %, whole=False.
NICE takes part where it is installed: run it with benchmarks/peers/.venv/bin/python.

usage: python benchmarks/run.py [--resume] worth      (ROWS=25 and TABLES=Pima,WDBC in the environment)
"""

import os
import time
import warnings

import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import HistGradientBoostingClassifier, IsolationForest, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KernelDensity, LocalOutlierFactor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler

from surefoot import ConditionalGaussianNetworkClassifier, CounterfactualExplainer, datasets
from surefoot.explain.refits import Refits

KEY = ["table", "asked"]
COLUMNS = [
    "table", "asked", "rows", "found", "distance", "seconds", "holds under fresh refits", "bound",
    "density share", "10-LOF", "isolation forest", "logistic", "forest", "boosting",
]  # fmt: skip
ROWS = int(os.environ.get("ROWS", 25))
BUDGET, REFITS, LIMIT = 0.05, 50, 30.0
ASKED = {
    "plain": {},
    "plausible=0.1": {"plausible": 0.1},
    "plausible=0.5": {"plausible": 0.5},
    "models=50": {"models": REFITS},
    "models=50, plausible=0.5": {"models": REFITS, "plausible": 0.5},
}


def wdbc():
    data = load_breast_cancer(as_frame=True)
    return data.data, data.target


def bundled(load):
    data = load()
    return data.X, data.y


TABLES = {
    "Pima": lambda: bundled(datasets.load_pima),
    "German credit": lambda: bundled(datasets.load_german_credit),
    "Banknote": lambda: bundled(datasets.load_banknote),
    "Ionosphere": lambda: bundled(datasets.load_ionosphere),
    "WDBC": wdbc,
}


def rows(done=frozenset()):
    chosen = os.environ.get("TABLES", ",".join(TABLES)).split(",")
    for table in chosen:
        left = [asked for asked in [*ASKED, *peers()] if (table, asked) not in done]
        if left:
            case = Case(table, *TABLES[table]())
            for asked in left:
                yield case.line(asked)


class Case:
    """One table in two halves: a classifier and refits of the first, judges of the second."""

    def __init__(self, table, X, y):
        self.table = table
        halves = train_test_split(X, y, test_size=0.5, stratify=y, random_state=0)
        self.X, self.other, self.y, self.other_y = halves
        self.clf = ConditionalGaussianNetworkClassifier("tan").fit(self.X, self.y)
        self.fresh = Refits(self.clf, self.clf, 1, (self.X, self.y))
        self.factuals = self.X[self.clf.predict(self.X) == self.clf.classes_[0]].head(ROWS)
        self.target = self.clf.classes_[1]
        if table == "German credit":  # refused applicants
            self.factuals = self.X[self.clf.predict(self.X) == "bad"].head(ROWS)
            self.target = "good"
        self.judges = Judges(self.other, self.other_y, self.target)

    def line(self, asked):
        points, seconds, distances = self.answers(asked)
        found = pd.DataFrame([p for p in points if p is not None], columns=self.X.columns)
        found = found.astype(self.X.dtypes.to_dict(), errors="ignore")
        entry = {"table": self.table, "asked": asked, "rows": len(points), "found": len(found)}
        if not len(found):
            return entry | dict.fromkeys(COLUMNS[4:], "")
        shares = self.shares(found)
        entry |= {
            "distance": f"{np.median(distances):.3f}" if distances else "",
            "seconds": f"{np.median(seconds):.3f}",
            "holds under fresh refits": f"{np.mean([s.share for s in shares]):.3f}",
            "bound": f"{np.mean([s.bound for s in shares]):.3f}",
        }
        return entry | self.judges(found)

    def answers(self, asked):
        if asked not in ASKED:
            return peers()[asked](self)
        settings = {"budget": BUDGET, "gap": 0.01, "time_limit": LIMIT, "whole": False, **ASKED[asked]}
        explainer = CounterfactualExplainer(self.clf, data=(self.X, self.y), **settings)
        if explainer.refits is not None:
            explainer.refits.__dict__["fresh"] = ()  # judged here, once for all ways of asking
        points, seconds, distances = [], [], []
        for _, row in self.factuals.iterrows():
            start = time.perf_counter()
            e = explainer.explain(row, self.target, on_failure="return")
            seconds.append(time.perf_counter() - start)
            points.append(None if e.counterfactual is None else e.counterfactual.to_list())
            distances += [] if e.counterfactual is None else [e.distance]
        return points, seconds, distances

    def shares(self, found):
        explainer = CounterfactualExplainer(self.clf, whole=False)
        required = explainer._current_asker()._requirements(self.target, self.clf.classes_.tolist())
        numbers, codes = self.clf.schema_.encode(found)
        return [
            self.fresh.share(required, z, tuple(int(c) for c in state))
            for z, state in zip(numbers, codes, strict=True)
        ]


class Judges:
    """What the other half of the rows says about answers."""

    def __init__(self, X, y, target):
        self.target = target
        words = [c for c in X if not pd.api.types.is_numeric_dtype(X[c])]
        onto = make_column_transformer(
            (OneHotEncoder(handle_unknown="ignore", sparse_output=False), words), remainder=StandardScaler()
        )
        codes = make_column_transformer(
            (OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1), words),
            remainder="passthrough",
        )
        self.onto = onto.fit(X)
        Z = self.onto.transform(X[y == target])
        self.kernel = KernelDensity(bandwidth="scott").fit(Z[::2])  # a row must not judge itself
        self.own = np.sort(self.kernel.score_samples(Z[1::2]))
        self.lof = LocalOutlierFactor(10, novelty=True).fit(Z)
        self.forest = IsolationForest(random_state=0).fit(Z)
        self.models = {
            "logistic": make_pipeline(onto, LogisticRegression(max_iter=2000)),
            "forest": make_pipeline(codes, RandomForestClassifier(300, random_state=0)),
            "boosting": make_pipeline(codes, HistGradientBoostingClassifier(random_state=0)),
        }
        for model in self.models.values():
            model.fit(X, y)

    def __call__(self, found):
        Z = self.onto.transform(found)
        share = np.searchsorted(self.own, self.kernel.score_samples(Z)) / len(self.own)
        return {
            "density share": f"{np.median(share):.2f}",
            "10-LOF": f"{np.median(-self.lof.score_samples(Z)):.2f}",
            "isolation forest": f"{np.mean(self.forest.predict(Z) == 1):.2f}",
            **{name: f"{np.mean(m.predict(found) == self.target):.2f}" for name, m in self.models.items()},
        }


def peers():
    """What of NICE and DiCE is installed here."""
    found = {}
    try:
        from nice import NICE

        found["NICE"] = lambda case: nice(case, NICE)
    except ImportError:
        pass
    return found


def nice(case, maker):
    """NICE with its default, the nearest unlike neighbour made sparse; numbers only."""
    words = [c for c in case.X if not pd.api.types.is_numeric_dtype(case.X[c])]
    if words:
        return [None] * len(case.factuals), [], []
    names = list(case.X.columns)

    def chances(values):
        return case.clf.predict_proba(pd.DataFrame(values, columns=names))

    t = case.clf.classes_.tolist().index(case.target)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        explainer = maker(
            predict_fn=chances,
            X_train=case.X.to_numpy(copy=True),
            cat_feat=[],
            y_train=np.searchsorted(case.clf.classes_, case.y),
            optimization="sparsity",
        )
        points, seconds = [], []
        for _, row in case.factuals.iterrows():
            start = time.perf_counter()
            points.append(explainer.explain(row.to_numpy(copy=True)[None], [t])[0].tolist())
            seconds.append(time.perf_counter() - start)
    metric = CounterfactualExplainer(case.clf, whole=False, bounds=None)
    ways = []
    for (_, row), point in zip(case.factuals.iterrows(), points, strict=True):
        ways.append(metric.problem(row, case.target).distance(point))
    return points, seconds, ways
