"""Rules and conditions as text: read as they are meant, refused with the place and the reason."""

import math
import random
import time

import pytest

from surefoot import Actions, Rule
from surefoot.exceptions import ProblemError
from surefoot.explain.constraints.grammar import Moves, Takes, parse_condition, parse_rule


def quoted_name(name):
    """A name as a rule has to write it."""
    return name if name.isidentifier() else "`" + name.replace("`", "``") + "`"


@pytest.mark.parametrize(
    ("text", "terms", "low", "high", "now"),
    [
        ("rent + loan <= 0.4 * income", {"rent": 1, "loan": 1, "income": -0.4}, None, 0, {}),
        ("income * 0.4 >= rent", {"income": 0.4, "rent": -1}, 0, None, {}),
        ("a = b", {"a": 1, "b": -1}, 0, 0, {}),
        ("2*a + 3 <= 10 - b", {"a": 2, "b": 1}, None, 7, {}),
        ("`net income` - -`a.b` >= 1e3", {"net income": 1, "a.b": 1}, 1000, None, {}),
        ("`a``b` <= 1", {"a`b": 1}, None, 1, {}),
        ("age >= age.now + 2", {"age": 1}, 2, None, {"age": -1}),
        ("`net income` <= 1.5*`net income`.now", {"net income": 1}, None, 0, {"net income": -1.5}),
        ("0 <= a <= 5", {"a": 1}, 0, 5, {}),
        ("5 >= a + 1 >= 0", {"a": 1}, -1, 4, {}),
        ("2*(a - 3*(b + 1)) <= -(a + 4)", {"a": 3, "b": -6}, None, 2, {}),
        ("--a <= +.5", {"a": 1}, None, 0.5, {}),
        ("2 * -3 * a <= 2.", {"a": -6}, None, 2, {}),
        ("0.1 * a + 0.2 * a <= 1", {"a": 0.3}, None, 1, {}),
        ("0 * c + größe <= 1", {"größe": 1}, None, 1, {}),
        ("`is` + now + rises >= 0e999", {"is": 1, "now": 1, "rises": 1}, 0, None, {}),
        ("0 <= x_1 * (2 + 1)", {"x_1": -3}, None, 0, {}),
    ],
)
def test_rules_are_read_as_they_are_meant(text, terms, low, high, now):
    rule = parse_rule(text)
    assert (dict(rule.coefficients), rule.low, rule.high, dict(rule.now)) == (terms, low, high, now)
    assert rule.name == text
    assert Actions(rules=[text, rule]).rules == (rule, rule)


