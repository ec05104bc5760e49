"""The explainer of the benchmarks: its settings named, so that results stay whatever presets say."""

from inspect import signature

import surefoot

# Distances in every whitened coordinate, within the training range, no limit, values as they were found.
NAMED = {"preset": "paper", "bounds": "data", "noise_on": "changeable", "whole": None}
HAS_PRESETS = "preset" in signature(surefoot.CounterfactualExplainer.__init__).parameters


class CounterfactualExplainer(surefoot.CounterfactualExplainer):
    """The explainer with these settings where a benchmark does not say others; also of earlier checkouts."""

    def __init__(self, classifier, **given):
        super().__init__(classifier, **{**(NAMED if HAS_PRESETS else {}), **given})
