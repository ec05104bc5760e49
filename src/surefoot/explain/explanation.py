"""Explanation: what came of one search, as plain data."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np
import pandas as pd

from surefoot.exceptions import DataError
from surefoot.formats import part
from surefoot.status import Status

TAIL = 1.0  # per cent of the target class's cases; below that a counterfactual is called untypical
UNCHANGED = 1e-6  # standard deviations; less is rounding


@dataclass(frozen=True)
class IterationRecord:
    """One round of a search: how far, how much violated, by which perturbation, how long."""

    distance: float
    lower_bound: float
    violation: float
    perturbation: tuple[float, ...] | None
    master_seconds: float
    adversary_seconds: float


@dataclass(frozen=True, eq=False, repr=False)
class Explanation:
    """The answer to "what would have to change?"; frozen, without any solver object.

    Parameters
    ----------
    status : Status
        Why the search stopped.
    message : str
        The same as a sentence, with the solver's words where they matter.
    factual : Series
    counterfactual : Series or None
        None when there is none.
    factual_class, target
        Labels.
    factual_probability, probability, worst_probability : float
        P(target) at the factual, at the counterfactual and at its worst perturbation: the one that brings
        the log-odds against a rival lowest (with two classes, P(target) too).
    distance, lower_bound, gap : float
        Mahalanobis-lp distance, proven bound on it, and (distance - lower_bound) / distance.
    budget, norm, whitening, threshold
        The question.
    certified_radius, coverage : float
        Largest radius within which every perturbation keeps the decision, and its share of the budget.
    violation : float
        The paper's phi at the end: above zero if a perturbation within the budget undoes the decision.
    early_stop : bool
        Whether 0 < violation <= tol.
    unit : Series
        Standard deviation of each feature in the factual class.
    low, high : Series
        The search domain.
    iterations : tuple of IterationRecord
    seconds : float
    method, backend : str
    model : str
        Fingerprint of the classifier.
    certificate : dict or None
        What proves lower bound and radius, for `surefoot.verify`; only the certified search gives one.
    decision
        The class that is predicted at the counterfactual: the target, unless the threshold asks for less.
    row
        What the row is called in the table it comes from.
    parents : tuple of tuples of int
        The features on which each feature depends.
    expected_before, expected_after : Series
        What the network expects of each feature given its parents: of the factual in its class, of the
        counterfactual in the target class.
    z_score : Series
        How far the counterfactual's features are from that, in conditional standard deviations of the
        target class.
    density_percentile : float
        Share, in per cent, of the target class's training rows that are less typical of it; of the cases
        that the model expects, where it was adopted without its data.
    """

    status: Status
    message: str
    factual: pd.Series
    counterfactual: pd.Series | None
    factual_class: Any
    target: Any
    factual_probability: float
    probability: float
    worst_probability: float
    distance: float
    lower_bound: float
    gap: float
    budget: float
    norm: float
    whitening: str
    threshold: float
    certified_radius: float
    coverage: float
    violation: float
    early_stop: bool
    unit: pd.Series
    low: pd.Series
    high: pd.Series
    iterations: tuple[IterationRecord, ...]
    seconds: float
    method: str
    backend: str
    model: str = ""
    certificate: dict[str, Any] | None = None
    decision: Any = None
    row: Any = None
    parents: tuple[tuple[int, ...], ...] = ()
    expected_before: pd.Series | None = None
    expected_after: pd.Series | None = None
    z_score: pd.Series | None = None
    density_percentile: float = math.nan

    def changes(self) -> pd.DataFrame:
        """Feature by feature: from, to, difference, and that in standard deviations; largest first."""
        end = self.factual if self.counterfactual is None else self.counterfactual
        difference = end - self.factual
        table = pd.DataFrame(
            {
                "feature": list(self.factual.index),
                "from": self.factual.to_numpy(),
                "to": end.to_numpy(),
                "difference": difference.to_numpy(),
                "in standard deviations": (difference / self.unit).to_numpy(),
            }
        )
        order = table["in standard deviations"].abs().sort_values(ascending=False, kind="stable").index
        return table.loc[order].reset_index(drop=True)

    def expectations(self) -> pd.DataFrame:
        """Whether the change hangs together: what the network expects of each feature that changes.

        Before: the factual class, given the factual's parents. After: the target class, given the
        counterfactual's parents; the z-score is the deviation from that in conditional standard
        deviations, within about two for what is usual in the target class.
        """
        if self.counterfactual is None or self.z_score is None or self.expected_before is None:
            raise DataError(f"there is no counterfactual to look at: {self.message}")
        names, moved = list(self.factual.index), self.changes()
        table = pd.DataFrame(
            {
                "feature": names,
                "depends on": [", ".join(str(names[j]) for j in group) for group in self.parents],
                "from": self.factual.to_numpy(),
                "expected before": self.expected_before.to_numpy(),
                "to": self.counterfactual.to_numpy(),
                "expected after": None if self.expected_after is None else self.expected_after.to_numpy(),
                "z-score": self.z_score.to_numpy(),
            }
        ).set_index("feature")
        changed = moved["feature"][moved["in standard deviations"].abs() > UNCHANGED]
        return table.loc[changed.tolist()].reset_index()

    @property
    def cautions(self) -> tuple[str, ...]:
        """What a reader should be warned of, a sentence each."""
        if self.counterfactual is None:
            return ()
        found = []
        if self.status not in (Status.OPTIMAL, Status.ALREADY_TARGET):
            found.append(self.message)
        if self.distance > 0 and self.density_percentile < TAIL:
            found.append(
                f"The counterfactual is untypical of class {self.target}: its density is at percentile "
                f"{self.density_percentile:.1f} of the cases of that class, in the tail."
            )
        if self.budget > 0 and self.coverage < 1:
            found.append(f"Only {part(self.coverage)} of the budget is proven to keep the decision.")
        return tuple(found)

    def to_dict(self) -> dict[str, Any]:
        """Plain values only; not-a-number and infinite ones become None and "inf"."""
        content = {field.name: getattr(self, field.name) for field in fields(self)}
        content["iterations"] = [asdict(record) for record in self.iterations]
        return {name: _plain(value) for name, value in content.items()}

    def to_json(self) -> str:
        """The same as JSON text."""
        return json.dumps(self.to_dict(), indent=1, ensure_ascii=False, allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> Explanation:
        """Read what `to_json` wrote."""
        try:
            content = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise DataError(f"this is not an explanation ({type(error).__name__}: {error})") from None
        return cls.from_dict(content)

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Explanation:
        """Read what `to_dict` gave."""
        try:
            content = dict(values)
            content.update({name: _number(content[name]) for name in NUMBERS})
            content["row"] = tuple(content["row"]) if isinstance(content["row"], list) else content["row"]
            content["parents"] = tuple(tuple(int(j) for j in group) for group in content["parents"])
            for name in SERIES:
                if content[name] is not None:
                    numbers = [_number(value) for value in content[name]["values"]]
                    content[name] = pd.Series(numbers, content[name]["names"], dtype=float)
            content["certificate"] = _read(content.get("certificate"))
            content["status"] = Status(content["status"])
            content["iterations"] = tuple(_record(entry) for entry in content["iterations"])
            return cls(**content)
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
            raise DataError(f"this is not an explanation ({type(error).__name__}: {error})") from None

    def __repr__(self) -> str:
        row = "" if self.row is None else f" of row {self.row}"
        return (
            f"<Explanation{row}: {self.factual_class} -> {self.target}, {self.status}, "
            f"distance {self.distance:.4g}>"
        )

    def __str__(self) -> str:
        from surefoot.faces.report.text import explanation_text

        return explanation_text(self)

    def _repr_html_(self) -> str:
        from surefoot.faces.report.fragment import explanation_fragment

        return explanation_fragment(self)


NUMBERS = (
    "factual_probability", "probability", "worst_probability", "distance", "lower_bound", "gap", "budget",
    "norm", "threshold", "certified_radius", "coverage", "violation", "seconds", "density_percentile",
)  # fmt: skip
SERIES = (
    "factual", "counterfactual", "unit", "low", "high", "expected_before", "expected_after", "z_score",
)  # fmt: skip


def _plain(value: Any) -> Any:
    if isinstance(value, pd.Series):
        return {"names": list(value.index), "values": [_plain(v) for v in value.tolist()]}
    if isinstance(value, Status):
        return str(value)
    if isinstance(value, dict):
        return {name: _plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else ("inf" if value > 0 else "-inf")
    if isinstance(value, str | bool | int | float) or value is None:
        return value
    return value.isoformat() if hasattr(value, "isoformat") else str(value)  # dates and the like name rows


def _number(value: Any) -> float:
    return math.nan if value is None else float(value)


def _read(value: Any) -> Any:
    """Infinities back from their words, all the way down."""
    if isinstance(value, dict):
        return {name: _read(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_read(item) for item in value]
    return float(value) if value in ("inf", "-inf") else value


def _record(entry: dict[str, Any]) -> IterationRecord:
    perturbation = entry["perturbation"]
    numbers = {name: _number(value) for name, value in entry.items() if name != "perturbation"}
    return IterationRecord(**numbers, perturbation=None if perturbation is None else tuple(perturbation))
