"""The routes under /v2/webhooks, /v2/destinations and /v2/deliveries."""

from __future__ import annotations

import secrets
from base64 import b64encode
from collections.abc import Mapping
from pathlib import PurePath
from typing import Any, ClassVar, Final

from flask import Response, request

from api.admission.body import NoFields, receive_record
from api.auth.guard import current_principal, record_change
from api.http import read_choice, read_limit, write_json
from api.operations.model import (
    BODY_ERRORS,
    OperationResponse,
    Parameter,
    RequestBody,
    Routes,
    binary_content,
    current_query,
    delete,
    enum_of,
    get,
    json_content,
    json_response,
    post,
)
from api.operations.parameters import FILE_REQUEST_HEADERS, LIMIT, NO_CONTENT, file_responses
from api.pdf_headers import write_attachment_headers
from api.stored_files import BlobFile, send_file
from shared.auth import audit
from shared.auth.key_state import Rate
from shared.auth.scopes import Scope
from shared.clock import now
from shared.db.session import Session
from shared.errors import ErrorCode, ServiceError
from shared.outbound import TargetRefusedError
from shared.webhooks import repository as webhooks
from shared.webhooks.destinations import Destination, DestinationRequest, create_destination
from shared.webhooks.links import find_linked, read_link
from shared.webhooks.repository import (
    MAX_WEBHOOKS,
    SUBSCRIBABLE_EVENTS,
    Delivery,
    DeliveryStatus,
    Receiver,
    Webhook,
    WebhookRequest,
)
from shared.webhooks.uploads import check_destination

_SECRET_BYTES: Final = 32
_START_AFTER: Final = Parameter(
    "start_after",
    {"type": "string", "pattern": "^[!-~]{1,64}$"},
    "The id of the last delivery of the previous page.",
)
_LINK_RATE: Final = Rate(60, 60)  # of each link: a viewer reads a file in ranges


def _words(name: str, test: str) -> Mapping[str, str]:
    return {
        "singular": name,
        "plural": f"{name}s",
        "Singular": name.title(),
        "Plural": f"{name.title()}s",
        "most": str(MAX_WEBHOOKS),
        "test": test,
    }


class _TargetRoutes(Routes):
    """The views that webhooks and destinations share."""

    scopes = frozenset((Scope.ACCOUNT,))
    is_readable = False  # they are addresses of other systems
    _kind: ClassVar[type[Receiver]]

    def _check_url(self, url: str) -> None:
        try:
            self._ports.fetcher.check(url)
        except TargetRefusedError as error:
            message = f"Invalid {self._kind.name}: url is not allowed: {error}."
            raise ServiceError(400, message) from error

    @get(
        "/v2/$plural",
        {200: json_response("The $plural, without their secrets.", "$Plural")},
        name="list$Plural",
    )
    def list_targets(self) -> Response:
        """List $plural.

        Oldest first.
        """
        with self._ports.database.snapshot() as session:
            found = webhooks.list_targets(session, self._kind, _account_id())
        return write_json({f"{self._kind.name}s": [each.show() for each in found]})

    @get(
        "/v2/$plural/{${singular}_id}",
        {200: json_response("The $singular.", "$Singular")},
        errors={404: ()},
        name="read$Singular",
    )
    def read_target(self, target_id: str) -> Response:
        """Read a $singular.

        Without its secret.
        """
        with self._ports.database.snapshot() as session:
            found = webhooks.find_target(session, self._kind, _account_id(), target_id)
        return write_json(found.show())

    @delete(
        "/v2/$plural/{${singular}_id}", {204: NO_CONTENT}, errors={404: ()}, name="delete$Singular"
    )
    def delete_target(self, target_id: str) -> Response:
        """Delete a $singular.

        Pending deliveries are discarded.
        """
        with self._ports.database.session() as session:
            webhooks.delete_target(session, self._kind, _account_id(), target_id)
            action = f"{self._kind.name}.deleted"
            record_change(session, current_principal(), action, target_id)
        return Response(status=204)

    @post(
        "/v2/$plural/{${singular}_id}/test",
        {202: json_response("The pending delivery.", "Delivery")},
        errors={404: (), 409: (), **BODY_ERRORS},
        name="test$Singular",
    )
    def test_target(self, target_id: str) -> Response:
        """Test a $singular.

        $test
        """
        receive_record(request, NoFields)
        with self._ports.database.session() as session:
            made = webhooks.enqueue_test(session, self._kind, _account_id(), target_id, at=now())
        return write_json(_show(made), 202)


