"""Declarations of all metrics; their prefix is `pressroom_`. A new metric is a new constant here.

The front exports its requests, a worker its jobs, slots and child processes, the maintenance process its
repairs, a webhook process its attempts, a fetcher its fetches, a signer its signatures, and the usage counter, of which there is
one, the state of the whole farm. Label values come from closed sets, except `account`,
whose number a setting limits.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

PREFIX: Final = "pressroom_"
SUCCEEDED: Final = "succeeded"  # the outcome label of a successful job
CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"

_REQUEST_SECONDS: Final = (
    0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0,
)  # fmt: skip
_STAGE_SECONDS: Final = (0.001, 0.0025, *_REQUEST_SECONDS)
_STORE_SECONDS: Final = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 5.0)


class Kind(StrEnum):
    """The type of a metric; the exposed name of a counter ends in `_total`."""

    COUNTER = "counter"
    GAUGE = "gauge"
    HISTOGRAM = "histogram"


class Exporter(StrEnum):
    """The process that exports a metric."""

    FRONT = "front"
    WORKER = "worker"
    COUNTER = "counter"
    STORE_USERS = "front, worker, counter"
    CACHE_USERS = "front, worker"
    MAINTENANCE = "maintenance"
    WEBHOOKS = "webhooks"
    FETCHER = "fetcher"
    SIGNER = "signer"
    ALL = "all"


@dataclass(frozen=True, slots=True, eq=False)  # hashed by identity, for each request
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
        """The name with the prefix, as `prometheus_client` takes it."""
        return PREFIX + self.name

    @property
    def series(self) -> tuple[str, ...]:
        """The names of the metric's series in Prometheus."""
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
    "http_requests", Exporter.FRONT, "Requests completed by the front.", "route", "method", "status"
)
REQUEST_SECONDS: Final = Spec(
    "http_request_duration_seconds",
    Kind.HISTOGRAM,
    Exporter.FRONT,
    "Duration of requests by status class.",
    ("route", "method", "status_class"),
    _REQUEST_SECONDS,
)
IN_PROGRESS: Final = _gauge(
    "http_requests_in_progress", Exporter.FRONT, "Requests in progress in the front."
)
CONNECTIONS: Final = _gauge(
    "http_connections_max",
    Exporter.FRONT,
    "Connections that the front accepts at once, over all its processes.",
)
ERRORS: Final = _counter("http_errors", Exporter.FRONT, "Error responses by kind of error.", "kind")
REFUSALS: Final = _counter(
    "refusals",
    Exporter.FRONT,
    "Requests refused because of a limit of their account: rate, pages, draft_pages or storage.",
    "reason",
)

# --- jobs, wherever they ran --------------------------------------------------------------------
RENDERS: Final = _counter(
    "renders",
    Exporter.WORKER,
    "Renders completed, by body, allowance and outcome: succeeded, or the kind of error.",
    "kind", "allowance", "outcome",
)  # fmt: skip
PAGES: Final = _counter(
    "pages", Exporter.WORKER, "Pages metered, by body and allowance.", "kind", "allowance"
)
VALIDATIONS: Final = _counter(
    "validations", Exporter.WORKER, "Validations completed, by body and outcome.", "kind", "outcome"
)
INSPECTIONS: Final = _counter(
    "inspections", Exporter.WORKER, "Uploads inspected, by kind and outcome.", "kind", "outcome"
)
PREVIEWS: Final = _counter(
    "previews",
    Exporter.WORKER,
    "Previews completed, by outcome, without superseded ones.",
    "outcome",
)
ABANDONED: Final = _counter(
    "renders_abandoned", Exporter.FRONT, "Jobs that timed out in the front."
)
STAGE_SECONDS: Final = Spec(
    "render_stage_seconds",
    Kind.HISTOGRAM,
    Exporter.WORKER,
    "Duration of the stages of a render: queue, merge, layout, finish.",
    ("stage",),
    _STAGE_SECONDS,
)
WAITING: Final = _gauge(
    "queue_waiting", Exporter.COUNTER, "Jobs waiting in the queue.", "queue", "shard"
)
RUNNING: Final = _gauge(
    "queue_running", Exporter.COUNTER, "Jobs held by workers.", "queue", "shard"
)
OLDEST_SECONDS: Final = _gauge(
    "queue_oldest_seconds", Exporter.COUNTER, "Age of the oldest waiting job.", "queue", "shard"
)
DRAINED: Final = _gauge(
    "queue_drained", Exporter.COUNTER, "1 while workers do not consume the queue.", "queue", "shard"
)

