"""AdoptedClassifier: somebody else's decision beside the network of the data."""

from __future__ import annotations

import os
from hashlib import sha256
from typing import Any, NoReturn, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from surefoot.exceptions import DataError, ModelFileError
from surefoot.model.classifier import ConditionalGaussianNetworkClassifier
from surefoot.model.rows import known_rows, refuse_holes
from surefoot.model.scores import Scores
from surefoot.problem.mixed import MixedQuadratic

Array = NDArray[np.float64]


def _has_probability(clf: Any) -> bool:
    return bool(getattr(clf, "has_probability", False))


class AdoptedClassifier(ConditionalGaussianNetworkClassifier):
    """A model of scikit-learn as `surefoot.adopt` returns it, if it is not a network itself.

    It decides as that model does. Distances, perturbations, expectations and plausibility come from a
    conditional Gaussian network that was fitted to the same rows: ``networks_``, ``dag_`` and everything else
    that `ConditionalGaussianNetworkClassifier` has. Where the model bends numbers by PowerTransformer,
    ``warps_`` do the same, and the network is that of the bent numbers.

    Parameters
    ----------
    structure, categorical, ordered, marginals, plain, shrinkage, calibration, priors
    max_parents, root, n_bins, edge_penalty, l1_penalty, edge_threshold, standardize, max_iter
    required_edges, forbidden_edges, var_smoothing, cell_smoothing
        The settings of the network, as in `ConditionalGaussianNetworkClassifier`. `adopt` makes the object.

    Attributes
    ----------
    scores_ : Scores
        The decision, in the columns that go into the pipeline.
    has_probability : bool
        Whether differences of scores are log-odds; otherwise there is no `predict_proba`, and a threshold is
        a value of the decision function.
    """

    scores_: Scores
    has_probability: bool

    @classmethod
    def of(
        cls, network: ConditionalGaussianNetworkClassifier, scores: Scores, has_probability: bool
    ) -> AdoptedClassifier:
        """A decision beside a fitted network."""
        clf = cls(**network.get_params(deep=False))
        clf.__dict__.update(vars(network))
        clf.scores_, clf.has_probability = scores, has_probability
        return clf

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> NoReturn:
        """Not possible: the decision comes from another model."""
        del X, y, sample_weight
        raise DataError("an adopted model cannot be fitted; fit the scikit-learn model and adopt it again")

    @property
    def fingerprint_(self) -> str:
        """A short digest of everything that decides or measures."""
        whole = f"{super().fingerprint_} {self.has_probability} ".encode() + self.scores_.bytes()
        return sha256(whole).hexdigest()[:16]

    def decision(self, target: Any, rival: Any) -> MixedQuadratic:
        """Score of the target less that of the rival; the log-odds where there are probabilities."""
        check_is_fitted(self)
        return self.scores_.decision(self._class_index(target), self._class_index(rival))

    @available_if(_has_probability)  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: ArrayLike) -> Array:
        """Log probability of every class."""
        return super().predict_log_proba(X)

    @available_if(_has_probability)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: ArrayLike) -> Array:
        """Probability of every class."""
        return super().predict_proba(X)

    def summary(self) -> str:
        """What decides, and what was learned about the data, as a few lines of text."""
        kind = "linear" if self.scores_.matrix is None else "quadratic"
        odds = "log-odds" if self.has_probability else "scores without probabilities"
        return f"Adopted model: {kind} {odds}, beside a network of the data\n{super().summary()}"

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, max_size: int | None = None) -> Self:
        """Read an adopted model written by `save`."""
        found = super().load(path, max_size=max_size)
        if not hasattr(found, "scores_"):
            raise ModelFileError(f"{path}: is a network without an adopted decision")
        return found

    def decision_content(self) -> dict[str, Any]:
        """The decision as plain JSON values."""
        return {"kind": "scores", "probability": self.has_probability, "scores": self.scores_.content()}

    @classmethod
    def with_decision(cls, network: ConditionalGaussianNetworkClassifier, entry: Any) -> AdoptedClassifier:
        """A network read from a file, and the decision beside it as `decision_content` wrote it."""
        known = isinstance(entry, dict) and set(entry) == {"kind", "probability", "scores"}
        if not (known and entry["kind"] == "scores" and type(entry["probability"]) is bool):
            raise ModelFileError("'decision' is wrong")
        schema = network.schema_
        scores = Scores.from_content(entry["scores"], len(network.classes_), schema.n_numbers, schema.sizes)
        return cls.of(network, scores, entry["probability"])

    def _scores(self, X: ArrayLike) -> Array:
        """The score of every class for every row."""
        check_is_fitted(self)
        numbers, codes = known_rows(self, self._own_columns(X))
        refuse_holes(self.schema_, numbers, codes)
        return self.class_scores(numbers, codes)

    def scaled_scores(self, Z: NDArray[Any], codes: NDArray[np.intp]) -> Array:
        """The score of every class for numbers on the scales of the network."""
        return self.scores_(Z, codes)

    def _own_columns(self, X: Any) -> Any:
        """A table that also holds columns which the model drops, without them."""
        names = getattr(self, "feature_names_in_", None)
        if names is None or not isinstance(X, pd.DataFrame) or not set(names) <= set(X.columns):
            return X
        return X[list(names)]
