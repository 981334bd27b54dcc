"""The ledger: what was acknowledged is there, once, in its place, and nothing else is."""

import errno
import json
import subprocess
import sys
import threading
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from alveus import Hippocampus
from alveus.audit.receipt import BadReceipt, Boundary, Receipt, Status
from alveus.errors import InputError, JournalError, StoreError
from alveus.journal.seal import Key, digest, format_time
from alveus.store.files import DISK
from alveus.store.keys import KeyRing
from alveus.store.layout import make_layout
from alveus.store.ledger import HASHED, NAME, Ledger, LedgerState
from alveus.store.ledger_head import HEAD
from alveus.store.log import Log
from simulator import Faulty, images

KEY = Key(bytes(range(32)))
OTHER_KEY = Key(bytes(range(32, 64)))
NOON = datetime(2026, 11, 30, 12)  # noqa: DTZ001  (the journal's form knows no zone)


def receipt(number=0, seconds=0, **facts):
    """A receipt of a run of that number."""
    return Receipt(
        **{
            "run_id": f"run-{number}",
            "user_scope": "Анна",
            "assistant_scope": "river",
            "boundary": Boundary.STM_MTM,
            "version": number,
            "status": Status.COMMITTED,
            "at_utc": format_time(NOON + timedelta(seconds=seconds)),
            "source_version": "example/1",
            **facts,
        }
    )


def some(count, begin=0):
    """Receipts of so many runs."""
    return [receipt(number) for number in range(begin, begin + count)]


def numbers(ledger):
    """The runs that the ledger holds, in order."""
    return [one.version for one in ledger.receipts()]


@pytest.fixture
def folder(tmp_path):
    """The folder of an agent."""
    return tmp_path / "agent"


@pytest.fixture
def ledger(folder):
    """An open ledger on the real disk."""
    with Ledger(folder, DISK, KEY) as ledger:
        yield ledger


# What lies there


def test_a_ledger_holds_what_was_appended(ledger, folder):
    """In order, whole, after it was closed too; the file is the owner's alone."""
    assert (ledger.append(some(3)), ledger.append(some(2, 3))) == (3, 2)
    ledger.close()
    again = Ledger(folder, DISK, KEY)
    assert [*again.receipts()] == some(5)
    assert (again.verify().state, again.verify().size) == (LedgerState.WHOLE, 5)
    assert (folder / NAME).stat().st_mode & 0o777 == 0o600


