"""How a text table is written: its encoding, what separates its fields, whether it has a header line."""

from __future__ import annotations

import codecs
import csv
import io
import itertools
import re
from collections.abc import Iterator, Sequence

from surefoot.exceptions import DataError
from surefoot.formats import listed

SAMPLE_ROWS = 100
SEPARATORS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "vertical bar"}
# Byte order marks, longest first: the one of UTF-32 begins like the one of UTF-16.
MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
NUMBER = re.compile(r"[+-]?(\d+([.,]\d*)*|[.,]\d+)([eE][+-]?\d+)?")
SEPARATOR_LINE = re.compile(r'"?sep=(.)"?\r?\n')


def decoded(content: bytes) -> tuple[str, str]:
    """The text of a file and its encoding, by its byte order mark, or else UTF-8, or else Latin-1.

    Examples
    --------
    >>> decoded("größe".encode("latin-1"))
    ('größe', 'latin-1')
    """
    for mark, encoding in MARKS.items():
        if content.startswith(mark):
            return content.decode(encoding), encoding.removesuffix("-sig")
    try:
        return content.decode("utf-8"), "utf-8"
    except UnicodeDecodeError:
        pass
    # Bytes 80 to 9F are control characters in Latin-1; where Windows wrote them they are quotes and euros.
    try:
        wider = any(0x80 <= byte <= 0x9F for byte in set(content))
        return (content.decode("cp1252"), "windows-1252") if wider else (content.decode("latin-1"), "latin-1")
    except UnicodeDecodeError:
        return content.decode("latin-1"), "latin-1"


def declared_separator(text: str) -> tuple[str | None, str]:
    """What a first line ``sep=;``, which spreadsheets write, says; and the text after it."""
    found = SEPARATOR_LINE.match(text)
    return (found[1], text[found.end() :]) if found else (None, text)


def checked_separator(separator: str) -> str:
    """A single character; a backslash and a t are a tab."""
    separator = "\t" if separator == "\\t" else separator
    if len(separator) != 1 or not separator.isascii() or separator in '\r\n"':
        raise DataError(f"separator must be a single character, not {separator!r}")
    return separator


def guessed_separator(text: str) -> str:
    r"""The separator that the first rows agree on; where several do, that of more fields, then more numbers.

    Examples
    --------
    >>> guessed_separator("size; weight\n1,5;3\n2,5;4\n")
    ';'
    """

    def merit(separator: str) -> tuple[bool, int, int]:
        rows = list(itertools.islice(rows_of(text, separator), SAMPLE_ROWS)) or [[]]
        numbers = sum(bool(NUMBER.fullmatch(cell.strip())) for row in rows for cell in row)
        agree = len({len(row) for row in rows}) == 1 and len(rows[0]) > 1
        return agree, len(rows[0]), numbers

    return max(SEPARATORS, key=merit)


def rows_of(text: str, separator: str) -> Iterator[list[str]]:
    """The rows of a text table; empty lines are none."""
    return (row for _, row in numbered_rows(text, separator))


def numbered_rows(text: str, separator: str) -> Iterator[tuple[int, list[str]]]:
    """The rows of a text table, each with the line that it ends in, counted from 1."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
    return ((reader.line_num, row) for row in reader if row)


def has_header(first: Sequence[str], header: bool | None, expected: Sequence[str]) -> bool:
    """Whether the first row holds names; refused where it may be data and nobody has said.

    Parameters
    ----------
    first : sequence of str
        The first row.
    header : bool or None
        What the user says.
    expected : sequence of str
        Names that the table must have: found in the first row they are a header.
    """
    if header is not None:
        return header
    numbers = [cell.strip() for cell in first if NUMBER.fullmatch(cell.strip())]
    telling = len(expected) > 2 or any(not NUMBER.fullmatch(name) for name in expected)
    if not numbers or (telling and set(expected) <= {cell.strip() for cell in first}):
        return True
    raise DataError(
        f"the first row looks like data, not like names: {listed([c.strip() for c in first], 4)}; "
        "say --no-header (header=False) if it is data, or --header (header=True) if these are names"
    )
