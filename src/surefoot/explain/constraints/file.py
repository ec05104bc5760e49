"""Actions in TOML files: written, read back strictly, and a template to begin with."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import replace
from errno import EFBIG
from os import PathLike, fspath
from typing import Any

import numpy as np

from surefoot.days import date_text
from surefoot.exceptions import DataError, ProblemError
from surefoot.explain.constraints.actions import Actions
from surefoot.explain.constraints.constraint import Constraint, shown_entry
from surefoot.explain.constraints.feature import Action
from surefoot.explain.constraints.kinds import KINDS
from surefoot.files import read_limited
from surefoot.formats import spelled_out, suggestion

LARGEST = 1_000_000  # characters of a file
FIRST_LINE = "# What may change: actions of surefoot."
# The order in which files hold what is over several features.
FIRST = ("at_most", "at_most_of", "rules", "when", "links")
LISTS = sorted(KINDS, key=lambda kind: (*FIRST, kind.key).index(kind.key))
KEYS = ("at_most", *(kind.key for kind in LISTS), "features")
BARE = re.compile(r"[A-Za-z0-9_-]+")
TEMPLATE = f"""{FIRST_LINE}
# Every line that begins with # is a comment: take the # away and say what holds. Features that are not
# named may change. A feature may "stay", "rise", "fall" or "change", or have a table with
#   may, low, high     direction and ends
#   most, least, step  largest and smallest change from today, and the steps in which it changes
#   whole, values      whole numbers only; the only values that it takes
#   moves              of a category: where it may go from which value
#   cost               of a category: price of a change, one number or by value; of a number: price of a
#                      standard deviation, [up, down] or one for both; counts with the distance "cost"
#   protected          true: no message proposes to change more of it
# Today's value is always allowed. A rule compares sums of features; names that are no plain words stand in
# backticks, and income.now is today's value of income.
# An if-then rule says what must hold where something else does: a feature rises, falls, changes or stays,
# a category is one of its values, or a rule holds.
# at_most = 3                          # features that change
""" + "".join(f"# {kind.example}\n" for kind in LISTS if kind.example)
CURVED = """#
# The model measures these on curved scales: {names}.
# Links and rules that add up features cannot name them. Write the rules into this file and make the model
# again with surefoot fit --actions and this file: it then keeps plain scales for the features in rules.
"""


def read_toml(source: str | PathLike[str]) -> Actions:
    """Read a file, or a text with a line break; whatever is wrong is named with its place."""
    if isinstance(source, str) and "\n" in source:
        return _read(source, "the actions")
    if not isinstance(source, str | PathLike):
        raise ProblemError(f"actions are read from a path or a text, not {source!r:.60}")
    name = fspath(source)
    return _read(_content(name), ascii(name)[1:-1] if not name.isprintable() else name)


def _content(name: str) -> str:
    try:
        return read_limited(name, 4 * LARGEST).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ProblemError(f"{name}: is not UTF-8 text: byte {error.start + 1} cannot be read") from None
    except OSError as error:
        if error.errno == EFBIG:
            raise ProblemError(f"{name}: a file of actions has at most {LARGEST:,} characters") from None
        hint = " (TOML itself needs a line break)" if "=" in name else ""
        raise ProblemError(f"{name}: cannot be read: {error.strerror or error}{hint}") from None
    except ValueError as error:  # a path with a null character
        raise ProblemError(f"{name!a}: cannot be read: {error}") from None


def _read(text: str, where: str) -> Actions:
    if len(text) > LARGEST:
        raise ProblemError(f"{where}: a file of actions has at most {LARGEST:,} characters")
    try:
        values = tomllib.loads(text)
    except RecursionError:
        raise ProblemError(f"{where}: is nested too deeply") from None
    except ValueError as error:
        raise ProblemError(f"{where}: this is not TOML: {error}; words stand in quotes") from None
    for name in values:
        if name not in KEYS:
            known = f"there are {', '.join(KEYS)}{suggestion(name, KEYS)}"
            raise ProblemError(f"{where}: {shown_entry(name)} is unknown; {known}")
    features = values.get("features", {})
    if not isinstance(features, dict):
        raise ProblemError(f"{where}: features must be a table, not {shown_entry(features)}")
    found: list[Constraint] = []
    for kind in LISTS:
        listed = values.get(kind.key, [])
        if not isinstance(listed, list):
            raise ProblemError(f"{where}: {kind.key} must be a list, not {shown_entry(listed)}")
        found += [_at(f"{where}: {kind.key}[{k}]", kind.from_toml, entry) for k, entry in enumerate(listed)]
    at_most = _at(where, lambda most: Actions(at_most=most).at_most, values.get("at_most"))
    named = {
        name: _at(f"{where}: features.{_key(name)}", Action.read, entry) for name, entry in features.items()
    }
    return Actions(named, constraints=found, at_most=at_most)


def _at(place: str, read: Callable[[Any], Any], entry: Any) -> Any:
    """What an entry says; an error in it names the place."""
    try:
        return read(entry)
    except ProblemError as error:
        raise ProblemError(f"{place}: {error}") from None


def toml_text(actions: Actions) -> str:
    """Actions as TOML, such that reading gives equal ones."""
    lines = [FIRST_LINE]
    lines += [] if actions.at_most is None else [f"at_most = {_written(actions.at_most)}"]
    listed = replace(actions, at_most=None).over_several
    for kind in LISTS:
        entries = [f"    {_written(one.to_toml())}," for one in listed if type(one) is kind]
        lines += [f"{kind.key} = [", *entries, "]"] if entries else []
    names = [str(name) for name in actions.features]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise DataError(f"the feature {twice!r} is named twice, as a name and as a number")
    lines += ["", "[features]"] if names else []
    for name, action in actions.features.items():
        lines.append(_action_line(str(name), action))
    return "\n".join(lines) + "\n"


def _action_line(name: str, action: Any) -> str:
    given = action.given()
    return f"{_key(name)} = {_written(given if given.keys() - {'may'} else action.may)}"


def _written(value: Any) -> str:
    """A value of TOML on one line."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return repr(value)  # inf and nan are the same words in TOML
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, Mapping):
        if not all(isinstance(name, str) for name in value):
            return _written([[name, entry] for name, entry in value.items()])
        return "{ " + ", ".join(f"{_key(name)} = {_written(v)}" for name, v in value.items()) + " }"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_written, value))}]"
    raise DataError(f"TOML has no value for {value!r:.60}")


