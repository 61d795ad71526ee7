"""Every name the farm uses in Redis, once; `shared.metering.usage_key` names the counters."""

from __future__ import annotations

import uuid
from typing import Final

INTERACTIVE: Final = "interactive"  # single renders: a list, its newest message at the left
VALIDATE: Final = "validate"  # validations, in a list like it
BATCH: Final = "batch"  # renders nobody waits for: async jobs, and slices of batches
# Every queue that workers take from, for the metrics.
QUEUES: Final = (INTERACTIVE, VALIDATE, BATCH)
RENDER_TASK: Final = "pressroom.render"

USAGE_STREAM: Final = "usage"  # page events on their way to the ledger
USAGE_GROUP: Final = "counter"
DEAD_EVENTS: Final = "usage:dead"  # what the counter could not read, kept for a person to look at

FARM_TOTALS: Final = "farm:totals"  # hash of what the farm counts, see shared.telemetry.totals
CLAIM_EXPIRY: Final = "claims:expiry"  # sorted set of claims in the blob store, by when to delete

UNACKED: Final = "unacked"  # kombu's hash of messages that a worker holds
UNACKED_INDEX: Final = "unacked_index"  # kombu's sorted set of them, by when they were last held


def new_delivery_tag(queue: str) -> str:
    """Make the tag of a message, by which kombu holds it; `queue_of` reads its queue from it."""
    return f"{queue}:{uuid.uuid4()}"


def queue_of(delivery_tag: str) -> str:
    """Give the queue of a held message, '' when its tag does not say."""
    queue, colon, _ = delivery_tag.partition(":")
    return queue if colon else ""


def job_key(job_id: str) -> str:
    """Name the hash of a job's state: `deliveries`, `awaited_until`, and `done` when it has ended."""
    return f"job:{job_id}"


def reply_key(job_id: str) -> str:
    """Name the list that holds a job's outcome, and nothing else."""
    return f"job:{job_id}:reply"


def claim_key(job_id: str, token: str) -> str:
    """Name the bytes of a claim, in Redis or in the blob store."""
    return f"job:{job_id}:{token}"
