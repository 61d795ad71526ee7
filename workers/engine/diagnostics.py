"""Findings about the author's document: severity, place, message; collected, never thrown one by one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

MAX_LAYOUT_ERRORS: Final = 20  # language.md 1.9: layout notes up to 20 errors
MAX_LISTED: Final = 200  # of each severity: a hostile document must not buy an unbounded answer
MAX_COUNTED: Final = 10_000  # of each severity beyond those listed


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
    """The diagnostics of one run, in order, without repeats.

    The first `MAX_LISTED` errors and as many warnings are kept; of the others only the number, so
    that warnings never displace an error.
    """

    def __init__(self) -> None:
        self._listed: dict[Diagnostic, None] = {}
        self._room = dict.fromkeys(Severity, MAX_LISTED)
        self._left_out: dict[Severity, set[int]] = {severity: set() for severity in Severity}
        self.reports = 0  # calls of `add`: what made one must be made again for the next document

    def add(self, diagnostic: Diagnostic) -> None:
        """Keep a diagnostic, or count it where the list of its severity is full."""
        self.reports += 1
        if diagnostic in self._listed:
            return
        severity = diagnostic.severity
        if self._room[severity]:
            self._room[severity] -= 1
            self._listed[diagnostic] = None
        else:
            self._count(severity, hash(diagnostic))

    def error(self, code: str, message: str, *chain: Place) -> None:
        """Add an error at the innermost of `chain`."""
        self.add(Diagnostic(Severity.ERROR, code, message, chain))

    def warn(self, code: str, message: str, *chain: Place) -> None:
        """Add a warning at the innermost of `chain`."""
        self.add(Diagnostic(Severity.WARNING, code, message, chain))

    def extend(
        self, other: Findings, change: Callable[[Diagnostic], Diagnostic] | None = None
    ) -> None:
        """Add all of another run's diagnostics, each as `change` returns it."""
        for diagnostic in other:
            self.add(diagnostic if change is None else change(diagnostic))
        for severity, hashes in other._left_out.items():
            if hashes:
                known = {hash(diagnostic) for diagnostic in self._listed}
                for key in hashes - known:
                    self._count(severity, key)

    def __iter__(self) -> Iterator[Diagnostic]:
        return iter(self._listed)

    @property
    def errors(self) -> tuple[Diagnostic, ...]:
        """The errors that are listed, in the order they were found; empty only without any."""
        return tuple(d for d in self._listed if d.severity is Severity.ERROR)

    @property
    def warnings(self) -> tuple[Diagnostic, ...]:
        """The warnings that are listed, in the order they were found."""
        return tuple(d for d in self._listed if d.severity is Severity.WARNING)

    @property
    def error_count(self) -> int:
        """The number of errors, those left out included."""
        return MAX_LISTED - self._room[Severity.ERROR] + self.left_out(Severity.ERROR)

    @property
    def lists_errors(self) -> bool:
        """True while another error would be listed; afterwards its message is not needed."""
        return self._room[Severity.ERROR] > 0

    def left_out(self, severity: Severity) -> int:
        """Return the number of findings that are not listed, at most `MAX_COUNTED`."""
        return len(self._left_out[severity])

    def raise_errors(self) -> None:
        """Stop when anything found so far prevents rendering.

        Raises:
            AuthoringError: with every error found so far.
        """
        if self.error_count:
            raise self.to_error()

    def to_error(self) -> AuthoringError:
        """Return the errors found so far as an exception; there must be one."""
        return AuthoringError(self.errors, left_out=self.left_out(Severity.ERROR))

    def to_report(self) -> dict[str, Any]:
        """Write the answer of POST /v2/validate; `leftOut` only where a list is not complete."""
        report: dict[str, Any] = {
            "valid": not self.error_count,
            "errors": [diagnostic.to_finding() for diagnostic in self.errors],
            "warnings": [diagnostic.to_finding() for diagnostic in self.warnings],
        }
        left_out = {f"{severity.value}s": self.left_out(severity) for severity in Severity}
        return report | {"leftOut": left_out} if any(left_out.values()) else report

    def _count(self, severity: Severity, key: int) -> None:
        """Count a diagnostic by its hash, so that one found again is not counted again."""
        hashes = self._left_out[severity]
        if len(hashes) < MAX_COUNTED:
            hashes.add(key)


class AuthoringError(Exception):
    """The document cannot be rendered as written.

    `diagnostics` has the errors that are listed (at least one), `left_out` the number of others.
    """

    def __init__(self, diagnostics: tuple[Diagnostic, ...], *, left_out: int = 0) -> None:
        super().__init__(diagnostics[0].text)
        self.diagnostics = diagnostics
        self.left_out = left_out

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
