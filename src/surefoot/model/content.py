"""A fitted classifier as plain JSON values, and back."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from surefoot.exceptions import ModelFileError, SurefootError
from surefoot.model.dag import Dag
from surefoot.model.network import LinearGaussianNetwork
from surefoot.model.structure import StructureReport

if TYPE_CHECKING:
    from surefoot.model.classifier import ConditionalGaussianNetworkClassifier

    Classifier = TypeVar("Classifier", bound=ConditionalGaussianNetworkClassifier)

# What a label array may be; anything else in a file is refused before numpy sees it.
LABEL_TYPES = re.compile(r"^(object|\|b1|[|<][iu][1248]|<f[48]|<U[1-9][0-9]{0,5})$")


def classifier_content(clf: ConditionalGaussianNetworkClassifier) -> dict[str, Any]:
    """Everything that prediction and explanation need, and the settings it was fitted with."""
    report = clf.structure_report_
    return {
        "settings": {name: _plain(value) for name, value in clf.get_params(deep=False).items()},
        "features": {"named": hasattr(clf, "feature_names_in_"), "labels": list(clf.feature_labels_)},
        "classes": {"dtype": _label_type(clf.classes_), "labels": clf.classes_.tolist()},
        "class_prior": clf.class_prior_.tolist(),
        "class_count": clf.class_count_.tolist(),
        "rows": clf.n_rows_,
        "feature_range": clf.feature_range_.tolist(),
        "feature_percentiles": clf.feature_percentiles_.tolist(),
        "density_percentiles": clf.density_percentiles_.tolist(),
        "parents": [list(group) for group in clf.dag_.parents],
        "structure": {
            "method": report.method,
            "converged": report.converged,
            "n_iter": report.n_iter,
            "acyclicity": float(np.nan_to_num(report.acyclicity)),
            "objective": report.objective,
        },
        "networks": [
            {
                "weights": network.weights.tolist(),
                "means": network.means.tolist(),
                "variances": network.variances.tolist(),
            }
            for network in clf.networks_
        ],
    }


def restore_classifier(clf: Classifier, content: dict[str, Any], path: str) -> Classifier:
    """Fill a classifier from a file's content, every piece checked."""
    try:
        _restore(clf, content)
    except SurefootError as error:
        raise ModelFileError(f"{path}: is not a usable model: {error}") from None
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError, RecursionError) as error:
        raise ModelFileError(f"{path}: is not a usable model ({type(error).__name__} at {error})") from None
    return clf


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
    clf.class_prior_ = _array(
        content["class_prior"], (k,), "class_prior", lambda a: (a > 0).all() and np.isclose(a.sum(), 1)
    )
    clf.class_count_ = _array(content["class_count"], (k,), "class_count", lambda a: (a > 0).all())
    clf.n_rows_ = content["rows"]
    _require(type(clf.n_rows_) is int and clf.n_rows_ > 0, "rows")
    for name in ("feature_range", "feature_percentiles"):
        setattr(clf, f"{name}_", _array(content[name], (2, n), name, lambda a: (a[0] <= a[1]).all()))
    clf.density_percentiles_ = _array(
        content["density_percentiles"], (k, 101), "density_percentiles", lambda a: (np.diff(a) >= 0).all()
    )
    clf.structure_report_ = _report(dag, content["structure"])
    clf.n_iter_ = clf.structure_report_.n_iter
    clf.networks_ = tuple(LinearGaussianNetwork(dag, **network) for network in content["networks"])
    _require(len(clf.networks_) == k, "networks")


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
    array = np.array(values, dtype=float)
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
