"""Random problems with categories, small enough to try every state."""

from itertools import product

import numpy as np

from surefoot.problem.choice import Choice
from surefoot.problem.domain import Domain, ValueSet
from surefoot.problem.family import Family, MixedRequirement
from surefoot.problem.geometry import Ball, Metric, Whitening
from surefoot.problem.mixed import Factor, MixedQuadratic
from surefoot.problem.quadratic import Quadratic


def random_family(
    rng,
    n=3,
    sizes=(2, 3, 2, 3),
    n_shaping=1,
    n_requirements=1,
    norm=np.inf,
    budget=0.0,
    price=(0.2, 0.6),
    whole=0,
    concave=False,
):
    """A family with one tree of factors over its categories; some of them shape the quadratics."""
    factual = rng.normal(size=n).round(0 if whole else 6)
    M = Whitening(np.triu(rng.normal(size=(n, n)) * 0.3) + np.diag(rng.uniform(0.8, 1.5, n)), "cholesky")
    shaping = tuple(range(n_shaping))
    requirements = tuple(
        MixedRequirement(_margin(rng, n, sizes, shaping, factual, concave)) for _ in range(n_requirements)
    )
    metric = Metric(M, norm)
    ball = Ball.whitened(M, norm, budget, (), tuple(range(n)))
    sets = tuple(ValueSet(j, None, float(factual[j])) for j in range(whole))
    domain = Domain(factual - 4, factual + 4, sets=sets)
    return Family(factual, requirements, metric, ball, domain, _choices(rng, sizes, price))


def _margin(rng, n, sizes, shaping, factual, concave):
    quadratics = {}

    def given(state):
        key = tuple(state[k] for k in shaping)
        return quadratics[key]

    for key in product(*(range(sizes[k]) for k in shaping)):
        S = rng.normal(size=(n, n)) * 0.4
        matrix = -S @ S.T if concave else (S + S.T) / 2
        quadratics[key] = Quadratic(matrix, rng.normal(size=n), -rng.uniform(0.5, 2.5), factual)
    factors = []
    for k, size in enumerate(sizes):
        parent = (int(rng.integers(k)),) if k and rng.random() < 0.5 else ()
        shape = (*(sizes[j] for j in parent), size)
        factors.append(Factor((*parent, k), 0.7 * rng.normal(size=shape)))
    return MixedQuadratic(given, shaping, tuple(factors))


def _choices(rng, sizes, price):
    found = []
    for k, size in enumerate(sizes):
        today = int(rng.integers(size))
        prices = [0.0 if v == today else float(rng.uniform(*price)) for v in range(size)]
        if rng.random() < 0.3 and size > 2:
            prices[next(v for v in range(size) if v != today)] = np.inf
        found.append(Choice(100 + k, tuple(range(size)), tuple(prices), today))
    return tuple(found)


def all_states(family):
    """Every state that may be taken."""
    return list(product(*(choice.allowed for choice in family.choices)))
