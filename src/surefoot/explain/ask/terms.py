"""What all questions of an explainer have in common; the budget by feature."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple, get_args

from surefoot.exceptions import DataError, ProblemError
from surefoot.explain.ask.coordinates import check_name
from surefoot.explain.ask.plausible import Plausible
from surefoot.explain.constraints.arithmetic import is_number
from surefoot.formats import suggestion
from surefoot.model.dag import feature_index
from surefoot.problem.geometry import checked_norm
from surefoot.problem.question import Budget
from surefoot.problem.robust_problem import checked_threshold

EVEN = 0.5  # the default threshold
NO_MORE = 0.0  # the default decision value
SMALLEST_BUDGET = 1e-9  # standard deviations; doubles cannot tell a smaller one from none
NoiseOn = Literal["changeable", "all"]
Distance = Literal["mahalanobis", "cost"]
Against = Literal["each", "all"]


class Terms(NamedTuple):
    """What all questions of an explainer have in common."""

    norm: float
    whitening: Any  # a name, an array or a DataFrame
    threshold: float
    budget: Any  # as the user gives it: by feature name
    noise_on: NoiseOn
    decision: float = NO_MORE  # in the place of the threshold, for models without probabilities
    distance: Distance = "mahalanobis"
    plausible: Plausible | None = None
    against: Against = "each"  # whether the threshold is one against each rival, or among all classes

    def checked(self) -> Terms:
        """Return self; refuse terms that no question can have."""
        checked_norm(self.norm)
        checked_threshold(self.threshold)
        if not is_number(self.decision):
            raise ProblemError(f"decision must be a number, not {self.decision!r}")
        if not math.isfinite(self.decision):
            raise ProblemError(f"decision must be a finite number, not {self.decision!r}")
        check_name(self.whitening)
        if not isinstance(self.noise_on, str) or self.noise_on not in get_args(NoiseOn):
            raise ProblemError(f"noise_on must be 'changeable' or 'all', not {self.noise_on!r}")
        if not isinstance(self.distance, str) or self.distance not in get_args(Distance):
            raise ProblemError(f"distance must be 'mahalanobis' or 'cost', not {self.distance!r}")
        if not isinstance(self.against, str) or self.against not in get_args(Against):
            hint = suggestion(str(self.against), get_args(Against))
            raise ProblemError(f"against must be 'each' or 'all', not {self.against!r}{hint}")
        if not isinstance(self.budget, Mapping):
            _size(self.budget, "the budget")
        return self


def positioned(budget: Any, features: Sequence[Any]) -> Budget:
    """A budget by feature name as one by position; features that cannot miss are left out.

    Examples
    --------
    >>> positioned({"income": 500, "weight": (1, 2)}, ["age", "income", "weight"])
    {1: (500.0, 500.0), 2: (1.0, 2.0)}
    """
    if not isinstance(budget, Mapping):
        size = _size(budget, "the budget")
        if 0 < size < SMALLEST_BUDGET:
            raise DataError(f"the budget must be 0 or at least {SMALLEST_BUDGET:g}, not {budget!r}")
        return size
    found: dict[int, tuple[float, float]] = {}
    for feature, size in budget.items():
        try:
            j = feature_index(feature, features)
        except ValueError as error:
            raise ProblemError(f"budget: {error}") from None
        if j in found:
            raise ProblemError(f"the budget names {features[j]!r} twice")
        found[j] = _pair(size, features[j])
    return {j: found[j] for j in sorted(found) if any(found[j])} or 0.0


def _pair(size: Any, name: Any) -> tuple[float, float]:
    what = f"the budget of {name!r}"
    if not isinstance(size, tuple | list):
        return _size(size, what), _size(size, what)
    if len(size) != 2:
        raise DataError(f"{what} must be a number or a pair (down, up), not {size!r}")
    return _size(size[0], what), _size(size[1], what)


def _size(value: Any, what: str) -> float:
    if not is_number(value) or not 0 <= float(value) < math.inf:
        raise DataError(f"{what} must be a finite number >= 0, not {value!r}")
    return float(value)
