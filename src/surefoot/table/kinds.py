"""Kinds of columns: what each holds, decided with a reason, and what to say to have it otherwise."""

from __future__ import annotations

import datetime as dt
import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from surefoot.days import EPOCH
from surefoot.defaults import LARGEST_CATEGORY, MOST_VALUES
from surefoot.exceptions import DataError
from surefoot.formats import first_names
from surefoot.table.dates import (
    CENTURY,
    EXCEL_DAYS,
    Dates,
    as_days,
    dates,
    digits_as_days,
    excel_days,
    minutes,
    months,
    without_clock,
    written,
)
from surefoot.table.marks import BLANK, NO, YES, marked, the_mark
from surefoot.table.quantities import is_unit, quantity
from surefoot.table.rare import RARE, as_text, together
from surefoot.table.said import Said
from surefoot.table.scales import natural_order
from surefoot.table.text_column import AMONG_NUMBERS, DASHES, TEXT_KINDS

NUMBER, WHOLE, CATEGORY, ORDERED, CODE, DATE = "number", "whole", "category", "ordered", "code", "date"
TEXT, IDENTIFIER, CONSTANT, COPY = "text", "identifier", "constant", "copy"
KINDS = (NUMBER, WHOLE, CATEGORY, ORDERED, CODE, DATE, TEXT, IDENTIFIER, CONSTANT, COPY)
LEFT_OUT = (TEXT, IDENTIFIER, CONSTANT, COPY)
NAMES = (CATEGORY, ORDERED, CODE)

FEW_ROWS = 20  # with fewer, values differ by chance
NEARLY_ALL = 0.95
# Of the rows: so many values of a column that is called an identifier name what rows are about, patients who
# come twice. With a tenth, branches that a lender numbers would be left out.
HALF = 0.5
# Whole numbers with so many values may be names. With ten times as many, ages are tried as categories too.
FEW_VALUES = 10
ROWS_PER_VALUE = 5  # a value with fewer rows tells nothing as a category
LONG_CODES = 20  # names with digits in them are called codes from so many values on
MANY_WORDS = 3  # in a value on average: a remark, not a name
REMARKS = 0.05  # of the rows: remarks that repeat more often than that are names
# Digits: whole numbers that all have so many and never repeat name the rows. With fewer, amounts would.
SAME_LENGTH = 8
LONGEST_WHOLE = 2**53  # whole numbers beyond it are not all doubles
SECONDS = 86_400  # of a day
MINUTES, MONTHS = "min", "months"  # what times of day and long durations are read in

CODE_NAME = re.compile(
    r"(^|[\W_])(zip|plz|postal|code)($|[\W_\d])|[\W_]cd$|zip_?code|post_?(al)?_?code|postleitzahl"
    r"|[a-z](Code|Zip)$",
    re.IGNORECASE,
)
BIRTH_NAME = re.compile(r"born|birth|geb|naiss|nacim|nascita|(^|[\W_])(dob|bd)($|[\W_])", re.IGNORECASE)
ROW_NAME = re.compile(
    r"(^|[\W_])(id|ID|Id|uuid|guid|key|rownum)$|[a-z](Id|ID)$|^(id|ID|Id)[\W_]"
    r"|(?i:(^|[\W_])(customer|client|patient|applicant|case|record|account|contract|policy|invoice)"
    r"[\W_]?(no|nr|num|number)$)"
)
LETTERS = ({"y", "n"}, {"j", "n"}, {"t", "f"})  # what single letters for yes and no stand beside
DIGITS_OF_TRUTH = {"1": "yes", "0": "no"}  # beside words
TRUTH = {**dict.fromkeys(YES, "yes"), **dict.fromkeys(NO, "no")}


@dataclass(frozen=True, eq=False)
class Column:
    """One column as it is read.

    Parameters
    ----------
    name : str
    kind : str
        One of `KINDS`.
    why : str
        The reason, in words.
    change : str
        The flag that would change it; "" where none would.
    cells : Series or None
        As a classifier takes them; None where the column is left out.
    order : str
        Of dates: see `dates.ORDERS`; or "digits", "excel".
    missing : tuple of str
        Marks of holes beyond the usual ones.
    notes : tuple of str
        What else should be known.
    unit : str
        Of numbers that were written with one.
    decimal : str
        Of numbers that were written with a comma or a point: their decimal sign.
    """

    name: str
    kind: str
    why: str
    change: str = ""
    cells: pd.Series | None = None
    order: str = ""
    missing: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    unit: str = ""
    decimal: str = ""


