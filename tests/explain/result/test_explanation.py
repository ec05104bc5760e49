import numpy as np
import pandas as pd
import pytest

from surefoot import ConditionalGaussianNetworkClassifier, Explanation
from surefoot.exceptions import DataError, ProblemError
from tests.asking import CounterfactualExplainer


@pytest.fixture(scope="module")
def clf(bundled):
    return ConditionalGaussianNetworkClassifier("tan").fit(bundled["pima"].X, bundled["pima"].y)


@pytest.fixture(scope="module")
def found(clf, bundled):
    return CounterfactualExplainer(clf, budget=0.05).explain(bundled["pima"].X.iloc[3])


def test_expectations_come_from_the_networks(found, clf):
    """Feature by feature, with the regression written out."""
    table = found.expectations().set_index("feature")
    names = list(clf.feature_labels_)
    here, there = (clf.networks_[clf.classes_.tolist().index(c)] for c in (found.factual_class, found.target))
    for name in table.index:
        i = names.index(name)
        for network, row, column in (
            (here, found.factual, "expected before"),
            (there, found.counterfactual, "expected after"),
        ):
            parents = clf.dag_.parents[i]
            expected = network.intercepts[i] + sum(network.weights[i, j] * row.iloc[j] for j in parents)
            assert table.loc[name, column] == pytest.approx(expected, rel=1e-9)
        z = (found.counterfactual[name] - table.loc[name, "expected after"]) / there.variances[i] ** 0.5
        assert table.loc[name, "z-score"] == pytest.approx(z)
        assert table.loc[name, "depends on"] == ", ".join(names[j] for j in clf.dag_.parents[i])


def test_density_percentile_counts_training_rows(found, clf, bundled):
    pima = bundled["pima"]
    t = clf.classes_.tolist().index(found.target)
    own = clf.networks_[t].log_density(pima.X[pima.y == found.target].to_numpy())
    here = clf.networks_[t].log_density(found.counterfactual.to_numpy()[None])[0]
    assert found.density_percentile == pytest.approx(100 * np.mean(own < here), abs=1.5)


def test_a_row_of_the_training_data_has_its_own_percentile(clf, bundled):
    """The percentiles of a class's own rows are spread evenly."""
    pima = bundled["pima"]
    for c, table in enumerate(clf.density_percentiles_):
        own = clf.networks_[c].log_density(pima.X[pima.y == clf.classes_[c]].to_numpy())
        assert np.mean(own < table[50]) == pytest.approx(0.5, abs=0.02)
        assert own.min() == pytest.approx(table[0])
        assert own.max() == pytest.approx(table[100])


def test_the_tail_is_warned_of(bundled):
    bank = bundled["banknote"]
    clf = ConditionalGaussianNetworkClassifier("tan").fit(bank.X, bank.y)
    far = bank.X.iloc[0] * 40
    e = CounterfactualExplainer(clf, bounds=None, immutable=["variance", "skewness"]).explain(far)
    assert e.density_percentile == 0
    assert any("(the tail)" in caution for caution in e.cautions)
    assert "Caution" in str(e)
    assert "(the tail)" in e._repr_html_()


def test_nothing_to_expect_without_a_point(clf, bundled):
    row = bundled["pima"].X.iloc[3]
    explainer = CounterfactualExplainer(clf, immutable=list(row.index))
    e = explainer.explain(row, on_failure="return")
    assert e.cautions == ()
    with pytest.raises(DataError, match="no counterfactual to look at"):
        e.expectations()


def test_what_is_new_survives_json(found):
    again = Explanation.from_json(found.to_json())
    pd.testing.assert_frame_equal(again.expectations(), found.expectations())
    assert again.density_percentile == found.density_percentile
    assert again.row == found.row == 3
    assert again.parents == found.parents


def test_text_reads_like_a_sentence_and_a_table(found):
    lines = str(found).splitlines()
    assert lines[0].startswith(f"Decided {found.factual_class}: the probability of {found.target} is")
    assert lines[1].split() == ["feature", "from", "(expected)", "to", "(expected)", "in", "sd", "z"]
    assert len({len(line) for line in lines[1:6]}) == 1
    assert any(line.startswith("Robust: ") and "proven" in line for line in lines)
    assert any(line.startswith("Smallest: ") for line in lines)
    assert any(line.startswith("Plausible: ") for line in lines)


def test_already_there(clf, bundled):
    e = CounterfactualExplainer(clf).explain(
        bundled["pima"].X.iloc[3], target=clf.predict(bundled["pima"].X)[3]
    )
    assert "Nothing needs to change" in str(e)
    assert "table" not in e._repr_html_().replace("surefoot table", "")


