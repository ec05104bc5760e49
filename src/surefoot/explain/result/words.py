"""A question in words; text, report and verification print the same ones."""

from __future__ import annotations

import math
from collections.abc import Mapping
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from surefoot.days import date_text
from surefoot.explain.constraints.constraint_set import DATA
from surefoot.explain.constraints.document import read_actions, read_over_several
from surefoot.explain.constraints.feature import SAID, between, value_words
from surefoot.explain.constraints.linear import rule_text
from surefoot.explain.result.dates import date_names
from surefoot.formats import exact, first_names, number, share
from surefoot.problem.either import Way
from surefoot.problem.question import Asked, Away, Decision, DensityFloor, Odds, Question
from surefoot.problem.row import Row

if TYPE_CHECKING:
    from surefoot.explain.result.explanation import Refusal

NORMS = {
    1.0: "summed over the whitened coordinates",
    2.0: "as the length in whitened coordinates",
    math.inf: "in every whitened coordinate",
}
GIVEN_NORMS = {
    1.0: "summed over the coordinates of the given matrix",
    2.0: "as the length in the coordinates of the given matrix",
    math.inf: "in every coordinate of the given matrix",
}


def question_words(question: Question) -> str:
    """What was asked, in one sentence."""
    change = f"What is the {'smallest' if question.prices is None else 'cheapest'} change"
    given = question.whitening == "given" and question.prices is None
    change += ", in the coordinates of a given matrix, that" if given else " that"
    reached = f"{change} gives {question.target} a probability of at least {share(question.threshold)}"
    if question.decision is not None and math.isnan(question.threshold):
        value = f"the decision value of {question.target} at least {question.decision:g}"
        reached = f"{change} puts {value} above that of every other class"
    if len(question.rivals) > 1:
        reached += " against each other class"
    return f"{reached}, {_carried_out(question)}?"


def _carried_out(question: Question) -> str:
    budget = question.budget
    if budget == 0:
        return "if it is carried out exactly"
    even = f"even if it is carried out with {miss_words(question)}"
    if isinstance(budget, Mapping):
        return even
    exact = [str(question.number_names[j]) for j in question.exact]
    known = f"; no error in {first_names(exact)}" if exact else ""
    return f"{even} ({norm_words(question)}{known})"


def norm_words(question: Question | Refusal) -> str:
    """In which coordinates errors are measured, and how their sizes are added up."""
    return (GIVEN_NORMS if question.whitening == "given" else NORMS)[question.norm]


def miss_words(question: Question | Refusal) -> str:
    """How far a change may miss."""
    budget = question.budget
    features = question.number_names if isinstance(question, Question) else question.features
    if isinstance(budget, Mapping):
        return f"an error of up to {first_names([_miss(features[j], *pair) for j, pair in budget.items()])}"
    if question.whitening == "given":
        return f"an error of up to {budget:g}"
    return f"an error of up to {_deviations(budget)}"


def _miss(name: Any, down: float, up: float) -> str:
    if down == up:
        return f"{down:g} in {name}"
    return f"{down:g} below or {up:g} above in {name}"


def allowed_words(question: Question) -> tuple[str, ...]:
    """What was allowed, as it was declared: a phrase for each constraint and each other requirement."""
    declared = question.declared
    lines = list(_bound_lines(declared.get("bounds"), date_names(question)))
    for may, phrase in SAID.items():
        names = [name for name, entry in _actions(declared).items() if entry.get("may") == may]
        lines += [f"{first_names(names)} {phrase}"] if names else []
    categories = {str(question.features[choice.feature]) for choice in question.choices}
    for name, action in read_actions(declared).items():
        is_date = name in date_names(question)
        lines += [f"{name} {phrase}" for phrase in action.phrases(name in categories, is_date)]
    whole = [name for name in declared.get("whole") or [] if name not in date_names(question)]
    stay = "stay whole numbers" if len(whole) > 1 else "stays a whole number"
    lines += [f"{first_names(whole)} {stay}, as in the training data"] if whole else []
    lines += [one.words() for one in read_over_several(declared)]
    lines += [*_kept_words(declared), *_plausible_words(question)]
    lines += required_words(question)
    return tuple(lines) or ("every feature may take any value",)


def _plausible_words(question: Question) -> list[str]:
    """How typical of the target an answer has to be."""
    said = question.declared.get("plausible")
    if isinstance(said, list | tuple) and len(said) == 2:
        return [f"no changed feature is farther than {_deviations(said[1])} from what is expected"]
    if isinstance(said, float | int):
        return [f"at least as typical of {question.target} as {100 * said:g} % of its training rows"]
    return []


def _kept_words(declared: Mapping[str, Any]) -> list[str]:
    """That an answer leaves alone something that each earlier one changed."""
    kept = [list(map(str, names)) for names in declared.get("keeping") or ()]
    return [
        f"{names[0]} stays" if len(names) == 1 else f"at least one of {first_names(names)} stays"
        for names in kept
    ]


def required_words(question: Question) -> list[str]:
    """Whatever is required beyond the sentence of the question: a file must not hide a stricter one."""
    by_phrase: dict[str, list[int]] = {}
    for asked in question.requirements:
        if not _is_usual(asked, question):
            by_phrase.setdefault(_required(asked, question), []).append(asked.model)
    return [f"{phrase}{_under(models)}" for phrase, models in by_phrase.items()]


