"""The operations and shapes of batches, for the description."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from api.ops.jobs import WAIT
from api.ops.parts import (
    BODY_FAILURES,
    DRAFT,
    EMPTY,
    FILENAME,
    IDEMPOTENCY_KEY,
    KEYED_FAILURES,
    LIMIT,
    OVER_ALLOWANCE,
    Answer,
    Body,
    Failures,
    Operation,
    Parameter,
    write_binary,
    write_json,
)
from api.ops.schemas import REFERENCE, WARNINGS
from api.ops.shapes import Schema, choice, count, flag, instant, list_of, record, ref, text
from shared.batches.records import BatchStatus, ItemStatus, Output
from shared.errors import ErrorCode
from shared.limits import MAX_BATCH_BYTES, MAX_BATCH_DOCUMENTS, MB

_ID: Final = text("The id.", minLength=1, maxLength=64)
_GROUP: Final = "Batches"
_NAMED: Final = (Parameter("batch_id", _ID, "A batch of the account."),)

BATCH_SCHEMAS: Final[Mapping[str, Schema]] = {
    "Batch": record(
        {
            "id": _ID,
            "status": choice(BatchStatus),
            "total": count("Documents in all."),
            "queued": count("Documents that wait; none of a cancelled batch do."),
            "running": count("Documents being rendered."),
            "succeeded": count("Documents that gave a PDF."),
            "failed": count("Documents that did not."),
            "pages": count("Pages of those that succeeded."),
            "error": ref("Error"),
            "created_at": instant("When it was accepted."),
            "finished_at": instant("When it ended."),
            "expires_at": instant("When its PDFs are deleted."),
        },
        optional=("error", "finished_at", "expires_at"),
    ),
    "BatchList": record(
        {
            "batches": list_of("Batch", maxItems=1000),
            "next_cursor": text("The start_after of the next page, when there is one."),
        },
        optional=("next_cursor",),
    ),
    "BatchItem": record(
        {
            "index": count("Its place in the body, from 0."),
            "job_id": {**_ID, "description": "The job that it is: GET /v2/jobs/{job_id} and /pdf."},
            "status": choice(ItemStatus),
            "pages": count("Pages of its PDF."),
            "error": ref("Error"),
            "warnings": WARNINGS,
        },
        optional=("pages", "error", "warnings"),
    ),
    "BatchItems": record(
        {
            "items": list_of("BatchItem", maxItems=1000),
            "has_more": flag("Whether further ones follow."),
        }
    ),
}

_UNKNOWN: Final[Failures] = {404: ()}

BATCH_OPERATIONS: Final = (
    Operation(
        "post", "/v2/batches", "createBatch", _GROUP, "Render many documents",
        "Takes the data of many documents of one template, streamed: one JSON object per line, a JSON array "
        "of them, or a CSV whose first row names the path of each column (buyer.name) and whose further rows are a "
        f"document each. Up to {MAX_BATCH_DOCUMENTS:,} documents and {MAX_BATCH_BYTES // MB} MB. A "
        "document that is none, or does not render, fails by itself; one beyond a free allowance "
        "fails with 402. An account may have so many unfinished batches, 100 unless the operator says "
        "otherwise; one more is 429, told before its body is read.",
        {202: Answer("Accepted.", write_json("Batch"), {"Location": "Path of the batch."})},
        query=(
            Parameter("template", REFERENCE, "The template of all documents.", is_required=True),
            DRAFT,
            Parameter(
                "output",
                choice(Output, default=Output.FILES),
                "files: each PDF by itself, at the job of its document. zip: all in one archive too. "
                "merged: all pages in one PDF, with an entry for each document in its outline.",
            ),
        ),
        headers=(IDEMPOTENCY_KEY,),
        body=Body(
            {
                "application/json": {"type": "array", "items": {"type": "object"}, "minItems": 1},
                **write_binary("text/csv", "application/x-ndjson"),
            },
            "The data of the documents.",
        ),
        failures={
            400: (ErrorCode.TEMPLATE_EMPTY,),
            404: (ErrorCode.TEMPLATE_NOT_FOUND,),
            **OVER_ALLOWANCE,
            **BODY_FAILURES,
            **KEYED_FAILURES,
        },
    ),
    Operation(
        "get", "/v2/batches", "listBatches", _GROUP, "List batches",
        "The batches of the account, newest first, each with how far it is.",
        {200: Answer("One page.", write_json("BatchList"))},
        query=(
            Parameter("status", choice(BatchStatus), "Only batches of this status."),
            LIMIT,
            Parameter(
                "start_after",
                {"type": "string", "pattern": "^batch_[a-z2-7]{24}$"},
                "The next_cursor of the page before.",
            ),
        ),
    ),
    Operation(
        "get", "/v2/batches/{batch_id}", "readBatch", _GROUP, "Tell how far a batch is",
        "Its record is kept for 7 days after its end, its PDFs for 24 hours. One with an error has ended "
        "without the one PDF that it was to have; its documents are told one by one all the same.",
        {200: Answer("The record.", write_json("Batch"))},
        in_path=_NAMED,
        query=(WAIT,),
        failures=_UNKNOWN,
    ),
    Operation(
        "delete", "/v2/batches/{batch_id}", "cancelBatch", _GROUP, "Cancel or remove a batch",
        "An unfinished batch is cancelled: the remaining documents are skipped, finished PDFs are kept, "
        "and a merged batch has no PDF. A batch that has ended, finished or cancelled, is removed with "
        "its documents and its PDFs: it is 404 from then on.",
        {204: EMPTY},
        in_path=_NAMED,
        failures=_UNKNOWN,
    ),
    Operation(
        "get", "/v2/batches/{batch_id}/items", "listBatchItems", _GROUP, "List the documents",
        "In input order, 1,000 a page, those that have not ended too.",
        {200: Answer("One page.", write_json("BatchItems"))},
        in_path=_NAMED,
        query=(
            Parameter(
                "status",
                choice(ItemStatus),
                "Only those that are so far.",
            ),
            Parameter(
                "start_after",
                {"type": "integer", "minimum": 0, "maximum": 999_999_999},
                "The last index of the page before.",
            ),
        ),
        failures=_UNKNOWN,
    ),
    Operation(
        "get", "/v2/batches/{batch_id}/result", "readBatchResult", _GROUP, "Get all PDFs at once",
        "The zip, each PDF as <index>-<file name> in it and the record of every document in "
        "manifest.ndjson; or the one merged PDF. Streamed; kept for 24 hours. 409 says that "
        "the batch has not ended, is of output=files, or why it has no PDF: it was cancelled before it "
        "was merged, none of its documents succeeded, or they could not be merged.",
        {200: Answer("The zip or the PDF.", write_binary("application/zip", "application/pdf"))},
        in_path=_NAMED,
        query=(FILENAME,),
        failures={**_UNKNOWN, 409: (), 410: ()},
    ),
)  # fmt: skip
