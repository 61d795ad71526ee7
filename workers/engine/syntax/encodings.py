"""Decoding of bytes; errors carry line and column."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from typing import Final

from shared.encodings import UnacceptedEncodingError, detect_text_codec, detect_xml_codec
from workers.engine.characters import NOT_XML

FORBIDDEN_CODE: Final = "control-character"
MAX_REPORTED: Final = 20  # forbidden characters of a text
MORE_FORBIDDEN: Final = "contains more such characters, which are left out"


class EncodingError(Exception):
    """The bytes are not valid in their encoding; `line` and `column` count from 1."""

    def __init__(self, message: str, *, line: int = 1, column: int = 1) -> None:
        super().__init__(message)
        self.line = line
        self.column = column


def decode_text(source: bytes, encoding: str | None, *, is_xml: bool = False) -> str:
    """Decode bytes and strip the byte order mark, which overrides `encoding`.

    None means UTF-8, or the encoding that XML declares, which one of a Content-Type overrides (RFC 7303, 3).

    Raises:
        EncodingError: the encoding is not accepted, or the bytes are not valid in it.
    """
    try:
        codec = (detect_xml_codec if is_xml else detect_text_codec)(source, encoding)
    except UnacceptedEncodingError as error:
        raise EncodingError(str(error)) from None
    try:
        return source.decode(codec).removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        line, column = position_after(source[: error.start].decode(codec, "replace"))
        sent = " ".join(f"{byte:02x}" for byte in source[error.start : error.end][:4])
        raise EncodingError(
            f"The text is not valid {codec.upper()}: the byte {sent} at line {line}, column {column}"
            " is not a character; save the text as UTF-8, or name its encoding",
            line=line,
            column=column,
        ) from None


def position_after(text: str) -> tuple[int, int]:
    """Return the line and column, from 1, directly after a text."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n")
    return lines.count("\n") + 1, len(lines) - lines.rfind("\n")


def drop_forbidden(text: str, report: Callable[[str, tuple[int, int]], object]) -> str:
    """Return a text without the characters that XML forbids.

    `report` is called for each of the first twenty, with a message, and the line and column from 1.
    """
    found = list(islice(NOT_XML.finditer(text), MAX_REPORTED + 1))
    position = (1, 1)
    for match in found[:MAX_REPORTED]:
        position = position_after(text[: match.start()])
        report(
            "line {}, column {} contains {}".format(*position, describe_forbidden(match[0])),
            position,
        )
    if len(found) > MAX_REPORTED:
        report(f"text {MORE_FORBIDDEN}", position)
    return NOT_XML.sub("", text) if found else text


def describe_forbidden(character: str) -> str:
    """Return the end of a message about a forbidden character."""
    return f"the character U+{ord(character):04X}, which is left out"
