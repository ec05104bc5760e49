"""What is read of categories, choices, scores and prices that are none."""

import math
from fractions import Fraction

import pytest

from surefoot.proof import exact
from surefoot.proof.exact import FAILS, HOLDS, UnreadableError
from tests.proof import two_categories as mixed
from tests.proof.two_categories import INF, answer, case_of, cells, claims, content, density, odds, score

KINDS = [{"kind": "category", "values": ["x", "y"]}, {"kind": "category", "values": [False, True]}]
SCORES, NULL = {"kind": "scores", "probability": True, "scores": []}, score((0.0, 0.0), (0.0, 0.0))
NUMBER = {"kind": "number"}


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"kinds": [*KINDS]}, "2 entries"),
        ({"kinds": [*KINDS, {"kind": "word"}]}, "kinds are wrong"),
        ({"kinds": [*KINDS, None]}, "kinds are wrong"),
        ({"kinds": [KINDS[0], {"kind": "category", "values": []}, {"kind": "number"}]}, "differ"),
        ({"kinds": [KINDS[0], {"kind": "category", "values": ["z", "z"]}, {"kind": "number"}]}, "differ"),
        ({"kinds": [KINDS[0], {"kind": "category", "values": None}, {"kind": "number"}]}, "kinds"),
        ({"kinds": [KINDS[0], {"kind": "category", "values": [[], 1]}, {"kind": "number"}]}, "label"),
        ({"kinds": [{"kind": "category", "values": ["z", "w", "z"]}, KINDS[1], NUMBER]}, "differ"),
        ({"parents": [[2], [], []]}, "depends on a number"),
        ({"parents": [[1], [0], []]}, "cycle"),
        ({"calibration": {"temperature": 0.0, "shifts": [0.0, 0.0]}}, "temperature is not positive"),
        ({"calibration": {"temperature": -1.0, "shifts": [0.0, 0.0]}}, "temperature is not positive"),
        ({"calibration": {"temperature": 1.0, "shifts": [0.0]}}, "1 entries"),
        ({"warps": [{"power": 1.0, "shift": 0.0, "scale": 0.0}]}, "scale of a warp is not positive"),
        ({"warps": [{"power": 1.0, "shift": 0.0, "scale": -1.0}]}, "scale of a warp is not positive"),
        ({"warps": []}, "0 entries"),
        ({"decision": {"kind": "other", "probability": True, "scores": []}}, "no known kind"),
        ({"decision": {"kind": "scores", "probability": True, "scores": []}}, "0 entries"),
        ({"decision": SCORES | {"probability": 1, "scores": [NULL] * 2}}, "true"),
        ({"decision": SCORES | {"scores": [score((0.0,) * 2)] * 2}}, "1 entries"),
        ({"decision": {"kind": "scores", "probability": True, "scores": [score((0.0,),
        (0.0, 0.0))] * 2}}, "1 entries"),
        ({"networks": [{"tables": [[0.5, 0.5]], "cells": [cells(0.0)]}] * 2}, "1 entries"),
        ({"networks": [{"tables": [[0.5, 0.5]] * 2, "cells": []}] * 2}, "0 entries"),
        ({"networks": [{"tables": [[0.5, 0.5], [1.0, 0.0]], "cells": [cells(0.0)]}] * 2}, "not positive"),
        ({"networks": [{"tables": [[0.5, 0.5], [1.5, -0.5]], "cells": [cells(0.0)]}] * 2}, "not positive"),
        ({"networks": [{"tables": [[0.5, 0.5]] * 2, "cells": [cells(0.0, 0.0)]}] * 2}, "variance"),
        ({"networks": [{"tables": [[0.5, 0.5]] * 2, "cells": [cells(0.0, -1.0)]}] * 2}, "variance"),
        ({"networks": [{"tables": [[0.5, 0.5]] * 2, "cells": [cells([0.0])]}] * 2}, "finite number"),
        ({"feature_range": [[None, None, None], [None, None, 4.0]]}, "feature_range"),
        ({"feature_range": [[None, -4.0], [None, None, 4.0]]}, "feature_range"),
    ],
)  # fmt: skip
def test_models_that_are_none(change, text):
    exact.read_model(content())
    with pytest.raises(UnreadableError, match=text):
        exact.read_model(content(**change))


def choice(feature, values, prices):
    return {"feature": feature, "values": values, "prices": prices}


