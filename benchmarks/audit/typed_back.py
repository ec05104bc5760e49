"""Answers typed back as they are printed: does the decision turn, and is what is printed what is proven?

Rows that the model does not decide as wanted, under the practical preset with budgets 0 and 0.05. The values
are read from the text, the CSV, the HTML page and the JSON; each reading must be the counterfactual itself,
be decided as the target by `predict`, keep to the actions (checked here by hand), and be accepted by `verify`
and by the checker as a program of its own. Digits: significant ones of the numbers that change, whole numbers
apart. Farther and time: against the same request with printable=False, row by row in turn, medians.

usage: python benchmarks/run.py [--resume] typed_back
       (in the environment TYPED=60: rows of each table; TABLES="Heart;Pima": some of them)
"""

import csv
import io
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from decimal import Decimal
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.quality.tables import AIMED_AT, OTHERS
from surefoot import ConditionalGaussianNetworkClassifier, CounterfactualExplainer, Explanations, verify
from surefoot.ui.cli.tables import csv_text
from surefoot.ui.report.page import report_page

KEY = ["table", "budget"]
COLUMNS = [
    "table", "budget", "rows", "answers", "turned", "obeyed", "accepted", "wrong", "longest digits",
    "median digits", "farther (%)", "most farther (%)", "median ms", "more time (%)",
]  # fmt: skip
TYPED = int(os.environ.get("TYPED", 60))
BUDGETS = (0.0, 0.05)
# Marginals: one table on curved scales by choice, the others as `fit` would have them.
TABLES = {
    "German credit": {"marginals": "auto"},
    "Pima": {},
    "Banknote": {},
    "Heart": {},
    "WDBC": {},
    "Pima, curved": {"marginals": "power"},
    "South African heart": {},
    "Abalone 9-18": {},
    "Ionosphere": {},
}


def typed(e, values):
    """The row with what somebody read in the place of today's values."""
    row = e.factual.copy()
    for name, text in values.items():
        row[name] = read(text, e.counterfactual[name])
    return row


def read(text, like):
    """A number as it was typed, or the category of that name."""
    if isinstance(like, bool):
        return str(text) == "True"
    return float(text) if isinstance(like, float) else text if isinstance(like, str) else type(like)(text)


def from_text(e):
    """Feature -> text, from what is printed."""
    lines = str(e).splitlines()
    found = dict(re.findall(r"^  (\S.*?): .* -> (.*) \(price [^)]*\)$", "\n".join(lines), flags=re.MULTILINE))
    table = [line for line in lines if re.match(r"^  \S", line) and re.search(r"\) +[+-]\d", line)]
    for line in table:
        words = line.split()
        found[" ".join(words[:-6])] = words[-4]
    return found


class Page(HTMLParser):
    """The cells of every table of every article."""

    def __init__(self):
        super().__init__()
        self.articles, self.open = [], False

    def handle_starttag(self, tag, _):
        if tag == "article":
            self.articles.append([])
        elif tag == "tr" and self.articles:
            self.articles[-1].append([])
        elif tag in ("td", "th") and self.articles and self.articles[-1]:
            self.articles[-1][-1].append("")
            self.open = True

    def handle_endtag(self, tag):
        self.open = self.open and tag not in ("td", "th")

    def handle_data(self, data):
        if self.open:
            self.articles[-1][-1][-1] += data


def from_page(batch):
    """Feature -> text for each answer, from the HTML page."""
    page = Page()
    page.feed(report_page(batch))
    return [
        {cells[0].strip(): cells[3].strip() for cells in article if cells[0] not in ("feature", "category")}
        for article in page.articles
    ]


def from_csv(batch):
    """Feature -> text for each answer, from the CSV that the command line writes."""
    lines = csv.DictReader(io.StringIO(csv_text(batch.to_frame().reset_index())))
    start = "counterfactual: "
    return [{k.removeprefix(start): v for k, v in line.items() if k.startswith(start)} for line in lines]


def from_json(batch):
    """Feature -> value for each answer."""
    entries = [entry["counterfactual"] for entry in json.loads(batch.to_json())]
    return [dict(zip(entry["names"], entry["values"], strict=True)) for entry in entries]


def obeyed(clf, e, row, most):
    """Whether a row keeps to the practical preset, by hand."""
    low, high = clf.feature_range_
    kept = set(e.question.declared["preset"]["kept"])
    changed = [name for name in row.index if row[name] != e.factual[name]]
    for j, name in enumerate(row.index):
        value, today = row[name], e.factual[name]
        if name in clf.categories_:
            allowed = value in clf.categories_[name]
        else:
            whole = clf.feature_kinds_[name] != "whole" or value % 1 == 0
            allowed = value == today or (whole and low[j] <= value <= high[j])
        if not allowed:
            return False
    return not kept & set(changed) and (len(changed) <= most or "not enough" in e.advice)


