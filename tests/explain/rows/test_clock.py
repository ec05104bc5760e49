"""One clock for all of `explain`; what nobody expected becomes a status, not an exception of numpy."""

import logging
import time

import numpy as np
import pytest

from surefoot import ConditionalGaussianNetworkClassifier, datasets
from surefoot.exceptions import NoCounterfactualError, ProblemError
from surefoot.explain.answer import executor as answering
from surefoot.explain.ask import question_builder as asking
from surefoot.explain.rows import row_explainer
from tests.asking import CounterfactualExplainer


@pytest.fixture(scope="module")
def bank():
    return datasets.load_banknote()


@pytest.fixture(scope="module")
def asked(bank):
    clf = ConditionalGaussianNetworkClassifier("naive").fit(bank.X, bank.y)
    return CounterfactualExplainer(clf, time_limit=3.0)


def test_the_search_gets_what_the_question_leaves(monkeypatch, bank, asked):
    limits, real = [], answering.search

    def slow_question(*_):
        time.sleep(0.2)
        return real_scores(*_)

    def search(method, problem, settings):
        limits.append(settings.options.time_limit)
        return real(method, problem, settings)

    real_scores = asking.class_position
    monkeypatch.setattr(asking, "class_position", slow_question)
    monkeypatch.setattr(answering, "search", search)
    e = asked.explain(bank.X.iloc[0])
    assert 2.0 < limits[0] <= 2.8
    assert e.seconds >= 0.2


def test_alternatives_share_one_clock(monkeypatch, bank, asked):
    limits, real = [], answering.search

    def search(method, problem, settings):
        limits.append(settings.options.time_limit)
        time.sleep(0.2)
        return real(method, problem, settings)

    monkeypatch.setattr(answering, "search", search)
    assert len(asked.alternatives(bank.X.iloc[0], n=3)) == 3
    assert limits[1] <= limits[0] - 0.2
    assert limits[2] <= limits[1] - 0.2
    limits.clear()
    assert len(asked.copy(time_limit=0.1).alternatives(bank.X.iloc[0], n=3)) == 1


def test_what_nobody_expected_is_a_status(monkeypatch, bank, asked, caplog):
    def broken(*_):
        return np.linalg.cholesky(-np.eye(2))

    monkeypatch.setattr(answering, "search", broken)
    with caplog.at_level(logging.ERROR, "surefoot"):
        e = asked.explain(bank.X.iloc[0], on_failure="return")
    assert (e.status, e.counterfactual) == ("failed", None)
    assert "An unexpected LinAlgError (Matrix is not positive definite)" in e.advice
    assert "in broken" in caplog.text  # where it happened
    with pytest.raises(NoCounterfactualError, match="unexpected LinAlgError"):
        asked.explain(bank.X.iloc[0])
    assert [e.status for e in asked.explain_batch(bank.X.head(2), progress=False)] == ["failed", "failed"]


def test_so_is_what_happens_while_an_answer_is_put_into_words(monkeypatch, bank, asked):
    monkeypatch.setattr("surefoot.explain.result.assembly._expectations", _divides_by_zero_once([]))
    assert asked.explain(bank.X.iloc[0], on_failure="return").status == "failed"


def test_and_a_question_that_cannot_be_asked_is_an_invalid_request(monkeypatch, bank, asked):
    monkeypatch.setattr(asking, "class_position", lambda *_: 1 // 0)
    with pytest.raises(ProblemError, match="could not be asked: An unexpected ZeroDivisionError"):
        asked.explain(bank.X.iloc[0])
    assert [e.status for e in asked.explain_batch(bank.X.head(2), progress=False)] == ["invalid", "invalid"]


def _divides_by_zero_once(called):
    from surefoot.explain.result import assembly

    real = assembly._expectations

    def expectations(*arguments):
        called.append(1)
        return real(*arguments) if len(called) > 1 else 1 // 0

    return expectations


def test_the_guard_does_not_hide_interrupts(monkeypatch, bank, asked):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(row_explainer, "attempt", interrupted)
    with pytest.raises(KeyboardInterrupt):
        asked.explain(bank.X.iloc[0])
