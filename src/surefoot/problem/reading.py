"""A question from plain values: every entry is checked, and whatever is wrong is named."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, get_args

import numpy as np

from surefoot.exceptions import DataError
from surefoot.plain import end, entries, finite, label, position, sequence, shallow, shown, text, truth
from surefoot.problem.choice import Choice
from surefoot.problem.domain import Domain, ValueSet
from surefoot.problem.either import Either, Limit, Way
from surefoot.problem.geometry import MatrixKind
from surefoot.problem.mixed import State
from surefoot.problem.question import (
    FORMAT,
    GIVEN_VERSION,
    VERSION,
    Asked,
    Away,
    Budget,
    Decision,
    DensityFloor,
    Odds,
    Probability,
    Question,
)
from surefoot.problem.robust_problem import checked_threshold
from surefoot.problem.row import Row
from surefoot.problem.warp import Warp

KEYS = (
    "format", "version", "models", "features", "factual", "factual_class", "target", "distance", "ball",
    "requirements", "domain", "choices", "warps", "gap",
)  # fmt: skip
NORMS = {1: 1.0, 2: 2.0, "inf": math.inf}


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
    distance, whitening = _distance(values["distance"], version == GIVEN_VERSION)
    norm = read_norm(distance["norm"])
    budget, exact = _ball(values["ball"], norm, len(factual))
    models = tuple(text(m, "the fingerprint of a model") for m in sequence(values["models"], "models"))
    domain, declared = _domain(values["domain"], factual)
    return Question(
        models=models,
        features=features,
        factual=np.array(factual),
        factual_class=label(values["factual_class"], "factual_class"),
        target=label(values["target"], "target"),
        norm=norm,
        whitening=whitening,
        budget=budget,
        exact=exact,
        requirements=_requirements(values, choices, len(factual)),
        domain=domain,
        declared=declared,
        gap=_not_negative(values["gap"], "gap"),
        choices=choices,
        warps=_warps(values["warps"], len(factual)),
        eithers=tuple(_either(e, len(factual)) for e in sequence(values["domain"]["eithers"], "eithers")),
        limits=tuple(_limit(one, factual) for one in sequence(values["domain"]["limits"], "limits")),
        prices=_prices(distance, len(factual)),
        matrix=_matrix(distance.get("matrix"), len(factual)),
    )


def _distance(values: Any, states_matrix: bool) -> tuple[Mapping[str, Any], MatrixKind]:
    """The entries of the distance, and the name of its matrix: one of the model's, or the one it states."""
    more = ("matrix",) if states_matrix else ()
    found = entries(values, "the distance", ("kind", "whitening", "norm", "prices", *more))
    kind = read_whitening(found["whitening"])
    if (kind == "given") != states_matrix:
        raise DataError(f"a question states a matrix exactly where its whitening is given, not {shown(kind)}")
    return found, kind


def _matrix(values: Any, n: int) -> Any:
    if values is None:
        return None
    rows = sequence(values, "the matrix of the distance", n)
    return [[finite(v, "the matrix of the distance") for v in sequence(row, "its row", n)] for row in rows]


def _prices(distance: Any, n: int) -> tuple[tuple[float, float], ...] | None:
    """What numbers cost, where the distance is of that kind."""
    kind, listed = distance["kind"], distance["prices"]
    if kind == "mahalanobis" and listed is None:
        return None
    if kind != "cost" or listed is None:
        raise DataError(f"the distance is of unknown kind {shown(kind)}, or its prices do not belong to it")
    found = []
    for pair in sequence(listed, "prices", n):
        up, down = (finite(v, "a price") for v in sequence(pair, "the prices of a number", 2))
        if up <= 0 or down <= 0:
            raise DataError("the price of a number must be above 0")
        found.append((up, down))
    return tuple(found)


def _either(values: Any, n: int) -> Either:
    entry = entries(values, "an if-then rule", ("name", "ways"))
    ways = tuple(_way(way, n) for way in sequence(entry["ways"], "ways"))
    return Either(ways, text(entry["name"], "the name of an if-then rule"))


