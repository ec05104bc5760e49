"""Draw data from a random network whose graph and parameters are known."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from surefoot.exceptions import DataError
from surefoot.model.dag import Dag
from surefoot.model.network import LinearGaussianNetwork
from surefoot.table.dataset import Dataset


@dataclass(frozen=True, eq=False, repr=False)
class SyntheticDataset(Dataset):
    """A data set together with the truth it was drawn from.

    Parameters
    ----------
    X, y, class_names, title, origin, licence, descriptions
        As in `Dataset`.
    dag : Dag
        The true graph.
    networks : tuple of LinearGaussianNetwork
        The true density of each class.
    class_prior : tuple of float
    """

    dag: Dag = field(default_factory=lambda: Dag(()))
    networks: tuple[LinearGaussianNetwork, ...] = ()
    class_prior: tuple[float, ...] = ()


def synthetic(
    n_samples: int = 1000,
    n_features: int = 10,
    *,
    edge_density: float = 0.2,
    class_separation: float = 2.0,
    n_classes: int = 2,
    dag: Dag | None = None,
    random_state: int | np.random.Generator | None = None,
) -> SyntheticDataset:
    """Draw from a random conditional Gaussian network.

    Parameters
    ----------
    n_samples, n_features, n_classes : int
        Size of the data set.
    edge_density : float in [0, 1]
        Probability of an edge between two features. Ignored when ``dag`` is given.
    class_separation : float
        Mahalanobis distance of class c's mean from class 0's is c times this, in class c's own metric.
    dag : Dag, optional
        Use this graph instead of a random one (see `random_tree`).
    random_state : int or Generator, optional
        Seed.

    Returns
    -------
    SyntheticDataset
        With the true ``dag``, ``networks`` (one per class) and ``class_prior``.

    Examples
    --------
    >>> data = synthetic(200, 5, edge_density=0.5, random_state=0)
    >>> data.X.shape, data.dag.n_features, len(data.networks)
    ((200, 5), 5, 2)
    """
    rng = np.random.default_rng(random_state)
    _check_size(n_samples, n_features, n_classes, edge_density)
    graph = dag if dag is not None else random_dag(n_features, edge_density, rng)
    if graph.n_features != n_features:
        raise DataError(f"dag has {graph.n_features} features, n_features is {n_features}")
    networks = _class_networks(graph, n_classes, class_separation, rng)
    prior = np.full(n_classes, 1 / n_classes)
    # Two rows of every class at least, so that whatever is drawn can be fitted.
    labels = np.concatenate([np.tile(np.arange(n_classes), 2), rng.choice(n_classes, n_samples)])[:n_samples]
    rng.shuffle(labels)
    X = np.empty((n_samples, n_features))
    for c, network in enumerate(networks):
        rows = labels == c
        X[rows] = network.sample(int(rows.sum()), rng)
    return SyntheticDataset(
        X=pd.DataFrame(X, columns=[f"x{i}" for i in range(n_features)]),
        y=pd.Series(labels, name="class"),
        class_names=tuple(f"class {c}" for c in range(n_classes)),
        title="Synthetic network",
        origin="drawn by surefoot.datasets.synthetic",
        licence="CC0 1.0 (public domain)",
        dag=graph,
        networks=networks,
        class_prior=tuple(prior),
    )


def random_dag(
    n_features: int, edge_density: float, random_state: int | np.random.Generator | None = None
) -> Dag:
    """Graph in which every pair of features is joined with probability ``edge_density``.

    Parameters
    ----------
    n_features : int
    edge_density : float
        Between 0 and 1.
    random_state : int or Generator, optional
    """
    rng = np.random.default_rng(random_state)
    rank = rng.permutation(n_features)
    joined = rng.random((n_features, n_features)) < edge_density
    return Dag(
        tuple(
            tuple(j for j in range(n_features) if rank[j] < rank[i] and joined[i, j])
            for i in range(n_features)
        )
    )


def random_tree(n_features: int, random_state: int | np.random.Generator | None = None) -> Dag:
    """Tree in which every feature but one has a parent, chosen uniformly among earlier ones.

    Parameters
    ----------
    n_features : int
    random_state : int or Generator, optional
    """
    rng = np.random.default_rng(random_state)
    order = rng.permutation(n_features)
    return Dag.from_edges(
        n_features, [(int(order[rng.integers(k)]), int(order[k])) for k in range(1, n_features)]
    )


def _class_networks(
    dag: Dag, n_classes: int, separation: float, rng: np.random.Generator
) -> tuple[LinearGaussianNetwork, ...]:
    """Classes share the graph; weights and variances vary a little, means lie ``separation`` apart."""
    n = dag.n_features
    base = _unit_scale_weights(dag, rng)
    direction = rng.standard_normal(n)
    direction /= np.linalg.norm(direction)
    networks = []
    for c in range(n_classes):
        W = base * rng.uniform(0.8, 1.2, (n, n))
        variances = rng.uniform(0.25, 0.75, n)
        # In units of the conditional deviations, a step along `direction` has Mahalanobis length one.
        step = np.linalg.solve(np.eye(n) - W, direction * np.sqrt(variances))
        networks.append(LinearGaussianNetwork(dag, W, np.asarray(c * separation * step), variances))
    return tuple(networks)


def _unit_scale_weights(dag: Dag, rng: np.random.Generator) -> np.ndarray:
    """Random weights scaled so that parents explain half of a feature of about unit variance.

    Without the scaling variances would double from layer to layer, which real data do not do and
    which gives the order of the features away to any learner.
    """
    n = dag.n_features
    W, covariance = np.zeros((n, n)), np.zeros((n, n))
    for child in dag.order:
        parents = list(dag.parents[child])
        if parents:
            w = rng.uniform(0.5, 1.5, len(parents)) * rng.choice((-1, 1), len(parents))
            w *= np.sqrt(0.5 / (w @ covariance[np.ix_(parents, parents)] @ w))
            W[child, parents] = w
        covariance[child] = W[child] @ covariance
        covariance[:, child] = covariance[child]
        covariance[child, child] = W[child] @ covariance @ W[child] + 0.5 * (1 + (not parents))
    return W


def _check_size(n_samples: int, n_features: int, n_classes: int, edge_density: float) -> None:
    if n_features < 1 or n_classes < 2 or n_samples < 2 * n_classes:
        raise DataError("need at least one feature, two classes and two rows of every class")
    if not 0 <= edge_density <= 1:
        raise DataError(f"edge_density must lie between 0 and 1, not {edge_density!r}")
