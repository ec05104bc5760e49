"""Program, Outcome, Options: optimisation without any particular solver."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from numbers import Real

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from surefoot.exceptions import ProblemError
from surefoot.status import Status

Array = NDArray[np.float64]
Index = NDArray[np.intp]

FEASIBILITY_TOL = 1e-5  # of an answer, relative to the size of the row's terms; solvers aim at 1e-6 or better


@dataclass(frozen=True, eq=False)
class QuadraticRow:
    """low <= z' matrix z + coefficients' y <= high, with z = x[variables] and y = x[linear]."""

    variables: Index
    matrix: Array
    linear: Index
    coefficients: Array
    low: float = -np.inf
    high: float = np.inf

    def value(self, x: Array) -> float:
        """Value of the row's middle part."""
        z = x[self.variables]
        return float(z @ self.matrix @ z + self.coefficients @ x[self.linear])

    def scale(self, x: Array) -> float:
        """Size of the terms at x, the natural unit of the row's error."""
        z = np.abs(x[self.variables])
        return float(z @ np.abs(self.matrix) @ z + np.abs(self.coefficients) @ np.abs(x[self.linear]))


@dataclass(frozen=True, eq=False)
class Program:
    """min cost'x  s.t.  low <= x <= high,  row_low <= rows x <= row_high,  quadratic rows,  integrality."""

    cost: Array
    low: Array
    high: Array
    integer: NDArray[np.bool_]
    rows: sparse.csr_array
    row_low: Array
    row_high: Array
    quadratic_rows: tuple[QuadraticRow, ...] = ()

    @property
    def n_variables(self) -> int:
        """Number of variables."""
        return self.cost.size

    @property
    def is_bounded_below(self) -> bool:
        """Whether the variables' bounds alone keep the objective from falling without end."""
        rising, falling = self.cost > 0, self.cost < 0
        return bool(np.isfinite(self.low[rising]).all() and np.isfinite(self.high[falling]).all())

    @property
    def kind(self) -> str:
        """What a solver must be able to do: ``"milp"`` or ``"qcqp"``."""
        return "qcqp" if self.quadratic_rows else "milp"

    def infeasibility(self, x: Array) -> float:
        """Largest violation of any bound, row or integrality, relative to the size of what is compared."""
        worst = [0.0, _excess(x, self.low, self.high, np.maximum(1.0, np.abs(x)))]
        if self.integer.any():
            worst.append(float(np.abs(x[self.integer] - np.round(x[self.integer])).max()))
        if self.rows.shape[0]:
            size = np.maximum(1.0, abs(self.rows) @ np.abs(x))
            worst.append(_excess(self.rows @ x, self.row_low, self.row_high, size))
        for row in self.quadratic_rows:
            value = np.array([row.value(x)])
            worst.append(_excess(value, row.low, row.high, np.array([max(1.0, row.scale(x))])))
        return max(worst)


@dataclass(frozen=True)
class Options:
    """What every solver understands.

    Parameters
    ----------
    time_limit : float
        Seconds.
    gap : float
        Relative gap at which to stop.
    absolute_gap : float
        Absolute gap at which to stop.
    threads : int
        0 leaves the choice to the solver.
    verbose : bool
        Show the solver's own log.
    """

    time_limit: float = 3600.0
    gap: float = 0.01
    absolute_gap: float = 1e-9
    threads: int = 0
    verbose: bool = False

    def __post_init__(self) -> None:
        for name in ("time_limit", "gap", "absolute_gap", "threads"):
            value = getattr(self, name)
            if not isinstance(value, Real) or not float(value) >= 0:
                raise ProblemError(f"{name} must be a number >= 0, not {value!r}")

    def time_left(self, start: float) -> float:
        """What is left for a solve that began at ``start``: stating a program takes time too."""
        return max(0.0, float(self.time_limit) - (time.perf_counter() - start))


