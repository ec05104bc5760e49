"""Honest answers changed at random: does a checker accept what is false, or stumble?

usage: python benchmarks/run.py forgeries                                  (2,000 changed files of each kind)
       python benchmarks/forgeries.py [--count N] [--seconds S] [--seed K] [--log FILE]

The second form keeps a line for each file that was accepted or went wrong, and goes on where the log ends.
Every file that the fast checker accepts is also given to the exact one, and so is a sample of the others.
What is accepted is judged by its meaning, with code that shares nothing with the checkers. If its question is
another than the honest one, the question is asked anew: its own answer, found by the search, must neither
lie nearer than the bound of the file nor be proved to lie farther than its point.
"""

import argparse
import copy
import json
import math
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, replace
from functools import cache, cached_property
from pathlib import Path

import numpy as np

from surefoot import (
    Action,
    Actions,
    ConditionalGaussianNetworkClassifier,
    CounterfactualExplainer,
    datasets,
    verify,
)
from surefoot.exceptions import DataError
from surefoot.explain.explanation import Explanation
from surefoot.model.content import classifier_content
from surefoot.proof import exact, fast
from surefoot.search.certified import certified_search
from surefoot.status import Status
from surefoot.waist.question import Question

COLUMNS = [
    "kind",
    "files",
    "unreadable",
    "refused",
    "accepted, still true",
    "forged",
    "checkers differ",
    "crashes",
]
KEY = COLUMNS[:1]
EACH = 2_000
SAMPLE = 0.1  # of the refused files go to the exact checker too
READ = 0.05  # of all files are also read as `surefoot verify` reads them
ROOM = 1e-6  # for numbers computed here in double precision

INF = math.inf
SPECIAL = [
    None, "inf", "-inf", "nan", math.nan, math.inf, -math.inf, 0.0, -0.0, 5e-324, -5e-324, 1e-308, 1e-170,
    1e300, -1e300, 1e308, 2**53, 2**53 + 1, 10**400, -1, 0, 1, 7, True, False, "", "a", [], {}, [[]], [[[]]],
    {"a": 1}, "\x1b[2J", "\ud800",
]  # fmt: skip


# ----- honest answers ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Honest:
    """An answer of the search, with its classifier."""

    name: str
    clf: ConditionalGaussianNetworkClassifier
    text: str
    points: tuple[np.ndarray, ...] = ()  # of this and other questions about the same row

    @cached_property
    def content(self):
        return classifier_content(self.clf)

    @cached_property
    def facts(self):
        return Facts(self.content)

    @cached_property
    def document(self):
        return json.loads(self.text)


def fitted(data):
    return ConditionalGaussianNetworkClassifier().fit(data.X, data.y)


def questions(small=False):
    """Names and what is asked."""
    bank, pima = datasets.load_banknote(), datasets.load_pima()
    three = datasets.synthetic(300, 3, n_classes=3, class_separation=2.5, random_state=1)
    b, p, t = fitted(bank), fitted(pima), fitted(three)
    whole = Actions({"preg": Action(whole=True), "age": Action(whole=True)})
    listed = Actions({"variance": Action(values=[-3.0, -1.0, 0.5, 2.0])})
    dot = {"variance": (3.0, 4.0), "skewness": (8.5, 8.8), "curtosis": (-3.0, -2.5), "entropy": (-0.5, -0.4)}
    by_feature = {"variance": (0.05, 0.1), "entropy": 0.05}
    dear = Actions({"variance": Action(cost=(1.0, 3.0)), "skewness": Action(cost=0.5)})
    then = Actions(
        when=[("variance falls", "skewness >= skewness.now + 1"), ("curtosis changes", "entropy stays")]
    )
    of_some = Actions(at_most_of=[(1, ["variance", "skewness"]), (1, ["curtosis", "entropy"])])
    for norm in (INF, 2, 1):
        for budget in (0.05, 0.0):
            yield f"banknote {norm} {budget}", b, bank.X.iloc[0], {"norm": norm, "budget": budget}
        for k in (1, 2):
            few = {"norm": norm, "budget": 0.05, "actions": Actions(at_most=k)}
            yield f"at most {k}, {norm}", b, bank.X.iloc[0], few
        yield (
            f"cost {norm}",
            b,
            bank.X.iloc[0],
            {"norm": norm, "budget": 0.05, "distance": "cost", "actions": dear},
        )
        yield f"if-then {norm}", b, bank.X.iloc[0], {"norm": norm, "budget": 0.05, "actions": then}
    yield "of some", b, bank.X.iloc[0], {"norm": 2, "distance": "cost", "actions": of_some}
    yield "domain", b, bank.X.iloc[2], {"budget": 0.05, "bounds": {"variance": (-4.0, 3.9)}}
    yield (
        "fixed",
        b,
        bank.X.iloc[0],
        {"budget": 0.05, "norm": 2, "immutable": ["entropy"], "whitening": "dag"},
    )
    yield "by feature", b, bank.X.iloc[0], {"budget": by_feature, "norm": 2}
    yield "values", b, bank.X.iloc[0], {"budget": 0.05, "norm": 1, "actions": listed}
    yield "infeasible", b, bank.X.iloc[0], {"budget": 0.05, "bounds": dot}
    yield "already", b, bank.X.iloc[0], {"budget": 0.05, "target": 0}
    yield "no time", b, bank.X.iloc[0], {"budget": 0.05, "time_limit": 1e-6}
    yield "threshold", b, bank.X.iloc[1], {"budget": 0.05, "threshold": 0.9, "norm": 2}
    yield (
        "three classes",
        t,
        three.X[three.y == three.y.min()].iloc[0],
        {"budget": 0.05, "target": three.y.max()},
    )
    if small:
        return
    for norm in (INF, 2, 1):
        yield f"pima {norm} 0.05", p, pima.X.iloc[1], {"norm": norm, "budget": 0.05, "whole": False}
    yield "whole", p, pima.X.iloc[0], {"budget": 0.05, "norm": 2, "actions": whole, "whole": False}
    iono = datasets.load_ionosphere()
    yield (
        "ionosphere",
        fitted(iono),
        iono.X.iloc[1],
        {"budget": 0.05, "norm": 2, "time_limit": 10.0, "whole": False},
    )


