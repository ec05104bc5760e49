"""Inquiry: a task, and what is needed to say why it has no answer."""

from __future__ import annotations

from dataclasses import dataclass, replace

from surefoot.explain.answer.executor import answer_to
from surefoot.explain.ask.asked import Asked
from surefoot.explain.ask.task import Task
from surefoot.explain.diagnose.best import best_probability
from surefoot.explain.diagnose.brief import briefly
from surefoot.explain.diagnose.conflict import diagnosed
from surefoot.explain.diagnose.feasibility_oracle import FeasibilityOracle, is_empty
from surefoot.explain.diagnose.largest_share import largest_share
from surefoot.problem.answer import Answer
from surefoot.search.certified.clock import Clock
from surefoot.status import Status
from surefoot.unforeseen import unforeseen

# Of the time that is left, for the highest probability; the rest is for what stands in the way. Ten times
# less, and with short limits the bound would hardly ever be better than the threshold.
SHARE_OF_BEST = 0.5
PATIENCE = 5.0  # seconds for what stands in the way
BEST_VERSION = 4  # of certificates that bound it; all others are written as readers of version 3 know them


@dataclass(frozen=True, eq=False)
class Inquiry:
    """A task, and what its constraints say where nothing exists: which of them stand in the way.

    Parameters
    ----------
    asked : Asked
    diagnose : bool
        Whether to say why there is no answer.
    brief : bool, default=False
        Whether to say it in brief: which constraints stand in the way by themselves, and nothing of the
        highest probability.
    """

    asked: Asked
    diagnose: bool
    brief: bool = False

    @classmethod
    def about(cls, asked: Asked, seconds: float, *, diagnose: bool, brief: bool = False) -> Inquiry:
        """An inquiry about a row, with so many seconds for all of it."""
        return cls(asked._replace(label=None, task=asked.task.within(seconds)), diagnose, brief)

    @property
    def task(self) -> Task:
        """The task in it."""
        return self.asked.task

    def answer(self) -> Answer:
        """Search; where nothing exists, say which constraints stand in the way. All within the time limit."""
        clock = Clock(self.task.settings.options.time_limit)
        found = answer_to(self.task)
        if not self.diagnose or not self._is_hopeless(found):
            return found
        if found.status is Status.INFEASIBLE and not self.brief:
            found = self._with_best(found, SHARE_OF_BEST * clock.left)
        conflict, advice = self._said(clock.left)
        return replace(found, advice=advice, conflict=conflict, seconds=clock.spent)

    def _with_best(self, found: Answer, seconds: float) -> Answer:
        """The answer with the highest probability that any allowed change reaches."""
        best = best_probability(self.task.problem, self.task.question, seconds)
        if best is None:
            return found
        held = dict(found.certificate or {})
        if best.proof is not None:
            held |= {"version": BEST_VERSION, "best": best.proof}
        return replace(
            found,
            best_probability=best.probability,
            best_probability_bound=best.bound,
            certificate=held,
        )

    def _is_hopeless(self, found: Answer) -> bool:
        """Whether there is nothing: proved, or since the rules themselves exclude each other."""
        if found.status is Status.UNDECIDED:
            problem = self.task.problem
            return is_empty(problem.domain, problem.metric.unit)
        return found.status is Status.INFEASIBLE

    def _said(self, seconds: float) -> tuple[tuple[str, ...], str]:
        """Why there is nothing; where that cannot be said, that nothing exists holds all the same."""
        try:
            return self._why_none(seconds)
        except Exception as error:  # a defect of ours, which must not cost a proof that is there
            return (), f"Why there is none could not be said. {unforeseen(error)}"

    def _why_none(self, seconds: float) -> tuple[tuple[str, ...], str]:
        """The constraints that exclude each other, and what would have to be given up."""
        problem, question = self.task.problem, self.task.question
        if self.asked.percentiles is not None and not self.brief:
            reachable = largest_share(problem, question, self.asked.percentiles, seconds)
            if reachable is not None:
                return ("plausible",), reachable.words()
        patience = min(PATIENCE, max(seconds, 0.0))
        oracle = FeasibilityOracle(problem, question, self.asked.constraints, patience, self.asked.noise)
        return briefly(oracle) if self.brief else diagnosed(oracle)
