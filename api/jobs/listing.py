"""Pages of an account's jobs, newest first."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from api.ports import Ports
from shared.errors import Unavailable
from shared.jobs.repository import JobRecord, JobStatus, list_jobs

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
