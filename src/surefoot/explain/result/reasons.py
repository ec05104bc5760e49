"""Reasons: why a row was decided as it was, feature by feature, adding up to the log-odds."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from surefoot.days import date_text
from surefoot.exceptions import DataError, ProblemError
from surefoot.explain.ask.row import encoded_with_holes
from surefoot.explain.ask.target import chosen_target
from surefoot.formats import in_list, named_value
from surefoot.model.class_values import values_of_model
from surefoot.model.classifier import ConditionalGaussianNetworkClassifier
from surefoot.model.evidence import evidence
from surefoot.model.schema import Schema
from surefoot.plain import entries, finite, label, number, parsed, plain, sequence
from surefoot.views import view

COLUMNS = ("feature", "value", "weight", "usual", "share")
# Reasons that a person is given. Ten times as many would be a list of everything.
PRINCIPAL = 4
# Share of all that speaks against somebody, below which a feature is no principal reason. Ten times larger,
# and there would often be one reason alone; with a tenth, what hardly counted is held against people.
NOTICEABLE = 0.03


@dataclass(frozen=True)
class Reason:
    """What one feature says.

    Parameters
    ----------
    feature : name
    value : number, category, date as text or None
        Today's; None where it is missing.
    weight : float
        What it adds to the log-odds of the class that was decided; below zero it speaks for the other one.
    usual : number, category or date as text
        The median, or the most frequent value, of the cases of the wanted class.
    share : float
        Of the cases of the wanted class: how many have this category, or a number at least as far from the
        median on the same side. Not a number where the value is missing.
    """

    feature: Any
    value: Any
    weight: float
    usual: Any
    share: float


@dataclass(frozen=True, eq=False, repr=False)
class Reasons:
    """prior + the weights of all features = log-odds of the class that was decided against another one.

    `CounterfactualExplainer.reasons` makes them. The weight of a feature is its weight of evidence given the
    features that it depends on: ``log p(x_i | parents, decided) - log p(x_i | parents, other)``.

    Parameters
    ----------
    each : tuple of Reason
        One for each feature, in the features' order.
    prior : float
        The log-odds without any feature.
    decided, other, wanted : labels
        What the row was decided as; what that is compared with; what the person wants. The last two are the
        same, unless the row already has the wanted class.
    kept : tuple
        Features among them that the person cannot change.
    """

    each: tuple[Reason, ...]
    prior: float
    decided: Any
    other: Any
    wanted: Any
    kept: tuple[Any, ...] = ()

    @property
    def log_odds(self) -> float:
        """Of the class that was decided against the other one."""
        return self.prior + math.fsum(reason.weight for reason in self.each)

    @property
    def table(self) -> pd.DataFrame:
        """One line for each feature: feature, value, weight, usual and share.

        What speaks most against the person comes first, what speaks most for them last.
        """
        return _table(self._ranked)

    def principal(self, most: int = PRINCIPAL) -> pd.DataFrame:
        """The lines of the features that speak most against the person, none that speaks for them."""
        if not isinstance(most, int) or isinstance(most, bool) or most < 1:
            raise DataError(f"the number of principal reasons must be a positive integer, not {most!r}")
        return _table(self._against[:most])

    @property
    def principal_features(self) -> tuple[Any, ...]:
        """The features of the principal reasons, the strongest first."""
        return tuple(reason.feature for reason in self._against[:PRINCIPAL])

    @property
    def words(self) -> str:
        """The principal reasons on one line: features with their values."""
        shown = self._against[:PRINCIPAL]
        return "; ".join(f"{in_list(r.feature)}: {named_value(r.value)}" for r in shown)

    def plot(self, ax: Any = None, max_features: int = 12) -> Any:
        """Draw the way from the prior to the log-odds, a bar for each feature; returns the Axes."""
        return view("reasons plot", self, ax=ax, max_features=max_features)

    @property
    def _sign(self) -> int:
        """1 where weights above zero speak against the person."""
        return -1 if self.decided == self.wanted else 1

    @property
    def _ranked(self) -> list[Reason]:
        return sorted(self.each, key=lambda reason: -self._sign * reason.weight)

    @property
    def _against(self) -> list[Reason]:
        found = [reason for reason in self._ranked if self._sign * reason.weight > 0]
        least = NOTICEABLE * sum(abs(reason.weight) for reason in found)
        return [reason for reason in found if abs(reason.weight) >= least]

    def to_dict(self) -> dict[str, Any]:
        """Plain values only."""
        return {
            "decided": plain(self.decided),
            "other": plain(self.other),
            "wanted": plain(self.wanted),
            "prior": self.prior,
            "features": [{name: plain(getattr(reason, name)) for name in COLUMNS} for reason in self.each],
            "kept": [plain(name) for name in self.kept],
        }

    def to_json(self) -> str:
        """The same as JSON text."""
        return json.dumps(self.to_dict(), ensure_ascii=False, allow_nan=False)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Reasons:
        """Read what `to_dict` gave."""
        keys = ("decided", "other", "wanted", "prior", "features", "kept")
        found = entries(values, "reasons", keys)
        decided, other, wanted = (label(found[name], name) for name in keys[:3])
        return cls(
            tuple(_reason(entry) for entry in sequence(found["features"], "the features of reasons")),
            finite(found["prior"], "the prior of reasons"),
            decided,
            other,
            wanted,
            tuple(label(name, "a feature that is kept") for name in sequence(found["kept"], "kept")),
        )

    @classmethod
    def from_json(cls, text: str) -> Reasons:
        """Read what `to_json` wrote."""
        return cls.from_dict(parsed(text))

    def __repr__(self) -> str:
        return f"<Reasons for {self.decided} against {self.other}: log-odds {self.log_odds:.4g}>"

    def __str__(self) -> str:
        return str(view("reasons text", self))


def reasons_of_row(
    clf: ConditionalGaussianNetworkClassifier, row: Any, target: Any = None, kept: tuple[Any, ...] = ()
) -> Reasons:
    """Why a row was decided as it was; what is missing in it has no weight."""
    schema = clf.schema_
    numbers, state, holes = encoded_with_holes(row, schema)
    if holes and hasattr(clf, "scores_"):
        name = schema.names[holes[0]]
        raise ProblemError(
            f"the row's value of {name!r} is missing, which the adopted model does not allow; "
            "impute='expected' fills holes"
        )
    labels = clf.classes_.tolist()
    codes = np.array([state], dtype=np.intp)
    scores = clf.class_scores(numbers[None], codes)[0]
    decided = int(np.argmax(scores))
    wanted = labels.index(chosen_target(target, labels, decided))
    rivals = [c for c in np.argsort(-scores).tolist() if c != decided]
    other = wanted if wanted != decided else rivals[0]
    found = evidence(clf, numbers, codes[0], decided, other, wanted)
    return Reasons(
        _all(clf, numbers, state, found.weights, wanted),
        found.prior,
        labels[decided],
        labels[other],
        labels[wanted],
        tuple(name for name in schema.names if name in kept),
    )


def agrees(stated: Reasons, found: Reasons) -> bool:
    """Whether reasons say the same of every feature, up to rounding."""
    if (stated.decided, stated.other, stated.wanted) != (found.decided, found.other, found.wanted):
        return False
    if not _near(stated.prior, found.prior) or len(stated.each) != len(found.each):
        return False
    return all(
        (a.feature, a.value, a.usual) == (b.feature, b.value, b.usual)
        and _near(a.weight, b.weight)
        and _near(a.share, b.share)
        for a, b in zip(stated.each, found.each, strict=True)
    )


def _near(stated: float, found: float) -> bool:
    both = math.isnan(stated) and math.isnan(found)
    return both or math.isclose(stated, found, rel_tol=1e-9, abs_tol=1e-9)


def _all(
    clf: ConditionalGaussianNetworkClassifier, numbers: Any, state: tuple[int, ...], weights: Any, wanted: int
) -> tuple[Reason, ...]:
    """What every feature says, in the features' order."""
    schema, known = clf.schema_, values_of_model(clf)
    found: dict[int, Reason] = {}
    for i, j in enumerate(schema.numbers):
        x, missing = float(numbers[i]), bool(np.isnan(numbers[i]))
        share = math.nan if missing else known.tail(wanted, i, x)
        usual = _usual_number(schema, j, known.median(wanted, i))
        value = None if missing else _plain_number(schema, j, x)
        found[j] = Reason(schema.names[j], value, float(weights[j]), usual, share)
    for k, j in enumerate(schema.categories):
        values, code = schema.category_values[k], state[k]
        share = math.nan if code < 0 else float(known.shares[k][wanted, code])
        value = None if code < 0 else values[code]
        found[j] = Reason(
            schema.names[j], value, float(weights[j]), values[known.most_frequent(wanted, k)], share
        )
    return tuple(found[j] for j in range(len(schema.names)))


def _plain_number(schema: Schema, j: int, x: float) -> float | int | str:
    """A value of a number: a date as text, and whole numbers as such."""
    if schema.dates[j]:
        return date_text(x)  # type: ignore[no-any-return]
    return int(x) if schema.whole[j] and x % 1 == 0 else x


def _usual_number(schema: Schema, j: int, median: float) -> float | int | str:
    whole = schema.whole[j] and math.isfinite(median)
    return _plain_number(schema, j, float(round(median)) if whole else median)


def _table(reasons: list[Reason]) -> pd.DataFrame:
    columns = {name: [getattr(reason, name) for reason in reasons] for name in COLUMNS}
    table = pd.DataFrame({name: pd.Series(column, dtype=object) for name, column in columns.items()})
    return table.astype({"weight": float, "share": float})


def _reason(values: Any) -> Reason:
    entry = entries(values, "a reason", COLUMNS)
    value, usual = (None if entry[name] is None else label(entry[name], name) for name in ("value", "usual"))
    share = number(entry["share"], "share")
    if not (math.isnan(share) or 0 <= share <= 1):
        raise DataError("the share of a reason must lie between 0 and 1")
    return Reason(label(entry["feature"], "feature"), value, finite(entry["weight"], "weight"), usual, share)
