"""Patterns match alike on every Python that is accepted (decision 0173)."""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCES = [
    path for room in ("api", "workers", "shared", "deploy") for path in (ROOT / room).rglob("*.py")
]
# A group that is repeated possessively, as it stands in a source; not a character class before it.
POSSESSIVE_GROUP = re.compile(r"(?<!\\)\)(?:[*+?]|\{\d*,?\d*\})\+")
CURED = re.compile(r"\|\(\?!\)\)(?:[*+?]|\{\d*,?\d*\})\+")


def groups(text):
    """Give the lines with possessive groups that are not cured; strings alone, not plain code."""
    return [
        line.strip()
        for line in text.splitlines()
        if "?:" in line and len(POSSESSIVE_GROUP.findall(line)) > len(CURED.findall(line))
    ]


def test_every_possessive_group_can_go_back_to_where_its_last_try_began():
    found = {path.name: lines for path in SOURCES if (lines := groups(path.read_text()))}
    assert not found, "end the group with |(?!), see deploy/decisions/0173"
    cured = [path.name for path in SOURCES if CURED.search(path.read_text())]
    assert len(cured) >= 8, "the patterns are looked for in the wrong way"


def test_a_cured_group_leaves_what_its_last_try_had_taken():
    assert re.match(r"(?:ab?c|(?!))*+", "aca").group() == "ac"
    assert re.match(r"\d++(?:e\d++|(?!))?+", "4em").group() == "4"
    # What it cures, where it is ill: Python before 3.11.5.
    if sys.version_info < (3, 11, 5):
        assert re.match(r"(?:ab?c)*+", "aca").group() == "aca"
