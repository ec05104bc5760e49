"""What is enough, as a claim: what the checker makes of regions that are forged."""

import copy
import json
import math
from functools import cache

import pytest

from surefoot import Actions, CounterfactualExplainer, Explanation, verify
from surefoot.model.content import classifier_content
from surefoot.proof import exact
from surefoot.proof.exact import FAILS, HOLDS, NOT_PROVED, UnreadableError
from tests.mixed_tables import lender, refused_rows


@cache
def files(kind):
    """A model, and the document of an answer with its region: of numbers, curved, of categories, of both."""
    clf = lender(**({"marginals": "power"} if kind == "curved" else {}))
    kept = {"numbers": ("housing", "savings", "phone"), "curved": ("housing", "savings", "phone")}
    kept |= {"categories": ("income", "debt", "months"), "anywhere": ("housing", "savings", "phone")}
    stay = Actions(dict.fromkeys(kept.get(kind, ("months",)), "stay"))
    more = {
        "plausible": {"plausible": 0.05},
        "anywhere": {"preset": "paper", "norm": math.inf, "at_most": None, "threshold": 0.7},
    }.get(kind, {})
    explainer = CounterfactualExplainer(clf, actions=stay, **({"at_most": 3, "norm": 2} | more))
    for row in refused_rows(clf, 40):
        e = explainer.explain(row, "good", on_failure="return")
        if e.counterfactual is None or e.distance == 0:
            continue
        region = e.enough()
        several = [values for values in region.categories.values() if len(values) > 1]
        two = len(region.numbers) >= 2 and any(abs(one.low) != abs(one.high) for one in region.numbers)
        fits = {"numbers": two, "curved": bool(region.numbers), "categories": bool(several)}
        low, high = (dict(zip(clf.feature_labels_, ends, strict=True)) for ends in clf.feature_range_)
        beyond = [
            one for one in region.numbers
            if not low[one.feature] <= e.counterfactual[one.feature] <= high[one.feature]
        ]  # fmt: skip
        fits |= {"both": bool(region.numbers and region.categories), "plausible": bool(region.numbers)}
        fits["anywhere"] = bool(beyond) and any(math.isinf(one.low + one.high) for one in region.numbers)
        if fits[kind]:
            return classifier_content(clf), json.loads(e.to_json()), clf
    raise AssertionError(kind)


def verdict(kind, change):
    model, document, _ = files(kind)
    forged = copy.deepcopy(document)
    change(forged)
    found = [claim for claim in exact.check([model], forged) if claim.name == "enough"]
    return found[0] if found else None


def holds_nowhere(kind, change):
    """Neither checker lets a forgery pass."""
    _, document, clf = files(kind)
    forged = copy.deepcopy(document)
    change(forged)
    try:
        return not verify(Explanation.from_dict(forged), clf).ok
    except ValueError:  # not even read
        return True


KINDS = ("numbers", "curved", "categories", "both", "plausible", "anywhere")


@pytest.mark.parametrize("kind", KINDS)
def test_it_holds_as_it_was_made(kind):
    assert verdict(kind, lambda _: None).verdict == HOLDS
    _, document, clf = files(kind)
    assert verify(Explanation.from_dict(document), clf).ok


def test_a_file_without_it_claims_nothing():
    def without(document):
        del document["enough"], document["certificate"]["enough"]
        document["certificate"]["version"] = 3

    assert verdict("numbers", without) is None


