"""Random commands, flags, paths and files: does the command line end well, and leave its inputs alone?

usage: python benchmarks/run.py cli_fuzz                                   (2,000 commands)
       python benchmarks/audit/cli_fuzz.py [--count N] [--seed K] [--subprocesses SHARE]

Most commands run in this process, with an alarm; a share of them as processes of their own, some with closed
or full streams. Wrong is: an exit status other than 0, 1 and 2, a traceback, an input whose checksum changes,
a temporary file left behind, a control character printed, more time than the alarm.
"""

import argparse
import contextlib
import io
import os
import random
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from benchmarks.audit.fuzzed_files import (
    BROKEN,
    EVIL,
    MODELS,
    NEW,
    OTHERS,
    PAIRS,
    PLACES,
    TABLES,
    Kept,
    checksum,
    make_world,
)  # fmt: skip
from surefoot.ui.cli import main

FAULTS = [
    "other status", "traceback", "input changed", "left behind", "control characters", "too long",
    "unforeseen",
]  # fmt: skip
COLUMNS = ["command", "cases", "exit 0", "exit 1", "exit 2", *FAULTS]
KEY = COLUMNS[:1]
COUNT, SECONDS, SHARE = 2_000, 20, 0.02
FEATURES = ("income", "debt", "housing", f"income{EVIL}", "nothing", "")
VALUES = ("0", "1", "-1", "0.05", "1e400", "nan", "inf", "-inf", "x", "", EVIL, "3", "2", "-")
# What each command takes: (flag, how many values, what kind).
TABLE_FLAGS = [
    ("--separator", 1, "value"),
    ("--decimal", 1, "value"),
    ("--header", 0, ""),
    ("--no-header", 0, ""),
]
FLAGS = {
    "fit": [
        ("--label", 1, "label"), ("--drop", 1, "feature"), ("--categorical", 1, "feature"),
        ("--numeric", 1, "feature"), ("--ordered", 3, "feature"), ("--folds", 1, "value"),
        ("--structure", 1, "structure"), ("--max-parents", 1, "value"), ("--root", 1, "feature"),
        ("--require", 2, "feature"), ("--shrinkage", 1, "value"), ("--cell-smoothing", 1, "value"),
        *TABLE_FLAGS,
    ],
    "predict": [("--proba", 0, ""), ("--id", 1, "feature"), *TABLE_FLAGS],
    "diagnose": [("--label", 1, "label"), ("--folds", 1, "value"), *TABLE_FLAGS],
    "actions": [],
    "explain": [
        ("--target", 1, "label"), ("--budget", 1, "value"), ("--budget-of", 2, "feature"),
        ("--impute", 0, ""),
        ("--norm", 1, "value"), ("--threshold", 1, "value"), ("--decision", 1, "value"),
        ("--whitening", 1, "value"), ("--distance", 1, "value"), ("--bound", 3, "feature"),
        ("--immutable", 1, "feature"), ("--increasing", 1, "feature"), ("--whole", 1, "feature"),
        ("--at-most", 1, "value"), ("--values", 2, "feature"), ("--plausible", 1, "value"),
        ("--models", 1, "value"), ("--label", 1, "label"), ("--seed", 1, "value"),
        ("--alternatives", 1, "value"), ("--gap", 1, "value"), ("--id", 1, "feature"), *TABLE_FLAGS,
    ],
    "verify": [("--exact", 0, "")],
    "reproduce": [("--factuals", 1, "value"), ("--table", 1, "value"), ("--data", 1, "value")],
    "demo": [],
    "completion": [],
    "backends": [],
}  # fmt: skip
WEIGHTS = {"fit": 4, "predict": 5, "diagnose": 2, "actions": 3, "explain": 8, "verify": 4, "reproduce": 1,
           "demo": 0.1, "completion": 0.3, "backends": 0.2}  # fmt: skip
WORDS = {
    "value": VALUES,
    "feature": FEATURES,
    "label": ("y", "yes", "no", EVIL, "nothing"),
    "structure": ("naive", "tan", "ban", "x"),
}


class TooLongError(BaseException):
    """Not an Exception, so that the command's own guard does not catch it."""


@dataclass
class Case:
    """A command, and what it reads."""

    command: str
    arguments: list[str]
    inputs: list[str]
    streams: str = ""  # how a process of its own is started; "": in this one
    faults: Counter = field(default_factory=Counter)
    status: int = -1
    told: str = ""


