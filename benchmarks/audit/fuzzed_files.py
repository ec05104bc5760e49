"""Files for the fuzz of the command line: good ones, broken ones, bombs, links, devices."""

import gzip
import hashlib
import io
import os
import zipfile
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import numpy as np
import pandas as pd

from surefoot.ui.cli import main

EVIL = (
    "=cmd()\x1b[2J\u202ey\nEvery claim holds"  # a name that a terminal, a reader or a spreadsheet would obey
)
TABLES = ("d.csv", "d.csv.gz", "d.xlsx", "d.parquet", "evil.csv", "hard.csv", "link.csv")
MODELS = ("m.json", "mixed.json", "evil.json", "link.json")
PAIRS = (
    ("m.json", "d.csv"), ("m.json", "d.xlsx"), ("link.json", "d.csv.gz"), ("m.json", "hard.csv"),
    ("m.json", "d.parquet"), ("m.json", "-"), ("mixed.json", "mixed.csv"), ("evil.json", "evil.csv"),
)  # fmt: skip
OTHERS = ("e.json", "batch.json", "actions.toml")
BROKEN = (
    "empty", "noise.bin", "cut.json", "deep.json", "huge.json", "cut.gz", "bomb.csv.gz", "bomb.xlsx",
    "far.xlsx", "one_column.csv", "uneven.csv", "nul.csv", "wrong.toml",
)  # fmt: skip
PLACES = (
    "nowhere.csv", "dangling", "folder", "folder/", "pipe", "loop", "", "-", "/dev/null", "/dev/zero",
    "/dev/urandom", "/dev/full", "/dev/stdin", "/proc/self/mem", "/proc/self/maps", "/", "x" * 300,
    "/nowhere/at/all.csv", "m.json/inside", "/proc/new.json",
)  # fmt: skip
NEW = (
    "new.json",
    "./new.json",
    "folder/new.csv",
    "sub/../new.json",
    "\x1b[2Jnew",
    "neu\u202e.csv",
    "full/new.json",
)


def numbers(n=60, seed=0):
    """A small table of two classes."""
    rng = np.random.default_rng(seed)
    good = rng.random(n) < 0.5
    shift = good[:, None] * [2.0, 1.0]
    frame = pd.DataFrame(rng.normal(size=(n, 2)) + shift, columns=["income", "debt"]).round(3)
    return frame.assign(y=np.where(good, "yes", "no"))


def make_world(folder):
    """Write every file into a folder, and make it the working one."""
    os.chdir(folder)
    d = numbers()
    d.to_csv("d.csv", index=False)
    Path("d.csv.gz").write_bytes(gzip.compress(Path("d.csv").read_bytes()))
    d.to_excel("d.xlsx", index=False)
    d.to_parquet("d.parquet")
    mixed = d.assign(housing=np.where(d["debt"] > 0.5, "own", "rent"))
    mixed.to_csv("mixed.csv", index=False)
    evil = mixed.rename(columns={"income": f"income{EVIL}", "housing": f"housing{EVIL}"})
    evil = evil.replace({"yes": EVIL, "rent": f"-{EVIL}"})
    evil.to_csv("evil.csv", index=False)
    for table, model in (("d", "m"), ("mixed", "mixed"), ("evil", "evil")):
        flags = ("--label", "y", "--structure", "tan", "--folds", "0")
        run("fit", f"{table}.csv", *flags, "--output", f"{model}.json")
    run("explain", "m.json", "d.csv", "--row", "0", "--json", "e.json")
    run("explain", "m.json", "d.csv", "--all", "--target", "yes", "--quiet", "--json", "batch.json")
    run("actions", "m.json", "--output", "actions.toml")
    _broken()
    _places()


def run(*arguments):
    """A command that must not fail."""
    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()) as told:
        if main(arguments) > 1:
            raise RuntimeError(told.getvalue())


def _broken():
    Path("empty").touch()
    Path("noise.bin").write_bytes(np.random.default_rng(0).bytes(5000))
    Path("cut.json").write_bytes(Path("m.json").read_bytes()[:300])
    Path("deep.json").write_text("[" * 100_000, encoding="utf-8")
    Path("huge.json").write_text('{"a": 1' + "0" * 6000 + "}", encoding="utf-8")
    Path("cut.gz").write_bytes(Path("d.csv.gz").read_bytes()[:100])
    Path("bomb.csv.gz").write_bytes(gzip.compress(b"0," * 60_000_000, compresslevel=1))
    with zipfile.ZipFile("bomb.xlsx", "w", zipfile.ZIP_DEFLATED, compresslevel=1) as packed:
        packed.writestr("xl/worksheets/sheet1.xml", b" " * 80_000_000)
    far = io.BytesIO()
    pd.DataFrame({"a": [1], "b": [2]}).to_excel(far, index=False)
    _moved_far(far, "far.xlsx")
    Path("one_column.csv").write_text("y\nyes\nno\n", encoding="utf-8")
    Path("uneven.csv").write_text("a,b,y\n1,2,yes\n1,2,3,no\n", encoding="utf-8")
    Path("nul.csv").write_bytes(b"a,b,y\n1,\x00,no\n")
    Path("wrong.toml").write_text('[features]\n"income\\u001b" = 3\n', encoding="utf-8")


def _moved_far(book, target):
    """The last row of a workbook named as the last of all rows, and beyond the last column."""
    with zipfile.ZipFile(book) as old, zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            content = old.read(name)
            if name.endswith("sheet1.xml"):
                content = content.replace(b'r="2"', b'r="1048576"').replace(b'r="B2"', b'r="XFD1048576"')
            new.writestr(name, content)


def _places():
    os.link("d.csv", "hard.csv")
    Path("link.csv").symlink_to("d.csv")
    Path("link.json").symlink_to("m.json")
    Path("dangling").symlink_to("not there")
    Path("loop").symlink_to("loop")
    Path("folder").mkdir()
    Path("sub").mkdir()
    os.mkfifo("pipe")
    Path("full").mkdir()  # see `Kept`


class Kept:
    """A folder as it was made: whatever a command changed is put back."""

    def __init__(self):
        self.content = {path: path.read_bytes() for path in _files()}
        self.links = {path: os.readlink(path) for path in Path().iterdir() if path.is_symlink()}
        self.seen = self._state()

    def put_back(self):
        """Undo what the last command did; returns the files that it left beside its outputs."""
        if self._state() == self.seen:
            return []
        found = _files()
        left = [str(path) for path in found if path.name.endswith(".tmp")]
        for path in found:
            if path not in self.content:
                path.unlink()
        for path, content in self.content.items():
            if not path.is_file() or path.is_symlink() or path.read_bytes() != content:
                path.unlink(missing_ok=True)
                path.write_bytes(content)
        for path, target in self.links.items():
            if not path.is_symlink():
                path.unlink(missing_ok=True)
                path.symlink_to(target)
        Path("hard.csv").unlink(missing_ok=True)
        os.link("d.csv", "hard.csv")
        self.seen = self._state()
        return left

    @staticmethod
    def _state():
        found = []
        for path in sorted(Path().rglob("*")):
            about = path.lstat()
            found.append((str(path), about.st_ino, about.st_size, about.st_mtime_ns))
        return found


def _files():
    return [path for path in Path().rglob("*") if path.is_file() and not path.is_symlink()]


def checksum(path):
    """Of what a path leads to; None where that is no regular file of ours."""
    try:
        inside = path and not path.startswith(("/dev", "/proc")) and Path(path).is_file()
    except (OSError, ValueError):
        inside = False
    return hashlib.sha256(Path(path).read_bytes()).hexdigest() if inside else None
