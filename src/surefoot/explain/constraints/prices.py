"""Prices: what a change of a number or of a category costs."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from surefoot.exceptions import ProblemError
from surefoot.explain.constraints.arithmetic import check_size, is_number
from surefoot.formats import exact, first_names

PRICE = 1.0  # of a change of category: as much as one standard deviation


def check_cost(cost: Any) -> None:
    """Refuse what is no price, no pair of prices and no dict of prices by value."""
    if isinstance(cost, list | tuple) and len(cost) != 2:
        raise ProblemError(f"cost must be a number, a pair (up, down) or a dict, not {cost!r:.80}")
    for price in _listed(cost):
        if not (is_number(price) and 0 <= price < math.inf):
            raise ProblemError(f"a price must be a finite number of at least 0, not {price!r:.80}")


def check_prices(cost: Any, name: Any, is_category: bool) -> None:
    """Refuse prices that a feature cannot have."""
    if is_category and isinstance(cost, list | tuple):
        raise ProblemError(f"{name!r} is a category; its price is one number, or a dict by value")
    if not is_category and isinstance(cost, Mapping):
        raise ProblemError(f"{name!r} is a number; its price is one number, or a pair (up, down)")
    if not is_category and any(price == 0 for price in _listed(cost)):
        raise ProblemError(f"the price of a number must be above 0; that of {name!r} is not")
    for price in _listed(cost):
        check_size(float(price), f"a price of {name!r}")


def up_and_down(cost: Any) -> tuple[float, float]:
    """What a standard deviation of a number costs, up and down."""
    up, down = cost if isinstance(cost, list | tuple) else (cost, cost)
    return (1.0 if up is None else float(up), 1.0 if down is None else float(down))


def price_words(cost: Any, is_category: bool) -> str:
    """What a change costs: of a category, or of a number by one standard deviation."""
    if isinstance(cost, Mapping):
        return "costs " + first_names([f"{exact(price)} to become {value}" for value, price in cost.items()])
    if is_category:
        return f"costs {exact(cost)} to change"
    up, down = cost if isinstance(cost, list | tuple) else (cost, cost)
    if up == down:
        return f"costs {exact(up)} for each standard deviation"
    return f"costs {exact(up)} up and {exact(down)} down for each standard deviation"


def _listed(cost: Any) -> list[Any]:
    """All prices that are named."""
    if isinstance(cost, Mapping):
        cost = [*cost.values()]
    return [price for price in (cost if isinstance(cost, list | tuple) else [cost]) if price is not None]
