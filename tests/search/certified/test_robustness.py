"""Proofs of robustness: by a single leaf, or a small tree."""

import numpy as np
import pytest

from surefoot import ConditionalGaussianNetworkClassifier, datasets, verify
from surefoot.problem.quadratic import Quadratic
from surefoot.search.certified import answer, robustness
from surefoot.search.certified.adversary import lowest
from surefoot.search.certified.clock import Clock
from surefoot.search.certified.points import Points
from surefoot.search.certified.proof import proof_of
from surefoot.search.certified.search import Search
from surefoot.search.certified.space import around, whitened
from tests.asking import CounterfactualExplainer
from tests.problems import random_problem
from tests.search.certified.trees import cuts, leaves


def bent(seed, n=5, radius=0.3):
    """A quadratic that bends down and is just above zero in the whole cube."""
    rng = np.random.default_rng(seed)
    M = rng.normal(size=(n, n))
    G = Quadratic(M + M.T - 2 * np.eye(n), 3 * rng.normal(size=n), 0.0)
    w, exact = lowest(G.matrix, G.vector, np.inf, radius)
    return G + (1e-3 - float(G(w))), w, exact


def affine(entry, W):
    """The values of a certificate's affine function at each row."""
    _, constant, slopes = entry
    return constant + sum(slope * W[:, i] for i, slope in slopes)


def test_worst_ends_are_worst_wherever_the_others_are():
    rng, settled = np.random.default_rng(0), 0
    for seed in range(40):
        G, _, _ = bent(seed)
        W = rng.uniform(-0.3, 0.3, size=(200, 5))
        for k, end in robustness._worst_ends(G, 0.3).items():
            settled += 1
            before = G(W)
            W[:, k] = end  # the next one may be worst only where this one is
            assert (G(W) <= before + 1e-12).all()
    assert settled > 20


def test_a_leaf_with_corners_refutes_the_whole_cube():
    rng, found, paired = np.random.default_rng(1), 0, 0
    for seed in range(60):
        G, w, exact = bent(seed)
        proof = robustness._in_corners(G, w, 0.3) if exact else None
        if proof is None:
            continue
        found += 1
        leaf = proof["tree"]
        paired += any(weight != 1.0 for weight, _, _ in leaf["products"])
        W = rng.uniform(-0.3, 0.3, size=(500, 5))
        sides = [(affine(left, W), affine(right, W)) for _, left, right in leaf["products"]]
        assert all((a >= 0).all() and (b >= 0).all() for a, b in sides)
        W = np.vstack([W, 10 * W])  # the sum is negative everywhere, the products only inside
        total = (0.09 - W**2) @ np.array(leaf["norm"]) - G(W)
        total += sum(x * affine(left, W) * affine(right, W) for x, left, right in leaf["products"])
        assert (total < 0).all()
    assert found > 10
    assert paired > 2


@pytest.mark.parametrize("budget", [0.05, {"plas": 3.0, "mass": (1.0, 2.0)}])
def test_the_checker_accepts_leaves_with_corners(monkeypatch, budget):
    pima = datasets.load_pima()
    clf = ConditionalGaussianNetworkClassifier(structure="ban").fit(pima.X, pima.y)
    explainer = CounterfactualExplainer(clf, budget=budget, bounds=None, whole=False)
    made = []

    def at_once(G, w, norm, radius):
        made.append(robustness._in_corners(G, w, radius))
        return made[-1]

    monkeypatch.setattr(robustness, "_at_once", at_once)  # no leaf without corners
    for i in range(8):
        e = explainer.explain(pima.X.iloc[i])
        assert verify(e, clf).ok
    assert sum(proof is not None for proof in made) > 4


def test_the_first_step_knows_what_harms_its_start():
    bank = datasets.load_banknote()
    clf = ConditionalGaussianNetworkClassifier().fit(bank.X, bank.y)
    space = whitened(CounterfactualExplainer(clf, budget=0.1, bounds=None).problem(bank.X.iloc[0], 1))
    points, active = Points(space, 1e-3, Clock(10.0)), [0]
    u = points.begin(active, space.typical_distance, None)
    harms = [space.margins[0](u + points.scenarios[s][1]) for s in active]
    assert len(active) == 2
    assert min(harms) == pytest.approx(space.noise.harm(space.margins[0], u).value)


def test_a_cube_around_a_point_is_cut_along_its_coordinates_alone():
    """Cuts across them free what sits in corners: with these the tree had 25 leaves."""
    rng, n = np.random.default_rng(0), 16
    V = np.linalg.qr(rng.normal(size=(n, n)))[0]
    curvatures = np.concatenate([-rng.uniform(0.2, 1, n // 2), rng.uniform(0.2, 1, n // 2)])
    G = Quadratic((V * curvatures) @ V.T, 0.7 * rng.normal(size=n), 0.0)
    w = lowest(G.matrix, G.vector, np.inf, 1.0)[0]
    space = around(G - 1.003 * float(G(w)), np.inf)
    search = Search(space, 1e-6, Clock(60))
    assert search.refute(1.0)
    tree = proof_of(space, search.root, [(0, np.zeros(n))])["tree"]
    assert {kind for kind, _ in cuts(tree)} == {"u"}
    assert len(leaves(tree)) <= 8


def test_the_checker_accepts_a_cube_that_is_cut():
    """The ball takes 5.9 log-odds from the answer and leaves 0.001: that took 49 leaves once."""
    data = datasets.load_ionosphere()
    clf = ConditionalGaussianNetworkClassifier(structure="tan").fit(data.X, data.y)
    e = CounterfactualExplainer(clf, budget=0.05, bounds=None, whole=False).explain(data.X.iloc[1], 1)
    (proof,) = e.certificate["robustness"]["proofs"]
    assert 1 < len(leaves(proof["tree"])) <= 4
    assert verify(e, clf).ok


@pytest.mark.parametrize(
    ("left", "given"), [(3.0, 3.0), (0.1, 0.25), (0.0, 0.25), (-0.15, 0.1), (-2.0, 0.05)]
)
def test_points_share_the_time_after_the_limit(monkeypatch, left, given):
    """One point after the other that breaks must not take its grace anew."""
    problem, seconds = random_problem(3, 0, budget=0.1), []
    monkeypatch.setattr(answer, "prove", lambda *args: seconds.append(args[-1].left))
    answer._robust(problem, problem.factual, Clock(left))
    assert seconds[0] == pytest.approx(0.7 * given, abs=0.03)
