"""The log's lock in one process: an interrupt at any moment leaves it free, and a thread cannot take it twice."""

import threading

import pytest

from alveus import Locked
from alveus.store.files import DISK
from alveus.store.log import Log


@pytest.fixture
def log(tmp_path):
    """An empty log."""
    path = tmp_path / "stream.jsonl"
    path.touch()
    log = Log(path, DISK, read_only=False, timeout=0.05, follow=lambda: None)
    yield log
    log.close()


def is_free(log):
    """Whether another thread gets the lock."""
    got = []

    def take():
        try:
            with log.locked():
                got.append(True)
        except Locked:
            got.append(False)

    thread = threading.Thread(target=take)
    thread.start()
    thread.join()
    return got == [True]


class Interrupted:
    """A call that does what it is to do, and is interrupted just before it returns."""

    def __init__(self, call):
        self.call = call

    def __call__(self, *of, **how):
        self.call(*of, **how)
        raise KeyboardInterrupt


class Mutex:
    """The log's mutex with an interrupt behind `acquire`."""

    def __init__(self, mutex):
        self.acquire = Interrupted(mutex.acquire)
        self.release = mutex.release
        self._is_owned = mutex._is_owned


def test_an_interrupt_behind_the_mutex(log, monkeypatch):
    """The mutex was taken, and nobody was told: it is let go."""
    with monkeypatch.context() as patch:
        patch.setattr(log, "_mutex", Mutex(log._mutex))
        with pytest.raises(KeyboardInterrupt):
            log.lock()
    assert is_free(log)


@pytest.mark.parametrize("name", ["try_lock", "stat"])
def test_an_interrupt_while_taking_it(log, monkeypatch, name):
    """The same between the mutex and the caller."""
    with monkeypatch.context() as patch:
        patch.setattr(DISK, name, Interrupted(getattr(DISK, name)))
        with pytest.raises(KeyboardInterrupt):
            log.lock()
    assert is_free(log)


def test_an_interrupt_while_letting_it_go(log, monkeypatch):
    """The mutex is free, whatever came between."""
    log.lock()
    with monkeypatch.context() as patch:
        patch.setattr(log, "files", Letting(log.files))
        with pytest.raises(KeyboardInterrupt):
            log.unlock()
    assert is_free(log)


class Letting:
    """A disk that is interrupted before it lets the file's lock go, the first time."""

    def __init__(self, files):
        self.files = files
        self.calls = 0

    def unlock(self, fd):
        self.calls += 1
        if self.calls == 1:
            raise KeyboardInterrupt
        self.files.unlock(fd)


def test_a_thread_that_has_it_cannot_take_it_again(log):
    """A signal handler that records while its thread does is refused at once, and takes nothing away."""
    with log.locked():
        with pytest.raises(Locked):
            log.lock()
        assert not is_free(log)
    assert is_free(log)
