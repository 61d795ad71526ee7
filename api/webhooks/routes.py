"""The routes under /v2/webhooks."""

from __future__ import annotations

import re
import secrets
from base64 import b64encode
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Final

from flask import Response, request

from api.admission.body import receive_fields
from api.auth.guard import current_principal
from api.http import read_cursor, read_limit, write_json
from api.operations.model import (
    BODY_ERRORS,
    Parameter,
    RequestBody,
    Routes,
    current_query,
    delete,
    get,
    json_content,
    json_response,
    post,
)
from api.operations.parameters import LIMIT, NO_CONTENT
from api.ports import Ports
from shared.auth.scopes import Scope
from shared.clock import now
from shared.errors import ServiceError
from shared.outbound import TargetRefusedError
from shared.webhooks import repository as webhooks
from shared.webhooks.repository import MAX_WEBHOOKS, SUBSCRIBABLE_EVENTS, Delivery, WebhookEvent

_SECRET_BYTES: Final = 32
_ACCEPTED_EVENTS: Final = ", ".join(SUBSCRIBABLE_EVENTS)
_MAX_URL_LENGTH: Final = 2048
_MAX_NAMED: Final = 5  # unknown events in one message
_DELIVERY_CURSOR: Final = "^[!-~]{1,64}$"
START_AFTER_DELIVERY: Final = Parameter(
    "start_after",
    {"type": "string", "pattern": _DELIVERY_CURSOR},
    "The id of the last delivery of the previous page.",
)
is_delivery_cursor: Final = re.compile(_DELIVERY_CURSOR).fullmatch


class WebhookRoutes(Routes):
    """The views."""

    tag = "Webhooks"
    scopes = frozenset((Scope.ACCOUNT,))
    is_readable = False  # they are addresses of other systems
    words: ClassVar[Mapping[str, str]] = {"most": str(MAX_WEBHOOKS)}

    @post(
        "/v2/webhooks",
        {201: json_response("The webhook with its secret.", "WebhookWithSecret")},
        body=RequestBody(json_content("WebhookRequest"), "The address and the events."),
        errors={409: ()},
    )
    def create_webhook(self) -> Response:
        """Add a webhook.

        Notifies an address when asynchronous jobs and batches end. Deliveries are signed as Standard
        Webhooks 1.0 specifies, and retried for 24 hours until they are answered 2xx; 410 disables the
        webhook. An account has at most $most.
        """
        principal = current_principal()
        fields = receive_fields(request, ("url", "events"))
        url, events = self._read_fields(fields)
        secret = _make_secret()
        with self._ports.database.session() as session:
            webhook = webhooks.create_webhook(
                session,
                principal.state.account_id,
                url=url,
                events=events,
                secret=self._ports.secret_cipher.encrypt(secret),
                at=now(),
            )
        headers = {"Location": f"/v2/webhooks/{webhook.id}"}
        return write_json({**webhook.show(), "secret": secret}, 201, headers=headers)

    @get("/v2/webhooks", {200: json_response("The webhooks, without their secrets.", "Webhooks")})
    def list_webhooks(self) -> Response:
        """List webhooks.

        Oldest first.
        """
        principal = current_principal()
        with self._ports.database.snapshot() as session:
            found = webhooks.list_webhooks(session, principal.state.account_id)
        return write_json({"webhooks": [webhook.show() for webhook in found]})

    @get(
        "/v2/webhooks/{webhook_id}",
        {200: json_response("The webhook.", "Webhook")},
        errors={404: ()},
    )
    def read_webhook(self, webhook_id: str) -> Response:
        """Read a webhook.

        Without its secret.
        """
        principal = current_principal()
        with self._ports.database.snapshot() as session:
            webhook = webhooks.find_webhook(session, principal.state.account_id, webhook_id)
        return write_json(webhook.show())

    @delete("/v2/webhooks/{webhook_id}", {204: NO_CONTENT}, errors={404: ()})
    def delete_webhook(self, webhook_id: str) -> Response:
        """Delete a webhook.

        Pending deliveries are discarded.
        """
        principal = current_principal()
        with self._ports.database.session() as session:
            webhooks.delete_webhook(session, principal.state.account_id, webhook_id)
        return Response(status=204)

    @post(
        "/v2/webhooks/{webhook_id}/rotate",
        {200: json_response("The webhook with its new secret.", "WebhookWithSecret")},
        errors={404: (), **BODY_ERRORS},
    )
    def rotate_webhook_secret(self, webhook_id: str) -> Response:
        """Rotate a webhook's secret.

        For 24 hours deliveries are also signed with the previous secret. A disabled webhook is enabled
        again.
        """
        principal = current_principal()
        receive_fields(request, ())
        secret = _make_secret()
        with self._ports.database.session() as session:
            webhook = webhooks.rotate_secret(
                session,
                principal.state.account_id,
                webhook_id,
                secret=self._ports.secret_cipher.encrypt(secret),
                at=now(),
            )
        return write_json({**webhook.show(), "secret": secret})

    @post(
        "/v2/webhooks/{webhook_id}/test",
        {202: json_response("The pending delivery.", "Delivery")},
        errors={404: (), 409: (), **BODY_ERRORS},
    )
    def test_webhook(self, webhook_id: str) -> Response:
        """Test a webhook.

        Sends the event webhook.test to it, signed as any other, whatever it subscribes to. The delivery is
        attempted once; the webhook's deliveries show the result. 409 while the previous test is pending, or
        if the webhook is disabled.
        """
        principal = current_principal()
        receive_fields(request, ())
        with self._ports.database.session() as session:
            delivery = webhooks.enqueue_test(
                session, principal.state.account_id, webhook_id, at=now()
            )
        return write_json(write_delivery(delivery), 202)

    @get(
        "/v2/webhooks/{webhook_id}/deliveries",
        {200: json_response("One page.", "Deliveries")},
        query=(LIMIT, START_AFTER_DELIVERY),
        errors={404: ()},
    )
    def list_deliveries(self, webhook_id: str) -> Response:
        """List a webhook's deliveries.

        Newest first, each with its attempts; kept for 7 days.
        """
        principal = current_principal()
        query = current_query()
        limit = read_limit(query)
        with self._ports.database.snapshot() as session:
            webhooks.find_webhook(session, principal.state.account_id, webhook_id)
            found, has_more = webhooks.list_deliveries(
                session,
                webhook_id,
                limit=limit,
                start_after=read_cursor(query, is_delivery_cursor),
            )
        return write_json(
            {"deliveries": [write_delivery(delivery) for delivery in found], "has_more": has_more}
        )

    def _read_fields(self, fields: Mapping[str, Any]) -> tuple[str, tuple[WebhookEvent, ...]]:
        """Read the address and the events of a new webhook.

        Raises:
            ServiceError: 400, with all errors of both.
        """
        faults = [*_find_url_errors(fields, self._ports), *_find_event_errors(fields)]
        if faults:
            raise ServiceError(400, " ".join(faults))
        given = fields.get("events", SUBSCRIBABLE_EVENTS)
        return fields["url"], tuple(event for event in SUBSCRIBABLE_EVENTS if event in given)


