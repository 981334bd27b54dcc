"""The usual next line, recognised without parsing it.

A verifier knows what nearly every line has to look like before it reads it: the chain, the sequence number, the hash
of the line before, and, once it has hashed the line's own slices, its id and its signature. Comparing bytes with bytes
costs less than parsing them. This module never refuses: what it does not recognise is judged by `seal.check` and
`chain.Link.take`, and what it recognises they would accept (a property test holds them together).
"""

from __future__ import annotations

import hmac
import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from hashlib import sha256
from typing import Final, NamedTuple, Protocol

from alveus.journal import canonical
from alveus.journal.head import Tree
from alveus.journal.record import MAX_LINE, PROFILE, Kind, Novelty, Source
from alveus.journal.seal import Key, is_event_time


class Place(Protocol):
    """Where the next line stands: the end of the chain so far (`chain.Link`)."""

    agent_id: str
    chain: str | None
    size: int
    offset: int
    last_id: str | None
    last_line: str | None
    last_time: str


Tally = Callable[[str, str, str], object]
"""Takes a record's day (`YYYY-MM-DD`), novelty and id."""


def run(  # noqa: C901, PLR0915  (one loop, for the reason its docstring gives)
    lines: Iterator[bytes], place: Place, key: Key, tree: Tree, *, until: int, tally: Tally | None
) -> bytes | None:
    """Take usual lines, each with its LF, until `place.size` is `until`; advance `place` and `tree` over them.

    Returns the first line that is not usual and was not taken, or None when `until` or the end was reached. `place`
    has at least one record with the signed profile behind it and is not closed.

    One long loop over local names: a call a line, or an attribute, costs a verifier a twentieth of its speed.
    """
    opening = b'{"agent_id":' + canonical.encode(place.agent_id) + b',"content":"'
    text_at, named = len(opening), _Named((place.chain or "").encode(), key.kid.encode())
    form = named.form(b"words/1", b"agent")
    last_id, last_line = (place.last_id or "").encode(), (place.last_line or "").encode()
    stamp, size, offset, before = _stamp(place.last_time), place.size, place.offset, b"%d" % (place.size - 1)
    hash_bytes, hash_signed, hash_outer = _SHA256.copy, *key.states()
    leaves: list[bytes] = []
    raw: bytes | None = None
    while size < until:
        raw = next(lines, None)
        if raw is None:
            break
        line = raw[:-1]
        tail_at = len(line) - _TAIL
        kind_at = line.find(b'","kind":"', text_at)
        meta_at = line.find(b'","metadata":{', kind_at + 10, kind_at + 40) + 1
        meta_end = line.rfind(b'},"novelty":"', tail_at - 36, tail_at) + 1
        text, kind, new_stamp = line[text_at:kind_at], line[kind_at + 10 : meta_at - 1], line[-_STAMP:]
        novelty, position = line[meta_end + 12 : tail_at - 1], b"%d" % size

        # the profile, spelled as it has to be but for `synced` and the caller's own metadata after it
        synced_at = meta_at + form.fixed + len(novelty) + len(position)
        synced_end = line.find(b"}", synced_at, meta_end)
        synced, rest = line[synced_at:synced_end], line[synced_end + 1 : meta_end - 1]
        profile = b"".join((form.head, novelty, _P, last_line, _SEQ, position, form.src, synced, b"}", rest))
        if not line.startswith(profile, meta_at):
            found = _METADATA(line, meta_at + _META, meta_end)
            if found is None:
                break
            pairs_before, by, chain, event_time, kid, signed_novelty, prev_line, seq, src, synced, rest = found.groups()
            if (chain, kid, prev_line, seq, signed_novelty) != (named.chain, named.kid, last_line, position, novelty):
                break
            if event_time is not None and not is_event_time(event_time.decode()):
                break
            if pairs_before and canonical.parse_quickly(line[meta_at + _META : meta_end]) is None:
                break
            form, profile = named.form(by, src), line[meta_at : meta_end - 1]
        if rest and _PAIR_AFTER(rest) is None and not _are_pairs(rest, line[meta_at + _META : meta_end]):
            break

        state = hash_bytes()
        state.update(line[: kind_at + 1] + line[meta_at:meta_end] + new_stamp)
        record_id = state.hexdigest()[:32].encode()
        state, outer = hash_signed(), hash_outer()
        state.update(line[:meta_end] + line[tail_at : tail_at + _PREV] + new_stamp)
        outer.update(state.digest())
        signature = outer.hexdigest().encode()
        tail = b"".join((_PREV_ID, last_id, _RECORD_ID, record_id, _SIGNATURE, signature, b'"', new_stamp))
        if not (
            hmac.compare_digest(tail, line[tail_at - 1 :])
            and raw[-1] == _LF
            and len(line) <= MAX_LINE
            and line.startswith(opening)
            and new_stamp > stamp
            and new_stamp[34:40].isdigit()
            and ((new_stamp[:34] == stamp[:34] and new_stamp[40:] == _ZULU) or _is_stamp(new_stamp))
            and novelty in _NOVELTIES
            and kind in _KINDS
            and (synced == before or _is_synced(synced, size))
            and (len(text.translate(None, _ESCAPED)) == len(text) or _TEXT(text) is not None)
            and (line.isascii() or _is_utf8(line))
        ):
            break
        state = hash_bytes()
        state.update(line)
        last_id, last_line, stamp, before = record_id, state.hexdigest().encode(), new_stamp, position
        state = _LEAF()
        state.update(line)
        leaves.append(state.digest())
        if len(leaves) == _LEAVES:
            tree.extend(leaves)
            leaves.clear()
        size += 1
        offset += len(raw)
        if tally is not None:
            tally(stamp[14:24].decode(), novelty.decode(), record_id.decode())
        raw = None
    tree.extend(leaves)
    place.size, place.offset, place.last_time = size, offset, stamp[14:-2].decode()
    place.last_id, place.last_line = last_id.decode(), last_line.decode()
    return raw


