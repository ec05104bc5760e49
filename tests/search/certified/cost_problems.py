"""Small problems whose distances are prices, with and without everything else."""

import numpy as np

from surefoot.problem.domain import Domain, ValueSet
from surefoot.problem.geometry import Ball, Metric, Whitening
from surefoot.problem.quadratic import Quadratic
from surefoot.problem.robust_problem import Requirement, RobustProblem
from surefoot.problem.row import Row

NORMS = (1.0, 2.0, np.inf)
KINDS = ("general", "concave", "linear", "convex")


def cost_problem(seed, *, norm=None, n=None, budget=None, kind=None, box=None, even=False, whole=None):
    """A problem with up to five features, drawn with a seed; what is given by name is not drawn."""
    rng = np.random.default_rng([seed, 777])
    n = int(rng.integers(1, 6)) if n is None else n
    norm = float(rng.choice(NORMS)) if norm is None else norm
    budget = float(rng.choice([0, 0.05])) if budget is None else budget
    kind = KINDS[rng.integers(4)] if kind is None else kind
    M = (np.triu(rng.normal(size=(n, n))) + 2 * np.eye(n)) / 10.0 ** rng.uniform(-1, 2, size=n)
    unit = np.linalg.norm(np.linalg.inv(M), axis=1)
    x0 = rng.normal(size=n) * unit * rng.choice([0, 1, 30])
    prices = np.exp(rng.normal(size=(n, 2)))
    prices[:, 1] = np.where((rng.uniform(size=n) < 0.3) | even, prices[:, 0], prices[:, 1])
    whole = rng.uniform() < 0.4 if whole is None else whole
    sets = []
    if whole:
        j = int(rng.integers(n))
        M[:, j] *= unit[j] / rng.uniform(1, 4)
        unit = np.linalg.norm(np.linalg.inv(M), axis=1)
        x0[j] = np.round(x0[j])
        sets = [ValueSet(j, None, float(x0[j]))]
    domain = _domain(rng, x0, unit, sets)
    metric = Metric(Whitening(M, "cholesky"), norm, prices)
    box = rng.uniform() < 0.25 if box is None else box
    ball = Ball.box(*(rng.choice([0, 0.02, 0.1], size=(2, n)) * unit)) if box and budget else None
    ball = ball or Ball.whitened(metric.whitening, norm, budget)
    aim = M @ (domain.clipped(x0 + unit * rng.normal(size=n)) - x0)
    requirements = [_requirement(rng, M, x0, aim, kind) for _ in range(int(rng.choice([1, 1, 2])))]
    return RobustProblem(x0, tuple(requirements), metric, ball, domain)


def _requirement(rng, M, x0, aim, kind):
    n = len(x0)
    A = rng.normal(size=(n, n)) / np.sqrt(n)
    Q = {"concave": -A @ A.T, "convex": 0.5 * A @ A.T, "linear": np.zeros((n, n))}.get(kind, A + A.T)
    q, at_factual = rng.normal(size=n), -0.1 - rng.exponential()
    missing = rng.exponential() - (at_factual + q @ aim + aim @ Q @ aim)
    if missing > 0 and aim @ aim > 0.01:
        q = q + aim * missing / (aim @ aim)
    return Requirement(Quadratic(M.T @ Q @ M, M.T @ q, at_factual, x0))


def _domain(rng, x0, unit, sets):
    n = len(x0)
    low, high = np.full(n, -np.inf), np.full(n, np.inf)
    if rng.uniform() < 0.5:
        low, high = x0 - unit * rng.uniform(0, 3, size=n), x0 + unit * rng.uniform(0, 3, size=n)
        up, down = rng.uniform(size=(2, n)) < 0.25
        low, high = np.where(up, x0, low), np.where(down & ~up, x0, high)
    rows = []
    if n > 1 and rng.uniform() < 0.3:
        a = np.zeros(n)
        a[rng.permutation(n)[:2]] = rng.choice([-1.0, 1.0, 2.0], size=2)
        a /= unit
        rows = [Row(a, -np.inf, float(a @ x0) + rng.uniform(0.2, 2), "a row")]
    return Domain(low, high, tuple(rows), tuple(sets))