def test_every_combination_keeps_to_linear_rules():
    """A region of the same answer without the rule, most of which breaks it."""
    model, document, clf = files("numbers")
    found = Explanation.from_dict(document)
    one, other = found.region.numbers[:2]
    ends = {e["feature"]: e["proven"] for e in document["enough"]["numbers"]}
    names = [str(one.feature), str(other.feature)]
    here = sum(float(found.counterfactual[name]) for name in names)
    most = sum(ends[name][1] for name in names)
    assert here < most
    rule = f"{' + '.join(names)} <= {here + (most - here) / 3!r}"
    stay = dict.fromkeys(("housing", "savings", "phone"), "stay")
    explainer = CounterfactualExplainer(clf, actions=Actions(stay, rules=[rule]), at_most=3, norm=2)
    e = explainer.explain(found.factual, "good")
    assert (e.counterfactual == found.counterfactual).all()
    e.enough()
    forged = json.loads(e.to_json())
    assert verify(Explanation.from_dict(forged), clf).ok
    forged["enough"] = document["enough"]
    forged["certificate"]["enough"] = document["certificate"]["enough"]
    claim = next(claim for claim in exact.check([model], forged) if claim.name == "enough")
    assert claim.verdict == FAILS
    assert "it breaks the rule" in claim.reason
    assert not verify(Explanation.from_dict(forged), clf).ok


def interval(document, k=0):
    return document["enough"]["numbers"][k]


def closed(entry):
    """A finite end of an interval, and which it is."""
    return next((name, side) for side, name in enumerate(("low", "high")) if isinstance(entry[name], float))


def moved(share, stated=True, only=None):
    """A finite end moved outwards by a share of the width."""

    def change(document):
        entry = interval(document)
        name, side = closed(entry)
        width = entry["proven"][1] - entry["proven"][0]
        entry["proven"][side] += (2 * side - 1) * share * width
        if stated:
            entry[name] = entry["proven"][side]
        document["enough"]["not_enough"] = None

    return change


@pytest.mark.parametrize("kind", ["numbers", "curved", "both"])
def test_a_larger_interval_is_not_proved(kind):
    for share in (0.5, 3.0):
        assert verdict(kind, moved(share)).verdict != HOLDS
        assert holds_nowhere(kind, moved(share))

    def false(forged):  # one that holds a value at which the decision is another one
        example = forged["enough"]["not_enough"]
        forged["enough"]["not_enough"] = None
        entry = next(e for e in forged["enough"]["numbers"] if e["feature"] == example["feature"])
        side = int(example["value"] > entry["proven"][1])
        entry["proven"][side] = entry[("low", "high")[side]] = example["value"]

    assert verdict(kind, false).verdict == NOT_PROVED
    assert holds_nowhere(kind, false)
    assert verdict("numbers", moved(0.2)).verdict == NOT_PROVED


@pytest.mark.parametrize("kind", ["numbers", "anywhere"])
def test_what_is_said_is_what_is_proven(kind):
    assert verdict(kind, moved(-0.01, stated=False)).verdict == FAILS
    _, document, _ = files(kind)
    for k, entry in enumerate(document["enough"]["numbers"]):
        for side, name in enumerate(("low", "high")):
            other = "-inf" if side == 0 else "inf"

            def change(forged, k=k, side=side, name=name, other=other):
                entry = interval(forged, k)
                entry[name] = other if isinstance(entry[name], float) else entry["proven"][side]

            assert "not what is proven" in verdict(kind, change).reason, (entry, name)
            assert holds_nowhere(kind, change)


def test_a_stated_end_may_lie_inside_of_what_is_proven_and_not_outside():
    for share, expected in ((-0.01, HOLDS), (0.01, FAILS), (-1.01, FAILS)):

        def change(forged, share=share):
            entry = interval(forged)
            name, side = closed(entry)
            entry[name] += (2 * side - 1) * share * (entry["proven"][1] - entry["proven"][0])

        assert verdict("numbers", change).verdict == expected

    def crossed(forged):
        entry = interval(forged)
        entry["low"], entry["high"] = entry["proven"][::-1]

    assert "above the upper one" in verdict("numbers", crossed).reason
    assert holds_nowhere("numbers", crossed)


