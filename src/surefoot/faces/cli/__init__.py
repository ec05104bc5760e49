"""The command line: parse, call one function, print."""

from surefoot.faces.cli.main import main

__all__ = ["main"]
