"""Whitening and norms; metric and ball, which say how far a change is and how far it may miss."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from numbers import Real
from typing import Any, Literal, Self, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import linalg

from surefoot.exceptions import DataError

Array = NDArray[np.float64]
WhiteningKind = Literal["cholesky", "dag", "zca"]
MatrixKind = Literal["cholesky", "dag", "zca", "given"]  # the last: whatever somebody gave

NORMS = (1.0, 2.0, np.inf)

# Entries of a given matrix are zero or between these: their squares must not overflow. Were the upper one ten
# times larger, nothing would happen; beyond 1e150, infinite numbers.
TINY, HUGE = 1e-100, 1e100
# How much shorter than the longest the shortest step of one unit may come out in a given matrix. Were it ten
# times larger, matrices would be refused with which answers are still proven; ten times smaller, rounding in
# the search leaves more and more of them unproven.
SINGULAR = 1e-10


def checked_norm(p: float) -> float:
    """Return p as a float if it is 1, 2 or infinity, else raise."""
    if p not in NORMS:
        raise DataError(f"norm must be 1, 2 or numpy.inf, not {p!r}")
    return float(p)


def lp_norm(u: ArrayLike, p: float) -> float | Array:
    """||u||_p of one vector (a float) or of each row of a matrix (an array)."""
    x, p = np.asarray(u, dtype=float), checked_norm(p)
    if p == 2:  # numpy.linalg.norm does all this in three times the time
        values = np.sqrt((x * x).sum(axis=-1))
    else:
        values = np.abs(x).max(axis=-1, initial=0.0) if p == np.inf else np.abs(x).sum(axis=-1)
    return float(values) if x.ndim == 1 else np.asarray(values)


def dual_exponent(p: float) -> float:
    """The q with 1/p + 1/q = 1: |u'v| <= ||u||_p ||v||_q."""
    return {1.0: np.inf, 2.0: 2.0, np.inf: 1.0}[checked_norm(p)]


def inverted(matrix: Array) -> Array:
    """The inverse of a matrix from features to coordinates.

    Units of features may lie many orders apart, which is no lack of precision: powers of two even them out.
    """
    sizes = np.abs(matrix).max(axis=0, initial=0.0)
    units = 2.0 ** np.round(np.log2(sizes, out=np.zeros(len(sizes)), where=sizes > 0))
    return np.asarray(linalg.inv(matrix / units) / units[:, None])


