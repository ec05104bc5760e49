"""What a file that was accepted says, and whether it is true."""

import itertools
import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np

from surefoot.problem.question import Question
from surefoot.proof.exact import SENTENCES
from surefoot.search.certified import certified_search, certified_states
from surefoot.status import Status

INF = math.inf
ROOM = 1e-6  # for numbers computed here in double precision
DOT = 1e-5  # relative: a domain no wider than this is judged by its corners
SAMPLED = 50  # points in it beside them
PATIENCE = 20.0  # seconds for the search of a changed question


def number(value):
    """A number of a file; words for infinities."""
    return float("nan") if value is None else float(value)


class Meaning:
    """A file, read without suspicion: the checkers accepted it.

    Parameters
    ----------
    models : list of Facts
        The explained one first.
    e : dict
        The file.
    """

    def __init__(self, models, e):
        self.models, self.facts, self.e, self.asked = models, models[0], e, e["question"]
        self.factual, self.today = self.facts.split(self.asked["factual"])
        self.start = self.facts.scaled(self.factual)
        self.own, self.t = (self.facts.class_number(self.asked[key]) for key in ("factual_class", "target"))
        distance, self.ball = self.asked["distance"], self.asked["ball"]
        self.network = self.facts.network(self.own, self.today)
        self.p, self.M = number(distance["norm"]), self.network.whitening(distance["whitening"])
        self.prices = distance["prices"]
        if self.prices is not None:
            self.M = np.diag(1 / self.network.spread)
        domain = self.asked["domain"]
        self.low, self.high = (np.array([number(v) for v in domain[key]]) for key in ("low", "high"))
        row = e["counterfactual"]
        self.point = None if row is None else self.facts.split(row["values"])

    def distance(self, x, s):
        u = self.M @ (self.facts.scaled(x) - self.start)
        if self.prices is not None:
            up, down = np.array(self.prices, dtype=float).T
            u = np.where(u > 0, up, down) * u
        return float(np.linalg.norm(u, self.p)) + self.price(s)

    def price(self, s):
        """Of the categories of a state."""
        return sum(number(choice["prices"][v]) for choice, v in zip(self.asked["choices"], s, strict=True))

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
        P = self.network.precision[np.ix_(k, k)]
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
        if not k:
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

    def margin(self, entry, z, s):
        """A requirement at numbers on their scales."""
        if entry["kind"] == "away":
            way = self.network.whitening("cholesky") @ (z - np.array(entry["point"], dtype=float))
            return float(way @ way - entry["distance"] ** 2) / 2
        return self.models[entry["model"]].margin(entry, z, s)

    def robust(self, entry):
        return entry.get("robust", False)

    def attacked(self, entry, z, s, radius, rng):
        """The least value of a requirement that steps along its slope find within a radius."""
        least, facts = self.margin(entry, z, s), self.models[entry.get("model", 0)]
        if not self.robust(entry) or radius == 0:
            return least
        for start in range(6):
            random = self.farthest(rng.standard_normal(self.facts.n), radius)
            d = random if start else np.zeros(self.facts.n)
            for _ in range(8):
                d = self.farthest(facts.slope(entry, z + d, s), radius)
                least = min(least, self.margin(entry, z + d, s))
        return least

    def inside(self, x, s):
        """Whether a point lies in the domain; certainly."""
        domain = self.asked["domain"]
        rows = [(np.dot(r["coefficients"], x), number(r["low"]), number(r["high"])) for r in domain["rows"]]
        return (
            None not in s
            and self.price(s) < INF
            and bool(((self.low <= x) & (x <= self.high)).all())
            and all(low - ROOM <= value <= high + ROOM for value, low, high in rows)
            and all(self.allowed(entry, x) for entry in domain["sets"])
            and all(any(self.taken(way, x, s) for way in entry["ways"]) for entry in domain["eithers"])
            and all(self.few(entry, x, s) for entry in domain["limits"])
        )

    def taken(self, way, x, s):
        """Whether the rows of a way hold, an equation of several features nearly; and its categories."""
        for row in way["rows"]:
            a, low, high = np.array(row["coefficients"]), number(row["low"]), number(row["high"])
            room = ROOM if low == high and not (np.count_nonzero(a) == 1 and a.sum() == 1) else 0.0
            if not low - room <= math.fsum(a * x) <= high + room:
                return False
        return all(s[k] in codes for k, codes in way["values"])

    def few(self, entry, x, s):
        changed = sum(x[j] != self.factual[j] for j in entry["numbers"])
        return changed + sum(s[k] != self.today[k] for k in entry["categories"]) <= entry["count"]

    def allowed(self, entry, x):
        j, values = entry["feature"], entry["values"]
        listed = float(x[j]).is_integer() if values is None else float(x[j]) in values
        return x[j] == self.factual[j] or listed

    def satisfied(self, x, s, rng, room=0.0):
        """Whether a point answers the question: all requirements in the whole ball, up to some rounding."""
        z = self.facts.scaled(x)
        met = (self.attacked(entry, z, s, self.radius, rng) >= -room for entry in self.asked["requirements"])
        return self.inside(x, s) and all(met)

    @property
    def decisions(self):
        """Odds or decisions of the explained model."""
        entries = (entry for entry in self.asked["requirements"] if entry["kind"] in ("odds", "decision"))
        return [entry for entry in entries if entry["model"] == 0]

    def violation(self, z, s):
        """The largest by which a decision misses what is asked of it, in log-odds."""
        return max(-self.margin(entry, z, s) for entry in self.decisions) / self.facts.heat

    def size(self, x, s):
        """The largest score of any model at a point: what its rounding goes by."""
        z = self.facts.scaled(x)
        return max(1.0, *(np.abs(model.scores(z, s)).max() for model in self.models))


