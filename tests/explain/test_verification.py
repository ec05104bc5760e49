"""Honest answers pass; whatever is changed in them afterwards is found."""

import copy
import json
from dataclasses import replace

import numpy as np
import pytest

from surefoot import ConditionalGaussianNetworkClassifier, Explanation, Status, verify
from surefoot.exceptions import DataError
from surefoot.explain.result.words import allowed_words
from surefoot.model.network import LinearGaussianNetwork
from surefoot.problem.domain import Domain
from surefoot.problem.requirements import Away, Decision, DensityFloor, Odds
from surefoot.ui.cli import main
from tests.asking import CounterfactualExplainer
from tests.edited import edited
from tests.thinning import only

CASES = {
    "banknote-tan-inf": ("banknote", "tan", {}, {"norm": np.inf}),
    "banknote-naive-2": ("banknote", "naive", {}, {"norm": 2}),
    "pima-ban-inf": ("pima", "ban", {"max_parents": 2}, {"norm": np.inf, "bounds": None}),
    "pima-tan-1": ("pima", "tan", {}, {"norm": 1}),
    "ionosphere-tan-inf": ("ionosphere", "tan", {}, {"norm": np.inf, "bounds": None}),
    "ionosphere-ban-inf": ("ionosphere", "ban", {"max_parents": 2}, {"norm": np.inf}),
}


@pytest.fixture(scope="module", params=only(list(CASES)[:4], CASES))
def case(request, bundled):
    name, structure, shape, settings = CASES[request.param]
    data = bundled[name]
    clf = ConditionalGaussianNetworkClassifier(structure, **shape).fit(data.X, data.y)
    explainer = CounterfactualExplainer(clf, budget=0.05, whole=False, **settings)
    found = []
    for target in (1, 0):
        rows = np.flatnonzero(clf.predict(data.X) == 1 - target)[[2, 11, 30]]
        found += [(explainer.explain(data.X.iloc[i], target), target) for i in rows]
    return clf, explainer, found


def refused(explanation, clf, claim):
    """The claim fails or is not proved, or the file cannot even be read."""
    try:
        result = verify(explanation, clf)
    except DataError:
        return True
    assert not result
    assert claim in [failure.name for failure in result.failures], str(result)
    return True


def towards_the_boundary(explainer, explanation, target, share=0.01):
    """The point moved by a share of the budget in the direction that lowers the margin fastest."""
    problem = explainer.problem(explanation.factual.to_numpy(), target)
    slope = problem.margins[0].gradient(explanation.counterfactual.to_numpy()) @ problem.ball.basis
    if problem.norm == np.inf:
        v = -np.sign(slope)
    elif problem.norm == 2:
        v = -slope / np.linalg.norm(slope)
    else:
        v = np.where(np.abs(slope) == np.abs(slope).max(), -np.sign(slope), 0.0)
    moved = explanation.counterfactual + share * problem.ball.perturbation(problem.budget * v)
    return moved, problem


def test_honest_answers_are_accepted(case):
    clf, _, found = case
    for e, _ in found:
        assert verify(e, clf), str(verify(e, clf))
        assert verify(Explanation.from_json(e.to_json()), clf)


def test_a_moved_point_is_refused(case):
    clf, explainer, found = case
    for e, target in found:
        moved, problem = towards_the_boundary(explainer, e, target)
        assert refused(edited(e, counterfactual=moved), clf, "distance")
        distance = problem.distance(moved.to_numpy())
        gap = (distance - e.lower_bound) / distance
        assert refused(edited(e, counterfactual=moved, distance=distance, gap=gap), clf, "robustness")


def test_an_inflated_bound_is_refused(case):
    clf, _, found = case
    for e, _ in found:
        bound = 1.01 * e.lower_bound
        assert refused(edited(e, lower_bound=bound), clf, "lower bound")
        gap = (e.distance - bound) / e.distance
        inflated = json.loads(json.dumps(e.to_dict()["certificate"]))
        raise_levels(inflated["bound"]["tree"], 1.01)
        assert refused(edited(e, lower_bound=bound, gap=gap, certificate=inflated), clf, "lower bound")


def raise_levels(node, factor):
    for side in ("below", "above"):
        if side in node:
            raise_levels(node[side], factor)
    if "level" in node and node["level"] != "inf":
        node["level"] *= factor


def test_an_inflated_radius_is_refused(case):
    clf, _, found = case
    for e, _ in found:
        radius = 1.01 * e.certified_radius
        assert refused(edited(e, certified_radius=radius), clf, "robustness")
        inflated = copy.deepcopy(e.certificate)
        inflated["robustness"]["radius"] = radius
        assert refused(edited(e, certified_radius=radius, certificate=inflated), clf, "robustness")
        for proof in inflated["robustness"]["proofs"]:
            raise_levels(proof["tree"], 1.01)
        assert refused(edited(e, certified_radius=radius, certificate=inflated), clf, "robustness")


