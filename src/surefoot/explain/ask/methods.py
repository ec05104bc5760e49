"""The methods by which an answer is searched for, and their settings."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from surefoot.exceptions import ProblemError
from surefoot.formats import suggestion
from surefoot.plain import refuse_huge
from surefoot.search.paper.program import Options

Array = NDArray[np.float64]

GAPS = {"certified": 1e-3, "qcqp": 1e-2, "milp": 1e-2}
SMALLEST_GAP = 1e-6  # of the certified method; ten times less is what rounding leaves of its bounds
MOST_THREADS = 1024  # of a solver; ten times as many help nobody


@dataclass(frozen=True)
class Qcqp:
    """The paper's nonconvex QCQP, as a method of `CounterfactualExplainer`.

    Parameters
    ----------
    backend : {"scip", "gurobi"}, optional
        Default: the best open-source solver that is installed.
    tol : float, default=0.001
        The paper's epsilon: largest violation accepted at the end. Lowered by itself where it would cost
        more than a hundredth of the ball.
    max_iterations : int, default=200
    threads : int, default=0
        0 leaves the choice to the solver.
    verbose : bool, default=False
        Show the solver's log.

    Examples
    --------
    >>> Qcqp(backend="scip").name
    'qcqp'
    """

    backend: str | None = None
    tol: float = 1e-3
    max_iterations: int = 200
    threads: int = 0
    verbose: bool = False

    def __post_init__(self) -> None:
        for field in fields(self):
            refuse_huge(field.name, getattr(self, field.name), ProblemError)
        check_positive("tol", self.tol)
        check_positive("max_iterations", self.max_iterations, whole=True)
        if not self.tol <= 1:
            raise ProblemError(f"tol must be at most 1 in log-odds, not {self.tol!r}")
        if not isinstance(self.threads, Integral) or not 0 <= self.threads <= MOST_THREADS:
            raise ProblemError(f"threads must be an integer from 0 to {MOST_THREADS}, not {self.threads!r}")

    name: ClassVar[str] = "qcqp"  # the method in one word


@dataclass(frozen=True)
class Milp(Qcqp):
    """The paper's piecewise McCormick MILP, as a method of `CounterfactualExplainer`.

    Parameters
    ----------
    backend : {"highs", "scip", "gurobi"}, optional
    tol, max_iterations, threads, verbose
        As in `Qcqp`.
    n_segments, contraction : int, float
        The paper's m and nu.

    Examples
    --------
    >>> Milp(n_segments=10).name
    'milp'
    """

    name: ClassVar[str] = "milp"
    n_segments: int = 20
    contraction: float = 0.5

    def __post_init__(self) -> None:
        super().__post_init__()
        check_positive("n_segments", self.n_segments, whole=True)
        check_positive("contraction", self.contraction)
        if not self.contraction < 1:
            raise ProblemError(f"contraction must lie between 0 and 1, not {self.contraction!r}")


def chosen_method(method: Any, old: Mapping[str, Any]) -> tuple[str, Milp]:
    """The method in one word, and options of the paper's methods; old names of these give a warning."""
    known = {field.name for field in fields(Milp)}
    wrong = [name for name in old if name not in known]
    if wrong:
        hint = suggestion(wrong[0], sorted(known))
        raise TypeError(f"CounterfactualExplainer got an unexpected keyword argument {wrong[0]!r}{hint}")
    own, word = (vars(method), method.name) if isinstance(method, Qcqp) else ({}, method)
    if not isinstance(word, str) or word not in GAPS:
        words = ", ".join(map(repr, GAPS))
        raise ProblemError(f"method must be one of {words}, or a Qcqp or Milp, not {method!r}")
    if word == "certified" and old.get("backend") is not None:
        raise ProblemError(
            f"the certified method needs no backend; {old['backend']!r} is for 'qcqp' or 'milp'"
        )
    if old:
        say = "Milp" if word == "milp" else "Qcqp"
        listed = ", ".join(f"{name}={value!r}" for name, value in old.items())
        warnings.warn(f"write method={say}({listed})", DeprecationWarning, stacklevel=4)
    return word, Milp(**{**own, **old})


def as_method(word: str, options: Milp) -> str | Qcqp:
    """The inverse of `chosen_method`, with current names."""
    if word == "qcqp":
        return Qcqp(**{field.name: getattr(options, field.name) for field in fields(Qcqp)})
    return word if word == "certified" else options


def check_positive(name: str, value: Any, whole: bool = False) -> None:
    """Refuse what is no positive number."""
    kind = Integral if whole else Real
    if not isinstance(value, kind) or isinstance(value, bool) or not float(value) > 0:
        raise ProblemError(f"{name} must be a positive {'integer' if whole else 'number'}, not {value!r}")


@dataclass(frozen=True, eq=False)
class Settings:
    """The settings of a method."""

    options: Options  # time limit, gap, threads and verbosity
    paper: Milp  # options of the paper's methods
    percentiles: tuple[Array, Array]  # 5th and 95th, of the features: where the MILP starts to look

    def within(self, seconds: float) -> Settings:
        """The same with so many seconds."""
        return replace(self, options=replace(self.options, time_limit=max(seconds, 0.0)))
