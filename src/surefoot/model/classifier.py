"""The conditional Gaussian network classifier, as a scikit-learn estimator."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy.special import logsumexp
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from surefoot.exceptions import DataError, SurefootWarning
from surefoot.model.class_values import ClassValues, values_of_rows
from surefoot.model.content import classifier_content, restore_classifier
from surefoot.model.decision import log_density_quadratic, log_odds, numbers_network
from surefoot.model.file import read_model, write_model
from surefoot.model.fingerprint import fingerprint
from surefoot.model.fitting import (
    Learned,
    check_settings,
    held_out_calibration,
    joint_log,
    learned,
    number_range,
    over_features,
    own_densities,
    percentiles,
    unwarped,
    warped,
    with_slopes,
)
from surefoot.model.mixed import MixedNetwork
from surefoot.model.network import LinearGaussianNetwork
from surefoot.model.rows import TrainingRows, known_rows, training_rows, warn_of_names
from surefoot.model.stream import Stream
from surefoot.model.streaming import (
    OnePassMethod,
    is_partitioned,
    next_stream,
    partitioned_stream,
    streamed,
)
from surefoot.problem.mixed import MixedQuadratic, State
from surefoot.problem.quadratic import Quadratic
from surefoot.table.recipe import Recipe
from surefoot.views import view

Array = NDArray[np.float64]


class ConditionalGaussianNetworkClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Bayes classifier whose classes are conditional linear Gaussian networks over one shared graph.

    log h_c(x) = log rho_c + sum_i log N(x_i; sum_j w_ij^c x_j + b_i^c, v_i^c), the sum over j running
    over the parents of feature i; the class with the largest h_c is predicted. Categories among the features
    add the logarithm of their probability given their parents, and w, b and v of a number then depend on the
    values of its categorical parents.

    Parameters
    ----------
    structure : {"tan", "naive", "ban"}, Dag, networkx.DiGraph or dict, default="tan"
        ``"naive"`` has no edges, ``"tan"`` learns a tree, ``"ban"`` a sparse graph by NOTEARS, or with
        categories by greedy search. A graph of your own is taken as it is; a dict reads
        ``{child: [parents]}`` by feature name.
    max_parents : int, optional
        With ``"ban"``: keep only that many strongest parents of each feature.
    root : feature name or position, optional
        With ``"tan"``: the feature without a parent. Default: the first one.
    n_bins : int, default=8
        With ``"tan"``: equal-frequency bins per feature for the mutual information.
    edge_penalty : float, default=0.0
        With ``"tan"`` and categories or holes: what each parameter of an edge costs, in nats. With 0.5, what
        it is expected to lose on new rows, a code that tells nothing is no parent; `select` uses that.
    l1_penalty : float, default=0.01
        With ``"ban"``: the larger, the fewer edges.
    edge_threshold : float, default=0.3
        With ``"ban"``: edges with smaller absolute weight are dropped.
    standardize : bool, default=False
        With ``"ban"``: learn the graph from correlations, so that it does not depend on units.
    max_iter : int, default=100
        With ``"ban"``: limit on the iterations of the augmented Lagrangian.
    required_edges, forbidden_edges : list of (parent, child), optional
        With ``"tan"`` and ``"ban"``: edges by feature name that must or must not be in the graph.
    priors : array of shape (n_classes,) or dict by label, optional
        Class probabilities. Default: the classes' shares of the (weighted) rows.
    var_smoothing : float, default=1e-8
        This share of each feature's overall variance is added to its variance in every class, so that
        constant, duplicated or collinear columns do no harm.
    categorical : "auto" or list of features, default="auto"
        Which features are categories. ``"auto"``: columns of text, booleans and pandas categories. With a
        list: these, whatever they hold, and columns of text.
    ordered : dict, optional
        Categories that can rise and fall: ``{feature: [lowest value, ..., highest value]}``.
    marginals : {"gaussian", "power", "auto"}, default="gaussian"
        ``"power"`` bends every number by a power of its own (Yeo and Johnson) so that it is closer to
        Gaussian; ``"auto"`` only those for which that is likelier.
    plain : list of features, optional
        Numbers that are not bent, whatever ``marginals`` says: rules may add them up.
    shrinkage : float or "auto", default=0.0
        Share of the classes' average covariance in the covariance of each class. ``"auto"`` takes that
        under which held-out labels are likeliest.
    calibration : {None, "temperature"}, default=None
        ``"temperature"`` divides log-odds by a temperature and shifts them such that probabilities fit
        held-out folds.
    cell_smoothing : float, default=10.0
        The parameters for each combination of values of categorical parents are estimated as if that many
        rows of the class's average had been seen with it; 0 is maximum likelihood.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    class_prior_, class_count_ : arrays of shape (n_classes,)
        Prior probability, and sum of weights, of every class.
    n_rows_ : int
        Number of rows with positive weight that ``fit`` saw.
    dag_ : Dag
        The graph over the features.
    networks_ : tuple of LinearGaussianNetwork, or of MixedNetwork where there are categories
        One density per class.
    weights_ : array of shape (n_classes, n_features, n_features)
        ``[class, child, parent]``, the paper's w_ij^c. Like the next three only without categories; `network`
        gives the numbers' network for given values of the categories.
    intercepts_, variances_, means_ : arrays of shape (n_classes, n_features)
    schema_ : Schema
        What each feature is.
    feature_kinds_ : dict
        ``"number"``, ``"whole"`` (all training values were), ``"date"`` or ``"category"``, by feature.
    categories_ : dict
        The values of each category.
    warps_ : tuple of Warp
        How each number is bent; all identities unless ``marginals`` says otherwise.
    shrinkage_ : float
        The share that was used.
    calibration_ : Calibration or None
    completion_ : str or None
        How many values were missing, and how the expectation-maximisation that dealt with them ended.
    structure_report_ : StructureReport
        How the graph was found.
    n_iter_ : int
        Iterations of the structure learner (1 where there is nothing to iterate).
    feature_range_ : array of shape (2, n_features)
        Smallest and largest value of each feature in the training data; NaN for categories.
    feature_percentiles_ : array of shape (2, n_features)
        5th and 95th percentile of each feature (of 100,000 evenly spaced rows if there are more); NaN for
        categories.
    judged_ : dict or None
        ``accuracy`` on held-out rows and that of always saying the ``majority``, once `surefoot.diagnose`
        has looked at the classifier; kept in its file.
    wanted_ : label or None
        The class that counts as wanted: the target of explanations for which none is named. Kept in the file.
    recipe_ : Recipe or None
        How the table was read from which the rows came (`surefoot.datasets.read_table`); kept in the file.
    refits_ : tuple of ConditionalGaussianNetworkClassifier
        The model fitted again to rows drawn with replacement, on the same graph and the same scales, where
        `surefoot.select` or ``surefoot fit`` kept some; saved in its file. Answers say under how many of
        them they hold.
    density_percentiles_ : array of shape (n_classes, 101)
        Percentiles 0 to 100 of the log density that each class gives to its own training rows (of 20,000
        evenly spaced ones if there are more): how typical a row is. The density of the warped numbers.
    class_values_ : ClassValues or None
        Percentiles of each number and shares of each category's values in each class (of 20,000 evenly spaced
        rows if there are more): what is usual. None for models adopted without their data.
    feature_labels_ : tuple
        Names of the features, or their positions where ``fit`` saw no names.
    n_features_in_, feature_names_in_
        As in every scikit-learn estimator.

    Examples
    --------
    >>> from surefoot import ConditionalGaussianNetworkClassifier, datasets
    >>> bank = datasets.load_banknote()
    >>> clf = ConditionalGaussianNetworkClassifier(structure="tan").fit(bank.X, bank.y)
    >>> round(clf.score(bank.X, bank.y), 3)
    0.969
    >>> clf.dag_.parents
    ((), (2,), (0,), (1,))
    """

    judged_: dict[str, float] | None = None  # until `diagnose` has looked at it
    wanted_: Any = None
    recipe_: Recipe | None = None

    @property
    def units_(self) -> dict[str, str]:
        """Units of the numbers that were written with one in the table, by name."""
        known = {} if self.recipe_ is None else self.recipe_.units
        own = {str(name) for name, kind in self.feature_kinds_.items() if kind in ("number", "whole")}
        return {name: unit for name, unit in known.items() if name in own}

    refits_: tuple[Any, ...] = ()  # unless `select` or `surefoot fit` keeps some
    has_probability: bool = True  # adopted models may have none
    class_values_: ClassValues | None = None  # of models that come without rows

    def __init__(
        self,
        structure: Any = "tan",
        *,
        max_parents: int | None = None,
        root: Any = None,
        n_bins: int = 8,
        edge_penalty: float = 0.0,
        l1_penalty: float = 0.01,
        edge_threshold: float = 0.3,
        standardize: bool = False,
        max_iter: int = 100,
        required_edges: Any = None,
        forbidden_edges: Any = None,
        priors: Any = None,
        var_smoothing: float = 1e-8,
        categorical: Any = "auto",
        ordered: Any = None,
        marginals: str = "gaussian",
        plain: Any = None,
        shrinkage: float | str = 0.0,
        calibration: str | None = None,
        cell_smoothing: float = 10.0,
    ) -> None:
        self.structure = structure
        self.max_parents = max_parents
        self.root = root
        self.n_bins = n_bins
        self.edge_penalty = edge_penalty
        self.l1_penalty = l1_penalty
        self.edge_threshold = edge_threshold
        self.standardize = standardize
        self.max_iter = max_iter
        self.required_edges = required_edges
        self.forbidden_edges = forbidden_edges
        self.priors = priors
        self.var_smoothing = var_smoothing
        self.categorical = categorical
        self.ordered = ordered
        self.marginals = marginals
        self.plain = plain
        self.shrinkage = shrinkage
        self.calibration = calibration
        self.cell_smoothing = cell_smoothing

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn the graph, then every class's regressions and tables on it.

        Parameters
        ----------
        X : array, DataFrame or Dask DataFrame of shape (rows, n_features)
            Numbers, and in a DataFrame (or an array of objects) text, booleans and pandas categories. Values
            may be missing.
        y : array of labels of any kind
        sample_weight : array of non-negative weights, optional
        """
        for name in ("networks_", "_stream"):  # a failed refit must not leave half of the old model behind
            self.__dict__.pop(name, None)
        if is_partitioned(X):
            return self._follow(partitioned_stream(self, X, y, sample_weight), complete=True)
        check_settings(self)
        rows = training_rows(self, X, y, sample_weight)
        warn_of_names(rows, self.categorical)
        model = learned(self, rows)
        self.calibration_ = (
            None if self.calibration is None else held_out_calibration(self, rows, model.shrinkage)
        )
        self._remember(rows, model)
        return self

    @OnePassMethod
    def partial_fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Learn from one more batch of rows; after all of them the model is the one that `fit` would give.

        Each row is seen once. So the structure must be ``"naive"`` or a graph, marginals, shrinkage and
        calibration must need no second look (otherwise there is no such method), and no value may be missing.
        Percentiles come from a random sample of 20,000 rows of each class, which the classifier keeps. It is
        fitted as soon as every class has two rows.

        Parameters
        ----------
        X, y, sample_weight
            As in `fit`. Later batches may bring new values of categories.
        classes : array, optional
            All labels that are to come; others are then refused.
        """
        seen = self.__dict__.get("_stream")
        if seen is None and hasattr(self, "networks_"):
            message = "partial_fit starts anew: what fit learned is forgotten, for it keeps no statistics"
            warnings.warn(message, SurefootWarning, stacklevel=2)
        return self._follow(next_stream(self, seen, (X, y, sample_weight), classes))

    def _follow(self, stream: Stream, complete: bool = False) -> Self:
        """Become the model of all that was seen; ``complete`` says that no more will come."""
        found = streamed(self, stream, complete)
        self._stream = stream
        if found is not None:
            self.calibration_ = None
            self._remember(*found)
        return self

    def _remember(self, rows: TrainingRows, model: Learned) -> None:
        """Everything that `fit` leaves behind, but for the calibration."""
        moments, schema = model.gathered.moments, rows.schema
        self.classes_, self.class_prior_ = rows.classes, model.prior
        self.schema_, self.feature_labels_ = schema, schema.names
        self.warps_, self.shrinkage_ = model.warps, model.shrinkage
        self.structure_report_ = model.report
        self.dag_, self.n_iter_ = model.report.dag, model.report.n_iter
        self.class_count_, self.n_rows_ = moments.totals, int(moments.rows.sum())
        self.feature_range_ = over_features(schema, number_range(rows, model))
        self.feature_percentiles_ = over_features(schema, percentiles(rows.numbers, rows.weights))
        self.density_percentiles_ = own_densities(rows, model)
        self.class_values_ = values_of_rows(rows, len(rows.classes))
        self.completion_ = model.gathered.completion
        for name in ("judged_", "wanted_", "recipe_", "refits_"):  # those of an earlier fit
            self.__dict__.pop(name, None)
        self.networks_ = model.networks

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "networks_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = tags.input_tags.categorical = tags.input_tags.string = True
        return tags

    @property
    def feature_kinds_(self) -> dict[Any, str]:
        """Each feature's kind: ``"number"``, ``"whole"``, ``"date"`` or ``"category"``."""
        check_is_fitted(self)
        return self.schema_.kinds

    @property
    def categories_(self) -> dict[Any, tuple[Any, ...]]:
        """The values of each category."""
        check_is_fitted(self)
        names = [self.schema_.names[j] for j in self.schema_.categories]
        return dict(zip(names, self.schema_.category_values, strict=True))

    @property
    def weights_(self) -> Array:
        """Regression weights ``[class, child, parent]``."""
        return np.array([network.weights for network in self._plain_networks("weights_")])

    @property
    def intercepts_(self) -> Array:
        """Regression intercepts ``[class, feature]``."""
        return np.array([network.intercepts for network in self._plain_networks("intercepts_")])

    @property
    def variances_(self) -> Array:
        """Conditional variances ``[class, feature]``."""
        return np.array([network.variances for network in self._plain_networks("variances_")])

    @property
    def means_(self) -> Array:
        """Class means ``[class, feature]``."""
        return np.array([network.means for network in self._plain_networks("means_")])

    @property
    def fingerprint_(self) -> str:
        """A short digest of everything that decides: the same for a saved and loaded classifier."""
        check_is_fitted(self)
        return fingerprint(self)

    def predict_joint_log_proba(self, X: ArrayLike) -> Array:
        """Log h_c(x) = log P(c) + log density of x in class c, for every row and class.

        Calibration has no part in it: this is a density, in the units of the table.
        """
        check_is_fitted(self)
        numbers, codes = known_rows(self, X)
        joint = joint_log(self.networks_, self.class_prior_, warped(numbers, self.warps_), codes)
        return with_slopes(joint, numbers, self.warps_)

    def decision_function(self, X: ArrayLike) -> Array:
        """Two classes: H = log h_1 - log h_0, one number per row. More classes: log h_c, a column each.

        With calibration, of (log h_c) / T + shift_c; so a difference is always the log-odds of two classes.
        """
        scores = self._scores(X)
        return scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores

    def predict_log_proba(self, X: ArrayLike) -> Array:
        """Log posterior probability of every class."""
        scores = self._scores(X)
        return np.asarray(scores - logsumexp(scores, axis=1, keepdims=True))

    def predict_proba(self, X: ArrayLike) -> Array:
        """Posterior probability of every class."""
        return np.exp(self.predict_log_proba(X))

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Most probable label of each row."""
        scores = self._scores(X)
        return np.asarray(self.classes_[scores.argmax(axis=1)])

    def network(self, label: Any, state: State | Mapping[Any, Any] = ()) -> LinearGaussianNetwork:
        """The network of the (warped) numbers in one class, for given values of the categories.

        Parameters
        ----------
        label : one of ``classes_``
        state : tuple of codes or dict by feature name
            Needed where there are categories.
        """
        check_is_fitted(self)
        found = self.schema_.state(state) if isinstance(state, Mapping) else tuple(state)
        if len(found) != self.schema_.n_categories:
            raise DataError(f"a state has {self.schema_.n_categories} values, one for each category")
        return numbers_network(self.networks_[self._class_index(label)], found)

    def decision(self, target: Any, rival: Any) -> MixedQuadratic:
        """Log-odds of one label against another in the warped numbers, a quadratic for every state.

        Parameters
        ----------
        target, rival : labels
            Two of ``classes_``.
        """
        check_is_fitted(self)
        classes = self._class_index(target), self._class_index(rival)
        return log_odds(self.networks_, self.class_prior_, classes, self.calibration_)

    def log_density_quadratic(self, label: Any) -> MixedQuadratic:
        """Log density of the warped numbers and of the categories in one class.

        Neither prior nor calibration have a part in it.
        """
        check_is_fitted(self)
        return log_density_quadratic(self.networks_[self._class_index(label)])

    def decision_quadratic(self, target: Any, other: Any, state: Any = None) -> Quadratic:
        """H(x) = log h_target(x) - log h_other(x), exactly, as one `Quadratic`.

        With calibration, the calibrated log-odds; with warps, in the warped numbers.

        Parameters
        ----------
        target, other : labels
            Two of ``classes_``.
        state : dict of the categories' values by name, or a row of the table
            Needed where there are categories; the quadratic is in the numbers alone.

        Examples
        --------
        >>> from surefoot import ConditionalGaussianNetworkClassifier, datasets
        >>> bank = datasets.load_banknote()
        >>> clf = ConditionalGaussianNetworkClassifier().fit(bank.X, bank.y)
        >>> H = clf.decision_quadratic(1, 0)
        >>> bool(np.allclose(H(bank.X), clf.decision_function(bank.X), rtol=1e-9))
        True
        """
        check_is_fitted(self)
        if state is None and self.schema_.n_categories:
            name = self.schema_.names[self.schema_.categories[0]]
            raise DataError(f"decision_quadratic needs state: the values of the categories ({name!r}, ...)")
        return self.decision(target, other).at(() if state is None else self.schema_.state(state))

    def sample(
        self, n_samples: int = 1, random_state: int | np.random.Generator | None = None
    ) -> tuple[Any, NDArray[Any]]:
        """Draw rows and their labels from the model.

        Returns
        -------
        X : DataFrame if ``fit`` saw column names or categories, else array
        y : array of labels
        """
        check_is_fitted(self)
        rng = np.random.default_rng(random_state)
        codes = rng.choice(len(self.classes_), size=n_samples, p=self.class_prior_)
        Z = np.empty((n_samples, self.schema_.n_numbers))
        states = np.empty((n_samples, self.schema_.n_categories), dtype=np.intp)
        for c, network in enumerate(self.networks_):
            drawn = network.sample(int(np.sum(codes == c)), rng)
            if isinstance(network, MixedNetwork):
                Z[codes == c], states[codes == c] = drawn
            else:
                Z[codes == c] = drawn
        X = unwarped(Z, self.warps_)
        if not self.schema_.is_plain:
            return self.schema_.decode(X, states), self.classes_[codes]
        names = getattr(self, "feature_names_in_", None)
        return X if names is None else pd.DataFrame(X, columns=names), self.classes_[codes]

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted model as readable, versioned JSON."""
        check_is_fitted(self)
        write_model(path, classifier_content(self))

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, max_size: int | None = None) -> Self:
        """Read a model written by `save`; its probabilities are bit-identical.

        ``max_size`` is the most bytes that the file may have (default: two billion).
        """
        return restore_classifier(cls(), read_model(path, max_size), str(path))

    def summary(self) -> str:
        """What was learned, as a few lines of text."""
        check_is_fitted(self)
        return str(view("model text", self))

    def plot_dag(self, ax: Any = None) -> Any:
        """Draw the graph, the class node and its edges dashed, categories square; returns the Axes."""
        check_is_fitted(self)
        return view("graph plot", self.dag_, self.feature_labels_, ax=ax, categories=self.schema_.categories)

    def _html_repr(self) -> str:
        """Scikit-learn's box, and below it what was learned."""
        box: str = super()._html_repr()
        return box + view("model page", self) if hasattr(self, "networks_") else box

    def _scores(self, X: ArrayLike) -> Array:
        """Log h_c up to a term that is the same for all classes, calibrated."""
        check_is_fitted(self)
        return self.class_scores(*known_rows(self, X))

    def class_scores(self, numbers: NDArray[Any], codes: NDArray[np.intp]) -> Array:
        """The score of every class for rows that are read already: see `Schema.encode`.

        Differences of scores are log-odds.
        """
        return self.scaled_scores(warped(numbers, self.warps_), codes)

    def scaled_scores(self, Z: NDArray[Any], codes: NDArray[np.intp]) -> Array:
        """The same for numbers that are on the scales on which the networks measure them."""
        joint = joint_log(self.networks_, self.class_prior_, Z, codes)
        return joint if self.calibration_ is None else self.calibration_(joint)

    def _plain_networks(self, name: str) -> tuple[LinearGaussianNetwork, ...]:
        check_is_fitted(self)
        found = tuple(network for network in self.networks_ if isinstance(network, LinearGaussianNetwork))
        if len(found) != len(self.networks_):
            raise AttributeError(
                f"{name} is for tables without categories; network(label, state) has the rest"
            )
        return found

    def _class_index(self, label: Any) -> int:
        found = np.flatnonzero(self.classes_ == label)
        if len(found) != 1:
            raise DataError(f"unknown class {label!r}; the classes are {self.classes_.tolist()}")
        return int(found[0])
