"""The text encodings accepted in bodies, templates and files, and their detection by byte order mark (BOM)."""

from __future__ import annotations

import codecs
import csv
import re
from typing import Final

ACCEPTED: Final = (
    "UTF-8, UTF-16, US-ASCII, ISO-8859-1 to -16, windows-1250 to -1258, KOI8-R, KOI8-U, macintosh, "
    "Shift_JIS, EUC-JP, EUC-KR, GB2312, GBK, GB18030 and Big5"
)

# Names are checked before `codecs.lookup`, which caches every unknown name for the life of the process.
_NAMES: Final = re.compile(
    r"utf-?8|u8|utf-?16(?:-?[lb]e)?|u16|us-ascii|ascii|646|iso646-us"
    r"|iso-?8859-?\d{1,2}(?:-e|-i|:19\d\d)?|latin-?\d{1,2}|l\d|csisolatin\d"
    r"|cp-?125\d|windows-?125\d|koi8-[ru]|macintosh|mac-?roman"
    r"|shift-?jis|s-?jis|csshiftjis|ms-kanji|euc-?jp|ujis|u-jis|euc-?kr|ks-c-5601(?:-1987)?|ksc5601"
    r"|gb18030(?:-2000)?|gbk|gb2312(?:-80|-1980)?|euc-?cn|chinese|big5(?:-tw)?|csbig5"
)
# Python has more codecs: some do not encode documents (idna, unicode_escape), some are slow on hostile
# input.
_CODECS: Final = frozenset(
    {"utf-8", "ascii", "utf-16", "utf-16-le", "utf-16-be", "koi8-r", "koi8-u", "mac-roman"}
    | {"shift_jis", "euc_jp", "euc_kr", "gb18030", "gbk", "gb2312", "big5"}
    | {f"iso8859-{part}" for part in range(1, 17)}
    | {f"cp125{page}" for page in range(9)}
)
# Longest first: the byte order mark of UTF-32 begins with that of UTF-16.
_BOMS: Final = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
# The first bytes of XML in a wide encoding without a byte order mark (XML 1.0, appendix F).
_WIDE_STARTS: Final = (
    (b"<\0\0\0", "utf-32"),
    (b"\0\0\0<", "utf-32"),
    (b"<\0?\0", "utf-16-le"),
    (b"\0<\0?", "utf-16-be"),
)
_DECLARED: Final = re.compile(
    rb"<\?xml[^>]{0,200}?\bencoding\s{0,9}=\s{0,9}[\"']([A-Za-z0-9._:-]{1,40})[\"']"
)


class UnacceptedEncodingError(ValueError):
    """An encoding is not accepted; the message names it and the accepted ones."""

    def __init__(self, name: str) -> None:
        super().__init__(f'The encoding "{name[:40]}" is not accepted; accepted are {ACCEPTED}')


def find_codec(name: str) -> str | None:
    """Return the codec for the name of an encoding, None if it is not accepted."""
    plain = name.strip().lower().replace("_", "-")
    if _NAMES.fullmatch(plain) is None:
        return None
    try:
        codec = codecs.lookup(plain).name
    except LookupError:
        return None
    return codec if codec in _CODECS else None


def detect_text_codec(data: bytes, charset: str | None) -> str:
    """Return the codec of a text: a byte order mark overrides `charset`; None means UTF-8.

    The mark remains in the decoded text as U+FEFF.

    Raises:
        UnacceptedEncodingError: the encoding is not accepted.
    """
    return _find_bom_codec(data) or _get_codec(charset or "utf-8")


def measure_bom(data: bytes) -> int:
    """Return the length in bytes of the leading byte order mark, 0 without one."""
    return next((len(mark) for mark, _ in _BOMS if data.startswith(mark)), 0)


def detect_xml_codec(data: bytes, charset: str | None = None) -> str:
    """Return the codec of an XML text: from its byte order mark, `charset` or its declaration, in this order.

    Raises:
        UnacceptedEncodingError: the encoding is not accepted.
    """
    marked = _find_bom_codec(data)
    if marked is not None:
        return marked
    if charset is not None:
        return _get_codec(charset)
    for start, wide in _WIDE_STARTS:
        if data.startswith(start):
            return _get_codec(wide)
    declared = _DECLARED.match(data)
    codec = _get_codec(declared[1].decode("ascii")) if declared else "utf-8"
    # The declaration was readable as ASCII, so the text is not UTF-16.
    return "utf-8" if codec.startswith("utf-16") else codec


def _find_bom_codec(data: bytes) -> str | None:
    for mark, name in _BOMS:
        if data.startswith(mark):
            return _get_codec(name)
    return None


def _get_codec(name: str) -> str:
    codec = find_codec(name)
    if codec is None:
        raise UnacceptedEncodingError(name)
    return codec


_DELIMITERS: Final = (",", ";", "\t", "|")
_QUOTED: Final = re.compile(r'"[^"]*+"')
_FIRST_LINE: Final = re.compile(r"[^\r\n]*")
# The line with which spreadsheets name the delimiter, which other programs may have quoted.
_NAMED: Final = re.compile(
    r"""\s*"?sep=(?P<delimiter>[^\w\s"']|\t)"?[ ]*(?:\r\n?|\n|\Z)""", re.IGNORECASE
)
_MAX_HEADER: Final = 100_000


def find_named_delimiter(text: str) -> tuple[str, int] | None:
    """Return the delimiter that a `sep=` line at the beginning names, and the end of that line."""
    found = _NAMED.match(text)
    return None if found is None else (found["delimiter"], found.end())


def detect_delimiter(text: str) -> str:
    """Return the delimiter that is most frequent in the first line, outside of quotes."""
    bare = _QUOTED.sub("", text.lstrip("\r\n ")[:_MAX_HEADER])
    first = _FIRST_LINE.match(bare)
    assert first is not None
    return max(_DELIMITERS, key=first[0].count)


def explain_csv_error(error: csv.Error) -> str:
    """Return what is wrong with a row."""
    message = str(error)
    if "end of data" in message:
        return "the quote that opens here is not closed"
    if "expected after" in message:
        return "text follows a closing quote; a quote inside quotes is written twice"
    if "field limit" in message:
        return f"a cell has more than {csv.field_size_limit():,} characters"
    return "the row is not CSV"
