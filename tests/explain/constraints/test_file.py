"""Actions in files: what is written is read again, what is malformed is named, templates load."""

import math
import random
import tomllib

import pandas as pd
import pytest

import surefoot
from surefoot import Action, Actions, ConditionalGaussianNetworkClassifier, Rule, datasets
from surefoot.exceptions import DataError, ProblemError
from tests.asking import CounterfactualExplainer
from tests.explain.constraints.test_grammar import quoted_name

EXAMPLE = """
at_most = 3
at_most_of = [[1, ["loan a", "loan b"]]]
when = [{ if = "schooling rises", then = "age >= age.now + 2" }]
rules = ["rent + loan <= 0.4 * income"]
links = [["tenure", "age", 1.0]]

[features]
age = "stay"
income = { may = "rise", step = 100, most = 2000, cost = [1, 3] }
housing = { moves = { rent = ["own"], free = ["rent", "own"] }, cost = { own = 2.0 } }
"""
NAMES = ["age", "net income", "a.b", "größe", 'q"uote', "back\\slash", "tab\there", "new\nline", "`tick`", ""]
WORDS = ["rent", "own", "0 to 200 DM", "é", "true", "1", ""]


def test_the_example_is_read():
    actions = Actions.from_toml(EXAMPLE)
    assert actions == Actions(
        {
            "age": "stay",
            "income": Action("rise", step=100, most=2000, cost=(1, 3)),
            "housing": Action(moves={"rent": ["own"], "free": ["rent", "own"]}, cost={"own": 2.0}),
        },
        rules=["rent + loan <= 0.4 * income"],
        links=[("tenure", "age", 1.0)],
        when=[("schooling rises", "age >= age.now + 2")],
        at_most=3,
        at_most_of=[(1, ["loan a", "loan b"])],
    )
    assert Actions.from_toml("\n") == Actions()


def number(rng):
    return rng.choice([0, 1, -3, 0.1, 1e-12, 12345.678, 2**60, rng.random(), rng.randrange(1000)])


def named(rng):
    """Values of a category: text, numbers or truth values."""
    return rng.choice([WORDS, [1, 2, 3], [True, False], [0.5, 1.5]])


def action(rng):
    said = {"may": rng.choice(["change", "stay", "rise", "fall"]), "protected": rng.random() < 0.3}
    if rng.random() < 0.3:
        values = named(rng)
        keys = rng.sample(values, 2)
        said["moves"] = {key: rng.sample(values, rng.randrange(1, len(values))) for key in keys}
        said["cost"] = rng.choice([None, 2, {keys[0]: 0.25}])
        said["values"] = rng.choice([None, list(values), tuple(values)])
        return Action(**said)
    low, high = sorted([number(rng), number(rng)])
    said |= {"low": rng.choice([None, low, -math.inf]), "high": rng.choice([None, high, math.inf])}
    kind = rng.choice(["step", "whole", "values", "none"])
    said["step"] = rng.choice([0.1, 5]) if kind == "step" else None
    said["whole"] = rng.choice([True, False]) if kind == "whole" else None
    said["values"] = [number(rng)] if kind == "values" else None
    said["most"] = rng.choice([None, 0.5, 2000])
    said["cost"] = rng.choice([None, 2, (1, 3), [0.5, 2.5]])
    return Action(**said)


def rule(rng):
    a, b = rng.sample([name for name in NAMES if name], 2)
    if rng.random() < 0.5:
        return f"{number(rng)!r} * {quoted_name(a)} + {quoted_name(b)} <= 2 * {quoted_name(b)}.now + 1"
    now = rng.choice([{}, {b: 2.0}])
    return Rule({a: 1, b: 0.1}, low=-1.5, high=rng.choice([None, 4]), name=rng.choice(["", "mine"]), now=now)


def condition(rng):
    """A condition of any kind, about names that need quoting."""
    a, b = (quoted_name(name) for name in rng.sample([name for name in NAMES if name], 2))
    moves = f"{a} {rng.choice(['rises', 'falls', 'changes', 'stays'])}"
    value = rng.choice([3, 0.25, -2, *(quoted_name(word) for word in WORDS if word)])
    return rng.choice([moves, f"{a} is {value}", f"  {a} >= {a}.now + {number(rng)!r}", f"2 * {a} = {b}"])


