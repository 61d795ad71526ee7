"""Delivery loop: lease due deliveries, call webhooks with a signature header or upload files, record the attempts.

A crash at any point loses nothing. A failed delivery is repeated with back-off for 24 hours; signatures of webhooks
are those of Standard Webhooks 1.0 (standardwebhooks.com).
"""

from __future__ import annotations

import hmac
import random
import re
from base64 import b64decode, b64encode
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from hashlib import sha256
from http import HTTPStatus
from threading import Event, Lock
from typing import Final

from shared.blobs.store import BlobMissingError, BlobStore
from shared.clock import epoch, now, ticks
from shared.db.session import Database
from shared.encryption import SecretCipher, SecretUnreadableError
from shared.errors import Unavailable
from shared.outbound import Outbound, PostResult, TargetRefusedError, TargetUnreachableError
from shared.telemetry.log import get_logger
from shared.webhooks import repository as webhooks
from shared.webhooks.repository import SECRET_PREFIX, WEBHOOK, Attempt, DeliveryStatus, DueDelivery
from workers.webhooks.files import FileSender


def sign(delivery_id: str, at: int, body: bytes, secrets: Sequence[str]) -> dict[str, str]:
    """Return the headers that identify and sign a body; `at` is seconds since 1970.

    Each secret adds a signature; a receiver needs to know one of them.
    """
    signed = b"%b.%d.%b" % (delivery_id.encode("ascii"), at, body)
    signatures = [f"v1,{_signature(secret, signed)}" for secret in secrets]
    return {
        "webhook-id": delivery_id,
        "webhook-timestamp": str(at),
        "webhook-signature": " ".join(signatures),
    }


def _signature(secret: str, signed: bytes) -> str:
    key = b64decode(secret.removeprefix(SECRET_PREFIX))
    return b64encode(hmac.new(key, signed, sha256).digest()).decode("ascii")


GIVE_UP_AFTER: Final = timedelta(hours=24)
# Seconds after the first, second … failed attempt; the last value repeats.
_DELAYS: Final = (5, 30, 120, 600, 1800, 3600, 7200, 14400)
_JITTER: Final = 0.2
_MAX_RETRY_AFTER: Final = timedelta(hours=1)


def next_attempt(
    created_at: datetime, *, failed: int, now: datetime, not_before: datetime | None = None
) -> datetime | None:
    """Return the instant of the next attempt after `failed` ones, None after `GIVE_UP_AFTER`.

    The delay has a jitter of 20 %, so that deliveries that failed together are not retried together.
    `not_before` is the receiver's wish.
    """
    delay = _DELAYS[min(failed, len(_DELAYS)) - 1]
    varied = delay * random.uniform(1 - _JITTER, 1 + _JITTER)  # noqa: S311 - not used for security
    at = max(now + timedelta(seconds=varied), not_before or now)
    return at if at <= created_at + GIVE_UP_AFTER else None


def read_retry_after(text: str | None, *, now: datetime) -> datetime | None:
    """Return the instant of a `Retry-After` header (RFC 9110, 10.2.3), an hour from now at most.

    Return None without one, and for an invalid or past one.
    """
    if text is None:
        return None
    text = text.strip()
    try:
        at = (
            now + timedelta(seconds=min(int(text), _MAX_RETRY_AFTER.total_seconds()))
            if re.fullmatch(r"[0-9]{1,9}", text)
            else parsedate_to_datetime(text).astimezone(UTC)
        )
    except (ValueError, OverflowError):
        return None
    return min(at, now + _MAX_RETRY_AFTER) if at > now else None


THREADS: Final = 32
# The limit of concurrent deliveries, so that an account with slow targets does not block others.
MAX_PER_ACCOUNT: Final = 4
ATTEMPT_SECONDS: Final = 20.0  # Standard Webhooks recommends 15 to 30
LEASE: Final = timedelta(seconds=30)
_RENEW_SECONDS: Final = 10.0  # attempts last longer than a lease: uploads of large files
POLL_SECONDS: Final = 0.5
_PAUSE_SECONDS: Final = 1.0
_THROTTLED: Final = (HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE)
_DELETE_EVERY_SECONDS: Final = 60.0
_DELETE_LIMIT: Final = 1000

