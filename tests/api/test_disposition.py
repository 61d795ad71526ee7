"""File names in headers: RFC 6266, and nothing a document says can break out."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from werkzeug.http import parse_options_header

from api.pdf import write_disposition


@pytest.mark.parametrize(
    ("filename", "header"),
    [
        ("invoice-7.pdf", 'inline; filename="invoice-7.pdf"'),
        ("invoice 7", 'inline; filename="invoice 7.pdf"'),
        (
            "Überweisung.pdf",
            "inline; filename=\"Uberweisung.pdf\"; filename*=UTF-8''%C3%9Cberweisung.pdf",
        ),
        (
            "請求書.pdf",
            "inline; filename=\"example.pdf\"; filename*=UTF-8''%E8%AB%8B%E6%B1%82%E6%9B%B8.pdf",
        ),
        ("../../etc/passwd", 'inline; filename="_.._etc_passwd.pdf"'),
        ('a"; evil="1', 'inline; filename="a_; evil=_1.pdf"'),
        ("a\r\nSet-Cookie: x", 'inline; filename="a__Set-Cookie_ x.pdf"'),
        ("", 'inline; filename="example.pdf"'),
        (".pdf", 'inline; filename="example.pdf"'),
    ],
)
def test_a_name_is_written_safely(filename, header):
    assert write_disposition(filename) == header


@given(st.text(max_size=300))
def test_any_name_gives_one_parsable_line(filename):
    header = write_disposition(filename)
    header.encode("ascii")
    assert header.isprintable()
    kind, options = parse_options_header(header)
    assert kind == "inline"
    assert options["filename"].endswith(".pdf")
    assert not set(options["filename"]) & set('/\\"')
