"""What the whole farm did and has before it, as the usage counter exports it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Protocol

from prometheus_client import CollectorRegistry, Metric
from prometheus_client.registry import Collector

from shared.errors import Unavailable
from shared.shards import name_part
from shared.telemetry import metrics
from shared.telemetry.registries import ClockSkews, Constants, write_gauge
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
    """What lies in one Redis: the queues by name, and usage events on their way to the ledger."""

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


class ShardReader(Protocol):
    """What one Redis server is asked; both methods raise `Unavailable` when it is away."""

    def read_depth(self) -> FarmDepth:
        """Count what lies in it."""

    def read_totals(self) -> Mapping[str, float]:
        """Give the sums of what was counted there."""


class FarmCollector(Collector):
    """What Redis and the stores say at each scrape.

    Exported by the usage counter, of which there is one, so that nothing is summed twice. While
    Redis is away it says that and what it knows besides. Of several shards one that is away keeps
    its part in the sums: they would fall and rise again, which looks like that much new work.
    """

    def __init__(
        self, shards: Mapping[str, ShardReader], *, read_census: Callable[[], Census]
    ) -> None:
        self._shards = shards
        self._read_census = read_census
        self._totals: dict[str, Mapping[str, float]] = {}

    def describe(self) -> Iterator[Metric]:
        """Give nothing: registering must not ask Redis."""
        return iter(())

    def collect(self) -> Iterator[Metric]:
        """Give the metrics as they are now."""
        census = self._read_census()
        # At once, so that the answer comes within the patience for one of them.
        with ThreadPoolExecutor(len(self._shards)) as pool:
            looks = dict(zip(self._shards, pool.map(_look, self._shards.values()), strict=True))
        depths = {name: found[1] for name, found in looks.items() if found}
        self._totals |= {name: found[0] for name, found in looks.items() if found}
        yield _parts(census, {name: name in depths for name in looks})
        if depths and len(self._totals) == len(self._shards):
            yield from write_totals(_add_up(self._totals.values()))
        if depths:
            yield from _depths(depths)
        yield from _holdings(census)


def farm_registry(
    collector: FarmCollector,
    *,
    blob_quota_bytes: int,
    read_skews: Callable[[], Mapping[str, float]] = dict,
) -> CollectorRegistry:
    """Make the usage counter's registry."""
    registry = CollectorRegistry()
    registry.register(collector)
    registry.register(Constants("counter", [(metrics.BLOB_QUOTA, blob_quota_bytes)]))
    registry.register(ClockSkews(read_skews))
    return registry


def _look(shard: ShardReader) -> tuple[Mapping[str, float], FarmDepth] | None:
    try:
        return shard.read_totals(), shard.read_depth()
    except Unavailable:
        return None


def _add_up(totals: Iterable[Mapping[str, float]]) -> Mapping[str, float]:
    sums: defaultdict[str, float] = defaultdict(float)
    for each in totals:
        for field_name, amount in each.items():
            sums[field_name] += amount
    return sums


def _parts(census: Census, shards: Mapping[str, bool]) -> Metric:
    queues = {name_part(name, len(shards)): is_up for name, is_up in shards.items()}
    parts = {**census.parts, **queues}
    return write_gauge(metrics.PART_UP, {(part,): float(up) for part, up in sorted(parts.items())})


def _depths(depths: Mapping[str, FarmDepth]) -> Iterator[Metric]:
    queues = {
        (name, shard): queue
        for shard, depth in depths.items()
        for name, queue in depth.queues.items()
    }
    found = depths.values()
    yield write_gauge(metrics.WAITING, {key: queue.waiting for key, queue in queues.items()})
    yield write_gauge(metrics.RUNNING, {key: queue.running for key, queue in queues.items()})
    yield write_gauge(
        metrics.OLDEST_SECONDS, {key: queue.oldest_seconds for key, queue in queues.items()}
    )
    yield write_gauge(
        metrics.DRAINED, {key: float(queue.is_drained) for key, queue in queues.items()}
    )
    yield write_gauge(metrics.EVENTS_PENDING, {(): sum(each.events_pending for each in found)})
    yield write_gauge(metrics.EVENTS_DEAD, {(): sum(each.events_dead for each in found)})
    yield write_gauge(metrics.LEDGER_LAG, {(): max(each.ledger_lag_seconds for each in found)})


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
