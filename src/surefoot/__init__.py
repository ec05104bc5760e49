"""Robust counterfactual explanations: the smallest change that reverses a decision, with a proof."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from surefoot import datasets, plots
    from surefoot.exceptions import NoCounterfactualError
    from surefoot.explain.answer.region import Region
    from surefoot.explain.constraints.actions import Action, Actions
    from surefoot.explain.constraints.linear import Rule
    from surefoot.explain.explainer import CounterfactualExplainer
    from surefoot.explain.population.audit import Audit
    from surefoot.explain.population.nobody import Nobody
    from surefoot.explain.population.one_action import OneAction
    from surefoot.explain.result.batch import Explanations
    from surefoot.explain.result.explanation import Explanation
    from surefoot.explain.result.reasons import Reasons
    from surefoot.explain.verification import Verification, verify
    from surefoot.model.adopted import AdoptedClassifier
    from surefoot.model.adoption import adopt
    from surefoot.model.classifier import ConditionalGaussianNetworkClassifier
    from surefoot.model.dag import Dag
    from surefoot.model.diagnosis import diagnose
    from surefoot.model.network import LinearGaussianNetwork
    from surefoot.model.quadratic_model import QuadraticModel
    from surefoot.model.selection import select
    from surefoot.problem.domain import Domain
    from surefoot.problem.geometry import Ball, Whitening
    from surefoot.problem.quadratic import Quadratic
    from surefoot.problem.question import Question
    from surefoot.problem.robust_problem import RobustProblem
    from surefoot.status import Status
    from surefoot.ui.letters.page import write_letter
    from surefoot.ui.report.page import write_report

__version__ = "0.1.0"

# Where each public name lives. A name is loaded when it is first asked for, so that processes which only
# search start without scikit-learn and pandas: that is a second saved for every worker of a batch.
_HOMES = {
    "Action": "explain.constraints.actions",
    "Actions": "explain.constraints.actions",
    "AdoptedClassifier": "model.adopted",
    "Audit": "explain.population.audit",
    "Ball": "problem.geometry",
    "ConditionalGaussianNetworkClassifier": "model.classifier",
    "CounterfactualExplainer": "explain.explainer",
    "Dag": "model.dag",
    "Domain": "problem.domain",
    "Explanation": "explain.result.explanation",
    "Explanations": "explain.result.batch",
    "LinearGaussianNetwork": "model.network",
    "Milp": "explain.ask.methods",
    "OneAction": "explain.population.one_action",
    "PRESETS": "explain.ask.presets",
    "NoCounterfactualError": "exceptions",
    "Nobody": "explain.population.nobody",
    "Qcqp": "explain.ask.methods",
    "Quadratic": "problem.quadratic",
    "QuadraticModel": "model.quadratic_model",
    "Question": "problem.question",
    "Reasons": "explain.result.reasons",
    "Refits": "explain.ask.refits",
    "Region": "explain.answer.region",
    "RobustProblem": "problem.robust_problem",
    "Rule": "explain.constraints.linear",
    "Status": "status",
    "Verification": "explain.verification",
    "Whitening": "problem.geometry",
    "adopt": "model.adoption",
    "diagnose": "model.diagnosis",
    "select": "model.selection",
    "verify": "explain.verification",
    "write_letter": "ui.letters.page",
    "write_report": "ui.report.page",
}

__all__ = [
    "PRESETS",
    "Action",
    "Actions",
    "AdoptedClassifier",
    "Audit",
    "Ball",
    "ConditionalGaussianNetworkClassifier",
    "CounterfactualExplainer",
    "Dag",
    "Domain",
    "Explanation",
    "Explanations",
    "LinearGaussianNetwork",
    "Milp",
    "NoCounterfactualError",
    "Nobody",
    "OneAction",
    "Qcqp",
    "Quadratic",
    "QuadraticModel",
    "Question",
    "Reasons",
    "Refits",
    "Region",
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
    "write_letter",
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
