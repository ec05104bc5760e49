"""A question from plain values: every entry is checked, and whatever is wrong is named."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, get_args

import numpy as np

from surefoot.exceptions import DataError
from surefoot.plain import each, end, entries, finite, label, position, sequence, shallow, shown, text, truth
from surefoot.problem.choice import Choice
from surefoot.problem.domain import Domain, ValueSet
from surefoot.problem.either import Either, Limit, Way
from surefoot.problem.geometry import MatrixKind
from surefoot.problem.question import Budget, Question
from surefoot.problem.requirements import Away, Decision, DensityFloor, Odds, Probability, Required
from surefoot.problem.robust_problem import checked_threshold
from surefoot.problem.row import Row
from surefoot.problem.warp import Warp
from surefoot.problem.writing import FORMAT, GIVEN_VERSION, VERSION

KEYS = (
    "format", "version", "models", "features", "factual", "factual_class", "target", "distance", "ball",
    "requirements", "domain", "choices", "warps", "gap",
)  # fmt: skip
DOMAIN_KEYS = ("low", "high", "rows", "sets", "eithers", "limits", "declared")
NORMS = {1: 1.0, 2: 2.0, "inf": math.inf}
# Of each kind: its class, the keys of its labels and of its number, and what messages call that.
REQUIREMENTS: dict[str, tuple[Callable[..., Required], tuple[str, ...], str, str]] = {
    "odds": (Odds, ("target", "rival"), "threshold", "threshold"),
    "probability": (Probability, ("target",), "threshold", "threshold"),
    "decision": (Decision, ("target", "rival"), "value", "the value of a decision"),
    "density": (DensityFloor, ("class",), "floor", "floor"),
}


def read_question(values: Any) -> Question:
    """Read what `Question.to_dict` gave."""
    if not isinstance(values, Mapping) or values.get("format") != FORMAT:
        raise DataError("this is not a question of surefoot")
    version = values.get("version")
    if version not in (VERSION, GIVEN_VERSION) or isinstance(version, bool):
        known = f"{VERSION} and {GIVEN_VERSION}"
        raise DataError(f"the question has format version {shown(version)}; this surefoot reads {known}")
    entries(values, "the question", KEYS)
    features = read_features(values["features"])
    row = sequence(values["factual"], "factual", len(features))
    choices = tuple(_choice(entry, row) for entry in sequence(values["choices"], "choices"))
    taken = {choice.feature for choice in choices}
    factual = [finite(v, "a value of the factual") for j, v in enumerate(row) if j not in taken]
    n = len(factual)
    distance = _distance(values["distance"], version == GIVEN_VERSION, n)
    budget, exact = _ball(values["ball"], distance["norm"], n)
    domain = entries(values["domain"], "the domain", DOMAIN_KEYS)
    warps = values["warps"]
    if not isinstance(domain["declared"], dict):
        raise DataError("declared must be an object")
    return Question(
        models=tuple(each(text, values["models"], "models", one="the fingerprint of a model")),
        features=features,
        factual=np.array(factual),
        factual_class=label(values["factual_class"], "factual_class"),
        target=label(values["target"], "target"),
        **distance,
        budget=budget,
        exact=exact,
        requirements=_requirements(values, choices, n),
        domain=_domain(domain, factual),
        declared=shallow(domain["declared"], "declared"),
        gap=_not_negative(values["gap"], "gap"),
        choices=choices,
        warps=() if warps is None else tuple(map(_warp, sequence(warps, "warps", n))),
        eithers=tuple(_either(e, n) for e in sequence(domain["eithers"], "eithers")),
        limits=tuple(_limit(one, factual) for one in sequence(domain["limits"], "limits")),
    )


def _distance(values: Any, states_matrix: bool, n: int) -> dict[str, Any]:
    """Norm and matrix of the distance (one of the model's, or the one it states), and what numbers cost."""
    more = ("matrix",) if states_matrix else ()
    found = entries(values, "the distance", ("kind", "whitening", "norm", "prices", *more))
    whitening, kind, prices = read_whitening(found["whitening"]), found["kind"], found["prices"]
    if (whitening == "given") != states_matrix:
        raise DataError(
            f"a question states a matrix exactly where its whitening is given, not {shown(whitening)}"
        )
    if (kind, prices is None) not in (("mahalanobis", True), ("cost", False)):
        raise DataError(f"the distance is of unknown kind {shown(kind)}, or its prices do not belong to it")
    matrix = found.get("matrix")
    if matrix is not None:
        rows = sequence(matrix, "the matrix of the distance", n)
        matrix = [each(finite, row, "its row", n, "the matrix of the distance") for row in rows]
    return {
        "norm": read_norm(found["norm"]),
        "whitening": whitening,
        "prices": None if prices is None else tuple(map(_prices, sequence(prices, "prices", n))),
        "matrix": matrix,
    }


def _prices(pair: Any) -> tuple[float, float]:
    up, down = each(finite, pair, "the prices of a number", 2, "a price")
    if up <= 0 or down <= 0:
        raise DataError("the price of a number must be above 0")
    return up, down


def _either(values: Any, n: int) -> Either:
    entry = entries(values, "an if-then rule", ("name", "ways"))
    ways = tuple(_way(way, n) for way in sequence(entry["ways"], "ways"))
    return Either(ways, text(entry["name"], "the name of an if-then rule"))


def _way(values: Any, n: int) -> Way:
    way = entries(values, "a way", ("rows", "values"))
    codes: dict[int, frozenset[int]] = {}
    for pair in sequence(way["values"], "the values of a way"):
        k, listed = sequence(pair, "the values of a way", 2)
        found = each(_count, listed, "the values of a way", one="a value")
        if found != sorted(set(found)) or (codes and _count(k, "a category") <= max(codes)):
            raise DataError("categories and values of a way must be in ascending order")
        codes[_count(k, "a category")] = frozenset(found)
    return Way(_rows(way["rows"], n), codes)


def _limit(values: Any, factual: list[float]) -> Limit:
    limit = entries(values, "a limit", ("name", "count", "numbers", "categories"))
    numbers = tuple(position(j, "a limit", len(factual)) for j in sequence(limit["numbers"], "numbers"))
    return Limit(
        _count(limit["count"], "the count of a limit"),
        numbers,
        tuple(factual[j] for j in numbers),
        tuple(each(_count, limit["categories"], "categories", one="a category")),
        text(limit["name"], "the name of a limit"),
    )


def _count(value: Any, what: str) -> int:
    if type(value) is not int or not 0 <= value < 2**31:
        raise DataError(f"{what} must be a whole number of at least 0, not {shown(value)}")
    return value


def _choice(values: Any, row: list[Any]) -> Choice:
    entry = entries(values, "a choice", ("feature", "values", "prices"))
    j = position(entry["feature"], "the feature of a choice", len(row))
    names = tuple(each(label, entry["values"], "values", one="the value of a category"))
    kinds = [(type(name) is bool, name) for name in names]  # True is not 1 here
    today = (type(row[j]) is bool, label(row[j], "a value of the factual"))
    if len(set(kinds)) < len(kinds) or kinds.count(today) != 1:
        raise DataError("the values of a category must differ, and the factual's must be one of them")
    prices = tuple(each(end, entry["prices"], "prices", len(names), "a price"))
    return Choice(j, names, prices, kinds.index(today))


def _warp(values: Any) -> Warp:
    power, shift, scale = sequence(values, "a warp", 3)
    return Warp(
        None if power is None else finite(power, "the power of a warp"),
        finite(shift, "the shift of a warp"),
        finite(scale, "the scale of a warp"),
    )


def read_features(values: Any) -> tuple[Any, ...]:
    """Names of features."""
    names = tuple(each(label, values, "features", one="the name of a feature"))
    if not names or len(set(names)) < len(names) or not all(type(name) in (str, int) for name in names):
        raise DataError("features must be different names, at least one")
    return names


def read_norm(value: Any) -> float:
    """1, 2 or "inf"."""
    if isinstance(value, bool | float | list | dict) or value not in NORMS:
        raise DataError(f'a norm must be 1, 2 or "inf", not {shown(value)}')
    return NORMS[value]


def read_whitening(value: Any) -> MatrixKind:
    """The name of a whitening."""
    if not isinstance(value, str) or value not in get_args(MatrixKind):
        raise DataError(f"whitening must be one of {get_args(MatrixKind)}, not {shown(value)}")
    kind: MatrixKind = value  # type: ignore[assignment]
    return kind


def _not_negative(value: Any, what: str) -> float:
    found = finite(value, what)
    if found < 0:
        raise DataError(f"{what} must not be negative")
    return found


def _ball(values: Any, norm: float, n: int) -> tuple[Budget, tuple[int, ...]]:
    """Budget and features that land exactly; in a budget by feature these are all others."""
    ball = entries(values, "the ball", ("norm", "budget", "exact"))
    exact = tuple(position(j, "exact", n) for j in sequence(ball["exact"], "exact"))
    if list(exact) != sorted(set(exact)):
        raise DataError("exact features must be different and in ascending order")
    budget = read_budget(ball["budget"], n)
    if read_norm(ball["norm"]) != (math.inf if isinstance(budget, Mapping) else norm):
        raise DataError("the norm of the ball does not belong to its budget")
    if isinstance(budget, Mapping) and set(exact) != set(range(n)) - set(budget):
        raise DataError("with a budget by feature, exactly the other features land exactly")
    return budget, exact


def read_budget(values: Any, n: int) -> Budget:
    """A number, or pairs by feature number."""
    if not isinstance(values, Mapping):
        return _not_negative(values, "budget")
    places, found = {str(j): j for j in range(n)}, {}
    for name, pair in values.items():
        if name not in places:
            raise DataError(f"the budget names feature {shown(name)}, which does not exist")
        down, up = each(_not_negative, pair, "the budget of a feature", 2, "budget")
        found[places[name]] = (down, up)
    return found


def _requirements(values: Any, choices: tuple[Choice, ...], n: int) -> tuple[Required, ...]:
    found = tuple(
        _requirement(entry, values, choices, n) for entry in sequence(values["requirements"], "requirements")
    )
    if not any(isinstance(r, Odds | Decision) for r in found):
        raise DataError("a question must ask for the odds of the target")
    return found


def _requirement(entry: Any, values: Any, choices: tuple[Choice, ...], n: int) -> Required:
    kind = entry.get("kind") if isinstance(entry, Mapping) else None
    if kind == "away":
        entries(entry, "a requirement", ("kind", "point", "distance"))
        point = tuple(each(finite, entry["point"], "point", n, "a point to stay away from"))
        state = tuple(choice.today for choice in choices)
        distance = _not_negative(entry["distance"], "distance")
        return Away(point, distance, label(values["factual_class"], "factual_class"), state)
    if not isinstance(kind, str) or kind not in REQUIREMENTS:
        raise DataError(f"a requirement is of unknown kind {shown(kind)}")
    make, labels, level, what = REQUIREMENTS[kind]
    entries(entry, "a requirement", ("kind", "model", *labels, level, "robust"))
    value = finite(entry[level], what)
    return make(
        *(label(entry[name], name) for name in labels),
        checked_threshold(value) if level == "threshold" else value,
        truth(entry["robust"], "robust"),
        position(entry["model"], "the model of a requirement", len(values["models"])),
    )


def _domain(values: Mapping[str, Any], factual: list[float]) -> Domain:
    low, high = (
        np.array(each(end, values[name], name, len(factual), f"an end ({name})")) for name in ("low", "high")
    )
    sets = tuple(_set(one, factual) for one in sequence(values["sets"], "sets"))
    return Domain(low, high, _rows(values["rows"], len(factual)), sets)


def _rows(values: Any, n: int) -> tuple[Row, ...]:
    return tuple(_row(row, n) for row in sequence(values, "rows"))


def _row(values: Any, n: int) -> Row:
    row = entries(values, "a row of the domain", ("coefficients", "low", "high", "name"))
    coefficients = np.array(each(finite, row["coefficients"], "coefficients", n, "a coefficient"))
    low, high = (end(row[name], "the end of a row") for name in ("low", "high"))
    return Row(coefficients, low, high, text(row["name"], "the name of a row"))


def _set(values: Any, factual: list[float]) -> ValueSet:
    one = entries(values, "a set of values", ("feature", "values"))
    j, listed = position(one["feature"], "the feature of a set", len(factual)), one["values"]
    allowed = None if listed is None else tuple(each(finite, listed, "values", one="an allowed value"))
    return ValueSet(j, allowed, factual[j])
