"""The next table, read as the one was from which a model was made; columns of another kind are named."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from surefoot.exceptions import DataError, SurefootWarning
from surefoot.formats import first_names
from surefoot.table.cells import as_numbers
from surefoot.table.dates import (
    CENTURY,
    EXCEL_DAYS,
    EXCEL_EPOCH,
    ORDERS,
    Dates,
    are_plain_excel_days,
    as_days,
    digits_as_day,
    excel_days,
    minutes,
    months,
    without_clock,
    written,
)
from surefoot.table.kinds import (
    DATE,
    MINUTES,
    MONTHS,
    NAMES,
    WHOLE,
    is_number,
    text_dates,
    truth,
    without,
)
from surefoot.table.marks import mark_of, marked
from surefoot.table.quantities import is_one_unit, is_quantity, plain_unit
from surefoot.table.rare import RARE, as_text
from surefoot.table.reading import Form, Reading
from surefoot.table.recipe import Recipe, Step
from surefoot.table.stream import Streamed
from surefoot.table.text_column import AMONG_NUMBERS

MOSTLY = 0.5
PER_CENT = "%"
# Years around the dates of which a model was made in which numbers may be days as Excel counts them. With ten
# times as many, days counted from 1970, which lie 70 years apart from them, would pass too.
YEARS_AROUND = 20
DAYS_OF_YEAR = 365.25
UNIX_YEAR = 1970  # from which days are counted
NOT_CLEAR = ("dmy", "mdy")  # orders of dates that may be taken for each other
# Rows at a time when the order of dates is looked for. Ten times as many take hundreds of megabytes.
ORDER_ROWS = 10_000


def table_form(clf: Any, label: str | None = None) -> Form:
    """What a model tells about a table of rows to ask it about; a column may name them."""
    names = [str(name) for name in clf.feature_labels_]
    text = [str(name) for name, values in clf.categories_.items() if any(isinstance(v, str) for v in values)]
    recipe = clf.recipe_ or Recipe({})
    return Form(
        as_written=[label] if label and label not in names else [],  # a feature is read as one
        as_text=[*text, *recipe.written_dates],  # '01' is not 1
        expected=names,
        missing=recipe.missing,
        usual=recipe.usual,
        numbers=recipe.numbers,
    )


def read_like(reading: Reading, clf: Any) -> Reading:
    """The table as the one was read of which a classifier was made; as it is where nobody knows."""
    return reading if clf.recipe_ is None else _read(reading, _of_features(clf), clf)


def chunk_reader(table: Streamed, clf: Any) -> Callable[[Reading], Reading]:
    """What reads each chunk of a table as `read_like` does.

    Dates of all chunks are read in one order, for which every row counts; numbers of all are in one unit;
    notes are warnings, each once.
    """
    if clf.recipe_ is None:
        return lambda reading: reading
    recipe, said, units = _of_features(clf), set[str](), dict[str, str]()
    orders = _orders(table, recipe)
    steps = {name: replace(step, order=orders.get(name, step.order)) for name, step in recipe.steps.items()}
    for name, order in orders.items():
        warnings.warn(_other_order(name, order, recipe.steps[name].order), SurefootWarning, stacklevel=2)

    def read(reading: Reading) -> Reading:
        _refuse_other_units(reading, recipe, units)
        found = _read(reading, replace(recipe, steps=steps), clf)
        for note in found.notes[len(reading.notes) :]:
            what = re.sub(r"\d[\d,]*", "", note.rsplit(": ", 1)[0])  # the same may be true of other rows
            if what not in said:
                warnings.warn(note, SurefootWarning, stacklevel=2)
            said.add(what)
        return found

    return read


def _refuse_other_units(reading: Reading, recipe: Recipe, known: dict[str, str]) -> None:
    """Refuse numbers in another unit than those of earlier rows, as they would be in one table."""
    times = [name for name, step in recipe.steps.items() if step.unit in (MONTHS, MINUTES)]
    for name in recipe.numbers:
        if name in times or name not in reading.frame or not reading.frame[name].notna().any():
            continue
        unit = reading.units.get(name, "")
        before = known.setdefault(name, unit)
        if not is_one_unit(before, unit):
            ways = " and others ".join(f"in {one}" if one else "without a unit" for one in (before, unit))
            raise DataError(
                f"{reading.name}: column {name!r}: some numbers are {ways}; write them in one unit"
            )
        known[name] = before or unit


def _of_features(clf: Any) -> Recipe:
    features = {str(name) for name in clf.feature_labels_}
    own = {name: step for name, step in clf.recipe_.steps.items() if name in features}
    return Recipe(own, clf.recipe_.label)


def _read(reading: Reading, recipe: Recipe, clf: Any) -> Reading:
    try:
        return read_again(reading, recipe, clf.categories_, _ranges(recipe, clf))
    except DataError as error:
        raise DataError(f"{reading.name}: {error}") from None


def _ranges(recipe: Recipe, clf: Any) -> dict[str, tuple[float, float]]:
    """Column of dates or of per cent -> its least and its largest value when the model was made."""
    ends = dict(zip(map(str, clf.feature_labels_), clf.feature_range_.T.tolist(), strict=True))
    named = [name for name, step in recipe.steps.items() if step.kind == DATE or step.unit == PER_CENT]
    return {name: (ends[name][0], ends[name][1]) for name in named}


def _orders(table: Streamed, recipe: Recipe) -> dict[str, str]:
    """Column of dates -> the order that some of its rows prove, where it is not the one of the recipe."""
    names = [name for name, step in recipe.steps.items() if step.kind == DATE]
    found: dict[str, set[str]] = {name: set() for name in names}
    for chunk in table.chunks(ORDER_ROWS) if names else ():
        for name in [name for name in names if name in chunk.reading.frame]:
            found[name] |= _proven(chunk.reading.frame[name])
            if len(found[name]) > 1:
                both = "some dates begin with the day and others with the month"
                raise DataError(f"{table.name}: column {name!r}: {both}; write them in one order")
    proven = {name: order for name, orders in found.items() for order in orders}
    return {name: order for name, order in proven.items() if order != recipe.steps[name].order}


def _proven(column: pd.Series) -> set[str]:
    """The orders of those dates that can only be read in one way."""
    parts = (written(text) for text in column.dropna().unique() if isinstance(text, str))
    open_ones = [one for one in parts if one is not None and not one.order]
    days = any(one.first > 12 >= one.second for one in open_ones)
    months = any(one.second > 12 >= one.first for one in open_ones)
    return {*(["dmy"] * days), *(["mdy"] * months)}


def read_again(
    reading: Reading,
    recipe: Recipe,
    categories: Mapping[Any, Sequence[Any]],
    ranges: Mapping[str, tuple[float, float]] | None = None,
) -> Reading:
    """The table with its columns as the recipe says.

    Parameters
    ----------
    reading : Reading
    recipe : Recipe
    categories : dict
        The values that the model knows of each category.
    ranges : dict, optional
        The first and the last day that the model knows of each column of dates, and the ends of per cent.

    Raises
    ------
    DataError
        Where a column cannot be what it was: its name, what it was, and the first row that is otherwise.
    """
    frame, notes = reading.frame.copy(deep=False), list(reading.notes)
    known = {str(name): values for name, values in categories.items()}
    for name, step in recipe.steps.items():
        if name in frame.columns:
            ends = (ranges or {}).get(name)
            column, said = _without_excel_days(name, frame[name], step, ends)
            notes += said
            unit, column = _in_its_unit(column, step, reading.units.get(name, ""))
            hints = reading.day_first, _first_short(step, ends)
            column, said = _column(name, column, step, known.get(name, ()), hints)
            frame[name] = column
            notes += [*said, *_other_unit(name, step, unit)]
            notes += [] if name in reading.units else _are_shares(name, column, step, ends)
            notes += [
                f"{name!r}: {found[name]}" for found in (reading.beyond, reading.doubts) if name in found
            ]
    return replace(reading, frame=frame, notes=tuple(notes))


def _column(
    name: str, column: pd.Series, step: Step, values: Sequence[Any], hints: tuple[bool, int | None]
) -> tuple[pd.Series, list[str]]:
    column = without(column, step.missing)
    if step.kind == DATE:
        return _dates(name, column, step.order, hints)
    if step.kind in NAMES:
        return _names(name, column, values)
    if step.kind in ("number", WHOLE):
        read = {MINUTES: minutes, MONTHS: months}.get(step.unit)
        times = column if read is None or is_number(column) else column.map(read)
        return _numbers(name, times.where(times.notna(), column), step.kind)
    return column, []


def _numbers(name: str, column: pd.Series, kind: str) -> tuple[pd.Series, list[str]]:
    if pd.api.types.is_bool_dtype(column):
        return column.astype(float), []
    if not is_number(column):
        texts = column.mask(column.isin(AMONG_NUMBERS))
        numbers = as_numbers(texts)
        wrong = texts.notna() & numbers.isna()
        if wrong.any():
            strange = wrong & ~column.map(lambda cell: isinstance(cell, str) and is_quantity(cell))
            raise DataError(_changed(name, "held numbers", column[strange if strange.any() else wrong]))
        column = numbers
    fractions = int((column.dropna() % 1 > 0).sum()) if kind == WHOLE else 0
    rows = "1 row" if fractions == 1 else f"{fractions:,} rows"
    note = f"{name!r} held whole numbers when the model was made, and has decimals in {rows} here"
    return column, [note] if fractions else []


def _in_its_unit(column: pd.Series, step: Step, unit: str) -> tuple[str, pd.Series]:
    """The unit of a column, and its numbers: whole years are months where the model counts months."""
    in_years = step.unit == MONTHS and months(f"1 {unit}") == months("1 year")
    return (MONTHS, 12 * column) if in_years and is_number(column) else (unit, column)


def _other_unit(name: str, step: Step, unit: str) -> list[str]:
    """That numbers have another unit than they had: nobody converts them."""
    if not unit or not step.unit or plain_unit(unit) == plain_unit(step.unit):
        return []
    return [f"{name!r} was in {step.unit} when the model was made and is in {unit} here: taken as it is"]


def _are_shares(name: str, column: pd.Series, step: Step, ends: tuple[float, float] | None) -> list[str]:
    """That per cent have become numbers from 0 to 1: nobody multiplies them."""
    if step.unit != PER_CENT or ends is None or max(map(abs, ends)) <= 1 or not is_number(column):
        return []
    seen = column.dropna().abs()
    if not (seen % 1 != 0).any() or seen.max() > 1:
        return []
    was = f"{ends[0]:.4g} to {ends[1]:.4g} % when the model was made"
    return [f"{name!r} was {was} and is {seen.min():.4g} to {seen.max():.4g} here: shares? Taken as it is"]


def _first_short(step: Step, ends: tuple[float, float] | None) -> int | None:
    """The first year that two digits can mean: the dates that the model knows lie in the middle."""
    if step.kind != DATE or ends is None:
        return None
    return int(UNIX_YEAR + sum(ends) / 2 / DAYS_OF_YEAR) - CENTURY // 2


def _dates(
    name: str, column: pd.Series, order: str, hints: tuple[bool, int | None]
) -> tuple[pd.Series, list[str]]:
    if pd.api.types.is_datetime64_any_dtype(column):
        return without_clock(column)[0], []
    if is_number(column):
        return _days_in_digits(name, column, order), []
    texts = column.mask(column.isin(AMONG_NUMBERS))
    seen = texts.dropna()
    expected = order if order in NOT_CLEAR else None
    read = text_dates(seen, expected, *hints)
    if read is not None and not read.wrong:
        return as_days(texts.map(read.days)), [f"{name!r}: {read.why}"] if read.unclear else []
    other = text_dates(seen, None, *hints)
    if other is not None and not other.unclear and not other.wrong:
        return as_days(texts.map(other.days)), [_other_order(name, other.order, order)]
    if read is None:
        raise DataError(_changed(name, f"held dates ({_was(order)})", seen[~seen.map(_reads).astype(bool)]))
    return as_days(texts.map(read.days)), [_no_dates(name, texts, read)]


def _without_excel_days(
    name: str, column: pd.Series, step: Step, ends: tuple[float, float] | None
) -> tuple[pd.Series, list[str]]:
    """The column with days as Excel counts them as dates, where they lie around those that the model knows.

    A spreadsheet turns some or all dates of a column into such numbers.
    """
    if (
        step.kind != DATE
        or ends is None
        or step.order == "excel"
        or pd.api.types.is_datetime64_any_dtype(column)
    ):
        return column, []
    counted = as_numbers(column)
    days = counted[counted.between(*EXCEL_DAYS)] // 1 - EXCEL_EPOCH
    around = YEARS_AROUND * DAYS_OF_YEAR
    near = days.between(ends[0] - around, ends[1] + around).all()
    if days.empty or not (near or are_plain_excel_days(counted[column.notna()])):
        return column, []
    texts = column.astype(object)
    texts[days.index] = as_days(days).dt.strftime("%Y-%m-%d")
    first = days.index[0]
    example = f"{as_text(column[first])} is read as {texts[first]}"
    return texts, [f"{name!r} holds days as Excel counts them here: {example}"]


def _other_order(name: str, order: str, was: str) -> str:
    return f"{name!r} is written {ORDERS[order]} here and was {_was(was)} when the model was made"


def _was(order: str) -> str:
    return ORDERS.get(order, "digits" if order == "digits" else "days as Excel counts them")


def _reads(text: Any) -> bool:
    return text_dates(pd.Series([text]), None, False) is not None


def _no_dates(name: str, texts: pd.Series, read: Dates) -> str:
    rows = int(texts.isin(read.wrong).sum())
    return f"{name!r}: {read.wrong[0]!r} is no date; {rows:,} such value{'s' * (rows != 1)} taken as missing"


def _days_in_digits(name: str, column: pd.Series, order: str) -> pd.Series:
    """Dates that are numbers: digits, or days as Excel counts them."""
    seen = column.dropna()
    if order == "excel":
        return excel_days(column)
    days = {value: digits_as_day(value) for value in seen.unique()}
    strange = seen[seen.map(days).isna()]
    if len(strange):
        raise DataError(_changed(name, f"held dates ({_was(order)})", strange))
    return as_days(column.map(days))


def _names(name: str, column: pd.Series, values: Sequence[Any]) -> tuple[pd.Series, list[str]]:
    known = {str(value) for value in values}
    if not known:
        return column, []
    mark = mark_of(values)
    column = marked(column, mark) if mark else column
    column, lost = _with_zeros(name, with_truths(column, values), known)
    if RARE in known:  # values that it does not know are rare for the model; people see their own
        return column.map(as_text, na_action="ignore").astype(object), lost
    texts = column.dropna().map(as_text)
    strange = texts[~texts.isin(known)]
    if len(strange) <= MOSTLY * len(texts) or len(texts) < 2:
        return column, lost
    shown = first_names([repr(value) for value in strange.unique()[:20]], 3)
    was = first_names(sorted(known), 3)
    return column, [f"{name!r} was a category ({was}), and mostly holds other values here: {shown}"]


def with_truths(column: pd.Series, values: Sequence[Any]) -> pd.Series:
    """Yes and no in other words, or as 1 and 0, as the two values that the model knows."""
    known = {truth(value): value for value in values if as_text(value) != RARE}
    if len(values) != 2 or set(known) != {"yes", "no"}:
        return column
    own = {as_text(value) for value in values}
    return column.map(
        lambda cell: cell if as_text(cell) in own else known.get(truth(cell), cell), na_action="ignore"
    )


def _with_zeros(name: str, column: pd.Series, known: set[str]) -> tuple[pd.Series, list[str]]:
    """Codes of one length that have lost their zeros in front, as in a spreadsheet, with them again.

    Each value by itself, so that a table read in chunks is read like one read as a whole.
    """
    codes = known - {RARE}
    lengths = {len(code) for code in codes}
    padded = len(lengths) == 1 and all(map(str.isdigit, codes)) and any(code[0] == "0" for code in codes)
    texts = column.map(as_text, na_action="ignore").astype(object)
    if not padded:
        return column, []
    whole = texts.map(lambda text: text.zfill(min(lengths)) if text.isdigit() else text, na_action="ignore")
    if (whole == texts)[texts.notna()].all():
        return column, []
    return whole, [f"{name!r} has lost zeros in front here: they are put back"]


def _changed(name: str, was: str, wrong: pd.Series) -> str:
    """That a column is another one, with the first row that says so."""
    value = as_text(wrong.iloc[0]) if len(wrong) else ""
    shown = value if len(value) <= 40 else value[:37] + "..."
    where = (
        f"row {wrong.index[0]} has {shown!r} here" if len(wrong) else "the orders of its dates differ here"
    )
    return f"column {name!r} {was} when the model was made; {where}"
