"""The text of uploaded templates: decoding, well-formedness, removal of the XML declaration."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from shared.encodings import UnacceptedEncodingError, detect_xml_codec
from shared.errors import ServiceError
from shared.templates.well_formed import NotWellFormedError, check_well_formed, is_quickly_parsed

_DECLARATION: Final = re.compile(r"<\?xml\s[^>]{0,200}\?>\s*")


def read_content(data: bytes, *, charset: str | None, inspect: Callable[[bytes], object]) -> str:
    """Return a template's text as it is stored: without BOM, XML declaration and the space after it.

    `charset` is that of the Content-Type. Empty data is a template without content. `inspect` has a worker
    check a text, in UTF-8, that is too large to be parsed beside other requests.

    Raises:
        ServiceError: 400 with the position, the text is not in its encoding, not well-formed, or
            declares a document type; and the errors of `inspect`.
    """
    text = _decode(data, charset=charset)
    if text:
        _check_well_formed(text, inspect)
    return _DECLARATION.sub("", text, count=1) if text.startswith("<?xml") else text


def _decode(data: bytes, *, charset: str | None) -> str:
    try:
        codec = detect_xml_codec(data, charset)
    except UnacceptedEncodingError as error:
        raise ServiceError(400, f"{error}.") from error
    try:
        return data.decode(codec).removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        raise ServiceError(
            400, f"The body is not {codec} text: byte {error.start + 1} cannot be read."
        ) from error


def _check_well_formed(text: str, inspect: Callable[[bytes], object]) -> None:
    # With its declaration, so that positions are the author's.
    try:
        encoded = text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise ServiceError(
            400, "The body has a character that XML does not allow: an unpaired surrogate."
        ) from error
    if not is_quickly_parsed(text):
        inspect(encoded)
        return
    try:
        check_well_formed(encoded)
    except NotWellFormedError as error:
        raise ServiceError(400, str(error)) from error