def test_a_line_is_what_the_format_says(ledger, folder):
    """seq, prev_line, the receipt, the key's name and a MAC over all of it under the domain; canonical JSON."""
    ledger.append(some(3))
    before = None
    for seq, line in enumerate((folder / NAME).read_bytes().splitlines()):
        told = json.loads(line)
        assert list(told) == ["kid", "mac", "prev_line", "receipt", "seq", "synced"]
        assert (told["seq"], told["prev_line"], told["kid"]) == (seq, before, KEY.kid)
        rest = {name: value for name, value in told.items() if name != "mac"}
        signed = json.dumps(rest, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
        assert told["mac"] == KEY.mac(b"alveus.receipt.v1||", signed).hex()
        before = digest(line)


def test_nothing_is_there_before_the_first_receipt(ledger, folder):
    """Reading makes no file; there is nothing, and that is said."""
    assert [*ledger.receipts()] == []
    assert ledger.verify().state is LedgerState.EMPTY
    assert ledger.append([]) == 0
    assert not folder.exists()


def test_the_specification_s_example_is_a_ledger(folder):
    """The lines that spec/audit.md shows verify under the key that it names."""
    page = (Path(__file__).resolve().parents[2] / "spec" / "audit.md").read_text("utf-8")
    example = page.partition("<!-- EXAMPLE -->\n```json\n")[2].partition("```")[0]
    folder.mkdir()
    (folder / NAME).write_text(example, "utf-8")
    verdict = Ledger(folder, DISK, KEY).verify()
    assert (verdict.state, verdict.size) == (LedgerState.WHOLE, 2)
    assert len([*Ledger(folder, DISK, KEY).receipts(("anna", "river"))]) == 2


# Once


def test_an_outbox_may_be_drained_twice(ledger, folder):
    """The same receipts are not written again, in the same call, later, by another process, at another time."""
    assert ledger.append([*some(3), *some(3)]) == 3
    assert ledger.append(some(4)) == 1
    with Ledger(folder, DISK, KEY) as other:
        assert other.append([receipt(1, seconds=99)]) == 0
    assert numbers(ledger) == [0, 1, 2, 3]


@pytest.mark.parametrize(
    "facts",
    [
        {"user_scope": "boris"}, {"assistant_scope": "delta"}, {"status": Status.FAILED}, {"version": 7},
        {"source_present": True}, {"destination_present": False}, {"destination_id": "a" * 32}, {"run_id": "other"},
    ],
)  # fmt: skip
def test_what_says_something_else_is_another_receipt(ledger, facts):
    """A contradiction must not be taken for a repetition, least of all one of scope."""
    ledger.append([receipt(0)])
    assert ledger.append([receipt(0, **facts)]) == 1
    assert len([*ledger.receipts()]) == 2


# Many at once


def test_processes_and_threads_append_side_by_side(ledger, folder):
    """Three processes and two threads, twenty receipts each, some in common: all there, each once, one chain."""
    program = f"""
import sys; sys.path.insert(0, {str(Path(__file__).parent)!r})
sys.path.insert(0, {str(Path(__file__).parents[1])!r})
from test_ledger import *
with Ledger(Path({str(folder)!r}), DISK, KEY) as ledger:
    for one in some(20, int(sys.argv[1])):
        ledger.append([one])
"""
    children = [subprocess.Popen([sys.executable, "-c", program, str(begin)]) for begin in (0, 10, 100)]
    threads = [threading.Thread(target=lambda n=n: [ledger.append([one]) for one in some(20, n)]) for n in (200, 210)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [child.wait() for child in children] == [0, 0, 0]
    assert sorted(numbers(ledger)) == [*range(30), *range(100, 120), *range(200, 230)]
    assert ledger.verify().state is LedgerState.WHOLE


# What a crash leaves


def test_a_torn_end_is_set_aside_and_named(folder):
    """Cut anywhere in its last line, the ledger goes on after the line before, and says what it set aside."""
    with Ledger(folder, DISK, KEY) as ledger:
        ledger.append(some(1))
    head = (folder / HEAD).read_bytes()  # what is known to be on disk; the line after it is promised to nobody
    with Ledger(folder, DISK, KEY) as ledger:
        ledger.append(some(1, 1))
    whole = (folder / NAME).read_bytes()
    first = whole.index(b"\n") + 1
    for cut in range(first + 1, len(whole)):
        (folder / NAME).write_bytes(whole[:cut])
        (folder / HEAD).write_bytes(head)
        reader = Ledger(folder, DISK, KEY)
        assert (numbers(reader), reader.verify().state) == ([0], LedgerState.TORN)
        with Ledger(folder, DISK, KEY) as ledger:
            assert ledger.append([receipt(5)]) == 1
            assert numbers(ledger) == [0, 5]
            assert ledger.verify().state is LedgerState.WHOLE
            (torn,) = ledger.torn
            aside = folder / torn.name
            assert (aside.read_bytes(), torn.size) == (whole[first:cut], cut - first)
            aside.unlink()


def test_no_acknowledged_receipt_is_lost_in_any_crash(disk, tmp_path):
    """Whatever the disk kept after a power cut: what was acknowledged is there and the ledger goes on."""
    home = tmp_path / "agent"
    with Ledger(home, disk, KEY) as ledger:
        ledger.append(some(3))
        ledger.append(some(4, 3))
        waited, Log.wait = Log.wait, lambda *_: None
        try:
            ledger.append(some(5, 7))  # written, and nobody was promised it
        finally:
            Log.wait = waited
        seen = 0
        for image in images(disk):
            with Ledger(home, image, KEY) as after:
                assert numbers(after)[:7] == [*range(7)]
                after.append(some(12))
                assert numbers(after) == [*range(12)]
                assert after.verify().state is LedgerState.WHOLE
            seen += 1
    assert seen > 5


@pytest.mark.parametrize("kind", ["create", "write", "datasync", "sync"])
def test_a_disk_that_refuses_loses_nothing_that_was_promised(tmp_path, kind):
    """Each kind of call fails once: the call raises, or the receipts are there; a second try brings them."""
    home = tmp_path / "agent"
    with Ledger(home, DISK, KEY) as ledger:
        ledger.append(some(2))
    faulty = Faulty(DISK)
    failed = []

    def fault(call, act, *_):
        if call.kind == kind and not failed:
            failed.append(call)
            raise OSError(errno.ENOSPC, "No space left on device")
        return act()

    faulty.fault = fault
    ledger = Ledger(home, faulty, KEY)
    try:
        ledger.append(some(2, 2))
    except (StoreError, OSError):
        ledger.close()
    with Ledger(home, DISK, KEY) as after:
        after.append(some(4))
        assert numbers(after) == [0, 1, 2, 3]


# The head, and what a writer is spared


def cut_to(folder, count):
    """Leave so many lines."""
    path = folder / NAME
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:count]))


