"""The scopes of API keys: what a key may be used for (decision 0363)."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import Final


class Scope(StrEnum):
    """A part of the interface that a key gives access to."""

    RENDER = "render"
    TEMPLATES = "templates"
    ACCOUNT = "account"


ALL_SCOPES: Final = frozenset(Scope)


def parse_scopes(names: Iterable[object]) -> frozenset[Scope]:
    """Parse names of scopes.

    Raises:
        ValueError: there is none, one is unknown, or one is repeated; the message names it.
    """
    scopes: set[Scope] = set()
    for name in names:
        if not isinstance(name, str) or name not in set(Scope):
            raise ValueError(f"{str(name)[:60]!r} is not one of {', '.join(Scope)}")
        if Scope(name) in scopes:
            raise ValueError(f"{name!r} is repeated")
        scopes.add(Scope(name))
    if not scopes:
        raise ValueError(f"at least one of {', '.join(Scope)} is required")
    return frozenset(scopes)


def list_scopes(scopes: Iterable[Scope]) -> list[str]:
    """Return the names of scopes in the order of their declaration."""
    given = set(scopes)
    return [scope.value for scope in Scope if scope in given]


def encode_scopes(scopes: Iterable[Scope]) -> str:
    """Write scopes as the database stores them: names separated by spaces."""
    return " ".join(list_scopes(scopes))


def decode_scopes(text: str) -> frozenset[Scope]:
    """Read scopes written by `encode_scopes`."""
    return parse_scopes(text.split())
