"""The shell: it holds the key, the clock and the store, and every method is a short list of steps.

`record` is where a thing becomes true: a door's words are judged, sealed, appended and, by their class, synced.
Everything else reads, and what leaves here was checked against its signature on the way out.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import date, datetime
from enum import StrEnum
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Self, TypeVar

from alveus.agent import RELOADS, Agent, Options, Outcome, Rotation
from alveus.clock import Clock, SystemClock
from alveus.context import Context, Estimate, Known, assemble
from alveus.errors import InputError, JournalError, Locked, NotFound, StoreError
from alveus.journal.chain import ChainVerdict, Fault
from alveus.journal.head import is_day
from alveus.journal.record import Draft, Kind, SignedRecord, Source
from alveus.novelty import WINDOW, Embedder
from alveus.recall import DayOfNovelty, Found, Recalled, newest, newest_exchange, selective_load
from alveus.store.creation import agents_locked, archives, create_journal, is_begun
from alveus.store.files import DISK, Files
from alveus.store.layout import Layout, make_layout
from alveus.store.log import Moved
from alveus.store.succession import load_keys
from alveus.store.vectors import notes_of

if TYPE_CHECKING:
    from alveus.anchoring import AnchoredDay, MontanaExport
    from alveus.audit.receipt import OutcomeReceipt
    from alveus.compiling import Compilation, Compiling, Status
    from alveus.compiling.history import Identity, Step
    from alveus.compiling.model import Model
    from alveus.compiling.reading import Canon
    from alveus.compiling.serving import Served
    from alveus.compiling.shelf import Kernels
    from alveus.kernels.drift import Drift
    from alveus.promoting import Tiers
    from alveus.promoting.following import Follower
    from alveus.promoting.moving import Promoted, Reconciled
    from alveus.promoting.reading import Facts
    from alveus.tiers.policy import Scope
    from alveus.tiers.retrieval import Retrieved
    from alveus.tiers.summary import Summarizer

DEFAULT_AGENT: Final = "default"
LOOK_FOR_TIERS: Final = 0.1
"""Seconds between looks whether there are tiers by now: a look costs a tenth of a record."""
CLOSING: Final = 10.0
"""Seconds that `close` waits for what is due in the tiers."""
Told = Callable[[str, int, int], None]
T = TypeVar("T")
M = TypeVar("M", bound=StrEnum)


class Hippocampus:
    """An agent's memory. Open it with `Hippocampus.open`, as a context manager; safe from any thread."""

    def __init__(self, agent: Agent, summarizer: Summarizer | str | None = None, *, tiers: bool | None = False) -> None:
        self._agent = agent
        self._summarizer = summarizer
        self._tiers: Tiers | None = None
        self._tiers_guard = threading.Lock()
        self._keeps_tiers = tiers
        self._database = str(agent.layout.folder / "tiers.db")
        self._look_for_tiers = 0.0
        self._kernels = str(agent.layout.folder / "kernels")
        self._follower: Follower | None = None
        self.not_remade = ""
        """What the last `prepare_recall(anew=True)` could not make again, in words; it is as it was."""

    @classmethod
    def open(
        cls,
        *,
        home: Path | str | None = None,
        agent_id: str | None = None,
        key_file: Path | str | None = None,
        create: bool = True,
        existing_key: bool = False,
        read_only: bool = False,
        lock_timeout: float = 10.0,
        embedder: Embedder | str | None = None,
        words_window: int | None = WINDOW,
        summarizer: Summarizer | str | None = None,
        tiers: bool | None = None,
        clock: Clock | None = None,
        files: Files = DISK,
    ) -> Self:
        """Open an agent's journal; begin one, with a new key, where there has never been any.

        `home` defaults to ALVEUS_HOME, else the user's data folder; `agent_id` to ALVEUS_AGENT, else `default`; the key
        lies under the home or where ALVEUS_KEY_FILE says. `embedder` (or ALVEUS_EMBEDDER) judges novelty and recalls by
        meaning: one of your own, or a name (`default`, `sentence-transformers:…`, `openai:…`, `none`); where nothing is
        said words judge, and the default one recalls. `words_window` counts records, None never forgets a word.
        `summarizer` (or ALVEUS_MODEL) helps to promote: one of your own, or `openai:MODEL`, or `none`. `tiers` (or
        ALVEUS_TIERS, `on` or `off`) has what is due promoted in the background; unless said, where there are tiers.
        Raises NotFound (`create` false and no journal), InputError, StoreError, Locked, and JournalError when the
        files contradict each other or the key: nothing is changed then.
        """
        _path(key_file=key_file)
        layout = make_layout(find_home(home), find_agent(agent_id), Path(key_file) if key_file else None)
        judging, recalls_by = _embedders(embedder)
        keeps = False if read_only else _keeps_tiers(tiers)
        options = Options(
            read_only=read_only,
            timeout=lock_timeout,
            clock=clock or SystemClock(),
            embedder=judging,
            recalls_by=recalls_by,
            words_window=words_window,
        )
        with _telling(layout.folder):
            if existing_key or not is_begun(files, layout):
                if read_only or not create:
                    raise NotFound(
                        f"there is no journal for agent {layout.agent_id!r} in {layout.home}",
                        hint="`alveus init` begins one; check --home and --agent",
                    )
                create_journal(files, layout, timeout=lock_timeout, existing_key=existing_key)
            return cls(Agent(layout, files, options), summarizer, tiers=keeps)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Have everything on disk, write the head, let the files go.

        What is due in the tiers is waited for up to ten seconds, and left to the next opening then.
        """
        with _telling(self.folder):
            try:
                self._end_following()
            finally:
                if self._tiers is not None:
                    self._tiers.close()
                self._agent.close()

    @property
    def agent_id(self) -> str:
        """The agent whose memory this is."""
        return self._agent.layout.agent_id

    @property
    def home(self) -> Path:
        """The folder all agents' memories lie in."""
        return self._agent.layout.home

    @property
    def folder(self) -> Path:
        """This agent's folder."""
        return self._agent.layout.folder

    @property
    def layout(self) -> Layout:
        """Where this agent's files lie."""
        return self._agent.layout

    @property
    def read_only(self) -> bool:
        """Whether nothing can be recorded; `refused` says why."""
        return bool(self.refused)

    @property
    def refused(self) -> str:
        """Why this journal cannot be written, or an empty string."""
        return self._agent.stream.refused

    # Writing

    def record(
        self,
        kind: Kind | str,
        content: str,
        metadata: Mapping[str, Any] | None = None,
        *,
        src: Source | str = Source.AGENT,
        user: str | None = None,
        session: str | None = None,
        event_time: str | None = None,
        origin: str | None = None,
        part: tuple[int, int] | None = None,
        durable: bool = False,
        force_clock: bool = False,
    ) -> SignedRecord:
        """Append one record and return it: seed section 3.

        Decisions, identity changes, transfers and errors are on disk when this returns; states and observations within
        50 ms, or at once with `durable`. A known `origin` returns the record that holds it. Raises InputError for what
        the format cannot hold, StoreError when nothing was recorded, StoreUncertain when that cannot be told.
        """
        draft = Draft(  # by place, as the profile is
            kind if type(kind) is Kind else _member(Kind, kind),
            content,
            metadata or {},
            src if type(src) is Source else _member(Source, src),
            user,
            session,
            event_time,
            origin,
            part,
        )
        made = self._again(lambda: self._agent.record(draft, durable=durable, force_clock=force_clock))
        if self._keeps_tiers is not False:
            self._follow((user,))
        return made

    def record_many(self, drafts: Iterable[Draft], *, durable: bool = False) -> list[Outcome]:
        """Append a batch under one lock and in one write; all or nothing. Raises as `record`."""
        given: object = drafts
        batch = tuple(drafts) if isinstance(given, Iterable) else ()  # it may be gone through more than once
        drawn: tuple[object, ...] = batch if isinstance(given, Iterable) else (given,)
        if not all(isinstance(draft, Draft) for draft in drawn):
            raise InputError("that is no sequence of drafts", hint="pass a list of Draft(kind=…, content=…)")
        made = self._again(lambda: self._agent.append(batch, durable=durable))
        if self._keeps_tiers is not False:
            self._follow(draft.user for draft in batch)
        return made

    def flush(self) -> None:
        """Return once everything recorded so far is on disk. Raises StoreUncertain if that cannot be told."""
        self._again(lambda: self._agent.stream.log.wait(self._agent.stream.log.count))

    def rotate(self) -> Rotation:
        """Close this chain and continue under a new key: spec/journal.md, section 9. The old key is kept."""
        return self._again(self._agent.rotate)

    # Reading

    def iter_records(self, *, newest_first: bool = False) -> Iterator[SignedRecord]:
        """Every record of every chain, checked, one at a time. Raises JournalError at the first that is not valid."""
        self._refresh()
        past = self._agent.past
        with _telling(self.folder):
            for found in past.newest_first(include_routine=True) if newest_first else past.oldest_first():
                if isinstance(found, Fault):
                    raise JournalError(
                        f"a record (byte {found.offset}) is not valid: {found.detail}",
                        code=found.code,
                        hint="run `alveus verify`",
                    )
                yield found

    def get(self, record_id: str) -> SignedRecord:
        """The record of that id (32 hex digits). Raises NotFound, or JournalError if it fails its check."""
        _text(record_id=record_id)
        if _RECORD_ID(record_id) is None:
            raise InputError(f"{record_id!r} is not a record id: 32 lower-case hex digits", hint="copy it whole")
        self._refresh()
        return self._again(lambda: self._agent.past.find(record_id))

    def cited(self, short: str) -> SignedRecord:
        """The record that a kernel names by the beginning of its id, 8 hex digits or more.

        Raises InputError where no record begins so, or several do, and JournalError as `get`.
        """
        _text(short=short)
        if _SHORT_ID(short) is None:
            raise InputError(f"{short!r} is no beginning of a record id: 8 to 32 lower-case hex digits")
        self._refresh()
        return self._again(lambda: self._agent.past.beginning(short))

    def selective_load(
        self,
        budget: int,
        chars_per_token: int = 4,
        include_routine: bool = False,  # noqa: FBT001, FBT002  (the seed's signature)
    ) -> Recalled:
        """The newest informative records within `budget × chars_per_token` characters, oldest first: seed section 7."""
        _positive(budget=budget, chars_per_token=chars_per_token)
        self._refresh()
        return self._again(
            lambda: selective_load(
                self._agent.past.newest_first(include_routine=include_routine), budget, chars_per_token
            )
        )

    def pattern_completion(
        self,
        query: str,
        top_k: int = 5,
        *,
        user: str | None = None,
        kinds: Iterable[Kind | str] | None = None,
        since: date | str | None = None,
        until: date | str | None = None,
        session: str | None = None,
        asked_at: datetime | None = None,
        explain: bool = False,
    ) -> Recalled:
        """What in the past is like `query`, best first: seed section 8. The journal is not written.

        Only records of `user` and `session`, of one of `kinds`, that happened from `since` to `until` (a day, or an ISO
        8601 instant with its zone) are looked at. `asked_at` is what «yesterday» is relative to: now, unless given.
        With `explain` the answer says of each record why. Raises InputError for what cannot be asked.
        """
        from alveus.completion import Question, complete, scope_of  # noqa: PLC0415  (stemmers, numpy: with the first one)

        _positive(top_k=top_k)
        _text(query=query)
        if asked_at is not None and not isinstance(asked_at, datetime):
            raise InputError(f"asked_at is {asked_at!r}, not a time", hint="pass a datetime")
        scope = scope_of(user=user, kinds=kinds, since=since, until=until, session=session)
        if not (asked_at is None or isinstance(asked_at, datetime)):
            raise InputError(f"asked_at is {asked_at!r}, not a time", hint="pass a datetime")
        now = asked_at or self._agent.options.clock.now()
        question = Question(text=query, now=now, scope=scope, explain=explain)
        self._refresh()
        return self._again(lambda: complete(self._agent, question, top_k))

    def context(
        self,
        query: str,
        budget: int,
        *,
        top_k: int = 50,
        user: str | None = None,
        session: str | None = None,
        asked_at: datetime | None = None,
        estimate: Estimate | None = None,
        explain: bool = False,
    ) -> Context:
        """What bears on `query`, what was informative of late and the newest exchange, within `budget` tokens.

        Every entry cites its record and was checked. Tokens are counted by `estimate`, else by the tokenizer that
        ALVEUS_TOKENIZER names, else estimated by script, on the high side. With `user` or `session` nothing else is
        looked at. Where there are kernels or tiers, and no `session` is asked for, the kernels and what the profiles
        hold stand first; with tiers the pack has a `run_id` for `settle`. Raises InputError as `pattern_completion`.
        """
        from alveus.store.tokenizers import choose_tokenizer  # noqa: PLC0415

        _positive(budget=budget)
        recalled = _said_of(
            self.pattern_completion(query, top_k, user=user, session=session, asked_at=asked_at, explain=explain)
        )
        loaded = self._again(lambda: newest(filter(_is_said, self._newest(user, session, routine=False)), budget))
        exchange = self._again(lambda: newest_exchange(filter(_is_said, self._newest(user, session, routine=True))))
        tiered, trouble = (None, ()) if session is not None else self._tiered(query, user)
        if tiered is not None:
            recalled = self._with_pages(recalled, tiered)
        served = self._served(user, session)
        pack = assemble(
            budget,
            recalled=recalled,
            loaded=loaded,
            exchange=exchange,
            stated=served.stated if served is not None else None,
            known=_known(tiered) if tiered is not None else (),
            known_before=served.known_of(user) if served is not None else None,
            left_out=[fault for found in (tiered, served) if found is not None for fault in found.left_out],
            health=(*self.marks(), *trouble, *(served.marks if served is not None else ())),
            estimate=estimate or choose_tokenizer(),
        )
        if tiered is None or not tiered.version:
            return pack
        return replace(pack, run_id=tiered.run_id, depends_on_version=tiered.version)

    def _tiered(self, query: str, user: str | None) -> tuple[Retrieved | None, tuple[str, ...]]:
        """What the tiers hold, where there are some; else why they cannot be asked. A pack is made without them."""
        if not query.strip() or not (self.folder / "tiers.db").exists():
            return None, ()
        try:
            follower = self._follower
            settled = follower is None or follower.wait(0)  # what is on its way is not missing
            found = self.retrieve(query, user)
            return found, tuple(self._tiering().marks(self._scope(user))) if settled else ()
        except (StoreError, JournalError) as error:
            if isinstance(error, JournalError) and error.code != "ledger_broken":
                raise
            return None, (f"the tiers cannot be asked: {error.message}",)

    def _with_pages(self, recalled: Recalled, tiered: Retrieved) -> Recalled:
        """What was recalled, and behind it what the tiers' pages hold beside that: of MTM, then of STM."""
        from alveus.promoting.reading import records_of  # noqa: PLC0415

        known = {record.record_id for record in recalled}
        found = self._again(lambda: records_of(self._tiering(), tiered.items))
        more = [record for record in found if record.record_id not in known]
        return replace(recalled, records=(*recalled, *more), reason="", code=None) if more else recalled

    def _served(self, user: str | None, session: str | None) -> Served | None:
        """What the kernels give to a pack, where there are some; a session's pack has none."""
        if session is not None or not os.path.lexists(self._kernels):
            return None
        from alveus.compiling.serving import serve  # noqa: PLC0415

        return self._again(lambda: serve(self._agent, user))

    def _newest(self, user: str | None, session: str | None, *, routine: bool) -> Iterator[Found]:
        """The newest records first; of one user or session through the index, without reading all others'."""
        from alveus.completion import newest_of, scope_of  # noqa: PLC0415

        if user is None and session is None:
            return self._agent.past.newest_first(include_routine=routine)
        found = newest_of(self._agent, scope_of(user=user, session=session), routine=routine)
        return filter(_of(user, session), found)

    def timeline(self, kinds: Iterable[Kind | str] | None = None) -> list[DayOfNovelty]:
        """How many records of each novelty every day has, oldest day first, by when it happened. Not checked."""
        from alveus.completion import scope_of, timeline  # noqa: PLC0415

        scope = scope_of(kinds=kinds)
        self._refresh()
        return self._again(lambda: timeline(self._agent, scope.kinds or frozenset(Kind)))

    def prepare_recall(self, told: Told | None = None, *, anew: bool = False, embed: int | None = None) -> int:
        """Have every record in the index and, with an embedder, in the vectors; returns their number.

        Recall does so by itself; after many records this is where to wait for it. `embed` is how many records may be
        embedded, some milliseconds each; None is all. `anew` makes the index again from the
        journal, the tiers where there are some, and kernels that were compiled and serve no more; the old ones serve
        until that is done. `told` hears what is made, and how far it is.
        """
        from alveus.completion import prepare  # noqa: PLC0415

        self._refresh()
        done = self._again(lambda: prepare(self._agent, told or (lambda *_: None), anew=anew, embed=embed))
        if anew and any((self.folder / name).exists() for name in ("tiers.db", "receipts.jsonl")):
            self.not_remade = ""
            try:
                self._again(lambda: self._tiering().rebuild())
            except StoreError as error:
                self.not_remade = f"the tiers could not be made again, and are as they were: {error.message}"
        if anew and self._kernels_are_lost():
            self.compile(told=told)
        return done

    def marks(self) -> tuple[str, ...]:
        """What is not as it should be, one sentence each, as far as it shows without verifying."""
        why = self._agent.stream.log.poison or ("" if self._agent.options.read_only else self.refused)
        refused = f"nothing can be recorded: {why}" if why else ""
        agent, follower = self._agent, self._follower
        behind = (*(follower.notes if follower is not None else ()), *self._compiling_notes())
        marks = (refused, *agent.unread, *agent.judge.notes, *notes_of(agent.streams()), *agent.recall_notes())
        return tuple(mark for mark in (*marks, self.not_remade, *behind) if mark)

    def _compiling_notes(self) -> tuple[str, ...]:
        """What is not as it should be with the kernels, where there are some or a run failed."""
        if not (os.path.lexists(self._kernels) or os.path.exists(self.folder / "digests")):  # noqa: PTH110
            return ()
        return self._compiling().notes()

    def size(self) -> int:
        """How many records there are, all chains together."""
        self._refresh()
        return sum(stream.link.size for stream in (*self._agent.closed, self._agent.stream))

    # Tiers

    def promote(self, user: str | None = None) -> Promoted:
        """Move what is due from STM to MTM, and what is hot there to LPM: spec/tiers.md, section 2.

        Of `user`, or of the records that name none. Moves nothing twice and deletes nothing; a model that fails costs
        its summary and no page. Raises InputError for a user that names nobody, StoreError where nothing is written.
        """
        from alveus.promoting.moving import promote  # noqa: PLC0415  (the tiers come with their first use)

        scope = self._scope(user)
        self._refresh()
        return self._again(lambda: promote(self._tiering(), scope))

    def retrieve(
        self,
        query: str,
        user: str | None = None,
        top_k: int = 10,
        *,
        session: str | None = None,
        since: date | str | None = None,
        until: date | str | None = None,
        budget: int | None = None,
    ) -> Retrieved:
        """What the tiers hold for `query`: STM, the `top_k` best pages of MTM, LPM; or why nothing.

        Never crosses to another user or agent. Every page was read from the journal and checked. The answer's `run_id`
        is for `settle`. Only pages of `session`, and what happened from `since` to `until`, are looked at; with
        `budget` no more tokens come back than that. Raises InputError as `promote` and `pattern_completion`.
        """
        from alveus.completion import scope_of  # noqa: PLC0415
        from alveus.promoting.reading import Asked, retrieve  # noqa: PLC0415
        from alveus.store.tokenizers import choose_tokenizer  # noqa: PLC0415
        from alveus.tiers.retrieval import Within  # noqa: PLC0415

        _text(query=query)
        _positive(top_k=top_k, **({} if budget is None else {"budget": budget}))
        narrowed = scope_of(session=session, since=since, until=until)
        asked = Asked(query, top_k, Within(narrowed.session, narrowed.since, narrowed.until), budget)
        counts = None if budget is None else choose_tokenizer()
        asked = asked if counts is None else asked._replace(count=counts)
        scope = self._scope(user)
        self._refresh()
        found = self._again(lambda: retrieve(self._tiering(), scope, asked))
        if self._keeps_tiers is not False:
            self._follow((user,))  # what was read is warmer; and what an earlier promotion left is due
        return found

    def facts(self, user: str | None = None, *, history: bool = False) -> Facts:
        """What LPM holds of `user`, and of the assistant with them: facts with their sources and their times.

        With `history` also what was replaced (`superseded_by` names by what), what only repeats another (`restates`),
        and what had no more room (`kept` is false). Raises InputError as `promote`.
        """
        from alveus.promoting.reading import facts  # noqa: PLC0415

        scope = self._scope(user)
        self._refresh()
        return self._again(lambda: facts(self._tiering(), scope, history=history))

    def settle(self, run_id: str, outcome: Mapping[str, Any] | OutcomeReceipt) -> OutcomeReceipt:
        """Say what came of an answer that was made with a retrieval: `{type, value}`, a deterministic check.

        `file_hash`, `row_id`, `test_result` (passed, failed) or `destination_lookup` (found, missing). Raises NotFound
        for an unknown run, InputError for what is no outcome or another one than before.
        """
        from alveus.promoting.reading import settle  # noqa: PLC0415

        self._refresh()
        return self._again(lambda: settle(self._tiering(), run_id, outcome))

    def reconcile(self, run_id: str) -> Reconciled:
        """Look for a run at its destination; write the receipts that are missing. Nothing is done again.

        Raises NotFound for a run that is not known.
        """
        from alveus.promoting.moving import reconcile  # noqa: PLC0415

        self._refresh()
        return self._again(lambda: reconcile(self._tiering(), run_id))

    def _scope(self, user: str | None) -> Scope:
        from alveus.tiers.policy import scope_of  # noqa: PLC0415

        return scope_of(user, self.agent_id)

    def _follow(self, users: Iterable[str | None]) -> None:
        """Have promoted what is due of these users, in the background, where tiers are kept."""
        if self._keeps_tiers is None:
            now = time.monotonic()
            if now < self._look_for_tiers:
                return
            self._look_for_tiers = now + LOOK_FOR_TIERS
            if not os.path.exists(self._database):  # noqa: PTH110  (among records)
                return
            self._keeps_tiers = True
        with self._tiers_guard:
            follower = self._follower
            if follower is None or follower.pid != os.getpid():
                from alveus.promoting.following import Follower  # noqa: PLC0415

                follower = self._follower = Follower(self.promote, lambda: self._tiering().overdue())
        follower.follow(users)

    def _end_following(self) -> None:
        follower = self._follower
        if follower is None or follower.pid != os.getpid():
            return
        tiers = self._tiers
        try:  # whoever interrupts that goes on at once
            done = follower.end(CLOSING)
        finally:
            if tiers is not None:
                tiers.closing.set()
        if not done:
            follower.join()

    # Kernels

    def compile(self, *, since: date | str | None = None, told: Told | None = None) -> Compilation:
        """Compile the three kernels from everything that was said, or from what happened `since`: spec/kernels.md.

        They are put in place whole, and recorded; a new prefix of contexts begins. Raises Locked where another process
        is at it, InputError, StoreError, KernelError: the old kernels serve on then, and `marks` says so.
        """
        from alveus.compiling import By  # noqa: PLC0415
        from alveus.completion import scope_of  # noqa: PLC0415

        start = scope_of(since=since).since
        self._refresh()
        done = self._again(lambda: self._compiling().run(By.COMPILE, since=start, told=told))
        if done is None:
            raise StoreError("nothing was compiled")
        return done

    def digest(self, *, now: bool = False, told: Told | None = None) -> Compilation | None:
        """Make the incremental digest if it is due, or `now`; None where it is not due. Raises as `compile`."""
        from alveus.compiling import By  # noqa: PLC0415

        self._refresh()
        return self._again(lambda: self._compiling().run(By.DIGEST, if_due=not now, told=told))

    def digest_status(self) -> Status:
        """What came since the last digest, whether one is due, and what the contexts' prefix is."""
        self._refresh()
        return self._again(lambda: self._compiling().status())

    def kernels(self, version: int | None = None) -> Kernels:
        """The kernels that serve, or a version that is kept. Raises NotFound where there are none.

        Raises StoreError for kernels that are not what was recorded.
        """
        from alveus.compiling.serving import checked  # noqa: PLC0415

        shelf = self._compiling().shelf
        found = shelf.current() if version is None else version
        if found is None or found not in shelf.versions():
            kept = ", ".join(map(str, shelf.versions())) or "none"
            raise NotFound(f"there are no kernels {found or ''}".rstrip(), hint=f"`alveus compile`; kept: {kept}")
        self._refresh()
        return self._again(lambda: checked(self._agent, shelf, found))

    def identity_steps(self) -> list[Step]:
        """Every change of the agent's self-description that the journal has, newest first: who, what and when."""
        from alveus.compiling.history import steps  # noqa: PLC0415

        self._refresh()
        return self._again(lambda: list(steps(self._agent)))

    def check_identity(self, path: Path | str | None = None) -> Identity:
        """Whether a file in use is the recorded one; without `path` the kernels and the canon's file.

        Raises NotFound for a file that is not there.
        """
        from alveus.compiling.history import check  # noqa: PLC0415

        _path(path=path)
        self._refresh()
        return self._again(lambda: check(self._agent, None if path is None else Path(path)))

    def set_canon(self, path: Path | str) -> SignedRecord:
        """Record a file as the base canon, by which kernels are compiled. Raises InputError, NotFound."""
        from alveus.compiling.history import set_canon  # noqa: PLC0415

        _path(path=path)
        file = Path(path).absolute()
        try:
            data = file.read_bytes()
        except FileNotFoundError:
            raise NotFound(f"there is no file {file}", hint="check the path") from None
        self._refresh()
        return self._again(lambda: set_canon(self._agent, data, file))

    def canon(self) -> Canon | None:
        """The base canon that holds; None where none was set."""
        from alveus.compiling.reading import newest_canon  # noqa: PLC0415

        self._refresh()
        return self._again(lambda: newest_canon(self._agent))

    def _kernels_are_lost(self) -> bool:
        """Whether kernels were compiled once, and do not serve."""
        try:
            self.kernels()
        except (NotFound, StoreError):
            return any("files" in step.details and "version" in step.details for step in self.identity_steps())
        return False

    def drift(self, days: Iterable[int] = (7, 30)) -> Drift:
        """How far the agent's own words have moved from the canon, in epochs of so many days each.

        Where they moved by more than chance the records that moved them are named. Raises InputError.
        """
        lengths = tuple(days)
        _positive(**{f"days[{at}]": one for at, one in enumerate(lengths)})
        if not lengths:
            raise InputError("there is no length of an epoch", hint="7 or 14 days for fine ones, 30 or 60 for coarse")
        self._refresh()
        return self._again(lambda: self._compiling().drift(lengths))

    def _compiling(self) -> Compiling:
        from alveus.compiling import Compiling  # noqa: PLC0415

        def model() -> Model | None:
            from alveus.store.models import choose  # noqa: PLC0415  (for whoever compiles)

            given = self._summarizer
            if given is None or isinstance(given, str):
                return choose(given, self._tiering().db, self._agent.options.clock) if _asks(given) else None
            return None

        def facts() -> Mapping[str, list[str]]:
            if not os.path.exists(self._database):  # noqa: PTH110
                return {}
            db = self._tiering().db
            return {scope.user: [fact.id for fact in db.standing(scope.id)] for scope in db.scopes()}

        return Compiling(self._agent, model=model, facts=facts)

    def _tiering(self) -> Tiers:
        """The tiers, open."""
        from alveus.promoting import open_tiers  # noqa: PLC0415

        with self._tiers_guard:
            if self._tiers is None or self._tiers.pid != os.getpid():
                self._tiers = open_tiers(self._agent, self._summarizer)
            return self._tiers

    # Proving

    def verify_chain(
        self, *, since_head: bool = False, against: Path | str | None = None, jobs: int = 1
    ) -> ChainVerdict:
        """Walk every chain of the agent and say whether it is whole: spec/journal.md, section 5.

        Never raises for bad data. `since_head` looks only at what follows the last head, and says what it skipped;
        `against` is a checkpoint that was kept elsewhere; `jobs` processes share the work.
        """
        _positive(jobs=jobs)
        _path(against=against)
        return verify_layout(
            self._agent.layout,
            self._agent.files,
            since_head=since_head,
            against=against,
            jobs=jobs,
            timeout=self._agent.options.timeout,
        )

    def checkpoint(self) -> str:
        """A signed note of the chain as it is on disk now, to be kept where this machine cannot change it."""
        from alveus import anchoring  # noqa: PLC0415

        self._refresh()
        return self._again(lambda: anchoring.make_checkpoint(self._agent))

    def daily_anchor(self, day: date | str) -> AnchoredDay:
        """Close a UTC day and return its anchor: seed section 9, spec/journal.md, section 8.

        A day closed before is compared with the journal and returned. Raises InputError for a day that cannot be
        closed yet, NotFound for a day without records, JournalError where a closed day differs from the journal.
        """
        from alveus import anchoring  # noqa: PLC0415

        text = day.isoformat() if isinstance(day, date) else day
        if not is_day(text):
            raise InputError(f"{day!r} is not a day", hint="write it as YYYY-MM-DD")
        self._refresh()
        return self._again(lambda: anchoring.anchor_day(self._agent, text))

    def export_montana(self, day: date | str) -> MontanaExport:
        """The Montana operation of a closed day, signed and kept in its folder: spec/journal.md, section 8."""
        from alveus import anchoring  # noqa: PLC0415

        anchored = self.daily_anchor(day)
        return self._again(lambda: anchoring.export_montana(self._agent, anchored.anchor))

    # Steps

    def _refresh(self) -> None:
        """See what others have appended; a writer that holds the lock for long is not waited for."""
        with contextlib.suppress(Locked):
            self._again(self._agent.refresh)

    def _again(self, act: Callable[[], T]) -> T:
        """`act`, once more after the files were replaced, with the operating system's errors said in our words."""
        try:
            seen, moved = self._agent.stream, False
            for _ in range(RELOADS):
                try:
                    if moved:
                        self._agent.reload(seen)
                    seen = self._agent.stream
                    return act()
                except Moved:
                    moved = True
        except OSError as error:
            raise _told(error, self.folder) from error
        raise StoreError("the journal is being replaced again and again", code="moved", hint="look who writes there")


