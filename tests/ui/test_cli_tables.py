"""``surefoot fit`` and ``predict`` with tables as people have them."""

import gzip
import io
import json
import re
import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris

from surefoot import ConditionalGaussianNetworkClassifier, Explanation, datasets
from surefoot.datasets.bundled import FOLDER
from surefoot.ui.cli import main

GERMAN = FOLDER / "german_credit.csv"
PLAIN = ("--structure", "naive", "--folds", "0")


@pytest.fixture
def run(capsys):
    """Run a command and return (exit status, stdout, stderr)."""

    def command(*arguments):
        return main([str(argument) for argument in arguments]), *capsys.readouterr()

    return command


@pytest.fixture
def fit(run, tmp_path):
    """Fit a naive model to a table and return (exit status, model, what was said and shown)."""

    def command(data, *flags, label="risk"):
        output = tmp_path / "model.json"
        status, out, err = run("fit", data, "--label", label, "--output", output, *PLAIN, *flags)
        model = ConditionalGaussianNetworkClassifier.load(output) if status == 0 else None
        return status, model, f"{err}{out}"

    return command


@pytest.fixture
def loans(tmp_path):
    """A small table with every kind of column."""
    rng = np.random.default_rng(0)
    n = 60
    return pd.DataFrame(
        {
            "age": rng.integers(20, 70, n),
            "income": rng.normal(3.5, 1, n).round(2),
            "smoker": rng.integers(0, 2, n),
            "housing": rng.choice(["rent", "own", "free"], n),
            "branch": rng.choice([1, 2, 3], n),
            "risk": rng.choice(["good", "bad"], n),
        }
    )


def test_german_credit_is_fitted_as_it_is(fit):
    status, clf, err = fit(GERMAN, label="class")
    assert status == 0
    german = datasets.load_german_credit()
    assert list(clf.feature_kinds_.values()).count("category") == 14
    assert clf.feature_kinds_["age"] == "whole"
    assert clf.categories_["housing"] == ("free", "own", "rent")
    assert clf.categories_["dependents"] == (1, 2)
    assert clf.score(german.X, german.y) > 0.7
    assert re.search(r"housing +category +text, 3 values +--text housing", err)
    assert re.search(r"dependents +category +two values, 1 and 2 +--numeric dependents", err)


def test_two_valued_numbers_are_categories_unless_said(fit, loans, tmp_path):
    path = tmp_path / "loans.csv"
    loans.to_csv(path, index=False)
    _, clf, err = fit(path)
    assert clf.feature_kinds_ == {
        "age": "whole",
        "income": "number",
        "smoker": "category",
        "housing": "category",
        "branch": "whole",
    }
    assert re.search(r"smoker +category +two values, 0 and 1 +--numeric smoker", err)
    _, clf, err = fit(path, "--numeric", "smoker", "--categorical", "branch")
    assert clf.feature_kinds_["smoker"] == "whole"
    assert clf.categories_["branch"] == (1, 2, 3)
    assert re.search(r"branch +category +you say so +--text branch", err)
    status, _, err = fit(path, "--numeric", "housing")
    assert status == 2
    assert "column 'housing' cannot be numbers: it holds text, " in err


def test_orders(fit, loans, tmp_path):
    path = tmp_path / "loans.csv"
    loans.to_csv(path, index=False)
    _, clf, _ = fit(path, "--ordered", "housing", "free", "rent", "own", "--ordered", "branch", "1", "2", "3")
    assert clf.categories_["housing"] == ("free", "rent", "own")
    assert clf.schema_.ordered == (False, False, False, True, True)
    status, _, err = fit(path, "--ordered", "housing", "free")
    assert status == 2
    assert "--ordered housing: needs at least two values" in err
    status, _, err = fit(path, "--ordered", "housing", "free", "rent")
    assert status == 2
    assert "'own' of 'housing'" in err


def written(frame, how, path):
    if how == "semicolons, decimal commas, latin-1":
        frame = frame.replace({"housing": {"free": "frei für alle"}})
        path.write_bytes(frame.to_csv(index=False, sep=";", decimal=",").encode("latin-1"))
    elif how == "tabs":
        frame.to_csv(path, index=False, sep="\t")
    elif how == "gzip":
        path.write_bytes(gzip.compress(frame.to_csv(index=False).encode()))
    elif how == "byte order mark":
        path.write_bytes(frame.to_csv(index=False).encode("utf-8-sig"))
    elif how == "blanks":
        blanks = frame.assign(housing=frame["housing"] + "  ", risk=frame["risk"] + " ")
        blanks.to_csv(path, index=False)
    elif how == "holes":
        holes = frame.astype(object)
        for position in range(5):
            holes.iloc[3 * position, position] = "?"
        holes.to_csv(path, index=False)
    elif how == "no header":
        frame.to_csv(path, index=False, header=False)


