"""Random small regions against trying every person and every change: is any verdict on a region wrong?

Whole numbers and categories; networks and logistic regression; every kind of action, rules with today's
values, links and limits. The judge (tests/regions.py) reads the actions by itself, and the checker looks at
every verdict.

usage: python benchmarks/audit/nobody.py [--first 0] [--count 500]
"""

import argparse
import sys
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.regions import judged

from benchmarks import cpu_clock  # noqa: F401
from surefoot import verify


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=500)
    options = parser.parse_args()
    counts, wrong, start = Counter(), [], time.process_time()
    for seed in range(options.first, options.first + options.count):
        explainer, found, verdict, fault = judged(seed)
        counts[verdict] += 1
        if verdict == "undecided":
            sys.stdout.write(f"  {seed} undecided: {found.words}\n")
        if not fault and found.holds is not None and not verify(found, explainer.classifier):
            fault = "the checker does not accept it"
        if fault:
            wrong.append(seed)
            sys.stdout.write(f"  {seed} {verdict}: {fault}\n")
    said = ", ".join(f"{n} {verdict}" for verdict, n in counts.most_common())
    seconds = time.process_time() - start
    sys.stdout.write(f"{sum(counts.values())} regions: {said}; {len(wrong)} wrong; {seconds:.0f} s of CPU\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
