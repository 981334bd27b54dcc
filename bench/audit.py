"""How long the judge and the ledger take: `python bench/audit.py [RECEIPTS]`.

The receipts are those of whole runs, five each. Times are the best of three, since the machine is rarely alone; that of
the first append is processor time.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

from alveus.audit.judge import Contract, judge
from alveus.audit.receipt import Boundary, Receipt, Status
from alveus.journal.seal import Key, format_time
from alveus.store.files import DISK
from alveus.store.ledger import Ledger

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)


def receipts(count: int) -> list[Receipt]:
    """So many receipts, of runs in which everything agrees."""
    boundaries = [*Boundary]
    return [_receipt(number // 5, boundaries[number % 5]) for number in range(count)]


def _receipt(run: int, boundary: Boundary) -> Receipt:
    return Receipt(
        run_id=f"run-{run}",
        user_scope="anna",
        assistant_scope="river",
        boundary=boundary,
        version=22,
        status=Status.COMMITTED,
        at_utc=format_time(NOON.replace(tzinfo=None) + timedelta(seconds=[*Boundary].index(boundary))),
        source_version="example/1",
        source_durable=True,
        source_present=boundary is Boundary.STORE,
        destination_present=True,
        depends_on_version=22 if boundary is Boundary.GENERATE else None,
    )


def best(act: Callable[[], object]) -> float:
    """The shortest of three."""
    times = []
    for _ in range(3):
        began = time.perf_counter()
        act()
        times.append(time.perf_counter() - began)
    return min(times)


def main(count: int) -> None:
    """Print the table."""
    given, now, key = receipts(count), NOON + timedelta(minutes=1), Key(bytes(range(32)))
    assert judge(given, Contract(), now)
    rows = {"judge, by run": best(lambda: judge(given, Contract(), now))}
    rows["judge, as one lane"] = best(lambda: judge(given, Contract(joined=False), now))
    with tempfile.TemporaryDirectory() as folder, Ledger(Path(folder), DISK, key) as ledger:
        began = time.perf_counter()
        ledger.append(given)
        rows["ledger, append in one batch"] = time.perf_counter() - began
        rows["ledger, read and check"] = best(lambda: list(ledger.receipts()))
        ledger.close()
        one, began = _receipt(count, Boundary.STORE), time.process_time()
        with Ledger(Path(folder), DISK, key) as again:
            again.append([one])
            rows["ledger, another's first append"] = time.process_time() - began
    print(f"{count:,} receipts")
    for name, seconds in rows.items():
        print(f"  {name:<30} {seconds:6.2f} s")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100_000)
