"""A golden case: a document with its payload, and the findings written in it above their lines.

`cases/name.xml` is the document, or the template when one of these is next to it:
`name.json`, `name.csv`, `name.md` (for the flow `body`), `name.notes.md` (for the flow `notes`),
`name.payload.xml`. The pages are compared with `refs/name.txt`.
Templates that a case extends or imports from are `templates/NAME.xml`.

A finding is expected by a comment on the line above the element's first line:
`<!-- error [unknown-attribute] part of the message -->`. `(no place)` in front of the message is
for a finding that has none.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from workers.engine.diagnostics import Diagnostic
from workers.engine.local_files import FolderResources, LinkedFiles
from workers.engine.ports import FontFile, Payload, PayloadKind, RenderOptions

FOLDER = Path(__file__).parent
LINKED = LinkedFiles(FOLDER / "templates")
OPTIONS = RenderOptions(
    now=datetime(2026, 3, 2, 9, 30, tzinfo=UTC),
    template_id="golden",
    template_version=1,
    template_sha256="0" * 64,
)
EXPECTATION = re.compile(
    r"<!--\s*(error|warning)\s+\[([a-z0-9-]+)\]\s*(\(no place\))?\s*(.*?)\s*-->"
)
NO_PLACE = 0


@dataclass(frozen=True, slots=True)
class Expected:
    """A finding a case expects; `line` is 0 for one without a place."""

    severity: str
    code: str
    line: int
    message: str

    def matches(self, diagnostic: Diagnostic) -> bool:
        place = diagnostic.location
        return (
            diagnostic.severity == self.severity
            and diagnostic.code == self.code
            and (place.in_own_text.span.line_start if place else NO_PLACE) == self.line
            and self.message in diagnostic.text
        )


@dataclass(frozen=True, slots=True)
class Case:
    """One document of the folder."""

    name: str

    @property
    def source(self) -> bytes:
        return (FOLDER / "cases" / f"{self.name}.xml").read_bytes()

    @property
    def reference(self) -> Path:
        return FOLDER / "refs" / f"{self.name}.txt"

    @property
    def picture(self) -> Path:
        return FOLDER / "refs" / f"{self.name}.png"

    @property
    def payload(self) -> Payload | None:
        for suffix, kind, flow in (
            (".json", PayloadKind.JSON, None),
            (".csv", PayloadKind.CSV, None),
            (".md", PayloadKind.MARKDOWN, None),
            (".notes.md", PayloadKind.MARKDOWN, "notes"),
            (".payload.xml", PayloadKind.XML, None),
        ):
            path = FOLDER / "cases" / f"{self.name}{suffix}"
            if path.exists():
                return Payload(kind, path.read_bytes(), flow=flow)
        return None

    @property
    def expected(self) -> list[Expected]:
        """Read the expectations; each points at the next line that is not one itself."""
        lines = self.source.decode().splitlines()
        found = []
        for number, line in enumerate(lines, start=1):
            if match := EXPECTATION.search(line):
                severity, code, no_place, message = match.groups()
                at = NO_PLACE if no_place else self._next_line(lines, number)
                found.append(Expected(severity, code, at, message))
        return found

    @staticmethod
    def _next_line(lines: list[str], number: int) -> int:
        while number < len(lines) and EXPECTATION.search(lines[number]):
            number += 1
        return number + 1


class FolderImages:
    """The stored images and fonts of the cases: `images/name.*` and `fonts/name.*`."""

    def find_image(self, name: str) -> bytes | None:
        for path in (FOLDER / "images").glob(f"{name}.*"):
            return path.read_bytes()
        return None

    def find_remote_image(self, address: str) -> bytes | None:
        """Return the image that an address of the reserved host ends with, None for any other."""
        host = "https://images.example/"
        return self.find_image(Path(address).stem) if address.startswith(host) else None

    def find_font(self, name: str) -> FontFile | None:
        return FolderResources(None, FOLDER / "fonts").find_font(name)

    def list_fonts(self) -> Sequence[str]:
        return FolderResources(None, FOLDER / "fonts").list_fonts()


def find_cases() -> list[Case]:
    """Return every case, by name."""
    documents = (FOLDER / "cases").glob("*.xml")
    return [Case(path.stem) for path in sorted(documents) if not path.stem.endswith(".payload")]
