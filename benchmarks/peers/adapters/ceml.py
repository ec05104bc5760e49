"""CEML (ceml): its convex programs for Gaussian naive Bayes, discriminant analysis and logistic regression.

It measures distance in the units of the model, so it is given the same classifier in standardised units.
"""

import copy
import sys
import types
from functools import partial

import jax
import numpy as np
from setting import Answer
from sklearn.base import clone
from sklearn.mixture import GaussianMixture
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

# CEML asks for jax.config.config, a module that jax has since made an attribute. It is the only thing in
# the way, and these convex programs never call jax.
sys.modules.setdefault("jax.config", types.ModuleType("jax.config")).config = jax.config
from ceml.sklearn import generate_counterfactual  # noqa: E402
from ceml.sklearn.plausibility import prepare_computation_of_plausible_counterfactuals  # noqa: E402
from ceml.sklearn.softmaxregression import softmaxregression_generate_counterfactual  # noqa: E402


def prepare(case, regularization):
    if case.classifier not in ("GaussianNB", "QDA", "logistic"):
        return None
    scaler, model = _standardised(case)

    def explain(factual):
        z = scaler.transform(factual.to_numpy()[None])[0]
        try:
            found = generate_counterfactual(model, z, case.target, regularization=regularization)
        except Exception as error:  # CEML raises plain Exceptions
            if "No counterfactual found" not in str(error):
                raise
            return Answer(None)
        return Answer(scaler.inverse_transform(found["x_cf"][None])[0])

    return explain


def prepare_plausible(case):
    """Within an ellipsoid of high density, which CEML has for linear models; mixtures as in its manual."""
    if case.classifier != "logistic":
        return None
    scaler, model = _standardised(case)
    Z, y = scaler.transform(case.X.to_numpy()), case.y.to_numpy()
    parts = [Z[y == label] for label in np.unique(y)]

    def held_out(size):
        mixture = GaussianMixture(size, random_state=0)
        return sum(cross_val_score(mixture, part, cv=5).mean() for part in parts)

    size = max(range(2, 10), key=held_out)  # the same for all classes, which current numpy needs
    mixtures = [GaussianMixture(size, random_state=0).fit(part) for part in parts]
    plausibility = prepare_computation_of_plausible_counterfactuals(Z, y, mixtures)

    def explain(factual):
        z = scaler.transform(factual.to_numpy()[None])[0]
        found = softmaxregression_generate_counterfactual(model, z, case.target, plausibility=plausibility)
        return Answer(None if found is None else scaler.inverse_transform(found[None])[0])

    return explain


def _standardised(case):
    """A scaler, and the classifier of what it makes of the features."""
    if isinstance(case.model, Pipeline):
        scaler, model = copy.deepcopy((case.model[0], case.model[-1]))
        model.multi_class = "multinomial"  # scikit-learn no longer keeps it, and CEML looks
        vars(scaler).pop("feature_names_in_", None)  # rows come as arrays
        return scaler, model
    scaler = StandardScaler().fit(case.X.to_numpy())
    Z = scaler.transform(case.X.to_numpy())
    model = clone(case.model).fit(Z, case.y)
    if not np.array_equal(model.predict(Z), case.model.predict(case.X)):
        raise ValueError(f"standardising changes the decisions of {case.classifier} on {case.data}")
    return scaler, model


PEERS = {
    "CEML l2": partial(prepare, regularization="l2"),
    "CEML l1": partial(prepare, regularization="l1"),
    "CEML l1, plausible": prepare_plausible,
}
