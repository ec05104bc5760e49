import pytest

from surefoot.exceptions import MissingDependencyError
from surefoot.ui.plots.style import LONGEST_NAME, new_axes, shortened


@pytest.mark.usefixtures("_no_matplotlib")
def test_without_matplotlib_the_pip_line_is_shown():
    with pytest.raises(MissingDependencyError, match=r"pip install 'surefoot\[plots\]'"):
        new_axes((3, 3))


@pytest.mark.parametrize("name", ["short", 7, "x" * LONGEST_NAME])
def test_short_names_stay(name):
    assert shortened(name) == str(name)


def test_long_names_keep_beginning_and_end_on_one_line():
    text = shortened("income of the household\nbefore tax, in thousands, year 2019")
    assert len(text) <= LONGEST_NAME
    assert text.startswith("income of the")
    assert text.endswith("year 2019")
    assert "…" in text
    assert "\n" not in text
