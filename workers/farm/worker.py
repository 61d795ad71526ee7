"""The render worker as a Celery application: its tasks, and what a worker sets up by signals."""

from __future__ import annotations

import gc
import os
import sys
import warnings
from collections.abc import Callable
from typing import Any, Final

from celery import Celery
from celery.exceptions import CPendingDeprecationWarning
from celery.signals import (
    setup_logging,
    task_rejected,
    task_unknown,
    worker_init,
    worker_process_init,
    worker_process_shutdown,
    worker_shutdown,
)
from kombu.entity import Exchange, Queue

from shared.batch_flow import BatchFlow
from shared.blobs.store import open_store
from shared.buckets.admission import AdmissionCache
from shared.buckets.pins import font_pins, image_pins
from shared.db.session import open_database
from shared.errors import Unavailable
from shared.job_flow import JobFlow
from shared.outbound import Fetcher
from shared.queue.app import create_app
from shared.queue.charges import Charges
from shared.queue.claims import Claims
from shared.queue.clocks import FarmClock
from shared.queue.commits import Commits
from shared.queue.connection import UnfitRedisError, connect
from shared.queue.endings import Endings
from shared.queue.layout import Layout, assert_shard
from shared.queue.messages import NOT_A_TASK, UNKNOWN_TASK
from shared.queue.publisher import Publisher
from shared.queue.slices import SliceQueue
from shared.queue.states import JobStates
from shared.queue.sums import count_dropped
from shared.settings import Settings, WrongSetting, get_settings
from shared.shards import slots_of
from shared.telemetry.log import get_logger, set_up_logging
from shared.telemetry.probe import start_probe
from shared.telemetry.totals import Tally
from shared.telemetry.traces import open_traces
from shared.telemetry.worker import WorkerMetrics
from workers.engine.layout.safety import UnsafeLibraryError, assert_safe_libraries
from workers.farm.attendance import Attendance, DrainStep
from workers.farm.batches.desk import Desk
from workers.farm.batches.tasks import register_batch_tasks
from workers.farm.budget import die_with_parent, limit_memory
from workers.farm.children import Children, ChildWatch
from workers.farm.fonts import StoredFonts
from workers.farm.resources import Images, Templates
from workers.farm.run import Engine, Farm
from workers.farm.stopping import Stopper
from workers.farm.tasks import register_tasks
from workers.farm.watchdog import Watchdog

# A document's rows and runs are many, long-lived and hardly ever in cycles: the stock threshold of
# 700 searches them over and over (a 5,000-row statement: 491 ms, here 413, with no more memory).
_COLLECT_EVERY: Final = 20_000

log: Final = get_logger(__name__)


def create_worker_app(
    engine: Engine, *, rehearse: Callable[[Engine], None] | None = None
) -> Celery:
    """Return the application of a worker with this engine; it exits 1 with one line on stderr when
    the worker must not start.

    `rehearse` is called before there are children, which share what it loads. Importing the
    application starts nothing: `celery -A … inspect` has it too.
    """
    try:
        settings = get_settings()
        app = create_app(settings.broker_url_of(settings.own_shard))
    except WrongSetting as error:
        sys.exit(f"pressroom worker: {error}")
    app.conf.update(
        # In order of precedence: a free worker takes a waiting render before a validation.
        task_queues=[_make_queue(name) for name in settings.worker_queues.split(",")],
        worker_concurrency=settings.worker_concurrency,
        worker_max_tasks_per_child=settings.child_max_jobs,
        # No message waits for a slot in a worker while another worker has one free.
        worker_prefetch_multiplier=1,
        # What runs goes on without the broker, and its message that comes again finds it ended.
        worker_cancel_long_running_tasks_on_connection_loss=False,
        worker_enable_remote_control=True,
        worker_send_task_events=settings.task_events,
        worker_hijack_root_logger=False,
        worker_redirect_stdouts=False,
    )
    _Worker(settings, engine, rehearse).set_up(app)
    return app


def _make_queue(name: str) -> Queue:
    """Return a queue with an exchange of its own name, as Celery makes one for a publisher."""
    return Queue(name, Exchange(name), name)  # type: ignore[no-untyped-call] # kombu has no types


class _Worker:
    """A worker's main process, from when Celery has begun to set it up."""

    def __init__(
        self, settings: Settings, engine: Engine, rehearse: Callable[[Engine], None] | None
    ) -> None:
        self._settings = settings
        self._engine = engine
        self._rehearse = rehearse

    def set_up(self, app: Celery) -> None:
        """Register the tasks, and what is to happen when a worker of the application starts."""
        child = _Child(self._settings, self._engine)
        register_tasks(app, child.get_farm)
        register_batch_tasks(app, child.get_farm, child.get_desk)
        # Whoever answers this signal has set the log up: Celery would put its own level over ours.
        setup_logging.connect(self._set_up_log, weak=False)
        worker_init.connect(self._start, weak=False)

    def _set_up_log(self, **_: Any) -> None:
        set_up_logging(level=self._settings.log_level, log_format=self._settings.log_format)

    def _start(self, sender: Any, **_: Any) -> None:
        settings = self._settings
        try:
            _assert_fit(settings)
        except (
            WrongSetting,
            UnfitRedisError,
            UnsafeLibraryError,
            Unavailable,
            ValueError,
        ) as error:
            sys.exit(f"pressroom worker: {error}")
        if self._rehearse is not None:
            self._rehearse(self._engine)
        # Its children inherit it: beside a busy interactive pool, batches take what is left.
        os.nice(settings.worker_nice)
        redis = connect(settings.own_shard.url)
        clock = FarmClock.of_shards([settings.own_shard], kind="worker")
        clock.start()
        slots = sender.concurrency
        attendance = Attendance(redis, slots=slots)
        watched = WorkerMetrics(
            slots=slots,
            child_memory_mb=settings.child_memory_mb,
            count_busy=attendance.count_busy,
            read_skews=lambda: clock.skews,
        )
        children = Children(watched)
        watched.watch(children.find)
        sender.app.steps["consumer"].add(ChildWatch.of(children))
        sender.app.steps["consumer"].add(DrainStep.of(attendance))
        worker_shutdown.connect(lambda **_: attendance.end(), weak=False)
        task_unknown.connect(lambda **_: count_dropped(redis, UNKNOWN_TASK), weak=False)
        task_rejected.connect(lambda **_: count_dropped(redis, NOT_A_TASK), weak=False)
        start_probe(
            settings.worker_metrics_port, watched.registry, address=settings.metrics_address
        )
        # At each reconnect Celery warns of a default that is set here.
        warnings.filterwarnings("ignore", category=CPendingDeprecationWarning)
        # What is loaded by now is shared with the children instead of copied by their collector.
        gc.freeze()


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
        clock=FarmClock({settings.own_shard.name: redis}),
    )


def assemble_desk(settings: Settings, *, tally: Tally) -> Desk:
    """Make what a worker process works batches off with."""
    redis = connect(settings.own_shard.url)
    blobs = open_store(settings.blob_url, watch=tally)
    database = open_database(
        settings.database_url, connections=settings.database_connections, watch=tally
    )
    publisher = Publisher(settings.broker_url_of(settings.own_shard))
    queue = SliceQueue(redis, publisher, render_budget=settings.render_budget)
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


def _assert_fit(settings: Settings) -> None:
    assert_safe_libraries()
    open_traces("worker", is_on=settings.traces).close()  # not installed is told here
    open_store(settings.blob_url)
    shard = settings.own_shard
    redis = connect(shard.url)
    try:
        assert_shard(redis, Layout.of(shard, settings.shards))
    finally:
        redis.close()
