"""Unmetered jobs and batch documents are found by the id they are metered under."""

from datetime import UTC, datetime, timedelta

from sqlalchemy import insert

from shared.batches.records import item_job_id
from shared.db.session import Database
from shared.db.tables import batch_items, batch_parts, batches
from shared.identifiers import new_id
from shared.jobs.records import Allowance
from shared.usage.repository import list_unmetered_items, record_events

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
SPAN = {"after": NOON - timedelta(hours=1), "until": NOON + timedelta(hours=1)}


def test_documents_that_succeeded_and_are_not_in_the_ledger_are_found(database: Database):
    batch_id = new_id("batch")
    with database.session() as session:
        add_batch(session, batch_id)
    with database.snapshot() as session:
        found = list_unmetered_items(session, **SPAN, limit=100)
    assert {event.job_id: event.pages for event in found} == {
        item_job_id(batch_id, 10): 3, item_job_id(batch_id, 12): 5
    }  # fmt: skip
    [event, _] = sorted(found, key=lambda event: event.job_id)
    assert (event.account_id, event.period) == ("acc_1", "2026-11-01")
    assert (event.allowance, event.occurred_at) == (Allowance.DRAFT, NOON)


def test_entries_in_the_ledger_or_outside_the_span_are_not_unmetered(database: Database):
    batch_id = new_id("batch")
    with database.session() as session:
        add_batch(session, batch_id)
        found = list_unmetered_items(session, **SPAN, limit=1)
        assert len(found) == 1
        record_events(session, found, at=NOON)
        assert len(list_unmetered_items(session, **SPAN, limit=100)) == 1
        late = {"after": NOON, "until": NOON + timedelta(hours=1)}
        assert list_unmetered_items(session, **late, limit=100) == []


def add_batch(session, batch_id):
    meter = {"account_id": "acc_1", "period": "2026-11-01", "allowance": "draft", "cap": None}
    session.execute(
        insert(batches).values(
            id=batch_id, account_id="acc_1", user_id="usr_1", request_id="req_1", status="running",
            output="zip", kind="ndjson", is_draft=True, template="t", pinned={}, meter=meter,
            total=13, body_bytes=1, created_at=NOON,
        )
    )  # fmt: skip
    part = {"batch_id": batch_id, "first_index": 10, "count": 3, "bytes": 9, "created_at": NOON}
    session.execute(insert(batch_parts).values(**part))
    for index, status, pages in ((10, "succeeded", 3), (11, "failed", None), (12, "succeeded", 5)):
        session.execute(
            insert(batch_items).values(
                batch_id=batch_id, index=index, status=status, pages=pages, part_first_index=10
            )
        )
