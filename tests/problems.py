"""Small robust problems for tests."""

import numpy as np

from surefoot.datasets import synthetic
from surefoot.problem import RobustProblem


def random_problem(n, seed, *, norm=np.inf, budget=0.05, separation=2.0, density=0.5, **extra):
    """A factual of class 0 of a random network, target class 1."""
    data = synthetic(60, n, edge_density=density, class_separation=separation, random_state=seed)
    zero, one = data.networks
    H = one.log_density_quadratic() - zero.log_density_quadratic()
    rows = data.X.to_numpy()
    factual = rows[np.argmax(H(rows) < -0.5)] if (H(rows) < -0.5).any() else zero.means
    return RobustProblem(factual, (H,), zero.whitening(), norm=norm, budget=budget, **extra)


def grid_points(low, high, count):
    """All points of a fine grid in two dimensions."""
    first, second = (np.linspace(a, b, count) for a, b in zip(low, high, strict=True))
    return np.stack(np.meshgrid(first, second, indexing="ij"), axis=-1).reshape(-1, 2)
