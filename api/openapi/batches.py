"""The operations and schemas of batches."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from api.openapi.jobs import EXAMPLE_JOB, WAIT
from api.openapi.json_schema import (
    Schema,
    array_of,
    boolean,
    date_time,
    enum_of,
    integer,
    object_schema,
    ref,
    string,
)
from api.openapi.model import (
    ALLOWANCE_ERRORS,
    BODY_ERRORS,
    DRAFT,
    FILE_ERRORS,
    FILE_REQUEST_HEADERS,
    FILENAME,
    IDEMPOTENCY_ERRORS,
    IDEMPOTENCY_KEY,
    LIMIT,
    NO_CONTENT,
    ErrorStatuses,
    Operation,
    OperationResponse,
    Parameter,
    RequestBody,
    binary_content,
    file_responses,
    json_content,
)
from api.openapi.schemas import REFERENCE, WARNINGS
from shared.batches.records import BatchOutput, BatchStatus, ItemStatus
from shared.errors import ErrorCode
from shared.limits import MAX_BATCH_BYTES, MAX_BATCH_DOCUMENTS, MB

_EXAMPLE_BATCH: Final = "batch_3ocgfeeghiuyg5wnorrj2owg"
_ID: Final = string("The id.", minLength=1, maxLength=64, examples=[_EXAMPLE_BATCH])
_TAG: Final = "Batches"
_PATH: Final = (Parameter("batch_id", _ID, "A batch of the account."),)

BATCH_SCHEMAS: Final[Mapping[str, Schema]] = {
    "Batch": object_schema(
        {
            "id": _ID,
            "status": enum_of(BatchStatus),
            "total": integer("Number of documents, the sum of the five below."),
            "queued": integer("Queued documents."),
            "running": integer("Documents being rendered."),
            "succeeded": integer("Documents that were rendered."),
            "failed": integer("Documents that failed."),
            "cancelled": integer(
                "Documents that were not rendered, because the batch was cancelled."
            ),
            "pages": integer("Pages of the rendered documents."),
            "error": ref("Error"),
            "created_at": date_time("When it was accepted."),
            "finished_at": date_time("When it ended."),
            "expires_at": date_time("When its PDFs are deleted."),
        },
        optional=("error", "finished_at", "expires_at"),
    ),
    "BatchList": object_schema(
        {
            "batches": array_of("Batch", maxItems=1000),
            "next_cursor": string("The start_after of the next page, when there is one."),
        },
        optional=("next_cursor",),
    ),
    "BatchItem": object_schema(
        {
            "index": integer("Position in the request body, from 0."),
            "job_id": {
                **_ID,
                "description": "Job id of the document, for GET /v2/jobs/{job_id} and /v2/jobs/{job_id}/pdf.",
                "examples": [f"{EXAMPLE_JOB}-0"],
            },
            "status": enum_of(ItemStatus),
            "pages": integer("Number of pages."),
            "error": ref("Error"),
            "warnings": WARNINGS,
        },
        optional=("pages", "error", "warnings"),
    ),
    "BatchItems": object_schema(
        {
            "items": array_of("BatchItem", maxItems=1000),
            "has_more": boolean("Whether there are more entries."),
        }
    ),
}

_NOT_FOUND: Final[ErrorStatuses] = {404: ()}

BATCH_OPERATIONS: Final = (
    Operation(
        "post", "/v2/batches", "createBatch", _TAG, "Render many documents",
        "Renders many documents of one template. The body is streamed: one JSON object per line, a JSON array "
        "of objects, or a CSV with one document per row, whose first row has the path of each column, such as "
        f"buyer.name. Up to {MAX_BATCH_DOCUMENTS:,} documents and {MAX_BATCH_BYTES // MB} MB. An invalid document "
        "fails on its own; a document beyond a free allowance fails with 402. The number of unfinished batches "
        "of an account is limited, by default to 100; one more is 429, before the body is read.",
        {202: OperationResponse("Accepted.", json_content("Batch"), {"Location": "Path of the batch."})},
        query_parameters=(
            Parameter("template", REFERENCE, "The template of all documents.", is_required=True),
            DRAFT,
            Parameter(
                "output",
                enum_of(BatchOutput, default=BatchOutput.FILES),
                "files: one PDF per document, at the document's job. zip: also all PDFs in one archive. "
                "merged: one PDF of all pages, with an outline entry for each document.",
            ),
        ),
        headers=(IDEMPOTENCY_KEY,),
        body=RequestBody(
            {
                "application/json": {"type": "array", "items": {"type": "object"}, "minItems": 1},
                **binary_content("text/csv", "application/x-ndjson"),
            },
            "The payloads of the documents.",
        ),
        errors={
            400: (ErrorCode.TEMPLATE_EMPTY,),
            404: (ErrorCode.TEMPLATE_NOT_FOUND,),
            **ALLOWANCE_ERRORS,
            **BODY_ERRORS,
            **IDEMPOTENCY_ERRORS,
        },
    ),
    Operation(
        "get", "/v2/batches", "listBatches", _TAG, "List batches",
        "The batches of the account with their progress, newest first.",
        {200: OperationResponse("One page.", json_content("BatchList"))},
        query_parameters=(
            Parameter("status", enum_of(BatchStatus), "Only batches of this status."),
            LIMIT,
            Parameter(
                "start_after",
                {
                    "type": "string",
                    "pattern": "^batch_[a-z2-7]{24}$",
                    "examples": [_EXAMPLE_BATCH],
                },
                "The next_cursor of the previous page.",
            ),
        ),
    ),
    Operation(
        "get", "/v2/batches/{batch_id}", "readBatch", _TAG, "Read a batch",
        "The record is kept for 7 days after the batch has ended, its PDFs for 24 hours. A merged batch with an "
        "error has ended without a PDF; its documents can still be listed.",
        {200: OperationResponse("The record.", json_content("Batch"))},
        path_parameters=_PATH,
        query_parameters=(WAIT,),
        errors=_NOT_FOUND,
    ),
    Operation(
        "delete", "/v2/batches/{batch_id}", "cancelBatch", _TAG, "Cancel or remove a batch",
        "An unfinished batch is cancelled: remaining documents are skipped, finished PDFs are kept, and a "
        "merged batch has no PDF. A finished or cancelled batch is removed with its documents and PDFs; it is "
        "404 from then on.",
        {204: NO_CONTENT},
        path_parameters=_PATH,
        errors=_NOT_FOUND,
    ),
    Operation(
        "get", "/v2/batches/{batch_id}/items", "listBatchItems", _TAG, "List the documents",
        "In input order, 1,000 per page, including unfinished documents.",
        {200: OperationResponse("One page.", json_content("BatchItems"))},
        path_parameters=_PATH,
        query_parameters=(
            Parameter(
                "status",
                enum_of(ItemStatus),
                "Only documents of this status.",
            ),
            Parameter(
                "start_after",
                {"type": "integer", "minimum": 0, "maximum": 999_999_999},
                "The last index of the previous page.",
            ),
        ),
        errors=_NOT_FOUND,
    ),
    Operation(
        "get", "/v2/batches/{batch_id}/result", "readBatchResult", _TAG, "Download the result",
        "The zip with each PDF as <index>-<file name> and the records of all documents in manifest.ndjson; or "
        "the merged PDF. Streamed; kept for 24 hours. 409 if the batch has not ended, has output=files, or has "
        "no PDF: it was cancelled before it was merged, no document succeeded, or merging failed.",
        file_responses(
            OperationResponse("The zip or the PDF.", binary_content("application/zip", "application/pdf"))
        ),
        path_parameters=_PATH,
        query_parameters=(FILENAME,),
        headers=FILE_REQUEST_HEADERS,
        errors={**_NOT_FOUND, **FILE_ERRORS},
    ),
)  # fmt: skip
