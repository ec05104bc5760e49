"""The search behind `nobody`: all that persons of a region may become, refuted part by part.

What a box of persons may become by constraints on single features lies in a box again. The certified search
refutes that box at any distance, or finds a point in it. From the point a person is read who may become it;
where none may, because of limits or of rules over several features, the persons are split by the value of a
number, or by whether a feature changes.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from surefoot.exceptions import ProblemError
from surefoot.explain.constraints.arithmetic import rounded_down, rounded_up
from surefoot.explain.constraints.constraint_set import Allowed
from surefoot.explain.diagnose.feasibility_oracle import ANY_GAP
from surefoot.explain.population.nobody import FORMAT, VERSION
from surefoot.explain.population.persons import declared_document, left_out, region_document
from surefoot.explain.result.explanation import Explanation
from surefoot.model.content import classifier_content
from surefoot.plain import plain
from surefoot.problem.choice import Choice
from surefoot.problem.domain import Domain, ValueSet
from surefoot.problem.mixed import State
from surefoot.problem.question import Question
from surefoot.problem.row import EQUALITY, Row
from surefoot.search.certified import certified_states
from surefoot.search.certified.clock import Clock
from surefoot.status import Status
from surefoot.threads import one_blas_thread

if TYPE_CHECKING:
    from surefoot.explain.explainer import CounterfactualExplainer
    from surefoot.proof.exact import Persons, Reach, Sum

Array = NDArray[np.float64]

# Splits on the way to a part. Ten times more, and the checker would refuse the tree.
DEEPEST = 80
# Seconds for the explanation of one person who should have a way. Ten times longer would use up the time of
# everything else; a tenth would miss persons whose search is slow.
ONE_PERSON = 5.0
# Persons drawn at random where the search cannot decide, or where only an accepted one is known. Ten times
# as many would take minutes in vain.
DRAWN = 20
CHECK = 1.0  # seconds for the check of a finished proof, even if the time is over; ten would overrun limits
CANDIDATES = 200  # listed values from which a person is tried to start; ten times as many hardly help
HALVINGS = 12  # between somebody accepted and somebody refused; ten times as many end at the last digit
TIDY = 4  # digits of a person's numbers, where any number will do; ten times as many are not tidy
TIME_OVER = "The time limit was reached."


class FoundError(Exception):
    """Somebody has a way; not an error, but the end of the search."""

    def __init__(self, explanation: Explanation) -> None:
        super().__init__()
        self.explanation = explanation


class UndecidedError(Exception):
    """Why the search cannot go on."""


class Pair(NamedTuple):
    """A person, and what the person may become."""

    person: list[float]
    codes: list[int]
    point: list[float]
    state: State


class MetError(Exception):
    """A pair that seems to be allowed; the end of a search that does not ask for explanations."""

    def __init__(self, pair: Pair) -> None:
        super().__init__()
        self.pair = pair


def search_region(
    explainer: CounterfactualExplainer, region: Mapping[Any, Any], target: Any, seconds: float
) -> tuple[dict[str, Any], Explanation | None]:
    """The document about a region, and the explanation of a person who has a way, if somebody has."""
    search = RegionSearch(explainer, region, target, seconds)
    explanation, why, proven = None, "", {}
    with one_blas_thread():
        try:
            proven = {"holds": True, "tree": search.tree(search.said.persons, 0), "proofs": search.proofs}
            why = search.fault(proven)
        except FoundError as found:
            explanation = search.better(found.explanation)
        except UndecidedError as error:
            explanation, why = search.drawn(), str(error)
    if explanation is not None:
        proven, why = {"holds": False, "explanation": explanation.to_dict()}, ""
    accepted = explanation is not None and search.is_accepted(explanation)
    context = {**search.context, "accepted": accepted, "why": why, "seconds": search.clock.spent}
    return {**search.document, **({} if why else proven), "context": context}, explanation


class RegionSearch:
    """Splits the persons of a region until each part is refuted, or somebody who has a way is found."""

    def __init__(
        self, explainer: CounterfactualExplainer, region: Mapping[Any, Any], target: Any, seconds: float
    ) -> None:
        self.clock, self.target, self.proofs, self._asks = Clock(seconds), target, list[Any](), True
        self.exact = import_module("surefoot.proof.exact")  # most programs do not prove anything of regions
        self.builder = explainer.asker.final_builder
        clf, constraints = self.builder.classifier, self.builder.constraints
        with warnings.catch_warnings():  # what is to be said of the settings was said when they were made
            warnings.simplefilter("ignore")
            self.asker = explainer.copy(diagnose=False, time_limit=min(ONE_PERSON, seconds))
        every = (clf, *self.builder.others)
        self.models = [self.exact.read_model(classifier_content(one)) for one in every]
        persons, named = region_document(region, clf, constraints)
        curved = frozenset(k for k, warp in enumerate(self.builder.warps) if not warp.is_identity)
        self.document: dict[str, Any] = plain(
            {
                "format": FORMAT,
                "version": VERSION,
                "models": self.builder.models,
                "features": self.builder.features,
                "target": target,
                "holds": None,
                "region": persons,
                "declared": declared_document(constraints, curved),
                "requirements": [one.to_dict() for one in self.builder.required(target)],
                "tree": None,
                "proofs": [],
                "explanation": None,
                "context": None,
            }
        )
        dates = [j for j in clf.schema_.numbers if clf.schema_.dates[j]]
        self.context: dict[str, Any] = {"named": named, "dates": dates, "left_out": left_out(constraints)}
        self.said = self.exact.read_nobody(self.models[0], self.document)
        self._range = [clf.feature_range_[:, j].tolist() for j in clf.schema_.numbers]

    def refuted(self, persons: Persons, seconds: float) -> bool | tuple[list[float], list[int]]:
        """Whether these persons are refuted within the seconds, without an explanation or a check.

        Somebody who seems to have a way in the place of False, where one was met.
        """
        self.clock, self.proofs, self._asks = Clock(seconds), [], False
        try:
            self.tree(persons, 0)
        except MetError as met:
            return met.pair.person, met.pair.codes
        except UndecidedError:
            return False
        return True

    def tree(self, persons: Persons, depth: int) -> Any:
        """The tree that refutes everything that these persons may become."""
        if self.said.is_vacuous(persons):
            return None
        if depth > DEEPEST:
            raise UndecidedError("It would take too many parts.")
        question = self.question(persons)
        seconds = self.clock.left
        if seconds <= 0:
            raise UndecidedError(TIME_OVER)
        family = question.family(self.builder.classifier, *self.builder.others, shared=self.builder.shared)
        answer = certified_states(family, ANY_GAP, seconds)
        if answer.status.with_point is Status.INTERRUPTED:
            raise KeyboardInterrupt
        if answer.status is Status.INFEASIBLE:
            self.proofs.append({"question": question.to_dict(), "certificate": answer.certificate})
            return len(self.proofs) - 1
        found = question.unwarped(answer)
        if found.point is None:
            raise UndecidedError(TIME_OVER if self.clock.left <= 0 else answer.status.sentence)
        return self._split(persons, self._pair(persons, found.point.tolist(), found.state), depth)

    def _split(self, persons: Persons, pair: Pair, depth: int) -> Any:
        """The tree of persons whose nearest pair of today and later is not one, split by the reason."""
        node = self._reason(persons, pair)
        if node is None:
            if not self._asks:
                raise MetError(pair)
            explanation = self._explained(pair.person, pair.codes)
            if explanation is not None:
                raise FoundError(explanation)
            raise UndecidedError(self._not_followed())
        keys = ("below", "above") if "at" in node else self._sides(node["changes"])
        node |= dict.fromkeys(keys)
        for key, (_, part) in zip(keys, self.exact.split_persons(self.said, persons, node), strict=True):
            node[key] = self.tree(part, depth + 1)
        return node

    def _sides(self, feature: int) -> tuple[str, ...]:
        exact = self.exact
        return tuple(exact.NUMBER_SIDES if feature in self.said.numbers else exact.CATEGORY_SIDES)

    def _not_followed(self) -> str:
        """Why a person who may become something that has the target has no way all the same."""
        rules = ", ".join(["errors", *(f"the rule {name}" for name in self.context["left_out"])])
        return (
            f"Proofs about regions do without {rules}, what is plausible of single features, and bounds that "
            "today's value exceeds; without these somebody would have a way."
        )

    def question(self, persons: Persons) -> Question:
        """Whether anything that these persons may become has the target."""
        said, sets, reference = self.said, [], []
        reaches = [said.number_reach(persons, k) for k in range(len(said.numbers))]
        for k, reach in enumerate(reaches):
            reference.append(_within(reach, sum(self._range[k]) / 2))
            if reach.values is not None and reach.low < reach.high:
                listed = reach.values if isinstance(reach.values, tuple) else None
                sets.append(ValueSet(k, listed, reference[k]))
        low, high = (
            [end if math.isinf(end) else rounded(Fraction(end)) for end in ends]
            for ends, rounded in (
                ([reach.low for reach in reaches], rounded_down),
                ([reach.high for reach in reaches], rounded_up),
            )
        )
        rows = [self._row(persons, one, reaches) for one in said.sums]
        domain = Domain(np.array(low), np.array(high), tuple(r for r in rows if r is not None), tuple(sets))
        choices = tuple(self._choice(persons, k) for k in range(len(said.categories)))
        state = tuple(choice.today for choice in choices)
        allowed = Allowed(domain, choices, (), ())
        return self.builder.anywhere(np.array(reference), state, self.target, allowed)

    def _choice(self, persons: Persons, k: int) -> Choice:
        """The values that a category may have."""
        feature, codes = self.said.categories[k], self.said.category_reach(persons, k)
        values, today = tuple(self.builder.schema.values[feature] or ()), min(codes)
        prices = [1.0 if code in codes else math.inf for code in range(len(values))]
        prices[today] = 0.0
        return Choice(feature, values, tuple(prices), today)

    def _row(self, persons: Persons, one: Sum, reaches: Sequence[Any]) -> Row | None:
        """A linear rule for all of these persons, with the room that explanations give to rounding."""
        room = self._room(one, [max(abs(reach.low), abs(reach.high)) for reach in reaches])
        if math.isinf(room):
            return None
        low, high = self.said.sum_ends(persons, one)
        low = low if math.isinf(low) else rounded_down(low - Fraction(room))
        high = high if math.isinf(high) else rounded_up(high + Fraction(room))
        is_open = math.isinf(low) and math.isinf(high)
        return None if is_open else Row(np.array(one.coefficients), low, high, one.name)

    @staticmethod
    def _room(one: Sum, sizes: Sequence[Any]) -> float:
        pairs = zip(one.coefficients, sizes, strict=True)
        return EQUALITY * sum((abs(a) * float(size) for a, size in pairs if a), 0.0)

    def _pair(self, persons: Persons, point: list[float], state: State) -> Pair:
        """A person who may become the point, feature by feature."""
        person = [self._origin(persons, k, y) for k, y in enumerate(point)]
        codes = []
        for k, code in enumerate(state):
            own, side = persons.codes[k], self.said.side(persons, self.said.categories[k])
            stays = code in own and side != "yes"
            codes.append(code if stays else next(c for c in own if code in self.said.choices[k][c]))
        return Pair(person, codes, point, state)

    def _origin(self, persons: Persons, k: int, y: float) -> float:
        """From which of these persons' values a number may become y."""
        here, side = persons.stays(k), self.said.side(persons, self.said.numbers[k])
        if side in ("", "no") and self.exact.is_in(here, y):
            return y
        starts = list(self._starts(here, k, y))
        return next((x for x in starts if self._leads(persons, k, x, y)), starts[0])

    def _starts(self, here: Reach, k: int, y: float) -> Iterator[float]:
        """Values of persons from which y may be reached, the nearest first."""
        if isinstance(here.values, tuple):
            yield from sorted(here.values, key=lambda v: abs(v - y))[:CANDIDATES]
            return
        yield _within(here, y)
        step = self.said.moves[k].step
        if step is not None:  # the nearest value that whole steps lead from
            for end in (here.low, here.high):
                n_steps = math.ceil(abs(Fraction(end) - Fraction(y)) / Fraction(step))
                x = self.exact.as_written(y, (n_steps if end > y else -n_steps) * step)
                if self.exact.is_in(here, x):
                    yield x
        yield from (_within(here, float(end)) for end in (here.low, here.high) if math.isfinite(end))

    def _leads(self, persons: Persons, k: int, x: float, y: float) -> bool:
        """Whether a number may change from x to y by itself."""
        one = persons._replace(
            low=_put(persons.low, k, x), high=_put(persons.high, k, x), values=_put(persons.values, k, None)
        )
        reach = self.exact.moved(self.said.moves[k], one, k, "up" if y > x else "down")
        return x == y or (reach is not None and bool(self.exact.is_in(reach, y)))

    def _reason(self, persons: Persons, pair: Pair) -> dict[str, Any] | None:
        """How to split the persons where the pair is not allowed; None if it is."""
        said, changed = self.said, list[int]()
        for k, (x, y) in enumerate(zip(pair.person, pair.point, strict=True)):
            if x != y:
                changed.append(said.numbers[k])
                if not self._leads(persons, k, x, y):
                    return self._divided(persons, k)
        pairs = zip(said.categories, pair.codes, pair.state, strict=True)
        changed += [j for j, before, after in pairs if before != after]
        for count in said.counts:
            counted = [j for j in changed if j in count.features]
            open_ = [j for j in counted if not said.side(persons, j)]
            if len(counted) > count.most and open_:
                return {"changes": open_[0]}
        for one in said.sums:
            if not self._adds_up(one, pair):
                return self._narrowed(persons, one)
        return None

    def _adds_up(self, one: Sum, pair: Pair) -> bool:
        """Whether a linear rule holds, up to rounding."""
        terms = [*zip(one.coefficients, pair.point, strict=True), *zip(one.now, pair.person, strict=True)]
        total = sum((Fraction(a) * Fraction(v) for a, v in terms if a), Fraction(0))
        room = Fraction(self._room(one, [abs(y) for y in pair.point]))
        return bool(one.low - room <= total <= one.high + room)

    def _divided(self, persons: Persons, k: int) -> dict[str, Any]:
        """By whether a number changes; then by its value."""
        feature = self.said.numbers[k]
        if not self.said.side(persons, feature):
            return {"changes": feature}
        return self._halved(persons, k)

    def _narrowed(self, persons: Persons, one: Sum) -> dict[str, Any]:
        """By the number of today that matters most in a rule."""
        wide = [abs(a) * (h - lo) for a, lo, h in zip(one.now, persons.low, persons.high, strict=True)]
        k = int(np.argmax(wide))
        if not 0 < wide[k] < math.inf:
            raise UndecidedError(f"The rule {one.name} cannot be followed for all persons at once.")
        return self._halved(persons, k)

    def _halved(self, persons: Persons, k: int) -> dict[str, Any]:
        """By the value of a number, in the middle."""
        here, feature = persons.stays(k), self.said.numbers[k]
        if not math.isfinite(here.low) or not math.isfinite(here.high) or here.low == here.high:
            raise UndecidedError(
                f"It depends on {self.builder.features[feature]} in a way no proof can follow."
            )
        if isinstance(here.values, tuple):
            middle = len(here.values) // 2
            return {"at": [feature, here.values[middle - 1], here.values[middle]]}
        at = (here.low + here.high) / 2
        whole = float(math.floor(at))
        return {"at": [feature, at, at] if here.values is None else [feature, whole, whole + 1.0]}

    def fault(self, proven: dict[str, Any]) -> str:
        """Why the checker does not accept a proof; "" if it does."""
        document = plain({**self.document, **proven})
        found = self.exact.check(self.models, document, max(self.clock.left, CHECK))
        wrong = [claim for claim in found if claim.verdict != self.exact.HOLDS]
        return f"The checker does not accept the proof ({wrong[0].reason})." if wrong else ""

    def _explained(
        self, person: Sequence[float], codes: Sequence[int], refused: bool = False
    ) -> Explanation | None:
        """The explanation of a person, with short numbers where any will do; None where there is no way."""
        rows = [[self._tidy(k, x) for k, x in enumerate(person)], list(person)]
        for numbers in rows if rows[0] != rows[1] else rows[:1]:
            try:
                found = self.asker.explain(self._row_of(numbers, codes), self.target, on_failure="return")
            except ProblemError:  # of a person whose values and constraints exclude each other
                continue
            if found.answer.point is not None and not (refused and self.is_accepted(found)):
                return found
        return None

    def _row_of(self, numbers: Sequence[float], codes: Sequence[int]) -> dict[Any, Any]:
        values = self.builder.schema.row(list(numbers), codes)
        return dict(zip(self.builder.features, values, strict=True))

    def _tidy(self, k: int, x: float) -> float:
        here, short = self.said.persons.stays(k), float(f"{x:.{TIDY}g}")
        return short if here.values is None and self.exact.is_in(here, short) else x

    def better(self, explanation: Explanation) -> Explanation:
        """Somebody who is refused and has a way, in the place of one who has the target already.

        Such persons are looked for between that one and others who are refused.
        """
        asked = explanation.question
        if not self.is_accepted(explanation) or not isinstance(asked, Question):
            return explanation
        accepted, codes = asked.factual.tolist(), list(asked.state)
        for numbers, _ in self._draws(self.said.persons):
            near = self._last_refused(accepted, numbers, codes)
            found = None if near is None else self._explained(near, codes, refused=True)
            if found is not None:
                return found
        return explanation

    def _last_refused(
        self, accepted: list[float], other: list[float], codes: list[int]
    ) -> list[float] | None:
        """Who is refused and nearest to somebody accepted, on the way to another; None if all are."""
        near, far = 0.0, 1.0
        between = partial(self._between, accepted, other)
        if self._has_target(between(far), codes):
            return None
        for _ in range(HALVINGS):
            middle = (near + far) / 2
            near, far = (middle, far) if self._has_target(between(middle), codes) else (near, middle)
        return between(far)

    def _between(self, one: list[float], other: list[float], share: float) -> list[float]:
        pairs = enumerate(zip(one, other, strict=True))
        return [_within(self.said.persons.stays(k), a + share * (b - a)) for k, (a, b) in pairs]

    def _has_target(self, numbers: Sequence[float], codes: Sequence[int]) -> bool:
        return self.asker.accepted([self._row_of(numbers, codes)], self.target)[0]

    def is_accepted(self, explanation: Explanation) -> bool:
        """Whether the person of an explanation has the target already."""
        asked = explanation.question
        return isinstance(asked, Question) and self._has_target(asked.factual.tolist(), asked.state)

    def drawn(self) -> Explanation | None:
        """The explanation of somebody who has a way, or the target, among persons drawn at random."""
        accepted = None
        for numbers, codes in self._draws(self.said.persons):
            found = self._explained(numbers, codes)
            if found is not None and not self.is_accepted(found):
                return found
            accepted = accepted or found
        return accepted

    def _draws(self, persons: Persons) -> Iterator[tuple[list[float], list[int]]]:
        """Persons at random, while there is time."""
        rng = np.random.default_rng(0)
        for _ in range(DRAWN):
            if self.clock.left > 0:
                numbers = [_drawn(rng, persons.stays(k)) for k in range(len(self.said.numbers))]
                yield numbers, [int(rng.choice(codes)) for codes in persons.codes]


def _put(values: tuple[Any, ...], k: int, value: Any) -> tuple[Any, ...]:
    return (*values[:k], value, *values[k + 1 :])


def _within(reach: Any, value: float) -> float:
    """The value of a reach that is nearest to one, or nearly so."""
    if isinstance(reach.values, tuple):
        return float(min(reach.values, key=lambda v: abs(v - value)))
    inside = float(min(max(Fraction(value), reach.low), reach.high))
    if reach.values is None:
        return min(max(inside, float(reach.low)), float(reach.high))
    whole = float(round(inside))
    return whole if reach.low <= whole <= reach.high else float(math.ceil(reach.low))


def _drawn(rng: np.random.Generator, here: Reach) -> float:
    """A value of persons at random; infinite ends are near zero, or near the other end."""
    if isinstance(here.values, tuple):
        return float(rng.choice(here.values))
    low, high = float(here.low), float(here.high)
    low = low if math.isfinite(low) else (min(high, 0.0) if math.isfinite(high) else 0.0) - 1.0
    high = high if math.isfinite(high) else low + 1.0
    return _within(here, float(rng.uniform(low, high)))