def _way(values: Any, n: int) -> Way:
    way = entries(values, "a way", ("rows", "values"))
    codes: dict[int, frozenset[int]] = {}
    for pair in sequence(way["values"], "the values of a way"):
        k, listed = sequence(pair, "the values of a way", 2)
        found = [_count(v, "a value") for v in sequence(listed, "the values of a way")]
        if found != sorted(set(found)) or (codes and _count(k, "a category") <= max(codes)):
            raise DataError("categories and values of a way must be in ascending order")
        codes[_count(k, "a category")] = frozenset(found)
    return Way(tuple(_row(row, n) for row in sequence(way["rows"], "rows")), codes)


def _limit(values: Any, factual: list[float]) -> Limit:
    limit = entries(values, "a limit", ("name", "count", "numbers", "categories"))
    numbers = tuple(position(j, "a limit", len(factual)) for j in sequence(limit["numbers"], "numbers"))
    return Limit(
        _count(limit["count"], "the count of a limit"),
        numbers,
        tuple(factual[j] for j in numbers),
        tuple(_count(k, "a category") for k in sequence(limit["categories"], "categories")),
        text(limit["name"], "the name of a limit"),
    )


def _count(value: Any, what: str) -> int:
    if type(value) is not int or not 0 <= value < 2**31:
        raise DataError(f"{what} must be a whole number of at least 0, not {shown(value)}")
    return value


def _choice(values: Any, row: list[Any]) -> Choice:
    entry = entries(values, "a choice", ("feature", "values", "prices"))
    j = position(entry["feature"], "the feature of a choice", len(row))
    names = tuple(label(v, "the value of a category") for v in sequence(entry["values"], "values"))
    kinds = [(type(name) is bool, name) for name in names]  # True is not 1 here
    today = (type(row[j]) is bool, label(row[j], "a value of the factual"))
    if len(set(kinds)) < len(kinds) or kinds.count(today) != 1:
        raise DataError("the values of a category must differ, and the factual's must be one of them")
    prices = tuple(end(v, "a price") for v in sequence(entry["prices"], "prices", len(names)))
    return Choice(j, names, prices, kinds.index(today))


def _warps(values: Any, n: int) -> tuple[Warp, ...]:
    if values is None:
        return ()
    found = []
    for entry in sequence(values, "warps", n):
        power, shift, scale = sequence(entry, "a warp", 3)
        found.append(
            Warp(
                None if power is None else finite(power, "the power of a warp"),
                finite(shift, "the shift of a warp"),
                finite(scale, "the scale of a warp"),
            )
        )
    return tuple(found)


def read_features(values: Any) -> tuple[Any, ...]:
    """Names of features."""
    names = tuple(label(name, "the name of a feature") for name in sequence(values, "features"))
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
    by_feature = isinstance(budget, Mapping)
    if read_norm(ball["norm"]) != (math.inf if by_feature else norm):
        raise DataError("the norm of the ball does not belong to its budget")
    if isinstance(budget, Mapping) and set(exact) != set(range(n)) - set(budget):
        raise DataError("with a budget by feature, exactly the other features land exactly")
    return budget, exact


def read_budget(values: Any, n: int) -> Budget:
    """A number, or pairs by feature number."""
    if not isinstance(values, Mapping):
        return _not_negative(values, "budget")
    return {_written(j, n): _pair(pair) for j, pair in values.items()}


def _written(name: Any, n: int) -> int:
    found = [j for j in range(n) if str(j) == name]
    if not found:
        raise DataError(f"the budget names feature {shown(name)}, which does not exist")
    return found[0]


def _pair(values: Any) -> tuple[float, float]:
    down, up = (_not_negative(v, "budget") for v in sequence(values, "the budget of a feature", 2))
    return down, up


