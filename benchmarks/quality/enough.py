"""What is enough around an answer: is every region right, how wide is it, and how long does it take?

The first ROWS rows of each table that have an answer (practical preset; each row towards the class that it is
not decided as). "proven" counts regions that both checkers accept (`verify`, and the checker by itself on the
documents), "failed" rows drawn from regions (SAMPLES of each, corners included) that are not decided as the
target, "rules broken" those that break a rule of the table (one has rules), "answer inside" regions that hold
it. Widths are in standard deviations of the factual's class, up to
where the data or a bound ends an interval; "one side open" and "both" are shares of intervals, and "ball
inside" is the share of regions that hold every error within the budget that moves one number alone. "larger"
is what is maximised, against a grid: by how much the shortest side that ends by itself could be longer, at
most, in a box that still holds those errors as far as the data or a bound let them go, if the region does
(regions of up to three numbers that need not be whole, in tables without rules; "compared" counts them).
Times are CPU seconds on one thread, ratios are of `enough` to the whole of `explain` for the same row.

usage: python benchmarks/run.py [--resume] enough
       (ROWS=100 and SAMPLES=100000 in the environment)
"""

import itertools
import json
import os
import time

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris

from benchmarks import cpu_clock  # noqa: F401
from surefoot import (
    Actions,
    ConditionalGaussianNetworkClassifier,
    CounterfactualExplainer,
    datasets,
    verify,
)
from surefoot.explain.answer.enough import own_reach
from surefoot.model.content import classifier_content
from surefoot.proof import exact

COLUMNS = [
    "table", "rows", "proven", "failed", "rules broken", "answer inside", "median width", "one side open",
    "both", "ball inside", "compared", "larger: most", "explain: median s", "enough: median s",
    "median ratio", "largest ratio",
]  # fmt: skip
KEY = COLUMNS[:1]
ROWS, SAMPLES = int(os.environ.get("ROWS", 100)), int(os.environ.get("SAMPLES", 100_000))


def cancer():
    data = load_breast_cancer(as_frame=True)
    return data.data, data.target


def iris():
    data = load_iris(as_frame=True)
    return data.data, (data.target == 1).astype(int)


def diabetes():
    data = load_diabetes(as_frame=True, scaled=False)
    return data.data, (data.target > data.target.median()).astype(int)


RULES = Actions(rules=["credit_amount <= 150 * duration_months", "credit_amount >= 50 * duration_months"])
# How each table is read, the settings of its model, and the rules of its answers.
TABLES = {
    "banknote": (lambda: pair(datasets.load_banknote()), {}, None),
    "pima": (lambda: pair(datasets.load_pima()), {}, None),
    "pima, curved and calibrated": (
        lambda: pair(datasets.load_pima()),
        {"marginals": "auto", "calibration": "temperature"},
        None,
    ),
    "german credit": (lambda: pair(datasets.load_german_credit()), {}, None),
    "german credit, with rules": (lambda: pair(datasets.load_german_credit()), {}, RULES),
    "breast cancer": (cancer, {"marginals": "auto"}, None),
    "diabetes": (diabetes, {"marginals": "auto"}, None),
    "iris, one kind": (iris, {}, None),
    "ionosphere": (lambda: pair(datasets.load_ionosphere()), {}, None),
}


def pair(data):
    return data.X, data.y


def rows(done=()):
    for name, (load, settings, rules) in TABLES.items():
        if (name,) not in done:
            yield {"table": name, **measured(*load(), settings, rules)}


def measured(X, y, settings, rules):
    clf = ConditionalGaussianNetworkClassifier(**settings).fit(X, y)
    explainer = CounterfactualExplainer(clf, actions=rules)
    model = classifier_content(clf)
    seen = list(itertools.islice(answered(explainer, clf, model, X), ROWS))
    intervals = [interval for one in seen for interval in one["intervals"]]
    ratios = [one["enough"] / one["explain"] for one in seen]
    compared = [one["larger"] for one in seen if one["larger"] is not None]
    return {
        "rows": len(seen),
        "proven": sum(one["proven"] for one in seen),
        "failed": sum(one["failed"] for one in seen),
        "rules broken": sum(one["broken"] for one in seen),
        "answer inside": sum(one["inside"] for one in seen),
        "median width": round(float(np.median([i["width"] for i in intervals])), 2),
        "one side open": round(float(np.mean([i["open"] == 1 for i in intervals])), 2),
        "both": round(float(np.mean([i["open"] == 2 for i in intervals])), 2),
        "ball inside": round(float(np.mean([one["ball"] for one in seen])), 2),
        "compared": len(compared),
        "larger: most": f"{100 * max(compared):.1f} %" if compared else "-",
        "explain: median s": round(float(np.median([one["explain"] for one in seen])), 4),
        "enough: median s": round(float(np.median([one["enough"] for one in seen])), 4),
        "median ratio": round(float(np.median(ratios)), 2),
        "largest ratio": round(float(max(ratios)), 2),
    }


def answered(explainer, clf, model, X):
    """What is measured of each row that has an answer."""
    rng = np.random.default_rng(0)
    for k in range(len(X)):
        start = time.process_time()
        e = explainer.explain(X.iloc[k], on_failure="return")
        seconds = time.process_time() - start
        if e.counterfactual is None or e.distance == 0:
            continue
        start = time.process_time()
        region = e.enough()
        taken = time.process_time() - start
        sample = drawn(e, region, rng, X.dtypes)
        yield {
            "explain": seconds,
            "enough": taken,
            "failed": int((clf.predict(sample) != e.target).sum()),
            "broken": broken(explainer, sample),
            "inside": region.contains(e.counterfactual),
            "proven": accepted(e, clf, model),
            "intervals": [described(e, one) for one in region.numbers],
            "ball": holds_ball(e, region, clf),
            "larger": None if explainer.actions else larger(e, region, clf),
        }
        print(k, region.words, flush=True)


