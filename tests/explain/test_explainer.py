import json

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris

from surefoot import (
    ConditionalGaussianNetworkClassifier,
    Explanation,
    Milp,
    NoCounterfactualError,
    Qcqp,
    Status,
    verify,
)
from surefoot.exceptions import BackendError, BackendTooLargeError, DataError, ProblemError
from surefoot.formats import share
from surefoot.search.paper.backends import registry
from surefoot.search.paper.program import Outcome
from tests.asking import CounterfactualExplainer
from tests.thinning import only


@pytest.fixture(scope="module")
def bank():
    from surefoot.datasets import load_banknote

    return load_banknote()


@pytest.fixture(scope="module")
def clf(bank):
    return ConditionalGaussianNetworkClassifier("tan").fit(bank.X, bank.y)


@pytest.fixture(scope="module")
def found(clf, bank):
    return CounterfactualExplainer(clf, budget=0.05).explain(bank.X.iloc[0], target=1)


def test_the_answer_holds_together(found, clf, bank):
    assert found.status is Status.OPTIMAL
    assert found.method == "certified"
    assert found.backend == "clarabel"
    assert found.factual_class == 0
    assert found.target == 1
    assert clf.predict(found.counterfactual.to_frame().T)[0] == 1
    assert found.factual_probability < 0.5 <= found.probability
    assert found.worst_probability == pytest.approx(0.5, abs=1e-3)
    assert found.lower_bound <= found.distance
    assert found.gap <= 1e-3
    assert found.coverage == 1
    assert found.certified_radius == pytest.approx(0.05, rel=0.02)
    assert found.violation <= 0
    assert not found.early_stop
    assert len(found.iterations) >= 1
    problem = CounterfactualExplainer(clf, budget=0.05).problem(bank.X.iloc[0].to_numpy(), 1)
    point = found.counterfactual.to_numpy()
    assert found.distance == pytest.approx(problem.distance(point))
    tried = np.vstack([problem.ball.sample(10_000, 0), problem.ball.vertices()])
    assert problem.violation(point, tried).max() <= max(found.violation, 0) + 1e-9


def test_changes_are_sorted(found, bank):
    table = found.changes()
    assert list(table.columns) == ["feature", "from", "to", "difference", "in standard deviations"]
    assert sorted(table["feature"]) == sorted(bank.feature_names)
    sizes = table["in standard deviations"].abs()
    assert (sizes.diff().dropna() <= 0).all()
    np.testing.assert_allclose(table["to"] - table["from"], table["difference"])


def test_json_round_trip(found):
    text = found.to_json()
    again = Explanation.from_json(text)
    assert again.to_json() == text
    assert again.norm == np.inf
    assert again.status is Status.OPTIMAL
    pd.testing.assert_series_equal(again.counterfactual, found.counterfactual)
    json.loads(text)
    for broken in ("{}", "[]", "nonsense", '{"status": 3}'):
        with pytest.raises(DataError, match="not an explanation"):
            Explanation.from_json(broken)


def test_rows_in_any_form(clf, bank, found):
    explainer = CounterfactualExplainer(clf, budget=0.05)
    row = bank.X.iloc[0]
    for form in (row.to_dict(), row.to_numpy(), list(row), row[::-1], bank.X.iloc[[0]].to_numpy()):
        assert explainer.explain(form, target=1).distance == pytest.approx(found.distance, rel=1e-6)


@pytest.mark.parametrize("method", ["certified", "qcqp", "milp"])
def test_domains_are_honoured(clf, bank, method):
    row = bank.X.iloc[0]
    explainer = CounterfactualExplainer(
        clf,
        budget=0.01,
        method=method,
        immutable=["entropy"],
        decreasing=["skewness"],
        increasing=["curtosis"],
        bounds={"variance": (-3, None)},
    )
    e = explainer.explain(row, target=1)
    assert e.counterfactual["entropy"] == row["entropy"]
    assert e.counterfactual["skewness"] <= row["skewness"]
    assert e.counterfactual["curtosis"] >= row["curtosis"]
    assert e.counterfactual["variance"] >= -3


