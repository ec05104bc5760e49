"""Forged files: honest answers of the search with one lie each, refused by the checker."""

import copy
import functools
import json
import math
import subprocess
import sys

import numpy as np
import pytest

from surefoot import Action, Actions, ConditionalGaussianNetworkClassifier, datasets
from surefoot.explain.result.explanation import Explanation
from surefoot.explain.verification import verify
from surefoot.model.content import classifier_content
from surefoot.proof import exact
from surefoot.status import Status
from surefoot.ui.cli import main as surefoot
from tests.asking import CounterfactualExplainer
from tests.proof.handmade import banknote, banknote_row, mean_of, small
from tests.thinning import only

LEAST = 5e-324


@functools.cache
def pima():
    data = datasets.load_pima()
    return ConditionalGaussianNetworkClassifier().fit(data.X, data.y)


@functools.cache
def steep():
    """Two classes so narrow that log-odds are of order 1e8."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 200)
    X = y[:, None] + 1e-4 * rng.standard_normal((400, 3))
    return ConditionalGaussianNetworkClassifier().fit(X, y)


WHOLE = Actions({"preg": Action(whole=True), "age": Action(whole=True)})
QUESTIONS = {
    "robust": (banknote, banknote_row, 1, {"budget": 0.05}),
    "plain": (banknote, banknote_row, 1, {}),
    "one": (banknote, banknote_row, 1, {"budget": 0.05, "norm": 1}),
    "two": (banknote, banknote_row, 1, {"budget": 0.05, "norm": 2}),
    "zca": (banknote, banknote_row, 1, {"budget": 0.05, "whitening": "zca"}),
    "dag": (banknote, banknote_row, 1, {"budget": 0.05, "whitening": "dag"}),
    "whole": (pima, lambda: datasets.load_pima().X.iloc[0], 0, {"budget": 0.05, "norm": 2, "actions": WHOLE}),
    "rough": (
        pima,
        lambda: datasets.load_pima().X.iloc[0],
        0,
        {"budget": 0.05, "norm": 2, "actions": WHOLE, "gap": 0.03},
    ),
    "between": (
        pima,
        lambda: datasets.load_pima().X.iloc[6],
        None,
        {"budget": 0.05, "norm": 1, "actions": WHOLE, "plausible": 0.3, "gap": 0.01},
    ),
    "three": (lambda: small(2, 3), lambda: mean_of(small(2, 3), "a"), "c", {"budget": 0.05}),
    "already": (banknote, banknote_row, 0, {"budget": 0.05}),
    "steep": (steep, lambda: mean_of(steep(), 0), 1, {}),
}


@functools.cache
def asked(name):
    """The classifier, its content, and the honest answer as JSON text."""
    clf, row, target, options = QUESTIONS[name]
    e = CounterfactualExplainer(clf(), **options).explain(row(), target=target)
    return clf(), classifier_content(clf()), e.to_json()


def honest(name):
    _, content, text = asked(name)
    return content, json.loads(text)


def verdicts(content, e):
    try:
        return {claim.name: claim.verdict for claim in exact.check([content], e)}
    except exact.UnreadableError:
        return {"file": "unreadable"}


def refuses(content, e, claim=None):
    """Whether some claim does not hold, or the one that is named."""
    found = verdicts(content, e)
    wrong = [name for name, verdict in found.items() if verdict != exact.HOLDS]
    return bool(wrong) and (claim is None or claim in wrong)


def leaves(node):
    if "below" in node:
        return [*leaves(node["below"]), *leaves(node["above"])]
    return [node]


def proofs(e):
    held = e["certificate"]["robustness"]
    return [e["certificate"]["bound"], *(held["proofs"] if held else [])]


def weigh(leaf, weight):
    """Every weight of a leaf replaced."""
    leaf["norm"] = [weight] * len(leaf["norm"])
    leaf["cross"] = []
    for entry in [*leaf["products"], *leaf["requirements"], *leaf["between"]]:
        entry[0] = weight


@pytest.mark.parametrize("name", QUESTIONS)
def test_honest_answers_hold(name):
    assert set(verdicts(*honest(name)).values()) == {exact.HOLDS}


# ----- bounds -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("weight", [LEAST, 0.0, 1e-300, 1e300])
@pytest.mark.parametrize("name", ["robust", "plain", "one", "two", "whole", "three", "steep"])
def test_a_bound_far_above_the_distance(name, weight):
    content, e = honest(name)
    e["lower_bound"] = 34 * e["distance"]
    for leaf in leaves(e["certificate"]["bound"]["tree"]):
        leaf["level"] = e["lower_bound"]
        weigh(leaf, weight)
    assert refuses(content, e, "lower bound")
    assert refuses(content, e, "gap")
    e["distance"], e["gap"] = e["lower_bound"], 0.0
    assert refuses(content, e, "lower bound")
    assert refuses(content, e, "distance")


def without_point(e, status):
    """The file of an answer that found nothing."""
    e["status"], e["message"] = status, Status(status).sentence
    for key in ("counterfactual", "decision", "expected_after", "z_score", "probability"):
        e[key] = None
    e["worst_probability"] = e["density_percentile"] = None
    e["distance"] = e["violation"] = e["gap"] = "inf"
    e["coverage"] = e["certified_radius"] = 0.0
    e["certificate"] |= {"robustness": None, "worst": None}


@pytest.mark.parametrize("weight", [LEAST, 0.0, 1.0, 1e300])
@pytest.mark.parametrize("level", ["inf", 1e6, 1e300])
@pytest.mark.parametrize("name", ["robust", "two", "whole"])
def test_a_feasible_question_sold_as_infeasible(name, level, weight):
    content, e = honest(name)
    without_point(e, "infeasible")
    e["lower_bound"] = "inf"
    for leaf in leaves(e["certificate"]["bound"]["tree"]):
        leaf["level"] = level
        weigh(leaf, weight)
        if level == "inf":
            leaf["norm"] = []
    assert refuses(content, e, "lower bound")
    e["certificate"]["bound"] = None
    assert refuses(content, e, "lower bound")


@pytest.mark.parametrize("name", ["robust", "one", "two"])
def test_a_level_above_what_a_leaf_proves(name):
    content, e = honest(name)
    for leaf in leaves(e["certificate"]["bound"]["tree"]):
        leaf["level"] *= 1.01
    e["lower_bound"] *= 1.01
    e["gap"] = 1 - e["lower_bound"] / e["distance"]
    assert refuses(content, e, "lower bound")


@pytest.mark.parametrize("name", ["robust", "one", "two", "whole"])
def test_negative_weights(name):
    content, e = honest(name)
    for key in ("norm", "products", "requirements", "between"):
        for number in range(len(proofs(e))):
            forged = copy.deepcopy(e)
            for leaf in leaves(proofs(forged)[number]["tree"]):
                if not leaf[key]:
                    break
                if key == "norm":
                    leaf["norm"][0] = -LEAST
                else:
                    leaf[key][0][0] = -LEAST
                assert refuses(content, forged, "robustness" if number else "lower bound")


def test_cross_terms_beyond_the_norms_weight():
    for number in (0, 1):
        content, e = honest("one")
        leaf = leaves(proofs(e)[number]["tree"])[0]
        for value in (np.nextafter(leaf["norm"][0], 9), -2 * leaf["norm"][0]):
            leaf["cross"][0][2] = float(value)
            assert refuses(content, e, "robustness" if number else "lower bound")


def test_cross_terms_twice_or_in_another_norm():
    content, e = honest("one")
    leaf = leaves(e["certificate"]["bound"]["tree"])[0]
    leaf["cross"].append(leaf["cross"][0])
    assert refuses(content, e, "lower bound")
    content, e = honest("two")
    leaves(e["certificate"]["bound"]["tree"])[0]["cross"] = [[0, 1, LEAST]]
    assert refuses(content, e, "lower bound")


def cut(e, function, at):
    """The honest tree, twice, below a split."""
    bound = e["certificate"]["bound"]
    bound["tree"] = {"cut": [function, at], "below": bound["tree"], "above": copy.deepcopy(bound["tree"])}
    return bound["tree"]


def test_a_cut_whose_other_half_is_missing():
    content, e = honest("robust")
    cut(e, ["u", 0], 0.1)
    assert not refuses(content, e)
    for side in ("below", "above"):
        for other in (None, {}, [], "below", 1.0):
            forged = copy.deepcopy(e)
            forged["certificate"]["bound"]["tree"][side] = other
            assert refuses(content, forged)
        del forged["certificate"]["bound"]["tree"][side]
        assert refuses(content, forged)


def test_a_split_that_is_used_from_the_wrong_side():
    """Each half claims what only the other may."""
    content, e = honest("robust")
    tree = cut(e, ["u", 0], 50.0)  # nothing is above
    empty = {"level": "inf", "norm": [], "cross": [], "products": [], "requirements": [], "between": []}
    tree["above"] = {**empty, "level": 2.0}
    assert not refuses(content, e, "lower bound")
    tree["below"], tree["above"] = tree["above"], tree["below"]
    assert refuses(content, e, "lower bound")
    tree["below"] = {**empty, "products": [[1.0, ["c", 1], ["c", 0]]]}  # a split that is not on the way
    assert refuses(content, e, "lower bound")


@pytest.mark.parametrize("size", [1e-170, -1e-170, LEAST, 1e300])
def test_directions_of_absurd_sizes(size):
    """A direction so small that its products vanish proves nothing about what lies beyond a cut."""
    content, e = honest("robust")
    bound, leaf = e["certificate"]["bound"], leaves(e["certificate"]["bound"]["tree"])[0]
    bound["directions"] = [[size] * 4]
    blank = {"level": 40.0, "norm": [0.0] * 4, "cross": [], "requirements": [], "between": []}
    halves = [{**blank, "products": [[1e300, ["c", 0], ["c", 0]]]}, {**leaf, "level": 40.0}]
    bound["tree"] = {"cut": [["d", 0], 0.0], "below": halves[0], "above": halves[1]}
    e["lower_bound"] = 40.0
    assert refuses(content, e, "lower bound")


def test_a_scenario_just_outside_the_ball():
    for name in ("robust", "one", "two", "dag", "zca"):
        content, e = honest(name)
        scenarios = e["certificate"]["bound"]["scenarios"]
        k = max(range(len(scenarios)), key=lambda k: max(map(abs, scenarios[k])))
        scenarios[k] = [1.0001 * v for v in scenarios[k]]
        assert refuses(content, e, "lower bound")


def test_a_choice_that_skips_an_allowed_number():
    content, e = honest("whole")
    node = e["certificate"]["bound"]["tree"]
    j, a, b = node["choice"]
    for low, high in ((a, b + 1), (a - 1, b), (a, a), (b, a), (a - 0.5, b + 0.5)):
        node["choice"] = [j, low, high]
        assert refuses(content, e, "lower bound")
    others = [k for k in range(8) if k not in (0, 7)]
    node["choice"] = [others[0], a, b]  # a feature without a set
    assert refuses(content, e, "lower bound")


def test_between_that_skips_an_allowed_number():
    content, e = honest("between")
    entries = [entry for leaf in leaves(e["certificate"]["bound"]["tree"]) for entry in leaf["between"]]
    assert entries
    entries[0][3] += 1.0
    assert refuses(content, e, "lower bound")


# ----- robustness -------------------------------------------------------------------------------------------


def sold_as_robust(e, radius):
    """A point for which nothing was proved, with a budget and a radius."""
    e["budget"] = e["question"]["ball"]["budget"] = 0.5
    e["certified_radius"], e["coverage"] = radius, 1.0
    return e


@pytest.mark.parametrize("radius", [1e200, None, "inf", 0.5, -1.0, "-inf"])
@pytest.mark.parametrize("name", ["plain", "steep"])
def test_a_plain_point_sold_as_robust(name, radius):
    content, e = honest(name)
    sold_as_robust(e, radius)
    assert refuses(content, e, "robustness")
    like = honest("robust")[1]["certificate"]["robustness"]
    proof = like["proofs"][0]
    for leaf in leaves(proof["tree"]):
        leaf["level"] = radius
        weigh(leaf, LEAST)
        leaf["norm"] = [] if radius == "inf" else leaf["norm"]
    if name == "steep":
        leaf |= {"norm": [LEAST] * 3, "products": []}
    for weight in (LEAST, 1.0, 1e300):
        weigh(leaf, weight)
        e["certificate"]["robustness"] = {"radius": radius, "slack": 0.0, "proofs": [proof]}
        assert refuses(content, e)


@pytest.mark.parametrize("radius", [5.0, 50.0, 1e4])
def test_radii_of_plain_points_where_odds_are_steep(radius):
    """Rounding of log-odds of order 1e8 proves nothing: a step of a few units undoes the decision."""
    content, e = honest("steep")
    case = exact.read_case([content], e)
    (entry,) = case.question.requirements
    assert case.twice_margin(entry, case.question.factual).half() < -1e7
    e["certified_radius"] = radius  # the budget is zero: all of it is covered anyway
    assert refuses(content, e, "robustness")
    leaf = {"level": radius, "cross": [], "products": [], "between": []}
    for weight in (LEAST, 1.0, 1e4, 1e8, 1e16):
        for share in (LEAST, 1.0):
            tree = {**leaf, "norm": [weight] * 3, "requirements": [[share, 0, -1]]}
            proof = {"directions": [], "scenarios": [], "tree": tree}
            e["certificate"]["robustness"] = {"radius": radius, "slack": 0.0, "proofs": [proof]}
            assert refuses(content, e, "robustness")


def test_a_radius_or_a_slack_above_what_is_proved():
    for name in ("robust", "one", "two", "dag", "zca", "whole", "three"):
        content, e = honest(name)
        held = e["certificate"]["robustness"]
        for factor in (1 + 1e-15, 1.5, 1e200):
            e["certified_radius"] = max(0.05, held["radius"]) * factor
            assert refuses(content, e, "robustness")
        e["certified_radius"] = held["radius"]
        held["slack"] += 0.5
        assert refuses(content, e, "robustness")


def test_a_proof_less():
    content, e = honest("three")
    e["certificate"]["robustness"]["proofs"].pop()
    assert refuses(content, e)


def test_all_of_the_budget_is_all_of_it():
    content, e = honest("robust")
    e["certified_radius"] = float(np.nextafter(0.05, 0.0))
    assert refuses(content, e, "robustness")


def test_a_coverage_that_does_not_follow():
    content, e = honest("robust")
    for stated in (0.0, 0.5, 1 - 1e-9, 2.0, None, "inf", -1.0):
        e["coverage"] = stated
        assert refuses(content, e, "robustness")


# ----- the point --------------------------------------------------------------------------------------------


def test_nothing_is_proved_where_the_request_was_refused():
    for name in ("robust", "plain", "already"):
        content, e = honest(name)
        e["status"], e["message"] = "invalid", Status.INVALID.sentence
        assert refuses(content, e, "refusal")
        without_point(e, "invalid")
        assert refuses(content, e, "refusal")
        e["certificate"] = dict.fromkeys(e["certificate"])
        e |= dict.fromkeys(("question", "factual_class", "factual_probability", "expected_before"))
        e["lower_bound"] = 0.0
        assert refuses(content, e, "refusal")


def test_the_factual_sold_as_already_at_the_target():
    content, e = honest("plain")
    assert e["factual_probability"] < 0.002
    e["status"], e["message"] = "already_target", Status.ALREADY_TARGET.sentence
    e["counterfactual"], e["probability"] = e["factual"], e["factual_probability"]
    e["distance"] = e["lower_bound"] = e["gap"] = 0.0
    assert refuses(content, e, "validity")


def test_the_tolerance_of_a_solver_does_not_excuse_everything():
    """Method and tolerance are words of the file."""
    for method in ("qcqp", "milp", "certified"):
        content, e = honest("plain")
        e |= {"method": method, "tol": 1e300, "counterfactual": e["factual"]}
        e |= {"distance": 0.0, "lower_bound": 0.0, "gap": 0.0, "probability": e["factual_probability"]}
        assert refuses(content, e, "validity")


FALSE = {
    "worst_probability": "worst case", "violation": "worst case", "probability": "probabilities",
    "factual_probability": "probabilities", "density_percentile": "context", "distance": "distance",
    "gap": "gap",
}  # fmt: skip


@pytest.mark.parametrize("key", FALSE)
def test_false_numbers(key):
    for name in ("robust", "two", "three", "steep"):
        content, e = honest(name)
        true = e[key]
        lies = (true + 1e-6, true - 1e-6, -true - 0.5, 1e300, None, "inf", "-inf", 2 * true + 0.1, LEAST)
        for lie in lies:
            if lie in ("inf", "-inf", None) or abs(lie - true) > 2e-9 * max(1, abs(true)):
                e[key] = lie
                near = key == "density_percentile" and name == "steep"
                assert near or refuses(content, e, FALSE[key])


@pytest.mark.parametrize("key", ["unit", "expected_before", "expected_after", "z_score"])
def test_false_numbers_by_feature(key):
    for name in ("robust", "three"):
        content, e = honest(name)
        for j, true in enumerate(e[key]["values"]):
            for lie in (true * 1.001 + 1e-4, -true - 1.0, 1e300, LEAST, None, "inf", True):
                forged = copy.deepcopy(e)
                forged[key]["values"][j] = lie
                assert refuses(content, forged)
        assert refuses(content, {**e, key: None}, "context")


def test_false_words():
    content, e = honest("robust")
    for key, lie in (
        ("message", "The search finished: no smaller change is enough."),
        ("message", ""),
        ("decision", 0),
        ("decision", True),
        ("decision", "1"),
        ("decision", None),
        ("early_stop", True),
        ("status", "already_target"),
        ("status", "time_limit"),
        ("parents", [[], [], [], []]),
        ("version", 6),
        ("version", 3),
    ):
        assert refuses(content, {**e, key: lie}), key


def test_a_point_outside_its_domain():
    content, e = honest("robust")
    for j, value in enumerate(e["counterfactual"]["values"]):
        forged = copy.deepcopy(e)
        forged["question"]["domain"]["low"][j] = float(np.nextafter(value, math.inf))
        assert refuses(content, forged)
    content, e = honest("whole")
    e["counterfactual"]["values"][0] += 0.5
    assert refuses(content, e, "domain")


# ----- the question -----------------------------------------------------------------------------------------


def test_a_domain_with_its_ends_exchanged():
    content, e = honest("robust")
    for j in range(4):
        forged = copy.deepcopy(e)
        domain = forged["question"]["domain"]
        domain["low"][j], domain["high"][j] = domain["high"][j], domain["low"][j]
        assert refuses(content, forged, "question")


def test_a_domain_that_is_a_dot_around_the_answer_is_said():
    clf, content, _ = asked("robust")
    _, e = honest("robust")
    point, domain = e["counterfactual"]["values"], e["question"]["domain"]
    domain["low"], domain["high"] = [v - 1e-6 for v in point], [v + 1e-6 for v in point]
    printed = "\n".join(exact.words([content], e))
    for name in e["counterfactual"]["names"]:
        assert f"Bounded: {name} to" in printed
    assert printed.count("(the data had") == 4
    assert verdicts(content, e)["lower bound"] == exact.HOLDS
    e["lower_bound"] = e["distance"] * 1.01  # the proof is about the domain of the question
    assert refuses(content, e, "lower bound")
    said = str(verify(Explanation.from_json(asked("robust")[2]), clf))
    assert "Searched" not in said


def test_a_narrow_domain_is_searched_and_said():
    clf, content, _ = asked("robust")
    x = honest("robust")[1]["counterfactual"]
    ends = {n: (v - 1e-3, v + 1e-3) for n, v in zip(x["names"], x["values"], strict=True)}
    e = CounterfactualExplainer(clf, budget=0.0, bounds=ends).explain(banknote_row(), target=1)
    found = verdicts(content, json.loads(e.to_json()))
    assert set(found.values()) == {exact.HOLDS}
    assert "narrower" in str(verify(e, clf)) or "Searched" in str(verify(e, clf))


def test_another_question_under_the_same_answer():
    content, e = honest("robust")
    lies = {
        "threshold": (0.9, 0.1), "target": (0,), "factual_class": (1,), "norm": (2,), "budget": (0.5, 0.01),
        "whitening": ("zca",), "model": ("0" * 16,),
    }  # fmt: skip
    for key, lie in ((key, lie) for key, listed in lies.items() for lie in listed):
        assert refuses(content, {**e, key: lie}, "question"), key
    forged = copy.deepcopy(e)
    required = forged["question"]["requirements"][0]
    required["target"], required["rival"] = required["rival"], required["target"]
    assert refuses(content, forged, "question")
    for key, lie in (("threshold", 0.9), ("threshold", 0.1), ("robust", False), ("model", 1), ("model", -1)):
        forged = copy.deepcopy(e)
        forged["question"]["requirements"][0][key] = lie
        assert refuses(content, forged, "question"), key


def test_question_and_file_exchanged_together():
    """What is consistent is another question; the answer does not fit it."""
    content, e = honest("robust")
    forged = copy.deepcopy(e)
    forged["threshold"] = forged["question"]["requirements"][0]["threshold"] = 0.9
    assert refuses(content, forged, "validity")
    forged = copy.deepcopy(e)
    forged["target"] = forged["question"]["target"] = 0
    required = forged["question"]["requirements"][0]
    required["target"], required["rival"] = required["rival"], required["target"]
    assert refuses(content, forged, "validity")
    forged = copy.deepcopy(e)
    forged["norm"] = forged["question"]["distance"]["norm"] = 2
    assert refuses(content, forged)
    forged = copy.deepcopy(e)
    forged["factual_class"] = forged["question"]["factual_class"] = 1
    assert refuses(content, forged, "question")


def test_a_rival_less_among_three():
    content, e = honest("three")
    for k in (0, 1):
        forged = copy.deepcopy(e)
        del forged["question"]["requirements"][k]
        assert refuses(content, forged, "question")
        forged["question"]["requirements"] *= 2
        assert refuses(content, forged, "question")


def rotated(matrix, angle):
    turn = np.eye(len(matrix))
    turn[:2, :2] = [[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]]
    return (turn @ np.array(matrix)).tolist()


@pytest.mark.parametrize("name", ["robust", "zca", "dag"])
def test_a_rotated_metric(name):
    """D'D is the same, the distance is another one."""
    content, e = honest(name)
    for angle in (1e-4, 0.5, math.pi):
        forged = copy.deepcopy(e)
        forged["certificate"]["metric"] = rotated(e["certificate"]["metric"], angle)
        assert refuses(content, forged, "geometry")
    for factor in (1 + 2e-6, 0.5, 0.0, -1.0, LEAST, 1e300):
        forged["certificate"]["metric"] = (factor * np.array(e["certificate"]["metric"])).tolist()
        assert refuses(content, forged, "geometry") or factor == 1e300
    forged["certificate"]["metric"] = None
    assert refuses(content, forged, "geometry")


