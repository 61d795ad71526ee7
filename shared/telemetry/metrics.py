"""Declarations of all metrics; their prefix is `pressroom_`. A new metric is a line of `metrics.txt`, with a constant here.

The front exports its requests, a worker its jobs, slots and child processes, the maintenance process its
repairs, a webhook process its attempts, a fetcher its fetches, a signer its signatures, and the usage counter, of which there is
one, the state of the whole farm. Label values come from closed sets, except `account`,
whose number a setting limits.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from importlib.resources import files
from typing import Final

PREFIX: Final = "pressroom_"
SUCCEEDED: Final = "succeeded"  # the outcome label of a successful job
CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"

_REQUEST_SECONDS: Final = (
    0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0,
)  # fmt: skip
_STAGE_SECONDS: Final = (0.001, 0.0025, *_REQUEST_SECONDS)
_STORE_SECONDS: Final = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 5.0)
_BUCKETS: Final = {"render_stage_seconds": _STAGE_SECONDS, "store_duration_seconds": _STORE_SECONDS}


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


_METRIC: Final = re.compile(
    r"(?P<kind>\w+) (?P<name>\w+) of (?P<exporter>[\w, ]+?)(?: by (?P<labels>[\w, ]+))?: (?P<text>.+)"
)


def _read_metric(line: str) -> Spec:
    parts = _METRIC.fullmatch(line)
    if parts is None:
        raise ValueError(line)
    kind, labels = Kind(parts["kind"]), parts["labels"]
    return Spec(
        parts["name"],
        kind,
        Exporter(parts["exporter"]),
        parts["text"],
        tuple(labels.split(", ")) if labels else (),
        _BUCKETS.get(parts["name"], _REQUEST_SECONDS) if kind is Kind.HISTOGRAM else (),
    )


ALL: Final = tuple(
    _read_metric(line)
    for line in files(__package__).joinpath("metrics.txt").read_text("utf-8").splitlines()
    if line and not line.startswith("#")
)
_METRICS: Final = {spec.name: spec for spec in ALL}

REQUESTS: Final = _METRICS["http_requests"]
REQUEST_SECONDS: Final = _METRICS["http_request_duration_seconds"]
IN_PROGRESS: Final = _METRICS["http_requests_in_progress"]
CONNECTIONS: Final = _METRICS["http_connections_max"]
ERRORS: Final = _METRICS["http_errors"]
REFUSALS: Final = _METRICS["refusals"]
RENDERS: Final = _METRICS["renders"]
PAGES: Final = _METRICS["pages"]
VALIDATIONS: Final = _METRICS["validations"]
INSPECTIONS: Final = _METRICS["inspections"]
PREVIEWS: Final = _METRICS["previews"]
ABANDONED: Final = _METRICS["renders_abandoned"]
STAGE_SECONDS: Final = _METRICS["render_stage_seconds"]
WAITING: Final = _METRICS["queue_waiting"]
RUNNING: Final = _METRICS["queue_running"]
OLDEST_SECONDS: Final = _METRICS["queue_oldest_seconds"]
DRAINED: Final = _METRICS["queue_drained"]
PLACES: Final = _METRICS["places"]
MESSAGES_DROPPED: Final = _METRICS["messages_dropped"]
WORKER_UP: Final = _METRICS["worker_up"]
SLOTS: Final = _METRICS["worker_slots"]
SLOTS_BUSY: Final = _METRICS["worker_slots_busy"]
WORKER_MEMORY: Final = _METRICS["worker_memory_bytes"]
CHILD_MEMORY: Final = _METRICS["worker_child_memory_bytes"]
CHILD_MEMORY_LIMIT: Final = _METRICS["worker_child_memory_limit_bytes"]
CHILD_STARTS: Final = _METRICS["worker_child_starts"]
CHILD_EXITS: Final = _METRICS["worker_child_exits"]
EVENTS_COUNTED: Final = _METRICS["usage_events"]
EVENTS_PENDING: Final = _METRICS["usage_events_pending"]
QUEUE_MEMORY: Final = _METRICS["queue_memory_bytes"]
QUEUE_MEMORY_LIMIT: Final = _METRICS["queue_memory_limit_bytes"]
EVENTS_DEAD: Final = _METRICS["usage_events_dead"]
LEDGER_LAG: Final = _METRICS["usage_ledger_lag_seconds"]
ACCOUNT_PAGES: Final = _METRICS["account_pages"]
ACCOUNT_RENDERS: Final = _METRICS["account_renders"]
ACCOUNT_CPU: Final = _METRICS["account_cpu_seconds"]
ACCOUNT_CAP: Final = _METRICS["account_pages_allowed"]
PART_UP: Final = _METRICS["part_up"]
STORE_SECONDS: Final = _METRICS["store_duration_seconds"]
STORE_FAILURES: Final = _METRICS["store_failures"]
CACHE_REQUESTS: Final = _METRICS["cache_requests"]
IMAGE_BYTES: Final = _METRICS["image_bytes"]
BLOB_QUOTA: Final = _METRICS["blob_quota_bytes"]
FULL_WORKSPACES: Final = _METRICS["workspaces_nearly_full"]
JOBS_UNFINISHED: Final = _METRICS["jobs_unfinished"]
BATCHES_UNFINISHED: Final = _METRICS["batches_unfinished"]
DOCUMENTS_LEFT: Final = _METRICS["batch_documents_left"]
OLDEST_BATCH_SECONDS: Final = _METRICS["batch_oldest_seconds"]
MAINTENANCE_REPAIRS: Final = _METRICS["maintenance_repairs"]
MAINTENANCE_FAILURES: Final = _METRICS["maintenance_failures"]
WEBHOOK_ATTEMPTS: Final = _METRICS["webhook_attempts"]
WEBHOOKS_PENDING: Final = _METRICS["webhooks_pending"]
WEBHOOKS_OLDEST: Final = _METRICS["webhooks_oldest_seconds"]
FETCHES: Final = _METRICS["fetches"]
FETCH_SECONDS: Final = _METRICS["fetch_duration_seconds"]
FETCHES_IN_PROGRESS: Final = _METRICS["fetches_in_progress"]
FETCHES_WAITING: Final = _METRICS["fetches_waiting"]
FETCHER_CACHE_REQUESTS: Final = _METRICS["fetcher_cache_requests"]
FETCHER_CACHE_BYTES: Final = _METRICS["fetcher_cache_bytes"]
SIGNATURES: Final = _METRICS["signatures"]
SIGNATURE_SECONDS: Final = _METRICS["signature_duration_seconds"]
CERTIFICATES_ENDING: Final = _METRICS["signer_certificates_ending"]
CLOCK_AHEAD: Final = _METRICS["clock_ahead_seconds"]
BUILD_INFO: Final = _METRICS["build_info"]


def counted_by(exporter: Exporter) -> tuple[Spec, ...]:
    """Return the metrics that a process counts; its other gauges are read at each scrape."""
    return tuple(
        spec
        for spec in ALL
        if exporter in spec.exporter.split(", ")
        and (spec.kind is not Kind.GAUGE or spec is IN_PROGRESS)
    )