def test_data_bounds_are_the_default(clf, bank):
    row = bank.X.iloc[0].copy()
    row["variance"] = 20.0  # outside the data: the bounds widen to hold it
    inside = CounterfactualExplainer(clf).explain(row, target=1).counterfactual
    assert (inside >= np.minimum(bank.X.min(), row) - 1e-9).all()
    assert (inside <= np.maximum(bank.X.max(), row) + 1e-9).all()


def test_other_direction_other_norms_other_whitenings(clf, bank):
    row = bank.X.iloc[-1]
    for settings in (
        {"norm": 1},
        {"norm": 2},
        {"whitening": "dag"},
        {"whitening": "zca"},
        {"threshold": 0.9},
    ):
        e = CounterfactualExplainer(clf, budget=0.02, **settings).explain(row, target=0)
        assert e.factual_class == 1
        assert e.probability >= settings.get("threshold", 0.5) - 1e-4
    two = [
        CounterfactualExplainer(clf, norm=2, whitening=kind, gap=1e-4).explain(row, target=0).distance
        for kind in ("cholesky", "dag", "zca")
    ]
    np.testing.assert_allclose(two, two[0], rtol=1e-3)


def test_three_classes():
    X, y = load_iris(return_X_y=True, as_frame=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    clf = ConditionalGaussianNetworkClassifier("tan").fit(X, names)
    e = CounterfactualExplainer(clf, budget=0.1, bounds=None).explain(X.iloc[0], target="versicolor")
    assert e.factual_class == "setosa"
    assert clf.predict(e.counterfactual.to_frame().T)[0] == "versicolor"
    assert e.coverage > 0.98
    # Asked is what each rival has to concede; what is left against all of them together is another number.
    assert f"a probability of {share(e.worst_probability)} among all classes" in str(e)


@pytest.mark.parametrize("norm", [1, 2, np.inf])
@pytest.mark.parametrize("budget", [0.0, 0.05])
def test_what_need_not_change_keeps_its_value_to_the_last_digit(bundled, norm, budget):
    """Programs leave crumbs of a billionth of a standard deviation; no table shall list them as changes."""
    pima = bundled["pima"]
    clf = ConditionalGaussianNetworkClassifier("naive").fit(pima.X, pima.y)
    asked = CounterfactualExplainer(clf, norm=norm, budget=budget, whole=False)
    kept = 0
    for i in range(0, 24, 4):
        e = asked.explain(pima.X.iloc[i])
        moved = np.abs(e.counterfactual - e.factual).to_numpy(float) / e.unit.to_numpy(float)
        assert not ((moved > 0) & (moved < 0.01 * e.question.gap * e.distance)).any()
        assert e.distance <= e.lower_bound / (1 - e.question.gap) + 1e-6
        kept += int((moved == 0).sum())
    assert (kept > 0) == (norm == 1)


def test_already_target(clf, bank):
    e = CounterfactualExplainer(clf, budget=0.05).explain(bank.X.iloc[0], target=0)
    assert e.status is Status.ALREADY_TARGET
    assert e.distance == 0
    assert "already has the target" in e.message


def test_infeasible_is_said(clf, bank):
    row = bank.X.iloc[0]
    explainer = CounterfactualExplainer(clf, budget=0.05, immutable=list(bank.feature_names))
    with pytest.raises(NoCounterfactualError, match="No allowed change leads to the target") as error:
        explainer.explain(row, target=1)
    e = error.value.explanation
    assert e.counterfactual is None
    assert e.status is Status.INFEASIBLE
    assert explainer.explain(row, target=1, on_failure="return").counterfactual is None
    assert Explanation.from_json(e.to_json()).counterfactual is None
    assert e.outcome in str(e)
    assert e.advice in e.outcome
    assert e.message == Status.INFEASIBLE.sentence
    assert e.advice.startswith("In the way of 1")
    assert e.advice.endswith(". There is one if 'variance' may change.")
    assert str(error.value) == e.outcome


@pytest.mark.parametrize("method", ["certified", "qcqp", "milp"])
def test_no_time(clf, bank, method):
    explainer = CounterfactualExplainer(clf, budget=0.05, method=method, time_limit=0)
    with pytest.raises(NoCounterfactualError, match="time limit was reached before"):
        explainer.explain(bank.X.iloc[0], target=1)
    e = explainer.explain(bank.X.iloc[0], target=1, on_failure="return")
    assert e.status is Status.TIME_LIMIT_NO_POINT


def test_iteration_limit_keeps_the_point(clf, bank):
    e = CounterfactualExplainer(clf, budget=0.05, method=Qcqp(max_iterations=1)).explain(
        bank.X.iloc[0], target=1
    )
    assert e.status is Status.ITERATION_LIMIT
    assert e.probability >= 0.5 - 1e-4
    assert e.coverage < 0.5
    assert e.violation > 1e-3


def interrupted():
    raise KeyboardInterrupt


def out_of_time():
    return Outcome(Status.TIME_LIMIT_NO_POINT, None, np.inf, -np.inf, 0.0)


@pytest.mark.parametrize(
    ("trouble", "status"), [(interrupted, Status.INTERRUPTED), (out_of_time, Status.TIME_LIMIT)]
)
def test_trouble_in_a_later_master_keeps_the_point(clf, bank, monkeypatch, trouble, status):
    calls = []
    honest = registry._module("scip").solve

    def solve(program, options):
        calls.append(1)
        return trouble() if len(calls) == 3 else honest(program, options)

    monkeypatch.setattr(registry._module("scip"), "solve", solve)
    e = CounterfactualExplainer(clf, budget=0.05, method="qcqp").explain(bank.X.iloc[0], target=1)
    assert e.status is status
    assert e.counterfactual is not None
    assert 0 < e.lower_bound <= e.distance


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"threshold": 0}, ProblemError, "strictly between 0 and 1"),
        ({"threshold": 1}, ProblemError, "strictly between 0 and 1"),
        ({"budget": -0.1}, DataError, "budget must be"),
        ({"norm": 3}, DataError, "norm must be 1, 2"),
        ({"whitening": "pca"}, DataError, "whitening must be one of"),
        ({"method": "magic"}, ProblemError, "method must be one of 'certified', 'qcqp', 'milp'"),
        ({"method": Qcqp(backend="cplex")}, BackendError, "unknown backend 'cplex'"),
        ({"method": Qcqp(backend="highs")}, BackendError, "highs cannot solve a qcqp"),
        ({"backend": "scip"}, ProblemError, "certified method needs no backend"),
        ({"gap": -1}, ProblemError, "gap"),
        ({"bounds": "tight"}, ProblemError, "bounds must be 'data', None or a dict"),
        ({"immutable": ["colour"]}, ProblemError, "immutable: unknown feature 'colour'"),
        ({"method": "milp", "norm": 2}, ProblemError, "2-norm is not linear"),
    ],
)
def test_bad_settings(clf, bank, settings, error, message):
    with pytest.raises(error, match=message):
        CounterfactualExplainer(clf, **{"budget": 0.05, **settings}).explain(bank.X.iloc[0], target=1)


