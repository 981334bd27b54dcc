"""Every attack on the files of a journal, and the code by which it is caught: spec/journal.md, section 5."""

import base64
import json
import shutil
import uuid

import pytest

from alveus import AlveusError, ChainState, Hippocampus, Kind
from alveus.hippocampus import verify_layout
from alveus.journal.seal import Key
from alveus.store.files import DISK
from alveus.store.layout import make_layout
from forge import KEY, Bench, basic_lines, canonical, head_bytes, kid_of, profile_lines, sealed

N = 8
MIDDLE = 4
OTHER_ID, OTHER_HASH = "ab" * 16, "ab" * 32


@pytest.fixture
def bench(home, clock):
    """A closed journal of eight records of all kinds; its head counts them all."""
    with Hippocampus.open(home=home, agent_id="river", clock=clock) as memory:
        for number, kind in enumerate([*Kind, Kind.STATE, Kind.DECISION]):
            memory.record(
                kind,
                f"{kind} {number}: переезд в Казань",
                {"number": number, "nested": {"b": [1, None, True], "a": "é"}},
                session="s1",
                user="anna",
                event_time="2025-12-31T23:00:00+03:00",
                origin=f"test:table:{number}",
                part=(1, 2),
            )
            clock.advance(seconds=1)
    return Bench.of(home)


def verdict_of(bench, **options):
    """The verdict on the files, which is the same to whoever asks."""
    verdict = verify_layout(make_layout(bench.home, bench.agent_id), DISK, **options)
    before = bench.stream.read_bytes() if bench.stream.is_file() else b""
    try:
        with Hippocampus.open(home=bench.home, agent_id=bench.agent_id, create=False, read_only=True) as memory:
            assert memory.verify_chain(**options) == verdict
    except AlveusError:
        pass  # too damaged to be opened
    assert (bench.stream.read_bytes() if bench.stream.is_file() else b"") == before
    return verdict


def code_of(bench, line=None, **options):
    """The code of the fault, which has to lie in that line (from 1)."""
    verdict = verdict_of(bench, **options)
    assert verdict.state is ChainState.BROKEN
    assert not verdict
    assert verdict.fault.detail
    if line is not None:
        assert verdict.fault.line == line
        assert verdict.fault.offset == sum(len(one) + 1 for one in bench.stream.read_bytes().split(b"\n")[: line - 1])
        assert verdict.size == line - 1
    return verdict.fault.code


def at_middle(bench, **options):
    """The code of a fault in the middle record."""
    return code_of(bench, MIDDLE + 1, **options)


def test_the_untouched_journal_is_whole(bench):
    """Nothing was done to it: it ends where its head says."""
    verdict = verdict_of(bench)
    assert verdict.state is ChainState.OK_TO_HEAD
    assert (verdict.size, verdict.head_size, verdict.open_end, verdict.fault) == (N, N, 0, None)


# Edits without the key


@pytest.mark.parametrize(
    ("field", "value", "code"),
    [
        ("agent_id", "brook", "bad_signature"),
        ("agent_id", "", "bad_field"),
        ("agent_id", "a\x00b", "bad_field"),
        ("agent_id", "x" * 257, "bad_field"),
        ("agent_id", 1, "bad_field"),
        ("content", "something else", "bad_signature"),
        ("content", None, "bad_field"),
        ("kind", "decision", "bad_signature"),
        ("kind", "rumour", "bad_field"),
        ("kind", "Decision", "bad_field"),
        ("metadata", {}, "bad_field"),  # without hc in a journal that has it, the prev_id apart
        ("metadata", [], "bad_field"),
        ("metadata", None, "bad_field"),
        ("novelty", "flip", "novelty_mismatch"),
        ("novelty", "boring", "bad_field"),
        ("prev_id", OTHER_ID, "bad_signature"),
        ("prev_id", None, "bad_field"),
        ("prev_id", "", "bad_field"),
        ("prev_id", OTHER_ID.upper(), "bad_field"),
        ("record_id", OTHER_ID, "bad_record_id"),
        ("record_id", OTHER_ID.upper(), "bad_field"),
        ("record_id", OTHER_ID[:-1], "bad_field"),
        ("record_id", OTHER_ID + "\n", "bad_field"),
        ("signature", OTHER_HASH, "bad_signature"),
        ("signature", "0" * 64, "bad_signature"),
        ("signature", OTHER_HASH.upper(), "bad_field"),
        ("signature", "é" * 64, "bad_field"),
        ("signature", "", "bad_field"),
        ("timestamp", "2026-01-01T12:00:04.000001Z", "bad_signature"),
        ("timestamp", "2026-01-01T12:00:04.000000+00:00", "bad_field"),
        ("timestamp", "2026-01-01T12:00:04Z", "bad_field"),
        ("timestamp", "2026-02-30T12:00:04.000000Z", "bad_field"),
        ("timestamp", "2026-01-01T24:00:00.000000Z", "bad_field"),
        ("timestamp", "2026-01-01T12:00:60.000000Z", "bad_field"),
        ("timestamp", "٢٠٢٦-01-01T12:00:04.000000Z", "bad_field"),
        ("timestamp", 1767268804, "bad_field"),
    ],
)
def test_edit_of_a_field(bench, field, value, code):
    """A field that was changed is caught by the signature, by the id, or by not being what the format allows."""
    if value == "flip":
        value = "routine" if bench.record(MIDDLE)["novelty"] != "routine" else "novel"
    bench.edit(MIDDLE, **{field: value})
    assert code_of(bench, MIDDLE + 1) in ({code, "bad_signature"} if value == {} else {code})


