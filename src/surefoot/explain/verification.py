"""Re-check an explanation from its numbers alone; nothing here is shared with the searches."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from math import inf, isnan
from typing import Any, Literal

from surefoot.exceptions import DataError, ProblemError
from surefoot.explain.population.nobody import Nobody
from surefoot.explain.result.cautions import model_cautions
from surefoot.explain.result.explanation import Explanation
from surefoot.explain.result.model_consistency import check_by_model, check_plausible
from surefoot.explain.result.reasons import agrees, reasons_of_row
from surefoot.explain.result.words import allowed_words, domain_words, question_words
from surefoot.formats import one_line
from surefoot.model.adoption import adopt
from surefoot.model.classifier import ConditionalGaussianNetworkClassifier as Classifier
from surefoot.model.content import classifier_content
from surefoot.problem.question import Question

REFUSAL = "refusal"  # the claim of an invalid request
Verdict = Literal["holds", "FAILS", "not proved"]


@dataclass(frozen=True)
class Claim:
    """One claim of an explanation, the verdict on it, and why.

    Parameters
    ----------
    name : str
    verdict : {"holds", "FAILS", "not proved"}
    reason : str
    """

    name: str
    verdict: Verdict
    reason: str

    @property
    def holds(self) -> bool:
        """Whether the verdict is that it holds."""
        return self.verdict == "holds"


@dataclass(frozen=True)
class Verification:
    """All claims of an explanation; true as a whole if every one holds.

    Parameters
    ----------
    claims : tuple of Claim
    question : tuple of str
        What was asked, in words: a line for each thing.
    """

    claims: tuple[Claim, ...]
    question: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether every claim holds."""
        return all(claim.holds for claim in self.claims)

    @property
    def claims_nothing(self) -> bool:
        """Whether it is about an invalid request, and says nothing that could be wrong."""
        blank = (REFUSAL, "not proved")
        others = [claim for claim in self.claims if (claim.name, claim.verdict) != blank]
        return len(others) < len(self.claims) and all(claim.holds for claim in others)

    @property
    def failures(self) -> tuple[Claim, ...]:
        """The claims that fail or are not proved."""
        return tuple(claim for claim in self.claims if not claim.holds)

    def __bool__(self) -> bool:
        return self.ok

    def __str__(self) -> str:
        claims = [f"{claim.verdict:<10} {claim.name}: {claim.reason}" for claim in self.claims]
        return "\n".join(one_line(line) for line in (*self.question, *claims))


def verify(
    explanation: Explanation | Nobody | Mapping[str, Any],
    classifier: Any,
    exact: bool = True,  # noqa: ARG001
    models: Sequence[Any] = (),
    time_limit: float | None = None,
) -> Verification:
    """Check every claim of an explanation against the classifier it is about, in exact arithmetic.

    Parameters
    ----------
    explanation : Explanation, Nobody, or the certificate of one
        Of a `Nobody`, what it says of a region.
    classifier : ConditionalGaussianNetworkClassifier, or what `adopt` takes
        The one that was explained.
    exact : bool
        Accepted for old callers, and without effect: the check is always exact.
    models : sequence of classifiers
        Further models that the question names, for an explanation that was read from a file.
    time_limit : float, optional
        Seconds. What is not checked by then is not proved, and a last claim says so. Whatever the limit, a
        file that asks for more work than its size justifies is not proved either.

    Examples
    --------
    >>> from surefoot import ConditionalGaussianNetworkClassifier, CounterfactualExplainer, datasets, verify
    >>> bank = datasets.load_banknote()
    >>> clf = ConditionalGaussianNetworkClassifier().fit(bank.X, bank.y)
    >>> explanation = CounterfactualExplainer(clf, budget=0.05).explain(bank.X.iloc[0], target=1)
    >>> verify(explanation, clf, time_limit=10).ok
    True
    """
    seconds = _seconds(time_limit)
    if isinstance(explanation, Mapping):
        explanation = Nobody.from_dict(explanation)
    own = explanation if isinstance(explanation, Explanation) else explanation.explanation
    others = models or (() if own is None else own.searched_with)
    checker = _Checker([adopt(model) for model in (classifier, *others)])
    if isinstance(explanation, Explanation):
        return checker.verification(explanation, explanation.to_dict(), seconds)
    return checker.of_region(explanation, seconds)


