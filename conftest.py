"""Fixtures for tests and doctests."""

import gc

import matplotlib
import numpy as np
import pytest
from hypothesis import settings

from surefoot import datasets
from surefoot.threads import one_blas_thread

matplotlib.use("Agg")
collect_ignore_glob = ["docs/gallery/*", "docs/_build/*", "docs/make.py"]  # not to be run by the tests
# Timings on shared machines vary; a slow example is not a failure.
settings.register_profile("surefoot", deadline=None, derandomize=True, max_examples=50)
settings.load_profile("surefoot")


@pytest.fixture(scope="session")
def bundled():
    """The three data sets of the paper."""
    return {
        "banknote": datasets.load_banknote(),
        "pima": datasets.load_pima(),
        "ionosphere": datasets.load_ionosphere(),
    }


@pytest.fixture(scope="session", autouse=True)
def _one_blas_thread():
    """The workers share the cores: with more threads, those of one wait for those of the other."""
    with one_blas_thread():
        yield


@pytest.fixture
def rng():
    """A seeded generator."""
    return np.random.default_rng(20240607)


@pytest.fixture(autouse=True)
def _doctests_write_elsewhere(request):
    """Files that examples in documents write do not end up in the repository."""
    if type(request.node).__name__ == "DoctestItem":
        request.getfixturevalue("monkeypatch").chdir(request.getfixturevalue("tmp_path"))


def pytest_collection_finish():
    """Thousands of tests are a heap that Python would walk over in each of its collections."""
    gc.collect()
    gc.freeze()
