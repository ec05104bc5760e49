"""Robust counterfactual explanations that still hold when the step lands a little off."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from surefoot import datasets, plots
    from surefoot.adoption import adopt
    from surefoot.classifier import ConditionalGaussianNetworkClassifier
    from surefoot.dag import Dag
    from surefoot.exceptions import NoCounterfactualError
    from surefoot.explainer import CounterfactualExplainer
    from surefoot.explanation import Explanation
    from surefoot.explanations import Explanations
    from surefoot.geometry import Ball, Whitening
    from surefoot.network import LinearGaussianNetwork
    from surefoot.problem import RobustProblem
    from surefoot.quadratic import Quadratic
    from surefoot.report.page import write_report
    from surefoot.status import Status
    from surefoot.verification import Verification, verify

__version__ = "0.1.0"

# Where each public name lives. A name is loaded when it is first asked for, so that processes which only
# search start without scikit-learn and pandas: that is a second saved for every worker of a batch.
_HOMES = {
    "Ball": "geometry",
    "ConditionalGaussianNetworkClassifier": "classifier",
    "CounterfactualExplainer": "explainer",
    "Dag": "dag",
    "Explanation": "explanation",
    "Explanations": "explanations",
    "LinearGaussianNetwork": "network",
    "NoCounterfactualError": "exceptions",
    "Quadratic": "quadratic",
    "RobustProblem": "problem",
    "Status": "status",
    "Verification": "verification",
    "Whitening": "geometry",
    "adopt": "adoption",
    "verify": "verification",
    "write_report": "report.page",
}

__all__ = [
    "Ball",
    "ConditionalGaussianNetworkClassifier",
    "CounterfactualExplainer",
    "Dag",
    "Explanation",
    "Explanations",
    "LinearGaussianNetwork",
    "NoCounterfactualError",
    "Quadratic",
    "RobustProblem",
    "Status",
    "Verification",
    "Whitening",
    "adopt",
    "datasets",
    "plots",
    "verify",
    "write_report",
]


def __getattr__(name: str) -> Any:
    if name in ("datasets", "plots"):
        return import_module(f"surefoot.{name}")
    if name not in _HOMES:
        raise AttributeError(f"module 'surefoot' has no attribute {name!r}")
    value = getattr(import_module(f"surefoot.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
