"""The routes of runs: output plans under /v2/plans, and the account, files and index of a batch."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from typing import Any, ClassVar

from flask import Response, request

from api.admission.body import receive_record
from api.auth.guard import current_principal, record_change
from api.batches.routes import find_own_batch, require_files
from api.http import write_json
from api.operations.model import (
    OperationResponse,
    Parameter,
    RequestBody,
    Routes,
    binary_content,
    current_query,
    delete,
    get,
    json_content,
    json_response,
    post,
    put,
)
from api.operations.parameters import (
    FILE_ERRORS,
    FILE_REQUEST_HEADERS,
    NO_CONTENT,
    VERSION,
    file_responses,
)
from api.pdf_headers import write_attachment_headers
from api.stored_files import BlobFile, expired, send_file
from shared.auth.scopes import Scope
from shared.batches.decisions import HeldDocuments, Reprint, decide, order_reprint
from shared.batches.plan_checks import check_plan
from shared.batches.plans import IndexFormat, Plan
from shared.batches.records import Batch, BatchStatus
from shared.batches.runs import INDEX_NUMBER, PROOF_NUMBER, StoredFile, list_files, read_account
from shared.batches.stored_plans import (
    MAX_PLANS,
    delete_plan,
    list_plans,
    list_tags,
    put_plan,
    remove_tag,
    resolve_plan,
    set_tag,
)
from shared.clock import now
from shared.errors import ErrorCode, ServiceError
from shared.templates.names import PlanTagRequest
from shared.templates.references import parse_reference

_VERSION = Parameter("version", VERSION, "A version; the newest by default.")


_HELD = RequestBody(
    json_content("HeldDocuments"), "Which of them; all without a body.", is_required=False
)
_DECISION_ERRORS: Mapping[int, tuple[ErrorCode, ...]] = {404: (), 409: (), 410: ()}
_COPY_NAME = re.compile(r"proof|reprint-([1-9][0-9]{0,5})")
_MAX_AUDITED = 100  # indexes of documents in the audit log


class PlanRoutes(Routes):
    """The views of plans."""

    tag = "Runs"
    scopes = frozenset((Scope.RENDER,))
    words: ClassVar[Mapping[str, str]] = {"most": f"{MAX_PLANS:,}"}

    @put(
        "/v2/plans/{plan}",
        {
            201: json_response("A new version.", "StoredPlan"),
            200: json_response("The plan is as the newest version has it.", "StoredPlan"),
        },
        body=RequestBody(json_content("Plan"), "The output plan."),
        errors={409: ()},
    )
    def put_plan(self, plan: str) -> Response:
        """Store an output plan.

        What is done with the documents of a batch that names it: their order, the files that they go to, and
        what stands in the index. A version never changes; a plan that is another one has the next number. An
        account has at most $most.
        """
        wanted = receive_record(request, Plan, what="plan", is_required=True)
        check_plan(wanted)
        if wanted.bundle is not None:
            parse_reference(wanted.bundle.cover, field="bundle.cover")
        principal = current_principal()
        with self._ports.database.session() as session:
            stored, is_new = put_plan(session, principal.state.account_id, plan, wanted, at=now())
            if is_new:
                details = {"version": stored.version}
                record_change(session, principal, "plan.stored", plan, details)
        return write_json(stored.show(), 201 if is_new else 200)

    @get("/v2/plans", {200: json_response("The plans.", "Plans")})
    def list_plans(self) -> Response:
        """List the output plans.

        The newest version of each, by name.
        """
        with self._ports.database.snapshot() as session:
            found = list_plans(session, current_principal().state.account_id)
        return write_json({"plans": [stored.show() for stored in found]})

    @get(
        "/v2/plans/{plan}",
        {200: json_response("The output plan.", "StoredPlan")},
        query=(_VERSION,),
        errors={404: ()},
    )
    def read_plan(self, plan: str) -> Response:
        """Read an output plan.

        Its newest version, or the one that is asked for, and the tags of the plan.
        """
        version = current_query().get("version")
        reference = plan if version is None else f"{plan}@{version}"
        with self._ports.database.snapshot() as session:
            stored = resolve_plan(session, current_principal().state.account_id, reference)
            held = list_tags(session, current_principal().state.account_id, stored.name)
        tags = tuple({"tag": tag, "version": number} for tag, number in held.items())
        return write_json(stored.replace(tags=tags).show())

    @delete("/v2/plans/{plan}", {204: NO_CONTENT}, errors={404: ()})
    def delete_plan(self, plan: str) -> Response:
        """Delete an output plan.

        With all its versions and tags. Batches that were accepted with it keep it.
        """
        with self._ports.database.session() as session:
            if not delete_plan(session, current_principal().state.account_id, plan):
                raise ServiceError(404, f"The plan {plan!r} does not exist.")
            record_change(session, current_principal(), "plan.deleted", plan)
        return Response(status=204)

    @put(
        "/v2/plans/{plan}/tags/{tag}",
        {200: json_response("The tag and its version.", "TagPointer")},
        body=RequestBody(json_content("PlanTagRequest"), "The version to point to."),
        errors={404: (), 409: ()},
    )
    def tag_plan(self, plan: str, tag: str) -> Response:
        """Set a tag of an output plan.

        Creates or moves the tag; repeating the request changes nothing. Batches with `plan=name@tag` that are accepted
        from then on have this version.
        """
        version = int(receive_record(request, PlanTagRequest).version)
        principal = current_principal()
        with self._ports.database.session() as session:
            set_tag(session, principal.state.account_id, plan, tag, version=version)
            record_change(session, principal, "plan.tagged", plan, {"tag": tag, "version": version})
        return write_json({"tag": tag, "version": version})

    @delete("/v2/plans/{plan}/tags/{tag}", {204: NO_CONTENT}, errors={404: ()})
    def untag_plan(self, plan: str, tag: str) -> Response:
        """Remove a tag of an output plan.

        The version is kept.
        """
        principal = current_principal()
        with self._ports.database.session() as session:
            if not remove_tag(session, principal.state.account_id, plan, tag):
                raise ServiceError(404, f"The plan {plan!r} has no tag {tag!r}.")
            record_change(session, principal, "plan.untagged", plan, {"tag": tag})
        return Response(status=204)


class RunRoutes(Routes):
    """The views of what a batch with a plan has made."""

    tag = "Runs"
    scopes = frozenset((Scope.RENDER,))

    @get(
        "/v2/batches/{batch_id}/account",
        {200: json_response("The account of the batch.", "RunAccount")},
        errors={404: ()},
    )
    def read_run_account(self, batch_id: str) -> Response:
        """Read the account of a batch.

        What became of its documents: those asked for are delivered, held, rejected, failed, cancelled or open,
        and the six add up at every moment, also after a worker was killed. Documents of a batch with a plan
        are delivered once its files are written; pages and sheets are of these files, without their covers.
        """
        with self._ports.database.snapshot() as session:
            account = read_account(session, find_own_batch(session, batch_id))
        return write_json(account.show())

    @post(
        "/v2/batches/{batch_id}/release",
        {200: json_response("The account of the batch.", "RunAccount")},
        body=_HELD,
        errors=_DECISION_ERRORS,
    )
    def release_documents(self, batch_id: str) -> Response:
        """Release held documents.

        They leave as further files of the run, in the order of its plan and numbered after its other files; its
        index is written again. All held documents, or those of some indexes or of a reason; documents that are
        not held stay what they are, so a call can be repeated. The proof of a run can be released before its end,
        with {"reason": "proof"}: then the run ends as if it had none. The PDFs are kept for as long as after the
        end of the batch.
        """
        return self._decide(batch_id, is_release=True)

    @post(
        "/v2/batches/{batch_id}/reject",
        {200: json_response("The account of the batch.", "RunAccount")},
        body=_HELD,
        errors=_DECISION_ERRORS,
    )
    def reject_documents(self, batch_id: str) -> Response:
        """Reject held documents.

        They are in no file; a rejected document cannot be released. They are chosen as those to release. A run
        whose proof is rejected before its end is cancelled.
        """
        return self._decide(batch_id, is_release=False)

    @post(
        "/v2/batches/{batch_id}/reprint",
        {202: json_response("Accepted.", "RunFile", {"Location": "Path of its file."})},
        body=RequestBody(json_content("Reprint"), "The documents."),
        errors=_DECISION_ERRORS,
    )
    def reprint_documents(self, batch_id: str) -> Response:
        """Reprint delivered documents.

        Their pages as they were rendered, with the marks that they had, in one file and in the order of the run:
        nothing is rendered and metered again, whatever became of the template and its images. The file can be
        downloaded as soon as the account shows its bytes.
        """
        wanted = receive_record(request, Reprint, is_required=True)
        principal = current_principal()
        with self._ports.database.session() as session:
            batch = find_own_batch(session, batch_id)
            reprint = order_reprint(session, batch.id, wanted, at=now()).as_shown()
            details = {"number": reprint.number, **wanted.to_builtins()}
            record_change(session, principal, "documents.reprinted", batch.id, _shorten(details))
        self._ports.cell(batch.account_id).batches.arrange(batch)
        location = f"/v2/batches/{batch.id}/files/reprint-{reprint.number}"
        return write_json(reprint.show(), 202, headers={"Location": location})

    def _decide(self, batch_id: str, *, is_release: bool) -> Response:
        wanted = receive_record(request, HeldDocuments)
        with self._ports.database.session() as session:
            own = find_own_batch(session, batch_id)
            batch, changed = decide(session, own.id, wanted, is_release=is_release, at=now())
            if changed:
                action = f"documents.{'released' if is_release else 'rejected'}"
                details = _shorten(wanted.to_builtins()) | {"changed": changed}
                record_change(session, current_principal(), action, batch.id, details)
        batches = self._ports.cell(batch.account_id).batches
        if batch.status.is_final and changed:
            batches.arrange(batch)
        elif not (batch.status.is_final or is_release or batch.is_proof_released):
            batches.report_cancelled(batch)  # its proof is rejected
        return self.read_run_account(batch_id)

    @get(
        "/v2/batches/{batch_id}/files/{number}",
        file_responses(
            OperationResponse(
                "The PDF, or the ZIP.", binary_content("application/pdf", "application/zip")
            )
        ),
        headers=FILE_REQUEST_HEADERS,
        errors=FILE_ERRORS,
        reads="batch",
    )
    def read_run_file(self, batch_id: str, number: str) -> Response:
        """Download a file of a run.

        A batch with a plan has one file or more; its account lists them. 409 before its end, or if it has none.
        With output=zip or archive a file is a ZIP of a PDF for each set, their index and their SHA-256 digests.
        The file proof is its proof, from before its end on, and reprint-1 its first reprint.
        """
        with self._ports.database.snapshot() as session:
            batch = find_own_batch(session, batch_id)
            files = list_files(session, batch.id)
        wanted = _read_number(number)
        name = f"{wanted:03}" if wanted > INDEX_NUMBER else number
        is_zip = batch.plan is not None and batch.plan.is_package
        media_type, extension = (
            ("application/zip", ".zip") if is_zip else ("application/pdf", ".pdf")
        )
        return self._send(batch, files, wanted, f"{batch.id}-{name}", media_type, extension)

    @get(
        "/v2/batches/{batch_id}/index",
        file_responses(
            OperationResponse(
                "The index.", binary_content(*(each.media_type for each in IndexFormat))
            )
        ),
        headers=FILE_REQUEST_HEADERS,
        errors=FILE_ERRORS,
        reads="batch",
    )
    def read_run_index(self, batch_id: str) -> Response:
        """Download the index of a run.

        A row for each document: its file, position, first page and sheet, its pages and sheets, the weight, class
        of postage and inserts of its set if the plan has a weight or inserts, the number of its bundle in the file if
        it has bundles, the name of its PDF in the file if that is a ZIP, and the values of its `fields`, in the order of
        the files; then the documents that failed.
        Covers have no row, and are counted in the first page and sheet.
        """
        with self._ports.database.snapshot() as session:
            batch = find_own_batch(session, batch_id)
            files = list_files(session, batch.id)
        kind = batch.plan.index if batch.plan else IndexFormat.CSV
        media_type = kind.media_type + ("; charset=utf-8" if kind is IndexFormat.CSV else "")
        return self._send(batch, files, INDEX_NUMBER, batch.id, media_type, f".{kind}")

    def _send(
        self,
        batch: Batch,
        files: list[StoredFile],
        number: int,
        name: str,
        media_type: str,
        extension: str,
    ) -> Response:
        what = "file of this batch"
        if batch.plan is None:
            raise ServiceError(
                409, "A batch without a plan has no files of its own; see /v2/batches/{id}/result."
            )
        found = next((file for file in files if file.number == number), None)
        if found is None or number > PROOF_NUMBER:
            require_files(batch, what)
            if batch.error is not None:
                raise ServiceError(409, f"There is no file: {batch.error['message']}")
            if batch.status is BatchStatus.CANCELLED:
                raise ServiceError(409, "There is no file: the batch was cancelled.")
        elif batch.is_expired(now()):
            raise expired(what)
        if found is not None and not found.blob_key:
            raise ServiceError(
                409,
                "The reprint is not written yet."
                if batch.decisions > batch.arranged
                else "The reprint could not be written for a reason inside the service; ask for it again.",
            )
        if found is None:
            count = sum(file.number > INDEX_NUMBER for file in files)
            told = f"the files 1 to {count}" if count else "no file: no document succeeded"
            raise ServiceError(404, f"The batch has {told}.")
        headers = write_attachment_headers(media_type, name, extension)
        blob = BlobFile(self._ports.blobs, found.blob_key, found.bytes)
        return send_file(request, blob, headers, what=what)


def _read_number(name: str) -> int:
    """Return the number of a file by its name in the path; no file has the number of an unknown one."""
    copy = _COPY_NAME.fullmatch(name)
    if copy is not None:
        return PROOF_NUMBER - int(copy[1] or 0)
    is_number = name.isascii() and name.isdigit() and len(name) < 9
    return (int(name) if is_number else 0) or sys.maxsize


def _shorten(details: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a request asked for, with the number of its documents in place of many of them."""
    documents = details.get("documents") or ()
    return (
        {**details, "documents": len(documents)} if len(documents) > _MAX_AUDITED else {**details}
    )
