"""Gaussian models of scikit-learn, which are conditional Gaussian network classifiers, as such."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import linalg, special
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted, validate_data

from surefoot.exceptions import DataError
from surefoot.model.adoption.comparison import class_odds
from surefoot.model.adoption.data import class_codes, pair
from surefoot.model.adoption.wrappers import unwrapped
from surefoot.model.class_values import ClassValues, values_of_numbers
from surefoot.model.classifier import ConditionalGaussianNetworkClassifier
from surefoot.model.columns import holds_whole
from surefoot.model.dag import Dag
from surefoot.model.moments import class_moments, quantiles
from surefoot.model.network import LinearGaussianNetwork, density_percentiles
from surefoot.model.scalers import Affine, by_type, composed
from surefoot.model.schema import Schema
from surefoot.model.structure import StructureReport
from surefoot.model.warp import IDENTITY

Array = NDArray[np.float64]
Networks = tuple[LinearGaussianNetwork, ...]

TOLERANCE, SINGLE_TOLERANCE = 1e-6, 1e-3  # relative; the second for models fitted in single precision
EPS = float(np.finfo(float).eps)
POINTS_PER_CLASS = 200
# Of a normal distribution: shares 0.1 % and 99.9 %, and 5 % and 95 %.
RANGE_DEVIATIONS, PERCENTILE_DEVIATIONS = 3.0, 1.645
RAREST = 1e-6  # stands for the 0th percentile of a log density, which in theory is minus infinity

NO_COVARIANCE = (
    "LinearDiscriminantAnalysis with solver='svd' keeps no covariance: fit it with store_covariance=True, "
    "or pass data=(X, y), the rows it was fitted on in the units that go into the model or pipeline"
)
OTHER_COVARIANCE = (
    "neither covariance_ nor data gives the coefficients of this LinearDiscriminantAnalysis: pass "
    "data=(X, y), exactly the rows it was fitted on in the units that go into the model or pipeline (with "
    "solver='svd' and priors of your own, covariance_ is not what it decides with; and where the scales of "
    "features differ so much that scikit-learn loses digits, scale them first)"
)
SINGULAR = (
    "the covariance of {model} is singular (a feature is constant or a combination of others, scales differ "
    "too much, or there are too few rows), so it has no density: drop or scale features, or fit with {remedy}"
)


class Rows(NamedTuple):
    """Rows and the position of the class of each."""

    X: Array
    codes: NDArray[np.intp]


Reader = Callable[[Any, Rows | None], Networks]


class Summary(NamedTuple):
    """What a fitted classifier remembers about the rows it was fitted on."""

    class_count: Array
    n_rows: int
    feature_range: Array
    feature_percentiles: Array
    density_percentiles: Array
    class_values: ClassValues | None = None


# --- the steps of a pipeline


def _flat(name: str, estimator: Any) -> Iterator[tuple[str, Any]]:
    """The steps of a pipeline, and of pipelines within it, without those that do nothing."""
    estimator = unwrapped(estimator)
    if not isinstance(estimator, Pipeline):
        yield name, estimator
        return
    for inner_name, step in estimator.steps:
        if step is not None and not (isinstance(step, str) and step == "passthrough"):
            yield from _flat(f"{name}__{inner_name}" if name else inner_name, step)


def adopted_gaussian(
    estimator: Any, data: tuple[Any, Any] | None
) -> ConditionalGaussianNetworkClassifier | None:
    """The network that a Gaussian model behind nothing but scalers is; None if it is something else.

    If the scalers feed the model x' = a x + b, the network in the units of x has ``means (m - b) / a,
    weights w_ij a_j / a_i, variances v_i / a_i^2``; densities change by the same factor in every class, so
    decisions and probabilities stay what they are.
    """
    steps = list(_flat("", estimator))
    model: Any = steps[-1][1] if steps else None
    read = by_type(READERS, model)
    if read is None:
        return None
    check_is_fitted(model)
    if len(model.classes_) < 2:
        raise DataError(f"there must be two classes or more, not {len(model.classes_)}")
    units = composed(steps[:-1], model.n_features_in_)
    if isinstance(model, ConditionalGaussianNetworkClassifier):
        if len(steps) == 1:
            return model
        _refuse_mixed(model, units)
    if units is None:
        return None
    clf = named_classifier(steps[0][1], steps[-1][1])
    rows = None if data is None else _checked_rows(clf, data)
    inner = None if rows is None else Rows(units.scale * rows.X + units.offset, rows.codes)
    networks = tuple(_in_units_before(network, units) for network in read(model, inner))
    completed(clf, model, networks, _summary(model, networks, rows, units))
    if rows is not None:
        clf.schema_ = Schema.of_numbers(
            clf.feature_labels_, [holds_whole(pd.Series(column)) for column in rows.X.T]
        )
    _refuse_other_decisions(clf, estimator, _tolerance(model))
    return clf


def _refuse_mixed(model: ConditionalGaussianNetworkClassifier, units: Affine | None) -> None:
    """A network behind scalers is one again; behind anything else, or with categories, it is not."""
    plain = all(warp.is_identity for warp in model.warps_) and not model.schema_.n_categories
    if units is None or not plain:
        raise DataError(
            "a ConditionalGaussianNetworkClassifier can be taken out of a pipeline only if it has neither "
            "categories nor warps and stands behind nothing but scalers; fit it to the table itself"
        )


def _in_units_before(network: LinearGaussianNetwork, units: Affine) -> LinearGaussianNetwork:
    """From x' = a x + b back to x: (m - b) / a, w_ij a_j / a_i, v_i / a_i^2."""
    a, b = units
    weights = network.weights * a / a[:, None]
    return LinearGaussianNetwork(network.dag, weights, (network.means - b) / a, network.variances / a**2)


