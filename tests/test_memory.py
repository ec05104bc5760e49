"""The collector is as it was before, however a block ends."""

import gc
import threading

import pytest

from surefoot.memory import no_collection


def test_the_collector_is_on_again():
    with no_collection(), no_collection():
        assert not gc.isenabled()
    assert gc.isenabled()


def test_also_when_something_goes_wrong():
    with pytest.raises(ValueError, match="wrong"), no_collection():
        raise ValueError("wrong")
    assert gc.isenabled()


def test_it_stays_off_for_those_who_turned_it_off():
    gc.disable()
    try:
        with no_collection():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_blocks_of_two_threads_that_end_in_either_order():
    for first_ends_first in (True, False):
        started, go_on = threading.Event(), threading.Event()

        def other(started=started, go_on=go_on):
            with no_collection():
                started.set()
                go_on.wait(10)

        thread = threading.Thread(target=other)
        with no_collection():
            thread.start()
            assert started.wait(10)
            if not first_ends_first:
                go_on.set()
                thread.join(10)
        go_on.set()
        thread.join(10)
        assert gc.isenabled()
