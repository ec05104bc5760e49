"""Rules and conditions as text: read by a small parser, refused with the place and the reason.

A rule compares two sums, ``rent + loan <= 0.4 * income``. A sum has numbers, features and products of the
two, with brackets; ``income.now`` is today's value, and ``2024-03-01`` a date. A name that is not a plain
word stands in backticks, and a backtick in it is written twice. A condition is a rule, or says what a feature
does or is: ``schooling rises``, ``housing is own``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, NamedTuple, NoReturn, get_args

from surefoot.days import FIRST, LAST, Day, as_day
from surefoot.exceptions import ProblemError
from surefoot.explain.constraints.linear import Rule
from surefoot.formats import spelled_out

LONGEST = 10_000  # characters of a text
LONGEST_NUMBER = 100
DEEPEST = 50  # brackets within brackets
LARGEST, SMALLEST = Fraction(1e300), Fraction(1e-300)
AROUND = 24  # characters of a text on either side of the place that an error shows
COMPARISONS = ("<=", ">=", "=")
NUMBER = re.compile(r"(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?![0-9.])")
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
    """A condition: what a feature does."""

    feature: str
    how: How


@dataclass(frozen=True)
class Takes:
    """A condition: the value that a feature has."""

    feature: str
    value: str | int | float


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

    kind: Literal["name", "quoted", "number", "date", "sign", "end"]
    value: str
    start: int
    stop: int


class _Term(NamedTuple):
    """What a coefficient belongs to: a feature, its value of today, or nothing but the number 1."""

    feature: str
    is_now: bool = False


ONE = _Term("")  # no feature has an empty name
_Sum = dict[_Term, Fraction]  # a linear expression; a term that cancels out stays in it, with a zero


class _Reader:
    """Reads one text from left to right; every method begins at the next token and leaves it behind."""

    def __init__(self, text: Any, what: str) -> None:
        if not isinstance(text, str):
            raise ProblemError(f"a {what} must be text, not {text!r:.60}")
        if len(text) > LONGEST:
            raise ProblemError(f"a {what} has at most {LONGEST:,} characters, not {len(text):,}")
        self.text, self.what, self.depth, self.has_date = text, what, 0, False
        self.token = self._token_after(0)

    def rule(self) -> Rule:
        """A whole rule: sums with one comparison between them, or two in the same direction."""
        sums, signs = [self._sum()], []
        while self._is(*COMPARISONS):
            signs.append(self._next())
            sums.append(self._sum())
        self._finish("+, -, * or the end" if signs else "+, -, *, <=, >= or =")
        if not signs:
            self._fail(self.token, "a rule compares two sums; write <=, >= or =")
        if len(signs) > 1:
            return self._between(sums, signs)
        total, sign = sums[0], signs[0].value
        _add(total, sums[1], -1)
        end = -_constant(total)
        return self._made(total, None if sign == "<=" else end, None if sign == ">=" else end)

    def condition(self) -> Condition:
        """A whole condition."""
        first = self.token
        if first.kind in ("name", "quoted"):
            self._next()
            if self.token.kind == "name" and self.token.value in ("is", *get_args(How)):
                return self._said(first.value, self._next().value)
        self.token = first
        return self.rule()

    def _said(self, feature: str, word: Any) -> Condition:
        if word != "is":
            self._finish("the end")
            return Moves(feature, word)
        is_negative = self._skip("-")
        token = self._next()
        if token.kind == "date" and not is_negative:
            self._finish("the end")
            return Takes(feature, self._day(token))
        if token.kind != "number" and (is_negative or token.kind not in ("name", "quoted")):
            self._fail(token, "a value must stand here")
        if self.token.kind == "name":
            self._fail(self.token, "put a value of several words in backticks")
        self._finish("the end")
        if token.kind != "number":
            return Takes(feature, token.value)
        self._number(token)
        size = int(token.value) if token.value.isdigit() else float(token.value)
        return Takes(feature, -size if is_negative else size)

    def _between(self, sums: list[_Sum], signs: list[_Token]) -> Rule:
        if len(signs) > 2:
            self._fail(signs[2], "a rule has two comparisons at most")
        if signs[0].value != signs[1].value or signs[0].value == "=":
            self._fail(signs[1], "two comparisons must both be <= or both be >=")
        first, middle, last = sums
        if not (_is_number(first) and _is_number(last)):
            self._fail(signs[0], "the outer parts of two comparisons must be numbers; write two rules")
        low, high = (first, last) if signs[0].value == "<=" else (last, first)
        return self._made(middle, *(_constant(end) - _constant(middle) for end in (low, high)))

    def _made(self, total: _Sum, low: Fraction | None, high: Fraction | None) -> Rule:
        self._check_size(total, self.token)
        terms, now = (
            {term.feature: float(a) for term, a in total.items() if a and term != ONE and term.is_now == of}
            for of in (False, True)
        )
        wrong = ""
        if not terms:
            named = any(term != ONE and not term.is_now for term in total)
            wrong = f"says nothing: {'every feature cancels out' if named else 'no feature in it can change'}"
        elif low is not None and high is not None and low > high:
            wrong = "can never hold: its ends exclude each other"
        if wrong:
            shown = self.text if len(self.text) <= 2 * AROUND else f"{self.text[: 2 * AROUND]}..."
            raise ProblemError(f"the {self.what} {spelled_out(shown)!r} {wrong}")
        least, most = (None if end is None else self._end(end) for end in (low, high))
        return Rule(terms, least, most, self.text.strip(), now)

    def _end(self, end: Fraction) -> float:
        """An end; a date where the text has one."""
        is_day = self.has_date and end.denominator == 1 and FIRST <= end <= LAST
        return Day(end) if is_day else float(end)

    def _sum(self) -> _Sum:
        total, sign = _Sum(), self._signs()
        while True:
            _add(total, self._product(), sign)
            if not self._is("+", "-"):
                return total
            sign = self._signs()

    def _signs(self) -> int:
        """1 or -1, from any number of signs."""
        sign = 1
        while self._is("+", "-"):
            sign *= 1 if self._next().value == "+" else -1
        return sign

    def _product(self) -> _Sum:
        factor, linear, start = Fraction(1), _Sum(), self.token
        while True:
            found = self._factor()
            if _is_number(found):
                factor *= _constant(found)
            elif linear:
                self._fail(start, "a rule is linear; one side of * must be a number")
            else:
                linear = found
            self._check_size({ONE: factor}, start)
            if not self._is("*"):
                break
            start = self._next()
            factor *= self._signs()
        product = {term: factor * a for term, a in linear.items()} if linear else {ONE: factor}
        self._check_size(product, start)
        return product

    def _factor(self) -> _Sum:
        token = self._next()
        if token.kind == "number":
            return {ONE: self._number(token)}
        if token.kind == "date":
            return {ONE: Fraction(self._day(token))}
        if token.kind in ("name", "quoted"):
            return {_Term(token.value, self._is_now()): Fraction(1)}
        if token.kind != "sign" or token.value != "(":
            self._fail(token, "a feature, a number or ( must stand here")
        self.depth += 1
        if self.depth > DEEPEST:
            self._fail(token, f"brackets go at most {DEEPEST} deep")
        found = self._sum()
        if not self._skip(")"):
            self._fail(self.token, "+, -, * or ) must stand here")
        self.depth -= 1
        return found

    def _is_now(self) -> bool:
        """Whether .now follows the name of a feature."""
        if not self._skip("."):
            return False
        word = self._next()
        if word.kind != "name" or word.value != "now":
            self._fail(word, "after a point only 'now' can stand; put a name with a point in backticks")
        return True

    def _day(self, token: _Token) -> Day:
        day = as_day(token.value)
        if not isinstance(day, Day):
            self._fail(token, "there is no such day")
        self.has_date = True
        return day

    def _number(self, token: _Token) -> Fraction:
        written = token.value
        if len(written) > LONGEST_NUMBER:
            self._fail(token, f"a number has at most {LONGEST_NUMBER} characters")
        size = float(written)
        if not size and not written.lower().split("e")[0].strip("0."):
            return Fraction(0)
        if not SMALLEST <= size <= LARGEST:
            self._fail(token, "this number is too large or too small")
        return Fraction(written)

    def _check_size(self, total: _Sum, token: _Token) -> None:
        if any(a and not SMALLEST <= abs(a) <= LARGEST for a in total.values()):
            self._fail(token, "the numbers get too large or too small")

    def _finish(self, wanted: str) -> None:
        """Refuse what follows a complete text."""
        kind, reason = self.token.kind, f"{wanted} must stand here"
        if kind in ("name", "quoted", "number", "date"):
            self._fail(self.token, f"{reason}; a product needs a *, and a name of several words backticks")
        if kind == "sign":
            self._fail(self.token, "there is no ( for it" if self.token.value == ")" else reason)

    def _is(self, *signs: str) -> bool:
        return self.token.kind == "sign" and self.token.value in signs

    def _skip(self, sign: str) -> bool:
        """Whether a sign comes next, which is left behind."""
        return self._is(sign) and bool(self._next())

    def _next(self) -> _Token:
        """The next token, which is left behind."""
        token, self.token = self.token, self._token_after(self.token.stop)
        return token

    def _token_after(self, at: int) -> _Token:
        text = self.text
        while at < len(text) and text[at] in " \t":
            at += 1
        if at == len(text):
            return _Token("end", "", at, at)
        if text[at] == "`":
            return self._quoted(at)
        if found := DATE.match(text, at):
            return _Token("date", found[0], at, found.end())
        if found := NUMBER.match(text, at):
            return _Token("number", found[0], at, found.end())
        if text[at].isidentifier():
            stop = at + 1
            while stop < len(text) and ("a" + text[stop]).isidentifier():
                stop += 1
            return _Token("name", text[at:stop], at, stop)
        sign = text[at : at + 2] if text[at : at + 2] in ("<=", ">=", "==", "**") else text[at]
        token = _Token("sign", sign, at, at + len(sign))
        if sign not in (*COMPARISONS, *"+-*()."):
            self._fail(token, INSTEAD.get(sign, "this character means nothing here"))
        return token

    def _quoted(self, at: int) -> _Token:
        found = QUOTED.match(self.text, at)
        if found and found[1]:
            return _Token("quoted", found[1].replace("``", "`"), at, found.end())
        reason = "there is no name between the backticks" if found else "this backtick has no partner"
        return self._fail(_Token("quoted", "", at, at + 1), reason)

    def _fail(self, token: _Token, reason: str) -> NoReturn:
        place = "at the end" if token.kind == "end" else f"at character {token.start + 1}"
        before, after = self.text[: token.start].lstrip(), self.text[token.start :].rstrip()
        start = spelled_out(before if len(before) <= AROUND else f"...{before[-AROUND:]}")
        rest = spelled_out(after if len(after) <= AROUND else f"{after[:AROUND]}...")
        raise ProblemError(f"the {self.what} cannot be read {place}, {start}^{rest}: {reason}")


def _is_number(total: _Sum) -> bool:
    return total.keys() <= {ONE}


def _constant(total: _Sum) -> Fraction:
    return total.get(ONE, Fraction(0))


def _add(total: _Sum, other: _Sum, sign: int) -> None:
    for term, a in other.items():
        total[term] = total.get(term, Fraction(0)) + sign * a
