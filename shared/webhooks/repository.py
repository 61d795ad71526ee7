"""Webhooks, and the outbox of all deliveries, which are inserted in the transaction of the event they report."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Annotated, Any, ClassVar, Final, Literal, TypeVar, get_args

from msgspec import Meta, structs
from sqlalchemy import (
    ColumnElement,
    Table,
    bindparam,
    delete,
    func,
    insert,
    or_,
    select,
    tuple_,
    update,
)

from shared.clock import timestamp
from shared.db.queries import lock_account
from shared.db.session import Session
from shared.db.tables import destinations, webhook_attempts, webhook_deliveries, webhooks
from shared.encryption import SecretCipher
from shared.errors import ServiceError
from shared.identifiers import new_id
from shared.records import Record, ShownRecord, Timestamp, doc

MAX_WEBHOOKS: Final = 20  # for each account, and as many destinations
SECRET_OVERLAP: Final = timedelta(hours=24)  # after a rotation the old secret signs too
DELIVERY_RETENTION: Final = timedelta(days=7)  # of the delivery log
WEBHOOK: Final = (
    "webhook"  # the kind of their deliveries; those of files have that of their destination
)
T = TypeVar("T", bound="Receiver")
SECRET_PREFIX: Final = "whsec_"  # noqa: S105 - the prefix of secrets in Standard Webhooks

# Built once: it runs whenever a job ends.
_LISTENING: Final = (
    select(webhooks.c.id, webhooks.c.account_id, webhooks.c.events)
    .where(webhooks.c.account_id.in_(bindparam("of_accounts", expanding=True)))
    .where(webhooks.c.disabled_at.is_(None))
)
# The attempts of a delivery since it was due: a repeated one begins with short delays again.
_FAILED: Final = (
    select(func.count())
    .where(
        webhook_attempts.c.delivery_id == webhook_deliveries.c.id,
        webhook_attempts.c.at >= webhook_deliveries.c.created_at,
    )
    .label("failed")
)
_OWNER: Final = func.coalesce(webhooks.c.account_id, destinations.c.account_id).label("owner")
_SECRET: Final = func.coalesce(webhooks.c.secret, destinations.c.secret).label("secret")


class WebhookEvent(StrEnum):
    """An event type of deliveries."""

    JOB_SUCCEEDED = "job.succeeded"
    JOB_FAILED = "job.failed"
    BATCH_FINISHED = "batch.finished"
    WEBHOOK_TEST = "webhook.test"  # requested for one webhook, whatever it subscribes to
    FILE_TEST = "file.test"


_Event = Literal["job.succeeded", "job.failed", "batch.finished"]
SUBSCRIBABLE_EVENTS: Final = tuple(map(WebhookEvent, get_args(_Event)))
TESTS: Final = tuple(event for event in WebhookEvent if event not in SUBSCRIBABLE_EVENTS)
_Events = Annotated[tuple[_Event, ...], Meta(min_length=1, max_length=len(SUBSCRIBABLE_EVENTS))]


class WebhookRequest(Record, frozen=True, forbid_unknown_fields=True):
    """A webhook as it is asked for."""

    url: Annotated[str, Meta(min_length=1, max_length=2048)]
    events: _Events = get_args(_Event)


@dataclass(frozen=True, slots=True)
class WebhookNotification:
    """An event of an account. `write` returns the record as JSON of the interface."""

    account_id: str
    event: WebhookEvent
    write: Callable[[], Mapping[str, Any]]


class DeliveryStatus(StrEnum):
    """The state of a delivery."""

    PENDING = "pending"
    DELIVERED = "delivered"
    FAILED = "failed"


class Receiver(ShownRecord, frozen=True):
    """A webhook or destination of an account: what the outbox delivers to."""

    name: ClassVar[str]
    table: ClassVar[Table]
    id: str

    def make_test(self, account_id: str, at: datetime) -> dict[str, Any]:
        """Return the row of a test delivery.

        Raises:
            ServiceError: 409, nothing is delivered to it at present.
        """
        raise NotImplementedError


class Webhook(Receiver, frozen=True):
    """A webhook of an account; `disabled_at` is set if its target answered 410."""

    name: ClassVar = "webhook"
    table: ClassVar = webhooks
    url: str
    events: tuple[WebhookEvent, ...]
    created_at: Annotated[Timestamp, doc("When it was added.")]
    disabled_at: Annotated[
        Timestamp | None, doc("When its target responded 410; absent while it is enabled.")
    ] = None

    def check_enabled(self) -> None:
        """Raise a ServiceError, 409, while the webhook is disabled."""
        if self.disabled_at is not None:
            raise ServiceError(
                409,
                "The webhook is disabled: its target answered 410. Rotate its secret to enable it.",
            )

    def make_test(self, account_id: str, at: datetime) -> dict[str, Any]:
        """Return the row of a test delivery; 409 while the webhook is disabled."""
        self.check_enabled()
        data = {"webhook_id": self.id}
        test = WebhookNotification(account_id, WebhookEvent.WEBHOOK_TEST, lambda: data)
        return _new_deliveries(test, [self.id], at)[0]


class Attempt(ShownRecord, frozen=True):
    """One delivery attempt: the status of the response, or the error if there was none."""

    number: int
    at: Annotated[Timestamp, doc("When it began.")]
    milliseconds: Annotated[int, doc("How long it took.", minimum=0)]
    status: Annotated[
        int | None,
        doc(
            "Status of the target's response, of HTTP or SMTP; absent without one.",
            minimum=100,
            maximum=999,
        ),
    ] = None
    error: Annotated[str | None, doc("Why there was no response, or what a mail server says.")] = (
        None
    )


class Delivery(ShownRecord, frozen=True):
    """The delivery of one event to one webhook, or of one file, with all attempts so far."""

    id: Annotated[
        str, doc("The `webhook-id` of every attempt.", examples=["msg_3ocgfeeghiuyg5wnorrj2owg"])
    ]
    kind: Annotated[str, doc("webhook, or the kind of the destination.", examples=["s3"])]
    target_id: Annotated[str, doc("Id of the webhook or destination.")]
    event: WebhookEvent
    status: DeliveryStatus
    created_at: Annotated[
        Timestamp, doc("When the event occurred, was to be sent, or it was last asked for.")
    ]
    attempts: tuple[Attempt, ...]
    next_attempt_at: Annotated[
        Timestamp | None, doc("When it is tried next, while it is pending.")
    ] = None
    source_id: Annotated[str | None, doc("The id of the job or batch.")] = None
    name: Annotated[str | None, doc("Of a file: its name at the destination.")] = None
    error: Annotated[str | None, doc("Why it has failed, where its attempts do not say.")] = None


class DueDelivery(Record, frozen=True):
    """A delivery leased for an attempt now. `secrets` are encrypted, the newest first.

    `url` is that of its webhook, and `settings` are those of its destination.
    """

    id: str
    kind: str
    webhook_id: str
    account_id: str
    event: str
    url: str | None
    secrets: tuple[str, ...]
    payload: str
    created_at: datetime
    attempts: int
    failed: int  # of these, since the event or since it was last asked for
    source_id: str | None
    settings: dict[str, Any] | None
    name: str | None

    @property
    def is_test(self) -> bool:
        """Whether it was asked for to test its target."""
        return self.event in TESTS

    def __repr__(self) -> str:
        """Hide the secrets and the payload from logs and tracebacks."""
        return f"DueDelivery(id={self.id!r}, webhook_id={self.webhook_id!r})"


def create_webhook(
    session: Session,
    account_id: str,
    *,
    url: str,
    events: Sequence[WebhookEvent],
    secret: str,
    at: datetime,
) -> Webhook:
    """Add a webhook; `secret` is encrypted (`shared.encryption`).

    Raises:
        ServiceError: 409, the account already has `MAX_WEBHOOKS`.
    """
    row = {
        "id": new_id("hook"),
        "account_id": account_id,
        "url": url,
        "events": [event.value for event in events],
        "secret": secret,
        "created_at": at,
    }
    add_target(session, webhooks, row)
    return Webhook.of_row(row)


def add_target(session: Session, table: Table, row: Mapping[str, Any]) -> None:
    """Insert a webhook or destination.

    Raises:
        ServiceError: 409, the account already has `MAX_WEBHOOKS` of them.
    """
    account_id = row["account_id"]
    lock_account(session, account_id)
    count = select(func.count()).select_from(table).where(table.c.account_id == account_id)
    if (session.scalar(count) or 0) >= MAX_WEBHOOKS:
        raise ServiceError(
            409, f"The account has {MAX_WEBHOOKS} {table.name}, the limit; delete one first."
        )
    session.execute(insert(table).values(**row))


def list_targets(session: Session, kind: type[T], account_id: str) -> list[T]:
    """Return an account's webhooks or destinations, oldest first."""
    columns = kind.table.c
    query = select(kind.table).where(columns.account_id == account_id)
    rows = session.execute(query.order_by(columns.created_at, columns.id)).mappings()
    return [kind.of_row(row) for row in rows]


