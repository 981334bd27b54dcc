"""Records of every shape a journal may hold, for tests that compare two ways of judging them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Any

from hypothesis import strategies as st

from alveus.journal import chain, usual
from alveus.journal.record import Kind, Novelty, Profile, Source
from alveus.journal.seal import Key, Sealed, seal

KEY = Key(bytes(range(32)))
CHAIN = "c0" * 16
AGENT = "река"

TEXTS = st.text(
    st.one_of(st.characters(exclude_categories=["Cs"]), st.sampled_from('"\\/\n\r\t\b\f\0\x1f\x7f\x85\u2028éяЁ😀')),
    max_size=60,
)
NAMES = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=30)
KEYS = st.one_of(
    st.sampled_from(["a", "gz", "h", "hb", "hd", "i", "z", "Z", "0", "-", "__proto__", "ключ", "\ue000", "😀", ""]),
    TEXTS,
).filter(lambda key: key != "hc")
NUMBERS = st.one_of(
    st.integers(-(2**53) + 1, 2**53 - 1),
    st.floats(allow_nan=False, allow_infinity=False).filter(lambda one: abs(one) < 2**53),
)
LEAVES = st.one_of(st.none(), st.booleans(), NUMBERS, TEXTS)
VALUES = st.recursive(
    LEAVES, lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(KEYS, inner, max_size=3)), max_leaves=8
)
METADATA = st.one_of(
    st.just({}),
    st.dictionaries(KEYS, VALUES, max_size=5),
    st.dictionaries(st.sampled_from("abgijz"), st.one_of(st.booleans(), st.integers(-99, 99), TEXTS), max_size=4),
)


@st.composite
def drafts(draw: Any) -> dict[str, Any]:
    """What `linked` makes a record of."""
    return {
        "kind": draw(st.sampled_from(Kind)),
        "content": draw(TEXTS),
        "metadata": draw(METADATA),
        "novelty": draw(st.sampled_from(Novelty)),
        "by": draw(st.sampled_from(["words/1", "words/1;window=5", "embed:usé@1", "x" * 200, '"'])),
        "src": draw(st.sampled_from(Source)),
        "user": draw(st.none() | NAMES),
        "session": draw(st.none() | NAMES),
        "event_time": draw(st.sampled_from([None, "2026-02-28T23:59:59+03:00", "0001-01-01T00:00:00.5Z"])),
        "origin": draw(st.none() | NAMES),
        "part": draw(st.sampled_from([None, (1, 1), (2, 3)])),
        "clock": draw(st.sampled_from([None, "back"])),
        "synced": draw(st.integers(-1, 3)),
    }


def linked(many: Iterable[dict[str, Any]]) -> list[bytes]:
    """The drafts as lines of one chain, without LF."""
    lines: list[bytes] = []
    last: Sealed | None = None
    for number, draft in enumerate(many):
        last = follow(last, number, draft)
        lines.append(last.line)
    return lines


def follow(last: Sealed | None, number: int, draft: dict[str, Any]) -> Sealed:
    """The next record after `last`."""
    profile = {
        name: draft[name]
        for name in ("novelty", "by", "src", "user", "session", "event_time", "origin", "part", "clock")
    }
    return seal(
        KEY,
        agent_id=AGENT,
        kind=draft["kind"],
        content=draft["content"],
        metadata=draft["metadata"],
        hc=Profile(
            chain=CHAIN,
            seq=number,
            prev_line=None if last is None else hashlib.sha256(last.line).hexdigest(),
            kid=KEY.kid,
            synced=min(draft["synced"], number - 1),
            **profile,
        ),
        prev_id=None if last is None else last.record.record_id,
        timestamp=f"2026-01-{1 + number // 24:02}T{number % 24:02}:00:00.000000Z",
    )


def plain_draft(number: int) -> dict[str, Any]:
    """A draft whose shape follows from its number; the numbers up to 40 show every shape there is."""
    kinds, novelties, sources = list(Kind), list(Novelty), list(Source)
    metadata: list[dict[str, Any]] = [
        {},
        {"ticket": number},
        {"a": 1, "z": "я"},
        {"nested": {"b": [1, 2.5, None, {"deep": True}], "a": "x"}},
        {"ключ": "значение", "😀": [], "\ue000": {}},
        {"note": 'a "quoted" \\ text\n', "x": False},
        {"float": -1.5e-7},
    ]
    contents = [
        f"Deployed build {number} to staging.",
        f"Сервер {number} переехал в Казань, ё.",
        f"emoji {number} 😀 and \x00\x1f\x7f\u2028 controls",
        '","kind":"state","metadata":{"hc":{}},"novelty":"routine","prev_id":null',
        "",
    ]
    return {
        "kind": kinds[number % len(kinds)],
        "content": contents[number % len(contents)],
        "metadata": metadata[number % len(metadata)],
        "novelty": novelties[number % len(novelties)],
        "by": "words/1" if number % 4 else "embed:model@2",
        "src": sources[number % len(sources)],
        "user": "анна" if number % 5 == 1 else None,
        "session": "s-1" if number % 3 == 1 else None,
        "event_time": "2025-12-31T23:59:59.123+03:00" if number % 7 == 2 else None,
        "origin": f"claude:file:{number}" if number % 2 else None,
        "part": (1, 2) if number % 6 == 5 else None,
        "clock": "back" if number % 11 == 3 else None,
        "synced": max(-1, number - 2),
    }


def forty() -> list[bytes]:
    """A journal of forty records, of every shape; the same bytes in every run."""
    return linked([plain_draft(number) for number in range(40)])


def walk(lines: Iterable[bytes], agent_id: str = AGENT, **options: Any) -> chain.Walked:
    """A walk over lines that have their LF."""
    return chain.walk(lines, KEY, chain.Link(agent_id=agent_id), **options)


def walk_by_the_rules(monkeypatch: Any, lines: Iterable[bytes], **options: Any) -> chain.Walked:
    """The same with `check` and `take` for every line: nothing counts as usual."""
    with monkeypatch.context() as patch:
        patch.setattr(usual, "run", lambda lines, *_, **__: next(lines, None))
        return walk(lines, **options)


def looks(walked: chain.Walked) -> tuple[Any, ...]:
    """All that a walk found."""
    days = {day: (tuple(tally.ids), tuple(tally.novelty.items())) for day, tally in walked.days.items()}
    fault = walked.fault and (walked.fault.code, walked.fault.line, walked.fault.offset)
    return walked.link, walked.tree.root(), walked.tree.end, walked.roots, days, walked.tail, fault
