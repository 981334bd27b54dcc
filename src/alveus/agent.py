"""One agent's open files, and the only writer of its journal: keys, the live chain, older chains, derived states.

A batch is judged, sealed and written under the journal's lock; models are called before it is taken and syncs are
waited for after it is let go. What is derived (novelty, origins) learns from the same records in the same order,
whoever wrote them, and is saved only for what is on disk.
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import repeat
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from weakref import WeakSet

from alveus.clock import Clock, Ticker
from alveus.drafts import account_of, check_draft, item_of, opening_of_chain
from alveus.errors import AlveusError, InputError, JournalError, NotFound, StoreError, StoreUncertain
from alveus.journal.chain import Link, opening_of
from alveus.journal.record import DURABLE_KINDS, Draft, Kind, Novelty, Profile, SignedRecord, Source
from alveus.journal.seal import Checked, Sealed, digest, seal
from alveus.novelty import CACHE_SIZE, Embedder, EmbeddingNovelty, NoveltyJudge, Prepared, Trial, WordsNovelty, words
from alveus.store import snapshot
from alveus.store.creation import agents_locked, archives
from alveus.store.files import Files, create, exists, sync_folder
from alveus.store.keys import new_key
from alveus.store.layout import Layout
from alveus.store.log import Moved, Turn
from alveus.store.origins import Item, Origins, digest_of
from alveus.store.past import Past, checked_at, content_of, line_of, place_of
from alveus.store.stream import Batch, Stream, Torn, beside, torn_files
from alveus.store.succession import closed_chain, finish_succession, load_keys, predecessors
from alveus.store.vectors import Vectors, caught_up

if TYPE_CHECKING:
    from alveus.novelty.embedding import Vector
    from alveus.store.search import Search

_UNASKED: Final[Any] = object()
SNAPSHOT_RECORDS: Final = 8192
SNAPSHOT_AT_CLOSE: Final = 256
_INDEXED_AT_CLOSE: Final = 4096
_GATHER_SECONDS: Final = 0.00005
"""A look at who else comes: a thread that was just woken takes about as long to its next record."""
_MADE: Final = 8192
"""Vectors of contents that were judged by them, kept until recall wants them too."""
_OF_ONE: Final = (InputError, JournalError)
"""Errors that speak of one request, and not of the disk or the lock that all share."""
RELOADS: Final = 20
"""Times that everything is opened again when another process replaces the files in between."""
_PASSING: Final = frozenset({"stream_missing", "wrong_key", "bad_head", "head_missing", "key_missing", "fork_of_head"})
"""What a reader may meet for a moment while another process changes the key."""


class Stored(StrEnum):
    """What became of a draft."""

    NEW = "new"
    KNOWN = "known"
    REVISED = "revised"


class Outcome(NamedTuple):
    """A draft's fate: its record, or for a known item the record that holds it already."""

    status: Stored
    record: SignedRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class Rotation:
    """A change of key: spec/journal.md, section 9."""

    old_kid: str
    new_kid: str
    old_chain: str
    new_chain: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How an agent's journal is opened."""

    read_only: bool
    timeout: float
    clock: Clock
    embedder: Embedder | None
    """Judges novelty, and recalls by meaning."""
    recalls_by: Callable[[], Embedder | None]
    """Finds who recalls by meaning where `embedder` is None; called with the first question."""
    words_window: int | None