@pytest.mark.parametrize(
    ("field", "value", "code"),
    [
        ("p", 2, "bad_field"),
        ("p", True, "bad_field"),
        ("chain", OTHER_ID, "bad_signature"),
        ("chain", "x", "bad_field"),
        ("seq", 5, "bad_signature"),
        ("seq", -1, "bad_field"),
        ("seq", True, "bad_field"),
        ("seq", "4", "bad_field"),
        ("seq", 0, "bad_field"),  # prev_id and prev_line are null only there
        ("prev_line", OTHER_HASH, "bad_signature"),
        ("prev_line", None, "bad_field"),
        ("kid", "ab" * 8, "wrong_key"),
        ("kid", "AB" * 8, "bad_field"),
        ("novelty", "flip", "bad_signature"),
        ("novelty", "boring", "bad_field"),
        ("by", "words/2", "bad_signature"),
        ("by", "", "bad_field"),
        ("by", "x" * 201, "bad_field"),
        ("by", "a\u0085b", "bad_field"),
        ("synced", -1, "bad_signature"),
        ("synced", -2, "bad_field"),
        ("synced", MIDDLE, "bad_field"),
        ("synced", 1.0, "bad_field"),
        ("src", "user", "bad_signature"),
        ("src", "root", "bad_field"),
        ("user", "boris", "bad_signature"),
        ("user", "", "bad_field"),
        ("user", None, "bad_field"),
        ("session", "s2", "bad_signature"),
        ("session", "x" * 1025, "bad_field"),
        ("event_time", "2025-12-31T23:00:01+03:00", "bad_signature"),
        ("event_time", "2025-12-31T23:00:00", "bad_field"),
        ("event_time", "2025-12-31T23:00:00+25:00", "bad_field"),
        ("origin", "test:table:other", "bad_signature"),
        ("origin", "a\nb", "bad_field"),
        ("part", [2, 2], "bad_signature"),
        ("part", [3, 2], "bad_field"),
        ("part", [0, 2], "bad_field"),
        ("part", [1], "bad_field"),
        ("clock", "back", "bad_signature"),
        ("clock", "forward", "bad_field"),
        ("trust", "high", "bad_field"),
    ],
)
def test_edit_of_a_field_of_the_profile(bench, field, value, code):
    """The signed profile is as closed and as bound as the nine fields."""
    if value == "flip":
        value = "routine" if bench.record(MIDDLE)["novelty"] != "routine" else "novel"
    if value == 1.0:  # its canonical spelling is 1, an integer: the edit is of the type's neighbour
        value = "1"
    record = bench.record(MIDDLE)
    record["metadata"]["hc"][field] = value
    bench.replace(MIDDLE, canonical(record))
    assert at_middle(bench) == code


@pytest.mark.parametrize("name", ["agent_id", "content", "kind", "metadata", "novelty", "prev_id", "record_id"])
def test_missing_field(bench, name):
    """Eight fields are no record, whichever is missing."""
    bench.without(MIDDLE, name)
    assert at_middle(bench) == "bad_field"


@pytest.mark.parametrize("name", ["signature", "timestamp"])
def test_missing_proof(bench, name):
    """A record without signature or time is no record."""
    bench.without(MIDDLE, name)
    assert at_middle(bench) == "bad_field"


@pytest.mark.parametrize("name", ["aaa", "hc", "zzz", "Content", "__proto__", ""])
def test_unknown_field(bench, name):
    """Ten fields are no record: what the signature does not cover has no place in the line."""
    bench.edit(MIDDLE, **{name: "smuggled"})
    assert at_middle(bench) == "bad_field"


@pytest.mark.parametrize("name", ["p", "chain", "seq", "prev_line", "kid", "novelty", "by", "synced", "src"])
def test_missing_field_of_the_profile(bench, name):
    """What the profile has to say cannot be left out."""
    bench.edit_hc(MIDDLE, **{name: ...})
    assert at_middle(bench) == "bad_field"


@pytest.mark.parametrize("value", [None, {}, [], "x", 0, False])
def test_profile_that_is_none(bench, value):
    """A falsy or foreign `hc` does not turn a record into one of the kind without it."""
    record = bench.record(MIDDLE)
    record["metadata"]["hc"] = value
    bench.replace(MIDDLE, canonical(record))
    assert at_middle(bench) == "bad_field"


def test_novelty_flip_in_both_places(bench):
    """Flipping the signed copy along with the novelty breaks the signature."""
    record = bench.record(MIDDLE)
    other = "routine" if record["novelty"] != "routine" else "novel"
    bench.edit(MIDDLE, novelty=other)
    bench.edit_hc(MIDDLE, novelty=other)
    assert at_middle(bench) == "bad_signature"


def test_record_id_rewritten_with_the_link_to_it(bench):
    """The signature does not cover record_id: the id is recomputed, before what the next record says is looked at."""
    bench.edit(MIDDLE, record_id=OTHER_ID)
    bench.edit(MIDDLE + 1, prev_id=OTHER_ID)
    assert at_middle(bench) == "bad_record_id"


def test_fields_of_two_records_swapped(bench):
    """Contents or proofs of two records that are both valid do not fit one another's places."""
    one, two = bench.record(3), bench.record(4)
    bench.edit(3, content=two["content"])
    assert code_of(bench, 4) == "bad_signature"
    bench.edit(3, content=one["content"], signature=two["signature"], record_id=two["record_id"])
    assert code_of(bench, 4) == "bad_signature"


