"""The command line: parse, call one function, print."""

from surefoot.ui.cli.main import main

__all__ = ["main"]
