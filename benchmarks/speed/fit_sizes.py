"""`surefoot fit` on tables of 1,000 to 200,000 rows, beside an earlier checkout.

Synthetic tables with skewed numbers, categories of 2 to 500 values and 3 % holes. Each command runs by
itself: CPU seconds (one thread), seconds on the clock and peak memory are those of its process, with reading,
choosing, refits and the comparison with other models. One that takes longer than LIMIT seconds is stopped.

usage: BEFORE=CHECKOUT/src python benchmarks/run.py fit_sizes      (ROWS=1000,20000,200000, LIMIT=600)
"""

import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
import pandas as pd

COLUMNS = ["rows", "features", "code", "CPU seconds", "seconds", "peak MB", "chosen log loss"]
KEY = ["rows", "code"]
ROWS = [int(n) for n in os.environ.get("ROWS", "1000,20000,200000").split(",")]
LIMIT = float(os.environ.get("LIMIT", 600))
SIZES = (2, 3, 500, 8, 12, 50)


def rows(done=frozenset()):
    here = Path(__file__).parents[2] / "src"
    trees = {"now": here} | ({"before": Path(os.environ["BEFORE"])} if "BEFORE" in os.environ else {})
    for n in ROWS:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "table.csv"
            features = (12, 8) if n > 100_000 else (8, 7)
            table(n, *features).to_csv(path, index=False)
            for code, tree in trees.items():
                if (str(n), code) not in done:
                    yield {"rows": n, "features": sum(features), "code": code, **measured(path, tree)}


def table(n, n_numbers, n_categories, seed=0):
    """Everything hangs on four hidden numbers, and so does the label."""
    rng = np.random.default_rng(seed)
    hidden, columns = rng.normal(size=(n, 4)), {}
    for i in range(n_numbers):
        z = hidden @ rng.normal(size=4) + rng.normal(size=n)
        columns[f"n{i}"] = np.exp(0.5 * z).round(2) if i % 2 else (10 * z).round(1)
    for k in range(n_categories):
        size = SIZES[k % len(SIZES)]
        z = hidden @ rng.normal(size=4) + rng.normal(size=n)
        part = pd.qcut(pd.Series(z).rank(method="first"), size, labels=False).to_numpy()
        columns[f"c{k}"] = np.array([f"v{v}" for v in rng.permutation(size)], dtype=object)[part]
    frame = pd.DataFrame(columns)
    for name in frame.columns[::3]:
        frame.loc[rng.random(n) < 0.03, name] = np.nan
    better = hidden[:, 0] + 0.5 * hidden[:, 1] + rng.normal(size=n) > 0
    return frame.assign(label=np.where(better, "good", "bad"))


def measured(path, tree):
    command = [sys.executable, "-m", "surefoot", "fit", str(path), "--label", "label"]
    environment = os.environ | {"PYTHONPATH": str(tree), "OMP_NUM_THREADS": "1"}
    start = time.perf_counter()
    with tempfile.TemporaryFile("w+") as out:
        child = subprocess.Popen(
            [*command, "--output", str(path.with_suffix(".json"))],
            env=environment, stdout=out, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        stop = threading.Timer(LIMIT, child.kill)
        stop.start()
        _, status, used = os.wait4(child.pid, 0)  # what this one child used
        stop.cancel()
        child.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        loss = chosen_loss(out.read())
    seconds = time.perf_counter() - start
    if child.returncode > 0:  # a figure of a command that failed would mislead
        raise SystemExit(f"{' '.join(command)} with PYTHONPATH={tree} ended with {child.returncode}")
    return {
        "CPU seconds": f"{used.ru_utime + used.ru_stime:.1f}",
        "seconds": f"{seconds:.1f}" if child.returncode == 0 else f"stopped after {seconds:.0f}",
        "peak MB": f"{used.ru_maxrss / 1000:.0f}",
        "chosen log loss": loss,
    }


def chosen_loss(text):
    lines = text.splitlines()
    heads = [k for k, line in enumerate(lines) if line.startswith("structure")]
    return lines[heads[0] + 1].split()[-2] if heads else ""
