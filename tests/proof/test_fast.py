"""The fast checker: the exact checker's verdicts, and errors that are really bounded."""

import ast
import copy
import itertools
import math
import random
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from surefoot.proof import exact, fast, pieces, products, rounding
from surefoot.proof.pieces import Pieces
from surefoot.proof.products import UndecidedError, above_by_dual_norm, above_by_ends
from surefoot.proof.rounding import Rounded, given, positive_definite
from tests.proof.handmade import INF, mean_of, model_document, question, small
from tests.proof.test_exact import HONEST, files

QUICK = (
    "cholesky inf",
    "dag 1",
    "zca 2",
    "exactly dag",
    "by feature",
    "values",
    "rows",
    "cuts",
    "infeasible",
)


def verdicts(checker, model, e):
    """The verdict on every claim, or that the file cannot be read."""
    try:
        return [(claim.name, claim.verdict) for claim in checker.check([model], e)]
    except exact.UnreadableError as error:
        return str(error)


def reason(model, e, name):
    return next(claim.reason for claim in fast.check([model], e) if claim.name == name)


@pytest.fixture
def quiet():
    """Numbers may overflow, as they may in `fast.check`."""
    with np.errstate(all="ignore"):
        yield


# ----- documents --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", HONEST)
def test_an_honest_file_holds(name):
    found = verdicts(fast, *files(name))
    assert found == verdicts(exact, *files(name))
    assert {verdict for _, verdict in found} == {fast.HOLDS}


def test_what_is_well_conditioned_needs_no_whole_numbers(monkeypatch):
    def forbidden(*_):
        raise AssertionError("handed over")

    monkeypatch.setattr(pieces, "leaf_fault", forbidden)
    monkeypatch.setattr(exact, "geometry_claim", forbidden)
    monkeypatch.setattr(exact, "context_claim", forbidden)
    monkeypatch.setattr(exact, "_definite_at", forbidden)
    faster = dict(zip(exact.CHECKS, exact.CHECKS, strict=True)) | fast.FASTER
    monkeypatch.setattr(exact, "check", forbidden)
    assert len(faster) == len(exact.CHECKS)
    for name in HONEST:
        if name not in ("cuts", "equation"):  # proofs by cuts into slivers may be close
            assert {verdict for _, verdict in verdicts(fast, *files(name))} == {fast.HOLDS}, name


def test_what_floating_point_cannot_decide_is_decided_exactly(monkeypatch):
    model, e = files("cuts")
    expected = verdicts(exact, model, e)
    assert "exactly: 0" in reason(model, e, "lower bound")

    def undecided(*_):
        raise UndecidedError

    monkeypatch.setattr(Pieces, "proven", undecided)
    monkeypatch.setattr(fast, "is_whitening", lambda *_: False)
    monkeypatch.setattr(fast, "_context_agrees", lambda *_: False)
    assert verdicts(fast, model, e) == expected
    assert "in floating point: 0" in reason(model, e, "lower bound")
    assert "in floating point: 0, exactly: 2" in reason(model, e, "robustness")


def test_a_processor_that_drops_small_numbers_is_not_used(monkeypatch):
    assert rounding.gradual_underflow()
    monkeypatch.setattr(fast, "gradual_underflow", lambda: False)
    assert fast.check([files()[0]], files()[1]) == exact.check([files()[0]], files()[1])


def test_refusals_and_files_of_other_models():
    model, e = files()
    other = model_document(small(3))
    assert verdicts(fast, other, e) == verdicts(exact, other, e) == [("model", fast.FAILS)]
    assert verdicts(fast, model, {**e, "status": "refused"}) == [("model", "holds"), ("refusal", fast.FAILS)]
    for wrong in ({}, [], None, {**e, "more": 1}, {**e, "format": "x"}):
        assert verdicts(fast, model, wrong) == verdicts(exact, model, wrong)
        assert isinstance(verdicts(fast, model, wrong), str)


