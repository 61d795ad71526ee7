"""The template reference grammar: `<identifier>` or `<identifier>@<selector>` (interface.md)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from shared.errors import ServiceError
from shared.identifiers import TAG, TEMPLATE_ID

MAX_VERSION_DIGITS: Final = 16  # interface.md, Limits: version path segment
_NUMBER: Final = re.compile(r"[1-9][0-9]*\Z")
_MAX_TAG: Final = 64


@dataclass(frozen=True, slots=True)
class Live:
    """The template's current, editable content."""


@dataclass(frozen=True, slots=True)
class Latest:
    """The newest published version."""


@dataclass(frozen=True, slots=True)
class Numbered:
    """The published version of a number."""

    version: int


@dataclass(frozen=True, slots=True)
class Tagged:
    """The version a tag points at."""

    tag: str


Selector = Live | Latest | Numbered | Tagged


@dataclass(frozen=True, slots=True)
class TemplateReference:
    """Which template, by id or slug, and which of its texts. A bare identifier means live content."""

    identifier: str
    selector: Selector

    def __str__(self) -> str:
        match self.selector:
            case Live():
                return self.identifier
            case Latest():
                return f"{self.identifier}@latest"
            case Numbered(version):
                return f"{self.identifier}@{version}"
            case Tagged(tag):
                return f"{self.identifier}@{tag}"


def parse_reference(text: str, *, field: str) -> TemplateReference:
    """Parse a reference; `field` is where the client wrote it.

    Raises:
        ServiceError: 400, naming the field, what was sent and what is accepted.
    """
    identifier, separator, selector = text.partition("@")
    if not TEMPLATE_ID.match(identifier):
        raise _malformed(
            field,
            text,
            "an identifier is 1 to 128 letters, digits, hyphens and underscores, "
            "not between double underscores",
        )
    return TemplateReference(
        identifier, _parse_selector(selector, field, text) if separator else Live()
    )


def _parse_selector(selector: str, field: str, text: str) -> Selector:
    if selector == "live":
        return Live()
    if selector == "latest":
        return Latest()
    if selector.isascii() and selector.isdigit():
        return Numbered(_parse_number(selector, field, text))
    if TAG.match(selector) and len(selector) <= _MAX_TAG:
        return Tagged(selector)
    raise _malformed(
        field, text, "after @ stands a version number, latest, live or a tag of 1 to 64 characters"
    )


def _parse_number(selector: str, field: str, text: str) -> int:
    if not _NUMBER.match(selector) or len(selector) > MAX_VERSION_DIGITS:
        raise _malformed(
            field,
            text,
            f"a version is a number from 1, without leading zeros, of up to {MAX_VERSION_DIGITS} digits",
        )
    return int(selector)


def _malformed(field: str, text: str, rule: str) -> ServiceError:
    shown = text if len(text) <= 200 else text[:200] + "…"
    return ServiceError(400, f"Invalid {field} {shown!r}: {rule}.")
