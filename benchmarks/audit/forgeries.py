"""Honest answers changed at random: does the checker accept what is false, or stumble?

usage: python benchmarks/run.py forgeries                                  (2,000 changed files of each kind)
       python benchmarks/audit/forgeries.py [--count N] [--seconds S] [--seed K] [--log FILE]

The second form keeps a line for each file that was accepted or went wrong, and goes on where the log ends.
What is accepted is judged by its meaning, with code that shares nothing with the checker. If its question is
another than the honest one, the question is asked anew: its own answer, found by the search, must neither
lie nearer than the bound of the file nor be proved to lie farther than its point.
"""

import argparse
import copy
import json
import math
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2]))

from benchmarks.audit.forging.changes import KINDS, mutant
from benchmarks.audit.forging.honest import pool
from benchmarks.audit.forging.judge import forged
from surefoot import verify
from surefoot.exceptions import DataError
from surefoot.explain.result.explanation import Explanation
from surefoot.proof import exact

COLUMNS = [
    "kind",
    "files",
    "unreadable",
    "refused",
    "accepted, still true",
    "forged",
    "crashes",
]
KEY = COLUMNS[:1]
EACH = 2_000
PATIENCE = 60.0  # seconds for one file
READ = 0.05  # of all files are also read as `surefoot verify` reads them

INF = math.inf

# ----- running ----------------------------------------------------------------------------------------------


def verdict(models, e):
    """ "accepted", "refused" or "unreadable"; anything else is a crash."""
    try:
        claims = exact.check(models, e, PATIENCE)
    except exact.UnreadableError:
        return "unreadable"
    return "accepted" if all(claim.verdict == exact.HOLDS for claim in claims) else "refused"


def read(honest, e):
    """As the command reads it: an explanation, or one line."""
    try:
        verify(Explanation.from_json(json.dumps(e)), honest.classifiers[0], models=honest.classifiers[1:])
    except DataError:
        return


def tried(seed, kind, small=False):
    """One changed file: what became of it, and what was changed."""
    rng = np.random.default_rng(seed)
    honest = pool(small)[rng.integers(len(pool(small)))]
    e, said = mutant(rng, honest, kind)
    try:
        outcome = verdict(honest.contents, copy.deepcopy(e))
        if rng.random() < READ:
            read(honest, e)
    except Exception as error:
        return "crash", f"{said} ({type(error).__name__}: {error})"
    if outcome != "accepted":
        return outcome, said
    try:
        with np.errstate(all="ignore"):
            wrong = forged(honest, e, rng)
    except Exception as error:
        wrong = [f"the judge cannot tell ({type(error).__name__}: {error})"]
    return ("forged", f"{said}: {'; '.join(wrong)}") if wrong else ("true", said)


def summary(kind, counts):
    names = ("unreadable", "refused", "true", "forged", "crash")
    values = [sum(counts[name] for name in names), *(counts[name] for name in names)]
    return dict(zip(COLUMNS, [kind, *values], strict=True))


def rows(done=()):
    for number_of_kind, kind in enumerate(KINDS):
        if (kind,) not in done:
            found = Counter(tried([number_of_kind, k], kind)[0] for k in range(EACH))
            yield summary(kind, found)


def resumed(log):
    """Counts by kind, and how many files are done, from a log."""
    counts, done = {kind: Counter() for kind in KINDS}, 0
    for line in log.read_text(encoding="utf-8").splitlines() if log.exists() else []:
        entry = json.loads(line)
        if "counts" in entry:
            done, counts = entry["done"], {kind: Counter(c) for kind, c in entry["counts"].items()}
    return counts, done


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--seconds", type=float, default=INF, help="stop after so many")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--log", type=Path, default=Path(tempfile.gettempdir()) / "surefoot-forgeries.jsonl")
    options = parser.parse_args()
    counts, done = resumed(options.log)
    started, kinds = time.monotonic(), list(KINDS)
    with options.log.open("a", encoding="utf-8") as log:
        for k in range(done, options.count):
            kind = kinds[k % len(kinds)]
            outcome, said = tried([options.seed, k], kind)
            counts[kind][outcome] += 1
            if outcome in ("true", "forged", "crash"):
                log.write(json.dumps({"number": k, "outcome": outcome, "said": said}) + "\n")
            if outcome in ("forged", "crash"):
                print(f"{outcome}: number {k}: {said}", flush=True)
            over = time.monotonic() - started > options.seconds
            if k % 500 == 499 or over or k + 1 == options.count:
                log.write(json.dumps({"done": k + 1, "counts": counts}) + "\n")
                log.flush()
            if over:
                break
    for kind in kinds:
        print("  ".join(f"{key}: {value}" for key, value in summary(kind, counts[kind]).items()))


if __name__ == "__main__":
    main()
