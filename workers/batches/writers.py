"""Output of a slice: concatenated PDFs, or one merged PDF."""

from __future__ import annotations

import tempfile
import zlib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from io import BytesIO
from typing import BinaryIO, Final, Protocol, cast

from shared.batches.csv_rows import InvalidRow
from shared.batches.plans import (
    FILE_BYTES,
    OWN_BYTES,
    RESOURCES,
    Plan,
    PlanOutput,
    Value,
    read_values,
)
from shared.batches.records import Batch, DocumentResult, PdfLocation
from shared.clock import ticks
from shared.errors import ErrorKind, ServiceError
from shared.limits import MB
from shared.telemetry import metrics
from workers.batches.documents import to_payload
from workers.engine.merged_pdf import (
    AddedDocument,
    MergedPart,
    SheetMarks,
    find_zone,
    measure_documents,
    read_marks,
)
from workers.engine.ports import (
    FontFile,
    ImageUnavailableError,
    Payload,
    Rendered,
    RenderOptions,
    Resources,
    Stage,
)
from workers.render.failures import summarise
from workers.render.remote_images import RemoteLimitError
from workers.render.run import RenderContext

_ENTRY_BYTES: Final = 200  # of a PDF in a ZIP, without its name
_SPOOL_BYTES: Final = 8 * MB  # larger parts are on disk
_REMOTE_BYTES_KEPT: Final = 32 * MB  # of remote images, for the documents of a part


class Writer(Protocol):
    """Renders documents one by one into the output of a slice."""

    @property
    def size(self) -> int:
        """The number of bytes written; merged PDFs count at the end only."""

    def add(self, index: int, document: bytes | InvalidRow) -> DocumentResult:
        """Render a document.

        Raises the exceptions of the engine, and `ServiceError` for an invalid row.
        """

    def close(self) -> tuple[BinaryIO, int] | None:
        """Return the output and its size in bytes, None if it is empty."""

    def complete(self, ended: Sequence[DocumentResult]) -> Sequence[DocumentResult]:
        """Return the results of the documents of a closed output."""

    def discard(self) -> None:
        """Discard the output."""


def open_writer(batch: Batch, context: RenderContext) -> Writer:
    """Return the writer for the output format of a batch.

    Raises:
        Unavailable: the database is unavailable.
    """
    return (FileWriter if batch.has_own_pdfs else MergedPartWriter)(batch, context)


class FileWriter:
    """Writes separate PDFs, concatenated in one file."""

    def __init__(self, batch: Batch, context: RenderContext) -> None:
        self._batch = batch
        self._context = context
        self._template = context.templates.get(batch.pinned)
        signer = context.signers.of_account(batch.account_id)
        self._options = replace(make_options(batch), signer=signer)
        self._resources = _PartResources(context, batch)
        self._file = tempfile.SpooledTemporaryFile(max_size=_SPOOL_BYTES)  # noqa: SIM115 - closed after it is stored
        self.size = 0

    def add(self, index: int, document: bytes | InvalidRow) -> DocumentResult:
        """Render a document; see `Writer.add`."""
        payload = to_payload(document)
        self._resources.begin_document()
        pdf, result = self._render(index, payload)
        self._resources.end_document()
        place = PdfLocation(self.size, len(pdf), zlib.crc32(pdf))
        self._file.write(pdf)
        self.size += len(pdf)
        plan = self._batch.plan
        if plan is None or not plan.counts_bytes:
            return result.replace(place=place)
        most = len(pdf)
        if plan.has_sheets:
            [found] = _measure(plan, pdf, [result.pages])
            most = sum(found.values()) + FILE_BYTES
        own = {OWN_BYTES: most + _ENTRY_BYTES + 2 * len((result.filename or "").encode())}
        return result.replace(place=place, values={**(result.values or {}), **own})

    def complete(self, ended: Sequence[DocumentResult]) -> Sequence[DocumentResult]:
        """Return the results; see `Writer.complete`."""
        return ended

    def _render(self, index: int, payload: Payload) -> tuple[bytes, DocumentResult]:
        plan, resources = self._batch.plan, self._resources
        if plan is not None and plan.has_sheets:
            part = MergedPart(
                self._template, options=self._options, resources=resources, observer=resources
            )
            added = part.add(payload, name=f"Document {index + 1}")
            return part.close() or b"", _describe(plan, index, payload, added)
        rendered = self._context.engine.render(
            self._template, payload, options=self._options, resources=resources, observer=resources
        )
        if plan is not None and plan.output is PlanOutput.ARCHIVE and not rendered.is_archive:
            raise ServiceError(
                400,
                'The document claims no profile of PDF/A, which the archive of its plan takes: give its template profile="pdf/a-3b".',
                kind=ErrorKind.AUTHORING,
            )
        return rendered.pdf, _describe(plan, index, payload, rendered)

    def close(self) -> tuple[BinaryIO, int] | None:
        """Return the output; see `Writer.close`."""
        self._resources.report_stages(self._context)
        if not self.size:
            self.discard()
            return None
        self._file.seek(0)
        return cast("BinaryIO", self._file), self.size

    def discard(self) -> None:
        """Discard the output."""
        self._file.close()


