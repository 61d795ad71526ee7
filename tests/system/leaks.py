"""Secrets that must never be logged: keys, passwords, and texts that clients send."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

# A word for documents, data and names that a test sends: it must come out in no log.
SECRET: Final = "xylophone-under-the-bed"

_LEAKS: Final = {
    "an API key": re.compile(r"\bpr_[A-Za-z0-9]{30,}"),
    "a webhook's secret": re.compile(r"\bwhsec_[A-Za-z0-9+/]{16,}"),
    "an Authorization header": re.compile(r"\bBearer\s+\S+", re.IGNORECASE),
    "a password in an address": re.compile(r"\b[a-z0-9+]+://[^\s/@\"']*:[^\s/@\"'*]+@"),
    "the text of a request": re.compile(re.escape(SECRET)),
    "a document": re.compile(r"<document[\s>]"),
    "a PDF": re.compile(r"%PDF-"),
}


def find_leaks(text: str) -> Iterator[str]:
    """Yield the leaked secrets of a log, each with its line."""
    for line in text.splitlines():
        for what, pattern in _LEAKS.items():
            if pattern.search(line):
                yield f"{what}: {line[:500]}"
