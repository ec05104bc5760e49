"""Many letters in a folder: nothing is lost, and a second run gives the same ones."""

import datetime
import json
import os
import shutil
import signal
import subprocess
import sys
import time

import pandas as pd
import pytest

from surefoot import CounterfactualExplainer
from surefoot.exceptions import DataError, ProblemError
from surefoot.ui.cli import main
from surefoot.ui.letters.folder import JOURNAL, Folder, Mailing, open_folder, write_letters
from surefoot.ui.letters.labels import Labels
from tests.thinning import only
from tests.ui.mixed import toy_model, toy_table

ASKED = {"model": "m", "date": "2026-11-18"}


@pytest.fixture(scope="module")
def clf():
    return toy_model()


@pytest.fixture(scope="module")
def rows():
    return toy_table()[0].head(6)


@pytest.fixture(scope="module")
def mailing(clf):
    return Mailing(CounterfactualExplainer(clf), clf.classes_[1], Labels(), ways=2)


def written(folder):
    """Every letter, and the index."""
    return {path.name: path.read_text("utf-8") for path in folder.glob("*.html")}


@pytest.fixture(scope="module")
def whole(mailing, rows, tmp_path_factory):
    path = tmp_path_factory.mktemp("letters") / "whole"
    write_letters(mailing, rows, path, ASKED, progress=False)
    return path


def test_a_letter_and_a_proof_for_each_row_and_an_index(whole, rows):
    assert sorted(written(whole)) == ["index.html", *(f"letter-{k}.html" for k in range(6))]
    assert sorted(p.name for p in (whole / "proofs").iterdir()) == [f"letter-{k}.json" for k in range(6)]
    index = (whole / "index.html").read_text("utf-8")
    assert all(f'<a href="letter-{k}.html">' in index for k in range(6))


@pytest.mark.parametrize("cut", [0, 10, -1, -30])
def test_a_run_that_was_cut_off_goes_on(mailing, rows, whole, tmp_path, cut, monkeypatch):
    path = shutil.copytree(whole, tmp_path / "again")
    journal = path / JOURNAL
    journal.write_text(journal.read_text()[:cut] if cut else "")
    (path / ".letter-3.html.0123.tmp").write_text("half")
    (path / "index.html").unlink()
    asked = []
    first = Mailing.written
    monkeypatch.setattr(
        Mailing, "written", lambda self, row, *more: asked.append(row.name) or first(self, row, *more)
    )
    later = ASKED | {"date": None}  # on another day: the letters keep theirs
    write_letters(mailing, rows, path, later, progress=False)
    assert len(asked) == (6 if cut >= 0 else 1)
    assert written(path) == written(whole)
    assert not list(path.glob(".*"))


def test_letters_that_are_gone_or_changed_are_written_again(mailing, rows, whole, tmp_path):
    path = shutil.copytree(whole, tmp_path / "again")
    (path / "letter-2.html").unlink()
    (path / "letter-4.html").write_text("something else")
    (path / "proofs" / "letter-5.json").unlink()
    write_letters(mailing, rows, path, ASKED, progress=False)
    assert written(path) == written(whole)
    assert (path / "proofs" / "letter-5.json").exists()


@pytest.mark.parametrize("n_jobs", only([1], [1, 2]))
def test_a_row_without_a_letter_does_not_stop_the_others(clf, rows, tmp_path, n_jobs):
    cells = rows.astype(object)
    cells.iloc[2] = None
    broken = Refusing(CounterfactualExplainer(clf), clf.classes_[1], Labels(), ways=1)
    folder = write_letters(broken, cells, tmp_path / "l", ASKED, n_jobs=n_jobs, progress=False)
    assert folder.unwritten == [f"row {rows.index[2]}: no letter about nothing"]
    assert sorted(folder.done) == [0, 1, 3, 4, 5]


class Refusing(Mailing):
    """A mailing that refuses rows without any value."""

    def written(self, row, *more):
        if row.isna().all():
            raise ProblemError("no letter about nothing")
        return super().written(row, *more)


