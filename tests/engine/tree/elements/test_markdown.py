"""The markdown element: values in it never become markup; a value of Markdown is parsed."""

from __future__ import annotations

import time
from typing import Any

import pytest

from tests.engine.tree.documents import build, problems
from workers.engine.tree.nodes import Container, Paragraph, TextRun
from workers.engine.tree.styles.computed import WhiteSpace


def runs(flow: str, data: dict[str, Any] | None = None) -> list[tuple[str, int]]:
    """Return the texts of the first markdown element with their weights."""
    (made,) = build(flow, data).flows[0].blocks[:1]
    assert isinstance(made, Container)
    return [
        (inline.text, inline.style.weight)
        for block in made.children
        if isinstance(block, Paragraph)
        for inline in block.inlines
        if isinstance(inline, TextRun)
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


def test_the_placeholder_of_an_expression_may_be_in_the_text():
    text = "<markdown>expression0x {{ a }} expressionn0x</markdown>"
    assert runs(text, {"a": "A"}) == [("expression0x A expressionn0x", 400)]


def test_indentation_of_the_element_is_no_code_block():
    assert runs("<markdown>\n      one\n\n      two\n    </markdown>") == [
        ("one", 400),
        ("two", 400),
    ]


def test_a_value_that_is_not_text_and_one_too_costly_to_parse_are_reported():
    assert "must be text, not" in problems('<markdown value="[1]"/>')[0]
    dear = problems('<markdown value="note"/>', {"note": "[" * 2100})
    assert "accepted are at most 2000" in dear[0]


# --- ids, links and places ------------------------------------------------------------------------


def blocks_of(flow: str, data: dict[str, Any] | None = None) -> list[Any]:
    return [
        block
        for made in build(flow, data).flows[0].blocks
        for block in (made.children if isinstance(made, Container) else (made,))
    ]


def ids_and_links(flow: str, data: dict[str, Any] | None = None) -> list[str]:
    """Return the ids of paragraphs as `name`, and the links in them as `#name`."""
    reported = []
    for block in blocks_of(flow, data):
        if block.id:
            reported.append(block.id)
        reported += [run.link for run in block.inlines if isinstance(run, TextRun) and run.link]
    return reported


def test_an_expression_that_is_not_closed_is_reported_as_in_a_paragraph():
    (found,) = problems("<markdown>**a** {{ 1 }} {{ b\n\n# c</markdown>")
    assert 'the expression "{{ b\n\n# c…" is not closed with }}' in found
    assert problems("<markdown>a {{ b</markdown>") == problems("<p>a {{ b</p>")


def test_expressions_that_are_not_closed_take_linear_time():
    started = time.process_time()
    problems("<markdown>" + "{{ a " * 40_000 + "</markdown>")
    assert time.process_time() - started < 5


def test_a_link_leads_to_a_heading_by_its_id():
    flow = "<markdown>[go](#install)\n\n# Install\n\n# Install\n\n[two](#Install-1)</markdown>"
    assert ids_and_links(flow) == ["#install", "install", "install-1", "#install-1"]


def test_headings_of_several_texts_have_ids_of_their_own():
    text = "# A\n\n[go](#a)\n\n# A"
    flow = f"<markdown>{text}</markdown><markdown for='t in texts' value='t'/>"
    assert ids_and_links(flow, {"texts": [text, text]}) == [
        *("a", "#a", "a-1"),
        *("a-2", "#a-2", "a-1-1"),
        *("a-3", "#a-3", "a-1-2"),
    ]


def test_an_id_of_the_document_stays_its_own():
    flow = "<p id='a'>x</p><markdown># A\n\n[go](#a) [first](#b)</markdown><p id='b'>y</p>"
    assert ids_and_links(flow) == ["a", "a-1", "#a-1", "#b", "b"]
    assert problems("<markdown># A</markdown><p id='a'>x</p>") == []


def test_a_link_to_nothing_is_text_with_a_warning_in_its_line():
    document = build("<markdown>a\n\n[b](#none)</markdown>")
    (warning,) = document.warnings
    assert warning.code == "markdown-link"
    assert '"#none"' in warning.message
    assert warning.location is not None
    assert warning.location.span.line_start == 3


def test_a_heading_with_an_expression_has_no_id():
    assert ids_and_links("<markdown># A {{ n }}</markdown>", {"n": 1}) == []


def test_a_heading_in_a_loop_has_an_id_for_each_iteration():
    flow = "<markdown for='i in range(3)'># A\n\n[go](#a)</markdown>"
    assert ids_and_links(flow) == ["a", "#a", "a-1", "#a-1", "a-2", "#a-2"]


@pytest.mark.parametrize(
    ("written", "line", "columns"),
    [
        ("a <x>b", 1, (17, 23)),
        ("\n  a\n\n  b <x>", 4, (3, 8)),
        ("{{ 1 +\n 2 }} a\n\n  b <x>", 4, (3, 8)),
        ("<![CDATA[a\n\nb <x>]]>", 3, (1, 6)),
    ],
)
def test_findings_are_at_the_line_of_the_document(written, line, columns):
    text = written if "CDATA" in written else written.replace("<x>", "&lt;x&gt;")
    (warning,) = build(f"<markdown>{text}</markdown>").warnings
    assert warning.location is not None
    assert warning.location.tag_name == "markdown"
    assert warning.location.span.line_start == line
    if line > 1:
        assert (warning.location.span.column_start, warning.location.span.column_end) == columns


def test_code_wraps_unless_a_style_says_otherwise():
    (code,) = blocks_of("<markdown>```\na\n```</markdown>")
    assert code.style.paragraph.white_space is WhiteSpace.PRE_WRAP
    assert blocks_of("<pre>a</pre>")[0].style.paragraph.white_space is WhiteSpace.PRE
    kept = "</flow><style element='pre' white-space='pre'/><flow name='b'>"
    (code,) = blocks_of(f"<markdown>```\na\n```</markdown>{kept}")
    assert code.style.paragraph.white_space is WhiteSpace.PRE
