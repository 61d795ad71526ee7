"""The composition root of the front: chooses and connects the implementations."""

from __future__ import annotations

from typing import Final

from api.ports import Cell, Ports
from shared.auth.admission import ShardedAdmissionCache
from shared.auth.studio_sessions import SessionLimits, StudioSessions
from shared.blobs.factory import open_store
from shared.db.session import open_database
from shared.outbound import Fetcher
from shared.queue.clocks import FarmClock
from shared.queue.shard_layout import make_checks, make_memory_check
from shared.settings import Settings
from shared.shards import PerShard
from shared.startup import open_tracer
from shared.telemetry import metrics
from shared.telemetry.metrics import Exporter
from shared.telemetry.process import ProcessMetrics

# A request is answered 503 within 5 s when the database does not answer.
_STATEMENT_SECONDS: Final = 4.0


def wire(settings: Settings) -> Ports:
    """Build the ports from the settings. Nothing is connected yet: without a service the front
    starts and responds 503.

    Raises:
        WrongSetting: no key for secrets is set.
    """
    shards = settings.shards
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

    cells = PerShard(
        shards, lambda shard: Cell(shard, settings, database, blobs, observer=counted, clock=clock)
    )
    return Ports(
        settings=settings,
        database=database,
        admissions=ShardedAdmissionCache(cells.map(lambda cell: cell.admissions)),
        sessions=StudioSessions(
            cells.map(lambda cell: cell.redis),
            SessionLimits(
                idle_seconds=settings.studio_idle_minutes * 60,
                absolute_seconds=settings.studio_session_hours * 3600,
            ),
        ),
        blobs=blobs,
        fetcher=Fetcher(settings.fetcher_url),
        secret_cipher=settings.secret_cipher,
        cells=cells,
        queue_checks=make_checks(
            shards,
            lambda shard: cells.get(shard).redis,
            lambda shard: cells.get(shard).publisher.check(),
        ),
        memory_checks=make_memory_check(settings.memory_redis_url),
        metrics=counted,
        clock=clock,
        traces=open_tracer("front", is_on=settings.traces),
    )
