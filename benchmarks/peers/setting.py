"""Data sets, classifiers and factuals: the same for every peer."""

from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis
from sklearn.naive_bayes import GaussianNB

from surefoot import ConditionalGaussianNetworkClassifier, datasets

TARGET = 1
FACTUALS = {"Banknote": 10, "Pima": 10, "Ionosphere": 5}
LOADERS = {
    "Banknote": datasets.load_banknote,
    "Pima": datasets.load_pima,
    "Ionosphere": datasets.load_ionosphere,
}
CLASSIFIERS = {
    "GaussianNB": GaussianNB,
    "QDA": lambda: QuadraticDiscriminantAnalysis(store_covariance=True),
    "TAN": lambda: ConditionalGaussianNetworkClassifier("tan"),
}


class Answer(NamedTuple):
    """What a peer returns: a point, or None; the gap only where the peer proves one itself."""

    point: np.ndarray | None
    gap: float | None = None


class Case(NamedTuple):
    """A fitted classifier with the rows it was fitted on, those to explain, and the class to reach."""

    data: str
    classifier: str
    model: Any
    X: pd.DataFrame
    y: pd.Series
    rows: list[int]
    target: int = TARGET
    categories: tuple[str, ...] = ()

    def factual(self, row):
        return self.X.iloc[row]


def cases():
    for data, load in LOADERS.items():
        bundle = load()
        for classifier, make in CLASSIFIERS.items():
            model = make().fit(bundle.X, bundle.y)
            candidates = np.flatnonzero(model.predict(bundle.X) == 1 - TARGET)
            chosen = np.random.default_rng(0).choice(candidates, FACTUALS[data], replace=False)
            yield Case(data, classifier, model, bundle.X, bundle.y, np.sort(chosen).tolist())
