"""Bytes become text: the encodings that are accepted, and where a text breaks its own."""

from __future__ import annotations

import re
from typing import Final

ACCEPTED: Final = "UTF-8, UTF-16, US-ASCII, ISO-8859-1 to -16 and windows-1250 to -1258"

# Other codecs of Python are no text encodings, or cost more than linear time.
_ENCODINGS: Final = re.compile(
    r"utf-?8|us-ascii|ascii|utf-?16(?:le|be|-le|-be)?|iso-?8859-\d{1,2}|latin-?1"
    r"|windows-125\d|cp125\d"
)
_BYTE_ORDER_MARKS: Final = (
    (b"\xef\xbb\xbf", "utf-8"),
    (b"\xff\xfe", "utf-16-le"),
    (b"\xfe\xff", "utf-16-be"),
)


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
    name = _marked_encoding(source) or _accepted_name(encoding or "utf-8")
    try:
        return source.decode(name).removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        line, column = position_after(source[: error.start].decode(name, "replace"))
        sent = " ".join(f"{byte:02x}" for byte in source[error.start : error.end][:4])
        raise EncodingError(
            f"The text is not valid {name.upper()}: the byte {sent} at line {line}, column {column}"
            " stands for no character; save the text as UTF-8, or name its encoding",
            line=line,
            column=column,
        ) from None


def position_after(text: str) -> tuple[int, int]:
    """Give the line and column, from 1, of what follows a text."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n")
    return lines.count("\n") + 1, len(lines) - lines.rfind("\n")


def _marked_encoding(source: bytes) -> str | None:
    return next((name for mark, name in _BYTE_ORDER_MARKS if source.startswith(mark)), None)


def _accepted_name(encoding: str) -> str:
    name = encoding.strip().lower().replace("_", "-")
    if _ENCODINGS.fullmatch(name) is None or not _is_codec(name):
        raise EncodingError(f'The encoding "{name[:40]}" is not accepted; accepted are {ACCEPTED}')
    return name


def _is_codec(name: str) -> bool:
    try:
        b"".decode(name)
    except LookupError:
        return False
    return True
