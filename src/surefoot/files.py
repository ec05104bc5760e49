"""Files that are written whole, or not at all."""

from __future__ import annotations

import os
from pathlib import Path


def write_whole(path: str | os.PathLike[str], content: str | bytes) -> None:
    """Write a file beside its place, then put it there: nobody finds half of it, and an old one is not lost.

    Through a link, not over it. What is no regular file (a pipe, a terminal), or lies in a folder that may
    not be written to, is written as it is.

    Parameters
    ----------
    path : path
    content : str or bytes
        Text is encoded as UTF-8.
    """
    encoded = content.encode("utf-8") if isinstance(content, str) else content
    target = Path(os.path.realpath(path))
    if target.exists() and not (target.is_file() and os.access(target.parent, os.W_OK)):
        target.write_bytes(encoded)
        return
    part = target.with_name(f"{target.name[:40]}.{os.getpid()}.tmp")  # short: folders limit names
    try:
        part.write_bytes(encoded)
        if target.exists():
            part.chmod(target.stat().st_mode)
        part.replace(target)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None  # names what was asked for
    finally:
        part.unlink(missing_ok=True)
