"""The worker as a Celery application: its tasks, what they reach, and the set-up of its processes by signals."""

from __future__ import annotations

import gc
import os
import re
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from shutil import rmtree
from typing import Any, Final
from urllib.parse import unquote, urlsplit

from billiard.process import current_process
from celery import Celery
from celery.exceptions import CPendingDeprecationWarning
from celery.signals import (
    celeryd_init,
    setup_logging,
    task_rejected,
    task_unknown,
    worker_init,
    worker_process_init,
    worker_process_shutdown,
    worker_shutdown,
)
from kombu.entity import Exchange, Queue

from shared.blobs.factory import open_store
from shared.broker_url import is_amqp
from shared.db.session import open_database
from shared.errors import MisconfiguredPartError, Unavailable
from shared.jobs.records import BodyKind
from shared.limits import MB
from shared.outbound import Fetcher
from shared.parent_death import die_with_parent
from shared.queue.app import create_app, make_queue
from shared.queue.clocks import FarmClock
from shared.queue.commits import Commits
from shared.queue.connection import assert_volatile, connect
from shared.queue.names import QUEUES
from shared.queue.queue_factory import declare_queues
from shared.queue.queues import NOT_A_TASK, UNKNOWN_TASK, WRONG_ARGUMENTS
from shared.queue.shard_layout import ShardLayout, assert_shard
from shared.queue.slice_commits import SliceCommits
from shared.settings import Settings, WrongSetting, get_settings
from shared.shard_services import ShardServices
from shared.signer import SignerClient
from shared.startup import open_tracer
from shared.telemetry import metrics
from shared.telemetry.log import get_logger, set_up_logging
from shared.telemetry.metrics import Exporter
from shared.telemetry.observer import NULL_OBSERVER, Observer
from shared.telemetry.probe import start_probe
from shared.telemetry.process import ProcessMetrics, share_counts
from workers.batches.documents import BatchContext
from workers.engine.einvoices import InvoiceJudge
from workers.engine.layout.safety import UnsafeLibraryError, assert_safe_libraries
from workers.farm.steps import (
    EXIT_REASONS,
    Children,
    ChildWatch,
    DrainStep,
    PresenceReporter,
    RedeliveryStep,
    resident_bytes,
)
from workers.farm.tasks import register_tasks
from workers.render import confinement
from workers.render.budget import Stopper, Watchdog
from workers.render.confinement import (
    allow_cpu_time,
    clear_environment,
    confine,
    share_malloc_arena,
)
from workers.render.inspection import inspect_invoice
from workers.render.resources import Images, StoredFonts, Templates
from workers.render.run import Engine, RenderContext
from workers.rules.client import RuleClient, RuleProcess
from workers.rules.judging import has_processor

_DNS_PORT: Final = 53
_PORTS: Final = {
    "amqp": 5672,
    "amqps": 5671,
    "http": 80,
    "postgresql": 5432,
    "redis": 6379,
    "rediss": 6379,
    "s3": 443,
}


def list_written_folders(settings: Settings) -> Iterator[Path]:
    """Yield the folders that a rendering process writes to."""
    yield Path("/dev")
    yield Path(tempfile.gettempdir())
    if settings.metrics_dir is not None:
        yield Path(settings.metrics_dir).parent  # the worker's own is beside it
    if settings.blob_url.startswith("file://"):
        yield Path(unquote(urlsplit(settings.blob_url).path))
    if settings.database_url.startswith("sqlite"):
        yield Path(urlsplit(settings.database_url).path[1:]).absolute().parent


def find_called_ports(settings: Settings) -> frozenset[int] | None:
    """Return the TCP ports of the services that a rendering process calls; None with traces.

    A URL may name several hosts: every number after a colon counts, besides the ports of its scheme.
    Variables of OpenTelemetry's own name the target of traces.
    """
    if settings.traces:
        return None
    shard = settings.own_shard
    urls = [
        *(shard.url, settings.broker_of(shard), settings.database_url, settings.blob_url),
        *(settings.fetcher_url, settings.signer_url, settings.memory_redis_url),
    ]
    named = (int(port) for url in urls for port in re.findall(r":(\d{1,5})\b", url))
    schemes = (part for url in urls for part in urlsplit(url).scheme.split("+"))
    return frozenset({_DNS_PORT, *named, *(_PORTS[part] for part in schemes if part in _PORTS)})


# Rows and runs of a document are many, long-lived and rarely in cycles: the default threshold of 700
# traverses them repeatedly (a 5,000-row statement: 491 ms, here 413 ms, with the same memory).
_COLLECT_EVERY: Final = 20_000

log: Final = get_logger(__name__)


