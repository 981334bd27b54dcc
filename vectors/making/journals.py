"""chains.json, torn.json, heads.json: sections 5, 6 and 9, whole journals and what can happen to them."""
# ruff: noqa: E501  (a vector is one row of a table, as far as it goes)

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any, Final

from alveus.journal import canonical
from making.shared import (
    AGENT,
    CHAIN,
    KEY,
    OTHER_CHAIN,
    OTHER_KEY,
    OTHER_SECRET,
    SECRET,
    THIRD_CHAIN,
    Story,
    Vector,
    altered,
    broken,
    five,
    head_of,
    journal_vector,
    mac,
    recipe,
    stream_of,
    time_at,
    tree_of,
    vector,
    whole,
    written,
)

Files = dict[str, bytes]

_STORY: Final = five()
_LINES: Final = _STORY.lines


def _files(lines: list[bytes], head: bytes | None = None, **more: bytes) -> Files:
    """A folder: the stream, and a head after all five records unless another is given."""
    return {"stream.jsonl": stream_of(lines), "stream.head.0": _STORY.head() if head is None else head, **more}


def chains() -> list[Vector]:
    """Whole journals."""
    return [*_whole(), *_edited(), *_forks(), *_heads_beside(), *_keys_and_agents(), *_succession(), *_bad_succession()]


def _whole() -> list[Vector]:
    empty = {"stream.jsonl": b"", "stream.head.0": _STORY.head(0)}
    return [
        journal_vector("to-head", "Five records and a head after them.", _files(_LINES), whole("ok_to_head", 5)),
        journal_vector("open-end", "Two records after the head.", _files(_LINES, _STORY.head(3)), whole("ok_open_end", 5, 2)),
        journal_vector("open-from-0", "A head of size 0 and records.", _files(_LINES, _STORY.head(0)), whole("ok_open_end", 5, 5)),
        journal_vector("empty", "A head of size 0 and no record.", empty, whole("empty", 0)),
        journal_vector("one-record", "The smallest journal with a record.", _files(_LINES[:1], _STORY.head(1)), whole("ok_to_head", 1)),
        journal_vector("closed", "A chain that was closed and is not continued yet.", _closed_only(), whole("ok_to_head", 2)),
    ]  # fmt: skip


def _closed_only() -> Files:
    first, _ = two_chains()
    return {"stream.jsonl": first.stream(), "stream.head.0": first.head()}


def _edited() -> list[Vector]:
    """What an editor, a script or a disk does to the lines."""
    one, two, three, four, five_ = _LINES
    edited = altered(three, content="The build is red.")
    rows: list[tuple[str, str, list[bytes], str, int]] = [
        ("first-deleted", "The first record deleted.", [two, three, four, five_], "chain_break", 1),
        ("middle-deleted", "A record in the middle deleted.", [one, three, four, five_], "chain_break", 2),
        ("twin-deleted", "The first of two twins deleted.", [one, two, four, five_], "chain_break", 3),
        ("later-twin-deleted", "The second of two twins deleted.", [one, two, three, five_], "chain_break", 4),
        ("twin-replayed", "A twin replayed.", [one, two, three, four, four, five_], "chain_break", 5),
        ("first-twin-replayed", "The first twin replayed after the second.", [one, two, three, four, three, five_], "chain_break", 5),
        ("twins-swapped", "Twins swapped.", [one, two, four, three, five_], "chain_break", 3),
        ("neighbours-swapped", "Two records swapped.", [two, one, three, four, five_], "chain_break", 1),
        ("journal-twice", "The whole journal twice.", [*_LINES, *_LINES], "chain_break", 6),
        ("bad-line", "An edited line in the middle.", [one, two, edited, four, five_], "bad_signature", 3),
        ("bad-line-last", "An edited last line.", [one, two, three, four, altered(five_, novelty="routine")], "novelty_mismatch", 5),
        ("garbage", "A line that is no record.", [one, two, b"garbage", three, four, five_], "not_canonical", 3),
        ("empty-line", "An empty line.", [one, two, b"", three, four, five_], "not_canonical", 3),
        ("empty-line-last", "An empty line at the end.", [*_LINES, b""], "not_canonical", 6),
        ("crlf", "Line ends made CRLF.", [line + b"\r" for line in _LINES], "not_canonical", 1),
        ("joined", "Two lines joined.", [one, two + three, four, five_], "not_canonical", 2),
        ("zeros", "A block of zeros where a line was.", [one, two, bytes(len(three)), four, five_], "not_canonical", 3),
        ("other-chain", "A record of another chain of the same agent.", [one, _other_second(), three, four, five_], "wrong_chain", 2),
        ("after-closing", "A record after the one that closed the chain.", _beyond_closing(), "after_closing", 3),
    ]  # fmt: skip
    return [
        journal_vector(name, shows, _files(lines), broken(code, lines, at)) for name, shows, lines, code, at in rows
    ]


