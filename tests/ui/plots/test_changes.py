import matplotlib.pyplot as plt
import numpy as np
import pytest

from surefoot.exceptions import DataError
from surefoot.ui.plots import plot_changes
from tests.edited import edited
from tests.thinning import covering


def bars(ax):
    return ax.containers[0].patches


def column(ax):
    return [text.get_text() for text in ax.texts[1:]]


@pytest.mark.parametrize(("norm", "name"), covering([np.inf, 2, 1], ["banknote", "ionosphere", "awkward"]))
def test_bars_are_the_changes_largest_on_top(explain, name, norm):
    explanation = explain(name, norm)
    ax = plot_changes(explanation)
    ax.figure.canvas.draw()
    sizes = explanation.changes()["in standard deviations"]
    expected = sizes[sizes.abs() >= 0.005].head(20)
    assert [bar.get_width() for bar in bars(ax)] == pytest.approx(expected.tolist())
    assert ax.yaxis_inverted()
    assert len(column(ax)) == len(ax.get_yticklabels()) == len(expected)


def test_values_and_names_are_written(explain):
    explanation = explain("banknote")
    ax = plot_changes(explanation)
    table = explanation.changes()
    assert [label.get_text() for label in ax.get_yticklabels()] == table["feature"].tolist()
    for text, start, end in zip(column(ax), table["from"], table["to"], strict=True):
        written = [float(part.replace("\N{MINUS SIGN}", "-")) for part in text.split(" → ")]
        assert written == pytest.approx([start, end], abs=0.005)


def test_rising_and_falling_differ_without_colour(explain):
    ax = plot_changes(explain("banknote"))
    hatches = {bar.get_width() > 0: bar.get_hatch() for bar in bars(ax)}
    assert hatches[True] != hatches[False]
    assert {text.get_text() for text in ax.get_legend().get_texts()} == {"rises", "falls"}


def test_smaller_and_absent_changes_are_counted(explain):
    assert "standard deviations of the factual class" in plot_changes(explain("banknote")).get_xlabel()
    ax = plot_changes(explain("ionosphere", np.inf), max_features=3)
    assert len(bars(ax)) == 3
    assert "29 smaller changes not shown" in ax.get_xlabel()
    sparse = explain("ionosphere", 1)
    unchanged = int((sparse.changes()["in standard deviations"].abs() < 1e-6).sum())
    note = f"{unchanged} features stay as they are"
    assert note in plot_changes(sparse).get_xlabel()


def test_nearly_equal_values_are_told_apart(explain):
    explanation = explain("banknote")
    far = edited(
        explanation, factual=explanation.factual + 1e7, counterfactual=explanation.counterfactual + 1e7
    )
    assert all(len(set(text.split(" → "))) == 2 for text in column(plot_changes(far)))


def test_no_change_at_all(explain):
    explanation = explain("banknote")
    ax = plot_changes(edited(explanation, counterfactual=explanation.factual))
    ax.figure.canvas.draw()
    assert ax.texts[0].get_text() == "no feature changes"


def test_given_axes_are_used(explain):
    _, ax = plt.subplots()
    assert plot_changes(explain("banknote"), ax=ax) is ax


def test_bad_calls(explain, failed):
    with pytest.raises(DataError, match=r"no counterfactual to draw: No counterfactual was found, but"):
        plot_changes(failed)
    with pytest.raises(DataError, match="max_features"):
        plot_changes(explain("banknote"), max_features=0)
