"""NOTEARS: ours against gcastle's, on the same data in one run."""

import time

import numpy as np

from benchmarks.speed.gcastle_notears import load
from surefoot import datasets
from surefoot.model.structure import learn_notears

COLUMNS = [
    "data", "l1_penalty", "edges", "edges (gcastle)", "objective", "objective (gcastle)",
    "hamming", "hamming (gcastle)", "seconds", "seconds (gcastle)", "speed-up",
]  # fmt: skip
THRESHOLD = 0.3


def random_linear_model(seed, n=20, degree=2, rows=1000):
    """Erdos-Renyi graph, weights of size 0.5 to 2, unit noise: the setting of the NOTEARS paper."""
    rng = np.random.default_rng(seed)
    dag = datasets.random_dag(n, degree / (n - 1), rng)
    W = np.where(dag.adjacency(), rng.uniform(0.5, 2, (n, n)) * rng.choice((-1, 1), (n, n)), 0.0)
    return np.linalg.solve(np.eye(n) - W, rng.standard_normal((n, rows))).T, dag.adjacency().T


def objective(X, W, penalty):
    centred = X - X.mean(axis=0)
    return 0.5 / len(X) * ((centred - centred @ W) ** 2).sum() + penalty * np.abs(W).sum()


def hamming(found, true):
    """Edges to add, remove or reverse; empty where the truth is not known."""
    if true is None:
        return ""
    wrong = found != true
    return int(np.triu(wrong | wrong.T).sum())


def timed(function):
    start = time.perf_counter()
    result = function()
    return result, time.perf_counter() - start


def compare(Notears, name, X, penalty, true=None):
    def theirs():
        learner = Notears(lambda1=penalty, w_threshold=THRESHOLD)
        learner.learn(X)
        return np.array(learner.weight_causal_matrix)

    def ours():
        return learn_notears(np.cov(X.T, bias=True), l1_penalty=penalty, edge_threshold=THRESHOLD)

    report, seconds = timed(ours)
    W, their_seconds = timed(theirs)
    mine, their_edges = report.dag.adjacency().T, np.abs(W) > THRESHOLD
    return dict(
        zip(
            COLUMNS,
            [
                name, penalty, mine.sum(), their_edges.sum(),
                f"{report.objective:.5g}", f"{objective(X, W, penalty):.5g}",
                hamming(mine, true), hamming(their_edges, true),
                f"{seconds:.2f}", f"{their_seconds:.2f}", f"{their_seconds / seconds:.0f}x",
            ],
            strict=True,
        )
    )  # fmt: skip


def rows():
    Notears = load()
    for penalty in (0.1, 0.01):
        for load_data in (datasets.load_banknote, datasets.load_pima, datasets.load_ionosphere):
            data = load_data()
            yield compare(Notears, data.title, data.X.to_numpy(), penalty)
        for degree in (2, 4):
            for seed in range(3):
                X, true = random_linear_model(seed, degree=degree)
                yield compare(Notears, f"random, 20 nodes, degree {degree}, seed {seed}", X, penalty, true)
