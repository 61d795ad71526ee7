"""The operations, schemas and events of recorded work: jobs, batches, and the webhooks that are told of their ends."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from api.openapi.schemas import WARNINGS
from api.operations.json_schema import (
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
from api.operations.parameters import BATCH_ID, EXAMPLE_JOB, JOB_ID, WEBHOOK_ID
from shared.batches.records import BatchStatus, ItemStatus
from shared.jobs.repository import JobStatus
from shared.webhooks.repository import (
    SUBSCRIBABLE_EVENTS,
    DeliveryStatus,
    WebhookEvent,
)

_WEBHOOK: Final[Mapping[str, Schema]] = {
    "id": WEBHOOK_ID,
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


def _list_of(plural: str, name: str) -> Schema:
    cursor = string("The start_after of the next page, when there is one.")
    records = array_of(name, maxItems=1000)
    return object_schema({plural: records, "next_cursor": cursor}, optional=("next_cursor",))


JOB_SCHEMAS: Final[Mapping[str, Schema]] = {
    "Job": object_schema(
        {
            "id": JOB_ID,
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
            "id": BATCH_ID,
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
                **BATCH_ID,
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
    "WebhookTest": object_schema({"webhook_id": WEBHOOK_ID}),
    "Deliveries": object_schema(
        {"deliveries": array_of("Delivery"), "has_more": boolean("Whether older entries exist.")}
    ),
}

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
