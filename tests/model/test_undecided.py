"""Whole numbers with few values become categories where held-out rows say so."""

import numpy as np
import pandas as pd

from surefoot import select
from surefoot.model.undecided import undecided_categories


def tables(rng, effect, n=1500):
    site = rng.integers(1, 7, n)
    age = rng.normal(size=n)
    odds = age + np.array(effect)[site]
    y = np.where(rng.random(n) < 1 / (1 + np.exp(-odds)), "good", "bad")
    return pd.DataFrame({"site": site, "age": age}), y


def test_names_become_categories_and_amounts_stay_numbers(rng):
    frame, y = tables(rng, [0, 2, -2, 2, -2, 2, -2])
    found, notes = undecided_categories(frame, y, ["site"], [])
    assert found == ["site"]
    assert notes[0].startswith("site is taken as a category: held-out log loss 0.")
    frame, y = tables(rng, np.arange(7) * 0.5 - 1.75)
    found, notes = undecided_categories(frame, y, ["site"], [])
    assert found == []
    assert notes == ["site stays a number: as a category the held-out log loss is no lower."]


def test_select_decides_and_says_so(rng):
    frame, y = tables(rng, [0, 2, -2, 2, -2, 2, -2], 400)
    chosen = select(frame, y, cv=2, marginals="gaussian")
    assert chosen.classifier.feature_kinds_ == {"site": "category", "age": "number"}
    assert "site is taken as a category" in str(chosen)
    left = select(frame, y, cv=2, marginals="gaussian", undecided=[])
    assert left.classifier.feature_kinds_["site"] == "whole"
    assert chosen.table["log_loss"].min() < left.table["log_loss"].min()


def test_what_rules_add_up_stays_a_number(rng):
    frame, y = tables(rng, [0, 2, -2, 2, -2, 2, -2], 400)
    for undecided in ("auto", ["site"]):
        chosen = select(frame, y, cv=2, plain=["site"], undecided=undecided, refits=0, fast=True)
        assert chosen.classifier.feature_kinds_["site"] == "whole"
        assert "site" not in str(chosen)


def test_holes_dates_text_and_tiny_classes(rng):
    frame, y = tables(rng, [0, 2, -2, 2, -2, 2, -2])
    frame["when"] = pd.date_range("2020", periods=len(frame))
    frame["housing"] = rng.choice(["own", "rent"], len(frame))
    frame["empty"] = np.nan
    frame.loc[::7, ["site", "age", "when", "housing"]] = None
    assert undecided_categories(frame, y, ["site"], ["housing"])[0] == ["site"]
    alone = np.where(np.arange(len(frame)) == 0, "odd", y)
    assert undecided_categories(frame, alone, ["site"], []) == ([], [])
    assert undecided_categories(frame, y, [], []) == ([], [])
