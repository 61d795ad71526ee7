"""Looking ahead: a slot that ends finds its next message in the worker already.

Between two messages a slot would wait for three round trips: the first's acknowledgement, the read
of the second, and the note that the worker holds it (1 to 2 ms of wall time, a third of a short
render). Here one step of Redis does all three, while the slot works on. Decision 0125.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from itertools import takewhile
from typing import Any, Final, NamedTuple, cast

from shared.clock import epoch, ticks
from shared.queue.names import BATCH, UNACKED, UNACKED_INDEX

# Messages are taken ahead while the last renders were all this short.
SHORT_SECONDS: Final = 0.05
# One that was taken ahead and found no slot in this time goes back, for any worker to take.
HOLD_SECONDS: Final = 0.1
_RENDERS_WATCHED: Final = 8

# KEYS: held messages, their index, then the queues in order of precedence.
# ARGV: 1 now, 2 how many to take from any queue, 3 how many more from the first queues,
#       4 how many queues are the first, 5.. tags of messages that have ended.
# What is taken is noted as held in the same step, so no kill takes it along. A body is a string of
# JSON within the message, where every quote is escaped: the tag that is found is the message's own.
_TURN: Final = """
for i = 5, #ARGV do
    redis.call('HDEL', KEYS[1], ARGV[i])
    redis.call('ZREM', KEYS[2], ARGV[i])
end
local taken = {}
local function take(most, last)
    for k = 3, last do
        while most > 0 do
            local raw = redis.call('RPOP', KEYS[k])
            if not raw then break end
            most = most - 1
            local tag = string.match(raw, '"delivery_tag": ?"([^"]+)"')
            redis.call('HSET', KEYS[1], tag, '[' .. raw .. ',"","' .. KEYS[k] .. '"]')
            redis.call('ZADD', KEYS[2], ARGV[1], tag)
            table.insert(taken, {KEYS[k], tag, raw})
        end
    end
end
take(tonumber(ARGV[2]), #KEYS)
take(tonumber(ARGV[3]), 2 + tonumber(ARGV[4]))
return taken
"""

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
    """A message that this worker holds and no slot has yet, since `at` by the process's clock."""

    queue: str
    tag: str
    text: bytes
    at: float


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
        self._turn: Any = None

    def __len__(self) -> int:
        """Count the messages that wait here."""
        return len(self._held)

    def end(self, tag: str) -> None:
        """Have a message acknowledged with the next turn."""
        self.pace.end(tag)
        self._ended.append(tag)

    def take(self) -> Taken | None:
        """Give the message that came first, None when there is none."""
        return self._held.popleft() if self._held else None

    def turn(self, client: Any, queues: Sequence[str], *, free: int, slots: int) -> None:
        """Acknowledge what has ended, and take messages for the free slots and the next ones.

        Batches are taken for free slots alone: what comes after must not find them in front.
        """
        first = len(list(takewhile(lambda queue: queue != BATCH, queues)))
        wanted = max(free - len(self._held), 0)
        more = max(free + slots - len(self._held), 0) - wanted if self.pace.is_short else 0
        if not self._ended and not (queues and wanted + more):
            return
        ended, self._ended = self._ended, []
        if self._turn is None:
            self._turn = client.register_script(_TURN)
        keys = [UNACKED, UNACKED_INDEX, *queues]
        taken = self._turn(keys, [epoch(), wanted, more, first, *ended], client)
        now = ticks()
        for queue, tag, text in cast("list[list[bytes]]", taken):
            self._held.append(Taken(queue.decode(), tag.decode(), text, now))

    def give_back(self, client: Any) -> None:
        """Put what waits here, one message or more, at the head of its queue again."""
        held, self._held = self._held, deque()
        parts = [part for each in reversed(held) for part in (each.queue, each.tag, each.text)]
        client.eval(_GIVE_BACK, 2, UNACKED, UNACKED_INDEX, *parts)

    def seconds_left(self) -> float | None:
        """Tell how long the first message may still wait here, None when there is none."""
        if not self._held:
            return None
        return max(self._held[0].at + HOLD_SECONDS - ticks(), 0.0)
