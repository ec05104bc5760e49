"""The explainer of most tests: the search's own settings, named, whatever presets say."""

from typing import Any

import surefoot

# Distances in every whitened coordinate, within the training range, no limit, values as they were found.
PLAIN: dict[str, Any] = {"preset": "paper", "bounds": "data", "noise_on": "changeable", "whole": None}
# The same on the command line, where what a person cannot change stays all the same.
PLAIN_FLAGS = [
    *("--norm", "inf", "--whitening", "cholesky", "--at-most", "none", "--no-printable", "--gap", "0.001"),
]


class CounterfactualExplainer(surefoot.CounterfactualExplainer):
    """The explainer with these settings where a test does not say others."""

    def __init__(self, classifier: Any, **given: Any) -> None:
        super().__init__(classifier, **{**PLAIN, **given})