class WebhookRoutes(_TargetRoutes):
    """The views of webhooks."""

    tag = "Webhooks"
    words = _words(
        "webhook",
        "Sends the event webhook.test to it, signed as any other, whatever it subscribes to. The delivery is "
        "attempted once; the webhook's deliveries show the result. 409 while the previous test is pending, or "
        "if the webhook is disabled.",
    )
    _kind = Webhook

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
        asked = receive_record(request, WebhookRequest, what="webhook")
        self._check_url(asked.url)
        secret = _make_secret()
        with self._ports.database.session() as session:
            webhook = webhooks.create_webhook(
                session,
                _account_id(),
                url=asked.url,
                events=[event for event in SUBSCRIBABLE_EVENTS if event.value in asked.events],
                secret=self._ports.secret_cipher.encrypt(secret),
                at=now(),
            )
            record_change(
                session, current_principal(), "webhook.created", webhook.id, {"url": asked.url}
            )
        headers = {"Location": f"/v2/webhooks/{webhook.id}"}
        return write_json({**webhook.show(), "secret": secret}, 201, headers=headers)

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
        receive_record(request, NoFields)
        secret = _make_secret()
        with self._ports.database.session() as session:
            webhook = webhooks.rotate_secret(
                session,
                _account_id(),
                webhook_id,
                secret=self._ports.secret_cipher.encrypt(secret),
                at=now(),
            )
            record_change(session, current_principal(), "webhook.rotated", webhook_id)
        return write_json({**webhook.show(), "secret": secret})

    @get(
        "/v2/webhooks/{webhook_id}/deliveries",
        {200: json_response("One page.", "Deliveries")},
        query=(LIMIT, _START_AFTER),
        errors={404: ()},
    )
    def list_deliveries(self, webhook_id: str) -> Response:
        """List a webhook's deliveries.

        Newest first, each with its attempts; kept for 7 days.
        """
        with self._ports.database.snapshot() as session:
            webhooks.find_target(session, Webhook, _account_id(), webhook_id)
            return _list_deliveries(session, webhook_id=webhook_id)


class DestinationRoutes(_TargetRoutes):
    """The views of destinations."""

    tag = "Destinations"
    words = _words(
        "destination",
        "Delivers a small text file to it, once; the delivery shows the result. 409 while the previous test is "
        "pending.",
    )
    _kind = Destination

    @post(
        "/v2/destinations",
        {201: json_response("The destination, without its secret.", "Destination")},
        body=RequestBody(json_content("DestinationRequest"), "The address and its secret."),
        errors={409: ()},
    )
    def create_destination(self) -> Response:
        """Add a destination.

        Renders on record and batches that name it (`deliver`) are delivered there when they have succeeded: to a
        bucket of S3, by SFTP, by PUT over HTTPS, or by mail, attached or as a link that ends. Of a batch each file is,
        then its index or a manifest. An upload is retried for 24 hours; a repeated one replaces the
        file of the same name. An account has at most $most.
        """
        settings = receive_record(request, DestinationRequest, what="destination")
        address = check_destination(settings)
        self._check_url(address.target.url)
        if settings.mail and settings.mail.link_hours and not self._ports.settings.studio_url:
            raise ServiceError(
                409,
                "Links in mails need the address of this farm, which its operator sets: PRESSROOM_STUDIO_URL.",
            )
        secret = self._ports.secret_cipher.encrypt(settings.secret)
        with self._ports.database.session() as session:
            made = create_destination(
                session, _account_id(), address.kind, settings.replace(secret=secret), at=now()
            )
            details = {"url": settings.url}
            record_change(session, current_principal(), "destination.created", made.id, details)
        return write_json(made.show(), 201, headers={"Location": f"/v2/destinations/{made.id}"})


