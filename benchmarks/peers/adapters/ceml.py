"""CEML (ceml): its convex programs for Gaussian naive Bayes and quadratic discriminant analysis.

It measures distance in the units of the model, so it is given the same classifier in standardised units.
"""

import sys
import types
from functools import partial

import jax
import numpy as np
from setting import TARGET, Answer
from sklearn.base import clone
from sklearn.preprocessing import StandardScaler

# CEML asks for jax.config.config, a module that jax has since made an attribute. It is the only thing in
# the way, and these convex programs never call jax.
sys.modules.setdefault("jax.config", types.ModuleType("jax.config")).config = jax.config
from ceml.sklearn import generate_counterfactual  # noqa: E402


def prepare(case, regularization):
    if case.classifier not in ("GaussianNB", "QDA"):
        return None
    scaler = StandardScaler().fit(case.X.to_numpy())
    Z = scaler.transform(case.X.to_numpy())
    model = clone(case.model).fit(Z, case.y)
    if not np.array_equal(model.predict(Z), case.model.predict(case.X)):
        raise ValueError(f"standardising changes the decisions of {case.classifier} on {case.data}")

    def explain(factual):
        z = scaler.transform(factual.to_numpy()[None])[0]
        try:
            found = generate_counterfactual(model, z, TARGET, regularization=regularization)
        except Exception as error:  # CEML raises plain Exceptions
            if "No counterfactual found" not in str(error):
                raise
            return Answer(None)
        return Answer(scaler.inverse_transform(found["x_cf"][None])[0])

    return explain


PEERS = {
    "CEML l2": partial(prepare, regularization="l2"),
    "CEML l1": partial(prepare, regularization="l1"),
}
