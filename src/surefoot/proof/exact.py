"""Check an explanation file with integers: one file that needs nothing but Python.

``python exact.py MODEL.json EXPLANATION.json [MORE_MODELS.json ...] [--time-limit SECONDS]`` prints the
question in words and one line for each claim of the file. The exit status is 0 if every claim holds (a
refused request claims nothing), 1 if one fails or is not proved, and 2 if a file cannot be read. The page
docs/certificate.md of the package defines the file and what its proofs mean; this docstring says how they are
checked.

**Numbers.** A double is a whole number divided by a power of two. A list of them is kept as whole numbers
over a common power of two (`Dyadic`, `Grid`, `Quadratic`); their sums and products are exact. Only two things
are not of that kind: one over a variance, and logarithms. Both are enclosed between two such numbers, and
the one that hurts the claimant is used. No inequality has a tolerance. (Numbers that merely repeat what the
package computed in double precision, such as a probability, have to agree to 1e-9.)

**The model.** log h_c(x) = log rho_c + sum_i [ -1/2 log(2 pi v_i) - l_i(x)^2 / (2 v_i) ] with
l_i(x) = x_i - m_i - sum_j w_ij (x_j - m_j). So a requirement is a constant plus and minus squares of affine
functions; rounding 1 / v_i up or down gives a quadratic function that is nowhere below it (`Requirement`).

**A leaf** (`leaf_fault`) names functions that are not negative at any point that it has to exclude, with
weights. If their weighted sum F is negative everywhere, there is no such point. Every function is a product
of two affine functions or a requirement; they add up to a symmetric matrix of whole numbers in the
coordinates (z, 1), z being the change of the features. F is negative if that of -F is positive definite.

**Probabilities among all classes** are no quadratics, but imply one for every mixture of the rivals' odds,
with an entropy that is enclosed (`Case.twice_base`): these serve bounds. On a ball, what is proved of the
odds and of some mixtures keeps the odds in a polyhedron: at a corner of it the probability is lowest
(`check_share`).

**Definiteness.** `definite` scales the matrix, rounds its entries down to whole numbers of 96 bits (256 if
that does not do) and eliminates one row after the other, rounding down again. Rounding changes an entry by
less than 1, hence the matrix by less than its size in the order of definite matrices; so the size is taken
off the diagonal each time. If all pivots are positive, the true matrix is positive definite.

**Effort.** A small file could ask for hours of work: many leaves in many dimensions, many proofs for many
states. `spend` counts the work, and ends the check where it exceeds what the size of the file justifies, or
where a time limit has run out: what was not checked by then is not proved.

The parts: effort, reading (nothing is trusted), numbers, model, question, matrices, proofs, claims, words,
command.
"""

from __future__ import annotations

import base64
import decimal
import hashlib
import heapq
import json
import math
import os
import struct
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, fields, replace
from datetime import date, timedelta
from decimal import Decimal
from fractions import Fraction
from functools import cached_property, lru_cache, partial
from itertools import combinations, islice, pairwise, product
from operator import itemgetter, le, mul
from typing import Any, NamedTuple, NoReturn

HOLDS, FAILS, NOT_PROVED = "holds", "FAILS", "not proved"

SENTENCES = {
    "optimal": "The search finished: no smaller change is enough, up to the stated gap.",
    "already_target": "The row already has the target.",
    "time_limit": "The time limit was reached; this is the best counterfactual found by then.",
    "time_limit_no_point": "The time limit was reached before any counterfactual was found.",
    "iteration_limit": "The iteration limit was reached before the counterfactual was robust.",
    "iteration_limit_no_point": "The iteration limit was reached before any counterfactual was found.",
    "interrupted": "The search was interrupted; this is the best counterfactual found by then.",
    "interrupted_no_point": "The search was interrupted before any counterfactual was found.",
    "precision_limit": "Rounding errors stopped the search; this is the best counterfactual found by then.",
    "precision_limit_no_point": "Rounding errors stopped the search before any counterfactual was found.",
    "bound_limit": "The bound cannot be raised any further; this is the best counterfactual found.",
    "bound_limit_no_point": "The bound cannot be raised any further; no counterfactual was found.",
    "infeasible": "No allowed change leads to the target.",
    "undecided": "No counterfactual was found, but it was not proved that there is none.",
    "unbounded": "The solver reported an unbounded problem: the model or the domain is degenerate.",
    "invalid": "The request is invalid.",
    "failed": "The search failed; its result cannot be used.",
}
WITH_POINT = (
    "optimal", "already_target", "time_limit", "iteration_limit", "interrupted", "precision_limit",
    "bound_limit",
)  # fmt: skip

KEYS = (
    "format", "version", "question", "certificate", "status", "message", "factual", "counterfactual",
    "factual_class", "target", "decision", "factual_probability", "probability", "worst_probability",
    "distance", "lower_bound", "gap", "budget", "norm", "whitening", "threshold", "certified_radius",
    "coverage", "violation", "early_stop", "tol", "unit", "parents", "expected_before", "expected_after",
    "z_score", "density_percentile", "model", "method", "backend", "seconds", "iterations", "row", "advice",
    "conflict", "cautions", "model_share", "search_seconds", "best_probability", "best_probability_bound",
)  # fmt: skip
LATER_KEYS = KEYS[-3:]  # which files of version 4 do not have
MORE_KEYS = ("reasons", "enough", "others")  # only in files that were asked for them
NUMBERS = (
    "factual_probability", "probability", "worst_probability", "distance", "lower_bound", "gap", "threshold",
    "certified_radius", "coverage", "violation", "tol", "density_percentile", "seconds", *LATER_KEYS,
)  # fmt: skip
QUESTION_KEYS = (
    "format", "version", "models", "features", "factual", "factual_class", "target", "distance", "ball",
    "requirements", "domain", "choices", "warps", "gap",
)  # fmt: skip
DOMAIN_KEYS = ("low", "high", "rows", "sets", "eithers", "limits", "declared")
CERTIFICATE_KEYS = ("format", "version", "metric", "ball", "bound", "states", "robustness", "worst")
MORE_PROOFS = ("enough", "best", "fewer")  # likewise of a certificate of version 4
SERIES = ("unit", "expected_before", "expected_after", "z_score")
REGION_KEYS = ("numbers", "categories", "not_enough")
INTERVAL_KEYS = ("feature", "low", "high", "proven")
REASON_KEYS = ("feature", "value", "weight", "usual", "share")
STATE_KEYS = ("shape", "constants", "ways", "left", "proof")
SPLITS = ("cut", "choice", "either", "changed")
# Hundreds of models of many classes ask for fewer; ten times as many would take a minute to read.
MOST_REQUIREMENTS = 5000
MOST_REFITS = 1000  # that a model keeps; ten times as many would be counted for minutes
NOBODY_KEYS = (
    "format", "version", "models", "features", "target", "holds", "region", "declared", "requirements",
    "tree", "proofs", "explanation", "context",
)  # fmt: skip
LEAF_KEYS = ("level", "norm", "cross", "products", "requirements", "between")
MODEL_KEYS = (
    "features", "classes", "class_prior", "parents", "networks", "feature_range", "density_percentiles",
)  # fmt: skip

SOLVERS = ("qcqp", "milp")  # methods whose points are right up to a tolerance
MOST_TOL = 0.01  # in log-odds; a file cannot excuse more than that with its tolerance
DEPTH = 900  # splits on the way to a leaf
MOST_STEPS = 2_000_000  # looks at partial assignments of the categories, times proofs, before it is given up
# Rates of a certificate, of which the search writes nine at most. With ten times as many, a file made for
# that could take some ten seconds more.
MOST_TRADES = 100
# Values of a step from one person's value that are listed. Ten times as many, and a file made for that could
# take some seconds more.
MOST_VALUES = 10_000
# Work that any file may ask for, and times what its number of values to the power of 3/2 justifies more: n^2
# numbers make a matrix, and n^3 multiplications a proof. In multiplications of some hundred bits; honest
# files need less than a tenth of it. With ten times as much, a file made for that could keep a checker busy
# ten times as long, which is seconds to minutes now; no verdict on an honest file would change.
LEAST_WORK, MORE_WORK = 100_000_000, 10
SMALLEST_POWER = Fraction(1, 10**20)  # a power of a scale that is nearer to zero counts as zero
PLACES = 128  # binary places of enclosed numbers
SHARP = 160  # bits of an enclosed 1 / v
ROOM = 10**6  # D'D may differ from P by one part in so many
AGREE = Fraction(1, 10**9)  # numbers that repeat a computation in double precision
NEAR_WORST, SHARE_WORST = 0.01, 0.02  # log-odds; share of what the ball takes from them

# A logarithm is correctly rounded to 80 digits: far more than PLACES binary places.
DIGITS = decimal.Context(prec=80, Emax=decimal.MAX_EMAX, Emin=decimal.MIN_EMIN, traps=[])
FARTHEST = 20_000  # exponents beyond this are cut off, on the side that hurts the claimant
OFF = Fraction(1, 10**60)  # by which an exponential may be off, of its size; rounding does far less
SMALLEST_WEIGHT = 1e-9  # of a mixture, but for zero; smaller ones would be numbers of a thousand bits
# Candidates for corners of a polyhedron; the search writes a tenth at most. With ten times as many, a file
# made for that could keep a checker busy for some seconds more.
MOST_CORNERS = 5_000
# What leaves share is kept for so many sets of moving coordinates; a tree with a limit on changes has
# thousands. With ten times as many, a proof over hundreds of features would take hundreds of megabytes.
KEPT_FRAMES = 32
LOG_TWO_PI = Decimal(
    "1.83787706640934548356065947281123527972279494727556682563430308096553139185452079538948659727190840"
)


class UnreadableError(ValueError):
    """A file that is not what it should be; the message is one line."""


class FaultError(Exception):
    """Why a proof does not prove what it should."""


class EffortError(Exception):
    """The check takes too much work or time; the message says which."""


class Claim(NamedTuple):
    """One claim of a file: its name, the verdict (`HOLDS`, `FAILS` or `NOT_PROVED`) and the reason."""

    name: str
    verdict: str
    reason: str


# ----- Effort: what a check may take ----------------------------------------------------------------------


class Effort:
    """How much work is left, and until when."""

    def __init__(self, work: float = math.inf, time_limit: float = math.inf) -> None:
        if not time_limit > 0:
            raise ValueError(f"the time limit must be a positive number of seconds, not {time_limit!r}")
        self.work, self.time_limit, self.end = work, time_limit, time.monotonic() + time_limit

    def spend(self, work: int) -> None:
        """Take off some work. Raises `EffortError` where none is left, or no time."""
        self.work -= work
        if self.work < 0:
            raise EffortError("the file asks for more work than its size justifies")
        if time.monotonic() > self.end:
            raise EffortError(f"the time limit of {self.time_limit:g} s ran out")


UNLIMITED = Effort()
EFFORT: ContextVar[Effort] = ContextVar("EFFORT")


def spend(work: int) -> None:
    """Take off some work of the check that is under way; called in every loop that can be long."""
    EFFORT.get(UNLIMITED).spend(work)


@contextmanager
def limited(effort: Effort) -> Iterator[None]:
    """Whatever is called within may take this effort at most."""
    token = EFFORT.set(effort)
    try:
        yield
    finally:
        EFFORT.reset(token)


def n_values(document: Any) -> int:
    """How many values a document holds: the size of a file, however its numbers are written."""
    found = [document]
    for value in found:  # grows on the way
        kind = type(value)
        if kind is list:
            found += value
        elif kind is dict:
            found += value.values()
    return len(found)


# ----- Reading: every value is looked at before it is used ------------------------------------------------


def parsed(text: str) -> Any:
    """Read JSON; repeated keys and what is not a number are refused."""
    try:
        return json.loads(text, parse_constant=_no_constant, object_pairs_hook=_once)
    except RecursionError:
        raise UnreadableError("is nested too deeply") from None
    except UnreadableError:
        raise
    except ValueError as error:
        raise UnreadableError(f"is cut off or is not JSON ({error})") from None


def _no_constant(name: str) -> NoReturn:
    raise UnreadableError(f"holds {name}, which is not a number")


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise UnreadableError(f"has a key twice in one object, among {shown(', '.join(found))}")
    return found


def shown(value: Any) -> str:
    """A value of the file for a line of text: short, and without characters that could fake a line."""
    if type(value) is int and abs(value) > 10**40:
        return "a huge number"
    try:
        text = value if isinstance(value, str) and value.isprintable() else ascii(value)
    except (RecursionError, ValueError):  # nested too deeply, or a number of thousands of digits inside
        return "something too large to show"
    return text if len(text) <= 80 else text[:77] + "..."


def _table(value: Any, where: str, keys: Sequence[str], more: Sequence[str] = ()) -> dict[str, Any]:
    """An object with exactly these keys, and perhaps some more."""
    if type(value) is not dict:
        raise UnreadableError(f"{where} is not an object")
    for key in value:
        if key not in keys and key not in more:
            raise UnreadableError(f"{where} has an unknown key {shown(key)}")
    for key in keys:
        if key not in value:
            raise UnreadableError(f"{where} lacks the key {key}")
    return value


def _list(value: Any, where: str, size: int | None = None) -> list[Any]:
    if type(value) is not list:
        raise UnreadableError(f"{where} is not a list")
    if size is not None and len(value) != size:
        raise UnreadableError(f"{where} has {len(value)} entries, not {size}")
    return value


def _number(value: Any, where: str) -> float:
    """A finite double. A bool is none, and a whole number must be one that a double holds."""
    if type(value) is float and math.isfinite(value):
        return value
    if type(value) is int and abs(value) <= 2**53:
        return float(value)
    raise UnreadableError(f"{where} is not a finite number: {shown(value)}")


def _wide(value: Any, where: str) -> float:
    """A double, or infinity by its word."""
    return float(value) if value in ("inf", "-inf") else _number(value, where)


def _numbers(value: Any, where: str, size: int) -> list[float]:
    return [_number(v, where) for v in _list(value, where, size)]


def _matrix(value: Any, where: str, size: int) -> list[list[float]]:
    return [_numbers(row, where, size) for row in _list(value, where, size)]


def _whole(value: Any, where: str) -> int:
    if type(value) is not int:
        raise UnreadableError(f"{where} is not a whole number: {shown(value)}")
    return value


def _index(value: Any, where: str, size: int, fault: type[Exception] = UnreadableError) -> int:
    """A position below size; a negative one would count from the end."""
    if not 0 <= _whole(value, where) < size:
        raise fault(f"{where}: there is no number {shown(value)}")
    return int(value)


def _text(value: Any, where: str) -> str:
    if type(value) is not str:
        raise UnreadableError(f"{where} is not a text")
    return value


def _flag(value: Any, where: str) -> bool:
    if type(value) is not bool:
        raise UnreadableError(f"{where} is neither true nor false")
    return value


def _label(value: Any, where: str) -> Any:
    if type(value) not in (str, int, float, bool):
        raise UnreadableError(f"{where} is not a label")
    return value


def _norm(value: Any, where: str) -> float:
    norm = _wide(value, where)
    if norm not in (1.0, 2.0, math.inf):
        raise UnreadableError(f"{where} is {shown(value)}, not 1, 2 or inf")
    return norm


def _header(value: dict[str, Any], where: str, name: str, *versions: int) -> None:
    form, stated = value.get("format"), value.get("version")
    if form != name:
        raise UnreadableError(f"{where} has the format {shown(form)}, not {name}")
    if type(stated) is not int or stated not in versions:
        known = " and ".join(map(str, versions))
        raise UnreadableError(f"{where} has format version {shown(stated)}; this checker reads {known}")


def _increasing(values: Sequence[float]) -> bool:
    return all(a < b for a, b in pairwise(values))


def same(one: Any, other: Any) -> bool:
    """Equal labels: True is not 1."""
    return type(one) is type(other) and bool(one == other)


def _same_row(one: list[Any] | None, other: list[Any]) -> bool:
    """Equal labels all along."""
    return one is not None and len(one) == len(other) and all(map(same, one, other))


# ----- Numbers: whole numbers over a power of two ---------------------------------------------------------


class Dyadic(NamedTuple):
    """The numbers ``whole[i] / 2**shift``."""

    whole: list[int]
    shift: int

    def at(self, shift: int) -> list[int]:
        """The same numbers over a larger power of two."""
        return [w << (shift - self.shift) for w in self.whole]

    def plus(self, other: Dyadic, sign: int = 1) -> Dyadic:
        """Entry by entry; the sign is 1 or -1."""
        shift = max(self.shift, other.shift)
        return Dyadic([a + sign * b for a, b in zip(self.at(shift), other.at(shift), strict=True)], shift)


def joined(one: Dyadic, other: Dyadic) -> Dyadic:
    """The numbers of both, one after the other."""
    shift = max(one.shift, other.shift)
    return Dyadic([*one.at(shift), *other.at(shift)], shift)


def dyadic(values: Iterable[float]) -> Dyadic:
    """Doubles, exactly."""
    ratios = [v.as_integer_ratio() for v in values]
    shift = max((below.bit_length() for _, below in ratios), default=1) - 1
    return Dyadic([above << (shift + 1 - below.bit_length()) for above, below in ratios], shift)


class Grid(NamedTuple):
    """A matrix of the numbers ``rows[i][j] / 2**shift``."""

    rows: list[list[int]]
    shift: int

    def times(self, vector: Dyadic) -> Dyadic:
        """Matrix times vector."""
        return Dyadic([dot(row, vector.whole) for row in self.rows], self.shift + vector.shift)


def grid(matrix: Sequence[Sequence[float]]) -> Grid:
    """A square matrix of doubles, exactly."""
    n, flat = len(matrix), dyadic(v for row in matrix for v in row)
    return Grid([flat.whole[i * n : (i + 1) * n] for i in range(n)], flat.shift)


def gram(rows: Sequence[list[tuple[int, int]]], weights: Iterable[int], size: int) -> list[list[int]]:
    """The sum of weights times squares of rows, given without their zeros: below and on the diagonal."""
    found = [[0] * (i + 1) for i in range(size)]
    for weight, row in zip(weights, rows, strict=True):
        spend(len(row) ** 2)
        for j, a in row:
            factor = weight * a
            for k, b in row:
                if k <= j:
                    found[j][k] += factor * b
    return found


def dot(row: Sequence[int], column: Sequence[int]) -> int:
    """Sum of products."""
    return sum(map(mul, row, column))


def p_norm(values: Dyadic, p: float) -> Fraction:
    """The norm; for p = 2 rounded down by less than 2**-100."""
    sizes = [abs(w) for w in values.whole]
    if p == 2:
        return Fraction(math.isqrt(dot(sizes, sizes) << 200), 1 << (values.shift + 100))
    return Fraction(max(sizes, default=0) if p == math.inf else sum(sizes), 1 << values.shift)


def within(values: Dyadic, p: float, radius: Fraction) -> bool:
    """Whether the p-norm is at most the radius, exactly."""
    above, below, sizes = radius.numerator, radius.denominator, [abs(w) for w in values.whole]
    if p == 2:
        return above >= 0 and dot(sizes, sizes) * below**2 <= above**2 << 2 * values.shift
    return (max(sizes, default=0) if p == math.inf else sum(sizes)) * below <= above << values.shift


def agree(stated: float, value: Fraction, size: Fraction | int = 1, rounding: Fraction | int = 0) -> bool:
    """To 1e-9 of the value or of ``size``, whichever is larger; never for a number that does not exist."""
    if not math.isfinite(stated):
        return False
    return abs(Fraction(stated) - value) <= AGREE * max(abs(value), Fraction(size)) + rounding


def near(value: Fraction) -> float:
    """The nearest double, for printing."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


class Enclosure(NamedTuple):
    """A real number between ``low / 2**PLACES`` and ``high / 2**PLACES``."""

    low: int
    high: int

    def plus(self, other: Enclosure) -> Enclosure:
        """The sum."""
        return Enclosure(self.low + other.low, self.high + other.high)

    def minus(self, other: Enclosure) -> Enclosure:
        """The difference."""
        return Enclosure(self.low - other.high, self.high - other.low)

    def half(self) -> Fraction:
        """Half the number in the middle: the functions here enclose twice what is asked for."""
        return Fraction(self.low + self.high, 4 << PLACES)

    def times(self, factor: Fraction) -> Enclosure:
        """The number times a positive one."""
        above, below = factor.numerator, factor.denominator
        return Enclosure(self.low * above // below, -(-self.high * above // below))


NOTHING = Enclosure(0, 0)


def twice(value: float) -> Enclosure:
    """2 times a double."""
    above, below = value.as_integer_ratio()
    return Enclosure((above << PLACES + 1) // below, -((-above << PLACES + 1) // below))


def enclosed(value: Decimal, times: int) -> Enclosure:
    """A multiple of a logarithm that is right to some 70 digits."""
    whole = int(DIGITS.multiply(value, Decimal(times << PLACES)).to_integral_value(decimal.ROUND_HALF_EVEN))
    return Enclosure(whole - 1, whole + 1)


def enclosed_log(above: int, below: int, times: int = 1) -> Enclosure:
    """A multiple of the logarithm of a positive fraction."""
    spend(100)
    return _enclosed_log(above, below, times)


@lru_cache(maxsize=100_000)  # files about one model ask for the same ones; ten times as many take 200 MB
def _enclosed_log(above: int, below: int, times: int) -> Enclosure:
    return enclosed(DIGITS.ln(DIGITS.divide(Decimal(above), Decimal(below))), times)


def exp_below(value: Fraction) -> Fraction:
    """A lower bound of the exponential; of what is above 1000 merely a number far above 1."""
    return Fraction(0) if value < -FARTHEST else _exp(value) * (1 - OFF)


def exp_above(value: Fraction) -> Fraction:
    """An upper bound of the exponential; of what is above 1000 merely a number far above 1."""
    return _exp(max(value, Fraction(-FARTHEST))) * (1 + OFF)


def _exp(value: Fraction) -> Fraction:
    """The exponential: 80 digits of an argument with five before the point leave more than 70 of it."""
    spend(100)
    return Fraction(DIGITS.exp(_rounded(min(value, Fraction(1000)))))


def _rounded(value: Fraction) -> Decimal:
    """To 80 digits."""
    return DIGITS.divide(Decimal(value.numerator), Decimal(value.denominator))


# ----- The model ------------------------------------------------------------------------------------------


class Network:
    """The density of one class: squares of ``l(x) = A (x - means)`` over the variances, A = I - weights."""

    def __init__(
        self,
        weights: list[list[float]],
        means: list[float],
        variances: list[float],
        at: list[list[float]] | None = None,
    ) -> None:
        self.weights, self.means, self.variances, self.at = weights, means, variances, at
        self.ratios = [v.as_integer_ratio() for v in variances]
        self.center, W = dyadic(means), grid(weights)
        self.shift = W.shift
        one = 1 << W.shift
        rows = ([(j, one * (i == j) - w) for j, w in enumerate(row)] for i, row in enumerate(W.rows))
        self.rows = [[(j, a) for j, a in row if a] for row in rows]  # of A, without its zeros
        self._squares: dict[bool, list[list[int]]] = {}

    def deviations(self, point: Dyadic) -> Dyadic:
        """l(x)."""
        spend(sum(map(len, self.rows)))
        if self.at is not None:
            whole = [sum(a * point.whole[j] for j, a in row) for row in self.rows]
            return Dyadic(whole, self.shift + point.shift).plus(self.start, -1)
        offset = point.plus(self.center, -1)
        whole = [sum(a * offset.whole[j] for j, a in row) for row in self.rows]
        return Dyadic(whole, self.shift + offset.shift)

    @cached_property
    def start(self) -> Dyadic:
        """What is taken off A x where each feature has its own means of its parents: m - sum_j w_j at_j."""
        own = [
            Fraction(mean)
            - sum((Fraction(w) * Fraction(a) for w, a in zip(row, at, strict=True)), Fraction(0))
            for mean, row, at in zip(self.means, self.weights, self.at or [], strict=True)
        ]
        shift = max((value.denominator.bit_length() - 1 for value in own), default=0)
        return Dyadic([(value.numerator << shift) // value.denominator for value in own], shift)

    @cached_property
    def inverse(self) -> Dyadic:
        """1 / v, rounded down; adding 1 to a whole number rounds it up."""
        shift = SHARP + max(
            (above.bit_length() - below.bit_length() for above, below in self.ratios), default=0
        )
        shift = max(shift, 0)
        return Dyadic([(below << shift) // above for above, below in self.ratios], shift)

    @property
    def squares_shift(self) -> int:
        """The power of two of `squares`."""
        return 2 * self.shift + self.inverse.shift

    def squares(self, up: bool) -> list[list[int]]:
        """A' diag(1 / v) A below and on the diagonal, with 1 / v rounded up or down."""
        if up not in self._squares:
            weights = [inverse + up for inverse in self.inverse.whole]
            self._squares[up] = gram(self.rows, weights, len(self.means))
        return self._squares[up]

    def block(self, moving: Sequence[int], up: bool) -> Quadratic:
        """Of the sum of l_i(origin + z)^2 / v_i what is square in z, the changes of these features."""
        found = self.squares(up)
        rows = [[found[i][j] for j in moving[: k + 1]] for k, i in enumerate(moving)]
        return Quadratic(rows, self.squares_shift)

    def line(self, origin: Dyadic, moving: Sequence[int], up: bool) -> Dyadic:
        """Of the same sum half of what is linear in z, and what is constant."""
        offset = self.deviations(origin)
        pull = [(v + up) * b for v, b in zip(self.inverse.whole, offset.whole, strict=True)]
        slope = [0] * len(self.means)
        for row, p in zip(self.rows, pull, strict=True):
            for j, a in row:
                slope[j] += a * p
        shift = self.inverse.shift + offset.shift
        constant = Dyadic([dot(pull, offset.whole)], shift + offset.shift)
        return joined(Dyadic([slope[j] for j in moving], shift + self.shift), constant)

    @cached_property
    def volume(self) -> tuple[int, int]:
        """The product of the variances, as a fraction."""
        return math.prod(above for above, _ in self.ratios), math.prod(below for _, below in self.ratios)

    @cached_property
    def twice_log_peak(self) -> Enclosure:
        """2 log density at the mean."""
        circles = enclosed(LOG_TWO_PI, -len(self.means))
        return circles.plus(enclosed_log(*self.volume, -1))

    def twice_log_density(self, point: Dyadic) -> Enclosure:
        """2 log density at a point."""
        offset, low = self.deviations(point), 0
        for b, (above, below) in zip(offset.whole, self.ratios, strict=True):
            low += (b * b * below << PLACES) // (above << 2 * offset.shift)
        return self.twice_log_peak.minus(Enclosure(low, low + len(self.ratios)))

    def twice_terms(self, point: Dyadic) -> list[Enclosure]:
        """2 log density of each feature given its parents, without the logarithm of 2 pi."""
        offset, found = self.deviations(point), []
        for b, (above, below) in zip(offset.whole, self.ratios, strict=True):
            low = (b * b * below << PLACES) // (above << 2 * offset.shift)
            found.append(enclosed_log(above, below, -1).minus(Enclosure(low, low + 1)))
        return found

    def expected(self, x: Sequence[float]) -> list[Fraction]:
        """What the network expects of every feature given its parents' values."""
        left = self.deviations(dyadic(x))
        sizes = (Fraction(b, 1 << left.shift) for b in left.whole)
        return [Fraction(value) - size for value, size in zip(x, sizes, strict=True)]

    def squared_spreads(self, order: Sequence[int]) -> list[Fraction]:
        """Variance of every feature; each comes after its parents, and hands on what reaches it."""
        n, own, found = len(self.means), dyadic(self.variances), dict[int, Dyadic]()
        for i in order:
            reach = Dyadic([int(i == j) for j in range(n)], 0)
            for j, w in enumerate(self.weights[i]):
                above, below = w.as_integer_ratio()
                if above:
                    spend(n * (1 + (found[j].shift >> 9)))
                    more = [above * v for v in found[j].whole]
                    reach = reach.plus(Dyadic(more, found[j].shift + below.bit_length() - 1))
            found[i] = reach
        totals = [dot([v * v for v in found[i].whole], own.whole) for i in range(n)]
        return [Fraction(total, 1 << 2 * found[i].shift + own.shift) for i, total in enumerate(totals)]

    def spreads(self, order: Sequence[int]) -> list[Fraction]:
        """Standard deviation of every feature to some 79 digits."""
        ratios = (v.as_integer_ratio() for v in self.squared_spreads(order))
        return [Fraction(DIGITS.sqrt(DIGITS.divide(Decimal(a), Decimal(b)))) for a, b in ratios]


class Explicit:
    """A score of a class that is no density: twice ``linear' z + z' matrix z``, exactly."""

    def __init__(self, linear: list[float], matrix: list[list[float]] | None) -> None:
        self.linear, every = dyadic(linear), range(len(linear))
        stated = grid([[0.0] * len(linear)] * len(linear) if matrix is None else matrix)
        # Twice z' M z is z' (M + M') z.
        sums = [[stated.rows[i][j] + stated.rows[j][i] for j in every] for i in every]
        self.matrix = Grid(sums, stated.shift)

    def block(self, moving: Sequence[int], _: bool) -> Quadratic:
        """Of twice the score at origin + z what is square in z."""
        rows = [[self.matrix.rows[i][j] for j in moving[: k + 1]] for k, i in enumerate(moving)]
        return Quadratic(rows, self.matrix.shift)

    def line(self, origin: Dyadic, moving: Sequence[int], _: bool) -> Dyadic:
        """Of the same half of what is linear in z, and what is constant."""
        curved = self.matrix.times(origin)
        slope = curved.plus(self.linear)
        twice_slope = curved.plus(Dyadic([2 * w for w in self.linear.whole], self.linear.shift))
        constant = Dyadic([dot(twice_slope.whole, origin.whole)], twice_slope.shift + origin.shift)
        return joined(Dyadic([slope.whole[j] for j in moving], slope.shift), constant)

    def twice_value(self, point: Dyadic) -> Enclosure:
        """Twice the score at a point, but for its constant."""
        (value,), shift = self.line(point, [], True)
        return Enclosure((value << PLACES) >> shift, -((-value << PLACES) >> shift))


