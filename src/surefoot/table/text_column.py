"""Columns of text as people write them: blanks, holes, decimal commas and grouped digits."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from surefoot.table.cells import holds_nested
from surefoot.table.dates import are_months
from surefoot.table.quantities import Quantity, bound, quantities, quantity
from surefoot.table.rare import as_text
from surefoot.table.scales import natural_order

MISSING = (
    "", "?", "NA", "N/A", "n/a", "#N/A", "NaN", "nan", "-nan", "null", "NULL", "None", "<NA>", "k.A.",
    "k. A.", "\\N", "(null)", "NaT",
)  # fmt: skip
# Marks of a hole wherever no other sign of that kind is a value: "-" beside "+" is one.
DASHES = (
    "-",
    "--",
    "---",
    "\N{EN DASH}",
    "\N{EM DASH}",
    "n.a.",
    "N.A.",
    "#VALUE!",
    "#DIV/0!",
    "#REF!",
    "#NUM!",
)
# Marks of a hole among numbers and dates, where they cannot be a value. Among names they are.
AMONG_NUMBERS = (
    *DASHES,
    ".",
    "..",
    "/",
    "x",
    "X",
    "unknown",
    "Unknown",
    "UNKNOWN",
    "missing",
    "none",
    "not done",
    "k.A.",
)
# Steps of a scale of counts of which an end is open: 0, 1, 2, 3+. More are numbers, some of them beyond what
# was asked. With ten times as many, ages up to 90+ would be steps.
MOST_STEPS = 12
DECIMALS = {".": "point", ",": "comma"}
OTHER = {".": ",", ",": "."}
TEXT_KINDS = ("string", "mixed", "mixed-integer", "empty")  # as pandas calls what a column holds
PLAIN = {d: re.compile(rf"[+-]?(\d+({re.escape(d)}\d*)?|{re.escape(d)}\d+)([eE][+-]?\d+)?") for d in DECIMALS}
# Groups of three digits, or of two before the last three, as in India.
GROUPED = {
    d: re.compile(
        rf"[+-]?([1-9]\d{{0,2}}({re.escape(OTHER[d])}\d{{3}})+|[1-9]\d?({re.escape(OTHER[d])}\d{{2}})+"
        rf"{re.escape(OTHER[d])}\d{{3}})({re.escape(d)}\d+)?"
    )
    for d in DECIMALS
}


@dataclass(frozen=True, eq=False)
class TextColumn:
    """The different values of a column of text, blanks at their ends removed.

    Parameters
    ----------
    name : column name
    series : Series
    texts : tuple of str
        Different from each other, none of them a hole; of numbers with a unit the numbers alone.
    read : dict
        Of each text that is a number with or without a unit, the number and the unit; empty where one of
        them is something else.
    """

    name: Any
    series: pd.Series
    texts: tuple[str, ...]
    read: Mapping[str, Quantity] = field(default_factory=dict)

    @classmethod
    def of(cls, name: Any, series: pd.Series, is_number: bool = False) -> TextColumn:
        """Look at a column once; in one that is known to hold numbers any bound is one."""
        values = pd.unique(series.dropna())
        texts = {bare(value) for value in values if isinstance(value, str)}
        known = sorted(texts - set(MISSING))
        read = quantities(text for text in known if text not in AMONG_NUMBERS) or {}
        plain = [as_text(value) for value in values if not isinstance(value, str)]
        if read and (is_number or not _are_steps([*read, *plain])):
            return cls(name, series, tuple(sorted({one.number for one in read.values()})), read)
        return cls(name, series, tuple(known))

    @property
    def unit(self) -> str:
        """The unit of its numbers, "" where they have none."""
        return next((one.unit for one in self.read.values() if one.unit), "")

    def beyond(self, decimal: str) -> str:
        """What values such as <0.1 are read as, and in how many rows; "" where there are none."""
        signed = (text for text in self.read if not (text[0].isdigit() and text[-1].isdigit()))
        texts = [text for text in signed if quantity(text) != self.read[text]]
        if not texts:
            return ""
        rows = int(self.series.map(lambda value: isinstance(value, str) and bare(value) in texts).sum())
        ends = list(dict.fromkeys([texts[0], texts[-1]]))
        shown = " and ".join(map(repr, ends))
        many = f"{rows:,} values such as {shown} are" if rows > 1 else f"{shown} is"
        return f"{many} read as {' and '.join(f'{self._number(end, decimal):.10g}' for end in ends)}"

    def doubt(self, decimal: str) -> str:
        """That some numbers are per cent and others, without the sign, may be shares; with a row of each."""
        if self.unit != "%":
            return ""
        cells = self.series.map(lambda value: bare(value) if isinstance(value, str) else value)
        signs = [text for text, one in self.read.items() if one.unit]
        numbers, signed = self.numbers(decimal).abs(), cells.isin(signs)
        plain = numbers[~signed].dropna()
        shares = plain.index[plain % 1 != 0]
        if not len(shares) or plain.max() > 1 or numbers[signed].max() <= 1:
            return ""
        one, other = signed.index[signed][0], shares[0]
        more = f" and {len(shares) - 1:,} more rows" if len(shares) > 1 else ""
        found = f"{cells[one]} in row {one}, but {cells[other]} in row {other}{more}: shares or per cent?"
        return f"{found} They are read as {numbers[other]:.10g} % and the like; write all in one way"

    @property
    def marks(self) -> tuple[str, ...]:
        """Marks of holes among numbers that are not marks everywhere."""
        values = {bare(value) for value in pd.unique(self.series.dropna()) if isinstance(value, str)}
        return tuple(sorted(values - set(MISSING) - set(self.read))) if self.read else ()

    @property
    def padded(self) -> bool:
        """Whether some value has blanks at its ends."""
        return any(isinstance(v, str) and v != v.strip() for v in pd.unique(self.series.dropna()))

    def holds_numbers(self, decimal: str) -> bool:
        """Whether every value is a number when this is the decimal sign, and not all are months."""
        numbers = bool(self.texts) and all(is_number_text(text, decimal) for text in self.texts)
        return numbers and (bool(self.unit) or not are_months(self.texts))

    @property
    def begins_with_zeros(self) -> bool:
        """Whether whole numbers begin with a zero, as postcodes do: they are names."""
        return any(len(text) > 1 and text[0] == "0" and text.isdigit() for text in self.texts)

    def proves(self, decimal: str) -> bool:
        """Whether every value is a number with this decimal sign, and some value is none with the other."""
        other = OTHER[decimal]
        return self.holds_numbers(decimal) and not self.holds_numbers(other)

    @property
    def sign(self) -> str:
        """A comma or a point in its numbers; "" where they have neither."""
        return next((sign for sign in (",", ".") if any(sign in text for text in self.texts)), "")

    @property
    def is_unclear(self) -> bool:
        """Whether the sign in its numbers may be a decimal sign or group digits."""
        return bool(self.sign) and self.holds_numbers(",") and self.holds_numbers(".")

    def stripped(self) -> pd.Series:
        """The column with blanks removed and holes as None."""
        texts = [value for value in pd.unique(self.series.dropna()) if isinstance(value, str)]
        clean = {value: None if bare(value) in MISSING else bare(value) for value in texts}
        return _mapped(self.series, clean)

    def numbers(self, decimal: str) -> pd.Series:
        """The column as floats."""
        texts = [value for value in pd.unique(self.series.dropna()) if isinstance(value, str)]
        found = {value: self._number(bare(value), decimal) for value in texts}
        return self.series.map(lambda value: found.get(value, value)).astype(float)

    def _number(self, text: str, decimal: str) -> float:
        if text not in self.read:
            return float("nan")
        return float(self.read[text].number.replace(OTHER[decimal], "").replace(decimal, "."))


def bare(text: str) -> str:
    """A text without blanks at its ends and the signs for a spreadsheet that it is text: ="12" and '12."""
    plain = text.strip()
    if plain.startswith('="') and plain.endswith('"'):
        return plain[2:-1].strip()
    return plain[1:] if plain[:1] == "'" and plain[1:2].isdigit() and plain[-1] != "'" else plain


