import json
import os
import signal
import subprocess
import sys
import time
import warnings

import matplotlib.pyplot as plt
import pandas as pd
import pytest

from surefoot import Status
from surefoot.exceptions import BackendTooLargeError, DataError, ProblemError
from surefoot.experiments import Plan, figures, reproduce
from surefoot.experiments import reproduction as module
from surefoot.experiments.printed import EDGES, PRINTED
from surefoot.experiments.reproduction import BackendSkippedWarning, planned_runs
from surefoot.experiments.runs import Run, RunLog, carried_out
from surefoot.experiments.settings import SHAPES, Setting, classifier, data_set, factuals, table_settings
from surefoot.experiments.structure_value import ValueLog, structure_value
from surefoot.experiments.tables import table
from surefoot.explain.answer import executor as answering
from surefoot.ui.cli import main

SMALL = Plan(
    budgets=(0.01,),
    figures=False,
    value=False,
    n_factuals=2,
    time_limit=20,
    data=("Banknote",),
    methods=(("certified", ""), ("qcqp", "scip")),
)


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    folder = tmp_path_factory.mktemp("results")
    return folder, reproduce(SMALL, folder, progress=False)


def test_tables(small):
    folder, files = small
    assert {path.name for path in files} == {"table1.csv", "table1.md", "factuals.json", "experiments.md"}
    frame = pd.read_csv(folder / "table1.csv")
    assert len(frame) == 6
    assert (frame["runs"] == 2).all()
    assert (frame["timeouts"] == 0).all()
    qcqp = frame[frame["method"] == "qcqp"].set_index("structure")
    assert qcqp.loc["TAN", "paper: runtime (s)"] == "0.015 (0.003)"
    assert qcqp.loc["TAN", "paper: iterations"] == "2.00 (0.00)"
    assert qcqp.loc["TAN", "edges (paper)"] == "3 (3)"
    certified = frame[frame["method"] == "certified"]
    assert (certified["early stops (coverage)"] == "0 (-)").all()
    both = frame.groupby("structure")["mean distance"].agg(["min", "max"])
    assert (both["max"] / both["min"] < 1.011).all()
    assert "## Table 1" in (folder / "experiments.md").read_text(encoding="utf-8")


def test_nothing_is_run_twice(small, monkeypatch):
    folder, _ = small
    before = (folder / "runs.jsonl").read_text(encoding="utf-8")
    monkeypatch.setattr(module, "carried_out", lambda run: pytest.fail(f"again: {run}"))
    reproduce(SMALL, folder, progress=False)
    assert (folder / "runs.jsonl").read_text(encoding="utf-8") == before


def test_a_line_that_was_cut_off_is_run_again(small, tmp_path):
    lines = (small[0] / "runs.jsonl").read_text(encoding="utf-8").splitlines()
    path = tmp_path / "runs.jsonl"
    path.write_text("\n".join(lines[:-1]) + "\n" + lines[-1][:40], encoding="utf-8")
    log = RunLog(path)
    assert len(log.records) == len(lines) - 1
    missing = log.missing(planned_runs(SMALL))
    assert len(missing) == 1
    log.add(carried_out(missing[0]))
    assert RunLog(path).missing(planned_runs(SMALL)) == []


def test_a_line_of_the_value_table_that_was_cut_off_is_made_again(tmp_path):
    path = tmp_path / "value.jsonl"
    asked = [("Pima", "NB", 3), ("Pima", "TAN", 3)]
    log = ValueLog(path)
    for one in asked:
        log.add({"asked": one, "line": {"data": one[0], "structure": one[1]}})
    path.write_text(path.read_text(encoding="utf-8")[:-20], encoding="utf-8")
    log = ValueLog(path)
    assert log.missing(asked) == asked[1:]
    log.add({"asked": asked[1], "line": {"data": "Pima", "structure": "TAN"}})
    assert ValueLog(path).missing(asked) == []
    log.add({"asked": ("Pima", "TAN", 25), "line": {"data": "Pima", "structure": "TAN", "factuals": 25}})
    assert ValueLog(path).lines()[-1]["factuals"] == 25
    assert [p.name for p in tmp_path.iterdir()] == ["value.jsonl"]


def test_a_longer_limit_repeats_timeouts_only(tmp_path):
    log = RunLog(tmp_path / "runs.jsonl")
    setting = Setting("Banknote", "TAN", 0.01, "certified")
    done, late = Run(setting, 1, 5.0), Run(setting, 2, 5.0)
    for run, status in ((done, "optimal"), (late, "time_limit")):
        log.add({**carried_out(Run(setting, run.factual, 5.0)), "status": status})
    assert log.missing([done, late]) == []
    assert log.missing([Run(setting, 1, 9.0), Run(setting, 2, 9.0)]) == [Run(setting, 2, 9.0)]


