"""The code lists of EN 16931, loaded from codes.txt."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Final

COUNTRIES: Final = "countries"


@cache
def load_codes() -> dict[str, frozenset[str]]:
    """Return the sets of codes by the name of their list."""
    text = files(__package__).joinpath("codes.txt").read_text("utf-8")
    lines = (line.partition(":") for line in text.splitlines() if not line.startswith("#"))
    return {name: frozenset(codes.split()) for name, _, codes in lines}
