"""``explain --all --output``: stopped by any signal, the same command goes on; a second one is refused."""

import os
import signal
import subprocess
import sys
import time

import pandas as pd
import pytest

from surefoot.ui.cli import main
from tests.thinning import only
from tests.ui.mixed import toy_model, toy_table

LONG = 90  # seconds that a process may take on a busy machine
ROWS = 30
ASK = ("explain", "m.json", "d.csv", "--all", "--target", "yes", "--budget", "0.2", "--quiet", "--id", "name")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    X, y = toy_table(60)
    named = X.assign(y=y, name=[f"=n{k}" for k in range(60)])
    named.head(ROWS).to_csv(tmp_path / "d.csv", index=False)
    toy_model().save(tmp_path / "m.json")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def started(*flags):
    """The command; Ctrl-C reaches it also where these tests run in the background of a shell."""
    command = [sys.executable, "-m", "surefoot", *ASK, *flags]
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        return subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
    finally:
        signal.signal(signal.SIGINT, before)


def kept(folder, name="o.csv"):
    path = folder / f"{name}.parts" / "rows-000000.jsonl"
    return path.read_bytes().count(b"\n") if path.exists() else 0


def waited_for(process, condition):
    end = time.monotonic() + LONG
    while process.poll() is None and time.monotonic() < end and not condition():
        time.sleep(0.01)
    assert condition()


@pytest.mark.parametrize("number", only([signal.SIGINT], [signal.SIGKILL, signal.SIGTERM, signal.SIGINT]))
def test_it_goes_on_after_any_signal(folder, capfd, number):
    assert main([*ASK, "--output", "whole.csv"]) in (0, 1)
    process = started("--output", "o.csv")
    waited_for(process, lambda: kept(folder) > 3)
    process.send_signal(number)
    said = process.communicate(timeout=LONG)[1]
    assert process.returncode == (130 if number == signal.SIGINT else -number)
    if number != signal.SIGKILL:
        assert "finished rows are kept in o.csv.parts, and the same command goes on" in said
    assert "Traceback" not in said
    assert not (folder / "o.csv").exists()
    before = kept(folder)
    capfd.readouterr()
    assert main([*ASK, "--output", "o.csv"]) in (0, 1)
    assert f"{before} of them were finished before" in capfd.readouterr().err
    a, b = (pd.read_csv(name).drop(columns="seconds") for name in ("whole.csv", "o.csv"))
    pd.testing.assert_frame_equal(a, b)
    assert a["row"].iloc[3] == "'=n3"


def test_with_workers_a_stop_is_one_line(folder):
    process = started("--output", "o.csv", "--jobs", "2")
    waited_for(process, lambda: kept(folder) > 3)
    process.terminate()
    said = process.communicate(timeout=LONG)[1].strip().splitlines()
    assert said == [
        "surefoot: stopped; finished rows are kept in o.csv.parts, and the same command goes on from there"
    ]
    assert process.returncode == -signal.SIGTERM


@pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="needs signals of POSIX")
def test_a_run_in_the_background_ends_too(folder):
    """Shells start what they put there with interrupts ignored."""
    command = [sys.executable, "-m", "surefoot", *ASK, "--output", "o.csv"]
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    finally:
        signal.signal(signal.SIGINT, before)
    waited_for(process, lambda: kept(folder) > 3)
    process.terminate()
    assert "surefoot: stopped; finished rows are kept" in process.communicate(timeout=LONG)[1]
    assert process.returncode == -signal.SIGTERM


def test_one_run_at_a_time_and_restart(folder, capfd):
    process = started("--output", "o.csv")
    waited_for(process, lambda: kept(folder) > 1)
    process.send_signal(signal.SIGSTOP)
    try:
        assert main([*ASK, "--output", "o.csv"]) == 2
        said = capfd.readouterr().err.strip().splitlines()
        assert said == [
            "surefoot: error: o.csv: another run is writing it at this moment; wait for its end, or give "
            "another name"
        ]
    finally:
        process.kill()
        process.communicate()
    assert main([*ASK, "--output", "o.csv", "--threshold", "0.6"]) == 2
    assert "the question has changed since this run began" in capfd.readouterr().err
    assert main([*ASK, "--output", "o.csv", "--threshold", "0.6", "--restart"]) in (0, 1)
    assert len(pd.read_csv("o.csv")) == ROWS
    assert not os.path.exists("o.csv.parts")


def test_retry_and_certificates(folder, capfd):
    assert main([*ASK, "--output", "o.parquet", "--time-limit", "1e-9"]) == 1
    assert "stopped by the time limit; --retry time_limit asks them again" in capfd.readouterr().err
    again = [*ASK, "--output", "o.parquet", "--retry", "time_limit"]
    assert main(again) in (0, 1)
    assert not pd.read_parquet("o.parquet")["status"].str.startswith("time_limit").any()
    assert main([*ASK, "--output", "o.csv", "--certificates", "p.jsonl.gz"]) in (0, 1)
    capfd.readouterr()
    assert main(["verify", "m.json", "p.jsonl.gz"]) == 0
    assert f"every claim holds for {ROWS} of {ROWS}" in capfd.readouterr().err


def test_what_is_enough_has_columns_of_its_own(folder):
    pd.read_csv("d.csv").head(8).to_csv("few.csv", index=False)
    asked = [name if name != "d.csv" else "few.csv" for name in ASK]
    assert main([*asked, "--enough", "--reasons", "--output", "o.csv"]) in (0, 1)
    table = pd.read_csv("o.csv")
    moved = table["distance"].between(1e-9, 1e9)
    assert table.loc[moved, "enough"].notna().all()
    assert moved.any()
    assert table.loc[moved, "reasons"].notna().all()


@pytest.mark.parametrize("flag", [("--restart",), ("--retry", "failed"), ("--certificates", "p.jsonl")])
def test_flags_of_a_run_need_one(folder, capfd, flag):
    assert main([*ASK, *flag]) == 2
    assert f"{flag[0]} goes with --all --output FILE" in capfd.readouterr().err
