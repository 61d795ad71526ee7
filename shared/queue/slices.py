"""Slices of batches in the queue: sent by name, so that a lost one can be told and sent again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

from redis import Redis

from shared.batches.records import Slice
from shared.clock import epoch
from shared.queue.connection import reachable
from shared.queue.messages import TaskMessage
from shared.queue.names import (
    ASSEMBLE_TASK,
    BATCH,
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


class SliceQueue:
    """Sends work on batches to the workers; every method raises `Unavailable` without Redis."""

    def __init__(self, redis: Redis, publisher: Publisher, *, render_budget: float) -> None:
        self._redis = redis
        self._publisher = publisher
        self._slice_seconds = render_budget + _SLICE_SLACK_SECONDS

    def send(self, work: Sequence[Slice | Assembly]) -> None:
        """Queue work. Sent twice it is done twice, and counted once."""
        if not work:
            return
        messages = [self._write(each) for each in work]
        sent_at = {message.id: str(message.published_at) for message in messages}
        with reachable():
            self._redis.hset(SENT_SLICES, mapping=sent_at)  # type: ignore[arg-type]
        self._publisher.send(messages)

    def find_lost(self, work: Sequence[Slice | Assembly]) -> list[Slice | Assembly]:
        """Return what of this work is neither in the queue nor held by a worker.

        A worker reports what it holds once a second: what is lost twice in a row, seconds apart, is
        lost.
        """
        if not work:
            return []
        with reachable():
            found = self._redis.hmget(SENT_SLICES, [each.name for each in work])
        sent_at = dict(zip(work, cast("list[bytes | None]", found), strict=True))
        head = self._publisher.queues.read([BATCH])[BATCH]
        held = find_held_tasks(self._redis)

        def is_lost(each: Slice | Assembly) -> bool:
            at = sent_at[each]
            return each.name not in held and (at is None or head.has_passed(float(at)))

        return [each for each in work if is_lost(each)]

    def stop(self, batch_id: str) -> None:
        """Have the runs of a batch stop before their next document."""
        with reachable():
            self._redis.set(cancelled_key(batch_id), 1, ex=_STOP_SECONDS)

    def forget(self, work: Slice | Assembly) -> None:
        """Forget work that is done."""
        with reachable():
            self._redis.hdel(SENT_SLICES, work.name)

    def _write(self, work: Slice | Assembly) -> TaskMessage:
        if isinstance(work, Slice):
            task, seconds, argument = SLICE_TASK, self._slice_seconds, work.encode()
        else:
            task, seconds = ASSEMBLE_TASK, _ASSEMBLE_SECONDS
            argument = {"v": 1, "batch": work.batch_id}
        return TaskMessage(task, work.name, BATCH, argument, seconds, admitted_at=epoch())
