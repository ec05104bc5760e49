"""Run the paper's experiments, or the part of them that is wanted; a run that was stopped goes on."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from surefoot.exceptions import BackendError, DataError, MissingDependencyError, ProblemError, SurefootWarning
from surefoot.experiments import figures
from surefoot.experiments.log import Record
from surefoot.experiments.page import experiments_page
from surefoot.experiments.runs import REFUSED, Run, RunLog, carried_out
from surefoot.experiments.settings import (
    BUDGETS,
    FACTUALS,
    METHODS,
    SHAPES,
    Setting,
    factuals,
    table_settings,
)
from surefoot.experiments.structure_value import ValueLog, structure_value, value_lines, value_table
from surefoot.experiments.tables import markdown, write_tables
from surefoot.search.paper.backends import available_backends
from surefoot.ui.plots.style import pyplot

SEGMENTS, CONTRACTIONS = (10, 20, 30, 40), (0.3, 0.5, 0.7, 0.9)
QUICK_SEGMENTS, QUICK_CONTRACTIONS = (10, 20, 40), (0.3, 0.5, 0.8)
QUICK_FACTUALS, QUICK_LIMIT = 3, 10.0
# With a short limit these would mostly fill the time: one factual shows as much.
SLOW = {
    ("Ionosphere", "TAN", "gurobi"),
    ("Ionosphere", "BAN, 2 parents", "gurobi"),
    ("Ionosphere", "BAN, 2 parents", "scip"),
    ("Pima", "BAN", "highs"),
}


class BackendSkippedWarning(SurefootWarning):
    """A solver of the paper's experiments is not available; its runs are skipped."""


@dataclass(frozen=True)
class Plan:
    """What is to be run.

    Parameters
    ----------
    budgets : tuple of float
        0.01 is the paper's table 1, 0.05 its table 2.
    figures, value : bool
        Whether to make the figures, and the table of what structure buys.
    quick : bool
        A few factuals and a short time limit, for a first look.
    n_factuals : int
        For each configuration.
    time_limit : float
        Seconds for one run.
    data : tuple of str
    methods : tuple of (method, solver)
    """

    budgets: tuple[float, ...] = BUDGETS
    figures: bool = True
    value: bool = True
    quick: bool = False
    n_factuals: int = FACTUALS
    time_limit: float = 3600.0
    data: tuple[str, ...] = tuple(SHAPES)
    methods: tuple[tuple[str, str], ...] = METHODS

    def __post_init__(self) -> None:
        if not 1 <= self.n_factuals <= FACTUALS:
            raise ProblemError(f"the number of factuals must be 1 to {FACTUALS}, not {self.n_factuals}")
        if not self.time_limit > 0:
            raise ProblemError(f"the time limit must be positive, not {self.time_limit:g}")


def reproduce(plan: Plan, folder: str | Path, *, progress: bool = True) -> list[Path]:
    """Run what is missing of a plan, then write tables and figures from all that is there.

    Parameters
    ----------
    plan : Plan
    folder : path
        ``runs.jsonl`` and ``value.jsonl`` there grow by a line with every run; what they hold is not
        run again, unless a longer limit is asked for or its solver had refused it.
    progress : bool, default=True
        Show a progress bar on stderr, with the time that is left.

    Returns
    -------
    list of Path
        The tables, figures and the page that were written.
    """
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    log, values = RunLog(target / "runs.jsonl"), ValueLog(target / "value.jsonl")
    missing = log.missing(planned_runs(plan))
    lines = values.missing(value_lines(_count(plan))) if plan.value else []
    for run in _bar(missing, "runs", progress):
        log.add(_attempted(run))
    for line in _bar(lines, "what structure buys", progress):
        values.add({"asked": line, "line": structure_value(*line)})
    return _written(plan, target, list(log.latest().values()), values.lines())


def planned_runs(plan: Plan) -> list[Run]:
    """Every run of a plan, without the solvers that are not available."""
    limit = min(plan.time_limit, QUICK_LIMIT) if plan.quick else plan.time_limit
    runs = {
        setting.key(factual): Run(setting, factual, limit)
        for setting, count in _settings(plan)
        for factual in factuals(setting.data, setting.structure, count)
    }
    return list(runs.values())


