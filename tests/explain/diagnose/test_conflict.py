"""Why there is no answer: constraints none of which can be left out, and what could be given up."""

import random

import numpy as np
import pandas as pd
import pytest

from surefoot import (
    Action,
    Actions,
    ConditionalGaussianNetworkClassifier,
    Explanation,
    NoCounterfactualError,
    Rule,
    Status,
)
from surefoot.explain.constraints.constraint_set import ConstraintSet
from surefoot.explain.diagnose import feasibility_oracle as judging
from surefoot.explain.diagnose import inquiry
from surefoot.explain.diagnose.relaxations import relaxations
from tests.asking import CounterfactualExplainer
from tests.thinning import only

FEATURES = ["variance", "skewness", "curtosis", "entropy"]


@pytest.fixture(scope="module")
def bank(bundled):
    return bundled["banknote"]


@pytest.fixture(scope="module")
def clf(bank):
    return ConditionalGaussianNetworkClassifier("naive").fit(bank.X, bank.y)


def asked(clf, row, **constraints):
    explainer = CounterfactualExplainer(clf, budget=0.05, **constraints)
    return explainer.explain(row, target=1, on_failure="return")


def reason(clf, row, **constraints):
    e = asked(clf, row, **constraints)
    assert e.status is Status.INFEASIBLE
    assert e.message == Status.INFEASIBLE.sentence
    return e


def test_each_constraint_is_named_and_each_way_out_is_one(clf, bank):
    row = bank.X.iloc[0]
    e = reason(clf, row, immutable=FEATURES)
    named = [name for name in FEATURES if f"{name!r} may change" in e.advice]
    assert named
    nearest = []
    for name in FEATURES:
        rest = [other for other in FEATURES if other != name]
        found = asked(clf, row, immutable=rest)
        assert (found.counterfactual is not None) == (name in named), name
        nearest += [(found.distance, name)] if name in named else []
    said = sorted(named, key=lambda name: e.advice.index(f"{name!r} may change"))
    assert said == [name for _, name in sorted(nearest)]  # the cheapest first
    assert {f"{name!r} must not change" for name in named} <= set(e.conflict)
    assert e.advice.startswith("In the way of 1")


def test_bounds_are_named(clf, bank):
    row = bank.X.iloc[0]
    tight = {name: (row[name] - 0.01, row[name] + 0.01) for name in bank.feature_names}
    e = reason(clf, row, bounds=tight)
    assert "'variance' may be less than 3.6116" in e.advice
    assert "'variance' may be more than" not in e.advice
    assert "'variance' is at least 3.6116" in e.conflict


def test_directions_are_named(clf, bank):
    row = bank.X.iloc[0]
    e = reason(clf, row, increasing=["variance"], immutable=["skewness", "curtosis", "entropy"])
    assert "'variance' may fall" in e.advice
    assert "'variance' may only rise" in e.conflict


def test_two_constraints_are_given_up_where_one_is_not_enough(clf, bank):
    row = bank.X.iloc[0]
    kept = {name: Action("stay", protected=True) for name in ("skewness", "curtosis", "entropy")}
    rules = [Rule({"variance": 1}, low=row["variance"] - 0.3, name="not far")]
    e = reason(clf, row, actions=Actions({**kept, "variance": Action(low=3.5)}, rules=rules))
    phrases = ["'variance' may be less than 3.5", "the rule 'not far' is lifted"]
    assert any(f"There is one if {a} and {b}." in e.advice for a, b in (phrases, phrases[::-1]))


def test_nothing_is_named_where_nothing_helps():
    """A class that is a little narrower than its rival in every direction never reaches 99.9 %."""
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(0, 1.3, (200, 2)), rng.normal(0, 1, (200, 2))])
    clf = ConditionalGaussianNetworkClassifier("naive").fit(X, np.repeat([0, 1], 200))
    for bounds, said in (
        (None, "Even without any restriction no change leads to 1."),
        ("data", "Within the range seen in training no change leads to 1, whatever else is allowed."),
    ):
        explainer = CounterfactualExplainer(clf, threshold=0.999, bounds=bounds, increasing=[0])
        e = explainer.explain([4.0, 4.0], target=1, on_failure="return")
        assert e.status is Status.INFEASIBLE
        assert e.advice == said
        assert e.conflict == ()


