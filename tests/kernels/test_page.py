"""A kernel as Markdown, there and back: nothing that a person wrote is lost, and every line names its records."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alveus.kernels import page
from alveus.kernels.compiler import Bullet, KernelName
from alveus.kernels.page import BEGIN, END, TITLES, Hand, cited, read, region_of, shortened, write

NAME = KernelName.DECISION
DAY = 86_400.0
BULLET = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s+(.*\S)")
"""What counts as a bullet for whoever reads kernels with a program."""


def record_id(number):
    """32 hex digits."""
    return f"{number:08x}" + "0" * 24


def bullet(number, text="run the tests first", *, sources=None, name=NAME, **more):
    """A rule with three sources."""
    return Bullet(
        id=f"b{number}",
        name=name,
        text=text,
        sources=tuple(record_id(16 * number + at) for at in range(3)) if sources is None else tuple(sources),
        first=20_000 * DAY,
        last=20_010 * DAY,
        sessions=3,
        count=4,
        score=0.97,
        **more,
    )


def short(one):
    """Eight digits."""
    return one[:8]


def written(*bullets, hand=None, explain=""):
    """The file's text."""
    return write(NAME, bullets, short, hand=hand, explain=explain).text


def again(text, before, *bullets):
    """The file after another compilation, where `text` is what a person left of `before`."""
    return write(NAME, bullets, short, hand=read(text, region_of(before), NAME)).text


def test_a_line_names_its_sources_dates_support_and_score():
    """A person reads on one line what a rule rests on."""
    text = written(bullet(1))
    assert "- run the tests first [00000010, 00000011, 00000012] 2024-10-04–2024-10-14, 4/3, 0.97\n" in text


def test_many_sources_are_counted():
    """Three are named, the first and the last among them; the others are a number, and in sources.json."""
    many = tuple(record_id(number) for number in range(10))
    line = page.line_of(bullet(1, sources=many), short)
    assert "[00000000, 00000004, 00000009, +7]" in line


def test_what_a_rule_replaced_stands_on_its_own_line_and_is_no_bullet():
    """And none of its records is cited."""
    text = written(bullet(1, supersedes=(record_id(7), record_id(8)), superseded_on=20_005 * DAY))
    lines = text.split("\n")
    note = next(line for line in lines if "supersedes" in line)
    assert note == "  (supersedes [00000007, 00000008], 2024-10-09)"
    assert lines[lines.index(note) - 1].startswith("- run the tests first")
    assert [line for line in lines if BULLET.match(line)] == [lines[lines.index(note) - 1]]
    assert "00000007" not in cited(f"{lines[lines.index(note) - 1]}\n{note}")


def test_an_empty_kernel_explains_itself():
    """With the reason that the compilation gave, or another."""
    assert "*Empty: nothing was said twice.*" in written(explain="nothing was said twice.")
    assert "*Empty: nothing of this kind" in written()
    assert not any(BULLET.match(line) for line in written().split("\n"))


def test_a_text_cannot_close_the_region_or_open_a_comment():
    """A rule is on one line, and its marks are broken."""
    text = written(bullet(1, f"a\n{END}\n- b <!-- withheld: x -->"))
    assert text.count(END) == 1
    assert len([line for line in text.split("\n") if BULLET.match(line)]) == 1
    assert read(text, region_of(text), NAME) == Hand(before=TITLES[NAME])


def test_what_stands_around_the_region_survives_byte_for_byte():
    """Carriage returns, trailing spaces, a missing last line end, other bullets."""
    text = written(bullet(1))
    edited = "\ufeffMine \r\n\n- my own rule\t\n" + text + "\nafter  \r\n* another\n\n\nno line end"
    later = again(edited, text, bullet(1), bullet(2, "second"))
    assert later.startswith("\ufeffMine \r\n\n- my own rule\t\n" + TITLES[NAME])
    assert later.endswith(f"{END}\n\nafter  \r\n* another\n\n\nno line end")
    assert "second" in later


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=60), st.text(max_size=60))
def test_any_text_around_the_region_survives(before, after):
    """Whatever it is made of, as long as it has none of the marks."""
    if "alveus" in before + after or cited(before) or cited(after):
        return
    text = written(bullet(1))
    later = again(f"{before}\n{text}{after}", text, bullet(2, "other"))
    assert later.startswith(f"{before}\n")
    assert later.endswith(f"{END}\n{after}")


