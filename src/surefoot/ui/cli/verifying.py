"""``surefoot verify``: what holds is counted, what does not is shown in full."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from surefoot.exceptions import DataError
from surefoot.explain.population.nobody import Nobody, is_about_region
from surefoot.explain.result.batch import Explanations, documents_of
from surefoot.explain.result.explanation import Explanation
from surefoot.explain.verification import Verification, verify_all, verify_regions
from surefoot.files import read_limited
from surefoot.formats import first_names, one_line
from surefoot.model.classifier import ConditionalGaussianNetworkClassifier
from surefoot.problem.question import Question
from surefoot.table.packed import gunzipped
from surefoot.table.reading import GZIP
from surefoot.ui.cli.main import DONE, say, show, show_sentences
from surefoot.ui.cli.tables import model

NOT_PROVED = 1
SHOWN_ROWS = 10


def run_verify(options: argparse.Namespace) -> int:
    """``surefoot verify``: one file after the other; the worst verdict counts."""
    clf, paths = model(options.model, options), _files(options.explanations)
    verdicts = []
    for path in paths:
        if len(paths) > 1:
            show(f"{path}\n")
        verdicts.append(_verify(path, clf, options))
    return max(verdicts)


def _files(given: list[str]) -> list[str]:
    """The files that are named, and those in the folders that are."""
    found: list[str] = []
    for path in given:
        inside = sorted(Path(path).glob("*.json")) if Path(path).is_dir() else [path]
        if not inside:
            raise DataError(f"{path}: this folder holds no .json file")
        found += map(str, inside)
    return found


def _verify(path: str, clf: ConditionalGaussianNetworkClassifier, options: argparse.Namespace) -> int:
    try:
        documents = documents_of(_text(path, options.max_size))
        if any(map(is_about_region, documents)):
            return _verify_regions([Nobody.from_dict(one) for one in documents], clf, options)
        explanations = Explanations(map(Explanation.from_dict, documents))
        others = [model(path, options) for path in options.models]
        _check_models(explanations, [clf, *clf.refits_, *others])
        results = list(verify_all(explanations, documents, clf, others, options.time_limit))
    except UnicodeDecodeError:
        raise DataError(f"{path}: is not UTF-8 text") from None
    except DataError as error:
        raise DataError(f"{path}: {error}") from None
    if not results:
        raise DataError(f"{path}: holds no explanation")
    if len(results) == 1:
        show_sentences(f"{results[0] if options.all_claims else _summary(results[0])}\n")
    else:
        _show_all(explanations, results, options.all_claims)
    return DONE if all(result.ok or result.claims_nothing for result in results) else NOT_PROVED


def _verify_regions(
    found: list[Nobody], clf: ConditionalGaussianNetworkClassifier, options: argparse.Namespace
) -> int:
    """Files about regions, of which one alone is usual."""
    others = [model(path, options) for path in options.models]
    results = list(verify_regions(found, clf, others, options.time_limit))
    for one, result in zip(found, results, strict=True):
        claims = str(result) if options.all_claims else _summary(result)
        show(f"{claims}\n{one_line(one.words)}\n")
    return DONE if all(result.ok for result in results) else NOT_PROVED


def _summary(result: Verification) -> str:
    """The question, how many claims hold, and those that do not."""
    return "\n".join(map(one_line, (*result.question, _count([result]), *_unproved(result))))


def _unproved(result: Verification) -> list[str]:
    """The claims that fail or are not proved, in full."""
    if result.claims_nothing:
        return []
    return [f"{claim.verdict:<10} {claim.name}: {claim.reason}" for claim in result.failures]


def _count(results: list[Verification]) -> str:
    """How many claims hold."""
    claims = [claim for result in results if not result.claims_nothing for claim in result.claims]
    held = sum(claim.holds for claim in claims)
    if not claims:
        return "It claims nothing." if len(results) == 1 else "They claim nothing."
    return f"{'All' if held == len(claims) else f'{held:,} of'} {len(claims):,} claims hold."


def _show_all(explanations: Explanations, results: list[Verification], all_claims: bool) -> None:
    """Several explanations: those that do not hold, or all of them; and a last line that counts them."""
    kind = "answer" if explanations.about_one_row else "row"
    names = [one_line(str(k if kind == "answer" else e.row)) for k, e in enumerate(explanations, start=1)]
    failed = []
    if not all_claims:
        show(_count(results) + "\n")
    for name, result in zip(names, results, strict=True):
        fails = not (result.ok or result.claims_nothing)
        failed += [name] if fails else []
        if all_claims:
            show(f"{kind} {name}\n{result}\n")
        elif fails:
            lines = (*result.question, *_unproved(result))
            show("\n".join(map(one_line, (f"{kind} {name}", *lines))) + "\n")
    silent = sum(result.claims_nothing for result in results)
    holds = f"every claim holds for {len(results) - len(failed) - silent} of {len(results)} explanations"
    nothing = f"; {silent} claim{'s' if silent == 1 else ''} nothing: invalid requests" if silent else ""
    sys.stdout.flush()  # this line is the last, wherever the others go
    say(f"surefoot: {holds}{_except(kind, failed)}{nothing}")


def _except(kind: str, failed: list[str]) -> str:
    """For which rows, or answers about one row, a claim fails or is not proved."""
    if not failed:
        return ""
    return f"; not for {kind}{'s' if len(failed) > 1 else ''} {first_names(failed, SHOWN_ROWS)}"


def _text(path: str, largest: int | None) -> str:
    try:
        content = read_limited(path, largest)
        return (gunzipped(content, largest) if content.startswith(GZIP) else content).decode("utf-8")
    except OSError as error:
        raise DataError(f"cannot be read ({error.strerror})") from None


def _check_models(explanations: Explanations, given: list[ConditionalGaussianNetworkClassifier]) -> None:
    """Refuse to judge explanations whose refits were not given: nothing is wrong with them."""
    known = [clf.fingerprint_ for clf in given]
    named = [e.question.models for e in explanations if isinstance(e.question, Question)]
    # About another model altogether, a claim fails; that is for the checker to say.
    refits = {one for models in named if models[:1] == (known[0],) for one in models[1:]}
    missing = len(refits - set(known))
    if missing:
        raise DataError(
            f"{missing} of the {len(refits)} refits that it names {'was' if missing == 1 else 'were'} not "
            "given; add --models FOLDER/*.json, the files that surefoot explain --save-models FOLDER wrote"
        )