def test_values_ends_and_rules_are_named(clf, bank):
    row = bank.X.iloc[0]
    others = ["skewness", "curtosis", "entropy"]
    values = Actions({"variance": Action(values=[row["variance"] + 0.1, row["variance"] - 0.1])})
    assert "'variance' may take other values" in reason(clf, row, immutable=others, actions=values).advice
    ends = Actions({"variance": Action(low=3)})
    assert "'variance' may be less than 3" in reason(clf, row, immutable=others, actions=ends).advice
    rule = Actions(rules=[Rule({"variance": 1, "entropy": 1}, low=3)])
    assert (
        "the rule 'variance + entropy >= 3' is lifted"
        in reason(clf, row, immutable=others, actions=rule).advice
    )


THREE = [
    "variance + skewness >= variance.now + skewness.now + 1",
    "skewness <= curtosis - curtosis.now + skewness.now",
    "variance + curtosis <= variance.now + curtosis.now",
]


@pytest.mark.parametrize("bounds", ["data", None])
def test_three_rules_that_exclude_each_other_are_these_three(clf, bank, bounds):
    """Among others that do not matter."""
    row = bank.X.iloc[0]
    idle = ["entropy <= 9", "variance >= variance.now - 90", "skewness + entropy >= -80"]
    rules = [idle[0], THREE[0], THREE[1], idle[1], THREE[2], idle[2]]
    actions = Actions({"entropy": "stay"}, rules=rules)
    e = asked(clf, row, actions=actions, bounds=bounds, time_limit=3)
    assert e.counterfactual is None
    assert e.conflict == tuple(f"the rule {rule!r}" for rule in THREE)
    assert e.advice.startswith("These exclude each other: the rule 'variance + ")
    assert f"There is one if the rule {THREE[0]!r} is lifted" in e.advice
    again = Explanation.from_json(e.to_json())
    assert again.conflict == e.conflict


def test_the_range_seen_in_training_is_named_where_it_is_to_blame(clf, bank):
    row = bank.X.iloc[0]
    e = asked(clf, row, actions=Actions(rules=["variance >= 50"]))
    assert e.conflict == ("the rule 'variance >= 50'",)
    assert e.advice.startswith("This cannot be met within the range seen in training: the rule")
    e = asked(clf, row, actions=Actions(rules=["variance >= 6", "variance <= 5"]))
    assert e.advice.startswith("These exclude each other: the rule")
    others = dict.fromkeys(FEATURES[1:], "stay")
    e = asked(clf, row, actions=Actions({**others, "variance": Action(low=3)}))
    assert e.advice.startswith("In the way of 1")


def pieces(row):
    """Constraints in words, each with what an explainer is told."""
    found = {}
    for name in FEATURES:
        now = float(row[name])
        found[f"{name!r} must not change"] = ("feature", name, {"may": "stay"})
        found[f"{name!r} may only rise"] = ("feature", name, {"may": "rise"})
        found[f"{name!r} changes by at most 0.5"] = ("feature", name, {"most": 0.5})
        found[f"{name!r} is at least {now - 0.25!r}"] = ("feature", name, {"low": now - 0.25})
        found[f"{name!r} is at most {now + 0.75!r}"] = ("feature", name, {"high": now + 0.75})
    for rule in (
        "variance + skewness <= variance.now + skewness.now",
        "variance >= variance.now - 1",
        "curtosis - entropy >= curtosis.now - entropy.now - 1",
        "skewness >= skewness.now - 2",
    ):
        found[f"the rule {rule!r}"] = ("rules", None, rule)
    for rule in (("variance falls", "skewness rises"), ("skewness changes", "curtosis >= curtosis.now + 2")):
        found[repr(f"if {rule[0]}, then {rule[1]}")] = ("when", None, rule)
    found["at most 1 feature changes"] = ("at_most", None, 1)
    return found


def said(some, known):
    """The actions that say some of the pieces."""
    features, rules, when, most = {}, [], [], None
    for one in some:
        kind, name, entry = known[one]
        if kind == "feature":
            features.setdefault(name, {}).update(entry)
        rules += [entry] if kind == "rules" else []
        when += [entry] if kind == "when" else []
        most = entry if kind == "at_most" else most
    return Actions({name: Action(**entry) for name, entry in features.items()}, rules, when, most)


def drawn(clf, row, known, rng):
    """Constraints that leave nothing, and what is said of them."""
    for _ in range(100):
        chosen = sorted(rng.sample(list(known), 8))
        directions = [one.split("'")[1] for one in chosen if "must not" in one or "may only" in one]
        if len(set(directions)) < len(directions):
            continue
        explainer = CounterfactualExplainer(clf, actions=said(chosen, known), gap=0.5, time_limit=8)
        e = explainer.explain(row, 1, on_failure="return")
        if e.status is Status.INFEASIBLE and "the time was over" not in e.advice:
            return chosen, e
    raise AssertionError("the constraints always leave something")


