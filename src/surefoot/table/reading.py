"""Read a table as people have it: text of many kinds, Parquet, Excel, standard input."""

from __future__ import annotations

import csv
import io
import os
import re
import warnings
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd

from surefoot.exceptions import DataError, MissingDependencyError
from surefoot.files import read_limited, read_standard_input
from surefoot.formats import listed, one_line, suggestion
from surefoot.table.cells import with_plain_cells
from surefoot.table.dates import are_months
from surefoot.table.decimals import GROUP, SEVERAL, Signs, signs_of
from surefoot.table.dialect import (
    NO_TEXT,
    SEPARATORS,
    Beginning,
    beginning,
    below_titles,
    checked_separator,
    decoded,
    first_line,
    guessed_separator,
    has_header,
    line_of_names,
    numbered_rows,
    rows_of,
    uneven,
    where,
)
from surefoot.table.marks import the_mark
from surefoot.table.packed import excel_sheet, gunzipped, parquet_frame
from surefoot.table.rare import as_text
from surefoot.table.text_column import DECIMALS, MISSING, OTHER, TextColumn, text_columns

STANDARD_INPUT = "-"
DECIMAL_ROWS = 1000
SMALLEST_DECIMAL = 1e-6  # of thousandths: what is less is rounding
NAMELESS = "\0column "  # before the number of a column without a name; no name in a file holds a zero byte
# What people call tables, too: how it begins. Banks write web pages that are called .xls.
OTHERS = {
    "JSON": re.compile(r"\s*(\{|\[\s*[\[{])"),
    "a web page": re.compile(r"\s*<(html|!doctype|table)", re.IGNORECASE),
    "XML": re.compile(r"\s*<\?xml"),
}
GZIP, ZIP, PARQUET, OLD_EXCEL = b"\x1f\x8b", b"PK\x03\x04", b"PAR1", b"\xd0\xcf\x11\xe0"


