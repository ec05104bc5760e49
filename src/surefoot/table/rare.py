"""Categories with very many values: rare ones are put together under one name."""

from __future__ import annotations

from typing import Any

import pandas as pd

# The name of rare values that are put together. A category that has it takes values that it does not know.
RARE = "(rare)"


def together(column: pd.Series, most: int) -> tuple[pd.Series, int]:
    """The column with at most so many values, the rare ones under `RARE`; and how many these are.

    The most frequent values stay; of equally frequent ones, those that come first in their order as text.

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
    kept = set(order[: most - 1]) - {RARE}
    found = texts.where(texts.isin(kept) | texts.isna(), RARE)
    return found.where(found.notna(), None), len(counts) - len(kept)


def as_text(value: Any) -> str:
    """A value as text; whole numbers without decimals."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
