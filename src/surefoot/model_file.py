"""Readable, versioned JSON files that can be checked but never executed."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any

from surefoot.exceptions import ModelFileError

FORMAT = "surefoot-model"
VERSION = 1


def write_model(path: str | os.PathLike[str], content: dict[str, Any]) -> None:
    """Write a model with format, version and checksum; an old file is replaced whole or not at all."""
    document = {"format": FORMAT, "version": VERSION, "sha256": _checksum(content), "model": content}
    text = json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False)
    target = Path(path)
    part = target.with_name(target.name + ".tmp")
    try:
        part.write_text(text + "\n", encoding="utf-8")
        part.replace(target)
    except OSError as error:
        raise ModelFileError(f"{target}: cannot be written ({error.strerror})") from None


def read_model(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read a model's content, or say in one line why the file is not one."""
    try:
        document = json.loads(Path(path).read_text(encoding="utf-8"), parse_constant=_refuse_constant)
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
    if version != VERSION:
        raise ModelFileError(f"{path}: has format version {version!r}; this surefoot reads version {VERSION}")
    content = document.get("model")
    if not isinstance(content, dict) or document.get("sha256") != _checksum(content):
        raise ModelFileError(f"{path}: was changed after it was saved (its checksum does not match)")
    return content


def _checksum(content: dict[str, Any]) -> str:
    canonical = json.dumps(content, sort_keys=True, ensure_ascii=True, allow_nan=False)
    return hashlib.sha256(canonical.encode("ascii")).hexdigest()


def _refuse_constant(name: str) -> float:
    raise ValueError(f"{name} is not a number")