def limits(rng):
    """What files say about how many features change."""
    some = [
        (rng.randrange(1, 4), rng.sample([*NAMES, 7], rng.randrange(1, 4))) for _ in range(rng.randrange(2))
    ]
    return {"at_most": rng.choice([None, 1, 5]), "at_most_of": some}


def test_what_is_written_is_read_again():
    rng = random.Random(0)
    kinds = set()
    for _ in range(300):
        features = {name: action(rng) for name in rng.sample(NAMES, rng.randrange(4))}
        links = [(*rng.sample(NAMES, 2), number(rng)) for _ in range(rng.randrange(2))]
        rules = [rule(rng) for _ in range(rng.randrange(3))]
        when = [(condition(rng), condition(rng)) for _ in range(rng.randrange(3))]
        actions = Actions(features, rules=rules, links=links, when=when, **limits(rng))
        text = actions.to_toml()
        again = Actions.from_toml(text)
        assert again == actions, text
        assert again.to_toml() == text
        kinds |= {field for said in features.values() for field in said.given()}
    assert kinds == {
        "may", "low", "high", "most", "step", "whole", "values", "moves", "cost", "protected",
    }  # fmt: skip


def test_equal_means_equal():
    """The test above could not see a field that is lost, if unequal actions were equal."""
    one = Actions({"a": Action("rise", most=5)})
    for other in ({"a": Action("rise", most=6)}, {"a": Action("rise")}, {"b": Action("rise", most=5)}):
        assert Actions(other) != one
    for more in ({"when": [("a rises", "b rises")]}, {"at_most": 3}, {"at_most_of": [(1, ["a", "b"])]}):
        assert Actions(**more) != Actions()
    assert Actions(when=[("a rises", "b rises")]) != Actions(when=[("a rises", "b falls")])
    assert Actions(at_most_of=[(1, ["a", "b"])]) != Actions(at_most_of=[(2, ["a", "b"])])
    assert Action(cost=(1, 2)) != Action(cost=(1, 3))
    assert Action(values=[1, 2]) == Action(values=(1, 2))
    assert hash(Action(values=[1, 2])) == hash(Action(values=(1, 2)))
    assert Action() != "change"


def test_names_that_are_numbers_are_found_again():
    text = Actions({0: "stay", 2: Action("rise")}, rules=["`1` <= 5"]).to_toml()
    banknote = datasets.load_banknote()
    clf = ConditionalGaussianNetworkClassifier().fit(banknote.X.to_numpy(), banknote.y)
    e = CounterfactualExplainer(clf, actions=Actions.from_toml(text)).explain(banknote.X.to_numpy()[0])
    assert e.counterfactual[0] == e.factual[0]
    assert e.counterfactual[2] >= e.factual[2]
    with pytest.raises(DataError, match="the feature '0' is named twice"):
        Actions({0: "stay", "0": "rise"}).to_toml()


@pytest.mark.parametrize("value", [pd.Timestamp("2020-01-01"), None, object()])
def test_values_that_toml_does_not_have_are_refused(value):
    with pytest.raises(DataError, match="TOML has no value for"):
        Actions({"a": Action(moves={"x": [value]})}).to_toml()
    with pytest.raises(DataError, match="cannot be written as UTF-8"):
        Actions({"\ud800": "stay"}).to_toml()


