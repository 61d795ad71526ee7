"""The outbox of webhooks: written with what it tells of, leased, retried, kept as a log."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest

from shared.auth.accounts import create_account
from shared.db.session import Database
from shared.errors import ServiceError
from shared.webhooks import repository as webhooks
from shared.webhooks.repository import Attempt, DeliveryStatus, Webhook, WebhookEvent

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
SECOND = timedelta(seconds=1)


@pytest.fixture
def account_id(database: Database) -> str:
    with database.session() as session:
        return create_account(session, email="a@example.org").account_id


def _hook(
    database: Database,
    account_id: str,
    events: Sequence[WebhookEvent] = tuple(WebhookEvent),
    *,
    secret: str = "s",
) -> str:
    with database.session() as session:
        return webhooks.create_webhook(
            session,
            account_id,
            url="https://example.com/hook",
            events=events,
            secret=secret,
            at=NOW,
        ).id


def _tell(
    database: Database, account_id: str, event: WebhookEvent = WebhookEvent.JOB_SUCCEEDED
) -> int:
    with database.session() as session:
        told = webhooks.WebhookNotification(account_id, event, lambda: {"id": "job_1"})
        return webhooks.enqueue(session, [told], at=NOW)


def _notify_and_fail(database: Database, account_id: str) -> None:
    with database.session() as session:
        webhooks.enqueue(
            session,
            [webhooks.WebhookNotification(account_id, WebhookEvent.JOB_FAILED, dict)],
            at=NOW,
        )
        webhooks.delete_target(session, Webhook, account_id, "hook_unknown")


def _lease(
    database: Database, at: datetime = NOW, *, busy: Sequence[str] = ()
) -> Sequence[webhooks.DueDelivery]:
    with database.session() as session:
        return webhooks.lease_due(session, at=at, until=at + 30 * SECOND, limit=10, busy=busy)


def test_deliveries_are_rolled_back_with_their_transaction(
    database: Database, account_id: str
) -> None:
    _hook(database, account_id)
    with pytest.raises(ServiceError):
        _notify_and_fail(database, account_id)
    assert not _lease(database)


def test_a_leased_delivery_is_exclusive_until_its_lease_ends(
    database: Database, account_id: str
) -> None:
    _hook(database, account_id)
    _tell(database, account_id)
    (first,) = _lease(database)
    assert not _lease(database, NOW + 29 * SECOND)
    (again,) = _lease(database, NOW + 31 * SECOND)
    assert again.id == first.id


def test_a_busy_account_is_passed_over(database: Database, account_id: str) -> None:
    _hook(database, account_id)
    _tell(database, account_id)
    assert not _lease(database, busy=[account_id])
    with database.snapshot() as session:
        assert not webhooks.has_due(session, at=NOW, busy=[account_id])
        assert webhooks.has_due(session, at=NOW)
        assert [count for count, _ in webhooks.count_pending(session, at=NOW).values()] == [1]
    assert len(_lease(database)) == 1


def test_the_log_is_paged_from_the_newest_and_forgotten_by_age(
    database: Database, account_id: str
) -> None:
    webhook_id = _hook(database, account_id)
    for minute in range(5):
        with database.session() as session:
            at = NOW + timedelta(minutes=minute)
            told = webhooks.WebhookNotification(account_id, WebhookEvent.JOB_FAILED, dict)
            webhooks.enqueue(session, [told], at=at)
    seen: list[datetime] = []
    last: str | None = None
    has_more = True
    while has_more:
        with database.snapshot() as session:
            page, has_more = webhooks.list_deliveries(
                session, webhook_id, limit=2, start_after=last
            )
        seen += [entry.created_at for entry in page]
        last = page[-1].id
    assert seen == [NOW + timedelta(minutes=minute) for minute in (4, 3, 2, 1, 0)]
    with database.session() as session:
        before = NOW + timedelta(minutes=3)
        assert webhooks.delete_old_deliveries(session, before=before, limit=2) == 2
        assert webhooks.delete_old_deliveries(session, before=before, limit=2) == 1
        assert webhooks.delete_old_deliveries(session, before=before, limit=2) == 0


def _record(
    database: Database, due: webhooks.DueDelivery, status: DeliveryStatus, at: datetime = NOW
) -> None:
    again = at + SECOND if status is DeliveryStatus.PENDING else None
    attempt = Attempt(due.attempts + 1, at, 5, 500)
    with database.session() as session:
        webhooks.record_attempt(session, due.id, attempt, status=status, next_attempt_at=again)


def test_an_attempt_under_way_does_not_revive_an_ended_delivery(
    database: Database, account_id: str
) -> None:
    webhook_id = _hook(database, account_id)
    for _ in range(3):
        _tell(database, account_id)
    failing, succeeding, repeated = _lease(database)
    _record(database, repeated, DeliveryStatus.DELIVERED)
    with database.session() as session:
        webhooks.disable_webhook(session, webhook_id, at=NOW)
    _record(database, failing, DeliveryStatus.PENDING)
    _record(database, repeated, DeliveryStatus.FAILED)
    _record(database, succeeding, DeliveryStatus.DELIVERED)
    assert not _lease(database, NOW + timedelta(hours=1))
    with database.snapshot() as session:
        ended = [
            webhooks.find_delivery(session, account_id, each.id).status
            for each in (failing, succeeding, repeated)
        ]
    assert ended == [DeliveryStatus.FAILED, DeliveryStatus.DELIVERED, DeliveryStatus.DELIVERED]


def test_a_repeated_delivery_is_retried_as_soon_as_a_new_one(
    database: Database, account_id: str
) -> None:
    _hook(database, account_id)
    _tell(database, account_id)
    for minute in range(3):
        (due,) = _lease(database, NOW + timedelta(minutes=minute))
        assert due.failed == minute
        status = DeliveryStatus.FAILED if minute == 2 else DeliveryStatus.PENDING
        _record(database, due, status, NOW + timedelta(minutes=minute))
    again_at = NOW + timedelta(hours=1)
    with database.session() as session:
        webhooks.redeliver(session, account_id, due.id, at=again_at)
    (due,) = _lease(database, again_at)
    assert (due.attempts, due.failed) == (3, 0)


def test_pages_of_pending_deliveries_go_on_while_some_are_delivered(
    database: Database, account_id: str
) -> None:
    _hook(database, account_id)
    for _ in range(4):
        _tell(database, account_id)
    seen: list[str] = []
    for _ in range(2):
        with database.snapshot() as session:
            page, _ = webhooks.list_deliveries(
                session,
                account_id=account_id,
                status=DeliveryStatus.PENDING,
                limit=2,
                start_after=seen[-1] if seen else None,
            )
        seen += [each.id for each in page]
        for due in _lease(database):
            _record(database, due, DeliveryStatus.PENDING)
            if due.id in seen:
                _record(database, due, DeliveryStatus.DELIVERED)
    assert len(set(seen)) == 4
    with database.snapshot() as session:
        assert webhooks.list_deliveries(session, limit=2, start_after="msg_x") == ([], False)