def test_another_model_is_refused(case):
    clf, _, found = case
    other = copy.deepcopy(clf)
    network = other.networks_[1]
    weights = network.weights.copy()
    if weights.any():
        weights[np.nonzero(weights)] *= np.where(np.arange(np.count_nonzero(weights)) == 0, 1.001, 1.0)
        changed = LinearGaussianNetwork(network.dag, weights, network.means, network.variances)
    else:
        means = network.means * np.append(1.001, np.ones(len(network.means) - 1))
        changed = LinearGaussianNetwork(network.dag, weights, means, network.variances)
    other.networks_ = (other.networks_[0], changed, *other.networks_[2:])
    for e, _ in found:
        assert refused(e, other, "model")


@pytest.fixture(scope="module")
def branched(bundled):
    """An answer whose proof needs a tree."""
    data = bundled["ionosphere"]
    clf = ConditionalGaussianNetworkClassifier("tan").fit(data.X, data.y)
    explainer = CounterfactualExplainer(clf, budget=0.05, bounds=None, whole=False)
    for i in np.flatnonzero(clf.predict(data.X) == 1):
        e = explainer.explain(data.X.iloc[i], target=0)
        if "cut" in e.certificate["bound"]["tree"]:
            return clf, e
    raise AssertionError("no proof needed a tree")


def first_leaf(node):
    return first_leaf(node["below"]) if "cut" in node else node


@pytest.mark.parametrize(
    "spoil",
    [
        lambda proof: proof["tree"].update(below=None),
        lambda proof: proof["tree"]["cut"].__setitem__(1, proof["tree"]["cut"][1] + 0.5),
        lambda proof: first_leaf(proof["tree"]).update(requirements=[]),
        lambda proof: first_leaf(proof["tree"])["norm"].__setitem__(0, -1.0),
        lambda proof: first_leaf(proof["tree"]).update(products=[[-1.0, ["1"], ["1"]]]),
        lambda proof: first_leaf(proof["tree"]).update(products=[[1e3, ["a", 1e3, []], ["1"]]]),
        lambda proof: proof["scenarios"][-1].__setitem__(0, 9.0),
        lambda proof: proof.pop("tree"),
        lambda proof: proof.update(scenarios=[]),
        lambda proof: proof["tree"]["cut"].__setitem__(0, ["u", -1]),
        lambda proof: first_leaf(proof["tree"])["requirements"][0].__setitem__(1, -1),
        lambda proof: first_leaf(proof["tree"])["requirements"][0].__setitem__(0, None),
        lambda proof: first_leaf(proof["tree"])["between"].append([1.0, 0, 0.0, 9.0]),
        lambda proof: first_leaf(proof["tree"]).update(depth=0),
        lambda proof: proof.update(directions=[[0.0]]),
    ],
)
def test_a_spoilt_proof_is_refused(branched, spoil):
    clf, e = branched
    certificate = json.loads(json.dumps(e.to_dict()["certificate"]))
    spoil(certificate["bound"])
    assert refused(edited(e, certificate=certificate), clf, "lower bound")


def test_a_proof_that_needs_a_tree_is_accepted(branched):
    clf, e = branched
    assert verify(e, clf)


def test_other_changes_are_refused(case):
    clf, _, found = case
    e, _ = found[0]
    assert refused(edited(e, probability=e.probability + 1e-3), clf, "probabilities")
    assert refused(edited(e, factual_probability=0.5), clf, "probabilities")
    assert refused(edited(e, factual_class=e.target), clf, "question")
    assert refused(edited(e, coverage=0.5), clf, "robustness")
    assert refused(edited(e, gap=0.0), clf, "gap")
    still = e.factual.to_numpy()
    assert refused(edited(e, domain=Domain(still, still)), clf, "domain")
    assert refused(edited(e, certificate={**e.certificate, "bound": None}), clf, "lower bound")
    assert refused(edited(e, threshold=0.9), clf, "robustness")
    assert refused(edited(e, target="nobody"), clf, "question")
    assert refused(edited(e, features=tuple(name.upper() for name in e.factual.index)), clf, "question")
    assert refused(edited(e, status=Status.ALREADY_TARGET), clf, "status")
    assert refused(edited(e, unit=2 * e.unit.to_numpy()), clf, "context")


