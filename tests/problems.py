"""Small robust problems for tests."""

import numpy as np

from surefoot.datasets import synthetic
from surefoot.problem.domain import Domain, ValueSet
from surefoot.problem.geometry import Ball, Metric, Whitening
from surefoot.problem.quadratic import Quadratic
from surefoot.problem.robust_problem import Requirement, RobustProblem, checked_threshold, log_odds
from surefoot.problem.row import Row

NORMS = (1.0, 2.0, np.inf)


def paper_problem(
    factual, margins, whitening, norm=np.inf, budget=0.0, threshold=0.5, domain=None,
    *, robust=True, exact=(), order=None, ball=None,
):  # fmt: skip
    """The paper's problem: one norm, one budget and one threshold; what is more goes by name."""
    tau = log_odds(checked_threshold(threshold))
    flags = np.broadcast_to(robust, len(margins))
    requirements = tuple(Requirement(H - tau, bool(flag)) for H, flag in zip(margins, flags, strict=True))
    if ball is None:
        ball = Ball.whitened(whitening, norm, budget, exact, order)
    return RobustProblem(factual, requirements, Metric(whitening, norm), ball, domain)


def random_problem(n, seed, *, norm=np.inf, budget=0.05, separation=2.0, density=0.5, **extra):
    """A factual of class 0 of a random network, target class 1."""
    data = synthetic(60, n, edge_density=density, class_separation=separation, random_state=seed)
    zero, one = data.networks
    H = one.log_density_quadratic() - zero.log_density_quadratic()
    rows = data.X.to_numpy()
    factual = rows[np.argmax(H(rows) < -0.5)] if (H(rows) < -0.5).any() else zero.means
    return paper_problem(factual, (H,), zero.whitening(), norm, budget, **extra)


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
    return kind, paper_problem(x0, margins, Whitening(M, "cholesky"), norm, budget, threshold, domain)


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


def mixed_problem(seed):
    """A problem with up to six features and a bit of everything, drawn with a seed.

    Any norms of distance and ball, budgets by feature, exact features, ends, rows, whole numbers and
    allowed values (up to three features, so that all combinations can be tried), one to three
    requirements with and without robustness, near-singular covariances, factuals far from the origin.
    """
    rng = np.random.default_rng([seed, 20240607])
    n = int(rng.integers(1, 7))
    chosen = np.sort(rng.permutation(n)[: rng.integers(0, min(n, 3) + 1)])
    M = _mixed_whitening(rng, n, chosen)
    unit = np.linalg.norm(np.linalg.inv(M), axis=1)
    x0 = rng.normal(size=n) * unit * rng.choice([0, 1, 100, 1e4])
    whole = rng.uniform(size=n) < 0.7
    x0[chosen] = np.where(whole[chosen], np.round(x0[chosen]), x0[chosen])
    domain = _mixed_domain(rng, x0, unit, chosen)
    metric = Metric(Whitening(M, "cholesky"), float(rng.choice(NORMS)))
    ball = _mixed_ball(rng, metric, unit, domain)
    aim = M @ (domain.clipped(x0 + np.linalg.inv(M) @ rng.normal(size=n) * rng.choice([1, 3])) - x0)
    return RobustProblem(x0, _mixed_requirements(rng, M, x0, aim), metric, ball, domain)


def _mixed_whitening(rng, n, chosen):
    """Upper triangular, some near singular; features that take few values vary by about as much as these."""
    R = np.triu(rng.normal(size=(n, n))) + 2 * np.eye(n)
    if rng.uniform() < 0.15:
        U, _, V = np.linalg.svd(rng.normal(size=(n, n)))
        R = np.linalg.qr((U * np.geomspace(1, 10.0 ** rng.uniform(1, 5), n)) @ V)[1]
    deviation = 10.0 ** rng.uniform(-3, 3, size=n)
    deviation[chosen] = rng.uniform(0.3, 4, size=len(chosen))
    return R * np.linalg.norm(np.linalg.inv(R), axis=1) / deviation