def test_the_answer_lies_in_it():
    for side in (0, 1):

        def change(forged, side=side):
            entry = interval(forged)
            x = forged["counterfactual"]["values"][forged["counterfactual"]["names"].index(entry["feature"])]
            entry["proven"] = [x + 1.0, x + 2.0] if side else [x - 2.0, x - 1.0]
            entry["low"], entry["high"] = entry["proven"]

        found = verdict("numbers", change)
        assert found.verdict == FAILS
        assert "does not hold the counterfactual" in found.reason
        assert holds_nowhere("numbers", change)


def test_the_answer_may_be_an_end_of_it():
    for side in (0, 1):

        def change(forged, side=side):
            entry = interval(forged)
            x = forged["counterfactual"]["values"][forged["counterfactual"]["names"].index(entry["feature"])]
            entry["proven"][side] = x
            entry[("low", "high")[side]] = x
            forged["enough"]["not_enough"] = None

        assert verdict("numbers", change).verdict != FAILS


def test_ends_that_a_scale_cannot_hold():
    def change(forged):
        entry = interval(forged)
        entry["proven"] = [-1.7e308, 1.7e308]
        entry["low"], entry["high"] = "-inf", "inf"

    assert "its scale" in verdict("curved", change).reason


def test_proofs_are_needed_for_each_state_and_requirement():
    def forget(forged):
        forged["certificate"]["enough"] = None

    def fewer(forged):
        forged["certificate"]["enough"] = forged["certificate"]["enough"][1:]

    def more(forged):
        forged["certificate"]["enough"] *= 2

    def less(forged):
        forged["certificate"]["enough"][0] = forged["certificate"]["enough"][0][1:]

    def cut(forged):
        forged["certificate"]["enough"][0][0]["tree"]["level"] = 0.5

    for change in (forget, fewer, more, less, cut):
        assert verdict("numbers", change).verdict == NOT_PROVED, change.__name__
        assert holds_nowhere("numbers", change)

    def other_point(forged):  # an honest proof, of another box
        other = files("both")[1]["certificate"]["enough"][0]
        forged["certificate"]["enough"][0] = other

    assert verdict("numbers", other_point).verdict != HOLDS

    def of_nothing(forged):
        del forged["enough"]

    assert verdict("numbers", of_nothing).verdict == FAILS
    assert holds_nowhere("numbers", of_nothing)


def test_values_of_categories_are_proven_too():
    _, document, clf = files("categories")
    entry = document["enough"]["categories"][0]
    name, known = entry["feature"], clf.categories_[entry["feature"]]
    today = document["factual"]["values"][document["factual"]["names"].index(name)]

    def with_today(forged):
        listed = forged["enough"]["categories"][0]["values"]
        listed.append(today)
        forged["certificate"]["enough"].append([])
        forged["enough"]["not_enough"] = None

    assert verdict("categories", with_today).verdict == NOT_PROVED
    assert holds_nowhere("categories", with_today)

    def without_own(forged):
        forged["enough"]["categories"][0]["values"] = [v for v in known if v != own(forged)][:1]
        forged["certificate"]["enough"] = [[]]

    def own(forged):
        return forged["counterfactual"]["values"][forged["counterfactual"]["names"].index(name)]

    def twice(forged):
        forged["enough"]["categories"][0]["values"] *= 2
        forged["certificate"]["enough"] *= 2

    for change, words in ((without_own, "lacks that of"), (twice, "one twice")):
        found = verdict("categories", change)
        assert found.verdict == FAILS
        assert words in found.reason
        assert holds_nowhere("categories", change)


def test_values_that_are_not_allowed_are_not_listed():
    def forbid(forged):
        names = forged["question"]["features"]
        place = names.index(forged["enough"]["categories"][0]["feature"])
        listed = forged["enough"]["categories"][0]["values"]
        choice = next(c for c in forged["question"]["choices"] if c["feature"] == place)
        now = forged["counterfactual"]["values"][place]
        other = next(v for v in listed if v != now)
        choice["prices"][choice["values"].index(other)] = "inf"

    found = verdict("categories", forbid)
    assert found.verdict == FAILS
    assert "not all allowed" in found.reason


