"""Other models of the same data: bootstrap refits, or a user's list."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from surefoot.bars import stepped
from surefoot.exceptions import DataError, ProblemError
from surefoot.model.adoption import adopt
from surefoot.model.classifier import ConditionalGaussianNetworkClassifier
from surefoot.model.refits import Bootstrap, drawn_weights
from surefoot.threads import one_blas_thread

FRESH = 100  # refits that judge an answer and that the search has not seen
TRIES = (
    50  # draws until every category that the model must know is among the rows; more would only take longer
)
JUDGES = 1_000_003  # added to the seed of what searches, so that what judges is drawn apart from it


@dataclass(frozen=True, eq=False)
class Refits:
    """How often the model is fitted again, and to which rows: an argument of `CounterfactualExplainer`.

    Parameters
    ----------
    count : int
    data : (X, y)
        Rows to draw from, with replacement.
    random_state : int, default=0
    """

    count: int
    data: tuple[Any, Any]
    random_state: int = 0

    def __post_init__(self) -> None:
        if isinstance(self.count, bool) or not isinstance(self.count, Integral):
            raise ProblemError(f"Refits needs a number of refits, not {self.count!r:.80}")


def refitted(
    original: Any,
    classifier: ConditionalGaussianNetworkClassifier,
    models: Any,
    data: tuple[Any, Any] | None,
    random_state: int,
) -> RefittedModels | None:
    """The further models that an explainer takes into account, however they are given."""
    if models is None or isinstance(models, RefittedModels):
        return models
    if isinstance(models, Refits):
        models, data, random_state = models.count, models.data, models.random_state
    return RefittedModels(original, classifier, models, None if data is None else _pair(data), random_state)


def _pair(data: Any) -> tuple[Any, Any]:
    """Rows and their labels, equally many."""
    if not isinstance(data, list | tuple) or len(data) != 2:
        raise ProblemError(f"data must be a pair (X, y), not {type(data).__name__}")
    X, y = data
    if len(X) != len(y) or not len(y):
        raise ProblemError(f"data must be rows and as many labels, not {len(X)} and {len(y)}")
    return X, y


class RefittedModels:
    """The models of an explainer beside the explained one, and those that judge.

    Parameters
    ----------
    original : fitted classifier
        As the user gave it: what is fitted again.
    classifier : ConditionalGaussianNetworkClassifier
        What is explained.
    models : int or list of fitted classifiers
    data : (X, y) or None
    random_state : int

    Attributes
    ----------
    searched : tuple of classifiers
        Under which the decision must turn.
    fresh : tuple of classifiers
        Refits that the search does not see, and that judge its answers; none without data. Then those judge
        that the explained model keeps.
    """

    def __init__(
        self,
        original: Any,
        classifier: ConditionalGaussianNetworkClassifier,
        models: Any,
        data: tuple[Any, Any] | None,
        random_state: int = 0,
    ) -> None:
        self.original, self.classifier, self.data = original, classifier, data
        self.random_state = _seed(random_state)
        self.searched: tuple[ConditionalGaussianNetworkClassifier, ...] = self._searched(models)
        # Made here, not when the first answer is judged: no time limit of an explanation is for them.
        judged = data is not None and hasattr(original, "fit")
        self.fresh = self._drawn(FRESH, self.random_state + JUDGES) if judged else ()

    def _searched(self, models: Any) -> tuple[ConditionalGaussianNetworkClassifier, ...]:
        """So many refits: of the rows that are given, else of those that the model keeps; or a list."""
        if not isinstance(models, Integral):
            return tuple(_like(adopt(model, self.data), self.classifier) for model in _listed(models))
        count = _count(models)
        if self.data is not None:
            return self._drawn(count, self.random_state)
        kept = self.classifier.refits_
        if not kept:
            raise ProblemError(
                "models needs data=(X, y), the rows to which the model is fitted again: it keeps no refits"
            )
        if count > len(kept):
            raise ProblemError(
                f"models={count} asks for more refits than the {len(kept)} that the model keeps; ask for at "
                f"most {len(kept)}, or pass the training data too: models=Refits({count}, data=(X, y))"
            )
        return kept[:count]

    def _drawn(self, count: int, seed: int) -> tuple[ConditionalGaussianNetworkClassifier, ...]:
        """So many refits; a bar on a terminal says so where they take longer than a second."""
        rng = np.random.default_rng(seed)
        assert self.data is not None
        with one_blas_thread():  # small matrices: threads would wait for each other
            refit = self._refit()
            return tuple(refit(rng) for _ in stepped(range(count), "fitting the model again", "refit"))

    def _refit(self) -> Callable[[np.random.Generator], ConditionalGaussianNetworkClassifier]:
        """A function that fits the classifier again, structure included, to rows drawn with replacement.

        Curved scales are kept as they are: what is compared must be measured alike.
        """
        original, classifier, data = self.original, self.classifier, self.data
        assert data is not None
        if not hasattr(original, "fit"):
            raise DataError(
                f"a {type(original).__name__} cannot be fitted again; models must be a list of models"
            )
        if original is classifier:
            return Bootstrap(classifier, *data, structure=True).refit
        return lambda rng: _refitted_estimator(original, classifier, data, rng)


def _refitted_estimator(
    original: Any,
    classifier: ConditionalGaussianNetworkClassifier,
    data: tuple[Any, Any],
    rng: np.random.Generator,
) -> ConditionalGaussianNetworkClassifier:
    """A scikit-learn model fitted anew; one that a draw leaves without some category is drawn again."""
    X, y = data
    labels = np.unique(np.asarray(y), return_inverse=True)[1]
    reason: Exception | None = None
    for _ in range(TRIES):
        rows = np.repeat(np.arange(len(y)), drawn_weights(labels, labels.max() + 1, rng).astype(int))
        model = clone(original).fit(_taken(X, rows), _taken(y, rows))
        try:
            return _like(adopt(model, data), classifier)
        except DataError as error:
            reason = error
    raise DataError(f"no refit of the model can be taken: {reason}")


def _taken(values: Any, rows: NDArray[np.intp]) -> Any:
    return values.iloc[rows] if hasattr(values, "iloc") else np.asarray(values)[rows]


def _like(
    model: ConditionalGaussianNetworkClassifier, clf: ConditionalGaussianNetworkClassifier
) -> ConditionalGaussianNetworkClassifier:
    """The model, if it has the same features, values, labels and scales; others are refused."""
    same = {
        "features": tuple(model.feature_labels_) == tuple(clf.feature_labels_),
        "labels": model.classes_.tolist() == clf.classes_.tolist(),
        "categories": model.schema_.category_values == clf.schema_.category_values
        and model.schema_.categories == clf.schema_.categories,
        "scales": tuple(model.warps_) == tuple(clf.warps_),
    }
    wrong = [what for what, equal in same.items() if not equal]
    if wrong:
        raise ProblemError(f"models must have the same {wrong[0]} as the explained one")
    return model


def _listed(models: Any) -> Sequence[Any]:
    if not isinstance(models, list | tuple) or not models:
        raise ProblemError(
            f"models must be a number of refits or a list of fitted classifiers, not {models!r:.80}"
        )
    return models


def _count(models: Any) -> int:
    if isinstance(models, bool) or models < 1:
        raise ProblemError(f"models must be at least 1, not {models!r}")
    return int(models)


def _seed(random_state: Any) -> int:
    if isinstance(random_state, bool) or not isinstance(random_state, Integral) or random_state < 0:
        raise ProblemError(f"random_state must be a whole number of at least 0, not {random_state!r}")
    return int(random_state)
