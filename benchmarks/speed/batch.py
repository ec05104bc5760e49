"""A thousand explanations on Pima (tree, budget 0.05) with one job and with two, and through a Dask cluster.

The machine's own scaling is measured in the same run: two processes that only count, against one.

usage: python benchmarks/run.py batch
"""

import time
from multiprocessing import get_context

import joblib
import pandas as pd

from benchmarks.asking import CounterfactualExplainer
from surefoot import ConditionalGaussianNetworkClassifier, datasets

COLUMNS = ["jobs", "rows", "seconds", "times faster than one job", "identical to one job"]


def counted(_):
    start, total = time.perf_counter(), 0
    for i in range(30_000_000):
        total += i
    return time.perf_counter() - start


def own_scaling():
    """How much faster this machine counts with two processes than with one."""
    with get_context("spawn").Pool(2) as pool:
        alone = pool.map(counted, [0])[0]
        together = max(pool.map(counted, [0, 1], chunksize=1))
    return 2 * alone / together


def timed(explainer, rows, n_jobs):
    start = time.perf_counter()
    found = explainer.explain_batch(rows, n_jobs=n_jobs, progress=False)
    return time.perf_counter() - start, found.to_frame().drop(columns="seconds")


def line(jobs, seconds, found, one):
    return {
        "jobs": jobs,
        "rows": len(found),
        "seconds": f"{seconds:.2f}",
        "times faster than one job": f"{one[0] / seconds:.2f}",
        "identical to one job": found.equals(one[1]),
    }


def rows():
    from distributed import Client, LocalCluster

    pima = datasets.load_pima()
    clf = ConditionalGaussianNetworkClassifier("tan").fit(pima.X, pima.y)
    explainer = CounterfactualExplainer(clf, budget=0.05, whole=False)
    table = pd.concat([pima.X, pima.X]).head(1000).reset_index(drop=True)
    machine = f"{own_scaling():.2f}"
    one = timed(explainer, table, 1)
    yield line("1", *one, one)
    yield line("2, workers started in this time", *timed(explainer, table, 2), one)
    yield line("2, workers already there", *timed(explainer, table, 2), one)
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster),
        joblib.parallel_config(backend="dask"),
    ):
        yield line("2, Dask cluster on this machine", *timed(explainer, table, None), one)
    yield {**dict.fromkeys(COLUMNS, ""), "jobs": "2, only counting", "times faster than one job": machine}
