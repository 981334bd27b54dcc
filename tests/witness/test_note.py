"""Signed notes, against the reference vectors of Go's sumdb/note package and the C2SP specification."""

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alveus.errors import WitnessError
from alveus.witness import note
from alveus.witness.note import VerifierKey

# golang.org/x/mod/sumdb/note, note_test.go
PETER = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW"
PETER_PRIVATE = base64.b64decode("AYEKFALVFGyNhPJEMzD1QIDr+Y7hfZx09iUvxdXHKDFz")[1:]
ENOCH = "EnochRoot+af0cfe78+ATtqJ7zOtqQtYqOo0CpvDXNlMhV3HeJDpjrASKGLWdop"
TEXT = "If you think cryptography is the answer to your problem,\nthen you don't know what your problem is.\n"
PETER_SIG = (
    "\u2014 PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n"
)
ENOCH_SIG = (
    "\u2014 EnochRoot rwz+eBzmZa0SO3NbfRGzPCpDckykFXSdeX+MNtCOXm2/5n2tiOHp+vAF1aGrQ5ovTG01oOTGwnWLox33WWd1RvMc+QQ=\n"
)
NOTE = f"{TEXT}\n{PETER_SIG}"

# c2sp.org/signed-note, the example: a text with a blank line in it.
QUASIMODO = """Ognuno sta solo sul cuor della terra
trafitto da un raggio di sole:

ed è subito sera.

\u2014 quasimodo.example/salvatore NnugSzTjtVAewIS+Z/iJhUPeFDkO/5QQ2i5ddnGITLlC+EhfLW9oJKONrMouFSQU0xMcXxj99ihAQwaqP3ZekRwNtIc=
"""  # noqa: E501 - a signature line is one line


def verify(text, vkey=PETER):
    """Parse and verify."""
    note.verify(note.parse(text), note.parse_vkey(vkey))


def code_of(call, *arguments):
    """The code of the WitnessError this call must raise."""
    with pytest.raises(WitnessError) as caught:
        call(*arguments)
    assert caught.value.message.endswith(".")
    assert caught.value.hint
    return caught.value.code


def test_the_reference_note_verifies():
    """Go's example note is read, verified and written again byte for byte."""
    read = note.parse(NOTE)
    assert read.text == TEXT
    assert read.whole() == NOTE
    verify(NOTE)
    verify(NOTE.encode())


def test_the_reference_key_signs_the_reference_note():
    """Ed25519 is deterministic: the same key and text give Go's very bytes."""
    assert note.sign(TEXT, "PeterNeumann", PETER_PRIVATE).whole() == NOTE


def test_a_key_reads_and_writes_as_one_line():
    """The vkey form goes both ways, and the id is derived from name and key."""
    for vkey in (PETER, ENOCH):
        assert note.parse_vkey(vkey).vkey == vkey
    key = VerifierKey(name="PeterNeumann", public_key=note.public_key(PETER_PRIVATE))
    assert key.vkey == PETER


def test_the_specifications_example_is_read():
    """The text runs to the last blank line, and may hold others."""
    read = note.parse(QUASIMODO)
    assert read.text.endswith("sole:\n\ned è subito sera.\n")
    assert [each.name for each in read.signatures] == ["quasimodo.example/salvatore"]
    assert read.whole() == QUASIMODO


def test_signatures_of_others_are_ignored():
    """Whoever else signed, the known key's signature decides; each verifies under its own key."""
    both = NOTE + ENOCH_SIG
    verify(both)
    verify(both, ENOCH)
    verify(NOTE + "\u2014 witness.example " + base64.b64encode(b"id..\x04 of another type").decode() + "\n")


def test_a_note_by_others_only_is_not_verified():
    """No signature by the key that was asked about is no evidence."""
    assert code_of(verify, NOTE, ENOCH) == "unknown_key"


def test_the_same_name_with_another_key_is_another_signer():
    """A name alone identifies nobody."""
    other = VerifierKey(name="PeterNeumann", public_key=note.public_key(bytes(32)))
    assert code_of(verify, NOTE, other.vkey) == "unknown_key"


def test_a_changed_text_does_not_verify():
    """One letter more, and the signature does not hold."""
    assert code_of(verify, NOTE.replace("problem is", "problems is")) == "bad_signature"


def test_a_bad_signature_condemns_the_note_beside_a_good_one():
    """A signature in the known key's name that fails is an alarm, though another line verifies."""
    forged = PETER_SIG.replace("JkuBS", "JkuBT")
    for each in (NOTE + forged, f"{TEXT}\n{forged}{PETER_SIG}"):
        assert code_of(verify, each) == "bad_signature"
    verify(NOTE + PETER_SIG)


def test_a_signature_of_another_length_does_not_verify():
    """Bytes put into a known signature are a failed signature, not a crash."""
    assert code_of(verify, f"{TEXT}\n{PETER_SIG[:60]}ABCD{PETER_SIG[60:]}") == "bad_signature"