def test_claims_without_substance_are_refused(case):
    """Numbers that compare with nothing, and claims of nothing at all."""
    clf, _, found = case
    e, _ = found[0]
    for radius in (np.inf, np.nan, -1.0):
        proofs = {**e.certificate["robustness"], "radius": radius}
        certificate = {**e.certificate, "robustness": proofs}
        assert refused(edited(e, certified_radius=radius, certificate=certificate), clf, "robustness")
    assert refused(edited(e, lower_bound=np.nan), clf, "lower bound")
    assert refused(edited(e, certificate={**e.certificate, "bound": {}}), clf, "lower bound")
    assert refused(edited(e, certificate={**e.certificate, "robustness": {}}), clf, "robustness")
    nothing = edited(
        e,
        status=Status.INFEASIBLE,
        counterfactual=None,
        lower_bound=np.inf,
        distance=np.inf,
        probability=np.nan,
    )
    assert refused(nothing, clf, "lower bound")
    with pytest.raises(DataError, match="cannot be checked"):
        verify(edited(e, certificate={"metric": None}), clf)


def test_what_is_printed(case):
    clf, _, found = case
    e, _ = found[0]
    lines = str(verify(e, clf)).splitlines()
    assert lines[0].startswith("What is the smallest change that gives")
    assert lines[1].startswith("Allowed: ")
    assert any(line.startswith("holds      lower bound: claimed") for line in lines)
    forged = edited(e, lower_bound=1.01 * e.lower_bound)
    assert "not proved lower bound: claimed" in str(verify(forged, clf))
    assert verify(forged, clf).failures[0].verdict == "not proved"
    assert "FAILS      distance" in str(verify(edited(e, distance=9.0), clf))


def test_a_narrow_domain_is_said(bundled):
    data = bundled["banknote"]
    clf = ConditionalGaussianNetworkClassifier("tan").fit(data.X, data.y)
    asked = CounterfactualExplainer(clf, budget=0.05, immutable=["entropy"], bounds={"variance": (0, None)})
    e = asked.explain(data.X.iloc[0], target=1)
    assert "Searched: variance at least 0; entropy stays -0.44699." in str(verify(e, clf)).splitlines()
    free = CounterfactualExplainer(clf, budget=0.05).explain(data.X.iloc[0], target=1)
    assert "Searched" not in str(verify(free, clf))


@pytest.fixture(scope="module")
def asked(bundled):
    data = bundled["banknote"]
    clf = ConditionalGaussianNetworkClassifier("tan").fit(data.X, data.y)
    return clf, CounterfactualExplainer(clf, budget=0.05).explain(data.X.iloc[0], target=1)


FURTHER = {
    "1 has a probability of at least 99.99 % against 0": Odds(1, 0, 0.9999),
    "1 has a probability of at least 50 % against 0, errors apart": Odds(1, 0, 0.5, robust=False),
    "0 has a probability of at least 50 % against 1": Odds(0, 1, 0.5),
    "1 has a probability of at least 50 % against 0, under model 1 of the question": Odds(1, 0, 0.5, model=1),
    "the decision value of 1 is at least 0.5 above that of 0": Decision(1, 0, 0.5),
    "the log density of class 1 is at least -4": DensityFloor(1, -4.0),
    "at least 2 standard deviations from variance 1, skewness 0, curtosis 0, entropy 0": Away(
        (1.0, 0.0, 0.0, 0.0), 2.0, 0
    ),
}


@pytest.mark.parametrize("said", FURTHER)
def test_a_stricter_question_is_said(asked, said):
    """Its proof would otherwise pass for one of the question that is printed."""
    clf, e = asked
    more = (*e.question.requirements, FURTHER[said])
    stricter = replace(e, question=replace(e.question, models=(e.model, "another"), requirements=more))
    for shown in (verify(stricter, clf).question, str(stricter).splitlines()):
        assert f"Allowed: every feature stays within the range seen in training; {said}." in shown
        assert any("1 a probability of at least 50.0 %" in line for line in shown)


def test_several_models_are_said_together(asked):
    _, e = asked
    usual = e.question.requirements[0]
    more = [replace(usual, model=k, threshold=0.6) for k in range(3)]
    question = replace(e.question, models=("a", "b", "c"), requirements=(usual, *more))
    said = "under the explained model and models 1, 2 of the question"
    assert allowed_words(question)[-1] == f"1 has a probability of at least 60 % against 0, {said}"


def test_what_an_alternative_keeps_is_said(asked):
    _, e = asked
    question = replace(e.question, declared={"keeping": [["variance"], ["entropy", "skewness"]]})
    assert allowed_words(question) == ("variance stays", "at least one of entropy, skewness stays")


def test_what_is_said_without_proof(asked):
    clf, e = asked
    assert not any("without proof" in line for line in verify(e, clf).question)
    advised = replace(e, answer=replace(e.answer, advice="This one leaves entropy as it is."))
    assert verify(advised, clf).question[-1] == "Said without proof: advice."


