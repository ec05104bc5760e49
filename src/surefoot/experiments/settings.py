"""The paper's settings: which classifiers, which factuals, which methods."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import cache
from itertools import product
from typing import Any

import numpy as np

from surefoot.datasets import Dataset, load_banknote, load_ionosphere, load_pima
from surefoot.model.classifier import ConditionalGaussianNetworkClassifier

LOADERS: dict[str, Callable[[], Dataset]] = {
    "Banknote": load_banknote,
    "Pima": load_pima,
    "Ionosphere": load_ionosphere,
}
STRUCTURES: dict[str, dict[str, Any]] = {
    "NB": {"structure": "naive"},
    "TAN": {"structure": "tan"},
    "BAN, 2 parents": {"structure": "ban", "max_parents": 2},
    "BAN": {"structure": "ban"},
}
# On Banknote no feature has more than two parents; on Ionosphere the paper gives the capped graph only.
SHAPES = {
    "Banknote": ("NB", "TAN", "BAN"),
    "Pima": ("NB", "TAN", "BAN, 2 parents", "BAN"),
    "Ionosphere": ("NB", "TAN", "BAN, 2 parents"),
}
BUDGETS = (0.01, 0.05)
METHODS = (("certified", ""), ("qcqp", "scip"), ("qcqp", "gurobi"), ("milp", "highs"))
FACTUALS = 25
SEED = 0


@dataclass(frozen=True)
class Setting:
    """One configuration of an experiment; each is run on several factuals.

    Parameters
    ----------
    data, structure : str
        Keys of ``LOADERS`` and ``STRUCTURES``.
    budget : float
        The paper's gamma.
    method, backend : str
    n_segments, contraction : int, float
        The paper's m and nu, for the MILP.
    """

    data: str
    structure: str
    budget: float
    method: str
    backend: str = ""
    n_segments: int = 20
    contraction: float = 0.5

    def key(self, factual: int) -> tuple[Any, ...]:
        """What tells one run from every other."""
        return (*asdict(self).values(), factual)


def table_settings(budget: float) -> Iterator[Setting]:
    """Every configuration of one table; the paper has no MILP on Ionosphere."""
    classifiers = [(data, structure) for data, shapes in SHAPES.items() for structure in shapes]
    for (data, structure), (method, backend) in product(classifiers, METHODS):
        if not (data == "Ionosphere" and method == "milp"):
            yield Setting(data, structure, budget, method, backend)


@cache
def data_set(name: str) -> Dataset:
    """A data set by its name in the paper."""
    return LOADERS[name]()


@cache
def classifier(data: str, structure: str) -> ConditionalGaussianNetworkClassifier:
    """The classifier of a configuration, fitted to all rows."""
    loaded = data_set(data)
    return ConditionalGaussianNetworkClassifier(**STRUCTURES[structure]).fit(loaded.X, loaded.y)


@cache
def factuals(data: str, structure: str, count: int = FACTUALS) -> tuple[int, ...]:
    """Positions of rows that are classified as class 0, drawn with a seed; fewer are the first of more."""
    rows = np.flatnonzero(classifier(data, structure).predict(data_set(data).X) == 0)
    drawn = np.random.default_rng(SEED).permutation(rows)[:count]
    return tuple(drawn.tolist())