def verify_regions(
    found: Sequence[Nobody], classifier: Any, models: Sequence[Any] = (), time_limit: float | None = None
) -> Iterator[Verification]:
    """Check many files about regions and the same models, which are read once.

    Parameters
    ----------
    found : sequence of Nobody
    classifier, models, time_limit
        As in `verify`; the time limit is for each file.
    """
    checker, seconds = _Checker([adopt(model) for model in (classifier, *models)]), _seconds(time_limit)
    for one in found:
        yield checker.of_region(one, seconds)


def verify_all(
    explanations: Sequence[Explanation],
    documents: Sequence[Any],
    classifier: Any,
    models: Sequence[Any] = (),
    time_limit: float | None = None,
) -> Iterator[Verification]:
    """Check many explanations of files about the same models, which are read once.

    Parameters
    ----------
    explanations : sequence of Explanation
    documents : sequence of dict
        As they were in the file.
    classifier, models, time_limit
        As in `verify`; the time limit is for each explanation.
    """
    checker, seconds = _Checker([adopt(model) for model in (classifier, *models)]), _seconds(time_limit)
    for explanation, document in zip(explanations, documents, strict=True):
        yield checker.verification(explanation, document, seconds)


def _seconds(time_limit: float | None) -> float:
    if time_limit is not None and not time_limit > 0:
        raise ProblemError(f"time_limit must be a positive number of seconds, not {time_limit!r}")
    return inf if time_limit is None else time_limit


class _Checker:
    """Checks explanations about some models.

    Parameters
    ----------
    known : list of classifiers
        The explained one first.
    """

    def __init__(self, known: list[Classifier]) -> None:
        self.known, self.exact = known, import_module("surefoot.proof.exact")  # most programs do not check
        self.models = [self.exact.read_model(classifier_content(clf)) for clf in known]

    def verification(self, explanation: Explanation, document: Any, seconds: float) -> Verification:
        """The claims of one explanation."""
        claims = self._checked(document, seconds)
        if not any(_ends_the_check(claim) for claim in claims):
            claims += _of_the_model(explanation, self.known[0])
        return Verification(claims, _words(explanation, self.known[0]))

    def of_region(self, nobody: Nobody, seconds: float) -> Verification:
        """The claims about one region, and of the explanation of somebody who has a way."""
        claims = self._checked(nobody.certificate, seconds)
        if nobody.explanation is not None and not any(_ends_the_check(claim) for claim in claims):
            claims += _of_the_model(nobody.explanation, self.known[0])
        if not any(_ends_the_check(claim) for claim in claims):
            claims += _of_the_words(nobody, self.known[0])
        return Verification(claims, tuple(self.exact.words(self.models, nobody.certificate)))

    def _checked(self, document: Any, seconds: float) -> tuple[Claim, ...]:
        try:
            found = self.exact.check(self.models, document, seconds)
        except self.exact.UnreadableError as error:
            raise DataError(f"the file cannot be checked: {error}") from None
        return tuple(Claim(claim.name, claim.verdict, claim.reason) for claim in found)


def _ends_the_check(claim: Claim) -> bool:
    """Whether nothing is looked at after this: another model or question, or the effort ran out."""
    return claim.name == "verification" or (claim.verdict == "FAILS" and claim.name in ("model", "question"))


