"""Ends of jobs on record: several in one unit of work, each told once to those who listen."""

from __future__ import annotations

import json
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest
from msgspec.structs import replace
from sqlalchemy import select

from shared.auth.accounts import create_account
from shared.db.tables import webhook_deliveries
from shared.errors import ErrorBody, ErrorKind, write_error_body
from shared.identifiers import new_id
from shared.jobs.records import Claim, ClaimStorage, JobOutcome, Lane, OutcomeStatus
from shared.jobs.repository import JobRecord, JobStatus, add_jobs, end_jobs, find_job
from shared.webhooks.repository import WebhookEvent, create_webhook

AT = datetime(2026, 3, 1, 12, tzinfo=UTC)
BEGUN = AT - timedelta(seconds=2)
PDF = JobOutcome(
    "",
    OutcomeStatus.SUCCEEDED,
    started_at=BEGUN.timestamp(),
    pages=3,
    filename="a.pdf",
    timings={"layout": 1.5},
    pdf=Claim(ClaimStorage.BLOB, 9, key="jobs/x/pdf"),
)
ERROR = ErrorBody(400, "It is broken.", ErrorKind.REQUEST)
BROKEN = JobOutcome("", OutcomeStatus.FAILED, started_at=BEGUN.timestamp(), error=ERROR)


@pytest.fixture
def accept(database):
    """Store a new job of an account and return it."""

    def accept(account_id: str) -> JobRecord:
        unknown = "template pages filename timings error pdf_key pdf_size started_at finished_at"
        record = JobRecord(
            id=new_id("job"),
            account_id=account_id,
            workspace_id=None,
            user_id="usr_1",
            status=JobStatus.QUEUED,
            lane=Lane.BATCH,
            message="{}",
            is_draft=False,
            created_at=AT,
            queued_at=AT,
            sweep_at=AT,
            expires_at=None,
            **dict.fromkeys(unknown.split()),
        )
        with database.session() as session:
            add_jobs(session, [record])
        return record

    return accept


@pytest.fixture
def listen(database):
    """Make an account whose webhook receives some events, and return it."""

    def listen(email: str, *events: WebhookEvent) -> str:
        with database.session() as session:
            account = create_account(session, email=email).account_id
            url = "https://example.com/hook"
            create_webhook(session, account, url=url, events=events, secret="s", at=AT)
        return account

    return listen


def end(database, ends):
    with database.session() as session:
        return set(end_jobs(session, ends, at=AT))


def read(database, record):
    with database.snapshot() as session:
        return find_job(session, record.id)


def told(database):
    with database.snapshot() as session:
        payloads = session.scalars(select(webhook_deliveries.c.payload)).all()
    return sorted((each["type"], each["data"]["id"]) for each in map(json.loads, payloads))


def test_results_are_kept_for_as_many_hours_as_are_set(database, accept, set_limits):
    set_limits(result_hours=48)
    job = accept("acc_none")
    end(database, {job.id: PDF})
    assert read(database, job).expires_at == AT + timedelta(hours=48)


def test_job_ends_are_stored_together_and_notified_per_account(database, accept, listen):
    both = listen("a@example.org", WebhookEvent.JOB_SUCCEEDED, WebhookEvent.JOB_FAILED)
    failures = listen("b@example.org", WebhookEvent.JOB_FAILED)
    jobs = [accept(both), accept(both), accept(failures), accept(failures), accept("acc_none")]
    ends = [PDF, BROKEN, PDF, BROKEN, PDF]
    by_id = {job.id: how for job, how in zip(jobs, ends, strict=True)}
    assert end(database, by_id) == by_id.keys()
    done = replace(
        jobs[0], status=JobStatus.SUCCEEDED, pages=3, filename="a.pdf", timings={"layout": 1.5},
        pdf_key="jobs/x/pdf", pdf_size=9, started_at=BEGUN, finished_at=AT,
        expires_at=AT + timedelta(days=1), sweep_at=AT + timedelta(days=1),
    )  # fmt: skip
    assert read(database, jobs[0]) == done
    assert read(database, jobs[1]).error == write_error_body(ERROR, at=AT)
    assert [read(database, job).status for job in jobs] == [each.status for each in ends]
    assert told(database) == sorted(
        [("job.succeeded", jobs[0].id), ("job.failed", jobs[1].id), ("job.failed", jobs[3].id)]
    )


def test_webhooks_deliver_the_record_of_the_ended_job(database, accept, listen):
    job = accept(listen("a@example.org", WebhookEvent.JOB_FAILED))
    end(database, {job.id: BROKEN})
    with database.snapshot() as session:
        [payload] = session.scalars(select(webhook_deliveries.c.payload)).all()
    assert json.loads(payload)["data"] == {
        "id": job.id,
        "status": "failed",
        "draft": False,
        "error": write_error_body(ERROR, at=AT),
        "created_at": "2026-03-01T12:00:00.000Z",
        "started_at": "2026-03-01T11:59:58.000Z",
        "finished_at": "2026-03-01T12:00:00.000Z",
        "expires_at": "2026-03-02T12:00:00.000Z",
    }


def test_ended_or_deleted_jobs_do_not_change(database, accept, listen):
    account = listen("a@example.org", *WebhookEvent)
    over, open_ = accept(account), accept(account)
    assert end(database, {over.id: PDF}) == {over.id}
    before = read(database, over)
    assert end(database, {over.id: BROKEN, open_.id: PDF, "job_none": PDF}) == {open_.id}
    assert read(database, over) == before
    assert end(database, {over.id: BROKEN}) == set()
    assert told(database) == sorted([("job.succeeded", over.id), ("job.succeeded", open_.id)])


def test_concurrent_ends_of_the_same_jobs_end_each_once(database, accept, listen):
    account = listen("a@example.org", *WebhookEvent)
    ids = [accept(account).id for _ in range(20)]
    orders = [ids, ids[::-1], ids[10:] + ids[:10], ids[::2] + ids[1::2]]
    with ThreadPoolExecutor(4) as pool:
        ended = list(pool.map(lambda order: end(database, dict.fromkeys(order, PDF)), orders))
    assert Counter(job_id for each in ended for job_id in each) == Counter(ids)
    assert told(database) == sorted(("job.succeeded", job_id) for job_id in ids)
