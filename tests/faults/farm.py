"""A farm that faults happen to: its processes by name, and what it holds afterwards."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import urlopen

import redis
import sqlalchemy as sa

from deploy.embedded.demo.show import LaunchedFarm
from shared.batches.records import item_job_id
from shared.blobs.factory import open_store
from shared.blobs.store import BlobMissingError
from shared.db import tables
from shared.errors import Unavailable
from shared.queue.names import QUEUES, USAGE_STREAM
from shared.queue.queue_factory import open_queues
from shared.queue.queues import Queues
from shared.queue.worker_presence import find_held_tasks
from shared.shards import ShardAddress, find_shard, parse_shards, slot_of
from tests.conftest import create_account_of
from tests.faults.checker import State
from tests.faults.clients import Client
from tests.faults.history import History
from tests.soundness import find_problems
from tests.waiting import wait_until

SETTLE_SECONDS = 60
UNDER_WAY = ("queued", "running")
TEMPLATE = b"""<document><data><field name="n" type="integer"/></data>
<flow><h1>Note {{ n }}</h1><p>Of a batch.</p></flow></document>"""


class FaultyFarm:
    """A running farm with one account, and the means to harm it."""

    def __init__(self, farm: LaunchedFarm, folder: Path) -> None:
        self.farm = farm
        self.history = History(folder / "history.jsonl")
        self.faults = 0  # how many happened to it
        self._sound: set[str] = set()  # keys of PDFs that were read and had nothing wrong
        url = farm.record.broker_url
        self._broker: Queues | None = open_queues(url) if url else None
        made = create_account_of(farm, plan="paid")
        self.account_id, self.key = made.account_id, made.api_key

    @property
    def processes(self) -> dict[str, int]:
        """Return the current processes by name."""
        record = self.farm.folder.read_record()
        return dict(record.processes) if record else {}

    def client(self) -> Client:
        """Make a client of the account."""
        return Client(self.farm.record.ports["front"], self.key, self.history)

    def store_template(self) -> str:
        """Store the template that batches of notes are rendered into, and return its id."""
        headers = {"Content-Type": "text/xml"}
        made = self.client().ask("POST", "/v2/templates?name=note", TEMPLATE, **headers)
        assert made is not None
        return str(made["id"])

    @property
    def shard(self) -> str:
        """Return the name of the shard that the account lives on."""
        return find_shard(slot_of(self.account_id), [shard.name for shard in self._shards])

    def redis(self) -> redis.Redis:
        """Connect to the Redis that the account lives on."""
        [url] = [shard.url for shard in self._shards if shard.name == self.shard]
        return redis.Redis.from_url(url, socket_timeout=5)

    @property
    def _shards(self) -> tuple[ShardAddress, ...]:
        return parse_shards(self.farm.record.redis_url)

    def kill(self, name: str, number: int = signal.SIGKILL) -> int:
        """Send a signal to a process of the farm, by name, as soon as it runs; gives its id."""

        def signalled() -> int | None:
            with suppress(KeyError, ProcessLookupError):
                pid = self.processes[name]
                os.kill(pid, number)
                return pid
            return None

        pid = wait_until(signalled)
        self.faults += 1
        return pid

    def kill_some_worker(self, chance: random.Random) -> None:
        """Kill a worker's main process, or one of its children."""
        name = chance.choice(["worker", "batch"])
        if chance.random() < 0.3:
            self.kill(name)
        else:
            self.kill_some_child(name, chance)

    def kill_some_child(self, name: str, chance: random.Random) -> None:
        """Kill a child of a process, if that has any."""
        main = self.processes.get(name)
        children = [] if main is None else children_of(main)
        if children:
            with suppress(ProcessLookupError):
                os.kill(chance.choice(children), signal.SIGKILL)
                self.faults += 1

    def empty_redis(self) -> None:
        """Empty Redis."""
        with self.redis() as client:
            client.flushall()
        self.faults += 1

    def settle(self) -> State:
        """Wait until nothing is under way, and return what the farm holds.

        Raises:
            AssertionError: something is, and nothing moved on for a minute.
        """
        before, moved_at = None, time.monotonic()
        while not (state := self._find_state()) or not _is_quiet(state) or state != before:
            if state != before:
                before, moved_at = state, time.monotonic()
            assert time.monotonic() - moved_at < SETTLE_SECONDS, _describe_state(state)
            # The counter may still be at what it took.
            time.sleep(1.5)
        return state

    def read_state(self) -> State:
        """Read the ledger, the records, the queues and the blobs."""
        engine = sa.create_engine(self.farm.record.database_url)
        try:
            with engine.connect() as connection:
                return self._read(connection)
        finally:
            engine.dispose()

    def _read(self, connection: sa.Connection) -> State:
        mine = self.account_id
        ledger = connection.execute(
            sa.select(tables.usage_ledger.c.job_id, tables.usage_ledger.c.pages).where(
                tables.usage_ledger.c.account_id == mine
            )
        )
        totals = connection.execute(
            sa.select(
                sa.func.coalesce(sa.func.sum(tables.usage_totals.c.pages), 0),
                sa.func.coalesce(sa.func.sum(tables.usage_totals.c.calls), 0),
            ).where(tables.usage_totals.c.account_id == mine)
        ).one()
        jobs = connection.execute(
            sa.select(tables.jobs.c.id, tables.jobs.c.status, tables.jobs.c.pages,
                      tables.jobs.c.pdf_key).where(tables.jobs.c.account_id == mine)
        ).all()  # fmt: skip
        batches, batch_items = _read_batches(connection, mine)
        return State(
            ledger=[(row.job_id, row.pages) for row in ledger],
            totals=(int(totals[0]), int(totals[1])),
            jobs={row.id: (row.status, row.pages) for row in jobs},
            batches=batches,
            batch_items=batch_items,
            waiting=self._read_queues(),
            half_files=tuple(self._find_half_files()),
            broken_blobs=tuple(self._find_broken(row.pdf_key for row in jobs if row.pdf_key)),
        )

    def _read_queues(self) -> dict[str, int]:
        with self.redis() as client:
            waiting = self._count_waiting(client)
            waiting["held by workers"] = len(find_held_tasks(client))
            waiting[USAGE_STREAM] = int(client.xlen(USAGE_STREAM))
            return waiting

    def _count_waiting(self, client: redis.Redis) -> dict[str, int]:
        if self._broker is None:
            return {queue: int(client.llen(queue)) for queue in QUEUES}
        return {queue: head.waiting for queue, head in self._broker.read(QUEUES).items()}

    def _find_half_files(self) -> Iterator[str]:
        parts = urlsplit(self.farm.record.blob_url)
        if parts.scheme == "file":
            blobs = Path(parts.path)
            for path in blobs.rglob("*"):
                within = path.relative_to(blobs).parts
                if path.is_file() and any(part.startswith(".") for part in within):
                    yield str(path)

    def _find_broken(self, keys: Iterator[str]) -> Iterator[str]:
        """Yield the PDFs that are missing or damaged; each is read once."""
        store = open_store(self.farm.record.blob_url)
        for key in keys:
            if key in self._sound:
                continue
            try:
                problems = find_problems(store.read(key))
            except BlobMissingError:
                problems = ["not there"]
            if problems:
                yield f"{key}: {'; '.join(problems[:3])}"
            else:
                self._sound.add(key)

    def _find_state(self) -> State | None:
        try:
            return self.read_state()
        except (redis.RedisError, sa.exc.SQLAlchemyError, Unavailable):
            return None


