import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from surefoot.exceptions import DataError
from surefoot.model.adoption.forms import Atom, Form, combined, warped
from surefoot.model.warp import Warp

small = st.floats(-3, 3)
age, income = Form.of_number(Atom(0)), Form.of_number(Atom(1))
housing, plan = Form(tables={2: np.array([1.0, 0.0, 0.0])}), Form(tables={3: np.array([0.0, 1.0])})


def value(form, z, state):
    """The form at numbers (by position) and values (by position)."""
    total = form.constant + sum(table[state[j]] for j, table in form.tables.items())
    return total + sum(a * np.prod([atom.warp(z[atom.feature]) for atom in t]) for t, a in form.terms.items())


@given(small, small, small, small)
def test_products_of_numbers(a, b, x, y):
    u, v = age.scaled(a, b), combined([(b, age), (a, income)], 1.0)
    assert value(u * v, [x, y], {}) == pytest.approx((a * x + b) * (b * x + a * y + 1), abs=1e-9)


def test_products_with_constants_and_within_one_category():
    assert value(Form(2.0) * housing, [], {2: 0}) == 2.0
    assert value(housing * Form(2.0), [], {2: 0}) == 2.0
    square = housing.scaled(2.0, 1.0) * housing.scaled(1.0, -3.0)
    assert [value(square, [], {2: k}) for k in range(3)] == [3.0 * -2.0, -3.0, -3.0]


@pytest.mark.parametrize(
    ("u", "v"),
    [(housing, plan), (housing, age), (age * income, age), (combined([(1, age), (1, plan)]), plan)],
)
def test_products_that_are_no_forms(u, v):
    with pytest.raises(DataError, match="multiplies"):
        u * v


def test_features_without_weight_stay():
    assert set(age.scaled(0.0).terms) == {(Atom(0),)}


@given(st.floats(-1, 3), small, small)
def test_a_warp_behind_a_scaler(power, offset, x):
    form = warped(age.scaled(2.0, offset), power)
    assert value(form, [x], {}) == pytest.approx(float(Warp(power)(2 * x + offset)), abs=1e-9)


def test_warps_of_codes_and_constants():
    assert value(warped(housing.scaled(3.0, 1.0), 0.0), [], {2: 0}) == pytest.approx(np.log1p(4.0))
    assert warped(Form(3.0), 0.0).constant == pytest.approx(np.log1p(3.0))


@pytest.mark.parametrize(
    "form", [age * age, combined([(1, age), (1, income)]), warped(age, 0.5), age.scaled(-1.0)]
)
def test_what_cannot_be_bent(form):
    with pytest.raises(DataError, match="bends"):
        warped(form, 0.5)