def verify_layout(
    layout: Layout,
    files: Files,
    *,
    since_head: bool = False,
    against: Path | str | None = None,
    jobs: int = 1,
    timeout: float = 10.0,
) -> ChainVerdict:
    """As `Hippocampus.verify_chain`, for a journal too damaged to be opened."""
    from alveus import anchoring  # noqa: PLC0415
    from alveus.store.verify import verify_agent  # noqa: PLC0415

    def walk() -> ChainVerdict:
        ring = load_keys(files, layout)
        known = anchoring.known_roots(files, layout, Path(against) if against is not None else None)
        return verify_agent(files, layout, ring, known=known, since_head=since_head, jobs=jobs, timeout=timeout)

    with _telling(layout.folder):
        for _ in range(RELOADS):
            before = _picture(files, layout)
            verdict = walk()
            if verdict or (before is not None and before == _picture(files, layout)):
                return verdict
            with agents_locked(files, layout, timeout):  # a change of key was under way: it ends first
                pass
        return walk()


def _picture(files: Files, layout: Layout) -> tuple[object, ...] | None:
    """Which files are there; None while they do not all have their places. A change of key alters it."""
    try:
        return files.stat(layout.stream).st_ino, files.stat(layout.key_file).st_ino, archives(files, layout)
    except FileNotFoundError:
        return None


