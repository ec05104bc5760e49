"""Random rows with random actions: nothing that was declared is ever violated, in no format."""

import io
import json

import numpy as np
import pandas as pd
import pytest

from surefoot import Action, Actions, ConditionalGaussianNetworkClassifier, Explanations, datasets, verify
from surefoot.exceptions import ProblemError
from surefoot.ui.report.summary import summary_of
from tests.asking import CounterfactualExplainer
from tests.random_actions import broken, random_actions
from tests.thinning import every

LOADERS = {
    "german": datasets.load_german_credit,
    "pima": datasets.load_pima,
    "banknote": datasets.load_banknote,
}
EACH = 42  # benchmarks/audit/actions.py asks thousands
PARTS = [(name, range(k, EACH, 6)) for name in LOADERS for k in range(6)]
DIGITS = {"text": 2}  # of links, as they are shown


@pytest.fixture(scope="module")
def models():
    found = {}
    for name, load in LOADERS.items():
        data = load()
        found[name] = data.X, ConditionalGaussianNetworkClassifier("naive").fit(data.X, data.y)
    return found


def request_of(models, name, seed):
    """Actions and the answer; None where the request makes no sense for the row."""
    X, clf = models[name]
    rng = np.random.default_rng([seed, len(name)])
    actions = random_actions(rng, X, clf.categories_)
    row = X.iloc[int(rng.integers(len(X)))]
    settings = {"norm": [np.inf, 1, 2][seed % 3], "budget": [0.0, 0.05][seed % 2]}
    try:
        explainer = CounterfactualExplainer(clf, actions=actions, time_limit=1.0, gap=0.05, **settings)
        return actions, explainer.explain(row, on_failure="return")
    except ProblemError:
        return None


def seen(e):
    """The counterfactual in every format: as it is, in CSV, in JSON, on pages and in the terminal."""
    yield "point", e.counterfactual
    table = pd.read_csv(io.StringIO(Explanations([e]).to_frame().to_csv()))
    yield "CSV", pd.Series({n: table[f"counterfactual: {n}"].iloc[0] for n in e.factual.index}, dtype=object)
    stated = json.loads(e.to_json())["counterfactual"]
    yield "JSON", pd.Series(stated["values"], stated["names"], dtype=object)
    shown = e.counterfactual.astype(object).copy()
    for change in summary_of(e).changes:
        if not isinstance(shown[change.feature], str):
            shown[change.feature] = float(change.end.replace(",", ""))
    yield "text", shown


@pytest.mark.parametrize(("name", "seeds"), every(6, PARTS))
def test_nothing_that_was_declared_is_violated(models, name, seeds):
    X, clf = models[name]
    whole = {n for n, kind in clf.feature_kinds_.items() if kind == "whole"}
    bounds = {n: clf.feature_range_[:, j] for j, n in enumerate(X) if clf.feature_kinds_[n] != "category"}
    answered = 0
    for seed in seeds:
        found = request_of(models, name, seed)
        if found is None or found[1].counterfactual is None:
            continue
        actions, e = found
        answered += 1
        if answered % 3 == 1:
            assert verify(e, clf).ok, (seed, str(verify(e, clf)))
        for where, then in seen(e):
            faults = broken(actions, e.factual.astype(object), then, whole, bounds, DIGITS.get(where, 9))
            assert faults == [], (seed, where)
    assert answered > len(seeds) // 3


def test_a_region_in_which_all_curvature_cancels():
    """To the last digit, after many cuts: what refutes it must not hang on rounding."""
    pima = datasets.load_pima()
    clf = ConditionalGaussianNetworkClassifier("tan").fit(pima.X, pima.y)
    actions = Actions(
        {
            "preg": Action("fall"),
            "plas": Action("rise"),
            "pres": Action("rise"),
            "mass": Action(values=[23.4, 27.4, 36.4, 42.2]),
            "age": Action("rise", most=15.0),
        },
        when=[("`skin` falls", "`pedi` falls")],
        at_most=3,
    )
    e = CounterfactualExplainer(clf, norm=1, gap=0.02, actions=actions).explain(pima.X.iloc[85])
    assert e.status == "optimal"
    assert verify(e, clf).ok, str(verify(e, clf))