def find_target(
    session: Session, kind: type[T], account_id: str, target_id: str, *, is_locked: bool = False
) -> T:
    """Return a webhook or destination of an account.

    Raises:
        ServiceError: 404, the account has none of that id.
    """
    columns = kind.table.c
    query = select(kind.table).where(columns.id == target_id, columns.account_id == account_id)
    row = session.execute(query.with_for_update() if is_locked else query).mappings().one_or_none()
    if row is None:
        raise ServiceError(404, f"The account has no {kind.name} {target_id!r}.")
    return kind.of_row(row)


def delete_target(session: Session, kind: type[Receiver], account_id: str, target_id: str) -> None:
    """Delete a webhook or destination and its log; pending deliveries are discarded.

    Raises:
        ServiceError: 404, the account has none of that id.
    """
    find_target(session, kind, account_id, target_id, is_locked=True)
    session.execute(delete(kind.table).where(kind.table.c.id == target_id))
    session.execute(delete(webhook_deliveries).where(webhook_deliveries.c.webhook_id == target_id))


def rotate_secret(
    session: Session, account_id: str, webhook_id: str, *, secret: str, at: datetime
) -> Webhook:
    """Replace a webhook's secret with a new, encrypted one, and enable the webhook. The old secret also signs
    for `SECRET_OVERLAP`.

    Raises:
        ServiceError: 404, the account has no webhook of that id.
    """
    find_target(session, Webhook, account_id, webhook_id, is_locked=True)
    session.execute(
        update(webhooks)
        .where(webhooks.c.id == webhook_id)
        .values(
            previous_secret=webhooks.c.secret,
            previous_secret_until=at + SECRET_OVERLAP,
            secret=secret,
            disabled_at=None,
        )
    )
    return find_target(session, Webhook, account_id, webhook_id)


