"""Labels: what letters call features, values and decisions, and the slots that a sender fills in."""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from surefoot.exceptions import DataError, ProblemError
from surefoot.explain.answer.decimals import cents
from surefoot.files import read_limited
from surefoot.formats import suggestion
from surefoot.model.classifier import ConditionalGaussianNetworkClassifier
from surefoot.ui.letters.slots import SLOTS

FIELDS = ("label", "unit", "decimals", "values")
LETTER, DECISIONS = "letter", "decisions"
MOST_DECIMALS = 9  # ten times as many, and a number fills a line
LARGEST = 10_000_000  # bytes of a file; ten times larger is no list of names that somebody wrote


@dataclass(frozen=True)
class Label:
    """What a letter calls one feature.

    Parameters
    ----------
    label : str
        "" where only something else is said of the feature.
    unit : str
        Written behind numbers.
    decimals : int, optional
        Exactly so many are written, and limits are chosen such that they need no more; a value that needs
        more keeps all its digits. Default: 2 for amounts of money if the data have decimals, else as many
        as a value needs.
    values : dict
        What the values of a category are called, by their text.
    """

    label: str = ""
    unit: str = ""
    decimals: int | None = None
    values: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Labels:
    """What letters call things; by default the names in the data.

    Parameters
    ----------
    features : dict of str -> Label
    decisions : dict of str -> str
        What classes are called.
    slots : dict of str -> str
        What the sender has filled in; see `surefoot.ui.letters.slots`.
    """

    features: Mapping[str, Label] = field(default_factory=dict)
    decisions: Mapping[str, str] = field(default_factory=dict)
    slots: Mapping[str, str] = field(default_factory=dict)

    @property
    def decimals(self) -> dict[str, int]:
        """How many decimals features have, where that is said."""
        return {name: one.decimals for name, one in self.features.items() if one.decimals is not None}

    def of(self, feature: Any) -> Label:
        """The label of a feature."""
        found = self.features.get(str(feature), Label())
        return found if found.label else Label(_readable(feature), found.unit, found.decimals, found.values)


@dataclass(frozen=True)
class OwnNames(Labels):
    """Everything is called as in the data, for readers who know the table."""

    def of(self, feature: Any) -> Label:
        """The name itself, with the unit of the data."""
        found = self.features.get(str(feature), Label())
        return Label(str(feature), found.unit, found.decimals)


def own_units(clf: ConditionalGaussianNetworkClassifier) -> dict[str, Label]:
    """The units that numbers were written with in the data."""
    most = cents(clf, clf.units_)
    return {name: Label(unit=unit, decimals=most.get(name)) for name, unit in clf.units_.items()}


def _readable(feature: Any) -> str:
    return " ".join(str(feature).replace("_", " ").split()) or "-"


def read_labels(source: Any, clf: ConditionalGaussianNetworkClassifier) -> Labels:
    """Labels from a path, from a dict of the same form, or none.

    Parameters
    ----------
    source : path, dict, Labels or None
    clf : ConditionalGaussianNetworkClassifier
        Names that it does not have are refused.
    """
    if isinstance(source, Labels):
        return source
    if source is None:
        return Labels(own_units(clf))
    if isinstance(source, Mapping):
        return _labels(source, clf, "labels")
    if not isinstance(source, str | os.PathLike):
        raise ProblemError(f"labels must be the path of a file or a dict, not {source!r:.60}")
    name = os.fspath(source)
    try:
        content = tomllib.loads(read_limited(name, LARGEST).decode("utf-8-sig"))
    except OSError as error:
        raise DataError(f"{name}: cannot be read ({error.strerror})") from None
    except UnicodeDecodeError:
        raise DataError(f"{name}: is not UTF-8 text") from None
    except tomllib.TOMLDecodeError as error:
        raise DataError(f"{name}: is not TOML: {error}") from None
    except RecursionError:
        raise DataError(f"{name}: is nested too deeply") from None
    return _labels(content, clf, name)


def _labels(content: Mapping[str, Any], clf: ConditionalGaussianNetworkClassifier, where: str) -> Labels:
    names = [str(name) for name in clf.feature_labels_]
    entries, letter = _table(content, where), {}
    if LETTER in entries and LETTER not in names:
        letter = _table(entries.pop(LETTER), f"{where}: [{LETTER}]")
    for name in entries:
        _check_known(name, names, f"{where}: {name!r:.60} is not a feature of the model")
    decisions = _table(letter.pop(DECISIONS, {}), f"{where}: [{LETTER}.{DECISIONS}]")
    classes = [str(label) for label in clf.classes_.tolist()]
    for name in decisions:
        _check_known(name, classes, f"{where}: {name!r:.60} is not a class of the model")
    for name in letter:
        _check_known(name, SLOTS, f"{where}: {name!r:.60} is not a slot of a letter")
    categories = {str(name): [str(v) for v in values] for name, values in clf.categories_.items()}
    return Labels(
        {
            name: _label(_with_cents(entry, clf, name), f"{where}: {name}", categories.get(name))
            for name, entry in entries.items()
        },
        _texts(decisions, f"{where}: [{LETTER}.{DECISIONS}]"),
        _texts(letter, f"{where}: [{LETTER}]"),
    )


