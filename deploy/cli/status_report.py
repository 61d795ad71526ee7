"""The status of a whole farm, for `pressroom status`."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import unquote, urlsplit

from sqlalchemy import make_url
from sqlalchemy.exc import DBAPIError

from deploy.cli.farm import FarmLocation
from deploy.embedded.data_folder import FarmRecord
from deploy.embedded.logs import find_errors
from deploy.embedded.processes import find_process
from deploy.embedded.supervisor import answers, is_ready
from shared.batches.records import Batch, DocumentCounts
from shared.batches.repository import list_unfinished_batches
from shared.blobs.factory import open_store
from shared.clock import epoch, ticks, timestamp
from shared.db.session import Database, open_database
from shared.errors import StorageFull, Unavailable
from shared.jobs.repository import count_unfinished_jobs
from shared.limits import MB
from shared.queue.names import QUEUES
from shared.shards import ShardAddress
from shared.telemetry.readings import FarmDepth
from shared.usage.statistics import measure_backlog

if TYPE_CHECKING:
    from shared.queue.queues import Queues
    from shared.queue.worker_presence import WorkerReport

_SHOWN_ERRORS: Final = 5
_SHOWN_BATCHES: Final = 10
_LATE_LEDGER_SECONDS: Final = 60.0
_MILLISECONDS: Final = 1000
# A disk with less free space than either counts as full.
_SCARCE_SHARE: Final = 0.01
_SCARCE_BYTES: Final = 4 * MB


def collect_status(place: FarmLocation) -> dict[str, Any]:
    """Return the status of a farm; `problems` is empty if it is healthy.

    Every part is checked, even if others are down; the sections of a part that is down are missing.
    """
    problems: list[str] = []
    found: dict[str, Any] = {"farm": _describe(place), "problems": problems}
    if place.folder is not None and place.record is None:
        problems.append("the farm is not running")
    if place.record is not None:
        found["processes"] = _processes(place.record, problems)
    stores: dict[str, Any] = {}
    found["stores"] = stores
    if place.shards:
        found |= _read_shards(place, stores, problems)
    found |= _read_database(place.database_url, stores, problems)
    if place.blob_url is not None:
        # Opened inside the check, so that an invalid URL is reported as a problem too.
        check = partial(_check_blobs, place.blob_url)
        stores["object_store"] = _time_check(check, "the object store", problems)
    found["disks"] = _measure_disks(place, problems)
    if place.folder is not None:
        errors = find_errors(place.folder.logs, count=_SHOWN_ERRORS)
        found["last_errors"] = [asdict(error) for error in errors]
    return found


def _check_blobs(url: str) -> None:
    open_store(url).check()


def _measure_disks(place: FarmLocation, problems: list[str]) -> list[dict[str, Any]]:
    """Return the free space of each disk of this machine that the farm writes to."""
    shown: dict[int, dict[str, Any]] = {}
    for path in _written_paths(place):
        try:
            device, disk = path.stat().st_dev, os.statvfs(path)
        except OSError:
            continue  # the check of its store reports the error
        total, free = disk.f_blocks * disk.f_frsize, disk.f_bavail * disk.f_frsize
        if device in shown or not total:
            continue
        shown[device] = {"path": str(path), "free_bytes": free, "total_bytes": total}
        if free < max(total * _SCARCE_SHARE, _SCARCE_BYTES):
            problems.append(
                f"the disk of {path} is full: {free / MB:.0f} MB of {total / MB:.0f} MB are free;"
                " free some space; the farm then continues without a restart"
            )
    return list(shown.values())


def _written_paths(place: FarmLocation) -> Iterator[Path]:
    if place.folder is not None:
        yield place.folder.path
        yield Path(tempfile.gettempdir())
    database = make_url(place.database_url)
    if database.get_backend_name() == "sqlite" and database.database:
        yield Path(database.database).parent
    if place.blob_url is not None and place.blob_url.startswith("file://"):
        yield Path(unquote(urlsplit(place.blob_url).path))


def _describe(place: FarmLocation) -> dict[str, Any]:
    record = place.record
    return {
        "url": record.url if record else None,
        "data": str(place.folder.path) if place.folder else None,
        "is_running": record is not None if place.folder else None,
        "looked_at": _timestamp_of(epoch()),
    }


def _timestamp_of(at: float) -> str:
    return timestamp(datetime.fromtimestamp(at, UTC))


def _processes(record: FarmRecord, problems: list[str]) -> list[dict[str, Any]]:
    shown = []
    for name in record.restarts:
        pid = record.processes.get(name)
        facts = find_process(pid) if pid is not None else None
        probe = record.ports.get(f"{name}_metrics", 0)  # 0: no port configured
        if facts is None:
            problems.append(f"process {name} is down")
        elif probe and not answers(probe, "/healthz"):
            problems.append(f"process {name} does not respond")
        shown.append(
            {
                "name": name,
                "pid": pid if facts else None,
                "up_seconds": round(facts.up_seconds) if facts else None,
                "memory_bytes": facts.memory_bytes if facts else None,
                "restarts": record.restarts[name],
            }
        )
    if not is_ready(record.ports["front"]):
        problems.append("the front is not ready")
    return shown


@dataclass(frozen=True, slots=True)
class _ShardStatus:
    """The status of a shard; `label` is empty if it is the only one."""

    label: dict[str, str]
    depth: FarmDepth
    drained: Mapping[str, float]
    workers: Sequence[WorkerReport]


def _read_shards(
    place: FarmLocation, stores: dict[str, Any], problems: list[str]
) -> dict[str, Any]:
    queues = _check_broker(place.broker_url, stores, problems) if place.broker_url else None
    if place.broker_url and queues is None:
        _ping_servers(place.shards, stores, problems)
        return {}
    read = [_read_shard(shard, place.shards, queues, stores, problems) for shard in place.shards]
    seen = [report for report in read if report is not None]
    if not seen:
        return {}
    depths = [each.depth for each in seen]
    ledger = {
        "events_pending": sum(depth.events_pending for depth in depths),
        "lag_seconds": round(max(depth.ledger_lag_seconds for depth in depths), 1),
        "events_dead": sum(depth.events_dead for depth in depths),
    }
    problems += _ledger_problems(ledger)
    return {
        "queues": [queue for each in seen for queue in _queues(each)],
        "workers": [each.label | worker.to_builtins() for each in seen for worker in each.workers],
        "ledger": ledger,
    }


def _check_broker(broker_url: str, stores: dict[str, Any], problems: list[str]) -> Queues | None:
    from shared.queue.queue_factory import open_queues  # late, as below

    queues = open_queues(broker_url)
    stores["broker"] = _time_check(queues.check, "the broker", problems)
    return queues if stores["broker"] else None


def _ping_servers(
    shards: Sequence[ShardAddress], stores: dict[str, Any], problems: list[str]
) -> None:
    """Check whether the Redis servers answer while the queues cannot be read."""
    from shared.queue.connection import connect  # late, as below

    for shard in shards:
        with connect(shard.url) as redis:
            stores["redis"] = _time_check(redis.ping, "Redis", problems)


def _read_shard(
    shard: ShardAddress,
    shards: Sequence[ShardAddress],
    queues: Queues | None,
    stores: dict[str, Any],
    problems: list[str],
) -> _ShardStatus | None:
    # Imported here, since a stopped farm has no Redis to connect to.
    from shared.queue.clocks import find_clocks
    from shared.queue.connection import UnfitRedisError, connect
    from shared.queue.depth import QueueReader
    from shared.queue.drains import Drains
    from shared.queue.shard_layout import ShardLayout, assert_shard
    from shared.queue.worker_presence import find_workers

    is_only = len(shards) == 1
    store = "redis" if is_only else f"redis_{shard.name}"
    name = "Redis" if is_only else f"Redis of shard {shard.name}"
    redis = connect(shard.url)
    stores[store] = _time_check(redis.ping, name, problems)
    if stores[store] is None:
        return None
    try:
        assert_shard(redis, ShardLayout.of(shard, shards))
        depth, drained = QueueReader(redis, queues).read_depth(), Drains(redis).find()
        workers, clocks = find_workers(redis), find_clocks(redis)
    except UnfitRedisError as error:
        problems.append(str(error))
        return None
    except Unavailable:
        problems.append(f"{name} does not respond")
        return None
    finally:
        redis.close()
    problems += [
        f"the clock of {each.name} is {abs(each.ahead_seconds):.0f} s"
        f" {'ahead of' if each.ahead_seconds > 0 else 'behind'} that of {name}"
        for each in clocks
        if each.is_skewed
    ]
    problems += _queue_problems(workers, "" if is_only else f" of shard {shard.name}")
    return _ShardStatus({} if is_only else {"shard": shard.name}, depth, drained, workers)


def _queues(seen: _ShardStatus) -> list[dict[str, Any]]:
    drained = seen.drained
    return [
        {
            **seen.label,
            "name": name,
            "waiting": queue.waiting,
            "oldest_seconds": round(queue.oldest_seconds, 1),
            "running": queue.running,
            "drained_since": _timestamp_of(drained[name]) if name in drained else None,
        }
        for name, queue in seen.depth.queues.items()
    ]


def _queue_problems(workers: Sequence[WorkerReport], where: str) -> list[str]:
    served = {queue for worker in workers for queue in worker.queues}
    return [f"no worker takes from queue {queue}{where}" for queue in QUEUES if queue not in served]


def _ledger_problems(ledger: Mapping[str, float]) -> list[str]:
    found = []
    if ledger["lag_seconds"] > _LATE_LEDGER_SECONDS:
        found.append(f"the ledger is {ledger['lag_seconds']:.0f} s behind")
    if ledger["events_dead"]:
        found.append(f"{ledger['events_dead']} usage events could not be read")
    return found


def _read_database(url: str, stores: dict[str, Any], problems: list[str]) -> dict[str, Any]:
    database = open_database(url)
    try:
        stores["database"] = _time_check(database.check, "the database", problems)
        if stores["database"] is None:
            return {}
        return _count(database)
    except DBAPIError:
        problems.append("the database schema is outdated: run pressroom migrate")
        return {}
    finally:
        database.close()


def _count(database: Database) -> dict[str, Any]:
    with database.snapshot() as session:
        jobs = count_unfinished_jobs(session)
        batches = list_unfinished_batches(session, limit=_SHOWN_BATCHES)
        backlogs = measure_backlog(session).values()
    left = {
        "batches": sum(each.batches for each in backlogs),
        "documents": sum(each.documents for each in backlogs),
    }
    shown = [_batch(*each) for each in batches]
    return {"jobs_unfinished": jobs, "batch_backlog": left, "batches": shown}


def _batch(batch: Batch, counts: DocumentCounts) -> dict[str, Any]:
    return {
        "id": batch.id,
        "account_id": batch.account_id,
        "status": batch.status.value,
        "documents": batch.total,
        "succeeded": counts.succeeded,
        "failed": counts.failed,
        "created_at": timestamp(batch.created_at),
    }


def _time_check(
    ask: Callable[[], object], name: str, problems: list[str]
) -> dict[str, float] | None:
    """Return the response time of a store; without a response add a problem and return None."""
    try:
        ask()  # connects
        begun = ticks()
        ask()
        took = ticks() - begun
    except StorageFull:
        problems.append(f"{name} has no space left")
        return None
    except Exception as error:  # noqa: BLE001 - every error of a store is reported
        problems.append(f"{name} {_explain(error)}")
        return None
    return {"milliseconds": round(took * _MILLISECONDS, 1)}


def _explain(error: Exception) -> str:
    if type(error).__module__.startswith("redis."):
        # Imported here, since a stopped farm has no Redis to connect to.
        from redis import RedisError

        from shared.queue.connection import is_refused_for_space

        if isinstance(error, RedisError) and is_refused_for_space(error):
            return "has no disk space left for its append-only file and refuses to write"
    return f"does not respond: {_reason(error)}"


def _reason(error: BaseException) -> str:
    while error.__cause__ is not None:
        error = error.__cause__
    return str(error).splitlines()[0][:200] if str(error) else type(error).__name__
