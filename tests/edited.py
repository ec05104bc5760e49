"""Explanations with some of their values replaced, as a forger or an accident would."""

from dataclasses import fields, replace

import numpy as np

from surefoot.explain.result.context import Context
from surefoot.problem.requirements import Odds

CONTEXT = {field.name for field in fields(Context)}
ANSWER = {
    "status": "status",
    "counterfactual": "point",
    "lower_bound": "lower_bound",
    "certified_radius": "radius",
    "iterations": "rounds",
    "certificate": "certificate",
    "advice": "advice",
    "seconds": "seconds",
    "backend": "backend",
}


def edited(e, **values):
    """The explanation with other values under the flat names of `Explanation`."""
    question, answer, context = e.question, e.answer, e.context
    for name, value in values.items():
        if name in ("factual", "counterfactual") and value is not None:
            value = np.array(value, dtype=float)
        if name in ANSWER:
            answer = replace(answer, **{ANSWER[name]: value})
        elif name in CONTEXT:
            context = replace(context, **{name: value})
        elif name == "threshold":
            odds = (replace(r, threshold=value) for r in question.requirements if isinstance(r, Odds))
            question = replace(question, requirements=tuple(odds))
        else:
            question = replace(question, **{name: value})
    return replace(e, question=question, answer=answer, context=context)
