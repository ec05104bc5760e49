"""Explain the same rows of the same classifiers with every peer; one JSON line each in results/runs.jsonl.

usage: python run.py [PEER ...]      (default: all; what is in the file already is not run again)
"""

import contextlib
import json
import os
import random
import signal
import sys
import time
import warnings
from pathlib import Path

import numpy as np
from adapters import PEERS
from measure import Ruler
from setting import Answer, cases
from threadpoolctl import threadpool_limits
from tqdm import tqdm

RUNS = Path(__file__).parent / "results" / "runs.jsonl"
KEY = ("peer", "data", "classifier", "row")
LIMIT = 60.0


class OutOfTime(BaseException):
    """Not an Exception: peers catch those."""


def main(names):
    unknown = sorted(set(names) - set(PEERS))
    if unknown:
        sys.exit(f"unknown: {', '.join(unknown)}; the peers are: {', '.join(PEERS)}")
    warnings.simplefilter("ignore")  # the peers are older than the libraries they run with
    signal.signal(signal.SIGALRM, _alarm)
    RUNS.parent.mkdir(exist_ok=True)
    done = _done()
    with RUNS.open("a", encoding="utf-8") as file, threadpool_limits(1):
        for case in cases():
            ruler = Ruler(case)
            for name in names or PEERS:
                for record in records(name, case, ruler, done):
                    file.write(json.dumps(record) + "\n")
                    file.flush()


def records(name, case, ruler, done):
    """One record for each row that is not done yet; nothing where the peer does not take the classifier."""
    left = [row for row in case.rows if (name, case.data, case.classifier, row) not in done]
    if not left:
        return
    started = time.perf_counter()
    explain = PEERS[name](case)
    setup = time.perf_counter() - started
    if explain is None:
        return
    for row in tqdm(left, desc=f"{case.data}, {case.classifier}, {name}", unit="row"):
        busy = time.process_time()
        status, seconds, answer = _timed(explain, case.factual(row), row)
        if seconds > 1 and time.process_time() - busy < seconds / 2:
            tqdm.write("the machine was busy with something else: not counted, run again", file=sys.stderr)
            continue
        record = dict(zip(KEY, (name, case.data, case.classifier, row), strict=True))
        record |= {"status": status, "seconds": seconds, "setup_seconds": setup}
        if answer.point is not None:
            record |= ruler.measured(row, answer) | {"point": answer.point.tolist()}
        yield record


def _timed(explain, factual, seed):
    random.seed(seed)
    np.random.seed(seed)  # noqa: NPY002  # where the peers take their random numbers from
    started = time.perf_counter()
    try:
        with _silence(), _limited():
            answer = explain(factual)
        status = "none" if answer.point is None else "found"
    except OutOfTime:
        status, answer = "timeout", Answer(None)
    except Exception as error:  # a peer that fails is a result
        status, answer = f"error: {type(error).__name__}: {error}"[:300], Answer(None)
    seconds = time.perf_counter() - started
    if seconds > LIMIT:  # compiled code lets the alarm wait until it returns
        status, answer = "timeout", Answer(None)
    return status, seconds, answer


@contextlib.contextmanager
def _limited():
    signal.setitimer(signal.ITIMER_REAL, LIMIT, 1.0)  # again and again: a destructor may swallow the first
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


@contextlib.contextmanager
def _silence():
    with (
        open(os.devnull, "w") as nowhere,
        contextlib.redirect_stdout(nowhere),
        contextlib.redirect_stderr(nowhere),
    ):
        yield


def _alarm(*_):
    raise OutOfTime


def _done():
    lines = RUNS.read_text(encoding="utf-8").splitlines() if RUNS.exists() else []
    return {tuple(json.loads(line)[key] for key in KEY) for line in lines}


if __name__ == "__main__":
    main(sys.argv[1:])
