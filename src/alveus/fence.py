"""The fence around text that the memory injects into a conversation, so that nobody takes it for somebody's words.

What is injected comes back: as a copy in the transcript, as the output of a tool that read it, in a request that was
kept. Whoever takes words in drops what stands in a fence whose hash fits. The hash is over the letters and digits, so
that a copy which was indented, wrapped or written as JSON is still known; what was changed is no copy, and stays.

Pure. The hash is no signature: it tells an echo from talk about one, and proves nothing.
"""

from __future__ import annotations

import hashlib
import re
from typing import Final

_NAME: Final = "alveus-memory"
_MAY_HOLD_ONE: Final = f"<{_NAME} sha256="
_FENCE = re.compile(rf"[ \t]*<{_NAME} sha256=([0-9a-f]{{32}})>(.*?)</{_NAME}>(?:[ \t]*\r?\n)?", re.DOTALL)
_BORDER = re.compile(rf"<(?=/?{_NAME}\b)", re.IGNORECASE)
_BETWEEN_LETTERS = re.compile(r"\\+[nrt]?|[^\w\\]+|_+")
_NOT_TEXT = re.compile("[\ud800-\udfff]")


def fenced(text: str) -> str:
    """The text in its fence, on lines of its own. A border inside the text is disarmed, so that fences never nest."""
    inner = _BORDER.sub("‹", text.strip())
    return f"<{_NAME} sha256={_digest(inner)}>\n{inner}\n</{_NAME}>"


def strip(text: str) -> tuple[str, int]:
    """The text without what is fenced, and how many fences were dropped.

    A text without a fence comes back as it is. A fence whose hash does not fit is left: somebody quotes or forges one.
    """
    if _MAY_HOLD_ONE not in text:
        return text, 0
    dropped = 0

    def judged(found: re.Match[str]) -> str:
        nonlocal dropped
        if _digest(found[2]) != found[1]:
            return found[0]
        dropped += 1
        return ""

    rest = _FENCE.sub(judged, text)
    return (rest, dropped) if dropped else (text, 0)


def _digest(text: str) -> str:
    letters = _NOT_TEXT.sub("", _BETWEEN_LETTERS.sub("", text))
    return hashlib.sha256(letters.encode()).hexdigest()[:32]
