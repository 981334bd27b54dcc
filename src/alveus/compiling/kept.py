"""`kernels.read`: the columns of what was read before, so that a digest reads and cuts only what is new.

A sealed file whose header names the version; a part is a line of JSON and the columns. It is of one run of lines of
one chain, and holds their SHA-256: it counts only where the journal has these very bytes, which were checked when it
was made. A part that was changed, that is of another version, or that does not follow the one before, is made again,
with all that come after it. Derived: deleted, it costs time.
"""

from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Final

import numpy as np
import orjson

from alveus.agent import Agent
from alveus.compiling.archive import FRAGMENT, RECORD, Columns, Past, columns, version
from alveus.compiling.lexicon import KeptLexicon
from alveus.compiling.reading import Place, Read, Through, take_note, utterance_of
from alveus.compiling.sealed import SealedFile
from alveus.errors import StoreError
from alveus.journal.chain import Fault
from alveus.journal.seal import Key
from alveus.kernels.fragment import Utterance
from alveus.store.past import read
from alveus.store.stream import Stream

NAME: Final = "kernels.read"
_LARGEST: Final = 4 << 30
_LINES: Final = 16_384
"""Lines of a part at most."""
_PIECE: Final = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A run of lines of a chain, from one byte offset to another.

    `again` are the offsets of those that are no columns: notes of the program's own, and what failed its check, are
    looked at each time.
    """

    chain: str
    start: int
    end: int
    sha256: str
    lines: int
    again: list[int]
    columns: Columns

    def encode(self) -> bytes:
        """As the file holds it, without its MAC."""
        told = {
            "again": self.again,
            "chain": self.chain,
            "end": self.end,
            "fragments": len(self.columns.fragments),
            "lines": self.lines,
            "records": len(self.columns.records),
            "sha256": self.sha256,
            "start": self.start,
        }
        return orjson.dumps(told) + b"\n" + self.columns.records.tobytes() + self.columns.fragments.tobytes()


def _decoded(data: bytes) -> Part:
    line, _, _ = data.partition(b"\n")
    told = orjson.loads(line)
    records, fragments = told.pop("records"), told.pop("fragments")
    found = np.frombuffer(data, RECORD, records, len(line) + 1)
    return Part(**told, columns=Columns(found, np.frombuffer(data, FRAGMENT, fragments, len(line) + 1 + found.nbytes)))


class Kept:
    """The file. `parts` are those that are whole; whoever writes holds the lock of the compilation."""

    def __init__(self, folder: Path, key: Key) -> None:
        self._file = SealedFile(folder / NAME, f"alveus.kernels.read.v1 {version()}", key, _LARGEST)
        self.parts = deque(map(_decoded, self._file.read()))

    def put(self, after: int, parts: Sequence[Part]) -> None:
        """Write parts behind the first `after` ones, in place of the others. What cannot be written costs time."""
        self._file.put(after, list(map(Part.encode, parts)))


def read_journal(agent: Agent, since: float | None = None, *, keep: bool = False) -> Read:
    """Every record of every chain; those that happened before `since` (seconds) are no utterances.

    A record is read and checked once; with `keep` what was found is there for the next one who reads.
    """
    streams = agent.streams()
    kept, lexicon = Kept(folder := agent.layout.folder, streams[-1].key), KeptLexicon(folder, streams[-1].key, keep)
    found, used = Read(), 0
    parts: list[tuple[int, Part]] = []
    new: list[Part] = []
    for number, stream in enumerate(streams):
        chain, at = stream.link.chain or "", 0
        with contextlib.suppress(StoreError, OSError):  # what is lost after all is not in the next compilation
            stream.make_durable()
        while kept.parts and _fits(kept.parts[0], stream, at):
            parts.append((number, kept.parts.popleft()))
            used, at = used + 1, parts[-1][1].end
        made = [(number, part) for part in _parts(stream, at)]
        if made:
            kept.parts.clear()  # what is kept of later chains does not follow
        parts += made
        new += [part for _, part in made]
        at = made[-1][1].end if made else at
        found.through = Through(chain, at, sum(part.lines for _, part in parts))
    for number, part in parts:
        for offset in part.again:
            _look(found, streams[number], offset)
    past = Past(streams, [(number, part.columns) for number, part in parts], since, found.users, lexicon)
    chains = [stream.link.chain or "" for stream in streams]
    found.places.update((record_id, Place(chains[number], offset)) for record_id, number, offset in past.ids())
    found.utterances = past
    if keep and new:
        kept.put(used, new)
    return found


def _fits(part: Part, stream: Stream, start: int) -> bool:
    """Whether a part is of the bytes that the stream has there."""
    if (part.chain, part.start) != (stream.link.chain or "", start) or part.end > stream.link.offset:
        return False
    return _hash(stream, start, part.end) == part.sha256


def _hash(stream: Stream, start: int, end: int) -> str:
    state = sha256()
    while start < end and (piece := stream.files.read(stream.log.fd, min(_PIECE, end - start), start)):
        state.update(piece)
        start += len(piece)
    return state.hexdigest()


def _parts(stream: Stream, start: int) -> Iterator[Part]:
    """What the stream has from one byte on."""
    coming = stream.forwards(start)
    while lines := list(islice(coming, _LINES)):
        state = sha256()
        said: list[tuple[int, int, Utterance]] = []
        again: list[int] = []
        end = min(lines[-1][0] + len(lines[-1][1]) + 1, stream.link.offset)
        for offset, line in lines:
            state.update(line + b"\n")
            record = read(stream, line, offset)
            if isinstance(record, Fault) or take_note(Read(), record):
                again.append(offset)
            else:
                said.append((offset, len(line), utterance_of(record)))
        yield Part(
            chain=stream.link.chain or "",
            start=start,
            end=end,
            sha256=state.hexdigest(),
            lines=len(lines),
            again=again,
            columns=columns(said),
        )
        start = end


def _look(found: Read, stream: Stream, offset: int) -> None:
    """Take a note in, or name what failed its check."""
    record = read(stream, stream.line_at(offset), offset)
    if isinstance(record, Fault):
        found.left_out.append(record)
    else:
        found.places[record.record_id] = Place(stream.link.chain or "", offset)
        take_note(found, record)
