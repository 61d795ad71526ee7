"""The scopes of API keys: what a key may be used for (decision 0378)."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import Final


class Scope(StrEnum):
    """A part of the interface that a key gives access to."""

    READ = "read"
    RENDER = "render"
    TEMPLATES = "templates"
    ACCOUNT = "account"


ALL_SCOPES: Final = frozenset(Scope)
# Together they give access to whatever `read` does, so that a key with them has it, too.
_ALL_BUT_READ: Final = ALL_SCOPES - {Scope.READ}


def parse_scopes(names: Iterable[object]) -> frozenset[Scope]:
    """Parse names of scopes; all others together include `read`.

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
    if scopes >= _ALL_BUT_READ:
        scopes.add(Scope.READ)
    return frozenset(scopes)


def list_scopes(scopes: Iterable[Scope]) -> list[str]:
    """Return the names of scopes in the order of their declaration."""
    given = set(scopes)
    return [scope.value for scope in Scope if scope in given]


def encode_scopes(scopes: Iterable[Scope]) -> str:
    """Write scopes as the database stores them: names separated by spaces.

    `read` is left out where the others include it, as in keys made before that scope existed.
    """
    given = frozenset(scopes)
    return " ".join(list_scopes(_ALL_BUT_READ if given == ALL_SCOPES else given))


def decode_scopes(text: str) -> frozenset[Scope]:
    """Read scopes written by `encode_scopes`."""
    return parse_scopes(text.split())
