"""Key files: spec/journal.md, section 7.

A key is created once, never overwritten, and refused when anybody else could have read or planted it.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import stat
from pathlib import Path

from alveus.errors import NotFound, StoreError
from alveus.journal.seal import KEY_BYTES, Key
from alveus.store.files import Files, create, exists, make_folders, opened, sync_folder
from alveus.store.layout import Layout

_HEX_BYTES = 2 * KEY_BYTES
_IS_KID = re.compile(r"[0-9a-f]{16}").fullmatch


class KeyRing:
    """The keys of one agent: the current one, and older ones by their names."""

    def __init__(self, layout: Layout, files: Files, current: Key) -> None:
        self._layout = layout
        self._files = files
        self._keys = {current.kid: current}
        self.current = current

    def get(self, kid: str) -> Key | None:
        """The key named `kid`, or None if this agent has none of that name."""
        if kid not in self._keys:
            # A key that is not here yet may be the one that another process has rotated to.
            found = (path for path in (self._layout.old_key(kid), self._layout.key_file) if exists(self._files, path))
            path = next(found, None)
            if path is None:
                return None
            key = Key(read_secret(self._files, path))
            self._keys[key.kid] = key
        return self._keys.get(kid)

    def named(self, kid: object) -> Key | None:
        """As `get`, for what a record that was not checked gives as a name."""
        return self.get(kid) if isinstance(kid, str) and _IS_KID(kid) else None

    def get_required(self, kid: str) -> Key:
        """The key named `kid`. Raises NotFound."""
        key = self.get(kid)
        if key is None:
            raise NotFound(
                f"the key {kid} is not at {self._layout.old_key(kid)}",
                code="key_missing",
                hint="restore it from a backup",
            )
        return key

    def for_line(self, line: bytes) -> Key:
        """The key that a line says it was signed with, if we have it; else the current one."""
        named = kid_in(line)
        return (self.get(named) if named else None) or self.current


def kid_in(line: bytes) -> str | None:
    """The key a line says it was signed with, unchecked."""
    try:
        kid = json.loads(line)["metadata"]["hc"]["kid"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    return kid if isinstance(kid, str) and _IS_KID(kid) else None


def read_secret(files: Files, path: Path) -> bytes:
    """The 32 bytes in a key file. Raises NotFound, or StoreError naming what makes the file unfit."""
    try:
        with opened(files, path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK) as fd:
            _check_status(path, files.status(fd))
            data = files.read(fd, _HEX_BYTES + 2, 0)
    except FileNotFoundError:
        raise NotFound(
            f"there is no key at {path}",
            code="key_missing",
            hint="restore it from a backup; without it the journal can be read but not verified or continued",
        ) from None
    except OSError as error:
        why = "it is a symbolic link" if path.is_symlink() else error.strerror
        raise _unfit(path, f"{why}", "put the key itself there, owned by you, mode 0600") from error
    return _secret(path, data)


def _check_status(path: Path, status: os.stat_result) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise _unfit(path, "it is not a regular file", "put the key itself there")
    if status.st_uid != os.geteuid():
        raise _unfit(path, f"it belongs to user {status.st_uid}, not to {os.geteuid()}", "chown it to yourself")
    if status.st_mode & 0o077:
        raise _unfit(path, "others can read or change it", f"chmod 600 '{path}', and rotate the key if they may have")


def _secret(path: Path, data: bytes) -> bytes:
    if len(data) == KEY_BYTES:
        return data
    with contextlib.suppress(ValueError, UnicodeDecodeError):
        secret = bytes.fromhex(data.decode("ascii").removesuffix("\n"))
        if len(secret) == KEY_BYTES and len(data.removesuffix(b"\n")) == _HEX_BYTES:
            return secret
    raise _unfit(path, "it does not hold 32 bytes (or 64 hex digits)", "restore the key from a backup")


def _unfit(path: Path, why: str, hint: str) -> StoreError:
    return StoreError(f"the key file {path} is refused: {why}", code="key_refused", hint=hint)


def new_key() -> Key:
    """A fresh random key."""
    import secrets  # noqa: PLC0415  (as in `creation`: few who open a journal make a key)

    return Key(secrets.token_bytes(KEY_BYTES))


def staged_path(path: Path) -> Path:
    """Where a key lies before it has its name."""
    return path.with_name(path.name + ".new")


def stage(files: Files, key: Key, path: Path) -> Path:
    """Write `key` durably beside `path`, as `<path>.new`: not yet the key of anything."""
    make_folders(files, path.parent)
    staged = staged_path(path)
    with contextlib.suppress(FileNotFoundError):
        files.unlink(staged)
    key.hand_over(lambda secret: create(files, staged, secret))
    sync_folder(files, path.parent)
    return staged


def publish(files: Files, staged: Path, path: Path) -> None:
    """Give a staged key its name, durably; never over another key."""
    try:
        files.link(staged, path)
    except FileExistsError:
        raise StoreError(
            f"there is a key at {path} already", code="key_exists", hint="use it, or move it away"
        ) from None
    sync_folder(files, path.parent)
    files.unlink(staged)


def ensure_secret(files: Files, path: Path) -> bytes:
    """The 32 bytes of a key that is not the journal's, made at first use."""
    if not exists(files, path):
        with contextlib.suppress(StoreError):  # another process was first
            publish(files, stage(files, new_key(), path), path)
    return read_secret(files, path)
