"""Archives, compressed files and databases: what is in them is imported, and nothing about them is believed."""

from __future__ import annotations

import gzip
import io
import json
import os
import sqlite3
import struct
import zipfile
import zlib
from contextlib import closing
from pathlib import Path

import pytest

import transcripts
from alveus.errors import InputError
from alveus.importers import databases, opening, run, total_bytes, zips
from alveus.importers.inflating import CutShort
from alveus.importers.source import Source
from transcripts import OWN

try:
    from compression import zstd
except ImportError:
    from backports import zstd

CODEX = OWN["codex"].data(3)
CHATGPT = OWN["chatgpt"].data(3)


def zipped(members: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    """A zip archive."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return file.getvalue()


EXPORT = {"user.json": b'{"email": "a@b.c", "phone_number": "+1"}', "conversations.json": CHATGPT, "chat.html": b"<p>"}


# ── Zstandard ────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(("compress", "end"), [(zstd.compress, "zst"), (gzip.compress, "gz")], ids=["zst", "gz"])
def test_compressed_rollout_is_the_same_session(compress, end, write, hippocampus):
    """A compressed file brings what its plain file would bring, in one frame or several, and is known after it."""
    run(hippocampus, write(CODEX, name="rollout.jsonl"))
    half = CODEX.index(b"\n", len(CODEX) // 2) + 1
    for data in (compress(CODEX), compress(CODEX[:half]) + compress(CODEX[half:])):
        report = run(hippocampus, write(data, name=f"rollout.jsonl.{end}"))
        assert (report.formats, report.stored, report.known) == ({"codex": 1}, 0, 6)


@pytest.mark.parametrize("compress", [zstd.compress, gzip.compress], ids=["zst", "gz"])
def test_what_was_packed_before_it_was_packed_is_the_same_session(compress, write, hippocampus):
    """An archive of compressed rollouts, a `.gz` twice, and JSON in a string that was compressed; not without end."""
    run(hippocampus, write(CODEX, name="rollout.jsonl"))
    archive = zipped({"sessions/rollout.jsonl.x": compress(CODEX), "notes.txt": b"none"})
    for data, name in ((archive, "sessions.zip"), (compress(compress(CODEX)), "rollout.jsonl.x.gz")):
        report = run(hippocampus, write(data, name=name))
        assert (report.formats, report.stored, report.known) == ({"codex": 1}, 0, 6)
    plain = OWN["letta"].data(3)
    stored = run(hippocampus, write(plain, name="agent.af")).stored
    report = run(hippocampus, write(compress(json.dumps(plain.decode()).encode()), name="agent.af.gz"))
    assert (report.formats, report.stored, report.known) == ({"letta": 1}, 0, stored)
    half = CODEX.index(b"\n", len(CODEX) // 2) + 1
    torn = zipped({"rollout.jsonl.x": compress(CODEX[:half]) + compress(CODEX[half:])[:-9]})
    report = run(hippocampus, write(torn, name="torn.zip"))
    assert report.known
    assert [one.reason for one in report.unread] == ["the compressed bytes end too early; what came before is imported"]
    data = CODEX
    for _ in range(opening.MAX_WRAPPINGS + 1):
        data = compress(data)
    with pytest.raises(InputError):
        run(hippocampus, write(data, name="r.gz"))


def test_plain_file_wins_over_its_compressed_copy(write, hippocampus, tmp_path):
    """In a folder the copy beside a plain file is not read at all."""
    write(CODEX, name="logs/rollout.jsonl")
    write(zstd.compress(CODEX), name="logs/rollout.jsonl.zst")
    write(gzip.compress(CODEX), name="logs/rollout.jsonl.gz")
    report = run(hippocampus, tmp_path / "logs")
    assert (report.files, report.stored, report.known) == (1, 6, 0)


@pytest.mark.parametrize("compress", [zstd.compress, gzip.compress], ids=["zst", "gz"])
def test_compressed_file_cut_anywhere_keeps_what_came_before(compress, write, hippocampus):
    """A stream that ends too early gives what could be unpacked, and the report says so."""
    frames = b"".join(compress(line + b"\n") for line in CODEX.splitlines())
    for end in range(20, len(frames), 41):
        try:
            report = run(hippocampus, write(frames[:end], name="r.jsonl.z"), format="codex")
        except InputError as error:
            assert "nothing that can be read" in error.message
            continue
        assert report.rejected_count <= 1
        assert report.revised == 0
        if report.unread:
            assert "what came before is imported" in report.unread[0].reason
    assert len(hippocampus.drafts) >= 4


def test_progress_of_a_packed_file_ends_at_its_size(write, hippocampus):
    """The bytes that are reported are those on disk, not those that come out."""
    path = write(zstd.compress(CODEX * 50), name="r.jsonl.zst")
    seen = []
    run(hippocampus, path, progress=seen.append)
    assert sum(seen) == total_bytes(path) == path.stat().st_size


# ── zip ──────────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_export_archive_brings_its_conversations_alone(method, write, hippocampus):
    """Of an account's export the conversations are imported; whose account it is, is not read."""
    report = run(hippocampus, write(zipped(EXPORT, method), name="export.zip"))
    assert (report.formats, report.stored) == ({"chatgpt": 1}, 6)
    assert [unread.file for unread in report.unread] == ["export.zip: user.json", "export.zip: chat.html"]
    assert not any("a@b.c" in draft.content for draft in hippocampus.drafts)
    assert run(hippocampus, write(CHATGPT, name="conversations.json")).known == 6


def test_archive_cut_anywhere_keeps_what_came_before(write, hippocampus):
    """An archive without its directory is read from the front, as far as it goes."""
    members = {f"{number}/conversations.json": OWN["chatgpt"].data(1 + number) for number in range(3)}
    whole = zipped(members)
    stored = 0
    for end in range(60, len(whole), 29):
        try:
            report = run(hippocampus, write(whole[:end], name="export.zip"))
        except InputError as error:
            assert error.code == "damaged_file"
            continue
        stored += report.stored
        assert report.unread
    assert stored == 6
    assert run(hippocampus, write(whole, name="export.zip")).revised == 0


def test_damaged_member_says_so_and_costs_itself(write, hippocampus):
    """A member whose bytes are not those that were packed is told; the others are imported."""
    data = bytearray(zipped({"a/conversations.json": CHATGPT, "b/rollout.jsonl": CODEX}, zipfile.ZIP_STORED))
    data[data.index(b"answer 2")] ^= 1
    report = run(hippocampus, write(bytes(data), name="export.zip"))
    assert report.formats == {"chatgpt": 1, "codex": 1}
    assert any("not what was packed" in unread.reason for unread in report.unread)


def test_names_in_an_archive_go_nowhere(write, hippocampus, tmp_path):
    """A member named to leave the folder is read like any other, and no file of its name appears."""
    (tmp_path / "SOUL.md").write_text("I am Ann")
    before = set(tmp_path.rglob("*"))
    members = {"../../evil/conversations.json": CHATGPT, f"{tmp_path}/SOUL.md": b"I am Eve"}
    report = run(hippocampus, write(zipped(members), name="export.zip"))
    assert (report.formats, report.stored) == ({"chatgpt": 1}, 6)
    assert {path.name for path in set(tmp_path.rglob("*")) - before} <= {"export.zip", "agent"}


def test_archive_that_unpacks_to_too_much_is_refused(write, hippocampus, monkeypatch):
    """A bomb is refused in one sentence, long before it is unpacked."""
    monkeypatch.setattr(opening, "ALWAYS_ALLOWED", 1 << 20)
    bomb = zipped({"conversations.json": b"[" + b" " * (64 << 20) + b"]"})
    with pytest.raises(InputError, match="far more than a transcript") as refused:
        run(hippocampus, write(bomb, name="bomb.zip"))
    assert refused.value.code == "too_large"
    for compress in (zstd.compress, gzip.compress):
        with pytest.raises(InputError, match="far more than a transcript"):
            run(hippocampus, write(compress(b" " * (64 << 20)), name="bomb"))


def test_archive_of_many_members_is_refused(write, hippocampus, monkeypatch):
    """So is one with more members than any export has."""
    monkeypatch.setattr(opening, "MAX_MEMBERS", 3)
    many = zipped({f"{number}.txt": b"x" for number in range(5)})
    with pytest.raises(InputError, match="more than 3 members"):
        run(hippocampus, write(many, name="many.zip"))


def test_encrypted_member_is_left_with_a_reason(write, hippocampus):
    """A member that needs a password is named."""
    data = bytearray(zipped({"a.json": b"x", "conversations.json": CHATGPT}))
    for mark, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        data[data.index(mark) + offset] |= 1
    report = run(hippocampus, write(bytes(data), name="export.zip"))
    assert report.stored == 6
    assert any("encrypted" in unread.reason for unread in report.unread)


def test_unknown_method_of_a_member_is_told(write):
    """A method that is not known here is named by its number, since only the archive's maker knows more."""
    with Source(write(zipped({"a.json": b"x" * 100}), name="a.zip")) as source:
        (info,) = zipfile.ZipFile(source.path).infolist()
        info.compress_type = 99
        with pytest.raises(CutShort, match="method 99"):
            list(zips._listed(source, info))


def test_archive_without_a_transcript_is_refused(write, hippocampus):
    """An archive of other things is in no known format."""
    with pytest.raises(InputError) as refused:
        run(hippocampus, write(zipped({"a.txt": b"text"}), name="a.zip"))
    assert refused.value.code == "unknown_format"


def test_streamed_archive_is_read_without_its_directory(write, hippocampus):
    """A zip whose sizes follow its members, cut before its directory, gives its members."""
    raw = zlib.compressobj(wbits=-15)
    body = raw.compress(CHATGPT) + raw.flush()
    name = b"conversations.json"
    header = struct.pack("<4sHHHHHLLLHH", b"PK\x03\x04", 20, 8, 8, 0, 0, 0, 0, 0, len(name), 0) + name
    follows = struct.pack("<4sLLL", b"PK\x07\x08", zlib.crc32(CHATGPT), len(body), len(CHATGPT))
    report = run(hippocampus, write((header + body + follows) * 2, name="stream.zip"))
    assert (report.stored, report.known) == (6, 6)


# ── SQLite ───────────────────────────────────────────────────────────────────────────────────────────────────────────

DATABASES = {
    "agents_database": ("openai-chat", 4),
    "opencode_database": ("opencode", 4),
    "hermes_database": ("hermes", 3),
    "openclaw_database": ("openclaw", 2),
    "mem0_database": ("mem0", 3),
    "cursor_database": ("cursor", 4),
    "cursor_store": ("cursor", 7),
    "langgraph_database": ("langgraph", 2),
}


@pytest.mark.parametrize(("maker", "expected"), DATABASES.items(), ids=DATABASES)
def test_database_is_known_and_imported_once(maker, expected, tmp_path, hippocampus):
    """The database of each program gives its conversation, and nothing the second time; no file appears beside it."""
    path = getattr(transcripts, maker)(tmp_path / "base.db")
    report = run(hippocampus, path)
    assert (next(iter(report.formats)), report.stored, report.rejected_count) == (*expected, 0)
    again = run(hippocampus, path)
    assert (again.stored, again.revised) == (0, 0)
    assert [one.name for one in tmp_path.glob("base.db*")] == ["base.db"]


def test_store_of_a_cursor_agent_says_who_spoke(tmp_path, hippocampus):
    """The user's words are the user's alone, what the program put beside them is its own, and the tree is none."""
    run(hippocampus, transcripts.cursor_store(tmp_path / "store.db"))
    assert [(one.src.value, one.content, one.session) for one in hippocampus.drafts] == [
        (src, content, transcripts.SESSION)
        for src, content in [
            ("system", "You are an agent"),
            ("system", "<user_info>\nOS: Linux\n</user_info>"),
            ("user", "question"),
            ("agent", "thought"),
            ("agent", "answer"),
            ("agent", 'Shell {"command": "ls"}'),
            ("tool", "a.txt"),
        ]
    ]
    assert hippocampus.drafts[-1].metadata["tool"] == "Shell"


def test_folder_of_small_files_is_one_conversation(tmp_path, hippocampus):
    """OpenCode's storage folder gives what its database gives, in the conversation's order."""
    transcripts.opencode_store(tmp_path / "home" / "storage")
    report = run(hippocampus, tmp_path / "home")
    assert (report.formats, report.stored) == ({"opencode": 1}, 4)
    said = [draft.content for draft in hippocampus.drafts]
    assert said == ["question 0 words", "answer 0 words", "question 1 words", "answer 1 words"]
    run(hippocampus, transcripts.opencode_database(tmp_path / "opencode.db"))
    assert len({draft.origin for draft in hippocampus.drafts}) == 4


def test_database_that_is_being_written_is_read_as_it_is(tmp_path, hippocampus):
    """What another program has written, and not yet moved into the file, is read; nothing of its files is changed."""
    path = tmp_path / "base.db"
    with closing(sqlite3.connect(path)) as base:
        base.execute("PRAGMA journal_mode=wal")
        base.execute("CREATE TABLE agent_messages (id, session_id, message_data, created_at)")
        for number in range(3):
            row = (number, "s", f'{{"role": "user", "content": "m{number}"}}', "2026-03-01 10:00:00")
            base.execute("INSERT INTO agent_messages VALUES (?, ?, ?, ?)", row)
            base.commit()
            report = run(hippocampus, path)
            assert (report.stored, report.known) == (1, number)


def test_database_left_in_the_midst_of_a_change_is_mended_in_a_copy(tmp_path, hippocampus):
    """A log without its index, as a crash leaves it: its rows are read, and no file is made or changed."""
    living = tmp_path / "living.db"
    with closing(sqlite3.connect(living)) as base:
        base.execute("PRAGMA journal_mode=wal")
        base.execute("CREATE TABLE agent_messages (id, session_id, message_data, created_at)")
        base.execute('INSERT INTO agent_messages VALUES (1, \'s\', \'{"role": "user", "content": "m"}\', NULL)')
        base.commit()
        dead = tmp_path / "dead"
        dead.mkdir()
        for end in ("", "-wal"):
            (dead / f"base.db{end}").write_bytes(Path(f"{living}{end}").read_bytes())
    before = {one.name: one.read_bytes() for one in dead.iterdir()}
    assert run(hippocampus, dead / "base.db").stored == 1
    assert {one.name: one.read_bytes() for one in dead.iterdir()} == before


def test_database_of_another_program_is_refused(tmp_path, hippocampus):
    """A database of no known program is refused with the names of those that are."""
    path = transcripts.database(tmp_path / "base.db", {"things": ("a", [(1,)])})
    with pytest.raises(InputError) as refused:
        run(hippocampus, path)
    assert refused.value.code == "unknown_format"
    assert all(name in refused.value.hint for name in databases.LAYOUTS)


def test_damaged_database_says_so(tmp_path, hippocampus):
    """A database that is cut short gives the rows that can be read, or is refused in a sentence."""
    path = transcripts.agents_database(tmp_path / "base.db", turns=200)
    data = path.read_bytes()
    (tmp_path / "cut.db").write_bytes(data[: len(data) // 2])
    try:
        report = run(hippocampus, tmp_path / "cut.db")
    except InputError as error:
        assert "\n" not in error.message
    else:
        assert report.unread


def test_a_blob_that_is_no_checkpoint_costs_itself(tmp_path, hippocampus):
    """A checkpoint that cannot be unpacked is rejected, whatever lengths it promises."""
    rows = [
        ("t", "", f"c{number}", "msgpack", blob)
        for number, blob in enumerate([b"\xdd\xff\xff\xff\xff", b"", b"\x91" * 5000, os.urandom(64), None])
    ]
    columns = "thread_id, checkpoint_ns, checkpoint_id, type, checkpoint BLOB"
    report = run(hippocampus, transcripts.database(tmp_path / "b.db", {"checkpoints": (columns, rows)}))
    assert report.rejected_count + report.skipped.get("bookkeeping: checkpoint", 0) == 5
    assert report.stored == 0
