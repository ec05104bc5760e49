"""How long checking takes, by the size of tables, features and proofs; and files made to take long.

The first rows are honest answers: seconds of CPU of the search, and of the check of the same answers. The
others are honest answers of a few features or categories that were inflated to 10 to 10,000 times a part of
them (`forging/inflated.py`), each checked with a time limit of 10 s of wall clock: they hold, are not proved
(among them those whose time ran out) or cannot be read.

usage: python benchmarks/run.py verification      (ROWS=4 of each kind in the environment)
"""

import os
import time
from collections import defaultdict

import numpy as np

from benchmarks.asking import CounterfactualExplainer
from benchmarks.audit.forging.inflated import BASES, SIZES, inflated, two_categories
from surefoot import (
    Action,
    Actions,
    ConditionalGaussianNetworkClassifier,
    Dag,
    datasets,
)
from surefoot.model.content import classifier_content
from surefoot.proof import exact

KEY = ["answers"]
COLUMNS = [
    "answers", "files", "leaves", "search: median s", "check: median s", "check: most s", "ratio of medians",
    "hold", "not proved", "time ran out", "unreadable",
]  # fmt: skip
ROWS = int(os.environ.get("ROWS", 4))
LIMIT = 10.0  # seconds of wall clock for an inflated file


def rows(done=()):
    for name, make in HONEST.items():
        if (name,) not in done:
            yield {"answers": name, **measured(*make())}
    changes = {change.__name__: change for _, listed in BASES.values() for change in listed}
    for name, change in changes.items():
        if (f"inflated: {name}",) not in done:
            yield {"answers": f"inflated: {name}", **of_inflated(change)}


# ----- honest answers ---------------------------------------------------------------------------------------


def bundled(load, target, structure="tan", settings=({},)):
    data = load()
    clf = ConditionalGaussianNetworkClassifier(structure).fit(data.X, data.y)
    return clf, data.X, target, settings


def synthetic(n):
    data = datasets.synthetic(1000, n, random_state=0)
    clf = ConditionalGaussianNetworkClassifier().fit(data.X, data.y)
    return clf, data.X, clf.classes_[1], [{"norm": np.inf}, {"norm": 2}]


def tables(values, structure):
    X, y = two_categories(values)
    return ConditionalGaussianNetworkClassifier(structure).fit(X, y), X, "good", [{}]


def credit(structure, price):
    data = datasets.load_german_credit()
    names = [name for name in data.X if data.X[name].dtype.kind not in "iuf"]
    cheap = Actions({name: Action(cost=price) for name in names})
    clf = ConditionalGaussianNetworkClassifier(structure).fit(data.X, data.y)
    return clf, data.X, "good", [{"actions": cheap}, {"actions": cheap, "plausible": 0.1}]


PLAIN = [{"norm": norm, "whole": False} for norm in (np.inf, 2, 1)]
PARENT = Dag([[], [], [], [2]])
HONEST = {
    "Banknote, 4 features": lambda: bundled(datasets.load_banknote, 1, settings=PLAIN),
    "Pima, 8 features": lambda: bundled(datasets.load_pima, 0, settings=PLAIN),
    "Pima, whole numbers": lambda: bundled(datasets.load_pima, 0),
    "Ionosphere, 32 features": lambda: bundled(datasets.load_ionosphere, 1, settings=PLAIN),
    "Ionosphere, at most 3 change": lambda: bundled(
        datasets.load_ionosphere, 1, settings=[{"actions": Actions({}, at_most=3)}]
    ),
    "German credit, naive": lambda: credit("naive", 0.3),
    "German credit, tan": lambda: credit("tan", 0.3),
    **{f"synthetic, {n} features": (lambda n=n: synthetic(n)) for n in (60, 150, 300)},
    **{f"two categories of {k} values": (lambda k=k: tables(k, "naive")) for k in (20, 100, 500)},
    **{f"{k} values, one the parent": (lambda k=k: tables(k, PARENT)) for k in (20, 100, 500)},
}


def measured(clf, X, target, settings):
    """Search and check of the first rows that have another class."""
    chosen = np.flatnonzero(clf.predict(X) != target)[:ROWS].tolist()
    content, searched, checked, leaves = classifier_content(clf), [], [], []
    verdicts = defaultdict(int)
    for said in settings:
        explainer = CounterfactualExplainer(clf, **{"budget": 0.05, "time_limit": 10, **said})
        for i in chosen:
            e, seconds = timed(explainer.explain, X.iloc[i], target, on_failure="return")
            searched.append(seconds)
            document = e.to_dict()
            leaves.append(str(document["certificate"]).count("'level'"))
            outcome, seconds = timed(judged, [content], document)
            checked.append(seconds)
            verdicts[outcome] += 1
    return {"leaves": f"{min(leaves)} to {max(leaves)}", **summary(searched, checked, verdicts)}


def timed(work, *arguments, **options):
    start = time.process_time()
    found = work(*arguments, **options)
    return found, time.process_time() - start


def judged(contents, document, limit=np.inf):
    try:
        claims = exact.check(contents, document, limit)
    except exact.UnreadableError:
        return "unreadable"
    if "ran out" in claims[-1].reason:
        return "time ran out"
    return "hold" if all(claim.verdict == exact.HOLDS for claim in claims) else "not proved"


def summary(searched, checked, verdicts):
    found = {
        "files": len(checked),
        "check: median s": f"{np.median(checked):.3f}",
        "check: most s": f"{max(checked):.2f}",
        **{name: verdicts[name] for name in ("hold", "not proved", "time ran out", "unreadable")},
    }
    if searched:
        found["search: median s"] = f"{np.median(searched):.3f}"
        found["ratio of medians"] = f"{np.median(checked) / np.median(searched):.1f}"
    return found


# ----- inflated ones ----------------------------------------------------------------------------------------


def of_inflated(change):
    checked, verdicts = [], defaultdict(int)
    for base, (_, listed) in BASES.items():
        for size in SIZES if change in listed else ():
            outcome, seconds = timed(judged, *inflated(base, change, size), LIMIT)
            checked.append(seconds)
            verdicts[outcome] += 1
    return {"leaves": "", "search: median s": "", "ratio of medians": "", **summary([], checked, verdicts)}
