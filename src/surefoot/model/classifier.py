"""The conditional Gaussian network classifier, as a scikit-learn estimator."""

from __future__ import annotations

import os
from collections.abc import Mapping
from hashlib import sha256
from numbers import Real
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy.special import logsumexp
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from surefoot.datasets.table import column_faults, duplicate_names, joined, plain_labels
from surefoot.exceptions import DataError, ZeroVarianceError
from surefoot.model.content import classifier_content, restore_classifier
from surefoot.model.file import read_model, write_model
from surefoot.model.moments import ClassMoments, class_moments, quantiles, row_chunks
from surefoot.model.network import LinearGaussianNetwork, density_percentiles
from surefoot.model.structure import TrainingData, choose_structure
from surefoot.waist.quadratic import Quadratic

Array = NDArray[np.float64]


class ConditionalGaussianNetworkClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Bayes classifier whose classes are linear Gaussian networks over one shared graph.

    log h_c(x) = log rho_c + sum_i log N(x_i; sum_j w_ij^c x_j + b_i^c, v_i^c), the sum over j running
    over the parents of feature i; the class with the largest h_c is predicted.

    Parameters
    ----------
    structure : {"tan", "naive", "ban"}, Dag, networkx.DiGraph or dict, default="tan"
        ``"naive"`` has no edges, ``"tan"`` learns a tree, ``"ban"`` a sparse graph by NOTEARS. A graph
        of your own is taken as it is; a dict reads ``{child: [parents]}`` by feature name.
    max_parents : int, optional
        With ``"ban"``: keep only that many strongest parents of each feature.
    root : feature name or position, optional
        With ``"tan"``: the feature without a parent. Default: the first one.
    n_bins : int, default=8
        With ``"tan"``: equal-frequency bins per feature for the mutual information.
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

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    class_prior_, class_count_ : arrays of shape (n_classes,)
        Prior probability, and sum of weights, of every class.
    n_rows_ : int
        Number of rows with positive weight that ``fit`` saw.
    dag_ : Dag
        The graph over the features.
    networks_ : tuple of LinearGaussianNetwork
        One density per class.
    weights_ : array of shape (n_classes, n_features, n_features)
        ``[class, child, parent]``, the paper's w_ij^c.
    intercepts_, variances_, means_ : arrays of shape (n_classes, n_features)
    structure_report_ : StructureReport
        How the graph was found.
    n_iter_ : int
        Iterations of the structure learner (1 where there is nothing to iterate).
    feature_range_ : array of shape (2, n_features)
        Smallest and largest value of each feature in the training data.
    feature_percentiles_ : array of shape (2, n_features)
        5th and 95th percentile of each feature (of 100,000 evenly spaced rows if there are more).
    density_percentiles_ : array of shape (n_classes, 101)
        Percentiles 0 to 100 of the log density that each class gives to its own training rows (of 20,000
        evenly spaced ones if there are more): how typical a row is.
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

    def __init__(
        self,
        structure: Any = "tan",
        *,
        max_parents: int | None = None,
        root: Any = None,
        n_bins: int = 8,
        l1_penalty: float = 0.01,
        edge_threshold: float = 0.3,
        standardize: bool = False,
        max_iter: int = 100,
        required_edges: Any = None,
        forbidden_edges: Any = None,
        priors: Any = None,
        var_smoothing: float = 1e-8,
    ) -> None:
        self.structure = structure
        self.max_parents = max_parents
        self.root = root
        self.n_bins = n_bins
        self.l1_penalty = l1_penalty
        self.edge_threshold = edge_threshold
        self.standardize = standardize
        self.max_iter = max_iter
        self.required_edges = required_edges
        self.forbidden_edges = forbidden_edges
        self.priors = priors
        self.var_smoothing = var_smoothing

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn the graph, then every class's regressions on it, from one pass over the rows.

        Parameters
        ----------
        X : array or DataFrame of shape (rows, n_features)
        y : array of labels of any kind
        sample_weight : array of non-negative weights, optional
        """
        self.__dict__.pop("networks_", None)  # a failed refit must not leave half of the old model behind
        X_, classes, codes, weights = self._validated(X, y, sample_weight)
        self.classes_ = classes
        self.feature_labels_ = _feature_labels(X, self.n_features_in_)
        moments = class_moments(X_, codes, len(classes), weights)
        self._refuse_unusable(moments)
        self.structure_report_ = choose_structure(
            self.structure,
            TrainingData(X_, codes, weights, moments, self.feature_labels_),
            max_parents=self.max_parents,
            root=self.root,
            n_bins=self.n_bins,
            l1_penalty=self.l1_penalty,
            edge_threshold=self.edge_threshold,
            standardize=self.standardize,
            max_iter=self.max_iter,
            required_edges=self.required_edges,
            forbidden_edges=self.forbidden_edges,
        )
        self.dag_, self.n_iter_ = self.structure_report_.dag, self.structure_report_.n_iter
        self.class_count_, self.n_rows_ = moments.totals, int(moments.rows.sum())
        self.class_prior_ = self._priors(moments.totals)
        self.feature_range_ = np.array([moments.low, moments.high])
        self.feature_percentiles_ = _percentiles(X_, weights)
        noise = self._noise(moments)
        networks = tuple(self._fit_class(c, moments, noise) for c in range(len(classes)))
        self.density_percentiles_ = density_percentiles(networks, X_, codes, weights)
        self.networks_ = networks
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "networks_")

    @property
    def weights_(self) -> Array:
        """Regression weights ``[class, child, parent]``."""
        check_is_fitted(self)
        return np.array([network.weights for network in self.networks_])

    @property
    def intercepts_(self) -> Array:
        """Regression intercepts ``[class, feature]``."""
        check_is_fitted(self)
        return np.array([network.intercepts for network in self.networks_])

    @property
    def variances_(self) -> Array:
        """Conditional variances ``[class, feature]``."""
        check_is_fitted(self)
        return np.array([network.variances for network in self.networks_])

    @property
    def means_(self) -> Array:
        """Class means ``[class, feature]``."""
        check_is_fitted(self)
        return np.array([network.means for network in self.networks_])

    @property
    def fingerprint_(self) -> str:
        """A short digest of everything that decides: the same for a saved and loaded classifier."""
        digest = sha256(repr(self.classes_.tolist()).encode() + self.class_prior_.tobytes())
        for network in self.networks_:
            for part in (network.weights, network.means, network.variances):
                digest.update(np.ascontiguousarray(part).tobytes())
        return digest.hexdigest()[:16]

    def predict_joint_log_proba(self, X: ArrayLike) -> Array:
        """Log h_c(x) = log P(c) + log density of x in class c, for every row and class."""
        check_is_fitted(self)
        X_ = self._validated_rows(X)
        log_prior = np.log(self.class_prior_)
        joint = np.empty((len(X_), len(self.classes_)))
        for chunk in row_chunks(len(X_)):
            for c, network in enumerate(self.networks_):
                joint[chunk, c] = log_prior[c] + network.log_density(X_[chunk])
        return joint

    def decision_function(self, X: ArrayLike) -> Array:
        """Two classes: H = log h_1 - log h_0, one number per row. More classes: log h_c, a column each."""
        joint = self.predict_joint_log_proba(X)
        return joint[:, 1] - joint[:, 0] if len(self.classes_) == 2 else joint

    def predict_log_proba(self, X: ArrayLike) -> Array:
        """Log posterior probability of every class."""
        joint = self.predict_joint_log_proba(X)
        return np.asarray(joint - logsumexp(joint, axis=1, keepdims=True))

    def predict_proba(self, X: ArrayLike) -> Array:
        """Posterior probability of every class."""
        return np.exp(self.predict_log_proba(X))

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Most probable label of each row."""
        joint = self.predict_joint_log_proba(X)
        return np.asarray(self.classes_[joint.argmax(axis=1)])

    def decision_quadratic(self, target: Any, other: Any) -> Quadratic:
        """H(x) = log h_target(x) - log h_other(x), exactly, as one `Quadratic`.

        Parameters
        ----------
        target, other : labels
            Two of ``classes_``.

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
        t, o = self._class_index(target), self._class_index(other)
        log_prior = np.log(self.class_prior_)
        density, rival = (self.networks_[c].log_density_quadratic() for c in (t, o))
        return density - rival + float(log_prior[t] - log_prior[o])

    def sample(
        self, n_samples: int = 1, random_state: int | np.random.Generator | None = None
    ) -> tuple[Any, NDArray[Any]]:
        """Draw rows and their labels from the model.

        Returns
        -------
        X : DataFrame if ``fit`` saw column names, else array
        y : array of labels
        """
        check_is_fitted(self)
        rng = np.random.default_rng(random_state)
        codes = rng.choice(len(self.classes_), size=n_samples, p=self.class_prior_)
        X = np.empty((n_samples, self.n_features_in_))
        for c, network in enumerate(self.networks_):
            X[codes == c] = network.sample(int(np.sum(codes == c)), rng)
        names = getattr(self, "feature_names_in_", None)
        return X if names is None else pd.DataFrame(X, columns=names), self.classes_[codes]

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted model as readable, versioned JSON."""
        check_is_fitted(self)
        write_model(path, classifier_content(self))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a model written by `save`; its probabilities are bit-identical."""
        return restore_classifier(cls(), read_model(path), str(path))

    def summary(self) -> str:
        """What was learned, as a few lines of text."""
        from surefoot.faces.report.model import model_text

        check_is_fitted(self)
        return model_text(self)

    def plot_dag(self, ax: Any = None) -> Any:
        """Draw the graph, the class node and its edges dashed; returns the matplotlib Axes."""
        from surefoot.faces.plots.dag import plot_dag

        check_is_fitted(self)
        return plot_dag(self.dag_, self.feature_labels_, ax=ax)

    def _html_repr(self) -> str:
        """Scikit-learn's box, and below it what was learned."""
        from surefoot.faces.report.model import model_html

        box: str = super()._html_repr()
        return box + model_html(self) if hasattr(self, "networks_") else box

    def _validated(
        self, X: Any, y: Any, sample_weight: Any
    ) -> tuple[NDArray[Any], NDArray[Any], NDArray[np.intp], Array | None]:
        """Check data as scikit-learn does, with complaints that name column and row."""
        _refuse_duplicate_names(X)
        labels = plain_labels(y)
        try:
            # Integers and single precision stay what they are: rows are widened chunk by chunk.
            X_, y_ = validate_data(self, X, labels, dtype="numeric")
        except (TypeError, ValueError) as error:
            raise _located(error, X) from None
        try:
            check_classification_targets(y_)
            classes, codes = np.unique(y_, return_inverse=True)
        except TypeError:
            raise DataError("labels must all be of one kind (all numbers or all strings)") from None
        except ValueError as error:
            raise DataError(str(error)) from None
        if len(classes) < 2:
            raise DataError(
                f"needs at least two classes, but y holds one class only: {classes.tolist()[0]!r}"
            )
        if sample_weight is None:
            return X_, classes, codes, None
        weights: Array = _check_sample_weight(sample_weight, X_, dtype=np.float64, ensure_non_negative=True)
        return X_, classes, codes, weights

    def _validated_rows(self, X: Any) -> NDArray[Any]:
        _refuse_duplicate_names(X)
        try:
            return np.asarray(validate_data(self, X, reset=False, dtype="numeric"))
        except (TypeError, ValueError) as error:
            raise _located(error, X) from None

    def _refuse_unusable(self, moments: ClassMoments) -> None:
        """Refuse classes that are too small and columns whose squares overflow."""
        sizes = np.array([np.diag(S) for S in moments.covariances])
        huge = np.flatnonzero(~np.isfinite(sizes).all(axis=0))
        if huge.size:
            name, low, high = self.feature_labels_[huge[0]], moments.low[huge[0]], moments.high[huge[0]]
            raise DataError(f"column {name!r} holds values too large to square ({low:g} to {high:g})")
        for label, rows, total in zip(self.classes_.tolist(), moments.rows, moments.totals, strict=True):
            if rows < 2 and total < 2:  # a row of weight two counts as two rows
                raise DataError(
                    f"class {label!r} has {'a single row' if rows else 'no row'} with positive weight; "
                    f"its variances need at least two (all classes: n_samples={moments.rows.sum()})"
                )

    def _priors(self, totals: Array) -> Array:
        if self.priors is None:
            return np.asarray(totals / totals.sum())
        if isinstance(self.priors, Mapping):
            missing = [c for c in self.classes_.tolist() if c not in self.priors]
            if missing or len(self.priors) != len(self.classes_):
                raise DataError(f"priors must name exactly the classes {self.classes_.tolist()}")
            prior = np.array([self.priors[c] for c in self.classes_.tolist()], dtype=float)
        else:
            try:
                prior = np.array(self.priors, dtype=float)
            except (TypeError, ValueError):
                raise DataError(f"priors must be numbers, not {self.priors!r}") from None
        if prior.shape != totals.shape or not (prior > 0).all() or not np.isclose(prior.sum(), 1.0):
            raise DataError(f"priors must be {len(totals)} positive numbers that sum to one")
        return np.asarray(prior / prior.sum())

    def _noise(self, moments: ClassMoments) -> Array:
        """Variance added to every feature: a share of its own overall variance, so units do not matter."""
        if not (isinstance(self.var_smoothing, Real) and 0 <= self.var_smoothing < np.inf):
            raise DataError(f"var_smoothing must be a number >= 0, not {self.var_smoothing!r}")
        variances = np.diag(moments.pooled_covariance())
        return np.asarray(self.var_smoothing * np.where(variances > 0, variances, 1.0))

    def _fit_class(self, c: int, moments: ClassMoments, noise: Array) -> LinearGaussianNetwork:
        try:
            return LinearGaussianNetwork.from_moments(
                self.dag_, moments.means[c], moments.covariances[c], noise
            )
        except ZeroVarianceError as error:
            name = self.feature_labels_[error.feature]
            raise DataError(
                f"feature {name!r} is constant, or determined by its parents, in class "
                f"{self.classes_.tolist()[c]!r}; its variance is zero, so var_smoothing must be positive"
            ) from None

    def _class_index(self, label: Any) -> int:
        found = np.flatnonzero(self.classes_ == label)
        if len(found) != 1:
            raise DataError(f"unknown class {label!r}; the classes are {self.classes_.tolist()}")
        return int(found[0])