@dataclass(frozen=True, eq=False)
class Whitening:
    """A matrix M with M'M = inv(Sigma), so that d(x, x') = ||M (x - x')||_p; or any other M.

    M is unique up to a rotation, which changes nothing for p = 2 and everything for p = 1 and
    p = infinity; hence the choice has a name and is kept. A matrix of one's own has the name ``"given"``.

    Parameters
    ----------
    matrix : array of shape (n, n)
        M itself.
    kind : {"cholesky", "dag", "zca", "given"}
        How it was made.

    Examples
    --------
    >>> whitening = Whitening.from_covariance([[4.0, 0.0], [0.0, 1.0]])
    >>> whitening.distance([0.0, 0.0], [2.0, 3.0], p=np.inf)
    3.0
    """

    matrix: Array
    kind: MatrixKind = "cholesky"

    def __post_init__(self) -> None:
        matrix = np.array(self.matrix, dtype=float)
        if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or not np.isfinite(matrix).all():
            raise DataError(f"a whitening matrix must be square and finite; got shape {matrix.shape}")
        if self.kind not in get_args(MatrixKind):
            raise DataError(f"whitening must be one of {get_args(MatrixKind)}, not {self.kind!r}")
        matrix.setflags(write=False)
        object.__setattr__(self, "matrix", matrix)

    @classmethod
    def from_precision(cls, precision: ArrayLike, kind: WhiteningKind = "cholesky") -> Whitening:
        """From inv(Sigma): M = L' with LL' = inv(Sigma) (the paper's), or its symmetric root (zca)."""
        P = np.asarray(precision, dtype=float)
        if kind == "cholesky":
            try:
                return cls(linalg.cholesky(P, lower=True).T, kind)
            except linalg.LinAlgError:
                raise DataError("the covariance is not positive definite; raise var_smoothing") from None
        if kind == "zca":
            eigenvalues, vectors = linalg.eigh(P)
            if eigenvalues[0] <= 0:
                raise DataError("the covariance is not positive definite; raise var_smoothing")
            return cls((vectors * np.sqrt(eigenvalues)) @ vectors.T, kind)
        raise DataError(f"whitening {kind!r} cannot be made from a covariance; use 'cholesky' or 'zca'")

    @classmethod
    def from_covariance(cls, covariance: ArrayLike, kind: WhiteningKind = "cholesky") -> Whitening:
        """From Sigma."""
        try:
            precision = linalg.inv(np.asarray(covariance, dtype=float))
        except linalg.LinAlgError:
            raise DataError("the covariance is not positive definite; raise var_smoothing") from None
        return cls.from_precision(precision, kind)

    @cached_property
    def inverse(self) -> Array:
        """inv(M): columns are the directions in feature space of the whitened coordinates."""
        return inverted(self.matrix)

    def apply(self, difference: ArrayLike) -> Array:
        """Whiten a difference of points (or each row of a matrix of differences)."""
        return np.asarray(np.asarray(difference, dtype=float) @ self.matrix.T)

    def undo(self, u: ArrayLike) -> Array:
        """The difference of points whose whitened form is u (or each row of u)."""
        return np.asarray(linalg.solve(self.matrix, np.asarray(u, dtype=float).T).T)

    def distance(self, x: ArrayLike, other: ArrayLike, p: float) -> float | Array:
        """Mahalanobis-lp distance between points."""
        return lp_norm(self.apply(np.asarray(x, dtype=float) - np.asarray(other, dtype=float)), p)


def checked_matrix(values: Any, n: int) -> Array:
    """A matrix that measures changes of n numbers: n x n, finite and not singular."""
    try:
        given = np.asarray(values)
    except ValueError:  # rows of different lengths
        given = np.array(None)
    if given.dtype.kind not in "iuf":
        raise DataError("the matrix of the distance must consist of numbers, in rows of the same length")
    matrix = np.array(given, dtype=float)
    if matrix.shape != (n, n):
        raise DataError(
            f"the matrix of the distance must be {n} x {n}, a column for each number; its shape is "
            f"{matrix.shape}"
        )
    if not np.isfinite(matrix).all():
        i, j = np.argwhere(~np.isfinite(matrix))[0]
        raise DataError(f"the matrix of the distance must be finite; row {i}, column {j} is {matrix[i, j]}")
    sizes = np.abs(matrix[matrix != 0])
    if (sizes < TINY).any() or (sizes > HUGE).any():
        raise DataError(
            f"entries of the matrix of the distance must be 0 or from {TINY:g} to {HUGE:g} in size"
        )
    sizes = np.abs(matrix).max(axis=0)  # units may lie orders apart, which makes nothing singular
    steps = linalg.svdvals(matrix / np.where(sizes > 0, sizes, 1.0))
    if not steps[-1] > SINGULAR * steps[0]:
        raise DataError("the matrix of the distance is singular: some change would have no length")
    matrix.setflags(write=False)
    return matrix


