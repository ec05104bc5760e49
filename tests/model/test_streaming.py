import numpy as np
import pandas as pd
import pytest

from surefoot import ConditionalGaussianNetworkClassifier
from surefoot.exceptions import DataError, SurefootWarning
from tests.model.test_cells import GRAPH, people


def batches(frame, labels, size=70):
    for start in range(0, len(frame), size):
        yield frame.iloc[start : start + size], labels[start : start + size]


def streamed(clf, frame, labels, **more):
    for X, y in batches(frame, labels):
        clf.partial_fit(X, y, **more)
    return clf


def assert_same_model(found, wanted, frame):
    assert found.schema_ == wanted.schema_
    assert found.classes_.tolist() == wanted.classes_.tolist()
    assert found.n_rows_ == wanted.n_rows_
    np.testing.assert_allclose(found.predict_log_proba(frame), wanted.predict_log_proba(frame), atol=1e-8)
    for name in ("feature_range_", "feature_percentiles_", "class_count_"):
        np.testing.assert_allclose(getattr(found, name), getattr(wanted, name))
    np.testing.assert_allclose(found.density_percentiles_, wanted.density_percentiles_, rtol=1e-8)


@pytest.mark.parametrize("structure", ["naive", GRAPH])
@pytest.mark.parametrize("order", ["as they come", "by class", "by housing"])
def test_batches_give_the_model_of_all_rows(structure, order):
    """Also where labels and values of categories turn up late."""
    frame, labels = people(500)
    rows = {"by class": np.argsort(labels), "by housing": np.argsort(frame["housing"])}.get(order)
    if rows is not None:
        frame, labels = frame.iloc[rows], labels[rows]
    wanted = ConditionalGaussianNetworkClassifier(structure).fit(frame, labels)
    found = streamed(ConditionalGaussianNetworkClassifier(structure), frame, labels)
    assert_same_model(found, wanted, frame)


def test_batches_of_plain_numbers(bundled):
    data = bundled["pima"]
    graph = {"insu": ["plas", "skin"]}
    wanted = ConditionalGaussianNetworkClassifier(graph, shrinkage=0.1).fit(data.X, data.y)
    found = streamed(
        ConditionalGaussianNetworkClassifier(graph, shrinkage=0.1), data.X, data.y.to_numpy(), classes=[0, 1]
    )
    assert_same_model(found, wanted, data.X)


def test_weights():
    frame, labels = people(300)
    w = np.random.default_rng(0).integers(0, 3, 300).astype(float)
    wanted = ConditionalGaussianNetworkClassifier(GRAPH).fit(frame, labels, sample_weight=w)
    found = ConditionalGaussianNetworkClassifier(GRAPH)
    for start in range(0, 300, 50):
        part = slice(start, start + 50)
        found.partial_fit(frame.iloc[part], labels[part], sample_weight=w[part])
    assert_same_model(found, wanted, frame)


def test_large_classes_are_sampled(monkeypatch):
    monkeypatch.setattr("surefoot.model.stream.DENSITY_ROWS", 400)
    frame, labels = people(4000)
    wanted = ConditionalGaussianNetworkClassifier("naive").fit(frame, labels)
    found = streamed(ConditionalGaussianNetworkClassifier("naive"), frame, labels)
    assert len(found._stream.sample.keys) == 800
    np.testing.assert_allclose(found.predict_log_proba(frame), wanted.predict_log_proba(frame), atol=1e-8)
    levels = np.array([0.05, 0.95])
    for name in ("age", "income"):
        j = list(frame.columns).index(name)
        shares = [(frame[name] <= end).mean() for end in found.feature_percentiles_[:, j]]
        np.testing.assert_allclose(shares, levels, atol=0.03)
    middle = wanted.density_percentiles_[:, 10:91]
    np.testing.assert_allclose(found.density_percentiles_[:, 10:91], middle, atol=0.6)


def test_not_fitted_before_every_class_has_two_rows():
    frame, labels = people(100)
    order = np.argsort(labels)
    clf = ConditionalGaussianNetworkClassifier("naive")
    clf.partial_fit(frame.iloc[order[:10]], labels[order[:10]], classes=["bad", "good"])
    with pytest.raises(ValueError, match="not fitted"):
        clf.predict(frame)
    clf.partial_fit(frame.iloc[order[-10:]], labels[order[-10:]])
    assert clf.predict(frame).shape == (100,)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"structure": "tan"}, "structure must be 'naive' or a graph"),
        ({"structure": "ban"}, "structure must be 'naive' or a graph"),
        ({"marginals": "auto"}, "marginals must be 'gaussian'"),
        ({"shrinkage": "auto"}, "shrinkage must be a number"),
        ({"calibration": "temperature"}, "calibration must be None"),
    ],
)
def test_what_needs_a_second_pass(settings, message):
    frame, labels = people(50)
    clf = ConditionalGaussianNetworkClassifier(**{"structure": "naive", **settings})
    assert not hasattr(clf, "partial_fit")
    with pytest.raises(DataError, match=f"partial_fit sees each row only once, so {message}"):
        clf.partial_fit(frame, labels)


