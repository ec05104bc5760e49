"""Honest answers of the search, one or more for every part of the format, from models of a few features."""

import json
import math
from dataclasses import dataclass, replace
from functools import cache, cached_property

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

from benchmarks.asking import CounterfactualExplainer
from benchmarks.audit.forging.facts import Facts
from surefoot import (
    Action,
    Actions,
    ConditionalGaussianNetworkClassifier,
    adopt,
    datasets,
)
from surefoot.model.content import classifier_content
from surefoot.proof import exact

INF = math.inf


@dataclass(frozen=True)
class Honest:
    """An answer of the search, with its classifiers."""

    name: str
    classifiers: tuple  # the explained one, and others that its question names
    text: str
    points: tuple = ()  # numbers and state, of this and other questions about the same row

    @cached_property
    def contents(self):
        return [classifier_content(clf) for clf in self.classifiers]

    @cached_property
    def facts(self):
        return [Facts(content) for content in self.contents]

    @cached_property
    def document(self):
        return json.loads(self.text)

    @property
    def row(self):
        return self.classifiers[0], self.document["factual"]["values"]

    @property
    def point(self):
        found = self.document["counterfactual"]
        return None if found is None else self.facts[0].split(found["values"])


def fitted(data, **settings):
    return ConditionalGaussianNetworkClassifier(**settings).fit(data.X, data.y)


@cache
def loans():
    """Two numbers that are skewed, and two categories."""
    rng = np.random.default_rng(3)
    good = rng.random(500) < 0.5
    housing = np.where(
        good,
        rng.choice(["own", "rent", "free"], 500, p=[0.6, 0.3, 0.1]),
        rng.choice(["own", "rent", "free"], 500),
    )
    income = rng.gamma(3, 1.0, 500) + 1.5 * good + 0.5 * (housing == "own")
    debt = rng.gamma(2, 1.0, 500) * np.where(good, 0.7, 1.2)
    phone = rng.random(500) < np.where(good, 0.7, 0.4)
    X = pd.DataFrame({"income": income.round(3), "housing": housing, "debt": debt.round(3), "phone": phone})
    return X, pd.Series(np.where(good, "good", "bad"))


def refused(clf, X):
    """The first row that is called bad."""
    return X.iloc[int(np.flatnonzero(clf.predict(X) == "bad")[0])]


def of_categories():
    """Names, classifiers, rows and what is asked: mixed models, curved scales, calibration."""
    X, y = loans()
    for said in ({}, {"marginals": "power"}, {"calibration": "temperature", "structure": "naive"}):
        clf = ConditionalGaussianNetworkClassifier(**said).fit(X, y)
        row, words = refused(clf, X), " ".join(map(str, said.values())) or "gaussian"
        for norm in (INF, 2, 1):
            yield f"categories, {words}, {norm}", clf, row, {"norm": norm, "budget": 0.05}
        yield f"plausible, {words}", clf, row, {"norm": 2, "plausible": 0.1, "budget": 0.02}
        few = Actions(
            {"housing": Action(cost={"own": 0.3, "rent": 0.1})},
            at_most=2,
            when=[("phone changes", "income rises")],
        )
        yield f"few of categories, {words}", clf, row, {"norm": 2, "actions": few}
        kept = Actions(
            {"phone": "stay"}, when=[("housing changes", "debt falls")], at_most_of=[(1, ["housing", "debt"])]
        )
        yield (
            f"ways of categories, {words}",
            clf,
            row,
            {"norm": 1, "actions": kept, "distance": "cost", "budget": 0.05},
        )
        never = {"income": (0.0, 0.5), "debt": (9.0, 9.5)}
        yield f"no state, {words}", clf, row, {"bounds": never}
    clf = ConditionalGaussianNetworkClassifier().fit(X, y)
    other = ConditionalGaussianNetworkClassifier("naive").fit(X.iloc[:300], y.iloc[:300])
    shapes = Actions(
        rules=["income + debt >= 9", "income + debt <= 5"], when=[("phone changes", "income rises")]
    )
    yield "excluded, whatever the categories", clf, refused(clf, X), {"norm": 2, "actions": shapes}
    yield "two models of categories", clf, refused(clf, X), {"norm": 2, "budget": 0.02, "models": [other]}


def of_others():
    """Several models, curved scales, other kinds of requirements, adopted models, and rules without end."""
    X, y = loans()
    X = X[["income", "debt"]]
    plain, curved = (
        ConditionalGaussianNetworkClassifier(marginals=m).fit(X, y) for m in ("gaussian", "power")
    )
    row = refused(plain, X)
    few, half = {"norm": 2, "budget": 0.05}, ConditionalGaussianNetworkClassifier("naive").fit(X[::2], y[::2])
    yield "two models", plain, row, few | {"models": [half]}
    for norm in (INF, 2, 1):
        yield f"curved {norm}", curved, row, {"norm": norm, "budget": 0.05}
    for name, when in (("debt", ("income rises", "debt <= 2")), ("income", ("income >= 4", "debt falls"))):
        rules = Actions({name: Action(whole=True)}, when=[when])
        yield f"curved, whole {name}", curved, row, {"norm": 2, "actions": rules}
    yield "curved, plausible", curved, row, few | {"plausible": 0.2}
    yield "conditional", plain, row, few | {"plausible": ("conditional", 1.5)}
    yield "calibrated", ConditionalGaussianNetworkClassifier(calibration="temperature").fit(X, y), row, few
    yield "logistic", adopt(LogisticRegression().fit(X, y), (X, y)), row, few
    yield "decision", adopt(LinearSVC().fit(X, y), (X, y)), row, few | {"decision": 0.1}
    linked = Actions(links=[("income", "debt", -0.5)])
    yield "linked", plain, row, few | {"actions": linked}
    for norm in (INF, 2):
        never = Actions(rules=["income + debt >= 9", "income + debt <= 5"])
        yield f"excluded {norm}", plain, row, {"norm": norm, "actions": never, "bounds": None}
    either = [("income rises", "income + debt <= 5"), ("debt rises", "income + debt <= 4")]
    never = Actions(rules=["income + debt >= 9"], when=either)
    yield "excluded either way", plain, row, {"actions": never, "bounds": None}


