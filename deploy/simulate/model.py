"""One queue and many slots: jobs come at random, each takes the slot that is free first."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from heapq import heapreplace
from typing import Final, TypeAlias

# Draws the seconds that one job takes a slot.
Service: TypeAlias = Callable[[random.Random], float]

_WARM_UP: Final = 0.2  # of the jobs: at first there is nobody in the queue


@dataclass(frozen=True, slots=True)
class Load:
    """What is asked of a farm: `busy` is the share of the slots' time that the jobs need."""

    slots: int
    busy: float
    service: Service
    service_mean: float

    @property
    def rate(self) -> float:
        """Give the jobs a second."""
        return self.slots * self.busy / self.service_mean


@dataclass(frozen=True, slots=True)
class Waits:
    """How long jobs waited, in seconds."""

    mean: float
    p50: float
    p99: float


def simulate(load: Load, *, jobs: int, seed: int = 1) -> Waits:
    """Send jobs at random times (Poisson) and give how long they waited for a slot."""
    waits = queue_up(load.slots, _send(load, jobs, random.Random(seed)))  # noqa: S311 - chances, not secrets
    return summarise(waits[int(jobs * _WARM_UP) :])


def queue_up(slots: int, jobs: Iterable[tuple[float, float]]) -> list[float]:
    """Give how long each job waits; a job is when it comes and how long it takes a slot."""
    free_at = [0.0] * slots  # a heap: the slot that is free first is at its top
    waits = []
    for comes, takes in jobs:
        begins = max(comes, free_at[0])
        heapreplace(free_at, begins + takes)
        waits.append(begins - comes)
    return waits


def _send(load: Load, jobs: int, chance: random.Random) -> Iterator[tuple[float, float]]:
    now, rate = 0.0, load.rate
    for _ in range(jobs):
        now += chance.expovariate(rate)
        yield now, load.service(chance)


def summarise(waits: list[float]) -> Waits:
    """Give mean, median and 99th percentile."""
    ordered = sorted(waits)
    last = len(ordered) - 1
    return Waits(sum(ordered) / len(ordered), ordered[last // 2], ordered[math.ceil(last * 0.99)])


def exponential(mean: float) -> Service:
    """Draw times of an exponential distribution, for which the waits are known in closed form."""
    return lambda chance: chance.expovariate(1 / mean)


def lognormal(mean: float, *, variation: float) -> Service:
    """Draw times as renders have them: many short ones, a few that are long.

    `variation` is the standard deviation by the mean.
    """
    sigma = math.sqrt(math.log(1 + variation**2))
    mu = math.log(mean) - sigma**2 / 2
    return lambda chance: chance.lognormvariate(mu, sigma)


def erlang_wait(slots: int, busy: float, service_mean: float) -> float:
    """Give the mean wait for exponential times, by Erlang's formula."""
    offered = slots * busy
    blocked = 1.0  # Erlang B, by its recurrence, which no factorial overflows
    for slot in range(1, slots + 1):
        blocked = offered * blocked / (slot + offered * blocked)
    waits = blocked / (1 - busy * (1 - blocked))
    return waits * service_mean / (slots * (1 - busy))
