"""Recorded renders: the `Prefer` and `Idempotency-Key` headers, and records written before queueing and response."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from threading import Event, Thread
from typing import BinaryIO, Final
from urllib.parse import urlencode

from flask import Request, Response

from api.http import MAX_WAIT_SECONDS
from api.operations.checks import check_value
from api.operations.parameters import IDEMPOTENCY_KEY
from api.ports import Ports
from shared.clock import now
from shared.db.session import Session
from shared.errors import ServiceError, Unavailable
from shared.identifiers import new_id
from shared.jobs.idempotency import (
    Call,
    FirstCall,
    IdempotencyKey,
    bind_key_to_batch,
    lease_key,
    release_key,
)
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
        created_at=created_at,
        queued_at=created_at,
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


HEADER: Final = "Idempotency-Key"
_RETRY_SECONDS: Final = 1


def read_key(request: Request, account_id: str, call: Call) -> IdempotencyKey | None:
    """Read the idempotency key of a request, None without one.

    Raises:
        ServiceError: 400, the key is empty, too long, or has invalid characters.
    """
    text = request.headers.get(HEADER)
    if text is None:
        return None
    check_value(IDEMPOTENCY_KEY, text)
    return IdempotencyKey(account_id, call, text)


def make_fingerprint(request: Request, call: Call, *, body_sha256: str) -> str:
    """Return a digest of route, query, Content-Type and body, which identifies equal requests."""
    query = urlencode(sorted(request.args.items(multi=True)))
    parts = (call.value, query, request.headers.get("Content-Type", ""), body_sha256)
    return hashlib.sha256("\n".join(parts).encode("utf-8", "surrogateescape")).hexdigest()


def check_repeated(first: FirstCall, fingerprint: str | None = None) -> None:
    """Check a repeated call against the first one.

    Without a fingerprint, before the body is received, only a first call in progress is an error.

    Raises:
        ServiceError: 409 while the first call is in progress; 422, it was a different request.
    """
    if first.fingerprint is None:
        raise under_way()
    if fingerprint is not None and first.fingerprint != fingerprint:
        raise ServiceError(
            422,
            f"The {HEADER} was already used with a different request; repeat that request unchanged, or "
            "send this one with a new key.",
        )


def mark_replayed(response: Response) -> Response:
    """Mark the response of a repeated call as that of the first one."""
    response.headers["Idempotent-Replayed"] = "true"
    return response


def under_way() -> ServiceError:
    """Return the error of a repeated call while the first one is in progress."""
    return ServiceError(
        409,
        f"A request with this {HEADER} is still in progress; try again in {_RETRY_SECONDS} s.",
        headers={"Retry-After": str(_RETRY_SECONDS)},
    )


_RENEW_SECONDS: Final = 10.0


@dataclass(frozen=True, slots=True)
class Holding:
    """A locked key, or the first call that used it; without a key it is neither."""

    key: IdempotencyKey | None
    holder: str
    first: FirstCall | None = None

    def keep(self, session: Session, *, fingerprint: str, batch_id: str) -> None:
        """Store the batch of the key, in the transaction that records the batch.

        Raises:
            ServiceError: 409, another call has taken the key in the meantime.
        """
        if self.key is None:
            return
        is_kept = bind_key_to_batch(
            session, self.key, holder=self.holder, fingerprint=fingerprint, batch_id=batch_id
        )
        if not is_kept:
            raise under_way()


@contextmanager
def hold(key: IdempotencyKey | None, ports: Ports) -> Iterator[Holding]:
    """Lock a key for the block; without a call of `keep` it is released afterwards.

    Raises:
        ServiceError: 409 while another call with the key is in progress.
        Unavailable: the database cannot be reached.
    """
    holder = new_id("hold")
    if key is None:
        yield Holding(None, holder)
        return
    with ports.database.session() as session:
        first = lease_key(session, key, holder=holder, at=now())
    if first is not None:
        check_repeated(first)
        yield Holding(key, holder, first)
        return
    is_over = Event()
    Thread(target=_renew, args=(key, holder, ports, is_over), daemon=True).start()
    try:
        yield Holding(key, holder)
    finally:
        is_over.set()
        with suppress(Unavailable), ports.database.session() as session:
            release_key(session, key, holder=holder)  # does nothing after `keep`


def _renew(key: IdempotencyKey, holder: str, ports: Ports, is_over: Event) -> None:
    while not is_over.wait(_RENEW_SECONDS):
        with suppress(Unavailable), ports.database.session() as session:
            lease_key(session, key, holder=holder, at=now())
