"""The services of one shard, connected in one place for fronts, workers and maintenance."""

from __future__ import annotations

from typing import Final

from shared.auth.admission import AdmissionCache
from shared.batches.lifecycle import BatchLifecycle
from shared.blobs.store import BlobStore
from shared.db.session import Database
from shared.jobs.lifecycle import JobLifecycle
from shared.queue.broker import Broker, Publisher
from shared.queue.claims import Claims
from shared.queue.connection import connect
from shared.queue.slice_commits import SliceQueue
from shared.queue.states import CompletionNotices, JobStates
from shared.settings import Settings
from shared.shards import ShardAddress, slots_of
from shared.telemetry.observer import NULL_OBSERVER, Cache, Observer
from shared.templates.pinning import Pins


class ShardServices:
    """The queue of a shard, its state in Redis, and the lifecycles of its accounts' work.

    Nothing is connected before its first use. Create it after a fork, never before.
    """

    def __init__(
        self,
        shard: ShardAddress,
        settings: Settings,
        database: Database,
        blobs: BlobStore,
        *,
        observer: Observer = NULL_OBSERVER,
    ) -> None:
        self.redis: Final = connect(shard.url)
        self.publisher: Final = Publisher(settings.broker_of(shard))
        self.admissions: Final = AdmissionCache(self.redis, observer=observer)
        self.template_pins: Final = Pins(self.redis, "templates", Cache.TEMPLATE_PINS, observer)
        self.image_pins: Final = Pins(self.redis, "images", Cache.IMAGE_PINS, observer)
        self.font_pins: Final = Pins(self.redis, "fonts", Cache.FONT_PINS, observer)
        self.claims: Final = Claims(
            self.redis,
            blobs,
            connect(settings.memory_redis_url) if settings.memory_redis_url else None,
        )
        self.broker: Final = Broker(self.redis, self.publisher)
        self.slices: Final = SliceQueue(
            self.redis, self.publisher, render_budget=settings.render_budget
        )
        slots = slots_of(shard.name, [each.name for each in settings.shards])
        completions = CompletionNotices(self.redis)
        self.batches: Final = BatchLifecycle(database, blobs, self.slices, completions, slots)
        self.jobs: Final = JobLifecycle(database, JobStates(self.redis), completions, blobs, slots)
