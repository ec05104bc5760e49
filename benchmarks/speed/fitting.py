"""Fitting a million rows: time and peak memory against scikit-learn, each in a process of its own.

With ten categories: 40 columns of numbers and ten of text with 2 to 11 values, beside 50 columns of numbers
in the same process, both in turn, the median of three; seconds of processor time.

usage: python benchmarks/run.py [--resume] fitting      (ROWS=200000 in the environment for fewer rows)
"""

import json
import os
import subprocess
import sys

KEY = ["estimator"]
COLUMNS = ["estimator", "seconds", "peak memory / input", "time / QDA", "time / without categories"]
ROWS = int(os.environ.get("ROWS", 1_000_000))

CHILD = """
import json, resource, sys, time
import numpy as np
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis
from sklearn.naive_bayes import GaussianNB
from surefoot import ConditionalGaussianNetworkClassifier as CGN, Dag

rng = np.random.default_rng(0)
X = rng.standard_normal((1_000_000, 50))
y = rng.integers(0, 2, len(X))
estimator = {
    "surefoot, naive": CGN("naive"),
    "surefoot, complete graph": CGN(Dag.complete(50)),
    "surefoot, ban": CGN("ban"),
    "surefoot, tan": CGN("tan"),
    "GaussianNB": GaussianNB(),
    "QDA": QuadraticDiscriminantAnalysis(),
}[sys.argv[1]]
start = time.perf_counter()
estimator.fit(X, y)
seconds = time.perf_counter() - start
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
print(json.dumps([seconds, peak / X.nbytes]))
"""


MIXED_CHILD = """
import json, resource, sys, time
import numpy as np, pandas as pd
from surefoot import ConditionalGaussianNetworkClassifier as CGN

n_rows, structure = int(sys.argv[1]), sys.argv[2]
rng = np.random.default_rng(0)
X = rng.standard_normal((n_rows, 50))
y = rng.integers(0, 2, n_rows)
mixed = pd.DataFrame(X[:, :40], columns=[f"number {i}" for i in range(40)])
for k in range(10):
    mixed[f"category {k}"] = np.array([f"value {v}" for v in range(k + 2)])[rng.integers(0, k + 2, n_rows)]

def seconds(table):
    start = time.process_time()
    CGN(structure).fit(table, y)
    return time.process_time() - start

pairs = np.median([[seconds(mixed), seconds(X)] for _ in range(3)], axis=0)
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
print(json.dumps([*pairs.tolist(), peak / (X.nbytes + int(mixed.memory_usage(deep=True).sum()))]))
"""


def measure(name):
    return run(CHILD, name)


def run(program, *arguments):
    command = [sys.executable, "-c", program, *arguments]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(result.stdout)


def rows(done=frozenset()):
    names = ("GaussianNB", "surefoot, naive", "surefoot, complete graph", "surefoot, ban", "surefoot, tan")
    if ("QDA",) not in done:
        yield from without_categories(names)
    for structure in ("naive", "tan"):
        name = f"surefoot, {structure}, ten categories, {ROWS:,} rows"
        if (name,) not in done:
            mixed, plain, memory = run(MIXED_CHILD, str(ROWS), structure)
            values = [name, f"{mixed:.2f}", f"{memory:.2f}", "", f"{mixed / plain:.2f}"]
            yield dict(zip(COLUMNS, values, strict=True))


def without_categories(names):
    qda, qda_memory = measure("QDA")
    yield dict(zip(COLUMNS, ["QDA", f"{qda:.2f}", f"{qda_memory:.2f}", "1.00", ""], strict=True))
    for name in names:
        seconds, memory = measure(name)
        values = [name, f"{seconds:.2f}", f"{memory:.2f}", f"{seconds / qda:.2f}", ""]
        yield dict(zip(COLUMNS, values, strict=True))
