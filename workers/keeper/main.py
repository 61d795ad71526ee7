"""The keeper: `python -m workers.keeper.main` starts one; several at once do no harm."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta

from shared.batch_flow import BatchFlow
from shared.blobs.store import open_store
from shared.buckets.admission import AdmissionCache
from shared.buckets.keys import KeyStates
from shared.db.jobs import count_unfinished
from shared.db.session import Database, open_database
from shared.job_flow import JobFlow
from shared.queue.broker import Broker
from shared.queue.claims import Claims
from shared.queue.clocks import FarmClock
from shared.queue.connection import connect
from shared.queue.endings import Endings
from shared.queue.layout import assert_shards
from shared.queue.publisher import Publisher
from shared.queue.slices import SliceQueue
from shared.queue.states import JobStates
from shared.settings import Settings, get_settings
from shared.shards import PerShard, ShardAddress, run_all, slots_of
from shared.startup import start, stop_on_signals
from shared.telemetry.keeper import KeeperMetrics
from shared.telemetry.probe import start_probe
from workers.keeper.batches import RepairTurns, batch_duties
from workers.keeper.duty import Duty
from workers.keeper.jobs import ForgetKeys, RequeueJobs, SweepJobs
from workers.keeper.keeper import Keeper
from workers.keeper.ledger import PruneLedger
from workers.keeper.reconciliation import RecountUsage, reconciliations
from workers.keeper.sweeps import sweep_duties


def main() -> None:
    """Keep until told to stop; exit 1 with one line when it must not start."""
    keepers = start("keeper", get_settings, _make)
    stop_on_signals(*(keeper.stop for keeper in keepers))
    run_all([keeper.run for keeper in keepers])


def _make(settings: Settings) -> Sequence[Keeper]:
    assert_shards(settings.shards)
    clock = FarmClock.of_shards(settings.shards, kind="keeper")
    keepers, metrics = assemble(settings, read_skews=lambda: clock.skews)
    clock.start()
    start_probe(settings.keeper_metrics_port, metrics.registry, address=settings.metrics_address)
    return keepers


def assemble(
    settings: Settings, *, read_skews: Callable[[], Mapping[str, float]] = dict
) -> tuple[list[Keeper], KeeperMetrics]:
    """Make the keepers with all duties, and their metrics.

    Of several shards each has a keeper of its own, and so has what belongs to none: one that waits for
    a server holds up no other.
    """
    database, blobs = (
        open_database(settings.database_url, connections=settings.database_connections),
        open_store(settings.blob_url),
    )
    record_kept = timedelta(days=settings.record_days)
    servers = PerShard(settings.shards, lambda shard: connect(shard.url))
    caches = PerShard(settings.shards, lambda shard: AdmissionCache(servers.get(shard.name)))

    def duties_of(shard: ShardAddress) -> list[Duty]:
        redis, slots = servers.get(shard.name), slots_of(shard.name, servers.names)
        endings = Endings(redis)
        publisher = Publisher(settings.broker_url_of(shard))
        queue = SliceQueue(redis, publisher, render_budget=settings.render_budget)
        jobs = JobFlow(database, JobStates(redis), endings, blobs, slots)
        return [
            RequeueJobs(jobs, Broker(redis, publisher)),
            *batch_duties(
                BatchFlow(database, blobs, queue, endings, slots), record_kept=record_kept
            ),
            SweepJobs(jobs, record_kept),
            RecountUsage(jobs.states, caches.get(shard.name)),
        ]

    of_shards = [duties_of(shard) for shard in settings.shards]
    of_farm: list[Duty] = [
        *reconciliations(database, KeyStates(caches)),
        RepairTurns(database),
        ForgetKeys(database),
        PruneLedger(database, settings.ledger_months, record_kept),
        *sweep_duties(database, blobs, [Claims(redis, blobs) for redis in servers.values()]),
    ]
    groups = [of_shards[0] + of_farm] if len(of_shards) == 1 else [*of_shards, of_farm]
    metrics = KeeperMetrics(
        [duty.name for duty in of_shards[0] + of_farm],
        count_unfinished=lambda: _count_unfinished(database),
        read_skews=read_skews,
    )
    return [Keeper(duties, metrics) for duties in groups], metrics


def _count_unfinished(database: Database) -> int:
    with database.snapshot() as session:
        return count_unfinished(session)


if __name__ == "__main__":
    main()
