"""A family of problems on its way to other processes."""

import pickle
import threading
from fractions import Fraction

import numpy as np

from surefoot import CounterfactualExplainer
from tests.ui.mixed import toy_model, toy_table


def test_it_is_pickled_while_another_thread_fills_what_families_share():
    asker = CounterfactualExplainer(toy_model()).asker
    family = asker.asked(asker.first, toy_table(20)[0].iloc[0], "yes", None).problem
    shared, done = family._bases, threading.Event()

    def fill():
        k = 0
        while not done.is_set():
            shared[k % 5_000] = (Fraction(k, 7),)  # pickled by Python code, which lets other threads run
            k += 1
            if not k % 5_000:
                shared.clear()

    thread = threading.Thread(target=fill)
    thread.start()
    try:
        for _ in range(50):
            again = pickle.loads(pickle.dumps(family))
    finally:
        done.set()
        thread.join()
    assert np.array_equal(again.factual, family.factual)
