"""Accepting jobs: on record, then queued; what many threads accept at once is one transaction."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from threading import Lock
from typing import Final

from shared.batch_flow import BatchFlow
from shared.clock import now
from shared.db.batch_turns import keep_turns
from shared.db.idempotency import FirstCall, IdempotencyKey, take_key
from shared.db.jobs import JobRecord, add_jobs
from shared.db.session import Database, Session
from shared.errors import Unavailable
from shared.jobs import Lane, RenderJob
from shared.queue.broker import Broker

_MOST_AT_ONCE: Final = 100
# While many come at once, a transaction waits so long for more of them: it costs 0.5 ms of CPU and
# its fsync by itself, and 0.05 ms for each row. A caller who comes alone waits for nobody.
_GATHER_SECONDS: Final = 0.004


@dataclass(frozen=True, slots=True)
class KeyedCall:
    """A call with an idempotency key; the same call has the same fingerprint."""

    key: IdempotencyKey
    fingerprint: str


def _held_lock() -> Lock:
    # An event wakes its one waiter through a condition, in five times the time.
    lock = Lock()
    lock.acquire()
    return lock


@dataclass(slots=True)
class Entry:
    """A job that is to go on record; `first` is the call that its key stands for already."""

    job: RenderJob
    record: JobRecord
    call: KeyedCall | None = None
    ready: Lock = field(default_factory=_held_lock)  # taken, until it is done or its turn
    is_done: bool = False
    first: FirstCall | None = None
    failure: BaseException | None = None

    def result(self) -> FirstCall | None:
        """Give what became of it.

        Raises:
            Unavailable: the database was away; nothing is on record.
        """
        if self.failure is not None:
            raise self.failure
        return self.first


class Intake:
    """Writes records for the threads of a front process.

    A transaction costs its fsync whatever it writes. The thread that finds no other writing
    writes for all that came meanwhile, then hands on to one of those that came since.
    """

    def __init__(self, database: Database, broker: Broker, batches: BatchFlow) -> None:
        self._database = database
        self._broker = broker
        self._batches = batches
        self._lock = Lock()
        self._waiting: deque[Entry] = deque()
        self._is_writing = False
        self._is_busy = False

    def accept(
        self, job: RenderJob, record: JobRecord, call: KeyedCall | None = None
    ) -> FirstCall | None:
        """Put a job on record, and its key with it; then queue it.

        Gives the call that the key stands for already; the job is not accepted then. What is on
        record runs, whatever becomes of the queue: the keeper queues what Redis did not take.

        Raises:
            Unavailable: the database is away; nothing is on record.
        """
        entry = Entry(job, record, call)
        self._write_in_turn([entry], gather=True)
        return entry.result()

    def write(self, entries: Sequence[Entry]) -> None:
        """Put jobs on record that were gathered, then queue them; `Entry.result` tells of each."""
        self._write_in_turn(entries, gather=False)

    def _write_in_turn(self, entries: Sequence[Entry], *, gather: bool) -> None:
        with self._lock:
            self._waiting.extend(entries)
            is_turn = not self._is_writing
            self._is_writing = True
        for entry in entries:
            if not is_turn:
                entry.ready.acquire()
            if not entry.is_done:
                self._write_waiting(gather=gather)
            is_turn = False

    def _write_waiting(self, *, gather: bool) -> None:
        if gather:
            # Even a sleep of nothing lets callers that are greenlets of this thread come here too.
            time.sleep(_GATHER_SECONDS if self._is_busy else 0)
        with self._lock:
            count = min(len(self._waiting), _MOST_AT_ONCE)
            entries = [self._waiting.popleft() for _ in range(count)]
            self._is_busy = count > 1
        try:
            self._record(entries)
        except BaseException as error:  # noqa: BLE001 - each thread raises it to its own client
            if isinstance(error, Unavailable):
                # Those behind have waited for the database as well. A wait of their own would
                # add its time-out to this one.
                with self._lock:
                    entries += self._waiting
                    self._waiting.clear()
            for entry in entries:
                entry.failure = error
        for entry in entries:
            entry.is_done = True
        with self._lock:
            # Not done yet, it wakes to write in its turn.
            next_writer = self._waiting[0] if self._waiting else None
            self._is_writing = next_writer is not None
        for entry in entries:
            entry.ready.release()
        if next_writer is not None:
            next_writer.ready.release()

    def _record(self, entries: Sequence[Entry]) -> None:
        """Put jobs on record and queue them: one somebody waits for by itself, others in slices."""
        with self._database.session() as session:
            _take_keys(session, entries)
            accepted = [entry for entry in entries if entry.first is None]
            unawaited = {e.record.account_id for e in accepted if e.record.lane is Lane.BATCH}
            if unawaited:
                keep_turns(session, unawaited, at=now())
            add_jobs(session, [entry.record for entry in accepted])
            slices = self._batches.claim(session) if unawaited else []
        awaited = {e.record.message: e.job for e in accepted if e.record.lane is Lane.INTERACTIVE}
        with suppress(Unavailable):
            self._batches.queue.send(slices)
            self._broker.queue_recorded(awaited)


def _take_keys(session: Session, entries: Sequence[Entry]) -> None:
    at = now()
    for entry in entries:
        if entry.call is not None:
            entry.first = take_key(
                session,
                entry.call.key,
                fingerprint=entry.call.fingerprint,
                job_id=entry.record.id,
                at=at,
            )
