"""What more safety costs one row, in words and lines."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from surefoot.explain.result.words import allowed_words
from surefoot.explain.rows.trade_off import TradeOff
from surefoot.formats import number, share
from surefoot.problem.question import Question
from surefoot.status import Status

HEADINGS = {
    "budget": "Errors withstood, in standard deviations",
    "plausible": "How typical of the target",
    "models": "Refitted models",
}
GIVEN_BUDGET = "Errors withstood, in the coordinates of the given matrix"
NOTHING = "-"
FINISHED = (Status.OPTIMAL, Status.ALREADY_TARGET, Status.INFEASIBLE)
LARGE = 10  # per cent; less is shown with a decimal
VERBS = {"budget": "withstand ", "plausible": "be ", "models": "hold under "}


@dataclass(frozen=True)
class Cost:
    """One question of a curve: what was asked for, and what its answer costs."""

    asked: str
    distance: str
    bound: str
    more: str
    typical: str
    refits: str
    remark: str


@dataclass(frozen=True)
class Curve:
    """All questions in which one thing was varied, and what they say in a sentence."""

    heading: str
    sentence: str
    costs: tuple[Cost, ...]

    @property
    def refitted(self) -> bool:
        """Whether refits were asked about any answer."""
        return any(cost.refits != NOTHING for cost in self.costs)


def curves_of(found: TradeOff) -> tuple[Curve, ...]:
    """One curve for each thing that was varied."""
    names = dict.fromkeys(found.table["asked"])
    return tuple(_curve(found, str(name)) for name in names)


def headline_of(found: TradeOff) -> str:
    """What the lines of a page are; proven is said only where all of them are."""
    how = "One thing is asked for at a time, in growing amounts; each line is the"
    if all(e.method == "certified" and e.status in FINISHED for e in found.explanations):
        return f"{how} smallest change for a question of its own, proven."
    return f"{how} best change found for a question of its own. What is proven is in the column that says so."


def shared_constraints(found: TradeOff) -> tuple[str, ...]:
    """What was allowed in every question."""
    asked = [allowed_words(e.question) for e in found.explanations if isinstance(e.question, Question)]
    return tuple(line for line in asked[0] if all(line in other for other in asked)) if asked else ()


def _curve(found: TradeOff, name: str) -> Curve:
    chosen = np.flatnonzero((found.table["asked"] == name).to_numpy())
    lines = found.table.iloc[chosen]
    least = float(lines["distance"].iloc[0])
    costs = tuple(
        _cost(name, line, least, found.explanations[k].advice)
        for k, (_, line) in zip(chosen, lines.iterrows(), strict=True)
    )
    given = any(e.whitening == "given" for e in found.explanations)
    heading = GIVEN_BUDGET if given and name == "budget" else HEADINGS[name]
    return Curve(heading, _sentence(name, lines), costs)


def _cost(name: str, line: Any, least: float, advice: str) -> Cost:
    distance, there = float(line["distance"]), math.isfinite(line["distance"])
    refits = line["model_share"]
    none = "no answer" if line["lower_bound"] == math.inf else "no answer found"
    return Cost(
        asked=_asked(name, float(line["value"])),
        distance=number(distance) if there else none,
        bound=number(float(line["lower_bound"])) if there else NOTHING,
        more=_more(distance, least),
        typical=f"{line['density_percentile']:.0f} %" if there else NOTHING,
        refits=NOTHING if refits is None or math.isnan(refits) else share(float(refits)),
        remark="" if there else advice or str(line["status"]).replace("_", " "),
    )


def _more(distance: float, least: float) -> str:
    """By how much an answer is farther than the first one."""
    if not (math.isfinite(distance) and 0 < least < math.inf):
        return NOTHING
    more = 100 * (distance / least - 1)
    text = f"{more:+.{0 if abs(more) >= LARGE else 1}f} %"
    return "0 %" if text in ("+0.0 %", "-0.0 %") else text


def _asked(name: str, value: float) -> str:
    if name == "budget":
        return f"errors of up to {value:g}" if value else "no error"
    if name == "plausible":
        return f"as typical as {100 * value:g} % of its rows" if value else "as untypical as it may be"
    return f"{value:.0f} refits" if value else "this model alone"


def _sentence(name: str, lines: Any) -> str:
    """From the first question to the last that has an answer."""
    there = lines[np.isfinite(lines["distance"])]
    if len(there) < 2 or not float(there["distance"].iloc[0]) > 0:
        return ""
    first, last = (VERBS[name] + _asked(name, float(there["value"].iloc[k])) for k in (0, -1))
    more = _more(float(there["distance"].iloc[-1]), float(there["distance"].iloc[0]))
    nothing = not more.startswith("+")  # an answer to a harder question is nearer only within the gap
    farther = "no more distance" if nothing else f"{more.removeprefix('+')} more distance"
    return f"To {last} takes {farther} than to {first}."