def _other_second() -> bytes:
    other = Story(chain=OTHER_CHAIN)
    other.tell("another journal")
    return other.tell("its second record")


def _beyond_closing() -> list[bytes]:
    first, _ = two_chains()
    longer = Story(lines=list(first.lines), ids=list(first.ids))
    longer.tell("one more")
    return longer.lines


def _forks() -> list[Vector]:
    """The journal against its head."""
    fork = Story(lines=_LINES[:3], ids=_STORY.ids[:3])
    fork.tell("The build is red.", "state")
    fork.tell("So nothing was shipped.", "decision")
    short = "short_of_head"
    return [
        journal_vector("fork-a", "A fork with its own head is whole.", _files(fork.lines, fork.head()), whole("ok_to_head", 5)),
        journal_vector("fork-b", "The other one with its own head, too.", _files(_LINES), whole("ok_to_head", 5)),
        journal_vector("fork-against-head", "One fork with the other's head.", _files(fork.lines), broken("fork_of_head")),
        journal_vector("longer-fork-against-head", "A fork that went on past the head.",
                       _files([*fork.lines, _told_on(fork)]), broken("fork_of_head")),
        journal_vector("cut-to-0", "Cut to nothing.", _files([]), broken(short)),
        journal_vector("cut-to-1", "Cut to one record.", _files(_LINES[:1]), broken(short)),
        journal_vector("cut-by-1", "The last record cut off.", _files(_LINES[:4]), broken(short)),
        journal_vector("cut-after-head", "A cut after the head cannot be seen.", _files(_LINES[:4], _STORY.head(3)), whole("ok_open_end", 4, 1)),
        journal_vector("rolled-back-head", "An older head: what follows it is an open end.", _files(_LINES, _STORY.head(2)), whole("ok_open_end", 5, 3)),
        journal_vector("rolled-back-both", "Stream and head put back together are a valid earlier journal.",
                       _files(_LINES[:2], _STORY.head(2)), whole("ok_to_head", 2)),
    ]  # fmt: skip


def _told_on(story: Story) -> bytes:
    return Story(lines=list(story.lines), ids=list(story.ids)).tell("one more")


