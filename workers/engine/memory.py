"""Memory that C libraries ask for, and do not get."""

from __future__ import annotations

from typing import Final
from xml.parsers import expat

_NO_MEMORY: Final = expat.errors.codes[expat.errors.XML_ERROR_NO_MEMORY]


def check_memory(error: expat.ExpatError) -> None:
    """Raise MemoryError where expat had too little: it tells of that as of a mistake in the text."""
    if error.code == _NO_MEMORY:
        raise MemoryError from error
