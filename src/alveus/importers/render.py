"""The parts of a message as text: words as they are, pictures and files by their hash, anything else as JSON.

Both families of formats have the same parts under slightly different names, so they share one table.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from alveus.importers.facts import Blob, Facts, blob, facts_at, json_text, text_at


@dataclass(frozen=True, slots=True, kw_only=True)
class Rendered:
    """A text, and the blobs that are named in it."""

    text: str
    blobs: tuple[Blob, ...] = ()


def render(content: object) -> Rendered:
    """The text of a content: a string, one part, a list of parts, or nothing."""
    parts = content if isinstance(content, list) else [] if content is None else [content]
    done = [_part(part) for part in parts]
    return Rendered(
        text="\n".join(one.text for one in done if one.text), blobs=tuple(b for one in done for b in one.blobs)
    )


def _part(part: object) -> Rendered:
    if isinstance(part, str):
        return Rendered(text=part)
    if not isinstance(part, Mapping):
        return Rendered(text=json_text(part))
    return _PARTS.get(text_at(part, "type"), _other)(part)


def _words(part: Facts) -> Rendered:
    return Rendered(text=text_at(part, "text") or text_at(part, "value") or text_at(part, "refusal"))


def _other(part: Facts) -> Rendered:
    return Rendered(text=json_text(part))


def _source(part: Facts) -> Rendered:
    """Anthropic's picture or document: base64, a URL, or the id of an uploaded file."""
    source, what = facts_at(part, "source"), text_at(part, "type")
    if data := text_at(source, "data"):
        return _named(blob(what, text_at(source, "media_type"), data))
    return Rendered(text=f"[{what} {text_at(source, 'url') or text_at(source, 'file_id') or 'without data'}]")


def _linked(part: Facts) -> Rendered:
    """OpenAI's picture: a URL or a data URI, bare or in an object."""
    url = text_at(part, "image_url", "url") or text_at(part, "image_url") or text_at(part, "url")
    header, comma, data = url.partition(",")
    if comma and header.startswith("data:"):
        return _named(blob("image", header.removeprefix("data:").partition(";")[0], data))
    return Rendered(text=f"[image {url or text_at(part, 'file_id') or 'without data'}]")


def _audio(part: Facts) -> Rendered:
    sound = facts_at(part, "input_audio")
    return _named(blob("audio", f"audio/{text_at(sound, 'format') or 'unknown'}", text_at(sound, "data")))


def _file(part: Facts) -> Rendered:
    given = facts_at(part, "file") or part
    name = text_at(given, "filename") or text_at(given, "file_id") or "without data"
    data = text_at(given, "file_data").rpartition(",")[2]
    return _named(blob("file", name, data)) if data else Rendered(text=f"[file {name}]")


def _tool(part: Facts) -> Rendered:
    return Rendered(text=f"[tool {text_at(part, 'tool_name')}]")


def _named(one: Blob) -> Rendered:
    return Rendered(text=str(one), blobs=(one,))


_PARTS: Final[Mapping[str, Callable[[Facts], Rendered]]] = {
    "text": _words,
    "input_text": _words,
    "output_text": _words,
    "summary_text": _words,
    "reasoning_text": _words,
    "refusal": _words,
    "image": _source,
    "document": _source,
    "image_url": _linked,
    "input_image": _linked,
    "input_audio": _audio,
    "file": _file,
    "input_file": _file,
    "tool_reference": _tool,
}
PICTURES: Final = frozenset(name for name, part in _PARTS.items() if part not in (_words, _tool))