def enqueue(session: Session, notifications: Sequence[WebhookNotification], *, at: datetime) -> int:
    """Insert the deliveries of events to their accounts' webhooks; return how many.

    Call it in the unit of work that ends the jobs or the batch, so that both are committed together.
    """
    listening = defaultdict(list)
    accounts_of = {"of_accounts": list({each.account_id for each in notifications})}
    for row in session.execute(_LISTENING, accounts_of):
        listening[row.account_id].append(row)
    new = [
        delivery
        for each in notifications
        if (
            subscribed := [row.id for row in listening[each.account_id] if each.event in row.events]
        )
        for delivery in _new_deliveries(each, subscribed, at)
    ]
    if new:
        session.execute(insert(webhook_deliveries), new)
    return len(new)


def enqueue_test(
    session: Session, kind: type[Receiver], account_id: str, target_id: str, *, at: datetime
) -> Delivery:
    """Insert a test delivery to a webhook or destination and return it.

    Raises:
        ServiceError: 404, the account has none of that id; 409, the webhook is disabled, or the previous
            test is pending.
    """
    # Locked, so that of concurrent tests one is inserted.
    row = find_target(session, kind, account_id, target_id, is_locked=True).make_test(
        account_id, at
    )
    pending = select(webhook_deliveries.c.id).where(
        webhook_deliveries.c.webhook_id == target_id,
        webhook_deliveries.c.event.in_([event.value for event in TESTS]),
        webhook_deliveries.c.status == DeliveryStatus.PENDING.value,
    )
    if session.scalar(pending.limit(1)) is not None:
        raise ServiceError(409, "The previous test is still pending.")
    session.execute(insert(webhook_deliveries).values(**row))
    return find_delivery(session, account_id, row["id"])