# What only the holder of the key can do: the chain still has to hold


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"content": "rewritten"}, None),
        ({"novelty": "routine", "hc": {"novelty": "novel"}}, "novelty_mismatch"),
        ({"prev_id": OTHER_ID}, "chain_break"),
        ({"hc": {"seq": 5}}, "bad_seq"),
        ({"hc": {"prev_line": OTHER_HASH}}, "bad_prev_line"),
        ({"hc": {"chain": OTHER_ID}}, "wrong_chain"),
        ({"agent_id": "brook"}, "wrong_chain"),
        ({"timestamp": "2026-01-01T12:00:03.000000Z"}, "time_not_rising"),
        ({"timestamp": "2026-01-01T11:00:00.000000Z"}, "time_not_rising"),
    ],
)
def test_signed_again_in_the_wrong_place(bench, changes, code):
    """A record signed with the right key is caught by what does not fit before it, else by the record after it."""
    bench.forge(MIDDLE, **changes)
    if code is None:
        assert code_of(bench, MIDDLE + 2) == "chain_break"
    else:
        assert at_middle(bench) == code


def test_signed_again_without_the_profile(bench):
    """A record without `hc` has no place in a journal that has it, however well it is signed."""
    record = bench.record(MIDDLE)
    del record["metadata"]["hc"]
    bench.replace(MIDDLE, canonical(sealed(record, bench.key)))
    assert at_middle(bench) == "bad_field"


def test_profile_in_a_journal_without_it(home):
    """The first record decides for the stream: the two forms do not mix."""
    bench = Bench(home)
    contents = [("state", f"s{number}", "novel") for number in range(3)]
    bench.lines = [*basic_lines(contents)[:2], profile_lines(contents)[2]]
    assert code_of(bench, 3) == "bad_field"


def test_record_after_the_closing_one(home):
    """Nothing follows a closing record, not even what is signed and linked."""
    bench = Bench(home)
    lines = profile_lines([("state", "one", "novel"), ("identity_change", "closing", "novel"), ("state", "x", "novel")])
    bench.lines = lines
    bench.heads[0].write_bytes(head_bytes([]))
    assert verdict_of(bench)
    record = bench.record(1)
    record["metadata"]["closing"] = {"next_chain": "c1" * 16, "next_kid": "ab" * 8}
    closing = canonical(sealed(record))
    bench.lines = relinked([lines[0], closing], lines[2:])
    assert code_of(bench, 3) == "after_closing"


def relinked(kept, others):
    """Lines after `kept`, linked to them and signed again."""
    import hashlib

    lines = list(kept)
    for line in others:
        record = json.loads(line)
        before = json.loads(lines[-1])
        record["prev_id"] = before["record_id"]
        record["metadata"]["hc"]["prev_line"] = hashlib.sha256(lines[-1]).hexdigest()
        record["metadata"]["hc"]["seq"] = before["metadata"]["hc"]["seq"] + 1
        lines.append(canonical(sealed(record)))
    return lines


# Whole lines


@pytest.mark.parametrize("number", range(N))
def test_delete(bench, number):
    """A deleted line breaks the chain where it was; the last one is missed by the head."""
    bench.lines = [line for at, line in enumerate(bench.lines) if at != number]
    if number == N - 1:
        assert code_of(bench) == "short_of_head"
    else:
        assert code_of(bench, number + 1) == "chain_break"


@pytest.mark.parametrize("number", [0, MIDDLE, N])
def test_insert_of_a_foreign_record(bench, number, tmp_path):
    """A record of the same agent and key, but of another chain, fits nowhere."""
    other = Bench(tmp_path / "other", key=bench.key)
    other.lines = profile_lines([("state", "smuggled", "novel")] * 12, key=bench.key)
    lines = bench.lines
    bench.lines = [*lines[:number], other.lines[number], *lines[number:]]
    # in first place it makes itself the journal's chain, and the second record gives it away
    assert code_of(bench, number + 1 if number else 2) == "wrong_chain"


@pytest.mark.parametrize("number", [0, MIDDLE, N])
@pytest.mark.parametrize("junk", [b"", b"{}", b"[]", b"null", b"\x00", b"# note", b"\xff\xfe", b"{" * 40])
def test_insert_of_junk(bench, junk, number):
    """A line that is no record is a fault, an empty one too."""
    lines = bench.lines
    bench.lines = [*lines[:number], junk, *lines[number:]]
    assert code_of(bench, number + 1) == ("bad_field" if junk == b"{}" else "not_canonical")


@pytest.mark.parametrize("number", range(N - 1))
def test_reorder(bench, number):
    """Two neighbours in each other's place break the chain there."""
    lines = bench.lines
    lines[number : number + 2] = reversed(lines[number : number + 2])
    bench.lines = lines
    assert code_of(bench, number + 1) == "chain_break"


@pytest.mark.parametrize("number", [0, MIDDLE, N - 1])
def test_replay_at_the_end(bench, number):
    """An earlier record, appended again, does not follow the last one."""
    bench.lines = [*bench.lines, bench.lines[number]]
    assert code_of(bench, N + 1) == "chain_break"


def test_replay_in_place_of_another(bench):
    """A copy of one record does not stand in for another."""
    bench.replace(MIDDLE, bench.lines[2])
    assert at_middle(bench) == "chain_break"


