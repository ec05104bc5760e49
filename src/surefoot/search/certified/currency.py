"""Prices and given matrices in other units: tolerances of a search are for deviations that count about one.

Rates of exchange are powers of two, so that nothing is rounded.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from surefoot.problem.answer import Answer, Round
from surefoot.problem.family import Family
from surefoot.problem.geometry import Ball, Metric, Whitening
from surefoot.problem.robust_problem import RobustProblem
from surefoot.search.certified.units import in_units
from surefoot.status import Status

ABOUT_ONE = 3  # powers of two
ABSOLUTE_GAP = 1e-6  # in any currency: an optimum may be so far from its bound

Array = NDArray[np.float64]
Posed = TypeVar("Posed", RobustProblem, Family)
Node = dict[str, Any]


class Rates(NamedTuple):
    """How many units of the search one unit of the problem is, of each thing.

    Parameters
    ----------
    distance : float
    coordinates : float
        Of the metric; prices leave them as they are.
    ball : float
        Of errors.
    """

    distance: float = 1.0
    coordinates: float = 1.0
    ball: float = 1.0


def exchanged_search(posed: Posed, gap: float, search: Callable[[Posed], Answer]) -> Answer:
    """Search with standard deviations that count about one, and give the answer in the problem's units.

    Parameters
    ----------
    posed : RobustProblem or Family
    gap : float
    search : callable
        Called again with the units as they are where the gap of an answer near distance zero is too wide.
    """
    rates = _rates(posed.metric, posed.ball)
    if rates == Rates():
        return search(posed)
    answer = _in_own_units(search(_exchanged(posed, rates)), rates, posed)
    if answer.status is Status.OPTIMAL and answer.point is not None:
        way = posed.metric.distance(answer.point, posed.factual)
        distance = way + (posed.price(answer.state) if isinstance(posed, Family) else 0.0)
        if distance - answer.lower_bound > max(gap * distance, ABSOLUTE_GAP):
            return search(posed)
    return answer


def exchanged(posed: Posed) -> Posed:
    """The same problem with standard deviations that count about one."""
    rates = _rates(posed.metric, posed.ball)
    return posed if rates == Rates() else _exchanged(posed, rates)


def _rates(metric: Metric, ball: Ball) -> Rates:
    """About what one standard deviation counts: by prices, or by a given matrix."""
    given = _power_of_matrix(metric) if metric.whitening.kind == "given" else 1.0
    errors = 1.0 if ball.is_box else given
    if metric.prices is None:
        return Rates(given, given, errors)
    return Rates(_about(np.log2(metric.prices.min(axis=1))), 1.0, errors)


def _power_of_matrix(metric: Metric) -> float:
    return _about(np.log2(np.linalg.norm(metric.whitening.matrix, axis=0) * metric.unit))


def _about(powers: Any) -> float:
    """The power of two in the middle; 1 if that is not far from 1."""
    power = round(float(np.mean(powers)))
    return 1.0 if abs(power) <= ABOUT_ONE else 2.0**power


def _exchanged(posed: Posed, rates: Rates) -> Posed:
    """The same problem with everything divided by its rate."""
    metric = posed.metric
    if metric.prices is not None:
        metric = replace(metric, prices=metric.prices / rates.distance)
    else:
        metric = replace(metric, whitening=Whitening(metric.whitening.matrix / rates.coordinates, "given"))
    changed: dict[str, Any] = {"metric": metric, "ball": _resized(posed.ball, rates.ball)}
    if isinstance(posed, Family):
        rate = rates.distance
        changed["choices"] = tuple(
            replace(choice, prices=tuple(price / rate for price in choice.prices)) for choice in posed.choices
        )
    return replace(posed, **changed)


def _resized(ball: Ball, rate: float) -> Ball:
    """The same errors, measured in larger units."""
    return ball if rate == 1 else ball.in_units(rate)


def _in_own_units(answer: Answer, rates: Rates, posed: RobustProblem | Family) -> Answer:
    """An answer with every distance, coordinate and error multiplied by its rate."""
    held, rate = answer.certificate, rates.distance
    rounds = tuple(_round(r, rate) for r in answer.rounds)
    found = replace(
        answer, lower_bound=rate * answer.lower_bound, radius=rates.ball * answer.radius, rounds=rounds
    )
    return found if held is None else replace(found, certificate=_certificate(held, rates, posed))


def _certificate(held: dict[str, Any], rates: Rates, posed: RobustProblem | Family) -> dict[str, Any]:
    """The certificate in the units of the problem."""
    metric, states, robust = posed.metric, held["states"], held["robustness"]
    factors = np.full(len(metric.matrix), rates.coordinates)
    # What prices bound is a share of the level for p = infinity, and a square of it otherwise.
    weight = 1.0 if metric.is_cost and metric.norm == np.inf else rates.distance**-2
    if states is not None:
        proofs = [
            {**e, "proof": _proof(e["proof"], factors, rates.distance, weight)} for e in states["proofs"]
        ]
        states = {**states, "trades": [t / rates.distance for t in states["trades"]], "proofs": proofs}
    if robust is not None and rates.ball != 1:
        errors = np.full(posed.ball.basis.shape[1], rates.ball)
        held_by = [_proof(proof, errors, rates.ball, rates.ball**-2) for proof in robust["proofs"]]
        robust = {**robust, "radius": rates.ball * robust["radius"], "proofs": held_by}
    return {
        **held,
        "metric": metric.matrix.tolist(),
        "ball": None if held["ball"] is None else posed.ball.matrix.tolist(),
        "bound": _proof(held["bound"], factors, rates.distance, weight),
        "states": states,
        "robustness": robust,
    }


def _round(r: Round, rate: float) -> Round:
    return replace(r, distance=rate * r.distance, lower_bound=rate * r.lower_bound)


def _proof(proof: dict[str, Any] | None, factors: Array, rate: float, weight: float) -> dict[str, Any] | None:
    """A proof with coordinates multiplied by factors, levels by a rate and weights of the norm by another."""
    if proof is None:
        return None
    if (factors != 1).any():
        proof = in_units(proof, factors, None)
    return {**proof, "tree": _node(proof["tree"], rate, weight)}


def _node(node: Node | None, rate: float, weight: float) -> Node | None:
    """A node with its levels multiplied by a rate, and the weights of its norm by another."""
    if node is None:
        return None
    if "level" in node:
        return {
            **node,
            "level": rate * node["level"],
            "norm": [weight * w for w in node["norm"]],
            "cross": [[i, j, weight * w] for i, j, w in node["cross"]],
        }
    found = dict(node)
    for name in {"below", "above", "no", "yes"} & node.keys():
        found[name] = _node(node[name], rate, weight)
    if "ways" in node:
        found["ways"] = [_node(way, rate, weight) for way in node["ways"]]
    return found
