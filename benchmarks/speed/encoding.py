"""What each idea in the MILP encoding buys: the same problems with one idea taken away at a time (HiGHS).

usage: python benchmarks/run.py encoding
"""

import itertools
from unittest import mock

import numpy as np

from benchmarks.asking import CounterfactualExplainer
from benchmarks.speed.paper_methods import STRUCTURES, factuals, standard_error
from surefoot import ConditionalGaussianNetworkClassifier, datasets
from surefoot.search.paper.formulations import mccormick, milp

COLUMNS = [
    "data",
    "structure",
    "encoding",
    "runs",
    "seconds",
    "(s.e.)",
    "iterations",
    "unfinished in 30 s",
]
TIME_LIMIT = 30.0


def both_envelopes(builder, x, grids, coefficients):
    """Upper and lower envelopes of every product and segments for every variable, as in the paper."""
    segments = [mccormick._Segments(builder, int(x[j]), grids[j]) for j in range(len(x))]
    products = {}
    for j, k in coefficients:
        z = int(builder.variables(1, -np.inf, np.inf)[0])
        products[j, k] = z
        if j == k:
            segments[j].bound_square_above(builder, z)
            mccormick._tangents(builder, z, int(x[j]), grids[j])
        else:
            for upper in (True, False):
                segments[j].bound_product(builder, z, int(x[k]), grids[k][[0, -1]], upper=upper)
    return products


class BigM(mccormick._Segments):
    """The paper's disjunction with big M: rows of a segment are switched off when it is not active."""

    def __init__(self, builder, x, grid):
        self.x, self.grid, self.starts, self.widths = x, grid, grid[:-1], np.diff(grid)
        m = len(self.starts)
        self.active = builder.variables(m, 0.0, 1.0, integer=m > 1)
        builder.linear(np.ones((1, m)), self.active, 1.0, 1.0)
        span = grid[-1] - grid[0]
        for r, (a, b) in enumerate(itertools.pairwise(grid)):
            builder.linear([1.0, -span], [x, self.active[r]], a - span, np.inf)
            builder.linear([1.0, span], [x, self.active[r]], -np.inf, b + span)

    def bound_square_above(self, builder, z):
        big = 2 * np.max(np.abs(self.grid)) ** 2 * 4
        for r, (a, b) in enumerate(itertools.pairwise(self.grid)):
            builder.linear([1.0, -(a + b), big], [z, self.x, self.active[r]], -np.inf, big - a * b)

    def bound_product(self, builder, z, y, ends, upper):
        low, high = ends
        big = 4 * np.max(np.abs(self.grid)) * max(abs(low), abs(high)) * 2
        for r, (a, b) in enumerate(itertools.pairwise(self.grid)):
            pairs = ((a, high), (b, low)) if upper else ((a, low), (b, high))
            for start, end in pairs:
                row, columns = [1.0, -end, -start], [z, self.x, y]
                side = -start * end
                if upper:
                    builder.linear([*row, big], [*columns, self.active[r]], -np.inf, side + big)
                else:
                    builder.linear([*row, -big], [*columns, self.active[r]], side - big, np.inf)


ENCODINGS = {
    "all ideas": [],
    "envelopes on both sides": [mock.patch.object(milp, "add_products", both_envelopes)],
    "no known point (percentile bounds, no cut-off)": [
        mock.patch.object(milp, "ray_point", return_value=None)
    ],
    "big M instead of the convex hull": [mock.patch.object(mccormick, "_Segments", BigM)],
}


def rows():
    cases = (
        (datasets.load_banknote, "Banknote", "BAN", 3),
        (datasets.load_pima, "Pima", "TAN", 2),
    )
    for load, title, name, count in cases:
        data = load()
        clf = ConditionalGaussianNetworkClassifier(**STRUCTURES[name]).fit(data.X, data.y)
        explainer = CounterfactualExplainer(
            clf, budget=0.05, method="milp", backend="highs", bounds=None, whole=False, time_limit=TIME_LIMIT
        )
        for encoding, patches in ENCODINGS.items():
            for patch in patches:
                patch.start()
            found = [
                explainer.explain(row, target=1, on_failure="return")
                for _, row in factuals(clf, data, count).iterrows()
            ]
            for patch in patches:
                patch.stop()
            done = [e for e in found if e.status == "optimal"]
            seconds = [e.seconds for e in done]
            values = [
                title, name, encoding, count,
                f"{np.mean(seconds):.2f}" if done else "", f"{standard_error(seconds):.2f}" if done else "",
                f"{np.mean([len(e.iterations) for e in done]):.1f}" if done else "", len(found) - len(done),
            ]  # fmt: skip
            yield dict(zip(COLUMNS, values, strict=True))
