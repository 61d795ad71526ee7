"""The routes under /v2/jobs."""

from __future__ import annotations

import re
from typing import Any, Final

from flask import Blueprint, Response, request

from api.auth.guard import current_principal
from api.http import read_choice, read_limit, read_query, read_wait, write_json
from api.jobs.listing import list_page
from api.jobs.reading import (
    PDF,
    find_pdf,
    find_record,
    no_result,
    poll_job,
    write_job_headers,
)
from api.pdf_headers import read_filename
from api.ports import Ports
from api.stored_files import send_file
from shared.errors import ErrorKind, ServiceError
from shared.jobs.repository import JobRecord, JobStatus, write_job
from shared.queue.states import CANCELLED

_JOB_ID: Final = re.compile(r"job_[a-z2-7]{24}\Z")


class JobRoutes:
    """The views, over the ports of this process."""

    def __init__(self, ports: Ports) -> None:
        self._ports = ports

    def blueprint(self) -> Blueprint:
        """Return the views at their paths."""
        routes = Blueprint("jobs", __name__)
        routes.get("/v2/jobs")(self.list_jobs)
        routes.get("/v2/jobs/<job_id>")(self.read_job)
        routes.get("/v2/jobs/<job_id>/pdf")(self.read_result)
        routes.delete("/v2/jobs/<job_id>")(self.delete_job)
        return routes

    def list_jobs(self) -> Response:
        """List the account's jobs, newest first."""
        account_id = current_principal().state.account_id
        query = read_query(request, ("status", "limit", "start_after"))
        status, start_after = read_choice(query, "status", JobStatus), query.get("start_after")
        if start_after is not None and not _JOB_ID.match(start_after):
            raise ServiceError(
                400,
                f"Invalid start_after {start_after[:100]!r}: accepted is the next_cursor of the previous "
                "page.",
            )
        page = list_page(
            account_id, self._ports, status=status, limit=read_limit(query), start_after=start_after
        )
        body: dict[str, Any] = {"jobs": [write_job(record) for record in page.records]}
        if page.next_cursor is not None:
            body["next_cursor"] = page.next_cursor
        return write_json(body)

    def read_job(self, job_id: str) -> Response:
        """Return a job, once it has ended or the time of the long poll is over."""
        seconds = read_wait(read_query(request, ("wait",)))
        record = self._get(job_id)
        if seconds and not record.status.is_final:
            record = _own(poll_job(record, self._ports, seconds=seconds), job_id)
        return write_json(write_job(record))

    def read_result(self, job_id: str) -> Response:
        """Return the PDF."""
        filename = read_filename(read_query(request, ("filename",)))
        record = self._get(job_id)
        if record.status is not JobStatus.SUCCEEDED:
            raise no_result(record)
        headers = write_job_headers(record, filename)
        return send_file(request, find_pdf(record, self._ports), headers, what=PDF)

    def delete_job(self, job_id: str) -> Response:
        """Cancel a job, or remove one that has ended."""
        read_query(request, ())
        record = self._get(job_id)
        if not record.status.is_final:
            self._ports.cell(record.account_id).jobs.end_early(job_id, CANCELLED)
            record = self._get(job_id)
            if record.status is JobStatus.CANCELLED:
                return Response(status=204)
        # It had already ended.
        self._ports.cell(record.account_id).jobs.remove(record)
        return Response(status=204)

    def _get(self, job_id: str) -> JobRecord:
        found = find_record(job_id, self._ports) if _JOB_ID.match(job_id) else None
        return _own(found, job_id)


def _own(record: JobRecord | None, job_id: str) -> JobRecord:
    """Return a job of the authenticated account.

    Raises:
        ServiceError: 404, the job does not exist or belongs to another account; the errors are equal.
    """
    account_id = current_principal().state.account_id
    if record is None or record.account_id != account_id:
        raise ServiceError(404, f"Job {job_id[:100]!r} does not exist.", kind=ErrorKind.NOT_FOUND)
    return record