def _unit(network: LinearGaussianNetwork) -> tuple[LinearGaussianNetwork, Array]:
    """The network with every feature counted in conditional standard deviations, and these.

    What has to be solved is then as well conditioned as the correlations are, whatever the units.
    """
    scale = np.sqrt(network.variances)
    return _in_units_before(network, Affine(scale, 0.0)), scale


# --- the networks inside each model


def _independent(model: Any, _: Rows | None) -> Networks:
    """Gaussian naive Bayes: N(theta_i, var_i) for each feature."""
    dag, n = Dag.empty(model.n_features_in_), model.n_features_in_
    pairs = zip(model.theta_, model.var_, strict=True)
    return tuple(LinearGaussianNetwork(dag, np.zeros((n, n)), mean, v) for mean, v in pairs)


def _own_covariances(model: Any, _: Rows | None) -> Networks:
    """Quadratic discriminant analysis: Sigma_c = R diag(s) R', so M = diag(s)^(-1/2) R' whitens."""
    networks = []
    for mean, rotation, s in zip(model.means_, model.rotations_, model.scalings_, strict=True):
        n = len(mean)
        # A singular value is known up to n eps times the largest one; s are their squares.
        if np.shape(rotation) != (n, n) or not s.min() > (n * EPS) ** 2 * s.max():
            raise DataError(SINGULAR.format(model=type(model).__name__, remedy="reg_param"))
        networks.append(_complete_network(mean, (rotation / np.sqrt(s)).T))
    return tuple(networks)


def _shared_covariance(model: Any, rows: Rows | None) -> Networks:
    """Linear discriminant analysis: the one covariance it decides with, known up to a factor."""
    candidates = [S for S in (getattr(model, "covariance_", None), _within(model, rows)) if S is not None]
    if not candidates:
        raise DataError(NO_COVARIANCE)
    for S in candidates:
        M = _deciding_whitening(model, np.asarray(S, dtype=float))
        if M is not None:
            return tuple(_complete_network(mean, M) for mean in model.means_)
    raise DataError(OTHER_COVARIANCE)


def _within(model: Any, rows: Rows | None) -> Array | None:
    """Biased covariance of the rows around the means of their classes."""
    if rows is None:
        return None
    moments = class_moments(rows.X, rows.codes, len(model.classes_))
    return np.asarray(np.tensordot(moments.totals / moments.totals.sum(), moments.covariances, axes=1))


def _deciding_whitening(model: Any, S: Array) -> Array | None:
    """M with M'M = s inv(S) such that s inv(S) (m_c - m_0) are the coefficients; None if no s does that.

    What divides the scatter (rows, or rows less classes) differs between solvers and versions of
    scikit-learn, and priors do not always enter; least squares finds s = <D, C> / <D, D>.
    """
    M, deviations = _whitening(S, type(model).__name__), np.sqrt(np.diag(S))
    coef = model.coef_ if len(model.coef_) == 1 else model.coef_[1:] - model.coef_[0]
    C = coef * deviations  # per standard deviation, so that units carry no weight
    D = (model.means_[1:] - model.means_[0]) @ M.T @ M * deviations
    s = float(np.sum(D * C) / np.sum(D**2)) if D.any() else 1.0
    if not (s > 0 and linalg.norm(s * D - C) <= _tolerance(model) * linalg.norm(C)):
        return None
    return np.asarray(np.sqrt(s) * M)