def _requirements(values: Any, choices: tuple[Choice, ...], n: int) -> tuple[Asked, ...]:
    label_here = label(values["factual_class"], "factual_class")
    state, n_models = tuple(choice.today for choice in choices), len(values["models"])
    found = tuple(
        _away(entry, n, label_here, state) if _kind(entry) == "away" else _requirement(entry, n_models)
        for entry in sequence(values["requirements"], "requirements")
    )
    if not any(isinstance(r, Odds | Decision) for r in found):
        raise DataError("a question must ask for the odds of the target")
    return found


def _kind(entry: Any) -> Any:
    return entry.get("kind") if isinstance(entry, Mapping) else None


def _away(entry: Any, n: int, label_here: Any, state: State) -> Away:
    entries(entry, "a requirement", ("kind", "point", "distance"))
    point = tuple(finite(v, "a point to stay away from") for v in sequence(entry["point"], "point", n))
    return Away(point, _not_negative(entry["distance"], "distance"), label_here, state)


def _requirement(entry: Any, n_models: int) -> Asked:
    kind = _kind(entry)
    if kind == "odds":
        entries(entry, "a requirement", ("kind", "model", "target", "rival", "threshold", "robust"))
        return Odds(
            label(entry["target"], "target"),
            label(entry["rival"], "rival"),
            checked_threshold(finite(entry["threshold"], "threshold")),
            truth(entry["robust"], "robust"),
            position(entry["model"], "the model of a requirement", n_models),
        )
    if kind == "probability":
        entries(entry, "a requirement", ("kind", "model", "target", "threshold", "robust"))
        return Probability(
            label(entry["target"], "target"),
            checked_threshold(finite(entry["threshold"], "threshold")),
            truth(entry["robust"], "robust"),
            position(entry["model"], "the model of a requirement", n_models),
        )
    if kind == "decision":
        entries(entry, "a requirement", ("kind", "model", "target", "rival", "value", "robust"))
        return Decision(
            label(entry["target"], "target"),
            label(entry["rival"], "rival"),
            finite(entry["value"], "the value of a decision"),
            truth(entry["robust"], "robust"),
            position(entry["model"], "the model of a requirement", n_models),
        )
    if kind == "density":
        entries(entry, "a requirement", ("kind", "model", "class", "floor", "robust"))
        return DensityFloor(
            label(entry["class"], "class"),
            finite(entry["floor"], "floor"),
            truth(entry["robust"], "robust"),
            position(entry["model"], "the model of a requirement", n_models),
        )
    raise DataError(f"a requirement is of unknown kind {shown(kind)}")


def _domain(values: Any, factual: list[float]) -> tuple[Domain, dict[str, Any]]:
    entries(values, "the domain", ("low", "high", "rows", "sets", "eithers", "limits", "declared"))
    n = len(factual)
    low, high = (
        np.array([end(v, f"an end ({name})") for v in sequence(values[name], name, n)])
        for name in ("low", "high")
    )
    rows = tuple(_row(row, n) for row in sequence(values["rows"], "rows"))
    sets = tuple(_set(one, factual) for one in sequence(values["sets"], "sets"))
    if not isinstance(values["declared"], dict):
        raise DataError("declared must be an object")
    return Domain(low, high, rows, sets), shallow(values["declared"], "declared")


def _row(values: Any, n: int) -> Row:
    row = entries(values, "a row of the domain", ("coefficients", "low", "high", "name"))
    coefficients = [finite(v, "a coefficient") for v in sequence(row["coefficients"], "coefficients", n)]
    ends = (end(row["low"], "the end of a row"), end(row["high"], "the end of a row"))
    return Row(np.array(coefficients), *ends, text(row["name"], "the name of a row"))


def _set(values: Any, factual: list[float]) -> ValueSet:
    one = entries(values, "a set of values", ("feature", "values"))
    j = position(one["feature"], "the feature of a set", len(factual))
    listed = None
    if one["values"] is not None:
        listed = tuple(finite(v, "an allowed value") for v in sequence(one["values"], "values"))
    return ValueSet(j, listed, factual[j])