def _of_the_model(e: Explanation, clf: Classifier) -> tuple[Claim, ...]:
    """That constraints mean what they say by the model's own figures, and that no caution is kept back."""
    if not isinstance(e.question, Question):
        return ()
    questions = [e.question, *(other.question for other in e.others)]
    found = [claim for question in questions for claim in _by_the_model(question, clf)]
    stated = e.stated_reasons
    if stated is not None and not agrees(stated, reasons_of_row(clf, e.factual, e.target, stated.kept)):
        found.append(Claim("reasons", "FAILS", "they are not what the model says of each feature"))
    cautions = model_cautions(clf, e.question, e.answer, e.context.unit)
    if [(c.code, c) for c in e.context.cautions] != [(c.code, c) for c in cautions]:
        found.append(Claim("cautions", "FAILS", "they are not what the model gives reason for"))
    return tuple(found)


def _is_refused(e: Explanation) -> bool:
    """Whether the row is not decided as the target, whatever small errors could do to it."""
    return bool(e.factual_class != e.target or e.factual_probability < e.threshold)


def _of_the_words(nobody: Nobody, clf: Classifier) -> tuple[Claim, ...]:
    """That the sentences about a region name all that it narrows, and say of a person what is so."""
    region, context, e = nobody.certificate["region"], nobody.certificate["context"], nobody.explanation
    silent = [j for j, entry in enumerate(region) if _keeps_back(clf, j, entry, j in context["named"])]
    dates = [j for j in clf.schema_.numbers if clf.schema_.dates[j]]
    wrong = {
        "they keep back to whom the region is narrowed": bool(silent),
        "other features are dates": context["dates"] != dates,
        "the person is refused": context["accepted"] and e is not None and _is_refused(e),
    }
    return tuple(Claim("words", "FAILS", why) for why, is_so in wrong.items() if is_so)


def _keeps_back(clf: Classifier, j: int, entry: Any, named: bool) -> bool:
    """Whether a region leaves out something of a feature that was seen in training, and no word says so."""
    if "among" in entry:
        return not named and len(entry["among"]) < len(clf.schema_.values[j] or ())
    if entry["values"] == "whole" and not (clf.schema_.whole[j] or clf.schema_.dates[j]):
        return True
    low, high = clf.feature_range_[:, j]
    wide = float(entry["low"]) <= low and float(entry["high"]) >= high
    return not named and (not wide or isinstance(entry["values"], list))


def _by_the_model(question: Question, clf: Classifier) -> list[Claim]:
    """That what is asked of a target means what it says by the model's own figures."""
    found: list[Claim] = []
    try:
        check_by_model(question, clf)
    except DataError as error:
        found.append(Claim("constraints", "FAILS", str(error)))
    if "plausible" in question.declared:
        try:
            check_plausible(question, clf)
            found.append(Claim("plausible", "holds", "by the model's own figures"))
        except DataError as error:
            found.append(Claim("plausible", "FAILS", str(error)))
    return found


def _words(e: Explanation, clf: Classifier) -> tuple[str, ...]:
    """The question: what was asked, what was declared, and what the domain is where it is narrow."""
    if not isinstance(e.question, Question):
        return ("The request was invalid, so nothing was asked.",)
    lines = [question_words(e.question, e.targets), f"Allowed: {'; '.join(allowed_words(e.question))}."]
    lines += [
        f"Required of {other.question.target} alone: {'; '.join(more)}."
        for other in e.others
        if (more := [w for w in allowed_words(other.question) if w not in allowed_words(e.question)])
    ]
    narrow: tuple[str, ...] = ()
    if len(clf.feature_labels_) == len(e.question.features):
        narrow = domain_words(e.question, clf.feature_range_)
    lines += [f"Searched: {'; '.join(narrow)}."] if narrow else []
    judged = e.model_share is not None and not e.model_share.kept
    said: dict[str, Any] = {"advice": e.advice, "conflict": e.conflict, "share of refits": judged}
    said["that the highest probability is reached"] = not isnan(e.best_probability)
    unproved = [name for name, held in said.items() if held]
    lines += [f"Said without proof: {', '.join(unproved)}."] if unproved else []
    return tuple(lines)
