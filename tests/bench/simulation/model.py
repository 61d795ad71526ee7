"""Simulation of a queue with many servers: random arrivals, first free slot."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from heapq import heapreplace
from typing import Final, TypeAlias

# Draws the service time of a job in seconds.
Service: TypeAlias = Callable[[random.Random], float]

_WARM_UP: Final = 0.2  # share of the jobs that is discarded, since the queue starts empty


@dataclass(frozen=True, slots=True)
class Load:
    """The load of a farm; `busy` is the utilisation of the slots."""

    slots: int
    busy: float
    service: Service
    service_mean: float

    @property
    def rate(self) -> float:
        """The arrival rate in jobs per second."""
        return self.slots * self.busy / self.service_mean


@dataclass(frozen=True, slots=True)
class Waits:
    """Waiting times in seconds."""

    mean: float
    p50: float
    p99: float


def simulate(load: Load, *, jobs: int, seed: int = 1) -> Waits:
    """Simulate Poisson arrivals and return the waiting times."""
    waits = queue_up(load.slots, _send(load, jobs, random.Random(seed)))
    return summarise(waits[int(jobs * _WARM_UP) :])


def queue_up(slots: int, jobs: Iterable[tuple[float, float]]) -> list[float]:
    """Return the waiting time of each job; a job is its arrival and service time."""
    free_at = [0.0] * slots  # a heap: the slot that is free first is at its top
    waits = []
    for comes, takes in jobs:
        begins = max(comes, free_at[0])
        heapreplace(free_at, begins + takes)
        waits.append(begins - comes)
    return waits


def _send(load: Load, jobs: int, rng: random.Random) -> Iterator[tuple[float, float]]:
    now, rate = 0.0, load.rate
    for _ in range(jobs):
        now += rng.expovariate(rate)
        yield now, load.service(rng)


def summarise(waits: list[float]) -> Waits:
    """Return mean, median and 99th percentile."""
    ordered = sorted(waits)
    last = len(ordered) - 1
    return Waits(sum(ordered) / len(ordered), ordered[last // 2], ordered[math.ceil(last * 0.99)])


def exponential(mean: float) -> Service:
    """Return an exponential distribution, for which waiting times are known in closed form."""
    return lambda rng: rng.expovariate(1 / mean)


def lognormal(mean: float, *, variation: float) -> Service:
    """Return a log-normal distribution, like the times of renders: many short ones, a few long ones.

    `variation` is the coefficient of variation.
    """
    sigma = math.sqrt(math.log(1 + variation**2))
    mu = math.log(mean) - sigma**2 / 2
    return lambda rng: rng.lognormvariate(mu, sigma)


def erlang_wait(slots: int, busy: float, service_mean: float) -> float:
    """Return the mean wait for exponential service times by the Erlang C formula."""
    offered = slots * busy
    blocked = 1.0  # Erlang B, by its recurrence, which no factorial overflows
    for slot in range(1, slots + 1):
        blocked = offered * blocked / (slot + offered * blocked)
    waits = blocked / (1 - busy * (1 - blocked))
    return waits * service_mean / (slots * (1 - busy))
