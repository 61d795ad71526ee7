"""`pressroom status`: the state of a farm on one screen."""

from __future__ import annotations

import argparse
import os
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import asdict
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import unquote, urlsplit

from sqlalchemy import make_url
from sqlalchemy.exc import DBAPIError

from deploy.cli.farm import FarmLocation, find_farm
from deploy.cli.output import CommandFailed, print_result, write_section
from deploy.embedded.data_folder import FarmRecord
from deploy.embedded.logs import find_errors
from deploy.embedded.supervisor import answers, find_process, is_ready
from shared.batches.repository import list_unfinished_batches
from shared.blobs.factory import open_store
from shared.clock import now, ticks, timestamp
from shared.db.session import Database, open_database
from shared.errors import StorageFull, Unavailable
from shared.jobs.repository import count_unfinished_jobs
from shared.limits import MB
from shared.queue.names import QUEUES
from shared.shards import ShardAddress
from shared.telemetry.readings import Backlog, FarmDepth
from shared.usage.repository import measure_backlog

if TYPE_CHECKING:
    from shared.queue.queues import Queues

_SHOWN_ERRORS: Final = 5
_SHOWN_BATCHES: Final = 10
_LATE_LEDGER_SECONDS: Final = 60.0
_MILLISECONDS: Final = 1000
_HEAD: Final = ("farm", "problems")  # what is above the sections
# A disk with less free space than either counts as full.
_SCARCE_SHARE: Final = 0.01
_SCARCE_BYTES: Final = 4 * MB