@cache
def pool(small=False):
    """Honest answers; each must hold."""
    found = []
    for name, clf, row, options in questions(small):
        target = options.pop("target", None)
        e = CounterfactualExplainer(clf, **options).explain(row, target=target, on_failure="return")
        honest = Honest(name, clf, e.to_json())
        claims = fast.check([honest.content], honest.document)
        assert all(claim.verdict == fast.HOLDS for claim in claims), name
        found.append(honest)
    return tuple(replace(honest, points=_known(honest, found)) for honest in found)


def _known(honest, others):
    """The points of all questions about the same row of the same model."""
    rows = [
        (other.clf, other.document["factual"]["values"], other.document["counterfactual"]) for other in others
    ]
    own = (honest.clf, honest.document["factual"]["values"])
    return tuple(np.array(x["values"]) for clf, row, x in rows if x is not None and (clf, row) == own)


# ----- the truth: code of its own, in double precision ------------------------------------------------------


class Facts:
    """What a model says."""

    def __init__(self, content):
        self.labels, self.priors = content["classes"]["labels"], np.array(content["class_prior"])
        self.nets = [{k: np.array(v, dtype=float) for k, v in net.items()} for net in content["networks"]]
        self.tables, self.n = content["density_percentiles"], len(content["parents"])

    def class_number(self, label):
        return next((k for k, c in enumerate(self.labels) if type(c) is type(label) and c == label), None)

    def expected(self, k, x):
        net = self.nets[k]
        return net["means"] + net["weights"] @ (x - net["means"])

    def log_density(self, k, x):
        deviation, v = x - self.expected(k, x), self.nets[k]["variances"]
        return float(-0.5 * np.sum(deviation**2 / v + np.log(2 * np.pi * v)))

    def scores(self, x):
        return np.array([np.log(p) + self.log_density(k, x) for k, p in enumerate(self.priors)])

    def probability(self, k, x):
        s = self.scores(x)
        return float(1 / np.sum(np.exp(np.clip(s - s[k], -700, 700))))

    def precision(self, k):
        net = self.nets[k]
        A = np.eye(self.n) - net["weights"]
        return (A.T / net["variances"]) @ A

    def spread(self, k):
        return np.sqrt(np.diag(np.linalg.inv(self.precision(k))))

    def whitening(self, k, kind):
        P, net = self.precision(k), self.nets[k]
        if kind == "cholesky":
            return np.linalg.cholesky(P).T
        if kind == "dag":
            return (np.eye(self.n) - net["weights"]) / np.sqrt(net["variances"])[:, None]
        values, vectors = np.linalg.eigh(P)
        return (vectors * np.sqrt(values)) @ vectors.T

    def margin(self, entry, x):
        """A requirement at x."""
        if entry["kind"] == "density":
            return self.log_density(self.class_number(entry["class"]), x) - entry["floor"]
        s, tau = self.scores(x), entry["threshold"]
        own, rival = self.class_number(entry["target"]), self.class_number(entry["rival"])
        return float(s[own] - s[rival] - np.log(tau / (1 - tau)))

    def slope(self, entry, x):
        """The gradient of a requirement."""
        parts = [(1, entry.get("target", entry.get("class")))]
        parts += [(-1, entry["rival"])] if entry["kind"] == "odds" else []
        numbers = [(sign, self.class_number(label)) for sign, label in parts]
        return sum(-sign * self.precision(k) @ (x - self.nets[k]["means"]) for sign, k in numbers)


def number(value):
    """A number of a file; words for infinities."""
    return float("nan") if value is None else float(value)


