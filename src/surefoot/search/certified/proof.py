"""From multipliers to the leaves and trees of a certificate (its format: docs/certificate.md)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular
from scipy.linalg.lapack import dpotrf

from surefoot.search.certified.fork import Fork
from surefoot.search.certified.interior import Multipliers
from surefoot.search.certified.lagrangian import Lagrangian
from surefoot.search.certified.leaf import ONE, Affine, Leaf
from surefoot.search.certified.levels import at_level
from surefoot.search.certified.region import Cut, Piece, Region, Scenario
from surefoot.search.certified.rows import lagrangian
from surefoot.search.certified.space import Space, terms
from surefoot.search.certified.units import in_units

Array = NDArray[np.float64]
T = TypeVar("T")

ROUND_UP = 1 + 1e-12  # constants that must not be too small are rounded up by this
STIFF = 10.0  # weight of an equation, relative to the least that will do
FIRM = 1e6  # likewise relative to the other multipliers, where rounding hides what will do
SPARE = 0.25  # share of what a refutation leaves over that may be spent on making it strict


class Ends(NamedTuple):
    """A region with the ends of its directions: what the names of their distances depend on."""

    space: Space
    region: Region
    low: Array | list[float]
    high: Array | list[float]


def leaf_of(
    part: Piece, form: Lagrangian, found: Multipliers, bound: float, scenarios: Sequence[Scenario]
) -> Leaf:
    """The entries that refute a piece up to ``bound``, in all coordinates.

    The multipliers were found with fixed features and corners eliminated. A certificate keeps corners:
    (end - u_k) times the slope of the margins' sum along u_k, both not negative, replaces u_k by its end.
    """
    if part.empty:
        return _empty_leaf(part, bound)
    space, region, x = part.space, part.region, found.x
    cross_end = form.n_norm + form.n_cross
    uneven = space.prices is not None and not space.prices.even
    lower = bound / part.level if uneven and part.rays else 1.0  # such rays move with the level
    given = iter(x[cross_end : form.margins.start].tolist())  # the weights in the order of the rows
    grain = cache(partial(_grain, part))
    stated = _weighed(part.stated.tolist(), given)
    products = [
        (w / (grain(k, False) * grain(k, True)), side(part, k, False), side(part, k, True)) for k, w in stated
    ]
    products += [
        (w, affine(-low * lower, y), affine(high * lower, -y))
        for (y, (low, high)), w in _weighed(part.ray_ends, given)
    ]
    sides = cache(lambda k, above: side(part, k, above))  # each is in many pairs
    products += [
        (w / (grain(i, above_i) * grain(j, above_j)), sides(i, above_i), sides(j, above_j))
        for (i, above_i, j, above_j), w in _weighed(part.pairs, given)
    ]
    products += [
        (w / grain(k, above), side(part, k, above), affine(part.level, -np.array(y)))
        for (k, above, y), w in _weighed(part.wedges, given)
    ]
    weights = x[form.margins]
    norm = _norm(part, x[: form.n_norm])
    if part.corners:
        products += _corner_products(part, scenarios, weights)
        norm[list(part.corners)] += SPARE * abs(found.value) / (len(part.corners) * max(bound, 1e-300) ** 2)
    products += _equations(part, found, bound, scenarios)
    cross = [
        (i, j, float(w)) for (i, j), w in zip(space.cross, x[form.n_norm : cross_end], strict=False) if w
    ]
    margins = {s: float(w) for s, w in zip(region.scenarios, weights, strict=True) if w > 0}
    between = [(w / grain(k, False) ** 2, k, *ends) for (k, ends), w in _weighed(part.gaps, given)]
    return Leaf(bound, norm.tolist(), cross, products, margins, between, part.scales)


def _weighed(rows: Iterable[T], weights: Iterator[float]) -> Iterator[tuple[T, float]]:
    """Each row with its weight, where that is positive."""
    return ((row, w) for row in rows if (w := next(weights)) > 0)


def _grain(part: Piece, k: int, above: bool) -> float:
    """What the Lagrangian divides the distance from an end by."""
    return float(part.space.grains[k]) if math.isfinite(part.high[k] if above else part.low[k]) else 1.0


def side(part: Piece | Ends, k: int, above: bool) -> Affine:
    """Below or above an end: high - d_k'u or d_k'u - low, by what sets the end: a cut, domain or level."""
    space = part.space
    end = part.high[k] if above else part.low[k]
    if not math.isfinite(end):
        return ONE
    named = _set_on_the_way(part.region, k, above, end)
    if named is not None:
        return named
    if end == (space.high[k] if above else space.low[k]):
        return [*space.functions[k], "high" if above else "low"]
    return ["a", abs(float(end)) * ROUND_UP, space.terms(k, above)]


def affine(constant: float, slopes: Array) -> Affine:
    """Constant + slopes'u."""
    return ["a", float(constant), terms(slopes)]


