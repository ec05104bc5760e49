"""Numbers as people write them, and names that can do no harm where they are printed."""

from __future__ import annotations

import json
import math
import re
import textwrap
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import Any

NO_BREAK = "\N{NO-BREAK SPACE}"
BEFORE_PER_CENT = re.compile(r"(?<=\d) (?=%)")


def number(value: float, unit: float | None = None) -> str:
    """The value with as many decimals as matter.

    Parameters
    ----------
    value : float
    unit : float, optional
        What counts as a noticeable step, such as a standard deviation: a hundredth of it is still shown.
        Left out: four significant digits.

    Examples
    --------
    >>> number(20143.7, 9000.0), number(6.5e-10, 2.0), number(0.0123456), number(-1.25, 3.0)
    ('20,144', '0.00', '0.01235', '-1.25')
    """
    if math.isnan(value):
        return "-"
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    scale = abs(value) if unit is None else unit
    if not (math.isfinite(scale) and scale > 0):
        return f"{value:g}"
    if not (1e-6 < scale < 1e9 and abs(value) < 1e12):
        return f"{value:.4g}"
    digits = max(0, (3 if unit is None else 2) - math.floor(math.log10(scale)))
    text = f"{value:,.{digits}f}"
    return text.removeprefix("-") if float(text.replace(",", "")) == 0 else text


def exact(value: float) -> str:
    """The shortest text that reads back as the same number.

    Examples
    --------
    >>> exact(1234567.25), exact(3.0), exact(0.1), exact(1e30), exact(-math.inf)
    ('1234567.25', '3', '0.1', '1e+30', '-inf')
    """
    return repr(float(value)).removesuffix(".0")


def value_text(value: Any) -> str:
    """A value as people write it.

    Examples
    --------
    >>> value_text(12345.5), value_text(3.0), value_text("own"), value_text(None)
    ('12,345.5', '3', 'own', 'missing')
    """
    if value is None:
        return "missing"
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    return f"{value:,}".removesuffix(".0") if abs(value) < 1e15 else f"{value:g}"


def named_value(value: Any) -> str:
    """A value in a sentence: text that could be read as more than one word of it in quotes.

    Examples
    --------
    >>> named_value("200 DM or more"), named_value("own"), named_value(5951.0)
    ("'200 DM or more'", 'own', '5,951')
    """
    text = one_line(value_text(value))
    is_word = text.replace("-", "").replace("_", "").isalnum()
    return repr(text) if isinstance(value, str) and not is_word else text


def share(value: float) -> str:
    """A probability in per cent; nearly sure is not sure.

    Examples
    --------
    >>> share(0.5), share(0.00001), share(0.9999)
    ('50.0 %', 'below 0.1 %', 'above 99.9 %')
    """
    if math.isnan(value):
        return "-"
    if 0 < value < 0.0005:
        return "below 0.1 %"
    if 0.9995 < value < 1:
        return "above 99.9 %"
    return f"{value * 100:.1f} %"


def part(value: float) -> str:
    """A share in per cent, rounded down: what is not all of it does not read as all of it.

    Examples
    --------
    >>> part(1.0), part(0.9999999), part(0.98765)
    ('100 %', '99.99 %', '98.76 %')
    """
    if math.isnan(value):
        return "-"
    if not value < 1:
        return "100 %"
    return f"{math.floor(max(value, 0.0) * 1e4) / 100:.2f} %"


def sentence(text: str) -> str:
    """A text as a sentence: a capital first and a full stop last.

    Examples
    --------
    >>> sentence("the row has no value for 'age'")
    "The row has no value for 'age'."
    """
    if not text:
        return ""
    return text[0].upper() + text[1:] + ("" if text[-1] in ".!?" else ".")


def one_line(text: str) -> str:
    """Printable text on one line: what every face makes of names, which come from files that others wrote.

    Line breaks become blanks, since a name could print a line that looks like a result; what steers a
    terminal or turns the direction of text is replaced.

    Examples
    --------
    >>> one_line("a" + chr(10) + "holds everything")
    'a holds everything'
    """
    return printable(" ".join(text.split())) if not text.isprintable() else text


def spelled_out(text: str) -> str:
    r"""Text on one line in which what cannot be seen is written as an escape.

    Examples
    --------
    >>> spelled_out("a" + chr(10) + "b")
    'a\\nb'
    """
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def wrapped(text: str, width: int) -> str:
    """Sentences no wider than a terminal, broken between words; tables, which are indented, as they are.

    A number keeps its per cent sign.

    Examples
    --------
    >>> print(wrapped("Smallest: the distance is -0.5" + chr(10) + "  feature  from  to", 20))
    Smallest: the
      distance is -0.5
      feature  from  to
    >>> print(wrapped("Decided no: it is 50.9 % now", 23))
    Decided no: it is
      50.9 % now
    """
    return "\n".join(
        _filled(line, width) if len(line) > width and line[:1] != " " else line for line in text.split("\n")
    )


