"""Scores: the decision of somebody else's model, one quadratic and one table per category for each class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from surefoot.exceptions import DataError
from surefoot.problem.mixed import Factor, MixedQuadratic, Same
from surefoot.problem.quadratic import Quadratic

Array = NDArray[np.float64]
KEYS = {"constant", "linear", "matrix", "tables"}


@dataclass(frozen=True, eq=False)
class Scores:
    """score_c(z, s) = constant_c + linear_c' z + z' matrix_c z + sum_k tables_k[c, s_k].

    The class with the largest score is predicted; where the model has probabilities, the difference of two
    scores is the log-odds of their classes.

    Parameters
    ----------
    constant : array of shape (n_classes,)
    linear : array of shape (n_classes, n_numbers)
    matrix : array of shape (n_classes, n_numbers, n_numbers), optional
        Left out where the decision is linear.
    tables : tuple of arrays of shape (n_classes, n_values)
        One for each category.

    Examples
    --------
    >>> scores = Scores([0.0, -1.0], [[0.0, 0.0], [2.0, 1.0]], tables=([[0.0, 0.0], [0.5, -0.5]],))
    >>> scores([[1.0, 1.0]], [[1]])
    array([[0. , 1.5]])
    >>> scores.decision(1, 0).at((0,))([1.0, 1.0])
    2.5
    """

    constant: Array
    linear: Array
    matrix: Array | None = None
    tables: tuple[Array, ...] = ()

    def __post_init__(self) -> None:
        constant, linear = np.array(self.constant, dtype=float), np.array(self.linear, dtype=float)
        tables = tuple(np.array(table, dtype=float) for table in self.tables)
        matrix = None if self.matrix is None else np.array(self.matrix, dtype=float)
        k, n = len(constant), linear.shape[-1]
        shaped = constant.ndim == 1 and linear.shape == (k, n)
        shaped &= all(table.ndim == 2 and table.shape[0] == k and table.size for table in tables)
        shaped &= matrix is None or matrix.shape == (k, n, n)
        parts = [constant, linear, *tables, *([] if matrix is None else [matrix])]
        if not (shaped and all(np.isfinite(part).all() for part in parts)):
            raise DataError("scores need finite numbers of the same shape for every class")
        if matrix is not None:
            matrix = (matrix + matrix.transpose(0, 2, 1)) / 2
        for name, value in (("constant", constant), ("linear", linear), ("matrix", matrix)):
            object.__setattr__(self, name, value)
        object.__setattr__(self, "tables", tables)

    @property
    def sizes(self) -> tuple[int, ...]:
        """Number of values of each category."""
        return tuple(table.shape[1] for table in self.tables)

    def __call__(self, numbers: ArrayLike, codes: ArrayLike) -> Array:
        """The score of every class (columns) for every row; numbers in z-space."""
        z, s = np.asarray(numbers, dtype=float), np.asarray(codes, dtype=np.intp)
        found = self.constant + z @ self.linear.T
        if self.matrix is not None:
            found += np.einsum("ri,cij,rj->rc", z, self.matrix, z, optimize=True)
        for k, table in enumerate(self.tables):
            found += table.T[s[:, k]]
        return np.asarray(found)

    def decision(self, target: int, rival: int) -> MixedQuadratic:
        """Score of the class in one position less that of the class in another."""
        n = self.linear.shape[1]
        matrix = np.zeros((n, n)) if self.matrix is None else self.matrix[target] - self.matrix[rival]
        linear, constant = (part[target] - part[rival] for part in (self.linear, self.constant))
        factors = [Factor((k,), table[target] - table[rival]) for k, table in enumerate(self.tables)]
        return MixedQuadratic(Same(Quadratic(matrix, linear, float(constant))), (), tuple(factors))

    def bytes(self) -> bytes:
        """Everything that decides, for a fingerprint."""
        parts = [self.constant, self.linear, *self.tables]
        parts += [] if self.matrix is None else [self.matrix]
        return b"scores" + b"".join(np.ascontiguousarray(part).tobytes() for part in parts)

    def content(self) -> list[dict[str, Any]]:
        """As plain JSON values, one entry for each class."""
        return [
            {
                "constant": float(self.constant[c]),
                "linear": self.linear[c].tolist(),
                "matrix": None if self.matrix is None else self.matrix[c].tolist(),
                "tables": [table[c].tolist() for table in self.tables],
            }
            for c in range(len(self.constant))
        ]

    @classmethod
    def from_content(
        cls, entries: Sequence[dict[str, Any]], n_classes: int, n_numbers: int, sizes: Sequence[int]
    ) -> Scores:
        """Read what `content` wrote, for so many classes and numbers and categories of these sizes."""
        if len(entries) != n_classes or any(set(entry) != KEYS for entry in entries):
            raise DataError("the decision needs constant, linear, matrix and tables for every class")
        if any(_not_numbers(entry) for entry in entries):
            raise DataError("the decision must consist of numbers")
        matrices = [entry["matrix"] for entry in entries]
        columns = zip(*(entry["tables"] for entry in entries), strict=True)
        scores = cls(
            np.array([entry["constant"] for entry in entries]),
            np.array([entry["linear"] for entry in entries], dtype=float).reshape(n_classes, -1),
            None if all(matrix is None for matrix in matrices) else np.array(matrices, dtype=float),
            tuple(np.array(column, dtype=float) for column in columns),
        )
        if scores.linear.shape[1] != n_numbers or scores.sizes != tuple(sizes):
            raise DataError("the decision does not fit the features")
        return scores


def _not_numbers(part: Any) -> bool:
    """Whether something other than numbers, lists, None and the mapping around them is inside."""
    if isinstance(part, dict):
        return any(_not_numbers(item) for item in part.values())
    if isinstance(part, list):
        return any(_not_numbers(item) for item in part)
    return part is not None and type(part) not in (int, float)
