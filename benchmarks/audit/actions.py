"""Random rows with random actions: is anything violated, and is what is called impossible impossible?

German credit, Pima and Banknote; every kind of action, rules, links, if-then rules, limits, prices; all
norms, budgets 0 and 0.05. Every answer is judged in every format by code that shares nothing with surefoot's
own (tests/random_actions.py), and checked: every claim must hold, whether there is a point or not. Requests
on numbers alone that were proved to be infeasible are put to SCIP as mixed-integer programs, with a budget
together with perturbations that its points do not withstand.

usage: python benchmarks/audit/actions.py [--count 10000] [--log FILE]      (goes on where the log ends)
"""

import argparse
import json
import sys
import time
from collections import Counter
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.explain.test_random_requests import DIGITS, LOADERS, seen
from tests.random_actions import broken, priced, random_actions

from benchmarks import cpu_clock  # noqa: F401
from benchmarks.asking import CounterfactualExplainer
from surefoot import ConditionalGaussianNetworkClassifier, verify
from surefoot.exceptions import ProblemError
from surefoot.proof.worst_case import worst_perturbation

RECHECKED = 500
PERTURBATIONS = 40
LIMIT = 2.0


def models():
    found = {}
    for name, load in LOADERS.items():
        data = load()
        for structure in ("naive", "tan"):
            clf = ConditionalGaussianNetworkClassifier(structure).fit(data.X, data.y)
            found[name, structure] = data.X, clf
    return found


def one(known, seed, recheck):
    """The line of one request."""
    rng = np.random.default_rng(seed)
    name, structure = str(rng.choice(list(LOADERS))), str(rng.choice(["naive", "tan"]))
    X, clf = known[name, structure]
    actions = random_actions(rng, X, clf.categories_)
    row = X.iloc[int(rng.integers(len(X)))]
    budget = float(rng.choice([0.0, 0.05]))
    line = {"seed": seed, "table": name, "budget": budget}
    started = time.process_time()
    settings = {"budget": budget, "norm": [np.inf, 1, 2][seed % 3], "gap": 0.02, "time_limit": LIMIT}
    if rng.random() < 0.25:
        settings["distance"] = "cost"
        actions = priced(rng, actions, [n for n in X if n not in clf.categories_])
    try:
        explainer = CounterfactualExplainer(clf, actions=actions, **settings)
        e = explainer.explain(row, on_failure="return")
    except ProblemError as error:
        return {**line, "outcome": "refused", "said": str(error)[:100]}
    line |= {"outcome": str(e.status), "seconds": round(time.process_time() - started, 3)}
    line["unproved"] = [claim.name for claim in verify(e, clf).claims if claim.verdict != "holds"]
    if e.counterfactual is not None:
        return line | {"violated": violations(e, actions, X, clf)}
    if str(e.status) == "infeasible" and not e.question.choices and recheck:
        line["scip finds a point"] = has_point(e.question, clf)
    return line


def violations(e, actions, X, clf):
    whole = {n for n, kind in clf.feature_kinds_.items() if kind == "whole"}
    bounds = {n: clf.feature_range_[:, j] for j, n in enumerate(X) if clf.feature_kinds_[n] != "category"}
    now = e.factual.astype(object)
    return [
        f"{where}: {what}"
        for where, then in seen(e)
        for what in broken(actions, now, then, whole, bounds, DIGITS.get(where, 9))
    ]


