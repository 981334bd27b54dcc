"""The import as a whole: batches, numbers, progress, what is refused, what a report may say."""

from __future__ import annotations

import pytest

from alveus.errors import InputError, StoreError
from alveus.importers import ImportReport, run, total_bytes
from alveus.importers.intake import MAX_DRAFTS

KEY = "ghp_" + "a1B2c3" * 6


def message(content, **more):
    """A chat message of the user."""
    return {"role": "user", "content": content, **more}


def test_empty_file_says_so(imported, hippocampus):
    """A file with nothing in it is no error: one sentence, and zeros."""
    for data in (b"", b" \n\r\n", b"\xef\xbb\xbf"):
        report = imported(data)
        assert report.notes == ("session.jsonl is empty: nothing to import",)
        assert (report.read, report.files) == (0, 0)
    assert not hippocampus.drafts


def test_numbers_add_up():
    """A report that does not account for everything that was read cannot be made."""
    ImportReport(read=6, stored=1, known=1, revised=1, skipped={"a": 2}, rejected_count=1)
    with pytest.raises(ValueError, match="read 7 and accounts for 6"):
        ImportReport(read=7, stored=1, known=1, revised=1, skipped={"a": 2}, rejected_count=1)


def test_batches_are_small_and_the_end_is_flushed(imported, hippocampus):
    """A batch holds at most 256 drafts or about a megabyte, and what is written is on disk at the end."""
    imported(*[message(f"m{n}") for n in range(600)], name="chat.jsonl")
    assert hippocampus.batches == [MAX_DRAFTS, MAX_DRAFTS, 600 - 2 * MAX_DRAFTS]
    hippocampus.batches.clear()
    imported(*[message(f"{n}" + "x" * 400_000) for n in range(4)], name="long.jsonl")
    assert hippocampus.batches == [2, 2]
    assert hippocampus.flushed == 2


def test_split_item_counts_once(imported, hippocampus):
    """An item in parts is one item in the numbers, new and then known."""
    long = message("x" * 2_000_000)
    assert imported(long, name="chat.jsonl").stored == 1
    assert len(hippocampus.drafts) == 3
    assert imported(long, name="chat.jsonl").known == 1


def test_interrupted_split_is_finished(imported, hippocampus):
    """Parts that an interrupted import left out are stored by the next one, and the item counts as stored."""
    long = message("x" * 2_000_000)
    imported(long, name="chat.jsonl")
    kept = hippocampus.drafts[0]
    hippocampus._seen = {(kept.origin, 1): {kept.content}}
    report = imported(long, name="chat.jsonl")
    assert (report.stored, report.known, report.revised) == (1, 0, 0)


def test_secrets_are_masked_before_they_are_recorded(imported, hippocampus):
    """A key in words, in a tool's arguments or in metadata is masked and counted; on request it is kept."""
    call = {"id": "c", "function": {"name": "run", "arguments": f'{{"env": "A\\nTOKEN={KEY}"}}'}}
    lines = [message(f"ключ{KEY}"), {"role": "assistant", "tool_calls": [call]}, message("x", metadata={"note": KEY})]
    report = imported(*lines, name="chat.jsonl")
    assert report.masked == {"github_token": 3}
    assert KEY not in str(hippocampus.drafts)
    assert hippocampus.drafts[0].content == "ключ[secret:github_token]"
    kept = imported(*lines, name="chat.jsonl", keep_secrets=True)
    assert kept.masked == {}
    assert KEY in str(hippocampus.drafts)


def test_secret_across_a_part_border_is_masked(imported, hippocampus):
    """Masking comes before splitting, so no border can hide a key."""
    imported(message("x" * 699_990 + " " + KEY + " " + "y" * 700_000), name="chat.jsonl")
    assert "ghp_" not in "".join(draft.content for draft in hippocampus.drafts)


def test_user_is_set_by_the_door(imported, hippocampus):
    """The user given to the import scopes every record; one in the transcript does not."""
    imported(message("x", user="mallory"), name="chat.jsonl", user="dana")
    assert [draft.user for draft in hippocampus.drafts] == ["dana"]
    with pytest.raises(InputError, match="a user is named"):
        imported(message("x"), name="chat.jsonl", user="")


def test_progress_adds_up_to_the_size(samples, hippocampus):
    """The bytes reported as read are those of all files, whatever became of each."""
    told = []
    run(hippocampus, samples, progress=told.append)
    assert sum(told) == total_bytes(samples)
    assert min(told) > 0


def test_what_the_journal_refuses_is_rejected_alone(imported, hippocampus):
    """One draft that the journal does not take is kept aside; its batch is recorded."""
    hippocampus.refuses = lambda draft: draft.content == "bad"
    report = imported(message("good"), message("bad"), message("better"), name="chat.jsonl")
    assert (report.stored, report.rejected_count) == (2, 1)
    assert report.rejected[0].reason == "refused by the journal: the journal does not take this"


def test_store_error_stops_the_import_and_the_next_one_goes_on(imported, hippocampus):
    """A store that refuses stops the import; repeating it stores what is missing and nothing twice."""

    def full(_):
        raise StoreError("no space left")

    lines = [message(f"m{n}") for n in range(300)]
    good, calls = hippocampus.record_many, iter([True, False])
    hippocampus.record_many = lambda drafts: good(drafts) if next(calls) else full(drafts)
    with pytest.raises(StoreError):
        imported(*lines, name="chat.jsonl")
    hippocampus.record_many = good
    report = imported(*lines, name="chat.jsonl")
    assert (report.stored, report.known) == (300 - MAX_DRAFTS, MAX_DRAFTS)


def test_inventive_source_cannot_grow_the_report(imported):
    """Types invented line by line, and bad lines without end, are counted in a table of bounded size."""
    record = {"uuid": "u", "sessionId": "s"}
    lines = [{"type": "last-prompt", **record}, *[{"type": f"new-{n}", **record} for n in range(300)]]
    report = imported(*lines, *[b"{oops}\n"] * 300)
    assert len(report.skipped) <= 201
    assert report.skipped["other reasons"] == 101
    assert (len(report.rejected), report.rejected_count) == (100, 300)


def test_folder_goes_on_past_what_it_cannot_read(hippocampus, write, tmp_path):
    """A binary file, an empty one and a broken link under a folder do not stop the others."""
    write(message("x"), name="in/a/chat.jsonl")
    write(bytes(100), name="in/b.bin")
    write(b"", name="in/empty.jsonl")
    (tmp_path / "in" / "link").symlink_to("nowhere")
    report = run(hippocampus, tmp_path / "in")
    assert report.stored == 1
    assert [unread.file for unread in report.unread] == ["b.bin"]
    assert report.notes == ("empty.jsonl is empty: nothing to import",)
