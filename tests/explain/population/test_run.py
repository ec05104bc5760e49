"""A run that is stopped at any moment goes on, and ends with the same table."""

import errno
import gzip
import json
import os
import resource
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from surefoot import Actions, Explanations, verify
from surefoot.exceptions import DataError, ProblemError
from surefoot.explain.population import journal as journals
from surefoot.explain.population.journal import Journal
from surefoot.explain.population.row_job import Job
from tests.asking import CounterfactualExplainer
from tests.ui.mixed import toy_model, toy_table


@pytest.fixture(scope="module")
def clf():
    return toy_model()


@pytest.fixture(scope="module")
def explainer(clf):
    return CounterfactualExplainer(clf, budget=0)


@pytest.fixture(scope="module")
def rows():
    return toy_table(30)[0].assign(id=[f"=c{k}" for k in range(30)])


@pytest.fixture(scope="module")
def expected(explainer, rows):
    return explainer.explain_table(rows.set_index("id"), "yes").reset_index(drop=True)


def same(path, expected):
    found = pd.read_parquet(path)
    pd.testing.assert_frame_equal(
        found.drop(columns="seconds"), expected.drop(columns="seconds"), check_dtype=False
    )
    return True


def run(explainer, rows, output, **more):
    asked = {"id": "id", "n_jobs": 1, "target": "yes", "progress": False, "chunk": 7, **more}
    return explainer.explain_to(rows, output, **asked)


class Stop(BaseException):
    """Somebody ends the process."""


def stop_after(monkeypatch, count):
    """Stop a run after so many rows; how many it began is in the list that comes back."""
    done, begun = Job.done, []

    def stopped(self, row):
        if len(begun) == count:
            raise Stop
        begun.append(row.number)
        return done(self, row)

    monkeypatch.setattr(Job, "done", stopped)
    return begun


def test_the_table_is_that_of_explain_table(explainer, rows, expected, tmp_path):
    rows.to_csv(tmp_path / "in.csv", index=False)
    rows.to_parquet(tmp_path / "in.parquet")
    for source in (rows, tmp_path / "in.csv", tmp_path / "in.parquet"):
        summary = run(explainer, source, tmp_path / "out.parquet")
        assert same(tmp_path / "out.parquet", expected)
        assert summary.rows == summary.computed == 30
        assert summary.counts == expected["status"].value_counts().to_dict()
    assert sorted(os.listdir(tmp_path)) == ["in.csv", "in.parquet", "out.parquet"]


def test_csv_is_harmless_and_whole_numbers_have_no_point(explainer, rows, expected, tmp_path):
    for name in ("out.csv", "out.csv.gz"):
        run(explainer, rows, tmp_path / name)
        found = pd.read_csv(tmp_path / name, dtype=str, keep_default_na=False)
        assert found["row"].tolist() == [f"'=c{k}" for k in range(30)]
        assert not found["counterfactual: cards"].str.contains(".", regex=False).any()
        assert np.array_equal(found["distance"].astype(float), expected["distance"])


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_nothing_is_computed_twice(explainer, rows, expected, tmp_path, monkeypatch, n_jobs):
    output, begun = tmp_path / "out.parquet", []
    for count in (1, 9, 0, 6):
        with monkeypatch.context() as patch:
            now = stop_after(patch, count)
            with pytest.raises(Stop):
                run(explainer, rows, output)
            begun += now
        assert not output.exists()
    summary = run(explainer, rows, output, n_jobs=n_jobs)
    assert len(set(begun)) == len(begun) == 16
    assert summary.computed == 14
    assert same(output, expected)


def test_half_a_line_counts_for_nothing(explainer, rows, expected, tmp_path, monkeypatch):
    output = tmp_path / "out.parquet"
    with monkeypatch.context() as patch:
        stop_after(patch, 10)
        with pytest.raises(Stop):
            run(explainer, rows, output)
    part = tmp_path / "out.parquet.parts" / "rows-000000.jsonl"
    lines = part.read_bytes().splitlines(keepends=True)
    damaged = lines[4].replace(b"optimal", b"0ptimal").replace(b"already", b"alreadi")
    assert damaged != lines[4]
    part.write_bytes(b"".join([*lines[:4], damaged, *lines[5:9], lines[9][:-9]]))
    assert run(explainer, rows, output).computed == 22  # the damaged one and the torn one again
    assert same(output, expected)


