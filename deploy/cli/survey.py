"""Looking at a whole farm once: what `pressroom status` shows."""

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

from deploy.cli.access import FarmPlace
from deploy.embedded.errors import find_errors
from deploy.embedded.home import FarmRecord
from deploy.embedded.processes import find_process
from deploy.embedded.supervisor import answers, is_ready
from shared.batches.records import Batch, Counts
from shared.blobs.store import open_store
from shared.clock import epoch, ticks, timestamp
from shared.db.batches import list_under_way
from shared.db.census import measure_backlog
from shared.db.jobs import count_unfinished
from shared.db.session import Database, open_database
from shared.errors import NoSpace, Unavailable
from shared.limits import MB
from shared.queue.names import QUEUES
from shared.shards import ShardAddress
from shared.telemetry.readings import FarmDepth

if TYPE_CHECKING:
    from shared.queue.roster import WorkerWord

_SHOWN_ERRORS: Final = 5
_SHOWN_BATCHES: Final = 10
_LATE_LEDGER_SECONDS: Final = 60.0
_MILLISECONDS: Final = 1000
# Less than either is left on a disk that counts as full.
_SCARCE_SHARE: Final = 0.01
_SCARCE_BYTES: Final = 4 * MB


def survey(place: FarmPlace) -> dict[str, Any]:
    """Look at a farm. `problems` is empty when nothing is wrong.

    Every part is asked even where another is away; what that would tell is missing then.
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
        found |= _ask_shards(place.shards, stores, problems)
    found |= _ask_database(place.database_url, stores, problems)
    if place.blob_url is not None:
        # Opened within, so that a wrong URL is told as a problem too.
        check = partial(_check_blobs, place.blob_url)
        stores["object_store"] = _time(check, "the object store", problems)
    found["disks"] = _look_at_disks(place, problems)
    if place.folder is not None:
        errors = find_errors(place.folder.logs, count=_SHOWN_ERRORS)
        found["last_errors"] = [asdict(error) for error in errors]
    return found


def _check_blobs(url: str) -> None:
    open_store(url).check()


def _look_at_disks(place: FarmPlace, problems: list[str]) -> list[dict[str, Any]]:
    """Measure the disks of this machine that the farm writes to, each once."""
    shown: dict[int, dict[str, Any]] = {}
    for path in _written_paths(place):
        try:
            device, disk = path.stat().st_dev, os.statvfs(path)
        except OSError:
            continue  # its store is asked as well, and tells what is wrong with it
        total, free = disk.f_blocks * disk.f_frsize, disk.f_bavail * disk.f_frsize
        if device in shown or not total:
            continue
        shown[device] = {"path": str(path), "free_bytes": free, "total_bytes": total}
        if free < max(total * _SCARCE_SHARE, _SCARCE_BYTES):
            problems.append(
                f"the disk of {path} is full: {free / MB:.0f} MB of {total / MB:.0f} MB are free;"
                " free some space, the farm goes on by itself"
            )
    return list(shown.values())


def _written_paths(place: FarmPlace) -> Iterator[Path]:
    if place.folder is not None:
        yield place.folder.path
        yield Path(tempfile.gettempdir())
    database = make_url(place.database_url)
    if database.get_backend_name() == "sqlite" and database.database:
        yield Path(database.database).parent
    if place.blob_url is not None and place.blob_url.startswith("file://"):
        yield Path(unquote(urlsplit(place.blob_url).path))


def _describe(place: FarmPlace) -> dict[str, Any]:
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
        probe = record.ports.get(f"{name}_metrics", 0)  # 0 where the operator wants none
        if facts is None:
            problems.append(f"process {name} is down")
        elif probe and not answers(probe, "/healthz"):
            problems.append(f"process {name} does not answer")
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
class _Seen:
    """What a shard said; `label` tells it from others, and is empty where there is one."""

    label: dict[str, str]
    depth: FarmDepth
    drained: Mapping[str, float]
    workers: Sequence[WorkerWord]


def _ask_shards(
    shards: Sequence[ShardAddress], stores: dict[str, Any], problems: list[str]
) -> dict[str, Any]:
    looks = [_ask_redis(shard, shards, stores, problems) for shard in shards]
    seen = [look for look in looks if look is not None]
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
        "workers": [each.label | asdict(worker) for each in seen for worker in each.workers],
        "ledger": ledger,
    }


def _ask_redis(
    shard: ShardAddress,
    shards: Sequence[ShardAddress],
    stores: dict[str, Any],
    problems: list[str],
) -> _Seen | None:
    # Late: of a farm that is down no Redis is asked.
    from shared.queue.clocks import find_clocks
    from shared.queue.connection import UnfitRedisError, connect
    from shared.queue.depth import QueueReader
    from shared.queue.drains import Drains
    from shared.queue.layout import Layout, assert_shard
    from shared.queue.roster import find_workers

    is_only = len(shards) == 1
    store = "redis" if is_only else f"redis_{shard.name}"
    name = "Redis" if is_only else f"Redis of shard {shard.name}"
    redis = connect(shard.url)
    stores[store] = _time(redis.ping, name, problems)
    if stores[store] is None:
        return None
    try:
        assert_shard(redis, Layout.of(shard, shards))
        depth, drained = QueueReader(redis).read_depth(), Drains(redis).find()
        workers, clocks = find_workers(redis), find_clocks(redis)
    except UnfitRedisError as error:
        problems.append(str(error))
        return None
    except Unavailable:
        problems.append(f"{name} does not answer")
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
    return _Seen({} if is_only else {"shard": shard.name}, depth, drained, workers)


def _queues(seen: _Seen) -> list[dict[str, Any]]:
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


def _queue_problems(workers: Sequence[WorkerWord], where: str) -> list[str]:
    served = {queue for worker in workers for queue in worker.queues}
    return [f"no worker takes from queue {queue}{where}" for queue in QUEUES if queue not in served]


def _ledger_problems(ledger: Mapping[str, float]) -> list[str]:
    found = []
    if ledger["lag_seconds"] > _LATE_LEDGER_SECONDS:
        found.append(f"the ledger is {ledger['lag_seconds']:.0f} s behind")
    if ledger["events_dead"]:
        found.append(f"{ledger['events_dead']} usage events could not be read")
    return found


def _ask_database(url: str, stores: dict[str, Any], problems: list[str]) -> dict[str, Any]:
    database = open_database(url)
    try:
        stores["database"] = _time(database.check, "the database", problems)
        if stores["database"] is None:
            return {}
        return _count(database)
    except DBAPIError:
        problems.append("the database's tables are not up to date: run pressroom migrate")
        return {}
    finally:
        database.close()


def _count(database: Database) -> dict[str, Any]:
    with database.snapshot() as session:
        jobs = count_unfinished(session)
        batches = list_under_way(session, limit=_SHOWN_BATCHES)
        backlogs = measure_backlog(session).values()
    left = {
        "batches": sum(each.batches for each in backlogs),
        "documents": sum(each.documents for each in backlogs),
    }
    shown = [_batch(*each) for each in batches]
    return {"jobs_unfinished": jobs, "batch_backlog": left, "batches": shown}


def _batch(batch: Batch, counts: Counts) -> dict[str, Any]:
    return {
        "id": batch.id,
        "account_id": batch.account_id,
        "status": batch.status.value,
        "documents": batch.total,
        "succeeded": counts.succeeded,
        "failed": counts.failed,
        "created_at": timestamp(batch.created_at),
    }


def _time(ask: Callable[[], object], name: str, problems: list[str]) -> dict[str, float] | None:
    """Ask a store and give how long that took, None and a problem when it does not answer."""
    try:
        ask()  # which connects
        begun = ticks()
        ask()
        took = ticks() - begun
    except NoSpace:
        problems.append(f"{name} has no space left")
        return None
    except Exception as error:  # noqa: BLE001 - whatever is wrong with a store belongs on the screen
        problems.append(f"{name} {_explain(error)}")
        return None
    return {"milliseconds": round(took * _MILLISECONDS, 1)}


def _explain(error: Exception) -> str:
    if type(error).__module__.startswith("redis."):
        # Late: of a farm that is down no Redis is asked.
        from redis import RedisError

        from shared.queue.connection import is_refused_for_space

        if isinstance(error, RedisError) and is_refused_for_space(error):
            return "has no disk space left for its append-only file and refuses to write"
    return f"does not answer: {_reason(error)}"


def _reason(error: BaseException) -> str:
    while error.__cause__ is not None:
        error = error.__cause__
    return str(error).splitlines()[0][:200] if str(error) else type(error).__name__