def test_what_is_not_enough_is_outside_and_decided_otherwise():
    kinds = {"numbers": 0, "categories": 0}
    for kind in kinds:
        _, document, _ = files(kind)
        example = document["enough"]["not_enough"]
        assert example is not None

        def inside(forged, example=example):
            row = dict(
                zip(forged["counterfactual"]["names"], forged["counterfactual"]["values"], strict=True)
            )
            forged["enough"]["not_enough"]["value"] = row[example["feature"]]

        def decided(forged):
            forged["enough"]["not_enough"]["decision"] = "good"

        def nobody(forged):
            forged["enough"]["not_enough"]["decision"] = "nobody"

        for change in (inside, decided, nobody):
            assert verdict(kind, change).verdict == FAILS, (kind, change.__name__)
            assert holds_nowhere(kind, change)

    _, document, clf = files("numbers")
    for side in (0, 1):

        def at_an_end(forged, side=side):
            entry = interval(forged)
            example = {"feature": entry["feature"], "value": entry["proven"][side], "decision": "bad"}
            forged["enough"]["not_enough"] = example

        assert "not outside" in verdict("numbers", at_an_end).reason

    def beyond_the_scale(forged):
        example = {"feature": interval(forged)["feature"], "value": -1.7e308, "decision": "bad"}
        forged["enough"]["not_enough"] = example

    assert "not outside" in verdict("curved", beyond_the_scale).reason
    for name in ("housing", "savings", "phone"):  # categories that do not change
        for value in clf.categories_[name]:

            def kept(forged, name=name, value=value):
                forged["enough"]["not_enough"] = {"feature": name, "value": value, "decision": "bad"}

            assert "not outside" in verdict("numbers", kept).reason

    def elsewhere(forged):  # a feature that does not change, at a value that decides otherwise
        forged["enough"]["not_enough"] = {"feature": "months", "value": 4000.0, "decision": "bad"}
        forged["enough"]["numbers"] = [e for e in forged["enough"]["numbers"] if e["feature"] != "months"]

    found = verdict("both", elsewhere)
    assert found.verdict == FAILS
    assert "not outside" in found.reason


def test_nonsense_is_not_read():
    def edit(*path, to):
        def change(forged):
            place = forged
            for step in path[:-1]:
                place = place[step]
            place[path[-1]] = to

        return change

    one = ("enough", "numbers", 0)
    wrong = [
        edit("enough", to=[]),
        edit("enough", "numbers", to={}),
        edit("enough", "more", to=1),
        edit(*one, "feature", to="nobody"),
        edit(*one, "proven", to=[1.0]),
        edit(*one, "proven", to=["-inf", 1.0]),
        edit(*one, "low", to=None),
        edit("enough", "not_enough", to=3),
        edit("enough", "not_enough", to={"feature": "nobody", "value": 1.0, "decision": "bad"}),
        edit("enough", "categories", to=[{"feature": "nobody", "values": []}]),
        edit("enough", "categories", to=[{"feature": "housing", "values": ["castle"]}]),
        edit("enough", "categories", to=[{"feature": "housing", "values": ["own"]}] * 2),
        lambda forged: forged["enough"]["numbers"].append(forged["enough"]["numbers"][0]),
        edit("certificate", "more", to=1),
    ]
    for k, change in enumerate(wrong):
        with pytest.raises(UnreadableError):
            verdict("numbers", change)
        assert holds_nowhere("numbers", change), k
    assert verdict("numbers", edit("certificate", "enough", 0, to=[])).verdict == NOT_PROVED


def test_there_is_none_without_a_counterfactual():
    clf = lender()
    explainer = CounterfactualExplainer(clf, immutable=list(clf.feature_labels_))
    e = explainer.explain(refused_rows(clf, 1)[0], "good", on_failure="return")
    document = json.loads(e.to_json())
    document["enough"] = files("numbers")[1]["enough"]
    claims = {claim.name: claim.verdict for claim in exact.check([classifier_content(clf)], document)}
    assert claims["enough"] == FAILS
