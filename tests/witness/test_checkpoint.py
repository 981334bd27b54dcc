"""Checkpoints: the signed size and root of a journal, against c2sp.org/tlog-checkpoint."""

import base64
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alveus.errors import WitnessError
from alveus.witness import checkpoint as checkpoints
from alveus.witness import note
from alveus.witness.checkpoint import Checkpoint

PRIVATE = bytes(range(32))
CHAIN = "0f1e2d3c4b5a69788796a5b4c3d2e1f0"
ORIGIN = checkpoints.origin("agent/one", CHAIN)
ROOT = base64.b64decode("CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=")
CHECKPOINT = Checkpoint(origin=ORIGIN, size=20_852_163, root=ROOT)
KEY = checkpoints.verifier_key(ORIGIN, note.public_key(PRIVATE))

PINNED = """alveus/agent%2Fone/0f1e2d3c4b5a69788796a5b4c3d2e1f0
20852163
CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=

\u2014 alveus/agent%2Fone/0f1e2d3c4b5a69788796a5b4c3d2e1f0 uwNmYqTWO56o6hDiJlFNTQqVB8kkipwE5Ueg0VHKrIdzobabePzM/wmsZzvYbeZImyVWVDE4wzeCFRPwWlnQgkKlrQE=
"""  # noqa: E501 - a signature line is one line

# c2sp.org/tlog-checkpoint, the example.
C2SP = """example.com/behind-the-sofa
20852163
CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=

\u2014 example.com/behind-the-sofa Az3grlgtzPICa5OS8npVmf1Myq/5IZniMp+ZJurmRDeOoRDe4URYN7u5/Zhcyv2q1gGzGku9nTo+zyWE+xeMcTOAYQ8=
"""  # noqa: E501 - a signature line is one line


def code_of(call, *arguments):
    """The code of the WitnessError this call must raise."""
    with pytest.raises(WitnessError) as caught:
        call(*arguments)
    assert caught.value.hint
    return caught.value.code


def signed_text(text, name=ORIGIN):
    """A good signature over any text: only the text's form can be wrong."""
    return note.sign(text, name, PRIVATE).whole()


def test_the_specifications_example_is_read():
    """The C2SP example has the origin, size and root it shows."""
    read = checkpoints.parse(C2SP).checkpoint
    assert (read.origin, read.size, read.root) == ("example.com/behind-the-sofa", 20_852_163, ROOT)
    assert read.text() == C2SP.partition("\n\n")[0] + "\n"


def test_a_checkpoint_is_pinned():
    """Key 00..1f gives these very bytes, and its vkey verifies them."""
    assert checkpoints.sign(CHECKPOINT, PRIVATE) == PINNED
    assert KEY.vkey == (
        "alveus/agent%2Fone/0f1e2d3c4b5a69788796a5b4c3d2e1f0+bb036662+AQOhB7/zzhC+HXDdGOdLwJln5NYwm6UNXx3chmQSVTG4"
    )
    assert checkpoints.verify(PINNED, KEY.vkey) == checkpoints.verify(PINNED.encode(), KEY) == CHECKPOINT


@pytest.mark.parametrize(
    ("agent_id", "encoded"),
    [
        ("agent", "agent"),
        ("a-b._~9", "a-b._~9"),
        ("a b+c/d%", "a%20b%2Bc%2Fd%25"),
        ("агент", "%D0%B0%D0%B3%D0%B5%D0%BD%D1%82"),
    ],
)
def test_an_origin_is_fit_to_name_a_key(agent_id, encoded):
    """Everything but unreserved ASCII is percent-encoded, so that two agents never share an origin."""
    origin = checkpoints.origin(agent_id, CHAIN)
    assert origin == f"alveus/{encoded}/{CHAIN}"
    assert note.is_key_name(origin)


@pytest.mark.parametrize(
    ("agent_id", "chain"),
    [("", CHAIN), ("a\n", CHAIN), ("a" * 257, CHAIN), ("\ud800", CHAIN), ("a", CHAIN.upper()), ("a", CHAIN[1:])],
)
def test_an_origin_of_no_journal_is_refused(agent_id, chain):
    """An origin names an agent and a chain, or is not made."""
    assert code_of(checkpoints.origin, agent_id, chain) == "bad_checkpoint"


def test_a_key_verifies_its_own_log_only():
    """One key used for two journals cannot pass the one's checkpoint for the other's."""
    other = checkpoints.origin("agent/two", CHAIN)
    theirs = checkpoints.sign(replace(CHECKPOINT, origin=other), PRIVATE)
    assert code_of(checkpoints.verify, theirs, KEY) == "wrong_origin"
    assert code_of(checkpoints.verify, signed_text(CHECKPOINT.text(), "witness.example"), KEY) == "unknown_key"
    assert code_of(checkpoints.verify, signed_text(replace(CHECKPOINT, origin=other).text()), KEY) == "wrong_origin"


def test_another_key_does_not_verify():
    """The same origin under another key is not this journal's word."""
    stranger = checkpoints.verifier_key(ORIGIN, note.public_key(bytes(32)))
    assert code_of(checkpoints.verify, PINNED, stranger) == "unknown_key"


