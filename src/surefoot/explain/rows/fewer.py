"""Fewer changes that are not enough: an answer with what proves that."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from surefoot.explain.answer.claims import MORE_VERSION
from surefoot.explain.result.explanation import Explanation
from surefoot.problem.question import Question

Certificate = dict[str, Any]


def with_fewer_ruled_out(e: Explanation, without: Explanation) -> Explanation:
    """An answer whose certificates also prove that fewer changes lead nowhere, to none of its targets.

    Parameters
    ----------
    e : Explanation
    without : Explanation
        Of the same row and targets with a smaller limit: there is no answer.
    """
    proofs = {without.target: _proof(without.question, without.answer.certificate)}
    proofs |= {other.question.target: _proof(other.question, other.certificate) for other in without.others}
    others = [
        replace(other, certificate=_with(other.certificate, proofs[other.question.target]))
        for other in e.others
    ]
    answer = replace(e.answer, certificate=_with(e.answer.certificate, proofs[e.target]))
    return replace(e, answer=answer, others=tuple(others))


def _proof(question: Any, certificate: Certificate | None) -> Certificate:
    """The limits of a question without an answer, and what proves that."""
    assert isinstance(question, Question)
    assert certificate is not None
    proof = {name: certificate[name] for name in ("bound", "states")}
    limits = question.to_dict()["domain"]["limits"]
    return {"limits": limits, **proof, "mixtures": certificate.get("mixtures", [])}


def _with(certificate: Certificate | None, proof: Certificate) -> Certificate:
    return {**(certificate or {}), "version": MORE_VERSION, "fewer": proof}
