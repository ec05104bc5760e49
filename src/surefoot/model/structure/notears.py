"""BAN: a sparse graph by NOTEARS (Zheng, Aragam, Ravikumar and Xing, 2018), made exact and fast."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, optimize

from surefoot.bars import stepped
from surefoot.model.dag import Dag
from surefoot.model.structure.knowledge import Knowledge
from surefoot.model.structure.ordered_lasso import OrderedLasso
from surefoot.model.structure.report import ConvergenceWarning, StructureReport
from surefoot.threads import one_blas_thread

Array = NDArray[np.float64]

LARGEST_RHO = 1e16


def learn_notears(
    covariance: Array,
    *,
    l1_penalty: float = 0.01,
    edge_threshold: float = 0.3,
    max_parents: int | None = None,
    standardize: bool = False,
    knowledge: Knowledge | None = None,
    max_iter: int = 100,
    acyclicity_tol: float = 1e-3,
) -> StructureReport:
    """Minimise ``1/2 tr((I - W)' S (I - W)) + l1_penalty ||W||_1`` subject to ``tr(exp(W o W)) = n``.

    The textbook method drives the constraint to 1e-8 by an augmented Lagrangian and spends nearly all
    of its time on the last digits, where the problem is hopelessly conditioned; and its answer is still
    not a graph without cycles. But all that is wanted of it is the *order* of the features: once that is
    known, the rest is a lasso for each feature, solved exactly. So every iterate of the augmented
    Lagrangian is rounded to an order, the best of the exact solutions is kept, features are moved within
    the order while that helps, and the iteration may stop early. The result is acyclic by
    construction. In our measurements its objective is lower than the textbook's, or higher by less than
    0.1 %, which is what the textbook gains from the tiny cycles it leaves.

    Parameters
    ----------
    covariance : array of shape (n, n)
        S, of all classes pooled.
    l1_penalty, edge_threshold : float
        Penalty; edges whose absolute weight is not above the threshold are dropped.
    max_parents : int, optional
        Keep only that many strongest parents of each feature.
    standardize : bool
        Learn from correlations instead of covariances. The paper's edge counts come from raw data.
    knowledge : Knowledge, optional
        Required and forbidden edges.
    max_iter : int
        Limit on the iterations of the augmented Lagrangian.
    acyclicity_tol : float
        Stop when the relaxed weights' h(W) is below this.

    Warns
    -----
    ConvergenceWarning
        When ``max_iter`` was reached first.
    """
    S = np.asarray(covariance, dtype=float)
    n = len(S)
    known = knowledge or Knowledge()
    known.refuse_crowded(max_parents)
    if standardize:
        scale = np.sqrt(np.where(np.diag(S) > 0, np.diag(S), 1.0))
        S = S / np.outer(scale, scale)
    required = np.zeros((n, n), dtype=bool)
    for edge in known.required:
        required[edge] = True
    lasso = OrderedLasso(S, l1_penalty, known.allowed(n), required)
    with one_blas_thread():  # exponentials of small matrices by the hundred
        W, objective, last = _search(lasso, max_iter, acyclicity_tol)
    if not last.converged:
        warnings.warn(
            f"NOTEARS stopped after {last.n_iter} iterations with acyclicity {last.acyclicity:.1e} > "
            f"{acyclicity_tol:.1e}; the graph is acyclic all the same, but a better one may exist "
            "(standardize=True helps when units differ widely)",
            ConvergenceWarning,
            stacklevel=2,
        )
    keep = _strongest(np.abs(W) * ~required, edge_threshold, max_parents, required)
    edges = [(int(i), int(j)) for i, j in zip(*np.nonzero(keep), strict=True)]
    return StructureReport(
        "ban", Dag.from_edges(n, edges), last.converged, last.n_iter, last.acyclicity, objective, W.T
    )


@dataclass(frozen=True, eq=False)
class _Iterate:
    weights: Array
    n_iter: int
    acyclicity: float
    converged: bool


def _search(lasso: OrderedLasso, max_iter: int, tol: float) -> tuple[Array, float, _Iterate]:
    best: tuple[float, list[int], Array] | None = None
    for iterate in stepped(_augmented_lagrangian(lasso, max_iter, tol), "learning the graph", "round"):
        order = _order_of(iterate.weights, lasso.required)
        W, shares = lasso.fit(order, iterate.weights)
        if best is None or shares.sum() < best[0]:
            best = float(shares.sum()), order, W
    assert best is not None  # there is at least one iterate
    W, objective, _ = lasso.improve(*best[1:])
    return W, objective, iterate


def _augmented_lagrangian(lasso: OrderedLasso, max_iter: int, tol: float) -> Iterator[_Iterate]:
    """Yield ever less cyclic weights: loss + penalty + alpha h + rho/2 h^2, rho growing tenfold."""
    relaxed = _Relaxation(lasso)
    w = np.zeros(2 * relaxed.size)
    rho, alpha, h = 1.0, 0.0, np.inf
    for n_iter in range(1, max_iter + 1):
        w = relaxed.minimise(w, rho, alpha)
        W = relaxed.weights(w)
        h_new, _ = acyclicity(W)
        if not np.isfinite(h_new):  # weights of hopelessly mixed units; their order is all that is left
            yield _Iterate(np.nan_to_num(W), n_iter, np.inf, False)
            return
        yield _Iterate(W, n_iter, h_new, h_new <= tol)
        if h_new <= tol or rho > LARGEST_RHO:
            return
        if h_new > 0.25 * h:
            rho *= 10
        else:
            h = h_new
            alpha += rho * h


class _Relaxation:
    """The smooth problem in the positive and negative parts of the free weights.

    Variables are weights times the parent's standard deviation, which evens out the curvature: on data
    with mixed units L-BFGS then needs about a third of the steps.
    """

    def __init__(self, lasso: OrderedLasso) -> None:
        self.S = lasso.covariance
        self.free = np.flatnonzero(lasso.allowed | lasso.required)
        self.size = len(self.free)
        variances = np.diag(self.S)
        scale = np.sqrt(np.where(variances > 0, variances, 1.0))
        self.unit = np.repeat(1.0 / scale, len(scale))[self.free]
        penalty = lasso.penalty * self.unit * ~lasso.required.ravel()[self.free]
        self.penalty = np.concatenate([penalty, penalty])

    def weights(self, w: Array) -> Array:
        """The matrix W of the split and scaled variables."""
        n = len(self.S)
        W = np.zeros(n * n)
        W[self.free] = (w[: self.size] - w[self.size :]) * self.unit
        return W.reshape(n, n)

    def minimise(self, start: Array, rho: float, alpha: float) -> Array:
        """Minimise the augmented Lagrangian from a start."""
        identity = np.eye(len(self.S))

        def value_and_gradient(w: Array) -> tuple[float, Array]:
            W = self.weights(w)
            residual = identity - W
            pull = self.S @ residual
            h, h_gradient = acyclicity(W)
            with np.errstate(over="ignore", invalid="ignore"):
                value = 0.5 * np.sum(residual * pull) + 0.5 * rho * h * h + alpha * h + self.penalty @ w
                g = ((rho * h + alpha) * h_gradient - pull).ravel()[self.free] * self.unit
            if not np.isfinite(value):  # a step far too long: tell the line search to come back
                return np.finfo(float).max, np.zeros(2 * self.size)
            return float(value), np.concatenate([g, -g]) + self.penalty

        # The order of the features settles long before the digits do, hence the modest tolerance.
        result = optimize.minimize(
            value_and_gradient,
            start,
            jac=True,
            method="L-BFGS-B",
            bounds=optimize.Bounds(np.zeros(len(start)), np.full(len(start), np.inf)),
            options={"ftol": 1e-7, "maxiter": 2000},
        )
        return np.asarray(result.x)


def acyclicity(W: Array) -> tuple[float, Array]:
    """h(W) = tr(exp(W o W)) - n, zero exactly for acyclic W, and its gradient."""
    with np.errstate(over="ignore", invalid="ignore"):
        E = linalg.expm(W * W)
        return float(np.trace(E) - len(W)), 2 * E.T * W


def _order_of(W: Array, required: NDArray[np.bool_]) -> list[int]:
    """Order that keeps the strongest edges: take them by strength, skip those that close a cycle."""
    n = len(W)
    strength = np.where(required, np.inf, np.abs(W))
    reach = np.eye(n, dtype=bool)
    for edge in np.argsort(-strength, axis=None, kind="stable"):
        parent, child = divmod(int(edge), n)
        if strength[parent, child] == 0:
            break
        if not reach[child, parent] and not reach[parent, child]:
            reach |= np.outer(reach[:, parent], reach[child])
    # Whoever reaches more features comes first; reachability is transitive, so this is an order.
    return [int(i) for i in np.argsort(-reach.sum(axis=1), kind="stable")]


def _strongest(
    strength: Array, threshold: float, max_parents: int | None, required: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """Edges above the threshold, at most so many into each feature, and all the required ones."""
    keep = strength > threshold
    if max_parents is not None:
        room = np.maximum(max_parents - required.sum(axis=0), 0)
        rank = np.argsort(np.argsort(-strength, axis=0, kind="stable"), axis=0, kind="stable")
        keep &= rank < room
    return np.asarray(keep | required)
