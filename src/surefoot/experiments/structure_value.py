"""What structure buys: prediction, plausibility and validity for naive Bayes, trees and sparse graphs.

The paper claims that structure makes counterfactuals more plausible and gives no number. Each structure's own
density cannot judge between structures, so plausibility and validity are also judged by a reference that
belongs to none of them: one full covariance for each class (quadratic discriminant analysis).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold, cross_validate
from sklearn.neighbors import NearestNeighbors

from surefoot.experiments.log import Log, Record
from surefoot.experiments.runs import explained
from surefoot.experiments.settings import SHAPES, STRUCTURES, classifier, data_set, factuals
from surefoot.explain.explainer import CounterfactualExplainer
from surefoot.explain.result.explanation import Explanation
from surefoot.model.classifier import ConditionalGaussianNetworkClassifier
from surefoot.model.dag import Dag

Array = NDArray[np.float64]

BUDGET = 0.05
PERTURBATIONS = 1000
NEIGHBOURS = 5
FOLDS = 5


def structure_value(data: str, structure: str, count: int) -> Record:
    """One line of the table: a data set, a structure, and so many factuals."""
    clf = classifier(data, structure)
    explainer = CounterfactualExplainer(clf, preset="paper", budget=BUDGET)
    asked = [explained(explainer, data, factual) for factual in factuals(data, structure, count)]
    found = [e for e in asked if e.counterfactual is not None]
    points = np.array([e.counterfactual for e in found])
    judge = _reference(data)
    kept = [_kept(explainer, judge, e) for e in found]
    return {
        "data": data,
        "structure": structure,
        "edges": clf.dag_.n_edges,
        **_prediction(data, structure),
        "factuals": len(found),
        "density percentile, own model (median)": _round([e.density_percentile for e in found], 1),
        "density percentile, full covariance (median)": _round(_percentiles(judge, points), 1),
        "distance to 5 nearest target rows, times theirs (median)": _round(_neighbour_ratio(data, points), 2),
        "valid under 1,000 perturbations, own model (%)": f"{100 * np.mean([k[0] for k in kept]):.2f}",
        "the same, judged by full covariance (%)": f"{100 * np.mean([k[1] for k in kept]):.2f}",
    }


def value_lines(count: int) -> list[tuple[str, str, int]]:
    """The arguments of every line of the table."""
    return [(data, structure, count) for data, shapes in SHAPES.items() for structure in shapes]


class ValueLog(Log):
    """The lines of the table so far."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, lambda record: tuple(record["asked"]))

    def missing(self, asked: list[tuple[str, str, int]]) -> list[tuple[str, str, int]]:
        """The lines that are still to be made."""
        there = self.latest()
        return [one for one in asked if one not in there]

    def lines(self) -> list[Record]:
        """One line for each data set and structure: the one with the most factuals."""
        by_count = sorted(self.records, key=lambda record: record["asked"][2])
        return list({tuple(record["asked"][:2]): record["line"] for record in by_count}.values())


def value_table(lines: list[Record]) -> pd.DataFrame:
    """The lines in the order of the paper's tables."""
    place = {(data, structure): k for k, (data, structure, _) in enumerate(value_lines(0))}
    ordered: list[Record] = sorted(lines, key=lambda line: place[line["data"], line["structure"]])
    return pd.DataFrame(ordered)


def _prediction(data: str, structure: str) -> dict[str, str]:
    """Held-out accuracy and log loss; the graph is learned anew in every fold."""
    rows = data_set(data)
    scores = cross_validate(
        ConditionalGaussianNetworkClassifier(**STRUCTURES[structure]),
        rows.X,
        rows.y,
        cv=StratifiedKFold(FOLDS, shuffle=True, random_state=0),
        scoring=("accuracy", "neg_log_loss"),
    )
    return {
        "held-out accuracy (%)": f"{100 * scores['test_accuracy'].mean():.1f}",
        "held-out log loss": f"{-scores['test_neg_log_loss'].mean():.3f}",
    }


def _reference(data: str) -> ConditionalGaussianNetworkClassifier:
    rows = data_set(data)
    complete = Dag(tuple(tuple(range(i)) for i in range(rows.X.shape[1])))
    return ConditionalGaussianNetworkClassifier(complete).fit(rows.X, rows.y)


def _percentiles(judge: ConditionalGaussianNetworkClassifier, points: Array) -> Array:
    density = judge.network(judge.classes_[1]).log_density(points)
    return np.asarray(np.interp(density, judge.density_percentiles_[1], np.arange(101.0)))


def _neighbour_ratio(data: str, points: Array) -> Array:
    """Mean distance to the nearest rows of the target class, in units of what is usual among these.

    Distances are Euclidean after each feature is divided by its standard deviation.
    """
    rows = data_set(data)
    scale = rows.X.std().to_numpy()
    own = rows.X[rows.y == 1].to_numpy() / scale
    nearest = NearestNeighbors(n_neighbors=NEIGHBOURS).fit(own)
    usual = np.median(nearest.kneighbors(n_neighbors=NEIGHBOURS)[0].mean(axis=1))
    return np.asarray(nearest.kneighbors(points / scale)[0].mean(axis=1) / usual)


def _kept(
    explainer: CounterfactualExplainer, judge: ConditionalGaussianNetworkClassifier, e: Explanation
) -> tuple[float, float]:
    """Share of random perturbations that keep the target, by the explained model and by the reference."""
    x = np.asarray(e.counterfactual, dtype=float)
    problem = explainer.problem(e.factual.to_numpy(), e.target)
    tried = x + problem.ball.sample(PERTURBATIONS, 0)
    names = list(e.factual.index)
    frame = pd.DataFrame(tried, columns=names)
    own = float(np.mean(explainer.classifier.predict(frame) == e.target))
    return own, float(np.mean(judge.predict(frame) == e.target))


def _round(values: Any, digits: int) -> str:
    return f"{np.median(values):.{digits}f}" if len(values) else "-"