PLACES: Final = _gauge(
    "places",
    Exporter.COUNTER,
    "Places of jobs with a waiting client: held (queued or running), waiting (for a place of the account or"
    " the farm), fetching (remote images).",
    "state",
    "shard",
)

MESSAGES_DROPPED: Final = _counter(
    "messages_dropped",
    Exporter.WORKER,
    "Invalid messages removed from queues, by reason: not JSON, not a task, unknown task, too large, wrong"
    " arguments.",
    "reason",
)

# --- workers and their child processes ----------------------------------------------------------
WORKER_UP: Final = _gauge("worker_up", Exporter.WORKER, "1 while the worker runs.")
SLOTS: Final = _gauge("worker_slots", Exporter.WORKER, "Jobs this worker can run at once.")
SLOTS_BUSY: Final = _gauge("worker_slots_busy", Exporter.WORKER, "Jobs running in this worker.")
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
    "Limit of the address space of a child process.",
)
CHILD_STARTS: Final = _counter(
    "worker_child_starts", Exporter.WORKER, "Child processes started by this worker."
)
CHILD_EXITS: Final = _counter(
    "worker_child_exits",
    Exporter.WORKER,
    "Child processes ended, by reason: recycled (including those that Celery reaped first), killed (SIGKILL,"
    " for example out of memory), watchdog (deadline exceeded), terminated, crashed (another signal), failed.",
    "reason",
)

# --- usage --------------------------------------------------------------------------------------
EVENTS_COUNTED: Final = _counter(
    "usage_events", Exporter.COUNTER, "Usage events read from the stream: new or repeated.",
    "result",
)  # fmt: skip
EVENTS_PENDING: Final = _gauge(
    "usage_events_pending", Exporter.COUNTER, "Usage events that are not in the ledger yet."
)
QUEUE_MEMORY: Final = _gauge(
    "queue_memory_bytes", Exporter.COUNTER, "Memory that Redis uses.", "shard"
)
QUEUE_MEMORY_LIMIT: Final = _gauge(
    "queue_memory_limit_bytes",
    Exporter.COUNTER,
    "Memory at which Redis refuses writes (`maxmemory`); 0 means no limit.",
    "shard",
)
EVENTS_DEAD: Final = _gauge("usage_events_dead", Exporter.COUNTER, "Malformed usage events.")
LEDGER_LAG: Final = _gauge(
    "usage_ledger_lag_seconds",
    Exporter.COUNTER,
    "Age of the oldest event that is not in the ledger yet.",
)
ACCOUNT_PAGES: Final = _gauge(
    "account_pages",
    Exporter.COUNTER,
    "Pages of the accounts with the most pages, in their current billing periods.",
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
    "Page limits of the same accounts; absent for accounts without a limit.",
    "account", "allowance",
)  # fmt: skip

# --- stores and caches --------------------------------------------------------------------------
PART_UP: Final = _gauge(
    "part_up",
    Exporter.COUNTER,
    "1 while a server answers: queue (`queue NAME` for each of several shards), database, object_store.",
    "part",
)
STORE_SECONDS: Final = Spec(
    "store_duration_seconds",
    Kind.HISTOGRAM,
    Exporter.STORE_USERS,
    "Duration of units of work of the database (read, write) and of requests to the object store"
    " (put, open, read, delete).",
    ("store", "operation"),
    _STORE_SECONDS,
)
STORE_FAILURES: Final = _counter(
    "store_failures",
    Exporter.STORE_USERS,
    "Units of work and requests that failed because of an outage of their store.",
    "store", "operation",
)  # fmt: skip
CACHE_REQUESTS: Final = _counter(
    "cache_requests",
    Exporter.CACHE_USERS,
    "Cache lookups: hit or miss.",
    "cache", "result",
)  # fmt: skip
BLOB_BYTES: Final = _gauge(
    "blob_bytes", Exporter.COUNTER, "Bytes of all stored images according to their records."
)
BLOB_QUOTA: Final = _gauge(
    "blob_quota_bytes", Exporter.COUNTER, "Quota of the object store in bytes; 0 means no limit."
)
FULL_WORKSPACES: Final = _gauge(
    "workspaces_nearly_full", Exporter.COUNTER, "Workspaces that use 90 % of their quota or more."
)