def _heads_beside() -> list[Vector]:
    stream = {"stream.jsonl": stream_of(_LINES)}
    foreign = head_of(_LINES, key=OTHER_KEY)
    elsewhere = head_of(_LINES, OTHER_CHAIN)
    larger_elsewhere = head_of([*_LINES, _told_on(_STORY)], OTHER_CHAIN)
    rows: list[tuple[str, str, Files, Vector]] = [
        ("heads-deleted", "Both heads deleted.", {}, broken("head_missing")),
        ("head-1-alone", "One head is enough, whichever.", {"stream.head.1": _STORY.head()}, whole("ok_to_head", 5)),
        ("larger-head", "The larger of two heads counts.",
         {"stream.head.0": _STORY.head(5), "stream.head.1": _STORY.head(2)}, whole("ok_to_head", 5)),
        ("larger-head-second", "Whichever file it is in.",
         {"stream.head.0": _STORY.head(2), "stream.head.1": _STORY.head(4)}, whole("ok_open_end", 5, 1)),
        ("head-torn", "A torn head leaves the other.",
         {"stream.head.0": _STORY.head(5)[:100], "stream.head.1": _STORY.head(3)}, whole("ok_open_end", 5, 2)),
        ("heads-torn", "Both heads torn.",
         {"stream.head.0": _STORY.head(5)[:100], "stream.head.1": b""}, broken("bad_head")),
        ("head-of-another-key", "A head under another key.", {"stream.head.0": foreign}, broken("bad_head")),
        ("head-of-another-key-beside", "It does not count beside a valid one.",
         {"stream.head.0": foreign, "stream.head.1": _STORY.head(2)}, whole("ok_open_end", 5, 3)),
        ("head-of-another-chain", "A head of another chain of the same key.", {"stream.head.0": elsewhere}, broken("bad_head")),
        ("larger-head-of-another-chain", "The larger valid head has to be the chain's.",
         {"stream.head.0": larger_elsewhere, "stream.head.1": _STORY.head(5)}, broken("bad_head")),
        ("later-head", "Of two heads of one size the later counts.", _two_heads(later=1), broken("anchor_mismatch")),
        ("earlier-head", "Whichever file it is in.", _two_heads(later=-1), whole("ok_to_head", 5)),
        ("heads-same-time", "Of two heads of one size and time `stream.head.0` counts.", _two_heads(later=0), whole("ok_to_head", 5)),
        ("head-other-end", "`bytes` and the `last_` fields are not compared with the stream: the root is.",
         {"stream.head.0": _other_end()}, whole("ok_to_head", 5)),
        ("line-before-head", "A bad line is found before a bad head.",
         {"stream.jsonl": stream_of([b"x", *_LINES]), "stream.head.0": b""}, broken("not_canonical", [], 1)),
    ]  # fmt: skip
    missing = {"stream.head.0": _STORY.head()}
    return [
        *[journal_vector(name, shows, {**stream, **files}, expect) for name, shows, files, expect in rows],
        journal_vector("nothing", "Neither record nor head.", {"stream.jsonl": b""}, broken("head_missing")),
        journal_vector("stream-missing", "A head without a stream.", missing, broken("stream_missing")),
    ]


def _two_heads(*, later: int) -> Files:
    """Two heads of all records, the second so many seconds later; it alone calls a day closed that has no folder."""
    second = _STORY.head(closed_through="2026-11-29", time=time_at(2000 + later))
    return {"stream.head.0": _STORY.head(time=time_at(2000)), "stream.head.1": second}


def _other_end() -> bytes:
    end = {"bytes": 1, "last_line_sha256": "0" * 64, "last_record_id": "0" * 32}
    return _sealed({**json.loads(_STORY.head()), **end})


def _keys_and_agents() -> list[Vector]:
    return [
        journal_vector("another-key", "Another key than the one it was signed with.", _files(_LINES), broken("wrong_key", [], 1),
                       keys=[OTHER_SECRET.hex()]),
        journal_vector("another-agent", "The journal of another agent.", _files(_LINES), broken("wrong_chain", [], 1), agent_id="delta"),
    ]  # fmt: skip


# Succession


def two_chains(**opening: Any) -> tuple[Story, Story]:
    """A closed chain and its successor under another key."""
    first = Story()
    first.tell("The old key was on a stolen laptop.")
    first.tell("closing", "identity_change", _closing(OTHER_KEY.kid, OTHER_CHAIN), src="system")
    second = Story(key=OTHER_KEY, chain=OTHER_CHAIN, begins=10)
    second.tell("opening", "identity_change", {"opening": {**_opening(first), **opening}}, src="system")
    second.tell("Went on.")
    return first, second