@pytest.fixture
def twins(home, clock):
    """Five records that say the same, at the same instant of a clock that stands still."""
    with Hippocampus.open(home=home, agent_id="river", clock=clock) as memory:
        for _ in range(5):
            memory.record("observation", "the same", {"same": True})
    bench = Bench.of(home)
    assert len({bench.record(number)["record_id"] for number in range(5)}) == 5
    return bench


@pytest.mark.parametrize("number", range(4))
def test_twin_records_deleted_swapped_replayed(twins, number):
    """Records that say the same are told apart: none can go, change places, or stand for another."""
    lines = twins.lines
    twins.lines = lines[:number] + lines[number + 1 :]
    assert code_of(twins, number + 1) == "chain_break"
    twins.lines = [*lines[:number], lines[number + 1], lines[number], *lines[number + 2 :]]
    assert code_of(twins, number + 1) == "chain_break"
    twins.lines = [*lines[:number], lines[number], *lines[number:]]
    assert code_of(twins, number + 2) == "chain_break"


# The tail and the head


@pytest.mark.parametrize("kept", [0, 1, MIDDLE, N - 1])
def test_tail_cut(bench, kept):
    """A clean cut leaves a valid chain; the head counts what is missing."""
    bench.lines = bench.lines[:kept]
    assert code_of(bench) == "short_of_head"
    with pytest.raises(AlveusError) as caught:
        Hippocampus.open(home=bench.home, agent_id="river")
    assert caught.value.code == "short_of_head"


@pytest.mark.parametrize("options", [{}, {"since_head": True}])
def test_tail_cut_within_the_last_line(bench, options):
    """A line without its end, seen under the lock, is a torn tail."""
    bench.stream.write_bytes(bench.stream.read_bytes()[:-10])
    assert code_of(bench, **options) in {"torn_tail", "short_of_head"}


def test_tail_cut_after_the_head_cannot_be_seen_but_is_told(bench):
    """Records that follow the head can be cut without trace; how many there are is said."""
    lines = bench.lines
    bench.heads[0].write_bytes(head_bytes(lines[:5], chain=bench.record(0)["metadata"]["hc"]["chain"], key=bench.key))
    bench.heads[1].unlink()
    for kept in (8, 6, 5):
        bench.lines = lines[:kept]
        verdict = verdict_of(bench)
        assert verdict.state is (ChainState.OK_OPEN_END if kept > 5 else ChainState.OK_TO_HEAD)
        assert verdict.open_end == kept - 5
    bench.lines = lines[:4]
    assert code_of(bench) == "short_of_head"


@pytest.mark.parametrize("length", [N - 2, N, N + 2])
def test_fork(home, length):
    """Another history of the same chain under the same key, longer or shorter, is not the one the head has seen."""
    contents = [("state", f"s{number}", "novel") for number in range(12)]
    bench = Bench(home)
    bench.lines = profile_lines(contents[:N])
    bench.heads[0].write_bytes(head_bytes(bench.lines))
    assert verdict_of(bench).state is ChainState.OK_TO_HEAD
    bench.lines = profile_lines([*contents[:MIDDLE], ("state", "another past", "novel"), *contents[5:length]])
    assert code_of(bench) == ("short_of_head" if length < N else "fork_of_head")


def test_deleted_head(bench):
    """One of the two may go, both may not."""
    bench.heads[1].unlink()
    assert verdict_of(bench)
    bench.heads[0].unlink()
    assert code_of(bench) == "head_missing"
    with pytest.raises(AlveusError) as caught:
        Hippocampus.open(home=bench.home, agent_id="river")
    assert caught.value.code == "head_missing"


def test_deleted_larger_head_tells_the_open_end(bench):
    """What is left is the smaller head: the records after it are an open end, and counted."""
    for number in (0, 1):
        if json.loads(bench.heads[number].read_bytes())["size"] == N:
            bench.heads[number].unlink()
    verdict = verdict_of(bench)
    assert (verdict.state, verdict.open_end) == (ChainState.OK_OPEN_END, N)


SPOILED_HEADS = {
    "empty": lambda _: b"",
    "cut": lambda data: data[:-1],
    "ended by a LF": lambda data: data + b"\n",
    "resized": lambda data: data.replace(b'"bytes":', b'"bytes":1'),
    "day closed": lambda data: data.replace(b'"closed_through":null', b'"closed_through":"2026-01-01"'),
    "spaced": lambda data: data.replace(b'":"', b'": "'),
    "with a byte order mark": lambda data: b"\xef\xbb\xbf" + data,
    "null": lambda _: b"null",
    "list": lambda _: b"[]",
    "deep": lambda _: b"{" * 5000,
    "not ASCII": lambda data: data[: data.index(b'"mac":"') + 7] + "é".encode() * 32 + data[data.index(b'","root') :],
    "zeros": lambda data: bytes(len(data)),
    "large": lambda _: bytes(1 << 20),
}


@pytest.mark.parametrize("how", SPOILED_HEADS)
def test_edited_head(bench, how):
    """A head that was changed is no head; with the other one changed too there is none."""
    for head in bench.heads:
        head.write_bytes(SPOILED_HEADS[how](head.read_bytes()))
    assert code_of(bench) == "bad_head"
    with pytest.raises(AlveusError) as caught:
        Hippocampus.open(home=bench.home, agent_id="river")
    assert caught.value.code == "bad_head"