@pytest.mark.parametrize(
    ("old", "new"), [("20852163", "20852162"), ("CsUYap", "DsUYap"), ("20852163", "0"), ("uwNmYqTW", "uwNmYqTX")]
)
def test_a_changed_checkpoint_does_not_verify(old, new):
    """A smaller size, another root or another signature is noticed."""
    assert code_of(checkpoints.verify, PINNED.replace(old, new), KEY) == "bad_signature"


def test_a_cosigned_checkpoint_verifies():
    """A witness's line beside the log's own changes nothing."""
    cosigned = PINNED + "\u2014 witness.example " + base64.b64encode(b"id..\x04" + bytes(72)).decode() + "\n"
    assert checkpoints.verify(cosigned, KEY) == CHECKPOINT


def test_an_empty_journal_has_a_checkpoint():
    """Size 0 is written as `0`."""
    empty = replace(CHECKPOINT, size=0)
    assert checkpoints.verify(checkpoints.sign(empty, PRIVATE), KEY) == empty
    assert empty.text().split("\n")[1] == "0"


def test_extension_lines_of_other_logs_are_kept():
    """Opaque lines after the root are signed and read back, as the specification allows."""
    extended = replace(CHECKPOINT, extensions=("ext one", "ext+two"))
    assert checkpoints.verify(checkpoints.sign(extended, PRIVATE), KEY) == extended


LINE = base64.b64encode(ROOT).decode()
BAD_TEXTS = {
    "two lines": f"{ORIGIN}\n5\n",
    "no origin": f"\n5\n{LINE}\n",
    "leading zero": f"{ORIGIN}\n05\n{LINE}\n",
    "double zero": f"{ORIGIN}\n00\n{LINE}\n",
    "plus sign": f"{ORIGIN}\n+5\n{LINE}\n",
    "minus sign": f"{ORIGIN}\n-5\n{LINE}\n",
    "space": f"{ORIGIN}\n 5\n{LINE}\n",
    "underscore": f"{ORIGIN}\n5_0\n{LINE}\n",
    "other digits": f"{ORIGIN}\n٥\n{LINE}\n",
    "hexadecimal": f"{ORIGIN}\n0x5\n{LINE}\n",
    "no size": f"{ORIGIN}\n\n{LINE}\n",
    "more than 64 bits": f"{ORIGIN}\n{1 << 64}\n{LINE}\n",
    "very many digits": f"{ORIGIN}\n{'9' * 5_000}\n{LINE}\n",
    "short root": f"{ORIGIN}\n5\n{base64.b64encode(ROOT[:31]).decode()}\n",
    "long root": f"{ORIGIN}\n5\n{base64.b64encode(ROOT + b'x').decode()}\n",
    "hex root": f"{ORIGIN}\n5\n{ROOT.hex()}\n",
    "root unpadded": f"{ORIGIN}\n5\n{LINE[:-1]}\n",
    "root with set padding bits": f"{ORIGIN}\n5\n{LINE[:-2]}J=\n",
    "root with a space": f"{ORIGIN}\n5\n{LINE} \n",
    "url-safe root": f"{ORIGIN}\n5\n{base64.urlsafe_b64encode(b'?>' * 16).decode()}\n",
    "empty extension": f"{ORIGIN}\n5\n{LINE}\n\next\n",
}


@pytest.mark.parametrize("text", BAD_TEXTS.values(), ids=BAD_TEXTS.keys())
def test_a_malformed_text_is_refused_though_well_signed(text):
    """A checkpoint is read in exactly the form it is written in."""
    assert code_of(checkpoints.verify, signed_text(text), KEY) == "bad_checkpoint"


@pytest.mark.parametrize(
    "change",
    [{"origin": ""}, {"origin": "a\nb"}, {"size": -1}, {"size": 1 << 64}, {"root": b""}, {"extensions": ("",)}],
    ids=str,
)
def test_what_is_no_checkpoint_cannot_be_built(change):
    """Illegal values never reach a signature."""
    with pytest.raises(WitnessError):
        replace(CHECKPOINT, **change)


@given(st.text(max_size=20), st.integers(0, (1 << 64) - 1), st.binary(min_size=32, max_size=32))
def test_every_checkpoint_reads_back(agent_id, size, root):
    """Any agent, size and root is signed and read back equal."""
    try:
        origin = checkpoints.origin(agent_id, CHAIN)
    except WitnessError:
        return
    checkpoint = Checkpoint(origin=origin, size=size, root=root)
    key = checkpoints.verifier_key(origin, note.public_key(PRIVATE))
    assert checkpoints.verify(checkpoints.sign(checkpoint, PRIVATE), key.vkey) == checkpoint


@given(st.text(max_size=200))
def test_any_text_is_read_or_refused(text):
    """Whatever is handed in, the answer is a checkpoint or a WitnessError."""
    with pytest.raises(WitnessError):
        checkpoints.verify(text, KEY)