def test_what_is_said_is_so_with_three_classes():
    """Margins against rivals are proven, not a probability; the sentence says no more."""
    from sklearn.datasets import load_iris

    X, y = load_iris(return_X_y=True, as_frame=True)
    clf = ConditionalGaussianNetworkClassifier("tan").fit(X, y)
    explainer = CounterfactualExplainer(clf, budget=0.2, norm=2)
    for row in range(0, 150, 10):
        e = explainer.explain(X.iloc[row], target=(int(y[row]) + 1) % 3)
        if e.distance > 0:
            assert "the decision stays" in str(e)
            tried = e.counterfactual.to_numpy() + explainer.problem(
                e.factual.to_numpy(), e.target
            ).ball.sample(2000, 0)
            assert (clf.predict(pd.DataFrame(tried, columns=X.columns)) == e.target).all()


def test_a_low_threshold_is_not_called_a_decision(clf, bundled):
    row = bundled["pima"].X.iloc[3]
    e = CounterfactualExplainer(clf, threshold=0.2).explain(row, target=1)
    assert e.decision == clf.predict(e.counterfactual.to_frame().T)[0] == 0
    assert "though the decision is 0" in str(e)
    again = CounterfactualExplainer(clf, threshold=0.1).explain(e.counterfactual, target=1)
    assert "which reaches the threshold of 10.0 %" in str(again)


def test_a_search_that_was_cut_short_says_so(bundled):
    data = bundled["ionosphere"]
    clf = ConditionalGaussianNetworkClassifier("tan").fit(data.X, data.y)
    found = (
        CounterfactualExplainer(clf, budget=0.05, time_limit=limit, gap=1e-5).explain(
            row, on_failure="return"
        )
        for limit in np.geomspace(0.01, 1.0, 8)  # how far a search gets in that time is the machine's affair
        for _, row in data.X.head(12).iterrows()
    )
    short = next(e for e in found if e.status == "time_limit")
    assert "The time limit was reached" in str(short)
    assert "The time limit was reached" in short._repr_html_()
    assert "Smallest" not in str(short)


def test_a_factual_that_is_there_but_not_robust_gets_a_caution(clf, bundled):
    X = bundled["pima"].X
    row = X.iloc[int(np.argmin(clf.predict_proba(X).max(axis=1)))]
    kept = {"immutable": list(X.columns), "noise_on": "all"}  # otherwise a small change makes it safe
    explainer = CounterfactualExplainer(clf, budget=0.5, **kept)
    e = explainer.explain(row, target=clf.predict(row.to_frame().T)[0])
    assert e.status == "already_target"
    assert e.coverage < 1
    assert "Not safe: an error of up to 0.5 standard deviations can lower the probability of" in e.cautions[0]
    assert "but not safely." in str(e)
    assert "Nothing needs to change" not in str(e)


def test_from_dict_leaves_its_argument_alone(found):
    content = found.to_dict()
    assert Explanation.from_dict(content).to_json() == Explanation.from_dict(content).to_json()


def test_broken_json_is_one_error():
    for text in ("[" * 100_000, "{"):
        with pytest.raises(DataError):
            Explanation.from_json(text)


def test_without_a_budget_the_change_is_carried_out_exactly():
    rng = np.random.default_rng(5)
    y = np.repeat([0, 1], 100)
    X = pd.DataFrame({"a": rng.normal(size=200) + 2 * y, "b": np.round(5 * rng.normal(size=200)) + 8 * y})
    clf = ConditionalGaussianNetworkClassifier("naive").fit(X, y)
    said = "has to be carried out exactly as it is stated."
    assert said in str(CounterfactualExplainer(clf).explain(X.iloc[0], 1))
    assert said not in str(CounterfactualExplainer(clf, budget=0.05).explain(X.iloc[0], 1))


def test_what_was_missing_is_told():
    rng = np.random.default_rng(5)
    y = np.repeat([0, 1], 100)
    X = pd.DataFrame({"a": rng.normal(size=200) + 2 * y, "b": np.round(5 * rng.normal(size=200)) + 8 * y})
    clf = ConditionalGaussianNetworkClassifier("naive").fit(X, y)
    row = pd.Series({"a": X["a"][0], "b": np.nan})
    e = CounterfactualExplainer(clf, impute="expected").explain(row, 1)
    (told,) = [caution for caution in e.cautions if caution.code == "imputed"]
    assert f"b = {e.factual['b']:.0f}. What the model predicts without them may differ." in told


@pytest.mark.parametrize("hole", [None, np.nan, pd.NA])
def test_all_holes_of_a_row_are_named(hole):
    rng = np.random.default_rng(5)
    y = np.repeat([0, 1], 50)
    X = pd.DataFrame({"a": rng.normal(size=100) + y, "b": rng.normal(size=100), "c": ["u", "v"] * 50})
    clf = ConditionalGaussianNetworkClassifier("naive").fit(X, y)
    row = X.iloc[0].copy()
    row["a"] = row["c"] = hole
    with pytest.raises(ProblemError, match="a, c are missing; impute='expected' fills holes"):
        CounterfactualExplainer(clf).explain(row)