class MergedPartWriter:
    """Writes one PDF of all documents, with each font and image once."""

    def __init__(self, batch: Batch, context: RenderContext, *, what: str = "Document") -> None:
        self._batch = batch
        self._context = context
        self._what = what
        self._surroundings = _PartResources(context, batch)
        self._part = MergedPart(
            context.templates.get(batch.pinned),
            options=make_options(batch),
            resources=self._surroundings,
            observer=self._surroundings,
        )
        self._pages: list[int] = []
        self._sizes: list[dict[str, int]] = []
        self.size = 0  # known after closing only

    def add(self, index: int, document: bytes | InvalidRow) -> DocumentResult:
        """Render a document into the PDF; see `Writer.add`."""
        payload = to_payload(document)
        self._surroundings.begin_document()
        added = self._part.add(payload, name=f"{self._what} {index + 1}")
        self._surroundings.end_document()
        self._pages.append(added.pages)
        return _describe(self._batch.plan, index, payload, added)

    def close(self) -> tuple[BinaryIO, int] | None:
        """Return the PDF; see `Writer.close`."""
        self._surroundings.report_stages(self._context)
        pdf, plan = self._part.close(), self._batch.plan
        if pdf and plan and plan.counts_bytes:
            self._sizes = _measure(plan, pdf, self._pages)
        return None if pdf is None else (BytesIO(pdf), len(pdf))

    def complete(self, ended: Sequence[DocumentResult]) -> Sequence[DocumentResult]:
        """Return the results with their sizes; see `Writer.complete`."""
        sizes = iter(self._sizes)
        return [
            each if each.error or not self._sizes else _add_size(each, next(sizes))
            for each in ended
        ]

    def discard(self) -> None:
        """Discard the output."""


def _measure(plan: Plan, pdf: bytes, pages: Sequence[int]) -> list[dict[str, int]]:
    marks = read_plan_marks(plan)
    return measure_documents(pdf, pages, is_duplex=plan.duplex, marks=marks)


def _add_size(result: DocumentResult, size: Mapping[str, int]) -> DocumentResult:
    shared = " ".join(f"{digest}:{each}" for digest, each in size.items() if digest)
    own: Mapping[str, Value] = {OWN_BYTES: size[""], RESOURCES: shared}
    return result.replace(values={**(result.values or {}), **own})


def _describe(
    plan: Plan | None, index: int, payload: Payload, made: AddedDocument | Rendered
) -> DocumentResult:
    """Return the result of a document, with the values that its plan needs."""
    warnings = summarise(made.warnings, left_out=made.warnings_left_out)
    result = DocumentResult(index, made.pages, made.filename, warnings=warnings)
    if plan is None:
        return result
    media = made.media if isinstance(made, AddedDocument) else ()
    values = {**read_values(plan.paths, payload.body), **plan.weigh_paper(media)}
    codes = (warning.code for warning in made.warnings)
    held = plan.find_hold(values, codes, left_out=made.warnings_left_out)
    return result.replace(values=values or None, held=held)


class _PartResources:
    """The engine's resources and stage observer for the documents of one part.

    Stored images are resolved once for all of them, which saves a round trip to Redis per document.
    URLs are requested once, even after a failure: a batch must not request a letterhead for each
    document. Limits of remote images apply per document.
    """

    def __init__(self, context: RenderContext, batch: Batch) -> None:
        self._images = context.images
        self._batch = batch
        self._stored: Resources = self._make_resources()
        self._fetched: dict[str, bytes | ImageUnavailableError | None] = {}
        self._bytes_left = _REMOTE_BYTES_KEPT
        self._seconds = defaultdict[Stage, list[float]](list)
        self.begin_document()

    def begin_document(self) -> None:
        self._remote: Resources | None = None
        self._entered: list[tuple[Stage, float]] = []

    def find_image(self, name: str) -> bytes | None:
        return self._stored.find_image(name)

    def find_remote_image(self, address: str) -> bytes | None:
        found = self._fetched[address] if address in self._fetched else self._fetch(address)
        if isinstance(found, ImageUnavailableError):
            raise found
        return found

    def find_font(self, name: str) -> FontFile | None:
        return self._stored.find_font(name)

    def list_fonts(self) -> Sequence[str]:
        return self._stored.list_fonts()

    def _fetch(self, address: str) -> bytes | ImageUnavailableError | None:
        self._remote = self._remote or self._make_resources()
        try:
            found = self._remote.find_remote_image(address)
        except RemoteLimitError:
            raise
        except ImageUnavailableError as error:
            self._fetched[address] = error
            return error
        if found is not None and len(found) <= self._bytes_left:
            self._bytes_left -= len(found)
            self._fetched[address] = found
        return found

    def _make_resources(self) -> Resources:
        return self._images.of_account(self._batch.account_id, self._batch.workspace_id)

    def enter(self, stage: Stage) -> None:
        self._entered.append((stage, ticks()))

    def end_document(self) -> None:
        """Store the durations of its stages; failed documents are not counted."""
        ended_at = ticks()
        for stage, entered_at in reversed(self._entered):
            self._seconds[stage].append(ended_at - entered_at)
            ended_at = entered_at

    def report_stages(self, context: RenderContext) -> None:
        """Report the durations of the stages of each document."""
        for stage, seconds in self._seconds.items():
            for each in seconds:
                context.observer.observe(metrics.STAGE_SECONDS, each, stage)
        self._seconds.clear()


def read_plan_marks(plan: Plan | None) -> SheetMarks | None:
    """Return the marks that a plan draws on fronts."""
    return None if plan is None or plan.marks is None else read_marks(plan.marks.attributes)


def make_options(batch: Batch) -> RenderOptions:
    """Return the options of a batch; `now` is the time of acceptance, not of this run."""
    marks = read_plan_marks(batch.plan)
    return RenderOptions(
        datetime.fromtimestamp(batch.created_at.timestamp(), UTC),
        is_draft=batch.is_draft,
        template_id=batch.pinned.template_id,
        template_version=batch.pinned.version,
        template_sha256=batch.pinned.sha256,
        built_on=batch.pinned.links,
        is_duplex=None if batch.plan is None else batch.plan.duplex,
        reserved_zones=[] if marks is None else [find_zone(marks)],
    )
