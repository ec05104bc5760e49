"""What of a preset gives way before there is no answer, and what is said of it."""

import numpy as np
import pandas as pd
import pytest

from surefoot import (
    Action,
    Actions,
    ConditionalGaussianNetworkClassifier,
    CounterfactualExplainer,
    Explanation,
    NoCounterfactualError,
    Qcqp,
    verify,
)
from surefoot.explain.rows.giving_way import Climb, Rung
from surefoot.explain.rows.row_explainer import RowExplainer
from surefoot.status import Status


def several(n=6, shift=0.6, seed=0):
    """Two classes that hardly differ in any one feature: several have to change."""
    rng = np.random.default_rng(seed)
    y = np.repeat([0, 1], 100)
    names = [f"x{j}" for j in range(n)]
    X = pd.DataFrame(np.clip(rng.normal(size=(200, n)) + shift * y[:, None], -2.2, 2.2), columns=names)
    return ConditionalGaussianNetworkClassifier("naive").fit(X, y), X


@pytest.fixture(scope="module")
def many():
    return several()


LITTLE = Actions({f"x{j}": Action(most=0.7) for j in range(6)})


def fewest(clf, row):
    """The smallest number of changes that is enough, by trying every number."""
    for most in range(1, 7):
        asked = CounterfactualExplainer(clf, at_most=most, actions=LITTLE)
        if asked.explain(row, 1, on_failure="return").counterfactual is not None:
            return most
    raise AssertionError


def assert_fewer_are_ruled_out(e, clf, most):
    """The file that is read again says and proves that so many changes are not enough."""
    again = verify(Explanation.from_json(e.to_json()), clf)
    assert again.ok
    said = [claim.reason for claim in again.claims if claim.name == "fewer changes"]
    assert [reason.partition(": ")[0] for reason in said] == [f"no answer changes at most {most} features"]


def test_the_smallest_number_of_changes_that_is_enough(many):
    clf, X = many
    rows = X.iloc[[43, 1, 16]]
    explainer = CounterfactualExplainer(clf, actions=LITTLE)
    for k, e in enumerate(explainer.explain_batch(rows, 1, progress=False)):
        needed = fewest(clf, rows.iloc[k])
        assert len(e.changed) == needed > 3
        assert f"3 changed features are not enough: {needed} are needed, and this is proven." in str(e)
        assert_fewer_are_ruled_out(e, clf, needed - 1)
        one = explainer.explain(rows.iloc[k], 1)
        assert (one.counterfactual == e.counterfactual).all()
        assert one.advice == e.advice


def test_the_smallest_number_of_changes_that_is_enough_for_several_models(many):
    clf, X = many
    other = ConditionalGaussianNetworkClassifier("naive").fit(X.iloc[::2], np.repeat([0, 1], 50))
    explainer = CounterfactualExplainer(clf, actions=LITTLE, models=[other])
    e = explainer.explain(X.iloc[43], 1)
    assert "3 changed features are not enough" in e.advice
    assert len(e.changed) > 3
    assert all(model.predict(e.counterfactual.to_frame().T.astype(float))[0] == 1 for model in (clf, other))


@pytest.mark.parametrize("settings", [{}, {"against": "all"}, {"plausible": 0.05, "budget": 0}])
def test_fewer_changes_are_ruled_out_for_each_of_several_targets(settings):
    clf, X, actions = three_classes()
    explainer = CounterfactualExplainer(clf, actions=actions, **settings)
    found = explainer.explain_batch(X, [[1, 2]] * len(X), progress=False)
    few = [e for e in found if "are needed, and this is proven" in e.advice]
    assert few
    for e in few:
        assert_fewer_are_ruled_out(e, clf, len(e.changed) - 1)
        assert all("fewer" in other.certificate for other in e.others)


