"""How a text table is written: its encoding, what separates its fields, whether it has a header line."""

from __future__ import annotations

import codecs
import csv
import io
import itertools
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from surefoot.exceptions import DataError
from surefoot.formats import listed

SAMPLE_ROWS = 100
# Characters in which it is looked for names of columns. Ten times as many take ten times as long, and a tenth
# might not hold a second row of a wide table.
LOOKED_AT = 100_000
# Lines in which it is looked for the names of columns, below a title. Ten times as many, and a row of the
# data that holds the name of the label may be taken for them.
TITLE_ROWS = 10
SEPARATORS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "vertical bar"}
# Byte order marks, longest first: the one of UTF-32 begins like the one of UTF-16.
MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
# Files that were put together: some rows in UTF-8, others as Windows writes them.
MIXED = "utf-8 and windows-1252"
NO_TEXT = "is not whole text in {}, as which it begins"
WIDE = re.compile(rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}")
# Characters in UTF-8 for each byte that is none. Ten times larger, and a file with a few rows in UTF-8 is
# read as Windows would; with a tenth, a quote behind a capital with an accent is taken for UTF-8.
SOME = 0.1
NUMBER = re.compile(r"[+-]?(\d+([.,]\d*)*|[.,]\d+)([eE][+-]?\d+)?")
SEPARATOR_LINE = re.compile(r'"?sep=(.)"?\r?\n')
COMMENT_LINE = re.compile(r"#( [^\r\n]*|[^,;\t|\r\n]*)(\r\n|\n|\r)")  # "#nr;age" are names


def decoded(content: bytes) -> tuple[str, str]:
    """The text of a file and its encoding, by its byte order mark, or else UTF-8, or else Latin-1.

    Examples
    --------
    >>> decoded("größe".encode("latin-1"))
    ('größe', 'latin-1')
    """
    for mark, encoding in MARKS.items():
        if content.startswith(mark) and mark != codecs.BOM_UTF8:
            return content.decode(encoding), encoding
    try:
        return content.decode("utf-8-sig"), "utf-8"
    except UnicodeDecodeError:
        pass
    if content.startswith(codecs.BOM_UTF8) or are_mixed(*counted(content)):
        return content.decode(*codec(MIXED)), MIXED
    # Bytes 80 to 9F are control characters in Latin-1; where Windows wrote them they are quotes and euros.
    try:
        wider = any(0x80 <= byte <= 0x9F for byte in set(content))
        return (content.decode("cp1252"), "windows-1252") if wider else (content.decode("latin-1"), "latin-1")
    except UnicodeDecodeError:
        return content.decode("latin-1"), "latin-1"


def counted(content: bytes) -> tuple[int, int]:
    """How many characters of several bytes in UTF-8 there are, and how many bytes that are part of none."""
    beyond = content.translate(None, bytes(range(0x80)))
    wide = WIDE.findall(content) if beyond else []
    return len(wide), len(beyond) - sum(map(len, wide))


def are_mixed(wide: int, strange: int) -> bool:
    """Whether a text is UTF-8 in some rows and not in others."""
    return strange > 0 and wide >= max(1, SOME * strange)


def codec(encoding: str) -> tuple[str, str]:
    """What Python calls an encoding, and what is done about bytes that are none of it."""
    return ("utf-8-sig", WINDOWS) if encoding == MIXED else (encoding, "strict")


def _as_windows(error: UnicodeError) -> tuple[str, int]:
    """The first byte that is no UTF-8 as Windows writes it."""
    assert isinstance(error, UnicodeDecodeError)
    byte = error.object[error.start : error.start + 1]
    return byte.decode("cp1252" if byte[0] not in UNUSED else "latin-1"), error.start + 1


WINDOWS = "surefoot.windows"
UNUSED = {0x81, 0x8D, 0x8F, 0x90, 0x9D}  # bytes that are no character in Windows' encoding
codecs.register_error(WINDOWS, _as_windows)


class Beginning(NamedTuple):
    """What stands before a table: the separator that it declares, how long it is, and in how many lines.

    ``titles`` of these are above the names of the columns, and no comments.
    """

    separator: str | None
    length: int
    lines: int
    titles: int = 0


