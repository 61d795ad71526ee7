"""Measure what the queue adds to a render of a millisecond, next to stock Celery in the same run:
`python -m tests.bench.overhead`.
"""

from __future__ import annotations

import base64
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from deploy.embedded.loopback import free_port
from shared.blobs.factory import open_store
from shared.clock import epoch
from shared.db.migrate import upgrade
from shared.identifiers import new_id
from shared.jobs.records import Allowance, BodyKind, Meter, RenderJob
from shared.queue.broker import Broker, Publisher
from shared.queue.claims import Claims
from shared.queue.connection import connect
from shared.queue.replies import Replies
from tests.bench.demands import HEAD, at_most
from tests.bench.overhead_worker import PDF_BYTES, SMALL, stock_app, work
from tests.servers import start_redis

ROOT = Path(__file__).parents[2]


WORKER = Path(__file__).with_name("overhead_worker.py")
PORT = free_port()
URL = f"redis://127.0.0.1:{PORT}/0"
SIZES = {"30 KB": SMALL, "1 MB": 1024 * 1024}
WARM_UP = 100
ROUNDS = 1000
BODY = b"x" * 2000
# What stock Celery adds on the machine that the limits come from.
STOCK_THERE_MS = 2.75
NOTE = f"""\
A millisecond of computing and a PDF as the work; milliseconds of wall time, without HTTP on either side.
The limits come from a machine where stock Celery adds {STOCK_THERE_MS} ms to a job with a PDF of 30 KB. What is
measured here, divided by what stock Celery adds here and times that, is what such a machine would show."""


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, redis_server(Path(folder)):
        environment = settings(Path(folder))
        os.environ.update(environment)
        times = {"the work itself": measure(work, size=SMALL)}
        for name, size in SIZES.items():
            own = {**environment, PDF_BYTES: str(size)}
            with worker("farm", own):
                times[f"farm, {name}"] = measure(through_farm(Path(folder)), size=size)
            with worker("stock", own):
                times[f"stock Celery, {name}"] = measure(through_stock(), size=size)
    print_table(times)


def through_farm(folder: Path) -> Callable[[], bytes]:
    redis = connect(URL)
    claims = Claims(redis, open_store(f"file://{folder}/blobs"))
    broker, replies = Broker(redis, Publisher(URL)), Replies(redis, claims)
    meter = Meter("acc_1", "2026-11-01", Allowance.PRODUCTION, 10**9)

    def render() -> bytes:
        now = epoch()
        job_id = new_id("job")
        body = claims.store(job_id, BODY)
        template = None
        broker.publish(
            RenderJob(
                id=job_id,
                request_id=job_id,
                workspace_id=None,
                meter=meter,
                body_kind=BodyKind.XML,
                body=body,
                charset=None,
                template=template,
                flow=None,
                admitted_at=now,
                deadline=now + 60,
            )
        )
        outcome = replies.wait(job_id, timeout_seconds=60)
        assert outcome is not None
        assert outcome.pdf is not None
        return b"".join(replies.fetch_pdf(outcome.pdf))

    return render


def through_stock() -> Callable[[], bytes]:
    task = stock_app().tasks["stock.render"]
    text = BODY.decode()
    return lambda: base64.b64decode(task.delay(text).get(timeout=60))


def measure(call: Callable[[], bytes], *, size: int) -> list[float]:
    for _ in range(WARM_UP):
        assert len(call()) == size
    times = []
    for _ in range(ROUNDS):
        begun = time.perf_counter()
        call()
        times.append((time.perf_counter() - begun) * 1000)
    return sorted(times)


def print_table(times: dict[str, list[float]]) -> None:
    alone = statistics.median(times["the work itself"])
    added = {name: statistics.median(own) - alone for name, own in times.items()}
    print(f"{NOTE}\n")
    print(f"| one job at a time, {ROUNDS:,} jobs | median | p99 | added |")
    print("|---|--:|--:|--:|")
    for name, own in times.items():
        p99 = own[int(len(own) * 0.99)]
        print(f"| {name} | {statistics.median(own):.2f} | {p99:.2f} | {added[name]:.2f} |")
    stock, small, large = (
        added[name] for name in ("stock Celery, 30 KB", "farm, 30 KB", "farm, 1 MB")
    )
    there = STOCK_THERE_MS / stock
    print(f"\n{HEAD}")
    print(at_most("a waited job, of what stock Celery adds to it", small / stock, 0.6, "%"))
    print(at_most("a waited job, added to its work", small, 1.2, "ms"))
    print(at_most("the same, on the machine of the limits", small * there, 1.2, "ms"))
    print(at_most("a waited job with a result of 1 MB", large, 5, "ms"))
    print(at_most("the same, on the machine of the limits", large * there, 5, "ms"))


def settings(folder: Path) -> dict[str, str]:
    database_url = f"sqlite:///{folder}/bench.sqlite"
    upgrade(database_url)
    return {
        "PYTHONPATH": str(ROOT),
        "PRESSROOM_DATABASE_URL": database_url,
        "PRESSROOM_REDIS_URL": URL,
        "PRESSROOM_BLOB_URL": f"file://{folder}/blobs",
        "PRESSROOM_WORKER_CONCURRENCY": "1",
        "PRESSROOM_LOG_LEVEL": "INFO",
    }


@contextmanager
def worker(kind: str, environment: dict[str, str]) -> Iterator[None]:
    process = subprocess.Popen(
        [sys.executable, str(WORKER), kind],
        env={**os.environ, **environment},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield
    finally:
        process.terminate()
        process.wait(20)


@contextmanager
def redis_server(folder: Path) -> Iterator[None]:
    process = start_redis(PORT, folder)
    try:
        yield
    finally:
        process.kill()
        process.wait()


if __name__ == "__main__":
    main()
