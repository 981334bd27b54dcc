"""The settings file of an agent is its user's: our hooks go in and out of it, and everything else keeps its bytes."""

import json
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alveus.doors.hook import settings
from alveus.doors.hook.settings import HARNESSES, install, installed, uninstall
from alveus.errors import InputError

CLAUDE, CODEX = HARNESSES["claude-code"], HARNESSES["codex"]
COMMAND = "/opt/bin/alveus-hook claude-code --home /data"
OTHER = {"matcher": "Bash", "hooks": [{"type": "command", "command": "/usr/bin/say done"}]}


@pytest.fixture
def file(tmp_path):
    """Where the settings lie."""
    return tmp_path / "settings.json"


def write(file, text):
    """The file as it is."""
    file.write_bytes(text.encode())


def put_in(file, harness=CLAUDE, command=COMMAND):
    """Install for good."""
    change = install(harness, file, command)
    write(file, change.after)
    return change


DOCUMENTS = {
    "empty object": "{}",
    "no line end": '{"model": "opus"}',
    "two spaces": '{\n  "model": "opus",\n  "permissions": {\n    "allow": ["Bash"]\n  }\n}\n',
    "tabs": '{\n\t"b": 1,\n\t"a": [1,\n 2]\n}\n',
    "CRLF and a BOM": '\ufeff{\r\n    "язык": "русский"\r\n}\r\n',
    "odd layout": '{ "z":1 , "a" : { } ,\n\n  "m":[ ] }\n',
    "other hooks": json.dumps({"hooks": {"PostToolUse": [OTHER], "Notification": [OTHER]}, "z": 1}, indent=2),
    "other hooks on one line": json.dumps({"hooks": {"Stop": [OTHER]}}),
    "escapes": '{\n  "a": "\\u0434\\ud83d\\ude00 \\"hooks\\": {"\n}\n',
}


@pytest.mark.parametrize("text", DOCUMENTS.values(), ids=DOCUMENTS)
def test_out_again_leaves_what_was_there(file, text):
    """Installing and uninstalling gives the same bytes: order, indentation, line ends and escapes are the user's."""
    write(file, text)
    put_in(file)
    assert set(installed(file)) == set(CLAUDE.events)
    assert uninstall(file).after == text


@pytest.mark.parametrize("text", DOCUMENTS.values(), ids=DOCUMENTS)
def test_what_is_added_is_all_that_changes(file, text):
    """Without our hooks the new document says what the old one said."""
    write(file, text)
    after = json.loads(put_in(file).after.lstrip("\ufeff"))
    before = json.loads(text.lstrip("\ufeff"))
    for event, entries in list(after["hooks"].items()):
        kept = [one for one in entries if not any(settings.is_ours(hook) for hook in one["hooks"])]
        after["hooks"][event] = kept
        if not kept and event not in before.get("hooks", {}):
            del after["hooks"][event]
    if "hooks" not in before:
        assert after.pop("hooks") == {}
    assert after == before
    assert list(after) == list(before)


@pytest.mark.parametrize("text", DOCUMENTS.values(), ids=DOCUMENTS)
def test_again_changes_nothing(file, text):
    """Installing twice is installing once."""
    write(file, text)
    put_in(file)
    assert not install(CLAUDE, file, COMMAND).changes


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(string.ascii_letters, max_size=4), inner),
    max_leaves=8,
)


@given(
    st.dictionaries(st.text(string.ascii_letters, min_size=1, max_size=4), JSON, max_size=4),
    st.sampled_from([None, 1, 2, 4, "\t"]),
    st.booleans(),
)
def test_any_document_survives(tmp_path, document, indent, ascii_only):
    """Whatever stands in the file, in whatever layout, it is what it was once our hooks are out again."""
    document.pop("hooks", None)
    file = tmp_path / "settings.json"
    text = json.dumps(document, indent=indent, ensure_ascii=ascii_only)
    write(file, text)
    put_in(file)
    assert uninstall(file).after == text


def test_no_file_is_begun(tmp_path):
    """Where there is none, one with our hooks alone is made; an empty one counts as none."""
    file = tmp_path / "none.json"
    change = install(CLAUDE, file, COMMAND)
    assert change.before is None
    assert list(json.loads(change.after)) == ["hooks"]
    write(file, "  \n")
    assert json.loads(install(CLAUDE, file, COMMAND).after) == json.loads(change.after)


def test_an_older_command_is_replaced(file):
    """Another path, home or agent takes the place of the one before: an event is never hooked twice."""
    put_in(file)
    moved = COMMAND.replace("/data", "/elsewhere")
    put_in(file, command=moved)
    assert installed(file) == {event: [moved] for event in CLAUDE.events}


def test_a_hook_beside_ours_in_one_entry_stays(file):
    """Somebody put ours into an entry of theirs: only ours goes."""
    write(file, json.dumps({"hooks": {"Stop": [{"hooks": [{"command": COMMAND}, {"command": "/usr/bin/say"}]}]}}))
    assert json.loads(uninstall(file).after) == {"hooks": {"Stop": [{"hooks": [{"command": "/usr/bin/say"}]}]}}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{", "is not JSON"),
        ('{"a": 1,}', "is not JSON"),
        ('// mine\n{"a": 1}', "is not JSON"),
        ("[]", "is no JSON object"),
        ('{"hooks": []}', "of a form that is not known here"),
        ('{"hooks": {"Stop": {}}}', "of a form that is not known here"),
        ("[" * 100_000, "nested too deeply"),
    ],
)
@pytest.mark.parametrize("act", [lambda file: install(CLAUDE, file, COMMAND), uninstall, installed])
def test_what_is_not_understood_is_left_alone(file, text, says, act):
    """A file that is no settings file is refused in one sentence that names it."""
    write(file, text)
    with pytest.raises(InputError, match="nothing was changed") as refused:
        act(file)
    assert says in refused.value.message
    assert str(file) in refused.value.message
    assert file.read_bytes() == text.encode()


def test_bytes_that_are_no_text_are_refused(file):
    """As is what is not UTF-8."""
    file.write_bytes(b'{"a": "\xff"}')
    with pytest.raises(InputError, match="not UTF-8"):
        install(CLAUDE, file, COMMAND)


@pytest.mark.parametrize(
    ("command", "ours"),
    [
        ("/x/alveus-hook claude-code", True),
        ("'/my programs/alveus-hook' codex --home '/a b'", True),
        ("/x/python -P -m alveus.doors.hook.entry codex", True),
        ("/x/python -m alveus.doors.cli", False),
        ("alveus-hook-of-mine", False),
        ("echo alveus-hook", False),
        ("echo 'unclosed", False),
        ("", False),
        (None, False),
        (["alveus-hook"], False),
    ],
)
def test_ours_is_known_by_its_program(command, ours):
    """Only a command that runs our program is ours to take out."""
    assert settings.is_ours({"command": command}) is ours


def test_codex_has_no_end_of_session(file):
    """Each agent gets the events that it has."""
    assert "SessionEnd" not in json.loads(install(CODEX, file, COMMAND).after)["hooks"]
