"""CounterfactualExplainer: from a fitted classifier and a row to an Explanation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from numbers import Integral, Real
from os import PathLike
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from surefoot.exceptions import NoCounterfactualError, ProblemError, SurefootError
from surefoot.explain.answer.executor import answers, attempt, failed, unforeseen
from surefoot.explain.answer.methods import GAPS, Qcqp, Settings, as_method, chosen_method
from surefoot.explain.ask.differing import (
    NOTHING,
    Differing,
    check_differing,
    difference_words,
    differing_from,
)
from surefoot.explain.ask.imputation import Filled, filled
from surefoot.explain.ask.plausible import checked_plausible
from surefoot.explain.ask.question_builder import (
    EVEN,
    NO_MORE,
    Asked,
    Distance,
    NoiseOn,
    QuestionBuilder,
    Terms,
)
from surefoot.explain.ask.refits import refitted
from surefoot.explain.ask.row import encoded, raw_values, row_label, split_rows
from surefoot.explain.ask.target import each_target
from surefoot.explain.constraints.actions import Actions
from surefoot.explain.constraints.category import Category
from surefoot.explain.constraints.constraint_set import DATA, ConstraintSet
from surefoot.explain.constraints.dates import dates_stay
from surefoot.explain.progress import alive
from surefoot.explain.result.assembly import assembled, refused
from surefoot.explain.result.batch import Explanations
from surefoot.explain.result.explanation import Explanation
from surefoot.explain.result.trade_off import VALUES, TradeOff, trade_off
from surefoot.formats import sentence
from surefoot.model.adoption import adopt
from surefoot.model.classifier import ConditionalGaussianNetworkClassifier
from surefoot.plain import refuse_huge
from surefoot.problem.answer import Answer
from surefoot.problem.robust_problem import RobustProblem
from surefoot.search.certified.clock import Clock
from surefoot.search.paper.backends import choose_backend
from surefoot.search.paper.program import Options
from surefoot.status import Status
from surefoot.threads import one_blas_thread

Array = NDArray[np.float64]
SMALLEST_GAP = 1e-6
Method = Literal["certified", "qcqp", "milp"]


class CounterfactualExplainer:
    """Finds the smallest change that reverses a decision, even if it is carried out slightly wrong.

    Parameters
    ----------
    classifier : fitted classifier
        A `ConditionalGaussianNetworkClassifier`, or scikit-learn's ``GaussianNB``,
        ``QuadraticDiscriminantAnalysis`` or ``LinearDiscriminantAnalysis`` (each is such a network, see
        `surefoot.adopt`), also as the last step of a pipeline behind scalers. What is explained is
        ``explainer.classifier``, always a `ConditionalGaussianNetworkClassifier` in the original units.
    budget : float or dict, default=0.0
        How far the change may miss. A number is the paper's gamma: standard deviations in whitened
        coordinates, in the norm. A dict gives it by feature in the feature's own units, a number or a pair
        (down, up): ``{"income": 500, "weight": (1, 2)}``. Features that it does not name land exactly, and
        ``certified_radius`` and ``coverage`` are shares of that box.
    noise_on : {"changeable", "all"}, default="changeable"
        Which features may miss a budget that is a number: those that may change (what must not change is
        known exactly), or all.
    norm : {inf, 2, 1}, default=inf
    threshold : float, default=0.5
        P(target) that must be reached; with more than two classes, against each rival by itself.
    decision : float, default=0.0
        In the place of the threshold, for models without probabilities (``LinearSVC`` for instance): how far
        the decision value of the target must be above that of each rival.
    method : {"certified", "qcqp", "milp"}, `Qcqp` or `Milp`, default="certified"
        The certified search (a global optimum with a proof, no solver to install), the paper's nonconvex
        QCQP or its piecewise McCormick MILP; options of these are said with ``Qcqp(backend="scip")`` and
        ``Milp(n_segments=10)``.
    whitening : {"cholesky", "dag", "zca"}, array or DataFrame, default="cholesky"
        The coordinates in which changes and errors are measured. A matrix M of your own (not singular, a
        column for each number; of a DataFrame by name) means the distance ``||M (x - factual)||_p``.
    distance : {"mahalanobis", "cost"}, default="mahalanobis"
        How far a change is: the paper's, in whitened coordinates; or what it costs, each number's change in
        standard deviations of the factual's class times its price (``Action(cost=...)``, 1 by default):
        their sum for ``norm=1``, the largest for ``inf``. The prices of changed categories are added to
        both. Errors (``budget``) are measured in whitened coordinates all the same.
    bounds : "data", None or dict, default="data"
        ``"data"``: the counterfactual stays within the range of each feature seen by ``fit`` (widened only
        where the factual itself lies outside of it). ``None``: the whole space, the paper's setting. A
        dict of feature -> (low, high), whose ends may be None, or ``"data"``; the features that it does
        not name are free.
    immutable, increasing, decreasing : lists of features
        What must not change, may only rise, may only fall: short for the same words in ``actions``.
    actions : Actions or path, optional
        What may happen to each feature, and rules over several of them; or the path of a TOML file that says
        it (see `Actions.from_toml`).
    whole : False, optional
        By default numbers that were whole in every training row (``classifier.feature_kinds_``) stay whole.
        ``False`` lets them take any value, as the paper does. ``Action(whole=...)`` says it of one feature.
    impute : "expected", optional
        Fill holes in the factual with what the network expects given the rest, and say so. By default a row
        with a hole is refused by the name of the feature.
    plausible : float or ("conditional", k), optional
        A share: the answer, and the whole ball around it, is at least as typical of the target as this share
        of its training rows; proven. ``("conditional", k)``: no changed number is farther than k standard
        deviations from what its parents predict in the target class.
    models : int, `Refits` or list of fitted classifiers, optional
        The decision turns under each of them as well: so many refits to rows drawn with replacement from
        ``data``, structure learned anew (``Refits(50, data=(X, y))`` says both); or other models of the same
        features. ``explainer.refits.searched``
        keeps them, and ``explanation.model_share`` says how many fresh refits agree.
    random_state : int, default=0
        For the refits.
    data : pair (X, y), optional
        The training data of a scikit-learn classifier, which keeps neither the range of its features nor
        always its covariance. Without it ``bounds="data"`` means three standard deviations around the
        class means.
    time_limit : float, default=30
        Seconds for one call of `explain` or `alternatives`: question, search, diagnosis and what is said of
        the answer. Refits are fitted before that, when the explainer is made.
    gap : float, optional
        Relative gap between distance and proven bound: 0.001 for ``"certified"``; for the paper's methods
        0.01, as there, in every solve.
    **paper
        ``backend``, ``tol``, ``n_segments``, ``contraction``, ``max_iterations``, ``threads``, ``verbose``:
        options of the paper's methods by their old names. Say ``method=Qcqp(...)`` or ``method=Milp(...)``.

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
        budget: float | Mapping[Any, Any] = 0.0,
        noise_on: NoiseOn = "changeable",
        norm: float = np.inf,
        threshold: float = EVEN,
        decision: float = NO_MORE,
        method: Method | Qcqp = "certified",
        whitening: Any = "cholesky",
        distance: Distance = "mahalanobis",
        bounds: Any = "data",
        immutable: Iterable[Any] = (),
        increasing: Iterable[Any] = (),
        decreasing: Iterable[Any] = (),
        actions: Actions | str | PathLike[str] | None = None,
        whole: Literal[False] | None = None,
        impute: Literal["expected"] | None = None,
        plausible: Any = None,
        models: Any = None,
        random_state: int = 0,
        data: Any = None,
        time_limit: float = 30.0,
        gap: float | None = None,
        **paper: Any,
    ) -> None:
        given = {name: value for name, value in locals().items() if name not in ("self", "paper")}
        for name in ("budget", "threshold", "decision", "gap", "time_limit", "bounds", "plausible", "models"):
            refuse_huge(name, given[name], ProblemError)
        self.method, self.paper = chosen_method(method, paper)
        self._given = given | {"method": as_method(self.method, self.paper)}
        _check_gap(self.method, gap)
        actions = _checked_actions(bounds, actions)
        if whole is not None and whole is not False:
            raise ProblemError(f"whole must be None or False, not {whole!r}; see Action(whole=True)")
        if impute not in (None, "expected"):
            raise ProblemError(f"impute must be None or 'expected', not {impute!r}")
        self.classifier: ConditionalGaussianNetworkClassifier = adopt(classifier, data)
        likely = checked_plausible(plausible)
        self.terms = Terms(norm, whitening, threshold, budget, noise_on, decision, distance, likely).checked()
        self.plausible = plausible
        self.refits = refitted(classifier, self.classifier, models, data, random_state)
        self.budget, self.norm, self.threshold = budget, norm, threshold
        self.whitening, self.noise_on = whitening, noise_on
        self.distance = distance
        self.bounds, self.actions, self.whole, self.impute = bounds, actions, whole, impute
        self.immutable, self.increasing, self.decreasing = (
            _listed(what, features)
            for what, features in (
                ("immutable", immutable),
                ("increasing", increasing),
                ("decreasing", decreasing),
            )
        )
        self.options = Options(
            time_limit=time_limit,
            gap=GAPS[self.method] if gap is None else gap,
            threads=self.paper.threads,
            verbose=self.paper.verbose,
        )
        self._builder = self._new_builder()

    def __repr__(self) -> str:
        budget = self.budget if isinstance(self.budget, Mapping) else f"{self.budget:g}"
        question = f"budget={budget}, norm={self.norm:g}, threshold={self.threshold:g}"
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
            The class it should have. Left out: the one that the classifier says is wanted (``wanted_``); with
            two classes, the other one.
        on_failure : {"raise", "return"}
            Whether a search without a result raises `NoCounterfactualError` or returns an Explanation
            whose counterfactual is None.
        """
        if on_failure not in ("raise", "return"):
            raise ProblemError(f"on_failure must be 'raise' or 'return', not {on_failure!r}")
        clock = Clock(self.options.time_limit)
        with one_blas_thread(), alive():
            asked = self._asked(self._current_builder(), row, self._wanted(target), row_label(row))
            explanation = self._answered(asked, clock)
        if explanation.answer.point is None and on_failure == "raise":
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
        if n_jobs is not None and (not isinstance(n_jobs, Integral) or n_jobs == 0):
            raise ProblemError(f"n_jobs must be an integer other than 0, or None, not {n_jobs!r}")
        if self.method != "certified":
            # A missing solver is one error, not one for each row.
            choose_backend(self.method, self.paper.backend)
        builder, clf, target = self._current_builder(), self.classifier, self._wanted(target)
        labels, single = split_rows(rows, clf.feature_labels_)
        targets = each_target(target, rows, len(single), clf.classes_.tolist())
        entries = [
            self._asked_or_refused(builder, *parts) for parts in zip(single, targets, labels, strict=True)
        ]
        with one_blas_thread():
            return self._explained(entries, n_jobs, progress)

    def alternatives(
        self,
        row: Any,
        target: Any = None,
        n: int = 3,
        differ: Literal["features", "distance"] = "features",
        apart: float = 0.5,
    ) -> Explanations:
        """Several answers about one row, nearest first, each the proven best of those that differ so.

        Parameters
        ----------
        row, target
            As in `explain`.
        n : int, default=3
            How many at most; fewer come back where nothing else is allowed, or where ``time_limit``, which
            is for all of them together, ran out.
        differ : {"features", "distance"}
            By what they leave alone (each later answer keeps at least one feature that each earlier one
            changed), or by how far apart they are.
        apart : float, default=0.5
            For ``"distance"``: at least so far from each earlier one, in the Mahalanobis 2-norm of the
            factual's class, numbers only.

        Examples
        --------
        >>> from surefoot import ConditionalGaussianNetworkClassifier, CounterfactualExplainer, datasets
        >>> bank = datasets.load_banknote()
        >>> clf = ConditionalGaussianNetworkClassifier().fit(bank.X, bank.y)
        >>> explainer = CounterfactualExplainer(clf, norm=1)
        >>> [round(e.distance, 2) for e in explainer.alternatives(bank.X.iloc[0], target=1, n=2)]
        [2.66, 2.66]
        """
        check_differing(n, differ, apart)
        found: list[Explanation] = []
        clock = Clock(self.options.time_limit)
        with one_blas_thread(), alive():
            builder = self._current_builder()
            while len(found) < n and (clock.left > 0 or not found):
                differing = differing_from(found, differ, apart)
                asked = self._asked(builder, row, self._wanted(target), row_label(row), differing)
                explanation = self._answered(asked, clock)
                if explanation.counterfactual is None and found:
                    break
                if found:
                    words = difference_words(explanation, found, differ, apart)
                    explanation = replace(explanation, answer=replace(explanation.answer, advice=words))
                found.append(explanation)
                if explanation.counterfactual is None or explanation.distance == 0:
                    break
        return Explanations(found)

    def copy(self, **changes: Any) -> CounterfactualExplainer:
        """The same explainer with some of its arguments changed; refits that stay the same are kept."""
        given = {**self._given, **changes}
        if not changes.keys() & {"classifier", "models", "data", "random_state"}:
            given["models"] = self.refits
        return type(self)(**given)

    def trade_off(
        self,
        row: Any,
        target: Any = None,
        *,
        budget: Sequence[float] = VALUES["budget"],
        plausible: Sequence[float | None] = VALUES["plausible"],
        models: Sequence[int | None] = (),
    ) -> TradeOff:
        """What more safety costs one row: its distance against each of these, varied one at a time.

        Parameters
        ----------
        row, target
            As in `explain`.
        budget, plausible, models : sequences
            Values to ask for; an empty one leaves the thing out. ``models`` needs ``data``.

        Examples
        --------
        >>> from surefoot import ConditionalGaussianNetworkClassifier, CounterfactualExplainer, datasets
        >>> bank = datasets.load_banknote()
        >>> clf = ConditionalGaussianNetworkClassifier().fit(bank.X, bank.y)
        >>> found = CounterfactualExplainer(clf).trade_off(bank.X.iloc[0], 1, budget=(0, 0.1), plausible=())
        >>> found.table[["asked", "value", "distance"]].round(2)
            asked  value  distance
        0  budget    0.0      1.15
        1  budget    0.1      1.25
        """
        asked: dict[str, Sequence[Any]] = {"budget": budget, "plausible": plausible, "models": models}
        return trade_off(self, row, target, {name: values for name, values in asked.items() if len(values)})

    def problem(self, factual: Any, target: Any) -> RobustProblem:
        """The optimisation problem behind a question; with categories, that of the factual's."""
        return self._current_builder().asked(self._read(factual), target, None).problem.problem()

    @property
    def _bounded(self) -> list[Any]:
        """Features that have bounds of their own."""
        return list(self.bounds) if isinstance(self.bounds, Mapping) else []

    def _wanted(self, target: Any) -> Any:
        """The target, or the class that the classifier says is wanted."""
        return self.classifier.wanted_ if target is None else target

    def _read(self, row: Any) -> Filled:
        """A row as numbers and categories; its holes filled if that was asked for."""
        if self.impute is not None:
            return filled(row, self.classifier)
        return Filled(*encoded(row, self.classifier.schema_))

    def _current_builder(self) -> QuestionBuilder:
        """What asks; a classifier that was fitted anew is looked at again."""
        if self._builder.networks is not self.classifier.networks_:
            self._builder = self._new_builder()
        return self._builder

    def _new_builder(self) -> QuestionBuilder:
        clf = self.classifier
        schema = clf.schema_
        constraints = ConstraintSet.by_name(
            clf.feature_labels_,
            categories=[
                Category(j, schema.names[j], schema.values[j] or (), schema.ordered[j])
                for j in schema.categories
            ],
            whole=[j for j in schema.numbers if schema.dates[j] or (schema.whole[j] and self.whole is None)],
            actions=dates_stay(
                self.actions, schema, self.immutable, self.increasing, self.decreasing, self._bounded
            ),
            bounds=self.bounds,
            observed_range=clf.feature_range_,
            immutable=self.immutable,
            increasing=self.increasing,
            decreasing=self.decreasing,
        )
        return QuestionBuilder(clf, constraints, self.terms, self.method, self._settings(), self.refits)

    def _asked(
        self, builder: QuestionBuilder, row: Any, target: Any, label: Any, differing: Differing = NOTHING
    ) -> Asked:
        """The question about a row. What nobody expected is an error of ours, never one of numpy."""
        try:
            return builder.asked(self._read(row), target, label, differing)
        except SurefootError:
            raise
        except Exception as error:
            raise ProblemError(f"the question could not be asked: {unforeseen(error)}") from error

    def _answered(self, asked: Asked, clock: Clock) -> Explanation:
        """The explanation of one question within the time that is left for all of it."""
        found = self._explanation(asked, attempt(asked.inquiry.within(clock.left)), clock.left)
        return replace(found, answer=replace(found.answer, seconds=clock.spent))

    def _asked_or_refused(
        self, builder: QuestionBuilder, row: Any, target: Any, label: Any
    ) -> Asked | Explanation:
        """A row of a batch with its question, or word of why none can be asked."""
        names = self.classifier.feature_labels_
        try:
            return self._asked(builder, row, target, label)
        except ProblemError as error:
            found = Answer(Status.REFUSED, advice=sentence(str(error)))
        try:
            values = raw_values(row, names)
        except Exception:  # not even the right number of values, or nothing that can be read
            values = [np.nan] * len(names)
        return refused(self.classifier, builder.refusal(values, target), found, **self._known(label))

    def _explained(
        self, entries: list[Asked | Explanation], n_jobs: int | None, progress: bool
    ) -> Explanations:
        """Explanations as the answers come; after an interrupt, word of it in the place of the rest."""
        from tqdm.auto import tqdm

        asked = {k: entry for k, entry in enumerate(entries) if isinstance(entry, Asked)}
        done = {k: entry for k, entry in enumerate(entries) if isinstance(entry, Explanation)}
        work = [(k, entry.inquiry) for k, entry in asked.items()]
        bar = tqdm(total=len(entries), initial=len(done), desc="explaining", unit="row", disable=not progress)
        with bar, suppress(KeyboardInterrupt), answers(work, n_jobs) as stream:
            for k, found in stream:
                done[k] = self._explanation(asked[k], found)
                bar.update()
                if found.status.with_point is Status.INTERRUPTED:  # the search that ran took the signal
                    break
        for k in asked.keys() - done.keys():
            stopped = failed(Status.INTERRUPTED_NO_POINT, asked[k].problem)
            done[k] = self._explanation(asked[k], stopped)
        return Explanations(done[k] for k in range(len(entries)))

    def _settings(self) -> Settings:
        low, high = self.classifier.feature_percentiles_[:, list(self.classifier.schema_.numbers)]
        return Settings(self.options, self.paper, (low, high))

    def _explanation(self, asked: Asked, found: Answer, seconds: float = np.inf) -> Explanation:
        """An answer with what the classifier says of it; where that fails, word of it in its place."""
        place = self.classifier, asked.question, asked.problem
        known = self._known(asked.label) | {"refits": self.refits, "seconds": seconds}
        try:
            return assembled(*place, found, **known)
        except SurefootError:
            raise
        except Exception as error:
            nothing = failed(Status.FAILED, asked.problem, unforeseen(error))
            return assembled(*place, nothing, **known)

    def _known(self, label: Any) -> dict[str, Any]:
        return {"tol": float(self.paper.tol), "method": self.method, "row": label}


def _check_gap(method: str, gap: Any) -> None:
    if method == "certified" and gap is not None and isinstance(gap, Real) and 0 <= float(gap) < SMALLEST_GAP:
        raise ProblemError(f"the certified method proves gaps down to {SMALLEST_GAP:g}, not {gap!r}")


def _checked_actions(bounds: Any, actions: Any) -> Actions | None:
    if not (isinstance(bounds, Mapping) or bounds is None or (isinstance(bounds, str) and bounds == DATA)):
        raise ProblemError(f"bounds must be 'data', None or a dict, not {bounds!r}")
    if isinstance(actions, str | PathLike):
        return Actions.from_toml(actions)
    if actions is None or isinstance(actions, Actions):
        return actions
    raise ProblemError(f"actions must be a surefoot.Actions or the path of a file, not {actions!r}")


def _listed(what: str, features: Any) -> Any:
    if isinstance(features, str):
        raise ProblemError(f"{what} must be a list of features, not {features!r}")
    try:
        return tuple(features)
    except TypeError:
        raise ProblemError(f"{what} must be a list of features, not {features!r}") from None