def _closing(kid: str, chain: str) -> dict[str, Any]:
    return {"closing": {"next_chain": chain, "next_kid": kid}}


def _opening(first: Story) -> dict[str, Any]:
    return {
        "prev_chain": first.chain,
        "prev_last_id": first.ids[-1],
        "prev_root": tree_of(first.lines).root().hex(),
        "prev_size": len(first.lines),
    }


def _archive(story: Story, chain: str | None = None) -> Files:
    stem = f"stream-{chain or story.chain}"
    return {f"{stem}.jsonl": story.stream(), f"{stem}.head.0": story.head()}


def _live(story: Story) -> Files:
    return {"stream.jsonl": story.stream(), "stream.head.1": story.head()}


def _succeeded(
    name: str, shows: str, files: Mapping[str, bytes], expect: Vector, keys: list[str] | None = None
) -> Vector:
    ring = [OTHER_SECRET.hex(), SECRET.hex()] if keys is None else keys
    return journal_vector(name, shows, files, expect, keys=ring)


def _succession() -> list[Vector]:
    first, second = two_chains()
    empty = Story(key=OTHER_KEY, chain=OTHER_CHAIN)
    earlier = _successor(OTHER_KEY, OTHER_CHAIN, begins=-10)
    return [
        _succeeded("succession", "A closed chain and its successor.", {**_archive(first), **_live(second)}, whole("ok_to_head", 4)),
        _succeeded("succession-open-end", "The successor has an open end.",
                   {**_archive(first), "stream.jsonl": second.stream(), "stream.head.0": second.head(1)}, whole("ok_open_end", 4, 1)),
        _succeeded("succession-begun", "The successor has no record yet.", {**_archive(first), **_live(empty)}, whole("ok_to_head", 2)),
        _succeeded("succession-renamed", "A stream's chain is that of its records, not of its file name.",
                   {**_archive(first, THIRD_CHAIN), **_live(second)}, whole("ok_to_head", 4)),
        _succeeded("succession-earlier", "Times rise within a chain, not from one to the next.",
                   {**_archive(first), **_live(earlier)}, whole("ok_to_head", 3)),
        _succeeded("succession-three", "Three chains, the last under the first key again.", three_chains(), whole("ok_to_head", 6),
                   [SECRET.hex(), OTHER_SECRET.hex()]),
    ]  # fmt: skip


def three_chains() -> Files:
    """Three chains, the last under the first key again."""
    first, second = two_chains()
    second.tell("closing", "identity_change", _closing(KEY.kid, THIRD_CHAIN), src="system")
    third = Story(chain=THIRD_CHAIN, begins=20)
    third.tell("opening", "identity_change", {"opening": _opening(second)}, src="system")
    files = {**_archive(first), **_archive(second), **_live(third)}
    return dict(sorted(files.items()))