# ----- a question that is asked anew ------------------------------------------------------------------------


def _without_values(asked):
    """Whether a set leaves a number no value between its ends: such a question cannot be put together."""
    domain, categories = asked["domain"], {choice["feature"] for choice in asked["choices"]}
    today = [v for j, v in enumerate(asked["factual"]) if j not in categories]
    for entry in domain["sets"]:
        j, values = entry["feature"], entry["values"]
        low, high = number(domain["low"][j]), number(domain["high"][j])
        listed = [v for v in (values or ()) if low <= v <= high]
        if not (listed or low <= today[j] <= high or (values is None and math.floor(high) >= low)):
            return True
    return False


def asked_anew(honest, e):
    """What the search finds for the question of a file, made of that question alone: answer and point."""
    asked = e["question"]
    if not all(either["ways"] for either in asked["domain"]["eithers"]) or _without_values(asked):
        return SimpleNamespace(status=Status.INFEASIBLE, lower_bound=INF), None
    family = _family(honest, asked)
    posed = family if asked["choices"] else family.problem()
    answer = (certified_states if asked["choices"] else certified_search)(posed, 1e-3, PATIENCE)
    found = _read(asked).unwarped(answer)
    return found, None if found.point is None else (np.array(found.point), tuple(found.state))


def _read(asked, norm=None):
    """The question with one norm for distance and ball: the package knows no others, the format does."""
    ball, norm = asked["ball"], asked["distance"]["norm"] if norm is None else norm
    by_feature = isinstance(ball["budget"], dict)
    said = {
        "distance": asked["distance"] | {"norm": norm},
        "ball": ball | ({} if by_feature else {"norm": norm}),
    }
    return Question.from_dict(asked | said | {"domain": _with_intervals(asked["domain"])})


def _with_intervals(domain):
    """The domain with the coefficient 1 in rows about one feature: in ways the package takes no other."""
    eithers = [
        either | {"ways": [way | {"rows": [_interval(row) for row in way["rows"]]} for way in either["ways"]]}
        for either in domain["eithers"]
    ]
    return domain | {"eithers": eithers}


def _interval(row):
    a = np.array(row["coefficients"], dtype=float)
    if np.count_nonzero(a) != 1:
        return row
    size = float(a.sum())
    ends = sorted(number(row[end]) / size for end in ("low", "high"))
    low, high = (end if math.isfinite(end) else str(end) for end in ends)
    return row | {"coefficients": (a / size).tolist(), "low": low, "high": high}


