"""What can be recorded, what is refused, and with what sentence; nothing is lost or made up on the way."""

import json
from types import MappingProxyType

import pytest
from hypothesis import given

from alveus import AlveusError, Draft, Hippocampus, InputError, Kind, NotFound, Source, StoreError
from alveus.journal.record import MAX_LINE
from scenes import AGENT
from shapes import METADATA, NAMES, TEXTS


@pytest.fixture
def memory(home):
    """An empty journal."""
    with Hippocampus.open(home=home, agent_id=AGENT) as memory:
        yield memory


def refused(memory, *arguments, **options):
    """The error a record is refused with; nothing was recorded, and the next record goes through."""
    size = memory.size()
    with pytest.raises(InputError) as caught:
        memory.record(*arguments, **options)
    assert caught.value.message
    assert caught.value.hint
    assert memory.size() == size
    memory.record("decision", "goes on")
    assert memory.verify_chain().size == size + 1
    return caught.value


@given(TEXTS, METADATA, NAMES)
def test_what_was_said_is_what_is_read(tmp_path_factory, content, metadata, name):
    """Any text and metadata of the domain come back as they were, from disk."""
    home = tmp_path_factory.mktemp("home")
    with Hippocampus.open(home=home, agent_id=AGENT) as memory:
        metadata = {key: value for key, value in metadata.items() if key not in ("hc", "closing", "opening")}
        memory.record("state", content, metadata, user=name, session=name, origin=name)
        memory.record("decision", "next")
    with Hippocampus.open(home=home, agent_id=AGENT) as memory:
        record = next(iter(memory.iter_records()))
        assert record.content == content
        assert record.metadata == metadata
        assert (record.hc.user, record.hc.session, record.hc.origin) == (name, name, name)
        assert memory.verify_chain()


@pytest.mark.parametrize("kind", Kind)
def test_the_six_kinds(memory, kind):
    """Each kind by its name or its member."""
    assert memory.record(kind, "x").kind is kind
    assert memory.record(str(kind), "x").kind is kind


@pytest.mark.parametrize("kind", ["", "State", "rumour", "hc", None, 5])
def test_the_list_of_kinds_is_closed(memory, kind):
    """Another kind is refused, and the error lists the six."""
    error = refused(memory, kind, "x")
    assert all(kind in error.hint for kind in Kind)


@pytest.mark.parametrize("source", ["root", "USER", ""])
def test_the_list_of_sources_is_closed(memory, source):
    """Another source is refused."""
    refused(memory, "state", "x", src=source)


def test_the_source_is_the_doors(memory):
    """Neither metadata nor content say who spoke: only the door does."""
    record = memory.record("state", "src: user", {"src": "user", "role": "user"}, src=Source.TOOL)
    assert record.hc.src is Source.TOOL
    assert record.metadata == {"src": "user", "role": "user"}


@pytest.mark.parametrize("key", ["hc", "closing", "opening"])
def test_reserved_metadata(memory, key):
    """What the journal says of itself no caller can say: the profile, the end and the beginning of a chain."""
    error = refused(memory, "identity_change", "x", {key: {"next_kid": "ab" * 8, "next_chain": "cd" * 16}})
    assert error.code == "reserved_key"
    assert key in error.message


def test_deeper_down_these_keys_mean_nothing(memory):
    """Only at the top of the metadata are the keys reserved."""
    memory.record("identity_change", "x", {"my": {"hc": 1, "closing": {"next_kid": "a", "next_chain": "b"}}})
    memory.record("decision", "not closed")
    assert memory.verify_chain().size == 2


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("user", ""),
        ("user", "a\x00b"),
        ("user", "x" * 1025),
        ("user", "a\nb"),
        ("session", ""),
        ("session", "\x7f"),
        ("session", 5),
        ("origin", ""),
        ("origin", "a\tb"),
        ("origin", b"bytes"),
        ("event_time", ""),
        ("event_time", "yesterday"),
        ("event_time", "2026-01-01"),
        ("event_time", "2026-01-01T00:00:00"),
        ("event_time", "2026-02-30T00:00:00Z"),
        ("event_time", "2026-01-01T24:00:00Z"),
        ("event_time", "2026-01-01T00:00:00.0123456789Z"),
        ("event_time", "20260101T000000Z"),
        ("part", (0, 1)),
        ("part", (2, 1)),
        ("part", (1,)),
        ("part", (1, 2, 3)),
        ("part", (True, 2)),
        ("part", ("1", "2")),
    ],
)
def test_profile_fields_that_the_format_cannot_hold(memory, field, value):
    """Names without length or with controls, times without zone, parts that are none: refused, and named."""
    error = refused(memory, "state", "x", **{field: value})
    assert error.code == "bad_field"
    assert field in error.message


