"""A run killed at random moments and resumed: is its table that of an undisturbed run, and is anything lost?

Rows of German credit or Pima, resampled with noise in the numbers. The same command is killed with -9 (and,
two times of four, ended by SIGTERM or Ctrl-C) and started again until it was stopped so many times; then it
runs to its end. Printed: whether both tables are equal but for times, how many rows were finished more than
once (rows in flight at a kill are not counted: nothing is known of them), and whether a process was left
behind.

usage: python benchmarks/audit/stopped_runs.py [--data pima] [--rows 20000] [--kills 10] [--jobs 2]
                                               [--seed 0] [--full-disk] [--audit]

``--full-disk`` needs the rights to mount a small file system in memory, and runs on it with too little room.
"""

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

import numpy as np
import pandas as pd

from surefoot import ConditionalGaussianNetworkClassifier, datasets

# How each table is loaded, the numbers that get noise, their decimals, and the class that is wanted.
DATA = {
    "german_credit": (datasets.load_german_credit, ("credit_amount", "duration_months", "age"), 0, "good"),
    "pima": (datasets.load_pima, ("plas", "mass", "pedi", "age"), 3, "0"),
}


def prepared(folder, rows, name):
    load, noisy, digits, _ = DATA[name]
    data = load()
    clf = ConditionalGaussianNetworkClassifier(structure="tan").fit(data.X, data.y)
    clf.save(folder / "m.json")
    rng = np.random.default_rng(0)
    table = data.X.sample(rows, replace=True, random_state=0).reset_index(drop=True)
    for name in noisy:
        whole = (table[name] % 1 == 0).all()
        noise = (table[name] * np.exp(rng.normal(0, 0.1, rows))).round(0 if whole else digits)
        table[name] = noise.astype(table[name].dtype)
    table.insert(0, "id", [f"=c{k}" for k in range(rows)])
    table.to_csv(folder / "d.csv", index=False)


def command(output, asked):
    flags = ("--target", DATA[asked.data][3], "--id", "id", "--quiet", "--jobs", str(asked.jobs))
    what = (
        ("audit", "--by", "age:25,40", "--table", output)
        if asked.audit
        else ("explain", "--all", "--output", output)
    )
    return [sys.executable, "-m", "surefoot", what[0], "m.json", "d.csv", *flags, *what[1:]]


def kept(folder, output):
    parts = (folder / f"{output}.parts").glob("rows-*.jsonl")
    return sum(path.read_bytes().count(b"\n") for path in parts)


def finished_twice(folder, output):
    """Lines of the journal beyond one for each row."""
    parts = sorted((folder / f"{output}.parts").glob("rows-*.jsonl"))
    numbers = [json.loads(line.split(b" ", 1)[1])[0] for path in parts for line in path.open("rb")]
    return len(numbers) - len(set(numbers))


def stopped(folder, asked, whole_seconds):
    """Kill the run so many times; how many rows it had finished each time."""
    chance, counts, kills = random.Random(asked.seed), [], asked.kills
    signal.signal(
        signal.SIGINT, signal.default_int_handler
    )  # ignored in the background of a shell, by children too
    for k in range(kills):
        process = subprocess.Popen(command("o.csv", asked), cwd=folder, stderr=subprocess.PIPE, text=True)
        while process.poll() is None and kept(folder, "o.csv") <= max([0, *counts]):
            time.sleep(0.05)
        time.sleep(chance.random() * 0.5 * whole_seconds / kills)
        if process.poll() is not None:
            print(f"over before kill {k}: {process.communicate()[1]}")
            break
        number = (signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGINT)[k % 4]
        process.send_signal(number)
        process.communicate(timeout=60)
        if (folder / "o.csv").exists():
            print(f"the table was in its place before kill {k}")
            break
        counts.append(kept(folder, "o.csv"))
        print(f"{signal.Signals(number).name}: {counts[-1]} rows kept", flush=True)
    return counts


def left_behind(folder):
    """Processes that still work in the folder."""
    time.sleep(2)
    found = []
    for path in Path("/proc").glob("[0-9]*/cwd"):
        try:
            found += [path.parent.name] if os.readlink(path) == str(folder) else []
        except OSError:
            continue
    return found


def full_disk(folder, asked):
    small = folder / "small"
    small.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=96k", "none", str(small)], check=True)
    try:
        done = subprocess.run(command("small/o.csv", asked), cwd=folder, capture_output=True, text=True)
        rows = kept(folder, "small/o.csv")
        print(f"full disk: status {done.returncode}, {rows} rows kept; it says: {done.stderr.strip()}")
        subprocess.run(["mount", "-o", "remount,size=200m", str(small)], check=True)
        done = subprocess.run(command("small/o.csv", asked), cwd=folder, capture_output=True, text=True)
        said = [line for line in done.stderr.splitlines() if "explanations:" in line]
        print(f"with room: status {done.returncode}; {said}; equal: {equal(folder, 'small/o.csv')}")
    finally:
        subprocess.run(["umount", str(small)], check=True)


def equal(folder, output):
    one, other = (pd.read_csv(folder / name).drop(columns="seconds") for name in ("whole.csv", output))
    return one.equals(other)


def main():
    about = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    about.add_argument("--data", choices=DATA, default="german_credit")
    for name, value in (("rows", 20_000), ("kills", 10), ("jobs", 2), ("seed", 0)):
        about.add_argument(f"--{name}", type=int, default=value)
    about.add_argument("--full-disk", action="store_true")
    about.add_argument("--audit", action="store_true", help="surefoot audit in the place of explain --all")
    asked = about.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        prepared(folder, asked.rows, asked.data)
        start = time.perf_counter()
        subprocess.run(command("whole.csv", asked), cwd=folder, capture_output=True)
        seconds = time.perf_counter() - start
        print(f"undisturbed: {seconds:.1f} s, {asked.rows / seconds:.1f} rows per second", flush=True)
        counts = stopped(folder, asked, seconds)
        again = subprocess.Popen(command("o.csv", asked), cwd=folder, stderr=subprocess.PIPE, text=True)
        twice = 0
        while again.poll() is None:
            with suppress(OSError, ValueError, IndexError):  # a line is being written, or the folder is gone
                twice = max(twice, finished_twice(folder, "o.csv"))
            time.sleep(0.5)
        said = again.communicate()[1]
        print(f"finished more than once: {twice}")
        print(next((line for line in said.splitlines() if "explanations:" in line), ""))
        print(f"kept rows never fell: {counts == sorted(counts)}; equal tables: {equal(folder, 'o.csv')}")
        print(f"left: {sorted(os.listdir(folder))}; processes left behind: {left_behind(folder)}")
        if asked.full_disk:
            full_disk(folder, asked)


if __name__ == "__main__":
    main()