def _bad_succession() -> list[Vector]:
    first, second = two_chains()
    archive, live = _archive(first), _live(second)
    stem = f"stream-{CHAIN}"
    edited = [altered(first.lines[0], content="Nothing happened."), first.lines[1]]
    forged = [first.lines[0], altered(first.lines[1], content="Closed.")]
    rows: list[tuple[str, str, Files, Vector]] = [
        ("closed-edited", "A closed chain is read from its first byte.",
         {**archive, f"{stem}.jsonl": stream_of(edited), **live}, broken("bad_signature", edited, 1)),
        ("closing-edited", "An edited closing record.",
         {**archive, f"{stem}.jsonl": stream_of(forged), **live}, broken("bad_signature", forged, 2)),
        ("closing-cut", "The closing record cut off.",
         {**archive, f"{stem}.jsonl": stream_of(first.lines[:1]), **live}, broken("short_of_head")),
        ("closed-head-deleted", "A closed chain has its heads too.",
         {f"{stem}.jsonl": first.stream(), **live}, broken("head_missing")),
        ("closed-deleted", "The closed chain deleted.", live, broken("chain_break", [], 1)),
        *[(f"opening-{name.replace('_', '-')}", f"An opening record with another `{name}`.",
           {**archive, **_live(two_chains(**{name: value})[1])}, broken("chain_break", [], 1))
          for name, value in (("prev_root", "0" * 64), ("prev_size", 1), ("prev_last_id", "0" * 32), ("prev_chain", THIRD_CHAIN))],
        ("opening-missing", "A successor that opens nothing.", {**archive, **_live(_unopened())}, broken("chain_break", [], 1)),
        ("other-successor", "A successor under another chain than the closed one names.",
         {**archive, **_live(_successor(OTHER_KEY, THIRD_CHAIN))}, broken("wrong_chain", [], 1)),
    ]  # fmt: skip
    return [
        *[_succeeded(name, shows, files, expect) for name, shows, files, expect in rows],
        _succeeded("begun-elsewhere", "A successor without records, under another chain.",
                   {**archive, **_live(Story(key=OTHER_KEY, chain=THIRD_CHAIN))}, broken("wrong_chain")),
        _succeeded("opening-size-true", "True is not 1.", _opened_by_true(), broken("chain_break", [], 1)),
        _succeeded("closed-and-not-continued", "A closed chain that the chain in use does not continue.",
                   {**archive, "stream.jsonl": _unopened(THIRD_CHAIN).stream(), "stream.head.0": _unopened(THIRD_CHAIN).head()},
                   broken("wrong_chain", [], 1)),
        _succeeded("left-behind", "A chain that was neither closed nor continued.",
                   {**_archive(five()), "stream.jsonl": _unopened().stream(), "stream.head.0": _unopened().head()},
                   broken("chain_break", [], 1)),
        _succeeded("other-successor-key", "A successor under another key than the closed one names.",
                   {**archive, **_live(_successor(KEY, OTHER_CHAIN))}, broken("wrong_key", [], 1), [SECRET.hex()]),
    ]  # fmt: skip


def _opened_by_true() -> Files:
    first = Story()
    first.tell("closing", "identity_change", _closing(OTHER_KEY.kid, OTHER_CHAIN), src="system")
    second = Story(key=OTHER_KEY, chain=OTHER_CHAIN, begins=10)
    second.tell("opening", "identity_change", {"opening": {**_opening(first), "prev_size": True}}, src="system")
    return {**_archive(first), **_live(second)}


def _unopened(chain: str = OTHER_CHAIN) -> Story:
    story = Story(key=OTHER_KEY, chain=chain, begins=10)
    story.tell("Went on.")
    return story


def _successor(key: Any, chain: str, begins: float = 10) -> Story:
    first, _ = two_chains()
    story = Story(key=key, chain=chain, begins=begins)
    story.tell("opening", "identity_change", {"opening": _opening(first)}, src="system")
    return story


# The tail


def torn() -> list[Vector]:
    """A stream cut at every byte of its last line, seen with the lock and without."""
    lines = _LINES[:3]
    story = Story()
    story.tell("Только одна запись 🧱")
    return [
        _torn("head-before", "The head is before the torn line.", _files(lines, _STORY.head(2)), lines, head=2),
        _torn("head-after", "The head is after the torn line: without the lock it is missing.", _files(lines, _STORY.head(3)), lines, head=3),
        _torn("only-line", "The only line is torn.", _files(story.lines, story.head(0)), story.lines, head=0),
        *_long_tails(),
    ]  # fmt: skip


