"""What is measured about a counterfactual, whoever made it."""

import numpy as np
from setting import TARGET
from sklearn.neighbors import NearestNeighbors

from surefoot import CounterfactualExplainer
from surefoot.proof.worst_case import worst_perturbation

GAMMA = 0.05
SAMPLES = 1000
NEIGHBOURS = 5
CHANGED = 0.005  # standard deviations


class Ruler:
    """Measures points of one case; the certified optimum of each row is computed once."""

    def __init__(self, case):
        self.case = case
        data = (case.X, case.y)
        self.plain = CounterfactualExplainer(case.model, preset="paper", bounds="data", data=data)
        self.robust = CounterfactualExplainer(
            case.model, preset="paper", bounds="data", data=data, budget=GAMMA
        )
        self.unit = case.X.to_numpy().std(axis=0)
        target_rows = case.X.to_numpy()[case.y.to_numpy() == TARGET] / self.unit
        self.neighbours = NearestNeighbors(n_neighbors=NEIGHBOURS).fit(target_rows)
        self._bounds = {}

    def measured(self, row, answer):
        point, factual = answer.point, self.case.factual(row)
        problem = self.robust.problem(factual.to_numpy(), TARGET)
        change = (point - factual.to_numpy()) / self.unit
        worst = worst_perturbation(problem, point)
        excess = problem.distance(point) / self._bound(row) - 1
        return {
            "valid": self._share(point[None]) == 1,
            "kept": self._share(point + problem.ball.sample(SAMPLES, row)),
            "robust": worst.violation_bound <= 0,
            "worst_violation": worst.violation,
            "in_range": problem.domain.contains(point),
            "distance": problem.distance(point),
            "gap": excess if answer.gap is None else answer.gap,
            "excess": excess,
            "percentile": self._percentile(point),
            "neighbours": float(self.neighbours.kneighbors(point[None] / self.unit)[0].mean()),
            "l2": float(np.linalg.norm(change)),
            "l1": float(np.abs(change).sum()),
            "changed": int((np.abs(change) > CHANGED).sum()),
        }

    def _bound(self, row):
        """Nothing nearer than this reaches the target, within the range of the data and with budget 0."""
        if row not in self._bounds:
            self._bounds[row] = self.plain.explain(self.case.factual(row), TARGET).lower_bound
        return self._bounds[row]

    def _share(self, points):
        """How many of the points the classifier itself, not surefoot's copy of it, gives the target."""
        frame = type(self.case.X)(points, columns=self.case.X.columns)
        return float((self.case.model.predict(frame) == TARGET).mean())

    def _percentile(self, point):
        clf = self.plain.classifier
        t = clf.classes_.tolist().index(TARGET)
        density = clf.networks_[t].log_density(point[None])[0]
        return float(np.interp(density, clf.density_percentiles_[t], np.arange(101.0)))
