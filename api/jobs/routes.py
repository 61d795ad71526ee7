"""The routes under /v2/jobs (contract.md 6)."""

from __future__ import annotations

import re
from typing import Final

from flask import Blueprint, Response, request

from api.auth.guard import current_principal
from api.exchange import read_query, read_wait, write_json
from api.jobs.reading import find_record, no_result, poll_job, write_result
from api.ports import Ports
from shared.db.jobs import JobRecord, JobStatus, write_job
from shared.errors import ErrorKind, ServiceError
from shared.queue.states import CANCELLED

_JOB_ID: Final = re.compile(r"job_[a-z2-7]{24}\Z")


class JobRoutes:
    """The views, over the ports of this process."""

    def __init__(self, ports: Ports) -> None:
        self._ports = ports

    def blueprint(self) -> Blueprint:
        """Give the views at their paths."""
        routes = Blueprint("jobs", __name__)
        routes.get("/v2/jobs/<job_id>")(self.read_job)
        routes.get("/v2/jobs/<job_id>/pdf")(self.read_result)
        routes.delete("/v2/jobs/<job_id>")(self.delete_job)
        return routes

    def read_job(self, job_id: str) -> Response:
        """Give the record, at once or as soon as the job has ended."""
        seconds = read_wait(read_query(request, ("wait",)))
        record = self._get(job_id)
        if seconds and not record.status.is_final:
            record = _own(poll_job(record, self._ports, seconds=seconds), job_id)
        return write_json(write_job(record))

    def read_result(self, job_id: str) -> Response:
        """Give the PDF."""
        read_query(request, ())
        record = self._get(job_id)
        if record.status is not JobStatus.SUCCEEDED:
            raise no_result(record)
        return write_result(record, self._ports)

    def delete_job(self, job_id: str) -> Response:
        """Cancel the job, or remove it when it has ended."""
        read_query(request, ())
        record = self._get(job_id)
        if not record.status.is_final:
            self._ports.cell(record.account_id).job_flow.end_early(job_id, CANCELLED)
            record = self._get(job_id)
            if record.status is JobStatus.CANCELLED:
                return Response(status=204)
        # It had ended before it was cancelled, a moment or days ago.
        self._ports.cell(record.account_id).job_flow.remove(record)
        return Response(status=204)

    def _get(self, job_id: str) -> JobRecord:
        found = find_record(job_id, self._ports) if _JOB_ID.match(job_id) else None
        return _own(found, job_id)


def _own(record: JobRecord | None, job_id: str) -> JobRecord:
    """Give a job of the caller's account.

    Raises:
        ServiceError: 404, the same for a job of another account and one that never was.
    """
    account_id = current_principal().state.account_id
    if record is None or record.account_id != account_id:
        raise ServiceError(404, f"There is no job {job_id[:100]!r}.", kind=ErrorKind.NOT_FOUND)
    return record