def has_point(question, clf):
    """Whether SCIP finds numbers that the question allows; None where it does not know.

    With a budget, perturbations are added as its points do not withstand them.
    """
    from pyscipopt import Model, quicksum

    model = Model()
    model.hideOutput()
    model.setParam("limits/time", 30)
    model.setParam("limits/solutions", 1)
    x0, domain, problem = question.factual, question.domain, question.problem(clf)
    sets = {s.feature: s for s in domain.sets}
    x = [_variable(model, j, sets.get(j), domain.low[j], domain.high[j], x0[j]) for j in range(len(x0))]
    for row in domain.rows:
        _row(model, x, row)
    for either in question.eithers:
        taken = [model.addVar(vtype="B") for _ in either.ways]
        model.addCons(quicksum(taken) >= 1)
        for pick, way in zip(taken, either.ways, strict=True):
            for row in way.rows:
                _row(model, x, row, pick)
    for limit in question.limits:
        moved = []
        for j in limit.numbers:
            pick = model.addVar(vtype="B")
            model.addCons(x[j] - x0[j] <= pick * (domain.high[j] - x0[j]))
            model.addCons(x0[j] - x[j] <= pick * (x0[j] - domain.low[j]))
            moved.append(pick)
        model.addCons(quicksum(moved) <= limit.count)
    margins = [_margin(model, x, requirement.margin) for requirement in problem.requirements]
    for _ in range(PERTURBATIONS):
        model.optimize()
        if not model.getNSols():
            return False if model.getStatus() == "infeasible" else None
        worst = worst_perturbation(problem, np.array([model.getVal(v) for v in x]))
        if worst.violation <= 0:
            return True
        model.freeTransform()
        for requirement, margin in zip(problem.requirements, margins, strict=True):
            if requirement.robust:
                _withstand(model, x, requirement.margin, margin, worst.perturbation)
    return None


def _margin(model, x, g):
    """A variable that is at most the margin, and not negative."""
    d, n, value = [v - c for v, c in zip(x, g.center, strict=True)], range(len(x)), model.addVar(lb=1e-6)
    square = sum(g.matrix[i, j] * d[i] * d[j] for i in n for j in n if g.matrix[i, j])
    model.addCons(square + sum(g.vector[i] * d[i] for i in n) + g.constant >= value)
    return value


def _withstand(model, x, g, margin, v):
    """The margin after a perturbation must not be negative: it adds a linear function."""
    slopes = 2 * g.matrix @ v
    constant = float(v @ g.matrix @ v + g.vector @ v - slopes @ g.center)
    model.addCons(margin + sum(float(a) * w for a, w in zip(slopes, x, strict=True)) + constant >= 1e-6)


def _variable(model, j, values, low, high, now):
    x = model.addVar(lb=float(low), ub=float(high), name=f"x{j}")
    if values is None:
        return x
    if values.values is None:
        whole = model.addVar(vtype="I", lb=None)
        stays = model.addVar(vtype="B")
        wide = float(high - low) + 1.0
        model.addCons(x - whole <= stays * wide)
        model.addCons(whole - x <= stays * wide)
        model.addCons(x - float(now) <= (1 - stays) * wide)
        model.addCons(float(now) - x <= (1 - stays) * wide)
        return x
    listed = sorted({*(v for v in values.values if low <= v <= high), float(now)})
    picks = [model.addVar(vtype="B") for _ in listed]
    model.addCons(sum(picks) == 1)
    model.addCons(x == sum(p * v for p, v in zip(picks, listed, strict=True)))
    return x


def _row(model, x, row, pick=None):
    """A row, or one that holds where a binary is 1 (a large factor would let small steps slip by)."""
    total = sum(float(a) * v for a, v in zip(row.coefficients, x, strict=True) if a)
    ends = [(total, row.high)] * bool(np.isfinite(row.high)) + [(-total, -row.low)] * bool(
        np.isfinite(row.low)
    )
    for side, end in ends:
        if pick is None:
            model.addCons(side <= float(end))
        else:
            model.addConsIndicator(side <= float(end), binvar=pick)


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    arguments.add_argument("--count", type=int, default=10_000)
    arguments.add_argument("--log", default="actions.jsonl")
    options = arguments.parse_args()
    log = Path(options.log)
    lines = [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []
    known = models()
    with log.open("a", encoding="utf-8") as file:
        for seed in range(len(lines), options.count):
            rechecked = sum("scip finds a point" in line for line in lines)
            lines.append(one(known, seed, rechecked < RECHECKED))
            file.write(json.dumps(lines[-1]) + "\n")
            file.flush()
    report(lines)


def report(lines):
    print(dict(Counter(line["outcome"] for line in lines)))
    answered = [line for line in lines if "violated" in line]
    print(f"{len(answered)} answers, {sum(bool(line['violated']) for line in answered)} violate something")
    print(
        f"{sum(bool(line.get('unproved')) for line in lines)} with a claim that the checker does not accept"
    )
    checked = Counter(str(line["scip finds a point"]) for line in lines if "scip finds a point" in line)
    print(f"infeasible, put to SCIP: {dict(checked)} (True: surefoot was wrong; None: SCIP does not know)")


if __name__ == "__main__":
    main()