@pytest.mark.parametrize(
    ("choices", "text"),
    [
        ([choice(1, [False, True], [0.0, 0.5]), choice(0, ["x"], [0.0])], "not sorted"),
        ([{"feature": 0, "values": ["x"], "prices": [0.0]}] * 2, "not sorted"),
        ([{"feature": 3, "values": ["x"], "prices": [0.0]}], "no number 3"),
        ([{"feature": 0, "values": ["x", "y"], "prices": [0.0]}], "1 entries"),
        ([{"feature": 0, "values": ["y"], "prices": [0.0]}], "not one of its values"),
        ([{"feature": 0, "values": ["x", "x"], "prices": [0.0, 0.0]}], "not one of its values"),
        ([choice(0, ["x"], [0.0]), choice(1, [0, 1], [0.0, 0.0])], "not one of its values"),
        ([{"feature": 0, "values": ["x"], "prices": [None]}], "price"),
    ],
)  # fmt: skip
def test_choices_that_are_none(choices, text):
    e = answer()
    e["question"]["choices"] = choices
    with pytest.raises(UnreadableError, match=text):
        case_of(e)


def test_rows_with_categories_that_are_none():
    for key in ("factual", "counterfactual"):
        e = answer()
        e[key]["values"][0] = "z"
        with pytest.raises(UnreadableError, match=f"the {key} has a category without such a value"):
            case_of(e)
    for idle, value in (("bound", {}), ("bound", [])):
        e = answer()
        e["certificate"][idle] = value
        with pytest.raises(UnreadableError, match="which does not go with its question"):
            case_of(e)


@pytest.mark.parametrize(
    ("prices", "fault"),
    [
        (((0.0, 0.25), (0.0, 0.0)), False), (((0.0, -5e-324), (0.0, 0.5)), True), (((5e-324, 0.25),
        (0.0, 0.5)), True),
        (((0.0, 0.25), (0.5, 0.5)), True), (((-0.0, 0.25), (0.0, "inf")), False), (((0.0, 0.25),
        (0.0, "-inf")), True),
        (((0.0, 0.25), ("inf", 0.5)), True),
    ],
)  # fmt: skip
def test_prices_of_a_question(prices, fault):
    found = exact._domain_fault(case_of(answer(prices=prices)).question)
    assert found == ("a price of a category is negative, or staying costs something" if fault else "")


def test_the_price_of_a_state():
    asked = case_of(answer(prices=((0.0, 0.25), (0.0, "inf")))).question
    assert [asked.price(state) for state in ((0, 0), (1, 0), (0, 1), (1, 1))] == [0, Fraction(1, 4), INF, INF]
    assert (asked.numbers, asked.names, asked.state, asked.n) == ([2], ["a"], (0, 0), 1)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"kinds": [KINDS[0], {"kind": "number"}, {"kind": "number"}]}, "the model has other categories"),
        ({"kinds": [KINDS[0], {"kind": "category", "values": [0, 1]}, NUMBER]}, "has other values"),
        ({"kinds": [{"kind": "category", "values": ["y", "x"]}, KINDS[1], NUMBER]}, "has other values"),
        ({"features": {"labels": ["k", "n", "a"]}}, "the model has other features"),
        ({"warps": [{"power": None, "shift": 0.0, "scale": 1.0}]}, "on other scales than the model's"),
    ],
)  # fmt: skip
def test_models_that_do_not_fit(change, text):
    if change.get("kinds", [None])[1:2] == [{"kind": "number"}]:
        change |= {"decision": None, "feature_range": [[None, 0.0, -4.0], [None, 1.0, 4.0]],
                   "networks": [{"tables": [[0.5, 0.5]], "cells": [cells(0.0)] * 2}] * 2}  # fmt: skip
    case = case_of(answer(), content())
    other = exact.read_model(content(**change))
    object.__setattr__(case, "models", [other])
    case.__dict__.pop("posed", None)
    assert text in exact._misfit(case)


