"""The template reference grammar: `<identifier>` or `<identifier>@<selector>`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from shared.errors import ServiceError
from shared.identifiers import NAME_PATTERN

TAG_PATTERN: Final = f"(?![0-9]+$)(?!(?:live|latest)$){NAME_PATTERN}"
REFERENCE_PATTERN: Final = (
    "^(?!__.*__(@|$))(?!.*@.{65})[A-Za-z0-9_-]{1,128}"
    f"(@(live|latest|[1-9][0-9]{{0,15}}|{TAG_PATTERN}))?$"
)

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
    if not re.fullmatch(REFERENCE_PATTERN, text):
        shown = text if len(text) <= 200 else text[:200] + "…"
        raise ServiceError(
            400,
            f"Invalid {field} {shown!r}: accepted are an id or a slug of 1 to 128 letters, digits, hyphens and "
            "underscores, not between double underscores, alone or with @live, @latest, @ and a version, or @ and a "
            "tag of 1 to 64 characters.",
        )
    identifier, _, selector = text.partition("@")
    # `LIVE` and `LATEST` have the shape of tags, and are none.
    return TemplateReference(
        identifier, int(selector) if selector.isdecimal() else selector or LIVE
    )
