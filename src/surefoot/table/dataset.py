"""Dataset: a table of features with its labels, and where they come from."""

from __future__ import annotations

from dataclasses import dataclass, field

import pandas as pd

from surefoot.formats import one_line


@dataclass(frozen=True, eq=False)
class Dataset:
    """Features and labels, ready for ``fit(data.X, data.y)``.

    Parameters
    ----------
    X : DataFrame
        One column per feature.
    y : Series
        The label of each row.
    class_names : tuple of str
        What the labels mean, in the order of the sorted labels.
    title, origin, licence : str
        What it is, who made it, and how it may be used.
    descriptions : dict
        What each feature means, where it is known.
    """

    X: pd.DataFrame
    y: pd.Series
    class_names: tuple[str, ...]
    title: str = ""
    origin: str = ""
    licence: str = ""
    descriptions: dict[str, str] = field(default_factory=dict)

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Names of the columns of X."""
        return tuple(self.X.columns)

    def __repr__(self) -> str:
        name = one_line(self.title) or type(self).__name__
        return f"<{name}: {len(self.X)} rows, {self.X.shape[1]} features, classes {self.class_names}>"
