"""A small part of ``benchmarks/audit/cli_fuzz.py``: random commands end well and leave their inputs alone."""

import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.mark.skipif(sys.platform == "win32" or not BENCHMARKS.is_dir(), reason="devices, and the repository")
@pytest.mark.filterwarnings("default")
def test_random_commands(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)  # where it comes back to
    from benchmarks.audit.cli_fuzz import fuzzed

    wrong, seen = [], set()
    for case in fuzzed(count=60, seed=12, share=0.0, tiny_disk=False):
        seen.add((case.command, case.status))
        wrong += [(dict(+case.faults), case.arguments, case.told)] if +case.faults else []
    assert not wrong
    assert {("explain", 0), ("predict", 0), ("fit", 0), ("explain", 2)} <= seen