@pytest.mark.parametrize(
    "changes",
    [
        {"size": 7},
        {"size": 0},
        {"bytes": 0},
        {"size": -8},
        {"size": "8"},
        {"size": True},
        {"frontier": []},
        {"root": OTHER_HASH},
        {"last_line_sha256": None},
        {"last_record_id": None},
        {"closed_through": "2026-02-30"},
        {"closed_through": "yesterday"},
        {"chain": "x"},
        {"time": None},
        {"extra": 1},
    ],
)
def test_head_that_contradicts_itself(home, changes):
    """Even with the right MAC a head has to be of the format and to follow from its frontier."""
    bench = Bench(home)
    bench.lines = profile_lines([("state", f"s{number}", "novel") for number in range(N)])
    bench.heads[0].write_bytes(head_bytes(bench.lines))
    assert verdict_of(bench).state is ChainState.OK_TO_HEAD
    bench.heads[0].write_bytes(head_bytes(bench.lines, **changes))
    assert code_of(bench) == "bad_head"


def test_head_under_another_domain_or_key(home):
    """A head whose MAC another key made is no head."""
    bench = Bench(home)
    bench.lines = profile_lines([("state", "one", "novel")])
    bench.heads[0].write_bytes(head_bytes(bench.lines, key=bytes(32)))
    assert code_of(bench) == "bad_head"


def test_rolled_back_head(bench):
    """An older head, put back, is still true of the journal: the open end says how many records it does not cover."""
    old = head_bytes(bench.lines[:3], chain=bench.record(0)["metadata"]["hc"]["chain"], key=bench.key)
    for head in bench.heads:
        head.write_bytes(old)
    verdict = verdict_of(bench)
    assert (verdict.state, verdict.open_end) == (ChainState.OK_OPEN_END, N - 3)


def test_rolled_back_head_and_tail_against_a_checkpoint_kept_elsewhere(bench, tmp_path):
    """Stream and head rolled back together are a valid earlier journal; only what left the machine tells."""
    kept = tmp_path / "kept.note"
    with Hippocampus.open(home=bench.home, agent_id="river") as memory:
        kept.write_text(memory.checkpoint())
    assert verdict_of(bench, against=kept).state is ChainState.OK_TO_HEAD
    old = head_bytes(bench.lines[:3], chain=bench.record(0)["metadata"]["hc"]["chain"], key=bench.key)
    for head in bench.heads:
        head.write_bytes(old)
    bench.lines = bench.lines[:3]
    assert verdict_of(bench).state is ChainState.OK_TO_HEAD
    assert code_of(bench, against=kept) == "against_mismatch"


def test_fork_against_a_checkpoint_kept_elsewhere(home, tmp_path):
    """A rewritten history with a head to match, all under the right key, is not the one the checkpoint saw."""
    bench = Bench(home)
    bench.lines = profile_lines([("state", f"s{number}", "novel") for number in range(4)])
    bench.heads[0].write_bytes(head_bytes(bench.lines))
    kept = tmp_path / "kept.note"
    with Hippocampus.open(home=home, agent_id="river") as memory:
        kept.write_text(memory.checkpoint())
    bench.lines = profile_lines([("state", f"t{number}", "novel") for number in range(6)])
    for head in bench.heads:
        head.write_bytes(head_bytes(bench.lines))
    assert verdict_of(bench).state is ChainState.OK_TO_HEAD
    assert code_of(bench, against=kept) == "against_mismatch"


SPOILED_NOTES = {
    "empty": lambda _: "",
    "another agent": lambda text: text.replace("river", "brook"),
    "another size": lambda text: text.replace("\n8\n", "\n7\n"),
    "signature cut": lambda text: text[:-20] + "\n",
    "zeros": lambda _: "\x00" * 400,
}


@pytest.mark.parametrize("how", SPOILED_NOTES)
def test_checkpoint_that_is_not_ours(bench, tmp_path, how):
    """A checkpoint that was changed, or is of another agent, does not agree with the journal."""
    kept = tmp_path / "kept.note"
    with Hippocampus.open(home=bench.home, agent_id="river") as memory:
        kept.write_text(SPOILED_NOTES[how](memory.checkpoint()))
    assert code_of(bench, against=kept) == "against_mismatch"


def test_checkpoint_with_another_root(bench, tmp_path):
    """A checkpoint whose root was replaced does not agree, whether or not its signature is looked at."""
    with Hippocampus.open(home=bench.home, agent_id="river") as memory:
        lines = memory.checkpoint().split("\n")
    lines[2] = base64.b64encode(bytes(32)).decode()
    kept = tmp_path / "kept.note"
    kept.write_text("\n".join(lines))
    assert code_of(bench, against=kept) == "against_mismatch"
    (bench.home / "keys" / "river.note.key").unlink()
    assert code_of(bench, against=kept) == "against_mismatch"


# Before the verified head


@pytest.mark.parametrize("number", range(1, N - 1))
def test_edit_before_the_verified_head(bench, number):
    """A full verification sees it; one that starts at the head says how much it did not look at."""
    bench.replace(number, bench.lines[number].replace("переезд".encode(), "отъезды".encode()))
    assert code_of(bench, number + 1) == "bad_signature"
    verdict = verdict_of(bench, since_head=True)
    assert verdict
    assert verdict.skipped == N


