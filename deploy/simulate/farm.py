"""A whole farm, simulated: pools and what they take from, slices of batches in turn, bursts, killed workers."""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import count
from typing import Final, TypeAlias

from deploy.simulate.model import Service
from shared.queue.roster import LEASE_SECONDS

INTERACTIVE: Final = "interactive"
BATCH: Final = "batch"
# The rules of the real farm: shared.batches.chunks, workers.farm.batches and decision 0091.
SLICE_SECONDS: Final = 2.0
WINDOW: Final = 4
CHUNKS_AIMED_AT: Final = 64
CHUNK_SIZES: Final = (10, 500)


@dataclass(frozen=True, slots=True)
class Pool:
    """Slots, and the queues they take from in order of precedence."""

    slots: int
    takes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Kill:
    """A worker that dies with some slots of a pool and is back after a while."""

    at: float
    pool: int
    slots: int
    away_seconds: float


@dataclass(frozen=True, slots=True)
class Asked:
    """A batch as it comes: documents that take as long as `service` draws."""

    at: float
    account: str
    documents: int
    service: Service


@dataclass(slots=True)
class Seen:
    """What a run showed, in seconds."""

    waits: list[float] = field(default_factory=list)
    batch_seconds: dict[int, float] = field(default_factory=dict)
    documents: int = 0
    lost_runs: int = 0
    busy_seconds: list[float] = field(default_factory=list)  # of the slots of each pool


@dataclass(slots=True)
class _Single:
    at: float
    takes: float


@dataclass(slots=True)
class _Batch:
    number: int
    asked: Asked
    chunks: deque[int]  # documents left of each chunk that is not at work or in the queue
    left: int
    fed: int = -1


@dataclass(slots=True)
class _Slice:
    batch: _Batch
    chunk_left: int
    done: int = 0


_Work: TypeAlias = _Single | _Slice