def _find_url_errors(fields: Mapping[str, Any], ports: Ports) -> Iterator[str]:
    url = fields.get("url")
    if not isinstance(url, str) or not 1 <= len(url) <= _MAX_URL_LENGTH:
        yield f"The field url must be an address of at most {_MAX_URL_LENGTH} characters."
        return
    try:
        ports.fetcher.check(url)
    except TargetRefusedError as error:
        yield f"The field url is not allowed: {error}."


def _find_event_errors(fields: Mapping[str, Any]) -> Iterator[str]:
    if "events" not in fields:
        return
    given = fields["events"]
    must = f"The field events must be a non-empty list of {_ACCEPTED_EVENTS}."
    if not isinstance(given, list) or not given:
        yield must
        return
    known = SUBSCRIBABLE_EVENTS
    unknown = [name for name in given if not isinstance(name, str) or name not in known]
    if unknown:
        named = ", ".join(repr(name)[:100] for name in unknown[:_MAX_NAMED])
        which = "event" if len(unknown) == 1 else "events"
        yield f"Unknown {which} {named}: accepted are {_ACCEPTED_EVENTS}."
    elif len(given) > len(SUBSCRIBABLE_EVENTS):
        yield must


def _make_secret() -> str:
    return "whsec_" + b64encode(secrets.token_bytes(_SECRET_BYTES)).decode("ascii")


def write_delivery(delivery: Delivery) -> dict[str, Any]:
    """Write a delivery as clients see it."""
    shown = delivery.show()
    for attempt in shown["attempts"]:
        del attempt["number"]  # they are in order
    return shown
