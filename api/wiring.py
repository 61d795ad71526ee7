"""The composition root of the front: the one place that chooses the parts."""

from __future__ import annotations

from api.ports import Ports
from shared.batch_flow import BatchFlow
from shared.blobs.store import open_store
from shared.buckets.admission import AdmissionCache
from shared.buckets.pins import TemplatePins, image_pins
from shared.buckets.rate import RateLimiter
from shared.db.session import open_database
from shared.job_flow import JobFlow
from shared.job_intake import Intake
from shared.outbound import Outbound
from shared.queue.broker import Broker
from shared.queue.claims import Claims
from shared.queue.connection import assert_durable, connect
from shared.queue.drains import Drains
from shared.queue.endings import Endings
from shared.queue.replies import Replies
from shared.queue.slices import SliceQueue
from shared.queue.states import JobStates
from shared.settings import Settings
from shared.telemetry.front import FrontMetrics
from shared.telemetry.traces import open_traces


def wire(settings: Settings) -> Ports:
    """Make the parts as the settings say. Nothing is connected yet: a part that is away makes
    503s, not a front that does not start.
    """
    metrics = FrontMetrics(
        settings.metrics_dir, threads=settings.api_processes * settings.api_threads
    )
    redis = connect(settings.redis_url)
    blobs = open_store(settings.blob_url, watch=metrics)
    claims = Claims(redis, blobs)
    broker = Broker(redis)
    database = open_database(settings.database_url, watch=metrics)
    queue = SliceQueue(redis, render_budget=settings.render_budget)
    return Ports(
        database=database,
        admissions=AdmissionCache(redis, watch=metrics),
        template_pins=TemplatePins(redis, watch=metrics),
        image_pins=image_pins(redis),
        rates=RateLimiter(redis) if settings.enforce_rate_limits else None,
        broker=broker,
        replies=Replies(redis, claims),
        drains=Drains(redis),
        claims=claims,
        blobs=blobs,
        batches=BatchFlow(database, blobs, queue, Endings(redis)),
        outbound=Outbound(allow_private=settings.outbound_allow_private),
        intake=Intake(database, broker),
        job_flow=JobFlow(database, JobStates(redis), Endings(redis), blobs),
        check_queue=lambda: assert_durable(redis),
        metrics=metrics,
        traces=open_traces("front", is_on=settings.traces),
        render_budget=settings.render_budget,
    )