MALFORMED = [
    ("age = ", "is not TOML: Invalid value (at line 1, column 7)"),
    ("[features\n", "is not TOML"),
    ("[features]\nage = 'stay'\nage = 'rise'", "Cannot overwrite a value (at line 3, column 13)"),
    ("a = " + "[" * 9000, "nested too deeply"),
    ("at_most = 0", "the actions: at_most must be a positive integer, not 0"),
    ("at_most = 2.0", "the actions: at_most must be a positive integer, not 2.0"),
    ("at_most = true", "the actions: at_most must be a positive integer, not True"),
    ("at_most = [3]", "the actions: at_most must be a positive integer, not [3]"),
    ("at_most_of = 3", "the actions: at_most_of must be a list, not 3"),
    ("at_most_of = [1, ['a']]", "at_most_of[0]: at_most_of must list pairs (count, features), not 1"),
    ("at_most_of = [[1, 'a']]", "at_most_of[0]: at_most_of must list pairs (count, features)"),
    ("at_most_of = [['a', ['a']]]", "at_most_of[0]: a count of at_most_of must be a positive integer"),
    ("at_most_of = [[1, []]]", "at_most_of[0]: at_most_of must name features, not []"),
    ("at_most_of = [[1, [2.5]]]", "at_most_of[0]: at_most_of must name features, not 2.5"),
    ("at_most_of = [[1, ['a', 'b', 'a']]]", "at_most_of[0]: at_most_of names 'a' twice"),
    ("when = 'a rises'", "the actions: when must be a list, not 'a rises'"),
    ("when = ['a rises']", "when[0]: must be a table with if and then, not 'a rises'"),
    ("when = [['a rises', 'b rises']]", "when[0]: must be a table with if and then, not a list"),
    ("when = [{ if = 'a rises' }]", "when[0]: lacks 'then'"),
    ("when = [{ then = 'a rises' }]", "when[0]: lacks 'if'"),
    ("when = [{ if = 'a rises', then = 'b rises', else = 'c' }]", "when[0]: 'else' is unknown; there are"),
    ("when = [{ if = 3, then = 'b rises' }]", "when[0]: if: a condition must be text, not 3"),
    ("when = [{ if = 'a rises', then = 'b < 3' }]",
     "when[0]: then: the condition cannot be read at character 3, b ^< 3: write <="),
    ("when = [{ if = 'a goes up', then = 'b rises' }]", "when[0]: if: the condition cannot be read at"),
    ("when = [{ if = 'a is', then = 'b rises' }]", "a is^: a value must stand here"),
    ("when = [{ if = 'a is - b', then = 'b rises' }]", "a is - ^b: a value must stand here"),
    ("when = [{ if = '', then = 'b rises' }]", "when[0]: if: the condition cannot be read at the end"),
    ("when = [{ if = 'a\tis 3', then = 'b rises', }]", "is not TOML"),
    ("feature = {}", "the actions: 'feature' is unknown; there are at_most, at_most_of, rules, when"),
    ("features = 3", "the actions: features must be a table, not 3"),
    ("[[features]]\nage = 'stay'", "features must be a table, not a list"),
    ("features.age = 3", "features.age: must be a word or a table, not 3"),
    ("features.age = ['stay']", "features.age: must be a word or a table, not a list"),
    ("features.age = 'grow'", "features.age: a feature may 'change', 'stay', 'rise' or 'fall'; 'grow'"),
    ("features.age = { may = 3 }", "features.age: a feature may"),
    ("features.a.b = 'stay'", "features.a: 'b' is unknown; there are may, low, high, most, least, step, "
     "whole, values, moves, cost, protected; put a name with a point in quotes"),
    ("features.'a.b' = { lo = 1 }", 'features."a.b": \'lo\' is unknown'),
    ("features.age = { low = 'a' }", "features.age: the ends of an action must be numbers or None, not 'a'"),
    ("features.age = { low = true }", "features.age: the ends of an action must be numbers or None, not T"),
    ("features.age = { low = nan }", "features.age: the ends of an action must be numbers or None, not nan"),
    ("features.age = { low = 2, high = 1 }", "features.age: the ends of an action exclude each other"),
    ("features.age = { most = 0 }", "features.age: most must be a finite number above 0, not 0"),
    ("features.age = { step = 1, whole = true }", "features.age: give one of step, whole and values"),
    ("features.age = { whole = 1 }", "features.age: whole must be true or false, not 1"),
    ("features.age = { protected = 'no' }", "features.age: protected must be true or false, not 'no'"),
    ("features.age = { values = [] }", "features.age: values must name at least one"),
    ("features.age = { values = { a = 1 } }", "features.age: values must be a list, not a table"),
    ("features.age = { values = [07:32:00] }", "features.age: values must be finite numbers"),
    ("features.age = { values = [[1]] }", "features.age: values must be finite numbers"),
    ("features.age = { cost = [1, 3, 4] }", "features.age: cost must be a number, a pair (up, down)"),
    ("features.age = { cost = [1, -3] }", "features.age: a price must be a finite number of at least"),
    ("features.age = { cost = [1, 'a'] }", "features.age: a price must be a finite number of at least"),
    ("features.age = { cost = 'dear' }", "features.age: a price must be a finite number of at least 0"),
    ("features.age = { cost = { own = -1 } }", "features.age: a price must be a finite number of at least 0"),
    ("features.age = { moves = { rent = 'own' } }", "features.age: moves must be a dict"),
    ("features.age = { moves = [[['a'], ['b']]] }", "features.age: the values that moves names must be text"),
    ("rules = 'a <= 1'", "the actions: rules must be a list, not 'a <= 1'"),
    ("rules = ['a <= 1', 'a < 2']", "rules[1]: the rule cannot be read at character 3, a ^< 2: write <="),
    ("rules = [3]", "rules[0]: must be text or a table, not 3"),
    ("rules = [{ terms = 3 }]", "rules[0]: 'terms' is unknown; there are coefficients, low, high, name, now"),
    ("rules = [{ low = 3 }]", "rules[0]: a rule needs a dict of feature -> coefficient"),
    ("rules = [{ coefficients = { a = 1 } }]", "rules[0]: a rule needs an end: low or high"),
    ("rules = [{ coefficients = { a = 'x' }, low = 1 }]", "rules[0]: the coefficients of a rule must be"),
    ("links = 3", "the actions: links must be a list, not 3"),
    ("links = [['a', 'b']]", "links[0]: a link must be (feature, leader, factor)"),
    ("links = [['a', 'b', 1], ['a', 'a', 1]]", "links[1]: 'a' is linked to itself"),
    ("links = [[['a'], 'b', inf]]", "links[0]: the factor of a link must be a finite number, not inf"),
    ("links = [[['a'], 'b', 1]]", "links[0]: a link is between features by name, not ['a']"),
    ("x = " + "9" * 5000, "is not TOML"),
    ("# " + "x" * 1_000_000, "a file of actions has at most 1,000,000 characters"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "message"), MALFORMED, ids=range(len(MALFORMED)))