def _family(honest, asked):
    of_distance, of_ball = (
        _read(asked, asked[key]["norm"]).family(*honest.classifiers) for key in ("distance", "ball")
    )
    return replace(of_distance, ball=of_ball.ball)


# ----- what is false ----------------------------------------------------------------------------------------


def forged(honest, e, rng):
    """What is false in a file that was accepted; nothing if all is true."""
    if e["status"] == "refused":
        return ["a refused request was accepted"]
    m = Meaning(honest.facts, e)
    wrong = [*_of_the_question(m), *of_the_bound(m, rng, honest.points)]
    if e["question"] != honest.document["question"]:
        wrong += _of_the_changed_question(m, rng, *asked_anew(honest, e))
    return wrong if m.point is None else [*wrong, *_of_the_point(m), *_of_robustness(m, rng)]


def _differ(stated, value, size=1.0):
    if value is None:
        return stated is not None
    return not abs(number(stated) - value) <= ROOM * max(abs(value), size)


def _expected_differ(m, key, network, k, z, s):
    """Numbers are compared on their scales, chances of categories as they are."""
    facts, stated = m.facts, m.e[key]["values"]
    numbers = facts.scaled([stated[j] for j in facts.numbers])
    expected, units = network.expected(z), m.network.spread
    far = (np.abs(numbers - expected) > ROOM * (units + np.abs(expected))).any()
    return far or not np.allclose([stated[j] for j in facts.categories], facts.chances(k, s), rtol=ROOM)


def _of_the_question(m):
    e, facts = m.e, m.facts
    if int(np.argmax(facts.scores(m.start, m.today))) != m.own:
        yield "the factual's class is false"
    if _differ(e["factual_probability"], facts.probability(m.t, m.start, m.today)):
        yield "factual_probability is false"
    if not np.allclose([e["unit"]["values"][j] for j in facts.numbers], m.network.spread, rtol=ROOM, atol=0):
        yield "unit is false"
    if _expected_differ(m, "expected_before", m.network, m.own, m.start, m.today):
        yield "expected_before is false"
    rivals = {*range(len(facts.labels))} - {m.t}
    if rivals - {facts.class_number(entry["rival"]) for entry in _usual(m)}:
        yield "the odds against a rival are not asked for"
    if e["message"] != SENTENCES[e["status"]]:
        yield "the message is false"
    if (m.low > m.high).any():
        yield "the domain is empty"


def _usual(m):
    """The requirements that the file's threshold (or the one value of the decision) speaks of."""
    own = m.facts.class_number
    entries = [entry for entry in m.decisions if own(entry["target"]) == m.t and entry["robust"]]
    if m.facts.has_probability:
        return [entry for entry in entries if entry["threshold"] == m.e["threshold"]]
    return [entry for entry in entries if entry["value"] == m.decisions[0]["value"]]


def _of_the_changed_question(m, rng, answer, point):
    """The answer that was found anew, against what the file claims of the same question."""
    if point is None and answer.status is not Status.INFEASIBLE:
        if not _is_dot(m):
            yield f"the judge cannot tell (asked anew: {answer.status})"
        elif any(m.distance(x, s) < number(m.e["lower_bound"]) * (1 - ROOM) for x, s in _of_a_dot(m, rng)):
            yield "there is a nearer point"
    if point is not None:
        if not m.satisfied(*point, rng, ROOM * m.size(*point)):
            yield "the judge cannot tell (the point found anew does not answer the question)"
        elif number(m.e["lower_bound"]) > m.distance(*point) * (1 + ROOM):
            yield "asked anew, there is a nearer point"
    answered = m.point is not None and m.e["status"] != "already_target" and number(m.e["coverage"]) >= 1
    if answered and m.distance(*m.point) < answer.lower_bound * (1 - ROOM):
        yield "asked anew, no point is so near"


def _is_dot(m):
    """Whether the numbers have so little room that its corners stand for all of it.

    A search steps inside by more than that, and may find no point.
    """
    return bool((m.high - m.low <= DOT * (1 + np.abs(m.low))).all())


