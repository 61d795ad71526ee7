"""Real pools of workers whose work is sleep: Redis, messages, workers, replies, slices are the product's."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from api.app import create_app
from api.ports import Ports
from api.wiring import wire
from deploy.embedded.loopback import free_port
from deploy.embedded.parent_death import with_parent_death_signal
from shared.auth.accounts import create_account
from shared.db.migrate import upgrade
from shared.encryption import new_key
from shared.settings import Settings
from tests.bench.simulation.farm import SimulatedPool
from tests.conftest import start_redis
from tests.farm.conftest import FAKE_WORKER, ROOT, Front

_TEMPLATE = b"<document><flow><p>x</p></flow></document>"


@dataclass(frozen=True, slots=True)
class Stay:
    """A render: when it came, how long it waited, and how long it held its slot, in seconds."""

    at: float
    waited: float
    took: float


class RealPools:
    """A front's calls, over workers that run."""

    def __init__(self, front: Front, ports: Ports) -> None:
        self.front = front
        self._ports = ports
        self._client = create_app(ports).test_client()

    def warm_up(self) -> None:
        """Wait until a worker renders."""
        assert self.front.wait(self.front.send("sleep 0", budget=120.0), seconds=60.0) is not None

    def time_render(self, seconds: float) -> Stay:
        """Run a render and return how long it waited, as the worker says, and how long it was at work."""
        begun = time.monotonic()
        outcome = self.front.render(f"sleep {seconds}", budget=120.0)
        assert outcome is not None, "a job was lost"
        assert outcome.pages == 1
        waited = outcome.timings["queue"] / 1000
        return Stay(begun, waited, time.monotonic() - begun - waited)

    def send_renders(self, jobs: int, *, rate: float, service: float, seed: int) -> list[Stay]:
        """Send renders at random times, that take random times, and return what became of each."""
        chance = random.Random(seed)
        done: list[Stay] = []
        threads = []
        due = time.monotonic()
        for _ in range(jobs):
            due += chance.expovariate(rate)
            seconds = chance.expovariate(1 / service)
            time.sleep(max(due - time.monotonic(), 0))
            threads.append(
                threading.Thread(target=lambda each=seconds: done.append(self.time_render(each)))
            )
            threads[-1].start()
        for thread in threads:
            thread.join()
        assert len(done) == jobs, "a render failed"
        return sorted(done, key=lambda stay: stay.at)

    def open_account(self, name: str) -> Account:
        """Make an account that may send batches."""
        with self._ports.database.session() as session:
            made = create_account(session, email=f"{name}@example.org", name=name, max_pages=10**9)
        return Account(self, {"Authorization": f"Bearer {made.api_key}"})

    def run_batch(self, headers: dict[str, str], documents: int, seconds: float) -> None:
        """Send a batch whose documents take so long each, and wait for its end."""
        made = self._client.post(
            "/v2/templates?name=t", data=_TEMPLATE, content_type="text/xml", headers=headers
        )
        batch = self._client.post(
            f"/v2/batches?template={made.json['id']}",
            data=f"sleep {seconds}\n".encode() * documents,
            content_type="application/x-ndjson",
            headers=headers,
        )
        assert batch.status_code == 202, batch.json
        record = batch.json
        while record["status"] != "finished":
            record = self._client.get(f"/v2/batches/{record['id']}?wait=60", headers=headers).json
        assert record["succeeded"] == documents, record


@dataclass(frozen=True, slots=True)
class Account:
    """One who sends batches."""

    pools: RealPools
    headers: dict[str, str]

    def run_batch(self, documents: int, seconds: float) -> None:
        """Send a batch and wait for its end; see `RealPools.run_batch`."""
        self.pools.run_batch(self.headers, documents, seconds)


@contextmanager
def running(pools: Sequence[SimulatedPool]) -> Iterator[RealPools]:
    """Run a worker for each pool."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="pressroom-pools-")))
        port = free_port()
        redis = start_redis(port, folder)
        stack.callback(redis.wait)
        stack.callback(redis.kill)
        settings = Settings(
            database_url=f"sqlite:///{folder}/farm.sqlite",
            redis_url=f"redis://127.0.0.1:{port}/0",
            blob_url=f"file://{folder}/blobs",
            secret_keys=new_key(),
            enforce_rate_limits=False,
            log_level="WARNING",
        )
        upgrade(settings.database_url)
        for pool in pools:
            stack.enter_context(_worker(pool, settings, folder))
        front, ports = Front(settings.redis_url, settings.blob_url), wire(settings)
        stack.callback(front.redis.close)
        stack.callback(ports.database.close)
        yield RealPools(front, ports)


@contextmanager
def _worker(pool: SimulatedPool, settings: Settings, folder: Path) -> Iterator[None]:
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "PRESSROOM_REDIS_URL": settings.redis_url,
        "PRESSROOM_DATABASE_URL": settings.database_url,
        "PRESSROOM_BLOB_URL": settings.blob_url,
        "PRESSROOM_WORKER_CONCURRENCY": str(pool.slots),
        "PRESSROOM_WORKER_QUEUES": ",".join(pool.takes),
        "PRESSROOM_LOG_LEVEL": "WARNING",
    }
    with (folder / f"{'-'.join(pool.takes)}.log").open("wb") as log:
        command = with_parent_death_signal([sys.executable, str(FAKE_WORKER)])
        worker = subprocess.Popen(command, env=environment, stdout=log, stderr=log)
    try:
        yield
    finally:
        worker.terminate()
        worker.wait()
