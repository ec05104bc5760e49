"""The values of an explanation as people write them: names, whole numbers, prices, errors in own units."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from surefoot.days import date_text
from surefoot.explain.ask.dates import date_names
from surefoot.explain.result.display_digits import today_text
from surefoot.explain.result.explanation import Explanation
from surefoot.formats import exact, number, one_line, share
from surefoot.problem.choice import Choice
from surefoot.problem.question import Question


class Values:
    """Writes the values of one explanation, each in the way of its feature."""

    def __init__(self, explanation: Explanation) -> None:
        self.explanation = explanation
        question = explanation.question
        self.question = question if isinstance(question, Question) else None
        choices = () if self.question is None else self.question.choices
        self.choices: dict[Any, Choice] = {question.features[choice.feature]: choice for choice in choices}

    @cached_property
    def dates(self) -> frozenset[str]:
        """Names of the numbers that are dates."""
        return date_names(self.question)

    @cached_property
    def units(self) -> pd.Series:
        """A standard deviation of each number in its own units; on a curved scale, where the factual is."""
        e, question = self.explanation, self.question
        if question is None or not question.warps:
            return e.unit
        with np.errstate(all="ignore"):
            slopes = [float(w.slope(x)) for w, x in zip(question.warps, question.factual, strict=True)]
            own = e.unit.copy()
            own.iloc[list(question.numbers)] = e.context.unit / np.array(slopes)
        return own

    @cached_property
    def reached(self) -> dict[Any, str]:
        """The counterfactual's values by feature, such that what is typed back is the value itself."""
        point = self.explanation.counterfactual
        return {} if point is None else {name: named(value) for name, value in point.items()}

    def unit(self, feature: Any) -> str:
        """The unit that its numbers were written with; "" where they had none."""
        declared = {} if self.question is None else self.question.declared
        return str(declared.get("units", {}).get(str(feature), ""))

    def today(self, feature: Any) -> str:
        """Today's value; one that counts as rare as it was written."""
        value = self.explanation.factual[feature]
        written = {} if self.question is None else self.question.declared.get("written", {})
        if str(feature) in written:
            return one_line(f"{written[str(feature)]} {value}")
        if feature in self.choices or str(feature) in self.dates:
            return named(value)
        return today_text(value, self.reached.get(feature, ""))

    def counted_as(self, feature: Any) -> str:
        """Today's value of a category as the model has it: shares of classes are about all rare ones."""
        return named(self.explanation.factual[feature])

    def expected(self, feature: Any, value: float, label: Any) -> str:
        """What is expected of a feature in a class; of a category, which share of the class has its value."""
        if feature in self.choices:
            alike = self.explanation.parents[self.choices[feature].feature]
            return f"{share(value)} of {'such cases of ' if alike else ''}class {label}"
        if str(feature) in self.dates and math.isfinite(value):
            return str(date_text(float(round(value))))
        return "unbounded" if math.isinf(value) else number(value, self.units[feature]).replace(",", "")

    def price(self, feature: Any) -> float:
        """What the change of a category adds to the distance; nothing for a number."""
        state = self.explanation.answer.state
        if feature not in self.choices or not state:
            return 0.0
        code = state[list(self.choices).index(feature)]
        return float(self.choices[feature].prices[code])

    @property
    def total_price(self) -> float:
        """What all changed categories add to the distance."""
        return float(sum(self.price(feature) for feature in self.choices))

    @property
    def moved_categories(self) -> tuple[Any, ...]:
        """The categories that change."""
        e = self.explanation
        if e.counterfactual is None:
            return ()
        return tuple(name for name in self.choices if e.factual[name] != e.counterfactual[name])

    def errors(self) -> tuple[str, ...]:
        """What the budget is at the counterfactual in own units: of each number that may miss.

        Only where a number is measured on a curved scale: elsewhere it is the same everywhere.
        """
        question, e = self.question, self.explanation
        if question is None or e.answer.point is None or not question.warps:
            return ()
        if isinstance(question.budget, Mapping) or question.budget == 0:
            return ()
        free = [j for j in range(len(question.numbers)) if j not in question.exact]
        return tuple(self._error(question, j) for j in free)

    def _error(self, question: Question, j: int) -> str:
        e = self.explanation
        warp, x = question.warps[j], float(e.answer.point[j])  # type: ignore[index]
        size, z = float(question.budget) * float(e.context.unit[j]), question.warps[j].exactly(x)  # type: ignore[arg-type]
        down, up = float(warp.inverse(z - size)) - x, float(warp.inverse(z + size)) - x
        return f"{question.number_names[j]} {_signed(down)} to {_signed(up)}"


def named(value: Any) -> str:
    """A value of a category, or a number: the shortest text that reads back as the same.

    Examples
    --------
    >>> named("own"), named(True), named(2.0)
    ('own', 'True', '2')
    """
    return exact(value) if isinstance(value, float) else str(value)


def is_cost(explanation: Explanation) -> bool:
    """Whether the distance is what a change costs."""
    return isinstance(explanation.question, Question) and explanation.question.prices is not None


def is_given(explanation: Explanation) -> bool:
    """Whether a matrix of the user's own says how long a change is, and not standard deviations."""
    return explanation.whitening == "given" and not is_cost(explanation)


def is_change(explanation: Explanation) -> bool:
    """Whether there is a counterfactual that differs from the factual; a category may change for nothing."""
    if explanation.counterfactual is None:
        return False
    return explanation.distance > 0 or bool(Values(explanation).moved_categories)


def _signed(value: float) -> str:
    """A difference with its sign and three digits."""
    if not math.isfinite(value):
        return "unbounded"
    text = number(value, abs(value))
    return f"+{text}" if value > 0 else text
