"""A hippocampus that only remembers, and short ways to put bytes before a reader."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from alveus.errors import InputError
from alveus.importers import claude_code, openai_chat, run
from alveus.importers.base import Event, Item, Source
from alveus.importers.report import ImportReport
from alveus.journal.record import Draft

SAMPLES = Path(__file__).parent / "samples"


@dataclass(frozen=True)
class FakeOutcome:
    """What became of one draft."""

    status: str


class FakeHippocampus:
    """Keeps drafts by origin and part, as the real one does: the same content is known, another is a revision."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.drafts: list[Draft] = []
        self.batches: list[int] = []
        self.flushed = 0
        self.refuses: Callable[[Draft], bool] = lambda _: False
        self._seen: dict[tuple[str | None, int], set[str]] = {}

    def record_many(self, drafts: Sequence[Draft]) -> list[FakeOutcome]:
        if any(map(self.refuses, drafts)):
            raise InputError("the journal does not take this")
        self.batches.append(len(drafts))
        return [FakeOutcome(self._one(draft)) for draft in drafts]

    def flush(self) -> None:
        self.flushed += 1

    def _one(self, draft: Draft) -> str:
        seen = self._seen.setdefault((draft.origin, draft.part[0] if draft.part else 0), set())
        status = "known" if draft.content in seen else "revised" if seen else "new"
        if status != "known":
            seen.add(draft.content)
            self.drafts.append(draft)
        return status


@pytest.fixture
def samples() -> Path:
    """The folder of published samples."""
    return SAMPLES


@pytest.fixture
def hippocampus(tmp_path: Path) -> FakeHippocampus:
    """An empty one."""
    return FakeHippocampus(tmp_path / "agent")


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """A file of lines (objects become JSON), or of the bytes given."""

    def written(*lines: object, name: str = "session.jsonl") -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        texts = [line if isinstance(line, bytes) else json.dumps(line).encode() + b"\n" for line in lines]
        path.write_bytes(b"".join(texts))
        return path

    return written


@pytest.fixture
def imported(hippocampus: FakeHippocampus, write: Callable[..., Path]) -> Callable[..., ImportReport]:
    """The report of an import of these lines."""

    def done(*lines: object, name: str = "session.jsonl", **how: object) -> ImportReport:
        return run(hippocampus, write(*lines, name=name), **how)

    return done


def _events(path: Path, read: Callable[[Source], Iterator[Event]]) -> list[Event]:
    with Source(path) as source:
        return list(read(source))


@pytest.fixture
def claude(write: Callable[..., Path]) -> Callable[..., list[Event]]:
    """The events of these Claude Code records."""
    return lambda *lines: _events(write(*lines), claude_code.read)


@pytest.fixture
def chat(write: Callable[..., Path]) -> Callable[..., list[Event]]:
    """The events of these chat messages."""
    return lambda *lines, name="chat.jsonl": _events(write(*lines, name=name), openai_chat.read)


@pytest.fixture
def drafts() -> Callable[[list[Event]], list[Draft]]:
    """The drafts among these events."""
    return lambda events: [event.draft for event in events if isinstance(event, Item)]
