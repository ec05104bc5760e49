import pickle

import numpy as np
import pandas as pd
import pytest

from surefoot import (
    Action,
    Actions,
    ConditionalGaussianNetworkClassifier,
    Explanation,
    datasets,
    diagnose,
    verify,
)
from surefoot.exceptions import ModelFileError
from surefoot.explain.result.cautions import NOTICEABLE, Caution, _against_means, _edges, class_means
from surefoot.model.content import classifier_content, restore_classifier
from surefoot.ui.report.summary import summary_of
from tests.asking import CounterfactualExplainer
from tests.edited import edited


def two_classes(rows=200, shift=2.0, n=3, seed=0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(rows, n)), columns=list("abcdefgh")[:n])
    y = np.repeat([0, 1], rows // 2)
    X.loc[y == 1] += shift
    return X, y


def fitted(X, y, structure="naive", **settings):
    return ConditionalGaussianNetworkClassifier(structure, **settings).fit(X, y)


def codes(e):
    return [caution.code for caution in e.cautions]


def explained(clf, row, **settings):
    return CounterfactualExplainer(clf, **settings).explain(pd.Series(row, list("abcdefgh")[: len(row)]), 1)


@pytest.fixture(scope="module")
def model():
    return fitted(*two_classes())


def test_an_ordinary_answer_has_none(model):
    assert codes(explained(model, [0.2, -0.1, 0.3])) == []


@pytest.fixture(scope="module")
def bound_together():
    """Two features that go together in class 1, whose first is larger there."""
    rng = np.random.default_rng(1)
    X = pd.DataFrame(rng.normal(size=(400, 2)), columns=["a", "b"])
    y = np.repeat([0, 1], 200)
    X.loc[y == 1, "a"] += 0.5
    X.loc[y == 1, "b"] = 0.9 * X.loc[y == 1, "a"] + 0.3 * rng.normal(size=200) + 0.5
    return fitted(X, y, "tan")


def test_a_change_against_the_means(bound_together):
    """A value below what is usual in the target class falls: towards the class that is to be left."""
    e = explained(bound_together, [0.0, -1.0], whole=False)
    here, there = (class_means(bound_together, label)[0] for label in (0, 1))
    assert e.counterfactual["a"] < e.factual["a"] < there
    assert here < there
    assert "against_means" in codes(e)
    assert "a moves away from what is usual in class 1" in str(e.cautions)


def test_who_comes_nearer_to_what_is_usual_is_not_warned(bound_together):
    """A value above what is usual in both classes falls to it: nothing is wrong with that."""
    e = explained(bound_together, [3.0, -1.0], whole=False)
    assert e.counterfactual["a"] < e.factual["a"]
    assert "against_means" not in codes(e)


def test_advice_that_was_followed_is_not_given_again(model):
    """Plausible answers may go against the means as well; and beyond the data is not where they end."""
    question = CounterfactualExplainer(model, plausible=0.2).explain(
        pd.Series([0.2, -0.1, 0.3], list("abc")), 1
    )
    against = np.array([True, False, False])
    (plain,) = _against_means(explained(model, [0.2, -0.1, 0.3]).question, against)
    (asked,) = _against_means(question.question, against)
    assert plain.endswith("say so with actions, or ask for plausible answers.")
    assert asked.endswith("say so with actions.")
    high = model.feature_range_[1]
    point, steps = np.array([high[0], high[1] + 1.0, 0.0]), np.ones(3)
    at, beyond = _edges(model, question.question, point, steps)
    assert at.startswith("a ends where the training data end. Farther out the model knows nothing:")
    assert beyond.startswith("b ends beyond the training data. There the model knows nothing:")


@pytest.mark.parametrize("step", [0.0, 0.04, -0.5])
def test_who_is_at_the_edge_already_or_moves_away_from_it_is_not_warned(model, step):
    """Only a noticeable step towards the edge is worth a caution."""
    question, (low, high) = explained(model, [0.2, -0.1, 0.3]).question, model.feature_range_
    assert list(_edges(model, question, high, np.full(3, step))) == []
    assert list(_edges(model, question, low, np.full(3, -step))) == []
    assert len(list(_edges(model, question, high, np.full(3, 0.06)))) == 1
    assert len(list(_edges(model, question, low, np.full(3, -0.06)))) == 1
    assert list(_edges(model, question, high, np.full(3, -0.06))) == []


def test_every_change_is_listed_and_counted(model):
    e = explained(model, [0.2, -0.1, 0.3])
    point = e.answer.point.copy()
    point[1] = np.nextafter(e.question.factual[1], np.inf)
    tiny = edited(e, counterfactual=point)
    assert "b" in tiny.changed
    assert [change.feature for change in summary_of(tiny).changes] == [str(name) for name in tiny.changed]
    point[1] = e.question.factual[1]
    assert "b" not in edited(e, counterfactual=point).changed


@pytest.mark.parametrize(
    ("budget", "large"), [(0.05, False), (2.0, False), (50, True), ({"a": 0.1}, False), ({"a": 9}, True)]
)
def test_a_budget_beyond_all_differences(model, budget, large):
    explainer = CounterfactualExplainer(model, budget=budget)
    e = explainer.explain(pd.Series([0.2, -0.1, 0.3], list("abc")), 1, on_failure="return")
    assert ("large_budget" in codes(e)) == large
    assert ("large_budget" in codes(Explanation.from_json(e.to_json()))) == large


def test_no_noticeable_change_against_the_means_goes_without_a_caution():
    data = datasets.load_pima()
    clf = fitted(data.X, data.y, "tan")
    es = CounterfactualExplainer(clf, budget=0.05, whole=False).explain_batch(data.X.head(40), progress=False)
    for e in es.found:
        direction = class_means(clf, e.target) - class_means(clf, e.factual_class)
        moved = (e.counterfactual - e.factual).to_numpy(float)
        usual, unit = class_means(clf, e.target), e.unit.to_numpy()
        farther = np.abs(e.counterfactual - usual) - np.abs(e.factual - usual) > NOTICEABLE * unit
        wrong = (direction * moved < 0) & farther & (np.abs(direction) > NOTICEABLE * unit)
        assert wrong.any() == ("against_means" in codes(e))


def test_a_row_outside_the_range_of_the_data(model):
    e = explained(model, [-9.0, 0.0, 0.0])
    assert "outside_range" in codes(e)
    assert "a is -9" in str(e.cautions)
    assert "outside_range" not in codes(explained(model, [-1.0, 0.0, 0.0]))


def test_a_row_unlike_every_training_row(model):
    assert "unlike_training" in codes(explained(model, [-6.0, -6.0, 7.0]))
    assert "unlike_training" not in codes(explained(model, [0.0, 0.0, 0.0]))


def test_the_least_typical_training_row_is_like_itself():
    """Also where a density in one row differs in the last digit from that in many."""
    X, y = two_classes(rows=60)
    clf = fitted(X, y)
    own = clf.density_percentiles_[0, 0]
    row = X.iloc[int(np.argmin(clf.networks_[0].log_density(X[y == 0].to_numpy())))]
    clf.density_percentiles_ = np.full_like(clf.density_percentiles_, np.nextafter(own, np.inf))
    assert "unlike_training" not in codes(explained(clf, row.tolist()))
    clf.density_percentiles_ = np.full_like(clf.density_percentiles_, own + 1e-6)
    assert "unlike_training" in codes(explained(clf, row.tolist()))


def test_an_answer_on_the_edge_of_the_data():
    X, y = two_classes(shift=1.0, n=2)
    clf = fitted(X, y)
    high = float(clf.feature_range_[1, 0])
    dear = Actions({"b": Action(cost=9)})
    explainer = CounterfactualExplainer(clf, norm=1, distance="cost", actions=dear, threshold=0.9)
    edges = []
    for b in np.linspace(0.5, -2.5, 13):
        e = explainer.explain(pd.Series([0.0, b], ["a", "b"]), 1)
        assert ("edge_of_data" in codes(e)) == (e.counterfactual["a"] >= high)
        edges.append("edge_of_data" in codes(e))
    assert any(edges)
    assert not all(edges)


def test_a_decision_that_hangs_on_one_extreme_value():
    X, y = two_classes(shift=0.0, n=2)
    X.loc[y == 1, "a"] *= 3.0
    clf = fitted(X, y)
    now = pd.Series([0.0, 0.0], ["a", "b"])
    near = CounterfactualExplainer(clf, bounds=None, immutable=["b"]).explain(now, 1)
    assert abs(near.z_score["a"]) < 3
    assert "one_extreme_value" not in codes(near)
    far = CounterfactualExplainer(clf, bounds={"a": (12.0, None)}, immutable=["b"]).explain(now, 1)
    assert abs(far.z_score["a"]) > 3
    assert "one_extreme_value" in codes(far)


def test_a_value_that_was_extreme_before_is_not_of_the_changes_making():
    X, y = two_classes(n=2)
    clf = fitted(X, y)
    row = pd.Series([-2.0, 7.0], ["a", "b"])
    e = CounterfactualExplainer(clf, bounds=None, immutable=["b"], threshold=0.99).explain(row, 1)
    assert abs(e.z_score["b"]) > 3
    assert int(clf.predict(e.counterfactual.to_frame().T.assign(b=class_means(clf, 1)[1]))[0]) == 0
    assert "one_extreme_value" not in codes(e)


def test_a_class_with_few_rows():
    X, y = two_classes(rows=40)
    few = explained(fitted(X, y), [0.0, 0.0, 0.0])
    assert codes(few).count("few_rows") == 2
    assert "20 training rows" in str(few.cautions)


def test_a_model_below_its_baseline_says_so_also_from_a_file(tmp_path):
    X, y = two_classes(rows=80, shift=0.0)
    clf = fitted(X, y, "tan")
    row = X.iloc[0]
    target = 1 - int(clf.predict(X.head(1))[0])
    assert "below_baseline" not in codes(CounterfactualExplainer(clf).explain(row, target))
    clf.judged_ = {"accuracy": 0.4, "majority": 0.5}
    clf.save(tmp_path / "model.json")
    again = ConditionalGaussianNetworkClassifier.load(tmp_path / "model.json")
    assert again.fingerprint_ == clf.fingerprint_
    assert "below_baseline" in codes(CounterfactualExplainer(again).explain(row, target))
    again.judged_ = {"accuracy": 0.6, "majority": 0.5}
    assert "below_baseline" not in codes(CounterfactualExplainer(again).explain(row, target))


def test_diagnose_leaves_its_verdict_with_the_model():
    X, y = two_classes(rows=120)
    clf = fitted(X, y)
    assert clf.judged_ is None
    report = diagnose(clf, X, y, cv=3)
    assert clf.judged_["accuracy"] == report.scores[0].accuracy
    assert clf.fit(X, y).judged_ is None


@pytest.mark.parametrize("judged", [{"accuracy": 2.0, "majority": 0.5}, {"accuracy": 0.5}, [1], "good"])
def test_a_file_with_a_strange_verdict_is_refused(judged):
    content = {**classifier_content(fitted(*two_classes(rows=80))), "judged": judged}
    with pytest.raises(ModelFileError):
        restore_classifier(ConditionalGaussianNetworkClassifier(), content, "model.json")


def test_codes_travel_in_tables_and_files(model):
    es = CounterfactualExplainer(model).explain_batch(
        pd.DataFrame([[-9.0, 0.0, 0.0], [0.1, 0.0, 0.0]], columns=list("abc")), 1, progress=False
    )
    table = es.to_frame()
    assert "outside_range" in table["cautions"].iloc[0]
    assert table["cautions"].iloc[1] == ""
    again = Explanation.from_json(es[0].to_json())
    assert [(c.code, str(c)) for c in again.cautions] == [(c.code, str(c)) for c in es[0].cautions]


def test_a_caution_that_is_kept_back_or_made_up_is_found(model):
    e = explained(model, [-9.0, 0.0, 0.0])
    values = e.to_dict()
    assert verify(e, model).ok
    values["cautions"] = []
    assert [c.name for c in verify(Explanation.from_dict(values), model).failures] == ["cautions"]
    values["cautions"] = [*e.to_dict()["cautions"], {"code": "few_rows", "text": "x"}]
    assert not verify(Explanation.from_dict(values), model).ok


def test_a_caution_is_text_that_survives_a_process():
    caution = Caution("few_rows", "Class 1 has 3 rows.")
    again = pickle.loads(pickle.dumps(caution))
    assert (again, again.code) == ("Class 1 has 3 rows.", "few_rows")


def test_an_answer_less_typical_than_every_row():
    """A share of none is not printed as 0.0 %."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(400, 3)), columns=list("abc"))
    y = np.repeat([0, 1], 200)
    X.loc[y == 1] += 10.0
    e = explained(fitted(X, y), [0.0, 0.0, 0.0], whole=False)
    (caution,) = [c for c in e.cautions if c.code == "untypical"]
    assert e.density_percentile == 0
    assert "hardly any of the cases of that class are less typical" in str(caution)
