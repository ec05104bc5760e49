import matplotlib.pyplot as plt
import numpy as np
import pytest

from surefoot import ConditionalGaussianNetworkClassifier
from surefoot.exceptions import DataError, StructureError
from surefoot.ui.plots import plot_surface
from surefoot.ui.plots.surface import GRID


@pytest.mark.parametrize("name", ["banknote", "ionosphere", "awkward"])
def test_surface_and_level_set(classifiers, name):
    clf = classifiers[name]
    ax = plot_surface(clf, clf.classes_[1])
    ax.figure.canvas.draw()
    assert ax.get_zlabel() == "H (log-odds)"
    assert ax.get_legend() is not None
    low, high = clf.feature_range_[:, 0]
    assert ax.get_xlim()[0] <= low < high <= ax.get_xlim()[1]


def test_names_are_labels(classifiers):
    ax = plot_surface(classifiers["banknote"], 1, features=["entropy", 1])
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("entropy", "skewness")


@pytest.mark.parametrize("kind", ["series", "dict", "array"])
def test_the_level_set_lies_where_h_is_zero(classifiers, bundled, kind):
    clf, row = classifiers["banknote"], bundled["banknote"].X.iloc[3]
    at = {"series": row[::-1], "dict": row.to_dict(), "array": row.to_numpy()}[kind]
    ax = plot_surface(clf, 1, features=(0, 2), at=at)
    line = next(c for c in ax.collections if type(c).__name__ == "QuadContourSet" or hasattr(c, "levels"))
    # A contour set in three dimensions keeps the plane coordinates of its paths.
    vertices = np.vstack([path.vertices for path in line.get_paths() if len(path.vertices)])[:, :2]
    points = np.tile(row.to_numpy(), (len(vertices), 1))
    points[:, [0, 2]] = vertices
    H = clf.decision_quadratic(1, 0)
    spread = np.ptp(np.asarray(H(bundled["banknote"].X)))
    assert np.abs(H(points)).max() < spread / GRID


def test_no_level_set_where_the_sign_does_not_change(classifiers, bundled):
    X = bundled["banknote"].X
    clf = ConditionalGaussianNetworkClassifier(priors=[1 - 1e-12, 1e-12]).fit(X, bundled["banknote"].y)
    at = clf.means_[0]
    ax = plot_surface(clf, 1, features=(2, 3), at=at)
    ax.figure.canvas.draw()
    assert ax.get_legend() is None


def test_three_classes():
    rng = np.random.default_rng(0)
    y = np.repeat(["a", "b", "c"], 40)
    X = rng.normal(size=(120, 2)) + np.repeat([[0, 0], [3, 0], [0, 3]], 40, axis=0)
    clf = ConditionalGaussianNetworkClassifier("naive").fit(X, y)
    assert plot_surface(clf, "b").get_xlabel() == "0"
    plot_surface(clf, "b", other="c").figure.canvas.draw()


def test_a_constant_feature(bundled):
    data = bundled["banknote"]
    clf = ConditionalGaussianNetworkClassifier("naive").fit(data.X.assign(one=1.0), data.y)
    ax = plot_surface(clf, 1, features=("one", "variance"))
    ax.figure.canvas.draw()
    low, high = ax.get_xlim()
    assert low < 1.0 < high
    assert ax.get_legend() is not None  # the decision changes along the other feature


def test_given_axes_are_used(classifiers):
    ax = plt.figure().add_subplot(projection="3d")
    assert plot_surface(classifiers["banknote"], 1, ax=ax) is ax


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"features": ("variance",)}, DataError, "two features"),
        ({"features": ("variance", 0)}, DataError, "two different"),
        ({"features": ("variance", "size")}, StructureError, "unknown feature 'size'"),
        ({"at": [1.0, 2.0]}, DataError, "4 finite numbers"),
        ({"at": {"variance": 1.0}}, DataError, "no value for 'skewness'"),
        ({"other": 7}, DataError, "unknown class 7"),
    ],
)
def test_bad_calls(classifiers, options, error, words):
    with pytest.raises(error, match=words):
        plot_surface(classifiers["banknote"], 1, **options)


def test_flat_axes_and_unknown_targets_are_refused(classifiers):
    with pytest.raises(DataError, match="projection='3d'"):
        plot_surface(classifiers["banknote"], 1, ax=plt.subplots()[1])
    with pytest.raises(DataError, match="unknown class 'x'"):
        plot_surface(classifiers["banknote"], "x")