def rotated(root: ArrayLike, kind: MatrixKind, order: Sequence[int] | None = None) -> Array:
    """The square M of the named kind with M'M = root'root, without ever forming that product.

    Parameters
    ----------
    root : array of shape (m, k), m >= k
    kind : {"cholesky", "dag", "zca", "given"}
        Upper triangular; lower triangular when the columns are put in ``order``; symmetric; the rows that are
        not zero where they are square, and else upper triangular.
    order : sequence of int, optional
        For ``"dag"``: the columns, parents before children.
    """
    R = np.asarray(root, dtype=float)
    if kind == "dag" and order is None:
        raise DataError("whitening 'dag' needs the order of the graph")
    if kind == "zca":
        _, singular, directions = linalg.svd(R, full_matrices=False)
        root = np.asarray((directions.T * singular) @ directions)
        return np.asarray(0.5 * (root + root.T))  # symmetric to the last digit
    seen = R[R.any(axis=1)]
    if kind == "given" and len(seen) == R.shape[1]:
        return seen
    columns = np.asarray(order)[::-1] if kind == "dag" else np.arange(R.shape[1])
    triangle = np.asarray(linalg.qr(R[:, columns], mode="economic")[1])
    M = np.empty_like(triangle)
    M[np.ix_(columns, columns)] = triangle * np.where(np.diag(triangle) < 0, -1.0, 1.0)[:, None]
    return M


@dataclass(frozen=True, eq=False)
class Metric:
    """The distance ||D (x - y)||_p; D is the whitening of the factual's class (the paper's choice), or given.

    With prices D is diagonal, one over each feature's standard deviation in that class, and every entry of
    D (x - y) is multiplied by the price of its direction: then p = 1 is the total price.

    Parameters
    ----------
    whitening : Whitening
        Of the factual's class, with the name of how it was made.
    norm : {1, 2, inf}
        The p.
    prices : array of shape (n, 2), optional
        Of a rise and of a fall of each feature by one standard deviation; above zero.
    deviations : array of shape (n,), optional
        Standard deviation of each feature, where the matrix is given and does not say it.
    """

    whitening: Whitening
    norm: float
    prices: Array | None = None
    deviations: Array | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "norm", checked_norm(self.norm))
        if self.prices is None:
            return
        prices = np.array(self.prices, dtype=float)
        if prices.shape != (len(self.whitening.matrix), 2):
            raise DataError("there must be two prices for each feature: of a rise and of a fall")
        if not (np.isfinite(prices) & (prices > 0)).all():
            raise DataError("prices of features must be finite numbers above 0")
        prices.setflags(write=False)
        object.__setattr__(self, "prices", prices)

    @property
    def is_cost(self) -> bool:
        """Whether changes are measured by their prices."""
        return self.prices is not None

    @cached_property
    def matrix(self) -> Array:
        """D."""
        return self.whitening.matrix if self.prices is None else np.diag(1 / self.unit)

    @cached_property
    def inverse(self) -> Array:
        """inv(D): its columns are what one unit of each coordinate means in features."""
        return self.whitening.inverse if self.prices is None else np.diag(self.unit)

    @cached_property
    def unit(self) -> Array:
        """Standard deviation of each feature in the factual's class."""
        if self.deviations is not None:
            return self.deviations
        return np.asarray(lp_norm(self.whitening.inverse, 2))

    @cached_property
    def up(self) -> Array:
        """The price of a rise of each feature by one of its own units; with prices only."""
        assert self.prices is not None
        return np.asarray(self.prices[:, 0] / self.unit)

    @cached_property
    def down(self) -> Array:
        """The price of a fall of each feature by one of its own units; with prices only."""
        assert self.prices is not None
        return np.asarray(self.prices[:, 1] / self.unit)

    def distance(self, x: ArrayLike, other: ArrayLike) -> float:
        """||D (x - other)||_p, each entry times its price where there are prices."""
        return float(self.distances(x, other))

    def distances(self, x: ArrayLike, other: ArrayLike) -> float | Array:
        """The same of a point (a float), or of each row of a matrix of points (an array)."""
        if self.prices is None:
            return self.whitening.distance(x, other, self.norm)
        d = np.asarray(x, dtype=float) - np.asarray(other, dtype=float)
        return lp_norm(np.maximum(self.up * d, -self.down * d), self.norm)