@pytest.mark.parametrize(
    "body",
    [
        b"{}",
        b"[1]",
        b'["a", [], null]',
        b"[-5, [], null]",
        b'[99999, ["x"], null]',
        b"[1, [], null]",
        b'[1, ["1", "no status"], null]',
        b"[" * 100_000,
        b"[1, [], [0, 5, 9, 0]]",
    ],
)
def test_lines_that_no_run_wrote_count_for_nothing(explainer, rows, tmp_path, monkeypatch, body):
    output = tmp_path / "out.parquet"
    with monkeypatch.context() as patch:
        stop_after(patch, 3)
        with pytest.raises(Stop):
            run(explainer, rows.head(4), output)
    with Journal(output) as journal:
        about = {key: value for key, value in journal.manifest.items() if key in journals.PARTS}
        journal.begin(about, resume=True)
        part = journal.folder / "rows-000000.jsonl"
        part.write_bytes(part.read_bytes() + b"\0" * 40 + b"\n" + journal._checked(body))
    assert run(explainer, rows.head(4), output).computed in (1, 2)  # the line may stand in the place of one
    whole = run(explainer, rows.head(4), tmp_path / "whole.parquet")
    assert whole.rows == 4
    assert same(output, pd.read_parquet(tmp_path / "whole.parquet"))


def test_lines_of_another_run_count_for_nothing(explainer, rows, expected, tmp_path, monkeypatch):
    outputs = {0.3: tmp_path / "other.parquet", None: tmp_path / "out.parquet"}
    for budget, output in outputs.items():
        asked = explainer if budget is None else explainer.copy(budget=budget)
        with monkeypatch.context() as patch:
            stop_after(patch, 10)
            with pytest.raises(Stop):
                run(asked, rows, output)
    other, own = (tmp_path / f"{path.name}.parts" / "rows-000000.jsonl" for path in outputs.values())
    own.write_bytes(own.read_bytes() + other.read_bytes())
    assert run(explainer, rows, tmp_path / "out.parquet").computed == 20
    assert same(tmp_path / "out.parquet", expected)


@pytest.mark.parametrize("keep", [None, 0, 300])
def test_a_row_whose_proof_was_lost_is_asked_again(explainer, clf, rows, tmp_path, monkeypatch, keep):
    """Of the files of a run, a power cut may spare one and not the other."""
    proofs = tmp_path / "proofs.jsonl"
    with monkeypatch.context() as patch:
        stop_after(patch, 4)
        with pytest.raises(Stop):
            run(explainer, rows.head(6), tmp_path / "out.csv", certificates=proofs)
    part = tmp_path / "out.csv.parts" / "proofs-000000.jsonl"
    part.unlink() if keep is None else part.write_bytes(part.read_bytes()[:keep])
    assert run(explainer, rows.head(6), tmp_path / "out.csv", certificates=proofs).computed == 6
    explanations = Explanations.from_json(proofs.read_text())
    assert [e.row for e in explanations] == rows["id"].head(6).tolist()
    assert all(verify(e, clf).ok for e in explanations)


@pytest.mark.parametrize("content", [b"", b"{", b"\xff\xfe", b"[]", b"null", b"[" * 100_000])
def test_a_damaged_manifest_is_one_clear_error(explainer, rows, tmp_path, monkeypatch, content):
    output = tmp_path / "out.csv"
    with monkeypatch.context() as patch:
        stop_after(patch, 2)
        with pytest.raises(Stop):
            run(explainer, rows.head(3), output)
    (tmp_path / "out.csv.parts" / "manifest.json").write_bytes(content)
    with pytest.raises(DataError, match=r"manifest\.json: .*--restart \(resume=False\) begins again"):
        run(explainer, rows.head(3), output)
    assert run(explainer, rows.head(3), output, resume=False).computed == 3


