"""Letters of many rows in a folder: a file each, what proves it beside it, and an index.

Each file is written whole. A journal says which letters are there, so that a run that was stopped at any
moment goes on where it was, and ends with the same letters.
"""

from __future__ import annotations

import datetime
import hashlib
import json
import os
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from surefoot.exceptions import DataError, ProblemError, SurefootError
from surefoot.explain.explainer import CounterfactualExplainer
from surefoot.explain.population.pool import finished
from surefoot.explain.result.batch import Explanations
from surefoot.files import write_whole
from surefoot.ui.letters.content import Request, letter_of
from surefoot.ui.letters.labels import Labels
from surefoot.ui.letters.language import harmless, language
from surefoot.ui.letters.page import page, rendered
from surefoot.ui.letters.sender import advice_of, by_note, notes_of
from surefoot.ui.letters.slots import template
from surefoot.ui.letters.writer import Writer, estimated_by, is_missing

JOURNAL, REQUEST, INDEX, PROOFS = "journal.jsonl", "request.json", "index.html", "proofs"
FORMS = (".html", ".txt")


@dataclass(frozen=True)
class Mailing:
    """What all letters of a folder have in common.

    Parameters
    ----------
    explainer : CounterfactualExplainer
    target : label or None
    labels : Labels
    language, template : str
    form : {".html", ".txt"}
    ways : int
        How many answers a letter shows, at most.
    notes : tuple of str
        What the sender should know of all of them.
    """

    explainer: CounterfactualExplainer
    target: Any
    labels: Labels
    language: str = "en"
    template: str = "neutral"
    form: str = ".html"
    ways: int = 3
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        language(self.language)
        template(self.template)
        if self.form not in FORMS:
            raise ProblemError(f"letters are {' or '.join(FORMS)}, not {self.form!r:.60}")

    def answers(self, row: Any, label: Any) -> Explanations:
        """The answers about a row, with what is enough and why; a row that cannot be read has its place."""
        try:
            found = self.explainer.alternatives(row, self.target, self.ways)
        except ProblemError:
            table = pd.DataFrame([row.to_list()], index=[label], columns=row.index)
            return self.explainer.explain_batch(table.astype(object), self.target, progress=False)
        return Explanations([found[0].with_reasons(), *found[1:]])

    def written(
        self, row: Any, label: Any, day: datetime.date, to: str = "", recorded: Any = None
    ) -> Written:
        """The letter to the person of a row, and the file that belongs to it."""
        return self.about(self.answers(row, label), day, to, row, recorded)

    def about(
        self, found: Explanations, day: datetime.date, to: str = "", row: Any = None, recorded: Any = None
    ) -> Written:
        """The letter that answers about a row make; the row as it was given, where there is one."""
        given = {} if row is None else dict(row)
        writer = Writer(language(self.language), self.labels, given, estimated_by(found[0]))
        clf, slots = self.explainer.classifier, template(self.template)
        request = Request(list(found), clf, writer, slots, day, to, recorded=recorded)
        text = rendered(letter_of(request), self.form == ".txt")
        decided = None if request.kind == "invalid" else request.decided
        status, said = str(found[0].status), (notes_of(request), advice_of(request))
        return Written(text, found.to_json() + "\n", status, request.kind, str(decided), *said)


@dataclass(frozen=True)
class Written:
    """A letter as text, what proves it as JSON, and what the index says of it.

    Its notes are for the sender, and so is what it advises, which the sender should review.
    """

    letter: str
    proof: str
    status: str
    kind: str
    decision: str
    notes: tuple[str, ...] = ()
    advised: tuple[str, ...] = ()