@pytest.mark.parametrize("seed", only((0, 1, 4, 5), range(8)))
def test_no_wish_of_a_conflict_can_be_left_out(clf, bank, seed):
    """Against searches of their own: together they leave nothing, without any one there is an answer."""
    far = np.flatnonzero(clf.predict_proba(bank.X)[:, 1] < 0.02)
    rng, row = random.Random(seed), bank.X.iloc[far[20 * seed]]
    known = pieces(row)
    chosen, e = drawn(clf, row, known, rng)
    assert e.conflict
    assert set(e.conflict) <= set(chosen)

    def distance(some):
        explainer = CounterfactualExplainer(clf, actions=said(some, known), gap=0.5)
        found = explainer.explain(row, 1, on_failure="return")
        assert found.counterfactual is not None or found.status is Status.INFEASIBLE
        return found.distance

    assert distance(e.conflict) == np.inf
    for one in e.conflict:
        assert distance([other for other in e.conflict if other != one]) < np.inf, one


def test_points_that_were_found_are_not_sought_again(clf, bank, monkeypatch):
    """A point decides every question that allows it."""
    searched, search = [], judging.certified_states
    monkeypatch.setattr(judging, "certified_states", lambda *a: searched.append(a) or search(*a))
    row = bank.X.iloc[0]
    said = {"immutable": ["variance"], "bounds": {"entropy": (-90, 90), "skewness": (-90, 90)}}
    constraints = ConstraintSet.by_name(FEATURES, **said)
    question = CounterfactualExplainer(clf, noise_on="all", **said).explain(row, 1).question
    judge = judging.FeasibilityOracle(question.family(clf), question, constraints, 20.0, None)
    every = relaxations(constraints)
    (stay,) = (part for part in every if part.kind == "may")
    assert judge.verdict(every).distance < np.inf
    for others in ([], [every[0]], [every[1]], list(every[:3])):
        assert judge.verdict([stay, *others]).distance < np.inf
    assert len(searched) == 1
    assert judge.nearest([stay]).distance <= judge.verdict([stay]).distance
    assert len(searched) == 2


def test_a_point_that_another_ball_needs_is_proved_anew(clf, bank):
    """Features that stay land exactly: a point known from a narrower ball need not withstand a wider one."""
    wide = CounterfactualExplainer(clf, budget=0.3, noise_on="all", norm=2)
    row = bank.X.iloc[0]
    found = wide.explain(row, 1)
    for budget, robust in ((0.3, True), (0.6, False)):
        task = CounterfactualExplainer(clf, budget=budget, noise_on="all", norm=2)
        problem = task.explain(row, 1).question.family(clf)
        known = judging.Found((), found.counterfactual, judging.Ball(np.eye(4), 2, 0.0), 1.0)
        assert known.answers(problem, 5.0) == robust


def test_a_wide_gap_finds_points_with_little_room(clf, bank):
    """They step inside by a share of the gap: of a wide one that is more than there is room for."""
    far = np.flatnonzero(clf.predict_proba(bank.X)[:, 1] < 0.02)
    row = bank.X.iloc[far[51]]
    actions = Actions(
        {"curtosis": Action(high=row["curtosis"] + 0.75)}, rules=["variance >= variance.now - 1"]
    )
    for gap in (0.01, 0.5):
        explainer = CounterfactualExplainer(clf, actions=actions, gap=gap, norm=1)
        e = explainer.explain(row, 1, on_failure="return")
        assert e.status is Status.OPTIMAL, gap


def test_words_of_classes_and_ends(bank):
    names = np.where(bank.y == 1, "forged", "real")
    clf = ConditionalGaussianNetworkClassifier("naive").fit(bank.X, names)
    row = bank.X.iloc[0]
    kept = {**dict.fromkeys(FEATURES[1:], "stay"), "variance": Action(low=row["variance"] + 1)}
    explainer = CounterfactualExplainer(clf, actions=Actions(kept))
    e = explainer.explain(row, "forged", on_failure="return")
    assert e.advice.startswith('In the way of "forged"')
    assert f"'variance' is at least {row['variance'] + 1:g}, or as it is" in e.conflict


