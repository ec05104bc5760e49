"""A sign of life: only on a terminal, only after a while, and gone at the end."""

import io
import sys
import time

from surefoot import ConditionalGaussianNetworkClassifier, progress
from surefoot.explain.rows import row_explainer
from surefoot.progress import alive
from tests.asking import CounterfactualExplainer


class Terminal(io.StringIO):
    def isatty(self):
        return True


def on_screen(text):
    """What a terminal shows of it in the end."""
    line = ""
    for part in text.split("\r"):
        line = part + line[len(part) :]
    return line.strip()


def test_it_shows_seconds_and_leaves_nothing_behind(monkeypatch):
    monkeypatch.setattr(progress, "PATIENCE", 0.05)
    monkeypatch.setattr(progress, "STEP", 0.02)
    terminal = Terminal()
    with alive("searching", terminal):
        time.sleep(0.3)
        assert "searching, 0 s" in terminal.getvalue()
    assert on_screen(terminal.getvalue()) == ""


def test_a_quick_search_shows_nothing():
    terminal = Terminal()
    with alive("searching", terminal):
        pass
    assert terminal.getvalue() == ""


def test_files_and_pipes_stay_clean(monkeypatch):
    monkeypatch.setattr(progress, "PATIENCE", 0.01)
    stream = io.StringIO()
    with alive("searching", stream):
        time.sleep(0.05)
    assert stream.getvalue() == ""


def test_only_single_explanations_show_it(bundled, monkeypatch):
    """A batch has its bar."""
    bank = bundled["banknote"]
    clf = ConditionalGaussianNetworkClassifier("naive").fit(bank.X, bank.y)
    monkeypatch.setattr(progress, "PATIENCE", 0.01)
    monkeypatch.setattr(sys, "stderr", Terminal())
    real = row_explainer.attempt

    def slow(task):
        time.sleep(0.1)
        return real(task)

    monkeypatch.setattr(row_explainer, "attempt", slow)
    CounterfactualExplainer(clf).explain(bank.X.iloc[0])
    assert "searching" in sys.stderr.getvalue()
    monkeypatch.setattr(sys, "stderr", Terminal())
    CounterfactualExplainer(clf).explain_batch(bank.X.head(2), progress=False)
    assert sys.stderr.getvalue() == ""