def _embedders(given: Embedder | str | None) -> tuple[Embedder | None, Callable[[], Embedder | None]]:
    """Who judges novelty, None for the words; and how to find who recalls by meaning where that is nobody."""
    if given is None and not os.environ.get("ALVEUS_EMBEDDER"):
        return None, _default_embedder
    if given == "none":
        return None, lambda: None  # nothing to choose from: what chooses takes longer to import than this
    if given is None or isinstance(given, str):
        from alveus.store.embedders import choose  # noqa: PLC0415

        given = choose(given)
    return given, lambda: None


def _keeps_tiers(given: bool | None) -> bool | None:  # noqa: FBT001
    """Whether tiers are kept as records come: as given, else as ALVEUS_TIERS says; None where there are some."""
    if given is not None:
        return bool(given)
    said = os.environ.get("ALVEUS_TIERS") or ""
    if said not in _SWITCH:
        raise InputError(f"ALVEUS_TIERS is {said!r}", hint="on, off, or nothing: on where there are tiers")
    return _SWITCH[said]


_SWITCH: Final = {"": None, "on": True, "off": False}


def _default_embedder() -> Embedder | None:
    from alveus.store.embedders import choose  # noqa: PLC0415

    return choose()


def find_home(home: Path | str | None) -> Path:
    """The home: as given, else ALVEUS_HOME, else the user's data folder. Raises InputError where there is none."""
    _path(home=home)
    chosen = home or os.environ.get("ALVEUS_HOME")
    try:
        return Path(chosen or _data_folder()).expanduser().absolute()
    except RuntimeError:
        raise InputError(
            "there is no home folder to put the memory in", code="no_home", hint="set --home or ALVEUS_HOME"
        ) from None


