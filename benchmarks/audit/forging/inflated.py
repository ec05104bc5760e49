"""Files that ask for much work: honest answers with parts that were copied, deepened or made huge."""

import copy
import math
from functools import cache

import numpy as np
import pandas as pd

from benchmarks.asking import CounterfactualExplainer
from surefoot import (
    Action,
    Actions,
    ConditionalGaussianNetworkClassifier,
    Dag,
    datasets,
)
from surefoot.model.content import classifier_content


def asked(clf, row, target, **settings):
    """Contents of the model, and the document of an answer."""
    explainer = CounterfactualExplainer(clf, **{"budget": 0.05, **settings})
    return [classifier_content(clf)], explainer.explain(row, target, on_failure="return").to_dict()


@cache
def numbers():
    """Banknote: four numbers."""
    bank = datasets.load_banknote()
    clf = ConditionalGaussianNetworkClassifier().fit(bank.X, bank.y)
    return asked(clf, bank.X.iloc[0], 1)


@cache
def wide():
    """Sixty numbers."""
    data = datasets.synthetic(500, 60, random_state=0)
    clf = ConditionalGaussianNetworkClassifier().fit(data.X, data.y)
    row = int(np.flatnonzero(clf.predict(data.X) == clf.classes_[0])[0])
    return asked(clf, data.X.iloc[row], clf.classes_[1], norm=2)


def two_categories(values, rows=20_000):
    """Two numbers and two categories of so many values, the first category the second's parent."""
    rng = np.random.default_rng(0)
    good = rng.random(rows) < 0.5
    a = rng.integers(values, size=rows)
    a = np.where(good, np.maximum(a, rng.integers(values, size=rows)), a)
    b = (a + rng.integers(20, size=rows) + 5 * good) % values
    X = pd.DataFrame(rng.normal(size=(rows, 2)) + 0.5 * good[:, None], columns=["x", "y"])
    X["a"], X["b"] = [f"a{v}" for v in a], [f"b{v}" for v in b]
    return X, np.where(good, "good", "bad")


@cache
def categories(values=40):
    X, y = two_categories(values)
    clf = ConditionalGaussianNetworkClassifier(Dag([[], [], [], [2]])).fit(X, y)
    row = int(np.flatnonzero(clf.predict(X) == "bad")[0])
    return asked(clf, X.iloc[row], "good")


@cache
def many_categories(count=26, rows=4_000, cost=0.3):
    """One number and categories of two values each, all cheap; the search is stopped."""
    rng = np.random.default_rng(0)
    good = rng.random(rows) < 0.5
    X = pd.DataFrame({"x": rng.normal(size=rows) + good})
    for k in range(count):
        X[f"k{k}"] = np.where(rng.random(rows) < np.where(good, 0.52, 0.48), "yes", "no")
    clf = ConditionalGaussianNetworkClassifier("naive").fit(X, np.where(good, "good", "bad"))
    row = X.iloc[int(np.argmin(clf.predict_proba(X)[:, list(clf.classes_).index("good")]))]
    cheap = Actions({name: Action(cost=cost) for name in X.columns[1:]})
    return asked(clf, row, "good", actions=cheap, time_limit=2)


def leaf_of(tree):
    """The first leaf of a tree."""
    while "level" not in tree:
        tree = next(tree[side] for side in ("below", "no", "ways") if side in tree)
        tree = tree[0] if isinstance(tree, list) else tree
    return tree


# ----- what is inflated -------------------------------------------------------------------------------------
# Each takes an honest document, which it may change, and a size.


def copied_proofs(e, size):
    e["certificate"]["states"]["proofs"] *= size


def nearly_copied_proofs(e, size):
    """Each says a little less than the one before."""
    proofs = e["certificate"]["states"]["proofs"]
    for k in range(size):
        proofs.append(copy.deepcopy(proofs[0]))
        proofs[-1]["constants"] = [c - 1e-6 * (k + 1) for c in proofs[0]["constants"]]


def a_stair_of_proofs(e, size):
    """None is better than another: smaller constants, larger levels, which they do not reach."""
    proofs = e["certificate"]["states"]["proofs"]
    for k in range(size):
        proofs.append(copy.deepcopy(proofs[0]))
        proofs[-1]["constants"] = [c - 1e-3 * (k + 1) for c in proofs[0]["constants"]]
        leaf = leaf_of(proofs[-1]["proof"]["tree"])
        leaf["level"] *= 1 + 1e-9 * (k + 1)


def many_trades(e, size):
    e["certificate"]["states"]["trades"] = [1e-3 * k for k in range(size)]


