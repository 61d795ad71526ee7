"""The render worker: `python -m workers.farm.main` starts one, with its child processes."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable
from typing import Any, Final

from celery.signals import setup_logging, worker_process_init, worker_process_shutdown

from shared.batch_flow import BatchFlow
from shared.blobs.store import open_store
from shared.buckets.admission import AdmissionCache
from shared.buckets.pins import font_pins, image_pins
from shared.db.session import open_database
from shared.job_flow import JobFlow
from shared.outbound import Fetcher
from shared.queue.charges import Charges
from shared.queue.claims import Claims
from shared.queue.clocks import FarmClock
from shared.queue.commits import Commits
from shared.queue.connection import connect
from shared.queue.consumer import create_consumer
from shared.queue.endings import Endings
from shared.queue.layout import Layout, assert_shard
from shared.queue.slices import SliceQueue
from shared.queue.states import JobStates
from shared.settings import Settings, get_settings
from shared.shards import slots_of
from shared.startup import start
from shared.telemetry.probe import start_probe
from shared.telemetry.totals import Tally
from shared.telemetry.traces import open_traces
from shared.telemetry.worker import WorkerMetrics
from workers.engine.layout.safety import UnsafeLibraryError, assert_safe_libraries
from workers.engine.pipeline import prepare_template, render, validate
from workers.farm.batches.desk import Desk
from workers.farm.batches.tasks import register_batch_tasks
from workers.farm.budget import die_with_parent, limit_memory
from workers.farm.children import Children, ChildWatch
from workers.farm.fonts import StoredFonts
from workers.farm.pool import SLOT
from workers.farm.rehearsal import rehearse
from workers.farm.resources import Images, Templates
from workers.farm.run import Engine, Farm
from workers.farm.stopping import Stopper
from workers.farm.tasks import register_tasks
from workers.farm.watchdog import Watchdog

# A document's rows and runs are many, long-lived and hardly ever in cycles: the stock threshold of
# 700 searches them over and over (a 5,000-row statement: 491 ms, here 413, with no more memory).
_COLLECT_EVERY: Final = 20_000


def main() -> None:
    """Run a worker with the document engine until it is told to stop."""
    run_worker(Engine(prepare_template, render, validate), rehearse=rehearse)


def run_worker(engine: Engine, *, rehearse: Callable[[Engine], None] | None = None) -> None:
    """Run a worker with this engine; exit 1 with one line on stderr when it must not start.

    `rehearse` is called before there are children, which share what it loads.
    """
    settings = start("worker", get_settings, _assert_fit, refusals=(UnsafeLibraryError,))
    if rehearse is not None:
        rehearse(engine)
    _serve(settings, engine)


def _serve(settings: Settings, engine: Engine) -> None:
    # Its children inherit it: beside a busy interactive pool, batches take what is left.
    os.nice(settings.worker_nice)
    # Whoever answers this signal has set the log up: Celery would put its own level over ours.
    setup_logging.connect(_leave_log, weak=False)
    app = create_consumer(settings)
    app.conf.worker_pool = "workers.farm.pool:TaskPool"
    app.steps["consumer"].add(ChildWatch)
    child = _Child(settings, engine)
    register_tasks(app, child.get_farm)
    register_batch_tasks(app, child.get_farm, child.get_desk)
    children = Children(app)
    clock = FarmClock.of_shards([settings.own_shard], kind="worker")
    clock.start()
    watched = WorkerMetrics(
        slots=settings.worker_concurrency,
        child_memory_mb=settings.child_memory_mb,
        count_busy=children.count_busy,
        find_children=children.find,
        read_skews=lambda: clock.skews,
    )
    children.tell(watched)
    start_probe(settings.worker_metrics_port, watched.registry, address=settings.metrics_address)
    # What is loaded by now is shared with the children instead of copied by their collector.
    gc.freeze()
    app.worker_main(
        ["--quiet", "worker", "--loglevel=WARNING", "--without-gossip", "--without-mingle",
         "--without-heartbeat"]
    )  # fmt: skip


def assemble(settings: Settings, *, engine: Engine) -> Farm:
    """Make the real parts of a worker process from the settings."""
    tally = Tally()
    redis, slots = connect(settings.own_shard.url), own_slots(settings)
    states = JobStates(redis)
    blobs = open_store(settings.blob_url, watch=tally)
    database = open_database(
        settings.database_url, connections=settings.database_connections, watch=tally
    )
    claims = Claims(redis, blobs)
    flow = JobFlow(database, states, Endings(redis), blobs, slots)
    return Farm(
        commits=Commits(redis),
        claims=claims,
        templates=Templates(database, engine.prepare, watch=tally),
        images=Images(
            database,
            blobs,
            image_pins(redis, watch=tally),
            fetcher=Fetcher(settings.fetcher_url),
            fonts=StoredFonts(database, blobs, font_pins(redis, watch=tally)),
            watch=tally,
        ),
        render=engine.render,
        validate=engine.validate,
        inspectors=engine.inspectors,
        watchdog=Watchdog(),
        memory_mb=settings.child_memory_mb,
        tally=tally,
        flow=flow,
        stopper=Stopper(states.look_after),
        traces=open_traces("worker", is_on=settings.traces),
        slot=SLOT,
        clock=FarmClock({settings.own_shard.name: redis}),
    )


def assemble_desk(settings: Settings, *, tally: Tally) -> Desk:
    """Make what a worker process works batches off with."""
    redis = connect(settings.own_shard.url)
    blobs = open_store(settings.blob_url, watch=tally)
    database = open_database(
        settings.database_url, connections=settings.database_connections, watch=tally
    )
    queue = SliceQueue(redis, render_budget=settings.render_budget)
    return Desk(
        database=database,
        blobs=blobs,
        queue=queue,
        charges=Charges(redis),
        flow=BatchFlow(database, blobs, queue, Endings(redis), own_slots(settings)),
        admissions=AdmissionCache(redis),
        budget_seconds=settings.render_budget,
    )


def own_slots(settings: Settings) -> frozenset[str] | None:
    """Give the slots of the accounts that a worker renders for; None where it does for all."""
    return slots_of(settings.own_shard.name, [shard.name for shard in settings.shards])


class _Child:
    """The farm of one child process, made right after the fork."""

    def __init__(self, settings: Settings, engine: Engine) -> None:
        self._settings = settings
        self._engine = engine
        self._farm: Farm | None = None
        self._desk: Desk | None = None
        self._parent_pid = os.getpid()
        worker_process_init.connect(self._bind, weak=False)
        worker_process_shutdown.connect(self._close, weak=False)

    def get_farm(self) -> Farm:
        assert self._farm is not None
        return self._farm

    def get_desk(self) -> Desk:
        # Made with the first slice: the children of an interactive pool never need one.
        if self._desk is None:
            self._desk = assemble_desk(self._settings, tally=self.get_farm().tally)
        return self._desk

    def _bind(self, **_: Any) -> None:
        # Connections are made here and not before the fork: two processes must not share one.
        die_with_parent(self._parent_pid)
        limit_memory(self._settings.child_memory_mb)
        gc.set_threshold(_COLLECT_EVERY)
        self._farm = assemble(self._settings, engine=self._engine)

    def _close(self, **_: Any) -> None:
        # A child that has had its number of jobs ends without the interpreter's own goodbye.
        if self._farm is not None:
            self._farm.traces.close()


def _leave_log(**_: Any) -> None:
    """Leave the log as it is."""


def _assert_fit(settings: Settings) -> Settings:
    assert_safe_libraries()
    open_traces("worker", is_on=settings.traces).close()  # not installed is told here
    open_store(settings.blob_url)
    shard = settings.own_shard
    redis = connect(shard.url)
    try:
        assert_shard(redis, Layout.of(shard, settings.shards))
    finally:
        redis.close()
    return settings


if __name__ == "__main__":
    main()
