"""Where regions are cut."""

from surefoot import ConditionalGaussianNetworkClassifier, datasets, verify
from tests.asking import CounterfactualExplainer
from tests.search.certified.trees import cuts, leaves


def test_the_cube_is_cut_along_coordinates_alone():
    """Cuts along eigenvectors, too, gave this row 30 leaves."""
    data = datasets.load_ionosphere()
    clf = ConditionalGaussianNetworkClassifier(structure="tan").fit(data.X, data.y)
    row = data.X.iloc[28]
    e = CounterfactualExplainer(clf, budget=0.05, bounds=None, whole=False).explain(row, 0)
    tree = e.certificate["bound"]["tree"]
    assert {kind for kind, _ in cuts(tree)} == {"u"}
    assert len(leaves(tree)) <= 20
    assert verify(e, clf).ok
