"""Diagnostics of the author's document: severity, location and message; collected, not raised singly."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

MAX_LAYOUT_ERRORS: Final = 20  # layout reports up to 20 errors
MAX_LISTED: Final = 200  # of each severity: bounds the response to a hostile document
MAX_COUNTED: Final = 10_000  # of each severity beyond those listed


class Severity(StrEnum):
    """Severities: errors prevent rendering, warnings do not."""

    ERROR = "error"
    WARNING = "warning"


class Origin(StrEnum):
    """The text of a request that an element comes from."""

    TEMPLATE = "template"
    PAYLOAD = "payload"


@dataclass(frozen=True, slots=True)
class SourceSpan:
    """A range in the text as sent: lines and columns in characters, from 1, with an exclusive end."""

    line_start: int
    column_start: int
    line_end: int
    column_end: int


@dataclass(frozen=True, slots=True)
class Linkage:
    """The link through which a text belongs to a document: the reference of the linked template, and
    the location of the `extends` or `import` that names it.
    """

    reference: str
    location: SourceLocation


@dataclass(frozen=True, slots=True)
class SourceLocation:
    """The location of an element in the text. `origin` is None for a request without a template.

    In a linked template `linkage` says which; its spans are those of another text than the client's.
    """

    tag_name: str
    span: SourceSpan
    origin: Origin | None = None
    linkage: Linkage | None = None

    @property
    def in_own_text(self) -> SourceLocation:
        """The location in the client's text: of a linked template, that of the link."""
        location = self
        while location.linkage is not None:
            location = location.linkage.location
        return location

    def to_source(self) -> dict[str, object]:
        """Return the `source` object of a finding."""
        if self.linkage is not None:
            return self.in_own_text.to_source()
        source: dict[str, object] = {"tagName": self.tag_name}
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
    """A finding. `chain` has the locations of the elements concerned, innermost first.

    `code` is the stable name of the rule (`unknown-attribute`), shown in brackets after the message.
    """

    severity: Severity
    code: str
    message: str
    chain: tuple[SourceLocation, ...] = ()

    @property
    def location(self) -> SourceLocation | None:
        """The location of the innermost element, None for a finding without one."""
        return self.chain[0] if self.chain else None

    @property
    def text(self) -> str:
        """The message for clients, with the code in brackets."""
        return f"{self.located_message} [{self.code}]"

    @property
    def located_message(self) -> str:
        """The message, with the template and line of a finding in a linked template."""
        location = self.location
        if location is None or location.linkage is None:
            return self.message
        line, reference = location.span.line_start, location.linkage.reference
        return f'{self.message} (in line {line} of the template "{reference}")'

    def to_finding(self) -> dict[str, object]:
        """Return the finding object of POST /v2/validate."""
        finding: dict[str, object] = {"message": self.text}
        if self.location is not None:
            finding["source"] = self.location.to_source()
        return finding


