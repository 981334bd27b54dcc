"""The command line as a whole: options before and after the name, forms of output, exit statuses."""

import json
import os
import signal
import subprocess

import pytest

from alveus.doors import writing
from alveus.doors.cli import COMMANDS, main
from alveus.doors.exits import status_of
from alveus.doors.options import Settings
from alveus.errors import (
    AlveusError,
    InputError,
    JournalError,
    Locked,
    NotFound,
    StoreError,
    StoreUncertain,
    WitnessError,
)


def test_without_a_command_the_help_is_shown(capfdbinary):
    """`alveus` alone shows what there is and counts as a wrong call."""
    assert main([]) == 2
    out, err = capfdbinary.readouterr()
    assert b"verify" in out
    assert b"error" not in err


def test_version(call):
    """The version names the signing domain, which decides what can read what."""
    assert "montana.agent.hippocampus.v1" in call("--version").out


@pytest.mark.parametrize("name", [*(name for name, _ in COMMANDS), "keys"])
def test_every_command_has_help_and_the_shared_options(call, name):
    """Each command says what it does, and offers --home, --agent, --json and --jsonl."""
    ended = call(name, "--help")
    assert ended.status == 0
    assert all(option in ended.out for option in ("--home", "--agent", "--json", "--jsonl"))


@pytest.mark.parametrize(
    "arguments",
    [
        ("--json", "keys"),
        ("keys", "--json"),
        ("keys", "--json", "ls"),
        ("keys", "ls", "--json"),
        ("--json", "keys", "ls"),
    ],
)
def test_shared_options_stand_anywhere(begun, arguments):
    """A shared option means the same before the command, after it, and after its subcommand."""
    assert begun(*arguments).document["keys"][0]["use"] == "current"


def test_the_later_of_two_counts(begun, tmp_path):
    """An option given after the name overrides the one before it."""
    assert begun("log", "--agent", "nobody").status == 3
    assert begun("--agent", "nobody", "log", "--agent", "river").status == 0
    assert begun("agents", "--home", str(tmp_path / "elsewhere"), "--json").document["agents"] == []


def test_the_environment_is_overridden_by_options(call, monkeypatch, tmp_path):
    """ALVEUS_HOME and ALVEUS_AGENT count only where no option does."""
    monkeypatch.setenv("ALVEUS_HOME", str(tmp_path / "other"))
    monkeypatch.setenv("ALVEUS_AGENT", "other")
    assert call("init", "--json").document["agent_id"] == "river"
    assert not (tmp_path / "other").exists()
    assert main(["init"]) == 0
    assert (tmp_path / "other" / "agents" / "other").exists()


def test_an_option_that_is_data_is_not_taken(begun):
    """After `--` everything is text, even what looks like an option."""
    assert begun("record", "decision", "--", "--json").status == 0
    assert begun("log").out.rstrip("\n").endswith("\t--json")


@pytest.mark.parametrize("name", ["home", "agent"])
def test_an_empty_option_is_refused(begun, name):
    """An empty --home or --agent, an unset variable in a script, does not fall back to another memory."""
    ended = begun("log", f"--{name}", "")
    assert ended.status == 2
    assert f"--{name} is empty" in ended.err


def test_forms_exclude_each_other(begun):
    """One document and a stream of lines cannot both be had."""
    assert begun("log", "--json", "--jsonl").status == 2


# Errors


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (AlveusError, 1),
        (InputError, 2),
        (NotFound, 3),
        (JournalError, 4),
        (StoreError, 1),
        (StoreUncertain, 1),
        (Locked, 6),
        (WitnessError, 1),
    ],
)
def test_statuses(error, status):
    """Each class of error has its exit status."""
    assert status_of(error("…")) == status


def test_an_error_is_a_sentence_and_a_hint(call):
    """For people: what is wrong and what to do, on stderr; nothing on stdout."""
    ended = call("log")
    assert ended.out == ""
    assert ended.err.splitlines()[0].startswith("error: there is no journal for agent 'river'")
    assert ended.err.splitlines()[1].startswith("hint:  `alveus init`")


