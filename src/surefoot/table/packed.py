"""Tables that come packed: gzip, Parquet, Excel. What they hold is bounded before it is unpacked."""

from __future__ import annotations

import gzip
import io
import math
import re
import zipfile
import zlib
from collections.abc import Collection
from typing import Any, NamedTuple

import pandas as pd

from surefoot.exceptions import DataError, MissingDependencyError
from surefoot.files import LARGEST, read_up_to, too_large, unpacked_limit
from surefoot.formats import one_line
from surefoot.table.dialect import TITLE_ROWS, line_of_names

# Bytes that a cell takes at least when it is read. Ten times larger, and sheets of ten columns that
# spreadsheets can hold are refused.
EXCEL_CELL, PARQUET_CELL = 64, 8
# Rows of a sheet. Ten times larger, and a file that names a row far off holds the reader up for seconds.
EXCEL_ROWS = 1 << 20
MERGED = re.compile(r'<(?:\w+:)?mergeCell\s[^>]*ref="([A-Z]+\d+:[A-Z]+\d+)"')


def gunzipped(packed: bytes, largest: int | None) -> bytes:
    """What a gzip file holds."""
    limit, complaint = unpacked_limit(len(packed), largest)
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(packed)) as file:
            return read_up_to(file, limit, complaint)  # type: ignore[arg-type]
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise DataError(f"is not a whole gzip file ({error})") from None


def parquet_frame(content: bytes, largest: int | None) -> pd.DataFrame:
    """The table of a Parquet file."""
    try:
        from pyarrow.parquet import read_metadata

        refuse_large_parquet(read_metadata(io.BytesIO(content)), LARGEST if largest is None else largest)
        frame = pd.read_parquet(io.BytesIO(content))
    except ImportError:
        raise MissingDependencyError("Parquet files need pyarrow: pip install pyarrow") from None
    except DataError:
        raise
    except Exception as error:  # each reader has errors of its own
        raise DataError(f"is not a Parquet table ({one_line(str(error))})") from None
    named = any(level is not None for level in frame.index.names)
    frame = frame.reset_index(drop=not named)
    return frame.set_axis([str(name) for name in frame.columns], axis=1)


def refuse_large_parquet(about: Any, largest: int) -> None:
    """Refuse by its metadata: a column that repeats one value takes next to nothing in a file."""
    stored = sum(about.row_group(k).total_byte_size for k in range(about.num_row_groups))
    if max(stored, about.num_rows * about.num_columns * PARQUET_CELL) > largest:
        raise DataError(f"unpacked, {too_large(largest)}")


class Sheet(NamedTuple):
    """The cells of a sheet, its name, how many sheets there are, and how many ranges of cells are merged."""

    cells: pd.DataFrame
    title: str
    sheets: int
    merged: int = 0


def excel_sheet(content: bytes, largest: int | None, expected: Collection[str] = ()) -> Sheet:
    """The first sheet in which a row has the expected names, or else the first of all."""
    try:
        if content.startswith(b"PK"):
            return _modern_sheet(content, largest, expected)
        kept: dict[str, Any] = {"dtype": object, "keep_default_na": False, "na_values": [""]}
        cells = pd.read_excel(io.BytesIO(content), sheet_name=None, header=None, **kept)
    except ImportError as error:
        package = "xlrd" if "xlrd" in str(error) else "openpyxl"
        raise MissingDependencyError(f"Excel files need {package}: pip install {package}") from None
    except DataError:
        raise
    except Exception as error:  # each reader has errors of its own
        raise DataError(f"is not an Excel table ({one_line(str(error))})") from None
    sheets = [Sheet(frame, str(title), len(cells)) for title, frame in cells.items()]
    rows = (sheet.cells.itertuples(index=False, name=None) for sheet in sheets)
    named = (sheet for sheet, some in zip(sheets, rows, strict=True) if line_of_names(some, expected))
    return next(named, sheets[0])


def _modern_sheet(content: bytes, largest: int | None, expected: Collection[str]) -> Sheet:
    import openpyxl

    limit, complaint = unpacked_limit(len(content), largest)
    with zipfile.ZipFile(io.BytesIO(content)) as packed:
        if sum(entry.file_size for entry in packed.infolist()) > limit:
            raise DataError(complaint)
    book = openpyxl.load_workbook(io.BytesIO(content), read_only=True, data_only=True, keep_links=False)
    sheets = book.worksheets
    chosen = next((sheet for sheet in sheets if _has_names(sheet, expected)), sheets[0])
    cells = _cells(chosen, LARGEST if largest is None else largest)
    merged = _merged_down(content, chosen)
    values = cells.to_numpy(copy=True)
    for first, last, column in merged:
        if first < len(values) and column < values.shape[1]:
            values[first + 1 : last + 1, column] = values[first, column]
    return Sheet(pd.DataFrame(values), str(chosen.title), len(sheets), len(merged))


def _has_names(sheet: Any, expected: Collection[str]) -> bool:
    sheet.reset_dimensions()
    rows = ([cell.value for cell in row] for row in sheet.iter_rows(max_row=TITLE_ROWS))
    return bool(line_of_names(rows, expected))


def _merged_down(content: bytes, sheet: Any) -> list[tuple[int, int, int]]:
    """The ranges of merged cells over several rows: first and last row, and column, counted from 0."""
    from openpyxl.utils import range_boundaries

    with zipfile.ZipFile(io.BytesIO(content)) as packed:
        found = MERGED.findall(packed.read(sheet._worksheet_path).decode("utf-8", "replace"))
    ranges = [range_boundaries(name) for name in found]
    return [(top - 1, bottom - 1, left - 1) for left, top, _, bottom in ranges if bottom > top]


def _cells(sheet: Any, largest: int) -> pd.DataFrame:
    """The cells of a sheet; read one by one, as a single one far off makes a table of billions."""
    sheet.reset_dimensions()  # what a file says of its size need not be true
    rows: list[list[Any]] = []
    width = 0
    for row in sheet.iter_rows():
        values = [_value(cell) for cell in row]
        while values and values[-1] is None:
            values.pop()
        rows.append(values)
        width = max(width, len(values))
        if len(rows) > EXCEL_ROWS or len(rows) * width * EXCEL_CELL > largest:
            raise DataError(f"sheet {sheet.title!r} has cells too far off; as a table {too_large(largest)}")
    return pd.DataFrame([row + [None] * (width - len(row)) for row in rows], dtype=object)


def _value(cell: Any) -> Any:
    """A cell's value: whole numbers as integers, None for what is empty, not a number for an error."""
    value = cell.value
    if cell.data_type == "e":
        return math.nan
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return None if value == "" else value
