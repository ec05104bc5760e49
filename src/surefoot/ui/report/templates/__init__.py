"""HTML templates; whatever is put into them is escaped."""

from __future__ import annotations

import re
from typing import Any

from surefoot.formats import BEFORE_PER_CENT, NO_BREAK, one_line
from surefoot.ui.templates import environment

# What letters put around names that are read from right to left, so that numbers beside them stay in place.
ISOLATES = re.compile("([\N{FIRST STRONG ISOLATE}\N{POP DIRECTIONAL ISOLATE}])")


def _harmless(value: Any) -> Any:
    """Text without control characters, which HTML does not allow; what is HTML already stays."""
    if not isinstance(value, str) or hasattr(value, "__html__"):
        return value
    parts = ISOLATES.split(value)
    # Pairs alone do no harm; half of one would reach into the text that follows.
    is_paired = parts[1::2] == ["\N{FIRST STRONG ISOLATE}", "\N{POP DIRECTIONAL ISOLATE}"] * (len(parts) // 4)
    if not is_paired:
        return one_line(value)
    return "".join(one_line(part) if k % 2 == 0 else part for k, part in enumerate(parts))


def rendered(name: str, **values: Any) -> str:
    """Fill a template; no line ends between a number and its per cent sign."""
    page = environment("surefoot.ui.report", _harmless).get_template(name).render(**values)
    return BEFORE_PER_CENT.sub(NO_BREAK, page)