class Meaning:
    """A file, read without suspicion: the checkers accepted it."""

    def __init__(self, facts, e):
        self.facts, self.e, self.asked = facts, e, e["question"]
        self.factual = np.array(self.asked["factual"], dtype=float)
        self.own, self.t = (facts.class_number(self.asked[key]) for key in ("factual_class", "target"))
        distance, self.ball = self.asked["distance"], self.asked["ball"]
        self.p, self.M = number(distance["norm"]), facts.whitening(self.own, distance["whitening"])
        self.prices = distance["prices"]
        if self.prices is not None:
            self.M = np.diag(1 / facts.spread(self.own))
        domain = self.asked["domain"]
        self.low, self.high = (np.array([number(v) for v in domain[key]]) for key in ("low", "high"))
        self.point = None if e["counterfactual"] is None else np.array(e["counterfactual"]["values"], float)

    def distance(self, x):
        u = self.M @ (x - self.factual)
        if self.prices is not None:
            up, down = np.array(self.prices, dtype=float).T
            u = np.where(u > 0, up, down) * u
        return float(np.linalg.norm(u, self.p))

    @property
    def perturbed(self):
        budget = self.ball["budget"]
        if isinstance(budget, dict):
            return sorted(int(j) for j, ends in budget.items() if any(ends))
        return [j for j in range(self.facts.n) if j not in self.ball["exact"]]

    @property
    def radius(self):
        budget = self.ball["budget"]
        return 0.0 if not self.perturbed else 1.0 if isinstance(budget, dict) else float(budget)

    @property
    def root(self):
        """N: that of the file, which must be a root of the precision of its features."""
        certificate = self.e["certificate"]
        given = certificate["metric"] if certificate["ball"] is None else certificate["ball"]
        N, k = np.array(given, dtype=float), self.perturbed
        P = self.facts.precision(self.own)[np.ix_(k, k)]
        assert np.abs(N.T @ N - P).max() <= 1e-5 * np.abs(P).max(), "the ball is another one"
        return N

    def farthest(self, slope, radius):
        """The perturbation within a radius that goes farthest against a slope."""
        d, k = np.zeros(self.facts.n), self.perturbed
        if isinstance(self.ball["budget"], dict):
            for j in k:
                down, up = self.ball["budget"][str(j)]
                d[j] = -radius * down if slope[j] > 0 else radius * up
            return d
        inverse = np.linalg.inv(self.root)
        pull, q = inverse.T @ slope[k], number(self.ball["norm"])
        if q == INF:
            w = -np.sign(pull)
        elif q == 1:
            w = -np.sign(pull) * (np.arange(len(k)) == np.argmax(np.abs(pull)))
        else:
            w = -pull / max(np.linalg.norm(pull), 1e-300)
        d[k] = radius * (inverse @ w)
        return d

    def attacked(self, entry, x, radius, rng):
        """The least value of a requirement that steps along its slope find within a radius."""
        least = self.facts.margin(entry, x)
        for start in range(6):
            d = (
                np.zeros(self.facts.n)
                if not start
                else self.farthest(rng.standard_normal(self.facts.n), radius)
            )
            for _ in range(8):
                d = self.farthest(self.facts.slope(entry, x + d), radius)
                least = min(least, self.facts.margin(entry, x + d))
        return least

    def inside(self, x):
        """Whether a point lies in the domain; certainly."""
        domain = self.asked["domain"]
        rows = [(np.dot(r["coefficients"], x), number(r["low"]), number(r["high"])) for r in domain["rows"]]
        return (
            bool(((self.low <= x) & (x <= self.high)).all())
            and all(low - ROOM <= value <= high + ROOM for value, low, high in rows)
            and all(self.allowed(entry, x) for entry in domain["sets"])
            and all(any(self.taken(way, x) for way in entry["ways"]) for entry in domain["eithers"])
            and all(self.few(entry, x) for entry in domain["limits"])
        )

    def taken(self, way, x):
        """Whether the rows of a way hold, an equation of several features nearly."""
        for row in way["rows"]:
            a, low, high = np.array(row["coefficients"]), number(row["low"]), number(row["high"])
            room = ROOM if low == high and not (np.count_nonzero(a) == 1 and a.sum() == 1) else 0.0
            if not low - room <= math.fsum(a * x) <= high + room:
                return False
        return not way["values"]

    def few(self, entry, x):
        return sum(x[j] != self.factual[j] for j in entry["numbers"]) <= entry["count"]

    def allowed(self, entry, x):
        j, values = entry["feature"], entry["values"]
        listed = float(x[j]).is_integer() if values is None else float(x[j]) in values
        return x[j] == self.factual[j] or listed

    def satisfied(self, x, rng, room=0.0):
        """Whether a point answers the question: all requirements in the whole ball, up to some rounding."""
        for entry in self.asked["requirements"]:
            radius = self.radius if entry["robust"] else 0.0
            if entry["model"] or self.attacked(entry, x, radius, rng) < -room:
                return False
        return self.inside(x)


PATIENCE = 20.0  # seconds for the search of a changed question


def asked_anew(honest, e):
    """What the search finds for the question of a file, from a problem made of that question alone."""
    return certified_search(Question.from_dict(e["question"]).problem(honest.clf), 1e-3, PATIENCE)


def forged(honest, e, rng):
    """What is false in a file that was accepted; nothing if all is true."""
    if e["status"] == "refused":
        return ["a refused request was accepted"]
    m = Meaning(honest.facts, e)
    wrong = [*_of_the_question(m), *_of_the_bound(m, rng, honest.points)]
    if e["question"] != honest.document["question"]:
        wrong += _of_the_changed_question(m, rng, asked_anew(honest, e))
    return wrong if m.point is None else [*wrong, *_of_the_point(m), *_of_robustness(m, rng)]


