"""A first point comes early, memory is bounded, and what is refuted at a lower level is open at a higher."""

import itertools
import tracemalloc
from dataclasses import replace
from itertools import product

import numpy as np
import pandas as pd
import pytest

from surefoot import Action, Actions, ConditionalGaussianNetworkClassifier, Status, plain
from surefoot.model import mixed
from surefoot.model.dag import Dag
from surefoot.model.mixed import Cells, MixedNetwork
from surefoot.model.schema import Schema
from surefoot.problem import family
from surefoot.problem.domain import Domain
from surefoot.problem.either import Limit
from surefoot.problem.geometry import Ball, Metric, Whitening
from surefoot.problem.quadratic import Quadratic
from surefoot.problem.robust_problem import Requirement, RobustProblem
from surefoot.proof.worst_case import worst_perturbation
from surefoot.search.certified import certified_search, certified_states, changes, states, subsets
from surefoot.search.certified.clock import Clock, OutOfTimeError
from surefoot.search.certified.subsets import Subsets
from tests.asking import CounterfactualExplainer
from tests.families import all_states, random_family
from tests.thinning import covering, only

GAP = 1e-3
MEGABYTE = 2**20
TINY = [0, 1, 2, 4, 3, 5, 6, 7, 588, 8, 1096, 975, 1209, 1085, 9]


def many_features(n, most, lacking, norm=2.0):
    """Features that count less and less, of which at most some change, each by at most three."""
    H = Quadratic(-0.01 * np.eye(n), 1.0 / np.arange(1, n + 1), -lacking)
    whitening = Whitening(np.eye(n), "cholesky")
    limit = Limit(most, tuple(range(n)), (0.0,) * n)
    domain = Domain(np.full(n, -3.0), np.full(n, 3.0), limits=(limit,))
    ball = Ball.whitened(whitening, norm, 0.02, (), tuple(range(n)))
    return RobustProblem(np.zeros(n), (Requirement(H),), Metric(whitening, norm), ball, domain)


@pytest.mark.parametrize(
    ("lacking", "norm"),
    only(
        [(3.0, 2.0), (9.0, 1.0), (9.0, 2.0), (9.0, np.inf)],
        itertools.product([3.0, 9.0], [1.0, 2.0, np.inf]),
    ),
)
def test_two_changes_of_hundreds_take_little_memory(norm, lacking):
    search = Subsets(many_features(200, 2, lacking, norm), GAP, Clock(3.0))
    tracemalloc.start()
    try:
        status = search.run()
        assert tracemalloc.get_traced_memory()[1] < 100 * MEGABYTE
    finally:
        tracemalloc.stop()
    assert (search.points.best is not None) == (lacking == 3.0)
    assert (status is Status.INFEASIBLE) <= (lacking == 9.0)


def test_a_point_comes_before_choices_are_refuted(monkeypatch):
    def no_time(*_):
        raise OutOfTimeError

    monkeypatch.setattr(subsets, "refute_in_bunches", no_time)
    found = certified_search(many_features(400, 2, 3.0), GAP, 30)
    assert found.status is Status.TIME_LIMIT
    assert np.count_nonzero(found.point) <= 2


@pytest.mark.parametrize("seed", range(4))
def test_splits_end_where_files_would_be_too_deep(monkeypatch, seed):
    """What is left there is refuted at once, or no bound is claimed."""
    posed = many_features(12, 1 + seed % 2, [1.5, 2.0, 2.5, 9.0][seed])
    best = certified_search(posed, GAP, 30)
    monkeypatch.setattr(changes, "DEEPEST", 4)
    monkeypatch.setattr(subsets, "TOO_DEEP", 4)
    search = Subsets(posed, GAP, Clock(30))
    status = search.run()
    assert max(choice.depth for choice in search.choices) <= 4
    assert status in (best.status, Status.BOUND_LIMIT, Status.BOUND_LIMIT_NO_POINT)
    distance = np.inf if best.point is None else posed.distance(best.point)
    assert 0 < search.bound <= distance * (1 + 1e-9)
    if search.points.best is not None:
        assert posed.domain.contains(search.points.point)
    assert search.too_deep == (status.with_point is Status.BOUND_LIMIT)
    assert ("nested too deeply" in certified_search(posed, GAP, 30).advice) == search.too_deep


def test_the_deepest_proofs_can_be_read():
    assert changes.DEEPEST <= subsets.DEEPEST <= plain.DEEPEST - 30


def lacking_much(rng, sizes, **settings):
    """A family in which several categories must change."""
    posed = random_family(rng, n=2, sizes=sizes, n_shaping=0, price=(0.9, 1.1), **settings)
    harder = tuple(replace(r, margin=r.margin.shifted(-6.0)) for r in posed.requirements)
    return replace(posed, requirements=harder, _bases={})


@pytest.mark.parametrize(("n_requirements", "norm"), covering([1, 2], [1.0, 2.0, np.inf]))
def test_a_point_comes_before_states_are_refuted(monkeypatch, norm, n_requirements):
    def no_time(*_):
        raise OutOfTimeError

    monkeypatch.setattr(states._States, "_look_at", no_time)
    for seed in range(3):
        posed = lacking_much(
            np.random.default_rng(seed), (10,) * 20, norm=norm, budget=0.05, n_requirements=n_requirements
        )
        found = certified_states(posed, GAP, 30)
        assert found.status is Status.TIME_LIMIT
        problem = posed.problem(found.state)
        assert worst_perturbation(problem, found.point).violation <= 1e-9
        assert problem.domain.contains(found.point)


