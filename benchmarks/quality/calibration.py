"""Calibration error over five partitions into folds, for the tables and settings of `tables`.

In one partition the error of a small table is mostly chance, and one perfectly calibrated model in twenty
lies above its 95 % quantile. So each table is divided into five folds in five ways, and a classifier with the
settings that `select` chose most often there, and calibration="temperature", predicts each fold from the
others. Error: mean distance between predicted probability and observed share over ten bins of equal mass,
without and with the temperature and shift, in the mean over the partitions; "chance" is the mean 95 %
quantile of that error if the probabilities were exactly right; "over" counts partitions in which the error
with temperature is above both 0.06 and chance.

usage: python benchmarks/run.py [--resume] calibration      (after tables; PARTITIONS=5 in the environment)
"""

import os
import warnings
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold

from benchmarks.quality.tables import AIMED_AT, OTHERS, calibration_error, chance, log_loss
from surefoot import ConditionalGaussianNetworkClassifier
from surefoot.exceptions import SurefootWarning

KEY = ["table"]
COLUMNS = [
    "table", "rows", "settings", "calibration error, none", "calibration error, temperature", "chance",
    "over", "log loss, none", "log loss, temperature",
]  # fmt: skip
PARTITIONS = int(os.environ.get("PARTITIONS", 5))
ENOUGH = 0.06
CHOSEN = Path(__file__).parents[1] / "results" / "tables.csv"


def rows(done=frozenset()):
    warnings.simplefilter("ignore", SurefootWarning)  # a fold may lack a rare value
    chosen = pd.read_csv(CHOSEN).set_index("table")["chosen"]
    for name, load in (AIMED_AT | OTHERS).items():
        if (name,) not in done:
            X, y = load()
            yield measured(name, X, y, most_often(chosen[name]))


def most_often(chosen):
    """The first four settings of the form 'ban/auto/0.3/10/temperature x4; ...', calibration apart."""
    counts = Counter()
    for part in chosen.split("; "):
        settings, times = part.rsplit(" x", 1)
        counts[settings.rsplit("/", 1)[0]] += int(times)
    return counts.most_common(1)[0][0]


def classifier(settings, X):
    structure, marginals, shrinkage, smoothing = settings.split("/")
    return ConditionalGaussianNetworkClassifier(
        structure, marginals=marginals, shrinkage=float(shrinkage), cell_smoothing=float(smoothing),
        categorical=categories(X), calibration="temperature",
    )  # fmt: skip


def categories(X):
    """As `select` takes them."""
    return [n for n in X if not pd.api.types.is_numeric_dtype(X[n]) or X[n].nunique() == 2] or "auto"


def measured(name, X, y, settings):
    codes = np.unique(y, return_inverse=True)[1]
    found = np.array([one_partition(classifier(settings, X), X, codes, seed) for seed in range(PARTITIONS)])
    none, error, quantile, raw, loss = found.mean(axis=0)
    over = int((found[:, 1] > np.maximum(ENOUGH, found[:, 2])).sum())
    figures = [f"{figure:.3f}" for figure in (none, error, quantile, raw, loss)]
    values = [name, len(y), settings, *figures[:3], f"{over} of {PARTITIONS}", *figures[3:]]
    return dict(zip(COLUMNS, values, strict=True))


def one_partition(clf, X, codes, seed):
    p = np.empty((2, len(codes), codes.max() + 1))
    for train, test in StratifiedKFold(5, shuffle=True, random_state=100 + seed).split(X, codes):
        model = clone(clf).fit(X.iloc[train], codes[train])
        p[1, test] = model.predict_proba(X.iloc[test])
        model.calibration_ = None
        p[0, test] = model.predict_proba(X.iloc[test])
    none, error = (calibration_error(part, codes) for part in p)
    return none, error, chance(p[1]), log_loss(p[0], codes), log_loss(p[1], codes)
