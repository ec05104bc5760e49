import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.metrics import log_loss
from sklearn.naive_bayes import GaussianNB

import surefoot
from surefoot import ConditionalGaussianNetworkClassifier, adopt, datasets
from surefoot.exceptions import DataError
from surefoot.model.diagnosis import calibration_curve, diagnose


@pytest.fixture(scope="module")
def credit():
    data = datasets.load_german_credit()
    X, y = data.X.iloc[:500], data.y.iloc[:500]
    clf = ConditionalGaussianNetworkClassifier("naive", marginals="auto", calibration="temperature").fit(X, y)
    return diagnose(clf, X, y, cv=3)


@pytest.mark.parametrize("more", [[], ["own"]])
def test_text_in_a_column_of_numbers_is_read_or_refused_by_column_and_row(more):
    rng = np.random.default_rng(3)
    columns = {"age": rng.normal(size=90), "rate": rng.normal(size=90), "own": rng.choice(["a", "b"], 90)}
    frame, y = pd.DataFrame(columns)[["age", "rate", *more]], rng.choice(["p", "q"], 90)
    clf = ConditionalGaussianNetworkClassifier("naive").fit(frame, y)
    plain = diagnose(clf, frame, y, cv=2).to_frame()
    as_text = frame.assign(rate=frame["rate"].map(repr))
    pd.testing.assert_frame_equal(diagnose(clf, as_text, y, cv=2).to_frame(), plain)
    for cells in (["high", *frame["rate"][1:]], ["high"] * 90, pd.Categorical(["high", "low"] * 45)):
        with pytest.raises(DataError, match=r"^column 'rate' is not a number in rows? 0.*: 'high'$"):
            diagnose(clf, frame.assign(rate=cells), y, cv=2)


def test_a_good_model_is_trusted(credit):
    frame = credit.to_frame()
    assert frame.columns.tolist() == ["accuracy", "log_loss", "calibration_error"]
    assert frame.index.tolist() == [
        "this classifier",
        "logistic regression",
        "gradient boosting",
        "always 'good'",
    ]
    assert credit.verdict.startswith("Predicts ")
    assert "log loss" in credit.verdict
    assert frame["accuracy"].between(0.65, 0.85).all()
    assert str(credit).startswith(credit.verdict)
    assert "500 rows, 3 folds" in str(credit)
    assert "gradient boosting" in credit._repr_html_()


def test_figures_are_those_of_held_out_rows(credit):
    score = credit.scores[0]
    truth = np.array(credit.classes)[credit.labels]
    assert score.log_loss == pytest.approx(log_loss(truth, credit.probabilities, labels=list(credit.classes)))
    assert score.accuracy == pytest.approx((credit.probabilities.argmax(axis=1) == credit.labels).mean())
    share = (credit.labels == 1).mean()
    assert credit.scores[-1].accuracy == pytest.approx(share)
    assert credit.scores[-1].log_loss == pytest.approx(
        -share * np.log(share) - (1 - share) * np.log(1 - share)
    )


def test_residuals_are_held_out_and_by_number(credit):
    assert credit.residuals.shape == (500, 7)
    assert set(credit.residuals.columns) <= set(datasets.load_german_credit().X.columns)
    assert credit.residuals.std().between(0.7, 1.5).all()


def test_a_model_that_gives_up_accuracy_is_described_as_such(rng):
    """It matters whether two features have the same sign, which a network without edges cannot see."""
    X = pd.DataFrame(rng.standard_normal((600, 3)), columns=["a", "b", "c"])
    y = np.where(2 * np.sign(X["a"] * X["b"]) + 1.5 * X["c"] > 0, "in", "out")
    report = diagnose(ConditionalGaussianNetworkClassifier("naive").fit(X, y), X, y, cv=2)
    assert report.verdict.startswith("Gives up ")
    assert "points of accuracy compared with gradient boosting" in report.verdict
    assert report.verdict.endswith("a description of this model, not of the data.")


def test_a_model_below_the_majority_is_called_that(rng):
    X = pd.DataFrame(rng.standard_normal((300, 6)))
    y = np.where(rng.random(300) < 0.75, "good", "bad")
    clf = ConditionalGaussianNetworkClassifier(priors=[0.9, 0.1]).fit(X, y)
    report = diagnose(clf, X, y, cv=2)
    assert report.verdict.startswith("Is right less often than always 'good' would be (")
    assert report.verdict.endswith("do not act on explanations of this model.")


def test_a_model_that_knows_nothing_is_not_praised_for_matching_others(rng):
    X = pd.DataFrame(rng.standard_normal((300, 2)))
    y = np.where(np.arange(300) < 220, "good", "bad")
    clf = ConditionalGaussianNetworkClassifier("naive", calibration="temperature").fit(X, y)
    verdict = diagnose(clf, X, y, cv=3).verdict
    assert verdict.startswith(
        "Predicts hardly better than always 'good' (accuracy 73.3% : 73.3%, log loss 0.5"
    )
    assert verdict.endswith("do not act on explanations of this model.")