def of_numbers(small=False):
    """Of numbers alone."""
    bank, pima = datasets.load_banknote(), datasets.load_pima()
    three = datasets.synthetic(300, 3, n_classes=3, class_separation=2.5, random_state=1)
    b, p, t = fitted(bank), fitted(pima), fitted(three)
    whole = Actions({"preg": Action(whole=True), "age": Action(whole=True)})
    listed = Actions({"variance": Action(values=[-3.0, -1.0, 0.5, 2.0])})
    dot = {"variance": (3.0, 4.0), "skewness": (8.5, 8.8), "curtosis": (-3.0, -2.5), "entropy": (-0.5, -0.4)}
    by_feature = {"variance": (0.05, 0.1), "entropy": 0.05}
    dear = Actions({"variance": Action(cost=(1.0, 3.0)), "skewness": Action(cost=0.5)})
    then = Actions(
        when=[("variance falls", "skewness >= skewness.now + 1"), ("curtosis changes", "entropy stays")]
    )
    of_some = Actions(at_most_of=[(1, ["variance", "skewness"]), (1, ["curtosis", "entropy"])])
    for norm in (INF, 2, 1):
        for budget in (0.05, 0.0):
            yield f"banknote {norm} {budget}", b, bank.X.iloc[0], {"norm": norm, "budget": budget}
        for k in (1, 2):
            few = {"norm": norm, "budget": 0.05, "actions": Actions(at_most=k)}
            yield f"at most {k}, {norm}", b, bank.X.iloc[0], few
        yield (
            f"cost {norm}",
            b,
            bank.X.iloc[0],
            {"norm": norm, "budget": 0.05, "distance": "cost", "actions": dear},
        )
        yield f"if-then {norm}", b, bank.X.iloc[0], {"norm": norm, "budget": 0.05, "actions": then}
    yield "of some", b, bank.X.iloc[0], {"norm": 2, "distance": "cost", "actions": of_some}
    yield "domain", b, bank.X.iloc[2], {"budget": 0.05, "bounds": {"variance": (-4.0, 3.9)}}
    yield (
        "fixed",
        b,
        bank.X.iloc[0],
        {"budget": 0.05, "norm": 2, "immutable": ["entropy"], "whitening": "dag"},
    )
    yield "by feature", b, bank.X.iloc[0], {"budget": by_feature, "norm": 2}
    yield "values", b, bank.X.iloc[0], {"budget": 0.05, "norm": 1, "actions": listed}
    yield "infeasible", b, bank.X.iloc[0], {"budget": 0.05, "bounds": dot}
    yield "already", b, bank.X.iloc[0], {"budget": 0.05, "target": 0}
    yield "no time", b, bank.X.iloc[0], {"budget": 0.05, "time_limit": 1e-6}
    yield "threshold", b, bank.X.iloc[1], {"budget": 0.05, "threshold": 0.9, "norm": 2}
    yield (
        "three classes",
        t,
        three.X[three.y == three.y.min()].iloc[0],
        {"budget": 0.05, "target": three.y.max()},
    )
    if small:
        return
    for norm in (INF, 2, 1):
        yield f"pima {norm} 0.05", p, pima.X.iloc[1], {"norm": norm, "budget": 0.05, "whole": False}
    yield "whole", p, pima.X.iloc[0], {"budget": 0.05, "norm": 2, "actions": whole, "whole": False}
    iono = datasets.load_ionosphere()
    yield (
        "ionosphere",
        fitted(iono),
        iono.X.iloc[1],
        {"budget": 0.05, "norm": 2, "time_limit": 10.0, "whole": False},
    )


def away():
    """Answers that differ from earlier ones."""
    X, y = loans()
    for columns in (["income", "debt"], list(X)):
        clf = ConditionalGaussianNetworkClassifier().fit(X[columns], y)
        for differ in ("distance", "features"):
            explainer = CounterfactualExplainer(clf, norm=2, budget=0.02)
            found = explainer.alternatives(refused(clf, X[columns]), n=2, differ=differ)
            yield f"away by {differ}, {len(columns)}", clf, found[len(found) - 1]


def answered(small):
    """Names, classifiers and explanations."""
    for name, clf, row, options in [*of_numbers(small), *of_others(), *of_categories()]:
        target = options.pop("target", None)
        yield (
            name,
            clf,
            CounterfactualExplainer(clf, **options).explain(row, target=target, on_failure="return"),
        )
    yield from away()


@cache
def pool(small=False):
    """Honest answers; each must hold."""
    found = []
    for name, clf, e in answered(small):
        honest = Honest(name, (clf, *e.searched_with), e.to_json())
        claims = exact.check(honest.contents, honest.document)
        assert all(claim.verdict == exact.HOLDS for claim in claims), name
        found.append(honest)
    return tuple(replace(honest, points=_known(honest, found)) for honest in found)


def _known(honest, others):
    """The points of all questions about the same row of the same model."""
    return tuple(other.point for other in others if other.point is not None and other.row == honest.row)
