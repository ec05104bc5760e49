"""How the certified search grows: with features, with positive eigenvalues and with the budget (gap 1 %).

usage: python benchmarks/run.py growth      (random problems, five of each; seconds on one core)
"""

import time

import numpy as np

from surefoot.datasets import synthetic
from surefoot.problem.geometry import Ball, Metric, Whitening
from surefoot.problem.quadratic import Quadratic
from surefoot.problem.robust_problem import Requirement, RobustProblem
from surefoot.search.certified import certified_search

COLUMNS = ["what grows", "value", "runs", "median s", "most s", "largest gap", "finished", "fitted exponent"]
SEEDS = range(5)


def network(n, seed, budget=0.05):
    """A factual of one class of a random network, the other class the target."""
    data = synthetic(60, n, edge_density=0.2, class_separation=2.0, random_state=seed)
    zero, one = data.networks
    H = one.log_density_quadratic() - zero.log_density_quadratic()
    rows = data.X.to_numpy()
    factual = rows[np.argmax(H(rows) < -0.5)] if (H(rows) < -0.5).any() else zero.means
    return posed(factual, H, zero.whitening(), budget)


def curved(positive, seed, n=32):
    """A random quadratic with so many positive eigenvalues, as a network's: below one half."""
    rng = np.random.default_rng(seed)
    V = np.linalg.qr(rng.normal(size=(n, n)))[0]
    values = np.concatenate([rng.uniform(0.05, 0.45, positive), -rng.exponential(1.0, n - positive)])
    H = Quadratic((V * values) @ V.T, rng.normal(size=n), -12.0)
    return posed(np.zeros(n), H, Whitening(np.eye(n), "cholesky"), 0.05)


def posed(factual, H, whitening, budget):
    """The paper's problem for p = infinity in the whole space."""
    ball = Ball.whitened(whitening, np.inf, budget)
    return RobustProblem(factual, (Requirement(H),), Metric(whitening, np.inf), ball)


def measured(problems, limit=60.0):
    seconds, gaps, finished = [], [], 0
    for problem in problems:
        start = time.perf_counter()
        found = certified_search(problem, 0.01, limit)
        seconds.append(time.perf_counter() - start)
        gaps.append(1 - found.lower_bound / problem.distance(found.point))
        finished += found.status == "optimal"
    return seconds, gaps, finished


def rows():
    yield from series("features", (4, 8, 16, 32, 60, 100, 200), network)
    yield from series("positive eigenvalues of 32", (1, 2, 4, 8, 16, 24, 31), curved)
    yield from series("budget, 32 features", (0.0, 0.01, 0.05, 0.1, 0.2), lambda b, s: network(32, s, b))


def series(what, values, make):
    medians = []
    for value in values:
        seconds, gaps, finished = measured([make(value, seed) for seed in SEEDS])
        medians.append(np.median(seconds))
        exponent = ""
        if what == "features" and value == values[-1]:
            large = [k for k, v in enumerate(values) if v >= 16]
            slope = np.polyfit(np.log(np.array(values)[large]), np.log(np.array(medians)[large]), 1)[0]
            exponent = f"{slope:.2f} (from 16 on)"
        head = [what, value, len(seconds), f"{medians[-1]:.4f}", f"{max(seconds):.3f}", f"{max(gaps):.2e}"]
        yield dict(zip(COLUMNS, [*head, f"{finished}/{len(seconds)}", exponent], strict=True))


def plot(frame, path):
    """One panel for each thing that grows."""
    import matplotlib.pyplot as plt

    groups = list(frame.groupby("what grows", sort=False))
    figure, axes = plt.subplots(1, len(groups), figsize=(10, 3.2), layout="constrained", sharey=True)
    for ax, (what, part) in zip(axes, groups, strict=True):
        ax.plot(part["value"].astype(float), part["median s"].astype(float), "o-", label="median")
        ax.plot(part["value"].astype(float), part["most s"].astype(float), "^:", label="slowest of five")
        ax.set(yscale="log", xlabel=what, xscale="log" if what == "features" else "linear")
        ax.grid(color="0.9")
    axes[0].set_ylabel("seconds, gap 1 %")
    axes[0].legend(frameon=False)
    figure.savefig(path, dpi=150)