class Agent:
    """An agent's journal, open."""

    def __init__(self, layout: Layout, files: Files, options: Options) -> None:
        self.layout = layout
        self.files = files
        self.options = options
        self.ticker = Ticker(options.clock)
        self._origins: Origins | None = None
        self._search: Search | None = None
        self._recalls_by: EmbeddingNovelty | None = _UNASKED
        self._made: dict[str, Vector] = {}
        self._torn: list[Torn] = []
        self._to_embed: deque[str] = deque(maxlen=CACHE_SIZE)
        self.renew_locks()
        self._opened: list[Stream] = []
        _agents.add(self)
        try:
            self._begin()
        except BaseException:
            self._let_go()
            raise

    def _begin(self) -> None:
        for tries in range(1, RELOADS + 1):
            try:
                self._open_all()
            except Moved:
                continue
            except (JournalError, NotFound) as error:
                if error.code not in _PASSING or tries == RELOADS:
                    raise
                # Another process may be moving these files: it holds the home's lock until they fit together again.
                with agents_locked(self.files, self.layout, self.options.timeout):
                    pass
            else:
                return
        raise StoreError("the journal is being replaced again and again", code="moved", hint="look who writes there")

    def _open_all(self) -> None:
        self.ring = load_keys(self.files, self.layout)
        if not self.options.read_only and self._needs_succession():
            self.ring = finish_succession(self.files, self.layout, self.ring, self.options.timeout)
        opened = [self._open(self.layout.stream, self.ring.current.kid, read_only=self.options.read_only)]
        try:
            chains = predecessors(self.files, self.layout, self.ring, opened[0].link.chain)
            for one in chains:
                opened.append(self._open(one.path, one.kid, read_only=True))  # noqa: PERF401  (each is to be closed)
        except BaseException:
            for stream in opened:
                stream.log.close()
            raise
        self._opened += opened
        self.stream, *self.closed = opened
        self.past = Past([*self.closed, self.stream])
        self.unread = self._unread({one.chain for one in chains})
        self.stream.followers.append(self._follow)
        self._restore_novelty()
        if not self.stream.refused:
            self._torn = torn_files(self.files, self.layout.folder)
            if self._torn or self.stream.torn or (self.stream.link.size == 0 and self.closed):
                self._append([], durable=True, force_clock=False)

    def _unread(self, read: set[str]) -> tuple[str, ...]:
        """The closed journals of this agent that cannot be read as its past, one sentence each."""
        there = [name for name in archives(self.files, self.layout) if name not in read]
        said = [
            f"the closed journal stream-{name}.jsonl is damaged or not of this past: `alveus verify`" for name in there
        ]
        first = checked_at(self.stream, 0) if self.stream.link.size else None
        opening = opening_of(first.object()["metadata"]) if first is not None and not self.stream.link.basic else None
        if opening is not None and not read and not there:
            said.append(
                f"the journal that this one continues, chain {opening['prev_chain']}, is missing: `alveus verify`"
            )
        return tuple(said)

    def _needs_succession(self) -> bool:
        if not exists(self.files, self.layout.stream):
            return True
        return closed_chain(self.files, self.ring, self.layout.stream) is not None

    def _open(self, path: Path, kid: str, *, read_only: bool) -> Stream:
        key = self.ring.get_required(kid)
        return Stream(path, self.files, key, self.layout.agent_id, read_only=read_only, timeout=self.options.timeout)

    def renew_locks(self) -> None:
        """Locks that no other thread of this process can hold: at the beginning, and in a forked child."""
        self._waiting: deque[_Request] = deque()
        self._writing = threading.RLock()
        self._origins_guard = threading.RLock()
        self._search_guard = threading.RLock()

    def refresh(self) -> None:
        """See what others have appended."""
        self.stream.refresh()

    def reload(self, seen: Stream) -> None:
        """Open everything again, after the files of `seen` were replaced: by a rotation, a rescue, an old backup."""
        with self._writing:
            if self.stream is seen:  # else another thread has done it
                self._begin()  # the old files stay open until `close`: a thread may be reading or syncing them

    def _let_go(self) -> None:
        for stream in self._opened:
            stream.log.close()

    def close(self) -> None:
        """Save what is derived, write the head, let the files go."""
        try:
            if not self.stream.refused and not self.stream.log.poison:
                self.stream.log.wait(self.stream.log.count)
                enough = 1 if self.judge.embedding is not None else SNAPSHOT_AT_CLOSE
                late = self.judge.next_seq - self._saved_at
                if self._origins is not None or late >= enough:
                    # It is derived: where it cannot be saved it is made again.
                    with contextlib.suppress(AlveusError, OSError, Moved):
                        self._save_derived()
                        if late >= SNAPSHOT_AT_CLOSE:
                            self._index_some()
        finally:
            try:
                self.stream.close()
            finally:
                self._let_go()
            if self._origins is not None and self._origins.pid == os.getpid():
                self._origins.close()
            if self._search is not None and self._search.pid == os.getpid():
                self._search.close()
        log = self.stream.log
        if log.poison and log.synced < log.count:
            raise StoreUncertain(log.poison, code="poisoned", hint="open the journal again and look what is there")

    def _index_some(self) -> None:
        """Index what is not indexed yet, if that takes less than a second: readers cannot write it down."""
        size = sum(stream.link.size for stream in self.streams())
        if size > _INDEXED_AT_CLOSE and self._search is None and not (self.layout.folder / "recall.db").exists():
            return  # spared the stemmers and word lists that come with opening it
        if size - self.search().count() <= _INDEXED_AT_CLOSE:
            self.search().catch_up(self.streams())

    # Writing

    def append(self, drafts: Sequence[Draft], *, durable: bool = False, force_clock: bool = False) -> list[Outcome]:
        """Record what is not known yet, in one write. All or nothing: an unacceptable draft refuses the batch.

        One thread at a time writes, for all who wait: eight that record at once share a lock, a write and a sync.
        """
        for draft in drafts:
            check_draft(draft)
        return self._append(drafts, durable=durable, force_clock=force_clock)

    def record(self, draft: Draft, *, durable: bool = False, force_clock: bool = False) -> SignedRecord:
        """As `append` of one draft, for most of which there is a short way; the record that holds it."""
        check_draft(draft)
        durable = durable or draft.kind in DURABLE_KINDS
        made = self._record_usual(draft, durable=durable, force_clock=force_clock)
        return made or self._append((draft,), durable=durable, force_clock=force_clock)[0].record

    def _record_usual(self, draft: Draft, *, durable: bool, force_clock: bool) -> SignedRecord | None:
        """One record, alone, judged by words, of no known source; None where it is anything else: nothing was done.

        What `_append` does for such a record, without what several drafts, threads and an embedder need.
        """
        stream, writing = self.stream, self._writing
        if draft.origin is not None or self._to_embed or self.judge.embedding is not None:
            return None
        if stream.refused or (durable and not stream.log.is_idle()):
            return None
        try:
            if not writing.acquire(blocking=False):
                return None  # another thread is at it: what comes meanwhile is written together
            stream = self.stream
            made = self._write_usual(stream, draft, force_clock=force_clock)
        finally:  # an interrupt can come as soon as it is taken
            if writing._is_owned():  # type: ignore[attr-defined]  # noqa: SLF001  (as `Condition` asks it)
                writing.release()
        if made is not None and made.hc is not None:
            stream.settle(made.hc.seq + 1, durable=durable)
            self._save_sometimes()
        return made

    def _write_usual(self, stream: Stream, draft: Draft, *, force_clock: bool) -> SignedRecord | None:
        log, state = stream.log, self.judge.words
        log.lock()
        try:
            link = stream.link
            if not link.size or link.closing is not None or stream.refused or stream.torn or self._torn:
                return None
            found = words(draft.content)
            novelty, _, by = state.judge_words(found)
            sealed = self._sealed(draft, link, novelty, by, force_clock=force_clock)
            record, line = sealed
            after = link.copy()
            after.advance(line, record.record_id, record.timestamp)
            stream.commit(line + b"\n", (sealed,), after)
            state.learn_words(state.next_seq, found)
            return record
        finally:
            log.unlock()

    def _sealed(self, draft: Draft, link: Link, novelty: Novelty, by: str, *, force_clock: bool) -> Sealed:
        """The draft as the record that follows `link`."""
        stream, size = self.stream, link.size
        timestamp, clock = self.ticker.tick(link.last_time, stream.closed_through, force=force_clock)
        synced = stream.log.synced
        hc = Profile(  # by place: one is made for every record, and naming the fields takes twice the time
            link.chain or "",
            size,
            link.last_line,
            stream.key.kid,
            novelty,
            by,
            min(synced, size) - 1,
            draft.src,
            draft.user,
            draft.session,
            draft.event_time,
            draft.origin,
            draft.part,
            clock,
        )
        return seal(
            stream.key,
            agent_id=self.layout.agent_id,
            kind=draft.kind,
            content=draft.content,
            metadata=draft.metadata,
            hc=hc,
            prev_id=link.last_id,
            timestamp=timestamp,
        )

    def rotate(self) -> Rotation:
        """New key durable, closing record, head; then the next opening does the rest: spec/journal.md, section 9."""
        import secrets  # noqa: PLC0415  (as in `store.creation`)

        old, link = self.stream.key, self.stream.link
        self.stream.check_writable()
        key, chain = new_key(), secrets.token_hex(16)
        path = self.layout.old_key(key.kid)
        key.hand_over(lambda secret: create(self.files, path, secret))
        sync_folder(self.files, path.parent)
        rotation = Rotation(old_kid=old.kid, new_kid=key.kid, old_chain=link.chain or "", new_chain=chain)
        self.close_chain(key.kid, chain)
        with contextlib.suppress(Moved):  # another process finishes the change of key already
            self.stream.save_head()
        self.reload(self.stream)
        return rotation

    def close_chain(self, next_kid: str, next_chain: str) -> None:
        """Write the closing record, durably: spec/journal.md, section 9."""
        draft = Draft(
            kind=Kind.IDENTITY_CHANGE,
            content=f"The journal closes here; chain {next_chain} continues it under key {next_kid}.",
            metadata={"closing": {"next_kid": next_kid, "next_chain": next_chain}},
            src=Source.SYSTEM,
        )
        self._append([draft], durable=True, force_clock=False)

    def _append(self, drafts: Sequence[Draft], *, durable: bool, force_clock: bool) -> list[Outcome]:
        request = self._prepare(drafts, force_clock=force_clock)
        if not durable:
            for draft in drafts:
                if draft.kind in DURABLE_KINDS:
                    durable = True
                    break
        if durable and drafts:
            self._write_together(request)
        else:
            self._waiting.append(request)
            self._write_waiting(request)
            request.settle(durable=durable)
        self._save_sometimes()
        return request.outcomes

    def _save_sometimes(self) -> None:
        if self.judge.next_seq - self._saved_at >= SNAPSHOT_RECORDS:
            # The records are in the journal: what is derived from them may fail, they may not, nor be written twice.
            with contextlib.suppress(AlveusError, OSError, Moved):
                self._save_derived()

    def _prepare(self, drafts: Sequence[Draft], *, force_clock: bool) -> _Request:
        """What has to be done before the lock is taken: known origins catch up, the model is called."""
        if self.stream.refused:
            self.stream.check_writable()
        for draft in drafts:
            if draft.origin is not None or self._torn:
                self._catch_up_origins()
                break
        if self._to_embed:
            self._embed_followed()
        return _Request(drafts, self._embed_drafts(drafts), force_clock=force_clock)

    def _embed_drafts(self, drafts: Sequence[Draft]) -> Sequence[Prepared]:
        """The drafts' vectors, together, kept for recall; a draft that could not be embedded says why."""
        embedding = self.judge.embedding
        if embedding is None:
            return ()
        contents = [draft.content for draft in drafts]
        made = embedding.embed_many(contents) if len(contents) > 1 else [None] * len(contents)
        prepared: list[Prepared] = []
        failure = ""
        for content, vector in zip(contents, made, strict=True):
            if vector is not None or (failure and content.strip()):  # each that has none was tried alone: one says why
                prepared.append(Prepared(vector=vector, failure="" if vector is not None else failure))
            else:
                prepared.append(self.judge.prepare(content))
                failure = prepared[-1].failure
        with self._search_guard:
            for content, one in zip(contents, prepared, strict=True):
                if one.vector is not None:
                    self._made[content] = one.vector
            while len(self._made) > _MADE:
                del self._made[next(iter(self._made))]
        return prepared

    def _embed_for_recall(self, contents: list[str]) -> list[Vector | None]:
        """Vectors of contents; of those that were just judged by theirs, these."""
        meaning = self.meaning
        with self._search_guard:
            found: list[Vector | None] = [self._made.get(content) for content in contents]
        left = [at for at, vector in enumerate(found) if vector is None]
        made = meaning.embed_many([contents[at] for at in left]) if meaning is not None and left else [None] * len(left)
        for at, vector in zip(left, made, strict=True):
            found[at] = vector
        return found

    def _write_together(self, request: _Request) -> None:
        """Write and sync durable records together with those of all threads that come in while a sync is under way."""
        log = self.stream.log
        try:
            request.turn = log.queue()
            self._waiting.append(request)
            if request.turn is not None and not request.turn.wait():
                log.take_over()
            if log.company > 1 and request.is_open():
                self._gather(log.company)
            self._write_waiting(request)
            request.settle(durable=True)
        finally:
            log.pass_on()

    def _gather(self, company: int) -> None:
        """Wait a moment for those who were served by the last sync and record again at once, while any come."""
        there = 0
        while there < len(self._waiting) < company:
            there = len(self._waiting)
            time.sleep(_GATHER_SECONDS)

    def _write_waiting(self, mine: _Request) -> None:
        """Have `mine` written, by this thread or another: one writes for all that wait."""
        if mine.is_open():
            with self._writing:
                if mine.is_open():
                    requests: list[_Request] = []
                    while self._waiting:
                        requests.append(self._waiting.popleft())
                    self._write_requests(requests)

    def _write_requests(self, requests: list[_Request]) -> None:
        """Write them in one batch; where one is unacceptable, each on its own."""
        try:
            self._write(requests)
        except (AlveusError, OSError, Moved) as error:
            if len(requests) > 1 and (isinstance(error, _OF_ONE) or getattr(error, "code", "") == "clock_jump"):
                for request in requests:
                    self._write_requests([request])
                return
            for request in requests:
                request.error = error
        except BaseException:
            for request in requests:
                request.error = StoreUncertain("another thread was interrupted while it wrote this", hint="look for it")
            raise

    def _write(self, requests: list[_Request]) -> None:
        with Batch(self.stream) as batch:
            if batch.is_closed():
                raise Moved
            writing = _Writing(self, batch)
            if self._torn or self.stream.torn or not batch.link.size:
                for draft in self._prelude(batch):
                    writing.add(draft)
            made = 0
            for request in requests:
                if batch.link.closing is not None:
                    break  # nothing stands behind a closing record: the others go to the chain that continues it
                request.outcomes = outcomes = []
                for draft, ready in zip(request.drafts, request.prepared or repeat(None)):  # noqa: B905
                    outcomes.append(writing.add(draft, ready, force_clock=request.force_clock))
                made += 1
            count = batch.commit()
            writing.trial.accept()  # the batch is written: what was learned from it stands
        for request in requests[made:]:
            request.error = Moved()
        for request in requests[:made]:
            request.count, request.stream = count, self.stream
            if request.turn is not None:
                request.turn.count = count

    def _prelude(self, batch: Batch) -> list[Draft]:
        """What has to be written first: a successor's opening record, the accounts of torn tails."""
        drafts = [opening_of_chain(self.closed[-1])] if batch.link.size == 0 and self.closed else []
        self._torn += self.stream.torn
        self.stream.torn.clear()
        for torn in self._torn:
            account = account_of(torn)
            if not self.finditem_of(account):
                drafts.append(account)
        self._torn.clear()
        return drafts

    # Novelty

    def _follow(self, record: Checked) -> None:
        """Another writer's record: judge by it what comes after it."""
        content = content_of(record.line)
        self.judge.learn(self.judge.next_seq, content)
        self._to_embed.append(content)

    def _embed_followed(self) -> None:
        """Vectors for what others recorded: a model is called, so no lock is held."""
        embedding = self.judge.embedding
        while self._to_embed:
            content = self._to_embed.popleft()
            vector = self.judge.prepare(content).vector if embedding is not None else None
            if embedding is not None and vector is not None:
                embedding.learn(embedding.next_seq, vector)

    def _restore_novelty(self) -> None:
        """The novelty state at the end of the chain: from the snapshot and what followed it, else from the records."""
        options = self.options
        saved = snapshot.load(self.files, beside(self.layout.stream, ".words"), self.stream.key)
        judge = self._judge_in(saved)
        if saved is not None and judge is not None and not judge.notes:
            self.judge = judge
            starts = [(self.stream, place_of(self.stream, saved.size))]
        else:
            embedding = EmbeddingNovelty(options.embedder) if options.embedder is not None else None
            notes = judge.notes if judge is not None else ()
            self.judge = NoveltyJudge(WordsNovelty(options.words_window), embedding, notes=notes)
            starts = self.past.newest(options.words_window)
        self._saved_at = self.judge.next_seq  # what follows is read again by each opening, until somebody saves it
        for stream, start in starts:
            for _, line in stream.forwards(start):
                content = content_of(line)
                self.judge.learn(self.judge.next_seq, content)
                self._to_embed.append(content)

    def _judge_in(self, saved: snapshot.Snapshot | None) -> NoveltyJudge | None:
        """The saved judge, where it is of this journal; its notes say what of it does not fit this opening."""
        link = self.stream.link
        if saved is None or saved.chain != link.chain or saved.size > link.size or not self._is_prefix(saved):
            return None
        return NoveltyJudge.load(saved.state, window=self.options.words_window, embedder=self.options.embedder)

    def _is_prefix(self, saved: snapshot.Snapshot) -> bool:
        """Whether the journal still begins with what the snapshot was taken of."""
        if saved.size == 0:
            return True
        return digest(line_of(self.stream, saved.size - 1)) == saved.last_line_sha256

    def _save_derived(self) -> None:
        """Save the novelty state and the origins; only for what is on disk."""
        with self.stream.log.locked():
            link, judge = self.stream.link.copy(), self.judge.copy()
            self._saved_at = judge.next_seq
        self.stream.log.wait(link.size)
        if self._origins is not None:
            self._origins.save(link.chain or "", self.stream.log.synced)
        saved = snapshot.Snapshot(
            chain=link.chain or "", size=link.size, last_line_sha256=link.last_line, state=judge.dump()
        )
        snapshot.save(self.files, beside(self.layout.stream, ".words"), self.stream.key, saved)

    # Recall

    def streams(self) -> list[Stream]:
        """Every chain's stream, oldest first, the last of them live."""
        return [*self.closed, self.stream]

    def search(self) -> Search:
        """The full-text index, open."""
        with self._search_guard:
            from alveus.store.search import Search  # noqa: PLC0415  (stemmers and word lists come with the first question)

            if self._search is None or self._search.pid != os.getpid():
                if self._search is not None:
                    _inherited.append(self._search)
                self._search = Search(self.layout.folder / "recall.db", read_only=self.options.read_only)
            return self._search

    @property
    def meaning(self) -> EmbeddingNovelty | None:
        """What turns texts into vectors for recall: what judges novelty, else the one that recalls."""
        if self.judge.embedding is not None:
            return self.judge.embedding
        with self._search_guard:
            if self._recalls_by is _UNASKED:
                found = self.options.recalls_by()
                self._recalls_by = None if found is None else EmbeddingNovelty(found)
            return self._recalls_by

    def vector_of(self, text: str) -> Vector | None:
        """A text's unit vector [dims]; None without an embedder, or when it fails."""
        return self.meaning.embed_many([text])[0] if self.meaning is not None else None

    def vectors(self, most: int | None = None, told: Callable[[int], None] | None = None) -> dict[str, Vectors]:
        """The vectors of each chain, by its name, caught up by `most` records; empty without an embedder."""
        meaning = self.meaning
        if meaning is None:
            return {}
        made: dict[str, Vectors] = {}
        for stream in self.streams():
            made[stream.link.chain or ""] = caught_up(
                stream,
                self._embed_for_recall,
                by=meaning.by,
                dims=meaning.embedder.dims,
                read_only=self.options.read_only,
                most=most,
                told=told,
            )
        return made

    def recall_notes(self) -> tuple[str, ...]:
        """What the index, if it was asked for, has to say."""
        search = self._search
        if search is None:
            return ()
        behind = f"the index for recall is {search.behind} records behind: ask again" if search.behind else ""
        return tuple(note for note in (search.note, behind) if note)

    # Origins: spec/journal.md, section 4

    def _catch_up_origins(self) -> Origins:
        with self._origins_guard:
            if self._origins is None or self._origins.pid != os.getpid():
                self._origins = Origins(self.layout.folder / "memory.db")
            for stream in (*self.closed, self.stream):
                chain = stream.link.chain or ""
                size, offset = self._origins.progress(chain)
                if offset > stream.link.offset:
                    self._origins.forget()  # it speaks of another history
                    size, offset = 0, 0
                end = stream.link.offset
                if offset < end:
                    synced = stream.link.size if stream is not self.stream else stream.log.synced
                    self._origins.read(chain, stream.forwards(offset), size, end=end, on_disk=synced)
            return self._origins

    def finditem_of(self, draft: Draft) -> dict[bytes, SignedRecord]:
        """The records that hold the draft's item, by the digest of their content. Under the lock."""
        origins = self._catch_up_origins()
        for _ in range(2):
            known = origins.find(item_of(draft))
            records = {value: self._record_at(place.chain, place.offset, draft) for value, place in known.items()}
            if None not in records.values():
                return {value: record for value, record in records.items() if record is not None}
            origins.forget()  # it named a record that is not there: it is made again from the journal
            origins = self._catch_up_origins()
        raise JournalError(
            f"a record with origin {draft.origin} is not valid", code="bad_origin", hint="run `alveus verify`"
        )

    def _record_at(self, chain: str, offset: int, draft: Draft) -> SignedRecord | None:
        stream = next((one for one in (*self.closed, self.stream) if one.link.chain == chain), None)
        checked = checked_at(stream, offset) if stream is not None and offset < stream.link.offset else None
        record = checked.record() if checked is not None else None
        if record is None or record.hc is None:
            return None
        return record if item_of(record.hc) == item_of(draft) else None