def _filled(line: str, width: int) -> str:
    kept = BEFORE_PER_CENT.sub(NO_BREAK, line)
    kept = textwrap.fill(kept, width, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)
    return kept.replace(f"{NO_BREAK}%", " %")


def printable(text: str) -> str:
    """The text with control characters replaced, which terminals obey and HTML does not allow.

    Examples
    --------
    >>> printable("a" + chr(27) + "[2Jb") == "a" + chr(0xFFFD) + "[2Jb"
    True
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in "\n\t" else "\N{REPLACEMENT CHARACTER}" for c in text)


FORMULA = tuple(
    "=+-@\t\r\n\N{FULLWIDTH EQUALS SIGN}\N{FULLWIDTH PLUS SIGN}\N{FULLWIDTH HYPHEN-MINUS}"
    "\N{FULLWIDTH COMMERCIAL AT}"
)


def cell(value: Any) -> Any:
    """A cell of a table that spreadsheets open: text that they would run has an apostrophe in front.

    Numbers stay as they are, and so does text that is a number.

    Examples
    --------
    >>> cell("=1+1"), cell("-1+1"), cell("-1.5"), cell(-1.5), cell("a-b")
    ("'=1+1", "'-1+1", '-1.5', -1.5, 'a-b')
    """
    if not isinstance(value, str):
        return value
    text = one_line(value)
    runs = value.startswith(FORMULA) or text.startswith(FORMULA)
    return f"'{text}" if runs and not _is_number(value) else text


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return text.isprintable()


def escaped(text: str) -> str:
    r"""JSON text with escapes for what must not be printed as it is; it reads as the same values.

    Examples
    --------
    >>> escaped('{"a' + chr(0x202E) + '": 1}')
    '{"a\\u202e": 1}'
    """
    if text.isascii() and "\x7f" not in text:
        return text
    # Half of a pair is no character, and stays for whoever encodes the text to complain of.
    hidden = {c for c in set(text) if not c.isprintable() and c != "\n" and not "\ud800" <= c <= "\udfff"}
    return text.translate({ord(c): json.dumps(c)[1:-1] if c != "\x7f" else "\\u007f" for c in hidden})


def suggestion(name: str, known: Iterable[Any]) -> str:
    """The end of a complaint about an unknown name: which of the known ones may be meant.

    Examples
    --------
    >>> suggestion("Age ", ["age", "sex"]), suggestion("HIGHT", ["height", "weight"]), suggestion("x", ["y"])
    ("; did you mean 'age'?", "; did you mean 'height'?", '')
    """
    texts = {str(other): other for other in known}
    small = {text.strip().casefold(): text for text in texts}
    alike = [text for text in texts if text.strip().casefold() == name.strip().casefold()]
    close = alike or get_close_matches(name, texts, n=1)
    close = close or [small[text] for text in get_close_matches(name.strip().casefold(), small, n=1)]
    return f"; did you mean {texts[close[0]]!r}?" if close else ""


def in_list(name: Any) -> str:
    """A name as it stands in a list: in quotes where it holds what separates the names of one.

    Examples
    --------
    >>> in_list("age"), in_list("rent, own or free")
    ('age', "'rent, own or free'")
    """
    text = one_line(str(name))
    return repr(text) if "," in text or ";" in text else text


def listed(names: Sequence[Any], most: int = 8) -> str:
    """The first names in quotes.

    Examples
    --------
    >>> listed(["age", "sex", "income"], most=2)
    "'age', 'sex', ..."
    """
    return ", ".join(repr(name) for name in names[:most]) + (", ..." if len(names) > most else "")


def in_a_row(parts: Sequence[str]) -> str:
    """Parts of a sentence, the last of them after "and".

    Examples
    --------
    >>> in_a_row(["age"]), in_a_row(["age", "sex", "region"])
    ('age', 'age, sex and region')
    """
    return " and ".join(filter(None, [", ".join(parts[:-1]), *parts[-1:]]))


def first_names(names: Sequence[str], most: int = 12) -> str:
    """The first of some names, and how many more there are.

    Examples
    --------
    >>> first_names(["age", "sex", "income"], most=2)
    'age, sex and 1 more'
    """
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def first_parts(parts: Sequence[str], most: int, between: str = "; ") -> str:
    """The first of some parts of a sentence, and how many more there are.

    Examples
    --------
    >>> first_parts(["age is constant", "sex is missing", "pay is text"], most=2)
    'age is constant; sex is missing; and 1 more'
    """
    more = f"{between}and {len(parts) - most} more" if len(parts) > most else ""
    return between.join(parts[:most]) + more
