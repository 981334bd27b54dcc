"""`memory.db` is derived: deleted, poisoned, corrupt or locked, an import stays idempotent and no record is lost."""

import contextlib
import sqlite3

import pytest

from alveus import AlveusError, Draft, Hippocampus, Kind, Stored
from forge import Bench
from scenes import AGENT

NEW, KNOWN, REVISED = Stored.NEW, Stored.KNOWN, Stored.REVISED


def draft(number, content=None, part=None):
    """An item of a source."""
    return Draft(kind=Kind.STATE, content=content or f"item {number}", origin=f"test:source:{number}", part=part)


def imported(home, *drafts):
    """Import them; what became of each."""
    with Hippocampus.open(home=home, agent_id=AGENT) as memory:
        outcomes = memory.record_many(list(drafts))
        for one, outcome in zip(drafts, outcomes, strict=True):
            assert outcome.record.content == one.content
            assert outcome.record.hc.origin == one.origin
        return [outcome.status for outcome in outcomes]


@pytest.fixture
def db(home):
    """Three items are in."""
    assert imported(home, draft(0), draft(1), draft(2)) == [NEW] * 3
    return home / "agents" / AGENT / "memory.db"


def clear(db):
    """Remove the database."""
    for path in db.parent.glob("memory.db*"):
        path.unlink()


@pytest.mark.usefixtures("db")
def test_a_second_import_finds_everything(home):
    """What is there is known; the same item with other words is a revision, once."""
    assert imported(home, draft(0), draft(1, "changed"), draft(3)) == [KNOWN, REVISED, NEW]
    assert imported(home, draft(0), draft(1, "changed"), draft(1), draft(3)) == [KNOWN] * 4


def test_within_one_batch_too(home):
    """An item that occurs twice in one batch is recorded once; changed in between, it is revised."""
    assert imported(home, draft(0), draft(0), draft(0, "changed"), draft(0)) == [NEW, KNOWN, REVISED, KNOWN]


def test_what_one_user_has_is_not_anothers(home):
    """The same item of another user is recorded for that one; of no user, it is of none. In a batch, and later."""
    everybody = (None, "anna", "boris")
    of = [draft(0)._replace(user=user) for user in everybody]
    assert imported(home, *of, *of) == [NEW] * 3 + [KNOWN] * 3
    assert imported(home, of[2]._replace(content="changed"), *of) == [REVISED] + [KNOWN] * 3
    with Hippocampus.open(home=home, agent_id=AGENT) as memory:
        for user in everybody:
            assert memory.record("state", "item 0", user=user, origin="test:source:0").hc.user == user
        assert memory.record("state", "item 0", user="c", origin="test:source:0").hc.user == "c"
        assert [one.record.hc.user for one in memory.record_many(of)] == list(everybody)


def test_a_database_that_knew_no_users_is_made_again(home, db):
    """One of the earlier form says of boris's item that it is known, since anna has it: it is not asked."""
    assert imported(home, draft(0)._replace(user="anna")) == [NEW]
    with sqlite3.connect(db) as connection:
        connection.executescript(OF_VERSION_1)
    connection.close()
    assert imported(home, draft(0)._replace(user="boris"), draft(0)._replace(user="anna"), draft(0)) == [
        NEW,
        KNOWN,
        KNOWN,
    ]


OF_VERSION_1 = """
ALTER TABLE origin RENAME TO new;
CREATE TABLE origin (
    name TEXT NOT NULL, part INTEGER NOT NULL, digest BLOB NOT NULL, chain TEXT NOT NULL, offset INTEGER NOT NULL,
    PRIMARY KEY (name, part, digest)
) WITHOUT ROWID;
INSERT OR IGNORE INTO origin SELECT name, part, digest, chain, offset FROM new;
DROP TABLE new;
PRAGMA user_version = 1;
"""