def _torn(name: str, shows: str, files: Files, lines: list[bytes], *, head: int) -> Vector:
    start, end = len(stream_of(lines[:-1])), len(stream_of(lines))
    rest, all_of = _state(len(lines) - 1, head), _state(len(lines), head)
    tail = broken("torn_tail", lines, len(lines))
    cuts = [
        {"from": start, "to": start, "locked": rest, "unlocked": rest},
        {"from": start + 1, "to": end - 1, "locked": tail, "unlocked": rest},
        {"from": end, "to": end, "locked": all_of, "unlocked": all_of},
    ]
    inputs = {"agent_id": AGENT, "files": {path: written(data) for path, data in files.items()}}
    return vector(name, shows, "torn", **inputs, expect={"cuts": cuts})


def _state(records: int, head: int) -> Vector:
    if records < head:
        return broken("short_of_head")
    if records > head:
        return whole("ok_open_end", records, records - head)
    return whole("ok_to_head" if records else "empty", records)


def _long_tails() -> list[Vector]:
    """A tail that is longer than a line may be is no record being written."""
    found = []
    for name, length, code in (("tail-longest", 1_048_576, "torn_tail"), ("tail-too-long", 1_048_577, "not_canonical")):
        pieces = recipe((stream_of(_LINES[:1]), 1), (b"a", length))
        for locked in (True, False):
            bad = broken(code, _LINES, 2)
            expect = bad if locked or code == "not_canonical" else whole("ok_to_head", 1)
            files = {"stream.jsonl": pieces, "stream.head.0": written(_STORY.head(1))}
            seen = "under the lock" if locked else "without the lock"
            shows = f"An unterminated tail of {length:,} bytes, {seen}."
            suffix = "locked" if locked else "unlocked"
            inputs = {"agent_id": AGENT, "locked": locked, "files": files}
            found.append(vector(f"{name}-{suffix}", shows, "journal", **inputs, expect=expect))
    return found


# Heads


def heads() -> list[Vector]:
    """Trees and heads of several sizes, and what is no head."""
    story = five()
    for number in range(3):
        story.tell(f"record {number}")
    return [
        *[_tree(story, size) for size in (0, 1, 2, 3, 4, 5, 7, 8)],
        *[_head(story, size) for size in (0, 1, 2, 3, 5)],
        *_bad_heads(story),
    ]


def _leaf(line: bytes) -> str:
    return hashlib.sha256(b"\x00" + line).hexdigest()


def _tree(story: Story, size: int) -> Vector:
    lines = story.lines[:size]
    tree = tree_of(lines)
    expect = {
        "leaves": [_leaf(line) for line in lines],
        "frontier": [node.hex() for node in tree.frontier],
        "root": tree.root().hex(),
    }
    shows = f"The Merkle tree over {size} line{'' if size == 1 else 's'}."
    return vector(f"tree-{size}", shows, "tree", lines=[written(line) for line in lines], expect=expect)


def _head(story: Story, size: int) -> Vector:
    data = story.head(size, closed_through="2026-11-29" if size == 5 else None)
    fields = json.loads(data)
    seal = fields.pop("mac")
    expect = {"valid": True, "mac": seal, "mac_input": written(b"alveus.head.v1||" + canonical.encode(fields))}
    return vector(f"head-{size}", f"A head of size {size}.", "head", head=written(data), expect=expect)