@dataclass
class Folder:
    """A folder of letters.

    Parameters
    ----------
    path : Path
    form : str
        The ending of letters.
    count : int
        How many letters there will be.
    done : dict of int -> dict
        The entries of the journal whose files are there, by the place of their row.
    unwritten : list of str
        The rows for which no letter could be written, each with the reason.
    """

    path: Path
    form: str
    count: int
    done: dict[int, dict[str, Any]] = field(default_factory=dict)
    unwritten: list[str] = field(default_factory=list)

    def name(self, k: int) -> str:
        """The name of the k-th letter, without its ending."""
        return f"letter-{k:0{len(str(max(self.count - 1, 0)))}d}"

    def add(self, k: int, label: Any, found: Written) -> None:
        """Write a letter: its proof, then the letter, then the journal, which makes it count."""
        name = self.name(k)
        write_whole(self.path / PROOFS / f"{name}.json", found.proof)
        write_whole(self.path / f"{name}{self.form}", found.letter)
        entry = {
            "row": k,
            "name": "" if is_missing(label) else str(label),
            "file": f"{name}{self.form}",
            "status": found.status,
            "kind": found.kind,
            "decision": found.decision,
            "notes": list(found.notes),
            "advised": list(found.advised),
            "sha256": _digest(found.letter),
        }
        with (self.path / JOURNAL).open("a", encoding="utf-8") as file:
            file.write(json.dumps(entry) + "\n")
            file.flush()
            os.fsync(file.fileno())
        self.done[k] = entry

    @property
    def entries(self) -> list[dict[str, Any]]:
        """Of all letters that are there, in the order of the rows."""
        return [self.done[k] for k in sorted(self.done)]

    @property
    def notes(self) -> list[str]:
        """What the sender should know of single letters, each note once with its rows."""
        rows = ((harmless(one["name"]) or f"no name, {one['row']}", one["notes"]) for one in self.entries)
        return list(by_note((f"row {name}", said) for name, said in rows))

    def write_index(self, title: str, notes: tuple[str, ...] = ()) -> None:
        """What the sender should know, what letters advise, and one line for each letter."""
        entries = [one | {key: harmless(one[key]) for key in ("name", "decision")} for one in self.entries]
        advice = Counter(text for one in entries for text in one["advised"]).most_common()
        known: dict[str, Any] = {"entries": entries, "advice": advice, "notes": notes, "proofs": PROOFS}
        write_whole(self.path / INDEX, page("index.html", title=title, **known))


def open_folder(
    path: Path, form: str, asked: dict[str, Any], count: int, restart: bool
) -> tuple[Folder, datetime.date]:
    """A folder for letters, with what is there already; and the day of its letters.

    Parameters
    ----------
    path : Path
    form : str
    asked : dict
        What tells this run from others: model, rows, settings. A folder of another one is refused.
    count : int
    restart : bool
        Whether to begin again instead, and when letters of another request are there.
    """
    known = _read(path / REQUEST)
    plain = json.loads(json.dumps(asked))
    strangers = path.is_dir() and known is None and any(path.iterdir())
    if strangers:
        raise ProblemError(f"{path}: holds other files; give a new folder")
    same = known is not None and {k: v for k, v in known.items() if k not in ("date", "surefoot")} == {
        k: v for k, v in plain.items() if k not in ("date", "surefoot")
    }
    given = plain.get("date")
    if known is not None and not restart and (not same or given not in (None, known["date"])):
        what = ", ".join(_different(known, plain, given is not None))
        raise ProblemError(
            f"{path}: holds letters of another request (other: {what}); give a new folder, or --restart"
        )
    (path / PROOFS).mkdir(parents=True, exist_ok=True)
    for half in [*path.glob(".*.tmp"), *(path / PROOFS).glob(".*.tmp")]:  # of a run that was killed
        half.unlink(missing_ok=True)
    folder = Folder(path, form, count)
    if known is not None and not restart:
        folder.done = _journal(folder)
        return folder, datetime.date.fromisoformat(known["date"])
    _clear(path)
    day = given or datetime.date.today().isoformat()
    write_whole(path / REQUEST, json.dumps(plain | {"date": day}, indent=1) + "\n")
    return folder, datetime.date.fromisoformat(day)


def _clear(path: Path) -> None:
    """Take away letters of an earlier run; the journal first, so that none of them counts any longer."""
    for name in (JOURNAL, INDEX):
        (path / name).unlink(missing_ok=True)
    for old in [*path.glob("letter-*"), *(path / PROOFS).glob("letter-*.json")]:
        old.unlink()


def _read(path: Path) -> dict[str, Any] | None:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        datetime.date.fromisoformat(found["date"])
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError):
        raise DataError(f"{path}: cannot be read; give a new folder") from None
    return dict(found)


