"""The journal as an archive of kernels: columns that follow from each record alone, put in order together.

A column holds numbers and hashes, and no text: what a fragment says is read from its line, when it is asked for. So
what is kept of the past is small, and what is done anew for it is arithmetic on columns.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import blake2b, sha256
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import orjson
import Stemmer  # type: ignore[import-not-found]

from alveus.journal.record import Source
from alveus.kernels import fragment, phrases, tone, words_en, words_ru
from alveus.kernels import prose as prose_room
from alveus.kernels.fragment import LEANS, Fragment, Utterance, pieces, tail
from alveus.kernels.lexicon import Lexicon
from alveus.kernels.prose import CODE_OF_KIND, KINDS, Archive, Prose, spoken
from alveus.kernels.tone import REGISTERS
from alveus.language import scripts, stopwords, tongues
from alveus.store.stream import Stream

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Rows = NDArray[np.int64]

SOURCES: Final = tuple(Source)
_CODE_OF_SOURCE: Final = {src: code for code, src in enumerate(SOURCES)}
_USER: Final = _CODE_OF_SOURCE[Source.USER]
_MOST: Final = 65_535
_APART: Final = 0xFFFF_FFFF
"""Stands for the place of a fragment that is no piece of its record's text, or leaves out what it quotes."""

RECORD: Final = np.dtype(
    [
        ("offset", "<u8"),
        ("size", "<u4"),
        ("id", "V16"),
        ("time", "<f8"),
        ("source", "u1"),
        ("kind", "u1"),
        ("item", "V16"),
        ("session", "<u8"),
        ("cut", "<u4"),
        ("heard", "<u4"),
    ]
)
"""A record: where its line lies, who it is, the hash of what makes it one item, the session's hash, its fragments."""

FRAGMENT: Final = np.dtype(
    [("place", "<u4"), ("start", "<u4"), ("size", "<u2"), ("words", "<u2"), ("tones", "<u2", (len(REGISTERS),))]
)
"""A fragment that is heard: its number in the record, its characters in the record's text, its words and registers."""


@cache
def version() -> str:
    """What the columns are made by: the modules that cut and count, and the layout. Another version is made anew."""
    state = sha256(f"{RECORD.descr} {FRAGMENT.descr} {Stemmer.version()}".encode())
    for module in (fragment, prose_room, phrases, tone, words_en, words_ru, scripts, stopwords, tongues):
        state.update(Path(module.__file__ or "").read_bytes())
    state.update(Path(__file__).read_bytes())
    return state.hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class Columns:
    """Some records and their fragments, in the order of the journal."""

    records: NDArray[Any]
    fragments: NDArray[Any]


def columns(utterances: Sequence[tuple[int, int, Utterance]]) -> Columns:
    """The columns of some utterances, each with the byte offset and the length of its line."""
    records = np.zeros(len(utterances), RECORD)
    rows: list[tuple[int, int, int, int, tuple[int, ...]]] = []
    for number, (offset, size, one) in enumerate(utterances):
        cut, heard = spoken(one)
        records[number] = (
            offset,
            size,
            bytes.fromhex(one.record_id),
            one.time,
            _CODE_OF_SOURCE[one.src],
            CODE_OF_KIND[one.kind],
            _item(one),
            int.from_bytes(_hash(one.session, size=8), "little"),
            cut,
            len(heard),
        )
        at = 0
        for piece in heard:
            start = one.text.find(piece.text, at) if piece.said == piece.text else -1
            at = max(at, start)
            counts = tuple(min(count, _MOST) for count in piece.tone)
            rows.append((piece.place, start if start >= 0 else _APART, len(piece.text), piece.words, counts))
    return Columns(records, np.array(rows, FRAGMENT))


def _item(one: Utterance) -> bytes:
    """What two records share that are the same item: as `fragment.ordered` has it."""
    where = (one.origin,) if one.origin else ("", one.session, repr(one.time))
    return _hash(*where, "", one.src, one.text)


def _hash(*texts: str, size: int = 16) -> bytes:
    state = blake2b(digest_size=size)
    for text in texts:
        data = text.encode("utf-8", "replace")
        state.update(len(data).to_bytes(8, "little") + data)
    return state.digest()