def _differ(stated, value, size=1.0):
    return not abs(number(stated) - value) <= ROOM * max(abs(value), size)


def _of_the_question(m):
    e, facts = m.e, m.facts
    units, expected = facts.spread(m.own), facts.expected(m.own, m.factual)
    if int(np.argmax(facts.scores(m.factual))) != m.own:
        yield "the factual's class is false"
    if _differ(e["factual_probability"], facts.probability(m.t, m.factual)):
        yield "factual_probability is false"
    if not np.allclose(e["unit"]["values"], units, rtol=ROOM, atol=0):
        yield "unit is false"
    if (
        np.abs(np.array(e["expected_before"]["values"]) - expected) > ROOM * (units + np.abs(expected))
    ).any():
        yield "expected_before is false"
    if e["threshold"] != m.asked["requirements"][0].get("threshold"):
        yield "the threshold is another one"
    if e["message"] != exact.SENTENCES[e["status"]]:
        yield "the message is false"
    if (m.low > m.high).any():
        yield "the domain is empty"


def _of_the_changed_question(m, rng, answer):
    """The answer that was found anew, against what the file claims of the same question."""
    if answer.point is None and answer.status is not Status.INFEASIBLE:
        yield f"the judge cannot tell (asked anew: {answer.status})"
    if answer.point is not None:
        room = ROOM * max(1.0, np.abs(m.facts.scores(answer.point)).max())
        if not m.satisfied(answer.point, rng, room):
            yield "the judge cannot tell (the point found anew does not answer the question)"
        elif number(m.e["lower_bound"]) > m.distance(answer.point) * (1 + ROOM):
            yield "asked anew, there is a nearer point"
    answered = m.point is not None and m.e["status"] != "already_target" and number(m.e["coverage"]) >= 1
    if answered and m.distance(m.point) < answer.lower_bound * (1 - ROOM):
        yield "asked anew, no point is so near"


def _of_the_bound(m, rng, known):
    """No point that is known to answer the question may be nearer than the bound."""
    bound, distance = number(m.e["lower_bound"]), number(m.e["distance"])
    if not (bound <= 0 or bound == INF or m.point is None) and bound > distance * (1 + 1e-9):
        yield "the bound exceeds the distance"
    points = [*known, *([] if m.point is None else [m.point])]
    for x in points:
        if bound > m.distance(x) * (1 + ROOM) and m.satisfied(x, rng):
            yield "there is a nearer point"
    if (m.e["status"] == "infeasible") != (bound == INF):
        yield "infeasible without proof"
    gap = number(m.e["gap"])
    follows = INF if m.point is None else 0.0 if distance == 0 else 1 - bound / distance
    if not (gap == follows or abs(gap - follows) <= ROOM):
        yield "the gap is false"


def _of_the_point(m):
    e, facts, x = m.e, m.facts, m.point
    scores, expected = facts.scores(x), facts.expected(m.t, x)
    room = ROOM * max(1.0, np.abs(scores).max())
    if _differ(e["probability"], facts.probability(m.t, x)):
        yield "probability is false"
    if scores[facts.class_number(e["decision"])] < scores.max() - room:
        yield "the decision is false"
    if _differ(e["distance"], m.distance(x)):
        yield "the distance is false"
    if not m.inside(x):
        yield "the point is outside of the domain"
    if min(facts.margin(entry, x) for entry in m.asked["requirements"]) < -room:
        yield "the point is not valid"
    deviations = np.sqrt(facts.nets[m.t]["variances"])
    score = (x - expected) / deviations
    if (np.abs(np.array(e["z_score"]["values"]) - score) > ROOM * (1 + np.abs(score))).any():
        yield "z_score is false"
    units = facts.spread(m.own)
    if (np.abs(np.array(e["expected_after"]["values"]) - expected) > ROOM * (units + np.abs(expected))).any():
        yield "expected_after is false"
    density = facts.log_density(m.t, x)
    ends = np.interp([density - room, density + room], facts.tables[m.t], np.arange(101.0))
    if not ends[0] - 1e-4 <= number(e["density_percentile"]) <= ends[1] + 1e-4:
        yield "density_percentile is false"


def _of_robustness(m, rng):
    e, facts, x = m.e, m.facts, m.point
    radius, budget = number(e["certified_radius"]), m.radius
    covered = 1.0 if radius >= budget else radius / budget
    if not abs(number(e["coverage"]) - covered) <= 1e-9 or not radius >= 0:
        yield "coverage or radius is false"
    if radius > 0 and m.perturbed:
        reach = min(radius, 1e3)
        for entry in m.asked["requirements"]:
            room = ROOM * max(1.0, np.abs(facts.scores(x)).max())
            if entry["robust"] and m.attacked(entry, x, reach, rng) < -room:
                yield "a perturbation within the radius undoes it"
    worst = e["certificate"]["worst"]
    if worst is None:
        if e["worst_probability"] is not None or e["violation"] != "inf":
            yield "a worst case without perturbation"
        return
    there = x + np.array(worst, dtype=float)
    odds = [entry for entry in m.asked["requirements"] if entry["kind"] == "odds"]
    violation = max(-facts.margin(entry, there) for entry in odds)
    if _differ(e["worst_probability"], facts.probability(m.t, there)) or _differ(e["violation"], violation):
        yield "the worst case is false"


