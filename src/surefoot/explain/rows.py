"""Rows explained, one or many: asked, answered, and asked again where something of a preset gives way."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np

from surefoot.exceptions import ProblemError, SurefootError
from surefoot.explain.answer.executor import answers, attempt, failed, unforeseen
from surefoot.explain.ask.asker import Asker, Refused, Row
from surefoot.explain.ask.diversity import difference_words, differing_from
from surefoot.explain.ask.giving_way import Climb, Step
from surefoot.explain.ask.question_builder import Asked
from surefoot.explain.ask.row import row_label
from surefoot.explain.diagnose.inquiry import Inquiry
from surefoot.explain.result.assembly import assembled, refused
from surefoot.explain.result.batch import Explanations
from surefoot.explain.result.explanation import Explanation
from surefoot.explain.result.targets import nearest
from surefoot.problem.answer import Answer
from surefoot.problem.question import Question
from surefoot.search.certified import few_enough
from surefoot.search.certified.clock import Clock
from surefoot.search.paper.backends import choose_backend
from surefoot.status import Status
from surefoot.threads import one_blas_thread

if TYPE_CHECKING:
    from surefoot.explain.explainer import CounterfactualExplainer


def check_n_jobs(n_jobs: Any) -> None:
    """Refuse a number of processes that makes no sense."""
    if n_jobs is not None and (not isinstance(n_jobs, Integral) or isinstance(n_jobs, bool) or n_jobs == 0):
        raise ProblemError(f"n_jobs must be an integer other than 0, or None, not {n_jobs!r}")


def explain_rows(
    explainer: CounterfactualExplainer,
    rows: Any,
    target: Any,
    n_jobs: int | None = 1,
    progress: bool = False,
    brief: bool = False,
) -> Explanations:
    """Explain many rows; in brief where there are too many to say at length why some have no answer."""
    check_n_jobs(n_jobs)
    if explainer.method != "certified":
        # A missing solver is one error, not one for each row.
        choose_backend(explainer.method, explainer.paper.backend)
    with one_blas_thread():
        asked, each = explainer.asker.rows(rows, target), RowExplainer(explainer.asker, explainer)
        return Explanations(BatchExplainer(each, asked, n_jobs, brief).carried_out(progress))


@dataclass(frozen=True, eq=False)
class RowExplainer:
    """Explains one row at a time.

    Parameters
    ----------
    asker : Asker
    made_by : CounterfactualExplainer
        What explanations keep as their maker.
    """

    asker: Asker
    made_by: Any

    def climbed(self, row: Any, targets: tuple[Any, ...], clock: Clock) -> Climb:
        """A row asked about; and asked again where something of the preset gives way."""
        climb = self.climb()
        while climb.goes_on:
            climb.send(self._nearest(climb.step, row, targets, clock, climb.share(clock.left)))
        return climb

    def climb(self) -> Climb:
        """A climb for one row, before the first question."""
        return Climb(self.asker.first, self.asker.spec.may_give_way, self._few)

    def _few(self, found: Explanation) -> int | None:
        """About how many changes seem to be enough for what an answer is about."""
        question = found.question
        return few_enough(question.family(self.asker.classifier)) if isinstance(question, Question) else None

    def alternatives(
        self, row: Any, target: Any, clock: Clock, *, n: int, differ: str, apart: float
    ) -> list[Explanation]:
        """So many explanations at most, nearest first, each different from all before it."""
        climb = self.climbed(row, (target,), clock)
        found = [climb.explanation]
        # Where nothing has to change, nothing else is worth looking for.
        while len(found) < n and clock.left > 0 and 0 < found[-1].distance < np.inf:
            differing = differing_from(found, differ, apart)
            asked = self.asker.asked(climb.reached, row, target, row_label(row), differing)
            explanation = _lasting(self._answered(asked, clock, clock.left, diagnose=False), clock.spent)
            if explanation.answer.point is None:
                break
            words = difference_words(explanation, found, differ, apart)
            found.append(replace(explanation, answer=replace(explanation.answer, advice=words)))
        return found

    def _nearest(
        self, step: Step, row: Any, targets: tuple[Any, ...], clock: Clock, seconds: float
    ) -> Explanation:
        """The explanation of the nearest of some targets, which share the seconds."""
        found: list[Explanation] = []
        end = clock.spent + seconds
        for number, target in enumerate(targets):
            asked = self.asker.asked(step.rung, row, target, row_label(row))
            part = max(end - clock.spent, 0.0) / (len(targets) - number)
            found.append(self._answered(asked, clock, part, diagnose=step.final))
        return _lasting(nearest(found), clock.spent)

    def _answered(self, asked: Asked, clock: Clock, seconds: float, diagnose: bool) -> Explanation:
        """The explanation of one question, within so many seconds."""
        inquiry = asked.inquiry.within(seconds, diagnose=diagnose and self.asker.spec.diagnose)
        return self.explanation(asked, attempt(inquiry), clock.left)

    def explanation(self, asked: Asked, found: Answer, seconds: float = np.inf) -> Explanation:
        """An answer with what the classifier says of it; where that fails, one that says so."""
        place = self.asker.classifier, asked.question, asked.problem
        by = {"refits": self.asker.refits, "seconds": seconds, "made_by": self.made_by}
        known = self._known(asked.label) | by
        try:
            return assembled(*place, found, **known)
        except SurefootError:
            raise
        except Exception as error:
            nothing = failed(Status.FAILED, asked.problem, unforeseen(error))
            return assembled(*place, nothing, **known)

    def refusal(self, found: Refused, label: Any) -> Explanation:
        """The explanation of a row about which nothing can be asked."""
        answer = Answer(Status.INVALID, advice=found.why)
        return refused(self.asker.classifier, found.row, answer, **self._known(label))

    def _known(self, label: Any) -> dict[str, Any]:
        spec = self.asker.spec
        return {"tol": float(spec.paper.tol), "method": spec.method, "row": label}


class BatchExplainer:
    """Explains many rows together.

    Rows without an answer are asked again where something of the preset gives way, all of them in one round.

    Parameters
    ----------
    each : RowExplainer
    rows : sequence of Row
    n_jobs : int or None
    brief : bool
        Whether it is said in brief why there is no answer.
    """

    def __init__(self, each: RowExplainer, rows: Sequence[Row], n_jobs: int | None, brief: bool) -> None:
        self.each, self.rows, self.n_jobs, self.brief = each, rows, n_jobs, brief
        self.climbs = [each.climb() for _ in rows]
        self.spent = [0.0] * len(rows)

    def carried_out(self, progress: bool) -> list[Explanation]:
        """Explanations in the order of the rows; after an interrupt, those that are left say so."""
        from tqdm.auto import tqdm

        open_ = list(range(len(self.rows)))
        with tqdm(total=len(self.rows), desc="explaining", unit="row", disable=not progress) as bar:
            while open_ and self._round(open_, bar):
                open_ = [k for k in open_ if self.climbs[k].goes_on]
        return [climb.explanation for climb in self.climbs]

    def _round(self, open_: Sequence[int], bar: Any) -> bool:
        """Ask about each open row once; False if interrupted."""
        asked = self._asked(open_, bar)
        every = [(k, entry) for k, some in asked.items() for entry in some]
        work = [(number, self._work(k, entry, len(asked[k]))) for number, (k, entry) in enumerate(every)]
        interrupted, done = True, dict[int, dict[int, Explanation]]()
        with suppress(KeyboardInterrupt), answers(work, self.n_jobs) as stream:
            for number, found in stream:
                k, entry = every[number]
                self.spent[k] += found.seconds
                explanation = self.each.explanation(entry, replace(found, seconds=self.spent[k]))
                done.setdefault(k, {})[number] = explanation
                if len(done[k]) == len(asked[k]):
                    self._take(k, nearest([done[k][number] for number in sorted(done[k])]), bar)
                    del asked[k]
                if found.status.with_point is Status.INTERRUPTED:  # the search that ran took the signal
                    raise KeyboardInterrupt
            interrupted = False
        for k, (first, *_) in asked.items():
            stopped = failed(Status.INTERRUPTED_NO_POINT, first.problem)
            self.climbs[k].send(self.each.explanation(first, stopped))
        return not interrupted

    def _asked(self, open_: Sequence[int], bar: Any) -> dict[int, list[Asked]]:
        """The questions about each open row, one for each target; rows that are refused are done."""
        asked: dict[int, list[Asked]] = {}
        for k in open_:
            row, rung = self.rows[k], self.climbs[k].step.rung
            entries = [self.each.asker.asked_or_refused(rung, row, target) for target in row.targets]
            refusals = [entry for entry in entries if isinstance(entry, Refused)]
            if refusals:
                self._take(k, self.each.refusal(refusals[0], row.label), bar)
            else:
                asked[k] = [entry for entry in entries if isinstance(entry, Asked)]
        return asked

    def _work(self, k: int, asked: Asked, sharing: int) -> Inquiry:
        """What is carried out for one of several questions about a row, which share its time."""
        climb, spec = self.climbs[k], self.each.asker.spec
        seconds = climb.share(spec.options.time_limit - self.spent[k]) / sharing
        return asked.inquiry.within(seconds, diagnose=climb.step.final and spec.diagnose, brief=self.brief)

    def _take(self, k: int, found: Explanation, bar: Any) -> None:
        self.climbs[k].send(found)
        if not self.climbs[k].goes_on:
            bar.update()


def _lasting(explanation: Explanation, seconds: float) -> Explanation:
    """The explanation, which took so many seconds in all."""
    return replace(explanation, answer=replace(explanation.answer, seconds=seconds))
