"""Patterns match alike on every Python that is accepted (decision 0302)."""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCES = [
    path for room in ("api", "workers", "shared", "deploy") for path in (ROOT / room).rglob("*.py")
]
# A group that is repeated possessively, and one that is with `|(?!)` at its end.
POSSESSIVE = re.compile(r"(?<![\\(])\)(?:[*+?]|\{\d*,?\d*\})\+")
CURED = re.compile(r"\|\(\?!\)\)(?:[*+?]|\{\d*,?\d*\})\+")


def test_every_possessive_group_can_go_back_to_where_its_last_try_began():
    texts = {path: path.read_text() for path in SOURCES}
    groups = {path: len(POSSESSIVE.findall(text)) for path, text in texts.items()}
    cured = {path: len(CURED.findall(text)) for path, text in texts.items()}
    assert groups == cured, "end each of them with |(?!), see deploy/decisions/0302"
    assert sum(cured.values()) >= 8, "they are looked for in the wrong way"


def test_a_corrected_possessive_group_consumes_no_failed_iteration():
    assert re.match(r"(?:ab?c|(?!))*+", "aca").group() == "ac"
    assert re.match(r"\d++(?:e\d++|(?!))?+", "4em").group() == "4"
    # What it cures, where it is ill: Python before 3.11.5.
    if sys.version_info < (3, 11, 5):
        assert re.match(r"(?:ab?c)*+", "aca").group() == "aca"
