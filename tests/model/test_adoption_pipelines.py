"""Every piece of a pipeline, alone and together, on tables of numbers and categories."""

import json
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer, make_column_selector, make_column_transformer
from sklearn.decomposition import PCA
from sklearn.feature_selection import SelectKBest, VarianceThreshold
from sklearn.impute import KNNImputer, SimpleImputer
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline, make_union
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    PowerTransformer,
    QuantileTransformer,
    RobustScaler,
    StandardScaler,
    TargetEncoder,
)
from sklearn.svm import LinearSVC

from surefoot import ConditionalGaussianNetworkClassifier, adopt, datasets
from surefoot.exceptions import DataError, ModelFileError
from surefoot.model.adopted import AdoptedClassifier
from surefoot.model.file import write_model
from tests.asking import CounterfactualExplainer
from tests.thinning import covering

NUMBERS, CATEGORIES = ["age", "income"], ["housing", "job", "plan"]
SCHOOLING = ["basic", "high school", "university"]


def draw(rows=200, seed=5):
    """Numbers, text, a category coded as a number, one in order, and truth values."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": rng.integers(20, 70, rows),
            "housing": rng.choice(["own", "rent", "free"], rows, p=[0.5, 0.4, 0.1]),
            "income": np.exp(rng.normal(3, 0.6, rows)),
            "job": rng.choice([1, 2, 5], rows),
            "plan": rng.choice(["yes", "no"], rows),
            "schooling": rng.choice(SCHOOLING, rows),
            "member": rng.random(rows) < 0.4,
        }
    )
    score = 0.05 * frame["age"] + 0.08 * frame["income"] + (frame["housing"] == "own") + 0.4 * frame["job"]
    noisy = score + frame["member"] + rng.normal(0, 1.0, rows)
    return frame, np.where(noisy > noisy.median(), "good", "bad")


def adopted(model, columns=None, frame=None):
    """The fitted model and what it is adopted as, compared on the rows of the table."""
    X, y = draw() if frame is None else frame
    X = X if columns is None else X[columns]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, y)
    clf = adopt(model, (X, y))
    assert isinstance(clf, AdoptedClassifier)
    np.testing.assert_allclose(clf.decision_function(X), model.decision_function(X), rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(clf.predict(X), model.predict(X))
    if clf.has_probability:
        np.testing.assert_allclose(clf.predict_proba(X), model.predict_proba(X), atol=1e-9)
    return clf


def logistic(*steps):
    return make_pipeline(*steps, LogisticRegression(max_iter=5000))


def by_state(clf, rows):
    """The decision by quadratics and factors, one row at a time."""
    numbers, codes = clf.schema_.encode(rows[list(clf.feature_labels_)])
    columns = [warp(column) for warp, column in zip(clf.warps_, numbers.T, strict=True)]
    Z = np.column_stack(columns) if columns else numbers
    H = clf.decision("good", "bad")
    return np.array([H.at(tuple(state))(z) for z, state in zip(Z, codes.tolist(), strict=True)])


NUMERIC = {
    "scaled": make_pipeline(StandardScaler(), MinMaxScaler()),
    "robust": RobustScaler(),
    "bent": PowerTransformer(),
    "bent, not scaled": PowerTransformer(standardize=False),
    "scaled and bent": make_pipeline(MinMaxScaler((1, 3)), PowerTransformer(), MaxAbsScaler()),
    "filled": make_pipeline(SimpleImputer(), StandardScaler()),
    "filled, marked": make_pipeline(SimpleImputer(strategy="median", add_indicator=True), StandardScaler()),
    "squares": make_pipeline(StandardScaler(), PolynomialFeatures(2)),
    "products": make_pipeline(StandardScaler(), PolynomialFeatures(2, interaction_only=True)),
    "squares, scaled": make_pipeline(
        MinMaxScaler(), PolynomialFeatures(2, include_bias=False), StandardScaler()
    ),
    "bent squares": make_pipeline(PowerTransformer(), PolynomialFeatures(2)),
    "rotated": make_pipeline(StandardScaler(), PCA(1)),
    "whitened": make_pipeline(StandardScaler(), PCA(whiten=True)),
    "united": make_pipeline(StandardScaler(), make_union(PolynomialFeatures(2), PCA(1))),
    "weighted": make_pipeline(
        StandardScaler(),
        FeatureUnion(
            [("a", "passthrough"), ("b", PCA(1)), ("c", "drop")], transformer_weights={"a": 2, "b": 0.5}
        ),
    ),
    "selected": make_pipeline(StandardScaler(), SelectKBest(k=1)),
    "passed": "passthrough",
    "function": make_pipeline(FunctionTransformer(), StandardScaler()),
}


@pytest.mark.parametrize("name", NUMERIC)
def test_steps_for_numbers(name):
    parts = [("numbers", NUMERIC[name], NUMBERS), ("words", OneHotEncoder(), CATEGORIES)]
    clf = adopted(logistic(ColumnTransformer(parts)))
    X, _ = draw()
    np.testing.assert_allclose(by_state(clf, X), clf.decision_function(X), rtol=1e-9, atol=1e-9)
    assert all(warp.is_identity for warp in clf.warps_) == ("bent" not in name)
    assert clf.feature_labels_ == ("age", "housing", "income", "job", "plan")
    assert clf.feature_kinds_["age"] == "whole"


WORDS = {
    "one-hot": OneHotEncoder(),
    "one-hot, dense": OneHotEncoder(sparse_output=False).set_output(transform="pandas"),
    "first dropped": OneHotEncoder(drop="first"),
    "second of two dropped": OneHotEncoder(drop="if_binary"),
    "said which dropped": OneHotEncoder(drop=["own", 2, "no"]),
    "unknown ignored": OneHotEncoder(handle_unknown="ignore"),
    "infrequent": OneHotEncoder(handle_unknown="infrequent_if_exist", min_frequency=40),
    "few": OneHotEncoder(max_categories=2, drop="first"),
    "filled": make_pipeline(SimpleImputer(strategy="most_frequent"), OneHotEncoder()),
    "filled by a word": make_pipeline(SimpleImputer(strategy="constant", fill_value="?"), OneHotEncoder()),
    "scaled": make_pipeline(OneHotEncoder(sparse_output=False), StandardScaler()),
    "ordinal": OrdinalEncoder(),
    "ordinal, scaled": make_pipeline(OrdinalEncoder(), StandardScaler()),
    "ordinal, bent": make_pipeline(OrdinalEncoder(), PowerTransformer()),
    "ordinal, unknown": OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1),
    "by the target": TargetEncoder(random_state=0),
    "constants left out": make_pipeline(OneHotEncoder(sparse_output=False), VarianceThreshold()),
}


@pytest.mark.parametrize("name", WORDS)
def test_steps_for_categories(name):
    parts = [("words", WORDS[name], CATEGORIES), ("numbers", StandardScaler(), NUMBERS)]
    clf = adopted(logistic(ColumnTransformer(parts)))
    X, _ = draw()
    np.testing.assert_allclose(by_state(clf, X), clf.decision_function(X), rtol=1e-9, atol=1e-9)
    assert clf.categories_["job"] == (1, 2, 5)
    assert [clf.feature_kinds_[name] for name in CATEGORIES] == ["category"] * 3


def test_an_ordinal_code_is_a_line_in_the_order_given():
    encoder = OrdinalEncoder(categories=[SCHOOLING])
    clf = adopted(logistic(make_column_transformer((encoder, ["schooling"]), (StandardScaler(), NUMBERS))))
    assert clf.categories_["schooling"] == tuple(SCHOOLING)
    schooling = clf.feature_labels_.index("schooling")
    assert clf.schema_.ordered[schooling]
    steps = np.diff(clf.decision("good", "bad").factors[0].table)
    np.testing.assert_allclose(steps, steps[0])


def test_an_order_that_nobody_gave_is_none():
    clf = adopted(logistic(make_column_transformer((OrdinalEncoder(), ["schooling"]))), ["schooling"])
    assert clf.schema_.ordered == (False,)


def test_truth_values_and_pandas_categories_that_pass_as_numbers():
    X, y = draw()
    X["grade"] = pd.Categorical(X["job"])
    X = X[["age", "member", "grade"]]
    clf = adopted(logistic(StandardScaler()), frame=(X, y))
    assert clf.feature_kinds_ == {"age": "whole", "member": "category", "grade": "category"}
    np.testing.assert_allclose(by_state(clf, X), clf.decision_function(X), rtol=1e-9, atol=1e-9)


def test_unused_values_of_a_pandas_category_are_left_out():
    X, y = draw()
    X["housing"] = pd.Categorical(X["housing"], ["castle", "own", "rent", "free"])
    columns = make_column_transformer((OneHotEncoder(), ["housing"]), (StandardScaler(), NUMBERS))
    clf = adopted(logistic(columns), frame=(X, y))
    assert clf.categories_["housing"] == ("own", "rent", "free")


COLUMNS = {
    "names": (NUMBERS, CATEGORIES),
    "positions": ([0, 2], [1, 3, 4]),
    "from the end": ([0, -5], slice(3, 5)),
    "slices of names": (["age"], slice("housing", "housing")),
    "masks": (np.array([1, 0, 1, 0, 0, 0, 0], bool), [False, True, False, True, False, False, True]),
    "callables": (
        make_column_selector(dtype_include=np.number),
        make_column_selector(dtype_exclude=np.number),
    ),
    "patterns": (make_column_selector(pattern="income|age"), lambda X: [c for c in X if c.startswith("h")]),
    "one": (["income"], ["plan"]),
    "none": ([], ["plan"]),
}


@pytest.mark.parametrize(("name", "remainder"), covering(COLUMNS, ["drop", TargetEncoder(random_state=0)]))
def test_columns_by(name, remainder):
    numbers, words = COLUMNS[name]
    parts = [("numbers", StandardScaler(), numbers), ("words", OneHotEncoder(), words)]
    clf = adopted(logistic(ColumnTransformer(parts, remainder=remainder)))
    if remainder != "drop":
        assert clf.feature_labels_ == tuple(draw()[0].columns)


def test_the_remainder_passes():
    part = ("words", OneHotEncoder(), ["housing", "plan", "schooling"])
    clf = adopted(logistic(ColumnTransformer([part], remainder="passthrough")))
    kinds = clf.feature_kinds_
    assert (kinds["job"], kinds["income"], kinds["member"]) == ("whole", "number", "category")


def test_words_may_pass_one_transformer_on_their_way_to_the_next():
    first = ColumnTransformer([("drop", "drop", ["age"])], remainder="passthrough")
    second = ColumnTransformer(
        [("words", OneHotEncoder(), [0, 3, 4])], remainder="passthrough", transformer_weights={"words": 3.0}
    )
    clf = adopted(logistic(first, second))
    assert "age" not in clf.feature_labels_


def test_a_transformer_that_puts_out_frames():
    columns = make_column_transformer(
        (OneHotEncoder(sparse_output=False), CATEGORIES),
        (StandardScaler(), NUMBERS),
        verbose_feature_names_out=True,
    ).set_output(transform="pandas")
    again = ColumnTransformer(
        [("numbers", PolynomialFeatures(2), make_column_selector(pattern="standardscaler"))],
        remainder="passthrough",
    )
    adopted(logistic(columns, again))


def test_nested_pipelines():
    numbers = make_pipeline(SimpleImputer(), make_pipeline("passthrough", StandardScaler()))
    inner = ColumnTransformer([("numbers", numbers, NUMBERS), ("words", OneHotEncoder(), CATEGORIES)])
    adopted(Pipeline([("a", None), ("b", make_pipeline(inner, MaxAbsScaler(), logistic()))]))


def test_a_marker_among_the_values_of_a_category():
    X, y = draw()
    X.loc[::7, "plan"] = "?"
    filler = SimpleImputer(missing_values="?", strategy="most_frequent")
    words = make_pipeline(filler, OneHotEncoder())
    clf = adopted(
        logistic(make_column_transformer((words, ["plan"]), (StandardScaler(), NUMBERS))), frame=(X, y)
    )
    assert clf.categories_["plan"] == ("?", "no", "yes")
    table = clf.decision("good", "bad").factors[0].table
    assert table[0] in table[1:]


def test_a_table_without_names():
    X, y = draw()
    rows = X[["age", "housing", "income", "job"]].to_numpy(dtype=object)
    columns = ColumnTransformer([("n", StandardScaler(), [0, 2]), ("w", OneHotEncoder(), [1, 3])])
    clf = adopted(logistic(columns), frame=(rows, y))
    assert clf.feature_labels_ == (0, 1, 2, 3)
    assert clf.feature_kinds_ == {0: "whole", 1: "category", 2: "number", 3: "category"}


def test_columns_without_names_that_are_dropped_keep_their_place():
    X, y = draw()
    rows = X[["age", "housing", "income"]].to_numpy(dtype=object)
    clf = adopted(logistic(ColumnTransformer([("n", StandardScaler(), [2])])), frame=(rows, y))
    assert clf.feature_labels_ == (0, 1, 2)


def test_only_categories():
    clf = adopted(logistic(OneHotEncoder()), CATEGORIES)
    X, _ = draw()
    assert clf.schema_.n_numbers == 0
    np.testing.assert_allclose(by_state(clf, X), clf.decision_function(X))


def test_naive_bayes_of_numbers_and_codes():
    columns = make_column_transformer((OrdinalEncoder(), CATEGORIES), (PowerTransformer(), NUMBERS))
    model = make_pipeline(columns, GaussianNB())
    X, y = draw()
    clf = adopt(model.fit(X, y), (X, y))
    np.testing.assert_allclose(clf.predict_proba(X), model.predict_proba(X), atol=1e-9)
    assert clf.scores_.matrix is not None


def test_columns_that_the_pipeline_drops_may_be_there_or_not():
    X, y = draw()
    model = logistic(make_column_transformer((StandardScaler(), NUMBERS), (OneHotEncoder(), ["plan"]))).fit(
        X, y
    )
    few = X[[*NUMBERS, "plan"]]
    clf = adopt(model, (few, y))
    assert clf.fingerprint_ == adopt(model, (X, y)).fingerprint_
    np.testing.assert_array_equal(clf.predict_proba(X), clf.predict_proba(few))


def test_weights_of_zero_are_features_still():
    model = make_pipeline(
        make_column_transformer((StandardScaler(), NUMBERS), (OneHotEncoder(), CATEGORIES)),
        LogisticRegression(l1_ratio=1.0, solver="saga", C=1e-3),
    )
    clf = adopted(model)
    assert clf.feature_labels_ == ("age", "housing", "income", "job", "plan")


@pytest.mark.parametrize("bent", [False, True])
def test_holes_in_the_training_rows(bent):
    X, y = draw()
    X = X.astype({"age": float})
    for k, name in enumerate(["age", "income", "housing", "plan"]):
        X.loc[k :: 11 + k, name] = np.nan
    numbers = make_pipeline(
        SimpleImputer(add_indicator=True), PowerTransformer() if bent else StandardScaler()
    )
    words = make_pipeline(SimpleImputer(strategy="most_frequent"), OneHotEncoder())
    model = logistic(ColumnTransformer([("n", numbers, NUMBERS), ("w", words, ["housing", "plan"])])).fit(
        X, y
    )
    clf, full = adopt(model, (X, y)), X.dropna()
    np.testing.assert_allclose(clf.predict_proba(full), model.predict_proba(full), atol=1e-9)
    assert clf.categories_["housing"] == ("free", "own", "rent")
    income = clf.feature_labels_.index("income")
    np.testing.assert_array_equal(clf.feature_range_[:, income], [X["income"].min(), X["income"].max()])
    with pytest.raises(DataError, match="is missing"):
        clf.predict(X)


def test_holes_that_are_a_value_to_the_encoder():
    X, y = draw()
    X.loc[::9, "plan"] = None
    columns = make_column_transformer((OneHotEncoder(), ["plan"]), (StandardScaler(), NUMBERS))
    model = logistic(columns).fit(X, y)
    clf, full = adopt(model, (X, y)), X.dropna()
    assert clf.categories_["plan"] == ("no", "yes")
    np.testing.assert_allclose(clf.predict_proba(full), model.predict_proba(full), atol=1e-9)


# --- German Credit


def german(last):
    numbers = make_pipeline(SimpleImputer(strategy="median"), PowerTransformer())
    words = make_pipeline(SimpleImputer(strategy="most_frequent"), OneHotEncoder(handle_unknown="ignore"))
    columns = ColumnTransformer(
        [
            ("numbers", numbers, make_column_selector(dtype_include=np.number)),
            ("words", words, make_column_selector(dtype_exclude=np.number)),
        ]
    )
    return make_pipeline(columns, last)


@pytest.mark.parametrize("last", [LogisticRegression(max_iter=2000), LinearSVC(), RidgeClassifier()])
def test_german_credit(last, tmp_path):
    credit = datasets.load_german_credit()
    clf = adopted(german(last), frame=(credit.X, credit.y))
    assert clf.has_probability == isinstance(last, LogisticRegression)
    np.testing.assert_allclose(by_state(clf, credit.X[:50]), clf.decision_function(credit.X[:50]), atol=1e-8)
    clf.save(tmp_path / "model.json")
    again = ConditionalGaussianNetworkClassifier.load(tmp_path / "model.json")
    assert type(again) is AdoptedClassifier
    assert again.decision_function(credit.X).tobytes() == clf.decision_function(credit.X).tobytes()
    assert again.has_probability == clf.has_probability
    assert again.fingerprint_ == clf.fingerprint_
    assert again.summary() == clf.summary()
    assert "beside a network of the data" in again.summary()
    assert type(AdoptedClassifier.load(tmp_path / "model.json")) is AdoptedClassifier


def test_an_adopted_model_is_explained_in_the_columns_of_the_table():
    X, y = draw()
    model = numbers_and(OneHotEncoder()).fit(X, y)
    factual = X[model.predict(X) == "bad"].iloc[0]
    explainer = CounterfactualExplainer(model, data=(X, y), budget=0.02, immutable=["age"])
    explanation = explainer.explain(factual, target="good")
    moved = pd.DataFrame([{**factual, **explanation.counterfactual}]).astype(X.dtypes)
    assert model.predict(moved)[0] == "good"
    assert moved["age"].iloc[0] == factual["age"]
    assert explanation.probability == pytest.approx(model.predict_proba(moved)[0, 1], abs=1e-9)


# --- refusals


def numbers_and(step, *later):
    return logistic(ColumnTransformer([("n", StandardScaler(), NUMBERS), ("w", step, CATEGORIES)]), *later)


def on_numbers(step):
    return logistic(make_column_transformer((step, NUMBERS)))


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (numbers_and(make_pipeline(OrdinalEncoder(), KNNImputer())), "'columntransformer__w__knnimputer'"),
        (on_numbers(QuantileTransformer(n_quantiles=10)), "quantiletransformer.* accepted are"),
        (on_numbers(PowerTransformer(method="box-cox")), "method='yeo-johnson'"),
        (on_numbers(FunctionTransformer(np.log1p)), "func=None is accepted"),
        (on_numbers(MinMaxScaler(clip=True)), "fixed scale and offset"),
        (on_numbers(make_pipeline(StandardScaler(), PolynomialFeatures(3))), "more than two numbers"),
        (on_numbers(make_pipeline(StandardScaler(), OrdinalEncoder())), "encodes a column that an earlier"),
        (on_numbers(make_pipeline(PCA(), PowerTransformer())), "bends what is not one number"),
        (on_numbers(SimpleImputer(missing_values=30)), "replaces 30 in column 'age'"),
        (numbers_and(OneHotEncoder(sparse_output=False), PolynomialFeatures(2)), "multiplies a category"),
        (
            logistic(make_column_transformer((StandardScaler(), NUMBERS), (OneHotEncoder(), ["age"]))),
            "'age' is used both as a number and as a category",
        ),
        (
            logistic(make_column_transformer((StandardScaler(), ["age"]), (PowerTransformer(), ["age"]))),
            "'age' goes into the model both bent",
        ),
    ],
)
def test_other_steps_are_refused_by_name(model, words):
    X, y = draw()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, y)
    with pytest.raises(DataError, match=words) as error:
        adopt(model, (X, y))
    assert "\n" not in str(error.value)


def test_values_that_the_encoder_does_not_know():
    X, y = draw()
    model = logistic(make_column_transformer((OneHotEncoder(), ["plan"]))).fit(X, y)
    with pytest.raises(DataError, match=r"does not take the values in data .*unknown categories"):
        adopt(model, (X.assign(plan="maybe"), y))


def test_unknown_values_that_are_ignored_count_as_nothing():
    X, y = draw()
    encoder = OneHotEncoder(handle_unknown="ignore")
    model = logistic(make_column_transformer((encoder, ["plan"]), (StandardScaler(), NUMBERS))).fit(X, y)
    clf = adopt(model, (X.assign(plan=np.where(X.index % 5 == 0, "maybe", X["plan"])), y))
    assert clf.categories_["plan"] == ("maybe", "no", "yes")
    assert clf.decision("good", "bad").factors[0].table[0] == 0.0


def test_rows_with_holes_are_not_predicted():
    X, _ = draw()
    clf = adopted(numbers_and(OneHotEncoder()))
    with pytest.raises(DataError, match="'housing' is missing"):
        clf.predict(X.assign(housing=None))
    with pytest.raises(DataError, match="'age' is missing"):
        clf.predict(X.assign(age=np.nan))


# --- files


@pytest.fixture(scope="module")
def content(tmp_path_factory):
    path = tmp_path_factory.mktemp("files") / "model.json"
    adopted(numbers_and(OneHotEncoder())).save(path)
    return json.loads(path.read_text())["model"]


def changed(entry, **parts):
    return {**entry, "scores": [{**score, **parts} for score in entry["scores"]]}


@pytest.mark.parametrize(
    "change",
    [
        lambda d: {**d, "kind": "forest"},
        lambda d: {**d, "probability": 1},
        lambda d: {**d, "more": 1},
        lambda d: {"kind": "scores", "probability": True},
        lambda d: {**d, "scores": d["scores"][:1]},
        lambda d: {**d, "scores": 3},
        lambda d: changed(d, constant=None),
        lambda d: changed(d, constant="1"),
        lambda d: changed(d, linear=[1.0]),
        lambda d: changed(d, linear=None),
        lambda d: changed(d, tables=[]),
        lambda d: changed(d, tables=[[1.0], [1.0], [1.0]]),
        lambda d: changed(d, matrix=[[1.0]]),
        lambda d: changed(d, matrix={"a": 1}),
        lambda d: [],
        lambda d: "scores",
    ],
)
def test_hostile_decisions_are_refused(change, content, tmp_path):
    write_model(tmp_path / "model.json", {**content, "decision": change(content["decision"])})
    with pytest.raises(ModelFileError, match="is not a usable model"):
        ConditionalGaussianNetworkClassifier.load(tmp_path / "model.json")


def test_a_file_without_a_decision_is_no_adopted_model(tmp_path):
    X, y = draw()
    ConditionalGaussianNetworkClassifier().fit(X[NUMBERS], y).save(tmp_path / "model.json")
    with pytest.raises(ModelFileError, match="without an adopted decision"):
        AdoptedClassifier.load(tmp_path / "model.json")
