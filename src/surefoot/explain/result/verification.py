"""Re-check an explanation from its numbers alone; nothing here is shared with the searches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from math import inf
from typing import Any, Literal

from surefoot.exceptions import DataError, ProblemError
from surefoot.explain.result.cautions import model_cautions
from surefoot.explain.result.explanation import Explanation
from surefoot.explain.result.model_consistency import check_by_model, check_plausible
from surefoot.explain.result.words import allowed_words, domain_words, question_words
from surefoot.formats import one_line
from surefoot.model.adoption import adopt
from surefoot.model.classifier import ConditionalGaussianNetworkClassifier
from surefoot.model.content import classifier_content
from surefoot.problem.question import Question

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
    explanation: Explanation,
    classifier: Any,
    exact: bool = True,  # noqa: ARG001
    models: Sequence[Any] = (),
    time_limit: float | None = None,
) -> Verification:
    """Check every claim of an explanation against the classifier it is about, in exact arithmetic.

    Parameters
    ----------
    explanation : Explanation
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
    seconds = inf if time_limit is None else time_limit
    if not seconds > 0:
        raise ProblemError(f"time_limit must be a positive number of seconds, not {time_limit!r}")
    known = [adopt(model) for model in (classifier, *(models or explanation.searched_with))]
    checker = import_module("surefoot.proof.exact")  # lazily: most programs do not check
    try:
        found = checker.check([classifier_content(clf) for clf in known], explanation.to_dict(), seconds)
    except checker.UnreadableError as error:
        raise DataError(f"the explanation cannot be checked: {error}") from None
    claims = tuple(Claim(claim.name, claim.verdict, claim.reason) for claim in found)
    if not any(_ends_the_check(claim) for claim in claims):
        claims += _of_the_model(explanation, known[0])
    return Verification(claims, _words(explanation, known[0]))


def _ends_the_check(claim: Claim) -> bool:
    """Whether nothing is looked at after this: another model or question, or the effort ran out."""
    return claim.name == "verification" or (claim.verdict == "FAILS" and claim.name in ("model", "question"))


def _of_the_model(e: Explanation, clf: ConditionalGaussianNetworkClassifier) -> tuple[Claim, ...]:
    """That constraints mean what they say by the model's own figures, and that no caution is kept back."""
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


def _words(e: Explanation, clf: ConditionalGaussianNetworkClassifier) -> tuple[str, ...]:
    """The question: what was asked, what was declared, and what the domain is where it is narrow."""
    if not isinstance(e.question, Question):
        return ("The request was invalid, so nothing was asked.",)
    lines = [question_words(e.question), f"Allowed: {'; '.join(allowed_words(e.question))}."]
    narrow: tuple[str, ...] = ()
    if len(clf.feature_labels_) == len(e.question.features):
        narrow = domain_words(e.question, clf.feature_range_)
    lines += [f"Searched: {'; '.join(narrow)}."] if narrow else []
    judged = e.model_share is not None and not e.model_share.kept
    said = {"advice": e.advice, "conflict": e.conflict, "share of refits": judged}
    unproved = [name for name, held in said.items() if held]
    return (*lines, *([f"Said without proof: {', '.join(unproved)}."] if unproved else []))