_NO_ANSWER: Final = PostResult(0)

OUTCOMES: Final = ("delivered", "retried", "failed", "disabled")

log: Final = get_logger(__name__)


class WebhookDeliverer:
    """Sends the deliveries of the outbox until stopped."""

    def __init__(
        self,
        database: Database,
        outbound: Outbound,
        secrets: SecretCipher,
        blobs: BlobStore,
        *,
        public_url: str = "",
        count: Callable[[str], None],
    ) -> None:
        self._database = database
        self._secrets = secrets
        self._outbound = outbound
        self._files = FileSender(database, blobs, outbound, secrets, public_url)
        self._count = count
        self._stop = Event()
        self._is_free = (
            Event()
        )  # an account, or all, had as many attempts as it may, and has one less
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="deliver")
        self._lock = Lock()
        self._under_way: Counter[str] = Counter()  # by account
        self._leased: set[str] = set()
        self._renew_at = 0.0
        self._delete_at = 0.0
        self._are_encrypted = False

    def stop(self) -> None:
        """Make `run` return once the attempts in progress have ended."""
        self._stop.set()

    def run(self) -> None:
        """Deliver until stopped; in an outage of the database wait and retry."""
        while not self._stop.is_set():
            try:
                self._encrypt_secrets()
                self._delete_old()
                self._renew_leases()
                if not self.start_due():
                    self._is_free.wait(POLL_SECONDS)
                    self._is_free.clear()
            except Unavailable as error:
                log.warning(
                    "delivery waits for outage", part=error.part, cause=repr(error.__cause__)
                )
                self._stop.wait(_PAUSE_SECONDS)
        self._threads.shutdown(wait=True)

    def start_due(self) -> int:
        """Start some due deliveries and return how many.

        Raises:
            Unavailable: the database does not answer.
        """
        with self._lock:
            free = THREADS - self._under_way.total()
            busy = [
                account for account, number in self._under_way.items() if number >= MAX_PER_ACCOUNT
            ]
        # Few at a time: all may belong to one account.
        due = self._lease(min(free, MAX_PER_ACCOUNT), busy)
        for delivery in due:
            self._begin(delivery)
        return len(due)

    def _lease(self, limit: int, busy: Sequence[str]) -> Sequence[DueDelivery]:
        if limit == 0:
            return []
        at = now()
        with self._database.snapshot() as session:
            # A read-only check first, which does not wait for the write lock.
            if not webhooks.has_due(session, at=at, busy=busy):
                return []
        with self._database.session() as session:
            return webhooks.lease_due(session, at=at, until=at + LEASE, limit=limit, busy=busy)

    def _begin(self, delivery: DueDelivery) -> None:
        with self._lock:
            self._under_way[delivery.account_id] += 1
            self._leased.add(delivery.id)
        self._threads.submit(self._deliver, delivery).add_done_callback(
            lambda done: self._end(delivery, done)
        )

    def _end(self, delivery: DueDelivery, done: Future[None]) -> None:
        with self._lock:
            number, total = self._under_way[delivery.account_id], self._under_way.total()
            if number == MAX_PER_ACCOUNT or total == THREADS:
                self._is_free.set()
            self._under_way[delivery.account_id] -= 1
            self._leased.discard(delivery.id)
            if not self._under_way[delivery.account_id]:
                del self._under_way[delivery.account_id]
        error = done.exception()
        if error is not None:  # its lease expires, and it is attempted again
            log.warning("delivery not recorded", delivery=delivery.id, cause=repr(error))

    def _renew_leases(self) -> None:
        if ticks() < self._renew_at:
            return
        self._renew_at = ticks() + _RENEW_SECONDS
        with self._lock:
            leased = list(self._leased)
        if leased:
            with self._database.session() as session:
                webhooks.renew_leases(session, leased, until=now() + LEASE)

    def _deliver(self, delivery: DueDelivery) -> None:
        at, begun_at = now(), ticks()
        error: str | None = None
        try:
            result = self._send(delivery)
            if result is None:
                return
            error = result.text
        except (TargetRefusedError, TargetUnreachableError) as failure:
            result, error = _NO_ANSWER, str(failure)
        except BlobMissingError:
            result, error = PostResult(0, is_final=True), "the file was deleted"
        except SecretUnreadableError as failure:
            log.error("secret unreadable", target=delivery.webhook_id, cause=str(failure))
            result, error = _NO_ANSWER, "the secret of the target cannot be read; replace it"
        attempt = Attempt(
            delivery.attempts + 1,
            at,
            round((ticks() - begun_at) * 1000),
            result.status or None,
            error,
        )
        outcome = self._record(delivery, attempt, result)
        self._count(outcome)
        log.info(
            "webhook called" if delivery.kind == WEBHOOK else "file uploaded",
            delivery=delivery.id,
            kind=delivery.kind,
            webhook=delivery.webhook_id,
            account=delivery.account_id,
            attempt=attempt.number,
            status=attempt.status,
            outcome=outcome,
            milliseconds=attempt.milliseconds,
        )

    def _send(self, delivery: DueDelivery) -> PostResult | None:
        """Make an attempt; None if the delivery waits for others."""
        secrets = [self._secrets.decrypt(secret) for secret in delivery.secrets]
        if delivery.url is None:
            return self._files.send(delivery, secrets[0])
        body = delivery.payload.encode("utf-8")
        headers = sign(delivery.id, int(epoch()), body, secrets)
        return self._outbound.post(
            delivery.url,
            body=body,
            headers={"Content-Type": "application/json", **headers},
            deadline_seconds=ATTEMPT_SECONDS,
        )

    def _record(self, delivery: DueDelivery, attempt: Attempt, result: PostResult) -> str:
        """Record an attempt and return its outcome: delivered, retried, failed or disabled."""
        retry_after = None
        if result.status in _THROTTLED:
            retry_after = read_retry_after(result.retry_after, now=now())
        if HTTPStatus.OK <= result.status < HTTPStatus.MULTIPLE_CHOICES:
            outcome, status, again = "delivered", DeliveryStatus.DELIVERED, None
        elif delivery.kind == WEBHOOK and result.status == HTTPStatus.GONE:
            outcome, status, again = "disabled", DeliveryStatus.FAILED, None
        else:
            # A test shows its result at once: it is not retried.
            again = (
                None
                if delivery.is_test or result.is_final
                else next_attempt(
                    delivery.created_at,
                    failed=delivery.failed + 1,
                    now=now(),
                    not_before=retry_after,
                )
            )
            outcome = "failed" if again is None else "retried"
            status = DeliveryStatus.FAILED if again is None else DeliveryStatus.PENDING
        with self._database.session() as session:
            webhooks.record_attempt(
                session, delivery.id, attempt, status=status, next_attempt_at=again
            )
            if outcome == "disabled":
                webhooks.disable_webhook(session, delivery.webhook_id, at=attempt.at)
            if retry_after is not None:
                webhooks.postpone_deliveries(session, delivery.webhook_id, until=retry_after)
        return outcome

    def _encrypt_secrets(self) -> None:
        """Encrypt secrets with the newest key, once after each start."""
        if self._are_encrypted:
            return
        try:
            with self._database.session() as session:
                changed = webhooks.encrypt_secrets(session, self._secrets)
        except SecretUnreadableError as error:
            log.error("secrets not encrypted with the newest key", cause=str(error))
        else:
            log.info("secrets encrypted with the newest key", changed=changed)
        self._are_encrypted = True

    def _delete_old(self) -> None:
        if ticks() < self._delete_at:
            return
        with self._database.session() as session:
            forgotten = webhooks.delete_old_deliveries(
                session, before=now() - webhooks.DELIVERY_RETENTION, limit=_DELETE_LIMIT
            )
        if forgotten < _DELETE_LIMIT:
            self._delete_at = ticks() + _DELETE_EVERY_SECONDS
