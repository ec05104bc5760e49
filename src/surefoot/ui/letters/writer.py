"""Writer: names, values and ranges of a letter, in its language and with the sender's labels."""

from __future__ import annotations

import datetime as dt
import math
from dataclasses import dataclass
from numbers import Real
from typing import Any

from surefoot.days import as_date
from surefoot.explain.result.region import Interval
from surefoot.ui.letters.labels import Labels
from surefoot.ui.letters.language import Language, harmless


@dataclass(frozen=True)
class Writer:
    """Writes what letters print; every number to its last digit."""

    language: Language
    labels: Labels

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
            text = self.language.number(float(value), label.decimals)
            return f"{text} {harmless(label.unit)}" if label.unit.strip() else text
        if isinstance(value, bool) and not label.values.get(str(value)):
            return self.say("yes") if value else self.say("no")
        return harmless(label.values.get(str(value)) or value)

    def shown(self, feature: Any, value: Any) -> str:
        """A value in a sentence: names in quotes, numbers without."""
        text = self.value(feature, value)
        return self.quoted(text) if isinstance(value, str) else text

    def about(self, feature: Any, value: Any) -> str:
        """A value that is known roughly, such as a median: three digits before a point are enough."""
        if isinstance(value, float) and math.isfinite(value) and not value.is_integer():
            value = float(f"{value:.0f}" if abs(value) >= 100 else f"{value:.3g}")
        return self.shown(feature, value)

    def range(self, one: Interval, is_date: bool = False) -> str:
        """Between which values a number, or a date, is enough."""
        low, high = (self.value(one.feature, as_date(v) if is_date else v) for v in (one.low, one.high))
        if one.low == one.high:
            return self.say("exactly {value}", value=low)
        if math.isinf(one.low) and math.isinf(one.high):
            return self.say("any value")
        if math.isinf(one.low):
            return self.say("at most {value}", value=high)
        if math.isinf(one.high):
            return self.say("at least {value}", value=low)
        return self.say("from {low} to {high}", low=low, high=high)


def is_missing(value: Any) -> bool:
    """Whether there is no value."""
    return value is None or (isinstance(value, float) and math.isnan(value))
