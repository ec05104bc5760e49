"""The semidefinite bound: our interior-point method against Clarabel on the same (lifted) problem.

usage: python benchmarks/run.py bound      (root of the certified search, p = infinity, one scenario)
"""

import time

import clarabel
import numpy as np
from scipy import sparse

from benchmarks.speed.growth import network
from surefoot.search.certified.clock import Clock
from surefoot.search.certified.interior import minimise
from surefoot.search.certified.region import Region, piece
from surefoot.search.certified.rows import first_multipliers, lagrangian
from surefoot.search.certified.space import whitened

COLUMNS = ["features", "ours (s)", "Clarabel (s)", "Clarabel : ours", "relative difference"]


def lifted(form):
    """min s  s.t.  s ee' - sum x_j A_j >= 0,  x >= 0,  sum of the margins' x = 1, entry by entry."""
    size, m = form.left.shape[1], form.size
    triangle = [(i, j) for j in range(size) for i in range(j + 1)]
    rows = np.array([i for i, _ in triangle]), np.array([j for _, j in triangle])
    weight = np.where(rows[0] == rows[1], 1.0, np.sqrt(2.0))
    columns = [(form.matrix(unit)[rows] * weight) for unit in np.eye(m)]
    corner = np.zeros((size, size))
    corner[-1, -1] = 1.0
    psd = np.column_stack([*columns, -corner[rows] * weight])
    chosen = np.zeros((1, m + 1))
    chosen[0, form.margins] = 1.0
    A = sparse.csc_matrix(np.vstack([chosen, np.hstack([-np.eye(m), np.zeros((m, 1))]), psd]))
    b = np.concatenate([[1.0], np.zeros(m + len(triangle))])
    return A, b, [clarabel.ZeroConeT(1), clarabel.NonnegativeConeT(m), clarabel.PSDTriangleConeT(size)]


def rows():
    for n in (4, 8, 16, 32, 60):
        space = whitened(network(n, 1))
        part = piece(space, Region(scenarios=[0]), 2.0, use_corners=False)
        form = lagrangian(part, [(0, np.zeros(n))])
        start = time.perf_counter()
        found = minimise(form, first_multipliers(part, form), 1e-7, 1e-9, Clock(60.0))
        ours = time.perf_counter() - start
        settings = clarabel.DefaultSettings()
        settings.verbose, settings.max_threads = False, 1
        A, b, kinds = lifted(form)
        cost = np.append(np.zeros(form.size), 1.0)
        start = time.perf_counter()
        empty = sparse.csc_matrix((form.size + 1, form.size + 1))
        other = clarabel.DefaultSolver(empty, cost, A, b, kinds, settings).solve().obj_val
        theirs = time.perf_counter() - start
        difference = abs(found.value / other - 1)
        values = [n, f"{ours:.4f}", f"{theirs:.4f}", f"{theirs / ours:.1f}", f"{difference:.1e}"]
        yield dict(zip(COLUMNS, values, strict=True))