@pytest.mark.parametrize(
    ("text", "place", "reason"),
    [
        ("", "at the end, ^:", "a feature, a number or ( must stand here"),
        ("a", "at the end, a^:", "a rule compares two sums"),
        ("a < 5", "at character 3, a ^< 5:", "write <="),
        ("a > 5", "at character 3", "write >="),
        ("a == 5", "at character 3, a ^== 5:", "write ="),
        ("a ≤ 5", "at character 3, a ^≤ 5:", "write <="),
        ("a <= ", "at the end, a <= ^:", "must stand here"),
        ("a <= * 5", "at character 6, a <= ^* 5:", "a feature, a number or ( must stand here"),
        ("a * b <= 5", "at character 3, a ^* b <= 5:", "a rule is linear"),
        ("a * a.now <= 5", "at character 3", "a rule is linear"),
        ("a / 2 <= 5", "at character 3", "division is not known"),
        ("a ** 2 <= 5", "at character 3", "powers are not known"),
        ("a ^ 2 <= 5", "at character 3", "powers are not known"),
        ("2 a <= 5", "at character 3, 2 ^a <= 5:", "a product needs a *"),
        ("2a <= 5", "at character 2, 2^a <= 5:", "a product needs a *"),
        ("net income <= 5", "at character 5, net ^income <= 5:", "a name of several words backticks"),
        ("(a <= 5", "at character 4, (a ^<= 5:", "+, -, * or ) must stand here"),
        ("a) <= 5", "at character 2, a^) <= 5:", "there is no ( for it"),
        ("`a <= 5", "at character 1, ^`a <= 5:", "this backtick has no partner"),
        ("a + `` <= 5", "at character 5", "there is no name between the backticks"),
        ("a.then <= 5", "at character 3, a.^then <= 5:", "after a point only 'now' can stand"),
        ("a. <= 5", "at character 4", "after a point only 'now' can stand"),
        ("0 <= a >= 5", "at character 8", "must both be <= or both be >="),
        ("0 = a = 5", "at character 7", "must both be <= or both be >="),
        ("0 <= a <= 5 <= b", "at character 13", "two comparisons at most"),
        ("b <= a <= 5", "at character 3", "the outer parts of two comparisons must be numbers"),
        ("a <= 1,000", "at character 7", "without commas"),
        ("a <= 'x'", "at character 6", "in backticks"),
        ("a <= 1e400", "at character 6", "too large or too small"),
        ("a <= 1e-400", "at character 6", "too large or too small"),
        ("a <= 1e999999999", "at character 6", "too large or too small"),
        ("1e200 * 1e200 * a <= 1", "at character 7", "the numbers get too large"),
        ("a; b <= 5", "at character 2, a^; b <= 5:", "means nothing here"),
        ("a\n<= 5", r"at character 2, a^\n<= 5:", "means nothing here"),
        ("a <= \uff15", "at character 6", "means nothing here"),
        ("a <= 1\u200b0", r"at character 7, a <= 1^\u200b0:", "means nothing here"),
        ("\u202ea <= 5", r"at character 1, ^\u202ea <= 5:", "means nothing here"),
        ("a\ud800 <= 5", r"at character 2, a^\ud800 <= 5:", "means nothing here"),
        ("a <= 5\x00", r"at character 7, a <= 5^\x00:", "means nothing here"),
        ("x" * 60 + " < 5", "at character 62, ..." + "x" * 23 + " ^< 5:", "write <="),
    ],
)
def test_what_cannot_be_read_is_one_line_with_place_and_reason(text, place, reason):
    with pytest.raises(ProblemError) as error:
        parse_rule(text)
    message = str(error.value)
    assert message.startswith("the rule cannot be read ")
    assert place in message
    assert reason in message
    assert message.isprintable()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a - a <= 0", "the rule 'a - a <= 0' says nothing: every feature cancels out"),
        ("a.now <= 3", "the rule 'a.now <= 3' says nothing: no feature in it can change"),
        ("3 <= 4", "says nothing: no feature in it can change"),
        ("5 <= a <= 4", "can never hold: its ends exclude each other"),
    ],
)
def test_rules_that_say_nothing(text, message):
    with pytest.raises(ProblemError, match=message):
        parse_rule(text)


@pytest.mark.parametrize(
    "text",
    [
        "a + " * 2_500_000 + "a <= 1",
        "(" * 10_000_000,
        "(" * 9_000 + "a" + ")" * 900,
        "`" * 9_999,
        "`" * 10_000,
        "-" * 9_990 + "a < 1",
        "1" * 9_990 + " * a <= 1",
        "*".join(["1e99"] * 1_900) + " * a <= 1",
        "a" * 9_990 + " " + "<",
        "0." + "0" * 9_000 + "1 <= a",
        "\u0300" * 9_000,
        "." * 9_000,
        "+".join(f"x{k}" for k in range(1_800)) + "+",
    ],
)
def test_hostile_texts_are_refused_fast(text):
    for read in (parse_rule, parse_condition, lambda text: Actions(when=[(text, text)])):
        start = time.process_time()
        with pytest.raises(ProblemError) as error:
            read(text)
        assert time.process_time() - start < 1
        assert len(str(error.value)) < 300


def test_long_but_honest_rules_are_read_fast():
    start = time.process_time()
    names = [f"x{k}" for k in range(600)]
    rule = parse_rule(" + ".join(f"0.{k} * {name}" for k, name in enumerate(names, 1)) + " <= 1")
    assert len(rule.coefficients) == 600
    assert parse_rule("1.000001 * " * 900 + "a <= 1").coefficients["a"] == pytest.approx(1.000001**900)
    assert parse_rule(f"({' + '.join(names)}){' * 1' * 1_400} <= 1").coefficients["x7"] == 1
    assert time.process_time() - start < 2


