"""The decimal signs of a table: proven by its numbers, or taken with a reason that is said, or asked for."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from surefoot.exceptions import DataError
from surefoot.table.kinds import WHOLE
from surefoot.table.quantities import CURRENCIES
from surefoot.table.text_column import DECIMALS, OTHER, TextColumn

# Different numbers of a column, all with three digits behind the sign, that are taken for groups of digits
# though nothing else says so. With a tenth, a single number would do; with ten times as many, columns of
# some dozens of numbers would have to be asked about.
SEVERAL = 5
GROUP = 1000  # from here on digits are grouped
POINTED_DATE = re.compile(r"\d{1,2}\.\d{1,2}\.(\d{4}|\d{2})(?!\d)")


@dataclass(frozen=True)
class Signs:
    """How decimals are written.

    Parameters
    ----------
    table : str
        The sign of most columns.
    own : dict
        Columns that have the other one.
    notes : tuple of str
        What was assumed.
    """

    table: str = "."
    own: Mapping[Any, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def of(self, name: Any) -> str:
        """The sign of a column."""
        return self.own.get(name, self.table)


def signs_of(
    columns: Sequence[TextColumn],
    said: str | None = None,
    usual: Mapping[Any, str] | None = None,
    *,
    proven: str = "",
    separator: str = "",
) -> Signs:
    """The signs that columns of text have; refused where nothing says what they are, and it matters.

    Columns that prove different signs are each read by their own. Where none proves anything, there are
    reasons (see `REASONS`).

    Parameters
    ----------
    columns : sequence of TextColumn
    said : str, optional
        The sign that the user has chosen.
    usual : dict, optional
        Column -> the sign that it had in the table of which a model was made, or `WHOLE`.
    proven : str
        The sign of numbers that are not among the columns; "" where they have none.
    separator : str
        Of the fields; "" where there is none.
    """
    if said is not None:
        _refuse(columns, said)
        return Signs(said)
    known = usual or {}
    sure = {column.name: sign for sign in DECIMALS for column in columns if column.proves(sign)}
    signs = {*sure.values(), proven} - {""}
    if not signs:
        found = _reasoned([c for c in columns if c.is_unclear], columns, known, separator)
    else:
        table = proven or ("." if "." in signs else ",")
        others = [column for column in columns if sure.get(column.name, table) != table]
        found = Signs(table, {column.name: OTHER[table] for column in others}, _mixed(others, columns, table))
    again = {c.name: _usual(c, known) for c in columns if c.is_unclear and _usual(c, known)}
    return replace(found, own={**found.own, **again})


def _usual(column: TextColumn, usual: Mapping[Any, str]) -> str:
    """The decimal sign as before; among whole numbers, the other one than that which groups digits."""
    before = usual.get(column.name, "")
    return OTHER[column.sign] if before == WHOLE else before


def _refuse(columns: Sequence[TextColumn], said: str) -> None:
    against = next((column for column in columns if column.proves(OTHER[said])), None)
    if against is not None:
        raise DataError(f"{other_sign(against, said)}, but the decimal sign is a {DECIMALS[said]}")


def other_sign(column: TextColumn, sign: str) -> str:
    """That a column has another sign, with an example."""
    example = next(value for value in column.texts if OTHER[sign] in value)
    return f"column {column.name!r} has decimal {DECIMALS[OTHER[sign]]}s ({example!r})"


def _mixed(others: Sequence[TextColumn], columns: Sequence[TextColumn], table: str) -> tuple[str, ...]:
    """That a table has both signs, and how the numbers are read that may have either."""
    if not others:
        return ()
    unclear = (_Doubt(column, columns, {}, "") for column in columns if column.is_unclear)
    like = (
        f"like other columns with {DECIMALS[table]}s; write it without signs between groups if that is wrong"
    )
    return (
        f"{other_sign(others[0], table)}, others have {DECIMALS[table]}s: each is read by its own",
        *(f"{_as_read(doubt, table)}, {like}" for doubt in unclear),
    )


@dataclass(frozen=True)
class _Doubt:
    """A column whose sign may be a decimal sign or group digits, and the table around it."""

    column: TextColumn
    columns: Sequence[TextColumn]
    usual: Mapping[Any, str]
    separator: str

    @property
    def sign(self) -> str:
        return self.column.sign

    @property
    def grouped(self) -> str:
        """The decimal sign if its own groups digits."""
        return OTHER[self.sign]

    @property
    def signed(self) -> list[str]:
        return [text for text in self.column.texts if self.sign in text]

    @property
    def plain(self) -> list[float]:
        return [abs(float(text)) for text in self.column.texts if self.sign not in text]


Reason = tuple[str, str] | None  # the decimal sign, and what says so


def _as_before(doubt: _Doubt) -> Reason:
    before = _usual(doubt.column, doubt.usual)
    return (before, "as when the model was made") if before else None


def _small_without(doubt: _Doubt) -> Reason:
    small = len(doubt.signed) >= SEVERAL and bool(doubt.plain) and max(doubt.plain) < GROUP
    return (doubt.grouped, f"numbers below {GROUP} have none") if small else None


def _money(doubt: _Doubt) -> Reason:
    unit = doubt.column.unit
    return (doubt.grouped, f"{unit} has no three decimals") if unit in CURRENCIES else None


def _pointed_dates(doubt: _Doubt) -> Reason:
    texts = (text for column in doubt.columns for text in column.texts[:SEVERAL])
    date = next((text for text in texts if POINTED_DATE.match(text)), None)
    return None if date is None else (",", f"who writes {date!r} writes decimal commas")


def _rounded(doubt: _Doubt) -> Reason:
    """Three decimals end in a zero in one case of ten, rounded amounts in most."""
    zeros = sum(text.endswith("0") for text in doubt.signed)
    many = len(doubt.signed) >= SEVERAL and zeros > len(doubt.signed) / 2
    return (doubt.grouped, "most of such numbers end in a zero") if many else None


def _throughout(doubt: _Doubt) -> Reason:
    """Commas before three digits in all of many numbers; in a file of semicolons they may be decimals."""
    many = len(doubt.signed) >= SEVERAL and not doubt.plain and doubt.sign == "," and doubt.separator != ";"
    return (".", "three digits follow every comma") if many else None


def _point(doubt: _Doubt) -> Reason:
    """A point is a decimal point unless something speaks against it."""
    return (".", "nothing says that points group digits") if doubt.sign == "." else None


# The first that has an answer decides for the table.
REASONS: tuple[Callable[[_Doubt], Reason], ...] = (
    _as_before,
    _small_without,
    _money,
    _pointed_dates,
    _rounded,
    _throughout,
    _point,
)


def _reasoned(
    doubtful: Sequence[TextColumn],
    columns: Sequence[TextColumn],
    usual: Mapping[Any, str],
    separator: str,
) -> Signs:
    doubts = [_Doubt(column, columns, usual, separator) for column in doubtful]
    for reason in REASONS:
        for doubt in doubts:
            found = reason(doubt)
            if found is not None:
                sign, why = found
                return Signs(sign, notes=() if reason is _as_before else (_note(doubt, sign, why),))
    if not doubts:
        return Signs()
    example, hint = doubts[0].signed[0], "say --decimal , or --decimal . (decimal=)"
    raise DataError(f"column {doubtful[0].name!r}: {example!r} can be read in two ways; {hint}")


def _note(doubt: _Doubt, sign: str, why: str) -> str:
    return f"{_as_read(doubt, sign)}, since {why} (--decimal {OTHER[sign]} says otherwise)"


def _as_read(doubt: _Doubt, sign: str) -> str:
    example = doubt.signed[0]
    value = float(example.replace(OTHER[sign], "").replace(sign, "."))
    return f"{doubt.column.name!r}: {example} is read as {value:.10g}"
