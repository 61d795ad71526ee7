"""The `Idempotency-Key` header, and the errors of repeated calls."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from threading import Event, Thread
from typing import Final
from urllib.parse import urlencode

from flask import Request, Response

from api.ports import Ports
from shared.clock import now
from shared.db.session import Session
from shared.errors import ServiceError, Unavailable
from shared.identifiers import new_id
from shared.jobs.idempotency import (
    Call,
    FirstCall,
    IdempotencyKey,
    bind_key_to_batch,
    lease_key,
    release_key,
)

HEADER: Final = "Idempotency-Key"
_KEY: Final = re.compile(r"[!-~]{1,255}\Z")
_RETRY_SECONDS: Final = 1


def read_key(request: Request, account_id: str, call: Call) -> IdempotencyKey | None:
    """Read the idempotency key of a request, None without one.

    Raises:
        ServiceError: 400, the key is empty, too long, or has invalid characters.
    """
    text = request.headers.get(HEADER)
    if text is None:
        return None
    if not _KEY.match(text):
        raise ServiceError(
            400,
            f"Invalid {HEADER} header: accepted are 1 to 255 visible ASCII characters without "
            "spaces, such as a UUID.",
        )
    return IdempotencyKey(account_id, call, text)


def make_fingerprint(request: Request, call: Call, *, body_sha256: str) -> str:
    """Return a digest of route, query, Content-Type and body, which identifies equal requests."""
    query = urlencode(sorted(request.args.items(multi=True)))
    parts = (call.value, query, request.headers.get("Content-Type", ""), body_sha256)
    return hashlib.sha256("\n".join(parts).encode("utf-8", "surrogateescape")).hexdigest()


def check_repeated(first: FirstCall, fingerprint: str | None = None) -> None:
    """Check a repeated call against the first one.

    Without a fingerprint, before the body is received, only a first call in progress is an error.

    Raises:
        ServiceError: 409 while the first call is in progress; 422, it was a different request.
    """
    if first.fingerprint is None:
        raise under_way()
    if fingerprint is not None and first.fingerprint != fingerprint:
        raise ServiceError(
            422,
            f"The {HEADER} was already used with a different request; repeat that request unchanged, or "
            "send this one with a new key.",
        )


def mark_replayed(response: Response) -> Response:
    """Mark the response of a repeated call as that of the first one."""
    response.headers["Idempotent-Replayed"] = "true"
    return response


def under_way() -> ServiceError:
    """Return the error of a repeated call while the first one is in progress."""
    return ServiceError(
        409,
        f"A request with this {HEADER} is still in progress; try again in {_RETRY_SECONDS} s.",
        headers={"Retry-After": str(_RETRY_SECONDS)},
    )


_RENEW_SECONDS: Final = 10.0


@dataclass(frozen=True, slots=True)
class Holding:
    """A locked key, or the first call that used it; without a key it is neither."""

    key: IdempotencyKey | None
    holder: str
    first: FirstCall | None = None

    def keep(self, session: Session, *, fingerprint: str, batch_id: str) -> None:
        """Store the batch of the key, in the transaction that records the batch.

        Raises:
            ServiceError: 409, another call has taken the key in the meantime.
        """
        if self.key is None:
            return
        is_kept = bind_key_to_batch(
            session, self.key, holder=self.holder, fingerprint=fingerprint, batch_id=batch_id
        )
        if not is_kept:
            raise under_way()


@contextmanager
def hold(key: IdempotencyKey | None, ports: Ports) -> Iterator[Holding]:
    """Lock a key for the block; without a call of `keep` it is released afterwards.

    Raises:
        ServiceError: 409 while another call with the key is in progress.
        Unavailable: the database cannot be reached.
    """
    holder = new_id("hold")
    if key is None:
        yield Holding(None, holder)
        return
    with ports.database.session() as session:
        first = lease_key(session, key, holder=holder, at=now())
    if first is not None:
        check_repeated(first)
        yield Holding(key, holder, first)
        return
    is_over = Event()
    Thread(target=_renew, args=(key, holder, ports, is_over), daemon=True).start()
    try:
        yield Holding(key, holder)
    finally:
        is_over.set()
        with suppress(Unavailable), ports.database.session() as session:
            release_key(session, key, holder=holder)  # does nothing after `keep`


def _renew(key: IdempotencyKey, holder: str, ports: Ports, is_over: Event) -> None:
    while not is_over.wait(_RENEW_SECONDS):
        with suppress(Unavailable), ports.database.session() as session:
            lease_key(session, key, holder=holder, at=now())
