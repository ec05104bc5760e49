"""Prices in another currency: tolerances of a search are meant for standard deviations that cost about one.

Rates of exchange are powers of two, so that nothing is rounded.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from surefoot.problem.answer import Answer, Round
from surefoot.problem.family import Family
from surefoot.problem.geometry import Metric
from surefoot.problem.robust_problem import RobustProblem
from surefoot.status import Status

ABOUT_ONE = 3  # powers of two
ABSOLUTE_GAP = 1e-6  # in any currency: an optimum may be so far from its bound

Posed = TypeVar("Posed", RobustProblem, Family)
Node = dict[str, Any]


def exchanged_search(posed: Posed, gap: float, search: Callable[[Posed], Answer]) -> Answer:
    """Search with prices about one, and give the answer in the prices of the problem.

    Parameters
    ----------
    posed : RobustProblem or Family
    gap : float
    search : callable
        Called again with the prices as they are where the gap of an answer near distance zero is too wide.
    """
    rate = _rate(posed.metric)
    if rate == 1:
        return search(posed)
    answer = _in_prices(search(_exchanged(posed, rate)), rate, posed.metric.norm)
    if answer.status is Status.OPTIMAL and answer.point is not None:
        way = posed.metric.distance(answer.point, posed.factual)
        distance = way + (posed.price(answer.state) if isinstance(posed, Family) else 0.0)
        if distance - answer.lower_bound > max(gap * distance, ABSOLUTE_GAP):
            return search(posed)
    return answer


def _rate(metric: Metric) -> float:
    """About what a change by one standard deviation costs; 1 if that is not far from 1."""
    if metric.prices is None:
        return 1.0
    power = round(float(np.log2(metric.prices.min(axis=1)).mean()))
    return 1.0 if abs(power) <= ABOUT_ONE else 2.0**power


def _exchanged(posed: Posed, rate: float) -> Posed:
    """The same problem with all prices divided by a rate."""
    prices = posed.metric.prices
    assert prices is not None
    changed: dict[str, Any] = {"metric": replace(posed.metric, prices=prices / rate)}
    if isinstance(posed, Family):
        changed["choices"] = tuple(
            replace(choice, prices=tuple(price / rate for price in choice.prices)) for choice in posed.choices
        )
    return replace(posed, **changed)


def _in_prices(answer: Answer, rate: float, norm: float) -> Answer:
    """An answer with every distance multiplied by a rate."""
    held = answer.certificate
    if held is not None:
        states = held["states"]
        if states is not None:
            proofs = [{**e, "proof": _proof(e["proof"], rate, norm)} for e in states["proofs"]]
            states = {**states, "trades": [t / rate for t in states["trades"]], "proofs": proofs}
        held = {**held, "bound": _proof(held["bound"], rate, norm), "states": states}
    rounds = tuple(_round(r, rate) for r in answer.rounds)
    return replace(answer, lower_bound=rate * answer.lower_bound, rounds=rounds, certificate=held)


def _round(r: Round, rate: float) -> Round:
    return replace(r, distance=rate * r.distance, lower_bound=rate * r.lower_bound)


def _proof(proof: dict[str, Any] | None, rate: float, norm: float) -> dict[str, Any] | None:
    if proof is None:
        return None
    return {**proof, "tree": _node(proof["tree"], rate, 1.0 if norm == np.inf else rate**-2)}


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
