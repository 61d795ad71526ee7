"""Admission places: permits that limit the queued and running jobs of each account.

A job with a waiting client is published once it has a place. Recently active accounts share the workers'
slots; places are granted first-in first-out within an account, and round-robin between accounts. The state
is in Redis, so it applies to all fronts and any broker.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, cast

from redis import Redis

from shared.clock import ticks
from shared.queue.connection import BLOCK_SECONDS, reachable, register
from shared.queue.names import INTERACTIVE, PLACE_LEASES, PLACES, job_key, place_key
from shared.queue.worker_presence import find_workers

# A front renews the places of its jobs every second; a lease that was not renewed expires after this time.
PLACE_LEASE_SECONDS: Final = 5.0
_LONGEST_RETRY_SECONDS: Final = 60
# How long a front caches the number of slots.
_SLOTS_CACHE_SECONDS: Final = 1.0
# The number of jobs that may be published while no worker reports its slots.
_DEFAULT_SLOTS: Final = 8


class PlaceState(StrEnum):
    """The admission state of a job."""

    HELD = "held"  # queued or running
    WAITING = "waiting"  # for a place
    FETCHING = "fetching"  # its front fetches images
    ENDED = "ended"  # it no longer needs a place


class WaitingLimitError(Exception):
    """The limit of waiting jobs of an account is reached."""

    def __init__(self, waiting: int, retry_after_seconds: int) -> None:
        super().__init__(waiting)
        self.waiting: Final = waiting
        self.retry_after_seconds: Final = retry_after_seconds


@dataclass(frozen=True, slots=True)
class PlaceRequest:
    """A request for a place: the job, its account, and the queue it will be published to."""

    job_id: str
    account_id: str
    queue: str


@dataclass(frozen=True, slots=True)
class PlaceCount:
    """The number of jobs in a state, and when the oldest of them entered it (seconds since 1970)."""

    jobs: int
    oldest_at: float


class AdmissionPlaces:
    """Acquires, awaits and releases places; thread-safe.

    Every method raises `Unavailable` while Redis is unreachable.
    """

    def __init__(self, redis: Redis, *, most_waiting: int) -> None:
        self._redis = redis
        self._most_waiting = most_waiting
        self._acquire = register(redis, "acquire_place")
        self._renew = register(redis, "renew_place")
        self._release = register(redis, "release_place")
        self._slots = _DEFAULT_SLOTS
        self._slots_read_at = -_SLOTS_CACHE_SECONDS

    def acquire(self, request: PlaceRequest) -> bool:
        """Acquire a place and return True; otherwise enqueue the job for one and return False.

        Call `wait` after False. A job that waited for images does not count against the limit.

        Raises:
            WaitingLimitError: too many jobs of the account wait already.
        """
        args: list[str | int | float] = [
            request.job_id,
            request.account_id,
            request.queue,
            PLACE_LEASE_SECONDS,
            self._count_slots(),
            self._most_waiting,
        ]
        with reachable():
            state, *facts = cast("list[bytes | int]", self._acquire(args=args))
        if state == b"full":
            waiting, seconds = cast("list[int]", facts)
            raise WaitingLimitError(waiting, min(max(seconds, 1), _LONGEST_RETRY_SECONDS))
        return state == b"held"

    def wait(self, job_id: str, *, seconds: float) -> PlaceState | None:
        """Wait a second at most for a job's place; see `renew`."""
        timeout = max(min(seconds, BLOCK_SECONDS), 0.01)
        with reachable():
            woken = cast(
                "tuple[bytes, bytes] | None", self._redis.blpop([place_key(job_id)], timeout)
            )
        if woken is not None and woken[1] == b"held":
            return PlaceState.HELD
        return self.renew(job_id)

    def renew(self, job_id: str) -> PlaceState | None:
        """Renew the lease of a job's place and return its state; None if Redis has lost it.

        Slots of workers that have started meanwhile are granted to the jobs that wait.
        """
        args: list[str | float] = [job_id, PLACE_LEASE_SECONDS, self._count_slots()]
        with reachable():
            state = cast("bytes | None", self._renew(keys=[job_key(job_id)], args=args))
        return None if state is None else PlaceState(state.decode())

    def release(self, job_id: str) -> None:
        """Release the place of a job that was not published; a job that ends releases its own."""
        with reachable():
            self._release(args=[job_id])

    def has_worker(self, queue: str) -> bool:
        """Return whether a worker that consumes a queue has reported within seconds."""
        return any(queue in each.queues for each in find_workers(self._redis))

    def _count_slots(self) -> int:
        if ticks() - self._slots_read_at >= _SLOTS_CACHE_SECONDS:
            self._slots_read_at = (
                ticks()
            )  # before the read, so that only one of several threads reads
            workers = find_workers(self._redis)
            slots = sum(each.slots for each in workers if INTERACTIVE in each.queues)
            self._slots = slots or _DEFAULT_SLOTS
        return self._slots


def find_fetching(redis: Redis) -> AbstractSet[str]:
    """Return the ids of the jobs whose fronts fetch images.

    Raises:
        Unavailable: Redis is unreachable.
    """
    start = f"{PlaceState.FETCHING} "
    return {job_id for job_id, entry in _read_places(redis).items() if entry.startswith(start)}


def count_places(redis: Redis) -> Mapping[tuple[str, PlaceState], PlaceCount]:
    """Count the jobs with a place or waiting for one, by queue and state.

    Raises:
        Unavailable: Redis is unreachable.
    """
    jobs: Counter[tuple[str, PlaceState]] = Counter()
    oldest: dict[tuple[str, PlaceState], float] = {}
    for entry in _read_places(redis).values():
        state, since, queue, _ = entry.split(" ", 3)
        key = (queue, PlaceState(state))
        jobs[key] += 1
        oldest[key] = min(oldest.get(key, float(since)), float(since))
    return {key: PlaceCount(count, oldest[key]) for key, count in jobs.items()}


def _read_places(redis: Redis) -> Mapping[str, str]:
    """Return the places by job, without expired leases, which the next acquisition removes."""
    with reachable(), redis.pipeline(transaction=False) as pipe:
        pipe.time()
        pipe.hgetall(PLACES)
        pipe.zrange(PLACE_LEASES, 0, -1, withscores=True)
        (seconds, microseconds), entries, leases = pipe.execute()
    now = seconds + microseconds / 1_000_000
    return {
        job_id.decode(): entries[job_id].decode()
        for job_id, until in leases
        if until > now and job_id in entries
    }
