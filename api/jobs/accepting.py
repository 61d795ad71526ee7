"""Accepting a render for the record: before it is queued, and before it is answered."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import BinaryIO, Final

from api.ports import Ports
from shared.db.idempotency import FirstCall
from shared.db.jobs import JobRecord, JobStatus
from shared.errors import Unavailable
from shared.job_flow import job_folder
from shared.job_intake import KeyedCall
from shared.jobs import Claim, ClaimHome, RenderJob
from shared.limits import INLINE_BODY_BYTES

# Its front, its worker and the keeper each have had their chance to end a job by then.
_OVERDUE_SLACK: Final = timedelta(seconds=60)


def store_body(job_id: str, file: BinaryIO, size: int, ports: Ports) -> Claim:
    """Put the body of a recorded job where it stays until the job has ended.

    Raises:
        Unavailable: the object store is away.
    """
    if size <= INLINE_BODY_BYTES:
        return Claim(ClaimHome.INLINE, size, data=file.read(size))
    key = f"{job_folder(job_id)}body"
    ports.blobs.put(key, file, size)
    return Claim(ClaimHome.BLOB, size, key=key)


def make_record(job: RenderJob, *, user_id: str, template: str | None) -> JobRecord:
    """Make the record of a job that is accepted now; `template` is the reference as asked for."""
    created_at = datetime.fromtimestamp(job.admitted_at, UTC)
    return JobRecord(
        id=job.id,
        account_id=job.meter.account_id,
        workspace_id=job.workspace_id,
        user_id=user_id,
        status=JobStatus.QUEUED,
        lane=job.lane,
        message=job.encode(),
        is_draft=job.is_draft,
        template=template,
        pages=None,
        filename=None,
        timings=None,
        error=None,
        pdf_key=None,
        pdf_size=None,
        created_at=created_at,
        queued_at=created_at,
        started_at=None,
        finished_at=None,
        expires_at=None,
        sweep_at=datetime.fromtimestamp(job.deadline, UTC) + _OVERDUE_SLACK,
    )


def accept_job(
    job: RenderJob, record: JobRecord, call: KeyedCall | None, ports: Ports
) -> FirstCall | None:
    """Put a job on record, then queue it: what is on record runs, whatever becomes of the queue.

    Gives the call that the key stands for already; nothing is accepted then.

    Raises:
        Unavailable: the database is away; nothing is accepted.
    """
    try:
        first = ports.cell(record.account_id).intake.accept(job, record, call)
    except Unavailable:
        _drop_body(job, ports)
        raise
    if first is not None:
        _drop_body(job, ports)
    return first


def as_accepted(record: JobRecord) -> JobRecord:
    """Give a record as it was when its job was accepted: the answer of the first call."""
    return replace(
        record,
        status=JobStatus.QUEUED,
        pages=None,
        error=None,
        started_at=None,
        finished_at=None,
        expires_at=None,
    )


def _drop_body(job: RenderJob, ports: Ports) -> None:
    if job.body.key:
        with suppress(Unavailable):
            ports.blobs.delete(job.body.key)
