"""Bytes become text, and a text that breaks its own encoding is reported with line and column."""

from __future__ import annotations

from shared.encodings import UnacceptedEncodingError, find_text_codec, find_xml_codec


class EncodingError(Exception):
    """The bytes are no text of their encoding; `line` and `column` count from 1."""

    def __init__(self, message: str, *, line: int = 1, column: int = 1) -> None:
        super().__init__(message)
        self.line = line
        self.column = column


def decode_text(source: bytes, encoding: str | None) -> str:
    """Decode bytes without their byte order mark; the mark wins over `encoding`, None means UTF-8.

    Raises:
        EncodingError: the encoding is not accepted, or bytes stand for no character in it.
    """
    try:
        return _decode(source, find_text_codec(source, encoding))
    except UnacceptedEncodingError as error:
        raise EncodingError(str(error)) from None


def decode_xml(source: bytes) -> str:
    """Decode an XML text by its mark or its declaration, without the mark.

    Raises:
        EncodingError: the encoding is not accepted, or bytes stand for no character in it.
    """
    try:
        return _decode(source, find_xml_codec(source))
    except UnacceptedEncodingError as error:
        raise EncodingError(str(error)) from None


def position_after(text: str) -> tuple[int, int]:
    """Give the line and column, from 1, of what follows a text."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n")
    return lines.count("\n") + 1, len(lines) - lines.rfind("\n")


def _decode(source: bytes, codec: str) -> str:
    try:
        return source.decode(codec).removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        line, column = position_after(source[: error.start].decode(codec, "replace"))
        sent = " ".join(f"{byte:02x}" for byte in source[error.start : error.end][:4])
        raise EncodingError(
            f"The text is not valid {codec.upper()}: the byte {sent} at line {line}, column {column}"
            " stands for no character; save the text as UTF-8, or name its encoding",
            line=line,
            column=column,
        ) from None