def test_batches_that_do_not_fit():
    frame, labels = people(60)

    def begun(**more):
        return ConditionalGaussianNetworkClassifier("naive").partial_fit(frame, labels, **more)

    for X, y, message in (
        (frame.assign(age="old"), labels, "column 'age' holds numbers in some rows and text in others"),
        (frame.assign(income=np.nan), labels, "missing"),
        (frame.assign(housing=[None, *frame["housing"][1:]]), labels, "holes need more than one pass"),
        (frame.drop(columns="age"), labels, "feature names should match"),
        (frame, np.arange(60) % 2, "labels must all be of one kind"),
    ):
        clf = begun()
        before = clf.predict_proba(frame)
        with pytest.raises(ValueError, match=message):
            clf.partial_fit(X, y)
        np.testing.assert_array_equal(clf.predict_proba(frame), before)  # the batch has done no harm
    with pytest.raises(DataError, match="label 'ugly' is not among the classes"):
        begun(classes=["bad", "good"]).partial_fit(frame, np.where(labels == "bad", "ugly", labels))
    with pytest.raises(DataError, match="label 'good' is not among the classes"):
        begun(classes=["bad", "ugly"])


def test_fit_is_forgotten_aloud():
    frame, labels = people(60)
    clf = ConditionalGaussianNetworkClassifier("naive").fit(frame, labels)
    with pytest.warns(SurefootWarning, match="partial_fit starts anew"):
        clf.partial_fit(frame.iloc[:30], labels[:30])
    clf.partial_fit(frame.iloc[30:], labels[30:])
    assert clf.n_rows_ == 60


class Parts:
    """A table in parts, as Dask has it."""

    def __init__(self, table, cuts):
        from dask import delayed

        self._parts = [delayed(part) for part in np.split(np.arange(len(table)), cuts)]
        self._parts = [delayed(table.iloc.__getitem__)(rows) for rows in self._parts]
        self.columns = getattr(table, "columns", None)

    @property
    def npartitions(self):
        return len(self._parts)

    def to_delayed(self):
        return self._parts


@pytest.mark.parametrize("structure", ["naive", GRAPH])
def test_a_table_in_parts(structure):
    pytest.importorskip("dask")
    frame, labels = people(500)
    order = np.argsort(frame["housing"])
    frame, labels = frame.iloc[order], pd.Series(labels[order])
    cuts = [0, 90, 200, 200, 430]  # two empty parts among them
    clf = ConditionalGaussianNetworkClassifier(structure).fit(Parts(frame, cuts), Parts(labels, cuts))
    assert_same_model(clf, ConditionalGaussianNetworkClassifier(structure).fit(frame, labels), frame)
    assert clf.feature_names_in_.tolist() == list(frame.columns)


def test_parts_that_do_not_fit():
    pytest.importorskip("dask")
    frame, labels = people(60)
    labels = pd.Series(labels)
    naive = ConditionalGaussianNetworkClassifier("naive")
    with pytest.raises(DataError, match="must be Dask Series with the same partitions"):
        naive.fit(Parts(frame, [30]), labels)
    with pytest.raises(DataError, match="must have the same partitions"):
        naive.fit(Parts(frame, [30]), Parts(labels, [20, 40]))
    with pytest.raises(DataError, match="sees each row only once"):
        ConditionalGaussianNetworkClassifier("tan").fit(Parts(frame, [30]), Parts(labels, [30]))
    with pytest.raises(DataError, match="needs at least two classes"):
        naive.fit(Parts(frame, [30]), Parts(labels.map(lambda _: "a"), [30]))


@pytest.mark.parametrize("later", [{"age": ["housing"]}, "naive"])
def test_another_structure_after_the_first_batch(later):
    frame, labels = people(200)
    clf = ConditionalGaussianNetworkClassifier({"income": ["housing"]}).partial_fit(frame, labels)
    before = clf.predict_proba(frame)
    with pytest.raises(DataError, match="the structure is another one than for the rows before"):
        clf.set_params(structure=later).partial_fit(frame, labels)
    assert (clf.predict_proba(frame) == before).all()
