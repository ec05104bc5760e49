"""A batch that is stopped leaves no process behind."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.thinning import only
from tests.ui.mixed import toy_model, toy_table

pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks for processes in /proc")
LONG = 60  # seconds that a process may take to start its children, or to be gone, on a busy machine


def children(parent):
    """The processes whose parent this is."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:  # gone meanwhile
            continue
        if int(fields[1]) == parent and fields[0] != "Z":
            found.append(int(path.parent.name))
    return found


def alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def waited_for(condition):
    end = time.monotonic() + LONG
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.1)
    return False


def _hangs_up():
    """Take hang-ups as usual, also where these tests run under nohup."""
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


@pytest.mark.parametrize(
    ("number", "seconds"),
    only(
        [(signal.SIGKILL, 0)],
        [(signal.SIGTERM, 1), (signal.SIGHUP, 1), (signal.SIGKILL, 1), (signal.SIGKILL, 0)],
    ),
)
def test_workers_end_with_the_command(tmp_path, number, seconds):
    """Also those that have just been started, and have nothing to do yet."""
    X, y = toy_table(240)
    X.assign(y=y).to_csv(tmp_path / "d.csv", index=False)
    toy_model().save(tmp_path / "m.json")
    flags = ("--all", "--target", "yes", "--budget", "0.2", "--threshold", "0.98", "--jobs", "2", "--quiet")
    command = [sys.executable, "-m", "surefoot", "explain", "m.json", "d.csv", *flags, "--output", "o.csv"]
    with open(tmp_path / "err", "wb") as err:
        process = subprocess.Popen(
            command, cwd=tmp_path, stderr=err, stdout=subprocess.DEVNULL, preexec_fn=_hangs_up
        )
        try:
            # Two workers and a tracker.
            assert waited_for(lambda: len(children(process.pid)) >= 3 or process.poll() is not None)
            time.sleep(seconds)
            workers = children(process.pid)
            assert process.poll() is None, "the batch was over before it could be stopped"
            process.send_signal(number)
            assert process.wait(LONG) == -number  # which a shell shows as 143, 129 and 137
            assert waited_for(lambda: not any(map(alive, workers)))
        finally:
            process.kill()
    assert b"Traceback" not in (tmp_path / "err").read_bytes()
    assert set(os.listdir(tmp_path)) - {"o.csv.parts"} == {"d.csv", "err", "m.json"}


@pytest.mark.parametrize(
    ("number", "status"),
    only([(signal.SIGTERM, -signal.SIGTERM)], [(signal.SIGTERM, -signal.SIGTERM), (signal.SIGINT, 130)]),
)
@pytest.mark.parametrize("flags", [[], ["--html", "a.html"]])
def test_an_audit_that_is_stopped_says_what_is_kept(tmp_path, number, status, flags):
    X, y = toy_table(3000)
    X.assign(y=y).to_csv(tmp_path / "d.csv", index=False)
    toy_model().save(tmp_path / "m.json")
    command = [sys.executable, "-m", "surefoot", "audit", "m.json", "d.csv", "--target", "yes", "--jobs", "2"]
    with open(tmp_path / "err", "wb") as err:
        process = subprocess.Popen(
            [*command, *flags, "--quiet"],
            cwd=tmp_path,
            stderr=err,
            stdout=subprocess.DEVNULL,
            preexec_fn=_stops,
        )
        try:
            assert waited_for(lambda: len(children(process.pid)) >= 2 or process.poll() is not None)
            assert process.poll() is None, "the audit was over before it could be stopped"
            if flags:
                assert waited_for(lambda: list(tmp_path.glob("a.html.parts/rows-*")))
            workers = children(process.pid)
            process.send_signal(number)
            assert process.wait(LONG) == status
            assert waited_for(lambda: not any(map(alive, workers)))
        finally:
            process.kill()
    said = (tmp_path / "err").read_text()
    assert said.count("\n") == 1
    assert ("kept in a.html.parts, and the same command goes on" if flags else "nothing is kept") in said
    assert (tmp_path / "a.html.parts" / "manifest.json").exists() == bool(flags)


def _stops():
    """Take interrupts as usual, also where these tests run in the background of a shell."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
