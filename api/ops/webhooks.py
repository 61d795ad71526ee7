"""The operations and shapes of webhooks, for the description."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from api.ops.parts import (
    BODY_FAILURES,
    EMPTY,
    LIMIT,
    Answer,
    Body,
    Failures,
    Operation,
    Parameter,
    write_json,
)
from api.ops.shapes import Schema, choice, count, flag, instant, list_of, record, ref, request, text
from shared.db.hooks import MOST_WEBHOOKS, DeliveryStatus, Event

_ID: Final = text("The id.", minLength=1, maxLength=64)
_RECORD: Final[Mapping[str, Schema]] = {
    "id": _ID,
    "url": text("An http or https address on the public internet.", minLength=8, maxLength=2048),
    "events": {
        "type": "array",
        "description": "What to be told of; all of them unless given.",
        "items": choice(Event),
        "minItems": 1,
        "maxItems": len(Event),
    },
    "created_at": instant("When it was added."),
    "disabled_at": instant("When its target answered 410; absent while it is told of events."),
}
_SECRET: Final = text(
    "Signs the deliveries; shown here and never again.", pattern="^whsec_[A-Za-z0-9+/=]+$"
)

WEBHOOK_SCHEMAS: Final[Mapping[str, Schema]] = {
    "Webhook": record(_RECORD, optional=("disabled_at",)),
    "WebhookWithSecret": record({**_RECORD, "secret": _SECRET}, optional=("disabled_at",)),
    "WebhookRequest": request(
        {"url": _RECORD["url"], "events": _RECORD["events"]}, optional=("events",)
    ),
    "Webhooks": record({"webhooks": list_of("Webhook")}),
    "DeliveryAttempt": record(
        {
            "at": instant("When it began."),
            "milliseconds": count("How long it took."),
            "status": count(
                "What the target answered; absent when it did not.", minimum=100, maximum=999
            ),
            "error": text("Why there was no answer."),
        },
        optional=("status", "error"),
    ),
    "Delivery": record(
        {
            "id": text("The `webhook-id` of every attempt."),
            "event": choice(Event),
            "status": choice(DeliveryStatus),
            "created_at": instant("When it happened."),
            "next_attempt_at": instant("When it is tried next, while it is pending."),
            "attempts": list_of("DeliveryAttempt"),
        },
        optional=("next_attempt_at",),
    ),
    "Deliveries": record(
        {"deliveries": list_of("Delivery"), "has_more": flag("Whether older ones follow.")}
    ),
}

# What a delivery carries as data: the record, as the job's or the batch's own path has it.
_RECORD_OF: Final[Mapping[Event, str]] = {
    Event.JOB_SUCCEEDED: "Job",
    Event.JOB_FAILED: "Job",
    Event.BATCH_FINISHED: "Batch",
}
_HEADERS: Final[Mapping[str, str]] = {
    "webhook-id": "The delivery; the same in each attempt, so that a repeated one can be dropped.",
    "webhook-timestamp": "Seconds since 1970; refuse what is older than five minutes.",
    "webhook-signature": "One or two signatures `v1,<base64>`, of HMAC-SHA256 over "
    "`<webhook-id>.<webhook-timestamp>.<body>` with the bytes of the secret.",
}


def describe_events() -> Mapping[str, Any]:
    """Return the `webhooks` of the description: each event as the request that tells of it."""
    return {event.value: {"post": _describe_event(event)} for event in Event}


def _describe_event(event: Event) -> Mapping[str, Any]:
    body = record(
        {
            "type": text("The event.", const=event.value),
            "timestamp": instant("When it happened."),
            "data": ref(_RECORD_OF[event]),
        }
    )
    return {
        "operationId": "on" + "".join(part.title() for part in event.split(".")),
        "tags": [_GROUP],
        "summary": f"{event}",
        "description": "Sent to the webhooks of the account that ask for it, signed as Standard Webhooks 1.0 says.",
        "parameters": [
            {
                "name": name,
                "in": "header",
                "required": True,
                "description": about,
                "schema": {"type": "string"},
            }
            for name, about in _HEADERS.items()
        ],
        "requestBody": {"required": True, "content": {"application/json": {"schema": body}}},
        "responses": {
            "2XX": {"description": "Taken."},
            "410": {"description": "Not wanted any more: the webhook is disabled."},
            "default": {"description": "Tried again, for 24 hours."},
        },
    }


_NAMED: Final = (Parameter("webhook_id", _ID, "A webhook of the account."),)
_GROUP: Final = "Webhooks"
_UNKNOWN: Final[Failures] = {404: ()}

WEBHOOK_OPERATIONS: Final = (
    Operation(
        "post", "/v2/webhooks", "createWebhook", _GROUP, "Add a webhook",
        "Tells an address of the ends of asynchronous jobs and of batches. Deliveries are signed as "
        "Standard Webhooks 1.0 says, and tried again for 24 hours until they are answered 2xx; 410 "
        f"disables the webhook. An account has at most {MOST_WEBHOOKS}.",
        {201: Answer("The webhook with its secret.", write_json("WebhookWithSecret"))},
        body=Body(write_json("WebhookRequest"), "Where to and what of."),
        failures={409: (), **BODY_FAILURES},
    ),
    Operation(
        "get", "/v2/webhooks", "listWebhooks", _GROUP, "List the webhooks",
        "The oldest first.",
        {200: Answer("The webhooks, without their secrets.", write_json("Webhooks"))},
    ),
    Operation(
        "get", "/v2/webhooks/{webhook_id}", "readWebhook", _GROUP, "Read a webhook",
        "Without its secret.",
        {200: Answer("The webhook.", write_json("Webhook"))},
        in_path=_NAMED,
        failures=_UNKNOWN,
    ),
    Operation(
        "delete", "/v2/webhooks/{webhook_id}", "deleteWebhook", _GROUP, "Delete a webhook",
        "What still waited to be delivered to it is not.",
        {204: EMPTY},
        in_path=_NAMED,
        failures=_UNKNOWN,
    ),
    Operation(
        "post", "/v2/webhooks/{webhook_id}/rotate", "rotateWebhookSecret", _GROUP,
        "Change a webhook's secret",
        "For 24 hours deliveries carry a signature with the former secret too. A disabled webhook is "
        "enabled again.",
        {200: Answer("The webhook with its new secret.", write_json("WebhookWithSecret"))},
        in_path=_NAMED,
        failures={**_UNKNOWN, **BODY_FAILURES},
    ),
    Operation(
        "get", "/v2/webhooks/{webhook_id}/deliveries", "listDeliveries", _GROUP,
        "List what a webhook was told",
        "The newest first, each with its attempts; kept for 7 days.",
        {200: Answer("A page of the log.", write_json("Deliveries"))},
        in_path=_NAMED,
        query=(
            LIMIT,
            Parameter(
                "start_after",
                {"type": "string", "minLength": 1, "maxLength": 64},
                "The id of the last delivery of the page before.",
            ),
        ),
        failures=_UNKNOWN,
    ),
)  # fmt: skip
