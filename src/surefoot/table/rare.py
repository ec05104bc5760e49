"""Categories with very many values: rare ones are put together under one name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

# The name of rare values that are put together. A category that has it takes values that it does not know.
# There is one name, though names by what rare values say of the label would predict better where a value
# says nearly all: where it says little they lose three points of accuracy, and as they are made before rows
# are held out, `select` and `diagnose` would judge a model by labels that it has seen.
RARE = "(rare)"
# Rows that a value needs to stay by itself where there are too many values. With ten times as many, most
# places have no name; with a tenth, chance decides what is learned of them. It is the best of 2, 5, 10, 20,
# 40 and 80 in the mean over synthetic tables (`benchmarks/quality/kinds_rules.py`), where the log loss with
# any other is higher, by 0.0007 (40) to 0.008 (2).
LEAST_ROWS = 20
# Of these the held-out log loss chooses where labels are known: a place that says nearly all about the class
# is worth a name with a few rows, and one that says nothing is not with many. With ten times as many steps,
# chance would choose.
TRIED_ROWS = (LEAST_ROWS, 4 * LEAST_ROWS, LEAST_ROWS // 4)
SMOOTHING = 10.0  # rows of the average added to each class, as a classifier does by default
# Numbers in a table of values by classes: beyond it there are no classes, and it would fill the memory.
MOST_CELLS = 1_000_000
FEWEST_KEPT = 2  # values that stay in any case, so that the category has something to tell


def together(column: pd.Series, most: int, labels: pd.Series | None = None) -> tuple[pd.Series, int]:
    """The column with at most so many values, the rare ones under `RARE`; and how many these are.

    Where there are more, the most frequent values stay, if they have 20 rows (the two most frequent ones in
    any case); of equally frequent ones, those that come first in their order as text. Where labels are known,
    it is 5, 20 or 80 rows, whichever predicts held-out labels best.

    Examples
    --------
    >>> column, rare = together(pd.Series(["b", "a", "a", "c", "d", "d", None]), 3)
    >>> column.tolist()[:6], rare
    (['(rare)', 'a', 'a', '(rare)', 'd', 'd'], 2)
    """
    texts = column.map(as_text, na_action="ignore").astype(object)
    counts = texts.value_counts()
    if len(counts) <= most:
        return column, 0
    order = sorted(counts.index, key=lambda value: (-counts[value], value))
    sizes = {least: _count_kept(int((counts >= least).sum()), most) for least in TRIED_ROWS}
    size = sizes[LEAST_ROWS] if labels is None else _best(texts, order, list(sizes.values()), labels)
    kept = set(order[:size]) - {RARE}
    found = texts.where(texts.isin(kept) | texts.isna(), RARE)
    return found.where(found.notna(), None), len(counts) - len(kept)


def _count_kept(large: int, most: int) -> int:
    return min(most - 1, max(large, FEWEST_KEPT))


def _best(texts: pd.Series, order: Sequence[str], sizes: Sequence[int], labels: pd.Series) -> int:
    """How many of the most frequent values to keep: the first of the sizes with the least held-out loss."""
    places = texts.map({value: place for place, value in enumerate(order)})
    classes, names = pd.factorize(labels)
    known = (places.notna() & (classes >= 0)).to_numpy()
    if not known.any() or (max(sizes) + 1) * len(names) > MOST_CELLS:
        return sizes[0]
    found, own = places.to_numpy(dtype=float)[known].astype(int), classes[known]
    return min(sizes, key=lambda size: _held_out_loss(np.minimum(found, size), own, len(names)))


def _held_out_loss(values: NDArray[np.intp], classes: NDArray[np.intp], count: int) -> float:
    """Log loss of the class of each row given its value alone, whose count the row itself is no part of."""
    cells = np.zeros((int(values.max()) + 1, count))
    np.add.at(cells, (values, classes), 1.0)
    usual, totals = cells.sum(axis=1, keepdims=True) / len(values), cells.sum(axis=0)
    with_all = totals * (cells + SMOOTHING * usual) / (totals + SMOOTHING)
    without = totals * (cells - 1 + SMOOTHING * usual) / (totals - 1 + SMOOTHING)
    rows = cells > 0
    shares = without[rows] / (with_all.sum(axis=1, keepdims=True) - with_all + without)[rows]
    return float(-(cells[rows] * np.log(shares)).sum() / len(values))


def as_text(value: Any) -> str:
    """A value as text; whole numbers without decimals."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
