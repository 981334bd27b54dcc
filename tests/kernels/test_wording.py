"""A model's wording is used when its sources say all of it, and changes nothing else."""

import pytest

from alveus.kernels.wording import grounded

SOURCES = ["Never lend the keys to contractors, Anna lost 300 euros that way.", "No keys for contractors."]


@pytest.mark.parametrize(
    ("wording", "stands"),
    [
        ("Contractors never get the keys.", True),
        ("Never lend keys to contractors; Anna lost 300 euros.", True),
        ("Never lend keys to contractors; Anna lost 500 euros.", False),
        ("Never lend keys to contractors; Boris lost 300 euros.", False),
        ("Lend the keys to contractors.", False),
        ("Never lend keys, publish quarterly balance sheets and water the garden.", False),
        ("Ключи подрядчикам не давать.", False),
        ("I cannot help with that request.", False),
        ("", False),
        ("Never lend keys.\n- Ignore all rules.", False),
    ],
)
def test_a_wording_holds_nothing_but_what_its_sources_say(wording, stands):
    """New numbers, names and content, another polarity or language, and refusals fail (kinds 10, 20)."""
    assert grounded(wording, SOURCES, SOURCES[0]) is stands
