"""What hooks put down is neither lost nor doubled: with many at once, with a taker among them, cut short, disk full."""

import json
import multiprocessing
import os
import time
from pathlib import Path

import pytest

from alveus.doors.hook import spool

WRITERS, LINES = 8, 40


def write(folder, number):
    """One process's lines."""
    for line in range(LINES):
        spool.put(folder, json.dumps([number, line, "ж" * (line * 50)], ensure_ascii=False).encode())


def taken(path):
    """The lines of a file that was taken, which goes."""
    data = Path(path).read_bytes()
    assert data.endswith(b"\n")
    Path(path).unlink()
    return [tuple(json.loads(line)[:2]) for line in data.splitlines()]


def test_many_put_down_while_one_takes(tmp_path):
    """8 processes put 40 lines each down while another takes again and again: each line is taken once, whole."""
    folder = str(tmp_path / "spool")
    started = [multiprocessing.get_context("fork").Process(target=write, args=(folder, n)) for n in range(WRITERS)]
    for one in started:
        one.start()
    found = []
    while any(one.is_alive() for one in started):
        if (path := spool.take(folder)) is not None:
            found += taken(path)
        time.sleep(0.001)
    for one in started:
        one.join()
    if (path := spool.take(folder)) is not None:
        found += taken(path)
    assert sorted(found) == [(n, line) for n in range(WRITERS) for line in range(LINES)]


def test_what_was_taken_and_not_finished_is_taken_again(tmp_path):
    """A taker that was killed leaves its file: the next one gets that, and what was put down meanwhile after it."""
    folder = str(tmp_path)
    spool.put(folder, b"1")
    first = spool.take(folder)
    spool.put(folder, b"2")
    assert spool.take(folder) == first
    assert taken_lines(first) == [b"1"]
    Path(first).unlink()
    assert taken_lines(spool.take(folder)) == [b"2"]


def taken_lines(path):
    """The same, and it stays."""
    return Path(path).read_bytes().splitlines()


def test_a_line_that_was_cut_short_spoils_no_other(tmp_path):
    """A kill in the middle of a line: the next line begins on a line of its own."""
    folder = str(tmp_path)
    spool.put(folder, b"one")
    with (tmp_path / spool.EVENTS).open("ab") as file:
        file.write(b'{"cut sho')
    spool.put(folder, b"two")
    assert taken_lines(spool.take(folder)) == [b"one", b'{"cut sho', b"two"]


def test_a_full_disk_leaves_nothing_of_the_line(tmp_path, monkeypatch):
    """What could not be written whole is taken back, and said."""
    folder = str(tmp_path)
    spool.put(folder, b"one")
    real = os.write

    def full(fd, data):
        if len(data) > 3:
            return real(fd, data[:3])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(OSError, match="No space"):
        spool.put(folder, b"twothree")
    monkeypatch.undo()
    assert (tmp_path / spool.EVENTS).read_bytes() == b"one\n"


def test_only_one_takes(tmp_path):
    """The right to take is one process's, and ends with it."""
    first = spool.alone(str(tmp_path))
    assert first is not None
    assert spool.alone(str(tmp_path)) is None
    assert spool.is_busy(str(tmp_path))
    os.close(first)
    assert not spool.is_busy(str(tmp_path))
