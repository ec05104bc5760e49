"""Changes of an explanation file: at random, and such as a forger would make who knows the format."""

import copy
import math

import numpy as np

from benchmarks.audit.forging.judge import Meaning, number
from surefoot.proof.exact import SENTENCES

INF = math.inf
SPECIAL = [
    None, "inf", "-inf", "nan", math.nan, math.inf, -math.inf, 0.0, -0.0, 5e-324, -5e-324, 1e-308, 1e-170,
    1e300, -1e300, 1e308, 2**53, 2**53 + 1, 10**400, -1, 0, 1, 7, True, False, "", "a", [], {}, [[]], [[[]]],
    {"a": 1}, "\x1b[2J", "\ud800",
]  # fmt: skip


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
    found += [entry["proof"] for entry in (certificate["states"] or {"proofs": []})["proofs"]]
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
        [float(rng.choice([1e-170, 1.0, 5e-324, 1e300]))] * len(e["question"]["domain"]["low"])
    )
    return "direction"


def _change_weights(rng, leaf):
    factor = float(rng.choice([5e-324, 0.0, 1e-300, 0.5, 0.999, 1 + 1e-12, 2.0, 1e10, 1e300, -1.0]))
    keys = ["norm", "products", "requirements", "between", "cross"]
    chosen = keys if rng.random() < 0.3 else [keys[rng.integers(5)]]
    for key in chosen:
        place = 2 if key == "cross" else 0
        if key == "norm":
            leaf[key] = [v * factor if isinstance(v, float) else v for v in leaf[key]]
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


def of_the_bound(e):
    """The leaves that the lower bound rests on."""
    certificate = e["certificate"]
    proofs = [certificate["bound"]] if certificate["bound"] else []
    proofs += [entry["proof"] for entry in (certificate["states"] or {"proofs": []})["proofs"]]
    return [leaf for proof in proofs for leaf in leaves(proof["tree"])]


def raise_bound(rng, e):
    """A larger bound, with levels and gap that go with it."""
    factor = float(rng.choice([1 + 1e-12, 1 + 1e-9, 1 + 1e-6, 1.0007, 1.0009, 1.01, 2.0, 34.0, 0.9, 0.5]))
    bound, held = number(e["lower_bound"]), of_the_bound(e)
    e["question"]["gap"] = float(rng.choice([e["question"]["gap"], 0.99]))  # then any bound may do
    if not 0 < bound < INF or not held:
        e["lower_bound"] = 1.0
        return "bound out of nothing"
    e["lower_bound"] = bound * factor
    more = bound * (factor - 1)  # with categories levels are less than the bound, by the price of a state
    for leaf in held:
        if isinstance(leaf["level"], float):
            leaf["level"] = leaf["level"] * factor if rng.random() < 0.5 else max(leaf["level"] + more, 0.0)
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
    """Another point: nearer to the factual, farther away, or off by a little; or in another state."""
    if e["counterfactual"] is None:
        return raise_bound(rng, e)
    row, start = (e[key]["values"] for key in ("counterfactual", "factual"))
    share = float(rng.choice([0.0, 0.5, 0.9, 0.99, 0.999, 1 - 1e-6, 1 - 1e-12, 1 + 1e-6, 1.01, 1.5]))
    noise = float(rng.choice([0.0, 0.0, 1e-12, 1e-3]))
    for j in numbers_of(e):
        step = row[j] - start[j]
        row[j] = start[j] + share * step + noise * abs(step) * float(rng.standard_normal())
    for choice in e["question"]["choices"]:
        if rng.random() < 0.3:
            row[choice["feature"]] = choice["values"][rng.integers(len(choice["values"]))]
    if rng.random() < 0.2:
        e["method"], e["tol"] = "qcqp", float(rng.choice([1e-3, 1.0, 1e300]))
    return f"point at {share}"


def numbers_of(e):
    """Positions of the numbers among the features."""
    categories = {choice["feature"] for choice in e["question"]["choices"]}
    return [j for j in range(len(e["question"]["features"])) if j not in categories]


def other_question(rng, e):
    """A change of the question, repeated in the file."""
    asked, how = e["question"], rng.integers(14)
    domain, row = asked["domain"], (e["counterfactual"] or e["factual"])["values"]
    x = [row[j] for j in numbers_of(e)]
    j = int(rng.integers(len(x)))
    if how == 0:
        _other_marks(rng, e)
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
    elif how < 11:
        _other_rules(rng, e, j, how)
    else:
        _other_choices(rng, e) if asked["choices"] and how < 13 else _other_requirements(rng, e)
    return f"question {how}"


def _other_marks(rng, e):
    """Another threshold, or another value of the decision."""
    tau, value = float(rng.choice([0.001, 0.3, 0.5001, 0.7, 1 - 1e-12])), float(rng.standard_normal())
    e["threshold"] = None if e["threshold"] is None else tau
    for entry in e["question"]["requirements"]:
        entry |= {"threshold": tau} if entry["kind"] == "odds" else {}
        entry |= {"value": value} if entry["kind"] == "decision" else {}


