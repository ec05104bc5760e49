"""BAN with categories: a sparse graph by greedy search for the best Bayesian information criterion."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from surefoot.bars import bar
from surefoot.model.dag import Dag
from surefoot.model.structure.families import FamilyScores
from surefoot.model.structure.knowledge import Knowledge
from surefoot.model.structure.report import StructureReport

Array = NDArray[np.float64]
Parents = tuple[frozenset[int], ...]

LEAST_GAIN = 1e-6  # nats; smaller gains are rounding


def learn_greedy(
    X: NDArray[np.floating],
    categories: NDArray[np.intp],
    positions: Sequence[int],
    classes: NDArray[np.intp],
    *,
    max_parents: int | None = None,
    knowledge: Knowledge | None = None,
    weights: Array | None = None,
) -> StructureReport:
    """Maximise ``log likelihood - log(N) / 2 * parameters`` of the very networks that are fitted.

    Starting from the required edges, the edge whose addition, removal or reversal gains most is taken until
    nothing gains any more. No edge leads from a number to a category. A search by NOTEARS would have to treat
    the values of one category as separate numbers; this one knows what an edge between categories costs.

    Parameters
    ----------
    X : array of shape (rows, n_numbers)
    categories : array of shape (rows, n_categories)
        Codes of the categories' values.
    positions : sequence of int
        Positions of the categories among all features.
    classes : array of int
    max_parents : int, optional
        Largest number of parents of a feature.
    knowledge : Knowledge, optional
        Required and forbidden edges.
    weights : array, optional
        Weight of each row.
    """
    n = X.shape[1] + len(positions)
    known = (Knowledge() if knowledge is None else knowledge).respecting_kinds(n, positions)
    known.refuse_crowded(max_parents)
    scores = FamilyScores(X, categories, positions, classes, weights)
    limit = n if max_parents is None else max_parents
    climb = _Climb(scores, known.allowed(n), known.required, limit)
    parents = tuple(frozenset(j for j, child in known.required if child == i) for i in range(n))
    steps = 0
    with bar("learning the graph", "edge") as shown:
        while (better := climb.best_step(parents)) is not None:
            parents, steps = better, steps + 1
            shown.update()
    dag = Dag(tuple(tuple(group) for group in parents))
    return StructureReport(
        "ban", dag, n_iter=max(steps, 1), objective=scores.total(parents), scores=_losses(scores, parents)
    )


@dataclass(frozen=True, eq=False)
class _Climb:
    scores: FamilyScores
    allowed: NDArray[np.bool_]
    required: frozenset[tuple[int, int]]
    max_parents: int

    def best_step(self, parents: Parents) -> Parents | None:
        """The neighbour that gains most; None where none gains."""
        best, most = None, 0.0
        for changed in self._neighbours(parents):
            gain = sum(self.scores(i, group) - self.scores(i, parents[i]) for i, group in changed.items())
            if gain > most + LEAST_GAIN:  # the first of equals is taken, whatever the rounding
                best, most = changed, gain
        if best is None:
            return None
        return tuple(best.get(i, group) for i, group in enumerate(parents))

    def _neighbours(self, parents: Parents) -> Iterator[dict[int, frozenset[int]]]:
        """Features whose parents change, and their new parents."""
        reach = _reachable(parents)
        for j, i in np.argwhere(self.allowed).tolist():
            if j not in parents[i] and not reach[i, j] and len(parents[i]) < self.max_parents:
                yield {i: parents[i] | {j}}
            if j in parents[i] and (j, i) not in self.required:
                without = parents[i] - {j}
                yield {i: without}
                if self._may_turn(parents, reach, j, i):
                    yield {i: without, j: parents[j] | {i}}

    def _may_turn(self, parents: Parents, reach: NDArray[np.bool_], j: int, i: int) -> bool:
        """Whether j -> i may become i -> j: no other path leads from j to i."""
        detour = any(reach[j, other] for other in parents[i] - {j})
        return bool(self.allowed[i, j]) and not detour and len(parents[j]) < self.max_parents


def _reachable(parents: Parents) -> NDArray[np.bool_]:
    """Matrix ``[from, to]``: whether a path leads there; every feature reaches itself."""
    reach = np.eye(len(parents), dtype=bool)
    for i in Dag(tuple(tuple(group) for group in parents)).order:
        for j in parents[i]:
            reach[:, i] |= reach[:, j]
    return reach


def _losses(scores: FamilyScores, parents: Parents) -> Array:
    """``[child, parent]``: what taking the edge away would cost."""
    matrix = np.zeros((len(parents),) * 2)
    for i, group in enumerate(parents):
        for j in group:
            matrix[i, j] = scores(i, group) - scores(i, group - {j})
    return matrix