class _Request:
    """What one thread wants recorded, and what became of it once `stream` or `error` is set."""

    __slots__ = ("count", "drafts", "error", "force_clock", "outcomes", "prepared", "stream", "turn")

    def __init__(self, drafts: Sequence[Draft], prepared: Sequence[Prepared], *, force_clock: bool) -> None:
        self.drafts = drafts
        self.prepared = prepared
        self.force_clock = force_clock
        self.outcomes: list[Outcome] = []
        self.count = 0
        self.stream: Stream | None = None
        self.error: Exception | None = None
        self.turn: Turn | None = None

    def is_open(self) -> bool:
        """Whether nobody has written it yet."""
        return self.stream is None and self.error is None

    def settle(self, *, durable: bool) -> None:
        """Have it on disk, now or soon; raises what the thread that wrote it met."""
        if self.error is not None:
            raise self.error
        if self.stream is None:
            raise StoreUncertain("nobody wrote this", hint="record it again")
        if not durable:  # a known item is as durable as the record that holds it
            for outcome in self.outcomes:
                durable = durable or outcome.record.kind in DURABLE_KINDS
        self.stream.settle(self.count, durable=durable)


class _Writing:
    """One batch being built under the lock. Nothing it learns is kept unless the batch is written."""

    __slots__ = ("_agent", "_batch", "_fresh", "trial")

    def __init__(self, agent: Agent, batch: Batch) -> None:
        self._agent = agent
        self._batch = batch
        self.trial = Trial(agent.judge)
        self._fresh: dict[Item, dict[bytes, SignedRecord]] = {}

    def add(self, draft: Draft, prepared: Prepared | None = None, *, force_clock: bool = False) -> Outcome:
        """Seal the draft at the end of the batch, unless its item is known with this very content."""
        if draft.origin is None:
            return Outcome(Stored.NEW, self._seal(draft, prepared, force_clock=force_clock))
        item = item_of(draft)
        held = self._fresh.setdefault(item, {}) or self._agent.finditem_of(draft)
        value = digest_of(draft.content)
        if value in held:
            return Outcome(Stored.KNOWN, held[value])
        record = self._seal(draft, prepared, force_clock=force_clock)
        self._fresh[item] = {**held, value: record}
        return Outcome(Stored.REVISED if held else Stored.NEW, record)

    def _seal(self, draft: Draft, prepared: Prepared | None, *, force_clock: bool) -> SignedRecord:
        novelty, _, by = self.trial.judge(draft.content, prepared)
        sealed = self._agent._sealed(draft, self._batch.link, novelty, by, force_clock=force_clock)  # noqa: SLF001
        self._batch.add(sealed)
        self.trial.learn(prepared)
        return sealed.record


_agents: WeakSet[Agent] = WeakSet()
_inherited: list[Search] = []
"""Indexes that a forked child got from its parent: SQLite must not close there what the parent has open."""


def _renew_locks() -> None:
    for agent in _agents:
        agent.renew_locks()


os.register_at_fork(after_in_child=_renew_locks)
