"""Standard streams and arguments, made fit for text in every script.

The journal is UTF-8 whatever the locale says. An argument that Python could not decode arrives with surrogates in it:
here it becomes the text that was typed, or is refused. Output never fails on a character: an unset locale (`LANG=C`)
means UTF-8, and what another encoding cannot spell is escaped.
"""

from __future__ import annotations

import codecs
import contextlib
import io
import os
import sys
from typing import Final

from alveus.errors import InputError
from alveus.journal.record import MAX_LINE

_BOM: Final = "\ufeff"


def prepare() -> None:
    """Make the standard streams usable, before anything else is opened."""
    for number in range(3):
        with contextlib.suppress(OSError):
            os.fstat(number)
            continue
        # A closed descriptor would be given to the next file opened: the journal, with messages written into it.
        os.open(os.devnull, os.O_RDWR)
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115, PTH123
        elif isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding=_fit(stream.encoding), errors="backslashreplace")


def _fit(encoding: str) -> str:
    """The locale's encoding, unless it is ASCII, which is what an unset locale gives."""
    return "utf-8" if codecs.lookup(encoding).name == "ascii" else encoding


def hush() -> None:
    """Nobody reads any more: let what is still buffered go nowhere, without a word."""
    with contextlib.suppress(OSError, ValueError):
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, sys.stdout.fileno())
        os.close(null)


def text(argument: str) -> str:
    """An argument as the text that was typed. Raises InputError for bytes that are not UTF-8."""
    try:
        argument.encode("utf-8")
    except UnicodeEncodeError:
        return _decoded(argument)
    return argument


def _decoded(argument: str) -> str:
    try:
        return os.fsencode(argument).decode("utf-8")
    except UnicodeError:
        raise InputError(
            f"this argument is not UTF-8 text: {_spelt(argument)[:80]}",
            code="not_utf8",
            hint="convert it to UTF-8 (`iconv -t utf-8`) and pass it again",
        ) from None


def _spelt(argument: str) -> str:
    r"""The argument, with what is not text as `\xff`."""
    with contextlib.suppress(UnicodeError):
        return os.fsencode(argument).decode("utf-8", "backslashreplace")
    return argument.encode("utf-8", "backslashreplace").decode()


def standard_input() -> str:
    """The text on stdin, without a byte order mark and without its last line end."""
    if sys.stdin is None:
        return ""
    if sys.stdin.isatty():
        sys.stderr.write("type the text, then end it with Ctrl-D on a line of its own\n")
        sys.stderr.flush()
    data = sys.stdin.buffer.read(MAX_LINE + 1)
    if len(data) > MAX_LINE:
        raise InputError(
            f"the text is longer than {MAX_LINE} bytes, more than a record holds",
            code="line_too_long",
            hint="split it into several records",
        )
    try:
        decoded = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(
            f"standard input is not UTF-8 text: byte {error.start} is 0x{data[error.start]:02x}",
            code="not_utf8",
            hint="convert it (`iconv -t utf-8`) and pipe it in again",
        ) from None
    return decoded.removeprefix(_BOM).removesuffix("\n").removesuffix("\r")
