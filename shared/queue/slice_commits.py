"""Slices of batches and of accepted renders: published, found when they are lost, and committed.

A slice is committed in one atomic step (decision 0383, for many documents): its checkpoint, its usage
events and the counters are written together or not at all. Another run of the same slice reads the
checkpoint and completes the slice without committing it again, so no document is counted twice.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias, cast

from msgspec import field
from msgspec.structs import replace
from redis import Redis

from shared.batches.records import Chunk, DocumentResult, JobSlice, Slice, item_job_id
from shared.clock import epoch, now
from shared.jobs.records import MESSAGE_VERSION, Meter
from shared.queue.broker import Publisher
from shared.queue.connection import reachable, register
from shared.queue.names import (
    ASSEMBLE_TASK,
    BATCH,
    JOBS_TASK,
    SENT_SLICES,
    SLICE_TASK,
    USAGE_STREAM,
    cancelled_key,
    chunk_key,
)
from shared.queue.queues import TaskMessage
from shared.queue.worker_presence import find_held_tasks
from shared.records import Record
from shared.usage.metering import (
    EndedDocument,
    Spent,
    UsageEvent,
    allowance_exceeded,
    metering_args,
    usage_key,
)

_STATE_TTL_SECONDS: Final = 2 * 24 * 3600


class Checkpoint(Record, frozen=True):
    """The result of one slice: the results of its documents, and where their bytes are stored.

    `done_bytes` is the offset in the chunk after the slice's last document.
    """

    cursor: int
    done_bytes: int
    part_key: str | None
    part_bytes: int
    results: tuple[DocumentResult, ...] = field(name="ended")


@dataclass(frozen=True, slots=True)
class SliceStart:
    """The state at the start of a run: the checkpoint of an earlier run, and deaths by document index."""

    checkpoint: Checkpoint | None
    is_careful: bool
    deaths: Mapping[int, int]


@dataclass(frozen=True, slots=True)
class SliceStep:
    """The state between two documents: whether the batch is cancelled, and what is used of the limits."""

    is_cancelled: bool
    used: Spent


class MissingCountersError(Exception):
    """The counters of a capped account are missing: rebuild them from the ledger, then commit."""


class SliceCommits:
    """The state of chunks in Redis; every method raises `Unavailable` while Redis is unreachable."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis
        self._begin = register(redis, "begin_slice")
        self._step = register(redis, "step_slice")
        self._commit = register(redis, "commit_slice")

    def begin(self, chunk: Chunk) -> SliceStart:
        """Start a run of a chunk's next slice."""
        with reachable():
            flat = cast(
                "list[bytes]",
                self._begin(keys=[_key(chunk)], args=[_STATE_TTL_SECONDS, chunk.next_index]),
            )
        state = dict(zip(flat[::2], flat[1::2], strict=True))
        has_journal = state.get(b"charged_at") == str(chunk.done).encode()
        return SliceStart(
            checkpoint=Checkpoint.decode(state[b"journal"]) if has_journal else None,
            is_careful=state.get(b"careful") == b"1",
            deaths={
                int(field.removeprefix(b"deaths:")): int(count)
                for field, count in state.items()
                if field.startswith(b"deaths:")
            },
        )

    def step(self, chunk: Chunk, meter: Meter, *, index: int, is_careful: bool) -> SliceStep:
        """Record the next document, and return whether its batch is cancelled and what is used."""
        keys = [
            _key(chunk),
            cancelled_key(chunk.batch_id),
            usage_key(meter.account_id, meter.period),
        ]
        args: list[str | int] = [
            _STATE_TTL_SECONDS,
            f"{index}:{int(is_careful)}",
            meter.allowance.value,
        ]
        with reachable():
            is_cancelled, *used = cast("list[Any]", self._step(keys=keys, args=args))
        return SliceStep(bool(is_cancelled), Spent(*map(int, used)))

    def commit(self, chunk: Chunk, meter: Meter, journal: Checkpoint) -> Checkpoint | None:
        """Meter a slice once and return the checkpoint that was committed, by this run or an earlier one.

        Documents beyond the allowance have failed in it. Return None if the slice is already recorded.

        Raises:
            MissingCountersError: the account is capped and its counters are missing.
        """
        keys = [_key(chunk), usage_key(meter.account_id, meter.period), USAGE_STREAM]
        args: list[str | int] = [
            journal.cursor,
            journal.encode(),
            _STATE_TTL_SECONDS,
            *metering_args(meter, _events(chunk, meter, journal.results)),
        ]
        with reachable():
            match cast("list[bytes]", self._commit(keys=keys, args=args)):
                case [b"charged", text, verdicts]:
                    return _apply_verdicts(
                        Checkpoint.decode(text) if text else journal, verdicts, meter
                    )
                case [b"unseeded"]:
                    raise MissingCountersError
                case _:
                    return None

    def mark_recorded(self, chunk: Chunk, *, cursor: int) -> None:
        """Mark a slice as recorded in the database."""
        key = _key(chunk)
        with reachable(), self._redis.pipeline() as pipe:
            if cursor >= chunk.count:
                pipe.delete(key)
                # A late run must still find the slice recorded.
                pipe.hset(key, "settled", cursor)
            else:
                pipe.hset(key, "settled", cursor)
                pipe.hdel(key, "work", "journal", "verdicts", "charged_at")
            pipe.expire(key, _STATE_TTL_SECONDS)
            pipe.execute()

    def mark_stopped(self, chunk: Chunk) -> None:
        """Mark a run as stopped deliberately, so that the next run does not count a death."""
        with reachable():
            self._redis.hdel(_key(chunk), "work")


def _key(chunk: Chunk) -> str:
    return chunk_key(chunk.batch_id, chunk.number)


def _events(chunk: Chunk, meter: Meter, ended: Sequence[DocumentResult]) -> Iterator[EndedDocument]:
    at = now()
    for each in ended:
        job_id = item_job_id(chunk.batch_id, each.index)
        event = UsageEvent.of(meter, job_id, pages=each.pages, at=at, cpu_us=each.cpu_us)
        yield EndedDocument(each.pages, None if each.error else event)


def _apply_verdicts(journal: Checkpoint, verdicts: bytes, meter: Meter) -> Checkpoint:
    if not verdicts.strip(b","):
        return journal
    told = verdicts.decode().split(",")
    ended = tuple(
        DocumentResult(each.index, error=allowance_exceeded(meter, Spent.read(used)).body)
        if used
        else each
        for each, used in zip(journal.results, told, strict=True)
    )
    return replace(journal, results=ended)


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
