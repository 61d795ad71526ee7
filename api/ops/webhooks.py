"""The operations and shapes of webhooks, for the description."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from api.ops.operations import Answer, Body, Operation, Parameter
from api.ops.schemas import Schema, ref
from shared.db.hooks import MOST_WEBHOOKS, DeliveryStatus, Event

_EVENTS: Final[Schema] = {
    "type": "array",
    "description": "What to be told of; all of them unless given.",
    "items": {"type": "string", "enum": [event.value for event in Event]},
    "minItems": 1,
    "maxItems": len(Event),
}
_URL: Final[Schema] = {
    "type": "string",
    "description": "An http or https address on the public internet.",
    "minLength": 8,
    "maxLength": 2048,
}
_ID: Final[Schema] = {"type": "string", "description": "The id.", "minLength": 1, "maxLength": 64}
_SECRET: Final[Schema] = {
    "type": "string",
    "description": "Signs the deliveries; shown here and never again.",
    "pattern": "^whsec_[A-Za-z0-9+/=]+$",
}


def _instant(text: str) -> Schema:
    return {
        "type": "string",
        "format": "date-time",
        "description": f"{text} ISO 8601, UTC, milliseconds.",
    }


_RECORD: Final[Mapping[str, Schema]] = {
    "id": _ID,
    "url": _URL,
    "events": _EVENTS,
    "created_at": _instant("When it was added."),
    "disabled_at": _instant("When its target answered 410; absent while it is told of events."),
}
_REQUIRED: Final = ["id", "url", "events", "created_at"]

WEBHOOK_SCHEMAS: Final[Mapping[str, Schema]] = {
    "Webhook": {"type": "object", "properties": _RECORD, "required": _REQUIRED},
    "WebhookWithSecret": {
        "type": "object",
        "properties": {**_RECORD, "secret": _SECRET},
        "required": [*_REQUIRED, "secret"],
    },
    "WebhookRequest": {
        "type": "object",
        "properties": {"url": _URL, "events": _EVENTS},
        "required": ["url"],
        "additionalProperties": False,
    },
    "Webhooks": {
        "type": "object",
        "properties": {"webhooks": {"type": "array", "items": ref("Webhook")}},
        "required": ["webhooks"],
    },
    "DeliveryAttempt": {
        "type": "object",
        "properties": {
            "at": _instant("When it began."),
            "milliseconds": {"type": "integer", "minimum": 0, "description": "How long it took."},
            "status": {
                "type": "integer",
                "minimum": 100,
                "maximum": 999,
                "description": "What the target answered; absent when it did not.",
            },
            "error": {"type": "string", "description": "Why there was no answer."},
        },
        "required": ["at", "milliseconds"],
    },
    "Delivery": {
        "type": "object",
        "properties": {
            "id": {"type": "string", "description": "The `webhook-id` of every attempt."},
            "event": {"type": "string", "enum": [event.value for event in Event]},
            "status": {"type": "string", "enum": [status.value for status in DeliveryStatus]},
            "created_at": _instant("When it happened."),
            "next_attempt_at": _instant("When it is tried next, while it is pending."),
            "attempts": {"type": "array", "items": ref("DeliveryAttempt")},
        },
        "required": ["id", "event", "status", "created_at", "attempts"],
    },
    "Deliveries": {
        "type": "object",
        "properties": {
            "deliveries": {"type": "array", "items": ref("Delivery")},
            "has_more": {"type": "boolean", "description": "Whether older ones follow."},
        },
        "required": ["deliveries", "has_more"],
    },
}

_NAMED: Final = (Parameter("webhook_id", _ID, "A webhook of the account."),)
_GROUP: Final = "Webhooks"
_JSON: Final = "application/json"


def _answer(text: str, schema: str) -> Answer:
    return Answer(text, {_JSON: ref(schema)})


_UNKNOWN: Final[Mapping[int, Any]] = {404: ()}

WEBHOOK_OPERATIONS: Final = (
    Operation(
        "post", "/v2/webhooks", "createWebhook", _GROUP, "Add a webhook",
        "Tells an address of the ends of asynchronous jobs and of batches. Deliveries are signed as "
        "Standard Webhooks 1.0 says, and tried again for 24 hours until they are answered 2xx; 410 "
        f"disables the webhook. An account has at most {MOST_WEBHOOKS}.",
        {201: _answer("The webhook with its secret.", "WebhookWithSecret")},
        body=Body({_JSON: ref("WebhookRequest")}, "Where to and what of."),
        failures={409: (), 413: (), 415: ()},
    ),
    Operation(
        "get", "/v2/webhooks", "listWebhooks", _GROUP, "List the webhooks",
        "The oldest first.",
        {200: _answer("The webhooks, without their secrets.", "Webhooks")},
    ),
    Operation(
        "get", "/v2/webhooks/{webhook_id}", "readWebhook", _GROUP, "Read a webhook",
        "Without its secret.",
        {200: _answer("The webhook.", "Webhook")},
        in_path=_NAMED,
        failures=_UNKNOWN,
    ),
    Operation(
        "delete", "/v2/webhooks/{webhook_id}", "deleteWebhook", _GROUP, "Delete a webhook",
        "What still waited to be delivered to it is not.",
        {204: Answer("Done; there is no body.")},
        in_path=_NAMED,
        failures=_UNKNOWN,
    ),
    Operation(
        "post", "/v2/webhooks/{webhook_id}/rotate", "rotateWebhookSecret", _GROUP,
        "Change a webhook's secret",
        "For 24 hours deliveries carry a signature with the former secret too. A disabled webhook is "
        "enabled again.",
        {200: _answer("The webhook with its new secret.", "WebhookWithSecret")},
        in_path=_NAMED,
        failures={**_UNKNOWN, 413: (), 415: ()},
    ),
    Operation(
        "get", "/v2/webhooks/{webhook_id}/deliveries", "listDeliveries", _GROUP,
        "List what a webhook was told",
        "The newest first, each with its attempts; kept for 7 days.",
        {200: _answer("A page of the log.", "Deliveries")},
        in_path=_NAMED,
        query=(
            Parameter(
                "limit",
                {"type": "integer", "minimum": 1, "maximum": 1000, "default": 100},
                "How many at most.",
            ),
            Parameter(
                "start_after",
                {"type": "string", "minLength": 1, "maxLength": 64},
                "The id of the last delivery of the page before.",
            ),
        ),
        failures=_UNKNOWN,
    ),
)  # fmt: skip
