"""One mixed-integer program for Gurobi and SCIP, with perturbations added as they are violated.

Numbers are changes in standard deviations, whole ones tied to integers; each category has a binary for each
of its values; limits count indicators (a number changes, or it has today's value) and changed categories;
linear rules are rows. A perturbation adds a linear function to the margin, so there is one quadratic
constraint, however many of them there are. Tables of a category enter linearly; where a category is the
parent of another there is a variable for each pair of values, and where it is the parent of a number one for
that number times each value's binary: the numbers have no more than one category among their parents.
"""

import time

import numpy as np

from surefoot.proof.worst_case import worst_perturbation

MOST_SCENARIOS = 60


class Gurobi:
    """What a program needs of Gurobi, on one thread."""

    def __init__(self, gap):
        import gurobipy as gp

        self._gp = gp
        self._env = gp.Env(params={"OutputFlag": 0, "MIPGap": gap, "NonConvex": 2, "Threads": 1})
        self._model = gp.Model(env=self._env)
        self.total = gp.quicksum

    def variable(self, low=-np.inf, high=np.inf, kind="C"):
        return self._model.addVar(lb=low, ub=high, vtype=kind)

    def binary(self):
        return self._model.addVar(vtype="B")

    def add(self, constraint):
        self._model.addConstr(constraint)

    def stays_unless(self, changed, v):
        self._model.addConstr((changed == 0) >> (v == 0))

    def minimise(self, objective):
        self._model.setObjective(objective)

    def solve(self, seconds):
        """Whether there is a point; None if that is not known in time."""
        GRB, model = self._gp.GRB, self._model
        model.Params.TimeLimit = max(seconds, 0.0)
        model.optimize()
        known = {GRB.OPTIMAL: True, GRB.INFEASIBLE: False, GRB.INF_OR_UNBD: False}
        return known.get(model.Status)

    def value(self, v):
        return v.X

    @property
    def least(self):
        return self._model.ObjVal

    def close(self):
        self._model.dispose()
        self._env.dispose()


class Scip:
    """The same of SCIP."""

    def __init__(self, gap):
        from pyscipopt import Model, quicksum

        self._model = Model()
        self._model.hideOutput()
        self._model.setParam("limits/gap", gap)
        self.total = quicksum

    def variable(self, low=-np.inf, high=np.inf, kind="C"):
        ends = (None if np.isinf(end) else end for end in (low, high))
        return self._model.addVar(vtype=kind, **dict(zip(("lb", "ub"), ends, strict=True)))

    def binary(self):
        return self._model.addVar(vtype="B")

    def add(self, constraint):
        self._model.freeTransform()  # after a run nothing can be added before that
        self._model.addCons(constraint)

    def stays_unless(self, changed, v):
        low, high = v.getLbOriginal(), v.getUbOriginal()
        if self._model.isInfinity(-low) or self._model.isInfinity(high):
            stays = self.binary()
            self._model.addCons(stays + changed == 1)
            self._model.addConsIndicator(v <= 0, stays)
            self._model.addConsIndicator(-v <= 0, stays)
        else:  # with indicators SCIP called points optimal that are not, by as much as half
            self._model.addCons(v <= high * changed)
            self._model.addCons(v >= low * changed)

    def minimise(self, objective):
        self._model.setObjective(objective)

    def solve(self, seconds):
        """Whether there is a point; None if that is not known in time."""
        self._model.setParam("limits/time", max(seconds, 0.0))
        self._model.optimize()
        known = {"optimal": True, "gaplimit": True, "infeasible": False, "inforunbd": False}
        return known.get(self._model.getStatus())

    def value(self, v):
        return self._model.getVal(v)

    @property
    def least(self):
        return self._model.getObjVal()

    def close(self):
        self._model.freeProb()


SOLVERS = {"gurobi": Gurobi, "scip": Scip}


def solved(solver, family, gap, seconds, tolerance=1e-5):
    """Whether a solver finishes a family in time, and its distance (infinite without a point)."""
    end, backend = time.perf_counter() + seconds, SOLVERS[solver](gap / 2)
    try:
        program = Program(backend, family)
        program.withstand(np.zeros(len(family.factual)))
        for _ in range(MOST_SCENARIOS):
            found = backend.solve(end - time.perf_counter())
            if found is None:
                return False, np.nan
            if not found:
                return True, np.inf
            worst = worst_perturbation(family.problem(program.state, domain=family.domain), program.point)
            if worst.violation <= tolerance:
                return True, backend.least
            program.withstand(worst.perturbation)
        return False, np.nan
    finally:
        backend.close()


