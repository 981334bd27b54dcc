"""Takes what hooks put down into the journal: `python -m alveus.doors.hook.draining HOME AGENT NAME [RIGHT]`.

One process at a time for an agent; it ends when nothing waits. The words come from the transcripts that the events
name, through the importer of their format, so that each has the origin that an import gives it. A word of an event that
its transcript does not hold is waited for, and recorded from the event itself where it does not come.

Nothing is lost and nothing doubled by a kill at any point: what was put down goes only after the journal is on disk,
and what is read again is known by its origin.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from alveus.doors.hook import place, spool, trouble
from alveus.doors.hook.tail import Cursor, Cursors, Tail
from alveus.doors.hook.words import Word, words_of
from alveus.errors import AlveusError, InputError, JournalError, NotFound, StoreError
from alveus.fence import strip
from alveus.hippocampus import Hippocampus
from alveus.importers import echo, secrets
from alveus.importers.base import Format, Item
from alveus.importers.facts import clean, ident, small
from alveus.importers.parts import split
from alveus.importers.table import FORMATS
from alveus.journal.record import Draft, Kind, Source

GRACE: Final = 600.0
"""Seconds that a transcript has to bring a word that was heard: it is written a moment before or after the hook."""
LATEST: Final = 86_400.0
"""Seconds that an event is tried for which a fault of this program cannot be taken in."""
PAUSE: Final = 3_600.0
"""Seconds until a digest that failed is tried again."""
AT_ONCE: Final = 256
BYTES_AT_ONCE: Final = 1 << 20
_CURSORS: Final = 2_000
_TRIES: Final = 100
_CALL_IDS: Final = ("tool_use_id", "call_id")


def main() -> int:
    """Drain one agent."""
    home, agent_id, name, *right = sys.argv[1:]
    try:
        drain(home, agent_id, name, int(right[0]) if right else None)
    except Exception as error:  # noqa: BLE001  (nobody sees this process end: the log does, and what waits waits on)
        trouble.note(place.hooks_of(home), f"draining {agent_id}", error)
        return 1
    return 0


def drain(home: str, agent_id: str, name: str, right: int | None = None) -> int:
    """Take in all that waits for an agent; returns the number of records that are new.

    Does nothing where another process is doing it: that one looks again before it ends. `right` is the right to take
    in, where the caller has it already; it is let go.
    """
    root = place.hooks_of(home)
    folder = os.path.join(root, "agents", name)
    new, ended = 0, False
    for turn in range(_TRIES):
        if right is None and (spool.waiting(folder) or (not turn and _is_due(folder))):
            right = spool.alone(folder)
        if right is None:
            break
        try:
            round_ = _Draining(home, root, folder, agent_id)
            new += round_.run()
            ended |= round_.ended
        finally:
            os.close(right)
            right = None
    if ended:
        _digest(home, agent_id)
    return new


def _digest(home: str, agent_id: str) -> None:
    """Make the kernels' digest, where a turn has ended and the journal outgrew them; without a language model.

    Nobody who records waits for it. What failed of late is not tried again at every turn: `marks` says that it did.
    """
    with Hippocampus.open(home=Path(home), agent_id=agent_id, summarizer="none", tiers=False) as memory:
        status = memory.digest_status()
        failed = status.failed is not None and _is_late(str(status.failed.get("at")))
        if status.due and not status.running and not failed:
            memory.digest()


def _is_late(at: str) -> bool:
    """Whether a time is within the last hour."""
    try:
        return time.time() - datetime.fromisoformat(at).timestamp() < PAUSE
    except ValueError:
        return False


@dataclass(frozen=True, slots=True, kw_only=True)
class _Heard:
    """An event, when it was heard, and its line."""

    at: float
    harness: str
    event: dict[str, Any]
    line: bytes


@dataclass(slots=True, kw_only=True)
class _Read:
    """What the transcripts of a session held: the words that events are compared with."""

    contents: set[bytes] = field(default_factory=set)
    calls: set[str] = field(default_factory=set)
    prompts: set[str] = field(default_factory=set)

    def saw(self, line: bytes) -> None:
        """A line as it stands: prompts have an id that no item keeps."""
        if b'"promptId"' in line and b'"user"' in line:
            self.prompts.add(_prompt_of(line))

    def hear(self, drafts: Iterable[Draft]) -> None:
        """What is recorded of an item."""
        for draft in drafts:
            self.contents.add(_known_by(draft.content))
            self.calls |= _calls_of(draft.metadata)


class _Draining:
    """One round: take, read, record, and only then let go."""

    def __init__(self, home: str, root: str, folder: str, agent_id: str) -> None:
        self._home, self._root, self._folder, self._agent_id = home, root, folder, agent_id
        self._cursors = Cursors(folder)
        self._new = 0
        self.ended = False
        """Whether a turn has ended: the growth of the journal is looked at then."""

    def run(self) -> int:
        taken = spool.take(self._folder)
        pending = os.path.join(self._folder, spool.PENDING)
        heard = list({one.line: one for path in (pending, taken) if path for one in self._heard(path)}.values())
        self.ended = any(place.text(one.event, "hook_event_name") == "Stop" for one in heard)
        if heard:
            # Whoever named an embedder wants novelty judged by it; else words judge, and no model is loaded here.
            judge = None if os.environ.get("ALVEUS_EMBEDDER") else "none"
            with Hippocampus.open(
                home=Path(self._home), agent_id=self._agent_id, embedder=judge, summarizer="none"
            ) as memory:
                left = self._take_in(memory, heard)
                memory.flush()
                with contextlib.suppress(AlveusError):  # derived: whoever asks makes it
                    memory.prepare_recall(embed=0)
        else:
            left = []
        # The records are on disk. What is written from here on only spares work: without it all is read again.
        self._cursors.save(_CURSORS)
        place.write_whole(pending, b"".join(one.line + b"\n" for one in left))
        if taken:
            os.unlink(taken)
        return self._new

    def _heard(self, path: str) -> Iterator[_Heard]:
        try:
            lines = Path(path).read_bytes().split(b"\n")
        except FileNotFoundError:
            return
        for line in filter(None, lines):
            try:
                told = json.loads(line)
                yield _Heard(at=float(told["at"]), harness=str(told["from"]), event=dict(told["event"]), line=line)
            except (ValueError, KeyError, TypeError, RecursionError):
                self._keep(line, "are no event: a hook was cut short")

    def _keep(self, line: bytes, why: str) -> None:
        trouble.note(self._root, f"draining {self._agent_id}", f"{len(line)} bytes were kept aside: they {why}")
        os.makedirs(os.path.join(self._root, "rejected"), 0o700, exist_ok=True)
        place.write_whole(os.path.join(self._root, "rejected", sha256(line).hexdigest()[:32]), line)

    def _take_in(self, memory: Hippocampus, heard: list[_Heard]) -> list[_Heard]:
        """Read the transcripts of all sessions; returns the events that are still to be waited for."""
        sessions: dict[tuple[str, str], list[_Heard]] = {}
        for one in heard:
            sessions.setdefault((one.harness, place.text(one.event, "session_id")), []).append(one)
        left: list[_Heard] = []
        for (harness, _), events in sessions.items():
            try:
                left += self._session(memory, harness, events)
            except (JournalError, StoreError):
                raise
            except Exception as error:  # noqa: BLE001  (one session's fault must not keep the others out of the journal)
                trouble.note(self._root, f"a session of {harness}", error)
                left += self._put_off(events)
        return left

    def _session(self, memory: Hippocampus, harness: str, events: list[_Heard]) -> list[_Heard]:
        read = _Read()
        again = any(words_of(one.event) for one in events)
        for transcript in _transcripts(events):
            self._read(memory, harness, transcript, read, again=again)
        return [one for one in events if not self._settled(memory, one, read)]

    def _put_off(self, events: list[_Heard]) -> list[_Heard]:
        """Those that are tried again; what failed for a day is kept aside."""
        late = [one for one in events if time.time() - one.at >= LATEST]
        for one in late:
            self._keep(one.line, "failed for a day")
        return [one for one in events if one not in late]

    # ── the transcripts ──

    def _read(self, memory: Hippocampus, harness: str, path: Path, read: _Read, *, again: bool) -> None:
        """Record what a transcript holds behind its cursor; with `again` its newest turn is gone through once more."""
        form = next((one for one in FORMATS if one.name == harness), None)
        if form is None:
            return
        try:
            with Tail(path, self._cursors.of(str(path)), read.saw) as source:
                if source.unread or again:
                    self._cursors.note(str(path), self._read_on(memory, form, source, read))
        except NotFound:
            return  # deleted, or never written: the events' own words are what there is
        except InputError as error:
            trouble.note(self._root, f"reading {path.name}", error)

    def _read_on(self, memory: Hippocampus, form: Format, source: Tail, read: _Read) -> Cursor:
        """Record the items of a transcript; how far it was read, and where its newest turn begins."""
        turn = source.cursor.turn
        batch: list[Draft] = []
        for event in form.read(source):
            if not isinstance(event, Item):
                continue
            if _begins_turn(event.draft):
                turn = event.at.start
            drafts = self._ready(event.draft)
            read.hear(drafts)
            batch += drafts
            if len(batch) >= AT_ONCE or sum(len(draft.content) for draft in batch) >= BYTES_AT_ONCE:
                self._record(memory, batch)
                batch = []
        self._record(memory, batch)
        return source.cursor_at(turn)

    def _ready(self, draft: Draft) -> list[Draft]:
        """The draft without what we said ourselves, its secrets masked, in parts that fit a line."""
        own = echo.without(draft)
        if own is None:
            return []
        content, hidden = secrets.mask(own.content)
        metadata, more = secrets.mask_json(own.metadata)
        return split(own._replace(content=content, metadata=metadata) if hidden or more else own)

    def _record(self, memory: Hippocampus, batch: list[Draft]) -> None:
        """Record a batch; where the journal refuses one of it, each alone, so that it takes no others with it."""
        if not batch:
            return
        try:
            self._new += sum(one.status != "known" for one in memory.record_many(batch))
        except InputError as error:
            if len(batch) == 1:
                trouble.note(self._root, "the journal refuses a record", error)
                return
            for draft in batch:
                self._record(memory, [draft])

    # ── the events' own words ──

    def _settled(self, memory: Hippocampus, heard: _Heard, read: _Read) -> bool:
        """Whether nothing of the event is to be waited for. What did not come is recorded from the event."""
        missing = [word for word in words_of(heard.event) if not _is_in(read, word)]
        if not missing:
            return True
        named = bool(place.text(heard.event, "transcript_path"))
        if named and time.time() - heard.at < GRACE:
            return False  # a first prompt is heard before there is a transcript at all
        for word in missing:
            for draft in self._ready(_draft(heard, word)):
                if not _is_there(memory, draft, word.call):
                    self._record(memory, [draft])
        return True


def _is_due(folder: str) -> bool:
    """Whether something was waited for long enough."""
    try:
        with open(os.path.join(folder, spool.PENDING), "rb") as file:
            first = file.readline()
        return bool(first) and time.time() - float(json.loads(first)["at"]) >= GRACE
    except (OSError, ValueError, KeyError, TypeError):
        return False


def _transcripts(events: Iterable[_Heard]) -> list[Path]:
    """The files of a session: its own, and those of its sub-agents."""
    found: dict[Path, None] = {}
    for one in events:
        for name in ("transcript_path", "agent_transcript_path"):
            if told := place.text(one.event, name):
                path = Path(told)
                if "\0" in told or not path.is_absolute():
                    continue
                found[path] = None
                if name == "transcript_path" and path.suffix:
                    found |= dict.fromkeys(sorted(path.with_suffix("").glob("subagents/**/*.jsonl")))
    return list(found)


def _begins_turn(draft: Draft) -> bool:
    return draft.src is Source.USER and draft.kind is Kind.OBSERVATION


def _prompt_of(line: bytes) -> str:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return ""
    return place.text(found, "promptId") if isinstance(found, dict) and found.get("type") == "user" else ""


def _calls_of(metadata: Mapping[str, Any]) -> set[str]:
    """The ids of calls that a record names."""
    return {str(metadata[name]) for name in _CALL_IDS if metadata.get(name)}


def _known_by(content: str) -> bytes:
    """What two copies of a text have in common: all but white space."""
    return sha256(" ".join(content.split()).encode("utf-8", "replace")).digest()


def _is_in(read: _Read, word: Word) -> bool:
    if (word.prompt and word.prompt in read.prompts) or (word.call and word.call in read.calls):
        return True
    content = secrets.mask(strip(word.content)[0])[0]
    return not content.strip() or _known_by(content) in read.contents


def _draft(heard: _Heard, word: Word) -> Draft:
    """A word of an event as a draft. Its origin is the event's: the transcript that would name it is not there."""
    session = ident(heard.event.get("session_id"))
    container = (session or "none").replace("%", "%25").replace(":", "%3A")
    name = sha256(heard.line).hexdigest()[:32]
    facts = {**word.facts, "cwd": place.text(heard.event, "cwd"), "heard_by": "hook"}
    return Draft(
        kind=word.kind,
        content=clean(word.content),
        metadata=small(facts),
        src=word.src,
        session=session,
        event_time=datetime.fromtimestamp(heard.at, UTC).isoformat().replace("+00:00", "Z"),
        origin=f"{heard.harness}:{container}:hook/{name}",
    )


def _is_there(memory: Hippocampus, draft: Draft, call: str) -> bool:
    """Whether this session's records hold the same words or call already: its transcript went on, or is gone since."""
    wanted = _known_by(draft.content)
    since = draft.event_time[:10] if draft.event_time else ""
    for record in memory.iter_records(newest_first=True):
        hc = record.hc
        if record.timestamp[:10] < since:
            return False
        of_session = hc is not None and hc.session == draft.session and ":hook/" not in (hc.origin or "")
        if of_session and (_known_by(record.content) == wanted or (call and call in _calls_of(record.metadata))):
            return True
    return False


def drained(home: str, names: Sequence[tuple[str, str]]) -> int:
    """Drain several agents, (id, name on disk) each; the number of new records."""
    return sum(drain(home, agent_id, name) for agent_id, name in names)


if __name__ == "__main__":
    sys.exit(main())
