"""An explanation as a document: plain values out, and strictly read back in.

The format is defined in ``docs/certificate.md``.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefoot.exceptions import DataError, ProblemError
from surefoot.explain.answer.claims import (
    CERTIFICATE_FORMAT,
    CERTIFICATE_KEYS,
    CERTIFICATE_VERSION,
    EARLIER,
    FORMAT,
    KEYS,
    LATER_KEYS,
    MORE_PROOFS,
    MORE_VERSION,
    ROUND_KEYS,
    VERSION,
    blank_certificate,
    claims,
    named,
    repeated,
)
from surefoot.explain.answer.region import Region
from surefoot.explain.ask.dates import with_dates, with_days
from surefoot.explain.ask.refusal import Refusal
from surefoot.explain.result.cautions import CODES, OWN_CODES, Caution
from surefoot.explain.result.context import Context, OtherTarget
from surefoot.explain.result.explanation import Explanation
from surefoot.explain.result.model_share import ModelShare
from surefoot.explain.result.question_consistency import check_declared
from surefoot.explain.result.reasons import Reasons
from surefoot.formats import escaped
from surefoot.plain import (
    each,
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

MORE_KEYS = ("reasons", "enough", "others")  # only where they were asked for
FIRST_EDITION = {"status", "factual", "certified_radius", "low", "high"}  # keys of a file of version 1
SERIES = ("unit", "expected_before", "expected_after", "z_score")
CHANCES = {"expected_before": "chance_before", "expected_after": "chance_after"}


def document(e: Explanation) -> dict[str, Any]:
    """Plain values of an explanation."""
    context = {field.name: getattr(e.context, field.name) for field in fields(Context)}
    by_feature = {name: getattr(e, name) for name in SERIES}
    context |= {name: None if x is None else named(e.question, x) for name, x in by_feature.items()}
    context["cautions"] = [{"code": caution.code, "text": caution} for caution in e.cautions]
    context["model_share"] = e.model_share and e.model_share._asdict()
    found = claims(e.question, e.answer, **context)
    if e.region is not None:
        proofs = {"version": MORE_VERSION, "enough": plain(e.region.proofs)}
        found["certificate"] = {**found["certificate"], **proofs}
    more = {"reasons": e.stated_reasons, "enough": e.region}
    found |= {name: plain(value.to_dict()) for name, value in more.items() if value is not None}
    return found | ({"others": [_other(other) for other in e.others]} if e.others else {})


def _other(other: OtherTarget) -> dict[str, Any]:
    return {
        "question": plain(other.question.to_dict()),
        "certificate": plain(other.certificate),
        "lower_bound": plain(other.lower_bound),
    }


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
    if version not in (VERSION, EARLIER) or isinstance(version, bool | float):
        known = f"{EARLIER} and {VERSION}"
        raise DataError(f"the explanation has format version {shown(version)}; this surefoot reads {known}")
    try:
        if version == EARLIER:
            held = entries(values, "it", KEYS[: -len(LATER_KEYS)], MORE_KEYS)
            return _explanation({**dict.fromkeys(LATER_KEYS), **held})
        return _explanation(entries(values, "it", KEYS, MORE_KEYS))
    except (DataError, ProblemError) as error:
        raise DataError(f"this explanation cannot be read: {error}") from None


def _explanation(values: Mapping[str, Any]) -> Explanation:
    status = _status(values)
    question = _question(values, status)
    answer, proofs = _answer(values, status, question)
    more = _more(values, question, answer, proofs)
    found = Explanation(question, answer, _context(values, question), **more)
    expected = (found.context.expected_before, found.context.expected_after, found.context.z_score)
    if found.answer.point is not None and any(one is None for one in expected):
        raise DataError("it has a counterfactual, but not what is expected of it")
    return found


def _others(values: Any, question: Question | Refusal) -> tuple[OtherTarget, ...]:
    """The other targets of which one is the nearest."""
    found = []
    for value in sequence(values, "others"):
        entry = entries(value, "another target", ("question", "certificate", "lower_bound"))
        asked = Question.from_dict(entry["question"])
        check_declared(asked)
        bound = number(entry["lower_bound"], "lower_bound")
        found.append(OtherTarget(asked, bound, _certificate(entry["certificate"])))
    if not found or not isinstance(question, Question):
        raise DataError("it names no other target, or is an invalid request")
    return tuple(found)


def _status(values: Mapping[str, Any]) -> Status:
    word = text(values["status"], "status")
    if word not in list(Status):
        raise DataError(f"unknown status {shown(word)}")
    status = Status(word)
    if values["message"] != status.sentence:
        raise DataError(f"its message is not that of the status {shown(word)}")
    if status.has_point != (values["counterfactual"] is not None):
        raise DataError(f"status {shown(word)} and counterfactual do not belong together")
    return status


def _question(values: Mapping[str, Any], status: Status) -> Question | Refusal:
    if values["question"] is None:
        if status is not Status.INVALID:
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
    if values["factual_class"] is not None:
        raise DataError("an invalid request has no factual class")
    return Refusal(
        models=(text(values["model"], "model"),),
        features=features,
        factual=each(_refused_value, factual["values"], "factual", len(features)),
        target=_label_or_none(values["target"], "target"),
        budget=read_budget(values["budget"], len(features)),
        norm=read_norm(values["norm"]),
        whitening=read_whitening(values["whitening"]),
        threshold=checked_threshold(finite(values["threshold"], "threshold")),
    )


def _refused_value(value: Any, what: str) -> Any:
    """A value of a row about which nothing could be asked: a number, a name, or nothing."""
    return value if isinstance(value, str | bool) else number(value, what)


def _same(a: Any, b: Any) -> bool:
    """Whether two plain values are equal, all the way down; a truth value is no number."""
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(_same(a[name], b[name]) for name in a)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(_same, a, b))
    return isinstance(a, bool) == isinstance(b, bool) and bool(a == b)


def _more(
    values: Mapping[str, Any], question: Question | Refusal, answer: Answer, proofs: Any
) -> dict[str, Any]:
    """Reasons and what is enough, where the file has them."""
    found: dict[str, Any] = {}
    if "reasons" in values:
        found["stated_reasons"] = Reasons.from_dict(values["reasons"])
    if "others" in values:
        found["others"] = _others(values["others"], question)
    if "enough" not in values:
        if proofs is not None:
            raise DataError("the certificate proves what is enough, but the file does not say it")
        return found
    if not isinstance(question, Question) or answer.point is None:
        raise DataError("it says what is enough, but has no counterfactual")
    values_now = with_dates(question, question.row(answer.point, answer.state))
    row = dict(zip(question.features, values_now, strict=True))
    found["region"] = Region.from_dict(values["enough"], proofs, row, question.factual_class)
    return found


def _answer(values: Mapping[str, Any], status: Status, question: Question | Refusal) -> tuple[Answer, Any]:
    """The answer, and the proofs of what is enough."""
    point, state = _point(values["counterfactual"], question)
    certificate = _certificate(values["certificate"])
    proofs = certificate.pop("enough", None)
    if status is Status.INVALID and certificate != blank_certificate():
        raise DataError("an invalid request has nothing to prove")
    n = len(question.number_names)
    found = Answer(
        status=status,
        point=point,
        state=state,
        lower_bound=number(values["lower_bound"], "lower_bound"),
        radius=number(values["certified_radius"], "certified_radius"),
        worst=_array(certificate["worst"], "the worst perturbation", n),
        rounds=tuple(_round(entry, n) for entry in sequence(values["iterations"], "iterations")),
        certificate=None if status is Status.INVALID else certificate,
        backend=text(values["backend"], "backend"),
        seconds=number(values["seconds"], "seconds"),
        advice=text(values["advice"], "advice"),
        search_seconds=number(values["search_seconds"], "search_seconds"),
        best_probability=_best(values, "best_probability", point),
        best_probability_bound=_best(values, "best_probability_bound", point),
        conflict=tuple(each(text, values["conflict"], "conflict", one="a constraint")),
    )
    return found, proofs


def _best(values: Mapping[str, Any], name: str, point: Array | None) -> float:
    """A probability that is stated where there is no counterfactual; not a number elsewhere."""
    found = number(values[name], name)
    if not np.isnan(found) and (point is not None or not 0 <= found <= 1):
        raise DataError(f"{name} must be a probability, and only where there is no counterfactual")
    return found


def _certificate(values: Any) -> dict[str, Any]:
    version = values.get("version") if isinstance(values, Mapping) else None
    more = MORE_PROOFS if version == MORE_VERSION else ()
    found = entries(values, "the certificate", CERTIFICATE_KEYS, more)
    if found["format"] != CERTIFICATE_FORMAT:
        raise DataError(f"the certificate is of unknown format {shown(found['format'])}")
    if version not in (CERTIFICATE_VERSION, MORE_VERSION) or isinstance(version, bool | float):
        known = f"{CERTIFICATE_VERSION} and {MORE_VERSION}"
        raise DataError(f"the certificate has version {shown(version)}; this surefoot reads {known}")
    return dict(shallow(found, "the certificate"))


def _point(values: Any, question: Question | Refusal) -> tuple[Array | None, tuple[int, ...]]:
    """Numbers and categories of a counterfactual."""
    if values is None:
        return None, ()
    if not isinstance(question, Question):
        raise DataError("an invalid request has no counterfactual")
    row = with_days(question, _by_feature(values, "counterfactual", question))
    numbers = [finite(row[j], "a value of counterfactual") for j in question.numbers]
    state = []
    for choice in question.choices:
        found = [k for k, value in enumerate(choice.values) if _same(value, row[choice.feature])]
        if not found:
            raise DataError(f"a category has no value {shown(row[choice.feature])}")
        state.append(found[0])
    return np.array(numbers), tuple(state)


def _round(values: Any, n: int) -> Round:
    entry = entries(values, "a round", ROUND_KEYS)
    word = entry["status"]
    if word is not None and word not in list(Status):
        raise DataError(f"a round has an unknown status {shown(word)}")
    points: dict[str, Any] = {name: _array(entry[name], name, n) for name in ("perturbation", "candidate")}
    others = ("distance", "lower_bound", "violation", "master_seconds", "adversary_seconds")
    numbers: dict[str, Any] = {name: number(entry[name], name) for name in others}
    status = None if word is None else Status(word)
    return Round(**numbers, **points, status=status, message=text(entry["message"], "message"))


def _context(values: Mapping[str, Any], question: Question | Refusal) -> Context:
    found = {name: read(values[name], name) for name, read in CONTEXT.items()}
    for name in SERIES:
        found |= _read_series(values[name], name, question)
    n = len(question.features)
    groups = [sequence(group, "parents") for group in sequence(values["parents"], "parents", n)]
    found["parents"] = tuple(tuple(position(j, "a parent", n) for j in group) for group in groups)
    return Context(**found)


def _cautions(values: Any, what: str) -> tuple[Caution, ...]:
    """The cautions that need the model; the others follow from the rest of the document."""
    found = []
    for value in sequence(values, what):
        entry = entries(value, "a caution", ("code", "text"))
        code = text(entry["code"], "the code of a caution")
        if code not in CODES:
            raise DataError(f"a caution has the unknown code {shown(code)}")
        found.append(Caution(code, text(entry["text"], "a caution")))
    return tuple(caution for caution in found if caution.code not in OWN_CODES)


def _model_share(values: Any, what: str) -> ModelShare | None:
    if values is None:
        return None
    entry = entries(values, what, ("share", "bound", "refits"), ("kept",))
    share, bound = (finite(entry[name], name) for name in ("share", "bound"))
    kept = truth(entry.get("kept", False), "kept")  # files from before models kept refits do not say
    return ModelShare(share, bound, position(entry["refits"], "refits", 10**9), kept)


def _row(value: Any, what: str) -> Any:
    """The name of a row: text, a number, or several of these."""
    return (
        tuple(each(_label_or_none, value, what)) if isinstance(value, list) else _label_or_none(value, what)
    )


def _label_or_none(value: Any, what: str) -> Any:
    return None if value is None else label(value, what)


# How what a document says of the context is read.
CONTEXT: dict[str, Callable[[Any, str], Any]] = {
    **dict.fromkeys(("factual_probability", "probability", "worst_probability", "distance", "gap"), number),
    **dict.fromkeys(("coverage", "violation", "tol", "density_percentile"), number),
    "early_stop": truth,
    "decision": _label_or_none,
    "method": text,
    "row": _row,
    "cautions": _cautions,
    "model_share": _model_share,
}


def _read_series(values: Any, name: str, question: Question | Refusal) -> dict[str, Array]:
    """What is said of the numbers, and for some names of the categories."""
    if values is None and name != "unit":
        return {}
    row = np.array(each(number, _by_feature(values, name, question), name, one=f"a value of {name}"))
    if not isinstance(question, Question):
        if name != "unit":
            raise DataError(f"an invalid request has no {name}")
        return {name: row}
    numbers, others = row[list(question.numbers)], row[[choice.feature for choice in question.choices]]
    if name == "unit" and not (np.isfinite(numbers) & (numbers > 0)).all():
        raise DataError("unit must hold positive numbers")
    if name in CHANCES:  # infinite where what is expected lies beyond the end of a curved scale
        if np.isnan(numbers).any() or not np.isfinite(others).all():
            raise DataError(f"{name} must hold numbers")
        return {name: numbers, CHANCES[name]: others}
    if not np.isfinite(numbers).all():
        raise DataError(f"{name} must hold finite numbers")
    if not np.isnan(others).all():
        raise DataError(f"{name} is for numbers, not for categories")
    return {name: numbers}


def _by_feature(values: Any, what: str, question: Question | Refusal) -> list[Any]:
    """A value for each feature of the question."""
    series = entries(values, what, ("names", "values"))
    if not _same(series["names"], list(question.features)):
        raise DataError(f"{what} names other features than the question")
    return sequence(series["values"], what, len(question.features))


def _array(values: Any, what: str, n: int) -> Array | None:
    return None if values is None else np.array(each(finite, values, what, n))
