"""tiers.db: transactions, reading back, the outbox; spec/tiers.md, section 2."""

import sqlite3
import threading

import pytest

from alveus import StoreError
from alveus.store.database import Database, FactRow, PageRow, Progress, ReadBackFailed, SegmentRow


def page(scope=1, ordinal=0, name="p"):
    """A page."""
    return PageRow(scope, ordinal, name, "", 0.0, 0.0, 1, None, "", "", "[]", "{}", "[]", None, 0)


def segment(name="s", scope=1, ordinal=0):
    """A segment."""
    return SegmentRow(name, scope, ordinal, 0, "{}", "{}", None, "", 0, 0, 0.0, "", 0, 0, "", 0)


@pytest.fixture
def db(tmp_path):
    """An empty one."""
    made = Database(tmp_path / "tiers.db")
    yield made
    made.close()


def test_it_is_durable_and_private(tmp_path, db):
    """WAL, a busy timeout, FULL at what lasts, and nobody else may read it."""
    with db.writing():
        assert db._db.execute("PRAGMA synchronous").fetchone() == (2,)
    assert db._db.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    assert db._db.execute("PRAGMA busy_timeout").fetchone()[0] >= 10_000
    assert (tmp_path / "tiers.db").stat().st_mode & 0o777 == 0o600


def test_a_transaction_is_whole_or_nothing(db):
    """What an error interrupts never was: not the rows, not the receipts."""

    def act():
        with db.writing():
            db.put([page()])
            db.put_receipts([b"{}"])
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        act()
    assert db.page(1, 0) is None
    assert db.waiting() == []


def test_an_inner_transaction_is_a_part_of_the_outer(db):
    """It commits nothing of its own."""

    def act():
        with db.writing():
            with db.writing():
                db.put([page()])
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        act()
    assert db.page(1, 0) is None


def test_what_was_written_is_read_back(db):
    """A row that is not as written undoes everything."""

    def act(written, expected):
        with db.writing():
            db.put([written])
            db.check([expected])

    for written, expected in ((page(), page(name="other")), (segment(), segment()._replace(pages=1))):
        with pytest.raises(ReadBackFailed):
            act(written, expected)
    assert (db.page(1, 0), db.segment("s")) == (None, None)


def test_ids_are_compared_whole(db):
    """No name is a pattern, and none is the beginning of another."""
    names = ["a_b", "a-b", "a%", "a", "a ", "A", "é", "e\u0301", "'; DROP TABLE page; --", "x" * 300]
    with db.writing():
        for name in names:
            db.scope_made(name, "river")
            db.scope_made("river", name)
    assert len(db.scopes()) == 2 * len(names)
    for name in names:
        assert db.scope(name, "river").user == name
        assert db.scope("river", name).assistant == name
    assert db.scope("a\\", "river") is None


def test_two_files_open_wait_for_one_another(tmp_path, db):
    """Writers in two connections take turns; nobody hears that the database is locked."""
    other, errors = Database(tmp_path / "tiers.db"), []

    def write(one, first):
        try:
            for number in range(first, first + 40):
                with one.writing():
                    one.put([page(ordinal=number, name=f"p{number}")])
        except StoreError as error:
            errors.append(error)

    threads = [threading.Thread(target=write, args=(one, n * 100)) for n, one in enumerate((db, other, db, other))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    other.close()
    assert not errors
    assert len(db.pages(1, 0, 1000)) == 160


def test_a_reader_of_the_same_connection_sees_no_half(db):
    """A thread that reads while another writes by the same connection sees what was committed."""
    inside, seen = threading.Event(), []
    reader = threading.Thread(target=lambda: (inside.wait(5), seen.append(db.page(1, 0))))
    reader.start()

    def act():
        with db.writing():
            db.put([page()])
            inside.set()
            reader.join(0.2)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        act()
    reader.join(5)
    assert seen == [None]


def test_receipts_leave_in_order_and_once(db):
    """The outbox gives them oldest first; what was dropped is gone, what came after is not."""
    with db.writing():
        db.put_receipts([b"1", b"2"])
    rows = db.waiting()
    with db.writing():
        db.put_receipts([b"3"])
        db.drop_receipts(rows[-1][0])
    assert [data for _, data in rows] == [b"1", b"2"]
    assert [data for _, data in db.waiting()] == [b"3"]


def test_everything_that_waits_is_given_however_much(db):
    """A reader that makes the tiers in memory misses no receipt."""
    with db.writing():
        db.put_receipts(b"%d" % number for number in range(10_001))
    assert len(db.waiting()) == 10_001
    assert len(db.waiting(2)) == 2


def test_taking_over_keeps_the_outbox_and_the_bill(db):
    """A rebuild exchanges what is derived; receipts that wait and what was spent stay."""
    fresh = Database(None)
    with fresh.writing():
        fresh.put([Progress("c", 0, 1, 10, "h")])
        fresh.put([FactRow("f", 1, "user", "profile", "name", "Anna", "[]", 0.0, 0, None, None, 1)])
    with db.writing():
        db.put([page()])
        db.put_receipts([b"1"])
    db.spend("2026-01-01", 1, 100)
    with db.writing():
        db.take_over(fresh)
    assert (db.page(1, 0), len(db.facts(1)), db.progress()) == (None, 1, [Progress("c", 0, 1, 10, "h")])
    assert (len(db.waiting()), db.spent("2026-01-01")) == (1, (1, 100))
    assert db.dump() == fresh.dump()
    fresh.close()


def test_changes_are_noticed_whoever_makes_them(tmp_path, db):
    """By this connection or another: a rebuild must not overwrite them."""
    before = db.changes()
    assert db.changes() == before
    db.spend("2026-01-01", 1, 1)
    after = db.changes()
    assert after != before
    other = Database(tmp_path / "tiers.db")
    other.spend("2026-01-01", 1, 1)
    other.close()
    assert db.changes() != after


def test_no_database_is_put_aside_and_made_anew(tmp_path):
    """It is derived: what cannot be read is kept for who wants to look, and takes nothing down."""
    path = tmp_path / "tiers.db"
    path.write_bytes(b"not a database at all" * 50)
    Database(path).close()
    assert (tmp_path / "tiers.db.damaged").read_bytes().startswith(b"not a database")


def test_another_version_is_made_anew(tmp_path):
    """Tables of another form are dropped, not guessed at."""
    path = tmp_path / "tiers.db"
    with sqlite3.connect(path) as old:
        old.execute("CREATE TABLE page (x)")
        old.execute("PRAGMA user_version = 99")
    old.close()
    made = Database(path)
    assert made.pages(1, 0, 10) == []
    made.close()


def test_a_reader_makes_no_file(tmp_path):
    """Opened for reading it is a copy in memory; where there is none, an empty one."""
    path = tmp_path / "tiers.db"
    Database(path, read_only=True).close()
    assert not list(tmp_path.iterdir())
    made = Database(path)
    with made.writing():
        made.put([page()])
    made.close()
    before = sorted(each.name for each in tmp_path.iterdir())
    reader = Database(path, read_only=True)
    assert reader.page(1, 0) == page()
    reader.close()
    assert sorted(each.name for each in tmp_path.iterdir()) == before
