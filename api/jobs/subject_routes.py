"""The route /v2/subjects: erasure by data subject."""

from __future__ import annotations

from hashlib import sha256
from typing import Final

from flask import Response

from api.auth.guard import current_principal, record_change
from api.http import write_json
from api.jobs.reading import find_record
from api.operations.model import Parameter, Routes, current_query, delete, json_response
from api.operations.parameters import SUBJECT
from shared.auth.scopes import Scope
from shared.batches.repository import soft_delete_batch
from shared.clock import now
from shared.errors import ServiceError
from shared.jobs.subjects import ErasureReceipt, check_subject, delete_traces, list_work_of_subject
from shared.queue.states import CANCELLED

_AT_ONCE: Final = 100


class SubjectRoutes(Routes):
    """The view."""

    tag = "Account"
    scopes = frozenset((Scope.ACCOUNT,))

    @delete(
        "/v2/subjects",
        {200: json_response("The receipt.", "ErasureReceipt")},
        query=(Parameter("key", SUBJECT.schema, "The subject.", is_required=True),),
    )
    def erase_subject(self) -> Response:
        """Erase a data subject.

        Removes the jobs and batches that were sent with this `subject`, unfinished ones too, with bodies, results, records,
        idempotency keys and log of deliveries. The ledger keeps page counts, and the audit log the digest of
        the subject. Files of batches are deleted within a minute; a repeated call finds nothing more.
        """
        principal = current_principal()
        account_id = principal.state.account_id
        key = check_subject(current_query().get("key"))
        if key is None:
            raise ServiceError(400, "The query parameter key is required.")
        sums = {"jobs": 0, "batches": 0, "deliveries": 0}
        cell, database = self._ports.cell(account_id), self._ports.database
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
                    cell.jobs.remove(record)
            for batch in batches:
                cell.batches.cancel(batch)  # one that has ended stays as it is
            ids = [*job_ids, *(batch.id for batch in batches)]
            with database.session() as session:
                for batch in batches:
                    soft_delete_batch(session, batch.id, at=now())
                sums["deliveries"] += delete_traces(session, account_id, ids)
            sums["jobs"] += len(job_ids)
            sums["batches"] += len(batches)
        digest = sha256(key.encode()).hexdigest()
        with database.session() as session:
            record_change(session, principal, "subject.erased", digest, sums)
        return write_json(ErasureReceipt(digest, **sums, at=now()).show())
