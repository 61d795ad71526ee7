"""The composition root of the front: chooses and connects the implementations."""

from __future__ import annotations

from typing import Final

from api.ports import Cell, Ports
from shared.auth.admission import AdmissionCache
from shared.auth.rate import RateLimiter, parse_rate
from shared.auth.sharded_admission import ShardedAdmissionCache
from shared.auth.studio_sessions import SessionLimits, StudioSessions
from shared.batches.lifecycle import BatchLifecycle
from shared.blobs.factory import open_store
from shared.db.session import open_database
from shared.jobs.intake import JobIntake
from shared.jobs.lifecycle import JobLifecycle
from shared.outbound import Fetcher
from shared.queue.admission_places import AdmissionPlaces
from shared.queue.broker import Broker
from shared.queue.claims import Claims
from shared.queue.clocks import FarmClock
from shared.queue.completions import CompletionNotices
from shared.queue.connection import connect_each
from shared.queue.drains import Drains
from shared.queue.preview_sessions import PreviewSessions
from shared.queue.publisher import Publisher
from shared.queue.replies import Replies
from shared.queue.shard_layout import make_checks
from shared.queue.slices import SliceQueue
from shared.queue.states import JobStates
from shared.queue.usage_replay import UsageReplay
from shared.settings import Settings
from shared.shards import PerShard, ShardAddress, slots_of
from shared.telemetry import metrics
from shared.telemetry.metrics import Exporter
from shared.telemetry.process import ProcessMetrics
from shared.telemetry.tracer_factory import open_tracer
from shared.templates.pins import TemplatePins, font_pins, image_pins

# A request is answered 503 within 5 s when the database does not answer.
_STATEMENT_SECONDS: Final = 4.0


def wire(settings: Settings) -> Ports:
    """Build the ports from the settings. Nothing is connected yet: without a service the front
    starts and responds 503.

    Raises:
        WrongSetting: no key for secrets is set, or single sign-on lacks a setting.
    """
    shards = settings.shards
    servers = connect_each(shards)
    publishers = PerShard(shards, lambda shard: Publisher(settings.broker_of(shard)))
    clock = FarmClock.of_shards(shards, kind="front")
    connections = settings.api_processes * settings.api_connections
    counted = ProcessMetrics(
        Exporter.FRONT,
        {metrics.CONNECTIONS: lambda: connections, metrics.CLOCK_AHEAD: clock.read_skews},
    )
    blobs = open_store(settings.blob_url, observer=counted)
    database = open_database(
        settings.database_url,
        connections=settings.database_connections,
        observer=counted,
        statement_seconds=_STATEMENT_SECONDS,
    )

    def make_cell(shard: ShardAddress) -> Cell:
        redis, slots = servers.get(shard.name), slots_of(shard.name, servers.names)
        publisher = publishers.get(shard.name)
        claims, broker, endings = (
            Claims(redis, blobs),
            Broker(redis, publisher),
            CompletionNotices(redis),
        )
        queue = SliceQueue(redis, publisher, render_budget=settings.render_budget)
        batches = BatchLifecycle(database, blobs, queue, endings, slots)
        return Cell(
            template_pins=TemplatePins(redis, observer=counted),
            image_pins=image_pins(redis),
            font_pins=font_pins(redis),
            rates=RateLimiter(redis),
            enforces_default_rates=settings.enforce_rate_limits,
            broker=broker,
            replies=Replies(redis, claims),
            places=AdmissionPlaces(redis, most_waiting=settings.max_waiting),
            previews=PreviewSessions(redis),
            usage_replay=UsageReplay(redis),
            drains=Drains(redis),
            claims=claims,
            batches=batches,
            intake=JobIntake(database, broker, batches),
            job_lifecycle=JobLifecycle(database, JobStates(redis), endings, blobs, slots),
            clock_ahead=lambda: clock.ahead_of(shard.name),
        )

    return Ports(
        database=database,
        admissions=ShardedAdmissionCache(
            PerShard(
                shards, lambda shard: AdmissionCache(servers.get(shard.name), observer=counted)
            )
        ),
        sessions=StudioSessions(
            servers,
            SessionLimits(
                idle_seconds=settings.studio_idle_minutes * 60,
                absolute_seconds=settings.studio_session_hours * 3600,
            ),
        ),
        blobs=blobs,
        fetcher=Fetcher(settings.fetcher_url),
        secret_cipher=settings.secret_cipher,
        cells=PerShard(shards, make_cell),
        queue_checks=make_checks(shards, servers.get, lambda shard: publishers.get(shard).check()),
        metrics=counted,
        clock=clock,
        traces=open_tracer("front", is_on=settings.traces),
        render_budget=settings.render_budget,
        preview_budget=settings.preview_budget,
        preview_rate=parse_rate(settings.preview_rate),
        max_unfinished_batches=settings.max_unfinished_batches,
        cors_origins=frozenset(settings.cors_origins.split()),
        studio_local_http=settings.studio_local_http,
        single_sign_on=settings.single_sign_on,
    )
