"""Rules over several features in the words of a letter, with the sender's names of the features."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from surefoot.days import as_date
from surefoot.explain.constraints.arithmetic import open_ends
from surefoot.explain.constraints.constraint import Constraint
from surefoot.explain.constraints.grammar import Moves, Takes
from surefoot.explain.constraints.if_then import When
from surefoot.explain.constraints.linear import Rule
from surefoot.explain.constraints.link import Link
from surefoot.ui.letters.language import harmless, mark
from surefoot.ui.letters.writer import Writer

Today = Mapping[str, Any]  # today's values by feature, dates as days
LEAST, MOST, EXACTLY, EARLIEST, LATEST = "least", "most", "exactly", "earliest", "latest"
HAS_TO_BE = {
    LEAST: mark("{name} has to be at least {value}"),
    MOST: mark("{name} has to be at most {value}"),
    EXACTLY: mark("{name} has to be exactly {value}"),
    EARLIEST: mark("{name} must not be earlier than {value}"),
    LATEST: mark("{name} must not be later than {value}"),
}
IS = {
    LEAST: mark("{name} is at least {value}"),
    MOST: mark("{name} is at most {value}"),
    EXACTLY: mark("{name} is {value}"),
    EARLIEST: mark("{name} is not earlier than {value}"),
    LATEST: mark("{name} is not later than {value}"),
}
DOES = {
    "rises": mark("{name} rises"),
    "falls": mark("{name} falls"),
    "changes": mark("{name} changes"),
    "stays": mark("{name} stays as it is"),
}


def rule_words(rule: Constraint, today: Today, dates: frozenset[str], writer: Writer) -> str:
    """What a rule asks for; one with a name of its own is called by it."""
    if isinstance(rule, Rule):
        return _of_sum(rule, today, dates, writer)
    if isinstance(rule, Link):
        return writer.say(
            "{name} changes by {factor} times the change of {leader}",
            name=writer.name(rule.feature),
            factor=writer.language.number(float(rule.factor)),
            leader=writer.name(rule.leader),
        )
    if isinstance(rule, When):
        first, then = (_condition(one, today, dates, writer) for one in rule.conditions)
        return writer.say("if {condition}, then {consequence}", condition=first, consequence=then)
    most = rule.most_changes()
    if most is not None:
        return _limit(most, list(rule.named()), writer)
    return writer.say("the rule {rule}", rule=writer.quoted(harmless(rule.words())))


def _limit(most: int, features: list[Any], writer: Writer) -> str:
    count = writer.language.number(most)
    if not features:
        return writer.say("at most {count} details may change", count=count)
    names = writer.language.all_of([writer.name(name) for name in features])
    return writer.say("of {names}, at most {count} may change", names=names, count=count)


def _of_sum(rule: Rule, today: Today, dates: frozenset[str], writer: Writer) -> str:
    if not isinstance(rule.to_toml(), str) and rule.words() != rule.name:
        return writer.say("the rule {rule}", rule=writer.quoted(harmless(rule.name)))
    found = _comparisons(rule, today, dates, writer)
    return writer.language.all_of([writer.say(HAS_TO_BE[how], name=a, value=b) for a, how, b in found])


def _condition(one: Any, today: Today, dates: frozenset[str], writer: Writer) -> str:
    """A part of an if-then rule."""
    if isinstance(one, Moves):
        return writer.say(DOES[one.how], name=writer.name(one.feature))
    if isinstance(one, Takes):
        value = writer.shown(one.feature, one.value)
        return writer.say(IS[EXACTLY], name=writer.name(one.feature), value=value)
    found = _comparisons(one, today, dates, writer)
    return writer.language.all_of([writer.say(IS[how], name=a, value=b) for a, how, b in found])


def _comparisons(
    rule: Rule, today: Today, dates: frozenset[str], writer: Writer
) -> list[tuple[str, str, str]]:
    """Two sides and how they compare, with today's values as numbers; nothing is subtracted."""
    known = sum(float(a) * float(today[str(name)]) for name, a in rule.now.items())
    terms = {str(name): float(a) for name, a in rule.coefficients.items() if a}
    low, high = open_ends(rule.low, rule.high)
    if low == high:
        return [_sides(terms, low - known, EXACTLY, dates, writer)]
    ends = [(end, how) for end, how in ((low, LEAST), (high, MOST)) if abs(end) != float("inf")]
    return [_sides(terms, end - known, how, dates, writer) for end, how in ends]


def _sides(
    terms: Mapping[str, float], end: float, how: str, dates: frozenset[str], writer: Writer
) -> tuple[str, str, str]:
    if all(a < 0 for a in terms.values()):
        turned = {LEAST: MOST, MOST: LEAST}.get(how, how)
        return _sides({name: -a for name, a in terms.items()}, -end, turned, dates, writer)
    if _is_date(terms, dates):
        name = next(iter(terms))
        found = {LEAST: EARLIEST, MOST: LATEST}.get(how, how)
        return writer.name(name), found, writer.value(name, as_date(end))
    left = [_term(name, a, writer) for name, a in terms.items() if a > 0]
    right = [_term(name, -a, writer) for name, a in terms.items() if a < 0]
    if end or not right:
        side = left if right and end < 0 else right
        side.append(_constant(terms, abs(end) if right else end, writer))
    return " + ".join(left), how, " + ".join(right)


def _term(name: str, factor: float, writer: Writer) -> str:
    if factor == 1:
        return writer.name(name)
    if 0 < factor < 1:
        percent = writer.language.percent(factor)
        return writer.say("{percent} of {name}", percent=percent, name=writer.name(name))
    return writer.say("{factor} times {name}", factor=writer.language.number(factor), name=writer.name(name))


def _is_date(terms: Mapping[str, float], dates: frozenset[str]) -> bool:
    """Whether it is about one date by itself."""
    return len(terms) == 1 and all(name in dates and a == 1 for name, a in terms.items())


def _constant(terms: Mapping[str, float], value: float, writer: Writer) -> str:
    """A number of a rule; with the unit that all of its features have."""
    units = {writer.labels.of(name).unit for name in terms}
    name = next(iter(terms))
    return writer.number(name, value) if len(units) == 1 else writer.language.number(value)