@pytest.mark.parametrize(
    "arguments", [("log", "--json"), ("--json", "log"), ("log", "--json", "--bogus"), ("load", "--json")]
)
def test_an_error_under_json_is_the_document(call, arguments):
    """A program that asked for a document gets one, whatever went wrong, and nothing on stderr."""
    ended = call(*arguments)
    assert set(ended.document) == {"code", "hint", "message"}
    assert ended.err == ""


def test_an_error_under_jsonl_is_no_record(call):
    """Lines of a stream are all of one type: an error's is on stderr."""
    ended = call("log", "--jsonl")
    assert ended.out == ""
    assert json.loads(ended.err)["code"] == "not_found"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("log", "-n", "0"), "greater than or equal to 1"),
        (("load",), "Missing option '--budget'"),
        (("recrd",), "Did you mean 'record'?"),
        (("record", "feeling", "x"), "'feeling' is not one of 'state'"),
        (("record", "state", "-5 degrees"), "a text that begins with - goes after --"),
    ],
)
def test_a_wrong_call_is_told_in_one_sentence(begun, arguments, told):
    """What is wrong with a call is said without a box, a usage block or Python's words."""
    ended = begun(*arguments)
    assert ended.status == 2
    assert told in ended.err
    assert len(ended.err.splitlines()) == 2
    assert "Value error" not in ended.err


def test_an_error_of_the_system_is_told(begun, monkeypatch):
    """What the operating system refuses outside the store is a sentence too."""

    def refuse(*_arguments):
        raise PermissionError(13, "Permission denied", "/somewhere")

    monkeypatch.setattr(Settings, "layout", refuse)
    ended = begun("keys")
    assert ended.status == 1
    assert "/somewhere: Permission denied" in ended.err


def test_an_interrupt_is_quiet(begun, monkeypatch):
    """Ctrl-C ends a command with 130 and no traceback."""
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background inherits none
    monkeypatch.setattr(writing, "standard_input", lambda: signal.raise_signal(signal.SIGINT))
    try:
        ended = begun("record", "state", "-")
    finally:
        signal.signal(signal.SIGINT, handler)
    assert (ended.status, ended.out, ended.err) == (130, "", "")


# Readers that go away, outputs that are full


def test_a_reader_that_goes_away_ends_the_command_quietly(begun, alone, home):
    """`alveus log | head` says nothing; the status is that of a program killed by SIGPIPE."""
    begun("record", "state", "x")
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "wb") as pipe:
        ended = alone("--home", home, "--agent", "river", "log", "--jsonl", stdout=pipe, stderr=subprocess.PIPE)
    assert (ended.returncode, ended.stderr) == (141, b"")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full")  # noqa: PTH110
def test_an_output_that_is_full_is_an_error(begun, alone, home):
    """What could not be printed was not printed: the status says so."""
    begun("record", "state", "x")
    with open("/dev/full", "wb") as full:  # noqa: PTH123
        ended = alone("--home", home, "--agent", "river", "log", "--json", stdout=full, stderr=subprocess.PIPE)
    assert ended.returncode == 1
    assert b"No space left" in ended.stderr
    assert b"Traceback" not in ended.stderr


def test_closed_streams_do_not_hit_the_journal(begun, alone, home, folder):
    """With stdin, stdout and stderr closed, what is printed goes nowhere, least of all into the journal's files."""
    close = ("sh", "-c", 'exec "$@" <&- >&- 2>&-', "sh")
    ended = alone("--home", home, "--agent", "river", "record", "decision", "alone", wrapper=close)
    assert ended.returncode == 0
    assert begun("verify").status == 0
    assert (folder / "stream.jsonl").read_bytes().count(b"\n") == 1


def test_the_module_can_be_run(alone):
    """`python -m alveus.doors.cli` is the command."""
    assert alone("--version").stdout.startswith(b"alveus ")