def _whitening(S: Array, model: str) -> Array:
    """M with M'M = inv(S), by the eigenvectors of the correlations: units cannot make those singular."""
    deviations = np.sqrt(np.diag(S))
    divisors = np.where(deviations > 0, deviations, 1.0)
    values, vectors = linalg.eigh(S / np.outer(divisors, divisors))
    if not values[0] > len(S) * EPS * values[-1]:
        raise DataError(SINGULAR.format(model=model, remedy="solver='lsqr' and shrinkage"))
    return np.asarray((vectors / np.sqrt(values)).T / divisors)


def _complete_network(mean: Array, M: Array) -> LinearGaussianNetwork:
    """The network over the complete graph with M'M = A' diag(1/v) A.

    M = Q L with L lower triangular gives diag(v)^(-1/2) A = L up to signs; inv(Sigma) is never formed.
    """
    L = linalg.qr(np.asarray(M, dtype=float)[:, ::-1], mode="r")[0][::-1, ::-1]
    pivots = np.diag(L)
    weights = np.tril(-L / pivots[:, None], -1)
    return LinearGaussianNetwork(Dag.complete(len(L)), weights, mean, 1.0 / pivots**2)


READERS: dict[type, Reader] = {
    ConditionalGaussianNetworkClassifier: lambda model, _: model.networks_,
    GaussianNB: _independent,
    LinearDiscriminantAnalysis: _shared_covariance,
    QuadraticDiscriminantAnalysis: _own_covariances,
}


# --- everything else that a fitted classifier has


def named_classifier(first: Any, model: Any) -> ConditionalGaussianNetworkClassifier:
    """A classifier that knows its features, from the first step, and classes, and nothing else yet."""
    clf = ConditionalGaussianNetworkClassifier()
    clf.n_features_in_, clf.classes_ = int(model.n_features_in_), np.asarray(model.classes_)
    # The first step alone saw the user's columns; later ones may see names that a scaler made up.
    names = getattr(first, "feature_names_in_", None)
    if names is not None:
        clf.feature_names_in_ = np.asarray(names, dtype=object)
    clf.feature_labels_ = tuple(range(clf.n_features_in_) if names is None else names)
    return clf


def _checked_rows(clf: ConditionalGaussianNetworkClassifier, data: Any) -> Rows:
    table, y = pair(data)
    X = table if hasattr(clf, "feature_names_in_") else np.asarray(table)
    try:
        X_ = validate_data(clf, X, reset=False, dtype=np.float64)
    except ValueError as error:
        raise DataError(f"data: {error}") from None
    return Rows(X_, class_codes(clf.classes_.tolist(), y, X_))


def _summary(model: Any, networks: Networks, rows: Rows | None, units: Affine) -> Summary:
    if rows is not None:
        return _observed(networks, rows)
    if isinstance(model, ConditionalGaussianNetworkClassifier):
        return _remembered(model, units)
    return expected_summary(networks, getattr(model, "class_count_", np.ones(len(networks))))


def _observed(networks: Networks, rows: Rows) -> Summary:
    X, codes = rows
    ends = [quantiles(column, np.array([0.05, 0.95]), None) for column in X.T]
    return Summary(
        np.bincount(codes).astype(float),
        len(X),
        np.array([X.min(axis=0), X.max(axis=0)]),
        np.array(ends).T,
        density_percentiles(networks, X, codes),
        values_of_numbers(X, codes, len(networks)),
    )


def _remembered(model: ConditionalGaussianNetworkClassifier, units: Affine) -> Summary:
    """What a network behind scalers remembers, in the units before them; densities grow by prod(a)."""
    a, b = units
    return Summary(
        model.class_count_,
        model.n_rows_,
        (model.feature_range_ - b) / a,
        (model.feature_percentiles_ - b) / a,
        model.density_percentiles_ + np.log(a).sum(),
        None if model.class_values_ is None else ClassValues((model.class_values_.percentiles - b) / a),
    )


