import matplotlib
import numpy as np
import pytest
from hypothesis import settings

from surefoot import datasets

matplotlib.use("Agg")
# Timings on shared machines vary; a slow example is not a failure.
settings.register_profile("surefoot", deadline=None, derandomize=True, max_examples=50)
settings.load_profile("surefoot")


@pytest.fixture(scope="session")
def bundled():
    return {
        "banknote": datasets.load_banknote(),
        "pima": datasets.load_pima(),
        "ionosphere": datasets.load_ionosphere(),
    }


@pytest.fixture
def rng():
    return np.random.default_rng(20240607)
