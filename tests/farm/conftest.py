"""A farm without a front: a real Redis, real worker processes, and the front's two calls."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest
from prometheus_client.parser import text_string_to_metric_families
from redis import Redis

from deploy.embedded.loopback import free_port
from shared.auth.admission import AdmissionCache
from shared.blobs.factory import open_store
from shared.clock import epoch
from shared.identifiers import new_id
from shared.jobs.records import (
    Allowance,
    BodyKind,
    JobOutcome,
    Meter,
    PinnedTemplate,
    Purpose,
    RenderJob,
)
from shared.queue.broker import Broker, PublishedJob, Publisher
from shared.queue.claims import Claims
from shared.queue.connection import connect
from shared.queue.names import job_key
from shared.queue.replies import Replies
from shared.queue.worker_presence import find_workers
from shared.shards import PerShard, ShardAddress
from tests.batches import numbered, slices  # noqa: F401 - fixtures
from tests.farm.runs import run  # noqa: F401 - fixture
from tests.servers import RedisServer
from tests.waiting import wait_until

ROOT = Path(__file__).parents[2]
FAKE_WORKER = Path(__file__).with_name("fake_worker.py")
PERIOD = "2026-11-01"


@dataclass
class Front:
    """A front's side of the queue."""

    url: str
    blob_url: str
    broker_url: str = ""  # where it is not Redis
    redis: Redis = field(init=False)
    claims: Claims = field(init=False)
    broker: Broker = field(init=False)
    replies: Replies = field(init=False)
    _published: dict[str, PublishedJob] = field(init=False, default_factory=dict)

    @property
    def admissions(self) -> PerShard[AdmissionCache]:
        """The cached keys of the only shard."""
        return PerShard([ShardAddress("0", self.url)], lambda _: AdmissionCache(self.redis))

    def __post_init__(self) -> None:
        self.redis = connect(self.url)
        self.claims = Claims(self.redis, open_store(self.blob_url))
        self.broker = Broker(self.redis, Publisher(self.broker_url or self.url))
        self.replies = Replies(self.redis, self.claims)

    def job(
        self,
        body: str | bytes = "pages 1",
        *,
        budget: float = 60.0,
        cap: int | None = None,
        max_cpu: int | None = None,
        allowance: Allowance = Allowance.PRODUCTION,
        account: str = "acc_1",
        workspace: str | None = None,
        template: PinnedTemplate | None = None,
        kind: str = "xml",
        purpose: Purpose = Purpose.RENDER,
        is_fetched_for: bool = False,
    ) -> RenderJob:
        now = epoch()
        job_id = new_id("job")
        data = body.encode() if isinstance(body, str) else body
        return RenderJob(
            id=job_id,
            request_id="req_1",
            workspace_id=workspace,
            meter=Meter(account, PERIOD, allowance, cap, max_cpu_seconds=max_cpu),
            body_kind=BodyKind(kind),
            body=self.claims.store(job_id, data),
            charset=None,
            template=template,
            flow=None,
            admitted_at=now,
            deadline=now + budget,
            purpose=purpose,
            is_fetched_for=is_fetched_for,
        )

    def send(self, body: str | bytes = "pages 1", **options: object) -> RenderJob:
        """Queue a job, which is awaited however long the test does other things before it waits."""
        job = self.job(body, **options)
        self._published[job.id] = self.broker.publish(job)
        self.redis.hset(job_key(job.id), "awaited_until", epoch() + 600)
        self.redis.expire(job_key(job.id), 600, nx=True)
        return job

    def wait(self, job: RenderJob, *, seconds: float = 60.0) -> JobOutcome | None:
        published = self._published.get(job.id)

        def look_after() -> None:
            if published is not None:
                self.broker.requeue_lost(published)

        return self.replies.wait(job.id, timeout_seconds=seconds, between=look_after)

    def render(self, body: str | bytes = "pages 1", **options: object) -> JobOutcome | None:
        return self.wait(self.send(body, **options))

    def used(self, account: str = "acc_1", allowance: str = "production") -> tuple[int, int]:
        names = (f"{allowance}:pages", f"{allowance}:calls")
        pages, calls = self.redis.hmget(f"usage:{account}:{PERIOD}", *names)
        return int(pages or 0), int(calls or 0)

    def events(self) -> int:
        return self.redis.xlen("usage")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    starting = {"real_environment", "start_worker", "worker_environment", "worker_log"}
    for item in items:
        if starting & {*getattr(item, "fixturenames", ())}:
            item.add_marker(pytest.mark.system)


@pytest.fixture(scope="session")
def blob_url(tmp_path_factory: pytest.TempPathFactory) -> str:
    return f"file://{tmp_path_factory.mktemp('blobs')}"


@pytest.fixture
def front(redis_url: str, blob_url: str) -> Iterator[Front]:
    front = Front(redis_url, blob_url)
    yield front
    front.redis.close()