def create_worker_app(engine: Engine, *, warm_up: Callable[[Engine], None] | None = None) -> Celery:
    """Return the application of a worker with this engine.

    It exits with status 1 and one line on stderr if the worker must not start.

    `warm_up` is called before the children are forked, which share the loaded modules and caches. Importing the
    application starts nothing, since `celery -A … inspect` imports it too.
    """
    try:
        settings = get_settings()
        app = create_app(settings.broker_of(settings.own_shard))
    except WrongSetting as error:
        sys.exit(f"pressroom worker: {error}")
    app.conf.update(
        # In order of priority: a free worker takes a waiting render before a validation.
        task_queues=[
            _make_queue(name, settings.broker_of(settings.own_shard))
            for name in settings.worker_queues.split(",")
        ],
        worker_concurrency=settings.worker_concurrency,
        worker_max_tasks_per_child=settings.child_max_jobs,
        # No message is reserved by a busy worker while another worker has a free slot.
        worker_prefetch_multiplier=1,
        # Running tasks continue without the broker; when redelivered, their jobs have ended.
        worker_cancel_long_running_tasks_on_connection_loss=False,
        worker_enable_remote_control=True,
        worker_send_task_events=settings.task_events,
        worker_hijack_root_logger=False,
        worker_redirect_stdouts=False,
    )
    _Worker(settings, engine, warm_up).set_up(app)
    return app


def _make_queue(name: str, broker_url: str) -> Queue:
    """Return a queue with an exchange of the same name, as Celery declares it for a publisher."""
    if is_amqp(broker_url):
        return make_queue(name)
    return Queue(name, Exchange(name), name)  # type: ignore[no-untyped-call] # kombu has no types


class _Worker:
    """The main process of a worker, set up by Celery's signals."""

    def __init__(
        self, settings: Settings, engine: Engine, warm_up: Callable[[Engine], None] | None
    ) -> None:
        self._settings = settings
        self._engine = engine
        self._warm_up = warm_up
        self._child = _Child(settings, engine)

    def set_up(self, app: Celery) -> None:
        """Register the tasks and the signal handlers."""
        child = self._child
        register_tasks(app, child.get_context)
        # Celery warns about running as root before it sets up logging.
        celeryd_init.connect(self._set_up_log, weak=False)
        # A handler of this signal keeps Celery from setting its own log level.
        setup_logging.connect(self._set_up_log, weak=False)
        worker_init.connect(self._start, weak=False)

    def _set_up_log(self, **_: Any) -> None:
        set_up_logging(level=self._settings.log_level, log_format=self._settings.log_format)

    def _start(self, sender: Any, **_: Any) -> None:
        share_malloc_arena()  # before the first thread
        settings = self._settings
        try:
            _check_environment(settings)
        except (
            WrongSetting,
            MisconfiguredPartError,
            UnsafeLibraryError,
            Unavailable,
            ValueError,
        ) as error:
            sys.exit(f"pressroom worker: {error}")
        # The settings are read: no document finds the addresses and secrets of the stores there.
        clear_environment("PRESSROOM_")
        if self._warm_up is not None:
            self._warm_up(self._engine)
        # Children inherit it: batches only use the CPU time that a busy interactive pool leaves.
        os.nice(settings.worker_nice)
        self._child.judge = _start_rules(settings)
        redis = connect(settings.own_shard.url)
        clock = FarmClock.of_shards([settings.own_shard], kind="worker")
        clock.start()
        slots = sender.concurrency
        is_on_amqp = is_amqp(settings.broker_of(settings.own_shard))
        reporter = PresenceReporter(
            redis, slots=slots, tracks_age=is_on_amqp, landlock=confinement.find_version()
        )
        if settings.metrics_dir is not None and settings.worker_metrics_port:
            _share_counts(settings.metrics_dir, settings.worker_metrics_port)
        children = Children()
        self._child.observer = children.observer = counted = ProcessMetrics(
            Exporter.WORKER,
            {
                metrics.WORKER_UP: lambda: 1,
                metrics.SLOTS: lambda: slots,
                metrics.SLOTS_BUSY: reporter.count_busy,
                metrics.WORKER_MEMORY: lambda: resident_bytes(os.getpid()),
                metrics.CHILD_MEMORY: children.measure_memory,
                metrics.CHILD_MEMORY_LIMIT: lambda: settings.child_memory_mb * MB,
                metrics.CLOCK_AHEAD: clock.read_skews,
            },
            labels={
                metrics.CHILD_EXITS: EXIT_REASONS,
                metrics.MESSAGES_DROPPED: (NOT_A_TASK, UNKNOWN_TASK, WRONG_ARGUMENTS),
            },
        )
        sender.app.steps["consumer"].add(ChildWatch.of(children))
        sender.app.steps["consumer"].add(DrainStep.of(reporter))
        if is_on_amqp:
            sender.app.steps["consumer"].add(RedeliveryStep.of(Commits(redis)))
        worker_shutdown.connect(lambda **_: reporter.end(), weak=False)
        task_unknown.connect(
            lambda **_: counted.count(metrics.MESSAGES_DROPPED, UNKNOWN_TASK), weak=False
        )
        task_rejected.connect(
            lambda **_: counted.count(metrics.MESSAGES_DROPPED, NOT_A_TASK), weak=False
        )
        start_probe(
            settings.worker_metrics_port, counted.exposition, address=settings.metrics_address
        )
        # Celery warns at each reconnect about a default that is set here.
        warnings.filterwarnings("ignore", category=CPendingDeprecationWarning)
        # Loaded objects are shared with the children, not copied when their collector touches them.
        gc.freeze()
        gc.enable()