def test_malformed_files_are_one_line_with_place_and_reason(text, message):
    with pytest.raises(ProblemError) as error:
        Actions.from_toml(f"{text}\n")
    said = str(error.value)
    assert said.startswith("the actions: ")
    assert message in said
    assert said.isprintable()
    assert len(said) < 400


def test_files(tmp_path):
    path = tmp_path / "actions.toml"
    path.write_text("\ufeff" + EXAMPLE, encoding="utf-8")
    assert Actions.from_toml(path) == Actions.from_toml(str(path)) == Actions.from_toml(EXAMPLE)
    path.write_bytes(b"a = '\xff'")
    with pytest.raises(ProblemError, match=r"actions\.toml: is not UTF-8 text: byte 6 cannot be read"):
        Actions.from_toml(path)
    with pytest.raises(ProblemError, match=r"missing\.toml: cannot be read: No such file"):
        Actions.from_toml(tmp_path / "missing.toml")
    with pytest.raises(ProblemError, match=r"^at_most = 3: .* \(TOML itself needs a line break\)$"):
        Actions.from_toml("at_most = 3")
    with pytest.raises(ProblemError, match="cannot be read: Is a directory"):
        Actions.from_toml(tmp_path)
    with pytest.raises(ProblemError, match="cannot be read"):
        Actions.from_toml("a\0b")
    with pytest.raises(ProblemError, match="a path or a text, not 3"):
        Actions.from_toml(3)


def test_an_explainer_takes_the_path_of_a_file(tmp_path, bundled):
    pima, path = bundled["pima"], tmp_path / "actions.toml"
    clf = ConditionalGaussianNetworkClassifier("tan").fit(pima.X, pima.y)
    path.write_text('rules = ["mass <= mass.now - 1"]\n[features]\nage = "stay"\n', encoding="utf-8")
    for given in (path, str(path)):
        explainer = CounterfactualExplainer(clf, actions=given, whole=False)
        assert explainer.actions == Actions({"age": "stay"}, rules=["mass <= mass.now - 1"])
    e = explainer.explain(pima.X.iloc[0])
    assert e.counterfactual["age"] == e.factual["age"]
    assert e.counterfactual["mass"] <= e.factual["mass"] - 1
    with pytest.raises(ProblemError, match="stay: cannot be read: No such file"):
        CounterfactualExplainer(clf, actions="stay")


KEYS = ("# rules", "# links", "# when", "# at_most")


