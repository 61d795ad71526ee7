"""Merged PDFs of many documents: parts with some documents each, and the file that joins them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from io import BytesIO
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple

import pikepdf
from msgspec import structs

from workers.engine import ports
from workers.engine.diagnostics import AuthoringError, Diagnostic, Findings, Severity
from workers.engine.finish import merging
from workers.engine.finish.merging import Placement, distribute_parts
from workers.engine.layout.output_intents import load_output_intent
from workers.engine.layout.pages.paper import find_zone, write_marks
from workers.engine.paint.writer import MergedWriter
from workers.engine.pipeline import PreparedTemplate, build_document, lay_out_document, rendering
from workers.engine.tree.document import Document, SheetMarks
from workers.engine.tree.elements.pages import read_marks
from workers.engine.tree.page_values import count_sheets

__all__ = [
    "AddedDocument",
    "MergedPart",
    "SheetMarks",
    "find_zone",
    "join_parts",
    "measure_documents",
    "read_marks",
    "sort_parts",
    "write_marks",
]

_HIGHEST: Final = 999_999  # number of a sheet
# The word COPY as lines, so that it needs no font: moved to a place, twice as large as its coordinates.
_COPY: Final = (
    b"q 0.5 G 2 0 0 2 %.3f %.3f cm 4 6 m 0 6 l 0 0 l 4 0 l S 6 0 4 6 re S "
    b"12 0 m 12 6 l 16 6 l 16 3 l 12 3 l S 18 6 m 20 3 l 22 6 l S 20 3 m 20 0 l S Q\n"
)


@dataclass(frozen=True, slots=True)
class AddedDocument:
    """A laid-out document, which is in the part if it `was_included`.

    A blank back that ends a duplex document is none of its `pages`; it fills two pages of the file for
    each of its `sheets`. `media` is the paper of each page of the file. `title` is its entry in the
    outline: its title, else its file name, else the given name.
    """

    pages: int
    title: str
    filename: str | None
    warnings: tuple[Diagnostic, ...]
    was_included: bool
    warnings_left_out: int = 0
    sheets: int = 0
    media: tuple[str, ...] = ()


class MergedPart:
    """A PDF of documents of one template, which share fonts and images."""

    def __init__(
        self,
        template: PreparedTemplate | None,
        *,
        options: ports.RenderOptions,
        resources: ports.Resources | None = None,
        observer: ports.StageObserver = ports.ignore_stage,
    ) -> None:
        self._template = template
        self._options = options
        self._resources = resources or ports.Resources()
        self._observer = observer
        self._print = _Print()  # that of its first document
        self._volume: MergedWriter | None = None

    def add(
        self,
        payload: ports.Payload | None,
        *,
        name: str,
        accepts: Callable[[int], bool] = lambda _: True,
    ) -> AddedDocument:
        """Lay out a document, and add it to the part if `accepts` is true for its number of pages.

        `name` is the outline entry of a document without a title and file name.

        Raises:
            AuthoringError: the document, its data or its layout has errors, or it uses a feature
                of whole files; the part is unchanged.
        """
        with rendering():
            return self._add(payload, name, accepts)

    def close(self) -> bytes | None:
        """Return the PDF of the added documents, None without any. No document can be added afterwards."""
        if self._volume is None:
            return None
        self._observer(ports.Stage.FINISH)
        return self._volume.close()

    def _add(
        self, payload: ports.Payload | None, name: str, admit: Callable[[int], bool]
    ) -> AddedDocument:
        findings = Findings()
        self._observer(ports.Stage.MERGE)
        document, _ = build_document(
            self._template, payload, options=self._options, findings=findings
        )
        _check_mergeable(document, is_draft=self._options.is_draft)
        volume = self._open_volume(document, findings)
        self._observer(ports.Stage.LAYOUT)
        untagged = replace(document, is_tagged=False)
        drawn = lay_out_document(untagged, resources=self._resources, findings=findings)
        if self._options.is_duplex is not None:  # the plan adds backs where it arranges the files
            drawn = replace(drawn, pages=list(drawn.pages)[: drawn.page_count], added_pages=0)
        title = document.info.title or document.info.filename or name
        was_admitted = admit(drawn.page_count)
        if was_admitted:
            self._volume = volume
            volume.add(drawn, title=title)
        return AddedDocument(
            drawn.page_count,
            title,
            document.info.filename,
            findings.warnings,
            was_admitted,
            findings.left_out(Severity.WARNING),
            sheets=count_sheets(len(drawn.pages), is_duplex=document.is_duplex),
            media=tuple(page.media for page in drawn.pages),
        )

    def _open_volume(self, document: Document, findings: Findings) -> MergedWriter:
        """Return the file of the documents so far, which are all for one press, or none of them is.

        Raises:
            AuthoringError: the document is for another one.
        """
        asked = _Print(document.profiles.print, document.output_intent)
        if self._volume is None:
            self._print = asked
            intent = load_output_intent(document, self._resources, findings)
            part = replace(ports.PART, output_intent=intent, is_draft=self._options.is_draft)
            return MergedWriter(part)
        if asked != self._print:
            text = (
                "A document has another `profile` or `output-intent` than those it is merged with"
            )
            raise AuthoringError((Diagnostic(Severity.ERROR, "merged-archive", text),))
        return self._volume


class _Print(NamedTuple):
    profile: ports.PrintProfile | None = None
    output_intent: str | None = None


def join_parts(parts: Iterable[Path], out: BinaryIO, *, options: ports.RenderOptions) -> int:
    """Write the documents of all parts as one PDF and return its number of pages.

    Documents for print make a file of PDF/VT-1 (ISO 16612-2), in which each is a document part.

    Raises:
        ValueError: there is no part.
    """
    metadata = ports.Metadata(options=options)
    [count] = distribute_parts(((part, None) for part in parts), [out], metadata)
    return count


def sort_parts(
    parts: Iterable[tuple[Path, Sequence[Placement]]],
    outs: Sequence[BinaryIO],
    *,
    options: ports.RenderOptions,
    is_duplex: bool,
    marks: SheetMarks | None = None,
    is_copy: bool = False,
) -> list[int]:
    """Write the documents of all parts in another order, to one or more files; see `distribute_parts`.

    Return the number of pages of each file. `marks` are drawn with the place of each sheet in the run; each
    page of a copy says that it is one. Covers have no marks.
    """
    draw = _make_drawer(marks, is_duplex=is_duplex, is_copy=is_copy)
    metadata = ports.Metadata(options=options)
    return distribute_parts(parts, outs, metadata, is_duplex=is_duplex, draw_marks=draw)


def _make_drawer(
    marks: SheetMarks | None, *, is_duplex: bool, is_copy: bool = False
) -> merging.DrawMarks:
    pages_of_sheet = 2 if is_duplex else 1

    def draw(placement: Placement, page: int, width: float, height: float) -> bytes:
        drawn = _COPY % (width - 60, height - 24) if is_copy else b""
        sheet, is_back = divmod(page - 1, pages_of_sheet)
        if marks is not None and not is_back and not placement.is_cover:
            drawn += write_marks(
                marks,
                number=placement.number,
                sequence=placement.first_sheet,
                sheet=placement.sheets_before + sheet + 1,
                sheets=placement.sheets,
                feeders=placement.feeders,
                page_height=height,
            )
        return drawn

    return draw


def measure_documents(
    part: bytes, pages: Sequence[int], *, is_duplex: bool, marks: SheetMarks | None
) -> list[dict[str, int]]:
    """Return what each document of a part, of so many pages, adds to a file that `sort_parts` writes at most; see
    `finish.merging.measure_documents`.
    """
    draw = _make_drawer(marks, is_duplex=is_duplex)

    def draw_longest(placement: Placement, page: int, width: float, height: float) -> bytes:
        drawn = draw(placement, page, width, height)
        return drawn + b" " * (len(drawn) // 4)  # other numbers may need more

    last = Placement(0, 1, 0, _HIGHEST, _HIGHEST, feeders=(1, 2, 3, 4))
    placements = [structs.replace(last, pages=each, sheets=each) for each in pages]
    with pikepdf.open(BytesIO(part)) as opened:
        return merging.measure_documents(
            opened, placements, is_duplex=is_duplex, draw_marks=draw_longest
        )


def _check_mergeable(document: Document, *, is_draft: bool) -> None:
    """Reject features of whole files, such as passwords, which merging would silently drop."""
    if document.security is not None and not is_draft:
        text = (
            "A document with security cannot be merged with others, which would share its "
            "passwords: request output=zip or files"
        )
        raise AuthoringError((Diagnostic(Severity.ERROR, "merged-security", text),))
    feature = _find_unmergeable(document)
    if feature:
        text = (
            f"A document {feature} cannot be merged with others, which would lose that: request "
            "output=zip or files"
        )
        raise AuthoringError((Diagnostic(Severity.ERROR, "merged-archive", text),))


def _find_unmergeable(document: Document) -> str:
    """Return the feature of a document that only a separate file can have, empty for none."""
    if document.signature is not None:
        return "with `sign`"
    if any(document.profiles._replace(print=None)):
        return f'of profile="{document.profiles}"'
    if document.requires_tags:
        return 'with tagged="true"'
    if document.has_form_fields:
        return "with form fields"
    return "with attachments" if document.attachments else ""
