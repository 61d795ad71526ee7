"""The operations, schemas and events of recorded work: jobs, batches, and the webhooks that are told of their ends."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from api.openapi.record_schemas import extend_schema, record_schema
from api.openapi.schemas import WARNINGS, more_of, page_of
from api.operations.model import (
    URL_PATTERN,
    Schema,
    array_of,
    date_time,
    enum_of,
    integer,
    object_schema,
    ref,
    strict_object,
    string,
)
from api.operations.parameters import BATCH_ID, DESTINATION_ID, EXAMPLE_JOB, JOB_ID, WEBHOOK_ID
from shared.batches.decisions import MAX_DECISIONS, HeldDocuments, Reprint, Unit
from shared.batches.plans import (
    MAX_CLASSES,
    MAX_FILES,
    MAX_INSERTS,
    Bundle,
    Condition,
    Hold,
    IndexFormat,
    Insert,
    Keep,
    Marks,
    Paper,
    Plan,
    PlanOutput,
    PostageClass,
    Priority,
    Split,
    StoredPlan,
    Weight,
)
from shared.batches.records import ItemStatus, ShownBatch
from shared.batches.runs import DeliveredFiles, RunAccount, ShownFile
from shared.batches.stored_plans import MAX_PLANS, MAX_TAGS
from shared.jobs.repository import Job
from shared.jobs.subjects import ErasureReceipt
from shared.webhooks.destinations import Destination, DestinationRequest, Mail
from shared.webhooks.repository import (
    MAX_WEBHOOKS,
    SUBSCRIBABLE_EVENTS,
    Attempt,
    Delivery,
    Webhook,
    WebhookEvent,
)

_WEBHOOK: Final = record_schema(
    Webhook,
    id=WEBHOOK_ID,
    url=string(
        "An http or https address on the public internet.",
        minLength=8,
        maxLength=2048,
        pattern=URL_PATTERN,
        examples=["https://example.org/hooks/pressroom"],
    ),
    events={
        "type": "array",
        "description": "The subscribed events; all events by default.",
        "items": string("An event.", enum=[event.value for event in SUBSCRIBABLE_EVENTS]),
        "minItems": 1,
        "maxItems": len(SUBSCRIBABLE_EVENTS),
    },
)
_SECRET: Final = string(
    "Signs the deliveries; returned only here.",
    pattern="^whsec_[A-Za-z0-9+/=]+$",
    examples=["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"],
)

_VALUE: Final[Schema] = {
    "type": ["string", "number", "boolean"],
    "description": "The value of `split.value` that its documents have.",
    "examples": ["CH"],
}


JOB_SCHEMAS: Final[Mapping[str, Schema]] = {
    "Job": record_schema(Job, id=JOB_ID, error=ref("Error"), warnings=WARNINGS),
    "JobList": page_of("jobs", "Job"),
    "Batch": record_schema(ShownBatch, id=BATCH_ID, error=ref("Error"), priority=enum_of(Priority)),
    "BatchList": page_of("batches", "Batch"),
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
            "filename": string("The file name that the template gives it, once it succeeded."),
        },
        optional=("pages", "error", "warnings", "filename"),
    ),
    "PlanSplit": record_schema(Split, by_hand=array_of("PlanCondition", maxItems=10)),
    "PlanBundle": record_schema(Bundle),
    "PlanMarks": record_schema(Marks),
    "PlanHold": record_schema(Hold, conditions=array_of("PlanCondition", maxItems=20)),
    "PlanKeep": record_schema(Keep),
    "PlanCondition": record_schema(
        Condition,
        one_of={
            "type": "array",
            "items": {"type": ["string", "number", "boolean"]},
            "description": "It is one of these.",
            "maxItems": 100,
        },
    ),
    "PlanInsert": record_schema(Insert, conditions=array_of("PlanCondition", maxItems=10)),
    "PostageClass": record_schema(PostageClass),
    "PlanPaper": record_schema(Paper),
    "PlanWeight": record_schema(
        Weight, paper=ref("PlanPaper"), classes=array_of("PostageClass", maxItems=MAX_CLASSES)
    ),
    "Plan": record_schema(
        Plan,
        split=ref("PlanSplit"),
        bundle=ref("PlanBundle"),
        marks=ref("PlanMarks"),
        inserts=array_of("PlanInsert", maxItems=MAX_INSERTS),
        weight=ref("PlanWeight"),
        output=enum_of(
            PlanOutput,
            default=PlanOutput.MERGED,
            description="What a file is. merged: a PDF of all its documents. zip: a ZIP with a PDF for each set, their "
            "index and SHA-256 digests. archive: a zip of documents that each claim a profile of PDF/A; others fail.",
        ),
        hold=ref("PlanHold"),
        keep=ref("PlanKeep"),
        priority=enum_of(Priority, description="The priority of batches which name none."),
        index=enum_of(IndexFormat, default=IndexFormat.CSV),
    ),
    "StoredPlan": record_schema(
        StoredPlan, plan=ref("Plan"), tags=array_of("TagPointer", maxItems=MAX_TAGS)
    ),
    "Plans": object_schema({"plans": array_of("StoredPlan", maxItems=MAX_PLANS)}),
    "RunFile": record_schema(ShownFile, value=_VALUE),
    "DeliveredFiles": record_schema(DeliveredFiles),
    "RunAccount": record_schema(
        RunAccount,
        files=array_of("RunFile", maxItems=MAX_FILES * (MAX_DECISIONS + 1)),
        proof=ref("RunFile"),
        reprints=array_of("RunFile", maxItems=MAX_DECISIONS),
        deliveries=ref("DeliveredFiles"),
    ),
    "HeldDocuments": record_schema(HeldDocuments),
    "Reprint": record_schema(Reprint, unit=enum_of(Unit, default=Unit.DOCUMENTS)),
    "BatchItems": more_of("items", "BatchItem", maxItems=1000),
    "ErasureReceipt": record_schema(ErasureReceipt),
    "Webhook": _WEBHOOK,
    "WebhookWithSecret": extend_schema(_WEBHOOK, {"secret": _SECRET}),
    "WebhookRequest": strict_object(
        {name: _WEBHOOK["properties"][name] for name in ("url", "events")}, optional=("events",)
    ),
    "Webhooks": object_schema({"webhooks": array_of("Webhook")}),
    "Destination": extend_schema(
        record_schema(DestinationRequest, without=("secret",), mail=ref("Mail")),
        record_schema(Destination, without=("settings",), id=DESTINATION_ID)["properties"],
    ),
    "DestinationRequest": {
        **record_schema(DestinationRequest, mail=ref("Mail")),
        "examples": [  # each kind of destination takes some of the fields
            {
                "url": "https://files.example.org/inbox",
                "name": "{date}/{job}",
                "secret": "Bearer 6f1c",
            }
        ],
    },
    "Mail": record_schema(Mail),
    "Destinations": object_schema({"destinations": array_of("Destination", maxItems=MAX_WEBHOOKS)}),
    "DeliveryAttempt": record_schema(Attempt, without=("number",)),
    "Delivery": record_schema(Delivery, attempts=array_of("DeliveryAttempt")),
    "WebhookTest": object_schema({"webhook_id": WEBHOOK_ID}),
    "Deliveries": more_of("deliveries", "Delivery"),
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
    return {event.value: {"post": _describe_event(event)} for event in _RECORD_OF}


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
