"""Readable, versioned JSON files that can be checked but never executed."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any

from surefoot.exceptions import ModelFileError
from surefoot.files import read_limited, write_whole
from surefoot.formats import escaped
from surefoot.plain import shown

FORMAT = "surefoot-model"
VERSION, MIXED_VERSION = 1, 2  # of plain numbers alone, which older readers know; of everything else


def version_of(content: dict[str, Any]) -> int:
    """The oldest format version that can hold a model."""
    kinds = content.get("kinds")
    listed = kinds if isinstance(kinds, list) else []  # of anything else its reader complains
    mixed = any(isinstance(entry, dict) and entry.get("kind") in ("category", "date") for entry in listed)
    beyond = any(content.get(key) is not None for key in ("warps", "calibration", "decision"))
    return MIXED_VERSION if mixed or beyond else VERSION


def write_model(path: str | os.PathLike[str], content: dict[str, Any]) -> None:
    """Write a model with format, version and checksum; an old file is replaced whole or not at all."""
    try:
        version = version_of(content)
        document = {"format": FORMAT, "version": version, "sha256": _checksum(content), "model": content}
        text = escaped(json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False)) + "\n"
        encoded = text.encode("utf-8")
    except (TypeError, ValueError) as error:
        raise ModelFileError(f"{path}: the model cannot be written as JSON ({error})") from None
    if not os.fspath(path) or (Path(path).exists() and not Path(path).is_file()):
        raise ModelFileError(f"{path}: cannot be written (not a regular file)")
    try:
        write_whole(path, encoded)
    except OSError as error:
        raise ModelFileError(f"{path}: cannot be written ({error.strerror})") from None


def read_model(path: str | os.PathLike[str], max_size: int | None = None) -> dict[str, Any]:
    """Read a model's content, or say in one line why the file is not one."""
    try:
        document = json.loads(read_limited(path, max_size).decode("utf-8"), parse_constant=_refuse_constant)
    except OSError as error:
        raise ModelFileError(f"{path}: cannot be read ({error.strerror})") from None
    except UnicodeDecodeError:
        raise ModelFileError(f"{path}: is not a surefoot model (not UTF-8 text)") from None
    except RecursionError:
        raise ModelFileError(f"{path}: is not a surefoot model (nested too deeply)") from None
    except ValueError as error:
        raise ModelFileError(f"{path}: is cut off or is not JSON ({error})") from None
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise ModelFileError(f"{path}: is JSON, but not a surefoot model")
    version = document.get("version")
    if type(version) is not int or version not in (VERSION, MIXED_VERSION):
        raise ModelFileError(
            f"{path}: has format version {shown(version)}; this surefoot reads {VERSION} and {MIXED_VERSION}"
        )
    content = document.get("model")
    try:
        intact = isinstance(content, dict) and document.get("sha256") == _checksum(content)
    except (ValueError, RecursionError):  # numbers beyond any double, nesting beyond any model
        intact = False
    if not intact:
        raise ModelFileError(f"{path}: was changed after it was saved (its checksum does not match)")
    if version_of(dict(content or {})) != version:
        raise ModelFileError(f"{path}: is not a usable model: its content is not that of version {version}")
    return dict(content or {})


def _checksum(content: dict[str, Any]) -> str:
    canonical = json.dumps(content, sort_keys=True, ensure_ascii=True, allow_nan=False)
    return hashlib.sha256(canonical.encode("ascii")).hexdigest()


def _refuse_constant(name: str) -> float:
    raise ValueError(f"{name} is not a number")
