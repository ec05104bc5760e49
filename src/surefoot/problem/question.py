"""Question: what is asked about one row, as a value. The only maker of problems."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from surefoot.exceptions import DataError, ProblemError
from surefoot.problem.answer import Answer
from surefoot.problem.choice import Choice
from surefoot.problem.domain import Domain, warped_together
from surefoot.problem.either import Either, Limit, Way
from surefoot.problem.family import Family
from surefoot.problem.geometry import Ball, MatrixKind, Metric, Whitening, checked_matrix, checked_norm
from surefoot.problem.mixed import State
from surefoot.problem.requirements import Decider, Decision, Odds, Probability, Required
from surefoot.problem.robust_problem import RobustProblem
from surefoot.problem.warp import Warp
from surefoot.problem.writing import question_dict

Array = NDArray[np.float64]

Budget = float | Mapping[int, tuple[float, float]]


@dataclass(frozen=True, eq=False)
class Question:
    """Frozen, versioned, JSON both ways; what is printed, searched and verified is this object.

    Parameters
    ----------
    models : tuple of str
        Fingerprints: of the explained model, and of others that requirements name.
    features : tuple
        Names, in the model's order.
    factual : array of shape (n,)
        The numbers of the row: of the features that are no categories. Everything below that goes by
        number counts these alone.
    factual_class, target : labels
    norm : {1, 2, inf}
        Of distance and ball.
    whitening : {"cholesky", "dag", "zca", "given"}
        The last where ``matrix`` is the one of distance and ball.
    budget : float, or dict of feature position -> (down, up)
        The paper's gamma; or how far each feature may miss, in its own units.
    exact : tuple of int
        Features that land exactly.
    requirements : tuple of Odds, Decision, DensityFloor, Away and Probability
    domain : Domain
    declared : dict
        The constraints behind the domain in plain values, for printing: see `surefoot.Actions`.
    gap : float
        Relative, between the distance of the answer and the proven bound.
    choices : tuple of Choice
        The categories, with their values and prices.
    warps : tuple of Warp
        The scale on which each number is measured; empty where it is its own.
    eithers : tuple of Either
        If-then rules and other disjunctions: of each at least one way is taken.
    limits : tuple of Limit
        How many features change at most.
    prices : tuple of (up, down), optional
        Of a change of each number by one standard deviation: the distance is then what a change costs.
    matrix : array of shape (n, n), optional
        With the whitening ``"given"``: M of the distance ``||M (x - factual)||_p``.
    """

    models: tuple[str, ...]
    features: tuple[Any, ...]
    factual: Array
    factual_class: Any
    target: Any
    norm: float
    whitening: MatrixKind
    budget: Budget
    exact: tuple[int, ...]
    requirements: tuple[Required, ...]
    domain: Domain
    declared: Mapping[str, Any] = field(default_factory=dict)
    gap: float = 1e-3
    choices: tuple[Choice, ...] = ()
    warps: tuple[Warp, ...] = ()
    eithers: tuple[Either, ...] = ()
    limits: tuple[Limit, ...] = ()
    prices: tuple[tuple[float, float], ...] | None = None
    matrix: Array | None = None

    def __post_init__(self) -> None:
        places = [choice.feature for choice in self.choices]
        if places != sorted(set(places)) or not all(0 <= j < len(self.features) for j in places):
            raise ProblemError("each category is one of the features, in their order")
        factual = np.array(self.factual, dtype=float)
        if factual.shape != (len(self.numbers),) or not np.isfinite(factual).all():
            raise ProblemError("the factual must be a row of finite numbers, one for each feature")
        if self.warps and len(self.warps) != len(factual):
            raise ProblemError("there must be a scale for each number, or none at all")
        factual.setflags(write=False)
        object.__setattr__(self, "factual", factual)
        object.__setattr__(self, "norm", checked_norm(self.norm))
        if self.domain.n_features != len(factual):
            raise ProblemError("the domain has another number of features")
        self._check_numbers()

    def __eq__(self, other: object) -> bool:
        """Whether both ask the same, that is, whether their files would be equal."""
        return self.to_dict() == other.to_dict() if isinstance(other, Question) else NotImplemented

    def __hash__(self) -> int:
        return hash((self.models, self.state, self.factual.tobytes(), self.target, self.norm, self.gap))

    def _check_numbers(self) -> None:
        """Features and models that are named by number must be there."""
        named = [*self.exact, *(self.budget if isinstance(self.budget, Mapping) else ())]
        if not all(0 <= j < len(self.numbers) for j in named):
            raise ProblemError("budget or exact features: there is no feature of that number")
        if not all(0 <= r.model < len(self.models) for r in self.requirements):
            raise ProblemError("a requirement names a model that the question does not have")
        if self.prices is not None and len(self.prices) != len(self.numbers):
            raise ProblemError("there must be prices for each number, or none at all")
        self._check_matrix()
        self._check_eithers()

    def _check_matrix(self) -> None:
        """A matrix is there where the whitening is given, and measures numbers in their own units."""
        if (self.matrix is None) != (self.whitening != "given"):
            raise ProblemError("there is a matrix exactly where the whitening is 'given'")
        if self.matrix is None:
            return
        curved = [name for name, w in zip(self.number_names, self.warps, strict=False) if not w.is_identity]
        if curved:
            raise ProblemError(
                f"the model measures {curved[0]!r} on a curved scale, where a matrix of your own has no "
                "meaning; fit the model with marginals='gaussian'"
            )
        object.__setattr__(self, "matrix", checked_matrix(self.matrix, len(self.numbers)))

    def _check_eithers(self) -> None:
        """If-then rules and limits must be about features and values that are there."""
        n, sizes = len(self.numbers), [len(choice.values) for choice in self.choices]
        ways = [way for either in self.eithers for way in either.ways]
        if any(len(row.coefficients) != n for way in ways for row in way.rows):
            raise ProblemError("a row of an if-then rule has another number of features")
        named = [(k, v) for way in ways for k, codes in way.values.items() for v in codes]
        if not all(0 <= k < len(sizes) and 0 <= v < sizes[k] for k, v in named):
            raise ProblemError("an if-then rule names a category or a value that is not there")
        for limit in self.limits:
            if not all(0 <= j < n for j in limit.numbers) or not all(
                0 <= k < len(sizes) for k in limit.categories
            ):
                raise ProblemError("a limit names a feature that is not there")
            if limit.today != tuple(float(self.factual[j]) for j in limit.numbers):
                raise ProblemError("a limit belongs to another factual: its values of today differ")

    @cached_property
    def numbers(self) -> tuple[int, ...]:
        """Positions of the numbers among the features."""
        taken = {choice.feature for choice in self.choices}
        return tuple(j for j in range(len(self.features)) if j not in taken)

    @property
    def number_names(self) -> tuple[Any, ...]:
        """Names of the numbers."""
        return tuple(self.features[j] for j in self.numbers)

    @property
    def state(self) -> State:
        """The factual's categories, as positions of their values."""
        return tuple(choice.today for choice in self.choices)

    def row(self, numbers: ArrayLike, state: State) -> list[Any]:
        """Numbers and categories by feature, categories by name."""
        found: list[Any] = [None] * len(self.features)
        for j, value in zip(self.numbers, np.asarray(numbers, dtype=float).tolist(), strict=True):
            found[j] = value
        for choice, code in zip(self.choices, state, strict=True):
            found[choice.feature] = choice.values[code]
        return found

    def warped(self, numbers: ArrayLike) -> Array:
        """Numbers on the scales on which distances are measured."""
        x = np.asarray(numbers, dtype=float)
        if not self.warps:
            return x
        return np.array([warp.exactly(v) for warp, v in zip(self.warps, x.tolist(), strict=True)])

    def unwarped_values(self, z: Array) -> Array:
        """Values in the features' own units from those on the scales."""
        if not self.warps:
            return z
        return np.array([warp.inverse(v) for warp, v in zip(self.warps, z, strict=True)])

    def perturbed(self, point: Array, perturbation: Array) -> Array:
        """A point in its own units after a perturbation on the scales."""
        return self.unwarped_values(self.warped(point) + perturbation)

    def unwarped(self, answer: Answer) -> Answer:
        """The answer of a search with its point in the features' own units, where it is exactly allowed."""
        if not self.warps or answer.point is None:
            return answer
        start, now = self.factual, self.warped(self.factual)
        x = self.unwarped_values(answer.point)
        x = self.domain.clipped(np.where(answer.point == now, start, x))
        for either, curved in zip(self.eithers, self._combined()[0], strict=True):
            taken = (i for i, way in enumerate(curved.ways) if way.contains(answer.point))
            ways = (either.ways[i] for i in taken if either.ways[i].allows(answer.state))
            x = next(ways, Way()).clipped(x)
        return replace(answer, point=x)

    def allows(self, numbers: Array, state: State) -> bool:
        """Whether a point in the features' own units is one that may be suggested."""
        return (
            self.domain.contains(numbers)
            and all(math.isfinite(c.prices[v]) for c, v in zip(self.choices, state, strict=True))
            and all(either.contains(numbers, state) for either in self.eithers)
            and all(limit.changed(numbers) <= limit.left(state, self.state) for limit in self.limits)
        )

    def keeps_rules(self, numbers: Array, state: State) -> bool:
        """Whether a point in the features' own units keeps to all rules over several features."""
        return all(row.contains(numbers) for row in self.domain.rows) and all(
            either.contains(numbers, state) for either in self.eithers
        )

    @property
    def threshold(self) -> float:
        """What the odds against every rival must reach; not a number where the model has no probabilities."""
        return next((r.threshold for r in self.requirements if isinstance(r, Odds)), math.nan)

    @property
    def rivals(self) -> frozenset[Any]:
        """The classes with which the target's probability is compared, one at a time."""
        return frozenset(r.rival for r in self.requirements if isinstance(r, Odds))

    @property
    def against(self) -> str:
        """``"all"`` where the target's probability is one among all classes, else ``"each"``."""
        own = (r for r in self.requirements if isinstance(r, Probability))
        return "all" if any(r.model == 0 and r.target == self.target for r in own) else "each"

    @property
    def decision(self) -> float | None:
        """What the decision value must reach, where the model has no probabilities."""
        own = (r for r in self.requirements if isinstance(r, Decision) and r.target == self.target)
        return next((r.value for r in own if r.robust and r.model == 0), None)

    @property
    def budget_radius(self) -> float:
        """The budget as a radius of the ball: 1 where it is given by feature."""
        return 1.0 if isinstance(self.budget, Mapping) else float(self.budget)

    def problem(
        self, classifier: Decider, *others: Decider, shared: dict[Any, Any] | None = None
    ) -> RobustProblem:
        """The optimisation problem over the numbers, the categories staying as they are.

        Parameters
        ----------
        classifier : fitted classifier
            The explained one.
        *others : fitted classifiers
            Further models that requirements name, in the order of ``models``.
        shared : dict, optional
            Keeps what questions about the same models have in common; the same dict for each of them
            saves factoring the same matrices again.
        """
        return self.family(classifier, *others, shared=shared).problem()

    def family(self, classifier: Decider, *others: Decider, shared: dict[Any, Any] | None = None) -> Family:
        """The optimisation problems of this question, one for every state of the categories."""
        models, kept = (classifier, *others), {} if shared is None else shared
        given = None if self.matrix is None else self.matrix.tobytes()
        place = (self.factual_class, self.state, self.whitening, given, self.norm, self.prices)
        metric = _once(kept, place, lambda: self._metric(classifier))
        size = tuple(self.budget.items()) if isinstance(self.budget, Mapping) else self.budget
        quadratics = [r for r in self.requirements if not isinstance(r, Probability)]
        shares = [r for r in self.requirements if isinstance(r, Probability)]
        return Family(
            self.warped(self.factual),
            tuple(_once(kept, r, partial(r.requirement, models)) for r in quadratics),
            metric,
            _once(kept, (*place, size, self.exact), lambda: self.ball(classifier, metric)),
            self.domain.warped(self.warps) if self.warps else self.domain,
            self.choices,
            *self._combined(),
            tuple(r.share(models, quadratics) for r in shares),
            _once(kept, self.requirements, dict),
        )

    def _combined(self) -> tuple[tuple[Either, ...], tuple[Limit, ...]]:
        """Disjunctions and limits on the scales on which distances are measured."""
        if not self.warps:
            return self.eithers, self.limits
        return warped_together(self.eithers, self.limits, self.warps)

    def _metric(self, classifier: Decider) -> Metric:
        prices = None if self.prices is None else np.array(self.prices)
        unit = None if self.matrix is None else self._of_class(classifier, "cholesky")
        deviations = None if unit is None else Metric(unit, self.norm).unit
        return Metric(self.coordinates(classifier), self.norm, prices, deviations)

    def coordinates(self, classifier: Decider) -> Whitening:
        """The matrix in whose coordinates distances and errors are measured."""
        if self.matrix is not None:
            return Whitening(self.matrix, "given")
        return self._of_class(classifier, self.whitening)

    def _of_class(self, classifier: Decider, kind: MatrixKind) -> Whitening:
        found: Whitening = classifier.network(self.factual_class, self.state).whitening(kind)
        return found

    def ball(self, classifier: Decider, metric: Metric | None = None) -> Ball:
        """The errors that an answer withstands; the metric, where it is known, need not be made anew."""
        metric = self._metric(classifier) if metric is None else metric
        if isinstance(self.budget, Mapping):
            ends = np.zeros((2, len(self.numbers)))
            for j, pair in self.budget.items():
                ends[:, j] = pair
            return Ball.box(*ends)
        order = classifier.network(self.factual_class, self.state).dag.smallest_first_order
        return Ball.whitened(metric.whitening, self.norm, self.budget, self.exact, order)

    def to_dict(self) -> dict[str, Any]:
        """As plain values; infinite numbers become words."""
        return question_dict(self)

    @property
    def ball_norm(self) -> float:
        """The q: a budget by feature is a box."""
        return math.inf if isinstance(self.budget, Mapping) else self.norm

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Question:
        """Read what `to_dict` gave; anything else is refused by name."""
        from surefoot.problem.reading import read_question

        try:
            return read_question(values)
        except ProblemError as error:
            raise DataError(f"the question makes no sense: {error}") from None


def _once(kept: dict[Any, Any], key: Any, make: Callable[[], Any]) -> Any:
    """What is kept under a key, made when it is first asked for."""
    if key not in kept:
        kept[key] = make()
    return kept[key]