def no_trades(e, size):
    """Without them states are looked at one by one, each beside all proofs."""
    nearly_copied_proofs(e, size // 100)
    e["certificate"]["states"]["trades"] = []


def deep_tree(e, size):
    """Cuts below cuts, with the same leaf on one side of each."""
    bound = e["certificate"]["bound"]
    leaf = leaf_of(bound["tree"])
    for k in range(min(size, 5000)):
        bound["tree"] = {"cut": [["u", k % 4], 1e-3 * k], "below": leaf, "above": bound["tree"]}


def broad_tree(e, size):
    """Each piece is cut in two, and the leaf is copied."""
    bound = e["certificate"]["bound"]
    for k in range(int(math.log2(size))):
        bound["tree"] = {"cut": [["u", k % 4], 1e-3 * k], "below": bound["tree"], "above": bound["tree"]}


def long_products(e, size):
    leaf_of(e["certificate"]["bound"]["tree"])["products"] += [[0.0, ["1"], ["1"]]] * size


def dense_products(e, size):
    """Slopes of all coordinates at once."""
    proof = e["certificate"]["bound"]
    n = len(e["certificate"]["metric"])
    slope = ["a", 1e6, [[i, 1e-9] for i in range(n)]]
    leaf_of(proof["tree"])["products"] += [[1e-300, slope, slope]] * size


def long_requirements(e, size):
    leaf_of(e["certificate"]["bound"]["tree"])["requirements"] += [[0.0, 0, -1]] * size


def many_scenarios(e, size):
    n = len(e["certificate"]["metric"])
    e["certificate"]["bound"]["scenarios"] += [[1e-9] * n] * size


def many_directions(e, size):
    n = len(e["certificate"]["metric"])
    e["certificate"]["bound"]["directions"] += [[0.1] * n] * size


def huge_weights(e, size):
    """Numbers of a thousand bits and more."""
    leaf = leaf_of(e["certificate"]["bound"]["tree"])
    leaf["products"] += [[5e-324, ["1"], ["a", 1.7e308, [[0, 1e-300]]]]] * size


def huge_whole_numbers(e, size):
    leaf_of(e["certificate"]["bound"]["tree"])["norm"][0] = 10 ** min(size, 4000)


def copied_requirements(e, size):
    e["question"]["requirements"] *= size
    robustness = e["certificate"]["robustness"]
    if robustness:
        robustness["proofs"] *= size


def many_rows(e, size):
    n = len(e["question"]["domain"]["low"])
    row = {"coefficients": [1.0] * n, "low": "-inf", "high": 1e9, "name": "r"}
    e["question"]["domain"]["rows"] += [row] * size
    leaf_of(e["certificate"]["bound"]["tree"])["products"] += [
        [0.0, ["r", k, "high"], ["r", k, "high"]] for k in range(size)
    ]


def long_sets(e, size):
    """A long set of values, and as many questions about it."""
    now = e["question"]["factual"][0]
    values = [now - 1.0 - k for k in range(size, 0, -1)]
    e["question"]["domain"]["sets"].append({"feature": 0, "values": values})
    leaf = leaf_of(e["certificate"]["bound"]["tree"])
    leaf["between"] += [[0.0, 0, values[-1], now]] * size


def many_ways(e, size):
    e["question"]["domain"]["eithers"] += [{"name": "e", "ways": [{"rows": [], "values": []}] * 10}] * size
    for entry in e["certificate"]["states"]["proofs"]:
        entry["ways"] += [None] * size


def many_limits(e, size):
    entry = {"name": "l", "count": 10**9, "numbers": [], "categories": []}
    e["question"]["domain"]["limits"] += [entry] * size
    for proof in e["certificate"]["states"]["proofs"]:
        proof["left"] += [10**9] * size


def long_words(e, size):
    e["iterations"] = [{"x": k} for k in range(size)]
    e["conflict"] = ["c"] * size
    e["cautions"] = [{"code": "c", "text": "t" * 100}] * size


def nested(e, size):
    value = []
    for _ in range(min(size, 900)):
        value = [value]
    e["certificate"]["robustness"] = value


OF_STATES = (copied_proofs, nearly_copied_proofs, a_stair_of_proofs, many_trades, many_ways, many_limits)
OF_NUMBERS = (
    deep_tree, broad_tree, long_products, dense_products, long_requirements, many_scenarios, many_directions,
    huge_weights, huge_whole_numbers, copied_requirements, many_rows, long_sets, long_words, nested,
)  # fmt: skip
SIZES = (10, 100, 1_000, 4_000, 10_000)


BASES = {
    "numbers": (numbers, OF_NUMBERS), "wide": (wide, OF_NUMBERS),
    "categories": (categories, OF_STATES), "many categories": (many_categories, (*OF_STATES, no_trades)),
}  # fmt: skip


def inflated(base, change, size):
    """Contents of models, and a document."""
    contents, document = BASES[base][0]()
    document = copy.deepcopy(document)
    change(document, size)
    return contents, document