@pytest.mark.filterwarnings("always")
def test_killed_half_way_it_goes_on(tmp_path, capsys):
    asked = ["reproduce", "--table", "1", "--data", "Banknote", "--factuals", "3", "--method", "qcqp"]
    asked += ["--backend", "scip", "--output", str(tmp_path)]
    command = [sys.executable, "-m", "surefoot", *asked]
    runs = tmp_path / "runs.jsonl"
    with subprocess.Popen(command, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL) as process:
        while not runs.exists() or runs.read_text(encoding="utf-8").count("\n") < 2:
            assert process.poll() is None
            time.sleep(0.02)
        os.kill(process.pid, signal.SIGKILL)
    before = runs.read_text(encoding="utf-8")
    assert 2 <= before.count("\n") < 9
    assert main(asked) == 0
    out, err = capsys.readouterr()
    after = runs.read_text(encoding="utf-8")
    assert after.startswith(before[: before.rindex("\n") + 1])
    assert after.count("\n") == 9
    assert "runs: 100%" in err
    assert str(tmp_path / "table1.md") in out


def test_an_interrupt_that_a_search_swallows_ends_it_all(monkeypatch, tmp_path):
    def swallowed(_, problem, __):
        return answering.failed(Status.INTERRUPTED_NO_POINT, problem)

    monkeypatch.setattr(answering, "search", swallowed)
    with pytest.raises(KeyboardInterrupt):
        reproduce(SMALL, tmp_path, progress=False)
    assert not (tmp_path / "runs.jsonl").exists()
    with pytest.raises(KeyboardInterrupt):
        structure_value("Banknote", "NB", 1)


def test_timeouts_are_in_no_mean(small):
    records = list(RunLog(small[0] / "runs.jsonl").latest().values())
    late = [{**r, "status": "time_limit", "seconds": 1e6} if r["method"] == "qcqp" else r for r in records]
    frame = table(late, 0.01)
    qcqp = frame[frame["method"] == "qcqp"]
    assert (qcqp["timeouts"] == 2).all()
    assert (qcqp["runtime (s)"] == "-").all()


def test_factuals_are_class_0_seeded_and_nested():
    for data, shapes in SHAPES.items():
        for structure in shapes:
            chosen = factuals(data, structure)
            assert len(set(chosen)) == 25
            assert factuals(data, structure, 5) == chosen[:5]
            rows = data_set(data).X.iloc[list(chosen)]
            assert (classifier(data, structure).predict(rows) == 0).all()


def test_printed_figures_belong_to_configurations():
    settings = {(s.budget, s.data, s.structure, s.method) for b in (0.01, 0.05) for s in table_settings(b)}
    assert set(PRINTED) == {key for key in settings if key[3] != "certified"}
    assert set(EDGES) == {key[1:3] for key in settings}


def test_quick_is_small():
    runs = planned_runs(Plan(quick=True))
    assert len(runs) < 300
    assert max(run.time_limit for run in runs) <= 10
    assert {run.setting.data for run in runs} == set(SHAPES)


def test_a_solver_that_is_not_here_is_left_out(monkeypatch):
    backends = [b for b in module.available_backends() if b.name != "scip"]
    monkeypatch.setattr(module, "available_backends", lambda: backends)
    with pytest.warns(BackendSkippedWarning, match="scip is not available; skipping its runs"):
        runs = planned_runs(SMALL)
    assert {run.setting.method for run in runs} == {"certified"}


