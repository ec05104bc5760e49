"""QuadraticModel: a decision of one's own, linear or quadratic in numbers, with tables of categories."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from surefoot.exceptions import DataError
from surefoot.problem.quadratic import Quadratic

Array = NDArray[np.float64]
# Relative to the deviations of its two features; a covariance that was computed in another order of sums is
# symmetric to far fewer digits than all. Ten times larger, a mistyped last digit would pass as rounding.
ASYMMETRY = 1e-9


@dataclass(frozen=True, eq=False)
class QuadraticModel:
    """A model that gives each class a score ``Q_c(x) + sum_k table_k(s_k, c)`` and predicts the largest.

    `adopt` and `CounterfactualExplainer` take it as it is. What scores do not say, how far apart two rows are
    and what is typical, comes from ``means`` and ``covariance``, or from rows: ``data=(X, y)`` there.

    Parameters
    ----------
    scores : dict
        Class -> `Quadratic`. Or pair of classes -> `Quadratic`: the score of the first less that of the
        second, for one pair fewer than there are classes, which connect them all.
    features : sequence of names
        The numbers, in the order of the quadratics' variables.
    means : array of shape (n,), or dict of class -> array, optional
        What is usual of each number.
    covariance : array of shape (n, n), or dict of class -> array, optional
        Of the numbers. Distances, and errors, are measured with that of the class that a row has now.
    ranges : dict of feature -> (low, high), optional
        Where counterfactuals may lie. Default: what data showed, or three standard deviations around the
        means.
    tables : dict of category -> dict of value -> dict of class -> float, optional
        What each value of a category adds to the score of each class; a class that is left out gets 0. Models
        with categories need data.
    log_probabilities : bool, default=False
        Whether scores are log-probabilities up to a constant that is the same for all classes: then
        P(class) is the softmax of the scores, and the explainer takes a ``threshold``.

    Examples
    --------
    >>> from surefoot import CounterfactualExplainer, Quadratic, QuadraticModel
    >>> inside = Quadratic([[-1.0, 0.0], [0.0, -1.0]], [0.0, 0.0], 4.0)  # positive in a disk of radius 2
    >>> unit = {"means": [0, 0], "covariance": [[1, 0], [0, 1]]}
    >>> model = QuadraticModel({("inside", "outside"): inside}, ["x", "y"], **unit)
    >>> e = CounterfactualExplainer(model, preset="paper", norm=2).explain({"x": 3.0, "y": 0.0})
    >>> e.factual_class, e.target, round(e.distance, 3)
    ('outside', 'inside', 1.0)
    """

    scores: Mapping[Any, Quadratic]
    features: Sequence[Any]
    means: ArrayLike | Mapping[Any, ArrayLike] | None = None
    covariance: ArrayLike | Mapping[Any, ArrayLike] | None = None
    ranges: Mapping[Any, tuple[float, float]] | None = None
    tables: Mapping[Any, Mapping[Any, Mapping[Any, float]]] | None = None
    log_probabilities: bool = False

    def __post_init__(self) -> None:
        names = _names(self.features)
        object.__setattr__(self, "features", names)
        if not isinstance(self.tables or {}, Mapping):
            raise DataError(f"tables must be a dict of category -> scores, not {self.tables!r:.60}")
        object.__setattr__(self, "tables", dict(self.tables or {}))
        if set(names) & set(self.categories):
            twice = next(name for name in names if name in self.categories)
            raise DataError(f"{twice!r} is both a number (features) and a category (tables)")
        if not isinstance(self.log_probabilities, bool):
            raise DataError(f"log_probabilities must be True or False, not {self.log_probabilities!r}")
        self._check_scores()
        self._check_tables()
        self._check_ranges()
        if (self.means is None) != (self.covariance is None):
            there, missing = ("means", "covariance") if self.covariance is None else ("covariance", "means")
            raise DataError(f"{there} is given without {missing}: pass both, or data=(X, y) in their place")
        if self.covariance is not None:
            self.moments()

    @property
    def classes(self) -> list[Any]:
        """The classes, sorted."""
        keys = [key for key in self.scores if not isinstance(key, tuple)]
        pairs = [label for key in self.scores if isinstance(key, tuple) for label in key]
        return _sorted_labels(list(dict.fromkeys([*keys, *pairs])))

    @property
    def categories(self) -> list[Any]:
        """The names of the categories."""
        return list(self.tables or {})

    def class_scores(self) -> list[Quadratic]:
        """The quadratic of each class, in the order of the classes."""
        n, known = len(self.features), dict[Any, Quadratic]()
        if not any(isinstance(key, tuple) for key in self.scores):
            return [self.scores[label] for label in self.classes]
        known[self.classes[0]] = Quadratic(np.zeros((n, n)), np.zeros(n), 0.0)
        waiting = dict(self.scores)
        while waiting:
            usable = [pair for pair in waiting if (pair[0] in known) != (pair[1] in known)]
            if not usable:
                raise DataError("scores by pairs must connect all classes, with one pair fewer than classes")
            first, second = usable[0]
            less = waiting.pop(usable[0])
            if second in known:  # the sum keeps the centre of its first part, and with it the digits
                known[first] = less + known[second]
            else:
                known[second] = -less + known[first]
        return [known[label] for label in self.classes]

    def moments(self) -> list[tuple[Array, Array]]:
        """Mean and covariance of each class."""
        assert self.means is not None
        assert self.covariance is not None
        n = len(self.features)
        means = self._by_class(self.means, "means", (n,))
        covariances = self._by_class(self.covariance, "covariance", (n, n))
        for label, S in zip(self.classes, covariances, strict=True):
            self._check_covariance(S, label)
        return list(zip(means, covariances, strict=True))

    def table(self, category: Any, value: Any) -> list[float]:
        """What a value adds to the score of each class."""
        assert self.tables is not None
        entry = self.tables[category][value]
        return [float(entry.get(label, 0.0)) for label in self.classes]

    def _check_scores(self) -> None:
        if not isinstance(self.scores, Mapping) or not self.scores:
            raise DataError("scores must be a dict of class, or pair of classes, -> Quadratic")
        paired = [isinstance(key, tuple) for key in self.scores]
        if any(paired) != all(paired) or any(isinstance(key, tuple) and len(key) != 2 for key in self.scores):
            raise DataError("scores must be by class or by pair of two classes, not both")
        if len(self.classes) < 2:
            raise DataError(f"there must be two classes or more, not {len(self.classes)}")
        if all(paired) and len(self.scores) != len(self.classes) - 1:
            raise DataError("scores by pairs must connect all classes, with one pair fewer than classes")
        for key, score in self.scores.items():
            self._check_score(key, score)
        self.class_scores()

    def _check_score(self, key: Any, score: Any) -> None:
        if not isinstance(score, Quadratic):
            raise DataError(f"the score of {key!r} must be a Quadratic, not {type(score).__name__}")
        if score.n_features != len(self.features):
            raise DataError(
                f"the score of {key!r} has {score.n_features} variables, but there are "
                f"{len(self.features)} features"
            )
        parts = (score.matrix, score.vector, score.center, np.array(score.constant))
        if not all(np.isfinite(part).all() for part in parts):
            raise DataError(f"the score of {key!r} has a number that is not finite")

    def _check_tables(self) -> None:
        for category, table in (self.tables or {}).items():
            if not isinstance(table, Mapping) or len(table) < 2:
                raise DataError(
                    f"the table of {category!r} must have two values or more: value -> class -> score"
                )
            for value, entry in table.items():
                where = f"the table of {category!r} at {value!r}"
                if not isinstance(entry, Mapping):
                    raise DataError(f"{where} must be a dict of class -> score, not {entry!r}")
                self._check_classes(entry, where)
                _finite(list(entry.values()), where, (len(entry),))

    def _check_ranges(self) -> None:
        for name, ends in (self.ranges or {}).items():
            if name not in self.features:
                raise DataError(f"ranges names {name!r}, which is none of the features {list(self.features)}")
            low, high = _finite(ends, f"the range of {name!r}", (2,))
            if not low < high:
                raise DataError(
                    f"the range of {name!r} must go from a lower to a higher number, not {ends!r}"
                )

    def _check_classes(self, entry: Mapping[Any, Any], where: str) -> None:
        unknown = [label for label in entry if label not in self.classes]
        if unknown:
            raise DataError(f"{where} names class {unknown[0]!r}, but the classes are {self.classes}")

    def _by_class(self, values: Any, what: str, shape: tuple[int, ...]) -> list[Array]:
        """An array for each class, from one for all or one for each."""
        if not isinstance(values, Mapping):
            return [_finite(values, what, shape)] * len(self.classes)
        self._check_classes(values, what)
        missing = [label for label in self.classes if label not in values]
        if missing:
            raise DataError(f"{what} lacks class {missing[0]!r}")
        return [_finite(values[label], f"{what} of class {label!r}", shape) for label in self.classes]

    def _check_covariance(self, S: Array, label: Any) -> None:
        where = f"the covariance of class {label!r}" if isinstance(self.covariance, Mapping) else "covariance"
        variances = np.diag(S)
        if not (variances > 0).all():
            name = self.features[int(np.argmin(variances))]
            raise DataError(f"{where} gives {name!r} the variance {variances.min():g}; it must be positive")
        correlations = S / np.sqrt(np.outer(variances, variances))
        if np.abs(correlations - correlations.T).max() > ASYMMETRY:
            i, j = np.unravel_index(np.argmax(np.abs(correlations - correlations.T)), S.shape)
            pair = f"{self.features[int(i)]!r} and {self.features[int(j)]!r}"
            raise DataError(f"{where} is not symmetric: {S[i, j]:g} and {S[j, i]:g} for {pair}")
        if not np.linalg.eigvalsh(correlations)[0] > len(S) * np.finfo(float).eps:
            raise DataError(f"{where} is not positive definite: some combination of features has no variance")


def _names(features: Any) -> tuple[Any, ...]:
    listed = features.tolist() if hasattr(features, "tolist") else features
    if not isinstance(listed, list | tuple):
        raise DataError(f"features must be a list of names, not {features!r}")
    names = tuple(listed)
    if not names or len(set(names)) < len(names) or not all(type(name) in (str, int) for name in names):
        raise DataError("features must be different names, at least one")
    return names


def _sorted_labels(labels: list[Any]) -> list[Any]:
    """Labels of one kind, as Python's own, in order."""
    plain = [label.item() if isinstance(label, np.generic) else label for label in labels]
    kinds = {type(label) for label in plain}
    if len(kinds) != 1 or not kinds <= {str, int, float, bool}:
        raise DataError(f"classes must all be strings, all numbers or all truth values, not {plain!r}")
    return sorted(plain)


def _finite(values: Any, what: str, shape: tuple[int, ...]) -> Array:
    """Finite numbers of a shape."""
    try:
        given = np.asarray(values)
    except ValueError:  # rows of different lengths
        given = np.array(None)
    if given.dtype.kind not in "iuf":
        raise DataError(f"{what} must consist of numbers, not {values!r}")
    if given.shape != shape:
        raise DataError(f"{what} must have the shape {shape}, not {given.shape}")
    if not np.isfinite(given).all():
        raise DataError(f"{what} has a number that is not finite")
    return np.array(given, dtype=float)
