"""Tables as CSV that a spreadsheet can open without running what is in them."""

from __future__ import annotations

import pandas as pd
from pandas.api.types import is_numeric_dtype

from surefoot.formats import cell


def csv_text(frame: pd.DataFrame, header: bool = True) -> str:
    """A table as CSV; without its first line where that was written before."""
    # Object columns stay what they are: pandas would turn 1 beside a hole into 1.0.
    columns = [frame.iloc[:, k] for k in range(frame.shape[1])]
    safe = [c if is_numeric_dtype(c) else pd.Series(list(map(cell, c)), dtype=object) for c in columns]
    table = {k: column.reset_index(drop=True) for k, column in enumerate(safe)}
    names = [cell(str(name)) for name in frame.columns] if header else False
    return str(pd.DataFrame(table).to_csv(index=False, header=names, lineterminator="\n"))
