"""Run one command; errors are one line."""

from __future__ import annotations

import io
import os
import sys
import warnings
from argparse import Namespace
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from shutil import get_terminal_size

from surefoot.exceptions import SurefootError, SurefootWarning
from surefoot.formats import one_line, printable, wrapped
from surefoot.ui.cli.parser import parser

DONE, NOT_FOUND, BAD_INPUT, INTERRUPTED = 0, 1, 2, 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit status.

    0: done. 1: no counterfactual, or some rows without one, or a claim that fails. 2: bad usage or input.
    130: interrupted.
    """
    _open_standard_streams()
    try:
        options = parser().parse_args(arguments)
    except SystemExit:  # the help, or a mistake in the usage
        if _written_out() != DONE:
            raise SystemExit(BAD_INPUT) from None
        raise
    if isinstance(sys.stdout, io.TextIOWrapper):  # names may hold what the terminal cannot show
        sys.stdout.reconfigure(errors="backslashreplace")
    with warnings.catch_warnings():
        warnings.simplefilter("default", SurefootWarning)  # what surefoot warns of is for the user to see
        warnings.showwarning = lambda message, *_: say(f"surefoot: warning: {_in_flags(str(message))}")
        return max(_run(options), _written_out())


def _run(options: Namespace) -> int:
    if options.debug:
        import logging

        logging.basicConfig()  # where errors that nobody expected come from is in the log
    try:
        # Loaded here, so that help, completion and mistakes in the usage are answered at once.
        from surefoot.ui.cli.paths import check_paths

        check_paths(options)
        return int(import_module("surefoot.ui.cli.commands").COMMANDS[options.command](options))
    except KeyboardInterrupt:
        say("surefoot: interrupted")
        return INTERRUPTED
    except Exception as error:  # the one guard: whatever goes wrong, a user gets a line and not a traceback
        if isinstance(error, BrokenPipeError) and error.filename is None:
            return DONE  # whoever read the output has seen enough
        if options.debug:
            import traceback

            traceback.print_exc()
        say(f"surefoot: error: {_reason(error)}")
        return BAD_INPUT


def _reason(error: Exception) -> str:
    """What is wrong and where; errors of the operating system without their numbers."""
    if isinstance(error, SurefootError):
        return _in_flags(str(error))
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    if isinstance(error, OSError):
        return str(error.strerror or error)
    if isinstance(error, MemoryError):
        return "not enough memory"
    return f"unexpected {type(error).__name__}: {_in_flags(str(error))}; --debug shows where it comes from"


def _in_flags(text: str) -> str:
    """A message in the words of the command line."""
    from surefoot.ui.cli.spoken import spoken

    return spoken(text)


def _written_out() -> int:
    """Write out what waits for standard output; a disk may be full, or nobody reads any longer."""
    try:
        sys.stdout.flush()
        return DONE
    except (OSError, ValueError) as error:
        with suppress(OSError, ValueError):  # else Python tries again at its end, and complains
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(error, BrokenPipeError):
            return DONE
        say(f"surefoot: error: standard output: {getattr(error, 'strerror', None) or error}")
        return BAD_INPUT


def _open_standard_streams() -> None:
    """Take the places of closed streams: a file that is opened there would get what is printed."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            with suppress(OSError):
                os.open(os.devnull, os.O_RDWR)  # the lowest number that is free
            if number:
                setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115


def say(message: str) -> None:
    """Print one line on stderr, broken between words in a terminal; only results go to stdout."""
    with suppress(OSError, ValueError):  # there is no place left to report that stderr is full
        line = one_line(message)
        sys.stderr.write((wrapped(line, get_terminal_size().columns) if sys.stderr.isatty() else line) + "\n")


def show(text: str) -> None:
    """A result to read; names in it cannot steer the terminal."""
    sys.stdout.write(printable(text))


def show_sentences(text: str) -> None:
    """The same, broken between words where a person reads it in a terminal; programs get whole lines."""
    show(wrapped(text, get_terminal_size().columns) if sys.stdout.isatty() else text)
