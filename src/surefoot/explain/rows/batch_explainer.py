"""Many rows explained together, here or in other processes."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from numbers import Integral
from typing import TYPE_CHECKING, Any

from surefoot.exceptions import ProblemError
from surefoot.explain.answer.executor import answers, failed
from surefoot.explain.ask.asked import Asked
from surefoot.explain.ask.asker import Refused, Row
from surefoot.explain.diagnose.inquiry import Inquiry
from surefoot.explain.result.batch import Explanations
from surefoot.explain.result.explanation import Explanation
from surefoot.explain.result.targets import nearest
from surefoot.explain.rows.row_explainer import RowExplainer
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
        why = climb.step.final and spec.diagnose
        return Inquiry.about(asked, seconds, diagnose=why, brief=self.brief)

    def _take(self, k: int, found: Explanation, bar: Any) -> None:
        self.climbs[k].send(found)
        if not self.climbs[k].goes_on:
            bar.update()
