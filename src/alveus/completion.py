"""What in the past is like a question: seed section 8. Finds candidates, has them ranked, reads and checks the best.

Words come from the full-text index, meaning from the vectors where there are some. Filters apply before anything is
ranked. The journal is not written.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from itertools import count, islice
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar, cast

from alveus.agent import Agent
from alveus.errors import InputError
from alveus.journal.chain import Fault
from alveus.journal.head import is_day
from alveus.journal.record import Kind, SignedRecord
from alveus.journal.seal import is_event_time, refused_field
from alveus.language.turn import fold
from alveus.recall import DayOfNovelty, Reason, Recalled, Why
from alveus.store.asking import IndexBroken, Row, Scope, Unknown, any_of, day_term
from alveus.store.log import Moved
from alveus.store.past import Found, content_of, read

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from alveus.recall.meaning import Meaning
    from alveus.recall.ranking import Arithmetic, Evidence, Floats, Pool, Scores, Sessions
    from alveus.recall.words import Wanted
    from alveus.store.asking import Asking, Within
    from alveus.store.stream import Stream

    Ints = NDArray[np.int64]

T = TypeVar("T")

POOL: Final = 3_000
"""Records that words bring in and that are looked at in full."""
AROUND: Final = 300
"""Turns whose neighbours are looked at too; and records looked at because they are nearest by meaning."""
EMBED: Final = 2_000
"""Records that one question may have embedded first: some seconds. `alveus rebuild` embeds all."""
READ: Final = 30
"""Records read beyond what was asked for, to see which hold the question word for word."""
LOADED: Final = 2_000
"""Records of one user or session that are looked at for having been informative of late."""
LOOKED_UP: Final = 2_000
"""Words of a question that are looked up."""
_LONGEST_SPAN: Final = 366
_EPOCH: Final = date(1970, 1, 1).toordinal()
_PREFIX: Final = 3
_BESIDE: Final = 3
_SESSION: Final = Row._fields.index("session")
_SPEAKER: Final = Row._fields.index("speaker")
_NEITHER: Final = (None, None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What is asked, and of which records. `now` is what «yesterday» is relative to."""

    text: str
    now: datetime
    scope: Scope = field(default_factory=Scope)
    explain: bool = False


def scope_of(
    *,
    user: str | None = None,
    kinds: Iterable[Kind | str] | None = None,
    since: str | date | None = None,
    until: str | date | None = None,
    session: str | None = None,
) -> Scope:
    """The scope that a caller's filters name. Raises InputError for a filter that cannot mean anything."""
    given: dict[str, object] = {"user": user, "session": session}
    for name, value in given.items():
        if value is not None and not (isinstance(value, str) and value.strip()):
            raise InputError(f"{name} is {value!r}, which names nobody", hint="leave it out to look at everything")
        if value is not None and (refused_field({name: value}) or not _is_unicode(str(value))):
            raise InputError(f"{name} is {value!r}, which no record can name", hint="pass it as it was recorded")
    try:
        chosen = None if kinds is None else frozenset(Kind(kind) for kind in kinds)
    except (ValueError, TypeError):
        raise InputError(f"{kinds!r} are not kinds", hint="some of " + ", ".join(Kind)) from None
    if chosen is not None and not chosen:
        raise InputError("no kind is asked for", hint="leave kinds out to look at every kind")
    return Scope(
        user=user, session=session, kinds=chosen, since=_instant("since", since), until=_instant("until", until)
    )


def _is_unicode(text: str) -> bool:
    return text.encode(errors="replace").decode() == text


def _instant(name: str, value: str | date | None) -> float | None:
    """Seconds since 1970; a day alone begins at midnight UTC for `since`, and ends with it for `until`."""
    if value is None:
        return None
    text = value.isoformat() if isinstance(value, date) else str(value)
    if is_day(text):
        time = datetime.min.time() if name == "since" else datetime.max.time()
        return datetime.combine(date.fromisoformat(text), time, UTC).timestamp()
    if is_event_time(text):
        return datetime.fromisoformat(text).timestamp()
    raise InputError(f"{name} is {value!r}, not a time", hint="YYYY-MM-DD, or an ISO 8601 instant with its zone")


