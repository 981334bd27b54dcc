"""BAI-LAB's MemoryOS, observed through its four JSON files and used by its public methods: spec/audit.md, section 5.

Its promotion takes pages out of `short_term.json`, and saves that, before any model is called; `mid_term.json` is saved
at the end. So the adapter looks at the files while a model is being called: it stands in for the model, unless one is
configured, and looks first. What it answers then is a summary that needs no network. It stands in for the sentence
encoder too, whose weights would have to be fetched: with our own.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from alveus.doors.adapters.base import AdapterError, Answer, Glimpse, Pin, Seen
from alveus.doors.adapters.pins import pinned

CAPACITY: Final = 3
"""Pages in STM while the gate runs: the fewest that make a batch and a rest."""
LIMITS: Final = {"short_term_capacity": CAPACITY, "mid_term_capacity": 200, "mid_term_heat_threshold": 5.0}
FILES: Final = ("short_term.json", "mid_term.json", "long_term_user.json", "long_term_assistant.json")
_ENCODER: Final = "all-MiniLM-L6-v2"
_LOOKS: Final = 5
_PAUSE: Final = 0.01
_ONE_THEME: Final = json.dumps([{"theme": "canary", "keywords": ["canary"], "content": "a canary"}])


class MemoryOS:
    """One MemoryOS a lane, all over one folder, as its users run it."""

    def __init__(self, path: Path) -> None:
        if not _configured():
            _stand_in_for_encoder()
        try:
            self._module = importlib.import_module("memoryos")
        except ImportError as error:
            missing = "" if error.name in (None, "memoryos") else f": {error.name} is missing"
            raise AdapterError(
                f"the package memoryos is not installed here{missing}",
                hint="install BAI-LAB's MemoryOS (pip install memoryos-pro) beside alveus",
            ) from error
        if not _configured():
            encoders = getattr(getattr(self._module, "utils", None), "_model_cache", None)
            if isinstance(encoders, dict):
                encoders[_ENCODER] = Encoder()
        self._path = path
        self._open: dict[tuple[str, str], Any] = {}
        self._stored: list[tuple[str, str, str]] = []
        self._glimpses: list[Glimpse] = []
        self._broken = False
        self._degraded: set[str] = set()

    def pin(self) -> Pin:
        limits = {**LIMITS, "models": "configured" if _configured() else "stand-ins"}
        return {"source_version": pinned("memoryos", self._module, limits), "capacity": CAPACITY}

    def store(self, user: str, assistant: str, text: str) -> None:
        memory = self._memory(user, assistant)
        self._stored.append((user, assistant, text))
        memory.add_memory(user_input=text, agent_response="noted")

    def promote(self, user: str, assistant: str) -> None:
        """It promotes when a page more is added than STM holds, and never otherwise."""

    def observe(self, user: str, assistant: str, text: str) -> Seen:
        seen: Seen = {
            "source_present": _holds(self._file(user, assistant, "short_term.json"), text),
            "destination_present": _holds(self._file(user, assistant, "mid_term.json"), text),
        }
        if text in self._degraded:
            seen["degraded"] = True
        return seen

    def glimpses(self) -> list[Glimpse] | None:
        found, self._glimpses = self._glimpses, []
        return found

    def break_model(self) -> bool:
        """From now on the model answers nothing that can be used; MemoryOS falls back on a general summary."""
        self._broken = True
        return not _configured()

    def retrieve(self, user: str, assistant: str, query: str) -> Answer:
        memory = self._memory(user, assistant)
        found = memory.retriever.retrieve_context(user_query=query, user_id=user)
        recent = self._file(user, assistant, "short_term.json")
        return {"texts": [*_texts(found), *_texts(recent)]}

    def follows(self, user: str, assistant: str, earlier: str, later: str) -> bool | None:
        """Whether the later page names the earlier one as the page before it."""
        pages = {_text_of(page): page for page in _pages(self._file(user, assistant, "mid_term.json"))}
        if earlier not in pages or later not in pages:
            return None
        return pages[later].get("pre_page") == pages[earlier].get("page_id")

    def settle(self, user: str, assistant: str, run_id: str, file_hash: str) -> bool | None:  # noqa: ARG002
        """It keeps no runs: the gate's own check is all there is."""
        return None

    def close(self) -> None:
        self._open.clear()

    def _memory(self, user: str, assistant: str) -> Any:
        lane = (user, assistant)
        if lane not in self._open:
            memory = self._module.Memoryos(
                user_id=user,
                assistant_id=assistant,
                openai_api_key=os.environ.get("OPENAI_API_KEY", "none"),
                data_storage_path=str(self._path),
                **LIMITS,
            )
            if not _configured():
                memory.client.chat_completion = self._stand_in
            self._open[lane] = memory
        return self._open[lane]

    def _stand_in(self, *_: Any, **asked: Any) -> str:
        """The model: looks where every page is, then answers."""
        for user, assistant, text in self._stored:
            seen = self.observe(user, assistant, text)
            self._glimpses.append({"text": text, "moment": "while a model is called", "seen": seen})
            if self._broken and not seen["source_present"] and not seen["destination_present"]:
                self._degraded.add(text)
        if self._broken:
            return ""
        wanted = json.dumps(asked.get("messages", ""), default=str)
        return _ONE_THEME if "json" in wanted.lower() else "true"

    def _file(self, user: str, assistant: str, name: str) -> Any:
        folder = ("assistants", assistant) if name == "long_term_assistant.json" else ("users", user)
        for _ in range(_LOOKS):
            with suppress(ValueError):  # it is written in place: a look may meet half of it
                with suppress(FileNotFoundError):
                    return json.loads(self._path.joinpath(*folder, name).read_bytes())
                return None
            time.sleep(_PAUSE)
        return None


class Encoder:
    """Stands in for a sentence encoder: ours, which needs no network."""

    def __init__(self, *_: Any, **__: Any) -> None:
        from alveus.store.embedders import choose

        self._ours = choose("default")

    def encode(self, texts: Sequence[str], **_: Any) -> Any:
        """Unit rows [n, dims], float32."""
        if self._ours is None:
            raise AdapterError("there is no embedder to stand in for MemoryOS's", hint="install alveus whole")
        return self._ours.encode([*texts])


def _stand_in_for_encoder() -> None:
    if importlib.util.find_spec("sentence_transformers") is None:
        module: Any = ModuleType("sentence_transformers")
        module.SentenceTransformer = Encoder
        sys.modules["sentence_transformers"] = module


def _configured() -> bool:
    return "OPENAI_API_KEY" in os.environ


def _holds(found: Any, text: str) -> bool:
    return text in [*_texts(found)]


def _texts(found: Any) -> Iterator[str]:
    """Every text inside a document, wherever it stands."""
    if isinstance(found, str):
        yield found
    elif isinstance(found, dict):
        for inner in found.values():
            yield from _texts(inner)
    elif isinstance(found, list):
        for inner in found:
            yield from _texts(inner)


def _pages(found: Any) -> Iterator[dict[str, Any]]:
    if isinstance(found, dict):
        if "page_id" in found:
            yield found
        for inner in found.values():
            yield from _pages(inner)
    elif isinstance(found, list):
        for inner in found:
            yield from _pages(inner)


def _text_of(page: dict[str, Any]) -> str:
    return str(page.get("user_input", ""))