MALFORMED = {
    "no signatures": TEXT,
    "nothing after the blank line": f"{TEXT}\n",
    "last newline missing": NOTE[:-1],
    "control character": "\x01" + NOTE,
    "carriage return": NOTE.replace("\n", "\r\n"),
    "tab": "\t" + NOTE,
    "not UTF-8": b"\xff" + NOTE.encode(),
    "lone surrogate": "\ud800" + NOTE,
    "space in the name": NOTE.replace("PeterNeumann", "Bad Name"),
    "plus in the name": NOTE.replace("PeterNeumann", "Bad+Name"),
    "no-break space in the name": NOTE.replace("PeterNeumann", "Bad\u00a0Name"),
    "no name": NOTE.replace("PeterNeumann", ""),
    "hyphen for the dash": NOTE.replace("\u2014", "-"),
    "line after the signatures": NOTE + "Unexpected line.\n",
    "blank line after the signatures": NOTE + "\n",
    "no base64": NOTE.replace("x08go", "x08g!"),
    "no padding": NOTE.replace("nAM=", "nAM"),
    "padding bits set": NOTE.replace("nAM=", "nAN="),
    "key id only": f"{TEXT}\n\u2014 PeterNeumann x08gow==\n",
    "no signature": f"{TEXT}\n\u2014 PeterNeumann\n",
    "no text": f"\n{PETER_SIG}",
    "too many signatures": NOTE + PETER_SIG * 100,
    "too long": "x" * 1_000_000 + NOTE,
    "empty": "",
}


@pytest.mark.parametrize("text", MALFORMED.values(), ids=MALFORMED.keys())
def test_a_malformed_note_is_refused(text):
    """A note is read in exactly one form."""
    assert code_of(note.parse, text) == "bad_note"


def test_a_hundred_signatures_are_read():
    """Many witnesses may cosign."""
    assert len(note.parse(NOTE + ENOCH_SIG * 99).signatures) == 100


def test_no_part_of_a_key_is_a_key():
    """Every proper substring of a vkey is refused (as in Go's test)."""
    for start in range(len(PETER)):
        for end in range(start + 1, len(PETER) + 1):
            if (start, end) != (0, len(PETER)):
                assert code_of(note.parse_vkey, PETER[start:end]) == "bad_key"


def test_no_character_of_a_key_can_be_changed():
    """The id ties name and key together: each character raised by one is refused (as in Go's test)."""
    for at in range(len(PETER)):
        assert code_of(note.parse_vkey, PETER[:at] + chr(ord(PETER[at]) + 1) + PETER[at + 1 :]) == "bad_key"


@pytest.mark.parametrize(
    "vkey",
    [
        "PeterNeumann+cc469956+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TWBADKEY==",
        "PeterNeumann+173116ae+ZRpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW",
        PETER.replace("c74f20a3", "C74F20A3"),
        PETER + "\n",
        "",
    ],
    ids=["another length", "another algorithm", "upper-case id", "newline", "empty"],
)
def test_a_malformed_key_is_refused(vkey):
    """Only the one form of an Ed25519 key is taken."""
    assert code_of(note.parse_vkey, vkey) == "bad_key"


@pytest.mark.parametrize("name", ["", "a b", "a+b", "a\u2003b", "a\nb", "a\x00", "\ud800"])
def test_a_name_that_would_break_the_line_is_refused(name):
    """Key names hold no space, no plus, no control character."""
    assert code_of(note.sign, TEXT, name, PETER_PRIVATE) == "bad_key"


@pytest.mark.parametrize("text", ["abc", "", "a\tb\n", "a\r\n", "\ud800\n"])
def test_a_text_that_could_not_be_read_back_is_not_signed(text):
    """What is signed can always be parsed."""
    assert code_of(note.sign, text, "name", PETER_PRIVATE) == "bad_note"


def test_a_private_key_of_another_length_is_refused_and_not_shown():
    """The error tells the length, never the key."""
    with pytest.raises(WitnessError) as caught:
        note.sign(TEXT, "name", b"secretsecret")
    assert "secret" not in caught.value.message


LINES = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="".join(map(chr, range(32)))), max_size=20)
NAMES = st.text(st.characters(exclude_categories=["Cs", "Cc", "Zs", "Zl", "Zp"], exclude_characters="+"), min_size=1)


@given(st.lists(LINES, min_size=1, max_size=5), NAMES.filter(note.is_key_name), st.binary(min_size=32, max_size=32))
def test_every_note_reads_back(lines, name, private_key):
    """Any text and name that can be signed is read back equal and verifies under the key that signed it."""
    text = "\n".join(lines) + "\n"
    signed = note.sign(text, name, private_key)
    read = note.parse(signed.whole())
    assert read == signed
    key = VerifierKey(name=name, public_key=note.public_key(private_key))
    note.verify(read, note.parse_vkey(key.vkey))


@given(st.data())
def test_no_byte_of_a_note_can_be_changed(data):
    """A note with one changed byte is malformed, unsigned by the key, or badly signed: never verified."""
    raw = bytearray(NOTE.encode())
    at = data.draw(st.integers(0, len(raw) - 1))
    raw[at] ^= data.draw(st.integers(1, 255))
    assert code_of(verify, bytes(raw)) in {"bad_note", "unknown_key", "bad_signature"}
