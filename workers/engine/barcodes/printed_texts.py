"""The words printed beside the code of a payment, in each language."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from workers.engine.data_tables import read_table

Texts = TypeVar("Texts")


def read_texts(make: Callable[..., Texts], file: str) -> dict[str, Texts]:
    """Return the texts of a table by language; each entry is a language and a member of the texts."""
    members: dict[str, dict[str, str]] = {}
    for entry, text in read_table(__package__, file).items():
        language, _, member = entry.partition(" ")
        members.setdefault(language, {})[member] = text
    return {language: make(**texts) for language, texts in members.items()}
