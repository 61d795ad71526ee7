"""POST /v2/batches: parameters are read, the body is streamed into the object store, and the batch is recorded before the response."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256
from io import BytesIO
from tempfile import TemporaryFile
from typing import BinaryIO, Final, cast

from flask import Request, g

from api.admission.body import Body, BodyStream
from api.admission.gate import admit
from api.auth.guard import Principal, current_principal
from api.http import read_choice, require_content_type
from api.jobs.accepting import Holding, check_repeated, hold, make_fingerprint, read_key
from api.jobs.inspection import Inspections
from api.operations.model import current_query
from api.ports import Ports
from api.render.inspection import SPREADSHEET_TYPE
from api.render.request import find_order, pin_template, read_moment
from shared.batches.csv_rows import CsvBody
from shared.batches.groups import GroupedBody, check_group_path
from shared.batches.json_documents import DocumentStream, JsonArrayBody, NdjsonBody
from shared.batches.plan_checks import check_plan
from shared.batches.plans import PlanOutput, Priority, StoredPlan
from shared.batches.records import (
    Batch,
    BatchKind,
    BatchOutput,
    BatchStatus,
    Chunk,
    split_into_chunks,
)
from shared.batches.repository import add_batch, count_unfinished_batches, find_batch
from shared.batches.stored_plans import resolve_plan
from shared.clock import now
from shared.db.queries import lock_account
from shared.db.session import Session
from shared.errors import ErrorCode, ServiceError, Unavailable
from shared.identifiers import new_id
from shared.jobs.idempotency import Call, FirstCall
from shared.jobs.records import Allowance, BodyKind
from shared.limits import KB, MAX_GROUPED_ROWS, MAX_SPREADSHEET_BYTES
from shared.settings import get_limits
from shared.templates.references import TemplateReference, parse_reference

_ARRAY: Final = "application/json"
_LAST: Final = timedelta(days=31)  # of a deadline
_KINDS: Final[Mapping[str, BatchKind]] = {
    "application/x-ndjson": BatchKind.NDJSON,
    _ARRAY: BatchKind.NDJSON,  # converted while it is received
    "text/csv": BatchKind.CSV,
    SPREADSHEET_TYPE: BatchKind.CSV,  # converted by a worker
}


@dataclass(frozen=True, slots=True)
class BatchRequest:
    """The parameters of a new batch, without the body."""

    kind: BatchKind
    is_array: bool
    is_spreadsheet: bool
    charset: str | None
    template: TemplateReference
    output: BatchOutput
    allowance: Allowance
    plan: str | None
    is_zipped: bool  # with a plan: its files are ZIPs
    group: str | None
    priority: Priority | None
    deadline: datetime | None


def read_batch_request(request: Request) -> BatchRequest:
    """Read the parameters and the Content-Type, before the body.

    Raises:
        ServiceError: 400 for a parameter, 415 for the Content-Type.
    """
    query = current_query()
    template = parse_reference(query["template"], field="template")
    plan = query.get("plan")
    output = read_choice(query, "output", BatchOutput)
    if plan is not None and output is BatchOutput.FILES:
        raise ServiceError(
            400,
            "A batch with a plan has the files that it says: output=files is not accepted, output=zip is.",
        )
    group, deadline = map(query.get, ("group", "deadline"))
    if group is not None:
        check_group_path(group)
    charset, media_type = require_content_type(request, _KINDS), request.mimetype
    kind = _KINDS[media_type]
    if kind is BatchKind.NDJSON and charset not in (None, "utf-8"):
        raise ServiceError(415, f"Unaccepted charset {charset} for JSON; accepted is UTF-8.")
    return BatchRequest(
        kind=kind,
        is_array=media_type == _ARRAY,
        is_spreadsheet=media_type == SPREADSHEET_TYPE,
        charset=charset,
        template=template,
        output=BatchOutput.MERGED if plan else output or BatchOutput.FILES,
        is_zipped=output is BatchOutput.ZIP,
        allowance=Allowance.DRAFT if query.get("draft") == "true" else Allowance.PRODUCTION,
        plan=plan,
        group=group,
        priority=read_choice(query, "priority", Priority),
        deadline=None
        if deadline is None
        else read_moment("deadline", deadline, within=_LAST, why="31 days later"),
    )


def receive_batch(
    stream: BodyStream, batch_request: BatchRequest, ports: Ports, inspections: Inspections
) -> tuple[Batch, list[Chunk]]:
    """Store the body of an admitted batch, which is not recorded yet: steps 6 to 8 of the order of checks.

    A body that a later step rejects is still read to its end, since 413 has precedence; it is not stored.

    Raises:
        ServiceError: 413 as soon as the body exceeds the limit; 400, invalid CSV or JSON array, or no
            document; 404 and 400 for the template; 402 for the allowance.
    """
    batch_id, principal = new_id("batch"), current_principal()
    is_spreadsheet = batch_request.is_spreadsheet
    source = _convert(stream, principal, inspections) if is_spreadsheet else stream
    body = _open_body(batch_request, source)
    try:
        template = pin_template(batch_request.template, principal, ports)
        plan = _find_plan(batch_request, principal, ports)
        bundle = plan.plan.bundle if plan else None
        tray = parse_reference(bundle.cover, field="bundle.cover") if bundle else None
        is_merged = batch_request.output is BatchOutput.MERGED
        order, subject = (
            find_order(
                principal,
                ports,
                has_record=not is_merged,
                is_batch=True,
                is_merged=is_merged,
                hours=plan.plan.keep.result_hours if plan else None,
            ),
            current_query().get("subject"),
        )
        cover = pin_template(tray, principal, ports) if tray else None
        meter = admit(principal, batch_request.allowance, template, ports).meter
    except ServiceError as refusal:
        _drain(body)
        raise refusal
    key = f"batches/{batch_id}/body"
    ports.blobs.put(key, cast("BinaryIO", body))
    try:
        if not body.starts:
            raise _empty_body()
        if plan:
            check_plan(plan.plan, len(body.starts))
    except ServiceError:
        delete_body(key, ports)
        raise
    batch = Batch(
        id=batch_id,
        account_id=principal.state.account_id,
        workspace_id=principal.state.workspace_id,
        user_id=principal.state.user_id,
        request_id=g.request_id,
        status=BatchStatus.QUEUED,
        output=batch_request.output,
        kind=BatchKind.NDJSON if isinstance(body, GroupedBody) else batch_request.kind,
        head=body.head if isinstance(body, CsvBody) else None,
        is_draft=batch_request.allowance is Allowance.DRAFT,
        template=str(batch_request.template),
        pinned=template,
        meter=meter,
        total=len(body.starts),
        body_key=key,
        body_bytes=body.size,
        created_at=now(),
        traceparent=ports.traces.traceparent(),
        plan=plan.plan if plan else None,
        plan_name=str(plan) if plan else None,
        cover=cover,
        deliver_to=order.destination.id if order else None,
        send_at=order.send_at if order else None,
        subject=subject,
        deadline=batch_request.deadline,
        priority=batch_request.priority or (plan and plan.plan.priority) or Priority.NORMAL,
    )
    chunks = split_into_chunks(batch_id, body.starts, end=body.size, output=batch_request.output)
    return batch, list(chunks)


def _find_plan(
    batch_request: BatchRequest, principal: Principal, ports: Ports
) -> StoredPlan | None:
    if batch_request.plan is None:
        return None
    with ports.database.snapshot() as session:
        stored = resolve_plan(session, principal.state.account_id, batch_request.plan)
    if not batch_request.is_zipped or stored.plan.is_package:
        return stored
    changed = stored.plan.replace(output=PlanOutput.ZIP)
    check_plan(changed)
    return stored.replace(plan=changed)


def delete_body(key: str, ports: Ports) -> None:
    """Delete the body of a rejected batch; if that fails, maintenance deletes it later."""
    with suppress(Unavailable):
        ports.blobs.delete(key)


def _open_body(batch_request: BatchRequest, stream: BodyStream | BytesIO) -> DocumentStream:
    most = None if batch_request.group is None else MAX_GROUPED_ROWS
    body: NdjsonBody | JsonArrayBody | CsvBody
    if batch_request.kind is BatchKind.CSV:
        charset = "utf-8" if batch_request.is_spreadsheet else batch_request.charset
        body = CsvBody(stream, charset=charset, most=most)
    elif batch_request.is_array:
        body = JsonArrayBody(stream, most=most)
    else:
        body = NdjsonBody(stream, most=most)
    return body if batch_request.group is None else GroupedBody(body, batch_request.group)


def _convert(stream: BodyStream, principal: Principal, inspections: Inspections) -> BytesIO:
    """Return the CSV of a spreadsheet."""
    with TemporaryFile() as file:
        size = 0
        while chunk := stream.read(_CHUNK_BYTES):
            size += file.write(chunk)
        file.seek(0)
        found = inspections.inspect(BodyKind.SPREADSHEET, Body(file, size), principal)
    return BytesIO(found["csv"].encode())


def _drain(body: DocumentStream) -> None:
    while body.read(_CHUNK_BYTES):
        pass
    if not body.starts:
        raise _empty_body()


def _empty_body() -> ServiceError:
    return ServiceError(
        400,
        "The body contains no document; send one JSON object per line, a JSON array of objects, or one "
        "row per document as CSV or XLSX.",
    )


_CHUNK_BYTES: Final = 256 * KB


def accept_batch(
    request: Request, batch_request: BatchRequest, ports: Ports, inspections: Inspections
) -> tuple[Batch, bool]:
    """Accept a batch and return it as queued, and whether it is that of an earlier, equal request.

    Raises:
        ServiceError: 409 while the first request with this key is in progress; 422, it was a different
            request; 429 before the body is read, the account has too many unfinished batches; and the
            errors of `receive_batch`.
    """
    principal = current_principal()
    key = read_key(request, principal.state.account_id, Call.BATCHES)
    body = sha256()
    limit = MAX_SPREADSHEET_BYTES if batch_request.is_spreadsheet else get_limits().batch_bytes
    stream = BodyStream(request, limit=limit, note=body.update if key else _ignore)
    with hold(key, ports) as holding:
        if holding.first is not None:
            while stream.read(_CHUNK_BYTES):
                pass
            fingerprint = make_fingerprint(request, Call.BATCHES, body_sha256=body.hexdigest())
            check_repeated(holding.first, fingerprint)
            return _get_first_batch(holding.first, principal, ports), True
        with ports.database.snapshot() as session:
            check_unfinished_limit(
                session, principal.state.account_id, ports.settings.max_unfinished_batches
            )
        batch, chunks = receive_batch(stream, batch_request, ports, inspections)
        fingerprint = make_fingerprint(request, Call.BATCHES, body_sha256=body.hexdigest())
        _record_batch(batch, chunks, holding, fingerprint, ports)
        return batch, False


def _record_batch(
    batch: Batch, chunks: Sequence[Chunk], holding: Holding, fingerprint: str, ports: Ports
) -> None:
    assert batch.body_key is not None, "a new batch has a body"
    try:
        with ports.database.session() as session:
            # Again and one after the other, for concurrent requests.
            lock_account(session, batch.account_id)
            check_unfinished_limit(session, batch.account_id, ports.settings.max_unfinished_batches)
            add_batch(session, batch, chunks)
            holding.keep(session, fingerprint=fingerprint, batch_id=batch.id)
    except ServiceError:
        delete_body(batch.body_key, ports)
        raise


def _get_first_batch(first: FirstCall, principal: Principal, ports: Ports) -> Batch:
    account_id = principal.state.account_id
    with ports.database.snapshot() as session:
        batch = find_batch(session, first.batch_id or "", account_id=account_id)
    if batch is None:
        raise ServiceError(410, "The batch of this Idempotency-Key has been removed.")
    # As in the first response; the current state is at the batch's own path.
    return batch.replace(status=BatchStatus.QUEUED, finished_at=None, expires_at=None)


def _ignore(_: bytes) -> None:
    """Ignore a chunk."""


# The duration of a batch of a few thousand documents.
_RETRY_SECONDS: Final = 10


def check_unfinished_limit(session: Session, account_id: str, limit: int) -> None:
    """Check that an account may have one more unfinished batch; `limit` 0 means no limit.

    Raises:
        ServiceError: 429 with `Retry-After`, the account has reached the limit.
    """
    if not limit:
        return
    unfinished = count_unfinished_batches(session, account_id)
    if unfinished < limit:
        return
    raise ServiceError(
        429,
        f"Too many unfinished batches: the account has {unfinished:,}; the limit is {limit:,}. List them with GET /v2/batches?status=running and ?status=queued, cancel one with "
        f"DELETE /v2/batches/{{id}}, or wait for one to end and try again in {_RETRY_SECONDS} s.",
        code=ErrorCode.RATE_LIMITED,
        headers={"Retry-After": str(_RETRY_SECONDS)},
    )
