"""The markdown element: expressions in it are values, never marks; a value of Markdown is read."""

from __future__ import annotations

from typing import Any

from tests.engine.tree.documents import build, problems
from workers.engine.tree.nodes import Container, Paragraph, Run


def runs(flow: str, data: dict[str, Any] | None = None) -> list[tuple[str, int]]:
    """Give the texts of the first markdown element with their weights."""
    (made,) = build(flow, data).flows[0].blocks[:1]
    assert isinstance(made, Container)
    return [
        (inline.text, inline.style.weight)
        for block in made.children
        if isinstance(block, Paragraph)
        for inline in block.inlines
        if isinstance(inline, Run)
    ]


def test_marks_written_in_the_document_are_marks():
    assert runs("<markdown>Pay **now**</markdown>") == [("Pay ", 400), ("now", 700)]


def test_marks_in_a_value_written_with_braces_are_text():
    assert runs("<markdown>**{{ who }}** and {{ who }}</markdown>", {"who": "*x*"}) == [
        ("*x*", 700),
        (" and *x*", 400),
    ]


def test_marks_in_an_expression_are_not_read():
    assert runs("<markdown>{{ a * b * a }} `{{ a }}`</markdown>", {"a": 2, "b": 3})[0] == (
        "12 ",
        400,
    )


def test_a_value_is_read_as_markdown_and_its_braces_are_text():
    assert runs('<markdown value="note"/>', {"note": "**a** {{ b }}"}) == [
        ("a", 700),
        (" {{ b }}", 400),
    ]


def test_the_word_that_stands_for_an_expression_may_stand_in_the_text():
    text = "<markdown>expression0x {{ a }} expressionn0x</markdown>"
    assert runs(text, {"a": "A"}) == [("expression0x A expressionn0x", 400)]


def test_indentation_of_the_element_is_no_code_block():
    assert runs("<markdown>\n      one\n\n      two\n    </markdown>") == [
        ("one", 400),
        ("two", 400),
    ]


def test_a_value_that_is_no_text_and_one_too_dear_to_read_are_told():
    assert "must be text, not" in problems('<markdown value="[1]"/>')[0]
    dear = problems('<markdown value="note"/>', {"note": "[" * 2100})
    assert "accepted are at most 2000" in dear[0]
