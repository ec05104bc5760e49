"""Robust counterfactual explanations: the smallest change that reverses a decision, with a proof."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from surefoot import datasets, plots
    from surefoot.exceptions import NoCounterfactualError
    from surefoot.explain.actions import Action, Actions, Rule
    from surefoot.explain.explainer import CounterfactualExplainer
    from surefoot.explain.explanation import Explanation
    from surefoot.explain.explanations import Explanations
    from surefoot.explain.verification import Verification, verify
    from surefoot.faces.report.page import write_report
    from surefoot.model.adopted import AdoptedClassifier
    from surefoot.model.adoption import adopt
    from surefoot.model.classifier import ConditionalGaussianNetworkClassifier
    from surefoot.model.dag import Dag
    from surefoot.model.diagnosis import diagnose
    from surefoot.model.network import LinearGaussianNetwork
    from surefoot.model.selection import select
    from surefoot.status import Status
    from surefoot.waist.domain import Domain
    from surefoot.waist.geometry import Ball, Whitening
    from surefoot.waist.problem import RobustProblem
    from surefoot.waist.quadratic import Quadratic
    from surefoot.waist.question import Question

__version__ = "0.1.0"

# Where each public name lives. A name is loaded when it is first asked for, so that processes which only
# search start without scikit-learn and pandas: that is a second saved for every worker of a batch.
_HOMES = {
    "Action": "explain.actions",
    "Actions": "explain.actions",
    "AdoptedClassifier": "model.adopted",
    "Ball": "waist.geometry",
    "ConditionalGaussianNetworkClassifier": "model.classifier",
    "CounterfactualExplainer": "explain.explainer",
    "Dag": "model.dag",
    "Domain": "waist.domain",
    "Explanation": "explain.explanation",
    "Explanations": "explain.explanations",
    "LinearGaussianNetwork": "model.network",
    "NoCounterfactualError": "exceptions",
    "Quadratic": "waist.quadratic",
    "Question": "waist.question",
    "RobustProblem": "waist.problem",
    "Rule": "explain.actions",
    "Status": "status",
    "Verification": "explain.verification",
    "Whitening": "waist.geometry",
    "adopt": "model.adoption",
    "diagnose": "model.diagnosis",
    "select": "model.selection",
    "verify": "explain.verification",
    "write_report": "faces.report.page",
}

__all__ = [
    "Action",
    "Actions",
    "AdoptedClassifier",
    "Ball",
    "ConditionalGaussianNetworkClassifier",
    "CounterfactualExplainer",
    "Dag",
    "Domain",
    "Explanation",
    "Explanations",
    "LinearGaussianNetwork",
    "NoCounterfactualError",
    "Quadratic",
    "Question",
    "RobustProblem",
    "Rule",
    "Status",
    "Verification",
    "Whitening",
    "adopt",
    "datasets",
    "diagnose",
    "plots",
    "select",
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
