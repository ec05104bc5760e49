"""HTML templates; whatever is put into them is escaped."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from surefoot.formats import one_line

if TYPE_CHECKING:
    from jinja2 import Environment


def _harmless(value: Any) -> Any:
    """Text without control characters, which HTML does not allow; what is HTML already stays."""
    return value if not isinstance(value, str) or hasattr(value, "__html__") else one_line(value)


def rendered(name: str, **values: Any) -> str:
    """Fill a template."""
    return _environment().get_template(name).render(**values)


@cache
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    return Environment(
        loader=PackageLoader("surefoot.ui.report", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_harmless,
        trim_blocks=True,
        lstrip_blocks=True,
    )
