"""Accepts jobs: records, then queues them; jobs accepted concurrently share one transaction."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from threading import Lock
from typing import Final

from shared.batches.lifecycle import BatchLifecycle
from shared.batches.slice_scheduling import ensure_in_rotation
from shared.clock import now
from shared.db.session import Database, Session
from shared.errors import Unavailable
from shared.jobs.idempotency import FirstCall, IdempotencyKey, bind_key_to_job
from shared.jobs.records import Lane, RenderJob
from shared.jobs.repository import JobRecord, add_jobs
from shared.queue.broker import Broker

_MOST_AT_ONCE: Final = 100
# Under load, a transaction waits this long for more jobs: it costs 0.5 ms of CPU and an fsync, plus 0.05 ms
# for each row. A single caller does not wait.
_GATHER_SECONDS: Final = 0.004


@dataclass(frozen=True, slots=True)
class KeyedCall:
    """A call with an idempotency key; equal calls have equal fingerprints."""

    key: IdempotencyKey
    fingerprint: str


def _held_lock() -> Lock:
    # An `Event` wakes its waiter through a condition, which takes five times as long.
    lock = Lock()
    lock.acquire()
    return lock


@dataclass(slots=True)
class _Entry:
    """A job to be recorded; `first_call` is the earlier call with the same idempotency key."""

    job: RenderJob
    record: JobRecord
    call: KeyedCall | None
    # Held until the entry is done, or its thread must write.
    ready: Lock = field(default_factory=_held_lock)
    is_done: bool = False
    first_call: FirstCall | None = None
    failure: BaseException | None = None


class JobIntake:
    """Records jobs for the threads of a front process, with group commit.

    A transaction costs an fsync, whatever it writes. One thread writes the entries of all waiting threads,
    then wakes one of the threads that arrived meanwhile to write the next group.
    """

    def __init__(self, database: Database, broker: Broker, batches: BatchLifecycle) -> None:
        self._database = database
        self._broker = broker
        self._batches = batches
        self._lock = Lock()
        self._waiting: deque[_Entry] = deque()
        self._is_writing = False
        self._is_busy = False

    def accept(
        self, job: RenderJob, record: JobRecord, call: KeyedCall | None = None
    ) -> FirstCall | None:
        """Record a job and its idempotency key, then queue it.

        Return the earlier call with the same key, if any; the job is not accepted then. A recorded job
        always runs: maintenance queues it if Redis was unreachable.

        Raises:
            Unavailable: the database is unreachable; nothing is recorded.
        """
        entry = _Entry(job, record, call)
        with self._lock:
            self._waiting.append(entry)
            is_turn = not self._is_writing
            self._is_writing = True
        if not is_turn:
            entry.ready.acquire()
        if not entry.is_done:
            self._write_waiting()
        if entry.failure is not None:
            raise entry.failure
        return entry.first_call

    def _write_waiting(self) -> None:
        # Even a sleep of 0 s lets other greenlets of this thread add their entries.
        time.sleep(_GATHER_SECONDS if self._is_busy else 0)
        with self._lock:
            count = min(len(self._waiting), _MOST_AT_ONCE)
            entries = [self._waiting.popleft() for _ in range(count)]
            self._is_busy = count > 1
        try:
            self._record(entries)
        except BaseException as error:  # noqa: BLE001 - each thread raises it to its own client
            if isinstance(error, Unavailable):
                # The other entries have waited for the database too; an attempt of their own would
                # add a second time-out.
                with self._lock:
                    entries += self._waiting
                    self._waiting.clear()
            for entry in entries:
                entry.failure = error
        for entry in entries:
            entry.is_done = True
        with self._lock:
            # Its entry is not done, so its thread writes the next group.
            next_writer = self._waiting[0] if self._waiting else None
            self._is_writing = next_writer is not None
        for entry in entries:
            entry.ready.release()
        if next_writer is not None:
            next_writer.ready.release()

    def _record(self, entries: Sequence[_Entry]) -> None:
        """Record jobs and queue them: interactive ones individually, others in slices."""
        with self._database.session() as session:
            _take_keys(session, entries)
            accepted = [entry for entry in entries if entry.first_call is None]
            unawaited = {e.record.account_id for e in accepted if e.record.lane is Lane.BATCH}
            if unawaited:
                ensure_in_rotation(session, unawaited, at=now())
            add_jobs(session, [entry.record for entry in accepted])
            slices = self._batches.claim_slices(session) if unawaited else []
        awaited = {e.record.message: e.job for e in accepted if e.record.lane is Lane.INTERACTIVE}
        with suppress(Unavailable):
            self._batches.queue.send(slices)
            self._broker.queue_recorded(awaited)


def _take_keys(session: Session, entries: Sequence[_Entry]) -> None:
    at = now()
    for entry in entries:
        if entry.call is not None:
            entry.first_call = bind_key_to_job(
                session,
                entry.call.key,
                fingerprint=entry.call.fingerprint,
                job_id=entry.record.id,
                at=at,
            )
