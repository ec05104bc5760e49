"""Explanation documents made by hand: questions, points and proofs without the package's searches.

``explained(clf, question(clf, ...))`` finds a point by SLSQP, proves its distance and its robustness by
semidefinite programs over the certificate's own terms (with cuts where one program does not do), and
returns the document of docs/certificate.md. Only good for a handful of features.
"""

import functools
import itertools

import clarabel
import numpy as np
from scipy import linalg, optimize, sparse

from surefoot import ConditionalGaussianNetworkClassifier, datasets
from surefoot.model.content import classifier_content
from surefoot.model.file import FORMAT, VERSION, _checksum
from surefoot.proof import exact
from surefoot.status import Status

INF = np.inf


def leaf_holds(proof, leaf, path):
    """Whether a leaf holds; the way to it as pairs of a split in the file and the side taken."""
    try:
        return not exact.leaf_fault(proof, leaf, [exact.step(proof, node, side) for node, side in path])
    except exact.FaultError:
        return False


# --- classifiers ------------------------------------------------------------------------------------------


@functools.cache
def banknote(structure="tan"):
    """Four features, two classes."""
    bank = datasets.load_banknote()
    return ConditionalGaussianNetworkClassifier(structure=structure).fit(bank.X, bank.y)


@functools.cache
def banknote_row(number=0):
    return tuple(datasets.load_banknote().X.iloc[number].tolist())


@functools.cache
def small(n=2, classes=2, seed=0, rows=300, structure="tan"):
    """Synthetic data; class labels "a", "b", ..."""
    data = datasets.synthetic(rows, n, n_classes=classes, class_separation=2.5, random_state=seed)
    y = np.array(list("abcdef"))[np.unique(data.y, return_inverse=True)[1]]
    return ConditionalGaussianNetworkClassifier(structure=structure).fit(data.X, y)


def mean_of(clf, label):
    """The centre of a class: a handy factual."""
    return clf.networks_[clf.classes_.tolist().index(label)].means.copy()


def model_document(clf):
    """What ``clf.save`` writes."""
    content = classifier_content(clf)
    return {"format": FORMAT, "version": VERSION, "sha256": _checksum(content), "model": content}


# --- the question -----------------------------------------------------------------------------------------