def test_what_changed_is_named(explainer, clf, rows, tmp_path, monkeypatch):
    output = tmp_path / "out.csv"
    with monkeypatch.context() as patch:
        stop_after(patch, 3)
        with pytest.raises(Stop):
            run(explainer, rows, output)
    other = toy_model("power")
    changes = {
        "the question": (explainer.copy(budget=0.1), rows, {}),
        "the actions": (explainer.copy(actions=Actions({"years": "stay"})), rows, {}),
        "the model": (CounterfactualExplainer(other, budget=0), rows, {}),
        "the table": (explainer, rows.iloc[::-1], {}),
        "the target": (explainer, rows, {"target": "no"}),
        "the columns": (explainer, rows, {"enough": True}),
    }
    for what, (asking, table, more) in changes.items():
        with pytest.raises(ProblemError, match=f"{what}.* ha(s|ve) changed since.*resume=False"):
            run(asking, table, output, **more)
    assert run(explainer.copy(time_limit=20), rows, output).computed == 27
    with monkeypatch.context() as patch:
        stop_after(patch, 3)
        with pytest.raises(Stop):
            run(explainer, rows, output)
    assert run(explainer.copy(budget=0.1), rows, output, resume=False).computed == 30


def test_what_time_stopped_is_asked_again_only_if_that_is_wanted(explainer, rows, expected, tmp_path):
    output = tmp_path / "out.parquet"
    hurried = explainer.copy(time_limit=1e-9)
    first = run(hurried, rows, output)
    stopped = sum(n for status, n in first.counts.items() if "time_limit" in status)
    assert stopped
    assert first.reasons.get("time_limit", 0) <= stopped
    assert run(explainer, rows, output).computed == 0
    again = run(explainer, rows, output, retry="time_limit")
    assert again.computed == stopped
    assert same(output, expected)
    assert not (tmp_path / "out.parquet.parts").exists()
    with pytest.raises(ProblemError, match="retry: 'time'"):
        run(explainer, rows, output, retry="time")


def test_certificates_are_read_by_verify(explainer, clf, rows, tmp_path):
    for name in ("proofs.jsonl", "proofs.jsonl.gz"):
        run(explainer, rows.head(6), tmp_path / "out.csv", certificates=tmp_path / name)
        content = (tmp_path / name).read_bytes()
        text = (gzip.decompress(content) if name.endswith("gz") else content).decode()
        explanations = Explanations.from_json(text)
        assert [e.row for e in explanations] == rows["id"].head(6).tolist()
        assert all(verify(e, clf).ok for e in explanations)


def test_a_second_run_is_refused(explainer, rows, tmp_path):
    with Journal(tmp_path / "out.csv"), pytest.raises(ProblemError, match="another run is writing it"):
        run(explainer, rows, tmp_path / "out.csv")
    assert os.listdir(tmp_path) == []


def test_a_folder_of_somebody_else_is_left_alone(explainer, rows, tmp_path):
    folder = tmp_path / "out.csv.parts"
    folder.mkdir()
    (folder / "thesis.doc").write_text("years of work")
    with pytest.raises(ProblemError, match=r"thesis\.doc.*not of a run"):
        run(explainer, rows, tmp_path / "out.csv", resume=False)
    assert (folder / "thesis.doc").read_text() == "years of work"
    (tmp_path / "o.csv.parts").symlink_to(folder)
    with pytest.raises(ProblemError, match="is something else"):
        run(explainer, rows, tmp_path / "o.csv")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"chunk": 0}, "chunk must be"),
        ({"n_jobs": 0}, "n_jobs must be"),
        ({"target": "perhaps"}, "unknown target"),
        ({"id": "name"}, "no column 'name'"),
        ({"output": "out.xlsx"}, "CSV"),
        ({"output": "."}, "is a directory"),
        ({"output": "none/out.csv"}, "is no folder"),
        ({"certificates": "none/proofs.jsonl"}, "is no folder"),
        ({"certificates": "."}, "is a directory"),
        ({"rows": pd.DataFrame({"id": []})}, "no rows"),
    ],
)
def test_bad_requests_write_nothing(explainer, rows, tmp_path, change, message):
    table, output = change.pop("rows", rows), change.pop("output", "out.csv")
    if "certificates" in change:
        change["certificates"] = tmp_path / change["certificates"]
    with pytest.raises((ProblemError, DataError), match=message):
        run(explainer, table, tmp_path / output, **change)
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    ("output", "certificates", "message"),
    [
        ("in.csv", None, "in.csv: is read"),
        ("link.csv", None, "link.csv: is read"),
        ("out.csv", "in.csv", "in.csv: is read"),
        ("out.csv", "out.csv", "two outputs"),
        ("out.csv", "out.csv.parts/proofs.jsonl", "is no folder"),
    ],
)
def test_no_output_takes_the_place_of_another_file(explainer, rows, tmp_path, output, certificates, message):
    rows.to_csv(tmp_path / "in.csv", index=False)
    (tmp_path / "link.csv").symlink_to(tmp_path / "in.csv")
    (tmp_path / "out.csv.parts").mkdir()
    content = (tmp_path / "in.csv").read_bytes()
    more = {"certificates": tmp_path / certificates} if certificates else {}
    with pytest.raises(ProblemError, match=message):
        run(explainer, tmp_path / "in.csv", tmp_path / output, **more)
    assert (tmp_path / "in.csv").read_bytes() == content
    assert sorted(os.listdir(tmp_path)) == ["in.csv", "link.csv", "out.csv.parts"]


