"""An explanation as a document: plain values out, and strictly read back in.

The format is defined in ``docs/certificate.md``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefoot.exceptions import DataError, ProblemError
from surefoot.explain.ask.refits import ModelShare
from surefoot.explain.result.cautions import CODES, OWN_CODES, Caution
from surefoot.explain.result.dates import with_date_texts, with_days
from surefoot.explain.result.explanation import Context, Explanation, Refusal
from surefoot.explain.result.question_consistency import check_declared
from surefoot.formats import escaped
from surefoot.plain import (
    entries,
    finite,
    label,
    number,
    parsed,
    plain,
    position,
    sequence,
    shallow,
    shown,
    text,
    truth,
)
from surefoot.problem.answer import Answer, Round
from surefoot.problem.question import Question
from surefoot.problem.reading import read_budget, read_features, read_norm, read_whitening
from surefoot.problem.robust_problem import checked_threshold
from surefoot.status import Status

Array = NDArray[np.float64]

FORMAT, VERSION = "surefoot-explanation", 4
CERTIFICATE_FORMAT, CERTIFICATE_VERSION = "surefoot-certificate", 3
KEYS = (
    "format", "version", "question", "certificate", "status", "message", "factual", "counterfactual",
    "factual_class", "target", "decision", "factual_probability", "probability", "worst_probability",
    "distance", "lower_bound", "gap", "budget", "norm", "whitening", "threshold", "certified_radius",
    "coverage", "violation", "early_stop", "tol", "unit", "parents", "expected_before", "expected_after",
    "z_score", "density_percentile", "model", "method", "backend", "seconds", "iterations", "row", "advice",
    "conflict", "cautions", "model_share",
)  # fmt: skip
REPEATED = ("factual", "factual_class", "target", "budget", "norm", "whitening", "threshold", "model")
CERTIFICATE_KEYS = ("format", "version", "metric", "ball", "bound", "states", "robustness", "worst")
FIRST_EDITION = {"status", "factual", "certified_radius", "low", "high"}  # keys of a file of version 1


def document(e: Explanation) -> dict[str, Any]:
    """Plain values of an explanation."""
    asked = e.question
    question = asked.to_dict() if isinstance(asked, Question) else None
    content = {name: getattr(e, name) for name in KEYS[3:] if name not in (*REPEATED, *SERIES)}
    content |= {name: _series(asked, *_by_kind(e.context, name)) for name in SERIES[1:]}
    content["counterfactual"] = None
    if isinstance(asked, Question) and e.answer.point is not None:
        row = with_date_texts(asked, asked.row(e.answer.point, e.answer.state))
        content["counterfactual"] = _named(asked, row)
    content |= repeated(asked)
    content |= {"format": FORMAT, "version": VERSION, "question": question}
    content["certificate"] = blank_certificate() if e.certificate is None else e.certificate
    content["iterations"] = [_round(r) for r in e.iterations]
    content["cautions"] = [{"code": caution.code, "text": str(caution)} for caution in e.cautions]
    content["model_share"] = None if e.model_share is None else e.model_share._asdict()
    return {name: plain(content[name]) for name in KEYS}


SERIES = ("counterfactual", "unit", "expected_before", "expected_after", "z_score")
CHANCES = {"expected_before": "chance_before", "expected_after": "chance_after"}


def _by_kind(context: Context, name: str) -> tuple[Array | None, Array | None]:
    """What a series holds of the numbers and of the categories."""
    return getattr(context, name), getattr(context, CHANCES[name]) if name in CHANCES else None


def repeated(question: Question | Refusal) -> dict[str, Any]:
    """What a document repeats from its question, in plain values."""
    budget: Any = question.budget
    if isinstance(budget, Mapping):
        budget = {str(j): list(pair) for j, pair in budget.items()}
    norm = "inf" if question.norm == np.inf else int(question.norm)
    if isinstance(question, Question):
        row = with_date_texts(question, question.row(question.factual, question.state))
    else:
        row = [plain(value) for value in question.factual]
    found = {
        "factual": _named(question, row),
        "factual_class": question.factual_class,
        "target": question.target,
        "budget": budget,
        "norm": norm,
        "whitening": question.whitening,
        "threshold": question.threshold,
        "model": question.models[0],
    }
    return {name: plain(value) for name, value in found.items()}


def blank_certificate() -> dict[str, Any]:
    """A certificate that proves nothing: that of an invalid request."""
    blank = dict.fromkeys(CERTIFICATE_KEYS)
    return {**blank, "format": CERTIFICATE_FORMAT, "version": CERTIFICATE_VERSION}


def json_text(values: Mapping[str, Any]) -> str:
    """A document as JSON text, a line for each key."""
    lines = (
        f" {json.dumps(name)}: {escaped(json.dumps(value, ensure_ascii=False, allow_nan=False))}"
        for name, value in values.items()
    )
    return "{\n" + ",\n".join(lines) + "\n}"


def read_json(content: str | bytes) -> Explanation:
    """An explanation from JSON text."""
    try:
        values = parsed(content)
    except DataError as error:
        raise DataError(f"this is not an explanation ({error})") from None
    return read_explanation(values)


def read_explanation(values: Any) -> Explanation:
    """An explanation from plain values; whatever is wrong is named in one line."""
    if not isinstance(values, Mapping) or values.get("format") != FORMAT:
        if isinstance(values, Mapping) and "format" not in values and values.keys() >= FIRST_EDITION:
            raise DataError(
                "this is an explanation file of version 1, written by surefoot 0.1; ask the question again"
            )
        raise DataError("this is not an explanation of surefoot")
    version = values.get("version")
    if version != VERSION or isinstance(version, bool | float):
        raise DataError(f"the explanation has format version {shown(version)}; this surefoot reads {VERSION}")
    try:
        return _explanation(entries(values, "it", KEYS))
    except (DataError, ProblemError) as error:
        raise DataError(f"this explanation cannot be read: {error}") from None


def _explanation(values: Mapping[str, Any]) -> Explanation:
    status = _status(values)
    question = _question(values, status)
    context = _context(values, question)
    found = Explanation(question, _answer(values, status, question), context)
    complete = context.expected_before is not None and context.expected_after is not None
    if found.answer.point is not None and not (complete and context.z_score is not None):
        raise DataError("it has a counterfactual, but not what is expected of it")
    return found


def _status(values: Mapping[str, Any]) -> Status:
    word = text(values["status"], "status")
    if word not in {str(status) for status in Status}:
        raise DataError(f"unknown status {shown(word)}")
    status = Status(word)
    if values["message"] != status.sentence:
        raise DataError(f"its message is not that of the status {shown(word)}")
    if status.has_point != (values["counterfactual"] is not None):
        raise DataError(f"status {shown(word)} and counterfactual do not belong together")
    return status


def _question(values: Mapping[str, Any], status: Status) -> Question | Refusal:
    if values["question"] is None:
        if status is not Status.REFUSED:
            raise DataError("it has no question")
        return _refusal(values)
    question = Question.from_dict(values["question"])
    check_declared(question)
    for name, value in repeated(question).items():
        if not _same(value, values[name]):
            raise DataError(f"{name!r} is not that of the question")
    return question


def _refusal(values: Mapping[str, Any]) -> Refusal:
    factual = entries(values["factual"], "factual", ("names", "values"))
    features = read_features(factual["names"])
    norm = read_norm(values["norm"])
    if values["factual_class"] is not None:
        raise DataError("an invalid request has no factual class")
    return Refusal(
        models=(text(values["model"], "model"),),
        features=features,
        factual=_refused_row(factual["values"], len(features)),
        target=_label_or_none(values["target"], "target"),
        budget=read_budget(values["budget"], len(features)),
        norm=norm,
        whitening=read_whitening(values["whitening"]),
        threshold=checked_threshold(finite(values["threshold"], "threshold")),
    )


def _same(a: Any, b: Any) -> bool:
    """Whether two plain values are equal, all the way down; a truth value is no number."""
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(_same(a[name], b[name]) for name in a)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(_same, a, b))
    return isinstance(a, bool) == isinstance(b, bool) and bool(a == b)


def _answer(values: Mapping[str, Any], status: Status, question: Question | Refusal) -> Answer:
    point, state = _point(values["counterfactual"], question)
    certificate = _certificate(values["certificate"])
    if status is Status.REFUSED and certificate != blank_certificate():
        raise DataError("an invalid request has nothing to prove")
    worst = certificate["worst"]
    n = len(question.numbers) if isinstance(question, Question) else len(question.features)
    return Answer(
        status=status,
        point=point,
        state=state,
        lower_bound=number(values["lower_bound"], "lower_bound"),
        radius=number(values["certified_radius"], "certified_radius"),
        worst=None if worst is None else _array(worst, "the worst perturbation", n),
        rounds=tuple(_read_round(entry, n) for entry in sequence(values["iterations"], "iterations")),
        certificate=None if status is Status.REFUSED else certificate,
        backend=text(values["backend"], "backend"),
        seconds=number(values["seconds"], "seconds"),
        advice=text(values["advice"], "advice"),
        conflict=tuple(text(wish, "a wish") for wish in sequence(values["conflict"], "conflict")),
    )


def _certificate(values: Any) -> dict[str, Any]:
    found = entries(values, "the certificate", CERTIFICATE_KEYS)
    version = found["version"]
    if found["format"] != CERTIFICATE_FORMAT:
        raise DataError(f"the certificate is of unknown format {shown(found['format'])}")
    if version != CERTIFICATE_VERSION or isinstance(version, bool | float):
        raise DataError(
            f"the certificate has version {shown(version)}; this surefoot reads {CERTIFICATE_VERSION}"
        )
    return dict(shallow(found, "the certificate"))


def _context(values: Mapping[str, Any], question: Question | Refusal) -> Context:
    numbers: dict[str, Any] = {name: number(values[name], name) for name in NUMBERS}
    series: dict[str, Any] = {}
    for name in SERIES[2:]:
        of_numbers, of_categories = _read_series(values[name], name, question)
        series[name] = of_numbers
        if name in CHANCES:
            series[CHANCES[name]] = of_categories
        elif of_categories is not None and not np.isnan(of_categories).all():
            raise DataError(f"{name} is for numbers, not for categories")
    return Context(
        **numbers,
        **series,
        early_stop=truth(values["early_stop"], "early_stop"),
        decision=_label_or_none(values["decision"], "decision"),
        unit=_unit(values["unit"], question),
        parents=_parents(values["parents"], len(question.features)),
        method=text(values["method"], "method"),
        row=_row(values["row"]),
        cautions=_cautions(values["cautions"]),
        model_share=_model_share(values["model_share"]),
    )


def _cautions(values: Any) -> tuple[Caution, ...]:
    """The cautions that need the model; the others follow from the rest of the document."""
    found = []
    for value in sequence(values, "cautions"):
        entry = entries(value, "a caution", ("code", "text"))
        code = text(entry["code"], "the code of a caution")
        if code not in CODES:
            raise DataError(f"a caution has the unknown code {shown(code)}")
        found.append(Caution(code, text(entry["text"], "a caution")))
    return tuple(caution for caution in found if caution.code not in OWN_CODES)


def _model_share(values: Any) -> ModelShare | None:
    if values is None:
        return None
    entry = entries(values, "model_share", ("share", "bound", "refits"))
    return ModelShare(
        finite(entry["share"], "share"),
        finite(entry["bound"], "bound"),
        position(entry["refits"], "refits", 10**9),
    )


NUMBERS = (
    "factual_probability", "probability", "worst_probability", "distance", "gap", "coverage", "violation",
    "tol", "density_percentile",
)  # fmt: skip


def _unit(values: Any, question: Question | Refusal) -> Array:
    unit = _numbers(values, "unit", question.features)
    if not isinstance(question, Question):
        return unit
    found = unit[list(question.numbers)]
    if not (np.isfinite(found) & (found > 0)).all():
        raise DataError("unit must hold positive numbers")
    if not np.isnan(np.delete(unit, list(question.numbers))).all():
        raise DataError("unit is for numbers, not for categories")
    return np.asarray(found)


def _parents(values: Any, n: int) -> tuple[tuple[int, ...], ...]:
    groups = sequence(values, "parents", n)
    return tuple(tuple(position(j, "a parent", n) for j in sequence(group, "parents")) for group in groups)


def _row(value: Any) -> Any:
    """The name of a row: text, a number, or several of these."""
    if isinstance(value, list):
        return tuple(_label_or_none(part, "row") for part in value)
    return _label_or_none(value, "row")


def _label_or_none(value: Any, what: str) -> Any:
    return None if value is None else label(value, what)


def _read_series(values: Any, name: str, question: Question | Refusal) -> tuple[Array | None, Array | None]:
    """The numbers' part of a series, and the categories'."""
    if values is None:
        return None, None
    found = _numbers(values, name, question.features)
    if not isinstance(question, Question):
        raise DataError(f"an invalid request has no {name}")
    of_numbers = found[list(question.numbers)]
    of_categories = found[[choice.feature for choice in question.choices]]
    if not np.isfinite(of_numbers).all() or (name in CHANCES and not np.isfinite(of_categories).all()):
        raise DataError(f"{name} must hold finite numbers")
    return of_numbers, of_categories


def _point(values: Any, question: Question | Refusal) -> tuple[Array | None, tuple[int, ...]]:
    """Numbers and categories of a counterfactual."""
    if values is None:
        return None, ()
    if not isinstance(question, Question):
        raise DataError("an invalid request has no counterfactual")
    series = entries(values, "counterfactual", ("names", "values"))
    if not _same(series["names"], list(question.features)):
        raise DataError("counterfactual names other features than the question")
    row = with_days(question, list(sequence(series["values"], "counterfactual", len(question.features))))
    numbers = [finite(row[j], "a value of counterfactual") for j in question.numbers]
    state = []
    for choice in question.choices:
        found = [k for k, value in enumerate(choice.values) if _same(value, row[choice.feature])]
        if not found:
            raise DataError(f"a category has no value {shown(row[choice.feature])}")
        state.append(found[0])
    return np.array(numbers), tuple(state)


def _refused_row(values: Any, n: int) -> list[Any]:
    """The values of a row about which nothing could be asked: numbers, names, or nothing."""
    row = sequence(values, "factual", n)
    return [np.nan if v is None else v if isinstance(v, str | bool) else number(v, "factual") for v in row]


def _numbers(values: Any, what: str, features: tuple[Any, ...]) -> Array:
    series = entries(values, what, ("names", "values"))
    if not _same(series["names"], list(features)):
        raise DataError(f"{what} names other features than the question")
    return np.array(
        [number(v, f"a value of {what}") for v in sequence(series["values"], what, len(features))]
    )


def _array(values: Any, what: str, n: int) -> Array:
    return np.array([finite(v, what) for v in sequence(values, what, n)])


def _named(question: Question | Refusal, values: list[Any]) -> dict[str, Any]:
    return {"names": list(question.features), "values": values}


def _series(question: Question | Refusal, values: Array | None, chances: Array | None) -> Any:
    if values is None:
        return None
    found: list[Any] = [None] * len(question.features)
    if isinstance(question, Question):
        for j, value in zip(question.numbers, values.tolist(), strict=True):
            found[j] = value
        for choice, value in zip(question.choices, [] if chances is None else chances, strict=False):
            found[choice.feature] = float(value)
    return _named(question, found)


ROUND_KEYS = tuple(field.name for field in fields(Round))


def _round(r: Round) -> dict[str, Any]:
    return {name: getattr(r, name) for name in ROUND_KEYS}


def _read_round(values: Any, n: int) -> Round:
    entry = entries(values, "a round", ROUND_KEYS)
    points: dict[str, Any] = {
        name: None if entry[name] is None else _array(entry[name], name, n)
        for name in ("perturbation", "candidate")
    }
    word = entry["status"]
    if word is not None and word not in [str(status) for status in Status]:
        raise DataError(f"a round has an unknown status {shown(word)}")
    others = ("distance", "lower_bound", "violation", "master_seconds", "adversary_seconds")
    numbers: dict[str, Any] = {name: number(entry[name], name) for name in others}
    return Round(
        **numbers,
        **points,
        status=None if word is None else Status(word),
        message=text(entry["message"], "message"),
    )