def complete(agent: Agent, question: Question, top_k: int) -> Recalled:
    """The `top_k` records that answer best, best first; or none, and why."""
    if not question.text.strip():
        return Recalled((), reason="the query is empty", code=Reason.EMPTY_QUERY)
    meaning = _meaning(agent, question.text)
    found = _ask(agent, lambda asking: _Completion(agent, asking, question, meaning).answer(top_k))
    behind = agent.search().behind
    if not found and behind:
        reason = f"the index is {behind} records behind: another process is writing it; ask again"
        return Recalled((), found.left_out, reason, Reason.INDEX_BEHIND)
    return found


def timeline(agent: Agent, kinds: Iterable[Kind]) -> list[DayOfNovelty]:
    """The days of the past, oldest first."""
    counted: dict[int, dict[str, int]] = {}
    for day, novelty, times in _ask(agent, lambda asking: asking.days(kinds)):
        counted.setdefault(day, {})[novelty.value] = times
    return [DayOfNovelty(day=date.fromordinal(_EPOCH + day), **counts) for day, counts in counted.items()]


def _ask(agent: Agent, ask: Callable[[Asking], T]) -> T:
    """Ask the index, caught up; once more where it turned out damaged."""
    search = agent.search()
    for _ in range(2):
        search.catch_up(agent.streams())
        with contextlib.suppress(IndexBroken), search.asking() as asking:
            return ask(asking)
    search.catch_up(agent.streams())
    with search.asking() as asking:
        return ask(asking)


def newest_of(agent: Agent, scope: Scope, *, routine: bool) -> Iterator[Found]:
    """The records of a user or a session, newest first, `routine` ones too or not: the newest 2,000, each checked."""

    def look(asking: Asking) -> list[tuple[Stream, int]]:
        streams = {stream.link.chain or "": stream for stream in agent.streams()}
        chains = [one.name for one in asking.chains()]
        if not streams.keys() >= set(chains):
            raise Moved  # another process changed the key meanwhile
        try:
            places = asking.within(scope).places(LOADED, routine=routine)
        except Unknown:
            return []
        return [(streams[chains[place]], offset) for place, offset in places]

    for stream, offset in _ask(agent, look):
        yield read(stream, stream.line_at(offset), offset)


Told = Callable[[str, int, int], None]
"""Told of progress: what is being made, how many records are done, and of how many."""


def prepare(agent: Agent, told: Told, *, anew: bool, embed: int | None = None) -> int:
    """Have every record in the index and, by an embedder, `embed` more (None: all) in the vectors. Counts records.

    The index is made `anew` if asked.
    """
    streams, search = agent.streams(), agent.search()
    total = sum(stream.link.size for stream in streams)
    act = search.rebuild if anew else search.catch_up
    act(streams, lambda done: told("indexing", done, total))
    embedded = 0

    def note(more: int) -> None:
        nonlocal embedded
        embedded += more
        told("embedding", embedded, total)

    agent.vectors(embed, note)
    return total


class Ranked(NamedTuple):
    """A candidate in its place: the record's number, what equal contents share, and why it is there."""

    number: int
    twin: int
    why: Why | None