@pytest.mark.parametrize("left", [0, 1, 4])
def test_an_end_that_was_cut_off_is_seen(folder, left):
    """Whole lines are missing at the end, which no chain shows: broken, for whoever verifies, reads or writes."""
    with Ledger(folder, DISK, KEY) as ledger:
        ledger.append(some(5))
    cut_to(folder, left)
    before = (folder / NAME).read_bytes()
    with Ledger(folder, DISK, KEY) as after:
        verdict = after.verify()
        assert (verdict.state, verdict.fault.code, verdict.size) == (LedgerState.BROKEN, "cut_off", left)
        for act in (lambda: [*after.receipts()], lambda: [*after.receipts(strict=True)], lambda: after.append(some(1))):
            with pytest.raises(JournalError, match="it had 5 lines"):
                act()
    assert (folder / NAME).read_bytes() == before


def test_another_past_of_the_same_length_is_seen(folder, tmp_path):
    """As many valid lines, by the same key, and not those that were there."""
    for place, first in ((folder, 0), (tmp_path / "other", 10)):
        with Ledger(place, DISK, KEY) as ledger:
            ledger.append(some(3, first))
    (folder / NAME).write_bytes((tmp_path / "other" / NAME).read_bytes())
    with Ledger(folder, DISK, KEY) as after:
        assert after.verify().fault.code == "cut_off"


@pytest.mark.parametrize("data", [b"", b"x" * 400, None])
def test_a_head_that_is_none_says_nothing(folder, data):
    """Damaged, or of another key: it accuses nobody, and the next writer makes one."""
    with Ledger(folder, DISK, KEY) as ledger:
        ledger.append(some(5))
    if data is None:
        with Ledger(folder.with_name("other"), DISK, OTHER_KEY) as other:
            other.append(some(9))
        data = (folder.with_name("other") / HEAD).read_bytes()
    (folder / HEAD).write_bytes(data)
    cut_to(folder, 3)
    with Ledger(folder, DISK, KEY) as after:
        assert after.verify().state is LedgerState.WHOLE
        assert after.append(some(6)) == 3
    with Ledger(folder, DISK, KEY) as after:
        assert after.head().size == 6


def test_a_ledger_that_is_lost_is_begun_anew(folder):
    """The file is gone: whoever verifies is told, a writer begins another, and its head is of that one."""
    with Ledger(folder, DISK, KEY) as ledger:
        ledger.append(some(5))
    (folder / NAME).unlink()
    with Ledger(folder, DISK, KEY) as after:
        assert after.verify().fault.code == "cut_off"
        assert [*after.receipts()] == []
        assert after.append(some(2)) == 2
        assert after.verify().state is LedgerState.WHOLE


def test_a_writer_reads_what_is_new_and_knows_what_is_old(folder, monkeypatch):
    """What an earlier writer had read is not read again; a receipt of it is still known."""
    with Ledger(folder, DISK, KEY) as ledger:
        ledger.append(some(1500))
    with Ledger(folder, DISK, KEY) as other:
        other.append(some(20, 1500))
    checked, check = [], Ledger.check
    monkeypatch.setattr(Ledger, "check", lambda self, raw: checked.append(1) or check(self, raw))
    with Ledger(folder, DISK, KEY) as after:
        assert after.append([receipt(3), receipt(1510), receipt(2000)]) == 1
    assert len(checked) == 20
    monkeypatch.undo()
    with Ledger(folder, DISK, KEY) as after:
        assert numbers(after) == [*range(1520), 2000]
        assert after.verify().state is LedgerState.WHOLE


