"""Rules that stand in the way of a decision, or that today's row breaks, in the words of a letter.

A diagnosis names them in English sentences: "'age' must not change". Those that a letter knows are said in
its language. Rules that guard a protected feature are not named, since that would read like a way out.
"""

from __future__ import annotations

import re
from typing import Any

from surefoot.days import as_date, as_days
from surefoot.explain.ask.dates import date_names
from surefoot.explain.constraints.actions import Action, Actions
from surefoot.explain.constraints.constraint import Constraint
from surefoot.explain.constraints.document import read_actions
from surefoot.explain.result.broken import broken_rules
from surefoot.explain.result.explanation import Explanation
from surefoot.model.classifier import ConditionalGaussianNetworkClassifier
from surefoot.problem.question import Question
from surefoot.ui.letters.language import harmless, mark
from surefoot.ui.letters.rule_words import rule_words
from surefoot.ui.letters.writer import Writer

STAYS = "must not change"
NUMBER = r"(?P<value>[-+.\de]+)"
SIZE = NUMBER.replace("value", "size")
# What is said of one feature, and how a letter says it; a size is a difference, of dates in days.
PHRASES = {
    "may only rise": mark("{name} may only rise"),
    "may only fall": mark("{name} may only fall"),
    f"is at least {NUMBER}(, or as it is)?": mark("{name} has to be at least {value}"),
    f"is at most {NUMBER}(, or as it is)?": mark("{name} has to be at most {value}"),
    f"changes by at most {SIZE}": mark("{name} may change by at most {size}"),
    f"changes by at least {SIZE}, or not at all": mark("{name} changes by at least {size} or not at all"),
    f"changes in steps of {SIZE}": mark("{name} changes in steps of {size}"),
    "takes only the values (?P<values>.+)": mark("{name} can only take certain values: {values}"),
    "(takes whole numbers only|stays a whole number, as in the training data)": mark(
        "{name} has to be a whole number"
    ),
    "moves only where its action says": mark("{name} can only change to certain values"),
}
DATES = {
    "may only rise": mark("{name} may only become later"),
    "may only fall": mark("{name} may only become earlier"),
    f"is at least {NUMBER}(, or as it is)?": mark("{name} must not be earlier than {value}"),
    f"is at most {NUMBER}(, or as it is)?": mark("{name} must not be later than {value}"),
}


def rule_lines(
    e: Explanation, clf: ConditionalGaussianNetworkClassifier, writer: Writer
) -> tuple[tuple[str, ...], bool]:
    """The rules in the way, one line each; and whether some are left out because they guard a person.

    All features that must not change share one line.
    """
    names = tuple(guarded(e, clf))
    several = {one.relaxation()[0]: one for one in read_actions(_declared(e)).over_several}
    fixed: list[str] = []
    lines: list[str] = []
    left_out = False
    for words in e.conflict:
        feature, phrase = _split(words, e.question.features)
        rule = several.get(words)
        if _concerns(words, feature, rule, names):
            left_out = True
        elif rule is not None:
            lines.append(_several(rule, e, writer))
        elif phrase == STAYS:
            fixed.append(writer.name(feature))
        else:
            lines.append(_line(words, feature, phrase, e, writer))
    if fixed:
        first = writer.say("These details are treated as fixed: {names}", names=writer.language.all_of(fixed))
        lines.insert(0, first)
    return tuple(lines), left_out


def broken_lines(
    e: Explanation, clf: ConditionalGaussianNetworkClassifier, writer: Writer
) -> tuple[str, ...]:
    """The rules that today's row breaks; none over a protected feature."""
    names = tuple(guarded(e, clf))
    found = (rule for rule in broken_rules(e.question) if not _concerns("", None, rule, names))
    return tuple(_several(rule, e, writer) for rule in found)


def _declared(e: Explanation) -> dict[str, Any]:
    return dict(e.question.declared) if isinstance(e.question, Question) else {}


def guarded(e: Explanation, clf: ConditionalGaussianNetworkClassifier) -> dict[Any, str]:
    """The protected features, each with the reason: its name says so, or the sender."""
    if not isinstance(e.question, Question):
        return {}
    proposed, declared = Actions.proposed(clf), read_actions(e.question.declared)
    actions = [*declared.features.items(), *proposed.features.items()]
    said = {str(name) for name, one in actions if isinstance(one, Action) and one.protected}
    why = {str(name): reason for name, reason in proposed.reasons.items()}
    names = (name for name in e.question.features if str(name) in said)
    return {name: why.get(str(name), "its action says so") for name in names}


def _concerns(words: str, feature: Any, rule: Constraint | None, guarded: tuple[Any, ...]) -> bool:
    """Whether a rule is about a guarded feature: its own, or one over several that names it."""
    if feature is not None:
        return feature in guarded
    if rule is not None:
        return not {str(name) for name in guarded}.isdisjoint(map(str, rule.named()))
    return any(re.search(rf"(?<!\w){re.escape(str(name))}(?!\w)", words) for name in guarded)


def _split(words: str, features: tuple[Any, ...]) -> tuple[Any, str]:
    """The feature that a rule is about, and the rest; None where it is about several."""
    for name in sorted(features, key=lambda name: -len(repr(name))):
        if words.startswith(f"{name!r} "):
            return name, words[len(repr(name)) + 1 :]
    return None, words


def _several(rule: Constraint, e: Explanation, writer: Writer) -> str:
    question = e.question
    assert isinstance(question, Question)
    row = question.row(question.factual, question.state)
    today = dict(zip(map(str, question.features), row, strict=True))
    return rule_words(rule, today, date_names(question), writer)


def _line(words: str, feature: Any, phrase: str, e: Explanation, writer: Writer) -> str:
    if feature is None:
        return writer.say("the rule {rule}", rule=writer.quoted(harmless(words)))
    is_date = str(feature) in date_names(e.question)
    for pattern, message in {**PHRASES, **(DATES if is_date else {})}.items():
        match = re.fullmatch(pattern, phrase)
        if match:
            known = {key: _shown(key, text, feature, e, writer) for key, text in match.groupdict().items()}
            return writer.say(message, name=writer.name(feature), **known)
    return writer.say("{name}: a rule of its own", name=writer.name(feature))


def _shown(key: str, text: str, feature: Any, e: Explanation, writer: Writer) -> str:
    """What a phrase names: a value, a difference or a list of values."""
    is_date = str(feature) in date_names(e.question)
    if key == "values":
        action: Any = read_actions(_declared(e)).features.get(str(feature))
        listed = [as_date(float(v)) if is_date else v for v in getattr(action, "values", None) or ()]
        return writer.language.all_of([writer.shown(feature, v) for v in listed]) or harmless(text)
    if key == "size" and is_date:
        return writer.say("{count} days", count=writer.language.number(float(text)))
    if is_date:
        return writer.value(feature, as_date(as_days(text)))
    return writer.number(feature, float(text))