@pytest.mark.parametrize(
    ("how", "said", "flags"),
    [
        ("semicolons, decimal commas, latin-1", "semicolon, decimal comma, latin-1; 60 rows, 6 columns", ()),
        ("tabs", "read as: tab; 60 rows, 6 columns", ()),
        ("gzip", "", ()),
        ("byte order mark", "", ()),
        ("blanks", "blanks removed around values of 'housing' and 1 more column", ()),
        ("holes", "5 missing values in 'age' and 4 more columns", ()),
        ("no header", "read as: no header; 60 rows", ("--no-header",)),
    ],
)
def test_every_table_gives_a_model(fit, run, loans, tmp_path, how, said, flags):
    path = tmp_path / "loans.csv"
    written(loans, how, path)
    status, clf, err = fit(path, *flags, label="column_6" if flags else "risk")
    assert status == 0, err
    assert said in err
    assert clf.classes_.tolist() == ["bad", "good"]
    assert clf.n_rows_ == 60
    kinds = list(clf.feature_kinds_.values())
    assert kinds == ["whole", "number", "category", "category", "whole"]
    status, out, err = run("predict", tmp_path / "model.json", path, *flags)
    assert status == 0, err
    assert len(out.splitlines()) == 61


def test_a_table_without_a_header_is_refused_until_said(fit, loans, tmp_path):
    path = tmp_path / "loans.csv"
    written(loans, "no header", path)
    status, _, err = fit(path)
    assert status == 2
    assert "the first row looks like data" in err
    assert "--no-header" in err
    assert err.count("\n") == 1
    path.write_text("2019,2020,good\n1,2,x\n2,5,z\n3,1,x\n4,4,z\n", encoding="utf-8")
    assert fit(path, "--header", label="good")[1].feature_labels_ == ("2019", "2020")


def test_decimal_said(fit, tmp_path):
    path = tmp_path / "loans.csv"
    path.write_text("income;risk\n1,234;a\n2,345;b\n3,456;a\n4,567;b\n", encoding="utf-8")
    status, _, err = fit(path)
    assert status == 2
    assert "'1,234' can be read in two ways; say --decimal" in err
    assert fit(path, "--decimal", ",")[1].feature_range_[1, 0] == 4.567
    assert fit(path, "--decimal", ".")[1].feature_range_[1, 0] == 4567
    assert fit(path, "--decimal-comma", "income")[1].feature_range_[1, 0] == 4.567
    assert fit(path, "--decimal-point", "income")[1].feature_range_[1, 0] == 4567


def test_standard_input(run, loans, tmp_path, monkeypatch):
    model = tmp_path / "model.json"
    for arguments in (
        ("fit", "-", "--label", "risk", "--output", model, *PLAIN),
        ("predict", model, "-"),
    ):
        text = loans.to_csv(index=False, sep=";").encode()
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text)))
        status, _, err = run(*arguments)
        assert status == 0
        assert "standard input read as: semicolon; 60 rows, 6 columns" in err


def test_predict(run, fit, loans, tmp_path):
    path, model, output = tmp_path / "loans.csv", tmp_path / "model.json", tmp_path / "out.csv"
    loans.assign(customer=[f"{i:03}" for i in range(60)]).to_csv(path, index=False)
    _, clf, _ = fit(path, "--drop", "customer")
    X = loans.drop(columns="risk")
    status, out, _ = run("predict", model, path)
    assert status == 0
    frame = pd.read_csv(io.StringIO(out))
    assert frame.columns.tolist() == ["row", "predicted"]
    assert frame["row"].tolist() == list(range(60))
    assert frame["predicted"].tolist() == clf.predict(X).tolist()
    status, out, err = run("predict", model, path, "--proba", "--id", "customer", "--output", output)
    assert out == ""
    assert f"wrote {output}" in err
    frame = pd.read_csv(output, dtype={"row": str})
    assert frame["row"].iloc[7] == "007"
    shares = frame[["probability: bad", "probability: good"]].to_numpy()
    np.testing.assert_allclose(shares, clf.predict_proba(X))
    assert "predicted,probability: bad" in run("predict", model, path, "--proba", "--output", "-")[1]


