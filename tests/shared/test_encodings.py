"""The encodings that are accepted, by name and by what a text begins with."""

from __future__ import annotations

import codecs

import pytest

from shared.encodings import (
    UnacceptedEncodingError,
    detect_text_codec,
    detect_xml_codec,
    find_codec,
    measure_bom,
)


@pytest.mark.parametrize(
    ("name", "codec"),
    [
        ("UTF-8", "utf-8"), ("utf8", "utf-8"), ("utf_16", "utf-16"), ("UTF-16LE", "utf-16-le"),
        ("us-ascii", "ascii"), ("ISO-8859-1", "iso8859-1"), ("ISO_8859-1:1987", "iso8859-1"),
        ("Latin1", "iso8859-1"), ("iso-8859-15", "iso8859-15"), ("windows-1252", "cp1252"),
        ("KOI8-R", "koi8-r"), ("macintosh", "mac-roman"), ("Shift_JIS", "shift_jis"),
        ("EUC-JP", "euc_jp"), ("EUC-KR", "euc_kr"), ("GB2312", "gb2312"), ("GBK", "gbk"),
        ("GB18030", "gb18030"), ("Big5", "big5"),
    ],
)  # fmt: skip
def test_names_of_accepted_encodings_are_known(name: str, codec: str):
    assert find_codec(name) == codec
    assert find_codec(name.upper()) == find_codec(f" {name.lower()} ") == codec


@pytest.mark.parametrize(
    "name",
    ["utf-32", "utf-32-le", "utf-7", "utf-8-sig", "rot13", "idna", "zlib", "iso-8859-12", "x" * 10_000, "", "cp437", "latin-11"],
)  # fmt: skip
def test_other_encodings_are_not_accepted(name: str):
    assert find_codec(name) is None


def test_unknown_names_are_never_looked_up(monkeypatch: pytest.MonkeyPatch):
    def refuse(name: str) -> codecs.CodecInfo:
        raise AssertionError(name)

    monkeypatch.setattr(codecs, "lookup", refuse)
    assert find_codec("x-unknown-1") is None


@pytest.mark.parametrize(
    ("data", "codec", "mark"),
    [
        (b"\xef\xbb\xbfa", "utf-8", 3),
        (b"\xff\xfea\0", "utf-16-le", 2),
        (b"\xfe\xff\0a", "utf-16-be", 2),
        (b"a", "cp1252", 0),
    ],
)
def test_a_mark_wins_over_the_charset(data: bytes, codec: str, mark: int):
    assert (
        detect_text_codec(data, "windows-1252") == detect_xml_codec(data, "windows-1252") == codec
    )
    assert measure_bom(data) == mark


def test_the_refusal_names_the_encoding_and_those_that_are_accepted():
    with pytest.raises(
        UnacceptedEncodingError, match='"utf-32" is not accepted; accepted are UTF-8'
    ):
        detect_xml_codec(b"", "utf-32")


@pytest.mark.parametrize("codec", ["shift_jis", "euc_jp", "euc_kr", "gb18030", "gbk", "big5"])
def test_every_accepted_codec_decodes_to_text_encodable_as_utf_8(codec: str):
    for first in range(256):
        for second in range(256):
            text = bytes((first, second, 0x30, 0x30)).decode(codec, "replace")
            text.encode()
