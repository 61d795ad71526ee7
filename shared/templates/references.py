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


LIVE: Final = "live"  # the current, editable content of the template
LATEST: Final = "latest"  # the newest published version


@dataclass(frozen=True, slots=True)
class TemplateReference:
    """A template, by id or slug, and what is selected of it: `LIVE`, `LATEST`, or a version's number or tag."""

    identifier: str
    selector: int | str = LIVE

    def __str__(self) -> str:
        return self.identifier if self.selector == LIVE else f"{self.identifier}@{self.selector}"


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
    selected = _parse_selector(selector, field, text) if separator else LIVE
    return TemplateReference(identifier, selected)


def _parse_selector(selector: str, field: str, text: str) -> int | str:
    if selector.isascii() and selector.isdigit():
        return _parse_number(selector, field, text)
    if TAG.match(selector) and len(selector) <= _MAX_TAG:
        return selector  # `LIVE` and `LATEST` have the shape of tags, and are none
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
