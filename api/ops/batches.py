"""The operations and shapes of batches, for the description."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from api.ops.jobs import WAIT
from api.ops.operations import Answer, Body, Operation, Parameter
from api.ops.schemas import REFERENCE, Schema, ref
from shared.batches.records import BatchStatus, ItemStatus, Output
from shared.errors import ErrorCode
from shared.limits import MAX_BATCH_BYTES, MAX_BATCH_DOCUMENTS, MB

_ID: Final[Schema] = {"type": "string", "description": "The id.", "minLength": 1, "maxLength": 64}
_GROUP: Final = "Batches"
_NAMED: Final = (Parameter("batch_id", _ID, "A batch of the account."),)


def _instant(text: str) -> Schema:
    return {
        "type": "string",
        "format": "date-time",
        "description": f"{text} ISO 8601, UTC, milliseconds.",
    }


def _count(text: str) -> Schema:
    return {"type": "integer", "minimum": 0, "description": text}


_RECORD: Final[Mapping[str, Schema]] = {
    "id": _ID,
    "status": {"type": "string", "enum": [status.value for status in BatchStatus]},
    "total": _count("Documents in all."),
    "queued": _count("Documents that wait; none of a cancelled batch do."),
    "running": _count("Documents being rendered."),
    "succeeded": _count("Documents that gave a PDF."),
    "failed": _count("Documents that did not."),
    "pages": _count("Pages of those that succeeded."),
    "created_at": _instant("When it was accepted."),
    "finished_at": _instant("When it ended."),
    "expires_at": _instant("When its PDFs are deleted."),
}
_ITEM: Final[Mapping[str, Schema]] = {
    "index": _count("Its place in the body, from 0."),
    "job_id": {**_ID, "description": "The job that it is: GET /v2/jobs/{job_id} and /pdf."},
    "status": {"type": "string", "enum": [status.value for status in ItemStatus]},
    "pages": _count("Pages of its PDF."),
    "error": ref("Error"),
}

BATCH_SCHEMAS: Final[Mapping[str, Schema]] = {
    "Batch": {
        "type": "object",
        "properties": _RECORD,
        "required": [name for name in _RECORD if name not in ("finished_at", "expires_at")],
    },
    "BatchItem": {
        "type": "object",
        "properties": _ITEM,
        "required": ["index", "job_id", "status"],
    },
    "BatchItems": {
        "type": "object",
        "properties": {
            "items": {"type": "array", "items": ref("BatchItem"), "maxItems": 1000},
            "has_more": {"type": "boolean", "description": "Whether further ones follow."},
        },
        "required": ["items", "has_more"],
    },
}

_UNKNOWN: Final[Mapping[int, Any]] = {404: ()}
_BATCH: Final = {"application/json": ref("Batch")}
_BINARY: Final[Schema] = {"type": "string", "format": "binary"}

BATCH_OPERATIONS: Final = (
    Operation(
        "post", "/v2/batches", "createBatch", _GROUP, "Render many documents",
        "Takes the data of many documents of one template, streamed: a JSON object a line, or a CSV "
        "whose first row names the path of each column (buyer.name) and whose further rows are a "
        f"document each. Up to {MAX_BATCH_DOCUMENTS:,} documents and {MAX_BATCH_BYTES // MB} MB. A "
        "document that is none, or does not render, fails by itself; one beyond a free allowance "
        "fails with 402. With an Idempotency-Key the same call is answered as its first one for "
        "24 hours.",
        {202: Answer("Accepted.", _BATCH, {"Location": "Path of the batch."})},
        query=(
            Parameter("template", REFERENCE, "The template of all documents.", is_required=True),
            Parameter("draft", {"type": "string"}, "Drafts exactly when it is true."),
            Parameter(
                "output",
                {"type": "string", "enum": [each.value for each in Output], "default": "files"},
                "files: each PDF by itself, at the job of its document. zip: all in one archive too. "
                "merged: all pages in one PDF, with an entry for each document in its outline.",
            ),
        ),
        body=Body(
            {"application/x-ndjson": {"type": "string"}, "text/csv": {"type": "string"}},
            "The data of the documents.",
        ),
        failures={
            400: (ErrorCode.TEMPLATE_EMPTY,),
            402: (ErrorCode.QUOTA_EXCEEDED, ErrorCode.DRAFT_QUOTA_EXCEEDED),
            404: (ErrorCode.TEMPLATE_NOT_FOUND,),
            409: (),
            410: (),
            413: (),
            415: (),
            422: (),
        },
    ),
    Operation(
        "get", "/v2/batches/{batch_id}", "readBatch", _GROUP, "Tell how far a batch is",
        "Its record is kept for 7 days after its end, its PDFs for 24 hours.",
        {200: Answer("The record.", _BATCH)},
        in_path=_NAMED,
        query=(WAIT,),
        failures=_UNKNOWN,
    ),
    Operation(
        "delete", "/v2/batches/{batch_id}", "cancelBatch", _GROUP, "Cancel a batch",
        "What is not begun is not rendered; what was rendered stays. Nothing changes of a batch that "
        "has ended.",
        {204: Answer("Done; there is no body.")},
        in_path=_NAMED,
        failures=_UNKNOWN,
    ),
    Operation(
        "get", "/v2/batches/{batch_id}/items", "listBatchItems", _GROUP, "List the documents",
        "In input order, 1,000 a page, those that have not ended too.",
        {200: Answer("One page.", {"application/json": ref("BatchItems")})},
        in_path=_NAMED,
        query=(
            Parameter(
                "status",
                {"type": "string", "enum": [status.value for status in ItemStatus]},
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
        "manifest.ndjson; or the one merged PDF. Streamed; kept for 24 hours.",
        {200: Answer("The zip or the PDF.", {"application/zip": _BINARY, "application/pdf": _BINARY})},
        in_path=_NAMED,
        failures={**_UNKNOWN, 409: (), 410: ()},
    ),
)  # fmt: skip
