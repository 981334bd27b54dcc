"""A file for somebody else: written whole or not at all, and never over another file unless that was asked for."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Final

import typer

from alveus.errors import InputError, NotFound

Force = Annotated[bool, typer.Option("--force", help="Overwrite FILE if it is there.")]

_NO_LINKS: Final = (errno.EPERM, errno.ENOTSUP, errno.ENOSYS, errno.EMLINK)


def check(path: Path, *, force: bool) -> None:
    """Raises InputError or NotFound for a path that `save` would refuse: to know before the work is done."""
    if not path.parent.is_dir():
        raise NotFound(f"there is no folder {path.parent}", hint="make it first")
    with contextlib.suppress(FileNotFoundError):
        mode = path.lstat().st_mode
        if not stat.S_ISREG(mode):
            raise InputError(f"{path} is not a regular file", hint="name a new file, or `-` for stdout")
        if not force:
            raise _there(path)


def save(path: Path, pieces: Iterable[bytes], *, force: bool) -> int:
    """Write the pieces to `path`, durably, readable by its owner alone; returns how many there were."""
    check(path, force=force)
    count = 0
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:60]}.")
    try:
        with os.fdopen(handle, "wb") as file:
            for count, piece in enumerate(pieces, 1):  # noqa: B007
                file.write(piece)
            file.flush()
            os.fsync(file.fileno())
        _publish(Path(name), path, force=force)
    finally:
        with contextlib.suppress(FileNotFoundError):
            Path(name).unlink()
    return count


def _publish(new: Path, path: Path, *, force: bool) -> None:
    """The new file's name, at once: a link never replaces what another program put there meanwhile."""
    if force:
        new.replace(path)
        return
    try:
        path.hardlink_to(new)
    except FileExistsError:
        raise _there(path) from None
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        new.rename(path)


def _there(path: Path) -> InputError:
    return InputError(f"{path} is there already", code="file_exists", hint="name another file, or pass --force")