def is_number_text(text: str, decimal: str) -> bool:
    """Whether a text is a number when this is the decimal sign."""
    return bool(PLAIN[decimal].fullmatch(text) or GROUPED[decimal].fullmatch(text))


def _are_steps(texts: Sequence[str]) -> bool:
    """Whether numbers, some of them open, are rather the steps of a scale: at most twelve, or mostly open."""
    bounds = [text for text in texts if bound(text) is not None]
    if not bounds:
        return False
    few = len(texts) <= MOST_STEPS and natural_order(texts) is not None
    return few or 2 * len(bounds) >= len(texts)


def text_columns(
    frame: pd.DataFrame, leave: Sequence[Any] = (), numbers: Sequence[Any] = ()
) -> list[TextColumn]:
    """Columns that hold text, other than those to leave alone; some are known to be numbers."""
    return [
        TextColumn.of(name, frame[name], name in numbers)
        for name in frame.columns
        if name not in leave
        and not isinstance(frame[name].dtype, pd.CategoricalDtype)
        and pd.api.types.infer_dtype(frame[name], skipna=True) in TEXT_KINDS
        and not holds_nested(frame[name])
    ]


def _mapped(column: pd.Series, values: dict[str, str | None]) -> pd.Series:
    """The column with some of its values replaced; the rest, booleans for instance, stay."""
    if all(old == new for old, new in values.items()):
        return column
    return column.map(lambda value: values.get(value, value) if isinstance(value, str) else value)
