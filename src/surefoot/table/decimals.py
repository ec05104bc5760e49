"""The decimal signs of a table: proven by its numbers, or taken with a reason that is said, or asked for."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from surefoot.exceptions import DataError
from surefoot.table.kinds import WHOLE
from surefoot.table.quantities import CURRENCIES
from surefoot.table.text_column import DECIMALS, OTHER, TextColumn, is_number_text

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


def own_decimals(commas: Iterable[str], points: Iterable[str]) -> dict[str, str]:
    """Column -> its decimal sign, as the user says; both for one column are refused."""
    found = dict.fromkeys(commas, ",")
    for name in points:
        if name in found:
            raise DataError(f"column {name!r} cannot have both a decimal comma and a decimal point")
        found[name] = "."
    return found


def signs_of(
    columns: Sequence[TextColumn],
    said: str | None = None,
    usual: Mapping[Any, str] | None = None,
    own: Mapping[Any, str] | None = None,
    *,
    proven: str = "",
    proven_by: int = 0,
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
    own : dict, optional
        Column -> the sign that the user has chosen for it alone.
    proven : str
        The sign of numbers that are not among the columns; "" where they have none.
    proven_by : int
        How many such columns there are.
    separator : str
        Of the fields; "" where there is none.
    """
    chosen = dict(own or {})
    for column in columns:
        _refuse(column, chosen.get(column.name), said)
    if said is not None:
        return Signs(said, chosen)
    others = [column for column in columns if column.name not in chosen]
    found = _looked_for(others, usual or {}, (proven, proven_by), separator)
    return replace(found, own={**found.own, **chosen})


def _looked_for(
    columns: Sequence[TextColumn], known: Mapping[Any, str], proven: tuple[str, int], separator: str
) -> Signs:
    sure = {column.name: sign for sign in DECIMALS for column in columns if column.proves(sign)}
    signs = {*sure.values(), proven[0]} - {""}
    doubts = [_Doubt(column, columns, known, separator) for column in columns if column.is_unclear]
    if not signs:
        found = _reasoned(doubts)
    else:
        table = proven[0] or ("." if "." in signs else ",")
        others = [column for column in columns if sure.get(column.name, table) != table]
        alike = proven[1] + len(sure) - len(others)
        found = _mixed(others, doubts, table, OTHER[table] if len(others) > alike else table)
    before = {doubt.column.name: _usual(doubt.column, known) for doubt in doubts}
    return replace(found, own={**found.own, **{name: sign for name, sign in before.items() if sign}})


def _usual(column: TextColumn, usual: Mapping[Any, str]) -> str:
    """The decimal sign as before; among whole numbers, the other one than that which groups digits."""
    before = usual.get(column.name, "")
    return OTHER[column.sign] if before == WHOLE else before


def _refuse(column: TextColumn, own: str | None, said: str | None) -> None:
    """Refuse a column whose numbers are written otherwise than the user says."""
    sign = own or said
    if own is not None and not column.holds_numbers(own) and not column.proves(OTHER[own]):
        wrong = next((text for text in column.texts if not is_number_text(text, own)), "")
        raise DataError(f"column {column.name!r}: {wrong!r} is no number with a decimal {DECIMALS[own]}")
    if sign is not None and column.proves(OTHER[sign]):
        hint = "" if own else f"; say {flag_of(column.name, OTHER[sign])} if that column alone has it"
        raise DataError(f"{other_sign(column, sign)}, but the decimal sign is a {DECIMALS[sign]}{hint}")


def flag_of(name: Any, sign: str) -> str:
    """The flag that says the decimal sign of one column."""
    return f"--decimal-{DECIMALS[sign]} {shlex.quote(str(name))}"


def other_sign(column: TextColumn, sign: str) -> str:
    """That a column has another sign, with an example."""
    example = next(value for value in column.texts if OTHER[sign] in value)
    return f"column {column.name!r} has decimal {DECIMALS[OTHER[sign]]}s ({example!r})"


@dataclass(frozen=True, eq=False)
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


# Those that a column has in itself: they decide for it, whatever signs the others have.
OF_A_COLUMN = (_as_before, _small_without, _money, _rounded)


def _mixed(others: Sequence[TextColumn], doubts: Sequence[_Doubt], table: str, most: str) -> Signs:
    """A table whose columns prove this sign, but for some: how each is read, and what may have either."""
    if not others:
        own_reasons = [(doubt, *one) for doubt in doubts if (one := _in_itself(doubt)) and one[0] != table]
        return Signs(
            table, {doubt.column.name: sign for doubt, sign, _ in own_reasons}, (*_notes(own_reasons),)
        )
    note = f"{other_sign(others[0], table)}, others have {DECIMALS[table]}s: each is read by its own"
    like = most, f"{'most ' * (most != table)}others have {DECIMALS[most]}s"
    found = [(doubt, *(_in_itself(doubt) or like)) for doubt in doubts]
    own = {column.name: OTHER[table] for column in others}
    own |= {doubt.column.name: sign for doubt, sign, _ in found}
    return Signs(table, own, (note, *_notes(found)))


def _reasoned(doubts: Sequence[_Doubt]) -> Signs:
    """The sign of a table of which no column proves one; a column that has a reason for another keeps it."""
    found = next(
        ((doubt, *one) for reason in REASONS for doubt in doubts if (one := reason(doubt)) is not None), None
    )
    if found is None:
        if doubts:
            raise DataError(_asked(doubts[0]))
        return Signs()
    table = found[1]
    others = [(doubt, *one) for doubt in doubts if (one := _in_itself(doubt)) and one[0] != table]
    own = {doubt.column.name: sign for doubt, sign, _ in others}
    return Signs(table, own, (*_notes([found], alone=len(doubts) == 1), *_notes(others)))


def _in_itself(doubt: _Doubt) -> Reason:
    return next((found for reason in OF_A_COLUMN if (found := reason(doubt))), None)


def _asked(doubt: _Doubt) -> str:
    name = doubt.column.name
    flags = f"{flag_of(name, ',')} or {flag_of(name, '.')}"
    every = "for the whole table --decimal , or --decimal . (decimal=)"
    return f"column {name!r}: {doubt.signed[0]!r} can be read in two ways; say {flags}, {every}"


def _notes(found: Sequence[tuple[_Doubt, str, str]], alone: bool = True) -> list[str]:
    """How columns are read, why, and the flag that says otherwise for each alone, or for all."""
    return [
        f"{_as_read(doubt, sign)}, since {why} ({other} says otherwise)"
        for doubt, sign, why in found
        if _as_before(doubt) is None
        for other in [flag_of(doubt.column.name, OTHER[sign]) if alone else f"--decimal {OTHER[sign]}"]
    ]


def _as_read(doubt: _Doubt, sign: str) -> str:
    example = doubt.signed[0]
    value = float(example.replace(OTHER[sign], "").replace(sign, "."))
    return f"{doubt.column.name!r}: {example} is read as {value:.10g}"
