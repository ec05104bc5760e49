"""The coordinates of distance and errors: a whitening by name, or a matrix of the user's own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, get_args

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from surefoot.exceptions import DataError
from surefoot.formats import listed
from surefoot.problem.geometry import MatrixKind, WhiteningKind, checked_matrix

Array = NDArray[np.float64]


def check_name(whitening: Any) -> None:
    """Refuse what is neither the name of a whitening nor a table of numbers."""
    if isinstance(whitening, str) and whitening in get_args(WhiteningKind):
        return
    if not isinstance(whitening, np.ndarray | pd.DataFrame | list | tuple):
        raise DataError(f"whitening must be one of {get_args(WhiteningKind)} or a matrix, not {whitening!r}")


def coordinates(whitening: Any, numbers: Sequence[Any]) -> tuple[MatrixKind, Array | None]:
    """The name of the whitening, and the matrix where it is the user's own.

    A DataFrame has a column for each of the numbers, in any order, and a row for each coordinate.
    """
    check_name(whitening)
    if isinstance(whitening, str):
        kind: MatrixKind = whitening  # type: ignore[assignment]
        return kind, None
    if isinstance(whitening, pd.DataFrame):
        whitening = _by_name(whitening, numbers)
    return "given", checked_matrix(whitening, len(numbers))


def _by_name(table: pd.DataFrame, numbers: Sequence[Any]) -> Any:
    """The columns in the order of the numbers; each must be there once, and no other."""
    columns = list(table.columns)
    missing = [name for name in numbers if columns.count(name) != 1]
    unknown = [name for name in columns if name not in numbers]
    if missing:
        found = f"; its columns are {listed(columns)}" if unknown else ""
        raise DataError(f"the matrix of the distance needs exactly one column {missing[0]!r}{found}")
    if unknown:
        raise DataError(
            f"the matrix of the distance has the column {unknown[0]!r}, which is no number of the model"
        )
    return table[list(numbers)].to_numpy()