# ----- changes ----------------------------------------------------------------------------------------------


def random_way(rng, value):
    """A place of a document: a walk from the root that may stop early."""
    way = []
    while isinstance(value, dict | list) and value and not (way and rng.random() < 0.12):
        keys = list(value) if isinstance(value, dict) else range(len(value))
        way.append(keys[rng.integers(len(keys))])
        value = value[way[-1]]
    return way


def held(e, way):
    for key in way[:-1]:
        e = e[key]
    return e, way[-1]


def scaled(rng, value):
    step = 10.0 ** rng.integers(-16, 1) * rng.choice([-1, 1])
    return value * float(rng.choice([1 + step, 1 + step, 10.0 ** rng.integers(-3, 4), -1.0]))


def special(rng):
    return copy.deepcopy(SPECIAL[rng.integers(len(SPECIAL))])


def change(rng, e, start=()):
    """One change at a random place below a start."""
    base = e
    for key in start:
        base = base[key]
    way = random_way(rng, base)
    if not way:
        return "nothing"
    holder, key = held(base, way)
    value, how = holder[key], rng.random()
    if how < 0.2:
        holder[key] = special(rng)
    elif isinstance(value, float):
        holder[key] = scaled(rng, value)
    elif isinstance(value, int) and not isinstance(value, bool):
        holder[key] = value + int(rng.choice([-1, 1, -2, 2, 10**6]))
    elif isinstance(value, list):
        _change_list(rng, value)
    elif isinstance(value, dict):
        _change_object(rng, value)
    else:
        holder[key] = special(rng)
    return "/".join(map(str, [*start, *way]))


def _change_list(rng, value):
    how = rng.integers(5)
    if not value or how == 0:
        value.append(copy.deepcopy(value[0]) if value else special(rng))
        return
    i, j = rng.integers(len(value), size=2)
    if how == 1:
        del value[i]
    elif how == 2:
        value[i], value[j] = value[j], value[i]
    elif how == 3:
        value[i] = copy.deepcopy(value[j])
    else:
        value.insert(i, copy.deepcopy(value[j]))


def _change_object(rng, value):
    how, keys = rng.integers(4), list(value)
    if not keys or how == 0:
        value["more"] = special(rng)
        return
    one, other = (keys[k] for k in rng.integers(len(keys), size=2))
    if how == 1:
        del value[one]
    else:
        value[one], value[other] = value[other], value[one]


def leaves(node):
    if not isinstance(node, dict):
        return []
    inner = [node[side] for side in SIDES if side in node] + list(node.get("ways") or [])
    return [leaf for child in inner for leaf in leaves(child)] if inner else [node]


SIDES = ("below", "above", "no", "yes")


def forks(proof):
    """The eithers and changes of a tree, each with where it stands."""
    found, stack = [], [(proof, "tree")]
    while stack:
        holder, key = stack.pop()
        node = holder[key]
        if not isinstance(node, dict):
            continue
        if "either" in node or "changed" in node:
            found.append((holder, key))
        stack += [(node, side) for side in SIDES if side in node]
        stack += [(node["ways"], k) for k in range(len(node.get("ways") or []))]
    return found


def _change_fork(rng, proof):
    """Sides that are swapped, left out, doubled or put in the place of each other; other numbers."""
    found = forks(proof)
    if not found:
        return _split(rng, proof)
    holder, key = found[rng.integers(len(found))]
    node, how = holder[key], rng.integers(7)
    group, keys = (node["ways"], range(len(node["ways"]))) if "either" in node else (node, ["no", "yes"])
    one, other = (keys[k] for k in rng.integers(len(keys), size=2))
    if how == 0:
        group[one], group[other] = group[other], group[one]
    elif how == 1:
        group[one] = copy.deepcopy(group[other])
    elif how == 2:
        holder[key] = group[one]
    elif how == 3:
        group[one] = special(rng) if rng.random() < 0.5 else copy.deepcopy(leaves(proof["tree"])[0])
    elif how == 4:
        name = "either" if "either" in node else "changed"
        node[name] = int(rng.integers(-1, 5))
    elif how == 5 and "either" in node:
        _change_list(rng, group)
    else:
        j = int(rng.integers(0, 4))
        holder[key] = {"changed": j, "no": node, "yes": copy.deepcopy(node)}
    return f"fork {how}"


def trees(e):
    """The proofs of a file."""
    certificate = e["certificate"]
    found = [certificate["bound"]] if certificate["bound"] else []
    return found + (certificate["robustness"]["proofs"] if certificate["robustness"] else [])