def three_classes():
    """Numbers and categories of which three changes are not enough for some rows of the first class."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 400)
    X = pd.DataFrame(rng.normal(size=(400, 5)) + 0.9 * y[:, None], columns=list("abcde")).round(2)
    for name in "fg":
        X[name] = np.where(rng.random(400) < 0.25 + 0.25 * y, "x", "y")
    actions = Actions({name: Action(most=0.6) for name in "abcde"}, at_most_of=[(2, ["a", "b", "f"])])
    return ConditionalGaussianNetworkClassifier("tan").fit(X, y), X[y == 0].iloc[[8, 9]], actions


def test_what_was_given_does_not_give_way(many):
    clf, X = many
    row = X.iloc[1]
    with pytest.raises(NoCounterfactualError):
        CounterfactualExplainer(clf, at_most=3, actions=LITTLE).explain(row, 1)


def test_the_budget_gives_way_last(many):
    clf, X = many
    row = X.iloc[int(np.argmin(clf.predict_proba(X)[:, 1]))]
    top = CounterfactualExplainer(clf, threshold=0.5, at_most=None, budget=0).explain(row, 1)
    ends = {name: (None, float(top.counterfactual[name] + 1e-3)) for name in X.columns}
    explainer = CounterfactualExplainer(clf, bounds=ends, immutable=list(set(X.columns) - set(top.changed)))
    e = explainer.explain(row, 1)
    assert e.budget == 0
    assert "do exactly what it says" in str(e)
    assert "small errors are allowed for" not in str(e)
    assert verify(e, clf).ok
    kept = CounterfactualExplainer(clf, bounds=ends, budget=0.05, immutable=explainer.immutable)
    assert kept.explain(row, 1, on_failure="return").counterfactual is None


def test_where_nothing_helps_the_last_question_says_why(many):
    clf, X = many
    e = CounterfactualExplainer(clf, immutable=list(X.columns)).explain(X.iloc[0], 1, on_failure="return")
    assert e.status == "infeasible"
    assert e.advice
    assert (
        CounterfactualExplainer(clf, immutable=list(X.columns))
        .explain_batch(X.head(2), 1, progress=False)[0]
        .advice
        == e.advice
    )


def test_seconds_are_those_of_all_that_was_asked(many):
    clf, X = many
    explainer = CounterfactualExplainer(clf, actions=LITTLE)
    one, batch = explainer.explain(X.iloc[43], 1), explainer.explain_batch(X.iloc[[43]], 1, progress=False)
    for e in (one, batch[0]):
        assert "are not enough" in e.advice
        assert 0 < e.search_seconds <= e.seconds


def answer_of(explanation, status, changed, coverage=1.0, gap=0.01, seconds=0.0):
    """An explanation as a climb sees it."""
    from types import SimpleNamespace

    point = np.zeros(1) if status.has_point else None
    return SimpleNamespace(
        status=status,
        answer=SimpleNamespace(point=point, advice="", seconds=seconds, search_seconds=0.0),
        changed=list(range(changed)),
        coverage=coverage,
        gap=gap,
        method="certified",
    )


def test_an_answer_with_fewer_changes_that_withstands_less_does_not_count():
    climb = Climb(Rung(3), frozenset({"at_most"}))
    climb.send(answer_of(None, Status.INFEASIBLE, 0))
    safe, unsafe = answer_of(None, Status.OPTIMAL, 6), answer_of(None, Status.TIME_LIMIT, 4, coverage=0.5)
    for found in (safe, unsafe, answer_of(None, Status.OPTIMAL, 5)):
        climb.send(found)
    assert not climb.goes_on
    assert len(climb.found.changed) == 5
    assert "; 5 are the fewest that were found in time" in climb._gave_way(5)


@pytest.mark.parametrize(
    ("status", "gap", "counts"),
    [
        (Status.OPTIMAL, 0.01, True),
        (Status.TIME_LIMIT, 0.1, True),
        (Status.TIME_LIMIT, 0.18, False),
        (Status.TIME_LIMIT_NO_POINT, 1.0, False),
    ],
)
def test_an_answer_that_was_cut_short_gets_the_time_that_is_left(status, gap, counts):
    """Unless that proves no more, its answer counts."""
    climb = Climb(Rung(3), frozenset({"at_most"}))
    cut = answer_of(None, Status.TIME_LIMIT, 4, gap=0.15)
    for found in (answer_of(None, Status.INFEASIBLE, 0), answer_of(None, Status.OPTIMAL, 6), cut):
        assert climb.goes_on
        climb.send(found)
    assert climb.goes_on
    assert climb.step.rung == Rung(4)
    assert climb.share(20.0) == 20.0
    last = answer_of(None, status, 4 if status.has_point else 0, gap=gap)
    climb.send(last)
    assert not climb.goes_on
    assert climb.found is (last if counts else cut)


def test_an_answer_that_was_cut_short_far_from_its_bound_stays_as_it_is():
    climb = Climb(Rung(3), frozenset({"at_most"}))
    cut = answer_of(None, Status.TIME_LIMIT, 4, gap=0.3)
    for found in (answer_of(None, Status.INFEASIBLE, 0), answer_of(None, Status.OPTIMAL, 6), cut):
        climb.send(found)
    assert not climb.goes_on
    assert climb.found is cut


@pytest.mark.parametrize(
    ("last", "words"),
    [
        (Status.UNDECIDED, "No answer with at most 3 changed features was found; this one changes 6."),
        (Status.INFEASIBLE, "3 changed features are not enough: 6 are needed, and this is proven."),
    ],
)
def test_a_number_that_was_not_settled_in_time_is_not_called_the_smallest(last, words):
    """Unless the next smaller one was."""
    climb = Climb(Rung(3), frozenset({"at_most", "budget"}))
    for status, changed in (
        (Status.TIME_LIMIT_NO_POINT, 0), (Status.OPTIMAL, 6), (Status.UNDECIDED, 0), (last, 0),
    ):  # fmt: skip
        assert climb.goes_on
        climb.send(answer_of(None, status, changed))
    assert not climb.goes_on
    assert climb.reached == Rung(None)
    assert words in climb._gave_way(6)
    assert climb.share(8.0) == pytest.approx(0.8)


def test_what_only_a_solver_says_is_not_called_proven(many):
    clf, X = many
    e = CounterfactualExplainer(clf, actions=LITTLE, method=Qcqp(backend="scip")).explain(X.iloc[43], 1)
    assert len(e.changed) > 3
    assert f"No answer with at most 3 changed features was found; this one changes {len(e.changed)}." in str(
        e
    )
    assert "fewer" not in (e.answer.certificate or {})


def test_once_time_is_up_an_answer_is_not_asked_to_have_fewer_changes(many):
    """Each question would take what a search takes at least."""
    climb = Climb(Rung(3), frozenset({"at_most"}), limit=1.0)
    climb.send(answer_of(None, Status.INFEASIBLE, 0))
    climb.send(answer_of(None, Status.OPTIMAL, 6, seconds=0.9))
    assert climb.goes_on
    climb.send(answer_of(None, Status.UNDECIDED, 0, seconds=1.1))
    assert not climb.goes_on
    assert "3 changed features are not enough; 6 are the fewest that were found in time" in climb._gave_way(6)
    late = Climb(Rung(3), frozenset({"at_most"}), limit=1.0)
    late.send(answer_of(None, Status.INFEASIBLE, 0, seconds=1.1))
    assert late.goes_on  # it has no answer yet
    explainer = CounterfactualExplainer(many[0], time_limit=7)
    assert RowExplainer(explainer.asker, explainer).climb().limit == 7


PROVEN, OPEN = (Status.INFEASIBLE, 0), (Status.UNDECIDED, 0)


@pytest.mark.parametrize(
    ("few", "sent", "numbers", "words"),
    [
        (6, [(Status.OPTIMAL, 6), PROVEN, PROVEN], [6, 4, 5], "6 are needed, and this is proven"),
        (
            6,
            [(Status.TIME_LIMIT, 6), OPEN, OPEN, (Status.OPTIMAL, 6)],
            [6, 4, 5, 6],
            "; 6 are the fewest that were found in time",
        ),
        (6, [(Status.OPTIMAL, 6), OPEN, (Status.OPTIMAL, 5)], [6, 4, 5], "; 5 are the fewest that were"),
        (5, [OPEN, (Status.OPTIMAL, 4)], [5, 4], "4 are needed, and this is proven"),
        (5, [PROVEN, (Status.OPTIMAL, 6)], [5, 6], "6 are needed, and this is proven"),
        (9, [(Status.OPTIMAL, 4)], [4], "4 are needed, and this is proven"),
        (3, [(Status.OPTIMAL, 4)], [4], "4 are needed, and this is proven"),
    ],
)
def test_what_seems_to_be_enough_is_asked_first(few, sent, numbers, words):
    """A number that is no guide is left aside; one that was wrong costs one question."""
    climb = Climb(Rung(3), frozenset({"at_most"}), lambda _: few)
    asked, best = [], 9
    for status, changed in [PROVEN, (Status.OPTIMAL, 9), *sent]:
        asked.append(climb.step.rung.at_most)
        climb.send(answer_of(None, status, changed))
        best = min(best, changed or best)
    assert asked[2:] == numbers
    assert not climb.goes_on
    assert words in climb._gave_way(best)


@pytest.mark.parametrize(
    ("sent", "numbers", "words"),
    [
        ([PROVEN, (Status.OPTIMAL, 5)], [4, 5], "3 changed features are not enough: 5 are needed, and this"),
        ([OPEN, (Status.OPTIMAL, 5)], [4, 6], "3 changed features are not enough; 5 are the fewest that"),
        ([PROVEN, OPEN, OPEN, OPEN], [4, 5, 7, 8], "at least 5 are needed, and 9 are the fewest that were"),
        (
            [PROVEN] * 4,
            [4, 5, 6, 7, 8],
            "3 changed features are not enough: 9 are needed, and this is proven",
        ),
    ],
)
def test_the_number_of_changes_rises_as_long_as_fewer_are_excluded(sent, numbers, words):
    """Then it is found by halving, and what is proven is said."""
    climb = Climb(Rung(3), frozenset({"at_most"}))
    for status, changed in ((Status.INFEASIBLE, 0), (Status.OPTIMAL, 9)):
        climb.send(answer_of(None, status, changed))
    asked = []
    for status, changed in [*sent, *[PROVEN] * (len(numbers) - len(sent))]:
        asked.append(climb.step.rung.at_most)
        climb.send(answer_of(None, status, changed))
    assert asked == numbers
    assert not climb.goes_on
    assert words in climb._gave_way(max((changed for _, changed in sent), default=0) or 9)
