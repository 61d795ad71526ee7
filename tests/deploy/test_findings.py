"""Findings are shown with their place, the line it is in, and a caret under what is meant."""

import io
import time
import unicodedata
from pathlib import Path

import pytest

from workers.engine.diagnostics import Diagnostic, Origin, Severity, SourceLocation, SourceSpan
from workers.engine.local_files import FolderResources, Inputs, print_findings

TEMPLATE = b"<document>\n\t<para class='x'>Hi</para>\n</document>\n"


def shown(span, *, origin=None, body=TEMPLATE):
    place = SourceLocation("para", span, origin)
    finding = Diagnostic(Severity.ERROR, "unknown-element", "No element 'para'.", (place,))
    texts = {
        Origin.TEMPLATE: (Path("t.xml"), body),
        Origin.PAYLOAD: (Path("p.xml"), b"<p/>"),
        None: (Path("alone.xml"), b"<p/>"),
    }
    out = io.StringIO()
    print_findings([finding], Inputs(None, None, FolderResources(None), texts), out)
    return out.getvalue().splitlines()


def test_a_finding_names_file_line_and_column_and_points_at_the_text():
    lines = shown(SourceSpan(2, 2, 2, 18), origin=Origin.TEMPLATE)
    assert lines == [
        "t.xml:2:2: error: No element 'para'. [unknown-element]",
        "    2 |     <para class='x'>Hi</para>",
        "      |     ^^^^^^^^^^^^^^^^",
    ]


def test_a_finding_over_several_lines_is_marked_to_the_end_of_the_first():
    lines = shown(SourceSpan(2, 18, 3, 4), origin=Origin.TEMPLATE)
    assert lines[2] == "      |                     ^^^^^^^^^"


def test_a_finding_of_the_payload_points_into_its_file():
    assert shown(SourceSpan(1, 1, 1, 5), origin=Origin.PAYLOAD)[1] == "    1 | <p/>"


def test_without_an_origin_the_document_itself_is_meant():
    assert shown(SourceSpan(1, 1, 1, 5))[0].startswith("alone.xml:1:1:")


@pytest.mark.parametrize("span", [SourceSpan(99, 1, 99, 2), SourceSpan(2, 500, 2, 600)])
def test_a_place_outside_the_file_breaks_nothing(span):
    assert shown(span, origin=Origin.TEMPLATE)


def test_bytes_that_are_no_utf_8_are_shown_as_well_as_they_can_be():
    assert (
        shown(SourceSpan(1, 1, 1, 2), origin=Origin.TEMPLATE, body=b"\xff\xfe")[1] == "    1 | ��"
    )


# --- long lines -----------------------------------------------------------------------------------


def pointed(line, column, length=1):
    found = shown(
        SourceSpan(1, column, 1, column + length), body=line.encode(), origin=Origin.TEMPLATE
    )
    return found[1], found[2]


def under(line, marks):
    """Return what is above the carets, column by column: wide characters take two."""
    columns = []
    for char in line:
        wide = unicodedata.east_asian_width(char) in "WF"
        columns += [char, ""] if wide else [char]
    first, last = marks.index("^"), marks.rindex("^") + 1
    return "".join(columns[first:last])


def test_of_a_long_line_the_piece_around_the_fault_is_shown():
    line, marks = pointed("a" * 5_000 + "<bad/>" + "b" * 5_000, 5_001, 6)
    assert line.startswith("    1 | …a")
    assert line.endswith("b…")
    assert len(line) <= 108
    assert under(line, marks) == "<bad/>"


@pytest.mark.parametrize(
    ("text", "column", "length", "meant"),
    [
        ("<bad/>" + "b" * 500, 1, 6, "<bad/>"),
        ("a" * 500 + "<bad/>", 501, 6, "<bad/>"),
        ("a" * 40 + "<bad/>" + "b" * 500, 41, 6, "<bad/>"),
        ("漢" * 300 + "<bad/>" + "字" * 300, 301, 6, "<bad/>"),
        ("漢" * 300 + "<漢字/>" + "b" * 300, 301, 5, "<漢字/>"),
        ("\t" * 300 + "<bad/>" + "b" * 300, 301, 6, "<bad/>"),
        ("x" * 30 + "漢字<bad/>", 33, 6, "<bad/>"),
    ],
)
def test_the_carets_mark_the_reported_span(text, column, length, meant):
    line, marks = pointed(text, column, length)
    assert under(line, marks) == meant
    assert sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in line) <= 109


def test_marks_above_letters_take_no_column():
    line, marks = pointed("e\u0301" * 10 + "<bad/>", 21, 6)
    assert marks.index("^") == 8 + 10
    assert line.endswith("<bad/>")


def test_a_long_fault_is_marked_in_part():
    line, marks = pointed("a" * 200 + "<" + "x" * 900 + ">" + "b" * 200, 201, 902)
    assert marks.count("^") == 60
    assert under(line, marks) == "<" + "x" * 59
    assert line.endswith("x…")


def test_a_document_does_not_speak_to_the_terminal():
    line, _ = pointed("<p>\x1b[31m\u202e</p>", 1)
    assert "\x1b" not in line
    assert "\u202e" not in line


def test_a_line_of_megabytes_is_no_work():
    started = time.process_time()
    for column in (1, 5_000_000, 10_000_000):
        pointed("a" * 10_000_000, column)
    assert time.process_time() - started < 2