def test_certificates_may_go_to_another_disk(explainer, clf, rows, tmp_path, monkeypatch):
    proofs, replace = tmp_path / "proofs.jsonl", Path.replace

    def across(self, target):
        if self.name == "certificates.tmp":
            raise OSError(errno.EXDEV, "Invalid cross-device link")
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", across)
    run(explainer, rows.head(4), tmp_path / "out.csv", certificates=proofs)
    assert len(proofs.read_text().splitlines()) == 4
    assert sorted(os.listdir(tmp_path)) == ["out.csv", "proofs.jsonl"]


def test_a_full_disk_keeps_what_is_finished(explainer, rows, expected, tmp_path):
    """The limit is that of files of one process; a disk without room fails in the same place."""
    output = tmp_path / "out.parquet"
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (9000, hard))
    try:
        with pytest.raises(OSError, match=r"kept.*goes on"):
            run(explainer, rows, output)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, before)
    kept = (tmp_path / "out.parquet.parts" / "rows-000000.jsonl").read_bytes()
    assert kept.endswith(b"\n")
    assert run(explainer, rows, output).computed == 30 - kept.count(b"\n") < 30
    assert same(output, expected)


@pytest.mark.parametrize("name", ["out.csv", "out.parquet", "out.csv.gz"])
def test_a_disk_that_is_full_at_the_end_keeps_what_is_finished(explainer, rows, tmp_path, monkeypatch, name):
    output = tmp_path / name

    def full(file):
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("surefoot.explain.population.output._forced", full)
        with pytest.raises(OSError, match=r"No space left on device; finished rows are kept.*\.parts"):
            run(explainer, rows.head(4), output)
    assert not output.exists()
    assert run(explainer, rows.head(4), output).computed == 0


def test_a_row_that_is_given_up_says_why(explainer, rows, tmp_path, monkeypatch):
    def finished(job, asked, _):
        return (job.given_up(row) if row.number == 3 else job.done(row) for row in asked)

    monkeypatch.setattr("surefoot.explain.population.going_on.finished", finished)
    assert run(explainer, rows.head(5), tmp_path / "out.csv").reasons["worker_lost"] == 1
    found = pd.read_csv(tmp_path / "out.csv")
    assert found["reason"].fillna("").tolist() == ["", "", "", "worker_lost", ""]
    assert "lost 2 times" in found.loc[3, "advice"]


@pytest.mark.slow
def test_a_row_that_takes_its_process_along_is_given_up(tmp_path):
    """In a process of its own: what ends workers is put into the module that they load."""
    code = """
        import os, sys
        from tests.explain.population.dying import Dying
        from tests.ui.mixed import toy_model, toy_table
        if __name__ == "__main__":
            explainer = Dying(toy_model(), budget=0)
            rows = toy_table(8)[0]
            rows.loc[3, "years"] = 666.0
            summary = explainer.explain_to(rows, sys.argv[1], n_jobs=2, target="yes", progress=False)
            print(summary.rows, summary.reasons)
    """
    out = tmp_path / "out.csv"
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code), str(out)], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split()[0] == "8"
    found = pd.read_csv(out)
    assert found["reason"].fillna("").tolist() == ["", "", "", "worker_lost", "", "", "", ""]
    assert "lost 2 times" in found.loc[3, "advice"]


