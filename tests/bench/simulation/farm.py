"""Discrete-event simulation of a farm: pools, queues, fair scheduling of batch slices, worker failures."""

from __future__ import annotations

import math
import random
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import count
from typing import Final, TypeAlias

from shared.queue.worker_presence import TASK_LEASE_SECONDS

# Draws the service time of a job in seconds.
Service: TypeAlias = Callable[[random.Random], float]

INTERACTIVE: Final = "interactive"
BATCH: Final = "batch"
# Parameters of the real farm: shared.batches.records, workers.batches and decision 0385.
SLICE_SECONDS: Final = 2.0
WINDOW: Final = 4
CHUNKS_AIMED_AT: Final = 64
CHUNK_SIZES: Final = (10, 500)


@dataclass(frozen=True, slots=True)
class SimulatedPool:
    """A pool of slots, and the queues it consumes in order of precedence."""

    slots: int
    takes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class WorkerFailure:
    """The failure of a worker with some slots of a pool, and its restart."""

    at: float
    pool: int
    slots: int
    away_seconds: float


@dataclass(frozen=True, slots=True)
class BatchArrival:
    """The arrival of a batch; `service` draws the time of each document."""

    at: float
    account: str
    documents: int
    service: Service


@dataclass(slots=True)
class SimulationResult:
    """The results of a run; times are in seconds."""

    waits: list[float] = field(default_factory=list)
    batch_seconds: dict[int, float] = field(default_factory=dict)
    documents: int = 0
    lost_runs: int = 0
    busy_seconds: list[float] = field(default_factory=list)  # by pool


@dataclass(slots=True)
class _SingleJob:
    at: float
    takes: float


@dataclass(slots=True)
class _Batch:
    number: int
    asked: BatchArrival
    chunks: deque[int]  # remaining documents of each chunk that is neither queued nor running
    left: int
    fed: int = -1


@dataclass(slots=True)
class _Slice:
    batch: _Batch
    chunk_left: int
    done: int = 0


_Work: TypeAlias = _SingleJob | _Slice