def change_proof(rng, e):
    """A change within a proof: random, or one that a forger would try."""
    proofs = trees(e)
    if not proofs:
        return change(rng, e)
    k = int(rng.integers(len(proofs)))
    proof, how = proofs[k], rng.integers(8)
    found = leaves(proof["tree"])
    if how == 0 or not found:
        return f"proof {k}: {change(rng, proof)}"
    leaf = found[rng.integers(len(found))]
    if how == 1:
        return f"leaf: {change(rng, leaf)}"
    if how == 2:
        return f"weights: {_change_weights(rng, leaf)}"
    if how == 3:
        return f"split: {_split(rng, proof)}"
    if how > 5:
        return _change_fork(rng, proof)
    if how == 4 and proof["scenarios"]:
        s = proof["scenarios"][rng.integers(len(proof["scenarios"]))]
        factor = float(rng.choice([1 + 1e-12, 1.001, 2.0, -1.0, 0.5, 0.0]))
        s[:] = [factor * v for v in s]
        return "scenario"
    proof["directions"].append(
        [float(rng.choice([1e-170, 1.0, 5e-324, 1e300]))] * len(e["factual"]["values"])
    )
    return "direction"


def _change_weights(rng, leaf):
    factor = float(rng.choice([5e-324, 0.0, 1e-300, 0.5, 0.999, 1 + 1e-12, 2.0, 1e10, 1e300, -1.0]))
    keys = ["norm", "products", "requirements", "between", "cross"]
    chosen = keys if rng.random() < 0.3 else [keys[rng.integers(5)]]
    for key in chosen:
        place = 2 if key == "cross" else 0
        if key == "norm":
            leaf[key] = [v * factor for v in leaf[key]]
        for entry in leaf[key] if key != "norm" else []:
            entry[place] = entry[place] * factor
    return f"{'+'.join(chosen)} {factor:g}"


def _split(rng, proof):
    """A split above the tree, or an edit of one that is there."""
    tree, at = proof["tree"], float(rng.standard_normal() * rng.choice([0.1, 1.0, 10.0]))
    if isinstance(tree, dict) and "below" in tree and rng.random() < 0.6:
        how = rng.integers(4)
        if how == 0:
            tree["below"], tree["above"] = tree["above"], tree["below"]
        elif how == 1:
            tree[str(rng.choice(["below", "above"]))] = special(rng)
        else:
            part = tree.get("cut") or tree.get("choice")
            part[-1] = at if how == 2 else part[-1] + float(rng.choice([-1.0, 1.0, 0.5, 1e-9]))
        return "edited"
    functions = [["u", 0], ["x", 0], ["r", 0], ["d", 0], ["u", -1], ["u", 99]]
    halves = [copy.deepcopy(tree), copy.deepcopy(tree)]
    if rng.random() < 0.5:
        halves[rng.integers(2)] = rng.choice([None, 0]) and special(rng)
    kind = functions[rng.integers(len(functions))]
    proof["tree"] = {"cut": [kind, at], "below": halves[0], "above": halves[1]}
    return f"cut {kind} {at:g}"


def raise_bound(rng, e):
    """A larger bound, with levels and gap that go with it."""
    factor = float(rng.choice([1 + 1e-12, 1 + 1e-9, 1 + 1e-6, 1.0007, 1.0009, 1.01, 2.0, 34.0, 0.9, 0.5]))
    bound = number(e["lower_bound"])
    e["question"]["gap"] = float(rng.choice([e["question"]["gap"], 0.99]))  # then any bound may do
    if not 0 < bound < INF or not e["certificate"]["bound"]:
        e["lower_bound"] = 1.0
        return "bound out of nothing"
    e["lower_bound"] = bound * factor
    for leaf in leaves(e["certificate"]["bound"]["tree"]):
        if isinstance(leaf["level"], float):
            leaf["level"] *= factor
            if rng.random() < 0.3:
                _change_weights(rng, leaf)
    return f"bound times {factor}"


def raise_radius(rng, e):
    """A larger radius, with the levels that go with it."""
    factor = float(rng.choice([1 + 1e-12, 1 + 1e-6, 1.01, 1.5, 10.0, 1e200, 0.5]))
    held = e["certificate"]["robustness"]
    e["certified_radius"] = max(number(e["certified_radius"]), 0.05) * factor
    if rng.random() < 0.3:
        e["budget"] = e["question"]["ball"]["budget"] = e["certified_radius"]
    if held:
        held["radius"] = e["certified_radius"]
        held["slack"] = held["slack"] * float(rng.choice([0.0, 1.0, 1.5]))
        for leaf in (leaf for proof in held["proofs"] for leaf in leaves(proof["tree"])):
            leaf["level"] = e["certified_radius"]
            if rng.random() < 0.3:
                _change_weights(rng, leaf)
    return f"radius times {factor}"


def move_point(rng, e):
    """Another point: nearer to the factual, farther away, or off by a little."""
    if e["counterfactual"] is None:
        return raise_bound(rng, e)
    x, x0 = (np.array(e[key]["values"], dtype=float) for key in ("counterfactual", "factual"))
    share = float(rng.choice([0.0, 0.5, 0.9, 0.99, 0.999, 1 - 1e-6, 1 - 1e-12, 1 + 1e-6, 1.01, 1.5]))
    noise = rng.standard_normal(len(x)) * float(rng.choice([0.0, 0.0, 1e-12, 1e-3])) * np.abs(x - x0)
    e["counterfactual"]["values"] = (x0 + share * (x - x0) + noise).tolist()
    if rng.random() < 0.2:
        e["method"], e["tol"] = "qcqp", float(rng.choice([1e-3, 1.0, 1e300]))
    return f"point at {share}"