def expected_summary(networks: Networks, counts: Any) -> Summary:
    """What the model itself expects of its rows: mean +- z sd, and log peak - chi2 quantile / 2."""
    means = np.array([network.means for network in networks])
    deviations = np.array([scale * np.sqrt(np.diag(unit.covariance)) for unit, scale in map(_unit, networks)])
    peaks = np.array([network.log_density(network.means[None])[0] for network in networks])
    levels = np.maximum(np.linspace(0, 1, 101), RAREST)
    wide, narrow = (
        np.array([(means - z * deviations).min(axis=0), (means + z * deviations).max(axis=0)])
        for z in (RANGE_DEVIATIONS, PERCENTILE_DEVIATIONS)
    )
    return Summary(
        np.asarray(counts, dtype=float),
        max(1, round(float(np.sum(counts)))),
        wide,
        narrow,
        peaks[:, None] - special.chdtri(means.shape[1], levels) / 2,
    )


def completed(
    clf: ConditionalGaussianNetworkClassifier, model: Any, networks: Networks, summary: Summary
) -> None:
    """Fill in what `fit` would have learned."""
    dag = networks[0].dag
    method = "given" if dag.n_edges else "naive"
    clf.structure, clf.dag_ = dag, dag
    clf.structure_report_ = getattr(model, "structure_report_", StructureReport(method, dag))
    clf.n_iter_ = clf.structure_report_.n_iter
    clf.class_prior_ = _prior(model)
    clf.schema_ = Schema.of_numbers(clf.feature_labels_)
    clf.warps_ = (IDENTITY,) * clf.n_features_in_
    clf.shrinkage_ = getattr(model, "shrinkage_", 0.0)
    clf.calibration_ = getattr(model, "calibration_", None)
    clf.completion_ = getattr(model, "completion_", None)
    for name, value in summary._asdict().items():
        setattr(clf, f"{name}_", value)
    clf.networks_ = networks


def _prior(model: Any) -> Array:
    prior = np.asarray(model.class_prior_ if hasattr(model, "class_prior_") else model.priors_, dtype=float)
    if not (prior > 0).all():
        label = np.asarray(model.classes_).tolist()[int(np.argmin(prior))]
        raise DataError(f"class {label!r} has prior probability {prior.min():g}; it must be positive")
    return np.asarray(prior / prior.sum())


# --- the proof that nothing was lost


def _tolerance(model: Any) -> float:
    means = model.theta_ if hasattr(model, "theta_") else model.means_
    return SINGLE_TOLERANCE if means.dtype.itemsize < 8 else TOLERANCE


def _refuse_other_decisions(
    clf: ConditionalGaussianNetworkClassifier, estimator: Any, tolerance: float
) -> None:
    """Compare log-odds, probabilities and labels at the class means and at rows drawn around them."""
    points = _points(clf)
    ours, theirs = (class_odds(_scores(model, points)) for model in (clf, estimator))
    size = 1 + np.abs(theirs).max(axis=1, keepdims=True)
    error = float(np.max(np.abs(ours - theirs) / size))
    chances = np.abs(clf.predict_proba(points) - estimator.predict_proba(points)).max()
    if not (error <= tolerance and chances <= 10 * tolerance and _same_labels(clf, estimator, points)):
        raise DataError(
            f"this {type(estimator).__name__} does not decide as the network with its parameters does "
            f"(log-odds differ by {error:.1g} of their size, probabilities by {chances:.1g}), so it is not "
            "adopted; does a subclass predict in its own way, was it changed after fitting, or are features "
            "so many standard deviations away from zero that digits are lost (then scale them first)?"
        )


def _points(clf: ConditionalGaussianNetworkClassifier) -> Any:
    units = map(_unit, clf._plain_networks("means_"))
    drawn = [scale * unit.sample(POINTS_PER_CLASS, random_state=0) for unit, scale in units]
    points = np.vstack([clf.means_, *drawn])
    names = getattr(clf, "feature_names_in_", None)
    return points if names is None else pd.DataFrame(points, columns=names)


def _scores(model: Any, points: Any) -> Array:
    # Discriminant analysis takes the logarithm of rounded probabilities; its decisions are exact.
    decide = getattr(model, "decision_function", None) or model.predict_log_proba
    return np.asarray(decide(points), dtype=float)


def _same_labels(clf: ConditionalGaussianNetworkClassifier, estimator: Any, points: Any) -> bool:
    """Whether labels agree wherever the two best classes are not all but tied."""
    best = np.sort(clf.predict_proba(points), axis=1)
    clear = best[:, -1] - best[:, -2] > 0.01
    return bool((clf.predict(points) == estimator.predict(points))[clear].all())
