"""Every element, word, unit, filter and finding of the language is in a golden case or a test."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.golden.case import find_cases
from workers.engine.syntax.vocabulary import ELEMENTS
from workers.engine.tree.expressions.filters import FILTERS

ROOT = Path(__file__).parents[3]
CASES = "\n".join(
    [case.source.decode() for case in find_cases()]
    + [case.payload.body.decode() for case in find_cases() if case.payload is not None]
)
TESTS = CASES + "\n".join(
    path.read_text() for path in sorted((ROOT / "tests").rglob("*.py")) if path != Path(__file__)
)
WORDS = {
    name: {
        word
        for element in ELEMENTS.values()
        if name in element.attributes
        for word in element.attributes[name].value_type.choices
        if word != element.attributes[name].default
    }
    for element in ELEMENTS.values()
    for name, spec in element.attributes.items()
    if spec.value_type.choices
}
UNITS = ("mm", "cm", "in", "pt", "pc", "px", "em", "rem", "%", "fr", "deg")
COLORS = (r"#[0-9a-f]{3}\b", r"#[0-9a-f]{6}\b", r"rgb\(", r"cmyk\(", "transparent", "red")
# A finding's code is the first text of the call that notes it, or is named.
_CODES = re.compile(
    r'(?:\b(?:error|warn)\(\s*|Diagnostic\(\s*Severity\.\w+,\s*|\bcode=)"([a-z0-9]+(?:-[a-z0-9]+)*)"'
)
CODES = sorted(
    {
        code
        for path in (ROOT / "workers" / "engine").rglob("*.py")
        for code in _CODES.findall(path.read_text())
    }
)


@pytest.mark.parametrize("tag", ELEMENTS)
def test_every_element_stands_in_a_golden_case(tag: str):
    assert re.search(rf"<{tag}[\s/>]", CASES)


@pytest.mark.parametrize("name", sorted(WORDS))
def test_every_word_of_an_attribute_stands_in_a_golden_case_or_test(name: str):
    assert [word for word in sorted(WORDS[name]) if not is_written(name, word)] == []


@pytest.mark.parametrize("unit", UNITS)
def test_every_unit_stands_in_a_golden_case(unit: str):
    assert re.search(rf'="[^"]*\d{unit}[ "]', CASES)


@pytest.mark.parametrize("color", COLORS)
def test_every_form_of_colour_stands_in_a_golden_case(color: str):
    assert re.search(rf'(?:color|background|border)="[^"]*{color}', CASES)


@pytest.mark.parametrize("name", FILTERS)
def test_every_filter_stands_in_a_golden_case_or_test(name: str):
    assert re.search(rf"\|\s*{name}\b", TESTS)


@pytest.mark.parametrize("code", CODES)
def test_every_finding_stands_in_a_golden_case_or_test(code: str):
    assert re.search(rf'[\["]{code}[\]"]', TESTS)


def test_the_codes_of_findings_are_found():
    assert len(CODES) > 60


def is_written(name: str, word: str) -> bool:
    written = rf'\b{name}="[^"]*(?<![\w-]){re.escape(word)}(?![\w-])'
    probed = rf'"{name}": (?:Probe|_dataset)\([^\n]*"{re.escape(word)}"'
    return bool(re.search(f"{written}|{probed}", TESTS))
