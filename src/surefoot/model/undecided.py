"""Whole numbers with few values: as a number or as a category? Held-out log loss decides."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import log_softmax
from sklearn.model_selection import StratifiedKFold

from surefoot.model.calibration import fit_calibration

Array = NDArray[np.float64]
Codes = NDArray[np.intp]

FOLDS = 5
# Rows that are looked at. With ten times as many the choice hardly changes and takes ten times as long.
MOST_ROWS = 20_000
PSEUDO_ROWS = 1.0  # added to each value of a category, so that none is impossible


def undecided_categories(
    frame: pd.DataFrame,
    y: Any,
    undecided: Sequence[Any],
    categorical: Sequence[Any],
    random_state: int | None = 0,
) -> tuple[list[Any], list[str]]:
    """Which of some columns of whole numbers are better taken as categories, and sentences that say so.

    All columns are looked at in a model that takes them as independent in each class, with calibrated
    probabilities: there the kind of one column matters for its own term alone, so that trying both costs next
    to nothing. One after the other, the column whose change lowers the held-out log loss most becomes a
    category, as long as it falls.

    Parameters
    ----------
    frame : DataFrame
    y : array of labels
    undecided : sequence
        Columns of whole numbers with few values.
    categorical : sequence
        Columns that are categories anyhow.
    random_state : int or None
        How rows are shuffled into folds.
    """
    labels = pd.factorize(np.asarray(y), sort=True)[0]
    rows = np.flatnonzero(labels >= 0)
    rows = rows[:: max(1, -(-len(rows) // MOST_ROWS))]
    labels, part = labels[rows], frame.iloc[rows]
    sizes = np.bincount(labels)
    if not len(undecided) or sizes.min() < 2 or len(sizes) < 2:
        return [], []
    splitter = StratifiedKFold(min(FOLDS, int(sizes.min())), shuffle=True, random_state=random_state)
    folds = list(splitter.split(labels[:, None], labels))
    terms = _Terms(part, labels, folds)
    score = terms.prior() + sum(
        terms.category(name) if name in categorical else terms.number(name) for name in frame.columns
    )
    return _greedy(score, {name: terms.category(name) - terms.number(name) for name in undecided}, labels)


def _greedy(score: Array, gains: dict[Any, Array], labels: Codes) -> tuple[list[Any], list[str]]:
    """Columns become categories one after the other while the held-out log loss falls."""
    loss, chosen, notes = _losses(score, labels), [], []
    while gains:
        tried = {name: _losses(score + gain, labels) for name, gain in gains.items()}
        best = min(tried, key=lambda name: float(tried[name].mean()))
        fall = loss - tried[best]
        # No margin. One of a standard error moves the log loss by -0.003 where values are amounts and by
        # +0.002 where they are names (`benchmarks/quality/kinds_rules.py`): no reason for another constant.
        if not fall.mean() > 0:
            break
        notes.append(
            f"{best} is taken as a category: held-out log loss {tried[best].mean():.4f}, "
            f"as a number {loss.mean():.4f}."
        )
        chosen.append(best)
        score, loss = score + gains.pop(best), tried[best]
    if gains:
        stay = "stays a number" if len(gains) == 1 else "stay numbers"
        notes.append(f"{', '.join(map(str, gains))} {stay}: as a category the held-out log loss is no lower.")
    return chosen, notes


def _losses(score: Array, labels: Codes) -> Array:
    """Log loss of each row, once the probabilities are calibrated."""
    calibrated = fit_calibration(score, labels)(score)
    return np.asarray(-log_softmax(calibrated, axis=1)[np.arange(len(labels)), labels])


class _Terms:
    """What single columns add to the log probabilities of held-out rows."""

    def __init__(self, frame: pd.DataFrame, labels: Codes, folds: list[tuple[Codes, Codes]]) -> None:
        self.frame, self.labels, self.folds = frame, labels, folds
        self.classes = int(labels.max()) + 1

    def prior(self) -> Array:
        """The log shares of the classes, for every row."""
        shares = np.bincount(self.labels, minlength=self.classes) / len(self.labels)
        return np.tile(np.log(shares), (len(self.labels), 1))

    def category(self, name: Any) -> Array:
        """What a column adds whose values are names: log shares within each class."""
        codes, values = pd.factorize(self.frame[name])
        found = np.zeros((len(codes), self.classes))
        for train, test in self.folds:
            counts = np.full((self.classes, len(values)), PSEUDO_ROWS)
            known = train[codes[train] >= 0]
            np.add.at(counts, (self.labels[known], codes[known]), 1.0)
            shares = np.log(counts / counts.sum(axis=1, keepdims=True))
            seen = test[codes[test] >= 0]
            found[seen] = shares[:, codes[seen]].T
        return found

    def number(self, name: Any) -> Array:
        """What a column of numbers or dates adds: log densities of a Gaussian within each class."""
        column = self.frame[name]
        if not pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_datetime64_any_dtype(column):
            return self.category(name)
        dates = pd.api.types.is_datetime64_any_dtype(column)
        x = (
            column.to_numpy().astype("datetime64[D]")
            if dates
            else column.to_numpy(dtype=float, na_value=np.nan)
        )
        if dates:
            x = np.where(np.isnat(x), np.nan, x.astype(np.int64).astype(float))
        found = np.zeros((len(x), self.classes))
        known = x[np.isfinite(x)]
        spread = (
            known.var() if len(known) else 0.0
        ) * 1e-6 + 1e-12  # of a class whose values are all the same
        for train, test in self.folds:
            for c in range(self.classes):
                own = x[train][self.labels[train] == c]
                own = own[np.isfinite(own)]
                if len(own):
                    mean, variance = own.mean(), own.var() + spread
                    found[test, c] = -0.5 * ((x[test] - mean) ** 2 / variance + np.log(2 * np.pi * variance))
            found[test] = np.where(np.isfinite(found[test]), found[test], 0.0)
        return found
