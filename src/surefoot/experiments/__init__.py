"""The paper's experiments: its tables and figures, with its printed figures beside ours."""

from surefoot.experiments.reproduction import Plan, reproduce

__all__ = ["Plan", "reproduce"]
