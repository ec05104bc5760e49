import matplotlib.pyplot as plt
import numpy as np
import pytest

from surefoot.exceptions import DataError
from surefoot.problem.answer import Round
from surefoot.ui.plots import plot_trace
from tests.edited import edited


def with_rounds(explanation, *rounds):
    records = tuple(Round(*numbers, None, 0.1, 0.1) for numbers in rounds)
    return edited(explanation, iterations=records)


@pytest.mark.parametrize("name", ["banknote", "ionosphere", "awkward"])
def test_rounds_are_drawn(explain, name):
    explanation = explain(name)
    upper, lower = plot_trace(explanation)
    upper.figure.canvas.draw()
    distance, bound = upper.lines
    assert distance.get_ydata().tolist() == [r.distance for r in explanation.iterations]
    assert bound.get_ydata().tolist() == [r.lower_bound for r in explanation.iterations]
    assert lower.lines[0].get_ydata().tolist() == [r.violation for r in explanation.iterations]
    assert lower.lines[1].get_ydata()[0] == 0


def test_what_is_not_finite_is_skipped(explain):
    rounds = (np.nan, 0.0, np.inf), (1.0, -np.inf, 0.5), (1.1, 1.0, 0.0)
    upper, lower = plot_trace(with_rounds(explain("banknote"), *rounds))
    upper.figure.canvas.draw()
    assert upper.lines[0].get_xdata().tolist() == [2, 3]
    assert upper.lines[1].get_xdata().tolist() == [1, 3]
    assert lower.lines[0].get_xdata().tolist() == [2, 3]


def test_nothing_finite_still_makes_axes(explain):
    upper, lower = plot_trace(with_rounds(explain("banknote"), (np.inf, np.nan, np.inf)))
    upper.figure.canvas.draw()
    assert [len(line.get_xdata()) for line in (*upper.lines, lower.lines[0])] == [0, 0, 0]
    assert np.isfinite([*upper.get_xlim(), *upper.get_ylim(), *lower.get_ylim()]).all()


def test_a_single_round_shows_as_markers(explain):
    for ax in plot_trace(with_rounds(explain("banknote"), (1.0, 0.9, -0.1))):
        assert all(line.get_marker() not in ("", "None") for line in ax.lines if len(line.get_xdata()) == 1)


@pytest.mark.parametrize("n_rounds", [1, 2, 3, 150])
def test_ticks_are_whole_rounds(explain, n_rounds):
    rounds = [(1 + 0.01 * k, 1.0, 1 / (k + 1)) for k in range(n_rounds)]
    _, lower = plot_trace(with_rounds(explain("banknote"), *rounds))
    lower.figure.canvas.draw()
    assert all(float(tick).is_integer() for tick in lower.get_xticks())


def test_a_tiny_gap_is_not_blown_up(explain):
    upper, _ = plot_trace(with_rounds(explain("banknote"), (1.0, 0.9999, 0.0)))
    assert np.ptp(upper.get_ylim()) >= 0.04


def test_given_axes_are_used(explain):
    _, axes = plt.subplots(1, 2)
    assert plot_trace(explain("banknote"), axes=axes).tolist() == axes.tolist()


def test_a_failed_search_has_a_trace_too(failed):
    assert len(plot_trace(failed)) == 2


def test_bad_calls(explain):
    with pytest.raises(DataError, match="no rounds to draw"):
        plot_trace(with_rounds(explain("banknote")))
    with pytest.raises(DataError, match="two axes"):
        plot_trace(explain("banknote"), axes=[plt.subplots()[1]])
