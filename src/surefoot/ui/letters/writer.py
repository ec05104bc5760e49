"""Writer: names, values and ranges of a letter, in its language and with the sender's labels."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from numbers import Real
from typing import Any

from surefoot.days import as_date
from surefoot.explain.answer.region import Interval
from surefoot.explain.result.explanation import Explanation
from surefoot.problem.question import Question
from surefoot.table.rare import RARE
from surefoot.ui.letters.labels import Labels
from surefoot.ui.letters.language import Language, harmless


@dataclass(frozen=True)
class Writer:
    """Writes what letters print; every number to its last digit, but for those that are estimates.

    Parameters
    ----------
    language : Language
    labels : Labels
    given : dict, optional
        The row as it was given, by feature: of values that the model puts together with other rare ones it
        knows which one it was.
    estimated : collection of str, optional
        Features whose values were missing: what stands for them is known roughly.
    """

    language: Language
    labels: Labels
    given: Mapping[Any, Any] = field(default_factory=dict)
    estimated: Collection[str] = ()

    def say(self, message: str, **values: Any) -> str:
        """A message in the letter's language."""
        return self.language.say(message, **values)

    def name(self, feature: Any) -> str:
        """What a feature is called."""
        return harmless(self.labels.of(feature).label)

    def decision(self, label: Any) -> str:
        """What a decision is called, in quotes."""
        return self.quoted(harmless(self.labels.decisions.get(str(label)) or label))

    def quoted(self, text: str) -> str:
        """A text in the quotation marks of the language."""
        return self.say("“{text}”", text=text)

    def value(self, feature: Any, value: Any) -> str:
        """A value with its unit; a category by its name."""
        if is_missing(value):
            return self.say("missing")
        if isinstance(value, dt.date):
            return self.language.date(value)
        label = self.labels.of(feature)
        if isinstance(value, Real) and not isinstance(value, bool) and str(value) not in label.values:
            return self.number(feature, float(value), label.decimals or 0)
        if isinstance(value, bool) and not label.values.get(str(value)):
            return self.say("yes") if value else self.say("no")
        if self._is_rare(feature, value):
            return self.say("one of the less common values")
        return harmless(label.values.get(str(value)) or value)

    def number(self, feature: Any, value: float, decimals: int = 0) -> str:
        """A number with the feature's unit; one that is not whole with at least the decimals of its label."""
        label = self.labels.of(feature)
        unit, least = label.unit, 0 if float(value).is_integer() else label.decimals or 0
        text = self.language.number(value, max(decimals, least))
        return self.language.with_unit(text, harmless(unit)) if unit.strip() else text

    def _is_rare(self, feature: Any, value: Any) -> bool:
        """Whether it stands for values that were put together, and nobody said what to call them."""
        return bool(value == RARE) and self.labels.of(feature).values.get(RARE, RARE) == RARE

    def shown(self, feature: Any, value: Any) -> str:
        """A value in a sentence: names in quotes, numbers without."""
        text = self.value(feature, value)
        is_name = isinstance(value, str) and not self._is_rare(feature, value)
        return self.quoted(text) if is_name else text

    def own(self, feature: Any, value: Any) -> str:
        """A value of the person's in a sentence; one that is rare as it was given, where that is known."""
        if str(feature) in self.estimated and isinstance(value, float) and not value.is_integer():
            return self.say("about {value}", value=self.about(feature, value))
        text = self.given.get(feature)
        if not self._is_rare(feature, value) or is_missing(text) or text == RARE:
            return self.shown(feature, value)
        return self.say("{value} (one of the less common values)", value=self.quoted(harmless(text)))

    def about(self, feature: Any, value: Any) -> str:
        """A value that is known roughly, such as a median: three digits before a point are enough."""
        if isinstance(value, float) and math.isfinite(value) and not value.is_integer():
            return self.number(feature, float(f"{value:.0f}" if abs(value) >= 100 else f"{value:.3g}"))
        return self.shown(feature, value)

    def range(self, one: Interval, is_date: bool = False) -> str:
        """Between which values a number, or a date, is enough."""
        low, high = (self.value(one.feature, as_date(v) if is_date else v) for v in (one.low, one.high))
        if one.low == one.high:
            return self.say("exactly {value}", value=low)
        if math.isinf(one.low) and math.isinf(one.high):
            return self.say("any value")
        if is_date and math.isinf(one.low):
            return self.say("no later than {value}", value=high)
        if is_date and math.isinf(one.high):
            return self.say("no earlier than {value}", value=low)
        if math.isinf(one.low):
            return self.say("at most {value}", value=high)
        if math.isinf(one.high):
            return self.say("at least {value}", value=low)
        return self.say("from {low} to {high}", low=low, high=high)


def is_missing(value: Any) -> bool:
    """Whether there is no value."""
    return value is None or (isinstance(value, float) and math.isnan(value))


def written_by(e: Explanation) -> Mapping[Any, Any]:
    """The row's own values that the model counts with other rare ones, as the question keeps them."""
    declared = e.question.declared if isinstance(e.question, Question) else {}
    return {
        name: declared["written"][str(name)]
        for name in e.factual.index
        if str(name) in declared.get("written", {})
    }


def estimated_by(e: Explanation) -> tuple[str, ...]:
    """The features of the row that had no value, and were filled."""
    declared = e.question.declared if isinstance(e.question, Question) else {}
    return tuple(declared.get("imputed") or ())
