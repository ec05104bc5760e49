"""Question and answer as a document: the checker reads it, and explanations are written with it.

The format is defined in ``docs/certificate.md``.
"""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np

from surefoot.explain.ask.dates import with_date_texts
from surefoot.explain.ask.refusal import Refusal
from surefoot.plain import plain
from surefoot.problem.answer import Answer, Round
from surefoot.problem.question import Question

FORMAT, VERSION, EARLIER = "surefoot-explanation", 5, 4
CERTIFICATE_FORMAT, CERTIFICATE_VERSION, MORE_VERSION = "surefoot-certificate", 3, 4
KEYS = (
    "format", "version", "question", "certificate", "status", "message", "factual", "counterfactual",
    "factual_class", "target", "decision", "factual_probability", "probability", "worst_probability",
    "distance", "lower_bound", "gap", "budget", "norm", "whitening", "threshold", "certified_radius",
    "coverage", "violation", "early_stop", "tol", "unit", "parents", "expected_before", "expected_after",
    "z_score", "density_percentile", "model", "method", "backend", "seconds", "iterations", "row", "advice",
    "conflict", "cautions", "model_share", "search_seconds", "best_probability", "best_probability_bound",
)  # fmt: skip
LATER_KEYS = KEYS[-3:]  # which files of the earlier version do not have
CERTIFICATE_KEYS = ("format", "version", "metric", "ball", "bound", "states", "robustness", "worst")
# Of a certificate of the later version, as they are needed.
MORE_PROOFS = ("enough", "best", "mixtures", "fewer")
ROUND_KEYS = tuple(field.name for field in fields(Round))


def claims(question: Question | Refusal, answer: Answer, **context: Any) -> dict[str, Any]:
    """Plain values of a question and its answer; what ``context`` does not say is left blank."""
    content: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "question": question.to_dict() if isinstance(question, Question) else None,
        "certificate": answer.certificate or blank_certificate(),
        "status": answer.status,
        "message": answer.status.sentence,
        **repeated(question),
        "lower_bound": answer.lower_bound,
        "certified_radius": answer.radius,
        "early_stop": False,
        "method": "",
        "backend": answer.backend,
        "seconds": answer.seconds,
        "iterations": [{name: getattr(r, name) for name in ROUND_KEYS} for r in answer.rounds],
        "advice": answer.advice,
        "conflict": answer.conflict,
        "cautions": (),
        **{name: getattr(answer, name) for name in LATER_KEYS},
    }
    if isinstance(question, Question) and answer.point is not None:
        row = with_date_texts(question, question.row(answer.point, answer.state))
        content["counterfactual"] = named(question, row)
    content |= context
    return {name: plain(content.get(name)) for name in KEYS}


def repeated(question: Question | Refusal) -> dict[str, Any]:
    """What a document repeats from its question, in plain values."""
    today = question.factual
    if isinstance(question, Question):
        today = with_date_texts(question, question.row(question.factual, question.state))
    found = {
        "factual": named(question, today),
        "factual_class": question.factual_class,
        "target": question.target,
        "budget": question.budget,
        "norm": "inf" if question.norm == np.inf else int(question.norm),
        "whitening": question.whitening,
        "threshold": question.threshold,
        "model": question.models[0],
    }
    return {name: plain(value) for name, value in found.items()}


def named(question: Question | Refusal, values: Any) -> dict[str, Any]:
    """Values by feature."""
    return {"names": list(question.features), "values": list(values)}


def blank_certificate() -> dict[str, Any]:
    """A certificate that proves nothing: that of an invalid request."""
    blank = dict.fromkeys(CERTIFICATE_KEYS)
    return {**blank, "format": CERTIFICATE_FORMAT, "version": CERTIFICATE_VERSION}
