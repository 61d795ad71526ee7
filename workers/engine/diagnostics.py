"""Findings about the author's document: severity, place, message; collected, never thrown one by one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

MAX_LAYOUT_ERRORS: Final = 20  # language.md 1.9: layout notes up to 20 errors
MAX_FINDINGS: Final = 200  # a hostile document must not buy an unbounded answer


class Severity(StrEnum):
    """Errors prevent rendering, warnings do not (interface.md, POST /v2/validate)."""

    ERROR = "error"
    WARNING = "warning"


class Origin(StrEnum):
    """Which of the two texts of a request an element came from."""

    TEMPLATE = "template"
    PAYLOAD = "payload"


@dataclass(frozen=True, slots=True)
class Span:
    """An extent in the text as sent: lines and columns from 1, in characters, end exclusive."""

    line_start: int
    column_start: int
    line_end: int
    column_end: int


@dataclass(frozen=True, slots=True)
class Place:
    """An element of the text. `origin` is None when the request named no template."""

    tag_name: str
    span: Span
    origin: Origin | None = None

    def to_source(self) -> dict[str, Any]:
        """Write the place as a finding's `source` object (interface.md, Validation finding)."""
        source: dict[str, Any] = {"tagName": self.tag_name}
        if self.origin is not None:
            source["origin"] = self.origin.value
        source |= {
            "lineStart": self.span.line_start,
            "lineEnd": self.span.line_end,
            "columnStart": self.span.column_start,
            "columnEnd": self.span.column_end,
        }
        return source


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One finding. `chain` is the responsible elements, innermost first; its first is the place.

    `code` is a stable name of the rule (`unknown-attribute`), for tests and documentation;
    it closes the message in brackets when shown.
    """

    severity: Severity
    code: str
    message: str
    chain: tuple[Place, ...] = ()

    @property
    def place(self) -> Place | None:
        """Give the innermost element, or None when the finding has no position."""
        return self.chain[0] if self.chain else None

    @property
    def text(self) -> str:
        """Give the message as clients see it, with its rule in brackets."""
        return f"{self.message} [{self.code}]"

    def to_finding(self) -> dict[str, Any]:
        """Write the diagnostic as a finding of POST /v2/validate."""
        finding: dict[str, Any] = {"message": self.text}
        if self.place is not None:
            finding["source"] = self.place.to_source()
        return finding


class Findings:
    """The diagnostics of one run, in order, bounded, without repeats."""

    def __init__(self) -> None:
        self._all: dict[Diagnostic, None] = {}
        self.dropped = 0

    def add(self, diagnostic: Diagnostic) -> None:
        """Keep a diagnostic; past the bound only its number is kept."""
        if diagnostic in self._all:
            return
        if len(self._all) >= MAX_FINDINGS:
            self.dropped += 1
            return
        self._all[diagnostic] = None

    def error(self, code: str, message: str, *chain: Place) -> None:
        """Add an error at the innermost of `chain`."""
        self.add(Diagnostic(Severity.ERROR, code, message, chain))

    def warn(self, code: str, message: str, *chain: Place) -> None:
        """Add a warning at the innermost of `chain`."""
        self.add(Diagnostic(Severity.WARNING, code, message, chain))

    def extend(self, other: Findings) -> None:
        """Add all of another run's diagnostics."""
        for diagnostic in other:
            self.add(diagnostic)

    def __iter__(self) -> Iterator[Diagnostic]:
        return iter(self._all)

    @property
    def errors(self) -> tuple[Diagnostic, ...]:
        """Give the errors, in the order they were found."""
        return tuple(d for d in self._all if d.severity is Severity.ERROR)

    @property
    def warnings(self) -> tuple[Diagnostic, ...]:
        """Give the warnings, in the order they were found."""
        return tuple(d for d in self._all if d.severity is Severity.WARNING)

    def raise_errors(self) -> None:
        """Stop when anything found so far prevents rendering.

        Raises:
            AuthoringError: with every error found so far.
        """
        if self.errors:
            raise AuthoringError(self.errors)


class AuthoringError(Exception):
    """The document cannot be rendered as written; `diagnostics` has every error found (at least one)."""

    def __init__(self, diagnostics: tuple[Diagnostic, ...]) -> None:
        super().__init__(diagnostics[0].text)
        self.diagnostics = diagnostics

    def to_stack_trace(self) -> tuple[Mapping[str, Any], ...]:
        """Write the `stackTrace` of contract.md 5: error by error, innermost element first.

        The first entry of each error carries its message; an error without a position is left out.
        """
        entries: list[Mapping[str, Any]] = []
        for diagnostic in self.diagnostics[:MAX_LAYOUT_ERRORS]:
            for depth, place in enumerate(diagnostic.chain):
                entry = place.to_source()
                entries.append(entry | {"message": diagnostic.text} if depth == 0 else entry)
        return tuple(entries)


def counted(number: int, noun: str) -> str:
    """Write a number with its noun, for a message: 1 row, 2 rows."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
