"""What a check of an invoice finds, and what it was checked by."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

Severity = Literal["error", "warning"]

MAX_VIOLATIONS: Final = 50


@dataclass(frozen=True, slots=True)
class RuleViolation:
    """A violation of a rule: the rule's identifier, the path in the record, and the message."""

    rule: str
    path: str  # such as /lines/2/quantity
    message: str
    element: str = ""  # its XPath, where no path in the record leads to it
    severity: Severity = "error"


@dataclass(frozen=True, slots=True)
class PackEdition:
    """A rule pack by which an invoice was checked."""

    pack: str
    version: str
    date: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """The findings of rule packs; `note` says why some rules that the invoice must keep were not run."""

    findings: tuple[RuleViolation, ...] = ()
    checked_by: tuple[PackEdition, ...] = ()
    note: str = ""

    @property
    def is_valid(self) -> bool | None:
        """Whether the invoice keeps its rules, None if that is not known."""
        if any(one.severity == "error" for one in self.findings):
            return False
        return None if self.note else True
