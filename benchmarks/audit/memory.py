"""Does the memory of the main process grow with the rows of a table? `predict` and `explain --all` on files.

Rows of German credit, resampled. Printed for each size: the largest resident memory of the main process (the
system's own count), seconds, and rows of the output.

usage: python benchmarks/audit/memory.py [--predict 10000 1000000] [--explain 1000 10000] [--parquet]
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd

from surefoot import ConditionalGaussianNetworkClassifier, datasets

PART = 50_000


def table(folder, data, rows, parquet):
    """Written in parts, as a million rows need not fit either."""
    rng, path = np.random.default_rng(0), folder / "d.csv"
    for start in range(0, rows, PART):
        size = min(PART, rows - start)
        part = data.sample(size, replace=True, random_state=start).reset_index(drop=True)
        part["credit_amount"] = (part["credit_amount"] * np.exp(rng.normal(0, 0.1, size))).round().astype(int)
        part.to_csv(path, index=False, header=start == 0, mode="w" if start == 0 else "a")
    if parquet:
        pd.read_csv(path).to_parquet(folder / "d.parquet", row_group_size=PART)
        return "d.parquet"
    return "d.csv"


def measured(folder, *arguments):
    """Largest memory of a command in megabytes, and its seconds."""
    start = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-m", "surefoot", *arguments], cwd=folder, stderr=subprocess.DEVNULL
    )
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return used.ru_maxrss / 1024, time.perf_counter() - start, process.returncode


def main():
    about = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    about.add_argument("--predict", type=int, nargs="*", default=[10_000, 100_000, 1_000_000])
    about.add_argument("--explain", type=int, nargs="*", default=[1_000, 10_000])
    about.add_argument("--parquet", action="store_true")
    asked = about.parse_args()
    data = datasets.load_german_credit()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        ConditionalGaussianNetworkClassifier(structure="tan").fit(data.X, data.y).save(folder / "m.json")
        for command in ("predict", "explain"):
            for rows in getattr(asked, command):
                source = table(folder, data.X, rows, asked.parquet)
                more = ["--all", "--target", "good", "--jobs", "2", "--quiet"] if command == "explain" else []
                memory, seconds, status = measured(
                    folder, command, "m.json", source, *more, "--output", "o.csv"
                )
                with open(folder / "o.csv", "rb") as file:
                    lines = sum(1 for _ in file) - 1
                took = f"{memory:7.0f} MB, {seconds:7.1f} s"
                print(f"{command} {rows:>9,} rows: {took}, {lines:,} lines ({status})", flush=True)


if __name__ == "__main__":
    main()
