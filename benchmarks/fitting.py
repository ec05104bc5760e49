"""Fitting a million rows: time and peak memory against scikit-learn, each in a process of its own."""

import json
import subprocess
import sys

COLUMNS = ["estimator", "seconds", "peak memory / input", "time / QDA"]

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


def measure(name):
    result = subprocess.run([sys.executable, "-c", CHILD, name], capture_output=True, text=True, check=True)
    return json.loads(result.stdout)


def rows():
    qda, qda_memory = measure("QDA")
    yield dict(zip(COLUMNS, ["QDA", f"{qda:.2f}", f"{qda_memory:.2f}", "1.00"], strict=True))
    names = ("GaussianNB", "surefoot, naive", "surefoot, complete graph", "surefoot, ban", "surefoot, tan")
    for name in names:
        seconds, memory = measure(name)
        values = [name, f"{seconds:.2f}", f"{memory:.2f}", f"{seconds / qda:.2f}"]
        yield dict(zip(COLUMNS, values, strict=True))
