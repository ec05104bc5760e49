import numpy as np
import pandas as pd
import pytest

from surefoot.exceptions import DataError, SurefootWarning
from surefoot.model.schema import Schema


@pytest.fixture
def frame():
    return pd.DataFrame(
        {
            "age": [31, 45, 28],
            "housing": ["rent", "own", "rent"],
            "income": [2.5, 4.0, 1.9],
            "car": [True, False, True],
            "size": pd.Categorical(["small", "large", "small"], ["small", "middle", "large"], ordered=True),
            "held": np.array([1.5, 2, 3], dtype=object),
            "grade": pd.Categorical([3, 1, 3]),
        }
    )


def test_kinds_of_columns(frame):
    schema = Schema.learned(frame)
    assert schema.kinds == {
        "age": "whole",
        "housing": "category",
        "income": "number",
        "car": "category",
        "size": "category",
        "held": "number",
        "grade": "category",
    }
    assert schema.category_values == (
        ("own", "rent"),
        (False, True),
        ("small", "middle", "large"),
        (1, 3),
    )
    assert [schema.names[j] for j, ordered in enumerate(schema.ordered) if ordered] == ["size"]
    assert (schema.n_numbers, schema.n_categories) == (3, 4)
    assert {type(v) for values in schema.category_values for v in values} == {str, bool, int}


def test_there_and_back(frame):
    schema = Schema.learned(frame)
    numbers, codes = schema.encode(frame)
    assert numbers.dtype == float
    assert codes.dtype == np.intp
    back = schema.decode(numbers, codes)
    assert list(back.columns) == list(frame.columns)
    for name in frame.columns:
        assert back[name].tolist() == frame[name].tolist()
    for i in range(len(frame)):
        row = schema.row(numbers[i], codes[i])
        assert row == frame.iloc[i].tolist()
        for given in (row, frame.iloc[i], dict(zip(frame.columns, row, strict=True))):
            z, state = schema.encode_row(given)
            assert z.tolist() == numbers[i].tolist()
            assert state == tuple(codes[i])


def test_holes(frame):
    gaps = frame.astype(object).mask(np.eye(3, 7, dtype=bool))
    schema = Schema.learned(frame)
    numbers, codes = schema.encode(gaps)
    assert np.isnan(numbers).sum() + (codes < 0).sum() == 3
    assert schema.decode(numbers, codes).isna().to_numpy().sum() == 3
    row = schema.row(numbers[1], codes[1])
    assert row[1] is None
    with pytest.raises(DataError, match=r"^housing is missing$"):
        schema.encode_row(row)
    assert schema.encode_row(row, holes=True)[1][0] == -1


def test_unknown_values(frame):
    schema = Schema.learned(frame)
    changed = frame.assign(housing=["rent", "castle", "tent"])
    with pytest.warns(
        SurefootWarning, match="column 'housing' holds 'castle', which fit never saw"
    ) as caught:
        _, codes = schema.encode(changed)
    assert len(caught) == 1
    assert codes[:, 0].tolist() == [1, -1, -1]
    with pytest.raises(
        DataError, match=r"^housing has no value 'rented'; its values are own, rent; did you mean 'rent'\?$"
    ):
        schema.encode_row([31, "rented", 2.5, True, "small", 1.5, 1])
    with pytest.raises(DataError, match="age must be a number, not 'old'"):
        schema.encode_row(["old", "rent", 2.5, True, "small", 1.5, 1])
    with pytest.raises(DataError, match="income must be a finite number, not inf"):
        schema.encode_row([31, "rent", np.inf, True, "small", 1.5, 1])
    with pytest.raises(DataError, match="the row has 2 values, but there are 7 features"):
        schema.encode_row([31, "rent"])


def test_a_value_is_found_by_its_text_as_well():
    schema = Schema(("grade", "code", "car"), ((1, 2), ("01", "7"), (False, True)))
    assert schema.encode_row(["2", 7, "True"])[1] == (1, 1, 1)
    assert schema.encode_row([2.0, 7.0, 1])[1] == (1, 1, 1)
    with pytest.raises(DataError, match="code has no value 1"):
        schema.encode_row([1, 1, True])


def test_what_is_said_by_name(frame):
    schema = Schema.learned(frame, categorical=["age"], ordered={"housing": ["rent", "own"]})
    assert schema.kinds["age"] == "category"
    assert schema.kinds["car"] == "whole"  # not in the list, and booleans can be numbers
    assert schema.category_values[:2] == ((28, 31, 45), ("rent", "own"))
    assert schema.ordered[:2] == (False, True)
    with pytest.raises(DataError, match="ordered does not say where 'own' of 'housing' comes"):
        Schema.learned(frame, ordered={"housing": ["rent"]})
    for bad in ({"x": ["a"]}, {"housing": "rent"}, ["housing"]):
        with pytest.raises(DataError, match="ordered"):
            Schema.learned(frame, ordered=bad)
    for bad in (["colour"], "age", 3):
        with pytest.raises(DataError, match="categorical"):
            Schema.learned(frame, categorical=bad)


def test_arrays():
    assert Schema.learned(np.array([[True, False]] * 3)).n_categories == 0
    objects = Schema.learned(np.array([["a", 1.0], ["b", 2.0]], dtype=object))
    assert objects == Schema((0, 1), (("a", "b"), None), (), (False, True))
    assert Schema.learned(np.array([["a", "1"]])).category_values == (("a",), ("1",))
    assert Schema.learned(np.ones((3, 2)), categorical=[1]).category_values == ((1,),)


def test_intervals_become_text():
    frame = pd.DataFrame({"band": pd.cut([1.0, 2.0, 3.0], [0, 2, 4])})
    schema = Schema.learned(frame)
    assert schema.category_values == (("(0, 2]", "(2, 4]"),)
    assert schema.encode(frame)[1].ravel().tolist() == [0, 0, 1]


@pytest.mark.parametrize(
    "schema",
    [
        lambda: Schema(("a",), (("1", 1),)),
        lambda: Schema(("a",), ((),)),
        lambda: Schema(("a",), (None, None)),
        lambda: Schema(("a",), (None,), (True,)),
        lambda: Schema(("a",), (("x",),), (), (True,)),
    ],
)
def test_contradictions_are_refused(schema):
    with pytest.raises(DataError):
        schema()


def test_numbers_that_are_none(frame):
    schema = Schema.learned(frame)
    with pytest.raises(DataError, match="column 'age' is not a number in row 1: 'old'"):
        schema.encode(frame.assign(age=[31, "old", 28]))
    with pytest.raises(DataError, match="column 'income' is infinite"):
        schema.encode(frame.assign(income=[1.0, np.inf, 2.0]))