def _new_deliveries(
    notification: WebhookNotification, webhook_ids: Sequence[str], at: datetime
) -> Sequence[dict[str, Any]]:
    data = notification.write()
    told = {"type": notification.event.value, "timestamp": timestamp(at), "data": data}
    payload = json.dumps(told, ensure_ascii=False, separators=(",", ":"))
    targets = [DeliveryTarget(notification.account_id, WEBHOOK, each) for each in webhook_ids]
    return [
        new_delivery(target, notification.event, payload, at=at, source_id=data.get("id"))
        for target in targets
    ]


@dataclass(frozen=True, slots=True)
class DeliveryTarget:
    """A webhook or destination of an account."""

    account_id: str
    kind: str
    id: str


def new_delivery(
    target: DeliveryTarget,
    event: WebhookEvent,
    payload: str,
    *,
    at: datetime,
    source_id: str | None = None,
    name: str | None = None,
) -> dict[str, Any]:
    """Return the row of a new delivery, which is due at an instant; its day of attempts begins then."""
    return {
        "id": new_id("msg"),
        "account_id": target.account_id,
        "kind": target.kind,
        "webhook_id": target.id,
        "event": event.value,
        "payload": payload,
        "source_id": source_id,
        "name": name,
        "created_at": at,
        "next_attempt_at": at,
        "status": DeliveryStatus.PENDING.value,
    }


def list_deliveries(
    session: Session,
    webhook_id: str | None = None,
    *,
    limit: int,
    start_after: str | None = None,
    account_id: str | None = None,
    status: DeliveryStatus | None = None,
) -> tuple[Sequence[Delivery], bool]:
    """Return the deliveries of a webhook or an account, newest first, and whether older ones follow.

    `start_after` is the id of a delivery, whatever became of it since; nothing follows one that was deleted.
    """
    order = (webhook_deliveries.c.created_at, webhook_deliveries.c.id)
    given = {"webhook_id": webhook_id, "account_id": account_id, "status": status}
    conditions = [
        webhook_deliveries.c[name] == value for name, value in given.items() if value is not None
    ]
    query = (
        select(webhook_deliveries)
        .where(*conditions)
        .order_by(order[0].desc(), order[1].desc())
        .limit(limit + 1)
    )
    if start_after is not None:
        last = webhook_deliveries.alias().c
        place = select(last.created_at, last.id).where(last.id == start_after)
        query = query.where(tuple_(*order) < place.scalar_subquery())
    rows = session.execute(query).mappings().all()
    return _read_deliveries(session, rows[:limit]), len(rows) > limit


def find_delivery(session: Session, account_id: str, delivery_id: str) -> Delivery:
    """Return one of an account's deliveries.

    Raises:
        ServiceError: 404, the account has no delivery of that id.
    """
    columns = webhook_deliveries.c
    query = select(webhook_deliveries).where(
        columns.id == delivery_id, columns.account_id == account_id
    )
    rows = session.execute(query).mappings().all()
    if not rows:
        raise ServiceError(404, f"The account has no delivery {delivery_id!r}.")
    return _read_deliveries(session, rows)[0]


def redeliver(session: Session, account_id: str, delivery_id: str, *, at: datetime) -> Delivery:
    """Make an ended delivery due again, for a day of attempts; return it.

    Raises:
        ServiceError: 404, the account has no delivery of that id; 409, it is pending, or its webhook is disabled.
    """
    found = find_delivery(session, account_id, delivery_id)
    if found.kind == WEBHOOK:
        find_target(session, Webhook, account_id, found.target_id).check_enabled()
    columns = webhook_deliveries.c
    changed = session.execute(
        update(webhook_deliveries)
        .where(columns.id == delivery_id, columns.status != DeliveryStatus.PENDING.value)
        .values(
            status=DeliveryStatus.PENDING.value, created_at=at, next_attempt_at=at, last_error=None
        )
    )
    if not changed.rowcount:
        raise ServiceError(409, "The delivery is still pending.")
    return find_delivery(session, account_id, delivery_id)


def _read_deliveries(session: Session, rows: Sequence[Mapping[Any, Any]]) -> list[Delivery]:
    attempts = _find_attempts(session, [row["id"] for row in rows])
    return [
        Delivery.of_row(
            row,
            target_id=row["webhook_id"],
            attempts=attempts.get(row["id"], []),
            error=row["last_error"] if row["status"] == DeliveryStatus.FAILED else None,
        )
        for row in rows
    ]


