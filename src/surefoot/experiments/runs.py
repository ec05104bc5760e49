"""Runs: one factual under one setting, and what came of it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any, Literal, NamedTuple

from surefoot.experiments.log import Log, Record
from surefoot.experiments.settings import Setting, classifier, data_set
from surefoot.explain.ask.methods import Milp, Qcqp
from surefoot.explain.explainer import CounterfactualExplainer
from surefoot.explain.result.explanation import Explanation
from surefoot.status import Status

REFUSED = "refused"  # what records say where the solver did not take a run
FINISHED = (Status.OPTIMAL, Status.INFEASIBLE, Status.ALREADY_TARGET)


class Run(NamedTuple):
    """One factual under one setting."""

    setting: Setting
    factual: int
    time_limit: float


class RunLog(Log):
    """The runs so far.

    A run that ended at a time limit counts as done as long as no longer limit is asked for. One that its
    solver refused (for want of a licence, say) is tried again.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(path, run_key)

    def missing(self, runs: Iterable[Run]) -> list[Run]:
        """The runs that are still to be done."""
        tried = {key: _seconds_allowed(record) for key, record in self.latest().items()}
        return [run for run in runs if tried.get(run.setting.key(run.factual), -1.0) < run.time_limit]


def _method(setting: Setting) -> Qcqp | Literal["certified"]:
    """The method of a setting with its options."""
    backend = setting.backend or None
    if setting.method == "qcqp":
        return Qcqp(backend=backend)
    if setting.method == "milp":
        return Milp(backend=backend, n_segments=setting.n_segments, contraction=setting.contraction)
    return "certified"


def carried_out(run: Run) -> Record:
    """Explain one factual as the paper does: the whole space, p = inf, class 1 wanted."""
    setting = run.setting
    clf = classifier(setting.data, setting.structure)
    explainer = CounterfactualExplainer(
        clf,
        preset="paper",
        budget=setting.budget,
        method=_method(setting),
        time_limit=run.time_limit,
    )
    e = explained(explainer, setting.data, run.factual)
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


def explained(explainer: CounterfactualExplainer, data: str, factual: int) -> Explanation:
    """What comes of one row; a search that took an interrupt for itself passes it on."""
    e = explainer.explain(data_set(data).X.iloc[factual], target=1, on_failure="return")
    if e.status.with_point is Status.INTERRUPTED:
        raise KeyboardInterrupt
    return e


def run_key(record: Record) -> tuple[Any, ...]:
    """What tells one run from every other: its setting and its factual, as `Setting.key` says it."""
    names = ("data", "structure", "budget", "method", "backend", "n_segments", "contraction", "factual")
    return tuple(record[name] for name in names)


def _seconds_allowed(record: Record) -> float:
    """The limit up to which a run need not be repeated."""
    if record["status"] == REFUSED:
        return -1.0
    return float("inf") if record["status"] in FINISHED else float(record["time_limit"])
