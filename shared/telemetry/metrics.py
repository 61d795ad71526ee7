"""Every metric of the product, declared once; the prefix of all is `pressroom_`.

Who exports what: the front its own requests, each worker its slots and child processes, each
keeper its repairs, each deliverer its attempts, each fetcher its fetches, and the usage counter,
of which there is one, what the whole farm did
(queueing.md 6). Label values come
from closed sets; only `account` does not, and its number is bounded by a setting.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

PREFIX: Final = "pressroom_"
CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"

_REQUEST_SECONDS: Final = (
    0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0,
)  # fmt: skip
_STAGE_SECONDS: Final = (0.001, 0.0025, *_REQUEST_SECONDS)
_STORE_SECONDS: Final = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 5.0)


class Kind(StrEnum):
    """What a metric is; a counter's name gets `_total` when it is written."""

    COUNTER = "counter"
    GAUGE = "gauge"
    HISTOGRAM = "histogram"


class Exporter(StrEnum):
    """Whose `/metrics` has the metric."""

    FRONT = "front"
    WORKER = "worker"
    COUNTER = "counter"
    FRONT_AND_COUNTER = "front, counter"  # the counter's are the workers' and its own
    KEEPER = "keeper"
    HOOKS = "hooks"
    FETCHER = "fetcher"
    ALL = "all"


@dataclass(frozen=True, slots=True)
class Spec:
    """One metric. `name` is without the prefix, and without a counter's `_total`."""

    name: str
    kind: Kind
    exporter: Exporter
    text: str
    labels: tuple[str, ...] = ()
    buckets: tuple[float, ...] = ()

    @property
    def full_name(self) -> str:
        """Give the name with the prefix, as `prometheus_client` wants it."""
        return PREFIX + self.name

    @property
    def series(self) -> tuple[str, ...]:
        """Give the names under which Prometheus keeps the metric."""
        match self.kind:
            case Kind.COUNTER:
                return (f"{self.full_name}_total",)
            case Kind.GAUGE:
                return (self.full_name,)
            case Kind.HISTOGRAM:
                return tuple(f"{self.full_name}_{part}" for part in ("bucket", "sum", "count"))


def _counter(name: str, exporter: Exporter, text: str, *labels: str) -> Spec:
    return Spec(name, Kind.COUNTER, exporter, text, labels)


def _gauge(name: str, exporter: Exporter, text: str, *labels: str) -> Spec:
    return Spec(name, Kind.GAUGE, exporter, text, labels)


# --- requests ---------------------------------------------------------------------------------
REQUESTS: Final = _counter(
    "http_requests", Exporter.FRONT, "Requests answered by the front.", "route", "method", "status"
)
REQUEST_SECONDS: Final = Spec(
    "http_request_duration_seconds",
    Kind.HISTOGRAM,
    Exporter.FRONT,
    "Time from a request's arrival to its answer, by the first digit of its status.",
    ("route", "method", "status_class"),
    _REQUEST_SECONDS,
)
IN_PROGRESS: Final = _gauge(
    "http_requests_in_progress", Exporter.FRONT, "Requests that hold a thread of the front now."
)
THREADS: Final = _gauge(
    "http_threads", Exporter.FRONT, "Requests the front can hold at once, over its processes."
)
ERRORS: Final = _counter(
    "http_errors", Exporter.FRONT, "Requests answered with the error body, by its kind.", "kind"
)
REFUSALS: Final = _counter(
    "refusals",
    Exporter.FRONT,
    "Requests refused for what their account may use: rate, pages, draft_pages, storage.",
    "reason",
)

# --- jobs, wherever they ran --------------------------------------------------------------------
RENDERS: Final = _counter(
    "renders",
    Exporter.COUNTER,
    "Renders ended, by body, allowance and outcome: succeeded, or the kind of failure.",
    "kind", "allowance", "outcome",
)  # fmt: skip
PAGES: Final = _counter(
    "pages", Exporter.COUNTER, "Pages metered, by body and allowance.", "kind", "allowance"
)
VALIDATIONS: Final = _counter(
    "validations", Exporter.COUNTER, "Validations ended, by body and outcome.", "kind", "outcome"
)
INSPECTIONS: Final = _counter(
    "inspections", Exporter.COUNTER, "Uploads inspected, by kind and outcome.", "kind", "outcome"
)
ABANDONED: Final = _counter(
    "renders_abandoned", Exporter.COUNTER, "Jobs the front gave up at their deadline."
)
STAGE_SECONDS: Final = Spec(
    "render_stage_seconds",
    Kind.HISTOGRAM,
    Exporter.COUNTER,
    "Time of a render's stages: queue, merge, layout, finish.",
    ("stage",),
    _STAGE_SECONDS,
)
WAITING: Final = _gauge(
    "queue_waiting", Exporter.COUNTER, "Jobs no worker has taken.", "queue", "shard"
)
RUNNING: Final = _gauge("queue_running", Exporter.COUNTER, "Jobs a worker holds.", "queue", "shard")
OLDEST_SECONDS: Final = _gauge(
    "queue_oldest_seconds", Exporter.COUNTER, "Age of the oldest waiting job.", "queue", "shard"
)
DRAINED: Final = _gauge(
    "queue_drained", Exporter.COUNTER, "1 while workers leave the queue alone.", "queue", "shard"
)