@pytest.mark.parametrize("value", [None, 3, b"a <= 1", ["a <= 1"]])
def test_only_text_is_read(value):
    with pytest.raises(ProblemError, match="a rule must be text, not"):
        parse_rule(value)


@pytest.mark.parametrize(
    ("text", "condition"),
    [
        ("schooling rises", Moves("schooling", "rises")),
        ("`net income` falls", Moves("net income", "falls")),
        ("rises changes", Moves("rises", "changes")),
        ("is stays", Moves("is", "stays")),
        ("housing is own", Takes("housing", "own")),
        ("housing is `with parents`", Takes("housing", "with parents")),
        ("cards is 2", Takes("cards", 2)),
        ("cards is 2.5", Takes("cards", 2.5)),
        ("cards is -1", Takes("cards", -1)),
        ("cards is - 0.5", Takes("cards", -0.5)),
        ("is is is", Takes("is", "is")),
        ("age >= age.now + 2", Rule({"age": 1}, low=2, name="age >= age.now + 2", now={"age": -1})),
        ("2 * a <= b", Rule({"a": 2, "b": -1}, high=0, name="2 * a <= b")),
    ],
)
def test_conditions(text, condition):
    found = parse_condition(text)
    assert found == condition
    assert type(found) is type(condition)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("housing is", "the condition cannot be read at the end, housing is^: a value must stand here"),
        (
            "housing is with parents",
            "at character 17, housing is with ^parents: put a value of several words",
        ),
        ("schooling rises fast", "at character 17"),
        ("schooling", "the condition cannot be read at the end"),
        ("schooling rise", "at character 11"),
        ("a is 1e999", "too large or too small"),
        ("a is -b", "at character 7, a is -^b: a value must stand here"),
        ("a is --1", "at character 7"),
    ],
)
def test_conditions_that_cannot_be_read(text, message):
    with pytest.raises(ProblemError) as error:
        parse_condition(text)
    assert message in str(error.value)


def test_against_python():
    """Random expressions have the value that Python gives them."""
    rng = random.Random(0)

    def expression(depth):
        kind = rng.randrange(6 if depth else 3)
        if kind == 0:
            return repr(rng.choice([0.5, 2, 1.25, 3, 0]))
        if kind < 3:
            return rng.choice(["a", "b", "c", "a.now"])
        if kind == 3:
            return f"({expression(depth - 1)})"
        if kind == 4:
            return f"{rng.choice(['-', '+', '3*', '-2 * '])}({expression(depth - 1)})"
        return f"{expression(depth - 1)} {rng.choice('+-')} {expression(depth - 1)}"

    read = nothing = 0
    for _ in range(300):
        left, right = expression(4), expression(4)
        text = f"{left} <= {right}"
        try:
            rule = parse_rule(text)
        except ProblemError as error:
            nothing += "says nothing" in str(error)
            continue
        read += 1
        for _ in range(3):
            point = {name: rng.randrange(-8, 8) / 4 for name in "abc"}
            today = {name: rng.randrange(-8, 8) / 4 for name in "abc"}
            python = text.replace("a.now", "t")
            sides = [eval(side, {**point, "t": today["a"]}) for side in python.split("<=")]
            value = sum(a * point[name] for name, a in rule.coefficients.items())
            low, high = rule.ends(today)
            assert low == -math.inf
            assert high - value == sides[1] - sides[0], text
    assert read + nothing == 300
    assert read > 200


@pytest.mark.parametrize("name", ["income", "net income", "a`b", "``", "größe", "1st", "a.now", "x\ny", "is"])
def test_names_are_written_so_that_they_are_read(name):
    assert parse_rule(f"{quoted_name(name)} <= 1").coefficients == {name: 1}


def test_ends_are_never_wider_than_the_rule():
    from fractions import Fraction

    rng = random.Random(1)
    for _ in range(200):
        factor, today = rng.uniform(0.1, 3), rng.uniform(-1e3, 1e3)
        rule = Rule({"a": 1}, low=0.1, high=0.7, now={"a": factor})
        low, high = rule.ends({"a": today})
        added = Fraction(factor) * Fraction(today)
        assert Fraction(low) + added >= Fraction(0.1)
        assert Fraction(high) + added <= Fraction(0.7)
        assert Fraction(math.nextafter(low, -math.inf)) + added < Fraction(0.1)
