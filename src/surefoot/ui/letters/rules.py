"""Rules that stand in the way of a decision, in the words of a letter.

A diagnosis names them in English sentences: "'age' must not change". Those that a letter knows are said in
its language; a rule of the sender's own is shown as the sender wrote it. Rules that guard a protected feature
are not named, since that would read like a way out.
"""

from __future__ import annotations

import re
from typing import Any

from surefoot.explain.constraints.actions import Action, Actions
from surefoot.explain.constraints.document import read_actions
from surefoot.explain.result.explanation import Explanation
from surefoot.model.classifier import ConditionalGaussianNetworkClassifier
from surefoot.problem.question import Question
from surefoot.ui.letters.language import harmless, mark
from surefoot.ui.letters.writer import Writer

STAYS = "must not change"
NUMBER = r"(?P<value>[-+.\de]+)"
# What is said of one feature, and how a letter says it.
PHRASES = {
    "may only rise": mark("{name} may only rise"),
    "may only fall": mark("{name} may only fall"),
    f"is at least {NUMBER}(, or as it is)?": mark("{name} has to be at least {value}"),
    f"is at most {NUMBER}(, or as it is)?": mark("{name} has to be at most {value}"),
    f"changes by at most {NUMBER}": mark("{name} may change by at most {value}"),
    f"changes by at least {NUMBER}, or not at all": mark("{name} changes by at least {value} or not at all"),
    f"changes in steps of {NUMBER}": mark("{name} changes in steps of {value}"),
    "takes only the values (?P<values>.+)": mark("{name} can only take certain values: {values}"),
    "(takes whole numbers only|stays a whole number, as in the training data)": mark(
        "{name} has to be a whole number"
    ),
    "moves only where its action says": mark("{name} can only change to certain values"),
}
AT_MOST = re.compile(r"at most (?P<most>\d+) features? (may )?changes?")


def rule_lines(
    e: Explanation, clf: ConditionalGaussianNetworkClassifier, writer: Writer
) -> tuple[tuple[str, ...], bool]:
    """The rules in the way, one line each; and whether some are left out because they guard a person.

    All features that must not change share one line.
    """
    guarded = _guarded(e, clf)
    fixed: list[str] = []
    lines: list[str] = []
    left_out = False
    for wish in e.conflict:
        feature, phrase = _split(wish, e.question.features)
        if any(_concerns(wish, feature, name) for name in guarded):
            left_out = True
        elif phrase == STAYS:
            fixed.append(writer.name(feature))
        else:
            lines.append(_line(wish, feature, phrase, writer))
    if fixed:
        first = writer.say("These details are treated as fixed: {names}", names=writer.language.all_of(fixed))
        lines.insert(0, first)
    return tuple(lines), left_out


def _guarded(e: Explanation, clf: ConditionalGaussianNetworkClassifier) -> tuple[Any, ...]:
    """The protected features: declared so, or by their names."""
    if not isinstance(e.question, Question):
        return ()
    actions = [*read_actions(e.question.declared).features.items(), *Actions.proposed(clf).features.items()]
    said = {str(name) for name, one in actions if isinstance(one, Action) and one.protected}
    return tuple(name for name in e.question.features if str(name) in said)


def _concerns(wish: str, feature: Any, guarded: Any) -> bool:
    """Whether a rule is about a feature: its own, or one over several that names it."""
    if feature is not None:
        return bool(feature == guarded)
    return re.search(rf"(?<!\w){re.escape(str(guarded))}(?!\w)", wish) is not None


def _split(wish: str, features: tuple[Any, ...]) -> tuple[Any, str]:
    """The feature that a rule is about, and the rest; None where it is about several."""
    for name in sorted(features, key=lambda name: -len(repr(name))):
        if wish.startswith(f"{name!r} "):
            return name, wish[len(repr(name)) + 1 :]
    return None, wish


def _line(wish: str, feature: Any, phrase: str, writer: Writer) -> str:
    if feature is None:
        few = AT_MOST.fullmatch(wish)
        if few:
            count = writer.language.number(int(few["most"]))
            return writer.say("at most {count} details may change", count=count)
        return writer.say("the rule {rule}", rule=writer.quoted(harmless(_bare(wish))))
    for pattern, message in PHRASES.items():
        match = re.fullmatch(pattern, phrase)
        if match:
            known = match.groupdict()
            if "value" in known:
                known["value"] = writer.value(feature, float(known["value"]))
            if "values" in known:
                known["values"] = harmless(known["values"])
            return writer.say(message, name=writer.name(feature), **known)
    return writer.say("{name}: a rule of its own", name=writer.name(feature))


def _bare(wish: str) -> str:
    """A rule as its author wrote it."""
    text = wish.removeprefix("the rule ")
    quoted = len(text) > 1 and text[0] == text[-1] and text[0] in "'\""
    return text[1:-1] if quoted else text
