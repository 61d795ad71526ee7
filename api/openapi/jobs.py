"""The operations, schemas and events of recorded work: jobs, batches, and the webhooks that are told of their ends."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from api.http import MAX_WAIT_SECONDS
from api.openapi.json_schema import (
    URL_PATTERN,
    Schema,
    array_of,
    boolean,
    date_time,
    enum_of,
    integer,
    object_schema,
    ref,
    strict_object,
    string,
)
from api.openapi.model import (
    ALLOWANCE_ERRORS,
    BODY_ERRORS,
    DRAFT,
    FILE_ERRORS,
    FILE_REQUEST_HEADERS,
    FILENAME,
    IDEMPOTENCY_KEY,
    LIMIT,
    NO_CONTENT,
    PDF_RESPONSE,
    Operation,
    OperationResponse,
    Parameter,
    RequestBody,
    binary_content,
    file_responses,
    json_content,
    start_after,
)
from api.openapi.schemas import REFERENCE, WARNINGS
from shared.batches.records import BatchOutput, BatchStatus, ItemStatus
from shared.errors import ErrorCode
from shared.jobs.repository import JobStatus
from shared.limits import MAX_BATCH_BYTES, MAX_BATCH_DOCUMENTS, MB
from shared.webhooks.repository import (
    MAX_WEBHOOKS,
    SUBSCRIBABLE_EVENTS,
    DeliveryStatus,
    WebhookEvent,
)

_EXAMPLE_JOB: Final = "job_3ocgfeeghiuyg5wnorrj2owg"
_JOB_ID: Final = string(
    "Id of a job; with a hyphen and an index, a document of a batch.",
    pattern="^job_[a-z2-7]{24}(-[0-9]{1,9})?$",
    examples=[_EXAMPLE_JOB],
)
_WAIT: Final = Parameter(
    "wait",
    {
        "type": "string",
        "pattern": r"^([0-5]?[0-9](\.[0-9]{1,3})?|60(\.0{1,3})?)$",
        "default": "0",
        "examples": ["30"],
    },
    f"Long poll: seconds to wait for a final status, at most {MAX_WAIT_SECONDS}.",
)
_EXAMPLE_BATCH: Final = "batch_3ocgfeeghiuyg5wnorrj2owg"
_BATCH_ID: Final = string("The id.", minLength=1, maxLength=64, examples=[_EXAMPLE_BATCH])
_WEBHOOK_ID: Final = string(
    "The id.", minLength=1, maxLength=64, examples=["hook_3ocgfeeghiuyg5wnorrj2owg"]
)
_WEBHOOK: Final[Mapping[str, Schema]] = {
    "id": _WEBHOOK_ID,
    "url": string(
        "An http or https address on the public internet.",
        minLength=8,
        maxLength=2048,
        pattern=URL_PATTERN,
        examples=["https://example.org/hooks/pressroom"],
    ),
    "events": {
        "type": "array",
        "description": "The subscribed events; all events by default.",
        "items": string("An event.", enum=[event.value for event in SUBSCRIBABLE_EVENTS]),
        "minItems": 1,
        "maxItems": len(SUBSCRIBABLE_EVENTS),
    },
    "created_at": date_time("When it was added."),
    "disabled_at": date_time("When its target responded 410; absent while it is enabled."),
}
_SECRET: Final = string(
    "Signs the deliveries; returned only here.",
    pattern="^whsec_[A-Za-z0-9+/=]+$",
    examples=["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"],
)
JOB_PATH_PARAMETERS: Final = (
    Parameter("job_id", _JOB_ID, "A job of the account."),
    Parameter("batch_id", _BATCH_ID, "A batch of the account."),
    Parameter("webhook_id", _WEBHOOK_ID, "A webhook of the account."),
)


def _list_of(plural: str, name: str) -> Schema:
    cursor = string("The start_after of the next page, when there is one.")
    records = array_of(name, maxItems=1000)
    return object_schema({plural: records, "next_cursor": cursor}, optional=("next_cursor",))


JOB_SCHEMAS: Final[Mapping[str, Schema]] = {
    "Job": object_schema(
        {
            "id": _JOB_ID,
            "status": enum_of(JobStatus),
            "draft": boolean("Whether the PDF has the draft watermark."),
            "template": string("The template reference, as requested."),
            "pages": integer("Number of pages of a job that succeeded."),
            "error": ref("Error"),
            "warnings": WARNINGS,
            "created_at": date_time("When it was accepted."),
            "started_at": date_time("When a worker first started it."),
            "finished_at": date_time("When it ended."),
            "expires_at": date_time("When its PDF is deleted."),
        },
        optional=(
            "template",
            "pages",
            "error",
            "warnings",
            "started_at",
            "finished_at",
            "expires_at",
        ),
    ),
    "JobList": _list_of("jobs", "Job"),
    "Batch": object_schema(
        {
            "id": _BATCH_ID,
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
    "BatchList": _list_of("batches", "Batch"),
    "BatchItem": object_schema(
        {
            "index": integer("Position in the request body, from 0."),
            "job_id": {
                **_BATCH_ID,
                "description": "Job id of the document, for GET /v2/jobs/{job_id} and /v2/jobs/{job_id}/pdf.",
                "examples": [f"{_EXAMPLE_JOB}-0"],
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
    "Webhook": object_schema(_WEBHOOK, optional=("disabled_at",)),
    "WebhookWithSecret": object_schema({**_WEBHOOK, "secret": _SECRET}, optional=("disabled_at",)),
    "WebhookRequest": strict_object(
        {"url": _WEBHOOK["url"], "events": _WEBHOOK["events"]}, optional=("events",)
    ),
    "Webhooks": object_schema({"webhooks": array_of("Webhook")}),
    "DeliveryAttempt": object_schema(
        {
            "at": date_time("When it began."),
            "milliseconds": integer("How long it took."),
            "status": integer(
                "HTTP status of the target's response; absent without one.",
                minimum=100,
                maximum=999,
            ),
            "error": string("Why there was no response."),
        },
        optional=("status", "error"),
    ),
    "Delivery": object_schema(
        {
            "id": string(
                "The `webhook-id` of every attempt.", examples=["msg_3ocgfeeghiuyg5wnorrj2owg"]
            ),
            "event": enum_of(WebhookEvent),
            "status": enum_of(DeliveryStatus),
            "created_at": date_time("When the event occurred."),
            "next_attempt_at": date_time("When it is retried, while it is pending."),
            "attempts": array_of("DeliveryAttempt"),
        },
        optional=("next_attempt_at",),
    ),
    "WebhookTest": object_schema({"webhook_id": _WEBHOOK_ID}),
    "Deliveries": object_schema(
        {"deliveries": array_of("Delivery"), "has_more": boolean("Whether older entries exist.")}
    ),
}

JOB_OPERATIONS: Final = (
    Operation(
        "get", "/v2/jobs", "listJobs", "Jobs", "List jobs",
        "The recorded jobs of the account, newest first: asynchronous renders, and renders with an "
        "Idempotency-Key. Documents of a batch are listed with the batch. With status=queued or "
        "status=running a page can be short, even empty, and still have a next_cursor.",
        {200: OperationResponse("One page.", json_content("JobList"))},
        query_parameters=(
            Parameter("status", enum_of(JobStatus), "Only jobs of this status."),
            LIMIT,
            start_after({"type": "string", "pattern": "^job_[a-z2-7]{24}$", "examples": [_EXAMPLE_JOB]}),
        ),
    ),
    Operation(
        "get", "/v2/jobs/{job_id}", "readJob", "Jobs", "Read a job",
        "The record is kept for 7 days after the job has ended.",
        {200: OperationResponse("The record.", json_content("Job"))},
        query_parameters=(_WAIT,),
        errors={404: ()},
    ),
    Operation(
        "get", "/v2/jobs/{job_id}/pdf", "readJobPdf", "Jobs", "Read a job's PDF",
        "The same response as that of a synchronous render; available for 24 hours. 409 when the job has not "
        "succeeded, 410 once the PDF has expired.",
        file_responses(PDF_RESPONSE),
        query_parameters=(FILENAME,),
        headers=FILE_REQUEST_HEADERS,
        errors=FILE_ERRORS,
    ),
    Operation(
        "delete", "/v2/jobs/{job_id}", "deleteJob", "Jobs", "Cancel or remove a job",
        "Cancels a queued job, stops a running one, and deletes one that has ended, with its PDF. "
        "Cancelled jobs are not metered. A document of a batch can be cancelled with its batch only.",
        {204: NO_CONTENT},
        errors={404: (), 409: ()},
    ),
    Operation(
        "post", "/v2/batches", "createBatch", "Batches", "Render many documents",
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
        },
    ),
    Operation(
        "get", "/v2/batches", "listBatches", "Batches", "List batches",
        "The batches of the account with their progress, newest first.",
        {200: OperationResponse("One page.", json_content("BatchList"))},
        query_parameters=(
            Parameter("status", enum_of(BatchStatus), "Only batches of this status."),
            LIMIT,
            start_after({"type": "string", "pattern": "^batch_[a-z2-7]{24}$", "examples": [_EXAMPLE_BATCH]}),
        ),
    ),
    Operation(
        "get", "/v2/batches/{batch_id}", "readBatch", "Batches", "Read a batch",
        "The record is kept for 7 days after the batch has ended, its PDFs for 24 hours. A merged batch with an "
        "error has ended without a PDF; its documents can still be listed.",
        {200: OperationResponse("The record.", json_content("Batch"))},
        query_parameters=(_WAIT,),
        errors={404: ()},
    ),
    Operation(
        "delete", "/v2/batches/{batch_id}", "cancelBatch", "Batches", "Cancel or remove a batch",
        "An unfinished batch is cancelled: remaining documents are skipped, finished PDFs are kept, and a "
        "merged batch has no PDF. A finished or cancelled batch is removed with its documents and PDFs; it is "
        "404 from then on.",
        {204: NO_CONTENT},
        errors={404: ()},
    ),
    Operation(
        "get", "/v2/batches/{batch_id}/items", "listBatchItems", "Batches", "List the documents",
        "In input order, 1,000 per page, including unfinished documents.",
        {200: OperationResponse("One page.", json_content("BatchItems"))},
        query_parameters=(
            Parameter("status", enum_of(ItemStatus), "Only documents of this status."),
            Parameter(
                "start_after",
                {"type": "integer", "minimum": 0, "maximum": 999_999_999},
                "The last index of the previous page.",
            ),
        ),
        errors={404: ()},
    ),
    Operation(
        "get", "/v2/batches/{batch_id}/result", "readBatchResult", "Batches", "Download the result",
        "The zip with each PDF as <index>-<file name> and the records of all documents in manifest.ndjson; or "
        "the merged PDF. Streamed; kept for 24 hours. 409 if the batch has not ended, has output=files, or has "
        "no PDF: it was cancelled before it was merged, no document succeeded, or merging failed.",
        file_responses(
            OperationResponse("The zip or the PDF.", binary_content("application/zip", "application/pdf"))
        ),
        query_parameters=(FILENAME,),
        headers=FILE_REQUEST_HEADERS,
        errors=FILE_ERRORS,
    ),
    Operation(
        "post", "/v2/webhooks", "createWebhook", "Webhooks", "Add a webhook",
        "Notifies an address when asynchronous jobs and batches end. Deliveries are signed as "
        "Standard Webhooks 1.0 specifies, and retried for 24 hours until they are answered 2xx; 410 "
        f"disables the webhook. An account has at most {MAX_WEBHOOKS}.",
        {201: OperationResponse("The webhook with its secret.", json_content("WebhookWithSecret"))},
        body=RequestBody(json_content("WebhookRequest"), "The address and the events."),
        errors={409: ()},
    ),
    Operation(
        "get", "/v2/webhooks", "listWebhooks", "Webhooks", "List webhooks",
        "Oldest first.",
        {200: OperationResponse("The webhooks, without their secrets.", json_content("Webhooks"))},
    ),
    Operation(
        "get", "/v2/webhooks/{webhook_id}", "readWebhook", "Webhooks", "Read a webhook",
        "Without its secret.",
        {200: OperationResponse("The webhook.", json_content("Webhook"))},
        errors={404: ()},
    ),
    Operation(
        "delete", "/v2/webhooks/{webhook_id}", "deleteWebhook", "Webhooks", "Delete a webhook",
        "Pending deliveries are discarded.",
        {204: NO_CONTENT},
        errors={404: ()},
    ),
    Operation(
        "post", "/v2/webhooks/{webhook_id}/rotate", "rotateWebhookSecret", "Webhooks",
        "Rotate a webhook's secret",
        "For 24 hours deliveries are also signed with the previous secret. A disabled webhook is "
        "enabled again.",
        {200: OperationResponse("The webhook with its new secret.", json_content("WebhookWithSecret"))},
        errors={404: (), **BODY_ERRORS},
    ),
    Operation(
        "post", "/v2/webhooks/{webhook_id}/test", "testWebhook", "Webhooks", "Test a webhook",
        "Sends the event webhook.test to it, signed as any other, whatever it subscribes to. The delivery is attempted "
        "once; the webhook's deliveries show the result. 409 while the previous test is pending, or if the webhook is "
        "disabled.",
        {202: OperationResponse("The pending delivery.", json_content("Delivery"))},
        errors={404: (), 409: (), **BODY_ERRORS},
    ),
    Operation(
        "get", "/v2/webhooks/{webhook_id}/deliveries", "listDeliveries", "Webhooks",
        "List a webhook's deliveries",
        "Newest first, each with its attempts; kept for 7 days.",
        {200: OperationResponse("One page.", json_content("Deliveries"))},
        query_parameters=(
            LIMIT,
            Parameter(
                "start_after",
                {"type": "string", "minLength": 1, "maxLength": 64},
                "The id of the last delivery of the previous page.",
            ),
        ),
        errors={404: ()},
    ),
)  # fmt: skip

# The `data` of a delivery: the record, as the job's or the batch's own path returns it.
_RECORD_OF: Final[Mapping[WebhookEvent, str]] = {
    WebhookEvent.JOB_SUCCEEDED: "Job",
    WebhookEvent.JOB_FAILED: "Job",
    WebhookEvent.BATCH_FINISHED: "Batch",
    WebhookEvent.WEBHOOK_TEST: "WebhookTest",
}
_HEADERS: Final[Mapping[str, str]] = {
    "webhook-id": "Id of the delivery, the same in each attempt, to detect duplicates.",
    "webhook-timestamp": "Seconds since 1970; reject deliveries older than five minutes.",
    "webhook-signature": "One or two signatures `v1,<base64>`, of HMAC-SHA256 over "
    "`<webhook-id>.<webhook-timestamp>.<body>` with the bytes of the secret.",
}


def describe_events() -> Mapping[str, Any]:
    """Return the `webhooks` object of the description: the request of each event."""
    return {event.value: {"post": _describe_event(event)} for event in WebhookEvent}


def _describe_event(event: WebhookEvent) -> Mapping[str, Any]:
    body = object_schema(
        {
            "type": string("The event.", const=event.value),
            "timestamp": date_time("When it occurred."),
            "data": ref(_RECORD_OF[event]),
        }
    )
    return {
        "operationId": "on" + "".join(part.title() for part in event.split(".")),
        "tags": ["Webhooks"],
        "summary": f"{event}",
        "description": f"Sent to {_receivers(event)}, signed as Standard Webhooks 1.0 specifies.",
        "security": [],
        "parameters": [
            {
                "name": name,
                "in": "header",
                "required": True,
                "description": description,
                "schema": {"type": "string"},
            }
            for name, description in _HEADERS.items()
        ],
        "requestBody": {"required": True, "content": {"application/json": {"schema": body}}},
        "responses": {
            "2XX": {"description": "Delivered."},
            "410": {"description": "The webhook is disabled."},
            "default": {
                "description": "The delivery has failed."
                if event is WebhookEvent.WEBHOOK_TEST
                else "The delivery is retried, for 24 hours."
            },
        },
    }


def _receivers(event: WebhookEvent) -> str:
    if event is WebhookEvent.WEBHOOK_TEST:
        return "a webhook that is tested"
    return "the account's webhooks that subscribe to it"