def plain(value):
    """JSON values: infinities as words, not-a-number as null."""
    if isinstance(value, dict):
        return {name: plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    if isinstance(value, float) and not np.isfinite(value):
        return None if np.isnan(value) else ("inf" if value > 0 else "-inf")
    return value


def question(
    clf, factual, target, *, norm=INF, whitening="cholesky", budget=0.05, ball_norm=None, exact=(),
    threshold=0.5, low=None, high=None, rows=(), sets=(), extra=(), gap=0.1, others=(), eithers=(), limits=(),
    prices=None,
):  # fmt: skip
    """A question document.

    Parameters
    ----------
    budget : float or dict
        By feature: ``{number: (down, up)}``.
    rows : list of (coefficients, low, high)
    sets : list of (feature, values or None)
    extra : list of dict
        Further requirements.
    others : list of classifiers
        Models 1, 2, ... that ``extra`` names.
    eithers : list of list of ways
        A way is a list of rows as above.
    limits : list of (count, features)
    prices : list of (up, down)
        Makes the distance a cost.
    """
    n, labels = clf.n_features_in_, clf.classes_.tolist()
    factual = np.asarray(factual, dtype=float)
    rivals = [label for label in labels if label != target]
    odds = {"kind": "odds", "model": 0, "target": target, "threshold": threshold, "robust": True}
    if isinstance(budget, dict):
        ball = {
            "norm": "inf",
            "budget": {str(j): list(ends) for j, ends in budget.items()},
            "exact": [j for j in range(n) if j not in budget],
        }
    else:
        ball = {"norm": norm if ball_norm is None else ball_norm, "budget": budget, "exact": list(exact)}
    return plain(
        {
            "format": "surefoot-question",
            "version": 3,
            "models": [model.fingerprint_ for model in (clf, *others)],
            "features": list(clf.feature_labels_),
            "factual": factual,
            "factual_class": labels[int(np.argmax(joint(clf, factual)))],
            "target": target,
            "distance": {
                "kind": "mahalanobis" if prices is None else "cost",
                "whitening": whitening,
                "norm": norm,
                "prices": None if prices is None else [list(pair) for pair in prices],
            },
            "ball": ball,
            "requirements": [{**odds, "rival": rival} for rival in rivals] + list(extra),
            "domain": {
                "low": np.full(n, -INF) if low is None else np.asarray(low, dtype=float),
                "high": np.full(n, INF) if high is None else np.asarray(high, dtype=float),
                "rows": [row_entry(*row, f"row {k}") for k, row in enumerate(rows)],
                "sets": [{"feature": j, "values": None if v is None else list(v)} for j, v in sets],
                "eithers": [
                    {
                        "name": f"either {e}",
                        "ways": [{"rows": [row_entry(*row) for row in way], "values": []} for way in ways],
                    }
                    for e, ways in enumerate(eithers)
                ],
                "limits": [
                    {"name": f"limit {k}", "count": count, "numbers": list(numbers), "categories": []}
                    for k, (count, numbers) in enumerate(limits)
                ],
                "declared": {},
            },
            "choices": [],
            "warps": None,
            "gap": gap,
        }
    )


def row_entry(coefficients, low, high, name=""):
    return {"coefficients": list(coefficients), "low": low, "high": high, "name": name}


def number(value):
    return float(value)


def row_of(entry):
    return np.array(entry["coefficients"]), number(entry["low"]), number(entry["high"])


def interval(a):
    """The feature of a row about one alone."""
    used = np.flatnonzero(a)
    return int(used[0]) if len(used) == 1 and a[used[0]] == 1 else None


def majorant(requirement, origin, moving):
    """Twice a requirement in (z, 1) as the exact checker has it, in one matrix."""
    block, line = requirement.block(moving), requirement.line(origin, moving)
    size = len(line.whole)
    rows = exact.Quadratic([*block.rows, [0] * size], block.shift)
    return exact.added([(1, 0, rows)], size, [(1, 0, line)])


def joint(clf, x):
    """Log h_c(x) of every class."""
    x = np.asarray(x, dtype=float)[None]
    return np.array([net.log_density(x)[0] for net in clf.networks_]) + np.log(clf.class_prior_)


class Geometry:
    """D, N and the requirements of a question, in floating point."""

    def __init__(self, models, asked):
        clf = self.clf = models[0]
        self.models, self.asked, self.n = models, asked, clf.n_features_in_
        self.labels = clf.classes_.tolist()
        self.factual = np.array(asked["factual"])
        self.network = clf.networks_[self.labels.index(asked["factual_class"])]
        self.p = number(asked["distance"]["norm"])
        self.kind = asked["distance"]["whitening"]
        self.M = symmetric(self.network.whitening(self.kind).matrix, self.kind)
        self.prices = asked["distance"]["prices"]
        self.D = self.M if self.prices is None else np.diag(1 / np.sqrt(np.diag(self.network.covariance)))
        self.up, self.down = np.ones((2, self.n)) if self.prices is None else np.array(self.prices).T
        self.free = [j for j in range(self.n) if j not in asked["ball"]["exact"]]
        self.q, budget = number(asked["ball"]["norm"]), asked["ball"]["budget"]
        self.by_feature = isinstance(budget, dict)
        k = len(self.free)
        self.half, self.center, self.budget = np.ones(k), np.zeros(k), budget
        if self.by_feature:
            down, up = np.array([budget[str(j)] for j in self.free]).reshape(-1, 2).T
            self.half, self.center, self.budget = (up + down) / 2, (up - down) / 2, 1.0
            self.N = np.eye(k)
        else:
            self.N = self.M if k == self.n else self._block()
        is_metric = k == self.n and self.prices is None
        self.stated_ball = None if self.by_feature or is_metric or not k else self.N
        self.g = [self._requirement(entry) for entry in asked["requirements"]]
        self.robust = [entry["robust"] for entry in asked["requirements"]]
        domain = asked["domain"]
        self.low, self.high = (np.array([number(v) for v in domain[end]]) for end in ("low", "high"))
        self.rows = [row_of(entry) for entry in domain["rows"]]
        self.eithers = [
            [[row_of(entry) for entry in way["rows"]] for way in e["ways"]] for e in domain["eithers"]
        ]
        self.limits = [(entry["count"], entry["numbers"]) for entry in domain["limits"]]
        self.sets = {entry["feature"]: entry["values"] for entry in domain["sets"]}

    def _block(self):
        P = self.network.precision[np.ix_(self.free, self.free)]
        if self.kind == "cholesky":
            return linalg.cholesky(P)
        if self.kind == "zca":
            values, vectors = linalg.eigh(P)
            return symmetric((vectors * np.sqrt(values)) @ vectors.T, "zca")
        order = [self.free.index(j) for j in topological(self.clf.dag_.parents) if j in self.free]
        backwards = order[::-1]
        R = linalg.cholesky(P[np.ix_(backwards, backwards)])
        N = np.zeros_like(P)
        N[np.ix_(backwards, backwards)] = R
        return N

    def _requirement(self, entry):
        clf = self.models[entry["model"]]
        labels = clf.classes_.tolist()
        if entry["kind"] == "density":
            return clf.networks_[labels.index(entry["class"])].log_density_quadratic() - entry["floor"]
        tau = entry["threshold"]
        return clf.decision_quadratic(entry["target"], entry["rival"]) - float(np.log(tau) - np.log1p(-tau))

    def embed(self, w, radius=None):
        """The perturbation of the features with ball coordinates w (of norm at most 1 times the radius)."""
        radius = self.budget if radius is None else radius
        d = np.zeros(self.n)
        if self.by_feature:
            d[self.free] = w * self.half + radius * self.center
        elif self.free:
            d[self.free] = np.linalg.solve(self.N, w)
        return d

    def distance(self, x):
        return float(np.linalg.norm(self.paid(self.D @ (x - self.factual)), ord=self.p))

    def paid(self, u):
        """What the distance is a norm of."""
        return u if self.prices is None else np.maximum(self.up * u, -self.down * u)

    def homogeneous(self, g, origin, columns):
        """Matrix of g at origin + columns z, in (z, 1)."""
        moved = g.in_coordinates(columns, origin)
        return square(moved.matrix, moved.vector, float(moved.constant))


def square(Q, q, c):
    return np.block([[np.asarray(Q), np.asarray(q)[:, None] / 2], [np.asarray(q)[None] / 2, np.array([[c]])]])


def symmetric(matrix, kind):
    return (matrix + matrix.T) / 2 if kind == "zca" else matrix


def topological(parents):
    """The order that takes the smallest feature number first."""
    order, left = [], set(range(len(parents)))
    while left:
        ready = min(j for j in left if not set(parents[j]) & left)
        order.append(ready)
        left.remove(ready)
    return order


# --- points -----------------------------------------------------------------------------------------------


def lowest(geo, x, r, radius=None, seed=0):
    """A bad perturbation for requirement r at x (found, not proved)."""
    radius = geo.budget if radius is None else radius
    k = len(geo.free)
    if k == 0 or radius == 0:
        return np.zeros(geo.n)
    rng = np.random.default_rng(seed)
    starts = [*np.eye(k), *-np.eye(k), *rng.choice([-1.0, 1.0], (8, k)), *rng.normal(size=(4, k))]
    if geo.q == INF and k <= 5:
        starts = [np.array(s) for s in itertools.product((-1.0, 1.0), repeat=k)] + starts
    best, value = np.zeros(k), INF
    for w in starts:
        w = inside(w, geo.q, radius)
        for _ in range(60):
            d = geo.embed(w, radius)
            slope = np.linalg.solve(geo.N.T, geo.g[r].gradient(x + d)[geo.free]) * geo.half
            step = inside(w - 0.3 * radius * slope / max(np.linalg.norm(slope), 1e-12), geo.q, radius)
            if geo.g[r](x + geo.embed(step, radius)) >= geo.g[r](x + d) - 1e-12:
                break
            w = step
        found = float(geo.g[r](x + geo.embed(w, radius)))
        if found < value:
            best, value = w, found
    return geo.embed(best * (1 - 1e-12), radius)


def inside(w, q, radius):
    """The point pulled into the ball (clipped for q = inf, scaled otherwise)."""
    if q == INF:
        return np.clip(w, -radius, radius)
    return w * min(1.0, radius / max(np.linalg.norm(w, ord=q), 1e-300))


def nearest(geo, scenarios, fixed=(), margin=1e-4, seed=0, rows=()):
    """SLSQP from a few starts: least distance such that every requirement holds in every scenario."""
    n, p, back = geo.n, geo.p, np.linalg.inv(geo.D)
    pairs = [(r, d) for r in range(len(geo.g)) for d in (scenarios if geo.robust[r] else [np.zeros(n)])]

    def point(v):
        return geo.factual + back @ v[:n]

    limits = [
        {
            "type": "ineq",
            "fun": lambda v: np.array([float(geo.g[r](point(v) + d)) - margin for r, d in pairs]),
        }
    ]
    for a, low, high in [*geo.rows, *rows, *((np.eye(n)[j], geo.low[j], geo.high[j]) for j in range(n))]:
        if low == high:
            limits.append({"type": "eq", "fun": lambda v, a=a, b=low: np.array([a @ point(v) - b])})
            continue
        for sign, end in ((1, low), (-1, high)):
            if np.isfinite(end):
                limits.append(
                    {"type": "ineq", "fun": lambda v, a=a, s=sign, b=end: np.array([s * (a @ point(v) - b)])}
                )
    for j, value in fixed:
        limits.append({"type": "eq", "fun": lambda v, j=j, b=value: np.array([point(v)[j] - b])})
    up, down = geo.up, geo.down
    if p == 2:
        cost = lambda v: geo.paid(v) @ geo.paid(v)  # noqa: E731
    else:
        cost = lambda v: v[n:].sum()  # noqa: E731
        within = lambda v: np.concatenate([v[n:] - up * v[:n], v[n:] + down * v[:n]])  # noqa: E731
        limits.append({"type": "ineq", "fun": within})
    extra = {2.0: 0, INF: 1, 1.0: n}[p]
    rng = np.random.default_rng(seed)
    t = geo.labels.index(geo.asked["target"])
    towards = geo.D @ (geo.clf.networks_[t].means - geo.factual)
    best, length = None, INF
    for start in [towards, towards / 2, *(towards + rng.normal(size=(4, n)))]:
        v0 = np.concatenate([start, np.full(extra, np.abs(start).max())])
        found = optimize.minimize(cost, v0, method="SLSQP", constraints=limits, options={"maxiter": 200})
        x = tidy(geo, point(found.x), fixed, rows)
        feasible = all(geo.g[r](x + d) >= margin / 2 for r, d in pairs) and allowed(geo, x, rows)
        if feasible and geo.distance(x) < length:
            best, length = x, geo.distance(x)
    return best


def tidy(geo, x, fixed, rows=()):
    x = np.clip(x, geo.low, geo.high)
    for a, low, high in rows:
        if interval(a) is not None:
            x[interval(a)] = min(max(x[interval(a)], low), high)
    for j, value in fixed:
        x[j] = value
    return x


def allowed(geo, x, rows=()):
    for a, low, high in [*geo.rows, *rows]:
        slack = 1e-9 * np.abs(a * x).sum() if low == high else 0.0
        if not low - slack <= a @ x <= high + slack:
            return False
    return bool((x >= geo.low).all() and (x <= geo.high).all())


def robust_point(geo):
    """A point that survives the perturbations that were found; and these."""
    scenarios = [np.zeros(geo.n)]
    combos = [()]
    if geo.sets:
        relaxed = nearest(geo, scenarios)
        choices = [sorted(values_of(geo, j), key=lambda v, j=j: abs(v - relaxed[j]))[:2] for j in geo.sets]
        combos = [tuple(zip(geo.sets, combo, strict=True)) for combo in itertools.product(*choices)]
    combos = [(*combo, *kept) for combo in combos for kept in kept_sets(geo)]
    ways = [[row for way in taken for row in way] for taken in itertools.product(*geo.eithers)]
    for _ in range(12):
        found = [nearest(geo, scenarios, fixed, margin=2e-3, rows=rows) for fixed in combos for rows in ways]
        found = [x for x in found if x is not None]
        if not found:
            return None, scenarios
        x = min(found, key=geo.distance)
        new = [lowest(geo, x, r) for r in range(len(geo.g)) if geo.robust[r]]
        robust = [geo.g[r] for r in range(len(geo.g)) if geo.robust[r]]
        bad = [d for g, d in zip(robust, new, strict=True) if g(x + d) < 1e-3]
        if not bad:
            return x, scenarios
        scenarios += bad
    raise AssertionError("no robust point was found")


def kept_sets(geo):
    """Which features keep today's value, in every way that the limits leave."""
    named = sorted({j for _, numbers in geo.limits for j in numbers})
    for flags in itertools.product((True, False), repeat=len(named)):
        changed = {j for j, kept in zip(named, flags, strict=True) if not kept}
        if all(len(changed & {*numbers}) <= count for count, numbers in geo.limits):
            yield tuple((j, geo.factual[j]) for j in named if j not in changed)


def values_of(geo, j):
    values, now = geo.sets[j], geo.factual[j]
    if values is None:
        reach = int(np.ceil(8 * np.sqrt(geo.network.covariance[j, j])))
        values = range(int(np.floor(now)) - reach, int(np.ceil(now)) + reach + 1)
    return sorted({*map(float, values), float(now)})


# --- proofs -----------------------------------------------------------------------------------------------


class Prover:
    """Leaves by semidefinite programs, trees by halving the widest coordinate.

    ``metric`` maps z to u. Forms are rows over (z, 1). A ``cross_limit`` above 1 makes forgeries.
    """

    def __init__(
        self, metric, p, requirements, half=None, scenarios=(), geo=None, first=(), directions=(),
        cross_limit=1.0,
    ):  # fmt: skip
        self.metric, self.p, self.requirements, self.geo = metric, p, requirements, geo
        self.n, self.first, self.directions = len(metric), list(first), [np.asarray(y) for y in directions]
        self.half = np.ones(self.n) if half is None else half
        self.cross_limit = cross_limit
        self.scenarios = list(scenarios)

    def document(self, tree):
        return plain({"directions": self.directions, "scenarios": self.scenarios, "tree": tree})

    def tree(self, level, depth=14, path=()):
        """A node that proves that the piece holds nothing within the level."""
        leaf = self.leaf(level, path) if len(path) >= len(self.first) else None
        if leaf is not None:
            return leaf
        if depth == 0:
            raise AssertionError("the piece resists")
        step = self.first[len(path)] if len(path) < len(self.first) else self.split(level, path)
        kind, where = step
        if kind == "either":
            ways = range(len(self.geo.eithers[where]))
            nodes = [self.tree(level, depth - 1, (*path, (*step, way))) for way in ways]
            return {"either": where, "ways": nodes}
        sides = ("no", "yes") if kind == "changed" else ("below", "above")
        nodes = {side: self.tree(level, depth - 1, (*path, (*step, side))) for side in sides}
        return {kind: where, **nodes}

    def split(self, level, path):
        if self.geo is not None:
            taken = [where for kind, where, _ in path if kind == "either"]
            left = [e for e in range(len(self.geo.eithers)) if e not in taken]
            if left:
                return "either", left[0]
            decided = {*self.kept(path), *self.counted(path)}
            left = [j for _, numbers in self.geo.limits for j in numbers if j not in decided]
            if left:
                return "changed", left[0]
        if self.costs and self.p != INF:  # the sides of today's value
            low, high = self.feature_ends(path)
            both = np.flatnonzero((low < self.geo.factual) & (self.geo.factual < high))
            if len(both):
                return "cut", [["x", int(both[0])], float(self.geo.factual[both[0]])]
        chosen = self.open_choice(level, path)
        if chosen is not None:
            return "choice", chosen
        low, high = self.ranges(level, path)
        i = int(np.argmax((high - low) / self.half))
        return "cut", [["u", i], float((low[i] + high[i]) / 2)]

    def counted(self, path):
        return {where for kind, where, side in path if kind == "changed" and side == "yes"}

    def kept(self, path):
        """Features with today's value, as splits and limits that are used up say."""
        found = {where for kind, where, side in path if kind == "changed" and side == "no"}
        counted = self.counted(path)
        for count, numbers in self.geo.limits:
            if len(counted & {*numbers}) >= count:
                found |= {*numbers} - counted
        return found

    def way_rows(self, path):
        """Rows of the ways that were taken, with the names of their functions."""
        return [
            (k, i, row)
            for k, (kind, where, side) in enumerate(path)
            if kind == "either"
            for i, row in enumerate(self.geo.eithers[where][side])
        ]

    def open_choice(self, level, path):
        """Two neighbours of a declared set, both still within reach."""
        for j in self.geo.sets if self.geo else ():
            low, high = self.feature_ends(path)
            reach = 10.0 if np.isinf(level) else level
            reach = reach * np.sqrt(self.geo.network.covariance[j, j])
            a = max(low[j], self.geo.factual[j] - reach)
            b = min(high[j], self.geo.factual[j] + reach)
            values = values_of(self.geo, j)
            if not any(a <= v <= b for v in values) and b > a:
                below = max((v for v in values if v < a), default=None)
                above = min((v for v in values if v > b), default=None)
                return None if below is None or above is None else [j, below, above]
            within = [v for v in values if a <= v <= b]
            if len(within) > 1:
                k = len(within) // 2
                return [j, within[k - 1], within[k]]
        return None

    def ranges(self, level, path):
        level = min(level, 50.0)
        low, high = -level * self.half, level * self.half
        if self.geo is not None:
            low, high = low / self.geo.down, high / self.geo.up
        for kind, where, side in path:
            if kind == "cut" and where[0][0] == "u":
                i, at = where[0][1], where[1]
                if side == "below":
                    high[i] = min(high[i], at)
                else:
                    low[i] = max(low[i], at)
        return low, high

    def feature_ends(self, path):
        low, high = self.geo.low.copy(), self.geo.high.copy()
        ends = [(j, self.geo.factual[j], self.geo.factual[j]) for j in self.kept(path)]
        ends += [(interval(a), p, q) for _, _, (a, p, q) in self.way_rows(path) if interval(a) is not None]
        for j, p, q in ends:
            low[j], high[j] = max(low[j], p), min(high[j], q)
        for kind, where, side in path:
            if kind in ("either", "changed"):
                continue
            if kind == "choice" or where[0][0] == "x":
                j, a, b = where if kind == "choice" else (where[0][1], where[1], where[1])
                if side == "below":
                    high[j] = min(high[j], a)
                else:
                    low[j] = max(low[j], b)
        return low, high

    def form(self, entry, path, level):
        """Row over (z, 1) of an affine function of the page."""
        row = np.zeros(self.n + 1)
        if entry[0] == "1":
            row[-1] = 1
        elif entry[0] == "c" and len(entry) == 4:
            kind, where, side = path[entry[1]]
            a, *ends = self.geo.eithers[where][side][entry[2]]
            row[:-1], row[-1] = a, float(a @ self.geo.factual) - ends[entry[3] == "high"]
            row *= 1 if entry[3] == "low" else -1
        elif entry[0] == "c":
            kind, where, side = path[entry[1]]
            if kind == "choice":
                function, at = ["x", where[0]], where[1] if side == "below" else where[2]
            else:
                function, at = where
            row[:-1], row[-1] = self.function(function)
            row[-1] -= at
            row *= -1 if side == "below" else 1
        elif entry[0] == "a":
            row[-1] = entry[1]
            for i, y in entry[2]:
                row[:-1] += y * self.metric[i]
        else:
            row[:-1], row[-1] = self.function([entry[0], entry[1]])
            if entry[0] == "x":
                ends = self.geo.low[entry[1]], self.geo.high[entry[1]]
            else:
                ends = self.geo.rows[entry[1]][1:]
            row[-1] -= ends[0] if entry[2] == "low" else ends[1]
            row *= 1 if entry[2] == "low" else -1
        return row

    def function(self, function):
        kind, i = function
        if kind == "u":
            return self.metric[i], 0.0
        if kind == "d":
            return self.directions[i] @ self.metric, 0.0
        if kind == "x":
            return np.eye(self.n)[i], self.geo.factual[i]
        a = self.geo.rows[i][0]
        return a, float(a @ self.geo.factual)

    def terms(self, level, path):
        """Pairs of an entry of the leaf (without weight) and the matrix of its function in (z, 1)."""
        n, found = self.n, []
        last = np.zeros((n + 1, n + 1))
        last[-1, -1] = 1
        lift = np.column_stack([self.metric, np.zeros(n)])
        if np.isfinite(level):
            rates = self.rates(path)
            if self.p == INF and self.costs:
                for i in range(n):
                    one, other = np.zeros((2, n + 1))
                    one[[i, n]] = 1, level / (self.geo.down[i] * self.metric[i, i])
                    other[[i, n]] = -1, level / (self.geo.up[i] * self.metric[i, i])
                    found.append((("norm", i), (np.outer(one, other) + np.outer(other, one)) / 2))
            elif self.p == INF:
                for i in range(n):
                    size = (level * self.half[i]) ** 2
                    found.append((("norm", i), size * last - np.outer(lift[i], lift[i])))
            else:
                lift = rates[:, None] * lift
                found.append((("norm", 0), level**2 * last - lift.T @ lift))
        for a, b in self.pairs(level, path):
            f, g = self.form(a, path, level), self.form(b, path, level)
            found.append((("products", a, b), (np.outer(f, g) + np.outer(g, f)) / 2))
        for r, s, matrix in self.requirements:
            found.append((("requirements", r, s), matrix))
        for j, a, b in self.gaps(level, path):
            row = np.zeros(n + 1)
            row[j], row[-1] = 1, self.geo.factual[j]
            f, g = row - a * np.eye(n + 1)[-1], row - b * np.eye(n + 1)[-1]
            found.append((("between", j, a, b), (np.outer(f, g) + np.outer(g, f)) / 2))
        return found

    @property
    def costs(self):
        return self.geo is not None and self.geo.prices is not None

    def rates(self, path):
        """What each entry of u costs at least on the piece."""
        if not self.costs:
            return np.ones(self.n)
        low, high = self.feature_ends(path)
        up, down, now = self.geo.up, self.geo.down, self.geo.factual
        return np.where(low >= now, up, np.where(high <= now, down, np.minimum(up, down)))

    def pairs(self, level, path):
        found = [(["c", k], ["1"]) for k, step in enumerate(path) if step[0] in ("cut", "choice")]
        for k, i, row in self.way_rows(path) if self.geo is not None else ():
            sides = [
                ["c", k, i, side]
                for side, end in zip(("low", "high"), row[1:], strict=True)
                if np.isfinite(end)
            ]
            found += [(entry, ["1"]) for entry in sides]
            found += [tuple(sides)] if len(sides) == 2 else []
        sides = {}
        for k, (kind, where, side) in enumerate(path):
            if kind == "cut" and where[0][0] == "u":
                sides[where[0][1], side] = ["c", k]
        if np.isfinite(level):
            up, down = (self.geo.up, self.geo.down) if self.geo is not None else np.ones((2, self.n))
            for i in range(self.n):
                falls, rises = (float(np.nextafter(level * self.half[i] / p[i], INF)) for p in (down, up))
                sides.setdefault((i, "above"), ["a", falls, [[i, 1.0]]])
                sides.setdefault((i, "below"), ["a", rises, [[i, -1.0]]])
        cut = {where[0][1] for kind, where, _ in path if kind == "cut" and where[0][0] == "u"}
        if np.isfinite(level):
            found += [(sides[i, "above"], sides[i, "below"]) for i in cut]
        if self.p == INF and np.isfinite(level):
            for i, j in itertools.combinations(range(self.n), 2):
                found += [(sides[i, a], sides[j, b]) for a in ("above", "below") for b in ("above", "below")]
        if self.geo is not None:
            ends = [
                (["x", j, side], end[j])
                for side, end in (("low", self.geo.low), ("high", self.geo.high))
                for j in range(self.n)
            ]
            ends += [
                (["r", k, side], row[1 if side == "low" else 2])
                for k, row in enumerate(self.geo.rows)
                for side in ("low", "high")
            ]
            finite = [entry for entry, end in ends if np.isfinite(end)]
            found += [(entry, ["1"]) for entry in finite]
            found += [(a, b) for a, b in itertools.combinations(finite, 2) if a[:2] == b[:2]]
        return found

    def gaps(self, level, path):
        found = []
        for j in self.geo.sets if self.geo else ():
            values, here = values_of(self.geo, j), self.feature_ends(path)
            near = [v for v in values if here[0][j] <= v <= here[1][j]]
            near = sorted(near, key=lambda v, j=j: abs(v - self.geo.factual[j]))[:8]
            found += [(j, a, b) for a, b in itertools.pairwise(sorted(near)) if b - a <= 1 or len(near) <= 8]
        return [(j, a, b) for j, a, b in found if not any(a < v < b for v in values_of(self.geo, j))]

    def leaf(self, level, path):
        """The document of a leaf, or None where the program finds no weights."""
        empty = {"level": level, "norm": [], "cross": [], "products": [], "requirements": [], "between": []}
        low, high = self.ranges(level, path)
        fixed = {}
        if self.geo is not None:
            a, b = self.feature_ends(path)
            if (a > b).any():
                return plain(empty)
            fixed = {j: a[j] - self.geo.factual[j] for j in range(self.n) if a[j] == b[j]}
        if (low > high).any():
            return plain(empty)
        terms = self.terms(level, path)
        pairs = list(itertools.combinations(range(self.n), 2)) if self.p == 1 and np.isfinite(level) else []
        scaled = self.rates(path)[:, None] * self.metric
        crosses = [-np.pad(np.outer(scaled[i], scaled[j]), (0, 1)) for i, j in pairs]
        basis = self.basis(fixed)
        solved = weights([m for _, m in terms], [c + c.T for c in crosses], basis, self.cross_limit)
        if solved is None:
            return None
        for (entry, _), weight in zip(terms, solved[0], strict=True):
            if entry[0] == "norm":
                empty["norm"].append(weight)
            elif weight > 1e-12:
                empty[entry[0]].append([weight, *entry[1:]])
        empty["cross"] = [[i, j, float(x)] for (i, j), x in zip(pairs, solved[1], strict=True) if x]
        return plain(empty)

    def basis(self, fixed):
        """Columns that span the (z, 1) still possible, scaled to be near orthonormal in u."""
        free = [j for j in range(self.n) if j not in fixed]
        B = np.zeros((self.n + 1, len(free) + 1))
        if free:
            R = np.linalg.qr(self.metric[:, free], mode="r")
            B[np.ix_(free, range(len(free)))] = np.linalg.inv(R)
        B[-1, -1] = 1
        for j, value in fixed.items():
            B[j, -1] = value
        return B


def weights(terms, crosses, basis, limit=1.0):
    """Weights w >= 0, and abs(cross) <= limit times the first, with a negative definite sum; or None."""
    size, k, c = basis.shape[1], len(terms), len(crosses)
    moved = [basis.T @ m @ basis for m in [*terms, *crosses]]
    sizes = np.array([np.abs(m).max() for m in moved])
    scale = np.where(
        sizes > 1e-9, 1 / np.maximum(sizes, 1e-9), 0.0
    )  # functions that vanish here are left out
    if c:
        scale[k:] = scale[0]
    upper = [(i, j) for j in range(size) for i in range(j + 1)]
    factor = np.array([1.0 if i == j else np.sqrt(2) for i, j in upper])

    def svec(m):
        return factor * np.array([m[i, j] for i, j in upper])

    # Variables: t, w (k), x (c). The matrix -sum - t I must be positive semidefinite.
    program = np.column_stack(
        [-svec(np.eye(size)), *(-s * svec(m) for s, m in zip(scale, moved, strict=True))]
    )
    variables = 1 + k + c
    lines = [np.concatenate([[0.0], np.ones(k), np.zeros(c)])]
    lines += [-row for row in np.eye(variables)[1 : k + 1]]
    for x in range(c):
        for sign in (1.0, -1.0):
            row = np.zeros(variables)
            row[1], row[1 + k + x] = -limit, sign
            lines.append(row)
    A = sparse.csc_matrix(np.vstack([np.array(lines), -program]))
    b = np.concatenate([[1.0], np.zeros(len(lines) - 1), np.zeros(len(upper))])
    cones = [clarabel.NonnegativeConeT(len(lines)), clarabel.PSDTriangleConeT(size)]
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    cost = np.zeros(variables)
    cost[0] = -1.0
    found = clarabel.DefaultSolver(
        sparse.csc_matrix((variables, variables)), cost, A, b, cones, settings
    ).solve()
    if "Solved" not in str(found.status):
        return None
    x = np.array(found.x)
    w = np.where(x[1 : k + 1] > 1e-10, x[1 : k + 1], 0.0) * scale[:k]
    w = w / max(w.max(), 1e-300)
    cross = x[k + 1 :] * scale[k:] / max((x[1 : k + 1] * scale[:k]).max(), 1e-300)
    if c:
        cross = np.clip(cross, -limit * w[0], limit * w[0])
    total = sum((v * m for v, m in zip([*w, *cross], moved, strict=True)), np.zeros((size, size)))
    d = np.sqrt(np.maximum(np.diag(-total), 1e-300))
    return (w.tolist(), cross.tolist()) if np.linalg.eigvalsh(-total / np.outer(d, d))[0] > 1e-9 else None


def bound_proof(geo, level, scenarios, depth=14, **prover_options):
    """A proof that no allowed point lies within the level; ``first`` are splits it has to begin with."""
    used = [np.zeros(geo.n), *(d for d in scenarios if d.any())]
    eye = np.eye(geo.n)
    requirements = [
        (r, s - 1, geo.homogeneous(g, geo.factual + d, eye))
        for r, g in enumerate(geo.g)
        for s, d in enumerate(used)
        if s == 0 or geo.robust[r]
    ]
    prover = Prover(geo.D, geo.p, requirements, scenarios=used[1:], geo=geo, **prover_options)
    return prover.document(prover.tree(level, depth))


def robustness_proof(geo, x, radius, slack, depth=14, **prover_options):
    """The document's "robustness"; ``first`` are splits its trees have to begin with."""
    proofs = []
    for r, g in enumerate(geo.g):
        if not geo.robust[r]:
            continue
        floor = slack if geo.asked["requirements"][r]["kind"] == "odds" else 0.0
        columns, origin = np.eye(geo.n)[:, geo.free], x.copy()
        if np.isfinite(radius):
            origin[geo.free] += radius * geo.center
        matrix = geo.homogeneous(g, origin, columns)
        matrix[-1, -1] -= floor
        half = geo.half if geo.by_feature else None
        prover = Prover(geo.N, geo.q, [(0, -1, -matrix)], half=half, **prover_options)
        proofs.append(prover.document(prover.tree(radius, depth)))
    return plain({"radius": radius, "slack": slack, "proofs": proofs})


# --- the document -----------------------------------------------------------------------------------------


def series(geo, values):
    return {"names": list(geo.clf.feature_labels_), "values": [float(v) for v in values]}


def document(
    models, asked, *, x=None, worst=None, bound=None, lower_bound=0.0, robustness=None, radius=0.0,
    status=None, method="certified", tol=1e-3, row=None, seconds=0.01,
):  # fmt: skip
    """The explanation file of a point (or of none), every number computed as the package does."""
    geo, labels = Geometry(models, asked), models[0].classes_.tolist()
    clf, t = models[0], models[0].classes_.tolist().index(asked["target"])
    distance = INF if x is None else geo.distance(x)
    lower_bound = lower_bound if status == Status.INFEASIBLE else min(lower_bound, distance)
    odds = [r for r, entry in enumerate(asked["requirements"]) if entry["kind"] == "odds"]
    there = None if worst is None else x + worst
    violation = INF if worst is None else max(-float(geo.g[r](there)) for r in odds)
    status = Status.OPTIMAL if status is None else Status(status)
    chance = lambda at: None if at is None else probability(clf, at, t)  # noqa: E731
    content = {
        "format": "surefoot-explanation",
        "version": 4,
        "question": asked,
        "certificate": {
            "format": "surefoot-certificate",
            "version": 3,
            "metric": geo.D,
            "ball": geo.stated_ball,
            "bound": bound,
            "states": None,
            "robustness": robustness,
            "worst": worst,
        },
        "status": str(status),
        "message": status.sentence,
        "factual": series(geo, geo.factual),
        "counterfactual": None if x is None else series(geo, x),
        "factual_class": asked["factual_class"],
        "target": asked["target"],
        "decision": None if x is None else labels[int(np.argmax(joint(clf, x)))],
        "factual_probability": chance(geo.factual),
        "probability": chance(x),
        "worst_probability": chance(there),
        "distance": distance,
        "lower_bound": lower_bound,
        "gap": 0.0 if distance == 0 else (distance - lower_bound) / distance if distance < INF else INF,
        "budget": asked["ball"]["budget"],
        "norm": asked["distance"]["norm"],
        "whitening": asked["distance"]["whitening"],
        "threshold": next(e["threshold"] for e in asked["requirements"] if e["kind"] == "odds"),
        "certified_radius": radius,
        "coverage": 0.0 if x is None else 1.0 if radius >= geo.budget else radius / geo.budget,
        "violation": violation,
        "early_stop": bool(distance > 0 and 0 < violation <= tol),
        "tol": tol,
        "unit": series(geo, np.sqrt(np.diag(geo.network.covariance))),
        "parents": [list(group) for group in clf.dag_.parents],
        "expected_before": series(geo, geo.network.expected(geo.factual)),
        "expected_after": None,
        "z_score": None,
        "density_percentile": None,
        "model": clf.fingerprint_,
        "method": method,
        "backend": "",
        "seconds": seconds,
        "iterations": [],
        "row": row,
        "advice": "",
        "conflict": [],
        "cautions": [],
        "model_share": None,
    }
    if x is not None:
        target = clf.networks_[t]
        expected, table = target.expected(x), clf.density_percentiles_[t]
        content["expected_after"] = series(geo, expected)
        content["z_score"] = series(geo, (x - expected) / np.sqrt(target.variances))
        content["density_percentile"] = float(
            np.interp(target.log_density(x[None])[0], table, np.arange(101.0))
        )
    return plain(content)


def probability(clf, x, t):
    scores = joint(clf, x)
    odds = np.exp(scores - scores.max())
    return float(odds[t] / odds.sum())


def explained(
    clf, asked, *, others=(), share=0.92, depth=14, first=(), robust_first=(), directions=(), **rest
):
    """The whole answer: a robust point, its proofs at ``share`` of its distance, its document.

    ``first`` and ``robust_first`` are splits, such as ``("cut", [["u", 0], 0.1])`` and
    ``("choice", [0, 1.0, 2.0])``, with which the trees begin on every way.
    """
    models = (clf, *others)
    geo = Geometry(models, asked)
    x, scenarios = robust_point(geo)
    assert x is not None, "nothing was found"
    level = float(share * geo.distance(x))
    bound = bound_proof(geo, level, scenarios, depth, first=first, directions=directions)
    worst, robustness, radius = worst_of(geo, x), None, 0.0
    if geo.budget > 0:
        odds = odds_numbers(asked)
        slack = max(0.0, min(float(geo.g[r](x + worst)) for r in odds) - 5e-4)
        robustness = robustness_proof(geo, x, float(geo.budget), slack, depth, first=robust_first)
        radius = float(geo.budget)
    return document(
        models, asked, x=x, worst=worst, bound=bound, lower_bound=level, robustness=robustness, radius=radius,
        **rest,
    )  # fmt: skip


def odds_numbers(asked):
    return [r for r, entry in enumerate(asked["requirements"]) if entry["kind"] == "odds"]


def worst_of(geo, x):
    found = [lowest(geo, x, r) for r in odds_numbers(geo.asked)]
    return min(found, key=lambda d: min(float(geo.g[r](x + d)) for r in odds_numbers(geo.asked)))


def impossible(clf, asked, level=None, depth=14, **rest):
    """The answer that nothing exists."""
    geo = Geometry((clf,), asked)
    if level is None:
        ends = np.maximum(np.abs(geo.low - geo.factual), np.abs(geo.high - geo.factual))
        reach = np.abs(geo.D) @ ends
        if geo.prices is not None:
            reach = np.maximum(*(geo.paid(geo.D @ (end - geo.factual)) for end in (geo.low, geo.high)))
        level = float(np.linalg.norm(reach, ord=geo.p)) * 1.0001
    bound = bound_proof(geo, level, [], depth)
    return document((clf,), asked, bound=bound, lower_bound=INF, status="infeasible", **rest)


def unchanged(clf, asked, **rest):
    """The answer that nothing needs to change, robust within the budget."""
    geo = Geometry((clf,), asked)
    x, worst = geo.factual, worst_of(geo, geo.factual)
    robustness, radius = None, 0.0
    if geo.budget > 0:
        slack = max(0.0, min(float(geo.g[r](x + worst)) for r in odds_numbers(asked)) - 5e-4)
        robustness, radius = robustness_proof(geo, x, float(geo.budget), slack), float(geo.budget)
    return document(
        (clf,), asked, x=x, worst=worst, robustness=robustness, radius=radius, status="already_target", **rest
    )
