"""Schema, networks, warps and calibration as plain JSON values, and back."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefoot.exceptions import ModelFileError
from surefoot.model.calibration import Calibration
from surefoot.model.dag import Dag
from surefoot.model.mixed import Cells, MixedNetwork, Network, split_parents
from surefoot.model.network import LinearGaussianNetwork
from surefoot.model.schema import Schema
from surefoot.model.warp import IDENTITY, Warp
from surefoot.plain import entries, finite, label, sequence, truth

CELL_PARTS = ("mean", "at", "weights", "variance")


def numeric(values: Any, name: str) -> NDArray[np.float64]:
    """An array of numbers; text that looks like a number is none."""
    found = np.array(values)
    if found.size and found.dtype.kind not in "iuf":
        raise ModelFileError(f"{name!r} is wrong")
    return found.astype(float)


def kinds_content(schema: Schema) -> list[dict[str, Any]]:
    """What each feature is."""
    found: list[dict[str, Any]] = []
    for (_, kind), values, ordered in zip(schema.kinds.items(), schema.values, schema.ordered, strict=True):
        more = {} if values is None else {"values": list(values), "ordered": ordered}
        found.append({"kind": kind, **more})
    return found


def schema_from(kinds: Any, names: list[Any]) -> Schema:
    """The schema; files from before there were kinds hold numbers alone."""
    if kinds is None:
        return Schema.of_numbers(names)
    values, ordered, whole, dates = [], [], [], []
    for entry in sequence(kinds, "kinds", len(names)):
        kind = entry.get("kind") if isinstance(entry, dict) else None
        if kind not in ("number", "whole", "date", "category"):
            raise ModelFileError("'kinds' is wrong")
        is_category = kind == "category"
        entries(entry, "kinds", ["kind", "values", "ordered"] if is_category else ["kind"])
        values.append(_category_values(entry["values"]) if is_category else None)
        ordered.append(truth(entry["ordered"], "ordered") if is_category else False)
        whole.append(kind in ("whole", "date"))
        dates.append(kind == "date")
    return Schema(tuple(names), tuple(values), tuple(ordered), tuple(whole), tuple(dates))


def _category_values(values: Any) -> tuple[Any, ...]:
    return tuple(label(value, "a category's value") for value in sequence(values, "values"))


def network_content(network: Network) -> dict[str, Any]:
    """The parameters of one class."""
    if isinstance(network, MixedNetwork):
        cells = [{name: getattr(c, name).tolist() for name in CELL_PARTS} for c in network.cells]
        return {"tables": [table.tolist() for table in network.tables], "cells": cells}
    return {name: getattr(network, name).tolist() for name in ("weights", "means", "variances")}


def network_from(entry: Any, dag: Dag, schema: Schema) -> Network:
    """The network of one class; its own checks see to shapes and signs."""
    if not schema.n_categories:
        parts = entries(entry, "networks", ["weights", "means", "variances"])
        return LinearGaussianNetwork(dag, **{name: numeric(part, name) for name, part in parts.items()})
    parts = entries(entry, "networks", ["tables", "cells"])
    tables = [numeric(table, "tables") for table in sequence(parts["tables"], "tables", schema.n_categories)]
    cells = []
    for i, cell in enumerate(sequence(parts["cells"], "cells", schema.n_numbers)):
        found = entries(cell, "cells", CELL_PARTS)
        mean, at, weights, variance = (numeric(found[name], name) for name in CELL_PARTS)
        parents, given = split_parents(dag, schema, schema.numbers[i])
        cells.append(Cells(parents, given, mean, at, weights, variance))
    return MixedNetwork(dag, schema, tuple(tables), tuple(cells))


def warp_content(warp: Warp) -> dict[str, Any]:
    """One number's warp."""
    return {"power": warp.power, "shift": warp.shift, "scale": warp.scale}


def warps_from(values: Any, n_numbers: int) -> tuple[Warp, ...]:
    """The warps; none of them bends anything where the file has none."""
    if values is None:
        return (IDENTITY,) * n_numbers
    found = []
    for entry in sequence(values, "warps", n_numbers):
        parts = entries(entry, "warps", ["power", "shift", "scale"])
        power = None if parts["power"] is None else finite(parts["power"], "power")
        found.append(Warp(power, finite(parts["shift"], "shift"), finite(parts["scale"], "scale")))
    return tuple(found)


def calibration_content(calibration: Calibration | None) -> dict[str, Any] | None:
    """Temperature and shifts, if there are any."""
    if calibration is None:
        return None
    return {"temperature": calibration.temperature, "shifts": list(calibration.shifts)}


def calibration_from(values: Any, n_classes: int) -> Calibration | None:
    """Temperature and shifts, if the file has any."""
    if values is None:
        return None
    parts = entries(values, "calibration", ["temperature", "shifts"])
    shifts = [finite(shift, "shifts") for shift in sequence(parts["shifts"], "shifts", n_classes)]
    return Calibration(finite(parts["temperature"], "temperature"), tuple(shifts))