def _other_requirements(rng, e):
    """One that is milder or stricter, of another model, at the point alone, or that is not there."""
    entries, how = e["question"]["requirements"], rng.integers(6)
    entry = entries[rng.integers(len(entries))]
    if how == 0:
        entry["robust"] = not entry.get("robust", True)
    elif how == 1:
        entry["model"] = int(rng.integers(0, 3))
    elif how == 2:
        entries.remove(entry)
    elif how == 3:
        labels = [e["target"], e["factual_class"]]
        floor, robust = float(rng.choice([-1e3, -30.0, 0.0])), bool(rng.integers(2))
        asked = {"kind": "density", "model": 0, "class": labels[rng.integers(2)]}
        entries.append(asked | {"floor": floor, "robust": robust})
    elif how == 4:
        names, now = numbers_of(e), e["factual"]["values"]
        entries.append({"kind": "away", "point": [now[j] for j in names], "distance": float(rng.random())})
    else:
        key = {"odds": "threshold", "decision": "value", "density": "floor", "away": "distance"}[
            entry["kind"]
        ]
        entry[key] = scaled(rng, entry[key])


def _other_choices(rng, e):
    """Other prices of categories, other values that may be taken, limits and ways that name others."""
    choices, domain = e["question"]["choices"], e["question"]["domain"]
    k, how = int(rng.integers(len(choices))), rng.integers(5)
    prices = choices[k]["prices"]
    v = int(rng.integers(len(prices)))
    if how < 2:
        prices[v] = [0.0, 0.1, 1.0, "inf", prices[v], 5e-324][rng.integers(6)]
    elif how == 2:
        prices[:] = [p if p == "inf" else p * float(rng.choice([0.5, 0.999, 2.0])) for p in prices]
    elif how == 3:
        limit = {"name": "", "count": int(rng.integers(3)), "numbers": [], "categories": [k]}
        for entry in domain["limits"] or [limit]:
            entry["categories"] = sorted({*entry["categories"]} ^ {k})
        domain["limits"] = domain["limits"] or [limit]
    else:
        ways = [way for either in domain["eithers"] for way in either["ways"]]
        way = ways[rng.integers(len(ways))] if ways else {"rows": [], "values": []}
        way["values"] = [] if way["values"] and rng.random() < 0.3 else [[k, [v]]]
        domain["eithers"] = domain["eithers"] or [{"name": "", "ways": [way]}]


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
        distance |= {"kind": "cost", "prices": [[1.0, 1.0] for _ in domain["low"]]}
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
    e["status"], e["message"], e["lower_bound"] = "infeasible", SENTENCES["infeasible"], "inf"
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
    for leaf in of_the_bound(e):
        leaf["level"] = level
        leaf["norm"] = [] if level == "inf" else leaf["norm"]
        if rng.random() < 0.5:
            _change_weights(rng, leaf)
    return f"infeasible {level}"


def change_states(rng, e):
    """What holds for which states: shapes, constants, ways, counts, trades, and which proofs there are."""
    states = e["certificate"]["states"]
    if not states or not states["proofs"]:
        return other_question(rng, e)
    proofs, how = states["proofs"], rng.integers(9)
    entry, other = (proofs[k] for k in rng.integers(len(proofs), size=2))
    if how == 0:
        entry["constants"] = [
            scaled(rng, v) + float(rng.choice([0.0, 1e-9, 0.1, 10.0])) for v in entry["constants"]
        ]
    elif how == 1:
        proofs.remove(entry)
    elif how == 2:
        for pair in entry["shape"][:1] or [[0, 0]]:
            pair[1] = int(rng.integers(0, 3))
    elif how == 3:
        entry["ways"] = [[None, [], [0], [0, 1], [1]][rng.integers(5)] for _ in entry["ways"]]
    elif how == 4:
        entry["left"] = [int(rng.integers(-1, 4)) for _ in entry["left"]]
    elif how == 5:
        states["trades"] = [*states["trades"], float(rng.choice([0.0, 0.5, 2.0, 1e6, 5e-324]))]
    elif how == 6:
        entry["proof"], other["proof"] = other["proof"], entry["proof"]
    elif how == 7:
        entry["shape"], entry["constants"] = copy.deepcopy(other["shape"]), copy.deepcopy(other["constants"])
    else:
        return f"states: {change(rng, states)}"
    return f"states {how}"


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
    "states": change_states,
    "two changes": lambda rng, e: f"{change_proof(rng, e)}; {raise_bound(rng, e)}",
}


def follow(models, e):
    """Compute every number again that follows from others, as a forger would who knows the format."""
    m, facts = Meaning(models, e), models[0]
    bound, radius = number(e["lower_bound"]), number(e["certified_radius"])
    e["factual_probability"] = facts.probability(m.t, m.start, m.today)
    if m.point is None:
        return
    (x, s), network = m.point, facts.network(m.t, m.point[1])
    z, idle = facts.scaled(x), [None] * len(s)
    expected = network.expected(z)
    e["distance"], e["probability"] = m.distance(x, s), facts.probability(m.t, z, s)
    e["decision"] = facts.labels[int(np.argmax(facts.scores(z, s)))]
    e["gap"] = 1 - bound / e["distance"] if e["distance"] else 0.0
    e["coverage"] = 1.0 if radius >= m.radius else radius / m.radius
    e["expected_after"]["values"] = facts.joined(facts.unscaled(expected).tolist(), facts.chances(m.t, s))
    e["z_score"]["values"] = facts.joined(((z - expected) / np.sqrt(network.variances)).tolist(), idle)
    density = facts.log_density(m.t, z, s)
    e["density_percentile"] = float(np.interp(density, facts.percentiles[m.t], np.arange(101.0)))
    if e["certificate"]["worst"] is not None:
        there = z + np.array(e["certificate"]["worst"])
        e["worst_probability"] = facts.probability(m.t, there, s)
        e["violation"] = m.violation(there, s)
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