def test_two_models_without_fault_are_equals(rng):
    X = pd.DataFrame({"a": np.r_[rng.normal(-9, 1, 90), rng.normal(9, 1, 90)], "b": rng.normal(size=180)})
    y = np.repeat(["in", "out"], 90)
    report = diagnose(ConditionalGaussianNetworkClassifier("naive").fit(X, y), X, y, cv=3)
    assert report.scores[0].log_loss < 0.5 * min(score.log_loss for score in report.scores[1:3])
    assert report.verdict.startswith("Predicts as well as ")


def test_rare_classes_may_be_told_without_being_predicted(rng):
    """Nobody is predicted to be in the rare class, but who is in danger is known."""
    risk = np.repeat([0.01, 0.3], 500)
    X = pd.DataFrame({"sign": 4.0 * (risk > 0.1) + rng.standard_normal(1000)})
    y = np.where(rng.random(1000) < risk, "ill", "well")
    clf = ConditionalGaussianNetworkClassifier("naive", calibration="temperature").fit(X, y)
    report = diagnose(clf, X, y, cv=3)
    assert report.scores[0].accuracy - report.scores[-1].accuracy < 0.02
    assert report.verdict.startswith("Predicts ")
    assert "hardly" not in report.verdict


def test_overconfidence_is_told_apart_from_error(rng):
    """Twelve noisy copies of one feature: naive Bayes decides well, and is far too sure of it."""
    y = np.arange(400) % 2
    X = (rng.standard_normal(400) + 1.5 * y)[:, None] + 0.1 * rng.standard_normal((400, 12))
    report = diagnose(ConditionalGaussianNetworkClassifier("naive").fit(X, y), X, y, cv=2)
    assert report.verdict.startswith("Is right as often as ")
    assert "calibration='temperature'" in report.verdict
    assert report.scores[0].calibration_error > 2 * report.scores[1].calibration_error


def test_what_is_calibrated_is_not_told_to_calibrate(rng):
    """Only the sign of a feature with long tails matters: a line through it says too little near zero."""
    side, size = np.repeat([-1.0, 1.0], 400), np.tile(np.exp(rng.standard_normal(400)), 2)
    X = pd.DataFrame({"x": side * size})
    y = np.where(np.tile(rng.random(400) < 0.05, 2), -side, side)
    clf = ConditionalGaussianNetworkClassifier("naive", shrinkage=1.0, calibration="temperature").fit(X, y)
    verdict = diagnose(clf, X, y, cv=3).verdict
    assert verdict.startswith("Is right as often as ")
    assert "but its probabilities say less than those of gradient boosting" in verdict
    assert "calibration" not in verdict


def test_warnings_about_the_data_come_along(rng):
    frame = pd.DataFrame({"x": rng.standard_normal(90), "twice": np.tile(rng.standard_normal(45), 2)})
    frame.loc[45:, "x"] = frame["x"].to_numpy()[:45]
    y = np.tile(np.arange(45) % 2, 2)
    report = diagnose(ConditionalGaussianNetworkClassifier().fit(frame, y), frame, y, cv=2)
    assert report.warnings[0].startswith("Duplicates: 45 rows")
    assert f"Caution: {report.warnings[0]}" in str(report)
    assert "<li>Duplicates" in report._repr_html_()


def test_warnings_call_the_label_by_its_name(rng):
    frame = pd.DataFrame({"weight": rng.normal(3000, 700, 120), "age": rng.normal(30, 5, 120)})
    light = pd.Series(np.where(frame["weight"] < 2500, "yes", "no"), name="low")
    clf = ConditionalGaussianNetworkClassifier("naive").fit(frame, light)
    (found,) = diagnose(clf, frame, light, cv=3).warnings
    assert found.startswith("Gives the label away: 'weight' (tells 'low' in nearly every row")
    (found,) = diagnose(clf, frame, light.rename("weight"), cv=3).warnings
    assert found.startswith("Gives the label away: 'weight' (tells 'class' in nearly every row")


def test_adopted_models_are_taken_as_they_are(bundled):
    bank = bundled["banknote"]
    model = GaussianNB().fit(bank.X, bank.y)
    report = diagnose(adopt(model, data=(bank.X, bank.y)), bank.X, bank.y, cv=2)
    assert not report.refitted
    assert "taken as it is" in str(report)
    np.testing.assert_allclose(report.probabilities, model.predict_proba(bank.X), atol=1e-6)


def test_a_model_without_probabilities(bundled):
    from sklearn.svm import LinearSVC

    bank = bundled["banknote"]
    model = LinearSVC(random_state=0).fit(bank.X, bank.y)
    report = diagnose(adopt(model, data=(bank.X, bank.y)), bank.X, bank.y, cv=2)
    own = report.scores[0]
    assert own.accuracy == pytest.approx(model.score(bank.X, bank.y))
    assert np.isnan([own.log_loss, own.calibration_error]).all()
    assert "accuracy" in report.verdict
    assert report.plot()[0].texts[0].get_text() == "this model has no probabilities"


