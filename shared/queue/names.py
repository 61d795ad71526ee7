"""Names of queues, tasks and Redis keys, and the queue of each kind of job; `shared.usage.metering.usage_key` names the counters."""

from __future__ import annotations

from typing import Final

from shared.jobs.records import Lane, Purpose

INTERACTIVE: Final = "interactive"  # single renders: a list, its newest message at the left
PREVIEW: Final = "preview"  # pages for editors, in a list like it
VALIDATE: Final = "validate"  # validations and inspections of uploads, in a list like it
BATCH: Final = "batch"  # slices of batches and of accepted renders, which no client waits for
# Every queue that workers take from, for the metrics.
QUEUES: Final = (INTERACTIVE, PREVIEW, VALIDATE, BATCH)
RENDER_TASK: Final = "pressroom.render"
SLICE_TASK: Final = "pressroom.slice"  # some documents of a batch
JOBS_TASK: Final = "pressroom.jobs"  # some of the accepted renders of an account
ASSEMBLE_TASK: Final = "pressroom.assemble"  # the one PDF of a merged batch

USAGE_STREAM: Final = "usage"  # page events on their way to the ledger
USAGE_GROUP: Final = "counter"
DEAD_EVENTS: Final = "usage:dead"  # events that the counter could not read, kept for inspection

FARM_EPOCH: Final = "farm:epoch"  # exists until Redis loses its data
FARM_LAYOUT: Final = "farm:layout"  # name of this shard, and of all shards of the farm
FARM_MEMORY: Final = (
    "farm:memory"  # random value, changes if Redis was emptied, see shared.queue.replies
)
WRITE_CHECK: Final = "farm:writable"  # written by checks of readiness
DRAINED: Final = "farm:drained"  # hash of drained queues: when each was drained
WORKERS: Final = "farm:workers"  # hash of the workers' reports
WORKERS_SEEN: Final = "farm:workers:seen"  # sorted set of workers, by the time of their last report
QUEUES_PASSED: Final = (
    "farm:queues:passed"  # sorted set of queues, see shared.queue.worker_presence
)
HELD_TASKS: Final = (
    "farm:held"  # sorted set of tasks, by the last report of the worker that holds them
)
CLOCKS: Final = "farm:clocks"  # hash of the clock skew of each process's machine
CLOCKS_SEEN: Final = "farm:clocks:seen"  # sorted set of processes, by the time of their last report

PLACES: Final = (
    "places:jobs"  # hash of jobs with a place or waiting for one, see scripts/places.lua
)
PLACE_LEASES: Final = "places:leases"  # sorted set of these jobs, by the end of their lease

SENT_SLICES: Final = "batch:sent"  # hash of queued and running slices: when each was published


def job_key(job_id: str) -> str:
    """Return the key of a job's state, a hash: `deliveries`, `awaited_until`, and `done` if it has ended.

    A recorded job also has `started_at` and `outcome`.
    """
    return f"job:{job_id}"


def reply_key(job_id: str) -> str:
    """Return the key of the reply list, which holds a job's outcome."""
    return f"job:{job_id}:reply"


def place_key(job_id: str) -> str:
    """Return the key of the list that wakes the front of a job that waits for a place."""
    return f"place:{job_id}"


def claim_key(job_id: str, token: str) -> str:
    """Return the key of a claim's bytes, in Redis or in the blob store."""
    return f"job:{job_id}:{token}"


def chunk_key(batch_id: str, number: int) -> str:
    """Return the key of a chunk's state, a hash, see `shared.queue.slice_commits`."""
    return f"batch:{batch_id}:{number}"


def cancelled_key(batch_id: str) -> str:
    """Return the key that exists once a batch is cancelled."""
    return f"batch:{batch_id}:cancelled"


def completion_key(name: str) -> str:
    """Return the key of the list that holds a notice of completion."""
    return f"ended:{name}"


def preview_session_key(account_id: str, session: str) -> str:
    """Return the key of the newest preview of a session."""
    return f"preview:{account_id}:{session}"


_QUEUES: Final = {Lane.INTERACTIVE: INTERACTIVE, Lane.BATCH: BATCH}


def queue_for(purpose: Purpose, lane: Lane = Lane.INTERACTIVE) -> str:
    """Return the name of a job's queue: one for each lane of renders, one for previews, one for the rest."""
    if purpose is Purpose.RENDER:
        return _QUEUES[lane]
    return PREVIEW if purpose is Purpose.PREVIEW else VALIDATE
