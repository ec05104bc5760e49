"""Nobody: what is said of a region and what proves it, as a value and as a file."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING, Any

from surefoot.days import date_text
from surefoot.exceptions import DataError
from surefoot.explain.ask.terms import EVEN
from surefoot.explain.result.document import json_text
from surefoot.explain.result.explanation import Explanation
from surefoot.files import write_whole
from surefoot.formats import exact, in_list, one_line
from surefoot.plain import (
    INFINITIES,
    each,
    entries,
    finite,
    parsed,
    position,
    sequence,
    shallow,
    shown,
    text,
    truth,
)

if TYPE_CHECKING:
    import pandas as pd

FORMAT, VERSION = "surefoot-nobody", 1
WHOLE = "whole"  # every whole number, in the place of a list of values
KEYS = (
    "format", "version", "models", "features", "target", "holds", "region", "declared", "requirements",
    "tree", "proofs", "explanation", "context",
)  # fmt: skip
CONTEXT = ("named", "dates", "left_out", "accepted", "why", "seconds")  # which claims nothing


@dataclass(frozen=True, eq=False, repr=False)
class Nobody:
    """Whether nobody in a region is decided as the target, or can get there by an allowed change.

    Parameters
    ----------
    certificate : dict
        The claim and its proof in plain values: what `to_json` writes and both checkers read.
    explanation : Explanation or None
        Of a person who has a way, where there is one.
    """

    certificate: Mapping[str, Any]
    explanation: Explanation | None = None

    @property
    def holds(self) -> bool | None:
        """True if it is proven, False if somebody has a way, None if it is undecided."""
        found: bool | None = self.certificate["holds"]
        return found

    @property
    def person(self) -> pd.Series | None:
        """Somebody in the region who has a way, or the target already."""
        return None if self.explanation is None else self.explanation.factual

    @property
    def target(self) -> Any:
        """The class that nobody can have."""
        return self.certificate["target"]

    @property
    def seconds(self) -> float:
        """How long it took."""
        return float(self.certificate["context"]["seconds"])

    @property
    def words(self) -> str:
        """The answer in sentences."""
        there, context = f"the region ({region_words(self.certificate)})", self.certificate["context"]
        if self.holds:
            said = f"Nobody in {there} can get to {self.target} by an allowed change"
            n_proofs = len(self.certificate["proofs"])
            proven = f"This is proven, by {n_proofs} proof{'s' if n_proofs > 1 else ''}."
            return one_line(f"{said}, and nobody is there already. {proven}{self._uncounted}")
        if self.explanation is None:
            said = f"It is undecided whether anybody in {there} can get to {self.target}."
            return one_line(f"{said} {context['why']}")
        if context["accepted"]:
            said = f"Somebody in {there} is decided as {self.target} already"
            return one_line(f"{said}; nobody who is refused and has a way was found.")
        return one_line(f"Somebody in {there} can get to {self.target} by an allowed change.")

    @property
    def _uncounted(self) -> str:
        """Who has the target today and is not counted, because more than the decision is asked for."""
        rivals = [one for one in self.certificate["requirements"] if one["model"] == 0]
        more = [
            ("break a rule", bool(self.certificate["declared"]["rows"])),
            ("are not typical enough", any(one["kind"] == "density" for one in rivals)),
            ("are decided otherwise by another model", len(self.certificate["models"]) > 1),
            ("are below the threshold", any(one.get("threshold", EVEN) > EVEN for one in rivals)),
        ]
        why = " or ".join(words for words, asked in more if asked)
        return f" Persons who are decided as {self.target} but {why} do not count as there." if why else ""

    def to_json(self) -> str:
        """The certificate as JSON text, a line for each key."""
        return json_text(self.certificate)

    def save(self, path: str | PathLike[str]) -> None:
        """Write `to_json` to a file."""
        write_whole(path, self.to_json() + "\n")

    @classmethod
    def from_json(cls, content: str | bytes) -> Nobody:
        """Read what `to_json` wrote."""
        try:
            return cls.from_dict(parsed(content))
        except DataError as error:
            raise DataError(f"this file about a region cannot be read: {error}") from None

    @classmethod
    def from_dict(cls, values: Any) -> Nobody:
        """Read a certificate; what it proves is for the checkers to say."""
        if not is_about_region(values):
            raise DataError("this is not a file about a region")
        found = entries(values, "it", KEYS)
        if found["version"] != VERSION or isinstance(found["version"], bool | float):
            raise DataError(f"it has format version {shown(found['version'])}; this surefoot reads {VERSION}")
        if found["holds"] is not None:
            truth(found["holds"], "holds")
        _check_context(found["context"], sequence(found["features"], "features"))
        shallow(found, "the file")
        held = found["explanation"]
        if (found["holds"] is False) != (held is not None):
            raise DataError("there must be a person exactly where somebody has a way")
        region_words(found)
        return cls(dict(found), None if held is None else Explanation.from_dict(held))

    def __str__(self) -> str:
        return self.words if self.explanation is None else f"{self.words}\n{self.explanation}"

    def __repr__(self) -> str:
        return f"<Nobody: {self.words}>"


def is_about_region(values: Any) -> bool:
    """Whether a document is one about a region."""
    return isinstance(values, Mapping) and values.get("format") == FORMAT


def _check_context(values: Any, features: list[Any]) -> None:
    """Refuse a file whose words would make no sense."""
    context = entries(values, "the context", CONTEXT)
    finite(context["seconds"], "seconds")
    text(context["why"], "why")
    truth(context["accepted"], "accepted")
    each(text, context["left_out"], "left_out")
    for key in ("named", "dates"):
        for j in sequence(context[key], key):
            position(j, key, len(features))


def region_words(certificate: Mapping[str, Any]) -> str:
    """The features of a region that were named, in words."""
    context, features = certificate["context"], certificate["features"]
    said = []
    for j in context["named"]:
        entry = sequence(certificate["region"], "the region", len(features))[j]
        try:
            form = date_text if j in context["dates"] else exact
            said.append(f"{in_list(features[j])} {_entry_words(entry, form)}")
        except (TypeError, KeyError, IndexError, ValueError):
            raise DataError("the region makes no sense") from None
    return ", ".join(said) or "everybody"


def _entry_words(entry: Mapping[str, Any], form: Callable[[Any], str]) -> str:
    """The values of one feature."""
    if "among" in entry:
        return " or ".join(str(value) for value in entry["among"])
    low, high = (INFINITIES.get(end, end) for end in (entry["low"], entry["high"]))
    if entry["values"] is not None and entry["values"] != WHOLE:
        return " or ".join(form(value) for value in entry["values"] if low <= value <= high)
    if low == -math.inf:
        return "whatever it is" if high == math.inf else f"at most {form(high)}"
    if high == math.inf:
        return f"at least {form(low)}"
    return form(low) if low == high else f"{form(low)} to {form(high)}"
