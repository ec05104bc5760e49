"""The command line: parse, call one function, print."""

from surefoot.cli.main import main

__all__ = ["main"]
