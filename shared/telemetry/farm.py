"""What the whole farm did and has before it, as the usage counter exports it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from prometheus_client import CollectorRegistry, Metric
from prometheus_client.registry import Collector

from shared.errors import Unavailable
from shared.telemetry import metrics
from shared.telemetry.registries import Constants, write_gauge
from shared.telemetry.totals import write_totals


@dataclass(frozen=True, slots=True)
class QueueDepth:
    """One queue: jobs waiting and running, the wait of the oldest, whether workers leave it alone."""

    waiting: int = 0
    running: int = 0
    oldest_seconds: float = 0.0
    is_drained: bool = False


@dataclass(frozen=True, slots=True)
class FarmDepth:
    """What lies in Redis: the queues by name, and usage events on their way to the ledger."""

    queues: Mapping[str, QueueDepth]
    events_pending: int = 0
    events_dead: int = 0
    ledger_lag_seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class AccountUse:
    """What an account used of one allowance in its current period; `cap` None is never refused."""

    account_id: str
    allowance: str
    pages: int
    calls: int
    cap: int | None


@dataclass(frozen=True, slots=True)
class Census:
    """What the stores hold, read now and then and not at each scrape."""

    parts: Mapping[str, bool] = field(default_factory=dict)
    accounts: tuple[AccountUse, ...] = ()
    blob_bytes: int = 0
    nearly_full_workspaces: int = 0


class FarmCollector(Collector):
    """What Redis and the stores say at each scrape.

    Exported by the usage counter, of which there is one, so that nothing is summed twice. While
    Redis is away it says that and what it knows besides.
    """

    def __init__(
        self,
        *,
        read_totals: Callable[[], Mapping[str, float]],
        read_depth: Callable[[], FarmDepth],
        read_census: Callable[[], Census],
    ) -> None:
        self._read_totals = read_totals
        self._read_depth = read_depth
        self._read_census = read_census

    def describe(self) -> Iterator[Metric]:
        """Give nothing: registering must not ask Redis."""
        return iter(())

    def collect(self) -> Iterator[Metric]:
        """Give the metrics as they are now."""
        census = self._read_census()
        try:
            totals, depth = self._read_totals(), self._read_depth()
        except Unavailable:
            yield _parts(census, is_queue_up=False)
        else:
            yield _parts(census, is_queue_up=True)
            yield from write_totals(totals)
            yield from _depths(depth)
        yield from _holdings(census)


def farm_registry(collector: FarmCollector, *, blob_quota_bytes: int) -> CollectorRegistry:
    """Make the usage counter's registry."""
    registry = CollectorRegistry()
    registry.register(collector)
    registry.register(Constants("counter", [(metrics.BLOB_QUOTA, blob_quota_bytes)]))
    return registry


def _parts(census: Census, *, is_queue_up: bool) -> Metric:
    parts = {**census.parts, "queue": is_queue_up}
    return write_gauge(metrics.PART_UP, {(part,): float(up) for part, up in sorted(parts.items())})


def _depths(depth: FarmDepth) -> Iterator[Metric]:
    queues = depth.queues.items()
    yield write_gauge(metrics.WAITING, {(name,): queue.waiting for name, queue in queues})
    yield write_gauge(metrics.RUNNING, {(name,): queue.running for name, queue in queues})
    yield write_gauge(
        metrics.OLDEST_SECONDS, {(name,): queue.oldest_seconds for name, queue in queues}
    )
    yield write_gauge(metrics.DRAINED, {(name,): float(queue.is_drained) for name, queue in queues})
    yield write_gauge(metrics.EVENTS_PENDING, {(): depth.events_pending})
    yield write_gauge(metrics.EVENTS_DEAD, {(): depth.events_dead})
    yield write_gauge(metrics.LEDGER_LAG, {(): depth.ledger_lag_seconds})


def _holdings(census: Census) -> Iterator[Metric]:
    used = {(use.account_id, use.allowance): use for use in census.accounts}
    yield write_gauge(metrics.ACCOUNT_PAGES, {key: use.pages for key, use in used.items()})
    yield write_gauge(metrics.ACCOUNT_RENDERS, {key: use.calls for key, use in used.items()})
    yield write_gauge(
        metrics.ACCOUNT_CAP,
        {key: use.cap for key, use in used.items() if use.cap is not None},
    )
    yield write_gauge(metrics.BLOB_BYTES, {(): census.blob_bytes})
    yield write_gauge(metrics.FULL_WORKSPACES, {(): census.nearly_full_workspaces})
