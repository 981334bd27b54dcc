"""Reading lines in pieces gives the lines, whatever the size of the pieces, and never more than a line may be."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alveus.store import lines

LONGEST = 21


class Bytes:
    """Just enough of `Files` to be read from."""

    def __init__(self, data):
        self.data = data

    def read(self, _, size, offset):
        """See `Files`."""
        return self.data[offset : offset + size]


@pytest.fixture(autouse=True)
def _small(monkeypatch):
    monkeypatch.setattr(lines, "_LONGEST", LONGEST)


DATA = st.lists(
    st.sampled_from([b"a", b"\n", b"\r", b"\r\n", b"bc", b"x" * 9, b"y" * 30, "é\u2028".encode()]), max_size=30
)


def split(data):
    """(offset, line with its LF) by the definition: LF ends a line and nothing else does."""
    found, at = [], 0
    for line in data.split(b"\n")[:-1]:
        found.append((at, line + b"\n"))
        at += len(line) + 1
    if at < len(data):
        found.append((at, data[at:]))
    return found


@given(DATA.map(b"".join), st.integers(1, 40))
def test_forwards_gives_every_line_once_in_its_place(data, piece):
    """Every line comes with its offset; one that is too long comes cut, and the lines after it are not lost."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lines, "PIECE", piece)
        patch.setattr(lines, "_LONGEST", LONGEST)
        found = list(lines.placed(Bytes(data), 0, 0, len(data)))
        assert [line for _, line in found] == list(lines.forwards(Bytes(data), 0, 0, len(data)))
    expected = split(data)
    assert [offset for offset, _ in found] == [offset for offset, _ in expected]
    for (_, line), (_, whole) in zip(found, expected, strict=True):
        assert line == whole or (len(whole) > LONGEST and LONGEST <= len(line) <= len(whole) and line[:9] == whole[:9])


@given(DATA.map(b"".join), st.integers(1, 40))
def test_backwards_gives_every_line_once_in_its_place(data, piece):
    """The same from the end; of a line that is too long something comes that is too long too."""
    data += b"\n" if data and not data.endswith(b"\n") else b""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lines, "PIECE", piece)
        patch.setattr(lines, "_LONGEST", LONGEST)
        found = list(lines.backwards(Bytes(data), 0, 0, len(data)))[::-1]
    expected = split(data)
    assert [offset for offset, _ in found] == [offset for offset, _ in expected]
    for (_, line), (_, whole) in zip(found, expected, strict=True):
        assert line + b"\n" == whole or (len(whole) > LONGEST and len(line) >= LONGEST)


@given(DATA.map(b"".join), st.integers(1, 9))
def test_one_line_by_its_place(data, guess):
    """A line is found by its offset, whatever is guessed about its length."""
    for offset, whole in split(data):
        line = lines.line_at(Bytes(data), 0, offset, guess)
        assert line == whole.removesuffix(b"\n") or (len(line) >= LONGEST and whole.startswith(line))


@given(DATA.map(b"".join))
def test_the_last_line(data):
    """The line that ends at a byte, and none where none ends."""
    ends = {offset + len(line): line for offset, line in split(data) if line.endswith(b"\n")}
    for end in range(len(data) + 1):
        found = lines.last_line(Bytes(data), 0, end)
        assert found == (ends[end][:-1] if end in ends else None) or len(ends.get(end, b"")) > LONGEST
