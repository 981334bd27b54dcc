"""The two implementations as fixtures: the library over a folder, and Node over files."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import pytest

from alveus.hippocampus import verify_layout
from alveus.journal import chain
from alveus.journal.chain import ChainState, Fault, Link
from alveus.journal.head import Head
from alveus.journal.seal import Key
from alveus.store.files import DISK
from alveus.store.heads import load_head
from alveus.store.layout import Layout

VECTORS: Final = Path(__file__).resolve().parents[2] / "vectors"
sys.path.insert(0, str(VECTORS))  # for `making`: mutants are made as the vectors are

Verdict = dict[str, Any]
Files = Mapping[str, bytes]


class Library:
    """The library's verdicts, in the words of the vectors."""

    def __init__(self, home: Path) -> None:
        self._home = home

    def verdict(
        self,
        agent_id: str,
        files: Files,
        keys: Sequence[bytes],
        *,
        against: bytes | None = None,
        note_seed: bytes = b"",
    ) -> Verdict:
        """As `alveus verify` gives it: with the lock, as no writer is at work."""
        layout = self._lay_out(agent_id, files, keys)
        if note_seed:
            _write(layout.other_key("note"), note_seed)
        note = None if against is None else _write(self._home / "against.note", against)
        found = verify_layout(layout, DISK, against=note)
        return _in_words(found.state, found.fault, found.size, found.open_end, found.gaps)

    def unlocked(self, agent_id: str, files: Files, secret: bytes) -> Verdict:
        """What a reader makes of one chain while a writer may hold the lock."""
        layout, key = self._lay_out(agent_id, files, [secret]), Key(secret)
        head = load_head(DISK, layout.stream, key)
        sizes = [head.size] if isinstance(head, Head) else []
        lines = files["stream.jsonl"].splitlines(keepends=True)
        walked = chain.walk(lines, key, Link(agent_id=agent_id), sizes=sizes)
        fault = walked.fault or chain.judge_head(walked, head)
        state = ChainState.BROKEN if fault else chain.state_of(walked, head)
        after = walked.link.size - (head.size if isinstance(head, Head) else 0)
        return _in_words(state, fault, walked.link.size, after, ())

    def _lay_out(self, agent_id: str, files: Files, keys: Sequence[bytes]) -> Layout:
        layout = Layout(home=self._home, agent_id=agent_id, key_file=self._home / "keys" / "x.journal.key")
        for folder in (layout.folder, layout.key_file.parent):
            shutil.rmtree(folder, ignore_errors=True)
        for name, data in files.items():
            _write(layout.folder / name, data)
        current, *old = keys
        _write(layout.key_file, current)
        for secret in old:
            _write(layout.old_key(Key(secret).kid), secret)
        return layout


def _write(path: Path, data: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    path.chmod(0o600)
    return path


def _in_words(state: ChainState, fault: Fault | None, size: int, open_end: int, gaps: Sequence[str]) -> Verdict:
    if fault is not None:
        return {"state": state.value, "code": fault.code, "line": fault.line, "offset": fault.offset}
    verdict = {"state": state.value, "code": None, "records": size, "after_head": open_end}
    return {**verdict, "promises_missing": sorted(gaps)} if gaps else verdict


class Node:
    """`vectors/verify.mjs`."""

    def __init__(self, program: str) -> None:
        self._command = [program, str(VECTORS / "verify.mjs")]

    def run(self, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run([*self._command, *arguments], check=False, capture_output=True, text=True)

    def batch(self, journals: Sequence[Mapping[str, Any]], path: Path) -> list[Verdict]:
        """Its verdicts on many journals, by one process: `{files, keys, agent_id}` each."""
        path.write_text("".join(f"{json.dumps(_in_hex(journal))}\n" for journal in journals))
        done = self.run("--batch", path)
        assert done.returncode == 0, done.stderr
        return [json.loads(line) for line in done.stdout.splitlines()]


def _in_hex(journal: Mapping[str, Any]) -> Verdict:
    files = {name: data.hex() for name, data in journal["files"].items()}
    return {**journal, "files": files, "keys": [key.hex() for key in journal["keys"]], "locked": True}


@pytest.fixture
def library(tmp_path: Path) -> Library:
    """The library, over a home of its own."""
    return Library(tmp_path / "home")


@pytest.fixture(scope="session")
def node() -> Node:
    """The second implementation; without Node a test that needs it is skipped, and says so."""
    program = shutil.which("node")
    if program is None:
        pytest.skip("NODE IS MISSING: the second implementation was NOT run; install Node 18 or later")
    return Node(program)