class _StatusReport:
    """The status of a farm as it is collected: the problems and stores found so far.

    Every part is checked, even if others are down; the sections of a part that is down are missing.
    """

    def __init__(self, place: FarmLocation) -> None:
        self._place = place
        self._problems: list[str] = []
        self._stores: dict[str, Any] = {}

    def collect(self) -> dict[str, Any]:
        place, record = self._place, self._place.record
        found: dict[str, Any] = {
            "farm": {
                "url": record.url if record else None,
                "data": str(place.folder.path) if place.folder else None,
                "is_running": record is not None if place.folder else None,
                "looked_at": timestamp(now()),
            },
            "problems": self._problems,
        }
        if place.folder is not None and record is None:
            self._problems.append("the farm is not running")
        if record is not None:
            found["processes"] = self._find_processes(record)
        found["stores"] = self._stores
        found |= self._read_shards()
        if place.memory_url:
            from shared.queue.connection import connect  # late, as below
            from shared.queue.shard_layout import check_writable

            with connect(place.memory_url) as redis:
                name = "the Redis that keeps nothing"
                self._check("memory_redis", name, partial(check_writable, redis))
        found |= self._read_database()
        if (blob_url := place.blob_url) is not None:
            # Opened inside the check, so that an invalid URL is reported as a problem too.
            self._check("object_store", "the object store", lambda: open_store(blob_url).check())
        found["disks"] = self._measure_disks()
        if place.folder is not None:
            errors = find_errors(place.folder.logs, count=_SHOWN_ERRORS)
            found["last_errors"] = [asdict(error) for error in errors]
        return found

    def _find_processes(self, record: FarmRecord) -> list[dict[str, Any]]:
        shown = []
        for name, restarts in record.restarts.items():
            pid = record.processes.get(name)
            facts = find_process(pid) if pid is not None else None
            probe = record.ports.get(f"{name}_metrics", 0)  # 0: no port configured
            if facts is None:
                self._problems.append(f"process {name} is down")
            elif probe and not answers(probe, "/healthz"):
                self._problems.append(f"process {name} does not respond")
            shown.append(
                {
                    "name": name,
                    "pid": pid if facts else None,
                    "up_seconds": round(facts.up_seconds) if facts else None,
                    "memory_bytes": facts.memory_bytes if facts else None,
                    "restarts": restarts,
                }
            )
        if not is_ready(record.ports["front"]):
            self._problems.append("the front is not ready")
        return shown

    def _read_shards(self) -> dict[str, Any]:
        place, queues, is_broker_up = self._place, None, True
        if place.shards and place.broker_url:
            # Imported late, here and below, since a stopped farm has no Redis to connect to.
            from shared.queue.queue_factory import open_queues

            queues = open_queues(place.broker_url)
            is_broker_up = self._check("broker", "the broker", queues.check)
        read = [
            self._read_shard(shard, queues, is_broker_up=is_broker_up) for shard in place.shards
        ]
        shards = [each for each in read if each is not None]
        if not shards:
            return {}
        depths = [depth for depth, _, _ in shards]
        lag = max(depth.ledger_lag_seconds for depth in depths)
        dead = sum(depth.events_dead for depth in depths)
        if lag > _LATE_LEDGER_SECONDS:
            self._problems.append(f"the ledger is {lag:.0f} s behind")
        if dead:
            self._problems.append(f"{dead} usage events could not be read")
        pending = sum(depth.events_pending for depth in depths)
        ledger = {"events_pending": pending, "lag_seconds": round(lag, 1), "events_dead": dead}
        return {
            "queues": [queue for _, shown, _ in shards for queue in shown],
            "workers": [worker for _, _, shown in shards for worker in shown],
            "ledger": ledger,
        }

    def _read_shard(
        self, shard: ShardAddress, queues: Queues | None, *, is_broker_up: bool
    ) -> tuple[FarmDepth, list[dict[str, Any]], list[dict[str, Any]]] | None:
        """Return the depth, queues and workers of a shard."""
        from shared.queue.clocks import find_clocks
        from shared.queue.connection import UnfitRedisError, connect
        from shared.queue.depth import Drains, QueueReader
        from shared.queue.shard_layout import ShardLayout, assert_shard, check_writable
        from shared.queue.worker_presence import find_workers

        is_only = len(self._place.shards) == 1
        store, label = ("redis", {}) if is_only else (f"redis_{shard.name}", {"shard": shard.name})
        of_shard = "" if is_only else f" of shard {shard.name}"
        with connect(shard.url) as redis:
            is_up = self._check(store, f"Redis{of_shard}", partial(check_writable, redis))
            if not (is_up and is_broker_up):
                return None
            try:
                assert_shard(redis, ShardLayout.of(shard, self._place.shards))
                depth, drained = QueueReader(redis, queues).read_depth(), Drains(redis).find()
                workers, clocks = find_workers(redis), find_clocks(redis)
            except (UnfitRedisError, Unavailable) as error:
                is_unfit = isinstance(error, UnfitRedisError)
                self._problems.append(
                    str(error) if is_unfit else f"Redis{of_shard} does not respond"
                )
                return None
        self._problems += [
            f"the clock of {each.name} is {abs(each.ahead_seconds):.0f} s"
            f" {'ahead of' if each.ahead_seconds > 0 else 'behind'} that of Redis{of_shard}"
            for each in clocks
            if each.is_skewed
        ]
        served = {queue for worker in workers for queue in worker.queues}
        self._problems += [
            f"no worker takes from queue {queue}{of_shard}"
            for queue in QUEUES
            if queue not in served
        ]
        since = {queue: timestamp(datetime.fromtimestamp(at, UTC)) for queue, at in drained.items()}
        shown = [
            {
                **label,
                "name": queue,
                "waiting": each.waiting,
                "oldest_seconds": round(each.oldest_seconds, 1),
                "running": each.running,
                "drained_since": since.get(queue),
            }
            for queue, each in depth.queues.items()
        ]
        return depth, shown, [label | worker.to_builtins() for worker in workers]

    def _read_database(self) -> dict[str, Any]:
        database = open_database(self._place.database_url)
        try:
            if not self._check("database", "the database", database.check):
                return {}
            return _count(database)
        except DBAPIError:
            self._problems.append("the database schema is outdated: run pressroom migrate")
            return {}
        finally:
            database.close()

    def _measure_disks(self) -> list[dict[str, Any]]:
        """Return the free space of each disk of this machine that the farm writes to."""
        shown: dict[int, dict[str, Any]] = {}
        for path in _written_paths(self._place):
            try:
                device, disk = path.stat().st_dev, os.statvfs(path)
            except OSError:
                continue  # the check of its store reports the error
            total, free = disk.f_blocks * disk.f_frsize, disk.f_bavail * disk.f_frsize
            if device in shown or not total:
                continue
            shown[device] = {"path": str(path), "free_bytes": free, "total_bytes": total}
            if free < max(total * _SCARCE_SHARE, _SCARCE_BYTES):
                self._problems.append(
                    f"the disk of {path} is full: {free / MB:.0f} MB of {total / MB:.0f} MB are free;"
                    " free some space; the farm then continues without a restart"
                )
        return list(shown.values())

    def _check(self, store: str, name: str, ask: Callable[[], object]) -> bool:
        """Record the response time of a store, or a problem; return whether it responds."""
        self._stores[store] = None
        try:
            ask()  # connects
            begun = ticks()
            ask()
            took = ticks() - begun
        except StorageFull:
            self._problems.append(f"{name} has no space left")
            return False
        except Exception as error:  # noqa: BLE001 - every error of a store is reported
            self._problems.append(f"{name} does not respond: {_reason(error)}")
            return False
        self._stores[store] = {"milliseconds": round(took * _MILLISECONDS, 1)}
        return True


