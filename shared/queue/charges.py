"""One chunk's state while its slices run: the document in work, what was charged, who was first.

The charge is the step that decides (decision 0003, for many documents at once): the journal of a
slice, its usage events and the counters land together or not at all. Whoever runs the same slice
again finds the journal and completes it, instead of charging anew.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final, cast

from redis import Redis

from shared.batches.records import Chunk, Ended, Place, item_job_id
from shared.clock import now
from shared.errors import ErrorBody
from shared.jobs import Meter, read_error
from shared.metering import Metered, PageEvent, metering_args, usage_key, used_up
from shared.queue.connection import reachable
from shared.queue.names import FARM_TOTALS, USAGE_STREAM, cancelled_key, chunk_key
from shared.queue.scripts import register

_STATE_TTL_SECONDS: Final = 2 * 24 * 3600


@dataclass(frozen=True, slots=True)
class Journal:
    """What one slice made: how its documents ended, and where their bytes are.

    `done_bytes` is how much of the chunk is behind the slice's last document.
    """

    cursor: int
    done_bytes: int
    part_key: str | None
    part_bytes: int
    ended: tuple[Ended, ...]

    def encode(self) -> str:
        """Write the journal as JSON."""
        # Written out, for `asdict` takes three times as long, and there is one for each document.
        raw = {
            "cursor": self.cursor,
            "done_bytes": self.done_bytes,
            "part_key": self.part_key,
            "part_bytes": self.part_bytes,
            "ended": [_write_ended(each) for each in self.ended],
        }
        return json.dumps(raw, separators=(",", ":"))

    @classmethod
    def decode(cls, text: str | bytes) -> Journal:
        """Read a journal from its JSON."""
        raw: dict[str, Any] = json.loads(text)
        return cls(**{**raw, "ended": tuple(_read_ended(each) for each in raw["ended"])})


@dataclass(frozen=True, slots=True)
class Begun:
    """What a run of a slice finds: the journal of one before it, or who died of what."""

    journal: Journal | None
    is_careful: bool
    deaths: Mapping[int, int]


@dataclass(frozen=True, slots=True)
class Stepped:
    """What a run learns between two documents."""

    is_cancelled: bool
    used: int


class UnseededError(Exception):
    """The counters of a capped account are missing: rebuild them from the ledger, then charge."""


class Charges:
    """The state of chunks in Redis; every method raises `Unavailable` when it is away."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis
        self._begin = register(redis, "begin_slice")
        self._step = register(redis, "step_slice")
        self._charge = register(redis, "charge_slice")

    def begin(self, chunk: Chunk) -> Begun:
        """Begin a run of a chunk's next slice."""
        with reachable(self._redis):
            flat = cast(
                "list[bytes]",
                self._begin(keys=[_key(chunk)], args=[_STATE_TTL_SECONDS, chunk.next_index]),
            )
        state = dict(zip(flat[::2], flat[1::2], strict=True))
        has_journal = state.get(b"charged_at") == str(chunk.done).encode()
        return Begun(
            journal=Journal.decode(state[b"journal"]) if has_journal else None,
            is_careful=state.get(b"careful") == b"1",
            deaths={
                int(field.removeprefix(b"deaths:")): int(count)
                for field, count in state.items()
                if field.startswith(b"deaths:")
            },
        )

    def step(self, chunk: Chunk, meter: Meter, *, index: int, is_careful: bool) -> Stepped:
        """Note which document is next, and return whether there is a reason to stop before it."""
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
        with reachable(self._redis):
            is_cancelled, used = cast("list[Any]", self._step(keys=keys, args=args))
        return Stepped(bool(is_cancelled), int(used))

    def charge(self, chunk: Chunk, meter: Meter, journal: Journal) -> Journal | None:
        """Count what a slice made, once, and give what holds: the journal of the run that was
        first, its documents beyond the allowance failed. None when the slice is long done.

        Raises:
            UnseededError: the account is capped and its counters are missing.
        """
        keys = [_key(chunk), usage_key(meter.account_id, meter.period), USAGE_STREAM]
        args: list[str | int] = [
            journal.cursor,
            journal.encode(),
            _STATE_TTL_SECONDS,
            *metering_args(meter, _events(chunk, meter, journal.ended)),
        ]
        with reachable(self._redis):
            match cast("list[bytes]", self._charge(keys=keys, args=args)):
                case [b"charged", text, verdicts]:
                    return _judge(Journal.decode(text) if text else journal, verdicts, meter)
                case [b"unseeded"]:
                    raise UnseededError
                case _:
                    return None

    def settle(self, chunk: Chunk, totals: Mapping[str, float], *, cursor: int) -> None:
        """Note that a slice is in the database, and add its numbers to the farm's."""
        key = _key(chunk)
        with reachable(self._redis), self._redis.pipeline() as pipe:
            if cursor >= chunk.count:
                pipe.delete(key)
                # A run that comes late must still find that it is.
                pipe.hset(key, "settled", cursor)
            else:
                pipe.hset(key, "settled", cursor)
                pipe.hdel(key, "work", "journal", "verdicts", "charged_at")
            pipe.expire(key, _STATE_TTL_SECONDS)
            for field, amount in totals.items():
                pipe.hincrbyfloat(FARM_TOTALS, field, amount)
            pipe.execute()

    def leave(self, chunk: Chunk) -> None:
        """Note that a run stopped of its own will, so that nobody takes it for dead."""
        with reachable(self._redis):
            self._redis.hdel(_key(chunk), "work")


def _key(chunk: Chunk) -> str:
    return chunk_key(chunk.batch_id, chunk.number)


def _events(chunk: Chunk, meter: Meter, ended: Sequence[Ended]) -> Iterator[Metered]:
    at = now()
    for each in ended:
        job_id = item_job_id(chunk.batch_id, each.index)
        event = None if each.error else PageEvent.of(meter, job_id, pages=each.pages, at=at)
        yield Metered(each.pages, event)


def _judge(journal: Journal, verdicts: bytes, meter: Meter) -> Journal:
    if not verdicts.strip(b","):
        return journal
    told = verdicts.decode().split(",")
    ended = tuple(
        Ended(each.index, error=used_up(meter, int(used))) if used else each
        for each, used in zip(journal.ended, told, strict=True)
    )
    return Journal(journal.cursor, journal.done_bytes, journal.part_key, journal.part_bytes, ended)


def _write_ended(ended: Ended) -> dict[str, Any]:
    place = ended.place
    return {
        "index": ended.index,
        "pages": ended.pages,
        "filename": ended.filename,
        "error": asdict(ended.error) if ended.error else None,
        "place": {"offset": place.offset, "length": place.length, "crc32": place.crc32}
        if place
        else None,
        "warnings": ended.warnings,
    }


def _read_ended(raw: Mapping[str, Any]) -> Ended:
    error: ErrorBody | None = read_error(raw["error"]) if raw["error"] else None
    place = Place(**raw["place"]) if raw["place"] else None
    # What an earlier release left here has no warnings.
    warnings = raw.get("warnings", ())
    return Ended(raw["index"], raw["pages"], raw["filename"], error, place, warnings)