MESSAGES_DROPPED: Final = _counter(
    "messages_dropped",
    Exporter.COUNTER,
    "What was in a queue and is no message of the farm's, by what is wrong with it: not JSON, not a"
    " task, unknown task, too large, wrong arguments.",
    "reason",
)

# --- workers and their child processes ----------------------------------------------------------
WORKER_UP: Final = _gauge("worker_up", Exporter.WORKER, "1 while the worker runs.")
SLOTS: Final = _gauge("worker_slots", Exporter.WORKER, "Jobs this worker can run at once.")
SLOTS_BUSY: Final = _gauge("worker_slots_busy", Exporter.WORKER, "Jobs this worker runs now.")
WORKER_MEMORY: Final = _gauge(
    "worker_memory_bytes", Exporter.WORKER, "Resident memory of the worker's main process."
)
CHILD_MEMORY: Final = _gauge(
    "worker_child_memory_bytes",
    Exporter.WORKER,
    "Resident memory of the child process in each slot.",
    "slot",
)
CHILD_MEMORY_LIMIT: Final = _gauge(
    "worker_child_memory_limit_bytes",
    Exporter.WORKER,
    "Address space a child process may take before a render in it fails.",
)
CHILD_STARTS: Final = _counter(
    "worker_child_starts", Exporter.WORKER, "Child processes this worker started."
)
CHILD_EXITS: Final = _counter(
    "worker_child_exits",
    Exporter.WORKER,
    "Child processes that ended: recycled, killed (SIGKILL, as for want of memory), watchdog"
    " (past its deadline), terminated, crashed (another signal), failed.",
    "reason",
)

# --- usage --------------------------------------------------------------------------------------
EVENTS_COUNTED: Final = _counter(
    "usage_events", Exporter.COUNTER, "Usage events taken from the stream: new or repeated.",
    "result",
)  # fmt: skip
EVENTS_PENDING: Final = _gauge(
    "usage_events_pending", Exporter.COUNTER, "Usage events not in the ledger yet."
)
EVENTS_DEAD: Final = _gauge(
    "usage_events_dead", Exporter.COUNTER, "Usage events nobody could read."
)
LEDGER_LAG: Final = _gauge(
    "usage_ledger_lag_seconds", Exporter.COUNTER, "Age of the oldest event not in the ledger yet."
)
ACCOUNT_PAGES: Final = _gauge(
    "account_pages",
    Exporter.COUNTER,
    "Pages of an account in its current billing period; of the accounts with the most pages.",
    "account", "allowance",
)  # fmt: skip
ACCOUNT_RENDERS: Final = _gauge(
    "account_renders",
    Exporter.COUNTER,
    "Metered renders of the same accounts in their current billing periods.",
    "account", "allowance",
)  # fmt: skip
ACCOUNT_CAP: Final = _gauge(
    "account_pages_allowed",
    Exporter.COUNTER,
    "Pages at which the same accounts are refused; none for those that never are.",
    "account", "allowance",
)  # fmt: skip

# --- stores and caches --------------------------------------------------------------------------
PART_UP: Final = _gauge(
    "part_up",
    Exporter.COUNTER,
    "1 while a part answers: queue (of several shards each, as `queue NAME`), database, object_store.",
    "part",
)
STORE_SECONDS: Final = Spec(
    "store_duration_seconds",
    Kind.HISTOGRAM,
    Exporter.FRONT_AND_COUNTER,
    "Time of a unit of work of the database (read, write) and of a request to the object store"
    " (put, open, read, delete).",
    ("store", "operation"),
    _STORE_SECONDS,
)
STORE_FAILURES: Final = _counter(
    "store_failures",
    Exporter.FRONT_AND_COUNTER,
    "Units of work and requests that found their store away.",
    "store", "operation",
)  # fmt: skip
CACHE_LOOKS: Final = _counter(
    "cache_requests",
    Exporter.FRONT_AND_COUNTER,
    "Looks into a cache: hit or miss.",
    "cache", "result",
)  # fmt: skip
BLOB_BYTES: Final = _gauge(
    "blob_bytes", Exporter.COUNTER, "Bytes of all stored images, as their records say."
)
BLOB_QUOTA: Final = _gauge(
    "blob_quota_bytes",
    Exporter.COUNTER,
    "Bytes the operator allows the object store; 0 is no limit.",
)
FULL_WORKSPACES: Final = _gauge(
    "workspaces_nearly_full", Exporter.COUNTER, "Workspaces with nine tenths of their room in use."
)

