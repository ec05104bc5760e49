"""Categories with very many values: rare ones are put together under one name."""

from __future__ import annotations

from typing import Any

import pandas as pd

# The name of rare values that are put together. A category that has it takes values that it does not know.
RARE = "(rare)"
# Rows that a value needs to stay by itself where there are too many values. With ten times as many, most
# places have no name; with a tenth, chance decides what is learned of them. It is the best of 2, 5, 10, 20,
# 40 and 80 in the mean over synthetic tables (`benchmarks/quality/kinds_rules.py`), where the log loss with
# any other is higher, by 0.0006 (40) to 0.016 (2).
LEAST_ROWS = 20
FEWEST_KEPT = 2  # values that stay in any case, so that the category has something to tell


def together(column: pd.Series, most: int) -> tuple[pd.Series, int]:
    """The column with at most so many values, the rare ones under `RARE`; and how many these are.

    Where there are more, the most frequent values stay, if they have 20 rows (the two most frequent ones in
    any case); of equally frequent ones, those that come first in their order as text.

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
    large = sum(counts >= LEAST_ROWS)
    kept = set(order[: min(most - 1, max(large, FEWEST_KEPT))]) - {RARE}
    found = texts.where(texts.isin(kept) | texts.isna(), RARE)
    return found.where(found.notna(), None), len(counts) - len(kept)


def as_text(value: Any) -> str:
    """A value as text; whole numbers without decimals."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
