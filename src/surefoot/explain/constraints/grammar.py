"""Rules and conditions as text: read by a small parser, refused with the place and the reason.

A rule compares two sums, ``rent + loan <= 0.4 * income``. A sum has numbers, features and products of the
two, with brackets; ``income.now`` is today's value. A name that is not a plain word stands in backticks, and
a backtick in it is written twice. A condition is a rule, or says what a feature does or is:
``schooling rises``, ``housing is own``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Literal, NamedTuple, NoReturn, get_args

from surefoot.exceptions import ProblemError
from surefoot.explain.constraints.linear import Rule

LONGEST = 10_000  # characters of a text
LONGEST_NUMBER = 100
DEEPEST = 50  # brackets within brackets
LARGEST, SMALLEST = Fraction(1e300), Fraction(1e-300)
AROUND = 24  # characters of a text on either side of the place that an error shows
COMPARISONS = ("<=", ">=", "=")
NUMBER = re.compile(r"(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
QUOTED = re.compile(r"`((?:[^`]|``)*+)`")
INSTEAD = {
    "<": "write <=",
    ">": "write >=",
    "==": "write =",
    "≤": "write <=",
    "≥": "write >=",
    "/": "division is not known; multiply by a number",
    "^": "powers are not known; a rule is linear",
    "**": "powers are not known; a rule is linear",
    "'": "put names and values in backticks",
    '"': "put names and values in backticks",
    ",": "write numbers without commas, with a point before the decimals",
}

How = Literal["rises", "falls", "changes", "stays"]


@dataclass(frozen=True)
class Moves:
    """A condition: what a feature does.

    Parameters
    ----------
    feature : str
    how : {"rises", "falls", "changes", "stays"}
    """

    feature: str
    how: How


@dataclass(frozen=True)
class Takes:
    """A condition: the value that a feature has.

    Parameters
    ----------
    feature : str
    value : str, int or float
    """

    feature: str
    value: Any


Condition = Moves | Takes | Rule


def parse_rule(text: str) -> Rule:
    """Read a rule.

    Examples
    --------
    >>> parse_rule("rent + loan <= 0.4 * `net income`").coefficients
    {'rent': 1.0, 'loan': 1.0, 'net income': -0.4}
    >>> parse_rule("age >= age.now + 2")
    Rule(coefficients={'age': 1.0}, low=2.0, high=None, name='age >= age.now + 2', now={'age': -1.0})
    >>> parse_rule("rent < 5")
    Traceback (most recent call last):
    surefoot.exceptions.ProblemError: the rule cannot be read at character 6, rent ^< 5: write <=
    """
    return _Reader(text, "rule").rule()


def parse_condition(text: str) -> Condition:
    """Read a condition.

    Examples
    --------
    >>> parse_condition("schooling rises")
    Moves(feature='schooling', how='rises')
    >>> parse_condition("housing is `with parents`")
    Takes(feature='housing', value='with parents')
    """
    return _Reader(text, "condition").condition()


class _Token(NamedTuple):
    """A piece of a text: its kind, what it stands for, and where it begins and ends."""

    kind: Literal["name", "quoted", "number", "sign", "end"]
    value: Any
    start: int
    stop: int


@dataclass
class _Sum:
    """A linear expression: features, their values of today, and a constant."""

    terms: dict[str, Fraction] = field(default_factory=dict)
    now: dict[str, Fraction] = field(default_factory=dict)
    constant: Fraction = Fraction(0)

    @property
    def is_constant(self) -> bool:
        return not self.terms and not self.now

    def add(self, other: _Sum, factor: int) -> None:
        for mine, others in ((self.terms, other.terms), (self.now, other.now)):
            for name, a in others.items():
                mine[name] = mine.get(name, Fraction(0)) + factor * a
        self.constant += factor * other.constant

    def times(self, factor: Fraction) -> _Sum:
        terms, now = ({name: factor * a for name, a in part.items()} for part in (self.terms, self.now))
        return _Sum(terms, now, factor * self.constant)

    def numbers(self) -> list[Fraction]:
        return [*self.terms.values(), *self.now.values(), self.constant]


class _Reader:
    """Reads one text from left to right; every method begins at the next token and leaves it behind."""

    def __init__(self, text: Any, what: str) -> None:
        if not isinstance(text, str):
            raise ProblemError(f"a {what} must be text, not {text!r:.60}")
        if len(text) > LONGEST:
            raise ProblemError(f"a {what} has at most {LONGEST:,} characters, not {len(text):,}")
        self.text, self.what, self.depth = text, what, 0
        self.at = 0
        self.token = self._scanned()

    def rule(self) -> Rule:
        """A whole rule: sums with one comparison between them, or two in the same direction."""
        sums, signs = [self._sum()], []
        while self.token.value in COMPARISONS and self.token.kind == "sign":
            signs.append(self._next())
            sums.append(self._sum())
        self._finished("+, -, *, <=, >= or =" if not signs else "+, -, * or the end")
        if not signs:
            self._fail(self.token, "a rule compares two sums; write <=, >= or =")
        if len(signs) == 1:
            return self._compared(sums[0], signs[0].value, sums[1])
        return self._between(sums, signs)

    def condition(self) -> Condition:
        """A whole condition."""
        first = self.token
        if first.kind in ("name", "quoted"):
            self._next()
            word = self.token
            if word.kind == "name" and (word.value == "is" or word.value in get_args(How)):
                self._next()
                return self._said(first.value, word.value)
        self.at, self.token = first.stop, first
        return self.rule()

    def _said(self, feature: str, word: Any) -> Condition:
        if word != "is":
            self._finished("the end")
            return Moves(feature, word)
        sign, value = self._next() if self._is("-") else None, self._next()
        if value.kind not in ("name", "quoted", "number") or (sign and value.kind != "number"):
            self._fail(value, "a value must stand here")
        if self.token.kind == "name":
            self._fail(self.token, "put a value of several words in backticks")
        self._finished("the end")
        if value.kind != "number":
            return Takes(feature, value.value)
        return Takes(feature, -self._as_value(value) if sign else self._as_value(value))

    def _as_value(self, token: _Token) -> int | float:
        self._read_number(token)
        written = self.text[token.start : token.stop]
        return int(written) if written.isdigit() else float(written)

    def _compared(self, left: _Sum, sign: str, right: _Sum) -> Rule:
        left.add(right, -1)
        end = -left.constant
        return self._made(left, None if sign == "<=" else end, None if sign == ">=" else end)

    def _between(self, sums: list[_Sum], signs: list[_Token]) -> Rule:
        if len(signs) > 2:
            self._fail(signs[2], "a rule has two comparisons at most")
        if signs[0].value != signs[1].value or signs[0].value == "=":
            self._fail(signs[1], "two comparisons must both be <= or both be >=")
        first, middle, last = sums
        if not (first.is_constant and last.is_constant):
            self._fail(signs[0], "the outer parts of two comparisons must be numbers; write two rules")
        low, high = (first, last) if signs[0].value == "<=" else (last, first)
        return self._made(middle, low.constant - middle.constant, high.constant - middle.constant)

    def _made(self, total: _Sum, low: Fraction | None, high: Fraction | None) -> Rule:
        self._check_size(total.numbers(), self.token)
        terms = {name: float(a) for name, a in total.terms.items() if a}
        if not terms:
            gone = "every feature cancels out" if total.terms else "no feature in it can change"
            raise ProblemError(f"the {self.what} {_shown(self.text)} says nothing: {gone}")
        now = {name: float(a) for name, a in total.now.items() if a}
        if low is not None and high is not None and low > high:
            raise ProblemError(
                f"the {self.what} {_shown(self.text)} can never hold: its ends exclude each other"
            )
        least, most = (None if end is None else float(end) for end in (low, high))
        return Rule(terms, least, most, self.text.strip(), now)

    def _sum(self) -> _Sum:
        total, factor = _Sum(), self._sign_before()
        while True:
            total.add(self._product(), factor)
            if not self._is("+", "-"):
                return total
            factor = (1 if self._next().value == "+" else -1) * self._sign_before()

    def _sign_before(self) -> int:
        factor = 1
        while self._is("+", "-"):
            factor *= 1 if self._next().value == "+" else -1
        return factor

    def _product(self) -> _Sum:
        factor, linear, start = Fraction(1), None, self.token
        while True:
            found = self._factor()
            if found.is_constant:
                factor *= found.constant
            elif linear is not None:
                self._fail(start, "a rule is linear; one side of * must be a number")
            else:
                linear = found
            self._check_size([factor], start)
            if not self._is("*"):
                break
            start = self._next()
            factor *= self._sign_before()
        product = _Sum(constant=factor) if linear is None else linear.times(factor)
        self._check_size(product.numbers(), start)
        return product

    def _factor(self) -> _Sum:
        token = self._next()
        if token.kind == "number":
            return _Sum(constant=self._read_number(token))
        if token.kind in ("name", "quoted"):
            return self._feature(token)
        if token.value == "(" and token.kind == "sign":
            return self._bracket(token)
        return self._fail(token, "a feature, a number or ( must stand here")

    def _bracket(self, opening: _Token) -> _Sum:
        self.depth += 1
        if self.depth > DEEPEST:
            self._fail(opening, f"brackets go at most {DEEPEST} deep")
        found = self._sum()
        if not self._is(")"):
            self._fail(self.token, "+, -, * or ) must stand here")
        self._next()
        self.depth -= 1
        return found

    def _feature(self, name: _Token) -> _Sum:
        if not self._is("."):
            return _Sum(terms={name.value: Fraction(1)})
        self._next()
        word = self._next()
        if word.kind != "name" or word.value != "now":
            self._fail(word, "after a point only 'now' can stand; put a name with a point in backticks")
        return _Sum(now={name.value: Fraction(1)})

    def _read_number(self, token: _Token) -> Fraction:
        written = self.text[token.start : token.stop]
        if len(written) > LONGEST_NUMBER:
            self._fail(token, f"a number has at most {LONGEST_NUMBER} characters")
        size = float(written)
        if not size and not written.lower().split("e")[0].strip("0."):
            return Fraction(0)
        if not SMALLEST <= size <= LARGEST:
            self._fail(token, "this number is too large or too small")
        return Fraction(written)

    def _check_size(self, numbers: list[Fraction], token: _Token) -> None:
        if any(a and not SMALLEST <= abs(a) <= LARGEST for a in numbers):
            self._fail(token, "the numbers get too large or too small")

    def _finished(self, wanted: str) -> None:
        token = self.token
        if token.kind == "end":
            return
        if token.kind in ("name", "quoted", "number"):
            wanted += " must stand here; a product needs a *, and a name of several words backticks"
            self._fail(token, wanted)
        self._fail(token, "there is no ( for it" if token.value == ")" else f"{wanted} must stand here")

    def _is(self, *signs: str) -> bool:
        return self.token.kind == "sign" and self.token.value in signs

    def _next(self) -> _Token:
        """The next token, which is left behind."""
        token = self.token
        self.token = self._scanned()
        return token

    def _scanned(self) -> _Token:
        text, at = self.text, self.at
        while at < len(text) and text[at] in " \t":
            at += 1
        token = _Token("end", "", at, at) if at == len(text) else self._token_at(at)
        self.at = token.stop
        return token

    def _token_at(self, at: int) -> _Token:
        text = self.text
        if text[at] == "`":
            return self._quoted(at)
        found = NUMBER.match(text, at)
        if found:
            return _Token("number", None, at, found.end())
        if text[at].isidentifier():
            stop = at + 1
            while stop < len(text) and ("a" + text[stop]).isidentifier():
                stop += 1
            return _Token("name", text[at:stop], at, stop)
        pair = text[at : at + 2]
        sign = pair if pair in ("<=", ">=", "==", "**") else text[at]
        token = _Token("sign", sign, at, at + len(sign))
        if sign in INSTEAD or sign not in (*COMPARISONS, *"+-*()."):
            self._fail(token, INSTEAD.get(sign, "this character means nothing here"))
        return token

    def _quoted(self, at: int) -> _Token:
        found = QUOTED.match(self.text, at)
        token = _Token("quoted", "", at, at + 1)
        if not found:
            self._fail(token, "this backtick has no partner")
        if not found[1]:
            self._fail(token, "there is no name between the backticks")
        return token._replace(value=found[1].replace("``", "`"), stop=found.end())

    def _fail(self, token: _Token, reason: str) -> NoReturn:
        place = "at the end" if token.kind == "end" else f"at character {token.start + 1}"
        before, after = self.text[: token.start].lstrip(), self.text[token.start :].rstrip()
        start = _printable(before if len(before) <= AROUND else f"...{before[-AROUND:]}")
        rest = _printable(after if len(after) <= AROUND else f"{after[:AROUND]}...")
        raise ProblemError(f"the {self.what} cannot be read {place}, {start}^{rest}: {reason}")


def quoted_name(name: str) -> str:
    """A name as a rule has to write it.

    Examples
    --------
    >>> quoted_name("income"), quoted_name("net income")
    ('income', '`net income`')
    """
    return name if name.isidentifier() else "`" + name.replace("`", "``") + "`"


def _shown(text: str) -> str:
    return repr(_printable(text if len(text) <= 2 * AROUND else f"{text[: 2 * AROUND]}..."))


def _printable(text: str) -> str:
    """Text on one line that shows what it holds: what cannot be seen is spelled out."""
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)