def _bad_heads(story: Story) -> list[Vector]:
    good = json.loads(story.head(3))
    empty = json.loads(story.head(0))
    rows: list[tuple[str, str, bytes]] = [
        ("newline", "A head file ends with no LF.", story.head(3) + b"\n"),
        ("empty-file", "An empty file is no head.", b""),
        ("spaces", "A head is canonical.", json.dumps(good).encode()),
        ("torn", "Half a head.", story.head(3)[:200]),
        ("array", "A head is an object.", b"[]"),
        ("mac", "A MAC of zeros.", canonical.encode({**good, "mac": "0" * 64})),
        ("mac-upper", "A MAC in upper case.", canonical.encode({**good, "mac": good["mac"].upper()})),
        ("mac-null", "A head without its MAC.", canonical.encode({**good, "mac": None})),
        ("domain", "A MAC under the records' domain.", _sealed(good, domain="montana.agent.hippocampus.v1")),
        ("key", "A MAC under another key.", _sealed(good, secret=OTHER_SECRET)),
        ("edited", "A size edited.", canonical.encode({**good, "size": 2})),
        *[(f"lacks-{name.replace('_', '-')}", f"A head without `{name}`.", _sealed(good, drop=name)) for name in good if name != "mac"],
        ("unknown", "An eleventh key.", _sealed({**good, "note": "x"})),
        *[(name, shows, _sealed({**good, **fields})) for name, shows, fields in _BAD_HEAD_FIELDS],
        ("frontier-short", "A frontier with a hash too few.", _sealed({**good, "frontier": good["frontier"][:1]})),
        ("frontier-long", "A frontier with a hash too many.", _sealed({**good, "frontier": [*good["frontier"], "0" * 64]})),
        ("frontier-swapped", "A frontier the wrong way round.", _sealed({**good, "frontier": good["frontier"][::-1]})),
        ("frontier-upper", "A frontier in upper case.", _sealed({**good, "frontier": [one.upper() for one in good["frontier"]]})),
        ("root", "A root that does not follow from the frontier.", _sealed({**good, "root": "0" * 64})),
        ("empty-with-bytes", "Size 0 has no bytes.", _sealed({**empty, "bytes": 1})),
        ("empty-with-root", "The root of nothing is the hash of nothing.", _sealed({**empty, "root": "0" * 64})),
        ("empty-with-last", "Size 0 has no last record.", _sealed({**empty, "last_record_id": "0" * 32})),
        ("empty-with-last-line", "Size 0 has no last line.", _sealed({**empty, "last_line_sha256": "0" * 64})),
    ]  # fmt: skip
    return [
        vector(f"bad-{name}", shows, "head", head=written(data), expect={"valid": False}) for name, shows, data in rows
    ]


_BAD_HEAD_FIELDS: Final[list[tuple[str, str, dict[str, Any]]]] = [
    ("no-bytes", "A size has bytes.", {"bytes": 0}),
    ("bytes-text", "`bytes` is an integer.", {"bytes": "1"}),
    ("bytes-negative", "`bytes` is not negative.", {"bytes": -1}),
    ("size-fraction", "`size` is an integer.", {"size": 3.5}),
    ("size-negative", "`size` is not negative.", {"size": -3}),
    ("chain-upper", "`chain` in upper case.", {"chain": CHAIN.upper()}),
    ("chain-short", "`chain` of 31 digits.", {"chain": CHAIN[:31]}),
    ("closed-through-time", "`closed_through` is a date.", {"closed_through": "2026-11-29T00:00:00Z"}),
    ("closed-through-no-day", "`closed_through` is a real day.", {"closed_through": "2026-11-31"}),
    ("closed-through-empty", "`closed_through` is null, not empty.", {"closed_through": ""}),
    ("last-line-null", "A size has a last line.", {"last_line_sha256": None}),
    ("last-id-null", "A size has a last record.", {"last_record_id": None}),
    ("last-id-short", "`last_record_id` of 31 digits.", {"last_record_id": "a" * 31}),
    ("frontier-null", "`frontier` is an array.", {"frontier": None}),
    ("time-no-decimals", "`time` has the form of a timestamp.", {"time": "2026-11-30T09:00:00Z"}),
    ("time-null", "`time` is not null.", {"time": None}),
]


def _sealed(
    head: dict[str, Any], *, secret: bytes = SECRET, domain: str = "alveus.head.v1", drop: str | None = None
) -> bytes:
    """The head with these fields, sealed for what they are."""
    fields = {name: value for name, value in head.items() if name not in {"mac", drop}}
    return canonical.encode({**fields, "mac": mac(secret, domain, canonical.encode(fields))})