def _data_folder() -> str:
    import platformdirs  # noqa: PLC0415

    return platformdirs.user_data_dir("alveus", appauthor=False)


def find_agent(agent_id: str | None) -> str:
    """The agent: as given, else ALVEUS_AGENT, else `default`."""
    return os.environ.get("ALVEUS_AGENT") or DEFAULT_AGENT if agent_id is None else agent_id


@contextlib.contextmanager
def _telling(folder: Path) -> Iterator[None]:
    """The operating system's refusals as StoreError."""
    try:
        yield
    except OSError as error:
        raise _told(error, folder) from error


def _told(error: OSError, folder: Path) -> StoreError:
    return StoreError(
        f"{error.filename or folder}: {error.strerror}",
        code="disk_full" if error.errno in (errno.ENOSPC, errno.EDQUOT) else "disk_refused",
        hint="check the folder's permissions and free space, or choose another --home",
    )


def _member(members: type[M], value: object) -> M:
    found: M | None = _NAMED[members].get(value) if isinstance(value, str) else None
    if found is None:
        raise InputError(f"{value!r} is not a {members.__name__.lower()}", hint="one of " + ", ".join(members))
    return found


_NAMED: Final[dict[type[StrEnum], dict[str, Any]]] = {
    members: {member.value: member for member in members} for members in (Kind, Source)
}


