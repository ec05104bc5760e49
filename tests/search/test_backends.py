import sys
from importlib.machinery import ModuleSpec

import numpy as np
import pytest

from surefoot.exceptions import (
    BackendError,
    BackendMissingError,
    BackendTooLargeError,
    BackendUnlicensedError,
)
from surefoot.search.paper.backends import available_backends, choose_backend, registry, solve
from surefoot.search.paper.program import Options, Outcome, ProgramBuilder, QuadraticRow
from surefoot.status import Status

MILP = ["highs", "scip", "gurobi"]
QCQP = ["scip", "gurobi"]
EXACT = Options(gap=1e-6, absolute_gap=1e-7)


def knapsack(n=12, seed=0):
    rng = np.random.default_rng(seed)
    value, weight = rng.integers(1, 20, n), rng.integers(1, 20, n)
    builder = ProgramBuilder()
    x = builder.variables(n, 0, 1, cost=-value, integer=True)
    builder.linear(weight, x, -np.inf, weight.sum() // 2)
    return builder.build(), value, weight


@pytest.mark.parametrize("backend", MILP)
@pytest.mark.parametrize("seed", range(3))
def test_knapsack_by_brute_force(backend, seed):
    program, value, weight = knapsack(seed=seed)
    choices = (np.arange(2**12)[:, None] >> np.arange(12)) & 1
    best = (choices @ value)[choices @ weight <= weight.sum() // 2].max()
    outcome = solve(program, EXACT, backend)
    assert outcome.status is Status.OPTIMAL
    assert -outcome.objective == pytest.approx(best)
    assert outcome.bound <= outcome.objective + 1e-6
    assert outcome.gap <= 1e-5


@pytest.mark.parametrize("backend", MILP)
def test_continuous_program_and_its_bound(backend):
    builder = ProgramBuilder()
    x = builder.variables(2, 0, 3, cost=[-1.0, -2.0])
    builder.linear([1.0, 1.0], x, -np.inf, 4.0)
    outcome = solve(builder.build(), EXACT, backend)
    assert outcome.objective == pytest.approx(-7)
    assert outcome.bound == pytest.approx(-7)


@pytest.mark.parametrize("backend", QCQP)
def test_nonconvex_quadratic(backend):
    """min y s.t. y >= x1 x2, both in [-1, 2]: -2 at a corner."""
    builder = ProgramBuilder()
    x = builder.variables(2, -1, 2)
    y = builder.variables(1, -10, 10, cost=1.0)
    row = QuadraticRow(x, np.array([[0, 0.5], [0.5, 0]]), y, np.array([-1.0]), high=0.0)
    builder.quadratic(row)
    outcome = solve(builder.build(), EXACT, backend)
    assert outcome.status is Status.OPTIMAL
    assert outcome.objective == pytest.approx(-2, abs=1e-5)


@pytest.mark.parametrize("backend", MILP)
def test_infeasible(backend):
    builder = ProgramBuilder()
    x = builder.variables(2, 0, 1, cost=1.0, integer=True)
    builder.linear([1.0, 1.0], x, 3.0, np.inf)
    outcome = solve(builder.build(), EXACT, backend)
    assert outcome.status is Status.INFEASIBLE
    assert outcome.values is None


@pytest.mark.parametrize("backend", MILP)
def test_no_time_at_all(backend):
    outcome = solve(knapsack()[0], Options(time_limit=0.0), backend)
    assert outcome.status is Status.TIME_LIMIT_NO_POINT
    assert outcome.values is None


@pytest.mark.parametrize("backend", MILP)
def test_a_short_time_limit_is_kept(backend):
    """A hard multi-dimensional knapsack that nobody proves in a fifth of a second."""
    rng = np.random.default_rng(0)
    builder = ProgramBuilder()
    x = builder.variables(150, 0, 1, cost=-rng.integers(100, 200, 150), integer=True)
    weights = rng.integers(50, 200, (20, 150))
    builder.linear(weights, x, -np.inf, weights.sum(axis=1) // 3)
    outcome = solve(builder.build(), Options(time_limit=0.2, gap=0.0), backend)
    assert outcome.status in (Status.TIME_LIMIT, Status.TIME_LIMIT_NO_POINT)
    assert outcome.seconds < 5
    assert (outcome.values is None) == (outcome.status is Status.TIME_LIMIT_NO_POINT)


def test_answers_are_checked_against_the_program():
    program, _, _ = knapsack()
    wrong = Outcome(Status.OPTIMAL, np.ones(12), -1.0, -1.0, 0.0)
    checked = wrong.checked(program)
    assert checked.status is Status.FAILED
    assert checked.values is None
    assert "violates its own program" in checked.message
    fractional = Outcome(Status.OPTIMAL, np.full(12, 0.1), -1.0, -1.0, 0.0)
    assert fractional.checked(program).values is None


@pytest.mark.parametrize("backend", MILP)
def test_a_lying_solver_returns_no_point(backend, monkeypatch):
    module = registry._module(backend)
    honest = module.solve

    def lie(program, options):
        outcome = honest(program, options)
        return Outcome(Status.OPTIMAL, outcome.values + 1.0, outcome.objective, outcome.bound, 0.0)

    monkeypatch.setattr(module, "solve", lie)
    outcome = solve(knapsack()[0], EXACT, backend)
    assert outcome.status is Status.FAILED
    assert outcome.values is None


def test_missing_unlicensed_too_large_and_unable_are_different_answers(monkeypatch):
    with pytest.raises(BackendError, match="highs cannot solve a qcqp; gurobi, scip can"):
        choose_backend("qcqp", "highs")
    with pytest.raises(BackendError, match="unknown backend 'cplex'; there are gurobi, highs, scip"):
        choose_backend("milp", "cplex")
    builder = ProgramBuilder()
    x = builder.variables(3000, 0, 1, cost=1.0, integer=True)
    builder.linear(np.ones((1, 3000)), x, 10.0, np.inf)
    with pytest.raises(BackendTooLargeError, match="too large for the Gurobi licence"):
        solve(builder.build(), Options(), "gurobi")
    monkeypatch.setattr(registry._module("gurobi"), "licence", lambda: (False, "expired"))
    with pytest.raises(BackendUnlicensedError, match="no valid licence: expired"):
        choose_backend("milp", "gurobi")
    monkeypatch.setattr(registry, "find_spec", lambda _: None)
    with pytest.raises(
        BackendMissingError, match=r"scip is not installed; get it with pip install 'surefoot\[scip\]'"
    ):
        choose_backend("qcqp", "scip")
    with pytest.raises(BackendMissingError, match="no solver for a qcqp is installed"):
        choose_backend("qcqp")
    assert all(not backend.usable for backend in available_backends())


def test_open_source_comes_first():
    assert choose_backend("qcqp") == "scip"
    assert choose_backend("milp") == "highs"


def test_capabilities_are_data():
    found = {backend.name: backend for backend in available_backends()}
    assert found["highs"].kinds == ("milp",)
    assert all(backend.usable for backend in found.values())
    assert isinstance(registry.find_spec("highspy"), ModuleSpec)
    assert "pyscipopt" in sys.modules


@pytest.mark.parametrize("backend", MILP)
def test_unbounded_is_not_infeasible(backend):
    builder = ProgramBuilder()
    x = builder.variables(2, -np.inf, np.inf, cost=[1.0, 0.0])
    builder.linear([1.0, 1.0], x, -np.inf, 5.0)
    outcome = solve(builder.build(), EXACT, backend)
    assert outcome.status in (Status.UNBOUNDED, Status.FAILED)
    assert outcome.values is None


def test_options_are_checked():
    from surefoot.exceptions import ProblemError

    for bad in ({"gap": -1}, {"gap": np.nan}, {"threads": -1}, {"time_limit": "60"}, {"time_limit": np.nan}):
        with pytest.raises(ProblemError, match=f"{next(iter(bad))} must be a number >= 0"):
            Options(**bad)
    for backend in MILP:
        assert solve(knapsack()[0], Options(time_limit=np.inf), backend).status is Status.OPTIMAL


@pytest.mark.parametrize("backend", MILP)
def test_a_feasible_program_that_presolve_has_found_infeasible(backend):
    """x_0 + x_1 = (0, 2.004...) with one of five values for x_0; HiGHS 1.15.1 loses it on the way."""
    most = 2.00602109853818
    builder = ProgramBuilder()
    x = builder.variables(2, [-1.6, -most], [1.4, most])
    size = builder.variables(2, 0.0, most, cost=1.0)
    square = builder.variables(1, -np.inf, np.inf)
    pick = builder.variables(5, 0.0, 1.0, integer=True)
    builder.linear([1.0, 1.0], size, -np.inf, most)
    builder.linear(np.hstack([np.eye(2), -np.eye(2)]), np.append(x, size), -np.inf, 0.0)
    builder.linear(np.hstack([np.eye(2), np.eye(2)]), np.append(x, size), 0.0, np.inf)
    for at in np.linspace(-most, most, 21):
        builder.linear([-2 * at, 1.0], np.append(x[1], square), -(at**2), np.inf)
    builder.linear([0.1, 1.0, -0.001], np.append(x, square), 2.0, np.inf)
    builder.linear(np.ones(5), pick, 1.0, 1.0)
    builder.linear([1.0, 1.6, 0.6, 0.0, -0.4, -1.4], np.append(x[0], pick), 0.0, 0.0)
    outcome = solve(builder.build(), EXACT, backend)
    assert outcome.status is Status.OPTIMAL
    assert outcome.objective == pytest.approx(2.004016, abs=1e-5)