def decided(name: str, column: pd.Series, said: Said, day_first: bool = False) -> Column:
    """What a column holds.

    Parameters
    ----------
    name : str
    column : Series
        Numbers, text, booleans or dates; its usual holes are missing.
    said : Said
    day_first : bool
        Whether the table is written where days come first.
    """
    marks = tuple(as_text(value) for value in said.missing.get(name, ()))
    column = without(column, marks)
    column = column if name in said.as_text else _plain_numbers(column)
    found = _as_said(name, column, said, day_first) or _by_itself(name, column, said, day_first)
    return replace(found, missing=(*marks, *found.missing))


def without(column: pd.Series, marks: Sequence[str]) -> pd.Series:
    """The column with these values, as text or as numbers, missing."""
    if not marks:
        return column
    return column.mask(column.map(as_text, na_action="ignore").isin(marks))


def _plain_numbers(column: pd.Series) -> pd.Series:
    """Python's numbers, which are left when the text among them is gone, as a column of numbers.

    Those that a double does not hold are text: two of them could become the same.
    """
    if _is_long(column):
        return column.map(str, na_action="ignore").astype(object)
    held = pd.api.types.infer_dtype(column, skipna=True) if column.dtype.kind == "O" else ""
    return column.astype(float) if held in ("integer", "floating", "mixed-integer-float") else column


def _is_long(column: pd.Series) -> bool:
    """Whether whole numbers have more digits than a double holds: they are names."""
    if column.dtype.kind == "O" and pd.api.types.infer_dtype(column, skipna=True) != "integer":
        return False
    if column.dtype.kind not in "iuO":
        return False
    seen = column.dropna()
    return bool(len(seen)) and max(abs(int(seen.min())), abs(int(seen.max()))) > LONGEST_WHOLE


def flag(what: str, name: str) -> str:
    """A flag about a column, as it is typed."""
    return f"--{what} {shlex.quote(str(name))}"


def _as_said(name: str, column: pd.Series, said: Said, day_first: bool) -> Column | None:
    if name in said.text:
        return Column(name, TEXT, "you say so: left out", flag("categorical", name))
    if name in said.dates:
        return _said_dates(name, column, said.order(name), day_first)
    if name in said.ordered:
        return Column(name, ORDERED, "you say so", flag("categorical", name), column)
    if name in said.categorical:
        values = column.dropna().unique()
        cells = marked(column, as_text(values[0])) if len(values) == 1 and column.hasnans else column
        return Column(name, CATEGORY, "you say so", flag("text", name), cells)
    if name in said.numeric:
        if not is_number(column):
            example = _example(column)
            raise DataError(f"column {name!r} cannot be numbers: it holds text, {example}")
        return Column(
            name, _number_kind(column), "you say so", flag("categorical", name), column.astype(float)
        )
    return None


def _by_itself(name: str, column: pd.Series, said: Said, day_first: bool) -> Column:
    seen = column.dropna()
    flagged = _flagged(name, column)
    if flagged is not None:
        return flagged
    if len(column) > 1 and seen.nunique() < 2:
        return _constant(name, column)
    if pd.api.types.is_datetime64_any_dtype(column):
        values, clock = without_clock(column)
        return Column(
            name, DATE, "dates", flag("categorical", name), values, "ymd", notes=_clock(name, clock)
        )
    if pd.api.types.is_timedelta64_dtype(column):
        values = column.dt.total_seconds() / SECONDS
        return Column(name, NUMBER, "durations, in days", flag("text", name), values, unit="days")
    if isinstance(column.dtype, pd.CategoricalDtype):
        if column.dtype.ordered:
            return Column(name, ORDERED, "ordered in the table", flag("categorical", name), column)
        why = f"a category of {seen.nunique()} values in the table"
        return Column(name, CATEGORY, why, flag("text", name), column)
    if is_number(column):
        return _of_numbers(name, column)
    return _of_text(name, column, said, day_first)