class _Completion:
    """One question being answered."""

    def __init__(self, agent: Agent, asking: Asking, question: Question, meaning: Meaning | None) -> None:
        self._agent = agent
        self._asking = asking
        self._question = question
        self._meaning = meaning
        self._streams = {stream.link.chain or "": stream for stream in agent.streams()}
        self._chains = asking.chains()
        self._faults: list[Fault] = []

    def answer(self, top_k: int) -> Recalled:
        try:
            within = self._asking.within(self._question.scope)
        except Unknown as unknown:
            stored = self._asking.count()
            if stored:
                return self._nothing(Reason.UNKNOWN_SCOPE, f"none of {stored} records is of {unknown.what}")
            return self._nothing(Reason.NOTHING_STORED, "nothing is stored yet")
        records, why = self._read(self._rank(within), min(top_k, self._asking.count()))
        if records:
            return Recalled(records, tuple(self._faults), why=why if self._question.explain else ())
        return self._why_nothing(within)

    def _why_nothing(self, within: Within) -> Recalled:
        stored = self._asking.count()
        if self._faults:
            return self._nothing(Reason.CHECK_FAILED, "what was found failed its check")
        if not stored:
            return self._nothing(Reason.NOTHING_STORED, "nothing is stored yet")
        if within.is_empty():
            return self._nothing(Reason.FILTERED_OUT, f"none of {stored} records passes the filters")
        return self._nothing(Reason.NO_MATCH, f"none of {stored} records holds a word of the query")

    def _nothing(self, code: Reason, reason: str) -> Recalled:
        return Recalled((), tuple(self._faults), reason, code)

    # Candidates

    def _rank(self, within: Within) -> Iterator[Ranked]:
        """The records, best first."""
        from alveus.recall import words  # noqa: PLC0415  (with the first question)

        how = _arithmetic(self._meaning)
        wanted, names = self._wanted(within)
        found = words.find(within, wanted, within.count())
        evidence = [one._replace(rows=how.column(one.rows)) for one in found]
        numbers = set[int]().union(*(one.rows for one in found))
        held = evidence
        if len(numbers) > POOL:  # equal contents are not to crowd out the others
            held = how.among(evidence, within.different(numbers))
        rows = within.rows(how.brought_in(held)[-POOL:])
        if self._meaning is not None:
            rows += within.rows(self._meaning.nearest(self._chains, self._allowed(within), AROUND))
        if not rows:
            return
        rows += within.at(how.places_around(how.pool_of(rows), evidence, AROUND))
        pool = how.pool_of(rows)
        cosines, similar = self._meaning.cosines(self._chains, cast("Ints", pool.number)) if self._meaning else _NEITHER
        scores = how.score(
            pool,
            evidence,
            self._sessions(rows),
            mean_length=self._asking.total_length() / max(1, self._asking.count()),
            named=self._named(names, rows),
            similar=cast("Floats | None", similar),
        )
        for position in how.order(pool, scores):
            cosine = None if cosines is None else round(float(cosines[position]), 3)
            why = _why(pool, scores, evidence, position, cosine) if self._question.explain else None
            yield Ranked(int(pool.number[position]), int(pool.twin[position]), why)

    def _allowed(self, within: Within) -> Ints | None:
        """The numbers of the records in scope, where that is not all."""
        import numpy as np  # noqa: PLC0415

        if self._question.scope.is_everything():
            return None
        return np.array(within.numbers(), dtype=np.int64)

    def _wanted(self, within: Within) -> tuple[list[Wanted], list[str]]:
        """What the question asks for, and the terms that may name a speaker."""
        from alveus.language.terms import question_terms  # noqa: PLC0415  (the word lists come with the first question)
        from alveus.recall.words import Wanted  # noqa: PLC0415

        wanted: list[Wanted] = []
        names: list[str] = []
        for group in question_terms(self._question.text, self._asking.languages())[:LOOKED_UP]:
            terms = group.alternatives
            names += terms
            if len(group.word) >= _PREFIX and not within.holding(terms):
                terms = tuple(within.beginning(group.word))  # the beginning of a word is better than nothing
            if terms:
                wanted.append(Wanted(group.word, terms, any_of(terms)))
        for words, days in self._days():
            terms = tuple(day_term(day) for day in days)
            wanted.append(Wanted(words, terms, any_of(terms)))
        return wanted, names

    def _days(self) -> Iterator[tuple[str, range]]:
        """The times that the question names, as days since 1970."""
        from alveus.language.dates import spans  # noqa: PLC0415

        for span in spans(self._question.text, self._question.now):
            first, last = span.start.toordinal() - _EPOCH, span.end.toordinal() - _EPOCH
            if last - first <= _LONGEST_SPAN:
                yield span.words, range(first, last + 1)

    def _named(self, terms: Sequence[str], rows: Sequence[Row]) -> int:
        """The one speaker whom the question names; 0 for none or several. Those outside the scope do not count."""
        speakers = self._asking.speakers(terms)
        if not self._question.scope.is_everything():
            there = {row[_SPEAKER] for row in rows}
            speakers = [one for one in speakers if one in there]
        return speakers[0] if len(speakers) == 1 else 0

    def _sessions(self, rows: Sequence[Row]) -> Sessions:
        from alveus.recall.ranking import Sessions  # noqa: PLC0415

        ids = sorted({row[_SESSION] for row in rows})
        known = self._asking.sessions(ids)
        lengths = [known.get(one, 0) for one in ids]
        named = [length for one, length in zip(ids, lengths, strict=True) if one > 0]
        count = self._asking.session_count(self._question.scope.user)
        return Sessions(ids, lengths, count, sum(named) / len(named) if named else 0.0)

    # Reading

    def _read(self, ranked: Iterator[Ranked], top_k: int) -> tuple[tuple[SignedRecord, ...], tuple[Why, ...]]:
        """The best records, checked, each content once; first those that hold the whole question, newest first."""
        found: dict[int, tuple[SignedRecord, Why | None]] = {}
        for one in self._whole_first(ranked, top_k):
            if one.twin in found:
                continue
            record = self._record(one.number)
            if isinstance(record, Fault):
                self._faults.append(record)
                continue
            found[one.twin] = (record, one.why)
            if len(found) == top_k:
                break
        return tuple(record for record, _ in found.values()), tuple(why for _, why in found.values() if why is not None)

    def _whole_first(self, ranked: Iterator[Ranked], top_k: int) -> Iterator[Ranked]:
        whole = fold(self._question.text).strip()
        best = list(islice(ranked, top_k + READ))
        holding = {one.number for one in best if whole in fold(content_of(self._line(one.number)))}
        yield from sorted((one for one in best if one.number in holding), key=lambda one: -one.number)
        yield from (one for one in best if one.number not in holding)
        yield from ranked

    def _record(self, number: int) -> SignedRecord | Fault:
        stream, offset = self._place(number)
        return read(stream, stream.line_at(offset), offset)

    def _line(self, number: int) -> bytes:
        stream, offset = self._place(number)
        return stream.line_at(offset)

    def _place(self, number: int) -> tuple[Stream, int]:
        place, offset = self._asking.place(number)
        stream = self._streams.get(self._chains[place].name)
        if stream is None:
            raise Moved  # another process changed the key meanwhile, and indexed what it wrote then
        return stream, offset


