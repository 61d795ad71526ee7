"""The pattern of blob keys: a key cannot refer to anything outside its store."""

from __future__ import annotations

import re
from typing import Final

# No part begins with a dot, so none is `.`, `..` or a temporary file.
_KEY: Final = re.compile(
    r"[A-Za-z0-9_:-][A-Za-z0-9._:-]{0,127}(?:/[A-Za-z0-9_:-][A-Za-z0-9._:-]{0,127}){0,7}\Z"
)


def validate_key(key: str) -> str:
    """Return the key if it is valid.

    Raises:
        ValueError: the key does not match the pattern.
    """
    if not _KEY.match(key):
        raise ValueError(
            f"blob key {key!r}: expected up to 8 parts of A-Za-z0-9._:- between slashes, "
            "none beginning with a dot"
        )
    return key