class _Form(NamedTuple):
    """What surrounds the changing parts of a profile without optional fields."""

    head: bytes
    src: bytes
    fixed: int


class _Named(NamedTuple):
    """What a chain's profiles have in common."""

    chain: bytes
    kid: bytes

    def form(self, by: bytes, src: bytes) -> _Form:
        signer = b'","chain":"' + self.chain + b'","kid":"' + self.kid
        head = b',"metadata":{"hc":{"by":"' + by + signer + b'","novelty":"'
        tail = b',"src":"' + src + b'","synced":'
        return _Form(head, tail, len(head) + len(_P) + 64 + len(_SEQ) + len(tail))


def _stamp(timestamp: str) -> bytes:
    return b',"timestamp":"' + timestamp.encode() + b'"}'


def _is_synced(text: bytes, size: int) -> bool:
    return text == b"-1" or (_NUMBER(text) is not None and int(text) < size)


def _are_pairs(rest: bytes, metadata: bytes) -> bool:
    """Whether the caller's metadata after the profile is plain, and the whole in order without repetition."""
    return _PAIRS_AFTER(rest) is not None and canonical.parse_quickly(metadata) is not None


def _is_utf8(line: bytes) -> bool:
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True


def _is_stamp(stamp: bytes) -> bool:
    return _STAMP_FORM(stamp) is not None and _is_date(stamp[14:24])


@lru_cache(maxsize=64)
def _is_date(text: bytes) -> bool:
    return is_event_time(f"{text.decode()}T00:00:00Z")


_LF: Final = ord("\n")
_ZULU: Final = b'Z"}'
_LEAVES: Final = 4096
"""Leaf hashes held before they go into the tree together."""
_P: Final = f'","p":{PROFILE},"prev_line":"'.encode()
_SEQ: Final = b'","seq":'
_PREV_ID: Final = b'","prev_id":"'
_RECORD_ID: Final = b'","record_id":"'
_SIGNATURE: Final = b'","signature":"'
_META: Final = len(',"metadata":')
_PREV: Final = len(',"prev_id":""') + 32
_STAMP: Final = len(_stamp("2026-11-30T12:00:00.000000Z"))
_TAIL: Final = _PREV + len(',"record_id":""') + 32 + len(',"signature":""') + 64 + _STAMP
_KINDS: Final = frozenset(kind.value.encode() for kind in Kind if kind is not Kind.IDENTITY_CHANGE)
"""An identity change may close the journal, which the rules have to see."""
_NOVELTIES: Final = frozenset(novelty.value.encode() for novelty in Novelty)
_ESCAPED: Final = bytes(range(32)) + b'"\\'
_SHA256: Final = sha256()
_LEAF: Final = sha256(b"\x00").copy

_STRING = r'(?:[^"\\\x00-\x1f]++|\\(?:["\\bfnrt]|u00(?:0[0-7bef]|1[0-9a-f])))*+'
_NAME = r'[^"\\\x00-\x1f\x7f-\xff]'
_WHOLE = r"(?:0|[1-9][0-9]{0,14})"
_VALUE = rf'(?:"{_STRING}"|-?[1-9][0-9]{{0,14}}|0|true|false|null)'
_PAIR = rf'"[a-zA-Z0-9_.-]+":{_VALUE}'


def _full(pattern: str) -> Callable[..., re.Match[bytes] | None]:
    return re.compile(pattern.encode()).fullmatch


_TEXT: Final = _full(_STRING)
_NUMBER: Final = _full(_WHOLE)
_PAIR_AFTER: Final = _full(rf',"[i-z][a-zA-Z0-9_.-]*":{_VALUE}')
_PAIRS_AFTER: Final = _full(rf"(?:,{_PAIR})+")
_STAMP_FORM: Final = _full(
    r',"timestamp":"[0-9]{4}-[0-9]{2}-[0-9]{2}T(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]\.[0-9]{6}Z"}'
)
_METADATA: Final = _full(
    rf'{{((?:{_PAIR},)*+)"hc":{{"by":"({_NAME}{{1,200}}+)","chain":"([0-9a-f]+)"(?:,"clock":"back")?'
    rf'(?:,"event_time":"([0-9T:.Z+-]+)")?,"kid":"([0-9a-f]+)","novelty":"({"|".join(Novelty)})"'
    rf'(?:,"origin":"{_NAME}{{1,1024}}+")?,"p":{PROFILE},"prev_line":"([0-9a-f]+)","seq":({_WHOLE})'
    rf'(?:,"session":"{_NAME}{{1,1024}}+")?,"src":"({"|".join(Source)})","synced":(-1|{_WHOLE})'
    rf'(?:,"user":"{_NAME}{{1,1024}}+")?}}((?:,{_PAIR})*+)}}'
)
