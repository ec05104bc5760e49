"""Leaves with a little of everything: the matrix is the page's, and every condition counts."""

import contextlib
import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from surefoot.proof import exact
from tests.proof.handmade import INF, mean_of, question, small
from tests.thinning import covering


def fractions(array):
    return [[Fraction(v) for v in row] for row in np.atleast_2d(array).tolist()]


def assert_proportional(rows, matrix):
    """Whole numbers below and on the diagonal are a multiple of a matrix, up to what 1 / v was rounded."""
    every = range(len(matrix))
    size = max(abs(v) for row in matrix for v in row)
    if not size:
        assert not any(map(any, rows))
        return
    at = next((i, j) for i in every for j in range(i + 1) if abs(matrix[i][j]) == size)
    factor = Fraction(rows[at[0]][at[1]]) / matrix[at[0]][at[1]]
    assert factor > 0
    for i in every:
        for j in range(i + 1):
            assert abs(rows[i][j] / factor - matrix[i][j]) <= size / 2**100


def matrix_at(proof, leaf, way):
    """The whole numbers of a leaf, with the features that it fixes put in, as `leaf_fault` makes them."""
    piece = exact.Piece(proof, leaf["level"], way)
    products = [
        *exact.norm_terms(piece, leaf),
        *(exact.product_term(piece, entry) for entry in leaf["products"]),
        *(exact.between_term(proof, entry) for entry in leaf["between"]),
    ]
    needs = [exact.requirement_term(proof, entry) for entry in leaf["requirements"]]
    rows = exact.negated(proof, products, needs, piece.moving)
    moved, changes = piece.moved()
    if not moved:
        return rows
    places = [piece.moving.index(j) for j in moved]
    unit = 1 << changes.shift
    *found, last = exact.restricted(rows, dict(zip(places, changes.whole, strict=True)), unit)
    return [*found, [*(Fraction(v, unit) for v in last[:-1]), Fraction(last[-1], unit**2)]]


def is_proven(proof, leaf, way=()):
    return not exact.leaf_fault(proof, leaf, way)


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


@pytest.mark.parametrize(
    ("size", "norm"), covering([1.0, 1e-60, 1e60, 1e-150, 1e150], [1.0, 2.0, INF, "by feature"])
)
def test_the_matrix_of_a_leaf_is_the_pages(norm, size):
    rng, half = np.random.default_rng(4), None
    if norm == "by feature":
        half = [Fraction(1, 3) * Fraction(size), Fraction(size), Fraction(2.5) * Fraction(size)]
    proof = scaled_proof(INF if half else norm, size, half)
    for _ in range(12):
        level = float(rng.choice([0.7, 1.3, 1e-9]))
        path = splits(proof, level * (size if half else 1), size)
        way, leaf = way_of(proof, path), random_leaf(rng, proof, level, path, size)
        found = matrix_at(proof, leaf, way)
        units = [Fraction(size)] * 3 + [Fraction(1)]  # the same numbers, whatever the units
        scaled = [[v * units[i] * units[j] for j, v in enumerate(row)] for i, row in enumerate(found)]
        exactly = matrix_of(lambda z: -value_of(proof, leaf, path, z), 3)  # noqa: B023
        assert_proportional(
            scaled, [[v * units[i] * units[j] for j, v in enumerate(row)] for i, row in enumerate(exactly)]
        )


@pytest.mark.parametrize(
    "fixed", [{1: 0.3}, {1: 0.0}, {0: 0.0, 1: 0.25}, {0: 0.5, 1: 0.0}, {0: 0.5, 1: -0.25}]
)
def test_features_that_are_fixed(fixed):
    """Some keep their values, others do not."""
    rng, proof = np.random.default_rng(5), scaled_proof()
    f = proof.setting.domain.factual
    ends = {j: f[j] + step for j, step in fixed.items()}
    path = [(("x", j), end, side) for j, end in ends.items() for side in ("below", "above")]
    way, leaf = way_of(proof, path), random_leaf(rng, proof, 1.3, path)
    free = [j for j in range(3) if j not in fixed]

    def form(z):
        at = dict(zip(free, z, strict=True)) | {j: Fraction(end) - Fraction(f[j]) for j, end in ends.items()}
        return -value_of(proof, leaf, path, [at[j] for j in range(3)])

    found = matrix_at(proof, leaf, way)
    assert len(found) == len(free) + 1
    assert_proportional(found, matrix_of(form, len(free)))