def test_edit_of_the_record_the_head_ends_with(bench):
    """It is the one record before the head that a verification from the head looks at."""
    bench.edit(N - 1, content="rewritten")
    assert code_of(bench, N) == "bad_signature"
    assert code_of(bench, since_head=True) in {"fork_of_head", "bad_signature"}


def test_damage_before_the_head_makes_opening_fail_closed(bench):
    """Where the head's last record is not there, the journal does not open and nothing is changed."""
    bench.edit(N - 1, content="rewritten")
    before = sorted((path.name, path.read_bytes()) for path in bench.folder.iterdir() if path.is_file())
    for read_only in (False, True):
        with pytest.raises(AlveusError, match="damaged before") as caught:
            Hippocampus.open(home=bench.home, agent_id="river", read_only=read_only)
        assert caught.value.code in {"fork_of_head", "short_of_head"}
        assert "byte" in caught.value.message
    assert sorted((path.name, path.read_bytes()) for path in bench.folder.iterdir() if path.is_file()) == before


# Other chains, other keys, other domains


def test_foreign_chain_with_the_same_key(home):
    """A whole valid stream of another chain, same agent and key, is not the one this head is of."""
    contents = [("state", f"s{number}", "novel") for number in range(N)]
    bench = Bench(home)
    bench.lines = profile_lines(contents)
    bench.heads[0].write_bytes(head_bytes(bench.lines))
    bench.lines = profile_lines(contents, chain="d1" * 16)
    assert code_of(bench) == "bad_head"


def test_foreign_chain_spliced_in_the_middle(home):
    """A record of another chain at its own place, signed with the same key, is told by its chain."""
    contents = [("state", f"s{number}", "novel") for number in range(N)]
    bench = Bench(home)
    bench.lines = profile_lines(contents)
    bench.heads[0].write_bytes(head_bytes([]))
    bench.replace(MIDDLE, profile_lines(contents, chain="d1" * 16)[MIDDLE])
    assert at_middle(bench) == "wrong_chain"


def test_journal_of_another_agent_in_this_folder(home):
    """An agent's journal in another agent's folder is not that agent's, though the key is the same."""
    bench = Bench(home)
    bench.lines = profile_lines([("state", "one", "novel")], agent_id="brook")
    bench.heads[0].write_bytes(head_bytes(bench.lines))
    assert code_of(bench, 1) == "wrong_chain"


def test_wrong_key(bench):
    """Under another key the first record says whose key it was signed with, and the journal does not open."""
    bench.key_file.write_bytes(bytes(32))
    assert code_of(bench, 1) == "wrong_key"
    with pytest.raises(AlveusError) as caught:
        Hippocampus.open(home=bench.home, agent_id="river")
    assert caught.value.code == "wrong_key"
    assert Key(bench.key).kid in caught.value.message


def test_wrong_key_for_a_file_without_the_profile(home):
    """Where no key is named, the signature alone tells."""
    bench = Bench(home)
    bench.lines = basic_lines([("state", "one", "novel")], key=bytes(32))
    assert code_of(bench, 1) == "bad_signature"


@pytest.mark.parametrize(
    "domain",
    [b"montana.agent.hippocampus.v2", b"", b"alveus.head.v1", b"montana.agent.hippocampus.v1|", b"MONTANA.AGENT"],
)
def test_foreign_domain(home, domain):
    """A signature made under another domain is not valid; it is no error of the format."""
    bench = Bench(home)
    bench.lines = profile_lines([("state", "one", "novel")], domain=domain)
    bench.heads[0].write_bytes(head_bytes([]))
    assert code_of(bench, 1) == "bad_signature"


def test_the_forger_of_these_tests_makes_valid_journals(home):
    """The hand-made records are what the program reads and writes on: the tests above fail for what they say."""
    bench = Bench(home)
    bench.lines = profile_lines([("state", "одно", "novel"), ("decision", "two", "routine")])
    bench.heads[0].write_bytes(head_bytes(bench.lines))
    assert verdict_of(bench).state is ChainState.OK_TO_HEAD
    with Hippocampus.open(home=home, agent_id="river") as memory:
        memory.record("decision", "three")
    assert verdict_of(bench).size == 3
    assert Key(KEY).kid == kid_of()


# Spelling