def _known(tiered: Retrieved) -> list[Known]:
    """The profiles, whole: what stands whatever is asked."""
    profiles = [item for item in tiered.items if item.kind == "profile"]
    return [Known(one.id, one.subject, one.text, one.since, one.sources) for one in profiles]


def _is_said(found: Found) -> bool:
    """Whether a record is more than a note that the kernels leave about themselves."""
    hc = None if isinstance(found, Fault) else found.hc
    if hc is None or hc.src is not Source.SYSTEM or isinstance(found, Fault):
        return True
    return not (_NOTES & found.metadata.keys() or (hc.origin or "").startswith("alveus:wording:"))


def _said_of(recalled: Recalled) -> Recalled:
    """What was recalled, without such notes."""
    if all(map(_is_said, recalled)):
        return recalled
    kept = [at for at, record in enumerate(recalled) if _is_said(record)]
    why = tuple(recalled.why[at] for at in kept) if recalled.why else ()
    return replace(recalled, records=tuple(recalled[at] for at in kept), why=why)


_NOTES: Final = frozenset({"kernels", "kernel_edit"})


def _asks(model: str | None) -> bool:
    """Whether a model is named at all."""
    return (model or os.environ.get("ALVEUS_MODEL") or "none") != "none"


def _of(user: str | None, session: str | None) -> Callable[[Found], bool]:
    """Whether a record is of that user and that session, where one is named; what failed its check stays named."""

    def is_of(found: Found) -> bool:
        if isinstance(found, Fault) or (user is None and session is None):
            return True
        hc = found.hc
        return hc is not None and user in (None, hc.user) and session in (None, hc.session)

    return is_of


def _text(**texts: object) -> None:
    for name, value in texts.items():
        if not isinstance(value, str):
            raise InputError(f"{name} is {value!r}, not text")


def _path(**paths: object) -> None:
    for name, value in paths.items():
        if value is not None and not (isinstance(value, str | os.PathLike) and str(value)):
            raise InputError(f"{name} is {value!r}, not a path")


def _positive(**numbers: object) -> None:
    for name, value in numbers.items():
        if type(value) is not int or value < 1:
            raise InputError(f"{name} is {value!r}, not a positive whole number")


_RECORD_ID: Final = re.compile(r"[0-9a-f]{32}").fullmatch
_SHORT_ID: Final = re.compile(r"[0-9a-f]{8,32}").fullmatch