def _start_rules(settings: Settings) -> RuleClient | None:
    """Prepare the process of rule packs, which starts with the first invoice; None without the extra."""
    if not has_processor():
        return None
    process = RuleProcess(settings.rules)
    process.start()
    return RuleClient(process.address)


def _share_counts(metrics_dir: str, port: int) -> None:
    """Share the counts of the children by slot, since children are replaced often."""
    folder = Path(f"{metrics_dir}-worker-{port}")
    share_counts(folder, lambda: getattr(current_process(), "index", "main"))
    worker_shutdown.connect(lambda **_: rmtree(folder, ignore_errors=True), weak=False)


def assemble(
    settings: Settings,
    *,
    engine: Engine,
    observer: Observer = NULL_OBSERVER,
    judge: InvoiceJudge | None = None,
) -> BatchContext:
    """Return the context of a child process, with connections made from the settings."""
    blobs = open_store(settings.blob_url, observer=observer)
    database = open_database(
        settings.database_url, connections=settings.database_connections, observer=observer
    )
    shard = ShardServices(settings.own_shard, settings, database, blobs, observer=observer)
    render = RenderContext(
        commits=Commits(shard.redis),
        claims=shard.claims,
        templates=Templates(database, engine.prepare, watch=observer),
        images=Images(
            database,
            blobs,
            shard.image_pins,
            fetcher=Fetcher(settings.fetcher_url),
            fonts=StoredFonts(database, blobs, shard.font_pins),
            watch=observer,
        ),
        engine=replace(
            engine,
            inspectors={
                **engine.inspectors,
                BodyKind.INVOICE: partial(inspect_invoice, judge=judge),
            },
        ),
        watchdog=Watchdog(),
        memory_mb=settings.child_memory_mb,
        observer=observer,
        flow=shard.jobs,
        stopper=Stopper(shard.jobs.states.ensure_started),
        traces=open_tracer("worker", is_on=settings.traces),
        clock=FarmClock({settings.own_shard.name: shard.redis}),
        signer=_find_signer(settings),
        judge=judge,
    )
    return BatchContext(
        render=render,
        database=database,
        blobs=blobs,
        queue=shard.slices,
        commits=SliceCommits(shard.redis),
        flow=shard.batches,
        admissions=shard.admissions,
        budget_seconds=settings.render_budget,
    )


def _find_signer(settings: Settings) -> SignerClient | None:
    if not settings.signer_url:
        return None
    return SignerClient(settings.signer_url, budget_seconds=settings.render_budget)


class _Child:
    """The context of one child process, made after the fork."""

    def __init__(self, settings: Settings, engine: Engine) -> None:
        self._settings = settings
        self._engine = engine
        self.observer: Observer = NULL_OBSERVER  # set before the fork
        self.judge: InvoiceJudge | None = None  # too
        self._context: BatchContext | None = None
        self._parent_pid = os.getpid()
        worker_process_init.connect(self._bind, weak=False)
        worker_process_shutdown.connect(self._close, weak=False)

    def get_context(self) -> BatchContext:
        """Return the context, at the start of a task."""
        assert self._context is not None
        allow_cpu_time(10 * self._settings.render_budget)  # an assembly merges 100,000 documents
        return self._context

    def _bind(self, **_: Any) -> None:
        # Connections are opened after the fork: processes must not share them.
        die_with_parent(self._parent_pid)
        settings = self._settings
        confine(
            memory_mb=settings.child_memory_mb,
            cpu_seconds=settings.child_max_jobs * settings.render_budget,
        )
        confinement.restrict(
            writable=list_written_folders(settings), ports=find_called_ports(settings)
        )
        gc.set_threshold(_COLLECT_EVERY)
        self._context = assemble(
            self._settings, engine=self._engine, observer=self.observer, judge=self.judge
        )

    def _close(self, **_: Any) -> None:
        # A child that reaches its maximum of jobs exits without running atexit handlers.
        if self._context is not None:
            self._context.render.traces.close()


def _check_environment(settings: Settings) -> None:
    if settings.rules and not Path(settings.rules).is_dir():
        raise WrongSetting(f"PRESSROOM_RULES: there is no folder {settings.rules[:200]!r}")
    assert_safe_libraries()
    open_tracer("worker", is_on=settings.traces).close()  # raises if it is not installed
    open_store(settings.blob_url)
    shard = settings.own_shard
    with connect(shard.url) as redis:
        assert_shard(redis, ShardLayout.of(shard, settings.shards))
    if settings.memory_redis_url:
        with connect(settings.memory_redis_url) as redis:
            assert_volatile(redis)
    declare_queues(settings.broker_of(shard), QUEUES)