def test_a_ball_of_its_own():
    content, e = honest("robust")
    e["certificate"]["ball"] = (0.5 * np.array(e["certificate"]["metric"])).tolist()
    assert refuses(content, e, "geometry")


# ----- files that are none ----------------------------------------------------------------------------------

FIRST_EDITION = {
    "factual": {"names": ["variance"], "values": [3.6]}, "counterfactual": None, "target": 1,
    "status": "optimal", "distance": 1.2, "lower_bound": 1.2, "certified_radius": 0.05, "coverage": 1.0,
    "low": [-7.0], "high": [7.0], "bound_certificate": None, "iterations": [], "row": 0,
}  # fmt: skip


FACES = {
    "surefoot.proof.exact": exact.main,
    "surefoot verify": lambda files: surefoot(["verify", *files]),
}


@pytest.fixture(params=FACES)
def face(request):
    return request.param


def run(face, folder, text, capsys):
    """Exit status and what was printed by a command."""
    model, file = folder / "model.json", folder / "e.json"
    if not model.exists():
        asked("robust")[0].save(model)
    file.write_text(text, encoding="utf-8")
    return FACES[face]([str(model), str(file)]), capsys.readouterr()


def one_line(found):
    status, printed = found
    return (
        status == 2
        and not printed.out
        and printed.err.count("\n") == 1
        and len(printed.err) < 600
        and "Traceback" not in printed.err
    )