def _is_quiet(state: State) -> bool:
    under_way = any(status in UNDER_WAY for status, _ in state.jobs.values())
    under_way |= any(batch[0] in UNDER_WAY for batch in state.batches.values())
    return not under_way and not any(state.waiting.values())


def _describe_state(state: State | None) -> str:
    if state is None:
        return "the stores do not answer"
    jobs = Counter(status for status, _ in state.jobs.values())
    batches = {name: batch[:3] for name, batch in state.batches.items()}
    return f"nothing moved for {SETTLE_SECONDS} s: {jobs}, {batches}, waiting {state.waiting}"


def _read_batches(
    connection: sa.Connection, account_id: str
) -> tuple[dict[str, tuple[str, int, dict[str, int], int]], dict[str, int]]:
    found: dict[str, tuple[str, int, dict[str, int], int]] = {}
    counted: dict[str, int] = {}
    query = sa.select(tables.batches).where(tables.batches.c.account_id == account_id)
    for batch in connection.execute(query).all():
        items = connection.execute(
            sa.select(tables.batch_items).where(tables.batch_items.c.batch_id == batch.id)
        ).all()
        pages = connection.scalar(
            sa.select(sa.func.coalesce(sa.func.sum(tables.batch_chunks.c.pages), 0)).where(
                tables.batch_chunks.c.batch_id == batch.id
            )
        )
        found[batch.id] = (
            batch.status, batch.total, dict(Counter(item.status for item in items)), int(pages or 0)
        )  # fmt: skip
        counted |= {
            item_job_id(batch.id, item.index): item.pages
            for item in items
            if item.status == "succeeded"
        }
    return found, counted


def children_of(pid: int) -> list[int]:
    """Return the direct children of a process."""
    found: list[int] = []
    for entry in Path("/proc").iterdir():
        with suppress(OSError):
            if entry.name.isdigit():
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
                if int(fields[1]) == pid and fields[0] not in "ZX":
                    found.append(int(entry.name))
    return found


def read_problems(farm: FaultyFarm) -> list[str]:
    """Return the problems that `pressroom status` reports."""
    try:
        found = farm.farm.command("status")
    except subprocess.CalledProcessError as error:
        found = json.loads(error.stdout)
    problems: list[str] = found["problems"]
    return problems


def scrape(farm: FaultyFarm, port: str, name: str, label: str = "") -> list[float]:
    """Return the values of a metric, of one label if any, as a process exports it."""
    with urlopen(f"http://127.0.0.1:{farm.farm.record.ports[port]}/metrics") as answer:
        lines = answer.read().decode().splitlines()
    return [
        float(line.split()[-1])
        for line in lines
        if line.startswith((f"{name}{{", f"{name} ")) and label in line
    ]


def render_answers(farm: FaultyFarm) -> bool:
    """Return whether a render is answered with a PDF."""
    return farm.client().render(0).status == 200
