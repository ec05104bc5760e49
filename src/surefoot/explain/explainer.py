"""CounterfactualExplainer: from a fitted classifier and a row to an Explanation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from numbers import Integral, Real
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from surefoot.exceptions import NoCounterfactualError, ProblemError, SurefootError
from surefoot.explain.answer.executor import answers, attempt, failed, unforeseen
from surefoot.explain.answer.methods import GAPS, SMALLEST_GAP, Qcqp, Settings, as_method, chosen_method
from surefoot.explain.ask.diversity import (
    NOTHING,
    Differing,
    check_differing,
    difference_words,
    differing_from,
)
from surefoot.explain.ask.giving_way import Climb, Rung, Step
from surefoot.explain.ask.imputation import Filled, filled
from surefoot.explain.ask.plausible import checked_plausible
from surefoot.explain.ask.presets import PRESET, PRESETS, Unset, settled
from surefoot.explain.ask.question_builder import (
    EVEN,
    NO_MORE,
    Against,
    Asked,
    Distance,
    NoiseOn,
    QuestionBuilder,
    Terms,
)
from surefoot.explain.ask.refits import refitted
from surefoot.explain.ask.row import encoded, raw_values, row_label, split_rows
from surefoot.explain.ask.target import each_target, several_targets
from surefoot.explain.constraints.actions import Action, Actions
from surefoot.explain.constraints.category import Category
from surefoot.explain.constraints.constraint_set import DATA, ConstraintSet
from surefoot.explain.constraints.document import Preset
from surefoot.explain.progress import alive
from surefoot.explain.result.assembly import assembled, refused
from surefoot.explain.result.batch import Explanations
from surefoot.explain.result.explanation import Explanation
from surefoot.explain.result.reasons import Reasons, reasons_of_row
from surefoot.explain.result.targets import nearest
from surefoot.explain.result.trade_off import VALUES, TradeOff, trade_off
from surefoot.formats import sentence
from surefoot.model.adoption import adopt
from surefoot.model.classifier import ConditionalGaussianNetworkClassifier
from surefoot.plain import refuse_huge
from surefoot.problem.answer import Answer
from surefoot.problem.question import Question
from surefoot.problem.robust_problem import RobustProblem
from surefoot.search.certified.clock import Clock
from surefoot.search.paper.backends import choose_backend
from surefoot.search.paper.program import Options
from surefoot.status import Status
from surefoot.threads import one_blas_thread

if TYPE_CHECKING:
    from surefoot.explain.population.audit import Audit
    from surefoot.explain.population.nobody import Nobody
    from surefoot.explain.population.one_action import OneAction
    from surefoot.explain.population.output import Summary

Array = NDArray[np.float64]
Method = Literal["certified", "qcqp", "milp"]


def told(explanation: Explanation, reasons: bool, enough: bool) -> Explanation:
    """An explanation with what else was asked for: it goes into its file."""
    if reasons and isinstance(explanation.question, Question):
        explanation = replace(explanation, told=explanation.reasons)
    if enough and explanation.answer.point is not None:
        explanation.enough()
    return explanation


class CounterfactualExplainer:
    """Finds the smallest change that reverses a decision, even if it is carried out slightly wrong.

    Parameters
    ----------
    classifier : fitted classifier
        A `ConditionalGaussianNetworkClassifier`, a `QuadraticModel`, or a scikit-learn model with a linear or
        quadratic decision: logistic regression, linear support vector machines, ridge, SGD, discriminant
        analysis, ``GaussianNB``; also as the last step of a pipeline (see `surefoot.adopt`). What is
        explained is ``explainer.classifier``, always in the original units.
    preset : {"practical", "paper"}, default="practical"
        The defaults of all arguments below that are left out (`surefoot.PRESETS`). ``"practical"``: an
        answer to act on. At most 3 features change, and none that a person cannot change by its name
        (`Actions.proposed`, unless ``actions`` or another argument names it); values stay within the
        training data and are short decimals; the change may miss by 0.05 standard deviations; distances are
        measured along the graph (``norm=1, whitening="dag"``), within 1 %. Where that leaves no answer, the
        number of changes gives way, then the rest, and the answer says so. ``"paper"``: the question of the
        paper. Any value of every feature, errors in all of them, ``norm=inf``, Cholesky coordinates.
    budget : float or dict
        How far the change may miss. A number is the paper's gamma: standard deviations in whitened
        coordinates, in the norm. A dict gives it by feature in the feature's own units, a number or a pair
        (down, up): ``{"income": 500, "weight": (1, 2)}``. Features that it does not name land exactly, and
        ``certified_radius`` and ``coverage`` are shares of that box.
    noise_on : {"changeable", "all"}
        Which features may miss a budget that is a number: those that may change (what must not change is
        known exactly), or all.
    norm : {inf, 2, 1}
    threshold : float, default=0.5
        P(target) that must be reached; with more than two classes, see ``against``.
    against : {"each", "all"}, default="each"
        With more than two classes: ``"each"`` compares the target with each other class by itself, so that
        with a threshold of 0.5 it is the most likely class, though perhaps with 40 %; ``"all"`` asks that
        its probability among all classes reaches ``threshold``. With two classes they are the same.
    decision : float, default=0.0
        In the place of the threshold, for models without probabilities (``LinearSVC`` for instance): how far
        the decision value of the target must be above that of each rival.
    method : {"certified", "qcqp", "milp"}, `Qcqp` or `Milp`, default="certified"
        The certified search (a global optimum with a proof, no solver to install), the paper's nonconvex
        QCQP or its piecewise McCormick MILP; options of these are said with ``Qcqp(backend="scip")`` and
        ``Milp(n_segments=10)``.
    whitening : {"cholesky", "dag", "zca"}, array or DataFrame
        The coordinates in which changes and errors are measured. A matrix M of your own (not singular, a
        column for each number; of a DataFrame by name) means the distance ``||M (x - factual)||_p``.
    distance : {"mahalanobis", "cost"}
        How far a change is: the paper's, in whitened coordinates; or what it costs, each number's change in
        standard deviations of the factual's class times its price (``Action(cost=...)``, 1 by default):
        their sum for ``norm=1``, the largest for ``inf``. The prices of changed categories are added to
        both. Errors (``budget``) are measured in whitened coordinates all the same.
    bounds : "data", None or dict
        ``"data"``: the counterfactual stays within the range of each feature seen by ``fit`` (widened only
        where the factual itself lies outside of it). ``None``: the whole space, the paper's setting. A
        dict of feature -> (low, high), whose ends may be None, or ``"data"``; the features that it does
        not name are free.
    immutable, increasing, decreasing : lists of features
        What must not change, may only rise, may only fall: short for the same words in ``actions``.
    actions : Actions or path, optional
        What may happen to each feature, and rules over several of them; or the path of a TOML file that says
        it (see `Actions.from_toml`).
    at_most : int or None
        How many features change at most: short for ``Actions(at_most=...)``. None is no limit.
    whole : False or None
        None: numbers that were whole in every training row (``classifier.feature_kinds_``) stay whole.
        ``False`` lets them take any value, as the paper does. ``Action(whole=...)`` says it of one feature.
    impute : "expected", optional
        Fill holes in the factual with what the network expects given the rest, and say so. By default a row
        with a hole is refused by the name of the feature.
    plausible : float, ("conditional", k) or None
        A share: the answer, and the whole ball around it, is at least as typical of the target as this share
        of its training rows; proven. ``("conditional", k)``: no changed number is farther than k standard
        deviations from what its parents predict in the target class.
    models : int, `Refits` or list of fitted classifiers, optional
        The decision turns under each of them as well: so many refits to rows drawn with replacement from
        ``data``, structure learned anew (``Refits(50, data=(X, y))`` says both); without ``data`` so many of
        those that the classifier keeps (``classifier.refits_``); or other models of the same features.
        ``explainer.refits.searched`` keeps them, and ``explanation.model_share`` says how many fresh refits
        agree, or without data how many of those that the classifier keeps.
    random_state : int, default=0
        For the refits.
    data : pair (X, y), optional
        The training data of a scikit-learn classifier, which keeps neither the range of its features nor
        always its covariance. Without it ``bounds="data"`` means three standard deviations around the
        class means.
    time_limit : float, default=30
        Seconds for one call of `explain` or `alternatives`: question, search, diagnosis and what is said of
        the answer. Refits are fitted before that, when the explainer is made.
    gap : float or None
        Relative gap between distance and proven bound. None is 0.001 for ``"certified"``; for the paper's
        methods 0.01, as there, in every solve.
    printable : bool
        Whether the numbers of a counterfactual are short decimals, with everything proven for these very
        values and the distance within the gap; or values as the search found them. Either way all faces
        print a value with as many digits as it has.
    diagnose : bool, default=True
        Where there is no answer: say which constraints stand in the way, what could be given up, and the
        highest probability that any allowed change reaches. ``False`` leaves that out, and saves its time.
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
        preset: Literal["practical", "paper"] = "practical",
        budget: float | Mapping[Any, Any] | Unset = PRESET,
        noise_on: NoiseOn | Unset = PRESET,
        norm: float | Unset = PRESET,
        threshold: float = EVEN,
        against: Against = "each",
        decision: float = NO_MORE,
        method: Method | Qcqp = "certified",
        whitening: Any = PRESET,
        distance: Distance | Unset = PRESET,
        bounds: Any = PRESET,
        immutable: Iterable[Any] = (),
        increasing: Iterable[Any] = (),
        decreasing: Iterable[Any] = (),
        actions: Actions | str | PathLike[str] | None = None,
        at_most: int | Unset | None = PRESET,
        whole: Literal[False] | Unset | None = PRESET,
        impute: Literal["expected"] | None = None,
        plausible: Any = PRESET,
        models: Any = None,
        random_state: int = 0,
        data: Any = None,
        time_limit: float = 30.0,
        gap: float | Unset | None = PRESET,
        printable: bool | Unset = PRESET,
        diagnose: bool = True,
        **paper: Any,
    ) -> None:
        given = {name: value for name, value in locals().items() if name not in ("self", "paper")}
        for name in ("budget", "threshold", "decision", "gap", "time_limit", "bounds", "plausible", "models"):
            refuse_huge(name, given[name], ProblemError)
        self.method, self.paper = chosen_method(method, paper)
        self._given = given | {"method": as_method(self.method, self.paper)}
        asked = settled(preset, given)
        self.preset, self.from_preset = preset, frozenset(n for n, v in given.items() if v is PRESET)
        _check_gap(self.method, asked["gap"])
        self.actions = _checked_actions(asked["bounds"], actions)
        self.at_most = self._checked_at_most(asked["at_most"])
        self.whole = _checked_whole(asked["whole"])
        self.printable = _checked_truth("printable", asked["printable"])
        self.diagnose = _checked_truth("diagnose", diagnose)
        if impute not in (None, "expected"):
            raise ProblemError(f"impute must be None or 'expected', not {impute!r}")
        self.classifier: ConditionalGaussianNetworkClassifier = adopt(classifier, data)
        self.budget, self.norm, self.threshold = asked["budget"], asked["norm"], threshold
        self.against = against
        self.whitening, self.noise_on = asked["whitening"], asked["noise_on"]
        self.distance, self.plausible = asked["distance"], asked["plausible"]
        self.terms = Terms(
            self.norm,
            self.whitening,
            threshold,
            self.budget,
            self.noise_on,
            decision,
            self.distance,
            checked_plausible(self.plausible),
            against,
        ).checked()
        self.refits = refitted(classifier, self.classifier, models, data, random_state)
        self.bounds, self.impute = asked["bounds"], impute
        self._keep_personal = bool(asked["keep_personal"])
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
            gap=GAPS[self.method] if asked["gap"] is None else asked["gap"],
            threads=self.paper.threads,
            verbose=self.paper.verbose,
        )
        self._builders: dict[Rung, QuestionBuilder] = {}
        self._builder(self._first)

    def __repr__(self) -> str:
        budget = self.budget if isinstance(self.budget, Mapping) else f"{self.budget:g}"
        question = f"budget={budget}, norm={self.norm:g}, threshold={self.threshold:g}"
        return f"{type(self).__name__}({type(self.classifier).__name__}, {question}, method={self.method!r})"

    def explain(
        self,
        row: Any,
        target: Any = None,
        on_failure: Literal["raise", "return"] = "raise",
        *,
        reasons: bool = False,
        enough: bool = False,
    ) -> Explanation:
        """Explain one row.

        Parameters
        ----------
        row : Series, dict or array
            The factual.
        target : label or list of labels, optional
            The class it should have. Left out: the one that the classifier says is wanted (``wanted_``); with
            two classes, the other one. Of several classes the nearest is found, and it is proven that none of
            the others is nearer (``explanation.others``).
        on_failure : {"raise", "return"}
            Whether a search without a result raises `NoCounterfactualError` or returns an Explanation
            whose counterfactual is None.
        reasons, enough : bool, default=False
            Whether the reasons for the decision (`Explanation.reasons`), and what else is enough
            (`Explanation.enough`), come with the explanation and go into its file.
        """
        if on_failure not in ("raise", "return"):
            raise ProblemError(f"on_failure must be 'raise' or 'return', not {on_failure!r}")
        clock = Clock(self.options.time_limit)
        targets = several_targets(self._wanted(target), self.classifier.classes_.tolist())
        with one_blas_thread(), alive():
            explanation = told(self._climbed(row, targets, clock).explanation, reasons, enough)
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
            The class that all, or each, should have. With two classes it may be left out: the other one. In
            the place of a label there may be a list of labels: of these the nearest is found.
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
        0    optimal     3.232
        1    optimal     3.676
        2    optimal     2.077
        """
        return self._batch(rows, target, n_jobs, progress)

    def _batch(
        self, rows: Any, target: Any, n_jobs: int | None = 1, progress: bool = False, brief: bool = False
    ) -> Explanations:
        """The same; in brief where there are too many rows to say at length why some have no answer."""
        if n_jobs is not None and (not isinstance(n_jobs, Integral) or n_jobs == 0):
            raise ProblemError(f"n_jobs must be an integer other than 0, or None, not {n_jobs!r}")
        if self.method != "certified":
            # A missing solver is one error, not one for each row.
            choose_backend(self.method, self.paper.backend)
        with one_blas_thread():
            return self._explained(self._rows(rows, target), n_jobs, progress, brief)

    def accepted(self, rows: Any, target: Any = None) -> list[bool]:
        """Which rows have the target already, threshold included; a row that cannot be read has not.

        Parameters
        ----------
        rows, target
            As in `explain_batch`.
        """
        each = self._rows(rows, target)
        return [any(self._is_there(row, one, label) for one in targets) for row, targets, label in each]

    def _rows(self, rows: Any, target: Any) -> list[tuple[Any, tuple[Any, ...], Any]]:
        """Each row with the targets of which the nearest is wanted, and its label."""
        known, target = self.classifier.classes_.tolist(), self._wanted(target)
        labels, single = split_rows(rows, self.classifier.feature_labels_)
        each = (several_targets(one, known) for one in each_target(target, rows, len(single), known))
        return list(zip(single, each, labels, strict=True))

    def _is_there(self, row: Any, target: Any, label: Any) -> bool:
        asked = self._asked_or_refused(self._builder(self._first), row, target, label)
        return isinstance(asked, Asked) and asked.inquiry.task.is_there

    def explain_table(self, frame: Any, target: Any = None) -> Any:
        """Explain the rows of a frame: one line for each, in order, with columns and types that are fixed.

        A function of its arguments alone, and the explainer can be pickled: it is what Spark's
        ``DataFrame.mapInPandas``, Ray's ``Dataset.map_batches`` and Dask's ``map_partitions`` take. A row
        without a counterfactual keeps its place: ``status`` and ``reason`` say why in words that programs
        can read.

        Parameters
        ----------
        frame : DataFrame
            Its index names the rows (the column ``row``, as text), and is the index of the result.
        target : label, or a list, array or Series of labels, optional
            As in `explain_batch`.

        Returns
        -------
        DataFrame
            With the columns of `table_schema`: ``row``, ``status``, ``reason`` and so on, and for each
            feature ``factual: NAME`` and ``counterfactual: NAME``.

        Examples
        --------
        >>> from surefoot import ConditionalGaussianNetworkClassifier, CounterfactualExplainer, datasets
        >>> bank = datasets.load_banknote()
        >>> clf = ConditionalGaussianNetworkClassifier().fit(bank.X, bank.y)
        >>> explainer = CounterfactualExplainer(clf)
        >>> explainer.explain_table(bank.X.head(2), target=1)[["row", "status", "distance"]].round(3)
          row   status  distance
        0   0  optimal     3.232
        1   1  optimal     3.676
        """
        from surefoot.explain.population.table import explain_table

        return explain_table(self, frame, target)

    def table_schema(self) -> Any:
        """The columns of `explain_table` and their types, as a ``pyarrow.Schema``.

        Text for names and sentences, doubles for numbers, and for classes and categories the type of their
        values.
        """
        from surefoot.explain.population.table import table_schema

        return table_schema(self)

    def explain_to(
        self,
        source: Any,
        output: str | PathLike[str],
        id: str | None = None,  # noqa: A002
        resume: bool = True,
        n_jobs: int | None = -1,
        chunk: int = 128,
        *,
        target: Any = None,
        retry: str | Sequence[str] = (),
        certificates: str | PathLike[str] | None = None,
        enough: bool = False,
        progress: bool = True,
    ) -> Summary:
        """Explain a table of any size into a file; stopped at any moment, the same call goes on from there.

        Rows are read in chunks, and each one that is finished is kept on disk, in a folder beside the output
        (``OUTPUT.parts``). Neither a kill nor a full disk loses any of them. The output is put in its place
        when all are there, and the folder is removed; it stays where rows were stopped by time, for
        ``retry``.

        Parameters
        ----------
        source : path or DataFrame
            CSV, also packed by gzip, and Parquet are read in chunks; Excel is read as a whole.
        output : path
            ``.parquet``, or else CSV (``.csv``, ``.csv.gz``); its columns are those of `table_schema`.
        id : str, optional
            The column that names the rows. Default: they are counted from 0.
        resume : bool, default=True
            Whether to go on with a run that was stopped. It is refused, naming what changed, where model,
            question, actions or table are not the same; ``False`` begins again.
        n_jobs : int, default=-1
            Processes; -1 takes all cores.
        chunk : int, default=128
            Rows that are read at a time.
        target : label, optional
            The class that all should have. With two classes it may be left out: the other one.
        retry : str or sequence of str
            ``"time_limit"``, ``"iteration_limit"``, ``"failed"``: rows that ended so are asked again. The
            time limit may be another one.
        certificates : path, optional
            Write all explanations, with their certificates, as JSON lines (``.jsonl`` or ``.jsonl.gz``):
            what `surefoot verify` reads.
        enough : bool, default=False
            Add columns that say what else is enough.
        progress : bool, default=True
            Show a progress bar on stderr.

        Returns
        -------
        Summary
            How many rows ended with each status.

        Examples
        --------
        >>> import tempfile
        >>> import pandas as pd
        >>> from surefoot import ConditionalGaussianNetworkClassifier, CounterfactualExplainer, datasets
        >>> bank = datasets.load_banknote()
        >>> clf = ConditionalGaussianNetworkClassifier().fit(bank.X, bank.y)
        >>> explainer = CounterfactualExplainer(clf)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     output = f"{folder}/changes.csv"
        ...     print(explainer.explain_to(bank.X.head(3), output, n_jobs=1, target=1, progress=False))
        ...     print(len(pd.read_csv(output)))
        3 explanations: 3 optimal
        3
        """
        from surefoot.explain.population.run import explain_to

        more = {"target": target, "retry": retry, "certificates": certificates, "enough": enough}
        return explain_to(self, source, output, id, resume, n_jobs, chunk, progress=progress, **more)

    def audit(
        self,
        frame: Any,
        target: Any = None,
        by: Any = None,
        *,
        n_jobs: int | None = 1,
        ci: float = 0.95,
        progress: bool = True,
    ) -> Audit:
        """Who provably has no recourse, what stands in the way, and what it costs whom, by groups.

        Parameters
        ----------
        frame : DataFrame
            Its columns hold the features; others may say who belongs together.
        target : label, optional
            The class that all should have. Left out: the one that the classifier says is wanted.
        by : name, dict, Series, array, or a list of these, optional
            Columns of the frame, features or not; ``{"age": [25, 40, 60]}`` are bands of a number (below 25,
            25 to below 40, ...); a Series or an array has a value for each row. Several make intersections.
            Rows without a value are a group of their own.
        n_jobs : int, default=1
            Processes; -1 takes all cores.
        ci : float, default=0.95
            Level of the intervals: Clopper and Pearson's for shares, bootstrap for quantiles of costs. They
            take the rows for a random sample of the population.
        progress : bool, default=True
            Show a progress bar on stderr.

        Returns
        -------
        Audit
            ``overall``, ``by_group``, ``difference()``, ``table`` and so on.

        Examples
        --------
        >>> from surefoot import ConditionalGaussianNetworkClassifier, CounterfactualExplainer, datasets
        >>> bank = datasets.load_banknote()
        >>> clf = ConditionalGaussianNetworkClassifier().fit(bank.X, bank.y)
        >>> explainer = CounterfactualExplainer(clf, immutable=["variance"], increasing=["skewness"])
        >>> audit = explainer.audit(bank.X.iloc[::40], 1, by={"entropy": [-1]}, progress=False)
        >>> audit.by_group[["rows", "asked", "found", "none"]]
                      rows  asked  found  none
        entropy
        below -1        10      4      2     2
        -1 and above    25     15     13     2
        """
        from surefoot.explain.population.audit import audit

        return audit(self, frame, target, by, n_jobs, ci, progress)

    def nobody(
        self, region: Mapping[Any, Any], target: Any = None, time_limit: float | None = None
    ) -> Nobody:
        """Prove that nobody in a region has the target or a way to it; or find somebody who has.

        It is about every person whose features lie in the region, seen or not: none of them is decided as
        the target (threshold included), and none of them gets there by an allowed change. Allowed is what
        `explain` allows after all that comes from the preset has given way. A proof does without errors
        (``budget``), if-then rules and what is plausible of single features: what is proven without them
        holds with them; where it cannot be proven without them, ``holds`` may be None.

        Parameters
        ----------
        region : dict of feature -> values
            A pair (low, high) of a number, where None is the end of the range seen in training and an
            infinite end is open; a single value; or a list of values. A feature that is left out may be
            anything: a number within the range seen in training, whole where it was whole there, and every
            value of a category.
        target : label, optional
            Default: the class that is wanted (``classifier.wanted_``).
        time_limit : float, optional
            Seconds for all of it. Default: that of the explainer.

        Returns
        -------
        Nobody
            ``holds`` is True (proven; ``certificate`` is what `verify` checks), False (``person`` has a way,
            and ``explanation`` says which) or None (undecided in time; ``words`` says why).

        Examples
        --------
        >>> from surefoot import ConditionalGaussianNetworkClassifier, CounterfactualExplainer, datasets
        >>> bank = datasets.load_banknote()
        >>> clf = ConditionalGaussianNetworkClassifier().fit(bank.X, bank.y)
        >>> explainer = CounterfactualExplainer(clf, immutable=["variance"])
        >>> explainer.nobody({"variance": (6, None)}, target=1).holds
        True
        """
        from surefoot.explain.population.nobody import nobody

        return nobody(self, region, target, time_limit)

    def one_action(
        self,
        frame: Any,
        target: Any = None,
        most: int = 2,
        price: float | None = None,
        *,
        share: float | None = None,
        explanations: Any = None,
        n_jobs: int | None = 1,
    ) -> OneAction:
        """One change for many rows: moves of up to two categories and steps of up to two numbers.

        Of a grid of changes (`OneAction.grid`) it is the one that serves the largest share of the rows; see
        `surefoot.OneAction` for what is proven.

        Parameters
        ----------
        frame : DataFrame
            The rows; those that are decided as the target already are left out.
        target : label, optional
            The class that all should have.
        most : int, default=2
            How many features change at most, up to 4.
        price : float, optional
            The most that the change may cost any row that counts as served. Default: any price.
        share : float, optional
            In the place of a price: the cheapest change that serves at least this share.
        explanations : Explanations or DataFrame, optional
            What `explain_batch` or `explain_table` of this explainer said of the same rows, in their order.
            Default: they are searched, with at most ``most`` changes, which gives better bounds. The bounds
            of a DataFrame are taken at their word.
        n_jobs : int, default=1
            Processes for that search.

        Examples
        --------
        >>> from surefoot import ConditionalGaussianNetworkClassifier, CounterfactualExplainer, datasets
        >>> pima = datasets.load_pima()
        >>> clf = ConditionalGaussianNetworkClassifier().fit(pima.X, pima.y)
        >>> sick = pima.X[clf.predict(pima.X) == 1].head(20)
        >>> found = CounterfactualExplainer(clf).one_action(sick, target=0)
        >>> found.change["feature"].tolist(), found.served.sum() <= 20 * found.bound
        (['plas', 'mass'], np.True_)
        """
        from surefoot.explain.population.one_action import one_action

        more = {"share": share, "explanations": explanations, "n_jobs": n_jobs}
        return one_action(self, frame, target, most, price, **more)

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
        >>> explainer = CounterfactualExplainer(clf)
        >>> [round(e.distance, 2) for e in explainer.alternatives(bank.X.iloc[0], target=1, n=2)]
        [3.23, 3.34]
        """
        check_differing(n, differ, apart)
        targets = several_targets(self._wanted(target), self.classifier.classes_.tolist())
        if len(targets) > 1:
            raise ProblemError("alternatives are about one target, not a list of them")
        clock = Clock(self.options.time_limit)
        with one_blas_thread(), alive():
            climb = self._climbed(row, targets, clock)
            found = [climb.explanation]
            # Where nothing has to change, nothing else is worth looking for.
            while len(found) < n and clock.left > 0 and 0 < found[-1].distance < np.inf:
                differing = differing_from(found, differ, apart)
                asked = self._asked(self._builder(climb.reached), row, targets[0], row_label(row), differing)
                explanation = self._answered(asked, clock, diagnose=False)
                if explanation.answer.point is None:
                    break
                words = difference_words(explanation, found, differ, apart)
                found.append(replace(explanation, answer=replace(explanation.answer, advice=words)))
        return Explanations(found)

    def _climbed(self, row: Any, targets: tuple[Any, ...], clock: Clock) -> Climb:
        """A row asked about; and asked again where something of the preset gives way."""
        climb = Climb(self._first, self._free)
        while climb.goes_on:
            climb.send(self._nearest(climb.step, row, targets, clock, climb.share(clock.left)))
        return climb

    def reasons(self, row: Any, target: Any = None) -> Reasons:
        """Why a row was decided as it was: what each feature adds to the log-odds.

        The weight of a feature is ``log p(x_i | parents, decided) - log p(x_i | parents, other)``; weights
        and prior add up to the log-odds of the class that was decided against the wanted one (against the
        next likely one where the row has the wanted class already). Missing values weigh nothing, and the
        others are weighed given what is known before them; with ``impute`` holes are filled first, as in
        `explain`. A calibrated model's temperature divides every weight. Adopted linear and quadratic models
        add up their own terms, counted from the mean of the wanted class.

        Parameters
        ----------
        row, target
            As in `explain`.

        Examples
        --------
        >>> from surefoot import ConditionalGaussianNetworkClassifier, CounterfactualExplainer, datasets
        >>> bank = datasets.load_banknote()
        >>> clf = ConditionalGaussianNetworkClassifier().fit(bank.X, bank.y)
        >>> reasons = CounterfactualExplainer(clf).reasons(bank.X.iloc[0])
        >>> reasons.principal(2)["feature"].tolist()
        ['variance', 'skewness']
        >>> bool(abs(reasons.log_odds + clf.decision_function(bank.X.head(1))[0]) < 1e-9)
        True
        """
        if self.impute is not None:
            known = self._read(row)
            row = self.classifier.schema_.row(known.numbers, known.state)
        return reasons_of_row(self.classifier, row, self._wanted(target), self._unchangeable)

    @cached_property
    def _unchangeable(self) -> tuple[Any, ...]:
        """The features that must stay as they are."""
        given = {} if self.actions is None else self.actions.features
        stays = [name for name, one in given.items() if isinstance(one, Action) and one.may == "stay"]
        return (*self.immutable, *stays, *self.kept.features)

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
        0  budget    0.0      3.18
        1  budget    0.1      3.29
        """
        asked: dict[str, Sequence[Any]] = {"budget": budget, "plausible": plausible, "models": models}
        return trade_off(self, row, target, {name: values for name, values in asked.items() if len(values)})

    def problem(self, factual: Any, target: Any) -> RobustProblem:
        """The optimisation problem behind a question; with categories, that of the factual's."""
        return self._builder(self._first).asked(self._read(factual), target, None).problem.problem()

    def _checked_at_most(self, at_most: Any) -> int | None:
        """How many features change at most: as given, as the user's actions say, or as the preset says."""
        said = None if self.actions is None else self.actions.at_most
        if said is not None and "at_most" not in self.from_preset and at_most != said:
            raise ProblemError(f"at_most is given twice: {at_most!r}, and {said!r} in the actions")
        if said is not None:
            self.from_preset -= {"at_most"}
            return said
        return Actions(at_most=at_most).at_most

    def _wanted(self, target: Any) -> Any:
        """The target, or the class that the classifier says is wanted."""
        return self.classifier.wanted_ if target is None else target

    def _read(self, row: Any) -> Filled:
        """A row as numbers and categories; its holes filled if that was asked for."""
        if self.impute is not None:
            return filled(row, self.classifier)
        return Filled(*encoded(row, self.classifier.schema_))

    @property
    def _first(self) -> Rung:
        """The settings that a row is asked with first."""
        return Rung(self.at_most)

    @property
    def _free(self) -> frozenset[str]:
        """What comes from the preset, and gives way before there is no answer."""
        asks = {"at_most": self.at_most is not None, "plausible": self.plausible is not None}
        asks["budget"] = not isinstance(self.budget, Mapping) and self.budget > 0
        return frozenset(name for name, something in asks.items() if something and name in self.from_preset)

    @property
    def final_builder(self) -> QuestionBuilder:
        """What asks when everything of the preset has given way, and without errors."""
        at_most = None if "at_most" in self._free else self.at_most
        return self._builder(Rung(at_most, "plausible" not in self._free, budget=False))

    def _builder(self, rung: Rung) -> QuestionBuilder:
        """What asks with these settings; a classifier that was fitted anew is looked at again."""
        known = self._builders.get(rung)
        if known is None or known.networks is not self.classifier.networks_:
            known = self._builders[rung] = self._new_builder(rung)
        return known

    def _new_builder(self, rung: Rung) -> QuestionBuilder:
        clf = self.classifier
        schema = clf.schema_
        constraints = ConstraintSet.by_name(
            clf.feature_labels_,
            categories=[
                Category(j, schema.names[j], schema.values[j] or (), schema.ordered[j])
                for j in schema.categories
            ],
            whole=[j for j in schema.numbers if schema.dates[j] or (schema.whole[j] and self.whole is None)],
            dates=[j for j in schema.numbers if schema.dates[j]],
            actions=self._actions(rung.at_most),
            bounds=self.bounds,
            observed_range=clf.feature_range_,
            immutable=self.immutable,
            increasing=self.increasing,
            decreasing=self.decreasing,
        )
        terms = self.terms if rung.budget else self.terms._replace(budget=0.0)
        terms = terms if rung.plausible else terms._replace(plausible=None)
        return QuestionBuilder(
            clf,
            constraints,
            terms,
            self.method,
            self._settings(),
            self.refits,
            printable=self.printable,
            preset=self._declared_preset,
        )

    def _says_other(self, name: str, own: Any) -> bool:
        """Whether the user gave something else than the preset has."""
        if name in self.from_preset or name not in self._given:
            return False
        value = self._given[name]
        return not isinstance(value, str | Real | None) or value != own

    @property
    def _declared_preset(self) -> Preset:
        """What questions say of the preset."""
        given = tuple(name for name, own in PRESETS[self.preset].items() if self._says_other(name, own))
        return Preset(self.preset, given, tuple(str(name) for name in self.kept.features))

    def _actions(self, at_most: int | None) -> Actions | None:
        """What the user says, with what a person cannot change kept, and the number of changes."""
        found = self.actions
        if self.kept.features:
            found = found or Actions()
            found = replace(found, features={**found.features, **self.kept.features})
        if at_most is not None:
            found = replace(found or Actions(), at_most=at_most)
        return found

    @cached_property
    def kept(self) -> Actions:
        """Dates, and features that a person cannot change: those that the user does not name stay."""
        named = {*self.immutable, *self.increasing, *self.decreasing}
        if isinstance(self.bounds, Mapping):
            named |= {name for name, ends in self.bounds.items() if not isinstance(ends, str)}
        proposed = Actions.proposed(self.classifier).without(named)
        if not self._keep_personal:
            dates = self.classifier.schema_.date_names
            proposed = proposed.without(name for name in proposed.features if name not in dates)
        return proposed if self.actions is None else proposed.without(self.actions.named_to_change())

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

    def _nearest(
        self, step: Step, row: Any, targets: tuple[Any, ...], clock: Clock, seconds: float
    ) -> Explanation:
        """The explanation of the nearest of some targets, which share the seconds."""
        found: list[Explanation] = []
        end = clock.spent + seconds
        for number, target in enumerate(targets):
            asked = self._asked(self._builder(step.rung), row, target, row_label(row))
            part = max(end - clock.spent, 0.0) / (len(targets) - number)
            found.append(self._answered(asked, clock, part, diagnose=step.final))
        best = nearest(found)
        return replace(best, answer=replace(best.answer, seconds=clock.spent))

    def _answered(
        self, asked: Asked, clock: Clock, seconds: float | None = None, diagnose: bool = True
    ) -> Explanation:
        """The explanation of one question within the time that is left, or a part of it."""
        inquiry = asked.inquiry.within(clock.left if seconds is None else seconds)
        answer = attempt(replace(inquiry, diagnose=diagnose and self.diagnose))
        found = self._explanation(asked, answer, clock.left)
        return replace(found, answer=replace(found.answer, seconds=clock.spent))

    def _asked_or_refused(
        self, builder: QuestionBuilder, row: Any, target: Any, label: Any
    ) -> Asked | Explanation:
        """A row of a batch with its question, or word of why none can be asked."""
        names = self.classifier.feature_labels_
        try:
            return self._asked(builder, row, target, label)
        except ProblemError as error:
            found = Answer(Status.INVALID, advice=sentence(str(error)))
        try:
            values = raw_values(row, names)
        except Exception:  # not even the right number of values, or nothing that can be read
            values = [np.nan] * len(names)
        return refused(self.classifier, builder.refusal(values, target), found, **self._known(label))

    def _explained(
        self, rows: list[tuple[Any, Any, Any]], n_jobs: int | None, progress: bool, brief: bool
    ) -> Explanations:
        """Explanations as the answers come; after an interrupt, word of it in the place of the rest.

        Rows without an answer are asked again where something of the preset gives way, all of them together.
        """
        from tqdm.auto import tqdm

        climbs = [Climb(self._first, self._free) for _ in rows]
        open_, spent = set(range(len(rows))), dict.fromkeys(range(len(rows)), 0.0)
        with tqdm(total=len(rows), desc="explaining", unit="row", disable=not progress) as bar:
            while open_:
                if not self._round(rows, climbs, sorted(open_), spent, n_jobs, bar, brief):
                    break
                open_ = {k for k in open_ if climbs[k].goes_on}
        return Explanations(climb.explanation for climb in climbs)

    def _round(
        self,
        rows: list[tuple[Any, Any, Any]],
        climbs: list[Climb],
        open_: list[int],
        spent: dict[int, float],
        n_jobs: int | None,
        bar: Any,
        brief: bool,
    ) -> bool:
        """Ask about each open row once; whether nobody interrupted it."""
        asked: dict[int, list[Asked]] = {}
        for k in open_:
            row, targets, label = rows[k]
            builder = self._builder(climbs[k].step.rung)
            entries = [self._asked_or_refused(builder, row, target, label) for target in targets]
            refusals = [entry for entry in entries if isinstance(entry, Explanation)]
            if refusals:
                self._took(climbs[k], refusals[0], bar)
            else:
                asked[k] = [entry for entry in entries if isinstance(entry, Asked)]
        left = {k: climbs[k].share(self.options.time_limit - spent[k]) / len(asked[k]) for k in asked}
        every = [(k, entry) for k, some in asked.items() for entry in some]
        work = [
            (
                number,
                replace(
                    entry.inquiry.within(left[k]),
                    diagnose=climbs[k].step.final and self.diagnose,
                    brief=brief,
                ),
            )
            for number, (k, entry) in enumerate(every)
        ]
        interrupted, done = True, dict[int, dict[int, Explanation]]()
        with suppress(KeyboardInterrupt), answers(work, n_jobs) as stream:
            for number, found in stream:
                k, entry = every[number]
                spent[k] += found.seconds
                done.setdefault(k, {})[number] = self._explanation(entry, replace(found, seconds=spent[k]))
                if len(done[k]) == len(asked[k]):
                    self._took(climbs[k], nearest([done[k][number] for number in sorted(done[k])]), bar)
                    del asked[k]
                if found.status.with_point is Status.INTERRUPTED:  # the search that ran took the signal
                    raise KeyboardInterrupt
            interrupted = False
        for k, (first, *_) in asked.items():
            stopped = failed(Status.INTERRUPTED_NO_POINT, first.problem)
            climbs[k].send(self._explanation(first, stopped))
        return not interrupted

    @staticmethod
    def _took(climb: Climb, found: Explanation, bar: Any) -> None:
        climb.send(found)
        if not climb.goes_on:
            bar.update()

    def _settings(self) -> Settings:
        low, high = self.classifier.feature_percentiles_[:, list(self.classifier.schema_.numbers)]
        return Settings(self.options, self.paper, (low, high))

    def _explanation(self, asked: Asked, found: Answer, seconds: float = np.inf) -> Explanation:
        """An answer with what the classifier says of it; where that fails, word of it in its place."""
        place = self.classifier, asked.question, asked.problem
        known = self._known(asked.label) | {"refits": self.refits, "seconds": seconds}
        try:
            explanation = assembled(*place, found, **known)
        except SurefootError:
            raise
        except Exception as error:
            nothing = failed(Status.FAILED, asked.problem, unforeseen(error))
            explanation = assembled(*place, nothing, **known)
        return replace(explanation, made_by=self)

    def _known(self, label: Any) -> dict[str, Any]:
        return {"tol": float(self.paper.tol), "method": self.method, "row": label}


def _check_gap(method: str, gap: Any) -> None:
    if method == "certified" and gap is not None and isinstance(gap, Real) and 0 <= float(gap) < SMALLEST_GAP:
        raise ProblemError(f"the certified method proves gaps down to {SMALLEST_GAP:g}, not {gap!r}")


def _checked_whole(whole: Any) -> Literal[False] | None:
    if whole is not None and whole is not False:
        raise ProblemError(f"whole must be None or False, not {whole!r}; see Action(whole=True)")
    return whole


def _checked_truth(name: str, given: Any) -> bool:
    if not isinstance(given, bool):
        raise ProblemError(f"{name} must be True or False, not {given!r}")
    return given


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