def other_question(rng, e):
    """A change of the question, repeated in the file."""
    asked, how = e["question"], rng.integers(11)
    j = int(rng.integers(len(asked["features"])))
    domain, x = asked["domain"], (e["counterfactual"] or e["factual"])["values"]
    if how == 0:
        tau = float(rng.choice([0.001, 0.3, 0.5001, 0.7, 1 - 1e-12]))
        e["threshold"] = tau
        for entry in asked["requirements"]:
            entry["threshold"] = tau
    elif how == 1:
        domain["low"][j], domain["high"][j] = "-inf", "inf"
    elif how == 2:
        domain["low"], domain["high"] = [v - 1e-6 for v in x], [v + 1e-6 for v in x]
    elif how == 3:
        asked["ball"]["exact"] = [j]
    elif how == 4:
        e["norm"] = asked["distance"]["norm"] = [1, 2, "inf"][rng.integers(3)]
    elif how == 5:
        asked["requirements"] = (
            asked["requirements"][:-1] if rng.random() < 0.5 else asked["requirements"] * 2
        )
    elif how == 6:
        asked["gap"] = float(rng.choice([0.0, 1e-9, 0.5, 0.999]))
    elif how == 7:
        domain["sets"].append({"feature": j, "values": [None, [0.0, 1.0]][rng.integers(2)]})
    else:
        _other_rules(rng, e, j, how)
    return f"question {how}"


def _other_rules(rng, e, j, how):
    """Other limits, ways or prices."""
    domain, distance = e["question"]["domain"], e["question"]["distance"]
    if how == 8:
        for limit in domain["limits"] or [{"numbers": []}]:
            limit["count"] = int(limit.get("count", 1) + rng.choice([-1, 1, 2]))
            limit["numbers"] = sorted({*limit["numbers"]} ^ ({j} if rng.random() < 0.5 else set()))
        if rng.random() < 0.3:
            domain["limits"] = [{"name": "", "count": int(rng.integers(3)), "numbers": [j], "categories": []}]
    elif how == 9:
        ways = [way for either in domain["eithers"] for way in either["ways"]]
        if not ways or rng.random() < 0.2:
            domain["eithers"].append(
                {"name": "", "ways": [{"rows": [], "values": []}] * int(rng.integers(3))}
            )
            return
        way = ways[rng.integers(len(ways))]
        if way["rows"] and rng.random() < 0.6:
            change(rng, way["rows"])
        else:
            _change_list(rng, domain["eithers"][0]["ways"] if rng.random() < 0.5 else way["rows"])
    elif distance["prices"] is None:
        distance |= {"kind": "cost", "prices": [[1.0, 1.0] for _ in e["question"]["features"]]}
    elif rng.random() < 0.3:
        distance |= {"kind": "mahalanobis", "prices": None}
    else:
        pair = distance["prices"][j]
        pair[:] = (
            pair[::-1]
            if rng.random() < 0.3
            else [v * float(rng.choice([0.5, 0.999, 1.0, 2.0])) for v in pair]
        )


def claim_infeasible(rng, e):
    """A question without answer, and the certificate of another claim."""
    e["status"], e["message"], e["lower_bound"] = "infeasible", exact.SENTENCES["infeasible"], "inf"
    for key in (
        "counterfactual",
        "decision",
        "expected_after",
        "z_score",
        "probability",
        "worst_probability",
    ):
        e[key] = None
    e["density_percentile"], e["coverage"], e["certified_radius"] = None, 0.0, 0.0
    e["distance"] = e["violation"] = e["gap"] = "inf"
    e["certificate"] |= {"robustness": None, "worst": None}
    level = ["inf", 1e3, 1e100, 5.0][rng.integers(4)]
    for leaf in leaves(e["certificate"]["bound"]["tree"]) if e["certificate"]["bound"] else []:
        leaf["level"] = level
        leaf["norm"] = [] if level == "inf" else leaf["norm"]
        if rng.random() < 0.5:
            _change_weights(rng, leaf)
    return f"infeasible {level}"


def anything(rng, e):
    return change(rng, e)


KINDS = {
    "any field": anything,
    "a proof": change_proof,
    "a higher bound": raise_bound,
    "a larger radius": raise_radius,
    "another point": move_point,
    "another question": other_question,
    "infeasible": claim_infeasible,
    "two changes": lambda rng, e: f"{change_proof(rng, e)}; {raise_bound(rng, e)}",
}