def test_a_solver_that_cannot_take_it_is_recorded(monkeypatch, tmp_path):
    def too_large(_):
        raise BackendTooLargeError("too large")

    monkeypatch.setattr(module, "carried_out", too_large)
    reproduce(SMALL, tmp_path, progress=False)
    records = [
        json.loads(line) for line in (tmp_path / "runs.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    assert {r["status"] for r in records} == {"refused"}
    written = pd.read_csv(tmp_path / "table1.csv")
    assert (written["not solved"] == 2).all()
    assert (written["timeouts"] == 0).all()
    assert RunLog(tmp_path / "runs.jsonl").missing(planned_runs(SMALL)) == planned_runs(SMALL)


@pytest.mark.parametrize("wrong", [{"n_factuals": 0}, {"n_factuals": 26}, {"time_limit": 0}])
def test_plans_are_checked(wrong):
    with pytest.raises(ProblemError):
        Plan(**wrong)


def test_figures_need_their_runs():
    with pytest.raises(DataError, match="several of them"):
        figures.iterations_figure([])
    with pytest.raises(DataError, match="runs on Pima"):
        figures.runtime_figure([])


def fake(data, structure, method, factual, seconds, **more):
    setting = Setting(
        data, structure, 0.05, method, {"certified": "", "qcqp": "scip", "milp": "highs"}[method], **more
    )
    record = {
        "factual": factual,
        "status": "optimal",
        "seconds": seconds,
        "distance": 1.0 + factual,
        "iterations": 3,
    }
    return {**{name: getattr(setting, name) for name in Setting.__dataclass_fields__}, **record}


def test_runtime_figure_links_pairs():
    records = [
        fake("Pima", "BAN, 2 parents", m, f, s)
        for m, s in (("milp", 9.0), ("qcqp", 0.1), ("certified", 0.01))
        for f in (1, 2, 3)
    ]
    ax = figures.runtime_figure(records[:-1])
    assert len(ax.lines) == 3
    assert [len(c.get_offsets()) for c in ax.collections] == [3, 3, 2]
    assert "runtime (s)" in ax.get_ylabel()


def test_iterations_figure_has_a_line_for_each_contraction():
    records = [
        fake("Banknote", "BAN", "milp", f, f * m * nu, n_segments=m, contraction=nu)
        for f in (1, 2)
        for m in (10, 20)
        for nu in (0.3, 0.5, 0.9)
    ]
    axes = figures.iterations_figure(records)
    assert len(axes[1].containers) == 3
    line = axes[1].containers[0][0]
    assert line.get_ydata().tolist() == pytest.approx([1.5 * 10 * 0.3, 1.5 * 20 * 0.3])


def test_figures_without_runs():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        balls, rounds, surface = (
            figures.balls_figure(),
            figures.refinement_figure(),
            figures.surface_figure(),
        )
    assert [ax.get_title() for ax in balls] == ["original features", "after whitening"]
    assert [ax.get_title().split(":")[0] for ax in rounds] == ["round 1", "round 2", "round 3"]
    assert len(rounds[1].lines) == len(rounds[0].lines) + 1  # the perturbation that was found
    assert (surface.get_xlabel(), surface.get_ylabel()) == ("variance", "curtosis")
    assert surface.get_legend() is not None


def test_structure_value():
    line = structure_value("Banknote", "TAN", 3)
    assert float(line["held-out accuracy (%)"]) == pytest.approx(97, abs=1)
    assert line["factuals"] == 3
    assert line["valid under 1,000 perturbations, own model (%)"] == "100.00"


@pytest.mark.filterwarnings("always")
def test_command_line(tmp_path, capsys):
    common = [
        "reproduce",
        "--output",
        str(tmp_path),
        "--quick",
        "--data",
        "Banknote",
        "--method",
        "certified",
    ]
    assert main([*common, "--table", "2", "--factuals", "1", "--time-limit", "5"]) == 0
    out, err = capsys.readouterr()
    assert "table2.md" in out
    assert "table1.md" not in out
    assert "runs: 100%" in err
    records = [
        json.loads(line) for line in (tmp_path / "runs.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    assert len(records) == 3
    assert {r["time_limit"] for r in records} == {5.0}
    assert main([*common, "--table", "1", "--quiet", "--backend", "scip"]) == 0
    out, err = capsys.readouterr()
    assert "table1.md" in out
    assert "runs:" not in err
    assert main([*common, "--figures", "--quiet"]) == 0
    out, err = capsys.readouterr()
    assert "balls.png" in out
    assert "contraction.png" in err
    assert (tmp_path / "experiments.md").read_text(encoding="utf-8").count("![") == 3
    assert main([*common, "--factuals", "99"]) == 2
    assert "1 to 25" in capsys.readouterr().err


def test_value_from_the_command_line(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(module, "value_lines", lambda count: [("Banknote", "NB", count)])
    assert main(["reproduce", "--value", "--factuals", "2", "--quiet", "--output", str(tmp_path)]) == 0
    assert "structure_value.csv" in capsys.readouterr().out
    assert len(pd.read_csv(tmp_path / "structure_value.csv")) == 1
    monkeypatch.setattr(module, "structure_value", lambda *_: pytest.fail("again"))
    assert main(["reproduce", "--value", "--factuals", "2", "--quiet", "--output", str(tmp_path)]) == 0
