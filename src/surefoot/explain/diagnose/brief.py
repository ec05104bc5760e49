"""Why there is no answer, in brief: for the rows of a large table."""

from __future__ import annotations

import math

from surefoot.explain.constraints.constraint_set import ConstraintSet
from surefoot.explain.diagnose.conflict import ENOUGH, PATIENCE, Diagnosis, Noise, shown
from surefoot.explain.diagnose.feasibility_oracle import FeasibilityOracle
from surefoot.explain.diagnose.relaxations import parts
from surefoot.problem.family import Family
from surefoot.problem.question import Question

# Constraints that are tried. Ten times larger, and a row under hundreds of rules takes all the time it has.
MOST = 64


def briefly(
    problem: Family,
    question: Question,
    constraints: ConstraintSet,
    time_limit: float,
    noise: Noise | None = None,
) -> Diagnosis:
    """Say which constraints stand in the way by themselves: without any one of them there is an answer.

    These are the constraints that all conflicts have in common. Each takes one search in which nearly
    everything is fixed; an irreducible conflict, as `diagnosed` finds it, takes dozens of searches in which
    little is. What is said depends on the row alone, not on rows before it.
    """
    oracle = FeasibilityOracle(problem, question, constraints, min(PATIENCE, max(time_limit, 0.0)), noise)
    target = shown(question.target)
    if oracle.excludes_itself().is_infeasible:
        return Diagnosis((), "The restrictions exclude each other.")
    every = parts(constraints, question.factual)
    verdicts = [(oracle.nearest([part]), part) for part in every[:MOST]]
    blamed = sorted(((v.distance, k, part) for k, (v, part) in enumerate(verdicts) if v.distance < math.inf))
    conflict = tuple(part.wish for _, _, part in sorted(blamed, key=lambda one: one[1]))
    if not blamed:
        decided = len(every) <= MOST and all(v.decided for v, _ in verdicts)
        return Diagnosis(
            (), _several(target) if decided else f"Why nothing leads to {target} was not decided."
        )
    lifted = [part.lifted for _, _, part in blamed if part.proposed][:ENOUGH]
    ways = f" There is one if {', or if '.join(lifted)}." if lifted else ""
    alone = "Each of these alone is" if len(conflict) > 1 else "This alone is"
    return Diagnosis(conflict, f"{alone} in the way of {target}: {'; '.join(conflict)}.{ways}")


def _several(target: str) -> str:
    return f"No single restriction is in the way of {target}: two or more would have to be given up."