def _norm(part: Piece, weights: Array) -> Array:
    """The norm's weights in all coordinates."""
    if not np.isfinite(part.level):
        return np.zeros(0)
    if part.space.norm != np.inf:
        return np.array(weights)
    norm = np.zeros(part.space.n)
    norm[part.free] = weights
    return norm


def _corner_products(
    part: Piece, scenarios: Sequence[Scenario], weights: Array
) -> list[tuple[float, Affine, Affine]]:
    """(end - u_k) ell_k for every corner, of the weighted sum of the margins."""
    margins = part.space.margins
    Q = np.sum([w * margins[r].matrix for w, (r, _) in zip(weights, scenarios, strict=True)], axis=0)
    q = np.sum([w * margins[r].gradient(v) for w, (r, v) in zip(weights, scenarios, strict=True)], axis=0)
    found = []
    for k, constant, slopes in slopes_to_corners(Q, q, part.corners):
        up = part.corners[k] == part.corner_ends[k][1]
        sign = 1.0 if up else -1.0
        found.append((1.0, _coordinate_side(part, k, up), affine(sign * constant, sign * slopes)))
    return found


def slopes_to_corners(Q: Array, q: Array, corners: Mapping[int, float]) -> Iterator[tuple[int, float, Array]]:
    """Constant and slopes of ell_k with G(u) + (end - u_k) ell_k(u) = G(u with u_k = end), one by one.

    With G(u) = u'Qu + q'u + ..., ell_k is its slope halfway between u_k and the end.
    """
    Q, q = Q.copy(), q.copy()
    for k, end in corners.items():
        slopes = 2 * Q[k]
        slopes[k] = Q[k, k]
        yield k, float(q[k] + Q[k, k] * end), slopes
        q += 2 * Q[k] * end
        Q[k] = Q[:, k] = 0.0


def _coordinate_side(part: Piece, k: int, above: bool) -> Affine:
    """The distance end - u_k or u_k - end of a coordinate that the piece holds in a corner."""
    end = part.corner_ends[k][1 if above else 0]
    named = _set_on_the_way(part.region, k, above, end)
    return ["a", abs(end), [[k, -1.0 if above else 1.0]]] if named is None else named


def _set_on_the_way(region: Region, k: int, above: bool, end: float) -> Affine | None:
    """The distance from an end that a step on the way to the region sets."""
    for number, step in enumerate(region.path):
        name = step.sets(k, above, end)
        if name is not None:
            return ["c", number, *name]
    return None


def _equations(
    part: Piece, found: Multipliers, bound: float, scenarios: Sequence[Scenario]
) -> list[tuple[float, Affine, Affine]]:
    """Rows with one value, which the search eliminates, as -w (row - value)^2 with w large enough."""
    space, rows = part.space, part.equations
    if not rows:
        return []
    level = part.level if np.isfinite(part.level) else 1.0
    scales = space.reach[rows] * max(level, 1e-9)
    size = _stiffness(part, found, bound, scenarios, scales)
    if size is None:
        size = FIRM * float(np.abs(found.x).max(initial=0.0)) * max(1.0, level**2)
    return [
        (size / float(scale) ** 2, side(part, k, False), side(part, k, True))
        for k, scale in zip(rows, scales, strict=True)
    ]


def _stiffness(
    part: Piece, found: Multipliers, bound: float, scenarios: Sequence[Scenario], scales: Array
) -> float | None:
    """The weight of equations in units of their scales that keeps minus the sum definite beside them.

    With S minus the sum in (z, 1) before the equations are eliminated, N a basis of where they hold and Q
    one of the rest: w Q'R'RQ > Q'SN inv(N'SN) N'SQ - Q'SQ. None where rounding leaves no weight.
    """
    loose, rows = part.with_equations(), part.space.directions[part.equations]
    R = np.column_stack([loose.reduced(rows), rows @ loose.origin - part.low[part.equations]])
    R /= scales[:, None]
    S = -at_level(part, lagrangian(loose, scenarios), bound).matrix(found.x)
    _, sizes, axes = np.linalg.svd(R)
    rank = int((sizes > 1e-9 * max(float(sizes.max()), 1.0)).sum())
    Q, N = axes[:rank].T, axes[rank:].T
    factor, failed = dpotrf(N.T @ S @ N, lower=1)
    if failed:
        return None
    mixed = solve_triangular(factor, N.T @ S @ Q, lower=True)
    least = np.linalg.eigvalsh(mixed.T @ mixed - Q.T @ S @ Q)[-1] if rank else 0.0
    return STIFF * max(float(least), float(np.abs(S).max())) / float(sizes[:rank].min(initial=1.0)) ** 2