def test_categories_that_look_like_numbers_are_read_as_in_training(run, fit, tmp_path):
    path, few = tmp_path / "all.csv", tmp_path / "few.csv"
    rows = [f"{code},{i % 5},{'ab'[i % 2]}" for i, code in enumerate(["01", "02", "10", "A"] * 5)]
    path.write_text("\n".join(["code,x,risk", *rows]) + "\n", encoding="utf-8")
    few.write_text("code,x\n01,1\n10,2\n", encoding="utf-8")
    _, clf, _ = fit(path, "--categorical", "code")
    assert clf.categories_["code"] == ("01", "02", "10", "A")
    status, _, err = run("predict", tmp_path / "model.json", few)
    assert status == 0
    assert "unknown values" not in err


def test_unknown_values_count_as_missing_and_are_said(run, fit, loans, tmp_path):
    path = tmp_path / "loans.csv"
    loans.to_csv(path, index=False)
    fit(path)
    loans.replace({"housing": {"rent": "castle"}}).to_csv(path, index=False)
    status, _, err = run("predict", tmp_path / "model.json", path)
    assert status == 0
    assert "warning: unknown values count as missing: column 'housing' holds 'castle'" in err


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (("--label", "Risk"), "no label column 'Risk'"),
        (("--label", "risk", "--drop", "agee"), "did you mean 'age'?"),
        (("--label", "risk", "--categorical", "branches"), "did you mean 'branch'?"),
        (("--label", "risk", "--shrinkage", "much"), "--shrinkage much: must be a number"),
        (("--label", "risk", "--separator", ";;"), "single character"),
        (("--label", "risk", "--folds", "1"), "--folds must be at least 2"),
    ],
)
def test_bad_input_is_said(run, loans, tmp_path, flags, message):
    path = tmp_path / "loans.csv"
    loans.to_csv(path, index=False)
    status, out, err = run("fit", path, "--output", tmp_path / "m.json", *flags)
    assert status == 2
    assert out == ""
    assert message in err.splitlines()[-1]


def test_model_flags(fit, loans, tmp_path):
    path = tmp_path / "loans.csv"
    loans.to_csv(path, index=False)
    assert any(not warp.is_identity for warp in fit(path, "--marginals", "power")[1].warps_)
    plain = fit(path)[1]
    shrunk = fit(path, "--shrinkage", "0.5")[1]
    assert shrunk.shrinkage_ == 0.5
    assert shrunk.fingerprint_ != plain.fingerprint_
    assert fit(path, "--calibration", "temperature")[1].calibration_ is not None
    assert fit(path, "--calibration", "none")[1].calibration_ is None
    assert fit(path, "--cell-smoothing", "40")[1].fingerprint_ != plain.fingerprint_


def test_fit_chooses_and_compares(run, tmp_path):
    path, model = tmp_path / "iris.csv", tmp_path / "model.json"
    iris = load_iris(as_frame=True).frame.assign(number=range(150))
    iris.to_csv(path, index=False)
    status, out, err = run("fit", path, "--label", "target", "--output", model, "--folds", "3")
    assert status == 0
    assert "models by log loss on held-out rows (3 folds), best first:" in out
    assert "Conditional Gaussian network" in out
    for line in ("this classifier", "logistic regression", "gradient boosting", "always"):
        assert line in out
    assert re.search(r"number +identifier +whole numbers that", out)
    assert f"wrote {model}" in err
    clf = ConditionalGaussianNetworkClassifier.load(model)
    assert clf.score(iris[list(clf.feature_labels_)], iris["target"]) > 0.9


def test_warnings_about_the_data_without_a_comparison(fit, tmp_path):
    path = tmp_path / "iris.csv"
    load_iris(as_frame=True).frame.assign(number=range(150)).to_csv(path, index=False)
    status, clf, err = fit(path, label="target")
    assert status == 0
    assert re.search(r"number +identifier", err)
    assert "number" not in clf.feature_labels_


def test_diagnose(run, fit, tmp_path):
    path, page, model = tmp_path / "iris.csv", tmp_path / "page.html", tmp_path / "model.json"
    load_iris(as_frame=True).frame.to_csv(path, index=False)
    fit(path, label="target")
    status, out, err = run("diagnose", model, path, "--label", "target", "--folds", "3", "--html", page)
    assert status == 0
    assert "gradient boosting" in out
    assert "150 rows, 3 folds" in out
    assert f"wrote {page}" in err
    text = page.read_text(encoding="utf-8")
    assert text.count("<img ") == 1
    assert "logistic regression" in text
    for flags, message in (
        (("--label", "Target"), "no label column 'Target'; did you mean 'target'?"),
        (("--label", "target", "--folds", "1"), "--folds 1: cv must be a whole number of at least 2"),
        (("--label", "target", "--html", "/nowhere/x.html"), "No such file or directory"),
    ):
        status, _, err = run("diagnose", model, path, *flags)
        assert status == 2
        assert message in err


