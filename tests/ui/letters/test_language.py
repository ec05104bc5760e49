"""Languages: every message is translated, with the same values in it."""

import ast
import string
from pathlib import Path

import pytest

import surefoot.ui.letters.language as module
from surefoot.explain.answer.region import Interval
from surefoot.ui.letters.labels import Label, Labels
from surefoot.ui.letters.language import Language, harmless, language, languages
from surefoot.ui.letters.writer import Writer

HEBREW = "\u05e9\u05dc"
FOLDER = Path(module.__file__).parent


def messages():
    """Every message of the code: first arguments of `say`, and what is marked."""
    found = set()
    for path in FOLDER.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and node.args:
                name = getattr(node.func, "attr", getattr(node.func, "id", ""))
                text = node.args[0]
                if name in ("say", "mark") and isinstance(text, ast.Constant):
                    found.add(text.value)
    return found


def fields(text):
    return sorted(name for _, name, _, _ in string.Formatter().parse(text) if name is not None)


def test_there_are_messages():
    assert len(messages()) > 60
    assert languages() == ("en", "de")


@pytest.mark.parametrize("code", [code for code in languages() if code != "en"])
def test_every_message_is_translated_and_none_is_left_over(code):
    known = language(code).messages
    assert set(known) == messages()
    assert all(fields(text) == fields(known[text]) for text in known)


def test_braces_in_values_mean_nothing():
    assert (
        language("en").say("{name}: {value}", name="{value}", value="{0.__class__}")
        == "{value}: {0.__class__}"
    )


def test_a_third_language_is_one_file(monkeypatch):
    french = Language("fr", {"Why": "Pourquoi"})
    assert french.say("Why") == "Pourquoi"
    assert french.say("Date") == "Date"  # not yet translated
    assert french.number(1234.5).endswith(",5")
    assert french.any_of(["a", "b"]) == "a ou b"


@pytest.mark.parametrize(
    ("value", "decimals", "text"),
    [
        (1e22, 0, "1E22"),
        (-0.1, 0, "-0.1"),
        (1e-12, 0, "1E-12"),
        (5, 2, "5.00"),
        (2 / 3, 1, "0.6666666666666666"),
    ],
)
def test_numbers_keep_every_digit(value, decimals, text):
    assert language("en").number(value, decimals) == text


def test_names_are_harmless():
    assert harmless("a\n\tb\x1b[2J") == "a b�[2J"
    assert harmless("\u202eabc") == "�abc"
    assert harmless(HEBREW) == f"\u2068{HEBREW}\u2069"  # what stands beside it keeps its place
    assert harmless("x" * 300).count("x") == 59


def test_a_range_in_german_needs_no_case_of_the_unit():
    labels = Labels({"term": Label(unit="Monate")})
    assert Writer(language("de"), labels).range(Interval("term", 15.0, 40.0, (15.0, 40.0))) == (
        "15\xa0Monate bis 40\xa0Monate"
    )
