import pytest

from surefoot import ConditionalGaussianNetworkClassifier
from tests.model.test_cells import people


def test_summary_names_classes_and_edges(bundled):
    data = bundled["banknote"]
    clf = ConditionalGaussianNetworkClassifier("ban").fit(data.X, data.y.map({0: "genuine", 1: "forged"}))
    text = clf.summary()
    assert "forged (44.5%), genuine (55.5%)" in text
    assert "1,372 rows, 4 features" in text
    assert all(f"{data.feature_names[i]} -> {data.feature_names[j]}" in text for i, j in clf.dag_.edges)
    assert "converged after" in text


def test_long_edge_lists_are_cut(bundled):
    data = bundled["ionosphere"]
    text = ConditionalGaussianNetworkClassifier("tan").fit(data.X, data.y).summary()
    assert "31: " in text
    assert "and 19 more" in text


def test_naive_has_no_edges(bundled):
    data = bundled["banknote"]
    assert "none" in ConditionalGaussianNetworkClassifier("naive").fit(data.X, data.y).summary()


def test_html_escapes_names(bundled):
    data = bundled["banknote"]
    X = data.X.rename(columns={"variance": "<script>alert(1)</script>"})
    clf = ConditionalGaussianNetworkClassifier("tan").fit(X, data.y)
    html = clf._repr_html_()
    assert "<script>alert" not in html
    assert "&lt;script&gt;alert(1)&lt;/script&gt; -&gt;" in html
    assert "each feature depends on at most one other" in html


def test_unfitted(bundled):
    clf = ConditionalGaussianNetworkClassifier("ban", max_parents=2)
    assert repr(clf) == "ConditionalGaussianNetworkClassifier(max_parents=2, structure='ban')"
    assert "<table><caption" not in clf._repr_html_()
    with pytest.raises(ValueError, match="not fitted"):
        clf.summary()


def test_categories_holes_warps_and_calibration_are_told():
    frame, labels = people(300)
    frame.loc[3, "housing"] = None
    clf = ConditionalGaussianNetworkClassifier(
        "naive", marginals="power", shrinkage=0.25, calibration="temperature"
    ).fit(frame, labels)
    text = clf.summary()
    assert "300 rows, 5 features (3 numbers, 2 categories)" in text
    assert "housing (3 values); car (2 values)" in text
    assert "1 missing value" in text
    assert "income (power " in text
    assert "25% of the average covariance" in text
    assert f"temperature {clf.calibration_.temperature:.3g}" in text
    assert "housing (3 values)" in clf._repr_html_()
    plain = ConditionalGaussianNetworkClassifier("naive").fit(frame[["age", "debt"]], labels).summary()
    assert all(word not in plain for word in ("categories", "warped", "holes", "calibrated", "shrinkage"))


def test_who_learned_a_sparse_graph_is_told():
    frame, labels = people(300)
    mixed = ConditionalGaussianNetworkClassifier("ban").fit(frame, labels)
    numbers = ConditionalGaussianNetworkClassifier("ban").fit(frame[["age", "debt"]], labels)
    assert "learned by greedy search" in mixed.summary()
    assert "learned by greedy search" in mixed._repr_html_()
    assert "learned by NOTEARS" in numbers.summary()
