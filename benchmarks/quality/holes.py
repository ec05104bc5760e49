"""Accuracy when a tenth of all entries is missing, in training and test rows alike: 5-fold, ten removals.

The same folds with and without holes. "selected" has the settings that `select` chooses on the full table;
the others are the classifier's defaults with that structure. "filled" is the same model on rows whose holes
were filled with the median or most frequent value of the training rows. Seconds are processor time.

usage: python benchmarks/run.py [--resume] holes
"""

import time
import warnings

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold

from surefoot import ConditionalGaussianNetworkClassifier, datasets, select
from surefoot.exceptions import SurefootWarning

KEY = ["table", "model"]
COLUMNS = [
    "table", "model", "settings", "accuracy", "accuracy with holes", "(s.e.)", "fall",
    "accuracy, holes filled", "log loss", "log loss with holes", "seconds to fit with holes",
]  # fmt: skip
SHARE, REMOVALS = 0.1, 10
MODELS = {
    "naive": lambda *_: ConditionalGaussianNetworkClassifier("naive"),
    "tan": lambda *_: ConditionalGaussianNetworkClassifier("tan"),
    "selected": lambda X, y: select(X, y).classifier,
}
LOADERS = {"Pima": datasets.load_pima, "German credit": datasets.load_german_credit}


def with_holes(X, seed):
    return X.mask(np.random.default_rng(seed).random(X.shape) < SHARE)


def filled(train, rows):
    values = {
        name: column.median() if pd.api.types.is_numeric_dtype(column) else column.mode().iloc[0]
        for name, column in train.items()
    }
    return rows.fillna(values)


def cross_validated(clf, X, y, fill=False):
    """Accuracy, log loss and mean seconds of `fit`."""
    codes = np.unique(y, return_inverse=True)[1]
    p, seconds = np.empty((len(y), codes.max() + 1)), 0.0
    for train, test in StratifiedKFold(5, shuffle=True, random_state=1).split(X, codes):
        known, asked = X.iloc[train], X.iloc[test]
        if fill:
            known, asked = filled(known, known), filled(known, asked)
        start = time.process_time()
        model = clone(clf).fit(known, y[train])
        seconds += (time.process_time() - start) / 5
        p[test] = model.predict_proba(asked)
    own = np.maximum(p[np.arange(len(y)), codes], 1e-15)
    return 100 * (p.argmax(axis=1) == codes).mean(), -np.log(own).mean(), seconds


def described(clf):
    calibration = clf.calibration or "none"
    return f"{clf.structure}/{clf.marginals}/{clf.shrinkage:g}/{clf.cell_smoothing:g}/{calibration}"


def rows(done=frozenset()):
    warnings.simplefilter("ignore", SurefootWarning)  # few rounds of EM; a fold may lack a rare value
    for table, load in LOADERS.items():
        data = load()
        X, y = data.X, np.asarray(data.y)
        for name, make in MODELS.items():
            if (table, name) not in done:
                yield measured(table, name, make(X, y), (X, y))


def measured(table, name, clf, data):
    X, y = data
    full, loss, _ = cross_validated(clf, X, y)
    found = np.array([cross_validated(clf, with_holes(X, seed), y) for seed in range(REMOVALS)])
    plain = np.mean([cross_validated(clf, with_holes(X, seed), y, fill=True)[0] for seed in range(REMOVALS)])
    accuracy, with_loss, seconds = found.mean(axis=0)
    error = found[:, 0].std(ddof=1) / np.sqrt(REMOVALS)
    values = [
        table, name, described(clf), f"{full:.1f}", f"{accuracy:.1f}", f"{error:.1f}",
        f"{full - accuracy:.1f}", f"{plain:.1f}", f"{loss:.3f}", f"{with_loss:.3f}", f"{seconds:.2f}",
    ]  # fmt: skip
    return dict(zip(COLUMNS, values, strict=True))