def has_due(session: Session, *, at: datetime, busy: Sequence[str] = ()) -> bool:
    """Return whether `lease_due` would find a delivery."""
    query = select(webhook_deliveries.c.id).where(*_is_due(at, busy)).limit(1)
    return session.scalar(query) is not None


def lease_due(
    session: Session, *, at: datetime, until: datetime, limit: int, busy: Sequence[str] = ()
) -> Sequence[DueDelivery]:
    """Lease due deliveries, so that no other process attempts them before `until`.

    Deliveries of `busy` accounts are skipped.
    """
    query = (
        select(webhook_deliveries.c.id)
        .where(*_is_due(at, busy))
        .order_by(webhook_deliveries.c.next_attempt_at)
        .limit(limit)
        .with_for_update(skip_locked=True)
    )
    ids = list(session.scalars(query))
    if not ids:
        return []
    session.execute(
        update(webhook_deliveries)
        .where(webhook_deliveries.c.id.in_(ids))
        .values(leased_until=until)
    )
    taken = (
        select(
            webhook_deliveries, webhooks.c.url, destinations.c.settings, _FAILED, _OWNER, _SECRET
        )
        .add_columns(webhooks.c.previous_secret, webhooks.c.previous_secret_until)
        .outerjoin(webhooks, webhooks.c.id == webhook_deliveries.c.webhook_id)
        .outerjoin(destinations, destinations.c.id == webhook_deliveries.c.webhook_id)
        .where(webhooks.c.id.is_not(None) | destinations.c.id.is_not(None))
        .where(webhook_deliveries.c.id.in_(ids))
        .order_by(webhook_deliveries.c.next_attempt_at)
    )
    return [_due(row, at) for row in session.execute(taken).mappings()]


def renew_leases(session: Session, ids: Sequence[str], *, until: datetime) -> None:
    """Extend the leases of deliveries that are being attempted."""
    session.execute(
        update(webhook_deliveries)
        .where(webhook_deliveries.c.id.in_(ids), webhook_deliveries.c.leased_until.is_not(None))
        .values(leased_until=until)
    )


def postpone_delivery(session: Session, delivery_id: str, *, until: datetime) -> None:
    """End the lease of a delivery without an attempt: it is due again at an instant."""
    session.execute(
        update(webhook_deliveries)
        .where(webhook_deliveries.c.id == delivery_id)
        .values(leased_until=None, next_attempt_at=until)
    )


def record_attempt(
    session: Session,
    delivery_id: str,
    attempt: Attempt,
    *,
    status: DeliveryStatus,
    next_attempt_at: datetime | None,
) -> None:
    """Record an attempt and the next state of its delivery.

    Do nothing if the delivery was deleted, or if it has ended meanwhile and this attempt did not deliver it.
    """
    columns = webhook_deliveries.c
    is_open = columns.status == DeliveryStatus.PENDING.value
    changed = session.execute(
        update(webhook_deliveries)
        .where(columns.id == delivery_id, is_open | (status is DeliveryStatus.DELIVERED))
        .values(
            attempts=attempt.number,
            status=status.value,
            last_status=attempt.status,
            last_error=attempt.error,
            next_attempt_at=next_attempt_at,
            leased_until=None,
        )
    )
    if not changed.rowcount:
        return
    # If a process was delayed past its lease, another one may have recorded this attempt.
    session.execute(
        delete(webhook_attempts).where(
            webhook_attempts.c.delivery_id == delivery_id,
            webhook_attempts.c.number == attempt.number,
        )
    )
    session.execute(
        insert(webhook_attempts).values(delivery_id=delivery_id, **structs.asdict(attempt))
    )


def disable_webhook(session: Session, webhook_id: str, *, at: datetime) -> None:
    """Disable a webhook and mark its pending deliveries as failed."""
    session.execute(update(webhooks).where(webhooks.c.id == webhook_id).values(disabled_at=at))
    session.execute(
        update(webhook_deliveries)
        .where(
            webhook_deliveries.c.webhook_id == webhook_id,
            webhook_deliveries.c.status == DeliveryStatus.PENDING.value,
        )
        .values(
            status=DeliveryStatus.FAILED.value,
            next_attempt_at=None,
            last_error="the webhook was disabled: its target answered 410",
        )
    )


