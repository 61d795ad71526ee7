"""Slices in the queue, of batches and of accepted renders: sent by name, so that a lost one is found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias, cast

from redis import Redis

from shared.batches.records import JobSlice, Slice
from shared.clock import epoch
from shared.queue.connection import reachable
from shared.queue.messages import Envelope, write_message
from shared.queue.names import (
    ASSEMBLE_TASK,
    BATCH,
    JOBS_TASK,
    SENT_SLICES,
    SLICE_TASK,
    UNACKED,
    cancelled_key,
)
from shared.queue.scripts import register

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

    def __init__(self, redis: Redis, *, render_budget: float) -> None:
        self._redis = redis
        self._find_lost = register(redis, "find_lost")
        self._slice_seconds = render_budget + _SLICE_SLACK_SECONDS

    def send(self, work: Sequence[Work]) -> None:
        """Queue work. Sent twice it is done twice, and counted once."""
        if not work:
            return
        messages = {each.name: self._write(each) for each in work}
        with reachable(), self._redis.pipeline() as pipe:
            for name, message in messages.items():
                pipe.hset(SENT_SLICES, name, message)
            pipe.lpush(BATCH, *messages.values())
            pipe.execute()

    def find_lost(self, work: Sequence[Work]) -> list[Work]:
        """Give what of this work is neither in the queue nor in a worker's hands.

        A worker takes a message and writes down that it holds it in two steps: what is lost twice
        in a row, seconds apart, is lost.
        """
        if not work:
            return []
        args = [part for each in work for part in (each.name, _tag(each))]
        with reachable():
            names = cast(
                "list[bytes]", self._find_lost(keys=[SENT_SLICES, UNACKED, BATCH], args=args)
            )
        lost = {name.decode() for name in names}
        return [each for each in work if each.name in lost]

    def stop(self, batch_id: str) -> None:
        """Have the runs of a batch stop before their next document."""
        with reachable():
            self._redis.set(cancelled_key(batch_id), 1, ex=_STOP_SECONDS)

    def forget(self, work: Work) -> None:
        """Forget work that is done."""
        with reachable():
            self._redis.hdel(SENT_SLICES, work.name)

    def _write(self, work: Work) -> str:
        task, seconds = _TASKS[type(work)], self._slice_seconds
        if isinstance(work, Assembly):
            seconds = _ASSEMBLE_SECONDS
        envelope = Envelope(
            task=task,
            id=work.name,
            queue=BATCH,
            delivery_tag=_tag(work),
            limit_seconds=seconds,
            admitted_at=epoch(),
        )
        return write_message(envelope, [work.encode()])


def _tag(work: Work) -> str:
    return f"{BATCH}:{work.name}"
