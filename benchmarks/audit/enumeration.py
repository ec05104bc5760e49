"""Small random requests against full enumeration: is any answer wrong, and does anything crash?

One to four numbers and up to two categories; lists of values (often a single one), whole numbers, if-then
rules, `at_most`, conditional plausibility, budgets by feature, all norms, two and three classes. The judge
(tests/enumeration.py) starts from the model's JSON and shares no code with surefoot.

usage: python benchmarks/audit/enumeration.py [--first 0] [--count 5000] [--log FILE]
       (goes on where the log ends)
"""

import argparse
import json
import sys
import tempfile
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.enumeration import judged

from benchmarks import cpu_clock  # noqa: F401
from surefoot.exceptions import ProblemError


def one(seed, folder):
    """The line of one request; an exception that is not a complaint about the request is a find."""
    try:
        status, wrong = judged(seed, folder)
    except ProblemError as error:
        return {"seed": seed, "status": "refused", "wrong": "", "said": str(error)[:100]}
    except Exception as error:
        return {"seed": seed, "status": "exception", "wrong": f"{type(error).__name__}: {error}"[:200]}
    return {"seed": seed, "status": status, "wrong": wrong}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=5000)
    parser.add_argument("--log", default="enumeration.jsonl")
    options = parser.parse_args()
    log = Path(options.log)
    lines = [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []
    done = {line["seed"] for line in lines}
    with log.open("a") as file, tempfile.TemporaryDirectory() as folder:
        for seed in range(options.first, options.first + options.count):
            if seed not in done:
                lines.append(one(seed, folder))
                file.write(json.dumps(lines[-1]) + "\n")
                file.flush()
    counts = ", ".join(
        f"{n} {status}" for status, n in Counter(line["status"] for line in lines).most_common()
    )
    wrong = [line for line in lines if line["wrong"]]
    sys.stdout.write(f"{len(lines)} requests: {counts}; {len(wrong)} wrong\n")
    for line in wrong[:20]:
        sys.stdout.write(f"  {line}\n")


if __name__ == "__main__":
    main()
