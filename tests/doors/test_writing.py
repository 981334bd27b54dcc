"""init and record: what is written, in whose name, and what is refused."""

import fcntl
import os

import pytest

from alveus.doors import options

SECRET = "ghp_abcdefghijklmnopqrstuvwxyz0123456789"


def newest(call):
    """The newest record, as JSON."""
    return call("log", "-n", "1", "--json").document["records"][0]


def test_init_makes_a_key_and_a_journal(call, home):
    """After init there is an empty, whole journal."""
    ended = call("init", "--json")
    assert ended.document["new"] is True
    assert (home / "keys" / "river.journal.key").exists()
    assert call("verify", "--json").document["state"] == "empty"


def test_init_again_changes_nothing(begun):
    """A second init is no error and keeps what is there."""
    begun("record", "state", "x")
    ended = begun("init", "--json")
    assert (ended.status, ended.document["new"], ended.document["size"]) == (0, False, 1)


def test_init_with_an_existing_key(call, home):
    """A key brought along begins a first journal only when that is said; without it, it might be a lost journal's."""
    key = home / "keys" / "river.journal.key"
    key.parent.mkdir(parents=True, mode=0o700)
    key.write_bytes(bytes(range(32)))
    key.chmod(0o600)
    assert call("init").status == 4
    assert call("init", "--existing-key").status == 0
    assert call("keys", "--json").document["keys"][0]["kid"] == "36401dfbe4d26a77"


def test_nothing_is_begun_by_writing(call, home):
    """A mistyped agent is told, not created."""
    assert call("record", "state", "x").status == 3
    assert not home.exists()


def test_record_prints_the_id_and_nothing_else(begun):
    """The id is on stdout, so that a script can keep it."""
    ended = begun("record", "decision", "Moved to SQLite.")
    (record_id,) = ended.lines
    assert begun("show", record_id, "--json").document["record"]["content"] == "Moved to SQLite."
    assert "decision" in ended.err


def test_a_person_records_as_user(begun):
    """`src` is set by the door; no option changes it."""
    begun("record", "state", "x")
    assert newest(begun)["metadata"]["hc"]["src"] == "user"
    assert begun("record", "state", "x", "--src", "agent").status == 2


def test_what_is_known_beside_the_text(begun):
    """User, session, time and metadata are recorded; metadata may be pairs, JSON, or both."""
    begun(
        *(
            "record",
            "Observation",
            "x",
            "--user",
            "аня",
            "--session",
            "s1",
            "--event-time",
            "2026-11-30T12:00:00+03:00",
        ),
        *("--meta-json", '{"ticket": 41, "a": [null]}', "--meta", "b=c=d"),
    )
    record = newest(begun)
    hc = record["metadata"].pop("hc")
    assert (hc["user"], hc["session"], hc["event_time"]) == ("аня", "s1", "2026-11-30T12:00:00+03:00")
    assert (record["kind"], record["metadata"]) == ("observation", {"a": [None], "b": "c=d", "ticket": 41})


@pytest.mark.parametrize(
    "arguments",
    [
        ("--meta", "no-equals-sign"),
        ("--meta", "=x"),
        ("--meta-json", "[1]"),
        ("--meta-json", "{"),
        ("--meta-json", "[" * 100_000),
        ("--meta-json", '{"a": NaN}'),
        ("--meta-json", '{"a": 9007199254740993}'),
        ("--meta", "hc=x"),
        ("--meta", "closing=x"),
        ("--event-time", "yesterday"),
        ("--user", "a\nb"),
    ],
)
def test_what_the_format_cannot_hold_is_refused(begun, arguments):
    """Bad metadata, times and names are told, and nothing is recorded."""
    ended = begun("record", "state", "x", *arguments)
    assert ended.status == 2
    assert ended.err.startswith("error: ")
    assert begun("log", "--json").document["records"] == []


# Text


@pytest.mark.parametrize(
    ("data", "content"),
    [
        (b"one line\n", "one line"),
        (b"one line\r\n", "one line"),
        (b"\xef\xbb\xbfwith a mark\n", "with a mark"),
        (b"a\r\nb\n\n", "a\r\nb\n"),
        (b"a\0b", "a\0b"),
        ("Решили: 🐬".encode(), "Решили: 🐬"),
    ],
)
def test_text_from_stdin(begun, stdin, data, content):
    """`-` takes stdin to the byte, but for a byte order mark and the last line end."""
    stdin(data)
    assert begun("record", "state", "-").status == 0
    assert newest(begun)["content"] == content


@pytest.mark.parametrize(
    ("data", "told"),
    [(b"ab\xff", "byte 2 is 0xff"), (b"x" * (1 << 20) + b"y", "longer than"), (b"", "no text"), (b" \n", "no text")],
)
def test_text_that_is_refused(begun, stdin, data, told):
    """What is no text, too long or blank is told, and nothing is recorded."""
    stdin(data)
    ended = begun("record", "state", "-")
    assert ended.status == 2
    assert told in ended.err
    assert begun("log", "--json").document["records"] == []


@pytest.mark.parametrize("blank", ["", " ", "\n\t"])
def test_blank_text_is_refused(begun, blank):
    """A record without words is a mistake."""
    assert begun("record", "state", blank).status == 2


def test_bytes_that_are_no_text_are_refused(begun):
    """An argument that is not UTF-8 is told with its bytes; nothing of it is recorded."""
    ended = begun("record", "state", os.fsdecode(b"a\xffb"))
    assert ended.status == 2
    assert r"a\xffb" in ended.err
    assert begun("record", "state", "a\ud800b").status == 2


def test_text_that_the_locale_could_not_decode_is_text(begun):
    """UTF-8 that Python handed over undecoded, as under LANG=C, is recorded as what was typed."""
    typed = "Решили 🐬".encode().decode("ascii", "surrogateescape")
    assert begun("record", "state", typed).status == 0
    assert newest(begun)["content"] == "Решили 🐬"


# Secrets


def test_secrets_are_masked_before_signing(begun, folder):
    """A key in text or metadata never reaches the disk; what was masked is said."""
    ended = begun("record", "state", f"use {SECRET}", "--meta", f"note={SECRET}", "--json")
    assert sum(ended.document["masked"].values()) == 2
    assert "masked before signing" in ended.err
    assert SECRET.encode() not in (folder / "stream.jsonl").read_bytes()


def test_secrets_can_be_kept(begun):
    """Who wants a secret signed has to say so."""
    ended = begun("record", "state", f"use {SECRET}", "--keep-secrets")
    assert "masked" not in ended.err
    assert SECRET in newest(begun)["content"]


# Locks


def test_a_locked_journal_is_told(begun, folder, monkeypatch):
    """Another process that holds the journal is waited for, then named as the reason, with a status of its own."""
    monkeypatch.setattr(options, "LOCK_TIMEOUT", 0.05)
    with (folder / "stream.jsonl").open("rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        ended = begun("record", "decision", "x")
        assert begun("log").status == 0
    assert ended.status == 6
    assert "another process" in ended.err