# Steps


def _meaning(agent: Agent, text: str) -> Meaning | None:
    """The question by its meaning; None without an embedder, or when it fails."""
    by, vector = agent.meaning, agent.vector_of(text)
    if by is None or vector is None:
        return None
    from alveus.recall.meaning import Meaning  # noqa: PLC0415  (numpy)

    return Meaning(vector, agent.vectors(EMBED), by.embedder.calibration)


def _arithmetic(meaning: Meaning | None) -> Arithmetic:
    """On lists for the first question that a process asks by words alone, else on numpy's arrays: equal to the bit."""
    from alveus.recall import ranking  # noqa: PLC0415  (with the first question)

    if meaning is None and "numpy" not in sys.modules and next(_questions) == 0:
        return ranking
    from alveus.recall import arrays  # noqa: PLC0415  (numpy: a fifth of what a hook may take)

    return arrays


_questions = count()
"""How many questions were asked: a hook asks one, and ends before numpy would be there."""


def _why(pool: Pool, scores: Scores, evidence: Sequence[Evidence], position: int, cosine: float | None) -> Why:
    session, ordinal = pool.session[position], pool.ordinal[position]
    beside = range(max(0, position - _BESIDE), min(len(pool.number), position + _BESIDE + 1))  # places rise
    near = [
        pool.number[at] for at in beside if pool.session[at] == session and abs(pool.ordinal[at] - ordinal) <= _BESIDE
    ]
    own = [one.word for one in evidence if one.holds(pool.number[position])]
    around = [one.word for one in evidence if one.word not in own and any(map(one.holds, near))]
    parts = {name: round(float(getattr(scores, name)[position]), 3) for name in scores._fields if name != "total"}
    return Why(round(float(scores.total[position]), 3), tuple(own), tuple(around), cosine, parts)