def test_a_protected_feature_is_never_proposed(clf, bank):
    row, others = bank.X.iloc[0], dict.fromkeys(FEATURES[1:], "stay")
    for protected in (False, True):
        e = reason(clf, row, actions=Actions({**others, "variance": Action("rise", protected=protected)}))
        assert ("'variance' may fall" in e.advice) != protected
        assert "'variance' may only rise" in e.conflict
        features = {**others, "variance": Action(protected=protected)}
        e = reason(clf, row, actions=Actions(features, rules=["variance >= variance.now"]))
        assert ("the rule 'variance >= variance.now' is lifted" in e.advice) != protected
        assert "the rule 'variance >= variance.now'" in e.conflict
    e = reason(clf, row, actions=Actions({name: Action("stay", protected=True) for name in FEATURES}))
    assert "There is one" not in e.advice
    assert e.conflict


def test_when_the_time_is_over_it_is_said(clf, bank, monkeypatch):
    monkeypatch.setattr(inquiry, "PATIENCE", 0.0)
    e = reason(clf, bank.X.iloc[0], immutable=FEATURES)
    assert "perhaps not all of these: the time was over" in e.advice
    assert "There is one" not in e.advice


def test_when_the_time_is_over_no_question_is_posed(clf, bank, monkeypatch):
    """With hundreds of features that alone takes seconds."""

    def posed(*_):
        raise AssertionError("the time is over")

    monkeypatch.setattr(inquiry, "PATIENCE", 0.0)
    monkeypatch.setattr(judging.FeasibilityOracle, "_posed", posed)
    assert reason(clf, bank.X.iloc[0], immutable=FEATURES).conflict


def test_an_interrupt_is_not_swallowed(clf, bank, monkeypatch):
    from dataclasses import replace

    found = judging.certified_states

    def interrupted(problem, gap, seconds):
        return replace(found(problem, gap, seconds), status=Status.INTERRUPTED_NO_POINT, point=None)

    monkeypatch.setattr(judging, "certified_states", interrupted)
    with pytest.raises(KeyboardInterrupt):
        asked(clf, bank.X.iloc[0], immutable=FEATURES)


def test_categories_are_named():
    rng = np.random.default_rng(3)
    y = np.repeat([0, 1], 150)
    frame = pd.DataFrame(
        {
            "income": rng.normal(2 + y, 1),
            "housing": np.where(rng.random(300) < 0.2 + 0.6 * y, "own", "rent"),
            "job": np.where(rng.random(300) < 0.3 + 0.4 * y, "yes", "no"),
        }
    )
    clf = ConditionalGaussianNetworkClassifier("naive").fit(frame, y)
    row = {"income": 1.0, "housing": "rent", "job": "no"}
    actions = Actions({"income": "stay", "housing": Action(moves={"own": ["rent"]}), "job": "stay"})
    explainer = CounterfactualExplainer(clf, actions=actions)
    with pytest.raises(NoCounterfactualError) as error:
        explainer.explain(row, target=1)
    e = error.value.explanation
    assert e.status is Status.INFEASIBLE
    assert "'income' may change" in e.advice
    assert set(e.conflict) <= {
        "'income' must not change",
        "'job' must not change",
        "'housing' moves only where its action says",
    }
    limited = Actions({"income": "stay"}, at_most=1, when=[("housing is own", "job is yes")])
    e = CounterfactualExplainer(clf, actions=limited, threshold=0.6).explain(row, 1, on_failure="return")
    assert e.status is Status.INFEASIBLE
    assert "at most 1 feature changes" in e.conflict
    assert "more than 1 features may change" in e.advice


def test_a_step_keeps_the_ends_that_it_needs(clf, bank):
    """Beyond the range seen in training a step would have no ends: the diagnosis does not ask that."""
    actions = Actions({"variance": Action("rise", step=0.5)})
    e = reason(clf, bank.X.iloc[0], actions=actions, immutable=FEATURES[1:], bounds="data")
    assert "'variance' may only rise" in e.conflict
    assert "There is one if" in e.advice


def test_steps_that_are_too_many_beyond_the_data_are_not_counted(clf, bank):
    """The range seen in training keeps them few; without it the question cannot be posed."""
    actions = Actions(
        dict.fromkeys(FEATURES[1:], "stay") | {"variance": Action(step=0.01, most=1e6)},
        rules=["variance >= 1000"],
    )
    e = asked(clf, bank.X.iloc[0], actions=actions, bounds="data")
    assert e.status is Status.INFEASIBLE
    assert "variance >= 1000" in e.advice


def test_a_proof_outlives_a_diagnosis_that_fails(clf, bank, monkeypatch):
    def broken(*_):
        raise ZeroDivisionError("by nothing")

    monkeypatch.setattr(inquiry, "diagnosed", broken)
    e = reason(clf, bank.X.iloc[0], immutable=FEATURES)
    assert e.certificate is not None
    assert e.conflict == ()
    assert e.advice.startswith("Why there is none could not be said. An unexpected ZeroDivisionError")
