"""The paper's two tables, our figures beside the printed ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from surefoot.experiments.log import Record
from surefoot.experiments.printed import EDGES, PRINTED, Printed
from surefoot.experiments.runs import run_key
from surefoot.experiments.settings import BUDGETS, Setting, table_settings
from surefoot.status import Status

TITLES = {0.01: "Table 1: robustness budget 0.01", 0.05: "Table 2: robustness budget 0.05"}
NAMES = {0.01: "table1", 0.05: "table2"}
NOTES = """Means over the runs that finished, with standard errors in brackets; early stops are runs that end
with 0 < violation <= 0.001, with their mean certified coverage. A run at its time limit counts as a timeout
and is in no mean, as in the paper; one that ended without an optimum for any other reason is "not solved".
"Paper": what is printed there (Gurobi 12, 20 cores). A dash: not run, or nothing to say."""


def table(records: list[Record], budget: float) -> pd.DataFrame:
    """One line for each configuration of a table that was run."""
    lines = [_row(setting, records) for setting in table_settings(budget)]
    return pd.DataFrame([line for line in lines if line is not None])


def write_tables(records: list[Record], folder: Path) -> list[Path]:
    """Both tables, as far as there are runs for them, each as CSV and Markdown."""
    written = []
    for budget in BUDGETS:
        frame = table(records, budget)
        if frame.empty:
            continue
        path = folder / NAMES[budget]
        frame.to_csv(path.with_suffix(".csv"), index=False)
        text = f"# {TITLES[budget]}\n\n{markdown(frame)}\n\n{NOTES}\n"
        path.with_suffix(".md").write_text(text, encoding="utf-8")
        written += [path.with_suffix(".csv"), path.with_suffix(".md")]
    return written


def markdown(frame: pd.DataFrame) -> str:
    """A frame of text as a Markdown table."""
    rows = [list(frame.columns), ["---"] * frame.shape[1], *frame.astype(str).to_numpy().tolist()]
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def _row(setting: Setting, records: list[Record]) -> dict[str, Any] | None:
    own = [r for r in records if run_key(r) == setting.key(r["factual"])]
    if not own:
        return None
    done = [r for r in own if r["status"] == Status.OPTIMAL]
    late = [r for r in own if r["status"] in (Status.TIME_LIMIT, Status.TIME_LIMIT.without_point)]
    early = [100 * r["coverage"] for r in done if r["early_stop"]]
    paper = PRINTED.get((setting.budget, setting.data, setting.structure, setting.method))
    edges = f"{own[0]['edges']} ({EDGES[setting.data, setting.structure]})"
    limits = sorted({r["time_limit"] for r in own})
    return {
        "data": setting.data,
        "structure": setting.structure,
        "edges (paper)": edges,
        "method": setting.method,
        "solver": setting.backend or "-",
        "runs": len(own),
        "runtime (s)": _mean([r["seconds"] for r in done], 3),
        "paper: runtime (s)": _printed(paper, "seconds", 3),
        "iterations": _mean([r["iterations"] for r in done], 2),
        "paper: iterations": _printed(paper, "iterations", 2),
        "early stops (coverage)": _stops(len(early), float(np.mean(early)) if early else None),
        "paper: early stops": "-" if paper is None else _stops(paper.early_stops, paper.coverage),
        "timeouts": len(late),
        "paper: timeouts": "-" if paper is None else paper.timeouts,
        "not solved": len(own) - len(done) - len(late),
        "time limit (s)": ", ".join(f"{limit:g}" for limit in limits),
        "mean distance": "-" if not done else f"{np.mean([r['distance'] for r in done]):.4f}",
        "largest gap": "-" if not done else f"{max(_gap(r) for r in done) * 100:.2f} %",
    }


def _gap(record: Record) -> float:
    distance = record["distance"]
    return (distance - record["lower_bound"]) / distance if distance else 0.0


def _mean(values: list[float], digits: int) -> str:
    if not values:
        return "-"
    error = np.std(values, ddof=1) / np.sqrt(len(values)) if len(values) > 1 else 0.0
    return f"{np.mean(values):.{digits}f} ({error:.{digits}f})"


def _printed(paper: Printed | None, what: str, digits: int) -> str:
    if paper is None:
        return "-"
    return f"{getattr(paper, what):.{digits}f} ({getattr(paper, what + '_error'):.{digits}f})"


def _stops(count: int, coverage: float | None) -> str:
    return f"{count} (-)" if coverage is None else f"{count} ({coverage:.2f} %)"
