"""CounterfactualExplainer: from a fitted classifier and a row to an Explanation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from numbers import Integral, Real
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from surefoot.exceptions import NoCounterfactualError, ProblemError
from surefoot.explain.answering import Question, answer, answers, failed
from surefoot.explain.assembly import assembled, class_position, refused
from surefoot.explain.explanation import Explanation
from surefoot.explain.explanations import Explanations
from surefoot.explain.methods import GAPS, Found, Settings
from surefoot.explain.rows import raw_values, row_label, row_values, split_rows
from surefoot.model.adoption import adopt
from surefoot.model.classifier import ConditionalGaussianNetworkClassifier
from surefoot.search.paper.backends import choose_backend
from surefoot.search.paper.program import Options
from surefoot.status import Status
from surefoot.threads import one_blas_thread
from surefoot.waist.geometry import Whitening, WhiteningKind
from surefoot.waist.problem import DATA, Constraints, RobustProblem, checked_question
from surefoot.waist.quadratic import Quadratic

Array = NDArray[np.float64]
SMALLEST_GAP = 1e-6
Method = Literal["certified", "qcqp", "milp"]


class _Asked(NamedTuple):
    """A row about which something can be asked."""

    label: Any
    target: Any
    question: Question


class CounterfactualExplainer:
    """Finds the smallest robust change that turns a decision around.

    Parameters
    ----------
    classifier : fitted classifier
        A `ConditionalGaussianNetworkClassifier`, or scikit-learn's ``GaussianNB``,
        ``QuadraticDiscriminantAnalysis`` or ``LinearDiscriminantAnalysis`` (each is such a network, see
        `surefoot.adopt`), also as the last step of a pipeline behind scalers. What is explained is
        ``explainer.classifier``, always a `ConditionalGaussianNetworkClassifier` in the original units.
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
        ``"data"``: the counterfactual stays within the range of each feature seen by ``fit`` (widened only
        where the factual itself lies outside of it). ``None``: the whole space, the paper's setting. A
        dict of feature -> (low, high), whose ends may be None, or ``"data"``; the features that it does
        not name are free.
    immutable, increasing, decreasing : lists of features
        What may not change, only rise, only fall.
    data : pair (X, y), optional
        The training data of a scikit-learn classifier, which keeps neither the range of its features nor
        always its covariance. Without it ``bounds="data"`` means three standard deviations around the
        class means.
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

    Examples
    --------
    >>> from surefoot import ConditionalGaussianNetworkClassifier, CounterfactualExplainer, datasets
    >>> bank = datasets.load_banknote()
    >>> clf = ConditionalGaussianNetworkClassifier(structure="tan").fit(bank.X, bank.y)
    >>> explainer = CounterfactualExplainer(clf, budget=0.05, immutable=["entropy"])
    >>> e = explainer.explain(bank.X.iloc[0], target=1)
    >>> e.counterfactual["entropy"] == e.factual["entropy"], e.coverage
    (np.True_, 1.0)
    """

    def __init__(
        self,
        classifier: Any,
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
        data: Any = None,
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
        if not (
            isinstance(bounds, Mapping) or bounds is None or (isinstance(bounds, str) and bounds == DATA)
        ):
            raise ProblemError(f"bounds must be 'data', None or a dict, not {bounds!r}")
        _check_numbers(tol=tol, max_iterations=max_iterations, n_segments=n_segments, contraction=contraction)
        if method == "certified" and gap is not None and isinstance(gap, Real) and 0 <= gap < SMALLEST_GAP:
            raise ProblemError(f"the certified method proves gaps down to {SMALLEST_GAP:g}, not {gap!r}")
        self.classifier: ConditionalGaussianNetworkClassifier = adopt(classifier, data)
        checked_question(norm, budget, threshold, whitening)
        self.budget, self.norm, self.threshold = budget, norm, threshold
        self.method, self.backend, self.whitening = method, backend, whitening
        self.bounds = bounds
        self.immutable, self.increasing, self.decreasing = (
            _listed(what, features)
            for what, features in (
                ("immutable", immutable),
                ("increasing", increasing),
                ("decreasing", decreasing),
            )
        )
        self.tol, self.n_segments, self.contraction = tol, n_segments, contraction
        self.max_iterations = max_iterations
        self.options = Options(
            time_limit=time_limit,
            gap=GAPS[method] if gap is None else gap,
            threads=threads,
            verbose=verbose,
        )
        self._prepare()

    def __repr__(self) -> str:
        question = f"budget={self.budget:g}, norm={self.norm:g}, threshold={self.threshold:g}"
        return f"{type(self).__name__}({type(self.classifier).__name__}, {question}, method={self.method!r})"

    def explain(
        self, row: Any, target: Any = None, on_failure: Literal["raise", "return"] = "raise"
    ) -> Explanation:
        """Explain one row.

        Parameters
        ----------
        row : Series, dict or array
            The factual.
        target : label, optional
            The class it should have. With two classes it may be left out: the other one.
        on_failure : {"raise", "return"}
            Whether a search without a result raises `NoCounterfactualError` or returns an Explanation
            whose counterfactual is None.
        """
        if on_failure not in ("raise", "return"):
            raise ProblemError(f"on_failure must be 'raise' or 'return', not {on_failure!r}")
        with one_blas_thread():
            factual = row_values(row, self.classifier.feature_labels_)
            asked = self._asked(factual, target, row_label(row))
            found = answer(asked.question)
            explanation = self._explanation(asked, found)
        if found.point is None and on_failure == "raise":
            raise NoCounterfactualError(explanation)
        return explanation

    def explain_batch(
        self, rows: Any, target: Any = None, *, n_jobs: int | None = None, progress: bool = True
    ) -> Explanations:
        """Explain many rows; the explanations come in the order of the rows, one for each.

        A row that cannot be explained keeps its place: its explanation has no counterfactual, and status
        and message say why. An interrupt (Ctrl-C) keeps what is done; the rest has the status
        ``interrupted_no_point``.

        Parameters
        ----------
        rows : DataFrame, 2-D array or list of rows
        target : label, or a list, array or Series of labels, optional
            The class that all, or each, should have. With two classes it may be left out: the other one.
        n_jobs : int, optional
            Processes; -1 takes all cores. Any joblib backend does: inside ``joblib.parallel_config`` the
            work goes where that says (Dask, Ray, Spark).
        progress : bool, default=True
            Show a progress bar on stderr.

        Examples
        --------
        >>> from surefoot import ConditionalGaussianNetworkClassifier, CounterfactualExplainer, datasets
        >>> bank = datasets.load_banknote()
        >>> clf = ConditionalGaussianNetworkClassifier().fit(bank.X, bank.y)
        >>> es = CounterfactualExplainer(clf).explain_batch(bank.X.head(3), target=1, progress=False)
        >>> es.to_frame()[["status", "distance"]].round(3)
              status  distance
        row
        0    optimal     1.154
        1    optimal     1.406
        2    optimal     0.962
        """
        self._refresh()
        if n_jobs is not None and (not isinstance(n_jobs, Integral) or n_jobs == 0):
            raise ProblemError(f"n_jobs must be a whole number other than 0, or None, not {n_jobs!r}")
        if self.method != "certified":
            choose_backend(self.method, self.backend)  # a missing solver is one error, not one for each row
        labels, single = split_rows(rows, self.classifier.feature_labels_)
        targets = self._targets(target, rows, len(single))
        entries = [self._asked_or_refused(*parts) for parts in zip(single, targets, labels, strict=True)]
        with one_blas_thread():
            return self._explained(entries, n_jobs, progress)

    def problem(self, factual: Array, target: Any) -> RobustProblem:
        """The optimisation problem behind a question."""
        return self._asked(np.asarray(factual, dtype=float), target, None).question.problem

    def _prepare(self) -> None:
        """What rows share, until the classifier is fitted again."""
        clf = self.classifier
        self._networks = clf.networks_
        self._geometries: dict[tuple[int, Any], tuple[tuple[Quadratic, ...], Whitening]] = {}
        self._names = pd.Index(clf.feature_labels_, tupleize_cols=False)
        self._fingerprint = clf.fingerprint_
        self._constraints = Constraints.by_name(
            clf.feature_labels_,
            bounds=self.bounds,
            observed_range=clf.feature_range_,
            immutable=self.immutable,
            increasing=self.increasing,
            decreasing=self.decreasing,
        )

    def _refresh(self) -> None:
        """Look again at a classifier that was fitted anew."""
        if self._networks is not self.classifier.networks_:
            self._prepare()

    def _asked(self, factual: Array, target: Any, label: Any) -> _Asked:
        """The question about a checked row."""
        self._refresh()
        factual_class = class_position(self.classifier, factual)
        target = self._target(target, factual_class)
        margins, whitening = self._geometry(factual_class, target)
        problem = RobustProblem(
            factual=factual,
            margins=margins,
            whitening=whitening,
            norm=self.norm,
            budget=self.budget,
            threshold=self.threshold,
            domain=self._constraints.domain(factual),
        )
        question = Question(problem, self._constraints, self.method, self._settings())
        return _Asked(label, target, question)

    def _asked_or_refused(self, row: Any, target: Any, label: Any) -> _Asked | Explanation:
        """A row of a batch with its question, or word of why none can be asked."""
        try:
            return self._asked(row_values(row, self.classifier.feature_labels_), target, label)
        except ProblemError as error:
            return self._refusal(row, target, label, str(error))

    def _explained(
        self, entries: list[_Asked | Explanation], n_jobs: int | None, progress: bool
    ) -> Explanations:
        """Explanations as the answers come; after an interrupt, word of it in the place of the rest."""
        from tqdm.auto import tqdm

        asked = {k: entry for k, entry in enumerate(entries) if isinstance(entry, _Asked)}
        done = {k: entry for k, entry in enumerate(entries) if isinstance(entry, Explanation)}
        questions = [(k, entry.question) for k, entry in asked.items()]
        bar = tqdm(total=len(entries), initial=len(done), desc="explaining", unit="row", disable=not progress)
        with bar, suppress(KeyboardInterrupt), answers(questions, n_jobs) as stream:
            for k, found in stream:
                done[k] = self._explanation(asked[k], found)
                bar.update()
                if found.status.with_point is Status.INTERRUPTED:  # the search that ran took the signal
                    break
        stopped = failed(Status.INTERRUPTED_NO_POINT, "")
        done |= {k: self._explanation(asked[k], stopped) for k in asked.keys() - done.keys()}
        return Explanations(done[k] for k in range(len(entries)))

    def _target(self, target: Any, factual_class: int) -> Any:
        labels = self.classifier.classes_.tolist()
        if target is None and len(labels) == 2:
            return labels[1 - factual_class]
        if target is None:
            raise ProblemError(f"with more than two classes a target is needed; the classes are {labels}")
        found = [label for label in labels if np.ndim(target) == 0 and _same(label, target)]
        if not found:
            raise ProblemError(f"unknown target {target!r}; the classes are {labels}")
        return found[0]

    def _targets(self, target: Any, rows: Any, n_rows: int) -> list[Any]:
        """One target for each row; labels that do not exist are refused before anything is searched."""
        if (
            isinstance(target, pd.Series)
            and isinstance(rows, pd.DataFrame)
            and not target.index.equals(rows.index)
        ):
            raise ProblemError("the targets have another index than the rows")
        each = isinstance(target, list | tuple | np.ndarray | pd.Series | pd.Index) and np.ndim(target) > 0
        targets = list(target) if each else [target] * n_rows
        if len(targets) != n_rows:
            raise ProblemError(f"there are {len(targets)} targets for {n_rows} rows")
        for wanted in targets if each else [target]:
            self._target(wanted, 0)
        return targets

    def _geometry(self, factual_class: int, target: Any) -> tuple[tuple[Quadratic, ...], Whitening]:
        """Margins and whitening, which rows of one class share."""
        clf = self.classifier
        key = (factual_class, target)
        if key not in self._geometries:
            rivals = [label for label in clf.classes_.tolist() if label != target]
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

    def _explanation(self, asked: _Asked, found: Found) -> Explanation:
        return assembled(
            self.classifier,
            asked.question.problem,
            asked.target,
            found,
            names=self._names,
            tol=self.tol,
            method=self.method,
            model=self._fingerprint,
            row=asked.label,
        )

    def _refusal(self, row: Any, target: Any, label: Any, reason: str) -> Explanation:
        names = self.classifier.feature_labels_
        try:
            values = raw_values(row, names)
        except ProblemError:  # not even the right number of values
            values = [np.nan] * len(names)
        return refused(
            self.classifier,
            values,
            failed(Status.REFUSED, reason),
            names=self._names,
            target=target,
            budget=float(self.budget),
            norm=float(self.norm),
            whitening=self.whitening,
            threshold=float(self.threshold),
            method=self.method,
            model=self._fingerprint,
            row=label,
        )


def _same(label: Any, target: Any) -> bool:
    """Whether two labels are equal; a missing one is equal to none."""
    return target is not pd.NA and bool(label == target)


def _listed(what: str, features: Any) -> Any:
    if isinstance(features, str):
        raise ProblemError(f"{what} must be a list of features, not {features!r}")
    try:
        return tuple(features)
    except TypeError:
        raise ProblemError(f"{what} must be a list of features, not {features!r}") from None


def _check_numbers(**values: Any) -> None:
    for name, value in values.items():
        whole = name in ("max_iterations", "n_segments")
        if (
            not isinstance(value, Integral if whole else Real)
            or isinstance(value, bool)
            or not float(value) > 0
        ):
            raise ProblemError(f"{name} must be a positive {'whole ' if whole else ''}number, not {value!r}")
    if not values["contraction"] < 1:
        raise ProblemError(f"contraction must lie between 0 and 1, not {values['contraction']!r}")
