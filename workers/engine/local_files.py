"""Documents in files, for commands: their inputs, and excerpts of their findings."""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Final, TextIO

from workers.engine.diagnostics import (
    AuthoringError,
    Diagnostic,
    Findings,
    Origin,
    Severity,
    SourceLocation,
    format_count,
)
from workers.engine.layout.output_intents import SUFFIXES as PROFILE_SUFFIXES
from workers.engine.layout.pictures import SUFFIXES
from workers.engine.pipeline import PreparedTemplate, prepare_template, render
from workers.engine.ports import FontFile, Payload, PayloadKind, Rendered, RenderOptions, Resources

_MAX_WIDTH: Final = 98  # of an excerpt without its ellipses, in terminal columns
_MAX_MARKED: Final = 60
_MAX_BEFORE: Final = 40  # the mark, where the line is longer than an excerpt
_REACH: Final = 400  # characters beside the mark that are read of a line, however long it is
_TAB: Final = "    "

# Escape sequences and bidirectional controls must not reach the terminal.
_UNPRINTABLE: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")


def _cut_excerpt(line: str, start: int, end: int) -> tuple[str, int, int]:
    """Return an excerpt of a line, and the first column and width of its marked range."""
    marked = _fit(line[start : min(end, start + _REACH)], _MAX_MARKED)
    room = _MAX_WIDTH - _width(marked)
    most = room if len(line) <= _MAX_WIDTH else min(room, _MAX_BEFORE)
    before = _fit(line[max(start - _REACH, 0) : start][::-1], most)[::-1]
    until = start + len(marked)
    after = _fit(line[until : until + _REACH], room - _width(before))
    left = "…" if len(before) < start else ""
    right = "…" if until + len(after) < len(line) else ""
    shown = "".join((left, *before, *marked, *after, right))
    return shown, len(left) + _width(before), max(_width(marked), 1)


def _fit(text: str, room: int) -> list[str]:
    """Return the first characters of a text that fit in a number of columns, as they are shown."""
    shown: list[str] = []
    for char in text:
        cell = _TAB if char == "\t" else _UNPRINTABLE.sub("·", char)
        room -= _width(cell)
        if room < 0:
            break
        shown.append(cell)
    return shown


def _width(cells: Iterable[str]) -> int:
    """Return the width in columns: two for East Asian wide characters, none for marks."""
    return sum(_width_of(char) for cell in cells for char in cell)


def _width_of(char: str) -> int:
    if unicodedata.combining(char) or unicodedata.category(char) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


_TEMPLATE_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,128}")
_LINKS: Final = re.compile(rb"<document\b[^>]*\bextends\s*=|<import\b")
_IMAGE_NAME: Final = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_FONT_SUFFIXES: Final = (".ttf", ".otf", ".ttc", ".otc", ".woff", ".woff2")
_DATA_KINDS: Final = {".json": PayloadKind.JSON, ".csv": PayloadKind.CSV}


class InputError(Exception):
    """The given files cannot be combined or read; the message has the reason."""


@dataclass(frozen=True, slots=True)
class FolderResources(Resources):
    """Stored images and fonts as files in two folders.

    Image NAME is NAME with a suffix of `images.formats`, such as NAME.png, font NAME is NAME.ttf, .otf, .ttc, .otc,
    .woff or .woff2.
    """

    folder: Path | None
    fonts: Path | None = None

    def find_image(self, name: str) -> bytes | None:
        """Return the bytes of an image, None for an unknown or invalid name."""
        if self.folder is None or not _IMAGE_NAME.fullmatch(name):
            return None
        return _read_first(
            self.folder / f"{name}{suffix}" for suffix in (*SUFFIXES, *PROFILE_SUFFIXES)
        )

    def find_font(self, name: str) -> FontFile | None:
        """Return a font, None for an unknown or invalid name."""
        if self.fonts is None or not _IMAGE_NAME.fullmatch(name):
            return None
        data = _read_first(self.fonts / f"{name}{suffix}" for suffix in _FONT_SUFFIXES)
        return None if data is None else FontFile(sha256(data).hexdigest(), lambda: data)

    def list_fonts(self) -> Sequence[str]:
        """Return the names of the fonts in the folder."""
        if self.fonts is None:
            return ()
        files = (file for file in self.fonts.iterdir() if file.suffix in _FONT_SUFFIXES)
        return sorted({file.stem for file in files})


def _read_first(files: Iterable[Path]) -> bytes | None:
    return next((file.read_bytes() for file in files if file.is_file()), None)


