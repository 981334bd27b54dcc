"""Conversations for the tests of kernels: what was said, by whom, in which session, as utterances."""

from alveus.journal.record import Kind, Source
from alveus.kernels.fragment import Utterance

WHO = {"u": Source.USER, "a": Source.AGENT, "t": Source.TOOL, "s": Source.SYSTEM}
DAY = 86_400.0


def talk(*sessions, start=1_700_000_000.0, kind=Kind.STATE):
    """Sessions of lines such as `u: text`: a session a day, a line a minute; records r1, r2 and so on."""
    found = []
    for number, lines in enumerate(sessions):
        for place, line in enumerate(lines):
            who, _, text = line.partition(": ")
            found.append(
                Utterance(
                    record_id=f"r{len(found) + 1}",
                    origin=f"o{len(found) + 1:06}",
                    src=WHO[who],
                    kind=kind,
                    session=f"s{number}",
                    time=start + number * DAY + place * 60,
                    text=text,
                )
            )
    return found


CHATTER = (
    ("u: The greenhouse was cold this morning.", "a: The heater tripped at four and came back at five."),
    ("u: How many tulips did we sell?", "a: We sold 212 tulips and 40 ferns."),
    ("u: The van has a flat tyre.", "a: The garage sent a man, he fixed it in an hour."),
    ("u: Somebody left the gate open again.", "a: It was the courier at nine."),
    ("u: What is the weather going to be?", "a: Rain until noon, then sun."),
    ("u: The printer jams.", "a: Two sheets were stuck below the drum."),
)


def with_chatter(*sessions):
    """The sessions, each between lines of chatter that differ from session to session."""
    return [
        (*CHATTER[number % len(CHATTER)], *lines, *CHATTER[(number + 3) % len(CHATTER)])
        for number, lines in enumerate(sessions)
    ]
