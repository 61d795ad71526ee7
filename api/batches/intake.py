"""Accepting a batch: its body streams into the object store while it is taken apart."""

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
from shared.batches.chunks import cut_chunks
from shared.batches.csv_rows import CsvBody
from shared.batches.json_array import JsonArrayBody
from shared.batches.ndjson import NdjsonBody
from shared.batches.records import Batch, BatchKind, BatchStatus, Chunk
from shared.clock import now
from shared.errors import ServiceError, Unavailable
from shared.identifiers import new_id
from shared.jobs import Allowance, Meter, PinnedTemplate
from shared.limits import KB

_CHUNK: Final = 256 * KB
_Body: TypeAlias = NdjsonBody | JsonArrayBody | CsvBody


@dataclass(frozen=True, slots=True)
class Intake:
    """A batch whose body is stored, and that is not on record yet."""

    batch: Batch
    chunks: tuple[Chunk, ...]


@dataclass(frozen=True, slots=True)
class _Leave:
    """What a batch is rendered with and counted against."""

    template: PinnedTemplate
    meter: Meter


def receive_batch(
    stream: BodyStream, asked: BatchRequest, principal: Principal, ports: Ports, *, request_id: str
) -> Intake:
    """Store the body of an admitted batch: steps 6 to 8 of contract.md 1.

    A body that a later step refuses is read to its end all the same, and not stored: were it too
    large, that would have been the earlier step.

    Raises:
        ServiceError: 413 as soon as there is too much of it; 400 when it is no CSV or no JSON array, or holds no
            document; 404 and 400 for the template; 402 for the allowance.
    """
    batch_id = new_id("batch")
    body = _open_body(asked, stream)
    try:
        leave = _admit(asked, principal, ports)
    except ServiceError as refusal:
        _read_through(body)
        raise refusal
    key = f"batches/{batch_id}/body"
    ports.cell(principal.state.account_id).claims.lend(key)
    ports.blobs.put_all(key, cast("BinaryIO", body))
    if not body.starts:
        discard(key, ports)
        raise _empty()
    batch = Batch(
        id=batch_id,
        account_id=principal.state.account_id,
        workspace_id=principal.state.workspace_id,
        user_id=principal.state.user_id,
        request_id=request_id,
        status=BatchStatus.QUEUED,
        output=asked.output,
        kind=asked.kind,
        head=body.head if isinstance(body, CsvBody) else None,
        is_draft=asked.allowance is Allowance.DRAFT,
        template=str(asked.template),
        pinned=leave.template,
        meter=leave.meter,
        total=len(body.starts),
        body_key=key,
        body_bytes=body.size,
        created_at=now(),
        traceparent=ports.traces.traceparent(),
    )
    chunks = cut_chunks(batch_id, body.starts, end=body.size, output=asked.output)
    return Intake(batch, tuple(chunks))


def discard(key: str, ports: Ports) -> None:
    """Delete a body that is not accepted after all; what stays is swept later."""
    with suppress(Unavailable):
        ports.blobs.delete(key)


def _open_body(asked: BatchRequest, stream: BodyStream) -> _Body:
    if asked.kind is BatchKind.CSV:
        return CsvBody(stream, charset=asked.charset)
    return JsonArrayBody(stream) if asked.is_array else NdjsonBody(stream)


def _admit(asked: BatchRequest, principal: Principal, ports: Ports) -> _Leave:
    template = pin_template(asked.template, principal, ports)
    return _Leave(template, admit(principal, asked.allowance, ports).meter)


def _read_through(body: _Body) -> None:
    while body.read(_CHUNK):
        pass
    if not body.starts:
        raise _empty()


def _empty() -> ServiceError:
    return ServiceError(
        400,
        "The body holds no document; send one JSON object per line, an array of them, or one CSV row "
        "for each.",
    )
