"""The certified search now against an earlier checkout: CPU time of the whole `explain`, in turn, same rows.

`explain` from the row as pandas has it to the finished Explanation, which is more than its ``seconds`` says
(that is the search alone). Each round starts two fresh processes, which fit the same model and take turns;
ms is the median over the rounds of the median over the rows. The slowest rows stop at 10 s on both sides.

usage: BEFORE=CHECKOUT/src python benchmarks/run.py before      (ROUNDS=1 ROWS=5 for a quick look)
"""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

COLUMNS = [
    "data", "structure", "direction", "budget", "bounds", "runs",
    "gap 1 %: before (ms)", "now (ms)", "now : before", "all rows, now : before",
    "gap 0.1 %: before (ms)", "now (ms) ", "now : before ", "all rows, now : before ", "rounds",
]  # fmt: skip
KEY = COLUMNS[:5]
LIMIT = 10.0
GAPS = (0.01, 0.001)
ROUNDS, ROWS = int(os.environ.get("ROUNDS", 5)), int(os.environ.get("ROWS", 25))
NOW = Path(__file__).parents[2] / "src"


class Measured:
    """A process with one version and one fitted classifier, which measures what it is asked to.

    Parameters
    ----------
    source : path
        The version's ``src``.
    data : str
        Name of the function in ``surefoot.datasets``.
    shape : dict
        The classifier's arguments.
    """

    def __init__(self, source, data, shape):
        self.process = subprocess.Popen(
            [sys.executable, __file__, data, json.dumps(shape)],
            env={**os.environ, "PYTHONPATH": str(source), "OPENBLAS_NUM_THREADS": "1"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.parents = self._line()

    def seconds(self, positions, target, **settings):
        """CPU seconds of `explain` for each of these rows of the data."""
        question = {"positions": positions, "target": target, "settings": settings}
        self.process.stdin.write(json.dumps(question) + "\n")
        self.process.stdin.flush()
        return self._line()

    def _line(self):
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"{self.process.args[1:]} ended with {self.process.wait()}")
        return json.loads(line)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait()


def rows(done=()):
    from benchmarks.speed.certified import models

    earlier = Path(os.environ["BEFORE"]).resolve()
    if not (earlier / "surefoot").is_dir():
        raise SystemExit(f"BEFORE={earlier} is not the src of a checkout")
    for title, name, data, shape, clf in models():
        asked = [
            ([title, name, f"{1 - target} -> {target}", budget, bounds or "none"], target)
            for target in (1, 0)
            for budget in (0.01, 0.05)
            for bounds in (None, "data")
        ]
        asked = [(head, target) for head, target in asked if tuple(map(str, head)) not in done]
        if asked:
            yield from measured(asked, (earlier, NOW), (data, shape), clf)


def measured(asked, sources, model, clf):
    """One row for each question about a model, from all rounds."""
    from benchmarks.speed.certified import factuals
    from surefoot import datasets

    table = getattr(datasets, model[0])()
    places = {t: table.X.index.get_indexer(factuals(clf, table, 1 - t, 25).index)[:ROWS] for t in (0, 1)}
    times = np.zeros((len(asked), len(GAPS), 2, ROUNDS, ROWS))
    for turn in range(ROUNDS):
        with Measured(sources[0], *model) as before, Measured(sources[1], *model) as now:
            if before.parents != now.parents:
                raise SystemExit(f"the two versions learn different graphs: {model}")
            for k, (head, target) in enumerate(asked):
                *_, budget, bounds = head
                settings = {"budget": budget, "bounds": None if bounds == "none" else bounds}
                for g, gap in enumerate(GAPS):
                    for side, one in [(0, before), (1, now)][:: (-1) ** turn]:
                        times[k, g, side, turn] = one.seconds(
                            places[target].tolist(), target, gap=gap, **settings
                        )
    for (head, _), found in zip(asked, times, strict=True):
        cells = [text for gap in found for text in compared(*gap)]
        yield dict(zip(COLUMNS, [*head, ROWS, *cells, ROUNDS], strict=True))


def compared(before, now):
    """Medians in ms and their ratio; the ratio of all rows together, each at its median over the rounds."""
    old, new = (np.median(np.median(side, axis=1)) for side in (before, now))
    all_old, all_new = (np.median(side, axis=0).sum() for side in (before, now))
    return f"{1e3 * old:.2f}", f"{1e3 * new:.2f}", f"{new / old:.2f}", f"{all_new / all_old:.2f}"


def answer_questions(data, shape):
    """What the process of one version does: fit, then measure until nothing more is asked."""
    import inspect

    from surefoot import ConditionalGaussianNetworkClassifier, CounterfactualExplainer, datasets

    table = getattr(datasets, data)()
    clf = ConditionalGaussianNetworkClassifier(**shape).fit(table.X, table.y)
    # Versions differ in their defaults, and earlier ones know fewer arguments.
    known = inspect.signature(CounterfactualExplainer).parameters
    named = {"whole": False, "preset": "paper", "bounds": "data"}
    common = {"time_limit": LIMIT, **{name: value for name, value in named.items() if name in known}}

    def seconds(explainer, row, target):
        start = time.process_time()
        explainer.explain(row, target, on_failure="return")
        return time.process_time() - start

    print(json.dumps([list(map(int, parents)) for parents in clf.dag_.parents]), flush=True)
    for line in sys.stdin:
        question = json.loads(line)
        explainer = CounterfactualExplainer(clf, **{**common, **question["settings"]})
        chosen, target = table.X.iloc[question["positions"]], question["target"]
        seconds(explainer, chosen.iloc[0], target)  # what rows share is made once
        print(json.dumps([seconds(explainer, row, target) for _, row in chosen.iterrows()]), flush=True)


if __name__ == "__main__":
    answer_questions(sys.argv[1], json.loads(sys.argv[2]))
