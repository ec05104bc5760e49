"""A fitted classifier as plain JSON values, and back."""

from __future__ import annotations

import re
from collections.abc import Callable
from inspect import signature
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from surefoot.exceptions import ModelFileError, SurefootError
from surefoot.model.class_values import ClassValues
from surefoot.model.dag import Dag
from surefoot.model.file import VERSION, version_of
from surefoot.model.kept_refits import refits_content, refits_from
from surefoot.model.parts import (
    calibration_content,
    calibration_from,
    kinds_content,
    network_content,
    network_from,
    numeric,
    schema_from,
    warp_content,
    warps_from,
)
from surefoot.model.schema import Schema
from surefoot.model.structure import StructureReport
from surefoot.model.structure.choice import STRUCTURE_SETTINGS
from surefoot.plain import finite, sequence
from surefoot.table.recipe import Recipe

if TYPE_CHECKING:
    from surefoot.model.classifier import ConditionalGaussianNetworkClassifier

    Classifier = TypeVar("Classifier", bound=ConditionalGaussianNetworkClassifier)

# What a label array may be; anything else in a file is refused before numpy sees it.
LABEL_TYPES = re.compile(r"^(object|\|b1|[|<][iu][1248]|<f[48]|<U[1-9][0-9]{0,5})$")

# Settings that models had before there were categories; others are written where they are not the default.
FIRST_SETTINGS = ("structure", *STRUCTURE_SETTINGS, "priors", "var_smoothing")


def classifier_content(clf: ConditionalGaussianNetworkClassifier) -> dict[str, Any]:
    """Everything that prediction and explanation need, and the settings it was fitted with."""
    report = clf.structure_report_
    content = {
        "settings": _settings(clf),
        "features": {"named": hasattr(clf, "feature_names_in_"), "labels": list(clf.feature_labels_)},
        "kinds": kinds_content(clf.schema_),
        "classes": {"dtype": _label_type(clf.classes_), "labels": clf.classes_.tolist()},
        "class_prior": clf.class_prior_.tolist(),
        "class_count": clf.class_count_.tolist(),
        "rows": clf.n_rows_,
        "feature_range": _with_holes(clf.feature_range_),
        "feature_percentiles": _with_holes(clf.feature_percentiles_),
        "density_percentiles": clf.density_percentiles_.tolist(),
        "parents": [list(group) for group in clf.dag_.parents],
        "structure": {
            "method": report.method,
            "converged": report.converged,
            "n_iter": report.n_iter,
            "acyclicity": float(np.nan_to_num(report.acyclicity)),
            "objective": report.objective,
        },
        "networks": [network_content(network) for network in clf.networks_],
    }
    if clf.shrinkage_:
        content["shrinkage"] = clf.shrinkage_
    if clf.judged_ is not None:
        content["judged"] = dict(clf.judged_)
    if clf.class_values_ is not None:
        content["class_values"] = clf.class_values_.content()
    if clf.wanted_ is not None:
        content["wanted"] = _plain(clf.wanted_)
    if clf.recipe_ is not None:
        content["table"] = clf.recipe_.plain()
    if hasattr(clf, "decision_content"):
        content["decision"] = clf.decision_content()
    if clf.refits_:
        content["refits"] = refits_content(clf)
    if version_of({**content, **_bends(clf)}) > VERSION:
        content |= _bends(clf)
    return content


def _bends(clf: ConditionalGaussianNetworkClassifier) -> dict[str, Any]:
    plain = all(warp.is_identity for warp in clf.warps_)
    return {
        "warps": None if plain else [warp_content(warp) for warp in clf.warps_],
        "calibration": calibration_content(clf.calibration_),
    }


