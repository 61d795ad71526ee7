"""Upload of a batch: the body is streamed into the object store while it is split into documents."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import BinaryIO, Final, TypeAlias, cast

from api.admission.body import BodyStream
from api.admission.gate import admit
from api.auth.guard import Principal
from api.batches.request import BatchRequest
from api.ports import Ports
from api.render.reference import pin_template
from shared.batches.chunks import split_into_chunks
from shared.batches.csv_rows import CsvBody
from shared.batches.json_array import JsonArrayBody
from shared.batches.ndjson import NdjsonBody
from shared.batches.records import Batch, BatchKind, BatchStatus, Chunk
from shared.clock import now
from shared.errors import ServiceError, Unavailable
from shared.identifiers import new_id
from shared.jobs.records import Allowance
from shared.limits import KB

_CHUNK_BYTES: Final = 256 * KB
_Body: TypeAlias = NdjsonBody | JsonArrayBody | CsvBody


@dataclass(frozen=True, slots=True)
class ReceivedBatch:
    """A batch whose body is stored, but which is not recorded yet."""

    batch: Batch
    chunks: tuple[Chunk, ...]


def receive_batch(
    stream: BodyStream,
    batch_request: BatchRequest,
    principal: Principal,
    ports: Ports,
    *,
    request_id: str,
) -> ReceivedBatch:
    """Store the body of an admitted batch: steps 6 to 8 of the order of checks.

    A body that a later step rejects is still read to its end, since 413 has precedence; it is not stored.

    Raises:
        ServiceError: 413 as soon as the body exceeds the limit; 400, invalid CSV or JSON array, or no
            document; 404 and 400 for the template; 402 for the allowance.
    """
    batch_id = new_id("batch")
    body = _open_body(batch_request, stream)
    try:
        template = pin_template(batch_request.template, principal, ports)
        meter = admit(principal, batch_request.allowance, template, ports).meter
    except ServiceError as refusal:
        _drain(body)
        raise refusal
    key = f"batches/{batch_id}/body"
    ports.cell(principal.state.account_id).claims.schedule_expiry(key)
    ports.blobs.put_stream(key, cast("BinaryIO", body))
    if not body.starts:
        delete_body(key, ports)
        raise _empty_body()
    batch = Batch(
        id=batch_id,
        account_id=principal.state.account_id,
        workspace_id=principal.state.workspace_id,
        user_id=principal.state.user_id,
        request_id=request_id,
        status=BatchStatus.QUEUED,
        output=batch_request.output,
        kind=batch_request.kind,
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
    )
    chunks = split_into_chunks(batch_id, body.starts, end=body.size, output=batch_request.output)
    return ReceivedBatch(batch, tuple(chunks))


def delete_body(key: str, ports: Ports) -> None:
    """Delete the body of a rejected batch; if that fails, maintenance deletes it later."""
    with suppress(Unavailable):
        ports.blobs.delete(key)


def _open_body(batch_request: BatchRequest, stream: BodyStream) -> _Body:
    if batch_request.kind is BatchKind.CSV:
        return CsvBody(stream, charset=batch_request.charset)
    return JsonArrayBody(stream) if batch_request.is_array else NdjsonBody(stream)


def _drain(body: _Body) -> None:
    while body.read(_CHUNK_BYTES):
        pass
    if not body.starts:
        raise _empty_body()


def _empty_body() -> ServiceError:
    return ServiceError(
        400,
        "The body contains no document; send one JSON object per line, a JSON array of objects, or one "
        "CSV row per document.",
    )