class Scale:
    """The scale on which a number is measured: the double nearest to psi((x - shift) / scale).

    psi(u) = ((1 + u)^p - 1) / p for u >= 0 and -((1 - u)^(2 - p) - 1) / (2 - p) below, a logarithm where the
    exponent is zero. It rises everywhere, and so does its rounded value.
    """

    def __init__(self, power: float, shift: float, scale: float) -> None:
        self.power, self.shift, self.scale = Fraction(power), Fraction(shift), Fraction(scale)
        self._known: dict[float, float] = {}

    def __call__(self, x: float) -> float:
        """The value on the scale."""
        if x not in self._known:
            self._known[x] = self._ends(x) if math.isinf(x) else float(self._psi(x))
        return self._known[x]

    def _ends(self, x: float) -> float:
        if x > 0:
            return float(-1 / self.power) if self.power <= -SMALLEST_POWER else math.inf
        return float(-1 / (self.power - 2)) if self.power - 2 >= SMALLEST_POWER else -math.inf

    def _psi(self, x: float) -> Decimal:
        spend(300)
        u = (Fraction(x) - self.shift) / self.scale
        exponent, size = self.power if u >= 0 else 2 - self.power, 1 + abs(u)
        found = DIGITS.ln(DIGITS.divide(Decimal(size.numerator), Decimal(size.denominator)))
        if abs(exponent) >= SMALLEST_POWER:
            p = DIGITS.divide(Decimal(exponent.numerator), Decimal(exponent.denominator))
            grown = DIGITS.exp(DIGITS.multiply(p, found))
            found = DIGITS.divide(DIGITS.subtract(grown, Decimal(1)), p)
        return found.copy_negate() if u < 0 else found


class Table(NamedTuple):
    """Probabilities of one category, by the values of its parents and its own: flat, the own value last."""

    categories: list[int]
    sizes: list[int]
    flat: list[float]

    def at(self, state: Sequence[int]) -> float:
        """The entry for a state."""
        place = 0
        for k, size in zip(self.categories, self.sizes, strict=True):
            place = place * size + state[k]
        return self.flat[place]


class Cells(NamedTuple):
    """The regression of one number for every combination of values of some categories: flat lists."""

    parents: list[int]
    categories: list[int]
    sizes: list[int]
    mean: list[float]
    at: list[list[float]]
    weights: list[list[float]]
    variance: list[float]

    def place(self, state: Sequence[int]) -> int:
        """Of the cell for a state."""
        found = 0
        for k, size in zip(self.categories, self.sizes, strict=True):
            found = found * size + state[k]
        return found


class View(NamedTuple):
    """A model for one state of its categories: scores over the numbers, and what the state adds to each."""

    scores: list[Any]  # a Network or an Explicit for each class
    twice_constants: list[Enclosure]


@dataclass(frozen=True, eq=False)
class Model:
    """What a model file says, as far as an explanation needs it."""

    features: list[Any]
    values: list[list[Any] | None]  # of each feature: None for a number
    labels: list[Any]
    priors: list[float]
    parents: list[list[int]]
    networks: list[Network]  # without categories
    tables: list[list[Table]]  # with categories, for each class
    cells: list[list[Cells]]
    ranges: list[list[float]]
    percentiles: list[list[float]]
    scales: list[Scale | None]
    stated_scales: list[Any] | None
    temperature: float
    shifts: list[float]
    calibrated: bool
    decision: list[dict[str, Any]] | None  # scores of another model, in the place of the networks
    has_probability: bool
    fingerprint: str
    intact: bool  # whether the checksum of the file is right
    kept: list[Any]  # refits of the model, as the file has them
    dates: tuple[int, ...] = ()  # features that count days and may be written as dates
    # What was computed before; a model that is made from another one begins without.
    _views: dict[tuple[int, ...], View] = field(default_factory=dict, init=False)
    _networks: dict[tuple[int, tuple[int, ...]], Network] = field(default_factory=dict, init=False)
    gains: dict[Any, Gain] = field(default_factory=dict, init=False)  # of one category, for all files

    @cached_property
    def refits(self) -> list[Model]:
        """The model with the parameters of each refit that it keeps."""
        return [_refit(entry, self) for entry in self.kept]

    @cached_property
    def numbers(self) -> list[int]:
        """Positions of the numbers."""
        return [j for j, values in enumerate(self.values) if values is None]

    @cached_property
    def categories(self) -> list[int]:
        """Positions of the categories."""
        return [j for j, values in enumerate(self.values) if values is not None]

    @cached_property
    def number_parents(self) -> list[list[int]]:
        """The graph over the numbers alone."""
        place = {j: k for k, j in enumerate(self.numbers)}
        return [[place[j] for j in self.parents[i] if j in place] for i in self.numbers]

    @cached_property
    def order(self) -> list[int]:
        """Of the numbers: topological, the smallest possible first."""
        return topological(self.number_parents)

    @cached_property
    def shaping(self) -> list[int]:
        """The categories on which the scores over the numbers depend, counted among the categories."""
        if self.decision is not None or not self.cells:
            return []
        return sorted({k for cells in self.cells[0] for k in cells.categories})

    def position(self, label: Any) -> int:
        """Of a class; -1 if there is no such class."""
        return next((k for k, other in enumerate(self.labels) if same(label, other)), -1)

    def network(self, c: int, state: tuple[int, ...]) -> Network:
        """The density of the numbers of a class, given the categories."""
        if not self.cells:
            return self.networks[c]
        places = tuple(cells.place(state) for cells in self.cells[c])
        if (c, places) not in self._networks:
            _make_room(self._networks)
            self._networks[c, places] = self._composed(c, places)
        return self._networks[c, places]

    def _composed(self, c: int, places: tuple[int, ...]) -> Network:
        n = len(self.numbers)
        spend(n * n)
        weights, at = ([[0.0] * n for _ in range(n)] for _ in range(2))
        means, variances = [], []
        for i, (cells, place) in enumerate(zip(self.cells[c], places, strict=True)):
            for j, w, a in zip(cells.parents, cells.weights[place], cells.at[place], strict=True):
                weights[i][j], at[i][j] = w, a
            means.append(cells.mean[place])
            variances.append(cells.variance[place])
        return Network(weights, means, variances, at)

    def twice_log_tables(self, c: int, state: Sequence[int]) -> Enclosure:
        """2 log P(categories) in a class."""
        total = NOTHING
        for table in self.tables[c] if self.tables else ():
            total = total.plus(enclosed_log(*table.at(state).as_integer_ratio(), 2))
        return total

    def view(self, state: tuple[int, ...]) -> View:
        """The model for one state. Scores are T times the calibrated ones."""
        if state not in self._views:
            _make_room(self._views)
            self._views[state] = self._decided(state) if self.decision else self._generative(state)
        return self._views[state]

    def _generative(self, state: tuple[int, ...]) -> View:
        every = range(len(self.labels))
        constants = [self.twice_base(c).plus(self.twice_log_tables(c, state)) for c in every]
        return View([self.network(c, state) for c in every], constants)

    def _decided(self, state: tuple[int, ...]) -> View:
        assert self.decision is not None
        scores, constants = [], []
        for c, entry in enumerate(self.decision):
            scores.append(Explicit(entry["linear"], entry["matrix"]))
            added = [twice(table[v]) for table, v in zip(entry["tables"], state, strict=True)]
            total = self.twice_base(c)
            for one in added:
                total = total.plus(one)
            constants.append(total)
        return View(scores, constants)

    def twice_base(self, c: int) -> Enclosure:
        """Twice what a score is but for numbers and categories: the prior, or the constant."""
        if self.decision is not None:
            return twice(self.decision[c]["constant"])
        shift = Fraction(self.temperature) * Fraction(self.shifts[c])
        low = (2 * shift.numerator << PLACES) // shift.denominator
        return enclosed_log(*self.priors[c].as_integer_ratio(), 2).plus(Enclosure(low, low + 1))

    def twice_gain(self, t: int, r: int | None, state: Sequence[int], k: int) -> Enclosure:
        """Twice what category k adds to the score of one class, less what it adds to another's."""
        if self.decision is not None and r is not None:
            one, two = (twice(self.decision[c]["tables"][k][state[k]]) for c in (t, r))
            return one.minus(two)
        own = self.tables[t][k].at(state).as_integer_ratio()
        if r is None:
            return enclosed_log(*own, 2)
        other = self.tables[r][k].at(state).as_integer_ratio()
        return enclosed_log(own[0] * other[1], own[1] * other[0], 2)

    def twice_scores(self, z: Sequence[float], state: tuple[int, ...]) -> list[Enclosure]:
        """2 times the score of every class at a point."""
        view, point = self.view(state), dyadic(z)
        found = []
        for score, constant in zip(view.scores, view.twice_constants, strict=True):
            more = score.twice_value(point) if isinstance(score, Explicit) else score.twice_log_density(point)
            found.append(constant.plus(more))
        return found

    def probability(self, z: Sequence[float], state: tuple[int, ...], t: int) -> Fraction:
        """P(class t), to some 30 digits."""
        scores = [score.half() / Fraction(self.temperature) for score in self.twice_scores(z, state)]
        total = Decimal(0)
        for score in scores:
            ahead = max(min(score - scores[t], Fraction(9999)), Fraction(-9999))
            exponent = DIGITS.divide(Decimal(ahead.numerator), Decimal(ahead.denominator))
            total = DIGITS.add(total, DIGITS.exp(exponent))
        return Fraction(DIGITS.divide(Decimal(1), total))

    def twice_log_density(self, z: Sequence[float], state: tuple[int, ...], c: int) -> Enclosure:
        """2 log density of numbers and categories in a class."""
        return self.network(c, state).twice_log_density(dyadic(z)).plus(self.twice_log_tables(c, state))


# What is kept of a model for the files to come, of each kind. Ten times as many may take gigabytes where
# there are hundreds of numbers; ten times fewer, and files about many states are checked more slowly.
KEPT = 5000


def _make_room(kept: dict[Any, Any]) -> None:
    """Forget everything where it has become too much."""
    if len(kept) >= KEPT:
        kept.clear()


def topological(parents: list[list[int]]) -> list[int]:
    """Every feature after its parents, the smallest possible number first; refuses a cycle."""
    children: list[list[int]] = [[] for _ in parents]
    for child, group in enumerate(parents):
        for parent in group:
            children[parent].append(child)
    missing = [len(group) for group in parents]
    ready, order = [i for i, count in enumerate(missing) if not count], []
    while ready:
        order.append(heapq.heappop(ready))
        for child in children[order[-1]]:
            missing[child] -= 1
            if not missing[child]:
                heapq.heappush(ready, child)
    if len(order) < len(parents):
        raise UnreadableError("the model's graph has a cycle")
    return order


def read_model(document: Any) -> Model:
    """Read a model's document, or its content."""
    if type(document) is not dict:
        raise UnreadableError("the model is not an object")
    intact = True
    content: Any = document
    if "format" in document:
        _header(document, "the model", "surefoot-model", 1, 2)
        content = document.get("model")
        intact = document.get("sha256") == _checksum(content)
    if type(content) is not dict:
        raise UnreadableError("the model has no content")
    for key in MODEL_KEYS:
        if key not in content:
            raise UnreadableError(f"the model lacks the key {key}")
    return _model(content, intact)


def _checksum(content: Any) -> str:
    try:
        canonical = json.dumps(content, sort_keys=True, ensure_ascii=True, allow_nan=False)
    except (ValueError, TypeError, RecursionError):
        raise UnreadableError("the model holds what cannot be written as JSON") from None
    return hashlib.sha256(canonical.encode("ascii")).hexdigest()


def _model(content: dict[str, Any], intact: bool) -> Model:
    groups = _list(content["parents"], "the model's parents")
    n = len(groups)
    parents = [[_index(j, "the model's parents", n) for j in _list(g, "the model's parents")] for g in groups]
    features = _labels(content["features"], "the model's features", (str, int))
    labels = _labels(content["classes"], "the model's classes", (str, int, float, bool))
    k = len(labels)
    if not n or len(features) != n or k < 2 or any(len(set(group)) < len(group) for group in parents):
        raise UnreadableError("the model's parents, features or classes are wrong")
    topological(parents)
    values = _kinds(content.get("kinds"), n)
    if any(values[i] is not None and values[j] is None for i, group in enumerate(parents) for j in group):
        raise UnreadableError("a category of the model depends on a number")
    priors = _numbers(content["class_prior"], "class_prior", k)
    if not all(p > 0 for p in priors):
        raise UnreadableError("the model's class_prior is not positive")
    entries = _list(content["networks"], "networks", k)
    mixed = any(entry is not None for entry in values)
    numbers = [j for j, entry in enumerate(values) if entry is None]
    scales, stated = _scales(content.get("warps"), len(numbers))
    temperature, shifts = _calibration(content.get("calibration"), k)
    decision, chance = _decision(content.get("decision"), k, values)
    rows = _list(content["density_percentiles"], "density_percentiles", k)
    ranges = [_list(ends, "feature_range", n) for ends in _list(content["feature_range"], "feature_range", 2)]
    found = Model(
        features=features,
        values=values,
        labels=labels,
        priors=priors,
        parents=parents,
        networks=[] if mixed else [_network(entry, parents) for entry in entries],
        tables=[_tables(entry, parents, values) for entry in entries] if mixed else [],
        cells=[_cells(entry, parents, values) for entry in entries] if mixed else [],
        ranges=[[_number(ends[j], "feature_range") for j in numbers] for ends in ranges],
        percentiles=[_numbers(row, "density_percentiles", 101) for row in rows],
        scales=scales,
        stated_scales=stated,
        temperature=temperature,
        shifts=shifts,
        calibrated=content.get("calibration") is not None,
        decision=decision,
        has_probability=chance,
        fingerprint="",
        intact=intact,
        kept=_kept(content.get("refits"), decision is not None),
        dates=_dates(content.get("kinds")),
    )
    return replace(found, fingerprint=_fingerprint(found))


def _kinds(value: Any, n: int) -> list[list[Any] | None]:
    """Of each feature its values if it is a category."""
    if value is None:
        return [None] * n
    found: list[list[Any] | None] = []
    for entry in _list(value, "kinds", n):
        if type(entry) is not dict or entry.get("kind") not in ("number", "whole", "date", "category"):
            raise UnreadableError("the model's kinds are wrong")
        if entry["kind"] != "category":
            found.append(None)
            continue
        values = [_label(v, "the values of a category") for v in _list(entry.get("values"), "kinds")]
        if not values or len({(type(v), v) for v in values}) < len(values):
            raise UnreadableError("the values of a category are not names that differ")
        found.append(values)
    return found


def _dates(value: Any) -> tuple[int, ...]:
    """Positions of the features that are dates."""
    return tuple(j for j, entry in enumerate(value or []) if entry["kind"] == "date")


def _scales(value: Any, n: int) -> tuple[list[Scale | None], list[Any] | None]:
    if value is None:
        return [None] * n, None
    found: list[Scale | None] = []
    stated = []
    for entry in _list(value, "warps", n):
        entry = _table(entry, "a warp", ("power", "shift", "scale"))
        shift, scale = _number(entry["shift"], "a warp"), _number(entry["scale"], "a warp")
        power = None if entry["power"] is None else _number(entry["power"], "a warp")
        if not scale > 0:
            raise UnreadableError("the scale of a warp is not positive")
        found.append(None if power is None else Scale(power, shift, scale))
        stated.append([power, shift, scale])
    return found, stated


def _calibration(value: Any, k: int) -> tuple[float, list[float]]:
    if value is None:
        return 1.0, [0.0] * k
    entry = _table(value, "the calibration", ("temperature", "shifts"))
    temperature = _number(entry["temperature"], "the temperature")
    if not temperature > 0:
        raise UnreadableError("the temperature is not positive")
    return temperature, _numbers(entry["shifts"], "the shifts", k)


def _decision(value: Any, k: int, values: list[list[Any] | None]) -> tuple[list[dict[str, Any]] | None, bool]:
    """The scores of another model; whether they are log-odds."""
    if value is None:
        return None, True
    entry = _table(value, "the decision", ("kind", "probability", "scores"))
    n, sizes = values.count(None), [len(v) for v in values if v is not None]
    if entry["kind"] != "scores":
        raise UnreadableError("the decision is of no known kind")
    found = []
    for score in _list(entry["scores"], "scores", k):
        score = _table(score, "a score", ("constant", "linear", "matrix", "tables"))
        tables = _list(score["tables"], "a score", len(sizes))
        found.append(
            {
                "constant": _number(score["constant"], "a score"),
                "linear": _numbers(score["linear"], "a score", n),
                "matrix": None if score["matrix"] is None else _matrix(score["matrix"], "a score", n),
                "tables": [_numbers(t, "a score", size) for t, size in zip(tables, sizes, strict=True)],
            }
        )
    if len({score["matrix"] is None for score in found}) > 1:  # a fingerprint could not tell whose it is
        raise UnreadableError("some scores have a matrix, others have none")
    return found, _flag(entry["probability"], "the decision")


def _split(parents: list[int], values: list[list[Any] | None]) -> tuple[list[int], list[int]]:
    """Parents of a feature: the numbers and the categories, each counted alone, in ascending order."""
    spend(len(values) * (1 + len(parents)))
    numbers = [j for j, entry in enumerate(values) if entry is None]
    categories = [j for j, entry in enumerate(values) if entry is not None]
    return [numbers.index(j) for j in sorted(parents) if j in numbers], [
        categories.index(j) for j in sorted(parents) if j in categories
    ]


def _flat(value: Any, shape: Sequence[int], where: str) -> list[Any]:
    """The entries of nested lists."""
    found = [value]
    for size in shape:
        found = [entry for part in found for entry in _list(part, where, size)]
    return found


def _tables(entry: Any, parents: list[list[int]], values: list[list[Any] | None]) -> list[Table]:
    entry, where = _table(entry, "a network of the model", ("tables", "cells")), "a table of the model"
    categories = [j for j, known in enumerate(values) if known is not None]
    sizes = [len(values[j] or []) for j in categories]
    found = []
    for k, table in enumerate(_list(entry["tables"], where, len(categories))):
        own = [*_split(parents[categories[k]], values)[1], k]
        flat = [_number(v, where) for v in _flat(table, [sizes[i] for i in own], where)]
        if not all(p > 0 for p in flat):
            raise UnreadableError("a probability of the model is not positive")
        found.append(Table(own, [sizes[i] for i in own], flat))
    return found


def _cells(entry: Any, parents: list[list[int]], values: list[list[Any] | None]) -> list[Cells]:
    where = "a cell of the model"
    numbers = [j for j, known in enumerate(values) if known is None]
    sizes = [len(known) for known in values if known is not None]
    found = []
    for i, cells in enumerate(_list(entry["cells"], where, len(numbers))):
        cells = _table(cells, where, ("mean", "at", "weights", "variance"))
        own, given = _split(parents[numbers[i]], values)
        shape = [sizes[k] for k in given]
        mean, variance = (
            [_number(v, where) for v in _flat(cells[name], shape, where)] for name in ("mean", "variance")
        )
        at, weights = (
            [_numbers(v, where, len(own)) for v in _flat(cells[name], shape, where)]
            for name in ("at", "weights")
        )
        if not all(v > 0 for v in variance):
            raise UnreadableError("the model has a variance that is not positive")
        found.append(Cells(own, given, shape, mean, at, weights, variance))
    return found


def _labels(entry: Any, where: str, kinds: tuple[type, ...]) -> list[Any]:
    labels = _list(entry.get("labels") if type(entry) is dict else None, where)
    if any(type(label) not in kinds for label in labels) or len(set(labels)) < len(labels):
        raise UnreadableError(f"{where} are not names that differ")
    return labels


def _network(entry: Any, parents: list[list[int]]) -> Network:
    n, where = len(parents), "a network of the model"
    entry = _table(entry, where, ("weights", "means", "variances"))
    weights = _matrix(entry["weights"], where, n)
    if any(w and j not in parents[i] for i, row in enumerate(weights) for j, w in enumerate(row)):
        raise UnreadableError("the model has a weight where its graph has no edge")
    variances = _numbers(entry["variances"], where, n)
    if not all(v > 0 for v in variances):
        raise UnreadableError("the model has a variance that is not positive")
    return Network(weights, _numbers(entry["means"], where, n), variances)


def _kept(value: Any, decided: bool) -> list[Any]:
    """The refits of a model, still to be read; one that decides by other scores has none."""
    found = [] if value is None else _list(value, "refits")
    if len(found) > MOST_REFITS or (found and decided):
        raise UnreadableError("the model keeps too many refits, or refits that do not decide")
    return found


def _refit(entry: Any, model: Model) -> Model:
    """The model with other parameters, class by class as doubles in base64; it has no name yet."""
    entry = _table(entry, "a refit", ("class_prior", "calibration", "parameters"))
    numbers = iter(_doubles(entry["parameters"]))
    networks = [_numbers_after(network, model.parents, numbers) for network in model.networks]
    parts = [
        _parts_after(*both, numbers) for both in zip(model.tables, model.cells, strict=True)
    ]  # class by class, like the networks
    priors = _numbers(entry["class_prior"], "class_prior", len(model.labels))
    variances = [v for network in networks for v in network.variances]
    variances += [v for _, cells in parts for one in cells for v in one.variance]
    chances = priors + [p for tables, _ in parts for table in tables for p in table.flat]
    if next(numbers, None) is not None or not all(v > 0 for v in variances + chances):
        raise UnreadableError("a refit has too many parameters, or one that is not positive")
    temperature, shifts = _calibration(entry["calibration"], len(model.labels))
    return replace(
        model,
        priors=priors,
        networks=networks,
        tables=[tables for tables, _ in parts],
        cells=[cells for _, cells in parts],
        temperature=temperature,
        shifts=shifts,
        calibrated=entry["calibration"] is not None,
        fingerprint="",
        kept=[],
    )


def _doubles(value: Any) -> tuple[float, ...]:
    try:
        raw = base64.b64decode(_text(value, "the parameters of a refit"), validate=True)
        found: tuple[float, ...] = struct.unpack(f"<{len(raw) // 8}d", raw)
    except (ValueError, struct.error):
        raise UnreadableError("the parameters of a refit are not doubles in base64") from None
    spend(len(found))
    if not all(map(math.isfinite, found)):
        raise UnreadableError("a parameter of a refit is not finite")
    return found


def _taken_from(numbers: Iterator[float], size: int) -> list[float]:
    found = list(islice(numbers, size))
    if len(found) < size:
        raise UnreadableError("a refit has fewer parameters than its model")
    return found


def _numbers_after(network: Network, parents: list[list[int]], numbers: Iterator[float]) -> Network:
    """A network without categories: weights of parents in ascending order, means, variances."""
    n = len(network.means)
    weights = [[0.0] * n for _ in range(n)]
    for row, group in zip(weights, parents, strict=True):
        for j, w in zip(sorted(group), _taken_from(numbers, len(group)), strict=True):
            row[j] = w
    return Network(weights, _taken_from(numbers, n), _taken_from(numbers, n))


def _parts_after(
    tables: list[Table], cells: list[Cells], numbers: Iterator[float]
) -> tuple[list[Table], list[Cells]]:
    """Tables, then cells: mean, at, weights and variance of each number."""
    found = [table._replace(flat=_taken_from(numbers, len(table.flat))) for table in tables]
    others = []
    for one in cells:
        size, wide = len(one.mean), len(one.parents)
        mean = _taken_from(numbers, size)
        at, weights = ([_taken_from(numbers, wide) for _ in range(size)] for _ in range(2))
        others.append(one._replace(mean=mean, at=at, weights=weights, variance=_taken_from(numbers, size)))
    return found, others


def _fingerprint(model: Model) -> str:
    """The digest of everything that decides: labels, little-endian doubles, then what is more in words."""
    digest = hashlib.sha256(repr(model.labels).encode("utf-8", "surrogatepass") + _bytes(model.priors))
    for network in model.networks:
        digest.update(_bytes(v for row in network.weights for v in row))
        digest.update(_bytes(network.means) + _bytes(network.variances))
    for tables, numbers in zip(model.tables, model.cells, strict=True):
        for table in tables:
            digest.update(_bytes(table.flat))
        for cells in numbers:
            digest.update(_bytes(cells.mean) + _bytes(v for row in cells.at for v in row))
            digest.update(_bytes(v for row in cells.weights for v in row) + _bytes(cells.variance))
    digest.update("\n".join(_beyond(model)).encode("utf-8", "surrogatepass"))
    found = digest.hexdigest()[:16]
    if model.decision is None:
        return found
    whole = hashlib.sha256(f"{found} {model.has_probability} ".encode() + b"scores")
    entries = model.decision
    whole.update(_bytes(entry["constant"] for entry in entries))
    whole.update(_bytes(v for entry in entries for v in entry["linear"]))
    for k in range(len(model.categories)):
        whole.update(_bytes(v for entry in entries for v in entry["tables"][k]))
    whole.update(_bytes(v for entry in entries for row in entry["matrix"] or [] for v in row))
    return whole.hexdigest()[:16]


def _beyond(model: Model) -> list[str]:
    """Categories, scales and calibration, a line each where there are any."""
    lines = []
    if model.categories:
        values = tuple(None if entry is None else tuple(entry) for entry in model.values)
        lines.append(f"categories {values!r} {tuple(map(tuple, model.parents))!r}")
    if any(model.scales):
        lines.append(f"warps {[tuple(entry) for entry in model.stated_scales or []]!r}")
    if model.calibrated:
        lines.append(f"calibration {model.temperature!r} {tuple(model.shifts)!r}")
    return lines


def _bytes(values: Iterable[float]) -> bytes:
    return b"".join(struct.pack("<d", v) for v in values)


# ----- The question ---------------------------------------------------------------------------------------


class Asked(NamedTuple):
    """The odds of ``label`` against ``rival``, its decision, its density; or a way off a point.

    Or its probability among all classes, or a mixture of the odds against its rivals, which that implies.
    """

    kind: str
    model: int
    label: Any
    rival: Any
    mark: float  # the threshold, the value of the decision, the floor, or the distance
    robust: bool
    point: tuple[float, ...] = ()  # to stay away from
    weights: tuple[float, ...] = ()  # of a mixture, one for each rival in the model's order

    @property
    def decides(self) -> bool:
        """Whether it is about the decision of the explained model."""
        return self.model == 0 and self.kind in ("odds", "decision")


class Row(NamedTuple):
    """``low <= coefficients' x <= high``."""

    coefficients: list[float]
    low: float
    high: float
    name: str

    @property
    def feature(self) -> int | None:
        """The feature whose interval it is; None where it adds something up."""
        used = [j for j, a in enumerate(self.coefficients) if a]
        return used[0] if len(used) == 1 and self.coefficients[used[0]] == 1 else None


class Way(NamedTuple):
    """Rows that hold, and which values some categories may have."""

    rows: list[Row]
    values: dict[int, list[int]]

    def allows(self, state: Sequence[int]) -> bool:
        """Whether categories have values of this way."""
        return all(state[k] in codes for k, codes in self.values.items())


class Either(NamedTuple):
    """One of several ways is taken, at least."""

    name: str
    ways: list[Way]


class Limit(NamedTuple):
    """At most so many of these numbers and categories differ from today."""

    name: str
    most: int
    numbers: list[int]
    categories: list[int]


class Choice(NamedTuple):
    """A category: its position among the features, its values, what each costs, and today's."""

    feature: int
    values: list[Any]
    prices: list[float]
    today: int


@dataclass(frozen=True, eq=False)
class Question:
    """What was asked, as the file states it; all lists but the features run over the numbers."""

    models: list[str]
    features: list[Any]
    choices: list[Choice]
    stated_scales: list[Any] | None
    factual: list[float]
    factual_class: Any
    target: Any
    whitening: str
    norm: float
    ball_norm: float
    budget: float | dict[int, tuple[float, float]]  # by feature: how far down and up
    exact: list[int]
    requirements: list[Asked]
    low: list[float]
    high: list[float]
    rows: list[Row]
    sets: dict[int, list[float] | None]
    gap: float
    scales: list[Scale | None] = field(default_factory=list)  # of the model, where the lists are on them
    eithers: list[Either] = field(default_factory=list)
    limits: list[Limit] = field(default_factory=list)
    prices: list[tuple[float, float]] | None = None  # of numbers: up and down by a standard deviation
    matrix: list[list[float]] | None = None  # of distance and ball, where the question states it

    @property
    def n(self) -> int:
        """Number of numbers."""
        return len(self.factual)

    @cached_property
    def numbers(self) -> list[int]:
        """Positions of the numbers among the features."""
        taken = {choice.feature for choice in self.choices}
        return [j for j in range(len(self.features)) if j not in taken]

    @property
    def names(self) -> list[Any]:
        """Of the numbers."""
        return [self.features[j] for j in self.numbers]

    @property
    def state(self) -> tuple[int, ...]:
        """The factual's categories."""
        return tuple(choice.today for choice in self.choices)

    def price(self, state: Sequence[int]) -> Fraction | float:
        """What the changed categories cost; infinite where one must not change so."""
        prices = [choice.prices[v] for choice, v in zip(self.choices, state, strict=True)]
        return math.inf if math.inf in prices else sum(map(Fraction, prices), Fraction(0))

    def on_scales(self, scales: list[Scale | None]) -> Question:
        """The same question on the scales on which numbers are measured; sets keep their own units."""
        if not any(scales):
            return self
        ends = [
            [value if scale is None else scale(value) for scale, value in zip(scales, values, strict=True)]
            for values in (self.factual, self.low, self.high)
        ]
        eithers = [
            Either(name, [Way([_on_scale(row, scales) for row in way.rows], way.values) for way in ways])
            for name, ways in self.eithers
        ]
        return replace(self, factual=ends[0], low=ends[1], high=ends[2], scales=scales, eithers=eithers)

    @property
    def way_rows(self) -> list[Row]:
        """The rows of all ways."""
        return [row for either in self.eithers for way in either.ways for row in way.rows]

    def stated_numbers(self) -> list[float]:
        """The numbers that have a place on a scale."""
        ends = [end for row in self.way_rows for end in row[1:3]]
        return [*self.factual, *self.low, *self.high, *ends]

    def left(self, limit: Limit, state: Sequence[int]) -> int:
        """How many numbers may still change in a state; negative where too many categories did."""
        return limit.most - sum(state[k] != self.choices[k].today for k in limit.categories)

    @cached_property
    def perturbed(self) -> list[int]:
        """The features that do not land exactly."""
        if isinstance(self.budget, dict):
            return sorted(j for j, ends in self.budget.items() if any(ends))
        exact = set(self.exact)
        return [j for j in range(self.n) if j not in exact]

    @property
    def ball_is_metric(self) -> bool:
        """Whether the ball's matrix is the distance's."""
        return not self.exact and self.prices is None

    @property
    def radius(self) -> float:
        """Of the ball: the budget, 1 for a budget by feature; 0 if nothing is perturbed."""
        if not self.perturbed:
            return 0.0
        return 1.0 if isinstance(self.budget, dict) else self.budget

    def allows(self, j: int, value: float) -> bool:
        """Whether a feature with a declared set may have this value."""
        values = self.sets[j]
        return value == self.factual[j] or (value.is_integer() if values is None else value in values)

    def nothing_between(self, j: int, a: float, b: float) -> bool:
        """Whether nothing of the declared set of a feature lies strictly between a < b."""
        if j not in self.sets or not a < b or a < self.factual[j] < b:
            return False
        values, scale = self.sets[j], self.scales[j] if self.scales else None
        if values is not None:
            spend(len(values))
            return not any(a < (v if scale is None else scale(v)) < b for v in values)
        if scale is None:
            return math.floor(a) + 1 >= b
        first = _last_whole(scale, a)
        return first is not None and scale(first + 1.0) >= b


