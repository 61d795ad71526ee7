"""The code lists of EN 16931, loaded from codes.txt."""

from __future__ import annotations

from functools import cache
from typing import Final

from workers.engine.data_tables import read_table

COUNTRIES: Final = "countries"


@cache
def load_codes() -> dict[str, frozenset[str]]:
    """Return the sets of codes by the name of their list."""
    table = read_table(__package__, "codes.txt")
    return {name: frozenset(codes.split()) for name, codes in table.items()}
