"""Ways: what would change a decision, each as the values that are enough."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from surefoot.days import as_date, as_days
from surefoot.explain.answer.decimals import count_decimals
from surefoot.explain.answer.region import Region
from surefoot.explain.result.broken import breaks_a_rule
from surefoot.explain.result.explanation import Explanation
from surefoot.ui.letters.labels import Labels
from surefoot.ui.letters.writer import Writer

MOST_WAYS = 3  # side by side; ten times as many fit on no page
# Of the least change that a way asks of a number: who is spared less than that by changing more is not shown
# the way. Ten times as much, and ways that ask for half as much of one number would be left out.
SPARED = 0.05
# Values that a way lists beside other ways; a longer one stands alone. Ten times as many fit on no page.
MANY_CHANGES = 6


@dataclass(frozen=True)
class Needed:
    """One value of a way: what is enough, and what it is today."""

    name: str
    enough: str
    today: str


@dataclass(frozen=True)
class Way:
    """One way to the decision: everything in it together, and nothing else."""

    title: str
    needed: tuple[Needed, ...]

    @property
    def is_long(self) -> bool:
        """Whether it is printed in columns."""
        return len(self.needed) > MANY_CHANGES


def found_ways(
    answers: Sequence[Explanation], classifier: Any, labels: Labels
) -> list[tuple[Explanation, Region]]:
    """The answers that a letter shows, each with what is enough.

    No two change the same, and none asks for all that another asks for and more.
    """
    shown = [e for e in answers if e.counterfactual is not None and e.changed][:MOST_WAYS]
    if any(len(e.changed) > MANY_CHANGES for e in shown):
        shown = shown[:1]
    found: list[tuple[Explanation, Region]] = []
    for e in shown:
        region = e.enough(classifier, decimals=labels.decimals)
        if all(set(needed(*one)) != set(needed(e, region)) for one in found):
            found.append((e, region))
    return [one for one in found if not any(_asks_less(other, one) for other in found)]


def _asks_less(one: tuple[Explanation, Region], other: tuple[Explanation, Region]) -> bool:
    """Whether whoever does what the other way asks for has done all of this one, or nearly so, and more."""
    asked, today = needed(*one), one[0].factual
    if not set(asked) < set(needed(*other)):
        return False
    return all(_is_within(name, other[1], one[1], today[name]) for name in asked)


def _is_within(name: Any, region: Region, wider: Region, today: Any) -> bool:
    """Whether what a region states of a feature lies within what another one states, or nearly so."""
    if name in wider.categories:
        return set(region.categories[name]) <= set(wider.categories[name])
    inner, outer = (next(x for x in r.numbers if x.feature == name) for r in (region, wider))
    now = float(as_days(today))
    room = SPARED * max(inner.proven[0] - now, now - inner.proven[1], 0.0)
    return outer.low - room <= inner.low and inner.high <= outer.high + room


def needed(e: Explanation, region: Region) -> list[Any]:
    """The features that have to change: today's value of any other is within what is enough, and can stay."""
    stays = [
        one.feature
        for one in region.numbers
        if one.proven[0] <= float(as_days(e.factual[one.feature])) <= one.proven[1]
    ]
    known = [one.feature for one in region.numbers] + list(region.categories)
    return [name for name in e.changed if name in known and name not in stays]


def ways_of(found: Sequence[tuple[Explanation, Region]], writer: Writer) -> tuple[Way, ...]:
    """The ways in words."""
    return tuple(
        _way(e, region, writer, writer.say("Way {number}", number=k) if len(found) > 1 else "")
        for k, (e, region) in enumerate(found, start=1)
    )


def _way(e: Explanation, region: Region, writer: Writer, title: str) -> Way:
    ranges = {
        one.feature: writer.range(one, is_date=isinstance(e.factual[one.feature], dt.date))
        for one in region.numbers
    }
    ranges |= {name: _one_of(name, values, writer) for name, values in region.categories.items()}
    return Way(title, tuple(_needed(name, ranges[name], e, writer) for name in needed(e, region)))


def _needed(name: Any, enough: str, e: Explanation, writer: Writer) -> Needed:
    value = writer.own(name, e.factual[name])
    if str(name) in writer.estimated:
        return Needed(
            writer.name(name), enough, writer.say("was missing, and was estimated: {value}", value=value)
        )
    if isinstance(e.factual[name], dt.date):  # "today" beside another day would be misread
        return Needed(writer.name(name), enough, writer.say("in your case: {value}", value=value))
    return Needed(writer.name(name), enough, writer.say("today: {value}", value=value))


def _one_of(feature: Any, values: Sequence[Any], writer: Writer) -> str:
    return writer.language.any_of([writer.shown(feature, value) for value in values])


def not_enough_words(e: Explanation, region: Region, classifier: Any, writer: Writer) -> str:
    """Values just outside, as a sentence; "" where none are known, or none that says more than the way.

    One feature has the value of the example, the others that have to change are as in the answer, and what
    can stay stays. One that breaks a rule is left out: the rule ends what is enough before the decision does,
    and two limits would be confusing.
    """
    asked, tried = needed(e, region), _just_outside(e, region, writer.labels)
    if tried is None or breaks_a_rule(e.question, tried):
        return ""
    decided = classifier.predict(pd.DataFrame([tried.to_dict()]))[0]
    if decided == e.target or all(tried[name] == e.factual[name] for name in asked):
        return ""
    assert region.example is not None
    first = region.example.feature
    names = [first, *(name for name in asked if name != first)]
    parts = [
        writer.say("{name} {value}", name=writer.name(name), value=writer.shown(name, tried[name]))
        for name in names
    ]
    known = {"values": writer.language.all_of(parts), "decision": writer.decision(decided)}
    if decided == e.factual_class:
        return writer.say("Not enough, for example: {values}. The decision then stays {decision}.", **known)
    return writer.say("Not enough, for example: {values}. The decision then is {decision}.", **known)


def _just_outside(e: Explanation, region: Region, labels: Labels) -> pd.Series | None:
    """Today's row with what has to change as in the answer, and the value of the example; None without one.

    Of a number with more decimals than its label, the limit that is nearest to the answer.
    """
    asked, example = needed(e, region), region.example
    if example is None or example.feature not in asked or len(asked) > MANY_CHANGES:
        return None
    tried, ends = e.factual.copy(), {one.feature: (one.low, one.high) for one in region.numbers}
    for name in asked:
        tried[name] = x = region.answer[name]
        if name in ends and count_decimals(float(as_days(x))) > labels.decimals.get(str(name), math.inf):
            tried[name] = min(ends[name], key=lambda end: abs(end - x))
    is_date = isinstance(tried[example.feature], dt.date)
    tried[example.feature] = as_date(example.value) if is_date else example.value
    return tried
