"""Check an explanation file in floating point, with every rounding bounded.

The same claims as `surefoot.proof.exact`, in the same order and with the same meaning, in less time. What
takes many operations (the pieces of a proof, the geometry, what the network expects) is computed in double
precision with a bound on its error, which counts against the claimant. Whatever that leaves undecided goes to
the exact checker, and so does what costs little. So the verdicts are the exact checker's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields
from functools import cached_property
from typing import Any

import numpy as np

from surefoot.proof import exact
from surefoot.proof.exact import FAILS, HOLDS, NOT_PROVED, Case, Claim, Network, Proof, UnreadableError
from surefoot.proof.pieces import Pieces, deviation_matrix
from surefoot.proof.rounding import Array, Rounded, given, gradual_underflow, positive_definite

__all__ = ["FAILS", "HOLDS", "NOT_PROVED", "Claim", "UnreadableError", "check"]

NEARLY = 0.99e-9  # less than what the exact checker allows to a number that repeats a computation


def check(models: Sequence[Any], explanation: Any) -> tuple[Claim, ...]:
    """Check every claim of an explanation.

    Parameters
    ----------
    models : sequence of dict
        Model documents or their contents, the explained one first.
    explanation : dict
        As JSON gives it.

    Returns
    -------
    tuple of Claim
        As `surefoot.proof.exact.check` gives them. The reasons also say how many pieces of a proof were
        decided in floating point, and how many with whole numbers.

    Raises
    ------
    UnreadableError
        If a file is not what it should be.
    """
    known = [exact.read_model(model) for model in models]
    if exact.read_answer(explanation)["status"] == "refused" or not gradual_underflow():
        return exact.check(known, explanation)
    case = FastCase.of(exact.read_case(known, explanation))
    found = [exact.model_claim(known, case.question.models)]
    with np.errstate(all="ignore"):
        for claim in exact.CHECKS:
            if found[-1].verdict == FAILS and found[-1].name in ("model", "question"):
                break
            if case.counterfactual is not None or claim not in exact.OF_A_POINT:
                result = FASTER.get(claim, claim)(case)
                found += [] if result is None else [result]
    return tuple(found)


class FastCase(Case):
    """An explanation file that was read. Its proofs are decided in floating point where that is enough."""

    @classmethod
    def of(cls, case: Case) -> FastCase:
        """The same files."""
        return cls(**{field.name: getattr(case, field.name) for field in fields(case)})

    @cached_property
    def looked_at(self) -> list[Pieces]:
        """The proofs that were decided so far."""
        return []

    def proven_level(self, proof: Proof) -> float:
        """What a proof proves."""
        self.looked_at.append(Pieces(proof))
        return exact.proven_level(proof, self.looked_at[-1].fault)


def robustness_claim(case: FastCase) -> Claim | None:
    """No perturbation within the certified radius undoes what is required."""
    return _counted(case, exact.robustness_claim)


def lower_bound_claim(case: FastCase) -> Claim | None:
    """No allowed point is nearer, or there is none at all."""
    return _counted(case, exact.lower_bound_claim)


def _counted(case: FastCase, check: Callable[[Case], Claim | None]) -> Claim | None:
    """A claim whose reason also says how the pieces of its proofs were decided."""
    before = len(case.looked_at)
    claim = check(case)
    proofs = case.looked_at[before:]
    if claim is None or not proofs:
        return claim
    floating, whole = sum(proof.floating for proof in proofs), sum(proof.exact for proof in proofs)
    pieces = f"pieces decided in floating point: {floating}, exactly: {whole}"
    return claim._replace(reason=f"{claim.reason} ({pieces})")


def geometry_claim(case: FastCase) -> Claim | None:
    """D and N are the whitening that the question names."""
    asked, metric, ball = case.question, case.metric, case.ball
    if metric is None or asked.prices is not None:  # standard deviations cost little
        holds = metric is not None and not exact.metric_fault(case, metric)
    else:
        holds = is_whitening(case, metric, list(range(asked.n)), True)
    if isinstance(asked.budget, dict):
        holds = holds and ball is None
    elif ball is None:
        holds = holds and (asked.ball_is_metric or not asked.perturbed)
    else:
        holds = holds and is_whitening(case, ball, asked.perturbed, False)
    if not holds:
        return exact.geometry_claim(case)
    return Claim("geometry", HOLDS, exact.geometry_words(asked))


def is_whitening(case: Case, matrix: list[list[float]], features: list[int], is_metric: bool) -> bool:
    """Whether D is certainly the whitening of these features: (1 - e) P <= D'D <= (1 + e) P, and its shape.

    Both differences are looked at in the coordinates of X, which is about the inverse of D: if X'AX is
    positive definite, then A is.
    """
    D, network = np.reshape(matrix, (len(features), len(features))), case.factual_network
    if case.question.whitening == "zca":
        shaped = bool((D == D.T).all()) and positive_definite(given(D))
    else:
        shaped = not exact._shape_fault(case, matrix, features, is_metric)
    try:
        X = given(np.linalg.inv(D))
    except np.linalg.LinAlgError:
        return False
    image, deviations = given(D) @ X, given(deviation_matrix(network)[:, features]) @ X
    gram, block = (
        image.transposed @ image,
        (deviations.transposed * given(1 / np.array(network.variances), 1)) @ deviations,
    )
    whole, less, more = (given(float(exact.ROOM + k)) for k in (0, -1, 1))
    above, below = whole * gram - less * block, more * block - whole * gram
    return shaped and positive_definite(above) and positive_definite(below)


def context_claim(case: FastCase) -> Claim | None:
    """Standard deviations, expectations, and how typical the counterfactual is."""
    plain = not case.model.categories and not any(case.model.scales)  # the others cost little either way
    if plain and case.answer["parents"] == case.model.parents and _context_agrees(case):
        return Claim("context", HOLDS, "units, expectations and typicality were computed again")
    return exact.context_claim(case)


def _context_agrees(case: FastCase) -> bool:
    """Whether the numbers of the context certainly agree with the model."""
    answer, network = case.answer, case.factual_network
    if answer["unit"] is None or not all(v > 0 for v in answer["unit"]):
        return False
    unit, square = np.array(answer["unit"]), variances(network)
    # A root is right to 1e-9 if its square is right to 1.9e-9.
    agrees = _agree(unit * unit, square, 1.9 * square.value)
    agrees = agrees and _agree(answer["expected_before"], _expected(network, case.question.factual), unit)
    if case.point is None or not agrees:
        return agrees
    x, t = case.point, case.model.position(case.question.target)
    target = case.model.networks[t]
    expected = _expected(target, x)
    score = (given(x) - expected) * given(1 / np.sqrt(target.variances), 2)
    return (
        _agree(answer["expected_after"], expected, unit)
        and _agree(answer["z_score"], score, np.ones(len(x)))
        and _percentile_agrees(answer["density_percentile"], target, x, case.model.percentiles[t])
    )


def variances(network: Network) -> Rounded:
    """Of every feature: (I - W)^-1 is the sum of the powers of W, of which the n-th is zero."""
    weights, one = given(network.weights), given(np.eye(len(network.means)))
    reach = one
    for _ in network.means[1:]:
        reach = one + weights @ reach
    return (reach * reach) @ given(network.variances)


def _expected(network: Network, x: Sequence[float]) -> Rounded:
    """What the network expects of every feature given its parents' values."""
    return given(network.means) + given(network.weights) @ given(np.subtract(x, network.means), 1)


def _agree(stated: Any, found: Rounded, size: Array) -> bool:
    """Whether numbers certainly agree to 1e-9 of their values or of their sizes, whichever is larger."""
    if stated is None:
        return False
    room = NEARLY * np.maximum(np.abs(found.value), size)
    return bool((np.abs(np.asarray(stated) - found.value) + found.error() <= room).all())


def _percentile_agrees(stated: float, network: Network, x: Sequence[float], table: list[float]) -> bool:
    """Whether a percentile certainly belongs to a log density that is right to 1e-9."""
    twice = network.twice_log_density(exact.dyadic(x))
    density = exact.near(twice.half())
    if not np.isfinite(density):
        return False
    room = 0.5 * NEARLY * max(1.0, abs(density))
    low, high = np.interp([density - room, density + room], table, np.arange(101.0))
    return sorted(table) == table and bool(low <= stated <= high)


FASTER: dict[Callable[[Case], Claim | None], Callable[[FastCase], Claim | None]] = {
    exact.geometry_claim: geometry_claim,
    exact.robustness_claim: robustness_claim,
    exact.lower_bound_claim: lower_bound_claim,
    exact.context_claim: context_claim,
}
