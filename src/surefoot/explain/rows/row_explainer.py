"""One row explained: asked, answered, and asked again where something of a preset gives way."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from surefoot.exceptions import SurefootError
from surefoot.explain.answer.executor import attempt, failed
from surefoot.explain.ask.asked import Asked
from surefoot.explain.ask.asker import Asker, Refused
from surefoot.explain.ask.row import row_label
from surefoot.explain.diagnose.inquiry import Inquiry
from surefoot.explain.result.assembly import assembled, refused
from surefoot.explain.result.explanation import Explanation
from surefoot.explain.result.targets import nearest
from surefoot.explain.rows.diversity import difference_words, differing_from
from surefoot.explain.rows.giving_way import Climb, Step
from surefoot.problem.answer import Answer
from surefoot.problem.question import Question
from surefoot.search.certified import few_enough
from surefoot.search.certified.clock import Clock
from surefoot.status import Status
from surefoot.unforeseen import unforeseen


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
        spec = self.asker.spec
        return Climb(self.asker.first, spec.may_give_way, self._few, spec.options.time_limit)

    def _few(self, found: Explanation) -> int | None:
        """About how many changes seem to be enough for what an answer is about."""
        question, builder = found.question, self.asker.builder(self.asker.first)
        if not isinstance(question, Question):
            return None
        return few_enough(question.family(builder.classifier, *builder.others))

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
        inquiry = Inquiry.about(asked, seconds, diagnose=diagnose and self.asker.spec.diagnose)
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


def _lasting(explanation: Explanation, seconds: float) -> Explanation:
    """The explanation, which took so many seconds in all."""
    return replace(explanation, answer=replace(explanation.answer, seconds=seconds))
