import numpy as np

from surefoot.model.completion import completed_by_class


def test_holes_get_the_mean_or_most_frequent_value_of_their_class():
    numbers = np.array([[1.0], [3.0], [np.nan], [10.0], [np.nan]])
    codes = np.array([[0], [1], [1], [-1], [2]])
    classes = np.array([0, 0, 0, 1, 1])
    full, values = completed_by_class(numbers, codes, classes)
    assert full.ravel().tolist() == [1.0, 3.0, 2.0, 10.0, 10.0]
    assert values.ravel().tolist() == [0, 1, 1, 2, 2]
    assert np.isnan(numbers[2, 0])  # the original is left alone


def test_a_class_without_any_value_takes_those_of_the_others():
    numbers = np.array([[1.0], [3.0], [np.nan]])
    codes = np.array([[2], [2], [-1]])
    full, values = completed_by_class(numbers, codes, np.array([0, 0, 1]))
    assert full[2, 0] == 2.0
    assert values[2, 0] == 2


def test_weights_count():
    numbers = np.array([[1.0], [3.0], [np.nan]])
    codes = np.array([[0], [1], [-1]])
    full, values = completed_by_class(numbers, codes, np.zeros(3, dtype=int), np.array([1.0, 3.0, 1.0]))
    assert full[2, 0] == 2.5
    assert values[2, 0] == 1
    nothing, _ = completed_by_class(np.full((2, 1), np.nan), codes[:2], np.zeros(2, dtype=int))
    assert nothing.ravel().tolist() == [0.0, 0.0]
