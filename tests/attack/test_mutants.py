"""Bytes changed at random: no mutant of a journal is accepted, and none brings the verifier down."""

import random
from itertools import takewhile

import pytest

from alveus.journal.chain import Link, judge_head
from alveus.journal.chain import walk as chain_walk
from alveus.journal.head import Head, make_head
from alveus.store import lines as store_lines
from shapes import AGENT, KEY, forty, looks, walk, walk_by_the_rules

TOKENS = [
    b'"',
    b"\\",
    b"{",
    b"}",
    b"[",
    b",",
    b":",
    b"\n",
    b"\r",
    b" ",
    b"\x00",
    b"0",
    b"-",
    b"e",
    b".",
    b"null",
    b"true",
]
TOKENS += [b'"hc":{', b"\\u0061", b"\xef\xbb\xbf", b"\xff", "я".encode(), b"\xe2\x80\xa8", b"9007199254740993", b"1.0"]


class Memory:
    """Just enough of `Files` to be read from."""

    def __init__(self, data):
        self.data = data

    def read(self, _, size, offset):
        """See `Files`."""
        return self.data[offset : offset + size]


def mutant(dice, data, lines):  # noqa: C901, PLR0911, PLR0912 - a table of twenty kinds of harm
    """The journal's bytes with one thing done to them."""
    how = dice.randrange(13)
    at = dice.randrange(len(data))
    size = dice.choice((1, 1, 2, 8, 64, dice.randrange(1, 2000)))
    to = dice.randrange(len(data))
    piece = data[at : at + size]
    if how == 0:
        return data[:at] + bytes([data[at] ^ 1 << dice.randrange(8)]) + data[at + 1 :]
    if how == 1:
        return data[:at] + bytes([dice.randrange(256)]) + data[at + 1 :]
    if how == 2:
        return data[:at] + dice.choice(TOKENS) + data[at:]
    if how == 3:
        return data[:at] + dice.randbytes(dice.randrange(1, 9)) + data[at:]
    if how == 4:
        return data[:at] + data[at + size :]
    if how == 5:
        return data[: at + size] + piece + data[at + size :]
    if how == 6:
        rest = data[:at] + data[at + size :]
        return rest[:to] + piece + rest[to:]
    if how == 7:
        one, two = sorted((at, to))
        size = min(size, two - one)
        middle = data[one + size : two]
        return data[:one] + data[two : two + size] + middle + data[one : one + size] + data[two + size :]
    if how == 8:
        return data[:at]
    if how == 9:
        return data[:at] + piece.swapcase() + data[at + size :]
    if how == 10:
        return data[:at] + bytes(len(piece)) + data[at + size :]
    chosen = list(lines)
    one, two = dice.randrange(len(lines)), dice.randrange(len(lines))
    if how == 11:
        what = dice.randrange(4)
        if what == 0:
            chosen[one], chosen[two] = chosen[two], chosen[one]
        elif what == 1:
            chosen.insert(one, chosen[two])
        elif what == 2:
            del chosen[min(one, two) : max(one, two) + 1]
        else:
            chosen = chosen[:one]
        return b"".join(chosen)
    cut = dice.randrange(len(lines[one]))
    chosen[one] = lines[one][:cut] + lines[two][min(cut, len(lines[two])) :]
    return b"".join(chosen)


def run_mutants(count, seed, monkeypatch=None):
    """Verify `count` mutants; returns how many of them were clean cuts.

    A walk says the same of the same lines: where a mutant begins like the journal it is walked from the first line that
    differs, unless both ways of judging are compared.
    """
    lines = [line + b"\n" for line in forty()]
    data = b"".join(lines)
    starts = [walk(lines[:number]) for number in range(len(lines) + 1)]
    head = head_of(starts[-1])
    assert (starts[-1].fault, judge_head(walk(lines, sizes={40}), head)) == (None, None)
    ends = {walked.link.offset for walked in starts[:-1]}
    dice, cuts, done = random.Random(seed), 0, 0
    while done < count:
        changed = mutant(dice, data, lines)
        if changed == data:
            continue
        done += 1
        read = list(store_lines.forwards(Memory(changed), 0, 0, len(changed)))
        assert b"".join(read) == changed
        same = (
            0
            if monkeypatch
            else sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(lines, read, strict=False)))
        )
        link, tree = starts[same].link.copy(), starts[same].tree.copy()
        walked = chain_walk(read[same:], KEY, link if same else Link(agent_id=AGENT), tree=tree, sizes={40})
        if walked.fault is None and walked.tail == 0:
            assert data.startswith(changed), changed
            assert len(changed) in ends
            assert judge_head(walked, head).code == "short_of_head"
            cuts += 1
        if monkeypatch is not None:
            assert looks(walk_by_the_rules(monkeypatch, read, sizes={40})) == looks(walked)
    return cuts


def head_of(walked):
    """The head at the end of a walk."""
    link = walked.link
    head = make_head(
        walked.tree,
        chain=link.chain,
        offset=link.offset,
        last_line_sha256=link.last_line,
        last_record_id=link.last_id,
        closed_through=None,
        time="2026-02-01T00:00:00.000000Z",
    )
    assert isinstance(head, Head)
    return head


def test_no_mutant_of_a_journal_is_accepted():
    """Of 50,000 mutants of a 40-record journal none raises and none passes but clean cuts, which the head catches."""
    cuts = sum(run_mutants(10_000, seed) for seed in range(5))
    assert cuts > 500


def test_the_shortcut_judges_mutants_as_the_rules_do(monkeypatch):
    """For 1,000 mutants the quick recognition of usual lines and the rules find the very same."""
    run_mutants(1_000, 99, monkeypatch)


@pytest.mark.prove
@pytest.mark.parametrize("seed", range(100, 120))
def test_no_mutant_in_a_million_is_accepted(seed, monkeypatch):
    """The same with twenty times as many, each judged both ways."""
    run_mutants(50_000, seed, monkeypatch)


@pytest.mark.parametrize("number", range(40))
def test_every_bit_of_a_record_counts(number):
    """No bit of any line can be flipped unnoticed."""
    lines = [line + b"\n" for line in forty()]
    line = lines[number]
    before = walk(lines[:number]).link if number else Link(agent_id=AGENT)
    for at in range(0, len(line), 7):
        for bit in range(8):
            changed = line[:at] + bytes([line[at] ^ 1 << bit]) + line[at + 1 :]
            read = list(store_lines.forwards(Memory(changed), 0, 0, len(changed)))
            walked = chain_walk(read, KEY, before.copy())
            assert walked.fault is not None or walked.tail > 0