def _flagged(name: str, column: pd.Series) -> Column | None:
    """A column in which some rows have a mark, such as x, and the others nothing."""
    mark = the_mark(column)
    if not mark:
        return None
    rows, count = len(column), int(column.notna().sum())
    why = f"{mark!r} in {count:,} of {rows:,} rows, nothing in the others: {BLANK}"
    return Column(name, CATEGORY, why, flag("text", name), marked(column, mark))


def is_number(column: pd.Series) -> bool:
    """Whether a column holds numbers, and no truth values."""
    return bool(pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column))


def _of_numbers(name: str, column: pd.Series) -> Column:
    seen = column.dropna().astype(float)
    whole = bool((seen % 1 == 0).all())
    count = seen.nunique()
    as_numbers = column.astype(float)
    digits = digits_as_days(seen.unique()) if whole else None
    if digits is not None:
        values = as_days(as_numbers.map(digits))
        parts = "year and month" if len(as_text(seen.iloc[0])) < len("20240301") else "year, month and day"
        return Column(name, DATE, f"{parts} in digits", flag("numeric", name), values, "digits")
    if count == 2:
        shown = " and ".join(as_text(value) for value in sorted(seen.unique()))
        return Column(name, CATEGORY, f"two values, {shown}", flag("numeric", name), _as_names(column))
    if whole and _counts_rows(name, seen):
        why = f"whole numbers that name or count the rows ({count:,} values): left out"
        return Column(name, IDENTIFIER, why, flag("numeric", name))
    if whole and CODE_NAME.search(str(name)):
        why = f"its name says so; {count:,} values"
        return Column(name, CODE, why, flag("numeric", name), _as_names(column))
    if not whole:
        return Column(name, NUMBER, "numbers with decimals", flag("categorical", name), as_numbers)
    if few_whole_values(column):
        why = f"whole numbers, {count} values: may also be a category"
        return Column(name, WHOLE, why, flag("categorical", name), as_numbers)
    return Column(name, WHOLE, "whole numbers", flag("categorical", name), as_numbers)


def few_whole_values(column: pd.Series) -> bool:
    """Whether a column of whole numbers has so few values that they may be names of something."""
    if not is_number(column):
        return False
    seen = column.dropna().to_numpy(dtype=float)
    values = np.unique(seen)
    few = 2 < len(values) <= FEW_VALUES and len(seen) >= ROWS_PER_VALUE * len(values)
    return bool(few and np.isfinite(values).all() and (values % 1 == 0).all())


def _number_kind(column: pd.Series) -> str:
    return WHOLE if (column.dropna() % 1 == 0).all() else NUMBER


def _as_names(column: pd.Series) -> pd.Series:
    """Numbers as a category; whole ones without decimals."""
    seen = column.dropna()
    whole = (seen % 1 == 0).all() and (seen.abs() < 2**53).all()
    return (column.astype("Int64") if whole else column).astype("category")


def _counts_rows(name: str, seen: pd.Series) -> bool:
    """Whether whole numbers, each of them once, count the rows or name them."""
    if len(seen) < FEW_ROWS or seen.nunique() < len(seen):
        return bool(
            len(seen) >= FEW_ROWS and ROW_NAME.search(str(name)) and seen.nunique() >= HALF * len(seen)
        )
    numbers = seen.to_numpy()
    steps = np.diff(numbers)
    width = float(np.ptp(numbers))
    counted = width == len(numbers) - 1 or ((steps > 0).all() and width < 2 * len(numbers))
    lengths = {len(as_text(value)) for value in numbers}
    same = len(lengths) == 1 and max(lengths) >= SAME_LENGTH and len(seen) >= 2 * FEW_ROWS
    return bool(counted or same or ROW_NAME.search(str(name)))