class Past(Archive):
    """The records of one journal as utterances; `users` gets those of the records that were looked at."""

    def __init__(
        self,
        streams: Sequence[Stream],
        parts: Sequence[tuple[int, Columns]],
        since: float | None,
        users: dict[str, str],
        lexicon: Lexicon,
    ) -> None:
        self._streams = streams
        self._users = users
        self._lexicon = lexicon
        self._records = np.concatenate([np.zeros(0, RECORD), *(part.records for _, part in parts)])
        self._fragments = np.concatenate([np.zeros(0, FRAGMENT), *(part.fragments for _, part in parts)])
        self._stream = np.repeat([number for number, _ in parts], [len(part.records) for _, part in parts]).astype(int)
        self._first = np.r_[0, np.cumsum(self._records["heard"], dtype=np.int64)][:-1]
        self._rows = np.flatnonzero(self._records["time"] >= (-np.inf if since is None else since))

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[Utterance]:
        return map(self._utterance, self._rows.tolist())

    def ids(self) -> Iterator[tuple[str, int, int]]:
        """Every record, before `since` too: its id, the number of its stream, its byte offset."""
        told = self._records["id"].tobytes().hex()
        ids = (told[at : at + 32] for at in range(0, len(told), 32))
        return zip(ids, self._stream.tolist(), self._records["offset"].tolist(), strict=True)

    def _utterance(self, row: int) -> Utterance:
        """A record, from its line: the bytes that were checked."""
        record = self._records[row]
        stream = self._streams[self._stream[row]]
        told = orjson.loads(stream.files.read(stream.log.fd, int(record["size"]), int(record["offset"])))
        hc = told["metadata"].get("hc") or {}
        if (user := hc.get("user")) is not None:
            self._users[told["record_id"]] = user
        return Utterance(
            record_id=told["record_id"],
            origin=hc.get("origin") or "",
            src=SOURCES[record["source"]],
            kind=KINDS[record["kind"]],
            session=hc.get("session") or "",
            time=float(record["time"]),
            text=told["content"],
        )

    # As prose

    def prose(self) -> Prose:
        """The rows of what is heard, from the columns alone."""
        order = self._ordered()
        records = self._records[order]
        counts = records["heard"].astype(np.int64)
        whole = np.repeat(np.arange(len(order)), counts)
        at = np.arange(len(whole)) + np.repeat(self._first[order] - (np.cumsum(counts) - counts), counts)
        fragments = self._fragments[at]
        before = self._before(records)

        def made(rows: Sequence[int]) -> list[Fragment]:
            known: dict[int, Utterance] = {}

            def utterance(place: int) -> Utterance:
                if place not in known:
                    known[place] = self._utterance(int(order[place]))
                return known[place]

            found = []
            for row in rows:
                place = int(whole[row])
                leans = before[place] >= 0 and fragments["words"][row] < LEANS
                earlier = tail(utterance(int(before[place]))) if leans else ""
                found.append(_fragment(utterance(place), fragments[row], earlier, place))
            return found

        return Prose(
            tones=fragments["tones"].astype(np.int64),
            user=(records["source"] == _USER)[whole],
            kinds=records["kind"].astype(np.int64)[whole],
            whole=whole,
            words=fragments["words"].astype(np.int64),
            made=made,
            cut=int(records["cut"].sum()),
            lexicon=self._lexicon,
        )

    def _ordered(self) -> Rows:
        """The rows as `fragment.ordered` has them: of one item the first, by time, origin, session, source and text."""
        records = self._records[self._rows]
        items, ids = (np.ascontiguousarray(records[name]).view(">u8").reshape(-1, 2) for name in ("item", "id"))
        same = np.lexsort((ids[:, 1], ids[:, 0], records["time"], items[:, 1], items[:, 0]))
        first = np.r_[True, (items[same][1:] != items[same][:-1]).any(axis=1)] if len(same) else np.zeros(0, bool)
        kept = self._rows[np.sort(same[first])]
        times = self._records["time"][kept]
        by_time = np.argsort(times, kind="stable")  # what has one time, which is rare, is told apart by its words
        order: Rows = kept[by_time]
        times = times[by_time]
        ends = np.flatnonzero(np.r_[True, times[1:] != times[:-1], True]) if len(times) else np.zeros(0, int)
        for start, end in pairwise(ends.tolist()):
            if end - start > 1:
                order[start:end] = sorted(order[start:end].tolist(), key=self._key)
        return order

    def _key(self, row: int) -> tuple[str, str, str, str]:
        one = self._utterance(row)
        return one.origin, one.session, one.src, one.text

    def _before(self, records: NDArray[Any]) -> Rows:
        """For each record in order the one that was said before its speaker began, by another one; -1 for none."""
        by_session = np.argsort(records["session"], kind="stable")
        sessions, sources = records["session"][by_session], records["source"][by_session]
        begins = np.r_[True, sessions[1:] != sessions[:-1]][: len(records)]
        turns = begins | np.r_[True, sources[1:] != sources[:-1]][: len(records)]
        turn = np.maximum.accumulate(np.where(turns, np.arange(len(records)), 0))
        before = np.full(len(records), -1, dtype=np.int64)
        before[by_session] = np.where(begins[turn], -1, by_session[turn - 1])
        return before


def _fragment(one: Utterance, row: Any, before: str, whole: int) -> Fragment:
    place, start, size = int(row["place"]), int(row["start"]), int(row["size"])
    if start == _APART:
        piece = list(pieces(one))[place]
    else:
        text = one.text[start : start + size]
        piece = (fragment.What.PROSE, text, text)
    return fragment.fragment(one, place, piece, before=before, whole=whole)
