"""A small part of ``benchmarks/audit/cli_fuzz.py``: random commands end well and leave their inputs alone."""

import sys
from pathlib import Path

import pytest

from tests.thinning import only

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.mark.skipif(sys.platform == "win32" or not BENCHMARKS.is_dir(), reason="devices, and the repository")
@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize(("count", "seed"), only([(15, 12)], [(15, 12), (60, 12)]))
def test_random_commands(monkeypatch, tmp_path, count, seed):
    monkeypatch.chdir(tmp_path)  # where it comes back to
    from benchmarks.audit.cli_fuzz import fuzzed

    wrong, seen = [], set()
    for case in fuzzed(count=count, seed=seed, share=0.0, tiny_disk=False):
        seen.add((case.command, case.status))
        wrong += [(dict(+case.faults), case.arguments, case.told)] if +case.faults else []
    assert not wrong
    assert {("explain", 0), ("predict", 0), ("fit", 0), ("explain", 2)} <= seen
