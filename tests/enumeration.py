"""Small random requests, and their answers by trying every allowed combination.

The judge starts from the model's JSON and from the actions as they were written. It shares no code with
surefoot: densities, distances, rules and the worst case within a box are computed here once more, in the
plainest way.
"""

import itertools
import json
import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd

from surefoot import Action, Actions, ConditionalGaussianNetworkClassifier
from tests.asking import CounterfactualExplainer

ROOM = 1e-9  # what counts as a tie: on either side of a boundary by this much, both answers are accepted
WHEN = ("changes", "rises", "falls", "stays")


# Requests


def random_request(seed):
    """A model, a row and the arguments of an explainer, small enough to try everything."""
    rng = np.random.default_rng(seed)
    frame, labels = _table(rng)
    structure = str(rng.choice(["naive", "tan"]))
    clf = ConditionalGaussianNetworkClassifier(structure).fit(frame, labels)
    row = frame.iloc[int(rng.integers(len(frame)))]
    numbers = [name for name in frame if name not in clf.categories_]
    actions = _actions(rng, frame, numbers, clf.categories_)
    settings = {"norm": [np.inf, 1, 2][int(rng.integers(3))], "threshold": float(rng.choice([0.5, 0.7]))}
    if rng.random() < 0.35:
        settings["plausible"] = ("conditional", float(rng.choice([1.0, 1.0, 2.0, 3.0])))
    if rng.random() < 0.5:
        missed = [name for name in numbers if rng.random() < 0.7]
        settings["budget"] = {name: _budget(rng, frame[name]) for name in missed}
    settings["budget"] = settings.get("budget") or 0.0
    here = clf.predict(frame.loc[[row.name]])[0]
    target = str(rng.choice([c for c in clf.classes_ if c != here]))
    return clf, row, target, actions, settings


def _table(rng):
    """Two or three classes; some numbers whole, some with two decimals, some nearly copies."""
    n, n_numbers, n_categories = 80, int(rng.integers(1, 5)), int(rng.integers(0, 3))
    y = rng.integers(0, int(rng.choice([2, 2, 3])), n)
    columns = {}
    for i in range(n_numbers):
        values = rng.normal(size=n) * float(rng.choice([0.7, 2.0, 30.0])) + y * rng.normal()
        if i and rng.random() < 0.3:
            values = columns[f"n{i - 1}"] + 0.3 * values
        columns[f"n{i}"] = values.round() if rng.random() < 0.4 else values.round(2)
    for i in range(n_categories):
        k = int(rng.integers(2, 4))
        columns[f"c{i}"] = np.array(list("uvw"))[(rng.integers(0, k, n) + y * (rng.random(n) < 0.4)) % k]
    return pd.DataFrame(columns), np.array(["no", "yes", "maybe"])[y]


def _actions(rng, frame, numbers, categories):
    """Every number gets so few values that all can be tried; one value alone, often."""
    features = {name: _of_number(rng, frame[name]) for name in numbers}
    for name, values in categories.items():
        if rng.random() < 0.3:
            some = Action(values=[str(rng.choice(values))])
            features[name] = Action("stay") if rng.random() < 0.5 else some
    settings, names = {}, list(frame)
    if len(names) > 1 and rng.random() < 0.6:
        settings["when"] = [_when(rng, numbers, categories) for _ in range(int(rng.integers(1, 3)))]
    if rng.random() < 0.25:
        settings["at_most"] = int(rng.integers(1, len(names) + 1))
    return Actions(features, **settings)


def _of_number(rng, column):
    whole = bool((column == column.round()).all())
    kind = rng.random()
    if whole and column.max() - column.min() <= 12 and kind < 0.3:
        return Action(str(rng.choice(["change", "rise", "fall"])))
    if kind < 0.05:
        return Action("stay")
    least = float(np.round(column.std() * rng.uniform(0.2, 2.0), 2)) if rng.random() < 0.2 else None
    if whole and column.max() - column.min() <= 30 and kind < 0.4:
        return Action(least=least)
    count = 1 if rng.random() < 0.3 else int(rng.integers(2, 6))
    values = sorted({float(v) for v in rng.choice(column.to_numpy(), count)})
    return Action(str(rng.choice(["change", "change", "rise", "fall"])), values=values, least=least or None)


def _when(rng, numbers, categories):
    names = [*numbers, *categories]
    first, second = (str(v) for v in rng.choice(names, 2, replace=len(names) < 2))
    words = [str(rng.choice(WHEN if name in numbers else ("changes", "stays"))) for name in (first, second)]
    return f"{first} {words[0]}", f"{second} {words[1]}"


