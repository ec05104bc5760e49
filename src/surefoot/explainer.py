"""CounterfactualExplainer: from a fitted classifier and a row to an Explanation."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from numbers import Real
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import logsumexp
from sklearn.utils.validation import check_is_fitted

from surefoot.certify import coverage
from surefoot.classifier import ConditionalGaussianNetworkClassifier
from surefoot.exceptions import NoCounterfactualError, ProblemError
from surefoot.explanation import Explanation, IterationRecord
from surefoot.geometry import Whitening, WhiteningKind
from surefoot.methods import GAPS, Found, Settings, at_factual, search
from surefoot.problem import Domain, RobustProblem, domain_around
from surefoot.quadratic import Quadratic
from surefoot.search.cutting_set import Iteration
from surefoot.search.program import Options

Array = NDArray[np.float64]
SMALLEST_GAP = 1e-6
Method = Literal["certified", "qcqp", "milp"]


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
    method : {"certified", "qcqp", "milp"}, default="certified"
        The certified search (a global optimum with a proof, no solver to install), the paper's nonconvex
        QCQP or its piecewise McCormick MILP.
    backend : {"scip", "gurobi", "highs"}, optional
        For the paper's methods. Default: the best open-source solver that is installed.
    whitening : {"cholesky", "dag", "zca"}, default="cholesky"
    bounds : "data", None or dict, default="data"
        ``"data"``: the range seen by ``fit``, widened to hold the factual. ``None``: the whole space, the
        paper's setting. A dict of feature -> (low, high); ends that are missing or None are open.
    immutable, increasing, decreasing : lists of features
        What may not change, only rise, only fall.
    time_limit : float, default=3600
        Seconds for one explanation.
    gap : float, optional
        Relative gap between distance and proven bound: 0.001 for ``"certified"``; for the paper's methods
        0.01, as there, in every solve.
    tol : float, default=0.001
        The paper's epsilon, for its methods: largest violation accepted at the end. Lowered by itself
        where it would cost more than a hundredth of the ball.
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
        method: Method = "certified",
        backend: str | None = None,
        whitening: WhiteningKind = "cholesky",
        bounds: Any = "data",
        immutable: Iterable[Any] = (),
        increasing: Iterable[Any] = (),
        decreasing: Iterable[Any] = (),
        time_limit: float = 3600.0,
        gap: float | None = None,
        tol: float = 1e-3,
        n_segments: int = 20,
        contraction: float = 0.5,
        max_iterations: int = 200,
        threads: int = 0,
        verbose: bool = False,
    ) -> None:
        if method not in GAPS:
            raise ProblemError(f"method must be one of {', '.join(map(repr, GAPS))}, not {method!r}")
        if method == "certified" and backend is not None:
            raise ProblemError(f"the certified method needs no backend; {backend!r} is for 'qcqp' or 'milp'")
        if not (isinstance(bounds, Mapping) or bounds is None or bounds == "data"):
            raise ProblemError(f"bounds must be 'data', None or a dict, not {bounds!r}")
        for name, value in (("tol", tol), ("max_iterations", max_iterations)):
            if not isinstance(value, Real) or not value > 0:
                raise ProblemError(f"{name} must be a positive number, not {value!r}")
        if method == "certified" and gap is not None and isinstance(gap, Real) and 0 <= gap < SMALLEST_GAP:
            raise ProblemError(f"the certified method proves gaps down to {SMALLEST_GAP:g}, not {gap!r}")
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
        self.options = Options(
            time_limit=time_limit,
            gap=GAPS[method] if gap is None else gap,
            threads=threads,
            verbose=verbose,
        )
        self._names = pd.Index(classifier.feature_labels_, tupleize_cols=False)
        self._explained = classifier.networks_
        self._geometries: dict[tuple[int, Any], tuple[tuple[Quadratic, ...], Whitening]] = {}

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
            found = at_factual(problem)
        else:
            found = search(self.method, problem, self._settings())
        explanation = self._explanation(problem, target, found, start)
        if found.point is None and on_failure == "raise":
            raise NoCounterfactualError(explanation)
        return explanation

    def problem(self, factual: Array, target: Any) -> RobustProblem:
        """The optimisation problem behind a question."""
        margins, whitening = self._geometry(self._factual_class(factual), target)
        return RobustProblem(
            factual=factual,
            margins=margins,
            whitening=whitening,
            norm=self.norm,
            budget=self.budget,
            threshold=self.threshold,
            domain=self._domain(factual),
        )

    def _geometry(self, factual_class: int, target: Any) -> tuple[tuple[Quadratic, ...], Whitening]:
        """Margins and whitening, which rows of one class share (until the classifier is fitted again)."""
        clf = self.classifier
        rivals = [label for label in clf.classes_.tolist() if label != target]
        if len(rivals) == len(clf.classes_):
            raise ProblemError(f"unknown target {target!r}; the classes are {clf.classes_.tolist()}")
        if self._explained is not clf.networks_:
            self._explained = clf.networks_
            self._geometries.clear()
        key = (factual_class, target)
        if key not in self._geometries:
            margins = tuple(clf.decision_quadratic(target, rival) for rival in rivals)
            self._geometries[key] = margins, clf.networks_[factual_class].whitening(self.whitening)
        return self._geometries[key]

    def _settings(self) -> Settings:
        low, high = self.classifier.feature_percentiles_
        return Settings(
            self.options,
            self.backend,
            self.tol,
            self.n_segments,
            self.contraction,
            self.max_iterations,
            (low, high),
        )

    def _explanation(self, problem: RobustProblem, target: Any, found: Found, start: float) -> Explanation:
        names = self._names
        point, worst = found.point, found.worst
        worst_point = None if point is None or worst is None else point + worst.perturbation
        distance = np.inf if point is None else problem.distance(point)
        bound = min(found.lower_bound, distance)
        violation = np.inf if worst is None else worst.violation
        factual_class = self.classifier.classes_.tolist()[self._factual_class(problem.factual)]
        before, after, at_worst = self._probabilities([problem.factual, point, worst_point], target)
        return Explanation(
            status=found.status,
            message=found.status.sentence + (f" ({found.message})" if found.message else ""),
            factual=pd.Series(problem.factual, names),
            counterfactual=None if point is None else pd.Series(point, names),
            factual_class=factual_class,
            target=target,
            factual_probability=before,
            probability=after,
            worst_probability=at_worst,
            distance=distance,
            lower_bound=bound,
            gap=_gap(distance, bound),
            budget=float(problem.budget),
            norm=problem.norm,
            whitening=problem.whitening.kind,
            threshold=float(problem.threshold),
            certified_radius=found.radius,
            coverage=0.0 if point is None else coverage(found.radius, problem.budget),
            violation=violation,
            early_stop=bool(distance > 0 and 0 < violation <= self.tol),
            unit=pd.Series(problem.unit, names),
            low=pd.Series(problem.domain.low, names),
            high=pd.Series(problem.domain.high, names),
            iterations=tuple(_record(r) for r in found.rounds),
            seconds=time.perf_counter() - start,
            method=self.method,
            backend=found.backend,
            model=self.classifier.fingerprint_,
            certificate=found.certificate,
        )

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
        numbers = _numbers(values)
        for name, number, value in zip(names, numbers, values, strict=True):
            if not np.isfinite(number):
                raise ProblemError(f"the row's value of {name!r} is not a finite number: {_shown(value)}")
        return numbers

    def _factual_class(self, factual: Array) -> int:
        return int(np.argmax(self._joint(factual[None])[0]))

    def _probabilities(self, points: list[Array | None], target: Any) -> list[float]:
        """P(target) at each point, not a number where there is none."""
        given = [p for p in points if p is not None]
        joint = self._joint(np.array(given))
        column = self.classifier.classes_.tolist().index(target)
        shares = np.exp(joint[:, column] - logsumexp(joint, axis=1)).tolist()
        return [np.nan if p is None else shares.pop(0) for p in points]

    def _joint(self, points: Array) -> Array:
        """Joint log densities of checked rows; scikit-learn's validation costs more than the search."""
        clf = self.classifier
        return np.column_stack([network.log_density(points) for network in clf.networks_]) + np.log(
            clf.class_prior_
        )

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


def _numbers(values: list[Any]) -> Array:
    """The values as numbers, not a number where they are none."""
    if all(type(value) in (float, int, np.float64) for value in values):
        return np.array(values, dtype=float)  # the common case; pandas' reader costs as much as a search
    return pd.to_numeric(pd.Series(values, dtype=object), errors="coerce").to_numpy(dtype=float)


def _gap(distance: float, bound: float) -> float:
    if distance == 0:
        return 0.0
    return (distance - bound) / distance if distance < np.inf else np.inf


def _record(r: Iteration) -> IterationRecord:
    perturbation = None if r.perturbation is None else tuple(float(v) for v in r.perturbation)
    return IterationRecord(
        r.distance, r.lower_bound, r.violation, perturbation, r.master_seconds, r.adversary_seconds
    )


def _shown(value: Any) -> str:
    return repr(value.item() if isinstance(value, np.generic) else value)
