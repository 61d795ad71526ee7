"""The interfaces through which the features of the front use the rest of the farm; `api.wiring` builds them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from shared.auth.admission import RateLimiter, ShardedAdmissionCache
from shared.auth.studio_sessions import StudioSessions
from shared.blobs.store import BlobStore
from shared.db.session import Database
from shared.encryption import SecretCipher
from shared.jobs.intake import JobIntake
from shared.outbound import Fetcher
from shared.queue.admission_places import AdmissionPlaces
from shared.queue.clocks import FarmClock
from shared.queue.depth import Drains, QueueReader
from shared.queue.queue_factory import open_queues
from shared.queue.replies import Replies, UsageReplay
from shared.queue.states import PreviewSessions
from shared.settings import Settings
from shared.shard_services import ShardServices
from shared.shards import PerShard, ShardAddress
from shared.telemetry.observer import Observer
from shared.telemetry.process import ProcessMetrics
from shared.telemetry.traces import Traces


class Cell(ShardServices):
    """The ports of one shard: its queue and its state in Redis, shared by the accounts of the shard."""

    def __init__(
        self,
        shard: ShardAddress,
        settings: Settings,
        database: Database,
        blobs: BlobStore,
        *,
        observer: Observer,
        clock: FarmClock,
    ) -> None:
        super().__init__(shard, settings, database, blobs, observer=observer)
        self.rates: Final = RateLimiter(self.redis)
        self.replies: Final = Replies(self.redis, self.claims, observer=observer)
        self.places: Final = AdmissionPlaces(self.redis, most_waiting=settings.max_waiting)
        self.previews: Final = PreviewSessions(self.redis)
        self.usage_replay: Final = UsageReplay(self.redis)
        self.drains: Final = Drains(self.redis)
        self.depth: Final = QueueReader(
            self.redis, open_queues(settings.broker_url) if settings.broker_url else None
        )
        self.intake: Final = JobIntake(database, self.broker, self.batches)
        self._clock = clock
        self._name = shard.name

    def clock_ahead(self) -> float:
        """Return the lead of this shard's Redis clock, in seconds."""
        return self._clock.ahead_of(self._name)


@dataclass(frozen=True, slots=True)
class Ports:
    """The services that requests use. Each raises `Unavailable` when it cannot be reached.

    `queue_checks` has the check of each shard by its name in `/readyz`, `memory_checks` that of the Redis
    that keeps nothing, if there is one.
    """

    settings: Settings
    database: Database
    admissions: ShardedAdmissionCache
    sessions: StudioSessions
    blobs: BlobStore
    fetcher: Fetcher
    secret_cipher: SecretCipher
    cells: PerShard[Cell]
    queue_checks: Mapping[str, Callable[[], None]]
    memory_checks: Mapping[str, Callable[[], None]]
    metrics: ProcessMetrics
    traces: Traces
    clock: FarmClock | None = None

    def cell(self, account_id: str) -> Cell:
        """Return the ports of the shard that an account is assigned to."""
        return self.cells.of(account_id)