def _on_scale(row: Row, scales: list[Scale | None]) -> Row:
    """The interval of a feature on its scale; others stay, and must not add up curved ones."""
    scale = None if row.feature is None else scales[row.feature]
    return row if scale is None else row._replace(low=scale(row.low), high=scale(row.high))


def _last_whole(scale: Scale, end: float) -> float | None:
    """The largest whole number that is not beyond an end of a scale, found by halving; None if none is."""
    low, high = -(2.0**53), 2.0**53
    if not scale(low) <= end:
        return None
    while high - low > 1:
        middle = float((low + high) // 2)
        low, high = (middle, high) if scale(middle) <= end else (low, middle)
    return low


def read_question(value: Any) -> Question:
    """Read a question; whether it fits the model is looked at later."""
    asked = _table(value, "the question", QUESTION_KEYS)
    _header(asked, "the question", "surefoot-question", 3, 4)
    listed = {
        key: _list(asked[key], f"the question's {key}") for key in ("models", "features", "requirements")
    }
    if len(listed["requirements"]) > MOST_REQUIREMENTS:
        raise UnreadableError(f"the question asks for more than {MOST_REQUIREMENTS} things")
    row = _list(asked["factual"], "the question's factual", len(listed["features"]))
    choices = [_choice(v, row) for v in _list(asked["choices"], "the question's choices")]
    taken = [choice.feature for choice in choices]
    if any(a >= b for a, b in pairwise(taken)):
        raise UnreadableError("the question's choices are not sorted")
    factual = [_number(v, "the question's factual") for j, v in enumerate(row) if j not in taken]
    n = len(factual)
    scales = asked["warps"]
    given = ("matrix",) if asked["version"] == 4 else ()
    distance = _table(asked["distance"], "the distance", ("kind", "whitening", "norm", "prices", *given))
    if distance["whitening"] not in (("given",) if given else ("cholesky", "dag", "zca")):
        raise UnreadableError("the question's distance is not known")
    ball = _table(asked["ball"], "the ball", ("norm", "budget", "exact"))
    domain = _table(asked["domain"], "the domain", DOMAIN_KEYS)
    if type(domain["declared"]) is not dict:  # words, for which nothing vouches: they are not used
        raise UnreadableError("the domain's declared is not an object")
    return Question(
        models=[_text(v, "the question's models") for v in listed["models"]],
        features=[_label(v, "the question's features") for v in listed["features"]],
        choices=choices,
        stated_scales=None if scales is None else _list(scales, "the question's warps", n),
        factual=factual,
        factual_class=_label(asked["factual_class"], "the question's factual_class"),
        target=_label(asked["target"], "the question's target"),
        whitening=distance["whitening"],
        norm=_norm(distance["norm"], "the norm of the distance"),
        ball_norm=_norm(ball["norm"], "the norm of the ball"),
        budget=_budget(ball["budget"], n),
        exact=[_index(j, "the exact features", n) for j in _list(ball["exact"], "the exact features")],
        requirements=[_asked(v) for v in listed["requirements"]],
        low=[_wide(v, "the domain's low") for v in _list(domain["low"], "the domain's low", n)],
        high=[_wide(v, "the domain's high") for v in _list(domain["high"], "the domain's high", n)],
        rows=[_row(v, n) for v in _list(domain["rows"], "the domain's rows")],
        sets=_sets(_list(domain["sets"], "the domain's sets"), n),
        gap=_number(asked["gap"], "the question's gap"),
        eithers=[_either(v, n, choices) for v in _list(domain["eithers"], "the domain's eithers")],
        limits=[_limit(v, n, len(choices)) for v in _list(domain["limits"], "the domain's limits")],
        prices=_prices(distance["kind"], distance["prices"], n),
        matrix=_matrix(distance["matrix"], "the question's matrix", n) if given else None,
    )


def _prices(kind: Any, value: Any, n: int) -> list[tuple[float, float]] | None:
    """What a change of each number costs, up and down, where the distance is a cost."""
    if kind == "mahalanobis" and value is None:
        return None
    if kind != "cost":
        raise UnreadableError("the question's distance is not known")
    pairs = [_numbers(pair, "the prices of numbers", 2) for pair in _list(value, "the prices of numbers", n)]
    return [(up, down) for up, down in pairs]


def _ascending(value: Any, where: str, size: int) -> list[int]:
    """Different positions in ascending order."""
    found = [_index(k, where, size) for k in _list(value, where)]
    if not _increasing(found):
        raise UnreadableError(f"{where} are not in ascending order")
    return found


def _either(value: Any, n: int, choices: list[Choice]) -> Either:
    entry = _table(value, "an either", ("name", "ways"))
    ways = [_way(way, n, choices) for way in _list(entry["ways"], "an either")]
    return Either(_text(entry["name"], "an either"), ways)


def _way(value: Any, n: int, choices: list[Choice]) -> Way:
    entry, where = _table(value, "a way", ("rows", "values")), "the values of a way"
    pairs = [_list(pair, where, 2) for pair in _list(entry["values"], where)]
    named = _ascending([k for k, _ in pairs], "the categories of a way", len(choices))
    codes = [_ascending(pair[1], where, len(choices[k].values)) for k, pair in zip(named, pairs, strict=True)]
    return Way([_row(row, n) for row in _list(entry["rows"], "a way")], dict(zip(named, codes, strict=True)))


def _limit(value: Any, n: int, categories: int) -> Limit:
    entry = _table(value, "a limit", ("name", "count", "numbers", "categories"))
    most = _whole(entry["count"], "the count of a limit")
    if most < 0:
        raise UnreadableError("the count of a limit is negative")
    numbers = _ascending(entry["numbers"], "the numbers of a limit", n)
    others = _ascending(entry["categories"], "the categories of a limit", categories)
    return Limit(_text(entry["name"], "a limit"), most, numbers, others)


def _choice(value: Any, row: list[Any]) -> Choice:
    entry = _table(value, "a choice", ("feature", "values", "prices"))
    j = _index(entry["feature"], "a choice", len(row))
    values = [_label(v, "a choice") for v in _list(entry["values"], "a choice")]
    prices = [_wide(v, "a price") for v in _list(entry["prices"], "a choice", len(values))]
    today = [k for k, v in enumerate(values) if same(v, row[j])]
    if len(today) != 1:
        raise UnreadableError("the factual's category is not one of its values")
    return Choice(j, values, prices, today[0])


def _budget(value: Any, n: int) -> float | dict[int, tuple[float, float]]:
    if type(value) is not dict:
        return _number(value, "the budget")
    numbers = {str(j): j for j in range(n)}
    found = {}
    for key, ends in value.items():
        if key not in numbers:
            raise UnreadableError(f"the budget names a feature {shown(key)}")
        down, up = _numbers(ends, "the budget", 2)
        found[numbers[key]] = (down, up)
    return found


def _asked(value: Any) -> Asked:
    where, kind = "a requirement", value.get("kind") if type(value) is dict else None
    if kind == "odds":
        entry = _table(value, where, ("kind", "model", "target", "rival", "threshold", "robust"))
        label, rival, mark = entry["target"], _label(entry["rival"], where), entry["threshold"]
    elif kind == "decision":
        entry = _table(value, where, ("kind", "model", "target", "rival", "value", "robust"))
        label, rival, mark = entry["target"], _label(entry["rival"], where), entry["value"]
    elif kind == "probability":
        entry = _table(value, where, ("kind", "model", "target", "threshold", "robust"))
        label, rival, mark = entry["target"], None, entry["threshold"]
    elif kind == "density":
        entry = _table(value, where, ("kind", "model", "class", "floor", "robust"))
        label, rival, mark = entry["class"], None, entry["floor"]
    elif kind == "away":
        entry = _table(value, where, ("kind", "point", "distance"))
        point = tuple(_numbers(entry["point"], where, len(_list(entry["point"], where))))
        return Asked(kind, 0, None, None, _number(entry["distance"], where), False, point)
    else:
        raise UnreadableError(f"{where} is of no known kind: {shown(kind)}")
    model, robust = _whole(entry["model"], where), _flag(entry["robust"], where)
    return Asked(kind, model, _label(label, where), rival, _number(mark, where), robust)


def _row(value: Any, n: int) -> Row:
    where = "a row of the domain"
    entry = _table(value, where, ("coefficients", "low", "high", "name"))
    coefficients, name = _numbers(entry["coefficients"], where, n), _text(entry["name"], where)
    return Row(coefficients, _wide(entry["low"], where), _wide(entry["high"], where), name)


def _sets(entries: list[Any], n: int) -> dict[int, list[float] | None]:
    found: dict[int, list[float] | None] = {}
    where = "a set of the domain"
    for value in entries:
        entry = _table(value, where, ("feature", "values"))
        j, values = _index(entry["feature"], where, n), entry["values"]
        if j in found:
            raise UnreadableError("a feature has two sets of values")
        found[j] = None if values is None else [_number(v, where) for v in _list(values, where)]
    return found


# ----- Matrices -------------------------------------------------------------------------------------------


class Quadratic(NamedTuple):
    """A quadratic function of (z, 1): a symmetric matrix below and on its diagonal, over a power of two."""

    rows: list[list[int]]
    shift: int


Lower = dict[int, dict[int, int]]  # a symmetric matrix of few entries: row by row, below and on the diagonal


def definite(rows: list[list[int]]) -> bool:
    """Whether a symmetric matrix of whole numbers is positive definite; False also where it is too close."""
    return _definite_at(rows, 96) or _definite_at(rows, 256)


def _definite_at(rows: list[list[int]], bits: int) -> bool:
    """Scale by powers of two until the diagonal has so many bits, round down, eliminate."""
    if any(row[-1] <= 0 for row in rows):
        return False
    shifts = [(row[-1].bit_length() - bits) // 2 for row in rows]
    rounded = [
        [_shifted(v, s + t) for v, t in zip(row, shifts, strict=False)]
        for row, s in zip(rows, shifts, strict=True)
    ]
    return _pivots_positive(_lowered(rounded))


def _shifted(value: int, shift: int) -> int:
    """The whole number at or just below value / 2**shift."""
    return value >> shift if shift >= 0 else value << -shift


def _lowered(rows: list[list[int]]) -> list[list[int]]:
    """A matrix whose entries were rounded down by less than 1, made smaller than the true one."""
    for row in rows:
        row[-1] -= len(rows)
    return rows


def _pivots_positive(rows: list[list[int]]) -> bool:
    """Eliminate row by row: definite if the pivot is positive and what remains is definite."""
    while rows:
        spend(len(rows) ** 2 // 2)
        pivot, column = rows[0][0], [row[0] for row in rows[1:]]
        if pivot <= 0:
            return False
        rows = [
            [v + (-c * other) // pivot for v, other in zip(row[1:], column, strict=False)] if c else row[1:]
            for row, c in zip(rows[1:], column, strict=True)
        ]
        _lowered(rows)
    return True


def restricted(rows: list[list[int]], fixed: dict[int, int], unit: int) -> list[list[int]]:
    """The matrix on the subspace where coordinate j is ``fixed[j] / unit`` times the last one."""
    last = len(rows) - 1
    keep = [i for i in range(last) if i not in fixed]
    column = [(j, t) for j, t in fixed.items() if t] + [(last, unit)]

    def entry(i: int, j: int) -> int:
        return rows[i][j] if i >= j else rows[j][i]

    found = [[rows[i][j] for j in keep[: k + 1]] for k, i in enumerate(keep)]
    line = [sum(entry(i, j) * t for j, t in column) for i in keep]
    corner = sum(entry(i, j) * t * other for i, t in column for j, other in column)
    return [*found, [*line, corner]]


def congruent(lower: Lower, sparse: list[list[tuple[int, int]]], size: int) -> list[list[int]]:
    """The product lift' M lift below and on the diagonal, for a symmetric M.

    The lift is given by its rows without their zeros, and by how many columns it has.
    """
    products: dict[int, list[int]] = {}
    entries = [(i, j, v) for i, row in lower.items() for j, v in row.items()]
    spend(sum(len(sparse[i]) + len(sparse[j]) for i, j, _ in entries))
    for i, j, v in entries:
        for at, column in ((i, j), (j, i)) if i != j else ((i, j),):
            line = products.get(at)
            if line is None:
                line = products[at] = [0] * size
            for k, b in sparse[column]:
                line[k] += v * b
    found = [[0] * (a + 1) for a in range(size)]
    for i, line in products.items():
        spend(size * len(sparse[i]))
        for a, w in sparse[i]:
            found[a] = [v + w * b for v, b in zip(found[a], line, strict=False)]
    return found


def added(
    parts: Sequence[tuple[int, int, Quadratic]], size: int, lines: Sequence[tuple[int, int, Dyadic]] = ()
) -> Quadratic:
    """Sum of quadratic functions and of last rows, each times a fraction ``above / 2**bits``."""
    shifts = [bits + part.shift for _, bits, part in parts] + [bits + line.shift for _, bits, line in lines]
    most = max(shifts, default=0)
    rows = [[0] * (i + 1) for i in range(size)]
    for above, bits, part in parts:
        factor = above << (most - bits - part.shift)
        for i, row in enumerate(part.rows):
            rows[i] = [a + factor * b for a, b in zip(rows[i], row, strict=True)]
    for above, bits, line in lines:
        factor = above << (most - bits - line.shift)
        rows[-1] = [a + factor * b for a, b in zip(rows[-1], line.whole, strict=True)]
    return Quadratic(rows, most)


# ----- Proofs ---------------------------------------------------------------------------------------------


class Requirement(NamedTuple):
    """A function that must not be negative in a proof: a constant, and signed sums of squares."""

    parts: list[tuple[float, Any]]  # a signed weight, and a Network or an Explicit
    twice_constant: int  # over 2**PLACES, rounded up
    robust: bool

    def block(self, moving: Sequence[int]) -> Quadratic:
        """Of twice the function at origin + z what is square in z, nowhere too small with `line`.

        One over a variance is rounded up where its square is added, and down where it is taken off.
        """
        parts = [(*_dyadic(weight), part.block(moving, weight > 0)) for weight, part in self.parts]
        return added(parts, len(moving))

    def line(self, origin: Dyadic, moving: Sequence[int]) -> Dyadic:
        """Of the same half of what is linear in z, and what is constant."""
        total = joined(Dyadic([0] * len(moving), 0), Dyadic([self.twice_constant], PLACES))
        for weight, part in self.parts:
            line, (above, bits) = part.line(origin, moving, weight > 0), _dyadic(weight)
            total = total.plus(Dyadic([above * v for v in line.whole], line.shift + bits))
        return total


def _dyadic(weight: float) -> tuple[int, int]:
    """A double as a whole number over a power of two."""
    above, below = weight.as_integer_ratio()
    return above, below.bit_length() - 1


class Ball:
    """``{d : d = 0 on the exact features, ||N d||_q <= budget}``, or a box by feature."""

    def __init__(self, question: Question, matrix: list[list[float]] | None) -> None:
        self.question, self.matrix = question, matrix

    @cached_property
    def _grid(self) -> Grid:
        return grid(self.matrix or [])

    def contains(self, d: Sequence[float], room: Fraction | int = 0) -> bool:
        """Whether a perturbation is in the ball, enlarged by a share of it."""
        asked, larger = self.question, 1 + Fraction(room)
        if any(v for j, v in enumerate(d) if j not in asked.perturbed):
            return False
        if isinstance(asked.budget, dict):
            ends = [(Fraction(d[j]), *map(Fraction, asked.budget[j])) for j in asked.perturbed]
            return all(-down * larger <= v <= up * larger for v, down, up in ends)
        if self.matrix is None:
            return not any(d)
        spend(len(asked.perturbed) ** 2)
        image = self._grid.times(dyadic(d[j] for j in asked.perturbed))
        return within(image, asked.ball_norm, Fraction(asked.budget) * larger)


@dataclass(frozen=True, eq=False)
class Setting:
    """What a proof is about; made by `bound_setting` or `robustness_settings`.

    Parameters
    ----------
    norm : float
        The p of ``||u||_p <= level``, with ``u = metric z``.
    metric : list of lists of float
        D, or N; the identity for a budget by feature.
    half : list of Fraction or None
        Half widths of a budget by feature: then ``abs(u_i) <= level half_i``.
    origin : Dyadic
        The features where z is 0: the factual, or the counterfactual (moved to the middle of its box).
    moving : list of int
        The features that z moves.
    requirements : list of Requirement
    domain : Question or None
        None for robustness, which knows no domain and no scenarios.
    ball : Ball or None
        Where scenarios have to lie.
    prices : list of (float, float) or None
        What u_i = 1 and u_i = -1 cost, where the distance is a cost: D is diagonal then.
    ways : list
        For each either of the domain the rows of each way that is open; None where it is not asked for.
    limits : list of (int, set of int)
        How many of these features change at most.
    """

    norm: float
    metric: list[list[float]]
    half: list[Fraction] | None
    origin: Dyadic
    moving: list[int]
    requirements: list[Requirement]
    domain: Question | None = None
    ball: Ball | None = None
    prices: list[tuple[float, float]] | None = None
    ways: Sequence[list[list[Row]] | None] = ()
    limits: Sequence[tuple[int, frozenset[int]]] = ()

    @property
    def size(self) -> int:
        """Number of coordinates; also the coordinate of the constant."""
        return len(self.moving)

    def ends(self, i: int, level: float) -> tuple[Fraction | float, Fraction | float]:
        """Between which ends u_i lies within the level."""
        if level == math.inf:
            return -level, level
        if self.prices is not None:
            up, down = map(Fraction, self.prices[i])
            return -Fraction(level) / down, Fraction(level) / up
        reach = level if self.half is None else Fraction(level) * self.half[i]
        return -reach, reach

    def share(self, i: int, falls: bool) -> Fraction:
        """How far u_i can fall, or rise, within a level of 1."""
        low, high = self.ends(i, 1.0)
        return Fraction(-low if falls else high)

    @cached_property
    def _grid(self) -> Grid:
        return grid(self.metric)

    def lift(self, moving: Sequence[int]) -> Grid:
        """The matrix that maps (z, 1) to (u, 1), where no other coordinate of z moves."""
        metric = self._grid
        rows = [[*(row[j] for j in moving), 0] for row in metric.rows]
        return Grid([*rows, [0] * len(moving) + [1 << metric.shift]], metric.shift)


class Form(NamedTuple):
    """An affine function of u (space "u"), of z (space "z"), or a constant (space "1").

    Entries are pairs of a coordinate and a whole number, over a power of two.
    """

    space: str
    entries: list[tuple[int, int]]
    shift: int


class Step(NamedTuple):
    """One side of a split: the form that is not negative there, and the end that it gives to u_i or x_i.

    Or a way of an either, by its place among the open ones, with its rows (kind "way"); or a number that
    keeps today's value ("changed" and below) or counts as changed.
    """

    kind: str  # "u" or "x"; other functions give no end
    number: int
    below: bool
    end: float = math.nan
    form: Form | None = None
    rows: Sequence[Row] = ()


@dataclass(frozen=True, eq=False)
class Proof:
    """A proof that was read, its tree still as JSON; made by `read_proof`."""

    setting: Setting
    directions: list[Form]
    scenarios: list[list[float]]
    tree: Any
    _blocks: dict[int, Quadratic] = field(default_factory=dict)
    _lines: dict[tuple[int, int], Dyadic] = field(default_factory=dict)
    _frames: dict[tuple[int, ...], Frame] = field(default_factory=dict)
    sloped: dict[tuple[float, str], Form] = field(default_factory=dict)  # by level and text
    between_ends: dict[tuple[int, float], tuple[Form, Form]] = field(default_factory=dict)

    def origin(self, s: int) -> Dyadic:
        """The features where z is 0 in scenario s (-1: at the point itself)."""
        origin = self.setting.origin
        return origin if s < 0 else origin.plus(dyadic(self.scenarios[s]))

    def block(self, r: int) -> Quadratic:
        """Of twice requirement r what is square in z: the same in every scenario."""
        if r not in self._blocks:
            self._blocks[r] = self.setting.requirements[r].block(self.setting.moving)
        return self._blocks[r]

    def line(self, r: int, s: int) -> Dyadic:
        """Of twice requirement r in scenario s half of what is linear in z, and what is constant."""
        if (r, s) not in self._lines:
            self._lines[r, s] = self.setting.requirements[r].line(self.origin(s), self.setting.moving)
        return self._lines[r, s]

    def frame(self, moving: tuple[int, ...]) -> Frame:
        """What leaves share where only these coordinates of z move."""
        if moving not in self._frames:
            if len(self._frames) >= KEPT_FRAMES:
                self._frames.clear()
            lift, last = self.setting.lift(moving), self.setting.size
            place = {j: k for k, j in enumerate([*moving, last])}
            self._frames[moving] = Frame(moving, lift, place, [_sparse(row) for row in lift.rows])
        return self._frames[moving]


def read_proof(setting: Setting, document: Any) -> Proof:
    """Read a proof. Raises `FaultError` if a scenario is no perturbation of the ball."""
    document = _table(document, "a proof", ("directions", "scenarios", "tree"))
    directions = []
    for entry in _list(document["directions"], "a proof's directions"):
        numbers = dyadic(_numbers(entry, "a proof's directions", setting.size))
        directions.append(Form("u", _sparse(numbers.whole), numbers.shift))
    listed = _list(document["scenarios"], "a proof's scenarios")
    scenarios = [_numbers(entry, "a proof's scenarios", setting.size) for entry in listed]
    for number, d in enumerate(scenarios):
        if any(d) and not (setting.ball and setting.ball.contains(d)):
            raise FaultError(f"scenario {number} lies outside the ball")
    return Proof(setting, directions, scenarios if setting.ball else [], document["tree"])


def _sparse(whole: Sequence[int]) -> list[tuple[int, int]]:
    return [(i, w) for i, w in enumerate(whole) if w]


def proven_level(proof: Proof, decide: Callable[[Any, Sequence[Step]], str] | None = None) -> float:
    """The least level of the leaves: no point that the proof is about lies within it.

    Parameters
    ----------
    proof : Proof
        From `read_proof`.
    decide : callable, optional
        Takes a leaf and the way to it, says why the leaf does not hold. Default: `leaf_fault`.

    Raises
    ------
    FaultError
        If a leaf does not hold; says which and why.
    UnreadableError
        If the tree is not even well formed.
    """
    least = math.inf
    stack: list[tuple[Any, tuple[Step, ...]]] = [(proof.tree, ())]
    while stack:
        node, path = stack.pop()
        spend(1 + len(path))
        if type(node) is dict and any(kind in node for kind in SPLITS):
            if len(path) >= DEPTH:
                raise UnreadableError(f"a tree has more than {DEPTH} splits on one way")
            stack += [(child, (*path, taken)) for child, taken in reversed(children(proof, node))]
            continue
        fault = decide(node, path) if decide else leaf_fault(proof, node, path)
        if fault:
            raise FaultError(f"leaf {_place(path)}: {fault}")
        least = min(least, _wide(node["level"], "a level"))
    return least


def _place(path: Sequence[Step]) -> str:
    """Where a leaf is: the sides from the root, b for below (or kept), a for above, numbers for ways."""
    sides = (str(taken.number) if taken.kind == "way" else "ab"[taken.below] for taken in path)
    return shown("".join(sides)) if path else "at the root"


def children(proof: Proof, node: dict[str, Any]) -> list[tuple[Any, Step]]:
    """The pieces of a split. Raises `FaultError` where they do not cover the node's."""
    if "either" in node:
        nodes = _list(_table(node, "an either", ("either", "ways"))["ways"], "an either")
        count = len(open_ways(proof, node["either"]))
        if len(nodes) != count:
            raise FaultError(f"an either has {count} ways, of which {len(nodes)} are looked at")
        return [(child, step(proof, node, k)) for k, child in enumerate(nodes)]
    sides = ("no", "yes") if "changed" in node else ("below", "above")
    steps = [step(proof, node, side) for side in sides]  # before the sides are looked up: the keys are right
    return [(node[side], taken) for side, taken in zip(sides, steps, strict=True)]


def open_ways(proof: Proof, number: Any) -> list[list[Row]]:
    """The rows of each way of an either that is asked for."""
    ways = proof.setting.ways
    rows = ways[_index(number, "eithers", len(ways), FaultError)]
    if rows is None:
        raise FaultError(f"either {number} is not asked for in these states")
    return rows


def step(proof: Proof, node: dict[str, Any], side: Any) -> Step:
    """One side of a split. Raises `FaultError` where its sides do not cover the piece."""
    below, setting = side == "below", proof.setting
    if "either" in node:
        return Step("way", side, False, rows=open_ways(proof, node["either"])[side])
    if "changed" in node:
        number = _table(node, "a change", ("changed", "no", "yes"))["changed"]
        j = _index(number, "numbers", setting.size, FaultError)
        if not any(j in numbers for _, numbers in setting.limits):
            raise FaultError(f"no limit counts changes of feature {j}")
        return Step("changed", j, side == "no")
    if "cut" in node:
        cut = _list(_table(node, "a cut", ("cut", "below", "above"))["cut"], "a cut", 2)
        kind, k, form = function(proof, cut[0])
        end = _number(cut[1], "a cut")
    else:
        choice = _list(_table(node, "a choice", ("choice", "below", "above"))["choice"], "a choice", 3)
        kind, k, form = function(proof, ["x", choice[0]])
        a, b = _number(choice[1], "a choice"), _number(choice[2], "a choice")
        if not (setting.domain and setting.domain.nothing_between(k, a, b)):
            raise FaultError(f"a choice of feature {k} between {a!r} and {b!r} skips what it may be")
        end = a if below else b
    return Step(kind, k, below, end, beyond(form, end, setting.size, -1 if below else 1))


def function(proof: Proof, entry: Any) -> tuple[str, int, Form]:
    """A function that may be cut: its kind, its number, and itself as a form."""
    kind, number = _list(entry, "a function", 2)
    setting, domain = proof.setting, proof.setting.domain
    counts = {"u": setting.size, "d": len(proof.directions)}
    if domain is not None:
        counts |= {"x": domain.n, "r": len(domain.rows)}
    if type(kind) is not str or kind not in counts:
        raise FaultError(f"a function of the kind {shown(kind)} is not known here")
    k = _index(number, f"functions {kind}", counts[kind], FaultError)
    if kind == "u":
        return kind, k, Form("u", [(k, 1)], 0)
    if kind == "d" or domain is None:
        return kind, k, proof.directions[k]
    origin = setting.origin
    if kind == "x":
        return kind, k, Form("z", [(k, 1 << origin.shift), (setting.size, origin.whole[k])], origin.shift)
    return kind, k, row_form(setting, domain.rows[k])


def row_form(setting: Setting, row: Row) -> Form:
    """What a row adds up."""
    spend(len(row.coefficients))
    origin, whole = setting.origin, dyadic(row.coefficients)
    scaled = [(j, a << origin.shift) for j, a in _sparse(whole.whole)]
    constant = (setting.size, dot(whole.whole, origin.whole))
    return Form("z", [*scaled, constant], whole.shift + origin.shift)


def beyond(form: Form, end: float, constant: int, sign: int) -> Form:
    """``sign (function - end)``."""
    spend(len(form.entries))
    above, below = end.as_integer_ratio()
    bits = below.bit_length() - 1
    shift = max(form.shift, bits)
    entries = {constant: -sign * above << (shift - bits)}
    for i, a in form.entries:
        entries[i] = entries.get(i, 0) + (sign * a << (shift - form.shift))
    return Form(form.space, list(entries.items()), shift)


def leaf_fault(proof: Proof, leaf: Any, path: Sequence[Step]) -> str:
    """Why a leaf does not hold; empty if it does. The heart of this file.

    Every function named below is not negative at any point of the piece within the level. If their
    weighted sum is negative everywhere, there is no such point.
    """
    if leaf is None:
        return "the piece was left open"
    leaf = _table(leaf, "a leaf", LEAF_KEYS)
    try:
        piece = Piece(proof, _wide(leaf["level"], "a level"), path)
        if piece.empty():
            return ""
        products = [
            *norm_terms(piece, leaf),
            *(product_term(piece, entry) for entry in _list(leaf["products"], "products")),
            *(between_term(proof, entry) for entry in _list(leaf["between"], "between")),
        ]
        requirements = [requirement_term(proof, v) for v in _list(leaf["requirements"], "requirements")]
    except FaultError as fault:
        return str(fault)
    rows = negated(proof, products, requirements, piece.moving)
    moved, changes = piece.moved()
    if moved:
        places = [piece.moving.index(j) for j in moved]
        rows = restricted(rows, dict(zip(places, changes.whole, strict=True)), 1 << changes.shift)
    return "" if definite(depended_on(rows)) else "the weighted sum is not negative everywhere"


def depended_on(rows: list[list[int]]) -> list[list[int]]:
    """The matrix without coordinates whose entries are all zero: the function does not depend on them."""
    last = len(rows) - 1
    idle = {i for i in range(last) if not any(rows[i]) and not any(row[i] for row in rows[i + 1 :])}
    kept = (row for i, row in enumerate(rows) if i not in idle)
    return [[v for j, v in enumerate(row) if j not in idle] for row in kept]


class Piece:
    """What level, domain and splits say about single coordinates: between which ends they lie."""

    def __init__(self, proof: Proof, level: float, path: Sequence[Step]) -> None:
        if not level >= 0:
            raise FaultError("a level is negative")
        spend(proof.setting.size + len(path))
        self.proof, self.level, self.path = proof, level, path
        domain = proof.setting.domain
        self.low, self.high = (list(domain.low), list(domain.high)) if domain else ([], [])
        self._today = domain.factual if domain else []
        self.cut_ends: dict[int, tuple[Fraction | float, Fraction | float]] = {}
        self._kept: set[int] = set()
        self._counted: set[int] = set()
        self._keep_others()
        for taken in path:
            self._take(taken)

    def _take(self, taken: Step) -> None:
        """One side of a split."""
        if taken.kind == "u":
            low, high = self.ends(taken.number)
            cut = (low, min(high, taken.end)) if taken.below else (max(low, taken.end), high)
            self.cut_ends[taken.number] = cut
        elif taken.kind == "x" and taken.below:
            self._narrow(taken.number, -math.inf, taken.end)
        elif taken.kind == "x":
            self._narrow(taken.number, taken.end, math.inf)
        elif taken.kind == "way":
            for row in taken.rows:
                if row.feature is not None:
                    self._narrow(row.feature, row.low, row.high)
        elif taken.kind == "changed":
            self._decide(taken.number, not taken.below)

    def _narrow(self, j: int, low: float, high: float) -> None:
        self.low[j], self.high[j] = max(self.low[j], low), min(self.high[j], high)

    def _decide(self, j: int, counts: bool) -> None:
        """A number keeps today's value, or counts as changed; once on a way, or it would count twice."""
        if j in self._kept or j in self._counted:
            raise FaultError(f"whether feature {j} changes was decided before")
        if counts:
            self._counted.add(j)
            self._keep_others()
        else:
            self._keep(j)

    def _keep(self, j: int) -> None:
        self._kept.add(j)
        self._narrow(j, self._today[j], self._today[j])

    def _keep_others(self) -> None:
        """Where the count of a limit is used up, its other numbers keep today's values."""
        for count, numbers in self.proof.setting.limits:
            if len(numbers & self._counted) >= count:
                for j in numbers - self._counted - self._kept:
                    self._keep(j)

    def ends(self, i: int) -> tuple[Fraction | float, Fraction | float]:
        """Of u_i."""
        return self.cut_ends[i] if i in self.cut_ends else self.proof.setting.ends(i, self.level)

    def empty(self) -> bool:
        """Whether the ends of a feature or of an entry of u exclude each other."""
        of_x = any(low > high for low, high in zip(self.low, self.high, strict=True))
        return of_x or any(low > high for low, high in self.cut_ends.values())

    @cached_property
    def moving(self) -> list[int]:
        """The coordinates of z that are not zero all over the piece."""
        still = [low == high == now for low, high, now in zip(self.low, self.high, self._today, strict=True)]
        return [j for j in range(self.proof.setting.size) if not (still and still[j])]

    def moved(self) -> tuple[list[int], Dyadic]:
        """The features whose ends are equal, but not today's value, and their changes."""
        ends = [(j, self.low[j], self.high[j]) for j in self.moving] if self.low else []
        features = [j for j, low, high in ends if low == high and math.isfinite(low)]
        origin = self.proof.setting.origin
        now = Dyadic([origin.whole[j] for j in features], origin.shift)
        return features, dyadic(self.low[j] for j in features).plus(now, -1)

    def rate(self, i: int) -> float:
        """What u_i costs at least on the piece, for each unit up or down; 1 without prices."""
        prices = self.proof.setting.prices
        if prices is None:
            return 1.0
        up, down = prices[i]
        if self.low[i] >= self._today[i]:
            return up
        return down if self.high[i] <= self._today[i] else min(up, down)


class Term(NamedTuple):
    """A weight times the product of two affine functions."""

    weight: float
    one: Form
    other: Form


def _weight(value: Any) -> float:
    weight = _number(value, "a weight")
    if not weight >= 0:
        raise FaultError("a weight is negative")
    return weight


def norm_terms(piece: Piece, leaf: dict[str, Any]) -> list[Term]:
    """The distance is at most the level: the weights of ``norm`` and ``cross``, as products."""
    weights = [_weight(v) for v in _list(leaf["norm"], "norm")]
    setting, level = piece.proof.setting, piece.level
    cross, last = _list(leaf["cross"], "cross"), setting.size
    if not weights and not cross:
        return []
    count = last if setting.norm == math.inf else 1
    if level == math.inf or len(weights) != count or (cross and setting.norm != 1):
        raise FaultError("the weights of the norm do not fit norm and level")
    if setting.norm == math.inf:
        return [Term(w, *_kept_ends(piece.proof, i, level)) for i, w in enumerate(weights) if w]
    above, below = level.as_integer_ratio()
    edge = Form("u", [(last, above)], below.bit_length() - 1)
    entries = [_entry(piece, i) for i in range(last)]
    squares = [Term(weights[0], _times(one, -1), one) for one in entries]
    return [Term(weights[0], edge, edge), *squares, *cross_terms(entries, weights[0], cross)]


def _entry(piece: Piece, i: int) -> Form:
    """An entry of what the norm measures, or a part of it that is not larger: u_i times its rate."""
    above, below = piece.rate(i).as_integer_ratio()
    return Form("u", [(i, above)], below.bit_length() - 1)


def _times(form: Form, factor: int) -> Form:
    return form._replace(entries=[(i, factor * a) for i, a in form.entries])


def _kept_ends(proof: Proof, i: int, level: float) -> tuple[Form, Form]:
    """The forms of `_between_ends`: most leaves of a tree have the same level."""
    if (i, level) not in proof.between_ends:
        proof.between_ends[i, level] = _between_ends(proof.setting, i, level)
    return proof.between_ends[i, level]


def _between_ends(setting: Setting, i: int, level: float) -> tuple[Form, Form]:
    """``u_i - low`` and ``high - u_i`` with the ends of the level; with prices for z_i = u_i / D_ii."""
    low, high = setting.ends(i, level)
    space, reaches = "u", [-low, high]
    if setting.prices is not None:
        space, reaches = "z", [Fraction(end) / Fraction(setting.metric[i][i]) for end in reaches]
    (a, p), (b, q) = map(_rounded_up, reaches)
    last = setting.size
    return Form(space, [(i, 1 << p), (last, a)], p), Form(space, [(i, -1 << q), (last, b)], q)


def _rounded_up(value: Fraction | float) -> tuple[int, int]:
    """A whole number over a power of two that is not below a number, and equal to it where one is."""
    above, below = value.as_integer_ratio()
    if below & (below - 1) == 0:
        return above, below.bit_length() - 1
    shift = max(SHARP + below.bit_length() - above.bit_length(), 0)
    return -((-above << shift) // below), shift


def cross_terms(entries: list[Form], weight: float, cross: list[Any]) -> list[Term]:
    """Minus twice x times two entries, with abs(x) at most the norm's weight, each pair once."""
    found, seen = [], set()
    for entry in cross:
        first, second, value = _list(entry, "cross", 3)
        i, j = (_index(k, "cross", len(entries), FaultError) for k in (first, second))
        x = _number(value, "cross")
        if not i < j or (i, j) in seen:
            raise FaultError("a pair of cross is not in order, or comes twice")
        if not abs(x) <= weight:
            raise FaultError("a weight of cross exceeds the norm's")
        seen.add((i, j))
        found.append(Term(x, _times(entries[i], -2), entries[j]))
    return found


def product_term(piece: Piece, entry: Any) -> Term:
    """A product of two affine functions, neither of them negative."""
    weight, one, other = _list(entry, "products", 3)
    return Term(_weight(weight), affine(piece, one), affine(piece, other))


def affine(piece: Piece, entry: Any) -> Form:
    """An affine function, shown not to be negative on the piece within the level."""
    kind, where = entry[0] if type(entry) is list and entry else None, "an affine function"
    if kind == "1":
        _list(entry, where, 1)
        return Form("1", [(piece.proof.setting.size, 1)], 0)
    if kind == "c":
        return split_form(piece, entry)
    return sloped(piece, entry) if kind == "a" else end_form(piece.proof, entry)


def split_form(piece: Piece, entry: list[Any]) -> Form:
    """What a split on the way shows: its own form, or what is left to an end of a row of the way taken."""
    numbers = _list(entry, "an affine function", 4 if len(entry) == 4 else 2)
    taken = piece.path[_index(numbers[1], "splits on the way", len(piece.path), FaultError)]
    if (taken.form is None) != (len(entry) == 4):
        raise FaultError(f"a split is not of the kind that {shown(entry)} means")
    if taken.form is not None:
        return taken.form
    row = taken.rows[_index(numbers[2], "rows of a way", len(taken.rows), FaultError)]
    return _from_end(piece.proof.setting, row_form(piece.proof.setting, row), row[1:3], entry)


def end_form(proof: Proof, entry: Any) -> Form:
    """``x_j - low_j`` or ``high_j - x_j``, or the same for a row; the end must be finite."""
    kind, number, _ = _list(entry, "an affine function", 3)
    domain = proof.setting.domain
    if domain is None or kind not in ("x", "r"):
        raise FaultError(f"an affine function {shown(entry)} is not known here")
    _, k, form = function(proof, [kind, number])
    ends = (domain.low[k], domain.high[k]) if kind == "x" else domain.rows[k][1:3]
    return _from_end(proof.setting, form, ends, entry)


def _from_end(setting: Setting, form: Form, ends: Sequence[float], entry: list[Any]) -> Form:
    """How far a function is from the lower or the upper of its ends, as the last word of an entry says."""
    side = entry[-1]
    if side not in ("low", "high"):
        raise FaultError(f"an affine function {shown(entry)} is not known here")
    end = ends[side == "high"]
    if not math.isfinite(end):
        raise FaultError(f"the end of {shown(entry)} is infinite")
    return beyond(form, end, setting.size, 1 if side == "low" else -1)


def sloped(piece: Piece, entry: Any) -> Form:
    """``c + sum y_i u_i``, not negative by the dual norm or by the ends of u.

    Most leaves of a tree name the same functions at the same level: what the dual norm shows is kept.
    """
    try:
        key = piece.level, repr(entry)
    except RecursionError:
        raise UnreadableError("an affine function is nested too deeply") from None
    known = piece.proof.sloped.get(key)
    if known is None:
        known, by_level = _sloped(piece, entry)
        if by_level:
            piece.proof.sloped[key] = known
    return known


def _sloped(piece: Piece, entry: Any) -> tuple[Form, bool]:
    """The function, and whether it is not negative by the dual norm: anywhere within the level."""
    where, size = "an affine function", piece.proof.setting.size
    _, first, pairs = _list(entry, where, 3)
    c, slopes = _number(first, where), dict[int, float]()
    for pair in _list(pairs, where):
        number, y = _list(pair, where, 2)
        i = _index(number, where, size, FaultError)
        if i in slopes:
            raise FaultError("an affine function names an entry of u twice")
        slopes[i] = _number(y, where)
    by_level = _by_dual_norm(piece, c, slopes)
    if not (by_level or _by_ends(piece, c, slopes)):
        raise FaultError("an affine function may be negative")
    numbers = dyadic([*slopes.values(), c])
    return Form("u", [*zip([*slopes, size], numbers.whole, strict=True)], numbers.shift), by_level


def _by_dual_norm(piece: Piece, c: float, slopes: dict[int, float]) -> bool:
    """Whether c >= level times the dual norm of y."""
    setting, level = piece.proof.setting, piece.level
    if level == math.inf:
        return c >= 0 and not any(slopes.values())
    dual = {1.0: math.inf, 2.0: 2.0, math.inf: 1.0}[setting.norm]
    if setting.half is not None or setting.prices is not None:
        # Only a fall of u_i makes y_i u_i negative where y_i > 0, only a rise where y_i < 0.
        sizes = [Fraction(level) * abs(Fraction(y)) * setting.share(i, y > 0) for i, y in slopes.items()]
        return c >= 0 and _fractions_within(sizes, dual, Fraction(c))
    *whole, edge = dyadic([*slopes.values(), c]).whole
    above, below = level.as_integer_ratio()
    return edge >= 0 and within(Dyadic([w * above for w in whole], 0), dual, Fraction(edge * below))


def _fractions_within(sizes: list[Fraction], p: float, radius: Fraction) -> bool:
    """Whether the p-norm of numbers that are not negative is at most the radius, which is not either."""
    if p == 2:
        return sum(size * size for size in sizes) <= radius**2
    return (max(sizes, default=Fraction(0)) if p == math.inf else sum(sizes)) <= radius


def _by_ends(piece: Piece, c: float, slopes: dict[int, float]) -> bool:
    """Whether c + sum min(y_i a_i, y_i b_i) >= 0, with u_i between a_i and b_i."""
    total = Fraction(c)
    for i, y in slopes.items():
        end = piece.ends(i)[0 if y > 0 else 1]
        if y and not math.isfinite(end):
            return False
        total += Fraction(y) * Fraction(end) if y else 0
    return total >= 0


def between_term(proof: Proof, entry: Any) -> Term:
    """``(x_j - a)(x_j - b)``, where nothing of the declared set lies strictly between a and b."""
    weight, number, first, second = _list(entry, "between", 4)
    _, j, form = function(proof, ["x", number])
    a, b = _number(first, "between"), _number(second, "between")
    if not (proof.setting.domain and proof.setting.domain.nothing_between(j, a, b)):
        raise FaultError(f"feature {j} may lie between {a!r} and {b!r}")
    one, other = (beyond(form, end, proof.setting.size, 1) for end in (a, b))
    return Term(_weight(weight), one, other)


def requirement_term(proof: Proof, entry: Any) -> tuple[float, int, int]:
    """A requirement at the point itself or, if it is robust, in a scenario."""
    weight, first, s = _list(entry, "requirements", 3)
    r = _index(first, "requirements", len(proof.setting.requirements), FaultError)
    if not -1 <= _whole(s, "a scenario") < len(proof.scenarios):
        raise FaultError(f"there is no scenario {shown(s)}")
    if s >= 0 and not proof.setting.requirements[r].robust:
        raise FaultError(f"requirement {r} is not robust: scenarios say nothing about it")
    return _weight(weight), r, s


def negated(
    proof: Proof,
    products: Sequence[Term],
    requirements: Sequence[tuple[float, int, int]],
    moving: Sequence[int],
) -> list[list[int]]:
    """The matrix of -2 F in (z, 1), times a power of two, for F the weighted sum of all these.

    Of z only the coordinates that move; the others are zero.
    """
    frame, size = proof.frame(tuple(moving)), len(moving) + 1
    mixed, of_u = list[Term](), list[Term]()
    for term in products:  # in u where that is short
        short = len(term.one.entries) * len(term.other.entries) <= size * size
        of_u.append(term) if short and "z" not in (term.one.space, term.other.space) else mixed.append(term)
    parts, lines = [], []
    if mixed:
        moved = [Term(w, in_features(frame, one), in_features(frame, other)) for w, one, other in mixed]
        lower, shift = gathered(moved)
        found = [lower.get(i, {}) for i in range(size)]
        rows = [[row.get(j, 0) for j in range(i + 1)] for i, row in enumerate(found)]
        parts.append((1, 0, Quadratic(rows, shift)))
    if of_u:
        lower, shift = gathered(of_u)
        rows = congruent(lower, frame.sparse, size)
        parts.append((1, 0, Quadratic(rows, shift + 2 * frame.lift.shift)))
    weights: dict[int, list[float]] = {}
    for weight, r, s in requirements:
        spend(size)
        line, (above, below) = proof.line(r, s), weight.as_integer_ratio()
        kept = Dyadic([*(line.whole[j] for j in moving), line.whole[-1]], line.shift)
        lines.append((-above, below.bit_length() - 1, kept))
        weights.setdefault(r, []).append(weight)
    for r, some in weights.items():
        total = dyadic(some)
        parts.append((-sum(total.whole), total.shift, frame.block(proof, r)))
    return added(parts, size, lines).rows


@dataclass(frozen=True, eq=False)
class Frame:
    """What leaves share whose points move in the same coordinates of z; made by `Proof.frame`."""

    moving: tuple[int, ...]
    lift: Grid
    place: dict[int, int]  # where a coordinate that moves, or the constant, is among those that do
    sparse: list[list[tuple[int, int]]]  # the lift without its zeros
    _blocks: dict[int, Quadratic] = field(default_factory=dict)

    def block(self, proof: Proof, r: int) -> Quadratic:
        """Of twice requirement r what is square in the coordinates that move."""
        if r not in self._blocks:
            whole = proof.block(r)
            rows = [[whole.rows[i][j] for j in self.moving[: k + 1]] for k, i in enumerate(self.moving)]
            self._blocks[r] = Quadratic(rows, whole.shift)
        return self._blocks[r]


def in_features(frame: Frame, form: Form) -> Form:
    """The same function in the coordinates of z that move; u is written in terms of them."""
    place, lift = frame.place, frame.lift
    if form.space != "u":
        return Form("z", [(place[j], a) for j, a in form.entries if j in place], form.shift)
    line = [0] * len(place)
    spend(len(form.entries) * len(place))
    for i, a in form.entries:
        for k, b in frame.sparse[i]:
            line[k] += a * b
    return Form("z", _sparse(line), form.shift + lift.shift)


def gathered(terms: Sequence[Term]) -> tuple[Lower, int]:
    """-2 times the sum of products, over a power of two."""
    ratios = [term.weight.as_integer_ratio() for term in terms]
    shifts = [
        below.bit_length() - 1 + term.one.shift + term.other.shift
        for (_, below), term in zip(ratios, terms, strict=True)
    ]
    most = max(shifts, default=0)
    rows: Lower = {}
    for (above, _), shift, (_, one, other) in zip(ratios, shifts, terms, strict=True):
        factor = -above << (most - shift)
        spend(len(one.entries) * len(other.entries))
        for i, a in one.entries:
            weighted, own = factor * a, rows.setdefault(i, {})
            for j, b in other.entries:
                if i > j:
                    own[j] = own.get(j, 0) + weighted * b
                elif i == j:
                    own[i] = own.get(i, 0) + 2 * weighted * b
                else:
                    row = rows.setdefault(j, {})
                    row[i] = row.get(i, 0) + weighted * b
    return rows, most


# ----- The case: all files together -----------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Case:
    """An explanation file that was read, with the models in the order of its question."""

    models: list[Model]
    question: Question
    answer: dict[
        str, Any
    ]  # the file; its numbers as doubles, null as not-a-number, lists by feature as lists
    metric: list[list[float]] | None
    ball: list[list[float]] | None
    bound: Any
    states: Any
    robustness: Any
    worst: list[float] | None
    enough: Any = None
    best: Any = None
    mixtures: Any = ()
    fewer: Any = None

    @property
    def shares(self) -> list[Asked]:
        """The probabilities among all classes that are required."""
        return [entry for entry in self.question.requirements if entry.kind == "probability"]

    @cached_property
    def quadratics(self) -> list[Asked]:
        """The other requirements."""
        return [entry for entry in self.question.requirements if entry.kind != "probability"]

    @cached_property
    def numbered(self) -> list[Asked]:
        """What proofs of bounds may use: these, and the certificate's mixtures."""
        return [*self.quadratics, *(mixture for _, mixture in self.read_mixtures(self.mixtures))]

    def read_mixtures(self, listed: Any) -> list[tuple[int, Asked]]:
        """Mixtures of the odds of a probability's rivals, each with the number of that probability."""
        found = []
        for value in _list(listed, "the mixtures"):
            entry = _table(value, "a mixture", ("share", "weights"))
            number = _index(entry["share"], "a mixture", len(self.shares))
            share = self.shares[number]
            weights = _numbers(entry["weights"], "a mixture", len(self.odds(share)))
            if not any(weights) or not all(w == 0 or SMALLEST_WEIGHT <= w <= 1 for w in weights):
                raise FaultError("the weights of a mixture are not some between 0 and 1")
            found.append((number, share._replace(kind="mixture", weights=tuple(weights))))
        if len(found) > MOST_REQUIREMENTS:
            raise FaultError(f"there are more than {MOST_REQUIREMENTS} mixtures")
        return found

    def odds(self, share: Asked) -> list[Asked]:
        """The odds against each rival that a probability, or a mixture, is about."""
        rivals = [c for c in self.models[share.model].labels if not same(c, share.label)]
        return [share._replace(kind="odds", rival=rival, weights=()) for rival in rivals]

    def weighed(self, mixture: Asked) -> list[tuple[Asked, Fraction]]:
        """The odds of a mixture that have a weight."""
        pairs = zip(self.odds(mixture), mixture.weights, strict=True)
        return [(odds, Fraction(weight)) for odds, weight in pairs if weight]

    @property
    def model(self) -> Model:
        """The explained one."""
        return self.models[0]

    @cached_property
    def posed(self) -> Question:
        """The question on the scales of the model."""
        return self.question.on_scales(self.model.scales)

    @property
    def factual_network(self) -> Network:
        """The density of the numbers in the factual's class, given its categories."""
        return self.model.network(self.model.position(self.question.factual_class), self.question.state)

    @property
    def counterfactual(self) -> list[float] | None:
        """The numbers of the counterfactual, in their own units."""
        row = self.answer["counterfactual"]
        return None if row is None else [row[j] for j in self.question.numbers]

    @cached_property
    def point(self) -> list[float] | None:
        """The numbers of the counterfactual, on the scales of the model."""
        own = self.counterfactual
        if own is None:
            return None
        scales = self.model.scales
        return [v if scale is None else scale(v) for v, scale in zip(own, scales, strict=True)]

    @cached_property
    def state(self) -> tuple[int, ...]:
        """The categories of the counterfactual; -1 for what is no value."""
        row, found = self.answer["counterfactual"] or [], []
        for choice in self.question.choices:
            places = [k for k, v in enumerate(choice.values) if row and same(v, row[choice.feature])]
            found.append(places[0] if places else -1)
        return tuple(found)

    @cached_property
    def perturbations(self) -> Ball:
        """The ball; it holds nothing but zero where its matrix is missing."""
        asked = self.question
        if self.ball is not None or (asked.perturbed and not asked.ball_is_metric):
            return Ball(asked, self.ball)
        return Ball(asked, self.metric if asked.perturbed else [])

    @cached_property
    def proven(self) -> tuple[float, float, str]:
        """Radius and slack that the certificate proves, or zeros and why it proves none."""
        try:
            return *proven_robustness(self), ""
        except FaultError as fault:
            return 0.0, 0.0, str(fault)

    def proven_level(self, proof: Proof) -> float:
        """What a proof proves; a faster checker may decide leaves in its own way."""
        return proven_level(proof)

    def heat(self, asked: Asked) -> Fraction:
        """What the log-odds of a requirement are multiplied by here: the model's temperature."""
        warm = asked.kind in ("odds", "decision", "mixture", "probability")
        return Fraction(self.models[asked.model].temperature) if warm else Fraction(1)

    def classes(self, asked: Asked) -> tuple[int, int | None]:
        """Positions of the class and of its rival."""
        model = self.models[asked.model]
        rival = None if asked.kind == "density" else model.position(asked.rival)
        return model.position(asked.label), rival

    def parts(self, asked: Asked, state: tuple[int, ...], sign: int) -> list[tuple[float, Any]]:
        """What a requirement adds up, with signs: for a density minus its squares."""
        if asked.kind == "away":
            return [(sign, self.around(asked.point))]
        if asked.kind == "mixture":
            weighed = ((odds, float(weight)) for odds, weight in self.weighed(asked))
            return [(w * s, part) for odds, w in weighed for s, part in self.parts(odds, state, sign)]
        model, (t, r) = self.models[asked.model], self.classes(asked)
        if r is None:
            return [(-sign, model.network(t, state))]
        one, other = model.view(state).scores[t], model.view(state).scores[r]
        turn = 1 if isinstance(one, Explicit) else -1
        return [(turn * sign, one), (-turn * sign, other)]

    def around(self, point: tuple[float, ...]) -> Network:
        """The factual's network with a point as its mean: its squares are the distance from that point."""
        here = self.model.network(self.model.position(self.question.factual_class), self.question.state)
        return Network(here.weights, list(point), here.variances, [list(point)] * len(point))

    def twice_base(self, asked: Asked, state: tuple[int, ...]) -> Enclosure:
        """Twice what a requirement is but for its squares and for what the categories add."""
        if asked.kind == "away":
            above, below = (Fraction(asked.mark) ** 2).as_integer_ratio()
            low = (-above << PLACES) // below
            return Enclosure(low, low + 1)
        if asked.kind == "mixture":
            total = NOTHING
            for odds, weight in self.weighed(asked):
                total = total.plus(self.twice_base(odds, state).times(weight))
            return total.minus(twice_entropy(asked.weights).times(self.heat(asked)))
        model, (t, r) = self.models[asked.model], self.classes(asked)
        if r is None:
            return model.network(t, state).twice_log_peak.minus(twice(asked.mark))
        found = model.twice_base(t).minus(model.twice_base(r))
        if model.decision is None:
            one, other = model.network(t, state), model.network(r, state)
            (v, w), (x, y) = one.volume, other.volume
            found = found.plus(enclosed_log(x * w, y * v))
        if asked.kind == "decision":
            return found.minus(twice(asked.mark))
        above, below = asked.mark.as_integer_ratio()
        return found.minus(enclosed_log(above, below - above, 2).times(self.heat(asked)))

    def twice_gain(self, asked: Asked, state: tuple[int, ...]) -> Enclosure:
        """Twice what the categories add to a requirement."""
        total = NOTHING
        if asked.kind == "away":
            return total
        if asked.kind == "mixture":
            for odds, weight in self.weighed(asked):
                total = total.plus(self.twice_gain(odds, state).times(weight))
            return total
        model, (t, r) = self.models[asked.model], self.classes(asked)
        for k in range(len(state)):
            total = total.plus(model.twice_gain(t, r, state, k))
        return total

    def twice_constant(self, asked: Asked, state: tuple[int, ...]) -> Enclosure:
        """Twice what a requirement is but for its squares."""
        return self.twice_base(asked, state).plus(self.twice_gain(asked, state))

    def requirement(self, asked: Asked, state: tuple[int, ...], gain: float | None = None) -> Requirement:
        """A requirement g of the question in a state; with a gain in the place of what the categories add."""
        base = self.twice_base(asked, state)
        total = base.plus(self.twice_gain(asked, state) if gain is None else twice(gain))
        return Requirement(self.parts(asked, state, 1), total.high, asked.robust)

    def breach(self, asked: Asked, slack: float, state: tuple[int, ...] | None = None) -> Requirement:
        """``slack - g`` (``-g`` where it does not decide): not negative where a perturbation violates."""
        return self.below(asked, slack if asked.decides else 0.0, state)

    def below(self, asked: Asked, floor: float, state: tuple[int, ...] | None = None) -> Requirement:
        """``floor - g``: not negative where a requirement is below the floor.

        With the counterfactual's categories, or in a given state.
        """
        at = self.state if state is None else state
        total = twice(floor).minus(self.twice_constant(asked, at))
        return Requirement(self.parts(asked, at, -1), total.high, True)

    def twice_margin(
        self, asked: Asked, z: Sequence[float], state: tuple[int, ...] | None = None
    ) -> Enclosure:
        """Twice a requirement at numbers, with the counterfactual's categories or in a given state."""
        at = self.state if state is None else state
        point, total = dyadic(z), self.twice_constant(asked, at)
        for sign, part in self.parts(asked, at, 1):
            if isinstance(part, Explicit):
                value = part.twice_value(point)
            else:  # minus the squares
                value = part.twice_log_peak.minus(part.twice_log_density(point))
            total = total.plus(value) if sign > 0 else total.minus(value)
        return total

    def sum_of_odds(self, share: Asked, z: Sequence[float]) -> tuple[Fraction, Fraction]:
        """Enclosed: the sum of exp(-g / T) over the rivals, at most 1 where the probability is reached."""
        heat, below, above = 2 * self.heat(share), Fraction(0), Fraction(0)
        for odds in self.odds(share):
            twice_g = self.twice_margin(odds, z)
            below += exp_below(Fraction(-twice_g.high, 1 << PLACES) / heat)
            above += exp_above(Fraction(-twice_g.low, 1 << PLACES) / heat)
        return below, above

    def violation(self, z: Sequence[float]) -> Fraction:
        """What the decision lacks at numbers, in log-odds: against some rival, or against all together."""
        odds = [entry for entry in self.quadratics if entry.decides]
        found = max(-self.twice_margin(entry, z).half() / self.heat(entry) for entry in odds)
        for share in self.shares:
            if share.model == 0:
                lacking = [-self.twice_margin(one, z).half() / self.heat(one) for one in self.odds(share)]
                most = max(lacking)
                total = sum(exp_above(one - most) for one in lacking)
                found = max(found, most + Fraction(DIGITS.ln(_rounded(Fraction(total)))))
        return found


def twice_entropy(weights: Sequence[float]) -> Enclosure:
    """Twice the sum of w log(W / w), with W the sum of the weights."""
    some = [Fraction(w) for w in weights if w]
    total, found = sum(some, Fraction(0)), NOTHING
    for w in some:
        found = found.plus(enclosed_log(*(total / w).as_integer_ratio(), 2).times(w))
    return found


def bound_setting(
    case: Case, state: tuple[int, ...] | None = None, gains: Sequence[float] | None = None,
    ways: Sequence[list[int] | None] | None = None, left: Sequence[int] | None = None,
) -> Setting:  # fmt: skip
    """What ``certificate["bound"]`` is about; or a proof for a state, with given gains, ways and counts."""
    asked, at = case.posed, case.question.state if state is None else state
    if case.metric is None:
        raise FaultError("the certificate states no metric")
    if asked.prices is not None and not _diagonal(case.metric):
        raise FaultError("the metric of a cost is not diagonal")
    taken = [list(range(len(either.ways))) for either in asked.eithers] if ways is None else ways
    counts = [limit.most for limit in asked.limits] if left is None else left
    return Setting(
        norm=asked.norm,
        metric=case.metric,
        half=None,
        origin=dyadic(asked.factual),
        moving=list(range(asked.n)),
        requirements=[
            case.requirement(entry, at, None if gains is None else gains[r])
            for r, entry in enumerate(case.numbered)
        ],
        domain=asked,
        ball=case.perturbations,
        prices=asked.prices,
        ways=[
            None if listed is None else [either.ways[w].rows for w in listed]
            for either, listed in zip(asked.eithers, taken, strict=True)
        ],
        limits=[(count, frozenset(limit.numbers)) for limit, count in zip(asked.limits, counts, strict=True)],
    )


def robustness_settings(case: Case, radius: float, slack: float) -> list[Setting]:
    """What each proof of ``certificate["robustness"]`` is about: a robust requirement, in their order."""
    return ball_settings(
        case, radius, [case.breach(entry, slack) for entry in case.quadratics if entry.robust]
    )


def ball_settings(case: Case, radius: float, breaches: Sequence[Requirement]) -> list[Setting]:
    """What proofs about perturbations are about: each that one of these is negative on the ball."""
    asked, moving, matrix = case.question, case.question.perturbed, case.perturbations.matrix
    if case.point is None:
        raise FaultError("there is no counterfactual")
    origin, half, norm = dyadic(case.point), None, asked.ball_norm
    if isinstance(asked.budget, dict):
        ends = [asked.budget[j] for j in moving]
        half = [(Fraction(up) + Fraction(down)) / 2 for down, up in ends]
        matrix, norm = [[float(i == j) for j in moving] for i in moving], math.inf
        origin = _middle(origin, asked.budget, radius)
    if matrix is None:
        raise FaultError("the certificate states no ball")
    return [Setting(norm, matrix, half, origin, moving, [breach]) for breach in breaches]


def _middle(origin: Dyadic, budget: dict[int, tuple[float, float]], radius: float) -> Dyadic:
    """The counterfactual moved to the middle of its box; an infinite box needs no middle."""
    if radius == math.inf:
        return origin
    factor, ends = dyadic([radius]), [budget.get(j, (0.0, 0.0)) for j in range(len(origin.whole))]
    moves = dyadic(up for _, up in ends).plus(dyadic(down for down, _ in ends), -1)
    return origin.plus(Dyadic([factor.whole[0] * w for w in moves.whole], factor.shift + moves.shift + 1))


def proven_robustness(case: Case) -> tuple[float, float]:
    """Radius and slack that every proof of ``certificate["robustness"]`` reaches."""
    if case.robustness is None:
        raise FaultError("no certificate comes with it")
    more = ("floors", "mixtures") if case.shares else ()
    document = _table(case.robustness, "the robustness", ("radius", "slack", "proofs", *more))
    radius, slack = _wide(document["radius"], "the radius"), _number(document["slack"], "the slack")
    if not (radius >= 0 and slack >= 0):
        raise FaultError("radius or slack is negative")
    if case.shares:
        floors = read_floors(case, document, slack)
        settings = ball_settings(case, radius, [case.below(entry, floor) for entry, floor in floors])
    else:
        settings = robustness_settings(case, radius, slack)
    proofs = _list(document["proofs"], "the robustness", len(settings))
    for number, (setting, proof) in enumerate(zip(settings, proofs, strict=True)):
        try:
            level = case.proven_level(read_proof(setting, proof))
        except FaultError as fault:
            raise FaultError(f"proof {number}: {fault}") from None
        if not level >= radius:
            raise FaultError(f"proof {number} reaches {level:.9g} only")
    return radius, slack


def read_floors(case: Case, document: dict[str, Any], slack: float) -> list[tuple[Asked, float]]:
    """What is to be proved of requirements and mixtures on the ball, if that proves every probability."""
    mixtures = case.read_mixtures(document["mixtures"])
    required = [entry for entry in case.quadratics if entry.robust]
    listed = [*required, *(mixture for _, mixture in mixtures)]
    stated = _numbers(document["floors"], "the floors", len(listed))
    if not all(floor >= 0 for floor in stated):
        raise FaultError("a floor is negative")
    floors = list(zip(listed, stated, strict=True))
    for number, share in enumerate(case.shares):
        pairs = zip(floors[len(required) :], mixtures, strict=True)
        own = [floor for floor, (k, _) in pairs if k == number]
        if share.robust:
            check_share(case, share, floors, own, slack if share.model == 0 else 0.0)
    return floors


def check_share(
    case: Case,
    share: Asked,
    floors: Sequence[tuple[Asked, float]],
    mixtures: Sequence[tuple[Asked, float]],
    slack: float,
) -> None:
    """Raise `FaultError` unless floors prove a probability on the ball, with a slack.

    With a = g / T of the odds, the sum of exp(-a) is convex and falls with every a. So on the polyhedron of
    all a that the floors leave it is largest at a corner.
    """
    heat, least = case.heat(share), list[Fraction]()
    for odds in case.odds(share):
        own = [Fraction(floor) for entry, floor in floors if entry == odds]
        if not own:
            raise FaultError(f"the odds against {shown(odds.rival)} have no floor")
        least.append(max(own) / heat)
    rows, ends = [], []
    for mixture, floor in mixtures:
        rows.append([Fraction(w) for w in mixture.weights])
        entropy = Fraction(twice_entropy(mixture.weights).low, 2 << PLACES)
        ends.append(Fraction(floor) / heat + entropy)
    allowed = exp_below(-Fraction(slack) / heat)
    for corner in corners(least, rows, ends):
        if not sum(exp_above(-a) for a in corner) <= allowed:
            raise FaultError("the floors leave room for a lower probability")


def corners(
    least: list[Fraction], rows: list[list[Fraction]], ends: list[Fraction]
) -> Iterator[list[Fraction]]:
    """The corners of ``{a : a >= least, rows a >= ends}``; entries that no row has are at their least."""
    open_ = [i for i in range(len(least)) if any(row[i] for row in rows)]
    units = [[Fraction(i == j) for j in open_] for i in open_]
    lines = [*units, *([row[j] for j in open_] for row in rows)]
    known = [*(least[i] for i in open_), *ends]
    if math.comb(len(lines), len(open_)) > MOST_CORNERS:
        raise FaultError(f"floors have more than {MOST_CORNERS} candidates for corners")
    for some in combinations(range(len(lines)), len(open_)):
        spend(20 * (len(open_) + 1) ** 3 + 10 * len(lines) * len(open_))
        found = solved([[*lines[i], known[i]] for i in some])
        if found is None or any(
            sum(map(mul, line, found), Fraction(0)) < end for line, end in zip(lines, known, strict=True)
        ):
            continue
        corner = list(least)
        for j, value in zip(open_, found, strict=True):
            corner[j] = value
        yield corner


def solved(rows: list[list[Fraction]]) -> list[Fraction] | None:
    """The solution of equations, each with its right side last; None where there is not exactly one."""
    size = len(rows)
    for i in range(size):
        pivot = next((k for k in range(i, size) if rows[k][i]), None)
        if pivot is None:
            return None
        rows[i], rows[pivot] = rows[pivot], rows[i]
        top = [v / rows[i][i] for v in rows[i]]
        rows[i] = top
        for k in range(size):
            if k != i and rows[k][i]:
                factor = rows[k][i]
                rows[k] = [v - factor * t for v, t in zip(rows[k], top, strict=True)]
    return [row[-1] for row in rows]


def read_case(models: Sequence[Any], explanation: Any) -> Case:
    """Read models (documents, contents, or what `read_model` gave; the explained one first) and a file.

    Raises
    ------
    UnreadableError
        Also for a refused request, about which there is no case.
    """
    answer, known = read_answer(explanation), [m if isinstance(m, Model) else read_model(m) for m in models]
    if not known:
        raise UnreadableError("there is no model")
    question = read_question(answer["question"])
    by_name = {model.fingerprint: model for model in _with_refits(known, question.models)}
    among_all = any(entry.kind == "probability" for entry in question.requirements)
    certificate = answer["certificate"]
    later = type(certificate) is dict and certificate.get("version") == 4
    needed = (*CERTIFICATE_KEYS, "mixtures") if among_all else CERTIFICATE_KEYS
    certificate = _table(certificate, "the certificate", needed, MORE_PROOFS if later else ())
    _header(certificate, "the certificate", "surefoot-certificate", *((4,) if among_all else (3, 4)))
    if later and len(certificate) == len(CERTIFICATE_KEYS):
        raise UnreadableError("the certificate has version 4, but nothing that version 3 has not")
    idle = "bound" if question.choices else "states"
    if certificate[idle] is not None:
        raise UnreadableError(f"the certificate has {idle}, which does not go with its question")
    metric, ball, worst = (certificate[key] for key in ("metric", "ball", "worst"))
    return Case(
        models=[known[0], *(by_name.get(name, known[0]) for name in question.models[1:])],
        question=question,
        answer=_by_feature(answer, question, known[0].dates),
        metric=None if metric is None else _matrix(metric, "the metric", question.n),
        ball=None if ball is None else _matrix(ball, "the ball", len(question.perturbed)),
        bound=certificate["bound"],
        states=certificate["states"],
        robustness=certificate["robustness"],
        worst=None if worst is None else _numbers(worst, "the worst perturbation", question.n),
        enough=certificate.get("enough"),
        best=certificate.get("best"),
        mixtures=certificate["mixtures"] if among_all else [],
        fewer=certificate.get("fewer"),
    )


def read_answer(value: Any) -> dict[str, Any]:
    """The keys of an explanation file, and its numbers (null: not a number)."""
    if type(value) is not dict:
        raise UnreadableError("is JSON, but not a surefoot explanation")
    if "format" not in value and value.keys() >= {"status", "factual", "certified_radius"}:
        raise UnreadableError(
            "is an explanation file of version 1, written by surefoot 0.1; ask the question again"
        )
    _header(value, "the file", "surefoot-explanation", 4, 5)
    if value["version"] == 4:
        held = _table(value, "the explanation", KEYS[: -len(LATER_KEYS)], MORE_KEYS[:2])
        answer = dict(held) | dict.fromkeys(LATER_KEYS)
    else:
        answer = dict(_table(value, "the explanation", KEYS, MORE_KEYS))
    if "others" in answer and (not _list(answer["others"], "others") or answer["status"] == "invalid"):
        raise UnreadableError("the file names no other target, or is an invalid request")
    for key in ("status", "message", "model", "method", "backend", "advice"):
        _text(answer[key], key)
    _flag(answer["early_stop"], "early_stop")
    _list(answer["iterations"], "iterations")
    for wish in _list(answer["conflict"], "conflict"):
        _text(wish, "conflict")
    for caution in _list(answer["cautions"], "cautions"):
        for words in _table(caution, "a caution", ("code", "text")).values():
            _text(words, "a caution")
    judged = answer["model_share"]
    if judged is not None:
        kept = ["kept"] if type(judged) is dict and "kept" in judged else []
        judged = _table(judged, "model_share", ("share", "bound", "refits", *kept))
        numbers = [_number(judged[key], "model_share") for key in ("share", "bound")]
        _whole(judged["refits"], "model_share")
        answer["model_share"] = (*numbers, judged["refits"], bool(kept) and _flag(judged["kept"], "kept"))
    for key in NUMBERS:
        answer[key] = math.nan if answer[key] is None else _wide(answer[key], key)
    return answer


def _by_feature(answer: dict[str, Any], question: Question, dates: Sequence[int]) -> dict[str, Any]:
    """The same with lists in the place of names and values: rows by feature, the others apart by kind.

    In rows, a feature that is a date by the model may be written as one.
    """
    found, features = dict(answer), question.features
    for key in ("factual", "counterfactual", *SERIES):
        if answer[key] is None:
            continue
        entry = _table(answer[key], key, ("names", "values"))
        if not all(map(same, _list(entry["names"], key, len(features)), features)):
            raise UnreadableError(f"{key} names other features than the question")
        row = list(_list(entry["values"], key, len(features)))  # the file itself is left as it is
        if key in ("factual", "counterfactual"):
            row = [_days(value, key) if j in dates else value for j, value in enumerate(row)]
        read = _wide if key.startswith("expected") else _number
        numbers = [read(row[j], key) for j in question.numbers]
        others = [row[choice.feature] for choice in question.choices]
        if key in ("factual", "counterfactual"):
            for j, value in zip(question.numbers, numbers, strict=True):
                row[j] = value
            found[key] = [_label(v, key) for v in row]
            for choice in question.choices:
                if not any(same(v, row[choice.feature]) for v in choice.values):
                    raise UnreadableError(f"the {key} has a category without such a value")
        else:
            found[key], found[f"{key} of categories"] = numbers, others
    return found


def _days(value: Any, where: str) -> Any:
    """Days since 1970-01-01 of a text such as 2024-03-01; a number stays as it is."""
    if type(value) is not str:
        return value
    try:
        day = date.fromisoformat(value)
    except ValueError:
        raise UnreadableError(f"the {where} has {shown(value)} where a date should be") from None
    if day.isoformat() != value:  # one day has one text
        raise UnreadableError(f"the {where} has {shown(value)} where a date should be")
    return float((day - date(1970, 1, 1)).days)


# ----- Claims ---------------------------------------------------------------------------------------------


def check(models: Sequence[Any], explanation: Any, time_limit: float = math.inf) -> tuple[Claim, ...]:
    """Check every claim of an explanation.

    Parameters
    ----------
    models : sequence of dict
        Model documents or their contents, the explained one first.
    explanation : dict
        As JSON gives it.
    time_limit : float, default=inf
        Seconds. What is not checked by then is not proved.

    Returns
    -------
    tuple of Claim
        In a fixed order; claims that do not apply are left out. If the file is about another model, or its
        question is wrong, nothing further is looked at. If it takes too much work or time, the last claim is
        "verification", not proved, and says so.

    Raises
    ------
    UnreadableError
        If a file is not what it should be.
    """
    found: list[Claim] = []
    work = LEAST_WORK + MORE_WORK * n_values(explanation) ** 1.5
    with limited(Effort(work, time_limit)):
        try:
            for claim in _claims(models, explanation):  # those before the effort ends are kept
                found.append(claim)  # noqa: PERF402
        except EffortError as error:
            found.append(Claim("verification", NOT_PROVED, str(error)))
    return tuple(found)


def _claims(models: Sequence[Any], explanation: Any) -> Iterator[Claim]:
    """The claims one after the other, each checked when it is asked for."""
    known = [model if isinstance(model, Model) else read_model(model) for model in models]
    if is_about_region(explanation):
        yield from nobody_claims(known, explanation)
        return
    answer = read_answer(explanation)
    if not known:
        raise UnreadableError("there is no model")
    if answer["status"] == "invalid":
        yield from (model_claim(known, [answer["model"]]), refusal(answer))
        return
    case = read_case(known, explanation)
    last = model_claim(_with_refits(known, case.question.models), case.question.models)
    yield last
    for claim in CHECKS:
        if last.verdict == FAILS and last.name in ("model", "question"):
            return
        if case.counterfactual is not None or claim not in OF_A_POINT:
            result = claim(case)
            if result is not None:
                last = result
                yield last
    seen = [case.question.target]
    for other in answer.get("others", ()):
        posed = other_case(known, explanation, other)
        yield other_claim(case, posed, seen)
        seen.append(posed.question.target)


def other_case(models: Sequence[Model], explanation: dict[str, Any], other: Any) -> Case:
    """What a file says of another target: the same file with another question, its bound and its proof."""
    entry = _table(other, "another target", ("question", "certificate", "lower_bound"))
    whole = {name: value for name, value in explanation.items() if name not in MORE_KEYS}
    asked = entry["question"]
    target = asked.get("target") if type(asked) is dict else None
    return read_case(models, {**whole, **entry, "target": target})


def other_claim(case: Case, other: Case, seen: Sequence[Any]) -> Claim:
    """No change that is smaller than the file's lower bound leads to another target."""
    target = other.question.target
    name, alike = f"target {shown(target)}", _alike(case, other)
    fault = _first(
        (any(same(target, one) for one in seen), "the target is named twice"),
        (bool(alike), f"its {alike} is not that of the file's question"),
        (
            not case.answer["lower_bound"] <= other.answer["lower_bound"],
            "the file's lower bound is larger than that of this target",
        ),
        (fewer_limits(case) != fewer_limits(other), "it does not say the same of fewer changes as the file"),
    )
    if fault:
        return Claim(name, FAILS, fault)
    for check in (question_claim, geometry_claim, fewer_claim, lower_bound_claim):
        claim = check(other)
        if claim is not None and claim.verdict != HOLDS:
            return Claim(name, claim.verdict, f"{claim.name}: {claim.reason}")
    assert claim is not None
    return Claim(name, HOLDS, claim.reason)


def _alike(case: Case, other: Case) -> str:
    """What differs between two questions beyond the target and what is asked of it; "" if nothing does.

    What is plausible of single features depends on the target, and is said in either-or rules.
    """
    of_target = ("target", "requirements", "eithers")
    one, two = case.question, other.question
    for part in fields(Question):
        if part.name not in of_target and repr(getattr(one, part.name)) != repr(getattr(two, part.name)):
            return part.name
    return "" if case.metric == other.metric else "metric"


def _claim(name: str, fault: str, fine: str) -> Claim:
    return Claim(name, FAILS, fault) if fault else Claim(name, HOLDS, fine)


def _first(*pairs: tuple[bool, str]) -> str:
    """The first complaint whose condition is true, else nothing."""
    return next((text for wrong, text in pairs if wrong), "")


def _with_refits(known: Sequence[Model], names: Sequence[str]) -> list[Model]:
    """The models, and the refits that the explained one keeps if the question names one of them."""
    if not set(names) - {model.fingerprint for model in known}:
        return list(known)
    return [*known, *(replace(refit, fingerprint=_fingerprint(refit)) for refit in known[0].refits)]


def model_claim(known: Sequence[Model], stated: Sequence[str]) -> Claim:
    """The models are those that the file names, and were not changed since they were saved."""
    found = [model.fingerprint for model in known]
    missing = [name for name in stated if name not in found]
    fault = _first(
        (not all(model.intact for model in known), "a model was changed after it was saved"),
        (not stated, "the question names no model"),
        (stated[:1] != found[:1], f"this is model {found[0]}, the file is about {shown((*stated, '')[0])}"),
        (bool(missing), f"no file was given for model {shown((*missing, '')[0])}"),
    )
    return _claim("model", fault, f"fingerprint {', '.join(stated)}")


def refusal(answer: dict[str, Any]) -> Claim:
    """A refused request claims nothing."""
    blank = ("counterfactual", "decision", "factual_class", "expected_before", "expected_after", "z_score")
    stated = [key for key in blank if answer[key] is not None] + _stated(
        answer, "factual_probability", "best_probability", "best_probability_bound"
    )
    stated += [key for key, value in (("gap", math.inf), ("lower_bound", 0)) if answer[key] != value]
    certificate = answer["certificate"]
    held = list(certificate.items()) if type(certificate) is dict else []
    stated += [key for key, value in held if key not in ("format", "version") and value is not None]
    if certificate is not None and type(certificate) is not dict:
        stated.append("certificate")
    if stated:
        return Claim(
            "refusal", FAILS, f"the request was refused, but the file claims {shown(', '.join(stated))}"
        )
    if answer["message"] != SENTENCES["invalid"]:
        return Claim("refusal", FAILS, "the message is not the sentence of the status")
    return Claim("refusal", NOT_PROVED, "the request was refused; nothing is proved")


def _stated(answer: dict[str, Any], *more: str) -> list[str]:
    """The fields that say something about a counterfactual."""
    chances = ("probability", "worst_probability", "density_percentile", *more)
    found = [key for key in chances if not math.isnan(answer[key])]
    found += [key for key in ("distance", "violation") if answer[key] != math.inf]
    found += [key for key in ("coverage", "certified_radius", "early_stop") if answer[key] != 0]
    return found


def question_claim(case: Case) -> Claim:
    """The question is well formed, fits the model, and is what the file repeats of it."""
    asked = case.question
    fault = _misfit(case) or _domain_fault(asked) or _ball_fault(asked) or _missing_odds(case)
    fault = fault or _disagreement(case)
    if fault:
        return Claim("question", FAILS, fault)
    scores = case.model.twice_scores(case.posed.factual, asked.state)
    own = scores.pop(case.model.position(asked.factual_class))
    if any(other.low > own.high for other in scores):
        return Claim("question", FAILS, "the factual belongs to another class")
    if any(other.high > own.low for other in scores):
        return Claim("question", NOT_PROVED, "two classes are too close at the factual to tell its class")
    return Claim("question", HOLDS, "it fits the model, and the file repeats it rightly")


def _misfit(case: Case) -> str:
    """Why the question cannot be about these models."""
    asked = case.question
    for model in case.models:
        if len(model.features) != len(asked.features) or not all(map(same, asked.features, model.features)):
            return "the model has other features"
        if model.categories != [choice.feature for choice in asked.choices]:
            return "the model has other categories"
        if not all(_same_row(model.values[choice.feature], choice.values) for choice in asked.choices):
            return "a category of the model has other values"
        if not same(model.stated_scales, case.model.stated_scales):
            return "the models measure numbers on different scales"
    fault = _scales_misfit(case)
    if fault:
        return fault
    if min(case.model.position(label) for label in (asked.factual_class, asked.target)) < 0:
        return "the model has no such class"
    for entry in asked.requirements:
        if not 0 <= entry.model < len(case.models):
            return "a requirement names a model that is not there"
        if entry.kind == "away":
            if len(entry.point) != len(case.model.numbers) or not entry.mark >= 0:
                return "a point to stay away from is none"
            continue
        labels = [entry.label] if entry.kind in ("density", "probability") else [entry.label, entry.rival]
        if any(case.models[entry.model].position(label) < 0 for label in labels):
            return "a requirement names a class that its model does not have"
        if len(labels) == 2 and same(*labels):
            return "a requirement of odds has one class only"
        chance = entry.kind in ("odds", "probability")
        if chance and not 0 < entry.mark < 1:
            return "a requirement of odds has a threshold outside of 0 to 1"
        if chance > case.models[entry.model].has_probability:
            return "a requirement asks for a probability that its model does not have"
    return ""


def _scales_misfit(case: Case) -> str:
    """Why the question does not go with the scales of its numbers."""
    asked = case.question
    if not same(asked.stated_scales, case.model.stated_scales):
        return "the numbers are measured on other scales than the model's"
    curved = [j for j, scale in enumerate(case.model.scales) if scale is not None]
    summed = [*asked.rows, *(row for row in asked.way_rows if row.feature is None)]
    if any(row.coefficients[j] for row in summed for j in curved):  # proofs would read it on the scale
        return "a row of the domain adds up numbers on curved scales"
    if isinstance(asked.budget, dict) and any(any(asked.budget.get(j, ())) for j in curved):
        return "a number on a curved scale has a budget in units of its own"
    if asked.matrix is not None and curved:
        return "the question's matrix is in the features' own units, but a number has a curved scale"
    own = [*asked.stated_numbers(), *(case.counterfactual or [])]
    bent = [*case.posed.stated_numbers(), *(case.point or [])]
    if any(math.isfinite(x) and not math.isfinite(z) for x, z in zip(own, bent, strict=True)):
        return "a number lies beyond what its scale can hold"
    return ""


def _domain_fault(asked: Question) -> str:
    rows = [*asked.rows, *asked.way_rows]
    ends = [*zip(asked.low, asked.high, strict=True), *((row.low, row.high) for row in rows)]
    sets = [values for values in asked.sets.values() if values is not None]
    return _first(
        (not all(low <= high for low, high in ends), "a lower end exceeds its upper end"),
        (any(low == math.inf or high == -math.inf for low, high in ends), "an end excludes every number"),
        (
            not all(values and _increasing(values) for values in sets),
            "a set of values is empty or not sorted",
        ),
        (not 0 <= asked.gap < 1, "the gap is not in [0, 1)"),
        (
            any(choice.prices[choice.today] != 0 for choice in asked.choices)
            or not all(price >= 0 for choice in asked.choices for price in choice.prices),
            "a price of a category is negative, or staying costs something",
        ),
        (not all(min(pair) > 0 for pair in asked.prices or []), "a price of a number is not positive"),
    )


def _ball_fault(asked: Question) -> str:
    if not _increasing(asked.exact):
        return "the exact features are not sorted"
    if not isinstance(asked.budget, dict):
        return _first((not asked.budget >= 0, "the budget is negative"))
    named = sorted([*asked.budget, *asked.exact])
    return _first(
        (asked.ball_norm != math.inf, "a budget by feature goes with the norm inf"),
        (named != list(range(asked.n)), "a feature must have a budget or land exactly"),
        (not all(end >= 0 for ends in asked.budget.values() for end in ends), "the budget is negative"),
    )


def _missing_odds(case: Case) -> str:
    """The odds of the target against every rival must be asked for, with the file's threshold, robustly."""
    asked, threshold = case.question, case.answer["threshold"]
    if not case.model.has_probability:
        values = {entry.mark for entry in asked.requirements if (entry.kind, entry.model) == ("decision", 0)}
        if not math.isnan(threshold) or len(values) != 1:
            return "a model without probabilities has one value of the decision, and no threshold"
    rivals = [entry.rival for entry in asked.requirements if _usual(case, entry)]
    others = [label for label in case.model.labels if not same(label, asked.target)]
    missing = [label for label in others if not any(same(label, rival) for rival in rivals)]
    return f"the odds against {shown(missing[0])} are not required" if missing else ""


def _usual(case: Case, entry: Asked) -> bool:
    """Whether a requirement is one that every question has: the target against a rival, robustly."""
    kind = "odds" if case.model.has_probability else "decision"
    usual = (entry.kind, entry.model, entry.mark, entry.robust) == (kind, 0, _asked_for(case), True)
    return usual and same(entry.label, case.question.target)


def _disagreement(case: Case) -> str:
    """What the file repeats from its question must be the same."""
    asked, answer = case.question, case.answer
    wrong = {
        "factual": not _same_row(answer["factual"], _row_of(asked, asked.factual, asked.state)),
        "factual_class": not same(answer["factual_class"], asked.factual_class),
        "target": not same(answer["target"], asked.target),
        "budget": _budget(answer["budget"], asked.n) != asked.budget,
        "norm": _norm(answer["norm"], "norm") != asked.norm,
        "whitening": answer["whitening"] != asked.whitening,
        "model": answer["model"] != asked.models[0],
    }
    return _first(*((bad, f"the file's {key} is not the question's") for key, bad in wrong.items()))


def _row_of(asked: Question, numbers: Sequence[float], state: Sequence[int]) -> list[Any]:
    """Numbers and categories by feature."""
    row: list[Any] = [None] * len(asked.features)
    for j, value in zip(asked.numbers, numbers, strict=True):
        row[j] = value
    for choice, v in zip(asked.choices, state, strict=True):
        row[choice.feature] = choice.values[v]
    return row


def geometry_claim(case: Case) -> Claim | None:
    """D and N are the whitening that the question names."""
    asked, metric, ball = case.question, case.metric, case.ball
    if metric is None:
        silent = case.point is None and not case.answer["lower_bound"] > 0
        return None if silent else Claim("geometry", NOT_PROVED, "the certificate states no metric")
    fault = metric_fault(case, metric)
    if fault:
        return Claim("geometry", FAILS, f"the metric {fault}")
    if isinstance(asked.budget, dict):
        fault = _first((ball is not None, "a budget by feature has no matrix"))
    elif ball is None:
        missing = bool(asked.perturbed) and not asked.ball_is_metric
        fault = _first((missing, "the matrix of the ball is missing"))
    else:
        found = _whitening_fault(case, ball, asked.perturbed, False)
        fault = found and f"the ball {found}"
    return _claim("geometry", fault, geometry_words(asked))


def geometry_words(asked: Question) -> str:
    """What the geometry is."""
    if asked.matrix is not None:
        kind = "the question's matrix"
        return kind if asked.prices is None else f"standard deviations, and {kind}"
    kind = f"the {asked.whitening} whitening"
    return f"{kind if asked.prices is None else f'standard deviations, and {kind}'} of the factual's class"


def metric_fault(case: Case, metric: list[list[float]]) -> str:
    """Why D is not the whitening; or, for a cost, not one over each standard deviation to 1e-6."""
    if case.question.prices is None:
        return _whitening_fault(case, metric, list(range(case.question.n)), True)
    if not _diagonal(metric):
        return "is not diagonal with positive numbers"
    spread = case.factual_network.squared_spreads(case.model.order)
    close = all(abs(Fraction(metric[i][i]) ** 2 * v - 1) * ROOM <= 1 for i, v in enumerate(spread))
    return "" if close else "is not one over the standard deviations"


def _diagonal(metric: list[list[float]]) -> bool:
    """Whether a matrix is diagonal with positive numbers."""
    return all((v > 0) if i == j else not v for i, row in enumerate(metric) for j, v in enumerate(row))


def _whitening_fault(case: Case, matrix: list[list[float]], features: list[int], is_metric: bool) -> str:
    """Why a matrix D is not the whitening of these features: (1 - e) P <= D'D <= (1 + e) P, and its shape."""
    if case.question.matrix is not None:
        return _given_fault(case.question.matrix, matrix, features)
    fault = _shape_fault(case, matrix, features, is_metric)
    if fault:
        return fault
    network, product = case.factual_network, _products(matrix, len(features))
    for sign in (1, -1):  # D'D - (1 - e) P with P rounded up, then (1 + e) P - D'D with P rounded down
        squares = network.squares(sign > 0)
        block = [[squares[i][j] for j in features[: k + 1]] for k, i in enumerate(features)]
        precision = Quadratic(block, network.squares_shift)
        parts = [(sign * ROOM, 0, product), (-sign * (ROOM - sign), 0, precision)]
        if not definite(added(parts, len(features)).rows):
            return "is no root of the inverse covariance"
    return ""


def _given_fault(given: list[list[float]], matrix: list[list[float]], features: list[int]) -> str:
    """Why a matrix is not the question's M, restricted to these features.

    What must be stated are the rows of M that involve the features, where there are as many: of all features
    that is M itself. Otherwise it is the upper triangular root N of these columns C, up to (1 +- e) C'C.
    """
    columns = [[row[j] for j in features] for row in given]
    seen = [row for row in columns if any(row)]
    products = [_products(rows, len(features)) for rows in (matrix, columns)]
    if not definite(products[1].rows):
        return "belongs to a matrix of the question that is singular"
    if len(seen) == len(features):
        return "" if matrix == seen else "is not the matrix that the question states"
    crooked = any(row[i] <= 0 or any(row[:i]) for i, row in enumerate(matrix))
    for sign in (1, -1):  # D'D - (1 - e) C'C, then (1 + e) C'C - D'D
        parts = [(sign * ROOM, 0, products[0]), (-sign * (ROOM - sign), 0, products[1])]
        crooked = crooked or not definite(added(parts, len(features)).rows)
    return "is no triangular root of the matrix that the question states" if crooked else ""


def _products(rows: list[list[float]], size: int) -> Quadratic:
    """The matrix R'R for the rows of R."""
    flat = dyadic(v for row in rows for v in row)
    whole = [_sparse(flat.whole[i * size : (i + 1) * size]) for i in range(len(rows))]
    return Quadratic(gram(whole, [1] * len(rows), size), 2 * flat.shift)


def _shape_fault(case: Case, matrix: list[list[float]], features: list[int], is_metric: bool) -> str:
    """Why a matrix does not have the shape that its name promises."""
    kind, size, parents = case.question.whitening, range(len(features)), case.model.number_parents
    if kind == "zca":
        rows = [row[: i + 1] for i, row in enumerate(grid(matrix).rows)]
        symmetric = all(matrix[i][j] == matrix[j][i] for i in size for j in range(i))
        return "" if symmetric and definite(rows) else "is not symmetric and positive definite"
    if kind == "cholesky":
        zeros = [(i, j) for i in size for j in range(i)]
    elif is_metric:
        zeros = [(i, j) for i in size for j in size if i != j and j not in parents[i]]
    else:
        place = [case.model.order.index(j) for j in features]
        zeros = [(i, j) for i in size for j in size if place[j] > place[i]]
    return _first(
        (not all(matrix[i][i] > 0 for i in size), "has a diagonal that is not positive"),
        (any(matrix[i][j] for i, j in zeros), f"has an entry where a {kind} whitening has none"),
    )


def status_claim(case: Case) -> Claim:
    """The status is known and goes with the other fields."""
    answer, status = case.answer, case.answer["status"]
    fault = _first(
        (status not in SENTENCES, "the status is not known"),
        (answer["message"] != SENTENCES.get(status), "the message is not the sentence of the status"),
        ((status in WITH_POINT) != (case.point is not None), "status and counterfactual do not go together"),
    )
    fault = fault or (_empty_fault(case) if case.point is None else _full_fault(case))
    unproved = "" if fault or status != "optimal" else _unproved_optimum(case)
    if unproved and answer["method"] in SOLVERS:
        return Claim("status", NOT_PROVED, f"{unproved}; that it is optimal is the solver's word")
    return _claim("status", fault or unproved, answer["message"])


def _empty_fault(case: Case) -> str:
    """Without a point, nothing may be said about one."""
    answer, bound = case.answer, case.answer["lower_bound"]
    stated = [key for key in ("decision", "expected_after", "z_score") if answer[key] is not None]
    stated += [
        key for key, held in (("worst", case.worst), ("robustness", case.robustness)) if held is not None
    ]
    stated += _stated(answer)
    return _first(
        (bool(stated), f"there is no counterfactual, but the file says {', '.join(stated)}"),
        (
            (answer["status"] == "infeasible") != (bound == math.inf),
            "status and lower bound do not go together",
        ),
    )


def _full_fault(case: Case) -> str:
    """A point must be what the status says of it."""
    answer, asked = case.answer, case.question
    status, distance = answer["status"], answer["distance"]
    unmoved = _bytes(case.counterfactual or []) == _bytes(asked.factual) and distance == 0
    unmoved = unmoved and case.state == asked.state
    early = distance > 0 and 0 < answer["violation"] <= answer["tol"]
    return _first(
        (answer["early_stop"] != early, "early_stop does not follow from violation and tol"),
        (status == "already_target" and not unmoved, "the counterfactual is not the factual"),
    )


def _unproved_optimum(case: Case) -> str:
    """What an optimum lacks: the gap that was asked for, and the whole budget."""
    answer, asked = case.answer, case.question
    close = answer["gap"] <= asked.gap or answer["distance"] - answer["lower_bound"] <= 1e-6
    return _first(
        (not close, f"the gap is not the {asked.gap:g} that was asked for"),
        (answer["coverage"] != 1, "the budget is not covered"),
    )


def probabilities_claim(case: Case) -> Claim:
    """P(target) at the factual and at the counterfactual, and the class predicted there."""
    answer, model, asked = case.answer, case.model, case.question
    t, k = model.position(asked.target), model.position(answer["decision"])
    fault, before = _chance_fault(case, "factual_probability", case.posed.factual, asked.state, t)
    if case.point is None:
        return _claim("probabilities", fault, f"P(target) is {before} at the factual")
    later, after = _chance_fault(case, "probability", case.point, case.state, t)
    scores = [score.half() for score in model.twice_scores(case.point, case.state)]
    behind = max(scores) - scores[k]
    fault = fault or later
    if not fault and (k < 0 or not behind <= AGREE * max(Fraction(1), abs(scores[k]))):
        fault = "the decision is another class"
    return _claim("probabilities", fault, f"P(target) is {before} now, {after} then")


def _chance_fault(
    case: Case, key: str, z: Sequence[float], state: tuple[int, ...], t: int
) -> tuple[str, str]:
    """Why a stated probability is wrong, and what it is; a model without probabilities states none."""
    stated = case.answer[key]
    if not case.model.has_probability:
        return ("" if math.isnan(stated) else f"the model has no {key}"), "not known"
    found = case.model.probability(z, state, t)
    return ("" if agree(stated, found) else f"the {key} is {near(found):.9g}"), f"{near(found):.6g}"


def distance_claim(case: Case) -> Claim:
    """The norm of D (z - factual), and the price of the changed categories."""
    assert case.point is not None
    if case.metric is None:
        return Claim("distance", NOT_PROVED, "the certificate states no metric")
    change, price = dyadic(case.point).plus(dyadic(case.posed.factual), -1), case.question.price(case.state)
    if not isinstance(price, Fraction):
        return Claim("distance", FAILS, "a category changed in a way that is not allowed")
    measured = paid(grid(case.metric).times(change), case.question.prices)
    found, stated = p_norm(measured, case.question.norm) + price, case.answer["distance"]
    text = f"claimed {stated:.9g}, found {near(found):.9g}"
    return _claim("distance", "" if agree(stated, found) else text, text)


def paid(u: Dyadic, prices: list[tuple[float, float]] | None) -> Dyadic:
    """Each entry of u times the price of its direction, where there are prices."""
    if prices is None:
        return u
    rates = dyadic(pair[w < 0] for w, pair in zip(u.whole, prices, strict=True))
    costs = [abs(w) * rate for w, rate in zip(u.whole, rates.whole, strict=True)]
    return Dyadic(costs, u.shift + rates.shift)


def domain_claim(case: Case) -> Claim:
    """Ends, rows, sets, ways, limits and categories, exactly; equations to 1e-9 of their terms."""
    assert case.counterfactual is not None
    asked, x, state = case.question, case.counterfactual, case.state
    out = [asked.names[j] for j in range(asked.n) if not asked.low[j] <= x[j] <= asked.high[j]]
    out += [row.name for row in asked.rows if not _row_holds(row, x)]
    out += [asked.names[j] for j in asked.sets if not asked.allows(j, x[j])]
    out += [either.name for either in asked.eithers if not any(_taken(way, x, state) for way in either.ways)]
    for limit in asked.limits:
        changed = sum(x[j] != asked.factual[j] for j in limit.numbers)
        out += [limit.name] if changed > asked.left(limit, state) else []
    for choice, v in zip(asked.choices, state, strict=True):
        if v < 0 or not math.isfinite(choice.prices[v]):
            out.append(asked.features[choice.feature])
    fault = f"outside: {', '.join(map(shown, out))}" if out else ""
    return _claim("domain", fault, "the counterfactual is inside")


def _taken(way: Way, x: Sequence[float], state: Sequence[int]) -> bool:
    """Whether categories and rows of a way hold."""
    return way.allows(state) and all(_way_row_holds(row, x) for row in way.rows)


def _way_row_holds(row: Row, x: Sequence[float]) -> bool:
    """A row of a way; the interval of a feature to the last digit, even if it is one value."""
    j = row.feature
    return _row_holds(row, x) if j is None else row.low <= x[j] <= row.high


def _row_holds(row: Row, x: Sequence[float]) -> bool:
    terms = [Fraction(a) * Fraction(v) for a, v in zip(row.coefficients, x, strict=True)]
    value, room = sum(terms, Fraction(0)), AGREE * sum(map(abs, terms), Fraction(0))
    if row.low == row.high:
        return math.isfinite(row.low) and abs(value - Fraction(row.low)) <= room
    return row.low <= value <= row.high


def validity_claim(case: Case) -> Claim:
    """Every requirement at the counterfactual, exactly."""
    assert case.point is not None
    answer = case.answer
    margins = [case.twice_margin(entry, case.point) for entry in case.quadratics]
    low, high = min(m.low for m in margins), min(m.high for m in margins)
    found = f"the least requirement is met by {near(Enclosure(low, high).half()):.6g}"
    sums = [case.sum_of_odds(share, case.point) for share in case.shares]
    if low >= 0 and not all(above <= 1 for _, above in sums):
        missed = "the probability among all classes is not reached"
        return Claim("validity", FAILS if any(below > 1 for below, _ in sums) else NOT_PROVED, missed)
    if low >= 0:
        return Claim("validity", HOLDS, found)
    solver = answer["method"] in SOLVERS and answer["status"] == "optimal"
    if solver and 0 <= answer["tol"] <= MOST_TOL and low + twice(answer["tol"]).low >= 0:
        text = f"{found}: missed, though within the tolerance {answer['tol']:g} of a solver"
        return Claim("validity", NOT_PROVED, text)
    return Claim("validity", FAILS if high < 0 else NOT_PROVED, found)


def robustness_claim(case: Case) -> Claim:
    """No perturbation within the certified radius undoes what is required, and the coverage follows."""
    radius, stated, budget = case.answer["certified_radius"], case.answer["coverage"], case.question.radius
    if not radius >= 0:
        return Claim("robustness", FAILS, "the radius is negative or missing")
    covered = Fraction(1) if radius >= budget else Fraction(radius) / Fraction(budget)
    close = math.isfinite(stated) and abs(Fraction(stated) - covered) <= Fraction(1, 10**12)
    if not close or (stated >= 1) != (covered >= 1):  # nothing but the whole budget is all of it
        return Claim(
            "robustness", FAILS, f"a radius of {radius:.9g} covers {near(covered):.9g} of the budget"
        )
    if radius == 0:
        return Claim("robustness", HOLDS, "a radius of zero claims nothing beyond validity")
    proven, _, fault = case.proven
    if fault or not radius <= proven:
        fault = fault or f"proven {proven:.9g} only"
        return Claim("robustness", NOT_PROVED, f"claimed {radius:.9g}; {fault}")
    times = " times the budget" if isinstance(case.question.budget, dict) else ""
    return Claim("robustness", HOLDS, f"no error within {radius:.9g}{times} undoes it")


def worst_case_claim(case: Case) -> Claim | None:
    """The worst perturbation that was found: a witness, and how much worse others may be."""
    name, answer, worst, asked = "worst case", case.answer, case.worst, case.question
    if worst is None:
        told = not math.isnan(answer["worst_probability"]) or answer["violation"] != math.inf
        return Claim(name, FAILS, "no perturbation comes with it") if told else None
    assert case.point is not None
    there = [a + d for a, d in zip(case.point, worst, strict=True)]
    if not all(map(math.isfinite, there)) or not case.perturbations.contains(worst, AGREE):
        return Claim(name, FAILS, "the perturbation lies outside the ball")
    violation = case.violation(there)
    wrong, chance = _chance_fault(
        case, "worst_probability", there, case.state, case.model.position(asked.target)
    )
    if wrong or not agree(answer["violation"], violation):
        return Claim(name, FAILS, f"{wrong or 'the violation is another one'} ({near(violation):.9g})")
    text, (radius, slack, fault) = f"P(target) is {chance} there", case.proven
    if asked.radius == 0:
        return Claim(name, HOLDS, f"{text}; nothing is perturbed")
    if violation >= 0:
        return Claim(name, HOLDS, f"{text}, which undoes the decision; others may be worse")
    if not answer["certified_radius"] >= asked.radius:
        return Claim(name, HOLDS, f"{text}; worse ones are not excluded, and the file does not say so")
    centre = near(-case.violation(case.point))
    room = max(NEAR_WORST, SHARE_WORST * (centre + answer["violation"]))
    cooled = Fraction(slack) / max(case.heat(entry) for entry in case.quadratics if entry.decides)
    if fault or not radius >= asked.radius or not cooled >= -answer["violation"] - room:
        return Claim(name, NOT_PROVED, f"{text}; that nothing is worse is not proved")
    return Claim(name, HOLDS, f"{text}; nothing is worse by more than {room:.2g} in log-odds")


def lower_bound_claim(case: Case) -> Claim:
    """No allowed point is nearer; or there is none at all."""
    name, stated = "lower bound", case.answer["lower_bound"]
    if stated <= 0:
        return Claim(name, HOLDS, "zero needs no proof")
    if not stated > 0:
        return Claim(name, FAILS, "it is not a number")
    if (case.states if case.question.choices else case.bound) is None:
        return Claim(name, NOT_PROVED, f"claimed {stated:.9g}; no certificate comes with it")
    try:
        if case.question.choices:
            return covered_claim(case, stated)
        proven = case.proven_level(read_proof(bound_setting(case), case.bound))
    except FaultError as fault:
        return Claim(name, NOT_PROVED, f"claimed {stated:.9g}; {fault}")
    if stated == math.inf:
        nowhere = _exceeds_domain(case, proven)
        text = f"nothing lies within {proven:.9g}, and the domain reaches {'no ' if nowhere else ''}farther"
        return Claim(name, HOLDS if nowhere else NOT_PROVED, text)
    verdict = HOLDS if stated <= proven else NOT_PROVED
    return Claim(name, verdict, f"claimed {stated:.9g}, proven {proven:.9g}")


def best_claim(case: Case) -> Claim | None:
    """No allowed point gives the target such a probability; for files without an answer that say so.

    It is the claim that the same question with that threshold has no answer: against each rival, under each
    model that the question names, on the whole ball where that was asked for.
    """
    name, asked = "best probability", case.question
    reached, bound = case.answer["best_probability"], case.answer["best_probability_bound"]
    if math.isnan(reached) and math.isnan(bound) and case.best is None:
        return None
    odds = [entry.kind == "odds" and same(entry.label, asked.target) for entry in asked.requirements]
    fault = _first(
        (case.point is not None, "there is a counterfactual"),
        (not any(odds), "the question is not about probabilities"),
        (bool(case.shares), "the question is about a probability among all classes"),
        (not 0 < bound < 1, "the bound is not a probability"),
        (not 0 <= reached <= bound, "the probability exceeds its bound"),
    )
    if fault:
        return Claim(name, FAILS, fault)
    pairs = zip(asked.requirements, odds, strict=True)
    posed = replace(asked, requirements=[e._replace(mark=bound) if lower else e for e, lower in pairs])
    proof = (case.states if asked.choices else case.bound) if case.best is None else case.best
    other = replace(
        case,
        question=posed,
        answer={**case.answer, "lower_bound": math.inf},
        bound=None if asked.choices else proof,
        states=proof if asked.choices else None,
    )
    _, verdict, reason = lower_bound_claim(other)
    return Claim(name, verdict, f"claimed at most {bound:.9g}; with that threshold: {reason}")


def fewer_limits(case: Case) -> list[Limit] | None:
    """The limits with which there is no answer; None for files that say nothing of fewer changes."""
    if case.fewer is None:
        return None
    keys = ("limits", "bound", "states", "mixtures")
    listed = _table(case.fewer, "what rules fewer changes out", keys)["limits"]
    return [_limit(v, case.question.n, len(case.question.choices)) for v in _list(listed, "its limits")]


def fewer_claim(case: Case) -> Claim | None:
    """Fewer changes are not enough; for files that say so.

    It is the claim that the same question has no answer with a limit of its own over all that may change.
    """
    limits = fewer_limits(case)
    if limits is None:
        return None
    name, asked = "fewer changes", case.question
    smaller = [limit for limit in limits if limit not in asked.limits]
    left_out = [asked.names[j] for j in _may_change(asked) for one in smaller if j not in one.numbers]
    left_out += [
        asked.features[choice.feature]
        for k, choice in enumerate(asked.choices)
        for one in smaller
        if k not in one.categories and sum(map(math.isfinite, choice.prices)) > 1
    ]
    fault = _first(
        (len(smaller) != 1, "it takes another number of limits than one beyond those of the question"),
        (bool(left_out), f"its limit leaves out {', '.join(map(shown, left_out))}, which may change"),
    )
    if fault:
        return Claim(name, FAILS, fault)
    other = replace(
        case,
        question=replace(asked, limits=limits),
        answer={**case.answer, "lower_bound": math.inf},
        **{part: case.fewer[part] for part in ("bound", "states", "mixtures")},
    )
    _, verdict, reason = lower_bound_claim(other)
    return Claim(name, verdict, f"no answer changes at most {smaller[0].most} features: {reason}")


def _may_change(asked: Question) -> list[int]:
    """The numbers that are not held at today's value by their ends."""
    ends = zip(asked.low, asked.factual, asked.high, strict=True)
    return [j for j, (low, now, high) in enumerate(ends) if low < now or high > now]


def _exceeds_domain(case: Case, level: float) -> bool:
    """Whether no point of the domain is farther than the level: the norm of abs(D) m is at most that.

    With prices: the norm of what the dearer end of each feature costs.
    """
    asked = case.posed
    if level == math.inf:
        return True
    if case.metric is None or not all(map(math.isfinite, [*asked.low, *asked.high])):
        return False
    start = dyadic(asked.factual)
    sizes = grid([[abs(v) for v in row] for row in case.metric])
    ends = [dyadic(end).plus(start, -1) for end in (asked.low, asked.high)]
    if asked.prices is not None:  # the matrix is diagonal: each end costs something by itself
        ends = [paid(sizes.times(end), asked.prices) for end in ends]
    shift = max(end.shift for end in ends)
    pairs = zip(*(end.at(shift) for end in ends), strict=True)
    reach = Dyadic([max(map(abs, pair)) for pair in pairs], shift)
    return within(sizes.times(reach) if asked.prices is None else reach, asked.norm, Fraction(level))


# ----- All states of the categories -----------------------------------------------------------------------


class Refuted(NamedTuple):
    """Nothing lies within the radius in a state of this shape that adds at most these gains.

    Without a shape the proof has no requirements: it holds for every shape, whatever is added.
    Of each either only these ways may be open (None: whichever), of each limit at most so much be left.
    """

    shape: tuple[int, ...] | None
    twice_gains: list[int]  # over 2**PLACES
    radius: Fraction | float
    ways: Sequence[set[int] | None] = ()
    left: Sequence[int] = ()


Known = tuple[tuple[int, int], ...]  # places among the categories of a gain, and the values there


@dataclass(frozen=True, eq=False)
class Gain:
    """What one category adds to a requirement, twice and rounded up, by values of some categories.

    A rounded logarithm never falls where its argument rises. So of many entries only the largest needs one;
    and less a rate times the price of the category's own value, only those that exceed all cheaper ones.
    """

    categories: list[int]  # itself last
    sizes: list[int]
    allowed: list[list[int]]
    prices: list[float]  # of the category's own values
    entries: Ratios | Wholes  # flat
    _steps: dict[Known, list[tuple[int, tuple[int, int]]]] = field(default_factory=dict)
    _rounded: dict[Fraction, int] = field(default_factory=dict)

    def most(self, known: Known, rate: Fraction) -> int:
        """The largest of what is added less the rate times the price, given some values."""
        if known not in self._steps:
            self._steps[known] = self._found_steps(dict(known))
        above, below = 2 * rate.numerator << PLACES, rate.denominator
        return max(entry - above * one // (below * other) for entry, (one, other) in self._steps[known])

    def _found_steps(self, known: dict[int, int]) -> list[tuple[int, tuple[int, int]]]:
        """Entries with their prices, the cheapest first: those that exceed all cheaper ones."""
        ranges = [[known[i]] if i in known else values for i, values in enumerate(self.allowed)]
        steps: list[tuple[Fraction | int, float]] = []
        for v in sorted(ranges.pop(), key=self.prices.__getitem__):
            entry = self.entries.largest(_places([*ranges, [v]], self.sizes))
            if not steps or entry > steps[-1][0]:
                steps.append((entry, self.prices[v]))
        return [(self._round(entry), price.as_integer_ratio()) for entry, price in steps]

    def _round(self, entry: Fraction | int) -> int:
        """A logarithm is computed once."""
        if isinstance(entry, int):
            return entry
        if entry not in self._rounded:
            self._rounded[entry] = enclosed_log(entry.numerator, entry.denominator, 2).high
        return self._rounded[entry]


class Most(dict[Any, int]):
    """The largest that a category adds less a rate, by the values at some places; found when asked for.

    The value of a single place is its own key.
    """

    def __init__(self, gain: Gain, places: list[int], rate: Fraction) -> None:
        super().__init__()
        self.gain, self.places, self.rate = gain, places, rate

    def __missing__(self, key: Any) -> int:
        values = key if len(self.places) > 1 else (key,)
        self[key] = found = self.gain.most(tuple(zip(self.places, values, strict=True)), self.rate)
        return found


def _places(ranges: list[list[int]], sizes: list[int]) -> list[int]:
    """Where the entries for these values are in a flat list."""
    spend(math.prod(map(len, ranges)))
    found = [0]
    for values, size in zip(ranges, sizes, strict=True):
        found = [place * size + v for place in found for v in values]
    return found


class Ratios(NamedTuple):
    """Logarithms of one probability over another; without another, of one alone."""

    above: list[float]
    below: list[float] | None

    def largest(self, places: list[int]) -> Fraction:
        """The largest ratio, exactly; a rounded quotient does not fall where the ratio rises."""
        if self.below is None:
            return Fraction(max(self.above[place] for place in places))
        quotients = [self.above[place] / self.below[place] for place in places]
        top = max(quotients)
        pairs = {
            (self.above[place], self.below[place])
            for place, quotient in zip(places, quotients, strict=True)
            if quotient == top
        }
        return max(Fraction(one) / Fraction(other) for one, other in pairs)


class Wholes(NamedTuple):
    """Twice what is added, rounded up already: of a mixture, or of scores."""

    entries: list[int]

    def largest(self, places: list[int]) -> int:
        """The largest."""
        return max(self.entries[place] for place in places)


# A sum, and what depends on the values at some places, with what picks them out of an assignment.
Bounds = tuple[int, list[tuple[Most, Callable[[tuple[int, ...]], Any]]]]


def covered_claim(case: Case, level: float) -> Claim:
    """Every state is too dear by itself, or has a proof that holds for it."""
    name = "lower bound"
    states = _table(case.states, "the states", ("trades", "proofs"))
    trades = [_number(v, "a trade") for v in _list(states["trades"], "the trades")]
    if not all(rate >= 0 for rate in trades):
        raise FaultError("a trade is negative")
    if len(trades) > MOST_TRADES:
        raise FaultError(f"there are more than {MOST_TRADES} trades")
    proofs = [_refuted(case, entry) for entry in distinct(_list(states["proofs"], "the states"))]
    cover = Cover(case, proofs, sorted({0.0, *trades}), level)
    open_state = cover.uncovered()
    if open_state is not None:
        values = [choice.values[v] for choice, v in zip(case.question.choices, open_state, strict=True)]
        return Claim(name, NOT_PROVED, f"claimed {level:.9g}; nothing covers the categories {shown(values)}")
    by = "one proof" if len(proofs) == 1 else f"{len(proofs)} proofs"
    return Claim(name, HOLDS, f"claimed {level:.9g}, proven for all states by {by}")


def distinct(entries: list[Any]) -> list[Any]:
    """Without those that repeat another one to the letter: what is proved twice is proved."""
    found: dict[Any, Any] = {}
    for number, entry in enumerate(entries):
        try:
            found.setdefault(repr(entry), entry)
        except RecursionError:  # deep trees are left as they are
            found[number] = entry
    return list(found.values())


def _refuted(case: Case, entry: Any) -> Refuted:
    """A proof about one shape, or about all of them, checked."""
    entry = _table(entry, "a state", STATE_KEYS)
    asked = case.question
    shape = None if entry["shape"] is None else _shape(case, entry["shape"])
    gains = _numbers(entry["constants"], "the constants", 0 if shape is None else len(case.numbered))
    listed = zip(asked.eithers, _list(entry["ways"], "the ways", len(asked.eithers)), strict=True)
    ways = [
        None if numbers is None else _ascending(numbers, "the ways", len(either.ways))
        for either, numbers in listed
    ]
    left = [_whole(v, "what is left") for v in _list(entry["left"], "what is left", len(asked.limits))]
    if any(count < 0 for count in left):
        raise FaultError("less than nothing is left of a limit")
    setting = bound_setting(case, _state_of(case, shape), None if shape is None else gains, ways, left)
    if shape is None:  # what differs from shape to shape may not be used
        setting = replace(setting, requirements=[])
    level = case.proven_level(read_proof(setting, entry["proof"]))
    radius = math.inf if _exceeds_domain(case, level) else Fraction(level)
    kept = [None if numbers is None else set(numbers) for numbers in ways]
    return Refuted(shape, [twice(gain).low for gain in gains], radius, kept, left)


def _shape(case: Case, entry: Any) -> tuple[int, ...]:
    """A value for each category on which the densities depend."""
    shaping = shaping_categories(case)
    pairs = [_list(pair, "a shape", 2) for pair in _list(entry, "a shape", len(shaping))]
    if [pair[0] for pair in pairs] != shaping:
        raise FaultError("a shape does not name the categories on which the densities depend")
    sizes = [len(case.question.choices[k].values) for k in shaping]
    return tuple(_index(pair[1], "a shape", size) for pair, size in zip(pairs, sizes, strict=True))


def _state_of(case: Case, shape: tuple[int, ...] | None) -> tuple[int, ...]:
    """Some state of a shape; without one, today's."""
    state = list(case.question.state)
    if shape is not None:
        for k, v in zip(shaping_categories(case), shape, strict=True):
            state[k] = v
    return tuple(state)


def shaping_categories(case: Case) -> list[int]:
    """The categories on which some requirement's squares depend."""
    found: set[int] = set()
    for asked in case.quadratics:
        if asked.kind == "away":
            continue
        model = case.models[asked.model]
        cells = model.cells[0] if model.cells and (asked.kind == "density" or model.decision is None) else []
        found |= {k for one in cells for k in one.categories}
    return sorted(found)


class Cover:
    """Looks at all states, those of a kind together, until each is covered.

    An assignment gives values to the first categories of an order. What the others can add at most is known
    in advance; so is that less a rate times their price, for some rates. If a state costs c and adds g, then
    ``g <= rate c + (the largest of g - rate c)``.
    """

    def __init__(self, case: Case, proofs: list[Refuted], trades: list[float], level: float) -> None:
        self.case, self.level = case, level if level == math.inf else Fraction(level)
        self.shaping, self.choices = shaping_categories(case), case.question.choices
        self.order = [*self.shaping, *(k for k in range(len(self.choices)) if k not in self.shaping)]
        self.proofs: dict[tuple[int, ...] | None, list[Refuted]] = {None: []}
        for proof in undominated(proofs):
            self.proofs.setdefault(proof.shape, []).append(proof)
        self.allowed = [
            [v for v, price in enumerate(choice.prices) if price < math.inf] for choice in self.choices
        ]
        self.ways = [
            [
                (w, {k: frozenset(codes) for k, codes in way.values.items()})
                for w, way in enumerate(either.ways)
                if self._possible(way)
            ]
            for either in case.question.eithers
        ]
        asked = case.numbered
        self.trades = [Fraction(rate) for rate in (trades if len(asked) == 1 else [0.0])]
        self.gains = [[self._gain(entry, k) for k in range(len(self.choices))] for entry in asked]
        self._by_depth: dict[tuple[int, int, int], Bounds] = {}
        self._alone: dict[tuple[int, int], list[int]] = {}
        self._begins: dict[int, Fraction | float] = {}  # the proofs are kept here: their ids stay theirs
        self.steps = 0

    def _possible(self, way: Way) -> bool:
        """Whether the categories may take values of a way."""
        return all(not set(codes).isdisjoint(self.allowed[k]) for k, codes in way.values.items())

    def uncovered(self) -> tuple[int, ...] | None:
        """A state that is not covered; None if there is none."""
        stack: list[tuple[Fraction, tuple[int, ...]]] = [(Fraction(0), ())]
        self.steps = 0
        while stack:
            price, values = stack.pop()
            self.steps += 1
            if self.steps > MOST_STEPS:
                raise FaultError(
                    f"more than {MOST_STEPS} looks at proofs and partial assignments of the categories"
                )
            spend(len(self.gains) * len(self.choices))
            if price >= self.level or self.forbidden(values) or self.covers(price, values):
                continue
            if len(values) == len(self.order):
                found = dict(zip(self.order, values, strict=True))
                return tuple(found[k] for k in range(len(values)))
            k = self.order[len(values)]
            prices = self.choices[k].prices
            stack += [(price + Fraction(prices[v]), (*values, v)) for v in self.allowed[k]]
        return None

    def covers(self, price: Fraction, values: tuple[int, ...]) -> bool:
        """Whether the proofs of all shapes, or those of its own, cover all completions of an assignment."""
        if any(self._reaches(price, proof) for proof in self.holding(values, None)):
            return True
        if len(values) < len(self.shaping):
            return False
        proofs = self.holding(values, values[: len(self.shaping)])
        most = [self.most(r, 0, values) for r in range(len(self.gains))]
        for proof in proofs:
            enough = all(gain <= room for gain, room in zip(most, proof.twice_gains, strict=True))
            if enough and self._reaches(price, proof):
                return True
        stairs = len(self.trades) > 1 and bool(proofs) and self.level != math.inf
        return stairs and self._stair(price, values, proofs)

    def _reaches(self, price: Fraction, proof: Refuted) -> bool:
        """Whether what a proof leaves is too far for a state of that price."""
        return proof.radius == math.inf or price + proof.radius >= self.level

    def forbidden(self, values: tuple[int, ...]) -> bool:
        """Whether no completion of an assignment is allowed: a limit is exceeded, or an either has no way."""
        state = self._known(values)
        return min(self._left(state), default=0) < 0 or not all(self._open_ways(state))

    def holding(self, values: tuple[int, ...], shape: tuple[int, ...] | None) -> list[Refuted]:
        """The proofs of a shape whose eithers and limits ask no more than any completion does."""
        proofs, state = self.proofs.get(shape, []), self._known(values)
        self.steps += len(proofs)
        ways, left = self._open_ways(state), self._left(state)
        return [
            proof
            for proof in proofs
            if all(kept is None or kept >= own for kept, own in zip(proof.ways, ways, strict=True))
            and all(most >= own for most, own in zip(proof.left, left, strict=True))
        ]

    def _known(self, values: tuple[int, ...]) -> dict[int, int]:
        return dict(zip(self.order, values, strict=False))

    def _left(self, state: dict[int, int]) -> list[int]:
        """How many numbers each limit allows at most, given the categories that are known."""
        asked = self.case.question
        return [
            limit.most - sum(k in state and state[k] != asked.choices[k].today for k in limit.categories)
            for limit in asked.limits
        ]

    def _open_ways(self, state: dict[int, int]) -> list[set[int]]:
        """The ways of each either that the categories that are known do not exclude."""
        return [
            {w for w, codes in ways if all(k not in state or state[k] in codes[k] for k in codes)}
            for ways in self.ways
        ]

    def _stair(self, price: Fraction, values: tuple[int, ...], proofs: list[Refuted]) -> bool:
        """With one requirement: between the prices at which the next proof begins to hold."""
        level = Fraction(self.level)
        steps = sorted((self._begin(proof), proof.twice_gains[0]) for proof in proofs)
        begun = [gain for start, gain in steps if start <= price]
        if not begun:
            return False
        allowed = max(begun)
        spend(len(self.trades) * len(self.choices) + 10 * len(self.trades) * len(steps))
        most: list[int | None] = [None] * len(self.trades)
        for end, gain in [*((s, g) for s, g in steps if s > price), (level, allowed)]:
            if not any(self._bought(k, end, values, most, allowed) for k in range(len(most))):
                return False
            allowed = max(allowed, gain)
        return True

    def _begin(self, proof: Refuted) -> Fraction | float:
        """The price from which a proof holds."""
        if id(proof) not in self._begins:
            self._begins[id(proof)] = max(self.level - proof.radius, Fraction(0))
        return self._begins[id(proof)]

    def _bought(
        self, trade: int, end: Fraction | float, values: tuple[int, ...], most: list[int | None], allowed: int
    ) -> bool:
        """Whether completions of at most a price add no more than is allowed, by the rate of this trade."""
        added, rate = most[trade], self.trades[trade]
        if added is None:
            added = most[trade] = self.most(0, trade, values)
        above, below = end.as_integer_ratio()
        return 2 * rate.numerator * above << PLACES <= (allowed - added) * rate.denominator * below

    def most(self, r: int, trade: int, values: tuple[int, ...]) -> int:
        """The largest that completions of an assignment can add to requirement r less a rate, twice."""
        known = self._by_depth.get((r, trade, len(values)))
        if known is None:
            known = self._by_depth[r, trade, len(values)] = self._at_depth(r, trade, len(values))
        rest, gains = known
        for found, picked in gains:
            rest += found[picked(values)]
        return rest

    def _at_depth(self, r: int, trade: int, depth: int) -> Bounds:
        """Given so many values: the sum of what does not depend on them, and the others with their places."""
        rest, rate = 0, self.trades[trade]
        others: list[tuple[Most, Callable[[tuple[int, ...]], Any]]] = []
        if (r, trade) not in self._alone:
            self._alone[r, trade] = [gain.most((), rate) for gain in self.gains[r]]
        for gain, alone in zip(self.gains[r], self._alone[r, trade], strict=True):
            at = [self.order.index(k) for k in gain.categories]
            known = [i for i, place in enumerate(at) if place < depth]
            if known:
                others.append((Most(gain, known, rate), itemgetter(*(at[i] for i in known))))
            else:
                rest += alone
        return rest, others

    def _gain(self, asked: Asked, k: int) -> Gain:
        """What category k adds to a requirement."""
        categories, sizes, entries = self._entries(asked, k, len(self.choices[k].values))
        allowed, prices = [self.allowed[j] for j in categories], self.choices[k].prices
        if asked.kind in ("away", "mixture"):  # of the question and of the certificate, not of the model
            return Gain(categories, sizes, allowed, prices, entries)
        model = self.case.models[asked.model]
        key = (self.case.classes(asked), k, tuple(map(tuple, allowed)), tuple(prices))
        if key not in model.gains:
            _make_room(model.gains)
            model.gains[key] = Gain(categories, sizes, allowed, prices, entries)
        return model.gains[key]

    def _entries(self, asked: Asked, k: int, size: int) -> tuple[list[int], list[int], Ratios | Wholes]:
        """On which categories it depends what category k adds, how many values they have, and the entries."""
        if asked.kind == "away":
            return [k], [size], Wholes([0] * size)
        if asked.kind == "mixture":
            return self._mixed_entries(asked, k, size)
        model, (t, r) = self.case.models[asked.model], self.case.classes(asked)
        if model.decision is not None and r is not None:
            states = ([v] * len(self.choices) for v in range(size))
            return [k], [size], Wholes([model.twice_gain(t, r, state, k).high for state in states])
        own = model.tables[t][k]
        return own.categories, own.sizes, Ratios(own.flat, None if r is None else model.tables[r][k].flat)

    def _mixed_entries(self, mixture: Asked, k: int, size: int) -> tuple[list[int], list[int], Wholes]:
        """The same of a mixture of odds."""
        parts = [(*self._entries(odds, k, size), weight) for odds, weight in self.case.weighed(mixture)]
        categories, sizes = parts[0][:2]
        total = [0] * math.prod(sizes)
        for _, _, entries, weight in parts:
            for place in range(len(total)):
                largest = entries.largest([place])
                if isinstance(largest, Fraction):
                    largest = enclosed_log(largest.numerator, largest.denominator, 2).high
                total[place] += Enclosure(0, largest).times(weight).high
        return categories, sizes, Wholes(total)


def undominated(proofs: list[Refuted]) -> list[Refuted]:
    """The proofs without those that prove no more than another one: what they cover, that one covers."""
    kept: dict[Any, list[Refuted]] = {}
    ordered = sorted(proofs, key=lambda proof: (proof.radius, proof.twice_gains), reverse=True)
    for proof in ordered:
        ways = tuple(None if numbers is None else frozenset(numbers) for numbers in proof.ways)
        others = kept.setdefault((proof.shape, ways, tuple(proof.left)), [])
        spend(len(others))
        # The others reach at least as far.
        if not any(all(map(le, proof.twice_gains, other.twice_gains)) for other in reversed(others)):
            others.append(proof)
    return [proof for group in kept.values() for proof in group]


def gap_claim(case: Case) -> Claim:
    """(distance - lower bound) / distance."""
    distance, bound, stated = (case.answer[key] for key in ("distance", "lower_bound", "gap"))
    if distance == math.inf:
        return _claim(
            "gap", "" if stated == math.inf else "without a point it is infinite", "there is no point"
        )
    if not (math.isfinite(distance) and math.isfinite(bound) and distance >= 0):
        return Claim("gap", FAILS, "distance or lower bound is not a number")
    follows = 1 - Fraction(bound) / Fraction(distance) if distance else Fraction(0)
    fault = _first(
        (not agree(stated, follows), f"claimed {stated:.6g}, follows {near(follows):.6g}"),
        (follows < -AGREE, "the lower bound exceeds the distance"),
    )
    return _claim("gap", fault, f"{near(follows):.6g}")


def context_claim(case: Case) -> Claim:
    """Standard deviations, expectations, and how typical the counterfactual is."""
    answer, model, network, z = case.answer, case.model, case.factual_network, case.posed.factual
    units, state = network.spreads(model.order), case.question.state
    c = model.position(case.question.factual_class)
    fault = _first(
        (answer["parents"] != model.parents, "the parents are not the model's"),
        (not _close(answer["unit"], units, units), "unit is another one"),
        (
            not _expected_agrees(case, "expected_before", network.expected(z), units, c, state),
            "expected_before is another one",
        ),
        (any(v is not None for v in answer.get("unit of categories", [])), "a category has no unit"),
    )
    if case.point is not None:
        fault = fault or _after_fault(case, case.point, units)
    return _claim("context", fault, "units, expectations and typicality were computed again")


def _close(stated: list[float] | None, values: list[Fraction], units: list[Fraction]) -> bool:
    """Entry by entry, to 1e-9 of the value or of the feature's unit."""
    return stated is not None and all(map(agree, stated, values, units))


def _expected_agrees(
    case: Case, key: str, values: list[Fraction], units: list[Fraction], c: int, state: tuple[int, ...]
) -> bool:
    """Expected numbers, in their own units; and of categories how probable their values are."""
    stated, scales = case.answer[key], case.model.scales
    if stated is None:
        return False
    on_scales = [_expected_on_scale(*entry) for entry in zip(stated, scales, values, strict=True)]
    chances = case.answer[f"{key} of categories"]
    tables = case.model.tables[c] if case.model.tables else []
    known = [table.at(state) for table in tables]
    finite = all(map(math.isfinite, on_scales))
    return (
        finite
        and _close(on_scales, values, units)
        and len(chances) == len(known)
        and all(map(same, chances, known))
    )


def _expected_on_scale(stated: float, scale: Scale | None, expected: Fraction) -> float:
    """A stated value on its scale; infinite where what is expected lies beyond the end of the scale."""
    if scale is None or math.isfinite(stated):
        return stated if scale is None else scale(stated)
    end = scale(stated)
    beyond = math.isfinite(end) and (expected >= end if stated > 0 else expected <= end)
    return near(expected) if beyond else math.nan


def _after_fault(case: Case, z: list[float], units: list[Fraction]) -> str:
    answer, t = case.answer, case.model.position(case.question.target)
    network, table = case.model.network(t, case.state), case.model.percentiles[t]
    expected = network.expected(z)
    scores = zip(answer["z_score"] or [], z, expected, network.variances, strict=False)
    scored = answer["z_score"] is not None and all(_score_agrees(*entry) for entry in scores)
    scored = scored and all(v is None for v in answer["z_score of categories"])
    density, stated = case.model.twice_log_density(z, case.state, t).half(), answer["density_percentile"]
    room = AGREE * max(Fraction(1), abs(density))
    low, high = (_percentile(density + sign * room, table) for sign in (-1, 1))
    return _first(
        (
            not _expected_agrees(case, "expected_after", expected, units, t, case.state),
            "expected_after is another one",
        ),
        (not scored, "z_score is another one"),
        (not low - AGREE <= stated <= high + AGREE, "density_percentile is another one"),
    )


def _score_agrees(stated: float, x: float, expected: Fraction, variance: float) -> bool:
    """A z-score; the subtraction of nearly equal doubles is given its rounding."""
    deviation = Fraction(DIGITS.sqrt(Decimal(variance)))
    rounding = (abs(Fraction(x)) + abs(expected)) / deviation / 10**15
    return agree(stated, (Fraction(x) - expected) / deviation, rounding=rounding)


def _percentile(density: Fraction, table: list[float]) -> Fraction:
    """Where a density lies in the table of percentiles 0 to 100, linear between them."""
    above = next((k for k, value in enumerate(table) if density < value), len(table))
    if above in (0, len(table)):
        return Fraction(0 if above == 0 else 100)
    low, high = Fraction(table[above - 1]), Fraction(table[above])
    return above - 1 + (density - low) / (high - low)


class Box(NamedTuple):
    """What is said to be enough: of numbers between which values they are, of categories which they have."""

    stated: dict[int, tuple[float, float]]  # infinite where open
    proven: dict[int, tuple[float, float]]
    values: dict[int, list[int]]

    def stated_within(self, j: int, side: int, is_closed: bool) -> bool:
        """Whether a stated end lies within what is proven; one that is not closed is infinite."""
        end, (low, high) = self.stated[j][side], self.proven[j]
        return low <= end <= high if is_closed else end == (-math.inf, math.inf)[side]

    def states(self, state: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
        """Every combination of the categories' values, the last one moving fastest."""
        return product(*(self.values.get(k, [v]) for k, v in enumerate(state)))


def enough_claim(case: Case) -> Claim | None:
    """Every combination of values in the stated region keeps the decision; and what is not enough is not."""
    name, stated = "enough", case.answer.get("enough")
    if stated is None:
        return None if case.enough is None else Claim(name, FAILS, "there are proofs of nothing")
    if case.point is None or case.shares:
        missing = "there is no counterfactual" if case.point is None else "it is not known among all classes"
        return Claim(name, FAILS, missing)
    document = _table(stated, "what is enough", REGION_KEYS)
    box = read_box(case, document)
    fault = _box_fault(case, box) or _outside_fault(case, box, document["not_enough"])
    if fault:
        return Claim(name, FAILS, fault)
    try:
        count = check_box(case, box)
    except FaultError as unproved:
        return Claim(name, NOT_PROVED, str(unproved))
    return Claim(name, HOLDS, f"every combination keeps the decision ({_count(count, 'state')})")


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def read_box(case: Case, document: dict[str, Any]) -> Box:
    """The region, by the numbers of its features."""
    asked, found = case.question, Box({}, {}, {})
    for entry in _list(document["numbers"], "what is enough"):
        parts = _table(entry, "a number of what is enough", INTERVAL_KEYS)
        j = _place_of(parts["feature"], asked.names)
        if j in found.proven:
            raise UnreadableError("what is enough names a feature twice")
        found.proven[j] = tuple(_numbers(parts["proven"], "what is proven to be enough", 2))  # type: ignore[assignment]
        found.stated[j] = _wide(parts["low"], "low"), _wide(parts["high"], "high")
    for entry in _list(document["categories"], "what is enough"):
        parts = _table(entry, "a category of what is enough", ("feature", "values"))
        k = _place_of(parts["feature"], [asked.features[choice.feature] for choice in asked.choices])
        if k in found.values:
            raise UnreadableError("what is enough names a feature twice")
        listed = _list(parts["values"], "values of what is enough")
        found.values[k] = [_place_of(value, asked.choices[k].values) for value in listed]
    return found


def _place_of(value: Any, known: Sequence[Any]) -> int:
    places = [k for k, other in enumerate(known) if same(value, other)]
    if not places:
        raise UnreadableError(f"what is enough names {shown(value)}, which is not there")
    return places[0]


def _box_fault(case: Case, box: Box) -> str:
    """Why a region is none: it lacks the answer, an end is not what is proven, a value is not allowed."""
    asked, x = case.question, case.counterfactual
    assert x is not None
    for j, (low, high) in box.proven.items():
        least, most = _ends_of(case, j, x[j])
        fault = _first(
            (not low <= x[j] <= high, "does not hold the counterfactual"),
            (not box.stated_within(j, 0, low > least), "has a lower end that is not what is proven"),
            (not box.stated_within(j, 1, high < most), "has an upper end that is not what is proven"),
            (box.stated[j][0] > box.stated[j][1], "has a lower end above the upper one"),
            (not all(map(math.isfinite, _scaled_ends(case, j, box))), "lies beyond what its scale can hold"),
        )
        if fault:
            return f"the interval of {shown(asked.names[j])} {fault}"
    for k, values in box.values.items():
        fault = _first(
            (case.state[k] not in values, "lacks that of the counterfactual"),
            (len(set(values)) < len(values), "name one twice"),
            (not all(math.isfinite(asked.choices[k].prices[v]) for v in values), "are not all allowed"),
        )
        if fault:
            return f"the values of {shown(asked.features[asked.choices[k].feature])} {fault}"
    return next((f"it breaks the rule {shown(row.name)}" for row in asked.rows if _breaks(row, x, box)), "")


def _breaks(row: Row, x: Sequence[float], box: Box) -> bool:
    """Whether some combination of a region breaks a rule: one of the two corners where its sum is extreme."""
    for end in (0, 1):
        corner = list(x)
        for j, ends in box.proven.items():
            corner[j] = ends[end if row.coefficients[j] > 0 else 1 - end]
        if not _row_holds(row, corner):
            return True
    return False


def _ends_of(case: Case, j: int, x: float) -> tuple[float, float]:
    """Where a number ends: where the domain does, else where the data do that hold the counterfactual."""
    asked, (least, most) = case.question, (ends[j] for ends in case.model.ranges)
    low = asked.low[j] if math.isfinite(asked.low[j]) or not least <= x else least
    high = asked.high[j] if math.isfinite(asked.high[j]) or not x <= most else most
    return low, high


def _scaled_ends(case: Case, j: int, box: Box) -> tuple[float, float]:
    """Ends of an interval on the scale of the model: rounding keeps their order."""
    scale = case.model.scales[j]
    low, high = box.proven[j]
    return (low, high) if scale is None else (scale(low), scale(high))


def _outside_fault(case: Case, box: Box, document: Any) -> str:
    """Why a value that is said not to be enough may be: it is inside, or the decision is another one."""
    if document is None:
        return ""
    entry, asked = _table(document, "what is not enough", ("feature", "value", "decision")), case.question
    assert case.point is not None
    z, state, name = list(case.point), list(case.state), entry["feature"]
    if any(same(name, other) for other in asked.names):
        j, value = _place_of(name, asked.names), _number(entry["value"], "what is not enough")
        inside = j not in box.proven or box.proven[j][0] <= value <= box.proven[j][1]
        scale = case.model.scales[j]
        z[j] = value if scale is None else scale(value)
    else:
        k = _place_of(name, [asked.features[choice.feature] for choice in asked.choices])
        state[k] = _place_of(entry["value"], asked.choices[k].values)
        inside = k not in box.values or state[k] in box.values[k]
    if inside or not all(map(math.isfinite, z)):
        return "what is said not to be enough is not outside"
    scores = case.model.twice_scores(z, tuple(state))
    t, d = case.model.position(asked.target), case.model.position(entry["decision"])
    decided = d >= 0 and scores[d].low > scores[t].high and not any(o.low > scores[d].high for o in scores)
    return "" if decided else "what is said not to be enough is decided otherwise"


def check_box(case: Case, box: Box) -> int:
    """How many states of the categories there are in a region, each proven; raises `FaultError` if not."""
    if case.enough is None:
        raise FaultError("no certificate comes with it")
    documents = _list(case.enough, "the proofs of what is enough")
    if len(documents) != math.prod(map(len, box.values.values())):
        raise FaultError("there must be proofs for each combination of the categories")
    asked = [
        entry for entry in case.question.requirements if entry.robust and entry.kind in ("odds", "decision")
    ]
    for state, document in zip(box.states(case.state), documents, strict=True):
        settings = box_settings(case, box, asked, state)
        proofs = _list(document, "the proofs of what is enough")
        if settings and len(proofs) != len(settings):
            raise FaultError("there must be a proof for each requirement")
        if not settings and any(case.twice_margin(entry, case.point or [], state).low < 0 for entry in asked):
            raise FaultError("a value of a category is not enough")
        for setting, proof in zip(settings, proofs, strict=False):
            level = case.proven_level(read_proof(setting, proof))
            if not level >= 1:
                raise FaultError(f"a proof reaches {level:.9g} of it only")
    return len(documents)


def box_settings(case: Case, box: Box, asked: Sequence[Asked], state: tuple[int, ...]) -> list[Setting]:
    """What each proof of ``certificate["enough"]`` is about; nothing where no number has any room.

    As `robustness_settings` for a budget by feature: the middle of the box and its half widths.
    """
    ends = [
        (v, v) if j not in box.proven else _scaled_ends(case, j, box) for j, v in enumerate(case.point or [])
    ]
    moving = [j for j, (low, high) in enumerate(ends) if low < high]
    total = dyadic(low for low, _ in ends).plus(dyadic(high for _, high in ends))
    origin = Dyadic(total.whole, total.shift + 1)
    half = [(Fraction(ends[j][1]) - Fraction(ends[j][0])) / 2 for j in moving]
    matrix = [[float(i == j) for j in moving] for i in moving]
    breaches = [case.breach(entry, 0.0, state) for entry in asked] if moving else []
    return [Setting(math.inf, matrix, half, origin, moving, [breach]) for breach in breaches]


def reasons_claim(case: Case) -> Claim | None:
    """Reasons are about this row, and add up to its log-odds."""
    name, stated, asked = "reasons", case.answer.get("reasons"), case.question
    if stated is None:
        return None
    keys = ("decided", "other", "wanted", "prior", "features", "kept")
    document = _table(stated, "the reasons", keys)
    entries = [_table(e, "a reason", REASON_KEYS) for e in _list(document["features"], "the reasons")]
    weights = [Fraction(_number(entry["weight"], "a weight")) for entry in entries]
    d, o = (case.model.position(document[key]) for key in ("decided", "other"))
    row = _row_of(asked, asked.factual, asked.state)
    values = [entry["value"] for entry in entries]
    values = [_days(v, "reasons") if j in case.model.dates else v for j, v in enumerate(values)]
    if len(values) == len(row):  # a whole number may be written as one
        pairs = zip(values, row, strict=True)
        values = [_number(v, "a value") if type(v) is int and type(w) is float else v for v, w in pairs]
    other_wanted = same(document["other"], asked.target) or same(asked.target, asked.factual_class)
    fault = _first(
        (not same(document["decided"], asked.factual_class), "the row was decided otherwise"),
        (not same(document["wanted"], asked.target), "another class was wanted"),
        (o < 0 or o == d or not other_wanted, "they compare with another class"),
        (not _same_row([entry["feature"] for entry in entries], asked.features), "they name other features"),
        (not _same_row(values, row), "they are about another row"),
    )
    if fault:
        return Claim(name, FAILS, fault)
    scores = case.model.twice_scores(case.posed.factual, asked.state)
    odds = scores[d].minus(scores[o]).half() / Fraction(case.model.temperature)
    total = Fraction(_number(document["prior"], "the prior")) + sum(weights, Fraction(0))
    size = sum(map(abs, weights), Fraction(1))
    text = f"they add up to {near(total):.9g}, the log-odds are {near(odds):.9g}"
    fault = "" if abs(total - odds) <= AGREE * size else text
    return _claim(name, fault or _weight_fault(case, weights, d, o), text)


def _weight_fault(case: Case, weights: list[Fraction], d: int, o: int) -> str:
    """Which weight is not that of its feature given its parents; an adopted model states its own terms."""
    model, asked = case.model, case.question
    if model.decision is not None:
        return ""
    point, state, heat = dyadic(case.posed.factual), asked.state, Fraction(model.temperature)
    one, other = (model.network(c, state).twice_terms(point) for c in (d, o))
    found = dict(zip(asked.numbers, zip(one, other, strict=True), strict=True))
    terms = {j: (a.minus(b).half(), abs(a.half()) + abs(b.half())) for j, (a, b) in found.items()}
    for k, choice in enumerate(asked.choices):
        terms[choice.feature] = (model.twice_gain(d, o, state, k).half(), Fraction(1))
    for j, (term, size) in terms.items():
        if abs(weights[j] - term / heat) > AGREE * max(size / heat, Fraction(1)):
            return f"the weight of {shown(asked.features[j])} is {near(term / heat):.9g}"
    return ""


def refits_claim(case: Case) -> Claim | None:
    """Under how many of the refits that the model keeps the counterfactual has what was asked for."""
    stated, kept = case.answer["model_share"], case.model.kept
    if stated is None and kept:
        return Claim(
            "refits", FAILS, "the model keeps refits, but the file does not say how many of them agree"
        )
    others = set(case.question.models[1:]) - {case.question.models[0]}
    if stated is not None and kept and not (stated[3] or others):
        return Claim("refits", FAILS, "the model keeps refits, but those that the file counts are others")
    if stated is None or not stated[3]:
        return None  # of refits that no file holds: only a search with refits is judged by fresh ones
    if len(kept) != stated[2]:
        verdict = FAILS if kept else NOT_PROVED
        return Claim("refits", verdict, f"{stated[2]} refits are claimed, the model keeps {len(kept)}")
    seen = [bool(others) and _fingerprint(refit) in others for refit in case.model.refits]
    verdicts = [_agrees(case, refit) for refit in case.model.refits]
    sure, open_ = verdicts.count(True), verdicts.count(None)
    counts = range(sure, sure + open_ + 1)
    fresh = [one for one, known in zip(verdicts, seen, strict=True) if not known]
    hits = range(fresh.count(True), fresh.count(True) + fresh.count(None) + 1)
    fault = _first(
        (
            not any(agree(stated[0], Fraction(count, len(kept))) for count in counts),
            f"{sure} of {len(kept)} agree, not the share {stated[0]:.6g}",
        ),
        (
            not any(_is_least_share(stated[1], count, len(fresh)) for count in hits),
            "the bound on the share of all refits is another one",
        ),
    )
    return _claim("refits", fault, f"it holds under {sure} of {len(kept)} refits that the model keeps")


def _agrees(case: Case, refit: Model) -> bool | None:
    """Whether a refit decides as was asked at the counterfactual; None where rounding may hide it."""
    assert case.point is not None
    scores, heat = refit.twice_scores(case.point, case.state), Fraction(refit.temperature)
    largest = max(abs(score.half()) for score in scores)
    room = 2 * AGREE * max(Fraction(1), largest)
    found: list[Fraction] = []
    for entry in case.quadratics:
        if entry.decides:
            above, below = entry.mark.as_integer_ratio()
            needed = enclosed_log(above, below - above, 2).times(heat)
            t, r = refit.position(entry.label), refit.position(entry.rival)
            found.append(scores[t].minus(scores[r]).minus(needed).half())
    least = -heat * _log_of_sum(found, heat) if case.shares else min(found)
    return None if abs(least) <= room else least > 0


def _log_of_sum(margins: list[Fraction], heat: Fraction) -> Fraction:
    """Log sum exp(-g / heat), to more digits than agree has: negative where a probability is reached."""
    least = min(margins)
    return Fraction(math.log(sum(math.exp((least - g) / heat) for g in margins))) - least / heat


def _is_least_share(bound: float, hits: int, trials: int) -> bool:
    """Whether so many hits or more have the probability 5 % where the share is the bound."""
    if not hits:
        return bound == 0
    if not 0 < bound < 1:
        return False
    p = Fraction(bound)
    tail = sum(math.comb(trials, k) * p**k * (1 - p) ** (trials - k) for k in range(hits, trials + 1))
    return abs(tail - Fraction(1, 20)) <= AGREE


OF_A_POINT = (distance_claim, domain_claim, validity_claim, robustness_claim, worst_case_claim, refits_claim)
CHECKS: tuple[Callable[[Case], Claim | None], ...] = (
    question_claim, geometry_claim, status_claim, probabilities_claim, *OF_A_POINT,
    lower_bound_claim, fewer_claim, best_claim, gap_claim, context_claim, enough_claim, reasons_claim,
)  # fmt: skip


# ----- Nobody in a region ---------------------------------------------------------------------------------

WHOLE = "whole"  # all whole numbers, in the place of a list of values
NUMBER_SIDES, CATEGORY_SIDES = ("no", "down", "up"), ("no", "yes")


class Persons(NamedTuple):
    """Some persons of a region: the ends of their numbers, the codes of their categories, what changes.

    ``sides`` says of features, by position, whether they change: "no", "yes" (a category), "down" or "up".
    """

    low: tuple[float, ...]
    high: tuple[float, ...]
    values: tuple[Any, ...]  # of each number: the values that persons have, WHOLE, or None for any
    codes: tuple[tuple[int, ...], ...]
    sides: dict[int, str]

    @property
    def is_empty(self) -> bool:
        """Whether there is nobody to speak of."""
        listed = (self.stays(k).values for k in range(len(self.low)))
        return not (all(map(le, self.low, self.high)) and all(self.codes)) or () in listed

    def stays(self, k: int) -> Reach:
        """Number k as it is."""
        low, high, values = self.low[k], self.high[k], self.values[k]
        if type(values) is tuple:
            values = tuple(v for v in values if low <= v <= high)
        elif low == high:
            values = (low,)
        return Reach(low, high, values)


class Move(NamedTuple):
    """What a number may do. From today's value x it may fall to max(bounds[0], min(ends[0], x)) and so on."""

    may: str
    bounds: tuple[float, float]  # which hold for everybody
    ends: tuple[float, float]  # which give way to today's value
    most: float | None
    least: float | None
    step: float | None
    values: tuple[float, ...] | str | None


class Sum(NamedTuple):
    """``low <= coefficients' (what a person becomes) + now' (what a person is) <= high``."""

    coefficients: list[float]
    now: list[float]
    low: float
    high: float
    name: str


class Count(NamedTuple):
    """At most so many of these features, by position, change."""

    most: int
    features: list[int]


class Reach(NamedTuple):
    """Where a number may be: between two ends, and at these values alone if there is a list."""

    low: Fraction | float
    high: Fraction | float
    values: tuple[float, ...] | str | None


@dataclass(frozen=True, eq=False)
class Nobody:
    """A file that claims that nobody in a region can have the target."""

    models: list[str]
    features: list[Any]
    values: list[list[Any] | None]  # of the model's categories; None for numbers
    target: Any
    holds: bool | None
    persons: Persons
    moves: list[Move]
    choices: list[list[list[int]]]  # where each category may go from each of its codes
    sums: list[Sum]
    counts: list[Count]
    requirements: list[Asked]
    tree: Any
    proofs: list[Any]

    @cached_property
    def numbers(self) -> list[int]:
        """Positions of the numbers."""
        return [j for j, values in enumerate(self.values) if values is None]

    @cached_property
    def categories(self) -> list[int]:
        """Positions of the categories."""
        return [j for j, values in enumerate(self.values) if values is not None]

    def side(self, persons: Persons, feature: int) -> str:
        """Whether a feature changes: as was decided, "no" where a count is used up, "" where it is open."""
        if feature in persons.sides:
            return persons.sides[feature]
        full = (c for c in self.counts if feature in c.features and self.changed(persons, c) >= c.most)
        return "no" if any(True for _ in full) else ""

    @staticmethod
    def changed(persons: Persons, count: Count) -> int:
        """How many features of a count change."""
        return sum(persons.sides.get(j, "no") != "no" for j in count.features)

    def number_reach(self, persons: Persons, k: int) -> Reach | None:
        """Where number k of these persons may be; None if nowhere."""
        side = self.side(persons, self.numbers[k])
        stays = persons.stays(k)
        sides = [side] if side else NUMBER_SIDES
        parts = [stays if side == "no" else moved(self.moves[k], persons, k, side) for side in sides]
        return hull([part for part in parts if part is not None])

    def category_reach(self, persons: Persons, k: int) -> set[int]:
        """The codes that category k of these persons may have."""
        side, codes = self.side(persons, self.categories[k]), persons.codes[k]
        found = set() if side == "yes" else set(codes)
        return found if side == "no" else found.union(*(self.choices[k][code] for code in codes))

    def is_vacuous(self, persons: Persons) -> bool:
        """Whether there are no such persons, or nothing that they may become."""
        return (
            persons.is_empty
            or any(self.changed(persons, count) > count.most for count in self.counts)
            or any(self.number_reach(persons, k) is None for k in range(len(self.numbers)))
            or not all(self.category_reach(persons, k) for k in range(len(self.categories)))
        )

    def sum_ends(self, persons: Persons, row: Sum) -> tuple[Fraction | float, Fraction | float]:
        """Between which numbers the sum of what these persons become lies, without what they are."""
        least, most = Fraction(0), Fraction(0)
        for a, low, high in zip(row.now, persons.low, persons.high, strict=True):
            if a:
                if not (math.isfinite(low) and math.isfinite(high)):
                    return -math.inf, math.inf
                ends = Fraction(a) * Fraction(low), Fraction(a) * Fraction(high)
                least, most = least + min(ends), most + max(ends)
        return _less(row.low, most), _less(row.high, least)


def _less(end: float, value: Fraction) -> Fraction | float:
    """An end, that may be infinite, less a number."""
    return end if math.isinf(end) else Fraction(end) - value


def hull(parts: Sequence[Reach]) -> Reach | None:
    """One reach that holds several, its ends at values that it has; None if it is empty."""
    values: tuple[float, ...] | str | None = None
    if all(type(part.values) is tuple for part in parts):
        values = tuple(sorted({float(v) for part in parts for v in part.values or ()}))
    elif all(map(_is_whole, parts)):
        values = WHOLE
    low = min((part.low for part in parts), default=math.inf)
    high = max((part.high for part in parts), default=-math.inf)
    if type(values) is tuple:
        low, high = (values[0], values[-1]) if values else (math.inf, -math.inf)
    elif values == WHOLE:
        low, high = (_snapped(low, math.ceil), _snapped(high, math.floor))
    return Reach(low, high, values) if low <= high else None


def _snapped(end: Fraction | float, onto: Callable[[Any], int]) -> Fraction | float:
    """An end at a whole number; an infinite one stays."""
    return end if math.isinf(end) else Fraction(onto(end))


def _is_whole(part: Reach) -> bool:
    if type(part.values) is tuple:
        return all(v.is_integer() for v in part.values)
    return part.values == WHOLE


def moved(move: Move, persons: Persons, k: int, side: str) -> Reach | None:
    """Where number k of some persons may go, up or down; None if nowhere.

    Every end rises with today's value: the lowest follows from the lower end, the highest from the upper one.
    """
    if move.may == "stay" or (move.may, side) in (("rise", "down"), ("fall", "up")):
        return None
    low, high = persons.low[k], persons.high[k]
    first: Fraction | float = max(move.bounds[0], min(move.ends[0], low))
    last: Fraction | float = min(move.bounds[1], max(move.ends[1], high))
    if move.most is not None:
        first = max(first, _less(low, Fraction(move.most)))
        last = min(last, _less(high, -Fraction(move.most)))
    if side == "up":
        first = max(first, as_written(low, move.least or 0.0))
    else:
        last = min(last, as_written(high, -(move.least or 0.0)))
    return hull([Reach(first, last, _values_between(move, persons.stays(k), first, last))])


def as_written(value: float, change: float) -> float:
    """A sum of two numbers as they are written: 0.1 and 0.2 make 0.3, whatever doubles make of it."""
    return value if math.isinf(value) else float(Fraction(repr(value)) + Fraction(repr(change)))


def _values_between(
    move: Move, here: Reach, first: Fraction | float, last: Fraction | float
) -> tuple[float, ...] | str | None:
    """The values between two ends that a number may go to; None where that is not known, or any."""
    if move.step is None:
        if type(move.values) is not tuple:
            return move.values
        spend(len(move.values))
        return tuple(v for v in move.values if first <= v <= last)
    if here.low != here.high:
        return WHOLE if _is_whole(here) and move.step.is_integer() else None
    if math.isinf(first) or math.isinf(last):
        return None
    start, step = Fraction(repr(here.low)), Fraction(repr(move.step))
    k, end = math.floor((Fraction(first) - start) / step), math.ceil((Fraction(last) - start) / step)
    if end - k > MOST_VALUES:
        return None
    spend(end - k + 1)
    found = (float(start + i * step) for i in range(k, end + 1))  # rounding may let one more in
    return tuple(v for v in found if first <= v <= last)


def is_about_region(document: Any) -> bool:
    """Whether a file claims something about the persons of a region."""
    return type(document) is dict and document.get("format") == "surefoot-nobody"


def read_nobody(model: Model, document: Any) -> Nobody:
    """Read a file about a region; that it fits the model is looked at here, too."""
    value = _table(document, "the file", NOBODY_KEYS)
    _header(value, "the file", "surefoot-nobody", 1)
    features = [_label(v, "features") for v in _list(value["features"], "features")]
    if len(features) != len(model.features) or not all(map(same, features, model.features)):
        raise UnreadableError("the file names other features than the model")
    region = _list(value["region"], "the region", len(features))
    declared = _table(value["declared"], "declared", ("features", "rows", "limits"))
    actions = _list(declared["features"], "the declared features", len(features))
    numbers, categories = model.numbers, [(j, model.values[j] or []) for j in model.categories]
    ends = [_table(region[j], "a number", ("low", "high", "values")) for j in numbers]
    among = [_table(region[j], "a category", ("among",))["among"] for j, _ in categories]
    moves = [_table(actions[j], "what a category may do", ("moves",))["moves"] for j, _ in categories]
    holds = value["holds"]
    return Nobody(
        models=[_text(v, "models") for v in _list(value["models"], "models")],
        features=features,
        values=model.values,
        target=_label(value["target"], "the target"),
        holds=None if holds is None else _flag(holds, "holds"),
        persons=Persons(
            tuple(_wide(v["low"], "an end") for v in ends),
            tuple(_wide(v["high"], "an end") for v in ends),
            tuple(_listed(v["values"], "the values of a number") for v in ends),
            tuple(tuple(_codes(some, own)) for some, (_, own) in zip(among, categories, strict=True)),
            {},
        ),
        moves=[_move(actions[j]) for j in numbers],
        choices=[
            [_codes(some, own) for some in _list(table, "the moves", len(own))]
            for table, (_, own) in zip(moves, categories, strict=True)
        ],
        sums=[_sum(v, len(numbers)) for v in _list(declared["rows"], "the declared rows")],
        counts=[_count_of(v, len(features)) for v in _list(declared["limits"], "the declared limits")],
        requirements=[_asked(v) for v in _list(value["requirements"], "the requirements")],
        tree=value["tree"],
        proofs=_list(value["proofs"], "the proofs"),
    )


def _codes(value: Any, known: list[Any]) -> list[int]:
    """The places of a category's values, which are listed in the model's order."""
    listed = _list(value, "the values of a category")
    found = [next((k for k, own in enumerate(known) if same(v, own)), -1) for v in listed]
    if min(found, default=0) < 0 or not _increasing(found):
        raise UnreadableError("the values of a category are not those of the model, in its order")
    return found


def _listed(value: Any, where: str) -> tuple[float, ...] | str | None:
    """The values that a number has: a list, WHOLE, or None for any."""
    if value is None or value == WHOLE:
        return None if value is None else WHOLE
    return tuple(_number(v, where) for v in _list(value, where))


def _move(value: Any) -> Move:
    where = "what a number may do"
    entry = _table(value, where, Move._fields)
    if entry["may"] not in ("change", "stay", "rise", "fall"):
        raise UnreadableError(f"{where} is not known: {shown(entry['may'])}")
    pairs = [[_wide(v, where) for v in _list(entry[key], where, 2)] for key in ("bounds", "ends")]
    sizes = [None if entry[key] is None else _number(entry[key], where) for key in ("most", "least", "step")]
    if not all(size is None or size > 0 for size in sizes):
        raise UnreadableError(f"{where}: most, least and step are positive")
    bounds, ends = ((low, high) for low, high in pairs)
    most, least, step = sizes
    return Move(entry["may"], bounds, ends, most, least, step, _listed(entry["values"], where))


def _sum(value: Any, n: int) -> Sum:
    where = "a declared row"
    entry = _table(value, where, Sum._fields)
    later, now = (_numbers(entry[key], where, n) for key in ("coefficients", "now"))
    low, high = (_wide(entry[key], where) for key in ("low", "high"))
    return Sum(later, now, low, high, _text(entry["name"], where))


def _count_of(value: Any, n: int) -> Count:
    entry, where = _table(value, "a declared limit", ("count", "features")), "the features of a limit"
    return Count(_whole(entry["count"], where), _ascending(entry["features"], where, n))


def nobody_claims(models: Sequence[Model], document: dict[str, Any]) -> Iterator[Claim]:
    """The claims of a file about a region; with a person who has a way, those of the explanation as well."""
    if not models:
        raise UnreadableError("there is no model")
    said = read_nobody(models[0], document)
    last = model_claim(_with_refits(models, said.models), said.models)
    yield last
    if last.verdict != HOLDS:
        return
    last = region_claim(models[0], said)
    yield last
    if said.holds is None:
        yield Claim("nobody", NOT_PROVED, "the file does not say whether somebody has a way")
    elif said.holds and last.verdict == HOLDS:
        yield nobody_claim(models, said)
    elif last.verdict == HOLDS:
        yield somebody_claim(models, said, document["explanation"])
        yield from _claims(models, document["explanation"])


def region_claim(model: Model, said: Nobody) -> Claim:
    """There are persons in the region, and the target is a class that is required."""
    persons = said.persons
    usual = [entry for entry in said.requirements if entry.decides and same(entry.label, said.target)]
    fault = _first(
        (model.position(said.target) < 0, "the model has no such class"),
        (persons.is_empty, "there are no persons in the region"),
        (any(math.isinf(low) and low > 0 for low in persons.low), "an end excludes every number"),
        (any(math.isinf(high) and high < 0 for high in persons.high), "an end excludes every number"),
        (not usual, "the target itself is not required"),
        (not all(row.low <= row.high for row in said.sums), "a lower end exceeds its upper end"),
    )
    return _claim("region", fault, "it fits the model")


def nobody_claim(models: Sequence[Model], said: Nobody) -> Claim:
    """The tree covers all persons and what they may become, and each of its leaves has a proof."""
    try:
        cases = [_refuting_case(models, said, entry) for entry in said.proofs]
        n_parts = covered_persons(said, cases)
    except FaultError as fault:
        return Claim("nobody", NOT_PROVED, str(fault))
    said_so = f"in {_count(n_parts, 'part')}, by {_count(len(cases), 'proof')}"
    return Claim("nobody", HOLDS, f"proven for all persons of the region, {said_so}")


def _refuting_case(models: Sequence[Model], said: Nobody, value: Any) -> Case:
    """A question that has no answer in its whole domain, proven."""
    entry = _table(value, "a proof", ("question", "certificate"))
    read_question(entry["question"])
    case = read_case(models, _infeasible(entry["question"], entry["certificate"]))
    asked = case.question
    fault = _first(
        (asked.models != said.models, "it is about other models"),
        (not same(asked.target, said.target), "it is about another target"),
        (repr(asked.requirements) != repr(said.requirements), "it requires something else"),
        (asked.radius != 0, "it asks for a safety margin"),
        (bool(asked.eithers or asked.limits), "it restricts changes from one person's values"),
    )
    if fault:
        raise FaultError(f"a proof does not go with the file: {fault}")
    for check in (question_claim, geometry_claim, lower_bound_claim):
        claim = check(case)
        assert claim is not None  # as there is a bound to prove
        if claim.verdict != HOLDS:
            raise FaultError(f"a proof does not hold: {claim.name}: {claim.reason}")
    return case


def _infeasible(question: dict[str, Any], certificate: Any) -> dict[str, Any]:
    """The explanation file that says no more than that a question has no answer."""
    marks = [v["threshold"] for v in question["requirements"] if v["kind"] == "odds"]
    return dict.fromkeys(KEYS) | {
        "format": "surefoot-explanation",
        "version": 5,
        "question": question,
        "certificate": certificate,
        "status": "infeasible",
        "message": SENTENCES["infeasible"],
        "factual": {"names": question["features"], "values": question["factual"]},
        **{key: question[key] for key in ("factual_class", "target")},
        **{key: question["distance"][key] for key in ("norm", "whitening")},
        "budget": question["ball"]["budget"],
        "threshold": marks[0] if marks else None,
        "model": question["models"][0] if question["models"] else "",
        "lower_bound": "inf",
        **dict.fromkeys(("method", "backend", "advice"), ""),
        **{key: [] for key in ("iterations", "conflict", "cautions")},
        "early_stop": False,
    }


def covered_persons(said: Nobody, cases: Sequence[Case]) -> int:
    """How many parts the tree has; raises `FaultError` where one of them is not covered by its proof."""
    found, stack = 0, [(said.tree, said.persons, 0)]
    while stack:
        node, persons, depth = stack.pop()
        spend(len(said.features) ** 2)
        if depth > DEPTH:
            raise FaultError("the tree is too deep")
        if node is None:
            if not said.is_vacuous(persons):
                raise FaultError("a part of the region has no proof")
        elif type(node) is int:
            case = cases[_index(node, "the tree", len(cases))]
            fault = "" if said.is_vacuous(persons) else _reach_fault(said, persons, case.question)
            if fault:
                raise FaultError(f"the proof {node} leaves something out: {fault}")
            found += 1
        else:
            stack += [(child, part, depth + 1) for child, part in split_persons(said, persons, node)]
    return found


def split_persons(said: Nobody, persons: Persons, node: Any) -> list[tuple[Any, Persons]]:
    """The parts of a split, which together hold all persons and all that they may become."""
    kind = next((key for key in ("at", "changes") if type(node) is dict and key in node), "")
    if kind == "at":
        node = _table(node, "the tree", ("at", "below", "above"))
        feature, a, b = _list(node["at"], "the tree", 3)
        k = _place_in(said.numbers, feature)
        a, b = _number(a, "the tree"), _number(b, "the tree")
        if not _touch(a, b, persons.values[k]):
            raise FaultError("a split leaves persons out")
        below = persons._replace(high=_with(persons.high, k, min(persons.high[k], a)))
        above = persons._replace(low=_with(persons.low, k, max(persons.low[k], b)))
        return [(node["below"], below), (node["above"], above)]
    if kind == "changes":
        feature = _index(node["changes"], "the tree", len(said.features))
        sides = NUMBER_SIDES if said.values[feature] is None else CATEGORY_SIDES
        node = _table(node, "the tree", ("changes", *sides))
        return [(node[side], persons._replace(sides={**persons.sides, feature: side})) for side in sides]
    raise FaultError("a node of the tree is of no known kind")


def _touch(a: float, b: float, values: Any) -> bool:
    """Whether no person's number lies strictly between a and b."""
    if type(values) is tuple:
        return a <= b and not any(a < v < b for v in values)
    return a == b or (values == WHOLE and a.is_integer() and b == a + 1)


def _place_in(features: list[int], feature: Any) -> int:
    """The number of a feature among some."""
    if type(feature) is not int or feature not in features:
        raise FaultError("a split names a feature that is not of its kind")
    return features.index(feature)


def _with(values: tuple[Any, ...], k: int, value: Any) -> tuple[Any, ...]:
    return (*values[:k], value, *values[k + 1 :])


def _reach_fault(said: Nobody, persons: Persons, asked: Question) -> str:
    """What these persons may become that a question's domain leaves out; "" if nothing."""
    for k, j in enumerate(said.numbers):
        reach = said.number_reach(persons, k)
        assert reach is not None
        if not (asked.low[k] <= reach.low and reach.high <= asked.high[k]):
            return f"its domain is narrower than what {shown(said.features[j])} may be"
        if k in asked.sets and not _within_set(asked, k, reach):
            return f"its values are not all that {shown(said.features[j])} may have"
    for k, j in enumerate(said.categories):
        if any(asked.choices[k].prices[code] == math.inf for code in said.category_reach(persons, k)):
            return f"it excludes a value that {shown(said.features[j])} may have"
    for row in asked.rows:
        if not any(_implies(said, persons, one, row) for one in said.sums):
            return f"its rule {shown(row.name)} does not follow from what is declared"
    return ""


def _within_set(asked: Question, k: int, reach: Reach) -> bool:
    """Whether a question's set of values holds all those of a reach."""
    if type(reach.values) is tuple:
        spend(len(reach.values))
        return all(asked.allows(k, v) for v in reach.values)
    return reach.values == WHOLE and asked.sets[k] is None


def _implies(said: Nobody, persons: Persons, one: Sum, row: Row) -> bool:
    """Whether a row holds for whatever these persons may become by a declared sum."""
    low, high = said.sum_ends(persons, one)
    return one.coefficients == row.coefficients and row.low <= low and high <= row.high


def somebody_claim(models: Sequence[Model], said: Nobody, explanation: Any) -> Claim:
    """The person of the explanation is in the region, and has a way to the target."""
    case, persons = read_case(models, explanation), said.persons
    asked = case.question
    parts = zip(map(persons.stays, range(len(persons.low))), asked.factual, strict=True)
    fault = _first(
        (case.counterfactual is None, "the explanation has no counterfactual"),
        (not same(asked.target, said.target), "the explanation is about another target"),
        (
            not all(is_in(part, x) for part, x in parts),
            "the person is not in the region",
        ),
        (
            not all(code in codes for code, codes in zip(asked.state, persons.codes, strict=True)),
            "the person is not in the region",
        ),
    )
    fault = fault or _not_as_said(said, case) or _undeclared(said, case)
    return _claim("nobody", fault, "somebody of the region has a way, or has the target already")


def _not_as_said(said: Nobody, case: Case) -> str:
    """What the file requires and the explanation does not; "" if nothing."""
    asked = case.question
    if asked.models != said.models:
        return "the explanation is about other models"
    for entry in said.requirements:
        alike = (one for one in asked.requirements if repr(one._replace(mark=entry.mark)) == repr(entry))
        if not any(one.mark >= entry.mark for one in alike):
            return "the explanation requires less than the file"
    return ""


def _undeclared(said: Nobody, case: Case) -> str:
    """What the person of an explanation does that the file does not allow; "" if nothing."""
    x, y, codes, state = case.question.factual, case.counterfactual, case.question.state, case.state
    assert y is not None
    one = Persons(tuple(x), tuple(x), (None,) * len(x), tuple((code,) for code in codes), {})
    numbers = [k for k in range(len(x)) if x[k] != y[k]]
    categories = [k for k in range(len(codes)) if codes[k] != state[k]]
    changed = [*(said.numbers[k] for k in numbers), *(said.categories[k] for k in categories)]
    out = [said.numbers[k] for k in numbers if not _leads(said.moves[k], one, k, y[k])]
    out += [said.categories[k] for k in categories if state[k] not in said.choices[k][codes[k]]]
    beyond = any(sum(j in count.features for j in changed) > count.most for count in said.counts)
    return _first(
        (bool(out), f"{', '.join(shown(said.features[j]) for j in out)} may not change so"),
        (not all(_adds_up(said, one, row, y) for row in said.sums), "the change breaks a declared rule"),
        (beyond, "too many features change"),
    )


def _leads(move: Move, one: Persons, k: int, y: float) -> bool:
    """Whether number k of one person may become another one."""
    reach = moved(move, one, k, "up" if y > one.low[k] else "down")
    return reach is not None and is_in(reach, y)


def _adds_up(said: Nobody, one: Persons, row: Sum, y: Sequence[float]) -> bool:
    """Whether one person obeys a declared rule, up to what explanations leave to rounding."""
    low, high = said.sum_ends(one, row)
    terms = [Fraction(a) * Fraction(v) for a, v in zip(row.coefficients, y, strict=True)]
    value, room = sum(terms, Fraction(0)), AGREE * sum(map(abs, terms), Fraction(0))
    return low <= value + room and value - room <= high


def is_in(reach: Reach, x: float) -> bool:
    """Whether a number is one of a reach."""
    if type(reach.values) is tuple:
        return x in reach.values
    return reach.low <= x <= reach.high and (reach.values is None or x.is_integer())


def nobody_words(models: Sequence[Any], document: Any) -> list[str]:
    """What a file about a region claims, a line for each thing."""
    known = models[0] if isinstance(models[0], Model) else read_model(models[0])
    said, names = read_nobody(known, document), [shown(name) for name in known.features]
    persons, lines = said.persons, [f"Target: {shown(said.target)}"]
    for k, j in enumerate(said.numbers):
        day = _day_text if j in known.dates else _short
        ends = f"{day(persons.low[k])} to {day(persons.high[k])}"
        listed = persons.values[k]
        among = "" if listed is None else f", {WHOLE if listed == WHOLE else f'one of {shown(list(listed))}'}"
        lines.append(f"Persons: {names[j]} from {ends}{among}")
        lines.append(f"Changes: {names[j]} {_move_words(said.moves[k])}")
    for k, j in enumerate(said.categories):
        values = [shown(v) for v in known.values[j] or []]
        lines.append(f"Persons: {names[j]} is {' or '.join(values[code] for code in persons.codes[k])}")
        for code in persons.codes[k]:
            goes = ", ".join(values[to] for to in said.choices[k][code] if to != code) or "nothing else"
            lines.append(f"Changes: {names[j]} may go from {values[code]} to {goes}")
    numbers = [names[j] for j in said.numbers]
    for row in said.sums:
        both = Row([*row.coefficients, *row.now], row.low, row.high, row.name)
        text = _row_words(both, [*numbers, *(f"{name} today" for name in numbers)])
        lines.append(f"Rule {shown(row.name)}: {text}")
    for most, features in said.counts:
        lines += [f"At most {most} of these change: {', '.join(names[j] for j in features)}"]
    for entry in said.requirements:
        against = "" if entry.rival is None else f" against {shown(entry.rival)}"
        kind = "probability" if entry.kind == "odds" else entry.kind  # thresholds of odds are probabilities
        what = f"{kind} of {shown(entry.label)}{against} at least {entry.mark:g}"
        lines.append(f"Required by model {entry.model}: {what}")
    return lines


def _short(value: float) -> str:
    return f"{value:g}" if float(f"{value:g}") == value else repr(value)


def _move_words(move: Move) -> str:
    """What a number may do."""
    said = {"change": "may rise and fall", "stay": "stays", "rise": "may rise", "fall": "may fall"}[move.may]
    if move.may == "stay":
        return said
    parts = [said]
    if any(map(math.isfinite, move.bounds)):
        parts.append(f"within {_short(move.bounds[0])} to {_short(move.bounds[1])}")
    if any(map(math.isfinite, move.ends)):
        parts.append(f"within {_short(move.ends[0])} to {_short(move.ends[1])} or as far as it is today")
    sizes = {"by at most": move.most, "by at least": move.least, "in steps of": move.step}
    parts += [f"{words} {_short(size)}" for words, size in sizes.items() if size is not None]
    if move.values is not None:
        listed = "whole numbers" if move.values == WHOLE else shown(list(move.values))
        parts.append(f"to {listed} only")
    return ", ".join(parts)


# ----- Words ----------------------------------------------------------------------------------------------


def words(models: Sequence[Any], explanation: Any) -> list[str]:
    """The question of an explanation, a line for each thing that was asked."""
    if is_about_region(explanation):
        return nobody_words(models, explanation)
    answer = read_answer(explanation)
    if answer["status"] == "invalid":
        return ["The request was refused."]
    case = read_case(models, explanation)
    asked, names = case.question, [shown(name) for name in case.question.names]
    row = _row_of(asked, asked.factual, asked.state)
    values = ", ".join(
        f"{shown(name)} {_day_text(value) if j in case.model.dates else shown(value)}"
        for j, (name, value) in enumerate(zip(asked.features, row, strict=True))
    )
    return [
        f"Factual: {values}; decided {shown(asked.factual_class)}",
        f"Target: {shown(asked.target)}, {_reached_words(case)}",
        f"Distance: {_distance_words(asked, names)}; allowed gap {asked.gap:g}",
        _ball_words(asked, names),
        *_domain_words(case, names),
        *_more_words(case),
        *_other_words(case, models, explanation),
        f"Made by {shown(answer['method'])} {shown(answer['backend'])} (this claims nothing)",
    ]


def _day_text(days: float) -> str:
    """A number of days since 1970-01-01 as a date, if it is one."""
    try:
        return (date(1970, 1, 1) + timedelta(int(days))).isoformat() if days == int(days) else shown(days)
    except OverflowError:
        return shown(days)


def _other_words(case: Case, models: Sequence[Any], explanation: dict[str, Any]) -> list[str]:
    """The other targets, each with what is asked of it beyond what is asked of the first."""
    lines, names = [], [shown(name) for name in case.question.names]
    known = [model if isinstance(model, Model) else read_model(model) for model in models]
    said = {*_domain_words(case, names), *_more_words(case)}
    for other in explanation.get("others", ()):
        posed = other_case(known, explanation, other)
        more = [line for line in (*_domain_words(posed, names), *_more_words(posed)) if line not in said]
        also = f"; {'; '.join(more)}" if more else ""
        lines.append(f"Or the target: {shown(posed.question.target)}, {_reached_words(posed)}{also}")
    return lines


def _reached_words(case: Case) -> str:
    among_all = any(map(partial(_usual_share, case), case.shares))
    if among_all:
        return f"with a probability of at least {_asked_for(case):g} among all classes"
    return f"against each rival by at least {_asked_for(case):g}"


def _usual_share(case: Case, share: Asked) -> bool:
    """Whether it is the explained model's probability of the target that reaches the threshold, robustly."""
    usual = (share.model, share.mark, share.robust) == (0, _asked_for(case), True)
    return usual and same(share.label, case.question.target)


def _distance_words(asked: Question, names: list[str]) -> str:
    if asked.prices is None:
        return f"norm {asked.norm:g} with {_matrix_words(asked, names)}"
    each = (f"{name} +{up:g} -{down:g}" for name, (up, down) in zip(names, asked.prices, strict=True))
    return f"norm {asked.norm:g} of prices for one standard deviation up and down: {', '.join(each)}"


def _matrix_words(asked: Question, names: list[str]) -> str:
    """The name of the whitening, or the matrix itself: nothing else says how far a change is."""
    if asked.matrix is None:
        return f"{asked.whitening} whitening"
    rows = (
        " ".join(f"{v:+g} {name}" for v, name in zip(row, names, strict=True) if v) for row in asked.matrix
    )
    return f"the given coordinates {'; '.join(rows)}"


def _asked_for(case: Case) -> float:
    """The threshold, or the value of the decision where there are no probabilities."""
    marks = (entry.mark for entry in case.question.requirements if entry.decides)
    stated: float = case.answer["threshold"]
    return stated if case.model.has_probability else next(marks, math.nan)


def _ball_words(asked: Question, names: list[str]) -> str:
    exact = ", ".join(name for j, name in enumerate(names) if j not in asked.perturbed)
    landing = f"; landing exactly: {exact}" if exact else ""
    if isinstance(asked.budget, dict):
        ends = (f"{names[j]} -{asked.budget[j][0]:g} to +{asked.budget[j][1]:g}" for j in asked.perturbed)
        return f"Budget: {', '.join(ends)}{landing}"
    measured = f" with {_matrix_words(asked, names)}" if asked.matrix is not None else ""
    return f"Budget: {asked.budget:g} in the norm {asked.ball_norm:g}{measured}{landing}"


def _domain_words(case: Case, names: list[str]) -> list[str]:
    """Everything that keeps a feature from moving as the model's data do."""
    asked, lines = case.question, []
    bottom, top = case.model.ranges
    ends = zip(names, asked.low, asked.high, asked.factual, bottom, top, strict=False)
    for name, low, high, now, least, most in ends:
        if low == high:
            lines.append(f"Kept: {name}" if low == now else f"Set: {name} to {low:g}")
        elif low > least or high < most:
            lines.append(f"Bounded: {name} to {low:g} .. {high:g} (the data had {least:g} .. {most:g})")
    lines += [f"Row {shown(row.name)}: {_row_words(row, names)}" for row in asked.rows]
    for either in asked.eithers:
        ways = [_way_words(asked, way, names) for way in either.ways]
        lines.append(f"Either {shown(either.name)}: {'; or '.join(ways) or 'no way'}")
    for limit in asked.limits:
        named = [names[j] for j in limit.numbers]
        named += [shown(asked.features[asked.choices[k].feature]) for k in limit.categories]
        lines.append(f"At most {limit.most} of these change: {', '.join(named)}")
    for j, values in asked.sets.items():
        listed = "a whole number" if values is None else f"one of {shown(values)}"
        lines.append(f"Values: {names[j]} is {listed}, or stays")
    for choice in asked.choices:
        prices = zip(choice.values, choice.prices, strict=True)
        moves = [
            f"{shown(v)} at {p:g}" for k, (v, p) in enumerate(prices) if k != choice.today and p < math.inf
        ]
        now = f"{shown(asked.features[choice.feature])} is {shown(choice.values[choice.today])}"
        lines.append(f"Category: {now}; may become {', '.join(moves) or 'nothing else'}")
    return lines


def _row_words(row: Row, names: list[str]) -> str:
    """A sum and what it must be, without ends that say nothing."""
    total = ""
    for a, name in zip(row.coefficients, names, strict=True):
        if a:
            sign = ("-", " - ") if a < 0 else ("", " + ")
            size = "" if abs(a) == 1 else f"{abs(a):g} "
            total += f"{sign[bool(total)]}{size}{name}"
    total = total or "0"
    if row.low == row.high:
        return f"{total} = {row.low:g}"
    if row.low == -math.inf:
        return f"{total} <= {row.high:g}"
    return f"{total} >= {row.low:g}" if row.high == math.inf else f"{row.low:g} <= {total} <= {row.high:g}"


def _way_words(asked: Question, way: Way, names: list[str]) -> str:
    said = [_row_words(row, names) for row in way.rows]
    for k, codes in way.values.items():
        choice = asked.choices[k]
        values = " or ".join(shown(choice.values[v]) for v in codes) or "nothing"
        said.append(f"{shown(asked.features[choice.feature])} is {values}")
    return " and ".join(said) or "anything"


def _more_words(case: Case) -> list[str]:
    """The requirements beyond those that every question has."""
    lines = []
    for entry in case.question.requirements:
        by = f"by model {entry.model}{'' if entry.robust else ', at the point alone'}"
        if entry.kind == "away":
            place = ", ".join(f"{v:g}" for v in entry.point)
            lines.append(f"Required: numbers at least {entry.mark:g} away from {place}")
        elif entry.kind == "probability":
            if not _usual_share(case, entry):
                chance = f"probability of {shown(entry.label)} among all classes at least {entry.mark:g}"
                lines.append(f"Required {by}: {chance}")
        elif entry.kind == "density":
            lines.append(f"Required {by}: log density of {shown(entry.label)} at least {entry.mark:g}")
        elif not _usual(case, entry):
            lines.append(f"Required {by}: {shown(entry.label)} against {shown(entry.rival)} {entry.mark:g}")
    return lines


# ----- The command ----------------------------------------------------------------------------------------


def main(arguments: Sequence[str] | None = None) -> int:
    """Check the files that are named; see the top of this file."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    name = "--time-limit"
    try:
        time_limit = _time_limit(given)
        if len(given) < 2 or given[0].startswith("-"):
            usage = "exact.py MODEL.json EXPLANATION.json [MORE_MODELS.json ...] [--time-limit SECONDS]"
            _write(sys.stderr, f"usage: {usage}")
            return 0 if given[:1] in (["-h"], ["--help"]) else 2
        name = path = given.pop(1)
        models = [read_model(loaded(name := other)) for other in given]
        return _report(models, loaded(name := path), time_limit)
    except UnreadableError as error:
        _write(sys.stderr, f"{name if name.isprintable() else ascii(name)}: {error}")
        return 2
    except BrokenPipeError:  # whoever read along went away: the rest goes nowhere, also what exit flushes
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 2


def _time_limit(given: list[str]) -> float:
    """Take the time limit out of the arguments; infinite without one."""
    if "--time-limit" not in given:
        return math.inf
    place = given.index("--time-limit")
    _, *value = given[place : place + 2]
    del given[place : place + 2]
    try:
        seconds = float(*value)
    except ValueError:
        seconds = math.nan
    if not seconds > 0:
        raise UnreadableError("must be a positive number of seconds")
    return seconds


def loaded(path: str) -> Any:
    """The JSON of a file."""
    try:
        with open(path, encoding="utf-8") as file:
            return parsed(file.read())
    except OSError as error:
        raise UnreadableError(f"cannot be read ({error.strerror})") from None
    except UnicodeDecodeError:
        raise UnreadableError("is not UTF-8 text") from None


def _report(models: list[Model], document: Any, time_limit: float) -> int:
    """Print questions and claims, each explanation within the time limit; 0 if all hold."""
    explanations = document if type(document) is list else [document]
    if not explanations:
        raise UnreadableError("holds no explanation")
    every = True
    for number, explanation in enumerate(explanations):
        claims, lines = check(models, explanation, time_limit), words(models, explanation)
        row = explanation.get("row")
        title = [f"--- number {number}{'' if row is None else f', row {shown(row)}'}"]
        for line in (title if type(document) is list else []) + lines:
            _write(sys.stdout, line)
        for claim in claims:
            _write(sys.stdout, f"{claim.verdict:<10} {claim.name}: {claim.reason}")
            every &= claim.verdict == HOLDS or (claim.name, claim.verdict) == ("refusal", NOT_PROVED)
    sys.stdout.flush()
    return 0 if every else 1


def _write(stream: Any, line: str) -> None:
    """One line, whatever the terminal can show."""
    encoding = getattr(stream, "encoding", None) or "utf-8"
    stream.write(line.encode(encoding, "backslashreplace").decode(encoding) + "\n")


if __name__ == "__main__":
    sys.exit(main())
