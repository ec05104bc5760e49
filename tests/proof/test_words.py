"""What the checker says in words, and its command."""

import io
import json
import sys
from pathlib import Path

import pytest

from surefoot.proof import exact
from tests.proof import two_categories as states
from tests.proof.two_numbers import (
    answer,
    asked,
    ball,
    case_of,
    content,
    density,
    domain,
    odds,
    priced,
    row,
    without_point,
)


def test_the_question_in_words():
    e = asked(
        requirements=[
            odds(), odds(robust=False), density(floor=-3.5, robust=True),
            odds(target=0, rival=1, threshold=0.25),
        ],
        domain=domain(
            low=(-1.0, -2.0), high=(-1.0, "inf"),
            rows=[row("-inf", 2.0, (0.0, 0.0)), row(-1.0, 2.5, (0.5, -1.0))],
            sets=[{"feature": 0, "values": None}, {"feature": 1, "values": [0.0, 1.5]}],
        ),
    )  # fmt: skip
    assert exact.words([content()], e) == [
        "Factual: a -1.0, b 0.0; decided 0",
        "Target: 1, against each rival by at least 0.5",
        "Distance: norm 2 with cholesky whitening; allowed gap 0.1",
        "Budget: 0.25 in the norm 2",
        "Kept: a",
        "Bounded: b to -2 .. inf (the data had -4 .. 4)",
        "Row r: 0 <= 2",
        "Row r: -1 <= 0.5 a - b <= 2.5",
        "Values: a is a whole number, or stays",
        "Values: b is one of [0.0, 1.5], or stays",
        "Required by model 0, at the point alone: 1 against 0 0.5",
        "Required by model 0: log density of 1 at least -3.5",
        "Required by model 0: 0 against 1 0.25",
        "Made by certified  (this claims nothing)",
    ]


@pytest.mark.parametrize(
    ("low", "high", "factors", "said"),
    [
        (1.0, "inf", (1.0, 0.0), "a >= 1"),
        ("-inf", 1.0, (-1.0, 0.0), "-a <= 1"),
        ("-inf", "inf", (0.0, 2.0), "2 b <= inf"),
        (0.5, 0.5, (-2.0, 1.0), "-2 a + b = 0.5"),
        (-0.5, 0.5, (-1.0, -3.0), "-0.5 <= -a - 3 b <= 0.5"),
        (0.0, "inf", (0.25, 1.5), "0.25 a + 1.5 b >= 0"),
    ],
)
def test_rows_in_words(low, high, factors, said):
    e = asked(domain=domain(rows=[row(low, high, factors)]))
    assert f"Row r: {said}" in exact.words([content()], e)


def test_bounds_in_words():
    def lines(low, high):
        found = exact.words([content()], asked(domain=domain(low=(low, "-inf"), high=(high, "inf"))))
        return found[4:-1]

    assert lines("-inf", "inf") == lines(-4.0, 4.0) == lines(-5.0, 4.0) == []
    assert lines(-3.0, 5.0) == ["Bounded: a to -3 .. 5 (the data had -4 .. 4)"]
    assert lines("-inf", 3.0) == ["Bounded: a to -inf .. 3 (the data had -4 .. 4)"]
    assert lines(2.0, 2.0) == ["Set: a to 2"]
    assert lines(-1.0, -1.0) == ["Kept: a"]
    by = {"0": [0.5, 0.25]}
    assert exact.words([content()], ball(by, "inf", [1]))[3] == "Budget: a -0.5 to +0.25; landing exactly: b"
    assert exact.words([content()], ball(0.5, 1, [0]))[3] == "Budget: 0.5 in the norm 1; landing exactly: a"


def test_a_refused_request_in_words():
    e = without_point(answer(), "invalid")
    assert exact.words([content()], e) == ["The request was refused."]


def test_lines_that_a_stream_cannot_show():
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding="ascii", newline="")
    exact._write(stream, "größer")
    stream.flush()
    assert raw.getvalue() == b"gr\\xf6\\xdfer\n"
    free = io.StringIO()
    exact._write(free, "größer \ud800")
    assert free.getvalue() == "größer \\ud800\n"


def test_the_command_and_its_arguments(tmp_path, monkeypatch, capsys):
    paths = [str(tmp_path / name) for name in ("model.json", "e.json")]
    for path, value in zip(paths, (content(), answer()), strict=True):
        Path(path).write_text(json.dumps(value), encoding="utf-8")
    monkeypatch.setattr(sys, "argv", ["exact.py", *paths])
    assert exact.main() == 0
    assert capsys.readouterr().out.splitlines()[:2] == exact.words([content()], answer())[:2]
    monkeypatch.setattr(sys, "argv", ["exact.py"])
    assert exact.main() == 2
    for given, status in (
        (["--help", paths[1]], 0),
        (["-h", paths[1]], 0),
        (["-v", paths[1]], 2),
        (["-h"], 0),
    ):
        assert exact.main(given) == status
        assert capsys.readouterr().err.splitlines()[-1].startswith("usage: ")
    assert exact.main([paths[0], "-h"]) == 2
    assert capsys.readouterr().err == "-h: cannot be read (No such file or directory)\n"


def test_the_geometry_in_words():
    plain = "the cholesky whitening of the factual's class"
    assert exact.geometry_words(case_of().question) == plain
    assert exact.geometry_words(priced((1.0, 2.0), (2.0, 1.0))) == f"standard deviations, and {plain}"


def test_ways_in_words():
    def said(rows=(), values=None):
        return exact._way_words(states.case_of().question, exact.Way(list(rows), values or {}), ["a"])

    assert said() == "anything"
    assert said(values={0: [0, 1]}) == "k is x or y"
    assert said(values={0: []}) == "k is nothing"
    assert said([exact.Row([1.0], 0.0, 2.0, "")], {0: [1], 1: [0]}) == "0 <= a <= 2 and k is y and m is False"
