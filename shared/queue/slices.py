"""Slices in the queue, of batches and of accepted renders: sent by name, so that a lost one is found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias, cast

from redis import Redis

from shared.batches.records import JobSlice, Slice
from shared.clock import epoch
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
from shared.queue.roster import find_held_tasks

# What a slice may take besides its longest document: its other documents, and storing them.
_SLICE_SLACK_SECONDS: Final = 120.0
_ASSEMBLE_SECONDS: Final = 3600.0
_STOP_SECONDS: Final = 3600  # longer than any slice may take; the database knows for good


@dataclass(frozen=True, slots=True)
class Assembly:
    """What a worker is asked to do: make the one PDF of a merged batch."""

    batch_id: str

    @property
    def name(self) -> str:
        """Name it, the same for the same."""
        return f"{self.batch_id}:assembly"

    def encode(self) -> Mapping[str, Any]:
        """Write it for a message."""
        return {"v": 1, "batch": self.batch_id}

    @classmethod
    def decode(cls, message: Mapping[str, Any]) -> Assembly:
        """Read it from a message's argument.

        Raises:
            ValueError, KeyError, TypeError: it is none.
        """
        batch_id = message["batch"]
        if not isinstance(batch_id, str):
            raise TypeError(f"batch is {type(batch_id).__name__}, expected text")
        return cls(batch_id)


Work: TypeAlias = Slice | JobSlice | Assembly
_TASKS: Final = {Slice: SLICE_TASK, JobSlice: JOBS_TASK, Assembly: ASSEMBLE_TASK}


class SliceQueue:
    """Sends slices and assemblies to the workers; every method raises `Unavailable` without Redis."""

    def __init__(self, redis: Redis, publisher: Publisher, *, render_budget: float) -> None:
        self._redis = redis
        self._publisher = publisher
        self._slice_seconds = render_budget + _SLICE_SLACK_SECONDS

    def send(self, work: Sequence[Work]) -> None:
        """Queue work. Sent twice it is done twice, and counted once."""
        if not work:
            return
        messages = [self._write(each) for each in work]
        sent_at = {message.id: str(message.published_at) for message in messages}
        with reachable(self._redis):
            self._redis.hset(SENT_SLICES, mapping=sent_at)  # type: ignore[arg-type]
        self._publisher.send(messages)

    def find_lost(self, work: Sequence[Work]) -> list[Work]:
        """Return what of this work is neither in the queue nor held by a worker.

        A worker reports what it holds once a second: what is lost twice in a row, seconds apart, is
        lost.
        """
        if not work:
            return []
        with reachable(self._redis):
            found = self._redis.hmget(SENT_SLICES, [each.name for each in work])
        sent_at = dict(zip(work, cast("list[bytes | None]", found), strict=True))
        head = self._publisher.queues.read([BATCH])[BATCH]
        held = find_held_tasks(self._redis)

        def is_lost(each: Work) -> bool:
            at = sent_at[each]
            return each.name not in held and (at is None or head.has_passed(float(at)))

        return [each for each in work if is_lost(each)]

    def stop(self, batch_id: str) -> None:
        """Have the runs of a batch stop before their next document."""
        with reachable(self._redis):
            self._redis.set(cancelled_key(batch_id), 1, ex=_STOP_SECONDS)

    def forget(self, work: Work) -> None:
        """Forget work that is done."""
        with reachable(self._redis):
            self._redis.hdel(SENT_SLICES, work.name)

    def _write(self, work: Work) -> TaskMessage:
        seconds = _ASSEMBLE_SECONDS if isinstance(work, Assembly) else self._slice_seconds
        task = _TASKS[type(work)]
        return TaskMessage(task, work.name, BATCH, work.encode(), seconds, admitted_at=epoch())
