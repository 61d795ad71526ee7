"""Reading of jobs: the current record, the result, and the account's jobs, newest first."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from flask import Response

from api.http import write_json
from api.long_poll import long_poll, stopping
from api.pdf_headers import write_pdf_headers
from api.ports import Ports
from api.stored_files import BlobFile, StoredFile, expired, send_whole
from shared.blobs.store import ByteRange
from shared.clock import now
from shared.db.queries import keeps_no_results
from shared.errors import ServiceError, Unavailable
from shared.jobs.repository import JobRecord, JobStatus, find_job, is_awaited, list_jobs

PDF: Final = "PDF"
R = TypeVar("R", bound=JobRecord | None)


def find_record(job_id: str, ports: Ports) -> JobRecord | None:
    """Return the current record of a job of any account; the queue has whether it is running."""
    with ports.database.snapshot() as session:
        record = find_job(session, job_id)
    if record is None or record.status.is_final:
        return record
    with suppress(Unavailable):
        started_at = ports.cell(record.account_id).jobs.states.find_started(job_id)
        if started_at is not None:
            return record.replace(status=JobStatus.RUNNING, started_at=started_at)
    return record


def await_end(
    find: Callable[[], R],
    ports: Ports,
    *,
    seconds: float,
    between: Callable[[], object] = lambda: None,
    until: Callable[[], bool] = stopping.is_set,
) -> R:
    """Return a job once it has ended, after `seconds` or once `until` is true, by default on shutdown.

    `between` is called every second.
    """

    def wait(record: R, left: float) -> None:
        assert record is not None, "it is not final"
        endings = ports.cell(record.account_id).jobs.completions
        endings.wait(record.id, seconds=left, between=between, until=until)

    return long_poll(
        find,
        seconds=seconds,
        is_final=lambda record: record is None or record.status.is_final,
        wait=wait,
        until=until,
    )


def write_result(record: JobRecord, ports: Ports, *, filename: str | None = None) -> Response:
    """Return the PDF response of a job that succeeded, or the error response of one that failed.

    `filename` overrides the document's own.

    Raises:
        ServiceError: 410, the PDF has expired; 409, the job was cancelled.
    """
    match record.status:
        case JobStatus.SUCCEEDED:
            return send_whole(
                find_pdf(record, ports), write_job_headers(record, filename), what=PDF
            )
        case JobStatus.FAILED:
            error: dict[str, Any] = dict(record.error or {})
            status = error["statusCode"]
            return write_json(error, status, headers={"Retry-After": "2"} if status == 503 else {})
        case _:
            raise no_result(record)


def find_pdf(record: JobRecord, ports: Ports) -> StoredFile:
    """Return the PDF of a job that succeeded.

    Raises:
        ServiceError: 410, it has expired.
    """
    assert record.expires_at is not None
    assert record.pdf_size is not None
    if record.pdf_key is None or record.expires_at <= now():
        raise expired(PDF)
    file = BlobFile(ports.blobs, record.pdf_key, record.pdf_size)
    with ports.database.snapshot() as session:
        is_kept = not keeps_no_results(session, record.account_id)
    return file if is_kept else _FileOnce(file, record, ports)


class _FileOnce:
    """A PDF that is deleted once it has been sent whole, unless it has still to be delivered."""

    def __init__(self, file: BlobFile, record: JobRecord, ports: Ports) -> None:
        self._file, self._record, self._ports = file, record, ports
        self.etag, self.size = file.etag, file.size

    def read(self, part: ByteRange) -> Iterator[bytes]:
        """Yield the bytes of a range."""
        yield from self._file.read(part)
        if part.length == self.size and not is_awaited(self._record, self._ports.database):
            with suppress(Unavailable):  # else it expires within the hour
                self._ports.cell(self._record.account_id).jobs.drop_result(self._record)


def write_job_headers(record: JobRecord, filename: str | None) -> dict[str, str]:
    """Return the headers of the PDF of a job that succeeded."""
    return write_pdf_headers(
        record.id,
        pages=record.pages or 0,
        filename=filename or record.filename,
        timings=record.timings,
        warnings=record.warnings,
    )


def no_result(record: JobRecord) -> ServiceError:
    """Return the error of a job without a result, with the reason."""
    match record.status:
        case JobStatus.FAILED:
            reason = (record.error or {}).get("message", "")
            return ServiceError(409, f"The job failed and has no PDF: {reason}")
        case JobStatus.CANCELLED:
            return ServiceError(409, "The job was cancelled and has no PDF.")
        case status:
            return ServiceError(
                409, f"The job is {status}; its PDF is available once it has succeeded."
            )


# The table does not store which jobs are running: queued and running jobs are found among the unfinished
# ones. The number of rows read for a page is limited; its cursor continues from there.
RECORDS_PER_READ: Final = 1000
MAX_RECORDS_READ: Final = 5000
_IN_TABLE: Final = tuple(status for status in JobStatus if status is not JobStatus.RUNNING)
_UNENDED: Final = (JobStatus.QUEUED,)


@dataclass(frozen=True, slots=True)
class Page:
    """Jobs, and the cursor of the next page, None on the last one."""

    records: Sequence[JobRecord]
    next_cursor: str | None


def list_page(
    account_id: str, ports: Ports, *, status: JobStatus | None, limit: int, start_after: str | None
) -> Page:
    """Return a page of jobs, optionally of one status.

    A page of only queued or running jobs can be short, even empty, and still have a next page.

    Raises:
        Unavailable: the database cannot be reached; for queued or running jobs also Redis.
    """
    if status is None or status.is_final:
        statuses = _IN_TABLE if status is None else (status,)
        found = _read(account_id, ports, statuses, limit=limit + 1, start_after=start_after)
        with suppress(Unavailable):  # as in `find_record`: running jobs are then reported as queued
            found = _mark_running(found, account_id, ports)
        return _cut(found, limit)
    return _filter_unended(account_id, ports, status=status, limit=limit, start_after=start_after)


def _filter_unended(
    account_id: str, ports: Ports, *, status: JobStatus, limit: int, start_after: str | None
) -> Page:
    matching: list[JobRecord] = []
    cursor = start_after
    for _ in range(MAX_RECORDS_READ // RECORDS_PER_READ):
        found = _read(account_id, ports, _UNENDED, limit=RECORDS_PER_READ, start_after=cursor)
        marked = _mark_running(found, account_id, ports)
        matching += [record for record in marked if record.status is status]
        if len(matching) > limit or len(found) < RECORDS_PER_READ:
            return _cut(matching, limit)
        cursor = found[-1].id
    return Page(matching, cursor)


def _read(
    account_id: str,
    ports: Ports,
    statuses: Sequence[JobStatus],
    *,
    limit: int,
    start_after: str | None,
) -> Sequence[JobRecord]:
    with ports.database.snapshot() as session:
        return list_jobs(
            session, account_id, statuses=statuses, limit=limit, start_after=start_after
        )


def _mark_running(
    records: Sequence[JobRecord], account_id: str, ports: Ports
) -> Sequence[JobRecord]:
    """Return the records with the status of running jobs set."""
    unended = [record.id for record in records if not record.status.is_final]
    if not unended:
        return records
    started = ports.cell(account_id).jobs.states.list_started(unended)
    return [
        record.replace(status=JobStatus.RUNNING, started_at=started[record.id])
        if record.id in started
        else record
        for record in records
    ]


def _cut(records: Sequence[JobRecord], limit: int) -> Page:
    is_last = len(records) <= limit
    return Page(records[:limit], None if is_last else records[limit - 1].id)