def _written_paths(place: FarmLocation) -> Iterator[Path]:
    if place.folder is not None:
        yield place.folder.path
        yield Path(tempfile.gettempdir())
    database = make_url(place.database_url)
    if database.get_backend_name() == "sqlite" and database.database:
        yield Path(database.database).parent
    if place.blob_url is not None and place.blob_url.startswith("file://"):
        yield Path(unquote(urlsplit(place.blob_url).path))


def _count(database: Database) -> dict[str, Any]:
    with database.snapshot() as session:
        jobs = count_unfinished_jobs(session)
        batches = list_unfinished_batches(session, limit=_SHOWN_BATCHES)
        backlog = sum(measure_backlog(session).values(), Backlog())
    left = {"batches": backlog.batches, "documents": backlog.documents}
    shown = [
        {
            "id": batch.id,
            "account_id": batch.account_id,
            "status": batch.status.value,
            "documents": batch.total,
            "succeeded": counts.succeeded,
            "failed": counts.failed,
            "created_at": timestamp(batch.created_at),
        }
        for batch, counts in batches
    ]
    return {"jobs_unfinished": jobs, "batch_backlog": left, "batches": shown}


def _reason(error: BaseException) -> str:
    while error.__cause__ is not None:
        error = error.__cause__
    return str(error).splitlines()[0][:200] if str(error) else type(error).__name__


def run_status(arguments: argparse.Namespace) -> int:
    """Print the status of a farm; return 1 if there are problems."""
    place = find_farm(arguments.data)
    if place.folder is not None and not place.folder.database.exists():
        raise CommandFailed(f"{place.folder.path} contains no farm")
    found = _StatusReport(place).collect()
    if arguments.json:
        print_result(found, as_json=True)
    else:
        print(write_status(found))
    return 1 if found["problems"] else 0


def write_status(found: dict[str, Any]) -> str:
    """Return the status as text for a terminal."""
    stores = [
        {"store": store, "milliseconds": took and took["milliseconds"]}
        for store, took in found["stores"].items()
    ]
    shown = found | {"stores": stores}
    sections = [write_section(name, shown[name]) for name in shown if name not in _HEAD]
    return "\n\n".join([_head(found), *sections])


def _head(found: dict[str, Any]) -> str:
    farm = found["farm"]
    where = " ".join(filter(None, [farm["url"], farm["data"] and f"({farm['data']})"]))
    problems = found["problems"]
    lines = [f"Pressroom {where}".rstrip(), f"checked at {farm['looked_at']}"]
    lines += [f"PROBLEM: {problem}" for problem in problems] or ["no problems"]
    drained = {queue["name"]: None for queue in found.get("queues", ()) if queue["drained_since"]}
    if drained:
        lines.append(f"drained until resumed by an operator: {', '.join(drained)}")
    return "\n".join(lines)
