"""BLAS has one thread inside a block, and as many as before after it."""

import subprocess
import sys

import numpy as np
from threadpoolctl import threadpool_info, threadpool_limits

from surefoot.model.structure import learn_notears, notears
from surefoot.threads import one_blas_thread


def blas_threads():
    """The numbers of threads of all BLAS libraries: numpy's and scipy's."""
    return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]


def test_one_inside_and_as_many_as_before_outside():
    with threadpool_limits(2, "blas"):
        with one_blas_thread():
            assert set(blas_threads()) == {1}
        assert set(blas_threads()) == {2}


def test_scipys_library_is_held_however_late_scipy_is_needed():
    code = """
from threadpoolctl import threadpool_info, threadpool_limits
from surefoot.threads import one_blas_thread
with one_blas_thread():
    pass
from scipy import linalg
with threadpool_limits(2, "blas"), one_blas_thread():
    print({library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"})
"""
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout == "{1}\n"


def test_graphs_are_learned_by_one_thread(bundled, monkeypatch):
    """Exponentials of small matrices take many times as long if threads wait for each other."""
    used, acyclicity = set(), notears.acyclicity

    def noting(W):
        used.update(blas_threads())
        return acyclicity(W)

    monkeypatch.setattr(notears, "acyclicity", noting)
    with threadpool_limits(2, "blas"):
        learn_notears(np.cov(bundled["banknote"].X.T, bias=True))
    assert used == {1}