def _settings(plan: Plan) -> Iterator[tuple[Setting, int]]:
    usable = {backend.name for backend in available_backends() if backend.usable} | {""}
    lacking = sorted({solver for _, solver in plan.methods} - usable)
    for solver in lacking:
        warnings.warn(f"{solver} is not available; skipping its runs", BackendSkippedWarning, stacklevel=3)
    methods = {pair for pair in plan.methods if pair[1] in usable}
    for budget in plan.budgets:
        for setting in table_settings(budget):
            if setting.data in plan.data and (setting.method, setting.backend) in methods:
                slow = (setting.data, setting.structure, setting.backend) in SLOW
                yield setting, 1 if plan.quick and slow else _count(plan)
    if plan.figures and "Banknote" in plan.data and ("milp", "highs") in methods:
        for setting in _figure_settings(plan.quick):
            yield setting, min(_count(plan), 2) if plan.quick else _count(plan)


def _figure_settings(quick: bool) -> Iterator[Setting]:
    """The MILP with other numbers of segments and contraction factors (Banknote, BAN, 0.05)."""
    for m in QUICK_SEGMENTS if quick else SEGMENTS:
        for nu in QUICK_CONTRACTIONS if quick else CONTRACTIONS:
            yield Setting("Banknote", "BAN", 0.05, "milp", "highs", m, nu)


def _count(plan: Plan) -> int:
    return min(plan.n_factuals, QUICK_FACTUALS) if plan.quick else plan.n_factuals


def _attempted(run: Run) -> Record:
    """A record in any case: a solver that cannot take a problem must not end the others' runs."""
    try:
        return carried_out(run)
    except BackendError as error:
        record = {**asdict(run.setting), "factual": run.factual, "time_limit": run.time_limit}
        return {
            **record,
            "edges": 0,
            "status": REFUSED,
            "message": str(error),
            "seconds": 0.0,
            "iterations": 0,
        }


def _bar(items: list[Any], what: str, progress: bool) -> Any:
    from tqdm.auto import tqdm

    return tqdm(items, desc=what, unit="run", disable=not progress, smoothing=0.1)


def _written(plan: Plan, folder: Path, records: list[Record], values: list[Record]) -> list[Path]:
    files = write_tables(records, folder)
    files.append(_list_factuals(folder))
    if values:
        frame = value_table(values)
        frame.to_csv(folder / "structure_value.csv", index=False)
        (folder / "structure_value.md").write_text(markdown(frame) + "\n", encoding="utf-8")
        files += [folder / "structure_value.csv", folder / "structure_value.md"]
    if plan.figures:
        files += _draw(folder, records)
    page = folder / "experiments.md"
    page.write_text(experiments_page(folder), encoding="utf-8")
    return [*files, page]


def _list_factuals(folder: Path) -> Path:
    """Which rows are explained, counted from 0, in the order in which fewer are taken."""
    chosen = {data: {s: list(factuals(data, s)) for s in shapes} for data, shapes in SHAPES.items()}
    path = folder / "factuals.json"
    path.write_text(json.dumps(chosen, indent=1) + "\n", encoding="utf-8")
    return path


def _draw(folder: Path, records: list[Record]) -> list[Path]:
    drawings: dict[str, Callable[[], Any]] = {
        "contraction": lambda: figures.iterations_figure(records),
        "runtime": lambda: figures.runtime_figure(records),
        "balls": figures.balls_figure,
        "refinement": figures.refinement_figure,
        "surface": figures.surface_figure,
    }
    return [path for name, draw in drawings.items() if (path := _saved(folder / f"{name}.png", draw))]


def _saved(path: Path, draw: Callable[[], Any]) -> Path | None:
    import numpy as np

    try:
        axes = draw()
    except (DataError, BackendError, MissingDependencyError) as error:
        warnings.warn(f"{path.name}: {error}", SurefootWarning, stacklevel=2)
        return None
    figure = np.ravel(np.asarray(axes, dtype=object))[0].figure
    figure.savefig(path, dpi=150)
    pyplot().close(figure)
    return path
