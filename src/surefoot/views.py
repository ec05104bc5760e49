"""How things are shown, by name: rooms that compute do not know those that print and draw.

A model or an explanation has methods that show it (`summary`, `plot`, `__str__`). They ask for a view here,
and the room `ui` is loaded only then.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

VIEWS = {
    "model text": "ui.report.model:model_text",
    "model page": "ui.report.model:model_html",
    "graph plot": "ui.plots.dag:plot_dag",
    "diagnosis plot": "ui.plots.diagnosis:plot_diagnosis",
    "explanation text": "ui.report.text:explanation_text",
    "explanation page": "ui.report.fragment:explanation_fragment",
    "reasons text": "ui.report.reasons:reasons_text",
    "reasons plot": "ui.plots.reasons:plot_reasons",
    "batch page": "ui.report.fragment:batch_fragment",
    "audit text": "ui.report.audit_words:audit_text",
    "audit page": "ui.report.audit_page:audit_fragment",
    "audit plot": "ui.plots.audit:plot_audit",
    "trade-off plot": "ui.plots.trade_off:plot_trade_off",
}


def view(name: str, *arguments: Any, **settings: Any) -> Any:
    """What a view makes of a thing."""
    module, _, function = VIEWS[name].partition(":")
    return getattr(import_module(f"surefoot.{module}"), function)(*arguments, **settings)