def test_templates_load_as_they_are_and_line_by_line():
    german = datasets.load_german_credit()
    clf = ConditionalGaussianNetworkClassifier("naive").fit(german.X, german.y)
    text = Actions.template(clf)
    assert Actions.from_toml(text) == Actions.proposed(clf)
    assert list(Actions.proposed(clf).features)[-3:] == ["age", "dependents", "foreign_worker"]
    assert "# It stays, since its name says how old someone or something is" in text
    freed = text.replace('age = { may = "stay", protected = true }', 'age = "change"')
    assert "age" not in surefoot.CounterfactualExplainer(clf, actions=Actions.from_toml(freed)).kept.features
    begun = [
        line[2:] for line in text.split("[features]\n")[1].splitlines() if line[0:1] == "#" and " = " in line
    ]
    actions = Actions.from_toml("[features]\n" + "\n".join(begun))
    assert list(actions.features) == list(german.X.columns)
    CounterfactualExplainer(clf, actions=actions)
    for name, kind in clf.feature_kinds_.items():
        said = next(line for line in text.splitlines() if line.startswith(f"# {name}: "))
        assert {"whole": "whole number from", "number": "number from", "category": "category"}[kind] in said
    first = [line[2:] for line in text.splitlines() if line.startswith(KEYS)]
    assert sorted(tomllib.loads("\n".join(first))) == ["at_most", "at_most_of", "links", "rules", "when"]
    assert len(Actions.from_toml("\n".join(first)).when) == 1


def test_names_of_a_template_are_kept_on_one_line():
    frame = pd.DataFrame({"new\nline": [1.0, 2, 3, 5], "x\x7f = 1": [2.0, 1, 4, 4.5]})
    clf = ConditionalGaussianNetworkClassifier("naive").fit(frame, [0, 0, 1, 1])
    text = Actions.template(clf)
    assert Actions.from_toml(text) == Actions()
    lines = [line[2:] for line in text.split("[features]\n")[1].splitlines() if " = {" in line]
    assert list(Actions.from_toml("[features]\n" + "\n".join(lines)).features) == list(frame.columns)


def test_which_rows_break_what():
    frame = pd.DataFrame(
        {
            "age": [30, 17, None],
            "rent": [5, 9.5, 1],
            "income": [10, 20, 2.0],
            "housing": ["own", "tent", None],
        },
        index=["a", "b", "c"],
    )
    actions = Actions(
        {
            "age": Action("stay", low=18, high=29),
            "rent": Action(whole=True),
            "housing": Action(values=["own", "rent"]),
            "income": Action("rise", step=1, most=3),
        },
        rules=[
            "rent <= 0.4 * income",
            "income >= income.now",
            Rule({"rent": 1, "age": 1}, high=25, name="sum"),
        ],
        links=[("rent", "income", 1)],
    )
    found = actions.check(frame)
    assert list(found.columns) == ["row", "feature", "wish", "value"]
    assert found.to_numpy().tolist() == [
        ["a", "age", "at most 29", 30],
        ["a", None, "rent <= 0.4 * income", pytest.approx(1)],
        ["a", None, "sum", 35.0],
        ["b", "age", "at least 18", 17],
        ["b", "rent", "whole numbers only", 9.5],
        ["b", "housing", "only the values own, rent", "tent"],
        ["b", None, "rent <= 0.4 * income", pytest.approx(1.5)],
        ["b", None, "sum", 26.5],
        ["c", None, "rent <= 0.4 * income", pytest.approx(0.2)],
    ]
    assert Actions().check(frame).empty
    when = [
        ("income stays", "rent <= 8"),
        ("housing is own", "age <= 25"),
        ("income rises", "age <= 1"),
        ("age >= 18", "housing is tent"),
        ("rent stays", "income is 20"),
        ("rent stays", "rent changes"),
    ]
    found = Actions(when=when).check(frame)
    assert found[["row", "wish"]].to_numpy().tolist() == [
        ["a", "if housing is own, then age <= 25"],
        ["a", "if age >= 18, then housing is tent"],
        ["a", "if rent stays, then income is 20"],
        ["a", "if rent stays, then rent changes"],
        ["b", "if income stays, then rent <= 8"],
        ["b", "if rent stays, then rent changes"],
        ["c", "if rent stays, then income is 20"],
        ["c", "if rent stays, then rent changes"],
    ]
    assert found["feature"].isna().all()
    assert list(Actions().check(frame).columns) == ["row", "feature", "wish", "value"]