def test_other_editions_are_refused_by_name(face, tmp_path, capsys):
    found = run(face, tmp_path, json.dumps(FIRST_EDITION), capsys)
    assert one_line(found)
    assert "version 1" in found[1].err
    newer = {**honest("robust")[1], "version": 6}
    found = run(face, tmp_path, json.dumps(newer), capsys)
    assert one_line(found)
    assert "version 6" in found[1].err


@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000,
        "[" * 100_000 + "]" * 100_000,
        '{"format":' * 50_000 + "1" + "}" * 50_000,
        "[]",
        "{}",
        "null",
        "1",
        "",
        "NaN",
        '{"format": "surefoot-explanation", "format": "surefoot-explanation"}',
        "\ufeff{}",
        '{"format": "surefoot-explanation", "version": 1e999}',
        "9" * 5000,
    ],
    ids=range(13),
)
def test_what_is_no_file_takes_one_line(text, face, tmp_path, capsys):
    assert one_line(run(face, tmp_path, text, capsys))


@pytest.mark.parametrize("depth", only([900, 985, 100_000], [900, 960, 975, 980, 985, 990, 100_000]))
def test_nesting_in_any_field(depth, face, tmp_path, capsys):
    _, e = honest("robust")
    nested = "[" * depth + "]" * depth
    places = [*((key,) for key in e), *(("question", key) for key in e["question"]),
              *(("certificate", key) for key in e["certificate"])]  # fmt: skip
    for way in places:
        forged = copy.deepcopy(e)
        holder = functools.reduce(dict.__getitem__, way[:-1], forged)
        holder[way[-1]] = "@"
        status, printed = run(face, tmp_path, json.dumps(forged).replace('"@"', nested), capsys)
        assert status in (1, 2) or way in (("row",), ("iterations",)), way
        assert "Traceback" not in printed.err
        assert printed.err.count("\n") <= 1


