"""What a file says of geometry and context, at the edge of what may differ."""

import copy
import functools
import math

import numpy as np
import pytest

from surefoot.proof import exact
from tests.proof.handmade import model_document, small
from tests.proof.test_exact import files


def verdicts(model, e):
    """The verdict on every claim, or that the file cannot be read."""
    try:
        return [(claim.name, claim.verdict) for claim in exact.check([model], e)]
    except exact.UnreadableError as error:
        return str(error)


@functools.cache
def read(name):
    model, e = files(name)
    return exact.read_model(model), e


def case_of(name, change=None):
    """A file after a change, that was read."""
    model, e = read(name)
    e = copy.deepcopy(e)
    if change is not None:
        change(e)
    return exact.read_case([model], e)


def test_refusals_and_files_of_other_models():
    model, e = files()
    other = model_document(small(3))
    assert verdicts(other, e) == [("model", exact.FAILS)]
    assert verdicts(model, {**e, "status": "invalid"}) == [("model", "holds"), ("refusal", exact.FAILS)]
    for wrong in ({}, [], None, {**e, "more": 1}, {**e, "format": "x"}):
        assert isinstance(verdicts(model, wrong), str)


# ----- geometry ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["cholesky inf", "zca 2"])
@pytest.mark.parametrize("excess", [0.9e-6, -0.9e-6, 1.5e-6, -1.5e-6, 1.9e-6, -1.9e-6])
def test_the_room_of_a_metric(name, excess):
    """D'D may be larger or smaller than P by one part in a million, and by no more."""

    def scaled(e):
        metric = np.array(e["certificate"]["metric"]) * math.sqrt(1 + excess)
        e["certificate"]["metric"] = metric.tolist()

    assert exact.geometry_claim(case_of(name, scaled)).verdict == (
        exact.HOLDS if abs(excess) < 1e-6 else exact.FAILS
    )


def test_a_metric_of_the_dag_has_the_parents_alone():
    """An entry that the order of the features allows, but the graph does not."""
    model, e = read("dag 1")
    place = {j: k for k, j in enumerate(model.order)}
    wrong = 0
    for i in range(4):
        for j in range(4):
            if place[j] < place[i] and j not in model.parents[i]:
                changed = case_of(
                    "dag 1", lambda e, i=i, j=j: e["certificate"]["metric"][i].__setitem__(j, 1e-12)
                )
                assert exact.geometry_claim(changed).verdict == exact.FAILS
                wrong += 1
    assert wrong
    assert e["certificate"]["metric"] == files("dag 1")[1]["certificate"]["metric"]


@pytest.mark.parametrize("name", ["cholesky inf", "dag 1", "zca 2", "exactly dag"])
def test_a_metric_may_differ_by_one_part_in_a_million(name):
    model, e = files(name)
    key = "ball" if name == "exactly dag" else "metric"
    D = np.array(e["certificate"][key])
    edge = np.sqrt(1 + 1e-6)
    for factor in (
        1.0,
        edge,
        edge * (1 - 1e-8),
        edge * (1 + 1e-8),
        1 / edge,
        1 - 1e-3,
        *(edge * (1 + s * 1e-15) for s in (-4, -1, 1, 4)),
    ):
        e["certificate"][key] = (D * factor).tolist()
        case = exact.read_case([model], e)
        claim = exact.geometry_claim(case)
        assert (claim.verdict == exact.HOLDS) == (abs(factor**2 - 1) < 1e-6) or abs(factor / edge - 1) < 1e-14
    exchanged = D.copy()
    exchanged[:, 0] *= 1 + 3e-6
    crooked = D.copy()
    crooked[-1 if name.startswith("chol") else 0, 0 if name.startswith("chol") else -1] += (
        1e-300 if "zca" not in name else 1e-15
    )
    for wrong in (exchanged, crooked, -D, 0 * D, D * 1e200):
        e["certificate"][key] = wrong.tolist()
        case = exact.read_case([model], e)
        assert exact.geometry_claim(case).verdict == exact.FAILS


@pytest.mark.parametrize(
    ("name", "ball"),
    [("by feature", np.eye(2).tolist()), ("exactly dag", None), ("dag 1", np.eye(4).tolist())],
)
def test_the_matrix_of_the_ball_must_be_the_right_one(name, ball):
    model, e = files(name)
    e["certificate"]["ball"] = ball
    assert dict(verdicts(model, e))["geometry"] == exact.FAILS


# ----- context ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("key", ["unit", "expected_before", "expected_after", "z_score"])
@pytest.mark.parametrize("j", [0, 3])
def test_numbers_of_the_context_agree_to_their_size(key, j):
    """What is off by less than 1e-9 of value or unit holds, what is off by more does not."""
    e = read("cholesky inf")[1]
    value, unit = e[key]["values"][j], e["unit"]["values"][j]
    size = {"unit": value, "z_score": max(1.0, abs(value))}.get(key, max(abs(value), unit))
    for step in (0.7e-9, -0.7e-9, 1.2e-9, -1.2e-9, 1.7e-9, -1.7e-9, 1e-6, -1.0):
        case = case_of("cholesky inf", lambda e, s=step: e[key]["values"].__setitem__(j, value + s * size))
        assert exact.context_claim(case).verdict == (exact.HOLDS if abs(step) < 1e-9 else exact.FAILS), step


def test_a_unit_is_positive():
    def turned(*features):
        def change(e):
            for j in features:
                e["unit"]["values"][j] *= -1

        return case_of("cholesky inf", change)

    for features in ((0,), (3,), (0, 1, 2, 3)):
        assert exact.context_claim(turned(*features)).verdict == exact.FAILS


@pytest.mark.parametrize(
    "change",
    [
        lambda e: e.update(parents=[[], [], [], []]),
        lambda e: e.update(unit=None),
        lambda e: e.update(expected_before=None),
        lambda e: e.update(expected_after=None),
        lambda e: e.update(z_score=None),
        lambda e: e.update(density_percentile=None),
        lambda e: e.update(density_percentile=e["density_percentile"] + 1e-5),
        lambda e: e.update(density_percentile=e["density_percentile"] - 1e-5),
    ],
)
def test_one_wrong_thing_spoils_the_context(change):
    assert exact.context_claim(case_of("cholesky inf")).verdict == exact.HOLDS
    assert exact.context_claim(case_of("cholesky inf", change)).verdict == exact.FAILS


CONTEXT = ("unit", "expected_before", "expected_after", "z_score", "density_percentile", "parents")


@pytest.mark.parametrize("key", CONTEXT)
def test_context_must_agree(key):
    model, e = files()
    honest = copy.deepcopy(e[key])
    for step in (0.0, 0.4e-9, 3e-9, -3e-9, 1e-3, math.nan):
        if key == "parents":
            e[key] = [group if step == 0 else [*group, 0] for group in honest]
        elif key == "density_percentile":
            e[key] = honest + 100 * step
        else:
            values = [*honest["values"]]
            values[1] += step * max(
                abs(values[1]), 1.0 if key == "z_score" else e["unit"]["values"][1] if key != "unit" else 0
            )
            e[key] = {**honest, "values": values}
        found = verdicts(model, e)
        if step == 0:
            assert found[-1] == ("context", exact.HOLDS)
        elif abs(step) > 1e-6:
            assert found[-1] == ("context", exact.FAILS)
    e[key] = None
    assert verdicts(model, e)[-1] == ("context", exact.FAILS)
