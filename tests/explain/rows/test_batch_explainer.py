import os
import signal
import threading

import joblib
import numpy as np
import pandas as pd
import pytest

from surefoot import ConditionalGaussianNetworkClassifier, Explanations, Status, verify
from surefoot.exceptions import BackendMissingError, BackendTooLargeError, ProblemError
from surefoot.explain.answer import executor as answering
from surefoot.explain.diagnose import feasibility_oracle as judging
from surefoot.explain.rows.row_explainer import RowExplainer
from tests.asking import CounterfactualExplainer
from tests.thinning import only


@pytest.fixture
def _interruptible():
    """A test run that was started in the background ignores the signal."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(scope="module")
def pima(bundled):
    return bundled["pima"]


@pytest.fixture(scope="module")
def clf(pima):
    return ConditionalGaussianNetworkClassifier("tan").fit(pima.X, pima.y)


@pytest.fixture(scope="module")
def explainer(clf):
    return CounterfactualExplainer(clf, budget=0.05, whole=False)


def without_seconds(explanations):
    return explanations.to_frame().drop(columns="seconds")


def test_a_batch_is_the_rows_one_by_one(explainer, pima, clf):
    batch = explainer.explain_batch(pima.X.iloc[100:112], progress=False)
    assert [e.row for e in batch] == list(range(100, 112))
    for e, (label, row) in zip(batch, pima.X.iloc[100:112].iterrows(), strict=True):
        alone = explainer.explain(row)
        assert alone.row == label
        pd.testing.assert_series_equal(e.counterfactual, alone.counterfactual)
        assert e.lower_bound == alone.lower_bound
        assert verify(e, clf).ok


def test_two_jobs_give_the_same(explainer, pima):
    rows = pima.X.head(12)
    one = explainer.explain_batch(rows, n_jobs=1, progress=False)
    two = explainer.explain_batch(rows, n_jobs=2, progress=False)
    pd.testing.assert_frame_equal(without_seconds(one), without_seconds(two), check_exact=True)
    assert [e.certificate for e in one] == [e.certificate for e in two]


def test_any_joblib_backend(explainer, pima):
    rows = pima.X.head(6)
    here = explainer.explain_batch(rows, progress=False)
    for backend in ("threading", "multiprocessing"):
        with joblib.parallel_config(backend=backend, n_jobs=2):
            there = explainer.explain_batch(rows, progress=False)
        pd.testing.assert_frame_equal(without_seconds(here), without_seconds(there), check_exact=True)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_dask(explainer, pima):
    distributed = pytest.importorskip("distributed")
    rows = pima.X.head(6)
    here = explainer.explain_batch(rows, progress=False)
    with (
        distributed.LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster),
        joblib.parallel_config(backend="dask"),
    ):
        there = explainer.explain_batch(rows, progress=False)
    pd.testing.assert_frame_equal(without_seconds(here), without_seconds(there), check_exact=True)


def test_rows_in_any_form(explainer, pima):
    frame = pima.X.head(3)
    same = explainer.explain_batch(frame, progress=False)
    for rows in (
        frame.to_numpy(),
        frame.to_dict("records"),
        [row for _, row in frame.iterrows()],
        frame[frame.columns[::-1]],
    ):
        other = explainer.explain_batch(rows, progress=False)
        np.testing.assert_array_equal([e.distance for e in other], [e.distance for e in same])
    assert explainer.explain_batch(frame.head(0), progress=False) == []


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (3, "must be a table"),
        ("text", "must be a table"),
        ({"plas": 1}, "must be a table"),
        (pd.DataFrame({"plas": [1]}), "no column 'preg'"),
    ],
)
def test_not_a_table(explainer, rows, message):
    with pytest.raises(ProblemError, match=message):
        explainer.explain_batch(rows, progress=False)


def test_targets(explainer, pima, clf):
    rows = pima.X.head(4)
    other = 1 - clf.predict(rows)
    assert [e.target for e in explainer.explain_batch(rows, progress=False)] == other.tolist()
    assert [e.target for e in explainer.explain_batch(rows, other, progress=False)] == other.tolist()
    ones = explainer.explain_batch(rows, 1, progress=False)
    assert [e.status == Status.ALREADY_TARGET for e in ones] == (clf.predict(rows) == 1).tolist()
    with pytest.raises(ProblemError, match="there are 1 targets for 4 rows"):
        explainer.explain_batch(rows, [1], progress=False)
    with pytest.raises(ProblemError, match="unknown target 7"):
        explainer.explain_batch(rows, [1, 0, 7, 1], progress=False)


def test_failures_keep_their_place(clf, pima):
    rows = pima.X.head(5).astype(object)
    rows.iloc[1, 2] = "n/a"
    rows.iloc[3, 0] = np.nan
    explainer = CounterfactualExplainer(clf, bounds={"age": (40, 60)}, immutable=["age"])
    rows["age"] = [45, 45, 20, 45, 45]
    batch = explainer.explain_batch(rows, progress=False)
    assert [e.row for e in batch] == [0, 1, 2, 3, 4]
    assert [e.status for e in batch] == ["optimal", "invalid", "invalid", "invalid", "optimal"]
    assert "value of 'pres' is not a finite number: 'n/a'" in batch[1].advice
    assert "'age' must not change, but its value 20 lies outside its bounds 40 to 60" in batch[2].advice
    assert "value of 'preg' is not a finite number: nan" in batch[3].advice
    assert batch[1].message == Status.INVALID.sentence
    assert batch[1].factual["plas"] == rows["plas"].iloc[1]
    assert str(batch) == "5 explanations: 2 optimal, 3 invalid"
    again = Explanations.from_json(batch.to_json())
    pd.testing.assert_frame_equal(again.to_frame(), batch.to_frame())
    assert len(batch.found) == 2


def test_a_solver_that_fails_on_one_row(explainer, pima, monkeypatch):
    real, seen = answering.search, []

    def fails_once(*arguments):
        seen.append(arguments)
        if len(seen) == 2:
            raise BackendTooLargeError("too large")
        return real(*arguments)

    monkeypatch.setattr(answering, "search", fails_once)
    batch = explainer.explain_batch(pima.X.head(3), progress=False)
    assert [e.status for e in batch] == ["optimal", "failed", "optimal"]
    assert batch[1].advice == "Too large."


def test_a_missing_solver_is_one_error(clf, pima, monkeypatch):
    monkeypatch.setattr(
        "surefoot.explain.rows.batch_explainer.choose_backend", raising(BackendMissingError("pip"))
    )
    with pytest.raises(BackendMissingError):
        CounterfactualExplainer(clf, method="qcqp").explain_batch(pima.X.head(3), progress=False)


def swallowed(_, problem, __):
    """A search that took the signal for itself."""
    return answering.failed(Status.INTERRUPTED_NO_POINT, problem)


def raising(error):
    def function(*_):
        raise error

    return function


def test_an_interrupt_keeps_what_is_done(explainer, pima, monkeypatch):
    real, seen = answering.search, []

    def interrupted(*arguments):
        seen.append(arguments)
        if len(seen) == 3:
            raise KeyboardInterrupt
        return real(*arguments)

    monkeypatch.setattr(answering, "search", interrupted)
    batch = explainer.explain_batch(pima.X.head(5), progress=False)
    assert [e.status for e in batch] == ["optimal"] * 2 + ["interrupted_no_point"] * 3
    assert len(seen) == 3


def test_an_interrupt_that_a_search_swallows_stops_the_batch(explainer, pima, monkeypatch):
    monkeypatch.setattr(answering, "search", swallowed)
    batch = explainer.explain_batch(pima.X.head(3), progress=False)
    assert [e.status for e in batch] == ["interrupted_no_point"] * 3


@pytest.fixture
def told(monkeypatch):
    """Calls a function once, when so many answers have come back to the batch."""
    real, seen = RowExplainer.explanation, []

    def arrange(n_answers, function):
        def spy(*arguments):
            seen.append(arguments)
            if len(seen) == n_answers:
                function()
            return real(*arguments)

        monkeypatch.setattr(RowExplainer, "explanation", spy)

    return arrange


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_an_interrupt_between_two_answers(explainer, pima, told, n_jobs):
    """The workers have answers that nobody will take, and joblib would warn of it."""
    told(5, raising(KeyboardInterrupt))
    batch = explainer.explain_batch(pima.X.head(200), n_jobs=n_jobs, progress=False)
    assert batch.counts() == {"optimal": 4, "interrupted_no_point": 196}


@pytest.mark.usefixtures("_interruptible")
@pytest.mark.parametrize("n_jobs", only([1], [1, 2]))
def test_a_real_signal(explainer, pima, told, n_jobs):
    rows = pd.concat([pima.X] * 4, ignore_index=True)
    told(20, threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start)
    batch = explainer.explain_batch(rows, n_jobs=n_jobs, progress=False)
    counts = batch.counts()
    assert len(batch) == len(rows)
    assert counts["optimal"] > 0
    assert counts["interrupted_no_point"] > 0
    # The search that took the signal may have had a point in hand.
    assert counts["optimal"] + counts["interrupted_no_point"] + counts.get("interrupted", 0) == len(rows)
    assert counts.get("interrupted", 0) <= n_jobs


def test_progress_goes_to_stderr(explainer, pima, capsys):
    explainer.explain_batch(pima.X.head(3))
    out, err = capsys.readouterr()
    assert out == ""
    assert "explaining: 100%" in err
    assert "3/3" in err
    explainer.explain_batch(pima.X.head(3), progress=False)
    assert capsys.readouterr().err == ""


@pytest.mark.usefixtures("_interruptible")
def test_finished_rows_are_kept_whatever_their_order(explainer, pima, told, monkeypatch):
    """The first row is slow; the others are done when the signal comes."""
    import time

    real = answering.attempt
    slow = pima.X.iloc[0].to_numpy()

    def attempt(work):
        if np.array_equal(work.task.problem.factual, slow):
            time.sleep(5)
        return real(work)

    monkeypatch.setattr(answering, "attempt", attempt)
    told(7, threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start)
    with joblib.parallel_config(backend="threading"):
        batch = explainer.explain_batch(pima.X.head(8), n_jobs=2, progress=False)
    assert [e.status for e in batch] == ["interrupted_no_point"] + ["optimal"] * 7


def test_an_interrupted_diagnosis_names_nothing(clf, pima, monkeypatch):
    from surefoot.search.certified import certified_states

    def interrupted(*arguments):
        answer = certified_states(*arguments)
        object.__setattr__(answer, "status", Status.INTERRUPTED_NO_POINT)
        return answer

    monkeypatch.setattr(judging, "certified_states", interrupted)
    explainer = CounterfactualExplainer(clf, immutable=list(pima.X.columns))
    batch = explainer.explain_batch(pima.X.head(2), progress=False)
    assert [e.status for e in batch] == ["interrupted_no_point"] * 2


@pytest.mark.parametrize("n_jobs", [0, 1.5])
def test_jobs_are_checked(explainer, pima, n_jobs):
    with pytest.raises(ProblemError, match="n_jobs must be an integer"):
        explainer.explain_batch(pima.X.head(2), n_jobs=n_jobs, progress=False)


def test_a_classifier_that_was_fitted_again(pima):
    clf = ConditionalGaussianNetworkClassifier("naive").fit(pima.X, pima.y)
    explainer = CounterfactualExplainer(clf)
    few = pima.X[["plas", "mass"]]
    clf.fit(few, pima.y)
    assert explainer.explain_batch(few.head(2), progress=False).counts() == {"optimal": 2}


def test_targets_in_odd_forms(explainer, pima):
    rows = pima.X.head(2)
    assert len(explainer.explain_batch(rows, np.array(1), progress=False)) == 2
    for wrong in (pd.NA, 17, "1"):
        with pytest.raises(ProblemError, match="unknown target"):
            explainer.explain_batch(rows, wrong, progress=False)
    with pytest.raises(ProblemError, match="another index"):
        explainer.explain_batch(rows, pd.Series([1, 0], index=[1, 0]), progress=False)
    with pytest.raises(ProblemError, match="unknown target 17"):
        explainer.explain_batch(rows.head(0), 17, progress=False)
