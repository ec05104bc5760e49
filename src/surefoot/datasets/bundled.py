"""Data sets shipped with the package: the three of the paper, and a table of loans with categories."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

import pandas as pd

from surefoot.table.dataset import Dataset

FOLDER = files("surefoot.datasets") / "data"


def load_banknote() -> Dataset:
    """Banknote Authentication: 1372 notes, 4 features; class 0 = genuine, 1 = forged.

    Examples
    --------
    >>> load_banknote()
    <Banknote Authentication: 1372 rows, 4 features, classes ('genuine', 'forged')>
    """
    return _load("banknote")


def load_pima() -> Dataset:
    """Pima Indians Diabetes: 768 women, 8 features; class 0 = negative, 1 = positive."""
    return _load("pima")


def load_ionosphere() -> Dataset:
    """Ionosphere: 351 radar returns, 32 features; class 0 = bad, 1 = good."""
    return _load("ionosphere")


def load_german_credit() -> Dataset:
    """German Credit: 1000 applicants, 7 whole numbers and 13 categories in words; labels "bad" and "good".

    Examples
    --------
    >>> german = load_german_credit()
    >>> german
    <German Credit: 1000 rows, 20 features, classes ('bad', 'good')>
    >>> german.X["housing"].value_counts().to_dict()
    {'own': 713, 'rent': 179, 'free': 108}
    """
    return _load("german_credit")


def about() -> dict[str, dict[str, Any]]:
    """Origin, licence, checksum and column meanings of every bundled file."""
    content: dict[str, dict[str, Any]] = json.loads((FOLDER / "about.json").read_text(encoding="utf-8"))
    return content


def _load(name: str) -> Dataset:
    entry = about()[name]
    with (FOLDER / f"{name}.csv").open("rb") as file:
        frame = pd.read_csv(file, keep_default_na=False)
    features = frame.drop(columns="class")
    return Dataset(
        X=features if "categories" in entry else features.astype(float),
        y=frame["class"],
        class_names=tuple(entry["classes"]),
        title=entry["title"],
        origin=entry["origin"],
        licence=entry["licence"],
        descriptions=entry["features"],
    )