def digits(value):
    return len(Decimal(repr(float(value))).normalize().as_tuple().digits)


def programs_verdict(clf, batch):
    """The checker as a program of its own, on the values as they were typed."""
    with tempfile.TemporaryDirectory() as folder:
        model, answers = Path(folder) / "model.json", Path(folder) / "answers.json"
        clf.save(model)
        answers.write_text(batch.to_json(), encoding="utf-8")
        command = [sys.executable, "-m", "surefoot.proof.exact", str(model), str(answers)]
        return subprocess.run(command, capture_output=True, check=False).returncode == 0


def with_values(batch, readings):
    """The same answers with the values that were read from the page in their JSON."""
    entries = json.loads(batch.to_json())
    for entry, e, values in zip(entries, batch, readings, strict=True):
        row = typed(e, values)
        entry["counterfactual"]["values"] = [row[name] for name in row.index]
    return Explanations.from_json(json.dumps(entries))


def answers(clf, X, wanted, budget):
    """Printable answers beside those as they were found, in turn, with the seconds of each."""
    explainers = [CounterfactualExplainer(clf, budget=budget, printable=p) for p in (True, False)]
    found = [[], []]
    for k in range(len(X)):
        for which in (0, 1) if k % 2 else (1, 0):
            start = time.perf_counter()
            e = explainers[which].explain(X.iloc[k], wanted, on_failure="return")
            found[which].append((e, time.perf_counter() - start))
    return found


def refused(clf, X, wanted, count):
    """Rows without holes that are not decided as wanted, spread over the table."""
    rows = X[(clf.predict(X) != wanted) & ~X.isna().any(axis=1).to_numpy()]
    return rows.iloc[np.linspace(0, len(rows) - 1, min(count, len(rows))).astype(int)]


def measured(name, settings, budget, count=TYPED):
    X, y = (AIMED_AT | OTHERS)[name.partition(",")[0]]()
    clf = ConditionalGaussianNetworkClassifier("tan", **settings).fit(X, y)
    labels, counts = np.unique(y, return_counts=True)
    wanted = "good" if "good" in labels else labels[counts.argmax()]
    rows_ = refused(clf, X, wanted, count)
    printed, plain = answers(clf, rows_, wanted, budget)
    pairs = [(a, b) for a, b in zip(printed, plain, strict=True) if a[0].counterfactual is not None]
    batch = Explanations(a[0] for a, _ in pairs)
    faces = [[from_text(e) for e in batch], from_page(batch), from_csv(batch), from_json(batch)]
    same = turned = kept = 0
    for k, e in enumerate(batch):
        read_rows = [typed(e, face[k]) for face in faces]
        turned += bool((clf.predict(pd.DataFrame([row.to_dict() for row in read_rows])) == wanted).all())
        kept += all(obeyed(clf, e, row, 3) for row in read_rows)
        same += all((row == e.counterfactual).all() for row in read_rows)
    again = with_values(batch, faces[1])
    accepted = sum(verify(e, clf).ok for e in again) if programs_verdict(clf, again) else -1
    lengths = [
        digits(e.counterfactual[n]) for e in batch for n in e.changed if clf.feature_kinds_[n] == "number"
    ]
    farther = [100 * (a[0].distance / b[0].distance - 1) for a, b in pairs if b[0].distance > 0]
    times = np.array([[a[1], b[1]] for a, b in pairs])
    return {
        "table": name, "budget": f"{budget:g}", "rows": len(rows_), "answers": len(batch), "turned": turned,
        "obeyed": kept, "accepted": accepted,
        "wrong": sum(len(batch) - n for n in (turned, kept, accepted, same)),
        "longest digits": max(lengths, default=0), "median digits": f"{np.median(lengths or [0]):g}",
        "farther (%)": f"{np.median(farther):.3f}", "most farther (%)": f"{max(farther):.3f}",
        "median ms": f"{1000 * np.median(times[:, 0]):.1f}",
        "more time (%)": f"{100 * (np.median(times[:, 0] / times[:, 1]) - 1):.1f}",
    }  # fmt: skip


def rows(done=frozenset()):
    wanted = [name for name in os.environ.get("TABLES", "").split(";") if name] or list(TABLES)
    for name, settings in TABLES.items():
        for budget in BUDGETS:
            if name in wanted and (name, f"{budget:g}") not in done:
                yield measured(name, settings, budget)
