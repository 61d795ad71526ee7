"""The interfaces through which the features of the front use the rest of the farm; `api.wiring` builds them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from shared.auth.rate import Rate, RateLimiter
from shared.auth.sharded_admission import ShardedAdmissionCache
from shared.auth.single_sign_on import SingleSignOn
from shared.auth.studio_sessions import StudioSessions
from shared.batches.lifecycle import BatchLifecycle
from shared.blobs.store import BlobStore
from shared.db.session import Database
from shared.encryption import SecretCipher
from shared.jobs.intake import JobIntake
from shared.jobs.lifecycle import JobLifecycle
from shared.outbound import Fetcher
from shared.queue.admission_places import AdmissionPlaces
from shared.queue.broker import Broker
from shared.queue.claims import Claims
from shared.queue.clocks import FarmClock
from shared.queue.drains import Drains
from shared.queue.preview_sessions import PreviewSessions
from shared.queue.replies import Replies
from shared.queue.usage_replay import UsageReplay
from shared.shards import PerShard
from shared.telemetry.process import ProcessMetrics
from shared.telemetry.traces import Traces
from shared.templates.pins import Pins, TemplatePins


@dataclass(frozen=True, slots=True)
class Cell:
    """The ports of one shard: its queue and its state in Redis, shared by the accounts of the shard.

    Without `enforces_default_rates` an account is limited only by a rate set for the account itself.
    """

    template_pins: TemplatePins
    image_pins: Pins
    font_pins: Pins
    rates: RateLimiter
    enforces_default_rates: bool
    broker: Broker
    replies: Replies
    places: AdmissionPlaces
    previews: PreviewSessions
    usage_replay: UsageReplay
    drains: Drains
    claims: Claims
    batches: BatchLifecycle
    intake: JobIntake
    job_lifecycle: JobLifecycle
    clock_ahead: Callable[[], float] = float  # the lead of this shard's Redis clock, in seconds


@dataclass(frozen=True, slots=True)
class Ports:
    """The services that requests use. Each raises `Unavailable` when it cannot be reached.

    `queue_checks` has the check of each shard by its name in `/readyz`. `render_budget` and
    `preview_budget` are seconds from admission to the deadline of the response.
    """

    database: Database
    admissions: ShardedAdmissionCache
    sessions: StudioSessions
    blobs: BlobStore
    fetcher: Fetcher
    secret_cipher: SecretCipher
    cells: PerShard[Cell]
    queue_checks: Mapping[str, Callable[[], None]]
    metrics: ProcessMetrics
    traces: Traces
    render_budget: float
    preview_budget: float
    preview_rate: Rate
    max_unfinished_batches: int
    cors_origins: frozenset[str]
    studio_local_http: bool
    single_sign_on: SingleSignOn | None = None
    clock: FarmClock | None = None

    def cell(self, account_id: str) -> Cell:
        """Return the ports of the shard that an account is assigned to."""
        return self.cells.of(account_id)