def _budget(rng, column):
    return float(np.round(column.std() * rng.choice([0.02, 0.1]), 4)) or 0.01


# The judge


def nearest(path, row, target, actions, settings):
    """Distance of the nearest allowed point, ties counted against it and for it; infinite where none is."""
    model = Model(json.loads(Path(path).read_text(encoding="utf-8"))["model"])
    case = Case(model, row, target, actions, settings)
    strict, loose = math.inf, math.inf
    for distance, x, state in case.candidates():
        if strict < math.inf:
            break
        worst = case.worst_margin(x, state)
        loose = min(loose, distance) if worst >= -ROOM else loose
        strict = min(strict, distance) if worst >= ROOM else strict
    return strict, loose


class Model:
    """Scores of classes from the numbers of a model file."""

    def __init__(self, content):
        self.labels = content["classes"]["labels"]
        self.names = content["features"]["labels"]
        self.kinds = content["kinds"]
        self.prior = content["class_prior"]
        self.parents, self.networks = content["parents"], content["networks"]
        self.range = content["feature_range"]
        self.numbers = [j for j, kind in enumerate(self.kinds) if kind["kind"] != "category"]
        self.categories = [j for j, kind in enumerate(self.kinds) if kind["kind"] == "category"]

    def gaussian(self, c, state):
        """Weights, intercepts, variances and the log weight of a class for one state of the categories."""
        n, network = len(self.numbers), self.networks[c]
        given = {j: self.kinds[j]["values"].index(v) for j, v in zip(self.categories, state, strict=True)}
        log_weight = math.log(self.prior[c])
        if "cells" not in network:
            W, means = np.array(network["weights"]), np.array(network["means"])
            return W, means - W @ means, np.array(network["variances"]), log_weight
        for j, table in zip(self.categories, network["tables"], strict=True):
            for parent in sorted(p for p in self.parents[j] if p in given):
                table = table[given[parent]]
            log_weight += math.log(table[given[j]])
        W, b, v = np.zeros((n, n)), np.zeros(n), np.zeros(n)
        for i, (j, cell) in enumerate(zip(self.numbers, network["cells"], strict=True)):
            mean, at, weights, variance = (cell[name] for name in ("mean", "at", "weights", "variance"))
            for parent in sorted(p for p in self.parents[j] if p in given):
                k = given[parent]
                mean, at, weights, variance = mean[k], at[k], weights[k], variance[k]
            led = [self.numbers.index(p) for p in sorted(self.parents[j]) if p not in given]
            W[i, led], v[i] = weights, variance
            b[i] = mean - float(np.dot(weights, at)) if led else mean
        return W, b, v, log_weight

    def form(self, c, state):
        """The log score of a class as x'Ax + a'x + constant."""
        W, b, v, constant = self.gaussian(c, state)
        R = np.eye(len(b)) - W
        precision = R.T @ np.diag(1 / v) @ R
        slope = R.T @ (b / v)
        constant += -0.5 * float(b @ (b / v)) - 0.5 * float(np.log(2 * np.pi * v).sum())
        return -0.5 * precision, slope, constant


