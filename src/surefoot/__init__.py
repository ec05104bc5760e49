"""Robust counterfactual explanations that still hold when the step lands a little off."""

from surefoot import datasets
from surefoot.classifier import ConditionalGaussianNetworkClassifier
from surefoot.dag import Dag
from surefoot.exceptions import NoCounterfactualError
from surefoot.explainer import CounterfactualExplainer
from surefoot.explanation import Explanation
from surefoot.geometry import Ball, Whitening
from surefoot.network import LinearGaussianNetwork
from surefoot.problem import RobustProblem
from surefoot.quadratic import Quadratic
from surefoot.status import Status
from surefoot.verify import Verification, verify

__version__ = "0.1.0"

__all__ = [
    "Ball",
    "ConditionalGaussianNetworkClassifier",
    "CounterfactualExplainer",
    "Dag",
    "Explanation",
    "LinearGaussianNetwork",
    "NoCounterfactualError",
    "Quadratic",
    "RobustProblem",
    "Status",
    "Verification",
    "Whitening",
    "datasets",
    "verify",
]
