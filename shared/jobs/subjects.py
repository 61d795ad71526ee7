"""Erasure by data subject: finds the jobs and batches that name one, and deletes their traces elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from sqlalchemy import delete, or_, select

from shared.batches.records import Batch
from shared.batches.repository import read_batch
from shared.db.session import Session
from shared.db.tables import batches, idempotency_keys, jobs, webhook_deliveries
from shared.records import SHA256, ShownRecord, Timestamp, doc


class ErasureReceipt(ShownRecord, frozen=True):
    """What an erasure has removed."""

    key_sha256: Annotated[str, doc("SHA-256 of the subject.", **SHA256)]
    jobs: Annotated[int, doc("Jobs, with their bodies and PDFs.", minimum=0)]
    batches: Annotated[int, doc("Batches, with all their documents.", minimum=0)]
    deliveries: Annotated[int, doc("Entries of the log of deliveries.", minimum=0)]
    at: Annotated[Timestamp, doc("When it ended.")]


def list_work_of_subject(
    session: Session, account_id: str, key: str, *, limit: int
) -> tuple[Sequence[str], Sequence[Batch]]:
    """Return the ids of up to `limit` jobs of a subject, and as many of its batches."""
    of_jobs = select(jobs.c.id).where(jobs.c.account_id == account_id, jobs.c.subject == key)
    of_batches = select(batches).where(
        batches.c.account_id == account_id, batches.c.subject == key, batches.c.removed_at.is_(None)
    )
    rows = session.execute(of_batches.limit(limit)).mappings()
    return session.scalars(of_jobs.limit(limit)).all(), [read_batch(row) for row in rows]


def delete_traces(session: Session, account_id: str, ids: Sequence[str]) -> int:
    """Delete deliveries and idempotency keys of jobs and batches; return how many deliveries there were."""
    keys, deliveries = idempotency_keys.c, webhook_deliveries.c
    session.execute(
        delete(idempotency_keys).where(or_(keys.job_id.in_(ids), keys.batch_id.in_(ids)))
    )
    gone = delete(webhook_deliveries).where(
        deliveries.account_id == account_id, deliveries.source_id.in_(ids)
    )
    return session.execute(gone).rowcount