# --- jobs on record, and the keeper -------------------------------------------------------------
JOBS_UNFINISHED: Final = _gauge(
    "jobs_unfinished",
    Exporter.KEEPER,
    "Renders accepted with respond-async that have not ended; documents of batches are not among them.",
)
BATCHES_UNFINISHED: Final = _gauge(
    "batches_unfinished", Exporter.COUNTER, "Batches that have not ended.", "shard"
)
DOCUMENTS_LEFT: Final = _gauge(
    "batch_documents_left",
    Exporter.COUNTER,
    "Documents of unfinished batches that have not ended, wherever they wait.",
    "shard",
)
OLDEST_BATCH_SECONDS: Final = _gauge(
    "batch_oldest_seconds",
    Exporter.COUNTER,
    "Time since the oldest unfinished batch was accepted; 0 without one.",
    "shard",
)
KEEPER_REPAIRS: Final = _counter(
    "keeper_repairs", Exporter.KEEPER, "What the keeper set right or cleaned up, by its duty.",
    "duty",
)  # fmt: skip
KEEPER_FAILURES: Final = _counter(
    "keeper_failures", Exporter.KEEPER, "Rounds of a duty that failed, as while a store was away.",
    "duty",
)  # fmt: skip

# --- webhooks -----------------------------------------------------------------------------------
WEBHOOK_ATTEMPTS: Final = _counter(
    "webhook_attempts",
    Exporter.HOOKS,
    "Attempts to deliver to a webhook: delivered, retried, failed (for good), disabled (by 410).",
    "outcome",
)
WEBHOOKS_PENDING: Final = _gauge(
    "webhooks_pending", Exporter.HOOKS, "Deliveries that wait to be made, or made again."
)

# --- images at addresses --------------------------------------------------------------------------
FETCHES: Final = _counter(
    "fetches",
    Exporter.FETCHER,
    "Ways out: fetched, answered (by a status without bytes), unreachable, too_large, refused (the"
    " address), busy (no turn in time), failed.",
    "outcome",
)
FETCH_SECONDS: Final = Spec(
    "fetch_duration_seconds",
    Kind.HISTOGRAM,
    Exporter.FETCHER,
    "Time of a way out, redirects included, without the wait for a turn.",
    (),
    _REQUEST_SECONDS,
)
FETCHES_IN_PROGRESS: Final = _gauge(
    "fetches_in_progress", Exporter.FETCHER, "Ways out under way now."
)
FETCHES_WAITING: Final = _gauge("fetches_waiting", Exporter.FETCHER, "Asks that wait for a turn.")
FETCHER_LOOKS: Final = _counter(
    "fetcher_cache_requests",
    Exporter.FETCHER,
    "Asks by where they were answered from: hit (what is kept), revalidated (by a 304), miss, passed"
    " (not looked for).",
    "result",
)
FETCHER_KEPT_BYTES: Final = _gauge(
    "fetcher_cache_bytes", Exporter.FETCHER, "Bytes kept of what was fetched."
)

CLOCK_AHEAD: Final = _gauge(
    "clock_ahead_seconds",
    Exporter.ALL,
    "How far the clock of the process's machine is ahead of Redis', below 0 behind. Of the front, the"
    " workers, the keeper and the counter.",
    "shard",
)
BUILD_INFO: Final = _gauge("build_info", Exporter.ALL, "The running version.", "part", "version")

ALL: Final[tuple[Spec, ...]] = tuple(
    value for value in list(globals().values()) if isinstance(value, Spec)
)
# Summed up in Redis by whoever ends a job or counts an event, and read from there.
FARM_TOTALS: Final = (
    RENDERS, PAGES, VALIDATIONS, INSPECTIONS, ABANDONED, MESSAGES_DROPPED, STAGE_SECONDS, EVENTS_COUNTED,
    STORE_SECONDS, STORE_FAILURES, CACHE_LOOKS,
)  # fmt: skip
