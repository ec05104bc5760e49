"""How one answer must differ from earlier ones: by what it leaves alone, or by how far away it is."""

from __future__ import annotations

import math
from collections.abc import Sequence
from numbers import Integral
from typing import Any

from surefoot.exceptions import ProblemError
from surefoot.explain.ask.differing import Differing
from surefoot.explain.constraints.arithmetic import is_number
from surefoot.explain.result.explanation import Explanation
from surefoot.formats import in_list
from surefoot.plain import refuse_huge
from surefoot.problem.question import Question
from surefoot.problem.requirements import Away


def differing_from(earlier: Sequence[Explanation], differ: str, apart: float) -> Differing:
    """What earlier answers ask of the next one."""
    if differ == "features":
        return Differing(keeping=tuple(tuple(e.changed) for e in earlier))
    return Differing(away=tuple(_away(e, apart) for e in earlier))


def _away(e: Explanation, apart: float) -> Away:
    question = e.question
    assert isinstance(question, Question)
    assert e.answer.point is not None
    point = question.warped(e.answer.point).tolist()
    return Away(tuple(point), float(apart), question.factual_class, question.state)


def difference_words(e: Explanation, earlier: Sequence[Explanation], differ: str, apart: float) -> str:
    """How a later answer differs from the earlier ones."""
    which = "the first answer" if len(earlier) == 1 else "the earlier answers"
    if differ == "distance":
        return f"This answer is at least {apart:g} away from {which}."
    changed = dict.fromkeys(name for one in earlier for name in one.changed)
    kept = [in_list(name) for name in changed if name not in e.changed]
    same = "as it is" if len(kept) == 1 else "as they are"
    return f"Unlike {which}, this one leaves {' and '.join(kept)} {same}." if kept else ""


def check_differing(n: Any, differ: Any, apart: Any) -> None:
    """Refuse what `CounterfactualExplainer.alternatives` cannot take."""
    if isinstance(n, bool) or not isinstance(n, Integral) or n < 1:
        raise ProblemError(f"n must be a whole number of at least 1, not {n!r}")
    if differ not in ("features", "distance"):
        raise ProblemError(f"differ must be 'features' or 'distance', not {differ!r}")
    refuse_huge("apart", apart, ProblemError)
    if not is_number(apart) or not 0 < float(apart) < math.inf:
        raise ProblemError(f"apart must be a finite number above 0, not {apart!r}")
