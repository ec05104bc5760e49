"""How long an import takes, in fresh processes taken in turn: the least of seven.

usage: python benchmarks/run.py imports
"""

import subprocess
import sys
import time

COLUMNS = ["import", "seconds", "times sklearn.naive_bayes"]
STATEMENTS = [
    "import sklearn.naive_bayes",
    "import surefoot",
    "from surefoot import CounterfactualExplainer, ConditionalGaussianNetworkClassifier",
]


def seconds(statement):
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", statement], check=True)
    return time.perf_counter() - start


def rows():
    times = [[seconds(statement) for statement in STATEMENTS] for _ in range(7)]
    least = [min(column) for column in zip(*times, strict=True)]
    for statement, value in zip(STATEMENTS, least, strict=True):
        yield dict(zip(COLUMNS, (statement, f"{value:.3f}", f"{value / least[0]:.2f}"), strict=True))
