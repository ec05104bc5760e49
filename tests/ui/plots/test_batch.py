import matplotlib.pyplot as plt
import numpy as np
import pytest

from surefoot import ConditionalGaussianNetworkClassifier, Explanations, plots
from surefoot.exceptions import DataError
from tests.asking import CounterfactualExplainer


@pytest.fixture(scope="module")
def batch(bundled):
    pima = bundled["pima"]
    clf = ConditionalGaussianNetworkClassifier("tan").fit(pima.X, pima.y)
    explainer = CounterfactualExplainer(clf, budget=0.05, whole=False)
    return explainer.explain_batch(pima.X.head(40), target=1, progress=False)


def moved(batch):
    return [e for e in batch if e.distance > 0]


def test_distances(batch):
    ax = plots.plot_distances(batch)
    assert sum(bar.get_height() for bar in ax.patches) == len(moved(batch)) < len(batch)
    assert ax.lines[0].get_xdata()[0] == pytest.approx(np.median([e.distance for e in moved(batch)]))
    assert "distance" in ax.get_xlabel()


def test_coverage(batch):
    ax = plots.plot_coverage(batch)
    assert sum(bar.get_height() for bar in ax.patches) == len(moved(batch))
    assert "40" not in ax.get_title()
    assert f"{len(moved(batch))} of {len(moved(batch))} fully covered" in ax.get_title()


def test_feature_shares(batch):
    _, ax = plt.subplots()
    assert plots.plot_feature_shares(batch, ax=ax, max_features=3) is ax
    lengths = [bar.get_width() for bar in ax.patches]
    assert len(lengths) == 3
    assert lengths == sorted(lengths, reverse=True)
    name = ax.get_yticklabels()[0].get_text()
    sizes = [abs((e.counterfactual - e.factual) / e.unit)[name] for e in moved(batch)]
    assert lengths[0] == pytest.approx(np.median(sizes))


@pytest.mark.parametrize("draw", [plots.plot_distances, plots.plot_coverage, plots.plot_feature_shares])
def test_nothing_to_draw(draw):
    with pytest.raises(DataError, match="no explanation of this batch"):
        draw(Explanations())
