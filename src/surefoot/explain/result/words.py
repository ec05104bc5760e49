"""A question in words; text, report and verification print the same ones."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike

from surefoot.days import date_text
from surefoot.explain.ask.dates import date_names
from surefoot.explain.ask.refusal import Refusal
from surefoot.explain.constraints.constraint_set import DATA
from surefoot.explain.constraints.document import read_actions, read_preset
from surefoot.explain.constraints.feature import SAID, Action, between, value_words
from surefoot.explain.constraints.linear import rule_text
from surefoot.formats import exact, first_names, in_list, number, share
from surefoot.problem.either import Way
from surefoot.problem.question import Question
from surefoot.problem.requirements import Away, Decision, DensityFloor, Odds, Probability, Required
from surefoot.problem.row import Row

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


def question_words(question: Question, targets: Sequence[Any] = ()) -> str:
    """What was asked, in one sentence; of several targets the nearest is asked for."""
    names = [str(target) for target in targets or (question.target,)]
    target = names[0] if len(names) == 1 else f"one of the classes {', '.join(names)}"
    change = f"What is the {'smallest' if question.prices is None else 'cheapest'} change"
    given = question.whitening == "given" and question.prices is None
    change += ", in the coordinates of a given matrix, that" if given else " that"
    reached = f"{change} gives {target} a probability of at least {share(question.threshold)}"
    if question.decision is not None and math.isnan(question.threshold):
        value = f"the decision value of {target} at least {question.decision:g}"
        reached = f"{change} puts {value} above that of every other class"
    if len(question.rivals) > 1:
        all_of_them = f" among all {len(question.rivals) + 1} classes"
        reached += all_of_them if question.against == "all" else " against each other class"
    return f"{reached}, {_carried_out(question)}?"


def standing_words(probability: float, question: Question | Refusal) -> str:
    """How a probability below one half is the highest of several; "" where it is a majority, or of two.

    Without it "44 %, and the decision is good" might be read as a majority.
    """
    rivals = len(question.rivals) if isinstance(question, Question) else 0
    if rivals < 2 or not probability < 0.5:
        return ""
    return f", the highest of {rivals + 1} classes but not a majority"


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
    if isinstance(budget, Mapping):
        names = question.number_names
        size = first_names([_miss(names[j], *pair) for j, pair in budget.items()])
    else:
        size = f"{budget:g}" if question.whitening == "given" else _deviations(budget)
    return f"an error of up to {size}"


def _miss(name: Any, down: float, up: float) -> str:
    return f"{down:g} in {name}" if down == up else f"{down:g} below or {up:g} above in {name}"


def allowed_words(question: Question) -> tuple[str, ...]:
    """What was allowed, as it was declared: a phrase for each constraint and each other requirement."""
    declared, said, dates = question.declared, read_actions(question.declared), date_names(question)
    lines, actions = _bound_lines(declared.get("bounds"), dates), cast("Mapping[str, Action]", said.features)
    for may, phrase in SAID.items():
        names = [name for name, action in actions.items() if action.may == may]
        lines += [f"{first_names(names)} {phrase}"] if names else []
    categories = {str(question.features[choice.feature]) for choice in question.choices}
    for name, action in actions.items():
        lines += [f"{name} {phrase}" for phrase in action.phrases(name in categories, name in dates)]
    whole = [name for name in declared.get("whole") or [] if name not in dates]
    stay = "stay whole numbers" if len(whole) > 1 else "stays a whole number"
    lines += [f"{first_names(whole)} {stay}, as in the training data"] if whole else []
    lines += [one.words() for one in said.over_several]
    lines += [*_kept_words(declared), *_plausible_words(question)]
    lines += required_words(question)
    return tuple(lines) or ("every feature may take any value",)


# What each preset means: in a word, and by argument. Nothing is said of arguments that were given.
MEANINGS: dict[str, tuple[str, dict[str, str]]] = {
    "practical": (
        "an answer to act on",
        {
            "at_most": "few features change",
            "keep_personal": "none that a person cannot change",
            "printable": "values can be typed in as they are printed",
            "budget": "small errors are allowed for",
            "bounds": "values stay within the training data",
        },
    ),
    "paper": (
        "the question of the paper",
        {
            "bounds": "features may take any value",
            "at_most": "all of them may change",
            "noise_on": "all of them may be wrong",
            "norm": "the largest change in any coordinate counts",
            "printable": "values are printed as they were found",
        },
    ),
}


def preset_words(question: Question) -> str:
    """What the preset means; "" where the question does not say which one was used."""
    name, given, _ = read_preset(question.declared)
    if name not in MEANINGS:
        return ""
    means, parts = MEANINGS[name]
    idle = {*given} if question.budget else {*given, "budget", "noise_on"}
    said = ", ".join([means, *(words for argument, words in parts.items() if argument not in idle)])
    other = f" Given otherwise: {', '.join(given)}." if given else ""
    return f"Preset {name}: {said}.{other}"


def kept_words(question: Question) -> str:
    """Which features stay though nobody said so, why, and how to free them; "" for none."""
    kept, dates = read_preset(question.declared).kept, date_names(question)
    if not kept:
        return ""
    others, days = ([name for name in kept if (name in dates) is wanted] for wanted in (False, True))
    one, parts = len(others) == 1, []
    if others:
        by_name = (
            f"by {'its name' if one else 'their names'} a person cannot change {'it' if one else 'them'}"
        )
        parts.append(f"{first_names([in_list(name) for name in others])}, since {by_name}")
    if days:
        is_date = "it is a date" if len(days) == 1 else "they are dates"
        parts.append(f"{first_names([in_list(name) for name in days])}, since {is_date}")
    free = f'name it in actions: Actions({{{json.dumps(kept[0])}: "change"}})'
    return f"Kept: {'; '.join(parts)}. To free a feature, {free}."


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
    return [f"{'at least one of ' if len(names) > 1 else ''}{first_names(names)} stays" for names in kept]


def required_words(question: Question) -> list[str]:
    """Whatever is required beyond the sentence of the question: a file must not hide a stricter one."""
    by_phrase: dict[str, list[int]] = {}
    for asked in question.requirements:
        if not _is_usual(asked, question):
            by_phrase.setdefault(_required(asked, question), []).append(asked.model)
    return [f"{phrase}{_under(models)}" for phrase, models in by_phrase.items()]


def _is_usual(asked: Required, question: Question) -> bool:
    """Whether the sentence of the question says it."""
    if isinstance(asked, Odds | Probability):
        reached = asked.threshold == question.threshold
    elif isinstance(asked, Decision):
        reached = asked.value == question.decision and math.isnan(question.threshold)
    else:
        return False
    return reached and (asked.target, asked.robust, asked.model) == (question.target, True, 0)


def _required(asked: Required, question: Question) -> str:
    if isinstance(asked, Away):
        with np.errstate(all="ignore"):
            place = question.unwarped_values(np.array(asked.point))
        dates = date_names(question)
        named = [
            f"{name} {date_text(float(np.rint(v))) if str(name) in dates else f'{v:.6g}'}"
            for name, v in zip(question.number_names, place, strict=True)
        ]
        return f"at least {_deviations(asked.distance)} from {first_names(named)}"
    alone = "" if asked.robust else ", errors apart"
    if isinstance(asked, DensityFloor):
        return f"the log density of class {asked.label} is at least {asked.floor:.6g}{alone}"
    if isinstance(asked, Odds | Probability):
        whom = f"against {asked.rival}" if isinstance(asked, Odds) else "among all classes"
        return f"{asked.target} has a probability of at least {100 * asked.threshold:.10g} % {whom}{alone}"
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
    dates = date_names(question)
    lines = [
        _interval(domain.low[j], domain.high[j], names[j], names[j] in dates)
        for j in np.flatnonzero(narrow).tolist()
    ]
    lines += [f"{names[s.feature]} {value_words(s.values, names[s.feature] in dates)}" for s in domain.sets]
    lines += [_row(row, names, dates) for row in domain.rows]
    for choice in question.choices:
        left = [str(choice.values[v]) for v in choice.allowed]
        if len(left) < len(choice.values):
            more = f"may be {first_names(left)}" if len(left) > 1 else f"stays {left[0]}"
            lines.append(f"{question.features[choice.feature]} {more}")
    ways = ([_way(way, question, names) for way in one.ways] for one in question.eithers)
    lines += [" or ".join(found) or "nothing at all is allowed" for found in ways]
    return (*lines, *(limit.name for limit in question.limits))


def _way(way: Way, question: Question, names: list[str]) -> str:
    """One way of an if-then rule: what numbers and categories are then."""
    parts = [_row(row, names, date_names(question)) for row in way.rows]
    for k, codes in way.values.items():
        choice = question.choices[k]
        values = [str(choice.values[v]) for v in sorted(codes)]
        parts.append(f"{question.features[choice.feature]} is {' or '.join(values)}")
    return " and ".join(parts)


def _row(row: Row, names: list[str], dates: frozenset[str]) -> str:
    if row.feature is not None:
        return _interval(row.low, row.high, names[row.feature], names[row.feature] in dates)
    return rule_text(dict(zip(names, row.coefficients.tolist(), strict=True)), row.low, row.high)


def _interval(low: float, high: float, name: str, is_date: bool = False) -> str:
    if low == high:
        return f"{name} stays {date_text(float(low)) if is_date else exact(low)}"
    return f"{name} {between(float(low), float(high), is_date)}"


def _bound_lines(bounds: Any, dates: frozenset[str]) -> list[str]:
    if bounds is None:
        return []
    if bounds == DATA:
        return ["every feature stays within the range seen in training"]
    seen = [name for name, ends in bounds.items() if ends == DATA]
    lines = [f"{first_names(seen)} within the range seen in training"] if seen else []
    ended = {name: ends for name, ends in bounds.items() if ends != DATA}
    return [*lines, *(f"{name} {between(low, high, name in dates)}" for name, (low, high) in ended.items())]
