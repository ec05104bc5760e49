"""Unexpected errors, of numpy or a solver: defects of ours, which a user cannot mend."""

from __future__ import annotations

import logging

from surefoot.formats import one_line

LOG = logging.getLogger("surefoot")
LOG.addHandler(logging.NullHandler())  # tracebacks are for those who ask for the log


def unforeseen(error: Exception) -> str:
    """The message about an unexpected error; its traceback goes to the log."""
    LOG.error("unexpected error", exc_info=error)
    kind = type(error).__name__
    return f"An unexpected {kind} ({one_line(str(error))}) stopped it. Please report it, with the log."
