"""Output of a slice: concatenated PDFs, or one merged PDF."""

from __future__ import annotations

import tempfile
import zlib
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from io import BytesIO
from typing import BinaryIO, Final, cast

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
from workers.engine.ports import Payload, Rendered, RenderOptions
from workers.render.failures import summarise
from workers.render.resources import AccountSigner
from workers.render.run import RenderContext, StageTimer

_ENTRY_BYTES: Final = 200  # of a PDF in a ZIP, without its name
_SPOOL_BYTES: Final = 8 * MB  # larger parts are on disk


class Writer(ABC):
    """Renders documents one by one into the output of a slice; they share images and the timer of their stages."""

    size = 0  # of the output in bytes; known of merged PDFs after closing only

    def __init__(self, batch: Batch, context: RenderContext) -> None:
        self._batch = batch
        self._template = context.templates.get(batch.pinned)
        self._images = context.images.of_account(batch.account_id, batch.workspace_id)
        self._timer = StageTimer()
        self._observer = context.observer

    def add(self, index: int, document: bytes | InvalidRow) -> DocumentResult:
        """Render a document, and report its stages.

        Raises the exceptions of the engine, and `ServiceError` for an invalid row.
        """
        payload = to_payload(document)
        self._images.begin_document()
        self._timer.restart()
        result = self._add(index, payload)
        for stage, milliseconds in self._timer.restart().items():
            self._observer.observe(metrics.STAGE_SECONDS, milliseconds / 1000, stage)
        return result

    @abstractmethod
    def _add(self, index: int, payload: Payload) -> DocumentResult: ...

    @abstractmethod
    def close(self) -> tuple[BinaryIO, int] | None:
        """Return the output and its size in bytes, None if it is empty."""

    def complete(self, ended: Sequence[DocumentResult]) -> Sequence[DocumentResult]:
        """Return the results of the documents of a closed output."""
        return ended

    def discard(self) -> None:  # noqa: B027 - merged PDFs are in memory
        """Discard the output."""


def open_writer(batch: Batch, context: RenderContext) -> Writer:
    """Return the writer for the output format of a batch.

    Raises:
        Unavailable: the database is unavailable.
    """
    return (FileWriter if batch.has_own_pdfs else MergedPartWriter)(batch, context)


class FileWriter(Writer):
    """Writes separate PDFs, concatenated in one file."""

    def __init__(self, batch: Batch, context: RenderContext) -> None:
        super().__init__(batch, context)
        self._engine = context.engine
        signer = AccountSigner(context.signer, batch.account_id)
        self._options = replace(make_options(batch), signer=signer)
        self._file = tempfile.SpooledTemporaryFile(max_size=_SPOOL_BYTES)  # noqa: SIM115 - closed after it is stored

    def _add(self, index: int, payload: Payload) -> DocumentResult:
        pdf, result = self._render(index, payload)
        self._timer.stop()
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

    def _render(self, index: int, payload: Payload) -> tuple[bytes, DocumentResult]:
        plan, images, timer = self._batch.plan, self._images, self._timer
        if plan is not None and plan.has_sheets:
            part = MergedPart(
                self._template, options=self._options, resources=images, observer=timer.enter
            )
            added = part.add(payload, name=f"Document {index + 1}")
            return part.close() or b"", _describe(plan, index, payload, added)
        rendered = self._engine.render(
            self._template, payload, options=self._options, resources=images, observer=timer.enter
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
        if not self.size:
            self.discard()
            return None
        self._file.seek(0)
        return cast("BinaryIO", self._file), self.size

    def discard(self) -> None:
        """Discard the output."""
        self._file.close()


class MergedPartWriter(Writer):
    """Writes one PDF of all documents, with each font and image once."""

    def __init__(self, batch: Batch, context: RenderContext, *, what: str = "Document") -> None:
        super().__init__(batch, context)
        self._what = what
        self._part = MergedPart(
            self._template,
            options=make_options(batch),
            resources=self._images,
            observer=self._timer.enter,
        )
        self._pages: list[int] = []
        self._sizes: list[dict[str, int]] = []

    def _add(self, index: int, payload: Payload) -> DocumentResult:
        added = self._part.add(payload, name=f"{self._what} {index + 1}")
        self._pages.append(added.pages)
        return _describe(self._batch.plan, index, payload, added)

    def close(self) -> tuple[BinaryIO, int] | None:
        """Return the PDF; see `Writer.close`."""
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
