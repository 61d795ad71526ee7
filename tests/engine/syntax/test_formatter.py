"""Formatting: what it writes, that it is stable, and that no render changes."""

from __future__ import annotations

from random import Random

import pytest

from tests.fuzz.mutations import mutate
from tests.golden.case import OPTIONS, FolderImages, find_cases
from workers.engine.diagnostics import AuthoringError
from workers.engine.pipeline import prepare_template, render
from workers.engine.syntax.formatter import FormattingError, format_template

CASES = find_cases()
RESOURCES = FolderImages()


def formatted(text):
    written = format_template(text.encode())
    assert format_template(written) == written, "a second time changes nothing"
    return written.decode()


def pdf_of(source, case):
    """Render a case with its payload; the codes of its errors where it does not render."""
    try:
        template = prepare_template(source)
        return render(template, case.payload, options=OPTIONS, resources=RESOURCES).pdf
    except AuthoringError as error:
        return [diagnostic.code for diagnostic in error.diagnostics]


@pytest.mark.long
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_every_golden_case_renders_the_same_bytes_when_it_is_formatted(case):
    try:
        written = format_template(case.source)
    except FormattingError:
        assert isinstance(pdf_of(case.source, case), list)
        return
    assert format_template(written) == written
    payload = case.payload.body if case.payload else b""
    if b"<security" not in case.source + payload:  # encrypted files differ each time
        assert pdf_of(written, case) == pdf_of(case.source, case)


def test_mutated_templates_are_formatted_or_refused():
    random = Random(11)
    texts = [case.source.decode() for case in CASES]
    count = 0
    for _ in range(400):
        source = mutate(random.choice(texts), random, texts).encode("utf-8", "replace")
        try:
            written = format_template(source)
        except FormattingError:
            continue
        count += 1
        assert format_template(written) == written
    assert count > 50


def test_children_stand_below_each_other_in_their_parent():
    text = "<document  version = '1'><flow>\n<p>a</p><h1>b</h1>\n\n\n   <hr></hr></flow></document>"
    assert formatted(text) == (
        '<document version="1">\n'
        "  <flow>\n"
        "    <p>a</p>\n"
        "    <h1>b</h1>\n"
        "\n"
        "    <hr/>\n"
        "  </flow>\n"
        "</document>\n"
    )


def test_an_element_on_one_line_stays_on_it_while_it_fits():
    row = "<tr>  <td>a</td> <td>b</td></tr>"
    assert "      <tr><td>a</td><td>b</td></tr>\n" in formatted(
        f"<document>\n<flow>\n<table>\n{row}\n</table>\n</flow>\n</document>"
    )
    long = "<tr>" + "<td>some words</td>" * 8 + "</tr>"
    assert (
        formatted(f"<document>\n<flow>\n<table>{long}</table></flow></document>").count("\n") > 10
    )


def test_attributes_are_broken_within_the_width():
    value = "x" * 40
    text = f'<document title="{value}"\n  author="{value}" subject="{value}" lang="en"><flow/></document>'
    assert formatted(text) == (
        f'<document title="{value}" author="{value}"\n'
        f'    subject="{value}" lang="en">\n'
        "  <flow/>\n"
        "</document>\n"
    )


def test_values_are_as_they_were_written():
    tag = '<p title=\'a "b" &amp; c\'   class="x\ny">&#160;&lt;é</p>'
    text = formatted(f"<document><flow>\n{tag}\n</flow></document>")
    assert '<p title=\'a "b" &amp; c\' class="x\ny">&#160;&lt;é</p>' in text


@pytest.mark.parametrize(
    "inside",
    [
        "<p>a  <b>b</b> <i>c</i> </p>",
        '<p white-space="pre">  a\n b</p>',
        "<pre>\n  a\n    b\n</pre>",
        "<markdown>\n# a\n\n    code\n</markdown>",
        "<td>a</td>",
        '<img src="a" alt=""/><img src="b" alt=""/>',
        "<p><![CDATA[\n  a ]]></p>",
        "<p>{{ 'a\n   b' }}</p>",
        '<p><a href="x\n  y">a</a></p>',
        "<odd>\n <p>a</p> </odd>",
    ],
)
def test_significant_whitespace_is_not_changed(inside):
    assert inside in formatted(f"<document>\n   <flow>\n {inside}\n</flow></document>")


def test_space_between_inline_elements_is_neither_added_nor_lost():
    text = (
        '<div>\n<p>a</p>\n<img src="a" alt=""/><img src="b" alt=""/> <barcode value="1"/>\n</div>'
    )
    assert formatted(f"<document>\n<flow>\n{text}\n</flow></document>").splitlines()[3:7] == [
        "      <p>a</p>",
        '      <img src="a" alt=""/><img src="b" alt=""/>',
        '      <barcode value="1"/>',
        "    </div>",
    ]


def test_further_lines_of_a_text_move_with_it():
    text = "<document>\n<flow>\n<p>a\n  b\n    c</p>\n</flow>\n</document>"
    assert "    <p>a\n      b\n        c</p>\n" in formatted(text)
    assert '<data>\n    <json>{\n      "a": 1\n    }</json>\n' in formatted(
        '<document>\n<data>\n<json>{\n  "a": 1\n}</json>\n</data>\n<flow/>\n</document>'
    )


def test_comments_stay_where_they_are():
    text = (
        "<?xml version='1.0'?>\n<!-- head\n     more -->\n<document>\n<!-- of the flow -->\n"
        "<flow>\n<p>a</p> <!-- behind -->\n<!-- alone\n  two -->\n</flow>\n</document>\n<!-- end -->"
    )
    assert formatted(text) == (
        "<?xml version='1.0'?>\n<!-- head\n     more -->\n<document>\n  <!-- of the flow -->\n"
        "  <flow>\n    <p>a</p> <!-- behind -->\n    <!-- alone\n      two -->\n  </flow>\n</document>\n"
        "<!-- end -->\n"
    )


def test_line_ends_and_byte_order_marks_are_preserved():
    source = b"\xef\xbb\xbf<document>\r\n<flow>\r\n<p>a\r\n b</p></flow>\r\n</document>\r\n"
    written = format_template(source)
    assert written == (
        b"\xef\xbb\xbf<document>\r\n  <flow>\r\n    <p>a\r\n     b</p>\r\n  </flow>\r\n</document>\r\n"
    )
    assert format_template(written) == written


@pytest.mark.parametrize(
    ("source", "code"),
    [
        (b"<document>", "not-well-formed"),
        (b"", "not-well-formed"),
        (b"<!DOCTYPE a><a/>", "declaration"),
        ('<?xml version="1.0" encoding="iso-8859-1"?><a>ä</a>'.encode("latin-1"), "encoding"),
        ("<a/>".encode("utf-16"), "encoding"),
    ],
)
def test_unreadable_text_is_rejected_with_the_reason(source, code):
    with pytest.raises(FormattingError) as refused:
        format_template(source)
    assert refused.value.diagnostic.code == code


@pytest.mark.long
def test_a_long_text_takes_linear_time():
    hostile = "<p>" + "{{" * 100_000 + "\n</p>" + "<p>a</p>" * 50_000
    format_template(f"<document><flow>\n{hostile}</flow></document>".encode())
