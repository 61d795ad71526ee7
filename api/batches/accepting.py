"""POST /v2/batches: a batch is stored and on record before it is answered, once for each key."""

from __future__ import annotations

from dataclasses import replace
from hashlib import sha256
from typing import Final

from flask import Request

from api.admission.body import BodyStream
from api.auth.guard import Principal
from api.batches.capacity import check_room
from api.batches.intake import Intake, discard, receive_batch
from api.batches.request import BatchRequest
from api.jobs.holding import Holding, hold
from api.jobs.idempotency import check_repeated, make_fingerprint, read_key
from api.ports import Ports
from shared.batches.records import Batch, BatchStatus
from shared.db.batches import add_batch, find_batch
from shared.db.idempotency import Call, FirstCall
from shared.errors import ErrorKind, ServiceError
from shared.limits import KB, MAX_BATCH_BYTES

_CHUNK: Final = 256 * KB


def accept_batch(
    request: Request, asked: BatchRequest, principal: Principal, ports: Ports, *, request_id: str
) -> Batch:
    """Accept a batch and give it as it is at its beginning; a repeated call gives the first one's.

    Raises:
        ServiceError: 409 while the first call with this key is under way, 422 when it was another
            request, 429 when the account has too many unfinished batches, which is told before the
            body is read; and what `receive_batch` raises.
    """
    key = read_key(request, principal.state.account_id, Call.BATCHES)
    body = sha256()
    stream = BodyStream(request, limit=MAX_BATCH_BYTES, note=body.update if key else _ignore)
    with hold(key, ports) as holding:
        if holding.first is not None:
            while stream.read(_CHUNK):
                pass
            fingerprint = make_fingerprint(request, Call.BATCHES, body_sha256=body.hexdigest())
            check_repeated(holding.first, fingerprint)
            return _get_first(holding.first, principal, ports)
        with ports.database.snapshot() as session:
            check_room(session, principal.state.account_id, ports.max_unfinished_batches)
        taken = receive_batch(stream, asked, principal, ports, request_id=request_id)
        fingerprint = make_fingerprint(request, Call.BATCHES, body_sha256=body.hexdigest())
        _put_on_record(taken, holding, fingerprint, ports)
        return taken.batch


def _put_on_record(taken: Intake, holding: Holding, fingerprint: str, ports: Ports) -> None:
    body_key = taken.batch.body_key
    assert body_key is not None, "a new batch has a body"
    try:
        # Before the record: a body that is on record must never be swept.
        ports.cell(taken.batch.account_id).claims.keep(body_key)
        with ports.database.session() as session:
            # Once more, for those that came in beside this one.
            check_room(session, taken.batch.account_id, ports.max_unfinished_batches)
            add_batch(session, taken.batch, taken.chunks)
            holding.keep(session, fingerprint=fingerprint, batch_id=taken.batch.id)
    except ServiceError:
        discard(body_key, ports)
        raise


def _get_first(first: FirstCall, principal: Principal, ports: Ports) -> Batch:
    account_id = principal.state.account_id
    with ports.database.snapshot() as session:
        batch = find_batch(session, first.batch_id or "", account_id=account_id)
    if batch is None:
        raise ServiceError(
            410, "The batch of this Idempotency-Key has been removed.", kind=ErrorKind.NOT_FOUND
        )
    # As it was answered first: what has become of it since is told at its own address.
    return replace(batch, status=BatchStatus.QUEUED, finished_at=None, expires_at=None)


def _ignore(_: bytes) -> None:
    """Note nothing."""