class Workers:
    """Starts workers, with the scripted engine by default."""

    def __init__(self, folder: Path, environment: dict[str, str], *program: str) -> None:
        self._folder = folder
        self._environment = environment
        self._program = program or (str(FAKE_WORKER),)
        self._started: list[subprocess.Popen[bytes]] = []

    def start(self, **settings: str) -> subprocess.Popen[bytes]:
        """Start a worker; of one on the Redis of all tests, wait until it works or has ended.

        A job is sent to workers that work: it is metered only if a client waits for it all the time.
        """
        own = {f"PRESSROOM_{name.upper()}": value for name, value in settings.items()}
        with (self._folder / f"worker{len(self._started)}.log").open("wb") as log:
            process = subprocess.Popen(
                [sys.executable, *self._program],
                env=self._environment | own,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self._started.append(process)
        if "redis_url" not in settings:
            with connect(self._environment["PRESSROOM_REDIS_URL"]) as redis:
                wait_until(lambda: process.poll() is not None or _works(redis, process.pid))
        return process

    def kill_all(self) -> None:
        # Its children keep its connection until they have ended too, and with it would take the first
        # message of the next test.
        for process in self._started:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            wait_until(lambda group=process.pid: not _is_running(group))


def read_counts(port: int, name: str) -> Counter[tuple[str, ...]]:
    """Return what a worker counted under a name, by its labels' values in alphabetical order of the labels."""
    with urlopen(f"http://127.0.0.1:{port}/metrics") as response:
        families = text_string_to_metric_families(response.read().decode())
    return Counter(
        {
            tuple(value for _, value in sorted(sample.labels.items())): int(sample.value)
            for family in families
            for sample in family.samples
            if sample.name == f"pressroom_{name}_total" and sample.value
        }
    )


def _works(redis: Redis, pid: int) -> bool:
    return any(word.name.endswith(f":{pid}") for word in find_workers(redis))


def _is_running(group: int) -> bool:
    """Return whether a process group has a living process; zombies do not count."""
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            state, _, its_group = path.read_text().rpartition(")")[2].split()[:3]
            if int(its_group) == group and state != "Z":
                return True
    return False


@pytest.fixture
def start_worker(
    redis_url: str, migrated_database: Path, blob_url: str, tmp_path: Path
) -> Iterator[Callable[..., subprocess.Popen[bytes]]]:
    """Start workers of this test's own."""
    workers = Workers(tmp_path, environment(redis_url, migrated_database, tmp_path, blob_url))
    yield workers.start
    workers.kill_all()


@pytest.fixture
def worker_environment(
    redis_url: str, migrated_database: Path, blob_url: str, tmp_path: Path
) -> dict[str, str]:
    """Return the settings of a worker for one test."""
    return environment(redis_url, migrated_database, tmp_path, blob_url)


@pytest.fixture(scope="module")
def worker_port() -> int:
    """Return the port of the metrics of the module's worker."""
    return free_port()


@pytest.fixture(scope="module")
def worker_log(
    worker_port: int,
    redis_server: Any,
    migrated_database: Path,
    blob_url: str,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Path]:
    """Run one worker for all tests of a module and return the file of its log."""
    folder = tmp_path_factory.mktemp("worker")
    with connect(redis_server.url) as redis:
        redis.flushall()  # it would begin what the last module left in the queue
    workers = Workers(folder, environment(redis_server.url, migrated_database, folder, blob_url))
    process = workers.start(child_memory_mb="600", worker_metrics_port=str(worker_port))
    log = folder / "worker0.log"
    yield log
    has_ended = process.poll() is not None
    workers.kill_all()
    assert not has_ended, (
        f"The worker of all tests of this module ended:\n{log.read_text()[-8000:]}"
    )


@pytest.fixture(scope="module")
def real_environment(
    redis_server: Any,
    migrated_database: Path,
    blob_url: str,
    tmp_path_factory: pytest.TempPathFactory,
) -> dict[str, str]:
    """Return the settings of a worker with the real engine, shared by a module."""
    folder = tmp_path_factory.mktemp("worker")
    return environment(redis_server.url, migrated_database, folder, blob_url)


@contextmanager
def real_worker(environment: dict[str, str], folder: Path) -> Iterator[None]:
    """Run a worker with the real engine within the block."""
    workers = Workers(folder, environment, "-m", "workers.farm.main")
    workers.start()
    try:
        yield
    finally:
        workers.kill_all()


def environment(
    redis_url: str, migrated_database: Path, folder: Path, blob_url: str
) -> dict[str, str]:
    """Return a worker's settings, with a new database in `folder`."""
    database = folder / "worker.sqlite"
    database.write_bytes(migrated_database.read_bytes())
    return {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "PRESSROOM_REDIS_URL": redis_url,
        "PRESSROOM_DATABASE_URL": f"sqlite:///{database}",
        "PRESSROOM_BLOB_URL": blob_url,
        "PRESSROOM_METRICS_DIR": str(folder / "metrics"),
        "PRESSROOM_WORKER_CONCURRENCY": "1",
        "PRESSROOM_LOG_FORMAT": "text",
    }


@pytest.fixture
def own_redis(tmp_path: Path) -> Iterator[RedisServer]:
    folder = tmp_path / "redis"
    folder.mkdir()
    with RedisServer(folder) as server:
        yield server