class Maker:
    """Random commands."""

    def __init__(self, seed):
        self.draw = random.Random(seed)

    def case(self, share):
        """A command with random arguments; mostly a good one with something wrong."""
        command = self.draw.choices(list(WEIGHTS), list(WEIGHTS.values()))[0]
        self.inputs = []
        arguments = [command, *getattr(self, f"_{command}", list)()]
        for flag, count, kind in self._some(FLAGS[command]):
            arguments += [flag, *(self.draw.choice(WORDS[kind]) for _ in range(count))]
        if self.draw.random() < 0.05:
            arguments.insert(self.draw.randrange(len(arguments) + 1), self.draw.choice(VALUES))
        if self.draw.random() < 0.05:
            arguments += ["--max-size", self.draw.choice(("100", "1M", "3G", "x", "-1", "0"))]
        streams = self.draw.choice(STREAMS) if self.draw.random() < share else ""
        return Case(command, arguments, self.inputs, streams)

    def _some(self, flags):
        return self.draw.sample(flags, min(len(flags), self.draw.choice((0, 0, 0, 0, 1, 1, 2))))

    def _read(self, good):
        """An input: mostly a good one."""
        chance = self.draw.random()
        pool = good if chance < 0.75 else (TABLES + MODELS + OTHERS + BROKEN if chance < 0.88 else PLACES)
        self.inputs.append(self.draw.choice(pool))
        return self.inputs[-1]

    def _pair(self):
        """A model and a table, mostly such that go together."""
        if self.draw.random() < 0.7:
            self.inputs += self.draw.choice(PAIRS)
            return self.inputs[-2:]
        return [self._read(MODELS), self._read(TABLES)]

    def _written(self, *flags, chance=0.5):
        """Outputs: new files, and everything that is one already."""
        found = []
        for flag in flags:
            if self.draw.random() < chance:
                places = [p for p in PLACES if p not in ("pipe", "/dev/stdin", "/proc/self/mem")]
                pools = (NEW, TABLES + MODELS + OTHERS, places, tuple(self.inputs) or NEW)
                path = self.draw.choice(self.draw.choices(pools, (8, 2, 2, 2))[0])
                found += [flag, path if path != "pipe" else "new.json"]
        return found

    def _fit(self):
        data, given = self._read(TABLES), [] if self.draw.random() < 0.05 else ["--label", "y"]
        quick = ["--structure", "tan", "--folds", "0"] if self.draw.random() < 0.9 else ["--folds", "2"]
        return [data, *given, *quick, *self._written("--output", chance=0.97)]

    def _predict(self):
        return [*self._pair(), *self._written("--output", chance=0.8)]

    def _diagnose(self):
        return [*self._pair(), "--label", "y", "--folds", "2", *self._written("--html", chance=0.5)]

    def _actions(self):
        return [self._read(MODELS), *self._written("--output", chance=0.8)]

    def _explain(self):
        pair = self._pair()
        every = self.draw.random() < 0.3
        which = (
            ["--all", "--quiet"]
            if every
            else ["--row", self.draw.choice(("0", "1", "5", "7", "9", "99", "-1"))]
        )
        found = [*pair, *which, "--time-limit", "0.3"]
        if self.draw.random() < 0.25:
            found += ["--actions", self._read(("actions.toml",))]
        if self.draw.random() < 0.1:
            found += ["--models", "2", "--data", self._read(TABLES)]
            found += self._written("--save-models")
        found += self._written("--json", "--html", chance=0.4)
        return found + self._written(
            *(["--output"] if every else ["--trade-off"]), chance=0.5 if every else 0.05
        )

    def _verify(self):
        found = [self._read(MODELS), self._read(("e.json", "batch.json"))]
        return [*found, "--models", self._read(MODELS)] if self.draw.random() < 0.2 else found

    def _reproduce(self):
        """Only what is refused: the experiments themselves take minutes."""
        wrong = ["--factuals", "0"] if self.draw.random() < 0.5 else ["--time-limit", "-1"]
        return [*self._written("--output", chance=0.9), "--quiet", *wrong]

    def _demo(self):
        return self._written("--html", chance=1.0)

    def _completion(self):
        return [self.draw.choice(("bash", "zsh", "fish"))]


STREAMS = (
    "plain",
    "full stdout",
    "full stderr",
    "closed stdout",
    "closed stdin",
    "closed stderr",
    "closed all",
)
SHELL = {
    "plain": "", "full stdout": ">/dev/full", "full stderr": "2>/dev/full", "closed stdout": ">&-",
    "closed stdin": "<&-", "closed stderr": "2>&-", "closed all": "<&- >&- 2>&-",
}  # fmt: skip


