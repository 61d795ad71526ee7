"""What the features of the front reach the rest of the farm through; wiring.py fills it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from shared.batch_flow import BatchFlow
from shared.blobs.store import BlobStore
from shared.buckets.keys import KeyStates
from shared.buckets.pins import Pins, TemplatePins
from shared.buckets.rate import RateLimiter
from shared.db.session import Database
from shared.encryption import SecretCipher
from shared.job_flow import JobFlow
from shared.job_intake import Intake
from shared.outbound import Fetcher
from shared.queue.broker import Broker
from shared.queue.claims import Claims
from shared.queue.clocks import FarmClock
from shared.queue.drains import Drains
from shared.queue.recall import Recall
from shared.queue.replies import Replies
from shared.shards import PerShard
from shared.telemetry.front import FrontMetrics
from shared.telemetry.traces import Traces


@dataclass(frozen=True, slots=True)
class Cell:
    """What the accounts of one shard share: their queue, and what Redis keeps of them.

    Without `enforces_default_rates` an account is limited only where a rate was set for it.
    """

    template_pins: TemplatePins
    image_pins: Pins
    font_pins: Pins
    rates: RateLimiter
    enforces_default_rates: bool
    broker: Broker
    replies: Replies
    recall: Recall
    drains: Drains
    claims: Claims
    batches: BatchFlow
    intake: Intake
    job_flow: JobFlow
    clock_ahead: Callable[[], float] = float  # of this shard's Redis, in seconds


@dataclass(frozen=True, slots=True)
class Ports:
    """The parts a request may need. Each raises `Unavailable` when it is away.

    `queue_checks` are of each shard, by the name that `/readyz` tells. `render_budget` is in seconds, from admission
    to the last moment of an answer.
    """

    database: Database
    admissions: KeyStates
    blobs: BlobStore
    fetcher: Fetcher
    secrets: SecretCipher
    cells: PerShard[Cell]
    queue_checks: Mapping[str, Callable[[], None]]
    metrics: FrontMetrics
    traces: Traces
    render_budget: float
    max_unfinished_batches: int
    cors_origins: frozenset[str]
    clock: FarmClock | None = None

    def cell(self, account_id: str) -> Cell:
        """Give what belongs to the shard that an account lives on."""
        return self.cells.of(account_id)