def respelled(line, old, new):
    """The line with one place spelled otherwise."""
    assert old in line
    return line.replace(old, new, 1)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b'"agent_id":', b'"agent_id": '),
        (b'{"agent_id"', b'{ "agent_id"'),
        (b'{"agent_id"', b' {"agent_id"'),
        (b'Z"}', b'Z"} '),
        (b'Z"}', b'Z"}\r'),
        (b'Z"}', b'Z"}\t'),
        (b'Z"}', b'Z"}{}'),
        (b'Z"}', b'Z",}'),
        (b'{"agent_id"', b'\xef\xbb\xbf{"agent_id"'),
        (b'"river"', b'"\\u0072iver"'),
        (b'"agent_id":"river"', b'"agent_i\\u0064":"river"'),
        (b'"agent_id":"river"', b'"agent_id":"river","agent_id":"river"'),
        (b'"agent_id":"river"', b'"agent_id":"brook","agent_id":"river"'),
        (b'"agent_id":"river"', b'"\\u0061gent_id":"brook","agent_id":"river"'),
        ("переезд".encode(), "\\u043f\\u0435реезд".encode()),
        ("переезд".encode(), b"\\ud800"),
        ("переезд".encode(), b"\xed\xa0\x80"),
        ("переезд".encode(), b"\xc0\xaf"),
        ("переезд".encode(), b"\xff"),
        ("переезд".encode(), b"\x00"),
        ("переезд".encode(), b"\x1f"),
        ("переезд".encode(), b"\\u001F"),
        ("переезд".encode(), b"\\u000a"),
        ("переезд".encode(), b"\\/"),
        ("переезд".encode(), b"\\x41"),
        ("переезд".encode(), b'"'),
        (b'"number":4', b'"number":4.0'),
        (b'"number":4', b'"number":4e0'),
        (b'"number":4', b'"number":04'),
        (b'"number":4', b'"number":+4'),
        (b'"number":4', b'"number":-0'),
        (b'"number":4', b'"number":NaN'),
        (b'"number":4', b'"number":-Infinity'),
        (b'"number":4', b'"number":9007199254740992'),
        (b'"number":4', b'"number":18446744073709551616'),
        (b'"number":4', b'"number":1e400'),
        (b'"number":4', b'"number":100000000000000000000'),
        (b'"number":4', b'"number":4,"a":1'),
        (b'"number":4', b'"number":4,"number":4'),
        (b'"number":4', b'"number":' + b"[" * 40 + b"]" * 40),
        (b'"number":4', b'"number":' + b"[" * 3000 + b"]" * 3000),
        (b'"number":4', b'"number":' + b"1" * 5000),
        (b'"number":4', b'"number":"' + b"x" * (1 << 20) + b'"'),
        (b'"nested":', b"'nested':"),
        (b"true", b"True"),
        (b"null", b"undefined"),
    ],
)
def test_whitespace_and_escape_variants(bench, old, new):
    """The same value in other bytes, or bytes outside the domain, is not canonical, whatever it says."""
    bench.replace(MIDDLE, respelled(bench.lines[MIDDLE], old, new))
    assert at_middle(bench) == "not_canonical"


def test_line_ends_of_another_system(bench):
    """A journal whose LFs became CRLFs is not canonical from its first line on; CRs alone leave one long tail."""
    data = bench.stream.read_bytes()
    bench.stream.write_bytes(data.replace(b"\n", b"\r\n"))
    assert code_of(bench, 1) == "not_canonical"
    bench.stream.write_bytes(data.replace(b"\n", b"\r"))
    assert code_of(bench) == "torn_tail"


def test_what_only_looks_like_a_line_end_is_content(home, clock):
    """U+2028, U+2029, U+0085, VT, FF and the separators inside a content end no line."""
    with Hippocampus.open(home=home, agent_id="river", clock=clock) as memory:
        memory.record("state", "a\u2028b\u2029c\u0085d\x0be\x0cf\x1cg\x1dh\x1ei\rj\nk")
        memory.record("decision", "next")
        assert [record.content[:1] for record in memory.iter_records()] == ["a", "n"]
        assert memory.verify_chain().size == 2


def test_key_order_changed(bench):
    """The nine keys in another order are not canonical."""
    record = bench.record(MIDDLE)
    line = json.dumps(dict(reversed(record.items())), separators=(",", ":"), ensure_ascii=False).encode()
    bench.replace(MIDDLE, line)
    assert at_middle(bench) == "not_canonical"


@pytest.mark.parametrize("length", [(1 << 20) + 1, 3 << 20])
def test_a_tail_longer_than_a_line_may_be(bench, length):
    """An unended tail that no record can be is not canonical, lock or no lock."""
    bench.stream.write_bytes(bench.stream.read_bytes() + b"x" * length)
    assert code_of(bench) == "not_canonical"


def test_files_of_another_kind_in_the_places_of_ours(bench):
    """A link, a folder or a pipe in place of a head or of the stream is a verdict, not an accident."""
    stash = bench.folder / f"stash-{uuid.uuid4().hex}"
    for path, code in ((bench.heads[0], "bad_head"), (bench.stream, None)):
        for other in bench.heads:
            if path not in (other, bench.stream):
                other.rename(stash.with_suffix(other.suffix))
        path.rename(stash)
        path.symlink_to(stash)
        assert code_of(bench) == (code or "stream_unreadable")
        path.unlink()
        path.mkdir()
        assert code_of(bench) == (code or "stream_unreadable")
        path.rmdir()
        stash.rename(path)
        for other in bench.heads:
            if stash.with_suffix(other.suffix).exists():
                stash.with_suffix(other.suffix).rename(other)
    assert verdict_of(bench)


@pytest.mark.parametrize("name", ["stream.head.0", "stream.jsonl"])
def test_a_pipe_in_place_of_a_file_does_not_hold_anybody_up(bench, name):
    """A named pipe, which nobody writes to, is not waited for."""
    import os

    for head in bench.heads:
        if name == "stream.head.0":
            head.unlink()
    if name == "stream.jsonl":
        bench.stream.unlink()
    os.mkfifo(bench.folder / name)
    assert verify_layout(make_layout(bench.home, "river"), DISK).fault.code in {"bad_head", "stream_unreadable"}


def test_a_missing_stream_is_told(bench):
    """No stream beside a key and a head: the verdict says so, and nothing is begun anew."""
    bench.stream.unlink()
    assert not verify_layout(make_layout(bench.home, "river"), DISK)
    with pytest.raises(AlveusError) as caught:
        Hippocampus.open(home=bench.home, agent_id="river")
    assert caught.value.code == "stream_missing"
    assert not bench.stream.exists()


# The same, whoever verifies