def tried(case):
    """Run a case and note what is wrong."""
    before = {path: checksum(path) for path in case.inputs}
    (_in_process if not case.streams else _as_process)(case)
    if any(checksum(path) != found for path, found in before.items()):
        case.faults["input changed"] += 1
    if case.status not in (0, 1, 2):
        case.faults["other status"] += 1
    if "Traceback (most recent" in case.told or "Exception ignored" in case.told:
        case.faults["traceback"] += 1
    if "--debug shows where" in case.told:
        case.faults["unforeseen"] += 1
    if any(not (c.isprintable() or c in "\n\r\t") for c in case.told):
        case.faults["control characters"] += 1
    return case


def _in_process(case):
    signal.signal(signal.SIGALRM, _too_long)
    streams = [io.TextIOWrapper(io.BytesIO(), "utf-8", errors="backslashreplace") for _ in range(2)]
    given, sys.stdin = sys.stdin, io.TextIOWrapper(io.BytesIO(Path("d.csv").read_bytes()))
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    try:
        with contextlib.redirect_stdout(streams[0]), contextlib.redirect_stderr(streams[1]):
            case.status = main(case.arguments)
    except SystemExit as stop:
        case.status = stop.code
    except TooLongError:
        case.faults["too long"] += 1
        case.status = 2
    except BaseException as error:  # what the guard let through
        case.told = f"Traceback (most recent call last): {error!r}"
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        sys.stdin = given
    for stream in streams:
        stream.flush()
        case.told += stream.buffer.getvalue().decode("utf-8")


def _too_long(*_):
    raise TooLongError


def _as_process(case):
    command = [sys.executable, "-m", "surefoot", *case.arguments]
    redirected = ["sh", "-c", f'exec "$@" {SHELL[case.streams]}', "sh", *command]
    try:
        with open("d.csv", "rb") as table:
            found = subprocess.run(
                redirected, stdin=table, capture_output=True, timeout=3 * SECONDS, check=False
            )
        case.status = found.returncode
        case.told = (found.stdout + found.stderr).decode("utf-8", errors="replace")
    except subprocess.TimeoutExpired:
        case.faults["too long"] += 1
        case.status = 2


def fuzzed(count=COUNT, seed=0, share=SHARE, tiny_disk=True):
    """Yield every case after it was run, in a folder of its own."""
    home = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        try:
            make_world(folder)
            with _tiny_disk("full") if tiny_disk else contextlib.nullcontext():
                kept, maker = Kept(), Maker(seed)
                for _ in range(count):
                    case = tried(maker.case(share))
                    case.faults["left behind"] += len(kept.put_back())
                    yield case
        finally:
            os.chdir(home)


@contextlib.contextmanager
def _tiny_disk(folder):
    """A folder on a disk that is full after a page; an ordinary one where nothing may be mounted."""
    command = ["mount", "-t", "tmpfs", "-o", "size=4k", "tmpfs", folder]
    try:
        mounted = subprocess.run(command, capture_output=True, check=False).returncode == 0
    except OSError:
        mounted = False
    place = str(Path(folder).absolute())
    try:
        yield
    finally:
        if mounted:
            subprocess.run(["umount", place], check=False)


def rows(count=COUNT, seed=0, share=SHARE, log=None):
    """One row for each command, and one for all."""
    found = {name: Counter() for name in [*FLAGS, "all"]}
    for number, case in enumerate(fuzzed(count, seed, share)):
        wrong = +case.faults
        if wrong and log:
            line = f"{number}: {dict(wrong)} status {case.status} {case.streams} {case.arguments!r}\n"
            log.write(line + "".join(f"    {text!a}\n" for text in case.told.splitlines()[-12:]))
            log.flush()
        for name in (case.command, "all"):
            found[name] += Counter({"cases": 1, f"exit {case.status}": 1}) + wrong
    for name, counts in found.items():
        yield {"command": name, **{column: counts[column] for column in COLUMNS[1:]}}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--count", type=int, default=COUNT)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--subprocesses", type=float, default=SHARE)
    options = parser.parse_args()
    for row in rows(options.count, options.seed, options.subprocesses, sys.stdout):
        print("  ".join(f"{name}: {value}" for name, value in row.items()))
