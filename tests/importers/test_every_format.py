"""What holds for every format alike: its files are known, imported once, and damage costs what it touches.

The files are made (`transcripts`), so that each can be cut, broken and enlarged; the published samples are in
`test_samples`.
"""

from __future__ import annotations

import json
import random

import pytest

from alveus.importers import detect, run
from alveus.importers.report import ImportReport
from transcripts import MADE, Made, moment

LINES = [one for one in MADE if one.wrap is None and not one.text]
DOCUMENTS = [one for one in MADE if one.wrap is not None]
TURNS = 3
BEYOND = {"aider": 1, "atif": 1}
"""Items that the file has beside its turns: what aider was called with, what a trajectory says of itself."""

every = pytest.mark.parametrize("made", MADE, ids=lambda one: one.name)
of_lines = pytest.mark.parametrize("made", LINES, ids=lambda one: one.name)
documents = pytest.mark.parametrize("made", DOCUMENTS, ids=lambda one: one.name)


@pytest.fixture
def bring(write, hippocampus):
    """The report of an import of these bytes as a file of that format."""

    def done(made: Made, data: bytes, **how) -> ImportReport:
        return run(hippocampus, write(data, name=made.file), **how)

    return done


def expected(made: Made, turns: int) -> int:
    """The items of so many turns."""
    return 2 * turns + BEYOND.get(made.name, 0)


@every
def test_file_is_known_and_imported_once(made, bring, hippocampus, write):
    """A file is recognised, gives what it holds, and a second import of it brings nothing."""
    data = made.data(TURNS)
    assert detect(write(data, name=made.file)).name == made.name
    report = bring(made, data)
    assert (report.stored, report.rejected_count) == (expected(made, TURNS), 0)
    again = bring(made, data)
    assert (again.stored, again.revised, again.known) == (0, 0, expected(made, TURNS))
    assert len({(draft.origin, draft.part) for draft in hippocampus.drafts}) == expected(made, TURNS)


@every
def test_a_file_that_grew_brings_what_was_added(made, bring):
    """What is there already stays as it was when the conversation goes on."""
    bring(made, made.data(TURNS))
    report = bring(made, made.data(TURNS + 2))
    assert report.stored == 4
    # What a trajectory says of itself, and a title, may have changed; nothing that was said has.
    assert report.revised == 0


@every
def test_the_person_is_told_from_the_agent(made, bring, hippocampus):
    """What a person said is the user's, the answer the agent's; a memory that a model made is the agent's alone."""
    bring(made, made.data(TURNS))
    sources = {draft.content.split()[0]: draft.src.value for draft in hippocampus.drafts}
    assert sources["answer"] == "agent"
    assert sources["question"] == ("agent" if made.name == "mem0" else "user")


@pytest.mark.parametrize("made", [one for one in MADE if one.zone], ids=lambda one: one.name)
def test_times_keep_their_zone(made, bring, hippocampus):
    """When something happened is kept as the source wrote it, in the source's own zone."""
    bring(made, made.data(TURNS))
    times = {draft.event_time for draft in hippocampus.drafts if draft.content.startswith(("question", "answer"))}
    assert times == {moment(number) for number in range(TURNS)}


@every
def test_a_byte_order_mark_and_carriage_returns_change_nothing(made, bring):
    """A file that went through another system gives the same items."""
    plain = made.data(TURNS, indent=2 if made.wrap else None)
    bring(made, plain)
    report = bring(made, b"\xef\xbb\xbf" + plain.replace(b"\n", b"\r\n"))
    assert (report.stored, report.revised, report.rejected_count) == (0, 0, 0)
    assert report.known == expected(made, TURNS)


@of_lines
def test_glued_objects_are_taken_apart(made, bring):
    """Two objects on one line are two."""
    report = bring(made, b"".join(made.lines(TURNS)))
    assert (report.stored, report.rejected_count) == (expected(made, TURNS), 0)


@of_lines
@pytest.mark.parametrize(
    "bad",
    [b"{oops}", b'{"a": "\xff\xfe"}', b"\0\0\0\0", b'{"a": "\0"}', b"[" * 5000],
    ids=["json", "utf8", "nul", "in", "deep"],
)
def test_a_bad_line_costs_itself(made, bad, bring):
    """A line that cannot be read is rejected and kept aside; those around it are imported."""
    lines = made.lines(TURNS)
    report = bring(made, b"\n".join([*lines[:2], bad, *lines[2:]]) + b"\n")
    assert report.rejected_count == 1
    assert report.stored == expected(made, TURNS)
    assert report.rejects_file is not None


