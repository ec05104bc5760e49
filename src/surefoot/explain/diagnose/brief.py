"""Why there is no answer, in brief: for the rows of a large table."""

from __future__ import annotations

import math

from surefoot.explain.diagnose.conflict import ENOUGH, Diagnosis, shown
from surefoot.explain.diagnose.feasibility_oracle import FeasibilityOracle
from surefoot.explain.diagnose.relaxations import relaxations

# Constraints that are tried. Ten times larger, and a row under hundreds of rules takes all the time it has.
MOST = 64


def briefly(oracle: FeasibilityOracle) -> Diagnosis:
    """Say which constraints stand in the way by themselves: without any one of them there is an answer.

    These are the constraints that all conflicts have in common. Each takes one search in which nearly
    everything is fixed; an irreducible conflict, as `diagnosed` finds it, takes dozens of searches in which
    little is. What is said depends on the row alone, not on rows before it.
    """
    target = shown(oracle.question.target)
    if oracle.excludes_itself().is_infeasible:
        return Diagnosis((), "The restrictions exclude each other.")
    every = relaxations(oracle.constraints, oracle.question.factual)
    verdicts = [(oracle.nearest([one]), one) for one in every[:MOST]]
    blamed = sorted(((v.distance, k, one) for k, (v, one) in enumerate(verdicts) if v.distance < math.inf))
    conflict = tuple(one.words for _, _, one in sorted(blamed, key=lambda one: one[1]))
    if not blamed:
        decided = len(every) <= MOST and all(v.decided for v, _ in verdicts)
        return Diagnosis(
            (), _several(target) if decided else f"Why nothing leads to {target} was not decided."
        )
    lifted = [one.lifted for _, _, one in blamed if one.proposed][:ENOUGH]
    ways = f" There is one if {', or if '.join(lifted)}." if lifted else ""
    alone = "Each of these alone is" if len(conflict) > 1 else "This alone is"
    return Diagnosis(conflict, f"{alone} in the way of {target}: {'; '.join(conflict)}.{ways}")


def _several(target: str) -> str:
    return f"No single restriction is in the way of {target}: two or more would have to be given up."