def postpone_deliveries(session: Session, webhook_id: str, *, until: datetime) -> None:
    """Postpone a webhook's pending deliveries to an instant, except those that others are recording.

    Deliveries that are attempted together are recorded together: without `skip_locked` each would wait
    for the rows of the others, and PostgreSQL would end them as a deadlock.
    """
    columns = webhook_deliveries.c
    earlier = (
        select(columns.id)
        .where(
            columns.webhook_id == webhook_id,
            columns.status == DeliveryStatus.PENDING.value,
            columns.next_attempt_at < until,
        )
        .with_for_update(skip_locked=True)
    )
    session.execute(
        update(webhook_deliveries).where(columns.id.in_(earlier)).values(next_attempt_at=until)
    )


def delete_old_deliveries(session: Session, *, before: datetime, limit: int) -> int:
    """Delete up to `limit` deliveries created before an instant; return how many."""
    old = (
        select(webhook_deliveries.c.id)
        .where(webhook_deliveries.c.created_at < before)
        .order_by(webhook_deliveries.c.created_at)
        .limit(limit)
    )
    ids = list(session.scalars(old))
    if ids:
        # Their attempts are deleted by the foreign key (ON DELETE CASCADE).
        session.execute(delete(webhook_deliveries).where(webhook_deliveries.c.id.in_(ids)))
    return len(ids)


def count_pending(session: Session, *, at: datetime) -> dict[str, tuple[int, datetime]]:
    """Return the number of pending deliveries by kind, and when the oldest was due first."""
    columns = webhook_deliveries.c
    query = (
        select(columns.kind, func.count(), func.min(columns.created_at))
        .where(columns.status == DeliveryStatus.PENDING.value, columns.created_at <= at)
        .group_by(columns.kind)
    )
    return {kind: (count, oldest) for kind, count, oldest in session.execute(query)}


def has_pending(source_id: ColumnElement[str]) -> ColumnElement[bool]:
    """Return the condition that a file of a job or batch has still to be delivered."""
    return (
        select(webhook_deliveries.c.id)
        .where(
            webhook_deliveries.c.source_id == source_id,
            webhook_deliveries.c.kind != WEBHOOK,
            webhook_deliveries.c.status == DeliveryStatus.PENDING.value,
        )
        .exists()
    )


def _is_due(at: datetime, busy: Sequence[str]) -> tuple[Any, ...]:
    columns = webhook_deliveries.c
    # Rows of an earlier release have no account.
    is_free = or_(columns.account_id.is_(None), columns.account_id.not_in(busy))
    return (
        columns.status == DeliveryStatus.PENDING.value,
        columns.next_attempt_at <= at,
        or_(columns.leased_until.is_(None), columns.leased_until <= at),
        *((is_free,) if busy else ()),
    )


def encrypt_secrets(session: Session, cipher: SecretCipher) -> int:
    """Encrypt each secret that is not encrypted with the newest key, and return how many were not.

    Raises:
        SecretUnreadableError: the key of a secret is not configured; nothing has been changed.
    """
    changed = 0
    for table, columns in ((webhooks, ("secret", "previous_secret")), (destinations, ("secret",))):
        for row in session.execute(select(table).with_for_update()).mappings().all():
            stale = {
                column: cipher.encrypt(cipher.decrypt(row[column]))
                for column in columns
                if row[column] is not None and not cipher.is_current(row[column])
            }
            if stale:
                session.execute(update(table).where(table.c.id == row["id"]).values(**stale))
                changed += len(stale)
    return changed


def _find_attempts(session: Session, ids: Sequence[str]) -> dict[str, list[Attempt]]:
    query = (
        select(webhook_attempts)
        .where(webhook_attempts.c.delivery_id.in_(ids))
        .order_by(webhook_attempts.c.delivery_id, webhook_attempts.c.number)
    )
    found: dict[str, list[Attempt]] = {}
    for row in session.execute(query).mappings():
        found.setdefault(row["delivery_id"], []).append(Attempt.of_row(row))
    return found


def _due(row: Mapping[Any, Any], at: datetime) -> DueDelivery:
    secrets = [row["secret"]]
    until = row["previous_secret_until"]
    if row["previous_secret"] and until is not None and until > at:
        secrets.append(row["previous_secret"])
    return DueDelivery.of_row(row, account_id=row["owner"], secrets=secrets)