def test_a_folder_of_something_else_is_refused(tmp_path):
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(ProblemError, match="holds other files"):
        open_folder(tmp_path, ".html", ASKED, 3, restart=True)
    assert [p.name for p in tmp_path.iterdir()] == ["mine.txt"]


def test_a_folder_of_another_request_is_refused_unless_begun_again(tmp_path):
    path = tmp_path / "letters"
    folder, day = open_folder(path, ".html", ASKED, 3, restart=False)
    assert isinstance(folder, Folder)
    assert day == datetime.date(2026, 11, 18)
    (path / "letter-0.html").write_text("old")
    with pytest.raises(ProblemError, match=r"letters of another request \(other: model"):
        open_folder(path, ".html", ASKED | {"model": "n"}, 3, restart=False)
    with pytest.raises(ProblemError, match=r"another request \(other: date"):
        open_folder(path, ".html", ASKED | {"date": "2026-11-19"}, 3, restart=False)
    assert (path / "letter-0.html").exists()
    open_folder(path, ".html", ASKED | {"model": "n"}, 3, restart=True)
    assert not (path / "letter-0.html").exists()
    (path / "request.json").write_text("{")
    with pytest.raises(DataError, match="cannot be read"):
        open_folder(path, ".html", ASKED, 3, restart=False)


def test_the_same_letters_after_a_kill(clf, rows, tmp_path, monkeypatch, capsys):
    clf.save(tmp_path / "model.json")
    rows.to_csv(tmp_path / "rows.csv", index=False)
    monkeypatch.chdir(tmp_path)
    command = [
        *("letter", "model.json", "rows.csv", "--all", "--quiet", "--target", str(clf.classes_[1])),
        *("--date", "2026-11-18", "--output"),
    ]
    killed = subprocess.Popen(
        [sys.executable, "-m", "surefoot", *command, "killed"], env={**os.environ, "OMP_NUM_THREADS": "1"}
    )
    end = time.monotonic() + 60
    while not list((tmp_path / "killed").glob("letter-1*")) and time.monotonic() < end:
        time.sleep(0.002)
    killed.send_signal(signal.SIGKILL)
    killed.wait()
    assert list((tmp_path / "killed").glob("letter-*"))
    for folder in ("killed", "whole"):
        assert main([*command, folder]) == 0
        assert capsys.readouterr().err.startswith(f"surefoot: 6 letters in {folder}:")
    assert written(tmp_path / "killed") == written(tmp_path / "whole")
    lines = (tmp_path / "killed" / JOURNAL).read_text().splitlines()
    assert sorted(json.loads(line)["row"] for line in lines) == list(range(6))


@pytest.mark.parametrize(
    ("number", "jobs"),
    only(
        [(signal.SIGTERM, 1)],
        [(number, jobs) for number in (signal.SIGTERM, signal.SIGINT) for jobs in (1, 2)],
    ),
)
def test_a_stop_says_one_line_and_leaves_no_process(clf, rows, tmp_path, number, jobs):
    clf.save(tmp_path / "model.json")
    pd.concat([rows] * 40, ignore_index=True).to_csv(tmp_path / "rows.csv", index=False)
    command = ["letter", "model.json", "rows.csv", "--all", "--quiet", "--target", str(clf.classes_[1])]
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # shells ignore it in the background
    try:
        process = subprocess.Popen(
            [sys.executable, "-m", "surefoot", *command, "--jobs", str(jobs), "--output", "letters"],
            cwd=tmp_path,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
    finally:
        signal.signal(signal.SIGINT, before)
    end = time.monotonic() + 60
    while not list((tmp_path / "letters").glob("letter-*")) and time.monotonic() < end:
        time.sleep(0.002)
    process.send_signal(number)
    said = process.communicate(timeout=60)[1].splitlines()  # returns when nobody holds the pipe any more
    assert [line for line in said if "read as" not in line] == [
        "surefoot: stopped; letters that are written stay in letters, and the same command goes on there"
    ]
    assert process.returncode == (-signal.SIGTERM if number == signal.SIGTERM else 130)
    while _alive(process.pid) and time.monotonic() < end:
        time.sleep(0.05)
    assert not _alive(process.pid)


def _alive(group):
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True