def test_frames_are_read_by_name_and_lists_by_value(clf, bank, found):
    frame = bank.X.iloc[[0]]
    explainer = CounterfactualExplainer(clf, budget=0.05, immutable=(name for name in ["entropy"]))
    first, second = (explainer.explain(frame[frame.columns[::-1]], target=1) for _ in range(2))
    assert first.counterfactual["entropy"] == second.counterfactual["entropy"] == frame["entropy"].iloc[0]
    with pytest.raises(ProblemError, match="one row, not 2"):
        explainer.explain(bank.X.head(2), target=1)


def test_odd_labels_survive_json(bank):
    names = bank.y.map({0: "inf", 1: "None"})
    clf = ConditionalGaussianNetworkClassifier("tan").fit(bank.X.rename(columns={"variance": "inf"}), names)
    e = CounterfactualExplainer(clf, budget=0.05).explain(bank.X.iloc[0].to_numpy(), target="None")
    again = Explanation.from_json(e.to_json())
    assert again.factual_class == "inf"
    assert again.target == "None"
    assert list(again.factual.index) == list(e.factual.index)
    failed = CounterfactualExplainer(clf, time_limit=0).explain(
        bank.X.iloc[0].to_numpy(), target="None", on_failure="return"
    )
    assert np.isnan(Explanation.from_json(failed.to_json()).probability)