class Findings:
    """The diagnostics of one run, in order, without duplicates.

    Lists the first `MAX_LISTED` errors and the first `MAX_LISTED` warnings, and counts the others.
    """

    def __init__(self) -> None:
        self._listed: dict[Diagnostic, None] = {}
        self._remaining = dict.fromkeys(Severity, MAX_LISTED)
        self._left_out: dict[Severity, set[int]] = {severity: set() for severity in Severity}
        self.report_count = 0  # calls of `add`: results that reported must not be cached
        # The location of the `use` whose part is being built, and its name in messages.
        self.part_context: tuple[SourceLocation, str] | None = None

    def add_all(self, diagnostics: Iterable[Diagnostic]) -> None:
        """Add diagnostics, such as those of an error."""
        for diagnostic in diagnostics:
            self.add(diagnostic)

    def add(self, diagnostic: Diagnostic) -> None:
        """Add a diagnostic to the list, or to the count once the list of its severity is full."""
        self.report_count += 1
        if diagnostic in self._listed:
            return
        severity = diagnostic.severity
        if self._remaining[severity]:
            self._remaining[severity] -= 1
            self._listed[diagnostic] = None
        else:
            self._count_unlisted(severity, hash(diagnostic))

    def error(self, code: str, message: str, *chain: SourceLocation | None) -> None:
        """Add an error at the first location of `chain`; None is for an unknown one."""
        self._add_finding(Severity.ERROR, code, message, chain)

    def warn(self, code: str, message: str, *chain: SourceLocation | None) -> None:
        """Add a warning at the first location of `chain`."""
        self._add_finding(Severity.WARNING, code, message, chain)

    def _add_finding(
        self, severity: Severity, code: str, message: str, chain: tuple[SourceLocation | None, ...]
    ) -> None:
        if self.part_context is not None:
            location, name = self.part_context
            chain = (*chain, location)
            if name not in message:
                message = f"{message} ({name})"
        self.add(Diagnostic(severity, code, message, tuple(filter(None, chain))))

    def extend(
        self, other: Findings, change: Callable[[Diagnostic], Diagnostic] | None = None
    ) -> None:
        """Add the diagnostics of another run, each mapped by `change`."""
        for diagnostic in other:
            self.add(diagnostic if change is None else change(diagnostic))
        for severity, hashes in other._left_out.items():
            if hashes:
                known = {hash(diagnostic) for diagnostic in self._listed}
                for key in hashes - known:
                    self._count_unlisted(severity, key)

    def __iter__(self) -> Iterator[Diagnostic]:
        return iter(self._listed)

    @property
    def errors(self) -> tuple[Diagnostic, ...]:
        """The listed errors in order."""
        return tuple(d for d in self._listed if d.severity is Severity.ERROR)

    @property
    def warnings(self) -> tuple[Diagnostic, ...]:
        """The listed warnings in order."""
        return tuple(d for d in self._listed if d.severity is Severity.WARNING)

    @property
    def error_count(self) -> int:
        """The number of errors, including those not listed."""
        return MAX_LISTED - self._remaining[Severity.ERROR] + self.left_out(Severity.ERROR)

    @property
    def has_room_for_errors(self) -> bool:
        """Whether the next error will be listed; otherwise its message need not be built."""
        return self._remaining[Severity.ERROR] > 0

    def left_out(self, severity: Severity) -> int:
        """Return the number of unlisted findings of a severity, at most `MAX_COUNTED`."""
        return len(self._left_out[severity])

    def raise_errors(self) -> None:
        """Raise the errors found so far, if any.

        Raises:
            AuthoringError: there are errors.
        """
        if self.error_count:
            raise self.to_error()

    def to_error(self) -> AuthoringError:
        """Return the errors found so far, at least one, as an exception."""
        return AuthoringError(self.errors, left_out=self.left_out(Severity.ERROR))

    def to_report(self) -> dict[str, object]:
        """Return the response of POST /v2/validate, with `leftOut` only if a list is incomplete."""
        report: dict[str, object] = {
            "valid": not self.error_count,
            "errors": [diagnostic.to_finding() for diagnostic in self.errors],
            "warnings": [diagnostic.to_finding() for diagnostic in self.warnings],
        }
        left_out = {f"{severity.value}s": self.left_out(severity) for severity in Severity}
        return report | {"leftOut": left_out} if any(left_out.values()) else report

    def _count_unlisted(self, severity: Severity, key: int) -> None:
        """Count a diagnostic by its hash, which ignores duplicates."""
        hashes = self._left_out[severity]
        if len(hashes) < MAX_COUNTED:
            hashes.add(key)


class AuthoringError(Exception):
    """The document has errors.

    `diagnostics` has the listed errors, at least one; `left_out` is the number of others.
    """

    def __init__(self, diagnostics: tuple[Diagnostic, ...], *, left_out: int = 0) -> None:
        super().__init__(diagnostics[0].text)
        self.diagnostics = diagnostics
        self.left_out = left_out

    def to_stack_trace(self) -> tuple[Mapping[str, object], ...]:
        """Return the `stackTrace` of an error body: error by error, innermost element first.

        The first entry of each error has its message. Errors without a location are omitted.
        """
        entries: list[Mapping[str, object]] = []
        for diagnostic in self.diagnostics[:MAX_LAYOUT_ERRORS]:
            for depth, location in enumerate(diagnostic.chain):
                entry = location.to_source()
                entries.append(entry | {"message": diagnostic.text} if depth == 0 else entry)
        return tuple(entries)


def format_count(number: int, noun: str) -> str:
    """Return a number with its noun: 1 row, 2 rows."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
