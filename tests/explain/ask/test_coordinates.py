"""A matrix of one's own in the place of a whitening: asked, found, written, checked."""

import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from surefoot import ConditionalGaussianNetworkClassifier, Explanation, plots, verify, write_report
from surefoot.exceptions import DataError, ProblemError
from surefoot.model.content import classifier_content
from surefoot.proof import exact
from tests.asking import CounterfactualExplainer
from tests.brute import nearest_by_trying
from tests.mixed_tables import lender, refused_rows
from tests.thinning import covering

NORMS = [np.inf, 2, 1]
M = np.array([[1.0, 0.4, 0, 0], [-0.3, 0.5, 0.1, 0], [0, 0.2, 0.6, -0.5], [0.1, 0, 0.3, 0.9]])


@pytest.fixture(scope="module")
def bank(bundled):
    return bundled["banknote"]


@pytest.fixture(scope="module")
def clf(bank):
    return ConditionalGaussianNetworkClassifier("tan").fit(bank.X, bank.y)


@pytest.fixture(scope="module")
def plane(bank):
    """Two features, so that a grid can be tried."""
    return ConditionalGaussianNetworkClassifier("tan").fit(bank.X.iloc[:, :2], bank.y)


def checked(e, clf):
    """The verdicts of the standalone checker on a file."""
    document = json.loads(e.to_json())
    return {claim.name: claim.verdict for claim in exact.check([classifier_content(clf)], document)}


@pytest.mark.parametrize(("budget", "norm"), covering([0.0, 0.1], NORMS))
def test_the_optimum_is_the_one_of_a_grid(bank, plane, norm, budget):
    matrix = np.array([[0.5, 0.3], [-0.4, 0.2]])
    explainer = CounterfactualExplainer(plane, whitening=matrix, norm=norm, budget=budget)
    e = explainer.explain(bank.X.iloc[0, :2], target=1)
    step = e.counterfactual - e.factual
    assert e.distance == pytest.approx(np.linalg.norm(matrix @ step, norm), rel=1e-12)
    best = nearest_by_trying(explainer.problem(bank.X.iloc[0, :2], 1), 1.2 * e.distance, 601)
    assert e.lower_bound <= best * (1 + 1e-9)
    assert best <= 1.02 * e.distance
    assert verify(e, plane).ok


@pytest.mark.parametrize(
    ("more", "scale", "norm"),
    covering([{}, {"immutable": ["entropy"]}, {"distance": "cost"}], [1e-6, 1.0, 1e6], NORMS),
)
def test_units_of_the_matrix_change_nothing(bank, clf, norm, scale, more):
    """The same question in other units has the same answer, and both checks accept it."""
    asked = {"norm": norm, "whitening": scale * M, "budget": 0.05 * scale, **more}
    e = CounterfactualExplainer(clf, **asked).explain(bank.X.iloc[3], target=1)
    plain = CounterfactualExplainer(clf, **{**asked, "whitening": M, "budget": 0.05}).explain(
        bank.X.iloc[3], target=1
    )
    unit = 1.0 if "distance" in more else scale
    assert e.status == "optimal"
    assert e.distance / unit == pytest.approx(plain.distance, rel=2e-3)
    assert e.coverage == 1
    assert verify(e, clf).ok
    assert set(checked(e, clf).values()) == {exact.HOLDS}


def test_the_inverse_covariance_by_hand_is_the_whitening(bank, clf):
    """A matrix that somebody computed is the one that the name stands for."""
    named = CounterfactualExplainer(clf, budget=0.05).explain(bank.X.iloc[0], target=1)
    matrix = clf.network(named.factual_class).whitening("cholesky").matrix
    given = CounterfactualExplainer(clf, budget=0.05, whitening=matrix).explain(bank.X.iloc[0], target=1)
    assert given.distance == pytest.approx(named.distance, rel=1e-9)
    np.testing.assert_allclose(given.unit, named.unit, rtol=1e-12)


def test_a_table_goes_by_name(bank, clf):
    table = pd.DataFrame(M, columns=bank.X.columns)
    turned = CounterfactualExplainer(clf, whitening=table[table.columns[::-1]])
    plain = CounterfactualExplainer(clf, whitening=M.tolist())
    row = bank.X.iloc[0]
    assert turned.explain(row, 1).question == plain.explain(row, 1).question


@pytest.mark.parametrize(
    ("matrix", "said"),
    [
        (np.eye(3), r"must be 4 x 4, a column for each number; its shape is \(3, 3\)"),
        (np.where(np.eye(4) > 0, np.nan, 0), "must be finite; row 0, column 0 is nan"),
        (np.diag([1, 1, np.inf, 1]), "must be finite; row 2, column 2 is inf"),
        (np.ones((4, 4)), "is singular"),
        (np.diag([1.0, 1, 0, 1]), "is singular"),
        (np.diag([1.0, 1, 1e200, 1]), "must be 0 or from 1e-100 to 1e\\+100"),
        (np.full((4, 4), "a"), "must consist of numbers"),
        (np.eye(4) * 1j, "must consist of numbers"),
        ([[1, 2], [3]], "must consist of numbers"),
        (np.eye(4).astype(str), "must consist of numbers"),
        (pd.DataFrame(np.eye(4), columns=list("abcd")), "one column 'variance'; its columns are 'a', 'b',"),
        ("mine", "whitening must be one of .* or a matrix, not 'mine'"),
        (3, "or a matrix, not 3"),
    ],
)
def test_matrices_that_measure_nothing_are_refused(clf, matrix, said):
    with pytest.raises(DataError, match=said):
        CounterfactualExplainer(clf, whitening=matrix)