def _different(known: dict[str, Any], asked: dict[str, Any], dated: bool) -> list[str]:
    """What tells two requests apart, flags by their names."""
    left_out = {"surefoot"} if dated else {"surefoot", "date"}
    names = [k for k in {*asked, *known} - left_out if asked.get(k) != known.get(k)]
    if "flags" in names:
        names.remove("flags")
        before, now = known.get("flags") or {}, asked.get("flags") or {}
        flags = [k for k in {*before, *now} if before.get(k) != now.get(k)]
        names += [f"--{name.replace('_', '-')}" for name in flags]
    return sorted(names)


def _journal(folder: Folder) -> dict[int, dict[str, Any]]:
    """Letters that are there as they were written; lines that were cut off do not count."""
    path = folder.path / JOURNAL
    text = path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""
    if text and not text.endswith("\n"):  # the last line was cut off: what comes next must not be added to it
        text = text[: text.rfind("\n") + 1]
        write_whole(path, text)
    found: dict[int, dict[str, Any]] = {}
    for line in text.splitlines():
        with suppress(ValueError, KeyError, TypeError, OSError):
            entry = json.loads(line)
            k, letter = int(entry["row"]), folder.path / f"{folder.name(entry['row'])}{folder.form}"
            proof = folder.path / PROOFS / f"{folder.name(k)}.json"
            if (
                0 <= k < folder.count
                and {"notes", "advised"} <= set(entry)
                and proof.exists()
                and _digest(letter.read_text("utf-8")) == entry["sha256"]
            ):
                found[k] = entry
    return found


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def rows_digest(rows: pd.DataFrame) -> str:
    """A digest of a table: its names, labels and values."""
    digest = hashlib.sha256(repr([*map(str, rows.columns)]).encode("utf-8", "surrogatepass"))
    for label, *values in rows.itertuples(name=None):
        digest.update(repr((str(label), [str(v) for v in values])).encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


class Applicant(NamedTuple):
    """A row that gets a letter: its place in the table, its name, its values, the decision on record."""

    number: int
    label: Any
    row: Any
    recorded: Any = None


class Outcome(NamedTuple):
    """A letter, or why there is none."""

    applicant: Applicant
    found: Written | None
    why: str = ""
    interrupted: bool = False


class Letters(NamedTuple):
    """What is done for each row of a mailing."""

    mailing: Mailing
    day: datetime.date

    def done(self, applicant: Applicant) -> Outcome:
        """Write the letter; a row that stops it is named, and does not stop the others."""
        try:
            _, label, row, recorded = applicant
            return Outcome(applicant, self.mailing.written(row, label, self.day, "", recorded))
        except SurefootError as error:
            return Outcome(applicant, None, str(error))

    def given_up(self, applicant: Applicant) -> Outcome:
        """Say that its processes were lost."""
        return Outcome(applicant, None, "the process that worked on it was lost, perhaps for want of memory")


def write_letters(
    mailing: Mailing,
    rows: pd.DataFrame,
    path: Path,
    asked: dict[str, Any],
    *,
    n_jobs: int = 1,
    restart: bool = False,
    progress: bool = True,
    recorded: Sequence[Any] | None = None,
) -> Folder:
    """Write the letters of all rows that are not there yet, and the index.

    What is on record as decided, row by row, is compared with what the letters state.
    """
    from tqdm.auto import tqdm

    folder, day = open_folder(path, mailing.form, asked, len(rows), restart)
    missing = [k for k in range(len(rows)) if k not in folder.done]
    with tqdm(
        total=len(rows), initial=len(folder.done), desc="writing", unit="letter", disable=not progress
    ) as bar:
        known = [None] * len(rows) if recorded is None else recorded
        applicants = (Applicant(k, rows.index[k], rows.iloc[k], known[k]) for k in missing)
        for applicant, found, why, _ in finished(Letters(mailing, day), applicants, n_jobs):
            if found is None:
                folder.unwritten.append(f"row {applicant.label}: {why}")
            else:
                folder.add(applicant.number, applicant.label, found)
            bar.update()
    folder.write_index(f"{len(rows)} letters", mailing.notes)
    return folder
