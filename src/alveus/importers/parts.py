"""A content that does not fit a line, cut into parts that do: spec/journal.md, sections 1 and 4 (`part`).

A line has 1 MiB. The content gets 700,000 bytes of it, measured as JSON writes them, which leaves room for the
metadata and the signature. The borders depend on the content alone, so the same content is cut the same way again.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Final

from alveus.journal.record import Draft

MAX_PART: Final = 700_000

_WORST: Final = 6  # bytes of `\u0000`, the longest that one character becomes
_STEP: Final = 16_384  # characters: parts come out full to within a seventh


def split(draft: Draft, limit: int = MAX_PART) -> list[Draft]:
    """The draft alone when it fits, else one draft a part, in order, with the same origin and `part=(i, n)`."""
    if len(draft.content) * _WORST <= limit or written_size(draft.content) <= limit:
        return [draft]
    texts = list(_cut(draft.content, limit))
    return [draft._replace(content=text, part=(i, len(texts))) for i, text in enumerate(texts, 1)]


def written_size(text: str) -> int:
    """The bytes of the text inside a JSON string: RFC 8785 escapes exactly what Python's writer escapes."""
    return len(json.dumps(text, ensure_ascii=False).encode()) - 2


def _cut(text: str, limit: int) -> Iterator[str]:
    step = max(1, min(_STEP, limit // _WORST))
    start = size = 0
    for position in range(0, len(text), step):
        more = written_size(text[position : position + step])
        if size + more > limit:
            yield text[start:position]
            start, size = position, 0
        size += more
    yield text[start:]
