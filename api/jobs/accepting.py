"""The `Prefer` header (RFC 7240), and acceptance of renders: recorded before they are queued and before the response."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import BinaryIO, Final

from flask import Request

from api.http import MAX_WAIT_SECONDS
from api.ports import Ports
from shared.errors import Unavailable
from shared.jobs.idempotency import FirstCall
from shared.jobs.intake import KeyedCall
from shared.jobs.lifecycle import job_folder
from shared.jobs.records import Claim, ClaimStorage, RenderJob
from shared.jobs.repository import JobRecord, JobStatus
from shared.limits import INLINE_BODY_BYTES

# After this time the front, the worker and maintenance have all had their chance to end a job.
_OVERDUE_SLACK: Final = timedelta(seconds=60)


def store_body(job_id: str, file: BinaryIO, size: int, ports: Ports) -> Claim:
    """Store the body of a recorded job until the job has ended.

    Raises:
        Unavailable: the object store cannot be reached.
    """
    if size <= INLINE_BODY_BYTES:
        return Claim(ClaimStorage.INLINE, size, data=file.read(size))
    key = f"{job_folder(job_id)}body"
    ports.blobs.put(key, file, size)
    return Claim(ClaimStorage.BLOB, size, key=key)


def make_record(job: RenderJob, *, user_id: str, template: str | None) -> JobRecord:
    """Return the record of a new job; `template` is the reference as requested."""
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
    """Record a job, then queue it: a recorded job runs even if the queue is lost.

    Returns the first call with the same key, if there is one; the job is not accepted then.

    Raises:
        Unavailable: the database cannot be reached; the job is not accepted.
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
    """Return a record as it was when its job was accepted, for the response to a repeated call."""
    return record.replace(
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


RESPOND_ASYNC: Final = "respond-async"
_WAIT: Final = "wait"
# Preferences are separated by commas, their parameters by semicolons; quoted strings may contain both.
_PREFERENCE: Final = re.compile(r'((?:[^,"]|"(?:[^"\\]|\\.|(?!))*+")+)')
_NAMED: Final = re.compile(
    r"[ \t]*([!#$%&'*+.^_`|~0-9A-Za-z-]+)[ \t]*"
    r'(?:=[ \t]*(?:"([0-9]{1,9})"|([0-9]{1,9}))[ \t]*(?=;|\Z)|(?=[;=]|\Z))'
)


@dataclass(frozen=True, slots=True)
class AsyncPreference:
    """The preference for an asynchronous response, after at most `wait_seconds`."""

    wait_seconds: int

    @property
    def applied(self) -> str:
        """The value of `Preference-Applied`."""
        return f"{RESPOND_ASYNC}, wait={self.wait_seconds}" if self.wait_seconds else RESPOND_ASYNC


def read_async_preference(request: Request) -> AsyncPreference | None:
    """Read `respond-async` and its `wait`; None for a synchronous request.

    Invalid preferences are ignored (RFC 7240, 2). `wait` is limited to 60 s.
    """
    header = request.headers.get("Prefer")  # several headers are joined by commas
    return None if header is None else _read(header)


@lru_cache(maxsize=100)  # few values occur
def _read(header: str) -> AsyncPreference | None:
    given: dict[str, str] = {}
    for preference in _PREFERENCE.findall(header):
        if (found := _NAMED.match(preference)) is not None:
            # The first of several equal preferences counts (RFC 7240, 2).
            given.setdefault(found[1].lower(), found[2] or found[3] or "")
    if RESPOND_ASYNC not in given:
        return None
    return AsyncPreference(min(int(given.get(_WAIT) or "0"), MAX_WAIT_SECONDS))
