"""Re-check an explanation from its numbers alone; nothing here is shared with the searches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Literal

from surefoot.exceptions import DataError
from surefoot.explain.by_model import check_by_model, check_plausible
from surefoot.explain.cautions import model_cautions
from surefoot.explain.explanation import Explanation
from surefoot.explain.words import allowed_words, domain_words, question_words
from surefoot.formats import one_line
from surefoot.model.adoption import adopt
from surefoot.model.classifier import ConditionalGaussianNetworkClassifier
from surefoot.model.content import classifier_content
from surefoot.waist.question import Question

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
    def failures(self) -> tuple[Claim, ...]:
        """The claims that fail or are not proved."""
        return tuple(claim for claim in self.claims if not claim.holds)

    def __bool__(self) -> bool:
        return self.ok

    def __str__(self) -> str:
        claims = [f"{claim.verdict:<10} {claim.name}: {claim.reason}" for claim in self.claims]
        return "\n".join(one_line(line) for line in (*self.question, *claims))


def verify(
    explanation: Explanation, classifier: Any, exact: bool = False, models: Sequence[Any] = ()
) -> Verification:
    """Check every claim of an explanation against the classifier it is about.

    Parameters
    ----------
    explanation : Explanation
    classifier : ConditionalGaussianNetworkClassifier, or what `adopt` takes
        The one that was explained.
    exact : bool, default=False
        Whether to compute with integers, by code that needs the standard library alone; slower. Otherwise
        in floating point, with every rounding error bounded.
    models : sequence of classifiers
        Further models that the question names, for an explanation that was read from a file.

    Examples
    --------
    >>> from surefoot import ConditionalGaussianNetworkClassifier, CounterfactualExplainer, datasets, verify
    >>> bank = datasets.load_banknote()
    >>> clf = ConditionalGaussianNetworkClassifier().fit(bank.X, bank.y)
    >>> explanation = CounterfactualExplainer(clf, budget=0.05).explain(bank.X.iloc[0], target=1)
    >>> verify(explanation, clf).ok, verify(explanation, clf, exact=True).ok
    (True, True)
    """
    known = [adopt(model) for model in (classifier, *(models or explanation.searched_with))]
    checker = _checker(exact)
    try:
        found = checker.check([classifier_content(clf) for clf in known], explanation.to_dict())
    except checker.UnreadableError as error:
        raise DataError(f"the explanation cannot be checked: {error}") from None
    claims = tuple(Claim(claim.name, claim.verdict, claim.reason) for claim in found)
    if not any(claim.verdict == "FAILS" for claim in claims if claim.name in ("model", "question")):
        claims += _of_the_model(explanation, known[0])
    return Verification(claims, _words(explanation, known[0]))


def _of_the_model(e: Explanation, clf: ConditionalGaussianNetworkClassifier) -> tuple[Claim, ...]:
    """That wishes mean what they say by the model's own figures, and that no caution is kept back."""
    if not isinstance(e.question, Question):
        return ()
    found = []
    try:
        check_by_model(e.question, clf)
    except DataError as error:
        found.append(Claim("wishes", "FAILS", str(error)))
    if "plausible" in e.question.declared:
        try:
            check_plausible(e.question, clf)
            found.append(Claim("plausible", "holds", "by the model's own figures"))
        except DataError as error:
            found.append(Claim("plausible", "FAILS", str(error)))
    cautions = model_cautions(clf, e.question, e.answer, e.context.unit)
    if [(c.code, c) for c in e.context.cautions] != [(c.code, c) for c in cautions]:
        found.append(Claim("cautions", "FAILS", "they are not what the model gives reason for"))
    return tuple(found)


def _checker(exact: bool) -> Any:
    """The module that checks; loaded when it is needed."""
    return import_module("surefoot.proof.exact" if exact else "surefoot.proof.fast")


def _words(e: Explanation, clf: ConditionalGaussianNetworkClassifier) -> tuple[str, ...]:
    """The question: what was asked, what was declared, and what the domain is where it is narrow."""
    if not isinstance(e.question, Question):
        return ("The request was invalid, so nothing was asked.",)
    lines = [question_words(e.question), f"Allowed: {'; '.join(allowed_words(e.question))}."]
    narrow: tuple[str, ...] = ()
    if len(clf.feature_labels_) == len(e.question.features):
        narrow = domain_words(e.question, clf.feature_range_)
    lines += [f"Searched: {'; '.join(narrow)}."] if narrow else []
    said = {"advice": e.advice, "conflict": e.conflict, "share of refits": e.model_share}
    unproved = [name for name, held in said.items() if held]
    return (*lines, *([f"Said without proof: {', '.join(unproved)}."] if unproved else []))