def beginning(text: str) -> Beginning:
    r"""A first line ``sep=;``, which spreadsheets write, and comments: ``# `` or ``#`` and a single field.

    The last of these is none where it has a field for each column of the first line below, and that line is
    not plainly the one with the names: numpy writes names so.

    Examples
    --------
    >>> beginning("# exported today\nage,risk\n31,low\n")
    Beginning(separator=None, length=17, lines=1, titles=0)
    """
    found = SEPARATOR_LINE.match(text)
    ends = [found.end()] if found else []
    while comment := COMMENT_LINE.match(text, ends[-1] if ends else 0):
        ends.append(comment.end())
    if len(ends) > bool(found) and _names_columns(text[ends[-2] if len(ends) > 1 else 0 :]):
        ends.pop()
    return Beginning(found[1] if found else None, ends[-1] if ends else 0, len(ends))


def below_titles(text: str, start: Beginning, expected: Collection[str], separator: str | None) -> Beginning:
    r"""The same with the lines above the names of the columns, where a line below has all that are expected.

    Examples
    --------
    >>> below_titles("Loans 2021,,\n\nage,risk\n31,low\n", Beginning(None, 0, 0), ["risk"], None)[1:]
    (13, 1, 1)
    """
    ends, rows = [start.length], list[Sequence[str]]()
    while len(rows) < TITLE_ROWS and expected:
        rest = text[ends[-1] : ends[-1] + LOOKED_AT]
        rows.append(next(rows_of(rest, separator or start.separator or guessed_separator(rest)), []))
        above = line_of_names(rows, expected) - 1
        if above >= 0:
            return (
                start._replace(length=ends[above], lines=start.lines + above, titles=above)
                if above
                else start
            )
        ends.append(text.find("\n", ends[-1]) + 1)
        if not ends[-1]:
            break
    return start


def line_of_names(rows: Iterable[Sequence[Any]], expected: Collection[str]) -> int:
    """Which row, from 1, is the first with all expected names and more cells than any above; 0 for none."""
    most = 0
    for number, row in enumerate(itertools.islice(rows, TITLE_ROWS if expected else 0), 1):
        cells = [str(cell).strip() for cell in row if cell is not None and cell == cell]
        held = sum(bool(cell) for cell in cells)
        if set(expected) <= set(cells) and held > most:
            return number
        most = max(most, held)
    return 0


def _names_columns(text: str) -> bool:
    """Whether the first line of a text has the names of the columns, and not the line below it."""
    some = text[:LOOKED_AT]
    rows = list(itertools.islice(rows_of(some, guessed_separator(some)), SAMPLE_ROWS))
    if len(rows) < 2 or not len(rows[0]) == len(rows[1]) > 1:
        return False
    columns = zip(*(row for row in rows[1:] if len(row) == len(rows[1])), strict=True)
    numbers = [[bool(NUMBER.fullmatch(cell.strip())) for cell in column] for column in columns]
    return not any(len(below) > 1 and not below[0] and all(below[1:]) for below in numbers)


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


def uneven(row: Sequence[str], number: int, width: int, before: str) -> str:
    """That a row has another number of fields than the one ``before``."""
    fields = f"{len(row)} field{'s' * (len(row) != 1)}"
    return f"row {number} has {fields}, but the {before} has {width}"


def first_line(row: Sequence[str], line: int) -> int:
    """The line in which a row begins that ends in this one."""
    ends = sum(len(re.findall(r"\r\n|\n|\r", cell)) for cell in row)
    return (
        line - ends + row[-1].endswith(("\n", "\r"))
    )  # the end of the file closes a quote behind its last line


def where(row: Sequence[str], line: int, width: int) -> str:
    """The lines of a row with too few or too many fields, and what may be wrong."""
    first = first_line(row, line)
    if first < line:
        return f" (lines {first} to {line} of the file; is a quote not closed?)"
    if len(row) == 1 < width - 1:
        return f" (line {line} of the file; if it is a remark, leave it out)"
    quotes = "; text that holds the separator must stand in quotes" if len(row) > width > 1 else ""
    return f" (line {line} of the file{quotes})"


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
