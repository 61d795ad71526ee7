"""Holding an idempotency key while a long body is received, before anything is on record."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from threading import Event, Thread
from typing import Final

from api.jobs.idempotency import check_repeated, under_way
from api.ports import Ports
from shared.clock import now
from shared.db.idempotency import FirstCall, IdempotencyKey, free_key, hold_key, keep_key
from shared.db.session import Session
from shared.errors import Unavailable
from shared.identifiers import new_id

_RENEW_SECONDS: Final = 10.0


@dataclass(frozen=True, slots=True)
class Holding:
    """A key in a call's hands, or what it stood for already; without a key it is neither."""

    key: IdempotencyKey | None
    holder: str
    first: FirstCall | None = None

    def keep(self, session: Session, *, fingerprint: str, batch_id: str) -> None:
        """Let the key stand for a batch, in the unit of work that puts it on record.

        Raises:
            ServiceError: 409, the key was lost to another call meanwhile.
        """
        if self.key is None:
            return
        is_kept = keep_key(
            session, self.key, holder=self.holder, fingerprint=fingerprint, batch_id=batch_id
        )
        if not is_kept:
            raise under_way()


@contextmanager
def hold(key: IdempotencyKey | None, ports: Ports) -> Iterator[Holding]:
    """Hold a key for the block; one that `keep` was not called for is free after it.

    Raises:
        ServiceError: 409 while another call with the key is under way.
        Unavailable: the database is away.
    """
    holder = new_id("hold")
    if key is None:
        yield Holding(None, holder)
        return
    with ports.database.session() as session:
        first = hold_key(session, key, holder=holder, at=now())
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
            free_key(session, key, holder=holder)  # no longer the holder's when it was kept


def _renew(key: IdempotencyKey, holder: str, ports: Ports, is_over: Event) -> None:
    while not is_over.wait(_RENEW_SECONDS):
        with suppress(Unavailable), ports.database.session() as session:
            hold_key(session, key, holder=holder, at=now())
