"""Small robust problems for tests."""

import numpy as np

from surefoot.datasets import synthetic
from surefoot.waist.geometry import Whitening
from surefoot.waist.problem import Domain, RobustProblem
from surefoot.waist.quadratic import Quadratic


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


ROUGH_KINDS = (
    "general", "concave", "convex", "linear", "zero gradient", "singular", "huge", "tiny", "domain", "fixed",
    "two rivals",
)  # fmt: skip


def rough_problem(seed):
    """A small problem of a kind that breaks things, drawn with a seed; kind and problem."""
    rng = np.random.default_rng(seed)
    kind, n = ROUGH_KINDS[seed % len(ROUGH_KINDS)], int(rng.integers(1, 7))
    norm, budget = float(rng.choice([1, 2, np.inf])), float(rng.choice([0, 0.01, 0.05, 0.3]))
    A = rng.normal(size=(n, n))
    Q = {"concave": -A @ A.T, "convex": A @ A.T, "linear": np.zeros((n, n))}.get(kind, A + A.T)
    q = rng.normal(size=n) * (0 if kind == "zero gradient" else rng.choice([0.3, 1, 3]))
    M = np.triu(rng.normal(size=(n, n))) + 2 * np.eye(n)
    if kind == "singular":
        U, _, V = np.linalg.svd(rng.normal(size=(n, n)))
        M = (U * np.geomspace(1, 1e5, n)) @ V
    scale = {"huge": 1e6, "tiny": 1e-6}.get(kind, 1.0)
    M = M / scale
    x0 = rng.normal(size=n) * scale * rng.choice([0, 1, 100])
    margins = [Quadratic(M.T @ Q @ M, M.T @ q, -0.05 - rng.exponential(), x0)]
    if kind == "two rivals":
        C = rng.normal(size=(n, n))
        margins.append(Quadratic(M.T @ (C + C.T) @ M, M.T @ rng.normal(size=n), -0.2, x0))
    domain = _rough_domain(rng, x0, np.linalg.inv(M), kind) if kind in ("domain", "fixed") else None
    threshold = float(rng.choice([0.5, 0.5, 0.6]))
    whitening = Whitening(M, "cholesky")
    return kind, RobustProblem(x0, tuple(margins), whitening, norm, budget, threshold, domain)


def _rough_domain(rng, x0, B, kind):
    n = len(x0)
    width = np.abs(B).sum(axis=1) * rng.uniform(0.05, 3, size=n)
    low, high = x0 - width * rng.uniform(size=n), x0 + width * rng.uniform(size=n)
    if kind == "fixed":
        k = rng.integers(n)
        low[k] = high[k] = x0[k]
        if n > 1:
            low[rng.integers(n)] = -np.inf
    return Domain(low, high)
