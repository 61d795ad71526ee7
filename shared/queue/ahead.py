"""Looking ahead: a slot that ends finds its next message in the worker already.

Between two messages a slot would wait for three round trips: the first's acknowledgement, the read
of the second, and the note that the worker holds it (1 to 2 ms of wall time, a third of a short
render). Here one step of Redis does all three, while the slot works on. Decision 0125.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from itertools import takewhile
from typing import Final, NamedTuple

from redis.exceptions import ResponseError

from shared.clock import ticks
from shared.limits import STATE_TTL_SECONDS
from shared.line import Line
from shared.queue.names import BATCH, FARM_EPOCH, UNACKED, UNACKED_INDEX, is_counted_as_taken

# Messages are taken ahead while the last renders were all this short.
SHORT_SECONDS: Final = 0.05
# One that was taken ahead and found no slot in this time goes back, for any worker to take.
HOLD_SECONDS: Final = 0.1
_RENDERS_WATCHED: Final = 8

# A message is noted as held, by its tag. A body is a string of JSON within the message, where every
# quote is escaped: the tag that is found is the message's own. A job's delivery is counted as a slot
# gets it, which spares the slot a step of its own, and when one that is on record was first begun is
# noted with it: `count` gives which delivery it is, 0 where the job has ended, and '' where the slot
# is to count it (a slice of a batch, or a message of an earlier release). What has no tag is no
# message of the farm's, and is held by nobody. Times are Redis' own (decision 0212).
_HOLD: Final = """
local time = redis.call('TIME')
local now = time[1] + time[2] / 1000000
local function hold(queue, raw)
    local tag = string.match(raw, '"delivery_tag": ?"([^"]+)"')
    if not tag then return '' end
    redis.call('HSET', KEYS[1], tag, '[' .. raw .. ',"","' .. queue .. '"]')
    redis.call('ZADD', KEYS[2], now, tag)
    return tag
end
local function count(tag, by)
    local job, kind = string.match(tag, '^[^:]+:([^:]+):[^:]+:(%a+)$')
    if kind ~= 'waited' and kind ~= 'recorded' then return '' end
    local key = 'job:' .. job
    if redis.call('HEXISTS', key, 'done') == 1 then return 0 end
    if by == 0 then return (redis.call('HGET', key, 'deliveries') or 0) + 1 end
    local delivery = redis.call('HINCRBY', key, 'deliveries', by)
    if kind == 'recorded' then redis.call('HSETNX', key, 'started_at', now) end
    if redis.call('TTL', key) < 0 then redis.call('EXPIRE', key, ARGV[1]) end
    return delivery
end
"""

# KEYS: held messages, their index, the queue. ARGV: 1 TTL of a job's state, 2 the message.
_NOTE: Final = (
    _HOLD
    + """
return count(hold(KEYS[3], ARGV[2]), 1)
"""
)

# KEYS: held messages, their index, since when Redis remembers, then the queues in order of precedence.
# ARGV: 1 TTL of a job's state, 2 how many to take from any queue, 3 how many more from the
#       first queues, 4 how many queues are the first, 5 how many messages have ended, 6.. their
#       tags, then those of messages taken ahead that slots have now.
# What is taken is held in the same step, so no kill takes it along. What is taken ahead is counted
# when a slot has it: one that waits in dying workers' hands must not be thought to have killed them.
_TURN: Final = (
    _HOLD
    + """
local ended = 5 + tonumber(ARGV[5])
for i = 6, #ARGV do
    if i <= ended then
        redis.call('HDEL', KEYS[1], ARGV[i])
        redis.call('ZREM', KEYS[2], ARGV[i])
    else
        count(ARGV[i], 1)
    end
end
local taken = {}
local function take(most, last, by)
    for k = 4, last do
        while most > 0 do
            local raw = redis.call('RPOP', KEYS[k])
            if not raw then break end
            most = most - 1
            local tag = hold(KEYS[k], raw)
            table.insert(taken, {KEYS[k], tag, raw, count(tag, by), by})
        end
    end
