"""Runs: one line of JSON each, written as they come, so that nothing is lost and nothing is done twice."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

from surefoot.experiments.settings import Setting, classifier, data_set
from surefoot.explainer import CounterfactualExplainer
from surefoot.status import Status

Record = dict[str, Any]
FINISHED = (str(Status.OPTIMAL), str(Status.INFEASIBLE), str(Status.ALREADY_TARGET))


class Run(NamedTuple):
    """One factual under one setting."""

    setting: Setting
    factual: int
    time_limit: float


class RunLog:
    """A file of records, one line each.

    A line that was cut off when the program was killed is left out, and its run is done again. A run that
    ended at a time limit counts as done as long as no longer limit is asked for.

    Parameters
    ----------
    path : Path
        Made if it is not there.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.records: list[Record] = []
        if path.exists():
            lines = path.read_text(encoding="utf-8").splitlines()
            self.records = [record for line in lines if (record := _read(line)) is not None]
            path.write_text("".join(_line(record) for record in self.records), encoding="utf-8")

    def add(self, record: Record) -> None:
        """Write a record at once, through to the disk."""
        self.records.append(record)
        with self.path.open("a", encoding="utf-8") as file:
            file.write(_line(record))
            file.flush()
            os.fsync(file.fileno())

    def missing(self, runs: Iterable[Run]) -> list[Run]:
        """The runs that are still to be done."""
        limits = {_key(r): float("inf") if r["status"] in FINISHED else r["time_limit"] for r in self.records}
        return [run for run in runs if limits.get(run.setting.key(run.factual), -1.0) < run.time_limit]

    def latest(self) -> list[Record]:
        """One record for each run, the last where it was repeated."""
        return list({_key(record): record for record in self.records}.values())


def carried_out(run: Run) -> Record:
    """Explain one factual as the paper does: the whole space, p = inf, class 1 wanted."""
    setting = run.setting
    clf = classifier(setting.data, setting.structure)
    explainer = CounterfactualExplainer(
        clf,
        budget=setting.budget,
        method=setting.method,  # type: ignore[arg-type]
        backend=setting.backend or None,
        bounds=None,
        time_limit=run.time_limit,
        n_segments=setting.n_segments,
        contraction=setting.contraction,
    )
    e = explainer.explain(data_set(setting.data).X.iloc[run.factual], target=1, on_failure="return")
    return {
        **asdict(setting),
        "factual": run.factual,
        "time_limit": run.time_limit,
        "edges": clf.dag_.n_edges,
        "status": str(e.status),
        "seconds": e.seconds,
        "iterations": len(e.iterations),
        "early_stop": e.early_stop,
        "coverage": e.coverage,
        "distance": e.distance if e.counterfactual is not None else None,
        "lower_bound": e.lower_bound,
        "density_percentile": e.density_percentile if e.counterfactual is not None else None,
    }


def _key(record: Record) -> tuple[Any, ...]:
    names = ("data", "structure", "budget", "method", "backend", "n_segments", "contraction", "factual")
    return tuple(record[name] for name in names)


def _line(record: Record) -> str:
    return json.dumps(record, allow_nan=False) + "\n"


def _read(line: str) -> Record | None:
    try:
        record = json.loads(line)
        _key(record)
    except (ValueError, KeyError, TypeError):
        return None
    return dict(record)
