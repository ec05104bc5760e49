"""How one answer must differ from earlier ones: by what it leaves alone, or by how far away it is."""

from __future__ import annotations

import math
from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from surefoot.exceptions import ProblemError
from surefoot.explain.result.explanation import Explanation
from surefoot.formats import in_list
from surefoot.plain import refuse_huge
from surefoot.problem.question import Away, Question

Array = NDArray[np.float64]


class Differing(NamedTuple):
    """What earlier answers ask of the next one.

    Parameters
    ----------
    keeping : tuple of tuples of features
        At least one of each of these keeps its value of today.
    away : tuple of Away
    """

    keeping: tuple[tuple[Any, ...], ...] = ()
    away: tuple[Away, ...] = ()

    def declared(self) -> dict[str, Any]:
        """As a file holds it."""
        return {"keeping": [[str(name) for name in one] for one in self.keeping]} if self.keeping else {}


NOTHING = Differing()


def differing_from(earlier: Sequence[Explanation], differ: str, apart: float) -> Differing:
    """What earlier answers ask of the next one."""
    if differ == "features":
        return Differing(keeping=tuple(tuple(e.changed) for e in earlier))
    return Differing(away=tuple(_away(e, apart) for e in earlier))


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
    if isinstance(apart, bool) or not isinstance(apart, Real) or not 0 < float(apart) < math.inf:
        raise ProblemError(f"apart must be a finite number above 0, not {apart!r}")


def _away(e: Explanation, apart: float) -> Away:
    question = e.question
    assert isinstance(question, Question)
    assert e.answer.point is not None
    point = question.warped(e.answer.point).tolist()
    return Away(tuple(point), float(apart), question.factual_class, question.state)