class Case:
    """One request."""

    def __init__(self, model, row, target, actions, settings):
        self.model, self.actions, self.settings, self.target = model, actions, settings, target
        self.row = {name: row[name] for name in model.names}
        self.x0 = np.array([float(row[model.names[j]]) for j in model.numbers])
        self.state0 = tuple(row[model.names[j]] for j in model.categories)
        scores = [self._score(c, self.x0, self.state0) for c in range(len(model.labels))]
        self.here = int(np.argmax(scores))
        budget = settings["budget"] or {}
        self.box = np.array([float(budget.get(model.names[j], 0.0)) for j in model.numbers])
        self.matrix = self._whitening()
        self.forms = {}

    def _score(self, c, x, state):
        A, a, constant = self.model.form(c, state)
        return float(x @ A @ x + a @ x + constant)

    def _whitening(self):
        W, _, v, _ = self.model.gaussian(self.here, self.state0)
        R = np.eye(len(v)) - W
        return np.linalg.cholesky(R.T @ np.diag(1 / v) @ R).T

    def candidates(self):
        """Every allowed combination, nearest first."""
        axes = [self._values(j) for j in range(len(self.model.names))]
        found = []
        for values in itertools.product(*axes):
            if self._allowed(values):
                x = np.array([float(values[j]) for j in self.model.numbers])
                state = tuple(values[j] for j in self.model.categories)
                if self._plausible(x, state):
                    found.append((self._distance(x, state), x, state))
        return sorted(found, key=lambda entry: entry[0])

    def _values(self, j):
        name = self.model.names[j]
        action, now = self.actions.features.get(name, Action()), self.row[name]
        listed = vars(action)["values"]
        if action.may == "stay":
            return [now]
        if j in self.model.categories:
            return sorted({now, *(self.model.kinds[j]["values"] if listed is None else listed)})
        low, high = self.model.range[0][j], self.model.range[1][j]
        values = np.arange(low, high + 1) if listed is None else listed
        moves = {"rise": lambda v: v >= now, "fall": lambda v: v <= now}.get(action.may, lambda v: True)
        least = Fraction(repr(float(action.least or 0)))
        far = (
            float(v) for v in values if abs(Fraction(repr(float(v))) - Fraction(repr(float(now)))) >= least
        )
        return sorted({now, *(v for v in far if low <= v <= high and moves(v))})

    def _allowed(self, values):
        then = dict(zip(self.model.names, values, strict=True))
        changed = sum(then[name] != self.row[name] for name in then)
        if self.actions.at_most is not None and changed > self.actions.at_most:
            return False
        return all(
            not self._is(condition, then) or self._is(consequence, then)
            for condition, consequence in self.actions.when or ()
        )

    def _is(self, text, then):
        name, verb = text.split()
        x, y = self.row[name], then[name]
        if verb in ("changes", "stays"):
            return (x != y) == (verb == "changes")
        return y > x if verb == "rises" else y < x

    def _plausible(self, x, state):
        if "plausible" not in self.settings:
            return True
        W, b, v, _ = self.model.gaussian(self.model.labels.index(self.target), state)
        off = np.abs(x - W @ x - b) / np.sqrt(v)
        return bool((off[x != self.x0] <= self.settings["plausible"][1]).all())

    def _distance(self, x, state):
        u, norm = self.matrix @ (x - self.x0), self.settings["norm"]
        size = np.abs(u).max() if norm == np.inf else np.abs(u).sum() if norm == 1 else math.sqrt(u @ u)
        return float(size) + sum(a != b for a, b in zip(state, self.state0, strict=True))

    def worst_margin(self, x, state):
        """The least log-odds above what is needed, against any rival, over the box of errors around x."""
        if state not in self.forms:
            t = self.model.labels.index(self.target)
            own, needed = self.model.form(t, state), self.settings["threshold"]
            odds = math.log(needed / (1 - needed))
            rivals = [self.model.form(c, state) for c in range(len(self.model.labels)) if c != t]
            self.forms[state] = [(own[0] - A, own[1] - a, own[2] - k - odds) for A, a, k in rivals]
        return min(_least(A, a, k, x, self.box) for A, a, k in self.forms[state])


def _least(A, a, k, x, box):
    """The least value of a quadratic over a box: at a stationary point of one of its faces."""
    q, slope, constant = A, 2 * A @ x + a, float(x @ A @ x + a @ x + k)
    free, least = np.flatnonzero(box > 0), math.inf
    for sides in itertools.product((-1, 0, 1), repeat=len(free)):
        d = np.zeros(len(x))
        d[free] = np.array(sides) * box[free]
        inner = free[[s == 0 for s in sides]]
        if len(inner):
            block = 2 * q[np.ix_(inner, inner)]
            if abs(np.linalg.det(block)) < 1e-300:
                continue
            d[inner] = np.linalg.solve(block, -(slope + 2 * q @ d)[inner])
            if (np.abs(d[inner]) > box[inner]).any():
                continue
        least = min(least, constant + float(slope @ d + d @ q @ d))
    return least


# A verdict on an answer


def judged(seed, folder):
    """The status of the answer to a random request, and what is wrong with it."""
    clf, row, target, actions, settings = random_request(seed)
    explainer = CounterfactualExplainer(clf, actions=actions, time_limit=5, **settings)
    e = explainer.explain(row, target, on_failure="return")
    return str(e.status), fault(e, *nearest(saved(clf, folder), row, target, actions, settings))


def saved(clf, folder):
    """The model's file."""
    path = Path(folder) / "model.json"
    clf.save(path)
    return path


def fault(e, strict, loose):
    """What is wrong with an answer, given the distances of `nearest`; "" if nothing is."""
    if str(e.status) == "infeasible":
        return "" if strict == math.inf else f"infeasible, but there is a point at {strict!r}"
    most = strict * (1 + e.question.gap) + ROOM
    if str(e.status) == "optimal" and not loose * (1 - ROOM) - ROOM <= e.distance <= most:
        return f"distance {e.distance!r}, but {strict!r} is the nearest"
    if e.lower_bound > strict * (1 + ROOM):
        return f"bound {e.lower_bound!r} above {strict!r}"
    return ""