def _of_text(name: str, column: pd.Series, said: Said, day_first: bool) -> Column:
    if pd.api.types.is_bool_dtype(column) or pd.api.types.infer_dtype(column, skipna=True) == "boolean":
        return Column(name, CATEGORY, "truth values", flag("text", name), column)
    column, marks = _without_dashes(column)
    seen = column.dropna()
    if marks and (flagged := _flagged(name, column)) is not None:
        return replace(flagged, missing=marks)
    if seen.nunique() < 2 and len(column) > 1:
        return _constant(name, column)
    read = text_dates(seen, None, day_first)
    if read is not None:
        marks = (*marks, *(mark for mark in AMONG_NUMBERS if mark not in marks and (seen == mark).any()))
        return replace(_dates(name, column, _not_in_the_future(name, seen, read, day_first)), missing=marks)
    times = _times(name, seen, said.most_values)
    if times is not None:
        return replace(times, cells=column.map(minutes).astype(float), missing=marks)
    if len(seen) and all(months(text) is not None for text in seen.unique()):
        example = f"{seen.iloc[0]!r} is {as_text(months(seen.iloc[0]))}"
        why = f"durations, in months: {example}"
        numbers = column.map(months).astype(float)
        return Column(name, NUMBER, why, flag("categorical", name), numbers, missing=marks, unit=MONTHS)
    column, spelling = truth_words(column)
    texts = [as_text(value) for value in column.dropna().unique()]
    _refuse_slips(name, column, texts)
    found = _left_out_text(name, texts, len(seen))
    if found is None:
        alike, what = nearly_the_same(texts)
        found = _names(name, column, texts, said)
        apart = f"{name!r}: {alike} differ in {what} only, and are kept apart"
        spelling = (*spelling, apart) if alike else spelling
    return replace(found, missing=marks, notes=(*found.notes, *spelling, *_nearly(name, texts)))


def _times(name: str, seen: pd.Series, most: int) -> Column | None:
    """Times of day, or how long something took, where there are too many for a category."""
    texts = seen.unique()
    if len(texts) <= most or any(minutes(text) is None for text in texts):
        return None
    example = f"{texts[0]!r} is {as_text(minutes(texts[0]))}"
    why = f"times of day or durations, in minutes: {example}"
    return Column(name, NUMBER, why, flag("categorical", name), unit=MINUTES)


def _refuse_slips(name: str, column: pd.Series, texts: Sequence[str]) -> None:
    """Refuse dates among which a few texts are none, as numbers are."""
    wrong = [text for text in texts if written(text) is None] if _mostly_dates(texts) else []
    if 0 < len(wrong) <= (1 - NEARLY_ALL) * len(texts):
        row = column.index[column.isin(wrong)][0]
        example, column_name = as_text(column[row]), shlex.quote(str(name))
        shown = repr(example[:40])
        raise DataError(
            f"column {name!r} is not a date in row {row}: {shown} (if that means that there is none, say "
            f"--missing {column_name} {shlex.quote(example)}; if all are names, {flag('categorical', name)})"
        )


