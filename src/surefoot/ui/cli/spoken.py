"""Hints of the library, which speak Python, as somebody at the command line can follow them."""

from __future__ import annotations

import ast
import re
import shlex

WHOLE_PHRASES = {
    "ordered={...} when the model is made, or in its OrdinalEncoder": "surefoot fit --ordered",
    "fit the model with marginals='gaussian'": "make the model with surefoot fit --marginals gaussian",
    "fit it with marginals='gaussian'": "make it with surefoot fit --marginals gaussian",
    "fit with calibration='temperature'": "use surefoot fit --calibration temperature",
    "audit.by_group and audit.alone": "--html FILE shows them",
    "audit.by_group": "--html FILE shows them",
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
SHARE = re.compile(r"\b(plausible|threshold|models)=(?=[\d.])")
PLAIN = re.compile(r"fit the model with plain=\[([^\]]*)\]")
RULE_PLAIN = re.compile(r"fit the model with plain=\[[^\]]*\], which")
REFITS = re.compile(r"pass the training data too: models=Refits\(\d+, data=\(X, y\)\)")


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
    message = RULE_PLAIN.sub("make the model with surefoot fit --actions FILE, the same file, which", message)
    message = PLAIN.sub(lambda found: f"make the model with surefoot fit --plain {_names(found[1])}", message)
    message = REFITS.sub("give the training table with --data", message)
    return SHARE.sub(r"--\1 ", FLAG.sub(r"--\1 \2", message))


def _names(listed: str) -> str:
    """Names in quotes as a shell takes them."""
    try:
        return " ".join(shlex.quote(str(name)) for name in ast.literal_eval(f"[{listed}]"))
    except (ValueError, SyntaxError):  # a bracket in a name
        return listed
