"""The routes under /v2/batches, and those under /v2/jobs for documents of batches."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Final

from flask import Response, request
from werkzeug.routing import BaseConverter

from api.auth.guard import current_principal
from api.batches.archive import Archive
from api.batches.representations import write_item, write_item_job
from api.batches.submission import accept_batch, read_batch_request
from api.http import read_choice, read_limit, read_wait, write_json, write_page
from api.jobs.accepting import mark_replayed
from api.jobs.inspection import Inspections
from api.jobs.reading import PDF
from api.long_poll import long_poll, stopping
from api.operations.model import (
    OperationResponse,
    Parameter,
    RequestBody,
    Routes,
    binary_content,
    current_query,
    date_time,
    delete,
    enum_of,
    get,
    json_response,
    post,
    string,
)
from api.operations.parameters import (
    ALLOWANCE_ERRORS,
    DELIVER,
    DRAFT,
    EXAMPLE_BATCH,
    FILE_ERRORS,
    FILE_REQUEST_HEADERS,
    FILENAME,
    IDEMPOTENCY_KEY,
    LIMIT,
    NO_CONTENT,
    REFERENCE,
    SEND_AT,
    SUBJECT,
    WAIT,
    file_responses,
    start_after,
)
from api.pdf_headers import write_attachment_headers, write_content_disposition, write_pdf_headers
from api.ports import Ports
from api.render.inspection import SPREADSHEET_TYPE
from api.stored_files import BlobFile, expired, send_file
from shared.auth.scopes import Scope
from shared.batches.plans import Priority
from shared.batches.records import (
    Batch,
    BatchItem,
    BatchOutput,
    BatchStatus,
    DocumentCounts,
    ItemStatus,
    find_item_of_job,
    is_batch_id,
    item_job_id,
)
from shared.batches.repository import (
    count_items,
    find_batch,
    find_item,
    forecast_end,
    has_running_chunk,
    list_batches,
    list_items,
    soft_delete_batch,
    write_batch,
)
from shared.clock import now
from shared.db.queries import check_not_held
from shared.db.session import Session
from shared.errors import ErrorCode, ServiceError
from shared.identifiers import NAME_PATTERN
from shared.limits import MAX_BATCH_BYTES, MAX_BATCH_DOCUMENTS, MAX_GROUPED_ROWS, MB

_ITEMS_PER_PAGE: Final = 1000
_RESULT: Final = "result of this batch"


class ItemJobIdConverter(BaseConverter):
    """Matches the job ids of documents of batches, before other job ids."""

    regex = r"job_[a-z2-7]{24}-[0-9]{1,9}"
    weight = 50


class BatchRoutes(Routes):
    """The views; those of documents stand at the paths of jobs, and are described there."""

    tag = "Batches"
    scopes = frozenset((Scope.RENDER,))
    words: ClassVar[Mapping[str, str]] = {
        "documents": f"{MAX_BATCH_DOCUMENTS:,}",
        "rows": f"{MAX_GROUPED_ROWS:,}",
        "megabytes": str(MAX_BATCH_BYTES // MB),
    }

    def __init__(self, ports: Ports) -> None:
        super().__init__(ports)
        self._inspections = Inspections(ports)

    @post(
        "/v2/batches",
        {202: json_response("Accepted.", "Batch", {"Location": "Path of the batch."})},
        query=(
            Parameter("template", REFERENCE, "The template of all documents.", is_required=True),
            DRAFT,
            Parameter(
                "output",
                enum_of(BatchOutput, default=BatchOutput.FILES),
                "files: one PDF per document, at the document's job. zip: also all PDFs in one archive. "
                "merged: one PDF of all pages, with an outline entry for each document. With a plan merged or "
                "zip: what its files are.",
            ),
            Parameter(
                "plan",
                string(
                    "A plan, name@version or name@tag.",
                    maxLength=125,
                    pattern=f"^(?=[^@]{{1,60}}(@|$)){NAME_PATTERN}(@.*)?$",
                    examples=["letters@1"],
                ),
                "The output plan: the order of the documents, the files that they go to, an index.",
            ),
            Parameter(
                "group",
                {"type": "string", "maxLength": 300, "examples": ["number"]},
                "The path of a key, such as number: consecutive rows of one key are one document.",
            ),
            Parameter(
                "priority",
                enum_of(Priority),
                "express: before the other batches of the account. night: while no account has other work "
                "to do, and as a normal one after twelve hours. That of the plan by default, or normal.",
            ),
            Parameter(
                "deadline",
                date_time("Within 31 days."),
                "The moment at which its documents are to have been rendered: it is express from an hour "
                "before on, and its record says whether it is late.",
            ),
            DELIVER,
            SEND_AT,
            SUBJECT,
        ),
        headers=(IDEMPOTENCY_KEY,),
        body=RequestBody(
            {
                "application/json": {"type": "array", "items": {"type": "object"}, "minItems": 1},
                **binary_content("text/csv", SPREADSHEET_TYPE, "application/x-ndjson"),
            },
            "The payloads of the documents.",
        ),
        errors={
            400: (ErrorCode.TEMPLATE_EMPTY,),
            404: (ErrorCode.TEMPLATE_NOT_FOUND,),
            **ALLOWANCE_ERRORS,
        },
    )
    def create_batch(self) -> Response:
        """Render many documents.

        Renders many documents of one template. The body is streamed: one JSON object per line, a JSON
        array of objects, or a CSV with one document per row, whose first row has the path of each column,
        such as buyer.name; or the same as the first sheet of an XLSX of up to 20 MB, which is read as
        POST /v2/spreadsheets/convert shows. Up to $documents documents and $megabytes MB. With group, a document
        has the fields of its first row and all its rows as the list rows; up to $rows rows. An invalid document
        fails on its own; a document beyond a free allowance fails with 402. The number of unfinished batches of an
        account is limited, by default to 100; one more is 429, before the body is read.
        """
        batch_request = read_batch_request(request)
        batch, is_replayed = accept_batch(request, batch_request, self._ports, self._inspections)
        self._ports.cell(batch.account_id).batches.try_enqueue_slices()
        waiting = DocumentCounts(batch.total, 0, 0, 0, 0, pages=0)
        headers = {"Location": f"/v2/batches/{batch.id}"}
        response = write_json(write_batch(batch, waiting), 202, headers=headers)
        return mark_replayed(response) if is_replayed else response

    @get(
        "/v2/batches/{batch_id}",
        {200: json_response("The record.", "Batch")},
        query=(WAIT,),
        errors={404: ()},
    )
    def read_batch(self, batch_id: str) -> Response:
        """Read a batch.

        By default the record is kept for 7 days after the batch has ended, its PDFs for 24 hours. A merged batch with
        an error has ended without a PDF; its documents can still be listed.
        """
        seconds = read_wait(current_query())
        long_poll(
            lambda: self._get(batch_id),
            seconds=seconds,
            is_final=lambda batch: batch.status.is_final,
            wait=self._wait,
        )
        with self._ports.database.snapshot() as session:
            batch = find_own_batch(session, batch_id)
            counts = count_items(session, batch)
            forecast_at = forecast_end(session, batch, counts, at=now())
        return write_json(write_batch(batch, counts, forecast_at=forecast_at))

    @get(
        "/v2/batches",
        {200: json_response("One page.", "BatchList")},
        query=(
            Parameter("status", enum_of(BatchStatus), "Only batches of this status."),
            LIMIT,
            start_after(
                {"type": "string", "pattern": "^batch_[a-z2-7]{24}$", "examples": [EXAMPLE_BATCH]}
            ),
        ),
    )
    def list_batches(self) -> Response:
        """List batches.

        The batches of the account with their progress, newest first.
        """
        account_id = current_principal().state.account_id
        query = current_query()
        status, limit = read_choice(query, "status", BatchStatus), read_limit(query)
        with self._ports.database.snapshot() as session:
            found = list_batches(
                session,
                account_id,
                statuses=tuple(BatchStatus) if status is None else (status,),
                limit=limit + 1,
                start_after=query.get("start_after"),
            )
        shown = [write_batch(*each) for each in found]
        return write_json(write_page("batches", shown, limit=limit))

    @delete("/v2/batches/{batch_id}", {204: NO_CONTENT}, errors={404: (), 409: ()})
    def cancel_batch(self, batch_id: str) -> Response:
        """Cancel or remove a batch.

        An unfinished batch is cancelled: remaining documents are skipped, finished PDFs are kept, and a
        merged batch has no PDF. A finished or cancelled batch is removed with its documents and PDFs; it is
        404 from then on.
        """
        batch = self._get(batch_id)
        if not batch.status.is_final and self._ports.cell(batch.account_id).batches.cancel(batch):
            return Response(status=204)
        with self._ports.database.session() as session:
            check_not_held(session, batch.account_id)
            soft_delete_batch(session, batch.id, at=now())
        return Response(status=204)

    @get(
        "/v2/batches/{batch_id}/items",
        {200: json_response("One page.", "BatchItems")},
        query=(
            Parameter("status", enum_of(ItemStatus), "Only documents of this status."),
            Parameter(
                "start_after",
                {"type": "integer", "minimum": 0, "maximum": 999_999_999},
                "The last index of the previous page.",
            ),
        ),
        errors={404: ()},
    )
    def list_batch_items(self, batch_id: str) -> Response:
        """List the documents.

        In input order, 1,000 per page, including unfinished documents.
        """
        query = current_query()
        after, status = query.get("start_after", -1), read_choice(query, "status", ItemStatus)
        with self._ports.database.snapshot() as session:
            batch = find_own_batch(session, batch_id)
            items, has_more = list_items(
                session, batch, after=int(after), limit=_ITEMS_PER_PAGE, status=status
            )
        return write_json(
            {"items": [write_item(batch, item) for item in items], "has_more": has_more}
        )

    @get(
        "/v2/batches/{batch_id}/result",
        file_responses(
            OperationResponse(
                "The zip or the PDF.", binary_content("application/zip", "application/pdf")
            )
        ),
        query=(FILENAME,),
        headers=FILE_REQUEST_HEADERS,
        errors=FILE_ERRORS,
        reads="batch",
    )
    def read_batch_result(self, batch_id: str) -> Response:
        """Download the result.

        The zip with each PDF as <index>-<file name> and the records of all documents in manifest.ndjson; or
        the merged PDF. Streamed; kept for 24 hours by default. 409 if the batch has not ended, has output=files, or
        has no PDF: it was cancelled before it was merged, no document succeeded, or merging failed.
        """
        filename = current_query().get("filename")
        with self._ports.database.snapshot() as session:
            batch = find_own_batch(session, batch_id)
            is_rendering = has_running_chunk(session, batch.id)
        if batch.output is BatchOutput.FILES:
            raise ServiceError(
                409,
                "A batch with output=files has no single result; each document is at "
                f"/v2/jobs/{{id}}/pdf, the first at /v2/jobs/{item_job_id(batch.id, 0)}/pdf.",
            )
        require_files(batch, _RESULT, is_rendering=is_rendering)
        if batch.plan is not None:
            raise ServiceError(
                409,
                f"The files of a batch with a plan are at /v2/batches/{batch.id}/files/1 and on.",
            )
        if batch.output is BatchOutput.MERGED:
            return self._send_merged(batch, filename)
        headers = write_attachment_headers(
            "application/zip", filename or batch.id, ".zip", default=f"{batch.id}.zip"
        )
        return send_file(request, Archive(batch, self._ports), headers, what=_RESULT)

    @get("/v2/jobs/{item_job:job_id}", {}, query=(WAIT,), is_described=False)
    def read_item(self, job_id: str) -> Response:
        """Return the job of a document, once it has ended or the time of the long poll is over."""
        seconds = read_wait(current_query())
        batch, item = long_poll(
            lambda: self._get_item(job_id),
            seconds=seconds,
            is_final=_is_item_final,
            # Only the end of the whole batch is announced, so a document is polled every second.
            wait=lambda found, left: self._wait(found[0], min(left, 1.0)),
        )
        return write_json(write_item_job(batch, item))

    @get("/v2/jobs/{item_job:job_id}/pdf", {}, query=(FILENAME,), is_described=False, reads="job")
    def read_item_pdf(self, job_id: str) -> Response:
        """Return the PDF of one document."""
        filename = current_query().get("filename")
        batch, item = self._get_item(job_id)
        if item.status is not ItemStatus.SUCCEEDED:
            raise ServiceError(409, f"There is no PDF: the job is {item.status}.")
        if batch.output is BatchOutput.MERGED:
            own = "result" if batch.plan is None else "files/1"
            raise ServiceError(
                409,
                "The documents of a batch with output=merged or a plan have no PDF of their own; what has their "
                f"pages is at /v2/batches/{batch.id}/{own}.",
            )
        if batch.is_expired(now()) or item.part_key is None:
            raise expired(PDF)
        assert item.place is not None, "a document that succeeded has a place in its part"
        headers = write_pdf_headers(
            job_id,
            pages=item.pages or 0,
            filename=filename or item.filename,
            timings=None,
            warnings=item.warnings,
        )
        place = item.place
        pdf = BlobFile(self._ports.blobs, item.part_key, place.length, place.offset)
        return send_file(request, pdf, headers, what=PDF)

    @delete("/v2/jobs/{item_job:job_id}", {}, is_described=False)
    def cancel_item(self, job_id: str) -> Response:
        """Reject the request: a document is cancelled with its batch only."""
        batch, _ = self._get_item(job_id)
        raise ServiceError(
            409,
            "The job is a document of a batch and cannot be cancelled or removed on its own; cancel "
            f"the batch with DELETE /v2/batches/{batch.id}.",
        )

    def _wait(self, batch: Batch, seconds: float) -> None:
        endings = self._ports.cell(batch.account_id).batches.completions
        endings.wait(batch.id, seconds=seconds, until=stopping.is_set)

    def _get(self, batch_id: str) -> Batch:
        with self._ports.database.snapshot() as session:
            return find_own_batch(session, batch_id)

    def _get_item(self, job_id: str) -> tuple[Batch, BatchItem]:
        named = find_item_of_job(job_id)
        account_id = current_principal().state.account_id
        with self._ports.database.snapshot() as session:
            batch = find_batch(session, named[0], account_id=account_id) if named else None
            item = find_item(session, batch, named[1]) if batch and named else None
        if batch is None or item is None:
            raise ServiceError(404, f"Job {job_id!r} does not exist.")
        return batch, item

    def _send_merged(self, batch: Batch, filename: str | None) -> Response:
        if batch.status is BatchStatus.CANCELLED:
            raise ServiceError(
                409,
                "There is no PDF: the batch was cancelled before its documents were merged. Finished "
                "PDFs of a cancelled batch are kept with output=zip and output=files only.",
            )
        if batch.error is not None:
            raise ServiceError(409, f"There is no PDF: {batch.error['message']}")
        if batch.result_key is None:
            raise ServiceError(409, "There is no PDF: no document of the batch succeeded.")
        headers = {
            "Content-Type": "application/pdf",
            "Content-Disposition": write_content_disposition(filename or f"{batch.id}.pdf"),
        }
        pdf = BlobFile(self._ports.blobs, batch.result_key, batch.result_bytes or 0)
        return send_file(request, pdf, headers, what=_RESULT)


def find_own_batch(session: Session, batch_id: str) -> Batch:
    """Return a batch of the account of the request.

    Raises:
        ServiceError: 404 without such a batch.
    """
    account_id = current_principal().state.account_id
    batch = None
    if is_batch_id(batch_id):
        batch = find_batch(session, batch_id, account_id=account_id)
    if batch is None:
        raise ServiceError(404, f"Batch {batch_id[:100]!r} does not exist.")
    return batch


def require_files(batch: Batch, what: str, *, is_rendering: bool = False) -> None:
    """Check that the files of a batch are complete and still kept.

    Raises:
        ServiceError: 409, it has not ended; 410, its files are expired.
    """
    if not batch.status.is_final or is_rendering:
        raise ServiceError(409, f"The batch has not ended; it is {batch.status}.")
    if batch.is_expired(now()):
        raise expired(what)


def _is_item_final(found: tuple[Batch, BatchItem]) -> bool:
    batch, item = found
    return batch.status.is_final or item.status not in (ItemStatus.QUEUED, ItemStatus.RUNNING)
