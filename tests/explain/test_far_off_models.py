"""Model files whose numbers lie at the edge of what doubles hold: an answer or a refusal, no traceback."""

import copy

import pytest

from surefoot import ConditionalGaussianNetworkClassifier, verify
from surefoot.model.content import classifier_content
from surefoot.model.file import write_model
from tests.asking import CounterfactualExplainer
from tests.mixed_tables import lender, refused_rows


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("mean", [1e300, 1e150, -1e300, 5e-324])
def test_means_that_are_huge_or_tiny(mean, tmp_path):
    content, row = copy.deepcopy(classifier_content(lender("naive"))), refused_rows(lender("naive"), 1)[0]
    content["networks"][1]["cells"][0]["mean"] = mean
    write_model(tmp_path / "model.json", content)
    clf = ConditionalGaussianNetworkClassifier.load(tmp_path / "model.json")
    for norm in (2, 1):
        explainer = CounterfactualExplainer(clf, norm=norm, time_limit=0.3, whole=False)
        e = explainer.explain(row, target="good", on_failure="return")
        assert not any(claim.verdict == "FAILS" for claim in verify(e, clf).claims)