@dataclass(frozen=True, eq=False)
class Reading:
    """A table as it was read.

    Parameters
    ----------
    frame : DataFrame
        Numbers, booleans and text; holes are missing values.
    name : str
        What the table is called in messages.
    assumed : tuple of str
        How it was taken to be written, where that is not plain: comma, decimal point, UTF-8.
    notes : tuple of str
        What is missing or was removed.
    units : dict
        Of columns whose numbers have one.
    marks : dict
        Column of numbers -> text in it that means that there is none, beyond the usual.
    day_first : bool
        Whether it is written where days come before months: with decimal commas.
    decimals : dict
        Column whose numbers were written with a comma or a point -> the decimal sign.
    beyond : dict
        Column with values such as <0.1 -> what they are read as.
    doubts : dict
        Column with numbers that may not be what they are read as -> which, and why.
    """

    frame: pd.DataFrame
    name: str
    assumed: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    units: Mapping[str, str] = field(default_factory=dict)
    marks: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    day_first: bool = False
    decimals: Mapping[str, str] = field(default_factory=dict)
    beyond: Mapping[str, str] = field(default_factory=dict)
    doubts: Mapping[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        rows, columns = self.frame.shape
        size = f"{rows:,} row{'s' * (rows != 1)}, {columns} column{'s' * (columns != 1)}"
        head = f"{self.name} read as: {', '.join(self.assumed) or 'comma'}"
        return one_line("; ".join([head, size, *self.notes]))


@dataclass(frozen=True)
class Form:
    """What is known about a table before it is read.

    Parameters
    ----------
    separator, decimal : str, optional
        What separates fields, and the decimal sign. Default: looked for.
    header : bool, optional
        Whether the first row holds names. Default: it must, and is refused where it looks like data.
    as_written : sequence of str
        Columns to keep as they are written, labels and names of rows: '01' is not 1, and NA is a name.
    as_text : sequence of str
        Columns to keep as they are written, but for holes: categories.
    expected : sequence of str
        Names that the table must have.
    max_size : int, optional
        The most bytes that it may have, unpacked. Default: two billion, and no more than 200 times its size
        where it is packed and holds more than 50 million.
    missing : dict
        Column -> values that mean that there is none.
    usual : dict
        Column -> what is known of its decimal sign from the table of which a model was made.
    own_decimals : dict
        Column -> its decimal sign, whatever that of the others is.
    numbers : sequence of str
        Columns that held numbers in the table of which a model was made.
    """

    separator: str | None = None
    decimal: str | None = None
    header: bool | None = None
    as_written: Sequence[str] = ()
    as_text: Sequence[str] = ()
    expected: Sequence[str] = ()
    max_size: int | None = None
    missing: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    usual: Mapping[str, str] = field(default_factory=dict)
    own_decimals: Mapping[str, str] = field(default_factory=dict)
    numbers: Sequence[str] = ()

    def __post_init__(self) -> None:
        if self.separator is not None:
            object.__setattr__(self, "separator", checked_separator(self.separator))
        if self.decimal not in (None, *DECIMALS):
            raise DataError(f"decimal must be ',' or '.', not {self.decimal!r}")
        if self.decimal is not None and self.decimal == self.separator:
            raise DataError(f"{self.decimal!r} cannot separate both fields and decimals")

    @property
    def kept(self) -> list[str]:
        """Columns that are no numbers, whatever they hold."""
        return [*self.as_written, *self.as_text]


def read_table(source: str | os.PathLike[str], form: Form | None = None) -> Reading:
    """Read a file, or standard input for ``-``: comma, semicolon or tab, packed by gzip, Parquet, Excel.

    Parameters
    ----------
    source : path
    form : Form, optional
        What is known about it.

    Raises
    ------
    DataError
        The message names the file and, where it can, the row.
    """
    form = form or Form()
    name = "standard input" if os.fspath(source) == STANDARD_INPUT else os.fspath(source)
    with complaints(name):
        content = _content(source, form.max_size)
        if content.startswith(PARQUET):
            return _with_text_decimal(parquet_frame(content, form.max_size), name, form, ("Parquet",))
        if content.startswith((ZIP, OLD_EXCEL)):
            return _excel(content, name, form)
        return _text(content, name, form)


@contextmanager
def complaints(name: str) -> Iterator[None]:
    """Errors that name the table."""
    try:
        yield
    except OSError as error:
        raise DataError(f"{name}: cannot be read ({error.strerror or error})") from None
    except (EOFError, zlib.error) as error:
        raise DataError(f"{name}: is not a whole gzip file ({error})") from None
    except (DataError, MissingDependencyError) as error:
        known = str(error).startswith(f"{name}: ")
        raise type(error)(str(error) if known else f"{name}: {error}") from None
    except UnicodeDecodeError as error:
        raise DataError(f"{name}: {NO_TEXT.format(error.encoding)}") from None
    except pd.errors.EmptyDataError:
        raise DataError(f"{name}: the file is empty") from None
    except (pd.errors.ParserError, pd.errors.ParserWarning, csv.Error) as error:
        raise DataError(f"{name}: is not a CSV table ({one_line(str(error))})") from None


def duplicate_names(names: Sequence[Any]) -> list[Any]:
    """Names that occur more than once."""
    return [name for name, count in Counter(names).items() if count > 1]


def as_labels(column: pd.Series) -> pd.Series:
    """Text as written, turned into whole numbers or booleans where that loses nothing; empty is missing."""
    text = column.str.strip().replace("", None)
    seen = text.dropna()
    if seen.empty:
        return text
    if seen.isin(["True", "False"]).all():
        return text.map({"True": True, "False": False}).infer_objects()
    if seen.str.fullmatch(r"0|-?[1-9][0-9]{0,17}").all():
        return text.map({value: int(value) for value in seen.unique()}).infer_objects()
    return text


def _content(source: str | os.PathLike[str], largest: int | None) -> bytes:
    standard = os.fspath(source) == STANDARD_INPUT
    packed = read_standard_input(largest) if standard else read_limited(source, largest)
    return gunzipped(packed, largest) if packed.startswith(GZIP) else packed


def _text(content: bytes, name: str, form: Form) -> Reading:
    text, encoding = decoded(content)
    if "\0" in text:
        raise DataError("is neither text nor a table that can be read (CSV, Parquet, Excel)")
    refuse_other(text)
    start = below_titles(text, beginning(text), form.expected, form.separator)
    text = text[start.length :]
    separator = form.separator or start.separator or guessed_separator(text)
    names, header = _checked_names(text, separator, form)
    layout = Layout(text, separator, tuple(names), header, skipped=start.lines)
    try:
        frame, signs, form = with_decimal(layout, form)
    except (pd.errors.ParserError, pd.errors.ParserWarning) as error:
        _refuse_uneven_rows(layout)  # pandas speaks of its own workings
        if "EOF inside string" in str(error):
            raise DataError(_open_quote(layout)) from None
        raise
    last = frame.iloc[:, -1]
    if (last.isna() | (last.astype(str) == "")).any():
        _refuse_uneven_rows(layout)  # too few fields are no holes; pandas does not tell them apart
    assumed = (
        SEPARATORS.get(separator, repr(separator)) if separator != "," else "",
        "decimal comma" if signs.table == "," else "",
        encoding if encoding != "utf-8" else "",
        "" if header else "no header",
    )
    found = finished(frame, name, form, assumed, signs)
    found = replace(found, notes=tuple(filter(None, (comments(start), *found.notes))))
    return replace(found, decimals={**_written_floats(frame, signs), **found.decimals})


def refuse_other(text: str) -> None:
    """Refuse text that is no table of rows and separators."""
    other = next((what for what, begin in OTHERS.items() if begin.match(text)), "")
    if other:
        raise DataError(f"is {other}, which is not read; write the table as CSV, Parquet or Excel")


def comments(start: Beginning) -> str:
    """That lines before the table are left out; "" where there are none but the separator's."""
    count = start.lines - start.titles - (start.separator is not None)
    what = f"{count} line{'s' * (count != 1)} of comments at its top left out" if count else ""
    return ", ".join(filter(None, (what, titles(start.titles))))


def titles(count: int) -> str:
    """That lines above the names of the columns are left out."""
    return f"{count} line{'s' * (count != 1)} above the names left out" if count else ""


def _written_floats(frame: pd.DataFrame, signs: Signs) -> dict[str, str]:
    """The decimal sign of columns that were read as numbers with decimals at once."""
    return dict.fromkeys(_fractions(frame), signs.table)


def _checked_names(text: str, separator: str, form: Form) -> tuple[list[str], bool]:
    """Look at the first lines before pandas does: it would rename, shift or cut what does not fit."""
    rows = rows_of(text, separator)
    first, second = next(rows, []), next(rows, None)
    header = has_header(first, form.header, form.expected)
    names = checked_names([cell.strip() for cell in first]) if header else numbered(len(first))
    if second is not None and len(second) != len(first):
        row = 0 if header else 1
        title = "; if it is a title, leave it out" if header and len(second) > len(first) else ""
        raise DataError(f"{uneven(second, row, len(first), row_before(header))}{title}")
    return names, header


def checked_names(names: Sequence[str]) -> list[str]:
    """The names, refused where one is repeated; columns without one are numbered.

    The first may have no name (see `_without_row_names`), and so may empty ones (`_without_empty_columns`).
    """
    twice = duplicate_names([name for name in names if name])
    if twice:
        raise DataError(f"column name {twice[0]!r} occurs more than once")
    return [
        name or (f"{NAMELESS}{position}" if position > 1 else "") for position, name in enumerate(names, 1)
    ]


def numbered(count: int) -> list[str]:
    """Names for columns that have none."""
    return [f"column_{position + 1}" for position in range(count)]


def row_before(header: bool) -> str:
    """What the row with the expected number of fields is called."""
    return "header" if header else "first row"


@dataclass(frozen=True)
class Layout:
    """A text whose separator and names are known."""

    text: str
    separator: str
    names: tuple[str, ...]
    header: bool
    skipped: int = 0  # lines of the file before the text

    def parsed(self, decimal: str, form: Form, most: int | None = None) -> pd.DataFrame:
        """The first rows, or all of them, when this is the decimal sign."""
        kept = [name for name in form.kept if name in self.names]
        own = [name for name in form.own_decimals if name in self.names]
        with warnings.catch_warnings():
            warnings.simplefilter("error", pd.errors.ParserWarning)
            return pd.read_csv(
                io.StringIO(self.text),
                sep=self.separator,
                header=0 if self.header else None,
                names=list(self.names),
                decimal=decimal,
                index_col=False,
                low_memory=False,
                nrows=most,
                dtype=dict.fromkeys((*kept, *own), str),
                keep_default_na=False,
                na_values={name: list(MISSING) for name in self.names if name not in form.as_written},
            )


def with_decimal(layout: Layout, form: Form) -> tuple[pd.DataFrame, Signs, Form]:
    """The table, its decimal signs (that of the first rows, unless later ones differ), its text columns."""
    used = form.decimal or "."
    if form.decimal is None:
        sample = layout.parsed(".", form, DECIMAL_ROWS)
        commas = any(column.proves(",") for column in text_columns(sample, form.kept, form.numbers))
        used = "," if commas and not _with_points(layout, form, sample)[0] else "."
    frame = layout.parsed(used, form)
    names = [*_zero_padded(layout, frame), *_pointed_months(layout, frame)]
    if names:
        form = replace(form, as_text=[*form.as_text, *names])
        frame = layout.parsed(used, form)
    columns, proven = text_columns(frame, form.kept, form.numbers), "," if _fractions(frame) else ""
    if form.decimal is None and used == ".":
        points, doubtful = _with_points(layout, form, frame)
        columns, proven = [*columns, *doubtful], "." if points else ""

    def signs_with(more: list[TextColumn]) -> Signs:
        said = form.decimal, form.usual, form.own_decimals
        by = len(_fractions(frame)) - len(more)
        every = [*columns, *more]
        return signs_of(every, *said, proven=proven, proven_by=by, separator=layout.separator)

    signs = signs_with([])
    taken = _taken_for_numbers(layout, form, frame, used, signs) if proven else []
    signs = signs_with(taken) if taken else signs
    form = replace(form, own_decimals=signs.own)
    again = signs.table != used or any(frame[name].dtype.kind == "f" for name in signs.own if name in frame)
    return (layout.parsed(signs.table, form) if again else frame), signs, form


def _taken_for_numbers(
    layout: Layout, form: Form, frame: pd.DataFrame, used: str, signs: Signs
) -> list[TextColumn]:
    """Columns taken for numbers with decimals whose signs may group digits, where others have both signs.

    Or where the table of which a model was made says so.
    """
    both = OTHER[used] in signs.own.values()
    names = [
        name
        for name in _fractions(frame)
        if both or form.usual.get(name, used) != used or _may_be_grouped(frame[name])
    ]
    if form.decimal is not None or not names:
        return []
    texts = layout.parsed(used, replace(form, as_text=[*form.as_text, *names]))
    return [column for name in names if (column := TextColumn.of(name, texts[name])).is_unclear]


def _may_be_grouped(numbers: pd.Series) -> bool:
    """Whether numbers may be 1.234 for 1234 beside 987: at most three decimals, and several have none."""
    seen = np.unique(numbers.dropna().abs())
    whole = seen % 1 == 0
    thousandths = seen * GROUP
    few_decimals = np.abs(thousandths.round() - thousandths).max() < SMALLEST_DECIMAL
    return bool(whole.sum() >= SEVERAL and seen[-1] < GROUP and seen[~whole][0] >= 1 and few_decimals)


def _with_points(layout: Layout, form: Form, frame: pd.DataFrame) -> tuple[bool, list[TextColumn]]:
    """Whether numbers with points are decimals beyond doubt; else the columns that are in doubt, as text.

    ``1.234`` may be a group of digits. ``0.5`` and ``1.25`` cannot be one.
    """
    numbers = frame[_fractions(frame)]
    if ((numbers.abs() < 1) & (numbers != 0)).any(axis=None):
        return True, []
    names = list(numbers.columns)
    found: list[TextColumn] = []
    for most in (DECIMAL_ROWS, None) if names else ():
        texts = layout.parsed(".", replace(form, as_text=[*form.as_text, *names]), most)
        found = [TextColumn.of(name, texts[name]) for name in names]
        if any(column.proves(".") for column in found):
            return True, []
    return False, [column for column in found if column.is_unclear]


def _zero_padded(layout: Layout, frame: pd.DataFrame) -> list[str]:
    """Columns of whole numbers some of which begin with a zero, as postcodes do: they are names."""
    whole = [
        name for name in frame.columns if frame[name].dtype.kind in "iuf" and not (frame[name] % 1).any()
    ]
    if not whole or not re.search(rf'(^|[{re.escape(layout.separator)}"\s])0\d', layout.text, re.MULTILINE):
        return []
    texts = layout.parsed(".", Form(as_text=whole))
    return [name for name in whole if texts[name].str.match(r"\s*0\d").fillna(False).any()]


def _pointed_months(layout: Layout, frame: pd.DataFrame) -> list[str]:
    """Columns of months such as 03.2012, which were taken for numbers with decimals."""
    months = [name for name in _fractions(frame) if frame[name].dropna().between(1, 13).all()]
    if not months:
        return []
    texts = layout.parsed(".", Form(as_text=months))
    return [name for name in months if are_months(TextColumn.of(name, texts[name]).texts)]


def _fractions(frame: pd.DataFrame) -> list[str]:
    """Columns that have been read as numbers with decimals."""
    numbers = frame.select_dtypes("float")
    return list(numbers.columns[((numbers % 1).fillna(0) != 0).any()])


def _open_quote(layout: Layout) -> str:
    """Where the quote begins that the end of the file does not close."""
    *_, (line, row) = numbered_rows(layout.text, layout.separator)
    return f"a quote is not closed; it begins in line {first_line(row, line) + layout.skipped} of the file"


def _refuse_uneven_rows(layout: Layout) -> None:
    """Name the first row with fewer or more fields than there are names."""
    width, first = len(layout.names), -1 if layout.header else 0
    for number, (line, row) in enumerate(numbered_rows(layout.text, layout.separator), start=first):
        if len(row) == width:
            continue
        what = uneven(row, number, width, row_before(layout.header))
        raise DataError(f"{what}{where(row, line + layout.skipped, width)}")


def _excel(content: bytes, name: str, form: Form) -> Reading:
    found = excel_sheet(content, form.max_size, form.expected)
    cells = found.cells.dropna(how="all").dropna(how="all", axis=1)
    if cells.empty:
        raise DataError(f"sheet {found.title!r} is empty")
    above = max(line_of_names(cells.itertuples(index=False, name=None), form.expected) - 1, 0)
    cells = cells.iloc[above:].dropna(how="all", axis=1)
    first = ["" if pd.isna(cell) else str(cell).strip() for cell in cells.iloc[0]]
    header = has_header(first, form.header, form.expected)
    names = checked_names(first) if header else numbered(len(first))
    frame = cells.iloc[1 if header else 0 :].set_axis(names, axis=1).reset_index(drop=True)
    sheet = f"sheet {found.title!r} of {found.sheets}" if found.sheets > 1 else ""
    merged = "merged cells as their value" if found.merged else ""
    how = ("Excel", sheet, merged, titles(above), "" if header else "no header")
    return _with_text_decimal(frame.infer_objects(), name, form, how)


def _with_text_decimal(frame: pd.DataFrame, name: str, form: Form, how: Sequence[str]) -> Reading:
    """A table whose numbers are numbers, but for those that were typed as text."""
    frame = with_plain_cells(frame)
    signs = signs_of(
        text_columns(frame, form.kept, form.numbers), form.decimal, form.usual, form.own_decimals
    )
    return finished(frame, name, form, (*how, "decimal comma" if signs.table == "," else ""), signs)


def finished(frame: pd.DataFrame, name: str, form: Form, assumed: Sequence[str], signs: Signs) -> Reading:
    """Blanks at the ends of values removed, and columns of text that hold numbers turned into them."""
    _refuse_unknown(form.own_decimals, frame)
    frame, unnamed = _without_row_names(_without_empty_columns(frame))
    found = _without_marks(frame, form)
    columns, read = text_columns(found, (), form.numbers), list[tuple[TextColumn, str]]()
    for column in columns:
        sign = signs.of(column.name)
        if column.name in form.as_written:
            found[column.name] = as_labels(column.series)
        elif column.name in form.as_text:
            found[column.name] = as_labels(column.stripped())
        elif column.holds_numbers(sign) and not column.begins_with_zeros:
            found[column.name] = column.numbers(sign)
            read.append((column, sign))
        else:
            found[column.name] = column.stripped()
    notes = (
        unnamed,
        *signs.notes,
        _blanks([column.name for column in columns if column.padded]),
        _holes(found.drop(columns=list(form.as_written), errors="ignore")),
    )
    return Reading(
        found,
        name,
        assumed=tuple(filter(None, assumed)),
        notes=tuple(filter(None, notes)),
        units={one.name: one.unit for one, _ in read if one.unit},
        marks={one.name: known for one, _ in read if (known := one.marks)},
        day_first=signs.table == ",",
        decimals={one.name: sign for one, sign in read if one.sign},
        beyond={one.name: said for one, sign in read if (said := one.beyond(sign))},
        doubts={one.name: said for one, sign in read if (said := one.doubt(sign))},
    )


def _refuse_unknown(names: Iterable[str], frame: pd.DataFrame) -> None:
    """Refuse a decimal sign of a column that is not there."""
    for name in names:
        if name not in frame.columns:
            hint = suggestion(name, frame.columns) or f"; the columns are {listed(list(frame.columns))}"
            raise DataError(f"there is no column {name!r}{hint}")


def framed(frame: pd.DataFrame, form: Form) -> Reading:
    """A frame as if it were read from a file: numbers that are text become numbers."""
    return _with_text_decimal(frame.reset_index(drop=True), "", form, ())


def _without_marks(frame: pd.DataFrame, form: Form) -> pd.DataFrame:
    """The table without the text that means that there is no value."""
    found = frame.copy(deep=False)
    for name, values in form.missing.items():
        if name in frame.columns and not pd.api.types.is_numeric_dtype(frame[name]):
            found[name] = frame[name].mask(frame[name].astype(str).str.strip().isin([str(v) for v in values]))
    return found


def _without_empty_columns(frame: pd.DataFrame) -> pd.DataFrame:
    """The table without columns that have neither a name nor a value, as spreadsheets write them."""
    for name in [name for name in frame.columns if str(name).startswith(NAMELESS)]:
        held = frame[name].dropna()
        held = held[held.astype(str).str.strip() != ""]
        if len(held):
            number, example = str(name).removeprefix(NAMELESS), as_text(held.iloc[0])
            raise DataError(f"column {number} has no name, and row {held.index[0]} holds {example[:40]!r}")
        frame = frame.drop(columns=name)
    return frame


def _without_row_names(frame: pd.DataFrame) -> tuple[pd.DataFrame, str]:
    """What pandas and R write before the first column when nobody tells them not to."""
    if not len(frame.columns) or frame.columns[0] != "":
        return frame, ""
    first = frame[""]
    if first.nunique() < len(first) or _fractions(frame[[""]]) or frame.shape[1] == 1:
        raise DataError("column 1 has no name")
    return frame.drop(columns=""), "column 1 left out: it has no name and differs in every row"


def _blanks(names: Sequence[Any]) -> str:
    return f"blanks removed around values of {_first(names)}" if names else ""


def _holes(frame: pd.DataFrame) -> str:
    """How much is missing, and where."""
    counts = frame.isna().sum()
    where = [name for name in frame.columns if counts[name] and not the_mark(frame[name])]
    total = sum(int(counts[name]) for name in where)
    return f"{total:,} missing value{'s' * (total != 1)} in {_first(where)}" if where else ""


def _first(names: Sequence[Any]) -> str:
    """The first column by name, the others by number."""
    others = len(names) - 1
    more = f" and {others} more column{'s' * (others != 1)}" if others else ""
    return f"{names[0]!r}{more}"