@dataclass(frozen=True, eq=False)
class Outcome:
    """What a solver found: values only where they satisfy the program."""

    status: Status
    values: Array | None
    objective: float
    bound: float
    seconds: float
    message: str = ""

    @classmethod
    def out_of_time(cls, seconds: float, message: str) -> Outcome:
        """What there is when the time was over before a solver began."""
        return cls(Status.TIME_LIMIT_NO_POINT, None, np.inf, -np.inf, seconds, message)

    @property
    def gap(self) -> float:
        """(objective - bound) / |objective|; infinite without a point."""
        if self.values is None:
            return np.inf
        return max(0.0, self.objective - self.bound) / max(abs(self.objective), 1e-12)

    def checked(self, program: Program) -> Outcome:
        """The same outcome if its values satisfy the program, else a failure without values."""
        if self.values is None:
            return self
        off = program.infeasibility(self.values)
        if off <= FEASIBILITY_TOL:
            return self
        message = f"the solver's point violates its own program by {off:.1e}"
        return replace(
            self, status=Status.FAILED, values=None, objective=np.inf, bound=-np.inf, message=message
        )


@dataclass
class ProgramBuilder:
    """Collect variables and rows, then ``build()``; after the deadline whoever adds a row hears of it.

    Parameters
    ----------
    deadline : float
        Of `time.perf_counter`; later a `TimeoutError` is raised.
    """

    deadline: float = np.inf
    _cost: list[Array] = field(default_factory=list)
    _low: list[Array] = field(default_factory=list)
    _high: list[Array] = field(default_factory=list)
    _integer: list[NDArray[np.bool_]] = field(default_factory=list)
    _blocks: list[tuple[Index, Index, Array]] = field(default_factory=list)
    _row_low: list[Array] = field(default_factory=list)
    _row_high: list[Array] = field(default_factory=list)
    _quadratic: list[QuadraticRow] = field(default_factory=list)
    _n: int = 0
    _m: int = 0

    def variables(
        self, count: int, low: ArrayLike, high: ArrayLike, *, cost: ArrayLike = 0.0, integer: bool = False
    ) -> Index:
        """Add variables; returns their positions."""
        for store, value in ((self._cost, cost), (self._low, low), (self._high, high)):
            store.append(np.broadcast_to(np.asarray(value, dtype=float), (count,)))
        self._integer.append(np.full(count, integer))
        self._n += count
        return np.arange(self._n - count, self._n)

    def linear(self, matrix: ArrayLike, variables: Index, low: ArrayLike, high: ArrayLike) -> None:
        """Add rows low <= matrix x[variables] <= high; a matrix row per constraint."""
        if time.perf_counter() > self.deadline:
            raise TimeoutError("no time was left")
        A = np.atleast_2d(np.asarray(matrix, dtype=float))
        i, j = np.nonzero(A)
        self._blocks.append((i + self._m, np.asarray(variables)[j], A[i, j]))
        self._row_low.append(np.broadcast_to(np.asarray(low, dtype=float), (len(A),)))
        self._row_high.append(np.broadcast_to(np.asarray(high, dtype=float), (len(A),)))
        self._m += len(A)

    def quadratic(self, row: QuadraticRow) -> None:
        """Add a quadratic row."""
        self._quadratic.append(row)

    def build(self) -> Program:
        """The finished program."""
        empty = (np.zeros(0), np.zeros(0), np.zeros(0))
        i, j, a = (np.concatenate(part) for part in zip(empty, *self._blocks, strict=True))
        rows = sparse.csr_array((a, (i.astype(int), j.astype(int))), shape=(self._m, self._n))
        return Program(
            cost=np.concatenate(self._cost),
            low=np.concatenate(self._low),
            high=np.concatenate(self._high),
            integer=np.concatenate(self._integer),
            rows=rows,
            row_low=np.concatenate(self._row_low) if self._row_low else np.zeros(0),
            row_high=np.concatenate(self._row_high) if self._row_high else np.zeros(0),
            quadratic_rows=tuple(self._quadratic),
        )


def _excess(values: Array, low: ArrayLike, high: ArrayLike, size: Array) -> float:
    below, above = np.asarray(low) - values, values - np.asarray(high)
    return float(np.max(np.maximum(below, above) / size, initial=0.0))