def test_parts_are_items_of_their_own(home):
    """An item is known by its origin and the number of its part; how many parts there are may change."""
    parts = [draft(0, f"part {number} of two", (number, 2)) for number in (1, 2)]
    assert imported(home, *parts, draft(0, "unsplit")) == [NEW] * 3
    again = [draft(0, f"part {number} of two", (number, 3)) for number in (1, 2)]
    assert imported(home, *again, draft(0, "a third", (3, 3)), draft(0, "unsplit")) == [KNOWN, KNOWN, NEW, KNOWN]
    assert imported(home, draft(0, "longer", (1, 3))) == [REVISED]


@pytest.mark.parametrize(
    "how",
    ["deleted", "empty", "not a database", "cut", "zeros", "another table", "rows deleted", "progress ahead", "folder"],
)
def test_a_damaged_database_is_made_anew(home, db, how):
    """Whatever is done to the database, what is in the journal is known and what is not is new."""
    with sqlite3.connect(db) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        if how == "rows deleted":
            connection.execute("DELETE FROM origin")
            connection.execute("DELETE FROM origin_progress")
        if how == "progress ahead":
            connection.execute("UPDATE origin_progress SET size = size + 1000, offset = offset + 1000000")
    connection.close()
    data = db.read_bytes()
    if how not in ("rows deleted", "progress ahead"):
        clear(db)
    if how == "another table":
        with sqlite3.connect(db) as connection:
            connection.execute("CREATE TABLE origin (colour TEXT)")
        connection.close()
    elif how == "folder":
        db.mkdir()
    elif how in ("empty", "not a database", "cut", "zeros"):
        spoiled = {"empty": b"", "not a database": b"hello" * 999, "cut": data[:5000], "zeros": bytes(len(data))}
        db.write_bytes(spoiled[how])
    if how in ("folder", "another table"):  # not ours to remove: the person is told which file it is
        with pytest.raises(AlveusError) as caught:
            imported(home, draft(0))
        assert "memory.db" in caught.value.message
        assert caught.value.hint
        return
    assert imported(home, draft(0), draft(1, "changed"), draft(7)) == [KNOWN, REVISED, NEW]


def test_rows_deleted_behind_our_back_are_a_known_limit_of_derived_files(home, db):
    """A row taken out by hand hides its item from the database, not from the journal: deleting the file mends it."""
    with sqlite3.connect(db) as connection:
        connection.execute("DELETE FROM origin WHERE name = 'test:source:1'")
    connection.close()
    clear(db)
    assert imported(home, draft(1)) == [KNOWN]


@pytest.mark.parametrize("what", ["offset", "chain", "other item", "far"])
def test_a_poisoned_answer_is_not_believed(home, db, what):
    """An entry that points to another record, or nowhere, does not make an item known."""
    statements = {
        "offset": "UPDATE origin SET offset = offset + 1",
        "chain": "UPDATE origin SET chain = 'nowhere'",
        "other item": "UPDATE origin SET offset = 0 WHERE name = 'test:source:1'",
        "far": "UPDATE origin SET offset = 1 << 60",
    }
    with sqlite3.connect(db) as connection:
        connection.execute(statements[what])
    connection.close()
    assert imported(home, draft(0), draft(1), draft(2), draft(3)) == [KNOWN, KNOWN, KNOWN, NEW]


def test_planted_items_do_not_keep_real_ones_out(home, db):
    """An entry for an item that was never recorded does not pass for it."""
    with sqlite3.connect(db) as connection:
        connection.execute(
            "INSERT INTO origin SELECT 'test:source:9', part, user, digest, chain, offset FROM origin LIMIT 1"
        )
    connection.close()
    assert imported(home, draft(9)) == [NEW]