def test_the_whole_package_exports_it(bundled):
    assert surefoot.diagnose is diagnose


def test_three_classes_and_a_plain_array(rng):
    y = np.arange(150) % 3
    X = rng.standard_normal((150, 3)) + y[:, None]
    report = diagnose(ConditionalGaussianNetworkClassifier().fit(X, y), X, y, cv=3)
    assert report.probabilities.shape == (150, 3)
    assert report.scores[0].calibration_error < 0.2
    axes = report.plot()
    assert len(axes[0].get_legend().get_texts()) == 3


def test_the_calibration_curve_has_bins_of_equal_mass(rng):
    p = rng.random(1000)
    curve = calibration_curve(p, rng.random(1000) < p)
    assert curve["rows"].tolist() == [100] * 10
    assert (curve["predicted"] - curve["observed"]).abs().max() < 0.15
    tied = calibration_curve(np.repeat([0.2, 0.9], [70, 30]), np.repeat([False, True], [70, 30]))
    assert tied["rows"].tolist() == [70, 30]
    assert tied["observed"].tolist() == [0.0, 1.0]


def test_both_pictures(credit):
    import matplotlib.pyplot as plt

    left, right = credit.plot()
    assert left.get_xlabel() == "predicted probability of 'good'"
    curve = left.get_lines()[-1].get_ydata()
    assert ((curve >= 0) & (curve <= 1)).all()
    names = [text.get_text() for text in right.get_legend().get_texts()]
    assert len(names) == 3
    assert set(names) <= set(credit.residuals.columns)
    again = plt.subplots(1, 2)[1]
    assert credit.plot(axes=again) is again
    plt.close("all")


def test_residuals_of_a_true_network_are_normal():
    data = datasets.synthetic(600, 4, random_state=1)
    clf = ConditionalGaussianNetworkClassifier().fit(data.X, data.y)
    report = diagnose(clf, data.X, data.y, cv=2)
    for name in report.residuals:
        assert stats.kstest(report.residuals[name], "norm").pvalue > 1e-3


def test_impossible_requests(bundled):
    X, y = bundled["pima"].X.iloc[:60], bundled["pima"].y.iloc[:60]
    clf = ConditionalGaussianNetworkClassifier().fit(X, y)
    with pytest.raises(DataError, match="unknown class 7; the classes are"):
        diagnose(clf, X, np.where(np.arange(60) == 3, 7, y))
    with pytest.raises(DataError, match="cv must be a whole number"):
        diagnose(clf, X, y, cv=1)
    with pytest.raises(DataError, match="class 0 has 0 rows; a comparison needs at least three"):
        diagnose(clf, X, np.ones(60, dtype=int))
    with pytest.raises(DataError, match="class 0 has a single row; a comparison needs"):
        diagnose(clf, X, (np.arange(60) > 0).astype(int))
    with pytest.raises(DataError, match="there are 60 rows, but 50 labels"):
        diagnose(clf, X, y[:50])
    with pytest.raises(DataError, match=r"GaussianNB is not a classifier of surefoot.*surefoot\.adopt"):
        diagnose(GaussianNB().fit(X, y), X, y)


@pytest.mark.parametrize("mixed", [False, True])
def test_tables_that_are_not_the_models(bundled, mixed):
    X, y = bundled["pima"].X.iloc[:60], bundled["pima"].y.iloc[:60]
    if mixed:
        X = X.assign(old=np.where(X["age"] > 30, "yes", "no"))
    clf = ConditionalGaussianNetworkClassifier("naive").fit(X, y)
    for wrong in (X.iloc[:, 1:], X.assign(more=1.0), X.iloc[:, ::-1], X.rename(columns={"age": "years"})):
        with pytest.raises(ValueError, match="feature names should match"):
            diagnose(clf, wrong, y, cv=3)


def test_rare_values_are_together_as_they_were_when_the_model_was_made():
    rng = np.random.default_rng(3)
    n = 3000
    places = rng.integers(0, 1500, n)  # more than a category may have
    frame = pd.DataFrame({"income": rng.normal(size=n), "place": [f"P{10_000 + k}" for k in places]})
    frame.loc[: n // 3, "place"] = "P20095"
    table = datasets.read_table(frame.assign(paid=frame["income"] + rng.normal(size=n) > 0), label="paid")
    clf = ConditionalGaussianNetworkClassifier("naive").fit(table.X, table.y)
    as_it_came = diagnose(clf, frame, table.y, cv=2)
    assert as_it_came.to_frame().equals(diagnose(clf, table.X, table.y, cv=2).to_frame())
    assert not any(caution.startswith("Many values") for caution in as_it_came.warnings)
    holes = frame.assign(place=frame["place"].where(places % 7 > 0))
    assert diagnose(clf, holes, table.y, cv=2).scores[0].accuracy == pytest.approx(
        as_it_came.scores[0].accuracy, abs=0.02
    )
