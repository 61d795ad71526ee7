"""The template reference grammar: `<identifier>` or `<identifier>@<selector>`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from shared.errors import ServiceError
from shared.identifiers import TAG, TEMPLATE_ID

MAX_VERSION_DIGITS: Final = 16  # digits of a version in a path
_NUMBER: Final = re.compile(r"[1-9][0-9]*\Z")
_MAX_TAG: Final = 64


@dataclass(frozen=True, slots=True)
class LiveContent:
    """The current, editable content of the template."""


@dataclass(frozen=True, slots=True)
class LatestVersion:
    """The newest published version."""


@dataclass(frozen=True, slots=True)
class NumberedVersion:
    """A published version, by number."""

    version: int


@dataclass(frozen=True, slots=True)
class TaggedVersion:
    """The published version that a tag points at."""

    tag: str


Selector = LiveContent | LatestVersion | NumberedVersion | TaggedVersion


@dataclass(frozen=True, slots=True)
class TemplateReference:
    """A template, by id or slug, and a selector of its content; without a selector the live content."""

    identifier: str
    selector: Selector

    def __str__(self) -> str:
        match self.selector:
            case LiveContent():
                return self.identifier
            case LatestVersion():
                return f"{self.identifier}@latest"
            case NumberedVersion(version):
                return f"{self.identifier}@{version}"
            case TaggedVersion(tag):
                return f"{self.identifier}@{tag}"


def parse_reference(text: str, *, field: str) -> TemplateReference:
    """Parse a reference; `field` is the name of the client's parameter.

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
        identifier, _parse_selector(selector, field, text) if separator else LiveContent()
    )


def _parse_selector(selector: str, field: str, text: str) -> Selector:
    if selector == "live":
        return LiveContent()
    if selector == "latest":
        return LatestVersion()
    if selector.isascii() and selector.isdigit():
        return NumberedVersion(_parse_number(selector, field, text))
    if TAG.match(selector) and len(selector) <= _MAX_TAG:
        return TaggedVersion(selector)
    raise _malformed(
        field,
        text,
        "after @ a version number, latest, live or a tag of 1 to 64 characters is accepted",
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
