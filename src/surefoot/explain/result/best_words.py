"""The highest probability that any allowed change reaches, in a sentence."""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, Context
from typing import TYPE_CHECKING

from surefoot.explain.result.words import miss_words
from surefoot.problem.question import Question
from surefoot.problem.requirements import Odds

if TYPE_CHECKING:
    from surefoot.explain.result.explanation import Explanation

# Per cent between the two numbers, above which the search had no time to come nearer. Ten times larger, and
# "is 30 %" would be said of what may be 35 %.
OPEN = 0.5


def best_words(e: Explanation) -> str:
    """How near to the target an allowed change comes; "" where there is an answer or nothing is known.

    The sentence stays true when digits are cut: the probability is rounded down, the bound up.
    """
    asked, bound = e.question, e.best_probability_bound
    if not isinstance(asked, Question) or math.isnan(bound):
        return ""
    what = f"The highest probability of {e.target}{_among(asked)} that any allowed change"
    what += f" keeps despite {miss_words(asked)}" if e.asks_for_robustness else " reaches"
    most = math.ceil(1000 * bound) / 10
    if bound < 0.0005:
        return f"{what} is below {_per_cent(round(100 * bound, 12))} (proven)."
    least = math.floor(1000 * e.best_probability) / 10
    if 100 * (bound - e.best_probability) > OPEN:
        found = f"at least {least:.1f} %, as far as was found in the time"
        return f"{what} is {found} (proven: at most {most:.1f} %)."
    return f"{what} is {least:.1f} % (proven: at most {most:.1f} %)."


def _per_cent(value: float) -> str:
    """A small number of per cent with one digit, rounded up."""
    rounded = Context(prec=1, rounding=ROUND_CEILING).create_decimal(repr(value))
    return f"{rounded:f} %"


def _among(asked: Question) -> str:
    """Against whom, and by which models."""
    own = [r for r in asked.requirements if isinstance(r, Odds) and r.target == asked.target]
    rivals = len({r.rival for r in own})
    models = len({r.model for r in own})
    found = " against its strongest rival" if rivals > 1 else ""
    return found + (f" under each of {models} models" if models > 1 else "")
