"""Webhooks and destinations of the account, their deliveries, and the verification of signatures."""

from __future__ import annotations

import hmac
import json
import time
from base64 import b64decode, b64encode
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Final

from pressroom_client.schemas import Delivery, Destination, Webhook
from pressroom_client.transport import PressroomError, Resource

TOLERANCE_SECONDS: Final = 300.0
_PREFIX: Final = "whsec_"


class SignatureError(PressroomError):
    """A delivery whose signature is invalid or whose timestamp is too old."""


@dataclass(frozen=True, slots=True)
class Event:
    """The event of a delivery: `data` is the record of the job or the batch.

    `id` is that of the delivery, the same in each attempt: use it to detect duplicates.
    """

    id: str
    type: str
    timestamp: str
    data: Mapping[str, Any]


def verify(
    secret: str | Sequence[str],
    headers: Mapping[str, str],
    body: bytes,
    *,
    tolerance_seconds: float = TOLERANCE_SECONDS,
    now: float | None = None,
) -> Event:
    """Check the signature of a delivery (Standard Webhooks 1.0) and return its event.

    `headers` and `body` are those of the request, with the raw body. `secret` is the webhook's, or
    both secrets during a rotation. `now` is in seconds since 1970, by default the current time.

    Raises:
        SignatureError: no signature is valid, or the timestamp is more than `tolerance_seconds` away.
        ValueError: a secret is not `whsec_` followed by Base64.
    """
    fields = {name.lower(): value for name, value in headers.items()}
    delivery, timestamp = fields.get("webhook-id", ""), fields.get("webhook-timestamp", "")
    if not delivery or not (timestamp.isascii() and timestamp.isdigit()):
        raise SignatureError("the headers webhook-id and webhook-timestamp are missing")
    if abs((time.time() if now is None else now) - int(timestamp)) > tolerance_seconds:
        raise SignatureError("the delivery is too old, or this machine's clock is wrong")
    signed = f"{delivery}.{timestamp}.".encode() + body
    good = [_sign(each, signed) for each in ([secret] if isinstance(secret, str) else secret)]
    given = [
        signature
        for version, _, signature in (
            part.partition(",") for part in fields.get("webhook-signature", "").split()
        )
        if version == "v1"
    ]
    if not any(hmac.compare_digest(a.encode(), b.encode()) for a in good for b in given):
        raise SignatureError("no signature matches the secret")
    event = json.loads(body)
    return Event(delivery, event["type"], event["timestamp"], event["data"])


def _sign(secret: str, signed: bytes) -> str:
    try:
        key = b64decode(secret.removeprefix(_PREFIX), validate=True)
    except ValueError as error:
        raise ValueError("the secret must be whsec_ followed by Base64") from error
    return b64encode(hmac.new(key, signed, sha256).digest()).decode("ascii")


class Webhooks(Resource):
    """The webhooks of the key's account: `Pressroom.webhooks`."""

    _plural = "webhooks"

    def create(self, url: str, *, events: Sequence[str] | None = None) -> Webhook:
        """Create a webhook, by default for all events; its `secret` is returned only here."""
        fields: dict[str, Any] = {"url": url}
        if events is not None:
            fields["events"] = list(events)
        return self._own.read(Webhook, "POST", fields=fields)

    def list(self) -> Sequence[Webhook]:
        """Return the webhooks, oldest first, without their secrets."""
        return self._own.read_page(Webhook)

    def read(self, webhook_id: str) -> Webhook:
        """Return a webhook, without its secret."""
        return self._own.read(Webhook, "GET", webhook_id)

    def rotate(self, webhook_id: str) -> Webhook:
        """Rotate the secret; for 24 hours deliveries are also signed with the previous one."""
        return self._own.read(Webhook, "POST", webhook_id, "rotate")

    def test(self, webhook_id: str) -> Delivery:
        """Queue a test delivery, which is attempted once; `deliveries` shows its result."""
        return self._own.read(Delivery, "POST", webhook_id, "test")

    def delete(self, webhook_id: str) -> None:
        """Remove a webhook; its pending deliveries are discarded."""
        self._own.request("DELETE", webhook_id)

    def deliveries(self, webhook_id: str) -> Iterator[Delivery]:
        """Yield the deliveries of the last 7 days, newest first, with their attempts."""
        return self._own.read_pages(Delivery, webhook_id, "deliveries", key="id")


class Destinations(Resource):
    """The destinations of the key's account, and its deliveries: `Pressroom.destinations`."""

    _plural = "destinations"

    def create(self, url: str, *, secret: str = "", **fields: Any) -> Destination:
        """Add a destination; `fields` are `name`, `host_key` for SFTP, and `mail` for SMTP, a mapping."""
        given = {"url": url, "secret": secret, **fields}
        return self._own.read(Destination, "POST", fields=given)

    def list(self) -> Sequence[Destination]:
        """Return the destinations, oldest first."""
        return self._own.read_page(Destination)

    def read(self, destination_id: str) -> Destination:
        """Return a destination."""
        return self._own.read(Destination, "GET", destination_id)

    def test(self, destination_id: str) -> Delivery:
        """Queue the delivery of a small text file; `deliveries` shows its result."""
        return self._own.read(Delivery, "POST", destination_id, "test")

    def delete(self, destination_id: str) -> None:
        """Remove a destination; its pending deliveries are discarded."""
        self._own.request("DELETE", destination_id)

    def deliveries(self, *, status: str | None = None) -> Iterator[Delivery]:
        """Yield the account's deliveries of the last 7 days, newest first; undelivered ones are `failed`."""
        query = {"status": status}
        return self._transport.read_pages(Delivery, "deliveries", query=query, key="id")

    def redeliver(self, delivery_id: str) -> Delivery:
        """Deliver again, for another day of attempts."""
        return self._transport.read(Delivery, "POST", "deliveries", delivery_id, "redeliver")
