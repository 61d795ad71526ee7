"""The value type of attributes that name a business term of EN 16931."""

from __future__ import annotations

from typing import Final

from workers.engine.einvoices import BY_NUMBER, TermPath
from workers.engine.syntax.values import ValueType


def _read(text: str) -> TermPath:
    term_path = BY_NUMBER.get(text)
    if term_path is None:
        raise ValueError(text)
    return term_path


BUSINESS_TERM: Final = ValueType("a business term of EN 16931, such as BT-112", _read)
