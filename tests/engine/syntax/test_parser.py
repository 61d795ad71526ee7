"""The parser: exact places, refused declarations, and no bytes that make it raise."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workers.engine.diagnostics import Diagnostic, Origin, SourceSpan
from workers.engine.syntax.nodes import Element, Text
from workers.engine.syntax.parser import MAX_DEPTH, parse_document


def parse(source: str | bytes) -> Element:
    tree = parse_document(source.encode() if isinstance(source, str) else source, origin=None)
    assert tree.root is not None, [finding.text for finding in tree.findings]
    return tree.root


def refusal(source: str | bytes) -> Diagnostic:
    tree = parse_document(source.encode() if isinstance(source, str) else source, origin=None)
    assert tree.root is None
    (finding,) = tree.findings
    return finding


def test_a_place_reaches_from_the_start_tag_to_after_the_end_tag():
    root = parse("<document>\n  <p>äö</p\n  ></document>")
    (p,) = root.elements()
    assert p.location.span == SourceSpan(2, 3, 3, 4)
    assert root.location.span == SourceSpan(1, 1, 3, 15)


def test_columns_count_characters_not_bytes():
    (br,) = parse("<p>äö€😀<br/>x</p>").elements()
    assert br.location.span == SourceSpan(1, 8, 1, 13)


def test_an_empty_tag_ends_after_its_bracket_even_before_an_end_tag_of_its_name():
    (inner,) = parse("<p><p a='/>'/></p>").elements()
    assert inner.location.span == SourceSpan(1, 4, 1, 15)
    (pair,) = parse("<p><p></p></p>").elements()
    assert pair.location.span == SourceSpan(1, 4, 1, 11)


def test_places_carry_the_origin():
    tree = parse_document(b"<document/>", origin=Origin.PAYLOAD)
    assert tree.root is not None
    assert tree.root.location.origin is Origin.PAYLOAD


def test_text_is_joined_across_references_comments_and_cdata():
    (text,) = parse("<p>a &lt; <!-- no -->b<![CDATA[ & c]]></p>").children
    assert text == Text("a < b & c", 1, 4)


def test_text_of_json_keeps_the_place_of_every_piece():
    root = parse('<json>{"a":\n&quot;b&quot;,<![CDATA["c"]]>}</json>')
    places = [(c.text, c.line, c.column) for c in root.children if isinstance(c, Text)]
    assert places == [('{"a":\n"', 1, 7), ('b"', 2, 7), (",", 2, 14), ('"c"', 2, 24), ("}", 2, 30)]


def test_a_default_namespace_on_the_root_is_ignored():
    assert parse('<document xmlns="urn:any"/>').attributes == {}


@pytest.mark.parametrize(
    "source",
    [
        '<!DOCTYPE document [<!ENTITY a "b">]><document>&a;</document>',
        "<?xml version='1.0'?>\n<!-- note --><!doctype html><document/>",
        '<!DOCTYPE document SYSTEM "file:///etc/passwd"><document/>',
    ],
)
def test_document_types_and_entities_are_refused(source: str):
    assert refusal(source).code in ("declaration", "not-well-formed")


def test_a_document_type_declaration_is_reported_with_its_position():
    finding = refusal("<?xml version='1.0'?>\n<!-- x --><!DOCTYPE d><d/>")
    assert finding.code == "declaration"
    assert finding.location is not None
    assert finding.location.span == SourceSpan(2, 11, 2, 12)


def test_an_xml_error_names_the_innermost_open_element():
    finding = refusal("<document>\n <p><b>x</p></document>")
    assert finding.location is not None
    assert finding.location.tag_name == "b"
    assert finding.location.span.line_start == 2
    assert "`b` of line 2 is still open" in finding.message


def test_an_unknown_entity_gets_advice():
    assert "&#160;" in refusal("<p>&nbsp;</p>").message


@pytest.mark.parametrize(
    "source",
    [
        "<p>ä</p>".encode("utf-8-sig"),
        "\ufeff<p>ä</p>".encode("utf-16-le"),
        "\ufeff<p>ä</p>".encode("utf-16-be"),
        '<?xml version="1.0" encoding="UTF-16"?><p>ä</p>'.encode("utf-16-le"),
        '<?xml version="1.0" encoding="ISO-8859-1"?><p>ä</p>'.encode("latin-1"),
        '<?xml version="1.0" encoding="windows-1252"?><p>ä</p>'.encode("cp1252"),
        '<?xml version="1.0" encoding="macintosh"?><p>ä</p>'.encode("mac-roman"),
        b'<?xml version="1.0" encoding="UTF-16"?><p>\xc3\xa4</p>',  # as a text that was converted
    ],
)
def test_declared_and_marked_encodings_are_converted(source: bytes):
    assert parse(source).text == "ä"


def test_undecodable_bytes_are_reported_with_line_and_column():
    finding = refusal(b"<p>\n ab\xff</p>")
    assert finding.code == "encoding"
    assert "line 2, column 4" in finding.message


@pytest.mark.parametrize("name", ["rot13", "utf-7", "punycode", "idna", "zlib_codec", "x"])
def test_codecs_that_are_no_text_encodings_are_refused(name: str):
    source = f'<?xml version="1.0" encoding="{name}"?><p/>'
    assert refusal(source).code == "encoding"


UTF_32_TEXT = '<?xml version="1.0" encoding="UTF-32"?><p/>'


@pytest.mark.parametrize(
    "source",
    [
        UTF_32_TEXT.encode(),
        UTF_32_TEXT.encode("utf-32"),
        UTF_32_TEXT.encode("utf-32-le"),
        UTF_32_TEXT.encode("utf-32-be"),
        "\ufeff<p/>".encode("utf-32-le"),
        "\ufeff<p/>".encode("utf-32-be"),
        "<p/>".encode("utf-32-be"),
    ],
)
def test_utf_32_is_refused_by_name(source: bytes):
    finding = refusal(source)
    assert finding.code == "encoding"
    assert re.search(
        '"utf-32" is not accepted; accepted are UTF-8, ', finding.message, re.IGNORECASE
    )


def test_nesting_has_a_bound():
    deep = "<d>" * MAX_DEPTH + "</d>" * MAX_DEPTH
    assert parse(deep).tag == "d"
    assert refusal(f"<d>{deep}</d>").code == "too-deep"


def test_attributes_have_a_bound():
    many = " ".join(f'a{i}="1"' for i in range(201))
    assert refusal(f"<p {many}/>").code == "too-large"


def test_an_empty_text_is_a_finding():
    assert refusal(b"").code == "not-well-formed"


@given(st.binary(max_size=200))
def test_no_bytes_make_the_parser_raise(source: bytes):
    tree = parse_document(source, origin=None)
    assert (tree.root is None) == bool(tree.findings.errors)


_PIECES = [
    "<p>",
    "</p>",
    "<br/>",
    "a",
    "&lt;",
    "&",
    "<",
    ">",
    "<![CDATA[",
    "]]>",
    "<!--",
    "-->",
    "\n",
    "\r",
]
_PIECES += ["<json>", "</json>", "<!DOCTYPE p>", "<?xml version='1.0'?>", "<?x y?>", "ä", "\0", " b='1'"]  # fmt: skip


@given(st.lists(st.sampled_from(_PIECES), max_size=30).map("".join))
def test_no_markup_makes_the_parser_raise(source: str):
    tree = parse_document(source.encode(), origin=None)
    assert (tree.root is None) == bool(tree.findings.errors)
    if tree.root is not None:
        assert tree.root.location.span.line_end >= tree.root.location.span.line_start
