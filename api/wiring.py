"""The composition root of the front: the one place that chooses the parts."""

from __future__ import annotations

from api.ports import Cell, Ports
from shared.batch_flow import BatchFlow
from shared.blobs.store import open_store
from shared.buckets.admission import AdmissionCache
from shared.buckets.keys import KeyStates
from shared.buckets.pins import TemplatePins, font_pins, image_pins
from shared.buckets.rate import RateLimiter
from shared.db.session import open_database
from shared.job_flow import JobFlow
from shared.job_intake import Intake
from shared.outbound import Fetcher
from shared.queue.broker import Broker
from shared.queue.claims import Claims
from shared.queue.clocks import FarmClock
from shared.queue.connection import connect_each
from shared.queue.drains import Drains
from shared.queue.endings import Endings
from shared.queue.layout import make_checks
from shared.queue.publisher import Publisher
from shared.queue.recall import Recall
from shared.queue.replies import Replies
from shared.queue.slices import SliceQueue
from shared.queue.states import JobStates
from shared.settings import Settings
from shared.shards import PerShard, ShardAddress, slots_of
from shared.telemetry.front import FrontMetrics
from shared.telemetry.traces import open_traces


def wire(settings: Settings) -> Ports:
    """Make the parts as the settings say. Nothing is connected yet: a part that is away makes
    503s, not a front that does not start.

    Raises:
        WrongSetting: no key for secrets is set.
    """
    shards = settings.shards
    servers = connect_each(shards)
    clock = FarmClock.of_shards(shards, kind="front")
    metrics = FrontMetrics(
        settings.metrics_dir,
        connections=settings.api_processes * settings.api_connections,
        read_skews=lambda: clock.skews,
    )
    blobs = open_store(settings.blob_url, watch=metrics)
    database = open_database(
        settings.database_url, connections=settings.database_connections, watch=metrics
    )

    def make_cell(shard: ShardAddress) -> Cell:
        redis, slots = servers.get(shard.name), slots_of(shard.name, servers.names)
        publisher = Publisher(settings.broker_url_of(shard))
        claims, broker, endings = Claims(redis, blobs), Broker(redis, publisher), Endings(redis)
        queue = SliceQueue(redis, publisher, render_budget=settings.render_budget)
        batches = BatchFlow(database, blobs, queue, endings, slots)
        return Cell(
            template_pins=TemplatePins(redis, watch=metrics),
            image_pins=image_pins(redis),
            font_pins=font_pins(redis),
            rates=RateLimiter(redis),
            enforces_default_rates=settings.enforce_rate_limits,
            broker=broker,
            replies=Replies(redis, claims),
            recall=Recall(redis),
            drains=Drains(redis),
            claims=claims,
            batches=batches,
            intake=Intake(database, broker, batches),
            job_flow=JobFlow(database, JobStates(redis), endings, blobs, slots),
            clock_ahead=lambda: clock.ahead_of(shard.name),
        )

    return Ports(
        database=database,
        admissions=KeyStates(
            PerShard(shards, lambda shard: AdmissionCache(servers.get(shard.name), watch=metrics))
        ),
        blobs=blobs,
        fetcher=Fetcher(settings.fetcher_url),
        secrets=settings.secret_cipher,
        cells=PerShard(shards, make_cell),
        queue_checks=make_checks(shards, servers.get),
        metrics=metrics,
        clock=clock,
        traces=open_traces("front", is_on=settings.traces),
        render_budget=settings.render_budget,
        max_unfinished_batches=settings.max_unfinished_batches,
        cors_origins=frozenset(settings.cors_origins.split()),
    )
