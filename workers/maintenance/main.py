"""The maintenance process: `python -m workers.maintenance.main` starts one; several may run."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from shared.blobs.factory import open_store
from shared.db.session import Database, open_database
from shared.jobs.repository import count_unfinished_jobs
from shared.queue.clocks import FarmClock
from shared.queue.shard_layout import assert_shards
from shared.settings import Settings, get_settings
from shared.shard_services import ShardServices
from shared.shards import PerShard
from shared.startup import run_threads, start, stop_on_signals
from shared.telemetry import metrics
from shared.telemetry.metrics import Exporter
from shared.telemetry.probe import start_probe
from shared.telemetry.process import ProcessMetrics
from workers.maintenance.ledger import prune_audit_log, prune_usage_ledger
from workers.maintenance.orphans import orphan_tasks
from workers.maintenance.reconciliation import reconciliation_tasks, recount_usage
from workers.maintenance.recorded_work import (
    RequeueLostJobs,
    batch_tasks,
    clear_rotation,
    expire_jobs,
    hasten,
    remove_keys,
)
from workers.maintenance.runner import MaintenanceRunner, MaintenanceTask


def main() -> None:
    """Run until SIGTERM; exit with status 1 and one line on stderr if it cannot start."""
    runners = start("maintenance", get_settings, make_maintenance)
    stop_on_signals(*(runner.stop for runner in runners))
    run_threads([runner.run for runner in runners])


def make_maintenance(settings: Settings) -> Sequence[MaintenanceRunner]:
    """Return the runners, and start the clock and the probe."""
    assert_shards(settings.shards)
    clock = FarmClock.of_shards(settings.shards, kind="maintenance")
    runners, counted = make_runners(settings, clock)
    clock.start()
    start_probe(
        settings.maintenance_metrics_port, counted.exposition, address=settings.metrics_address
    )
    return runners


def make_runners(
    settings: Settings, clock: FarmClock
) -> tuple[list[MaintenanceRunner], ProcessMetrics]:
    """Create the runners with all tasks, and their metrics.

    With several shards each has its own runner, and so have the tasks of no shard, so that an outage of one
    server does not block the others.
    """
    database, blobs = (
        open_database(settings.database_url, connections=settings.database_connections),
        open_store(settings.blob_url),
    )
    shards = PerShard(
        settings.shards, lambda shard: ShardServices(shard, settings, database, blobs)
    )

    def tasks_of(shard: ShardServices) -> list[MaintenanceTask]:
        return [
            MaintenanceTask(
                "jobs_requeued", 2.0, RequeueLostJobs(shard.jobs, shard.broker).run_once
            ),
            *batch_tasks(shard.batches),
            MaintenanceTask("jobs_swept", 15.0, partial(expire_jobs, shard.jobs)),
            MaintenanceTask(
                "counters_recounted",
                15.0,
                partial(recount_usage, shard.jobs.states, shard.admissions),
            ),
        ]

    of_shards = [tasks_of(shard) for shard in shards.values()]
    of_farm: list[MaintenanceTask] = [
        *reconciliation_tasks(database, shards.map(lambda shard: shard.admissions)),
        MaintenanceTask("batch_turns_repaired", 5.0, partial(clear_rotation, database)),
        MaintenanceTask("batches_hastened", 30.0, partial(hasten, database)),
        MaintenanceTask("idempotency_keys_removed", 60.0, partial(remove_keys, database)),
        MaintenanceTask(
            "ledger_rows_pruned",
            60.0,
            partial(prune_usage_ledger, database, settings.ledger_months),
        ),
        MaintenanceTask(
            "audit_entries_pruned", 60.0, partial(prune_audit_log, database, settings.audit_days)
        ),
        *orphan_tasks(database, blobs),
    ]
    groups = [of_shards[0] + of_farm] if len(of_shards) == 1 else [*of_shards, of_farm]
    names = [task.name for task in of_shards[0] + of_farm]
    counted = ProcessMetrics(
        Exporter.MAINTENANCE,
        {
            metrics.JOBS_UNFINISHED: lambda: _count_unfinished(database),
            metrics.CLOCK_AHEAD: clock.read_skews,
        },
        labels={metrics.MAINTENANCE_REPAIRS: names, metrics.MAINTENANCE_FAILURES: names},
    )
    return [MaintenanceRunner(tasks, counted) for tasks in groups], counted


def _count_unfinished(database: Database) -> int:
    with database.snapshot() as session:
        return count_unfinished_jobs(session)


if __name__ == "__main__":
    main()