def _is_usual(asked: Asked, question: Question) -> bool:
    """Whether the sentence of the question says it."""
    stated = (question.target, True, 0)
    if isinstance(asked, Odds):
        return asked.threshold == question.threshold and (asked.target, asked.robust, asked.model) == stated
    if not isinstance(asked, Decision) or not math.isnan(question.threshold):
        return False
    return asked.value == question.decision and (asked.target, asked.robust, asked.model) == stated


def _required(asked: Asked, question: Question) -> str:
    if isinstance(asked, Away):
        with np.errstate(all="ignore"):
            place = question.unwarped_values(np.array(asked.point))
        named = [f"{name} {v:.6g}" for name, v in zip(question.number_names, place, strict=True)]
        return f"at least {_deviations(asked.distance)} from {first_names(named)}"
    alone = "" if asked.robust else ", errors apart"
    if isinstance(asked, DensityFloor):
        return f"the log density of class {asked.label} is at least {asked.floor:.6g}{alone}"
    if isinstance(asked, Odds):
        odds = f"{asked.target} has a probability of at least {100 * asked.threshold:.10g} %"
        return f"{odds} against {asked.rival}{alone}"
    ahead = f"the decision value of {asked.target} is at least {asked.value:g} above"
    return f"{ahead} that of {asked.rival}{alone}"


def _under(models: list[int]) -> str:
    """By which models; nothing is said of the explained one."""
    others = [str(k) for k in models if k]
    if not others:
        return ""
    own = "under the explained model and " if 0 in models else "under "
    return f", {own}model{'s' if len(others) > 1 else ''} {first_names(others)} of the question"


def _deviations(count: float) -> str:
    return f"{count:g} standard deviation{'' if count == 1 else 's'}"


def imputed_words(question: Question) -> str:
    """Which values were missing and what they were set to; empty where none was."""
    names = question.declared.get("imputed") or []
    row = dict(zip(map(str, question.features), question.row(question.factual, question.state), strict=True))
    dates = date_names(question)
    filled = [f"{name} = {_value(date_text(row[name]) if name in dates else row[name])}" for name in names]
    if not filled:
        return ""
    return (
        f"Missing in the row, and set to what the network expects given the rest: {first_names(filled)}. "
        "What the model predicts without them may differ."
    )


def _value(value: Any) -> str:
    """A value of a row, whole numbers without decimals."""
    if isinstance(value, str) or not isinstance(value, Real):
        return str(value)
    x = float(value)
    return f"{x:,.0f}" if x.is_integer() and abs(x) < 1e9 else number(x)


def domain_words(question: Question, observed_range: ArrayLike) -> tuple[str, ...]:
    """Where the domain that was searched is narrower than the range seen in training, or than all numbers."""
    seen = np.asarray(observed_range, dtype=float)[:, list(question.numbers)]
    x0, domain = question.factual, question.domain
    low, high = np.minimum(seen[0], x0), np.maximum(seen[1], x0)
    narrow = (domain.low > low) | (domain.high < high)
    names = [str(name) for name in question.number_names]
    dates = {j for j, name in enumerate(names) if name in date_names(question)}
    lines = [
        _interval(domain.low[j], domain.high[j], names[j], j in dates)
        for j in np.flatnonzero(narrow).tolist()
    ]
    lines += [f"{names[s.feature]} {value_words(s.values)}" for s in domain.sets]
    lines += [_row(row, names) for row in domain.rows]
    for choice in question.choices:
        if len(choice.allowed) < len(choice.values):
            name, open_ones = (
                question.features[choice.feature],
                [str(choice.values[v]) for v in choice.allowed],
            )
            more = f"may be {first_names(open_ones)}" if len(open_ones) > 1 else f"stays {open_ones[0]}"
            lines.append(f"{name} {more}")
    ways = ([_way(way, question, names) for way in one.ways] for one in question.eithers)
    lines += [" or ".join(found) or "nothing at all is allowed" for found in ways]
    return (*lines, *(limit.name for limit in question.limits))


def _way(way: Way, question: Question, names: list[str]) -> str:
    """One way of an if-then rule: what numbers and categories are then."""
    parts = [_row(row, names) for row in way.rows]
    for k, codes in way.values.items():
        choice = question.choices[k]
        values = [str(choice.values[v]) for v in sorted(codes)]
        parts.append(f"{question.features[choice.feature]} is {' or '.join(values)}")
    return " and ".join(parts)


def _row(row: Row, names: list[str]) -> str:
    if row.feature is not None:
        return _interval(row.low, row.high, names[row.feature])
    return rule_text(dict(zip(names, row.coefficients.tolist(), strict=True)), row.low, row.high)


def _interval(low: float, high: float, name: str, date: bool = False) -> str:
    if low == high:
        return f"{name} stays {date_text(float(low)) if date else exact(low)}"
    if date:
        return f"{name} stays from {date_text(float(low))} to {date_text(float(high))}"
    return f"{name} {between(low, high)}"


def _actions(declared: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    return dict(declared.get("actions") or {})


def _bound_lines(bounds: Any, dates: frozenset[str]) -> list[str]:
    if bounds is None:
        return []
    if bounds == DATA:
        return ["every feature stays within the range seen in training"]
    seen = [name for name, ends in bounds.items() if ends == DATA]
    lines = [f"{first_names(seen)} within the range seen in training"] if seen else []
    ended = {name: ends for name, ends in bounds.items() if ends != DATA}
    return [*lines, *(f"{name} {between(low, high, name in dates)}" for name, (low, high) in ended.items())]