def _empty_leaf(part: Piece, bound: float) -> Leaf:
    """Ends that exclude each other: (d'u - low) + (high - d'u) is below zero."""
    space = part.space
    excess = (part.low - part.high) / np.maximum(space.reach, 1e-300)
    k = int(excess.argmax())
    finite = np.isfinite(part.level)
    n_norm = (space.n if space.norm == np.inf else 1) if finite else 0
    share = SPARE * float(part.low[k] - part.high[k]) / max(n_norm * part.level**2, 1e-300) if finite else 0.0
    products = [(1.0, side(part, k, above), ONE) for above in (False, True)]
    return Leaf(bound, [share] * n_norm, [], products, {})


def proof_of(
    space: Space,
    tree: Region,
    scenarios: Sequence[Scenario],
    perturbation: Callable[[Array], Array] | None = None,
) -> dict[str, Any]:
    """The tree with its leaves, and the scenarios and directions they refer to.

    ``perturbation`` turns a scenario's shift of u into features.
    """
    used = sorted({s for region in tree.leaves() if region.leaf for s in region.leaf.margins})
    place = {s: -1 if not scenarios[s][1].any() else i for i, s in enumerate(used)}
    shifts = [
        [0.0] * space.n if perturbation is None else perturbation(scenarios[s][1]).tolist() for s in used
    ]
    proof = {
        "directions": [space.directions[k].tolist() for k in _listed(space)]
        if _cuts_listed(tree, space)
        else [],
        "scenarios": shifts,
        "tree": _node(space, tree, place, scenarios),
    }
    return without_prices(space, proof)


def without_prices(space: Space, proof: dict[str, Any]) -> dict[str, Any]:
    """The proof in the units of the certificate, which has deviations where a search has prices."""
    if space.prices is None:
        return proof
    largest = space.norm == np.inf
    return in_units(proof, 1 / space.prices.deviations, space.prices.scale**2 if largest else None)


def _listed(space: Space) -> list[int]:
    return [k for k, function in enumerate(space.functions) if function[0] in ("w", "d")]


def _cuts_listed(region: Region, space: Space) -> bool:
    own = isinstance(region.cut, Cut) and space.functions[region.cut.direction][0] in ("w", "d")
    return own or any(_cuts_listed(child, space) for child in region.children)


def _node(
    space: Space, region: Region, place: Mapping[int, int], scenarios: Sequence[Scenario]
) -> dict[str, Any] | None:
    if region.cut is not None and region.children:
        nodes = [_node(space, child, place, scenarios) for child in region.children]
        if isinstance(region.cut, Fork):
            return {"either": region.cut.number, "ways": nodes}
        return {**_cut(space, region.cut), "below": nodes[0], "above": nodes[1]}
    if region.leaf is None:
        return None
    return leaf_node(space, region.leaf, place, scenarios, region.rates(space))


def leaf_node(
    space: Space,
    leaf: Leaf,
    place: Mapping[int, int],
    scenarios: Sequence[Scenario],
    rates: Array | None = None,
) -> dict[str, Any]:
    """A leaf as it is written; ``place``: the number of each scenario there.

    ``rates``: what coordinates cost where it is used, if that may be more than where it was proved.
    """
    return {
        "level": leaf.level,
        "norm": leaf.norm,
        "cross": [list(entry) for entry in leaf.cross_at(rates)],
        "products": [list(entry) for entry in leaf.products],
        "requirements": [[w, scenarios[s][0], place[s]] for s, w in leaf.margins.items()],
        "between": [[w, *_values(space, k, a, b)] for w, k, a, b in leaf.between],
    }


def _cut(space: Space, cut: Cut) -> dict[str, Any]:
    """A cut by the values of its function: of a feature the value itself, not its change."""
    k, (kind, number) = cut.direction, space.functions[cut.direction]
    if k in space.sets and cut.below < cut.above:
        return {"choice": _values(space, k, cut.below, cut.above)}
    return {"cut": [["d" if kind == "w" else kind, number], cut.below + _at_factual(space, k)]}


def _values(space: Space, k: int, low: float, high: float) -> list[Any]:
    """The feature of a set direction, and its two allowed values to the last digit."""
    values, offset = space.sets[k]
    return [values.feature, values.nearest(offset + low), values.nearest(offset + high)]


def _at_factual(space: Space, k: int) -> float:
    """The value at the factual of a function that counts from zero: features and rows."""
    kind, number = space.functions[k]
    if kind not in ("x", "r"):
        return 0.0
    assert space.problem is not None
    x0 = space.problem.factual
    return float(x0[number] if kind == "x" else space.problem.domain.rows[number].coefficients @ x0)