class DeliveryRoutes(Routes):
    """The views of deliveries."""

    tag = "Destinations"
    scopes = frozenset((Scope.ACCOUNT,))
    is_readable = False

    @get(
        "/v2/deliveries",
        {200: json_response("One page.", "Deliveries")},
        query=(
            LIMIT,
            _START_AFTER,
            Parameter("status", enum_of(DeliveryStatus), "Only deliveries of this status."),
        ),
    )
    def list_account_deliveries(self) -> Response:
        """List the deliveries of the account.

        Those of webhooks and of files, newest first, each with its attempts; kept for 7 days. Undelivered ones
        have status=failed.
        """
        status = read_choice(current_query(), "status", DeliveryStatus)
        with self._ports.database.snapshot() as session:
            return _list_deliveries(session, account_id=_account_id(), status=status)

    @post(
        "/v2/deliveries/{delivery_id}/redeliver",
        {202: json_response("The pending delivery.", "Delivery")},
        errors={404: (), 409: (), **BODY_ERRORS},
    )
    def redeliver(self, delivery_id: str) -> Response:
        """Deliver again.

        For another day of attempts, whether the delivery failed or not; 409 while it is pending, or if its webhook is
        disabled. A file can be delivered as long as it is kept.
        """
        receive_record(request, NoFields)
        with self._ports.database.session() as session:
            made = webhooks.redeliver(session, _account_id(), delivery_id, at=now())
        return write_json(_show(made), 202)


class LinkRoutes(Routes):
    """The view of links in mails, whose tokens stand for a key."""

    tag = "Destinations"

    @get(
        "/links/{token}",
        file_responses(
            OperationResponse(
                "The PDF.", binary_content("application/pdf"), {"Content-Disposition": "Its name."}
            )
        ),
        headers=FILE_REQUEST_HEADERS,
        errors={400: (), 404: (), 410: (), 416: (), 429: (ErrorCode.RATE_LIMITED,), 503: ()},
    )
    def read_linked_file(self, token: str) -> Response:
        """Read the PDF of a link.

        For recipients of mails, without a key. 404 for a link that this farm did not make, 410 once it has ended,
        its result, delivery, destination or account is deleted, or the account is disabled.
        """
        found, at = read_link(self._ports.secret_cipher, token), now()
        if found is None:
            raise ServiceError(404, "This link is not known here.")
        delivery_id, end = found
        with self._ports.database.snapshot() as session:
            file = find_linked(session, delivery_id, at=at) if at < end else None
        if file is None:
            raise ServiceError(410, "This link has ended. Ask the sender for the file.")
        account_id, source, name = file
        if self._ports.cell(account_id).rates.take(delivery_id, _LINK_RATE).is_over:
            message = "Too many requests for this link."
            told = {"Retry-After": str(_LINK_RATE.window_seconds)}
            raise ServiceError(429, message, code=ErrorCode.RATE_LIMITED, headers=told)
        if self._ports.settings.audit_reads and request.method == "GET":
            with self._ports.database.session() as session:
                audit.record(session, account_id, "link", "file.read", delivery_id)
        blob = BlobFile(self._ports.blobs, source.key or "", source.size, source.offset)
        headers = {
            **write_attachment_headers(source.media_type, name, PurePath(name).suffix),
            "Cache-Control": "private, no-store",
            "Referrer-Policy": "no-referrer",
            "X-Robots-Tag": "noindex",
        }
        return send_file(request, blob, headers, what="file")


def _account_id() -> str:
    return current_principal().state.account_id


def _list_deliveries(session: Session, **wanted: Any) -> Response:
    query = current_query()
    found, has_more = webhooks.list_deliveries(
        session, limit=read_limit(query), start_after=query.get("start_after"), **wanted
    )
    return write_json({"deliveries": [_show(each) for each in found], "has_more": has_more})


def _make_secret() -> str:
    return "whsec_" + b64encode(secrets.token_bytes(_SECRET_BYTES)).decode("ascii")


def _show(delivery: Delivery) -> dict[str, Any]:
    """Write a delivery as clients see it."""
    shown = delivery.show()
    for attempt in shown["attempts"]:
        del attempt["number"]  # they are in order
    return shown
