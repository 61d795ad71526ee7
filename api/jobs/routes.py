"""The routes under /v2/jobs."""

from __future__ import annotations

import re
from hashlib import sha256
from typing import Any, Final

from flask import Response, request

from api.auth.guard import current_principal, record_change
from api.http import read_choice, read_limit, read_wait, write_json
from api.jobs.reading import (
    PDF,
    await_end,
    find_pdf,
    find_record,
    list_page,
    no_result,
    write_job_headers,
)
from api.operations.model import (
    Parameter,
    Routes,
    current_query,
    delete,
    enum_of,
    get,
    json_response,
)
from api.operations.parameters import (
    EXAMPLE_JOB,
    FILE_ERRORS,
    FILE_REQUEST_HEADERS,
    FILENAME,
    LIMIT,
    NO_CONTENT,
    PDF_RESPONSE,
    SUBJECT,
    WAIT,
    file_responses,
    start_after,
)
from api.stored_files import send_file
from shared.auth.scopes import Scope
from shared.batches.repository import soft_delete_batch
from shared.clock import now
from shared.db.queries import check_not_held
from shared.errors import ServiceError
from shared.jobs.repository import JobRecord, JobStatus, write_job
from shared.jobs.subjects import ErasureReceipt, delete_traces, list_work_of_subject
from shared.queue.states import CANCELLED

_JOB_ID: Final = re.compile(r"job_[a-z2-7]{24}\Z")


class JobRoutes(Routes):
    """The views."""

    tag = "Jobs"
    scopes = frozenset((Scope.RENDER,))

    @get(
        "/v2/jobs",
        {200: json_response("One page.", "JobList")},
        query=(
            Parameter("status", enum_of(JobStatus), "Only jobs of this status."),
            LIMIT,
            start_after(
                {"type": "string", "pattern": "^job_[a-z2-7]{24}$", "examples": [EXAMPLE_JOB]}
            ),
        ),
    )
    def list_jobs(self) -> Response:
        """List jobs.

        The recorded jobs of the account, newest first: asynchronous renders, and renders with an
        Idempotency-Key. Documents of a batch are listed with the batch. With status=queued or
        status=running a page can be short, even empty, and still have a next_cursor.
        """
        account_id = current_principal().state.account_id
        query = current_query()
        page = list_page(
            account_id,
            self._ports,
            status=read_choice(query, "status", JobStatus),
            limit=read_limit(query),
            start_after=query.get("start_after"),
        )
        body: dict[str, Any] = {"jobs": [write_job(record) for record in page.records]}
        if page.next_cursor is not None:
            body["next_cursor"] = page.next_cursor
        return write_json(body)

    @get(
        "/v2/jobs/{job_id}",
        {200: json_response("The record.", "Job")},
        query=(WAIT,),
        errors={404: ()},
    )
    def read_job(self, job_id: str) -> Response:
        """Read a job.

        The record is kept for 7 days after the job has ended, unless the operator sets another time.
        """
        seconds = read_wait(current_query())
        record = await_end(lambda: self._get(job_id), self._ports, seconds=seconds)
        return write_json(write_job(record))

    @get(
        "/v2/jobs/{job_id}/pdf",
        file_responses(PDF_RESPONSE),
        query=(FILENAME,),
        headers=FILE_REQUEST_HEADERS,
        errors=FILE_ERRORS,
        reads="job",
    )
    def read_job_pdf(self, job_id: str) -> Response:
        """Read a job's PDF.

        The same response as that of a synchronous render; available for 24 hours by default. 409 when the job has not
        succeeded, 410 once the PDF has expired.
        """
        filename = current_query().get("filename")
        record = self._get(job_id)
        if record.status is not JobStatus.SUCCEEDED:
            raise no_result(record)
        headers = write_job_headers(record, filename)
        return send_file(request, find_pdf(record, self._ports), headers, what=PDF)

    @delete("/v2/jobs/{job_id}", {204: NO_CONTENT}, errors={404: (), 409: ()})
    def delete_job(self, job_id: str) -> Response:
        """Cancel or remove a job.

        Cancels a queued job, stops a running one, and deletes one that has ended, with its PDF. Cancelled
        jobs are not metered. A document of a batch can be cancelled with its batch only.
        """
        record = self._get(job_id)
        if not record.status.is_final:
            self._ports.cell(record.account_id).jobs.end_early(job_id, CANCELLED)
            record = self._get(job_id)
            if record.status is JobStatus.CANCELLED:
                return Response(status=204)
        # It had already ended.
        with self._ports.database.snapshot() as session:
            check_not_held(session, record.account_id)
        self._ports.cell(record.account_id).jobs.remove(record)
        return Response(status=204)

    def _get(self, job_id: str) -> JobRecord:
        """Return a job of the authenticated account.

        Raises:
            ServiceError: 404, the job does not exist or belongs to another account; the errors are equal.
        """
        record = find_record(job_id, self._ports) if _JOB_ID.match(job_id) else None
        if record is None or record.account_id != current_principal().state.account_id:
            raise ServiceError(404, f"Job {job_id[:100]!r} does not exist.")
        return record


_AT_ONCE: Final = 100


class SubjectRoutes(Routes):
    """The view."""

    tag = "Account"
    scopes = frozenset((Scope.ACCOUNT,))

    @delete(
        "/v2/subjects",
        {200: json_response("The receipt.", "ErasureReceipt")},
        query=(
            Parameter(
                "key",
                SUBJECT.schema,
                "The `subject` that documents were sent with.",
                is_required=True,
            ),
        ),
        errors={409: ()},
    )
    def erase_subject(self) -> Response:
        """Erase a data subject.

        Removes the jobs and batches that were sent with this `subject`, unfinished ones too, with bodies, results, records,
        idempotency keys and log of deliveries. The ledger keeps page counts, and the audit log the digest of
        the subject. Files of batches are deleted within a minute; a repeated call finds nothing more.
        """
        principal = current_principal()
        account_id = principal.state.account_id
        key = current_query()["key"]
        sums = {"jobs": 0, "batches": 0, "deliveries": 0}
        cell, database = self._ports.cell(account_id), self._ports.database
        with database.snapshot() as session:
            check_not_held(session, account_id)
        while True:
            with database.snapshot() as session:
                job_ids, batches = list_work_of_subject(session, account_id, key, limit=_AT_ONCE)
            if not job_ids and not batches:
                break
            for job_id in job_ids:
                record = find_record(job_id, self._ports)
                if record is not None and not record.status.is_final:
                    cell.jobs.end_early(job_id, CANCELLED)
                    record = find_record(job_id, self._ports)
                if record is not None:
                    sums["jobs"] += cell.jobs.remove(record)
            for batch in batches:
                cell.batches.cancel(batch)  # one that has ended stays as it is
            ids = [*job_ids, *(batch.id for batch in batches)]
            with database.session() as session:
                for batch in batches:
                    sums["batches"] += soft_delete_batch(session, batch.id, at=now())
                sums["deliveries"] += delete_traces(session, account_id, ids)
        digest = sha256(key.encode()).hexdigest()
        with database.session() as session:
            record_change(session, principal, "subject.erased", digest, sums)
        return write_json(ErasureReceipt(digest, **sums, at=now()).show())