def test_what_was_saved_of_another_ledger_is_not_used(folder):
    """Restored from a backup, or made anew: the writer reads it whole."""
    with Ledger(folder, DISK, KEY) as ledger:
        ledger.append(some(1000))
    backup = (folder / NAME).read_bytes(), (folder / HEAD).read_bytes()
    with Ledger(folder, DISK, KEY) as ledger:
        ledger.append(some(1000, 1000))
    (folder / NAME).write_bytes(backup[0])
    (folder / HEAD).write_bytes(backup[1])
    with Ledger(folder, DISK, KEY) as after:
        assert after.append(some(1, 1500)) == 1
        assert numbers(after) == [*range(1000), 1500]


def test_what_came_after_a_place_is_read_from_there(folder):
    """And nothing where the ledger is another one, or ends before it."""
    with Ledger(folder, DISK, KEY) as ledger:
        ledger.append(some(3))
        place = ledger.end()
        ledger.append(some(2, 3))
        assert [one.version for one in ledger.since(place)] == [3, 4]
        assert [*ledger.since(ledger.end())] == []
        assert ledger.since(place._replace(last_line="0" * 64)) is None
        assert ledger.since(place._replace(offset=10**6)) is None


# What somebody changed


def test_every_byte_that_is_changed_is_seen(folder):
    """A changed byte makes the ledger broken at its line, or torn where it is the last LF; never whole."""
    with Ledger(folder, DISK, KEY) as ledger:
        ledger.append(some(3))
    whole = (folder / NAME).read_bytes()
    for at in range(0, len(whole), 3):
        for byte in (whole[at] ^ 1, 0x0A):
            changed = whole[:at] + bytes([byte]) + whole[at + 1 :]
            if changed == whole:
                continue
            (folder / NAME).write_bytes(changed)
            verdict = Ledger(folder, DISK, KEY).verify()
            assert verdict.state in (LedgerState.BROKEN, LedgerState.TORN)
            assert verdict.fault.line == whole[:at].count(b"\n") + 1
            assert bool(verdict) is (verdict.state is LedgerState.TORN)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("removed", lambda lines: [lines[0], *lines[2:]]),
        ("doubled", lambda lines: [lines[0], lines[0], *lines[1:]]),
        ("exchanged", lambda lines: [lines[1], lines[0], *lines[2:]]),
        ("blank", lambda lines: [lines[0], b"\n", *lines[1:]]),
    ],
)
def test_lines_out_of_place_are_refused_and_left(folder, name, change):
    """Lines that were on disk when a later one was written: nothing is set aside, nothing appended."""
    with Ledger(folder, DISK, KEY) as ledger:
        for one in some(4):
            ledger.append([one])
    path = folder / NAME
    damaged = b"".join(change(path.read_bytes().splitlines(keepends=True)))
    path.write_bytes(damaged)
    with Ledger(folder, DISK, KEY) as after:
        assert after.verify().state is LedgerState.BROKEN, name
        with pytest.raises(JournalError) as caught:
            after.append([receipt(9)])
        assert caught.value.code == "ledger_broken"
        with pytest.raises(JournalError):
            [*after.receipts()]
    assert path.read_bytes() == damaged


def test_another_key_is_refused(folder):
    """Lines of another key are not set aside as a crash's."""
    with Ledger(folder, DISK, KEY) as ledger:
        ledger.append(some(1))
    before = (folder / NAME).read_bytes()
    with Ledger(folder, DISK, OTHER_KEY) as other, pytest.raises(JournalError):
        other.append(some(1))
    assert Ledger(folder, DISK, OTHER_KEY).verify().fault.code == "wrong_key"
    assert (folder / NAME).read_bytes() == before


def test_a_link_is_not_followed(folder, tmp_path):
    """A ledger that is a link is refused."""
    folder.mkdir()
    (tmp_path / "elsewhere").write_bytes(b"")
    (folder / NAME).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OSError, match="symbolic"):
        Ledger(folder, DISK, KEY).append(some(1))
    assert (tmp_path / "elsewhere").read_bytes() == b""


def test_what_is_no_receipt_is_refused(ledger, folder):
    """A dictionary will not do, and nothing of the batch is written."""
    with pytest.raises(BadReceipt):
        ledger.append([receipt(), {"runId": "x"}])
    assert not folder.exists()