@pytest.mark.parametrize("attack", ["none", "edit", "delete", "cut", "torn", "foreign", "join"])
def test_verdicts_do_not_depend_on_the_number_of_jobs(home, monkeypatch, attack):
    """A journal walked in pieces, by several processes, gets the very verdict it gets in one."""
    monkeypatch.setattr("alveus.store.verify.SMALLEST_PIECE", 4096)
    bench = Bench(home)
    lines = profile_lines([("state", f"number {number}", "novel") for number in range(300)])
    bench.heads[0].write_bytes(head_bytes(lines[:250]))
    bench.lines = lines
    if attack == "edit":
        bench.edit(200, content="rewritten")
    elif attack == "delete":
        bench.lines = lines[:150] + lines[151:]
    elif attack == "cut":
        bench.lines = lines[:249]
    elif attack == "torn":
        bench.stream.write_bytes(bench.stream.read_bytes()[:-3])
    elif attack == "foreign":
        bench.replace(170, profile_lines([("state", f"number {n}", "novel") for n in range(300)], chain="d1" * 16)[170])
    elif attack == "join":
        at = len(b"\n".join(bench.lines)) // 2
        data = bytearray(bench.stream.read_bytes())
        data[data.index(b"\n", at)] = ord(" ")
        bench.stream.write_bytes(bytes(data))
    one = verify_layout(make_layout(home, "river"), DISK)
    assert one.fault is not None or attack == "none"
    for jobs in (2, 3):
        assert verify_layout(make_layout(home, "river"), DISK, jobs=jobs) == one


# Succession


@pytest.fixture
def succession(home, clock):
    """Two closed chains and a live one, each of three records and its closing and opening ones."""
    with Hippocampus.open(home=home, agent_id="river", clock=clock) as memory:
        for number in range(9):
            memory.record("decision", f"number {number}")
            clock.advance(seconds=1)
            if number in (2, 5):
                memory.rotate()
        chains = memory.verify_chain().chains
    bench = Bench.of(home)
    bench.archives = [bench.folder / f"stream-{chain.chain}.jsonl" for chain in chains[:-1]]
    return bench


def test_chains_are_verified_in_succession(succession):
    """All chains of the agent are walked, each under its own key, from the first to the last."""
    verdict = verdict_of(succession)
    assert verdict.state is ChainState.OK_TO_HEAD
    assert [(chain.size, chain.closed) for chain in verdict.chains] == [(4, True), (5, True), (4, False)]
    assert len({chain.kid for chain in verdict.chains}) == 3
    assert verdict.size == 13
    since = verdict_of(succession, since_head=True)
    assert since.state is ChainState.OK_TO_HEAD
    assert since.skipped == 13


def test_edit_in_a_closed_chain(succession):
    """A closed chain is verified as the live one is."""
    path = succession.archives[0]
    path.write_bytes(path.read_bytes().replace(b"number 1", b"number 7"))
    assert code_of(succession) == "bad_signature"


@pytest.mark.parametrize("number", [0, 1])
def test_deleted_closed_chain(succession, number):
    """What is left does not join: a key, a chain or an opening is not the one that was handed over to."""
    succession.archives[number].unlink()
    assert code_of(succession) in {"chain_break", "wrong_key", "wrong_chain"}


@pytest.mark.parametrize("number", [0, 1])
def test_closed_chain_cut(succession, number):
    """A closed chain without its closing record, or without more, is not the one its successor names."""
    path = succession.archives[number]
    lines = path.read_bytes().splitlines(keepends=True)
    for kept in (0, 1, len(lines) - 1):
        path.write_bytes(b"".join(lines[:kept]))
        assert code_of(succession) in {"chain_break", "short_of_head", "bad_head"}


def test_key_of_a_closed_chain_missing_or_foreign(succession):
    """Without its own key a closed chain cannot be called whole."""
    keys = sorted((succession.home / "keys").glob("river.journal.key.*"))
    keys[0].unlink()
    assert code_of(succession) in {"chain_break", "wrong_key"}


def test_opening_record_forged(succession):
    """A live chain whose opening names another end of the one before it does not continue it."""
    key_file = succession.home / "keys" / "river.journal.key"
    succession.key = key_file.read_bytes()
    record = succession.record(0)
    record["metadata"]["opening"]["prev_size"] -= 1
    lines = succession.lines
    first = canonical(sealed(record, succession.key))
    succession.lines = [first]
    for head in succession.heads:
        head.write_bytes(head_bytes([], chain=record["metadata"]["hc"]["chain"], key=succession.key))
    assert code_of(succession) == "chain_break"
    assert lines


def test_closed_chains_swapped(succession):
    """Archives in each other's place are not what the records in them say."""
    one, two = succession.archives
    first, second = one.read_bytes(), two.read_bytes()
    one.write_bytes(second)
    two.write_bytes(first)
    assert not verdict_of(succession)


def test_archive_of_another_agent(succession, tmp_path):
    """A stranger's closed chain in the folder is not passed over in silence, and does not keep ours from being read."""
    with Hippocampus.open(home=tmp_path / "other", agent_id="river") as memory:
        memory.record("decision", "elsewhere")
        memory.rotate()
        folder = memory.folder
    for path in folder.glob("stream-*"):
        shutil.copy(path, succession.folder / path.name)
    assert code_of(succession) in {"wrong_key", "chain_break"}
    with Hippocampus.open(home=succession.home, agent_id="river") as memory:
        assert memory.size() == 13
        assert [mark for mark in memory.marks() if "stream-" in mark]
