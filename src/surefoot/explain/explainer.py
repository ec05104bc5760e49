"""CounterfactualExplainer: from a fitted classifier and a row to an Explanation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from os import PathLike
from typing import Any, Literal

from surefoot.exceptions import NoCounterfactualError, ProblemError
from surefoot.explain.ask.asker import Asker
from surefoot.explain.ask.methods import Qcqp
from surefoot.explain.ask.presets import PRESET, Unset
from surefoot.explain.ask.refits import refitted
from surefoot.explain.ask.specification import Specification
from surefoot.explain.ask.terms import EVEN, NO_MORE, Against, Distance, NoiseOn
from surefoot.explain.constraints.actions import Actions
from surefoot.explain.population.audit import audit as _audit
from surefoot.explain.population.one_action import one_action as _one_action
from surefoot.explain.population.region_proof import nobody as _nobody
from surefoot.explain.population.run import explain_to as _explain_to
from surefoot.explain.population.table import explain_table as _explain_table
from surefoot.explain.population.table import table_schema as _table_schema
from surefoot.explain.result.batch import Explanations
from surefoot.explain.result.explanation import Explanation
from surefoot.explain.result.reasons import Reasons, reasons_of_row
from surefoot.explain.rows.batch_explainer import explain_rows
from surefoot.explain.rows.diversity import check_differing
from surefoot.explain.rows.row_explainer import RowExplainer
from surefoot.explain.rows.trade_off import trade_off as _trade_off
from surefoot.model.adoption import adopt
from surefoot.model.classifier import ConditionalGaussianNetworkClassifier
from surefoot.problem.robust_problem import RobustProblem
from surefoot.progress import alive
from surefoot.search.certified.clock import Clock
from surefoot.threads import one_blas_thread

Method = Literal["certified", "qcqp", "milp"]


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
        spec = Specification.read(given, paper)
        self.preset, self.from_preset = spec.preset, spec.from_preset
        self.method, self.paper, self.options = spec.method, spec.paper, spec.options
        self.terms, self.plausible, self.bounds = spec.terms, spec.plausible, spec.bounds
        self.norm, self.whitening, self.threshold, self.budget, self.noise_on = spec.terms[:5]
        self.distance, self.against = spec.terms.distance, spec.terms.against
        self.actions, self.at_most, self.whole = spec.actions, spec.at_most, spec.whole
        self.immutable, self.increasing, self.decreasing = spec.immutable, spec.increasing, spec.decreasing
        self.impute, self.printable, self.diagnose = spec.impute, spec.printable, spec.diagnose
        self.classifier: ConditionalGaussianNetworkClassifier = adopt(classifier, data)
        self.refits = refitted(classifier, self.classifier, models, data, random_state)
        self.asker = Asker(self.classifier, spec, self.refits)
        self.asker.builder(self.asker.first)

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
        clock, targets = Clock(self.options.time_limit), self.asker.targets(target)
        with one_blas_thread(), alive():
            climb = RowExplainer(self.asker, self).climbed(row, targets, clock)
            explanation = climb.explanation.with_reasons() if reasons else climb.explanation
            if enough and explanation.answer.point is not None:
                explanation.enough()
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
        return explain_rows(self, rows, target, n_jobs, progress)

    def accepted(self, rows: Any, target: Any = None) -> list[bool]:
        """Which rows already have the target, threshold included; False for a row that cannot be read.

        Parameters
        ----------
        rows, target
            As in `explain_batch`.
        """
        return [self.asker.is_there(row) for row in self.asker.rows(rows, target)]

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
        targets = self.asker.targets(target)
        if len(targets) > 1:
            raise ProblemError("alternatives are about one target, not a list of them")
        clock, each = Clock(self.options.time_limit), RowExplainer(self.asker, self)
        with one_blas_thread(), alive():
            return Explanations(each.alternatives(row, targets[0], clock, n=n, differ=differ, apart=apart))

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
            known = self.asker.read(row)
            row = self.classifier.schema_.row(known.numbers, known.state)
        return reasons_of_row(self.classifier, row, self.asker.wanted(target), self.asker.unchangeable)

    def copy(self, **changes: Any) -> CounterfactualExplainer:
        """The same explainer with some of its arguments changed; refits that stay the same are kept."""
        given = {**self.asker.spec.given, **changes}
        if not changes.keys() & {"classifier", "models", "data", "random_state"}:
            given["models"] = self.refits
        return type(self)(**given)

    # What is asked of many rows, and of one row several times: each is described where it is done.
    explain_table = _explain_table
    table_schema = _table_schema
    explain_to = _explain_to
    one_action = _one_action
    audit = _audit
    nobody = _nobody
    trade_off = _trade_off

    def problem(self, factual: Any, target: Any) -> RobustProblem:
        """The optimisation problem behind a question; with categories, that of the factual's."""
        return self.asker.asked(self.asker.first, factual, target, None).problem.problem()

    @property
    def kept(self) -> Actions:
        """Dates, and features that a person cannot change, which stay unless the user names them."""
        return self.asker.kept
