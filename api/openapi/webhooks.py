"""The operations, schemas and events of webhooks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

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
    BODY_ERRORS,
    LIMIT,
    NO_CONTENT,
    ErrorStatuses,
    Operation,
    OperationResponse,
    Parameter,
    RequestBody,
    json_content,
)
from shared.db.webhooks import (
    MAX_WEBHOOKS,
    SUBSCRIBABLE_EVENTS,
    DeliveryStatus,
    WebhookEvent,
)

_ID: Final = string(
    "The id.", minLength=1, maxLength=64, examples=["hook_3ocgfeeghiuyg5wnorrj2owg"]
)
_RECORD: Final[Mapping[str, Schema]] = {
    "id": _ID,
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

WEBHOOK_SCHEMAS: Final[Mapping[str, Schema]] = {
    "Webhook": object_schema(_RECORD, optional=("disabled_at",)),
    "WebhookWithSecret": object_schema({**_RECORD, "secret": _SECRET}, optional=("disabled_at",)),
    "WebhookRequest": strict_object(
        {"url": _RECORD["url"], "events": _RECORD["events"]}, optional=("events",)
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
    "WebhookTest": object_schema({"webhook_id": _ID}),
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
        "tags": [_TAG],
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


_PATH: Final = (Parameter("webhook_id", _ID, "A webhook of the account."),)
_TAG: Final = "Webhooks"
_NOT_FOUND: Final[ErrorStatuses] = {404: ()}

WEBHOOK_OPERATIONS: Final = (
    Operation(
        "post", "/v2/webhooks", "createWebhook", _TAG, "Add a webhook",
        "Notifies an address when asynchronous jobs and batches end. Deliveries are signed as "
        "Standard Webhooks 1.0 specifies, and retried for 24 hours until they are answered 2xx; 410 "
        f"disables the webhook. An account has at most {MAX_WEBHOOKS}.",
        {201: OperationResponse("The webhook with its secret.", json_content("WebhookWithSecret"))},
        body=RequestBody(json_content("WebhookRequest"), "The address and the events."),
        errors={409: (), **BODY_ERRORS},
    ),
    Operation(
        "get", "/v2/webhooks", "listWebhooks", _TAG, "List webhooks",
        "Oldest first.",
        {200: OperationResponse("The webhooks, without their secrets.", json_content("Webhooks"))},
    ),
    Operation(
        "get", "/v2/webhooks/{webhook_id}", "readWebhook", _TAG, "Read a webhook",
        "Without its secret.",
        {200: OperationResponse("The webhook.", json_content("Webhook"))},
        path_parameters=_PATH,
        errors=_NOT_FOUND,
    ),
    Operation(
        "delete", "/v2/webhooks/{webhook_id}", "deleteWebhook", _TAG, "Delete a webhook",
        "Pending deliveries are discarded.",
        {204: NO_CONTENT},
        path_parameters=_PATH,
        errors=_NOT_FOUND,
    ),
    Operation(
        "post", "/v2/webhooks/{webhook_id}/rotate", "rotateWebhookSecret", _TAG,
        "Rotate a webhook's secret",
        "For 24 hours deliveries are also signed with the previous secret. A disabled webhook is "
        "enabled again.",
        {200: OperationResponse("The webhook with its new secret.", json_content("WebhookWithSecret"))},
        path_parameters=_PATH,
        errors={**_NOT_FOUND, **BODY_ERRORS},
    ),
    Operation(
        "post", "/v2/webhooks/{webhook_id}/test", "testWebhook", _TAG, "Test a webhook",
        "Sends the event webhook.test to it, signed as any other, whatever it subscribes to. The delivery is attempted "
        "once; the webhook's deliveries show the result. 409 while the previous test is pending, or if the webhook is "
        "disabled.",
        {202: OperationResponse("The pending delivery.", json_content("Delivery"))},
        path_parameters=_PATH,
        errors={**_NOT_FOUND, 409: (), **BODY_ERRORS},
    ),
    Operation(
        "get", "/v2/webhooks/{webhook_id}/deliveries", "listDeliveries", _TAG,
        "List a webhook's deliveries",
        "Newest first, each with its attempts; kept for 7 days.",
        {200: OperationResponse("One page.", json_content("Deliveries"))},
        path_parameters=_PATH,
        query_parameters=(
            LIMIT,
            Parameter(
                "start_after",
                {"type": "string", "minLength": 1, "maxLength": 64},
                "The id of the last delivery of the previous page.",
            ),
        ),
        errors=_NOT_FOUND,
    ),
)  # fmt: skip
