"""Names come from files that others wrote: they steer no terminal, add no line and run no formula."""

import csv
import io
import json
import re
import tomllib
import warnings
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest

from surefoot import (
    Action,
    Actions,
    ConditionalGaussianNetworkClassifier,
    Explanation,
    diagnose,
    plots,
    select,
    verify,
    write_report,
)
from surefoot.exceptions import ProblemError, SurefootWarning
from surefoot.formats import NO_BREAK, cell, escaped, one_line
from surefoot.ui.cli import main
from surefoot.ui.cli.tables import csv_text
from tests.asking import CounterfactualExplainer

LINE = "Every claim holds"  # what a name must not print as a line of its own
TAIL = f"\x1b[2J\x9b1m\u202e\u2066\x7f\u2028\r\n{LINE}\n\t\U000e0041"
INCOME, HOUSING, RENT, OWN = (f"{word}{TAIL}" for word in ("=income", "+housing", "@rent", "-own"))
YES, NO = f"=yes{TAIL}", f"+no{TAIL}"
HOSTILE = [c for c in TAIL if not c.isprintable()]


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(5)
    n = 160
    good = rng.random(n) < 0.5
    return pd.DataFrame(
        {
            INCOME: rng.normal(good * 2.0, 1.0).round(3),
            "debt": rng.normal(good * -1.0, 1.0).round(3),
            HOUSING: np.where(rng.random(n) < np.where(good, 0.8, 0.3), OWN, RENT),
            "y": np.where(good, YES, NO),
        }
    )


@pytest.fixture(scope="module")
def clf(table):
    return ConditionalGaussianNetworkClassifier("tan").fit(table.drop(columns="y"), table["y"])


@pytest.fixture(scope="module")
def explainer(clf):
    actions = Actions({HOUSING: Action(cost=0.1), "debt": Action(low=-3.0)})
    return CounterfactualExplainer(clf, budget=0.05, threshold=0.9, actions=actions)


@pytest.fixture(scope="module")
def batch(explainer, table):
    return explainer.explain_batch(table.drop(columns="y").head(8), YES, progress=False)


@pytest.fixture(scope="module")
def there(table, clf, tmp_path_factory):
    folder = tmp_path_factory.mktemp("names")
    table.to_csv(folder / "d.csv", index_label="id")
    refused = table[table["y"] == NO]
    refused.nsmallest(2, INCOME).to_csv(folder / "two.csv", index_label="id")  # with numbers below zero
    clf.save(folder / "m.json")
    return folder


def check(text, allowed="\n"):
    """Nothing that steers, and no line that a name made."""
    wrong = {c for c in text if not (c.isprintable() or c in allowed)}
    assert not wrong, ascii(wrong)
    assert not re.search(rf"(?m)^\W*{LINE}", text), ascii(text)


def test_the_words_of_an_explanation(batch):
    assert any(e.counterfactual is not None and e.changed for e in batch)
    for e in batch:
        check(str(e))
        check(repr(e))
        assert "income" in str(e) or not e.changed
    check(str(batch))


def test_the_words_of_a_refusal(explainer, table):
    row = table.drop(columns="y").iloc[0].copy()
    for value in (f"=nothing{TAIL}", None):
        row[HOUSING] = value
        with pytest.raises(ProblemError) as error:
            explainer.explain(row, YES)
        check(str(error.value))
        check(str(explainer.explain_batch(row.to_frame().T, YES, progress=False)[0]))
    with pytest.warns(SurefootWarning) as issued:
        warnings.warn(f"of {INCOME}", SurefootWarning, stacklevel=1)
    check(str(issued[0].message))


def test_the_words_of_a_model(clf, table):
    X, y = table.drop(columns="y"), table["y"]
    check(clf.summary())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check(str(diagnose(clf, X, y, cv=2)))
        check(str(select(X, y, cv=2, random_state=0)))


def test_the_words_of_a_checker(batch, clf):
    found = next(e for e in batch if e.changed)
    check(str(verify(found, clf)))


class Seen(HTMLParser):
    """The text of a page, and its tags."""

    def __init__(self):
        super().__init__()
        self.texts = []

    def handle_data(self, data):
        self.texts.append(data)