def _with_cents(entry: Any, clf: ConditionalGaussianNetworkClassifier, name: str) -> Any:
    """An entry with the decimals of its unit, where it has a unit and says nothing of them."""
    unit = entry.get("unit") if isinstance(entry, Mapping) else None
    most = cents(clf, {name: unit}) if isinstance(unit, str) else {}
    return {"decimals": most[name], **entry} if most else entry


def _label(entry: Any, where: str, values: list[str] | None) -> Label:
    if isinstance(entry, str):
        return Label(entry)
    found = _table(entry, where, "must be a text or a table")
    for name in found:
        _check_known(name, FIELDS, f"{where}: {name!r:.60} is unknown; there are {', '.join(FIELDS)}")
    decimals = found.get("decimals")
    is_count = isinstance(decimals, int) and not isinstance(decimals, bool)
    if decimals is not None and not (is_count and 0 <= decimals <= MOST_DECIMALS):
        raise DataError(
            f"{where}: decimals must be an integer from 0 to {MOST_DECIMALS}, not {decimals!r:.60}"
        )
    named = _texts(_table(found.get("values", {}), f"{where}: values"), f"{where}: values")
    if named and values is None:
        raise DataError(f"{where}: is a number, and has no values to name")
    for name in named:
        _check_known(name, values or (), f"{where}: {name!r:.60} is not one of its values")
    words = _texts({name: found[name] for name in ("label", "unit") if name in found}, where)
    return Label(words.get("label", ""), words.get("unit", ""), decimals, named)


def _table(value: Any, where: str, wanted: str = "must be a table") -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise DataError(f"{where}: {wanted}, not {value!r:.60}")
    return {str(name): entry for name, entry in value.items()}  # a column or class may be called 1


def _texts(values: Mapping[str, Any], where: str) -> dict[str, str]:
    for name, value in values.items():
        if not isinstance(value, str):
            raise DataError(f"{where}: {name} must be a text, not {value!r:.60}")
    return dict(values)


def _check_known(name: str, known: Iterable[str], complaint: str) -> None:
    if name not in known:
        raise DataError(f"{complaint}{suggestion(name, known)}")


HEAD = """\
# What letters call things. Change the texts on the right; delete what you do not need.
# A feature is a text, or a table: label, unit (written with numbers), decimals (of what is enough: so many
# are written, and no more are needed), values (what the values of a category are called).
"""
LETTER_HEAD = """
# What the sender fills in. What is left empty is printed as a blank to be filled in by hand.
[letter]
"""


def labels_template(clf: ConditionalGaussianNetworkClassifier) -> str:
    """A labels file with every feature, value, decision and slot, ready to be edited."""
    lines, most = [HEAD], cents(clf, clf.units_)
    for name, kind in clf.feature_kinds_.items():
        label = _quoted(_readable(name))
        if name in clf.categories_:
            values = ", ".join(f"{_key(v)} = {_quoted(v)}" for v in clf.categories_[name])
            lines.append(f"{_key(name)} = {{ label = {label}, values = {{ {values} }} }}\n")
        elif kind == "date":
            lines.append(f"{_key(name)} = {label}\n")
        else:
            unit = clf.units_.get(str(name), "")
            decimals = f", decimals = {most[str(name)]}" if str(name) in most else ""
            lines.append(f"{_key(name)} = {{ label = {label}, unit = {_quoted(unit)}{decimals} }}\n")
    if LETTER in map(str, clf.feature_labels_):
        return "".join(lines)
    lines.append(LETTER_HEAD)
    lines += [f'{name} = ""  # {about}\n' for name, about in SLOTS.items()]
    lines.append("\n# What decisions are called.\n[letter.decisions]\n")
    lines += [f"{_key(label)} = {_quoted(label)}\n" for label in clf.classes_.tolist()]
    return "".join(lines)


def _key(name: Any) -> str:
    """A name as TOML writes it: without quotes where that is allowed."""
    text = str(name)
    bare = text.isascii() and text.replace("-", "").replace("_", "").isalnum()
    return text if bare else _quoted(text)


def _quoted(name: Any) -> str:
    """A text as TOML writes it."""
    text = json.dumps(str(name), ensure_ascii=False)  # JSON's escapes are TOML's, too
    return "".join(c if c.isprintable() else _escape(c) for c in text)


def _escape(c: str) -> str:
    return f"\\u{ord(c):04x}" if ord(c) < 0x10000 else f"\\U{ord(c):08x}"