def test_a_table_with_a_column_too_many_is_refused(bank, clf):
    table = pd.DataFrame(np.eye(5)[:4], columns=[*bank.X.columns, "age"])
    with pytest.raises(DataError, match="has the column 'age', which is no number of the model"):
        CounterfactualExplainer(clf, whitening=table)


def test_curved_scales_are_refused(bank):
    bent = ConditionalGaussianNetworkClassifier(marginals="power").fit(bank.X, bank.y)
    explainer = CounterfactualExplainer(bent, whitening=M)
    with pytest.raises(ProblemError, match="on a curved scale, where a matrix of your own has no meaning"):
        explainer.explain(bank.X.iloc[0], 1)


def test_words_and_files(bank, clf, tmp_path):
    e = CounterfactualExplainer(clf, whitening=M, budget=0.05).explain(bank.X.iloc[0], target=1)
    text = str(e)
    assert "Asked: What is the smallest change, in the coordinates of a given matrix, that gives 1" in text
    assert "an error of up to 0.05 (in every coordinate of the given matrix)" in text
    assert "whitened" not in text
    again = Explanation.from_json(e.to_json())
    assert again.question == e.question
    assert again.question.to_dict()["version"] == 4
    assert again.to_dict() == e.to_dict()
    assert verify(again, clf).ok
    plots.plot_whitened_plane(e, clf)
    write_report(e, tmp_path / "e.html", clf)
    assert "length in the coordinates of a given matrix" in (tmp_path / "e.html").read_text(encoding="utf-8")


def test_named_whitenings_are_written_as_before(bank, clf):
    e = CounterfactualExplainer(clf).explain(bank.X.iloc[0], target=1)
    asked = e.to_dict()["question"]
    assert asked["version"] == 3
    assert "matrix" not in asked["distance"]


def test_the_checker_alone(bank, clf, tmp_path):
    e = CounterfactualExplainer(clf, whitening=M, norm=1, budget=0.05).explain(bank.X.iloc[0], target=1)
    clf.save(tmp_path / "model.json")
    (tmp_path / "e.json").write_text(e.to_json(), encoding="utf-8")
    command = [sys.executable, "-I", exact.__file__, str(tmp_path / "model.json"), str(tmp_path / "e.json")]
    found = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert found.returncode == 0, found.stdout + found.stderr
    assert "norm 1 with the given coordinates +1 variance +0.4 skewness; " in found.stdout
    assert "geometry: the question's matrix" in found.stdout


def test_categories_and_a_matrix():
    clf = lender()
    deviations = clf.network(clf.classes_[0], (0,) * clf.schema_.n_categories).covariance.diagonal() ** 0.5
    for scale in (1e-4, 1.0, 1e4):
        matrix = scale * (np.eye(len(deviations)) + 0.2) / deviations
        for row in refused_rows(clf, 2):
            e = CounterfactualExplainer(clf, whitening=matrix, budget=0.05 * scale).explain(row)
            assert e.status == "optimal"
            assert set(checked(e, clf).values()) == {exact.HOLDS}


def test_uneven_matrices_claim_what_is_proved(bank):
    """Errors of 0.05 in columns whose deviations lie 65,000 times apart: rounding undoes some bounds."""
    X = bank.X * [300, 1, 1 / 300, 1]
    clf = ConditionalGaussianNetworkClassifier("tan").fit(X, bank.y)
    e = CounterfactualExplainer(clf, whitening=np.eye(4), budget=0.05, time_limit=1).explain(X.iloc[0], 1)
    assert verify(e, clf).ok


def test_pictures_count_no_standard_deviations(bank, clf, tmp_path):
    """A given matrix has units of its own: neither axes nor headings may say otherwise."""
    explainer = CounterfactualExplainer(clf, whitening=M)
    e = explainer.explain(bank.X.iloc[0], target=1)
    found = explainer.trade_off(bank.X.iloc[0], 1, budget=(0, 0.05), plausible=())
    axes = [plots.plot_trace(e)[0], plots.plot_distances([e, e]), *plots.plot_trade_off(found)]
    assert not any("standard deviation" in ax.get_xlabel() + ax.get_ylabel() for ax in axes)
    write_report(found, tmp_path / "costs.html")
    page = (tmp_path / "costs.html").read_text(encoding="utf-8")
    assert "Errors withstood, in the coordinates of the given matrix" in page
