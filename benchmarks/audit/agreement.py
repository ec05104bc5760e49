"""Random small problems with a bit of everything, against an independent global solver.

Up to six features, every norm and budget, ends, rows, whole numbers and allowed values, several requirements,
near-singular covariances and far factuals. The other solver runs the paper's cutting set on the same problem;
its points are judged on the true quadratics before they count against ours.

usage: python benchmarks/audit/agreement.py [--count 10000] [--first 0] [--log FILE] [--backend gurobi]
       (goes on where the log ends; without a log it starts anew)
"""

import argparse
import json
import sys
import time
from collections import Counter
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.problems import mixed_problem

from benchmarks import cpu_clock  # noqa: F401
from surefoot.exceptions import SurefootError
from surefoot.proof.worst_case import worst_perturbation
from surefoot.search.certified import certified_search
from surefoot.search.paper.cutting_set import cutting_set
from surefoot.search.paper.formulations import QcqpFormulation
from surefoot.search.paper.program import Options

GAP, LIMIT, OVERRUN = 1e-3, 5.0, 0.5


def other_answer(problem, backend, limit):
    """Status, distance and bound of the paper's method; its point counts only if it truly holds."""
    try:
        formulation = QcqpFormulation(problem, backend, Options(time_limit=limit, gap=1e-4), 1e-6)
        *_, last = cutting_set(problem, formulation, tol=1e-6, time_limit=limit, max_iterations=60)
    except SurefootError as error:
        return {"status": f"refused: {error}", "distance": np.inf, "valid": False}
    if last.candidate is None:
        return {"status": str(last.status), "distance": np.inf, "valid": False}
    valid = problem.domain.contains(last.candidate)
    valid = valid and worst_perturbation(problem, last.candidate).violation <= 0
    return {"status": str(last.status), "distance": problem.distance(last.candidate), "valid": bool(valid)}


def compared(seed, backend):
    """One problem: what both say, and in one word what that means."""
    problem = mixed_problem(seed)
    start = time.process_time()
    ours = certified_search(problem, GAP, LIMIT)
    seconds = time.process_time() - start
    theirs = other_answer(problem, backend, 3.0)
    distance = np.inf if ours.point is None else problem.distance(ours.point)
    return {
        "seed": seed,
        "ours": str(ours.status),
        "distance": distance,
        "bound": float(ours.lower_bound),
        "seconds": round(seconds, 4),
        **{f"other {name}": value for name, value in theirs.items()},
        "verdict": verdict(problem, ours, distance, seconds, theirs),
    }


def verdict(problem, ours, distance, seconds, theirs):
    if seconds > LIMIT + OVERRUN:
        return "overrun"
    if ours.point is not None:
        broken = worst_perturbation(problem, ours.point, ours.radius).violation > 0
        if broken or not problem.domain.contains(ours.point):
            return "wrong: the point violates"
    if theirs["valid"] and theirs["distance"] < ours.lower_bound * (1 - 1e-9):
        return "wrong: a nearer point exists"
    if str(ours.status) == "optimal":
        allowed = max(GAP * distance, 1e-6) * (1 + 1e-6)
        proven = problem.ball.is_point or ours.radius >= problem.ball.radius
        if distance - ours.lower_bound > allowed or not proven:
            return "wrong: optimal, but not within the gap or the budget"
        return "agrees" if theirs["status"] == "optimal" else "decided by us alone"
    if str(ours.status) == "infeasible":
        return "agrees" if theirs["status"] == "infeasible" else "decided by us alone"
    return "undecided"


def main():
    plain = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=plain)
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--log", type=Path)
    parser.add_argument("--backend", default="gurobi")
    options = parser.parse_args()
    lines = options.log.read_text().splitlines() if options.log and options.log.exists() else []
    done = {entry["seed"]: entry for entry in map(json.loads, lines)}
    for seed in range(options.first, options.first + options.count):
        if seed not in done:
            done[seed] = compared(seed, options.backend)
            if options.log:
                with options.log.open("a") as log:
                    log.write(json.dumps(done[seed]) + "\n")
        if done[seed]["verdict"].startswith(("wrong", "overrun")):
            print(json.dumps(done[seed]), flush=True)
    counts = Counter(entry["verdict"] for entry in done.values())
    print(f"{len(done)} problems: " + ", ".join(f"{n} {what}" for what, n in counts.most_common()))


if __name__ == "__main__":
    with np.errstate(all="ignore"):
        main()
