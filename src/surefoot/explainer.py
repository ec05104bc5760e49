"""CounterfactualExplainer: from a fitted classifier and a row to an Explanation."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from numbers import Real
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from surefoot.certify import Worst, certified_radius, coverage, worst_perturbation
from surefoot.classifier import ConditionalGaussianNetworkClassifier
from surefoot.exceptions import NoCounterfactualError, ProblemError
from surefoot.explanation import Explanation, IterationRecord
from surefoot.geometry import WhiteningKind, dual_exponent, lp_norm
from surefoot.problem import Domain, RobustProblem, domain_around
from surefoot.search.backends import choose_backend
from surefoot.search.cutting_set import Iteration, cutting_set
from surefoot.search.formulations import MilpFormulation, QcqpFormulation
from surefoot.search.formulations.formulation import Formulation
from surefoot.search.program import Options
from surefoot.search.rays import ray_point
from surefoot.status import Status

Array = NDArray[np.float64]

KINDS = {"qcqp": "qcqp", "milp": "milp"}
NO_POINT = {
    Status.TIME_LIMIT: Status.TIME_LIMIT_NO_POINT,
    Status.INTERRUPTED: Status.INTERRUPTED_NO_POINT,
    Status.ITERATION_LIMIT: Status.FAILED,
}
CUT_SHORT = {
    Status.TIME_LIMIT_NO_POINT: Status.TIME_LIMIT,
    Status.INTERRUPTED_NO_POINT: Status.INTERRUPTED,
}


class CounterfactualExplainer:
    """Finds the smallest robust change that turns a decision around.

    Parameters
    ----------
    classifier : ConditionalGaussianNetworkClassifier
        Fitted.
    budget : float, default=0.0
        The paper's gamma: how far, in the norm, the change may be carried out off the mark.
    norm : {inf, 2, 1}, default=inf
    threshold : float, default=0.5
        P(target) that must be reached; with more than two classes, against each rival by itself.
    method : {"qcqp", "milp"}, default="qcqp"
        The paper's nonconvex QCQP or its piecewise McCormick MILP.
    backend : {"scip", "gurobi", "highs"}, optional
        Default: the best open-source solver that is installed.
    whitening : {"cholesky", "dag", "zca"}, default="cholesky"
    bounds : "data", None or dict, default="data"
        ``"data"``: the range seen by ``fit``, widened to hold the factual. ``None``: the whole space, the
        paper's setting. A dict of feature -> (low, high); ends that are missing or None are open.
    immutable, increasing, decreasing : lists of features
        What may not change, only rise, only fall.
    time_limit : float, default=3600
        Seconds for one explanation.
    gap : float, default=0.01
        Relative gap of every solve.
    tol : float, default=0.001
        The paper's epsilon: largest violation accepted at the end. Lowered by itself where it would
        cost more than a hundredth of the ball.
    n_segments, contraction : int, float
        The paper's m and nu, for ``"milp"``.
    max_iterations : int, default=200
    threads : int, default=0
        0 leaves the choice to the solver.
    verbose : bool, default=False
        Show the solver's log.
    """

    def __init__(
        self,
        classifier: ConditionalGaussianNetworkClassifier,
        *,
        budget: float = 0.0,
        norm: float = np.inf,
        threshold: float = 0.5,
        method: Literal["qcqp", "milp"] = "qcqp",
        backend: str | None = None,
        whitening: WhiteningKind = "cholesky",
        bounds: Any = "data",
        immutable: Iterable[Any] = (),
        increasing: Iterable[Any] = (),
        decreasing: Iterable[Any] = (),
        time_limit: float = 3600.0,
        gap: float = 0.01,
        tol: float = 1e-3,
        n_segments: int = 20,
        contraction: float = 0.5,
        max_iterations: int = 200,
        threads: int = 0,
        verbose: bool = False,
    ) -> None:
        if method not in KINDS:
            raise ProblemError(f"method must be one of {', '.join(map(repr, KINDS))}, not {method!r}")
        if not (isinstance(bounds, Mapping) or bounds is None or bounds == "data"):
            raise ProblemError(f"bounds must be 'data', None or a dict, not {bounds!r}")
        for name, value in (("tol", tol), ("max_iterations", max_iterations)):
            if not isinstance(value, Real) or not value > 0:
                raise ProblemError(f"{name} must be a positive number, not {value!r}")
        check_is_fitted(classifier)
        self.classifier = classifier
        self.budget, self.norm, self.threshold = budget, norm, threshold
        self.method, self.backend, self.whitening = method, backend, whitening
        self.bounds = bounds
        self.immutable, self.increasing, self.decreasing = (
            features if isinstance(features, str) else tuple(features)
            for features in (immutable, increasing, decreasing)
        )
        self.tol, self.n_segments, self.contraction = tol, n_segments, contraction
        self.max_iterations = max_iterations
        self.options = Options(time_limit=time_limit, gap=gap, threads=threads, verbose=verbose)

    def explain(self, row: Any, target: Any, on_failure: Literal["raise", "return"] = "raise") -> Explanation:
        """Explain one row.

        Parameters
        ----------
        row : Series, dict or array
            The factual.
        target : label
            The class it should have.
        on_failure : {"raise", "return"}
            Whether a search without a result raises `NoCounterfactualError` or returns an Explanation
            whose counterfactual is None.
        """
        start = time.perf_counter()
        factual = self._factual(row)
        problem = self.problem(factual, target)
        if problem.margin(problem.factual) >= 0 and problem.domain.contains(problem.factual):
            return self._explanation(problem, target, Status.ALREADY_TARGET, problem.factual, [], start, "")
        backend = choose_backend(KINDS[self.method], self.backend)
        rounds = self._search(problem, backend)
        status, final = self._result(problem, rounds)
        point = None if final is None else final.candidate
        explanation = self._explanation(problem, target, status, point, rounds, start, backend)
        if point is None and on_failure == "raise":
            raise NoCounterfactualError(explanation)
        return explanation

    def problem(self, factual: Array, target: Any) -> RobustProblem:
        """The optimisation problem behind a question."""
        clf = self.classifier
        rivals = [label for label in clf.classes_.tolist() if label != target]
        if len(rivals) == len(clf.classes_):
            raise ProblemError(f"unknown target {target!r}; the classes are {clf.classes_.tolist()}")
        return RobustProblem(
            factual=factual,
            margins=tuple(clf.decision_quadratic(target, rival) for rival in rivals),
            whitening=clf.networks_[self._factual_class(factual)].whitening(self.whitening),
            norm=self.norm,
            budget=self.budget,
            threshold=self.threshold,
            domain=self._domain(factual),
        )

    def _search(self, problem: RobustProblem, backend: str) -> list[Iteration]:
        """All rounds; an interrupt keeps those that are done."""
        rounds: list[Iteration] = []
        tol = self._tolerance(problem)
        loop = cutting_set(
            problem,
            self._formulation(problem, backend, tol),
            tol=tol,
            time_limit=self.options.time_limit,
            max_iterations=self.max_iterations,
        )
        try:
            rounds.extend(loop)
        except KeyboardInterrupt:
            ended = rounds[-1] if rounds else None
            bound = ended.lower_bound if ended else 0.0
            rounds.append(
                Iteration(len(rounds) + 1, Status.INTERRUPTED, None, np.inf, bound, None, np.inf, 0.0, 0.0)
            )
        return rounds

    def _tolerance(self, problem: RobustProblem) -> float:
        """The paper's epsilon, lowered where it would cost more than a hundredth of the ball.

        Across a small ball H changes little: with a budget of 0.01 a violation of 0.001 may be two per
        cent of that. Exact masters leave violations far below it anyway; relaxed ones use up what they get.
        """
        near = ray_point(problem, [np.zeros(problem.n_features)])
        point = problem.factual if near is None else near
        slopes = [H.gradient(point) @ problem.whitening.inverse for H in problem.margins]
        steepest = min(float(lp_norm(slope, dual_exponent(problem.norm))) for slope in slopes)
        change = problem.budget * steepest
        return min(self.tol, 0.01 * change) if change > 0 else self.tol

    def _formulation(self, problem: RobustProblem, backend: str, tol: float) -> Formulation:
        if self.method == "qcqp":
            return QcqpFormulation(problem, backend, self.options, tol)
        low, high = self.classifier.feature_percentiles_
        return MilpFormulation(
            problem, backend, self.options, low, high, self.n_segments, self.contraction, tol
        )

    def _result(self, problem: RobustProblem, rounds: list[Iteration]) -> tuple[Status, Iteration | None]:
        """The status and the round whose candidate is returned.

        A finished search returns its last candidate. One that was cut short returns the least violated
        candidate that does reach the target, if there is one: a point of a relaxation need not.
        """
        last = rounds[-1]
        status = last.status or Status.FAILED
        if status is Status.OPTIMAL:
            return status, last
        status = CUT_SHORT.get(status, status)
        if status not in NO_POINT:
            return status, None
        reached = [
            (worst_perturbation(problem, r.candidate).violation, r)
            for r in rounds
            if r.candidate is not None and problem.margin(r.candidate) >= -self.tol
        ]
        if not reached:
            return NO_POINT[status], None
        return status, min(reached, key=lambda pair: pair[0])[1]

    def _explanation(
        self,
        problem: RobustProblem,
        target: Any,
        status: Status,
        point: Array | None,
        rounds: list[Iteration],
        start: float,
        backend: str,
    ) -> Explanation:
        names = list(self.classifier.feature_labels_)
        # Whoever stopped the search does not want to wait for the last digit of a radius.
        patience = 10.0 if status in (Status.OPTIMAL, Status.ALREADY_TARGET) else 1.0
        worst, radius = self._certified(problem, point, patience)
        worst_point = None if point is None or worst is None else point + worst.perturbation
        distance = np.inf if point is None else problem.distance(point)
        bound = rounds[-1].lower_bound if rounds else 0.0
        bound = min(bound, distance)
        violation = np.inf if worst is None else worst.violation
        factual_class = self.classifier.classes_.tolist()[self._factual_class(problem.factual)]
        solver = rounds[-1].message if rounds and point is None else ""
        return Explanation(
            status=status,
            message=status.sentence + (f" ({solver})" if solver else ""),
            factual=pd.Series(problem.factual, names),
            counterfactual=None if point is None else pd.Series(point, names),
            factual_class=factual_class,
            target=target,
            factual_probability=self._probability(problem.factual, target),
            probability=np.nan if point is None else self._probability(point, target),
            worst_probability=np.nan if worst_point is None else self._probability(worst_point, target),
            distance=distance,
            lower_bound=bound,
            gap=(distance - bound) / distance
            if 0 < distance < np.inf
            else (0.0 if distance == 0 else np.inf),
            budget=float(problem.budget),
            norm=problem.norm,
            whitening=problem.whitening.kind,
            threshold=float(problem.threshold),
            certified_radius=radius,
            coverage=0.0 if point is None else coverage(radius, problem.budget),
            violation=violation,
            early_stop=bool(0 < violation <= self.tol),
            unit=pd.Series(problem.unit, names),
            iterations=tuple(_record(r) for r in rounds),
            seconds=time.perf_counter() - start,
            method=self.method,
            backend=backend,
        )

    def _certified(
        self, problem: RobustProblem, point: Array | None, time_limit: float
    ) -> tuple[Worst | None, float]:
        """Worst perturbation and certified radius; an interrupt leaves the point with nothing proven."""
        if point is None:
            return None, 0.0
        try:
            return worst_perturbation(problem, point), certified_radius(problem, point, time_limit=time_limit)
        except KeyboardInterrupt:
            return None, 0.0

    def _factual(self, row: Any) -> Array:
        """The row as an array in the classifier's order; complaints name the feature."""
        names = list(self.classifier.feature_labels_)
        if isinstance(row, pd.DataFrame):
            if len(row) != 1:
                raise ProblemError(f"explain takes one row, not {len(row)}")
            row = row.iloc[0]
        if isinstance(row, Mapping | pd.Series):
            missing = [name for name in names if name not in row]
            if missing:
                raise ProblemError(f"the row has no value for {missing[0]!r}")
            values = [row[name] for name in names]
        else:
            values = list(np.ravel(np.asarray(row, dtype=object)))
        if len(values) != len(names):
            raise ProblemError(f"the row has {len(values)} values, the classifier {len(names)} features")
        numbers = pd.to_numeric(pd.Series(values, dtype=object), errors="coerce").to_numpy(dtype=float)
        for name, number, value in zip(names, numbers, values, strict=True):
            if not np.isfinite(number):
                raise ProblemError(f"the row's value of {name!r} is not a finite number: {_shown(value)}")
        return numbers

    def _factual_class(self, factual: Array) -> int:
        return int(np.argmax(self.classifier.predict_joint_log_proba(self._table(factual))[0]))

    def _probability(self, x: Array, target: Any) -> float:
        column = self.classifier.classes_.tolist().index(target)
        return float(self.classifier.predict_proba(self._table(x))[0, column])

    def _table(self, x: Array) -> Any:
        names = getattr(self.classifier, "feature_names_in_", None)
        return x[None] if names is None else pd.DataFrame(x[None], columns=names)

    def _domain(self, factual: Array) -> Domain:
        bounds: Any = self.bounds
        if bounds == "data":
            low, high = self.classifier.feature_range_
            bounds = dict(
                zip(
                    self.classifier.feature_labels_,
                    zip(np.minimum(low, factual), np.maximum(high, factual), strict=True),
                    strict=True,
                )
            )
        return domain_around(
            factual,
            self.classifier.feature_labels_,
            bounds=bounds,
            immutable=self.immutable,
            increasing=self.increasing,
            decreasing=self.decreasing,
        )


def _record(r: Iteration) -> IterationRecord:
    perturbation = None if r.perturbation is None else tuple(float(v) for v in r.perturbation)
    return IterationRecord(
        r.distance, r.lower_bound, r.violation, perturbation, r.master_seconds, r.adversary_seconds
    )


def _shown(value: Any) -> str:
    return repr(value.item() if isinstance(value, np.generic) else value)