def _of_a_dot(m, rng):
    """Points that answer the question, of the corners of a dot and some others, in every state."""
    today = np.clip(m.factual, m.low, m.high)
    lines = [{m.low[j], m.high[j], 0.5 * (m.low[j] + m.high[j]), today[j]} for j in range(m.facts.n)]
    inner = rng.uniform(m.low, m.high, (SAMPLED, m.facts.n))
    candidates = [*itertools.product(*lines), *([] if m.point is None else [m.point[0]]), *inner]
    for s in itertools.product(*(range(len(choice["prices"])) for choice in m.asked["choices"])):
        for x in map(np.array, candidates):
            if m.satisfied(x, s, rng):
                yield x, s


def of_the_bound(m, rng, known):
    """No point that is known to answer the question may be nearer than the bound."""
    bound, distance = number(m.e["lower_bound"]), number(m.e["distance"])
    if not (bound <= 0 or bound == INF or m.point is None) and bound > distance * (1 + 1e-9):
        yield "the bound exceeds the distance"
    for point in [*known, *([] if m.point is None else [m.point])]:
        if bound > m.distance(*point) * (1 + ROOM) and m.satisfied(*point, rng):
            yield "there is a nearer point"
    if (m.e["status"] == "infeasible") != (bound == INF):
        yield "infeasible without proof"
    gap = number(m.e["gap"])
    follows = INF if m.point is None else 0.0 if distance == 0 else 1 - bound / distance
    if not (gap == follows or abs(gap - follows) <= ROOM):
        yield "the gap is false"


def _of_the_point(m):
    e, facts, (x, s) = m.e, m.facts, m.point
    if not m.inside(x, s):
        yield "the point is outside of the domain"
        return
    z, room, network = facts.scaled(x), ROOM * m.size(x, s), facts.network(m.t, s)
    scores = facts.scores(z, s)
    if _differ(e["probability"], facts.probability(m.t, z, s)):
        yield "probability is false"
    if scores[facts.class_number(e["decision"])] < scores.max() - room:
        yield "the decision is false"
    if _differ(e["distance"], m.distance(x, s)):
        yield "the distance is false"
    if min(m.margin(entry, z, s) for entry in m.asked["requirements"]) < -room:
        yield "the point is not valid"
    score = (z - network.expected(z)) / np.sqrt(network.variances)
    stated = np.array([e["z_score"]["values"][j] for j in facts.numbers], dtype=float)
    if (np.abs(stated - score) > ROOM * (1 + np.abs(score))).any():
        yield "z_score is false"
    if _expected_differ(m, "expected_after", network, m.t, z, s):
        yield "expected_after is false"
    density = facts.log_density(m.t, z, s)
    ends = np.interp([density - room, density + room], facts.percentiles[m.t], np.arange(101.0))
    if not ends[0] - 1e-4 <= number(e["density_percentile"]) <= ends[1] + 1e-4:
        yield "density_percentile is false"


def _of_robustness(m, rng):
    e, facts, (x, s) = m.e, m.facts, m.point
    z, room = facts.scaled(x), ROOM * m.size(x, s)
    radius, budget = number(e["certified_radius"]), m.radius
    covered = 1.0 if radius >= budget else radius / budget
    if not abs(number(e["coverage"]) - covered) <= 1e-9 or not radius >= 0:
        yield "coverage or radius is false"
    for entry in m.asked["requirements"]:
        if radius > 0 and m.perturbed and m.attacked(entry, z, s, min(radius, 1e3), rng) < -room:
            yield "a perturbation within the radius undoes it"
    worst = e["certificate"]["worst"]
    if worst is None:
        if e["worst_probability"] is not None or e["violation"] != "inf":
            yield "a worst case without perturbation"
        return
    there = z + np.array(worst, dtype=float)
    chance = facts.probability(m.t, there, s)
    if _differ(e["worst_probability"], chance) or _differ(e["violation"], m.violation(there, s)):
        yield "the worst case is false"
