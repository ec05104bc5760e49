"""Searches and frozen estimators: what is inside decides."""

from __future__ import annotations

from typing import Any

from sklearn.frozen import FrozenEstimator
from sklearn.model_selection._search import BaseSearchCV
from sklearn.utils.validation import check_is_fitted

from surefoot.exceptions import DataError


def unwrapped(estimator: Any) -> Any:
    """The model that a search or FrozenEstimator holds; anything else as it is."""
    while isinstance(estimator, BaseSearchCV | FrozenEstimator):
        if isinstance(estimator, FrozenEstimator):
            estimator = estimator.estimator
            continue
        check_is_fitted(estimator, "cv_results_")
        if not hasattr(estimator, "best_estimator_"):
            raise DataError(f"this {type(estimator).__name__} keeps no model; fit it with refit=True")
        estimator = estimator.best_estimator_
    return estimator