def follow(facts, e):
    """Compute every number again that follows from others, as a forger would who knows the format."""
    m = Meaning(facts, e)
    bound, radius = number(e["lower_bound"]), number(e["certified_radius"])
    e["factual_probability"] = facts.probability(m.t, m.factual)
    if m.point is None:
        return
    x, expected = m.point, facts.expected(m.t, m.point)
    e["distance"], e["probability"] = m.distance(x), facts.probability(m.t, x)
    e["decision"] = facts.labels[int(np.argmax(facts.scores(x)))]
    e["gap"] = 1 - bound / e["distance"] if e["distance"] else 0.0
    e["coverage"] = 1.0 if radius >= m.radius else radius / m.radius
    e["expected_after"]["values"] = expected.tolist()
    e["z_score"]["values"] = ((x - expected) / np.sqrt(facts.nets[m.t]["variances"])).tolist()
    density = facts.log_density(m.t, x)
    e["density_percentile"] = float(np.interp(density, facts.tables[m.t], np.arange(101.0)))
    if e["certificate"]["worst"] is not None:
        there = x + np.array(e["certificate"]["worst"])
        e["worst_probability"] = facts.probability(m.t, there)
        e["violation"] = max(-facts.margin(entry, there) for entry in m.asked["requirements"])
        e["early_stop"] = e["distance"] > 0 and 0 < e["violation"] <= e["tol"]


def mutant(rng, honest, kind):
    """A changed file and what was changed."""
    e = copy.deepcopy(honest.document)
    try:
        said = KINDS[kind](rng, e)
    except (TypeError, KeyError, IndexError, AttributeError, ValueError):
        said = "half a change"  # the first of two left nothing for the second
    if rng.random() < 0.6:
        try:
            with np.errstate(all="ignore"):
                follow(honest.facts, e)
            said += ", the rest follows"
        except Exception:  # the change left nothing to follow from
            said += ", nothing follows"
    return e, f"{honest.name}: {kind}: {said}"


# ----- running ----------------------------------------------------------------------------------------------


def verdict(checker, model, e):
    """ "accepted", "refused" or "unreadable"; anything else is a crash."""
    try:
        claims = checker.check([model], e)
    except exact.UnreadableError:
        return "unreadable"
    return "accepted" if all(claim.verdict == exact.HOLDS for claim in claims) else "refused"


def read(honest, e):
    """As the command reads it: an explanation, or one line."""
    try:
        verify(Explanation.from_json(json.dumps(e)), honest.clf)
    except DataError:
        return


def tried(seed, kind, small=False):
    """One changed file: what became of it, and what was changed."""
    rng = np.random.default_rng(seed)
    honest = pool(small)[rng.integers(len(pool(small)))]
    e, said = mutant(rng, honest, kind)
    try:
        outcome = verdict(fast, honest.content, copy.deepcopy(e))
        if outcome == "accepted" or rng.random() < SAMPLE:
            again = verdict(exact, honest.content, copy.deepcopy(e))
            if again != outcome:
                return "differ", f"{said} (fast: {outcome}, exact: {again})"
        if rng.random() < READ:
            read(honest, e)
    except Exception as error:
        return "crash", f"{said} ({type(error).__name__}: {error})"
    if outcome != "accepted":
        return outcome, said
    try:
        with np.errstate(all="ignore"):
            wrong = forged(honest, e, rng)
    except Exception as error:
        wrong = [f"the judge cannot tell ({type(error).__name__}: {error})"]
    return ("forged", f"{said}: {'; '.join(wrong)}") if wrong else ("true", said)


def summary(kind, counts):
    names = ("unreadable", "refused", "true", "forged", "differ", "crash")
    values = [sum(counts[name] for name in names), *(counts[name] for name in names)]
    return dict(zip(COLUMNS, [kind, *values], strict=True))


def rows(done=()):
    for number_of_kind, kind in enumerate(KINDS):
        if (kind,) not in done:
            found = Counter(tried([number_of_kind, k], kind)[0] for k in range(EACH))
            yield summary(kind, found)


def resumed(log):
    """Counts by kind, and how many files are done, from a log."""
    counts, done = {kind: Counter() for kind in KINDS}, 0
    for line in log.read_text(encoding="utf-8").splitlines() if log.exists() else []:
        entry = json.loads(line)
        if "counts" in entry:
            done, counts = entry["done"], {kind: Counter(c) for kind, c in entry["counts"].items()}
    return counts, done


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--seconds", type=float, default=INF, help="stop after so many")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--log", type=Path, default=Path(tempfile.gettempdir()) / "surefoot-forgeries.jsonl")
    options = parser.parse_args()
    counts, done = resumed(options.log)
    started, kinds = time.monotonic(), list(KINDS)
    with options.log.open("a", encoding="utf-8") as log:
        for k in range(done, options.count):
            kind = kinds[k % len(kinds)]
            outcome, said = tried([options.seed, k], kind)
            counts[kind][outcome] += 1
            if outcome in ("true", "forged", "differ", "crash"):
                log.write(json.dumps({"number": k, "outcome": outcome, "said": said}) + "\n")
            if outcome in ("forged", "differ", "crash"):
                print(f"{outcome}: number {k}: {said}", flush=True)
            over = time.monotonic() - started > options.seconds
            if k % 500 == 499 or over or k + 1 == options.count:
                log.write(json.dumps({"done": k + 1, "counts": counts}) + "\n")
                log.flush()
            if over:
                break
    for kind in kinds:
        print("  ".join(f"{key}: {value}" for key, value in summary(kind, counts[kind]).items()))


if __name__ == "__main__":
    main()