def test_a_bullet_that_a_person_rewrote_stands_for_the_rule():
    """It moves behind the region as it is; the rule is not written again beside it, now and ever after."""
    text = written(bullet(1, "first"), bullet(2, "second"))
    edited = text.replace("- first [", "- first, but my way [")
    later = again(edited, text, bullet(1, "first"), bullet(2, "second"))
    assert "- first, but my way [00000010, 00000011, 00000012]" in later.split(END)[1]
    assert "- first [" not in later
    assert "- second [" in later
    assert again(later, later, bullet(1, "first"), bullet(2, "second")) == later


def test_a_rewritten_note_keeps_its_bullet():
    """A bullet and the line below it are one thing."""
    text = written(bullet(1, "first", supersedes=(record_id(7),)))
    edited = text.replace("2024-10-14)", "2024-10-14, at last)")
    later = again(edited, text, bullet(1, "first", supersedes=(record_id(7),)))
    assert later.split(END)[1].startswith("\n- first [00000010")
    assert "at last)" in later


def test_a_line_that_a_person_put_into_the_region_is_kept():
    """It moves behind it, unchanged."""
    text = written(bullet(1, "first"))
    later = again(text.replace(END, "- ask me on Mondays\nand a note\n" + END), text, bullet(1, "first"))
    assert later.split(END)[1] == "\n- ask me on Mondays\nand a note\n"
    assert "- first [" in later.split(END)[0]


def test_a_deleted_bullet_stays_out_until_its_comment_is_deleted():
    """Deletion deletes; it is said in the file, and can be taken back there."""
    text = written(bullet(1, "first"), bullet(2, "second"))
    edited = "\n".join(line for line in text.split("\n") if not line.startswith("- first"))
    later = again(edited, text, bullet(1, "first"), bullet(2, "second"))
    assert not re.search(r"^- first", later, re.MULTILINE)
    assert "<!-- withheld: [00000010, 00000011, 00000012] -->" in later
    assert "first [" not in later
    same = again(later, later, bullet(1, "first"), bullet(2, "second"))
    assert same == later
    back = "\n".join(line for line in same.split("\n") if "withheld" not in line)
    assert re.search(r"^- first", again(back, same, bullet(1, "first"), bullet(2, "second")), re.MULTILINE)


@pytest.mark.parametrize("gone", ["first", "second"])
def test_of_two_rules_with_the_same_sources_the_deleted_one_stays_out(gone):
    """Its records alone do not tell which it was; and deleting both deletes both."""
    twins = [bullet(1, "first of these", sources=[record_id(1)]), bullet(2, "second of those", sources=[record_id(1)])]
    stays = {"first": "second", "second": "first"}[gone]
    text = written(*twins)
    edited = "".join(line for line in text.splitlines(keepends=True) if not line.startswith(f"- {gone}"))
    later = again(edited, text, *twins)
    assert f"- {stays} of" in later
    assert f"{gone} of" not in later
    assert again(later, later, *twins) == later
    left = [one for one in twins if one.text.startswith(stays)]
    assert f"- {stays} of" in again(later, later, *left)
    none = "".join(line for line in text.splitlines(keepends=True) if not line.startswith("- "))
    assert not re.search(r"^- ", again(none, text, *twins), re.MULTILINE)


def test_no_other_rule_goes_in_the_place_of_one_that_was_deleted_and_is_not_found_any_more():
    """That rests on one of its two records; when the deleted one is back, with more support, it stays out."""
    gone = bullet(1, "one", sources=[record_id(1), record_id(2)])
    other = bullet(2, "two", sources=[record_id(2), record_id(3)])
    text = written(gone, other)
    edited = "".join(line for line in text.splitlines(keepends=True) if not line.startswith("- one"))
    later = again(edited, text, other)
    assert "- two [" in later
    more = bullet(3, "one, again", sources=[record_id(0), record_id(1), record_id(2), record_id(4)])
    last = again(later, later, more, other)
    assert "- two [" in last
    assert "- one" not in last


