"""Hints of the library, which speak Python, as somebody at the command line can follow them."""

from __future__ import annotations

import re

WHOLE_PHRASES = {
    "ordered={...} when the model is made, or in its OrdinalEncoder": "surefoot fit --ordered",
    "fit the model with marginals='gaussian'": "make the model with surefoot fit --marginals gaussian",
    "fit it with marginals='gaussian'": "make it with surefoot fit --marginals gaussian",
    "fit with calibration='temperature'": "use surefoot fit --calibration temperature",
    "impute='expected'": "--impute",
    "plausible=('conditional', k)": "--plausible conditional K",
    "plausible must be": "--plausible must be",
    "('conditional', k)": "'conditional K'",
    "see Action(values=...)": "see --values",
    "decision is for models": "--decision is for models",
    "use threshold for this one": "use --threshold for this one",
    "use decision, a value": "use --decision, a value",
    "or whole=False": "or --fractional",
    "required_edges": "--require",
    "max_parents": "--max-parents",
}
FLAG = re.compile(r"\b(method|structure|distance|whitening)='(\w+)'")
FREED = re.compile(r'name it in actions: Actions\(\{("(?:[^"\\]|\\.)*"): "change"\}\)')
SHARE = re.compile(r"\b(plausible|threshold)=(?=[\d.])")


def spoken(message: str) -> str:
    """The message with flags where it names arguments of Python.

    Examples
    --------
    >>> spoken("method='milp' cannot take this; use method='certified'")
    '--method milp cannot take this; use --method certified'
    >>> spoken("the row has no value for 'age'; impute='expected' fills holes")
    "the row has no value for 'age'; --impute fills holes"
    """
    for phrase, flag in WHOLE_PHRASES.items():
        message = message.replace(phrase, flag)
    message = FREED.sub(r"say --free \1, or name it in --actions", message)
    return SHARE.sub(r"--\1 ", FLAG.sub(r"--\1 \2", message))
