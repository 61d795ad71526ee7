"""One chunk's state while its slices run: the document in work, what was charged, who was first.

The charge is the step that decides (decision 0003, for many documents at once): the journal of a
slice, its usage events and the counters land together or not at all. Whoever runs the same slice
again finds the journal and completes it, instead of charging anew.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, Final, cast

from redis import Redis

from shared.batches.records import Chunk, Ended, Place, item_job_id
from shared.clock import now
from shared.errors import ErrorBody
from shared.jobs import Meter, read_error
from shared.metering import COUNTER_TTL_SECONDS, PageEvent, usage_key, used_up
from shared.queue.connection import reachable
from shared.queue.names import FARM_TOTALS, USAGE_STREAM, cancelled_key, chunk_key

_STATE_TTL_SECONDS: Final = 2 * 24 * 3600

# `work` is the document that a run was at, or behind, when it last said so. A run that finds one
# has died with it, and goes on carefully: from then on each document is named before it begins, so
# that the next death is known to be this document's.
_BEGIN: Final = """
local work = redis.call('HGET', KEYS[1], 'work')
if work then
    local index, careful = string.match(work, '^(%d+):(%d)$')
    if careful == '1' then redis.call('HINCRBY', KEYS[1], 'deaths:' .. index, 1) end
    redis.call('HSET', KEYS[1], 'careful', 1)
end
local careful = redis.call('HGET', KEYS[1], 'careful') or '0'
redis.call('HSET', KEYS[1], 'work', ARGV[2] .. ':' .. careful)
redis.call('EXPIRE', KEYS[1], ARGV[1])
return redis.call('HGETALL', KEYS[1])
"""

_STEP: Final = """
redis.call('HSET', KEYS[1], 'work', ARGV[2])
redis.call('EXPIRE', KEYS[1], ARGV[1])
return {redis.call('EXISTS', KEYS[2]), redis.call('HGET', KEYS[3], ARGV[3] .. ':pages') or '0'}
"""

# KEYS: chunk state, usage counters, usage stream. ARGV: 1 cursor, 2 journal, 3 allowance,
# 4 cap ('' for none), 5 TTL of the counters, 6 TTL of the state, 7.. pairs of pages and event,
# the event '' where no PDF was made. All comparisons come before all writes. The journal in the
# answer is of the run that was first, '' where this one was.
_CHARGE: Final = """
local state = redis.call('HMGET', KEYS[1], 'settled', 'journal', 'verdicts', 'charged_at')
if state[1] and tonumber(state[1]) > tonumber(ARGV[1]) then return {'stale'} end
if state[2] and state[4] == ARGV[1] then return {'charged', state[2], state[3]} end
local is_capped = ARGV[4] ~= ''
if is_capped and redis.call('HEXISTS', KEYS[2], 'seeded') == 0 then return {'unseeded'} end
local used = tonumber(redis.call('HGET', KEYS[2], ARGV[3] .. ':pages') or '0')
local verdicts, pages, calls = {}, 0, 0
for i = 7, #ARGV, 2 do
    local verdict = ''
    if ARGV[i + 1] ~= '' then
        if is_capped and used + pages >= tonumber(ARGV[4]) then
            verdict = tostring(used + pages)
        else
            pages = pages + tonumber(ARGV[i])
            calls = calls + 1
            redis.call('XADD', KEYS[3], '*', 'event', ARGV[i + 1])
        end
    end
    verdicts[#verdicts + 1] = verdict
end
if calls > 0 then
    redis.call('HINCRBY', KEYS[2], ARGV[3] .. ':pages', pages)
    redis.call('HINCRBY', KEYS[2], ARGV[3] .. ':calls', calls)
    redis.call('EXPIRE', KEYS[2], ARGV[5])
end
local written = table.concat(verdicts, ',')
redis.call('HSET', KEYS[1], 'journal', ARGV[2], 'verdicts', written, 'charged_at', ARGV[1])
redis.call('EXPIRE', KEYS[1], ARGV[6])
return {'charged', '', written}
"""


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
        self._begin = redis.register_script(_BEGIN)
        self._step = redis.register_script(_STEP)
        self._charge = redis.register_script(_CHARGE)

    def begin(self, chunk: Chunk) -> Begun:
        """Begin a run of a chunk's next slice."""
        with reachable():
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
        """Say which document is next, and hear whether there is a reason to stop before it."""
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
            meter.allowance.value,
            "" if meter.cap is None else meter.cap,
            COUNTER_TTL_SECONDS,
            _STATE_TTL_SECONDS,
            *_events(chunk, meter, journal.ended),
        ]
        with reachable():
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
        with reachable(), self._redis.pipeline() as pipe:
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
        with reachable():
            self._redis.hdel(_key(chunk), "work")


def _key(chunk: Chunk) -> str:
    return chunk_key(chunk.batch_id, chunk.number)


def _events(chunk: Chunk, meter: Meter, ended: Sequence[Ended]) -> list[str | int]:
    at = now()
    args: list[str | int] = []
    for each in ended:
        args += [each.pages, "" if each.error else _event(chunk, meter, each, at)]
    return args


def _event(chunk: Chunk, meter: Meter, ended: Ended, at: datetime) -> str:
    job_id = item_job_id(chunk.batch_id, ended.index)
    event = PageEvent(job_id, meter.account_id, meter.period, meter.allowance, ended.pages, at)
    return event.encode()


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