def _settings(clf: ConditionalGaussianNetworkClassifier) -> dict[str, Any]:
    """Settings as JSON, those that older readers do not know only where they matter."""
    values = {name: _plain(value) for name, value in clf.get_params(deep=False).items()}
    defaults = {
        name: _plain(p.default)
        for name, p in signature(type(clf).__init__).parameters.items()
        if name != "self"
    }
    return {
        name: value for name, value in values.items() if name in FIRST_SETTINGS or value != defaults[name]
    }


def _with_holes(values: NDArray[np.float64]) -> list[Any]:
    return [[None if np.isnan(value) else value for value in row] for row in values.tolist()]


def restore_classifier(clf: Classifier, content: dict[str, Any], path: str) -> Classifier:
    """Fill a classifier from a file's content, every piece checked."""
    try:
        _restore(clf, content)
        return _beside_decision(clf, content)
    except SurefootError as error:
        raise ModelFileError(f"{path}: is not a usable model: {error}") from None
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError, RecursionError) as error:
        raise ModelFileError(f"{path}: is not a usable model ({type(error).__name__} at {error})") from None


def _beside_decision(clf: Classifier, content: dict[str, Any]) -> Classifier:
    """The classifier, or what was adopted with it as the network of the data."""
    if content.get("decision") is None:
        return clf
    _require(
        content.get("refits") is None, "refits"
    )  # they would be those of the network, which does not decide
    from surefoot.model.adopted import AdoptedClassifier

    found = cast("Classifier", AdoptedClassifier.with_decision(clf, content["decision"]))
    found.wanted_, found.recipe_ = clf.wanted_, clf.recipe_
    return found


def _restore(clf: Classifier, content: dict[str, Any]) -> None:
    settings = {name: _unplain(value) for name, value in content["settings"].items()}
    clf.set_params(**settings)
    clf.classes_ = _labels(content["classes"])
    _require(all(type(j) is int for group in content["parents"] for j in group), "parents")
    k, dag = len(clf.classes_), Dag(content["parents"])
    n = dag.n_features
    clf.dag_, clf.n_features_in_ = dag, n
    labels = content["features"]["labels"]
    _require(len(labels) == n and all(type(label) in (str, int) for label in labels), "features")
    clf.feature_labels_ = tuple(labels)
    if content["features"]["named"]:
        clf.feature_names_in_ = np.array(labels, dtype=object)
    schema = clf.schema_ = schema_from(content.get("kinds"), labels)
    clf.class_prior_ = _array(
        content["class_prior"], (k,), "class_prior", lambda a: (a > 0).all() and np.isclose(a.sum(), 1)
    )
    clf.class_count_ = _array(content["class_count"], (k,), "class_count", lambda a: (a > 0).all())
    clf.n_rows_ = content["rows"]
    _require(type(clf.n_rows_) is int and clf.n_rows_ > 0, "rows")
    for name in ("feature_range", "feature_percentiles"):
        setattr(clf, f"{name}_", _ends(content[name], schema, name))
    clf.density_percentiles_ = _array(
        content["density_percentiles"], (k, 101), "density_percentiles", lambda a: (np.diff(a) >= 0).all()
    )
    clf.structure_report_ = _report(dag, content["structure"])
    clf.n_iter_ = clf.structure_report_.n_iter
    clf.shrinkage_ = finite(content.get("shrinkage", 0.0), "shrinkage")
    _require(0 <= clf.shrinkage_ <= 1, "shrinkage")
    clf.judged_ = _judged(content.get("judged"))
    clf.class_values_ = ClassValues.from_content(content.get("class_values"), schema, k)
    clf.wanted_ = _wanted(content.get("wanted"), clf.classes_.tolist())
    clf.recipe_ = None if content.get("table") is None else Recipe.read(content["table"])
    clf.warps_ = warps_from(content.get("warps"), schema.n_numbers)
    clf.calibration_ = calibration_from(content.get("calibration"), k)
    clf.networks_ = tuple(network_from(entry, dag, schema) for entry in content["networks"])
    _require(len(clf.networks_) == k, "networks")
    clf.refits_ = refits_from(content.get("refits"), clf)