def accepted(e, clf, model):
    claims = exact.check([model], json.loads(e.to_json()))
    alone = next(claim.verdict for claim in claims if claim.name == "enough") == "holds"
    return alone and verify(e, clf).ok


def broken(explainer, sample):
    """Rows that break a rule."""
    return 0 if explainer.actions is None else explainer.actions.check(sample)["row"].nunique()


def drawn(e, region, rng, dtypes):
    """Rows of the region, its corners among them."""
    ends = [one.proven for one in region.numbers]
    corners = np.array(list(itertools.islice(itertools.product(*ends), SAMPLES // 2)))
    sample = pd.DataFrame([e.counterfactual.to_dict()]).astype(dtypes.to_dict(), errors="ignore")
    sample = sample.loc[np.zeros(SAMPLES, dtype=int)].reset_index(drop=True)
    for i, one in enumerate(region.numbers):
        column = rng.uniform(*one.proven, SAMPLES)
        column[: len(corners)] = corners[:, i]
        sample[one.feature] = column
    for name, values in region.categories.items():
        sample[name] = rng.choice(np.array(values, dtype=object), SAMPLES)
    return sample


def described(e, one):
    """Width and open sides of an interval."""
    j = e.question.number_names.index(one.feature)
    warp = e.question.warps[j].exactly if e.question.warps else float
    width = (warp(one.proven[1]) - warp(one.proven[0])) / e.unit[one.feature]
    return {"width": width, "open": int(np.isinf(one.low)) + int(np.isinf(one.high))}


def holds_ball(e, region, clf, stated=False):
    """Whether errors within the budget that move one number alone leave no interval.

    With ``stated`` those beyond an open end do not count: there is nothing that the region could hold.
    """
    below, above = own_reach(e.question.ball(clf))
    sets = {one.feature: one for one in e.question.domain.sets}
    for one in region.numbers:
        j = e.question.number_names.index(one.feature)
        warp = e.question.warps[j].exactly if e.question.warps else float
        z = warp(float(e.counterfactual[one.feature]))
        back = e.question.warps[j].inverse if e.question.warps else float
        ends = [float(back(z - below[j])), float(back(z + above[j]))]
        if j in sets:  # of errors that lead to a value that is possible
            ends = [sets[j].at_least(ends[0]), sets[j].at_most(ends[1])]
        room = 1e-9 * (one.proven[1] - one.proven[0])
        low, high = (one.low, one.high) if stated else one.proven
        if not (low <= ends[0] + room and ends[1] - room <= high):
            return False
    return True


def larger(e, region, clf):
    """By how much the shortest side that ends by itself could be longer, all others that do with it.

    None where that is not looked at.
    """
    whole = {one.feature for one in e.question.domain.sets}
    names = e.question.number_names
    if not 1 <= len(region.numbers) <= 3 or any(names.index(one.feature) in whole for one in region.numbers):
        return None
    sides = []
    for one in region.numbers:
        x, unit = float(e.counterfactual[one.feature]), e.unit[one.feature]
        j = names.index(one.feature)
        warp = e.question.warps[j] if e.question.warps else None
        at = float if warp is None else warp.exactly
        for sign, end, stated in ((-1, one.proven[0], one.low), (1, one.proven[1], one.high)):
            size = sign * (at(end) - at(x)) / unit
            sides.append((one.feature, sign, size, np.isfinite(stated)))
    ending = [size for *_, size, ends in sides if ends]
    if not ending or min(ending) <= 0:
        return None
    held = holds_ball(e, region, clf, stated=True)
    reach = own_reach(e.question.ball(clf)) if held else np.zeros((2, len(names)))
    factors = np.linspace(1.0, 1.5, 51)
    possible = (f for f in factors[::-1] if holds(e, clf, sides, f * min(ending), reach))
    return float(next(possible, 1.0) - 1.0)


def holds(e, clf, sides, level, least):
    """Whether a grid over the box with all sides at one level, open ones up to their ends, keeps it."""
    axes = {}
    for name, sign, size, ends in sides:
        j = e.question.number_names.index(name)
        reach = max(level, least[int(sign > 0)][j] / e.unit[name]) if ends else min(level, size)
        axes.setdefault(name, []).append(sign * reach)
    columns, steps = {}, 41 if len(axes) < 3 else 17
    for name, (low, high) in axes.items():
        j = e.question.number_names.index(name)
        warp = e.question.warps[j] if e.question.warps else None
        x = float(e.counterfactual[name])
        z = x if warp is None else warp.exactly(x)
        grid = z + np.linspace(low, high, steps) * e.unit[name]
        columns[name] = grid if warp is None else np.asarray(warp.inverse(grid))
    every = np.array(list(itertools.product(*columns.values())))
    frame = pd.DataFrame([e.counterfactual.to_dict()]).loc[np.zeros(len(every), dtype=int)]
    frame = frame.reset_index(drop=True)
    for i, name in enumerate(columns):
        frame[name] = every[:, i]
    return bool((clf.predict(frame) == e.target).all())
