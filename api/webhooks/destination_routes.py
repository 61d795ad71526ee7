"""The routes under /v2/destinations and /v2/deliveries."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from flask import Response, request

from api.admission.body import receive_fields
from api.auth.guard import current_principal, record_change
from api.http import read_choice, read_cursor, read_limit, write_json
from api.operations.model import (
    BODY_ERRORS,
    Parameter,
    RequestBody,
    Routes,
    current_query,
    delete,
    enum_of,
    get,
    json_content,
    json_response,
    post,
)
from api.operations.parameters import LIMIT, NO_CONTENT
from api.webhooks.routes import START_AFTER_DELIVERY, is_delivery_cursor, write_delivery
from shared.auth.scopes import Scope
from shared.clock import now
from shared.errors import ServiceError
from shared.outbound import TargetRefusedError
from shared.webhooks import destinations
from shared.webhooks.destinations import DestinationRequest
from shared.webhooks.repository import MAX_WEBHOOKS, DeliveryStatus, list_deliveries, redeliver
from shared.webhooks.uploads import parse_destination


class DestinationRoutes(Routes):
    """The views of destinations."""

    tag = "Destinations"
    scopes = frozenset((Scope.ACCOUNT,))
    is_readable = False  # they are addresses of other systems
    words: ClassVar[Mapping[str, str]] = {"most": str(MAX_WEBHOOKS)}

    @post(
        "/v2/destinations",
        {201: json_response("The destination, without its secret.", "Destination")},
        body=RequestBody(json_content("DestinationRequest"), "The address and its secret."),
        errors={409: ()},
    )
    def create_destination(self) -> Response:
        """Add a destination.

        Renders on record and batches that name it (`deliver`) are delivered there when they have succeeded: to a
        bucket of S3, by SFTP, or by PUT over HTTPS. Of a batch each file is,
        then its index or a manifest. An upload is retried for 24 hours; a repeated one replaces the
        file of the same name. An account has at most $most.
        """
        principal = current_principal()
        fields = receive_fields(request, DestinationRequest.__struct_fields__)
        settings, address = parse_destination(fields)
        try:
            self._ports.fetcher.check(address.target.url)
        except TargetRefusedError as error:
            raise ServiceError(400, f"Invalid destination: url is not allowed: {error}.") from error
        secret = self._ports.secret_cipher.encrypt(settings.secret)
        with self._ports.database.session() as session:
            made = destinations.create_destination(
                session,
                principal.state.account_id,
                address.kind,
                settings.replace(secret=secret),
                at=now(),
            )
            record_change(session, principal, "destination.created", made.id, {"url": settings.url})
        return write_json(made.show(), 201, headers={"Location": f"/v2/destinations/{made.id}"})

    @get("/v2/destinations", {200: json_response("The destinations.", "Destinations")})
    def list_destinations(self) -> Response:
        """List destinations.

        Oldest first.
        """
        with self._ports.database.snapshot() as session:
            found = destinations.list_destinations(session, current_principal().state.account_id)
        return write_json({"destinations": [each.show() for each in found]})

    @get(
        "/v2/destinations/{destination_id}",
        {200: json_response("The destination.", "Destination")},
        errors={404: ()},
    )
    def read_destination(self, destination_id: str) -> Response:
        """Read a destination.

        Without its secret.
        """
        account_id = current_principal().state.account_id
        with self._ports.database.snapshot() as session:
            found = destinations.find_destination(session, account_id, destination_id)
        return write_json(found.show())

    @delete("/v2/destinations/{destination_id}", {204: NO_CONTENT}, errors={404: ()})
    def delete_destination(self, destination_id: str) -> Response:
        """Delete a destination.

        Pending deliveries are discarded.
        """
        principal = current_principal()
        with self._ports.database.session() as session:
            destinations.delete_destination(session, principal.state.account_id, destination_id)
            record_change(session, principal, "destination.deleted", destination_id)
        return Response(status=204)

    @post(
        "/v2/destinations/{destination_id}/test",
        {202: json_response("The pending delivery.", "Delivery")},
        errors={404: (), 409: (), **BODY_ERRORS},
    )
    def test_destination(self, destination_id: str) -> Response:
        """Test a destination.

        Delivers a small text file to it, once; the delivery shows the result. 409 while the previous test is
        pending.
        """
        receive_fields(request, ())
        account_id = current_principal().state.account_id
        with self._ports.database.session() as session:
            made = destinations.enqueue_test(session, account_id, destination_id, at=now())
        return write_json(write_delivery(made), 202)


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
            START_AFTER_DELIVERY,
            Parameter("status", enum_of(DeliveryStatus), "Only deliveries of this status."),
        ),
    )
    def list_account_deliveries(self) -> Response:
        """List the deliveries of the account.

        Those of webhooks and of files, newest first, each with its attempts; kept for 7 days. Undelivered ones
        have status=failed.
        """
        query = current_query()
        with self._ports.database.snapshot() as session:
            found, has_more = list_deliveries(
                session,
                limit=read_limit(query),
                start_after=read_cursor(query, is_delivery_cursor),
                account_id=current_principal().state.account_id,
                status=read_choice(query, "status", DeliveryStatus),
            )
        return write_json(
            {"deliveries": [write_delivery(each) for each in found], "has_more": has_more}
        )

    @post(
        "/v2/deliveries/{delivery_id}/redeliver",
        {202: json_response("The pending delivery.", "Delivery")},
        errors={404: (), 409: (), **BODY_ERRORS},
    )
    def redeliver(self, delivery_id: str) -> Response:
        """Deliver again.

        For another day of attempts, whether the delivery failed or not; 409 while it is pending. A file can be
        delivered as long as it is kept.
        """
        receive_fields(request, ())
        account_id = current_principal().state.account_id
        with self._ports.database.session() as session:
            made = redeliver(session, account_id, delivery_id, at=now())
        return write_json(write_delivery(made), 202)
