"""Random if-then rules over numbers and categories, and the same question with every combination of ways."""

from dataclasses import replace
from itertools import product

import numpy as np

from surefoot.exceptions import ProblemError
from surefoot.problem.domain import Domain, ValueSet
from surefoot.problem.either import Either, Way
from surefoot.problem.robust_problem import RobustProblem
from surefoot.problem.row import Row
from tests.families import random_family
from tests.problems import random_problem


def either_problem(seed, norm=np.inf, budget=0.0, whole=False):
    """A problem of two to five features with one or two eithers, most of which cut off the optimum."""
    rng = np.random.default_rng([seed, 7])
    n = int(rng.integers(2, 6))
    base = random_problem(n, seed, norm=norm, budget=budget)
    x0, sets = np.array(base.factual), ()
    if whole:
        x0 = np.round(x0)
        sets = tuple(ValueSet(j, None, float(x0[j])) for j in range(int(rng.integers(1, min(n, 3) + 1))))
    aim = random_aim(base, x0, rng)
    eithers = tuple(
        random_either(rng, x0, base.unit, aim, f"rule {e}") for e in range(int(rng.integers(1, 3)))
    )
    ends = (x0 - 6 * base.unit, x0 + 6 * base.unit) if rng.uniform() < 0.7 else (np.full(n, -np.inf),) * 2
    low, high = ends if np.isfinite(ends[0]).all() else (ends[0], -ends[0])
    domain = Domain(low, high, (), sets, eithers)
    return RobustProblem(x0, base.requirements, base.metric, base.ball, domain)


def random_aim(problem, x0, rng):
    """A place near which the target may be reached: up the steepest slope."""
    slope = problem.margins[0].gradient(x0) * problem.unit
    return x0 + problem.unit * slope / max(np.linalg.norm(slope), 1e-9) * rng.uniform(0.5, 2)


def random_either(rng, x0, unit, aim, name=""):
    """Two or three ways of one or two rows, each of which keeps out of the aim's way or not."""
    ways = [Way(tuple(random_row(rng, x0, unit, aim) for _ in range(int(rng.choice([1, 1, 2])))))
            for _ in range(int(rng.integers(2, 4)))]  # fmt: skip
    return Either(tuple(ways), name)


def random_row(rng, x0, unit, aim):
    """An interval of a feature, today's value kept, or a row over two features."""
    n, kind = len(x0), rng.uniform()
    j = int(rng.integers(n))
    a = np.zeros(n)
    a[j] = 1.0
    if kind < 0.2:
        return Row(a, float(x0[j]), float(x0[j]), "kept")
    if kind > 0.6:
        a = np.zeros(n)
        two = rng.permutation(n)[:2]
        a[two] = rng.choice([-1.0, 1.0, 2.0], size=2) / unit[two]
    at = float(a @ (x0 + rng.uniform(-0.3, 0.8) * (aim - x0)))
    if kind > 0.93:
        return Row(a, at, at, "equation")
    return Row(a, -np.inf, at, "below") if a @ (aim - x0) > 0 else Row(a, at, np.inf, "above")


def in_ways(domain, chosen):
    """The domain with the rows of one way for each either; None if nothing is left."""
    low, high, rows = domain.low.copy(), domain.high.copy(), list(domain.rows)
    for either, way in zip(domain.eithers, chosen, strict=True):
        for row in either.ways[way].rows:
            if row.feature is None:
                rows.append(row)
            else:
                low[row.feature] = max(low[row.feature], row.low)
                high[row.feature] = min(high[row.feature], row.high)
    try:
        return Domain(low, high, tuple(rows), domain.sets, limits=domain.limits)
    except ProblemError:
        return None


def combinations(problem):
    """The problem in every combination of ways."""
    for chosen in product(*(range(len(either.ways)) for either in problem.domain.eithers)):
        domain = in_ways(problem.domain, chosen)
        if domain is not None:
            yield replace(problem, domain=domain)


def either_family(rng, posed, n_eithers=2):
    """A family with random rules that ask something of its categories or its numbers, or of both."""
    unit = posed.metric.unit
    aim = posed.factual + unit * rng.normal(size=len(unit))
    eithers = tuple(_mixed_either(rng, posed, unit, aim, f"rule {e}") for e in range(n_eithers))
    return replace(posed, eithers=eithers)


def _mixed_either(rng, posed, unit, aim, name):
    ways = []
    for _ in range(int(rng.integers(2, 4))):
        kind = rng.uniform()
        rows = tuple(random_row(rng, posed.factual, unit, aim) for _ in range(int(rng.choice([1, 1, 2]))))
        k = int(rng.integers(len(posed.choices)))
        size = len(posed.choices[k].values)
        some = frozenset(int(v) for v in rng.permutation(size)[: int(rng.integers(1, size + 1))])
        ways.append(Way(rows if kind < 0.7 else (), {k: some} if kind > 0.4 else {}))
    return Either(tuple(ways), name)


def random_case(seed):
    """A family of one to three categories and two to four numbers, with a bit of everything."""
    rng = np.random.default_rng(seed)
    norm, budget = float(rng.choice([1, 2, np.inf])), float(rng.choice([0, 0.05]))
    sizes = [(2,), (3, 2), (2, 3, 2), (4, 3, 3)][int(rng.integers(4))]
    posed = random_family(
        rng,
        n=int(rng.integers(2, 5)),
        sizes=sizes,
        n_shaping=int(rng.integers(len(sizes) + 1)),
        n_requirements=int(rng.integers(1, 3)),
        norm=norm,
        budget=budget,
        whole=int(rng.integers(0, 2)),
        concave=bool(rng.integers(2)),
    )
    return either_family(rng, posed, int(rng.integers(1, 3)))
