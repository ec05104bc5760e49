"""What a model says, by code that shares nothing with the checkers, in double precision.

A point is a pair: numbers x in their own units, and a state s, the position of each category's value. On the
scales of the model the numbers are z.
"""

from dataclasses import dataclass
from functools import cache, cached_property, reduce

import numpy as np


@dataclass(frozen=True, eq=False)
class Network:
    """Regressions of numbers on numbers: z_i is about means_i + sum_j weights_ij (z_j - at_ij)."""

    weights: np.ndarray
    at: np.ndarray
    means: np.ndarray
    variances: np.ndarray

    def expected(self, z):
        return self.means + np.sum(self.weights * (z - self.at), axis=1)

    def log_density(self, z):
        deviation = z - self.expected(z)
        return float(-0.5 * np.sum(deviation**2 / self.variances + np.log(2 * np.pi * self.variances)))

    @cached_property
    def rows(self):
        return np.eye(len(self.means)) - self.weights

    @cached_property
    def precision(self):
        return (self.rows.T / self.variances) @ self.rows

    def slope(self, z):
        """The gradient of the log density."""
        return -self.rows.T @ ((z - self.expected(z)) / self.variances)

    @cached_property
    def spread(self):
        return np.sqrt(np.diag(np.linalg.inv(self.precision)))

    def whitening(self, kind):
        if kind == "cholesky":
            return np.linalg.cholesky(self.precision).T
        if kind == "dag":
            return self.rows / np.sqrt(self.variances)[:, None]
        values, vectors = np.linalg.eigh(self.precision)
        return (vectors * np.sqrt(values)) @ vectors.T


def bent(warp, x):
    """A number on its scale, after Yeo and Johnson."""
    if warp is None or warp["power"] is None:
        return x
    u, p = (x - warp["shift"]) / warp["scale"], warp["power"]
    p, sign, size = (p, 1, u) if u >= 0 else (2 - p, -1, -u)
    return sign * float(np.log1p(size) if abs(p) < 1e-20 else np.expm1(p * np.log1p(size)) / p)


def straightened(warp, z):
    """A number in its own units from that on its scale; not a number beyond the scale's end."""
    if warp is None or warp["power"] is None:
        return z
    p, sign, size = (warp["power"], 1, z) if z >= 0 else (2 - warp["power"], -1, -z)
    u = np.expm1(size) if abs(p) < 1e-20 else np.expm1(np.log1p(p * size) / p)
    return float(warp["shift"] + warp["scale"] * sign * u)


