"""Processes of a pool: what waits is forgotten quietly, and what takes its process along is given up."""

import os
import threading
import time
from typing import NamedTuple

import pytest

from surefoot.explain.population import pool
from surefoot.explain.population.pool import LOSSES, finished


class Number(NamedTuple):
    number: int


class Square(NamedTuple):
    value: int
    interrupted: bool = False


class Squares(NamedTuple):
    """Squares of numbers; those from some number on are slow, one ends its process."""

    slow: int = 1000
    deadly: int = -1

    def done(self, item):
        if item.number >= self.slow:
            time.sleep(60)
        if item.number == self.deadly:
            os._exit(1)
        return Square(item.number**2)

    def given_up(self, item):
        return Square(-item.number)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_every_item_comes_back_once(n_jobs):
    found = finished(Squares(), map(Number, range(20)), n_jobs)
    assert sorted(one.value for one in found) == [k**2 for k in range(20)]


def test_leaving_early_ends_everything_without_a_word(monkeypatch, capfd):
    """Also what was handed over at that very moment: the executor's thread must not stumble over it."""
    failures = []
    monkeypatch.setattr(threading, "excepthook", failures.append)
    before = set(threading.enumerate())
    work = pool._Pool(Squares(slow=1), 2)
    assert next(work.finished(iter([Number(0)]))).value == 0  # its processes have begun
    for number in (1, 2, 3):
        work._submit(Number(number))
    start = time.monotonic()
    work.close(kill=True)
    assert time.monotonic() - start < 30
    assert failures == []
    assert not [thread for thread in set(threading.enumerate()) - before if not thread.daemon]
    assert capfd.readouterr().err == ""


def test_an_item_that_takes_its_process_along_is_given_up():
    values = sorted(one.value for one in finished(Squares(deadly=3), map(Number, range(8)), 2))
    assert LOSSES > 0
    assert values == sorted([-3] + [k**2 for k in range(8) if k != 3])