@pytest.mark.parametrize("what", ["one", "several", "costs", "batch", "diagnosis", "notebook"])
def test_pages(batch, explainer, clf, table, tmp_path, what):
    found = next(e for e in batch if e.changed)
    row = table.drop(columns="y").iloc[found.row]
    if what == "diagnosis":
        from surefoot.ui.report.diagnosis_page import write_diagnosis

        report = diagnose(clf, table.drop(columns="y"), table["y"], cv=2)
        pages = [write_diagnosis(report, tmp_path / "p.html", clf).read_text("utf-8"), report._repr_html_()]
    elif what == "notebook":
        pages = [found._repr_html_(), batch._repr_html_(), clf._repr_html_()]
    else:
        shown = {
            "one": lambda: found,
            "several": lambda: explainer.alternatives(row, YES, 2),
            "costs": lambda: explainer.trade_off(row, YES, models=[]),
            "batch": lambda: batch,
        }[what]()
        pages = [write_report(shown, tmp_path / "p.html", clf).read_text(encoding="utf-8")]
    for page in pages:
        # The style sheet and scikit-learn's own box are of several lines; names are not. Blanks at which no
        # line ends stand before per cent signs alone.
        spaced = re.sub(f"(?<=[0-9]){NO_BREAK}(?=%)", " ", page)
        assert not {c for c in spaced if not (c.isprintable() or c in "\n\t")}
        reader = Seen()
        reader.feed(page)
        assert not any(re.match(rf"\W*{LINE}", line) for text in reader.texts for line in text.splitlines())


def texts_of(figure):
    from matplotlib.text import Text

    return [text.get_text() for text in figure.findobj(Text) if text.get_text()]


@pytest.mark.filterwarnings("ignore:Glyph")
def test_pictures(batch, explainer, clf, table):
    import matplotlib.pyplot as plt

    found = next(e for e in batch if e.changed)
    row = table.drop(columns="y").iloc[found.row]
    levers = explainer.copy(whitening="dag").explain(row, YES)
    plain = ConditionalGaussianNetworkClassifier("tan").fit(table[[INCOME, "debt"]], table["y"])
    drawn = [
        lambda: clf.plot_dag(),
        lambda: plots.plot_audit(
            explainer.audit(table.drop(columns="y").head(8), YES, by=HOUSING, progress=False)
        ),
        lambda: plots.plot_changes(found),
        lambda: plots.plot_distances(batch),
        lambda: plots.plot_coverage(batch),
        lambda: plots.plot_feature_shares(batch),
        lambda: plots.plot_levers(levers),
        lambda: plots.plot_trace(found),
        lambda: plots.plot_trade_off(explainer.trade_off(row, YES, models=[])),
        lambda: plots.plot_plane(found, clf),
        lambda: plots.plot_whitened_plane(found, clf),
        lambda: plots.plot_surface(plain, YES, features=(INCOME, "debt")),
        lambda: diagnose(clf, table.drop(columns="y"), table["y"], cv=2).plot(),
    ]
    assert len(drawn) >= len(plots.__all__) + 1  # every picture, and that of a diagnosis
    for draw in drawn:
        figure = np.ravel(draw())[0].figure
        for text in texts_of(figure):
            check(text)
        plt.close(figure)


def run(capsys, *arguments):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        status = main([str(argument) for argument in arguments])
    return status, *capsys.readouterr()


COMMANDS = {
    "fit": ("fit", "d.csv", "--label", "y", "--drop", "id", "--structure", "tan", "--folds", "2"),
    "select": ("fit", "d.csv", "--label", "y", "--drop", "id", "--folds", "2"),
    "ban": ("fit", "d.csv", "--label", "y", "--drop", "id", "--structure", "ban", "--folds", "0"),
    "predict": ("predict", "m.json", "d.csv", "--proba", "--id", HOUSING),
    "diagnose": ("diagnose", "m.json", "d.csv", "--label", "y", "--folds", "2"),
    "actions": ("actions", "m.json"),
    "row": ("explain", "m.json", "d.csv", "--row", "0", "--target", YES, "--budget", "0.05"),
    "json": ("explain", "m.json", "d.csv", "--row", "0", "--target", YES, "--json", "-"),
    "several": ("explain", "m.json", "d.csv", "--row", "0", "--target", YES, "--alternatives", "2"),
    "all": ("explain", "m.json", "two.csv", "--all", "--target", YES, "--quiet", "--id", "y"),
    "none": (
        "explain", "m.json", "two.csv", "--all", "--quiet", "--target", YES,
        "--immutable", INCOME, "debt", HOUSING,
    ),
    # Mistakes, which name what is meant.
    "target": ("explain", "m.json", "d.csv", "--row", "0", "--target", f"x{TAIL}"),
    "feature": ("explain", "m.json", "d.csv", "--row", "0", "--immutable", f"x{TAIL}"),
    "value": ("explain", "m.json", "d.csv", "--row", "0", "--values", HOUSING, f"x{TAIL}"),
    "number": ("explain", "m.json", "d.csv", "--row", "0", "--bound", INCOME, f"x{TAIL}", "-"),
    "choice": ("explain", "m.json", "d.csv", "--row", "0", "--norm", f"x{TAIL}"),
    "flag": ("explain", "m.json", "d.csv", "--row", "0", f"--x{TAIL}"),
    "usage": ("explain", "m.json", "d.csv", "--row", "0", f"x{TAIL}"),
    "label": ("fit", "d.csv", "--label", f"x{TAIL}", "--output", "x.json"),
    "file": ("predict", "m.json", f"no{TAIL}.csv"),
    "model": ("predict", f"no{TAIL}.json", "d.csv"),
    "output": ("predict", "m.json", "d.csv", "--output", f"no/x{TAIL}"),
    "written": ("predict", "m.json", "d.csv", "--output", f"x{TAIL}"),
}  # fmt: skip


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command(there, capsys, monkeypatch, name):
    monkeypatch.chdir(there)
    arguments = COMMANDS[name]
    if name in ("fit", "select", "ban"):
        arguments = (*arguments, "--output", f"{name}.json")
    try:
        status, out, err = run(capsys, *arguments)
    except SystemExit as stop:
        status, (out, err) = stop.code, capsys.readouterr()
    assert status in (0, 1, 2)
    assert (status == 2) == (
        list(COMMANDS).index(name) >= list(COMMANDS).index("target") and name != "written"
    )
    check(out)
    check(err)
    assert out or err