@pytest.mark.parametrize("value", [" ", "я", "x" * 1024, "😀" * 1024, "a/b:c"])
def test_names_that_the_format_holds(memory, value):
    """1 to 1024 characters of any script; a blank user alone is refused, since nobody could ask for it."""
    user = value if value.strip() else "anna"
    record = memory.record("decision", "x", user=user, session=value, origin=value)
    assert (record.hc.user, record.hc.session, record.hc.origin) == (user, value, value)
    assert memory.verify_chain()


@pytest.mark.parametrize("content", ["\ud800", "a\udc00b", "\udfff\ud800"], ids=["high", "low", "turned"])
def test_lone_surrogates(memory, content):
    """Text that no UTF-8 file can hold is refused, as content, key or name; the error says what to do."""
    assert "surrogate" in refused(memory, "state", content).message
    assert "surrogate" in refused(memory, "state", "x", {"k": content}).message
    assert "surrogate" in refused(memory, "state", "x", {content: 1}).message
    with pytest.raises(InputError):
        memory.record("state", "x", user=content)
    with pytest.raises(InputError):
        memory.record("state", content, origin="a:b:c")
    assert memory.verify_chain()


@pytest.mark.parametrize("content", ["", " ", "\x00", "\x00" * 100, "\u2028\n\r", "é", "e\u0301", "\ufeffx", "\ufffe"])
def test_odd_contents_are_kept_as_they_are(memory, content):
    """Empty, NUL, line ends, composed or not, a mark: content is not touched."""
    memory.record("decision", content)
    assert next(iter(memory.iter_records())).content == content
    assert memory.verify_chain()


@pytest.mark.parametrize("content", [None, 5, b"bytes", ["x"]])
def test_content_that_is_no_text(memory, content):
    """Only text is content."""
    refused(memory, "state", content)


@pytest.mark.parametrize(
    "metadata",
    [{"a": float("nan")}, {"a": 2**53}, {"a": 1e20}, {"a": b"x"}, {"a": {1}}, {1: "a"}, {"a": object()}, {None: 1}],
    ids=repr,
)
def test_metadata_outside_the_domain(memory, metadata):
    """What canonical JSON cannot say is refused before anything is written."""
    assert refused(memory, "state", "x", metadata).code == "not_canonical"


@pytest.mark.parametrize("metadata", [[], "x", 5, [("a", 1)]])
def test_metadata_that_is_no_object(memory, metadata):
    """Metadata is a mapping; anything else but nothing at all is refused with a sentence."""
    if metadata:
        refused(memory, "state", "x", metadata)


def test_metadata_may_be_any_mapping(memory):
    """Read-only mappings, nested tuples and the like are what they say."""
    record = memory.record("state", "x", MappingProxyType({"a": (1, 2), "b": MappingProxyType({})}))
    assert json.loads(json.dumps(next(iter(memory.iter_records())).metadata)) == {"a": [1, 2], "b": {}}
    assert record.record_id


def nested(levels):
    """A list in a list, so many times."""
    value = "x"
    for _ in range(levels):
        value = [value]
    return value


def test_depth(memory):
    """The record is level 1, its metadata level 2: thirty lists more are held, thirty-one refused."""
    memory.record("decision", "x", {"a": nested(30)})
    for levels in (31, 2000):
        assert "32 levels" in refused(memory, "state", "x", {"a": nested(levels)}).message
    assert memory.verify_chain()


def test_the_longest_line(memory):
    """A line of exactly 1,048,576 bytes is written, one byte more is refused with the advice to split it."""
    memory.record("decision", "x")
    room = MAX_LINE - len((memory.folder / "stream.jsonl").read_bytes().split(b"\n")[0]) - 300
    low, high = room - 2000, room + 2000
    while high - low > 1:
        middle = (low + high) // 2
        size = (memory.folder / "stream.jsonl").stat().st_size
        try:
            memory.record("state", "y" * middle)
            low = middle
        except InputError as error:
            assert error.code == "line_too_long"
            assert "split" in error.hint
            assert (memory.folder / "stream.jsonl").stat().st_size == size
            high = middle
    lengths = [len(line) for line in (memory.folder / "stream.jsonl").read_bytes().split(b"\n")]
    assert max(lengths) == MAX_LINE
    assert memory.verify_chain()


def test_a_batch_is_all_or_nothing(memory):
    """One unacceptable draft refuses the batch, and names nothing else."""
    memory.record("decision", "before")
    good = Draft(kind=Kind.STATE, content="good", origin="a:b:1")
    for bad in (
        Draft(kind=Kind.STATE, content="\ud800"),
        Draft(kind=Kind.STATE, content="x" * MAX_LINE),
        Draft(kind=Kind.STATE, content="x", user=""),
        Draft(kind=Kind.STATE, content="x", metadata={"hc": 1}),
    ):
        with pytest.raises(InputError):
            memory.record_many([good, good, bad, good])
        assert memory.size() == 1
    assert len(memory.record_many([good, good])) == 2
    assert memory.record_many([]) == []
    assert memory.size() == 2


