"""What is printed and how: data on stdout, talk on stderr.

On a terminal text is fitted to its width and long contents are cut, which is said; in a pipe nothing is cut. Contents
come from models, tools and strangers: characters that would steer a terminal or turn text around are shown, not sent.
Colours follow NO_COLOR and vanish in a pipe, as Rich does it.
"""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from alveus.doors.options import Form, Settings
from alveus.errors import AlveusError
from alveus.journal.record import SignedRecord

if TYPE_CHECKING:
    from rich.progress import Progress, ProgressColumn, TaskID

Row = tuple[str, str | Text]
"""The name of a fact, and the fact."""

_WIDEST: Final = 110
_GAP: Final = "  "


# JSON


def plain(value: Any) -> Any:
    """A value of ours as JSON spells it; a record is the object that lies in the journal."""
    if isinstance(value, SignedRecord):
        return value.as_json()
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return plain(value._asdict())
    if isinstance(value, Mapping):
        return {str(key): plain(inner) for key, inner in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return [plain(inner) for inner in value]
    return str(value) if isinstance(value, Path) else value


def compact(value: Any) -> str:
    """A value as JSON on one line."""
    return json.dumps(plain(value), ensure_ascii=False, sort_keys=True, separators=(",", ":")).translate(_ESCAPED)


def document(value: Any, settings: Settings) -> None:
    """The one document of a command: for a person's eye under `--json`, on one line under `--jsonl`."""
    indented = settings.form is Form.JSON
    text = json.dumps(plain(value), ensure_ascii=False, sort_keys=True, indent=2) if indented else compact(value)
    text = text.translate(_ESCAPED)
    raw(text.encode("utf-8", "backslashreplace") + b"\n")


def records(found: Iterable[SignedRecord], settings: Settings, **more: Any) -> bool:
    """Records as `{"records": […], …}` or, one a line, as they lie in the journal; False if neither was asked for."""
    if settings.form is Form.JSON:
        document({**more, "records": list(found)}, settings)
    elif settings.form is Form.LINES:
        for record in found:
            raw(line_of(record))
    return settings.form is not Form.TEXT


def line_of(record: SignedRecord) -> bytes:
    """The record's line in the journal, LF included."""
    from alveus.journal import canonical

    return canonical.encode(record.as_json()) + b"\n"


def raw(data: bytes) -> None:
    """Bytes on stdout, as they are."""
    sys.stdout.flush()
    sys.stdout.buffer.write(data)


# Text


def screen() -> Console:
    """Stdout, for people."""
    return _console(stderr=False)


def talker() -> Console:
    """Stderr, for people."""
    return _console(stderr=True)


@cache
def _console(*, stderr: bool) -> Console:
    return _Console(stderr=stderr, highlight=False, markup=False, emoji=False)


class _Console(Console):
    """Rich's, but for the end of a pipe, which is the caller's affair."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


def show(text: str | Text = "", style: str = "") -> None:
    """One piece of data on stdout, not wrapped."""
    if screen().is_terminal:
        screen().print(Text(text, style) if isinstance(text, str) else text, soft_wrap=True)
    else:
        sys.stdout.write(f"{text}\n")  # Rich would turn tabs into spaces


def block(text: str) -> None:
    """Text that is meant for another program: in a pipe to the byte, on a terminal made printable."""
    if screen().is_terminal:
        prose(text.removesuffix("\n"))
    else:
        raw(text.encode("utf-8", "backslashreplace"))


def prose(text: str, style: str = "") -> None:
    """Text to read, made printable; on a terminal its lines are broken between words."""
    if screen().is_terminal:
        screen().print(Text(printable(text), style))
    else:
        show(printable(text))


def talk(text: str | Text, style: str = "dim") -> None:
    """One piece of talk on stderr."""
    talker().print(Text(printable(text), style) if isinstance(text, str) else text, soft_wrap=not talker().is_terminal)


def complain(error: AlveusError) -> None:
    """An error on stderr: one sentence, and what to try."""
    talk(Text.assemble(("error: ", "bold red"), printable(error.message)))
    if error.hint:
        talk(Text.assemble(("hint:  ", "bold"), printable(error.hint)))


def facts(rows: Iterable[Row]) -> None:
    """Named facts, one under the other; wrapped beside their names on a terminal."""
    shown = [(name, Text(printable(value)) if isinstance(value, str) else value) for name, value in rows]
    indent = max(cell_len(name) for name, _ in shown) + len(_GAP)
    for name, value in shown:
        for number, line in enumerate(_wrapped(value, indent)):
            label = Text((name if number == 0 else "").ljust(indent), "dim")
            show(Text.assemble(_GAP, label, line))


def _wrapped(value: Text, indent: int) -> Iterable[Text]:
    if not screen().is_terminal:
        return value.split("\n")
    return value.wrap(screen(), max(20, min(screen().width, _WIDEST) - indent - len(_GAP)))


@contextlib.contextmanager
def bar(
    columns: Sequence[str | ProgressColumn], settings: Settings, *, wanted: bool = True
) -> Iterator[Progress | None]:
    """A progress bar on stderr, gone at the end, for a person who waits; None where nobody looks."""
    if not wanted or settings.form is not Form.TEXT or not sys.stderr.isatty():
        yield None
        return
    from rich.progress import Progress

    with Progress(*columns, console=talker(), transient=True) as shown:
        yield shown


@contextlib.contextmanager
def preparing(settings: Settings) -> Iterator[Callable[[str, int, int], None]]:
    """Shows how far the index for recall is: to be told what is being made, how many records are done, of how many."""
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with bar(columns, settings) as shown:
        tasks: dict[str, TaskID] = {}

        def told(what: str, done: int, total: int) -> None:
            if shown is not None:
                if what not in tasks:
                    tasks[what] = shown.add_task(what, total=total)
                shown.update(tasks[what], completed=done)

        yield told


def one_line(content: str) -> str:
    """A content on one line, white space drawn together."""
    return printable(" ".join(content.split()))


def cut(content: str, cells: int) -> Text:
    """The beginning of a content, in so many cells of one line."""
    text = Text(one_line(content[: 4 * cells + 400]))
    text.truncate(max(cells, 10), overflow="ellipsis")
    return text


def printable(text: str) -> str:
    """The text with characters that steer terminals made visible: controls, and marks that turn its direction."""
    if text.isascii() and text.isprintable():
        return text
    # A path that Python could not decode, as its bytes are meant.
    with contextlib.suppress(UnicodeEncodeError):
        text = text.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    return text.translate(_VISIBLE)


_TURNING: Final = (0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
_ESCAPED: Final[dict[int, str | int]] = {code: f"\\u{code:04x}" for code in (*range(0x7F, 0xA0), *_TURNING)}
_VISIBLE: Final[dict[int, str | int]] = {
    **{code: 0x2400 + code for code in range(0x20) if chr(code) not in "\t\n"},
    **_ESCAPED,
}


def plural(count: int, noun: str) -> str:
    """`1 record`, `2,000 records`."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"
