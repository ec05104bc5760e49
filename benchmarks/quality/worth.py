"""Answers worth acting on: how typical they are, and whether they survive another model of the same data.

Each table is split in half. The search works with models of one half. Judges are 100 fresh bootstrap refits
of that half, structure and all, and, in columns of their own, what is fitted to the other half: the density
of the target class (kernel density, as the share of its rows that are less typical; 10-LOF, where 1 is
ordinary and more is odd; the share that an isolation forest calls ordinary), logistic regression, random
forest, gradient boosting. Medians over the rows found, but for shares, which are means.

Distances are Mahalanobis, norm inf, and 1 for each changed category, whoever made the point; surefoot has
budget 0.05, gap 1 %, whole=False and 10 seconds for a row ("finished": proven optimal within the gap, or
proven that there is none). Seconds are of CPU, limits too, since the machine was busy; fitting the refits
and setting up the peers are not counted. "floor holds": of the answers asked to be plausible, those that
the checker accepts and whose floor 10,000 samples of the ball keep.

DiCE, NICE and CEML take part where they are installed, with the settings of benchmarks/peers: run it with
benchmarks/peers/.venv/bin/python. CEML takes no network and no categories, and has its plausibility for
linear models only: so it explains a logistic regression, next to surefoot on the same model, on four of the
tables. The peers have 60 seconds for a row.

usage: python benchmarks/run.py [--resume] worth      (ROWS=25 and TABLES=Pima,WDBC in the environment)
"""

import os
import time
from itertools import product

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

from benchmarks.asking import CounterfactualExplainer
from benchmarks.quality.worth_peers import PEERS
from surefoot import ConditionalGaussianNetworkClassifier, adopt, datasets, verify
from surefoot.explain.ask.refits import RefittedModels
from surefoot.explain.result.model_share import fresh_share
from surefoot.model.mixed import log_density

KEY = ["table", "model", "asked"]
COLUMNS = [
    *KEY, "rows", "found", "finished", "valid", "distance", "seconds", "holds under fresh refits", "bound",
    "density share", "10-LOF", "isolation forest", "logistic", "forest", "boosting", "floor holds",
]  # fmt: skip
ROWS = int(os.environ.get("ROWS", 25))
SETTINGS = {"budget": 0.05, "gap": 0.01, "time_limit": 10.0, "whole": False}
SAMPLES = 10_000
ASKED = {
    "plain": {},
    "plausible=0.1": {"plausible": 0.1},
    "plausible=0.5": {"plausible": 0.5},
    "models=50": {"models": 50},
    "models=50, plausible=0.5": {"models": 50, "plausible": 0.5},
}
MODELS = {
    "tree": lambda: ConditionalGaussianNetworkClassifier("tan"),
    "logistic": lambda: make_pipeline(StandardScaler(), LogisticRegression()),
}
LINES = [
    *(("tree", asked) for asked in [*ASKED, "DiCE random", "DiCE genetic", "NICE sparsity", "NICE none"]),
    *(("logistic", asked) for asked in ["plain", "plausible=0.5", "CEML l2", "CEML l1, plausible"]),
]


def wdbc():
    data = load_breast_cancer(as_frame=True)
    return data.data, data.target


def bundled(load):
    data = load()
    return data.X, data.y


# With the class that answers lead to: no diabetes, credit, a forged note, a good signal, a benign lump.
TABLES = {
    "Pima": (lambda: bundled(datasets.load_pima), 0),
    "German credit": (lambda: bundled(datasets.load_german_credit), "good"),
    "Banknote": (lambda: bundled(datasets.load_banknote), 1),
    "Ionosphere": (lambda: bundled(datasets.load_ionosphere), 1),
    "WDBC": (wdbc, 1),
}


def order(line):
    """Where a line stands in the table, whenever it was measured."""
    return list(TABLES).index(line["table"]), LINES.index((line["model"], line["asked"]))


def rows(done=frozenset()):
    cpu_limits()
    tables, cases = os.environ.get("TABLES", ",".join(TABLES)).split(","), {}
    for table, model, asked in sorted(product(tables, MODELS, [*ASKED, *PEERS]), key=slow):
        if (table, model, asked) in done or (model, asked) not in LINES:
            continue
        if (table, model) == ("German credit", "logistic"):
            continue
        if (table, model) not in cases:
            cases[table, model] = Case(table, model)
        yield cases[table, model].line(asked)


def cpu_limits():
    """Time limits count seconds of CPU: what else the machine does must not decide what is finished."""
    time.perf_counter = time.process_time