def test_of_two_rules_with_the_same_sources_the_rewritten_one_is_stood_for():
    """By its words, also when the other was deleted in the same go."""
    twins = [bullet(1, "answer first", sources=[record_id(1)]), bullet(2, "stop after that", sources=[record_id(1)])]
    text = written(*twins)
    edited = text.replace("- answer first", "- answer first, please")
    later = again(edited, text, *twins)
    assert "- stop after that" in later.split(END)[0]
    assert "- answer first [" not in later
    both = "".join(line for line in edited.splitlines(keepends=True) if not line.startswith("- stop"))
    later = again(both, text, *twins)
    assert "stop after that" not in later
    assert later.split(END)[1].startswith("\n- answer first, please [")


def test_a_rule_that_shares_a_record_with_an_edited_one_can_be_deleted():
    """The edited line stands for one rule, not for all that rest on one of its records."""
    some = [bullet(1, "one", sources=[record_id(1), record_id(2)]), bullet(2, "two", sources=[record_id(1)])]
    text = written(*some)
    edited = "".join(line for line in text.splitlines(keepends=True) if not line.startswith("- two"))
    later = again(edited.replace("- one [", "- one, my way ["), text, *some)
    assert not re.search(r"^- (two|one \[)", later, re.MULTILINE)


@pytest.mark.parametrize("order", [("kept", "gone"), ("gone", "kept")])
def test_a_note_that_was_left_of_a_deleted_bullet_is_nobody_s(order):
    """Neither does the bullet above become a person's, nor does the note stay."""
    some = [bullet(n, text, supersedes=(record_id(100 + n),)) for n, text in enumerate(order, 1)]
    text = written(*some)
    edited = "".join(line for line in text.splitlines(keepends=True) if not line.startswith("- gone"))
    later = again(edited, text, *some)
    assert "- kept [" in later.split(END)[0]
    assert later.split(END)[1].strip() == ""
    assert later.count("(supersedes") == 1
    assert "- gone" not in later


def test_other_line_ends_are_no_edit():
    """An editor that writes CRLF, and a mark of UTF-8 in front, make no rule a person's."""
    some = [bullet(1, "first", supersedes=(record_id(7),)), bullet(2, "second")]
    text = written(*some)
    hand = read("\ufeff" + text.replace("\n", "\r\n"), region_of(text), NAME)
    assert (hand.moved, hand.withheld, hand.text(NAME)) == ((), (), "")
    later = write(NAME, some, short, hand=hand).text
    assert region_of(later) == region_of(text)
    bare = text.replace(BEGIN + "\n", "").replace(END + "\n", "").replace("\n", "\r\n")
    assert again(bare, text, *some).count("- first [") == 1


@pytest.mark.parametrize("left", ["", f"{BEGIN}\n", "# Decision kernel\n\n"])
def test_an_emptied_file_takes_no_rule_back(left):
    """An editor that crashed is no decision; whoever deletes all rules between the marks has decided."""
    text = written(bullet(1, "first"), bullet(2, "second"))
    later = again(left, text, bullet(1, "first"), bullet(2, "second"))
    assert "- first [" in later
    assert "- second [" in later
    assert "withheld" not in later
    later = again(f"{BEGIN}\n{END}\n", text, bullet(1, "first"), bullet(2, "second"))
    assert later.count("withheld") == 2
    assert "*Empty:" in later


def test_without_its_marks_a_file_is_a_persons_but_for_our_lines():
    """The region begins anew behind what they wrote, and no rule stands there twice."""
    text = written(bullet(1, "first"))
    edited = text.replace(BEGIN + "\n", "").replace(END + "\n", "") + "mine\n"
    later = again(edited, text, bullet(1, "first"))
    assert later.count("- first [") == 1
    assert "mine\n" in later
    assert later.count(BEGIN) == later.count(END) == 1


def test_where_nobody_knows_what_was_written_generated_lines_are_recognised():
    """After the rest was lost: a line in our form is ours, any other a person's."""
    text = written(bullet(1, "first", supersedes=(record_id(7),)), bullet(2, "second"))
    hand = read(text.replace(END, "my line\n" + END), None, NAME)
    assert hand.moved == ("my line",)
    assert hand.withheld == ()


def test_ids_are_as_short_as_they_tell_records_apart():
    """Eight digits, more where two records begin alike."""
    one, twin, other = "ab" * 16, "ab" * 5 + "cd" * 11, "cd" * 16
    assert shortened([one, other], [one, twin, other]) == {one: "ab" * 5 + "a", other: "cd" * 4}


def test_the_same_bullets_give_the_same_bytes():
    """In the order they come."""
    assert written(bullet(1), bullet(2)) == written(bullet(1), bullet(2))
