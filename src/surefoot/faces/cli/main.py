"""Run one command; errors are one line."""

from __future__ import annotations

import io
import os
import sys
import traceback
import warnings
from collections.abc import Sequence
from importlib import import_module

from surefoot.exceptions import SurefootError, SurefootWarning
from surefoot.faces.cli.parser import parser
from surefoot.faces.cli.spoken import spoken

DONE, BAD_INPUT, INTERRUPTED = 0, 2, 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit status.

    0: done. 1: no counterfactual, or some rows without one, or a claim that fails. 2: bad usage or input.
    130: interrupted.
    """
    options = parser().parse_args(arguments)
    if isinstance(sys.stdout, io.TextIOWrapper):  # names may hold what the terminal cannot show
        sys.stdout.reconfigure(errors="backslashreplace")
    with warnings.catch_warnings():
        warnings.simplefilter("default", SurefootWarning)  # what surefoot warns of is for the user to see
        warnings.showwarning = lambda message, *_: say(f"surefoot: warning: {spoken(str(message))}")
        try:
            # Loaded here, so that help, completion and mistakes in the usage are answered at once.
            return int(import_module("surefoot.faces.cli.commands").COMMANDS[options.command](options))
        except BrokenPipeError:  # whoever read the output has seen enough
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return DONE
        except (SurefootError, OSError) as error:
            if options.debug:
                traceback.print_exc()
            say(f"surefoot: error: {_reason(error)}")
            return BAD_INPUT
        except KeyboardInterrupt:
            say("surefoot: interrupted")
            return INTERRUPTED


def _reason(error: Exception) -> str:
    """What is wrong and where; of the system's errors without their numbers."""
    if isinstance(error, OSError) and error.filename is not None and not isinstance(error, SurefootError):
        return f"{error.filename}: {error.strerror}"
    return spoken(str(error))


def say(message: str) -> None:
    """To whoever watches: results go to stdout, everything else here."""
    sys.stderr.write(message + "\n")
