"""A bound that the checker does not accept in time is withdrawn before an explanation is made."""

import numpy as np

from surefoot import ConditionalGaussianNetworkClassifier, CounterfactualExplainer
from surefoot.explain.answer import bound_recheck
from surefoot.proof import exact


def test_a_bound_that_cannot_be_checked_in_time_is_withdrawn_once(bundled, monkeypatch):
    """Question and answer are checked before an explanation is made; what is left is not checked again."""
    bank = bundled["banknote"]
    clf = ConditionalGaussianNetworkClassifier("tan").fit(bank.X, bank.y)
    asked, checks = CounterfactualExplainer(clf, whitening=np.eye(4)), []
    monkeypatch.setattr(bound_recheck, "UNEVEN", 1.0)  # every matrix is doubtful
    monkeypatch.setattr(bound_recheck, "PATIENCE", 1e-9)
    monkeypatch.setattr(exact, "check", lambda *args, check=exact.check: checks.append(args) or check(*args))
    e = asked.explain(bank.X.iloc[0], 1)
    assert len(checks) == 1
    assert (str(e.status), e.lower_bound, e.gap) == ("precision_limit", 0.0, 1.0)
    assert e.certificate["bound"] is None
