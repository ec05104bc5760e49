"""A short digest of everything in a classifier that decides."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING

import numpy as np

from surefoot.model.mixed import MixedNetwork

if TYPE_CHECKING:
    from surefoot.model.classifier import ConditionalGaussianNetworkClassifier


def fingerprint(clf: ConditionalGaussianNetworkClassifier) -> str:
    """The same for a saved and loaded classifier: what decides, not how it was found.

    The first 16 digits of the SHA-256 of: the list of labels as Python writes it; then, as little-endian
    doubles, the priors and for each class either weights, means and variances, or the tables and for each
    number mean, at, weights and variance; then, as text, the lines of `_beyond_plain_numbers`.
    """
    digest = sha256(repr(clf.classes_.tolist()).encode() + clf.class_prior_.tobytes())
    for network in clf.networks_:
        if isinstance(network, MixedNetwork):
            parts = [*network.tables]
            parts += [p for c in network.cells for p in (c.mean, c.at, c.weights, c.variance)]
        else:
            parts = [network.weights, network.means, network.variances]
        for part in parts:
            digest.update(np.ascontiguousarray(part).tobytes())
    digest.update(_beyond_plain_numbers(clf).encode())
    return digest.hexdigest()[:16]


def _beyond_plain_numbers(clf: ConditionalGaussianNetworkClassifier) -> str:
    """Categories, warps and calibration; empty where there are none, so that old digests stay."""
    parts = []
    if clf.schema_.n_categories:
        parts.append(f"categories {clf.schema_.values!r} {clf.dag_.parents!r}")
    if not all(warp.is_identity for warp in clf.warps_):
        parts.append(f"warps {[(w.power, w.shift, w.scale) for w in clf.warps_]!r}")
    if clf.calibration_ is not None:
        parts.append(f"calibration {clf.calibration_.temperature!r} {clf.calibration_.shifts!r}")
    return "\n".join(parts)
