"""adopt: a model whose log-odds are linear or quadratic, as surefoot explains it."""

from __future__ import annotations

from typing import Any

from sklearn.utils.validation import check_is_fitted

from surefoot.model.adoption.decisions import adopted_decision
from surefoot.model.adoption.gaussian import adopted_gaussian
from surefoot.model.adoption.given import adopted_model
from surefoot.model.classifier import ConditionalGaussianNetworkClassifier
from surefoot.model.quadratic_model import QuadraticModel


def adopt(estimator: Any, data: tuple[Any, Any] | None = None) -> ConditionalGaussianNetworkClassifier:
    """Turn a fitted scikit-learn model, or a `QuadraticModel`, into what the explainer works with.

    Gaussian naive Bayes is a network without edges; quadratic and linear discriminant analysis are complete
    ones: alone or behind scalers, they become that network. Every other model keeps its own decision, exactly
    and in the columns that go into its pipeline, beside a network that is fitted to ``data``. The network
    says how far apart two rows are, how a change may miss, what is expected and what is plausible.

    Parameters
    ----------
    estimator : fitted estimator
        A ConditionalGaussianNetworkClassifier (returned as it is), GaussianNB, LinearDiscriminantAnalysis,
        QuadraticDiscriminantAnalysis; LogisticRegression, LinearSVC, RidgeClassifier, SGDClassifier,
        Perceptron, SVC with ``kernel="linear"`` and two classes; OneVsRestClassifier or
        CalibratedClassifierCV (one calibrated model, not isotonic) of these; the best estimator of a search;
        and a Pipeline of scalers, OneHotEncoder, OrdinalEncoder, TargetEncoder, SimpleImputer,
        PowerTransformer (Yeo-Johnson), PolynomialFeatures (degree 2, of numbers), PCA, selection of features,
        ColumnTransformer and FeatureUnion that ends in one. Or a `QuadraticModel`: a decision of your own.
    data : (X, y), optional
        The rows it was fitted on, as they go into the estimator. Required unless the model is Gaussian and
        behind nothing but scalers. LinearDiscriminantAnalysis with ``solver="svd"`` and without
        ``store_covariance=True`` cannot do without either.

    Returns
    -------
    ConditionalGaussianNetworkClassifier
        An `AdoptedClassifier` where the decision is not the network's. Its decisions have been compared
        with those of ``estimator``.

        Of a Gaussian model, what scikit-learn does not keep comes from ``data``. Without it,
        ``feature_range_`` and ``feature_percentiles_`` reach from the lowest class mean to the highest,
        plus 3 and 1.645 standard deviations; ``density_percentiles_`` are those of Gaussian rows; and where
        the estimator has no ``class_count_``, each class counts as one row.

    Raises
    ------
    sklearn.exceptions.NotFittedError
        The estimator, or a step of it, is not fitted.
    DataError
        It is something else, does something else before the model, is singular, or decides differently.

    Notes
    -----
    Columns that an encoder reads are categories, also where their values are numbers; so are truth values and
    pandas' categories. Columns that the pipeline drops are no features (of arrays without names, all columns
    are). SimpleImputer changes nothing, because only rows without holes are explained. A probability is kept
    where it is the softmax of the scores; LinearSVC and RidgeClassifier have none, and those of several
    one-against-the-rest models are not quadratic: ``has_probability`` is then false.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from surefoot import datasets
    >>> bank = datasets.load_banknote()
    >>> model = make_pipeline(StandardScaler(), LogisticRegression()).fit(bank.X, bank.y)
    >>> clf = adopt(model, data=(bank.X, bank.y))
    >>> bool(np.allclose(clf.predict_proba(bank.X), model.predict_proba(bank.X)))
    True
    >>> clf.has_probability, clf.dag_.n_edges
    (True, 3)
    """
    if isinstance(estimator, ConditionalGaussianNetworkClassifier):
        check_is_fitted(estimator)
        return estimator
    if isinstance(estimator, QuadraticModel):
        return adopted_model(estimator, data)
    network = adopted_gaussian(estimator, data)
    return adopted_decision(estimator, data) if network is None else network
