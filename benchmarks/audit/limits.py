"""Do searches keep to their time limits, and to a bounded memory? Random requests, large tables.

Tables have up to 300 numbers, or categories of up to 1,000 values, one of them the parent of the other;
models are naive Bayes or trees. Every request has a random norm, budget and row. The kinds: plain ones, at
least as typical as some share of the class (plausible), at most so many changes, two alternatives, whole
numbers, requests that leave little or nothing (narrow), rules that exclude each other (conflict), and three
models at once. A row of the table sums up the requests of one kind and limit, asked in a process of its own
after one request to warm up: how many were answered with a point, how many were proved to have none, the
median and the largest overrun in seconds, and the most memory that the process took, in megabytes. Searches
and overruns are timed by the processor's clock, so that other processes do not count.

usage: python benchmarks/run.py [--resume] limits      (COUNT=500 and SEED=0 in the environment)
       python benchmarks/audit/limits.py --count 5 --seed 3 KIND LIMIT    (requests of one kind, one by one)
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd

sys.path.insert(0, str(Path(__file__).parents[2]))

from benchmarks import cpu_clock  # noqa: F401

COLUMNS = ["kind", "limit", "requests", "points", "infeasible", "median", "over", "memory"]
KEY = COLUMNS[:2]
LIMITS = (0.2, 0.5, 2.0)
KINDS = ("plain", "plausible", "at_most", "alternatives", "whole", "narrow", "conflict", "models")
COUNT, SEED = int(os.environ.get("COUNT", 500)), int(os.environ.get("SEED", 0))
PER_TABLE = 3  # requests of the same table: models of hundreds of features take their time to fit


def rows(done=()):
    batches = [(kind, limit) for kind in KINDS for limit in LIMITS]
    for number, (kind, limit) in enumerate(batches):
        count = COUNT // len(batches) + (number < COUNT % len(batches))
        if count and (kind, str(limit)) not in done:
            yield {"kind": kind, "limit": limit, **summed_up(asked(kind, limit, count, 1000 * SEED + number))}


def asked(kind, limit, count, seed):
    """The requests of one batch, as the child prints them."""
    child = subprocess.run(
        [sys.executable, __file__, "--count", str(count), "--seed", str(seed), kind, str(limit)],
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=3600,
    )
    if child.returncode:
        raise SystemExit(child.stderr)
    return [json.loads(line) for line in child.stdout.splitlines()]


def summed_up(found):
    over = [one["over"] for one in found]
    return {
        "requests": len(found),
        "points": sum(one["point"] for one in found),
        "infeasible": sum(one["status"] == "infeasible" for one in found),
        "median": round(max(0.0, float(np.median(over))), 2),
        "over": round(max(0.0, max(over)), 2),
        "memory": max(one["memory"] for one in found),
    }


def batch(kind, limit, count, seed):
    """In the child: tables, models and requests, one line of JSON for each."""
    from surefoot import ConditionalGaussianNetworkClassifier

    rng = np.random.default_rng(seed)
    for number in range(count):
        if number % PER_TABLE == 0:
            table, structure, said = random_table(rng, kind)
            y = np.arange(len(table)) % 2
            classifier = ConditionalGaussianNetworkClassifier(structure).fit(table, y)
        settings = random_settings(rng, kind, table)
        row = table.iloc[int(rng.integers(len(table)))]
        if number == 0:
            ask(classifier, table, y, row, kind, 0.1, settings)
        answer = ask(classifier, table, y, row, kind, limit, settings)
        print(json.dumps({"number": number, "table": said, **answer, "asked": repr(settings)}), flush=True)


def random_table(rng, kind):
    """Two classes; numbers alone, or categories too."""
    most = 40 if kind == "models" else 300
    if rng.random() < 0.5:
        n, k, size = int(rng.integers(10, most + 1)), 0, 0
    else:
        n, k = int(rng.integers(0, 10)), int(rng.integers(2, 31))
        size = int(10 ** rng.uniform(0.5, 3 if k <= 4 and kind != "models" else 1))
    m = max(600, 3 * n, 3 * size)
    y = np.arange(m) % 2
    gaps = rng.normal(size=n) * rng.choice([0.1, 0.4, 1.0])
    numbers = (
        rng.normal(size=(m, n)) * np.where(y[:, None], rng.uniform(0.6, 1.6, n), 1.0) + gaps * y[:, None]
    )
    numbers = numbers.round(1) * 10 if kind == "whole" else numbers
    table = pd.DataFrame(numbers, columns=[f"x{j}" for j in range(n)])
    for c in range(k):
        shares = rng.dirichlet(np.full(size, 2.0), 2)
        codes = np.where(y, rng.choice(size, m, p=shares[1]), rng.choice(size, m, p=shares[0]))
        table[f"c{c}"] = [f"v{code}" for code in codes]
    structure = str(rng.choice(["naive", "tan"]))
    if size > 100:
        structure = {"c1": ["c0"]}
    said = f"{n} numbers, {k} categories of {size}, {structure if isinstance(structure, str) else 'c0 -> c1'}"
    return table, structure, said


def random_settings(rng, kind, table):
    from surefoot import Action, Actions

    found = {"norm": float(rng.choice([1, 2, np.inf])), "budget": float(rng.choice([0.0, 0.02, 0.1]))}
    if kind == "plausible":
        found["plausible"] = float(rng.choice([0.05, 0.3, 0.8]))
    if kind == "at_most":
        found["actions"] = Actions(at_most=int(rng.integers(1, 4)))
    if kind == "models":
        found["models"] = 3
    if kind == "narrow":
        some = rng.permutation(list(table))[: rng.integers(1, 4)]
        found["immutable"] = [str(name) for name in table if name not in some]
        numbers = {str(name): Action(most=0.1) for name in some if str(name).startswith("x")}
        found["actions"] = Actions(numbers)
    if kind == "conflict":
        found["actions"], found["preset"] = conflicting(rng, table), "paper"
    return found


def conflicting(rng, table):
    """Rules that leave little or nothing: sums out of reach, and a few changes that cannot be enough."""
    from surefoot import Actions

    numbers = [str(name) for name in table if str(name).startswith("x")]
    rules = []
    for _ in range(int(rng.integers(1, 4)) if len(numbers) > 1 else 0):
        a, b = (str(name) for name in rng.choice(numbers, 2, replace=False))
        rules.append(f"{a} + {b} {rng.choice(['<=', '>='])} {float(rng.normal()) * 4:.3f}")
    some = {str(name): "stay" for name in table if rng.random() < 0.8}
    return Actions(some, rules=rules, at_most=int(rng.integers(1, 4)))


def ask(classifier, table, y, row, kind, limit, settings):
    from benchmarks.asking import CounterfactualExplainer

    given = {"data": (table, y)} if kind == "models" else {}
    explainer = CounterfactualExplainer(classifier, time_limit=limit, **settings, **given)
    if kind == "models":
        explainer.refits.searched  # noqa: B018 - they are fitted here, before the clock starts
    start = time.process_time()
    if kind == "alternatives":
        found = explainer.alternatives(row, n=2)
    else:
        found = [explainer.explain(row, on_failure="return")]
    seconds = time.process_time() - start
    allowed = limit
    return {
        "status": str(found[0].status) if found else "none",
        "point": bool(found) and bool(np.isfinite(found[0].distance)),
        "over": round(seconds - allowed, 3),
        "memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("kind", choices=KINDS)
    parser.add_argument("limit", type=float)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    batch(given.kind, given.limit, given.count, given.seed)