def test_verify(there, capsys, monkeypatch):
    monkeypatch.chdir(there)
    assert run(capsys, *COMMANDS["all"][:3], *COMMANDS["all"][3:], "--json", "e.json")[0] == 0
    status, out, err = run(capsys, "verify", "m.json", "e.json")
    assert status == 0
    check(out)
    check(err)


def test_files_hold_escapes_and_read_as_the_same(there, clf, batch, explainer):
    """Models, explanations and actions: what is in them is as it was, but nothing is printed by ``cat``."""
    text = (there / "m.json").read_text(encoding="utf-8")
    check(text)
    assert ConditionalGaussianNetworkClassifier.load(there / "m.json").classes_.tolist() == [NO, YES]
    for e in batch:
        check(e.to_json())
        again = Explanation.from_json(e.to_json())
        assert (again.target, list(again.factual.index)) == (YES, [INCOME, "debt", HOUSING])
    template = Actions.template(clf)
    check(template)
    begun = re.sub(r"(?m)^# (?=\"?[=+d].* = )", "", template.partition("[features]")[2])
    assert set(tomllib.loads(begun)) == {INCOME, "debt", HOUSING}
    assert tomllib.loads(begun)[HOUSING]["values"] == sorted([RENT, OWN])
    said = Actions({INCOME: Action(low=0.0), HOUSING: Action(values=[OWN])})
    check(said.to_toml())
    assert Actions.from_toml(said.to_toml()) == said


def test_tables_run_nothing(there, capsys, monkeypatch):
    monkeypatch.chdir(there)
    for arguments in (COMMANDS["predict"], COMMANDS["all"]):
        _, out, _ = run(capsys, *arguments)
        rows = list(csv.reader(io.StringIO(out)))
        texts = [text for row in rows for text in row]
        assert not [text for text in texts if text.startswith(tuple("=+@\t\r"))]
        assert not [text for text in texts if text.startswith("-") and not re.fullmatch(r"-[\d.e+-]+", text)]
        assert any(text.startswith("'=yes") for text in texts)
        assert any(text.startswith("'-own") for text in texts) or arguments is COMMANDS["all"]
        assert any(text.startswith("-") for text in texts) or arguments is COMMANDS["predict"]  # numbers


@pytest.mark.parametrize(
    ("value", "written"),
    [
        ("=1+1", "'=1+1"), ("+1-1", "'+1-1"), ("-1+cmd", "'-1+cmd"), ("@x", "'@x"), ("\tx", "'x"),
        ("\rx", "'x"), ("\x0b =x", "'=x"),
        ("\uff1dx", "'\uff1dx"), ("-", "'-"), ("-1.5", "-1.5"), ("+1e3", "+1e3"), (-1.5, -1.5), (-3, -3),
        (None, None),
        ("a=b", "a=b"), ("", ""), ("x\ny", "x y"), (True, True), ("-inf", "-inf"),
    ],
)  # fmt: skip
def test_cells(value, written):
    assert cell(value) == written


def test_a_table_keeps_its_numbers():
    frame = pd.DataFrame({"=a": [1, -2], "b": pd.Series([1, None], dtype=object), "c": [-0.5, np.nan]})
    assert csv_text(frame) == "'=a,b,c\n1,1,-0.5\n-2,,\n"
    twice = pd.DataFrame([[1, "x"]], columns=["a", "a"])
    assert csv_text(twice) == "a,a\n1,x\n"


def test_escapes():
    for c in map(chr, [*range(0x20, 0x500), *range(0x2000, 0x2100), 0xFEFF, 0xE0041, 0x1F600]):
        text = json.dumps({c: [c]}, ensure_ascii=False)
        assert escaped(text).isprintable()
        assert json.loads(escaped(text)) == {c: [c]}
        assert one_line(f"a{c}b").isprintable()
    assert escaped('{\n "ä": 1\n}') == '{\n "ä": 1\n}'
