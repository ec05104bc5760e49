"""One action for many: the change that serves the largest share of some rows at a price."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from surefoot.exceptions import DataError, ProblemError
from surefoot.explain.answer.executor import answers
from surefoot.explain.ask.asked import Asked
from surefoot.explain.ask.nested import asks_for_more
from surefoot.explain.ask.rung import Rung
from surefoot.explain.ask.target import chosen_target
from surefoot.explain.constraints.arithmetic import is_number
from surefoot.explain.diagnose.inquiry import Inquiry
from surefoot.explain.population.intervals import rank
from surefoot.explain.population.serving import Serving
from surefoot.explain.population.shared_change import (
    MOST_OF_A_KIND,
    MOVE,
    RELATIVE,
    Individual,
    changes_of,
    part_line,
    parts_that_fit,
)
from surefoot.explain.result.explanation import Explanation
from surefoot.formats import in_a_row, in_list, named_value, number, part, value_text
from surefoot.problem.question import Question
from surefoot.status import Status
from surefoot.threads import one_blas_thread

if TYPE_CHECKING:
    from surefoot.explain.explainer import CounterfactualExplainer

Array = NDArray[np.float64]

LEVELS = 20  # shares in the table of prices. Ten times as many take ten times as many proofs.
# How far a proven bound may lie above a cost by rounding. Ten times larger, and lies of that size pass.
ROUNDING = 1e-9
PART_COLUMNS = ["feature", "kind", "by", "to"]


@dataclass(frozen=True, eq=False)
class OneAction:
    """A change that is the same for many rows, whom it serves, and how much better any other could be.

    It serves a row where the row after the change obeys every action, and is decided as the target at every
    point of the budget's ball; the proof is made for each row of the table. What it costs a row is the
    explainer's distance, and no row counts as served that would have to pay more than the price.

    Parameters
    ----------
    change : DataFrame
        One line for each feature that changes: ``feature``, ``kind`` (``"move"``, ``"step"``,
        ``"relative"``), ``by`` (what is added; of a relative step, to 1, and the number is multiplied by
        it), ``to`` (of a move). Empty where no change serves anybody.
    table : DataFrame
        One line for each row that was asked about: whether it is ``served``, the ``cost`` of the change
        for it (infinite where it is not served at any price), and ``least``: a proven bound below which no
        change of its own is enough.
    price : float
        The most that a row may pay.
    frontier : DataFrame
        The cheapest change of the grid for each of some shares: ``share`` and ``rows`` that it serves,
        ``cost``, ``least_cost`` (no change at all serves as many for less), ``bound`` (nor does any serve
        more rows at this cost), ``change`` in words.
    grid : DataFrame
        The moves and steps that were tried, alone and together: of these the change is the best.
    most : int
        How many features may change.
    target : label
    exact : bool
        Whether each proof was finished in time: then no change of the grid is better.
    """

    change: pd.DataFrame
    table: pd.DataFrame
    price: float
    frontier: pd.DataFrame
    grid: pd.DataFrame
    most: int
    target: Any
    exact: bool = True

    @property
    def served(self) -> pd.Series:
        """Which of the rows are served, by their index."""
        return self.table["served"]

    @property
    def share(self) -> float:
        """Of the rows that were asked about: how many are served."""
        return float(self.served.mean())

    @property
    def cost(self) -> float:
        """The most that a served row pays; not a number where nobody is served."""
        return float(self.table.loc[self.served, "cost"].max()) if self.served.any() else math.nan

    @property
    def bound(self) -> float:
        """Proven: no change of so many features, on the grid or not, serves a larger share at this price."""
        return _bound(self.table["least"].to_numpy(), self.price)

    @property
    def least_cost(self) -> float:
        """Proven: no change of so many features serves as many rows for less."""
        return _least_cost(self.table["least"].to_numpy(), int(self.served.sum()))

    @property
    def words(self) -> str:
        """In sentences."""
        rows, served = len(self.table), int(self.served.sum())
        if not served:
            at_price = f" at a price of {number(self.price)}" if math.isfinite(self.price) else ""
            nobody = f"No change that was tried serves any of the {rows:,} rows{at_price}."
            return f"{nobody} {self._limit_words()}"
        return (
            f"If {change_words(self.change)}, {served:,} of {rows:,} rows ({part(self.share)}) are decided "
            f"as {named_value(self.target)}, for a cost of at most {number(self.cost)}. "
            f"{self._limit_words()} "
            f"With changes of their own, as many rows could be served for {number(self.least_cost)} at best."
        )

    def _limit_words(self) -> str:
        """What any other change could do."""
        rows, most = len(self.table), round(self.bound * len(self.table))
        features = "1 feature" if self.most == 1 else f"{self.most} features"
        if most == rows:
            return f"It is not excluded that another change of at most {features} serves all of them."
        at_price = " at this price" if math.isfinite(self.price) else ""
        no_other = f"no change of at most {features} serves more than {most:,} of them"
        return f"It is proven that {no_other}{at_price}."

    def __str__(self) -> str:
        return self.words

    def _repr_html_(self) -> str:
        from html import escape

        return f"<p>{escape(self.words)}</p>{self.frontier.to_html(index=False, na_rep='-')}"


def one_action(
    explainer: CounterfactualExplainer,
    frame: Any,
    target: Any = None,
    most: int = 2,
    price: float | None = None,
    *,
    share: float | None = None,
    explanations: Any = None,
    n_jobs: int | None = 1,
) -> OneAction:
    """One change for many rows: moves of up to two categories and steps of up to two numbers.

    Of a grid of changes (`OneAction.grid`) it is the one that serves the largest share of the rows; see
    `surefoot.OneAction` for what is proven.

    Parameters
    ----------
    frame : DataFrame
        The rows; those that are decided as the target already are left out.
    target : label, optional
        The class that all should have.
    most : int, default=2
        How many features change at most, up to 4.
    price : float, optional
        The most that the change may cost any row that counts as served. Default: any price.
    share : float, optional
        In the place of a price: the cheapest change that serves at least this share.
    explanations : Explanations or DataFrame, optional
        What `explain_batch` or `explain_table` of this explainer said of the same rows, in their order.
        Default: they are searched, with at most ``most`` changes, which gives better bounds. The bounds
        of a DataFrame are taken at their word.
    n_jobs : int, default=1
        Processes for that search.

    Examples
    --------
    >>> from surefoot import ConditionalGaussianNetworkClassifier, CounterfactualExplainer, datasets
    >>> pima = datasets.load_pima()
    >>> clf = ConditionalGaussianNetworkClassifier().fit(pima.X, pima.y)
    >>> sick = pima.X[clf.predict(pima.X) == 1].head(20)
    >>> found = CounterfactualExplainer(clf).one_action(sick, target=0)
    >>> found.change["feature"].tolist(), found.served.sum() <= 20 * found.bound
    (['plas', 'mass'], np.True_)
    """
    limit = _checked(explainer, frame, most, price, share)
    with one_blas_thread():
        group = _Group.of(explainer, frame, target, most, explanations, n_jobs)
        return _chosen(group, most, limit, share)


@dataclass(frozen=True, eq=False)
class _Group:
    """The rows that are asked about, and what is known of each."""

    labels: pd.Index
    target: Any
    asked: dict[int, Asked]  # by position; rows about which nothing can be asked are left out
    individuals: dict[int, Individual]
    least: Array = field(repr=False)

    @classmethod
    def of(
        cls,
        explainer: CounterfactualExplainer,
        frame: pd.DataFrame,
        target: Any,
        most: int,
        explanations: Any,
        n_jobs: int | None,
    ) -> _Group:
        """The rows of a frame that do not have the target yet, with what is known or searched of each."""
        own = explainer.at_most
        rung, asker = Rung(most if own is None else min(own, most)), explainer.asker
        wanted = _one_target(explainer, frame, target)
        rows = asker.rows(frame, wanted)
        entries = [asker.asked_or_refused(rung, row, wanted) for row in rows]
        there = [isinstance(e, Asked) and e.task.is_there for e in entries]
        if all(there):
            raise ProblemError(f"every row is decided as {wanted!r} already; there is nothing to change")
        asked = {k: e for k, e in enumerate(entries) if isinstance(e, Asked) and not there[k]}
        if explanations is None:
            known = _searched(asked, explainer.options.time_limit, n_jobs)
        else:
            known = _given(explainer, explanations, frame, asked, wanted)
        kept = [k for k, accepted in enumerate(there) if not accepted]
        least = np.array([known[k].lower_bound if k in known else math.inf for k in kept])
        places = {k: place for place, k in enumerate(kept)}
        return cls(
            frame.index[kept],
            wanted,
            {places[k]: one for k, one in asked.items()},
            {places[k]: one for k, one in known.items()},
            least,
        )


def _chosen(group: _Group, most: int, price: float, share: float | None) -> OneAction:
    """The best change of the grid, and the cheapest for each of some shares."""
    places, rows = list(group.asked), len(group.labels)
    parts = parts_that_fit([group.individuals[k] for k in places], most)
    serving = Serving([group.asked[k] for k in places], parts, changes_of(parts, most))
    question = next(iter(group.asked.values())).question if group.asked else None
    lines = [part_line(one, question) for one in parts] if question else []
    grid = pd.DataFrame(lines, columns=PART_COLUMNS)
    best, price = _best(serving, price, None if share is None else rank(share, rows))
    costs = np.full(rows, math.inf)
    if best is not None:
        costs[places] = serving.costs[best]
    _refuse_lies(group, costs)
    served = (costs <= price) & np.isfinite(costs)
    columns = {"served": served, "cost": costs, "least": group.least}
    table = pd.DataFrame(columns, index=group.labels)
    chosen = [] if best is None else [p for p in serving.changes[best].tolist() if p >= 0]
    frontier = _frontier(group, serving, grid)
    change = grid.iloc[chosen].reset_index(drop=True)
    return OneAction(change, table, price, frontier, grid, most, group.target, not serving.undecided)


def _best(serving: Serving, price: float, count: int | None) -> tuple[int | None, float]:
    """The change that serves most rows at a price, or at the lowest price at which so many are served."""
    if count is not None:
        cheapest = serving.cheapest(count) if count <= len(serving.asked) else None
        if cheapest is None:
            return None, math.inf
        price = float(serving.ranked[cheapest, count - 1])
    return serving.largest(price), price


def _frontier(group: _Group, serving: Serving, grid: pd.DataFrame) -> pd.DataFrame:
    """The cheapest change for each of some shares."""
    rows, lines = len(group.labels), list[dict[str, Any]]()
    top = serving.largest(math.inf)
    most = 0 if top is None else int(np.isfinite(serving.costs[top]).sum())
    for count in sorted({most, *(rank(k / LEVELS, rows) for k in range(1, LEVELS + 1))} - {0}):
        cheapest = serving.cheapest(count) if count <= most else None
        if cheapest is None:
            break
        cost = float(serving.ranked[cheapest, count - 1])
        best = serving.largest(cost)
        assert best is not None
        served = int((serving.ranked[best] <= cost).sum())
        if lines and served <= lines[-1]["rows"]:
            continue
        lines.append(
            {
                "share": served / rows,
                "rows": served,
                "cost": cost,
                "least_cost": _least_cost(group.least, served),
                "bound": _bound(group.least, cost),
                "change": change_words(grid.iloc[[p for p in serving.changes[best].tolist() if p >= 0]]),
            }
        )
    return pd.DataFrame(lines, columns=["share", "rows", "cost", "least_cost", "bound", "change"])


def change_words(change: pd.DataFrame) -> str:
    """A change as part of a sentence.

    Examples
    --------
    >>> lines = [("debt", "relative", -0.25, None), ("home", "move", None, "own")]
    >>> change_words(pd.DataFrame(lines, columns=["feature", "kind", "by", "to"]))
    'debt falls by 25 % and home becomes own'
    """
    return in_a_row([_part_words(*line) for line in change[PART_COLUMNS].itertuples(index=False)])


def _part_words(feature: Any, kind: str, by: float, to: Any) -> str:
    if kind == MOVE:
        return f"{in_list(feature)} becomes {named_value(to)}"
    size = f"{value_text(float(f'{100 * abs(by):.6g}'))} %" if kind == RELATIVE else value_text(abs(by))
    return f"{in_list(feature)} {'rises' if by > 0 else 'falls'} by {size}"


def _bound(least: Array, price: float) -> float:
    """The share of the rows for which it is not proven that every change costs more."""
    with np.errstate(over="ignore"):
        return float(np.mean(np.isfinite(least) & (least <= price * (1 + ROUNDING))))


def _least_cost(least: Array, count: int) -> float:
    """What so many rows cost at least: each pays no less than its own bound."""
    return float(np.sort(least)[count - 1]) if count else 0.0


def _refuse_lies(group: _Group, costs: Array) -> None:
    """Refuse bounds that a change which serves the row undercuts: they are about something else."""
    wrong = np.flatnonzero(group.least > costs * (1 + ROUNDING))
    if len(wrong):
        k = int(wrong[0])
        raise DataError(
            f"the explanations are about another question: row {group.labels.tolist()[k]!r} is said to need "
            f"a change of at least {group.least[k]:g}, but one of {costs[k]:g} is enough"
        )


def _one_target(explainer: CounterfactualExplainer, frame: pd.DataFrame, target: Any) -> Any:
    """The class that all rows should have."""
    clf, wanted = explainer.classifier, explainer.asker.wanted(target)
    labels = clf.classes_.tolist()
    if wanted is not None:
        return chosen_target(wanted, labels, 0)
    return chosen_target(None, labels, 1) if len(labels) > 2 else _other_class(explainer, frame, labels)


def _other_class(explainer: CounterfactualExplainer, frame: pd.DataFrame, labels: list[Any]) -> Any:
    """The class that no row has, of two; one action has one target."""
    decided = set(explainer.classifier.predict(frame).tolist())
    if len(decided) != 1:
        raise ProblemError(f"name a target: the rows are decided as {labels[0]!r} and as {labels[1]!r}")
    return next(label for label in labels if label not in decided)


def _searched(asked: dict[int, Asked], seconds: float, n_jobs: int | None) -> dict[int, Individual]:
    """What the certified search finds for each row by itself."""
    work = [(k, Inquiry.about(one, seconds, diagnose=False)) for k, one in asked.items()]
    with answers(work, n_jobs) as stream:
        found = dict(stream)
    individuals = {}
    for k, one in asked.items():
        answer = found[k]
        state = answer.state or one.question.state
        least = _known_bound(answer.status, answer.lower_bound)
        individuals[k] = Individual(one.question, answer.point, state, least)
    return individuals


def _known_bound(status: Status, bound: float) -> float:
    """What is proven of the distance of every answer to a row."""
    if status is Status.INFEASIBLE:
        return math.inf
    return float(bound) if 0 <= bound < math.inf else 0.0


def _given(
    explainer: CounterfactualExplainer,
    explanations: Any,
    frame: pd.DataFrame,
    asked: dict[int, Asked],
    target: Any,
) -> dict[int, Individual]:
    """What explanations that are known already say of each row."""
    if not isinstance(explanations, pd.DataFrame | list):
        raise ProblemError("explanations must be those of explain_batch, or the table of explain_table")
    if len(explanations) != len(frame):
        raise ProblemError(f"there are {len(explanations)} explanations for {len(frame)} rows")
    labels = frame.index.tolist()
    if isinstance(explanations, pd.DataFrame):
        lines = explanations.to_dict("records")
        return {k: _of_line(explainer, lines[k], one, labels[k], target) for k, one in asked.items()}
    return {k: _of_explanation(explanations[k], one, labels[k]) for k, one in asked.items()}


def _of_explanation(e: Any, one: Asked, label: Any) -> Individual:
    ours, theirs = one.question, getattr(e, "question", None)
    if not isinstance(e, Explanation) or not isinstance(theirs, Question) or not _covers(theirs, ours):
        raise DataError(f"the explanation of row {label!r} is about another row or question")
    if e.method != "certified":
        raise DataError(f"the explanation of row {label!r} is not of the certified method: it proves nothing")
    state = e.answer.state or theirs.state
    return Individual(ours, e.answer.point, state, _known_bound(e.status, e.answer.lower_bound))


def _covers(theirs: Question, ours: Question) -> bool:
    """Whether every answer to our question is one to theirs: then their bound holds for ours."""
    counts = {(limit.numbers, limit.categories): limit.count for limit in ours.limits}
    if any(counts.get((x.numbers, x.categories), math.inf) > x.count for x in theirs.limits):
        return False
    return asks_for_more(replace(ours, limits=theirs.limits), theirs)


def _of_line(
    explainer: CounterfactualExplainer, line: Mapping[Any, Any], one: Asked, label: Any, target: Any
) -> Individual:
    """What a line of `explain_table` says: its bound is taken at its word, its row is compared."""
    names = one.question.features
    try:
        status, bound = Status(line["status"]), float(line["lower_bound"])
        before = [line[f"factual: {name}"] for name in names]
        after = [line[f"counterfactual: {name}"] for name in names]
        same_target = line["target"] == target
    except (KeyError, TypeError, ValueError) as error:
        raise DataError(f"the explanation of row {label!r} is no line of explain_table ({error})") from None
    factual = explainer.asker.read(dict(zip(names, before, strict=True)))
    same = np.array_equal(factual.numbers, one.question.factual) and factual.state == one.question.state
    if not same or not same_target:
        raise DataError(f"the explanation of row {label!r} is about another row or target")
    least = _known_bound(status, bound)
    if not status.has_point:
        return Individual(one.question, None, (), least)
    point = explainer.asker.read(dict(zip(names, after, strict=True)))
    return Individual(one.question, point.numbers, point.state, least)


def _checked(explainer: CounterfactualExplainer, frame: Any, most: Any, price: Any, share: Any) -> float:
    """The price, infinite where there is none; bad requests are refused."""
    if explainer.method != "certified":
        raise ProblemError(f"one action needs method='certified', not {explainer.method!r}")
    if not isinstance(frame, pd.DataFrame) or not len(frame):
        raise ProblemError("one action is about a frame with at least one row")
    largest = 2 * MOST_OF_A_KIND
    if not isinstance(most, Integral) or isinstance(most, bool) or not 1 <= int(most) <= largest:
        raise ProblemError(f"most must be an integer from 1 to {largest}, not {most!r}")
    if price is not None and share is not None:
        raise ProblemError("give a price or a share, not both")
    for name, value, top in (("price", price, math.inf), ("share", share, 1.0)):
        if value is not None and not (is_number(value) and 0 < float(value) <= top):
            end = "" if top == math.inf else " up to 1"
            raise ProblemError(f"{name} must be a positive number{end}, not {value!r}")
    return math.inf if price is None else float(price)