def test_explain_with_categories(run, fit, loans, tmp_path):
    path, model, output = tmp_path / "loans.csv", tmp_path / "model.json", tmp_path / "e.json"
    risk = np.where((loans["income"] > 3.5) & (loans["housing"] != "rent"), "good", "bad")
    loans.assign(risk=risk).to_csv(path, index=False, sep=";", decimal=",")
    fit(path)
    row = int(np.flatnonzero(risk == "bad")[0])
    flags = ("--row", row, "--target", "good", "--immutable", "age", "smoker", "--values", "housing", "own")
    status, _, err = run("explain", model, path, *flags, "--json", output)
    assert status == 0, err
    assert "read as: semicolon, decimal comma" in err
    e = Explanation.from_json(output.read_text(encoding="utf-8"))
    assert e.counterfactual["age"] == loans["age"][row]
    assert e.counterfactual["smoker"] == loans["smoker"][row]
    assert e.counterfactual["housing"] in ("own", loans["housing"][row])
    assert e.counterfactual["branch"] % 1 == 0
    status, _, err = run("explain", model, path, "--row", row, "--values", "housing", "owns")
    assert status == 2
    assert "--values housing: unknown value 'owns'; did you mean 'own'?" in err
    status, _, err = run("explain", model, path, "--row", row, "--target", "god")
    assert status == 2
    assert "did you mean 'good'?" in err


def test_holes_in_a_row_to_explain(run, fit, loans, tmp_path):
    path, model = tmp_path / "loans.csv", tmp_path / "model.json"
    loans.to_csv(path, index=False)
    fit(path)
    loans.head(2).assign(age="?").to_csv(path, index=False)
    status, _, err = run("explain", model, path, "--row", "0")
    assert status == 2
    assert "'age'" in err
    status, _, err = run("explain", model, path, "--row", "0", "--impute", "--bounds", "none")
    assert status in (0, 1), err


def test_rows_named_by_a_feature(run, fit, loans, tmp_path):
    path, model = tmp_path / "loans.csv", tmp_path / "model.json"
    loans.to_csv(path, index=False, sep=";", decimal=",")
    fit(path)
    status, out, err = run("predict", model, path, "--id", "income")
    assert status == 0, err
    assert [float(line.split(",")[0]) for line in out.splitlines()[1:]] == loans["income"].tolist()
    status, out, err = run("explain", model, path, "--row", "0", "--id", "income")
    assert status in (0, 1), err


# A table as lenders have it.


@pytest.fixture
def lender(tmp_path):
    """A semicolon file with identifiers, dates, postcodes, euros, remarks, marks of holes; and its frame."""
    rng = np.random.default_rng(1)
    n = 300
    income, good = rng.lognormal(7.8, 0.4, n), rng.random(n) < 0.5
    day = pd.Timestamp("2021-03-15") + pd.to_timedelta(rng.integers(0, 700, n), unit="D")
    codes = rng.choice(
        [f"{v:05}" for v in range(1067, 1067 + 400 * 13, 13)], n, p=np.arange(400) / np.arange(400).sum()
    )
    euros = [f"{v:,.2f}".translate(str.maketrans(",.", ".,")) + " €" for v in income * np.where(good, 1.6, 1)]
    frame = pd.DataFrame(
        {
            "number": [f"A-{k:05}" for k in rng.permutation(n)],
            "applied": day.strftime("%d.%m.%Y"),
            "postcode": codes,
            "income": np.where(np.arange(n) % 29 == 0, "-", euros),
            "score": np.where(np.arange(n) % 31 == 0, 999, rng.integers(40, 90, n)),
            "branch": rng.choice([1, 2, 3], n),
            "smoker": rng.choice(["Y", "N", "yes", "no"], n),
            "remark": [f"asked for {k} and more of it" for k in range(n)],
            "currency": "EUR",
            "repaid": np.where(good, "yes", "no"),
        }
    )
    path = tmp_path / "lender.csv"
    path.write_bytes(frame.to_csv(index=False, sep=";").encode("utf-8-sig"))
    return path, frame