class FarmModel:
    """One simulation: schedule batches and failures, then call `run`."""

    def __init__(self, pools: Sequence[SimulatedPool], *, seed: int = 1) -> None:
        self.result = SimulationResult()
        self._pools = pools
        self._free = [pool.slots for pool in pools]
        self._rng = random.Random(seed)
        self._events: list[tuple[float, int, Callable[[], None]]] = []
        self._order = count()
        self._turn = count()
        self._queues: dict[str, deque[_Work]] = {INTERACTIVE: deque(), BATCH: deque()}
        self._running: dict[int, tuple[int, _Work, float]] = {}
        self._batches: list[_Batch] = []
        self._fed_accounts: dict[str, int] = {}
        self._busy = [0.0] * len(pools)
        self._now = 0.0

    def schedule_batches(self, batches: Iterable[BatchArrival]) -> None:
        """Schedule arrivals of batches."""
        for number, asked in enumerate(batches):
            self._at(asked.at, lambda number=number, asked=asked: self._accept(number, asked))  # type: ignore[misc]

    def schedule_failures(self, kills: Iterable[WorkerFailure]) -> None:
        """Schedule failures of workers."""
        for kill in kills:
            self._at(kill.at, lambda kill=kill: self._kill(kill))  # type: ignore[misc]

    @property
    def documents_left(self) -> int:
        """The number of unfinished batch documents."""
        return sum(batch.left for batch in self._batches)

    @property
    def waiting(self) -> int:
        """The number of slices in the batch queue."""
        return len(self._queues[BATCH])

    @property
    def running(self) -> int:
        """The number of busy slots in all pools."""
        return len(self._running)

    def resize_later(self, pool: int, slots: int, *, after: float) -> None:
        """Add slots to a pool after some seconds, or remove some, which first finish their work."""
        self._at(self._now + after, lambda: self._add_slots(pool, slots))

    def call_every(self, seconds: float, look: Callable[[float], None], *, until: float) -> None:
        """Call a function with the current time at an interval."""

        def act() -> None:
            look(self._now)
            if self._now + seconds <= until:
                self._at(self._now + seconds, act)

        self._at(seconds, act)

    def run(self, singles: Iterable[tuple[float, float]]) -> SimulationResult:
        """Run until all work has ended; `singles` are the arrival and service times of interactive jobs."""
        coming = iter(singles)
        following = next(coming, None)
        while following or self._events:
            if following and (not self._events or following[0] <= self._events[0][0]):
                self._now = following[0]
                self._queues[INTERACTIVE].append(_SingleJob(*following))
                following = next(coming, None)
            else:
                self._now, _, act = heappop(self._events)
                act()
            self._take()
        self.result.busy_seconds = self._busy
        return self.result

    def _at(self, time: float, act: Callable[[], None]) -> None:
        heappush(self._events, (time, next(self._order), act))

    def _accept(self, number: int, asked: BatchArrival) -> None:
        few, most = CHUNK_SIZES
        size = min(max(-(-asked.documents // CHUNKS_AIMED_AT), few), most)
        full, rest = divmod(asked.documents, size)
        chunks = deque([size] * full + ([rest] if rest else []))
        self._batches.append(_Batch(number, asked, chunks, asked.documents))
        self._feed()

    def _feed(self) -> None:
        """Keep `WINDOW` slices queued, round-robin over accounts and their batches."""
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
        takes = work.takes if isinstance(work, _SingleJob) else self._cut(work)
        token = next(self._order)
        self._running[token] = (pool, work, self._now)
        heappush(self._events, (self._now + takes, token, lambda: self._end(token)))

    def _cut(self, work: _Slice) -> float:
        """Return the time of a slice: documents until its time limit or the end of its chunk."""
        took, work.done = 0.0, 0
        while work.done < work.chunk_left and took < SLICE_SECONDS:
            took += work.batch.asked.service(self._rng)
            work.done += 1
        return took

    def _end(self, token: int) -> None:
        held = self._running.pop(token, None)
        if held is None:
            return  # its worker failed
        pool, work, begun = held
        self._free[pool] += 1
        self._busy[pool] += self._now - begun
        if isinstance(work, _SingleJob):
            self.result.waits.append(begun - work.at)
            return
        batch = work.batch
        batch.left -= work.done
        self.result.documents += work.done
        if work.chunk_left > work.done:
            batch.chunks.appendleft(work.chunk_left - work.done)
        if not batch.left:
            self._batches.remove(batch)
            self.result.batch_seconds[batch.number] = self._now - batch.asked.at
        self._feed()

    def _kill(self, kill: WorkerFailure) -> None:
        tokens = [token for token, (pool, _, _) in self._running.items() if pool == kill.pool]
        slots = self._pools[kill.pool].slots
        # Each slot of the pool, busy or not, is equally likely to fail.
        dead = sum(index < len(tokens) for index in self._rng.sample(range(slots), kill.slots))
        for token in self._rng.sample(tokens, dead):
            pool, work, begun = self._running.pop(token)
            self._busy[pool] += self._now - begun
            self.result.lost_runs += 1
            self._at(self._now + TASK_LEASE_SECONDS, lambda work=work: self._come_back(work))  # type: ignore[misc]
        idle = min(kill.slots - dead, self._free[kill.pool])
        self._free[kill.pool] -= idle
        self._at(self._now + kill.away_seconds, lambda: self._revive(kill.pool, dead + idle))

    def _add_slots(self, pool: int, slots: int) -> None:
        # Negative while more slots are busy than the new size.
        self._free[pool] += slots

    def _revive(self, pool: int, slots: int) -> None:
        self._free[pool] += slots

    def _come_back(self, work: _Work) -> None:
        """Requeue the work of a failed worker at the head of its queue."""
        name = INTERACTIVE if isinstance(work, _SingleJob) else BATCH
        self._queues[name].appendleft(work)


def send_singles(
    rate: float, service: Service, *, jobs: int, seed: int
) -> Iterator[tuple[float, float]]:
    """Yield the arrival and service times of interactive jobs that come at random."""
    chance, at = random.Random(seed), 0.0
    for _ in range(jobs):
        at += chance.expovariate(rate)
        yield at, service(chance)


def lognormal(mean: float, *, variation: float) -> Service:
    """Return a log-normal distribution, like the times of renders: many short ones, a few long ones.

    `variation` is the coefficient of variation.
    """
    sigma = math.sqrt(math.log(1 + variation**2))
    mu = math.log(mean) - sigma**2 / 2
    return lambda rng: rng.lognormvariate(mu, sigma)


def find_share(ordered: Sequence[float], share: float) -> float:
    """Return the waiting time that a share of jobs does not exceed."""
    return ordered[math.ceil((len(ordered) - 1) * share)] if ordered else 0.0