def slow(line):
    """The quick ones first."""
    table, model, asked = line
    if "models" in asked:
        return 3 if table in ("Ionosphere", "German credit") else 1
    return 2 if model == "logistic" or asked.startswith("DiCE") else 0


class Case:
    """One table in two halves: a classifier and refits of the first, judges of the second."""

    def __init__(self, table, model):
        load, self.target = TABLES[table]
        self.table, self.model = table, model
        X, y = load()
        halves = train_test_split(X, y, test_size=0.5, stratify=y, random_state=0)
        self.X, other, self.y, other_y = halves
        self.original = MODELS[model]().fit(self.X, self.y)
        self.clf = adopt(self.original, (self.X, self.y))
        self.factuals = self.X[self.original.predict(self.X) != self.target].head(ROWS)
        self.refits = RefittedModels(self.original, self.clf, 1, (self.X, self.y))
        self.explainer = CounterfactualExplainer(self.original, data=(self.X, self.y), **SETTINGS)
        self.judges = Judges(other, other_y, self.target)

    def line(self, asked):
        given = self.answers(asked) if asked in ASKED else PEERS[asked](self)
        kept = [k for k, point in enumerate(given["points"]) if point is not None]
        line = {"table": self.table, "model": self.model, "asked": asked}
        line |= {"rows": len(self.factuals), "found": len(kept)}
        line |= {name: given.get(name, "") for name in ("finished", "floor holds")}
        if not kept:
            return dict.fromkeys(COLUMNS, "") | line
        found = pd.DataFrame([given["points"][k] for k in kept], columns=self.X.columns)
        found = found.astype({c: t for c, t in self.X.dtypes.items() if t.kind not in "iuf"})
        distances = [self.distance(self.factuals.iloc[k], found.iloc[i]) for i, k in enumerate(kept)]
        shares = self.shares(found)
        line |= {
            "valid": f"{np.mean(self.original.predict(found) == self.target):.2f}",
            "distance": f"{np.median(distances):.3f}",
            "seconds": f"{np.median(given['seconds']):.3f}",
            "holds under fresh refits": f"{np.mean([s.share for s in shares]):.3f}",
            "bound": f"{np.mean([s.bound for s in shares]):.3f}",
        }
        return line | self.judges(found)

    def answers(self, asked):
        """What surefoot says."""
        asked_for = ASKED[asked]
        explainer = self.explainer.copy(**asked_for)
        if explainer.refits is not None:
            explainer.refits.__dict__["fresh"] = ()  # judged here, once for all ways of asking
        seconds, es = [], []
        for _, row in self.factuals.iterrows():
            start = time.process_time()
            es.append(explainer.explain(row, self.target, on_failure="return"))
            seconds.append(time.process_time() - start)
        found = [e for e in es if e.counterfactual is not None]
        given = {
            "points": [None if e.counterfactual is None else e.counterfactual.to_list() for e in es],
            "seconds": seconds,
            "finished": sum(e.status in ("optimal", "infeasible") for e in es),
        }
        if "plausible" in asked_for:
            others = () if explainer.refits is None else explainer.refits.searched
            held = sum(self.floor_holds(e, asked_for["plausible"], others) for e in found)
            given["floor holds"] = f"{held} of {len(found)}"
        return given

    def floor_holds(self, e, share, others):
        """Whether the checker accepts an answer, and samples of its ball are as typical as was asked."""
        if not verify(e, self.clf, models=others).ok:
            return False
        t = self.clf.classes_.tolist().index(self.target)
        floor = np.interp(100 * share, np.arange(101.0), self.clf.density_percentiles_[t])
        family = e.question.family(self.clf, *others)
        around = np.vstack([np.zeros((1, len(e.answer.point))), family.ball.sample(SAMPLES, 0)])
        states = np.tile(np.array(e.answer.state, dtype=int), (len(around), 1))
        densities = log_density(self.clf.networks_[t], e.answer.point + around, states)
        return bool(densities.min() >= floor - 1e-9 * abs(floor))

    def distance(self, row, point):
        """In surefoot's own measure, whoever made the point."""
        asker = self.explainer.asker
        asked = asker.asked(asker.first, row, self.target, None)
        numbers, state = self.clf.schema_.encode_row(point)
        return asked.question.family(self.clf).distance(state, numbers)

    def shares(self, found):
        asker = self.explainer.asker
        required = asker.builder(asker.first)._requirements(self.target)
        numbers, codes = self.clf.schema_.encode(found)
        return [
            fresh_share(self.refits, required, z, tuple(int(c) for c in state))
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
