"""DiCE, NICE and CEML on the cases of worth.py, by the adapters of benchmarks/peers; none without them."""

import os
import random
import signal
import sys
import time
import warnings
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import numpy as np
import pandas as pd

sys.path.append(str(Path(__file__).parents[1] / "peers"))
try:
    import adapters
    import setting
except ImportError:  # the peers have an environment of their own
    adapters = None


LIMIT = 60  # seconds of CPU for one row


class OutOfTime(BaseException):
    """Not an Exception: peers catch those."""


class Coded:
    """A classifier of tables whose labels, and if so asked whose categories, are whole numbers."""

    def __init__(self, case, codes):
        self.model, self.dtypes, self.values = case.original, case.X.dtypes.to_dict(), codes
        self.classes_ = np.arange(len(case.clf.classes_))

    def predict_proba(self, X):
        frame = pd.DataFrame(np.asarray(X), columns=list(self.dtypes))
        for name, values in self.values.items():
            frame[name] = np.asarray(values)[frame[name].astype(int)]
        kinds = {c: float if t.kind in "iuf" else t for c, t in self.dtypes.items()}
        return self.model.predict_proba(frame.astype(kinds))

    def predict(self, X):
        return self.predict_proba(X).argmax(axis=1)


def posed(case, peer):
    """The case as the adapters know it: NICE wants codes for categories, CEML the classifier itself."""
    schema = case.clf.schema_
    words = [schema.names[k] for k in schema.categories]
    codes = {}
    X = case.X
    if peer.startswith("NICE"):
        codes = dict(zip(words, schema.category_values, strict=True))
        X = X.assign(**dict(zip(words, schema.encode(X)[1].T, strict=True))).astype(float)
    labels = case.clf.classes_.tolist()
    y = case.y.map(labels.index)
    model = case.original if peer.startswith("CEML") else Coded(case, codes)
    return setting.Case(
        case.table, case.model, model, X, y, [], target=labels.index(case.target), categories=tuple(words)
    ), codes


def answers(case, peer):
    asked, codes = posed(case, peer)
    given = {"points": [], "seconds": []}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the peers are older than the libraries they run with
        explain = adapters.PEERS[peer](asked)
        for k, label in enumerate(case.factuals.index):
            random.seed(k)
            np.random.seed(k)  # noqa: NPY002  # where the peers take their random numbers from
            start = time.process_time()
            point = limited(explain, asked.X.loc[label])
            given["seconds"].append(time.process_time() - start)
            given["points"].append(None if point is None else decoded(point, case.X.columns, codes))
    return given


def limited(explain, factual):
    """A point; none where the peer has none, or takes too long."""
    signal.signal(signal.SIGPROF, out_of_time)
    signal.setitimer(signal.ITIMER_PROF, LIMIT)
    try:
        with open(os.devnull, "w") as null, redirect_stderr(null), redirect_stdout(null):
            return explain(factual).point
    except OutOfTime:
        return None
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def out_of_time(*_):
    raise OutOfTime


def decoded(point, names, codes):
    return [codes[c][int(v)] if c in codes else v for c, v in zip(names, point, strict=True)]


NAMES = ("DiCE random", "DiCE genetic", "NICE sparsity", "NICE none", "CEML l2", "CEML l1, plausible")
PEERS = (
    {}
    if adapters is None
    else {name: (lambda case, name=name: answers(case, name)) for name in NAMES if name in adapters.PEERS}
)
