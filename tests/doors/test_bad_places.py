"""Machines that are not as they should be: no permissions, no HOME, no locale. Each gets a sentence."""

import shutil
import subprocess
import sys

import pytest

SETPRIV = shutil.which("setpriv") or ""
BARE = (SETPRIV, "--inh-caps=-all", "--bounding-set=-all")
"""Root without its powers: permissions mean to it what they mean to everybody."""


def _works(*command: str) -> bool:
    try:
        return subprocess.run([*command, "true"], capture_output=True, check=False).returncode == 0
    except OSError:
        return False


needs_bare = pytest.mark.skipif(not _works(*BARE), reason="setpriv cannot drop root's powers here")


@pytest.fixture
def there(begun, home):
    """A journal with one record; and the options that name it."""
    begun("record", "decision", "kept")
    yield ("--home", str(home), "--agent", "river")
    for path in (home, *home.rglob("*")):
        path.chmod(0o700 if path.is_dir() else 0o600)


def told(ended, status):
    """The error of a command, having checked that it is one sentence and a hint."""
    error = ended.stderr.decode()
    assert ended.returncode == status, error
    assert "Traceback" not in error
    assert error.startswith("error: ")
    assert "\nhint:  " in error
    return error


@needs_bare
def test_a_key_that_cannot_be_read(there, alone, home):
    """An unreadable key is named, and what to do with it."""
    (home / "keys" / "river.journal.key").chmod(0)
    error = told(alone(*there, "log", wrapper=BARE), 1)
    assert "river.journal.key" in error
    assert "mode 0600" in error


@needs_bare
def test_a_home_that_cannot_be_written(there, alone, home):
    """A read-only home can be read and verified; a record is refused, and nothing is changed."""
    for path in (*home.rglob("*"), home):
        path.chmod(0o500 if path.is_dir() else 0o400)
    assert b"kept" in alone(*there, "log", wrapper=BARE).stdout
    assert alone(*there, "verify", wrapper=BARE).returncode == 0
    assert "Permission denied" in told(alone(*there, "record", "state", "lost?", wrapper=BARE), 1)
    assert alone(*there, "log", "--jsonl", wrapper=BARE).stdout.count(b"\n") == 1


@needs_bare
def test_a_home_that_cannot_be_made(alone, tmp_path):
    """Where no folder can be made, another home is suggested."""
    tmp_path.chmod(0o500)
    error = told(alone("--home", str(tmp_path / "home"), "init", wrapper=BARE), 1)
    tmp_path.chmod(0o700)
    assert "--home" in error


@pytest.mark.skipif(sys.platform != "linux", reason="uses setpriv")
def test_no_home_folder(alone):
    """A user without a home folder is told to name one."""
    nobody = (SETPRIV, "--reuid", "54321", "--clear-groups")
    powers = ("--inh-caps=+dac_read_search", "--ambient-caps=+dac_read_search")
    if not _works(*nobody, *powers):
        pytest.skip("setpriv cannot become a user without a home here")
    error = told(alone("init", wrapper=(*nobody, *powers), cwd="/"), 2)
    assert "ALVEUS_HOME" in error


def test_a_home_that_is_a_file(call, home):
    """A file in the home's place is named as that."""
    home.write_bytes(b"")
    for command in (("init",), ("log",), ("agents",), ("record", "state", "x")):
        ended = call(*command)
        assert ended.status == 2
        assert "is not a folder" in ended.err


def test_no_locale(alone, home):
    """Under LANG=C text in every script goes in and comes out as it is."""
    text = "Решили: SQLite 🐬 漢字"
    env = {"LANG": "C", "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    options = ("--home", str(home), "--agent", "Река".encode())
    assert alone(*options, "init", env=env).returncode == 0
    assert alone(*options, "record", "decision", text.encode(), env=env).returncode == 0
    for command in (("log",), ("log", "--json"), ("recall", "решили".encode())):
        assert text in alone(*options, *command, env=env).stdout.decode()
    assert "нет.jsonl" in told(alone(*options, "import", "нет.jsonl".encode(), env=env), 3)
    assert b"\xe2\x94\x80" in alone("--help", env=env).stdout


def test_a_locale_that_cannot_spell_it(alone, home):
    """Where the terminal's encoding lacks a character, it is escaped, and nothing fails."""
    env = {"PYTHONIOENCODING": "latin-1"}
    options = ("--home", str(home), "--agent", "river")
    alone(*options, "init", env=env)
    alone(*options, "record", "decision", "café 🐬".encode(), env=env)
    assert "café \\U0001f42c".encode("latin-1") in alone(*options, "log", env=env).stdout


def test_colours_can_be_declined(begun, alone, home):
    """NO_COLOR leaves no colour, also where a terminal is claimed."""
    options = ("--home", str(home), "--agent", "river")
    begun("record", "error", "x")
    plain = alone(*options, "log", env={"NO_COLOR": "1", "FORCE_COLOR": "1", "TERM": "xterm-256color"}).stdout
    assert b"\x1b[31m" not in plain
    assert b"\x1b[31m" in alone(*options, "log", env={"FORCE_COLOR": "1", "TERM": "xterm-256color"}).stdout
