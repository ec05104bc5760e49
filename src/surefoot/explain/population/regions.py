"""The largest boxes over one or two features in which nobody has a way, proven.

Numbers are cut into bands at quantiles of the table. Where nobody in two bands has a way, nobody in both has:
boxes are put together of bands that were refuted one by one, and their ends are moved outwards as far as the
proof goes.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from surefoot.bars import stepped
from surefoot.exceptions import ProblemError
from surefoot.explain.answer.decimals import short_between
from surefoot.explain.population.nobody import region_words
from surefoot.explain.population.region_proof import nobody, wanted_class
from surefoot.explain.population.region_search import RegionSearch
from surefoot.search.certified.clock import Clock
from surefoot.threads import one_blas_thread

if TYPE_CHECKING:
    from surefoot.explain.explainer import CounterfactualExplainer
    from surefoot.proof.exact import Persons

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]
Box = dict[int, tuple[int, ...]]  # feature -> numbers of its bands or values

BANDS = 8  # of a number; ten times as many make a hundred times as many cells of two features
COLUMNS = ("region", "words", "rows", "asked", "proof")
ONE_CELL = 1.0  # seconds for one cell; ten times longer, and few hard ones use up all the time
HALVINGS = 6  # of the band beyond an end: what is left of it is a 64th; ten times as many are all digits
SHORTER = 1e-3  # of a quantile, by which it may be rounded; ten times larger, and close ones become one
SHARE_OF_CELLS = 0.6  # of the time; the rest is for ends and certificates, which need it for every box


def regions(
    explainer: CounterfactualExplainer,
    frame: pd.DataFrame,
    target: Any = None,
    depth: int = 2,
    *,
    most: int = 20,
    time_limit: float = 60.0,
) -> pd.DataFrame:
    """The largest boxes in which nobody has a way, with their rows counted; see `Audit.regions`."""
    if depth not in (1, 2) or isinstance(depth, bool):
        raise ProblemError(f"depth must be 1 or 2, not {depth!r}")
    finder = _Finder(explainer, frame, wanted_class(explainer, target), time_limit)
    with one_blas_thread():
        boxes = [*finder.single(), *(finder.double() if depth == 2 else ())]
        found = [finder.line(box) for box in finder.largest(boxes, most)]
    lines = [line for line in found if line is not None]
    table = pd.DataFrame(lines, columns=list(COLUMNS))
    return table.sort_values("rows", ascending=False, kind="stable", ignore_index=True)


class _Finder:
    """Looks for boxes that hold nobody who has a way."""

    def __init__(
        self, explainer: CounterfactualExplainer, frame: pd.DataFrame, target: Any, seconds: float
    ) -> None:
        self.explainer, self.target, self.clock = explainer, target, Clock(seconds)
        self.search = RegionSearch(explainer, {}, target, seconds)
        schema = explainer.classifier.schema_
        self.features, self.places = schema.names, {j: k for k, j in enumerate(schema.numbers)}
        self.places |= {j: k for k, j in enumerate(schema.categories)}
        self.is_number = [j in schema.numbers for j in range(len(schema.names))]
        numbers, codes = schema.encode(frame[list(schema.names)])
        # The rows without holes.
        self.known = np.asarray(np.isfinite(numbers).all(axis=1) & (codes >= 0).all(axis=1))
        self.numbers, self.codes = numbers, codes
        self.asked = ~np.array(explainer.accepted(frame, target), dtype=bool)
        # Persons who have the target or a way: no box that holds one of them can be proven.
        self.served = [self._values(numbers[i], codes[i]) for i in np.flatnonzero(~self.asked & self.known)]
        self.bands = [self._bands(j) for j in range(len(self.features))]
        self.cells: dict[tuple[tuple[int, int], ...], bool] = {}
        self.refuted: list[set[int]] = [set() for _ in self.features]

    def _takes_whole(self, j: int) -> bool:
        return j in self.search.builder.constraints.whole

    def _values(self, numbers: Sequence[float], codes: Sequence[int]) -> list[float]:
        """A person's numbers and codes by feature."""
        parts = ((numbers if is_number else codes) for is_number in self.is_number)
        return [float(part[self.places[j]]) for j, part in enumerate(parts)]

    def _bands(self, j: int) -> list[tuple[float, float]]:
        """Bands of a number, or one for each value of a category."""
        everybody, k = self.search.said.persons, self.places[j]
        if not self.is_number[j]:
            return [(float(code), float(code)) for code in everybody.codes[k]]
        low, high = everybody.low[k], everybody.high[k]
        column = self.numbers[:, k]
        inside = column[(column >= low) & (column <= high)]
        shares = np.linspace(0, 1, BANDS + 1)[1:-1]
        cuts: list[float] = np.unique(np.quantile(inside, shares)).tolist() if len(inside) else []
        if self._takes_whole(j):
            ends = sorted({low, *(float(math.ceil(cut)) for cut in cuts)})
            return [(a, b - 1) for a, b in zip(ends, [*ends[1:], high + 1], strict=True)]
        short = [short_between(cut, cut * (1 + SHORTER)) for cut in cuts]
        ends = [low, *sorted({cut for cut in short if low < cut < high}), high]
        return list(pairwise(ends))

    def single(self) -> Iterator[Box]:
        """Boxes over one feature."""
        for j in stepped(range(len(self.features)), "regions", "feature", len(self.features)):
            self.refuted[j] = {b for b in range(len(self.bands[j])) if self._is_refuted({j: b})}
            yield from ({j: run} for run in self._runs(j, self.refuted[j]))

    def double(self) -> Iterator[Box]:
        """Boxes over two features, of bands that are not refuted by themselves."""
        pairs = list(combinations(range(len(self.features)), 2))
        for one, other in stepped(pairs, "regions", "pair", len(pairs)):
            found = {
                a: {b for b in range(len(self.bands[other])) if self._is_refuted({one: a, other: b})}
                for a in range(len(self.bands[one]))
            }
            for run in self._starts(one, found):
                common = set.intersection(*(found[a] for a in run))
                for across in self._runs(other, common):
                    wide = {a for a in found if found[a].issuperset(across)}
                    yield from ({one: r, other: across} for r in self._runs(one, wide) if set(run) <= set(r))

    def _starts(self, j: int, found: Mapping[int, set[int]]) -> Iterator[tuple[int, ...]]:
        """Bands that boxes may begin with: neighbours of a number, sets that a category's values share."""
        some = [a for a in found if found[a]]
        if self.is_number[j]:
            yield from (tuple(range(a, b + 1)) for a in some for b in some if a <= b)
        else:
            yield from ((a,) for a in some)
            yield from combinations(some, 2)
            yield from [tuple(some)] if len(some) > 2 else []

    def _runs(self, j: int, refuted: set[int]) -> list[tuple[int, ...]]:
        """Neighbouring bands of a number; all values of a category."""
        if not refuted or not self.is_number[j]:
            return [tuple(sorted(refuted))] if refuted else []
        runs: list[list[int]] = []
        for b in sorted(refuted):
            if runs and runs[-1][-1] == b - 1:
                runs[-1].append(b)
            else:
                runs.append([b])
        return [tuple(run) for run in runs]

    def _is_refuted(self, cell: Mapping[int, int]) -> bool:
        """Whether it is proven that nobody in a cell has a way; cells without rows are not looked at."""
        key = tuple(sorted(cell.items()))
        if key not in self.cells:
            self.cells[key] = any(b in self.refuted[j] for j, b in cell.items()) or self._refute(cell)
        return self.cells[key]

    def _refute(self, cell: Mapping[int, int]) -> bool:
        ends = {j: self.bands[j][b] for j, b in cell.items()}
        if not self._holds(ends).any() or self._serves(ends) or not self._has_time:
            return False
        return self._proven(ends)

    @property
    def _has_time(self) -> bool:
        total = self.clock.deadline - self.clock.start
        return self.clock.spent < SHARE_OF_CELLS * total

    def _proven(self, ends: Mapping[int, tuple[float, float]]) -> bool:
        """Whether it is proven for these ends; somebody who has a way is kept in mind."""
        seconds = min(ONE_CELL, self.clock.left)
        if seconds <= 0:
            return False
        met = self.search.refuted(self._persons(ends), seconds)
        if isinstance(met, tuple):
            self.served.append(self._values(*met))
        return met is True

    def _persons(self, ends: Mapping[int, tuple[float, float]]) -> Persons:
        """Everybody within these ends."""
        found: Persons = self.search.said.persons
        low, high, codes = list(found.low), list(found.high), list(found.codes)
        for j, (a, b) in ends.items():
            k = self.places[j]
            if self.is_number[j]:
                low[k], high[k] = max(low[k], a), min(high[k], b)
            else:
                codes[k] = (int(a),)
        persons: Persons = found._replace(low=tuple(low), high=tuple(high), codes=tuple(codes))
        return persons

    def _holds(self, ends: Mapping[int, tuple[float, float]]) -> Flags:
        """Which rows of the table are within the ends."""
        inside = self.known.copy()
        for j, (a, b) in ends.items():
            column = (self.numbers if self.is_number[j] else self.codes)[:, self.places[j]]
            inside &= (column >= a) & (column <= b)
        return inside

    def _serves(self, ends: Mapping[int, tuple[float, float]]) -> bool:
        return any(all(a <= person[j] <= b for j, (a, b) in ends.items()) for person in self.served)

    def rows(self, box: Box) -> Flags:
        """Which rows of the table a box holds."""
        inside = self.known.copy()
        for j, bands in box.items():
            inside &= np.logical_or.reduce([self._holds({j: self.bands[j][b]}) for b in bands])
        return inside

    def largest(self, boxes: Sequence[Box], most: int) -> list[Box]:
        """The boxes with most rows, without those that another one contains."""
        counted = sorted(boxes, key=lambda box: (-int(self.rows(box).sum()), len(box)))
        kept: list[Box] = []
        for box in counted:
            if self.rows(box).any() and not any(_contains(other, box) for other in kept):
                kept.append(box)
        return kept[:most]

    def line(self, box: Box) -> dict[str, Any] | None:
        """A line of the table: the box with its ends moved outwards, its rows and its proof."""
        if self.clock.left <= 0:
            return None
        ends = {j: (self.bands[j][bands[0]][0], self.bands[j][bands[-1]][1]) for j, bands in box.items()}
        sides = [(j, side) for j in box if self.is_number[j] for side in (0, 1)]
        for j, side in sides:
            ends[j] = self._moved_out(box, ends, j, side)
        proof = nobody(self.explainer, self._region(box, ends), self.target, max(self.clock.left, ONE_CELL))
        if not proof.holds:
            return None
        inside = self._within(box, ends)
        counts = {"rows": int(inside.sum()), "asked": int((inside & self.asked).sum())}
        words = region_words(proof.certificate)
        return {"region": self._region(box, ends), "words": words, **counts, "proof": proof}

    def _within(self, box: Box, ends: Mapping[int, tuple[float, float]]) -> Flags:
        numbers = {j: pair for j, pair in ends.items() if self.is_number[j]}
        named = {j: bands for j, bands in box.items() if not self.is_number[j]}
        return self._holds(numbers) & self.rows(named)

    def _moved_out(
        self, box: Box, ends: Mapping[int, tuple[float, float]], j: int, side: int
    ) -> tuple[float, float]:
        """The ends of a number with one of them moved into the next band, as far as the proof goes."""
        low, high = ends[j]
        beyond = box[j][0] - 1 if side == 0 else box[j][-1] + 1
        if not 0 <= beyond < len(self.bands[j]):
            return low, high
        good, bad = ends[j][side], self.bands[j][beyond][side]
        whole = self._takes_whole(j)
        for _ in range(HALVINGS):
            middle = (good + bad) / 2
            middle = float(round(middle)) if whole else short_between(middle, (middle + good) / 2)
            if middle in (good, bad):
                break
            pair = (middle, high) if side == 0 else (low, middle)
            if self._extends({**ends, j: pair}, box):
                good = middle
            else:
                bad = middle
        return (good, high) if side == 0 else (low, good)

    def _extends(self, ends: Mapping[int, tuple[float, float]], box: Box) -> bool:
        """Whether larger ends are proven as well, for every value of the categories in the box."""
        named = [(j, b) for j, bands in box.items() if not self.is_number[j] for b in bands]
        cases = [{**ends, j: self.bands[j][b]} for j, b in named] or [dict(ends)]
        return all(not self._serves(case) and self._proven(case) for case in cases)

    def _region(self, box: Box, ends: Mapping[int, tuple[float, float]]) -> dict[Any, Any]:
        """A box as users write it; the ends of the data are left open."""
        everybody, found = self.search.said.persons, dict[Any, Any]()
        for j, (low, high) in ends.items():
            k, name = self.places[j], self.features[j]
            if self.is_number[j]:
                open_ends = low == everybody.low[k], high == everybody.high[k]
                found[name] = (None if open_ends[0] else low, None if open_ends[1] else high)
            else:
                values = self.explainer.classifier.schema_.category_values[k]
                found[name] = [values[b] for b in box[j]]
        return found


def _contains(box: Box, other: Box) -> bool:
    """Whether a box holds all of another one."""
    return all(j in other and set(bands) >= set(other[j]) for j, bands in box.items())
