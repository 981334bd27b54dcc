"""A JSON document changed in place: what is not touched keeps its bytes, its order and its layout. Pure.

A settings file is somebody's: it is not parsed and written anew, but a member or an element is put into its text or
taken out of it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

_DECODER: Final = json.JSONDecoder()
_WS: Final = " \t\r\n"
_DEFAULT: Final = "  "


class Part(NamedTuple):
    """A member or an element: its name (of a member) and where it and its value stand."""

    name: str
    start: int
    value: int
    end: int


def parts(text: str, opening: int) -> list[Part]:
    """The members of the object, or the elements of the list, that opens at that place of a valid document."""
    found: list[Part] = []
    at = _skip(text, opening + 1)
    while text[at] not in "]}":
        start = at
        name = ""
        if text[opening] == "{":
            name, at = _DECODER.raw_decode(text, at)
            at = _skip(text, _skip(text, at) + 1)
        _, end = _DECODER.raw_decode(text, at)
        found.append(Part(name, start, at, end))
        at = _skip(text, end)
        if text[at] == ",":
            at = _skip(text, at + 1)
    return found


def find(text: str, path: Sequence[str]) -> int | None:
    """Where the value at a path of names begins; the last of several members of one name counts, as for a parser."""
    at = _skip(text, 0)
    for name in path:
        named = [one for one in parts(text, at) if one.name == name] if text[at] == "{" else []
        if not named:
            return None
        at = named[-1].value
    return at


def put(text: str, opening: int, value: Any, name: str | None = None) -> str:
    """The text with one more member or element at the end of the object or list that opens there.

    It is laid out as its neighbours are: on their line, where they share one, else on lines of its own.
    """
    there = parts(text, opening)
    if _is_one_line(text) or (there and "\n" not in text[opening : there[0].start]):
        new = _named(name, json.dumps(value, ensure_ascii=False))
        at = there[-1].end if there else opening + 1
        return text[:at] + (", " if there else "") + new + text[at:]
    unit, outer = indent_of(text), _indent_at(text, opening)
    line = ("\r\n" if "\r\n" in text else "\n") + outer + unit
    new = _named(name, json.dumps(value, ensure_ascii=False, indent=unit).replace("\n", line))
    if there:
        return f"{text[: there[-1].end]},{line}{new}{text[there[-1].end :]}"
    closing = _skip(text, opening + 1)
    return f"{text[: opening + 1]}{line}{new}{line.removesuffix(unit)}{text[closing:]}"


def drop(text: str, opening: int, gone: Part) -> str:
    """The text without that member or element of what opens there; what is empty then is written `{}` or `[]`."""
    there = parts(text, opening)
    at = there.index(gone)
    if len(there) == 1:
        closing = _skip(text, gone.end)
        return text[: opening + 1] + text[closing:]
    if at:
        return text[: there[at - 1].end] + text[gone.end :]
    return text[: gone.start] + text[there[1].start :]


def indent_of(text: str) -> str:
    """How the document is indented: as its first indented line is."""
    for line in text.splitlines()[1:]:
        bare = line.lstrip(" \t")
        if bare and bare != line:
            return line[: len(line) - len(bare)]
    return _DEFAULT


def elements(text: str, opening: int) -> Iterator[tuple[Part, Any]]:
    """The elements of a list, each with its value."""
    for one in parts(text, opening):
        yield one, _DECODER.raw_decode(text, one.value)[0]


def _named(name: str | None, shown: str) -> str:
    return shown if name is None else f"{json.dumps(name, ensure_ascii=False)}: {shown}"


def _is_one_line(text: str) -> bool:
    """Whether the whole document is one line, and not an empty one that has no layout yet."""
    bare = text.strip(_WS)
    return "\n" not in bare and len(bare) > len("{}")


def _indent_at(text: str, at: int) -> str:
    """The indentation of the line that a place is in."""
    line = text[text.rfind("\n", 0, at) + 1 :]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _skip(text: str, at: int) -> int:
    while at < len(text) and text[at] in _WS:
        at += 1
    return at
