"""POST /v2/batches: a batch is stored and recorded before the response, once per idempotency key."""

from __future__ import annotations

from hashlib import sha256
from typing import Final

from flask import Request

from api.admission.body import BodyStream
from api.auth.guard import Principal
from api.batches.request import BatchRequest
from api.batches.upload import ReceivedBatch, delete_body, receive_batch
from api.jobs.holding import Holding, hold
from api.jobs.idempotency import check_repeated, make_fingerprint, read_key
from api.ports import Ports
from shared.batches.records import Batch, BatchStatus
from shared.batches.repository import add_batch, count_unfinished_batches, find_batch
from shared.db.session import Session
from shared.errors import ErrorCode, ErrorKind, ServiceError
from shared.jobs.idempotency import Call, FirstCall
from shared.limits import KB
from shared.settings import get_limits

_CHUNK_BYTES: Final = 256 * KB


def accept_batch(
    request: Request,
    batch_request: BatchRequest,
    principal: Principal,
    ports: Ports,
    *,
    request_id: str,
) -> tuple[Batch, bool]:
    """Accept a batch and return it as queued, and whether it is that of an earlier, equal request.

    Raises:
        ServiceError: 409 while the first request with this key is in progress; 422, it was a different
            request; 429 before the body is read, the account has too many unfinished batches; and the
            errors of `receive_batch`.
    """
    key = read_key(request, principal.state.account_id, Call.BATCHES)
    body = sha256()
    stream = BodyStream(
        request, limit=get_limits().batch_bytes, note=body.update if key else _ignore
    )
    with hold(key, ports) as holding:
        if holding.first is not None:
            while stream.read(_CHUNK_BYTES):
                pass
            fingerprint = make_fingerprint(request, Call.BATCHES, body_sha256=body.hexdigest())
            check_repeated(holding.first, fingerprint)
            return _get_first_batch(holding.first, principal, ports), True
        with ports.database.snapshot() as session:
            check_unfinished_limit(
                session, principal.state.account_id, ports.max_unfinished_batches
            )
        received = receive_batch(stream, batch_request, principal, ports, request_id=request_id)
        fingerprint = make_fingerprint(request, Call.BATCHES, body_sha256=body.hexdigest())
        _record_batch(received, holding, fingerprint, ports)
        return received.batch, False


def _record_batch(
    received: ReceivedBatch, holding: Holding, fingerprint: str, ports: Ports
) -> None:
    body_key = received.batch.body_key
    assert body_key is not None, "a new batch has a body"
    try:
        # Before it is recorded: the body of a recorded batch must never be deleted as an orphan.
        ports.cell(received.batch.account_id).claims.cancel_expiry(body_key)
        with ports.database.session() as session:
            # Again, for concurrent requests.
            check_unfinished_limit(session, received.batch.account_id, ports.max_unfinished_batches)
            add_batch(session, received.batch, received.chunks)
            holding.keep(session, fingerprint=fingerprint, batch_id=received.batch.id)
    except ServiceError:
        delete_body(body_key, ports)
        raise


def _get_first_batch(first: FirstCall, principal: Principal, ports: Ports) -> Batch:
    account_id = principal.state.account_id
    with ports.database.snapshot() as session:
        batch = find_batch(session, first.batch_id or "", account_id=account_id)
    if batch is None:
        raise ServiceError(
            410, "The batch of this Idempotency-Key has been removed.", kind=ErrorKind.NOT_FOUND
        )
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
        kind=ErrorKind.RATE,
        code=ErrorCode.RATE_LIMITED,
        headers={"Retry-After": str(_RETRY_SECONDS)},
    )
