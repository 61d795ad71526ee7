"""Queues slices of batches and of accepted renders, and finds lost ones by name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, TypeAlias, cast

from msgspec import field
from redis import Redis

from shared.batches.records import JobSlice, Slice
from shared.clock import epoch
from shared.jobs.records import MESSAGE_VERSION
from shared.queue.connection import reachable
from shared.queue.messages import TaskMessage
from shared.queue.names import (
    ASSEMBLE_TASK,
    BATCH,
    JOBS_TASK,
    SENT_SLICES,
    SLICE_TASK,
    cancelled_key,
)
from shared.queue.publisher import Publisher
from shared.queue.worker_presence import find_held_tasks
from shared.records import Record

# Time for a slice beyond its longest document: its other documents, and storing them.
_SLICE_SLACK_SECONDS: Final = 120.0
_ASSEMBLE_SECONDS: Final = 3600.0
_STOP_SECONDS: Final = 3600  # longer than any slice may take; the database has the final state


class Assembly(Record, frozen=True, tag_field="v", tag=MESSAGE_VERSION):
    """The task of assembling the PDF of a merged batch."""

    batch_id: str = field(name="batch")

    @property
    def name(self) -> str:
        """The deterministic name of the task."""
        return f"{self.batch_id}:assembly"


BatchWork: TypeAlias = Slice | JobSlice | Assembly
_TASKS: Final = {Slice: SLICE_TASK, JobSlice: JOBS_TASK, Assembly: ASSEMBLE_TASK}


class SliceQueue:
    """Publishes slices and assemblies; methods raise `Unavailable` while Redis is unreachable."""

    def __init__(self, redis: Redis, publisher: Publisher, *, render_budget: float) -> None:
        self._redis = redis
        self._publisher = publisher
        self._slice_seconds = render_budget + _SLICE_SLACK_SECONDS

    def send(self, work: Sequence[BatchWork]) -> None:
        """Queue work. Work that is sent twice runs twice, and is metered once."""
        if not work:
            return
        messages = [self._make_message(each) for each in work]
        sent_at = {message.id: str(message.published_at) for message in messages}
        with reachable():
            self._redis.hset(SENT_SLICES, mapping=sent_at)  # type: ignore[arg-type]
        self._publisher.send(messages)

    def find_lost(self, work: Sequence[BatchWork]) -> list[BatchWork]:
        """Return the work that is neither queued nor held by a worker.

        Workers report the tasks they hold once a second, so work counts as lost if two calls, seconds
        apart, return it.
        """
        if not work:
            return []
        with reachable():
            found = self._redis.hmget(SENT_SLICES, [each.name for each in work])
        sent_at = dict(zip(work, cast("list[bytes | None]", found), strict=True))
        head = self._publisher.queues.read([BATCH])[BATCH]
        held = find_held_tasks(self._redis)

        def is_lost(each: BatchWork) -> bool:
            at = sent_at[each]
            return each.name not in held and (at is None or head.has_passed(float(at)))

        return [each for each in work if is_lost(each)]

    def stop(self, batch_id: str) -> None:
        """Stop the runs of a batch before their next document."""
        with reachable():
            self._redis.set(cancelled_key(batch_id), 1, ex=_STOP_SECONDS)

    def remove(self, work: BatchWork) -> None:
        """Remove work that is done."""
        with reachable():
            self._redis.hdel(SENT_SLICES, work.name)

    def _make_message(self, work: BatchWork) -> TaskMessage:
        seconds = _ASSEMBLE_SECONDS if isinstance(work, Assembly) else self._slice_seconds
        task = _TASKS[type(work)]
        return TaskMessage(task, work.name, BATCH, work.to_builtins(), seconds, admitted_at=epoch())