def _judged(values: Any) -> dict[str, float] | None:
    """How often the model is right about rows that it has not seen, and how often the majority is."""
    if values is None:
        return None
    _require(isinstance(values, dict) and sorted(values) == ["accuracy", "majority"], "judged")
    found = {name: finite(value, name) for name, value in values.items()}
    _require(all(0 <= value <= 1 for value in found.values()), "judged")
    return found


def _wanted(value: Any, labels: list[Any]) -> Any:
    """The class that counts as wanted, if there is one."""
    found = [one for one in labels if type(one) is type(value) and one == value]
    _require(value is None or found, "wanted")
    return found[0] if found else None


def _ends(values: Any, schema: Schema, name: str) -> NDArray[np.float64]:
    """Low and high ends of the numbers; categories have none."""
    for row in sequence(values, name, 2):
        for j, value in enumerate(sequence(row, name, len(schema.names))):
            _require((value is None) == (j in schema.categories), name)
    numbers = [[row[j] for j in schema.numbers] for row in values]
    found = np.full((2, len(schema.names)), np.nan)
    found[:, list(schema.numbers)] = _array(
        numbers, (2, schema.n_numbers), name, lambda a: (a[0] <= a[1]).all()
    )
    return found


def _report(dag: Dag, entry: dict[str, Any]) -> StructureReport:
    _require(entry["method"] in ("naive", "tan", "ban", "given"), "method")
    _require(type(entry["converged"]) is bool and type(entry["n_iter"]) is int, "structure")
    for name in ("acyclicity", "objective"):
        _require(type(entry[name]) in (int, float), name)
    return StructureReport(dag=dag, **entry)


def _array(
    values: Any,
    shape: tuple[int, ...],
    name: str,
    check: Callable[[NDArray[np.float64]], Any] = lambda _: True,
) -> NDArray[np.float64]:
    array = numeric(values, name)
    _require(array.shape == shape and np.isfinite(array).all() and check(array), name)
    return array


def _require(condition: Any, name: str) -> None:
    if not condition:
        raise ModelFileError(f"{name!r} is wrong")


def _label_type(labels: NDArray[Any]) -> str:
    if labels.dtype.kind == "O":
        if not all(isinstance(label, str) for label in labels):
            raise ModelFileError("labels must be numbers, booleans or strings to be saved")
        return "object"
    name = labels.dtype.newbyteorder("<").str
    if not LABEL_TYPES.match(name):
        raise ModelFileError(
            f"labels of type {labels.dtype} cannot be saved; use numbers, booleans or strings"
        )
    return name


def _labels(entry: dict[str, Any]) -> NDArray[Any]:
    if not LABEL_TYPES.match(entry["dtype"]):
        raise ModelFileError(f"label type {entry['dtype']!r} is not known")
    labels = np.array(entry["labels"], dtype=entry["dtype"])
    _require(labels.ndim == 1 and len(labels) >= 2 and len(set(entry["labels"])) == len(labels), "classes")
    return labels


def _plain(value: Any) -> Any:
    """A setting as JSON; graphs become {"parents": ...}, mappings and tuples become lists."""
    if isinstance(value, Dag):
        return {"parents": [list(group) for group in value.parents]}
    if hasattr(value, "predecessors"):
        value = {node: list(value.predecessors(node)) for node in value.nodes}
    if isinstance(value, dict):
        return {"items": [[_plain(key), _plain(item)] for key, item in value.items()]}
    if hasattr(value, "tolist"):  # arrays and scalars of numpy and pandas
        return value.tolist()
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(item) for item in value]
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise ModelFileError(f"setting {value!r} cannot be saved")


def _unplain(value: Any) -> Any:
    if isinstance(value, dict):
        if "parents" in value:
            return Dag(value["parents"])
        return {_unplain(key): _unplain(item) for key, item in value["items"]}
    return [_unplain(item) for item in value] if isinstance(value, list) else value