@pytest.mark.parametrize("size", [1e9, 1e13, 1e14, 1e15])
def test_points_that_rounding_moves_past_the_target_are_no_answers(clf, bank, size):
    """Far away the sums of the search say nothing about the decision; then there is no point to show.

    Whether the regions or the seconds run out first depends on how the processor rounds.
    """
    row = bank.X.iloc[0].where(bank.X.columns != "variance", size)
    seconds = 1 if size > 1e12 else 60
    e = CounterfactualExplainer(clf, time_limit=seconds).explain(row, target=1, on_failure="return")
    assert (e.counterfactual is None) == (size > 1e12)
    ends = (Status.OPTIMAL, Status.PRECISION_LIMIT_NO_POINT, Status.TIME_LIMIT_NO_POINT)
    assert e.status in (ends[:1] if e.counterfactual is not None else ends[1:])
    assert e.counterfactual is None or clf.predict(e.counterfactual.to_frame().T)[0] == 1
    assert verify(e, clf).ok
    if e.counterfactual is None:
        with pytest.raises(NoCounterfactualError):
            CounterfactualExplainer(clf, time_limit=seconds).explain(row, target=1)


@pytest.mark.parametrize("digits", [1, 3, 9])
def test_columns_that_repeat_each_other(bundled, digits):
    """Kilograms and rounded pounds: in quadratics large terms cancel, and numbers must still be right."""
    pima = bundled["pima"]
    X = pima.X.assign(pounds=(2.2046 * pima.X["mass"]).round(digits))
    clf = ConditionalGaussianNetworkClassifier("tan").fit(X, pima.y)
    asked = CounterfactualExplainer(clf, budget=0.05, time_limit=10)
    for i in (0, 8, 16, 24, 40):
        e = asked.explain(X.iloc[i], on_failure="return")
        assert verify(e, clf).ok, i


def test_not_fitted_and_bad_numbers(clf, bank):
    with pytest.raises(ValueError, match="not fitted"):
        CounterfactualExplainer(ConditionalGaussianNetworkClassifier())
    for bad in ({"tol": 0}, {"max_iterations": 0}, {"tol": "a"}):
        with pytest.raises(ProblemError, match="must be a positive "):
            CounterfactualExplainer(clf, method=Qcqp(**bad))
    with pytest.raises(DataError, match="budget must be"):
        CounterfactualExplainer(clf, budget="a").explain(bank.X.iloc[0], target=1)


def test_bad_rows(clf, bank):
    explainer = CounterfactualExplainer(clf)
    row = bank.X.iloc[0]
    with pytest.raises(ProblemError, match="value of 'skewness' is not a finite number: nan"):
        explainer.explain(row.where(row.index != "skewness"), target=1)
    with pytest.raises(ProblemError, match="value of 'entropy' is not a finite number: 'low'"):
        explainer.explain({**row.to_dict(), "entropy": "low"}, target=1)
    with pytest.raises(ProblemError, match="no value for 'variance'"):
        explainer.explain(row.drop("variance"), target=1)
    with pytest.raises(ProblemError, match="3 values, the classifier 4 features"):
        explainer.explain([1, 2, 3], target=1)
    with pytest.raises(ProblemError, match=r"unknown target 7; the classes are \[0, 1\]"):
        explainer.explain(row, target=7)


def test_licence_too_small(bundled):
    data = bundled["ionosphere"]
    clf = ConditionalGaussianNetworkClassifier("tan").fit(data.X, data.y)
    row = data.X.iloc[np.flatnonzero(clf.predict(data.X) == 0)[0]]
    explainer = CounterfactualExplainer(clf, budget=0.05, method=Milp(backend="gurobi"))
    with pytest.raises(BackendTooLargeError, match="too large for the Gurobi licence"):
        explainer.explain(row, target=1)


@pytest.mark.parametrize("name", only(["banknote"], ["banknote", "pima"]))
def test_scip_and_gurobi_agree(bundled, name):
    data = bundled[name]
    clf = ConditionalGaussianNetworkClassifier("ban").fit(data.X, data.y)
    rows = data.X.iloc[np.flatnonzero(clf.predict(data.X) == 0)[:4]]
    for _, row in rows.iterrows():
        first, second = (
            CounterfactualExplainer(
                clf, budget=0.05, method=Qcqp(backend=backend), bounds=None, whole=False
            ).explain(row, target=1)
            for backend in ("scip", "gurobi")
        )
        assert first.distance == pytest.approx(second.distance, rel=0.011)
        assert max(first.lower_bound, second.lower_bound) <= min(first.distance, second.distance) * (1 + 1e-6)