# Keys and scopes


def test_a_ledger_goes_on_after_a_rotation(home):
    """Old lines under the old key, new ones under the new; scopes still join, hashed or not."""
    with Hippocampus.open(home=home, agent_id="river") as memory:
        layout = make_layout(home, "river")
        for hashed in (True, False):
            key = Key(layout.key_file.read_bytes())
            with Ledger(layout.folder, DISK, key, hashed_scopes=True, keys=KeyRing(layout, DISK, key)) as ledger:
                ledger.append([receipt(int(hashed))])
            memory.rotate()
        key = Key(layout.key_file.read_bytes())
        after = Ledger(layout.folder, DISK, key, keys=KeyRing(layout, DISK, key))
        assert [one.version for one in after.receipts(("Анна", "river"))] == [1, 0]
        assert len({one.scope for one in after.receipts()}) == 1


def test_a_ledger_that_is_open_follows_a_rotation(home):
    """Another process rotates and appends under the new key; whoever had it open goes on."""
    with Hippocampus.open(home=home, agent_id="river") as memory:
        layout = make_layout(home, "river")
        key = Key(layout.key_file.read_bytes())
        with Ledger(layout.folder, DISK, key, keys=KeyRing(layout, DISK, key)) as early:
            early.append(some(1))
            memory.rotate()
            key = Key(layout.key_file.read_bytes())
            with Ledger(layout.folder, DISK, key, keys=KeyRing(layout, DISK, key)) as late:
                late.append(some(2))
            assert early.append(some(3)) == 1
            assert numbers(early) == [0, 1, 2]


def test_hashed_scopes_hide_the_names_and_join(folder):
    """No byte of a name is there; a lane is found by its names, and no other lane by likeness."""
    with Ledger(folder, DISK, KEY, hashed_scopes=True) as ledger:
        ledger.append([receipt(0), receipt(1, user_scope="Boris"), receipt(2)])
        assert [one.version for one in ledger.receipts(("Анна", "river"))] == [0, 2]
        assert [one.user_scope for one in ledger.receipts(("Анна", None))] == ["Анна", "Анна"]
        assert [one.version for one in ledger.receipts(("Анна", "delta"))] == []
        assert all(one.user_scope.startswith(HASHED) for one in ledger.receipts())
        assert ledger.append([receipt(0)]) == 0
    data = (folder / NAME).read_bytes()
    assert not any(name in data for name in ("Анна".encode(), b"Boris", b"river"))


def test_a_ledger_goes_on_as_it_was_begun(folder, tmp_path, monkeypatch):
    """ALVEUS_SCOPES counts where a ledger begins: afterwards nobody's setting parts a lane from its past."""
    monkeypatch.setenv("ALVEUS_SCOPES", "hashed")
    with Ledger(folder, DISK, KEY) as ledger:
        ledger.append([receipt(0)])
    monkeypatch.delenv("ALVEUS_SCOPES")
    with Ledger(folder, DISK, KEY) as ledger, Ledger(tmp_path / "plain", DISK, KEY) as plain:
        ledger.append([receipt(1)])
        plain.append([receipt(0)])
    monkeypatch.setenv("ALVEUS_SCOPES", "hashed")
    with Ledger(tmp_path / "plain", DISK, KEY) as plain:
        plain.append([receipt(1)])
        assert [one.user_scope for one in plain.receipts()] == ["Анна", "Анна"]
    assert "Анна".encode() not in (folder / NAME).read_bytes()
    monkeypatch.setenv("ALVEUS_SCOPES", "yes")
    with pytest.raises(InputError, match="ALVEUS_SCOPES"):
        Ledger(folder, DISK, KEY)


def test_nobody_poses_as_a_hashed_name(folder):
    """A user who is called like somebody's hash is somebody else, whether hashes are stored or names."""
    with Ledger(folder, DISK, KEY, hashed_scopes=True) as ledger:
        ledger.append([receipt(0)])
        (anna,) = ledger.receipts()
    with Ledger(folder, DISK, KEY) as ledger:
        ledger.append([receipt(1, user_scope=anna.user_scope, assistant_scope=anna.assistant_scope)])
        assert [one.version for one in ledger.receipts(("Анна", "river"))] == [0]
        assert [one.version for one in ledger.receipts(anna.scope)] == [1]
