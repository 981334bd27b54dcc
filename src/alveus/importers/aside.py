"""The file for what could not be read: every rejected piece whole, so that nothing a source held is lost.

One JSON object a line: `{"line": n, "reason": …, "source": …, "size": bytes, "raw_b64": …, "sha256": …}`. The raw bytes
are copied from the source in chunks, so a piece of any size passes through. They are not masked: the file stays on this
machine, is readable by its owner alone, and is created only when there is something to put into it.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Final, Self

from alveus.errors import StoreError
from alveus.importers.base import Rejected
from alveus.importers.source import Source

_TRIPLES: Final = 3


class Aside:
    """The rejects file of one import; a context manager. `path` is None until something was put into it."""

    def __init__(self, wanted: Path) -> None:
        self.path: Path | None = None
        self._wanted = wanted
        self._file: BinaryIO | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._file:
            self._file.close()

    def put(self, rejected: Rejected, source: Source) -> None:
        """Append one piece. Raises StoreError when it cannot be kept: an import does not go on past a loss."""
        try:
            file = self._file = self._file or self._open()
            for data in _line(rejected, source):
                file.write(data)
            file.flush()
        except OSError as error:
            raise StoreError(
                f"line {rejected.at.line} of {source.name} could not be kept aside in {self._wanted}: {error.strerror}",
                hint="Make room, or name another file for rejected lines, and import again: nothing is stored twice.",
            ) from error

    def _open(self) -> BinaryIO:
        self._wanted.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        # No link is followed: the file holds what may be secret, and must lie where it is said to lie.
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
        file = os.fdopen(os.open(self._wanted, flags, 0o600), "ab")
        self.path = self._wanted
        return file


def _line(rejected: Rejected, source: Source) -> Iterator[bytes]:
    at = rejected.at
    head = {"line": at.line, "reason": rejected.reason, "source": source.name, "size": at.size}
    digest = hashlib.sha256()
    yield json.dumps(head)[:-1].encode() + b', "raw_b64": "'
    rest = b""
    for chunk in source.chunks(at):
        digest.update(chunk)
        data = rest + chunk
        whole = len(data) - len(data) % _TRIPLES
        yield base64.b64encode(data[:whole])
        rest = data[whole:]
    yield base64.b64encode(rest) + f'", "sha256": "{digest.hexdigest()}"}}\n'.encode()
