"""Model files with a right checksum and absurd figures: one line each, from every command."""

import json
import subprocess
import sys

import pytest

from surefoot import ConditionalGaussianNetworkClassifier, datasets
from surefoot.exceptions import ModelFileError, ProblemError
from surefoot.proof import exact
from tests.asking import CounterfactualExplainer


@pytest.fixture(scope="module")
def bank():
    return datasets.load_banknote()


def changed(path, change):
    """The file at a path with a change, and the checksum that goes with it."""
    document = json.loads(path.read_text())
    change(document["model"])
    document["sha256"] = exact._checksum(document["model"])
    path.write_text(json.dumps(document))
    return path


def saved(path, bank, **how):
    ConditionalGaussianNetworkClassifier("tan", **how).fit(bank.X, bank.y).save(path)
    return path


@pytest.mark.parametrize("kinds", [5, "category", True, {"kind": "category"}])
def test_kinds_that_are_no_list(bank, tmp_path, kinds):
    path = changed(saved(tmp_path / "m.json", bank), lambda model: model.update(kinds=kinds))
    with pytest.raises(ModelFileError, match="kinds must be a list"):
        ConditionalGaussianNetworkClassifier.load(path)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # numpy says it too
@pytest.mark.parametrize("weight", [1e200, 1e308])
def test_weights_beyond_all_reason(bank, tmp_path, weight):
    path = changed(
        saved(tmp_path / "m.json", bank),
        lambda model: model["networks"][1]["weights"][2].__setitem__(0, weight),
    )
    clf = ConditionalGaussianNetworkClassifier.load(path)
    asked = CounterfactualExplainer(clf, budget=0.02)
    with pytest.raises(ProblemError, match=r"too large to compute with|finite"):
        asked.explain(bank.X.iloc[0], target=1)


def test_a_scale_that_overflows(bank, tmp_path):
    path = saved(tmp_path / "m.json", bank, marginals="power")
    path = changed(path, lambda model: model["warps"][0].update(power=1e308))
    clf = ConditionalGaussianNetworkClassifier.load(path)
    with pytest.raises(ProblemError, match="finite numbers"):
        CounterfactualExplainer(clf).explain(bank.X.iloc[0], target=1)


@pytest.mark.parametrize("power", [-1e-310, -5e-324, -1e-21, 2 + 1e-15])
def test_a_scale_whose_end_no_double_holds(bank, tmp_path, power):
    """The exact checker takes such a power for a logarithm, and both say the same of its ends."""
    scale = exact.Scale(power, 0.0, 1.0)
    assert scale(float("inf")) == float("inf")
    assert scale(float("-inf")) == (float("-inf") if power < 0 else -1 / (power - 2))
    assert exact.Scale(-0.5, 0.0, 1.0)(float("inf")) == 2
    path = saved(tmp_path / "m.json", bank, marginals="power")
    path = changed(path, lambda model: model["warps"][0].update(power=power))
    clf = ConditionalGaussianNetworkClassifier.load(path)
    e = CounterfactualExplainer(clf, bounds=None, time_limit=1).explain(
        bank.X.iloc[0], target=1, on_failure="return"
    )
    (tmp_path / "e.json").write_text(e.to_json())
    command = [sys.executable, "-I", exact.__file__, str(path), str(tmp_path / "e.json")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "Traceback" not in done.stderr
    assert done.returncode == 0, done.stdout
