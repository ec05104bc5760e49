"""Task: one problem, and how it is to be solved."""

from __future__ import annotations

from dataclasses import dataclass, replace

from surefoot.explain.ask.methods import Settings
from surefoot.problem.family import Family
from surefoot.problem.question import Question


@dataclass(frozen=True, eq=False)
class Task:
    """One problem, and how it is to be solved.

    Parameters
    ----------
    problem : Family
    question : Question
    method : str
    settings : Settings
    printable : bool, default=False
        Whether the point goes to short decimals, within the gap that was asked for.
    """

    problem: Family
    question: Question
    method: str
    settings: Settings
    printable: bool = False

    def within(self, seconds: float) -> Task:
        """The same task with so many seconds for all of it."""
        return replace(self, settings=self.settings.within(seconds))

    @property
    def is_there(self) -> bool:
        """Whether the unchanged row is allowed and has the target, leaving errors aside."""
        here, question = self.problem.here, self.question
        return here.margin(here.factual) >= 0 and question.allows(question.factual, question.state)
