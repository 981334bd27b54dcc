"""A journal that the library wrote, read by Node."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

import pytest

from alveus.hippocampus import Hippocampus, verify_layout
from alveus.journal.record import Draft, Kind, Source
from alveus.store.files import DISK
from alveus.store.layout import Layout, make_layout

AGENT: Final = "агент 1/ночь 🌊"
CONTENTS: Final = (
    "Деплой на staging падает: контейнеру PostgreSQL нужно 900 МБ.",
    "🧠 👩‍🚀 \U0010ffff \ufeff",
    "".join(map(chr, range(0x20))) + "\x7f\x85\u2028\u2029",
    'He said "C:\\temp", then </script>.',
    "Caf\u00e9 is not Cafe\u0301",
    "",
    "x" * 100_000,
)
METADATA: Final[dict[str, Any]] = {
    "nested": {"\ufb33": [1, {"__proto__": None}], "\U0001f600": {"": [[], {}]}, "\r": True},
    "floats": [0.1, 1e21, 5e-324, -1.5, 2.0, 1e-7, 123456789.125],
    "integers": [2**53 - 1, 1 - 2**53, 0],
    "Ключ": "значение",
    "zz": {"deep": [[[[[[[["end"]]]]]]]]},
}


class Days:
    """A clock that goes on by a second a reading, and by a day when it is told to."""

    def __init__(self) -> None:
        self._at = datetime(2026, 11, 29, 20, tzinfo=UTC)
        self._seconds = 0.0

    def pass_days(self, days: int) -> None:
        self._at += timedelta(days=days)
        self._seconds += days * 86400

    def now(self) -> datetime:
        self._at += timedelta(seconds=1)
        self._seconds += 1
        return self._at

    def steady(self) -> float:
        return self._seconds


@pytest.fixture
def clock() -> Days:
    """The clock of a test."""
    return Days()


@pytest.fixture
def memory(tmp_path: Path, clock: Days) -> Iterator[Hippocampus]:
    """A journal with everything in it: every kind and source, three days of which one is closed, two keys."""
    with Hippocampus.open(home=tmp_path, agent_id=AGENT, clock=clock) as memory:
        for number, content in enumerate(CONTENTS):
            memory.record(list(Kind)[number % len(Kind)], content, METADATA if number % 2 else {"n": number})
        clock.pass_days(1)
        memory.record_many([_draft(number) for number in range(5)])
        memory.rotate()
        clock.pass_days(1)
        memory.record("decision", "Сменили ключ.", user="Анна", session="s-1")
        memory.daily_anchor("2026-11-30")
        yield memory


def _draft(number: int) -> Draft:
    return Draft(
        kind=Kind.OBSERVATION,
        content=f"part {number}",
        src=list(Source)[number % len(Source)],
        event_time="2026-11-28T12:00:00.5+03:00",
        origin=f"chat:архив:{number}",
        part=(number + 1, 5),
    )


def _verify(node: Any, memory: Hippocampus, *options: str | Path) -> tuple[int, dict[str, Any]]:
    done = node.run(memory.layout.stream, "--key", memory.layout.key_file, *options)
    assert done.stderr == ""
    return done.returncode, json.loads(done.stdout)


def test_what_the_library_wrote_verifies_in_node(memory: Hippocampus, node: Any) -> None:
    """Both say the same of a journal with two keys, a closed day and every kind of text: state, sizes, root."""
    memory.flush()
    ours = memory.verify_chain()
    status, theirs = _verify(node, memory, "--locked")
    assert (status, theirs["code"], theirs["state"]) == (0, None, ours.state.value)
    assert (theirs["records"], theirs["after_head"], theirs["root"]) == (ours.size, ours.open_end, ours.root)
    assert [one["chain"] for one in theirs["closed"]] == [one.chain for one in ours.chains[:-1]]


def test_node_knows_the_agent_by_its_folder(memory: Hippocampus, node: Any) -> None:
    """The folder names the agent; another one that is named is not its own."""
    assert _verify(node, memory)[0] == 0
    assert _verify(node, memory, "--agent", AGENT)[0] == 0
    status, verdict = _verify(node, memory, "--agent", "another")
    assert (status, verdict["code"]) == (4, "wrong_chain")


def test_a_checkpoint_of_the_library_convinces_node(memory: Hippocampus, node: Any, tmp_path: Path) -> None:
    """`--against` holds for the journal as it goes on, and not for a backup that was put in its place."""
    kept, backup = tmp_path / "kept.note", tmp_path / "backup" / memory.folder.name
    memory.flush()
    shutil.copytree(memory.folder, backup)
    memory.record("decision", "after the backup")
    kept.write_text(memory.checkpoint())
    assert _verify(node, memory, "--against", kept)[0] == 0
    done = node.run(backup / "stream.jsonl", "--key", memory.layout.key_file, "--against", kept)
    assert (done.returncode, json.loads(done.stdout)["code"]) == (4, "against_mismatch")


@pytest.mark.parametrize(
    "name", ["stream.jsonl", "anchors/2026-11-30/payload.json", "anchors/2026-11-30/checkpoint.note"]
)
def test_one_changed_byte_is_seen_by_both(memory: Hippocampus, node: Any, name: str) -> None:
    """A byte changed in the stream or in a closed day breaks the journal for both, with one code."""
    memory.flush()
    path = memory.folder / name
    data = bytearray(path.read_bytes())
    data[len(data) // 3] ^= 1
    path.write_bytes(bytes(data))
    fault = memory.verify_chain().fault
    status, verdict = _verify(node, memory, "--locked")
    assert status == 4
    assert fault is not None
    assert verdict["code"] == fault.code


# What is no regular file


@pytest.fixture
def copied(memory: Hippocampus, tmp_path: Path) -> Layout:
    """A copy of the home, to be spoilt."""
    memory.flush()
    home = tmp_path / "copied"
    for name in ("agents", "keys"):
        shutil.copytree(tmp_path / name, home / name)
    return make_layout(home, AGENT)


def _deleted(path: Path) -> None:
    path.unlink()


def _made_a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def _made_a_link(path: Path) -> None:
    path.rename(path.with_name("elsewhere"))
    path.symlink_to("elsewhere")


SPOILT: Final[list[tuple[str, Callable[[Path], None], str]]] = [
    ("stream.jsonl", _deleted, "stream_missing"),
    ("stream.jsonl", _made_a_folder, "stream_unreadable"),
    ("stream.jsonl", _made_a_link, "stream_unreadable"),
    ("anchors/2026-11-30/payload.json", _deleted, "anchor_mismatch"),
    ("anchors/2026-11-30/payload.sha256", _made_a_link, "anchor_mismatch"),
    ("anchors/2026-11-30/checkpoint.note", _made_a_folder, "anchor_mismatch"),
]


@pytest.mark.parametrize(
    ("name", "spoil", "code"), SPOILT, ids=[f"{name}-{spoil.__name__}" for name, spoil, _ in SPOILT]
)
def test_what_is_no_regular_file_breaks_the_journal_for_both(
    copied: Layout, node: Any, name: str, spoil: Callable[[Path], None], code: str
) -> None:
    """A file that is missing, a folder or a link in its place: both say so with one code."""
    spoil(copied.folder / name)
    fault = verify_layout(copied, DISK).fault
    done = node.run(copied.stream, "--key", copied.key_file, "--locked")
    assert fault is not None
    assert (done.returncode, json.loads(done.stdout)["code"], fault.code) == (4, code, code)


@pytest.mark.parametrize(("name", "code"), [("notes", None), ("2026-12-00", None), ("2026-11-29", "anchor_mismatch")])
def test_only_a_folder_named_by_a_day_is_a_closed_day(copied: Layout, node: Any, name: str, code: str | None) -> None:
    """An empty folder in `anchors/`: ignored by both unless its name is a date, and then a day without its files."""
    (copied.anchors / name).mkdir()
    (copied.anchors / ".DS_Store").touch()
    fault = verify_layout(copied, DISK).fault
    done = node.run(copied.stream, "--key", copied.key_file, "--locked")
    assert json.loads(done.stdout)["code"] == code
    assert (None if fault is None else fault.code) == code
