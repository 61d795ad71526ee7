"""Every test that README.md names for a sentence of the interface is there."""

import re
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
ROWS = [
    line
    for line in Path(__file__).with_name("README.md").read_text().splitlines()
    if line.startswith("| ") and not line.startswith("| sentence")
]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.split("|")[1].strip())
def test_the_tests_of_a_sentence_are_there(row):
    named = re.findall(r"([\w/]+\.py)::(\w+)", row)
    assert named
    for file, name in named:
        assert f"def {name}(" in (TESTS / file).read_text(), f"{file} has no {name}"