def test_decisions_without_probabilities():
    """A value of the decision is asked for, no threshold, and no probability is stated."""
    model = content(False)
    decision = {"kind": "decision", "model": 0, "target": 1, "rival": 0, "value": 0.0, "robust": True}
    e = answer(model) | dict.fromkeys(
        ("threshold", "factual_probability", "probability", "worst_probability")
    )
    e["question"]["requirements"] = [decision]
    assert {claim.verdict for claim in claims(e, model).values()} == {HOLDS}, claims(e, model)
    for key in ("factual_probability", "probability", "worst_probability"):
        assert FAILS in {claim.verdict for claim in claims(e | {key: 0.5}, model).values()}
    assert "and no threshold" in claims(e | {"threshold": 0.5}, model)["question"].reason
    for requirements, text in (
        ([decision, decision | {"value": 0.25}], "one value of the decision"),
        ([odds()], "a probability that its model"),
        ([density()], "one value of the decision"), ([decision | {"robust": False}], "the odds against 0"),
        ([decision | {"rival": 1}], "one class only"), ([decision, decision], ""),
        ([decision | {"value": 5.0}], ""),
    ):  # fmt: skip
        e["question"]["requirements"] = requirements
        found = exact.question_claim(case_of(e, model))
        assert (text in found.reason) if text else found.verdict == HOLDS, requirements
    e["question"]["requirements"] = [decision | {"value": 0.0625}]
    assert exact.validity_claim(case_of(e, model)).verdict == HOLDS
    e["question"]["requirements"] = [decision | {"value": math.nextafter(0.0625, 1.0)}]
    assert exact.validity_claim(case_of(e, model)).verdict == FAILS
    assert exact._asked_for(case_of(e, model)) == math.nextafter(0.0625, 1.0)
    plain = answer()
    plain["question"]["requirements"] = [odds(), decision]
    assert exact.question_claim(case_of(plain)).verdict == HOLDS


def test_fingerprints_know_everything_that_decides():
    """Any change of what decides changes the fingerprint, and what does not decide does not."""

    def name(**changes):
        return exact.read_model(content(**changes)).fingerprint

    def decided(**changes):
        scores = content()["decision"]["scores"]
        scores[1] |= changes
        return name(decision={"kind": "scores", "probability": True, "scores": scores})

    networks = content()["networks"]
    networks[1]["tables"][0] = [0.25, 0.75]
    moved = content()["networks"]
    moved[1]["cells"][0]["mean"] = 1.5
    wider = content()["networks"]
    wider[1]["cells"][0]["variance"] = 1.5
    found = [
        name(), name(decision=None), name(decision=None, networks=networks),
        name(decision=None, networks=moved),
        name(decision=None, networks=wider), name(class_prior=[0.25, 0.75]), decided(constant=1.0),
        decided(linear=[2.0]), decided(tables=[[0.0, 0.5], [0.0, 0.5]]),
        exact.read_model(content(False)).fingerprint,
        name(calibration={"temperature": 1.0, "shifts": [0.0, 0.0]}),
        name(calibration={"temperature": 2.0, "shifts": [0.0, 0.0]}),
        name(calibration={"temperature": 1.0, "shifts": [0.0, 1.0]}),
        name(warps=[{"power": 0.5, "shift": 0.0, "scale": 1.0}]),
        name(warps=[{"power": 0.5, "shift": 1.0, "scale": 1.0}]),
        name(kinds=[{"kind": "category", "values": ["x", "w"]}, KINDS[1], {"kind": "number"}]),
        name(classes={"labels": [0, 2]}),
    ]  # fmt: skip
    both = content()["decision"]["scores"]
    for k in (0, 1, 2):
        scores = [both[0] | {"matrix": [[float(k)]]}, both[1] | {"matrix": [[1.0]]}]
        found.append(name(decision={"kind": "scores", "probability": True, "scores": scores}))
    assert len(set(found)) == len(found)
    assert name(feature_range=[[None, None, -5.0], [None, None, 5.0]]) == name()


def test_scores_have_matrices_for_every_class_or_for_none():
    """Else a matrix could move from one class to the other, and the fingerprint would not change."""
    none, one = mixed.content()["decision"]["scores"], {"matrix": [[1.0]]}
    for scores in ([none[0] | one, none[1]], [none[0], none[1] | one]):
        decision = {"kind": "scores", "probability": True, "scores": scores}
        with pytest.raises(exact.UnreadableError, match="some scores have a matrix, others have none"):
            exact.read_model(mixed.content(decision=decision))
    bent = [score | one for score in none]
    decision = {"kind": "scores", "probability": True, "scores": bent}
    names = {exact.read_model(mixed.content(**d)).fingerprint for d in ({}, {"decision": decision})}
    assert [len(name) for name in names] == [16, 16]