def places(value, way=()):
    """Where numbers, words and lists are in a document."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from places(item, (*way, key))
        return
    yield way
    if isinstance(value, list):
        for k, item in enumerate(value):
            yield from places(item, (*way, k))


def spoilt(e, way, rng):
    """The document with one change at one place."""
    e = copy.deepcopy(e)
    *path, last = way
    holder = e
    for key in path:
        holder = holder[key]
    value = holder[last]
    if isinstance(value, list) and value:
        holder[last] = rng.choice([value[1:], value[:-1], [*value, value[-1]], value[::-1], []])
    elif isinstance(value, float):
        factors = (-1.0, 0.0, 1.5, 1 - 1e-3, 1 + 1e-6, 1 + 1e-10, 1 - 1e-15, 1e-290, 1e290)
        changed = [value * f for f in factors] + [value + 0.01, math.nextafter(value, INF), 5e-324, math.nan]
        holder[last] = rng.choice([*changed, "inf", None, True, int(value)])
    else:
        holder[last] = rng.choice([0, 1, -1, 2, True, None, "inf", 0.5, "u", "x", "1", "low", []])
    return e


@pytest.mark.parametrize("name", QUICK)
def test_spoilt_files_get_the_same_verdicts(name):
    rng, (model, e) = random.Random(name), files(name)
    inside = [("certificate", *way) for way in places(e["certificate"])]
    fields = list(places({key: v for key, v in e.items() if key not in ("certificate", "question")}))
    for way in [*rng.sample(inside, min(35, len(inside))), *rng.sample(fields, 15)]:
        changed = spoilt(e, way, rng)
        assert verdicts(fast, model, changed) == verdicts(exact, model, changed), way


# ----- sums and their errors --------------------------------------------------------------------------------


def fractions(array):
    return [[Fraction(v) for v in row] for row in np.atleast_2d(array).tolist()]


def times(A, B):
    columns = list(zip(*B, strict=True))
    return [[sum(a * b for a, b in zip(row, column, strict=True)) for column in columns] for row in A]


def assert_bounded(found, exactly):
    """Every number is as close to the exact one as its error says."""
    error = found.error()
    for i, row in enumerate(exactly):
        for j, value in enumerate(row):
            if math.isfinite(error[i, j]):
                assert abs(Fraction(float(found.value[i, j])) - value) <= Fraction(float(error[i, j])), (i, j)


@pytest.mark.parametrize("size", [1.0, 1e-60, 1e60, 1e-150, 1e150])
def test_errors_of_products_and_sums_are_bounded(size, quiet):
    rng = np.random.default_rng(0)
    for _ in range(20):
        A, B, C = (rng.normal(size=(4, 4)) * size ** rng.choice([0, 1], (4, 4)) for _ in range(3))
        a, b, c = fractions(A), fractions(B), fractions(C)
        found = (given(A) @ given(B) - given(C)) @ given(A) * given(C)
        ab = times(a, b)
        inner = [[x - y for x, y in zip(*rows, strict=True)] for rows in zip(ab, c, strict=True)]
        exactly = [
            [x * y for x, y in zip(*rows, strict=True)] for rows in zip(times(inner, a), c, strict=True)
        ]
        assert_bounded(found, exactly)
    assert np.isfinite(found.error()).all() == (size in (1.0, 1e-60, 1e60, 1e-150))


def test_products_that_underflow_are_within_the_error(quiet):
    tiny = given([[1e-200, 3e-163]])
    product = tiny @ given([[1e-200], [1e-161]])
    assert product.value[0, 0] < 1e-320 < product.error()[0, 0]
    # And what is lost may be magnified later.
    later = product @ given([[1e280]])
    assert_bounded(later, [[(Fraction(1e-200) ** 2 + Fraction(3e-163) * Fraction(1e-161)) * Fraction(1e280)]])
    assert_bounded(tiny * tiny, [[Fraction(1e-200) ** 2, Fraction(3e-163) ** 2]])


def test_the_error_grows_with_the_number_of_terms():
    terms = np.array([1.0] + [0.9 * rounding.UNIT] * 20_000)
    total = given(terms[None]) @ given(np.ones((len(terms), 1)))
    exactly = sum(map(Fraction, terms.tolist()))
    off = abs(Fraction(float(total.value[0, 0])) - exactly)
    assert off > rounding.share(10) * exactly  # a fixed allowance would not do
    assert_bounded(total, [[exactly]])
    third, power, chain = given([[1 / 3]]), given([[1.0]]), given([[1.0]])
    for k in range(1, 50):
        power, chain = power * third, chain * third + chain
        assert power.roundings >= k
        assert chain.roundings >= 2 * k
        assert_bounded(power, [[Fraction(1 / 3) ** k]])
        assert_bounded(chain, [[(1 + Fraction(1 / 3)) ** k]])


def test_numbers_below_the_range_of_doubles_are_within_their_error():
    small = Fraction(7, 5 << 1074)
    assert abs(Fraction(float(small)) - small) <= Fraction(float(given([float(small)], 1).error()[0]))


def test_rows_keep_the_most_roundings():
    assert rounding.stacked([given([[1.0]], 5), given([[1.0]])]).roundings == 5
    assert (-given([[1.0]], 5)).transposed.take(np.s_[:, :]).roundings == 5


@pytest.mark.parametrize("wrong", [math.nan, math.inf, 1e295])
def test_no_error_is_claimed_where_numbers_are_too_large(wrong, quiet):
    assert np.isinf((given([[1.0]]) @ given([[wrong]])).error()).all()
    assert not positive_definite(given([[1.0, 0.0], [0.0, wrong]]))
    assert np.isinf(Rounded(np.ones(1), np.ones(1), rounding.MOST + 1).error()).all()


# ----- definiteness -----------------------------------------------------------------------------------------


def exactly_definite(rows):
    """By elimination in fractions."""
    rows = [list(row) for row in rows]
    while rows:
        pivot = rows[0][0]
        if pivot <= 0:
            return False
        rows = [
            [v - row[0] * other / pivot for v, other in zip(row[1:], rows[0][1:], strict=True)]
            for row in rows[1:]
        ]
    return True


def whole(rng, n, rank, size=30):
    """A symmetric matrix of whole numbers, exactly of this rank and semidefinite."""
    B = rng.integers(-size, size + 1, (n, rank))
    return (B @ B.T).astype(float)


@pytest.mark.parametrize("n", [1, 2, 3, 6, 12])
def test_singular_matrices_are_never_definite(n):
    rng = np.random.default_rng(n)
    for _ in range(60):
        A = whole(rng, n, n - 1) if n > 1 else np.zeros((1, 1))
        scale = 2.0 ** rng.integers(-60, 60, n)
        for matrix in (A, scale[:, None] * A * scale, A / 3, A - np.diag(rng.random(n) * 1e-9)):
            assert not positive_definite(given(matrix)) or exactly_definite(fractions(matrix))
        assert not positive_definite(given(A))
        assert not positive_definite(given(scale[:, None] * A * scale))


def test_matrices_at_the_edge_are_only_definite_if_they_are():
    rng = np.random.default_rng(1)
    accepted = 0
    for _ in range(300):
        n = int(rng.integers(2, 6))
        A = whole(rng, n, n - 1)
        scale = np.sqrt(A.diagonal() + 1e-300)
        near = A + np.diag(10.0 ** rng.uniform(-18, -8) * scale**2) * rng.choice([-1, 1])
        near = (near + near.T) / 2
        if positive_definite(given(near)):
            accepted += 1
            assert exactly_definite(fractions(near))
    assert accepted > 50
    just = math.nextafter(1.0, 0.0)
    for a in (1.0, just, math.nextafter(1.0, 2.0), 1 - 1e-15):
        matrix = np.array([[1.0, a], [a, 1.0]])
        assert not positive_definite(given(matrix)) or a < 1


def test_definite_matrices_of_any_units_are_recognised():
    rng = np.random.default_rng(2)
    for n in (1, 4, 9, 33):
        A = whole(rng, n, n + 5) + np.eye(n)
        units = 2.0 ** rng.integers(-100, 100, n)
        assert positive_definite(given(A))
        assert positive_definite(given(units[:, None] * A * units))
    assert positive_definite(given(np.zeros((0, 0))))


def test_the_error_of_the_entries_counts():
    A = np.array([[1.0, 1 - 1e-10], [1 - 1e-10, 1.0]])
    assert positive_definite(Rounded(A, np.abs(A), 10))
    assert not positive_definite(Rounded(A, np.abs(A), 2**19))
    assert not positive_definite(Rounded(A, np.abs(A) * 1e6, 10))
    # The error of an entry off the diagonal is as bad as one on it.
    size = np.array([[1.0, 1e7], [1e7, 1.0]])
    assert not positive_definite(Rounded(A, size, 10))
    assert not positive_definite(Rounded(np.eye(2), np.array([[1.0, np.inf], [np.inf, 1.0]]), 10))
    assert not positive_definite(Rounded(np.eye(2) * 1e-275, np.full((2, 2), rounding.TINY), 10))


def test_nothing_is_taken_on_the_word_of_lapack(monkeypatch):
    class Careless:
        answer = np.zeros((2, 2))

        @classmethod
        def dpotrf(cls, a):
            return cls.answer, 0

    monkeypatch.setattr(rounding, "lapack", Careless)
    indefinite = given([[1.0, 2.0], [2.0, 1.0]])
    for answer in (np.zeros((2, 2)), np.eye(2), np.full((2, 2), np.nan), np.array([[1.0, 2.0], [0.0, 0.0]])):
        Careless.answer = answer
        assert not positive_definite(indefinite)
    close = np.array([[0.5, 0.5 - 1e-10], [0.5 - 1e-10, 0.5]])
    Careless.answer = np.linalg.cholesky(close - 1e-11 * np.eye(2)).T
    assert positive_definite(given(close))
    assert not positive_definite(Rounded(close, np.abs(close), 2**19))


def test_the_rounding_of_the_remainder_counts(monkeypatch):
    """A factor of two nearly equal columns whose product is rounded up, and whose squares are not."""
    rng, tempted = np.random.default_rng(0), 0
    for _ in range(100):
        column = rng.uniform(0.5, 1.0, 2_000) / np.sqrt(2_000)
        factor = np.column_stack([column, column * (1 + rng.normal(size=2_000) * 1e-15)])
        p = (factor.T @ factor)[0, 1]
        singular = np.full((2, 2), p)
        tempted += (np.diag(singular - factor.T @ factor) > 0).all()
        monkeypatch.setattr(rounding.lapack, "dpotrf", lambda a, factor=factor: (factor, 0))
        assert not positive_definite(Rounded(singular, np.zeros((2, 2)), 0))
    assert tempted


# ----- functions that must not be negative ------------------------------------------------------------------


KINDS = [1.0, -1.0, 0.0, 0.3, -7.1, 1e-170, -1e-310, 5e-324, 1e200, 2.0]


def near(rng, need):
    """A constant at, close to, or well away from what is needed."""
    at = float(need) if need < Fraction(sys.float_info.max) else sys.float_info.max
    return float(
        rng.choice(
            [at, math.nextafter(at, -INF), math.nextafter(at, INF), at * (1 + 1e-12), 0.0, -at, 5e-324]
        )
    )


def test_functions_are_shown_by_their_ends_only_if_they_are_not_negative(quiet):
    rng, shown, close = np.random.default_rng(0), 0, 0
    low, high = np.array([-1.3, -0.2, 0.1, -1e-300]), np.array([1.3, 1.3, 1.3, 5e-324])
    for scale, _ in itertools.product((1.0, 1e-200, 1e100), range(500)):
        y = (rng.choice(KINDS, 4) if rng.random() < 0.5 else rng.normal(size=4)) * (rng.random(4) < 0.6)
        a, b = low * scale, high * scale
        ends = zip(y.tolist(), a.tolist(), b.tolist(), strict=True)
        least = sum(min(Fraction(v) * Fraction(p), Fraction(v) * Fraction(q)) for v, p, q in ends)
        c = near(rng, -least)
        certain, holds = above_by_ends(np.array([[*y, c]]), a, b)[0], Fraction(c) + least >= 0
        assert holds or not certain
        shown, close = shown + certain, close + (holds and not certain)
    assert shown > 200 and close > 10  # noqa: PT018
    # Each of these products rounds to zero, but not their sum.
    assert not above_by_ends(np.array([[1e-162] * 4 + [5e-324]]), np.full(4, -2.4e-162), np.ones(4))[0]
    assert not above_by_ends(np.array([[1.0, 5.0]]), np.array([-INF]), np.array([INF]))[0]
    assert not above_by_ends(np.array([[1.0, math.nan]]), np.array([-1.0]), np.array([1.0]))[0]


@pytest.mark.parametrize("norm", [1.0, 2.0])
def test_functions_are_shown_by_the_dual_norm_only_if_they_are_not_negative(norm, quiet):
    rng, shown = np.random.default_rng(0), 0
    for level, _ in itertools.product((1.3, 1e-200, 1e100, 5e-324), range(400)):
        y = rng.choice(KINDS, 4) * (rng.random(4) < 0.6)
        c = near(rng, Fraction(level) * Fraction(float(np.abs(y).max() if norm == 1 else np.hypot.reduce(y))))
        sizes = [abs(Fraction(v)) for v in y.tolist()]
        square = max(sizes) ** 2 if norm == 1 else sum(v * v for v in sizes)
        certain = above_by_dual_norm(np.array([[*y, c]]), level, norm)[0]
        assert (c >= 0 and Fraction(c) ** 2 >= Fraction(level) ** 2 * square) or not certain
        shown += certain
    assert shown > 100
    assert not above_by_dual_norm(np.array([[0.0, 5.0], [1.0, 5.0]]), INF, norm).any()
    assert not above_by_dual_norm(np.array([[1.0, math.nan]]), 1.0, norm)[0]


def test_the_constant_of_the_norm_is_within_its_error():
    rng = np.random.default_rng(0)
    for _ in range(200):
        half = [Fraction(int(v), 3) for v in rng.integers(1, 99, 3)]
        proof, level, weights = scaled_proof(half=half), float(rng.random()), rng.random(3).tolist()
        total = products.Products(Pieces(proof).base, exact.Piece(proof, level, []), None)
        total.add_norm(weights, [])
        exactly = sum(Fraction(w) * (Fraction(level) * h) ** 2 for w, h in zip(weights, half, strict=True))
        assert_bounded(total._of_norm.take(np.s_[3:, 3:]), [[exactly]])


def test_ends_that_are_no_doubles_are_rounded_outward():
    proof = scaled_proof(half=[Fraction(1, 3)] * 3)
    table = products.Products(Pieces(proof).base, exact.Piece(proof, 1.0, []), None)
    for c, fits in ((1 / 3, False), (math.nextafter(1 / 3, 1), True)):
        table._slopes[:] = [products.Slope(c, [0], [-1.0], ["a", c, [[0, -1.0]]])]
        if fits:
            table._show_not_negative(np.array([[-1.0, 0.0, 0.0, c]]))
        else:
            with pytest.raises(exact.FaultError):
                table._show_not_negative(np.array([[-1.0, 0.0, 0.0, c]]))


# ----- leaves against the page, in fractions ----------------------------------------------------------------


def scaled_proof(norm=INF, size=1.0, half=None, seed=0):
    """A proof over three features whose units are ``size``, and which has a little of everything."""
    clf, rng = small(3), np.random.default_rng(seed)
    m = mean_of(clf, "a")
    asked = question(
        clf, m * size, "b", norm=norm, rows=[([1.0, -1.0, 0.5], -3.0 * size, 4.0 * size)],
        low=(m - 3) * size, high=[INF, (m[1] + 2) * size, (m[2] + 0.25) * size], sets=[(1, None)],
    )  # fmt: skip
    networks = [
        exact.Network(net.weights.tolist(), (net.means * size).tolist(), (net.variances * size**2).tolist())
        for net in clf.networks_
    ]
    asked = exact.read_question(asked)
    D = (clf.networks_[0].whitening("cholesky").matrix / size).tolist()
    if half is not None:
        D = np.eye(3).tolist()
    needs = [
        exact.Requirement(
            [(-1, networks[1]), (1, networks[0])], int(rng.integers(-99, 99)) * 2**120 // 7, True
        ),
        exact.Requirement([(-1, networks[1])], 5 << 127, False),
    ]
    origin = exact.dyadic(asked.factual)
    setting = exact.Setting(norm, D, half, origin, [0, 1, 2], needs, asked, exact.Ball(asked, D))
    scenario = np.linalg.solve(np.array(D), [0.01, -0.02, 0.005]).tolist() if half is None else [0.0] * 3
    return exact.read_proof(
        setting, {"directions": [[1.0, -0.3, 0.2]], "scenarios": [scenario], "tree": None}
    )


def random_leaf(rng, proof, level, path, size=1.0):
    """A leaf with entries of every kind, none of them negative."""
    setting = proof.setting
    weight = lambda: float(rng.choice([0.0, 1.0, rng.random(), 1e-12 * rng.random(), 1e5 * rng.random()]))  # noqa: E731

    def form():
        kind = rng.choice(["1", "a", "a", "a", "x", "r", "c"])
        if kind == "a":
            y = [
                [int(i), float(rng.choice([1.0, -1.0, rng.normal()]))]
                for i in rng.permutation(3)[: rng.integers(1, 4)]
            ]
            reach = [float(setting.half[i]) if setting.half else 1.0 for i, _ in y]
            return ["a", float(level * sum(abs(v) * h for (_, v), h in zip(y, reach, strict=True)) * 1.01), y]
        if kind == "c":
            return ["c", int(rng.integers(len(path)))]
        choices = {"1": [["1"]], "r": [["r", 0, "low"], ["r", 0, "high"]]}
        return choices.get(kind, [["x", 0, "low"], ["x", 1, "high"], ["x", 2, "low"]])[
            rng.integers(1 if kind == "1" else 2)
        ]

    cross = []
    norm = [weight() for _ in range(3 if setting.norm == INF else 1)]
    if setting.norm == 1:
        cross = [[i, j, float(norm[0] * rng.uniform(-1, 1))] for i, j in ((0, 1), (1, 2))]
    a = float(math.floor(setting.domain.factual[1]) + 3)
    return {
        "level": level,
        "norm": norm,
        "cross": cross,
        "products": [[weight(), form(), form()] for _ in range(rng.integers(0, 6))],
        "requirements": [[weight(), 0, -1], [weight(), 0, 0], [weight(), 1, -1]][: rng.integers(0, 4)],
        "between": [[weight(), 1, a, a + 1]] if rng.random() < 0.5 and size == 1 else [],
    }


def value_of(proof, leaf, path, z):
    """F at the point with changes z, in fractions, as the page defines it."""
    setting, domain = proof.setting, proof.setting.domain
    D = fractions(setting.metric)
    u = [sum(a * b for a, b in zip(row, z, strict=True)) for row in D]
    x = [Fraction(f) + c for f, c in zip(domain.factual, z, strict=True)]
    level = Fraction(leaf["level"])
    reach = [level * h for h in setting.half] if setting.half else [level] * 3

    def function(kind, k):
        if kind == "d":
            return u[0] - Fraction(0.3) * u[1] + Fraction(0.2) * u[2]
        row = zip(domain.rows[0].coefficients, x, strict=True)
        return {"u": u, "x": x}[kind][k] if kind in "ux" else sum(Fraction(a) * b for a, b in row)

    def affine(entry):
        if entry[0] == "1":
            return Fraction(1)
        if entry[0] == "c":
            (kind, k), at, side = path[entry[1]]
            return (function(kind, k) - Fraction(at)) * (1 if side == "above" else -1)
        if entry[0] == "a":
            return Fraction(entry[1]) + sum(Fraction(y) * u[i] for i, y in entry[2])
        kind, k, side = entry
        ends = (domain.low[k], domain.high[k]) if kind == "x" else (domain.rows[k].low, domain.rows[k].high)
        return (
            function(kind, k) - Fraction(ends[0]) if side == "low" else Fraction(ends[1]) - function(kind, k)
        )

    def requirement(r, s):
        need, point = setting.requirements[r], x
        if s >= 0:
            point = [a + Fraction(d) for a, d in zip(x, proof.scenarios[s], strict=True)]
        total = Fraction(need.twice_constant, 1 << exact.PLACES)
        for sign, net in need.parts:
            off = [p - Fraction(m) for p, m in zip(point, net.means, strict=True)]
            for i, row in enumerate(net.weights):
                left = off[i] - sum(Fraction(w) * off[j] for j, w in enumerate(row))
                total += sign * left**2 / Fraction(net.variances[i])
        return total / 2

    if setting.norm == INF:
        total = sum(Fraction(w) * (r**2 - v**2) for w, r, v in zip(leaf["norm"], reach, u, strict=True))
    else:
        total = Fraction(leaf["norm"][0]) * (level**2 - sum(v * v for v in u))
        total -= sum(2 * Fraction(w) * u[i] * u[j] for i, j, w in leaf["cross"])
    total += sum(Fraction(w) * affine(f) * affine(g) for w, f, g in leaf["products"])
    total += sum(Fraction(w) * requirement(r, s) for w, r, s in leaf["requirements"])
    return total + sum(
        Fraction(w) * (x[j] - Fraction(a)) * (x[j] - Fraction(b)) for w, j, a, b in leaf["between"]
    )


def matrix_of(form, n):
    """The symmetric matrix of a quadratic function in (z, 1), by its values."""
    basis = [[Fraction(int(i == j)) for j in range(n)] for i in range(n)]
    plus = lambda a, b, s=1: [p + s * q for p, q in zip(a, b, strict=True)]  # noqa: E731
    zero = [Fraction(0)] * n
    at, up, down = form(zero), [form(e) for e in basis], [form(plus(zero, e, -1)) for e in basis]
    A = [[Fraction(0)] * (n + 1) for _ in range(n + 1)]
    A[n][n] = at
    for i in range(n):
        A[i][i] = (up[i] + down[i]) / 2 - at
        A[i][n] = A[n][i] = (up[i] - down[i]) / 4
    for i, j in itertools.combinations(range(n), 2):
        A[i][j] = A[j][i] = (form(plus(basis[i], basis[j])) - up[i] - up[j] + at) / 2
    return A


def way_of(proof, path):
    nodes = [{"cut": [list(f), at], "below": None, "above": None} for f, at, _ in path]
    return [exact.step(proof, node, side) for node, (_, _, side) in zip(nodes, path, strict=True)]


def splits(proof, level, size):
    f = proof.setting.domain.factual
    return [
        (("u", 0), level / 3, "below"),
        (("x", 0), f[0] + 0.1 * size, "above"),
        (("d", 0), -level / 7, "above"),
        (("r", 0), 0.1 * size, "below"),
    ]


@pytest.mark.parametrize("norm", [1.0, 2.0, INF, "by feature"])
@pytest.mark.parametrize("size", [1.0, 1e-60, 1e60, 1e-150, 1e150])
def test_the_matrix_of_a_leaf_is_within_its_error(norm, size, quiet):
    rng = np.random.default_rng(4)
    half = (
        [Fraction(1, 3) * Fraction(size), Fraction(size), Fraction(2.5) * Fraction(size)]
        if norm == "by feature"
        else None
    )
    proof = scaled_proof(INF if half else norm, size, half)
    judge, compared = Pieces(proof), 0
    for _ in range(12):
        level = float(rng.choice([0.7, 1.3, 1e-9]))
        path = splits(proof, level * (size if half else 1), size)
        way, leaf = way_of(proof, path), random_leaf(rng, proof, level, path, size)
        piece = exact.Piece(proof, level, way)
        found = judge.negated(leaf, piece)
        assert_bounded(found, matrix_of(lambda z: -value_of(proof, leaf, path, z), 3))  # noqa: B023
        compared += np.isfinite(found.error()).all()
        if not np.isfinite(found.error()).all():
            assert not positive_definite(found)
    assert compared == 12 or size in (1e-150, 1e150)


def test_the_matrix_on_the_free_features_is_within_its_error():
    rng, proof = np.random.default_rng(5), scaled_proof()
    judge, f = Pieces(proof), proof.setting.domain.factual
    for end in (f[1] + 0.3, f[1]):
        path = [(("x", 1), end, "below"), (("x", 1), end, "above")]
        way, leaf = way_of(proof, path), random_leaf(rng, proof, 1.3, path)
        piece = exact.Piece(proof, 1.3, way)
        assert piece.moved()[0] == ([1] if end != f[1] else [])
        found = judge.on_free_features(judge.negated(leaf, piece), piece)
        change = Fraction(end) - Fraction(f[1])
        form = lambda z: -value_of(proof, leaf, path, [z[0], change, z[1]])  # noqa: B023, E731
        assert_bounded(found, matrix_of(form, 2))
        assert np.isfinite(found.error()).all()


def test_leaves_at_the_edge_are_only_proven_if_they_are():
    """The weight of a requirement is moved to where the leaf just fails."""
    proof, level = scaled_proof(2.0), 0.3
    judge = Pieces(proof)
    leaf = {
        "level": level,
        "norm": [1.0],
        "cross": [],
        "products": [],
        "requirements": [[0.0, 1, -1]],
        "between": [],
    }

    def definite(weight):
        leaf["requirements"][0][0] = weight
        return exactly_definite(matrix_of(lambda z: -value_of(proof, leaf, [], z), 3))

    assert judge.fault(leaf, [])
    assert not definite(0.0)
    low, high = 0.0, next(2.0**k for k in range(-10, 40) if definite(2.0**k))
    while math.nextafter(low, INF) < high:
        middle = (low + high) / 2
        low, high = (low, middle) if definite(middle) else (middle, high)
    for weight in [low, high, *(high * (1 + s * 10.0**-k) for k in range(3, 17) for s in (-1, 1))]:
        exactly = definite(weight)
        assert exactly or not judge.proven(leaf, [])
        assert (judge.fault(leaf, []) == "") == exactly
    assert judge.exact > 3 and judge.floating > 3  # noqa: PT018


# ----- every condition of a leaf ----------------------------------------------------------------------------


def plain_leaf(norm):
    """A leaf that holds with much to spare: requirements of two densities that exclude each other."""
    proof = scaled_proof(norm)
    need = exact.Requirement([(-1, proof.setting.requirements[1].parts[0][1])], -(100 << exact.PLACES), False)
    proof.setting.requirements[1:] = [need, need._replace(robust=True)]
    a = float(math.floor(proof.setting.domain.factual[1]) + 3)
    leaf = {
        "level": 1.0,
        "norm": [1e-3] * (3 if norm == INF else 1),
        "cross": [[0, 1, 1e-3], [0, 2, -1e-3]] if norm == 1 else [],
        "products": [[1e-9, ["a", 1.0, [[0, 1.0]]], ["c", 0]], [1e-9, ["x", 0, "low"], ["r", 0, "high"]]],
        "requirements": [[1.0, 1, -1], [1e-9, 0, 0]],
        "between": [[1e-9, 1, a, a + 1]],
    }
    return proof, leaf, way_of(proof, [(("u", 1), 0.5, "below")])


def changed(key, *values):
    return lambda leaf: {**leaf, key: list(values)}


def product(form, weight=1e-9):
    return lambda leaf: {**leaf, "products": [*leaf["products"], [weight, ["1"], form]]}


def between(leaf, a, b):
    return {**leaf, "between": [[1e-9, 1, a, b]]}


def apart(leaf):
    return leaf["between"][0][2:]


HARMLESS = {
    "the leaf": (INF, lambda leaf: leaf),
    "1 x 1": (INF, product(["1"])),
    "exactly the level": (INF, product(["a", 1.0, [[2, -1.0]]])),
    "by a cut": (INF, product(["a", 0.5, [[1, -1.0]]])),
    "two slopes": (INF, product(["a", 1.5, [[1, -1.0], [0, 1.0]]])),
    "by the dual norm": (2.0, product(["a", 1.0, [[0, 0.6], [2, 0.8 - 1e-15]]])),
    "by the largest": (1.0, product(["a", 1.0, [[0, 1.0], [2, -1.0]]])),
    "cross": (1.0, lambda leaf: leaf),
    "one norm": (2.0, lambda leaf: leaf),
    "robust": (INF, changed("requirements", [1.0, 2, 0])),
}
WRONG = {
    "negative product": (INF, product(["1"], -1e-12)),
    "weight that is not a number": (INF, product(["1"], math.nan)),
    "weight that is infinite": (INF, product(["1"], INF)),
    "weight that is true": (INF, product(["1"], True)),
    "negative norm": (INF, changed("norm", 1e-3, 1e-3, -1e-12)),
    "norm of another length": (INF, changed("norm", 1e-3)),
    "norm of two": (2.0, changed("norm", 1e-3, 1e-3)),
    "norm without level": (INF, lambda leaf: {**leaf, "level": "inf", "products": []}),
    "negative requirement": (INF, changed("requirements", [1.0, 1, -1], [-1e-12, 0, 0])),
    "negative between": (INF, lambda leaf: {**leaf, "between": [[-1e-12, *leaf["between"][0][1:]]]}),
    "cross above the norm": (1.0, changed("cross", [0, 1, math.nextafter(1e-3, 1)])),
    "cross below the norm": (1.0, changed("cross", [0, 1, -math.nextafter(1e-3, 1)])),
    "cross twice": (1.0, changed("cross", [0, 1, 1e-3], [0, 1, 1e-3])),
    "cross both ways": (1.0, changed("cross", [0, 1, 1e-3], [1, 0, 1e-3])),
    "cross on the diagonal": (1.0, changed("cross", [1, 1, -1e-3])),
    "cross from the end": (1.0, changed("cross", [-2, 1, 1e-3])),
    "cross of the constant": (1.0, changed("cross", [0, 3, 1e-3])),
    "cross for another norm": (2.0, changed("cross", [0, 1, 1e-3])),
    "cross that is true": (1.0, changed("cross", [False, True, 1e-3])),
    "cross of another kind": (1.0, changed("cross", (0, 1, 1e-3))),
    "cross that is not a number": (1.0, changed("cross", [0, 1, math.nan])),
    "cross without norm": (1.0, lambda leaf: {**leaf, "norm": []}),
    "slope below the level": (INF, product(["a", math.nextafter(1.0, 0), [[2, -1.0]]])),
    "slope that is always negative": (INF, product(["a", -1.0, [[2, 0.0]]])),
    "slope on the other side of the cut": (INF, product(["a", 0.5, [[1, 1.0]]])),
    "two slopes below": (INF, product(["a", math.nextafter(1.5, 0), [[1, -1.0], [0, 1.0]]])),
    "slopes above the dual norm": (2.0, product(["a", 1.0, [[0, 0.6], [2, 0.8 + 1e-15]]])),
    "slopes above the largest": (1.0, product(["a", 1.0, [[0, 1.0], [2, -1 - 1e-15]]])),
    "slope that underflows": (2.0, product(["a", 0.0, [[0, 1e-170], [2, 5e-324]]])),
    "slope of denormals": (INF, product(["a", 0.0, [[0, 5e-324]]])),
    "slope twice": (INF, product(["a", 1.0, [[0, 0.9], [0, 0.1]]])),
    "slope from the end": (INF, product(["a", 1.0, [[-1, 1.0]]])),
    "slope of the constant": (INF, product(["a", 1.0, [[3, 1.0]]])),
    "slope that is not a number": (INF, product(["a", 1.0, [[0, math.nan]]])),
    "constant that is infinite": (INF, product(["a", INF, [[0, 1.0]]])),
    "split that is not there": (INF, product(["c", 1])),
    "split from the end": (INF, product(["c", -1])),
    "split that is true": (INF, product(["c", False])),
    "infinite end": (INF, product(["x", 0, "high"])),
    "feature from the end": (INF, product(["x", -1, "low"])),
    "feature that is false": (INF, product(["x", False, "low"])),
    "row that is not there": (INF, product(["r", 1, "low"])),
    "unknown side": (INF, product(["x", 0, "top"])),
    "unknown function": (INF, product(["u", 0, "low"])),
    "one with more": (INF, product(["1", 2])),
    "requirement that is not there": (INF, changed("requirements", [1.0, 1, -1], [1e-9, 3, -1])),
    "requirement from the end": (INF, changed("requirements", [1.0, -2, -1])),
    "requirement that is true": (INF, changed("requirements", [1.0, True, -1])),
    "scenario that is false": (INF, changed("requirements", [1.0, 1, -1], [1e-9, 0, 0], [1e-9, 0, False])),
    "scenario that is not there": (INF, changed("requirements", [1.0, 1, -1], [1e-9, 0, 1])),
    "scenario from the end": (INF, changed("requirements", [1.0, 1, -1], [1e-9, 0, -2])),
    "scenario of what is not robust": (INF, changed("requirements", [1.0, 1, 0])),
    "between what is allowed": (INF, lambda leaf: between(leaf, apart(leaf)[0], apart(leaf)[1] + 1)),
    "between backwards": (INF, lambda leaf: between(leaf, *apart(leaf)[::-1])),
    "between of another feature": (INF, changed("between", [1e-9, 0, 30.0, 31.0])),
    "negative level": (2.0, lambda leaf: {**leaf, "level": -1.0, "products": []}),
    "level that is not a number": (2.0, lambda leaf: {**leaf, "level": math.nan, "products": []}),
    "level in words": (2.0, lambda leaf: {**leaf, "level": "1.0"}),
    "level that is true": (2.0, lambda leaf: {**leaf, "level": True}),
    "negative infinite level": (2.0, lambda leaf: {**leaf, "level": "-inf", "norm": [], "products": []}),
    "another key": (INF, lambda leaf: {**leaf, "more": []}),
    "missing key": (INF, lambda leaf: {key: value for key, value in leaf.items() if key != "cross"}),
    "list that is none": (INF, lambda leaf: {**leaf, "products": {}}),
    "entry that is none": (INF, lambda leaf: {**leaf, "products": [tuple(leaf["products"][0])]}),
    "no leaf": (INF, lambda leaf: None),
}  # fmt: skip


@pytest.mark.parametrize("name", HARMLESS)
def test_a_plain_leaf_is_proven(name):
    norm, change = HARMLESS[name]
    proof, leaf, way = plain_leaf(norm)
    judge = Pieces(proof)
    assert judge.proven(change(leaf), way)
    assert not exact.leaf_fault(proof, change(leaf), way)


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_leaf_is_not_proven(name, quiet):
    """All of these would be definite if the one wrong thing were not noticed."""
    norm, change = WRONG[name]
    proof, leaf, way = plain_leaf(norm)
    judge, wrong = Pieces(proof), change(leaf)
    with pytest.raises((UndecidedError, exact.FaultError, ValueError, TypeError)):
        judge.proven(wrong, way)
    try:
        assert judge.fault(wrong, way)
    except exact.UnreadableError:
        assert judge.floating == 0


def test_a_leaf_whose_sum_is_not_negative_is_not_proven():
    proof, leaf, way = plain_leaf(INF)
    for weights in ([1e-3, 1e-3, 0.0], [1e-3] * 3):
        assert not Pieces(proof).proven({**leaf, "norm": weights, "requirements": []}, way)
    assert not Pieces(proof).proven(
        {**leaf, "norm": [], "products": [], "requirements": [], "between": []}, way
    )


def test_pieces_that_are_empty_need_no_weights():
    proof, leaf, _ = plain_leaf(INF)
    empty = {**leaf, "norm": [], "products": [], "requirements": [], "between": []}
    apart = [(("u", 0), 0.2, "below"), (("u", 0), math.nextafter(0.2, 1), "above")]
    touching = [(("u", 0), 0.2, "below"), (("u", 0), 0.2, "above")]
    beyond = [(("u", 0), math.nextafter(1.0, 2), "above")]
    assert Pieces(proof).proven(empty, way_of(proof, apart))
    assert Pieces(proof).proven(empty, way_of(proof, beyond))
    assert not Pieces(proof).proven(empty, way_of(proof, touching))


# ----- geometry and context ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["cholesky inf", "dag 1", "zca 2", "exactly dag"])
def test_a_metric_may_differ_by_one_part_in_a_million(name):
    model, e = files(name)
    key = "ball" if name == "exactly dag" else "metric"
    D = np.array(e["certificate"][key])
    edge = np.sqrt(1 + 1e-6)
    for factor in (
        1.0,
        edge,
        edge * (1 - 1e-8),
        edge * (1 + 1e-8),
        1 / edge,
        1 - 1e-3,
        *(edge * (1 + s * 1e-15) for s in (-4, -1, 1, 4)),
    ):
        e["certificate"][key] = (D * factor).tolist()
        case = exact.read_case([model], e)
        claim = fast.geometry_claim(fast.FastCase.of(case))
        assert claim == exact.geometry_claim(case), factor
        assert (claim.verdict == fast.HOLDS) == (abs(factor**2 - 1) < 1e-6) or abs(factor / edge - 1) < 1e-14
    exchanged = D.copy()
    exchanged[:, 0] *= 1 + 3e-6
    crooked = D.copy()
    crooked[-1 if name.startswith("chol") else 0, 0 if name.startswith("chol") else -1] += (
        1e-300 if "zca" not in name else 1e-15
    )
    for wrong in (exchanged, crooked, -D, 0 * D, D * math.inf if False else D * 1e200):
        e["certificate"][key] = wrong.tolist()
        case = exact.read_case([model], e)
        assert fast.geometry_claim(fast.FastCase.of(case)) == exact.geometry_claim(case)
        assert exact.geometry_claim(case).verdict == fast.FAILS


@pytest.mark.parametrize(
    ("name", "ball"),
    [("by feature", np.eye(2).tolist()), ("exactly dag", None), ("dag 1", np.eye(4).tolist())],
)
def test_the_matrix_of_the_ball_must_be_the_right_one(name, ball):
    model, e = files(name)
    e["certificate"]["ball"] = ball
    assert verdicts(fast, model, e) == verdicts(exact, model, e)
    assert dict(verdicts(fast, model, e))["geometry"] == fast.FAILS


def test_variances_are_within_their_error():
    for name in ("cholesky inf", "three classes"):
        model = exact.read_model(files(name)[0])
        for network in model.networks:
            found = fast.variances(network)
            assert (found.error() < 1e-12 * found.value).all()
            for value, error, root in zip(
                found.value, found.error(), network.spreads(model.order), strict=True
            ):
                assert abs(Fraction(float(value)) - root**2) <= Fraction(float(error))


CONTEXT = ("unit", "expected_before", "expected_after", "z_score", "density_percentile", "parents")


@pytest.mark.parametrize("key", CONTEXT)
def test_context_must_agree(key):
    model, e = files()
    honest = copy.deepcopy(e[key])
    for step in (0.0, 0.4e-9, 3e-9, -3e-9, 1e-3, math.nan):
        if key == "parents":
            e[key] = [group if step == 0 else [*group, 0] for group in honest]
        elif key == "density_percentile":
            e[key] = honest + 100 * step
        else:
            values = [*honest["values"]]
            values[1] += step * max(
                abs(values[1]), 1.0 if key == "z_score" else e["unit"]["values"][1] if key != "unit" else 0
            )
            e[key] = {**honest, "values": values}
        found = verdicts(fast, model, e)
        assert found == verdicts(exact, model, e)
        if step == 0:
            assert found[-1] == ("context", fast.HOLDS)
        elif abs(step) > 1e-6:
            assert found[-1] == ("context", fast.FAILS)
    e[key] = None
    assert verdicts(fast, model, e) == verdicts(exact, model, e)


def test_nothing_agrees_that_is_too_uncertain():
    assert fast._agree([1.0], Rounded(np.ones(1), np.ones(1), 10), np.ones(1))
    assert not fast._agree([1.0], Rounded(np.ones(1), np.full(1, 1e9), 10), np.ones(1))
    assert not fast._agree([math.nan], given([1.0]), np.ones(1))
    assert not fast._agree(None, given([1.0]), np.ones(1))


def test_a_table_of_percentiles_must_be_sorted():
    model = exact.read_model(files()[0])
    network, table = model.networks[1], model.percentiles[1]
    assert fast._percentile_agrees(100.0, network, network.means, table)
    assert not fast._percentile_agrees(100.0, network, network.means, table[::-1])
    assert not fast._percentile_agrees(100.0, network, network.means, [*table[:50], *table[:49:-1]])
    assert not fast._percentile_agrees(math.nan, network, network.means, table)


# ----- the house --------------------------------------------------------------------------------------------


def test_the_checker_knows_neither_search_nor_model():
    for module in (fast, pieces, products, rounding):
        for node in ast.walk(ast.parse(Path(module.__file__).read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module] if isinstance(node, ast.ImportFrom) else []
            for name in names:
                allowed = name in ("numpy", "numpy.typing", "scipy.linalg") or name.startswith(
                    "surefoot.proof"
                )
                assert allowed or name.split(".")[0] in sys.stdlib_module_names, name