@of_lines
def test_mending_a_bad_line_moves_nothing(made, bring):
    """A line that was broken when the file was first imported, and is whole now, brings itself alone."""
    lines, place = made.lines(TURNS), len(made.head) + 1
    broken = [*lines[:place], lines[place][:-3], *lines[place + 1 :]]
    bring(made, b"\n".join(broken) + b"\n")
    report = bring(made, b"\n".join(lines) + b"\n")
    assert (report.revised, report.rejected_count) == (0, 0)
    assert 0 < report.stored <= 2


@pytest.mark.parametrize("made", [one for one in LINES if one.ids], ids=lambda one: one.name)
def test_shuffled_duplicates_are_the_same_items(made, bring):
    """Records that are written again, in any order, are known by their ids."""
    head, lines = made.lines(0), made.lines(TURNS)[len(made.head) :]
    bring(made, b"\n".join([*head, *lines]) + b"\n")
    many = lines * 3
    random.Random(3).shuffle(many)
    report = bring(made, b"\n".join([*head, *many]) + b"\n")
    assert (report.stored, report.revised) == (0, 0)
    assert report.known == 3 * expected(made, TURNS)


@pytest.mark.parametrize("made", MADE, ids=lambda one: one.name)
def test_a_cut_keeps_what_came_before_and_says_so(made, bring, hippocampus):
    """A file cut anywhere gives what stood whole before the cut, one bad line at most, and no half of a message."""
    _cut_everywhere(made, bring, hippocampus, range(40, len(made.data(2)), 17))


@pytest.mark.prove
@pytest.mark.parametrize("made", MADE, ids=lambda one: one.name)
def test_every_cut_keeps_what_came_before(made, bring, hippocampus):
    """The same at every byte."""
    _cut_everywhere(made, bring, hippocampus, range(1, len(made.data(2))))


def _cut_everywhere(made, bring, hippocampus, ends):
    data = made.data(2)
    whole = [draft_key(one) for one in _drafts(made, bring, hippocampus, data)]
    before = 0
    for end in ends:
        hippocampus.drafts.clear()
        hippocampus._seen.clear()
        report = bring(made, data[:end], format=made.name)
        assert report.rejected_count <= 1
        found = [draft_key(one) for one in hippocampus.drafts]
        if not made.text:
            # A message of a text file is whole at any length; elsewhere an item is there as it is, or not at all.
            assert set(found) <= set(whole)
            assert len(found) >= before or made.name == "atif"
            before = len(found)
            if made.wrap is not None:
                assert report.rejected_count == 1
            else:
                assert report.rejected_count == (not _is_whole(data[:end].rpartition(b"\n")[2]))
    assert before >= 2 or made.text


def _is_whole(line):
    try:
        json.loads(line or b"{}")
    except ValueError:
        return False
    return True


def _drafts(made, bring, hippocampus, data):
    bring(made, data)
    return list(hippocampus.drafts)


def draft_key(draft):
    """What makes an item what it is."""
    return (draft.content, draft.kind, draft.src, draft.event_time)


@documents
def test_a_cut_document_says_that_it_is_cut(made, bring):
    """A document whose end is missing is rejected at its end, and its whole parts are imported."""
    data = made.data(4)
    report = bring(made, data[: len(data) * 3 // 4])
    assert report.rejected_count == 1
    assert report.rejected[0].reason.startswith("cut short")
    assert report.stored >= 2
    full = bring(made, data)
    assert full.revised == 0
    assert full.known == report.stored


@every
def test_a_very_long_text_is_an_item_in_parts(made, bring, hippocampus):
    """A text of a megabyte comes in parts, whole."""
    _long(made, bring, hippocampus, "long " * 250_000)


@pytest.mark.prove
@every
def test_a_line_of_thirty_megabytes(made, bring, hippocampus):
    """The same with 30 MB."""
    _long(made, bring, hippocampus, "long " * 6_000_000)


def _long(made, bring, hippocampus, text):
    report = bring(made, made.data(1, text))
    assert (report.stored, report.rejected_count) == (expected(made, 1), 0)
    for who in ("question", "answer"):
        first = next(draft for draft in hippocampus.drafts if draft.content.startswith(f"{who} 0"))
        parts = [draft for draft in hippocampus.drafts if draft.origin == first.origin]
        assert [draft.part for draft in parts] == [(number, len(parts)) for number in range(1, len(parts) + 1)]
        assert "".join(draft.content for draft in parts).split() == f"{who} 0 {text}".split()