def test_numbers_change_where_categories_do_not_do(monkeypatch):
    """A first point is found in a state on the way up, with other numbers."""

    def no_time(*_):
        raise OutOfTimeError

    monkeypatch.setattr(states._States, "_look_at", no_time)
    found = 0
    for seed in range(8):
        posed = random_family(np.random.default_rng(seed), n=3, sizes=(2, 2), budget=0.05)
        answer = certified_states(posed, GAP, 30)
        found += answer.point is not None and not np.array_equal(answer.point, posed.factual)
    assert found > 1


def test_pairs_of_very_many_values_are_not_listed(monkeypatch):
    listed = states._States._near_states

    def single(self, flips):
        assert flips == 1
        return listed(self, flips)

    monkeypatch.setattr(states._States, "_near_states", single)
    posed = lacking_much(np.random.default_rng(0), (300, 300), norm=2.0)
    assert certified_states(posed, GAP, 5).point is not None


def tiny(seed, **limits):
    """Whole numbers and a few allowed values, near what parents predict, with errors of some features."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 5))
    y = np.arange(80) % 2
    X = (
        rng.normal(size=(80, n)) @ (np.eye(n) + 0.5 * rng.normal(size=(n, n)))
        + rng.normal(size=n) * y[:, None]
    )
    table = pd.DataFrame((2 * X).round(), columns=[f"x{j}" for j in range(n)])
    features = {name: Action(whole=True) for name in table}
    if limits:
        features[f"x{n - 1}"] = Action(whole=False)
    features["x0"] = Action(values=sorted({float(v) for v in rng.choice(table["x0"].to_numpy(), 4)}))
    settings = {
        "norm": float(rng.choice([1, 2, np.inf])),
        "budget": {"x1": float(rng.choice([0.1, 0.5, 1.0]))},
        "plausible": ("conditional", float(rng.choice([0.5, 1.0, 2.0]))),
        "actions": Actions(features, when=[("`x1` rises", "`x2` falls")], **limits),
    }
    clf = ConditionalGaussianNetworkClassifier("tan").fit(table, y)
    return CounterfactualExplainer(clf, time_limit=20, **settings), table.iloc[int(rng.integers(80))]


def enumerated(explainer, row, target):
    """The least distance of all allowed points that withstand the errors."""
    problem = explainer.problem(row, target)
    sets = {s.feature: s for s in problem.domain.sets}
    grids = [
        [v for v in np.arange(a, b + 1) if sets[j].contains(v)]
        for j, (a, b) in enumerate(zip(np.ceil(problem.domain.low), problem.domain.high, strict=True))
    ]
    best = np.inf
    for values in sorted(product(*grids), key=lambda v: problem.distance(np.array(v))):
        x = np.array(values)
        allowed = problem.domain.contains(x) and problem.margin(x) >= 0
        if allowed and worst_perturbation(problem, x).violation <= 0:
            best = problem.distance(x)
            break
    return best


@pytest.mark.parametrize("seed", only(TINY[::2], TINY))
def test_tiny_requests_are_decided_as_by_enumeration(seed):
    explainer, row = tiny(seed)
    e = explainer.explain(row, on_failure="return")
    if e.status is Status.ALREADY_TARGET:
        return
    best = enumerated(explainer, row, e.target)
    assert e.status is (Status.OPTIMAL if best < np.inf else Status.INFEASIBLE)
    assert e.distance == pytest.approx(best, rel=2e-3) or best == e.distance


@pytest.mark.parametrize("seed", only([185, 1046], [185, 1005, 1046]))
def test_the_nearest_point_on_a_line_is_found(seed):
    """One number of any size changes: regions that hold a nearer point are not cut for ever."""
    explainer, row = tiny(seed, at_most=1)
    e = explainer.explain(row, on_failure="return")
    assert e.status is Status.OPTIMAL


def test_shapes_are_remembered_while_there_is_room(monkeypatch):
    posed = random_family(np.random.default_rng(0), n=3, sizes=(7, 7), n_shaping=2)
    before = [posed.problem(state).margin(posed.factual) for state in all_states(posed)]
    monkeypatch.setattr(family, "KEPT_ENTRIES", 5 * 3**2)
    again = replace(posed, _bases={})
    assert [again.problem(state).margin(posed.factual) for state in all_states(posed)] == before
    assert len(again._bases) <= 6


def test_networks_are_remembered_while_there_is_room(monkeypatch):
    schema = Schema(("c", "x"), (tuple("abcdefgh"), None))
    cells = Cells((), (0,), np.arange(8.0), np.zeros((8, 0)), np.zeros((8, 0)), np.ones(8))
    network = MixedNetwork(Dag([(), (0,)]), schema, (np.full(8, 0.125),), (cells,))
    monkeypatch.setattr(mixed, "KEPT_ENTRIES", 2)
    assert [float(network.given((k,)).means[0]) for k in range(8)] == list(range(8))
    assert len(network._networks) <= 3
