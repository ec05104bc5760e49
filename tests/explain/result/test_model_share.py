import pytest
from scipy.stats import binom

from surefoot.explain.result.model_share import lower_bound


def test_the_bound_is_that_of_clopper_and_pearson():
    for hits in (1, 50, 97, 100):
        bound = lower_bound(hits, 100)
        assert binom.sf(hits - 1, 100, bound) == pytest.approx(0.05, abs=1e-9)
