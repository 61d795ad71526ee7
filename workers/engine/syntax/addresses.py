"""Addresses of links and images, read as browsers do."""

from __future__ import annotations

import re
from typing import Final

# Spaces are accepted after the host of an address, as browsers do.
_HOST: Final = r"(?![^/?#]* )"
_ADDRESS: Final = r"(?! )(?:[^\s<>\"\x00-\x1f\x7f]| ){1,2000}"
# Schemes and media types are case-insensitive (RFC 3986, 3.1; RFC 2045, 5.1).
_LINK: Final = re.compile(
    rf"((?i:https?://|mailto:)){_HOST}{_ADDRESS}|((?i:tel:)){_ADDRESS}|#[A-Za-z_][\w.:-]{{0,99}}"
)
_WEB: Final = re.compile(rf"(https?://){_HOST}{_ADDRESS}", re.IGNORECASE)


def read_link(text: str) -> str:
    """Parse the target of a link; raise ValueError for any other text."""
    match = _LINK.fullmatch(text)
    if match is None:
        raise ValueError(text)
    return text if match.lastindex is None else _normalize_address(match)


def find_web_address(text: str) -> str | None:
    """Return a text as an http or https address, None for any other text."""
    match = _WEB.fullmatch(text)
    return None if match is None else _normalize_address(match)


def _normalize_address(match: re.Match[str]) -> str:
    """Return an address with its scheme in lowercase, and spaces written as browsers do."""
    assert match.lastindex is not None
    scheme = match[match.lastindex].lower()
    # RFC 3966, 5.1.1: the numbers of a telephone may be separated by hyphens.
    return scheme + match[0][len(scheme) :].replace(" ", "-" if scheme == "tel:" else "%20")
