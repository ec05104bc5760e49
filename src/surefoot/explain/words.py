"""A question in words; text, report and verification print the same ones."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from surefoot.explain.rules import rule_text
from surefoot.explain.wishes import DATA
from surefoot.formats import number, share
from surefoot.waist.domain import Domain
from surefoot.waist.question import Budget, Question

NORMS = {
    1.0: "summed over the whitened coordinates",
    2.0: "as the length in whitened coordinates",
    math.inf: "in every whitened coordinate",
}
MAY = {"stay": "must not change", "rise": "may only rise", "fall": "may only fall"}
WHOLE = "stay whole numbers, as in the training data"
MOST_NAMED = 12  # features in one line


def question_words(question: Question) -> str:
    """What was asked, in one sentence."""
    change = f"What is the smallest change that gives {question.target} a probability of at least"
    reached = f"{change} {share(question.threshold)}"
    if question.decision is not None:
        change = f"What is the smallest change that puts the decision value of {question.target} at least"
        reached = f"{change} {question.decision:g} above that of every other class"
    rivals = {r.to_dict().get("rival") for r in question.requirements} - {None}
    if len(rivals) > 1 and question.decision is None:
        reached += " against each other class"
    return f"{reached}, {_carried_out(question)}?"


def _carried_out(question: Question) -> str:
    budget = question.budget
    if budget == 0:
        return "if it is carried out exactly"
    even = f"even if it is carried out with {miss_words(budget, question.number_names)}"
    if isinstance(budget, Mapping):
        return even
    exact = [str(question.number_names[j]) for j in question.exact]
    known = f"; no error in {_listed(exact)}" if exact else ""
    return f"{even} ({NORMS[question.norm]}{known})"


def miss_words(budget: Budget, features: Sequence[Any]) -> str:
    """How far a change may miss."""
    if isinstance(budget, Mapping):
        return f"an error of up to {_listed([_miss(features[j], *pair) for j, pair in budget.items()])}"
    return f"an error of up to {budget:g} standard deviations"


def _miss(name: Any, down: float, up: float) -> str:
    if down == up:
        return f"{down:g} in {name}"
    return f"{down:g} below or {up:g} above in {name}"


def allowed_words(question: Question) -> tuple[str, ...]:
    """What was allowed, as it was declared: one phrase for each wish."""
    declared = question.declared
    lines = list(_bound_lines(declared.get("bounds")))
    for may, phrase in MAY.items():
        names = [name for name, entry in _actions(declared).items() if entry.get("may") == may]
        lines += [f"{_listed(names)} {phrase}"] if names else []
    for name, entry in _actions(declared).items():
        lines += [f"{name} {phrase}" for phrase in _limits(entry)]
    whole = declared.get("whole") or []
    lines += [f"{_listed(whole)} {WHOLE}"] if whole else []
    rules = [
        dict(zip(question.number_names, row.coefficients.tolist(), strict=True))
        for row in question.domain.rows
    ]
    lines += [rule_text(a, row.low, row.high) for a, row in zip(rules, question.domain.rows, strict=True)]
    return tuple(lines) or ("every feature may take any value",)


def imputed_words(question: Question) -> str:
    """Which values were missing and what they were set to; empty where none was."""
    names = question.declared.get("imputed") or []
    row = dict(zip(map(str, question.features), question.row(question.factual, question.state), strict=True))
    filled = [f"{name} = {row[name] if isinstance(row[name], str) else number(row[name])}" for name in names]
    if not filled:
        return ""
    return f"Missing in the row, and set to what the model expects given the rest: {_listed(filled)}."


def domain_words(question: Question, observed_range: ArrayLike) -> tuple[str, ...]:
    """Where the domain that was searched is narrower than the range seen in training, or than all numbers."""
    seen = np.asarray(observed_range, dtype=float)[:, list(question.numbers)]
    x0, domain = question.factual, question.domain
    low, high = np.minimum(seen[0], x0), np.maximum(seen[1], x0)
    narrow = (domain.low > low) | (domain.high < high)
    names = [str(name) for name in question.number_names]
    lines = [_interval(domain, j, names[j]) for j in np.flatnonzero(narrow).tolist()]
    lines += [f"{names[s.feature]} {_values(s.values)}" for s in domain.sets]
    for row in domain.rows:
        a = dict(zip(names, row.coefficients.tolist(), strict=True))
        lines.append(rule_text(a, row.low, row.high))
    for choice in question.choices:
        if len(choice.allowed) < len(choice.values):
            name, open_ones = (
                question.features[choice.feature],
                [str(choice.values[v]) for v in choice.allowed],
            )
            more = f"may be {_listed(open_ones)}" if len(open_ones) > 1 else f"stays {open_ones[0]}"
            lines.append(f"{name} {more}")
    return tuple(lines)


def _interval(domain: Domain, j: int, name: str) -> str:
    low, high = float(domain.low[j]), float(domain.high[j])
    if low == high:
        return f"{name} stays {number(low)}"
    if low == -math.inf or high == math.inf:
        return f"{name} at least {number(low)}" if high == math.inf else f"{name} at most {number(high)}"
    return f"{name} from {number(low)} to {number(high)}"


def _actions(declared: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    return dict(declared.get("actions") or {})


def _bound_lines(bounds: Any) -> list[str]:
    if bounds is None:
        return []
    if bounds == DATA:
        return ["every feature stays within the range seen in training"]
    seen = [name for name, ends in bounds.items() if ends == DATA]
    lines = [f"{_listed(seen)} within the range seen in training"] if seen else []
    return [*lines, *(f"{name} {_between(*ends)}" for name, ends in bounds.items() if ends != DATA)]


def _limits(entry: Mapping[str, Any]) -> list[str]:
    lines = []
    if "low" in entry or "high" in entry:
        lines.append(_between(entry.get("low"), entry.get("high")))
    if "most" in entry:
        lines.append(f"changes by {entry['most']:g} at most")
    if "step" in entry:
        lines.append(f"changes in steps of {entry['step']:g}")
    if entry.get("whole"):
        lines.append(_values(None))
    if "values" in entry:
        lines.append(_values(tuple(entry["values"])))
    for start, ends in (entry.get("moves") or {}).items():
        lines.append(f"may go from {start} to {_listed([str(v) for v in ends])}")
    cost = entry.get("cost")
    if isinstance(cost, Mapping):
        lines.append("costs " + _listed([f"{price:g} to become {value}" for value, price in cost.items()]))
    elif cost is not None:
        lines.append(f"costs {cost:g} to change")
    return lines


def _values(values: tuple[Any, ...] | None) -> str:
    if values is None:
        return "takes whole numbers only, or stays as it is"
    listed = _listed([v if isinstance(v, str) else f"{v:g}" for v in values])
    return f"takes only the values {listed}, or stays as it is"


def _between(low: float | None, high: float | None) -> str:
    if low is None or low == -math.inf:
        return f"at most {high:g}"
    return f"at least {low:g}" if high is None or high == math.inf else f"from {low:g} to {high:g}"


def _listed(names: list[str]) -> str:
    shown = names[:MOST_NAMED]
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return ", ".join(shown) + more
