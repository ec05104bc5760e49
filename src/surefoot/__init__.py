"""Robust counterfactual explanations that still hold when the step lands a little off."""

from surefoot import datasets
from surefoot.classifier import ConditionalGaussianNetworkClassifier
from surefoot.dag import Dag
from surefoot.geometry import Ball, Whitening
from surefoot.network import LinearGaussianNetwork
from surefoot.quadratic import Quadratic

__version__ = "0.1.0"

__all__ = [
    "Ball",
    "ConditionalGaussianNetworkClassifier",
    "Dag",
    "LinearGaussianNetwork",
    "Quadratic",
    "Whitening",
    "datasets",
]