def _mixed_requirements(rng, M, x0, aim):
    """Few hold at the factual; most hold somewhere in the domain, tilted towards a point to aim at."""
    n = len(x0)
    reachable = rng.uniform() < 0.85
    requirements = []
    for number in range(int(rng.choice([1, 1, 2, 3]))):
        A = rng.normal(size=(n, n)) / np.sqrt(n)
        kinds = [A + A.T, -A @ A.T, 0.5 * A @ A.T, np.zeros((n, n)), A + A.T - np.eye(n)]
        Q = kinds[rng.integers(len(kinds))]
        q = rng.normal(size=n) * rng.choice([0, 1, 1, 2])
        at_factual = -0.05 - rng.exponential() * rng.choice([0.3, 1, 3])
        if number and rng.uniform() < 0.5:  # a floor under a density that has its peak nearby
            Q, at_factual = -0.5 * np.eye(n), rng.uniform(-1, 3)
        missing = rng.exponential() - (at_factual + q @ aim + aim @ Q @ aim)
        if reachable and missing > 0 and aim @ aim > 0.01:
            q = q + aim * missing / (aim @ aim)
        margin = Quadratic(M.T @ Q @ M, M.T @ q, at_factual, x0)
        requirements.append(Requirement(margin, bool(rng.uniform() < (0.85 if number == 0 else 0.5))))
    return tuple(requirements)


def _mixed_ball(rng, metric, unit, domain):
    n = len(unit)
    radius, kind = float(rng.choice([0, 0.01, 0.05, 0.3])), rng.uniform()
    if kind < 0.25:
        down, up = rng.choice([0, 0.02, 0.2], size=(2, n)) * unit
        return Ball.box(down, up)
    norm = metric.norm if kind < 0.85 else float(rng.choice(NORMS))
    exact = np.flatnonzero(domain.fixed | (rng.uniform(size=n) < 0.3)) if rng.uniform() < 0.4 else ()
    return Ball.whitened(metric.whitening, norm, radius, [int(j) for j in exact])


def _mixed_domain(rng, x0, unit, chosen):
    n = len(x0)
    low, high = np.full(n, -np.inf), np.full(n, np.inf)
    if rng.uniform() < 0.6:
        low, high = x0 - unit * rng.uniform(0, 4, size=n), x0 + unit * rng.uniform(0, 4, size=n)
        low[rng.uniform(size=n) < 0.3], high[rng.uniform(size=n) < 0.3] = -np.inf, np.inf
    kept = rng.uniform(size=n) < 0.1
    low[kept] = high[kept] = x0[kept]
    if n > 1 and rng.uniform() < 0.1:  # today's value lies outside
        j = int(rng.integers(n))
        low[j], high[j] = x0[j] + 0.3 * unit[j], x0[j] + 5 * unit[j]
    rows = [_mixed_row(rng, x0, unit) for _ in range(int(rng.choice([0, 0, 1, 2])))] if n > 1 else []
    sets = [_mixed_set(rng, int(j), float(x0[j]), float(unit[j])) for j in chosen]
    for s in sets:
        j = s.feature
        if s.at_least(low[j]) > s.at_most(high[j]):  # no allowed value is left
            low[j], high[j] = -np.inf, np.inf
    return Domain(low, high, tuple(rows), tuple(sets))


def _mixed_row(rng, x0, unit):
    n = len(x0)
    a = np.zeros(n)
    some = rng.permutation(n)[: int(rng.integers(2, min(n, 3) + 1))]
    a[some] = rng.choice([-2, -1, 1, 1, 2], size=len(some)) / unit[some]
    value, room = float(a @ x0), rng.uniform(-0.3, 2, size=2)
    low, high = (-np.inf, value + room[1]) if rng.uniform() < 0.7 else (value - abs(room[0]), value + 1.0)
    return Row(a, low, high, "mixed")


def _mixed_set(rng, feature, today, unit):
    if rng.uniform() < 0.6:
        return ValueSet(feature, None, today)
    steps = np.sort(rng.choice(np.arange(-12, 13), size=int(rng.integers(1, 6)), replace=False))
    values = today + unit * steps / 4
    return ValueSet(feature, tuple(values), today)