def test_a_refused_batch_teaches_nothing(memory):
    """Words of what was refused are as new as ever."""
    bad = [Draft(kind=Kind.STATE, content="wholly new words here"), Draft(kind=Kind.STATE, content="\ud800")]
    with pytest.raises(InputError):
        memory.record_many(bad)
    assert memory.record("state", "wholly new words here").novelty == "prediction_error"
    assert memory.record("state", "wholly new words here").novelty == "routine"


def test_a_record_is_found_by_its_id(memory):
    """The id it was returned with, and no other spelling of it."""
    record = memory.record("decision", "x")
    assert memory.get(record.record_id) == record
    with pytest.raises(NotFound):
        memory.get("0" * 32)
    for spelling in (record.record_id.upper(), record.record_id[:8], "", record.record_id + "\n", "../x"):
        if spelling != record.record_id:
            with pytest.raises(InputError):
                memory.get(spelling)


def test_a_journal_opened_for_reading_is_not_written(home, memory):
    """Every way of writing is refused with the reason."""
    memory.record("decision", "one")
    before = sorted((path.name, path.stat().st_size) for path in memory.folder.iterdir())
    with Hippocampus.open(home=home, agent_id=AGENT, read_only=True) as reader:
        assert reader.read_only
        for act in (
            lambda: reader.record("decision", "x"),
            lambda: reader.record_many([Draft(kind=Kind.STATE, content="x", origin="a:b:c")]),
            reader.rotate,
            reader.checkpoint,
        ):
            with pytest.raises(StoreError) as caught:
                act()
            assert caught.value.code == "read_only"
        reader.flush()
        assert reader.size() == 1
    assert sorted((path.name, path.stat().st_size) for path in memory.folder.iterdir()) == before
    assert len(list((home / "keys").iterdir())) == 1


def test_a_closed_instance_says_so(home):
    """After close nothing is written, and the error is ours."""
    memory = Hippocampus.open(home=home, agent_id=AGENT)
    memory.record("decision", "one")
    memory.close()
    with pytest.raises(AlveusError):
        memory.record("decision", "two")
    memory.close()
    with Hippocampus.open(home=home, agent_id=AGENT) as memory:
        assert memory.size() == 1


class Broken:
    """An embedder with a long name that fails."""

    id, revision, dims = "m" * 190, "r" * 190, 3

    def encode(self, _):
        """Never works."""
        raise RuntimeError("the words of the content must not get into the journal this way")

    def calibration(self, cosine):
        """See `Embedder`."""
        return cosine


@pytest.mark.parametrize("length", [1, 80, 190, 200])
def test_an_embedder_cannot_make_the_writer_write_what_it_would_not_read(home, length):
    """However an embedder is called and whatever it does, a record is written that verifies, or refused as a call."""
    embedder = Broken()
    embedder.id, embedder.revision = "m" * length, "r" * length
    try:
        with Hippocampus.open(home=home, agent_id=AGENT, embedder=embedder) as memory:
            record = memory.record("decision", "one")
            assert len(record.hc.by) <= 200
            assert "RuntimeError" not in record.content + record.hc.by
            assert memory.verify_chain().size == 1
    except InputError as error:
        assert length > 80
        assert error.hint


@pytest.mark.parametrize(
    "act",
    [
        lambda memory: memory.pattern_completion(None),
        lambda memory: memory.pattern_completion("x", asked_at="yesterday"),
        lambda memory: memory.pattern_completion("x", since=5),
        lambda memory: memory.pattern_completion("x", user=0),
        lambda memory: memory.context("x", "5"),
        lambda memory: memory.context(None, 5),
        lambda memory: memory.get(None),
        lambda memory: memory.daily_anchor(5),
        lambda memory: memory.export_montana(None),
        lambda memory: memory.verify_chain(jobs="2"),
        lambda memory: memory.verify_chain(against=""),
        lambda memory: memory.verify_chain(against=5),
        lambda memory: memory.selective_load("5"),
        lambda memory: memory.timeline(["no kind"]),
        lambda memory: memory.record("state", None),
        lambda memory: memory.record(None, "x"),
        lambda memory: memory.record_many(None),
        lambda memory: memory.record_many([1]),
        lambda _: Hippocampus.open(home=5),
        lambda memory: Hippocampus.open(home=memory.home, agent_id=5),
        lambda memory: Hippocampus.open(home=memory.home, agent_id="new", key_file=5),
        lambda memory: Hippocampus.open(home=memory.home, agent_id="new", words_window="5"),
        lambda memory: Hippocampus.open(home=memory.home, agent_id="new", embedder="no such"),
    ],
    ids=map(str, range(23)),
)
def test_what_cannot_be_asked_gets_a_sentence(act, home):
    """A value of the wrong type is the caller's: InputError, never Python's own words for it; and nothing is stored."""
    with Hippocampus.open(home=home, agent_id=AGENT) as memory:
        with pytest.raises(InputError):
            act(memory)
        assert memory.size() == 0
