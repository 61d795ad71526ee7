"""Every name the farm uses in Redis, once; `shared.metering.usage_key` names the counters."""

from __future__ import annotations

from typing import Final

INTERACTIVE: Final = "interactive"  # single renders: a list, its newest message at the left
VALIDATE: Final = "validate"  # validations and inspections of uploads, in a list like it
BATCH: Final = "batch"  # slices of what nobody waits for: batches and accepted renders
# Every queue that workers take from, for the metrics.
QUEUES: Final = (INTERACTIVE, VALIDATE, BATCH)
RENDER_TASK: Final = "pressroom.render"
SLICE_TASK: Final = "pressroom.slice"  # some documents of a batch
JOBS_TASK: Final = "pressroom.jobs"  # some of the accepted renders of an account
ASSEMBLE_TASK: Final = "pressroom.assemble"  # the one PDF of a merged batch
TASKS: Final = frozenset({RENDER_TASK, SLICE_TASK, JOBS_TASK, ASSEMBLE_TASK})

USAGE_STREAM: Final = "usage"  # page events on their way to the ledger
USAGE_GROUP: Final = "counter"
DEAD_EVENTS: Final = "usage:dead"  # what the counter could not read, kept for a person to look at

FARM_TOTALS: Final = "farm:totals"  # hash of what the farm counts, see shared.telemetry.totals
FRESH_TOTALS: Final = "farm:totals:fresh"  # list of what is yet to be added to them
FARM_EPOCH: Final = "farm:epoch"  # there as long as Redis has all that was put into it
FARM_LAYOUT: Final = "farm:layout"  # which shard this is, of which farm's
FARM_MEMORY: Final = "farm:memory"  # another value once Redis was emptied, see shared.queue.recall
DRAINED: Final = "farm:drained"  # hash of the queues that workers leave alone: since when
WORKERS: Final = "farm:workers"  # hash of what each worker reports
WORKERS_SEEN: Final = "farm:workers:seen"  # sorted set of them, by when they last did
HELD_TASKS: Final = "farm:held"  # sorted set of tasks, by when a worker last reported to hold them
CLOCKS: Final = "farm:clocks"  # hash of how far the clock of each process's machine is ahead
CLOCKS_SEEN: Final = "farm:clocks:seen"  # sorted set of them, by when they last said so
CLAIM_EXPIRY: Final = "claims:expiry"  # sorted set of claims in the blob store, by when to delete

SENT_SLICES: Final = "batch:sent"  # hash of slices in the queue or at work: when each was published

# kombu's own, by the defaults of its transport options `unacked_key` and `unacked_index_key`.
UNACKED: Final = "unacked"  # hash of messages that were taken and not acknowledged
UNACKED_INDEX: Final = "unacked_index"  # sorted set of them, by when they were taken


def job_key(job_id: str) -> str:
    """Name the hash of a job's state: `deliveries`, `awaited_until`, and `done` when it has ended.

    A recorded job's has `started_at` besides, and its `outcome`.
    """
    return f"job:{job_id}"


def reply_key(job_id: str) -> str:
    """Name the list that holds a job's outcome, and nothing else."""
    return f"job:{job_id}:reply"


def claim_key(job_id: str, token: str) -> str:
    """Name the bytes of a claim, in Redis or in the blob store."""
    return f"job:{job_id}:{token}"


def chunk_key(batch_id: str, number: int) -> str:
    """Name the hash of a chunk's state, see `shared.queue.slices`."""
    return f"batch:{batch_id}:{number}"


def cancelled_key(batch_id: str) -> str:
    """Name the key that is there once a batch is cancelled."""
    return f"batch:{batch_id}:cancelled"


def ending_key(name: str) -> str:
    """Name the list that holds word of an end, for a while."""
    return f"ended:{name}"
