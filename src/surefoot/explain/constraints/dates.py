"""Dates stay as they are, unless an action says what may happen to them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from surefoot.explain.constraints.actions import Actions
from surefoot.explain.constraints.feature import Action
from surefoot.model.schema import Schema


def dates_stay(actions: Actions | None, schema: Schema, *named: Iterable[Any]) -> Actions | None:
    """The actions, with one that keeps each date that neither they nor other lists of features name.

    Examples
    --------
    >>> schema = Schema(("age", "applied"), (None, None), (), (True, True), (False, True))
    >>> dates_stay(None, schema).features
    {'applied': Action(may='stay')}
    >>> dates_stay(None, schema, ["applied"]) is None
    True
    """
    said: Mapping[Any, Any] = {} if actions is None else actions.features
    known = {str(name) for name in (*said, *(name for names in named for name in names))}
    kept = {name: Action("stay") for name in schema.date_names if str(name) not in known}
    if not kept:
        return actions
    found = Actions() if actions is None else actions
    return replace(found, features={**found.features, **kept})
