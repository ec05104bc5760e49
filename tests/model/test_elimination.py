import numpy as np
import pytest

from surefoot.model.elimination import RowFactor, log_evidence, posterior

SIZES = (2, 3, 4, 2)
SCOPES = [(0,), (0, 1), (1, 2), (0, 3), (2, 3)]  # with a cycle


@pytest.fixture
def factors(rng):
    return [RowFactor(scope, rng.normal(0, 2, (5, *(SIZES[k] for k in scope)))) for scope in SCOPES]


def joint(factors):
    every = (0, 1, 2, 3)
    return np.exp(sum(factor.over(every) for factor in factors))


def test_evidence_is_the_sum_over_everything(factors):
    expected = np.log(joint(factors).sum(axis=(1, 2, 3, 4)))
    np.testing.assert_allclose(log_evidence(factors, 5), expected)
    assert log_evidence([], 3).tolist() == [0.0] * 3


@pytest.mark.parametrize("scope", [(0,), (2,), (0, 2), (1, 3), (0, 1, 2, 3), ()])
def test_posteriors_are_marginals(factors, scope):
    found = posterior(factors, scope, 5)
    others = tuple(1 + k for k in range(4) if k not in scope)
    expected = joint(factors).sum(axis=others)
    expected = expected / expected.reshape(5, -1).sum(axis=1).reshape(5, *(1,) * len(scope))
    assert found.scope == scope
    np.testing.assert_allclose(found.table, expected)


def test_large_logarithms_do_not_overflow():
    factors = [RowFactor((0,), np.array([[1e4, -1e4], [-1e5, -1e5]])), RowFactor((0,), np.zeros((2, 2)))]
    np.testing.assert_allclose(log_evidence(factors, 2), [1e4, -1e5 + np.log(2)])
    np.testing.assert_allclose(posterior(factors, (0,), 2).table, [[1, 0], [0.5, 0.5]])