def test_a_range_that_is_not_that_of_the_training_data(asked, bundled):
    """A file alone cannot tell what was seen in training; the model can."""
    clf, honest = asked
    explainer = CounterfactualExplainer(clf, budget=0.05, bounds=None)
    e = explainer.explain(bundled["banknote"].X.iloc[0], target=1)
    declared = {**e.question.declared, "bounds": "data"}
    forged = Explanation.from_json(replace(e, question=replace(e.question, declared=declared)).to_json())
    assert "every feature stays within the range seen in training" in str(forged)
    assert verify(honest, clf).ok
    assert verify(e, clf).ok
    assert [claim.name for claim in verify(forged, clf).failures] == ["constraints"]


@pytest.mark.parametrize("columns", [3, 5])
def test_a_question_about_other_features(asked, bundled, columns):
    """It carries the fingerprint of a model that it cannot be about."""
    clf, _ = asked
    data = bundled["banknote"]
    X = data.X.assign(more=np.linspace(0.0, 1.0, len(data.X))).iloc[:, :columns]
    other = ConditionalGaussianNetworkClassifier("naive").fit(X, data.y)
    e = CounterfactualExplainer(other).explain(X.iloc[0], target=1)
    forged = replace(e, question=replace(e.question, models=(clf.fingerprint_,)))
    assert refused(forged, clf, "question")


def test_a_refused_request_claims_nothing(bundled):
    data = bundled["banknote"]
    clf = ConditionalGaussianNetworkClassifier("tan").fit(data.X, data.y)
    rows = data.X.head(1) * np.nan
    (e,) = CounterfactualExplainer(clf).explain_batch(rows, 1, progress=False)
    result = verify(e, clf)
    assert [failure.name for failure in result.failures] == ["refusal"]
    assert "The request was invalid" in str(result)


def test_answers_of_the_papers_methods_are_checked_but_their_bound_is_not_proven(bundled):
    data = bundled["banknote"]
    clf = ConditionalGaussianNetworkClassifier("tan").fit(data.X, data.y)
    e = CounterfactualExplainer(clf, budget=0.05, method="qcqp").explain(data.X.iloc[0], target=1)
    failures = {f.name: f.verdict for f in verify(e, clf).failures}
    assert failures["lower bound"] == "not proved"
    assert set(failures) <= {"lower bound", "status"}
    assert "FAILS" not in failures.values()


def test_no_counterfactual_and_nothing_to_do(bundled):
    data = bundled["banknote"]
    clf = ConditionalGaussianNetworkClassifier("tan").fit(data.X, data.y)
    row = data.X.iloc[0]
    stuck = CounterfactualExplainer(clf, budget=0.05, immutable=list(data.X.columns))
    e = stuck.explain(row, target=1, on_failure="return")
    assert e.status is Status.INFEASIBLE
    assert verify(e, clf), str(verify(e, clf))
    wider = Domain(e.low.to_numpy() - 50, e.high.to_numpy() + 50)
    assert refused(edited(e, domain=wider), clf, "lower bound")
    already = CounterfactualExplainer(clf, budget=0.05).explain(row, target=0)
    assert already.status is Status.ALREADY_TARGET
    assert verify(already, clf), str(verify(already, clf))


def test_command_line(tmp_path, bundled, capsys):
    data = bundled["banknote"]
    clf = ConditionalGaussianNetworkClassifier("tan").fit(data.X, data.y)
    e = CounterfactualExplainer(clf, budget=0.05).explain(data.X.iloc[0], target=1)
    clf.save(tmp_path / "model.json")
    (tmp_path / "e.json").write_text(e.to_json())
    assert main(["verify", str(tmp_path / "model.json"), str(tmp_path / "e.json")]) == 0
    assert "FAILS" not in capsys.readouterr().out
    (tmp_path / "e.json").write_text(edited(e, lower_bound=e.distance).to_json())
    assert main(["verify", str(tmp_path / "model.json"), str(tmp_path / "e.json")]) == 1
    assert "not proved lower bound" in capsys.readouterr().out
    (tmp_path / "e.json").write_text("{}")
    assert main(["verify", str(tmp_path / "model.json"), str(tmp_path / "e.json")]) == 2
    assert "e.json: this is not an explanation" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("budget", "said"), [(0.05, "within 0.05 undoes"), ({"mass": 0.5}, "within 1 times the budget undoes")]
)
def test_the_radius_has_a_unit(bundled, budget, said):
    pima = bundled["pima"]
    clf = ConditionalGaussianNetworkClassifier("naive").fit(pima.X, pima.y)
    e = CounterfactualExplainer(clf, budget=budget).explain(pima.X.iloc[0])
    (claim,) = [claim for claim in verify(e, clf).claims if claim.name == "robustness"]
    assert claim.reason.startswith(f"no error {said} it")