def test_leaves_at_the_edge_are_only_proven_if_they_are():
    """The weight of a requirement is moved to where the leaf just fails."""
    proof, level = scaled_proof(2.0), 0.3
    leaf = {"level": level, "norm": [1.0], "cross": [], "products": [], "between": []}

    def definite(weight):
        leaf["requirements"] = [[weight, 1, -1]]
        return exactly_definite(matrix_of(lambda z: -value_of(proof, leaf, [], z), 3))

    assert not definite(0.0)
    low, high = 0.0, next(2.0**k for k in range(-10, 40) if definite(2.0**k))
    while math.nextafter(low, INF) < high:
        middle = (low + high) / 2
        low, high = (low, middle) if definite(middle) else (middle, high)
    for weight in [low, high, *(high * (1 + s * 10.0**-k) for k in range(3, 17) for s in (-1, 1))]:
        exactly = definite(weight)
        assert is_proven(proof, leaf) == exactly


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
    "cross from the end beside another": (1.0, changed("cross", [-1, 1, 1e-3], [0, 1, 1e-3])),
    "cross of the constant beside another": (1.0, changed("cross", [0, 3, 1e-3], [0, 1, 1e-3])),
    "a feature without a side": (INF, product(["x", 0])),
    "a split with a side": (INF, product(["c", 0, "low"])),
    "a slope without a constant": (INF, product(["a", [[0, 1.0]]])),
    "a slope with one more entry": (INF, product(["a", 9.0, [[0, 1.0]], 1.0])),
    "a product of one": (INF, changed("products", [1e-9, ["1"]])),
    "a product of three": (INF, changed("products", [1e-9, ["1"], ["1"], ["1"]])),
    "an empty function": (INF, product([])),
    "a pair of three": (INF, product(["a", 9.0, [[0, 1.0, 0]]])),
    "a requirement without a scenario": (INF, changed("requirements", [1.0, 1])),
}  # fmt: skip


@pytest.mark.parametrize("name", HARMLESS)
def test_a_plain_leaf_is_proven(name):
    norm, change = HARMLESS[name]
    proof, leaf, way = plain_leaf(norm)
    assert is_proven(proof, change(leaf), way)


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_leaf_is_not_proven(name):
    """All of these would be definite if the one wrong thing were not noticed."""
    norm, change = WRONG[name]
    proof, leaf, way = plain_leaf(norm)
    with contextlib.suppress(exact.UnreadableError):
        assert not is_proven(proof, change(leaf), way)


def test_a_leaf_whose_sum_is_not_negative_is_not_proven():
    proof, leaf, way = plain_leaf(INF)
    for weights in ([1e-3, 1e-3, 0.0], [1e-3] * 3):
        assert not is_proven(proof, {**leaf, "norm": weights, "requirements": []}, way)
    assert not is_proven(proof, {**leaf, "norm": [], "products": [], "requirements": [], "between": []}, way)


def test_pieces_that_are_empty_need_no_weights():
    proof, leaf, _ = plain_leaf(INF)
    empty = {**leaf, "norm": [], "products": [], "requirements": [], "between": []}
    apart = [(("u", 0), 0.2, "below"), (("u", 0), math.nextafter(0.2, 1), "above")]
    touching = [(("u", 0), 0.2, "below"), (("u", 0), 0.2, "above")]
    beyond = [(("u", 0), math.nextafter(1.0, 2), "above")]
    assert is_proven(proof, empty, way_of(proof, apart))
    assert is_proven(proof, empty, way_of(proof, beyond))
    assert not is_proven(proof, empty, way_of(proof, touching))