class Facts:
    """What a model says."""

    def __init__(self, content):
        kinds = content.get("kinds") or [{"kind": "number"}] * len(content["parents"])
        self.content, self.labels = content, content["classes"]["labels"]
        self.values = [kind["values"] if kind["kind"] == "category" else None for kind in kinds]
        self.numbers = [j for j, values in enumerate(self.values) if values is None]
        self.categories = [j for j, values in enumerate(self.values) if values is not None]
        self.warps = content.get("warps") or [None] * len(self.numbers)
        calibration = content.get("calibration") or {"temperature": 1.0, "shifts": [0.0] * len(self.labels)}
        self.heat, self.shifts = calibration["temperature"], calibration["shifts"]
        self.decision, self.percentiles = content.get("decision"), content["density_percentiles"]
        self.n, self.network = len(self.numbers), cache(self._network)

    @property
    def has_probability(self):
        return self.decision is None or self.decision["probability"]

    def class_number(self, label):
        return next((k for k, c in enumerate(self.labels) if type(c) is type(label) and c == label), None)

    def split(self, row):
        """A row as numbers and a state; None in the place of what is no value of its category."""
        state = []
        for j in self.categories:
            same = [
                v for v, known in enumerate(self.values[j]) if (type(known), known) == (type(row[j]), row[j])
            ]
            state.append(same[0] if same else None)
        return np.array([row[j] for j in self.numbers], dtype=float), tuple(state)

    def joined(self, of_numbers, of_categories):
        """A list by feature."""
        found = dict(zip(self.numbers, of_numbers, strict=True))
        found |= dict(zip(self.categories, of_categories, strict=True))
        return [found[j] for j in range(len(self.values))]

    def scaled(self, x):
        return np.array([bent(warp, float(v)) for warp, v in zip(self.warps, x, strict=True)])

    def unscaled(self, z):
        return np.array([straightened(warp, float(v)) for warp, v in zip(self.warps, z, strict=True)])

    def parents(self, j):
        """Of a feature: numbers and categories, each counted alone."""
        group = sorted(self.content["parents"][j])
        return ([self.numbers.index(i) for i in group if i in self.numbers],
                [self.categories.index(i) for i in group if i in self.categories])  # fmt: skip

    def _network(self, k, s):
        """The numbers of class k, given the categories."""
        said = self.content["networks"][k]
        if "cells" not in said:
            means = np.array(said["means"], dtype=float)
            return Network(np.array(said["weights"], float), np.tile(means, (self.n, 1)), means,
                           np.array(said["variances"], float))  # fmt: skip
        weights, at = np.zeros((2, self.n, self.n))
        means, variances = np.zeros((2, self.n))
        for i, cells in enumerate(said["cells"]):
            numbers, categories = self.parents(self.numbers[i])
            own = {key: reduce(lambda v, c: v[s[c]], categories, value) for key, value in cells.items()}
            weights[i, numbers], at[i, numbers] = own["weights"], own["at"]
            means[i], variances[i] = own["mean"], own["variance"]
        return Network(weights, at, means, variances)

    def chances(self, k, s):
        """Of each category's value given its parents, in class k."""
        said, found = self.content["networks"][k].get("tables", []), []
        for c, table in enumerate(said):
            places = [*self.parents(self.categories[c])[1], c]
            found.append(float(reduce(lambda v, i: v[s[i]], places, table)))
        return found

    def log_density(self, k, z, s):
        return self.network(k, s).log_density(z) + sum(np.log(self.chances(k, s)))

    def score(self, k, z, s):
        """The temperature times what the probabilities are made of."""
        if self.decision is None:
            prior = np.log(self.content["class_prior"][k]) + self.heat * self.shifts[k]
            return prior + self.log_density(k, z, s)
        said = self.decision["scores"][k]
        square = 0.0 if said["matrix"] is None else z @ np.array(said["matrix"]) @ z
        more = sum(table[v] for table, v in zip(said["tables"], s, strict=True))
        return said["constant"] + np.dot(said["linear"], z) + square + more

    def score_slope(self, k, z, s):
        if self.decision is None:
            return self.network(k, s).slope(z)
        said = self.decision["scores"][k]
        matrix = np.zeros((self.n, self.n)) if said["matrix"] is None else np.array(said["matrix"])
        return np.array(said["linear"]) + (matrix + matrix.T) @ z

    def scores(self, z, s):
        return np.array([self.score(k, z, s) for k in range(len(self.labels))])

    def probability(self, k, z, s):
        """None where the model has none."""
        scores = self.scores(z, s) / self.heat
        found = float(1 / np.sum(np.exp(np.clip(scores - scores[k], -700, 700))))
        return found if self.has_probability else None

    def margin(self, entry, z, s):
        """A requirement of this model."""
        own = self.class_number(entry["class" if entry["kind"] == "density" else "target"])
        if entry["kind"] == "density":
            return self.log_density(own, z, s) - entry["floor"]
        rival, scores = self.class_number(entry["rival"]), self.scores(z, s)
        if entry["kind"] == "decision":
            return float(scores[own] - scores[rival] - entry["value"])
        tau = entry["threshold"]
        return float(scores[own] - scores[rival] - self.heat * np.log(tau / (1 - tau)))

    def slope(self, entry, z, s):
        """The gradient of a requirement."""
        if entry["kind"] == "density":
            return self.network(self.class_number(entry["class"]), s).slope(z)
        own, rival = (self.class_number(entry[key]) for key in ("target", "rival"))
        return self.score_slope(own, z, s) - self.score_slope(rival, z, s)