def _key(name: str) -> str:
    return name if BARE.fullmatch(name) else _text(name)


def _text(value: str) -> str:
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        raise DataError(f"{value!a:.60} cannot be written as UTF-8") from None
    # TOML has escapes of eight digits where JSON has pairs.
    text = json.dumps(value, ensure_ascii=False)
    return "".join(c if c.isprintable() else f"\\U{ord(c):08x}" for c in text)


def template_text(classifier: Any) -> str:
    """A file of comments: every feature with its kind and range or values, and a line to begin with.

    What a person cannot change stays: these lines are no comments.
    """
    schema, seen = classifier.schema_, classifier.feature_range_
    lines, proposed = list[str](), Actions.proposed(classifier)
    for j, name in enumerate(schema.names):
        if schema.values[j] is not None:
            order = ", from low to high" if schema.ordered[j] else ""
            kind = f"category{order}: {', '.join(str(v) for v in schema.values[j])}"
            begun = _written({"values": list(schema.values[j])})
        elif schema.dates[j]:
            first, last = (date_text(float(v)) for v in seen[:, j])
            kind = f"date from {first} to {last}"
            begun = _written({"may": "change", "low": first, "high": last})
        else:
            low, high = (_short(v) for v in seen[:, j])
            kind = f"{'whole number' if schema.whole[j] else 'number'} from {low:,} to {high:,}"
            begun = _written({"may": "change", "low": low, "high": high})
        lines += [f"# {spelled_out(str(name))}: {spelled_out(kind)}", f"# {_key(str(name))} = {begun}"]
        if name in proposed.features:
            lines += _kept(str(name), proposed.features[name], proposed.reasons[name])
        lines.append("")
    return TEMPLATE + _about_curved(classifier) + "\n[features]\n" + "\n".join(lines)


def _kept(name: str, action: Any, reason: str) -> list[str]:
    """The line of a feature that stays, and why."""
    why = f'# It stays, since {reason}. If it may change, write "change":'
    return [why, _action_line(name, action)]


def _short(value: float) -> int | float:
    """An integer where the value is whole and small enough: 19 for 19.0."""
    return int(value) if abs(value) < LARGEST and float(value).is_integer() else float(value)


def _about_curved(classifier: Any) -> str:
    """A comment on features that rules cannot add up, if there are any."""
    schema = classifier.schema_
    numbers = zip(schema.numbers, classifier.warps_, strict=True)
    curved = [spelled_out(str(schema.names[j])) for j, warp in numbers if not warp.is_identity]
    return CURVED.format(names=", ".join(curved)) if curved else ""