# --- recorded jobs and maintenance --------------------------------------------------------------
JOBS_UNFINISHED: Final = _gauge(
    "jobs_unfinished",
    Exporter.MAINTENANCE,
    "Unfinished renders accepted with respond-async, without documents of batches.",
)
BATCHES_UNFINISHED: Final = _gauge(
    "batches_unfinished", Exporter.COUNTER, "Unfinished batches.", "shard"
)
DOCUMENTS_LEFT: Final = _gauge(
    "batch_documents_left",
    Exporter.COUNTER,
    "Unfinished documents of batches and accepted renders, queued or not.",
    "shard",
)
OLDEST_BATCH_SECONDS: Final = _gauge(
    "batch_oldest_seconds",
    Exporter.COUNTER,
    "Age of the oldest unfinished batch or accepted render; 0 if there is none.",
    "shard",
)
MAINTENANCE_REPAIRS: Final = _counter(
    "maintenance_repairs", Exporter.MAINTENANCE, "Repairs and cleanups by the maintenance process, by task.",
    "task",
)  # fmt: skip
MAINTENANCE_FAILURES: Final = _counter(
    "maintenance_failures", Exporter.MAINTENANCE, "Failed rounds of a maintenance task, for example in an outage.",
    "task",
)  # fmt: skip

# --- webhooks -----------------------------------------------------------------------------------
WEBHOOK_ATTEMPTS: Final = _counter(
    "webhook_attempts",
    Exporter.WEBHOOKS,
    "Delivery attempts of webhooks and files: delivered, retried, failed (permanently), disabled (by 410).",
    "outcome",
)
WEBHOOKS_PENDING: Final = _gauge(
    "webhooks_pending",
    Exporter.WEBHOOKS,
    "Deliveries waiting for an attempt, of webhooks and of files by kind of their destination.",
    "kind",
)
WEBHOOKS_OLDEST: Final = _gauge(
    "webhooks_oldest_seconds",
    Exporter.WEBHOOKS,
    "Age of the oldest delivery that waits for an attempt; 0 without one.",
    "kind",
)

# --- the fetcher ----------------------------------------------------------------------------------
FETCHES: Final = _counter(
    "fetches",
    Exporter.FETCHER,
    "Outbound requests by outcome: fetched, answered (a status without body), unreachable, too_large,"
    " refused (URL not permitted), busy (no free slot in time), failed.",
    "outcome",
)
FETCH_SECONDS: Final = Spec(
    "fetch_duration_seconds",
    Kind.HISTOGRAM,
    Exporter.FETCHER,
    "Duration of outbound requests, including redirects, without the wait for a slot.",
    (),
    _REQUEST_SECONDS,
)
FETCHES_IN_PROGRESS: Final = _gauge(
    "fetches_in_progress", Exporter.FETCHER, "Outbound requests in progress."
)
FETCHES_WAITING: Final = _gauge(
    "fetches_waiting", Exporter.FETCHER, "Fetch requests waiting for a slot."
)
FETCHER_CACHE_REQUESTS: Final = _counter(
    "fetcher_cache_requests",
    Exporter.FETCHER,
    "Fetch requests by cache result: hit, miss, passed (cache bypassed).",
    "result",
)
FETCHER_CACHE_BYTES: Final = _gauge(
    "fetcher_cache_bytes", Exporter.FETCHER, "Bytes in the fetcher's cache."
)

# --- the signer -----------------------------------------------------------------------------------
SIGNATURES: Final = _counter(
    "signatures",
    Exporter.SIGNER,
    "Requests to sign a file by outcome: signed, refused (no such certificate, or the file cannot be signed),"
    " unstamped (no time stamp), busy (no free slot in time), failed.",
    "outcome",
)
SIGNATURE_SECONDS: Final = Spec(
    "signature_duration_seconds",
    Kind.HISTOGRAM,
    Exporter.SIGNER,
    "Duration of requests to sign a file, including the wait for a slot and for a time stamp.",
    (),
    _REQUEST_SECONDS,
)

CLOCK_AHEAD: Final = _gauge(
    "clock_ahead_seconds",
    Exporter.ALL,
    "Offset of the machine's clock to that of Redis; negative if it is behind. Exported by the front, the"
    " workers, the maintenance process and the counter.",
    "shard",
)
BUILD_INFO: Final = _gauge("build_info", Exporter.ALL, "The running version.", "part", "version")

ALL: Final[tuple[Spec, ...]] = tuple(
    value for value in list(globals().values()) if isinstance(value, Spec)
)


def counted_by(exporter: Exporter) -> tuple[Spec, ...]:
    """Return the metrics that a process counts; its other gauges are read at each scrape."""
    return tuple(
        spec
        for spec in ALL
        if exporter in spec.exporter.split(", ")
        and (spec.kind is not Kind.GAUGE or spec is IN_PROGRESS)
    )
