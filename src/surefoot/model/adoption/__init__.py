"""Fitted models of scikit-learn, as what the explainer works with."""

from surefoot.model.adoption.adopting import adopt

__all__ = ["adopt"]
