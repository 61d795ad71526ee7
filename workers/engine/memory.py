"""Out-of-memory errors of C libraries."""

from __future__ import annotations

from typing import Final
from xml.parsers import expat

_NO_MEMORY: Final = expat.errors.codes[expat.errors.XML_ERROR_NO_MEMORY]


def check_memory(error: expat.ExpatError) -> None:
    """Raise MemoryError if expat ran out of memory, which it reports like a syntax error."""
    if error.code == _NO_MEMORY:
        raise MemoryError from error
