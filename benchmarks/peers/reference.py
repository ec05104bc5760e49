"""Mixed networks with fixed graphs: log densities beside those of PyBNesian's CLGNetwork.

Each class is fitted on its own rows by both, without smoothing. PyBNesian divides the squares of a cell's n
rows by n - 1 - p, p being the number of number parents, surefoot by n; so surefoot's variances are taken
times n / (n - 1 - p). Compared are all rows whose values were seen together in the class.

usage: make -C benchmarks/peers reference      (an environment of its own: PyBNesian needs pandas 2)
"""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pybnesian

from surefoot import ConditionalGaussianNetworkClassifier, datasets
from surefoot.model.mixed import MixedNetwork

RESULT = Path(__file__).parent / "results" / "reference.md"
GRAPHS = {
    "naive": [],
    "tree": [
        ("checking_account", "savings"), ("checking_account", "telephone"), ("telephone", "credit_amount"),
        ("credit_amount", "duration_months"), ("housing", "age"), ("housing", "property"),
        ("credit_amount", "installment_rate"), ("age", "residence_since"),
    ],
    "several parents": [
        ("housing", "property"), ("telephone", "property"), ("telephone", "credit_amount"),
        ("housing", "credit_amount"), ("credit_amount", "duration_months"), ("age", "duration_months"),
        ("telephone", "duration_months"), ("housing", "age"), ("credit_amount", "installment_rate"),
        ("duration_months", "installment_rate"), ("other_plans", "installment_rate"),
    ],
}  # fmt: skip
RANDOM, AGREED = 40, 1e-9


def german_credit():
    data = datasets.load_german_credit()
    return data.X, data.y.to_numpy()


def random_case(seed):
    """A random graph over three to eight features, columns of very different size, rows of two classes."""
    rng = np.random.default_rng(seed)
    n, n_rows = int(rng.integers(3, 9)), 3000
    n_categories = int(rng.integers(1, n))
    edges = [(f"f{j}", f"f{i}") for i in range(n) for j in rng.permutation(i)[: rng.integers(0, 3)]]
    y, columns = rng.integers(0, 2, n_rows), {}
    for i in range(n):
        value = rng.standard_normal(n_rows) + 0.5 * y
        for parent in (j for j, child in edges if child == f"f{i}"):
            value += rng.uniform(-1, 1) * (columns[parent] - columns[parent].mean()) / columns[parent].std()
        size = int(rng.integers(2, 4))
        cut = np.searchsorted(np.quantile(value, np.arange(1, size) / size), value)
        columns[f"f{i}"] = (
            cut if i < n_categories else 10.0 ** rng.uniform(-3, 3) * (rng.normal(0, 3) + value)
        )
    frame = pd.DataFrame(columns)
    for i in range(n_categories):
        frame[f"f{i}"] = frame[f"f{i}"].astype(str)
    return frame, y, edges


def theirs(own, everyone, edges):
    """PyBNesian's log density of all rows under the network of one class."""
    names = list(own.columns)
    text = [name for name in names if not pd.api.types.is_numeric_dtype(own[name])]
    kinds = [(name, pybnesian.DiscreteFactorType()) for name in text]
    network = pybnesian.CLGNetwork(names, edges, kinds)
    shared = {name: pd.CategoricalDtype(sorted(everyone[name].unique())) for name in text}
    numbers = {name: float for name in names if name not in text}
    network.fit(own.astype(shared | numbers))
    return np.asarray(network.logl(everyone.astype(shared | numbers)))


def ours(network, numbers, codes, own_rows):
    if not isinstance(network, MixedNetwork):
        raise TypeError("the table has no category")
    cells = tuple(unbiased(part, codes[own_rows]) for part in network.cells)
    return replace(network, cells=cells).log_density(numbers, codes)


def unbiased(cells, codes):
    count = np.zeros(cells.variance.shape)
    np.add.at(count, tuple(codes[:, k] for k in cells.given), 1)
    if not cells.given:
        count = np.asarray(float(len(codes)))
    free = count - 1 - len(cells.parents)
    return replace(cells, variance=cells.variance * np.where(free > 0, count / np.maximum(free, 1), 1.0))


def seen_together(clf, codes, own_rows):
    """Rows whose categories stand in combinations that the class has seen, family by family."""
    categories, known = list(clf.schema_.categories), np.ones(len(codes), dtype=bool)
    for i, parents in enumerate(clf.dag_.parents):
        group = [categories.index(j) for j in (*parents, i) if j in categories]
        if group:
            values = [tuple(row) for row in codes[:, group].tolist()]
            pairs = {values[r] for r in np.flatnonzero(own_rows)}
            known &= np.array([value in pairs for value in values])
    return known


def compare(X, y, edges):
    """Largest difference of log densities, in units of one plus their size, and how many were compared."""
    graph = {}
    for parent, child in edges:
        graph.setdefault(child, []).append(parent)
    clf = ConditionalGaussianNetworkClassifier(graph, cell_smoothing=0, var_smoothing=0).fit(X, y)
    numbers, codes = clf.schema_.encode(X)
    worst, compared = 0.0, 0
    for c, label in enumerate(clf.classes_):
        own = y == label
        known = seen_together(clf, codes, own)
        a, b = ours(clf.networks_[c], numbers, codes, own)[known], theirs(X[own], X, edges)[known]
        worst = max(worst, float(np.max(np.abs(a - b) / (1 + np.abs(b)))))
        compared += int(known.sum())
    return worst, compared


def main():
    X, y = german_credit()
    found = [(f"German credit, {name}", *compare(X, y, edges)) for name, edges in GRAPHS.items()]
    drawn = [compare(*random_case(seed)) for seed in range(RANDOM)]
    found.append((f"{RANDOM} random graphs", max(d for d, _ in drawn), sum(n for _, n in drawn)))
    head = ["| graph | log densities compared | largest difference / (1 + size) |", "|---|---|---|"]
    lines = [f"| {name} | {count} | {worst:.1e} |" for name, worst, count in found]
    text = "\n".join([*head, *lines])
    print(text)
    RESULT.write_text(f"{__doc__.strip()}\n\n{text}\n", encoding="utf-8")
    if max(worst for _, worst, _ in found) > AGREED:
        raise SystemExit(f"they differ by more than {AGREED}")


if __name__ == "__main__":
    main()
