"""Key files: what is accepted, what is refused and why, and that no key ever shows."""

import copy
import os
import pickle
import stat
import traceback

import pytest

from alveus import AlveusError, Hippocampus, StoreError
from alveus.journal.seal import Key
from alveus.store.files import DISK
from alveus.store.keys import ensure_secret, new_key, read_secret
from scenes import AGENT
from simulator import SimulatedDisk

SECRET = bytes(range(32))


@pytest.fixture
def path(tmp_path):
    """A good key file."""
    path = tmp_path / "river.journal.key"
    path.write_bytes(SECRET)
    path.chmod(0o600)
    return path


def refused(path):
    """The sentence a key file is refused with."""
    with pytest.raises(StoreError) as caught:
        read_secret(DISK, path)
    assert caught.value.code == "key_refused"
    assert caught.value.hint
    assert str(path) in caught.value.message
    assert SECRET.hex() not in caught.value.message + caught.value.hint
    return caught.value.message


def test_a_key_of_32_bytes(path):
    """Raw bytes, of any value, a newline among them."""
    assert read_secret(DISK, path) == SECRET
    path.write_bytes(b"\n" * 32)
    assert read_secret(DISK, path) == b"\n" * 32


@pytest.mark.parametrize("text", [SECRET.hex(), SECRET.hex().upper(), SECRET.hex() + "\n"])
def test_a_key_in_hex(path, text):
    """64 hex digits, with a line end or without."""
    path.write_text(text)
    assert read_secret(DISK, path) == SECRET


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"x" * 31,
        b"x" * 33,
        b"0" * 63,
        b"0" * 65,
        b"0" * 66,
        b"g" * 64,
        b"0" * 64 + b"\r\n",
        b"0" * 64 + b"\n\n",
        b"00 " * 21 + b"0",
        "٠".encode() * 32,
        b"\xef\xbb\xbf" + b"0" * 64,
        b"x" * 10_000,
    ],
    ids=range(13),
)
def test_a_key_of_another_size(path, data):
    """Anything that is not exactly 32 bytes or 64 digits is no key."""
    path.write_bytes(data)
    assert "32 bytes" in refused(path)


def test_a_link_is_refused(path, tmp_path):
    """Somebody else may point a link at what he likes, also to where nothing is."""
    link = tmp_path / "link"
    link.symlink_to(path)
    assert "symbolic link" in refused(link)
    link.unlink()
    link.symlink_to(tmp_path / "nowhere")
    assert "symbolic link" in refused(link)


def test_a_folder_or_a_pipe_is_refused(tmp_path):
    """Not a regular file: refused, and not waited for."""
    (tmp_path / "folder").mkdir()
    refused(tmp_path / "folder")
    os.mkfifo(tmp_path / "pipe", 0o600)
    assert "regular file" in refused(tmp_path / "pipe")


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o602, 0o610, 0o601, 0o666, 0o777])
def test_a_key_others_can_reach_is_refused(path, mode):
    """Any right of group or others makes the key unfit."""
    path.chmod(mode)
    assert "others" in refused(path)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_a_key_of_somebody_else_is_refused(path):
    """A key that another user owns may have been planted by him."""
    os.chown(path, 12345, -1)
    assert "12345" in refused(path)


def test_a_missing_key_is_told(tmp_path):
    """There is none: where it was looked for, and what to do."""
    with pytest.raises(AlveusError) as caught:
        read_secret(DISK, tmp_path / "none")
    assert caught.value.code == "key_missing"
    assert "backup" in caught.value.hint


def test_a_new_journals_key_is_only_its_owners(home):
    """The key file is 0600 in a folder of 0700, whatever the umask."""
    before = os.umask(0)
    try:
        Hippocampus.open(home=home, agent_id=AGENT).close()
    finally:
        os.umask(before)
    keys = home / "keys"
    assert stat.S_IMODE(keys.stat().st_mode) == 0o700
    assert [stat.S_IMODE(path.stat().st_mode) for path in keys.iterdir()] == [0o600]
    for path in (home / "agents" / AGENT).iterdir():
        assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0, path


def test_a_journal_whose_key_became_readable_does_not_open(home):
    """The check is made at every opening."""
    Hippocampus.open(home=home, agent_id=AGENT).close()
    (home / "keys" / f"{AGENT}.journal.key").chmod(0o644)
    with pytest.raises(StoreError, match="others"):
        Hippocampus.open(home=home, agent_id=AGENT)