def _mostly_dates(texts: Sequence[str]) -> bool:
    """Whether most of some texts are dates: a quick look before all are read."""
    sample = texts[:: max(1, len(texts) // FEW_ROWS)] if len(texts) >= FEW_ROWS else []
    return sum(written(text) is not None for text in sample) > len(sample) / 2


def _nearly(name: str, texts: Sequence[str]) -> tuple[str, ...]:
    """What keeps text from being numbers or dates, where all of it looks like them."""
    read = [quantity(text) for text in texts[:FEW_ROWS]]
    units = sorted({one.unit for text in texts if (one := quantity(text))}) if read and all(read) else []
    if len(units) > 1 and any(is_unit(unit) for unit in units):
        shown = first_names([unit or "none" for unit in units], 3)
        return (f"{name!r}: numbers in several units ({shown}); write them in one to have them as numbers",)
    if _mostly_dates(texts) and all(map(written, texts)):
        both = "some dates begin with the day and others with the month"
        return (f"{name!r}: {both}; write them in one order to have them as dates",)
    return ()


def nearly_the_same(texts: Sequence[str]) -> tuple[str, str]:
    """Two values which somebody may have meant to be the same, and in what they differ; "" for none."""
    alike: dict[str, list[str]] = {}
    for text in texts:
        alike.setdefault(" ".join(text.split()).casefold(), []).append(text)
    twice = next((sorted(group)[:2] for group in alike.values() if len(group) > 1), None)
    if twice is None:
        return "", ""
    blanks = " ".join(twice[0].split()) == " ".join(twice[1].split())
    return " and ".join(map(repr, twice)), "blanks" if blanks else "capitals"


def _without_dashes(column: pd.Series) -> tuple[pd.Series, tuple[str, ...]]:
    """The column with dashes as holes, unless a plus beside them says that they are values."""
    values = set(column.dropna().unique())
    marks = tuple(sorted(mark for mark in DASHES if mark in values))
    if not marks or "+" in values:
        return column, ()
    return column.mask(column.isin(marks)), marks


def text_dates(
    seen: pd.Series, order: str | None, day_first: bool, first_short: int | None = None
) -> Dates | None:
    """The dates that a column of text holds; None where it holds something else."""
    texts = [value for value in seen.unique() if isinstance(value, str)]
    if len(texts) < seen.nunique():
        return None
    real = [text for text in texts if text not in AMONG_NUMBERS]
    return dates(real, order, day_first, first_short) if real else None


def _not_in_the_future(name: str, seen: pd.Series, read: Dates, day_first: bool) -> Dates:
    """Dates of birth with years of two digits, a century earlier where some would be in the future."""
    last = max((day for day in read.days.values() if day is not None), default=0) + EPOCH
    if not read.short or not BIRTH_NAME.search(str(name)) or last <= dt.date.today().toordinal():
        return read
    first = dt.date.fromordinal(last).year + 1 - 2 * CENTURY
    return text_dates(seen, None, day_first, first) or read


def _dates(name: str, column: pd.Series, read: Dates) -> Column:
    values = as_days(column.map(read.days))
    notes = list(_clock(name, read.clock))
    if read.span:
        notes.append(f"{name!r}: {read.span}s are read as their first day")
    if read.short:
        notes.append(f"{name!r}: years of two digits are read as {read.short} to {read.short + 99}")
    if read.wrong:
        rows = int(column.isin(read.wrong).sum())
        notes.append(f"{name!r}: {read.wrong[0]!r} is no date; {_rows(rows)} such a value, taken as missing")
    other = "month-first" if read.order == "dmy" else "day-first"
    change = flag(other, name) if read.unclear else flag("categorical", name)
    return Column(name, DATE, read.why, change, values, read.order, notes=tuple(notes))


def _clock(name: str, clock: bool) -> tuple[str, ...]:
    return (f"{name!r}: the time of day is left out",) if clock else ()


def _rows(count: int) -> str:
    return "1 row has" if count == 1 else f"{count:,} rows have"


def _said_dates(name: str, column: pd.Series, order: str | None, day_first: bool) -> Column:
    """Dates because the user says so: text, digits, or days as Excel counts them."""
    if pd.api.types.is_datetime64_any_dtype(column):
        return _by_itself(name, column, Said(), day_first)
    seen = column.dropna()
    if is_number(column):
        digits = digits_as_days(seen.unique())
        if digits is not None:
            return Column(name, DATE, "you say so: digits", "", as_days(column.map(digits)), "digits")
        if seen.between(*EXCEL_DAYS).all():
            why = "you say so: days as Excel counts them"
            return Column(name, DATE, why, "", excel_days(column), "excel")
        raise DataError(f"column {name!r} cannot be dates: it holds numbers such as {_example(column)}")
    column = column.mask(column.isin(AMONG_NUMBERS))
    read = text_dates(column.dropna(), order, day_first)
    if read is None:
        raise DataError(f"column {name!r} cannot be dates of one order: it holds {_example(column)}")
    found = _dates(name, column, read)
    return replace(found, why=f"you say so: {read.why}")


def truth_words(column: pd.Series) -> tuple[pd.Series, tuple[str, ...]]:
    """Yes and no in several spellings as the two words."""
    values = [value for value in column.dropna().unique() if isinstance(value, str)]
    words = {value: truth(value) for value in values}
    if len(values) < 3 or not all(words.values()) or not _of_one_language({*map(str.casefold, values)}):
        return column, ()
    found = column.map(words)
    shown = ", ".join(sorted(values))
    return found, (f"{column.name!r}: {shown} are read as yes and no",)


def truth(value: Any) -> str:
    """Yes or no; "" for what is neither."""
    text = as_text(value).casefold()
    return DIGITS_OF_TRUTH.get(text, TRUTH.get(text, ""))


def _of_one_language(words: set[str]) -> bool:
    """Whether single letters are pairs of yes and no: T, F and N are three things."""
    letters = {word for word in words if len(word) == 1 and not word.isdigit()}
    whole = set().union(*(pair for pair in LETTERS if pair <= letters))
    return letters == whole or any(letters <= pair for pair in LETTERS)


def _left_out_text(name: str, texts: Sequence[str], rows: int) -> Column | None:
    """Text that names rows or describes them."""
    sample = texts[:: max(1, len(texts) // 1000)]
    words = np.mean([len(text.split()) for text in sample])
    if rows >= FEW_ROWS and len(texts) >= NEARLY_ALL * rows:
        why = f"differs in nearly every row ({len(texts):,} values): left out"
        kind = TEXT if words >= 2 else IDENTIFIER
        return Column(name, kind, why, flag("categorical", name))
    if rows >= FEW_ROWS and ROW_NAME.search(str(name)) and len(texts) >= HALF * rows:
        why = f"its name says that it names the rows ({len(texts):,} values): left out"
        return Column(name, IDENTIFIER, why, flag("categorical", name))
    if words >= MANY_WORDS and len(texts) > max(LONG_CODES, REMARKS * rows):
        why = f"{len(texts):,} remarks of {words:.0f} words on average: left out"
        return Column(name, TEXT, why, flag("categorical", name))
    return None


def are_names(column: pd.Series) -> bool:
    """Whether text among numbers shows that all of them are names: 01 and 2A, or 2 and 3+."""
    if column.dtype.kind != "O" or pd.api.types.infer_dtype(column, skipna=True) not in TEXT_KINDS:
        return False
    texts = list(dict.fromkeys(column.dropna().map(as_text)))
    return any(map(_is_padded, texts)) or (len(texts) <= MOST_VALUES and natural_order(texts) is not None)


def _is_padded(text: str) -> bool:
    """Whether a whole number begins with a zero."""
    return len(text) > 1 and text.startswith("0") and text.isdigit()


def _names(name: str, column: pd.Series, texts: Sequence[str], said: Said) -> Column:
    """A category of text: ordered, a code, or plain."""
    order = natural_order(texts)
    if order is not None and len(texts) <= said.most_values:
        values = column.map(as_text, na_action="ignore").astype(
            pd.CategoricalDtype(list(order), ordered=True)
        )
        shown = f"{order[0]} < ... < {order[-1]}" if len(order) > 2 else " < ".join(order)
        return Column(name, ORDERED, f"{len(texts)} values: {shown}", flag("categorical", name), values)
    digits = sum(any(c.isdigit() for c in text) and " " not in text for text in texts)
    padded = any(map(_is_padded, texts))
    if padded or (digits > len(texts) / 2 and (len(texts) > LONG_CODES or CODE_NAME.search(str(name)))):
        why = "begins with a zero" if padded else "letters and digits"
        return Column(name, CODE, f"{why}; {len(texts):,} values", flag("text", name), column)
    return Column(name, CATEGORY, f"text, {len(texts):,} values", flag("text", name), column)


def with_few_values(column: Column, most: int, labels: pd.Series | None) -> Column:
    """A category with its rare values put together; any other column as it is."""
    if column.kind not in (CATEGORY, CODE) or column.cells is None:
        return column
    values, rare = together(column.cells, most, labels)
    if not rare:
        return column
    rows, count = int((values == RARE).sum()), column.cells.nunique()
    shown = f"{rows:,} of {len(values):,} rows"
    why = f"{column.why}; the {rare:,} rarest are put together as {RARE}, {shown}"
    most_values = f"--most-values {count if count <= LARGEST_CATEGORY else 'N'}"
    change = column.change if column.change.startswith("--numeric") else most_values
    return replace(column, cells=values, why=why, change=change)


def _constant(name: str, column: pd.Series) -> Column:
    """A column of one value; where some rows have none, whether they have it may tell something."""
    seen = column.dropna()
    if seen.empty:
        return Column(name, CONSTANT, "missing in every row: left out")
    holes = len(seen) < len(column)
    text = as_text(seen.iloc[0])
    why = f"{text if len(text) <= 20 else text[:17] + '...'} in every row{' that has it' * holes}: left out"
    return Column(name, CONSTANT, why, flag("categorical", name) if holes else "")


def _example(column: pd.Series) -> str:
    text = as_text(column.dropna().iloc[0]) if column.notna().any() else ""
    return repr(text if len(text) <= 40 else text[:37] + "...")
