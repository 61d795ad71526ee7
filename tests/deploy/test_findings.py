"""Findings are shown with their place, the line it is in, and a caret under what is meant."""

import io
from pathlib import Path

import pytest

from workers.engine.cli import FolderImages, Inputs, print_findings
from workers.engine.diagnostics import Diagnostic, Origin, Place, Severity, Span

TEMPLATE = b"<document>\n\t<para class='x'>Hi</para>\n</document>\n"


def shown(span, *, origin=None, body=TEMPLATE):
    place = Place("para", span, origin)
    finding = Diagnostic(Severity.ERROR, "unknown-element", "No element 'para'.", (place,))
    texts = {
        Origin.TEMPLATE: (Path("t.xml"), body),
        Origin.PAYLOAD: (Path("p.xml"), b"<p/>"),
        None: (Path("alone.xml"), b"<p/>"),
    }
    out = io.StringIO()
    print_findings([finding], Inputs(None, None, FolderImages(None), texts), out)
    return out.getvalue().splitlines()


def test_a_finding_names_file_line_and_column_and_points_at_the_text():
    lines = shown(Span(2, 2, 2, 18), origin=Origin.TEMPLATE)
    assert lines == [
        "t.xml:2:2: error: No element 'para'. [unknown-element]",
        "    2 |     <para class='x'>Hi</para>",
        "      |     ^^^^^^^^^^^^^^^^",
    ]


def test_a_finding_over_several_lines_is_marked_to_the_end_of_the_first():
    lines = shown(Span(2, 18, 3, 4), origin=Origin.TEMPLATE)
    assert lines[2] == "      |                     ^^^^^^^^^"


def test_a_finding_of_the_payload_points_into_its_file():
    assert shown(Span(1, 1, 1, 5), origin=Origin.PAYLOAD)[1] == "    1 | <p/>"


def test_without_an_origin_the_document_itself_is_meant():
    assert shown(Span(1, 1, 1, 5))[0].startswith("alone.xml:1:1:")


@pytest.mark.parametrize("span", [Span(99, 1, 99, 2), Span(2, 500, 2, 600)])
def test_a_place_outside_the_file_breaks_nothing(span):
    assert shown(span, origin=Origin.TEMPLATE)


def test_bytes_that_are_no_utf_8_are_shown_as_well_as_they_can_be():
    assert shown(Span(1, 1, 1, 2), origin=Origin.TEMPLATE, body=b"\xff\xfe")[1] == "    1 | ��"
