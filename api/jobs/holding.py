"""Locking of an idempotency key while a long body is received, before the batch is recorded."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from threading import Event, Thread
from typing import Final

from api.jobs.idempotency import check_repeated, under_way
from api.ports import Ports
from shared.clock import now
from shared.db.session import Session
from shared.errors import Unavailable
from shared.identifiers import new_id
from shared.jobs.idempotency import (
    FirstCall,
    IdempotencyKey,
    bind_key_to_batch,
    lease_key,
    release_key,
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