class LinkedFiles(Mapping[str, bytes]):
    """The templates of a folder by reference: NAME.xml for NAME with any selector."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def __getitem__(self, reference: str) -> bytes:
        name = reference.partition("@")[0]
        file = self._folder / f"{name}.xml"
        if not _TEMPLATE_NAME.fullmatch(name) or not file.is_file():
            raise KeyError(reference)
        return file.read_bytes()

    def __iter__(self) -> Iterator[str]:
        return (f"{file.stem}@live" for file in sorted(self._folder.glob("*.xml")))

    def __len__(self) -> int:
        return sum(1 for _ in self)


@dataclass(frozen=True, slots=True)
class Inputs:
    """The inputs of a render, and their source texts by origin, for findings."""

    template: PreparedTemplate | None
    payload: Payload | None
    resources: FolderResources
    texts: Mapping[Origin | None, tuple[Path, bytes]]


def load_inputs(
    *,
    document: Path | None,
    template: Path | None = None,
    data: Path | None = None,
    markdown: Path | None = None,
    flow: str | None = None,
    resources: FolderResources,
    templates: Path | None = None,
) -> Inputs:
    """Read the files of one run.

    A document alone is complete; with data or Markdown it is the template; with a template it is the
    XML payload. A document that extends or imports templates is one itself; they are in the folder
    `templates`, or in its own.

    Raises:
        InputError: the files cannot be combined, or one cannot be read.
    """
    if flow is not None and markdown is None:
        raise InputError(f"--flow {flow} requires --markdown")
    for option, folder in zip(
        ("images", "fonts", "templates"),
        (resources.folder, resources.fonts, templates),
        strict=True,
    ):
        if folder is not None and not folder.is_dir():
            raise InputError(f"--{option} {folder} is not a folder")
    payloads = [file for file in (data, markdown) if file is not None]
    if template is None and (payloads or (document is not None and _LINKS.search(_read(document)))):
        template = document
    elif document is not None:
        payloads.append(document)
    if template is None and not payloads:
        raise InputError("name a document, or a template with --template")
    if len(payloads) > 1:
        raise InputError(f"only one of {', '.join(map(str, payloads))} can be the payload")
    texts: dict[Origin | None, tuple[Path, bytes]] = {}
    prepared = payload = None
    if template is not None:
        texts[Origin.TEMPLATE] = (template, _read(template))
        linked = LinkedFiles(templates or template.parent)
        prepared = prepare_template(texts[Origin.TEMPLATE][1], linked)
    if payloads:
        body = _read(payloads[0])
        texts[Origin.PAYLOAD if template else None] = (payloads[0], body)
        payload = Payload(_kind_of(payloads[0], data, markdown), body, flow=flow)
    return Inputs(prepared, payload, resources, texts)


def print_findings(findings: Iterable[Diagnostic], inputs: Inputs, to: TextIO) -> None:
    """Print each finding as `file:line:column: error: message`, with its source line and a caret."""
    for finding in findings:
        location = finding.location
        if location is None or location.origin not in inputs.texts:
            print(f"{finding.severity.value}: {finding.text}", file=to)
            continue
        location = location.in_own_text
        path, body = inputs.texts[location.origin]
        where = f"{path}:{location.span.line_start}:{location.span.column_start}"
        print(f"{where}: {finding.severity.value}: {finding.text}", file=to)
        for line in _excerpt(body, location):
            print(line, file=to)


def render_inputs(inputs: Inputs, options: RenderOptions) -> Rendered | None:
    """Render a document, and print its findings to the standard error; None if it has errors."""
    try:
        rendered = render(
            inputs.template, inputs.payload, options=options, resources=inputs.resources
        )
    except AuthoringError as error:
        _print_errors(error, inputs, sys.stderr)
        return None
    print_findings(rendered.warnings, inputs, sys.stderr)
    if rendered.warnings_left_out:
        left_out = format_count(rendered.warnings_left_out, "more warning")
        print(f"{left_out} not shown", file=sys.stderr)
    return rendered


def _print_errors(error: AuthoringError, inputs: Inputs, to: TextIO) -> None:
    """Print the errors of a document."""
    print_findings(error.diagnostics, inputs, to)
    if error.left_out:
        print(f"{format_count(error.left_out, 'more error')} not shown", file=to)


def summarize(findings: Findings) -> str:
    """Return the numbers of errors and warnings, and of those not shown."""
    return ", ".join(_describe_total(findings, severity) for severity in Severity)


def _describe_total(findings: Findings, severity: Severity) -> str:
    listed = sum(diagnostic.severity is severity for diagnostic in findings)
    left_out = findings.left_out(severity)
    total = format_count(listed + left_out, severity.value)
    return f"{total} ({left_out} not shown)" if left_out else total


def _kind_of(payload: Path, data: Path | None, markdown: Path | None) -> PayloadKind:
    if payload is markdown:
        return PayloadKind.MARKDOWN
    if payload is not data:
        return PayloadKind.XML
    kind = _DATA_KINDS.get(payload.suffix.lower())
    if kind is None:
        raise InputError(f"--data {payload} must be a .json or a .csv file")
    return kind


def _read(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise InputError(f"{file} cannot be read: {error.strerror}") from error


def _excerpt(body: bytes, location: SourceLocation) -> list[str]:
    span = location.span
    # XML lines end with line feeds; form feeds and similar characters do not end them.
    lines = body.decode("utf-8", "replace").replace("\r\n", "\n").split("\n")
    if not 1 <= span.line_start <= len(lines):
        return []
    line = lines[span.line_start - 1]
    start = min(span.column_start - 1, len(line))
    end = span.column_end - 1 if span.line_end == span.line_start else len(line)
    shown, before, marked = _cut_excerpt(line, start, min(end, len(line)))
    return [f"{span.line_start:5} | {shown}", f"      | {' ' * before}{'^' * marked}"]
