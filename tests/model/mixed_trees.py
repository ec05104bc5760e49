"""Random trees over numbers and categories, with parameters that make every edge matter."""

from dataclasses import dataclass

import numpy as np

from surefoot.model.dag import Dag


@dataclass(frozen=True, eq=False)
class MixedTree:
    """A network for each class over one tree; categories have only categories as parents."""

    dag: Dag
    categories: tuple
    sizes: dict  # position of a category -> number of its values
    tables: list  # for each class: position of a category -> table (parent's value, own value)
    regressions: list  # for each class: position of a number -> array (cell, 3): mean, slope, deviation

    @property
    def numbers(self):
        return tuple(i for i in range(self.dag.n_features) if i not in self.categories)

    def sample(self, n_rows, rng):
        """Numbers, codes and classes of random rows."""
        classes = np.arange(n_rows) % len(self.tables)
        values = np.zeros((n_rows, self.dag.n_features))
        for i in self.dag.order:
            for c in range(len(self.tables)):
                rows = np.flatnonzero(classes == c)
                values[rows, i] = self._draw(i, c, values[rows], rng)
        codes = values[:, list(self.categories)].astype(np.intp)
        return values[:, list(self.numbers)], codes, classes

    def _draw(self, i, c, values, rng):
        parent = self.dag.parents[i][0] if self.dag.parents[i] else None
        if i in self.categories:
            cell = np.zeros(len(values), dtype=int) if parent is None else values[:, parent].astype(int)
            cumulative = np.cumsum(self.tables[c][i][cell], axis=1)
            return (rng.random((len(values), 1)) > cumulative[:, :-1]).sum(axis=1)
        by_category = parent in self.categories
        mean, slope, deviation = self.regressions[c][i][
            values[:, parent].astype(int) if by_category else np.zeros(len(values), dtype=int)
        ].T
        pull = 0.0 if parent is None or by_category else slope * values[:, parent]
        return mean + pull + deviation * rng.standard_normal(len(values))


def random_mixed_tree(n_features, seed, n_classes=2, share=0.5, largest=6):
    """A tree in which each feature hangs on an earlier one, chosen at random; categories come first."""
    rng = np.random.default_rng(seed)
    n_categories = max(1, round(share * n_features))
    order = rng.permutation(n_features)
    categories = tuple(sorted(order[:n_categories].tolist()))
    edges = [(int(order[rng.integers(k)]), int(order[k])) for k in range(1, n_features)]
    dag = Dag.from_edges(n_features, edges)
    sizes = {i: int(rng.integers(2, largest + 1)) for i in categories}
    parents = [group[0] if group else None for group in dag.parents]
    cells = [sizes.get(parent, 1) for parent in parents]
    tables = [
        {i: rng.dirichlet(np.full(sizes[i], 0.6), cells[i]) * 0.95 + 0.05 / sizes[i] for i in categories}
        for _ in range(n_classes)
    ]
    regressions = [
        {i: _regression(rng, cells[i]) for i in range(n_features) if i not in categories}
        for _ in range(n_classes)
    ]
    return MixedTree(dag, categories, sizes, tables, regressions)


def _regression(rng, cells):
    slope = rng.uniform(0.3, 1.2) * rng.choice((-1, 1))
    return np.column_stack([rng.normal(0, 1.2, cells), np.full(cells, slope), rng.uniform(0.5, 1.2, cells)])