def test_segments_are_kept_apart(explainer, rows, expected, tmp_path, monkeypatch):
    monkeypatch.setattr(journals, "SEGMENT", 4)
    monkeypatch.setattr("surefoot.explain.population.going_on.SEGMENT", 4)
    output = tmp_path / "out.parquet"
    with monkeypatch.context() as patch:
        stop_after(patch, 13)
        with pytest.raises(Stop):
            run(explainer, rows, output)
    assert len(list((tmp_path / "out.parquet.parts").glob("rows-*"))) == 4
    manifest = json.loads((tmp_path / "out.parquet.parts" / "manifest.json").read_text())
    assert {"model", "question", "actions", "table"} <= manifest.keys()
    assert run(explainer, rows, output).computed == 17
    assert same(output, expected)


def test_rows_with_the_same_values_are_explained_once(explainer, rows, expected, tmp_path, monkeypatch):
    twice = pd.concat([rows, rows.assign(id=[f"t{k}" for k in range(30)])], ignore_index=True)
    begun = stop_after(monkeypatch, 1000)
    summary = run(explainer, twice, tmp_path / "out.parquet")
    assert summary.rows == summary.computed == 60
    assert begun == list(range(30))
    found = pd.read_parquet(tmp_path / "out.parquet")
    assert found["row"].tolist() == twice["id"].tolist()
    aside = ["row", "seconds"]
    pd.testing.assert_frame_equal(
        found.tail(30).reset_index(drop=True).drop(columns=aside), found.head(30).drop(columns=aside)
    )
    begun.clear()
    run(explainer.copy(time_limit=1e-9), twice, tmp_path / "out.csv")
    assert len(begun) > 30  # what was cut short may come out otherwise


@pytest.mark.parametrize("name", ["in.csv", "in.parquet"])
@pytest.mark.parametrize("how", ["written over", "appended to", "gone"])
def test_a_table_that_is_written_to_while_it_is_read_is_refused(
    explainer, rows, expected, tmp_path, monkeypatch, name, how
):
    """What was finished before is kept: it goes on where the table is what it was."""
    table, output, done = tmp_path / name, tmp_path / "out.parquet", Job.done
    rows.to_csv(table, index=False) if name == "in.csv" else rows.to_parquet(table)
    content = table.read_bytes()

    def written(self, row):
        if row.number == 3:
            changed = content.replace(b"=c9", b"=d9") if how == "written over" else content + b"\n"
            table.unlink() if how == "gone" else table.write_bytes(changed)
        return done(self, row)

    with monkeypatch.context() as patch:
        patch.setattr(Job, "done", written)
        with pytest.raises(DataError, match=rf"{name}: (was written to while it was read|cannot be read)"):
            run(explainer, table, output)
    assert not output.exists()
    table.write_bytes(content)
    assert run(explainer, table, output).computed == 23
    assert same(output, expected)


def test_text_that_is_no_text_goes_through(explainer, clf, rows, tmp_path):
    """Half of a surrogate pair, which no file holds, in a name and in a category."""
    names = pd.Series(["\ud800x", *rows["id"][1:]], dtype=object)
    odd = rows.astype({"housing": object}).assign(id=names).head(4)
    odd.loc[1, "housing"] = "\udfffcastle"
    proofs = tmp_path / "proofs.jsonl"
    run(explainer, odd, tmp_path / "out.parquet", certificates=proofs)
    table = pd.read_parquet(tmp_path / "out.parquet")
    assert table["row"].tolist() == ["\\ud800x", "=c1", "=c2", "=c3"]
    assert table["factual: housing"][1] == "\\udfffcastle"
    found = Explanations.from_json(proofs.read_text())
    assert [e.row for e in found] == table["row"].tolist()
    assert [verify(e, clf).ok for e in found if e.status != "invalid"] == [True] * 3


def test_a_row_that_had_no_time_to_become_safer_is_asked_again(clf, rows, tmp_path):
    """It has the target, and its line does not say that time was up."""
    asking, output = CounterfactualExplainer(clf, budget=0.4), tmp_path / "out.parquet"
    expected = asking.explain_table(rows.set_index("id"), "yes").reset_index(drop=True)
    run(asking.copy(time_limit=1e-9), rows, output)
    hurried = pd.read_parquet(output)
    safer = (hurried["status"] == "already_target") & (expected["status"] == "optimal")
    assert safer.any()
    run(asking, rows, output, retry="time_limit")
    assert same(output, expected)