FLAGS = ("--wanted", "yes", "--most-values", "12", "--missing", "score", "999", "--categorical", "branch")


def test_a_lenders_table(run, fit, lender, tmp_path):
    path, _ = lender
    status, clf, err = fit(path, *FLAGS, label="repaid")
    assert status == 0
    assert clf.feature_kinds_ == {
        "applied": "date", "postcode": "category", "income": "number", "score": "whole", "branch": "category",
        "smoker": "category",
    }  # fmt: skip
    assert clf.categories_["postcode"][0] == "(rare)"
    assert len(clf.categories_["postcode"]) <= 12
    assert clf.categories_["smoker"] == ("no", "yes")
    assert clf.wanted_ == "yes"
    for line in (r"number +identifier", r"remark +text", r"currency +constant", r"applied +date +day first"):
        assert re.search(line, err), line
    assert max(map(len, err.split("column ", 1)[1].split("\n\n")[0].splitlines())) <= 80
    assert "'income': '-' is taken as missing" in err


def test_dates_and_rare_values_survive(run, fit, lender, tmp_path):
    """Through explain, CSV, JSON, page, both checkers and predict, from CSV and from Excel."""
    from surefoot.proof import exact

    path, frame = lender
    model, text, page = tmp_path / "model.json", tmp_path / "e.json", tmp_path / "e.html"
    fit(path, *FLAGS, label="repaid")
    table = tmp_path / "next.xlsx"
    rows = frame.head(33).assign(
        applied=pd.to_datetime(frame["applied"].head(33), format="%d.%m.%Y"), postcode="99999"
    )
    rows.to_excel(table, index=False)
    status, out, _ = run("predict", model, table)
    predicted = pd.read_csv(io.StringIO(out))["predicted"]
    assert status == 0
    row = next(k for k in range(1, 33) if predicted[k] == "no" and k % 29 and k % 31)
    day = rows["applied"].iloc[row].date().isoformat()
    status, out, _ = run(
        "explain", model, table, "--row", row, "--budget", "0.02", "--json", text, "--html", page
    )
    assert status == 0
    explanation = Explanation.from_json(text.read_text(encoding="utf-8"))
    assert explanation.target == "yes"
    assert explanation.counterfactual["applied"].isoformat() == day
    assert explanation.counterfactual["postcode"] == "(rare)"
    changes = explanation.changes().set_index("feature")
    assert str(changes.loc["applied", "to"]) == day
    assert f'"{day}"' in text.read_text(encoding="utf-8")
    assert "applied, postcode must not change" in out or "postcode, applied must not change" in out
    assert exact.main([str(model), str(text)]) == 0
    assert run("verify", model, text)[0] == 0
    documents = [json.loads(path.read_text(encoding="utf-8")) for path in (model, text)]
    assert f"applied {day}" in exact.words(documents[:1], documents[1])[0]
    status, out, err = run("explain", model, table, "--all", "--quiet", "--html", page, "--output", "-")
    batch = pd.read_csv(io.StringIO(out)).set_index("row")
    assert batch.loc[row, "factual: applied"] == batch.loc[row, "counterfactual: applied"] == day
    assert batch.loc[row, "factual: postcode"] == "(rare)"
    holes = int((batch["status"] == "invalid").sum())
    assert holes == 3
    assert f"surefoot: {holes} rows have missing values; say --impute" in err
    kept = run("explain", model, table, "--all", "--quiet", "--output", page.with_suffix(".csv"))[2]
    assert f"surefoot: {holes} rows have missing values; say --impute" in kept
    status, out, err = run("explain", model, table, "--all", "--quiet", "--impute", "--output", "-")
    assert not (pd.read_csv(io.StringIO(out))["status"] == "invalid").any()
    assert "--impute" not in err


def test_the_next_table_is_read_the_same_way(run, fit, lender, tmp_path):
    path, frame = lender
    model = tmp_path / "model.json"
    fit(path, *FLAGS, label="repaid")
    _, first, _ = run("predict", model, path, "--proba")
    for name, change in {
        "commas.csv": lambda f: f.assign(income=f["income"].str.replace(".", "", regex=False)),
        "slashes.csv": lambda f: f.assign(applied=f["applied"].str.replace(".", "/", regex=False)),
        "iso.csv": lambda f: f.assign(
            applied=f["applied"].str.replace(r"(..)\.(..)\.(.*)", r"\3-\2-\1", regex=True)
        ),
    }.items():
        change(frame).to_csv(tmp_path / name, index=False, sep=";")
        assert run("predict", model, tmp_path / name, "--proba")[1] == first, name
    frame.assign(income="plenty").to_csv(tmp_path / "bad.csv", index=False, sep=";")
    status, _, err = run("predict", model, tmp_path / "bad.csv")
    assert status == 2
    assert "column 'income' held numbers when the model was made; row 0 has 'plenty' here" in err
    assert err.count("error: ") == 1
    status, out, _ = run("diagnose", model, path, "--label", "repaid", "--folds", "3")
    assert status == 0
    assert "this classifier" in out


