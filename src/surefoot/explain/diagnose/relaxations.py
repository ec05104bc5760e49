"""Wishes one by one: what each of them says, and what is left when it is given up."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from surefoot.explain.constraints.actions import Action
from surefoot.explain.constraints.conditions import features_of
from surefoot.explain.constraints.naming import position
from surefoot.explain.constraints.numeric_domain import SAID
from surefoot.explain.constraints.wishes import Wishes
from surefoot.formats import exact

OPENED = {"stay": "change", "rise": "fall", "fall": "rise"}  # what becomes possible without the wish


@dataclass(frozen=True)
class Part:
    """One wish that can be given up.

    Parameters
    ----------
    kind : str
        A field of an action or of `Wishes`, or ``"low bound"`` and ``"high bound"``.
    place : int
        Which of them: the position of the feature, or of the rule.
    wish : str
        In words.
    lifted : str
        In words, when it is given up.
    proposed : bool, default=True
        Whether a message may propose to give it up: not where it guards a protected feature.
    """

    kind: str
    place: int
    wish: str
    lifted: str
    proposed: bool = True


def parts(wishes: Wishes, factual: ArrayLike = ()) -> tuple[Part, ...]:
    """All wishes that can be given up; those that say most come last.

    Parameters
    ----------
    wishes : Wishes
    factual : array-like of shape (n,), optional
        Today's numbers: an end that they are beyond allows them, and its words say so.

    Examples
    --------
    >>> [part.wish for part in parts(Wishes.by_name(["age", "income"], immutable=["age"]))]
    ["'age' must not change"]
    """
    today = dict(zip(wishes.numbers, np.asarray(factual, dtype=float).tolist(), strict=False))
    features = (part for i in range(len(wishes.names)) for part in _of_feature(wishes, i, today.get(i)))
    found = [*features, *_of_bounds(wishes), *_over_several(wishes)]
    order = ("unsaid", *FIELDS, "low bound", "high bound", "may", "links", "limits", "when", "rules")
    return tuple(sorted(found, key=lambda part: order.index(part.kind)))


FIELDS = ("whole", "values", "step", "most", "low", "high", "moves")


def _of_feature(wishes: Wishes, i: int, today: float | None) -> Iterator[Part]:
    """What the action of a feature says, and whether it stays whole without a word."""
    action, name = wishes.actions[i], repr(wishes.names[i])
    if i in wishes.numbers and action.whole is None and wishes.is_whole(i):
        wish = f"{name} stays a whole number, as in the training data"
        yield Part("unsaid", i, wish, f"{name} may take any number", not action.protected)
    for kind, wish, lifted in _said(action, math.nan if today is None else today):
        yield Part(kind, i, f"{name} {wish}", f"{name} may {lifted}", not action.protected)


def _said(action: Action, today: float) -> Iterator[tuple[str, str, str]]:
    """What an action says: field, wish and what becomes possible without it."""
    if action.may != "change":
        yield "may", SAID[action.may], OPENED[action.may]
    if action.low is not None and action.low > -math.inf:
        stays = ", or as it is" if today < action.low else ""
        yield "low", f"is at least {exact(action.low)}{stays}", f"be less than {exact(action.low)}"
    if action.high is not None and action.high < math.inf:
        stays = ", or as it is" if today > action.high else ""
        yield "high", f"is at most {exact(action.high)}{stays}", f"be more than {exact(action.high)}"
    if action.most is not None:
        yield "most", f"changes by at most {exact(action.most)}", f"change by more than {exact(action.most)}"
    if action.step is not None:
        step = f"steps of {exact(action.step)}"
        yield "step", f"changes in {step}", f"change by other amounts than {step}"
    if action.whole:
        yield "whole", "takes whole numbers only", "take any number"
    if action.values is not None:
        yield "values", f"takes only the values {_listed(action.values)}", "take other values"
    if action.moves is not None:
        yield "moves", "moves only where its action says", "move elsewhere"


def _of_bounds(wishes: Wishes) -> Iterator[Part]:
    for i in wishes.bounded():
        name, open_to = repr(wishes.names[i]), not wishes.actions[i].protected
        low, high = exact(wishes.low[i]), exact(wishes.high[i])
        if wishes.low[i] > -math.inf:
            yield Part("low bound", i, f"{name} is at least {low}", f"{name} may be less than {low}", open_to)
        if wishes.high[i] < math.inf:
            yield Part(
                "high bound", i, f"{name} is at most {high}", f"{name} may be more than {high}", open_to
            )


def _over_several(wishes: Wishes) -> Iterator[Part]:
    """Rules, links, if-then rules and limits."""
    names = wishes.names
    for k, link in enumerate(wishes.links):
        concerned = [position(name, names, "links") for name in link[:2]]
        yield Part("links", k, f"{link.name!r}", f"{link.name!r} is lifted", _is_open(wishes, concerned))
    for k, limit in enumerate(wishes.limits):
        who = "features" if limit.features is None else f"of {', '.join(map(str, limit.features))}"
        concerned = [position(name, names, "at_most_of") for name in limit.features or ()]
        lifted = f"more than {limit.most} {who} may change"
        yield Part("limits", k, limit.name, lifted, _is_open(wishes, concerned))
    for k, one in enumerate(wishes.when):
        lifted = f"the rule {one.name!r} is lifted"
        yield Part("when", k, f"{one.name!r}", lifted, _is_open(wishes, features_of(one, names)))
    for k, rule in enumerate(wishes.rules):
        concerned = [position(name, names, "rules") for name in (*rule.coefficients, *rule.now)]
        said = f"the rule {rule.name!r}"
        yield Part("rules", k, said, f"{said} is lifted", _is_open(wishes, concerned))


def _is_open(wishes: Wishes, features: Iterable[int]) -> bool:
    """Whether no protected feature is concerned."""
    return not any(wishes.actions[i].protected for i in features)


def without(wishes: Wishes, given_up: Iterable[Part]) -> Wishes:
    """The wishes that are left."""
    gone = list(given_up)
    actions, low, high = list(wishes.actions), wishes.low.copy(), wishes.high.copy()
    for part in gone:
        if part.kind in ("low bound", "high bound"):
            (low if part.kind == "low bound" else high)[part.place] = (
                -math.inf if part.kind == "low bound" else math.inf
            )
        elif part.kind in LIFTED:
            actions[part.place] = replace(actions[part.place], **LIFTED[part.kind])
    left: dict[str, Any] = {
        kind: tuple(
            entry
            for k, entry in enumerate(getattr(wishes, kind))
            if not any(part.kind == kind and part.place == k for part in gone)
        )
        for kind in ("rules", "links", "when", "limits")
    }
    return replace(wishes, actions=tuple(actions), low=low, high=high, **left)


# What an action says when a part of it is given up: nothing of the kind, but that a number need not be whole.
LIFTED: dict[str, dict[str, Any]] = {
    "may": {"may": "change"},
    "low": {"low": None},
    "high": {"high": None},
    "most": {"most": None},
    "step": {"step": None},
    "whole": {"whole": False},
    "unsaid": {"whole": False},
    "values": {"values": None},
    "moves": {"moves": None},
}


def beyond_training(wishes: Wishes) -> Wishes:
    """The same wishes without the range seen in training; protected features keep theirs."""
    low, high = wishes.low.copy(), wishes.high.copy()
    free = [i for i in wishes.observed if not wishes.actions[i].protected]
    low[free], high[free] = -np.inf, np.inf
    return replace(wishes, low=low, high=high, observed=tuple(i for i in wishes.observed if i not in free))


def _listed(values: Iterable[Any]) -> str:
    return ", ".join(str(v) if isinstance(v, str | bool) else exact(v) for v in values)