class FarmModel:
    """One run: give it what comes, then `run`."""

    def __init__(self, pools: Sequence[Pool], *, seed: int = 1) -> None:
        self.seen = Seen()
        self._pools = pools
        self._free = [pool.slots for pool in pools]
        self._chance = random.Random(seed)  # noqa: S311 - chances, not secrets
        self._events: list[tuple[float, int, Callable[[], None]]] = []
        self._order = count()
        self._turn = count()
        self._queues: dict[str, deque[_Work]] = {INTERACTIVE: deque(), BATCH: deque()}
        self._running: dict[int, tuple[int, _Work, float]] = {}
        self._batches: list[_Batch] = []
        self._fed_accounts: dict[str, int] = {}
        self._busy = [0.0] * len(pools)
        self._now = 0.0

    def send_batches(self, batches: Iterable[Asked]) -> None:
        """Have batches come."""
        for number, asked in enumerate(batches):
            self._at(asked.at, lambda number=number, asked=asked: self._accept(number, asked))  # type: ignore[misc]

    def send_kills(self, kills: Iterable[Kill]) -> None:
        """Have workers die."""
        for kill in kills:
            self._at(kill.at, lambda kill=kill: self._kill(kill))  # type: ignore[misc]

    @property
    def documents_left(self) -> int:
        """Return how many documents of batches have not ended."""
        return sum(batch.left for batch in self._batches)

    @property
    def waiting(self) -> int:
        """Return how much work waits in the queue of batches."""
        return len(self._queues[BATCH])

    @property
    def running(self) -> int:
        """Return how much work is in the slots of all pools."""
        return len(self._running)

    def resize_later(self, pool: int, slots: int, *, after: float) -> None:
        """Add slots to a pool after some seconds, or take some away: busy ones end their work first."""
        self._at(self._now + after, lambda: self._add_slots(pool, slots))

    def look_every(self, seconds: float, look: Callable[[float], None], *, until: float) -> None:
        """Call a function with the time, again and again until some time."""

        def act() -> None:
            look(self._now)
            if self._now + seconds <= until:
                self._at(self._now + seconds, act)

        self._at(seconds, act)

    def run(self, singles: Iterable[tuple[float, float]]) -> Seen:
        """Run until all has ended; a single is when it comes and how long it takes a slot."""
        coming = iter(singles)
        following = next(coming, None)
        while following or self._events:
            if following and (not self._events or following[0] <= self._events[0][0]):
                self._now = following[0]
                self._queues[INTERACTIVE].append(_Single(*following))
                following = next(coming, None)
            else:
                self._now, _, act = heappop(self._events)
                act()
            self._take()
        self.seen.busy_seconds = self._busy
        return self.seen

    def _at(self, time: float, act: Callable[[], None]) -> None:
        heappush(self._events, (time, next(self._order), act))

    def _accept(self, number: int, asked: Asked) -> None:
        few, most = CHUNK_SIZES
        size = min(max(-(-asked.documents // CHUNKS_AIMED_AT), few), most)
        full, rest = divmod(asked.documents, size)
        chunks = deque([size] * full + ([rest] if rest else []))
        self._batches.append(_Batch(number, asked, chunks, asked.documents))
        self._feed()

    def _feed(self) -> None:
        """Have four slices wait: the account fed longest ago is next, and its batch likewise."""
        queue = self._queues[BATCH]
        while len(queue) < WINDOW:
            ready = [batch for batch in self._batches if batch.chunks]
            if not ready:
                return
            batch = min(
                ready, key=lambda each: (self._fed_accounts.get(each.asked.account, -1), each.fed)
            )
            batch.fed = self._fed_accounts[batch.asked.account] = next(self._turn)
            queue.append(_Slice(batch, batch.chunks.popleft()))

    def _take(self) -> None:
        for number, pool in enumerate(self._pools):
            while self._free[number] > 0:
                name = next((name for name in pool.takes if self._queues[name]), None)
                if name is None:
                    break
                self._begin(number, self._queues[name].popleft())
                if name == BATCH:
                    self._feed()

    def _begin(self, pool: int, work: _Work) -> None:
        self._free[pool] -= 1
        takes = work.takes if isinstance(work, _Single) else self._cut(work)
        token = next(self._order)
        self._running[token] = (pool, work, self._now)
        heappush(self._events, (self._now + takes, token, lambda: self._end(token)))

    def _cut(self, work: _Slice) -> float:
        """Render documents until the slice's time is over or its chunk is done."""
        took, work.done = 0.0, 0
        while work.done < work.chunk_left and took < SLICE_SECONDS:
            took += work.batch.asked.service(self._chance)
            work.done += 1
        return took

    def _end(self, token: int) -> None:
        held = self._running.pop(token, None)
        if held is None:
            return  # its worker was killed
        pool, work, begun = held
        self._free[pool] += 1
        self._busy[pool] += self._now - begun
        if isinstance(work, _Single):
            self.seen.waits.append(begun - work.at)
            return
        batch = work.batch
        batch.left -= work.done
        self.seen.documents += work.done
        if work.chunk_left > work.done:
            batch.chunks.appendleft(work.chunk_left - work.done)
        if not batch.left:
            self._batches.remove(batch)
            self.seen.batch_seconds[batch.number] = self._now - batch.asked.at
        self._feed()

    def _kill(self, kill: Kill) -> None:
        tokens = [token for token, (pool, _, _) in self._running.items() if pool == kill.pool]
        slots = self._pools[kill.pool].slots
        # Each slot of the pool is as likely to be one of the dead worker's, busy or not.
        dead = sum(index < len(tokens) for index in self._chance.sample(range(slots), kill.slots))
        for token in self._chance.sample(tokens, dead):
            pool, work, begun = self._running.pop(token)
            self._busy[pool] += self._now - begun
            self.seen.lost_runs += 1
            self._at(self._now + LEASE_SECONDS, lambda work=work: self._come_back(work))  # type: ignore[misc]
        idle = min(kill.slots - dead, self._free[kill.pool])
        self._free[kill.pool] -= idle
        self._at(self._now + kill.away_seconds, lambda: self._revive(kill.pool, dead + idle))

    def _add_slots(self, pool: int, slots: int) -> None:
        # Below 0 while more are busy than there are to be.
        self._free[pool] += slots

    def _revive(self, pool: int, slots: int) -> None:
        self._free[pool] += slots

    def _come_back(self, work: _Work) -> None:
        """Put what a dead worker held where the next to be taken is."""
        name = INTERACTIVE if isinstance(work, _Single) else BATCH
        self._queues[name].appendleft(work)