end
take(tonumber(ARGV[2]), #KEYS, 1)
take(tonumber(ARGV[3]), 3 + tonumber(ARGV[4]), 0)
return {redis.call('GET', KEYS[3]) or '', taken}
"""
)

# KEYS: held messages, their index. ARGV: queue, tag and text of each message, the next one last.
_GIVE_BACK: Final = """
for i = 1, #ARGV, 3 do
    if redis.call('HDEL', KEYS[1], ARGV[i + 1]) == 1 then
        redis.call('ZREM', KEYS[2], ARGV[i + 1])
        redis.call('RPUSH', ARGV[i], ARGV[i + 2])
    end
end
"""


class Taken(NamedTuple):
    """A message that this worker holds and no slot has yet, since `at` by the process's clock.

    `delivery` says which one of its job it is for the slot, 0 where the job has ended, None where
    the slot is to count it. `tag` is '' for what is no message of the farm's. `memory_since` is since when Redis had its memory as it was taken, None
    where nobody knows.
    """

    queue: str
    tag: str
    text: bytes
    at: float
    delivery: int | None
    is_counted: bool
    memory_since: float | None


class Pace:
    """Tells whether messages have been short work of late."""

    def __init__(self) -> None:
        self._begun: dict[str, float] = {}
        self._last: deque[float] = deque(maxlen=_RENDERS_WATCHED)

    @property
    def is_short(self) -> bool:
        """Tell whether each of the last messages was done in `SHORT_SECONDS`."""
        return len(self._last) == _RENDERS_WATCHED and max(self._last) <= SHORT_SECONDS

    def begin(self, tag: str) -> None:
        """Note that a slot gets a message."""
        self._begun[tag] = ticks()

    def end(self, tag: str) -> None:
        """Note that a message is done with."""
        begun = self._begun.pop(tag, None)
        if begun is not None:
            self._last.append(ticks() - begun)

    def forget(self, tag: str | None = None) -> None:
        """Take messages for long work until as many as are watched were short; drop one of them."""
        self._last.clear()
        if tag is not None:
            self._begun.pop(tag, None)


class Ahead:
    """The messages of one worker that wait for a slot of its own; for one thread.

    Its calls raise `RedisError`. A message whose call did not come through is delivered again
    once its lease is over, like that of a worker that died.
    """

    def __init__(self) -> None:
        self.pace: Final = Pace()
        self._held: deque[Taken] = deque()
        self._ended: list[str] = []
        self._given: list[str] = []

    def __len__(self) -> int:
        """Count the messages that wait here."""
        return len(self._held)

    def end(self, tag: str) -> None:
        """Have a message acknowledged with the next turn."""
        self.pace.end(tag)
        self._ended.append(tag)

    def take(self) -> Taken | None:
        """Give the message that came first, None when there is none."""
        if not self._held:
            return None
        taken = self._held.popleft()
        if not taken.is_counted and taken.tag:
            self._given.append(taken.tag)
        return taken

    def drop(self, tag: str) -> None:
        """Have what no slot is to get leave Redis with the next turn."""
        if tag:
            self._ended.append(tag)

    def note(
        self, line: Line, queue: str, text: bytes, *, tag: str, is_redelivered: bool
    ) -> int | None:
        """Note that this worker holds a message, and count its delivery: a slot is free for it.

        Gives which delivery it is, as `Taken.delivery` does. That a message comes for the first
        time is known without the answer; should its job have ended, its commit is refused.
        """
        keys = [UNACKED, UNACKED_INDEX, queue]
        noted = line.post(("EVAL", _NOTE, len(keys), *keys, STATE_TTL_SECONDS, text))
        if is_redelivered:
            try:
                return _number(line.answer(noted))
            except ResponseError:
                return None  # as on a full disk: it is held by nobody, and its slot counts it
        return 1 if is_counted_as_taken(tag) else None

    def turn(self, line: Line, queues: Sequence[str], *, free: int, slots: int) -> None:
        """Acknowledge what has ended, count what slots were given, and take messages for the free
        slots and the next ones.

        Batches are taken for free slots alone, unless this worker takes nothing else: what comes
        after must not find them in front.
        """
        first = len(list(takewhile(lambda queue: queue != BATCH, queues))) or len(queues)
        wanted = max(free - len(self._held), 0)
        more = max(free + slots - len(self._held), 0) - wanted if self.pace.is_short else 0
        if not self._ended and not self._given and not (queues and wanted + more):
            return
        ended, self._ended = self._ended, []
        given, self._given = self._given, []
        keys = [UNACKED, UNACKED_INDEX, FARM_EPOCH, *queues]
        counts = [wanted, more, first, len(ended)]
        args = [STATE_TTL_SECONDS, *counts, *ended, *given]
        since, taken = line.run(_TURN, keys, args)
        at, memory_since = ticks(), float(since) if since else None
        for queue, tag, text, delivery, by in taken:
            names, number = (queue.decode(), tag.decode()), _number(delivery)
            self._held.append(Taken(*names, text, at, number, by == 1, memory_since))

    def give_back(self, line: Line) -> None:
        """Put what waits here, one message or more, at the head of its queue again."""
        held, self._held = self._held, deque()
        parts = [part for each in reversed(held) for part in (each.queue, each.tag, each.text)]
        line.run(_GIVE_BACK, [UNACKED, UNACKED_INDEX], parts)

    def seconds_left(self) -> float | None:
        """Tell how long the first message may still wait here, None when there is none."""
        if not self._held:
            return None
        return max(self._held[0].at + HOLD_SECONDS - ticks(), 0.0)


def _number(delivery: int | bytes) -> int | None:
    return delivery if isinstance(delivery, int) else None
