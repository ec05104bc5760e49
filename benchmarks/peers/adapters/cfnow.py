"""CFNOW (cfnow): find_tabular as in its README, with both of its strategies."""

import contextlib
import os
from functools import partial

import numpy as np
from setting import Answer

# Importing it tries to fetch a word list that only its text explanations use, and says so when it cannot.
with open(os.devnull, "w") as silence, contextlib.redirect_stderr(silence):
    from cfnow import find_tabular


def prepare(case, strategy):
    def explain(factual):
        found = find_tabular(
            factual=factual,
            model_predict_proba=case.model.predict_proba,
            feat_types=dict.fromkeys(factual.index, "num"),
            cf_strategy=strategy,
            limit_seconds=10,
        )
        return Answer(np.asarray(found.cfs[0], dtype=float) if len(found.cfs) else None)

    return explain


PEERS = {
    "CFNOW random": partial(prepare, strategy="random"),
    "CFNOW greedy": partial(prepare, strategy="greedy"),
}