class Program:
    """The variables of a family in a solver."""

    def __init__(self, backend, family):
        (self.requirement,) = family.requirements
        if family.eithers:
            raise ValueError("this program knows no eithers")
        self.backend, self.family = backend, family
        self.unit = family.metric.unit
        self.y = self._numbers()
        self.binaries = [self._values(choice) for choice in family.choices]
        for row in family.domain.rows:
            self._row(row)
        for limit in family.limits:
            self._limit(limit)
        backend.minimise(self._way() + self._price())
        self.H = self._shape(family.today)
        self.bends = [bend for k in family.shaping for bend in self._bends(k)]
        self.slack = backend.variable()
        backend.add(self._margin() + self.slack >= 0)

    @property
    def point(self):
        """The numbers that the solver found."""
        return self.family.factual + np.array([self.backend.value(v) for v in self.y]) * self.unit

    @property
    def state(self):
        """And the categories."""
        return tuple(int(np.argmax([self._taken(b) for b in group])) for group in self.binaries)

    def _taken(self, b):
        return b if isinstance(b, float) else self.backend.value(b)

    def withstand(self, perturbation):
        """The margin must not be negative after a perturbation."""
        v = perturbation / self.unit
        added = self._shift(self.H, v, self.y, 1.0)
        for G, products, b in self.bends:
            added += self._shift(G, v, products, b)
        self.backend.add(self.slack <= added)

    def _shift(self, H, v, y, one):
        """H(y + v) - H(y), where ``one`` is 1 or the binary with which y is multiplied."""
        return self._sum(2 * H.matrix @ v, y) + float(v @ H.matrix @ v + H.vector @ v) * one

    def _sum(self, factors, variables):
        pairs = zip(np.asarray(factors).tolist(), variables, strict=True)
        return self.backend.total(a * v for a, v in pairs if a)

    def _numbers(self):
        domain, now = self.family.domain, self.family.factual
        low, high = (domain.low - now) / self.unit, (domain.high - now) / self.unit
        y = [self.backend.variable(a, b) for a, b in zip(low.tolist(), high.tolist(), strict=True)]
        for j in (s.feature for s in domain.sets):
            whole = self.backend.variable(float(domain.low[j]), float(domain.high[j]), "I")
            self.backend.add(y[j] * float(self.unit[j]) == whole - float(now[j]))
        return y

    def _values(self, choice):
        """A binary for each value that a category may take; plain numbers where it stays."""
        if not choice.is_open:
            return [float(v == choice.today) for v in range(len(choice.values))]
        group = [self.backend.binary() if v in choice.allowed else 0.0 for v in range(len(choice.values))]
        self.backend.add(self.backend.total(group) == 1)
        return group

    def _row(self, row):
        """A linear rule, about changes."""
        now = float(row.coefficients @ self.family.factual)
        change = self._sum(row.coefficients * self.unit, self.y)
        if np.isfinite(row.low):
            self.backend.add(change >= row.low - now)
        if np.isfinite(row.high):
            self.backend.add(change <= row.high - now)

    def _limit(self, limit):
        changed = {j: self.backend.binary() for j in limit.numbers}
        for j, binary in changed.items():
            self.backend.stays_unless(binary, self.y[j])
        today = [self.binaries[k][self.family.today[k]] for k in limit.categories]
        total = self.backend.total(changed.values()) - self.backend.total(today)
        self.backend.add(total <= limit.count - len(today))

    def _way(self):
        """The distance of the numbers, for p = inf and p = 1."""
        D, norm = self.family.metric.matrix * self.unit, self.family.metric.norm
        if norm == np.inf:
            sizes = [self.backend.variable(0.0)] * len(D)
        else:
            sizes = [self.backend.variable(0.0) for _ in D]
        for row, size in zip(D, sizes, strict=True):
            way = self._sum(row, self.y)
            self.backend.add(way <= size)
            self.backend.add(-way <= size)
        return sizes[0] if norm == np.inf else self.backend.total(sizes)

    def _price(self):
        """What changed categories cost."""
        groups = zip(self.family.choices, self.binaries, strict=True)
        return self.backend.total(
            choice.prices[v] * group[v] for choice, group in groups for v in choice.allowed
        )

    def _shape(self, state):
        """The margin's quadratic in a state, about changes, without what the categories add."""
        H = self.requirement.margin.shape(state)
        return H.in_coordinates(np.diag(self.unit), self.family.factual)

    def _bends(self, k):
        """What each other value of a category adds to the quadratic, with products of numbers and binary."""
        found = []
        for v in self.family.choices[k].allowed:
            state = list(self.family.today)
            state[k] = v
            G = self._shape(tuple(state)) - self.H
            moved = np.abs(G.matrix).any(axis=0) | (G.vector != 0)
            b = self.binaries[k][v]
            products = [self._product(j, b) if moved[j] else 0.0 for j in range(len(moved))]
            if moved.any() or G.constant:
                found.append((G, products, b))
        return found

    def _product(self, j, b):
        """A number's change where a binary is 1, else 0."""
        domain, now = self.family.domain, self.family.factual
        low, high = (float((end[j] - now[j]) / self.unit[j]) for end in (domain.low, domain.high))
        product, y = self.backend.variable(min(low, 0.0), max(high, 0.0)), self.y[j]
        for add in (product - low * b >= 0, product - high * b <= 0):
            self.backend.add(add)
        self.backend.add(y - product >= low * (1 - b))
        self.backend.add(y - product <= high * (1 - b))
        return product

    def _margin(self):
        """The margin at the point itself."""
        value = self._value(self.H, self.y, 1.0)
        for G, products, b in self.bends:
            value += self._value(G, products, b)
        for factor in self.requirement.margin.tables():
            value += self._table(factor)
        return value

    def _value(self, H, y, one):
        pairs = list(zip(*np.nonzero(H.matrix), strict=True))
        square = self.backend.total(float(H.matrix[i, j]) * y[i] * y[j] for i, j in pairs)
        return square + self._sum(H.vector, y) + float(H.constant) * one

    def _table(self, factor):
        """What a category adds, by itself or with its parent."""
        open_ = [k for k in factor.categories if self.family.choices[k].is_open]
        known = (slice(None) if k in open_ else self.family.today[k] for k in factor.categories)
        table, groups = factor.table[tuple(known)], [self.binaries[k] for k in open_]
        if not open_:
            return float(table)
        if len(open_) == 1:
            return self._sum(table, groups[0])
        first, second = groups
        pairs = [[self.backend.variable(0.0, 1.0) for _ in second] for _ in first]
        for both, b in zip([*pairs, *zip(*pairs, strict=True)], [*first, *second], strict=True):
            self.backend.add(self.backend.total(both) == b)
        return self.backend.total(self._sum(row, both) for row, both in zip(table, pairs, strict=True))
