"""Writing questions: the plain values that `surefoot.problem.reading` reads."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from surefoot.problem.either import Either
from surefoot.problem.row import Row

if TYPE_CHECKING:
    from surefoot.problem.question import Question

FORMAT, VERSION = "surefoot-question", 3
GIVEN_VERSION = (
    4  # of questions that state a matrix; all others are written as readers of version 3 know them
)


def question_dict(question: Question) -> dict[str, Any]:
    """A question as plain values; infinite numbers become words."""
    budget: Any = question.budget
    if isinstance(budget, Mapping):
        budget = {str(j): [float(a), float(b)] for j, (a, b) in budget.items()}
    return {
        "format": FORMAT,
        "version": VERSION if question.matrix is None else GIVEN_VERSION,
        "models": list(question.models),
        "features": list(question.features),
        "factual": question.row(question.factual, question.state),
        "factual_class": question.factual_class,
        "target": question.target,
        "distance": {
            "kind": "mahalanobis" if question.prices is None else "cost",
            "whitening": question.whitening,
            "norm": _norm(question.norm),
            "prices": None if question.prices is None else [list(pair) for pair in question.prices],
            **({} if question.matrix is None else {"matrix": question.matrix.tolist()}),
        },
        "ball": {"norm": _norm(question.ball_norm), "budget": budget, "exact": list(question.exact)},
        "requirements": [r.to_dict() for r in question.requirements],
        "domain": _domain_dict(question),
        "choices": [
            {
                "feature": choice.feature,
                "values": list(choice.values),
                "prices": [_word(price) for price in choice.prices],
            }
            for choice in question.choices
        ],
        "warps": [[w.power, w.shift, w.scale] for w in question.warps] or None,
        "gap": question.gap,
    }


def _domain_dict(question: Question) -> dict[str, Any]:
    d = question.domain
    return {
        "low": [_word(v) for v in d.low.tolist()],
        "high": [_word(v) for v in d.high.tolist()],
        "rows": [_row_dict(row) for row in d.rows],
        "sets": [
            {"feature": s.feature, "values": None if s.values is None else list(s.values)} for s in d.sets
        ],
        "eithers": [_either_dict(either) for either in question.eithers],
        "limits": [
            {
                "name": limit.name,
                "count": limit.count,
                "numbers": list(limit.numbers),
                "categories": list(limit.categories),
            }
            for limit in question.limits
        ],
        "declared": dict(question.declared),
    }


def _row_dict(row: Row) -> dict[str, Any]:
    return {
        "coefficients": row.coefficients.tolist(),
        "low": _word(row.low),
        "high": _word(row.high),
        "name": row.name,
    }


def _either_dict(either: Either) -> dict[str, Any]:
    return {
        "name": either.name,
        "ways": [
            {
                "rows": [_row_dict(row) for row in way.rows],
                "values": [[k, sorted(codes)] for k, codes in way.values.items()],
            }
            for way in either.ways
        ],
    }


def _norm(p: float) -> float | int | str:
    return "inf" if p == math.inf else int(p)


def _word(value: float) -> float | str:
    return value if math.isfinite(value) else ("inf" if value > 0 else "-inf")