@dataclass(frozen=True, eq=False)
class Ball:
    """Errors of carrying out a change: {r c + E w : ||w||_q <= r}, with r the radius.

    Features that land exactly have no part in it. For the paper's ball c = 0 and E = inv(M); for a
    budget by feature E is diagonal and c the middle between what may be missed downwards and upwards.

    Parameters
    ----------
    basis : array of shape (n, k)
        E, with rows of zeros for features that land exactly.
    norm : {1, 2, inf}
        The q.
    radius : float
        The paper's budget gamma; 1 for a budget by feature.
    centre : array of shape (n,), optional
        c. Default: zero.
    is_box : bool
        Whether it is a budget by feature.
    """

    basis: Array
    norm: float
    radius: float
    centre: Array = None  # type: ignore[assignment]  # replaced by zeros when left out
    is_box: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "norm", checked_norm(self.norm))
        if not isinstance(self.radius, Real) or not 0 <= self.radius < np.inf:
            raise DataError(f"the budget must be a finite number >= 0, not {self.radius!r}")
        object.__setattr__(self, "radius", float(self.radius))
        basis = np.array(self.basis, dtype=float)
        centre = np.zeros(len(basis)) if self.centre is None else np.array(self.centre, dtype=float)
        if basis.ndim != 2 or centre.shape != basis.shape[:1]:
            raise DataError(f"basis and centre of a ball differ: {basis.shape} and {centre.shape}")
        if not (np.isfinite(basis).all() and np.isfinite(centre).all()):
            raise DataError("basis and centre of a ball must be finite")
        if centre.any() and self.norm != np.inf:
            raise DataError("only a ball of the norm infinity can have a centre")
        for name, value in (("basis", basis), ("centre", centre)):
            value.setflags(write=False)
            object.__setattr__(self, name, value)

    @classmethod
    def whitened(
        cls,
        whitening: Whitening,
        norm: float,
        radius: float,
        exact: Iterable[int] = (),
        order: Sequence[int] | None = None,
    ) -> Ball:
        """The paper's {d : ||M d||_q <= radius}; of the other features given those that land exactly.

        Given exact features the ball is that of the conditional distribution: the block of inv(Sigma)
        that belongs to the others, whitened by the same rule. For q = 2 this is the slice of the paper's
        ball; for q = 1 and infinity a ball of the same kind, neither inside the slice nor around it.
        """
        n = len(whitening.matrix)
        kept = set(exact)
        if not kept <= set(range(n)):
            raise DataError(f"features that land exactly must be numbers from 0 to {n - 1}: {sorted(kept)}")
        noisy = [j for j in range(n) if j not in kept]
        if not kept:
            return cls(whitening.inverse, norm, radius)._with_matrix(whitening.matrix)
        places = None if order is None else [noisy.index(j) for j in order if j not in kept]
        basis = np.zeros((n, len(noisy)))
        if not noisy:
            return cls(basis, norm, radius)
        N = rotated(whitening.matrix[:, noisy], whitening.kind, places)
        basis[noisy] = inverted(N)
        return cls(basis, norm, radius)._with_matrix(N)

    @classmethod
    def box(cls, down: ArrayLike, up: ArrayLike) -> Ball:
        """All d with -down_j <= d_j <= up_j, as the ball of radius 1."""
        below, above = np.asarray(down, dtype=float), np.asarray(up, dtype=float)
        if not (np.isfinite(below) & np.isfinite(above) & (below >= 0) & (above >= 0)).all():
            raise DataError("a budget by feature needs finite numbers >= 0")
        half = 0.5 * (below + above)
        return cls(np.diag(half)[:, half > 0], np.inf, 1.0, 0.5 * (above - below), is_box=True)

    @cached_property
    def noisy(self) -> NDArray[np.bool_]:
        """Which features do not land exactly."""
        return np.asarray(np.abs(self.basis).any(axis=1))

    @cached_property
    def matrix(self) -> Array:
        """N over the features that do not land exactly: N E = I."""
        return np.asarray(linalg.inv(self.basis[self.noisy])) if self.noisy.any() else np.zeros((0, 0))

    def _with_matrix(self, matrix: Array) -> Self:
        """Keep an N that is known: inverted twice, its zeros would be rounding errors."""
        self.__dict__["matrix"] = matrix
        return self

    def in_units(self, unit: float) -> Ball:
        """The same errors with a radius that is counted in a unit; not for a budget by feature."""
        return Ball(self.basis * unit, self.norm, self.radius / unit)._with_matrix(self.matrix / unit)

    @property
    def is_point(self) -> bool:
        """Whether every change lands exactly."""
        return self.radius == 0 or self.basis.shape[1] == 0

    def perturbation(self, w: ArrayLike, radius: float | None = None) -> Array:
        """The perturbation r c + E w."""
        r = self.radius if radius is None else radius
        return np.asarray(r * self.centre + np.asarray(w, dtype=float) @ self.basis.T)

    def size(self, perturbation: ArrayLike) -> float | Array:
        """The least radius of a ball of this shape that holds a perturbation (or each row)."""
        d = np.asarray(perturbation, dtype=float)
        inside = d[..., self.noisy] @ self.matrix.T
        if self.centre.any():
            middle = self.matrix @ self.centre[self.noisy]
            found = np.maximum(_share(inside, 1 + middle), _share(-inside, 1 - middle)).max(axis=-1)
        else:
            found = np.asarray(lp_norm(inside, self.norm)) if inside.shape[-1] else np.zeros(d.shape[:-1])
        outside = np.abs(np.where(self.noisy, 0.0, d)).any(axis=-1)
        values = np.where(outside, np.inf, found)
        return float(values) if d.ndim == 1 else values

    def contains(self, perturbation: ArrayLike, tol: float = 1e-9) -> bool | NDArray[np.bool_]:
        """Whether perturbations lie in the ball, up to a relative tolerance."""
        return self.size(perturbation) <= self.radius * (1 + tol)

    def feature_extent(self) -> Array:
        """Largest absolute perturbation of each feature."""
        reach = np.asarray(lp_norm(self.basis, dual_exponent(self.norm))) if self.basis.shape[1] else 0.0
        return np.asarray(self.radius * (np.abs(self.centre) + reach))

    def vertices(self) -> Array:
        """Corners of the ball (q = infinity: 2**k, q = 1: 2k), one per row."""
        k = self.basis.shape[1]
        if not k:
            return np.zeros((1, len(self.basis)))
        if self.norm == 2:
            raise DataError("a ball of the 2-norm has no vertices")
        if self.norm == np.inf and k > 20:
            raise DataError(f"a cube in {k} dimensions has too many vertices to list")
        corners = np.vstack([np.eye(k), -np.eye(k)]) if self.norm == 1 else _signs(k)
        return self.perturbation(self.radius * corners)

    def sample(self, n_samples: int, random_state: int | np.random.Generator | None = None) -> Array:
        """Draw perturbations uniformly from the ball, one per row."""
        rng = np.random.default_rng(random_state)
        k = self.basis.shape[1]
        if self.norm == np.inf or not k:
            return self.perturbation(self.radius * rng.uniform(-1, 1, (n_samples, k)))
        # A direction with density exp(-|u|^p) is uniform on the sphere; radius U^(1/k) fills the ball.
        u = rng.standard_normal((n_samples, k)) if self.norm == 2 else rng.laplace(size=(n_samples, k))
        u /= np.linalg.norm(u, ord=self.norm, axis=1, keepdims=True)
        return self.perturbation(self.radius * u * rng.uniform(size=(n_samples, 1)) ** (1 / k))


def _share(part: Array, room: Array) -> Array:
    """Part / room; nothing that is not positive takes up any room, and no room may be a rounding error."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(part <= 0, 0.0, part / np.maximum(room, 0.0))


def _signs(n: int) -> Array:
    return np.array(list(product((-1.0, 1.0), repeat=n)))