def _refuse_duplicate_names(X: Any) -> None:
    twice = duplicate_names(list(X.columns)) if isinstance(X, pd.DataFrame) else []
    if twice:
        raise DataError(f"column name {twice[0]!r} occurs more than once")


def _located(error: Exception, X: Any) -> Exception:
    """The same complaint with the columns and rows it is about, where they can be found."""
    if "Complex" in str(error) or (isinstance(error, TypeError) and not isinstance(X, pd.DataFrame)):
        return error
    try:
        frame = X if isinstance(X, pd.DataFrame) else pd.DataFrame(np.asarray(X))
        faults = column_faults(frame)
    except (TypeError, ValueError):  # not a table at all; scikit-learn's own words will do
        return error
    return DataError(joined(faults)) if faults else error


def _feature_labels(X: Any, n_features: int) -> tuple[Any, ...]:
    """Column names of a frame (strings or whole numbers), or positions where there are none."""
    names = X.columns.tolist() if isinstance(X, pd.DataFrame) else []
    alike = {type(name) for name in names} in ({str}, {int})
    return tuple(names) if alike else tuple(range(n_features))


def _percentiles(X: NDArray[Any], weights: Array | None) -> Array:
    """5th and 95th percentiles; searches only use them as rough bounds, so a large sample will do."""
    every = slice(None, None, -(-len(X) // 100_000))
    part = None if weights is None else weights[every]
    return np.array([quantiles(column, np.array([0.05, 0.95]), part) for column in X[every].T], dtype=float).T