def test_refits_read_the_training_table_the_same_way(run, fit, lender, tmp_path):
    path, _ = lender
    fit(path, *FLAGS, label="repaid")
    flags = ("--row", "5", "--models", "2", "--data", path, "--impute")
    status, out, err = run("explain", tmp_path / "model.json", path, *flags)
    assert status == 0, err
    assert "fresh refits of the model agree" in out or "Nothing needs to change" in out


def test_flags_about_columns(fit, lender, run, tmp_path):
    path, frame = lender
    _, clf, err = fit(path, "--text", "smoker", "--month-first", "applied", label="repaid")
    assert clf is None
    assert "column 'applied' cannot be dates of one order" in err
    _, clf, _ = fit(path, "--text", "smoker", "--day-first", "applied", "--drop", "postcode", label="repaid")
    assert set(clf.feature_kinds_) == {"applied", "income", "score", "branch"}
    frame.assign(applied=44_000 + np.arange(len(frame)) % 50).to_csv(tmp_path / "serial.csv", index=False)
    _, clf, err = fit(tmp_path / "serial.csv", "--date", "applied", "--decimal", ",", label="repaid")
    assert clf.feature_kinds_["applied"] == "date"
    assert "you say so: days as Excel" in err
    for flags, message in {
        ("--wanted", "maybe"): "--wanted maybe: unknown class; the classes are 'no', 'yes'",
        ("--missing", "score"): "--missing score: needs at least one value",
        ("--most-values", "2"): "most_values must be an integer of at least 3",
        ("--date", "remark"): "column 'remark' cannot be dates",
    }.items():
        status, _, err = fit(path, *flags, label="repaid")
        assert status == 2
        assert message in err.splitlines()[-1]


def test_labels_that_are_none(run, lender, tmp_path):
    path, _ = lender
    for label, message in {
        "applied": "the label 'applied' holds dates, not classes",
        "number": "the label 'number' has 300 different values in 300 rows",
        "currency": "the label 'currency' holds one class only, 'EUR'",
        "score": "that is a number, not a class",
    }.items():
        status, out, err = run("fit", path, "--label", label, "--output", tmp_path / "m.json")
        assert status == 2
        assert message in err.splitlines()[-1]
        assert out == ""


def test_the_wanted_class_is_the_target_in_python_too(fit, lender):
    path, _ = lender
    clf = fit(path, *FLAGS, label="repaid")[1]
    read = datasets.read_table(path, "repaid", most_values=12, missing={"score": [999]}, categorical="branch")
    rows = read.X.dropna()
    accepted = rows[clf.predict(rows) == "yes"].iloc[0]
    from surefoot import CounterfactualExplainer

    explainer = CounterfactualExplainer(clf)
    assert explainer.explain(accepted).target == "yes"
    assert explainer.explain(accepted, "no").target == "no"
    assert {e.target for e in explainer.explain_batch(rows.head(3), progress=False)} == {"yes"}


def test_a_label_of_yes_and_no_in_several_spellings_has_two_classes_here_and_in_the_next_file(
    run, fit, loans, tmp_path
):
    spelled = ["Yes", "yes ", "YES", "no", "No", "1", "0"]
    good = (loans["risk"] == "good").map({True: 0, False: 3}) + np.arange(len(loans)) % 2
    path = tmp_path / "loans.csv"
    loans.assign(risk=[spelled[k] for k in good]).to_csv(path, index=False)
    status, model, said = fit(path)
    assert (status, model.classes_.tolist()) == (0, ["no", "yes"])
    assert "'risk': No, Yes, no, yes are read as yes and no" in said
    loans.assign(risk=np.where(loans["risk"] == "good", "Y", "FALSE")).to_csv(path, index=False)
    status, out, err = run("diagnose", tmp_path / "model.json", path, "--label", "risk", "--folds", "2")
    assert (status, "60 rows, 2 folds" in out) == (0, True), err