def test_the_key_may_lie_elsewhere(home, tmp_path, monkeypatch):
    """ALVEUS_KEY_FILE, or the argument, says where; nothing of it is under the home then."""
    monkeypatch.setenv("ALVEUS_KEY_FILE", str(tmp_path / "safe" / "my.key"))
    with Hippocampus.open(home=home, agent_id=AGENT) as memory:
        memory.record("decision", "one")
    assert (tmp_path / "safe" / "my.key").exists()
    assert not (home / "keys" / f"{AGENT}.journal.key").exists()
    monkeypatch.delenv("ALVEUS_KEY_FILE")
    with pytest.raises(AlveusError) as caught:
        Hippocampus.open(home=home, agent_id=AGENT)
    assert caught.value.code == "key_missing"
    with Hippocampus.open(home=home, agent_id=AGENT, key_file=tmp_path / "safe" / "my.key") as memory:
        assert memory.size() == 1


def test_a_key_that_is_there_begins_no_journal_unasked(home):
    """A key without its journal is a loss until the operator says that it never signed anything."""
    Hippocampus.open(home=home, agent_id=AGENT).close()
    key = (home / "keys" / f"{AGENT}.journal.key").read_bytes()
    for path in (home / "agents" / AGENT).iterdir():
        path.unlink()
    with pytest.raises(AlveusError) as caught:
        Hippocampus.open(home=home, agent_id=AGENT)
    assert caught.value.code == "stream_missing"
    with Hippocampus.open(home=home, agent_id=AGENT, existing_key=True) as memory:
        memory.record("decision", "the first")
        assert memory.verify_chain().chains[0].kid == Key(key).kid
    (home / "agents" / AGENT / "stream.jsonl").unlink()
    with pytest.raises(AlveusError) as caught:  # the head shows that it signed something
        Hippocampus.open(home=home, agent_id=AGENT, existing_key=True)
    assert caught.value.code == "key_in_use"


def test_a_missing_key_is_never_made_anew_beside_a_journal(home):
    """A new key could not verify what the old one signed: the journal waits for its own."""
    with Hippocampus.open(home=home, agent_id=AGENT) as memory:
        memory.record("decision", "one")
    (home / "keys" / f"{AGENT}.journal.key").unlink()
    for _ in range(2):
        with pytest.raises(AlveusError) as caught:
            Hippocampus.open(home=home, agent_id=AGENT)
        assert caught.value.code == "key_missing"
        assert not list((home / "keys").iterdir())


def test_no_key_shows(path, home):
    """Not in a repr, a pickle, a copy, an error, a verdict or a file of the agent."""
    key = Key(SECRET)
    texts = [repr(key), str(key), f"{key}", repr([key]), key.kid]
    for how in (pickle.dumps, copy.deepcopy, copy.copy):
        with pytest.raises(TypeError, match="not pickled"):
            how(key)
    assert not hasattr(key, "__dict__")
    with Hippocampus.open(home=home, agent_id=AGENT, key_file=path, existing_key=True) as memory:
        memory.record("decision", "one")
        memory.rotate()
        texts += [repr(memory), repr(memory.verify_chain()), repr(memory.layout), str(vars(memory._agent))]
        texts += [memory.checkpoint()]
    try:
        Key(SECRET + b"x")
    except AlveusError as error:
        texts += [str(error), "".join(traceback.format_exception(error))]
    texts += [
        file.read_bytes().decode("latin-1") for file in home.rglob("*") if file.is_file() and "key" not in file.name
    ]
    for text in texts:
        assert SECRET.hex() not in text.lower()
        assert SECRET.decode("latin-1") not in text
        assert str(SECRET)[2:-1] not in text


def test_keys_of_other_purposes_are_made_once(tmp_path):
    """A note key is made at first use, and is the same ever after."""
    path = tmp_path / "keys" / "river.note.key"
    one = ensure_secret(DISK, path)
    assert ensure_secret(DISK, path) == one
    assert len(one) == 32
    disk = SimulatedDisk(tmp_path)
    assert ensure_secret(disk, tmp_path / "k" / "x") == ensure_secret(disk, tmp_path / "k" / "x")


def test_new_keys_differ():
    """A new key is random."""
    assert len({new_key().kid for _ in range(100)}) == 100