def ways(value, way=()):
    """Every place of a document."""
    if way:
        yield way
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in pairs:
        yield from ways(item, (*way, key))


CONTEXT = (
    "seconds",
    "search_seconds",
    "best_probability",  # null here: there is a counterfactual
    "best_probability_bound",
    "iterations",
    "row",
    "method",
    "backend",
    "advice",
    "conflict",
    "cautions",
    "model_share",
)
MAY_BE_NULL = (("certificate", "ball"), ("tol",), ("seconds",))


@pytest.mark.parametrize("name", only(["three"], ["robust", "three", "rough"]))
def test_null_in_every_field(name):
    """Null is refused wherever something is claimed; no field makes the checker stumble."""
    content, e = honest(name)
    for way in ways(e):
        if way[0] in CONTEXT or way in MAY_BE_NULL or way[:3] == ("question", "domain", "declared"):
            continue
        forged = copy.deepcopy(e)
        holder = functools.reduce(lambda held, key: held[key], way[:-1], forged)
        if holder[way[-1]] is not None:
            holder[way[-1]] = None
            assert refuses(content, forged), way


def test_null_in_every_key_on_the_command_line(face, tmp_path, capsys):
    _, e = honest("robust")
    for key in e:
        status, printed = run(face, tmp_path, json.dumps({**e, key: None}), capsys)
        assert status in (1, 2) or key in (*CONTEXT, "tol"), key
        assert "Traceback" not in printed.err
        assert status != 2 or one_line((status, printed)), key
    for key in e:
        lacking = {name: value for name, value in e.items() if name != key}
        assert one_line(run(face, tmp_path, json.dumps(lacking), capsys)), key
    assert one_line(run(face, tmp_path, json.dumps({**e, "more": 1}), capsys))


def test_keys_twice(face, tmp_path, capsys):
    _, e = honest("robust")
    text = json.dumps(e)
    for key in ("status", "level", "low", "budget", "tree"):
        twice = text.replace(f'"{key}": ', f'"{key}": null, "{key}": ', 1)
        assert twice != text
        assert one_line(run(face, tmp_path, twice, capsys)), key


def test_the_command_itself(face, tmp_path):
    """As a user starts it: no traceback from the interpreter either."""
    model, file = tmp_path / "model.json", tmp_path / "e.json"
    asked("robust")[0].save(model)
    file.write_text("[" * 100_000, encoding="utf-8")
    found = subprocess.run(
        [sys.executable, "-m", *face.split(), str(model), str(file)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert found.returncode == 2
    assert not found.stdout
    assert found.stderr.count("\n") == 1
