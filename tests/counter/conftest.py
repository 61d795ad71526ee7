"""Usage events on a real stream, and a real counter process over a real database."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from redis import Redis

from shared.db.session import Database
from shared.jobs.records import Allowance
from shared.queue.connection import connect
from shared.usage.metering import Totals, UsageEvent
from shared.usage.repository import find_totals

ROOT = Path(__file__).parents[2]
PERIOD = "2026-11-01"


def page_event(
    number: int,
    *,
    pages: int = 2,
    account: str = "acc_1",
    allowance: Allowance = Allowance.PRODUCTION,
) -> UsageEvent:
    at = datetime(2026, 11, 21, 12, 0, 0, tzinfo=UTC)
    return UsageEvent(f"job_{number}", account, PERIOD, allowance, pages, at)


@pytest.fixture
def make_event() -> Callable[..., UsageEvent]:
    return page_event


@pytest.fixture
def redis(redis_url: str) -> Iterator[Redis]:
    client = connect(redis_url)
    yield client
    client.close()


@pytest.fixture
def send(redis: Redis) -> Callable[..., None]:
    """Provide a function that adds events to the stream as a commit does."""

    def put(*events: UsageEvent) -> None:
        for event in events:
            redis.xadd("usage", {"event": event.encode()})

    return put


@pytest.fixture
def totals(database: Database) -> Callable[[], Totals]:
    def read() -> Totals:
        with database.snapshot() as session:
            return find_totals(session, "acc_1", PERIOD)

    return read


@pytest.fixture
def environment(redis_url: str, database_url: str, tmp_path: Path) -> dict[str, str]:
    return {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "PRESSROOM_REDIS_URL": redis_url,
        "PRESSROOM_DATABASE_URL": database_url,
        "PRESSROOM_BLOB_URL": f"file://{tmp_path}/blobs",
    }


@pytest.fixture
def start_counter(
    environment: dict[str, str], tmp_path: Path
) -> Iterator[Callable[..., subprocess.Popen[bytes]]]:
    """Start counters; `code` runs instead of the plain one. What still runs at the end is killed."""
    started: list[subprocess.Popen[bytes]] = []

    def start(code: str | None = None, **settings: str) -> subprocess.Popen[bytes]:
        with (tmp_path / f"counter{len(started)}.log").open("wb") as log:
            process = subprocess.Popen(
                [sys.executable, *(["-c", code] if code else ["-m", "workers.counter.main"])],
                env=environment | {f"PRESSROOM_{k.upper()}": v for k, v in settings.items()},
                stdout=log,
                stderr=subprocess.STDOUT,
            )
        started.append(process)
        return process

    yield start
    for process in started:
        if process.poll() is None:
            process.kill()
        process.wait()
