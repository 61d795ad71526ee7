"""Findings as a person reads them: place, message, the source line and a caret under it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from workers.engine.diagnostics import Diagnostic, Origin, Place


@dataclass(frozen=True, slots=True)
class SourceFiles:
    """The files a run was given, each with its bytes, so that places can be shown."""

    template: tuple[Path, bytes] | None
    payload: tuple[Path, bytes] | None

    def find(self, place: Place) -> tuple[Path, bytes] | None:
        """Give the file a place lies in."""
        if place.origin is Origin.TEMPLATE:
            return self.template
        if place.origin is Origin.PAYLOAD:
            return self.payload
        return self.payload or self.template


def show_findings(findings: Iterable[Diagnostic], sources: SourceFiles, *, to: TextIO) -> None:
    """Write each finding: `file:line:column: error: message`, then the line and where in it."""
    for finding in findings:
        file = sources.find(finding.place) if finding.place else None
        if finding.place is None or file is None:
            print(f"{finding.severity.value}: {finding.text}", file=to)
            continue
        path, body = file
        span = finding.place.span
        where = f"{path}:{span.line_start}:{span.column_start}"
        print(f"{where}: {finding.severity.value}: {finding.text}", file=to)
        for line in _excerpt(body, finding.place):
            print(line, file=to)


def _excerpt(body: bytes, place: Place) -> list[str]:
    span = place.span
    # XML ends lines with line feeds alone; form feeds and their kin are characters of a line.
    lines = body.decode("utf-8", "replace").replace("\r\n", "\n").split("\n")
    if not 1 <= span.line_start <= len(lines):
        return []
    text = lines[span.line_start - 1]
    start = min(span.column_start - 1, len(text))
    end = span.column_end - 1 if span.line_end == span.line_start else len(text)
    before = len(text[:start].expandtabs(4))
    marks = "^" * max(1, len(text[start:end]))
    gutter = f"{span.line_start:5} | "
    return [gutter + text.expandtabs(4), " " * (len(gutter) - 2) + "| " + " " * before + marks]
