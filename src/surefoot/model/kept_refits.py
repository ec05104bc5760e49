"""Refits that a model keeps as JSON: the parameters of each as one line of text, and back."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator
from copy import copy
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from surefoot.exceptions import ModelFileError
from surefoot.model.mixed import Cells, MixedNetwork, Network
from surefoot.model.network import LinearGaussianNetwork
from surefoot.model.parts import CELL_PARTS, calibration_content, calibration_from
from surefoot.plain import entries, finite, sequence, text

if TYPE_CHECKING:
    from surefoot.model.classifier import ConditionalGaussianNetworkClassifier

    Classifier = TypeVar("Classifier", bound=ConditionalGaussianNetworkClassifier)

Array = NDArray[np.float64]

MOST = 1000  # refits in a file; ten times more would be read for minutes before anything is said
KEYS = ("class_prior", "calibration", "parameters")


def refits_content(clf: ConditionalGaussianNetworkClassifier) -> list[dict[str, Any]]:
    """The refits of a model; their parameters are little-endian doubles in base64.

    Class after class, each either the weights of every feature's parents (ascending), the means and the
    variances; or the tables, and for each number mean, at, weights and variance.
    """
    return [
        {
            "class_prior": refit.class_prior_.tolist(),
            "calibration": calibration_content(refit.calibration_),
            "parameters": base64.b64encode(_joined(refit.networks_).tobytes()).decode("ascii"),
        }
        for refit in clf.refits_
    ]


def refits_from(values: Any, clf: Classifier) -> tuple[Classifier, ...]:
    """The refits of a model whose own parameters were read; every piece is checked."""
    if values is None:
        return ()
    listed = sequence(values, "refits")
    if len(listed) > MOST:
        raise ModelFileError(f"'refits' is wrong: a model keeps at most {MOST}")
    return tuple(_refit(entry, clf) for entry in listed)


def refits_size(clf: ConditionalGaussianNetworkClassifier) -> int:
    """Bytes that the refits take in the model's file, about."""
    return len(clf.refits_) * (n_numbers(clf) * 32 // 3 + 100)


def n_numbers(clf: ConditionalGaussianNetworkClassifier) -> int:
    """Parameters of one refit."""
    return sum(part.size for network in clf.networks_ for part in _parts(network))


def _joined(networks: tuple[Network, ...]) -> Array:
    return np.concatenate([part.ravel() for network in networks for part in _parts(network)]).astype("<f8")


def _parts(network: Network) -> Iterator[Array]:
    """The parameters of one class, array by array."""
    if isinstance(network, MixedNetwork):
        yield from network.tables
        for cells in network.cells:
            yield from (getattr(cells, name) for name in CELL_PARTS)
        return
    for i, group in enumerate(network.dag.parents):
        yield network.weights[i, sorted(group)]
    yield network.means
    yield network.variances


def _refit(entry: Any, clf: Classifier) -> Classifier:
    parts = entries(entry, "refits", KEYS)
    k = len(clf.classes_)
    prior = np.array([finite(p, "class_prior") for p in sequence(parts["class_prior"], "class_prior", k)])
    if not ((prior > 0).all() and np.isclose(prior.sum(), 1)):
        raise ModelFileError("the priors of a refit are not positive numbers that sum to one")
    numbers = iter(_split(_decoded(parts["parameters"], n_numbers(clf)), clf.networks_))
    found = copy(clf)
    for name in ("refits_", "judged_"):
        found.__dict__.pop(name, None)
    found.networks_ = tuple(_like(network, numbers) for network in clf.networks_)
    found.class_prior_, found.calibration_ = prior, calibration_from(parts["calibration"], k)
    if (found.calibration_ is None) != (clf.calibration_ is None):
        raise ModelFileError("a refit must be calibrated where its model is, and only there")
    return found


def _decoded(words: Any, size: int) -> Array:
    """So many finite numbers."""
    try:
        raw = base64.b64decode(text(words, "parameters"), validate=True)
    except (binascii.Error, ValueError):
        raise ModelFileError("the parameters of a refit are not base64") from None
    if len(raw) != 8 * size:
        raise ModelFileError(f"a refit must have {size} parameters, like its model")
    found = np.frombuffer(raw, dtype="<f8").astype(float)
    if not np.isfinite(found).all():
        raise ModelFileError("a parameter of a refit is not finite")
    return found


def _split(numbers: Array, networks: tuple[Network, ...]) -> Iterator[Array]:
    """Parts of the shapes that those of the networks have."""
    start = 0
    for network in networks:
        for part in _parts(network):
            yield numbers[start : start + part.size].reshape(part.shape)
            start += part.size


def _like(network: Network, numbers: Iterator[Array]) -> Network:
    """A network of the same shape, whose own checks see to signs and sums."""
    if isinstance(network, MixedNetwork):
        tables = tuple(next(numbers) for _ in network.tables)
        cells = tuple(
            Cells(one.parents, one.given, *(next(numbers) for _ in CELL_PARTS)) for one in network.cells
        )
        return MixedNetwork(network.dag, network.schema, tables, cells)
    weights = np.zeros_like(network.weights)
    for i, group in enumerate(network.dag.parents):
        weights[i, sorted(group)] = next(numbers)
    return LinearGaussianNetwork(network.dag, weights=weights, means=next(numbers), variances=next(numbers))