def test_checks_are_exact():
    frame = pd.DataFrame({"a": [0.1, 0.3], "b": [0.2, 0.0]})
    assert Actions(rules=["a + b <= 0.3"]).check(frame)["row"].tolist() == [0]  # by the last digit
    assert Actions(rules=["a + b = 0.3"]).check(frame).empty
    assert Actions(rules=["a >= a.now + 0.1"]).check(frame)["value"].tolist() == [0, 0]


@pytest.mark.parametrize(
    ("actions", "frame", "message"),
    [
        (Actions({"height": "stay"}), pd.DataFrame({"a": [1]}), "actions: the table has no column 'height'"),
        (
            Actions(rules=["h <= 1"]),
            pd.DataFrame({"a": [1]}),
            "the rule 'h <= 1': the table has no column 'h'",
        ),
        (
            Actions({"a": Action(low=1)}),
            pd.DataFrame({"a": ["x"]}),
            r"'a' must be a number, not 'x' \(row 0\)",
        ),
        (Actions({"a": "stay"}), pd.DataFrame([[1, 2]], columns=["a", "a"]), "more than one column 'a'"),
        (Actions({"a": "stay"}), [[1]], "a DataFrame is needed, not list"),
        (
            Actions(when=[("h rises", "a rises")]),
            pd.DataFrame({"a": [1]}),
            "'if h rises, then a rises': the table has no column 'h'",
        ),
    ],
)
def test_tables_that_do_not_fit(actions, frame, message):
    with pytest.raises(DataError, match=message):
        actions.check(frame)


def test_the_command_line_begins_a_file_and_reads_it(tmp_path, bundled, capsys):
    from surefoot import Explanation, verify
    from surefoot.datasets.bundled import FOLDER
    from surefoot.ui.cli import main

    pima, model, path = bundled["pima"], str(tmp_path / "model.json"), tmp_path / "actions.toml"
    clf = ConditionalGaussianNetworkClassifier("tan").fit(pima.X, pima.y)
    clf.save(model)
    assert main(["actions", model]) == 0
    assert capsys.readouterr().out == Actions.template(clf)
    assert main(["actions", model, "--output", str(path)]) == 0
    assert path.read_text(encoding="utf-8") == Actions.template(clf)
    assert main(["actions", model, "--output", str(path)]) == 2
    assert "exists already" in capsys.readouterr().err
    path.write_text(
        'links = [["preg", "age", 1]]\n[features]\nplas = { step = 10, protected = true }\n', encoding="utf-8"
    )
    asked = ["explain", model, str(FOLDER / "pima.csv"), "--row", "0", "--actions", str(path)]
    assert main([*asked, "--fractional", "insu", "--json", "-"]) == 0
    e = Explanation.from_json(capsys.readouterr().out)
    change = e.counterfactual - e.factual
    assert change["plas"] % 10 == 0
    assert change["preg"] == pytest.approx(change["age"])
    assert verify(e, clf).ok
    assert main([*asked, "--whole", "plas"]) == 2
    assert "'plas' has an action in" in capsys.readouterr().err
    path.write_text("features.plas = { cost = [1, 3] }", encoding="utf-8")
    assert main(asked) == 0
    assert "warning: 'plas' has a price, which counts with --distance cost only" in capsys.readouterr().err
    assert main([*asked, "--distance", "cost", "--norm", "1", "--json", "-"]) == 0
    e = Explanation.from_json(capsys.readouterr().out)
    assert e.question.prices[1] == (1.0, 3.0)
    assert main([*asked[:5], "--norm", "1", "--at-most", "2", "--json", "-"]) == 0
    e = Explanation.from_json(capsys.readouterr().out)
    assert 1 <= len(e.changed) <= 2
    assert main([*asked, "--distance", "cost", "--at-most", "0"]) == 2
    assert "at_most must be a positive integer, not 0" in capsys.readouterr().err
    path.write_text("at_most = 3", encoding="utf-8")
    assert main([*asked, "--at-most", "2"]) == 2
    assert "says at_most already; leave --at-most out" in capsys.readouterr().err
    path.write_text('features.height = "stay"', encoding="utf-8")
    assert main(asked) == 2
    assert "unknown feature 'height'" in capsys.readouterr().err