def test_a_locked_database_is_waited_for_and_never_deleted(home, db, monkeypatch):
    """Another process in a transaction keeps its database; ours reads beside it, or says what is wrong."""
    from alveus.store import origins

    connect = sqlite3.connect
    monkeypatch.setattr(
        origins.sqlite3, "connect", lambda path, **options: connect(path, **{**options, "timeout": 0.05})
    )
    other = connect(db, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    try:
        with contextlib.suppress(AlveusError):
            assert imported(home, draft(0)) == [KNOWN]
    finally:
        other.execute("ROLLBACK")
        other.close()
    assert db.exists()
    assert imported(home, draft(0)) == [KNOWN]


def test_records_without_an_origin_need_no_database(home, db):
    """With the database unusable, everything that is no import goes on."""
    clear(db)
    db.mkdir()
    with Hippocampus.open(home=home, agent_id=AGENT) as memory:
        memory.record("decision", "no import")
        assert memory.context("import", 100).sources
    assert memory.verify_chain()


@pytest.mark.usefixtures("db")
def test_a_database_that_breaks_at_work_fails_no_record_that_is_written(home):
    """What is in the journal is acknowledged, whatever becomes of the database afterwards."""
    with Hippocampus.open(home=home, agent_id=AGENT) as memory:
        memory.record("state", "item 5", origin="test:source:5")
        memory._agent._origins._db.close()
        memory.record("decision", "no import")
        assert [record.content for record in memory.iter_records()][-2:] == ["item 5", "no import"]
    assert imported(home, draft(5)) == [KNOWN]


def test_a_known_item_is_acknowledged_as_durable_only_once_it_is_on_disk(home):
    """A decision that another writer has written and not synced is synced before it is said to be there."""
    from alveus.store.files import DISK
    from simulator import Faulty

    with Hippocampus.open(home=home, agent_id=AGENT) as one:
        one.record_many([Draft(kind=Kind.STATE, content="item 0", origin="test:source:0")])
        files = Faulty(DISK)
        with Hippocampus.open(home=home, agent_id=AGENT, files=files) as two:
            before = len(files.calls)
            two.record("decision", "item 0", origin="test:source:0", durable=True)
            assert ("datasync", "stream.jsonl") in [(call.kind, call.name) for call in files.calls[before:]]


ODD_LINES = [
    '{"metadata":{"hc":{"origin":"o"}},"content":5}',
    '{"metadata":{"hc":{"origin":"o","x":["origin"]}},"content":["a"]}',
    '{"metadata":{"hc":{"origin":"o","part":[{}]}},"content":"x"}',
    '{"metadata":{"hc":{"origin":"o","part":"x"}},"content":"x"}',
    '{"metadata":{"hc":["origin"],"origin":"o"},"content":"x"}',
    '{"metadata":"x","origin":"o"}',
    '{"metadata":{"hc":{"origin":"o","user":["u"]}},"content":"x"}',
    '["origin","o"]',
    '{"metadata":{"hc":{"x":{"origin":"o"},"origin":{"a":1}}},"content":"x"}',
    '{"content":"\\ud800","metadata":{"hc":{"origin":"o"}}}',
    '{"é":' + "[" * 5000 + "]" * 5000 + ',"origin":"o"}',
    "\x00" * 50 + '"origin":"o"',
]


@pytest.mark.parametrize("number", range(len(ODD_LINES)))
def test_a_line_spoiled_on_disk_does_not_bring_an_import_down(home, db, number):
    """A line that somebody replaced by other JSON, before the head, is no item; the import says so or goes on."""
    bench = Bench.of(home)
    size = len(bench.lines[0])
    odd = ODD_LINES[number].encode()
    lines = [draft(10 + more) for more in range(20)]
    imported(home, *lines)
    clear(db)
    bench = Bench.of(home)
    whole = bench.stream.read_bytes()
    if len(odd) > size:
        odd = odd[:size]
    bench.replace(0, odd.ljust(size, b" "))
    assert len(bench.stream.read_bytes()) == len(whole)
    with Hippocampus.open(home=home, agent_id=AGENT) as memory:
        assert [outcome.status for outcome in memory.record_many([draft(1), draft(99)])] == [KNOWN, NEW]
        assert memory.pattern_completion("item 12")
        assert not memory.verify_chain()
