"""The problem of an image or bar code that cannot be drawn."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ContentProblem:
    """Why content cannot be drawn; layout adds the element. `code` is the stable code of the
    finding.

    `advice` is a remedy, where it depends on the cause.
    """

    code: str
    text: str
    advice: str = ""
