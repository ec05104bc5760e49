"""StructureReport: the graph that was learned, and how well the learner did."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning as SklearnConvergenceWarning

from surefoot.exceptions import SurefootWarning
from surefoot.model.dag import Dag


class ConvergenceWarning(SurefootWarning, SklearnConvergenceWarning):  # type: ignore[misc]
    """A learner stopped before it had converged."""


@dataclass(frozen=True, eq=False)
class StructureReport:
    """What a structure learner returns.

    Parameters
    ----------
    method : {"naive", "tan", "ban", "given"}
        Who made the graph.
    dag : Dag
        The graph.
    converged : bool
        False when an iteration limit was hit.
    n_iter : int
        Number of outer iterations (1 for methods in closed form).
    acyclicity : float
        h(W) = tr(exp(W o W)) - n where the relaxed search of NOTEARS stopped; the graph itself is
        always acyclic. Zero for the other methods.
    objective : float
        The value that was optimised: penalised squared error of the acyclic weights for ``"ban"``
        (before the threshold), or with categories the log likelihood less log(N) / 2 for each parameter;
        total conditional mutual information for ``"tan"`` (in nats).
    scores : array of shape (n, n), optional
        ``[child, parent]`` strengths the edges were chosen by; for ``"ban"`` with categories, what leaving
        each edge out would cost.
    """

    method: str
    dag: Dag
    converged: bool = True
    n_iter: int = 1
    acyclicity: float = 0.0
    objective: float = 0.0
    scores: NDArray[np.float64] | None = None

    def __str__(self) -> str:
        state = "converged" if self.converged else "NOT converged"
        return (
            f"{self.method}: {self.dag.n_edges} edges, {state} after {self.n_iter} iterations, "
            f"acyclicity {self.acyclicity:.1e}, objective {self.objective:.6g}"
        )
